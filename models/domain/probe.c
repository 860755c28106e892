/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/domain/probe.h"

#include <stddef.h>

static const struct param rows[] = {
    {.key = "probe.packets", .kind = PARAM_COUNT, .fallback = "10", .min = 0, .max = 1000000, .help = "packets of the probe flow after set-up; 0: none"},
    {.key = "probe.size", .kind = PARAM_SIZE, .fallback = "200B", .min = 28, .max = 65000, .help = "plain IPv4 packet of the probe flow"},
    {.key = "probe.interval", .kind = PARAM_TIME, .fallback = "1ms", .min = 1000, .max = INT64_C(3600000000000), .help = "time between probe packets"},
};

const struct param_table probe_params = {rows, sizeof rows / sizeof *rows};

void probe_configure(const struct config *config, struct probe_config *out) {
  out->packets = config_number(config, "probe.packets");
  out->size_bytes = config_number(config, "probe.size");
  out->interval = config_number(config, "probe.interval");
}

enum {
  /* Message numbers of probe packets, clear of those of the handshake before. */
  FIRST_NUMBER = 1 << 20,
};

struct packet {
  struct flow *flow;
  int64_t index;
  struct trail begin;
};

struct flow {
  struct probe *probe;
  bool protected;
  int64_t sent;
};

struct probe {
  struct secure_path *path;
  struct probe_config config;
  struct probe_result result;
  struct flow flows[2]; /* the one under study, then the plain one for comparison */
  simtime *latency;     /* of the protected packets; SIMTIME_NEVER: not delivered */
  int64_t pairs;
};

static void delivered(void *arg, const struct trail *trail) {
  struct packet *packet = arg;
  struct probe *probe = packet->flow->probe;
  simtime latency = trail->at - packet->begin.at;
  if (packet->flow == &probe->flows[0]) {
    probe->latency[packet->index] = latency;
    probe->result.delivered(probe->result.arg, &packet->begin, trail);
  } else if (probe->latency[packet->index] != SIMTIME_NEVER) {
    probe->pairs++;
    probe->result.overhead(probe->result.arg, probe->latency[packet->index] - latency);
  }
}

static void send_next(struct sim *sim, void *arg);

/* Starts the plain flow on an idle path: nothing of the protected one may stand before it in any queue. */
static void start_plain(struct sim *sim, void *arg) {
  struct probe *probe = arg;
  simtime idle = secure_path_last_sent(probe->path, 0) + probe->config.drain;
  if (secure_path_in_work(probe->path) > 0 || sim_now(sim) < idle)
    event_at(sim, sim_now(sim) < idle ? idle : sim_now(sim) + probe->config.drain, start_plain, probe);
  else
    send_next(sim, &probe->flows[1]);
}

static void send_next(struct sim *sim, void *arg) {
  struct flow *flow = arg;
  struct probe *probe = flow->probe;
  struct packet *packet = sim_alloc(sim, sizeof *packet);
  *packet = (struct packet){.flow = flow, .index = flow->sent++};
  trail_begin(&packet->begin, sim_now(sim));
  struct secure_packet out = {
      .protect = flow->protected,
      .bytes = probe->config.size_bytes,
      .number = (uint32_t)(FIRST_NUMBER + packet->index),
      .deliver = delivered,
      .arg = packet,
  };
  secure_path_send(probe->path, &out, &packet->begin);
  if (flow->sent < probe->config.packets)
    event_at(sim, sim_now(sim) + probe->config.interval, send_next, flow);
  else if (flow == &probe->flows[0] && flow->protected)
    event_at(sim, sim_now(sim) + probe->config.drain, start_plain, probe);
}

const struct probe *probe_start(struct sim *sim, struct secure_path *path, const struct probe_config *config, const struct probe_result *result) {
  if (config->packets == 0) return NULL;
  struct probe *probe = sim_alloc(sim, sizeof *probe);
  *probe = (struct probe){.path = path, .config = *config, .result = *result};
  probe->flows[0] = (struct flow){.probe = probe, .protected = config->protected_flow};
  probe->flows[1] = (struct flow){.probe = probe};
  probe->latency = sim_alloc(sim, (size_t)config->packets * sizeof *probe->latency);
  for (int64_t i = 0; i < config->packets; i++) probe->latency[i] = SIMTIME_NEVER;
  event_at(sim, sim_now(sim), send_next, &probe->flows[0]);
  return probe;
}

int64_t probe_lost(const struct probe *probe) {
  int64_t lost = 0;
  for (int64_t i = 0; probe && i < probe->config.packets; i++) lost += probe->latency[i] == SIMTIME_NEVER;
  return lost;
}

int64_t probe_unpaired(const struct probe *probe) { return probe && probe->config.protected_flow ? probe->config.packets - probe->pairs : 0; }
