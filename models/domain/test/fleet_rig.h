/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fleet_rig: runs points of the E2 domain for tests, with or without groups, on any backend.
 *
 * Ownership: rig_open/rig_close; rig_run returns a set that the caller frees.
 * Errors:    whatever is refused fails the test.
 */
#ifndef PQNETSIM_FLEET_RIG_H
#define PQNETSIM_FLEET_RIG_H

#include "models/domain.h"

struct rig {
  struct sim *sim;
  struct net *net;
};

/* A group: its share as text (NULL: the rest) and pairs of key and value, ended by NULL. */
struct rig_group {
  const char *name, *share;
  const char *const *pairs;
};

void rig_open(struct rig *r, const struct net_ops *ops);
void rig_close(struct rig *r);

/* One on the native backend for a test program: its group's set-up and tear-down. */
extern struct rig rig;
int rig_group_open(void **state);
int rig_group_close(void **state);

/* pairs: key, value, ..., NULL. groups: ended by a name of NULL; NULL for none. */
struct metric_set *rig_run(struct rig *r, const char *const *pairs, const struct rig_group *groups, int replications);

/* Its place in the set. */
int rig_metric(const char *name);

/* Of all nodes (group -1) or of one group. */
struct metric_summary rig_summary(const struct metric_set *set, int group, const char *metric);
/* Values of a metric in ascending order; returns their number, at most max. */
int rig_values(const struct metric_set *set, const char *metric, int64_t *values, int max);

#endif
