/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/transport/test/tcp_rig.h"

#include <string.h>

static void write_on(struct tcp_rig *rig, enum net_side side, int64_t bytes, const struct trail *trail) {
  if (bytes > 0) stream_write(rig->stream, side, bytes, trail);
}

static void write_next(struct sim *sim, void *arg) {
  struct tcp_rig *rig = arg;
  struct trail trail;
  trail_begin(&trail, sim_now(sim));
  if (rig->written == 0) trail = rig->server_trail;
  trail_advance(&trail, PART_SOFTWARE, sim_now(sim));
  stream_write(rig->stream, NET_B, rig->writes[rig->written++], &trail);
  if (rig->written < RIG_WRITES && rig->writes[rig->written] > 0) event_at(sim, sim_now(sim) + rig->after[rig->written], write_next, rig);
}

static void client_opened(void *arg, const struct trail *trail) {
  struct tcp_rig *rig = arg;
  rig->connected = trail->at;
  write_on(rig, NET_A, rig->hello, trail);
}

static void client_arrived(void *arg, int64_t end, const struct trail *trail) {
  struct tcp_rig *rig = arg;
  if (rig->client_stage == 0 && end >= rig->flight) {
    rig->client_stage = 1;
    rig->flight_in = trail->at;
    rig->flight_trail = *trail;
    if (rig->finished + rig->request == 0) rig->stop = true;
    write_on(rig, NET_A, rig->finished, trail);
    write_on(rig, NET_A, rig->request, trail);
  }
  if (rig->client_stage == 1 && rig->response > 0 && end >= rig->flight + rig->response) {
    rig->response_in = trail->at;
    rig->stop = true;
  }
}

static void server_opened(void *arg, const struct trail *trail) {
  (void)arg;
  (void)trail;
}

static void server_arrived(void *arg, int64_t end, const struct trail *trail) {
  struct tcp_rig *rig = arg;
  if (rig->server_stage == 0 && end >= rig->hello) {
    rig->server_stage = 1;
    rig->server_trail = *trail;
    event_at(rig->sim, trail->at + rig->after[0], write_next, rig);
  }
  if (rig->server_stage == 1 && end >= rig->hello + rig->finished + rig->request) {
    rig->server_stage = 2;
    write_on(rig, NET_B, rig->response, trail);
  }
}

static void closed(void *arg, enum stream_end why, const struct trail *trail) {
  struct tcp_rig *rig = arg;
  (void)trail;
  rig->failed = rig->stop = true;
  rig->failed_at = sim_now(rig->sim);
  rig->end = why;
}

static void spy(void *arg, const struct net_message *message, const struct trail *trail) {
  struct tcp_rig *rig = arg;
  const struct tcp_packet *packet = message->tag;
  int side = packet->from;
  if (rig->logged[side] < RIG_LOG)
    rig->log[side][rig->logged[side]++] = (struct tcp_rig_packet){packet->start, packet->bytes, packet->syn, packet->fin, trail->at};
  tcp_input(NULL, message, trail);
}

void tcp_rig_run(struct tcp_rig *rig) {
  const simtime HOURS = INT64_C(36000000000000);
  rig->sim = sim_new();
  struct net *net = net_native.open(rig->sim);
  net->ops->reset(net, 1, rig->replication);
  struct net_link_config link = {.mtu_bytes = 1500};
  struct tcp_config configs[2];
  for (int side = 0; side < 2; side++) {
    link.direction[side] = (struct net_direction){
        .rate_bps = rig->rate_bps > 0 ? rig->rate_bps : INT64_C(10000000000),
        .delay = rig->rtt / 2,
        .jitter = rig->jitter,
        .loss.loss_ppb = rig->loss_ppb,
        .queue_unit = NET_QUEUE_PACKETS,
        .queue_limit = rig->queue_packets > 0 ? rig->queue_packets : 100000,
    };
    configs[side] = *tcp_profile(rig->profile);
    configs[side].segment_bytes = rig->segment_bytes > 0 ? rig->segment_bytes : 1448;
    configs[side].nodelay = !rig->nagle;
  }
  if (rig->initial_window > 0) configs[NET_B].initial_window = rig->initial_window;
  link.direction[rig->lost_from].drop_count = rig->lost_count;
  memcpy(link.direction[rig->lost_from].drop, rig->lost, sizeof rig->lost);
  int nodes[2] = {net->ops->node_add(net), net->ops->node_add(net)};
  int number = net->ops->link_add(net, nodes[0], nodes[1], &link, 1);
  const struct draw_key key = {.seed = 1, .replication = rig->replication};
  struct port *ports[2];
  for (int side = 0; side < 2; side++) ports[side] = port_new(rig->sim, net, number, (enum net_side)side, (struct port_latency){0}, &key);
  const struct tcp_config *const pointers[2] = {&configs[0], &configs[1]};
  const struct stream_observer observers[2] = {{client_opened, client_arrived, closed, NULL, rig}, {server_opened, server_arrived, closed, NULL, rig}};
  rig->connected = rig->flight_in = rig->response_in = -1;
  for (int i = 0; i < RIG_WRITES; i++) rig->flight += rig->writes[i];
  rig->stream = stream_new(rig->sim, ports, pointers, observers, &key);
  for (int side = 0; side < 2; side++) port_on(ports[side], PORT_TCP, spy, rig);
  struct trail trail;
  trail_begin(&trail, 0);
  stream_connect(rig->stream, &trail);
  net->ops->run(net, HOURS, &rig->stop);
  for (int side = 0; side < 2; side++) stream_counters(rig->stream, (enum net_side)side, &rig->counters[side]);
  net->ops->close(net);
  sim_free(rig->sim);
}
