/* SPDX-License-Identifier: GPL-2.0-or-later */
/* DATA at its receiver: what has come in, when to send a SACK (RFC 9260 section 6.2), streams (6.5, 6.6), the window. */
#include "models/transport/sctp_internal.h"

#include <assert.h>

enum { GAPS_START = 4 };

/* ---- TSNs ---- */

/* The first run that ends at tsn or above. */
static int gap_at(const struct receiver *in, int64_t tsn) {
  int i = in->gap_count;
  while (i > 0 && in->gaps[i - 1].last >= tsn) i--;
  return i;
}

static bool is_in(const struct receiver *in, int64_t tsn) {
  if (tsn <= in->cumulative) return true;
  int i = gap_at(in, tsn);
  return i < in->gap_count && in->gaps[i].first <= tsn;
}

static void gap_insert(struct endpoint *end, int at, int64_t tsn) {
  struct receiver *in = &end->in;
  if (in->gap_count == in->gap_capacity) {
    int capacity = in->gap_capacity ? 2 * in->gap_capacity : GAPS_START;
    struct gap_run *gaps = sim_alloc(end->sctp->sim, (size_t)capacity * sizeof *gaps);
    for (int i = 0; i < in->gap_count; i++) gaps[i] = in->gaps[i];
    in->gaps = gaps;
    in->gap_capacity = capacity;
  }
  for (int i = in->gap_count++; i > at; i--) in->gaps[i] = in->gaps[i - 1];
  in->gaps[at] = (struct gap_run){tsn, tsn};
}

static void gap_remove(struct receiver *in, int at) {
  in->gap_count--;
  for (int i = at; i < in->gap_count; i++) in->gaps[i] = in->gaps[i + 1];
}

/* The cumulative TSN moves on: what it passes is read, or waits to be while the application is paused. */
static void pass(struct endpoint *end, int64_t to) {
  struct receiver *in = &end->in;
  while (in->cumulative < to) {
    int64_t bytes = chunk_of(end->peer, ++in->cumulative)->bytes;
    in->above -= bytes;
    if (in->paused) in->unread += bytes;
  }
}

static void note(struct endpoint *end, int64_t tsn) {
  struct receiver *in = &end->in;
  int at = gap_at(in, tsn);
  in->above += chunk_of(end->peer, tsn)->bytes;
  in->highest = max_i64(in->highest, tsn);
  bool joins_last = at > 0 && in->gaps[at - 1].last + 1 == tsn, joins_next = at < in->gap_count && in->gaps[at].first == tsn + 1;
  if (joins_last && joins_next) {
    in->gaps[at - 1].last = in->gaps[at].last;
    gap_remove(in, at);
  } else if (joins_last)
    in->gaps[at - 1].last = tsn;
  else if (joins_next)
    in->gaps[at].first = tsn;
  else
    gap_insert(end, at, tsn);
  if (in->gaps[0].first == in->cumulative + 1) {
    int64_t last = in->gaps[0].last;
    gap_remove(in, 0);
    pass(end, last);
  }
}

/* No window smaller than a full packet is offered (RFC 9260 section 6.2, silly window). */
int64_t sctp_window(const struct endpoint *end) {
  int64_t window = end->config->receive_window - end->in.above - end->in.unread;
  return window < sctp_segment_bytes(end->config) ? 0 : window;
}

/* ---- messages ---- */

/* From `from` over the packet that has just come in. */
static struct trail over_packet(const struct trail *from, const struct packet *packet, const struct trail *hop) {
  struct trail trail = *from;
  trail_advance(&trail, PART_TRANSPORT_STALL, packet->sent_at);
  for (int part = 0; part < PART_COUNT; part++) trail.parts[part] += hop->parts[part];
  trail.at = hop->at;
  return trail;
}

static void make_ready(struct receiver *in, struct message *message) {
  message->next = NULL;
  *in->ready_tail = message;
  in->ready_tail = &message->next;
}

static void complete(struct endpoint *end, struct message *message, const struct packet *packet, const struct trail *hop) {
  struct receiver *in = &end->in;
  message->end = over_packet(&message->begin, packet, hop);
  if (!message->ordered) {
    make_ready(in, message);
    return;
  }
  struct inbound_stream *stream = &in->streams[message->stream];
  struct message **slot = &stream->waiting;
  while (*slot && (*slot)->ssn < message->ssn) slot = &(*slot)->next;
  message->next = *slot;
  *slot = message;
  while (stream->waiting && stream->waiting->ssn == stream->next) {
    struct message *next = stream->waiting;
    stream->waiting = next->next;
    stream->next++;
    /* A message that waited for this packet, sent after it was handed over, has come by way of it. */
    if (next != message && packet->sent_at >= next->begin.at) next->end = over_packet(&next->begin, packet, hop);
    make_ready(in, next);
  }
}

static void discard(struct sctp *sctp, struct message *message) {
  if (sctp->observer.discarded) sctp->observer.discarded(sctp->observer.arg, message->tag);
  sim_release(sctp->sim, message, sizeof *message);
}

static void discard_list(struct sctp *sctp, struct message *message) {
  while (message) {
    struct message *next = message->next;
    discard(sctp, message);
    message = next;
  }
}

/* What is in whole waits at the receiver; what is wholly sent but not in has a chunk that is missing, which follow each other in the
 * ring message by message; the rest is in the queue. */
void sctp_discard_messages(struct endpoint *end) {
  struct sctp *sctp = end->sctp;
  struct receiver *in = &end->peer->in;
  struct message *missing = NULL;
  for (int64_t tsn = end->out.acked + 1; tsn < end->out.next; tsn++) {
    struct message *message = is_in(in, tsn) ? NULL : chunk_of(end, tsn)->message;
    if (!message || message == missing || message->unsent > 0) continue;
    if (missing) discard(sctp, missing);
    missing = message;
  }
  if (missing) discard(sctp, missing);
  discard_list(sctp, end->out.queue);
  discard_list(sctp, in->ready);
  for (int stream = 0; stream < end->out.streams; stream++) discard_list(sctp, in->streams[stream].waiting);
}

void sctp_read(struct endpoint *end) {
  struct sctp *sctp = end->sctp;
  struct receiver *in = &end->in;
  if (in->delivering) return;
  in->delivering = true;
  while (in->ready && !in->paused && end->state != CLOSED) {
    struct message *message = in->ready;
    in->ready = message->next;
    if (!in->ready) in->ready_tail = &in->ready;
    struct trail trail = message->end;
    void *tag = message->tag;
    trail_advance(&trail, PART_TRANSPORT_STALL, sctp_now(end));
    sim_release(sctp->sim, message, sizeof *message);
    if (sctp->observer.delivered) sctp->observer.delivered(sctp->observer.arg, end->side, tag, &trail);
  }
  in->delivering = false;
}

void sctp_pause(struct sctp *sctp, enum sctp_side side, bool paused) {
  struct endpoint *end = &sctp->ends[side];
  bool closed = sctp_window(end) == 0;
  if (end->in.paused == paused) return;
  end->in.paused = paused;
  if (paused) return;
  end->in.unread = 0;
  sctp_read(end);
  if (closed && sctp_takes_data(end)) { /* tells the sender that there is room again */
    end->in.due = SACK_AT_ONCE;
    sctp_send_owed(end);
  }
}

/* ---- SACK ---- */

int sctp_sack_blocks(const struct endpoint *end) { return end->in.gap_count < SACK_BLOCKS ? end->in.gap_count : SACK_BLOCKS; }

void sctp_sack_fill(struct endpoint *end, struct sack *sack) {
  const struct receiver *in = &end->in;
  sack->cumulative = in->cumulative;
  sack->window = sctp_window(end);
  sack->duplicates = in->duplicates;
  sack->block_count = sack->capacity;
  for (int i = 0; i < sack->block_count; i++) sack->blocks[i] = (struct sack_block){in->gaps[i].first, in->gaps[i].last};
}

void sctp_receive_stop(struct endpoint *end) {
  if (end->in.due == SACK_DELAYED) event_cancel(end->sctp->sim, end->in.delay);
  end->in.due = SACK_NONE;
}

void sctp_sack_done(struct endpoint *end) {
  sctp_receive_stop(end);
  end->in.packets = 0;
  end->in.duplicates = 0;
}

static void delay_over(struct sim *sim, void *arg) {
  (void)sim;
  struct endpoint *end = arg;
  end->in.due = SACK_AT_ONCE;
  sctp_send_owed(end);
}

static void sack_decide(struct endpoint *end, bool at_once) {
  struct receiver *in = &end->in;
  if (at_once) {
    sctp_receive_stop(end);
    in->due = SACK_AT_ONCE;
  } else if (in->due == SACK_NONE) {
    in->due = SACK_DELAYED;
    in->delay = event_at(end->sctp->sim, sctp_now(end) + end->config->sack_delay, delay_over, end);
  }
}

/* ---- DATA ---- */

/* True if the chunk must be answered at once: it had come in before, or there was no room for it. */
static bool take_chunk(struct endpoint *end, int64_t tsn, const struct packet *packet, const struct trail *hop) {
  struct receiver *in = &end->in;
  if (is_in(in, tsn)) {
    in->duplicates++;
    return true;
  }
  assert(tsn > end->peer->out.acked && tsn < end->peer->out.next);
  if (tsn > in->highest && sctp_window(end) == 0) return true;
  struct message *message = chunk_of(end->peer, tsn)->message;
  note(end, tsn);
  if (++message->chunks_in == message->chunks) complete(end, message, packet, hop);
  return false;
}

void sctp_data_input(struct endpoint *end, const struct packet *packet, const struct trail *trail) {
  struct receiver *in = &end->in;
  bool at_once = !in->data_seen || in->gap_count > 0 || end->config->sack_delay == 0 || end->state == SHUTDOWN_SENT;
  for (const struct run *run = packet->runs; run; run = run->next)
    for (int32_t i = 0; i < run->count; i++) at_once |= take_chunk(end, run->first + i, packet, trail);
  in->data_seen = true;
  in->path = packet->info.path;
  in->packets++;
  sack_decide(end, at_once || in->gap_count > 0 || in->packets >= end->config->sack_every);
  sctp_read(end);
}
