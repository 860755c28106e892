/* SPDX-License-Identifier: GPL-3.0-or-later */
/* yaml: a text as a small tree; the one file that needs libyaml.
 *
 * Purpose:   the part of YAML that cannot surprise: block and flow maps, lists and scalars, kept as text.
 * Units:     lines and columns from 1, columns in characters; byte offsets from 0.
 * Order:     children in the order of the text.
 * Refused:   anchors, aliases, tags, a second document, doubled keys (both lines named), keys that are not plain text,
 *            more than YAML_DEPTH_MAX levels or YAML_NODES_MAX values, bytes that are not UTF-8, UTF-16, control
 *            characters and NUL. A byte-order mark in front is passed over.
 * Ownership: the tree lives on the caller's arena.
 * Errors:    into the problem list. The tree is NULL only when the text has no shape that could be checked further;
 *            otherwise what was refused is missing from it.
 */
#ifndef PQNETSIM_YAML_H
#define PQNETSIM_YAML_H

#include "sim/run/arena.h"
#include "sim/run/problem.h"
#include <stdbool.h>

enum { YAML_DEPTH_MAX = 32, YAML_NODES_MAX = 100000 };

enum yaml_shape { YAML_TEXT, YAML_MAP, YAML_LIST };

struct yaml_node {
  enum yaml_shape shape;
  bool quoted;      /* a text in quotes or a | or > block */
  const char *text; /* YAML_TEXT */
  struct place at;  /* of the value; of the key when the value is empty */
  const char *key;  /* child of a map */
  struct place key_at;
  struct yaml_node *next;  /* sibling */
  struct yaml_node *child; /* first of count */
  int count;
};

/* origin: the --set the text came with (line and column are filled in here), or a zeroed place for a file. */
const struct yaml_node *yaml_read(struct arena *arena, const char *text, size_t size, struct place origin, struct problem_list *problems);

/* Child of a map, NULL when there is none. */
const struct yaml_node *yaml_find(const struct yaml_node *map, const char *key);

/* True for what YAML reads as null: nothing, ~, null. */
bool yaml_is_null(const struct yaml_node *node);

/* The node as flow text on one line: {gemodel: {p: 1%, r: 20%}}, [3, 5]. Texts that are not plain get double quotes. */
const char *yaml_flow(struct arena *arena, const struct yaml_node *node);

#endif
