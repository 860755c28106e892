/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the model says to contradictions among published values: texts of validation/page/contradictions.csv, in which braces stand for
 * numbers of the day the page is written.
 *   {id}     the cost of that id in costs.csv, else the simulated value of the row of that id in runs.csv or in a set
 *   {=id}    the published value of that row
 *   {a/b}    the ratio of two of them, without unit
 */
#include "models/crypto/csv.h"
#include "output/grid.h"
#include "sim/cmd_validate.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COST_ID, COST_UNIT, COST_PLATFORM, COST_OPERATIONS, COST_SOURCE, COST_COLUMNS };
static const struct csv_column cost_columns[] = {{"id", true}, {"unit", true}, {"platform", true}, {"operations", true}, {"source", true}};

enum { NUMBER, CONTRADICTION, SAYS, CANNOT, ANSWER_SOURCE, ANSWER_COLUMNS };
static const struct csv_column answer_columns[] = {{"number", true}, {"contradiction", true}, {"says", true}, {"cannot", true}, {"source", true}};

struct answers {
  const struct validation *validation;
  struct validate_set *runs;
  struct csv *costs, *texts;
  double *cost_values; /* by row of costs, in its unit */
};

static char *page_path(const char *name) {
  char *path;
  if (asprintf(&path, "%s/validation/page/%s", cost_data_dir(), name) < 0) abort();
  return path;
}

static int read_csv(const char *name, const struct csv_column *columns, int count, struct csv **out, struct err *e) {
  char *path = page_path(name);
  int status = csv_read(path, columns, count, out, e);
  free(path);
  return status;
}

/* --- costs --- */

/* The cost unit in ns; 0 when it is none. */
static double unit_ns(const char *unit) { return !strcmp(unit, "ns") ? 1 : !strcmp(unit, "us") ? 1e3 : !strcmp(unit, "ms") ? 1e6 : 0; }

/* "ML-KEM-768 keygen + ML-KEM-768 decaps": the sum of the platform's medians. */
static int sum_costs(const struct csv *csv, const struct csv_row *row, const struct cost_platform *platform, double *ns, struct err *e) {
  char *text = strdup(row->cells[COST_OPERATIONS]);
  assert(text);
  int status = 0;
  *ns = 0;
  for (char *piece = text, *next; piece && !status; piece = next) {
    next = strstr(piece, " + ");
    if (next) {
      *next = '\0';
      next += 3;
    }
    char *space = strrchr(piece, ' ');
    if (space) *space = '\0';
    const struct cost_row *cost = space ? cost_find(platform, piece, space + 1) : NULL;
    if (cost)
      *ns += (double)cost_median(cost, 0);
    else
      status = err_add(e, ERR_INPUT, "%s:%d: column operations: found '%s', allowed: operations of %s, as in ML-KEM-768 keygen + ML-KEM-768 decaps", csv->path,
          row->line, row->cells[COST_OPERATIONS], row->cells[COST_PLATFORM]);
  }
  free(text);
  return status;
}

static int read_costs(struct answers *answers, struct err *e) {
  int status = read_csv("costs.csv", cost_columns, COST_COLUMNS, &answers->costs, e);
  if (status) return status;
  const struct csv *csv = answers->costs;
  answers->cost_values = calloc((size_t)csv->row_count + 1, sizeof *answers->cost_values);
  assert(answers->cost_values);
  for (int i = 0; i < csv->row_count && !status; i++) {
    const struct csv_row *row = &csv->rows[i];
    struct cost_platform *platform = NULL;
    double ns = 0, unit = unit_ns(row->cells[COST_UNIT]);
    if (unit == 0)
      status = err_add(e, ERR_INPUT, "%s:%d: column unit: found '%s', allowed: ns, us, ms", csv->path, row->line, row->cells[COST_UNIT]);
    else
      status = cost_load(row->cells[COST_PLATFORM], NULL, &platform, e);
    if (!status) status = sum_costs(csv, row, platform, &ns, e);
    if (!status) answers->cost_values[i] = ns / unit;
    cost_free(platform);
  }
  return status;
}

/* --- runs --- */

static int read_runs(struct answers *answers, struct validate_runs *runs, struct err *e) {
  char *path = page_path("runs.csv");
  int status = validate_read(path, false, answers->validation->sources, &answers->runs, e);
  free(path);
  struct validate_set *set = answers->runs;
  for (int i = 0; !status && i < set->count; i++) status = validate_runs_add(runs, set->path, &set->rows[i], e);
  if (!status) status = validate_runs_execute(runs, e);
  for (int i = 0; !status && i < set->count; i++) status = validate_runs_value(runs, set->path, &set->rows[i], &set->rows[i].simulated, e);
  return status;
}

/* --- numbers in texts --- */

static const struct validate_row *find_in(const struct validate_set *set, const char *id) {
  for (int i = 0; i < set->count; i++)
    if (!strcmp(set->rows[i].id, id)) return &set->rows[i];
  return NULL;
}

static bool find_number(const struct answers *answers, const char *id, double *value, const char **unit) {
  bool published = *id == '=';
  id += published;
  for (int i = 0; i < answers->costs->row_count && !published; i++) {
    if (strcmp(answers->costs->rows[i].cells[COST_ID], id)) continue;
    *value = answers->cost_values[i];
    *unit = answers->costs->rows[i].cells[COST_UNIT];
    return true;
  }
  const struct validate_row *row = find_in(answers->runs, id);
  for (int s = 0; s < answers->validation->set_count && !row; s++) row = find_in(answers->validation->sets[s], id);
  if (!row) return false;
  *value = published ? row->published : row->simulated;
  *unit = strcmp(row->unit, "1") ? row->unit : "";
  return !isnan(*value);
}

/* What stands between braces. */
static bool put_number(FILE *to, const struct answers *answers, char *what) {
  double value, under = 1;
  const char *unit, *ignored;
  char *slash = strchr(what, '/'), text[64];
  if (slash) *slash++ = '\0';
  if (!find_number(answers, what, &value, &unit) || (slash && (!find_number(answers, slash, &under, &ignored) || under == 0))) return false;
  fputs(grid_short_number(value / under, 3, text), to);
  if (!slash && *unit) fprintf(to, " %s", unit);
  return true;
}

static int put_text(FILE *to, const struct answers *answers, const struct csv_row *row, int column, struct err *e) {
  for (const char *at = row->cells[column]; *at;) {
    size_t plain = strcspn(at, "{");
    fprintf(to, "%.*s", (int)plain, at);
    at += plain;
    if (!*at) break;
    size_t length = strcspn(++at, "}");
    char *what = strndup(at, length);
    assert(what);
    bool found = at[length] && put_number(to, answers, what);
    free(what);
    if (!found)
      return err_add(e, ERR_INPUT, "%s:%d: column %s: found '{%.*s}', allowed: {id} of costs.csv, runs.csv or a set, {=id}, {a/b}", answers->texts->path,
          row->line, answer_columns[column].name, (int)length, at);
    at += length + 1;
  }
  return 0;
}

static int put_answers(FILE *to, const struct answers *answers, struct err *e) {
  fputs("\n## Contradictions among published values\n\nThe numbers in the third and fourth column were simulated, or read from a platform, while this page was "
        "written.\n\n"
        "| | contradiction | what the model says | what it cannot say |\n|---:|---|---|---|\n",
      to);
  for (int i = 0; i < answers->texts->row_count; i++) {
    const struct csv_row *row = &answers->texts->rows[i];
    fprintf(to, "| %s |", row->cells[NUMBER]);
    for (int column = CONTRADICTION; column <= CANNOT; column++) {
      fputc(' ', to);
      int status = put_text(to, answers, row, column, e);
      if (status) return status;
      fputs(" |", to);
    }
    fputc('\n', to);
  }
  return 0;
}

int validation_put_answers(const struct validation *validation, struct validate_runs *runs, FILE *to, struct err *e) {
  struct answers answers = {.validation = validation};
  int status = read_costs(&answers, e);
  if (!status) status = read_runs(&answers, runs, e);
  if (!status) status = read_csv("contradictions.csv", answer_columns, ANSWER_COLUMNS, &answers.texts, e);
  if (!status) status = put_answers(to, &answers, e);
  validate_free(answers.runs);
  csv_free(answers.costs);
  csv_free(answers.texts);
  free(answers.cost_values);
  return status;
}
