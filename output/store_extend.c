/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bringing an existing study to what is asked for. Points are recognised by their run key alone, so that a new axis value, a new
 * axis that leaves old points as they were, or another order of axes only renumbers what is stored. */
#include "output/store_internal.h"

#include <assert.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_LENGTH = 32, NAMED_POINTS = 3 };

struct keyed {
  char key[KEY_LENGTH];
  int64_t id;
};

static int keyed_compare(const void *a, const void *b) {
  const struct keyed *p = a, *q = b;
  int order = memcmp(p->key, q->key, KEY_LENGTH);
  return order ? order : (p->id > q->id) - (p->id < q->id);
}

static int id_compare(const void *a, const void *b) {
  const int64_t *p = a, *q = b;
  return (*p > *q) - (*p < *q);
}

static void keyed_set(struct keyed *keyed, const char *key, int64_t id) {
  assert(strlen(key) <= KEY_LENGTH);
  memset(keyed->key, 0, KEY_LENGTH);
  memcpy(keyed->key, key, strlen(key));
  keyed->id = id;
}

static void bind_cell(sqlite3_stmt *statement, int parameter, const struct store_axis *axis, const struct store_cell *cell) {
  if (axis->is_text)
    store_bind_text(statement, parameter, cell->text);
  else if (cell->number == rint(cell->number) && fabs(cell->number) < 9e15)
    sqlite3_bind_int64(statement, parameter, (int64_t)cell->number);
  else
    store_bind_real(statement, parameter, cell->number);
}

int store_insert_points(
    struct store *store, const struct store_study *study, const struct store_source *source, const struct store_progress *progress, struct err *e) {
  char *sql = schema_insert_point(study);
  sqlite3_stmt *statement = NULL;
  int code = store_prepare(store, sql, &statement, e);
  free(sql);
  for (int64_t id = 0; id < source->count && !code; id++) {
    struct store_point point = {0};
    source->point(source->arg, id, &point);
    sqlite3_bind_int64(statement, 1, id);
    store_bind_text(statement, 2, point.key);
    sqlite3_bind_int64(statement, 3, progress ? progress[id].replications : 0);
    for (int i = 0; i < study->axis_count; i++) bind_cell(statement, 4 + i, &study->axes[i], &point.cells[i]);
    code = store_step(store, statement, "write the list of points", e);
  }
  sqlite3_finalize(statement);
  return code;
}

/* Keys and progress of the stored points, in order of id. */
static int load_points(struct store *store, struct keyed *keys, struct store_progress *progress, struct err *e) {
  sqlite3_stmt *statement = NULL;
  int64_t seen = 0;
  int rc, code = store_prepare(store, "SELECT id, run_key, replications FROM point ORDER BY id", &statement, e);
  if (code) return code;
  while ((rc = sqlite3_step(statement)) == SQLITE_ROW && seen < store->point_count) {
    const char *key = (const char *)sqlite3_column_text(statement, 1);
    if (sqlite3_column_int64(statement, 0) != seen || !key || strlen(key) > KEY_LENGTH) break;
    keyed_set(&keys[seen], key, seen);
    progress[seen++].replications = sqlite3_column_int64(statement, 2);
  }
  sqlite3_finalize(statement);
  if (rc != SQLITE_DONE && rc != SQLITE_ROW) return store_fail(store, rc, "read its points", e);
  if (rc == SQLITE_ROW || seen != store->point_count)
    return err_add(e, ERR_SYSTEM, "%s: the study is damaged: its points are not numbered 0 to %lld", store->path, (long long)store->point_count - 1);
  code = store_prepare(store, "SELECT DISTINCT point FROM failure", &statement, e);
  if (code) return code;
  while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
    int64_t id = sqlite3_column_int64(statement, 0);
    if (id >= 0 && id < store->point_count) progress[id].failed = true;
  }
  sqlite3_finalize(statement);
  return rc == SQLITE_DONE ? 0 : store_fail(store, rc, "read its failures", e);
}

static void describe_point(struct store *store, int64_t id, char *out, size_t size) {
  struct store_point point;
  struct err ignored = {0};
  size_t used = (size_t)snprintf(out, size, "point %lld", (long long)id);
  if (store_read_point(store, id, &point, &ignored) == 0) {
    for (int i = 0; i < store->study.axis_count && used < size; i++) {
      const struct store_axis *axis = &store->study.axes[i];
      char number[32];
      used += (size_t)snprintf(out + used, size - used, "%s%s=%s%s", i ? ", " : " (", axis->name,
          axis->is_text ? point.cells[i].text : real_format(point.cells[i].number, number), axis->is_text || strcmp(axis->unit, "1") == 0 ? "" : axis->unit);
    }
    if (store->study.axis_count && used < size) snprintf(out + used, size - used, ")");
  }
  err_free(&ignored);
}

static int refuse_points(struct store *store, const struct store_study *asked, const int64_t *missing, int64_t count, struct err *e) {
  char points[1024], parameters[512];
  size_t used = 0;
  points[0] = '\0';
  for (int64_t i = 0; i < count && i < NAMED_POINTS && used < sizeof points; i++) {
    char one[320];
    describe_point(store, missing[i], one, sizeof one);
    used += (size_t)snprintf(points + used, sizeof points - used, "%s%s", i ? "; " : "", one);
  }
  store_describe_parameters(&store->study, asked, parameters, sizeof parameters);
  return err_add(e, ERR_INPUT,
      "%s: holds another study: %lld of its %lld points are not in the scenario as it is now: %s%s.%s "
      "Points and replications can be added to a study; for other inputs name another file.",
      store->path, (long long)count, (long long)store->point_count, points, count > NAMED_POINTS ? "; ..." : "", parameters);
}

/* new_ids[old id]; ERR_INPUT when a stored point is not among the new. Equal keys are matched in order of id: they name equal runs. */
static int match_points(
    struct store *store, const struct store_study *asked, const struct store_source *source, struct keyed *old, int64_t *new_ids, struct err *e) {
  int64_t missing_count = 0, old_count = store->point_count;
  struct keyed *now = malloc((size_t)(source->count + 1) * sizeof *now);
  int64_t *missing = malloc((size_t)(old_count + 1) * sizeof *missing);
  assert(now && missing);
  for (int64_t i = 0; i < source->count; i++) {
    struct store_point point = {0};
    source->point(source->arg, i, &point);
    keyed_set(&now[i], point.key, i);
  }
  qsort(now, (size_t)source->count, sizeof *now, keyed_compare);
  qsort(old, (size_t)old_count, sizeof *old, keyed_compare);
  for (int64_t i = 0, j = 0; i < old_count; i++) {
    while (j < source->count && memcmp(now[j].key, old[i].key, KEY_LENGTH) < 0) j++;
    if (j < source->count && memcmp(now[j].key, old[i].key, KEY_LENGTH) == 0)
      new_ids[old[i].id] = now[j++].id;
    else
      missing[missing_count++] = old[i].id;
  }
  qsort(missing, (size_t)missing_count, sizeof *missing, id_compare);
  int code = missing_count ? refuse_points(store, asked, missing, missing_count, e) : 0;
  free(now);
  free(missing);
  return code;
}

/* Ids are primary keys: through negative numbers, so that no two rows meet on the way. */
static int renumber(struct store *store, const int64_t *new_ids, struct err *e) {
  static const char *const tables[] = {"metric", "hist", "failure", "note", "stored"};
  sqlite3_stmt *statement = NULL;
  int code = store_exec(store, "CREATE TEMP TABLE renumber(old INTEGER PRIMARY KEY, new INTEGER NOT NULL)", "renumber its points", e);
  if (!code) code = store_prepare(store, "INSERT INTO renumber VALUES(?, ?)", &statement, e);
  for (int64_t i = 0; i < store->point_count && !code; i++) {
    sqlite3_bind_int64(statement, 1, i);
    sqlite3_bind_int64(statement, 2, new_ids[i]);
    code = store_step(store, statement, "renumber its points", e);
  }
  sqlite3_finalize(statement);
  for (size_t i = 0; i < sizeof tables / sizeof tables[0] && !code; i++) {
    char sql[256];
    snprintf(
        sql, sizeof sql, "UPDATE %s SET point = -1 - (SELECT new FROM renumber WHERE old = point); UPDATE %s SET point = -1 - point;", tables[i], tables[i]);
    code = store_exec(store, sql, "renumber its points", e);
  }
  if (!code) code = store_exec(store, "DROP TABLE renumber", "renumber its points", e);
  return code;
}

static int rebuild(struct store *store, const struct store_study *asked, const struct store_source *source, const int64_t *new_ids, bool moved, struct err *e) {
  struct store_progress *progress = calloc((size_t)source->count + 1, sizeof *progress);
  assert(progress);
  for (int64_t i = 0; i < store->point_count; i++) progress[new_ids[i]] = store->progress[i];
  int code = moved ? renumber(store, new_ids, e) : 0;
  char *sql[] = {schema_drop_point_and_views(), schema_create_point(asked), schema_create_views(asked)};
  for (int i = 0; i < 3; i++) {
    if (!code) code = store_exec(store, sql[i], "extend the study", e);
    free(sql[i]);
  }
  if (!code) code = store_insert_points(store, asked, source, progress, e);
  free(store->progress);
  store->progress = progress;
  return code;
}

static int reconcile_points(
    struct store *store, const struct store_study *asked, const struct store_source *source, struct keyed *keys, int64_t *new_ids, struct err *e) {
  int code = load_points(store, keys, store->progress, e);
  if (!code) code = match_points(store, asked, source, keys, new_ids, e);
  if (code) return code;
  bool moved = false;
  for (int64_t i = 0; i < store->point_count; i++) moved |= new_ids[i] != i;
  bool same = !moved && store->point_count == source->count && store_study_same_axes(&store->study, asked) &&
              strcmp(store->study.file_text, asked->file_text ? asked->file_text : "") == 0;
  if (!same) code = rebuild(store, asked, source, new_ids, moved, e);
  if (!code && (!same || store->study.replications != asked->replications)) code = store_study_save(store, asked, source->count, e);
  return code;
}

int store_reconcile(struct store *store, const struct store_study *asked, const struct store_source *source, struct err *e) {
  int code = store_study_compare(store, asked, e);
  if (code) return code;
  struct keyed *keys = malloc((size_t)(store->point_count + 1) * sizeof *keys);
  int64_t *new_ids = malloc((size_t)(store->point_count + 1) * sizeof *new_ids);
  store->progress = calloc((size_t)store->point_count + 1, sizeof *store->progress);
  assert(keys && new_ids && store->progress);
  code = reconcile_points(store, asked, source, keys, new_ids, e);
  free(keys);
  free(new_ids);
  return code;
}
