/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/domain/population.h"

#include <stdlib.h>

#define SECOND INT64_C(1000000000)

static const char *const start_names[] = {"at_once", "ramp", "poisson", "outage", NULL};

static const struct param rows[] = {
    {.key = "e2.nodes", .kind = PARAM_COUNT, .fallback = "1", .min = 1, .max = 500000, .help = "gNBs behind the gateway"},
    {.key = "e2.nodes_per_address",
        .kind = PARAM_COUNT,
        .fallback = "1",
        .min = 1,
        .max = 500000,
        .help = "gNBs that the gateway sees under one address, as behind a NAT; neighbours by number"},
    {.key = "e2.start",
        .kind = PARAM_CHOICE,
        .fallback = "at_once",
        .choices = start_names,
        .help = "at_once; ramp: evenly over e2.start_span; poisson: at random over it; outage: tries begin at random over it, the gateway answers from "
                "e2.outage on"},
    {.key = "e2.start_span", .kind = PARAM_TIME, .fallback = "10s", .min = 0, .max = 86400 * SECOND, .help = "time within which the gNBs start"},
    {.key = "e2.outage",
        .kind = PARAM_TIME,
        .fallback = "60s",
        .min = 0,
        .max = 86400 * SECOND,
        .help = "how long the gateway stays down with e2.start outage"},
};

const struct param_table population_params = {rows, sizeof rows / sizeof *rows};

int population_configure(const struct config *config, struct population_config *out, struct err *e) {
  *out = (struct population_config){
      .nodes = (int)config_number(config, "e2.nodes"),
      .nodes_per_address = (int)config_number(config, "e2.nodes_per_address"),
      .start = (enum population_start)config_number(config, "e2.start"),
      .start_span = config_number(config, "e2.start_span"),
  };
  if (out->start != POPULATION_OUTAGE) return 0;
  out->outage = config_number(config, "e2.outage");
  if (out->start_span > out->outage)
    return err_add(e, ERR_INPUT, "e2.start_span: found %s, allowed at most e2.outage (%s) when e2.start is outage", config_text(config, "e2.start_span"),
        config_text(config, "e2.outage"));
  return 0;
}

int population_shares(const struct domain_group *groups, int count, int64_t shares_ppb[], bool *scaled, struct err *e) {
  int64_t sum = 0;
  int open = 0, last = -1;
  for (int g = 0; g < count; g++) {
    shares_ppb[g] = groups[g].share_ppb < 0 ? 0 : groups[g].share_ppb;
    sum += shares_ppb[g];
    open += groups[g].share_ppb < 0;
  }
  *scaled = sum > SHARE_ONE;
  if (sum < SHARE_ONE && open == 0)
    return err_add(e, ERR_INPUT,
        "groups: the shares add up to %g %%, which leaves nodes without a group; allowed 100 %%, or a group without a share, which takes the rest",
        (double)sum / 1e7);
  int64_t given = 0;
  for (int g = 0; g < count; g++) {
    if (*scaled)
      shares_ppb[g] = (int64_t)((__int128)shares_ppb[g] * SHARE_ONE / sum);
    else if (groups[g].share_ppb < 0)
      shares_ppb[g] = (SHARE_ONE - sum) / open;
    given += shares_ppb[g];
    if (shares_ppb[g] > 0) last = g;
  }
  if (last >= 0) shares_ppb[last] += SHARE_ONE - given; /* what rounding left */
  return 0;
}

/* Tijdeman's rule: of the groups whose share of the first n + 1 nodes is at least 1/(2k - 2) above what they have, the one that
 * must be served soonest to stay within 1 - 1/(2k - 2). */
unsigned char *population_groups(int nodes, const int64_t shares_ppb[], int group_count) {
  unsigned char *groups = calloc((size_t)nodes, 1);
  int64_t *have = calloc((size_t)group_count + 1, sizeof *have);
  if (!groups || !have) abort();
  int64_t slack = group_count > 1 ? SHARE_ONE / (2 * group_count - 2) : 0;
  for (int n = 0; n < nodes; n++) {
    int best = -1;
    __int128 best_due = 0;
    for (int g = 0; g < group_count; g++) {
      int64_t behind = shares_ppb[g] * (n + 1) - have[g] * SHARE_ONE;
      if (shares_ppb[g] == 0 || behind < slack) continue;
      int64_t room = SHARE_ONE - slack - behind;
      /* room / share is when it is due; compared as fractions. */
      if (best < 0 || (__int128)room * shares_ppb[best] < best_due * shares_ppb[g]) {
        best = g;
        best_due = room;
      }
    }
    for (int g = 0; best < 0 && g < group_count; g++)
      if (shares_ppb[g] > 0) best = g;
    groups[n] = (unsigned char)best;
    have[best]++;
  }
  free(have);
  return groups;
}

simtime population_start(const struct population_config *config, int node, const struct draw_key *key) {
  struct draw_key start = *key;
  start.purpose = DRAW_START;
  switch (config->start) {
  case POPULATION_AT_ONCE:
    return 0;
  case POPULATION_RAMP:
    return (simtime)((__int128)config->start_span * node / config->nodes);
  case POPULATION_POISSON:
  case POPULATION_OUTAGE:
    return random_under(&start, config->start_span + 1);
  }
  return 0;
}
