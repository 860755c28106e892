/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/plot.h"

#include "output/plot_internal.h"
#include "output/stats.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More series or columns than these cannot be told apart, or read, in one figure. */
enum { MAX_SERIES = 16, MAX_COLUMNS = 60, MAX_HEATMAP = 200 };

/* A point that the conditions let through. */
struct chosen {
  int64_t id;
  struct store_cell *cells; /* own copies */
  struct store_row row;
  bool found;
  double low, high;
  int column, series;
};

struct plotting {
  struct store *store;
  const struct store_study *study;
  enum figure_kind kind;
  int metric;
  const char *stat;
  int x;          /* axis, -1: none */
  bool *grouping; /* per axis: part of the series' names */
  bool *varies;   /* per axis: several values among the points */
  int count;
  struct chosen *points;
};

static char *format(const char *text, ...) __attribute__((format(printf, 1, 2)));
static char *format(const char *text, ...) {
  char *result = NULL;
  va_list args;
  va_start(args, text);
  int length = vasprintf(&result, text, args);
  va_end(args);
  assert(length >= 0);
  return result;
}

static bool same_cell(const struct store_axis *axis, const struct store_cell *a, const struct store_cell *b) {
  return axis->is_text ? strcmp(a->text, b->text) == 0 : a->number == b->number;
}

/* --- what is asked for --- */

static int parse_kind(const char *name, enum figure_kind *kind, struct err *e) {
  static const char *const names[] = {
      [FIGURE_LINE] = "line", [FIGURE_CDF] = "cdf", [FIGURE_BAR] = "bar", [FIGURE_HEATMAP] = "heatmap", [FIGURE_BREAKDOWN] = "breakdown"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (strcmp(names[i], name) != 0) continue;
    *kind = (enum figure_kind)i;
    return 0;
  }
  return err_add(e, ERR_INPUT, "there is no kind of plot %s; there are: line cdf bar heatmap breakdown", name);
}

static void copy_point(struct plotting *plotting, const struct store_point *point) {
  int axes = plotting->study->axis_count;
  struct chosen chosen = {.id = point->id, .cells = calloc((size_t)axes + 1, sizeof *chosen.cells), .low = NAN, .high = NAN};
  assert(chosen.cells);
  for (int i = 0; i < axes; i++) {
    chosen.cells[i] = point->cells[i];
    if (point->cells[i].text) chosen.cells[i].text = format("%s", point->cells[i].text);
  }
  if ((plotting->count & (plotting->count - 1)) == 0) { /* full at every power of two */
    plotting->points = realloc(plotting->points, (size_t)(plotting->count ? 2 * plotting->count : 1) * sizeof *plotting->points);
    assert(plotting->points);
  }
  plotting->points[plotting->count++] = chosen;
}

static int load_points(struct plotting *plotting, const struct plot_request *request, struct err *e) {
  struct store *store = plotting->store;
  for (int64_t id = 0; id < store_point_count(store); id++) {
    struct store_point point;
    bool matches;
    int code = store_read_point(store, id, &point, e);
    if (!code) code = table_matches(store, &point, request->wheres, request->where_count, &matches, e);
    if (code) return code;
    if (matches) copy_point(plotting, &point);
  }
  if (plotting->count == 0) return err_add(e, ERR_INPUT, "no point of the study has these values");
  for (int a = 0; a < plotting->study->axis_count; a++)
    for (int i = 1; i < plotting->count && !plotting->varies[a]; i++)
      plotting->varies[a] = !same_cell(&plotting->study->axes[a], &plotting->points[0].cells[a], &plotting->points[i].cells[a]);
  return 0;
}

static int load_rows(struct plotting *plotting, struct err *e) {
  bool any = false;
  for (int i = 0; i < plotting->count; i++) {
    struct chosen *point = &plotting->points[i];
    int code = store_read_metric(plotting->store, point->id, plotting->metric, &point->row, &point->found, e);
    if (code) return code;
    any |= point->found && point->row.n > 0;
  }
  const char *name = plotting->study->metrics[plotting->metric].name;
  return any ? 0 : err_add(e, ERR_INPUT, "the points chosen have no results of metric %s yet", name);
}

/* Of a mean: Student's t. Of a quantile: the quantiles that bound it. */
static int load_intervals(struct plotting *plotting, struct err *e) {
  int permille = stats_permille(plotting->stat);
  bool mean = strcmp(plotting->stat, "mean") == 0;
  for (int i = 0; i < plotting->count; i++) {
    struct chosen *point = &plotting->points[i];
    int bounds[2];
    double values[2];
    bool found;
    if (!point->found || point->row.n == 0) continue;
    if (mean) {
      point->low = point->row.mean - point->row.ci95;
      point->high = point->row.mean + point->row.ci95;
    } else if (permille >= 0 && stats_quantile_interval(permille, point->row.replications, &bounds[0], &bounds[1])) {
      int code = store_read_quantiles(plotting->store, point->id, plotting->metric, bounds, 2, values, &found, e);
      if (code) return code;
      if (!found) continue;
      point->low = values[0];
      point->high = values[1];
    }
  }
  return 0;
}

static int default_x(const struct plotting *plotting) {
  const struct store_study *study = plotting->study;
  for (int a = 0; a < study->axis_count; a++)
    if (plotting->varies[a] && !study->axes[a].is_text) return a;
  for (int a = 0; a < study->axis_count; a++)
    if (plotting->varies[a]) return a;
  return study->axis_count ? 0 : -1;
}

/* Points that differ in an axis which is neither x nor by would fall on one another. */
static int refuse_hidden_axes(const struct plotting *plotting, struct err *e) {
  int code = 0;
  for (int a = 0; a < plotting->study->axis_count; a++) {
    const struct store_axis *axis = &plotting->study->axes[a];
    char value[256];
    if (!plotting->varies[a] || a == plotting->x || plotting->grouping[a]) continue;
    code = err_add(e, ERR_INPUT, "axis %s has several values, too: fix it (--where %s=%s)", axis->name, axis->name,
        table_cell(axis, &plotting->points[0].cells[a], value, sizeof value));
  }
  return code;
}

static int resolve_axes(struct plotting *plotting, const struct plot_request *request, struct err *e) {
  const struct store_study *study = plotting->study;
  int by, code = request->x ? table_find_axis(study, request->x, &plotting->x, e) : 0;
  if (code) return code;
  if (!request->x) plotting->x = default_x(plotting);
  bool numeric = plotting->x >= 0 && !study->axes[plotting->x].is_text;
  if (!request->kind) plotting->kind = numeric ? FIGURE_LINE : FIGURE_BAR;
  if (plotting->kind == FIGURE_LINE && !numeric)
    return err_add(
        e, ERR_INPUT, "a line needs a numeric axis; %s has none of numbers: use --kind bar", plotting->x >= 0 ? study->axes[plotting->x].name : "the study");
  if (plotting->kind == FIGURE_CDF) plotting->x = -1; /* every point is a series */
  if (request->by) {
    code = table_find_axis(study, request->by, &by, e);
    if (code) return code;
    if (by == plotting->x) return err_add(e, ERR_INPUT, "axis %s is x already: choose another for --by", request->by);
    plotting->grouping[by] = true;
    return refuse_hidden_axes(plotting, e);
  }
  for (int a = 0; a < study->axis_count; a++) plotting->grouping[a] = plotting->varies[a] && a != plotting->x;
  return 0;
}

/* --- columns and series --- */

/* Values of a point in the axes chosen, joined; malloc'd. */
static char *point_name(const struct plotting *plotting, const struct chosen *point, const bool *axes, int also) {
  char *name = format("%s", "");
  for (int a = 0; a < plotting->study->axis_count; a++) {
    char value[256];
    if (!axes[a] && a != also) continue;
    char *longer = format("%s%s%s", name, *name ? ", " : "", table_cell(&plotting->study->axes[a], &point->cells[a], value, sizeof value));
    free(name);
    name = longer;
  }
  return name;
}

static char *axes_title(const struct plotting *plotting, const bool *axes, int also) {
  char *title = format("%s", "");
  for (int a = 0; a < plotting->study->axis_count; a++) {
    if (!axes[a] && a != also) continue;
    char *longer = format("%s%s%s", title, *title ? ", " : "", plotting->study->axes[a].name);
    free(title);
    title = longer;
  }
  return title;
}

/* Index of name in the list, added at its end when it is new. */
static int index_of(char ***list, int *count, char *name) {
  for (int i = 0; i < *count; i++) {
    if (strcmp((*list)[i], name) != 0) continue;
    free(name);
    return i;
  }
  *list = realloc(*list, (size_t)(*count + 1) * sizeof **list);
  assert(*list);
  (*list)[*count] = name;
  return (*count)++;
}

/* Every point's column and series; names in order of appearance, which is the order of the sweep. */
static int place_points(struct plotting *plotting, struct figure *figure, struct err *e) {
  char **series = NULL;
  int series_count = 0, limit = plotting->kind == FIGURE_HEATMAP ? MAX_HEATMAP : MAX_SERIES;
  bool columns = plotting->kind != FIGURE_LINE && plotting->kind != FIGURE_CDF;
  bool *none = calloc((size_t)plotting->study->axis_count + 1, sizeof *none);
  assert(none);
  /* stacked bars stand side by side: what else varies is part of the bar's name */
  bool joined = plotting->kind == FIGURE_BREAKDOWN;
  for (int i = 0; i < plotting->count && figure->column_count <= MAX_HEATMAP && series_count <= MAX_HEATMAP; i++) {
    struct chosen *point = &plotting->points[i];
    if (columns)
      point->column = index_of(&figure->columns, &figure->column_count, point_name(plotting, point, joined ? plotting->grouping : none, plotting->x));
    if (!joined) point->series = index_of(&series, &series_count, point_name(plotting, point, plotting->grouping, -1));
  }
  int code = 0;
  int column_limit = plotting->kind == FIGURE_HEATMAP ? MAX_HEATMAP : MAX_COLUMNS;
  if (figure->column_count > column_limit)
    code = err_add(e, ERR_INPUT, "more than %d bars or columns in one figure: choose fewer points (--where KEY=VALUE)", column_limit);
  if (series_count > limit)
    code = err_add(e, ERR_INPUT, "more than %d series in one figure: choose an axis (--by KEY) and fix others (--where KEY=VALUE)", limit);
  figure->series_count = series_count;
  figure->series = calloc((size_t)series_count + 1, sizeof *figure->series);
  assert(figure->series);
  for (int i = 0; i < series_count; i++) figure->series[i] = (struct figure_series){.name = series[i], .color = i};
  free(series);
  free(none);
  return code;
}

static struct figure_value *add_value(struct figure_series *series, struct figure_value value) {
  series->values = realloc(series->values, (size_t)(series->count + 1) * sizeof *series->values);
  assert(series->values);
  series->values[series->count] = value;
  return &series->values[series->count++];
}

static int value_compare(const void *a, const void *b) {
  double p = ((const struct figure_value *)a)->x, q = ((const struct figure_value *)b)->x;
  return (p > q) - (p < q);
}

static void fill_values(const struct plotting *plotting, struct figure *figure) {
  for (int i = 0; i < plotting->count; i++) {
    const struct chosen *point = &plotting->points[i];
    struct figure_value value = {.x = plotting->kind == FIGURE_LINE ? point->cells[plotting->x].number : point->column, .y = NAN, .low = NAN, .high = NAN};
    if (point->found) {
      value.n = point->row.n;
      value.failed = point->row.failed;
      stats_named(&point->row, plotting->stat, &value.y);
      value.low = point->low;
      value.high = point->high;
    }
    add_value(&figure->series[point->series], value);
  }
  for (int s = 0; s < figure->series_count; s++)
    qsort(figure->series[s].values, (size_t)figure->series[s].count, sizeof *figure->series[s].values, value_compare);
}

static int fill_cdf(const struct plotting *plotting, struct figure *figure, struct err *e) {
  for (int i = 0; i < plotting->count; i++) {
    const struct chosen *point = &plotting->points[i];
    double *values, *shares;
    int count, code = store_read_cdf(plotting->store, point->id, plotting->metric, &values, &shares, &count, e);
    if (code) return code;
    /* the first value is reached with a step from 0 */
    for (int k = 0; k < count; k++) {
      if (k == 0)
        add_value(&figure->series[point->series],
            (struct figure_value){.x = values[0], .y = 0, .low = NAN, .high = NAN, .n = point->row.n, .failed = point->row.failed});
      add_value(&figure->series[point->series],
          (struct figure_value){.x = values[k], .y = shares[k], .low = NAN, .high = NAN, .n = point->row.n, .failed = point->row.failed});
    }
    free(values);
    free(shares);
  }
  return 0;
}

/* Parts that are zero everywhere are left out; a part keeps its colour in every figure. */
static int fill_breakdown(const struct plotting *plotting, struct figure *figure, struct err *e) {
  figure->series = realloc(figure->series, PART_COUNT * sizeof *figure->series);
  assert(figure->series);
  for (int part = 0; part < PART_COUNT; part++) {
    bool used = false;
    for (int i = 0; i < plotting->count; i++) used |= plotting->points[i].found && plotting->points[i].row.has_parts && plotting->points[i].row.parts[part] > 0;
    if (!used) continue;
    struct figure_series *series = &figure->series[figure->series_count++];
    *series = (struct figure_series){.name = format("%s", metric_part_name((enum part)part)), .color = part};
    for (int i = 0; i < plotting->count; i++) {
      const struct chosen *point = &plotting->points[i];
      bool there = point->found && point->row.n > 0;
      add_value(
          series, (struct figure_value){
                      .x = point->column, .y = there ? point->row.parts[part] : NAN, .low = NAN, .high = NAN, .n = point->row.n, .failed = point->row.failed});
    }
  }
  return figure->series_count ? 0 : err_add(e, ERR_INPUT, "metric %s has no breakdown", plotting->study->metrics[plotting->metric].name);
}

/* --- words and scales --- */

/* "n = 200", or its range over the points drawn. */
static char *describe_counts(const struct plotting *plotting) {
  int64_t least = INT64_MAX, most = 0, failed = 0;
  bool intervals = false;
  for (int i = 0; i < plotting->count; i++) {
    const struct chosen *point = &plotting->points[i];
    if (!point->found) continue;
    if (point->row.n < least) least = point->row.n;
    if (point->row.n > most) most = point->row.n;
    if (point->row.failed > failed) failed = point->row.failed;
    intervals |= !isnan(point->low) && !isnan(point->high);
  }
  intervals &= plotting->kind == FIGURE_LINE || plotting->kind == FIGURE_BAR;
  char *n = least == most ? format("n = %lld", (long long)most) : format("n = %lld to %lld", (long long)least, (long long)most);
  char *fails = failed ? format(", failed: up to %lld", (long long)failed) : format("%s", "");
  char *all = format("%s%s%s", n, fails, intervals ? ", 95% intervals" : "");
  free(n);
  free(fails);
  return all;
}

static void describe(const struct plotting *plotting, struct figure *figure) {
  const struct store_study *study = plotting->study;
  const struct metric_def *def = &study->metrics[plotting->metric];
  char header[256], name[200];
  figure->title = format("%s", *study->title ? study->title : study->scenario);
  char *counts = describe_counts(plotting), *fixed = format("%s", "");
  for (int a = 0; a < study->axis_count; a++) {
    char value[256];
    if (plotting->varies[a]) continue;
    char *longer = format("%s, %s = %s", fixed, study->axes[a].name, table_cell(&study->axes[a], &plotting->points[0].cells[a], value, sizeof value));
    free(fixed);
    fixed = longer;
  }
  figure->subtitle = format("%s on %s%s, %s", study->scenario, study->backend, fixed, counts);
  free(counts);
  free(fixed);
  bool plain = strcmp(plotting->stat, "n") == 0 || strcmp(plotting->stat, "failed") == 0 || strcmp(plotting->stat, "cv") == 0;
  snprintf(name, sizeof name, "%s%s%s", def->name, plotting->kind == FIGURE_CDF ? "" : " ", plotting->kind == FIGURE_CDF ? "" : plotting->stat);
  char *value_label = format("%s", table_header(name, plain ? "1" : metric_unit_name(def->unit), header, sizeof header));
  bool *none = calloc((size_t)study->axis_count + 1, sizeof *none);
  assert(none);
  if (plotting->kind == FIGURE_CDF) {
    figure->x_label = value_label;
    figure->y_label = format("share of samples");
  } else {
    figure->y_label = value_label;
    /* a column's name carries its unit; a numeric scale does not */
    figure->x_label = plotting->kind == FIGURE_LINE
                          ? format("%s", table_header(study->axes[plotting->x].name, study->axes[plotting->x].unit, header, sizeof header))
                          : axes_title(plotting, plotting->kind == FIGURE_BREAKDOWN ? plotting->grouping : none, plotting->x);
  }
  free(none);
  figure->key_title = plotting->kind == FIGURE_BREAKDOWN ? format("%s", "") : axes_title(plotting, plotting->grouping, -1);
}

/* Values that span this factor are unreadable on a linear scale. */
static const double LOG_FACTOR = 100;

static void choose_scales(const struct plotting *plotting, struct figure *figure) {
  double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
  for (int s = 0; s < figure->series_count; s++) {
    for (int i = 0; i < figure->series[s].count; i++) {
      const double pair[2] = {figure->series[s].values[i].x, figure->series[s].values[i].y};
      for (int k = 0; k < 2; k++) {
        if (isnan(pair[k])) continue;
        low[k] = fmin(low[k], pair[k]);
        high[k] = fmax(high[k], pair[k]);
      }
    }
  }
  bool x_wide = low[0] > 0 && high[0] >= LOG_FACTOR * low[0], y_wide = low[1] > 0 && high[1] >= LOG_FACTOR * low[1];
  if (plotting->kind == FIGURE_LINE) figure->x_log = low[0] > 0 && high[0] > low[0] && (plotting->study->axes[plotting->x].logarithmic || x_wide);
  if (plotting->kind == FIGURE_CDF) figure->x_log = x_wide;
  /* parts of a stack can be compared on a linear scale only */
  figure->y_log = y_wide && plotting->kind != FIGURE_CDF && plotting->kind != FIGURE_BREAKDOWN;
}

static int fill_figure(struct plotting *plotting, struct figure *figure, struct err *e) {
  int code = place_points(plotting, figure, e);
  if (code) return code;
  if (plotting->kind == FIGURE_CDF)
    code = fill_cdf(plotting, figure, e);
  else if (plotting->kind == FIGURE_BREAKDOWN)
    code = fill_breakdown(plotting, figure, e);
  else
    fill_values(plotting, figure);
  if (code) return code;
  describe(plotting, figure);
  choose_scales(plotting, figure);
  return 0;
}

static bool is_share(const struct plotting *plotting) { return plotting->study->metrics[plotting->metric].unit == METRIC_SHARE; }

static int resolve_statistic(struct plotting *plotting, const struct plot_request *request, struct err *e) {
  int code = table_find_metric(plotting->study, request->y, &plotting->metric, &plotting->stat, e);
  if (code) return code;
  bool breakdown = plotting->kind == FIGURE_BREAKDOWN, given = plotting->stat;
  if (!given) plotting->stat = breakdown || is_share(plotting) ? "mean" : "p50"; /* half of the yes and no say little */
  if (breakdown && strcmp(plotting->stat, "mean") != 0) return err_add(e, ERR_INPUT, "%s: a breakdown is of means", request->y);
  if (plotting->kind == FIGURE_CDF && given) return err_add(e, ERR_INPUT, "%s: a cdf shows the whole distribution; name the metric alone", request->y);
  return 0;
}

static int prepare(struct plotting *plotting, const struct plot_request *request, struct err *e) {
  int code = request->kind ? parse_kind(request->kind, &plotting->kind, e) : 0;
  if (!code) code = resolve_statistic(plotting, request, e);
  if (!code) code = load_points(plotting, request, e);
  if (!code) code = resolve_axes(plotting, request, e);
  if (!code) code = load_rows(plotting, e);
  if (!code && (plotting->kind == FIGURE_LINE || plotting->kind == FIGURE_BAR)) code = load_intervals(plotting, e);
  return code;
}

int plot_draw(struct store *store, const struct plot_request *request, struct err *e) {
  const struct store_study *study = store_study(store);
  struct plotting plotting = {.store = store, .study = study, .kind = FIGURE_LINE, .x = -1};
  struct figure figure = {0};
  int code = figure_check_path(request->out, e);
  if (code) return code;
  plotting.varies = calloc((size_t)study->axis_count + 1, sizeof *plotting.varies);
  plotting.grouping = calloc((size_t)study->axis_count + 1, sizeof *plotting.grouping);
  assert(plotting.varies && plotting.grouping);
  code = prepare(&plotting, request, e);
  figure.kind = plotting.kind;
  if (!code) code = fill_figure(&plotting, &figure, e);
  if (!code) code = figure_draw(&figure, request->out, e);
  for (int i = 0; i < plotting.count; i++) {
    for (int a = 0; a < study->axis_count; a++) free((char *)plotting.points[i].cells[a].text);
    free(plotting.points[i].cells);
  }
  free(plotting.points);
  free(plotting.varies);
  free(plotting.grouping);
  figure_free(&figure);
  return code;
}
