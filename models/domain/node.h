/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node: one gNB, from power-up to the end of the run.
 *
 * Purpose:   puts a node's parts together: link and ports, tunnel, E2 over it, probe packets; and records what they report.
 * Order:     tunnel (if there is one) -> association, E2 setup, xApps (if e2.setup) -> probe flows.
 * Ownership: everything lives in the run's arena; configurations are the caller's and outlive the run.
 * Left out:  the tunnel of a second SCTP path: it is taken to be up.
 */
#ifndef PQNETSIM_NODE_H
#define PQNETSIM_NODE_H

#include "models/domain/e2_metrics.h"
#include "models/domain/e2ap.h"
#include "models/domain/probe.h"
#include "models/domain/tunnel.h"

/* What all nodes of a group share. */
struct node_config {
  struct net_link_config links[SCTP_PATHS];
  const struct cost_row *path_latency[2]; /* per side, NULL: none */
  bool protect;                           /* there is a tunnel */
  struct tunnel_config tunnel;
  struct secure_path_config esp;
  struct e2ap_config e2ap;
  struct probe_config probe;
  bool hndl_exposed, auth_exposed;
};

/* What all nodes of a run share. */
struct node_world {
  struct sim *sim;
  struct net *net;
  int gateway_node; /* of net */
  struct gateway *gateway;
  struct ric *ric;
  simtime warmup, until; /* until 0: no duration, everything ends by itself */
  /* A node is set up, or its last try has failed / has nothing left to do that ends by itself. */
  void (*decided)(void *arg, int group, bool ok);
  void (*tunnel_decided)(void *arg);
  void *arg;
};

struct node;

/* number: from 0. address: as the gateway sees it. It starts at `start`. */
struct node *node_new(const struct node_world *world, const struct node_config *config, int number, int address, const struct e2_record *record,
    const struct draw_key *key, simtime start);

/* The run is over: what has begun and has not come about is counted as failed. */
void node_close(struct node *node);

#endif
