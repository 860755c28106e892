/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/run/test/fake_domain.h"

#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fake_calls fake_calls;

static const char *const modes[] = {"ok", "killed", "exit", "babble", "sleep", NULL};

static int any_text(const char *text, char *canonical, size_t size, struct err *e) {
  if (strlen(text) >= size) return err_add(e, ERR_INPUT, "found a long text");
  strcpy(canonical, text);
  return 0;
}

static const struct param rows[] = {
    {.key = "fake.value", .kind = PARAM_COUNT, .fallback = "1", .min = 0, .max = 1000000, .help = "thousands of ns"},
    {.key = "fake.mode", .kind = PARAM_CHOICE, .fallback = "ok", .choices = modes, .help = "how a run ends"},
    {.key = "fake.label", .kind = PARAM_NAME, .fallback = "none", .check = any_text, .help = "comes back as a warning"},
};
static const struct param_table table = {rows, sizeof rows / sizeof *rows};
static const struct param_table *const tables[] = {&table};
static const struct metric_def metrics[] = {{"elapsed", METRIC_TIME, "start", "end", "the fake's only metric"}};

enum { GROUPS_MAX = 4 };

struct state {
  int64_t value, group_values[GROUPS_MAX];
  int group_count;
  enum fake_mode mode;
  char label[64];
};

static int prepare(const struct domain_point *point, void **state, struct err *e) {
  const struct config *config = point->config;
  fake_calls.prepare++;
  snprintf(fake_calls.base_dir, sizeof fake_calls.base_dir, "%s", point->base_dir);
  if (config_number(config, "fake.value") == 666) return err_add(e, ERR_INPUT, "fake.value: found 666, allowed anything else");
  struct state *s = malloc(sizeof *s);
  assert(s);
  s->value = config_number(config, "fake.value");
  s->mode = (enum fake_mode)config_number(config, "fake.mode");
  snprintf(s->label, sizeof s->label, "%s", config_text(config, "fake.label"));
  s->group_count = point->group_count;
  assert(s->group_count <= GROUPS_MAX);
  for (int g = 0; g < s->group_count; g++) {
    const struct domain_group *group = &point->groups[g];
    s->group_values[g] = group->share_ppb < 0 ? config_number(group->config, "fake.value") : group->share_ppb;
  }
  *state = s;
  return 0;
}

static void sample(struct sim *sim, void *arg) {
  const struct domain_run *run = arg;
  metric_sample(run->metrics, 0, sim_now(sim), NULL);
}

static void misbehave(enum fake_mode mode) {
  static const char noise[] = "hello from a model\n";
  if (mode == FAKE_KILLED) kill(getpid(), SIGKILL);
  if (mode == FAKE_EXIT) _exit(3);
  if (mode == FAKE_BABBLE && write(STDOUT_FILENO, noise, sizeof noise - 1) < 0) abort();
  if (mode == FAKE_SLEEP) usleep(200000);
}

static void run(const void *state, const struct domain_run *r) {
  const struct state *s = state;
  misbehave(s->mode);
  /* asserts, through the queue, that the clock was back at 0 */
  event_at(r->sim, s->value * 1000 + r->replication + (simtime)r->seed, sample, (void *)r);
  while (event_fire_next(r->sim)) continue;
  for (int g = 0; g < s->group_count; g++) metric_sample(r->metrics, 1 + g, s->group_values[g], NULL);
}

static void discard(void *state) {
  fake_calls.discard++;
  free(state);
}

static uint64_t cost_hash(const void *state) {
  (void)state;
  return 7;
}

static bool is_random(const void *state) {
  (void)state;
  return true;
}

static void warnings(const void *state, void (*fn)(void *arg, const char *text), void *arg) {
  const struct state *s = state;
  if (strcmp(s->label, "none")) fn(arg, s->label);
}

const struct domain fake_domain = {.name = "fake",
    .title = "a fake",
    .tables = tables,
    .table_count = 1,
    .group_tables = tables,
    .group_table_count = 1,
    .metrics = metrics,
    .metric_count = 1,
    .prepare = prepare,
    .run = run,
    .discard = discard,
    .cost_hash = cost_hash,
    .is_random = is_random,
    .warnings = warnings};

const struct roster fake_roster = {
    .domain = &fake_domain, .tables = (const struct param_table **)tables, .table_count = 1, .metrics = (struct metric_def *)metrics, .metric_count = 1};

const struct domain *domain_find(const char *name) { return strcmp(name, fake_domain.name) ? NULL : &fake_domain; }

static struct net *fake_open(struct sim *sim) {
  (void)sim;
  fake_calls.open++;
  struct net *net = malloc(sizeof *net);
  assert(net);
  net->ops = &net_native;
  return net;
}

static void fake_close(struct net *net) {
  fake_calls.close++;
  free(net);
}

static void fake_reset(struct net *net, uint64_t seed, uint32_t replication) {
  (void)net;
  fake_calls.reset++;
  fake_calls.seed = seed;
  fake_calls.replication = replication;
}

const struct net_ops net_native = {.name = "native", .caps = 5, .open = fake_open, .close = fake_close, .reset = fake_reset};

struct config *fake_config(int value, enum fake_mode mode) {
  char text[32];
  struct err e = {0};
  struct config *config = config_new(tables, 1);
  snprintf(text, sizeof text, "%d", value);
  int status = config_set(config, "fake.value", text, &e) | config_set(config, "fake.mode", modes[mode], &e);
  assert(!status);
  return config;
}
