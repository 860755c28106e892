/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ranges against values worked out by hand. */
// objects: sim/run/range.o
#include "sim/run/range.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

static void expect(enum range_scale scale, int64_t from, int64_t to, int steps, int64_t quantum, const int64_t *expected) {
  int64_t values[32];
  assert_true(range_fill(scale, from, to, steps, quantum, values));
  for (int i = 0; i < steps; i++)
    if (values[i] != expected[i]) fail_msg("value %d: %lld, expected %lld", i, (long long)values[i], (long long)expected[i]);
}

static void linear_is_exact(void **state) {
  (void)state;
  /* 0 10/3 20/3 10 -> 3 and 7; -5 -2.5 0: the half goes up */
  expect(RANGE_LINEAR, 0, 10, 4, 1, (int64_t[]){0, 3, 7, 10});
  expect(RANGE_LINEAR, -5, 0, 3, 1, (int64_t[]){-5, -2, 0});
  expect(RANGE_LINEAR, -10, -3, 3, 1, (int64_t[]){-10, -6, -3});
  /* 5 is between 4 and 6 in steps of 2: half up */
  expect(RANGE_LINEAR, 0, 10, 3, 2, (int64_t[]){0, 6, 10});
  /* the whole of int64: the middle of 0 and 2^63-1 is 2^62-0.5 */
  expect(RANGE_LINEAR, 0, INT64_MAX, 3, 1, (int64_t[]){0, INT64_C(1) << 62, INT64_MAX});
}

static void logarithmic_has_equal_factors_in_three_digits(void **state) {
  (void)state;
  /* 1 sqrt(10) 10 in millions: 3.16227766 -> 3.16 */
  expect(RANGE_LOG, 1000000, 10000000, 3, 1, (int64_t[]){1000000, 3160000, 10000000});
  expect(RANGE_LOG, 1, 1000000, 7, 1, (int64_t[]){1, 10, 100, 1000, 10000, 100000, 1000000});
  /* 100us to 50ms in 12 steps, factor 500^(1/11) = 1.75934: the design's own example, from a table of 500^(i/11) */
  expect(RANGE_LOG, 100000, 50000000, 12, 1,
      (int64_t[]){100000, 176000, 310000, 545000, 958000, 1690000, 2970000, 5220000, 9180000, 16200000, 28400000, 50000000});
  /* sqrt(201 * 5025) = 1005 exactly: half up at three digits */
  expect(RANGE_LOG, 201, 5025, 3, 1, (int64_t[]){201, 1010, 5025});
  /* factor 1.001: three digits would give 1000 1000 1000, four give 1000 1001 1002 */
  expect(RANGE_LOG, 1000, 1002, 3, 1, (int64_t[]){1000, 1001, 1002});
}

static void too_many_steps_are_refused(void **state) {
  (void)state;
  int64_t values[5];
  assert_false(range_fill(RANGE_LINEAR, 1, 4, 5, 1, values));
  assert_false(range_fill(RANGE_LOG, 1, 4, 5, 1, values));
  assert_true(range_fill(RANGE_LINEAR, 1, 5, 5, 1, values));
  assert_false(range_fill(RANGE_LINEAR, 2, 8, 5, 2, values)); /* 2 4 6 8 are four */
}

static void a_long_range_grows_to_its_end(void **state) {
  (void)state;
  enum { STEPS = 100000 };
  int64_t *values = malloc(STEPS * sizeof *values);
  assert_non_null(values);
  assert_true(range_fill(RANGE_LOG, 1000000, INT64_C(3600000000000), STEPS, 1, values));
  for (int i = 1; i < STEPS; i++) assert_true(values[i] > values[i - 1]);
  free(values);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(linear_is_exact),
      cmocka_unit_test(logarithmic_has_equal_factors_in_three_digits),
      cmocka_unit_test(too_many_steps_are_refused),
      cmocka_unit_test(a_long_range_grows_to_its_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
