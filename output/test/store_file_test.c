/* SPDX-License-Identifier: GPL-3.0-or-later */
// objects: output/store.o output/store_file.o output/store_study.o output/store_extend.o output/store_read.o output/schema.o output/stats.o
// objects: output/table_export.o output/table_where.o output/metric_json.o output/json.o sim/core/err.o sim/core/units.o sim/core/metric.o
// libs: -lsqlite3 -lgsl -lgslcblas -lm
#include "output/test/sample.h"

#include <sqlite3.h>
#include <sys/wait.h>

static char *file_bytes(const char *path, size_t *size) {
  FILE *from = fopen(path, "r");
  assert_non_null(from);
  char *bytes = calloc(1, 1 << 20);
  *size = fread(bytes, 1, 1 << 20, from);
  fclose(from);
  return bytes;
}

/* Neither a writer nor a reader takes the file, both say why, and it is left as it was. */
static void refuse(const char *path, enum err_code code, const char *words) {
  struct sample sample = sample_new();
  struct store *store = NULL;
  struct err e = {0};
  size_t before, after;
  char *old = file_bytes(path, &before);
  int got = store_open_write(path, &sample.study, 4, sample_point, &sample, &store, &e);
  assert_non_null(strstr(e.text, path));
  sample_bad(got, code, &e, words);
  sample_bad(store_open_read(path, &store, &e), code, &e, words);
  char *new = file_bytes(path, &after);
  assert_int_equal(before, after);
  assert_memory_equal(old, new, before);
  assert_false(sample_exists(path, "-wal"));
  free(old);
  free(new);
}

static void no_study(void **state) {
  (void)state;
  const char *path = sample_path("study.db");
  sample_write_file(path, "my notes on the sweep\n", 22);
  refuse(path, ERR_INPUT, "is not a study (not an SQLite file)");
  sample_write_file(path, "", 0);
  refuse(path, ERR_INPUT, "is an empty file");
  char page[4096] = "SQLite format 3";
  memset(page + 16, 'x', sizeof page - 16);
  sample_write_file(path, page, 50);
  refuse(path, ERR_INPUT, "is not a study (not an SQLite file)");
  unlink(path);
  sqlite3 *db;
  assert_int_equal(sqlite3_open(path, &db), 0);
  assert_int_equal(sqlite3_exec(db, "CREATE TABLE mine(a)", NULL, NULL, NULL), 0);
  sqlite3_close(db);
  refuse(path, ERR_INPUT, "SQLite database of another program");
  sample_remove(path);
}

static void other_version(void **state) {
  (void)state;
  struct sample sample = sample_new();
  const char *path = sample_path("study.db");
  sample_make(&sample, path, 1);
  sqlite3 *db;
  assert_int_equal(sqlite3_open(path, &db), 0);
  assert_int_equal(sqlite3_exec(db, "PRAGMA user_version = 3", NULL, NULL, NULL), 0);
  sqlite3_close(db);
  refuse(path, ERR_INPUT, "written by a newer version of this program (study format 3; this one knows 2)");
  assert_int_equal(sqlite3_open(path, &db), 0);
  assert_int_equal(sqlite3_exec(db, "PRAGMA user_version = 1", NULL, NULL, NULL), 0);
  sqlite3_close(db);
  refuse(path, ERR_INPUT, "written by an older version of this program (study format 1; this one knows 2)");
  sample_remove(path);
}

static void not_a_file(void **state) {
  (void)state;
  struct sample sample = sample_new();
  struct store *store = NULL;
  struct err e = {0};
  const char *path = sample_path("study.db");
  assert_int_equal(mkdir(path, 0777), 0);
  sample_bad(store_open_write(path, &sample.study, 4, sample_point, &sample, &store, &e), ERR_INPUT, &e, "is a folder");
  sample_bad(store_open_read(path, &store, &e), ERR_INPUT, &e, "is a folder");
  assert_int_equal(rmdir(path), 0);
  assert_int_equal(mkfifo(path, 0666), 0);
  sample_bad(store_open_write(path, &sample.study, 4, sample_point, &sample, &store, &e), ERR_INPUT, &e, "is not an ordinary file");
  sample_bad(store_open_read("/nonexistent/study.db", &store, &e), ERR_INPUT, &e, "no such study file");
  sample_bad(store_open_write("", &sample.study, 4, sample_point, &sample, &store, &e), ERR_INPUT, &e, "name of the study file is empty");
  sample_bad(store_open_write("/nonexistent/deep/study.db", &sample.study, 4, sample_point, &sample, &store, &e), ERR_INPUT, &e,
      "the folder /nonexistent/deep does not exist; create it");
  char below[300];
  snprintf(below, sizeof below, "%s/study.db", path);
  sample_bad(store_open_write(below, &sample.study, 4, sample_point, &sample, &store, &e), ERR_INPUT, &e, "is not a folder");
  sample_remove(path);
}

/* Runs `body` as a user without rights (as root: nobody), since root may write everywhere. */
static void as_nobody(void (*body)(const char *path), const char *path) {
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    if (getuid() == 0 && (setgid(65534) || setuid(65534))) _exit(3);
    body(path);
    _exit(0);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

static void expect(int code, struct err *e, const char *words) {
  if (code != ERR_SYSTEM || !strstr(e->text, words)) {
    fprintf(stderr, "expected '%s' in: %s\n", words, e->text ? e->text : "(no error)");
    _exit(1);
  }
}

static void write_denied(const char *path) {
  struct sample sample = sample_new();
  struct store *store = NULL;
  struct err e = {0};
  expect(store_open_write(path, &sample.study, 4, sample_point, &sample, &store, &e), &e, "no permission");
}

static void read_denied(const char *path) {
  struct store *store = NULL;
  struct err e = {0};
  expect(store_open_read(path, &store, &e), &e, "cannot be read: no permission");
}

static void read_works(const char *path) {
  struct err e = {0};
  struct store *store = NULL;
  struct store_row row;
  bool found = false;
  if (store_open_read(path, &store, &e) || store_read_metric(store, 3, 0, &row, &found, &e) || !found) {
    fputs(e.text ? e.text : "not found\n", stderr);
    _exit(1);
  }
  store_close(store);
}

static void permissions(void **state) {
  (void)state;
  struct sample sample = sample_new();
  char folder[256];
  const char *path = sample_path("study.db");
  snprintf(folder, sizeof folder, "%s", path);
  *strrchr(folder, '/') = '\0';
  assert_int_equal(chmod(folder, 0555), 0);
  as_nobody(write_denied, path); /* a new file in a folder that is read-only */
  assert_false(sample_exists(path, ""));
  assert_int_equal(chmod(folder, 0755), 0);
  sample_make(&sample, path, 1);
  assert_int_equal(chmod(folder, 0555), 0);
  assert_int_equal(chmod(path, 0444), 0);
  as_nobody(write_denied, path);
  as_nobody(read_works, path); /* a finished study in a folder where SQLite can create nothing */
  assert_false(sample_exists(path, "-shm"));
  assert_int_equal(chmod(path, 0000), 0);
  as_nobody(read_denied, path);
  assert_int_equal(chmod(folder, 0755), 0);
  sample_remove(path);
}

/* Names that mean something to SQLite or to a shell are just names. */
static void odd_names(void **state) {
  (void)state;
  struct sample sample = sample_new();
  static const char *const names[] = {":memory:", "file:x?mode=memory", "it's 100% \"mine\" #1?.db"};
  char here[512];
  assert_non_null(getcwd(here, sizeof here));
  const char *path = sample_path("x");
  char folder[256];
  snprintf(folder, sizeof folder, "%s", path);
  *strrchr(folder, '/') = '\0';
  assert_int_equal(chdir(folder), 0);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    sample_make(&sample, names[i], 1);
    assert_true(sample_exists(names[i], ""));
    read_works(names[i]);
    chmod(names[i], 0444);
    chmod(folder, 0555);
    as_nobody(read_works, names[i]);
    chmod(folder, 0755);
  }
  assert_int_equal(chdir(here), 0);
  sample_remove(path);
}

static void damaged(void **state) {
  (void)state;
  struct sample sample = sample_new();
  struct store *store = NULL;
  struct err e = {0};
  const char *path = sample_path("study.db");
  sample_make(&sample, path, 1);
  FILE *file = fopen(path, "r+");
  fseek(file, 4096, SEEK_SET);
  for (int i = 0; i < 200000; i++) fputc('x', file);
  fclose(file);
  sample_bad(store_open_read(path, &store, &e), ERR_SYSTEM, &e, "damaged");
  sample_bad(store_open_write(path, &sample.study, 4, sample_point, &sample, &store, &e), ERR_SYSTEM, &e, "damaged");
  sample_remove(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_study),
      cmocka_unit_test(other_version),
      cmocka_unit_test(not_a_file),
      cmocka_unit_test(permissions),
      cmocka_unit_test(odd_names),
      cmocka_unit_test(damaged),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
