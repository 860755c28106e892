/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/cmd.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Replications run in parts that last about this long, so that progress can be shown and a budget kept. */
#define PART_S 0.1

struct stepper {
  const struct study *study;
  int64_t point;
  struct execution *execution;
  struct metric_set *metrics;
  struct progress progress;
  double started, part_started;
  int part; /* replications of the part that runs or ran last */
  struct err *e;
};

static bool step(struct stepper *s) {
  struct execution *x = s->execution;
  double now = progress_clock();
  x->seconds = now - s->started;
  if (x->show_progress) progress_show(&s->progress, x->done);
  if (x->done == x->count || (x->budget_s > 0 && x->done > 0 && x->seconds >= x->budget_s)) return false;
  if (s->part == 0)
    s->part = 1;
  else if (now - s->part_started < PART_S / 2 && s->part <= x->count / 2)
    s->part *= 2;
  if (s->part > x->count - x->done) s->part = x->count - x->done;
  s->part_started = now;
  return true;
}

static int execute_here(struct stepper *s) {
  struct execution *x = s->execution;
  struct runner *runner = runner_new(&net_native);
  struct config *config = study_config(s->study, s->point);
  const struct scenario *scenario = s->study->scenario;
  int status = 0;
  while (!status && step(s)) {
    /* a remark belongs to the point, not to the part */
    status = runner_point(
        runner, scenario->roster, config, scenario->base_dir, s->study->seed, x->first + x->done, s->part, s->metrics, x->done ? NULL : x->warn, x->arg, s->e);
    x->done += s->part;
  }
  config_free(config);
  runner_free(runner);
  return status;
}

static bool next_part(void *arg, struct worker_job *job) {
  struct stepper *s = arg;
  if (!step(s)) return false;
  study_job(s->study, s->point, s->execution->first + s->execution->done, s->part, job);
  return true;
}

static void pass_warnings(const struct execution *x, const char *lines) {
  while (x->warn && *lines) {
    char *line = strndup(lines, strcspn(lines, "\n"));
    assert(line);
    lines += strlen(line) + (lines[strlen(line)] == '\n');
    x->warn(x->arg, line);
    free(line);
  }
}

static int take_part(void *arg, const struct pool_result *result) {
  struct stepper *s = arg;
  if (result->failure) return err_add(s->e, ERR_SYSTEM, "backend %s: %s", s->study->ops.name, result->failure);
  metric_merge(s->metrics, result->metrics);
  if (s->execution->done == 0) pass_warnings(s->execution, result->warnings);
  s->execution->done += s->part;
  return 0;
}

static int execute_in_worker(struct stepper *s) {
  struct pool_source source = {.next = next_part, .take = take_part, .arg = s};
  enum pool_status ended;
  int status = pool_run(s->study->ops.name, cmd_program_dir(), 1, &source, &ended, s->e);
  if (!status && ended == POOL_INTERRUPTED)
    status = err_add(s->e, ERR_SYSTEM, "interrupted after %d of %d replications", s->execution->done, s->execution->count);
  return status ? status : (int)s->e->code;
}

int execute_point(const struct study *study, int64_t point, struct execution *execution, struct metric_set *metrics, struct err *e) {
  struct stepper s = {.study = study, .point = point, .execution = execution, .metrics = metrics, .started = progress_clock(), .e = e};
  progress_begin(&s.progress, "replications", execution->count, 0);
  int status = strcmp(study->ops.name, net_native.name) ? execute_in_worker(&s) : execute_here(&s);
  progress_end(&s.progress);
  return status;
}
