/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page that the repository keeps (calib/VALIDATION.md): the same bytes wherever it is written. */
#include "models/crypto/csv.h"
#include "output/grid.h"
#include "sim/cmd_validate.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(table) ((int)(sizeof table / sizeof table[0]))
#define FIRST_LINE "<!-- written by pqnetsim validate --page; changes here are lost -->\n"

/* --- tables beside the sets --- */

enum { FAMILY, FAMILY_VALUES, FAMILY_HOLDS, FAMILY_SOURCE, FAMILY_COLUMNS };
static const struct csv_column family_columns[] = {{"family", true}, {"values", true}, {"holds", true}, {"source", true}};

enum { TESTED, TESTED_VALUES, TESTED_BY, TESTED_SOURCE, TESTED_COLUMNS };
static const struct csv_column tested_columns[] = {{"what", true}, {"values", true}, {"test", true}, {"source", true}};

static int read_table(const char *name, const struct csv_column *columns, int count, struct csv **out, struct err *e) {
  char *path;
  if (asprintf(&path, "%s/validation/page/%s", cost_data_dir(), name) < 0) abort();
  int status = csv_read(path, columns, count, out, e);
  free(path);
  return status;
}

int validation_print_unmodelled(FILE *to, struct err *e) {
  struct csv *csv;
  int status = read_table("unmodelled.csv", family_columns, FAMILY_COLUMNS, &csv, e);
  if (status) {
    csv_free(csv);
    return status;
  }
  struct grid *grid = grid_new();
  grid_column(grid, "family", GRID_TEXT);
  grid_column(grid, "values", GRID_RIGHT);
  grid_column(grid, "what they hold", GRID_TEXT);
  for (int i = 0; i < csv->row_count; i++) {
    grid_text(grid, csv->rows[i].cells[FAMILY]);
    grid_right(grid, csv->rows[i].cells[FAMILY_VALUES]);
    grid_text(grid, csv->rows[i].cells[FAMILY_HOLDS]);
  }
  grid_print(grid, to);
  grid_free(grid);
  csv_free(csv);
  return 0;
}

int validation_check_unmodelled(const char *name, struct err *e) {
  struct csv *csv;
  int status = read_table("unmodelled.csv", family_columns, FAMILY_COLUMNS, &csv, e);
  for (int i = 0; !status && i < csv->row_count; i++)
    if (!strcmp(csv->rows[i].cells[FAMILY], name))
      status = err_add(e, ERR_INPUT, "--set: %s is not modelled yet, so its %s values cannot be compared; without --set all sets there are", name,
          csv->rows[i].cells[FAMILY_VALUES]);
  csv_free(csv);
  return status;
}

/* --- Markdown --- */

/* A cell: what would end it or begin markup is escaped. */
static void put_cell(FILE *to, const char *text) {
  fputc(' ', to);
  for (; *text; text++) {
    if (strchr("|*_<`\\", *text)) fputc('\\', to);
    fputc(*text == '\n' ? ' ' : *text, to);
  }
  fputs(" |", to);
}

static void put_header(FILE *to, const char *const *headers, int count, int texts) {
  fputc('|', to);
  for (int i = 0; i < count; i++) fprintf(to, " %s |", headers[i]);
  fputs("\n|", to);
  for (int i = 0; i < count; i++) fputs(i < texts || i == count - 1 ? "---|" : "---:|", to);
  fputc('\n', to);
}

static void put_summary(FILE *to, const struct validation *validation) {
  static const char *const headers[] = {
      "set", "values", "within 10 %", "median error", "95th percentile", "median beyond delays", "counts right", "rank correlation", "knees met"};
  static const char *const titles[] = {
      "### Predictions\n\n", "\n### Fits\n\nUsed to set a parameter: that they agree shows that the model can be set so, no more.\n\n"};
  int count;
  struct validate_part *parts = validation_parts(validation, &count);
  for (int i = 0; i < count; i++) {
    const struct score *score = &parts[i].score;
    char text[32];
    if (i == 0 || strcmp(parts[i].role, parts[i - 1].role)) {
      fputs(titles[i > 0], to);
      put_header(to, headers, LENGTH(headers), 1);
    }
    fputc('|', to);
    put_cell(to, parts[i].set);
    fprintf(to, " %d |", score->rows);
    put_cell(to, validation_of(score->near_count, score->reals, text));
    put_cell(to, validation_percent(score->median, false, text));
    put_cell(to, validation_percent(score->p95, false, text));
    put_cell(to, validation_percent(score->median_beyond, false, text));
    put_cell(to, validation_of(score->right, score->counts, text));
    snprintf(text, sizeof text, "%.2f", score->rank);
    put_cell(to, isnan(score->rank) ? "" : text);
    put_cell(to, validation_of(score->knees_met, score->sweeps, text));
    fputc('\n', to);
  }
  free(parts);
}

static void put_miss(FILE *to, const struct validate_row *row) {
  char text[64], *reason = validation_reason(row);
  fputc('|', to);
  put_cell(to, row->id);
  put_cell(to, row->quantity);
  fprintf(to, " %s |", grid_short_number(row->published, 5, text));
  fprintf(to, " %s |", grid_short_number(row->simulated, 5, text));
  put_cell(to, row->unit);
  put_cell(to, validation_percent(score_error(row), true, text));
  put_cell(to, reason);
  fputc('\n', to);
  free(reason);
}

static void put_misses(FILE *to, const struct validation *validation, enum validate_role role) {
  static const char *const headers[] = {"id", "quantity", "published", "simulated", "unit", "error", "reason"};
  for (int s = 0; s < validation->set_count; s++) {
    const struct validate_set *set = validation->sets[s];
    bool begun = false;
    for (int i = 0; i < set->count; i++) {
      if (set->rows[i].role != role || !score_is_miss(&set->rows[i])) continue;
      if (!begun) {
        fprintf(to, "\n**%s**\n\n", set->name);
        put_header(to, headers, LENGTH(headers), 2);
      }
      begun = true;
      put_miss(to, &set->rows[i]);
    }
  }
}

static void put_sets(FILE *to, const struct validation *validation) {
  for (int s = 0; s < validation->set_count; s++) {
    const struct validate_set *set = validation->sets[s];
    fprintf(to, "- **%s**, %s", set->name, set->title);
    for (int n = 0; n < set->note_count; n++) fprintf(to, "%s %s", n ? ";" : ":", set->notes[n]);
    fputs(".\n", to);
  }
}

static void put_rows(FILE *to, const struct csv *csv, int columns) {
  for (int i = 0; i < csv->row_count; i++) {
    fputc('|', to);
    for (int c = 0; c < columns; c++) put_cell(to, csv->rows[i].cells[c]);
    fputc('\n', to);
  }
}

static int put_other_values(FILE *to, struct err *e) {
  static const char *const families[] = {"family", "values", "what they hold", "source"}, *const tests[] = {"what", "values", "test", "source"};
  struct csv *unmodelled, *tested;
  int status = read_table("unmodelled.csv", family_columns, FAMILY_COLUMNS, &unmodelled, e);
  int failed = read_table("tested.csv", tested_columns, TESTED_COLUMNS, &tested, e);
  if (!status) status = failed;
  if (!status) {
    fputs("\n## Compared by tests instead\n\nNo metric of a scenario shows these; `make check` compares them.\n\n", to);
    put_header(to, tests, TESTED_COLUMNS, 1);
    put_rows(to, tested, TESTED_COLUMNS);
    fputs("\n## Not modelled yet\n\nValues that are at hand and that nothing here answers.\n\n", to);
    put_header(to, families, FAMILY_COLUMNS, 1);
    put_rows(to, unmodelled, FAMILY_COLUMNS);
  }
  csv_free(unmodelled);
  csv_free(tested);
  return status;
}

static int put_page(FILE *to, const struct validation *validation, struct validate_runs *runs, struct err *e) {
  fputs(FIRST_LINE
      "# Simulated against published\n\n"
      "Every published or measured value that the models can answer, run and compared. `pqnetsim validate --all` prints each of them,\n"
      "`pqnetsim validate --page calib/VALIDATION.md` writes this page, and `make check` fails when it is not current. The values and their\n"
      "conditions are in `calib/data/validation/`. Durations of operations (`calib/data/platforms/`) are what the models are given, and are not\n"
      "counted here.\n\n"
      "![simulated against published, logarithmic axes](validation.png)\n\n"
      "## Summary\n\n"
      "Errors are relative. *Beyond delays*: with the round trips of the path taken off both sides, which anyone could predict. *Counts*: bytes,\n"
      "packets and events, right when equal (an ECDSA signature varies by 6 bytes). *Rank correlation*: Spearman's across algorithms, mean of the\n"
      "groups of equal other conditions. *Knees*: curves over a load whose sharpest bend lies at the same point. Predictions were not used to set\n"
      "any parameter.\n\n",
      to);
  put_summary(to, validation);
  fputs("\n### The sets\n\n", to);
  put_sets(to, validation);
  fputs("\n## What is missed\n\nCounts that differ, and everything else beyond 10 %, with the reason where it is known.\n", to);
  put_misses(to, validation, VALIDATE_PREDICT);
  fputs("\nAmong the fits:\n", to);
  put_misses(to, validation, VALIDATE_FIT);
  int status = put_other_values(to, e);
  if (!status) status = validation_put_answers(validation, runs, to, e);
  return status;
}

/* Only a page of ours is written over. */
static int check_target(const char *path, struct err *e) {
  char line[sizeof FIRST_LINE];
  FILE *from = fopen(path, "re");
  if (!from) return errno == ENOENT ? 0 : err_add(e, ERR_INPUT, "%s: cannot be read: %s", path, strerror(errno));
  bool ours = fgets(line, sizeof line, from) && !strcmp(line, FIRST_LINE);
  fclose(from);
  return ours ? 0 : err_add(e, ERR_INPUT, "%s: is there already and no page that validate wrote; choose another name, or remove it", path);
}

int validation_write_page(const struct validation *validation, struct validate_runs *runs, const char *path, struct err *e) {
  int status = check_target(path, e);
  if (status) return status;
  char *text = NULL;
  size_t size;
  FILE *to = open_memstream(&text, &size);
  assert(to);
  status = put_page(to, validation, runs, e);
  fclose(to);
  if (!status) {
    FILE *file = fopen(path, "we");
    bool failed = !file || fwrite(text, 1, size, file) != size;
    if (file) failed |= fclose(file) != 0;
    if (failed) status = err_add(e, file ? ERR_SYSTEM : ERR_INPUT, "%s: cannot be written: %s", path, strerror(errno));
  }
  free(text);
  return status;
}
