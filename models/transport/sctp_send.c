/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets: what goes into them (RFC 9260 sections 6.1, 6.9, 6.10), when DATA may go, and what T3 does (6.3.2, 6.3.3). */
#include "models/transport/sctp_internal.h"

#include <assert.h>

/* Kinds of packets in the numbers that key the draws below; clear of other protocols' numbers. */
enum packet_kind { KIND_CONTROL = 1, KIND_DATA, KIND_SACK, KIND_HEARTBEAT, KIND_HEARTBEAT_ACK };
enum { KIND_SHIFT = 28, EPOCH_SHIFT = 24 };

/* ---- one packet ---- */

static struct packet *packet_new(struct endpoint *end, int path) {
  struct sctp *sctp = end->sctp;
  struct packet *packet = sim_take(sctp->sim, sizeof *packet);
  sctp->packets++;
  *packet = (struct packet){
      .sctp = sctp,
      .generation = sctp->generation,
      .info = {.from = end->side, .path = path, .bytes = IPV4_HEADER + COMMON_HEADER, .tag = packet},
  };
  return packet;
}

static size_t sack_size(int blocks) { return sizeof(struct sack) + (size_t)blocks * sizeof(struct sack_block); }

void sctp_packet_free(struct sctp *sctp, struct packet *packet) {
  while (packet->runs) {
    struct run *run = packet->runs;
    packet->runs = run->next;
    sim_release(sctp->sim, run, sizeof *run);
  }
  if (packet->sack) sim_release(sctp->sim, packet->sack, sack_size(packet->sack->capacity));
  sim_release(sctp->sim, packet, sizeof *packet);
  if (--sctp->packets == 0 && sctp->unused) sctp_give_back(sctp);
}

static int64_t room_in(const struct endpoint *end, const struct packet *packet) {
  return sctp_segment_bytes(end->config) + IPV4_HEADER + COMMON_HEADER - packet->info.bytes;
}

static void add_control(struct endpoint *end, struct packet *packet, enum sctp_chunk chunk) {
  packet->info.chunks |= 1u << chunk;
  packet->info.bytes += sctp_chunk_bytes(end->config, chunk);
  packet->base = end->chain;
}

static struct sack *sack_snapshot(struct endpoint *end, int blocks) {
  struct sack *sack = sim_take(end->sctp->sim, sack_size(blocks));
  sack->capacity = blocks;
  sctp_sack_fill(end, sack);
  return sack;
}

static int64_t sack_bytes(const struct sack *sack) { return SACK_FIXED + SACK_ENTRY * ((int64_t)sack->block_count + sack->duplicates); }

static void add_sack(struct endpoint *end, struct packet *packet) {
  packet->sack = sack_snapshot(end, sctp_sack_blocks(end));
  int64_t entries = (room_in(end, packet) - SACK_FIXED) / SACK_ENTRY - packet->sack->block_count;
  packet->sack->duplicates = (int)min_i64(packet->sack->duplicates, entries);
  packet->info.chunks |= 1u << SCTP_SACK;
  packet->info.bytes += sack_bytes(packet->sack);
  end->counters.sacks++;
  sctp_sack_done(end);
}

static void add_tsn(struct endpoint *end, struct packet *packet, int64_t tsn) {
  struct run *last = packet->last_run;
  packet->info.chunks |= 1u << SCTP_DATA;
  packet->info.bytes += padded(DATA_HEADER + chunk_of(end, tsn)->bytes);
  packet->info.data_chunks++;
  if (last && last->first + last->count == tsn) {
    last->count++;
    return;
  }
  struct run *run = sim_take(end->sctp->sim, sizeof *run);
  *run = (struct run){.first = tsn, .count = 1};
  if (last)
    last->next = run;
  else
    packet->runs = run;
  packet->last_run = run;
}

/* The chunk a packet is numbered by when it is not DATA, SACK or heartbeat; SCTP_CHUNKS: none. */
static enum sctp_chunk control_in(const struct packet *packet) {
  const unsigned others = 1u << SCTP_DATA | 1u << SCTP_SACK | 1u << SCTP_HEARTBEAT | 1u << SCTP_HEARTBEAT_ACK;
  for (int chunk = 0; chunk < SCTP_CHUNKS; chunk++)
    if (packet->info.chunks & ~others & 1u << chunk) return (enum sctp_chunk)chunk;
  return SCTP_CHUNKS;
}

static void number_packet(struct endpoint *end, struct packet *packet) {
  struct receiver *in = &end->in;
  enum sctp_chunk control = control_in(packet);
  enum packet_kind kind;
  int64_t index, attempt = 0;
  if (control != SCTP_CHUNKS) {
    kind = KIND_CONTROL;
    index = control;
    attempt = end->control_sent[control]++;
  } else if (packet->runs) {
    kind = KIND_DATA;
    index = packet->runs->first;
    attempt = chunk_of(end, index)->times_sent - 1;
  } else if (packet->sack) {
    kind = KIND_SACK;
    index = in->highest;
    in->sack_repeats = in->sack_named == in->highest ? in->sack_repeats + 1 : 0;
    in->sack_named = in->highest;
    attempt = in->sack_repeats;
  } else {
    kind = packet->info.chunks & 1u << SCTP_HEARTBEAT ? KIND_HEARTBEAT : KIND_HEARTBEAT_ACK;
    index = (int64_t)packet->heartbeat * SCTP_PATHS + packet->info.path;
  }
  packet->info.number = (uint32_t)kind << KIND_SHIFT | (end->sctp->epoch << EPOCH_SHIFT) | (uint32_t)(index & ((1 << EPOCH_SHIFT) - 1));
  packet->info.attempt = (uint16_t)min_i64(attempt, ATTEMPT_MAX);
}

static void packet_send(struct endpoint *end, struct packet *packet) {
  struct sctp *sctp = end->sctp;
  struct trail trail;
  number_packet(end, packet);
  assert(packet->info.bytes <= end->config->mtu_bytes);
  packet->sent_at = sctp_now(end);
  end->counters.packets++;
  end->counters.bytes += packet->info.bytes;
  trail_begin(&trail, packet->sent_at);
  sctp->below.send(sctp->below.arg, &packet->info, &trail);
}

/* ---- packets without DATA ---- */

void sctp_send_control(struct endpoint *end, int path, enum sctp_chunk chunk, const struct packet *answer_to) {
  struct packet *packet = packet_new(end, path);
  add_control(end, packet, chunk);
  if (chunk == SCTP_HEARTBEAT) {
    packet->echo = sctp_now(end);
    packet->heartbeat = end->paths[path].heartbeats;
  } else if (chunk == SCTP_HEARTBEAT_ACK) {
    packet->echo = answer_to->echo;
    packet->heartbeat = answer_to->heartbeat;
  } else if (chunk == SCTP_SHUTDOWN) {
    packet->sack = sack_snapshot(end, 0); /* section 3.3.8: its cumulative TSN only */
    sctp_sack_done(end);
  }
  packet_send(end, packet);
}

static void take_cookie_ack(struct endpoint *end, struct packet *packet) {
  if (!end->owe_cookie_ack) return;
  end->owe_cookie_ack = false;
  add_control(end, packet, SCTP_COOKIE_ACK);
}

void sctp_send_owed(struct endpoint *end) {
  struct packet *packet = packet_new(end, end->in.path);
  take_cookie_ack(end, packet);
  if (end->in.due == SACK_AT_ONCE) add_sack(end, packet);
  packet_send(end, packet);
}

/* ---- DATA into packets ---- */

int64_t sctp_flight_bytes(const struct endpoint *end, const struct chunk *chunk) {
  return chunk->bytes + (end->config->congestion->payload_only ? 0 : DATA_HEADER);
}

void sctp_mark(struct endpoint *end, struct chunk *chunk) {
  end->paths[chunk->path].flight -= sctp_flight_bytes(end, chunk);
  chunk->marked = true;
  chunk->missing = 0;
  end->out.marked++;
}

static int64_t next_bytes(const struct endpoint *end) { return min_i64(end->out.queue->unsent, sctp_fragment_bytes(end->config)); }

static void ring_grow(struct endpoint *end) {
  struct sender *out = &end->out;
  struct chunk *old = out->ring;
  int64_t old_capacity = out->ring_capacity;
  out->ring_capacity = 2 * old_capacity;
  out->ring = sim_alloc(end->sctp->sim, (size_t)out->ring_capacity * sizeof *out->ring);
  for (int64_t tsn = out->acked + 1; tsn < out->next; tsn++) *chunk_of(end, tsn) = old[tsn & (old_capacity - 1)];
}

/* Gives the next piece of the first message in the queue a TSN. */
static int64_t cut_chunk(struct endpoint *end, int path) {
  struct sender *out = &end->out;
  struct message *message = out->queue;
  int32_t bytes = (int32_t)next_bytes(end);
  if (out->next - out->acked > out->ring_capacity) ring_grow(end);
  int64_t tsn = out->next++;
  *chunk_of(end, tsn) = (struct chunk){.message = message, .bytes = bytes, .path = (uint8_t)path};
  message->unsent -= bytes;
  out->unsent_bytes -= padded(DATA_HEADER + bytes);
  out->peer_window = max_i64(0, out->peer_window - bytes);
  if (message->unsent == 0) {
    out->queue = message->next;
    if (!out->queue) out->queue_tail = &out->queue;
    message->next = NULL;
  }
  return tsn;
}

static void put_chunk(struct endpoint *end, struct packet *packet, int64_t tsn) {
  struct chunk *chunk = chunk_of(end, tsn);
  struct path *path = &end->paths[chunk->path];
  if (chunk->times_sent < UINT16_MAX) chunk->times_sent++;
  chunk->sent_at = sctp_now(end);
  path->flight += sctp_flight_bytes(end, chunk);
  path->last_data = sctp_now(end);
  if (chunk->marked) {
    chunk->marked = false;
    end->out.marked--;
    end->counters.retransmissions++;
    for (int i = 0; i < end->config->paths; i++)
      if (end->paths[i].timed_tsn == tsn) end->paths[i].timing = false; /* Karn: rule C5 */
  } else {
    end->counters.data_chunks++;
    path->last_new = sctp_now(end);
    if (!path->timing) {
      path->timing = true;
      path->timed_tsn = tsn;
    }
  }
  add_tsn(end, packet, tsn);
}

static int64_t first_marked(const struct endpoint *end) {
  if (end->out.marked == 0) return 0;
  int64_t tsn = end->out.acked + 1;
  while (!chunk_of(end, tsn)->marked) tsn++;
  return tsn;
}

/* Marked chunks of the packet's path, lowest TSN first, until one does not fit or flight has reached limit. */
static void fill_marked(struct endpoint *end, struct packet *packet, int64_t limit) {
  int path = packet->info.path;
  int left = end->out.marked;
  for (int64_t tsn = end->out.acked + 1; left > 0; tsn++) {
    struct chunk *chunk = chunk_of(end, tsn);
    if (!chunk->marked) continue;
    left--;
    if (chunk->path != path) continue;
    if (end->paths[path].flight >= limit || padded(DATA_HEADER + chunk->bytes) > room_in(end, packet)) return;
    put_chunk(end, packet, tsn);
  }
}

/* Rules A and B of section 6.1. With nothing under way a chunk may probe a closed window. */
static bool may_send_new(const struct endpoint *end, int path, int64_t limit) {
  const struct sender *out = &end->out;
  return out->queue && end->paths[path].flight < limit && (out->peer_window >= next_bytes(end) || all_acked(end));
}

static void fill_new(struct endpoint *end, struct packet *packet, int64_t limit) {
  int path = packet->info.path;
  while (may_send_new(end, path, limit) && padded(DATA_HEADER + next_bytes(end)) <= room_in(end, packet)) put_chunk(end, packet, cut_chunk(end, path));
}

/* ---- output ---- */

/* Section 7.2.1: an idle path's window falls to 4 units, by half in each RTO. */
static void decay_idle_window(struct endpoint *end, struct path *path) {
  int64_t least = 4 * sctp_unit(end->config);
  if (!end->out.queue || path->flight > 0 || path->cwnd <= least || path->last_data == 0) return;
  int64_t periods = (sctp_now(end) - path->last_data) / path->rto;
  if (periods > 0) path->ssthresh = path->cwnd;
  for (; periods > 0 && path->cwnd > least; periods--) path->cwnd = max_i64(path->cwnd / 2, least);
}

/* Rule D of section 6.1: cwnd, for this call no more than Max.Burst packets above what is in flight. */
static int64_t flight_limit(struct endpoint *end, struct path *path) {
  int max_burst = end->config->congestion->max_burst;
  decay_idle_window(end, path);
  return max_burst > 0 ? min_i64(path->cwnd, path->flight + max_burst * sctp_unit(end->config)) : path->cwnd;
}

/* Nagle: a message that would go in a packet not full waits while something is unacknowledged. Decided once for each message
 * handed over, as measured: what goes goes altogether, and a SACK lets go all that waited. */
static bool nagle_holds(const struct endpoint *end) {
  return !end->config->nodelay && !all_acked(end) && end->out.unsent_bytes < sctp_segment_bytes(end->config);
}

void sctp_output_message(struct endpoint *end) {
  if (!nagle_holds(end)) sctp_output(end);
}

static bool sends_data(const struct endpoint *end) { return end->state == ESTABLISHED || end->state == SHUTDOWN_PENDING || end->state == SHUTDOWN_RECEIVED; }

/* What must or may travel with DATA; data_bytes: of the first DATA chunk. */
static void add_riders(struct endpoint *end, struct packet *packet, int64_t data_bytes) {
  int64_t needed = padded(DATA_HEADER + data_bytes);
  if (end->owe_cookie_ack && needed + sctp_chunk_bytes(end->config, SCTP_COOKIE_ACK) > room_in(end, packet)) sctp_send_owed(end);
  take_cookie_ack(end, packet);
  int64_t sack = SACK_FIXED + SACK_ENTRY * (int64_t)(end->in.gap_count + end->in.duplicates);
  if (end->in.due == SACK_DELAYED && needed + sack <= room_in(end, packet)) add_sack(end, packet);
}

void sctp_output(struct endpoint *end) {
  if (!sends_data(end)) return;
  int data_path = sctp_path_for_data(end);
  int64_t limit[SCTP_PATHS] = {0};
  for (int i = 0; i < end->config->paths; i++) limit[i] = flight_limit(end, &end->paths[i]);
  for (;;) {
    int64_t marked = first_marked(end);
    int path = marked ? chunk_of(end, marked)->path : data_path;
    bool go = marked ? end->paths[path].flight < limit[path] : may_send_new(end, path, limit[path]);
    if (!go) return;
    struct packet *packet = packet_new(end, path);
    add_riders(end, packet, marked ? chunk_of(end, marked)->bytes : next_bytes(end));
    fill_marked(end, packet, limit[path]);
    if (path == data_path) fill_new(end, packet, limit[path]);
    packet_send(end, packet);
    sctp_t3_start(end, path);
  }
}

void sctp_retransmit(struct endpoint *end, bool fast) {
  int64_t first = first_marked(end);
  if (first == 0) return;
  int path = chunk_of(end, first)->path;
  struct packet *packet = packet_new(end, path);
  add_riders(end, packet, chunk_of(end, first)->bytes);
  fill_marked(end, packet, INT64_MAX);
  if (fast) {
    end->counters.fast_retransmits += packet->info.data_chunks;
    if (first == end->out.acked + 1) sctp_t3_stop(end, path); /* section 7.2.4 (4): starts anew */
  }
  packet_send(end, packet);
  sctp_t3_start(end, path);
}

/* COOKIE-ECHO with what DATA fits beside it; nothing else may be sent before COOKIE-ACK (section 5.1). */
void sctp_send_cookie_echo(struct endpoint *end) {
  int64_t limit = end->paths[0].cwnd;
  for (int64_t tsn = end->out.acked + 1; tsn < end->out.next; tsn++)
    if (!chunk_of(end, tsn)->marked) sctp_mark(end, chunk_of(end, tsn));
  struct packet *packet = packet_new(end, 0);
  add_control(end, packet, SCTP_COOKIE_ECHO);
  fill_marked(end, packet, limit);
  fill_new(end, packet, limit);
  packet_send(end, packet);
}

/* ---- T3-rtx ---- */

static void t3_expired(struct sim *sim, void *arg) {
  (void)sim;
  struct path *path = arg;
  struct endpoint *end = path->end;
  struct sender *out = &end->out;
  int index = (int)(path - end->paths);
  path->t3_running = false;
  end->counters.timeouts++;
  /* Section 6.1 A: window probes of a peer that goes on answering are no errors. */
  bool probing = out->window_closed && out->heard_at >= path->last_data;
  if (!probing && !sctp_path_error(end, index)) return;
  int64_t unit = sctp_unit(end->config);
  path->ssthresh = max_i64(path->cwnd / 2, end->config->congestion->ssthresh_units * unit); /* section 7.2.3 */
  path->cwnd = unit;
  path->partial_acked = 0;
  out->recovery = false;
  sctp_rto_back_off(end, path);
  for (int64_t tsn = out->acked + 1; tsn < out->next; tsn++) {
    struct chunk *chunk = chunk_of(end, tsn);
    if (chunk->path != index || chunk->acked) continue;
    if (!chunk->marked) sctp_mark(end, chunk);
    chunk->path = (uint8_t)sctp_path_alternate(end, index);
  }
  sctp_retransmit(end, false);
}

void sctp_t3_start(struct endpoint *end, int index) {
  struct path *path = &end->paths[index];
  if (path->t3_running) return;
  path->t3 = event_at(end->sctp->sim, sctp_now(end) + path->rto, t3_expired, path);
  path->t3_running = true;
}

void sctp_t3_stop(struct endpoint *end, int index) {
  struct path *path = &end->paths[index];
  if (path->t3_running) event_cancel(end->sctp->sim, path->t3);
  path->t3_running = false;
}
