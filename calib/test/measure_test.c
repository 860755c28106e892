/* SPDX-License-Identifier: GPL-3.0-or-later */
// objects: calib/measure.o calib/clock.o calib/fit.o calib/operations.o calib/operations_data.o calib/operations_keys.o sim/core/random.o
// libs: $(CRYPTO_LIBS) $(GSL_LIBS)
#include "calib/measure.h"
#include "sim/core/random.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { N = 400 };

static double ns[N];
static char text[MEASURE_TEXT];

static double uniform(void) {
  static struct draw_key key = {.seed = 7, .purpose = DRAW_COST_INITIATOR};
  key.message++;
  return ((double)(random_draw(&key) >> 11) + 0.5) * 0x1p-53;
}

/* 20 us and up to 1 % more. */
static void fill_steady(void) {
  for (int i = 0; i < N; i++) ns[i] = 20000 + 200 * uniform();
}

static unsigned judge(int n, bool random) {
  const struct measure_evidence evidence = {.ns = ns, .n = n, .random = random};
  return measure_judge(&evidence, text);
}

static void a_steady_sample_is_good(void **state) {
  (void)state;
  char verdict[64];
  fill_steady();
  assert_int_equal(judge(N, false), 0);
  assert_string_equal(text, "");
  assert_int_equal(judge(30, false), 0);
  measure_verdict(0, verdict);
  assert_string_equal(verdict, "ok");
}

static void few_samples_are_told(void **state) {
  (void)state;
  char verdict[64];
  fill_steady();
  assert_int_equal(judge(29, false), MEASURE_FEW);
  assert_non_null(strstr(text, "29 samples are too few, 30 are needed"));
  assert_int_equal(judge(1, true), MEASURE_FEW);
  assert_int_equal(judge(0, false), MEASURE_FEW);
  measure_verdict(MEASURE_FEW | MEASURE_PREEMPTED, verdict);
  assert_string_equal(verdict, "too few, preempted");
}

static void a_jumping_clock_is_told(void **state) {
  (void)state;
  fill_steady();
  ns[123] = -3e6;
  assert_int_equal(judge(N, false), MEASURE_CLOCK);
  assert_non_null(strstr(text, "ran backwards in 1 samples"));
  fill_steady();
  const struct measure_evidence evidence = {.ns = ns, .n = N, .clock_deviated = true};
  assert_int_equal(measure_judge(&evidence, text), MEASURE_CLOCK);
  assert_non_null(strstr(text, "against a second one"));
}

/* A processor that falls from 3.0 to 2.4 GHz takes 25 % longer; to 2.6 GHz, 15 %. In either direction. */
static void throttling_is_told(void **state) {
  (void)state;
  for (int slower = 0; slower < 2; slower++) {
    fill_steady();
    for (int i = 0; i < N; i++)
      if ((i >= N / 2) == slower) ns[i] *= 3.0 / 2.4;
    assert_int_equal(judge(N, false), MEASURE_THROTTLED);
    assert_non_null(strstr(text, slower ? "+25 %" : "-20 %"));
  }
  fill_steady();
  for (int i = N / 2; i < N; i++) ns[i] *= 3.0 / 2.6;
  assert_int_equal(judge(N, false), 0);
}

/* Exponential samples: of 40 in a quarter the medians differ by chance by more than 20 % in some draws, and that is no throttling; a processor
 * at a third of its speed is. Standard error of a median of 100 such samples: 10 % of the mean. */
static void chance_is_not_throttling(void **state) {
  (void)state;
  int apart = 0;
  for (int set = 0; set < 20; set++) {
    for (int i = 0; i < N; i++) ns[i] = 1e7 - 3e7 * log(uniform());
    assert_int_equal(judge(160, true), 0);
    apart += judge(160, false) & MEASURE_THROTTLED ? 1 : 0;
  }
  assert_true(apart > 0);
  for (int i = N / 2; i < N; i++) ns[i] *= 3;
  assert_int_equal(judge(N, true), MEASURE_THROTTLED);
}

/* 24 of 400 samples, 6 %, took twice as long; 16, 4 %, are below the limit and above p95. */
static void preemption_is_told(void **state) {
  (void)state;
  fill_steady();
  for (int i = 0; i < 24; i++) ns[i * 16] *= 2;
  assert_int_equal(judge(N, false), MEASURE_PREEMPTED);
  assert_non_null(strstr(text, "6 % of the samples took more than 1.5 medians"));
  assert_int_equal(judge(N, true), 0); /* its own tail */
  fill_steady();
  for (int i = 0; i < 16; i++) ns[i * 24] *= 2;
  assert_int_equal(judge(N, false), 0);
}

/* Switches count when they are many and cost much: 100 in 400 samples and 30 % of the time. */
static void context_switches_are_told(void **state) {
  (void)state;
  static const struct {
    int64_t interruptions;
    double lost;
    unsigned faults;
  } cases[] = {{100, 0.3, MEASURE_PREEMPTED}, {100, 0.01, 0}, {10, 0.3, 0}, {0, 0, 0}};
  fill_steady();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct measure_evidence evidence = {.ns = ns, .n = N, .random = true, .interruptions = cases[i].interruptions, .lost = cases[i].lost};
    assert_int_equal(measure_judge(&evidence, text), cases[i].faults);
  }
}

/* Nearest rank of 1..20: rank ceil(20 p). */
static void ranks(void **state) {
  (void)state;
  static const double p[] = {0, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1}, want[] = {1, 1, 5, 10, 15, 19, 20, 20};
  double samples[20];
  struct measure_summary s;
  for (int i = 0; i < 20; i++) samples[i] = i + 1;
  for (size_t i = 0; i < sizeof p / sizeof p[0]; i++) assert_true(measure_rank(samples, 20, p[i]) == want[i]);
  measure_summarise(samples, 20, &s);
  assert_true(s.min == 1 && s.p5 == 1 && s.p25 == 5 && s.p50 == 10 && s.p75 == 15 && s.p95 == 19 && s.p99 == 20 && s.max == 20);
  assert_true(fabs(s.mean - 10.5) < 1e-12);
  assert_true(fabs(s.sd - sqrt(399.0 / 12)) < 1e-12); /* (n^2 - 1) / 12 */
  measure_summarise(samples, 1, &s);
  assert_true(s.min == 1 && s.p50 == 1 && s.p99 == 1 && s.max == 1 && s.sd == 0);
}

/* Of 1..100 ns: p95 at p 1 again. Mean of the straight lines: 0.05 (1 + 5) / 2 + 0.2 (5 + 25) / 2 + 0.25 (25 + 50) / 2 + 0.25 (50 + 75) / 2 + 0.2 (75 +
 * 95) / 2 + 0.05 x 95 = 0.15 + 3 + 9.375 + 15.625 + 17 + 4.75. */
static void a_row_of_constant_work_ends_at_p95(void **state) {
  (void)state;
  static const double p[] = {0, 0.05, 0.25, 0.5, 0.75, 0.95, 1};
  static const int64_t want[] = {1, 5, 25, 50, 75, 95, 95};
  double samples[100];
  struct measure_row row;
  for (int i = 0; i < 100; i++) samples[i] = i + 1;
  measure_make_row(samples, 100, false, &row);
  assert_int_equal(row.count, 7);
  for (int i = 0; i < 7; i++) {
    assert_true(row.p[i] == p[i]);
    assert_int_equal(row.ns[i], want[i]);
  }
  assert_true(fabs(measure_row_mean(&row) - 49.9) < 1e-9);
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* An exponential tail of mean 1 cut at p99 loses 0.01 of it; the row may keep 1.5 % of the mean away from that. Its one preemption, at a hundred
 * means, is left out. */
static void a_row_of_random_work_keeps_its_tail_to_p99(void **state) {
  (void)state;
  enum { MANY = 10000 };
  static double samples[MANY];
  struct measure_row row;
  double mean = 0;
  for (int i = 0; i < MANY; i++) mean += samples[i] = 1e5 - 1e5 * log(((double)i + 0.5) / MANY);
  mean /= MANY;
  samples[0] = 1e7;
  qsort(samples, MANY, sizeof *samples, ascending);
  measure_make_row(samples, MANY, true, &row);
  assert_true(row.p[0] == 0 && row.p[row.count - 1] == 1);
  for (int i = 1; i < row.count; i++) assert_true(row.p[i] > row.p[i - 1] && row.ns[i] >= row.ns[i - 1]);
  assert_int_equal(row.ns[row.count - 1], llround(measure_rank(samples, MANY, 0.99)));
  assert_true(fabs(measure_row_mean(&row) / mean - 1) < 0.015);
}

/* SHA-256 of 64 bytes: batches, as many samples as asked for, in four passes. */
static void passes_take_their_quarter(void **state) {
  (void)state;
  int count;
  const struct operation *table = operation_table(&count), *hash = NULL;
  struct clock clock;
  struct measure measure;
  for (int i = 0; i < count; i++)
    if (!strcmp(table[i].algorithm, "SHA-256") && table[i].size_bytes == 64) hash = &table[i];
  assert_non_null(hash);
  clock_open(&clock);
  measure_open(&measure, hash, 42, 1);
  assert_int_equal(measure.state, OPERATION_READY);
  for (int pass = 0; pass < MEASURE_PASSES; pass++) {
    measure_pass(&measure, &clock, pass);
    assert_int_equal(measure.n, 42 * (pass + 1) / 4);
  }
  assert_true(measure.batch >= 1 && measure.batch <= OPERATION_BATCH && !(measure.batch & (measure.batch - 1)));
  assert_true(measure.wall_ns > 0 && measure.cpu_ns > 0);
  measure_close(&measure);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_steady_sample_is_good),
      cmocka_unit_test(few_samples_are_told),
      cmocka_unit_test(a_jumping_clock_is_told),
      cmocka_unit_test(throttling_is_told),
      cmocka_unit_test(chance_is_not_throttling),
      cmocka_unit_test(preemption_is_told),
      cmocka_unit_test(context_switches_are_told),
      cmocka_unit_test(ranks),
      cmocka_unit_test(a_row_of_constant_work_ends_at_p95),
      cmocka_unit_test(a_row_of_random_work_keeps_its_tail_to_p99),
      cmocka_unit_test(passes_take_their_quarter),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
