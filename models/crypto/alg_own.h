/* SPDX-License-Identifier: GPL-2.0-or-later */
/* alg_own: algorithms that a scenario defines beside the table of alg.h.
 *
 * Purpose:    one set per process. What is in it is found by alg_find and alg_nearest, and platform files may have rows of
 *             it; alg_table, the table of shipped algorithms, is without it.
 * Names:      no spelling of one algorithm is a spelling of another, shipped or not; marks and case do not count.
 * Order:      a scenario's loader, and a worker process for each request, forget the set and define theirs before any
 *             parameter is read that may name them.
 * Ownership:  definitions last as long as the process, so that a pointer to one outlives alg_forget_own; the same definition
 *             again is the same pointer.
 * Errors:     ERR_INPUT: what is wrong with the name, or whose it is already; ERR_SYSTEM for a line that is damaged.
 */
#ifndef PQNETSIM_ALG_OWN_H
#define PQNETSIM_ALG_OWN_H

#include "models/crypto/alg.h"
#include <stddef.h>

/* NAME_MAX also of titles. LINE_MAX: of a definition in one line, its end counted. */
enum { ALG_OWN_NAME_MAX = 32, ALG_OWN_LINE_MAX = 256, ALG_OWN_MAX = 64 };

/* A name of small letters, digits, - and _ that begins with a letter and can be told from everything else that is
 * written where an algorithm is. */
int alg_own_check_name(const char *name, struct err *e) MUST_CHECK;

/* Copies what it is given; kind KEX, KEM or SIGNATURE, aliases are ignored. */
int alg_define(const struct alg *alg, struct err *e) MUST_CHECK;
void alg_forget_own(void);

int alg_own_count(void);
const struct alg *alg_own_at(int index);
bool alg_is_own(const struct alg *alg);
/* By name or title in the spelling of a platform file (case aside); NULL when there is none. */
const struct alg *alg_own_titled(const char *text);

/* A definition as one line without line break, and back: the worker protocol's and the run key's form. */
void alg_own_write(const struct alg *alg, char line[ALG_OWN_LINE_MAX]);
int alg_own_read(const char *line, struct err *e) MUST_CHECK;

#endif
