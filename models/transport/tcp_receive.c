/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The receiving half: what came in above a gap, when to acknowledge, selective acknowledgements. */
#include "models/transport/tcp_internal.h"

#include <string.h>

#define MS INT64_C(1000000)

enum { QUICK_ACKS = 16 }; /* Linux: TCP_MAX_QUICKACKS */

/* ---- what came in above a gap ---------------------------------------------------------------------------------- */

static void grow(struct tcp_end *end) {
  struct receiver *in = &end->in;
  struct sim *sim = end->tcp->sim;
  int capacity = in->above_capacity ? 2 * in->above_capacity : 8;
  struct block *above = sim_take(sim, (size_t)capacity * sizeof *above);
  uint64_t *age = sim_take(sim, (size_t)capacity * sizeof *age);
  if (in->above_capacity) {
    memcpy(above, in->above, (size_t)in->above_count * sizeof *above);
    memcpy(age, in->age, (size_t)in->above_count * sizeof *age);
    sim_release(sim, in->above, (size_t)in->above_capacity * sizeof *above);
    sim_release(sim, in->age, (size_t)in->above_capacity * sizeof *age);
  }
  in->above = above;
  in->age = age;
  in->above_capacity = capacity;
}

static void take_out(struct receiver *in, int from, int count) {
  memmove(in->above + from, in->above + from + count, (size_t)(in->above_count - from - count) * sizeof *in->above);
  memmove(in->age + from, in->age + from + count, (size_t)(in->above_count - from - count) * sizeof *in->age);
  in->above_count -= count;
}

/* True when something of it is new. */
static bool insert(struct tcp_end *end, struct block block) {
  struct receiver *in = &end->in;
  if (in->above_count == in->above_capacity) grow(end);
  int at = 0;
  while (at < in->above_count && in->above[at].end < block.start) at++;
  int merged = 0;
  for (; at + merged < in->above_count && in->above[at + merged].start <= block.end; merged++) {
    const struct block *old = &in->above[at + merged];
    if (old->start <= block.start && old->end >= block.end) return false;
    block = (struct block){tcp_min(old->start, block.start), tcp_max(old->end, block.end)};
  }
  if (merged == 0) {
    memmove(in->above + at + 1, in->above + at, (size_t)(in->above_count - at) * sizeof *in->above);
    memmove(in->age + at + 1, in->age + at, (size_t)(in->above_count - at) * sizeof *in->age);
    in->above_count++;
  } else {
    take_out(in, at + 1, merged - 1);
  }
  in->above[at] = block;
  in->age[at] = ++in->ages;
  return true;
}

/* ---- acknowledgements ------------------------------------------------------------------------------------------ */

/* The blocks that grew last (RFC 2018 section 4). */
static int newest_blocks(const struct receiver *in, struct block blocks[SACK_BLOCKS]) {
  int count = 0;
  uint64_t below = UINT64_MAX;
  while (count < SACK_BLOCKS) {
    int best = -1;
    for (int i = 0; i < in->above_count; i++)
      if (in->age[i] < below && (best < 0 || in->age[i] > in->age[best])) best = i;
    if (best < 0) break;
    below = in->age[best];
    blocks[count++] = in->above[best];
  }
  return count;
}

void tcp_fill_ack(struct tcp_end *end, struct tcp_packet *packet) {
  struct receiver *in = &end->in;
  packet->ack = true;
  packet->window = in->window;
  packet->acked = in->next;
  packet->echo = in->echo;
  packet->block_count = in->above_count > 0 ? newest_blocks(in, packet->blocks) : 0;
  if (in->acked != in->next) in->repeats = 0;
  in->acked = in->next;
  in->unacked = 0;
  if (in->quick > 0) in->quick--;
  in->gathering = false;
  tcp_delay_stop(end);
}

void tcp_ack_now(struct tcp_end *end, bool duplicate) { tcp_send_ack(end, duplicate); }

void tcp_ack_expired(struct tcp_end *end) {
  if (!end->in.gathering) end->in.talks_back = false;
  if (end->state == TCP_ESTABLISHED && end->in.unacked > 0) tcp_ack_now(end, false);
}

/* An end that answers soon after it heard something acknowledges with its answers. */
void tcp_data_sent(struct tcp_end *end) {
  struct receiver *in = &end->in;
  if (in->data_seen && tcp_now(end) - in->last_data < end->config->ack_delay) in->talks_back = true;
}

static void go_quick(struct receiver *in) {
  in->quick = QUICK_ACKS;
  in->talks_back = false;
}

static void note_data(struct tcp_end *end) {
  struct receiver *in = &end->in;
  if (end->config->behaviour->quick_start) {
    if (!in->data_seen || tcp_now(end) - in->last_data > end->rto) in->quick = QUICK_ACKS;
  }
  in->data_seen = true;
  in->last_data = tcp_now(end);
}

/* Twice what came in within a round trip, and 16 segments, is what a sender in slow start wants next (Linux: tcp_rcv_space_adjust). */
static void open_window(struct tcp_end *end) {
  enum { MORE_SEGMENTS = 16 };
  struct receiver *in = &end->in;
  if (in->window >= end->config->receive_window || tcp_now(end) - in->measured_at < end->rtt.srtt) return;
  int64_t wanted = 2 * (in->next - in->measured_from) + MORE_SEGMENTS * end->config->segment_bytes;
  in->window = tcp_min(tcp_max(in->window, wanted), end->config->receive_window);
  in->measured_from = in->next;
  in->measured_at = tcp_now(end);
}

static void acknowledge(struct tcp_end *end, int bytes, bool filled) {
  struct receiver *in = &end->in;
  const struct tcp_behaviour *behaviour = end->config->behaviour;
  in->unacked++;
  bool quick = in->quick > 0 && !in->talks_back;
  /* An application that reads a short segment of a sender it does not answer has it acknowledged then. */
  bool read = behaviour->quick_start && !in->talks_back && bytes < end->config->segment_bytes;
  bool enough = behaviour->quick_start ? in->next - in->acked > end->config->segment_bytes : in->unacked >= end->config->ack_every;
  if (filled || in->above_count > 0 || end->config->ack_delay == 0)
    tcp_ack_now(end, false);
  else if (quick || read || enough) {
    if (end->config->offload == 0)
      tcp_ack_now(end, false);
    else if (!in->gathering) {
      in->gathering = true;
      tcp_delay_set(end, end->config->offload, true);
    }
  } else if (in->delay.deadline == SIMTIME_NEVER)
    tcp_delay_set(end, end->config->ack_delay, false);
}

/* ---- data ------------------------------------------------------------------------------------------------------ */

static void pass_on(struct tcp_end *end, const struct trail *trail) {
  struct receiver *in = &end->in;
  bool finished = in->fin_at >= 0 && in->next > in->fin_at;
  int64_t bytes = in->next - finished;
  if (end->observer.arrived) end->observer.arrived(end->observer.arg, bytes, trail);
  if (!finished || in->ended || end->state != TCP_ESTABLISHED) return;
  in->ended = true;
  if (end->observer.closed) end->observer.closed(end->observer.arg, STREAM_FINISHED, trail);
}

void tcp_data_input(struct tcp_end *end, const struct tcp_packet *packet, const struct trail *trail) {
  struct receiver *in = &end->in;
  const struct block block = {packet->start, packet->start + packet->bytes + packet->fin};
  if (block.start == block.end) return;
  if (packet->fin) in->fin_at = packet->start + packet->bytes;
  if (block.end <= in->next || (block.start > in->next && !insert(end, block))) {
    if (end->config->behaviour->quick_start) go_quick(in);
    tcp_ack_now(end, true);
    return;
  }
  note_data(end);
  if (block.start > in->next) {
    if (end->config->behaviour->quick_start) go_quick(in);
    tcp_ack_now(end, false);
    return;
  }
  bool gap = in->above_count > 0;
  in->next = block.end;
  for (; in->above_count > 0 && in->above[0].start <= in->next; take_out(in, 0, 1)) in->next = tcp_max(in->next, in->above[0].end);
  open_window(end);
  /* The kernel acknowledges before the application wakes. */
  acknowledge(end, packet->bytes, gap || packet->fin);
  pass_on(end, trail);
}
