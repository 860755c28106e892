/* SPDX-License-Identifier: GPL-2.0-or-later */
/* http2: requests and responses as streams of one connection.
 *
 * Purpose:    preface and SETTINGS, HEADERS with a compression context each way, DATA in frames, flow control by stream and by connection,
 *             the server's limit of streams, on a channel that may be TLS or not.
 * Writes:     each is one message of the channel: the client's preface with its SETTINGS and WINDOW_UPDATE; a header block with the data that
 *             the windows admit (or apart from it: two_writes); further DATA frames, one a write; acknowledgements and window updates.
 * Windows:    an end gives credit back when it has taken half a window, for stream and connection in one write.
 * Limit:      a request beyond streams_max waits in the client, first come, first served, as key waits do elsewhere (application).
 * Units:      bytes, ns.
 * Trail:      a request's trail is its caller's, moved on by all that it waits for; a response's is the server's.
 * Ownership:  everything lives in the run's arena; config and header fields must outlive it.
 * Errors:     a connection that fails takes its requests with it: `failed`, once for each.
 * Sources:    RFC 9113 (frames, preface, windows, limits), RFC 7541 by hpack.h.
 * Left out:   server push, priorities, padding, CONTINUATION (header blocks of one frame), PING, trailers.
 */
#ifndef PQNETSIM_HTTP2_H
#define PQNETSIM_HTTP2_H

#include "models/application/hpack.h"
#include "models/security/channel.h"

enum { HTTP2_FIELDS_MAX = 16 };

struct http2_headers {
  int count;
  struct hpack_field fields[HTTP2_FIELDS_MAX];
};

struct http2_config {
  int64_t stream_window[2], connection_window[2]; /* what this end lets the other send: 65,535 unless it says more */
  int settings[2];                                /* parameters in the SETTINGS frame of each side */
  int streams_max;                                /* requests at once that the server takes */
  bool two_writes;                                /* header block and data leave in a write each */
  bool says_goodbye;                              /* a client that closes sends GOAWAY */
};

struct http2;
struct http2_stream;

struct http2_observer {
  void (*requested)(void *arg, struct http2_stream *stream, const struct trail *trail); /* server: the whole request is here */
  void (*answering)(void *arg, struct http2_stream *stream, const struct trail *trail); /* client: the first write of the response; may be NULL */
  void (*answered)(void *arg, struct http2_stream *stream, const struct trail *trail);  /* client: the whole response */
  void (*failed)(void *arg, struct http2_stream *stream, const struct trail *trail);    /* client: there will be none */
  void (*up)(void *arg, enum net_side side, const struct trail *trail);                 /* may be NULL */
  void (*down)(void *arg, enum stream_end why, const struct trail *trail);              /* at the client; may be NULL */
  void (*marked)(void *arg, enum net_side side, int mark, const struct trail *trail);   /* of the TLS handshake; may be NULL */
  void (*worked)(void *arg, enum net_side side, int use, int64_t duration);             /* of the TLS handshake; may be NULL */
  void *arg;
};

/* The connection is set up at once; trail is the caller's. key: as channel_new. */
struct http2 *http2_connect(struct sim *sim, struct port *const ports[2], struct cpu *const cpus[2], const struct channel_kind *kind,
    const struct http2_config *config, const struct http2_observer *observer, const struct draw_key *key, const struct trail *trail);

/* content: the caller's, http2_content gives it back. */
struct http2_stream *http2_request(struct http2 *http2, const struct http2_headers *headers, int64_t body_bytes, void *content, const struct trail *trail);
void http2_respond(struct http2_stream *stream, const struct http2_headers *headers, int64_t body_bytes, const struct trail *trail);
void *http2_content(const struct http2_stream *stream);
/* Of the client: no more requests; closes when none is under way. */
void http2_close(struct http2 *http2, const struct trail *trail);

/* Requests under way, and those that wait for a stream. */
int http2_active(const struct http2 *http2);
int http2_waiting(const struct http2 *http2);
const struct stream *http2_transport(const struct http2 *http2);

#endif
