/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/run/skip.h"
#include "sim/run/load.h"
#include "sim/run/names.h"
#include <string.h>

enum {
  SHOWN_VALUES = 8,
  SKIP_MAX = 1000,
  PAIRS_MAX = 5000000, /* entries times axis values: what is compared in half a second */
};

static const char *text_of(const struct axis_value *value, const char *key) {
  for (int k = 0; k < value->count; k++)
    if (!strcmp(value->keys[k], key)) return value->texts[k];
  return NULL;
}

int skip_axis(const struct scenario *scenario, const char *key) {
  for (int a = 0; a < scenario->axis_count; a++) {
    const struct axis *axis = &scenario->axes[a];
    if (!strcmp(axis->name, key)) return a;
    int differing = axis->param ? 1 : axis->count; /* the values of a plain axis all set the same keys */
    for (int v = 0; v < differing; v++)
      if (text_of(&axis->values[v], key)) return a;
  }
  return -1;
}

bool skip_matches(const struct scenario *scenario, int axis, int value, const char *key, const char *text) {
  const struct axis *a = &scenario->axes[axis];
  if (!a->param && !strcmp(a->name, key)) return !strcmp(a->values[value].label, text);
  const char *found = text_of(&a->values[value], key);
  const struct param *row = config_find(scenario->base, key);
  if (!found && row && !row->sets) found = config_text(scenario->base, key);
  return found && !strcmp(found, text);
}

/* "a, b, c, ..." of what an axis gives to a key. */
static const char *values_shown(struct load *load, const struct axis *axis, const char *key) {
  const char *names[SHOWN_VALUES + 1];
  int count = 0;
  for (int v = 0; v < axis->count && count <= SHOWN_VALUES; v++) {
    const char *text = !axis->param && !strcmp(axis->name, key) ? axis->values[v].label : text_of(&axis->values[v], key);
    if (text) names[count++] = text;
  }
  if (count > SHOWN_VALUES) names[SHOWN_VALUES] = "...";
  return names_join(load->arena, names, count);
}

/* The canonical text of an entry's value, NULL after a problem. */
static const char *entry_text(struct load *load, const struct entry *entry, bool axes_well) {
  if (entry->row) return value_read(load, entry, entry->node);
  if (!axes_well) return NULL;
  if (skip_axis(load->scenario, entry->key) < 0) {
    load_unknown_key(load, entry, NULL, 0);
    return NULL;
  }
  if (entry->node->shape == YAML_TEXT) return entry->node->text;
  problem_add(load->problems, entry->node->at, entry->key, "found %s, allowed one of the names %s", load_shown(load, entry->node),
      values_shown(load, &load->scenario->axes[skip_axis(load->scenario, entry->key)], entry->key));
  return NULL;
}

/* The value must occur on the key's axis. */
static bool value_occurs(struct load *load, const struct entry *entry, const char *text) {
  const struct scenario *scenario = load->scenario;
  int axis = skip_axis(scenario, entry->key);
  if (axis < 0) {
    problem_add(load->problems, entry->at, entry->key, "skip: not swept, so it cannot tell points apart");
    return false;
  }
  for (int v = 0; v < scenario->axes[axis].count; v++)
    if (skip_matches(scenario, axis, v, entry->key, text)) return true;
  problem_add(load->problems, entry->node->at, entry->key, "skip: no point has %s; the axis has %s", names_shown(load->arena, text),
      values_shown(load, &scenario->axes[axis], entry->key));
  return false;
}

/* Keys that advance together must have the entry's values in one step of their axis. */
static bool values_meet(const struct scenario *scenario, const struct skip_entry *skip) {
  for (int k = 0; k < skip->count; k++) {
    int axis = skip_axis(scenario, skip->keys[k]);
    bool met = false;
    for (int v = 0; v < scenario->axes[axis].count && !met; v++) {
      met = true;
      for (int other = 0; other < skip->count && met; other++)
        met = skip_axis(scenario, skip->keys[other]) != axis || skip_matches(scenario, axis, v, skip->keys[other], skip->texts[other]);
    }
    if (!met) return false;
  }
  return true;
}

static void read_entry(struct load *load, const struct yaml_node *node, bool axes_well) {
  struct entry_list entries;
  if (node->shape != YAML_MAP || !node->count) {
    problem_add(load->problems, node->at, "skip", "found %s, allowed a map of swept keys, such as {path.loss: 1%%}",
        node->shape == YAML_MAP ? "an empty map" : load_shown(load, node));
    return;
  }
  bool well = load_entries(load, node, &entries);
  struct skip_entry skip = {
      .keys = arena_array(load->arena, (size_t)entries.count, sizeof *skip.keys), .texts = arena_array(load->arena, (size_t)entries.count, sizeof *skip.texts)};
  struct entry *claims = arena_array(load->arena, (size_t)load->slot_count, sizeof *claims);
  for (int i = 0; i < entries.count; i++) {
    const struct entry *entry = &entries.items[i];
    const char *text = entry->row && !load_claim(load, claims, entry) ? NULL : entry_text(load, entry, axes_well);
    well = text && (!axes_well || value_occurs(load, entry, text)) && well;
    skip.keys[skip.count] = entry->key;
    skip.texts[skip.count++] = text;
  }
  if (!well || !axes_well) return;
  if (!values_meet(load->scenario, &skip)) {
    problem_add(load->problems, node->at, "skip", "no point has these values at once: their keys advance together and never meet");
    return;
  }
  load->scenario->skips[load->scenario->skip_count++] = skip;
}

void skip_read(struct load *load, const struct yaml_node *node, bool axes_well) {
  if (node->shape != YAML_LIST || !node->count) {
    problem_add(load->problems, node->at, "skip", "found %s, allowed a list of maps, such as [{path.loss: 1%%}]; remove `skip:` to skip nothing",
        node->shape == YAML_LIST ? "an empty list" : load_shown(load, node));
    return;
  }
  if (node->count > SKIP_MAX) {
    problem_add(load->problems, node->at, "skip", "found %d entries, allowed 1 to %d", node->count, SKIP_MAX);
    return;
  }
  int64_t values = 0;
  for (int a = 0; a < load->scenario->axis_count; a++) values += load->scenario->axes[a].count;
  if (values * node->count > PAIRS_MAX) {
    problem_add(load->problems, node->at, "skip", "found %d entries for %lld axis values, allowed up to %lld entries with so many", node->count,
        (long long)values, PAIRS_MAX / (long long)values);
    return;
  }
  load->scenario->skips = arena_array(load->arena, (size_t)node->count, sizeof *load->scenario->skips);
  for (const struct yaml_node *child = node->child; child; child = child->next) read_entry(load, child, axes_well);
}
