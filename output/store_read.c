/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/store.h"

#include "output/stats.h"
#include "output/store_internal.h"

#include <assert.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fixed texts; those with columns that depend on the axes or the parts come from schema. */
static const char *const statement_sql[STATEMENT_COUNT] = {
    [STATEMENT_HIST] = "INSERT OR REPLACE INTO hist VALUES(?, ?, ?)",
    [STATEMENT_DONE] = "UPDATE point SET replications = ? WHERE id = ?",
    [STATEMENT_STORED] = "INSERT OR REPLACE INTO stored VALUES(?, ?)",
    [STATEMENT_FAILURE] = "INSERT OR REPLACE INTO failure VALUES(?, ?, ?)",
    [STATEMENT_CLEAR_FAILURES] = "DELETE FROM failure WHERE point = ?",
    [STATEMENT_NOTE] = "INSERT OR REPLACE INTO note VALUES(?, ?, ?)",
    [STATEMENT_READ_HIST] = "SELECT blob FROM hist WHERE point = ? AND metric = ?",
};

int store_statement_get(struct store *store, enum store_statement which, struct sqlite3_stmt **out, struct err *e) {
  if (!store->statements[which]) {
    char *sql = which == STATEMENT_METRIC        ? schema_insert_metric()
                : which == STATEMENT_READ_METRIC ? schema_select_metric()
                : which == STATEMENT_READ_POINT  ? schema_select_point(&store->study)
                                                 : strdup(statement_sql[which]);
    int code = store_prepare(store, sql, &store->statements[which], e);
    free(sql);
    if (code) return code;
  }
  *out = store->statements[which];
  sqlite3_reset(*out);
  return 0;
}

const struct store_study *store_study(const struct store *store) { return &store->study; }

int64_t store_point_count(const struct store *store) { return store->point_count; }

static int damaged(const struct store *store, int64_t point, const char *what, struct err *e) {
  return err_add(e, ERR_SYSTEM, "%s: the study is damaged or was changed by hand: point %lld: %s", store->path, (long long)point, what);
}

static int damaged_metric(const struct store *store, int64_t point, int metric, const char *what, struct err *e) {
  return err_add(e, ERR_SYSTEM, "%s: the study is damaged or was changed by hand: point %lld, metric %s has %s", store->path, (long long)point,
      store->study.metrics[metric].name, what);
}

/* A row is damage: its point, and its metric's name, as far as there is one. */
static const struct {
  const char *sql, *what;
} checks[] = {
    {"SELECT NULL, NULL FROM study, (SELECT count(*) AS n, coalesce(min(id), 0) AS low, coalesce(max(id), -1) AS high FROM point)"
     " WHERE n <> point_count OR low <> 0 OR high <> point_count - 1",
        "the points are not those the study was made with"},
    {"SELECT p.id, NULL FROM point p, study s WHERE typeof(p.replications) <> 'integer' OR p.replications NOT BETWEEN 0 AND s.replications LIMIT 1",
        "its replications are not 0 to those the study asks for"},
    {"SELECT m.point, m.name FROM metric m LEFT JOIN metric_def d ON d.name = m.name WHERE d.unit IS NOT m.unit LIMIT 1",
        "it has another unit than its definition"},
    {"SELECT m.point, m.name FROM metric m LEFT JOIN point p ON p.id = m.point WHERE p.id IS NULL OR m.replications > p.replications LIMIT 1",
        "it belongs to no point, or has more replications than its point"},
    /* the distribution of the missing metric may still be there to tell its name */
    {"SELECT s.point, (SELECT h.metric FROM hist h WHERE h.point = s.point AND NOT EXISTS(SELECT 1 FROM metric m WHERE m.point = h.point AND m.name = "
     "h.metric))"
     " FROM stored s WHERE s.metric_rows IS NOT (SELECT count(*) FROM metric m WHERE m.point = s.point) LIMIT 1",
        "there are not as many metrics as were stored"},
};

static int check_one(struct store *store, int which, struct err *e) {
  sqlite3_stmt *statement = NULL;
  char where[256] = "";
  int code = store_prepare(store, checks[which].sql, &statement, e);
  if (code) return code;
  int rc = sqlite3_step(statement);
  if (rc == SQLITE_ROW) {
    const char *metric = (const char *)sqlite3_column_text(statement, 1);
    if (sqlite3_column_type(statement, 0) != SQLITE_NULL)
      snprintf(where, sizeof where, "point %lld%s%.200s: ", (long long)sqlite3_column_int64(statement, 0), metric ? ", metric " : "", metric ? metric : "");
    code = err_add(e, ERR_SYSTEM, "%s: the study is damaged or was changed by hand: %s%s", store->path, where, checks[which].what);
  } else if (rc != SQLITE_DONE) {
    code = store_fail(store, rc, "read it", e);
  }
  sqlite3_finalize(statement);
  return code;
}

int store_check_whole(struct store *store, struct err *e) {
  enum { CHECKS = sizeof checks / sizeof checks[0] };
  /* the last check is of a table that the first files do not have */
  bool counted = sqlite3_table_column_metadata(store->db, NULL, "stored", "metric_rows", NULL, NULL, NULL, NULL, NULL) == SQLITE_OK;
  int code = 0;
  for (int i = 0; i < CHECKS - !counted && !code; i++) code = check_one(store, i, e);
  return code;
}

int store_open_read(const char *path, struct store **out, struct err *e) {
  bool exists;
  int code = store_check_path(path, false, &exists, e);
  if (code) return code;
  struct store *store = store_new(path, path);
  code = store_connect_reader(store, e);
  /* one state of the file for everything read, while a sweep may go on writing */
  if (!code) code = store_exec(store, "BEGIN", "read it", e);
  if (!code) code = store_study_load(store, e);
  if (!code) code = store_check_whole(store, e);
  if (code)
    store_close(store);
  else
    *out = store;
  return code;
}

int store_read_point(struct store *store, int64_t id, struct store_point *out, struct err *e) {
  sqlite3_stmt *statement;
  int code = store_statement_get(store, STATEMENT_READ_POINT, &statement, e);
  if (code) return code;
  sqlite3_bind_int64(statement, 1, id);
  int rc = sqlite3_step(statement);
  if (rc == SQLITE_DONE) return damaged(store, id, "it is missing", e);
  if (rc != SQLITE_ROW) return store_fail(store, rc, "read a point", e);
  /* the statement is not reset before the next call, so the text stays valid */
  for (int i = 0; i < store->study.axis_count; i++) {
    const char *text = (const char *)sqlite3_column_text(statement, 1 + i);
    bool is_text = store->study.axes[i].is_text;
    store->cells[i] = (struct store_cell){.text = is_text ? (text ? text : "") : NULL, .number = is_text ? 0 : sqlite3_column_double(statement, 1 + i)};
  }
  *out = (struct store_point){.id = id, .key = (const char *)sqlite3_column_text(statement, 0), .cells = store->cells};
  return 0;
}

static bool is_whole(const char *text, const char **end) {
  const char *digits = text + (*text == '-'), *at = digits;
  while (*at >= '0' && *at <= '9') at++;
  *end = at;
  return at > digits;
}

static bool is_real(sqlite3_stmt *statement, int column) {
  int type = sqlite3_column_type(statement, column);
  return (type == SQLITE_FLOAT || type == SQLITE_INTEGER) && isfinite(sqlite3_column_double(statement, column));
}

static const char *wrong_parts(sqlite3_stmt *statement, int64_t n) {
  static const char text[] = "no whole numbers in part_sums";
  if (sqlite3_column_type(statement, METRIC_PART_SUMS) == SQLITE_NULL) return NULL;
  const char *at = (const char *)sqlite3_column_text(statement, METRIC_PART_SUMS);
  if (n > 0 && !is_real(statement, METRIC_CRYPTO)) return "a part of its breakdown that is no finite number";
  for (int i = 0; i < PART_COUNT; i++) {
    if (i && *at++ != ' ') return text;
    if (!is_whole(at, &at)) return text;
    if (n > 0 && !is_real(statement, METRIC_FIRST_PART + i)) return "a part of its breakdown that is no finite number";
  }
  return *at ? text : NULL;
}

/* SQLite stores anything in any column, infinity included. */
static const char *wrong_types(sqlite3_stmt *statement) {
  static const char no_count[] = "an n, failed or replications that is no whole number";
  for (int i = METRIC_N; i <= METRIC_REPLICATIONS; i++)
    if (sqlite3_column_type(statement, i) != SQLITE_INTEGER) return no_count;
  int64_t n = sqlite3_column_int64(statement, METRIC_N), replications = sqlite3_column_int64(statement, METRIC_REPLICATIONS);
  if (n < 0 || sqlite3_column_int64(statement, METRIC_FAILED) < 0 || replications < 0) return "a negative count";
  if (replications > n) return "more replications than samples";
  for (int i = METRIC_SUM; i <= METRIC_REP_SUM_SQUARES; i++) {
    const char *end, *text = (const char *)sqlite3_column_text(statement, i);
    if (!text || !is_whole(text, &end) || *end) return "an exact sum that is no whole number";
  }
  for (int i = METRIC_MEAN; i <= METRIC_MAX; i++) {
    /* no statistic of nothing, and no interval of one replication */
    bool none = n == 0 || (i == METRIC_CI95 && replications < 2);
    if (none ? sqlite3_column_type(statement, i) != SQLITE_NULL : !is_real(statement, i)) return "a statistic that is no finite number";
  }
  return wrong_parts(statement, n);
}

/* Positions the metric statement on a row, whose columns then have the types they should. */
static int find_row(struct store *store, int64_t point, int metric, sqlite3_stmt **out, bool *found, struct err *e) {
  assert(metric >= 0 && metric < store->study.metric_count);
  int code = store_statement_get(store, STATEMENT_READ_METRIC, out, e);
  if (code) return code;
  sqlite3_bind_int64(*out, 1, point);
  store_bind_text(*out, 2, store->study.metrics[metric].name);
  int rc = sqlite3_step(*out);
  *found = rc == SQLITE_ROW;
  if (rc == SQLITE_DONE) return 0;
  if (rc != SQLITE_ROW) return store_fail(store, rc, "read results", e);
  const char *wrong = wrong_types(*out);
  return wrong ? damaged_metric(store, point, metric, wrong, e) : 0;
}

static double column_real(sqlite3_stmt *statement, int column) {
  return sqlite3_column_type(statement, column) == SQLITE_NULL ? NAN : sqlite3_column_double(statement, column);
}

static long double exact(sqlite3_stmt *statement, int column) { return strtold((const char *)sqlite3_column_text(statement, column), NULL); }

/* The exact sums are the checksum of a row: whoever edits a mean, a deviation or a quantile by hand is told, not plotted. */
static const char *implausible(sqlite3_stmt *statement, const struct store_row *row, enum metric_unit unit) {
  if (row->n == 0) return NULL;
  long double n = (long double)row->n, sum = exact(statement, METRIC_SUM), squares = exact(statement, METRIC_SUM_SQUARES);
  double scale = metric_unit_scale(unit), mean = (double)(sum / n) * scale;
  if (!(fabs(mean - row->mean) <= 1e-7 * fabs(mean) + 1e-12)) return "a mean that is not its sum over n";
  if (row->n > 1) {
    /* 1e-6: the nine digits of sd, squared; 1e-17: what is left of 64 bits where nearly equal squares are subtracted; 1e-13: written as 0 */
    long double variance = (squares - sum * (sum / n)) / (n - 1), deviation = (long double)row->sd / scale, left = 1e-17L * fabsl(squares) / (n - 1),
                least = 1e-13L / scale;
    if (!(fabsl(deviation * deviation - variance) <= 1e-6L * fabsl(variance) + left + least * least)) return "an sd that is not that of its sums";
  }
  const double rising[] = {row->min, row->p5, row->p25, row->p50, row->p75, row->p95, row->p99, row->max};
  for (size_t i = 1; i < sizeof rising / sizeof rising[0]; i++)
    if (!(rising[i] >= rising[i - 1])) return "quantiles that do not rise";
  return unit != METRIC_SIGNED_TIME && row->min < 0 ? "a negative value" : NULL;
}

int store_read_metric(struct store *store, int64_t point, int metric, struct store_row *out, bool *found, struct err *e) {
  sqlite3_stmt *statement;
  int code = find_row(store, point, metric, &statement, found, e);
  if (code || !*found) return code;
  struct store_row row = {.n = sqlite3_column_int64(statement, METRIC_N),
      .failed = sqlite3_column_int64(statement, METRIC_FAILED),
      .replications = sqlite3_column_int64(statement, METRIC_REPLICATIONS)};
  double *const reals[] = {&row.mean, &row.sd, &row.ci95, &row.min, &row.p5, &row.p25, &row.p50, &row.p75, &row.p95, &row.p99, &row.max};
  for (int i = 0; i < (int)(sizeof reals / sizeof reals[0]); i++) *reals[i] = column_real(statement, METRIC_MEAN + i);
  row.has_parts = sqlite3_column_type(statement, METRIC_PART_SUMS) != SQLITE_NULL;
  row.crypto = row.has_parts ? sqlite3_column_double(statement, METRIC_CRYPTO) : 0.0;
  for (int i = 0; i < PART_COUNT; i++) row.parts[i] = row.has_parts ? sqlite3_column_double(statement, METRIC_FIRST_PART + i) : 0.0;
  stats_derive(&row);
  const struct metric_def *def = &store->study.metrics[metric];
  const char *wrong = implausible(statement, &row, def->unit);
  if (wrong) return damaged_metric(store, point, metric, wrong, e);
  *out = row;
  return 0;
}

/* At most one value: the row holds it, exactly. */
static int merge_row(struct store *store, int64_t point, int metric, sqlite3_stmt *statement, struct metric_set *set, int index, struct err *e) {
  const struct metric_def *def = &store->study.metrics[metric];
  struct metric_set *one = metric_set_new(def, 1);
  int64_t parts[PART_COUNT] = {0}, n = sqlite3_column_int64(statement, METRIC_N), failed = sqlite3_column_int64(statement, METRIC_FAILED);
  const char *part_sums = (const char *)sqlite3_column_text(statement, METRIC_PART_SUMS), *at = part_sums;
  const char *sum = (const char *)sqlite3_column_text(statement, METRIC_SUM);
  int64_t value = strtoll(sum ? sum : "", NULL, 10), total = 0;
  for (int i = 0; at && i < PART_COUNT; i++) {
    char *end;
    parts[i] = strtoll(at, &end, 10);
    total += parts[i];
    at = end;
  }
  int code = n > 1 || n < 0 || failed < 0 || (n == 1 && part_sums && total != value) ? damaged(store, point, "a metric lacks its distribution", e) : 0;
  if (!code) {
    if (n == 1) metric_sample(one, 0, value, part_sums ? parts : NULL);
    for (int64_t i = 0; i < failed; i++) metric_fail(one, 0);
    metric_end_replication(one);
    size_t size;
    unsigned char *bytes = metric_bytes(one, 0, &size);
    code = metric_merge_bytes(set, index, bytes, size, e);
    free(bytes);
  }
  metric_set_free(one);
  return code;
}

int store_merge_stored(struct store *store, int64_t point, int metric, struct metric_set *set, int index, bool *found, struct err *e) {
  sqlite3_stmt *row, *hist;
  int code = find_row(store, point, metric, &row, found, e);
  if (code || !*found) return code;
  code = store_statement_get(store, STATEMENT_READ_HIST, &hist, e);
  if (code) return code;
  sqlite3_bind_int64(hist, 1, point);
  store_bind_text(hist, 2, store->study.metrics[metric].name);
  int rc = sqlite3_step(hist);
  if (rc == SQLITE_DONE) return merge_row(store, point, metric, row, set, index, e);
  if (rc != SQLITE_ROW) return store_fail(store, rc, "read a distribution", e);
  return metric_merge_bytes(set, index, sqlite3_column_blob(hist, 0), (size_t)sqlite3_column_bytes(hist, 0), e);
}

/* The stored distribution in a set of its own, NULL when there is none. */
static int load_distribution(struct store *store, int64_t point, int metric, struct metric_set **out, struct err *e) {
  struct metric_summary summary;
  bool found;
  struct metric_set *set = metric_set_new(&store->study.metrics[metric], 1);
  int code = store_merge_stored(store, point, metric, set, 0, &found, e);
  if (!code && found) metric_summarise(set, 0, &summary);
  if (code || !found || summary.n == 0) {
    metric_set_free(set);
    set = NULL;
  }
  *out = set;
  return code;
}

int store_read_quantiles(struct store *store, int64_t point, int metric, const int *permilles, int count, double *values, bool *found, struct err *e) {
  struct metric_set *set;
  int code = load_distribution(store, point, metric, &set, e);
  *found = set;
  double scale = metric_unit_scale(store->study.metrics[metric].unit);
  for (int i = 0; set && i < count; i++) values[i] = stats_round((double)metric_quantile(set, 0, permilles[i]) * scale);
  metric_set_free(set);
  return code;
}

struct cdf {
  double *values, *shares;
  int count;
  int64_t below;
};

static void cdf_step(void *arg, int64_t value, int64_t count) {
  struct cdf *cdf = arg;
  if ((cdf->count & (cdf->count - 1)) == 0) { /* full at every power of two */
    size_t room = cdf->count ? 2 * (size_t)cdf->count : 1;
    cdf->values = realloc(cdf->values, room * sizeof *cdf->values);
    cdf->shares = realloc(cdf->shares, room * sizeof *cdf->shares);
    assert(cdf->values && cdf->shares);
  }
  cdf->below += count;
  cdf->values[cdf->count] = (double)value;
  cdf->shares[cdf->count++] = (double)cdf->below;
}

int store_read_cdf(struct store *store, int64_t point, int metric, double **values, double **shares, int *count, struct err *e) {
  struct metric_set *set;
  struct cdf cdf = {0};
  int code = load_distribution(store, point, metric, &set, e);
  if (set) metric_each(set, 0, cdf_step, &cdf);
  double scale = metric_unit_scale(store->study.metrics[metric].unit);
  for (int i = 0; i < cdf.count; i++) {
    cdf.values[i] = stats_round(cdf.values[i] * scale);
    cdf.shares[i] = stats_round(cdf.shares[i] / (double)cdf.below);
  }
  metric_set_free(set);
  *values = cdf.values;
  *shares = cdf.shares;
  *count = cdf.count;
  return code;
}

int store_each_failure(struct store *store, void (*fn)(void *arg, int64_t point, int64_t replication, const char *reason), void *arg, struct err *e) {
  sqlite3_stmt *statement = NULL;
  int rc, code = store_prepare(store, "SELECT point, replication, reason FROM failure ORDER BY point, replication", &statement, e);
  if (code) return code;
  while ((rc = sqlite3_step(statement)) == SQLITE_ROW)
    fn(arg, sqlite3_column_int64(statement, 0), sqlite3_column_int64(statement, 1), (const char *)sqlite3_column_text(statement, 2));
  sqlite3_finalize(statement);
  return rc == SQLITE_DONE ? 0 : store_fail(store, rc, "read its failures", e);
}

int store_each_note(struct store *store, void (*fn)(void *arg, int64_t point, const char *name, const char *text), void *arg, struct err *e) {
  sqlite3_stmt *statement = NULL;
  int rc, code = store_prepare(store, "SELECT point, name, text FROM note ORDER BY point, name", &statement, e);
  if (code) return code;
  while ((rc = sqlite3_step(statement)) == SQLITE_ROW)
    fn(arg, sqlite3_column_int64(statement, 0), (const char *)sqlite3_column_text(statement, 1), (const char *)sqlite3_column_text(statement, 2));
  sqlite3_finalize(statement);
  return rc == SQLITE_DONE ? 0 : store_fail(store, rc, "read its notes", e);
}
