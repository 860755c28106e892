/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: sim/run/run.o sim/run/roster.o sim/run/test/fake_domain.o sim/core/err.o sim/core/event.o sim/core/metric.o sim/core/param.o sim/core/param_value.o sim/core/units.o
#include "sim/run/run.h"
#include "sim/run/test/fake_domain.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static char remarks[256];
static void remember(void *arg, const char *text) {
  assert_ptr_equal(arg, remarks);
  strcat(remarks, text);
  strcat(remarks, ";");
}

static struct metric_set *run(struct config *config, int first, int count) {
  struct metric_set *metrics = metric_set_new(fake_domain.metrics, fake_domain.metric_count);
  struct runner *runner = runner_new(&net_native);
  struct err e = {0};
  assert_int_equal(runner_point(runner, &fake_roster, config, "some/where", 40, first, count, metrics, NULL, NULL, &e), 0);
  runner_free(runner);
  return metrics;
}

/* fake.value 2, seed 40, replications 3, 4, 5: samples 2043, 2044, 2045 ns. */
static void samples_are_those_of_the_replications(void **state) {
  (void)state;
  struct config *config = fake_config(2, FAKE_OK);
  memset(&fake_calls, 0, sizeof fake_calls);
  struct metric_set *metrics = run(config, 3, 3);
  struct metric_summary summary;
  metric_summarise(metrics, 0, &summary);
  assert_int_equal(summary.n, 3);
  assert_int_equal(summary.replications, 3);
  assert_int_equal(summary.min, 2043);
  assert_int_equal(summary.p50, 2044);
  assert_int_equal(summary.max, 2045);
  assert_int_equal(fake_calls.reset, 3);
  assert_int_equal(fake_calls.replication, 5);
  assert_int_equal(fake_calls.seed, 40);
  assert_string_equal(fake_calls.base_dir, "some/where");
  assert_int_equal(fake_calls.open, 1);
  assert_int_equal(fake_calls.close, 1);
  assert_int_equal(fake_calls.prepare, 1);
  assert_int_equal(fake_calls.discard, 1);
  metric_set_free(metrics);
  config_free(config);
}

static void parts_merge_to_the_whole(void **state) {
  (void)state;
  struct config *config = fake_config(5, FAKE_OK);
  struct metric_set *whole = run(config, 0, 10), *parts = run(config, 0, 4), *rest = run(config, 4, 6);
  size_t a_size, b_size;
  metric_merge(parts, rest);
  unsigned char *a = metric_bytes(whole, 0, &a_size), *b = metric_bytes(parts, 0, &b_size);
  assert_int_equal(a_size, b_size);
  assert_memory_equal(a, b, a_size);
  free(a);
  free(b);
  metric_set_free(whole);
  metric_set_free(parts);
  metric_set_free(rest);
  config_free(config);
}

static void a_refused_point_runs_nothing(void **state) {
  (void)state;
  struct config *config = fake_config(666, FAKE_OK);
  struct metric_set *metrics = metric_set_new(fake_domain.metrics, fake_domain.metric_count);
  struct runner *runner = runner_new(&net_native);
  struct err e = {0};
  memset(&fake_calls, 0, sizeof fake_calls);
  assert_int_equal(runner_point(runner, &fake_roster, config, ".", 1, 0, 5, metrics, NULL, NULL, &e), ERR_INPUT);
  assert_string_equal(e.text, "fake.value: found 666, allowed anything else\n");
  assert_int_equal(fake_calls.reset, 0);
  assert_int_equal(fake_calls.discard, 0);
  struct metric_summary summary;
  metric_summarise(metrics, 0, &summary);
  assert_int_equal(summary.n, 0);
  err_free(&e);
  runner_free(runner);
  metric_set_free(metrics);
  config_free(config);
}

static void remarks_come_once(void **state) {
  (void)state;
  struct config *config = fake_config(1, FAKE_OK);
  struct err e = {0};
  assert_int_equal(config_set(config, "fake.label", "mind the gap", &e), 0);
  struct metric_set *metrics = metric_set_new(fake_domain.metrics, fake_domain.metric_count);
  struct runner *runner = runner_new(&net_native);
  remarks[0] = '\0';
  assert_int_equal(runner_point(runner, &fake_roster, config, ".", 1, 0, 5, metrics, remember, remarks, &e), 0);
  assert_string_equal(remarks, "mind the gap;");
  runner_free(runner);
  metric_set_free(metrics);
  config_free(config);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(samples_are_those_of_the_replications),
      cmocka_unit_test(parts_merge_to_the_whole),
      cmocka_unit_test(a_refused_point_runs_nothing),
      cmocka_unit_test(remarks_come_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
