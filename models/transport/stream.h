/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream: one TCP connection between the two ends of a link, as protocols above see it.
 *
 * Purpose:    connect, write, read, close; what came in, in order. Two implementations: tcp.h on the datagrams of any backend,
 *             and the backend's own sockets where it has them (net.h); stream_new takes the right one.
 * Units:      bytes of payload, ns. Offsets count from the first byte a side writes, 0.
 * Sides:      NET_A connects (client), NET_B listens (server).
 * Order:      bytes come in in the order they were written. A callback is called from the event loop or from within the call
 *             that caused it; it may write, read and close.
 * Trail:      a write's trail is the writer's, at now. What arrives carries the trail of the write whose byte completed it,
 *             moved on by transport_stall (until the segment that brought it left: window, Nagle, retransmission), link_queue,
 *             serialisation and propagation.
 * Reading:    bytes that are not read stay in the receive buffer: they shrink the window and hold acknowledgements back as the
 *             profile says. stream_read gives what has arrived and was not read.
 * Ownership:  everything lives in the run's arena; config must outlive the run.
 * Errors:     a connection that fails (SYN or data sent too often, reset) is a result: `closed` is called once per side.
 */
#ifndef PQNETSIM_STREAM_H
#define PQNETSIM_STREAM_H

#include "models/transport/port.h"

enum stream_end { STREAM_FINISHED, STREAM_TIMED_OUT, STREAM_RESET };

struct stream_observer {
  /* connect() has returned (client) or accept() has (server). */
  void (*opened)(void *arg, const struct trail *trail);
  /* All bytes up to offset `end` are there to be read. */
  void (*arrived)(void *arg, int64_t end, const struct trail *trail);
  /* The other side has closed and everything it wrote has arrived, or the connection failed. */
  void (*closed)(void *arg, enum stream_end why, const struct trail *trail);
  /* All bytes before `end` that this side has written are acknowledged. May be NULL; a backend's own TCP does not tell. */
  void (*acknowledged)(void *arg, int64_t end);
  void *arg;
};

/* What one side has sent. */
struct stream_counters {
  int64_t payload_bytes;   /* each byte once */
  int64_t data_segments;   /* with payload, retransmissions counted */
  int64_t packets;         /* all IP packets, bare acknowledgements, SYN and FIN included */
  int64_t retransmissions; /* segments with payload or SYN sent again */
  int64_t timeouts;        /* retransmission timer expiries */
  int64_t probes;          /* tail loss probes */
};

struct tcp_config;
struct stream;

/* configs: of the client's and the server's end. key: seed, replication and entity of the draws; message: which connection of the link's
 * it is, from 0. */
struct stream *stream_new(struct sim *sim, struct port *const ports[2], const struct tcp_config *const configs[2], const struct stream_observer observers[2],
    const struct draw_key *key);
/* The client's SYN goes out now. */
void stream_connect(struct stream *stream, const struct trail *trail);
/* One write() call of `bytes`; what the window does not admit waits in the send buffer. */
void stream_write(struct stream *stream, enum net_side side, int64_t bytes, const struct trail *trail);
/* The application takes everything that has arrived; returns its end offset. */
int64_t stream_read(struct stream *stream, enum net_side side);
/* No more writes of this side; FIN behind the last byte. */
void stream_close(struct stream *stream, enum net_side side, const struct trail *trail);
void stream_counters(const struct stream *stream, enum net_side side, struct stream_counters *out);

#endif
