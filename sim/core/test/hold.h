/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hold: the hold model that event queues are compared with: N pending events, and each step fires the earliest and
 * arms one at now + delay. C and C++, so that every queue gets the same delays.
 *
 * Units:   delays in ns, mean 1.5e6.
 * Sources: hold model: Jones, "An empirical comparison of priority-queue and event-set implementations", CACM 29(4),
 *          1986. Generator: the 64-bit linear congruential one of Knuth's MMIX.
 */
#ifndef PQNETSIM_HOLD_H
#define PQNETSIM_HOLD_H

#include <stdint.h>

#define HOLD_SEED UINT64_C(20240813) /* FIPS 203's date; any number would do */

/* Exponential in shape, without a logarithm: -log2 of a uniform, linear between powers of two, in milliseconds. */
static inline int64_t hold_delay(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  uint64_t high = *state >> 32; /* the low bits of such a generator are poor */
  int64_t halvings = __builtin_ctzll(high | UINT64_C(1) << 32);
  int64_t within = (int64_t)(high * 1000000 >> 32);
  return halvings * 1000000 + within + 1;
}

#endif
