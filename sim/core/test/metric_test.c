/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: sim/core/metric.o sim/core/err.o
#include "sim/core/metric.h"
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

enum { SETUP, COUNT, GAIN, METRICS };
static const struct metric_def defs[METRICS] = {
    [SETUP] = {"setup", METRIC_TIME, "begin", "end", "a time"},
    [COUNT] = {"count", METRIC_COUNT, "things", NULL, "a count"},
    [GAIN] = {"gain", METRIC_SIGNED_TIME, "begin", "end", "a difference"},
};

static void near(double value, double want) {
  if (!(fabs(value - want) <= 1e-12 * fabs(want))) fail_msg("%.17g is not %.17g", value, want);
}

static void names_and_units(void **state) {
  (void)state;
  static const char *const names[PART_COUNT] = {
      "kex", "sign", "cert_verify", "symmetric", "cpu_queue", "serialisation", "link_queue", "propagation", "transport_stall", "radio_wait", "key_wait", "software", "application"};
  for (int part = 0; part < PART_COUNT; part++) assert_string_equal(metric_part_name((enum part)part), names[part]);
  assert_string_equal(metric_unit_name(METRIC_TIME), "ms");
  assert_string_equal(metric_unit_name(METRIC_BYTES), "B");
  assert_string_equal(metric_unit_name(METRIC_SHARE), "1");
  near(1500000 * metric_unit_scale(METRIC_SIGNED_TIME), 1.5);
  near(500000000 * metric_unit_scale(METRIC_SHARE), 0.5);
  near(metric_unit_scale(METRIC_COUNT), 1);
}

/* By hand: sum 55, sum of squares 385, variance (385 - 55^2/10)/9 = 82.5/9. Nearest rank: p5 ceil(0.5) = 1st,
 * p25 ceil(2.5) = 3rd, p50 5th, p75 ceil(7.5) = 8th, p95 and p99 10th. */
static void one_to_ten(void **state) {
  (void)state;
  struct metric_set *set = metric_set_new(defs, METRICS);
  for (int i = 10; i >= 1; i--) metric_sample(set, COUNT, i, NULL);
  metric_fail(set, COUNT);
  metric_end_replication(set);
  struct metric_summary s;
  metric_summarise(set, COUNT, &s);
  assert_int_equal(s.n, 10);
  assert_int_equal(s.failed, 1);
  assert_int_equal(s.replications, 1);
  near(s.mean, 5.5);
  near(s.sd, 3.0276503540974917);
  assert_true(isnan(s.rep_mean_sd));
  const int64_t found[] = {s.min, s.p5, s.p25, s.p50, s.p75, s.p95, s.p99, s.max}, want[] = {1, 1, 3, 5, 8, 10, 10, 10};
  for (int i = 0; i < 8; i++) assert_int_equal(found[i], want[i]);
  assert_int_equal(metric_quantile(set, COUNT, 0), 1);
  assert_int_equal(metric_quantile(set, COUNT, 101), 2); /* ceil(1.01) */
  assert_int_equal(metric_quantile(set, COUNT, 1000), 10);
  assert_false(s.has_parts);
  metric_set_free(set);
}

static void none_and_one(void **state) {
  (void)state;
  struct metric_set *set = metric_set_new(defs, METRICS);
  struct metric_summary s;
  metric_fail(set, SETUP);
  metric_end_replication(set);
  metric_summarise(set, SETUP, &s);
  assert_int_equal(s.n, 0);
  assert_int_equal(s.failed, 1);
  assert_int_equal(s.replications, 0); /* none with a sample */
  assert_true(isnan(s.mean));
  metric_sample(set, SETUP, 42, NULL);
  metric_end_replication(set);
  metric_summarise(set, SETUP, &s);
  assert_int_equal(s.n, 1);
  near(s.mean, 42);
  assert_true(s.sd == 0);
  assert_int_equal(s.p99, 42);
  metric_set_free(set);
  metric_set_free(NULL);
}

/* Means of the replications 1, 2 and 4: their mean 7/3, variance (16 + 1 + 25)/9/2 = 7/3. */
static void replication_means(void **state) {
  (void)state;
  static const int64_t samples[3][2] = {{0, 2}, {2, 2}, {1, 7}};
  struct metric_set *set = metric_set_new(defs, METRICS);
  for (int r = 0; r < 3; r++) {
    for (int i = 0; i < 2; i++) metric_sample(set, COUNT, samples[r][i], NULL);
    metric_end_replication(set);
    metric_end_replication(set); /* one without samples does not count */
  }
  struct metric_summary s;
  metric_summarise(set, COUNT, &s);
  assert_int_equal(s.replications, 3);
  near(s.rep_mean_sd, 1.5275252316519468);
  metric_set_free(set);
}

/* Means in 1/1000: 2/3 is 667; 1/2000 is half a unit and goes away from zero, on both sides. */
static void means_round_half_away(void **state) {
  (void)state;
  struct metric_set *set = metric_set_new(defs, METRICS);
  struct metric_sums sums;
  for (int i = 0; i < 3; i++) metric_sample(set, COUNT, i > 0, NULL);
  for (int i = 0; i < 2000; i++) metric_sample(set, GAIN, i ? 0 : -1, NULL);
  metric_end_replication(set);
  metric_exact_sums(set, COUNT, &sums);
  assert_string_equal(sums.rep_sum, "667");
  assert_string_equal(sums.rep_sum_squares, "444889");
  metric_exact_sums(set, GAIN, &sums);
  assert_string_equal(sums.rep_sum, "-1");
  assert_string_equal(sums.sum, "-1");
  for (int i = 0; i < 2000; i++) metric_sample(set, COUNT, i ? 0 : 1, NULL);
  metric_end_replication(set);
  metric_exact_sums(set, COUNT, &sums);
  assert_string_equal(sums.rep_sum, "668");
  metric_set_free(set);
}

/* 1e18 and 1e18 + 2: doubles could not tell them apart; their variance is 2. Squares: 1e36 + (1e36 + 4e18 + 4). */
static void large_values_stay_exact(void **state) {
  (void)state;
  struct metric_set *set = metric_set_new(defs, METRICS);
  metric_sample(set, SETUP, SIMTIME_HORIZON, NULL);
  metric_sample(set, SETUP, SIMTIME_HORIZON + 2, NULL);
  metric_end_replication(set);
  struct metric_summary s;
  metric_summarise(set, SETUP, &s);
  near(s.sd, 1.4142135623730951);
  near(s.mean, 1e18);
  struct metric_sums sums;
  metric_exact_sums(set, SETUP, &sums);
  assert_string_equal(sums.sum, "2000000000000000002");
  assert_string_equal(sums.sum_squares, "2000000000000000004000000000000000004");
  assert_string_equal(sums.rep_sum, "1000000000000000001000"); /* mean 1e18 + 1, in 1/1000; squared: 1e42 + 2e24 + 1e6 */
  assert_string_equal(sums.rep_sum_squares, "1000000000000000002000000000000000001000000");
  /* 400 more: beyond 128 bits, 3.4e38. Of 402 values two halves differ by 2 if 201 are each: variance 402/401. */
  for (int i = 0; i < 400; i++) metric_sample(set, SETUP, SIMTIME_HORIZON + i % 2 * 2, NULL);
  metric_end_replication(set);
  metric_summarise(set, SETUP, &s);
  near(s.sd, 1.0012461064024343);
  assert_true(s.rep_mean_sd == 0);
  metric_set_free(set);
}

static void trails_split_time_exactly(void **state) {
  (void)state;
  struct metric_set *set = metric_set_new(defs, METRICS);
  struct trail from, to;
  trail_begin(&from, 100);
  trail_advance(&from, PART_KEX, 130);
  to = from;
  trail_advance(&to, PART_PROPAGATION, 1130);
  trail_advance(&to, PART_KEX, 1200);
  trail_advance(&to, PART_KEY_WAIT, 1200);
  metric_sample_between(set, SETUP, &from, &to);
  assert_int_equal(to.parts[PART_KEX], 100);
  metric_sample(set, SETUP, 30, (int64_t[PART_COUNT]){[PART_SOFTWARE] = 30});
  metric_end_replication(set);
  struct metric_summary s;
  metric_summarise(set, SETUP, &s);
  assert_true(s.has_parts);
  assert_int_equal(s.max, 1070);
  near(s.parts[PART_PROPAGATION], 500);
  near(s.parts[PART_KEX], 35);
  near(s.parts[PART_SOFTWARE], 15);
  double total = 0;
  for (int part = 0; part < PART_COUNT; part++) total += s.parts[part];
  near(total, s.mean);
  struct metric_sums sums;
  metric_exact_sums(set, SETUP, &sums);
  assert_int_equal(sums.parts[PART_KEX], 70);
  assert_string_equal(sums.sum, "1100");
  metric_set_free(set);
}

static void wrong_breakdown(struct metric_set *set) { metric_sample(set, SETUP, 31, (int64_t[PART_COUNT]){[PART_SOFTWARE] = 30}); }
static void sometimes_a_breakdown(struct metric_set *set) {
  metric_sample(set, SETUP, 0, (int64_t[PART_COUNT]){0});
  metric_sample(set, SETUP, 0, NULL);
}
static void negative_time(struct metric_set *set) { metric_sample(set, SETUP, -1, NULL); }
static void time_backwards(struct metric_set *set) {
  (void)set;
  struct trail trail;
  trail_begin(&trail, 10);
  trail_advance(&trail, PART_KEX, 9);
}

static void broken_invariants_abort(void **state) {
  (void)state;
  void (*const wrongs[])(struct metric_set *) = {wrong_breakdown, sometimes_a_breakdown, negative_time, time_backwards};
  for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
      signal(SIGABRT, SIG_DFL);
      if (!freopen("/dev/null", "w", stderr)) _exit(1);
      wrongs[i](metric_set_new(defs, METRICS));
      _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  }
}

/* ---- the histogram ---- */

static uint64_t next(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *state >> 16;
}

static int ascending(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* Against the sorted samples themselves, over 18 powers of ten: at most half a bucket off, 1/256, and min and max exact. */
static void histogram_is_within_half_a_bucket(void **state) {
  (void)state;
  enum { N = 20000 };
  static int64_t values[N];
  struct metric_set *set = metric_set_new(defs, METRICS);
  uint64_t random = 1;
  for (int i = 0; i < N; i++) {
    values[i] = (int64_t)((next(&random) | UINT64_C(1) << 47) >> random % 46) * (i % 3 ? 1 : -1) * (i % 5 ? 1 : 16384);
    metric_sample(set, GAIN, values[i], NULL);
  }
  qsort(values, N, sizeof values[0], ascending);
  assert_int_equal(metric_quantile(set, GAIN, 0), values[0]);
  assert_int_equal(metric_quantile(set, GAIN, 1000), values[N - 1]);
  for (int permille = 1; permille < 1000; permille++) {
    double want = (double)values[N * permille / 1000 - 1], found = (double)metric_quantile(set, GAIN, permille);
    if (!(fabs(found - want) <= fabs(want) / 256)) fail_msg("quantile %d: %g, not %g", permille, found, want);
  }
  metric_set_free(set);
}

struct steps {
  int64_t n, last;
  int count;
};
static void take_step(void *arg, int64_t value, int64_t count) {
  struct steps *steps = arg;
  assert_true(steps->count == 0 || value > steps->last);
  assert_true(count > 0);
  steps->n += count;
  steps->last = value;
  steps->count++;
}

/* 512 distinct values are kept as they are, one more makes buckets; below 256 a bucket holds one value. */
static void exact_up_to_a_limit(void **state) {
  (void)state;
  struct metric_set *set = metric_set_new(defs, METRICS);
  for (int round = 0; round < 3; round++)
    for (int64_t i = 0; i < METRIC_EXACT; i++) metric_sample(set, COUNT, 1000000 + i, NULL);
  assert_int_equal(metric_quantile(set, COUNT, 500), 1000000 + 255); /* rank 768 of 1536, three of each */
  struct steps steps = {0};
  metric_each(set, COUNT, take_step, &steps);
  assert_int_equal(steps.count, METRIC_EXACT);
  assert_int_equal(steps.n, 3 * METRIC_EXACT);
  metric_sample(set, COUNT, 0, NULL);
  steps = (struct steps){0};
  metric_each(set, COUNT, take_step, &steps);
  assert_int_equal(steps.n, 3 * METRIC_EXACT + 1);
  assert_true(steps.count <= 3); /* 2^19 + k*2^12: all of the 512 lie in one bucket or two, and the zero */
  for (int64_t i = 0; i < 256; i++)
    for (int n = 0; n < 20; n++) metric_sample(set, COUNT, i, NULL);
  /* 1537 + 5120 samples: rank ceil(0.3 * 6657) = 1998. Zero has ranks 1 to 21, then 20 each: 99 has 1982 to 2001. */
  assert_int_equal(metric_quantile(set, COUNT, 300), 99);
  metric_set_free(set);
}

/* ---- merging and bytes ---- */

static struct metric_set *sampled(uint64_t seed, int replications, int64_t spread) {
  struct metric_set *set = metric_set_new(defs, METRICS);
  for (int r = 0; r < replications; r++) {
    uint64_t random = seed + (uint64_t)r;
    for (int i = 0; i < 100; i++) {
      int64_t a = (int64_t)(next(&random) % (uint64_t)spread), b = (int64_t)(next(&random) % (uint64_t)spread);
      metric_sample(set, SETUP, a + b, (int64_t[PART_COUNT]){[PART_KEX] = a, [PART_LINK_QUEUE] = b});
      metric_sample(set, GAIN, a - b, NULL);
      if (a > b) metric_fail(set, COUNT);
    }
    metric_end_replication(set);
  }
  return set;
}

static void same_state(const struct metric_set *a, const struct metric_set *b) {
  for (int m = 0; m < METRICS; m++) {
    size_t a_size, b_size;
    unsigned char *a_bytes = metric_bytes(a, m, &a_size), *b_bytes = metric_bytes(b, m, &b_size);
    assert_int_equal(a_size, b_size);
    assert_memory_equal(a_bytes, b_bytes, a_size);
    free(a_bytes);
    free(b_bytes);
  }
}

/* Twelve replications at once, or merged in groups from the last to the first; with few and with many distinct values,
 * so that groups are exact, whole sets bucketed. */
static void grouping_does_not_matter(void **state) {
  (void)state;
  static const int64_t spreads[] = {50, 100, 300, 100000, INT64_C(100000000000)};
  for (size_t i = 0; i < sizeof spreads / sizeof spreads[0]; i++) {
    struct metric_set *whole = sampled(5, 12, spreads[i]), *merged = metric_set_new(defs, METRICS), *from_bytes = metric_set_new(defs, METRICS);
    static const int sizes[] = {1, 5, 2, 4};
    int first = 12;
    for (int g = 0; g < 4; g++) {
      first -= sizes[g];
      struct metric_set *group = sampled(5 + (uint64_t)first, sizes[g], spreads[i]);
      metric_merge(merged, group);
      for (int m = 0; m < METRICS; m++) {
        size_t size;
        struct err e = {0};
        unsigned char *bytes = metric_bytes(group, m, &size);
        assert_int_equal(metric_merge_bytes(from_bytes, m, bytes, size, &e), 0);
        free(bytes);
      }
      metric_set_free(group);
    }
    same_state(whole, merged);
    same_state(whole, from_bytes);
    metric_set_free(whole);
    metric_set_free(merged);
    metric_set_free(from_bytes);
  }
}

/* Version 1, by hand: P Q M 1; flags 0, n 2, failed 3; replications 1, min 1, max 200 as zigzag 2 and 400 = 0x90 0x03;
 * sum 201 (402 = 0x92 0x03), squares 40001 (0xC1 0xB8 0x02) and three limbs of 0; mean 100500 (201000 = 0xA8 0xA2 0x0C),
 * square 10100250000 = 0x25A059590 (0x90 0xAB 0x96 0xD0 0x25), three 0; two cells: 1 once, 199 more (398 = 0x8E 0x03) once. */
static void bytes_are_as_documented(void **state) {
  (void)state;
  static const unsigned char want[] = {'P', 'Q', 'M', 1, 0, 2, 3, 1, 2, 0x90, 0x03, 0x92, 0x03, 0xC1, 0xB8, 0x02, 0, 0, 0, 0xA8, 0xA2, 0x0C, 0x90, 0xAB, 0x96,
      0xD0, 0x25, 0, 0, 0, 2, 2, 1, 0x8E, 0x03, 1};
  struct metric_set *set = metric_set_new(defs, METRICS);
  metric_sample(set, COUNT, 200, NULL);
  metric_sample(set, COUNT, 1, NULL);
  for (int i = 0; i < 3; i++) metric_fail(set, COUNT);
  metric_end_replication(set);
  size_t size;
  unsigned char *bytes = metric_bytes(set, COUNT, &size);
  assert_int_equal(size, sizeof want + 4);
  assert_memory_equal(bytes, want, sizeof want);
  free(bytes);
  metric_set_free(set);
}

static int merge(struct metric_set *set, int metric, const unsigned char *bytes, size_t size) {
  struct err e = {0};
  int code = metric_merge_bytes(set, metric, bytes, size, &e);
  if (code && (e.count != 1 || !strstr(e.text, defs[metric].name))) fail_msg("no good sentence: %s", e.text);
  err_free(&e);
  return code;
}

static void damage_is_refused(void **state) {
  (void)state;
  struct metric_set *from = sampled(9, 3, 1000), *into = sampled(11, 2, 1000), *untouched = sampled(11, 2, 1000);
  size_t size;
  unsigned char *bytes = metric_bytes(from, SETUP, &size);
  for (size_t i = 0; i < size; i++) { /* each byte, each prefix */
    bytes[i] ^= (unsigned char)(1 << i % 8);
    assert_int_equal(merge(into, SETUP, bytes, size), ERR_INPUT);
    bytes[i] ^= (unsigned char)(1 << i % 8);
    assert_int_equal(merge(into, SETUP, bytes, i), ERR_INPUT);
  }
  bytes[3] = 2;
  struct err e = {0};
  assert_int_equal(metric_merge_bytes(into, SETUP, bytes, size, &e), ERR_INPUT);
  assert_non_null(strstr(e.text, "version 2"));
  err_free(&e);
  bytes[3] = 1;
  struct metric_set *plain = metric_set_new(defs, METRICS);
  metric_sample(plain, SETUP, 1, NULL);
  metric_end_replication(plain);
  assert_int_equal(merge(plain, SETUP, bytes, size), ERR_INPUT); /* one has a breakdown */
  same_state(into, untouched);
  free(bytes);
  bytes = metric_bytes(from, GAIN, &size);
  assert_int_equal(merge(into, COUNT, bytes, size), ERR_INPUT); /* negative counts */
  free(bytes);
  metric_set_free(plain);
  metric_set_free(from);
  metric_set_free(into);
  metric_set_free(untouched);
}

/* Signs bytes as metric_bytes does, so that damage gets past the checksum. */
static void sign(unsigned char *bytes, size_t size) {
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i + 4 < size; i++) hash = (hash ^ bytes[i]) * 16777619u;
  for (int i = 0; i < 4; i++) bytes[size - 4 + (size_t)i] = (unsigned char)(hash >> 8 * i);
}

/* Whatever passes must be a state that can be summarised, written and merged again; most must not pass. */
static void signed_damage_does_no_harm(void **state) {
  (void)state;
  static const int64_t spreads[] = {3, 100, 100000};
  uint64_t random = 3;
  int refused = 0, passed = 0;
  for (int round = 0; round < 60000; round++) {
    struct metric_set *from = sampled(1, 1 + round % 2, spreads[round % 3]), *into = metric_set_new(defs, METRICS);
    int metric = (int)(next(&random) % METRICS);
    size_t size;
    unsigned char *bytes = metric_bytes(from, metric, &size);
    for (uint64_t n = 1 + next(&random) % 3; n > 0; n--) {
      size_t at = 4 + next(&random) % (size - 8 > 40 && round % 4 ? 40 : size - 8);
      bytes[at] = next(&random) % 2 ? (unsigned char)next(&random) : (unsigned char)(bytes[at] + 1 - 2 * (int)(next(&random) % 2));
    }
    if (round % 8 == 0) size -= next(&random) % (size - 8);
    sign(bytes, size);
    if (merge(into, metric, bytes, size)) {
      refused++;
    } else {
      struct metric_summary summary;
      struct metric_sums sums;
      struct steps steps = {0};
      passed++;
      metric_summarise(into, metric, &summary);
      metric_exact_sums(into, metric, &sums);
      metric_each(into, metric, take_step, &steps);
      assert_int_equal(steps.n, summary.n);
      assert_true(summary.n == 0 || (summary.min <= summary.p50 && summary.p50 <= summary.max && summary.sd >= 0));
      free(bytes);
      bytes = metric_bytes(into, metric, &size);
      assert_int_equal(merge(into, metric, bytes, size), 0);
    }
    free(bytes);
    metric_set_free(from);
    metric_set_free(into);
  }
  assert_true(refused > 30000 && passed > 100);
}

static void noise_does_no_harm(void **state) {
  (void)state;
  unsigned char bytes[200];
  uint64_t random = 4;
  struct metric_set *set = metric_set_new(defs, METRICS);
  for (int round = 0; round < 100000; round++) {
    size_t size = next(&random) % sizeof bytes;
    for (size_t i = 0; i < size; i++) bytes[i] = (unsigned char)(next(&random) >> next(&random) % 9);
    if (size >= 8) {
      memcpy(bytes, "PQM\1", 4);
      bytes[4] = (unsigned char)(round % 4);
      sign(bytes, size);
    }
    if (size > 60)
      assert_int_equal(merge(set, round % METRICS, bytes, size), ERR_INPUT);
    else
      (void)merge(set, round % METRICS, bytes, size);
  }
  metric_set_free(set);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_and_units),
      cmocka_unit_test(one_to_ten),
      cmocka_unit_test(none_and_one),
      cmocka_unit_test(replication_means),
      cmocka_unit_test(means_round_half_away),
      cmocka_unit_test(large_values_stay_exact),
      cmocka_unit_test(trails_split_time_exactly),
      cmocka_unit_test(broken_invariants_abort),
      cmocka_unit_test(histogram_is_within_half_a_bucket),
      cmocka_unit_test(exact_up_to_a_limit),
      cmocka_unit_test(grouping_does_not_matter),
      cmocka_unit_test(bytes_are_as_documented),
      cmocka_unit_test(damage_is_refused),
      cmocka_unit_test(signed_damage_does_no_harm),
      cmocka_unit_test(noise_does_no_harm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
