/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/cmd.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/utsname.h>

/* Kinds whose values are numbers with one unit. A loss is one as long as no value of the axis is a burst model. */
static const struct scale {
  enum param_kind kind;
  enum unit unit;
  const char *name;
  double per_name; /* base units in one of it */
} scales[] = {
    {PARAM_COUNT, UNIT_COUNT, "1", 1},
    {PARAM_TIME, UNIT_TIME, "ms", 1e6},
    {PARAM_RATE, UNIT_RATE, "Mbit/s", 1e6},
    {PARAM_SIZE, UNIT_SIZE, "B", 1},
    {PARAM_SHARE, UNIT_SHARE, "%", 1e7},
    {PARAM_LOSS, UNIT_SHARE, "%", 1e7},
};

static const struct scale *find_scale(const struct param *param) {
  for (size_t i = 0; param && i < sizeof scales / sizeof scales[0]; i++)
    if (scales[i].kind == param->kind) return &scales[i];
  return NULL;
}

/* All values of the axis as numbers; false when one is not. */
static bool read_numbers(const struct axis *axis, const struct scale *scale, struct store_cell *cells) {
  for (int v = 0; v < axis->count; v++) {
    int64_t value;
    struct err ignored = {0};
    int status = units_parse(scale->unit, axis->values[v].texts[0], &value, &ignored);
    err_free(&ignored);
    if (status) return false;
    /* a quotient, not a product: 0.1 ms is then the double nearest to 0.1 */
    cells[v].number = (double)value / scale->per_name;
  }
  return true;
}

void columns_make(struct columns *columns, const struct scenario *scenario) {
  size_t room = (size_t)scenario->axis_count + 1;
  *columns = (struct columns){scenario->axis_count, calloc(room, sizeof *columns->axes), calloc(room, sizeof *columns->cells)};
  assert(columns->axes && columns->cells);
  for (int a = 0; a < scenario->axis_count; a++) {
    const struct axis *axis = &scenario->axes[a];
    const struct scale *scale = find_scale(axis->param);
    struct store_cell *cells = calloc((size_t)axis->count, sizeof *cells);
    assert(cells);
    for (int v = 0; v < axis->count; v++) cells[v].text = axis->values[v].label;
    bool numbers = scale && read_numbers(axis, scale, cells);
    columns->axes[a] =
        (struct store_axis){.name = axis->name, .is_text = !numbers, .unit = numbers ? scale->name : "", .logarithmic = axis->logarithmic && numbers};
    columns->cells[a] = cells;
  }
}

void columns_free(struct columns *columns) {
  for (int a = 0; a < columns->count; a++) free(columns->cells[a]);
  free(columns->cells);
  free(columns->axes);
}

void study_describe(const struct study *study, const struct columns *columns, struct study_texts *texts, struct store_study *out) {
  struct utsname name;
  uname(&name);
  snprintf(texts->host, sizeof texts->host, "%s %s", name.sysname, name.machine);
  snprintf(texts->cost_hash, sizeof texts->cost_hash, "%016" PRIx64, study->cost_hash);
  *out = (struct store_study){.scenario = study->scenario->domain->name,
      .title = study->scenario->title,
      .file_text = study->scenario->text,
      .parameters = study->parameters,
      .seed = (int64_t)study->seed,
      .backend = study->ops.name,
      .code_version = PQNETSIM_VERSION,
      .compiler = __VERSION__,
      .host = texts->host,
      .cost_hash = texts->cost_hash,
      .replications = study->replications,
      .axis_count = columns->count,
      .axes = columns->axes,
      .metric_count = study->metric_count,
      .metrics = study->metrics};
}

void study_points_make(struct study_points *points, const struct study *study, const struct columns *columns) {
  size_t room = (size_t)columns->count + 1;
  *points = (struct study_points){study, columns, calloc(room, sizeof *points->cells), calloc(room, sizeof *points->digits)};
  assert(points->cells && points->digits);
}

void study_points_free(struct study_points *points) {
  free(points->cells);
  free(points->digits);
}

void study_point(void *arg, int64_t id, struct store_point *out) {
  struct study_points *points = arg;
  sweep_digits(points->study->sweep, id, points->digits);
  for (int a = 0; a < points->columns->count; a++) points->cells[a] = points->columns->cells[a][points->digits[a]];
  *out = (struct store_point){.id = id, .key = points->study->keys[id], .cells = points->cells};
}
