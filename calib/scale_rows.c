/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists of rows for scale.h. */
#include "calib/scale.h"

#include <stdlib.h>
#include <string.h>

static char *copy(const char *text) {
  char *made = strdup(text ? text : "");
  if (!made) abort();
  return made;
}

void scale_text(char **text, const char *value) {
  char *made = copy(value);
  free(*text);
  *text = made;
}

static struct scale_row *add(struct scale_rows *rows, const char *algorithm, const char *operation, int count) {
  rows->rows = reallocarray(rows->rows, (size_t)rows->count + 1, sizeof *rows->rows);
  if (!rows->rows) abort();
  struct scale_row *row = &rows->rows[rows->count++];
  *row = (struct scale_row){.algorithm = copy(algorithm),
      .operation = copy(operation),
      .source = copy(""),
      .family = copy(""),
      .note = copy(""),
      .from = copy(""),
      .energy_nj = -1,
      .base_ns = -1,
      .count = count,
      .points = calloc((size_t)count, sizeof *row->points)};
  if (!row->points) abort();
  return row;
}

struct scale_row *scale_rows_add_constant(struct scale_rows *rows, const char *algorithm, const char *operation, int64_t size_bytes, int64_t ns) {
  struct scale_row *row = add(rows, algorithm, operation, 1);
  row->size_bytes = size_bytes;
  row->median_ns = row->points[0].ns = ns;
  scale_text(&row->family, "constant");
  return row;
}

struct scale_row *scale_rows_add_copy(struct scale_rows *rows, const struct scale_row *from) {
  struct scale_row *row = add(rows, from->algorithm, from->operation, from->count);
  memcpy(row->points, from->points, (size_t)from->count * sizeof *row->points);
  scale_text(&row->source, from->source);
  scale_text(&row->family, from->family);
  scale_text(&row->note, from->note);
  row->size_bytes = from->size_bytes;
  row->median_ns = from->median_ns;
  row->energy_nj = from->energy_nj;
  row->kind = from->kind;
  return row;
}

void scale_rows_add(struct scale_rows *rows, const struct cost_platform *platform, enum scale_rows_part part) {
  for (int i = 0; i < cost_row_count(platform); i++) {
    struct cost_row_info info;
    int64_t p_ppb[COST_POINTS_MAX], ns[COST_POINTS_MAX];
    cost_row_info(platform, i, &info);
    bool known = info.kind != COST_ESTIMATED && info.kind != COST_ASSUMED;
    if (part == SCALE_OWN_KNOWN_ROWS && (!known || strcmp(info.from_platform, cost_platform_name(platform)) != 0)) continue;
    struct scale_row *row = add(rows, info.algorithm, info.operation, cost_row_points(platform, i, p_ppb, ns));
    for (int k = 0; k < row->count; k++) row->points[k] = (struct scale_point){p_ppb[k], ns[k]};
    scale_text(&row->source, info.source);
    scale_text(&row->family, info.family);
    scale_text(&row->note, info.note);
    row->size_bytes = info.size_bytes;
    row->median_ns = info.median_ns;
    row->energy_nj = info.energy_nj;
    row->kind = info.kind;
  }
}

const struct scale_row *scale_rows_find(const struct scale_rows *rows, const char *algorithm, const char *operation, int64_t size_bytes) {
  for (int i = 0; i < rows->count; i++) {
    const struct scale_row *row = &rows->rows[i];
    if (!strcmp(row->algorithm, algorithm) && !strcmp(row->operation, operation) && (size_bytes < 0 || row->size_bytes == size_bytes)) return row;
  }
  return NULL;
}

void scale_rows_free(struct scale_rows *rows) {
  for (int i = 0; i < rows->count; i++) {
    struct scale_row *row = &rows->rows[i];
    free(row->algorithm);
    free(row->operation);
    free(row->source);
    free(row->family);
    free(row->note);
    free(row->from);
    free(row->points);
  }
  free(rows->rows);
  *rows = (struct scale_rows){0};
}
