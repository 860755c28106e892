/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/core/random.h"
#include "sim/core/units.h"
#include <assert.h>

typedef unsigned __int128 u128;

enum {
  ROUNDS = 10,
  FRAGMENT_BITS = 12,
  ATTEMPT_BITS = 12,
};

/* Multipliers and Weyl constants of Philox4x32: Salmon et al. 2011; also those of the C++ standard's philox4x32. */
#define MULTIPLIER_0 UINT64_C(0xD2511F53)
#define MULTIPLIER_1 UINT64_C(0xCD9E8D57)
#define WEYL_0 UINT32_C(0x9E3779B9)
#define WEYL_1 UINT32_C(0xBB67AE85)

void random_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
  uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
  uint32_t k0 = key[0], k1 = key[1];
  for (int round = 0; round < ROUNDS; round++) {
    uint64_t product0 = MULTIPLIER_0 * c0, product1 = MULTIPLIER_1 * c2;
    c0 = (uint32_t)(product1 >> 32) ^ c1 ^ k0;
    c1 = (uint32_t)product1;
    c2 = (uint32_t)(product0 >> 32) ^ c3 ^ k1;
    c3 = (uint32_t)product0;
    k0 += WEYL_0;
    k1 += WEYL_1;
  }
  out[0] = c0;
  out[1] = c1;
  out[2] = c2;
  out[3] = c3;
}

uint64_t random_draw(const struct draw_key *key) {
  assert(key->fragment < 1 << FRAGMENT_BITS && key->attempt < 1 << ATTEMPT_BITS);
  assert(key->purpose > 0 && key->purpose < 256);
  uint32_t what = (uint32_t)key->purpose << (ATTEMPT_BITS + FRAGMENT_BITS) | (uint32_t)key->attempt << FRAGMENT_BITS | key->fragment;
  const uint32_t counter[4] = {key->message, key->entity, what, key->replication};
  const uint32_t seed[2] = {(uint32_t)key->seed, (uint32_t)(key->seed >> 32)};
  uint32_t out[4];
  random_philox4x32(counter, seed, out);
  return (uint64_t)out[1] << 32 | out[0];
}

int random_below(const struct draw_key *key, int64_t share_ppb) { return (int64_t)((u128)random_draw(key) * (u128)SHARE_ONE >> 64) < share_ppb; }

int64_t random_under(const struct draw_key *key, int64_t bound) {
  assert(bound > 0);
  return (int64_t)((u128)random_draw(key) * (u128)bound >> 64);
}
