/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/domain/tls.h"

#include "models/crypto/cost_name.h"
#include "models/application/http2_config.h"
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
  const struct cost_row *path_latency[2], *wake[2];
  struct dialogue_script opening[2]; /* the handshake, and the first request on its heels */
  struct dialogue_script request[2]; /* another one on the same connection */
  struct channel_kind channel;       /* with HTTP/2, as is */
  struct http2_site site;
};

static void discard(void *state) {
  struct setup *setup = state;
  if (!setup) return;
  platforms_release(setup->platforms, 2);
  free(setup);
}

static int prepare_scripts(struct setup *setup, struct err *e) {
  const struct app_config *app = &setup->app;
  tls13_handshake(&setup->tls, setup->platforms, setup->opening);
  if (app->requests > 0 && !app->http2) tls13_exchange(&setup->tls, &app->exchange, true, setup->opening);
  if (app->requests > 1 && !app->http2) tls13_exchange(&setup->tls, &app->exchange, false, setup->request);
  int rc = 0;
  for (int side = 0; side < 2; side++) {
    rc |= dialogue_resolve(&setup->opening[side], setup->platforms[side], platform_keys[side], e);
    rc |= dialogue_resolve(&setup->request[side], setup->platforms[side], platform_keys[side], e);
    setup->path_latency[side] = cost_find(setup->platforms[side], "software", "path");
    setup->wake[side] = cost_find(setup->platforms[side], "software", "wake");
  }
  return rc ? ERR_INPUT : 0;
}

static void prepare_http2(struct setup *setup, const struct config *config) {
  const struct tls13_exchange *exchange = &setup->app.exchange;
  struct tls13_messages messages;
  tls13_messages(&setup->tls, &messages);
  setup->channel = (struct channel_kind){
      .tcp = {&setup->tcp[NET_A], &setup->tcp[NET_B]},
      .handshake = setup->opening,
      .ticket_count = setup->tls.tickets,
      .ticket_bytes = tls13_records_bytes(messages.ticket),
  };
  channel_find_rows(&setup->channel, &setup->tls, setup->platforms);
  for (int side = 0; side < 2; side++) setup->channel.rows[side].message = cost_find(setup->platforms[side], "software", "http2_message");
  http2_configure(config, exchange->request_bytes, exchange->response_bytes, true, &setup->site);
}

/* Rules about the ClientHello stand in front of the server. */
static int prepare_middlebox(struct setup *setup, const struct config *config, const struct net_ops *ops, struct err *e) {
  enum net_middlebox rule = net_path_middlebox(config, NET_A);
  if (config_is_set(config, "path.down.middlebox") && net_path_middlebox(config, NET_B) > NET_DROP_FRAGMENTS)
    return err_add(
        e, ERR_INPUT, "path.down.middlebox: found %s, but a ClientHello goes up; allowed none, drop_fragments", config_text(config, "path.down.middlebox"));
  if (rule <= NET_DROP_FRAGMENTS) return 0;
  if (ops->caps & NET_CAP_STREAM)
    return err_add(e, ERR_INPUT, "path.middlebox: found %s, which backend %s cannot do; allowed none, drop_fragments, or --backend native",
        config_text(config, "path.up.middlebox"), ops->name);
  bool whole = rule == NET_DROP_SPLIT_HELLO || rule == NET_RESET_SPLIT_HELLO;
  setup->tcp[NET_B].first_segment_least = whole ? tls13_hello_bytes(&setup->tls) : tls13_first_record_bytes(&setup->tls);
  setup->tcp[NET_B].middlebox_resets = rule == NET_RESET_SPLIT_HELLO || rule == NET_RESET_SPLIT_RECORD;
  return 0;
}

static int prepare(const struct domain_point *point, void **state, struct err *e) {
  const struct config *config = point->config;
  struct setup *setup = calloc(1, sizeof *setup);
  if (!setup) abort();
  int rc = net_path_check(config, point->ops, e);
  if (!rc) net_path_config(config, &setup->link);
  if (!rc) rc = tcp_configure(config, setup->link.mtu_bytes, setup->tcp, e);
  if (!rc && point->ops->caps & NET_CAP_STREAM && setup->tcp[NET_A].behaviour->rack)
    rc = err_add(e, ERR_INPUT, "tcp.profile: found %s, which the backend %s does not know: its TCP is its own; allowed ns3, or --backend native",
        setup->tcp[NET_A].name, point->ops->name);
  if (!rc) rc = platforms_load(config, platform_keys, 2, point->base_dir, setup->platforms, e);
  if (!rc) rc = app_configure(config, &setup->app, e);
  if (!rc) rc = tls13_configure(config, setup->platforms[NET_B], &setup->tls, e);
  /* HTTP/2 is agreed on by its name in ALPN. */
  if (!rc && setup->app.http2 && setup->tls.alpn_bytes == 0) setup->tls.alpn_bytes = 2;
  if (!rc) rc = prepare_middlebox(setup, config, point->ops, e);
  if (!rc && setup->app.exchange.waits && point->ops->caps & NET_CAP_STREAM)
    rc = err_add(e, ERR_INPUT, "app.waits: found yes, but backend %s does not tell of acknowledgements; allowed no, or --backend native", point->ops->name);
  if (!rc) rc = prepare_scripts(setup, e);
  if (!rc && setup->app.http2) prepare_http2(setup, config);
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
    /* Where timers fire, it matters where the host's ticks lie. */
    random |= setup->tcp[side].behaviour->tick > 0 && (direction->drop_count > 0 || direction->outage_until > 0 || !setup->tcp[side].nodelay);
    random |= dialogue_is_random(&setup->opening[side]) || dialogue_is_random(&setup->request[side]);
    random |= setup->app.http2 && channel_is_random(&setup->channel);
    random |= setup->path_latency[side] && cost_is_random(setup->path_latency[side]);
    random |= setup->wake[side] && cost_is_random(setup->wake[side]);
  }
  return random;
}

static void warnings(const void *state, void (*fn)(void *arg, const char *text), void *arg) {
  const struct setup *setup = state;
  for (int side = 0; side < 2; side++) {
    const struct cost_platform *platform = setup->platforms[side];
    platforms_warn_software(platform, platform_keys[side], "tls_message", "TLS and the kernel", fn, arg);
    if (setup->app.http2) platforms_warn_software(platform, platform_keys[side], "http2_message", "HTTP/2 and the kernel", fn, arg);
    if (side == 0 || platform != setup->platforms[0]) platforms_warn_frozen(platform, platform_keys[side], fn, arg);
  }
}

/* ---- A run ----------------------------------------------------------------------------------------------------- */

/* One client that makes one connection after another. */
struct client {
  const struct setup *setup;
  const struct domain_run *run;
  struct port *ports[2];
  struct cpu *cpus[2];
  struct connection *connection;
  int link;
  int connections, asked; /* begun */
  int open;               /* connections of HTTP/2 that are planned or have not ended */
  bool stop;
};

struct connection {
  struct client *client;
  const struct stream *transport;
  struct stream *stream;
  struct dialogue *dialogue;
  struct http2 *http2;
  int under_way; /* requests */
  struct trail called, connected, hello, request;
  struct trail ends[2];   /* where the two scripts are */
  int64_t crypto, cpu[2]; /* of the handshake, what overlaps counted in full */
  bool opened, done[2], failed, first_byte;
  int pausing; /* between a response and the next request */
  int answered;
};

static void sample(const struct client *client, enum tls_metric metric, int64_t value) { metric_sample(client->run->metrics, (int)metric, value, NULL); }

static void sample_between(const struct client *client, enum tls_metric metric, const struct trail *from, const struct trail *to) {
  metric_sample_between(client->run->metrics, (int)metric, from, to);
}

static void sample_connection(const struct connection *connection) {
  static const enum tls_metric bytes[2] = {TLS_BYTES_C2S, TLS_BYTES_S2C}, segments[2] = {TLS_SEGMENTS_C2S, TLS_SEGMENTS_S2C};
  const struct client *client = connection->client;
  struct stream_counters counters[2];
  for (int side = 0; side < 2; side++) {
    stream_counters(connection->transport, (enum net_side)side, &counters[side]);
    if (connection->failed) continue;
    sample(client, bytes[side], counters[side].payload_bytes);
    sample(client, segments[side], counters[side].data_segments);
  }
  sample(client, TLS_RETRANSMISSIONS, counters[0].retransmissions + counters[1].retransmissions);
  if (!(client->run->net->ops->caps & NET_CAP_STREAM)) sample(client, TLS_TIMEOUTS, counters[0].timeouts + counters[1].timeouts);
  sample(client, TLS_SUCCESS, connection->failed ? 0 : SHARE_ONE);
}

static simtime on_wire(const struct net_direction *direction, const struct net_link_config *link, int64_t packet_bytes) {
  return (simtime)((__int128)(packet_bytes + link->l2_overhead_bytes) * 8 * 1000000000 / direction->rate_bps);
}

enum { TCP_HEADERS = 20 + 20 + 12 };

/* When the ClientHello has left: what a capture behind the client's queue sees. An acknowledgement of TCP's goes before it. */
static void hello_sent(struct connection *connection, const struct trail *trail) {
  const struct net_link_config *link = &connection->client->setup->link;
  const struct net_direction *up = &link->direction[NET_A];
  const int64_t most = connection->client->setup->tcp[NET_A].segment_bytes;
  simtime at = connection->connected.at + on_wire(up, link, TCP_HEADERS);
  connection->hello = *trail;
  if (at < trail->at) at = trail->at;
  for (int64_t left = tls13_hello_bytes(&connection->client->setup->tls); left > 0; left -= most) {
    trail_advance(&connection->hello, PART_LINK_QUEUE, at);
    at += on_wire(up, link, TCP_HEADERS + (left < most ? left : most));
  }
  trail_advance(&connection->hello, PART_SERIALISATION, at);
}

/* The same for the first packet of the client's last flight. */
static void sample_capture(const struct connection *connection, const struct trail *done) {
  const struct setup *setup = connection->client->setup;
  const int64_t flight = tls13_client_flight_bytes(&setup->tls), most = setup->tcp[NET_A].segment_bytes;
  struct trail left = *done;
  trail_advance(&left, PART_SERIALISATION, done->at + on_wire(&setup->link.direction[NET_A], &setup->link, TCP_HEADERS + (flight < most ? flight : most)));
  sample_between(connection->client, TLS_HANDSHAKE, &connection->hello, &left);
}

static void client_done(struct connection *connection, const struct trail *trail) {
  const struct client *client = connection->client;
  sample_between(client, TLS_HANDSHAKE_TCP, &connection->called, trail);
  sample_capture(connection, trail);
  int64_t waited_for = 0;
  for (int part = 0; part < PART_CRYPTO_COUNT; part++) waited_for += trail->parts[part] - connection->called.parts[part];
  sample(client, TLS_HIDDEN_CRYPTO, connection->crypto - waited_for);
  sample(client, TLS_CLIENT_CPU, connection->cpu[NET_A]);
  sample(client, TLS_HNDL_EXPOSED, tls13_kex_is_quantum_safe(&client->setup->tls) ? 0 : SHARE_ONE);
  sample(client, TLS_AUTH_EXPOSED, tls13_auth_is_quantum_safe(&client->setup->tls) ? 0 : SHARE_ONE);
}

static void marked(void *arg, enum net_side side, int mark, const struct trail *trail) {
  struct connection *connection = arg;
  const struct client *client = connection->client;
  connection->ends[side] = *trail;
  switch ((enum tls13_mark)mark) {
  case TLS13_OPEN:
    if (side == NET_B) break;
    connection->opened = true;
    connection->connected = *trail;
    sample_between(client, TLS_CONNECT, &connection->called, trail);
    break;
  case TLS13_HELLO_SENT:
    hello_sent(connection, trail);
    break;
  case TLS13_CLIENT_DONE:
    connection->done[side] = true;
    client_done(connection, trail);
    break;
  case TLS13_FLIGHT_ACKED:
    sample_between(client, TLS_FLIGHT_ACKED, &connection->called, trail);
    break;
  case TLS13_SERVER_DONE:
    connection->done[side] = true;
    sample_between(client, TLS_SERVER_HANDSHAKE, &connection->called, trail);
    sample(client, TLS_SERVER_CPU, connection->cpu[NET_B]);
    break;
  case TLS13_REQUEST_BEGUN:
    connection->request = *trail;
    break;
  case TLS13_FIRST_BYTE:
    if (connection->answered == 0) sample_between(client, TLS_FIRST_BYTE, &connection->called, trail);
    break;
  case TLS13_LAST_BYTE:
    if (connection->answered++ == 0) sample_between(client, TLS_LAST_BYTE, &connection->called, trail);
    sample_between(client, TLS_REQUEST, &connection->request, trail);
    break;
  default:
    break;
  }
}

static void worked(void *arg, enum net_side side, int use, int64_t duration) {
  struct connection *connection = arg;
  if (connection->done[side]) return;
  connection->cpu[side] += duration;
  if (use != TLS13_SOFTWARE && !connection->done[NET_A]) connection->crypto += duration;
}

static void failed(void *arg, enum net_side side, enum stream_end why, const struct trail *trail) {
  struct connection *connection = arg;
  (void)side;
  (void)why;
  (void)trail;
  if (connection->failed) return;
  connection->failed = true;
  struct metric_set *metrics = connection->client->run->metrics;
  if (!connection->opened) metric_fail(metrics, TLS_CONNECT);
  if (connection->done[NET_A]) return;
  metric_fail(metrics, TLS_HANDSHAKE_TCP);
  metric_fail(metrics, TLS_HANDSHAKE);
}

static void connect(struct sim *sim, void *arg);

static void ask_again(struct sim *sim, void *arg) {
  struct connection *connection = arg;
  struct client *client = connection->client;
  const struct dialogue_script *scripts[2] = {&client->setup->request[NET_A], &client->setup->request[NET_B]};
  for (int side = 0; side < 2; side++) trail_advance(&connection->ends[side], PART_APPLICATION, sim_now(sim));
  client->asked++;
  dialogue_start(connection->dialogue, connection->stream, scripts, (uint32_t)client->asked, connection->ends);
}

/* Both scripts have ended: the next request, on this connection or on another, or the end. */
static void over(void *arg) {
  struct connection *connection = arg;
  struct client *client = connection->client;
  const struct app_config *app = &client->setup->app;
  struct sim *sim = client->run->sim;
  bool more = client->asked < app->requests;
  if (more && app->kept && !connection->failed) {
    event_at(sim, sim_now(sim) + app->every, ask_again, connection);
    return;
  }
  sample_connection(connection);
  if (more && !app->kept)
    event_at(sim, sim_now(sim) + app->every, connect, client);
  else
    client->stop = true;
}

/* ---- HTTP/2 ------------------------------------------------------------------------------------------------------ */

struct request {
  struct connection *connection;
  struct http2_stream *stream;
  struct trail begun, served; /* at the client, at the server */
};

static void request_next(struct connection *connection, const struct trail *trail) {
  struct client *client = connection->client;
  struct request *request = sim_alloc(client->run->sim, sizeof *request);
  request->connection = connection;
  request->begun = *trail;
  client->asked++;
  connection->under_way++;
  http2_request(connection->http2, &client->setup->site.request, client->setup->app.exchange.request_bytes, request, trail);
}

static void stop_when_all_ended(struct client *client) {
  if (client->open == 0) client->stop = true;
}

static void http2_up(void *arg, enum net_side side, const struct trail *trail) {
  struct connection *connection = arg;
  const struct client *client = connection->client;
  const struct app_config *app = &client->setup->app;
  if (side == NET_B) return;
  request_next(connection, trail);
  while (app->kept && connection->under_way < app->concurrent && client->asked < app->requests) request_next(connection, trail);
}

static void respond(struct sim *sim, void *arg) {
  struct request *request = arg;
  const struct setup *setup = request->connection->client->setup;
  trail_advance(&request->served, PART_APPLICATION, sim_now(sim));
  http2_respond(request->stream, &setup->site.response, setup->app.exchange.response_bytes, &request->served);
}

static void requested(void *arg, struct http2_stream *stream, const struct trail *trail) {
  const struct client *client = ((struct connection *)arg)->client;
  struct request *request = http2_content(stream);
  request->stream = stream;
  request->served = *trail;
  event_at(client->run->sim, sim_now(client->run->sim) + client->setup->app.exchange.service, respond, request);
}

static void answering(void *arg, struct http2_stream *stream, const struct trail *trail) {
  struct connection *connection = arg;
  (void)stream;
  if (connection->first_byte) return;
  connection->first_byte = true;
  sample_between(connection->client, TLS_FIRST_BYTE, &connection->called, trail);
}

static void ask_after_pause(struct sim *sim, void *arg) {
  struct request *request = arg;
  struct connection *connection = request->connection;
  connection->pausing--;
  if (connection->failed) return;
  trail_advance(&request->begun, PART_APPLICATION, sim_now(sim));
  request_next(connection, &request->begun);
}

static void answered(void *arg, struct http2_stream *stream, const struct trail *trail) {
  struct connection *connection = arg;
  struct client *client = connection->client;
  struct request *request = http2_content(stream);
  const struct app_config *app = &client->setup->app;
  struct sim *sim = client->run->sim;
  if (connection->answered++ == 0) sample_between(client, TLS_LAST_BYTE, &connection->called, trail);
  sample_between(client, TLS_REQUEST, &request->begun, trail);
  connection->under_way--;
  bool more = client->asked + connection->pausing < app->requests;
  if (more && app->kept) {
    connection->pausing++;
    request->begun = *trail;
    event_at(sim, sim_now(sim) + app->every, ask_after_pause, request);
    return;
  }
  if (connection->under_way + connection->pausing > 0) return;
  if (more) {
    client->open++;
    event_at(sim, sim_now(sim) + app->every, connect, client);
  }
  http2_close(connection->http2, trail);
}

static void unanswered(void *arg, struct http2_stream *stream, const struct trail *trail) {
  (void)stream;
  failed(arg, NET_A, STREAM_RESET, trail);
}

static void http2_down(void *arg, enum stream_end why, const struct trail *trail) {
  struct connection *connection = arg;
  struct client *client = connection->client;
  bool all = connection->answered > 0 && connection->under_way + connection->pausing == 0;
  if (!all || why != STREAM_FINISHED) failed(connection, NET_A, why, trail);
  sample_connection(connection);
  client->open--;
  stop_when_all_ended(client);
}

static void connect_http2(struct client *client, struct connection *connection, const struct draw_key *key) {
  static const struct http2_observer observer = {requested, answering, answered, unanswered, http2_up, http2_down, marked, worked, NULL};
  struct http2_observer mine = observer;
  mine.arg = connection;
  trail_begin(&connection->called, sim_now(client->run->sim));
  connection->http2 =
      http2_connect(client->run->sim, client->ports, client->cpus, &client->setup->channel, &client->setup->site.connection, &mine, key, &connection->called);
  connection->transport = http2_transport(connection->http2);
}

/* ------------------------------------------------------------------------------------------------------------------ */

static void connect(struct sim *sim, void *arg) {
  struct client *client = arg;
  const struct setup *setup = client->setup;
  struct connection *connection = sim_alloc(sim, sizeof *connection);
  const struct dialogue_observer observer = {marked, worked, failed, over, connection};
  const struct draw_key key = {.seed = client->run->seed, .replication = client->run->replication, .entity = 1, .message = (uint32_t)client->connections};
  struct stream_observer observers[2];
  client->connection = connection;
  connection->client = client;
  if (setup->app.http2) {
    client->connections++;
    connect_http2(client, connection, &key);
    return;
  }
  connection->dialogue = dialogue_new(sim, client->cpus, setup->wake, &observer, &key);
  dialogue_listen(connection->dialogue, observers);
  const struct tcp_config *tcp[2] = {&setup->tcp[NET_A], &setup->tcp[NET_B]};
  connection->transport = connection->stream = stream_new(sim, client->ports, tcp, observers, &key);
  client->connections++;
  client->asked++;
  const struct dialogue_script *scripts[2] = {&setup->opening[NET_A], &setup->opening[NET_B]};
  dialogue_start(connection->dialogue, connection->stream, scripts, (uint32_t)client->asked, NULL);
  trail_begin(&connection->called, sim_now(sim));
  stream_connect(connection->stream, &connection->called);
}

static int64_t draw_path_latency(const void *row, int64_t size_bytes, uint64_t uniform) { return cost_draw(row, size_bytes, uniform); }

static void run(const void *state, const struct domain_run *run) {
  const struct setup *setup = state;
  struct sim *sim = run->sim;
  const struct net_ops *ops = run->net->ops;
  struct client client = {.setup = setup, .run = run, .open = 1};
  const struct draw_key key = {.seed = run->seed, .replication = run->replication, .entity = 1};
  int nodes[2];
  for (int side = 0; side < 2; side++) nodes[side] = ops->node_add(run->net);
  client.link = ops->link_add(run->net, nodes[NET_A], nodes[NET_B], &setup->link, 1);
  for (int side = 0; side < 2; side++) {
    const struct cost_row *row = setup->path_latency[side];
    const struct port_latency latency = {row ? draw_path_latency : NULL, row, row && cost_is_random(row)};
    client.ports[side] = port_new(sim, run->net, client.link, (enum net_side)side, latency, &key);
    client.cpus[side] = cpu_new(sim, 1);
  }
  connect(sim, &client);
  ops->run(run->net, SIMTIME_HORIZON, &client.stop);
  struct net_counters counters[2];
  for (int side = 0; side < 2; side++) ops->counters(run->net, client.link, (enum net_side)side, &counters[side]);
  sample(&client, TLS_BYTES_TOTAL, counters[0].sent_bytes + counters[1].sent_bytes);
  sample(&client, TLS_PACKETS_TOTAL, counters[0].sent_packets + counters[1].sent_packets);
}

/* ---- The family ------------------------------------------------------------------------------------------------ */

static const struct param_table *const tables[] = {&net_path_params, &tcp_params, &tls13_params, &app_params, &http2_params, &platform_params};

const struct domain domain_tls = {
    .name = "tls",
    .title = "TLS 1.3 over TCP: one client and one server",
    .tables = tables,
    .table_count = sizeof tables / sizeof *tables,
    .metrics = tls_metric_defs,
    .metric_count = TLS_METRICS,
    .prepare = prepare,
    .run = run,
    .discard = discard,
    .cost_hash = cost_hash,
    .is_random = is_random,
    .warnings = warnings,
};
