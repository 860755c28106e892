/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/application/http2.h"

#include <assert.h>

/* RFC 9113: sections 4.1 (frame header), 3.4 (preface), 6.5 (a setting), 6.8, 6.9, 4.2 (the largest frame without a setting). */
enum { FRAME = 9, PREFACE = 24, SETTING = 6, GOAWAY = FRAME + 8, WINDOW_UPDATE = FRAME + 4, FRAME_MOST = 16384, WINDOW = 65535 };

/* What one message of the channel holds: any of it may be absent. */
struct http2_write {
  struct http2_stream *stream; /* whose headers and data, or NULL */
  bool headers, ends;
  int64_t data_bytes;
  struct http2_stream *credit_stream; /* whose window it opens */
  int64_t stream_credit, connection_credit;
  bool settings; /* to be acknowledged */
};

/* One direction of a stream. */
struct half {
  const struct http2_headers *headers;
  int64_t left;   /* of the body, not sent */
  int64_t window; /* the sender's: what it may send */
  int64_t taken;  /* by the receiver, not given back */
  bool begun, sent, complete;
  struct trail trail; /* the sender's, until all is sent */
};

struct http2_stream {
  struct http2 *http2;
  struct http2_stream *next; /* of those that wait, or that are active */
  void *content;
  bool over;
  int credits;           /* window updates for it under way */
  struct half halves[2]; /* request, response */
};

struct http2_end {
  struct hpack compression; /* of what this side sends */
  int64_t window;           /* of the connection, for what this side sends */
  int64_t taken;            /* of the connection, by this side, not given back */
};

struct http2 {
  struct sim *sim;
  const struct http2_config *config;
  struct http2_observer observer;
  struct channel *channel;
  struct http2_end ends[2];
  struct http2_stream *active, **active_end, *waiting, **waiting_end;
  int active_count, waiting_count;
  bool up, down, closing, closed;
};

/* ---- writes ---------------------------------------------------------------------------------------------------- */

static void write(struct http2 *http2, enum net_side side, int64_t bytes, const struct http2_write *content, const struct trail *trail) {
  struct http2_write *message = sim_take(http2->sim, sizeof *message);
  *message = *content;
  if (content->credit_stream) content->credit_stream->credits++;
  channel_send(http2->channel, side, bytes, message, trail);
}

/* As much of the body as one frame and both windows take. */
static int64_t next_data(const struct http2 *http2, const struct half *half, enum net_side side) {
  int64_t bytes = half->left;
  if (bytes > FRAME_MOST) bytes = FRAME_MOST;
  if (bytes > half->window) bytes = half->window;
  if (bytes > http2->ends[side].window) bytes = http2->ends[side].window;
  return bytes < 0 ? 0 : bytes;
}

static void take_data(struct http2 *http2, struct half *half, enum net_side side, int64_t bytes, struct http2_write *content, int64_t *length) {
  half->left -= bytes;
  half->window -= bytes;
  http2->ends[side].window -= bytes;
  content->data_bytes = bytes;
  content->ends = half->left == 0;
  *length += FRAME + bytes;
}

/* Sends what may be sent of one direction of a stream: the side that sends it is the direction's number. */
static void push(struct http2_stream *stream, enum net_side side) {
  struct http2 *http2 = stream->http2;
  struct half *half = &stream->halves[side];
  while (half->headers && !half->sent) {
    struct http2_write content = {.stream = stream};
    int64_t length = 0;
    if (!half->begun) {
      content.headers = half->begun = true;
      content.ends = half->left == 0;
      length = FRAME + hpack_encode(&http2->ends[side].compression, half->headers->fields, half->headers->count);
    }
    int64_t bytes = content.headers && http2->config->two_writes ? 0 : next_data(http2, half, side);
    if (bytes > 0) take_data(http2, half, side, bytes, &content, &length);
    if (length == 0) return; /* a window is shut */
    trail_advance(&half->trail, PART_TRANSPORT_STALL, sim_now(http2->sim));
    half->sent = content.ends;
    write(http2, side, length, &content, &half->trail);
  }
}

/* ---- streams --------------------------------------------------------------------------------------------------- */

static void append(struct http2_stream *stream, struct http2_stream **first, struct http2_stream ***end) {
  stream->next = NULL;
  if (!*first) *end = first;
  **end = stream;
  *end = &stream->next;
}

static void activate(struct http2_stream *stream) {
  struct http2 *http2 = stream->http2;
  append(stream, &http2->active, &http2->active_end);
  http2->active_count++;
  trail_advance(&stream->halves[NET_A].trail, PART_APPLICATION, sim_now(http2->sim));
  push(stream, NET_A);
}

static void admit(struct http2 *http2) {
  while (http2->waiting && !http2->down && http2->active_count < http2->config->streams_max) {
    struct http2_stream *stream = http2->waiting;
    http2->waiting = stream->next;
    http2->waiting_count--;
    activate(stream);
  }
}

static void say_goodbye(struct http2 *http2, const struct trail *trail) {
  if (!http2->closing || http2->closed || http2->down || http2->active_count > 0 || http2->waiting_count > 0) return;
  http2->closed = true;
  if (http2->config->says_goodbye) write(http2, NET_A, GOAWAY, &(struct http2_write){0}, trail);
  channel_close(http2->channel, NET_A, trail);
}

static void forget(struct http2_stream *stream) {
  if (stream->over && stream->credits == 0) sim_release(stream->http2->sim, stream, sizeof *stream);
}

static void finish(struct http2_stream *stream, const struct trail *trail) {
  struct http2 *http2 = stream->http2;
  struct http2_stream **link = &http2->active;
  while (*link != stream) link = &(*link)->next;
  *link = stream->next;
  if (http2->active_end == &stream->next) http2->active_end = link;
  http2->active_count--;
  stream->over = true;
  http2->observer.answered(http2->observer.arg, stream, trail);
  forget(stream);
  admit(http2);
  say_goodbye(http2, trail);
}

struct http2_stream *http2_request(struct http2 *http2, const struct http2_headers *headers, int64_t body_bytes, void *content, const struct trail *trail) {
  assert(!http2->closing && !http2->down);
  const struct http2_config *config = http2->config;
  struct http2_stream *stream = sim_alloc(http2->sim, sizeof *stream);
  stream->http2 = http2;
  stream->content = content;
  stream->halves[NET_A] = (struct half){.headers = headers, .left = body_bytes, .window = config->stream_window[NET_B], .trail = *trail};
  stream->halves[NET_B].window = config->stream_window[NET_A];
  append(stream, &http2->waiting, &http2->waiting_end);
  http2->waiting_count++;
  admit(http2);
  return stream;
}

void http2_respond(struct http2_stream *stream, const struct http2_headers *headers, int64_t body_bytes, const struct trail *trail) {
  if (stream->http2->down) return;
  struct half *half = &stream->halves[NET_B];
  half->headers = headers;
  half->left = body_bytes;
  half->trail = *trail;
  push(stream, NET_B);
}

void *http2_content(const struct http2_stream *stream) { return stream->content; }

void http2_close(struct http2 *http2, const struct trail *trail) {
  http2->closing = true;
  say_goodbye(http2, trail);
}

/* ---- what comes in ----------------------------------------------------------------------------------------------- */

/* As nghttp2 rounds: 32,767 of 65,535 are half. */
static bool is_due(int64_t taken, int64_t window) { return taken > 0 && taken >= window / 2; }

/* Half a window taken is given back; a stream that is complete needs none. */
static void give_credit(struct http2 *http2, enum net_side side, struct http2_stream *stream, const struct trail *trail) {
  struct http2_end *end = &http2->ends[side];
  struct half *half = stream ? &stream->halves[!side] : NULL;
  struct http2_write content = {0};
  int64_t length = 0;
  if (half && !half->complete && is_due(half->taken, http2->config->stream_window[side])) {
    content.credit_stream = stream;
    content.stream_credit = half->taken;
    half->taken = 0;
    length += WINDOW_UPDATE;
  }
  if (is_due(end->taken, http2->config->connection_window[side])) {
    content.connection_credit = end->taken;
    end->taken = 0;
    length += WINDOW_UPDATE;
  }
  if (length > 0) write(http2, side, length, &content, trail);
}

static void take_stream(struct http2 *http2, enum net_side side, const struct http2_write *message, const struct trail *trail) {
  struct http2_stream *stream = message->stream;
  struct half *half = &stream->halves[!side];
  half->taken += message->data_bytes;
  http2->ends[side].taken += message->data_bytes;
  half->complete = message->ends;
  if (message->data_bytes > 0) give_credit(http2, side, stream, trail);
  if (side == NET_A && message->headers && http2->observer.answering) http2->observer.answering(http2->observer.arg, stream, trail);
  if (!message->ends) return;
  if (side == NET_B)
    http2->observer.requested(http2->observer.arg, stream, trail);
  else
    finish(stream, trail);
}

/* The windows of this side have opened: streams that wait send on, in their order. */
static void take_credit(struct http2 *http2, enum net_side side, const struct http2_write *message) {
  struct http2_stream *of = message->credit_stream;
  if (of) {
    of->halves[side].window += message->stream_credit;
    of->credits--;
    forget(of);
  }
  http2->ends[side].window += message->connection_credit;
  for (struct http2_stream *stream = http2->active; stream; stream = stream->next) push(stream, side);
}

static void received(void *arg, enum net_side side, void *content, const struct trail *trail) {
  struct http2 *http2 = arg;
  const struct http2_write message = *(struct http2_write *)content;
  sim_release(http2->sim, content, sizeof message);
  if (http2->down) return;
  if (message.settings) write(http2, side, FRAME, &(struct http2_write){0}, trail);
  if (message.stream_credit > 0 || message.connection_credit > 0) take_credit(http2, side, &message);
  if (message.stream) take_stream(http2, side, &message, trail);
}

/* ---- the connection ---------------------------------------------------------------------------------------------- */

/* What goes before all else: the client's preface, both SETTINGS, and windows that are wider than the default. */
static void open_side(struct http2 *http2, enum net_side side, const struct trail *trail) {
  const struct http2_config *config = http2->config;
  int64_t length = (side == NET_A ? PREFACE : 0) + FRAME + (int64_t)SETTING * config->settings[side];
  if (config->connection_window[side] > WINDOW) length += WINDOW_UPDATE;
  write(http2, side, length, &(struct http2_write){.settings = true}, trail);
}

static void up(void *arg, enum net_side side, const struct trail *trail) {
  struct http2 *http2 = arg;
  if (http2->observer.up) http2->observer.up(http2->observer.arg, side, trail);
}

static void marked(void *arg, enum net_side side, int mark, const struct trail *trail) {
  struct http2 *http2 = arg;
  if (http2->observer.marked) http2->observer.marked(http2->observer.arg, side, mark, trail);
}

static void worked(void *arg, enum net_side side, int use, int64_t duration) {
  struct http2 *http2 = arg;
  if (http2->observer.worked) http2->observer.worked(http2->observer.arg, side, use, duration);
}

static void down(void *arg, enum net_side side, enum stream_end why, const struct trail *trail) {
  struct http2 *http2 = arg;
  bool first = !http2->down;
  if (side == NET_B && why == STREAM_FINISHED) channel_close(http2->channel, NET_B, trail);
  if (side == NET_B || !first) return;
  http2->down = true;
  struct http2_stream *lists[2] = {http2->active, http2->waiting};
  http2->active = http2->waiting = NULL;
  http2->active_count = http2->waiting_count = 0;
  for (int i = 0; i < 2; i++)
    for (struct http2_stream *stream = lists[i]; stream; stream = stream->next) http2->observer.failed(http2->observer.arg, stream, trail);
  if (http2->observer.down) http2->observer.down(http2->observer.arg, why, trail);
}

struct http2 *http2_connect(struct sim *sim, struct port *const ports[2], struct cpu *const cpus[2], const struct channel_kind *kind,
    const struct http2_config *config, const struct http2_observer *observer, const struct draw_key *key, const struct trail *trail) {
  struct http2 *http2 = sim_alloc(sim, sizeof *http2);
  const struct channel_observer on_channel = {up, received, down, marked, worked, http2};
  http2->sim = sim;
  http2->config = config;
  http2->observer = *observer;
  for (int side = 0; side < 2; side++) {
    hpack_init(&http2->ends[side].compression, HPACK_TABLE);
    http2->ends[side].window = config->connection_window[!side];
  }
  http2->channel = channel_new(sim, ports, cpus, kind, &on_channel, key);
  for (int side = 0; side < 2; side++) open_side(http2, (enum net_side)side, trail);
  channel_connect(http2->channel, trail);
  return http2;
}

int http2_active(const struct http2 *http2) { return http2->active_count; }
int http2_waiting(const struct http2 *http2) { return http2->waiting_count; }
const struct stream *http2_transport(const struct http2 *http2) { return channel_stream(http2->channel); }
