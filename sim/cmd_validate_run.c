/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/cmd_validate.h"

#include <assert.h>
#include <libgen.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A condition: a scenario with settings. */
struct conditions {
  char *text; /* file and settings: equal texts are equal conditions */
  struct study *study;
  struct store_row *rows; /* by metric of the study's roster; NULL before it is run */
};

struct validate_runs {
  int count;
  struct conditions **items;
};

struct validate_runs *validate_runs_new(void) {
  struct validate_runs *runs = calloc(1, sizeof *runs);
  assert(runs);
  return runs;
}

static void conditions_free(struct conditions *conditions) {
  free(conditions->text);
  free(conditions->rows);
  study_close(conditions->study);
  free(conditions);
}

void validate_runs_free(struct validate_runs *runs) {
  if (!runs) return;
  for (int i = 0; i < runs->count; i++) conditions_free(runs->items[i]);
  free(runs->items);
  free(runs);
}

/* The scenario's file; malloc'd. */
static char *scenario_path(const char *path, const char *name) {
  char *copy = strdup(path), *out;
  assert(copy);
  int length = strncmp(name, "./", 2) ? asprintf(&out, "%s/%s.yaml", cmd_scenario_dir(), name) : asprintf(&out, "%s/%s", dirname(copy), name + 2);
  if (length < 0) abort();
  free(copy);
  return out;
}

static char *conditions_text(const char *file, const struct validate_settings *settings) {
  char *text = NULL;
  size_t size;
  FILE *to = open_memstream(&text, &size);
  assert(to);
  fputs(file, to);
  for (int i = 0; i < settings->count; i++) fprintf(to, "\n%s=%s", settings->items[i].key, settings->items[i].value);
  fclose(to);
  return text;
}

static struct conditions *find(const struct validate_runs *runs, const char *text) {
  for (int i = 0; i < runs->count; i++)
    if (!strcmp(runs->items[i]->text, text)) return runs->items[i];
  return NULL;
}

static int open_study(const char *file, const struct validate_settings *settings, struct study **out, struct err *e) {
  char **sets = calloc((size_t)settings->count + 1, sizeof *sets);
  assert(sets);
  for (int i = 0; i < settings->count; i++)
    if (asprintf(&sets[i], "%s=%s", settings->items[i].key, settings->items[i].value) < 0) abort();
  int status = study_open_file(file, (const char *const *)sets, settings->count, "native", false, out, e);
  if (!status) status = study_prepare(*out, 1, e);
  for (int i = 0; i < settings->count; i++) free(sets[i]);
  free(sets);
  return status;
}

/* Each sentence of `problem`, behind the place of the row. */
static int pass_on(const struct err *problem, const char *path, int line, const char *column, struct err *e) {
  for (const char *at = problem->text; at && *at;) {
    size_t length = strcspn(at, "\n");
    err_add(e, problem->code, "%s:%d: column %s: %.*s", path, line, column, (int)length, at);
    at += length + (at[length] == '\n');
  }
  return (int)problem->code;
}

static int add_conditions(struct validate_runs *runs, const char *path, const struct validate_row *row, const struct validate_settings *settings,
    const char *column, struct conditions **out, struct err *e) {
  struct err problem = {0};
  struct study *study = NULL;
  int status = 0;
  char *file = scenario_path(path, row->scenario), *text = conditions_text(file, settings);
  *out = find(runs, text);
  if (*out) goto done;
  if (access(file, R_OK)) {
    status = err_add(e, ERR_INPUT, "%s:%d: column scenario: found '%s', allowed: a name that pqnetsim list scenarios prints, or ./file.yaml beside this file",
        path, row->line, row->scenario);
    goto done;
  }
  if (open_study(file, settings, &study, &problem)) {
    status = pass_on(&problem, path, row->line, column, e);
    study_close(study);
    goto done;
  }
  runs->items = realloc(runs->items, ((size_t)runs->count + 1) * sizeof(struct conditions *));
  assert(runs->items);
  *out = runs->items[runs->count++] = malloc(sizeof **out);
  assert(*out);
  **out = (struct conditions){.text = text, .study = study};
  text = NULL;
done:
  err_free(&problem);
  free(file);
  free(text);
  return status;
}

/* Index of the row's metric; ERR_INPUT when metric, unit or statistic do not exist. */
static int find_metric(const struct study *study, const char *path, const struct validate_row *row, int *index, struct err *e) {
  const struct roster *roster = study->scenario->roster;
  const char **names = calloc((size_t)roster->metric_count, sizeof *names);
  assert(names);
  int at = -1;
  for (int m = 0; m < roster->metric_count; m++) {
    names[m] = roster->metrics[m].name;
    if (!strcmp(names[m], row->metric)) at = m;
  }
  int status = 0;
  struct store_row none = {0};
  double value;
  if (at < 0) {
    status = err_add(e, ERR_INPUT, "%s:%d: column metric: found '%s', allowed: the metrics that pqnetsim params %s prints%s", path, row->line, row->metric,
        study->scenario->domain->name, cmd_suggestion(row->metric, names, roster->metric_count));
  } else if (!stats_named(&none, row->stat, &value)) {
    status = err_add(e, ERR_INPUT, "%s:%d: column stat: found '%s', allowed: %s", path, row->line, row->stat, STATS_NAMES);
  } else {
    enum metric_unit unit = roster->metrics[at].unit;
    bool share = unit == METRIC_SHARE && !strcmp(row->unit, "%");
    if (!share && strcmp(row->unit, metric_unit_name(unit)))
      status = err_add(e, ERR_INPUT, "%s:%d: column unit: found '%s', allowed for %s: %s%s", path, row->line, row->unit, row->metric, metric_unit_name(unit),
          unit == METRIC_SHARE ? ", %" : "");
  }
  free(names);
  *index = at;
  return status;
}

int validate_runs_add(struct validate_runs *runs, const char *path, const struct validate_row *row, struct err *e) {
  struct conditions *conditions, *less;
  int index, status = add_conditions(runs, path, row, &row->settings, "settings", &conditions, e);
  if (!status) status = find_metric(conditions->study, path, row, &index, e);
  if (row->has_minus) {
    int failed = add_conditions(runs, path, row, &row->minus, "minus", &less, e);
    status = status ? status : failed;
  }
  return status;
}

static int execute(struct conditions *conditions, struct err *e) {
  const struct study *study = conditions->study;
  const struct roster *roster = study->scenario->roster;
  struct metric_set *metrics = metric_set_new(roster->metrics, roster->metric_count);
  struct execution execution = {.count = study->replications};
  int status = execute_point(study, 0, &execution, metrics, e);
  if (!status) {
    conditions->rows = calloc((size_t)roster->metric_count, sizeof *conditions->rows);
    assert(conditions->rows);
    for (int m = 0; m < roster->metric_count; m++) stats_row(metrics, m, roster->metrics[m].unit, &conditions->rows[m]);
  }
  metric_set_free(metrics);
  return status;
}

int validate_runs_execute(struct validate_runs *runs, struct err *e) {
  int status = 0;
  struct progress progress;
  progress_begin(&progress, "conditions", runs->count, 0);
  for (int i = 0; i < runs->count && !status; i++) {
    if (!runs->items[i]->rows) status = execute(runs->items[i], e);
    progress_show(&progress, i + 1);
  }
  progress_end(&progress);
  return status;
}

static int value_under(
    struct validate_runs *runs, const char *path, const struct validate_row *row, const struct validate_settings *settings, double *value, struct err *e) {
  char *file = scenario_path(path, row->scenario), *text = conditions_text(file, settings);
  const struct conditions *conditions = find(runs, text);
  free(file);
  free(text);
  assert(conditions && conditions->rows);
  int index, status = find_metric(conditions->study, path, row, &index, e);
  if (status) return status;
  stats_named(&conditions->rows[index], row->stat, value);
  if (isnan(*value) || (conditions->rows[index].n == 0 && strcmp(row->stat, "failed")))
    return err_add(
        e, ERR_INPUT, "%s:%d: column metric: %s has no value under these settings: nothing that it measures came to its end", path, row->line, row->metric);
  if (!strcmp(row->unit, "%")) *value *= 100;
  return 0;
}

int validate_runs_value(struct validate_runs *runs, const char *path, const struct validate_row *row, double *value, struct err *e) {
  double less = 0;
  int status = value_under(runs, path, row, &row->settings, value, e);
  if (!status && row->has_minus) status = value_under(runs, path, row, &row->minus, &less, e);
  if (!status) *value = stats_round(*value - less);
  return status;
}
