/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/run/run.h"

#include <assert.h>
#include <stdlib.h>

struct runner {
  const struct net_ops *ops;
  struct sim *sim;
  struct net *net;
};

struct runner *runner_new(const struct net_ops *ops) {
  struct runner *runner = malloc(sizeof *runner);
  assert(runner);
  runner->ops = ops;
  runner->sim = sim_new();
  runner->net = ops->open(runner->sim);
  return runner;
}

void runner_free(struct runner *runner) {
  if (!runner) return;
  runner->ops->close(runner->net);
  sim_free(runner->sim);
  free(runner);
}

int runner_point(struct runner *runner, const struct roster *roster, const struct config *config, const char *base_dir, uint64_t seed, int first, int count,
    struct metric_set *metrics, void (*warn)(void *arg, const char *text), void *arg, struct err *e) {
  void *state = NULL;
  const struct domain *domain = roster->domain;
  int status = roster_prepare(roster, config, base_dir, runner->ops, &state, e);
  if (status) return status;
  struct domain_run run = {.sim = runner->sim, .net = runner->net, .seed = seed, .metrics = metrics};
  for (int i = 0; i < count; i++) {
    run.replication = (uint32_t)(first + i);
    sim_reset(runner->sim);
    runner->ops->reset(runner->net, seed, run.replication);
    domain->run(state, &run);
    metric_end_replication(metrics);
  }
  if (warn) domain->warnings(state, warn, arg);
  domain->discard(state);
  return 0;
}
