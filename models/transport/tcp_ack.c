/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an acknowledgement does at the sender, in the order Linux does it: mark, forget, judge losses, set the timer, move the window,
 * send again, send on. */
#include "models/transport/tcp_internal.h"

/* Send times of what arrived: RTT samples. -1: none. */
struct sample {
  simtime oldest, newest, selective;
  bool repeated; /* a segment that was sent more than once was acknowledged */
};

static void leave_marks(struct tcp_end *end, struct segment *segment) {
  if (segment->lost) end->lost--;
  if (segment->out) end->out--;
  segment->lost = segment->out = false;
}

/* Bytes that were sent once, before the losses. */
static bool is_original(const struct tcp_end *end, const struct segment *segment) { return segment->sends == 1 && segment_end(segment) <= end->recovery_end; }

static void select_one(struct tcp_end *end, struct segment *segment, struct ack *ack, struct sample *sample) {
  tcp_rack_advance(end, segment);
  if (segment->sends == 1) sample->selective = segment->sent_at;
  ack->original |= is_original(end, segment);
  if (segment->sends == 1 && segment_end(segment) < ack->highest) end->reordered = true;
  /* A repetition that is out and not given up stays out: what was selected may be the first copy. */
  if (segment->lost || !segment->out) leave_marks(end, segment);
  segment->sacked = true;
  end->sacked++;
  ack->delivered++;
  ack->sacked_new = true;
}

static void select_blocks(struct tcp_end *end, const struct tcp_packet *packet, struct ack *ack, struct sample *sample) {
  for (int i = 0; i < end->count; i++) {
    struct segment *segment = tcp_segment(end, i);
    if (segment->sacked) continue;
    for (int b = 0; b < packet->block_count; b++) {
      if (packet->blocks[b].start > segment->start || packet->blocks[b].end < segment_end(segment)) continue;
      select_one(end, segment, ack, sample);
      break;
    }
  }
  for (int b = 0; b < packet->block_count; b++) end->highest = tcp_max(end->highest, packet->blocks[b].end);
}

static void forget(struct tcp_end *end, struct ack *ack, struct sample *sample) {
  while (end->count > 0 && segment_end(tcp_segment(end, 0)) <= end->una) {
    struct segment *segment = tcp_segment(end, 0);
    ack->set_timer = true;
    if (segment->sends > 1)
      sample->repeated = true;
    else if (!segment->sacked) {
      if (sample->oldest < 0) sample->oldest = segment->sent_at;
      sample->newest = segment->sent_at;
      if (segment_end(segment) < ack->highest) end->reordered = true;
      ack->original |= is_original(end, segment);
    }
    if (segment->sacked) {
      end->sacked--;
    } else {
      tcp_rack_advance(end, segment);
      ack->delivered++;
    }
    leave_marks(end, segment);
    end->first = (end->first + 1) & (end->capacity - 1);
    end->count--;
  }
  stream_writes_forget(&end->writes, end->una);
}

static void take_sample(struct tcp_end *end, const struct ack *ack, const struct sample *sample) {
  simtime now = tcp_now(end), sent = sample->repeated ? -1 : sample->oldest;
  if (sent < 0) sent = sample->selective;
  if (sent < 0 && ack->advanced) sent = ack->echo;
  if (sent < 0) return;
  tcp_rtt_sample(end, now - sent);
  if (sample->newest >= 0 && !sample->repeated) tcp_window_sample(end, now - sample->newest);
}

/* ns-3 counts full segments' worth of bytes. */
static int acknowledged(struct tcp_end *end, const struct ack *ack, int64_t bytes) {
  if (!end->config->behaviour->counts_bytes) return ack->delivered;
  int64_t all = end->window.carried_bytes + bytes;
  end->window.carried_bytes = all % end->config->segment_bytes;
  return (int)(all / end->config->segment_bytes);
}

void tcp_ack_input(struct tcp_end *end, const struct tcp_packet *packet) {
  if (packet->acked < end->una) return;
  struct ack ack = {.advanced = packet->acked > end->una, .duplicate = packet->duplicate, .echo = packet->echo, .highest = end->highest};
  struct sample sample = {-1, -1, -1, false};
  const int before = end->count;
  const int64_t bytes = packet->acked - end->una;
  end->una = packet->acked;
  end->peer_window = packet->window;
  if (ack.advanced) end->timeouts_in_row = end->duplicates = 0;
  if (packet->duplicate && end->undo_repeats > 0) end->undo_repeats--;
  if (packet->block_count > 0) select_blocks(end, packet, &ack, &sample);
  if (before > 0) {
    forget(end, &ack, &sample);
    take_sample(end, &ack, &sample);
    if (end->probe_end >= 0) tcp_probe_acked(end, &ack);
    enum tcp_repeat repeat = REPEAT_NOTHING;
    bool says_nothing = !ack.advanced && packet->bytes == 0 && !packet->fin;
    if (says_nothing && !ack.duplicate) end->duplicates++;
    if (says_nothing || ack.sacked_new || ack.duplicate || end->recovery != RECOVERY_OPEN) repeat = tcp_recover(end, &ack);
    /* ns-3 leaves the timer alone where something was selected too. */
    if (ack.set_timer && (end->config->behaviour->rack || !ack.sacked_new || end->count == 0)) tcp_timer_after_ack(end, true);
    if (end->recovery == RECOVERY_FAST || end->recovery == RECOVERY_CWR)
      tcp_window_reduce(end, &ack);
    else if (ack.advanced)
      tcp_window_grow(end, acknowledged(end, &ack, bytes));
    if (repeat == REPEAT_TRY_NEW) {
      tcp_push(end);
      if (end->next > end->recovery_end) return;
      end->frto = false;
      repeat = REPEAT_LOST;
    }
    if (repeat == REPEAT_LOST) tcp_repeat_lost(end);
  }
  tcp_push(end);
  if (bytes > 0 && end->observer.acknowledged) end->observer.acknowledged(end->observer.arg, end->una);
}
