/* SPDX-License-Identifier: GPL-3.0-or-later */
/* store_internal: what the store*.c files share; nobody else includes it.
 *
 * Order:   store_file (paths, locks, SQLite's errors as sentences) <- store_study (the study row and its comparison)
 *          <- store_read, store_extend <- store (writing).
 * Writing: one process. The lock is a POSIX record lock on a byte far beyond SQLite's own lock bytes: it ends with the
 *          process, forked workers do not inherit it, and viewers do not see it.
 */
#ifndef PQNETSIM_STORE_INTERNAL_H
#define PQNETSIM_STORE_INTERNAL_H

#include "output/schema.h"
#include "output/store.h"
#include <time.h>

struct sqlite3;
struct sqlite3_stmt;

enum store_statement {
  STATEMENT_METRIC,
  STATEMENT_HIST,
  STATEMENT_DONE,
  STATEMENT_STORED,
  STATEMENT_FAILURE,
  STATEMENT_CLEAR_FAILURES,
  STATEMENT_NOTE,
  STATEMENT_READ_POINT,
  STATEMENT_READ_METRIC,
  STATEMENT_READ_HIST,
  STATEMENT_COUNT
};

/* Progress of a point. */
struct store_progress {
  int64_t replications;
  bool failed; /* has rows in failure */
};

struct store {
  struct sqlite3 *db;
  char *path;               /* as the user named it, for messages */
  char *file;               /* what is opened: the same, or the temporary name of a study that is being created */
  int lock_fd;              /* -1 for a reader and for a study that is being created */
  struct store_study study; /* owned copy */
  int64_t point_count;
  struct store_progress *progress; /* per point; writers only */
  struct sqlite3_stmt *statements[STATEMENT_COUNT];
  struct store_cell *cells;
  bool in_batch, broken;
  bool journalled; /* something committed may be in the -wal file alone */
  int64_t batch_rows, points_committed, points_in_batch;
  struct timespec batch_began;
};

/* --- store_file.c --- */

struct store *store_new(const char *path, const char *file);

/* SQLite's answer as a sentence about this file; `doing` completes "cannot ...". Returns the code recorded. */
int store_fail(const struct store *store, int rc, const char *doing, struct err *e);
/* Everything is committed, but could not be moved from the -wal file into the study's own. */
int store_fail_gathering(const struct store *store, int rc, struct err *e);
/* How long locks are waited for: 30 s, or PQNETSIM_STORE_WAIT_MS from the environment. */
int store_wait_ms(void);
/* *exists tells whether `path` is a study of this program. Anything else there, or a folder that cannot be written when
 * `writing`, is an error. Looks at the file's first bytes only, so that a foreign database is not even opened. */
int store_check_path(const char *path, bool writing, bool *exists, struct err *e) MUST_CHECK;
int store_lock(struct store *store, struct err *e) MUST_CHECK;
int store_connect(struct store *store, bool create, struct err *e) MUST_CHECK;
int store_connect_reader(struct store *store, struct err *e) MUST_CHECK;
int store_exec(struct store *store, const char *sql, const char *doing, struct err *e) MUST_CHECK;
int store_prepare(struct store *store, const char *sql, struct sqlite3_stmt **out, struct err *e) MUST_CHECK;
/* Runs a bound statement that returns no rows, and resets it. */
int store_step(struct store *store, struct sqlite3_stmt *statement, const char *doing, struct err *e) MUST_CHECK;
void store_bind_text(struct sqlite3_stmt *statement, int parameter, const char *text);
void store_bind_real(struct sqlite3_stmt *statement, int parameter, double value); /* NAN: NULL */

/* --- store_study.c --- */
void store_study_copy(struct store_study *to, const struct store_study *from);
void store_study_free(struct store_study *study);
int store_study_load(struct store *store, struct err *e) MUST_CHECK;
/* What differs in the resolved parameters, as a sentence with a blank before it; "" when nothing does. Keys that are axes of
 * either study are left out: their base values reach no point. */
void store_describe_parameters(const struct store_study *have, const struct store_study *asked, char *out, size_t size);
/* Writes study, axis and metric_def rows, replacing those there. */
int store_study_save(struct store *store, const struct store_study *study, int64_t point_count, struct err *e) MUST_CHECK;
/* One line in e for each thing in which `asked` cannot be a continuation of the stored study. */
int store_study_compare(const struct store *store, const struct store_study *asked, struct err *e) MUST_CHECK;
bool store_study_same_axes(const struct store_study *a, const struct store_study *b);

/* --- store_extend.c --- */
struct store_source {
  int64_t count;
  void (*point)(void *arg, int64_t id, struct store_point *out);
  void *arg;
};
/* Inserts every point with the progress given (NULL: none). The point table is empty. */
int store_insert_points(
    struct store *store, const struct store_study *study, const struct store_source *source, const struct store_progress *progress, struct err *e) MUST_CHECK;
/* Brings an existing study to the points, axes and replications asked for; loads store->progress. One transaction. */
int store_reconcile(struct store *store, const struct store_study *asked, const struct store_source *source, struct err *e) MUST_CHECK;

/* --- store_read.c --- */
/* Tells what a hand with a database editor breaks first; for readers and writers, before anything relies on it. */
int store_check_whole(struct store *store, struct err *e) MUST_CHECK;
/* Merges what is stored of one metric into `set` at `index`. *found false: nothing stored. */
int store_merge_stored(struct store *store, int64_t point, int metric, struct metric_set *set, int index, bool *found, struct err *e) MUST_CHECK;
int store_statement_get(struct store *store, enum store_statement which, struct sqlite3_stmt **out, struct err *e) MUST_CHECK;

#endif
