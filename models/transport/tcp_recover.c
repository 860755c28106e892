/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which segments are lost, and what the sender does about it: RACK-TLP (RFC 8985) or three duplicate acknowledgements, fast recovery,
 * timeouts with F-RTO (RFC 5682), reductions taken back when a timestamp shows that nothing was lost (RFC 3522, 4015). */
#include "models/transport/tcp_internal.h"

#define MS INT64_C(1000000)

/* ---- which segments are lost ----------------------------------------------------------------------------------- */

static bool sent_after(simtime a, int64_t a_end, simtime b, int64_t b_end) { return a > b || (a == b && a_end > b_end); }

void tcp_rack_advance(struct tcp_end *end, const struct segment *segment) {
  simtime rtt = tcp_now(end) - segment->sent_at;
  /* Too soon for the repetition: it was the first copy. */
  if (segment->sends > 1 && end->rtt.measured && rtt < end->rtt.min) return;
  end->rack_moved = true;
  end->rack_rtt = rtt;
  if (!sent_after(segment->sent_at, segment_end(segment), end->rack_sent, end->rack_end)) return;
  end->rack_sent = segment->sent_at;
  end->rack_end = segment_end(segment);
}

static void mark_lost(struct tcp_end *end, struct segment *segment) {
  if (segment->out) {
    segment->out = false;
    end->out--;
  }
  if (!segment->lost) {
    segment->lost = true;
    end->lost++;
  }
}

static simtime reordering_window(const struct tcp_end *end) {
  if (!end->reordered && (end->recovery >= RECOVERY_FAST || end->sacked >= DUPLICATES)) return 0;
  return tcp_min(end->rtt.min / 4, end->rtt.srtt);
}

static simtime rack_left(const struct tcp_end *end, const struct segment *segment, simtime window) {
  return end->rack_rtt + window - (tcp_now(end) - segment->sent_at);
}

/* Returns how long until the next one may be lost; 0: none. */
static simtime detect_by_time(struct tcp_end *end, struct ack *ack) {
  simtime window = reordering_window(end), wait = 0;
  for (int i = 0; i < end->count; i++) {
    struct segment *segment = tcp_segment(end, i);
    if (segment->sacked || (segment->lost && !segment->out)) continue;
    if (!sent_after(end->rack_sent, end->rack_end, segment->sent_at, segment_end(segment))) continue;
    simtime left = rack_left(end, segment, window);
    if (left > 0) {
      wait = tcp_max(wait, left);
      continue;
    }
    ack->repeat_lost |= segment->out;
    ack->lost++;
    mark_lost(end, segment);
  }
  return wait;
}

/* RFC 6675: three segments above it have arrived. */
static void detect_by_count(struct tcp_end *end, struct ack *ack) {
  int above = end->sacked;
  for (int i = 0; i < end->count && above >= DUPLICATES; i++) {
    struct segment *segment = tcp_segment(end, i);
    if (segment->sacked)
      above--;
    else if (!segment->lost) {
      ack->lost++;
      mark_lost(end, segment);
    }
  }
}

enum { TIMEOUT_LEAST_MS = 2 };

static void detect(struct tcp_end *end, struct ack *ack) {
  if (end->count == 0) return;
  if (!end->config->behaviour->rack) {
    detect_by_count(end, ack);
    return;
  }
  if (!end->rack_moved) return;
  end->rack_moved = false;
  simtime wait = detect_by_time(end, ack);
  if (wait == 0) return;
  ack->set_timer = false;
  tcp_timer_set(end, TIMER_REORDER, wait + TIMEOUT_LEAST_MS * MS);
}

/* ---- states ---------------------------------------------------------------------------------------------------- */

static void remember(struct tcp_end *end) {
  end->undo_cwnd = end->window.cwnd;
  end->undo_ssthresh = end->window.ssthresh;
  end->undo_repeats = end->out > 0 ? end->out : -1;
  end->repeat_at = -1;
}

static void keep_open(struct tcp_end *end) {
  enum recovery state = end->sacked + end->lost + end->out > 0 ? RECOVERY_DISORDER : RECOVERY_OPEN;
  if (state == end->recovery) return;
  end->recovery = state;
  end->recovery_end = end->next;
}

static void enter_fast(struct tcp_end *end) {
  if (end->recovery != RECOVERY_CWR) {
    remember(end);
    tcp_window_begin_reduction(end);
  }
  end->recovery_end = end->next;
  end->probe_end = -1;
  end->recovery = RECOVERY_FAST;
}

/* What was sent again arrived twice, or the acknowledgement was caused by what was sent before it. */
static bool was_needless(const struct tcp_end *end, const struct ack *ack) {
  if (end->undo_cwnd == 0) return false;
  return end->undo_repeats == 0 || (end->repeat_at >= 0 && ack->echo >= 0 && ack->echo < end->repeat_at);
}

static void take_back(struct tcp_end *end, bool all_arrived) {
  if (all_arrived)
    for (int i = 0; i < end->count; i++) {
      struct segment *segment = tcp_segment(end, i);
      end->lost -= segment->lost;
      segment->lost = false;
    }
  end->window.cwnd = (int)tcp_max(end->window.cwnd, end->undo_cwnd);
  end->window.ssthresh = (int)tcp_max(end->window.ssthresh, end->undo_ssthresh);
  end->undo_cwnd = 0;
}

static bool try_undo(struct tcp_end *end, const struct ack *ack, bool known) {
  if (!known && !was_needless(end, ack)) return false;
  take_back(end, true);
  end->timeouts_in_row = 0;
  end->recovery = RECOVERY_OPEN;
  end->frto = false;
  return true;
}

void tcp_probe_acked(struct tcp_end *end, const struct ack *ack) {
  if (end->una < end->probe_end) return;
  bool arrived_twice = !end->probe_repeats || ack->duplicate || (!ack->advanced && !ack->sacked_new);
  if (!arrived_twice && end->una == end->probe_end) return;
  if (!arrived_twice) {
    /* The probe repaired a loss that nothing else showed. */
    remember(end);
    tcp_window_begin_reduction(end);
    end->recovery = RECOVERY_CWR;
    tcp_window_end_reduction(end);
    keep_open(end);
  }
  end->probe_end = -1;
}

static enum tcp_repeat in_loss(struct tcp_end *end, const struct ack *ack) {
  bool recovered = end->una >= end->recovery_end;
  if (ack->advanced && try_undo(end, ack, false)) return REPEAT_NOTHING;
  if (end->frto) {
    if (ack->original && try_undo(end, ack, true)) return REPEAT_NOTHING;
    if (end->next > end->recovery_end) {
      if (ack->sacked_new || !ack->advanced) end->frto = false;
    } else if (ack->advanced && !recovered) {
      end->recovery_end = end->next;
      if (tcp_has_unsent(end)) return REPEAT_TRY_NEW;
      end->frto = false;
    }
  }
  if (!recovered) return REPEAT_LOST;
  if (was_needless(end, ack)) take_back(end, false);
  end->recovery = RECOVERY_OPEN;
  end->frto = false;
  end->undo_cwnd = 0;
  return REPEAT_NOTHING;
}

static bool time_to_recover(const struct tcp_end *end) { return end->lost > 0 || (!end->config->behaviour->rack && end->duplicates >= DUPLICATES); }

static enum tcp_repeat recover_fast(struct tcp_end *end, struct ack *ack) {
  enter_fast(end);
  /* Three duplicates without a selected segment say only that the first is missing. */
  if (end->lost == 0 && end->count > 0) {
    ack->lost++;
    mark_lost(end, tcp_segment(end, 0));
  }
  return REPEAT_LOST;
}

enum tcp_repeat tcp_recover(struct tcp_end *end, struct ack *ack) {
  if (end->recovery != RECOVERY_OPEN && end->una >= end->recovery_end) {
    if (end->recovery == RECOVERY_CWR && end->una > end->recovery_end) {
      tcp_window_end_reduction(end);
      end->recovery = RECOVERY_OPEN;
    } else if (end->recovery == RECOVERY_FAST) {
      if (was_needless(end, ack)) take_back(end, false);
      tcp_window_end_reduction(end);
      end->recovery = RECOVERY_OPEN;
      end->undo_cwnd = 0;
    }
  }
  switch (end->recovery) {
  case RECOVERY_FAST:
    if (end->undo_repeats == 0 && was_needless(end, ack)) {
      take_back(end, false);
      keep_open(end);
    }
    detect(end, ack);
    if (end->recovery == RECOVERY_FAST) return REPEAT_LOST;
    break;
  case RECOVERY_LOSS: {
    enum tcp_repeat repeat = in_loss(end, ack);
    detect(end, ack);
    if (end->recovery != RECOVERY_OPEN && !ack->repeat_lost) return repeat;
    break;
  }
  default:
    detect(end, ack);
    break;
  }
  if (!time_to_recover(end)) {
    if (end->recovery != RECOVERY_CWR) keep_open(end);
    return REPEAT_NOTHING;
  }
  return recover_fast(end, ack);
}

void tcp_reorder_timeout(struct tcp_end *end) {
  struct ack ack = {0};
  int before = tcp_in_flight(end);
  detect_by_time(end, &ack);
  end->timer_kind = TIMER_REORDER;
  if (tcp_in_flight(end) != before) {
    if (end->recovery != RECOVERY_FAST) {
      enter_fast(end);
      struct ack one = {.delivered = 1, .lost = 1};
      tcp_window_reduce(end, &one);
    }
    tcp_repeat_lost(end);
  }
  if (end->timer_kind != TIMER_RETRANSMIT) tcp_timer_restart(end);
}

void tcp_enter_loss(struct tcp_end *end) {
  bool fresh = end->recovery < RECOVERY_FAST, first = end->timeouts_in_row == 0;
  for (int i = 0; i < end->count; i++) {
    struct segment *segment = tcp_segment(end, i);
    if (segment->sacked) continue;
    if (i > 0 && end->config->behaviour->rack && rack_left(end, segment, 0) > 0) continue;
    mark_lost(end, segment);
  }
  if (end->recovery <= RECOVERY_DISORDER || end->recovery_end <= end->una || (end->recovery == RECOVERY_LOSS && first)) {
    remember(end);
    end->window.ssthresh = tcp_window_reduced(end);
  }
  tcp_window_lost_all(end);
  end->recovery = RECOVERY_LOSS;
  end->recovery_end = end->next;
  end->probe_end = -1;
  end->frto = end->config->behaviour->rack && (fresh || !first);
}
