/* SPDX-License-Identifier: GPL-3.0-or-later */
// objects: calib/clock.o
#include "calib/clock.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* 2 ticks a ns, 10 ns for an empty pair: 140 ticks are 70 ns, 60 of them the work's. */
static void overhead_is_subtracted(void **state) {
  (void)state;
  const struct clock clock = {.counter = true, .ns_per_tick = 0.5, .overhead_ns = 10};
  assert_true(clock_elapsed_ns(&clock, 1000, 1140) == 60);
  assert_true(clock_elapsed_ns(&clock, 1000, 1020) == 0);
  assert_true(clock_elapsed_ns(&clock, 1000, 1001) == 0);
  assert_true(clock_elapsed_ns(&clock, UINT64_MAX - 1, UINT64_MAX) == 0);
}

static void running_backwards_is_negative(void **state) {
  (void)state;
  const struct clock clock = {.counter = true, .ns_per_tick = 0.5, .overhead_ns = 10};
  assert_true(clock_elapsed_ns(&clock, 1140, 1000) == -70);
}

/* Allowed are 20 us and 0.1 %: over a second 1.02 ms. */
static void deviation_has_a_bound(void **state) {
  (void)state;
  static const struct {
    double own, witness;
    bool deviates;
  } cases[] = {{1e9, 1e9, false}, {1e9 + 1.0e6, 1e9, false}, {1e9 - 1.0e6, 1e9, false}, {1e9 + 1.1e6, 1e9, true}, {1e9 - 1.1e6, 1e9, true}, {19e3, 0, false},
      {21e3, 0, true}, {-1, 0, true}, {0, -1, true}, {0, 0, false}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct clock_look from = {5e12, 7e12}, to = {5e12 + cases[i].own, 7e12 + cases[i].witness};
    assert_int_equal(clock_deviates(&from, &to), cases[i].deviates);
  }
}

static void both_clocks_go_forward(void **state) {
  (void)state;
  struct clock clocks[2];
  clock_open(&clocks[0]);
  clock_open_plain(&clocks[1]);
  assert_false(clocks[1].counter);
  assert_true(clocks[1].ns_per_tick == 1);
  for (int c = 0; c < 2; c++) {
    char text[64];
    assert_true(clocks[c].ns_per_tick > 0);
    assert_true(clocks[c].overhead_ns >= 0);
    uint64_t before = clock_before(&clocks[c]), after = clock_after(&clocks[c]);
    assert_true(after >= before);
    struct clock_look from = clock_look(&clocks[c]), to = clock_look(&clocks[c]);
    assert_true(to.own_ns >= from.own_ns && to.witness_ns >= from.witness_ns && from.witness_ns > 0);
    clock_describe(&clocks[c], text);
    assert_non_null(strstr(text, clocks[c].counter ? "TSC at " : "CLOCK_MONOTONIC_RAW"));
  }
}

/* Where binding is forbidden, the reason is told; a core that is not there is refused. */
static void binding_to_a_core(void **state) {
  (void)state;
  bool refused;
  char text[CLOCK_TEXT] = "";
  assert_int_equal(clock_pin(1 << 20, &refused, text), -1);
  assert_true(refused);
  assert_non_null(strstr(text, "found 1048576, allowed the cores"));
  text[0] = '\0';
  int core = clock_pin(-1, &refused, text);
  assert_false(refused);
  assert_true(core >= 0 || text[0]);
  if (core >= 0) assert_int_equal(clock_pin(core, &refused, text), core);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(overhead_is_subtracted),
      cmocka_unit_test(running_backwards_is_negative),
      cmocka_unit_test(deviation_has_a_bound),
      cmocka_unit_test(both_clocks_go_forward),
      cmocka_unit_test(binding_to_a_core),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
