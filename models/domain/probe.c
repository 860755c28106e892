/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/domain/probe.h"

#include <stddef.h>

#define HOUR INT64_C(3600000000000)

static const struct param rows[] = {
    {.key = "probe.packets", .kind = PARAM_COUNT, .fallback = "10", .min = 0, .max = 1000000, .help = "packets of the probe flow after set-up; 0: none"},
    {.key = "probe.size", .kind = PARAM_SIZE, .fallback = "200B", .min = 28, .max = 65000, .help = "plain IPv4 packet of the probe flow"},
    {.key = "probe.interval", .kind = PARAM_TIME, .fallback = "1ms", .min = 1000, .max = HOUR, .help = "time between probe packets"},
    {.key = "probe.burst",
        .kind = PARAM_COUNT,
        .fallback = "0",
        .min = 0,
        .max = 1000000,
        .help = "packets sent back to back after the probe flow, for data_throughput; path.queue must hold what the link cannot take at once"},
    {.key = "probe.burst_size", .kind = PARAM_SIZE, .fallback = "1400B", .min = 28, .max = 65000, .help = "plain IPv4 packet of the burst"},
};

const struct param_table probe_params = {rows, sizeof rows / sizeof *rows};

void probe_configure(const struct config *config, struct probe_config *out) {
  out->packets = config_number(config, "probe.packets");
  out->size_bytes = config_number(config, "probe.size");
  out->interval = config_number(config, "probe.interval");
  out->burst = config_number(config, "probe.burst");
  out->burst_bytes = config_number(config, "probe.burst_size");
}

enum {
  /* Message numbers of probe packets, clear of those of the handshake before. */
  FIRST_NUMBER = 1 << 20,
  FIRST_BURST_NUMBER = 1 << 21,
};

/* One after the other: the flow under study, the plain one for comparison, the burst. */
enum stage { STUDIED, PLAIN, BURST, STAGES };

struct packet {
  struct probe *probe;
  enum stage stage;
  int64_t index;
  struct trail begin;
};

struct probe {
  struct sim *sim;
  struct secure_path *path;
  struct probe_config config;
  struct probe_result result;
  enum stage stage;
  int64_t sent;     /* of this stage */
  simtime *latency; /* of the studied packets; SIMTIME_NEVER: not delivered */
  int64_t pairs;
  int64_t burst_delivered;
  simtime burst_begin, burst_end;
};

static void delivered(void *arg, const struct trail *trail) {
  struct packet *packet = arg;
  struct probe *probe = packet->probe;
  simtime latency = trail->at - packet->begin.at;
  if (packet->stage == STUDIED) {
    probe->latency[packet->index] = latency;
    probe->result.delivered(probe->result.arg, &packet->begin, trail);
  } else if (packet->stage == PLAIN && probe->latency[packet->index] != SIMTIME_NEVER) {
    probe->pairs++;
    probe->result.overhead(probe->result.arg, probe->latency[packet->index] - latency);
  } else if (packet->stage == BURST) {
    probe->burst_delivered++;
    probe->burst_end = trail->at;
  }
  sim_release(probe->sim, packet, sizeof *packet);
}

static void send_packet(struct probe *probe) {
  struct packet *packet = sim_alloc(probe->sim, sizeof *packet);
  *packet = (struct packet){.probe = probe, .stage = probe->stage, .index = probe->sent++};
  trail_begin(&packet->begin, sim_now(probe->sim));
  struct secure_packet out = {
      .protect = probe->config.protected_flow && probe->stage != PLAIN,
      .bytes = probe->stage == BURST ? probe->config.burst_bytes : probe->config.size_bytes,
      .number = (uint32_t)((probe->stage == BURST ? FIRST_BURST_NUMBER : FIRST_NUMBER) + packet->index),
      .deliver = delivered,
      .arg = packet,
  };
  secure_path_send(probe->path, &out, &packet->begin);
}

static void stage_over(struct probe *probe);

static void send_next(struct sim *sim, void *arg) {
  struct probe *probe = arg;
  send_packet(probe);
  if (probe->sent < probe->config.packets)
    event_at(sim, sim_now(sim) + probe->config.interval, send_next, probe);
  else
    stage_over(probe);
}

static void send_burst(struct probe *probe) {
  probe->burst_begin = sim_now(probe->sim);
  while (probe->sent < probe->config.burst) send_packet(probe);
}

static int64_t packets_of(const struct probe *probe, enum stage stage) {
  const struct probe_config *config = &probe->config;
  return stage == BURST ? config->burst : stage == STUDIED || config->protected_flow ? config->packets : 0;
}

static void begin_stage(struct sim *sim, void *arg) {
  struct probe *probe = arg;
  probe->sent = 0;
  if (probe->stage == BURST)
    send_burst(probe);
  else
    send_next(sim, probe);
}

/* A flow starts on an idle path: nothing of the one before it may stand before it in any queue. Where other traffic never ceases,
 * the time that its packets take to arrive must do. */
static void begin_when_idle(struct sim *sim, void *arg) {
  struct probe *probe = arg;
  simtime idle = secure_path_last_sent(probe->path, 0) + probe->config.drain;
  if (!probe->config.shared && (secure_path_in_work(probe->path) > 0 || sim_now(sim) < idle))
    event_at(sim, sim_now(sim) < idle ? idle : sim_now(sim) + probe->config.drain, begin_when_idle, probe);
  else
    begin_stage(sim, probe);
}

static void stage_over(struct probe *probe) {
  do
    if (++probe->stage == STAGES) return;
  while (packets_of(probe, probe->stage) == 0);
  event_at(probe->sim, sim_now(probe->sim) + probe->config.drain, begin_when_idle, probe);
}

const struct probe *probe_start(struct sim *sim, struct secure_path *path, const struct probe_config *config, const struct probe_result *result) {
  if (config->packets == 0 && config->burst == 0) return NULL;
  struct probe *probe = sim_alloc(sim, sizeof *probe);
  *probe = (struct probe){.sim = sim, .path = path, .config = *config, .result = *result};
  probe->latency = sim_alloc(sim, (size_t)config->packets * sizeof *probe->latency);
  for (int64_t i = 0; i < config->packets; i++) probe->latency[i] = SIMTIME_NEVER;
  probe->stage = config->packets > 0 ? STUDIED : BURST;
  event_at(sim, sim_now(sim), begin_stage, probe);
  return probe;
}

int64_t probe_lost(const struct probe *probe) {
  int64_t lost = 0;
  for (int64_t i = 0; probe && i < probe->config.packets; i++) lost += probe->latency[i] == SIMTIME_NEVER;
  return lost;
}

int64_t probe_unpaired(const struct probe *probe) { return probe && probe->config.protected_flow ? probe->config.packets - probe->pairs : 0; }

int64_t probe_throughput_bps(const struct probe *probe) {
  if (!probe || probe->burst_delivered == 0) return 0;
  return (int64_t)((__int128)probe->burst_delivered * probe->config.burst_bytes * 8 * 1000000000 / (probe->burst_end - probe->burst_begin));
}
