/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: models/domain/population.o sim/core/param.o sim/core/param_value.o sim/core/units.o sim/core/err.o sim/core/random.o
#include "models/domain/population.h"

#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define PERCENT (SHARE_ONE / 100)
#define S INT64_C(1000000000)

static void rest_goes_to_groups_without_a_share(void **state) {
  (void)state;
  struct err e = {0};
  int64_t shares[3];
  bool scaled;
  struct domain_group groups[] = {
      {.name = "macro", .share_ppb = -1}, {.name = "rural", .share_ppb = 15 * PERCENT}, {.name = "legacy", .share_ppb = 40 * PERCENT}};
  assert_int_equal(population_shares(groups, 3, shares, &scaled, &e), 0);
  assert_int_equal(shares[0], 45 * PERCENT);
  assert_false(scaled);
  groups[1].share_ppb = -1;
  assert_int_equal(population_shares(groups, 3, shares, &scaled, &e), 0);
  assert_int_equal(shares[0], 30 * PERCENT);
  assert_int_equal(shares[1], 30 * PERCENT);
}

/* A stage of a migration may set one group to 100 % while others keep theirs: 100 and 15 become 86.96 and 13.04 %. */
static void shares_above_the_whole_are_reduced_in_proportion(void **state) {
  (void)state;
  struct err e = {0};
  int64_t shares[3];
  bool scaled;
  const struct domain_group groups[] = {
      {.name = "macro", .share_ppb = -1}, {.name = "rural", .share_ppb = 15 * PERCENT}, {.name = "legacy", .share_ppb = 100 * PERCENT}};
  assert_int_equal(population_shares(groups, 3, shares, &scaled, &e), 0);
  assert_true(scaled);
  assert_int_equal(shares[0], 0);
  assert_int_equal(shares[1], 130434782);
  assert_int_equal(shares[0] + shares[1] + shares[2], SHARE_ONE);
}

static void nodes_without_a_group_are_refused(void **state) {
  (void)state;
  struct err e = {0};
  int64_t shares[2];
  bool scaled;
  const struct domain_group groups[] = {{.name = "a", .share_ppb = 15 * PERCENT}, {.name = "b", .share_ppb = 40 * PERCENT}};
  assert_int_equal(population_shares(groups, 2, shares, &scaled, &e), ERR_INPUT);
  assert_non_null(strstr(e.text, "55 %"));
  err_free(&e);
}

static void every_prefix_keeps_the_shares_within_one_node(void **state) {
  (void)state;
  enum { NODES = 2000, MOST = 5 };
  static const struct {
    int groups;
    int64_t shares[MOST];
  } cases[] = {
      {1, {SHARE_ONE}},
      {3, {150000000, 400000000, 450000000}},
      {3, {333333333, 333333333, 333333334}},
      {3, {0, 900000000, 100000000}},
      {5, {10000000, 20000000, 300000000, 300000000, 370000000}},
  };
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    unsigned char *groups = population_groups(NODES, cases[c].shares, cases[c].groups);
    int64_t have[MOST] = {0};
    for (int n = 0; n < NODES; n++) {
      have[groups[n]]++;
      for (int g = 0; g < cases[c].groups; g++) assert_true(llabs(cases[c].shares[g] * (n + 1) - have[g] * SHARE_ONE) < SHARE_ONE);
    }
    /* One node more changes nobody's group. */
    unsigned char *more = population_groups(NODES + 1, cases[c].shares, cases[c].groups);
    assert_memory_equal(groups, more, NODES);
    free(groups);
    free(more);
  }
}

static void starts_follow_their_pattern(void **state) {
  (void)state;
  enum { NODES = 1000 };
  struct population_config config = {.nodes = NODES, .start = POPULATION_RAMP, .start_span = 10 * S};
  struct draw_key key = {.seed = 1};
  assert_int_equal(population_start(&config, 0, &key), 0);
  assert_int_equal(population_start(&config, 500, &key), 5 * S);
  config.start = POPULATION_AT_ONCE;
  assert_int_equal(population_start(&config, 500, &key), 0);
  config.start = POPULATION_POISSON;
  int early = 0;
  for (int n = 0; n < NODES; n++) {
    key.entity = (uint32_t)n + 1;
    simtime start = population_start(&config, n, &key);
    assert_in_range(start, 0, 10 * S);
    early += start < 2 * S;
  }
  /* A fifth of them, binomial: 200 with a standard deviation of 12.6. */
  assert_in_range(early, 200 - 50, 200 + 50);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rest_goes_to_groups_without_a_share),
      cmocka_unit_test(shares_above_the_whole_are_reduced_in_proportion),
      cmocka_unit_test(nodes_without_a_group_are_refused),
      cmocka_unit_test(every_prefix_keeps_the_shares_within_one_node),
      cmocka_unit_test(starts_follow_their_pattern),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
