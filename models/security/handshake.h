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
 * Responder:  a processor, or a server that may refuse the request that opens a session, ask for a cookie first, and queue the
 *             work as it likes. It may forget a session: it then leaves all later requests of it unanswered.
 * Order:      deterministic; draws are keyed by (epoch, message, operation or datagram, attempt).
 * Ownership:  tables are the caller's (see handshake_table_free); runs live in the sim's arena. One handshake object walks one
 *             table after another; what is still under way of an earlier one is ignored.
 * Errors:     handshake_resolve: ERR_INPUT when a platform does not state an operation the table needs.
 * Sources:    RFC 7296 section 2.1 (retransmission, requests and responses), section 2.6 (cookies), RFC 7383 section
 *             2.6 (fragments of one message are collected over retransmissions).
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
  bool hsm;                   /* uses the sender's long-term private key, which a hardware security module may hold */
  bool optional;              /* a platform may leave it out: it then costs nothing (software rows) */
  const struct cost_row *row; /* set by handshake_resolve, */
  enum part part;             /* as this is, */
  bool random;                /* and this: a draw matters */
};

struct handshake_message {
  const char *name; /* "IKE_SA_INIT" */
  uint32_t number;  /* below 256; keys its draws: the same message of another configuration has the same */
  int part_count;
  int32_t part_bytes[HANDSHAKE_PARTS]; /* UDP payload of each datagram */
  int before_count, after_count;
  struct handshake_op before[HANDSHAKE_OPS]; /* by the sender, in order, before it sends */
  struct handshake_op after[HANDSHAKE_OPS];  /* by the receiver once the whole message is in */
};

struct handshake_table {
  int count;                                  /* even */
  int opens;                                  /* the request with which the responder begins to keep state; -1: it has some already */
  int challenge_bytes, challenge_reply_bytes; /* what a cookie adds to a request up to `opens`; UDP payload of the demand for one */
  struct handshake_message *messages;
};

void handshake_table_free(struct handshake_table *table);

/* Operations of messages from the initiator cost on platforms[0] before and platforms[1] after, and so on; private-key
 * operations of the responder on platforms[2] unless that is NULL. keys: the parameters that name the platforms, for messages. */
enum { HANDSHAKE_PLATFORMS = 3 };
int handshake_resolve(struct handshake_table *table, const struct cost_platform *const platforms[HANDSHAKE_PLATFORMS],
    const char *const keys[HANDSHAKE_PLATFORMS], struct err *e) MUST_CHECK;

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

enum handshake_verdict { HANDSHAKE_ADMIT, HANDSHAKE_DROP, HANDSHAKE_CHALLENGE };

/* The responder as a server of many. Members may be NULL: everything is admitted; the responder's processor does the work. */
struct handshake_server {
  /* A request up to table->opens is in as a whole: first, and again after it was refused. opens: the session's state is kept
   * from here on. cookie: the request carries one. */
  enum handshake_verdict (*admit)(void *arg, bool opens, bool cookie);
  /* Does `cost`, of it the private-key operations `hsm` apart, and calls done with the trail moved on. */
  void (*work)(void *arg, const struct trail *trail, const int64_t cost[PART_COUNT], int64_t hsm, cpu_done_fn *done, void *done_arg);
  void *arg;
};

struct handshake_peers {
  struct sim *sim;
  struct port *ports[2];
  struct cpu *cpus[2]; /* that of the responder may be NULL when the server works */
};

struct handshake;

/* capacity: messages of the longest table it will walk. key: seed, replication, entity. */
struct handshake *handshake_new(const struct handshake_peers *peers, const struct handshake_observer *observer, int capacity, const struct draw_key *key);

/* Starts now (trail->at); it must be idle. epoch: below HANDSHAKE_EPOCHS, another for each start of any handshake
 * between the two ports. server may be NULL. */
enum { HANDSHAKE_EPOCHS = 1 << 20 };
void handshake_start(struct handshake *handshake, const struct handshake_table *table, const struct handshake_ladder *ladder,
    const struct handshake_server *server, uint32_t epoch, const struct trail *trail);

/* The responder deletes what it knows of the session. */
void handshake_forget(struct handshake *handshake);

/* Requests sent again since the last start. */
int handshake_retransmissions(const struct handshake *handshake);
/* It is over, and no processor works for it any more: it can be started again. */
bool handshake_is_idle(const struct handshake *handshake);

#endif
