/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/domain/node.h"

enum { SECOND_LINK = 1 << 19 }; /* entity of a node's second link, above all first ones */

struct node {
  const struct node_world *world;
  const struct node_config *config;
  struct e2_record record;
  struct draw_key key;
  int links[SCTP_PATHS];
  struct tunnel *tunnel;
  struct secure_path *paths[SCTP_PATHS]; /* once the tunnel is up for the first time */
  struct e2ap *e2ap;
  struct cpu *cpu;
  struct port *ports[SCTP_PATHS][2];
  const struct probe *probe;
  struct trail initiated;
  bool begun, tunnel_decided, decided, associated, set_up;
  bool lost;        /* it had E2, and has not any more */
  simtime up_since; /* of the first time */
  simtime lost_since;
  simtime without; /* time it had none since then, after the warm-up */
};

static void decide(struct node *node, bool ok) {
  if (node->decided) return;
  node->decided = true;
  node->up_since = ok ? sim_now(node->world->sim) : SIMTIME_NEVER;
  e2_sample(&node->record, SUCCESS, ok ? SHARE_ONE : 0);
  node->world->decided(node->world->arg, node->record.group, ok);
}

/* ---- Probe ----------------------------------------------------------------------------------------------------- */

static void packet_delivered(void *arg, const struct trail *from, const struct trail *to) {
  struct node *node = arg;
  e2_sample_between(&node->record, DATA_LATENCY, from, to);
}

static void packet_overhead(void *arg, simtime difference) {
  struct node *node = arg;
  e2_sample(&node->record, IPSEC_OVERHEAD, difference);
}

static void start_probe(struct node *node) {
  struct probe_result result = {packet_delivered, packet_overhead, node};
  if (!node->probe) node->probe = probe_start(node->world->sim, node->paths[0], &node->config->probe, &result);
}

/* ---- E2 -------------------------------------------------------------------------------------------------------- */

static bool is_steady(const struct node *node, const struct trail *from) { return from->at >= node->world->warmup; }

static void associated(void *arg, const struct trail *from, const struct trail *to) {
  struct node *node = arg;
  node->associated = true;
  e2_sample_between(&node->record, SCTP_SETUP, from, to);
}

static void set_up(void *arg, const struct trail *trail) {
  struct node *node = arg;
  if (node->set_up) return;
  node->set_up = true;
  e2_sample_between(&node->record, E2_SETUP, &node->initiated, trail);
  decide(node, true);
}

static void subscribed(void *arg, const struct trail *from, const struct trail *to) {
  struct node *node = arg;
  e2_sample_between(&node->record, XAPP_START, from, to);
}

static void unsubscribed(void *arg) {
  struct node *node = arg;
  e2_fail(&node->record, XAPP_START);
}

static void indicated(void *arg, const struct trail *from, const struct trail *to) {
  struct node *node = arg;
  if (is_steady(node, from)) e2_sample_between(&node->record, INDICATION_LATENCY, from, to);
}

static void looped(void *arg, const struct trail *from, const struct trail *to) {
  struct node *node = arg;
  if (!is_steady(node, from)) return;
  e2_sample_between(&node->record, CONTROL_LOOP, from, to);
  e2_sample(&node->record, DEADLINE_MISS, to->at - from->at > node->config->e2ap.deadline ? SHARE_ONE : 0);
}

static void unfinished(void *arg, simtime begun) {
  struct node *node = arg;
  if (begun < node->world->warmup || sim_now(node->world->sim) - begun <= node->config->e2ap.deadline) return;
  e2_sample(&node->record, DEADLINE_MISS, SHARE_ONE);
  e2_fail(&node->record, CONTROL_LOOP);
}

static void now_without(struct node *node, simtime since) {
  node->lost = true;
  node->lost_since = since;
}

static void now_with(struct node *node, simtime at) {
  simtime from = node->lost_since > node->world->warmup ? node->lost_since : node->world->warmup;
  if (node->lost && at > from) node->without += at - from;
  node->lost = false;
}

static void association_lost(void *arg, simtime since) { now_without(arg, since); }

static void recovered(void *arg, const struct trail *from, const struct trail *to) {
  struct node *node = arg;
  now_with(node, to->at);
  e2_sample_between(&node->record, OUTAGE, from, to);
}

static void e2_failed(void *arg, const struct trail *trail) {
  (void)trail;
  struct node *node = arg;
  decide(node, false);
}

static void e2_settled(void *arg, const struct trail *trail) {
  (void)trail;
  start_probe(arg);
}

static void start_e2(struct node *node, const struct trail *trail) {
  const struct node_config *config = node->config;
  if (!config->e2ap.enabled) {
    decide(node, true);
    start_probe(node);
    return;
  }
  static const struct e2ap_observer observer = {
      associated, set_up, subscribed, unsubscribed, indicated, looped, association_lost, recovered, e2_failed, e2_settled};
  node->e2ap =
      e2ap_start(node->world->sim, node->world->ric, node->paths, config->protect, &config->e2ap, node->world->until, &node->key, &observer, node, trail);
}

/* The gNB can reach the RIC: through the tunnel, or at once without IPsec. */
static void path_is_up(struct node *node, const struct trail *trail) {
  const struct node_config *config = node->config;
  struct cpu *cpus[2] = {node->cpu, gateway_cores(node->world->gateway)};
  if (node->paths[0]) {
    secure_path_set(node->paths[0], true);
    if (!config->e2ap.enabled) now_with(node, trail->at);
    return;
  }
  for (int path = 0; path < config->e2ap.sctp.paths; path++)
    node->paths[path] = secure_path_new(node->world->sim, node->ports[path], cpus, &config->esp, &node->key);
  if (node->tunnel) tunnel_watch(node->tunnel, node->paths[0]);
  start_e2(node, trail);
}

/* ---- Tunnel ---------------------------------------------------------------------------------------------------- */

static void read_counters(const struct node *node, struct net_counters counters[2]) {
  const struct net *net = node->world->net;
  for (int side = 0; side < 2; side++) net->ops->counters(net, node->links[0], (enum net_side)side, &counters[side]);
}

static const enum e2_metric establishment_metrics[] = {IKE_BYTES_I2R, IKE_BYTES_R2I, IKE_PACKETS_I2R, IKE_PACKETS_R2I};
enum { ESTABLISHMENT_METRICS = sizeof establishment_metrics / sizeof *establishment_metrics };

static const enum e2_metric exchange_metrics[TUNNEL_EXCHANGES] = {
    [TUNNEL_INIT] = IKE_INIT,
    [TUNNEL_INTERMEDIATE] = IKE_INTERMEDIATE,
    [TUNNEL_AUTH] = IKE_AUTH,
    [TUNNEL_CHILD] = CHILD_SA,
    [TUNNEL_REKEY] = REKEY,
};

static void exchange_done(void *arg, enum tunnel_exchange exchange, const struct trail *from, const struct trail *to) {
  struct node *node = arg;
  e2_sample_between(&node->record, exchange_metrics[exchange], from, to);
}

static void exchange_unanswered(void *arg, enum tunnel_exchange exchange) {
  struct node *node = arg;
  e2_fail(&node->record, exchange_metrics[exchange]);
}

static void ike_established(void *arg, const struct trail *from, const struct trail *to) {
  struct node *node = arg;
  e2_sample_between(&node->record, IKE_ESTABLISH, from, to);
  if (node->tunnel_decided) return; /* again, after the peer was dead: other traffic has used the link */
  struct net_counters c[2];
  read_counters(node, c);
  const int64_t values[ESTABLISHMENT_METRICS] = {c[0].sent_bytes, c[1].sent_bytes, c[0].sent_packets, c[1].sent_packets};
  for (int i = 0; i < ESTABLISHMENT_METRICS; i++) e2_sample(&node->record, establishment_metrics[i], values[i]);
}

static void sample_exposure(const struct node *node) {
  e2_sample(&node->record, HNDL_EXPOSED, node->config->hndl_exposed ? SHARE_ONE : 0);
  e2_sample(&node->record, AUTH_EXPOSED, node->config->auth_exposed ? SHARE_ONE : 0);
}

/* What has not come about at all. */
static void fail_tunnel(const struct node *node) {
  static const enum e2_metric metrics[] = {TUNNEL_SETUP, IKE_ESTABLISH, IKE_BYTES_I2R, IKE_BYTES_R2I, IKE_PACKETS_I2R, IKE_PACKETS_R2I};
  for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) e2_fail(&node->record, metrics[i]);
}

static void fail_e2(const struct node *node) {
  if (!node->config->e2ap.enabled) return;
  if (!node->associated) e2_fail(&node->record, SCTP_SETUP);
  if (!node->set_up) e2_fail(&node->record, E2_SETUP);
}

static void sample_traffic(const struct node *node) {
  struct net_counters c[2];
  read_counters(node, c);
  e2_sample(&node->record, BYTES_TOTAL, c[0].sent_bytes + c[1].sent_bytes);
  e2_sample(&node->record, PACKETS_TOTAL, c[0].sent_packets + c[1].sent_packets);
  e2_sample(&node->record, RETRANSMISSIONS, tunnel_retransmissions(node->tunnel));
}

static void tunnel_tried(void *arg, bool ok, bool last, const struct trail *trail) {
  struct node *node = arg;
  if (ok) sample_exposure(node);
  if (last && !node->tunnel_decided) {
    node->tunnel_decided = true;
    sample_traffic(node);
    if (ok)
      e2_sample_between(&node->record, TUNNEL_SETUP, &node->initiated, trail);
    else
      e2_sample_between(&node->record, GAVE_UP, &node->initiated, trail);
    node->world->tunnel_decided(node->world->arg);
    if (!ok) fail_tunnel(node);
  }
  if (ok) path_is_up(node, trail);
  if (last && !ok) decide(node, false);
}

static void tunnel_died(void *arg, const struct trail *trail) {
  (void)trail;
  struct node *node = arg;
  secure_path_set(node->paths[0], false);
  if (!node->config->e2ap.enabled) now_without(node, sim_now(node->world->sim));
}

/* ---- Life ------------------------------------------------------------------------------------------------------ */

static void begin(struct sim *sim, void *arg) {
  struct node *node = arg;
  const struct node_world *world = node->world;
  node->begun = true;
  trail_begin(&node->initiated, sim_now(sim));
  if (node->tunnel) {
    tunnel_start(node->tunnel, &node->initiated);
    return;
  }
  node->tunnel_decided = true;
  sample_exposure(node);
  world->tunnel_decided(world->arg);
  path_is_up(node, &node->initiated);
}

static int64_t draw_path_latency(const void *row, int64_t size_bytes, uint64_t uniform) { return cost_draw(row, size_bytes, uniform); }

static void add_link(struct node *node, int path, int gnb, int number) {
  const struct node_world *world = node->world;
  const struct node_config *config = node->config;
  node->links[path] = world->net->ops->link_add(world->net, gnb, world->gateway_node, &config->links[path], (uint32_t)(number + path * SECOND_LINK));
  for (int side = 0; side < 2; side++) {
    struct draw_key key = node->key;
    key.entity = node->key.entity * 2 + (uint32_t)side;
    const struct cost_row *row = config->path_latency[side];
    struct port_latency latency = {row ? draw_path_latency : NULL, row, row && cost_is_random(row)};
    node->ports[path][side] = port_new(world->sim, world->net, node->links[path], (enum net_side)side, latency, &key);
  }
}

struct node *node_new(const struct node_world *world, const struct node_config *config, int number, int address, const struct e2_record *record,
    const struct draw_key *key, simtime start) {
  struct node *node = sim_alloc(world->sim, sizeof *node);
  *node = (struct node){.world = world, .config = config, .record = *record, .key = *key};
  int gnb = world->net->ops->node_add(world->net);
  for (int path = 0; path < config->e2ap.sctp.paths; path++) add_link(node, path, gnb, number);
  node->cpu = cpu_new(world->sim, 1);
  if (config->protect) {
    static const struct tunnel_observer observer = {exchange_done, exchange_unanswered, ike_established, tunnel_tried, tunnel_died};
    node->tunnel = tunnel_new(world->sim, &config->tunnel, world->gateway, address, node->ports[0], node->cpu, key, &observer, node);
  }
  if (start > sim_now(world->sim))
    event_at(world->sim, start, begin, node);
  else
    begin(world->sim, node);
  return node;
}

static void sample_availability(struct node *node) {
  simtime end = sim_now(node->world->sim), warmup = node->world->warmup;
  if (node->world->until == 0 || node->up_since >= end) return;
  if (node->lost) e2_fail(&node->record, OUTAGE);
  now_with(node, end);
  simtime whole = end - (node->up_since > warmup ? node->up_since : warmup);
  e2_sample(&node->record, AVAILABILITY, (int64_t)((__int128)(whole - node->without) * SHARE_ONE / whole));
}

void node_close(struct node *node) {
  if (!node->begun) return;
  if (node->e2ap) e2ap_unfinished(node->e2ap, unfinished, node);
  bool retrying = !node->decided;
  if (node->world->until > 0) e2_sample(&node->record, RETRYING, retrying ? SHARE_ONE : 0);
  if (!node->tunnel_decided) fail_tunnel(node);
  fail_e2(node);
  decide(node, false);
  sample_availability(node);
  for (int64_t i = probe_lost(node->probe); i > 0; i--) e2_fail(&node->record, DATA_LATENCY);
  for (int64_t i = probe_unpaired(node->probe); i > 0; i--) e2_fail(&node->record, IPSEC_OVERHEAD);
  int64_t rate = probe_throughput_bps(node->probe);
  if (rate > 0) e2_sample(&node->record, DATA_THROUGHPUT, rate);
}
