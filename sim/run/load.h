/* SPDX-License-Identifier: GPL-3.0-or-later */
/* load: what the parts of the scenario loader share while a file is read.
 *
 * Purpose:   keys as the user writes them (nested or dotted) resolved to parameter rows; the problems found so far.
 * Order:     scenario.c makes it; value.c turns nodes into canonical texts; axes.c, skip.c and require.c read a part of
 *            the file each. Nothing here outlives scenario_load but what hangs on the scenario's arena.
 * Ownership: scenario_load owns everything.
 * Errors:    into the problem list; a part that is wrong is left out and reading goes on.
 */
#ifndef PQNETSIM_LOAD_H
#define PQNETSIM_LOAD_H

#include "sim/run/scenario.h"
#include "sim/run/yaml.h"

struct entry;

struct load {
  struct arena *arena;
  struct problem_list *problems;
  struct scenario *scenario;
  const struct param_table **tables; /* run_params, then the roster's */
  int table_count;
  int slot_count;         /* parameters in all tables */
  struct config *scratch; /* values are tried on it */
  struct entry *fixed;    /* by slot: what --set gives; key NULL when it does not, or when that is no matter */
};

/* A key with its value as written. */
struct entry {
  const char *key;         /* dotted */
  const struct param *row; /* NULL: no parameter */
  const struct yaml_node *node;
  struct place at; /* of the key */
};

struct entry_list {
  int count;
  struct entry *items;
};

/* The entries of a map, nested groups of keys (`path: {mtu: 1500}`) taken apart. Keys that are neither parameter nor
 * group come with row NULL. False when a group was given something else than keys. */
bool load_entries(struct load *load, const struct yaml_node *map, struct entry_list *out);

/* The section of groups, and all keys below it. */
#define LOAD_GROUPS "groups"
bool load_is_of_groups(const char *key);
/* The problem of a section that is no map of groups. */
void load_no_groups(struct load *load, const struct yaml_node *node);

/* Index of the parameter a row writes: its own, or that of the key a pseudo key sets. */
int load_slot(const struct load *load, const struct param *row);

/* "unknown key", with the nearest one: in a group among the group's own. sections: keys of the place that are no parameters. */
void load_unknown_key(struct load *load, const struct entry *entry, const char *const *sections, int section_count);

/* Places of the keys given so far, by slot: false and a problem when `entry` gives a parameter a second time. */
bool load_claim(struct load *load, struct entry *claims, const struct entry *entry);

/* Numbers: unit of a kind whose values are plain numbers in one; false for the others. */
bool load_unit(enum param_kind kind, enum unit *unit);

/* Canonical text of a node for a row, tried on load->scratch; NULL after a problem. */
const char *value_read(struct load *load, const struct entry *entry, const struct yaml_node *node);
/* The same into `config`; false after a problem. */
bool value_set(struct load *load, struct config *config, const struct entry *entry);
/* What the user wrote, for a message: the text, "a list", "a map" or "nothing". */
const char *load_shown(struct load *load, const struct yaml_node *node);

/* False when an axis is missing from the scenario because of a problem. */
bool axes_read(struct load *load, const struct yaml_node *node);
/* axes_well: all axes are known, so that an entry can be held against them. */
void skip_read(struct load *load, const struct yaml_node *node, bool axes_well);
void metrics_read(struct load *load, const struct yaml_node *node);
void require_read(struct load *load, const struct yaml_node *node);

#endif
