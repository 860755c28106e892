/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run: all replications of one point on one backend, in this process. Also linked into pqnetsim-ns3.
 *
 * Errors: ERR_INPUT from the domain's prepare.
 */
#ifndef PQNETSIM_RUN_H
#define PQNETSIM_RUN_H

#include "sim/run/roster.h"

/* One sim and one backend, kept between points so that their memory is reused. */
struct runner;
struct runner *runner_new(const struct net_ops *ops);
void runner_free(struct runner *runner);

/* Runs replications [first, first + count) of the point into `metrics` (of roster->metrics). warn may be NULL. */
int runner_point(struct runner *runner, const struct roster *roster, const struct config *config, const char *base_dir, uint64_t seed, int first, int count,
    struct metric_set *metrics, void (*warn)(void *arg, const char *text), void *arg, struct err *e) MUST_CHECK;

#endif
