/* SPDX-License-Identifier: GPL-3.0-or-later */
// objects: output/store.o output/store_file.o output/store_study.o output/store_extend.o output/store_read.o output/schema.o output/stats.o sim/core/err.o sim/core/units.o sim/core/metric.o
// libs: -lsqlite3 -lgsl -lgslcblas -lm
#include "output/test/sample.h"

#include <math.h>
#include <sqlite3.h>

static void points(void **state) {
  (void)state;
  struct sample sample = sample_new();
  const char *path = sample_path("study.db");
  sample_make(&sample, path, 1);
  struct store *store = sample_read(path);
  struct store_point point;
  struct err e = {0};
  sample_good(store_read_point(store, 2, &point, &e), &e);
  assert_int_equal(point.id, 2);
  assert_string_equal(point.cells[0].text, "mlkem768");
  assert_float_equal(point.cells[1].number, 1, 0);
  assert_string_equal(point.key, "mlkem768              000001.000");
  sample_bad(store_read_point(store, 4, &point, &e), ERR_SYSTEM, &e, "point 4: it is missing");
  store_close(store);
  sample_remove(path);
}

/* Point 0: x25519, 1 ms: 2.1, 2.101, 2.102, 2.103 ms, a quarter each. */
static void distribution(void **state) {
  (void)state;
  struct sample sample = sample_new();
  const char *path = sample_path("study.db");
  sample_make(&sample, path, 1);
  struct store *store = sample_read(path);
  struct err e = {0};
  double *values, *shares, quantiles[3];
  int count;
  bool found;
  sample_good(store_read_cdf(store, 0, 0, &values, &shares, &count, &e), &e);
  assert_int_equal(count, 4);
  for (int i = 0; i < 4; i++) {
    assert_float_equal(values[i], 2.1 + 0.001 * i, 1e-12);
    assert_float_equal(shares[i], 0.25 * (i + 1), 0);
  }
  free(values);
  free(shares);
  static const int permilles[] = {250, 251, 1000};
  sample_good(store_read_quantiles(store, 0, 0, permilles, 3, quantiles, &found, &e), &e);
  assert_true(found);
  assert_float_equal(quantiles[0], 2.1, 1e-12);
  assert_float_equal(quantiles[1], 2.101, 1e-12);
  assert_float_equal(quantiles[2], 2.103, 1e-12);
  /* bytes: 1000 every time */
  sample_good(store_read_cdf(store, 0, 1, &values, &shares, &count, &e), &e);
  assert_int_equal(count, 1);
  assert_float_equal(values[0], 1000, 0);
  assert_float_equal(shares[0], 1, 0);
  free(values);
  free(shares);
  store_close(store);
  sample_remove(path);
}

/* One replication has no hist row; its distribution comes from the row. A point not run has none. */
static void single_value(void **state) {
  (void)state;
  struct sample sample = sample_new();
  const char *path = sample_path("study.db");
  sample.study.replications = 1;
  struct store *store = sample_open(&sample, path);
  sample_run(&sample, store, 1);
  store_close(store);
  store = sample_read(path);
  struct err e = {0};
  double *values, *shares, value;
  int count, half = 500;
  bool found;
  struct store_row row;
  sample_good(store_read_cdf(store, 1, 0, &values, &shares, &count, &e), &e);
  assert_int_equal(count, 1);
  assert_float_equal(values[0], 20.1, 1e-12);
  free(values);
  free(shares);
  sample_good(store_read_metric(store, 1, 0, &row, &found, &e), &e);
  assert_true(found && row.n == 1 && isnan(row.ci95));
  sample_good(store_read_metric(store, 0, 0, &row, &found, &e), &e);
  assert_false(found);
  sample_good(store_read_quantiles(store, 0, 0, &half, 1, &value, &found, &e), &e);
  assert_false(found);
  sample_good(store_read_cdf(store, 0, 0, &values, &shares, &count, &e), &e);
  assert_int_equal(count, 0);
  free(values);
  free(shares);
  store_close(store);
  sample_remove(path);
}

/* What a database editor can do to results is told, not shown (negative latencies, edited means, points removed, units changed). */
static void edited_by_hand(void **state) {
  (void)state;
  static const struct {
    const char *sql, *words;
    bool on_open;
  } cases[] = {
      {"DELETE FROM point WHERE id = 3", "the points are not those the study was made with", true},
      {"UPDATE metric SET unit = 's'", "another unit than its definition", true},
      {"UPDATE metric SET point = 9 WHERE point = 3", "belongs to no point", true},
      {"UPDATE metric SET mean = mean * 1.001", "a mean that is not its sum over n", false},
      {"UPDATE metric SET p50 = 0", "quantiles that do not rise", false},
      {"DELETE FROM metric WHERE point = 1", "point 1, metric bytes_total: there are not as many metrics as were stored", true},
      {"DELETE FROM metric WHERE point = 2 AND name = 'tunnel_setup'", "point 2, metric tunnel_setup: there are not as many metrics as were stored", true},
      {"DELETE FROM hist; DELETE FROM metric WHERE point = 3", "point 3: there are not as many metrics as were stored", true},
      {"UPDATE point SET replications = 1152921504606846976 WHERE id = 1", "point 1: its replications are not 0 to those", true},
      {"UPDATE point SET replications = -1 WHERE id = 1", "point 1: its replications are not 0 to those", true},
      {"UPDATE point SET replications = 'x' WHERE id = 1", "point 1: its replications are not 0 to those", true},
      {"UPDATE point SET replications = 3 WHERE id = 1", "point 1, metric bytes_total: it belongs to no point, or has more replications", true},
      {"UPDATE study SET point_count = 1000000000000", "the points are not those the study was made with", true},
      {"UPDATE study SET point_count = -1", "the number of points in the table study is negative", true},
      {"UPDATE study SET point_count = 'many'", "is no whole number", true},
      {"UPDATE study SET replications = -1", "asks for less than one replication", true},
      {"UPDATE metric SET sd = 9e999", "point 0, metric tunnel_setup has a statistic that is no finite number", false},
      {"UPDATE metric SET ci95 = -9e999", "a statistic that is no finite number", false},
      {"UPDATE metric SET ci95 = NULL", "a statistic that is no finite number", false},
      {"UPDATE metric SET max = 9e999", "a statistic that is no finite number", false},
      {"UPDATE metric SET p99 = 'high'", "a statistic that is no finite number", false},
      {"UPDATE metric SET sd = sd * 1.001", "an sd that is not that of its sums", false},
      {"UPDATE metric SET n = 'four'", "an n, failed or replications that is no whole number", false},
      {"UPDATE metric SET failed = 0.5", "an n, failed or replications that is no whole number", false},
      {"UPDATE metric SET sum_squares = 'junk'", "an exact sum that is no whole number", false},
      {"UPDATE metric SET sum_squares = '1' || sum_squares", "an sd that is not that of its sums", false},
      {"UPDATE metric SET rep_sum = ''", "an exact sum that is no whole number", false},
      {"UPDATE metric SET part_sums = part_sums || ' 1'", "no whole numbers in part_sums", false},
      {"UPDATE metric SET part_sums = '1 2 x'", "no whole numbers in part_sums", false},
      {"UPDATE metric SET crypto = 9e999", "a part of its breakdown that is no finite number", false},
      {"UPDATE metric SET n = -4", "a negative count", false},
      {"UPDATE metric SET min = -1", "a negative value", false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct sample sample = sample_new();
    const char *path = sample_path("study.db");
    sample_make(&sample, path, 1);
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), 0);
    assert_int_equal(sqlite3_exec(db, cases[i].sql, NULL, NULL, NULL), 0);
    sqlite3_close(db);
    struct store *store = NULL;
    struct store_row row;
    bool found;
    struct err e = {0};
    int code = store_open_read(path, &store, &e);
    assert_int_equal(code != 0, cases[i].on_open);
    if (!code) code = store_read_metric(store, 0, 0, &row, &found, &e);
    assert_non_null(strstr(e.text, "damaged or was changed by hand"));
    sample_bad(code, ERR_SYSTEM, &e, cases[i].words);
    if (!cases[i].on_open) store_close(store);
    /* a sweep that goes on is told before it runs anything */
    if (cases[i].on_open) sample_bad(store_open_write(path, &sample.study, 4, sample_point, &sample, &store, &e), ERR_SYSTEM, &e, cases[i].words);
    sample_remove(path);
  }
}

/* Files of before the table `stored` open for reading as they are, and get it when they are written to. */
static void before_stored(void **state) {
  (void)state;
  struct sample sample = sample_new();
  const char *path = sample_path("study.db");
  sample_make(&sample, path, 1);
  sqlite3 *db;
  struct err e = {0};
  assert_int_equal(sqlite3_open(path, &db), 0);
  assert_int_equal(sqlite3_exec(db, "DROP TABLE stored", NULL, NULL, NULL), 0);
  sqlite3_close(db);
  store_close(sample_read(path));
  sample.study.replications = 5;
  struct store *store = sample_open(&sample, path);
  for (int64_t id = 0; id < 4; id++) sample_run(&sample, store, id);
  store_close(store);
  assert_int_equal(sqlite3_open(path, &db), 0);
  assert_int_equal(sqlite3_exec(db, "DELETE FROM metric WHERE point = 0", NULL, NULL, NULL), 0);
  sqlite3_close(db);
  sample_bad(store_open_read(path, &store, &e), ERR_SYSTEM, &e, "not as many metrics as were stored");
  sample_remove(path);
}

/* A distribution that is gone is not made up when more replications come. */
static void lost_distribution(void **state) {
  (void)state;
  struct sample sample = sample_new();
  const char *path = sample_path("study.db");
  sample_make(&sample, path, 1);
  sqlite3 *db;
  assert_int_equal(sqlite3_open(path, &db), 0);
  assert_int_equal(sqlite3_exec(db, "DELETE FROM hist", NULL, NULL, NULL), 0);
  sqlite3_close(db);
  sample.study.replications = 5;
  struct store *store = sample_open(&sample, path);
  struct metric_set *set = sample_results(&sample, 0, 4, 1);
  struct err e = {0};
  sample_bad(store_add(store, 0, 1, set, sample_index, &e), ERR_SYSTEM, &e, "lacks its distribution");
  metric_set_free(set);
  store_close(store);
  sample_remove(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(points), cmocka_unit_test(distribution), cmocka_unit_test(single_value), cmocka_unit_test(edited_by_hand),
      cmocka_unit_test(before_stored), cmocka_unit_test(lost_distribution)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
