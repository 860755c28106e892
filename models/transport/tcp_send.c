/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What leaves: writes cut into segments, windows, Nagle, retransmissions. */
#include "models/transport/tcp_internal.h"

#include <assert.h>
#include <string.h>

enum { PART_DATA, PART_ACK, PART_SYN, PART_FIN };

/* ---- writes ---------------------------------------------------------------------------------------------------- */

static void push_gathered(struct sim *sim, void *arg) {
  struct tcp_end *end = arg;
  (void)sim;
  end->gathering = false;
  tcp_push(end);
}

void tcp_write(struct tcp_end *end, int64_t bytes, const struct trail *trail) {
  end->written += bytes;
  stream_writes_add(end->tcp->sim, &end->writes, end->written, trail);
  if (!end->config->behaviour->gathers)
    tcp_push(end);
  else if (!end->gathering) {
    end->gathering = true;
    event_at(end->tcp->sim, tcp_now(end) + 1, push_gathered, end);
  }
}

/* The trail of the write that the byte before `offset` is of, at now. */
static void trail_of(const struct tcp_end *end, int64_t offset, struct trail *trail) {
  const struct trail *written = stream_writes_find(&end->writes, offset);
  *trail = written ? *written : end->chain;
  trail_advance(trail, PART_TRANSPORT_STALL, tcp_now(end));
}

/* ---- segments -------------------------------------------------------------------------------------------------- */

static struct segment *append(struct tcp_end *end) {
  if (end->count == end->capacity) {
    struct sim *sim = end->tcp->sim;
    int capacity = end->capacity ? 2 * end->capacity : 32;
    struct segment *ring = sim_take(sim, (size_t)capacity * sizeof *ring);
    for (int i = 0; i < end->count; i++) ring[i] = *tcp_segment(end, i);
    if (end->capacity) sim_release(sim, end->ring, (size_t)end->capacity * sizeof *ring);
    end->ring = ring;
    end->first = 0;
    end->capacity = capacity;
  }
  return tcp_segment(end, end->count++);
}

static void transmit(struct tcp_end *end, struct segment *segment) {
  struct tcp_packet *packet = tcp_packet_new(end);
  packet->start = segment->start;
  packet->bytes = segment->bytes;
  packet->fin = segment->fin;
  tcp_data_sent(end);
  tcp_fill_ack(end, packet);
  struct trail trail;
  trail_of(end, segment->start + segment->bytes, &trail);
  segment->sent_at = end->last_sent = tcp_now(end);
  int attempt = segment->sends++;
  if (segment->bytes > 0) end->counters.data_segments++;
  int64_t number = end->config->bursts && attempt == 0 ? end->burst_start : segment->start;
  tcp_transmit(end, packet, segment->bytes > 0 ? PART_DATA : PART_FIN, (uint32_t)number, attempt, &trail);
}

/* Linux, tcp_tso_autosize: what is sent in about a millisecond at the pacing rate, twice the window in a round trip; 2 segments at least. */
static int burst_segments(const struct tcp_end *end) {
  enum { LEAST = 2, MOST = 44, MS_NS = 1000000 };
  if (!end->rtt.measured || end->rtt.srtt == 0) return MOST;
  return (int)tcp_min(tcp_max(2 * (int64_t)end->window.cwnd * MS_NS / end->rtt.srtt, LEAST), MOST);
}

static void send_new(struct tcp_end *end, int bytes) {
  if (end->burst_left == 0) {
    end->burst_start = end->next;
    end->burst_left = burst_segments(end);
  }
  end->burst_left--;
  struct segment *segment = append(end);
  bool fin = end->closing && end->next + bytes == end->written;
  *segment = (struct segment){.start = end->next, .bytes = bytes, .fin = fin};
  end->next += bytes + fin;
  end->fin_sent |= fin;
  end->counters.payload_bytes += bytes;
  if (bytes < end->config->segment_bytes) end->short_end = end->next;
  transmit(end, segment);
}

/* Bytes of the next new segment, a FIN may be among them; -1: there is nothing, or the receiver's window is full. */
static int next_bytes(const struct tcp_end *end) {
  int64_t unsent = end->written - end->next, admitted = end->una + end->peer_window - end->next;
  if (end->fin_sent || (unsent == 0 && !end->closing) || admitted <= 0) return -1;
  /* RFC 9293 section 3.8.6.2.1: no short segment because of the window, while an acknowledgement will open it. */
  if (admitted < unsent && admitted < end->config->segment_bytes && end->count > 0) return -1;
  return (int)tcp_min(tcp_min(unsent, admitted), end->config->segment_bytes);
}

/* Whether the congestion window has room for the next segment. */
static bool window_admits(const struct tcp_end *end, int bytes) {
  int free = end->window.cwnd - tcp_in_flight(end);
  if (!end->config->behaviour->counts_bytes) return free > 0;
  const int64_t full = end->config->segment_bytes, short_by = end->count * full - (end->next - end->una);
  return free * full + short_by >= bytes;
}

bool tcp_has_unsent(const struct tcp_end *end) { return next_bytes(end) >= 0; }

/* RFC 9293 section 3.7.4. */
static bool nagle_holds(const struct tcp_end *end, int bytes) {
  if (end->config->nodelay || end->closing || bytes == end->config->segment_bytes || end->count == 0) return false;
  return !end->config->behaviour->minshall || end->short_end > end->una;
}

void tcp_push(struct tcp_end *end) {
  if (end->state != TCP_ESTABLISHED) return;
  bool was_idle = end->count == 0, sent = false;
  end->burst_left = 0;
  if (was_idle) tcp_window_idle(end);
  for (int bytes; (bytes = next_bytes(end)) >= 0; sent = true) {
    if (!window_admits(end, bytes) || nagle_holds(end, bytes)) break;
    send_new(end, bytes);
    end->window.sent++;
  }
  bool limited = !window_admits(end, end->config->segment_bytes);
  if (sent || limited) tcp_window_used(end, limited);
  if (sent) tcp_timer_after_send(end, was_idle);
}

bool tcp_send_probe(struct tcp_end *end) {
  int bytes = next_bytes(end);
  if (bytes < 0) return false;
  send_new(end, bytes);
  return true;
}

/* ---- again ----------------------------------------------------------------------------------------------------- */

void tcp_repeat(struct tcp_end *end, struct segment *segment, bool counted) {
  if (counted && !segment->out) {
    segment->out = true;
    end->out++;
  }
  if (end->repeat_at < 0) end->repeat_at = tcp_now(end);
  if (counted) end->undo_repeats = (int)tcp_max(end->undo_repeats, 0) + 1;
  end->counters.retransmissions++;
  transmit(end, segment);
}

void tcp_repeat_lost(struct tcp_end *end) {
  bool head = false;
  for (int i = 0; i < end->count && end->out < end->lost; i++) {
    struct segment *segment = tcp_segment(end, i);
    if (!segment->lost || segment->out || segment->sacked) continue;
    if (tcp_in_flight(end) >= end->window.cwnd) break;
    tcp_repeat(end, segment, true);
    end->window.sent++;
    head |= i == 0;
  }
  if (head && end->timer_kind != TIMER_REORDER) tcp_timer_set(end, TIMER_RETRANSMIT, end->rto);
}

/* ---- acknowledgements ------------------------------------------------------------------------------------------ */

void tcp_send_ack(struct tcp_end *end, bool duplicate) {
  struct receiver *in = &end->in;
  int repeats = in->acked == in->next ? in->repeats + 1 : 0;
  struct tcp_packet *packet = tcp_packet_new(end);
  packet->start = end->next;
  packet->duplicate = duplicate;
  tcp_fill_ack(end, packet);
  in->repeats = repeats;
  struct trail trail = end->chain; /* an acknowledgement may be what completes the set-up */
  trail_advance(&trail, PART_TRANSPORT_STALL, tcp_now(end));
  tcp_transmit(end, packet, PART_ACK, (uint32_t)in->next, repeats, &trail);
}

void tcp_send_syn(struct tcp_end *end) {
  struct tcp_packet *packet = tcp_packet_new(end);
  packet->syn = true;
  packet->window = end->in.window;
  if (end->state == TCP_SYN_RECEIVED) {
    packet->ack = true;
    packet->echo = end->in.echo;
  }
  trail_advance(&end->chain, PART_TRANSPORT_STALL, tcp_now(end));
  int attempt = end->syn_sends++;
  if (attempt > 0) end->counters.retransmissions++;
  tcp_transmit(end, packet, PART_SYN, 0, attempt, &end->chain);
}
