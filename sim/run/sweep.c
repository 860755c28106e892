/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/run/sweep.h"
#include "models/crypto/alg_own.h"
#include "sim/run/digest.h"
#include "sim/run/skip.h"
#include <assert.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Points that are left are found without listing them. Axes are decided one after the other, and what the past of a
 * point means for its future is only the set of skip entries that still hold: the state. Per axis, values that hold
 * the same entries form a class, and a state leads by each class to a state of the next axis. Every state knows how
 * many points lie under its first v values, so point i is found by one binary search per axis. */

enum { CELLS_MAX = 4000000 }; /* states times values over all axes: 32 MB */

/* Distinct sets of skip entries, numbered as they come. */
struct set_table {
  int words, count, capacity;
  uint64_t *bits; /* count * words */
  void *tree;
};

struct set_item {
  const struct set_table *table;
  int number;
};

struct state {
  int64_t *upto; /* points under values 0..v */
  int *next;     /* by class: state of the next axis; -1 all skipped */
};

struct level {
  int values, class_count, state_count;
  int *class_of; /* by value */
  struct state *states;
};

struct sweep {
  const struct scenario *scenario;
  struct arena *arena;
  struct level *levels;
  int64_t count;
};

/* While the index is built. */
struct build {
  struct sweep *sweep;
  int words;
  uint64_t *ends; /* by axis: the entries that ask for nothing behind it */
  int64_t cells;
};

static void *grown(void *memory, size_t size) {
  void *larger = realloc(memory, size);
  if (!larger) abort();
  return larger;
}

static const uint64_t *set_bits(const struct set_table *table, int number) { return table->bits + (size_t)number * (size_t)table->words; }

static int compare_sets(const void *left, const void *right) {
  const struct set_item *a = left, *b = right;
  return memcmp(set_bits(a->table, a->number), set_bits(b->table, b->number), (size_t)a->table->words * sizeof(uint64_t));
}

/* Number of the set `bits`, which is added when it is new. */
static int set_number(struct set_table *table, const uint64_t *bits) {
  if (table->count == table->capacity) {
    table->capacity = table->capacity ? 2 * table->capacity : 16;
    table->bits = grown(table->bits, (size_t)table->capacity * (size_t)table->words * sizeof *bits);
  }
  struct set_item *item = grown(NULL, sizeof *item);
  *item = (struct set_item){table, table->count};
  memcpy(table->bits + (size_t)table->count * (size_t)table->words, bits, (size_t)table->words * sizeof *bits);
  struct set_item *const *found = tsearch(item, &table->tree, compare_sets);
  if (!found) abort();
  if (*found == item) return table->count++;
  free(item);
  return (*found)->number;
}

static void set_table_free(struct set_table *table) {
  tdestroy(table->tree, free);
  free(table->bits);
}

/* Entries that value `value` of axis `axis` does not contradict. */
static void surviving(const struct scenario *scenario, int axis, int value, const int *const *key_axes, uint64_t *bits) {
  for (int s = 0; s < scenario->skip_count; s++) {
    const struct skip_entry *skip = &scenario->skips[s];
    bool holds = true;
    for (int k = 0; k < skip->count && holds; k++) holds = key_axes[s][k] != axis || skip_matches(scenario, axis, value, skip->keys[k], skip->texts[k]);
    if (holds) bits[s / 64] |= UINT64_C(1) << (s % 64);
  }
}

/* Sorts the values of an axis into classes; their sets are in `classes`. */
static void classify(const struct build *build, int axis, const int *const *key_axes, struct set_table *classes) {
  const struct scenario *scenario = build->sweep->scenario;
  struct level *level = &build->sweep->levels[axis];
  level->values = scenario->axes[axis].count;
  level->class_of = arena_array(build->sweep->arena, (size_t)level->values, sizeof *level->class_of);
  uint64_t *bits = arena_array(build->sweep->arena, (size_t)build->words, sizeof *bits);
  for (int v = 0; v < level->values; v++) {
    memset(bits, 0, (size_t)build->words * sizeof *bits);
    surviving(scenario, axis, v, key_axes, bits);
    level->class_of[v] = set_number(classes, bits);
  }
  level->class_count = classes->count;
}

/* The states of an axis and where they lead; `ahead` collects the states of the next axis. */
static bool lead_on(struct build *build, int axis, const struct set_table *here, const struct set_table *classes, struct set_table *ahead) {
  struct level *level = &build->sweep->levels[axis];
  const uint64_t *ends = build->ends + (size_t)axis * (size_t)build->words;
  uint64_t *bits = arena_array(build->sweep->arena, (size_t)build->words, sizeof *bits);
  level->state_count = here->count;
  build->cells += (int64_t)here->count * (level->values + level->class_count);
  if (build->cells > CELLS_MAX) return false;
  level->states = arena_array(build->sweep->arena, (size_t)here->count, sizeof *level->states);
  for (int s = 0; s < here->count; s++) {
    level->states[s].next = arena_array(build->sweep->arena, (size_t)level->class_count, sizeof(int));
    for (int c = 0; c < level->class_count; c++) {
      bool skipped = false;
      for (int w = 0; w < build->words; w++) {
        bits[w] = set_bits(here, s)[w] & set_bits(classes, c)[w];
        skipped = skipped || (bits[w] & ends[w]);
      }
      level->states[s].next[c] = skipped ? -1 : set_number(ahead, bits);
    }
  }
  return true;
}

/* Counts from the last axis to the first. */
static void count_points(struct sweep *sweep) {
  sweep->count = 1;
  for (int a = sweep->scenario->axis_count - 1; a >= 0; a--) {
    struct level *level = &sweep->levels[a];
    const struct level *ahead = a + 1 < sweep->scenario->axis_count ? &sweep->levels[a + 1] : NULL;
    for (int s = 0; s < level->state_count; s++) {
      struct state *state = &level->states[s];
      int64_t total = 0;
      state->upto = arena_array(sweep->arena, (size_t)level->values, sizeof *state->upto);
      for (int v = 0; v < level->values; v++) {
        int next = state->next[level->class_of[v]];
        total += next < 0 ? 0 : ahead ? ahead->states[next].upto[ahead->values - 1] : 1;
        state->upto[v] = total;
      }
    }
    sweep->count = level->states[0].upto[level->values - 1];
  }
}

/* The axis of every key of every skip entry, and per axis the entries that ask for nothing behind it. */
static const int *const *find_key_axes(struct build *build) {
  const struct scenario *scenario = build->sweep->scenario;
  const int **key_axes = arena_array(build->sweep->arena, (size_t)scenario->skip_count, sizeof *key_axes);
  for (int s = 0; s < scenario->skip_count; s++) {
    int *axes = arena_array(build->sweep->arena, (size_t)scenario->skips[s].count, sizeof *axes), last = 0;
    for (int k = 0; k < scenario->skips[s].count; k++) {
      axes[k] = skip_axis(scenario, scenario->skips[s].keys[k]);
      assert(axes[k] >= 0);
      last = axes[k] > last ? axes[k] : last;
    }
    key_axes[s] = axes;
    for (int a = last; a < scenario->axis_count; a++) build->ends[(size_t)a * (size_t)build->words + (size_t)s / 64] |= UINT64_C(1) << (s % 64);
  }
  return key_axes;
}

static int build_index(struct sweep *sweep, struct err *e) {
  const struct scenario *scenario = sweep->scenario;
  struct build build = {.sweep = sweep, .words = scenario->skip_count / 64 + 1};
  build.ends = arena_array(sweep->arena, (size_t)scenario->axis_count * (size_t)build.words, sizeof *build.ends);
  const int *const *key_axes = find_key_axes(&build);
  sweep->levels = arena_array(sweep->arena, (size_t)scenario->axis_count, sizeof *sweep->levels);
  uint64_t *all = arena_array(sweep->arena, (size_t)build.words, sizeof *all);
  for (int s = 0; s < scenario->skip_count; s++) all[s / 64] |= UINT64_C(1) << (s % 64);

  bool well = true;
  struct set_table here = {.words = build.words};
  set_number(&here, all);
  for (int a = 0; a < scenario->axis_count && well; a++) {
    struct set_table classes = {.words = build.words}, ahead = {.words = build.words};
    classify(&build, a, key_axes, &classes);
    well = lead_on(&build, a, &here, &classes, &ahead);
    set_table_free(&classes);
    set_table_free(&here);
    here = ahead;
  }
  set_table_free(&here);
  if (!well) return err_add(e, ERR_INPUT, "%s: skip: the entries cut the sweep in too many ways; use fewer entries, or split the sweep", scenario->path);
  count_points(sweep);
  return 0;
}

/* "1.6e10" */
static const char *round_count(double count, char buffer[32]) {
  int exponent = 0;
  for (; count >= 9.95; exponent++) count /= 10;
  snprintf(buffer, 32, "%.1fe%d", count, exponent);
  return buffer;
}

int sweep_new(const struct scenario *scenario, struct sweep **out, struct err *e) {
  double combinations = 1;
  char buffer[32];
  for (int a = 0; a < scenario->axis_count; a++) combinations *= scenario->axes[a].count;
  if (combinations > INT32_MAX)
    return err_add(e, ERR_INPUT, "%s: sweep: the axes make %s points, allowed at most %d; drop an axis or give fewer values", scenario->path,
        round_count(combinations, buffer), INT32_MAX);
  struct arena *arena = arena_new();
  struct sweep *sweep = arena_alloc(arena, sizeof *sweep);
  sweep->scenario = scenario;
  sweep->arena = arena;
  int code = build_index(sweep, e);
  if (!code && !sweep->count) code = err_add(e, ERR_INPUT, "%s: skip leaves out every point of the sweep", scenario->path);
  if (code)
    sweep_free(sweep);
  else
    *out = sweep;
  return code;
}

void sweep_free(struct sweep *sweep) {
  if (sweep) arena_free(sweep->arena);
}

int64_t sweep_count(const struct sweep *sweep) { return sweep->count; }

/* The first value whose points reach beyond i. */
static int value_of(const struct state *state, int values, int64_t i) {
  int low = 0, high = values - 1;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (state->upto[middle] > i)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

void sweep_digits(const struct sweep *sweep, int64_t i, int *digits) {
  assert(i >= 0 && i < sweep->count);
  int number = 0;
  for (int a = 0; a < sweep->scenario->axis_count; a++) {
    const struct level *level = &sweep->levels[a];
    const struct state *state = &level->states[number];
    digits[a] = value_of(state, level->values, i);
    if (digits[a]) i -= state->upto[digits[a] - 1];
    number = state->next[level->class_of[digits[a]]];
  }
}

int sweep_config(const struct sweep *sweep, int64_t i, struct config **out, struct err *e) {
  const struct scenario *scenario = sweep->scenario;
  struct config *config = config_copy(scenario->base);
  int *digits = calloc((size_t)scenario->axis_count + 1, sizeof *digits), code = 0;
  if (!digits) abort();
  sweep_digits(sweep, i, digits);
  for (int a = 0; a < scenario->axis_count && !code; a++) {
    const struct axis_value *value = &scenario->axes[a].values[digits[a]];
    for (int k = 0; k < value->count && !code; k++) code = config_set(config, value->keys[k], value->texts[k], e);
  }
  free(digits);
  if (code)
    config_free(config);
  else
    *out = config;
  return code;
}

/* What a run key is made from, and which of the scenario's own algorithms its parameters name. */
struct keyed {
  struct digest *digest;
  bool named[ALG_OWN_MAX];
};

static void add_parameter(void *arg, const struct param *param, const char *text) {
  struct keyed *keyed = arg;
  if (!strcmp(param->key, "replications")) return;
  digest_add_text(keyed->digest, param->key);
  digest_add_text(keyed->digest, text);
  for (int a = 0; a < alg_own_count(); a++) keyed->named[a] |= strstr(text, alg_own_at(a)->name) != NULL;
}

/* A definition counts where its name is used alone, so that one more does not make another study of what is there. */
static void add_definitions(const struct keyed *keyed) {
  for (int a = 0; a < alg_own_count(); a++) {
    char line[ALG_OWN_LINE_MAX];
    if (!keyed->named[a]) continue;
    alg_own_write(alg_own_at(a), line);
    digest_add_text(keyed->digest, line);
  }
}

void sweep_run_key(const struct roster *roster, const struct config *config, const char *backend, uint64_t cost_hash, char key[33]) {
  char hex[DIGEST_HEX], cost[17];
  const char *const texts[] = {PQNETSIM_VERSION, roster->domain->name, backend, cost};
  snprintf(cost, sizeof cost, "%016" PRIx64, cost_hash);
  struct digest *digest = digest_begin();
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) digest_add_text(digest, texts[i]);
  for (int g = 0; g < roster->group_count; g++) digest_add_text(digest, roster->groups[g]);
  struct keyed keyed = {.digest = digest};
  config_each(config, add_parameter, &keyed);
  add_definitions(&keyed);
  digest_end(digest, hex);
  memcpy(key, hex, 32);
  key[32] = '\0';
}
