/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/domain/test/fleet_rig.h"

#include "models/crypto/cost.h"
#include "models/domain/e2.h"

#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { GROUPS_MAX = 8, METRICS_MAX = 1000 };

void rig_open(struct rig *r, const struct net_ops *ops) {
  cost_set_data_dir("calib/data");
  r->sim = sim_new();
  r->net = ops->open(r->sim);
}

void rig_close(struct rig *r) {
  r->net->ops->close(r->net);
  sim_free(r->sim);
}

struct rig rig;

int rig_group_open(void **state) {
  (void)state;
  rig_open(&rig, &net_native);
  return 0;
}

int rig_group_close(void **state) {
  (void)state;
  rig_close(&rig);
  return 0;
}

static void set_pairs(struct config *config, const char *const *pairs) {
  struct err e = {0};
  for (; *pairs; pairs += 2)
    if (config_set(config, pairs[0], pairs[1], &e)) fail_msg("%s", e.text);
}

struct metric_set *rig_run(struct rig *r, const char *const *pairs, const struct rig_group *groups, int replications) {
  struct config *config = config_new(domain_e2.tables, domain_e2.table_count), *configs[GROUPS_MAX] = {0};
  struct domain_group resolved[GROUPS_MAX];
  struct domain_point point = {.config = config, .ops = r->net->ops, .groups = resolved};
  struct err e = {0};
  set_pairs(config, pairs);
  for (; groups && groups[point.group_count].name; point.group_count++) {
    int g = point.group_count;
    int64_t share = -1;
    assert_true(g < GROUPS_MAX);
    if (groups[g].share && units_parse(UNIT_SHARE, groups[g].share, &share, &e)) fail_msg("%s", e.text);
    configs[g] = config_copy(config);
    set_pairs(configs[g], groups[g].pairs);
    resolved[g] = (struct domain_group){groups[g].name, share, configs[g]};
  }
  int metrics = domain_e2.metric_count * (1 + point.group_count);
  static struct metric_def defs[METRICS_MAX]; /* outlives every set */
  assert_true(metrics <= METRICS_MAX);
  for (int m = 0; m < metrics; m++) defs[m] = domain_e2.metrics[m % domain_e2.metric_count];
  struct metric_set *set = metric_set_new(defs, metrics);
  void *state = NULL;
  if (domain_e2.prepare(&point, &state, &e)) fail_msg("%s", e.text);
  struct domain_run run = {.sim = r->sim, .net = r->net, .seed = 1, .metrics = set};
  for (int i = 0; i < replications; i++) {
    run.replication = (uint32_t)i;
    sim_reset(r->sim);
    r->net->ops->reset(r->net, run.seed, run.replication);
    domain_e2.run(state, &run);
    metric_end_replication(set);
  }
  domain_e2.discard(state);
  for (int g = 0; g < point.group_count; g++) config_free(configs[g]);
  config_free(config);
  return set;
}

int rig_metric(const char *name) {
  for (int i = 0; i < domain_e2.metric_count; i++)
    if (strcmp(domain_e2.metrics[i].name, name) == 0) return i;
  fail_msg("no metric %s", name);
  return -1;
}

struct metric_summary rig_summary(const struct metric_set *set, int group, const char *metric) {
  struct metric_summary out;
  metric_summarise(set, (1 + group) * domain_e2.metric_count + rig_metric(metric), &out);
  return out;
}

struct listing {
  int64_t *values;
  int count, max;
};

static void list_value(void *arg, int64_t value, int64_t count) {
  struct listing *listing = arg;
  for (int64_t i = 0; i < count && listing->count < listing->max; i++) listing->values[listing->count++] = value;
}

int rig_values(const struct metric_set *set, const char *metric, int64_t *values, int max) {
  struct listing listing = {values, 0, max};
  metric_each(set, rig_metric(metric), list_value, &listing);
  return listing.count;
}
