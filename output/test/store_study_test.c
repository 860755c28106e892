/* SPDX-License-Identifier: GPL-3.0-or-later */
// objects: output/store.o output/store_file.o output/store_study.o output/store_extend.o output/store_read.o output/schema.o output/stats.o sim/core/err.o sim/core/units.o sim/core/metric.o
// libs: -lsqlite3 -lgsl -lgslcblas -lm
#include "output/test/sample.h"

#include <sqlite3.h>

static void everything_comes_back(void **state) {
  (void)state;
  struct sample sample = sample_new();
  const char *path = sample_path("study.db");
  sample.study.file_text = "scenario: e2\ntitle: 'it''s \"100 %\"'\n\xC2\xB5\n";
  sample_make(&sample, path, 1);
  struct store *store = sample_read(path);
  const struct store_study *study = store_study(store);
  assert_string_equal(study->scenario, "e2");
  assert_string_equal(study->title, "a sample");
  assert_string_equal(study->file_text, sample.study.file_text);
  assert_string_equal(study->parameters, sample.study.parameters);
  assert_string_equal(study->backend, "native");
  assert_string_equal(study->code_version, "1.0");
  assert_string_equal(study->compiler, "cc");
  assert_string_equal(study->host, "here");
  assert_string_equal(study->cost_hash, "c0");
  assert_int_equal(study->seed, 1);
  assert_int_equal(study->replications, 4);
  assert_int_equal(study->axis_count, 2);
  assert_true(study->axes[0].is_text && !study->axes[0].logarithmic && strcmp(study->axes[0].name, "ipsec.kex") == 0);
  assert_true(!study->axes[1].is_text && study->axes[1].logarithmic && strcmp(study->axes[1].unit, "ms") == 0);
  assert_int_equal(study->metric_count, 2);
  assert_string_equal(study->metrics[0].name, "tunnel_setup");
  assert_int_equal(study->metrics[0].unit, METRIC_TIME);
  assert_string_equal(study->metrics[0].from, "initiation");
  assert_string_equal(study->metrics[0].to, "CHILD_SA installed");
  assert_string_equal(study->metrics[0].help, "time to set up a tunnel");
  assert_int_equal(study->metrics[1].unit, METRIC_BYTES);
  assert_null(study->metrics[1].to);
  store_close(store);
  sample_remove(path);
}

/* A description written anew is what a later reader finds. */
static void replaced_when_extended(void **state) {
  (void)state;
  struct sample sample = sample_new();
  const char *path = sample_path("study.db");
  sample_make(&sample, path, 1);
  sample.study.title = "more of it";
  sample.study.replications = 6;
  store_close(sample_open(&sample, path));
  struct store *store = sample_read(path);
  assert_string_equal(store_study(store)->title, "more of it");
  assert_int_equal(store_study(store)->replications, 6);
  store_close(store);
  sample_remove(path);
}

static void broken_description(void **state) {
  (void)state;
  static const struct {
    const char *sql, *words;
  } cases[] = {
      {"DELETE FROM study", "the table study is empty"},
      {"UPDATE metric_def SET kind = 'furlongs'", "unknown kind"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct sample sample = sample_new();
    const char *path = sample_path("study.db");
    struct store *store = NULL;
    struct err e = {0};
    sqlite3 *db;
    sample_make(&sample, path, 1);
    assert_int_equal(sqlite3_open(path, &db), 0);
    assert_int_equal(sqlite3_exec(db, cases[i].sql, NULL, NULL, NULL), 0);
    sqlite3_close(db);
    sample_bad(store_open_read(path, &store, &e), ERR_SYSTEM, &e, cases[i].words);
    sample_remove(path);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(everything_comes_back), cmocka_unit_test(replaced_when_extended), cmocka_unit_test(broken_description)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
