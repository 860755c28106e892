/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/run/load.h"
#include "sim/run/names.h"
#include <string.h>

const char *load_shown(struct load *load, const struct yaml_node *node) {
  if (node->shape != YAML_TEXT) return node->shape == YAML_MAP ? "a map" : "a list";
  if (yaml_is_null(node)) return "nothing";
  return arena_format(load->arena, node->quoted ? "\"%s\"" : "%s", names_shown(load->arena, node->text));
}

static bool is_group(const struct load *load, const char *key) {
  size_t length = strlen(key);
  for (int t = 0; t < load->table_count; t++)
    for (int i = 0; i < load->tables[t]->count; i++) {
      const char *name = load->tables[t]->rows[i].key;
      if (!strncmp(name, key, length) && name[length] == '.') return true;
    }
  return false;
}

/* Keys a group has, to show what could have been meant. */
static const char *group_example(const struct load *load, const char *key) {
  size_t length = strlen(key);
  for (int t = 0; t < load->table_count; t++)
    for (int i = 0; i < load->tables[t]->count; i++) {
      const char *name = load->tables[t]->rows[i].key;
      if (!strncmp(name, key, length) && name[length] == '.') return name;
    }
  return key;
}

static int count_leaves(const struct load *load, const struct yaml_node *map, const char *prefix) {
  int count = 0;
  for (const struct yaml_node *child = map->child; child; child = child->next) {
    const char *key = prefix ? arena_format(load->arena, "%s.%s", prefix, child->key) : child->key;
    bool open = child->shape == YAML_MAP && !config_find(load->scratch, key) && is_group(load, key);
    count += open ? count_leaves(load, child, key) : 1;
  }
  return count;
}

bool load_is_of_groups(const char *key) {
  size_t length = strlen(LOAD_GROUPS);
  return !strncmp(key, LOAD_GROUPS, length) && (!key[length] || key[length] == '.');
}

void load_no_groups(struct load *load, const struct yaml_node *node) {
  problem_add(load->problems, node->at, LOAD_GROUPS, "found %s, allowed a map of groups, such as {rural: {share: 15%%}, macro: {}}",
      node->shape == YAML_MAP ? "an empty map" : load_shown(load, node));
}

/* `groups: {macro: {}}`: a group that is as the rest of the file says. */
static bool is_group_name(const char *key) { return load_is_of_groups(key) && key[strlen(LOAD_GROUPS)] && !strchr(key + strlen(LOAD_GROUPS) + 1, '.'); }

static bool collect(struct load *load, const struct yaml_node *map, const char *prefix, struct entry_list *out) {
  bool well = true;
  for (const struct yaml_node *child = map->child; child; child = child->next) {
    struct entry entry = {.node = child, .at = child->key_at};
    entry.key = prefix ? arena_format(load->arena, "%s.%s", prefix, child->key) : child->key;
    entry.row = config_find(load->scratch, entry.key);
    bool open = child->shape == YAML_MAP && child->count;
    if (entry.row || !is_group(load, entry.key) || (!strcmp(entry.key, LOAD_GROUPS) && !open)) {
      out->items[out->count++] = entry;
    } else if (open || (child->shape == YAML_MAP && is_group_name(entry.key))) {
      well = collect(load, child, entry.key, out) && well;
    } else {
      const char *instead = is_group_name(entry.key) ? "write {} for a group without keys of its own" : "give those or remove the line";
      problem_add(load->problems, entry.at, entry.key, "found %s, but this is a group of keys such as %s; %s", load_shown(load, child),
          group_example(load, entry.key), instead);
      well = false;
    }
  }
  return well;
}

/* The row of a name put together whose part a key is ("platform.initiator.sign"), and the part's own key; NULL: none. */
static const struct param *row_of_part(struct load *load, const char *key, const char **part) {
  for (const char *dot = strchr(key, '.'); dot; dot = strchr(dot + 1, '.')) {
    const struct param *row = config_find(load->scratch, arena_text(load->arena, key, (size_t)(dot - key)));
    *part = dot + 1;
    if (row && row->part) return row;
  }
  return NULL;
}

/* The entry of a row among the first `count`, as far as it is a map. */
static struct entry *find_whole(struct entry_list *list, int count, const struct param *row) {
  for (int i = 0; i < count; i++)
    if (list->items[i].row == row && list->items[i].node->shape == YAML_MAP) return &list->items[i];
  return NULL;
}

/* `platform.initiator.sign: X` as {sign: X}. */
static const struct yaml_node *part_as_map(struct load *load, const struct entry *entry, const char *key) {
  struct yaml_node *map = arena_alloc(load->arena, sizeof *map), *child = arena_alloc(load->arena, sizeof *child);
  *child = *entry->node;
  child->key = key;
  child->next = NULL;
  *map = (struct yaml_node){.shape = YAML_MAP, .at = entry->at, .key_at = entry->at, .child = child, .count = 1};
  return map;
}

/* The children of a, then those of b, under a's place. */
static const struct yaml_node *joined_maps(struct load *load, const struct yaml_node *a, const struct yaml_node *b) {
  struct yaml_node *map = arena_alloc(load->arena, sizeof *map), **end = &map->child;
  *map = *a;
  for (int k = 0; k < 2; k++)
    for (const struct yaml_node *child = (k ? b : a)->child; child; child = child->next) {
      struct yaml_node *copy = arena_alloc(load->arena, sizeof *copy);
      *copy = *child;
      *end = copy;
      end = &copy->next;
    }
  *end = NULL;
  map->count = a->count + b->count;
  return map;
}

/* `platform.initiator.sign: X` is `platform.initiator: {sign: X}`: what makes up a name becomes one entry, at the place of the
 * first part. */
static void join_parts(struct load *load, struct entry_list *list) {
  int kept = 0;
  for (int i = 0; i < list->count; i++) {
    struct entry entry = list->items[i];
    const char *key;
    const struct param *row = entry.row ? NULL : row_of_part(load, entry.key, &key);
    if (row) {
      entry.node = part_as_map(load, &entry, key);
      entry.key = arena_text(load->arena, entry.key, (size_t)(key - 1 - entry.key));
      entry.row = row;
    }
    struct entry *whole = entry.row && entry.row->part && entry.node->shape == YAML_MAP ? find_whole(list, kept, entry.row) : NULL;
    if (whole)
      whole->node = joined_maps(load, whole->node, entry.node);
    else
      list->items[kept++] = entry;
  }
  list->count = kept;
}

bool load_entries(struct load *load, const struct yaml_node *map, struct entry_list *out) {
  out->count = 0;
  out->items = arena_array(load->arena, (size_t)count_leaves(load, map, NULL) + 1, sizeof *out->items);
  bool well = collect(load, map, NULL, out);
  join_parts(load, out);
  return well;
}

int load_slot(const struct load *load, const struct param *row) {
  if (row->sets) row = config_find(load->scratch, row->sets);
  for (int t = 0, first = 0; t < load->table_count; first += load->tables[t++]->count)
    if (row >= load->tables[t]->rows && row < load->tables[t]->rows + load->tables[t]->count) return first + (int)(row - load->tables[t]->rows);
  return -1;
}

/* Names that could have been meant. */
struct candidates {
  const char **names;
  int count;
};

/* Keys of tables; for a map also what they have before a dot (`path`). */
static void add_candidates(struct load *load, struct candidates *candidates, const struct param_table *const *tables, int count, bool map) {
  for (int t = 0; t < count; t++)
    for (int i = 0; i < tables[t]->count; i++) {
      const char *key = tables[t]->rows[i].key;
      candidates->names[candidates->count++] = key;
      for (const char *dot = strchr(key, '.'); dot && map; dot = strchr(dot + 1, '.'))
        candidates->names[candidates->count++] = arena_text(load->arena, key, (size_t)(dot - key));
    }
}

static int candidates_room(const struct param_table *const *tables, int count) {
  int room = 0;
  for (int t = 0; t < count; t++)
    for (int i = 0; i < tables[t]->count; i++)
      for (const char *at = tables[t]->rows[i].key; at; at = strchr(at + 1, '.')) room++;
  return room;
}

static const char *nearest_key(struct load *load, const struct entry *entry, const char *const *sections, int section_count) {
  const struct domain *domain = load->scenario->domain;
  const struct param_table *own[] = {&run_params};
  struct candidates candidates = {
      .names = arena_array(
          load->arena, (size_t)(run_params.count + candidates_room(domain->tables, domain->table_count) + section_count + 1), sizeof *candidates.names)};
  bool map = entry->node->shape == YAML_MAP;
  add_candidates(load, &candidates, own, 1, map);
  add_candidates(load, &candidates, domain->tables, domain->table_count, map);
  for (int i = 0; i < section_count; i++) candidates.names[candidates.count++] = sections[i];
  if (domain->group_table_count) candidates.names[candidates.count++] = LOAD_GROUPS;
  return names_nearest(entry->key, candidates.names, candidates.count);
}

/* Of a key below groups: the group first, then the key among those it may have. */
static const char *nearest_in_group(struct load *load, const struct entry *entry) {
  const struct domain *domain = load->scenario->domain;
  const struct roster *roster = load->scenario->roster;
  const char *name = entry->key + strlen(LOAD_GROUPS) + 1, *dot = strchr(name, '.');
  size_t length = dot ? (size_t)(dot - name) : strlen(name);
  if (roster_find(roster, name, length) < 0) {
    const char *group = names_nearest(arena_text(load->arena, name, length), roster->groups, roster->group_count);
    return group ? arena_format(load->arena, LOAD_GROUPS ".%s%s", group, dot ? dot : "") : NULL;
  }
  struct candidates candidates = {
      .names = arena_array(load->arena, (size_t)candidates_room(domain->group_tables, domain->group_table_count) + 1, sizeof *candidates.names)};
  add_candidates(load, &candidates, domain->group_tables, domain->group_table_count, entry->node->shape == YAML_MAP);
  candidates.names[candidates.count++] = roster_share.key;
  const char *key = names_nearest(dot ? dot + 1 : "", candidates.names, candidates.count);
  return key ? arena_format(load->arena, LOAD_GROUPS ".%.*s.%s", (int)length, name, key) : NULL;
}

void load_unknown_key(struct load *load, const struct entry *entry, const char *const *sections, int section_count) {
  if (problem_list_is_full(load->problems)) return;
  const char *shown = names_shown(load->arena, entry->key), *nearest = NULL;
  bool in_groups = load_is_of_groups(entry->key) && load->scenario->domain->group_table_count, any = load->scenario->roster->group_count > 0;
  if (in_groups && any && !entry->key[strlen(LOAD_GROUPS)]) {
    load_no_groups(load, entry->node);
    return;
  }
  if (!in_groups)
    nearest = nearest_key(load, entry, sections, section_count);
  else if (any)
    nearest = nearest_in_group(load, entry);
  if (nearest)
    problem_add(load->problems, entry->at, shown, "unknown key; did you mean %s?", nearest);
  else if (in_groups && !any)
    problem_add(load->problems, entry->at, shown, "unknown key; `groups:` names no group of which it could be");
  else
    problem_add(load->problems, entry->at, shown, "unknown key; `pqnetsim params %s` lists what there is", load->scenario->domain->name);
}

bool load_claim(struct load *load, struct entry *claims, const struct entry *entry) {
  struct entry *claim = &claims[load_slot(load, entry->row)];
  if (!claim->key) {
    *claim = *entry;
    return true;
  }
  char where[128];
  problem_place(claim->at, where, sizeof where);
  if (claim->row == entry->row)
    problem_add(load->problems, entry->at, entry->key, "given twice, first at %s; remove one of them", where);
  else
    problem_add(load->problems, entry->at, entry->key, "sets what %s sets at %s; keep one of them", claim->key, where);
  return false;
}

bool load_unit(enum param_kind kind, enum unit *unit) {
  static const struct {
    enum param_kind kind;
    enum unit unit;
  } units[] = {{PARAM_COUNT, UNIT_COUNT}, {PARAM_TIME, UNIT_TIME}, {PARAM_RATE, UNIT_RATE}, {PARAM_SIZE, UNIT_SIZE}, {PARAM_SHARE, UNIT_SHARE}};
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (units[i].kind == kind) {
      *unit = units[i].unit;
      return true;
    }
  return false;
}
