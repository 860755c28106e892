/* SPDX-License-Identifier: GPL-3.0-or-later */
// objects: output/store.o output/store_file.o output/store_study.o output/store_extend.o output/store_read.o output/schema.o output/stats.o
// objects: output/table_export.o output/table_where.o output/metric_json.o output/json.o sim/core/err.o sim/core/units.o sim/core/metric.o
// libs: -lsqlite3 -lgsl -lgslcblas -lm
#include "output/test/sample.h"

/* `after` grown from a finished `before` runs only what is new, and exports as if made at once. */
static void grows(struct sample *before, struct sample *after, int64_t expected_open) {
  const char *path = sample_path("study.db");
  sample_make(after, path, 1);
  char *fresh = sample_export(path);
  sample_remove(path);
  path = sample_path("study.db");
  sample_make(before, path, 1);
  struct store *store = sample_open(after, path);
  int64_t open = 0;
  for (int64_t id = 0; id < sample_count(after); id++) open += store_replications_done(store, id) < after->study.replications;
  assert_int_equal(open, expected_open);
  for (int64_t id = 0; id < sample_count(after); id++) sample_run(after, store, id);
  store_close(store);
  char *grown = sample_export(path);
  assert_string_equal(fresh, grown);
  sample_remove(path);
  free(fresh);
  free(grown);
}

static void value_at_end(void **state) {
  (void)state;
  struct sample before = sample_new(), after = sample_new();
  after.kex_count = 3;
  after.study.file_text = "scenario: e2\n# one more\n";
  grows(&before, &after, 2);
}

/* A value in the middle of the fast axis: every id but the first changes. */
static void value_in_middle(void **state) {
  (void)state;
  struct sample before = sample_new(), after = sample_new();
  after.delays[1] = 5;
  after.delays[2] = 10;
  after.delay_count = 3;
  grows(&before, &after, 2);
}

static void values_reordered(void **state) {
  (void)state;
  struct sample before = sample_new(), after = sample_new();
  after.kex[0] = "mlkem768";
  after.kex[1] = "x25519";
  grows(&before, &after, 0);
}

static void nothing_changes(void **state) {
  (void)state;
  struct sample before = sample_new(), after = sample_new();
  grows(&before, &after, 0);
}

static const struct store_axis three_axes[3] = {{"ipsec.kex", true, "", false}, {"path.delay", false, "ms", true}, {"path.loss", false, "%", false}};

/* The sample with an axis more, whose first value leaves the old run keys as they were. */
struct wider {
  struct sample sample;
  struct store_cell cells[3];
  char key[33];
};

static void wider_point(void *arg, int64_t id, struct store_point *out) {
  struct wider *wider = arg;
  sample_point(&wider->sample, id / 2, out);
  memcpy(wider->cells, out->cells, 2 * sizeof out->cells[0]);
  wider->cells[2].number = (double)(id % 2);
  snprintf(wider->key, sizeof wider->key, "%s", out->key);
  if (id % 2) wider->key[31] = 'L';
  *out = (struct store_point){id, wider->key, wider->cells};
}

static void axis_added(void **state) {
  (void)state;
  struct sample before = sample_new();
  struct wider wider = {.sample = sample_new()};
  const char *path = sample_path("study.db");
  struct err e = {0};
  struct store *store = NULL;
  sample_make(&before, path, 1);
  wider.sample.study.axis_count = 3;
  wider.sample.study.axes = three_axes;
  wider.sample.study.replications = 5;
  sample_good(store_open_write(path, &wider.sample.study, 8, wider_point, &wider, &store, &e), &e);
  for (int64_t id = 0; id < 8; id++) assert_int_equal(store_replications_done(store, id), id % 2 ? 0 : 4);
  assert_int_equal(store_study(store)->axis_count, 3);
  store_close(store);
  store = sample_read(path);
  struct store_point point;
  struct store_row row;
  bool found;
  sample_good(store_read_point(store, 6, &point, &e), &e);
  assert_string_equal(point.cells[0].text, "mlkem768");
  assert_float_equal(point.cells[1].number, 10, 0);
  assert_float_equal(point.cells[2].number, 0, 0);
  sample_good(store_read_metric(store, 6, 0, &row, &found, &e), &e); /* was point 3: 20.2015 ms */
  assert_true(found && row.mean == 20.2015);
  sample_good(store_read_metric(store, 3, 0, &row, &found, &e), &e);
  assert_false(found);
  assert_int_equal(store_study(store)->replications, 5);
  store_close(store);
  sample_remove(path);
}

static void refused(void **state) {
  (void)state;
  struct sample sample = sample_new();
  const char *path = sample_path("study.db");
  sample_make(&sample, path, 1);
  char *before = sample_export(path);
  static const struct metric_def other_metric = {"tunnel_setup", METRIC_TIME, "a", "b", NULL};
  struct {
    struct store_study study;
    const char *words;
  } cases[9];
  for (int i = 0; i < 9; i++) cases[i].study = sample.study;
  cases[0].study.seed = 2, cases[0].words = "its seed is 1, now it is 2";
  cases[1].study.backend = "ns3", cases[1].words = "its backend is native, now it is ns3";
  cases[2].study.code_version = "1.1", cases[2].words = "its program version is 1.0, now it is 1.1";
  cases[3].study.cost_hash = "c1",
  cases[3].words = "its cost data (hash) is c0, now it is c1. No parameter differs: the content of a platform file has changed";
  cases[4].study.scenario = "tls", cases[4].words = "its scenario is e2, now it is tls";
  cases[5].study.replications = 2, cases[5].words = "4 replications a point, now only for 2";
  cases[6].study.metric_count = 1, cases[6].study.metrics = &other_metric, cases[6].words = "other metrics: tunnel_setup bytes_total; now: tunnel_setup";
  cases[7].study.seed = 3, cases[7].study.backend = "ns3", cases[7].words = "its seed is 1, now it is 3"; /* both are listed */
  cases[8].study.seed = 3, cases[8].study.backend = "ns3", cases[8].words = "its backend is native, now it is ns3";
  for (int i = 0; i < 9; i++) {
    struct store *store = NULL;
    struct err e = {0};
    sample_bad(store_open_write(path, &cases[i].study, 4, sample_point, &sample, &store, &e), ERR_INPUT, &e, cases[i].words);
  }
  char *after = sample_export(path);
  assert_string_equal(before, after);
  free(before);
  free(after);
  sample_remove(path);
}

/* Points that are gone from the scenario are named, with the base parameter that made them other points. */
static void points_missing(void **state) {
  (void)state;
  struct sample sample = sample_new();
  const char *path = sample_path("study.db");
  struct store *store = NULL;
  struct err e = {0};
  sample_make(&sample, path, 1);
  sample.delays[1] = 20;
  sample.study.parameters = "ipsec.auth\tecdsa-p256\nseed\t1\n";
  int code = store_open_write(path, &sample.study, 4, sample_point, &sample, &store, &e);
  assert_non_null(strstr(e.text, "point 1 (ipsec.kex=x25519, path.delay=10ms); point 3 (ipsec.kex=mlkem768, path.delay=10ms)"));
  assert_non_null(strstr(e.text, "ipsec.auth: psk there, ecdsa-p256 now"));
  sample_bad(code, ERR_INPUT, &e, "2 of its 4 points are not in the scenario");
  /* the base value of a swept key reaches no point; a key more or less does */
  static const struct {
    const char *parameters, *words;
  } cases[] = {
      {"ipsec.auth\tpsk\npath.delay\t7ms\npath.loss\t1%\nseed\t1\n", "parameter that differs is path.loss: not given there, 1% now."},
      {"ipsec.kex\tnone\nseed\t1\n", "parameter that differs is ipsec.auth: psk there, not given now."},
      {"ipsec.auth\tpsk2\npath.delay\t7ms\nseed\t1\n", "parameter that differs is ipsec.auth: psk there, psk2 now."},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    sample.study.parameters = cases[i].parameters;
    sample_bad(store_open_write(path, &sample.study, 4, sample_point, &sample, &store, &e), ERR_INPUT, &e, cases[i].words);
  }
  sample.study.parameters = "ipsec.auth\tpsk\npath.delay\t7ms\nseed\t1\n";
  code = store_open_write(path, &sample.study, 4, sample_point, &sample, &store, &e);
  assert_null(strstr(e.text, "parameter that differs"));
  sample_bad(code, ERR_INPUT, &e, "2 of its 4 points are not in the scenario");
  sample_remove(path);
}

static void axis_names(void **state) {
  (void)state;
  struct sample sample = sample_new();
  struct store_axis axes[2] = {{"ID", true, "", false}, {"it's a \"stage\"", false, "1", false}};
  const char *path = sample_path("study.db");
  struct store *store = NULL;
  struct err e = {0};
  sample.study.axes = axes;
  sample_bad(store_open_write(path, &sample.study, 4, sample_point, &sample, &store, &e), ERR_INPUT, &e, "may not be called id");
  axes[0].name = "select";
  sample_make(&sample, path, 1);
  store = sample_read(path);
  assert_string_equal(store_study(store)->axes[1].name, "it's a \"stage\"");
  store_close(store);
  sample_remove(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(value_at_end),
      cmocka_unit_test(value_in_middle),
      cmocka_unit_test(values_reordered),
      cmocka_unit_test(nothing_changes),
      cmocka_unit_test(axis_added),
      cmocka_unit_test(refused),
      cmocka_unit_test(points_missing),
      cmocka_unit_test(axis_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
