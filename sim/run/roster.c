/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/run/roster.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *must(void *memory) {
  if (!memory) abort();
  return memory;
}

static char *joined(const char *format, const char *a, const char *b) {
  char *text = must(malloc(strlen(format) + strlen(a) + strlen(b) + 1));
  sprintf(text, format, a, b);
  return text;
}

bool roster_is_name(const char *name, size_t length) {
  return length > 0 && length <= ROSTER_NAME && strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") >= length;
}

int roster_find(const struct roster *roster, const char *name, size_t length) {
  for (int g = 0; g < roster->group_count; g++)
    if (strlen(roster->groups[g]) == length && !strncmp(roster->groups[g], name, length)) return g;
  return -1;
}

const struct param roster_share = {.key = "share",
    .kind = PARAM_SHARE,
    .min = 0,
    .max = SHARE_ONE,
    .absent = true,
    .help = "share of the population; a group without one takes what the others leave"};

static int keys_of(const struct domain *domain) {
  int count = 1; /* share */
  for (int t = 0; t < domain->group_table_count; t++) count += domain->group_tables[t]->count;
  return count;
}

/* The rows of one group: share, then a copy of every key it may have, each without a value until it is set. */
static struct param *add_rows(const struct domain *domain, const char *name, struct param *row) {
  *row = roster_share;
  row++->key = joined("groups.%s.%s", name, roster_share.key);
  for (int t = 0; t < domain->group_table_count; t++)
    for (int i = 0; i < domain->group_tables[t]->count; i++) {
      const struct param *original = &domain->group_tables[t]->rows[i];
      *row = *original;
      row->key = joined("groups.%s.%s", name, original->key);
      row->sets = original->sets ? joined("groups.%s.%s", name, original->sets) : NULL;
      row->fallback = row->follows = NULL;
      row++->absent = true;
    }
  return row;
}

static const struct param_table *group_table(const struct roster *roster) {
  struct param_table *table = must(malloc(sizeof *table));
  struct param *rows = must(calloc((size_t)(roster->group_count * keys_of(roster->domain)), sizeof *rows)), *row = rows;
  for (int g = 0; g < roster->group_count; g++) row = add_rows(roster->domain, roster->groups[g], row);
  *table = (struct param_table){rows, (int)(row - rows)};
  return table;
}

static void add_metrics(struct roster *roster) {
  const struct domain *domain = roster->domain;
  roster->metric_count = domain->metric_count * (1 + roster->group_count);
  roster->metrics = must(calloc((size_t)roster->metric_count, sizeof *roster->metrics));
  for (int m = 0; m < roster->metric_count; m++) {
    int group = m / domain->metric_count - 1;
    roster->metrics[m] = domain->metrics[m % domain->metric_count];
    if (group >= 0) roster->metrics[m].name = joined("%s@%s", roster->metrics[m].name, roster->groups[group]);
  }
}

struct roster *roster_new(const struct domain *domain, const char *const *groups, int group_count) {
  assert(group_count == 0 || (group_count <= ROSTER_GROUPS && domain->group_table_count > 0));
  struct roster *roster = must(calloc(1, sizeof *roster));
  roster->domain = domain;
  roster->group_count = group_count;
  roster->groups = must(calloc((size_t)group_count + 1, sizeof *roster->groups));
  for (int g = 0; g < group_count; g++) roster->groups[g] = must(strdup(groups[g]));
  roster->tables = must(calloc((size_t)domain->table_count + 1, sizeof *roster->tables));
  for (int t = 0; t < domain->table_count; t++) roster->tables[t] = domain->tables[t];
  roster->table_count = domain->table_count;
  if (group_count > 0) roster->tables[roster->table_count++] = group_table(roster);
  add_metrics(roster);
  return roster;
}

void roster_free(struct roster *roster) {
  if (!roster) return;
  int own_metrics = roster->domain->metric_count;
  for (int m = own_metrics; m < roster->metric_count; m++) free((void *)roster->metrics[m].name);
  if (roster->group_count > 0) {
    const struct param_table *table = roster->tables[roster->table_count - 1];
    for (int i = 0; i < table->count; i++) {
      free((void *)table->rows[i].key);
      free((void *)table->rows[i].sets);
    }
    free((void *)table->rows);
    free((void *)table);
  }
  for (int g = 0; g < roster->group_count; g++) free((void *)roster->groups[g]);
  free(roster->groups);
  free(roster->tables);
  free(roster->metrics);
  free(roster);
}

/* The point's configuration with the group's keys on top. Its rows follow each other in the groups' table. */
static struct config *resolve(const struct roster *roster, int g, const struct config *config, struct domain_group *out) {
  const struct param_table *table = roster->tables[roster->table_count - 1];
  int keys = keys_of(roster->domain);
  const struct param *rows = &table->rows[g * keys];
  size_t prefix = strlen("groups..") + strlen(roster->groups[g]);
  *out = (struct domain_group){.name = roster->groups[g], .share_ppb = -1};
  if (config_is_set(config, rows[0].key)) out->share_ppb = config_number(config, rows[0].key);
  struct config *own = config_copy(config);
  for (int k = 1; k < keys; k++) {
    struct err e = {0};
    if (rows[k].sets || !config_is_set(config, rows[k].key)) continue;
    int code = config_set(own, rows[k].key + prefix, config_text(config, rows[k].key), &e);
    assert(!code); /* the group's row is a copy of the one that reads its canonical text */
  }
  out->config = own;
  return own;
}

int roster_prepare(const struct roster *roster, const struct config *config, const char *base_dir, const struct net_ops *ops, void **state, struct err *e) {
  struct domain_group groups[ROSTER_GROUPS];
  struct config *own[ROSTER_GROUPS] = {0};
  struct domain_point point = {.config = config, .base_dir = base_dir, .ops = ops, .group_count = roster->group_count, .groups = groups};
  for (int g = 0; g < roster->group_count; g++) own[g] = resolve(roster, g, config, &groups[g]);
  int code = roster->domain->prepare(&point, state, e);
  for (int g = 0; g < roster->group_count; g++) config_free(own[g]);
  return code;
}
