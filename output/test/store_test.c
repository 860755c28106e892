/* SPDX-License-Identifier: GPL-3.0-or-later */
// objects: output/store.o output/store_file.o output/store_study.o output/store_extend.o output/store_read.o output/schema.o output/stats.o
// objects: output/table_export.o output/table_where.o output/metric_json.o output/json.o sim/core/err.o sim/core/units.o sim/core/metric.o
// libs: -lsqlite3 -lgsl -lgslcblas -lm
#include "output/test/sample.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

static void round_trip(void **state) {
  (void)state;
  struct sample sample = sample_new();
  const char *path = sample_path("study.db");
  sample_make(&sample, path, 1);
  assert_false(sample_exists(path, "-wal"));
  assert_false(sample_exists(path, "-shm"));
  struct store *store = sample_read(path);
  assert_int_equal(store_point_count(store), 4);
  struct store_row row;
  bool found;
  struct err e = {0};
  /* point 3: mlkem768, 10 ms: 20 ms + 0.2 ms + 0, 1, 2, 3 us: mean 20.2015 ms, sd sqrt(5/3) us, median by nearest rank the second */
  sample_good(store_read_metric(store, 3, 0, &row, &found, &e), &e);
  assert_true(found);
  assert_int_equal(row.n, 4);
  assert_int_equal(row.replications, 4);
  assert_float_equal(row.mean, 20.2015, 1e-9);
  assert_float_equal(row.sd, 0.00129099445, 1e-11);
  assert_float_equal(row.p50, 20.201, 1e-9);
  assert_float_equal(row.max, 20.203, 1e-9);
  /* t(0.975, 3) = 3.18244631 (tables), times sd / sqrt(4) */
  assert_float_equal(row.ci95, 3.18244631 * 0.00129099445 / 2, 1e-9);
  assert_true(row.has_parts);
  assert_float_equal(row.parts[PART_KEX], 0.2015, 1e-9);
  assert_float_equal(row.parts[PART_PROPAGATION], 20, 1e-9);
  sample_good(store_read_metric(store, 3, 1, &row, &found, &e), &e);
  assert_float_equal(row.mean, 1100, 0);
  assert_false(row.has_parts);
  store_close(store);
  assert_false(sample_exists(path, "-wal"));
  assert_false(sample_exists(path, "-shm"));
  sample_remove(path);
}

static void any_order_same_export(void **state) {
  (void)state;
  struct sample sample = sample_new();
  sample.delay_count = 3;
  sample.kex_count = 3;
  char *exports[2];
  for (int i = 0; i < 2; i++) {
    const char *path = sample_path("study.db");
    sample_make(&sample, path, i ? 7 : 1);
    exports[i] = sample_export(path);
    sample_remove(path);
  }
  assert_string_equal(exports[0], exports[1]);
  free(exports[0]);
  free(exports[1]);
}

/* 4 replications at once, or 1, then 2, then 4: the first extension merges single values, the second distributions. */
static void replications_extend(void **state) {
  (void)state;
  struct sample sample = sample_new();
  const char *path = sample_path("study.db");
  sample_make(&sample, path, 1);
  char *whole = sample_export(path);
  sample_remove(path);
  path = sample_path("study.db");
  static const int steps[] = {1, 2, 4};
  for (int i = 0; i < 3; i++) {
    sample.study.replications = steps[i];
    sample_make(&sample, path, 1);
  }
  char *grown = sample_export(path);
  assert_string_equal(whole, grown);
  struct store *store = NULL;
  struct err e = {0};
  sample.study.replications = 3;
  sample_bad(store_open_write(path, &sample.study, 4, sample_point, &sample, &store, &e), ERR_INPUT, &e, "4 replications a point, now only for 3");
  sample_remove(path);
  free(whole);
  free(grown);
}

/* One success among two failures, and a point where all fail, then more of both. */
static void failed_samples_merge(void **state) {
  (void)state;
  struct sample sample = sample_new();
  sample.kex_count = 1;
  sample.study.replications = 6;
  char *exports[2];
  for (int split = 0; split < 2; split++) {
    const char *path = sample_path("study.db");
    struct store *store = sample_open(&sample, path);
    struct err e = {0};
    for (int64_t id = 0; id < 2; id++) {
      struct metric_set *set = metric_set_new(sample_metrics, SAMPLE_METRICS);
      for (int r = 0; r < 6; r++) {
        int64_t parts[PART_COUNT] = {[PART_KEY_WAIT] = 7 + r};
        if (id == 0 && (r == 1 || r == 4))
          metric_sample(set, 0, 7 + r, parts);
        else
          metric_fail(set, 0);
        metric_end_replication(set);
        if (!split || (r != 2 && r != 5)) continue;
        sample_good(store_add(store, id, 3, set, sample_index, &e), &e);
        metric_set_free(set);
        set = metric_set_new(sample_metrics, SAMPLE_METRICS);
      }
      if (!split) sample_good(store_add(store, id, 6, set, sample_index, &e), &e);
      metric_set_free(set);
      assert_int_equal(store_replications_done(store, id), 6);
    }
    store_close(store);
    exports[split] = sample_export(path);
    store = sample_read(path);
    struct store_row row;
    bool found;
    sample_good(store_read_metric(store, 1, 0, &row, &found, &e), &e);
    assert_true(found && row.n == 0 && row.failed == 6 && isnan(row.mean) && isnan(row.p50));
    sample_good(store_read_metric(store, 0, 0, &row, &found, &e), &e);
    assert_true(found && row.n == 2 && row.failed == 4 && row.replications == 2);
    assert_float_equal(row.mean, 9.5e-6, 1e-15); /* (8 + 11) / 2 ns */
    sample_good(store_read_metric(store, 0, 1, &row, &found, &e), &e);
    assert_false(found); /* never sampled: no row */
    store_close(store);
    sample_remove(path);
  }
  assert_string_equal(exports[0], exports[1]);
  free(exports[0]);
  free(exports[1]);
}

static void take_text(void *arg, int64_t point, int64_t replication, const char *text) {
  char *to = arg;
  sprintf(to + strlen(to), "%lld/%lld %s;", (long long)point, (long long)replication, text);
}

static void take_note(void *arg, int64_t point, const char *name, const char *text) {
  char *to = arg;
  sprintf(to + strlen(to), "%lld %s=%s;", (long long)point, name, text);
}

static void failures_and_notes(void **state) {
  (void)state;
  struct sample sample = sample_new();
  const char *path = sample_path("study.db");
  struct store *store = sample_open(&sample, path);
  struct err e = {0};
  char text[256] = "";
  sample_good(store_add_failure(store, 2, 0, "killed by signal 11", &e), &e);
  sample_good(store_add_failure(store, 1, 0, "out of memory", &e), &e);
  sample_good(store_add_note(store, 1, "bottleneck", "AMF", &e), &e);
  sample_good(store_add_note(store, 0, "bottleneck", "it's \"UPF\"", &e), &e);
  store_close(store);
  store = sample_read(path);
  sample_good(store_each_failure(store, take_text, text, &e), &e);
  assert_string_equal(text, "1/0 out of memory;2/0 killed by signal 11;");
  text[0] = '\0';
  sample_good(store_each_note(store, take_note, text, &e), &e);
  assert_string_equal(text, "0 bottleneck=it's \"UPF\";1 bottleneck=AMF;");
  store_close(store);
  /* a failed point is still to be run, and its failure is gone once it has run */
  store = sample_open(&sample, path);
  assert_int_equal(store_replications_done(store, 1), 0);
  sample_run(&sample, store, 1);
  store_close(store);
  store = sample_read(path);
  text[0] = '\0';
  sample_good(store_each_failure(store, take_text, text, &e), &e);
  assert_string_equal(text, "2/0 killed by signal 11;");
  store_close(store);
  sample_remove(path);
}

/* A writer killed in the middle: what was committed stays, a second call completes, the export is that of a quiet run. */
static void kill_and_complete(void **state) {
  (void)state;
  struct sample sample = sample_new();
  sample.kex_count = 4;
  sample.delay_count = 8;
  for (int i = 0; i < 8; i++) sample.delays[i] = i + 1;
  const char *path = sample_path("study.db");
  sample_make(&sample, path, 1);
  char *whole = sample_export(path);
  sample_remove(path);
  path = sample_path("study.db");
  int fds[2];
  assert_int_equal(pipe(fds), 0);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    struct store *store = sample_open(&sample, path);
    struct err e = {0};
    for (int64_t id = 0; id < 20; id++) {
      sample_run(&sample, store, id);
      if (id == 11 && store_flush(store, &e) != 0) _exit(1);
    }
    /* points 12 to 19 are in an open transaction now */
    if (write(fds[1], "x", 1) != 1) _exit(1);
    for (;;) pause();
  }
  char ready;
  assert_int_equal(read(fds[0], &ready, 1), 1);
  assert_int_equal(kill(child, SIGKILL), 0);
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFSIGNALED(status));
  assert_true(sample_exists(path, "-wal"));
  struct store *store = sample_open(&sample, path);
  int done = 0;
  for (int64_t id = 0; id < 32; id++) done += store_replications_done(store, id) == 4;
  assert_true(done >= 12 && done < 32);
  for (int64_t id = 0; id < 12; id++) assert_int_equal(store_replications_done(store, id), 4);
  for (int64_t id = 0; id < 32; id++) sample_run(&sample, store, id);
  store_close(store);
  char *completed = sample_export(path);
  assert_string_equal(whole, completed);
  assert_false(sample_exists(path, "-wal"));
  sample_remove(path);
  free(whole);
  free(completed);
  close(fds[0]);
  close(fds[1]);
}

/* Fills until the disk is full, then with room again to the end. */
static void fill_disk(struct sample *sample, const char *path, void (*more_room)(const char *path)) {
  struct err e = {0};
  struct store *store = sample_open(sample, path);
  int64_t count = sample_count(sample), reached = 0;
  int code = 0;
  for (; reached < count && !code; reached++) {
    struct metric_set *set = sample_results(sample, reached, 0, 4);
    code = store_add(store, reached, 4, set, sample_index, &e);
    if (!code) code = store_flush(store, &e);
    metric_set_free(set);
  }
  assert_true(reached > 10 && reached < count);
  assert_non_null(strstr(e.text, "points are finished and safe in the file; the rest needs roughly"));
  sample_bad(code, ERR_SYSTEM, &e, "the disk is full");
  store_close(store);
  more_room(path);
  store = sample_open(sample, path);
  int64_t done = 0;
  for (int64_t id = 0; id < count; id++) done += store_replications_done(store, id) == 4;
  assert_int_equal(done, reached - 1); /* all but the one that was refused */
  for (int64_t id = 0; id < count; id++) sample_run(sample, store, id);
  store_close(store);
}

static void larger_tmpfs(const char *path) {
  char folder[256];
  snprintf(folder, sizeof folder, "%s", path);
  *strrchr(folder, '/') = '\0';
  assert_int_equal(mount("tmpfs", folder, "tmpfs", MS_REMOUNT, "size=16m"), 0);
}

static void larger_limit(const char *path) {
  (void)path;
  struct rlimit limit;
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = limit.rlim_max;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static struct sample many_points(void) {
  struct sample sample = sample_new();
  sample.kex_count = 4;
  sample.delay_count = 500;
  return sample;
}

static void many_point(void *arg, int64_t id, struct store_point *out) {
  struct sample *sample = arg;
  sample_point(sample, id % 8, out);
  sample->cells[1].number = (double)id;
  snprintf(sample->key, sizeof sample->key, "%032lld", (long long)id);
  out->id = id;
}

/* A study of 2000 points does not fit 100 kB: said before anything runs, and nothing is left. */
static void full_at_creation(const char *path) {
  struct sample sample = many_points();
  struct store *store = NULL;
  struct err e = {0};
  int code = store_open_write(path, &sample.study, 2000, many_point, &sample, &store, &e);
  if (!strstr(e.text, "The whole study needs roughly")) fail_msg("%s", e.text);
  sample_bad(code, ERR_SYSTEM, &e, "the disk is full");
  assert_false(sample_exists(path, ""));
  char leftover[64];
  snprintf(leftover, sizeof leftover, ".creating-%ld", (long)getpid());
  assert_false(sample_exists(path, leftover));
}

static void disk_full(void **state) {
  (void)state;
  struct sample sample = sample_new();
  sample.kex_count = 4;
  sample.delay_count = 8;
  for (int i = 0; i < 8; i++) sample.delays[i] = i + 1;
  const char *path = sample_path("study.db");
  sample_make(&sample, path, 1);
  char *whole = sample_export(path);
  sample_remove(path);
  path = sample_path("study.db");
  char folder[256];
  snprintf(folder, sizeof folder, "%s", path);
  *strrchr(folder, '/') = '\0';
  if (mount("tmpfs", folder, "tmpfs", 0, "size=100k") == 0) {
    full_at_creation(path);
    assert_int_equal(mount("tmpfs", folder, "tmpfs", MS_REMOUNT, "size=400k"), 0);
    fill_disk(&sample, path, larger_tmpfs);
    char *completed = sample_export(path);
    assert_string_equal(whole, completed);
    free(completed);
    assert_int_equal(umount2(folder, MNT_DETACH), 0);
  } else {
    print_message("no mounting here (%s)\n", strerror(errno));
  }
  /* the same through a limit on the size of a file, which needs no rights */
  struct rlimit limit;
  signal(SIGXFSZ, SIG_IGN);
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = 60000;
  setrlimit(RLIMIT_FSIZE, &limit);
  full_at_creation(path);
  limit.rlim_cur = 300000;
  setrlimit(RLIMIT_FSIZE, &limit);
  fill_disk(&sample, path, larger_limit);
  char *completed = sample_export(path);
  assert_string_equal(whole, completed);
  free(completed);
  free(whole);
  sample_remove(path);
}

/* One replication of 4000 values from `first` on, enough to make the file grow. */
static int add_long(struct store *store, int64_t point, int64_t first, struct err *e) {
  struct metric_set *set = metric_set_new(sample_metrics, SAMPLE_METRICS);
  for (int i = 0; i < 4000; i++) metric_sample(set, 1, first + 7919 * i, NULL);
  metric_end_replication(set);
  int code = store_add(store, point, 1, set, sample_index, e);
  metric_set_free(set);
  return code;
}

/* All is committed, but the file may not grow: said while somebody listens, and made good by opening it again. */
static void full_at_the_end(void **state) {
  (void)state;
  struct sample sample = sample_new();
  const char *path = sample_path("study.db");
  struct err e = {0};
  struct stat info;
  struct rlimit limit;
  sample.study.replications = 1;
  sample.delay_count = 8;
  for (int i = 0; i < 8; i++) sample.delays[i] = i + 1;
  struct store *store = sample_open(&sample, path);
  for (int64_t id = 0; id < 15; id++) sample_good(add_long(store, id, 1000, &e), &e);
  store_close(store);
  store = sample_open(&sample, path);
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(stat(path, &info), 0);
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = (rlim_t)info.st_size;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
  sample_good(add_long(store, 15, 1000, &e), &e);
  int code = store_flush(store, &e);
  assert_int_not_equal(code, 0);
  assert_non_null(strstr(e.text, "study.db-wal beside it: the disk is full. Keep the two files together"));
  sample_bad(code, ERR_SYSTEM, &e, "the study is finished and safe");
  store_close(store);
  assert_true(sample_exists(path, "-wal"));
  larger_limit(path);
  store = sample_open(&sample, path);
  assert_int_equal(store_replications_done(store, 15), 1);
  store_close(store);
  assert_false(sample_exists(path, "-wal"));
  sample_remove(path);
}

/* A reader on a full disk reads: there is nothing to write to. */
static void read_full(void **state) {
  (void)state;
  struct sample sample = sample_new();
  const char *path = sample_path("study.db");
  char folder[256], filler[300];
  struct err e = {0};
  snprintf(folder, sizeof folder, "%s", path);
  *strrchr(folder, '/') = '\0';
  snprintf(filler, sizeof filler, "%s/filler", folder);
  if (mount("tmpfs", folder, "tmpfs", 0, "size=400k") != 0) {
    print_message("no mounting here (%s)\n", strerror(errno));
    sample_remove(path);
    return;
  }
  sample_make(&sample, path, 1);
  char *whole = sample_export(path);
  FILE *to = fopen(filler, "w");
  assert_non_null(to);
  while (fputc('x', to) != EOF) continue;
  fclose(to);
  char *full = sample_export(path);
  assert_string_equal(whole, full);
  free(whole);
  free(full);
  /* with rows in a -wal there is no way around it: said in a reader's words */
  char wal[300];
  snprintf(wal, sizeof wal, "%s-wal", path);
  assert_int_equal(truncate(filler, 0), 0);
  sample_write_file(wal, "not empty", 9);
  to = fopen(filler, "w");
  while (fputc('x', to) != EOF) continue;
  fclose(to);
  struct store *store = NULL;
  int code = store_open_read(path, &store, &e);
  assert_int_not_equal(code, 0);
  assert_null(strstr(e.text, "nothing was left behind"));
  sample_bad(code, ERR_SYSTEM, &e, "the disk is full: cannot open it. Reading takes a little room");
  assert_int_equal(umount2(folder, MNT_DETACH), 0);
  sample_remove(path);
}

/* Runs a child that does something with the study, says so and waits; returns its id. */
static pid_t holder(void (*hold)(struct sample *sample, const char *path), struct sample *sample, const char *path) {
  int fds[2];
  assert_int_equal(pipe(fds), 0);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    hold(sample, path);
    if (write(fds[1], "x", 1) != 1) _exit(1);
    for (;;) pause();
  }
  char ready;
  assert_int_equal(read(fds[0], &ready, 1), 1);
  close(fds[0]);
  close(fds[1]);
  return child;
}

static void end_holder(pid_t child) {
  kill(child, SIGKILL);
  assert_int_equal(waitpid(child, NULL, 0), child);
}

static void write_and_wait(struct sample *sample, const char *path) {
  struct store *store = sample_open(sample, path);
  sample_run(sample, store, 0);
  struct err e = {0};
  if (store_flush(store, &e)) _exit(1);
}

static void two_writers(void **state) {
  (void)state;
  struct sample sample = sample_new();
  const char *path = sample_path("study.db");
  pid_t child = holder(write_and_wait, &sample, path);
  struct store *store = NULL;
  struct err e = {0};
  setenv("PQNETSIM_STORE_WAIT_MS", "150", 1);
  char words[64];
  snprintf(words, sizeof words, "locked: process %ld is writing", (long)child);
  int code = store_open_write(path, &sample.study, 4, sample_point, &sample, &store, &e);
  assert_non_null(strstr(e.text, path));
  sample_bad(code, ERR_INPUT, &e, words);
  /* readers are not in the way and see what was committed */
  store = sample_read(path);
  struct store_row row;
  bool found;
  sample_good(store_read_metric(store, 0, 0, &row, &found, &e), &e);
  assert_true(found);
  store_close(store);
  end_holder(child);
  /* the lock ends with its process */
  sample_make(&sample, path, 1);
  unsetenv("PQNETSIM_STORE_WAIT_MS");
  sample_remove(path);
}

static void view_and_wait(struct sample *sample, const char *path) {
  (void)sample;
  struct store *store = sample_read(path);
  struct store_row row;
  bool found;
  struct err e = {0};
  if (store_read_metric(store, 0, 0, &row, &found, &e) || !found) _exit(1);
}

/* A viewer that holds a read transaction stops neither writing nor closing, nor an extension that rebuilds tables. */
static void viewer_open(void **state) {
  (void)state;
  struct sample sample = sample_new();
  const char *path = sample_path("study.db");
  sample_make(&sample, path, 1);
  setenv("PQNETSIM_STORE_WAIT_MS", "150", 1);
  pid_t child = holder(view_and_wait, &sample, path);
  sample.delay_count = 3;
  sample.study.replications = 5;
  sample_make(&sample, path, 1);
  end_holder(child);
  char *extended = sample_export(path);
  sample_remove(path);
  path = sample_path("study.db");
  sample_make(&sample, path, 1);
  char *fresh = sample_export(path);
  assert_string_equal(extended, fresh);
  unsetenv("PQNETSIM_STORE_WAIT_MS");
  sample_remove(path);
  free(extended);
  free(fresh);
}

static void hold_exclusively(struct sample *sample, const char *path) {
  (void)sample;
  sqlite3 *db;
  if (sqlite3_open(path, &db) || sqlite3_exec(db, "BEGIN IMMEDIATE; UPDATE study SET title = 'mine'", NULL, NULL, NULL)) _exit(1);
}

static void foreign_lock(void **state) {
  (void)state;
  struct sample sample = sample_new();
  const char *path = sample_path("study.db");
  sample_make(&sample, path, 1);
  setenv("PQNETSIM_STORE_WAIT_MS", "150", 1);
  pid_t child = holder(hold_exclusively, &sample, path);
  struct store *store = NULL;
  struct err e = {0};
  sample_bad(store_open_write(path, &sample.study, 4, sample_point, &sample, &store, &e), ERR_INPUT, &e, "locked by another program for 0.15 s");
  end_holder(child);
  sample_make(&sample, path, 1);
  unsetenv("PQNETSIM_STORE_WAIT_MS");
  sample_remove(path);
}

static void estimate(void **state) {
  (void)state;
  struct sample sample = sample_new();
  /* by the constants in store.c: 64 KiB and per point 45 + 2 axes * 9 + 2 metrics * (230 + 600) */
  assert_int_equal(store_estimate_bytes(&sample.study, 1000), 65536 + 1000 * (45 + 18 + 2 * 830));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(round_trip),
      cmocka_unit_test(any_order_same_export),
      cmocka_unit_test(replications_extend),
      cmocka_unit_test(failed_samples_merge),
      cmocka_unit_test(failures_and_notes),
      cmocka_unit_test(kill_and_complete),
      cmocka_unit_test(disk_full),
      cmocka_unit_test(full_at_the_end),
      cmocka_unit_test(read_full),
      cmocka_unit_test(two_writers),
      cmocka_unit_test(viewer_open),
      cmocka_unit_test(foreign_lock),
      cmocka_unit_test(estimate),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
