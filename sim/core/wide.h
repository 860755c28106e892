/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wide: unsigned integers of 256 bits, for sums of squares that must be exact.
 *
 * Purpose:    the square of a time over a run's horizon has 120 bits, the sum of many such has more than 128.
 * Invariants: no operation wraps: overflow asserts.
 */
#ifndef PQNETSIM_WIDE_H
#define PQNETSIM_WIDE_H

#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

enum { WIDE_LIMBS = 4 };
struct wide {
  uint64_t limb[WIDE_LIMBS]; /* least significant first */
};

static inline unsigned __int128 wide_magnitude(__int128 x) { return x < 0 ? 0 - (unsigned __int128)x : (unsigned __int128)x; }

static inline void wide_add(struct wide *a, const struct wide *b) {
  unsigned __int128 carry = 0;
  for (int i = 0; i < WIDE_LIMBS; i++) {
    carry += (unsigned __int128)a->limb[i] + b->limb[i];
    a->limb[i] = (uint64_t)carry;
    carry >>= 64;
  }
  assert(carry == 0);
}

static inline int wide_compare(const struct wide *a, const struct wide *b) {
  for (int i = WIDE_LIMBS - 1; i >= 0; i--)
    if (a->limb[i] != b->limb[i]) return a->limb[i] < b->limb[i] ? -1 : 1;
  return 0;
}

/* a - b for a >= b. */
static inline struct wide wide_subtract(const struct wide *a, const struct wide *b) {
  struct wide result;
  uint64_t borrow = 0;
  for (int i = 0; i < WIDE_LIMBS; i++) {
    unsigned __int128 take = (unsigned __int128)b->limb[i] + borrow;
    borrow = a->limb[i] < take;
    result.limb[i] = a->limb[i] - (uint64_t)take;
  }
  assert(borrow == 0);
  return result;
}

static inline struct wide wide_times(const struct wide *a, uint64_t b) {
  struct wide result;
  unsigned __int128 carry = 0;
  for (int i = 0; i < WIDE_LIMBS; i++) {
    carry += (unsigned __int128)a->limb[i] * b;
    result.limb[i] = (uint64_t)carry;
    carry >>= 64;
  }
  assert(carry == 0);
  return result;
}

static inline struct wide wide_from(unsigned __int128 x) { return (struct wide){{(uint64_t)x, (uint64_t)(x >> 64)}}; }

static inline struct wide wide_square(unsigned __int128 x) {
  struct wide wide = wide_from(x), low = wide_times(&wide, (uint64_t)x), high = wide_times(&wide, (uint64_t)(x >> 64));
  struct wide shifted = {{0, high.limb[0], high.limb[1], high.limb[2]}};
  wide_add(&low, &shifted);
  return low;
}

static inline double wide_double(const struct wide *a) {
  int top = WIDE_LIMBS - 1;
  while (top > 1 && a->limb[top] == 0) top--;
  double value = (double)((unsigned __int128)a->limb[top] << 64 | a->limb[top - 1]); /* what lies below changes no digit that is printed */
  for (; top > 1; top--) value *= 18446744073709551616.0;                            /* 2^64, exactly */
  return value;
}

static inline void wide_decimal(struct wide a, bool negative, char *text, size_t size) {
  const uint64_t chunk = UINT64_C(1000000000000000000);
  uint64_t groups[WIDE_LIMBS * 64 / 59 + 1]; /* a group of 18 digits is more than 59 bits */
  int count = 0;
  do {
    unsigned __int128 rest = 0;
    for (int i = WIDE_LIMBS - 1; i >= 0; i--) {
      rest = rest << 64 | a.limb[i];
      a.limb[i] = (uint64_t)(rest / chunk);
      rest %= chunk;
    }
    groups[count++] = (uint64_t)rest;
  } while (a.limb[0] | a.limb[1] | a.limb[2] | a.limb[3]);
  int length = snprintf(text, size, "%s%" PRIu64, negative ? "-" : "", groups[--count]);
  while (count > 0) length += snprintf(text + length, size - (size_t)length, "%018" PRIu64, groups[--count]);
  assert((size_t)length < size);
}

#endif
