/* SPDX-License-Identifier: GPL-2.0-or-later */
/* population: how many nodes there are, which group each belongs to, when each starts.
 *
 * Purpose:    e2.nodes and its start pattern; groups of given shares.
 * Units:      ns, parts per billion.
 * Invariants: after every node each group has less than one node more or less than its share of them; so groups are mixed evenly
 *             through the population, and the first n nodes of a larger population are those of a population of n.
 * Ownership:  population_groups returns malloc'd memory.
 * Errors:     population_configure: ERR_INPUT sentences that begin with the key.
 * Sources:    R. Tijdeman, "The chairman assignment problem", Discrete Mathematics 32 (1980), for the order of groups.
 */
#ifndef PQNETSIM_POPULATION_H
#define PQNETSIM_POPULATION_H

#include "models/domain.h"
#include "sim/core/random.h"

extern const struct param_table population_params; /* e2.nodes, e2.start* */

enum population_start {
  POPULATION_AT_ONCE,
  POPULATION_RAMP,    /* evenly over start_span */
  POPULATION_POISSON, /* each at a uniform moment of start_span: a Poisson process, given its count */
  POPULATION_OUTAGE,  /* the gateway comes back at `outage`; each has noticed its loss at a uniform moment of start_span, and tries since */
};

struct population_config {
  int nodes, nodes_per_address;
  enum population_start start;
  simtime start_span, outage;
};

int population_configure(const struct config *config, struct population_config *out, struct err *e) MUST_CHECK;

/* Shares as they are used: what no group has goes in equal parts to the groups without a share. *scaled: the shares added up to more
 * than 100 % and were reduced in proportion. ERR_INPUT when nodes would be left without a group. */
int population_shares(const struct domain_group *groups, int count, int64_t shares_ppb[], bool *scaled, struct err *e) MUST_CHECK;

/* The group of each node. */
unsigned char *population_groups(int nodes, const int64_t shares_ppb[], int group_count);

/* When a node begins. key: seed, replication, entity of the node. */
simtime population_start(const struct population_config *config, int node, const struct draw_key *key);

#endif
