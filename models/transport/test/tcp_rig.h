/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tcp_rig: a client and a server over one native link, for tests.
 *
 * Purpose:    the traffic of a TLS handshake without its cryptography: the client writes a hello; the server answers it with several
 *             writes at given times; the client answers those with two writes; the server answers these with one.
 *             What arrives is logged, and any packet may be lost.
 * Units:      ns, bytes of payload.
 * Invariants: the link carries 10 Gbit/s, so that what packets last on the wire (1.2 us for 1500 bytes) does not show in ms.
 */
#ifndef PQNETSIM_TCP_RIG_H
#define PQNETSIM_TCP_RIG_H

#include "models/transport/tcp_internal.h"

#define MS INT64_C(1000000)

enum { RIG_WRITES = 6, RIG_LOG = 512, RIG_LOST = 8 };

struct tcp_rig_packet {
  int64_t start;
  int bytes;
  bool syn, fin;
  simtime at;
};

struct tcp_rig {
  /* what is to happen */
  const char *profile;
  uint32_t replication; /* where timer ticks lie */
  simtime rtt;
  bool nagle;
  int initial_window; /* of the server; 0: the profile's */
  int segment_bytes;  /* 0: 1448 */
  int64_t hello, writes[RIG_WRITES], finished, request, response;
  simtime after[RIG_WRITES]; /* each write, after the one before it */
  enum net_side lost_from;
  int64_t lost[RIG_LOST]; /* numbers of packets, the first of the side is 1 */
  int lost_count;
  int64_t loss_ppb; /* of either direction */
  simtime jitter;
  int queue_packets; /* 0: 100,000 */
  int64_t rate_bps;  /* 0: 10 Gbit/s */

  /* what happened */
  simtime connected, flight_in, response_in; /* -1: never */
  struct trail flight_trail;
  enum stream_end end;
  bool failed;
  simtime failed_at;
  struct stream_counters counters[2];
  struct tcp_rig_packet log[2][RIG_LOG]; /* packets that arrived, by who sent them */
  int logged[2];

  /* inside */
  struct sim *sim;
  struct stream *stream;
  int64_t flight;
  struct trail server_trail;
  int written, client_stage, server_stage;
  bool stop;
};

void tcp_rig_run(struct tcp_rig *rig);

#endif
