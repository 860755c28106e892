/* SPDX-License-Identifier: GPL-3.0-or-later */
/* problem: what is wrong with a scenario, each problem with its place.
 *
 * Purpose:   the loader finds problems in its own order (whole tree, then keys, then axes); the user reads them in the
 *            order of the file, those of --set behind.
 * Order:     by place (file before --set, line, column), then as added. The first PROBLEM_LIST_MAX found are kept.
 * Ownership: problem_list_new/free. Texts are copied; place.set_key must outlive the list.
 * Errors:    out of memory aborts.
 */
#ifndef PQNETSIM_PROBLEM_H
#define PQNETSIM_PROBLEM_H

#include "sim/core/err.h"
#include <stdbool.h>

enum { PROBLEM_LIST_MAX = 100 };

/* Where something was written. */
struct place {
  int set;             /* 0: the file; k: the k-th --set */
  int line, column;    /* from 1; line 0: the file as a whole */
  const char *set_key; /* KEY of that --set */
};

struct problem_list;

struct problem_list *problem_list_new(const char *file);
void problem_list_free(struct problem_list *list);

/* "FILE:LINE:COLUMN: KEY: SENTENCE", "--set KEY: SENTENCE"; key NULL when the problem is not about a key. */
void problem_add(struct problem_list *list, struct place at, const char *key, const char *format, ...) __attribute__((format(printf, 4, 5)));
int problem_count(const struct problem_list *list);
/* True when further problems would not be listed: a reason not to look for words for them. */
bool problem_list_is_full(const struct problem_list *list);

/* Adds all problems to e as ERR_INPUT, in order. Returns 0 when there are none. */
int problem_report(struct problem_list *list, struct err *e) MUST_CHECK;

/* "line 7", or "--set path.mtu": how a sentence refers to another place. */
const char *problem_place(struct place at, char *buffer, size_t size);

#endif
