/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pool: N worker processes fed with points.
 *
 * Purpose:   a sweep's points, or one point's replications, run in processes of their own; a crash costs one point.
 * Order:     jobs are taken in the order next() gives them; results arrive in any order, each is handed over once.
 *            Callers that need an order sort by point.
 * Ownership: the pool frees job->config; what pool_result points to lives until take() returns.
 * Errors:    a worker that dies or babbles fails the point it had (reason: its signal or status) and is replaced; after
 *            SIGINT or SIGTERM no new point starts, running ones finish (a second signal ends the program at once, and
 *            its workers with it). ERR_SYSTEM when workers cannot be started, ERR_INPUT when a backend is not built.
 */
#ifndef PQNETSIM_POOL_H
#define PQNETSIM_POOL_H

#include "sim/run/worker.h"

enum pool_status { POOL_DONE, POOL_INTERRUPTED, POOL_STOPPED };

struct pool_result {
  int64_t point;
  const struct metric_set *metrics; /* NULL when failed */
  const char *warnings;             /* lines, "" when none */
  const char *failure;              /* NULL when all well; may have several lines */
};

struct pool_source {
  /* Fills the next job; false when there is none. job->config is freed by the pool. */
  bool (*next)(void *arg, struct worker_job *job);
  /* Takes a result; non-zero stops the pool (the disk is full, say). */
  int (*take)(void *arg, const struct pool_result *result);
  /* Called about ten times a second; may be NULL. */
  void (*tick)(void *arg);
  void *arg;
};

/* NULL-ended: "native", "ns3". */
extern const char *const pool_backends[];

/* backend "native": forks this program; "ns3": starts pqnetsim-ns3 from program_dir. */
int pool_run(const char *backend, const char *program_dir, int workers, const struct pool_source *source, enum pool_status *status, struct err *e) MUST_CHECK;

/* Name and caps of a backend, for checks made in this process (no other member is set). Starts the backend's program
 * once, so it also tells whether that program is there and of the same version. */
int pool_probe(const char *backend, const char *program_dir, struct net_ops *ops, struct err *e) MUST_CHECK;

#endif
