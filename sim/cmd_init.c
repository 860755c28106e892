/* SPDX-License-Identifier: GPL-3.0-or-later */
/* init, check: a scenario file to begin with, and whether one is right. */
#include "output/grid.h"
#include "sim/cmd.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* check prepares at most this many points, evenly spread; a sweep prepares all of its own. */
enum { POINTS_CHECKED = 100000 };

enum { EXAMPLE_AXES = 2 };

/* ---- init ------------------------------------------------------------------------------------------------------ */

struct sheet {
  const struct param **rows; /* of all tables */
  int count;
  bool full;
};

/* A plain scalar could be read as something else, or end early. */
static bool needs_quotes(const char *text) {
  return !*text || strstr(text, ": ") || strchr(text, '#') || strchr("!&*|>'\"%@`?", *text) || !strcmp(text, "~") || !strcmp(text, "null");
}

static void print_leaf(const struct sheet *sheet, const struct param *row, const char *name, int depth) {
  char allowed[PARAMS_TEXT], text[PARAMS_TEXT];
  params_allowed(row, allowed);
  int indent = 2 * depth;
  if (sheet->full) printf("%*s# %s\n", indent, "", row->help);
  if (sheet->full && *allowed) printf("%*s# allowed: %s\n", indent, "", allowed);
  if (!row->fallback) {
    printf("%*s# %s: %s\n", indent, "", name, params_default(row, text));
    return;
  }
  bool quoted = row->kind != PARAM_LIST && row->kind != PARAM_NAMES && row->kind != PARAM_LOSS && needs_quotes(row->fallback);
  int width = printf("%*s%s: %s%s%s", indent, "", name, quoted ? "\"" : "", row->fallback, quoted ? "\"" : "");
  if (sheet->full)
    putchar('\n');
  else
    printf("%*s# %s\n", width < 34 ? 34 - width : 2, "", row->help);
}

/* Something of the group is worth printing, and (in *active) not merely as a comment. */
static bool group_shown(const struct sheet *sheet, const char *prefix, bool *active) {
  bool shown = false;
  *active = false;
  for (int i = 0; i < sheet->count; i++)
    if (!strncmp(sheet->rows[i]->key, prefix, strlen(prefix))) {
      shown |= sheet->full || sheet->rows[i]->fallback;
      *active |= sheet->rows[i]->fallback != NULL;
    }
  return shown;
}

/* True for the first row of the group that starts with key's first `length` characters. */
static bool is_first_of_group(const struct sheet *sheet, int index, size_t length) {
  for (int i = 0; i < index; i++)
    if (!strncmp(sheet->rows[i]->key, sheet->rows[index]->key, length)) return false;
  return true;
}

/* Keys below prefix ("path."), those of one more level as maps of their own behind them. */
static void print_group(const struct sheet *sheet, const char *prefix, int depth) {
  size_t length = strlen(prefix);
  for (int i = 0; i < sheet->count; i++) {
    const struct param *row = sheet->rows[i];
    if (!strncmp(row->key, prefix, length) && !strchr(row->key + length, '.') && (sheet->full || row->fallback))
      print_leaf(sheet, row, row->key + length, depth);
  }
  for (int i = 0; i < sheet->count; i++) {
    const struct param *row = sheet->rows[i];
    const char *dot = strncmp(row->key, prefix, length) ? NULL : strchr(row->key + length, '.');
    if (!dot || !is_first_of_group(sheet, i, (size_t)(dot - row->key) + 1)) continue;
    char *below = strndup(row->key, (size_t)(dot - row->key) + 1);
    bool active;
    assert(below);
    if (group_shown(sheet, below, &active)) {
      /* a map that holds nothing but comments would be an empty value */
      printf("%s%*s%s%.*s:\n", depth ? "" : "\n", 2 * depth, "", active ? "" : "# ", (int)(dot - row->key - (ptrdiff_t)length), row->key + length);
      print_group(sheet, below, depth + 1);
    }
    free(below);
  }
}

/* A time is what groups most often differ in. */
static const struct param *group_example(const struct domain *domain) {
  const struct param *example = NULL;
  for (int t = 0; t < domain->group_table_count; t++)
    for (int r = 0; r < domain->group_tables[t]->count; r++) {
      const struct param *row = &domain->group_tables[t]->rows[r];
      if (row->fallback && !row->sets && (!example || (row->kind == PARAM_TIME && example->kind != PARAM_TIME))) example = row;
    }
  return example;
}

static void print_group_example(const struct domain *domain) {
  const struct param *row = group_example(domain);
  if (row)
    printf("\n# Parts of the population with keys of their own; one without a share takes what the others leave.\n"
           "# groups: {far: {share: 20%%, %s: %s}, near: {}}\n",
        row->key, row->fallback);
}

static void print_own_examples(void) {
  puts("\n# A machine of your own is a file beside this one (platform: ./mine.csv); single operations may come from other files:\n"
       "# {base: xeon-6242r, sign: ./hsm.csv}. An algorithm of your own is sizes here and costs in such a file:\n"
       "# algorithms: {mykem: {type: kem, public_key: 1184B, ciphertext: 1088B, nist_category: 3}}");
}

static void print_sweep_example(const struct domain *domain) {
  printf("\n# Several points: values per key; keys in one map advance together.\n"
         "# sweep:\n");
  int axes = 0;
  for (int t = 0; t < domain->table_count; t++)
    for (int r = 0; r < domain->tables[t]->count && axes < EXAMPLE_AXES; r++) {
      const struct param *row = &domain->tables[t]->rows[r];
      if (row->kind == PARAM_CHOICE && row->fallback && row->choices[0] && row->choices[1])
        axes += printf("#   - %s: [%s, %s]\n", row->key, row->choices[0], row->choices[1]) > 0;
    }
  printf("\n# What to keep (all unless given), and what must hold at every point.\n# metrics: [%s", domain->metrics[0].name);
  for (int m = 1; m < domain->metric_count; m++) printf(", %s", domain->metrics[m].name);
  puts("]");
  for (int m = 0; m < domain->metric_count; m++)
    if (domain->metrics[m].unit == METRIC_TIME) {
      printf("# require: ['%s.p95 <= 100ms']\n", domain->metrics[m].name);
      break;
    }
}

static int run_init(const struct cmd_line *line, struct err *e) {
  const struct domain *domain = params_domain(line, 0, e);
  if (!domain) return 0;
  struct sheet sheet = {.full = cmd_given(line, "full")};
  int room = run_params.count;
  for (int t = 0; t < domain->table_count; t++) room += domain->tables[t]->count;
  sheet.rows = calloc((size_t)room, sizeof *sheet.rows);
  assert(sheet.rows);
  for (int r = 0; r < run_params.count; r++) sheet.rows[sheet.count++] = &run_params.rows[r];
  for (int t = 0; t < domain->table_count; t++)
    for (int r = 0; r < domain->tables[t]->count; r++) sheet.rows[sheet.count++] = &domain->tables[t]->rows[r];
  printf(
      "# %s\n# Written by `pqnetsim init %s%s`: every value is the default and may be left out.\n", domain->title, domain->name, sheet.full ? " --full" : "");
  printf("# Next: pqnetsim check FILE.yaml, pqnetsim run FILE.yaml\n\nscenario: %s\ntitle: A first %s study\n", domain->name, domain->name);
  print_group(&sheet, "", 0);
  print_group_example(domain);
  if (sheet.full) print_own_examples();
  if (sheet.full) print_sweep_example(domain);
  free(sheet.rows);
  return 0;
}

static const struct cmd_option option_full = {
    "full", 0, CMD_FLAG, NULL, "Every parameter with what is allowed, and examples of what else a file may hold", NULL, 0, 0};
static const struct cmd_option *const init_options[] = {&option_full, NULL};

const struct cmd cmd_init = {"init", "DOMAIN", 1, 1, "Write a commented scenario file to standard output.",
    "  pqnetsim init e2 > mine.yaml\n"
    "  pqnetsim init e2 --full > mine.yaml && pqnetsim check mine.yaml",
    init_options, run_init};

/* ---- check ----------------------------------------------------------------------------------------------------- */

static void print_axes(const struct scenario *scenario) {
  for (int a = 0; a < scenario->axis_count; a++) {
    const struct axis *axis = &scenario->axes[a];
    printf("axis %s, %d values:", axis->name, axis->count);
    for (int v = 0; v < axis->count; v++) printf("%s%s", v ? ", " : " ", axis->values[v].label);
    putchar('\n');
  }
}

static void print_parameters(const char *lines) {
  struct grid *grid = grid_new();
  grid_column(grid, "parameter", GRID_TEXT);
  grid_column(grid, "value", GRID_TEXT);
  while (*lines) {
    const char *tab = strchr(lines, '\t'), *end = strchr(lines, '\n');
    char *key = strndup(lines, (size_t)(tab - lines)), *value = strndup(tab + 1, (size_t)(end - tab - 1));
    assert(key && value);
    grid_text(grid, key);
    grid_text(grid, value);
    free(key);
    free(value);
    lines = end + 1;
  }
  grid_print(grid, stdout);
  grid_free(grid);
}

static int run_check(const struct cmd_line *line, struct err *e) {
  struct study *study = NULL;
  if (study_open(line, true, &study, e)) return 0;
  int64_t checked = study->point_count < POINTS_CHECKED ? study->point_count : POINTS_CHECKED;
  if (!study_prepare(study, checked, e)) {
    const struct scenario *scenario = study->scenario;
    int64_t runs = study->point_count * study->replications;
    printf("%s: %s, %s\n", scenario->path, scenario->domain->name, *scenario->title ? scenario->title : "no title");
    printf("%" PRId64 " point%s, n=%d, %" PRId64 " run%s, seed %" PRIu64 ", backend %s\n", study->point_count, study->point_count == 1 ? "" : "s",
        study->replications, runs, runs == 1 ? "" : "s", study->seed, study->ops.name);
    print_axes(scenario);
    for (int r = 0; r < scenario->requirement_count; r++) printf("require %s\n", scenario->requirements[r].text);
    putchar('\n');
    print_parameters(study->parameters);
    for (int i = 0; i < study->warning_count; i++) fprintf(stderr, "pqnetsim: warning: %s\n", study->warnings[i]);
    if (checked < study->point_count)
      fprintf(stderr, "pqnetsim: %" PRId64 " of the points were tried, evenly spread; a sweep tries all before it runs\n", checked);
  }
  study_close(study);
  return 0;
}

static const struct cmd_option *const check_options[] = {&cmd_option_set, &cmd_option_seed, &cmd_option_reps, &cmd_option_backend, NULL};

const struct cmd cmd_check = {"check", "FILE.yaml", 1, 1, "Try a scenario's parameters, print what would run; run nothing.",
    "  pqnetsim check scenarios/e2-rtt.yaml\n"
    "  pqnetsim check mine.yaml --set path.mtu=1280 --backend ns3",
    check_options, run_check};
