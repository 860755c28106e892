/* SPDX-License-Identifier: GPL-3.0-or-later */
/* range: the values of {from:, to:, steps:, scale:}.
 *
 * Purpose:    the same integers on every machine. Linear: exact fractions, rounded half up to a multiple of `quantum`.
 *             Logarithmic: equal factors, rounded to 3 significant digits, or to more where 3 would give a value twice;
 *             computed with IEEE additions, products and quotients alone, so no libm has a say.
 * Units:      base units of the parameter.
 * Invariants: the first value is `from` and the last is `to`, as given; values grow strictly.
 */
#ifndef PQNETSIM_RANGE_H
#define PQNETSIM_RANGE_H

#include <stdbool.h>
#include <stdint.h>

enum range_scale { RANGE_LINEAR, RANGE_LOG };

/* steps >= 2, from < to, from > 0 for RANGE_LOG, quantum >= 1. False when the base unit is too coarse for so many. */
bool range_fill(enum range_scale scale, int64_t from, int64_t to, int steps, int64_t quantum, int64_t *values);

#endif
