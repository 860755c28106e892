/* SPDX-License-Identifier: GPL-2.0-or-later */
/* probe: a flow of equal packets through an ESP tunnel and, later, beside it; then a burst through it.
 *
 * Purpose:    steady-state latency of user traffic, and what protection adds to it, packet by packet; throughput.
 * Units:      ns, bytes (whole plain IPv4 packets).
 * Invariants: packet k of both flows uses the same draws, so independent loss and jitter cancel in the difference (bursts,
 *             which follow the packets of a link, do not). The plain flow starts once the protected one has drained.
 * Ownership:  everything lives in the run's arena.
 */
#ifndef PQNETSIM_PROBE_H
#define PQNETSIM_PROBE_H

#include "models/domain/secure_path.h"

extern const struct param_table probe_params; /* probe.* */

struct probe_config {
  int64_t packets, size_bytes;
  simtime interval;
  int64_t burst, burst_bytes;
  bool protected_flow; /* false: the plain flow alone */
  bool shared;         /* other traffic goes on beside the flows: they do not wait for silence */
  simtime drain;       /* by then everything the sender has put on the link has arrived or is lost */
};

void probe_configure(const struct config *config, struct probe_config *out);

struct probe_result {
  /* A packet of the flow under study (protected if there is a tunnel) was delivered: latency and its parts. */
  void (*delivered)(void *arg, const struct trail *from, const struct trail *to);
  /* Both packets k were delivered: protected minus plain. */
  void (*overhead)(void *arg, simtime difference);
  void *arg;
};

struct probe;

/* Starts now, from side 0; the flows end by themselves. NULL when there are no packets to send. */
const struct probe *probe_start(struct sim *sim, struct secure_path *path, const struct probe_config *config, const struct probe_result *result);

/* When the run is over: packets of the flow under study that were not delivered, and pairs of which one or both were not.
 * 0 for NULL. */
int64_t probe_lost(const struct probe *probe);
int64_t probe_unpaired(const struct probe *probe);

/* Plain bits per second of the burst, from its first packet's start to the last delivery; 0 when there is none. */
int64_t probe_throughput_bps(const struct probe *probe);

#endif
