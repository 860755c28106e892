/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/run/names.h"
#include <string.h>

enum { WORD_MAX = 64, SHOWN_MAX = 60 };

static int lower(unsigned char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; }

static int least(int a, int b) { return a < b ? a : b; }

/* Optimal string alignment distance; both words are shorter than WORD_MAX. */
static int distance(const char *a, int a_length, const char *b, int b_length) {
  int rows[3][WORD_MAX + 1];
  for (int j = 0; j <= b_length; j++) rows[0][j] = j;
  for (int i = 1; i <= a_length; i++) {
    int *row = rows[i % 3];
    const int *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
    row[0] = i;
    for (int j = 1; j <= b_length; j++) {
      int same = lower((unsigned char)a[i - 1]) == lower((unsigned char)b[j - 1]);
      row[j] = least(least(above[j] + 1, row[j - 1] + 1), above[j - 1] + !same);
      if (i > 1 && j > 1 && lower((unsigned char)a[i - 1]) == lower((unsigned char)b[j - 2]) &&
          lower((unsigned char)a[i - 2]) == lower((unsigned char)b[j - 1]))
        row[j] = least(row[j], above2[j - 2] + 1);
    }
  }
  return rows[a_length % 3][b_length];
}

const char *names_nearest(const char *word, const char *const *names, int count) {
  size_t length = strlen(word);
  if (!length || length >= WORD_MAX) return NULL;
  int limit = least(1 + (int)length / 3, (int)length - 1);
  const char *nearest = NULL;
  for (int i = 0; i < count; i++) {
    size_t name_length = strlen(names[i]);
    if (name_length >= WORD_MAX) continue;
    int edits = distance(word, (int)length, names[i], (int)name_length);
    if (edits <= limit) {
      limit = edits - 1;
      nearest = names[i];
    }
  }
  return nearest;
}

const char *names_join(struct arena *arena, const char *const *names, int count) {
  const char *joined = "";
  for (int i = 0; i < count; i++) joined = arena_format(arena, "%s%s%s", joined, i ? ", " : "", names[i]);
  return joined;
}

const char *names_shown(struct arena *arena, const char *text) {
  size_t length = strlen(text), cut = length;
  if (length > SHOWN_MAX)
    for (cut = SHOWN_MAX; cut > 0 && ((unsigned char)text[cut] & 0xc0) == 0x80;) cut--;
  char *shown = arena_text(arena, text, cut);
  for (char *c = shown; *c; c++)
    if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = '?';
  return cut < length ? arena_format(arena, "%s... (%zu bytes)", shown, length) : shown;
}
