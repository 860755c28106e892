/* SPDX-License-Identifier: GPL-2.0-or-later */
/* domain: what every scenario family (e2, sbi, ble, sdn, tls) offers to the runner.
 *
 * Purpose:   one const table per family, listed in models/domain/catalog.c. The runner knows nothing else of them.
 * Order:     prepare (once per point: everything that can fail) -> run (once per replication: nothing fails) -> discard.
 * Ownership: prepare allocates *state, discard frees it (NULL allowed).
 * Errors:    prepare returns ERR_INPUT sentences that begin with the key at fault; the caller adds file and point.
 */
#ifndef PQNETSIM_DOMAIN_H
#define PQNETSIM_DOMAIN_H

#include "sim/core/metric.h"
#include "sim/core/param.h"
#include "sim/net/net.h"

/* A part of a population with keys of its own (`groups:` of a scenario file). */
struct domain_group {
  const char *name;
  int64_t share_ppb;           /* of the population; below 0: the group takes what the others leave */
  const struct config *config; /* the point's, with the group's keys on top */
};

/* What prepare gets. */
struct domain_point {
  const struct config *config;
  const char *base_dir;      /* folder of the scenario file, for "./" names */
  const struct net_ops *ops; /* the backend the point will run on */
  int group_count;           /* 0: no groups */
  const struct domain_group *groups;
};

/* What a replication writes to. */
struct domain_run {
  struct sim *sim;
  struct net *net; /* reset, empty */
  uint64_t seed;
  uint32_t replication;
  struct metric_set *metrics; /* domain->metrics, then the same again for each group ("tunnel_setup@rural") */
};

struct domain {
  const char *name;  /* "e2": value of `scenario:` */
  const char *title; /* one line */
  const struct param_table *const *tables;
  int table_count;
  /* Those of them whose keys a group may have of its own; none: the domain has no groups. */
  const struct param_table *const *group_tables;
  int group_table_count;
  const struct metric_def *metrics;
  int metric_count;
  int (*prepare)(const struct domain_point *point, void **state, struct err *e) MUST_CHECK;
  void (*run)(const void *state, const struct domain_run *run);
  void (*discard)(void *state);
  /* 64-bit key of every cost file the point uses, for the run key. */
  uint64_t (*cost_hash)(const void *state);
  /* True when two replications can differ. */
  bool (*is_random)(const void *state);
  /* Remarks for the user about this point (a platform without software costs, ...): calls fn for each. */
  void (*warnings)(const void *state, void (*fn)(void *arg, const char *text), void *arg);
};

/* NULL when unknown. */
const struct domain *domain_find(const char *name);
const struct domain *const *domain_catalog(int *count);

#endif
