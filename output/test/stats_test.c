/* SPDX-License-Identifier: GPL-3.0-or-later */
// objects: output/stats.o sim/core/err.o sim/core/units.o sim/core/metric.o
// libs: -lgsl -lgslcblas -lm
#include "output/stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* t(0.975, n - 1) from printed tables of Student's distribution, four to six digits. */
static void student(void **state) {
  (void)state;
  static const struct {
    int64_t n;
    double t;
  } table[] = {{2, 12.7062}, {3, 4.30265}, {4, 3.18245}, {5, 2.77645}, {10, 2.26216}, {30, 2.04523}, {200, 1.97196}};
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
    assert_float_equal(stats_ci95(sqrt((double)table[i].n), table[i].n), table[i].t, 6e-5 * table[i].t / 12);
  assert_true(isnan(stats_ci95(1, 1)));
  assert_true(isnan(stats_ci95(1, 0)));
  assert_float_equal(stats_ci95(0, 5), 0, 0);
}

/* Ranks of the distribution-free 95 % interval of the median, from printed tables: n = 6: 1 to 6, 10: 2 to 9, 20: 6 to 15, 30: 10 to 21.
 * With P(B <= l - 1) <= 0.025, B ~ binomial(n, 1/2): (1/2)^6 = 0.0156; 11/1024 = 0.0107; P(B <= 5) = 0.0207; P(B <= 9) = 0.0214. */
static void median_ranks(void **state) {
  (void)state;
  static const struct { int n, low, high; } table[] = {{6, 1, 6}, {10, 2, 9}, {20, 6, 15}, {30, 10, 21}};
  int low, high;
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    int n = table[i].n;
    assert_true(stats_quantile_interval(500, n, &low, &high));
    /* the nearest rank of the quantile returned is the rank of the table */
    assert_int_equal((n * low + 999) / 1000, table[i].low);
    assert_int_equal((n * high + 999) / 1000, table[i].high);
  }
  assert_false(stats_quantile_interval(500, 5, &low, &high)); /* 1/32 > 0.025 */
  assert_false(stats_quantile_interval(500, 1, &low, &high));
  assert_false(stats_quantile_interval(500, 0, &low, &high));
  assert_false(stats_quantile_interval(950, 71, &low, &high)); /* 0.95^71 = 0.0262 > 0.025 >= 0.95^72 */
  assert_true(stats_quantile_interval(950, 72, &low, &high));
  assert_int_equal(high, 1000);
}

static void nine_digits(void **state) {
  (void)state;
  static const struct {
    double from, to;
  } table[] = {
      {0, 0},
      {1, 1},
      {-2.5, -2.5},
      {12345.678901, 12345.6789},
      {123456789.4, 123456789},
      {1234567891, 1234567890},
      {0.1 + 0.2, 0.3},
      {1.0 / 3, 0.333333333},
      {-1e-6 / 7, -1.42857143e-7},
      {20.2010000000001, 20.201},
      {9.87654321987e15, 9.87654322e15},
  };
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) assert_true(stats_round(table[i].from) == table[i].to);
  assert_true(isnan(stats_round(NAN)));
  /* values of three magnitudes agree with printing nine digits and reading them */
  uint64_t x = 1;
  for (int i = 0; i < 300000; i++) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    double value = (double)(x >> 11) * (i % 3 == 0 ? 1e-18 : i % 3 == 1 ? 1e-12 : 1e-3);
    char text[40];
    snprintf(text, sizeof text, "%.9g", value);
    assert_float_equal(stats_round(value), strtod(text, NULL), 1.0000001e-8 * value);
  }
}

static void row(void **state) {
  (void)state;
  static const struct metric_def defs[] = {{"t", METRIC_TIME, "a", "b", NULL}, {"s", METRIC_SHARE, "a", NULL, NULL}};
  struct metric_set *set = metric_set_new(defs, 2);
  struct store_row row;
  double value;
  /* three replications of 1, 2 and 6 ms: mean 3, sd sqrt(7), one share of 1/4, one failure */
  static const int64_t times[] = {1000000, 2000000, 6000000};
  for (int r = 0; r < 3; r++) {
    int64_t parts[PART_COUNT] = {[PART_KEX] = times[r] / 4, [PART_LINK_QUEUE] = times[r] - times[r] / 4};
    metric_sample(set, 0, times[r], parts);
    if (r == 1) metric_sample(set, 1, 250000000, NULL);
    metric_end_replication(set);
  }
  metric_fail(set, 0);
  metric_end_replication(set);
  stats_row(set, 0, METRIC_TIME, &row);
  assert_int_equal(row.n, 3);
  assert_int_equal(row.failed, 1);
  assert_float_equal(row.mean, 3, 0);
  assert_float_equal(row.sd, 2.64575131, 0); /* sqrt(7) */
  assert_float_equal(row.cv, 0.881917103, 0);
  assert_float_equal(row.p50, 2, 0);
  assert_float_equal(row.iqr, 5, 0);                                  /* nearest rank: the quartiles are the first and the third */
  assert_float_equal(row.ci95, 4.30265 * 2.64575131 / sqrt(3), 1e-4); /* t(0.975, 2) */
  assert_float_equal(row.parts[PART_KEX] + row.parts[PART_LINK_QUEUE], 3, 1e-9);
  assert_true(stats_named(&row, "p75", &value) && value == 6);
  assert_true(stats_named(&row, "failed", &value) && value == 1);
  assert_true(stats_named(&row, "cv", &value) && value == row.cv);
  assert_false(stats_named(&row, "p98", &value));
  stats_row(set, 1, METRIC_SHARE, &row);
  assert_float_equal(row.mean, 0.25, 0);
  assert_true(isnan(row.ci95));
  assert_float_equal(row.sd, 0, 0);
  metric_set_free(set);
  set = metric_set_new(defs, 2);
  stats_row(set, 0, METRIC_TIME, &row);
  assert_true(row.n == 0 && isnan(row.mean) && isnan(row.sd) && isnan(row.cv) && isnan(row.iqr) && isnan(row.p50) && isnan(row.max));
  metric_set_free(set);
}

static void names(void **state) {
  (void)state;
  char list[] = STATS_NAMES;
  struct store_row row = {0};
  double value;
  int count = 0;
  for (char *name = strtok(list, " "); name; name = strtok(NULL, " "), count++) assert_true(stats_named(&row, name, &value));
  assert_int_equal(count, 15);
  assert_int_equal(stats_permille("p5"), 50);
  assert_int_equal(stats_permille("p99"), 990);
  assert_int_equal(stats_permille("mean"), -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(student), cmocka_unit_test(median_ranks), cmocka_unit_test(nine_digits), cmocka_unit_test(row), cmocka_unit_test(names)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
