/* SPDX-License-Identifier: GPL-2.0-or-later */
/* net_rules: what happens to a packet on the wire, decided the same way by every backend.
 *
 * Purpose:    loss, middlebox, delay with jitter and time on the wire of one direction of a link. The native backend and
 *             the ns-3 shim both ask here, so that they lose the same packets and agree to the nanosecond.
 * Units:      as in net.h.
 * Order:      net_rules_lost is called once per packet, in the order packets enter the wire.
 * Invariants: Bernoulli loss and jitter depend on {message, part, fragment, attempt} alone. Gilbert-Elliott and the drop
 *             list depend on the packet's place in its direction, as their meaning demands.
 * Ownership:  a net_rules is plain data of its backend.
 * Errors:     none; the configuration was checked.
 * Sources:    Gilbert-Elliott as in tc-netem(8) gemodel: the packet is lost by the state it finds, then the state may
 *             change. Unlike netem, which starts good, the first state is drawn from the stationary distribution
 *             p / (p + r): a run is a cut out of a path in service, not its first packets ever.
 *             Reassembly gives up 30 s after the first fragment came in, as Linux (ip-sysctl, ipfrag_time) and ns-3 do.
 */
#ifndef PQNETSIM_NET_RULES_H
#define PQNETSIM_NET_RULES_H

#include "sim/net/net.h"

enum { NET_IP_HEADER = 20, NET_UDP_HEADER = 8 };

#define NET_REASSEMBLY_TIMEOUT (INT64_C(30) * 1000000000)

struct net_rules {
  const struct net_direction *direction; /* the link's configuration */
  uint64_t seed;
  uint32_t replication;
  uint32_t entity;
  int64_t packets; /* that have entered the wire */
  bool bad;        /* Gilbert-Elliott state */
};

/* Which packet of a datagram. */
struct net_packet {
  const struct net_message *message;
  int index;     /* IP fragment, from 0 */
  bool fragment; /* the datagram has more than one packet */
};

/* direction must outlive the rules. */
void net_rules_init(struct net_rules *rules, const struct net_direction *direction, uint64_t seed, uint32_t replication, uint32_t entity, enum net_side from);

/* at: when the packet enters the wire. */
bool net_rules_lost(struct net_rules *rules, const struct net_packet *packet, simtime at);

/* Time from a packet's last bit sent to its last bit received. */
simtime net_rules_delay(const struct net_rules *rules, const struct net_packet *packet);

/* Transmission time, rounded to the nearest nanosecond as ns-3's DataRate does. bytes < 2^31. */
simtime net_rules_wire_time(int64_t bytes, int64_t rate_bps);

/* IP payload of a message: its bytes and the UDP header it has. */
int64_t net_rules_payload(const struct net_message *message);

/* Payload bytes in every fragment but the last: what the MTU leaves, in units of 8 bytes. */
int net_rules_fragment_payload(int mtu_bytes);

#endif
