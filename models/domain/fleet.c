/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/domain/fleet.h"

/* Recovery of the whole population (part 0) and of each group. */
struct recovery {
  int64_t nodes, set_up;
};

enum { MARKS = 3 };
static const struct {
  int percent;
  enum e2_metric metric;
} marks[MARKS] = {{50, RECOVERED_50}, {95, RECOVERED_95}, {100, RECOVERED_100}};

struct fleet {
  const struct fleet_config *config;
  const struct domain_run *run;
  struct gateway *gateway;
  simtime storm; /* its start */
  struct recovery *recovery;
  int64_t undecided, tunnels_undecided;
  int64_t busy_before, hsm_busy_before; /* the time that utilisation counts */
  simtime counted_from;
};

/* Of one part: the metrics of all, or of a group alone. */
static int metric_of(int part, enum e2_metric metric) { return part * E2_METRICS + (int)metric; }

static int64_t nodes_until(const struct recovery *recovery, int percent) { return (recovery->nodes * percent + 99) / 100; }

static void count_recovered(struct fleet *fleet, int part) {
  struct recovery *recovery = &fleet->recovery[part];
  recovery->set_up++;
  for (int i = 0; i < MARKS; i++)
    if (recovery->set_up == nodes_until(recovery, marks[i].percent))
      metric_sample(fleet->run->metrics, metric_of(part, marks[i].metric), sim_now(fleet->run->sim) - fleet->storm, NULL);
}

static void node_decided(void *arg, int group, bool ok) {
  struct fleet *fleet = arg;
  if (ok) {
    count_recovered(fleet, 0);
    if (group >= 0) count_recovered(fleet, 1 + group);
  }
  if (--fleet->undecided == 0 && fleet->config->duration == 0) gateway_stop_background(fleet->gateway);
}

static void start_counting(struct fleet *fleet) {
  struct gateway_counters counters;
  gateway_counters(fleet->gateway, &counters);
  fleet->busy_before = cpu_busy(gateway_cores(fleet->gateway));
  fleet->hsm_busy_before = counters.hsm_busy;
  fleet->counted_from = sim_now(fleet->run->sim);
}

static void counting_begins(struct sim *sim, void *arg) {
  (void)sim;
  start_counting(arg);
}

static void sample_share(struct fleet *fleet, enum e2_metric metric, int64_t busy, int servers) {
  simtime elapsed = sim_now(fleet->run->sim) - fleet->counted_from;
  if (elapsed > 0) metric_sample(fleet->run->metrics, metric, (int64_t)((__int128)busy * SHARE_ONE / ((__int128)elapsed * servers)), NULL);
}

static void sample_utilisation(struct fleet *fleet) {
  const struct gateway_config *config = &fleet->config->gateway;
  struct gateway_counters counters;
  gateway_counters(fleet->gateway, &counters);
  sample_share(fleet, GATEWAY_UTILISATION, cpu_busy(gateway_cores(fleet->gateway)) - fleet->busy_before, config->cores);
  if (config->hsm > 0) sample_share(fleet, HSM_UTILISATION, counters.hsm_busy - fleet->hsm_busy_before, config->hsm);
}

static void tunnel_decided(void *arg) {
  struct fleet *fleet = arg;
  if (--fleet->tunnels_undecided == 0 && fleet->config->duration == 0) sample_utilisation(fleet);
}

static void sample_gateway(const struct fleet *fleet) {
  struct gateway_counters c;
  gateway_counters(fleet->gateway, &c);
  const struct {
    enum e2_metric metric;
    int64_t value;
  } values[] = {
      {HALF_OPEN_MAX, c.half_open_max},
      {HALF_OPEN_PER_ADDRESS_MAX, c.half_open_per_address_max},
      {HALF_OPEN_EXPIRED, c.expired},
      {COOKIES, c.cookies},
      {REFUSED_PER_ADDRESS, c.refused[GATEWAY_PER_ADDRESS]},
      {REFUSED_TOTAL, c.refused[GATEWAY_TOTAL]},
      {REFUSED_ADMISSION_QUEUE, c.refused[GATEWAY_ADMISSION_QUEUE]},
      {REFUSED_ADMISSION_WAIT, c.refused[GATEWAY_ADMISSION_WAIT]},
      {REFUSED_DOWN, c.refused[GATEWAY_DOWN]},
  };
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) metric_sample(fleet->run->metrics, values[i].metric, values[i].value, NULL);
}

static void fail_unrecovered(const struct fleet *fleet) {
  for (int part = 0; part <= fleet->config->group_count; part++) {
    const struct recovery *recovery = &fleet->recovery[part];
    for (int i = 0; i < MARKS; i++)
      if (recovery->nodes > 0 && recovery->set_up < nodes_until(recovery, marks[i].percent)) metric_fail(fleet->run->metrics, metric_of(part, marks[i].metric));
  }
}

static bool any_tunnel(const struct fleet_config *config) {
  for (int g = 0; g < config->group_count || g == 0; g++)
    if (config->nodes[g].protect) return true;
  return false;
}

void fleet_run(const struct fleet_config *config, const struct domain_run *run) {
  const struct population_config *population = &config->population;
  struct sim *sim = run->sim;
  struct draw_key key = {.seed = run->seed, .replication = run->replication};
  struct fleet fleet = {.config = config, .run = run, .storm = population->outage, .undecided = population->nodes, .tunnels_undecided = population->nodes};
  struct gateway_config gateway = config->gateway;
  gateway.down_until = population->outage;
  fleet.gateway = gateway_new(sim, &gateway, (population->nodes - 1) / population->nodes_per_address + 1, &key);
  fleet.recovery = sim_alloc(sim, (size_t)(1 + config->group_count) * sizeof *fleet.recovery);
  struct node_world world = {
      .sim = sim,
      .net = run->net,
      .gateway_node = run->net->ops->node_add(run->net),
      .gateway = fleet.gateway,
      .ric = ric_new(sim, &config->ric),
      .warmup = config->warmup,
      .until = config->duration,
      .decided = node_decided,
      .tunnel_decided = tunnel_decided,
      .arg = &fleet,
  };
  struct node **nodes = sim_alloc(sim, (size_t)population->nodes * sizeof *nodes);
  for (int n = 0; n < population->nodes; n++) {
    int group = config->groups ? config->groups[n] : -1;
    struct e2_record record = {run->metrics, group};
    key.entity = (uint32_t)n + 1;
    fleet.recovery[0].nodes++;
    if (group >= 0) fleet.recovery[1 + group].nodes++;
    nodes[n] =
        node_new(&world, &config->nodes[group >= 0 ? group : 0], n, n / population->nodes_per_address, &record, &key, population_start(population, n, &key));
  }
  simtime counted = config->duration > 0 ? config->warmup : fleet.storm;
  if (counted > 0) event_at(sim, counted, counting_begins, &fleet);
  bool stop = false;
  run->net->ops->run(run->net, config->duration > 0 ? config->duration : SIMTIME_HORIZON, &stop);
  if (config->duration > 0) sample_utilisation(&fleet);
  for (int n = 0; n < population->nodes; n++) node_close(nodes[n]);
  if (population->nodes > 1 && any_tunnel(config)) sample_gateway(&fleet);
  fail_unrecovered(&fleet);
}
