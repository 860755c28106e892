/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/grid.h"
#include "output/json.h"
#include "output/metric_json.h"
#include "output/stats.h"
#include "output/table.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the point has nothing to say about (an exchange it does not have) is left out, as in the study. */
static bool is_silent(const struct store_row *row) { return row->n == 0 && row->failed == 0; }

/* Writes each "key\tvalue" line of text as "key": "value". */
static void put_parameters(FILE *to, const char *text) {
  for (int i = 0; *text; i++) {
    size_t length = strcspn(text, "\n"), name = strcspn(text, "\t\n");
    char *key = strndup(text, name), *value = strndup(text + name + (name < length), length - name - (name < length));
    assert(key && value);
    fputs(i ? ",\n  " : "\n  ", to);
    json_string(to, key);
    fputs(": ", to);
    json_string(to, value);
    free(key);
    free(value);
    text += length + (text[length] == '\n');
  }
}

void table_run_json(const struct table_run *run, FILE *to) {
  fputs("{\"scenario\": ", to);
  json_string(to, run->scenario);
  fputs(", \"backend\": ", to);
  json_string(to, run->backend);
  fprintf(to, ", \"seed\": %lld, \"replications\": %lld,\n \"point\": {", (long long)run->seed, (long long)run->replications);
  put_parameters(to, run->parameters);
  fputs("},\n \"metrics\": {", to);
  const char *separator = "\n  ";
  for (int i = 0; i < run->chosen_count; i++) {
    const struct metric_def *def = &run->defs[run->chosen[i]];
    struct store_row row;
    stats_row(run->metrics, run->chosen[i], def->unit, &row);
    if (is_silent(&row)) continue;
    fputs(separator, to);
    separator = ",\n  ";
    json_string(to, def->name);
    fputs(": ", to);
    metric_json_write(to, def, &row);
  }
  fputs("},\n \"warnings\": [", to);
  for (int i = 0; i < run->warning_count; i++) {
    fputs(i ? ", " : "", to);
    json_string(to, run->warnings[i]);
  }
  fputs("]}\n", to);
}

/* Which columns a table of metrics needs. */
struct shown {
  bool interval, failed, spread;
};

static struct shown look(const struct store_row *rows, int count) {
  struct shown shown = {false, false, false};
  for (int i = 0; i < count; i++) {
    shown.interval |= !isnan(rows[i].ci95);
    shown.failed |= rows[i].failed > 0;
    shown.spread |= rows[i].n > 1;
  }
  return shown;
}

enum { DIGITS = 4 };

static void metric_row(struct grid *grid, const struct metric_def *def, const struct store_row *row, struct shown shown) {
  const struct {
    bool shown;
    double value;
  } cells[] = {
      {true, row->mean},
      {shown.interval, row->ci95},
      {shown.spread, row->p50},
      {shown.spread, row->p95},
      {shown.spread, row->p99},
      {shown.spread, row->max},
  };
  char buffer[64];
  grid_text(grid, def->name);
  grid_text(grid, metric_unit_name(def->unit));
  grid_number(grid, (double)row->n);
  for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++)
    if (cells[i].shown) grid_right(grid, grid_short_number(cells[i].value, DIGITS, buffer));
  if (shown.failed) grid_number(grid, (double)row->failed);
}

static void put_part(struct grid *grid, const char *indent, const char *part, double value, double whole) {
  if (value == 0) return;
  char name[64], share[32], buffer[64];
  snprintf(name, sizeof name, "  %s%s", indent, part);
  snprintf(share, sizeof share, "%.1f", 100 * value / whole);
  grid_text(grid, name);
  grid_right(grid, grid_short_number(value, DIGITS, buffer));
  grid_right(grid, share);
}

static void put_breakdown(FILE *to, const struct metric_def *def, const struct store_row *row) {
  struct grid *grid = grid_new();
  char header[64];
  snprintf(header, sizeof header, "mean [%s]", metric_unit_name(def->unit));
  grid_column(grid, "  part", GRID_TEXT);
  grid_column(grid, header, GRID_RIGHT);
  grid_column(grid, "share [%]", GRID_RIGHT);
  put_part(grid, "", "crypto", row->crypto, row->mean);
  for (int i = 0; i < PART_COUNT; i++) put_part(grid, i < PART_CRYPTO_COUNT ? "  " : "", metric_part_name((enum part)i), row->parts[i], row->mean);
  fprintf(to, "\n%s: %s -> %s\n", def->name, def->from ? def->from : "", def->to ? def->to : "");
  grid_print(grid, to);
  grid_free(grid);
}

static bool has_breakdown(const struct store_row *row) { return row->has_parts && row->n > 0 && row->mean != 0; }

void table_run_text(const struct table_run *run, FILE *to) {
  struct store_row *rows = calloc((size_t)run->chosen_count + 1, sizeof *rows);
  assert(rows);
  for (int i = 0; i < run->chosen_count; i++) stats_row(run->metrics, run->chosen[i], run->defs[run->chosen[i]].unit, &rows[i]);
  struct shown shown = look(rows, run->chosen_count);
  const struct {
    const char *header;
    bool shown;
  } columns[] = {
      {"mean", true},
      {"\xC2\xB1 95 %", shown.interval},
      {"p50", shown.spread},
      {"p95", shown.spread},
      {"p99", shown.spread},
      {"max", shown.spread},
  };
  struct grid *grid = grid_new();
  grid_column(grid, "metric", GRID_TEXT);
  grid_column(grid, "unit", GRID_TEXT);
  grid_column(grid, "n", GRID_NUMBER);
  for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
    if (columns[i].shown) grid_column(grid, columns[i].header, GRID_RIGHT);
  if (shown.failed) grid_column(grid, "failed", GRID_NUMBER);
  for (int i = 0; i < run->chosen_count; i++)
    if (!is_silent(&rows[i])) metric_row(grid, &run->defs[run->chosen[i]], &rows[i], shown);
  fprintf(to, "%s on %s, seed %lld, %lld replication%s\n\n", run->scenario, run->backend, (long long)run->seed, (long long)run->replications,
      run->replications == 1 ? " (no interval)" : "s");
  grid_print(grid, to);
  grid_free(grid);
  for (int i = 0; i < run->chosen_count; i++)
    if (has_breakdown(&rows[i])) put_breakdown(to, &run->defs[run->chosen[i]], &rows[i]);
  for (int i = 0; i < run->warning_count; i++) fprintf(to, "%swarning: %s\n", i ? "" : "\n", run->warnings[i]);
  free(rows);
}
