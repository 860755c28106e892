/* SPDX-License-Identifier: GPL-3.0-or-later */
/* validate: published values against simulated ones. */
#include "sim/cmd_validate.h"
#include "output/grid.h"
#include "output/plot_scatter.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(table) ((int)(sizeof table / sizeof table[0]))

enum { MISSES_SHOWN = 12 };

/* --- sets --- */

static int is_table(const struct dirent *entry) {
  size_t length = strlen(entry->d_name);
  return length > 4 && entry->d_name[0] != '.' && !strcmp(entry->d_name + length - 4, ".csv");
}

static int by_bytes(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

static int read_set(struct validation *validation, const char *path, struct err *e) {
  struct validate_set *set;
  int status = validate_read(path, true, validation->sources, &set, e);
  if (status) return status;
  validation->sets = realloc(validation->sets, ((size_t)validation->set_count + 1) * sizeof(struct validate_set *));
  assert(validation->sets);
  validation->sets[validation->set_count++] = set;
  return 0;
}

static int unknown_set(const char *name, struct dirent *const *files, int count, struct err *e) {
  int status = validation_check_unmodelled(name, e);
  if (status) return status;
  const char **names = calloc((size_t)count, sizeof *names);
  char *text = NULL;
  size_t size;
  FILE *to = open_memstream(&text, &size);
  assert(names && to);
  for (int i = 0; i < count; i++) {
    char *base = strndup(files[i]->d_name, strlen(files[i]->d_name) - 4);
    assert(base);
    fprintf(to, "%s%s", i ? ", " : "", base);
    names[i] = base;
  }
  fclose(to);
  status = err_add(e, ERR_INPUT, "--set: found '%s', allowed %s%s", name, text, cmd_suggestion(name, names, count));
  for (int i = 0; i < count; i++) free((char *)names[i]);
  free(names);
  free(text);
  return status;
}

/* The shipped sets, or the one named. */
static int read_shipped(struct validation *validation, const char *wanted, struct err *e) {
  char *folder;
  struct dirent **files = NULL;
  if (asprintf(&folder, "%s/validation", cost_data_dir()) < 0) abort();
  int count = scandir(folder, &files, is_table, by_bytes), status = 0;
  if (count < 1) status = err_add(e, ERR_INPUT, "%s: holds no validation sets: %s", folder, count < 0 ? strerror(errno) : "the installation is not complete");
  for (int i = 0; i < count; i++) {
    char *path;
    if (asprintf(&path, "%s/%s", folder, files[i]->d_name) < 0) abort();
    bool chosen = !wanted || (strlen(wanted) + 4 == strlen(files[i]->d_name) && !strncmp(files[i]->d_name, wanted, strlen(wanted)));
    int failed = chosen ? read_set(validation, path, e) : 0;
    status = status ? status : failed;
    free(path);
  }
  if (!status && !validation->set_count) status = unknown_set(wanted, files, count, e);
  for (int i = 0; i < count; i++) free(files[i]);
  free(files);
  free(folder);
  return status;
}

static int run_rows(const struct validation *validation, struct validate_runs *runs, struct err *e) {
  int status = 0;
  for (int s = 0; s < validation->set_count; s++)
    for (int i = 0; i < validation->sets[s]->count; i++) {
      int failed = validate_runs_add(runs, validation->sets[s]->path, &validation->sets[s]->rows[i], e);
      status = status ? status : failed;
    }
  if (!status) status = validate_runs_execute(runs, e);
  for (int s = 0; s < validation->set_count && !status; s++)
    for (int i = 0; i < validation->sets[s]->count; i++) {
      struct validate_row *row = &validation->sets[s]->rows[i];
      double value;
      int failed = validate_runs_value(runs, validation->sets[s]->path, row, &value, e);
      if (!failed) row->simulated = value;
      status = status ? status : failed;
    }
  return status;
}

/* --- what they come to --- */

static int collect(const struct validation *validation, int set, enum validate_role role, const struct validate_row **rows) {
  int count = 0;
  for (int s = 0; s < validation->set_count; s++)
    for (int i = 0; i < validation->sets[s]->count && (set < 0 || set == s); i++)
      if (validation->sets[s]->rows[i].role == role) rows[count++] = &validation->sets[s]->rows[i];
  return count;
}

struct validate_part *validation_parts(const struct validation *validation, int *count) {
  int most = 0;
  for (int s = 0; s < validation->set_count; s++) most += validation->sets[s]->count;
  const struct validate_row **rows = calloc((size_t)most, sizeof *rows);
  struct validate_part *parts = calloc(2 * (size_t)validation->set_count + 2, sizeof *parts);
  assert(rows && parts);
  *count = 0;
  for (int r = 0; r < 2; r++) {
    enum validate_role role = r ? VALIDATE_FIT : VALIDATE_PREDICT;
    for (int s = 0; s <= validation->set_count; s++) {
      bool all = s == validation->set_count;
      int n = all && s == 1 ? 0 : collect(validation, all ? -1 : s, role, rows);
      if (!n) continue;
      struct validate_part *part = &parts[(*count)++];
      *part = (struct validate_part){.set = all ? "all" : validation->sets[s]->name, .role = validate_role_name(role)};
      score_rows(rows, n, &part->score);
    }
  }
  free(rows);
  return parts;
}

const char *validation_percent(double share, bool with_sign, char buffer[32]) {
  buffer[0] = '\0';
  if (!isnan(share)) snprintf(buffer, 32, with_sign ? "%+.1f %%" : "%.1f %%", 100 * share);
  return buffer;
}

const char *validation_of(int part, int whole, char buffer[32]) {
  buffer[0] = '\0';
  if (whole) snprintf(buffer, 32, "%d of %d", part, whole);
  return buffer;
}

char *validation_condition(const struct validate_row *row) {
  char *text;
  if (asprintf(&text, "%s: %s%s%s", row->scenario, row->settings_text, row->has_minus ? ", less " : "", row->minus_text) < 0) abort();
  return text;
}

char *validation_reason(const struct validate_row *row) {
  char *text, number[64];
  bool missed = score_is_miss(row), uncertain = missed && score_is_tolerated(row);
  const char *note = *row->note || !missed || uncertain ? row->note : "unknown";
  int length =
      uncertain ? asprintf(&text, "within its own uncertainty of %s %s%s%s", grid_short_number(row->tolerance, 5, number), row->unit, *note ? "; " : "", note)
                : asprintf(&text, "%s", note);
  if (length < 0) abort();
  return text;
}

/* --- text --- */

static void print_summary(const struct validation *validation) {
  static const char *const headers[] = {
      "role", "set", "values", "within 10 %", "median error", "95th pct", "beyond delay", "counts right", "rank corr.", "knees met"};
  struct grid *grid = grid_new();
  for (int i = 0; i < LENGTH(headers); i++) grid_column(grid, headers[i], i < 2 ? GRID_TEXT : GRID_RIGHT);
  int count;
  struct validate_part *parts = validation_parts(validation, &count);
  for (int i = 0; i < count; i++) {
    const struct score *score = &parts[i].score;
    char text[32];
    grid_text(grid, parts[i].role);
    grid_text(grid, parts[i].set);
    snprintf(text, sizeof text, "%d", score->rows);
    grid_right(grid, text);
    grid_right(grid, validation_of(score->near_count, score->reals, text));
    grid_right(grid, validation_percent(score->median, false, text));
    grid_right(grid, validation_percent(score->p95, false, text));
    grid_right(grid, validation_percent(score->median_beyond, false, text));
    grid_right(grid, validation_of(score->right, score->counts, text));
    snprintf(text, sizeof text, "%.2f", score->rank);
    grid_right(grid, isnan(score->rank) ? "" : text);
    grid_right(grid, validation_of(score->knees_met, score->sweeps, text));
  }
  grid_print(grid, stdout);
  grid_free(grid);
  free(parts);
  fputs("\nfit: values used to set a parameter; predict: not used. beyond delay: median error with the path's delays taken off both sides.\n"
        "counts: bytes, packets, events. rank corr.: Spearman's, across algorithms. knees: where a curve over a load bends most.\n",
      stdout);
}

static void print_rows(const struct validate_row *const *rows, int count) {
  static const char *const headers[] = {"id", "quantity", "published", "simulated", "unit", "error", "beyond delay", "reason, note"};
  struct grid *grid = grid_new();
  for (int i = 0; i < LENGTH(headers); i++) grid_column(grid, headers[i], i < 2 || i == 4 || i == 7 ? GRID_TEXT : GRID_RIGHT);
  for (int i = 0; i < count; i++) {
    const struct validate_row *row = rows[i];
    char text[64];
    grid_text(grid, row->id);
    grid_text(grid, row->quantity);
    grid_right(grid, grid_short_number(row->published, 5, text));
    grid_right(grid, grid_short_number(row->simulated, 5, text));
    grid_text(grid, row->unit);
    grid_right(grid, validation_percent(score_error(row), true, text));
    grid_right(grid, validation_percent(score_error_beyond(row), true, text));
    char *reason = validation_reason(row);
    grid_text(grid, reason);
    free(reason);
  }
  grid_print(grid, stdout);
  grid_free(grid);
}

/* What its own uncertainty explains comes last. */
static int worst_first(const void *a, const void *b) {
  const struct validate_row *const *x = a, *const *y = b;
  int order = score_is_tolerated(*x) - score_is_tolerated(*y);
  if (order) return order;
  double p = fabs(score_error(*x)), q = fabs(score_error(*y));
  if (p != q) return (q > p) - (q < p);
  return strcmp((*x)->id, (*y)->id);
}

static const struct validate_row **rows_of(const struct validation *validation, enum validate_role role, int *count) {
  int most = 0;
  for (int s = 0; s < validation->set_count; s++) most += validation->sets[s]->count;
  const struct validate_row **rows = calloc((size_t)most + 1, sizeof *rows);
  assert(rows);
  *count = collect(validation, -1, role, rows);
  return rows;
}

static void print_misses(const struct validation *validation) {
  int count, misses = 0;
  const struct validate_row **rows = rows_of(validation, VALIDATE_PREDICT, &count);
  for (int i = 0; i < count; i++)
    if (score_is_miss(rows[i])) rows[misses++] = rows[i];
  qsort(rows, (size_t)misses, sizeof *rows, worst_first);
  if (misses) {
    printf("\n%d of %d predictions miss (a count that differs, anything else by more than 10 %%)%s\n", misses, count,
        misses > MISSES_SHOWN ? "; the worst, --all shows every value:" : ":");
    print_rows(rows, misses < MISSES_SHOWN ? misses : MISSES_SHOWN);
  }
  free(rows);
}

static void print_all(const struct validation *validation) {
  for (int r = 0; r < 2; r++) {
    int count;
    const struct validate_row **rows = rows_of(validation, r ? VALIDATE_FIT : VALIDATE_PREDICT, &count);
    if (count) {
      puts(r ? "FIT: used to set a parameter" : "PREDICT: not used to set any parameter");
      print_rows(rows, count);
      putchar('\n');
    }
    free(rows);
  }
}

/* --- JSON --- */

static const struct listing_column json_columns[] = {{"id", "", true}, {"set", "", true}, {"quantity", "", true}, {"condition", "", true},
    {"published", "", false}, {"simulated", "", false}, {"unit", "", true}, {"error_pct", "", false}, {"error_beyond_pct", "", false}, {"role", "", true},
    {"source", "", true}, {"note", "", true}};

static void print_json(const struct validation *validation) {
  struct listing listing;
  listing_begin(&listing, json_columns, LENGTH(json_columns), true);
  for (int s = 0; s < validation->set_count; s++) {
    for (int i = 0; i < validation->sets[s]->count; i++) {
      const struct validate_row *row = &validation->sets[s]->rows[i];
      char *condition = validation_condition(row);
      listing_text(&listing, row->id);
      listing_text(&listing, validation->sets[s]->name);
      listing_text(&listing, row->quantity);
      listing_text(&listing, condition);
      listing_number(&listing, row->published);
      listing_number(&listing, row->simulated);
      listing_text(&listing, row->unit);
      listing_number(&listing, 100 * score_error(row));
      listing_number(&listing, 100 * score_error_beyond(row));
      listing_text(&listing, validate_role_name(row->role));
      listing_text(&listing, row->source);
      listing_text(&listing, row->note);
      free(condition);
    }
  }
  listing_end(&listing);
  putchar('\n');
}

/* --- the figure --- */

/* A series for each set and role, times and shares in one panel, counts in the other. */
static void fill_panel(const struct validation *validation, bool counts, struct scatter_panel *panel) {
  panel->series = calloc(2 * (size_t)validation->set_count, sizeof *panel->series);
  assert(panel->series);
  for (int r = 0; r < 2; r++) {
    for (int s = 0; s < validation->set_count; s++) {
      const struct validate_set *set = validation->sets[s];
      struct scatter_series *series = &panel->series[panel->series_count];
      *series = (struct scatter_series){.name = set->name, .style = s, .hollow = r == 0, .points = calloc((size_t)set->count, sizeof *series->points)};
      assert(series->points);
      for (int i = 0; i < set->count; i++) {
        const struct validate_row *row = &set->rows[i];
        bool is_time = !strcmp(row->unit, "ms"), is_size = !strcmp(row->unit, "B") || !strcmp(row->unit, "1");
        if (row->role != (r ? VALIDATE_PREDICT : VALIDATE_FIT) || !(counts ? is_size : is_time)) continue;
        if (row->published > 0 && row->simulated > 0) series->points[series->count++] = (struct scatter_point){row->published, row->simulated};
      }
      if (series->count)
        panel->series_count++;
      else
        free(series->points);
    }
  }
}

static int draw(const struct validation *validation, const char *path, struct err *e) {
  struct scatter scatter = {.title = "Simulated against published",
      .near = SCORE_NEAR,
      .subtitle = "filled: predictions; hollow: values used to set a parameter; line: equal, band: within 10 %",
      .panels = {{.x_label = "published (ms)", .y_label = "simulated (ms)"},
          {.x_label = "published (B, packets, events)", .y_label = "simulated (B, packets, events)"}}};
  for (int p = 0; p < 2; p++) fill_panel(validation, p == 1, &scatter.panels[p]);
  int status = scatter_draw(&scatter, path, e);
  for (int p = 0; p < 2; p++) {
    for (int s = 0; s < scatter.panels[p].series_count; s++) free(scatter.panels[p].series[s].points);
    free(scatter.panels[p].series);
  }
  return status;
}

/* --- the command --- */

static int check_options(const struct cmd_line *line, struct err *e) {
  bool set = cmd_given(line, "set"), data = cmd_given(line, "data");
  if (set && data) return err_add(e, ERR_INPUT, "--set and --data: give one of them: a shipped set, or a file of your own");
  if (cmd_given(line, "page") && (set || data)) return err_add(e, ERR_INPUT, "--page: is of all shipped sets; leave out --set and --data");
  return cmd_given(line, "output") ? scatter_check_path(cmd_text(line, "output", ""), e) : 0;
}

static int print(const struct cmd_line *line, const struct validation *validation, struct err *e) {
  if (cmd_given(line, "json")) {
    print_json(validation);
    return 0;
  }
  if (cmd_given(line, "all")) print_all(validation);
  print_summary(validation);
  if (!cmd_given(line, "all")) print_misses(validation);
  if (cmd_given(line, "set") || cmd_given(line, "data")) return 0;
  puts("\nnot modelled yet, so that none of these values is answered:");
  return validation_print_unmodelled(stdout, e);
}

static int validate(const struct cmd_line *line, struct err *e) {
  struct cost_sources *sources = NULL;
  int status = check_options(line, e);
  if (!status) status = cost_sources_load(&sources, e);
  if (status) return status;
  struct validation validation = {.sources = sources};
  struct validate_runs *runs = validate_runs_new();
  status = cmd_given(line, "data") ? read_set(&validation, cmd_text(line, "data", ""), e) : read_shipped(&validation, cmd_text(line, "set", NULL), e);
  if (!status) status = run_rows(&validation, runs, e);
  if (!status && cmd_given(line, "page")) status = validation_write_page(&validation, runs, cmd_text(line, "page", ""), e);
  if (!status && cmd_given(line, "output")) status = draw(&validation, cmd_text(line, "output", ""), e);
  if (!status) status = print(line, &validation, e);
  for (int i = 0; i < validation.set_count; i++) validate_free(validation.sets[i]);
  free(validation.sets);
  validate_runs_free(runs);
  cost_sources_free(sources);
  return status;
}

static int run(const struct cmd_line *line, struct err *e) {
  (void)!validate(line, e); /* main prints what is in e */
  return 0;
}

static const struct cmd_option option_set = {"set", 0, CMD_TEXT, "NAME", "One shipped set instead of all", NULL, 0, 0};
static const struct cmd_option option_data = {"data", 0, CMD_TEXT, "FILE.csv", "Your own measurements instead of the shipped sets", NULL, 0, 0};
static const struct cmd_option option_all = {"all", 'v', CMD_FLAG, NULL, "Every value, not only the worst misses", NULL, 0, 0};
static const struct cmd_option option_figure = {"output", 'o', CMD_TEXT, "FIG", "Draw simulated against published: .svg, .png or .pdf", NULL, 0, 0};
static const struct cmd_option option_page = {"page", 0, CMD_TEXT, "FILE.md", "Write the validation page of the repository", NULL, 0, 0};
static const struct cmd_option *const options[] = {&option_set, &option_data, &option_all, &cmd_option_json, &option_figure, &option_page, NULL};

const struct cmd cmd_validate = {"validate", "", 0, 0, "Compare published and measured values with simulated ones.",
    "  pqnetsim validate\n"
    "  pqnetsim validate --set strongswan-rtt --all\n"
    "  pqnetsim validate --json > validation.json\n"
    "  pqnetsim validate -o validation.svg\n"
    "  pqnetsim validate --data mine.csv --all\n"
    "\n"
    "mine.csv has a measured value on each line: the columns scenario, settings,\n"
    "metric, published and unit, and if you like id, quantity, minus, stat, given,\n"
    "tolerance, role, source and note. For example\n"
    "  scenario,settings,metric,stat,published,unit\n"
    "  e2-ipsec,ipsec.kex=mlkem768;path.rtt=20ms,tunnel_setup,p50,44.9,ms",
    options, run};
