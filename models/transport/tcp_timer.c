/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Round-trip times, the retransmission timer with its other uses (SYN, tail loss probe, RACK's reordering wait), the delayed
 * acknowledgement's timer. */
#include "models/transport/tcp_internal.h"

#define MS INT64_C(1000000)

/* Linux, include/net/tcp.h: TCP_TIMEOUT_MIN_US. */
enum { TIMEOUT_LEAST_MS = 2 };

static simtime round_up(const struct tcp_end *end, simtime wait) {
  simtime tick = end->config->behaviour->tick;
  return tick > 0 ? (wait + tick - 1) / tick * tick : wait;
}

enum { BUCKETS = 63, COARSER = 8, LEVELS = 4 };

void tcp_timer_init(struct tcp_end *end, const struct draw_key *key) {
  end->timer.deadline = end->timer.armed = end->in.delay.deadline = end->in.delay.armed = SIMTIME_NEVER;
  end->rto = end->config->syn_timeout;
  if (end->config->behaviour->tick == 0) return;
  struct draw_key draw = *key;
  draw.purpose = DRAW_TICK;
  draw.message = 0; /* the host's, whatever the connection */
  draw.fragment = (uint16_t)end->side;
  int64_t grain = 1;
  for (int level = 1; level < LEVELS; level++) grain *= COARSER;
  end->tick_phase = random_under(&draw, grain * end->config->behaviour->tick);
}

/* When a timer that is set now fires. Linux, kernel/time/timer.c: levels of buckets, each 8 times coarser than the one below, used from 63
 * of its predecessor's grains on; a timer never fires early. */
static simtime fires_at(const struct tcp_end *end, simtime wait) {
  const simtime tick = end->config->behaviour->tick;
  if (tick == 0) return tcp_now(end) + wait;
  int64_t ticks = round_up(end, wait) / tick, grain = 1;
  for (int level = 1; level < LEVELS && ticks >= BUCKETS * grain; level++) grain *= COARSER;
  int64_t expires = (tcp_now(end) + end->tick_phase) / tick + ticks;
  return (expires + grain) / grain * grain * tick - end->tick_phase;
}

/* ---- timers that stay armed ------------------------------------------------------------------------------------ */

static void arm(struct tcp_end *end, struct tcp_timer *timer, simtime deadline, event_fn *fn) {
  timer->deadline = deadline;
  if (timer->armed <= deadline) return;
  if (timer->armed != SIMTIME_NEVER) event_cancel(end->tcp->sim, timer->event);
  timer->armed = deadline;
  timer->event = event_at(end->tcp->sim, deadline, fn, end);
}

static void disarm(struct tcp_end *end, struct tcp_timer *timer) {
  if (timer->armed != SIMTIME_NEVER) event_cancel(end->tcp->sim, timer->event);
  timer->armed = timer->deadline = SIMTIME_NEVER;
}

/* True when the deadline has come. */
static bool is_due(struct tcp_end *end, struct tcp_timer *timer, event_fn *fn) {
  simtime deadline = timer->deadline;
  timer->armed = timer->deadline = SIMTIME_NEVER;
  if (deadline <= tcp_now(end)) return true;
  if (deadline != SIMTIME_NEVER) arm(end, timer, deadline, fn);
  return false;
}

/* ---- round-trip times ------------------------------------------------------------------------------------------ */

static void update_deviation(struct tcp_end *end, simtime error) {
  struct rtt *rtt = &end->rtt;
  simtime off = error < 0 ? -error : error;
  simtime step = off - rtt->deviation / 4;
  /* RTTs that fall do not raise the RTO as fast as those that rise (Linux, tcp_rtt_estimator). */
  if (error < 0 && step > 0 && end->config->behaviour->largest_variance) step /= 8;
  rtt->deviation += step;
  if (!end->config->behaviour->largest_variance) {
    rtt->variance = rtt->deviation;
    return;
  }
  if (rtt->deviation > rtt->deviation_max) {
    rtt->deviation_max = rtt->deviation;
    if (rtt->deviation_max > rtt->variance) rtt->variance = rtt->deviation_max;
  }
  if (end->una > rtt->round_end) {
    if (rtt->deviation_max < rtt->variance) rtt->variance -= (rtt->variance - rtt->deviation_max) / 4;
    rtt->round_end = end->next;
    rtt->deviation_max = end->config->rto_min;
  }
}

void tcp_rtt_sample(struct tcp_end *end, simtime sample) {
  struct rtt *rtt = &end->rtt;
  const struct tcp_config *config = end->config;
  if (!rtt->measured) {
    rtt->measured = true;
    rtt->min = sample;
    rtt->srtt = sample;
    rtt->deviation = rtt->variance = 2 * sample;
    if (config->behaviour->floor_on_variance) rtt->variance = tcp_max(rtt->variance, config->rto_min);
    rtt->deviation_max = rtt->variance;
    rtt->round_end = end->next;
  } else {
    rtt->min = tcp_min(rtt->min, sample);
    simtime error = sample - rtt->srtt;
    rtt->srtt += error / 8;
    update_deviation(end, error);
  }
  simtime rto = rtt->srtt + rtt->variance;
  if (!config->behaviour->floor_on_variance) rto = tcp_max(rto, config->rto_min);
  end->rto = round_up(end, tcp_min(rto, config->rto_max));
}

/* ---- the retransmission timer ---------------------------------------------------------------------------------- */

static void expired(struct sim *sim, void *arg);

void tcp_timer_set(struct tcp_end *end, enum tcp_timer_kind kind, simtime wait) {
  end->timer_kind = kind;
  arm(end, &end->timer, fires_at(end, wait), expired);
}

void tcp_timer_stop(struct tcp_end *end) {
  end->timer_kind = TIMER_NONE;
  disarm(end, &end->timer);
}

static simtime rto_left(const struct tcp_end *end) { return tcp_segment(end, 0)->sent_at + end->rto - tcp_now(end); }

void tcp_timer_restart(struct tcp_end *end) {
  if (end->count == 0) {
    tcp_timer_stop(end);
    return;
  }
  bool other = end->timer_kind == TIMER_PROBE || end->timer_kind == TIMER_REORDER;
  tcp_timer_set(end, TIMER_RETRANSMIT, other ? tcp_max(rto_left(end), 1) : end->rto);
}

/* RFC 8985 section 7.2, with Linux's allowances. False: no probe is called for. */
static bool schedule_probe(struct tcp_end *end, bool after_ack) {
  if (!end->config->behaviour->rack || end->count == 0) return false;
  if (end->recovery != RECOVERY_OPEN && end->recovery != RECOVERY_CWR) return false;
  simtime wait = end->config->syn_timeout;
  if (end->rtt.measured) wait = 2 * end->rtt.srtt + (end->count == 1 ? end->config->rto_min : TIMEOUT_LEAST_MS * MS);
  simtime left = after_ack ? end->rto : rto_left(end);
  if (left > 0) wait = tcp_min(wait, left);
  tcp_timer_set(end, TIMER_PROBE, wait);
  return true;
}

void tcp_timer_after_ack(struct tcp_end *end, bool ack) {
  if (!schedule_probe(end, ack)) tcp_timer_restart(end);
}

void tcp_timer_after_send(struct tcp_end *end, bool was_idle) {
  if (schedule_probe(end, false)) return;
  if (was_idle || end->timer_kind == TIMER_PROBE) tcp_timer_restart(end);
}

static void probe(struct tcp_end *end) {
  if (end->probe_end < 0) {
    bool fresh = tcp_has_unsent(end) && tcp_send_probe(end);
    if (!fresh) {
      struct segment *last = tcp_segment(end, end->count - 1);
      end->probe_repeats = true;
      tcp_repeat(end, last, false);
    } else {
      end->probe_repeats = false;
    }
    end->counters.probes++;
    end->probe_end = end->next;
    end->timer_kind = TIMER_NONE; /* the RTO counts from now */
  }
  tcp_timer_restart(end);
}

static void timeout(struct tcp_end *end) {
  if (end->timeouts_in_row >= end->config->behaviour->data_retries) {
    tcp_fail(end, STREAM_TIMED_OUT);
    return;
  }
  end->counters.timeouts++;
  tcp_enter_loss(end);
  end->timeouts_in_row++;
  tcp_repeat(end, tcp_segment(end, 0), true);
  end->rto = tcp_min(2 * end->rto, end->config->rto_max);
  tcp_timer_set(end, TIMER_RETRANSMIT, end->rto);
}

static void expired(struct sim *sim, void *arg) {
  struct tcp_end *end = arg;
  (void)sim;
  if (!is_due(end, &end->timer, expired)) return;
  switch (end->timer_kind) {
  case TIMER_SYN:
    tcp_syn_timeout(end);
    break;
  case TIMER_RETRANSMIT:
    timeout(end);
    break;
  case TIMER_PROBE:
    probe(end);
    break;
  case TIMER_REORDER:
    tcp_reorder_timeout(end);
    break;
  case TIMER_NONE:
    break;
  }
}

/* ---- the delayed acknowledgement ------------------------------------------------------------------------------- */

static void delay_over(struct sim *sim, void *arg) {
  struct tcp_end *end = arg;
  (void)sim;
  if (is_due(end, &end->in.delay, delay_over)) tcp_ack_expired(end);
}

void tcp_delay_set(struct tcp_end *end, simtime wait, bool exact) { arm(end, &end->in.delay, exact ? tcp_now(end) + wait : fires_at(end, wait), delay_over); }

void tcp_delay_stop(struct tcp_end *end) { end->in.delay.deadline = SIMTIME_NEVER; }
