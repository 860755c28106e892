/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/cmd.h"

#include <math.h>
#include <string.h>

static const struct {
  const char *sign;
  bool upper; /* the bound is the largest value allowed */
} ops[] = {[REQUIRE_LE] = {"<=", true}, [REQUIRE_LT] = {"<", true}, [REQUIRE_GE] = {">=", false}, [REQUIRE_GT] = {">", false}};

static bool holds(const struct requirement *requirement, double value, double bound) {
  switch (requirement->op) {
  case REQUIRE_LE:
    return value <= bound;
  case REQUIRE_LT:
    return value < bound;
  case REQUIRE_GE:
    return value >= bound;
  case REQUIRE_GT:
    return value > bound;
  }
  return false;
}

/* Statistics that are not in the metric's unit. */
static bool is_plain_number(const char *stat) { return !strcmp(stat, "n") || !strcmp(stat, "failed") || !strcmp(stat, "cv"); }

void require_check(const struct scenario *scenario, int r, const struct store_row *row, const char *label, bool always, FILE *to, struct require_tally *tally) {
  const struct requirement *requirement = &scenario->requirements[r];
  enum metric_unit unit = scenario->roster->metrics[requirement->metric].unit;
  bool plain = is_plain_number(requirement->stat);
  double bound = plain ? requirement->bound : requirement->bound * metric_unit_scale(unit), value = NAN;
  /* a statistic the row does not have stays NAN and fails */
  if (row && !stats_named(row, requirement->stat, &value)) value = NAN;
  bool pass = !isnan(value) && holds(requirement, value, bound);
  tally->checked++;
  tally->failed += !pass;
  if (pass && !always) return;
  bool named = !plain && strcmp(metric_unit_name(unit), "1") != 0;
  const char *unit_name = named ? metric_unit_name(unit) : "", *space = named ? " " : "", *gap = *label ? "  " : "";
  fprintf(to, "%s  %s  ", pass ? "pass" : "FAIL", requirement->text);
  if (isnan(value)) {
    fprintf(to, "(no value)%s%s\n", gap, label);
    return;
  }
  char number[32], margin[32];
  real_format(value, number);
  real_format(ops[requirement->op].upper ? bound - value : value - bound, margin);
  fprintf(to, "found %s%s%s, margin %s%s%s%s%s\n", number, space, unit_name, margin, space, unit_name, gap, label);
}
