/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/run/yaml.h"
#include "sim/run/names.h"
#include "sim/run/utf8.h"
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

struct reader {
  yaml_parser_t parser;
  const char *text; /* behind the byte-order mark */
  size_t size;
  struct arena *arena;
  struct problem_list *problems;
  struct place origin;
  int nodes;
  bool stopped; /* a problem after which nothing more can be read */
};

static struct place place_of(const struct reader *r, yaml_mark_t mark) {
  struct place at = r->origin;
  at.line = (int)mark.line + 1;
  at.column = (int)mark.column + 1;
  return at;
}

/* The byte that begins character `index`. */
static char byte_at(const struct reader *r, size_t index) {
  size_t i = 0;
  while (i < r->size && (index || (r->text[i] & 0xc0) == 0x80)) index -= (r->text[i++] & 0xc0) != 0x80;
  return i < r->size ? r->text[i] : '\0';
}

static void syntax_problem(struct reader *r) {
  const yaml_parser_t *parser = &r->parser;
  if (parser->error == YAML_MEMORY_ERROR) abort();
  struct place at = place_of(r, parser->problem_mark);
  char found = byte_at(r, parser->problem_mark.index);
  if (parser->problem && !strcmp(parser->problem, "found character that cannot start any token") && found) { /* libyaml's two commonest cases */
    if (found == '\t')
      problem_add(r->problems, at, NULL, "a tab, but YAML is indented with blanks alone");
    else
      problem_add(r->problems, at, NULL, "'%c' cannot begin a value; put it in quotes", found);
    return;
  }
  const char *what = parser->problem ? parser->problem : "unreadable";
  if (parser->context && parser->context_mark.line != parser->problem_mark.line)
    problem_add(r->problems, at, NULL, "not YAML: %s, %s that begins at line %zu", what, parser->context, parser->context_mark.line + 1);
  else if (parser->context)
    problem_add(r->problems, at, NULL, "not YAML: %s, %s", what, parser->context);
  else
    problem_add(r->problems, at, NULL, "not YAML: %s", what);
}

/* False when the text ends here in a problem. */
static bool next_event(struct reader *r, yaml_event_t *event) {
  if (r->stopped) return false;
  if (!yaml_parser_parse(&r->parser, event)) {
    syntax_problem(r);
    r->stopped = true;
  }
  return !r->stopped;
}

/* A scalar may hold what the bytes may not, by way of escapes: "\0" and its like. */
static bool text_is_clean(const unsigned char *text, size_t length) {
  for (size_t i = 0; i < length; i++)
    if ((text[i] < 0x20 && text[i] != '\t' && text[i] != '\n') || text[i] == 0x7f) return false;
  return true;
}

static void refuse_decoration(struct reader *r, struct place at, const yaml_char_t *anchor, const yaml_char_t *tag) {
  if (anchor)
    problem_add(r->problems, at, NULL, "anchor &%s: anchors and aliases are not read; write the value out", names_shown(r->arena, (const char *)anchor));
  if (!tag) return;
  static const char standard[] = "tag:yaml.org,2002:"; /* what !! stands for */
  const char *name = (const char *)tag;
  bool is_standard = !strncmp(name, standard, sizeof standard - 1);
  problem_add(r->problems, at, NULL, "tag %s%s: tags are not read; write the plain value", is_standard ? "!!" : "",
      names_shown(r->arena, is_standard ? name + sizeof standard - 1 : name));
}

static struct yaml_node *read_node(struct reader *r, yaml_event_t *event, int depth);

static int compare_keys(const void *left, const void *right) {
  const struct yaml_node *a = *(const struct yaml_node *const *)left, *b = *(const struct yaml_node *const *)right;
  int order = strcmp(a->key, b->key);
  if (order) return order;
  if (a->key_at.line != b->key_at.line) return a->key_at.line < b->key_at.line ? -1 : 1;
  return a->key_at.column < b->key_at.column ? -1 : 1;
}

/* Takes out and reports every key that an earlier one of the same map has; sorted, as a hostile map may hold a hundred
 * thousand. */
static void refuse_doubled_keys(struct reader *r, struct yaml_node *map) {
  if (map->count < 2) return;
  struct yaml_node **sorted = calloc((size_t)map->count, sizeof *sorted);
  if (!sorted) abort();
  int count = 0;
  for (struct yaml_node *child = map->child; child; child = child->next) sorted[count++] = child;
  qsort(sorted, (size_t)count, sizeof *sorted, compare_keys);
  for (int i = 1, first = 0; i < count; i++) {
    char where[128];
    if (strcmp(sorted[i]->key, sorted[first]->key)) {
      first = i;
      continue;
    }
    problem_add(r->problems, sorted[i]->key_at, names_shown(r->arena, sorted[i]->key), "given twice, first at %s; remove one of them",
        problem_place(sorted[first]->key_at, where, sizeof where));
    sorted[i]->key = NULL;
  }
  free(sorted);
  for (struct yaml_node **link = &map->child; *link;) {
    if ((*link)->key) {
      link = &(*link)->next;
      continue;
    }
    *link = (*link)->next;
    map->count--;
  }
}

/* The text of a key, NULL after a problem; the node a refused key stands for is read to its end. */
static const char *read_key(struct reader *r, yaml_event_t *event, int depth) {
  struct place at = place_of(r, event->start_mark);
  if (event->type != YAML_SCALAR_EVENT) {
    if (event->type != YAML_ALIAS_EVENT) problem_add(r->problems, at, NULL, "a list or a map as a key; a key is plain text");
    read_node(r, event, depth);
    return NULL;
  }
  const struct yaml_node *node = read_node(r, event, depth);
  if (!node) return NULL;
  if (node->text[0]) return node->text;
  problem_add(r->problems, at, NULL, "a value without a key");
  return NULL;
}

static void read_children(struct reader *r, struct yaml_node *parent, yaml_event_type_t end, int depth) {
  struct yaml_node **tail = &parent->child;
  yaml_event_t event;
  while (next_event(r, &event)) {
    if (event.type == end) {
      yaml_event_delete(&event);
      return;
    }
    const char *key = NULL;
    struct place key_at = place_of(r, event.start_mark);
    if (parent->shape == YAML_MAP) {
      key = read_key(r, &event, depth);
      if (!next_event(r, &event)) return;
    }
    struct yaml_node *node = read_node(r, &event, depth);
    if (!node || (parent->shape == YAML_MAP && !key)) continue;
    node->key = key;
    node->key_at = key ? key_at : node->at;
    if (key && yaml_is_null(node)) node->at = key_at;
    *tail = node;
    tail = &node->next;
    parent->count++;
  }
}

/* Takes the event over. NULL when the node was refused. */
static struct yaml_node *read_node(struct reader *r, yaml_event_t *event, int depth) {
  struct place at = place_of(r, event->start_mark);
  struct yaml_node *node = arena_alloc(r->arena, sizeof *node);
  node->at = at;
  if (++r->nodes > YAML_NODES_MAX) {
    problem_add(r->problems, at, NULL, "more than %d keys and values; split the study", YAML_NODES_MAX);
    r->stopped = true;
  } else if (event->type == YAML_ALIAS_EVENT) {
    problem_add(r->problems, at, NULL, "alias *%s: anchors and aliases are not read; write the value out",
        names_shown(r->arena, (const char *)event->data.alias.anchor));
    node = NULL;
  } else if (event->type == YAML_SCALAR_EVENT) {
    refuse_decoration(r, at, event->data.scalar.anchor, event->data.scalar.tag);
    node->shape = YAML_TEXT;
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    node->text = arena_text(r->arena, (const char *)event->data.scalar.value, event->data.scalar.length);
    if (!text_is_clean(event->data.scalar.value, event->data.scalar.length)) {
      problem_add(r->problems, at, NULL, "a control character in the text, written as an escape; remove it");
      node = NULL;
    }
  } else if (depth >= YAML_DEPTH_MAX) {
    problem_add(r->problems, at, NULL, "nested more than %d levels deep", YAML_DEPTH_MAX);
    r->stopped = true;
  } else {
    bool map = event->type == YAML_MAPPING_START_EVENT;
    node->shape = map ? YAML_MAP : YAML_LIST;
    if (map)
      refuse_decoration(r, at, event->data.mapping_start.anchor, event->data.mapping_start.tag);
    else
      refuse_decoration(r, at, event->data.sequence_start.anchor, event->data.sequence_start.tag);
    read_children(r, node, map ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT, depth + 1);
    if (map && !r->stopped) refuse_doubled_keys(r, node);
  }
  yaml_event_delete(event);
  return r->stopped ? NULL : node;
}

/* The one document of the stream. */
static struct yaml_node *read_stream(struct reader *r) {
  struct yaml_node *root = NULL;
  int documents = 0;
  yaml_event_t event;
  while (next_event(r, &event)) {
    yaml_event_type_t type = event.type;
    struct place at = place_of(r, event.start_mark);
    if (type == YAML_SCALAR_EVENT || type == YAML_ALIAS_EVENT || type == YAML_SEQUENCE_START_EVENT || type == YAML_MAPPING_START_EVENT) {
      root = read_node(r, &event, 0);
      continue;
    }
    if (type == YAML_DOCUMENT_START_EVENT && ++documents > 1) {
      problem_add(r->problems, at, NULL, "a second document begins here; a scenario is one document");
      r->stopped = true;
    }
    yaml_event_delete(&event);
    if (type == YAML_STREAM_END_EVENT) break;
  }
  return r->stopped ? NULL : root;
}

const struct yaml_node *yaml_read(struct arena *arena, const char *text, size_t size, struct place origin, struct problem_list *problems) {
  int mark = utf8_check(text, size, origin, problems);
  if (mark < 0) return NULL;
  struct reader r = {.text = text + mark, .size = size - (size_t)mark, .arena = arena, .problems = problems, .origin = origin};
  if (!yaml_parser_initialize(&r.parser)) abort();
  yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&r.parser, (const unsigned char *)r.text, r.size);
  int before = problem_count(problems);
  struct yaml_node *root = read_stream(&r);
  yaml_parser_delete(&r.parser);
  if (root || problem_count(problems) > before) return root;
  /* No document at all: an empty text, which a --set value may be. */
  root = arena_alloc(arena, sizeof *root);
  root->text = "";
  root->at = origin;
  root->at.line = root->at.column = 1;
  return root;
}

const struct yaml_node *yaml_find(const struct yaml_node *map, const char *key) {
  for (const struct yaml_node *child = map->child; child; child = child->next)
    if (child->key && !strcmp(child->key, key)) return child;
  return NULL;
}

bool yaml_is_null(const struct yaml_node *node) {
  static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};
  if (node->shape != YAML_TEXT || node->quoted) return false;
  for (size_t i = 0; i < sizeof nulls / sizeof *nulls; i++)
    if (!strcmp(node->text, nulls[i])) return true;
  return false;
}

static const char *flow_text(struct arena *arena, const char *text) {
  if (text[0] && !text[strcspn(text, "\"'\\,:[]{}#&*!|>`\n\t")]) return text;
  char *quoted = arena_alloc(arena, 2 * strlen(text) + 3), *out = quoted;
  *out++ = '"';
  for (; *text; text++) {
    if (strchr("\"\\\n\t", *text)) *out++ = '\\';
    *out++ = *text == '\n' ? 'n' : *text == '\t' ? 't' : *text;
  }
  *out = '"';
  return quoted;
}

/* Written twice: to measure, then for good. Returns the length. */
static size_t flow_write(struct arena *arena, const struct yaml_node *node, char *out) {
  const char *open = node->shape == YAML_MAP ? "{" : node->shape == YAML_LIST ? "[" : flow_text(arena, node->text);
  size_t length = strlen(open);
  if (out) memcpy(out, open, length);
  if (node->shape == YAML_TEXT) return length;
  for (const struct yaml_node *child = node->child; child; child = child->next) {
    const char *parts[] = {child == node->child ? "" : ", ", child->key ? flow_text(arena, child->key) : "", child->key ? ": " : ""};
    for (int i = 0; i < 3; i++) {
      if (out) memcpy(out + length, parts[i], strlen(parts[i]));
      length += strlen(parts[i]);
    }
    length += flow_write(arena, child, out ? out + length : NULL);
  }
  if (out) out[length] = node->shape == YAML_MAP ? '}' : ']';
  return length + 1;
}

const char *yaml_flow(struct arena *arena, const struct yaml_node *node) {
  char *text = arena_alloc(arena, flow_write(arena, node, NULL) + 1);
  flow_write(arena, node, text);
  return text;
}
