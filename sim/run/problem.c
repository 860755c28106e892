/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/run/problem.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct problem {
  struct place at;
  int order;
  char *text; /* "KEY: SENTENCE" */
};

struct problem_list {
  const char *file;
  int count;
  struct problem items[PROBLEM_LIST_MAX];
};

struct problem_list *problem_list_new(const char *file) {
  struct problem_list *list = calloc(1, sizeof *list);
  if (!list) abort();
  list->file = file;
  return list;
}

void problem_list_free(struct problem_list *list) {
  if (!list) return;
  for (int i = 0; i < PROBLEM_LIST_MAX; i++) free(list->items[i].text);
  free(list);
}

int problem_count(const struct problem_list *list) { return list->count; }

bool problem_list_is_full(const struct problem_list *list) { return list->count > PROBLEM_LIST_MAX; }

void problem_add(struct problem_list *list, struct place at, const char *key, const char *format, ...) {
  int index = list->count++;
  if (index >= PROBLEM_LIST_MAX) return;
  char *sentence, *text;
  va_list args;
  va_start(args, format);
  if (vasprintf(&sentence, format, args) < 0) abort();
  va_end(args);
  if (!key && at.set) key = at.set_key;
  if (asprintf(&text, "%s%s%s", key ? key : "", key ? ": " : "", sentence) < 0) abort();
  free(sentence);
  list->items[index] = (struct problem){at, index, text};
}

static int compare(const void *left, const void *right) {
  const struct problem *a = left, *b = right;
  int pairs[][2] = {{a->at.set, b->at.set}, {a->at.line, b->at.line}, {a->at.column, b->at.column}, {a->order, b->order}};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
    if (pairs[i][0] != pairs[i][1]) return pairs[i][0] < pairs[i][1] ? -1 : 1;
  return 0;
}

int problem_report(struct problem_list *list, struct err *e) {
  if (!list->count) return 0;
  int listed = list->count < PROBLEM_LIST_MAX ? list->count : PROBLEM_LIST_MAX;
  qsort(list->items, (size_t)listed, sizeof *list->items, compare);
  for (int i = 0; i < listed; i++) {
    const struct problem *p = &list->items[i];
    if (p->at.set)
      err_add(e, ERR_INPUT, "--set %s", p->text);
    else if (p->at.line)
      err_add(e, ERR_INPUT, "%s:%d:%d: %s", list->file, p->at.line, p->at.column, p->text);
    else
      err_add(e, ERR_INPUT, "%s: %s", list->file, p->text);
  }
  if (list->count > listed) err_add(e, ERR_INPUT, "%s: only the first %d problems are listed", list->file, PROBLEM_LIST_MAX);
  return ERR_INPUT;
}

const char *problem_place(struct place at, char *buffer, size_t size) {
  if (at.set)
    snprintf(buffer, size, "--set %s", at.set_key);
  else
    snprintf(buffer, size, "line %d", at.line);
  return buffer;
}
