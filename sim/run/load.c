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

/* `groups: {macro: {}}`: a group that is as the rest of the file says. */
static bool is_plain_group(const char *key) { return !strncmp(key, "groups.", 7) && !strchr(key + 7, '.'); }

static bool collect(struct load *load, const struct yaml_node *map, const char *prefix, struct entry_list *out) {
  bool well = true;
  for (const struct yaml_node *child = map->child; child; child = child->next) {
    struct entry entry = {.node = child, .at = child->key_at};
    entry.key = prefix ? arena_format(load->arena, "%s.%s", prefix, child->key) : child->key;
    entry.row = config_find(load->scratch, entry.key);
    if (entry.row || !is_group(load, entry.key)) {
      out->items[out->count++] = entry;
    } else if (child->shape == YAML_MAP && (child->count || is_plain_group(entry.key))) {
      well = collect(load, child, entry.key, out) && well;
    } else {
      problem_add(load->problems, entry.at, entry.key, "found %s, but this is a group of keys such as %s; give those or remove the line",
          load_shown(load, child), group_example(load, entry.key));
      well = false;
    }
  }
  return well;
}

bool load_entries(struct load *load, const struct yaml_node *map, struct entry_list *out) {
  out->count = 0;
  out->items = arena_array(load->arena, (size_t)count_leaves(load, map, NULL) + 1, sizeof *out->items);
  return collect(load, map, NULL, out);
}

int load_slot(const struct load *load, const struct param *row) {
  if (row->sets) row = config_find(load->scratch, row->sets);
  for (int t = 0, first = 0; t < load->table_count; first += load->tables[t++]->count)
    if (row >= load->tables[t]->rows && row < load->tables[t]->rows + load->tables[t]->count) return first + (int)(row - load->tables[t]->rows);
  return -1;
}

void load_unknown_key(struct load *load, const struct entry *entry, const char *const *sections, int section_count) {
  int count = 0;
  if (problem_list_is_full(load->problems)) return;
  const char **names = arena_array(load->arena, (size_t)(load->slot_count + section_count), sizeof *names);
  for (int t = 0; t < load->table_count; t++)
    for (int i = 0; i < load->tables[t]->count; i++) names[count++] = load->tables[t]->rows[i].key;
  for (int i = 0; i < section_count; i++) names[count++] = sections[i];
  const char *nearest = names_nearest(entry->key, names, count), *shown = names_shown(load->arena, entry->key);
  if (nearest)
    problem_add(load->problems, entry->at, shown, "unknown key; did you mean %s?", nearest);
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
