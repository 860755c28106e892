/* SPDX-License-Identifier: GPL-3.0-or-later */
// objects: output/table_show.o output/table_where.o output/grid.o output/store.o output/store_file.o output/store_study.o output/store_extend.o output/store_read.o output/schema.o output/stats.o sim/core/err.o sim/core/units.o sim/core/metric.o
// libs: -lsqlite3 -lgsl -lgslcblas -lm
#include "output/test/sample.h"

static char *shown(const char *path, const char *const *metrics, int count, const struct table_where *wheres, int where_count) {
  struct store *store = sample_read(path);
  struct err e = {0};
  char *bytes;
  size_t size;
  FILE *to = open_memstream(&bytes, &size);
  sample_good(table_show(store, metrics, count, wheres, where_count, to, &e), &e);
  fclose(to);
  store_close(store);
  return bytes;
}

/* 4 replications, 1 us apart: sd 1.29099 us; ci95 = 3.18245 * 1.29099 / 2 = 2.05426 us. */
static void every_metric(void **state) {
  (void)state;
  struct sample sample = sample_new();
  const char *path = sample_path("study.db");
  sample_make(&sample, path, 1);
  const struct table_where where = {"path.delay", "10ms"};
  char *text = shown(path, NULL, 0, &where, 1);
  assert_string_equal(text, "tunnel_setup [ms]: initiation -> CHILD_SA installed\n\n"
                            "point  ipsec.kex  path.delay [ms]  n  mean [ms]  \xC2\xB1 95 % [ms]  p50 [ms]  p95 [ms]  p99 [ms]  max [ms]\n"
                            "-----  ---------  ---------------  -  ---------  -----------  --------  --------  --------  --------\n"
                            "    1  x25519                  10  4      20.10     0.002054     20.10     20.10     20.10     20.10\n"
                            "    3  mlkem768                10  4      20.20     0.002054     20.20     20.20     20.20     20.20\n"
                            "\nbytes_total [B]: IP bytes, both directions\n\n"
                            "point  ipsec.kex  path.delay [ms]  n  mean [B]  \xC2\xB1 95 % [B]  p50 [B]  p95 [B]  p99 [B]  max [B]\n"
                            "-----  ---------  ---------------  -  --------  ----------  -------  -------  -------  -------\n"
                            "    1  x25519                  10  4      1000           0     1000     1000     1000     1000\n"
                            "    3  mlkem768                10  4      1100           0     1100     1100     1100     1100\n");
  free(text);
  sample_remove(path);
}

/* 2.1015 and 2.2015 are ties only in decimal: the doubles nearest to them lie above and below. */
static void side_by_side(void **state) {
  (void)state;
  struct sample sample = sample_new();
  const char *path = sample_path("study.db");
  sample.delay_count = 1;
  sample_make(&sample, path, 1);
  static const char *const metrics[] = {"tunnel_setup.mean", "bytes_total.p50", "tunnel_setup.cv"};
  char *text = shown(path, metrics, 3, NULL, 0);
  assert_string_equal(text, "point  ipsec.kex  path.delay [ms]  tunnel_setup.mean [ms]    \xC2\xB1 95 %  bytes_total.p50 [B]  tunnel_setup.cv  n\n"
                            "-----  ---------  ---------------  ----------------------  --------  -------------------  ---------------  -\n"
                            "    0  x25519                   1                   2.102  0.002054                 1000         0.000614  4\n"
                            "    1  mlkem768                 1                   2.201  0.002054                 1100         0.000586  4\n");
  free(text);
  sample_remove(path);
}

/* One replication: no interval, no quantiles; failures get a column only when there are some; what was not run is empty. */
static void one_replication(void **state) {
  (void)state;
  struct sample sample = sample_new();
  const char *path = sample_path("study.db");
  sample.study.replications = 1;
  sample.delay_count = 1;
  struct store *store = sample_open(&sample, path);
  sample_run(&sample, store, 0);
  store_close(store);
  static const char *const metric = "tunnel_setup";
  char *text = shown(path, &metric, 1, NULL, 0);
  assert_string_equal(text, "tunnel_setup [ms]: initiation -> CHILD_SA installed\n\n"
                            "point  ipsec.kex  path.delay [ms]  n  mean [ms]\n"
                            "-----  ---------  ---------------  -  ---------\n"
                            "    0  x25519                   1  1      2.100\n"
                            "    1  mlkem768                 1\n");
  free(text);
  store = sample_open(&sample, path);
  struct metric_set *set = metric_set_new(sample_metrics, SAMPLE_METRICS);
  struct err e = {0};
  metric_fail(set, 0);
  metric_end_replication(set);
  sample_good(store_add(store, 1, 1, set, sample_index, &e), &e);
  metric_set_free(set);
  store_close(store);
  text = shown(path, &metric, 1, NULL, 0);
  assert_non_null(strstr(text, "n  mean [ms]  failed\n"));
  assert_non_null(strstr(text, "    1  mlkem768                 1  0                  1\n"));
  free(text);
  sample_remove(path);
}

static void refused(void **state) {
  (void)state;
  struct sample sample = sample_new();
  const char *path = sample_path("study.db");
  sample_make(&sample, path, 1);
  struct store *store = sample_read(path);
  struct err e = {0};
  static const char *const metrics[] = {"nope", "tunnel_setup.p98"};
  int code = table_show(store, metrics, 2, NULL, 0, stdout, &e);
  assert_non_null(strstr(e.text, "no statistic p98")); /* all problems are listed */
  sample_bad(code, ERR_INPUT, &e, "no metric nope");
  const struct table_where where = {"path.delay", "11ms"};
  sample_bad(table_show(store, NULL, 0, &where, 1, stdout, &e), ERR_INPUT, &e, "no point of the study has these values");
  store_close(store);
  sample_remove(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_metric), cmocka_unit_test(side_by_side), cmocka_unit_test(one_replication), cmocka_unit_test(refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
