/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sctp_rig: two SCTP ends over native links, for tests.
 *
 * Purpose:    one association between the nodes of one link (two links when it has two paths), of everything that happens a
 *             log: packets, deliveries, endings. Traffic: streams of equal messages, and ping-pong.
 * Units:      ns, bytes.
 * Invariants: links carry 1 Tbit/s, so that what packets last on the wire (12 ns for 1500 bytes) does not show in ms.
 * Ownership:  rig_open/rig_close; a rig may be opened again after rig_close.
 */
#ifndef PQNETSIM_SCTP_RIG_H
#define PQNETSIM_SCTP_RIG_H

#include "models/transport/sctp.h"
#include "sim/net/net.h"

#define MS INT64_C(1000000)
#define S INT64_C(1000000000)

enum { RIG_PACKETS = 4096, RIG_MESSAGES = 40000 };

struct rig;

struct rig_packet {
  simtime at;
  struct sctp_packet info;
};

struct rig_message {
  struct rig *rig;
  int from, index;
  int64_t bytes;
  simtime sent, delivered; /* SIMTIME_NEVER: not yet */
  struct trail begin, end;
  bool discarded; /* by sctp_renew */
};

struct rig_traffic {
  struct rig *rig;
  int from, stream, count, sent, bunch;
  int64_t bytes;
  simtime interval;
  bool ordered;
};

struct rig {
  struct sim *sim;
  struct net *net;
  struct net_link_config link[SCTP_PATHS];
  struct sctp_config config[2];
  struct sctp_congestion congestion; /* of both sides, once rig_usrsctp has chosen it */
  struct draw_key key;
  struct sctp *sctp;
  int links[SCTP_PATHS];
  /* A packet for which this is true never reaches the link. */
  bool (*drops)(struct rig *rig, const struct sctp_packet *packet);
  /* One way of a packet in place of the link's, 0: over the link. */
  simtime (*carries)(struct rig *rig, const struct sctp_packet *packet);
  simtime silent_from[2];                     /* from then on what the side sends or should receive is lost */
  int drop_numbers[8], drop_count, drop_seen; /* for the tests' own drops functions */
  int64_t reply_bytes;                        /* the server answers each message with one of this size */
  simtime established[2], path_down[2], path_up[2], ended[2];
  enum sctp_end why[2];
  struct rig_packet packets[RIG_PACKETS];
  int packet_count;
  struct rig_message messages[RIG_MESSAGES];
  int message_count;
  void (*delivered)(struct rig *rig, struct rig_message *message); /* called besides logging */
  void (*on_established)(struct rig *rig, enum sctp_side side);
};

/* Round-trip time of both links; config[] is profile rfc9260 with usrsctp's windows. */
void rig_open(struct rig *rig, simtime rtt);
void rig_close(struct rig *rig);
/* Builds the topology and connects at time 0, with what has been set before. */
void rig_start(struct rig *rig);
void rig_run(struct rig *rig, simtime until);

/* TSN of the first DATA chunk of a packet that has no control chunk. */
uint32_t rig_tsn(const struct sctp_packet *packet);

void rig_send(struct rig *rig, int from, int stream, int64_t bytes, bool ordered);
/* Messages at `start`, `start` + interval, ... */
void rig_stream(struct rig *rig, const struct rig_traffic *traffic, simtime start);

/* usrsctp as it was measured, but for what the model does not follow (sctp.h): windows counted in MTUs, cwnd of 3 packets less
 * headers at the start, growth by 2 MTUs per SACK, ssthresh down to 2 MTUs (sctp_cc_functions.c), and a chunk may be fast retransmitted again
 * (sctp_strike_gap_ack_chunks of sctp_indata.c). */
void rig_usrsctp(struct rig *rig);
void rig_rto(struct rig *rig, simtime initial, simtime least, simtime most);

#endif
