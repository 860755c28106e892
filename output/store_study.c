/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/store_internal.h"

#include <assert.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *copy_text(const char *text) {
  char *copy = strdup(text ? text : "");
  assert(copy);
  return copy;
}

static char *copy_or_null(const char *text) { return text ? copy_text(text) : NULL; }

/* The text members of a study in the order of the study table's columns. */
enum { STUDY_TEXTS = 9 };
static void study_texts(struct store_study *study, const char **members[STUDY_TEXTS]) {
  const char **const list[STUDY_TEXTS] = {
      &study->scenario,
      &study->title,
      &study->file_text,
      &study->parameters,
      &study->backend,
      &study->code_version,
      &study->compiler,
      &study->host,
      &study->cost_hash,
  };
  memcpy(members, list, sizeof list);
}
static const char study_columns[] = "scenario, title, file_text, parameters, backend, code_version, compiler, host, cost_hash, seed, replications, point_count";

void store_study_copy(struct store_study *to, const struct store_study *from) {
  const char **members[STUDY_TEXTS];
  *to = *from;
  study_texts(to, members);
  for (int i = 0; i < STUDY_TEXTS; i++) *members[i] = copy_text(*members[i]);
  struct store_axis *axes = calloc((size_t)from->axis_count + 1, sizeof *axes);
  struct metric_def *metrics = calloc((size_t)from->metric_count + 1, sizeof *metrics);
  assert(axes && metrics);
  for (int i = 0; i < from->axis_count; i++) {
    axes[i] = from->axes[i];
    axes[i].name = copy_text(axes[i].name);
    axes[i].unit = copy_text(axes[i].unit);
  }
  for (int i = 0; i < from->metric_count; i++) {
    metrics[i] = from->metrics[i];
    metrics[i].name = copy_text(metrics[i].name);
    metrics[i].from = copy_or_null(metrics[i].from);
    metrics[i].to = copy_or_null(metrics[i].to);
    metrics[i].help = copy_or_null(metrics[i].help);
  }
  to->axes = axes;
  to->metrics = metrics;
}

void store_study_free(struct store_study *study) {
  const char **members[STUDY_TEXTS];
  study_texts(study, members);
  for (int i = 0; i < STUDY_TEXTS; i++) free((char *)*members[i]);
  for (int i = 0; i < study->axis_count; i++) {
    free((char *)study->axes[i].name);
    free((char *)study->axes[i].unit);
  }
  for (int i = 0; i < study->metric_count; i++) {
    const struct metric_def *metric = &study->metrics[i];
    free((char *)metric->name);
    free((char *)metric->from);
    free((char *)metric->to);
    free((char *)metric->help);
  }
  free((void *)study->axes);
  free((void *)study->metrics);
  *study = (struct store_study){0};
}

static const char *column_text(sqlite3_stmt *statement, int column) {
  const char *text = (const char *)sqlite3_column_text(statement, column);
  return text ? text : "";
}

static int damaged(const struct store *store, const char *what, struct err *e) {
  return err_add(e, ERR_SYSTEM, "%s: the study is damaged or was changed by hand: %s", store->path, what);
}

/* seed, replications and number of points, in the order of study_columns. */
static const char *wrong_numbers(sqlite3_stmt *statement) {
  for (int i = STUDY_TEXTS; i < STUDY_TEXTS + 3; i++)
    if (sqlite3_column_type(statement, i) != SQLITE_INTEGER) return "the seed, the replications or the number of points in the table study is no whole number";
  if (sqlite3_column_int64(statement, STUDY_TEXTS + 1) < 1) return "the table study asks for less than one replication";
  return sqlite3_column_int64(statement, STUDY_TEXTS + 2) < 0 ? "the number of points in the table study is negative" : NULL;
}

static int load_study_row(struct store *store, struct store_study *study, struct err *e) {
  char *sql = NULL;
  int length = asprintf(&sql, "SELECT %s FROM study", study_columns);
  assert(length > 0);
  sqlite3_stmt *statement = NULL;
  int code = store_prepare(store, sql, &statement, e);
  free(sql);
  if (code) return code;
  int rc = sqlite3_step(statement);
  if (rc == SQLITE_ROW) {
    const char **members[STUDY_TEXTS];
    study_texts(study, members);
    for (int i = 0; i < STUDY_TEXTS; i++) *members[i] = column_text(statement, i);
    study->seed = sqlite3_column_int64(statement, STUDY_TEXTS);
    study->replications = sqlite3_column_int64(statement, STUDY_TEXTS + 1);
    store->point_count = sqlite3_column_int64(statement, STUDY_TEXTS + 2);
    store_study_copy(&store->study, study);
    const char *wrong = wrong_numbers(statement);
    if (wrong) code = damaged(store, wrong, e);
  } else {
    code = rc == SQLITE_DONE ? damaged(store, "the table study is empty", e) : store_fail(store, rc, "read the study", e);
  }
  sqlite3_finalize(statement);
  return code;
}

static int load_axes(struct store *store, struct err *e) {
  sqlite3_stmt *statement = NULL;
  int code = store_prepare(store, "SELECT name, is_text, unit, logarithmic FROM axis ORDER BY position", &statement, e);
  if (code) return code;
  struct store_axis *axes = (struct store_axis *)store->study.axes;
  int count = 0, rc;
  while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
    axes = realloc(axes, (size_t)(count + 1) * sizeof *axes);
    assert(axes);
    axes[count++] = (struct store_axis){.name = copy_text(column_text(statement, 0)),
        .is_text = sqlite3_column_int(statement, 1),
        .unit = copy_text(column_text(statement, 2)),
        .logarithmic = sqlite3_column_int(statement, 3)};
  }
  store->study.axes = axes;
  store->study.axis_count = count;
  if (rc != SQLITE_DONE) code = store_fail(store, rc, "read the axes", e);
  sqlite3_finalize(statement);
  return code;
}

static int load_metrics(struct store *store, struct err *e) {
  sqlite3_stmt *statement = NULL;
  int code = store_prepare(store, "SELECT name, kind, clock_from, clock_to, help FROM metric_def ORDER BY position", &statement, e);
  if (code) return code;
  struct metric_def *metrics = (struct metric_def *)store->study.metrics;
  int count = 0, rc;
  while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
    int unit = schema_kind_unit(column_text(statement, 1));
    if (unit < 0) {
      code = damaged(store, "unknown kind in the table metric_def", e);
      break;
    }
    metrics = realloc(metrics, (size_t)(count + 1) * sizeof *metrics);
    assert(metrics);
    metrics[count++] = (struct metric_def){.name = copy_text(column_text(statement, 0)),
        .unit = (enum metric_unit)unit,
        .from = copy_or_null((const char *)sqlite3_column_text(statement, 2)),
        .to = copy_or_null((const char *)sqlite3_column_text(statement, 3)),
        .help = copy_or_null((const char *)sqlite3_column_text(statement, 4))};
  }
  store->study.metrics = metrics;
  store->study.metric_count = count;
  if (!code && rc != SQLITE_DONE) code = store_fail(store, rc, "read the metrics", e);
  sqlite3_finalize(statement);
  return code;
}

int store_study_load(struct store *store, struct err *e) {
  struct store_study borrowed = {0};
  store_study_free(&store->study);
  int code = load_study_row(store, &borrowed, e);
  if (!code) code = load_axes(store, e);
  if (!code) code = load_metrics(store, e);
  free(store->cells);
  store->cells = calloc((size_t)store->study.axis_count + 1, sizeof *store->cells);
  assert(store->cells);
  return code;
}

static int save_study_row(struct store *store, const struct store_study *study, int64_t point_count, struct err *e) {
  char *sql = NULL;
  int length = asprintf(&sql, "INSERT INTO study(%s) VALUES(?,?,?,?,?,?,?,?,?,?,?,?)", study_columns);
  assert(length > 0);
  sqlite3_stmt *statement = NULL;
  int code = store_prepare(store, sql, &statement, e);
  free(sql);
  if (code) return code;
  struct store_study borrowed = *study;
  const char **members[STUDY_TEXTS];
  study_texts(&borrowed, members);
  for (int i = 0; i < STUDY_TEXTS; i++) store_bind_text(statement, i + 1, *members[i] ? *members[i] : "");
  sqlite3_bind_int64(statement, STUDY_TEXTS + 1, study->seed);
  sqlite3_bind_int64(statement, STUDY_TEXTS + 2, study->replications);
  sqlite3_bind_int64(statement, STUDY_TEXTS + 3, point_count);
  code = store_step(store, statement, "write the study", e);
  sqlite3_finalize(statement);
  return code;
}

static int save_axes(struct store *store, const struct store_study *study, struct err *e) {
  sqlite3_stmt *statement = NULL;
  int code = store_prepare(store, "INSERT INTO axis VALUES(?,?,?,?,?)", &statement, e);
  for (int i = 0; i < study->axis_count && !code; i++) {
    sqlite3_bind_int(statement, 1, i);
    store_bind_text(statement, 2, study->axes[i].name);
    sqlite3_bind_int(statement, 3, study->axes[i].is_text);
    store_bind_text(statement, 4, study->axes[i].unit ? study->axes[i].unit : "");
    sqlite3_bind_int(statement, 5, study->axes[i].logarithmic);
    code = store_step(store, statement, "write the axes", e);
  }
  sqlite3_finalize(statement);
  return code;
}

static int save_metrics(struct store *store, const struct store_study *study, struct err *e) {
  sqlite3_stmt *statement = NULL;
  int code = store_prepare(store, "INSERT INTO metric_def VALUES(?,?,?,?,?,?,?)", &statement, e);
  for (int i = 0; i < study->metric_count && !code; i++) {
    const struct metric_def *metric = &study->metrics[i];
    sqlite3_bind_int(statement, 1, i);
    store_bind_text(statement, 2, metric->name);
    store_bind_text(statement, 3, schema_kind_name(metric->unit));
    store_bind_text(statement, 4, metric_unit_name(metric->unit));
    store_bind_text(statement, 5, metric->from);
    store_bind_text(statement, 6, metric->to);
    store_bind_text(statement, 7, metric->help);
    code = store_step(store, statement, "write the metrics", e);
  }
  sqlite3_finalize(statement);
  return code;
}

int store_study_save(struct store *store, const struct store_study *study, int64_t point_count, struct err *e) {
  int code = store_exec(store, "DELETE FROM study; DELETE FROM axis; DELETE FROM metric_def", "write the study", e);
  if (!code) code = save_study_row(store, study, point_count, e);
  if (!code) code = save_axes(store, study, e);
  if (!code) code = save_metrics(store, study, e);
  return code;
}

bool store_study_same_axes(const struct store_study *a, const struct store_study *b) {
  if (a->axis_count != b->axis_count) return false;
  for (int i = 0; i < a->axis_count; i++) {
    const struct store_axis *p = &a->axes[i], *q = &b->axes[i];
    if (strcmp(p->name, q->name) || strcmp(p->unit, q->unit ? q->unit : "") || p->is_text != q->is_text || p->logarithmic != q->logarithmic) return false;
  }
  return true;
}

static bool same_metrics(const struct store_study *a, const struct store_study *b) {
  if (a->metric_count != b->metric_count) return false;
  for (int i = 0; i < a->metric_count; i++)
    if (strcmp(a->metrics[i].name, b->metrics[i].name) || a->metrics[i].unit != b->metrics[i].unit) return false;
  return true;
}

static void list_metrics(const struct store_study *study, char *out, size_t size) {
  size_t used = 0;
  out[0] = '\0';
  for (int i = 0; i < study->metric_count && used < size; i++) used += (size_t)snprintf(out + used, size - used, "%s%s", i ? " " : "", study->metrics[i].name);
}

static bool is_axis(const struct store_study *study, const char *key, size_t length) {
  for (int i = 0; i < study->axis_count; i++)
    if (strlen(study->axes[i].name) == length && memcmp(study->axes[i].name, key, length) == 0) return true;
  return false;
}

/* The value of a key among "key\tvalue" lines, with its length; NULL when there is no such key. */
static const char *find_value(const char *lines, const char *key, size_t length, size_t *size) {
  for (; *lines; lines += strcspn(lines, "\n"), lines += *lines == '\n') {
    if (strncmp(lines, key, length) != 0 || lines[length] != '\t') continue;
    *size = strcspn(lines + length + 1, "\n");
    return lines + length + 1;
  }
  return NULL;
}

void store_describe_parameters(const struct store_study *have, const struct store_study *asked, char *out, size_t size) {
  const char *const sides[] = {have->parameters ? have->parameters : "", asked->parameters ? asked->parameters : ""};
  out[0] = '\0';
  for (int side = 0; side < 2; side++) {
    for (const char *line = sides[side]; *line; line += strcspn(line, "\n"), line += *line == '\n') {
      size_t length = strcspn(line, "\t\n"), there_size = 0, now_size = 0;
      if (is_axis(have, line, length) || is_axis(asked, line, length)) continue;
      const char *there = find_value(sides[0], line, length, &there_size), *now = find_value(sides[1], line, length, &now_size);
      if (there && now && there_size == now_size && memcmp(there, now, now_size) == 0) continue;
      snprintf(out, size, " The first parameter that differs is %.*s: %.*s there, %.*s now.", (int)length, line, there ? (int)there_size : 9,
          there ? there : "not given", now ? (int)now_size : 9, now ? now : "not given");
      return;
    }
  }
}

/* Cost data come with the program and from the platform files a scenario names: their names are parameters, their content is not. */
static int refuse_cost(const struct store *store, const struct store_study *asked, struct err *e) {
  const struct store_study *have = &store->study;
  const char *now = asked->cost_hash ? asked->cost_hash : "";
  char why[512];
  store_describe_parameters(have, asked, why, sizeof why);
  if (!*why && strcmp(have->code_version, asked->code_version ? asked->code_version : "") == 0)
    snprintf(why, sizeof why, " No parameter differs: the content of a platform file has changed.");
  return err_add(e, ERR_INPUT, "%s: holds another study: its cost data (hash) is %s, now it is %s.%s", store->path, have->cost_hash, now, why);
}

int store_study_compare(const struct store *store, const struct store_study *asked, struct err *e) {
  const struct store_study *have = &store->study;
  const struct {
    const char *what, *have, *asked;
  } texts[] = {
      {"scenario", have->scenario, asked->scenario},
      {"backend", have->backend, asked->backend},
      {"program version", have->code_version, asked->code_version},
  };
  int code = 0;
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    if (strcmp(texts[i].have, texts[i].asked ? texts[i].asked : "") != 0)
      code = err_add(
          e, ERR_INPUT, "%s: holds another study: its %s is %s, now it is %s", store->path, texts[i].what, texts[i].have, texts[i].asked ? texts[i].asked : "");
  if (strcmp(have->cost_hash, asked->cost_hash ? asked->cost_hash : "") != 0) code = refuse_cost(store, asked, e);
  if (have->seed != asked->seed)
    code = err_add(e, ERR_INPUT, "%s: holds another study: its seed is %lld, now it is %lld", store->path, (long long)have->seed, (long long)asked->seed);
  if (have->replications > asked->replications)
    code = err_add(e, ERR_INPUT, "%s: already asked for %lld replications a point, now only for %lld; replications can be added, not taken away", store->path,
        (long long)have->replications, (long long)asked->replications);
  if (!same_metrics(have, asked)) {
    char stored[1024], wanted[1024];
    list_metrics(have, stored, sizeof stored);
    list_metrics(asked, wanted, sizeof wanted);
    code = err_add(e, ERR_INPUT, "%s: holds other metrics: %s; now: %s", store->path, stored, wanted);
  }
  return code;
}
