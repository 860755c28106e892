/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/transport/test/sctp_rig.h"

#include <assert.h>

enum { IPV4_HEADER = 20 };

struct carried {
  void *tag;
  struct trail trail;
};

static void carried_in(struct sim *sim, void *arg) {
  struct carried *carried = arg;
  trail_advance(&carried->trail, PART_PROPAGATION, sim_now(sim));
  sctp_input(carried->tag, &carried->trail);
}

static void carry(struct rig *rig, const struct sctp_packet *packet, const struct trail *trail, simtime way) {
  struct carried *carried = sim_alloc(rig->sim, sizeof *carried);
  *carried = (struct carried){packet->tag, *trail};
  event_at(rig->sim, trail->at + way, carried_in, carried);
}

uint32_t rig_tsn(const struct sctp_packet *packet) { return packet->chunks & 1u << SCTP_DATA ? packet->number & 0xffffff : 0; }

static void below_send(void *arg, const struct sctp_packet *packet, const struct trail *trail) {
  struct rig *rig = arg;
  simtime now = sim_now(rig->sim);
  if (rig->packet_count < RIG_PACKETS) rig->packets[rig->packet_count] = (struct rig_packet){now, *packet};
  rig->packet_count++;
  if (now >= rig->silent_from[0] || now >= rig->silent_from[1]) return;
  if (rig->drops && rig->drops(rig, packet)) return;
  simtime way = rig->carries ? rig->carries(rig, packet) : 0;
  if (way > 0) {
    carry(rig, packet, trail, way);
    return;
  }
  struct net_message message = {
      .from = (enum net_side)packet->from,
      .size_bytes = packet->bytes - IPV4_HEADER,
      .number = packet->number,
      .attempt = packet->attempt,
      .tag = packet->tag,
  };
  rig->net->ops->send(rig->net, rig->links[packet->path], &message, trail);
}

static void from_link(void *arg, const struct net_message *message, const struct trail *trail) {
  struct rig *rig = arg;
  if (trail->at >= rig->silent_from[!message->from]) return;
  sctp_input(message->tag, trail);
}

static void established(void *arg, enum sctp_side side, const struct trail *trail) {
  struct rig *rig = arg;
  rig->established[side] = trail->at;
  if (rig->on_established) rig->on_established(rig, side);
}

static void delivered(void *arg, enum sctp_side to, void *tag, const struct trail *trail) {
  struct rig *rig = arg;
  struct rig_message *message = tag;
  assert(message->from != (int)to && message->delivered == SIMTIME_NEVER);
  message->delivered = trail->at;
  message->end = *trail;
  if (rig->reply_bytes > 0 && to == SCTP_SERVER) rig_send(rig, SCTP_SERVER, 0, rig->reply_bytes, true);
  if (rig->delivered) rig->delivered(rig, message);
}

static void path_changed(void *arg, enum sctp_side side, int path, bool up) {
  struct rig *rig = arg;
  (void)path;
  (up ? rig->path_up : rig->path_down)[side] = sim_now(rig->sim);
}

static void ended(void *arg, enum sctp_side side, enum sctp_end why) {
  struct rig *rig = arg;
  rig->ended[side] = sim_now(rig->sim);
  rig->why[side] = why;
}

static void discarded(void *arg, void *tag) {
  (void)arg;
  struct rig_message *message = tag;
  assert(message->delivered == SIMTIME_NEVER && !message->discarded);
  message->discarded = true;
}

void rig_usrsctp(struct rig *rig) {
  rig->congestion = (struct sctp_congestion){
      .initial_window = 3 * (1500 - 12), .unit_is_mtu = true, .slow_start_units = 2, .ssthresh_units = 2, .max_burst = 4, .repeats_fast_retransmit = true};
  for (int side = 0; side < 2; side++) {
    rig->config[side].congestion = &rig->congestion;
    rig->config[side].receive_window = 131072; /* less than usrsctp offers by default; no test fills it */
  }
}

void rig_rto(struct rig *rig, simtime initial, simtime least, simtime most) {
  for (int side = 0; side < 2; side++) {
    rig->config[side].rto_initial = initial;
    rig->config[side].rto_min = least;
    rig->config[side].rto_max = most;
    rig->config[side].init_timeout_max = most; /* usrsctp holds T1 to RTO.max, too */
  }
}

void rig_open(struct rig *rig, simtime rtt) {
  *rig = (struct rig){.sim = sim_new(), .key = {.seed = 1, .entity = 7}};
  rig->net = net_native.open(rig->sim);
  for (int side = 0; side < 2; side++) {
    rig->config[side] = *sctp_profile("rfc9260");
    rig->config[side].nodelay = true;
    rig->silent_from[side] = rig->established[side] = rig->path_down[side] = rig->path_up[side] = rig->ended[side] = SIMTIME_NEVER;
  }
  for (int path = 0; path < SCTP_PATHS; path++) {
    rig->link[path].mtu_bytes = 1500;
    for (int side = 0; side < 2; side++)
      rig->link[path].direction[side] = (struct net_direction){.rate_bps = INT64_C(1000000000000), .delay = rtt / 2, .queue_limit = 100000};
  }
}

void rig_close(struct rig *rig) {
  rig->net->ops->close(rig->net);
  sim_free(rig->sim);
}

void rig_start(struct rig *rig) {
  const struct net_ops *ops = rig->net->ops;
  sim_reset(rig->sim);
  ops->reset(rig->net, rig->key.seed, rig->key.replication);
  int a = ops->node_add(rig->net), b = ops->node_add(rig->net);
  for (int path = 0; path < rig->config[0].paths; path++) {
    rig->links[path] = ops->link_add(rig->net, a, b, &rig->link[path], (uint32_t)path);
    for (int side = 0; side < 2; side++) ops->on_receive(rig->net, rig->links[path], (enum net_side)side, from_link, NULL, rig);
  }
  const struct sctp_config *const configs[2] = {&rig->config[0], &rig->config[1]};
  const struct sctp_below below = {below_send, rig};
  const struct sctp_observer observer = {established, delivered, path_changed, ended, discarded, rig};
  rig->sctp = sctp_new(rig->sim, configs, &below, &observer, &rig->key, 0);
  struct trail trail;
  trail_begin(&trail, 0);
  sctp_connect(rig->sctp, &trail);
}

void rig_run(struct rig *rig, simtime until) {
  bool stop = false;
  rig->net->ops->run(rig->net, until, &stop);
}

void rig_send(struct rig *rig, int from, int stream, int64_t bytes, bool ordered) {
  assert(rig->message_count < RIG_MESSAGES);
  struct rig_message *message = &rig->messages[rig->message_count];
  *message =
      (struct rig_message){.rig = rig, .from = from, .index = rig->message_count++, .bytes = bytes, .sent = sim_now(rig->sim), .delivered = SIMTIME_NEVER};
  trail_begin(&message->begin, message->sent);
  sctp_send(rig->sctp, (enum sctp_side)from, stream, bytes, ordered, message, &message->begin);
}

static void send_next(struct sim *sim, void *arg) {
  struct rig_traffic *traffic = arg;
  int bunch = traffic->bunch ? traffic->bunch : 1;
  for (int i = 0; i < bunch; i++) rig_send(traffic->rig, traffic->from, traffic->stream, traffic->bytes, traffic->ordered);
  traffic->sent += bunch;
  if (traffic->sent < traffic->count) event_at(sim, sim_now(sim) + traffic->interval, send_next, traffic);
}

void rig_stream(struct rig *rig, const struct rig_traffic *traffic, simtime start) {
  struct rig_traffic *own = sim_alloc(rig->sim, sizeof *own);
  *own = *traffic;
  own->rig = rig;
  event_at(rig->sim, start, send_next, own);
}
