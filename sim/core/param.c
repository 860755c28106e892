/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/core/param_value.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NEAR_MAX = 3 };

struct name {
  const char *key;
  int row;
};

/* Rows of all tables in table order; shared by copies. */
struct schema {
  int references, count;
  const struct param **rows;
  struct name *sorted;           /* by key */
  int *target;                   /* what a row follows or, for a pseudo key, sets; -1 if nothing */
  struct param_value **defaults; /* NULL where a row follows another, and for pseudo keys */
};

struct config {
  struct schema *schema;
  struct param_value *values[]; /* NULL: not set */
};

static void *must(void *memory) {
  if (!memory) abort();
  return memory;
}

/* ---- schema ---- */

static int by_key(const void *a, const void *b) { return strcmp(((const struct name *)a)->key, ((const struct name *)b)->key); }

static int row_of(const struct schema *schema, const char *key) {
  const struct name wanted = {key, 0}, *found = bsearch(&wanted, schema->sorted, (size_t)schema->count, sizeof wanted, by_key);
  return found ? found->row : -1;
}

/* A fault in a table is a bug of the module that wrote it. */
static void table_fault(const struct param *row, const char *what) {
  fprintf(stderr, "parameter table: %s: %s\n", row->key, what);
  abort();
}

static struct param_value *read_default(const struct param *row) {
  struct err e = {0};
  struct param_value *value;
  if (row->kind == PARAM_NAME) { /* canonical already: what `check` needs may not be loaded yet */
    return param_value_plain(0, row->fallback);
  }
  struct param unchecked = *row;
  unchecked.check = NULL; /* nor for each of several names */
  value = param_value_read(&unchecked, row->fallback, &e);
  if (!value) table_fault(row, e.text);
  return value;
}

static void schema_row(struct schema *schema, int i) {
  const struct param *row = schema->rows[i];
  const char *other = row->sets ? row->sets : row->follows;
  schema->target[i] = other ? row_of(schema, other) : -1;
  if (i > 0 && strcmp(schema->sorted[i - 1].key, schema->sorted[i].key) == 0) table_fault(row, "a key is declared twice");
  if (!row->fallback && !row->absent && schema->target[i] < 0) table_fault(row, "neither a default nor a known key to follow or set");
  if (schema->target[i] >= 0 && schema->rows[schema->target[i]]->kind != row->kind) table_fault(row, "follows or sets a key of another kind");
  if (row->fallback && !row->sets) schema->defaults[i] = read_default(row);
}

struct config *config_new(const struct param_table *const *tables, int count) {
  struct schema *schema = must(calloc(1, sizeof *schema));
  for (int t = 0; t < count; t++) schema->count += tables[t]->count;
  size_t rows = (size_t)schema->count;
  schema->references = 1;
  schema->rows = must(calloc(rows + 1, sizeof *schema->rows));
  schema->sorted = must(calloc(rows + 1, sizeof *schema->sorted));
  schema->target = must(calloc(rows + 1, sizeof *schema->target));
  schema->defaults = must(calloc(rows + 1, sizeof *schema->defaults));
  int row = 0;
  for (int t = 0; t < count; t++)
    for (int i = 0; i < tables[t]->count; i++, row++) {
      schema->rows[row] = &tables[t]->rows[i];
      schema->sorted[row] = (struct name){tables[t]->rows[i].key, row};
    }
  qsort(schema->sorted, rows, sizeof *schema->sorted, by_key);
  for (int i = 0; i < schema->count; i++) schema_row(schema, i);
  struct config *config = must(calloc(1, sizeof *config + rows * sizeof config->values[0]));
  config->schema = schema;
  return config;
}

struct config *config_copy(const struct config *from) {
  int count = from->schema->count;
  struct config *config = must(malloc(sizeof *config + (size_t)count * sizeof config->values[0]));
  config->schema = from->schema;
  config->schema->references++;
  for (int i = 0; i < count; i++) config->values[i] = param_value_share(from->values[i]);
  return config;
}

static void schema_drop(struct schema *schema) {
  if (--schema->references > 0) return;
  for (int i = 0; i < schema->count; i++) param_value_drop(schema->defaults[i]);
  free(schema->rows);
  free(schema->sorted);
  free(schema->target);
  free(schema->defaults);
  free(schema);
}

void config_free(struct config *config) {
  if (!config) return;
  for (int i = 0; i < config->schema->count; i++) param_value_drop(config->values[i]);
  schema_drop(config->schema);
  free(config);
}

/* ---- finding keys ---- */

const struct param *config_find(const struct config *config, const char *key) {
  int row = row_of(config->schema, key);
  return row < 0 ? NULL : config->schema->rows[row];
}

static const char *last_component(const char *key) {
  const char *dot = strrchr(key, '.');
  return dot ? dot + 1 : key;
}

enum { KEY_MAX = 64 };

/* Levenshtein distance of keys shorter than KEY_MAX. */
static int edit_distance(const char *a, const char *b) {
  int before[KEY_MAX + 1], now[KEY_MAX + 1], width = (int)strlen(b);
  for (int j = 0; j <= width; j++) before[j] = j;
  for (int i = 0; a[i]; i++) {
    now[0] = i + 1;
    for (int j = 0; j < width; j++) {
      int least = before[j] + (a[i] != b[j]);
      if (before[j + 1] + 1 < least) least = before[j + 1] + 1;
      if (now[j] + 1 < least) least = now[j] + 1;
      now[j + 1] = least;
    }
    memcpy(before, now, sizeof now[0] * (size_t)(width + 1));
  }
  return before[width];
}

/* A few letters off, but never half the word; failing that, a key with the same last component (kex for ipsec.kex). */
const char *config_nearest(const struct config *config, const char *key) {
  size_t length = strlen(key);
  if (length >= KEY_MAX) return NULL;
  int best = (int)length / 2 < NEAR_MAX ? (int)length / 2 + 1 : NEAR_MAX + 1;
  const char *nearest = NULL, *same_last = NULL;
  bool nearest_same = false;
  for (int i = 0; i < config->schema->count; i++) {
    const char *known = config->schema->rows[i]->key;
    bool same = strcmp(last_component(known), last_component(key)) == 0;
    if (same && !same_last) same_last = known;
    if (strlen(known) >= KEY_MAX) continue;
    int distance = edit_distance(key, known);
    if (distance < best || (nearest && distance == best && same && !nearest_same)) {
      best = distance;
      nearest = known;
      nearest_same = same;
    }
  }
  return nearest ? nearest : same_last;
}

/* ---- values ---- */

static void take_value(struct config *config, int row, struct param_value *value) {
  param_value_drop(config->values[row]);
  config->values[row] = value;
}

/* path.rtt: what is written is halved and goes to path.delay. */
static int set_half(struct config *config, int row, struct param_value *whole, struct err *e) {
  const struct param *pseudo = config->schema->rows[row];
  int target = config->schema->target[row];
  const struct param *real = config->schema->rows[target];
  enum unit unit = param_unit(pseudo->kind);
  char half[32], low[32], high[32];
  if (whole->number % 2)
    return err_add(e, ERR_INPUT, "%s: found %s, which cannot be halved exactly; half of it goes to %s", pseudo->key, whole->text, real->key);
  int64_t number = whole->number / 2;
  units_format(unit, number, half);
  if (number < real->min || number > real->max)
    return err_add(e, ERR_INPUT, "%s: found %s, half of which goes to %s, allowed %s to %s", pseudo->key, whole->text, real->key,
        units_format(unit, real->min, low), units_format(unit, real->max, high));
  take_value(config, target, param_value_plain(number, half));
  return 0;
}

int config_set(struct config *config, const char *key, const char *text, struct err *e) {
  int row = row_of(config->schema, key);
  if (row < 0) {
    const char *nearest = config_nearest(config, key);
    return err_add(e, ERR_INPUT, nearest ? "%s: unknown key; did you mean %s?" : "%s: unknown key", key, nearest);
  }
  struct param_value *value = param_value_read(config->schema->rows[row], text, e);
  if (!value) return e->code;
  if (!config->schema->rows[row]->sets) {
    take_value(config, row, value);
    return 0;
  }
  int code = set_half(config, row, value, e);
  param_value_drop(value);
  return code;
}

bool config_is_set(const struct config *config, const char *key) {
  int row = row_of(config->schema, key);
  assert(row >= 0);
  return config->values[row] != NULL;
}

static const struct param_value *resolved(const struct config *config, int row) {
  assert(row >= 0);
  const struct schema *schema = config->schema;
  for (int hops = 0; hops <= schema->count; hops++) {
    assert(!schema->rows[row]->sets);
    if (config->values[row]) return config->values[row];
    if (schema->defaults[row]) return schema->defaults[row];
    if (schema->rows[row]->absent) return NULL;
    row = schema->target[row];
  }
  assert(!"parameters that follow each other in a circle");
  return NULL;
}

static const struct param_value *of_kind(const struct config *config, const char *key, enum param_kind kind) {
  int row = row_of(config->schema, key);
  assert(row >= 0 && config->schema->rows[row]->kind == kind);
  const struct param_value *value = resolved(config, row);
  assert(value);
  return value;
}

int64_t config_number(const struct config *config, const char *key) {
  int row = row_of(config->schema, key);
  assert(row >= 0);
  enum param_kind kind = config->schema->rows[row]->kind;
  assert(kind != PARAM_NAME && kind != PARAM_LOSS && kind != PARAM_LIST && kind != PARAM_NAMES);
  const struct param_value *value = resolved(config, row);
  assert(value);
  return value->number;
}

const char *config_text(const struct config *config, const char *key) {
  const struct param_value *value = resolved(config, row_of(config->schema, key));
  return value ? value->text : NULL;
}

void config_each(const struct config *config, void (*fn)(void *arg, const struct param *param, const char *text), void *arg) {
  for (int i = 0; i < config->schema->count; i++) {
    const struct param_value *value = config->schema->rows[i]->sets ? NULL : resolved(config, i);
    if (value) fn(arg, config->schema->rows[i], value->text);
  }
}

void config_loss(const struct config *config, const char *key, struct param_loss *out) { *out = of_kind(config, key, PARAM_LOSS)->loss; }

int config_list(const struct config *config, const char *key, int64_t *values, int max) {
  const struct param_value *value = of_kind(config, key, PARAM_LIST);
  for (int i = 0; i < value->list_count && i < max; i++) values[i] = value->list[i];
  return value->list_count;
}

int config_names(const struct config *config, const char *key, void (*fn)(void *arg, const char *name), void *arg) {
  const struct param_value *value = of_kind(config, key, PARAM_NAMES);
  char names[PARAM_NAMES_TEXT];
  snprintf(names, sizeof names, "%s", value->text + 1);
  char *save = NULL;
  for (char *name = strtok_r(names, ", ]", &save); name; name = strtok_r(NULL, ", ]", &save)) fn(arg, name);
  return value->list_count;
}
