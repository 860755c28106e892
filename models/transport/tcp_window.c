/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The congestion window: slow start with HyStart, CUBIC (RFC 9438), proportional rate reduction (RFC 6937). */
#include "models/transport/tcp_internal.h"

#define MS INT64_C(1000000)

/* ---- CUBIC ----------------------------------------------------------------------------------------------------- */

enum { BETA = 717, BETA_ONE = 1024 }; /* 0.7 */

int tcp_window_reduced(struct tcp_end *end) {
  struct window *window = &end->window;
  window->epoch = SIMTIME_NEVER;
  /* Fast convergence: a flow that did not get back to where it was leaves room (section 4.7). */
  window->last_max = window->cwnd < window->last_max ? (int)((int64_t)window->cwnd * (BETA_ONE + BETA) / (2 * BETA_ONE)) : window->cwnd;
  return (int)tcp_max((int64_t)window->cwnd * BETA / BETA_ONE, 2);
}

static int64_t cube_root(int64_t value) {
  int64_t root = 0;
  for (int64_t bit = INT64_C(1) << 20; bit > 0; bit >>= 1)
    if ((root + bit) * (root + bit) * (root + bit) <= value) root += bit;
  return root;
}

/* W(t) = C (t - K)^3 + W_max with C = 0.4, t in s: 4 segments in 10^10 ms^3 (section 4.2). */
static int64_t cubic_target(const struct window *window, simtime since) {
  enum { LONGEST_MS = 1000000 };
  const int64_t per_segment = INT64_C(2500000000);
  int64_t off = tcp_min(tcp_max(since / MS - window->plateau_ms, -LONGEST_MS), LONGEST_MS);
  return window->origin + off * off * off / per_segment;
}

static void begin_epoch(struct tcp_end *end) {
  struct window *window = &end->window;
  window->epoch = tcp_now(end);
  window->reno = window->cwnd;
  window->reno_count = 0;
  window->origin = (int)tcp_max(window->last_max, window->cwnd);
  window->plateau_ms = cube_root((window->origin - window->cwnd) * INT64_C(2500000000));
}

/* Acknowledged segments for one segment more. */
static int segments_per_step(struct tcp_end *end, int acked) {
  enum { NEVER = 100, WITHOUT_LOSS = 20, FASTEST = 2 };
  struct window *window = &end->window;
  if (window->epoch == SIMTIME_NEVER) begin_epoch(end);
  int64_t target = cubic_target(window, tcp_now(end) + end->rtt.min - window->epoch);
  int64_t every = target > window->cwnd ? window->cwnd / (target - window->cwnd) : (int64_t)NEVER * window->cwnd;
  if (window->last_max == 0) every = tcp_min(every, WITHOUT_LOSS);
  /* No slower than Reno would be (section 4.3): one segment per cwnd (1 + beta) / (3 (1 - beta)) acknowledged. */
  int64_t step = tcp_max((int64_t)window->cwnd * (BETA_ONE + BETA) / (3 * (BETA_ONE - BETA)), 1);
  for (window->reno_count += acked; window->reno_count > step; window->reno_count -= (int)step) window->reno++;
  if (window->reno > window->cwnd) every = tcp_min(every, window->cwnd / (window->reno - window->cwnd));
  return (int)tcp_max(every, FASTEST);
}

/* ---- HyStart, as Linux has it ---------------------------------------------------------------------------------- */

static void begin_round(struct tcp_end *end) {
  struct window *window = &end->window;
  window->round_start = window->last_ack = tcp_now(end);
  window->round_end = end->next;
  window->round_min = SIMTIME_NEVER;
  window->samples = 0;
}

static void leave_slow_start(struct window *window) {
  window->leave_found = true;
  window->ssthresh = window->cwnd;
}

void tcp_window_sample(struct tcp_end *end, simtime rtt) {
  enum { LOW_WINDOW = 16, SAMPLES = 8, SPACING_MS = 2, DELAY_LEAST_MS = 4, DELAY_MOST_MS = 16, BURST_MS = 1 };
  struct window *window = &end->window;
  if (!end->config->behaviour->hystart || window->leave_found || window->cwnd >= window->ssthresh) return;
  if (end->una > window->round_end) begin_round(end);
  if (window->cwnd < LOW_WINDOW) return;
  const simtime now = tcp_now(end), shortest = end->rtt.min;
  if (now - window->last_ack <= SPACING_MS * MS) {
    window->last_ack = now;
    if (now - window->round_start > (shortest + BURST_MS * MS) / 2) leave_slow_start(window);
  }
  window->round_min = tcp_min(window->round_min, rtt);
  if (window->samples < SAMPLES)
    window->samples++;
  else if (window->round_min > shortest + tcp_min(tcp_max(shortest / 8, DELAY_LEAST_MS * MS), DELAY_MOST_MS * MS))
    leave_slow_start(window);
}

/* ---- growth ---------------------------------------------------------------------------------------------------- */

void tcp_window_init(struct tcp_end *end) {
  end->window = (struct window){.cwnd = end->config->initial_window, .ssthresh = UNLIMITED, .epoch = SIMTIME_NEVER};
  begin_round(end);
}

/* A window that is not used does not grow (RFC 7661; Linux: tcp_cwnd_validate). */
void tcp_window_used(struct tcp_end *end, bool limited) {
  struct window *window = &end->window;
  const bool full_only = end->config->behaviour->growth == TCP_GROWTH_FULL;
  if (!full_only && end->una < window->usage_end && !limited && (window->limited || end->count <= window->most_out)) return;
  window->limited = limited;
  window->most_out = end->count;
  window->usage_end = end->next;
}

static bool may_grow(const struct tcp_end *end) {
  const struct window *window = &end->window;
  switch (end->config->behaviour->growth) {
  case TCP_GROWTH_ALWAYS:
    return true;
  case TCP_GROWTH_FULL:
    return window->limited;
  case TCP_GROWTH_USED:
    return window->limited || (window->cwnd < window->ssthresh && window->cwnd < 2 * window->most_out);
  }
  return true;
}

void tcp_window_grow(struct tcp_end *end, int acked) {
  struct window *window = &end->window;
  if (!may_grow(end)) return;
  if (window->cwnd < window->ssthresh) {
    int grown = (int)tcp_min((int64_t)window->cwnd + acked, window->ssthresh);
    acked -= grown - window->cwnd;
    window->cwnd = grown;
    if (acked == 0) return;
  }
  int every = segments_per_step(end, acked);
  if (window->count >= every) {
    window->count = 0;
    window->cwnd++;
  }
  window->count += acked;
  window->cwnd += window->count / every;
  window->count %= every;
}

/* RFC 9293 section 3.8.6.2.. (RFC 5681 section 4.1): after a pause of an RTO the window is halved, for each one more. */
void tcp_window_idle(struct tcp_end *end) {
  struct window *window = &end->window;
  if (end->config->behaviour->growth != TCP_GROWTH_USED) return;
  int restart = (int)tcp_min(end->config->initial_window, window->cwnd);
  for (simtime idle = tcp_now(end) - end->last_sent - end->rto; idle > 0 && window->cwnd > restart; idle -= end->rto) window->cwnd /= 2;
  window->cwnd = (int)tcp_max(window->cwnd, restart);
}

/* ---- reduction ------------------------------------------------------------------------------------------------- */

void tcp_window_begin_reduction(struct tcp_end *end) {
  struct window *window = &end->window;
  window->prior = window->cwnd;
  window->delivered = window->sent = window->count = 0;
  window->ssthresh = tcp_window_reduced(end);
}

void tcp_window_reduce(struct tcp_end *end, const struct ack *ack) {
  struct window *window = &end->window;
  if (ack->delivered <= 0 || window->prior == 0) return;
  int in_flight = tcp_in_flight(end), room = window->ssthresh - in_flight;
  int64_t send;
  window->delivered += ack->delivered;
  if (room < 0) {
    send = ((int64_t)window->ssthresh * window->delivered + window->prior - 1) / window->prior - window->sent;
  } else {
    send = tcp_max(window->delivered - window->sent, ack->delivered) + (ack->advanced && ack->lost == 0);
    send = tcp_min(send, room);
  }
  window->cwnd = in_flight + (int)tcp_max(send, window->sent == 0);
}

void tcp_window_end_reduction(struct tcp_end *end) {
  struct window *window = &end->window;
  if (window->ssthresh < UNLIMITED) window->cwnd = window->ssthresh;
}

void tcp_window_lost_all(struct tcp_end *end) {
  struct window *window = &end->window;
  window->cwnd = tcp_in_flight(end) + 1;
  window->count = 0;
  window->last_max = 0;
  window->epoch = SIMTIME_NEVER;
  window->leave_found = false;
  begin_round(end);
}
