/* SPDX-License-Identifier: GPL-2.0-or-later */
/* port: a node's end of a link, as protocols see it.
 *
 * Purpose:    hands datagrams that have come in to the protocol they are for, after the latency
 *             that the node's platform itself adds between wire and stack (a VM switch, a TUN forwarder): the platform
 *             operation software/path. That latency delays a datagram but keeps no processor busy.
 * Units:      ns, bytes as in net.h.
 * Order:      datagrams are handed over in the order their latency ends.
 * Ownership:  everything lives in the run's arena.
 * Left out:   port numbers; messages say whose they are.
 */
#ifndef PQNETSIM_PORT_H
#define PQNETSIM_PORT_H

#include "sim/core/random.h"
#include "sim/net/net.h"

struct port;

/* The platform's latency for one datagram, from a uniform draw. draw NULL: none. */
struct port_latency {
  int64_t (*draw)(const void *row, int64_t size_bytes, uint64_t uniform);
  const void *row;
  bool random; /* false: every draw is the same */
};

/* key: seed, replication and entity of the draws. */
struct port *port_new(struct sim *sim, struct net *net, int link, enum net_side side, struct port_latency latency, const struct draw_key *key);

enum port_protocol { PORT_IKE, PORT_DATA, PORT_TCP, PORT_PROTOCOLS };

/* What the port is on. */
struct net *port_net(const struct port *port);
int port_link(const struct port *port);

/* Who gets what comes in with this net_message.protocol. */
void port_on(struct port *port, enum port_protocol protocol, net_receive_fn *fn, void *arg);

/* message->from is filled in here. */
void port_send(struct port *port, const struct net_message *message, const struct trail *trail);

#endif
