/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cost_name: the text that names a platform, or puts one together from several.
 *
 * Purpose:    "xeon-6242r,sign=./hsm.csv": the costs of xeon-6242r, but those of signing from hsm.csv. Such a text is a
 *             parameter like any other, so worker processes, run keys and studies need to know nothing of parts.
 * Form:       BASE[,PART=NAME]...; BASE and NAME are a shipped platform or ./FILE.csv, without commas. PART is an operation
 *             ("sign"), or an operation of one subject ("rsa-2048.sign", "software.ike_message"); the latter goes first.
 * Order:      canonical texts have their parts in the order of strcmp, each once, with the algorithm's canonical name.
 * Ownership:  cost_name_read/cost_name_free; algorithm and operation point into the name itself or to static tables.
 * Errors:     ERR_INPUT: found, allowed, the nearest known operation.
 */
#ifndef PQNETSIM_COST_NAME_H
#define PQNETSIM_COST_NAME_H

#include "sim/core/err.h"
#include <stddef.h>

enum { COST_NAME_PARTS = 32 };

struct cost_name_part {
  const char *key;       /* as written: "rsa-2048.sign" */
  const char *algorithm; /* title of alg.h, or another subject of cost.h; NULL: every one that states the operation */
  const char *operation;
  const char *platform;
};

struct cost_name {
  char *text; /* what the rest points into */
  const char *base;
  int part_count;
  struct cost_name_part parts[COST_NAME_PARTS];
};

int cost_name_read(const char *text, struct cost_name *out, struct err *e) MUST_CHECK;
void cost_name_free(struct cost_name *name);

/* Check functions for param.h: of a whole text, and of the PART in it. */
int cost_name_check(const char *text, char *canonical, size_t size, struct err *e) MUST_CHECK;
int cost_name_check_part(const char *text, char *canonical, size_t size, struct err *e) MUST_CHECK;

#endif
