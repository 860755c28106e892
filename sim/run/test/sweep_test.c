/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Points of a sweep against a plain enumeration, and run keys. */
// objects: sim/run/sweep.o sim/run/digest.o sim/run/roster.o sim/run/scenario.o sim/run/algorithms.o models/crypto/alg.o models/crypto/alg_own.o sim/run/load.o sim/run/value.o sim/run/axes.o sim/run/range.o sim/run/skip.o
// objects: sim/run/require.o sim/run/yaml.o sim/run/utf8.o sim/run/names.o sim/run/problem.o sim/run/arena.o sim/run/test/sample_domain.o
// objects: sim/core/param.o sim/core/param_value.o sim/core/units.o sim/core/err.o
// libs: -lyaml -lcrypto
#include "sim/run/sweep.h"
#include "sim/run/skip.h"
#include "sim/run/test/sample_domain.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static char path[] = "/tmp/sweep_test.XXXXXX";

static struct scenario *load(const char *text, const char *set) {
  struct scenario *scenario = NULL;
  struct err e = {0};
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
  if (scenario_load(path, &set, set ? 1 : 0, true, &scenario, &e)) fail_msg("refused:\n%s", e.text);
  return scenario;
}

static struct sweep *open_sweep(const struct scenario *scenario) {
  struct sweep *sweep = NULL;
  struct err e = {0};
  if (sweep_new(scenario, &sweep, &e)) fail_msg("refused:\n%s", e.text);
  return sweep;
}

static bool is_skipped(const struct scenario *s, const int *digits) {
  for (int e = 0; e < s->skip_count; e++) {
    bool all = true;
    for (int k = 0; k < s->skips[e].count; k++) {
      int axis = skip_axis(s, s->skips[e].keys[k]);
      all = all && skip_matches(s, axis, digits[axis], s->skips[e].keys[k], s->skips[e].texts[k]);
    }
    if (all) return true;
  }
  return false;
}

/* Counts up like an odometer, the last axis fastest, and expects each point that is left in turn. */
static void expect_enumeration(const struct scenario *s, const struct sweep *sweep) {
  int digits[64] = {0}, found[64];
  int64_t i = 0;
  for (;;) {
    if (!is_skipped(s, digits)) {
      assert_true(i < sweep_count(sweep));
      sweep_digits(sweep, i++, found);
      assert_memory_equal(found, digits, (size_t)s->axis_count * sizeof *digits);
    }
    int a = s->axis_count - 1;
    while (a >= 0 && ++digits[a] == s->axes[a].count) digits[a--] = 0;
    if (a < 0) break;
  }
  assert_int_equal(sweep_count(sweep), i);
}

static void no_axes_are_one_point(void **state) {
  (void)state;
  struct scenario *s = load("scenario: e2\n", NULL);
  struct sweep *sweep = open_sweep(s);
  struct config *config = NULL;
  struct err e = {0};
  assert_int_equal(sweep_count(sweep), 1);
  assert_int_equal(sweep_config(sweep, 0, &config, &e), 0);
  assert_int_equal(config_number(config, "path.mtu"), 1500);
  config_free(config);
  sweep_free(sweep);
  scenario_free(s);
}

static void the_last_axis_is_fastest(void **state) {
  (void)state;
  struct scenario *s = load("scenario: e2\nsweep:\n  - ipsec.kex: [none, x25519, mlkem768]\n  - {path.loss: [0%, 1%], ipsec.retransmit_timeout: [4s, 1s]}\n"
                            "  - stage: {today: {e2.nodes: 5}, done: {path.rtt: 8ms}}\n",
      NULL);
  struct sweep *sweep = open_sweep(s);
  assert_int_equal(sweep_count(sweep), 12);
  expect_enumeration(s, sweep);
  struct config *config = NULL;
  struct err e = {0};
  assert_int_equal(sweep_config(sweep, 7, &config, &e), 0); /* 7 = 1*4 + 1*2 + 1 */
  assert_string_equal(config_text(config, "ipsec.kex"), "x25519");
  assert_string_equal(config_text(config, "path.loss"), "1%");
  assert_string_equal(config_text(config, "ipsec.retransmit_timeout"), "1s");
  assert_int_equal(config_number(config, "path.delay"), 4000000);
  assert_int_equal(config_number(config, "e2.nodes"), 1);
  config_free(config);
  sweep_free(sweep);
  scenario_free(s);
}

static void skipped_points_are_left_out(void **state) {
  (void)state;
  struct scenario *s =
      load("scenario: e2\nsweep:\n  - ipsec.kex: [none, x25519, mlkem768]\n  - path.loss: [0%, 1%, 2%]\nskip: [{ipsec.kex: none, path.loss: 1%}]\n", NULL);
  struct sweep *sweep = open_sweep(s);
  assert_int_equal(sweep_count(sweep), 8);
  int digits[2];
  sweep_digits(sweep, 1, digits);
  assert_true(digits[0] == 0 && digits[1] == 2); /* none with 1% is gone */
  sweep_free(sweep);
  scenario_free(s);
}

/* Overlapping entries over every pair of axes, in an order that differs from the axes'. */
static void any_skip_list_agrees_with_enumeration(void **state) {
  (void)state;
  struct scenario *s =
      load("scenario: e2\nsweep:\n  - ipsec.kex: [none, x25519, mlkem768, mlkem1024]\n  - path.loss: [0%, 1%, 2%]\n"
           "  - {path.delay: [1ms, 2ms, 3ms, 4ms], path.mtu: [1500B, 1500B, 1400B, 1400B]}\n  - e2.nodes: {from: 1, to: 5, steps: 5}\n"
           "  - stage: {today: {e2.share: 100%}, half: {e2.share: 50%, ipsec.childless: yes}, done: {path.rate: 1Gbit/s}}\n"
           "skip:\n  - {path.loss: 1%, ipsec.kex: none}\n  - {path.mtu: 1400B, e2.nodes: 3}\n  - {e2.nodes: 5}\n"
           "  - {stage: half, ipsec.kex: mlkem768, path.loss: 2%}\n  - {e2.share: 100%, path.delay: 2ms}\n  - {ipsec.childless: no, e2.nodes: 2}\n",
          NULL);
  struct sweep *sweep = open_sweep(s);
  assert_true(sweep_count(sweep) > 0 && sweep_count(sweep) < 4 * 3 * 4 * 5 * 3);
  expect_enumeration(s, sweep);
  /* a named value that leaves a key alone has the base's: done has share 100%, so with 2ms nothing is left but half */
  int digits[5];
  for (int64_t i = 0; i < sweep_count(sweep); i++) {
    sweep_digits(sweep, i, digits);
    assert_false(digits[2] == 1 && digits[4] != 1);
  }
  sweep_free(sweep);
  scenario_free(s);
}

static void nothing_left_is_refused(void **state) {
  (void)state;
  struct scenario *s = load("scenario: e2\nsweep:\n  - path.loss: [0%, 1%]\nskip: [{path.loss: 0%}, {path.loss: 1%}]\n", NULL);
  struct sweep *sweep = NULL;
  struct err e = {0};
  assert_int_equal(sweep_new(s, &sweep, &e), ERR_INPUT);
  assert_null(sweep);
  assert_non_null(strstr(e.text, "skip leaves out every point of the sweep"));
  err_free(&e);
  scenario_free(s);
}

/* Six axes of fifty values are 1.5625e10 points. */
static void too_many_points_are_counted_not_made(void **state) {
  (void)state;
  struct scenario *s = load("scenario: e2\nsweep:\n  - path.delay: {from: 1ms, to: 50ms, steps: 50}\n  - path.mtu: {from: 1001B, to: 1050B, steps: 50}\n"
                            "  - e2.nodes: {from: 1, to: 50, steps: 50}\n  - e2.share: {from: 1%, to: 50%, steps: 50}\n"
                            "  - path.rate: {from: 1Mbit/s, to: 50Mbit/s, steps: 50}\n  - ipsec.retransmit_timeout: {from: 1s, to: 50s, steps: 50}\n",
      NULL);
  struct sweep *sweep = NULL;
  struct err e = {0};
  assert_int_equal(sweep_new(s, &sweep, &e), ERR_INPUT);
  assert_non_null(strstr(e.text, "sweep: the axes make 1.6e10 points, allowed at most 2147483647"));
  err_free(&e);
  scenario_free(s);
}

/* 2.1e9 points with a skip list, indexed at once: 1000 * 1000 * 2100, of which an entry takes 2100 and one 1000*1000. */
static void billions_of_points_cost_nothing(void **state) {
  (void)state;
  struct scenario *s = load("scenario: e2\nsweep:\n  - e2.nodes: {from: 1, to: 1000, steps: 1000}\n  - path.mtu: {from: 1001B, to: 2000B, steps: 1000}\n"
                            "  - path.delay: {from: 1ms, to: 2100ms, steps: 2100}\nskip:\n  - {e2.nodes: 1, path.mtu: 2000B}\n  - {path.delay: 7ms}\n",
      NULL);
  struct sweep *sweep = open_sweep(s);
  int digits[3];
  assert_int_equal(sweep_count(sweep), INT64_C(1000) * 1000 * 2099 - 2099);
  sweep_digits(sweep, sweep_count(sweep) - 1, digits);
  assert_true(digits[0] == 999 && digits[1] == 999 && digits[2] == 2099);
  sweep_digits(sweep, INT64_C(999) * 2099 + 6, digits); /* behind the first node count: node 2, mtu 1001, 8ms */
  assert_true(digits[0] == 1 && digits[1] == 0 && digits[2] == 7);
  sweep_free(sweep);
  scenario_free(s);
}

static void run_key(const char *set, const char *backend, uint64_t cost_hash, char key[33]) {
  struct scenario *s = load("scenario: e2\npath.mtu: 1400B\n", set);
  sweep_run_key(s->roster, s->base, backend, cost_hash, key);
  scenario_free(s);
}

static void run_keys_follow_what_decides_a_result(void **state) {
  (void)state;
  char base[33], other[33];
  run_key(NULL, "native", 1, base);
  assert_int_equal(strlen(base), 32);
  assert_int_equal(strspn(base, "0123456789abcdef"), 32);
  static const struct {
    const char *set, *backend;
    uint64_t cost_hash;
    bool same;
  } rows[] = {
      {"replications=50", "native", 1, true}, /* more of the same point */
      {"title=other", "native", 1, true},
      {"path.mtu=1400B", "native", 1, true},
      {"path.rtt=200us", "native", 1, true}, /* the default, said otherwise */
      {"seed=2", "native", 1, false},
      {"path.mtu=1401B", "native", 1, false},
      {NULL, "ns3", 1, false},
      {NULL, "native", 2, false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    run_key(rows[i].set, rows[i].backend, rows[i].cost_hash, other);
    if (!strcmp(base, other) != rows[i].same) fail_msg("row %zu", i);
  }
}

static void group_key(const char *groups, const char *set, char key[33]) {
  char text[256];
  snprintf(text, sizeof text, "scenario: e2\n%s", groups);
  struct scenario *s = load(text, set);
  sweep_run_key(s->roster, s->base, "native", 1, key);
  scenario_free(s);
}

static void algorithm_key(const char *text, const char *set, char key[33]) {
  char whole[256];
  snprintf(whole, sizeof whole, "scenario: e2\nplatform.initiator: {base: x, mykem.sign: y}\n%s", text);
  struct scenario *s = load(whole, set);
  sweep_run_key(s->roster, s->base, "native", 1, key);
  scenario_free(s);
}

/* What a name stands for decides a result, where it is used. */
static void run_keys_follow_definitions(void **state) {
  (void)state;
  static const struct {
    const char *text, *set;
    bool same;
  } rows[] = {
      {"algorithms: {mykem: {type: kex, public_key: 0.03125KiB}}\n", NULL, true},
      {"algorithms: {mykem: {type: kex, public_key: 1B}}\n", "algorithms.mykem.public_key=32B", true},
      {"algorithms: {mykem: {type: kex, public_key: 32B}, other: {type: kex, public_key: 1B}}\n", NULL, true}, /* not named */
      {"algorithms: {mykem: {type: kex, public_key: 33B}}\n", NULL, false},
      {"algorithms: {mykem: {type: kex, public_key: 32B}}\n", "algorithms.mykem.quantum_bits=1", false},
      {"algorithms: {mykem: {type: kex, public_key: 32B, title: x}}\n", NULL, false},
      {"algorithms: {mykem: {type: kex, public_key: 32B}, myk: {type: kex, public_key: 1B}}\n", NULL, false}, /* may be named */
  };
  char base[33], other[33];
  algorithm_key("algorithms: {mykem: {type: kex, public_key: 32B}}\n", NULL, base);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    algorithm_key(rows[i].text, rows[i].set, other);
    if (!strcmp(base, other) != rows[i].same) fail_msg("row %zu", i);
  }
}

/* Whatever is said of a group, and which groups there are in which order, makes another result. */
static void run_keys_follow_groups(void **state) {
  (void)state;
  static const struct {
    const char *groups, *set;
    bool same;
  } rows[] = {
      {"groups: {a: {share: 10%, path: {mtu: 1400}}, b: {}}\n", NULL, true},
      {"groups: {a: {path.mtu: 1400B, share: 10%}}\ngroups.b: {}\n", NULL, true},
      {"groups: {a: {path: {mtu: 1400}}, b: {}}\n", "groups.a.share=10%", true},
      {"groups: {a: {share: 10%, path: {mtu: 1400}}, b: {}}\n", "groups.a.share=11%", false},
      {"groups: {a: {share: 10%, path: {mtu: 1400}}, b: {}}\n", "groups.b.path.mtu=1400", false},
      {"groups: {a: {share: 10%, path: {mtu: 1400}}}\n", NULL, false},
      {"groups: {b: {}, a: {share: 10%, path: {mtu: 1400}}}\n", NULL, false},
      {"groups: {a: {share: 10%, path: {mtu: 1400}}, c: {}}\n", NULL, false},
      {"", NULL, false},
  };
  char base[33], other[33];
  group_key(rows[0].groups, NULL, base);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    group_key(rows[i].groups, rows[i].set, other);
    if (!strcmp(base, other) != rows[i].same) fail_msg("row %zu", i);
  }
}

static void a_points_config_has_its_groups_keys(void **state) {
  (void)state;
  struct scenario *s = load("scenario: e2\ngroups: {a: {share: 10%}, b: {}}\nsweep:\n"
                            "  - stage: {now: {groups.a.share: 30%}, then: {groups.b.path.rtt: 4ms}}\n  - groups.b.path.loss: [1%, 2%]\n",
      NULL);
  struct sweep *sweep = open_sweep(s);
  assert_int_equal(sweep_count(sweep), 4);
  static const char *const expected[4][3] = {{"30%", NULL, "1%"}, {"30%", NULL, "2%"}, {"10%", "2ms", "1%"}, {"10%", "2ms", "2%"}};
  static const char *const keys[3] = {"groups.a.share", "groups.b.path.delay", "groups.b.path.loss"};
  for (int i = 0; i < 4; i++) {
    struct config *config = NULL;
    struct err e = {0};
    assert_int_equal(sweep_config(sweep, i, &config, &e), 0);
    for (int k = 0; k < 3; k++) {
      const char *text = config_text(config, keys[k]);
      if (!expected[i][k]) assert_null(text);
      if (expected[i][k]) assert_string_equal(text, expected[i][k]);
    }
    config_free(config);
  }
  sweep_free(sweep);
  scenario_free(s);
}

static int make_file(void **state) {
  (void)state;
  int fd = mkstemp(path);
  return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state) {
  (void)state;
  return unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_axes_are_one_point),
      cmocka_unit_test(the_last_axis_is_fastest),
      cmocka_unit_test(skipped_points_are_left_out),
      cmocka_unit_test(any_skip_list_agrees_with_enumeration),
      cmocka_unit_test(nothing_left_is_refused),
      cmocka_unit_test(too_many_points_are_counted_not_made),
      cmocka_unit_test(billions_of_points_cost_nothing),
      cmocka_unit_test(run_keys_follow_what_decides_a_result),
      cmocka_unit_test(run_keys_follow_definitions),
      cmocka_unit_test(run_keys_follow_groups),
      cmocka_unit_test(a_points_config_has_its_groups_keys),
  };
  return cmocka_run_group_tests(tests, make_file, remove_file);
}
