/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/store.h"

#include "output/stats.h"
#include "output/store_internal.h"

#include <assert.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Row-by-row commits measured 70 times slower than 10,000 rows a transaction; a quarter of a second is what a kill may cost
 * when points are slow. */
enum { BATCH_ROWS = 10000, BATCH_MS = 250 };

/* Measured with output/test/store_bench.c: bytes per point, per metric row with breakdown, and per stored distribution of 200 values. */
enum { POINT_BYTES = 45, AXIS_BYTES = 9, METRIC_BYTES_ROW = 230, HIST_BYTES = 600, FIXED_BYTES = 65536 };

int64_t store_estimate_bytes(const struct store_study *study, int64_t points) {
  int64_t metric = METRIC_BYTES_ROW + (study->replications > 1 ? HIST_BYTES : 0);
  return FIXED_BYTES + points * (POINT_BYTES + AXIS_BYTES * study->axis_count + metric * study->metric_count);
}

/* --- opening --- */

static int check_axes(const struct store_study *study, struct err *e) {
  int code = 0;
  for (int i = 0; i < study->axis_count; i++) {
    const char *reserved = schema_reserved(study->axes[i].name);
    if (reserved) code = err_add(e, ERR_INPUT, "an axis may not be called %s: the study file has a column of that name; choose another", reserved);
  }
  return code;
}

static int fill_new(struct store *store, const struct store_study *study, const struct store_source *source, struct err *e) {
  char pragmas[128];
  snprintf(pragmas, sizeof pragmas, "PRAGMA application_id = %d; PRAGMA user_version = %d;", SCHEMA_APPLICATION_ID, SCHEMA_VERSION);
  /* nobody else knows this file yet: a crash leaves it behind under its temporary name, so no journal on disk is needed */
  int code = store_exec(store, "PRAGMA journal_mode = MEMORY; BEGIN IMMEDIATE", "create it", e);
  char *sql[] = {strdup(pragmas), schema_create_fixed(), schema_create_point(study), schema_create_views(study)};
  for (size_t i = 0; i < sizeof sql / sizeof sql[0]; i++) {
    if (!code) code = store_exec(store, sql[i], "create it", e);
    free(sql[i]);
  }
  if (!code)
    code =
        store_exec(store, "INSERT INTO meta VALUES('format', 'pqnetsim study'), ('created', strftime('%Y-%m-%dT%H:%M:%SZ')), ('opened', '')", "create it", e);
  if (!code) code = store_study_save(store, study, source->count, e);
  if (!code) code = store_insert_points(store, study, source, NULL, e);
  if (!code) code = store_exec(store, "COMMIT", "create it", e);
  if (!code) code = store_exec(store, "PRAGMA journal_mode = WAL", "create it", e);
  return code;
}

/* Gives the finished file its name, without ever replacing one that is there. -1: somebody else was faster. */
static int name_new(const char *temporary, const char *path, struct err *e) {
  if (link(temporary, path) == 0) {
    unlink(temporary);
    return 0;
  }
  if (errno == EEXIST) return -1;
  /* no hard links here (FAT, some network folders) */
  if (access(path, F_OK) != 0 && rename(temporary, path) == 0) return 0;
  return err_add(e, ERR_SYSTEM, "%s: cannot be created: %s", path, strerror(errno));
}

static int create(const char *path, const struct store_study *study, const struct store_source *source, struct err *e) {
  char *temporary = NULL;
  int length = asprintf(&temporary, "%s.creating-%ld", path, (long)getpid());
  assert(length > 0);
  unlink(temporary);
  struct store *store = store_new(path, temporary);
  store->point_count = source->count;
  store_study_copy(&store->study, study);
  int code = store_connect(store, true, e);
  if (!code) code = fill_new(store, study, source, e);
  store_close(store);
  if (!code) code = name_new(temporary, path, e);
  if (code) unlink(temporary);
  free(temporary);
  return code > 0 ? code : 0;
}

static int open_existing(struct store *store, const struct store_study *study, const struct store_source *source, struct err *e) {
  int code = store_lock(store, e);
  if (!code) code = store_connect(store, false, e);
  /* a commit made with synchronous = NORMAL survives the end of the process; after a power cut the file is whole but may lack the last ones */
  if (!code)
    code = store_exec(
        store, "PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 4000; PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY", "open it", e);
  /* also shows, before anything runs, whether this file can be written to at all */
  if (!code) code = store_exec(store, "BEGIN IMMEDIATE; UPDATE meta SET value = strftime('%Y-%m-%dT%H:%M:%SZ') WHERE name = 'opened'", "write to it", e);
  if (!code) code = store_study_load(store, e);
  if (!code) code = store_exec(store, SCHEMA_STORED, "write to it", e);
  if (!code) code = store_check_whole(store, e);
  if (!code) code = store_reconcile(store, study, source, e);
  if (!code) code = store_exec(store, "COMMIT", "write to it", e);
  if (!code) code = store_study_load(store, e);
  if (code) store->broken = true; /* nothing to commit when it is closed */
  for (int64_t i = 0; !code && i < store->point_count; i++) store->points_committed += store->progress[i].replications >= store->study.replications;
  return code;
}

int store_open_write(const char *path, const struct store_study *study, int64_t point_count, void (*point)(void *arg, int64_t id, struct store_point *out),
    void *arg, struct store **out, struct err *e) {
  const struct store_source source = {point_count, point, arg};
  bool exists = false;
  int code = store_check_path(path, true, &exists, e);
  if (!code) code = check_axes(study, e);
  if (!code && !exists) code = create(path, study, &source, e);
  if (code) return code;
  struct store *store = store_new(path, path);
  code = open_existing(store, study, &source, e);
  if (code)
    store_close(store);
  else
    *out = store;
  return code;
}

void store_close(struct store *store) {
  if (!store) return;
  struct err ignored = {0};
  if (store->db && store->lock_fd >= 0 && !store->broken) {
    int code = store_flush(store, &ignored);
    if (!code) sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
  }
  err_free(&ignored);
  for (int i = 0; i < STATEMENT_COUNT; i++) sqlite3_finalize(store->statements[i]);
  sqlite3_close(store->db);
  /* after SQLite: closing any descriptor of a file drops all of the process's locks on it */
  if (store->lock_fd >= 0) close(store->lock_fd);
  store_study_free(&store->study);
  free(store->progress);
  free(store->cells);
  free(store->path);
  free(store->file);
  free(store);
}

/* --- writing --- */

int64_t store_replications_done(const struct store *store, int64_t point) {
  assert(store->progress && point >= 0 && point < store->point_count);
  return store->progress[point].replications;
}

/* SQLite rolls a transaction back on a full disk; what is in memory here is then ahead of the file. */
static int give_up(struct store *store, int code) {
  if (!sqlite3_get_autocommit(store->db)) sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
  store->broken = true;
  store->in_batch = false;
  return code;
}

static int64_t elapsed_ms(const struct timespec *since) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (now.tv_sec - since->tv_sec) * 1000 + (now.tv_nsec - since->tv_nsec) / 1000000;
}

static int begin_batch(struct store *store, struct err *e) {
  if (store->broken) return err_add(e, ERR_SYSTEM, "%s: nothing more can be stored after the error before", store->path);
  if (store->in_batch) return 0;
  int code = store_exec(store, "BEGIN IMMEDIATE", "write to it", e);
  if (code) return give_up(store, code);
  store->in_batch = true;
  store->batch_rows = 0;
  store->points_in_batch = 0;
  clock_gettime(CLOCK_MONOTONIC, &store->batch_began);
  return 0;
}

/* A finished study is moved into its one file while somebody still listens. Waits for nobody: readers only put it off to the close. */
static int gather(struct store *store, struct err *e) {
  if (!store->journalled || store->points_committed < store->point_count) return 0;
  store->journalled = false;
  int rc = sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
  return rc == SQLITE_OK || (rc & 0xff) == SQLITE_BUSY || (rc & 0xff) == SQLITE_LOCKED ? 0 : store_fail_gathering(store, rc, e);
}

int store_flush(struct store *store, struct err *e) {
  if (!store->in_batch) return 0;
  int code = store_exec(store, "COMMIT", "write to it", e);
  if (code) return give_up(store, code);
  store->in_batch = false;
  store->journalled = true;
  store->points_committed += store->points_in_batch;
  return gather(store, e);
}

static int end_row(struct store *store, int rows, struct err *e) {
  store->batch_rows += rows;
  return store->batch_rows >= BATCH_ROWS || elapsed_ms(&store->batch_began) >= BATCH_MS ? store_flush(store, e) : 0;
}

/* Each sum has up to twenty characters and a blank. */
enum { PART_SUMS_TEXT = 21 * PART_COUNT + 1 };

static void bind_sums(sqlite3_stmt *statement, const struct metric_sums *sums, char part_sums[PART_SUMS_TEXT]) {
  store_bind_text(statement, 1 + METRIC_SUM, sums->sum);
  store_bind_text(statement, 1 + METRIC_SUM_SQUARES, sums->sum_squares);
  store_bind_text(statement, 1 + METRIC_REP_SUM, sums->rep_sum);
  store_bind_text(statement, 1 + METRIC_REP_SUM_SQUARES, sums->rep_sum_squares);
  char *to = part_sums;
  for (int i = 0; i < PART_COUNT; i++) to += sprintf(to, "%s%lld", i ? " " : "", (long long)sums->parts[i]);
  store_bind_text(statement, 1 + METRIC_PART_SUMS, sums->has_parts ? part_sums : NULL);
}

static int write_row(struct store *store, int64_t point, int metric, const struct metric_set *set, int index, const struct store_row *row, struct err *e) {
  const struct metric_def *def = &store->study.metrics[metric];
  sqlite3_stmt *statement;
  int code = store_statement_get(store, STATEMENT_METRIC, &statement, e);
  if (code) return code;
  struct metric_sums sums;
  char part_sums[PART_SUMS_TEXT];
  metric_exact_sums(set, index, &sums);
  sqlite3_bind_int64(statement, 1 + METRIC_POINT, point);
  store_bind_text(statement, 1 + METRIC_NAME, def->name);
  store_bind_text(statement, 1 + METRIC_UNIT, metric_unit_name(def->unit));
  sqlite3_bind_int64(statement, 1 + METRIC_N, row->n);
  sqlite3_bind_int64(statement, 1 + METRIC_FAILED, row->failed);
  sqlite3_bind_int64(statement, 1 + METRIC_REPLICATIONS, row->replications);
  const double reals[] = {row->mean, row->sd, row->ci95, row->min, row->p5, row->p25, row->p50, row->p75, row->p95, row->p99, row->max};
  for (int i = 0; i < (int)(sizeof reals / sizeof reals[0]); i++) store_bind_real(statement, 1 + METRIC_MEAN + i, reals[i]);
  bind_sums(statement, &sums, part_sums);
  if (row->has_parts)
    sqlite3_bind_double(statement, 1 + METRIC_CRYPTO, row->crypto);
  else
    sqlite3_bind_null(statement, 1 + METRIC_CRYPTO);
  for (int i = 0; i < PART_COUNT; i++) {
    if (row->has_parts)
      sqlite3_bind_double(statement, 1 + METRIC_FIRST_PART + i, row->parts[i]);
    else
      sqlite3_bind_null(statement, 1 + METRIC_FIRST_PART + i);
  }
  return store_step(store, statement, "write results", e);
}

/* One value needs no distribution: its row says it all. */
static int write_hist(struct store *store, int64_t point, int metric, const struct metric_set *set, int index, struct err *e) {
  sqlite3_stmt *statement;
  int code = store_statement_get(store, STATEMENT_HIST, &statement, e);
  if (code) return code;
  size_t size;
  unsigned char *bytes = metric_bytes(set, index, &size);
  sqlite3_bind_int64(statement, 1, point);
  store_bind_text(statement, 2, store->study.metrics[metric].name);
  sqlite3_bind_blob64(statement, 3, bytes, size, SQLITE_STATIC);
  code = store_step(store, statement, "write results", e);
  sqlite3_clear_bindings(statement);
  free(bytes);
  return code;
}

/* Rows of one metric; a metric nobody sampled at this point (no key exchange, no IKE metrics) has none. */
static int write_metric(struct store *store, int64_t point, int metric, const struct metric_set *set, int index, int *rows, int *metric_rows, struct err *e) {
  struct store_row row;
  stats_row(set, index, store->study.metrics[metric].unit, &row);
  if (row.n == 0 && row.failed == 0) return 0;
  ++*rows;
  ++*metric_rows;
  int code = write_row(store, point, metric, set, index, &row, e);
  if (!code && row.n > 1) {
    ++*rows;
    code = write_hist(store, point, metric, set, index, e);
  }
  return code;
}

/* A set of the study's metrics that holds what is stored plus what is new. */
static int merge(struct store *store, int64_t point, const struct metric_set *metrics, const int *metric_index, struct metric_set *into, struct err *e) {
  int code = 0;
  for (int i = 0; i < store->study.metric_count && !code; i++) {
    size_t size;
    bool found;
    unsigned char *bytes = metric_bytes(metrics, metric_index[i], &size);
    code = store_merge_stored(store, point, i, into, i, &found, e);
    if (!code) code = metric_merge_bytes(into, i, bytes, size, e);
    free(bytes);
  }
  return code;
}

static int write_progress(struct store *store, int64_t point, int64_t replications, int64_t metric_rows, struct err *e) {
  struct store_progress *progress = &store->progress[point];
  sqlite3_stmt *statement;
  int code = store_statement_get(store, STATEMENT_DONE, &statement, e);
  if (code) return code;
  sqlite3_bind_int64(statement, 1, progress->replications + replications);
  sqlite3_bind_int64(statement, 2, point);
  code = store_step(store, statement, "write results", e);
  if (!code) code = store_statement_get(store, STATEMENT_STORED, &statement, e);
  if (code) return code;
  sqlite3_bind_int64(statement, 1, point);
  sqlite3_bind_int64(statement, 2, metric_rows);
  code = store_step(store, statement, "write results", e);
  if (!code && progress->failed) {
    code = store_statement_get(store, STATEMENT_CLEAR_FAILURES, &statement, e);
    if (code) return code;
    sqlite3_bind_int64(statement, 1, point);
    code = store_step(store, statement, "write results", e);
  }
  return code;
}

int store_add(struct store *store, int64_t point, int64_t replications, const struct metric_set *metrics, const int *metric_index, struct err *e) {
  assert(point >= 0 && point < store->point_count && replications > 0);
  int code = begin_batch(store, e), rows = 2, metric_rows = 0;
  if (code) return code;
  struct metric_set *merged = NULL;
  bool before = store->progress[point].replications > 0;
  if (before) {
    merged = metric_set_new(store->study.metrics, store->study.metric_count);
    code = merge(store, point, metrics, metric_index, merged, e);
  }
  for (int i = 0; i < store->study.metric_count && !code; i++)
    code = write_metric(store, point, i, before ? merged : metrics, before ? i : metric_index[i], &rows, &metric_rows, e);
  metric_set_free(merged);
  if (!code) code = write_progress(store, point, replications, metric_rows, e);
  if (code) return give_up(store, code);
  store->progress[point].replications += replications;
  store->progress[point].failed = false;
  store->points_in_batch += store->progress[point].replications >= store->study.replications;
  return end_row(store, rows, e);
}

int store_add_failure(struct store *store, int64_t point, int64_t replication, const char *reason, struct err *e) {
  assert(point >= 0 && point < store->point_count);
  int code = begin_batch(store, e);
  if (code) return code;
  sqlite3_stmt *statement;
  code = store_statement_get(store, STATEMENT_FAILURE, &statement, e);
  if (code) return give_up(store, code);
  sqlite3_bind_int64(statement, 1, point);
  sqlite3_bind_int64(statement, 2, replication);
  store_bind_text(statement, 3, reason);
  code = store_step(store, statement, "write a failure", e);
  if (code) return give_up(store, code);
  store->progress[point].failed = true;
  return end_row(store, 1, e);
}

int store_add_note(struct store *store, int64_t point, const char *name, const char *text, struct err *e) {
  assert(point >= 0 && point < store->point_count);
  int code = begin_batch(store, e);
  if (code) return code;
  sqlite3_stmt *statement;
  code = store_statement_get(store, STATEMENT_NOTE, &statement, e);
  if (code) return give_up(store, code);
  sqlite3_bind_int64(statement, 1, point);
  store_bind_text(statement, 2, name);
  store_bind_text(statement, 3, text);
  code = store_step(store, statement, "write a note", e);
  return code ? give_up(store, code) : end_row(store, 1, e);
}
