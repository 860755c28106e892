/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names and values as users write them, against the axes and metrics of a study. */
#include "output/stats.h"
#include "output/table.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *table_header(const char *name, const char *unit, char *buffer, size_t size) {
  if (!unit || !*unit || strcmp(unit, "1") == 0)
    snprintf(buffer, size, "%s", name);
  else
    snprintf(buffer, size, "%s [%s]", name, unit);
  return buffer;
}

const char *table_cell(const struct store_axis *axis, const struct store_cell *cell, char *buffer, size_t size) {
  char number[32];
  if (axis->is_text)
    snprintf(buffer, size, "%s", cell->text);
  else
    snprintf(buffer, size, "%s%s", real_format(cell->number, number), strcmp(axis->unit, "1") == 0 ? "" : axis->unit);
  return buffer;
}

/* Names joined by blanks, for messages; malloc'd. */
static char *list_names(const struct store_study *study, bool axes) {
  char *bytes;
  size_t size;
  FILE *to = open_memstream(&bytes, &size);
  assert(to);
  int count = axes ? study->axis_count : study->metric_count;
  for (int i = 0; i < count; i++) fprintf(to, "%s%s", i ? " " : "", axes ? study->axes[i].name : study->metrics[i].name);
  if (count == 0) fputs("none", to);
  fclose(to);
  return bytes;
}

static int find_name(const struct store_study *study, const char *name, size_t length) {
  for (int i = 0; i < study->metric_count; i++)
    if (strlen(study->metrics[i].name) == length && memcmp(study->metrics[i].name, name, length) == 0) return i;
  return -1;
}

int table_find_metric(const struct store_study *study, const char *spec, int *metric, const char **stat, struct err *e) {
  const char *dot = strrchr(spec, '.');
  struct store_row none = {0};
  double ignored;
  int whole = find_name(study, spec, strlen(spec));
  int part = dot ? find_name(study, spec, (size_t)(dot - spec)) : -1;
  if (whole < 0 && part < 0) {
    char *names = list_names(study, false);
    int code = err_add(e, ERR_INPUT, "the study has no metric %s; it has: %s", spec, names);
    free(names);
    return code;
  }
  if (whole < 0 && !stats_named(&none, dot + 1, &ignored))
    return err_add(e, ERR_INPUT, "%s: there is no statistic %s; there are: %s", spec, dot + 1, STATS_NAMES);
  *metric = whole >= 0 ? whole : part;
  *stat = whole >= 0 ? NULL : dot + 1;
  return 0;
}

int table_find_axis(const struct store_study *study, const char *name, int *axis, struct err *e) {
  for (int i = 0; i < study->axis_count; i++) {
    if (strcmp(study->axes[i].name, name) != 0) continue;
    *axis = i;
    return 0;
  }
  char *names = list_names(study, true);
  int code = err_add(e, ERR_INPUT, "the study has no axis %s; its axes are: %s", name, names);
  free(names);
  return code;
}

/* A value with its suffix, or a bare number where the axis has no dimension, in the axis' unit. */
static int parse_value(const struct store_axis *axis, const char *text, double *value, struct err *e) {
  static const enum unit units[] = {UNIT_COUNT, UNIT_TIME, UNIT_RATE, UNIT_SIZE, UNIT_SHARE};
  char one[64];
  snprintf(one, sizeof one, "1%s", strcmp(axis->unit, "1") == 0 ? "" : axis->unit);
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
    struct err quiet = {0};
    int64_t factor, base;
    if (units_parse(units[i], one, &factor, &quiet) == 0) {
      int code = units_parse(units[i], text, &base, &quiet);
      if (!code) *value = (double)base / (double)factor;
      /* a number without dimension may have a fraction, which a count has not */
      else if (units[i] != UNIT_COUNT)
        err_add(e, ERR_INPUT, "%s=%s: %.*s", axis->name, text, (int)strcspn(quiet.text, "\n"), quiet.text);
      err_free(&quiet);
      if (!code) return 0;
      if (units[i] != UNIT_COUNT) return ERR_INPUT;
      break;
    }
    err_free(&quiet);
  }
  /* a dimension that units does not know (mA, dB): the number with exactly that suffix */
  char *end;
  *value = strtod(text, &end);
  if (end != text && strcmp(end, one + 1) == 0 && isfinite(*value)) return 0;
  return err_add(e, ERR_INPUT, "%s=%s: found '%s', expected a number%s%s", axis->name, text, text, one[1] ? " followed by " : "", one + 1);
}

int table_matches(struct store *store, const struct store_point *point, const struct table_where *wheres, int where_count, bool *matches, struct err *e) {
  const struct store_study *study = store_study(store);
  *matches = true;
  for (int i = 0; i < where_count; i++) {
    int axis = -1;
    double value = 0;
    int code = table_find_axis(study, wheres[i].key, &axis, e);
    if (!code && !study->axes[axis].is_text) code = parse_value(&study->axes[axis], wheres[i].value, &value, e);
    if (code) return code;
    const struct store_cell *cell = &point->cells[axis];
    bool equal = study->axes[axis].is_text ? strcmp(cell->text, wheres[i].value) == 0 : fabs(cell->number - value) <= 1e-9 * fabs(value);
    if (!equal) *matches = false;
  }
  return 0;
}
