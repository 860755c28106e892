/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The `sweep:` part: lists, ranges, keys that advance together, named axes. */
#include "sim/run/algorithms.h"
#include "sim/run/load.h"
#include "sim/run/names.h"
#include "sim/run/range.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
  AXES_MAX = 64, /* each becomes a column of the study */
  RANGE_STEPS_MAX = 100000,
  LABEL_MAX = 64,
};

/* One key of an axis with its values. */
struct column {
  const struct entry *entry;
  int count;
  const char **texts;
  struct place *places;
  bool logarithmic;
};

/* Which axis gives a parameter its values. */
struct claim {
  const char *key; /* NULL: none */
  struct place at;
  int axis;
  int value; /* in a named axis, whose values may set the same key each; -1 otherwise */
};

struct axes {
  struct load *load;
  struct claim *claims; /* by slot */
  int number;           /* of the axis being read */
};

/* Why a key cannot be swept, reported; true if it can. */
static bool key_is_free(struct axes *axes, const struct entry *entry, int value) {
  struct load *load = axes->load;
  if (!entry->row && algorithms_is_key(entry->key)) {
    problem_add(load->problems, entry->at, entry->key, "describes an algorithm and cannot be swept; define two, and sweep which is used");
    return false;
  }
  if (!entry->row) {
    load_unknown_key(load, entry, NULL, 0);
    return false;
  }
  if (entry->row >= run_params.rows && entry->row < run_params.rows + run_params.count) {
    problem_add(load->problems, entry->at, entry->key, "belongs to the study as a whole and cannot be swept");
    return false;
  }
  int slot = load_slot(load, entry->row);
  struct claim *claim = &axes->claims[slot];
  if (load->fixed[slot].key) {
    problem_add(load->problems, entry->at, entry->key, "swept here, but fixed by --set %s; drop one of them", load->fixed[slot].at.set_key);
    return false;
  }
  if (claim->key && (claim->axis != axes->number || claim->value == value)) {
    char where[128];
    problem_place(claim->at, where, sizeof where);
    if (!strcmp(claim->key, entry->key))
      problem_add(load->problems, entry->at, entry->key, "swept twice, first at %s; a key belongs to one axis", where);
    else
      problem_add(load->problems, entry->at, entry->key, "sets what %s sets, swept at %s; keep one of them", claim->key, where);
    return false;
  }
  *claim = (struct claim){entry->key, entry->at, axes->number, value};
  return true;
}

static bool read_list(struct load *load, const struct yaml_node *list, struct column *column) {
  bool well = true;
  column->texts = arena_array(load->arena, (size_t)list->count, sizeof *column->texts);
  column->places = arena_array(load->arena, (size_t)list->count, sizeof *column->places);
  for (const struct yaml_node *child = list->child; child; child = child->next) {
    column->places[column->count] = child->at;
    column->texts[column->count] = value_read(load, column->entry, child);
    well = column->texts[column->count] && well;
    column->count++;
  }
  if (!list->count) problem_add(load->problems, list->at, column->entry->key, "the axis is empty; give at least one value");
  return well && list->count;
}

static bool range_end(struct load *load, const struct column *column, enum unit unit, const struct yaml_node *node, int64_t *value) {
  struct err e = {0};
  const char *text = value_read(load, column->entry, node);
  bool well = text && !units_parse(unit, text, value, &e);
  err_free(&e);
  return well;
}

static bool range_steps(struct load *load, const struct column *column, const struct yaml_node *node, int *steps) {
  struct err e = {0};
  int64_t value = 0;
  bool well = node->shape == YAML_TEXT && !node->quoted && !units_parse(UNIT_COUNT, node->text, &value, &e) && value >= 2 && value <= RANGE_STEPS_MAX;
  if (!well) problem_add(load->problems, node->at, column->entry->key, "steps: found %s, allowed 2 to %d", load_shown(load, node), RANGE_STEPS_MAX);
  *steps = (int)value;
  err_free(&e);
  return well;
}

enum range_key { RANGE_FROM, RANGE_TO, RANGE_STEPS, RANGE_SCALE, RANGE_KEYS };
static const char *const range_keys[RANGE_KEYS] = {"from", "to", "steps", "scale"};

/* The parts of a range; false when one is missing or unknown. */
static bool range_parts(struct load *load, const struct yaml_node *map, const char *key, const struct yaml_node *parts[RANGE_KEYS]) {
  bool well = true;
  for (const struct yaml_node *child = map->child; child; child = child->next) {
    int part = 0;
    while (part < RANGE_KEYS && strcmp(range_keys[part], child->key)) part++;
    if (part < RANGE_KEYS) {
      parts[part] = child;
      continue;
    }
    problem_add(load->problems, child->key_at, key, "unknown part %s of a range, allowed from, to, steps, scale", names_shown(load->arena, child->key));
    well = false;
  }
  for (int part = RANGE_FROM; part <= RANGE_STEPS; part++)
    if (!parts[part] && well) {
      problem_add(load->problems, map->at, key, "a range without %s; it is {from: A, to: B, steps: N}", range_keys[part]);
      well = false;
    }
  return well;
}

static bool range_scale_of(struct load *load, const struct yaml_node *node, const char *key, enum range_scale *scale) {
  *scale = RANGE_LINEAR;
  if (!node || (node->shape == YAML_TEXT && !strcmp(node->text, "linear"))) return true;
  if (node->shape == YAML_TEXT && !strcmp(node->text, "log")) {
    *scale = RANGE_LOG;
    return true;
  }
  problem_add(load->problems, node->at, key, "scale: found %s, allowed linear or log", load_shown(load, node));
  return false;
}

/* Checks the ends against each other. */
static bool range_is_sound(struct load *load, const struct yaml_node *map, const char *key, enum unit unit, enum range_scale scale, int64_t from, int64_t to) {
  char low[32], high[32];
  units_format(unit, from, low);
  units_format(unit, to, high);
  if (from >= to)
    problem_add(load->problems, map->at, key, "from %s to %s does not grow; from must be below to", low, high);
  else if (scale == RANGE_LOG && from <= 0)
    problem_add(load->problems, map->at, key, "a log scale cannot begin at %s; from must be above 0", low);
  else
    return true;
  return false;
}

/* A loss is a share unless it is written as a burst model. */
static bool axis_unit(enum param_kind kind, enum unit *unit) {
  if (kind != PARAM_LOSS) return load_unit(kind, unit);
  *unit = UNIT_SHARE;
  return true;
}

static bool read_range(struct load *load, const struct yaml_node *map, struct column *column) {
  const struct yaml_node *parts[RANGE_KEYS] = {0};
  const char *key = column->entry->key;
  enum unit unit;
  if (!axis_unit(column->entry->row->kind, &unit)) {
    if (column->entry->row->part)
      problem_add(load->problems, map->at, key, "found a map, allowed a list of values, each a name or {base: NAME, OPERATION: NAME, ...}");
    else
      problem_add(load->problems, map->at, key, "found a map, allowed a list of values; a range needs a parameter that is a number with one unit");
    return false;
  }
  if (!range_parts(load, map, key, parts)) return false;
  int64_t from, to;
  int steps;
  enum range_scale scale;
  bool well = range_end(load, column, unit, parts[RANGE_FROM], &from);
  well = range_end(load, column, unit, parts[RANGE_TO], &to) && well;
  well = range_steps(load, column, parts[RANGE_STEPS], &steps) && well;
  well = range_scale_of(load, parts[RANGE_SCALE], key, &scale) && well;
  if (!well || !range_is_sound(load, map, key, unit, scale, from, to)) return false;

  int64_t *values = arena_array(load->arena, (size_t)steps, sizeof *values);
  int64_t quantum = column->entry->row->sets ? 2 : 1; /* half of it is written */
  if (!range_fill(scale, from, to, steps, quantum, values)) {
    problem_add(load->problems, parts[RANGE_STEPS]->at, key, "steps: found %d, but there are not so many distinct values between the ends", steps);
    return false;
  }
  column->count = steps;
  column->logarithmic = scale == RANGE_LOG;
  column->texts = arena_array(load->arena, (size_t)steps, sizeof *column->texts);
  column->places = arena_array(load->arena, (size_t)steps, sizeof *column->places);
  for (int i = 0; i < steps; i++) {
    char buffer[32];
    const char *text = units_format(unit, values[i], buffer);
    column->texts[i] = arena_text(load->arena, text, strlen(text));
    column->places[i] = map->at;
  }
  return true;
}

static bool read_column(struct axes *axes, const struct entry *entry, struct column *column) {
  struct load *load = axes->load;
  const struct yaml_node *node = entry->node;
  *column = (struct column){.entry = entry};
  if (!key_is_free(axes, entry, -1)) return false;
  if (node->shape == YAML_LIST) return read_list(load, node, column);
  if (node->shape == YAML_MAP) return read_range(load, node, column);
  problem_add(load->problems, node->at, entry->key, "found %s, allowed a list of values or {from: A, to: B, steps: N, scale: log}", load_shown(load, node));
  return false;
}

/* Values spread by equal factors are shown on a log axis. Factors below 1.5 are left linear: there an evenly spaced
 * list looks the same. The tolerance covers ranges that were rounded by hand (1, 3.16, 10). */
static bool spreads_by_factor(const struct column *column) {
  enum unit unit;
  double ratio = 0, previous = 0;
  if (column->count < 3 || !axis_unit(column->entry->row->kind, &unit)) return false;
  for (int i = 0; i < column->count; i++) {
    struct err e = {0};
    int64_t value = 0;
    bool well = !units_parse(unit, column->texts[i], &value, &e);
    err_free(&e);
    double now = (double)value;
    if (!well || value <= 0 || (i > 0 && now < 1.5 * previous) || (i > 1 && (now > 1.02 * ratio * previous || now < 0.98 * ratio * previous))) return false;
    if (i == 1) ratio = now / previous;
    previous = now;
  }
  return true;
}

/* An axis value with its place, to be sorted by what it sets. */
struct placed {
  const struct axis_value *value;
  struct place at;
  int index;
};

static int compare_effect(const struct axis_value *a, const struct axis_value *b) {
  if (a->count != b->count) return a->count < b->count ? -1 : 1;
  for (int k = 0; k < a->count; k++) {
    int order = strcmp(a->keys[k], b->keys[k]);
    if (!order) order = strcmp(a->texts[k], b->texts[k]);
    if (order) return order;
  }
  return 0;
}

static int compare_placed(const void *left, const void *right) {
  const struct placed *a = left, *b = right;
  int order = compare_effect(a->value, b->value);
  return order ? order : (a->index > b->index) - (a->index < b->index);
}

/* A value given twice would count double in every average over the axis. */
static bool values_differ(struct load *load, const struct axis *axis, const struct place *places) {
  bool well = true;
  struct placed *sorted = arena_array(load->arena, (size_t)axis->count, sizeof *sorted);
  for (int i = 0; i < axis->count; i++) sorted[i] = (struct placed){&axis->values[i], places[i], i};
  qsort(sorted, (size_t)axis->count, sizeof *sorted, compare_placed);
  for (int i = 1; i < axis->count; i++) {
    const struct placed *now = &sorted[i], *before = &sorted[i - 1];
    if (compare_effect(now->value, before->value)) continue;
    if (axis->param)
      problem_add(load->problems, now->at, axis->name, "the axis has the value %s twice", names_shown(load->arena, now->value->label));
    else
      problem_add(load->problems, now->at, axis->name, "%s sets the same as %s", now->value->label, before->value->label);
    well = false;
  }
  return well;
}

/* Turns columns of equal length into an axis. */
static bool join_columns(struct load *load, const struct column *columns, int count, struct axis *axis) {
  for (int c = 1; c < count; c++)
    if (columns[c].count != columns[0].count) {
      problem_add(load->problems, columns[c].entry->at, columns[c].entry->key, "%d values, but %s has %d; keys of one axis advance together", columns[c].count,
          columns[0].entry->key, columns[0].count);
      return false;
    }
  axis->name = columns[0].entry->key;
  axis->at = columns[0].entry->at;
  axis->param = columns[0].entry->row;
  axis->logarithmic = columns[0].logarithmic || spreads_by_factor(&columns[0]);
  axis->count = columns[0].count;
  axis->values = arena_array(load->arena, (size_t)axis->count, sizeof *axis->values);
  const char **keys = arena_array(load->arena, (size_t)count, sizeof *keys);
  for (int c = 0; c < count; c++) keys[c] = columns[c].entry->key;
  for (int i = 0; i < axis->count; i++) {
    const char **texts = arena_array(load->arena, (size_t)count, sizeof *texts);
    struct place *at = arena_array(load->arena, (size_t)count, sizeof *at);
    for (int c = 0; c < count; c++) {
      texts[c] = columns[c].texts[i];
      at[c] = columns[c].places[i];
    }
    axis->values[i] = (struct axis_value){.label = texts[0], .count = count, .keys = keys, .texts = texts, .at = at};
  }
  return values_differ(load, axis, columns[0].places);
}

static bool read_columns(struct axes *axes, const struct entry_list *entries, struct axis *axis) {
  bool well = true;
  struct column *columns = arena_array(axes->load->arena, (size_t)entries->count, sizeof *columns);
  for (int c = 0; c < entries->count; c++) well = read_column(axes, &entries->items[c], &columns[c]) && well;
  return well && join_columns(axes->load, columns, entries->count, axis);
}

/* One label of a named axis: the keys it sets. */
static bool read_label(struct axes *axes, const char *axis_name, const struct yaml_node *node, int index, struct axis_value *value) {
  struct load *load = axes->load;
  struct entry_list entries;
  if (strlen(node->key) > LABEL_MAX || node->key[strcspn(node->key, "\t\n")]) {
    problem_add(load->problems, node->key_at, axis_name, "the name %s; allowed are up to %d bytes on one line", names_shown(load->arena, node->key), LABEL_MAX);
    return false;
  }
  if (node->shape != YAML_MAP || !node->count) {
    problem_add(load->problems, node->key_at, axis_name, "%s sets nothing; a named value is a map of keys, such as {path.delay: 1ms}", node->key);
    return false;
  }
  bool well = load_entries(load, node, &entries);
  value->label = node->key;
  value->keys = arena_array(load->arena, (size_t)entries.count, sizeof *value->keys);
  value->texts = arena_array(load->arena, (size_t)entries.count, sizeof *value->texts);
  struct place *at = arena_array(load->arena, (size_t)entries.count, sizeof *at);
  value->at = at;
  for (int i = 0; i < entries.count; i++) {
    const struct entry *entry = &entries.items[i];
    const char *text = key_is_free(axes, entry, index) ? value_read(load, entry, entry->node) : NULL;
    well = well && text;
    at[value->count] = entry->node->at;
    value->keys[value->count] = entry->key;
    value->texts[value->count++] = text;
  }
  return well;
}

static bool name_is_sound(const char *name) {
  static const char *const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  return !name[strspn(name, allowed)] && !strchr("0123456789_-", name[0]) && strlen(name) <= LABEL_MAX;
}

static bool read_named(struct axes *axes, const struct entry *entry, struct axis *axis) {
  struct load *load = axes->load;
  const struct yaml_node *map = entry->node;
  if (!name_is_sound(entry->key)) {
    problem_add(load->problems, entry->at, names_shown(load->arena, entry->key), "as the name of an axis: allowed are letters, digits, _ and -");
    return false;
  }
  bool well = true;
  struct place *places = arena_array(load->arena, (size_t)map->count, sizeof *places);
  axis->name = entry->key;
  axis->at = entry->at;
  axis->values = arena_array(load->arena, (size_t)map->count, sizeof *axis->values);
  for (const struct yaml_node *child = map->child; child; child = child->next) {
    places[axis->count] = child->key_at;
    well = read_label(axes, axis->name, child, axis->count, &axis->values[axis->count]) && well;
    axis->count++;
  }
  return well && values_differ(load, axis, places);
}

/* A misspelt parameter with a range must not pass for a named axis. */
static bool looks_named(const struct entry_list *entries) {
  const struct entry *entry = entries->items;
  if (entries->count != 1 || entry->row || entry->node->shape != YAML_MAP || !entry->node->count || strchr(entry->key, '.') || load_is_of_groups(entry->key))
    return false;
  for (const struct yaml_node *child = entry->node->child; child; child = child->next)
    if (child->shape == YAML_MAP) return true;
  return !yaml_find(entry->node, "from") && !yaml_find(entry->node, "to") && !yaml_find(entry->node, "steps");
}

static bool read_axis(struct axes *axes, const struct yaml_node *node, struct axis *axis) {
  struct load *load = axes->load;
  struct entry_list entries;
  if (node->shape != YAML_MAP || !node->count) {
    problem_add(load->problems, node->at, "sweep", "found %s, allowed an axis such as `path.delay: [1ms, 10ms]`",
        node->shape == YAML_MAP ? "an empty axis" : load_shown(load, node));
    return false;
  }
  if (!load_entries(load, node, &entries)) return false;
  return looks_named(&entries) ? read_named(axes, entries.items, axis) : read_columns(axes, &entries, axis);
}

/* Each is a column of the study, and those differ without regard to case. */
static bool name_is_new(struct load *load, const struct axis *axis) {
  for (int a = 0; a < load->scenario->axis_count; a++)
    if (!strcasecmp(load->scenario->axes[a].name, axis->name)) {
      problem_add(load->problems, axis->at, axis->name, "names two axes; give each its own name");
      return false;
    }
  return true;
}

bool axes_read(struct load *load, const struct yaml_node *node) {
  struct scenario *scenario = load->scenario;
  bool well = true;
  if (node->shape != YAML_LIST || !node->count) {
    problem_add(load->problems, node->at, "sweep", "found %s, allowed a list of axes, one `- KEY: [VALUES]` a line; without axes remove `sweep:`",
        node->shape == YAML_LIST ? "an empty list" : load_shown(load, node));
    return false;
  }
  if (node->count > AXES_MAX) {
    problem_add(load->problems, node->at, "sweep", "found %d axes, allowed 1 to %d", node->count, AXES_MAX);
    return false;
  }
  struct axes axes = {.load = load, .claims = arena_array(load->arena, (size_t)load->slot_count, sizeof *axes.claims)};
  scenario->axes = arena_array(load->arena, (size_t)node->count, sizeof *scenario->axes);
  for (const struct yaml_node *child = node->child; child; child = child->next) {
    struct axis axis = {0};
    if (read_axis(&axes, child, &axis) && name_is_new(load, &axis))
      scenario->axes[scenario->axis_count++] = axis;
    else
      well = false;
    axes.number++;
  }
  return well;
}
