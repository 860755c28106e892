/* SPDX-License-Identifier: GPL-3.0-or-later */
/* store: a study, one SQLite file. The schema is documented in output/SCHEMA.md and is a contract.
 *
 * Purpose:    points, metrics, failures and notes in; rows out. Knows names, values and units, never a protocol.
 * Invariants: what was taken and committed survives kill -9 and a full disk; the file always opens. The same points and
 *             results give the same exported rows in whatever order they came. A file that is not a study of this
 *             program, or one of a newer version, is never written to.
 *             One writer per file (other processes wait, then are told); any number of readers, each of which sees the file
 *             as it was when opened. A process must not have the same file open twice while it writes to it.
 * Ownership:  store_open_write / store_open_read, store_close. Strings handed out live until the next call or close.
 * Errors:     ERR_INPUT: foreign file, other study (says what differs), locked for more than 30 s (named).
 *             ERR_SYSTEM: disk full, no permission, damaged file.
 */
#ifndef PQNETSIM_STORE_H
#define PQNETSIM_STORE_H

#include "sim/core/err.h"
#include "sim/core/metric.h"
#include "sim/core/units.h"

struct store;

/* A column per axis. Numbers are stored as numbers in `unit`; text axes as text. */
struct store_axis {
  const char *name; /* "path.delay" */
  bool is_text;
  const char *unit; /* "ms", "Mbit/s", "B", "%", "1", "" for text */
  bool logarithmic;
};

struct store_study {
  const char *scenario; /* domain name */
  const char *title;
  const char *file_text;  /* the YAML, byte for byte */
  const char *parameters; /* resolved base parameters, one "key\tvalue" line each */
  int64_t seed;
  const char *backend, *code_version, *compiler, *host, *cost_hash;
  int64_t replications;
  int axis_count;
  const struct store_axis *axes;
  int metric_count;
  const struct metric_def *metrics; /* stored metrics, in order */
};

struct store_cell {
  const char *text;
  double number;
}; /* one of them, by the axis' is_text */

struct store_point {
  int64_t id;                     /* index in the sweep */
  const char *key;                /* run key, 32 hex digits */
  const struct store_cell *cells; /* one per axis */
};

/* Creates the file, or opens it for resuming or extending (more points, more replications). `points` hands out every
 * point of the study in order of id. Other inputs: ERR_INPUT naming what differs. Nothing of earlier results is lost;
 * points the new study does not contain are an error, not a deletion. Checks that the folder is writable first. */
int store_open_write(const char *path, const struct store_study *study, int64_t point_count, void (*point)(void *arg, int64_t id, struct store_point *out),
    void *arg, struct store **out, struct err *e) MUST_CHECK;

/* Replications already stored of a point (0: none, or it failed and is to be run again). */
int64_t store_replications_done(const struct store *store, int64_t point);

/* Adds results of one point (and drops the point's failures: it is done now); when replications were stored before,
 * merges (exactly) with them. metrics is indexed by metric_index[] for the study's metrics.
 * Batches into transactions of about 10,000 rows or 250 ms, looked at when something is added: call store_flush while waiting for the next result (it costs nothing when
 * there is nothing to commit), or finished points stay uncommitted for as long as the next one takes. After an error the
 * store takes nothing more; what was committed is safe, and the sentence says how many points that is. */
int store_add(struct store *store, int64_t point, int64_t replications, const struct metric_set *metrics, const int *metric_index, struct err *e) MUST_CHECK;
int store_add_failure(struct store *store, int64_t point, int64_t replication, const char *reason, struct err *e) MUST_CHECK;
int store_add_note(struct store *store, int64_t point, const char *name, const char *text, struct err *e) MUST_CHECK;
int store_flush(struct store *store, struct err *e) MUST_CHECK;

/* Rough size of the file with that many finished points: for --dry-run and for the message of a full disk. */
int64_t store_estimate_bytes(const struct store_study *study, int64_t points);

int store_open_read(const char *path, struct store **out, struct err *e) MUST_CHECK;
void store_close(struct store *store);

/* Reading. */
const struct store_study *store_study(const struct store *store); /* metrics: name, unit, from, to, help */
int64_t store_point_count(const struct store *store);
/* Axis values of a point (id order), cells valid until the next call. */
int store_read_point(struct store *store, int64_t id, struct store_point *out, struct err *e) MUST_CHECK;

struct store_row {
  int64_t n, failed, replications;
  /* in the metric's printed unit; ci95 NAN when replications < 2, the others NAN when n is 0 */
  double mean, sd, cv, iqr, ci95, min, p5, p25, p50, p75, p95, p99, max;
  bool has_parts;
  double crypto; /* the first PART_CRYPTO_COUNT parts together */
  double parts[PART_COUNT];
};
/* found false: that point has no such metric (not run, or failed). */
int store_read_metric(struct store *store, int64_t point, int metric, struct store_row *out, bool *found, struct err *e) MUST_CHECK;
/* The whole distribution of a metric at a point: (value in printed unit, cumulative share) pairs, malloc'd. */
int store_read_cdf(struct store *store, int64_t point, int metric, double **values, double **shares, int *count, struct err *e) MUST_CHECK;
/* Quantiles of the whole distribution, in printed unit. found false: nothing was sampled there. */
int store_read_quantiles(
    struct store *store, int64_t point, int metric, const int *permilles, int count, double *values, bool *found, struct err *e) MUST_CHECK;
/* Calls fn for each failure / note, ordered by point. */
int store_each_failure(struct store *store, void (*fn)(void *arg, int64_t point, int64_t replication, const char *reason), void *arg, struct err *e) MUST_CHECK;
int store_each_note(struct store *store, void (*fn)(void *arg, int64_t point, const char *name, const char *text), void *arg, struct err *e) MUST_CHECK;

#endif
