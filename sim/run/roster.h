/* SPDX-License-Identifier: GPL-2.0-or-later */
/* roster: a domain together with the groups that a scenario names in it.
 *
 * Purpose:   their parameters ("groups.rural.path.loss"), their metrics ("tunnel_setup@rural"), and the preparation of a point with
 *            each group's own configuration. Without groups it is the domain alone. Also linked into pqnetsim-ns3.
 * Order:     groups as given. metrics: the domain's, then the same for each group. The last table, when there are groups: per group
 *            its share, then every row of group_tables under "groups.NAME.", absent until set.
 * Ownership: roster_new/roster_free; tables and metrics live as long, and so must every config made from the tables.
 * Errors:    those of the domain's prepare.
 */
#ifndef PQNETSIM_ROSTER_H
#define PQNETSIM_ROSTER_H

#include "models/domain.h"

enum { ROSTER_GROUPS = 64, ROSTER_NAME = 32 };

struct roster {
  const struct domain *domain;
  int group_count;
  const char **groups;
  const struct param_table **tables; /* the domain's, and with groups one more */
  int table_count;
  struct metric_def *metrics;
  int metric_count;
};

/* Copies the names, which differ without regard to case; at most ROSTER_GROUPS, for a domain that has group_tables. */
struct roster *roster_new(const struct domain *domain, const char *const *groups, int group_count);
void roster_free(struct roster *roster);

/* Letters, digits, - and _; at most ROSTER_NAME. */
bool roster_is_name(const char *name, size_t length);
/* Index of the group whose name has these characters; -1: none. */
int roster_find(const struct roster *roster, const char *name, size_t length);

/* What a group has besides the domain's group_tables; its key is the last part of "groups.NAME.share". */
extern const struct param roster_share;

/* The domain's prepare, for a config that has the roster's tables. */
int roster_prepare(
    const struct roster *roster, const struct config *config, const char *base_dir, const struct net_ops *ops, void **state, struct err *e) MUST_CHECK;

#endif
