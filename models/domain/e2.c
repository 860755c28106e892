/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/domain/e2.h"

#include "models/crypto/cost_name.h"
#include "models/domain/fleet.h"
#include "models/domain/platforms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)

/* ---- Parameters ------------------------------------------------------------------------------------------------ */

static const struct param platform_rows[] = {
    {.key = "platform.initiator",
        .kind = PARAM_NAME,
        .fallback = "epyc-zen5",
        .check = cost_name_check,
        .part = cost_name_check_part,
        .help = "machine of the gNB, which starts the tunnel"},
    {.key = "platform.responder",
        .kind = PARAM_NAME,
        .fallback = "epyc-zen5",
        .check = cost_name_check,
        .part = cost_name_check_part,
        .help = "machine of the gateway in front of the RIC"},
};

static const struct param_table platform_params = {platform_rows, sizeof platform_rows / sizeof *platform_rows};

static const struct param hsm_rows[] = {
    {.key = "platform.hsm",
        .kind = PARAM_NAME,
        .follows = "platform.responder",
        .check = cost_name_check,
        .part = cost_name_check_part,
        .help = "whose costs private-key operations have in the gateway's HSM (gateway.hsm)"},
};

static const struct param_table hsm_params = {hsm_rows, sizeof hsm_rows / sizeof *hsm_rows};

static const struct param run_rows[] = {
    {.key = "duration",
        .kind = PARAM_TIME,
        .fallback = "0s",
        .min = 0,
        .max = 366 * 86400 * SECOND,
        .help = "how long a run lasts, with control loops, rekeying and dead peer detection; 0s: until set-up and probes are over"},
    {.key = "warmup",
        .kind = PARAM_TIME,
        .fallback = "0s",
        .min = 0,
        .max = 366 * 86400 * SECOND,
        .help = "time at the beginning that steady metrics leave out"},
};

static const struct param_table duration_params = {run_rows, sizeof run_rows / sizeof *run_rows};

/* ---- A point --------------------------------------------------------------------------------------------------- */

/* A group of nodes, or all of them. */
struct class {
  const char *name; /* NULL: all */
  const struct config *config;
  const struct cost_platform *platforms[HANDSHAKE_PLATFORMS];
};

struct setup {
  int class_count;
  struct class *classes;
  struct node_config *nodes; /* of each class */
  unsigned char *groups;     /* of each node, NULL without groups */
  bool shares_scaled;
  struct fleet_config fleet;
};

static const char *const platform_keys[HANDSHAKE_PLATFORMS] = {"platform.initiator", "platform.responder", "platform.hsm"};

static void discard(void *state) {
  struct setup *setup = state;
  if (!setup) return;
  for (int c = 0; c < setup->class_count; c++) {
    tunnel_config_free(&setup->nodes[c].tunnel);
    platforms_release(setup->classes[c].platforms, HANDSHAKE_PLATFORMS);
  }
  free(setup->groups);
  free(setup->classes);
  free(setup->nodes);
  free(setup);
}

/* Which platform rows a protected packet costs; without them ESP is refused rather than free. */
static int load_esp(const struct class *class, const struct ikev2_config *ike, struct secure_path_config *esp, struct err *e) {
  const char *title = ikev2_esp_titles[ike->esp];
  for (int side = 0; side < 2; side++) {
    const struct cost_platform *platform = class->platforms[side];
    esp->packet[side] = cost_find(platform, "software", "esp_packet");
    esp->seal[side] = cost_find(platform, title, "seal");
    esp->open[side] = cost_find(platform, title, "open");
    if (!esp->seal[side] || !esp->open[side])
      return err_add(
          e, ERR_INPUT, "%s: platform %s states no cost for %s seal and open, which ipsec.esp needs", platform_keys[side], cost_platform_name(platform), title);
  }
  return 0;
}

/* How long the sender's direction may take to carry all probe packets from one moment on, with a second to spare for what
 * the platforms add. */
static simtime drain_time(const struct node_config *node) {
  const struct net_direction *direction = &node->links[0].direction[0];
  int64_t larger = node->probe.burst > 0 && node->probe.burst_bytes > node->probe.size_bytes ? node->probe.burst_bytes : node->probe.size_bytes;
  int64_t payload = esp_packet_bytes(larger, ESP_TUNNEL, true) - ESP_IPV4_HEADER_BYTES;
  int64_t packets = net_fragment_count(payload, node->links[0].mtu_bytes);
  int64_t bytes = payload + packets * (ESP_IPV4_HEADER_BYTES + node->links[0].l2_overhead_bytes);
  int64_t most = node->probe.packets > node->probe.burst ? node->probe.packets : node->probe.burst;
  __int128 wire = (__int128)most * bytes * 8 * SECOND / direction->rate_bps;
  __int128 total = wire + direction->delay + direction->jitter + SECOND;
  return total < SIMTIME_HORIZON / 4 ? (simtime)total : SIMTIME_HORIZON / 4;
}

/* Both flows, and what the set-up took before, must fit a run. */
static int check_probe(const struct probe_config *probe, struct err *e) {
  enum { PARTS = 8 };
  if ((__int128)probe->packets * probe->interval <= SIMTIME_HORIZON / PARTS) return 0;
  return err_add(e, ERR_INPUT, "probe.packets: found %lld, but at probe.interval they take over %d years; allowed fewer or a shorter interval",
      (long long)probe->packets, (int)(SIMTIME_HORIZON / PARTS / (SECOND * 86400 * 365)));
}

static int prepare_tunnel(const struct class *class, struct node_config *node, struct err *e) {
  struct ikev2_config *ike = &node->tunnel.ike;
  node->protect = true;
  node->esp.mode = ike->transport_mode ? ESP_TRANSPORT : ESP_TUNNEL;
  node->esp.udp_encapsulated = ike->nat_traversal;
  node->hndl_exposed = !ikev2_key_exchange_is_quantum_safe(ike);
  node->auth_exposed = !ikev2_authentication_is_quantum_safe(ike);
  if (ike->session.keying_tries == 0 && !node->tunnel.maintained)
    return err_add(e, ERR_INPUT, "ipsec.keying_tries: found 0, for ever, allowed only in a run with a duration");
  int rc = tunnel_configure(&node->tunnel, class->platforms, platform_keys, e);
  return rc ? rc : load_esp(class, ike, &node->esp, e);
}

static int prepare_class(struct setup *setup, const struct domain_point *point, struct class *class, struct node_config *node, struct err *e) {
  const struct config *config = class->config;
  int rc = net_path_check(config, point->ops, e);
  for (int side = 0; side < 2 && !rc; side++)
    if (net_path_middlebox(config, (enum net_side)side) > NET_DROP_FRAGMENTS)
      rc = err_add(e, ERR_INPUT, "path.middlebox: found %s, which looks into TLS; allowed in this family none, drop_fragments",
          config_text(config, side == NET_A ? "path.up.middlebox" : "path.down.middlebox"));
  if (!rc) rc = ikev2_configure(config, &node->tunnel.ike, e);
  if (!rc)
    rc = platforms_load(
        config, platform_keys, setup->fleet.gateway.hsm > 0 ? HANDSHAKE_PLATFORMS : HANDSHAKE_PLATFORMS - 1, point->base_dir, class->platforms, e);
  if (rc) return rc;
  net_path_config(config, &node->links[0]);
  node->links[1] = node->links[0];
  for (int side = 0; side < 2; side++) node->links[1].direction[side].outage_until = 0;
  for (int side = 0; side < 2; side++) node->path_latency[side] = cost_find(class->platforms[side], "software", "path");
  node->tunnel.maintained = setup->fleet.duration > 0;
  node->hndl_exposed = node->auth_exposed = true;
  node->esp.user_space = secure_path_in_user_space(config);
  probe_configure(config, &node->probe);
  node->probe.drain = drain_time(node);
  rc = check_probe(&node->probe, e);
  if (!rc && node->tunnel.ike.kex_count > 0) rc = prepare_tunnel(class, node, e);
  if (rc) return rc;
  int mtu = node->protect ? secure_path_mtu(&node->esp, node->links[0].mtu_bytes) : node->links[0].mtu_bytes;
  node->probe.protected_flow = node->protect;
  rc = e2ap_configure(config, mtu, &node->e2ap, e);
  node->probe.shared = setup->fleet.duration > 0 && node->e2ap.enabled;
  return rc;
}

/* Sentences of a group begin with the group's own key. */
static int prepare_group(struct setup *setup, const struct domain_point *point, struct class *class, struct node_config *node, struct err *e) {
  struct err inner = {0};
  int rc = prepare_class(setup, point, class, node, &inner);
  char *save = NULL;
  for (char *line = rc ? strtok_r(inner.text, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save))
    rc = class->name ? err_add(e, inner.code, "groups.%s.%s", class->name, line) : err_add(e, inner.code, "%s", line);
  err_free(&inner);
  return rc;
}

static int prepare_fleet(const struct domain_point *point, struct fleet_config *fleet, struct err *e) {
  const struct config *config = point->config;
  fleet->duration = config_number(config, "duration");
  fleet->warmup = config_number(config, "warmup");
  if (fleet->warmup > 0 && fleet->warmup >= fleet->duration)
    return err_add(e, ERR_INPUT, "warmup: found %s, allowed less than duration (%s)", config_text(config, "warmup"), config_text(config, "duration"));
  int rc = population_configure(config, &fleet->population, e);
  return rc ? rc : gateway_configure(config, &fleet->gateway, e);
}

static int prepare_groups(const struct domain_point *point, struct setup *setup, struct err *e) {
  enum { GROUPS_MAX = 255 };
  int64_t shares[GROUPS_MAX];
  if (point->group_count == 0) return 0;
  if (point->group_count > GROUPS_MAX) return err_add(e, ERR_INPUT, "groups: found %d, allowed at most %d", point->group_count, GROUPS_MAX);
  int rc = population_shares(point->groups, point->group_count, shares, &setup->shares_scaled, e);
  if (rc) return rc;
  setup->groups = population_groups(setup->fleet.population.nodes, shares, point->group_count);
  return 0;
}

static int prepare(const struct domain_point *point, void **state, struct err *e) {
  struct setup *setup = calloc(1, sizeof *setup);
  if (!setup) abort();
  setup->class_count = point->group_count > 0 ? point->group_count : 1;
  setup->classes = calloc((size_t)setup->class_count, sizeof *setup->classes);
  setup->nodes = calloc((size_t)setup->class_count, sizeof *setup->nodes);
  if (!setup->classes || !setup->nodes) abort();
  int rc = prepare_fleet(point, &setup->fleet, e);
  if (!rc) rc = prepare_groups(point, setup, e);
  for (int c = 0; c < setup->class_count && !rc; c++) {
    const struct domain_group *group = point->group_count > 0 ? &point->groups[c] : NULL;
    setup->classes[c].name = group ? group->name : NULL;
    setup->classes[c].config = group ? group->config : point->config;
    rc = prepare_group(setup, point, &setup->classes[c], &setup->nodes[c], e);
  }
  if (rc) {
    discard(setup);
    return rc;
  }
  setup->fleet.group_count = point->group_count;
  setup->fleet.groups = setup->groups;
  setup->fleet.nodes = setup->nodes;
  setup->fleet.ric = setup->nodes[0].e2ap;
  *state = setup;
  return 0;
}

static uint64_t cost_hash(const void *state) {
  const struct setup *setup = state;
  uint64_t hash = 0;
  for (int c = 0; c < setup->class_count; c++) hash = platforms_hash(setup->classes[c].platforms, HANDSHAKE_PLATFORMS, hash);
  return hash;
}

static bool direction_is_random(const struct net_direction *direction) {
  return direction->loss.gemodel || direction->loss.loss_ppb > 0 || direction->jitter > 0;
}

static bool node_is_random(const struct node_config *node) {
  bool random = tunnel_is_random(&node->tunnel);
  for (int side = 0; side < 2; side++) {
    const struct cost_row *rows_used[] = {node->path_latency[side], node->esp.packet[side], node->esp.seal[side], node->esp.open[side]};
    for (size_t i = 0; i < sizeof rows_used / sizeof *rows_used; i++) random |= rows_used[i] && cost_is_random(rows_used[i]);
    random |= direction_is_random(&node->links[0].direction[side]);
  }
  return random;
}

static bool is_random(const void *state) {
  const struct setup *setup = state;
  const struct fleet_config *fleet = &setup->fleet;
  bool random = fleet->gateway.background_ppb > 0;
  random |= (fleet->population.start == POPULATION_POISSON || fleet->population.start == POPULATION_OUTAGE) && fleet->population.start_span > 0;
  /* Where nodes share anything, the phases of their indications matter. */
  random |= fleet->population.nodes > 1 && fleet->ric.enabled && fleet->ric.xapps > 0;
  for (int c = 0; c < setup->class_count; c++) random |= node_is_random(&setup->nodes[c]);
  return random;
}

static bool is_last_with(const struct setup *setup, int class, int side) {
  for (int c = class + 1; c < setup->class_count; c++)
    if (setup->nodes[c].protect && setup->classes[c].platforms[side] == setup->classes[class].platforms[side]) return false;
  return true;
}

/* Told once of a platform in several places of a class. */
static void warn_of_frozen(const struct setup *setup, int class, int place, void (*fn)(void *arg, const char *text), void *arg) {
  const struct cost_platform *const *platforms = setup->classes[class].platforms, *platform = platforms[place];
  for (int earlier = 0; earlier < place; earlier++)
    if (platforms[earlier] == platform) return;
  if (platform) platforms_warn_frozen(platform, platform_keys[place], fn, arg);
}

static void warnings(const void *state, void (*fn)(void *arg, const char *text), void *arg) {
  const struct setup *setup = state;
  if (setup->shares_scaled) fn(arg, "groups: the shares add up to more than 100 %; they are reduced in proportion");
  for (int c = 0; c < setup->class_count; c++)
    for (int place = 0; place < HANDSHAKE_PLATFORMS; place++) {
      if (!setup->nodes[c].protect || !is_last_with(setup, c, place)) continue;
      if (place < 2) platforms_warn_software(setup->classes[c].platforms[place], platform_keys[place], "ike_message", "the IKE daemon", fn, arg);
      warn_of_frozen(setup, c, place, fn, arg);
    }
}

static void run(const void *state, const struct domain_run *run) {
  const struct setup *setup = state;
  fleet_run(&setup->fleet, run);
}

static const struct param_table *const tables[] = {&net_path_params, &platform_params, &ikev2_params, &secure_path_params, &e2ap_params, &sctp_params,
    &probe_params, &population_params, &gateway_params, &hsm_params, &ric_params, &duration_params};
enum { TABLES = sizeof tables / sizeof *tables, GROUP_TABLES = 7 }; /* the first ones are a group's own */

const struct domain domain_e2 = {
    .name = "e2",
    .title = "O-RAN E2: gNBs behind IKEv2/IPsec, their gateway and the near-RT RIC",
    .tables = tables,
    .table_count = TABLES,
    .group_tables = tables,
    .group_table_count = GROUP_TABLES,
    .metrics = e2_metric_defs,
    .metric_count = E2_METRICS,
    .prepare = prepare,
    .run = run,
    .discard = discard,
    .cost_hash = cost_hash,
    .is_random = is_random,
    .warnings = warnings,
};
