/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/domain/e2.h"

#include "models/crypto/cost_share.h"
#include "models/domain/e2ap.h"
#include "models/domain/probe.h"
#include "models/security/ikev2.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Parameters ------------------------------------------------------------------------------------------------ */

static int check_platform(const char *text, char *canonical, size_t size, struct err *e) {
  if (!*text || strlen(text) >= size)
    return err_add(e, ERR_INPUT, "found %zu characters, allowed the name of a platform (pqnetsim list platforms) or ./FILE.csv", strlen(text));
  snprintf(canonical, size, "%s", text);
  return 0;
}

static const struct param rows[] = {
    {.key = "platform.initiator", .kind = PARAM_NAME, .fallback = "epyc-zen5", .check = check_platform, .help = "machine of the gNB, which starts the tunnel"},
    {.key = "platform.responder", .kind = PARAM_NAME, .fallback = "epyc-zen5", .check = check_platform, .help = "machine of the gateway in front of the RIC"},
    {.key = "gateway.cores", .kind = PARAM_COUNT, .fallback = "1", .min = 1, .max = 4096, .help = "cores of the gateway"},
};

static const struct param_table own_params = {rows, sizeof rows / sizeof *rows};

/* ---- Metrics --------------------------------------------------------------------------------------------------- */

enum metric {
  IKE_INIT,
  IKE_INTERMEDIATE,
  IKE_AUTH,
  CHILD_SA,
  IKE_ESTABLISH,
  TUNNEL_SETUP,
  GAVE_UP,
  SCTP_SETUP,
  E2_SETUP,
  DATA_LATENCY,
  IPSEC_OVERHEAD,
  SUCCESS,
  RETRANSMISSIONS,
  IKE_BYTES_I2R,
  IKE_BYTES_R2I,
  IKE_PACKETS_I2R,
  IKE_PACKETS_R2I,
  BYTES_TOTAL,
  PACKETS_TOTAL,
  GATEWAY_UTILISATION,
  METRIC_COUNT_E2
};

static const struct metric_def metrics[METRIC_COUNT_E2] = {
    [IKE_INIT] = {"ike_init", METRIC_TIME, "first IKE_SA_INIT request packet out", "last IKE_SA_INIT response packet in, at the initiator's interface",
        "round trip of IKE_SA_INIT with the responder's work, without the initiator's"},
    [IKE_INTERMEDIATE] = {"ike_intermediate", METRIC_TIME, "first request packet out", "last response packet in",
        "the same for each IKE_INTERMEDIATE exchange"},
    [IKE_AUTH] = {"ike_auth", METRIC_TIME, "first request packet out", "last response packet in", "the same for IKE_AUTH"},
    [CHILD_SA] = {"child_sa", METRIC_TIME, "first request packet out", "last response packet in",
        "the same for the CREATE_CHILD_SA that follows a childless IKE_AUTH"},
    [IKE_ESTABLISH] = {"ike_establish", METRIC_TIME, "first IKE_SA_INIT request packet out", "last IKE_AUTH response packet in",
        "all exchanges and the initiator's work between them"},
    [TUNNEL_SETUP] = {"tunnel_setup", METRIC_TIME, "initiation", "CHILD_SA installed at the initiator",
        "ike_establish plus the initiator's first key generation and last verification"},
    [GAVE_UP] = {"gave_up", METRIC_TIME, "initiation", "the initiator's last retransmission timer runs out", "how long a failed set-up took to fail"},
    [SCTP_SETUP] = {"sctp_setup", METRIC_TIME, "INIT sent by the gNB, the path being up", "COOKIE-ACK in at the gNB",
        "four-way set-up of the association, through the tunnel if there is one"},
    [E2_SETUP] = {"e2_setup", METRIC_TIME, "initiation", "E2 SETUP RESPONSE in at the gNB", "tunnel, association and E2 setup procedure"},
    [DATA_LATENCY] = {"data_latency", METRIC_TIME, "packet handed to the sender's IP stack", "packet handed to the receiver's application",
        "one-way latency of probe packets, through the tunnel if there is one"},
    [IPSEC_OVERHEAD] = {"ipsec_overhead", METRIC_SIGNED_TIME, "data_latency of the same packet without IPsec", "data_latency",
        "paired difference of data_latency to ipsec.kex none"},
    [SUCCESS] = {"success", METRIC_SHARE, "set-ups started", "set-ups completed", "share of set-ups that completed"},
    [RETRANSMISSIONS] = {"retransmissions", METRIC_COUNT, "IKE requests sent again", NULL, "by the initiator during one set-up"},
    [IKE_BYTES_I2R] = {"ike_bytes_i2r", METRIC_BYTES, "IP bytes, initiator to responder", NULL, "during establishment, retransmissions included; of set-ups that completed"},
    [IKE_BYTES_R2I] = {"ike_bytes_r2i", METRIC_BYTES, "IP bytes, responder to initiator", NULL, "during establishment, retransmissions included; of set-ups that completed"},
    [IKE_PACKETS_I2R] = {"ike_packets_i2r", METRIC_COUNT, "IP packets, initiator to responder", NULL, "during establishment, IP fragments counted singly; of set-ups that completed"},
    [IKE_PACKETS_R2I] = {"ike_packets_r2i", METRIC_COUNT, "IP packets, responder to initiator", NULL, "during establishment, IP fragments counted singly; of set-ups that completed"},
    [BYTES_TOTAL] = {"bytes_total", METRIC_BYTES, "IP bytes of set-up, both directions", NULL, "everything a set-up put on the link, failed ones included"},
    [PACKETS_TOTAL] = {"packets_total", METRIC_COUNT, "IP packets of set-up, both directions", NULL, "everything a set-up put on the link, failed ones included"},
    [GATEWAY_UTILISATION] = {"gateway_utilisation", METRIC_SHARE, "core time of the gateway from initiation to set-up", "core time busy",
        "share of the gateway's cores that worked during set-up"},
};

/* ---- A point --------------------------------------------------------------------------------------------------- */

struct setup {
  struct ikev2_config ike;
  struct handshake_table table; /* empty without IPsec */
  int auth_response;            /* message that ends the establishment */
  struct net_link_config link;
  const struct cost_platform *platforms[2];
  const struct cost_row *path[2];
  struct secure_path_config esp;
  struct e2ap_config e2ap;
  struct probe_config probe;
  int gateway_cores;
  bool random;
};

static const char *const platform_keys[2] = {"platform.initiator", "platform.responder"};

static void discard(void *state) {
  struct setup *setup = state;
  if (!setup) return;
  handshake_table_free(&setup->table);
  for (int side = 0; side < 2; side++) cost_share_release(setup->platforms[side]);
  free(setup);
}

static int load_platforms(const struct config *config, const char *base_dir, struct setup *setup, struct err *e) {
  int rc = 0;
  for (int side = 0; side < 2; side++) {
    struct err inner = {0};
    if (cost_share_get(config_text(config, platform_keys[side]), base_dir, &setup->platforms[side], &inner)) {
      char *save = NULL;
      for (char *line = strtok_r(inner.text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        rc = err_add(e, inner.code, "%s: %s", platform_keys[side], line);
    }
    err_free(&inner);
  }
  if (rc) return rc;
  for (int side = 0; side < 2; side++) setup->path[side] = cost_find(setup->platforms[side], "software", "path");
  return 0;
}

/* Which platform rows a protected packet costs; without them ESP is refused rather than free. */
static int load_esp(struct setup *setup, struct err *e) {
  const char *title = ikev2_esp_titles[setup->ike.esp];
  setup->esp.mode = setup->ike.transport_mode ? ESP_TRANSPORT : ESP_TUNNEL;
  setup->esp.udp_encapsulated = setup->ike.nat_traversal;
  for (int side = 0; side < 2; side++) {
    const struct cost_platform *platform = setup->platforms[side];
    setup->esp.packet[side] = cost_find(platform, "software", "esp_packet");
    setup->esp.seal[side] = cost_find(platform, title, "seal");
    setup->esp.open[side] = cost_find(platform, title, "open");
    if (!setup->esp.seal[side] || !setup->esp.open[side])
      return err_add(e, ERR_INPUT, "%s: platform %s states no cost for %s seal and open, which ipsec.esp needs", platform_keys[side],
          cost_platform_name(platform), title);
  }
  return 0;
}

static bool table_is_random(const struct handshake_table *table) {
  for (int i = 0; i < table->count; i++) {
    const struct handshake_message *message = &table->messages[i];
    for (int k = 0; k < message->before_count; k++)
      if (message->before[k].row && cost_is_random(message->before[k].row)) return true;
    for (int k = 0; k < message->after_count; k++)
      if (message->after[k].row && cost_is_random(message->after[k].row)) return true;
  }
  return false;
}

static bool direction_is_random(const struct net_direction *direction) {
  return direction->loss.gemodel || direction->loss.loss_ppb > 0 || direction->jitter > 0;
}

static bool setup_is_random(const struct setup *setup) {
  bool random = table_is_random(&setup->table) || setup->ike.ladder.jitter_ppb > 0;
  for (int side = 0; side < 2; side++) {
    const struct cost_row *rows_used[] = {setup->path[side], setup->esp.packet[side], setup->esp.seal[side], setup->esp.open[side]};
    for (size_t i = 0; i < sizeof rows_used / sizeof *rows_used; i++) random |= rows_used[i] && cost_is_random(rows_used[i]);
    random |= direction_is_random(&setup->link.direction[side]);
  }
  return random;
}

/* How long the sender's direction may take to carry all probe packets from one moment on, with a second to spare for what
 * the platforms add. */
static simtime drain_time(const struct setup *setup) {
  const struct net_direction *direction = &setup->link.direction[0];
  int64_t payload = esp_packet_bytes(setup->probe.size_bytes, ESP_TUNNEL, true) - ESP_IPV4_HEADER_BYTES;
  int64_t packets = net_fragment_count(payload, setup->link.mtu_bytes);
  int64_t bytes = payload + packets * (ESP_IPV4_HEADER_BYTES + setup->link.l2_overhead_bytes);
  __int128 wire = (__int128)setup->probe.packets * bytes * 8 * INT64_C(1000000000) / direction->rate_bps;
  __int128 total = wire + direction->delay + direction->jitter + INT64_C(1000000000);
  return total < SIMTIME_HORIZON / 4 ? (simtime)total : SIMTIME_HORIZON / 4;
}

/* Both flows, and what the set-up took before, must fit a run. */
static int check_probe(const struct probe_config *probe, struct err *e) {
  enum { PARTS = 8 };
  if ((__int128)probe->packets * probe->interval <= SIMTIME_HORIZON / PARTS) return 0;
  return err_add(e, ERR_INPUT, "probe.packets: found %lld, but at probe.interval they take over %d years; allowed fewer or a shorter interval",
      (long long)probe->packets, (int)(SIMTIME_HORIZON / PARTS / (INT64_C(1000000000) * 86400 * 365)));
}

static int prepare(const struct config *config, const char *base_dir, const struct net_ops *ops, void **state, struct err *e) {
  struct setup *setup = calloc(1, sizeof *setup);
  if (!setup) abort();
  int rc = net_path_check(config, ops, e);
  if (!rc) rc = ikev2_configure(config, &setup->ike, e);
  if (!rc) rc = load_platforms(config, base_dir, setup, e);
  if (rc) goto out;
  net_path_config(config, &setup->link);
  setup->gateway_cores = (int)config_number(config, "gateway.cores");
  probe_configure(config, &setup->probe);
  rc = check_probe(&setup->probe, e);
  if (rc) goto out;
  if (setup->ike.kex_count > 0) {
    ikev2_establishment(&setup->ike, &setup->table);
    setup->auth_response = ikev2_auth_response(&setup->table);
    setup->probe.protected_flow = true;
    setup->probe.drain = drain_time(setup);
    rc = ikev2_check_sizes(&setup->table, e);
    if (!rc) rc = handshake_resolve(&setup->table, setup->platforms, platform_keys, e);
    if (!rc) rc = load_esp(setup, e);
  }
  int mtu = setup->table.count > 0 ? secure_path_mtu(&setup->esp, setup->link.mtu_bytes) : setup->link.mtu_bytes;
  if (!rc) rc = e2ap_configure(config, mtu, &setup->e2ap, e);
  setup->random = setup_is_random(setup);
out:
  if (rc) {
    discard(setup);
    return rc;
  }
  *state = setup;
  return 0;
}

static uint64_t cost_hash(const void *state) {
  const struct setup *setup = state;
  /* Order matters: initiator and responder swapped are another point. */
  return cost_platform_hash(setup->platforms[0]) * UINT64_C(0x9e3779b97f4a7c15) ^ cost_platform_hash(setup->platforms[1]);
}

static bool is_random(const void *state) { return ((const struct setup *)state)->random; }

static void warnings(const void *state, void (*fn)(void *arg, const char *text), void *arg) {
  const struct setup *setup = state;
  for (int side = 0; side < 2; side++) {
    if (setup->table.count == 0 || cost_find(setup->platforms[side], "software", "ike_message")) continue;
    char text[256];
    snprintf(text, sizeof text, "%s: %s states no cost of the IKE daemon (software ike_message): messages take cryptography and network time alone", platform_keys[side],
        cost_platform_name(setup->platforms[side]));
    fn(arg, text);
  }
}

/* ---- A replication --------------------------------------------------------------------------------------------- */

enum { ENTITY_NODE = 1 };

struct node {
  const struct setup *setup;
  const struct domain_run *run;
  int link;
  struct port *ports[2];
  struct cpu *cpus[2];
  struct draw_key key;
  struct handshake *handshake;
  struct secure_path *path;  /* once IKE is done */
  const struct probe *probe; /* NULL: did not start */
  struct trail path_up;
  bool associated;
  struct trail initiated, first_out, request_out;
  int responses; /* index of the last response that came in, -1: none */
};

static void message_sent(void *arg, int message, const struct trail *trail) {
  struct node *node = arg;
  if (message == 0) node->first_out = *trail;
  if (message % 2 == 0) node->request_out = *trail;
}

static void read_counters(const struct node *node, struct net_counters counters[2]) {
  const struct net *net = node->run->net;
  for (int side = 0; side < 2; side++) net->ops->counters(net, node->link, (enum net_side)side, &counters[side]);
}

static const enum metric establishment_metrics[] = {IKE_BYTES_I2R, IKE_BYTES_R2I, IKE_PACKETS_I2R, IKE_PACKETS_R2I};

static void sample_establishment(const struct node *node) {
  struct net_counters c[2];
  read_counters(node, c);
  const int64_t values[] = {c[0].sent_bytes, c[1].sent_bytes, c[0].sent_packets, c[1].sent_packets};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) metric_sample(node->run->metrics, (int)establishment_metrics[i], values[i], NULL);
}

/* Which exchange's round trip ends with this response. */
static int round_trip_of(const struct setup *setup, int response) {
  if (response == 1) return IKE_INIT;
  if (response < setup->auth_response) return IKE_INTERMEDIATE;
  return response == setup->auth_response ? IKE_AUTH : CHILD_SA;
}

static void message_received(void *arg, int message, const struct trail *trail) {
  struct node *node = arg;
  if (message % 2 == 0) return;
  node->responses = message;
  metric_sample_between(node->run->metrics, round_trip_of(node->setup, message), &node->request_out, trail);
  if (message == node->setup->auth_response) {
    metric_sample_between(node->run->metrics, IKE_ESTABLISH, &node->first_out, trail);
    sample_establishment(node);
  }
}

static void packet_delivered(void *arg, const struct trail *from, const struct trail *to) {
  struct node *node = arg;
  metric_sample_between(node->run->metrics, DATA_LATENCY, from, to);
}

static void packet_overhead(void *arg, simtime difference) {
  struct node *node = arg;
  metric_sample(node->run->metrics, IPSEC_OVERHEAD, difference, NULL);
}

static void start_probe(struct node *node) {
  struct probe_result result = {packet_delivered, packet_overhead, node};
  node->probe = probe_start(node->run->sim, node->path, &node->setup->probe, &result);
}

static void association_up(void *arg, const struct trail *trail) {
  struct node *node = arg;
  node->associated = true;
  metric_sample_between(node->run->metrics, SCTP_SETUP, &node->path_up, trail);
}

static void e2_set_up(void *arg, bool ok, const struct trail *trail) {
  struct node *node = arg;
  if (ok)
    metric_sample_between(node->run->metrics, E2_SETUP, &node->initiated, trail);
  else
    metric_fail(node->run->metrics, E2_SETUP);
  if (!node->associated) metric_fail(node->run->metrics, SCTP_SETUP);
  start_probe(node);
}

/* The gNB can reach the RIC: through the tunnel, or at once without IPsec. */
static void path_is_up(struct node *node, const struct trail *trail) {
  const struct setup *setup = node->setup;
  node->path = secure_path_new(node->run->sim, node->ports, node->cpus, &setup->esp, &node->key);
  node->path_up = *trail;
  if (!setup->e2ap.enabled) {
    start_probe(node);
    return;
  }
  struct e2ap_observer observer = {association_up, e2_set_up, node};
  e2ap_start(node->run->sim, node->path, setup->table.count > 0, &setup->e2ap, &node->key, &observer, trail);
}

static void sample_utilisation(struct node *node, simtime elapsed) {
  if (elapsed > 0)
    metric_sample(node->run->metrics, GATEWAY_UTILISATION,
        (int64_t)((__int128)cpu_busy(node->cpus[1]) * SHARE_ONE / ((__int128)elapsed * node->setup->gateway_cores)), NULL);
}

/* What a set-up that died has not reached. */
static void fail_the_rest(const struct node *node) {
  struct metric_set *set = node->run->metrics;
  const struct setup *setup = node->setup;
  for (int response = node->responses + 2; response < setup->table.count; response += 2) metric_fail(set, round_trip_of(setup, response));
  metric_fail(set, TUNNEL_SETUP);
  if (setup->e2ap.enabled) {
    metric_fail(set, SCTP_SETUP);
    metric_fail(set, E2_SETUP);
  }
  if (node->responses >= setup->auth_response) return;
  metric_fail(set, IKE_ESTABLISH);
  for (size_t i = 0; i < sizeof establishment_metrics / sizeof *establishment_metrics; i++) metric_fail(set, (int)establishment_metrics[i]);
}

static void set_up_finished(void *arg, bool ok, const struct trail *trail) {
  struct node *node = arg;
  struct metric_set *set = node->run->metrics;
  struct net_counters c[2];
  read_counters(node, c);
  metric_sample(set, BYTES_TOTAL, c[0].sent_bytes + c[1].sent_bytes, NULL);
  metric_sample(set, PACKETS_TOTAL, c[0].sent_packets + c[1].sent_packets, NULL);
  metric_sample(set, SUCCESS, ok ? SHARE_ONE : 0, NULL);
  metric_sample(set, RETRANSMISSIONS, handshake_retransmissions(node->handshake), NULL);
  sample_utilisation(node, trail->at - node->initiated.at);
  if (ok) {
    metric_sample_between(set, TUNNEL_SETUP, &node->initiated, trail);
    path_is_up(node, trail);
    return;
  }
  metric_sample_between(set, GAVE_UP, &node->initiated, trail);
  fail_the_rest(node);
}

static int64_t path_latency(const void *row, int64_t size_bytes, uint64_t uniform) { return cost_draw(row, size_bytes, uniform); }

static void run(const void *state, const struct domain_run *run) {
  const struct setup *setup = state;
  struct node *node = sim_alloc(run->sim, sizeof *node);
  *node = (struct node){.setup = setup, .run = run, .responses = -1, .key = {.seed = run->seed, .replication = run->replication, .entity = ENTITY_NODE}};
  int gnb = run->net->ops->node_add(run->net), gateway = run->net->ops->node_add(run->net);
  node->link = run->net->ops->link_add(run->net, gnb, gateway, &setup->link);
  for (int side = 0; side < 2; side++) {
    struct draw_key key = node->key;
    key.entity = (uint32_t)(ENTITY_NODE * 2 + side);
    const struct cost_row *row = setup->path[side];
    struct port_latency latency = {row ? path_latency : NULL, row, row && cost_is_random(row)};
    node->ports[side] = port_new(run->sim, run->net, node->link, (enum net_side)side, latency, &key);
    node->cpus[side] = cpu_new(run->sim, side == 0 ? 1 : setup->gateway_cores);
  }
  trail_begin(&node->initiated, 0);
  if (setup->table.count > 0) {
    struct handshake_peers peers = {run->sim, {node->ports[0], node->ports[1]}, {node->cpus[0], node->cpus[1]}};
    struct handshake_observer observer = {message_sent, message_received, set_up_finished, node};
    node->handshake = handshake_start(&peers, &setup->table, &setup->ike.ladder, &node->key, &observer, &node->initiated);
  } else {
    metric_sample(run->metrics, SUCCESS, SHARE_ONE, NULL);
    path_is_up(node, &node->initiated);
  }
  bool stop = false;
  run->net->ops->run(run->net, SIMTIME_HORIZON, &stop);
  for (int64_t i = probe_lost(node->probe); i > 0; i--) metric_fail(run->metrics, DATA_LATENCY);
  for (int64_t i = probe_unpaired(node->probe); i > 0; i--) metric_fail(run->metrics, IPSEC_OVERHEAD);
}

static const struct param_table *const tables[] = {&net_path_params, &own_params, &ikev2_params, &e2ap_params, &sctp_params, &probe_params};

const struct domain domain_e2 = {
    .name = "e2",
    .title = "O-RAN E2: IKEv2/IPsec between a gNB and the near-RT RIC's gateway",
    .tables = tables,
    .table_count = sizeof tables / sizeof *tables,
    .metrics = metrics,
    .metric_count = METRIC_COUNT_E2,
    .prepare = prepare,
    .run = run,
    .discard = discard,
    .cost_hash = cost_hash,
    .is_random = is_random,
    .warnings = warnings,
};
