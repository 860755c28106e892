/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: models/crypto/cost_data.o models/crypto/csv.o sim/core/err.o
#include "models/crypto/cost.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static char dir[64], sources_path[128], platforms_path[128];

static int set_up(void **state) {
  (void)state;
  snprintf(dir, sizeof dir, "/tmp/cost_data_test.XXXXXX");
  if (!mkdtemp(dir)) return -1;
  snprintf(sources_path, sizeof sources_path, "%s/sources.csv", dir);
  snprintf(platforms_path, sizeof platforms_path, "%s/platforms", dir);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  cost_set_data_dir(NULL);
  unlink(sources_path);
  return rmdir(dir);
}

static void write_text(const char *path, const char *text) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

#define HEADER "id,kind,author,title,year,where,licence,note\n"

static void test_shipped_sources(void **state) {
  (void)state;
  struct cost_sources *sources;
  struct err e = {0};
  cost_set_data_dir("calib/data");
  if (cost_sources_load(&sources, &e)) fail_msg("%s", e.text);
  assert_true(cost_sources_count(sources) > 10);
  const struct cost_source *pqm4 = cost_source_find(sources, "pqm4");
  assert_non_null(pqm4);
  assert_string_equal(pqm4->kind, "repository");
  assert_non_null(strstr(pqm4->where, "github.com/mupq/pqm4"));
  assert_string_equal(cost_source_find(sources, "own")->kind, "user");
  assert_null(cost_source_find(sources, ""));
  assert_ptr_equal(cost_source_find(sources, cost_source_at(sources, 3)->id), cost_source_at(sources, 3));
  cost_sources_free(sources);
}

struct bad {
  const char *rows, *says;
};
static const struct bad bads[] = {
    {HEADER "A b,paper,,t,,w,,\n", ":2: column id: found 'A b', allowed: small letters, digits and '-'"},
    {HEADER ",paper,,t,,w,,\n", ":2: column id: found ''"},
    {HEADER "a,paper,,t,,w,,\nb,paper,,t,,w,,\na,paper,,t,,w,,\n", ":4: column id: 'a' is already the source of line 2"},
    {HEADER "a,rumour,,t,,w,,\n", ":2: column kind: found 'rumour', allowed: measurement, paper"},
    {HEADER "a,paper,,,,w,,\n", ":2: column title: is empty"},
    {HEADER "a,paper,,t,,,,\n", ":2: column where: is empty"},
    {"id,kind\na,paper\n", ":1: column author is missing"},
};

static void test_malformed_sources(void **state) {
  (void)state;
  cost_set_data_dir(dir);
  for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
    struct cost_sources *sources = NULL;
    struct err e = {0};
    write_text(sources_path, bads[i].rows);
    assert_int_equal(cost_sources_load(&sources, &e), ERR_INPUT);
    assert_null(sources);
    if (strncmp(e.text, sources_path, strlen(sources_path)) != 0 || !strstr(e.text, bads[i].says)) fail_msg("case %zu: %s", i, e.text);
    err_free(&e);
  }
}

static void test_missing_data(void **state) {
  (void)state;
  struct cost_sources *sources;
  char **names;
  int count;
  struct err e = {0};
  cost_set_data_dir("/nonexistent");
  assert_int_equal(cost_sources_load(&sources, &e), ERR_INPUT);
  assert_string_equal(e.text, "/nonexistent/sources.csv: cannot be opened: No such file or directory\n");
  err_free(&e);
  assert_int_equal(cost_list(&names, &count, &e), ERR_INPUT);
  assert_string_equal(e.text, "/nonexistent/platforms: the folder of shipped platforms cannot be opened: No such file or directory\n");
  err_free(&e);
}

static void test_list_is_sorted_and_holds_csv_alone(void **state) {
  (void)state;
  static const char *const files[] = {"b.csv", "a-2.csv", "notes.txt", ".csv", "a.csv", "c.csv.bak"};
  char path[192];
  assert_int_equal(mkdir(platforms_path, 0700), 0);
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    snprintf(path, sizeof path, "%s/%s", platforms_path, files[i]);
    write_text(path, "");
  }
  char **names;
  int count;
  struct err e = {0};
  cost_set_data_dir(dir);
  assert_int_equal(cost_list(&names, &count, &e), 0);
  assert_int_equal(count, 3);
  assert_string_equal(names[0], "a");
  assert_string_equal(names[1], "a-2");
  assert_string_equal(names[2], "b");
  cost_list_free(names, count);
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    snprintf(path, sizeof path, "%s/%s", platforms_path, files[i]);
    unlink(path);
  }
  assert_int_equal(cost_list(&names, &count, &e), 0);
  assert_int_equal(count, 0);
  cost_list_free(names, count);
  rmdir(platforms_path);
}

static void test_where_data_is_looked_for(void **state) {
  (void)state;
  cost_set_data_dir("set");
  setenv("PQNETSIM_DATA", "from the environment", 1);
  assert_string_equal(cost_data_dir(), "set");
  cost_set_data_dir(NULL);
  assert_string_equal(cost_data_dir(), "from the environment");
  setenv("PQNETSIM_DATA", "", 1);
  assert_true(strlen(cost_data_dir()) > 0);
  assert_string_not_equal(cost_data_dir(), "set");
  unsetenv("PQNETSIM_DATA");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_shipped_sources),
      cmocka_unit_test(test_malformed_sources),
      cmocka_unit_test(test_missing_data),
      cmocka_unit_test(test_list_is_sorted_and_holds_csv_alone),
      cmocka_unit_test(test_where_data_is_looked_for),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
