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

extern const struct param_table secure_path_params; /* ipsec.data_plane */
bool secure_path_in_user_space(const struct config *config);

struct secure_path_config {
  enum esp_mode mode;
  bool udp_encapsulated;
  bool user_space; /* packets wait their turn among the daemon's work; else, as in a kernel, they interrupt it */
  /* Cost of one packet per side, NULL for none. */
  const struct cost_row *packet[2], *seal[2], *open[2];
};

/* The largest plain packet whose protected form fits mtu_bytes. */
int secure_path_mtu(const struct secure_path_config *config, int mtu_bytes);

struct secure_path;

/* Takes what comes in at both ports as PORT_DATA. */
struct secure_path *secure_path_new(
    struct sim *sim, struct port *const ports[2], struct cpu *const cpus[2], const struct secure_path_config *config, const struct draw_key *key);

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

/* Sends now (trail->at); nothing while the path is down. */
void secure_path_send(struct secure_path *path, const struct secure_packet *packet, const struct trail *trail);

/* A path that has lost its security association loses what is sent until it has a new one. It begins up. */
void secure_path_set(struct secure_path *path, bool up);

/* When a side last took a packet in. */
simtime secure_path_last_received(const struct secure_path *path, int side);

/* Packets that keep a processor busy or wait for one, and when a side last put one on the link. */
int64_t secure_path_in_work(const struct secure_path *path);
simtime secure_path_last_sent(const struct secure_path *path, int side);

#endif
