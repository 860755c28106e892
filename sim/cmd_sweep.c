/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sweep: every point of a scenario into a study file. */
#include "sim/cmd.h"

#include <assert.h>
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum {
  RUNS_UNASKED = 1000000, /* more need --yes */
  JOBS_MAX = 1024,
  FAILED_LISTED = 100,
  VERDICTS_LISTED = 200, /* with more verdicts only the failed ones are printed */
};

static int online_cpus(void) {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
}

/* One sweep on its way into the store. */
struct sweep_work {
  struct study *study;
  struct store *store;
  const char *path;
  int64_t next, stored, stored_before; /* points */
  int64_t failed, frozen, frozen_first;
  struct progress progress;
  struct err *e;
};

static bool next_point(void *arg, struct worker_job *job) {
  struct sweep_work *work = arg;
  for (; work->next < work->study->point_count; work->next++) {
    int done = (int)store_replications_done(work->store, work->next);
    if (done >= work->study->replications) continue;
    study_job(work->study, work->next, done, work->study->replications - done, job);
    work->next++;
    return true;
  }
  return false;
}

static int take_failure(struct sweep_work *work, const struct pool_result *result) {
  work->failed++;
  return store_add_failure(work->store, result->point, store_replications_done(work->store, result->point), result->failure, work->e);
}

static int take_point(void *arg, const struct pool_result *result) {
  struct sweep_work *work = arg;
  if (work->e->count) return (int)work->e->code;
  if (result->failure) return take_failure(work, result);
  if (study_is_frozen(work->study, result->point, result->metrics)) {
    if (work->frozen++ == 0 || result->point < work->frozen_first) work->frozen_first = result->point;
  }
  work->stored++;
  int64_t count = work->study->replications - store_replications_done(work->store, result->point);
  return store_add(work->store, result->point, count, result->metrics, work->study->metric_index, work->e);
}

static void tick(void *arg) {
  struct sweep_work *work = arg;
  progress_show(&work->progress, work->stored + work->failed);
  /* a problem found here stops the sweep at the next result, or behind the last one */
  if (!work->e->count) (void)!store_flush(work->store, work->e);
}

static void count_stored(struct sweep_work *work) {
  for (int64_t i = 0; i < work->study->point_count; i++)
    if (store_replications_done(work->store, i) >= work->study->replications) work->stored++;
  work->stored_before = work->stored;
}

static void print_warnings(const struct sweep_work *work) {
  const struct study *study = work->study;
  for (int i = 0; i < study->warning_count; i++) fprintf(stderr, "pqnetsim: warning: %s\n", study->warnings[i]);
  if (!work->frozen) return;
  char *text = study_point_text(study, work->frozen_first);
  fprintf(stderr, "pqnetsim: warning: point %" PRId64 " (%s)", work->frozen_first, text);
  if (work->frozen > 1) fprintf(stderr, " and %" PRId64 " more", work->frozen - 1);
  fprintf(stderr, ": %s\n", STUDY_FROZEN);
  free(text);
}

/* Index of a metric of the domain among those stored. */
static int stored_index(const struct study *study, int metric) {
  int i = 0;
  while (study->metric_index[i] != metric) i++;
  return i;
}

/* The row of a metric at a point; n 0 when it ran and nothing completed, which is not stored. False when it did not run. */
static bool read_row(const struct sweep_work *work, int64_t point, int metric, struct store_row *row, struct err *e) {
  const struct study *study = work->study;
  bool found = false;
  if (store_read_metric(work->store, point, stored_index(study, metric), row, &found, e)) return false;
  if (found || store_replications_done(work->store, point) == 0) return found;
  const struct roster *roster = study->scenario->roster;
  struct metric_set *nothing = metric_set_new(roster->metrics, roster->metric_count);
  stats_row(nothing, metric, roster->metrics[metric].unit, row);
  metric_set_free(nothing);
  return true;
}

/* False when a requirement does not hold somewhere. */
static bool check_requirements(const struct sweep_work *work, struct err *e) {
  const struct study *study = work->study;
  const struct scenario *scenario = study->scenario;
  struct require_tally tally = {0};
  int64_t total = study->point_count * scenario->requirement_count;
  for (int r = 0; r < scenario->requirement_count; r++)
    for (int64_t i = 0; i < study->point_count; i++) {
      struct store_row row;
      bool found = read_row(work, i, scenario->requirements[r].metric, &row, e);
      if (e->count) return false;
      char *text = study_point_text(study, i), *label;
      if (asprintf(&label, "at point %" PRId64 " (%s)", i, text) < 0) abort();
      require_check(scenario, r, found ? &row : NULL, label, total <= VERDICTS_LISTED, stdout, &tally);
      free(text);
      free(label);
    }
  if (total) printf("require: %" PRId64 " of %" PRId64 " hold\n", tally.checked - tally.failed, tally.checked);
  return tally.failed == 0;
}

static void say_where(const struct sweep_work *work) {
  const struct study *study = work->study;
  fprintf(stderr, "%s: %" PRId64 " point%s with n=%d", work->path, work->stored, work->stored == 1 ? "" : "s", study->replications);
  if (work->stored_before) fprintf(stderr, " (%" PRId64 " were there)", work->stored_before);
  fprintf(stderr, "; next: pqnetsim show %s, or pqnetsim plot %s -o figure.svg --y %s\n", work->path, work->path, study->metrics[0].name);
}

struct failure_list {
  const struct sweep_work *work;
  int64_t seen;
};

static void list_failure(void *arg, int64_t point, int64_t replication, const char *reason) {
  struct failure_list *list = arg;
  (void)replication;
  if (list->seen++ >= FAILED_LISTED) return;
  char *text = study_point_text(list->work->study, point);
  err_add(list->work->e, ERR_SYSTEM, "point %" PRId64 " (%s) failed: %s", point, text, reason);
  free(text);
}

/* From the store, so that they come in order of points. */
static void list_failures(struct sweep_work *work) {
  struct failure_list list = {.work = work};
  struct err problem = {0};
  if (store_each_failure(work->store, list_failure, &list, &problem)) err_add(work->e, problem.code, "%.*s", (int)problem.length - 1, problem.text);
  err_free(&problem);
  if (list.seen > FAILED_LISTED)
    err_add(work->e, ERR_SYSTEM, "%" PRId64 " more points failed; table failure of %s has them all", list.seen - FAILED_LISTED, work->path);
}

/* What remains to be said when not every point is stored. */
static void report_rest(struct sweep_work *work, const struct cmd_line *line, enum pool_status ended) {
  char *again = cmd_again(line);
  if (ended == POOL_STOPPED) {
    err_add(work->e, ERR_SYSTEM, "stopped; to resume: %s", again);
  } else {
    if (work->failed) list_failures(work);
    if (ended == POOL_INTERRUPTED)
      err_add(work->e, ERR_SYSTEM, "interrupted: %" PRId64 " of %" PRId64 " points are stored in %s; to resume: %s", work->stored, work->study->point_count,
          work->path, again);
    else if (work->failed)
      err_add(work->e, ERR_SYSTEM, "%" PRId64 " of %" PRId64 " points failed; to run them again: %s", work->failed, work->study->point_count, again);
  }
  free(again);
}

static void run_points(struct sweep_work *work, int jobs, enum pool_status *ended) {
  struct pool_source source = {.next = next_point, .take = take_point, .tick = tick, .arg = work};
  count_stored(work);
  int64_t missing = work->study->point_count - work->stored;
  int status = 0;
  progress_begin(&work->progress, "points", work->study->point_count, work->stored);
  if (missing) status = pool_run(work->study->ops.name, cmd_program_dir(), (int)(missing < jobs ? missing : jobs), &source, ended, work->e);
  progress_end(&work->progress);
  /* after an error of the store there is nothing more to commit */
  if (!status && !work->e->count) status = store_flush(work->store, work->e);
  if (status || work->e->count) *ended = POOL_STOPPED;
}

/* False when a requirement does not hold. */
static bool sweep_into(const struct cmd_line *line, struct study *study, const char *path, int jobs, struct err *e) {
  struct columns columns;
  struct study_points points;
  struct study_texts texts;
  struct store_study description;
  struct sweep_work work = {.study = study, .path = path, .e = e};
  enum pool_status ended = POOL_DONE;
  bool hold = true;
  columns_make(&columns, study->scenario);
  study_points_make(&points, study, &columns);
  study_describe(study, &columns, &texts, &description);
  if (!store_open_write(path, &description, study->point_count, study_point, &points, &work.store, e)) {
    run_points(&work, jobs, &ended);
    print_warnings(&work);
    if (ended == POOL_DONE) hold = check_requirements(&work, e);
    report_rest(&work, line, ended);
    store_close(work.store);
    if (!e->count) say_where(&work);
  }
  study_points_free(&points);
  columns_free(&columns);
  return hold;
}

static int check_size(const struct study *study, bool yes, struct err *e) {
  int64_t runs = study->point_count * study->replications;
  if (yes || runs <= RUNS_UNASKED) return 0;
  return err_add(e, ERR_INPUT, "%s: %" PRId64 " point(s) with n=%d are %" PRId64 " runs; more than %d need --yes (--dry-run estimates time and size)",
      study->scenario->path, study->point_count, study->replications, runs, RUNS_UNASKED);
}

static int dry_run(struct study *study, int jobs, struct err *e) {
  struct columns columns;
  columns_make(&columns, study->scenario);
  int status = estimate_print(study, &columns, jobs, e);
  columns_free(&columns);
  return status;
}

static int run(const struct cmd_line *line, struct err *e) {
  struct study *study = NULL;
  bool dry = cmd_given(line, "dry-run"), hold = true;
  const char *path = cmd_text(line, "output", NULL);
  int jobs = (int)cmd_whole(line, "jobs", online_cpus());
  if (!path && !dry) {
    err_add(e, ERR_INPUT, "sweep: -o STUDY.db is missing: where the results go");
    return 0;
  }
  if (study_open(line, true, &study, e)) return 0;
  if (!check_size(study, dry || cmd_given(line, "yes"), e) && !study_prepare(study, study->point_count, e)) {
    if (dry)
      (void)!dry_run(study, jobs, e); /* main prints what is in e */
    else
      hold = sweep_into(line, study, path, jobs, e);
  }
  study_close(study);
  return hold ? 0 : 1;
}

static const struct cmd_option option_jobs = {"jobs", 'j', CMD_WHOLE, "N", "Worker processes (default: one per processor)", NULL, 1, JOBS_MAX};
static const struct cmd_option option_dry = {"dry-run", 'n', CMD_FLAG, NULL, "Print the points and an estimate of time and size; store nothing", NULL, 0, 0};
static const struct cmd_option option_yes = {"yes", 'y', CMD_FLAG, NULL, "Run more than 1,000,000 replications without being asked", NULL, 0, 0};
static const struct cmd_option *const options[] = {
    &cmd_option_output, &cmd_option_set, &cmd_option_seed, &cmd_option_reps, &cmd_option_backend, &option_jobs, &option_dry, &option_yes, NULL};

const struct cmd cmd_sweep = {"sweep", "FILE.yaml", 1, 1, "Run every point into one SQLite study; again: resume or extend it.",
    "  pqnetsim sweep scenarios/e2-rtt.yaml -o rtt.db\n"
    "  pqnetsim sweep scenarios/e2-rtt.yaml -o rtt.db --jobs 8 --reps 4000\n"
    "  pqnetsim sweep scenarios/e2-rtt.yaml --dry-run\n"
    "\n"
    "Exit status: 0 all well, 1 interrupted, a point failed or a require does not\n"
    "hold, 2 usage or input.",
    options, run};
