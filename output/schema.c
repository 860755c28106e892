/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/schema.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct text {
  FILE *to;
  char *bytes;
  size_t size;
};

static void text_begin(struct text *text) {
  text->to = open_memstream(&text->bytes, &text->size);
  assert(text->to);
}

static char *text_end(struct text *text) {
  int failed = fclose(text->to);
  assert(!failed);
  return text->bytes;
}

/* SQL doubles the quote character inside a quoted name ("...") or string ('...'). */
static void put_quoted(FILE *to, char quote, const char *name) {
  fputc(quote, to);
  for (; *name; name++) {
    if (*name == quote) fputc(quote, to);
    fputc(*name, to);
  }
  fputc(quote, to);
}

static const char fixed_tables[] =
    "CREATE TABLE meta(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;\n"
    "CREATE TABLE study(scenario TEXT NOT NULL, title TEXT NOT NULL, file_text TEXT NOT NULL, parameters TEXT NOT NULL,\n"
    " seed INTEGER NOT NULL, backend TEXT NOT NULL, code_version TEXT NOT NULL, compiler TEXT NOT NULL, host TEXT NOT NULL,\n"
    " cost_hash TEXT NOT NULL, replications INTEGER NOT NULL, point_count INTEGER NOT NULL);\n"
    "CREATE TABLE axis(position INTEGER PRIMARY KEY, name TEXT NOT NULL, is_text INTEGER NOT NULL, unit TEXT NOT NULL, logarithmic INTEGER NOT NULL);\n"
    "CREATE TABLE metric_def(position INTEGER PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL, unit TEXT NOT NULL,\n"
    " clock_from TEXT, clock_to TEXT, help TEXT);\n"
    "CREATE TABLE hist(point INTEGER NOT NULL, metric TEXT NOT NULL, blob BLOB NOT NULL, UNIQUE(point, metric));\n" SCHEMA_STORED ";\n"
    "CREATE TABLE failure(point INTEGER NOT NULL, replication INTEGER NOT NULL, reason TEXT NOT NULL, PRIMARY KEY(point, replication)) WITHOUT ROWID;\n"
    "CREATE TABLE note(point INTEGER NOT NULL, name TEXT NOT NULL, text TEXT NOT NULL, PRIMARY KEY(point, name)) WITHOUT ROWID;\n";

/* In the order of enum schema_metric_column; the parts follow. */
static const struct {
  const char *name, *type;
} metric_columns[METRIC_FIRST_PART] = {
    {"point", "INTEGER NOT NULL"},
    {"name", "TEXT NOT NULL"},
    {"unit", "TEXT NOT NULL"},
    {"n", "INTEGER NOT NULL"},
    {"failed", "INTEGER NOT NULL"},
    {"replications", "INTEGER NOT NULL"},
    {"mean", "REAL"},
    {"sd", "REAL"},
    {"ci95", "REAL"},
    {"min", "REAL"},
    {"p5", "REAL"},
    {"p25", "REAL"},
    {"p50", "REAL"},
    {"p75", "REAL"},
    {"p95", "REAL"},
    {"p99", "REAL"},
    {"max", "REAL"},
    {"sum", "TEXT NOT NULL"},
    {"sum_squares", "TEXT NOT NULL"},
    {"rep_sum", "TEXT NOT NULL"},
    {"rep_sum_squares", "TEXT NOT NULL"},
    {"part_sums", "TEXT"},
    {"crypto", "REAL"},
};

static const char *metric_column(int column) {
  return column < METRIC_FIRST_PART ? metric_columns[column].name : metric_part_name((enum part)(column - METRIC_FIRST_PART));
}

char *schema_create_fixed(void) {
  struct text text;
  text_begin(&text);
  fputs(fixed_tables, text.to);
  fputs("CREATE TABLE metric(", text.to);
  for (int i = 0; i < METRIC_COLUMNS; i++) {
    put_quoted(text.to, '"', metric_column(i));
    fprintf(text.to, " %s, ", i < METRIC_FIRST_PART ? metric_columns[i].type : "REAL");
  }
  fputs("PRIMARY KEY(point, name)) WITHOUT ROWID;\n", text.to);
  return text_end(&text);
}

static const char *axis_type(const struct store_axis *axis) {
  if (axis->is_text) return "TEXT";
  /* NUMERIC keeps whole counts and sizes whole; a dimensioned value must not fall into SQL's integer division. */
  return strcmp(axis->unit, "1") == 0 || strcmp(axis->unit, "B") == 0 ? "NUMERIC" : "REAL";
}

char *schema_create_point(const struct store_study *study) {
  struct text text;
  text_begin(&text);
  fputs("CREATE TABLE point(id INTEGER PRIMARY KEY, run_key TEXT NOT NULL, replications INTEGER NOT NULL", text.to);
  for (int i = 0; i < study->axis_count; i++) {
    fputs(", ", text.to);
    put_quoted(text.to, '"', study->axes[i].name);
    fprintf(text.to, " %s", axis_type(&study->axes[i]));
  }
  fputs(");\n", text.to);
  return text_end(&text);
}

enum { WIDE_COLUMNS = 2000 };

/* One pass over metric for all columns: a join per metric would hit SQLite's limit of 64 tables. Of columns it takes 2000
 * (SQLITE_MAX_COLUMN), which groups of nodes can exceed: the last metrics are left out then. */
static void put_wide(FILE *to, const struct store_study *study) {
  fputs("CREATE VIEW wide AS SELECT p.id AS point, p.replications AS replications", to);
  for (int i = 0; i < study->axis_count; i++) {
    fputs(", p.", to);
    put_quoted(to, '"', study->axes[i].name);
    fputs(" AS ", to);
    put_quoted(to, '"', study->axes[i].name);
  }
  static const char *const stats[] = {"p50", "mean"};
  for (int i = 0; i < study->metric_count && 2 + study->axis_count + 2 * (i + 1) <= WIDE_COLUMNS; i++) {
    for (int s = 0; s < 2; s++) {
      char column[256];
      snprintf(column, sizeof column, "%s.%s", study->metrics[i].name, stats[s]);
      fputs(", max(CASE WHEN m.name = ", to);
      put_quoted(to, '\'', study->metrics[i].name);
      fprintf(to, " THEN m.%s END) AS ", stats[s]);
      put_quoted(to, '"', column);
    }
  }
  fputs(" FROM point p LEFT JOIN metric m ON m.point = p.id GROUP BY p.id;\n", to);
}

static void put_run_itervar(FILE *to, const struct store_study *study) {
  fputs("CREATE VIEW runItervar(runId, itervarName, itervarValue) AS ", to);
  for (int i = 0; i < study->axis_count; i++) {
    if (i) fputs(" UNION ALL ", to);
    fputs("SELECT id, ", to);
    put_quoted(to, '\'', study->axes[i].name);
    fputs(", CAST(", to);
    put_quoted(to, '"', study->axes[i].name);
    fputs(" AS TEXT) FROM point", to);
  }
  if (study->axis_count == 0) fputs("SELECT id, '', '' FROM point WHERE 0", to);
  fputs(";\n", to);
}

/* Statistic suffixes as OMNeT++'s result recorders write them; quantiles, which it has none of, keep our names. */
static const struct {
  const char *suffix, *column;
} scalars[] = {
    {"count", "n"},
    {"mean", "mean"},
    {"stddev", "sd"},
    {"min", "min"},
    {"p5", "p5"},
    {"p25", "p25"},
    {"p50", "p50"},
    {"p75", "p75"},
    {"p95", "p95"},
    {"p99", "p99"},
    {"max", "max"},
    {"failed", "failed"},
};
enum { SCALARS = sizeof scalars / sizeof scalars[0] };

static void put_scalar(FILE *to) {
  fputs("CREATE VIEW scalar(scalarId, runId, moduleName, scalarName, scalarValue) AS ", to);
  for (int i = 0; i < SCALARS; i++) {
    fprintf(to,
        "%sSELECT (m.point * (SELECT count(*) FROM metric_def) + d.position) * %d + %d, m.point,"
        " s.scenario || CASE WHEN instr(m.name, '@') THEN '.' || substr(m.name, instr(m.name, '@') + 1) ELSE '' END,"
        " CASE WHEN instr(m.name, '@') THEN substr(m.name, 1, instr(m.name, '@') - 1) ELSE m.name END || ':%s', m.%s"
        " FROM metric m JOIN metric_def d ON d.name = m.name JOIN study s",
        i ? " UNION ALL " : "", SCALARS, i, scalars[i].suffix, scalars[i].column);
  }
  fputs(";\n", to);
}

char *schema_create_views(const struct store_study *study) {
  struct text text;
  text_begin(&text);
  put_wide(text.to, study);
  /* simtimeExp: our clock counts 10^-9 s */
  fputs("CREATE VIEW run(runId, runName, simtimeExp) AS SELECT p.id, s.scenario || '-' || p.id, -9 FROM point p JOIN study s;\n", text.to);
  put_run_itervar(text.to, study);
  put_scalar(text.to);
  return text_end(&text);
}

char *schema_drop_point_and_views(void) { return strdup("DROP VIEW wide; DROP VIEW run; DROP VIEW runItervar; DROP VIEW scalar; DROP TABLE point;"); }

static void put_parameters(FILE *to, int count) {
  fputs(" VALUES(", to);
  for (int i = 0; i < count; i++) fputs(i ? ",?" : "?", to);
  fputs(")", to);
}

char *schema_insert_point(const struct store_study *study) {
  struct text text;
  text_begin(&text);
  fputs("INSERT INTO point", text.to);
  put_parameters(text.to, 3 + study->axis_count);
  return text_end(&text);
}

char *schema_select_point(const struct store_study *study) {
  struct text text;
  text_begin(&text);
  fputs("SELECT run_key", text.to);
  for (int i = 0; i < study->axis_count; i++) {
    fputs(", ", text.to);
    put_quoted(text.to, '"', study->axes[i].name);
  }
  fputs(" FROM point WHERE id = ?", text.to);
  return text_end(&text);
}

char *schema_insert_metric(void) {
  struct text text;
  text_begin(&text);
  fputs("INSERT OR REPLACE INTO metric", text.to);
  put_parameters(text.to, METRIC_COLUMNS);
  return text_end(&text);
}

char *schema_select_metric(void) {
  struct text text;
  text_begin(&text);
  for (int i = 0; i < METRIC_COLUMNS; i++) {
    fputs(i ? ", " : "SELECT ", text.to);
    put_quoted(text.to, '"', metric_column(i));
  }
  fputs(" FROM metric WHERE point = ? AND name = ?", text.to);
  return text_end(&text);
}

const char *schema_reserved(const char *axis_name) {
  /* "point" is the first column of the view wide */
  static const char *const reserved[] = {"id", "run_key", "replications", "point"};
  for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
    if (strcasecmp(axis_name, reserved[i]) == 0) return reserved[i];
  return NULL;
}

static const char *const kinds[] = {
    [METRIC_TIME] = "time",
    [METRIC_BYTES] = "bytes",
    [METRIC_COUNT] = "count",
    [METRIC_SHARE] = "share",
    [METRIC_SIGNED_TIME] = "signed_time",
    [METRIC_RATE] = "rate",
};

const char *schema_kind_name(enum metric_unit unit) { return kinds[unit]; }

int schema_kind_unit(const char *kind) {
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
    if (strcmp(kinds[i], kind) == 0) return (int)i;
  return -1;
}
