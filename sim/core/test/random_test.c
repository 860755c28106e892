/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: sim/core/random.o
#include "sim/core/random.h"
#include "sim/core/units.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

/* philox4x32 10 of the kat_vectors file in the Random123 distribution. */
static void known_answers(void **state) {
  (void)state;
  static const struct {
    uint32_t counter[4], key[2], out[4];
  } vectors[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}, {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
    uint32_t out[4];
    random_philox4x32(vectors[i].counter, vectors[i].key, out);
    assert_memory_equal(out, vectors[i].out, sizeof out);
  }
}

/* The third vector through the key layout: replication 0x03707344, purpose 0x13, attempt 0x198, fragment 0xa2e. */
static void key_layout(void **state) {
  (void)state;
  struct draw_key key = {.seed = UINT64_C(0x299f31d0a4093822),
      .replication = 0x03707344,
      .entity = 0x85a308d3,
      .message = 0x243f6a88,
      .purpose = (enum draw_purpose)0x13,
      .fragment = 0xa2e,
      .attempt = 0x198};
  assert_true(random_draw(&key) == UINT64_C(0x94fdccebd16cfe09));
}

static void every_field_counts(void **state) {
  (void)state;
  const struct draw_key base = {.seed = 1, .replication = 2, .entity = 3, .message = 4, .purpose = DRAW_LOSS, .fragment = 5, .attempt = 6};
  struct draw_key keys[8] = {base, base, base, base, base, base, base, base};
  keys[1].seed++;
  keys[2].replication++;
  keys[3].entity++;
  keys[4].message++;
  keys[5].purpose = DRAW_JITTER;
  keys[6].fragment++;
  keys[7].attempt++;
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < i; j++) assert_true(random_draw(&keys[i]) != random_draw(&keys[j]));
  assert_true(random_draw(&base) == random_draw(&keys[0])); /* and nothing else */
}

/* The draw 0x94fdccebd16cfe09 of key_layout over 2^64 is 0.58199769...: floor(draw * 1e9 / 2^64) = 581997687. */
static void below_is_exact(void **state) {
  (void)state;
  struct draw_key key = {.seed = UINT64_C(0x299f31d0a4093822),
      .replication = 0x03707344,
      .entity = 0x85a308d3,
      .message = 0x243f6a88,
      .purpose = (enum draw_purpose)0x13,
      .fragment = 0xa2e,
      .attempt = 0x198};
  int64_t level = 0;
  for (int64_t step = INT64_C(1) << 30; step > 0; step >>= 1)
    if (!random_below(&key, level + step)) level += step;
  assert_int_equal(level, 581997687);
  assert_false(random_below(&key, 0));
  assert_true(random_below(&key, SHARE_ONE));
  assert_int_equal(random_under(&key, 1000), 581);
  assert_int_equal(random_under(&key, 1), 0);
}

/* 40000 draws at 5 %: mean 2000, sd sqrt(40000*0.05*0.95) = 43.6; four of them are 174. Sixteen bins of 2500:
 * chi-squared with 15 degrees of freedom is below 37.7 in 999 of 1000 cases. The keys are fixed, so this cannot flicker. */
static void draws_are_uniform(void **state) {
  (void)state;
  int lost = 0, bins[16] = {0};
  for (uint32_t i = 0; i < 40000; i++) {
    struct draw_key key = {.seed = 7, .entity = 1, .message = i, .purpose = DRAW_LOSS};
    lost += random_below(&key, SHARE_ONE / 20);
    bins[random_under(&key, 16)]++;
  }
  assert_in_range(lost, 2000 - 174, 2000 + 174);
  double chi = 0;
  for (int i = 0; i < 16; i++) chi += (bins[i] - 2500.0) * (bins[i] - 2500.0) / 2500.0;
  assert_true(chi < 37.7);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(known_answers),
      cmocka_unit_test(key_layout),
      cmocka_unit_test(every_field_counts),
      cmocka_unit_test(below_is_exact),
      cmocka_unit_test(draws_are_uniform),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
