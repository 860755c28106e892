/* SPDX-License-Identifier: GPL-2.0-or-later */
/* handshake: walks a table of messages.
 *
 * Purpose:    a security protocol says, as a table, which message comes next, in how many datagrams of which sizes, and
 *             what its sender does before and its receiver after. This engine alone touches clock, processor and network.
 *             Messages alternate request and response, as in IKEv2: message 2i is a request of the initiator.
 * Timers:     a request without a complete response is sent again after timeout * base^n (n = 0, 1, ...), at most
 *             `tries` times; when the last wait ends too, the handshake has failed. The responder answers a repeated
 *             request with its stored response once all parts of the request have come in again or before.
 * Units:      ns, bytes; base in thousandths.
 * Order:      deterministic; draws are keyed by (message, operation or datagram, attempt).
 * Ownership:  tables are the caller's (see handshake_table_free); runs live in the sim's arena.
 * Errors:     handshake_resolve: ERR_INPUT when a platform does not state an operation the table needs.
 * Sources:    RFC 7296 section 2.1 (retransmission, requests and responses), RFC 7383 section 2.6 (fragments of one
 *             message are collected over retransmissions).
 * Left out:   several requests in flight (IKE window > 1).
 */
#ifndef PQNETSIM_HANDSHAKE_H
#define PQNETSIM_HANDSHAKE_H

#include "models/crypto/cost.h"
#include "models/transport/port.h"
#include "sim/core/cpu.h"

enum handshake_role { HANDSHAKE_INITIATOR = 0, HANDSHAKE_RESPONDER = 1 };

enum { HANDSHAKE_OPS = 24, HANDSHAKE_PARTS = 64 };

struct handshake_op {
  const char *algorithm, *operation; /* of the cost file; algorithm "software" is no cryptography */
  int64_t size_bytes;
  int times;                  /* how often it is done; one duration is drawn for all */
  int draw;                   /* below HANDSHAKE_OPS: keys its draw, whatever else the message has to do */
  bool optional;              /* a platform may leave it out: it then costs nothing (software rows) */
  const struct cost_row *row; /* set by handshake_resolve, */
  enum part part;             /* as this is */
};

struct handshake_message {
  const char *name; /* "IKE_SA_INIT" */
  uint32_t number;  /* keys its draws: the same message of another configuration has the same */
  int part_count;
  int32_t part_bytes[HANDSHAKE_PARTS]; /* UDP payload of each datagram */
  int before_count, after_count;
  struct handshake_op before[HANDSHAKE_OPS]; /* by the sender, in order, before it sends */
  struct handshake_op after[HANDSHAKE_OPS];  /* by the receiver once the whole message is in */
};

struct handshake_table {
  int count; /* even */
  struct handshake_message *messages;
};

void handshake_table_free(struct handshake_table *table);

/* Operations of messages from the initiator cost on platforms[0] before and platforms[1] after, and so on. */
/* keys: the parameters that name the platforms, for messages. */
int handshake_resolve(struct handshake_table *table, const struct cost_platform *const platforms[2], const char *const keys[2], struct err *e) MUST_CHECK;

struct handshake_ladder {
  simtime timeout;
  int64_t base_milli;
  int tries;
  int64_t jitter_ppb; /* each wait is shortened by a uniform share up to this */
  simtime limit;      /* no wait is longer; 0: no limit */
};
/* The nth wait (0-based) before jitter. */
simtime handshake_wait(const struct handshake_ladder *ladder, int n);

struct handshake_observer {
  /* The first datagram of a message goes out for the first time / the last missing datagram has come in. */
  void (*sent)(void *arg, int message, const struct trail *trail);
  void (*received)(void *arg, int message, const struct trail *trail);
  /* The initiator has done its last operation (ok), or gave up. */
  void (*finished)(void *arg, bool ok, const struct trail *trail);
  void *arg;
};

struct handshake_peers {
  struct sim *sim;
  struct port *ports[2];
  struct cpu *cpus[2];
};

struct handshake;

/* Starts now (trail->at). key: seed, replication, entity. The handshake owns all UDP of both ports until it ends. */
struct handshake *handshake_start(const struct handshake_peers *peers, const struct handshake_table *table, const struct handshake_ladder *ladder,
    const struct draw_key *key, const struct handshake_observer *observer, const struct trail *trail);

/* Requests sent again so far. */
int handshake_retransmissions(const struct handshake *handshake);

#endif
