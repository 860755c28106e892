/* SPDX-License-Identifier: GPL-2.0-or-later */
/* channel: a connection over which two processes exchange messages: TCP, and TLS on it or nothing.
 *
 * Purpose:    sets the connection up (the scripts of a handshake, tls13.h) and then carries messages both ways at once, each as records of its
 *             own: sealed on the sender's processor, written with one write(), opened on the receiver's once all of it is there.
 * Order:      messages of a side arrive in the order they were sent; a side seals one at a time and opens one at a time.
 * Waiting:    what is sent before the side is up waits for that. A side that has done nothing here for DIALOGUE_ASLEEP pays its platform's
 *             software/wake when a message comes.
 * Units:      bytes of plaintext, ns.
 * Trail:      a message's own, moved on by the wait for the connection (transport_stall, or what the handshake did where the message had
 *             it set up) or for the message before (cpu_queue), by sealing, by the stream, and by opening.
 * Ownership:  everything lives in the run's arena; kind must outlive the run.
 * Errors:     a connection that fails is a result: `down`, once a side; what was under way is lost.
 */
#ifndef PQNETSIM_CHANNEL_H
#define PQNETSIM_CHANNEL_H

#include "models/security/dialogue.h"
#include "models/security/tls13.h"

struct channel;

/* What all connections between two kinds of process have in common. */
struct channel_kind {
  const struct tcp_config *tcp[2];
  const struct dialogue_script *handshake; /* [2], resolved, of tls13_handshake; NULL: no TLS */
  int ticket_count;                        /* that the server sends behind its handshake */
  int64_t ticket_bytes;                    /* each, its record included */
  struct channel_rows {
    const struct cost_row *seal, *open; /* of the cipher suite's AEAD; NULL: costs nothing */
    const struct cost_row *message;     /* software/http2_message: the process and its kernel, per message made or taken */
    const struct cost_row *wake;
  } rows[2];
};

/* The rows of both sides' platforms for a cipher suite; NULL: no TLS. */
void channel_find_rows(struct channel_kind *kind, const struct tls13_config *tls, const struct cost_platform *const platforms[2]);
bool channel_is_random(const struct channel_kind *kind);

struct channel_observer {
  void (*up)(void *arg, enum net_side side, const struct trail *trail); /* the side may send: handshake done there */
  void (*received)(void *arg, enum net_side side, void *message, const struct trail *trail);
  void (*down)(void *arg, enum net_side side, enum stream_end why, const struct trail *trail); /* closed by the other side, or failed */
  void (*marked)(void *arg, enum net_side side, int mark, const struct trail *trail);          /* of the handshake, as a dialogue tells */
  void (*worked)(void *arg, enum net_side side, int use, int64_t duration);
  void *arg;
};

/* key: seed, replication, entity of the draws; key.message tells connections of the entity apart (below 2^12). */
struct channel *channel_new(struct sim *sim, struct port *const ports[2], struct cpu *const cpus[2], const struct channel_kind *kind,
    const struct channel_observer *observer, const struct draw_key *key);
void channel_connect(struct channel *channel, const struct trail *trail);
void channel_send(struct channel *channel, enum net_side side, int64_t bytes, void *message, const struct trail *trail);
/* No more of this side; behind what was sent, with TLS behind a close_notify. */
void channel_close(struct channel *channel, enum net_side side, const struct trail *trail);
/* For counters. */
const struct stream *channel_stream(const struct channel *channel);

#endif
