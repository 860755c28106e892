/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/grid.h"
#include "output/stats.h"
#include "output/table.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A metric of a table; stat NULL: the columns of look(). */
struct chosen {
  int metric;
  const char *stat;
};

/* Points that satisfy the conditions, in order. */
static int select_points(struct store *store, const struct table_where *wheres, int where_count, int64_t **ids, int64_t *count, struct err *e) {
  int64_t total = store_point_count(store);
  *ids = malloc((size_t)(total + 1) * sizeof **ids);
  assert(*ids);
  *count = 0;
  for (int64_t id = 0; id < total; id++) {
    struct store_point point;
    bool matches;
    int code = store_read_point(store, id, &point, e);
    if (!code) code = table_matches(store, &point, wheres, where_count, &matches, e);
    if (code) return code;
    if (matches) (*ids)[(*count)++] = id;
  }
  return 0;
}

static void axis_columns(struct grid *grid, const struct store_study *study) {
  grid_column(grid, "point", GRID_NUMBER);
  for (int i = 0; i < study->axis_count; i++) {
    char header[256];
    grid_column(grid, table_header(study->axes[i].name, study->axes[i].unit, header, sizeof header), study->axes[i].is_text ? GRID_TEXT : GRID_RIGHT);
  }
}

static int axis_cells(struct grid *grid, struct store *store, int64_t id, struct err *e) {
  const struct store_study *study = store_study(store);
  struct store_point point;
  int code = store_read_point(store, id, &point, e);
  if (code) return code;
  grid_number(grid, (double)id);
  for (int i = 0; i < study->axis_count; i++) {
    char number[32];
    if (study->axes[i].is_text)
      grid_text(grid, point.cells[i].text);
    else
      grid_right(grid, real_format(point.cells[i].number, number));
  }
  return 0;
}

/* Reads a metric at every point; what is missing stays n = -1. */
static int read_rows(struct store *store, int metric, const int64_t *ids, int64_t count, struct store_row *rows, struct err *e) {
  for (int64_t i = 0; i < count; i++) {
    bool found;
    int code = store_read_metric(store, ids[i], metric, &rows[i], &found, e);
    if (code) return code;
    if (!found)
      rows[i] = (struct store_row){.n = -1,
          .mean = NAN,
          .sd = NAN,
          .cv = NAN,
          .iqr = NAN,
          .ci95 = NAN,
          .min = NAN,
          .p5 = NAN,
          .p25 = NAN,
          .p50 = NAN,
          .p75 = NAN,
          .p95 = NAN,
          .p99 = NAN,
          .max = NAN};
  }
  return 0;
}

static double count_or_nothing(const struct store_row *row, int64_t count) { return row->n < 0 ? NAN : (double)count; }

/* One metric: axes, n, mean; interval, quantiles and failed where there are any. */
static int show_metric(struct store *store, int metric, const int64_t *ids, int64_t count, struct store_row *rows, FILE *to, struct err *e) {
  const struct store_study *study = store_study(store);
  const struct metric_def *def = &study->metrics[metric];
  bool interval = false, failed = false, spread = false;
  int code = read_rows(store, metric, ids, count, rows, e);
  if (code) return code;
  for (int64_t i = 0; i < count; i++) {
    interval |= !isnan(rows[i].ci95);
    failed |= rows[i].failed > 0;
    spread |= rows[i].n > 1;
  }
  const struct {
    const char *name;
    bool shown;
    size_t offset;
  } columns[] = {
      {"mean", true, offsetof(struct store_row, mean)},
      {"\xC2\xB1 95 %", interval, offsetof(struct store_row, ci95)},
      {"p50", spread, offsetof(struct store_row, p50)},
      {"p95", spread, offsetof(struct store_row, p95)},
      {"p99", spread, offsetof(struct store_row, p99)},
      {"max", spread, offsetof(struct store_row, max)},
  };
  enum { COLUMNS = sizeof columns / sizeof columns[0] };
  struct grid *grid = grid_new();
  char header[256];
  axis_columns(grid, study);
  grid_column(grid, "n", GRID_NUMBER);
  for (int c = 0; c < COLUMNS; c++)
    if (columns[c].shown) grid_column(grid, table_header(columns[c].name, metric_unit_name(def->unit), header, sizeof header), GRID_NUMBER);
  if (failed) grid_column(grid, "failed", GRID_NUMBER);
  for (int64_t i = 0; i < count && !code; i++) {
    code = axis_cells(grid, store, ids[i], e);
    if (code) break;
    grid_number(grid, count_or_nothing(&rows[i], rows[i].n));
    for (int c = 0; c < COLUMNS; c++)
      if (columns[c].shown) grid_number(grid, *(const double *)((const char *)&rows[i] + columns[c].offset));
    if (failed) grid_number(grid, count_or_nothing(&rows[i], rows[i].failed));
  }
  if (!code) {
    fputs(table_header(def->name, metric_unit_name(def->unit), header, sizeof header), to);
    if (def->from) fprintf(to, ": %s%s%s", def->from, def->to ? " -> " : "", def->to ? def->to : "");
    fputs("\n\n", to);
    grid_print(grid, to);
  }
  grid_free(grid);
  return code;
}

/* Statistics side by side; with an interval beside every mean, n once (the smallest), failed where any. */
static int show_statistics(struct store *store, const struct chosen *list, int list_count, const int64_t *ids, int64_t count, FILE *to, struct err *e) {
  const struct store_study *study = store_study(store);
  struct store_row *rows = calloc((size_t)(list_count * count + 1), sizeof *rows);
  bool *interval = calloc((size_t)list_count + 1, sizeof *interval), failed = false;
  assert(rows && interval);
  struct grid *grid = grid_new();
  int code = 0;
  axis_columns(grid, study);
  for (int k = 0; k < list_count && !code; k++) {
    const struct metric_def *def = &study->metrics[list[k].metric];
    bool plain = strcmp(list[k].stat, "n") == 0 || strcmp(list[k].stat, "failed") == 0 || strcmp(list[k].stat, "cv") == 0;
    char name[200], header[256];
    code = read_rows(store, list[k].metric, ids, count, &rows[k * count], e);
    for (int64_t i = 0; i < count && !code; i++) {
      interval[k] |= strcmp(list[k].stat, "mean") == 0 && !isnan(rows[k * count + i].ci95);
      failed |= rows[k * count + i].failed > 0;
    }
    snprintf(name, sizeof name, "%s.%s", def->name, list[k].stat);
    grid_column(grid, table_header(name, plain ? "1" : metric_unit_name(def->unit), header, sizeof header), GRID_NUMBER);
    if (interval[k]) grid_column(grid, "\xC2\xB1 95 %", GRID_NUMBER);
  }
  grid_column(grid, "n", GRID_NUMBER);
  if (failed) grid_column(grid, "failed", GRID_NUMBER);
  for (int64_t i = 0; i < count && !code; i++) {
    int64_t n = INT64_MAX, most_failed = 0;
    code = axis_cells(grid, store, ids[i], e);
    for (int k = 0; k < list_count && !code; k++) {
      const struct store_row *row = &rows[k * count + i];
      double value = NAN;
      if (row->n >= 0) stats_named(row, list[k].stat, &value);
      grid_number(grid, value);
      if (interval[k]) grid_number(grid, row->ci95);
      if (row->n >= 0 && row->n < n) n = row->n;
      if (row->failed > most_failed) most_failed = row->failed;
    }
    if (code) break;
    grid_number(grid, n == INT64_MAX ? NAN : (double)n);
    if (failed) grid_number(grid, (double)most_failed);
  }
  if (!code) grid_print(grid, to);
  grid_free(grid);
  free(interval);
  free(rows);
  return code;
}

static int choose(const struct store_study *study, const char *const *metrics, int metric_count, struct chosen *list, struct err *e) {
  int code = 0;
  for (int i = 0; i < metric_count; i++) {
    int failed = table_find_metric(study, metrics[i], &list[i].metric, &list[i].stat, e);
    if (failed) code = failed;
  }
  return code;
}

static int show_chosen(struct store *store, const struct chosen *list, int list_count, const int64_t *ids, int64_t count, FILE *to, struct err *e) {
  struct chosen *side_by_side = calloc((size_t)list_count + 1, sizeof *side_by_side);
  struct store_row *rows = calloc((size_t)count + 1, sizeof *rows);
  assert(side_by_side && rows);
  int together = 0, written = 0, code = 0;
  for (int i = 0; i < list_count; i++)
    if (list[i].stat) side_by_side[together++] = list[i];
  if (together) {
    code = show_statistics(store, side_by_side, together, ids, count, to, e);
    written++;
  }
  for (int i = 0; i < list_count && !code; i++) {
    if (list[i].stat) continue;
    if (written++) fputc('\n', to);
    code = show_metric(store, list[i].metric, ids, count, rows, to, e);
  }
  free(side_by_side);
  free(rows);
  return code;
}

int table_show(struct store *store, const char *const *metrics, int metric_count, const struct table_where *wheres, int where_count, FILE *to, struct err *e) {
  const struct store_study *study = store_study(store);
  int list_count = metrics ? metric_count : study->metric_count;
  struct chosen *list = calloc((size_t)list_count + 1, sizeof *list);
  int64_t *ids = NULL, count = 0;
  assert(list);
  int code = metrics ? choose(study, metrics, metric_count, list, e) : 0;
  for (int i = 0; !metrics && i < list_count; i++) list[i].metric = i;
  if (!code) code = select_points(store, wheres, where_count, &ids, &count, e);
  if (!code && count == 0) code = err_add(e, ERR_INPUT, "no point of the study has these values");
  if (!code) code = show_chosen(store, list, list_count, ids, count, to, e);
  free(list);
  free(ids);
  return code;
}
