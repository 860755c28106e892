/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/crypto/alg_own.h"
#include "output/schema.h"
#include "sim/cmd.h"
#include "sim/run/algorithms.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
  BAD_POINTS_LISTED = 20,
  WARNINGS_KEPT = 100, /* distinct ones */
};

static void *allocate(size_t count, size_t size) {
  void *memory = calloc(count ? count : 1, size);
  assert(memory);
  return memory;
}

/* Options that are short for --set KEY. */
static const struct { const char *option, *key; } set_options[] = {{"seed", "seed"}, {"reps", "replications"}};
enum { SET_OPTIONS = sizeof set_options / sizeof set_options[0] };

/* Their values, refused under the name the user wrote. */
static int check_set_options(const struct cmd_line *line, struct err *e) {
  const struct param_table *const tables[] = {&run_params};
  struct config *config = config_new(tables, 1);
  int status = 0;
  for (int i = 0; i < SET_OPTIONS; i++) {
    struct err inner = {0};
    const char *key = set_options[i].key;
    if (cmd_given(line, set_options[i].option) && config_set(config, key, cmd_text(line, set_options[i].option, ""), &inner))
      status = err_add(e, inner.code, "--%s%.*s", set_options[i].option, (int)(inner.length - strlen(key)) - 1, inner.text + strlen(key));
    err_free(&inner);
  }
  config_free(config);
  return status;
}

/* --set, then those options as if they were --set; *count of them. */
static char **collect_sets(const struct cmd_line *line, int *count) {
  const char *const *given = cmd_repeated(line, "set", count);
  char **sets = allocate((size_t)*count + SET_OPTIONS, sizeof *sets);
  for (int i = 0; i < *count; i++) sets[i] = strdup(given[i]);
  for (int i = 0; i < SET_OPTIONS; i++)
    if (cmd_given(line, set_options[i].option) && asprintf(&sets[(*count)++], "%s=%s", set_options[i].key, cmd_text(line, set_options[i].option, "")) < 0)
      abort();
  return sets;
}

static bool is_run_key(const char *key) {
  for (int i = 0; i < run_params.count; i++)
    if (!strcmp(run_params.rows[i].key, key)) return true;
  return false;
}

static void print_parameter(void *arg, const struct param *param, const char *text) {
  if (!is_run_key(param->key)) fprintf(arg, "%s\t%s\n", param->key, text);
}

static void choose_metrics(struct study *study) {
  const struct scenario *scenario = study->scenario;
  int all = scenario->roster->metric_count;
  bool *wanted = allocate((size_t)all, sizeof *wanted);
  for (int i = 0; i < scenario->metric_count; i++) wanted[scenario->metrics[i]] = true;
  for (int i = 0; i < scenario->requirement_count; i++) wanted[scenario->requirements[i].metric] = true;
  study->metric_index = allocate((size_t)all, sizeof *study->metric_index);
  study->metrics = allocate((size_t)all, sizeof *study->metrics);
  for (int m = 0; m < all; m++)
    if (wanted[m]) {
      study->metric_index[study->metric_count] = m;
      study->metrics[study->metric_count++] = scenario->roster->metrics[m];
    }
  free(wanted);
}

static int check_axis_names(const struct scenario *scenario, struct err *e) {
  int status = 0;
  for (int a = 0; a < scenario->axis_count; a++) {
    const struct axis *axis = &scenario->axes[a];
    const char *reserved = schema_reserved(axis->name);
    if (reserved)
      status = err_add(e, ERR_INPUT, "%s:%d:%d: %s: as the name of an axis: the study file has a column %s of its own; choose another", scenario->path,
          axis->at.line, axis->at.column, axis->name, reserved);
  }
  return status;
}

int study_open_file(const char *path, const char *const *sets, int set_count, const char *backend, bool want_axes, struct study **out, struct err *e) {
  struct study *study = allocate(1, sizeof *study);
  int status = scenario_load(path, sets, set_count, want_axes, &study->scenario, e);
  if (!status) status = check_axis_names(study->scenario, e);
  if (!status) status = pool_probe(backend, cmd_program_dir(), &study->ops, e);
  if (!status && want_axes) status = sweep_new(study->scenario, &study->sweep, e);
  if (status) goto out;
  study->point_count = study->sweep ? sweep_count(study->sweep) : 1;
  if (study->point_count == 0) {
    status = err_add(e, ERR_INPUT, "%s: skip leaves out every point of the sweep", study->scenario->path);
    goto out;
  }
  study->seed = (uint64_t)config_number(study->scenario->base, "seed");
  study->replications = (int)config_number(study->scenario->base, "replications");
  choose_metrics(study);
  size_t size;
  FILE *to = open_memstream(&study->parameters, &size);
  assert(to);
  config_each(study->scenario->base, print_parameter, to);
  for (int a = 0; a < alg_own_count(); a++)
    fprintf(to, ALGORITHMS_KEY ".%s\t%s\n", alg_own_at(a)->name, algorithms_text(study->scenario->arena, alg_own_at(a)));
  fclose(to);
  *out = study;
  study = NULL;
out:
  study_close(study);
  return status;
}

int study_open(const struct cmd_line *line, bool want_axes, struct study **out, struct err *e) {
  int count, status = check_set_options(line, e);
  if (status) return status;
  char **sets = collect_sets(line, &count);
  status = study_open_file(cmd_argument(line, 0), (const char *const *)sets, count, cmd_text(line, "backend", "native"), want_axes, out, e);
  for (int i = 0; i < count; i++) free(sets[i]);
  free(sets);
  return status;
}

void study_close(struct study *study) {
  if (!study) return;
  for (int i = 0; i < study->warning_count; i++) free(study->warnings[i]);
  free(study->warnings);
  free(study->keys);
  free(study->random);
  free(study->parameters);
  free(study->metric_index);
  free(study->metrics);
  sweep_free(study->sweep);
  scenario_free(study->scenario);
  free(study);
}

static int point_config(const struct study *study, int64_t point, struct config **config, struct err *e) {
  if (study->sweep) return sweep_config(study->sweep, point, config, e);
  *config = config_copy(study->scenario->base);
  return 0;
}

struct config *study_config(const struct study *study, int64_t point) {
  struct config *config = NULL;
  struct err e = {0};
  int status = point_config(study, point, &config, &e);
  assert(!status);
  return config;
}

void study_job(const struct study *study, int64_t point, int first, int count, struct worker_job *job) {
  *job = (struct worker_job){.point = point,
      .roster = study->scenario->roster,
      .config = study_config(study, point),
      .base_dir = study->scenario->base_dir,
      .seed = study->seed,
      .first = first,
      .count = count};
}

char *study_point_text(const struct study *study, int64_t point) {
  const struct scenario *scenario = study->scenario;
  if (!study->sweep || scenario->axis_count == 0) return strdup("base point");
  char *text = NULL;
  size_t size;
  FILE *to = open_memstream(&text, &size);
  int *digits = allocate((size_t)scenario->axis_count, sizeof *digits);
  assert(to);
  sweep_digits(study->sweep, point, digits);
  for (int a = 0; a < scenario->axis_count; a++) {
    const struct axis *axis = &scenario->axes[a];
    const struct axis_value *value = &axis->values[digits[a]];
    const char *comma = a ? ", " : "";
    if (!axis->param) fprintf(to, "%s%s=%s", comma, axis->name, value->label);
    for (int k = 0; axis->param && k < value->count; k++) fprintf(to, "%s%s=%s", k ? ", " : comma, value->keys[k], value->texts[k]);
  }
  fclose(to);
  free(digits);
  return text;
}

static void keep_warning(void *arg, const char *text) {
  struct study *study = arg;
  for (int i = 0; i < study->warning_count; i++)
    if (!strcmp(study->warnings[i], text)) return;
  if (study->warning_count == WARNINGS_KEPT) return;
  study->warnings = realloc(study->warnings, ((size_t)study->warning_count + 1) * sizeof *study->warnings);
  assert(study->warnings);
  study->warnings[study->warning_count] = strdup(text);
  assert(study->warnings[study->warning_count++]);
}

static int prepare_point(struct study *study, int64_t point, struct err *e) {
  const struct scenario *scenario = study->scenario;
  struct config *config = NULL;
  void *state = NULL;
  int status = point_config(study, point, &config, e);
  if (!status) status = roster_prepare(scenario->roster, config, scenario->base_dir, &study->ops, &state, e);
  if (!status) {
    uint64_t cost_hash = scenario->domain->cost_hash(state);
    if (study->keys) {
      study->random[point] = scenario->domain->is_random(state);
      sweep_run_key(scenario->roster, config, study->ops.name, cost_hash, study->keys[point]);
    }
    scenario->domain->warnings(state, keep_warning, study);
    scenario->domain->discard(state);
  }
  config_free(config);
  return status;
}

/* "FILE:LINE:COLUMN" of what gave the point the key, "--set KEY", or "FILE" for a default. *named: it ends in the key. */
static char *place_text(const struct study *study, const int *digits, const char *key, bool *named) {
  const struct scenario *scenario = study->scenario;
  struct place at;
  char *text;
  bool found = scenario_place(scenario, digits, key, &at);
  *named = found && at.set && !strcmp(at.set_key, key);
  int length = !found   ? asprintf(&text, "%s", scenario->path)
               : at.set ? asprintf(&text, "--set %s", at.set_key)
                        : asprintf(&text, "%s:%d:%d", scenario->path, at.line, at.column);
  if (length < 0) abort();
  return text;
}

/* One line per sentence of the point's error, which begins with a key. */
static void report_bad_point(const struct study *study, int64_t point, const struct err *problem, struct err *e) {
  char *text = study_point_text(study, point), *which = NULL;
  int *digits = study->sweep ? allocate((size_t)study->scenario->axis_count, sizeof *digits) : NULL;
  if (digits) sweep_digits(study->sweep, point, digits);
  bool only = !study->sweep || study->scenario->axis_count == 0;
  if ((only ? asprintf(&which, "%s", "") : asprintf(&which, "point %" PRId64 " (%s): ", point, text)) < 0) abort();
  for (const char *line = problem->text; line && *line;) {
    size_t length = strcspn(line, "\n"), key_length = strcspn(line, ":\n");
    char *key = strndup(line, key_length);
    assert(key);
    bool named;
    char *place = place_text(study, digits, key, &named);
    size_t skipped = named ? key_length + 2 : 0;
    err_add(e, problem->code, "%s: %s%.*s", place, which, (int)(length - skipped), line + skipped);
    free(place);
    free(key);
    line += length + (line[length] == '\n');
  }
  free(digits);
  free(which);
  free(text);
}

/* Of the base point, so that a study keeps it when points are added. It need not be able to run: the axes may set what
 * the file leaves impossible. */
static void hash_costs(struct study *study) {
  const struct scenario *scenario = study->scenario;
  void *state = NULL;
  struct err ignored = {0};
  if (!roster_prepare(scenario->roster, scenario->base, scenario->base_dir, &study->ops, &state, &ignored)) {
    study->cost_hash = scenario->domain->cost_hash(state);
    scenario->domain->discard(state);
  }
  err_free(&ignored);
}

int study_prepare(struct study *study, int64_t count, struct err *e) {
  hash_costs(study);
  if (count == study->point_count) {
    study->keys = allocate((size_t)count, sizeof *study->keys);
    study->random = allocate((size_t)count, 1);
  }
  int64_t bad = 0;
  struct progress progress;
  progress_begin(&progress, "points checked", count, 0);
  for (int64_t i = 0; i < count; i++) {
    /* count and point_count are below 2^31 */
    int64_t point = i * study->point_count / count;
    struct err problem = {0};
    if (prepare_point(study, point, &problem) && ++bad <= BAD_POINTS_LISTED) report_bad_point(study, point, &problem, e);
    err_free(&problem);
    progress_show(&progress, i + 1);
  }
  progress_end(&progress);
  if (bad > BAD_POINTS_LISTED) err_add(e, ERR_INPUT, "%s: %" PRId64 " more points have problems", study->scenario->path, bad - BAD_POINTS_LISTED);
  return bad ? (int)e->code : 0;
}

bool study_is_frozen(const struct study *study, int64_t point, const struct metric_set *metrics) {
  bool seen = false;
  for (int m = 0; study->random[point] && m < study->scenario->roster->metric_count; m++) {
    struct metric_summary summary;
    metric_summarise(metrics, m, &summary);
    /* A loss that shows only in what failed is a difference too. */
    if (summary.sd > 0 || summary.rep_mean_sd > 0 || (summary.failed > 0 && summary.n > 0)) return false;
    seen |= summary.replications >= 2;
  }
  return seen;
}
