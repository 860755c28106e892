/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values: a YAML node as the text config_set reads, refusing what only looks like a value. */
#include "sim/run/load.h"
#include "sim/run/names.h"
#include <string.h>
#include <strings.h>

enum { VALUE_MAX = 4096 }; /* longer than the longest list a row takes */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Forms that YAML 1.1, YAML 1.2 and JSON read as different numbers, or as text. */
static const char *ambiguous(const char *text) {
  const char *body = text + (*text == '-' || *text == '+');
  if (!is_digit(*body)) return NULL;
  if (body[0] == '0' && body[1] && strchr("xXoObB", body[1]) && body[2]) return "write a decimal number";
  if (body[0] == '0' && (is_digit(body[1]) || body[1] == '_')) return "a leading zero means octal to some readers; write the number without it";
  if (!body[strspn(body, "0123456789_.")] && strchr(body, '_')) return "write the number without _";
  if (!body[strspn(body, "0123456789:.")] && strchr(body, ':')) return "a colon means base 60 to some readers; write a plain number";
  if (!body[strspn(body, "0123456789,.")] && strchr(body, ',')) return "write the number without a comma; the decimal mark is a dot";
  return NULL;
}

/* "allowed ..." for a row, as far as its table says. */
static const char *allowed(struct load *load, const struct param *row) {
  enum unit unit;
  char low[32], high[32];
  if (load_unit(row->kind, &unit) && row->max == INT64_MAX) return arena_format(load->arena, "%s or more", units_format(unit, row->min, low));
  if (load_unit(row->kind, &unit)) return arena_format(load->arena, "%s to %s", units_format(unit, row->min, low), units_format(unit, row->max, high));
  if (row->kind == PARAM_CHOICE) {
    int count = 0;
    while (row->choices[count]) count++;
    return names_join(load->arena, row->choices, count);
  }
  if (row->part) return "a name or {base: NAME, OPERATION: NAME, ...}";
  static const char *const kinds[] = {[PARAM_BOOL] = "yes or no",
      [PARAM_NAME] = "a name",
      [PARAM_QUEUE] = "packets or bytes, such as 100 packets or 64KiB",
      [PARAM_LOSS] = "a share or {gemodel: {p: 1%, r: 20%}}",
      [PARAM_LIST] = "a list such as [3, 5]",
      [PARAM_NAMES] = "a list of names such as [a, b]"};
  return kinds[row->kind];
}

/* YAML's words for what is not a number. */
static bool is_not_finite(const char *text) {
  static const char *const words[] = {".nan", ".inf", "nan", "inf", "infinity"};
  const char *body = text + (*text == '-' || *text == '+');
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (!strcasecmp(body, words[i])) return true;
  return false;
}

/* Quotation marks a word processor puts for " and '. */
static bool has_curly_quotes(const char *text) {
  static const char *const marks[] = {"\xe2\x80\x98", "\xe2\x80\x99", "\xe2\x80\x9c", "\xe2\x80\x9d"};
  for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
    if (strstr(text, marks[i])) return true;
  return false;
}

/* A whole number as written, if every reader of YAML sees the same number in it. */
static const char *count_text(struct load *load, const struct entry *entry, const struct yaml_node *node) {
  const char *why = node->quoted ? "in quotes this is a text; write the number without them" : ambiguous(node->text);
  if (!why) return node->text;
  if (entry->row->kind != PARAM_LIST)
    problem_add(load->problems, node->at, entry->key, "found %s, allowed %s: %s", load_shown(load, node), allowed(load, entry->row), why);
  else
    problem_add(load->problems, node->at, entry->key, "found %s: %s", load_shown(load, node), why);
  return NULL;
}

static const char *scalar_text(struct load *load, const struct entry *entry, const struct yaml_node *node) {
  const struct param *row = entry->row;
  enum unit unit;
  const char *wrong = NULL;
  if (yaml_is_null(node)) {
    problem_add(load->problems, node->at, entry->key, "has no value, allowed %s; remove the line to get the default", allowed(load, row));
    return NULL;
  }
  if (has_curly_quotes(node->text))
    wrong = "these are typographic quotation marks; write plain ones or none";
  else if (node->text[strcspn(node->text, "\n\t")])
    wrong = "a value is on one line and without tabs";
  else if (strlen(node->text) > VALUE_MAX)
    wrong = "too long for a value";
  else if (is_not_finite(node->text) && (load_unit(row->kind, &unit) || row->kind == PARAM_LOSS || row->kind == PARAM_QUEUE))
    wrong = "not a finite number";
  if (wrong) {
    problem_add(load->problems, node->at, entry->key, "found %s, allowed %s: %s", load_shown(load, node), allowed(load, row), wrong);
    return NULL;
  }
  bool unitless = row->kind == PARAM_COUNT || (row->bare && (!node->quoted || !node->text[strspn(node->text, "0123456789")]));
  return unitless ? count_text(load, entry, node) : node->text;
}

static const char *list_text(struct load *load, const struct entry *entry, const struct yaml_node *list) {
  const char *text = "[";
  bool well = true, names = entry->row->kind == PARAM_NAMES;
  if (list->count > VALUE_MAX / 2) {
    problem_add(load->problems, list->at, entry->key, "found a list of %d elements, which is too long", list->count);
    return NULL;
  }
  for (const struct yaml_node *child = list->child; child; child = child->next) {
    const char *element = NULL;
    bool odd = child->shape == YAML_TEXT && names && child->text[strcspn(child->text, ",[]{}\"'")]; /* would be taken for another list */
    if (child->shape != YAML_TEXT || yaml_is_null(child) || odd)
      problem_add(load->problems, child->at, entry->key, "found %s in the list, allowed %s", load_shown(load, child), names ? "names" : "whole numbers");
    else
      element = names ? scalar_text(load, entry, child) : count_text(load, entry, child);
    well = well && element;
    text = well ? arena_format(load->arena, "%s%s%s", text, child == list->child ? "" : ", ", element) : text;
  }
  return well ? arena_format(load->arena, "%s]", text) : NULL;
}

/* ---- A name put together: {base: NAME, PART: NAME} ---- */

struct piece {
  const char *part, *name;
};

struct pieces {
  const char *base;
  struct piece *items; /* by part */
  int count;
  bool well;
};

static int count_pieces(const struct yaml_node *map) {
  int count = 0;
  for (const struct yaml_node *child = map->child; child; child = child->next) count += child->shape == YAML_MAP ? count_pieces(child) : 1;
  return count;
}

/* Puts a part where it belongs; false when it is there already. */
static bool insert_piece(struct pieces *pieces, const char *part, const char *name) {
  int at = pieces->count;
  while (at > 0 && strcmp(pieces->items[at - 1].part, part) > 0) at--;
  if (at > 0 && !strcmp(pieces->items[at - 1].part, part)) return false;
  memmove(&pieces->items[at + 1], &pieces->items[at], (size_t)(pieces->count++ - at) * sizeof *pieces->items);
  pieces->items[at] = (struct piece){part, name};
  return true;
}

/* One name of the map: false after a problem. */
static bool read_piece(struct load *load, const struct entry *entry, const struct yaml_node *node, const char *key, struct pieces *pieces) {
  struct entry piece = *entry;
  piece.key = arena_format(load->arena, "%s.%s", entry->key, names_shown(load->arena, key));
  if (node->shape == YAML_LIST || (node->shape == YAML_TEXT && strchr(node->text, ','))) {
    problem_add(load->problems, node->at, piece.key, "found %s, allowed one name, of a platform or ./FILE.csv, without commas%s", load_shown(load, node),
        node->shape == YAML_LIST ? "; to sweep it, give each value whole: {base: NAME, ...}" : "");
    return false;
  }
  const char *name = scalar_text(load, &piece, node);
  if (name && pieces->base && !strcmp(key, "base")) {
    problem_add(load->problems, node->key_at, piece.key, "base is given twice; remove one of them");
    return false;
  }
  if (!name) return false;
  if (!strcmp(key, "base")) {
    pieces->base = name;
    return true;
  }
  struct err e = {0};
  char canonical[256];
  bool well = !entry->row->part(key, canonical, sizeof canonical, &e);
  if (!well)
    problem_add(load->problems, node->key_at, piece.key, "%.*s", (int)strcspn(e.text, "\n"), e.text);
  else if (!(well = insert_piece(pieces, arena_text(load->arena, canonical, strlen(canonical)), name)))
    problem_add(load->problems, node->key_at, piece.key, "%s is given twice; remove one of them", canonical);
  err_free(&e);
  return well;
}

static void read_pieces(struct load *load, const struct entry *entry, const struct yaml_node *map, const char *prefix, struct pieces *pieces) {
  for (const struct yaml_node *child = map->child; child; child = child->next) {
    const char *key = prefix ? arena_format(load->arena, "%s.%s", prefix, child->key) : child->key;
    if (child->shape == YAML_MAP && child->count)
      read_pieces(load, entry, child, key, pieces);
    else
      pieces->well = read_piece(load, entry, child, key, pieces) && pieces->well;
  }
}

static const char *pieces_text(struct load *load, const struct entry *entry, const struct yaml_node *map) {
  struct pieces pieces = {.well = true};
  int before = problem_count(load->problems);
  pieces.items = arena_array(load->arena, (size_t)count_pieces(map) + 1, sizeof *pieces.items);
  read_pieces(load, entry, map, NULL, &pieces);
  if (!pieces.base && problem_count(load->problems) == before) {
    problem_add(
        load->problems, map->at, entry->key, "found a map without base, allowed {base: NAME, OPERATION: NAME, ...}: base names what states all other costs");
    return NULL;
  }
  if (!pieces.well || !pieces.base) return NULL;
  const char *text = pieces.base;
  for (int i = 0; i < pieces.count; i++) text = arena_format(load->arena, "%s,%s=%s", text, pieces.items[i].part, pieces.items[i].name);
  return text;
}

/* The text of a node for config_set. */
static const char *node_text(struct load *load, const struct entry *entry, const struct yaml_node *node) {
  if (problem_list_is_full(load->problems)) return NULL;
  enum param_kind kind = entry->row->kind;
  bool fits = node->shape == YAML_TEXT ? kind != PARAM_LIST || yaml_is_null(node)
                                       : (node->shape == YAML_MAP && (kind == PARAM_LOSS || entry->row->part)) ||
                                             (node->shape == YAML_LIST && (kind == PARAM_LIST || kind == PARAM_NAMES));
  if (!fits) {
    problem_add(load->problems, node->at, entry->key, "found %s, allowed %s%s", load_shown(load, node), allowed(load, entry->row),
        node->shape == YAML_LIST ? "; several values belong under sweep:" : "");
    return NULL;
  }
  if (node->shape == YAML_TEXT) return scalar_text(load, entry, node);
  if (node->shape == YAML_LIST) return list_text(load, entry, node);
  if (entry->row->part) return pieces_text(load, entry, node);
  const char *text = yaml_flow(load->arena, node);
  if (strlen(text) <= VALUE_MAX) return text;
  problem_add(load->problems, node->at, entry->key, "found a map of %zu bytes, which is too long", strlen(text));
  return NULL;
}

/* Passes on what config_set said, which begins with the key. */
static void report(struct load *load, const struct entry *entry, struct place at, struct err *e) {
  size_t key_length = strlen(entry->key);
  for (char *line = e->text; line && *line;) {
    char *end = strchr(line, '\n');
    if (end) *end = '\0';
    bool named = !strncmp(line, entry->key, key_length) && !strncmp(line + key_length, ": ", 2);
    problem_add(load->problems, at, entry->key, "%s", named ? line + key_length + 2 : line);
    line = end ? end + 1 : NULL;
  }
  err_free(e);
}

static bool set_node(struct load *load, struct config *config, const struct entry *entry, const struct yaml_node *node, const char **text) {
  struct err e = {0};
  *text = node_text(load, entry, node);
  if (!*text) return false;
  if (!config_set(config, entry->key, *text, &e)) return true;
  report(load, entry, node->at, &e);
  return false;
}

bool value_set(struct load *load, struct config *config, const struct entry *entry) {
  const char *text;
  return set_node(load, config, entry, entry->node, &text);
}

const char *value_read(struct load *load, const struct entry *entry, const struct yaml_node *node) {
  const char *text;
  char buffer[32];
  enum unit unit;
  if (!set_node(load, load->scratch, entry, node, &text)) return NULL;
  if (entry->row->sets && load_unit(entry->row->kind, &unit)) { /* a pseudo key keeps no value of its own */
    int64_t number;
    struct err e = {0};
    if (!units_parse(unit, text, &number, &e)) text = units_format(unit, number, buffer);
    err_free(&e);
  } else {
    text = config_text(load->scratch, entry->key);
  }
  return arena_text(load->arena, text, strlen(text));
}
