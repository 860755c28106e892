/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calib/validate.h"
#include "models/crypto/csv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ID, QUANTITY, SCENARIO, SETTINGS, MINUS, METRIC, STAT, PUBLISHED, UNIT, GIVEN, TOLERANCE, ROLE, SOURCE, NOTE, COLUMNS };

static const struct csv_column columns[COLUMNS] = {{"id", false}, {"quantity", false}, {"scenario", true}, {"settings", true}, {"minus", false},
    {"metric", true}, {"stat", false}, {"published", true}, {"unit", true}, {"given", false}, {"tolerance", false}, {"role", false}, {"source", false},
    {"note", false}};

/* What a cell that was left empty means. */
static const char *const fallbacks[COLUMNS] = {[STAT] = "p50", [GIVEN] = "0", [TOLERANCE] = "0", [ROLE] = "predict", [SOURCE] = "own"};

static const char *const role_names[] = {[VALIDATE_FIT] = "fit", [VALIDATE_PREDICT] = "predict"};

const char *validate_role_name(enum validate_role role) { return role_names[role]; }

static void *allocate(size_t count, size_t size) {
  void *memory = calloc(count ? count : 1, size);
  if (!memory) abort();
  return memory;
}

static char *copy(const char *text, size_t length) {
  char *to = strndup(text, length);
  if (!to) abort();
  return to;
}

/* What every message about a cell needs. */
struct place {
  const struct validate_set *set;
  int line;
  struct err *e;
};

static void bad_cell(const struct place *at, int column, const char *found, const char *allowed) {
  err_add(at->e, ERR_INPUT, "%s:%d: column %s: found '%s', allowed: %s", at->set->path, at->line, columns[column].name, found, allowed);
}

/* A decimal number; strtod alone would take "inf", "nan" and "0x10" too. */
static double read_number(const struct place *at, int column, const char *text, bool may_be_negative) {
  char *end;
  double value = strtod(text, &end);
  bool plain = *text && !*end && strspn(text, "+-0123456789.eE") == strlen(text) && isfinite(value);
  if (plain && (may_be_negative || value >= 0)) return value;
  bad_cell(at, column, text, may_be_negative ? "a number with a decimal dot, such as 21.78" : "a number of 0 or more with a decimal dot, such as 21.78");
  return NAN;
}

static char *trim(char *text) {
  text += strspn(text, " \t\n\r");
  size_t length = strlen(text);
  while (length && strchr(" \t\n\r", text[length - 1])) text[--length] = '\0';
  return text;
}

static int by_key(const void *a, const void *b) {
  const struct validate_setting *x = a, *y = b;
  return strcmp(x->key, y->key);
}

/* Pieces between semicolons; `text` is cut in place. */
static void read_settings(const struct place *at, int column, char *text, struct validate_settings *out) {
  size_t most = 1;
  for (const char *p = text; *p; p++) most += *p == ';';
  out->items = allocate(most, sizeof *out->items);
  for (char *piece = text, *next; piece; piece = next) {
    next = strchr(piece, ';');
    if (next) *next++ = '\0';
    char *key = trim(piece), *equals = strchr(key, '=');
    if (!*key) continue;
    if (!equals || equals == key) {
      bad_cell(at, column, key, "KEY=VALUE;KEY=VALUE, as in ipsec.kex=mlkem768;path.rtt=10ms");
      continue;
    }
    *equals = '\0';
    out->items[out->count++] = (struct validate_setting){trim(key), trim(equals + 1)};
  }
  qsort(out->items, (size_t)out->count, sizeof *out->items, by_key);
  for (int i = 1; i < out->count; i++)
    if (!strcmp(out->items[i - 1].key, out->items[i].key)) bad_cell(at, column, out->items[i].key, "each key once");
}

static void read_role(const struct place *at, const char *text, enum validate_role *role) {
  for (int i = VALIDATE_FIT; i <= VALIDATE_PREDICT; i++)
    if (!strcmp(text, role_names[i])) {
      *role = (enum validate_role)i;
      return;
    }
  bad_cell(at, ROLE, text, "fit (used to set a parameter), predict");
}

static void check_words(const struct place *at, const struct validate_row *row, const struct cost_sources *sources) {
  if (!*row->scenario) bad_cell(at, SCENARIO, "", "a shipped scenario (pqnetsim list scenarios), or ./file.yaml beside this file");
  if (!*row->metric) bad_cell(at, METRIC, "", "a metric that pqnetsim params prints");
  if (!*row->unit) bad_cell(at, UNIT, "", "the metric's unit, or % for a share");
  if (!cost_source_find(sources, row->source)) bad_cell(at, SOURCE, row->source, "the ids that pqnetsim list sources prints, own for your own figures");
}

static void read_row(struct validate_set *set, struct validate_row *row, const struct csv_row *line, bool scored, char **texts,
    const struct cost_sources *sources, struct err *e) {
  const struct place at = {set, line->line, e};
  const char *cells[COLUMNS];
  for (int i = 0; i < COLUMNS; i++) cells[i] = !*line->cells[i] && fallbacks[i] ? fallbacks[i] : line->cells[i];
  *row = (struct validate_row){.line = line->line,
      .id = cells[ID],
      .quantity = *cells[QUANTITY] ? cells[QUANTITY] : cells[METRIC],
      .scenario = cells[SCENARIO],
      .metric = cells[METRIC],
      .stat = cells[STAT],
      .unit = cells[UNIT],
      .source = cells[SOURCE],
      .note = cells[NOTE],
      .settings_text = cells[SETTINGS],
      .minus_text = cells[MINUS],
      .has_minus = *cells[MINUS],
      .simulated = NAN};
  if (!*row->id) {
    row->id = *texts;
    *texts += sprintf(*texts, "line-%d", line->line) + 1;
  }
  for (int i = 0; i < 2; i++) {
    char *memory = strcpy(*texts, cells[i ? MINUS : SETTINGS]);
    *texts += strlen(memory) + 1;
    read_settings(&at, i ? MINUS : SETTINGS, memory, i ? &row->minus : &row->settings);
  }
  row->published = *cells[PUBLISHED] || scored ? read_number(&at, PUBLISHED, cells[PUBLISHED], true) : NAN;
  row->given = read_number(&at, GIVEN, cells[GIVEN], false);
  row->tolerance = read_number(&at, TOLERANCE, cells[TOLERANCE], false);
  read_role(&at, cells[ROLE], &row->role);
  check_words(&at, row, sources);
}

static int by_id(const void *a, const void *b) {
  const struct validate_row *const *x = a, *const *y = b;
  int order = strcmp((*x)->id, (*y)->id);
  return order ? order : (*x)->line - (*y)->line;
}

static void check_ids(const struct validate_set *set, struct err *e) {
  const struct validate_row **rows = allocate((size_t)set->count, sizeof(void *));
  for (int i = 0; i < set->count; i++) rows[i] = &set->rows[i];
  qsort(rows, (size_t)set->count, sizeof(void *), by_id);
  for (int i = 1; i < set->count; i++) {
    const struct place at = {set, rows[i]->line, e};
    if (!strcmp(rows[i - 1]->id, rows[i]->id)) bad_cell(&at, ID, rows[i]->id, "each id once");
  }
  free(rows);
}

static void read_remarks(struct validate_set *set) {
  const struct csv *csv = set->csv;
  set->notes = allocate((size_t)csv->remark_count, sizeof *set->notes);
  for (int i = 0; i < csv->remark_count; i++) {
    const char *text = csv->remarks[i].text;
    if (!strncmp(text, "title:", 6))
      set->title = text + 6 + strspn(text + 6, " \t");
    else if (!strncmp(text, "note:", 5))
      set->notes[set->note_count++] = text + 5 + strspn(text + 5, " \t");
  }
}

/* Room for the ids of rows that have none and for the settings, which are cut into pieces. */
static char *text_room(const struct csv *csv) {
  enum { ID_ROOM = 32 };
  size_t size = 1;
  for (int i = 0; i < csv->row_count; i++) size += strlen(csv->rows[i].cells[SETTINGS]) + strlen(csv->rows[i].cells[MINUS]) + 2 + ID_ROOM;
  return allocate(size, 1);
}

static char *base_name(const char *path) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  size_t length = strlen(name);
  return copy(name, length > 4 && !strcmp(name + length - 4, ".csv") ? length - 4 : length);
}

int validate_read(const char *path, bool scored, const struct cost_sources *sources, struct validate_set **out, struct err *e) {
  struct validate_set *set = allocate(1, sizeof *set);
  int before = e->count;
  set->path = copy(path, strlen(path));
  set->name = set->title = base_name(path);
  (void)!csv_read(path, columns, COLUMNS, &set->csv, e); /* problems are counted in e; a table is read on for more */
  if (set->csv) {
    read_remarks(set);
    char *texts = set->texts = text_room(set->csv);
    set->rows = allocate((size_t)set->csv->row_count, sizeof *set->rows);
    for (; set->count < set->csv->row_count; set->count++) read_row(set, &set->rows[set->count], &set->csv->rows[set->count], scored, &texts, sources, e);
    check_ids(set, e);
  }
  if (e->count == before && !set->count) err_add(e, ERR_INPUT, "%s: holds no values: there is no line behind the one that names the columns", path);
  if (e->count > before) {
    validate_free(set);
    set = NULL;
  }
  *out = set;
  return e->count > before ? (int)e->code : 0;
}

void validate_free(struct validate_set *set) {
  if (!set) return;
  for (int i = 0; i < set->count; i++) {
    free(set->rows[i].settings.items);
    free(set->rows[i].minus.items);
  }
  free(set->rows);
  free(set->notes);
  free(set->texts);
  csv_free(set->csv);
  free((char *)set->path);
  free((char *)set->name);
  free(set);
}
