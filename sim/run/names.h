/* SPDX-License-Identifier: GPL-3.0-or-later */
/* names: lists of known names, for messages about an unknown one.
 *
 * Purpose: the nearest known name to a misspelt one, the list of what is allowed, and foreign text made fit for a
 *          sentence.
 * Errors:  none.
 */
#ifndef PQNETSIM_NAMES_H
#define PQNETSIM_NAMES_H

#include "sim/run/arena.h"

/* By edits (insert, delete, replace, swap of neighbours; case ignored), at most one edit per three letters; the first of
 * equals. NULL when nothing is near. */
const char *names_nearest(const char *word, const char *const *names, int count);

/* "a, b, c" */
const char *names_join(struct arena *arena, const char *const *names, int count);

/* The text as a message may show it: at most about 60 bytes, cut between characters, control characters as '?'. */
const char *names_shown(struct arena *arena, const char *text);

#endif
