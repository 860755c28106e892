/* SPDX-License-Identifier: GPL-3.0-or-later */
// objects: output/table_where.o output/store.o output/store_file.o output/store_study.o output/store_extend.o output/store_read.o output/schema.o output/stats.o sim/core/err.o sim/core/units.o sim/core/metric.o
// libs: -lsqlite3 -lgsl -lgslcblas -lm
#include "output/test/sample.h"

static const struct store_axis axes[] = {
    {"ipsec.kex", true, "", false},
    {"path.delay", false, "ms", true},
    {"path.rate", false, "Mbit/s", false},
    {"path.loss", false, "%", false},
    {"path.mtu", false, "B", false},
    {"e2.nodes", false, "1", false},
    {"energy.gamma", false, "1", false},
    {"energy.current", false, "mA", false},
};
enum { AXES = sizeof axes / sizeof axes[0] };
static const struct store_cell cells[AXES] = {
    {.text = "mlkem768"}, {.number = 0.1}, {.number = 2.5}, {.number = 0.5}, {.number = 1500}, {.number = 4}, {.number = 0.75}, {.number = 3.3}};

static void point(void *arg, int64_t id, struct store_point *out) {
  (void)arg;
  *out = (struct store_point){id, "k", cells};
}

static struct store *open_study(const char *path) {
  struct sample sample = sample_new();
  struct store *store = NULL;
  struct err e = {0};
  sample.study.axes = axes;
  sample.study.axis_count = AXES;
  sample_good(store_open_write(path, &sample.study, 1, point, NULL, &store, &e), &e);
  return store;
}

static void conditions(void **state) {
  (void)state;
  static const struct {
    const char *key, *value;
    bool matches;
  } table[] = {
      {"ipsec.kex", "mlkem768", true},
      {"ipsec.kex", "mlkem1024", false},
      {"path.delay", "0.1ms", true},
      {"path.delay", "100us", true},
      {"path.delay", "100000ns", true},
      {"path.delay", "1ms", false},
      {"path.rate", "2500kbit/s", true},
      {"path.rate", "2.5Mbps", true},
      {"path.loss", "0.5%", true},
      {"path.loss", "5000ppm", true},
      {"path.mtu", "1500B", true},
      {"path.mtu", "1.5kB", true},
      {"e2.nodes", "4", true},
      {"e2.nodes", "5", false},
      {"energy.gamma", "0.75", true},
      {"energy.current", "3.3mA", true},
      {"energy.current", "3.4mA", false},
  };
  const char *path = sample_path("study.db");
  struct store *store = open_study(path);
  struct store_point read;
  struct err e = {0};
  sample_good(store_read_point(store, 0, &read, &e), &e);
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    struct table_where where = {table[i].key, table[i].value};
    bool matches;
    sample_good(table_matches(store, &read, &where, 1, &matches, &e), &e);
    if (matches != table[i].matches) fail_msg("%s=%s", table[i].key, table[i].value);
  }
  const struct table_where both[] = {{"ipsec.kex", "mlkem768"}, {"e2.nodes", "5"}};
  bool matches;
  sample_good(table_matches(store, &read, both, 2, &matches, &e), &e);
  assert_false(matches);
  sample_good(table_matches(store, &read, NULL, 0, &matches, &e), &e);
  assert_true(matches);
  store_close(store);
  sample_remove(path);
}

static void refused(void **state) {
  (void)state;
  static const struct {
    const char *key, *value, *words;
  } table[] = {
      {"path.jitter", "1ms", "the study has no axis path.jitter; its axes are: ipsec.kex path.delay"},
      {"path.delay", "10", "path.delay=10: "},
      {"path.delay", "10Mbit/s", "path.delay=10Mbit/s: "},
      {"e2.nodes", "many", "expected a number"},
      {"energy.current", "3.3", "followed by mA"},
      {"energy.current", "3.3A", "followed by mA"},
  };
  const char *path = sample_path("study.db");
  struct store *store = open_study(path);
  struct store_point read;
  struct err e = {0};
  sample_good(store_read_point(store, 0, &read, &e), &e);
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    struct table_where where = {table[i].key, table[i].value};
    bool matches;
    sample_bad(table_matches(store, &read, &where, 1, &matches, &e), ERR_INPUT, &e, table[i].words);
  }
  store_close(store);
  sample_remove(path);
}

static void metrics(void **state) {
  (void)state;
  static const struct metric_def defs[] = {
      {"a", METRIC_TIME, NULL, NULL, NULL}, {"a.b", METRIC_TIME, NULL, NULL, NULL}, {"u@AMF.1", METRIC_SHARE, NULL, NULL, NULL}};
  const struct store_study study = {.metric_count = 3, .metrics = defs};
  struct err e = {0};
  const char *stat;
  int metric;
  sample_good(table_find_metric(&study, "a", &metric, &stat, &e), &e);
  assert_true(metric == 0 && !stat);
  sample_good(table_find_metric(&study, "a.p95", &metric, &stat, &e), &e);
  assert_int_equal(metric, 0);
  assert_string_equal(stat, "p95");
  sample_good(table_find_metric(&study, "a.b", &metric, &stat, &e), &e); /* a whole name wins */
  assert_true(metric == 1 && !stat);
  sample_good(table_find_metric(&study, "u@AMF.1.mean", &metric, &stat, &e), &e);
  assert_int_equal(metric, 2);
  assert_string_equal(stat, "mean");
  sample_bad(table_find_metric(&study, "c.p95", &metric, &stat, &e), ERR_INPUT, &e, "no metric c.p95; it has: a a.b u@AMF.1");
  sample_bad(table_find_metric(&study, "a.p98", &metric, &stat, &e), ERR_INPUT, &e, "there is no statistic p98; there are: mean sd");
}

static void written(void **state) {
  (void)state;
  char buffer[64];
  assert_string_equal(table_cell(&axes[0], &cells[0], buffer, sizeof buffer), "mlkem768");
  assert_string_equal(table_cell(&axes[1], &cells[1], buffer, sizeof buffer), "0.1ms");
  assert_string_equal(table_cell(&axes[5], &cells[5], buffer, sizeof buffer), "4");
  assert_string_equal(table_header("path.delay", "ms", buffer, sizeof buffer), "path.delay [ms]");
  assert_string_equal(table_header("e2.nodes", "1", buffer, sizeof buffer), "e2.nodes");
  assert_string_equal(table_header("ipsec.kex", "", buffer, sizeof buffer), "ipsec.kex");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(conditions), cmocka_unit_test(refused), cmocka_unit_test(metrics), cmocka_unit_test(written)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
