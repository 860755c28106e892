/* SPDX-License-Identifier: GPL-2.0-or-later */
/* secure_path: user packets between two nodes, through an ESP tunnel or plain.
 *
 * Purpose:   what protection costs a packet: both ends' processors, the bytes it gains, the fragments that come of them.
 * Units:     ns, bytes (whole plain IPv4 packets).
 * Order:     as the processors and the link below keep it.
 * Ownership: everything lives in the run's arena. A lost packet is never delivered.
 * Left out:  what a plain packet costs the nodes' stacks: it is not caused by IPsec.
 */
#ifndef PQNETSIM_SECURE_PATH_H
#define PQNETSIM_SECURE_PATH_H

#include "models/crypto/cost.h"
#include "models/transport/esp.h"
#include "models/transport/port.h"
#include "sim/core/cpu.h"

struct secure_path_config {
  enum esp_mode mode;
  bool udp_encapsulated;
  /* Cost of one packet per side, NULL for none. */
  const struct cost_row *packet[2], *seal[2], *open[2];
};

/* The largest plain packet whose protected form fits mtu_bytes. */
int secure_path_mtu(const struct secure_path_config *config, int mtu_bytes);

struct secure_path;

/* Takes over all raw packets of both ports, and with UDP encapsulation all UDP as well: start it when IKE is done. */
struct secure_path *secure_path_new(struct sim *sim, struct port *const ports[2], struct cpu *const cpus[2], const struct secure_path_config *config,
    const struct draw_key *key);

typedef void secure_path_deliver_fn(void *arg, const struct trail *trail);

struct secure_packet {
  int from; /* side */
  bool protect;
  int64_t bytes;
  uint32_t number; /* keys the draws, with attempt */
  uint16_t attempt;
  secure_path_deliver_fn *deliver;
  void *arg;
};

/* Sends now (trail->at). */
void secure_path_send(struct secure_path *path, const struct secure_packet *packet, const struct trail *trail);

/* Packets that keep a processor busy or wait for one, and when a side last put one on the link. */
int64_t secure_path_in_work(const struct secure_path *path);
simtime secure_path_last_sent(const struct secure_path *path, int side);

#endif
