/* SPDX-License-Identifier: GPL-2.0-or-later */
/* RTO (RFC 9260 section 6.3), error counters (8.1, 8.2) and heartbeats (8.3) of an endpoint's paths. */
#include "models/transport/sctp_internal.h"

/* G of RFC 9260 section 6.3.1: a clock of this granularity sees no smaller RTTVAR. The measured stack ticked every 1 ms; Linux
 * ticks every 1 to 10 ms. */
#define CLOCK_GRANULARITY INT64_C(1000000)

void sctp_path_reset(struct endpoint *end, struct path *path) {
  const struct sctp_config *config = end->config;
  *path = (struct path){
      .end = end,
      .rto = config->rto_initial,
      .cwnd = sctp_initial_window(config),
      .ssthresh = config->receive_window, /* section 7.2.1: may be as high as the peer's window */
      .active = true,
  };
}

static simtime clamp_rto(const struct endpoint *end, simtime rto) { return max_i64(end->config->rto_min, min_i64(rto, end->config->rto_max)); }

/* Rules C2 and C3 with alpha 1/8 and beta 1/4. */
void sctp_rtt_sample(struct endpoint *end, struct path *path, simtime rtt) {
  if (path->measured) {
    simtime deviation = path->srtt > rtt ? path->srtt - rtt : rtt - path->srtt;
    path->rttvar += (deviation - path->rttvar) / 4;
    path->srtt += (rtt - path->srtt) / 8;
  } else {
    path->rttvar = rtt / 2;
    path->srtt = rtt;
    path->measured = true;
  }
  path->rttvar = max_i64(path->rttvar, CLOCK_GRANULARITY);
  path->rto = clamp_rto(end, path->srtt + 4 * path->rttvar);
}

/* Rule E2. */
void sctp_rto_back_off(struct endpoint *end, struct path *path) { path->rto = min_i64(2 * path->rto, end->config->rto_max); }

static void set_active(struct endpoint *end, int path, bool active) {
  const struct sctp_observer *observer = &end->sctp->observer;
  if (end->paths[path].active == active) return;
  end->paths[path].active = active;
  if (observer->path_changed) observer->path_changed(observer->arg, end->side, path, active);
}

bool sctp_path_error(struct endpoint *end, int path) {
  if (++end->paths[path].errors > end->config->path_max_retrans) set_active(end, path, false);
  if (end->state == CLOSED) return false; /* the user has ended it in the callback */
  if (++end->errors <= end->config->association_max_retrans) return true;
  sctp_send_control(end, path, SCTP_ABORT, NULL);
  sctp_finish(end, SCTP_END_UNREACHABLE);
  return false;
}

void sctp_path_heard(struct endpoint *end, int path) {
  end->paths[path].errors = 0;
  end->errors = 0;
  set_active(end, path, true);
}

/* ---- which path ---- */

/* The primary path while it is up, or when none is (section 6.4). */
int sctp_path_for_data(const struct endpoint *end) {
  if (end->paths[0].active || end->config->paths == 1 || !end->paths[1].active) return 0;
  return 1;
}

/* Where a chunk that timed out goes (section 6.4.1). */
int sctp_path_alternate(const struct endpoint *end, int path) {
  if (end->config->paths == 2 && end->paths[!path].active) return !path;
  return path;
}

/* ---- heartbeats ---- */

static void heartbeat_due(struct sim *sim, void *arg);

/* Interval: HB.interval + RTO, the RTO jittered by up to half of it either way. */
static void heartbeat_arm(struct endpoint *end, int index) {
  struct path *path = &end->paths[index];
  struct draw_key key = end->sctp->key;
  key.purpose = DRAW_HEARTBEAT;
  key.message = end->sctp->epoch << 24 | (path->heartbeat_draws++ & 0xffffff);
  key.fragment = (uint16_t)(end->side * SCTP_PATHS + index);
  simtime wait = end->config->heartbeat + path->rto / 2 + random_under(&key, path->rto + 1);
  path->heartbeat = event_at(end->sctp->sim, sctp_now(end) + wait, heartbeat_due, path);
  path->heartbeat_running = true;
}

static void heartbeat_due(struct sim *sim, void *arg) {
  (void)sim;
  struct path *path = arg;
  struct endpoint *end = path->end;
  int index = (int)(path - end->paths);
  path->heartbeat_running = false;
  if (path->heartbeat_open) {
    path->heartbeat_open = false;
    sctp_rto_back_off(end, path);
    if (!sctp_path_error(end, index)) return;
  }
  if (sctp_now(end) - path->last_new >= end->config->heartbeat) {
    path->heartbeats++;
    path->heartbeat_open = true;
    path->last_new = sctp_now(end);
    end->counters.heartbeats++;
    sctp_send_control(end, index, SCTP_HEARTBEAT, NULL);
  }
  heartbeat_arm(end, index);
}

void sctp_heartbeats_start(struct endpoint *end) {
  if (end->config->heartbeat == 0) return;
  for (int i = 0; i < end->config->paths; i++) heartbeat_arm(end, i);
}

void sctp_heartbeat_input(struct endpoint *end, const struct packet *packet) {
  int index = packet->info.path;
  struct path *path = &end->paths[index];
  if (packet->info.chunks & 1u << SCTP_HEARTBEAT) {
    sctp_send_control(end, index, SCTP_HEARTBEAT_ACK, packet);
    return;
  }
  path->heartbeat_open = false;
  sctp_rtt_sample(end, path, sctp_now(end) - packet->echo);
  sctp_path_heard(end, index);
}

void sctp_path_stop(struct endpoint *end) {
  for (int i = 0; i < end->config->paths; i++) {
    struct path *path = &end->paths[i];
    sctp_t3_stop(end, i);
    if (path->heartbeat_running) event_cancel(end->sctp->sim, path->heartbeat);
    path->heartbeat_running = false;
  }
}
