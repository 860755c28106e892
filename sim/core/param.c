/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/core/param.h"
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { CANONICAL_MAX = 256, LIST_MAX = 4096, NEAR_MAX = 3, WORD_MAX = 128, NAMES_MAX = 1024 };

/* A parsed value; never changed once made, so copies of a config share it. */
struct value {
  int references;
  int64_t number;
  struct param_loss loss;
  int list_count;
  int64_t *list;
  char *text; /* canonical */
};

struct name {
  const char *key;
  int row;
};

/* Rows of all tables in table order; shared by copies. */
struct schema {
  int references, count;
  const struct param **rows;
  struct name *sorted;     /* by key */
  int *target;             /* what a row follows or, for a pseudo key, sets; -1 if nothing */
  struct value **defaults; /* NULL where a row follows another, and for pseudo keys */
};

struct config {
  struct schema *schema;
  struct value *values[]; /* NULL: not set */
};

static void *must(void *memory) {
  if (!memory) abort();
  return memory;
}

static struct value *value_new(void) {
  struct value *value = must(calloc(1, sizeof *value));
  value->references = 1;
  return value;
}

static void value_drop(struct value *value) {
  if (!value || --value->references > 0) return;
  free(value->list);
  free(value->text);
  free(value);
}

static struct value *value_share(struct value *value) {
  if (value) value->references++;
  return value;
}

static void set_text(struct value *value, const char *text) { value->text = must(strdup(text)); }

/* ---- one reader per kind: fills number, loss or list, and text ---- */

static enum unit unit_of(enum param_kind kind) {
  static const enum unit units[] = {
      [PARAM_COUNT] = UNIT_COUNT, [PARAM_TIME] = UNIT_TIME, [PARAM_RATE] = UNIT_RATE, [PARAM_SIZE] = UNIT_SIZE, [PARAM_SHARE] = UNIT_SHARE};
  return units[kind];
}

static int refuse_range(const struct param *row, enum unit unit, const char *text, const char *noun, struct err *e) {
  char low[32], high[32];
  units_format(unit, row->min, low);
  if (row->max == INT64_MAX) return err_add(e, ERR_INPUT, "found %s, allowed %s%s or more", text, low, noun);
  return err_add(e, ERR_INPUT, "found %s, allowed %s to %s%s", text, low, units_format(unit, row->max, high), noun);
}

static int read_number(const struct param *row, const char *text, struct value *value, struct err *e) {
  enum unit unit = unit_of(row->kind);
  char with_unit[CANONICAL_MAX];
  bool bare = row->bare && text[0] && strspn(text, "0123456789") == strlen(text);
  snprintf(with_unit, sizeof with_unit, "%s%s", text, bare ? row->bare : "");
  int code = units_parse(unit, bare ? with_unit : text, &value->number, e);
  if (code) return code;
  if (value->number < row->min || value->number > row->max) return refuse_range(row, unit, text, "", e);
  char buffer[32];
  set_text(value, units_format(unit, value->number, buffer));
  return 0;
}

static int read_bool(const struct param *row, const char *text, struct value *value, struct err *e) {
  static const char *const words[] = {"no", "yes", "false", "true", "off", "on"};
  (void)row;
  for (int i = 0; i < (int)(sizeof words / sizeof words[0]); i++) {
    if (strcasecmp(text, words[i]) != 0) continue;
    value->number = i % 2;
    set_text(value, words[i % 2]);
    return 0;
  }
  return err_add(e, ERR_INPUT, "found '%s', allowed yes or no", text);
}

static int read_choice(const struct param *row, const char *text, struct value *value, struct err *e) {
  char all[CANONICAL_MAX] = "";
  size_t length = 0;
  for (int i = 0; row->choices[i]; i++) {
    if (strcasecmp(text, row->choices[i]) == 0) {
      value->number = i;
      set_text(value, row->choices[i]);
      return 0;
    }
    if (length < sizeof all) length += (size_t)snprintf(all + length, sizeof all - length, "%s%s", i ? ", " : "", row->choices[i]);
  }
  return err_add(e, ERR_INPUT, "found '%s', allowed %s", text, all);
}

static int read_name(const struct param *row, const char *text, struct value *value, struct err *e) {
  for (const char *at = text; *at; at++)
    if ((unsigned char)*at < ' ') return err_add(e, ERR_INPUT, "found a control character (code %d), allowed is a name in one line", *at);
  char canonical[CANONICAL_MAX];
  if (row->check) {
    int code = row->check(text, canonical, sizeof canonical, e);
    if (code) return code;
  }
  set_text(value, row->check ? canonical : text);
  return 0;
}

static int read_queue(const struct param *row, const char *text, struct value *value, struct err *e) {
  static const char *const nouns[] = {"packets", "packet"};
  size_t length = strlen(text), digits = strspn(text, "0123456789"), blanks = strspn(text + digits, " ");
  bool in_packets = false;
  for (int i = 0; i < 2; i++) in_packets |= digits > 0 && strcmp(text + digits + blanks, nouns[i]) == 0;
  if (strcmp(text, "none") == 0 && row->min <= 0) {
    set_text(value, "none");
    return 0;
  }
  if (digits == length) return err_add(e, ERR_INPUT, "found '%s' without a unit, allowed are packets and sizes, such as 100 packets or 64KiB", text);
  enum unit unit = in_packets ? UNIT_COUNT : UNIT_SIZE;
  char number[CANONICAL_MAX], buffer[32];
  snprintf(number, sizeof number, "%.*s", in_packets ? (int)digits : (int)length, text);
  int64_t magnitude;
  int code = units_parse(unit, number, &magnitude, e);
  if (code) return code;
  if (magnitude < row->min || magnitude > row->max || magnitude < 1) return refuse_range(row, unit, text, in_packets ? " packets" : "", e);
  value->number = in_packets ? magnitude : -magnitude;
  units_format(unit, magnitude, buffer);
  snprintf(number, sizeof number, "%s%s", buffer, in_packets ? " packets" : "");
  set_text(value, number);
  return 0;
}

/* ---- YAML's flow form, as far as values use it: {a: {b: c}}, [1, 2] ---- */

static const char *skip_blanks(const char *at) { return at + strspn(at, " \t"); }

/* True, and past it, if the next thing is `mark`. */
static bool flow_mark(const char **at, char mark) {
  const char *next = skip_blanks(*at);
  if (*next != mark) return false;
  *at = next + 1;
  return true;
}

/* A plain or quoted word up to one of `ends`; false when there is none or it is too long. */
static bool flow_word(const char **at, const char *ends, char word[WORD_MAX]) {
  const char *from = skip_blanks(*at);
  char quote = *from == '"' || *from == '\'' ? *from : '\0';
  const char quotes[] = {quote, '\0'};
  from += quote ? 1 : 0;
  size_t length = strcspn(from, quote ? quotes : ends);
  const char *end = from + length;
  if (quote && *end != quote) return false;
  while (!quote && length > 0 && (from[length - 1] == ' ' || from[length - 1] == '\t')) length--;
  if (length == 0 || length >= WORD_MAX) return false;
  memcpy(word, from, length);
  word[length] = '\0';
  *at = end + (quote ? 1 : 0);
  return true;
}

enum { GEMODEL_P, GEMODEL_R, GEMODEL_BAD, GEMODEL_GOOD, GEMODEL_COUNT };
static const struct {
  const char *key;
  int meaning;
} gemodel_keys[] = {
    {"p", GEMODEL_P}, {"r", GEMODEL_R}, {"loss_bad", GEMODEL_BAD}, {"loss_good", GEMODEL_GOOD}, {"1-h", GEMODEL_BAD}, {"1-k", GEMODEL_GOOD}, /* netem's */
};

static int read_share(const char *name, const char *text, int64_t *share, struct err *e) {
  struct err inner = {0};
  int code = units_parse(UNIT_SHARE, text, share, &inner);
  if (code)
    err_add(e, code, "%s%.*s", name, (int)inner.length - 1, inner.text);
  else if (*share < 0 || *share > SHARE_ONE)
    code = err_add(e, ERR_INPUT, "%sfound %s, allowed 0%% to 100%%", name, text);
  err_free(&inner);
  return code;
}

static int refuse_loss(const char *text, struct err *e) {
  return err_add(e, ERR_INPUT, "found '%s', allowed is a share such as 1%% or {gemodel: {p: 1%%, r: 20%%, loss_bad: 100%%, loss_good: 0%%}}", text);
}

static int read_gemodel_pairs(const char **at, const char *text, int64_t shares[GEMODEL_COUNT], bool given[GEMODEL_COUNT], struct err *e) {
  do {
    char key[WORD_MAX], word[WORD_MAX], name[WORD_MAX + 16];
    if (!flow_word(at, ":,{}", key) || !flow_mark(at, ':') || !flow_word(at, ",{}", word)) return refuse_loss(text, e);
    int meaning = -1;
    for (size_t i = 0; i < sizeof gemodel_keys / sizeof gemodel_keys[0]; i++)
      if (strcmp(key, gemodel_keys[i].key) == 0) meaning = gemodel_keys[i].meaning;
    if (meaning < 0) return err_add(e, ERR_INPUT, "gemodel: found the key '%s', allowed p, r, loss_bad (or 1-h), loss_good (or 1-k)", key);
    if (given[meaning]) return err_add(e, ERR_INPUT, "gemodel: '%s' is given twice", key);
    given[meaning] = true;
    snprintf(name, sizeof name, "gemodel: %s: ", key);
    int code = read_share(name, word, &shares[meaning], e);
    if (code) return code;
  } while (flow_mark(at, ','));
  return 0;
}

static int read_gemodel(const char *text, struct value *value, struct err *e) {
  const char *at = text;
  char key[WORD_MAX];
  int64_t shares[GEMODEL_COUNT] = {[GEMODEL_BAD] = SHARE_ONE};
  bool given[GEMODEL_COUNT] = {false};
  if (!flow_mark(&at, '{') || !flow_word(&at, ":,{}", key) || strcmp(key, "gemodel") != 0 || !flow_mark(&at, ':') || !flow_mark(&at, '{'))
    return refuse_loss(text, e);
  int code = read_gemodel_pairs(&at, text, shares, given, e);
  if (code) return code;
  if (!flow_mark(&at, '}') || !flow_mark(&at, '}') || *skip_blanks(at)) return refuse_loss(text, e);
  if (!given[GEMODEL_P] || !given[GEMODEL_R]) return err_add(e, ERR_INPUT, "gemodel: p and r are both needed");
  value->loss = (struct param_loss){
      .gemodel = true, .p_ppb = shares[GEMODEL_P], .r_ppb = shares[GEMODEL_R], .bad_ppb = shares[GEMODEL_BAD], .good_ppb = shares[GEMODEL_GOOD]};
  static const int64_t unsaid[GEMODEL_COUNT] = {-1, -1, SHARE_ONE, 0};
  char canonical[CANONICAL_MAX] = "{gemodel: {", share[32];
  for (int i = 0; i < GEMODEL_COUNT; i++) {
    size_t length = strlen(canonical);
    if (shares[i] != unsaid[i])
      snprintf(canonical + length, sizeof canonical - length, "%s%s: %s", i ? ", " : "", gemodel_keys[i].key, units_format(UNIT_SHARE, shares[i], share));
  }
  strcat(canonical, "}}");
  set_text(value, canonical);
  return 0;
}

static int read_loss(const struct param *row, const char *text, struct value *value, struct err *e) {
  (void)row;
  if (*skip_blanks(text) == '{') return read_gemodel(text, value, e);
  int code = read_share("", text, &value->loss.loss_ppb, e);
  if (code) return code;
  char buffer[32];
  set_text(value, units_format(UNIT_SHARE, value->loss.loss_ppb, buffer));
  return 0;
}

static int read_element(const struct param *row, const char *word, struct value *value, struct err *e) {
  int64_t number;
  int code = units_parse(UNIT_COUNT, word, &number, e);
  if (code) return code;
  bool bounded = row->max > row->min;
  if (bounded && (number < row->min || number > row->max)) return refuse_range(row, UNIT_COUNT, word, "", e);
  if (value->list_count > 0 && number <= value->list[value->list_count - 1])
    return err_add(e, ERR_INPUT, "found %s after %" PRId64 ", allowed are numbers in ascending order, each once", word, value->list[value->list_count - 1]);
  if (value->list_count == LIST_MAX) return err_add(e, ERR_INPUT, "found more than %d numbers", LIST_MAX);
  value->list[value->list_count++] = number;
  return 0;
}

static int read_list(const struct param *row, const char *text, struct value *value, struct err *e) {
  size_t commas = 0;
  for (const char *c = text; *c; c++) commas += *c == ',';
  value->list = must(calloc(commas + 1 < LIST_MAX ? commas + 1 : LIST_MAX, sizeof *value->list));
  const char *at = text;
  bool bracket = flow_mark(&at, '['), more = !bracket || !flow_mark(&at, ']');
  while (more) {
    char word[WORD_MAX];
    if (!flow_word(&at, bracket ? ",]" : "", word)) return err_add(e, ERR_INPUT, "found '%s', allowed is a list such as [3, 5]", text);
    int code = read_element(row, word, value, e);
    if (code) return code;
    more = bracket && flow_mark(&at, ',');
    if (bracket && !more && !flow_mark(&at, ']'))
      return err_add(e, ERR_INPUT, "found '%s' without its closing bracket, allowed is a list such as [3, 5]", text);
  }
  if (*skip_blanks(at)) return err_add(e, ERR_INPUT, "found '%s', allowed is a list such as [3, 5]", text);
  char *canonical = must(malloc((size_t)value->list_count * 34 + 3)), *to = canonical, buffer[32];
  *to++ = '[';
  for (int i = 0; i < value->list_count; i++) to += sprintf(to, "%s%s", i ? ", " : "", units_format(UNIT_COUNT, value->list[i], buffer));
  memcpy(to, "]", 2);
  value->text = canonical;
  return 0;
}

/* One name of a list into the canonical text so far, which has room for it. */
static int add_name(const struct param *row, const char *word, char *canonical, size_t size, struct err *e) {
  struct value one = {0};
  int code = read_name(row, word, &one, e);
  if (code) return code;
  if (!*one.text || one.text[strcspn(one.text, " ,[]")]) { /* would not be the same list when read again */
    free(one.text);
    return err_add(e, ERR_INPUT, "found the name '%s', allowed are names without blanks, commas and brackets", word);
  }
  size_t length = strlen(canonical);
  char element[CANONICAL_MAX + 4];
  snprintf(element, sizeof element, " %s,", one.text);
  char so_far[NAMES_MAX + 2];
  snprintf(so_far, sizeof so_far, " %s,", canonical + 1);
  if (strstr(so_far, element)) code = err_add(e, ERR_INPUT, "found %s twice, allowed once each", one.text);
  if (!code && length + strlen(one.text) + 4 > size) code = err_add(e, ERR_INPUT, "found a list of more than %zu characters", size - 4);
  if (!code) snprintf(canonical + length, size - length, "%s%s", length > 1 ? ", " : "", one.text);
  free(one.text);
  return code;
}

static int read_names(const struct param *row, const char *text, struct value *value, struct err *e) {
  char canonical[NAMES_MAX] = "[";
  const char *at = text;
  bool bracket = flow_mark(&at, '['), more = !bracket || !flow_mark(&at, ']');
  while (more) {
    char word[WORD_MAX];
    if (!flow_word(&at, bracket ? ",]" : "", word)) return err_add(e, ERR_INPUT, "found '%s', allowed is a list of names such as [a, b]", text);
    int code = add_name(row, word, canonical, sizeof canonical - 1, e);
    if (code) return code;
    value->list_count++;
    more = bracket && flow_mark(&at, ',');
    if (bracket && !more && !flow_mark(&at, ']'))
      return err_add(e, ERR_INPUT, "found '%s' without its closing bracket, allowed is a list of names such as [a, b]", text);
  }
  if (*skip_blanks(at)) return err_add(e, ERR_INPUT, "found '%s', allowed is a list of names such as [a, b]", text);
  bool bounded = row->min || row->max;
  if (bounded && (value->list_count < row->min || value->list_count > row->max))
    return err_add(e, ERR_INPUT, "found %d names, allowed %" PRId64 " to %" PRId64, value->list_count, row->min, row->max);
  strcat(canonical, "]");
  set_text(value, canonical);
  return 0;
}

typedef int read_fn(const struct param *row, const char *text, struct value *value, struct err *e);
static read_fn *const readers[] = {
    [PARAM_COUNT] = read_number,
    [PARAM_TIME] = read_number,
    [PARAM_RATE] = read_number,
    [PARAM_SIZE] = read_number,
    [PARAM_SHARE] = read_number,
    [PARAM_BOOL] = read_bool,
    [PARAM_CHOICE] = read_choice,
    [PARAM_NAME] = read_name,
    [PARAM_QUEUE] = read_queue,
    [PARAM_LOSS] = read_loss,
    [PARAM_LIST] = read_list,
    [PARAM_NAMES] = read_names,
};

/* Parses text for a row; NULL and an error that begins with the key when it is refused. */
static struct value *read_value(const struct param *row, const char *text, struct err *e) {
  while (*text == ' ' || *text == '\t') text++;
  size_t length = strlen(text);
  while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t')) length--;
  char *trimmed = must(strndup(text, length));
  struct value *value = value_new();
  struct err inner = {0};
  int code = readers[row->kind](row, trimmed, value, &inner);
  if (code) {
    err_add(e, code, "%s: %.*s", row->key, (int)inner.length - 1, inner.text);
    value_drop(value);
    value = NULL;
  }
  err_free(&inner);
  free(trimmed);
  return value;
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

static struct value *read_default(const struct param *row) {
  struct err e = {0};
  struct value *value;
  if (row->kind == PARAM_NAME) { /* canonical already: what `check` needs may not be loaded yet */
    value = value_new();
    set_text(value, row->fallback);
    return value;
  }
  struct param unchecked = *row;
  unchecked.check = NULL; /* nor for each of several names */
  value = read_value(&unchecked, row->fallback, &e);
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
  for (int i = 0; i < count; i++) config->values[i] = value_share(from->values[i]);
  return config;
}

static void schema_drop(struct schema *schema) {
  if (--schema->references > 0) return;
  for (int i = 0; i < schema->count; i++) value_drop(schema->defaults[i]);
  free(schema->rows);
  free(schema->sorted);
  free(schema->target);
  free(schema->defaults);
  free(schema);
}

void config_free(struct config *config) {
  if (!config) return;
  for (int i = 0; i < config->schema->count; i++) value_drop(config->values[i]);
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

static void take_value(struct config *config, int row, struct value *value) {
  value_drop(config->values[row]);
  config->values[row] = value;
}

/* path.rtt: what is written is halved and goes to path.delay. */
static int set_half(struct config *config, int row, struct value *whole, struct err *e) {
  const struct param *pseudo = config->schema->rows[row];
  int target = config->schema->target[row];
  const struct param *real = config->schema->rows[target];
  enum unit unit = unit_of(pseudo->kind);
  char half[32], low[32], high[32];
  if (whole->number % 2)
    return err_add(e, ERR_INPUT, "%s: found %s, which cannot be halved exactly; half of it goes to %s", pseudo->key, whole->text, real->key);
  int64_t number = whole->number / 2;
  units_format(unit, number, half);
  if (number < real->min || number > real->max)
    return err_add(e, ERR_INPUT, "%s: found %s, half of which goes to %s, allowed %s to %s", pseudo->key, whole->text, real->key,
        units_format(unit, real->min, low), units_format(unit, real->max, high));
  struct value *value = value_new();
  value->number = number;
  set_text(value, half);
  take_value(config, target, value);
  return 0;
}

int config_set(struct config *config, const char *key, const char *text, struct err *e) {
  int row = row_of(config->schema, key);
  if (row < 0) {
    const char *nearest = config_nearest(config, key);
    return err_add(e, ERR_INPUT, nearest ? "%s: unknown key; did you mean %s?" : "%s: unknown key", key, nearest);
  }
  struct value *value = read_value(config->schema->rows[row], text, e);
  if (!value) return e->code;
  if (!config->schema->rows[row]->sets) {
    take_value(config, row, value);
    return 0;
  }
  int code = set_half(config, row, value, e);
  value_drop(value);
  return code;
}

bool config_is_set(const struct config *config, const char *key) {
  int row = row_of(config->schema, key);
  assert(row >= 0);
  return config->values[row] != NULL;
}

static const struct value *resolved(const struct config *config, int row) {
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

static const struct value *of_kind(const struct config *config, const char *key, enum param_kind kind) {
  int row = row_of(config->schema, key);
  assert(row >= 0 && config->schema->rows[row]->kind == kind);
  const struct value *value = resolved(config, row);
  assert(value);
  return value;
}

int64_t config_number(const struct config *config, const char *key) {
  int row = row_of(config->schema, key);
  assert(row >= 0);
  enum param_kind kind = config->schema->rows[row]->kind;
  assert(kind != PARAM_NAME && kind != PARAM_LOSS && kind != PARAM_LIST && kind != PARAM_NAMES);
  const struct value *value = resolved(config, row);
  assert(value);
  return value->number;
}

const char *config_text(const struct config *config, const char *key) {
  const struct value *value = resolved(config, row_of(config->schema, key));
  return value ? value->text : NULL;
}

void config_each(const struct config *config, void (*fn)(void *arg, const struct param *param, const char *text), void *arg) {
  for (int i = 0; i < config->schema->count; i++) {
    const struct value *value = config->schema->rows[i]->sets ? NULL : resolved(config, i);
    if (value) fn(arg, config->schema->rows[i], value->text);
  }
}

void config_loss(const struct config *config, const char *key, struct param_loss *out) { *out = of_kind(config, key, PARAM_LOSS)->loss; }

int config_list(const struct config *config, const char *key, int64_t *values, int max) {
  const struct value *value = of_kind(config, key, PARAM_LIST);
  for (int i = 0; i < value->list_count && i < max; i++) values[i] = value->list[i];
  return value->list_count;
}

int config_names(const struct config *config, const char *key, void (*fn)(void *arg, const char *name), void *arg) {
  const struct value *value = of_kind(config, key, PARAM_NAMES);
  char names[NAMES_MAX];
  snprintf(names, sizeof names, "%s", value->text + 1);
  char *save = NULL;
  for (char *name = strtok_r(names, ", ]", &save); name; name = strtok_r(NULL, ", ]", &save)) fn(arg, name);
  return value->list_count;
}
