/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fleet: all nodes of a run behind one gateway and one RIC.
 *
 * Purpose:   builds them, runs them, and records what concerns all of them together: recovery, the gateway's counters.
 * Units:     ns.
 * Order:     draws are keyed by the node's number, so another node changes nobody's.
 * Ownership: the configuration is the caller's.
 */
#ifndef PQNETSIM_FLEET_H
#define PQNETSIM_FLEET_H

#include "models/domain/node.h"
#include "models/domain/population.h"

struct fleet_config {
  struct population_config population;
  struct gateway_config gateway;
  struct e2ap_config ric; /* what the RIC takes of it */
  simtime duration;       /* 0: until everything has ended that ends by itself */
  simtime warmup;
  int group_count;             /* 0: no groups; nodes has one entry then, else one per group */
  const unsigned char *groups; /* of each node; NULL without groups */
  const struct node_config *nodes;
};

void fleet_run(const struct fleet_config *config, const struct domain_run *run);

#endif
