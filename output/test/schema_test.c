/* SPDX-License-Identifier: GPL-3.0-or-later */
// objects: output/store.o output/store_file.o output/store_study.o output/store_extend.o output/store_read.o output/schema.o output/stats.o sim/core/err.o sim/core/units.o sim/core/metric.o
// libs: -lsqlite3 -lgsl -lgslcblas -lm
#include "output/test/sample.h"

#include "output/schema.h"

#include <sqlite3.h>

/* Rows of a query as text: columns by '|', rows by '\n'. */
static void query(const char *path, const char *sql, char *out) {
  sqlite3 *db;
  sqlite3_stmt *statement;
  assert_int_equal(sqlite3_open(path, &db), 0);
  if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL)) fail_msg("%s: %s", sql, sqlite3_errmsg(db));
  out[0] = '\0';
  while (sqlite3_step(statement) == SQLITE_ROW) {
    for (int i = 0; i < sqlite3_column_count(statement); i++) {
      const char *text = (const char *)sqlite3_column_text(statement, i);
      sprintf(out + strlen(out), "%s%s", i ? "|" : "", text ? text : "");
    }
    strcat(out, "\n");
  }
  sqlite3_finalize(statement);
  sqlite3_close(db);
}

/* The queries that SCHEMA.md promises, on points of 2.1015, 20.1015, 2.2015 and 20.2015 ms. */
static void contract(void **state) {
  (void)state;
  static const struct {
    const char *sql, *rows;
  } cases[] = {
      {"PRAGMA application_id", "1347505747\n"}, /* 0x50514E53 */
      {"PRAGMA user_version", "2\n"},
      {"PRAGMA journal_mode", "wal\n"},
      {"SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name", "axis\nfailure\nhist\nmeta\nmetric\nmetric_def\nnote\npoint\nstored\nstudy\n"},
      {"SELECT name FROM sqlite_master WHERE type = 'view' ORDER BY name", "run\nrunItervar\nscalar\nwide\n"},
      {"SELECT \"ipsec.kex\", \"path.delay\", typeof(\"path.delay\"), replications FROM point",
          "x25519|1.0|real|4\nx25519|10.0|real|4\nmlkem768|1.0|real|4\nmlkem768|10.0|real|4\n"},
      {"SELECT n, failed, mean, min, max, crypto, propagation, software, unit, sum, part_sums FROM metric WHERE point = 2 AND name = 'tunnel_setup'",
          "4|0|2.2015|2.2|2.203|0.2015|2.0|0.0|ms|8806000|806000 0 0 0 0 0 0 8000000 0 0 0 0 0\n"},
      {"SELECT crypto IS NULL, unit, mean FROM metric WHERE point = 2 AND name = 'bytes_total'", "1|B|1100.0\n"},
      {"SELECT \"ipsec.kex\", \"tunnel_setup.mean\", \"tunnel_setup.p50\", \"bytes_total.mean\" FROM wide WHERE \"path.delay\" = 10",
          "x25519|20.1015|20.101|1000.0\nmlkem768|20.2015|20.201|1100.0\n"},
      {"SELECT * FROM run WHERE runId = 1", "1|e2-1|-9\n"},
      {"SELECT * FROM runItervar WHERE runId = 3 ORDER BY itervarName", "3|ipsec.kex|mlkem768\n3|path.delay|10.0\n"},
      {"SELECT runId, moduleName, scalarName, scalarValue FROM scalar WHERE scalarName = 'tunnel_setup:mean' ORDER BY runId",
          "0|e2|tunnel_setup:mean|2.1015\n1|e2|tunnel_setup:mean|20.1015\n2|e2|tunnel_setup:mean|2.2015\n3|e2|tunnel_setup:mean|20.2015\n"},
      {"SELECT count(*) = count(DISTINCT scalarId) FROM scalar", "1\n"},
      {"SELECT name, kind, unit, clock_from, clock_to FROM metric_def ORDER BY position",
          "tunnel_setup|time|ms|initiation|CHILD_SA installed\nbytes_total|bytes|B|IP bytes, both directions|\n"},
      {"SELECT position, name, is_text, unit, logarithmic FROM axis", "0|ipsec.kex|1||0\n1|path.delay|0|ms|1\n"},
      {"SELECT point_count, replications, seed FROM study", "4|4|1\n"},
      {"SELECT count(*) FROM hist", "8\n"},
      {"SELECT value FROM meta WHERE name = 'format'", "pqnetsim study\n"},
  };
  struct sample sample = sample_new();
  const char *path = sample_path("study.db");
  char rows[4096];
  sample_make(&sample, path, 1);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    query(path, cases[i].sql, rows);
    if (strcmp(rows, cases[i].rows)) print_error("%s\n", cases[i].sql);
    assert_string_equal(rows, cases[i].rows);
  }
  sample_remove(path);
}

/* Metrics of entities become modules; a study without axes still has its views. */
static void entities(void **state) {
  (void)state;
  static const struct metric_def defs[SAMPLE_METRICS] = {{"nf_utilisation@AMF", METRIC_SHARE, "busy", NULL, NULL}, {"it's", METRIC_COUNT, "x", NULL, NULL}};
  struct sample sample = sample_new();
  const char *path = sample_path("study.db");
  char rows[4096];
  sample.study.axis_count = 0;
  sample.study.metrics = defs;
  sample.kex_count = sample.delay_count = 1;
  struct store *store = sample_open(&sample, path);
  struct metric_set *set = metric_set_new(defs, 2);
  struct err e = {0};
  metric_sample(set, 0, 500000000, NULL);
  metric_sample(set, 1, 7, NULL);
  metric_end_replication(set);
  sample_good(store_add(store, 0, 1, set, sample_index, &e), &e);
  metric_set_free(set);
  store_close(store);
  query(path, "SELECT moduleName, scalarName, scalarValue FROM scalar WHERE scalarName LIKE '%:max' ORDER BY scalarId", rows);
  assert_string_equal(rows, "e2.AMF|nf_utilisation:max|0.5\ne2|it's:max|7.0\n");
  query(path, "SELECT * FROM runItervar", rows);
  assert_string_equal(rows, "");
  query(path, "SELECT \"it's.p50\" FROM wide", rows);
  assert_string_equal(rows, "7.0\n");
  sample_remove(path);
}

/* SQLite's limit of 2000 columns holds point, replications and 999 metrics; the others are in `metric` alone. */
static void more_metrics_than_wide_can_hold(void **state) {
  (void)state;
  enum { METRICS = 1200 };
  static struct metric_def defs[METRICS];
  static char names[METRICS][24];
  static int index[METRICS];
  for (int m = 0; m < METRICS; m++) {
    snprintf(names[m], sizeof names[m], "setup@g%d", m);
    defs[m] = (struct metric_def){names[m], METRIC_COUNT, "x", NULL, NULL};
    index[m] = m;
  }
  struct sample sample = sample_new();
  const char *path = sample_path("study.db");
  char rows[256];
  sample.study.axis_count = 0;
  sample.study.metrics = defs;
  sample.study.metric_count = METRICS;
  sample.kex_count = sample.delay_count = 1;
  struct store *store = sample_open(&sample, path);
  struct metric_set *set = metric_set_new(defs, METRICS);
  struct err e = {0};
  for (int m = 0; m < METRICS; m++) metric_sample(set, m, m, NULL);
  metric_end_replication(set);
  sample_good(store_add(store, 0, 1, set, index, &e), &e);
  metric_set_free(set);
  store_close(store);
  query(path, "SELECT count(*) FROM pragma_table_info('wide')", rows);
  assert_string_equal(rows, "2000\n");
  query(path, "SELECT \"setup@g0.p50\", \"setup@g998.mean\" FROM wide", rows);
  assert_string_equal(rows, "0.0|998.0\n");
  query(path, "SELECT mean FROM metric WHERE name = 'setup@g1199'", rows);
  assert_string_equal(rows, "1199.0\n");
  sample_remove(path);
}

static void words(void **state) {
  (void)state;
  for (int unit = METRIC_TIME; unit <= METRIC_RATE; unit++) assert_int_equal(schema_kind_unit(schema_kind_name((enum metric_unit)unit)), unit);
  assert_int_equal(schema_kind_unit("furlongs"), -1);
  assert_string_equal(schema_reserved("Run_Key"), "run_key");
  assert_string_equal(schema_reserved("POINT"), "point");
  assert_null(schema_reserved("path.delay"));
}

/* Whole counts and sizes stay whole; dimensioned values stay real, so that SQL's division does not cut them. */
static void number_types(void **state) {
  (void)state;
  static const struct store_axis axes[2] = {{"kex", true, "", false}, {"gateway.cores", false, "1", false}};
  struct sample sample = sample_new();
  const char *path = sample_path("study.db");
  char rows[256];
  sample.study.axes = axes;
  sample_make(&sample, path, 1);
  query(path, "SELECT DISTINCT \"gateway.cores\", typeof(\"gateway.cores\") FROM point", rows);
  assert_string_equal(rows, "1|integer\n10|integer\n");
  sample_remove(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(contract), cmocka_unit_test(entities), cmocka_unit_test(more_metrics_than_wide_can_hold),
      cmocka_unit_test(words), cmocka_unit_test(number_types)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
