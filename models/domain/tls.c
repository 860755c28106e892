/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/domain/tls.h"

#include "models/crypto/cost_name.h"
#include "models/domain/app.h"
#include "models/domain/platforms.h"
#include "models/domain/tls_metrics.h"
#include "models/security/tls13.h"
#include "models/transport/tcp.h"

#include <stdlib.h>

/* ---- A point --------------------------------------------------------------------------------------------------- */

static const struct param platform_rows[] = {
    {.key = "platform.client",
        .kind = PARAM_NAME,
        .fallback = "epyc-zen5",
        .check = cost_name_check,
        .part = cost_name_check_part,
        .help = "machine of the client"},
    {.key = "platform.server",
        .kind = PARAM_NAME,
        .fallback = "epyc-zen5",
        .check = cost_name_check,
        .part = cost_name_check_part,
        .help = "machine of the server"},
};

static const struct param_table platform_params = {platform_rows, sizeof platform_rows / sizeof *platform_rows};

static const char *const platform_keys[2] = {"platform.client", "platform.server"};

struct setup {
  struct net_link_config link;
  struct tcp_config tcp[2];
  struct tls13_config tls;
  struct app_config app;
  const struct cost_platform *platforms[2];
  const struct cost_row *path_latency[2];
  struct dialogue_script handshake[2], request[2];
};

static void discard(void *state) {
  struct setup *setup = state;
  if (!setup) return;
  platforms_release(setup->platforms, 2);
  free(setup);
}

static int prepare_scripts(struct setup *setup, struct err *e) {
  tls13_scripts(&setup->tls, setup->handshake);
  app_scripts(&setup->app, tls13_cipher(&setup->tls), TLS13_USE_SYMMETRIC, setup->request);
  int rc = 0;
  for (int side = 0; side < 2; side++) {
    rc |= dialogue_resolve(&setup->handshake[side], setup->platforms[side], platform_keys[side], e);
    if (setup->app.requests > 0) rc |= dialogue_resolve(&setup->request[side], setup->platforms[side], platform_keys[side], e);
    setup->path_latency[side] = cost_find(setup->platforms[side], "software", "path");
  }
  return rc;
}

static int prepare(const struct domain_point *point, void **state, struct err *e) {
  const struct config *config = point->config;
  struct setup *setup = calloc(1, sizeof *setup);
  if (!setup) abort();
  int rc = net_path_check(config, point->ops, e);
  if (!rc) net_path_config(config, &setup->link);
  if (!rc) rc = tcp_configure(config, setup->link.mtu_bytes, setup->tcp, e);
  if (!rc) rc = tls13_configure(config, &setup->tls, e);
  if (!rc) rc = app_configure(config, &setup->app, e);
  if (!rc) rc = platforms_load(config, platform_keys, 2, point->base_dir, setup->platforms, e);
  if (!rc) rc = prepare_scripts(setup, e);
  if (rc) {
    discard(setup);
    return rc;
  }
  *state = setup;
  return 0;
}

static uint64_t cost_hash(const void *state) {
  const struct setup *setup = state;
  return platforms_hash(setup->platforms, 2, 0);
}

static bool is_random(const void *state) {
  const struct setup *setup = state;
  bool random = false;
  for (int side = 0; side < 2; side++) {
    const struct net_direction *direction = &setup->link.direction[side];
    random |= direction->loss.gemodel || direction->loss.loss_ppb > 0 || direction->jitter > 0;
    random |= dialogue_is_random(&setup->handshake[side]) || (setup->app.requests > 0 && dialogue_is_random(&setup->request[side]));
    random |= setup->path_latency[side] && cost_is_random(setup->path_latency[side]);
  }
  return random;
}

static void warnings(const void *state, void (*fn)(void *arg, const char *text), void *arg) {
  const struct setup *setup = state;
  platforms_warn(setup->platforms, platform_keys, 2, "tls_message", fn, arg);
}

/* ---- A run ----------------------------------------------------------------------------------------------------- */

/* One client that makes one connection after another. */
struct client {
  const struct setup *setup;
  const struct domain_run *run;
  struct port *ports[2];
  struct cpu *cpus[2];
  struct stream *stream;
  struct dialogue *dialogue;
  int link;
  int connections, asked; /* begun */
  bool at_handshake;
  struct trail called, connected, request;
  struct trail ends[2]; /* where the two scripts are */
  int64_t crypto, cpu[2];
  bool stop;
};

static struct draw_key key_of(const struct client *client) {
  return (struct draw_key){.seed = client->run->seed, .replication = client->run->replication, .entity = 1};
}

static void sample(const struct client *client, enum tls_metric metric, int64_t value) { metric_sample(client->run->metrics, (int)metric, value, NULL); }

static void sample_between(const struct client *client, enum tls_metric metric, const struct trail *from, const struct trail *to) {
  metric_sample_between(client->run->metrics, (int)metric, from, to);
}

static void sample_wire(const struct client *client) {
  static const enum tls_metric bytes[2] = {TLS_BYTES_C2S, TLS_BYTES_S2C}, segments[2] = {TLS_SEGMENTS_C2S, TLS_SEGMENTS_S2C};
  for (int side = 0; side < 2; side++) {
    struct stream_counters counters;
    stream_counters(client->stream, (enum net_side)side, &counters);
    sample(client, bytes[side], counters.payload_bytes);
    sample(client, segments[side], counters.data_segments);
  }
}

static void sample_recovery(const struct client *client) {
  struct stream_counters counters[2];
  for (int side = 0; side < 2; side++) stream_counters(client->stream, (enum net_side)side, &counters[side]);
  sample(client, TLS_RETRANSMISSIONS, counters[0].retransmissions + counters[1].retransmissions);
  sample(client, TLS_TIMEOUTS, counters[0].timeouts + counters[1].timeouts);
}

static void handshake_done(struct client *client, const struct trail *trail) {
  sample_between(client, TLS_CONNECT, &client->called, &client->connected);
  sample_between(client, TLS_HANDSHAKE_TCP, &client->called, trail);
  sample_between(client, TLS_HANDSHAKE, &client->connected, trail);
  int64_t waited_for = 0;
  for (int part = 0; part < PART_CRYPTO_COUNT; part++) waited_for += trail->parts[part] - client->called.parts[part];
  sample(client, TLS_HIDDEN_CRYPTO, client->crypto - waited_for);
  sample(client, TLS_CLIENT_CPU, client->cpu[NET_A]);
  sample(client, TLS_HNDL_EXPOSED, tls13_key_exchange_is_quantum_safe(&client->setup->tls) ? 0 : SHARE_ONE);
  sample(client, TLS_AUTH_EXPOSED, tls13_authentication_is_quantum_safe(&client->setup->tls) ? 0 : SHARE_ONE);
}
