/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sweep: the points of a study. Point i is a pure function of the scenario: the mixed-radix digits of i, the last axis
 * fastest, with skipped combinations left out (so i counts what is left).
 */
#ifndef PQNETSIM_SWEEP_H
#define PQNETSIM_SWEEP_H

#include "sim/run/scenario.h"

struct sweep; /* index of the points that are not skipped */

/* Refuses more than INT32_MAX combinations (the message names the count) and skips that leave no point. The scenario
 * must outlive the sweep, and the configs made from it. */
int sweep_new(const struct scenario *scenario, struct sweep **out, struct err *e) MUST_CHECK;
void sweep_free(struct sweep *sweep);
int64_t sweep_count(const struct sweep *sweep);

/* Value index per axis of point i. */
void sweep_digits(const struct sweep *sweep, int64_t i, int *digits);
/* The point's config, to be freed. ERR_INPUT when values that are allowed singly contradict each other. */
int sweep_config(const struct sweep *sweep, int64_t i, struct config **out, struct err *e) MUST_CHECK;

/* SHA-256 over code version, domain, backend, every resolved parameter but replications, and the cost hash, as 32 hex digits. */
void sweep_run_key(const struct roster *roster, const struct config *config, const char *backend, uint64_t cost_hash, char key[33]);

#endif
