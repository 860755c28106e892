/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The `metrics:` and `require:` parts: what is kept of a point, and what it must keep to. */
#include "sim/run/load.h"
#include "sim/run/names.h"
#include <stdlib.h>
#include <string.h>

/* The statistics of a metric that a study keeps (output/stats.h); in the metric's unit unless they are plain numbers. */
enum { STAT_COUNT = 15, PLAIN_STATS = 3 };
static const char *const stats[STAT_COUNT] = {"n", "failed", "cv", "mean", "sd", "iqr", "ci95", "min", "p5", "p25", "p50", "p75", "p95", "p99", "max"};

static const char **metric_names(struct load *load) {
  const struct roster *roster = load->scenario->roster;
  const char **names = arena_array(load->arena, (size_t)roster->metric_count, sizeof *names);
  for (int m = 0; m < roster->metric_count; m++) names[m] = roster->metrics[m].name;
  return names;
}

/* Index of a metric, -1 after a problem. */
static int metric_index(struct load *load, struct place at, const char *section, const char *name) {
  const struct roster *roster = load->scenario->roster;
  for (int m = 0; m < roster->metric_count; m++)
    if (!strcmp(roster->metrics[m].name, name)) return m;
  if (problem_list_is_full(load->problems)) return -1;
  const char **names = metric_names(load), *nearest = names_nearest(name, names, roster->metric_count), *of_groups = "";
  for (int g = 0; g < roster->group_count; g++) of_groups = arena_format(load->arena, "%s%s@%s", of_groups, g ? ", " : "; each also with ", roster->groups[g]);
  problem_add(load->problems, at, section, "unknown metric %s%s%s; %s has %s%s", names_shown(load->arena, name), nearest ? ", did you mean " : "",
      nearest ? nearest : "", roster->domain->name, names_join(load->arena, names, roster->domain->metric_count), of_groups);
  return -1;
}

/* True for a list with something in it. */
static bool is_filled_list(struct load *load, const struct yaml_node *node, const char *section, const char *example) {
  if (node->shape == YAML_LIST && node->count) return true;
  problem_add(
      load->problems, node->at, section, "found %s, allowed a list such as %s", node->shape == YAML_LIST ? "an empty list" : load_shown(load, node), example);
  return false;
}

void metrics_read(struct load *load, const struct yaml_node *node) {
  struct scenario *scenario = load->scenario;
  int count = scenario->roster->metric_count, each = scenario->domain->metric_count;
  struct place *given = arena_array(load->arena, (size_t)count, sizeof *given);
  const char *example = arena_format(load->arena, "[%s]", scenario->domain->metrics[0].name);
  if (!is_filled_list(load, node, "metrics", example)) return;
  for (const struct yaml_node *child = node->child; child; child = child->next) {
    if (child->shape != YAML_TEXT) {
      problem_add(load->problems, child->at, "metrics", "found %s, allowed the name of a metric", load_shown(load, child));
      continue;
    }
    int m = metric_index(load, child->at, "metrics", child->text);
    if (m >= 0 && given[m].line)
      problem_add(load->problems, child->at, "metrics", "%s is listed twice", child->text);
    else if (m >= 0)
      given[m] = child->at;
  }
  scenario->metrics = arena_array(load->arena, (size_t)count, sizeof *scenario->metrics);
  for (int m = 0; m < count; m++)
    if (given[m].line || given[m % each].line) scenario->metrics[scenario->metric_count++] = m; /* a total brings its groups */
}

static bool read_operator(const char *text, int *length, int *op) {
  static const struct {
    const char *text;
    int op;
  } operators[] = {{"<=", REQUIRE_LE}, {">=", REQUIRE_GE}, {"<", REQUIRE_LT}, {">", REQUIRE_GT}};
  for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
    if (!strncmp(text, operators[i].text, strlen(operators[i].text))) {
      *length = (int)strlen(operators[i].text);
      *op = operators[i].op;
      return text[*length] != '=';
    }
  return false;
}

/* A plain decimal number; the whole text. */
static bool read_real(const char *text, double *value) {
  char *end;
  if (!text[0] || text[strspn(text, "0123456789.eE+-")]) /* strtod also reads hex, inf and nan */
    return false;
  *value = strtod(text, &end);
  return !*end && *value < 1e300 && *value > -1e300;
}

/* The bound in the metric's base unit. */
static bool read_bound(enum metric_unit unit, const char *text, double *bound, struct err *e) {
  static const enum unit units[] = {
      [METRIC_TIME] = UNIT_TIME, [METRIC_SIGNED_TIME] = UNIT_TIME, [METRIC_BYTES] = UNIT_SIZE, [METRIC_SHARE] = UNIT_SHARE, [METRIC_RATE] = UNIT_RATE};
  int64_t value = 0;
  double real;
  if (unit == METRIC_COUNT) {
    if (!read_real(text, bound)) return err_add(e, ERR_INPUT, "found '%s', allowed a number without a unit", text), false;
    return true;
  }
  if (unit == METRIC_SHARE && read_real(text, &real)) {
    if (real < 0 || real > 1) return err_add(e, ERR_INPUT, "found '%s', allowed a share such as 0.1%%, or a number from 0 to 1", text), false;
    *bound = (double)(int64_t)(real * (double)SHARE_ONE + 0.5); /* samples are whole parts per billion */
    return true;
  }
  if (units_parse(units[unit], text, &value, e)) return false;
  *bound = (double)value;
  return true;
}

/* Cuts blanks from both ends, in place. */
static char *trimmed(char *text) {
  text += strspn(text, " \t");
  for (size_t length = strlen(text); length && strchr(" \t", text[length - 1]);) text[--length] = '\0';
  return text;
}

/* Index of a statistic, -1 after a problem. */
static int stat_index(struct load *load, struct place at, const char *name) {
  for (int i = 0; i < STAT_COUNT; i++)
    if (!strcmp(stats[i], name)) return i;
  problem_add(load->problems, at, "require", "unknown statistic %s, allowed %s", names_shown(load->arena, name), names_join(load->arena, stats, STAT_COUNT));
  return -1;
}

static bool read_requirement(struct load *load, const struct yaml_node *node, struct requirement *out) {
  const char *shown = load_shown(load, node);
  int length = 0, op = 0;
  char *text = node->shape == YAML_TEXT ? arena_text(load->arena, node->text, strlen(node->text)) : NULL;
  char *operator= text ? text + strcspn(text, "<>=") : NULL;
  if (!operator|| !read_operator(operator, & length, &op) || strlen(text) > 256) {
    problem_add(load->problems, node->at, "require", "found %s, allowed 'METRIC[.STAT] OP VALUE' with OP one of <= < >= >, such as '%s.p95 <= 1s'", shown,
        load->scenario->domain->metrics[0].name);
    return false;
  }
  char *value = trimmed(operator+ length);
  *operator= '\0';
  char *name = trimmed(text), *dot = strrchr(name, '.');
  if (dot) *dot = '\0';
  out->text = node->text;
  out->op = op;
  out->metric = metric_index(load, node->at, "require", name);
  if (out->metric < 0) return false;
  bool share = load->scenario->roster->metrics[out->metric].unit == METRIC_SHARE;
  int stat = stat_index(load, node->at, dot ? dot + 1 : share ? "mean" : "p50");
  if (stat < 0) return false;
  out->stat = stats[stat];
  struct err e = {0};
  bool well = read_bound(stat < PLAIN_STATS ? METRIC_COUNT : load->scenario->roster->metrics[out->metric].unit, value, &out->bound, &e);
  if (!well) problem_add(load->problems, node->at, "require", "%s: %.*s", shown, (int)e.length - 1, e.text);
  err_free(&e);
  return well;
}

void require_read(struct load *load, const struct yaml_node *node) {
  struct scenario *scenario = load->scenario;
  const char *example = arena_format(load->arena, "['%s.p95 <= 1s']", scenario->domain->metrics[0].name);
  if (!is_filled_list(load, node, "require", example)) return;
  scenario->requirements = arena_array(load->arena, (size_t)node->count, sizeof *scenario->requirements);
  for (const struct yaml_node *child = node->child; child; child = child->next) {
    struct requirement requirement = {0};
    if (read_requirement(load, child, &requirement)) scenario->requirements[scenario->requirement_count++] = requirement;
  }
}
