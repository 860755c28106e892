/* SPDX-License-Identifier: GPL-3.0-or-later */
/* utf8: is a text what we can read?
 *
 * Purpose: finds the first byte that is not UTF-8 or is a character no scenario has (NUL, controls, line separators,
 *          a byte-order mark in the middle), and says so in words a user can act on.
 * Units:   byte offsets from 0, lines and columns from 1.
 * Errors:  ERR_INPUT in the problem list.
 * Sources: RFC 3629 (well-formed sequences).
 */
#ifndef PQNETSIM_UTF8_H
#define PQNETSIM_UTF8_H

#include "sim/run/problem.h"

/* Adds at most one problem. Returns the number of bytes of a leading byte-order mark (0 or 3), or -1. */
int utf8_check(const char *text, size_t size, struct place origin, struct problem_list *problems);

#endif
