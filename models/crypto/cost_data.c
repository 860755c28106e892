/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The data folder: where it is, which platforms it holds, the bibliography. */
#include "models/crypto/cost.h"
#include "models/crypto/csv.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *data_dir; /* a copy */

void cost_set_data_dir(const char *dir) {
  free(data_dir);
  data_dir = dir ? strdup(dir) : NULL;
  if (dir && !data_dir) abort();
}

/* calib/data beside the running program, NULL when there is none. */
static const char *beside_program(void) {
  static char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - sizeof "/calib/data/sources.csv");
  if (length <= 0) return NULL;
  path[length] = '\0';
  char *slash = strrchr(path, '/');
  if (!slash) return NULL;
  strcpy(slash, "/calib/data/sources.csv");
  if (access(path, R_OK) != 0) return NULL;
  *strrchr(path, '/') = '\0';
  return path;
}

const char *cost_data_dir(void) {
  if (data_dir) return data_dir;
  const char *set = getenv("PQNETSIM_DATA");
  if (set && *set) return set;
  const char *near = beside_program();
  if (near) return near;
#ifdef PQNETSIM_DATADIR
  return PQNETSIM_DATADIR;
#else
  return "calib/data";
#endif
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

int cost_list(char ***names, int *count, struct err *e) {
  char path[4096];
  snprintf(path, sizeof path, "%s/platforms", cost_data_dir());
  DIR *dir = opendir(path);
  if (!dir) return err_add(e, ERR_INPUT, "%s: the folder of shipped platforms cannot be opened: %s", path, strerror(errno));
  char **list = NULL;
  int used = 0;
  for (struct dirent *entry; (entry = readdir(dir));) {
    char *dot = strrchr(entry->d_name, '.');
    if (!dot || dot == entry->d_name || strcmp(dot, ".csv") != 0) continue;
    list = reallocarray(list, (size_t)used + 1, sizeof *list);
    if (!list || !(list[used] = strndup(entry->d_name, (size_t)(dot - entry->d_name)))) abort();
    used++;
  }
  closedir(dir);
  if (used) qsort(list, (size_t)used, sizeof *list, by_name);
  *names = list;
  *count = used;
  return 0;
}

void cost_list_free(char **names, int count) {
  for (int i = 0; i < count; i++) free(names[i]);
  free(names);
}

struct cost_sources {
  struct csv *csv;
  struct cost_source *list;
  int count;
};

enum { ID, KIND, AUTHOR, TITLE, YEAR, WHERE, LICENCE, NOTE, SOURCE_COLUMNS };

static const struct csv_column source_columns[SOURCE_COLUMNS] = {
    {"id", true},
    {"kind", true},
    {"author", true},
    {"title", true},
    {"year", true},
    {"where", true},
    {"licence", true},
    {"note", true},
};

static const char *const source_kinds[] = {"measurement", "paper", "repository", "standard", "datasheet", "thread", "page", "seed", "user"};
#define SOURCE_KINDS "measurement, paper, repository, standard, datasheet, thread, page, seed, user"

static void check_source(const struct cost_sources *sources, int index, int line, struct err *e) {
  const struct cost_source *s = &sources->list[index];
  const char *path = sources->csv->path;
  size_t length = strspn(s->id, "abcdefghijklmnopqrstuvwxyz0123456789-");
  if (!*s->id || s->id[length]) err_add(e, ERR_INPUT, "%s:%d: column id: found '%s', allowed: small letters, digits and '-'", path, line, s->id);
  for (int i = 0; i < index; i++)
    if (strcmp(sources->list[i].id, s->id) == 0)
      err_add(e, ERR_INPUT, "%s:%d: column id: '%s' is already the source of line %d", path, line, s->id, sources->csv->rows[i].line);
  size_t kind = 0, kinds = sizeof source_kinds / sizeof source_kinds[0];
  while (kind < kinds && strcmp(source_kinds[kind], s->kind) != 0) kind++;
  if (kind == kinds) err_add(e, ERR_INPUT, "%s:%d: column kind: found '%s', allowed: %s", path, line, s->kind, SOURCE_KINDS);
  if (!*s->title || !*s->where)
    err_add(e, ERR_INPUT, "%s:%d: column %s: is empty; a source says what it is and where it is found", path, line, *s->title ? "where" : "title");
}

int cost_sources_load(struct cost_sources **out, struct err *e) {
  char path[4096];
  int before = e->count;
  snprintf(path, sizeof path, "%s/sources.csv", cost_data_dir());
  struct csv *csv;
  int code = csv_read(path, source_columns, SOURCE_COLUMNS, &csv, e);
  if (!csv) return code;
  struct cost_sources *sources = calloc(1, sizeof *sources);
  if (!sources || !(sources->list = calloc((size_t)csv->row_count + 1, sizeof *sources->list))) abort();
  sources->csv = csv;
  sources->count = csv->row_count;
  for (int i = 0; i < sources->count; i++) {
    const char **c = csv->rows[i].cells;
    sources->list[i] = (struct cost_source){c[ID], c[KIND], c[AUTHOR], c[TITLE], c[YEAR], c[WHERE], c[LICENCE], c[NOTE]};
    check_source(sources, i, csv->rows[i].line, e);
  }
  if (e->count > before) {
    cost_sources_free(sources);
    return ERR_INPUT;
  }
  *out = sources;
  return 0;
}

void cost_sources_free(struct cost_sources *sources) {
  if (!sources) return;
  csv_free(sources->csv);
  free(sources->list);
  free(sources);
}

int cost_sources_count(const struct cost_sources *sources) { return sources->count; }

const struct cost_source *cost_source_at(const struct cost_sources *sources, int index) { return &sources->list[index]; }

const struct cost_source *cost_source_find(const struct cost_sources *sources, const char *id) {
  for (int i = 0; i < sources->count; i++)
    if (strcmp(sources->list[i].id, id) == 0) return &sources->list[i];
  return NULL;
}
