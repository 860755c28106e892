/* SPDX-License-Identifier: GPL-3.0-or-later */
/* skip: which values of which axes a skip entry speaks of.
 *
 * Purpose: `skip: [{ipsec.kex: none, path.loss: 1%}]` leaves out the points where all of an entry's keys have the
 *          entry's values. A key is swept by one axis, or is the name of a named axis.
 * Errors:  none; skip_read (load.h) has checked the entries.
 */
#ifndef PQNETSIM_SKIP_H
#define PQNETSIM_SKIP_H

#include "sim/run/scenario.h"

/* The axis that a key belongs to, -1 when it is not swept. */
int skip_axis(const struct scenario *scenario, const char *key);

/* True when value `value` of axis `axis` gives the key this canonical text. A named value that leaves a key alone
 * gives it the base's. */
bool skip_matches(const struct scenario *scenario, int axis, int value, const char *key, const char *text);

#endif
