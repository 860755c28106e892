/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run --sensitivity: which costs move a metric. The point runs once as it is, once with each cost row it drew from 10 %
 * longer, and once with all rows of a kind. Replications meet the same luck each time, so the differences are sharp. */
#include "models/crypto/cost_share.h"
#include "output/grid.h"
#include "output/json.h"
#include "sim/cmd.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(table) ((int)(sizeof table / sizeof table[0]))

enum { LONGER_NUM = 11, LONGER_DEN = 10, LONGER_PERCENT = 10, KINDS = COST_ASSUMED + 1 };

/* A cost row that was drawn from, and what it does. */
struct effect {
  struct cost_operation row;
  char *roles;
  double change; /* in the printed unit; for a kind: of all its rows */
};

struct ranking {
  const struct study *study;
  int metric;
  const char *stat;
  const struct metric_def *def;
  struct store_row base_row;
  double base;
  int count, moving; /* rows drawn from; of them those with a change, which stand first */
  struct effect *effects;
  int kind_rows[KINDS];
  double kind_change[KINDS];
};

/* ---- Values ----------------------------------------------------------------------------------------------------- */

/* A mean is taken from the exact sums to 1/1000 of the base unit: a change may be far below the nine digits of what is printed. */
static double value_of(const struct ranking *ranking, const struct metric_set *metrics) {
  struct metric_summary summary;
  struct store_row row;
  double value = NAN;
  metric_summarise(metrics, ranking->metric, &summary);
  if (!strcmp(ranking->stat, "mean")) return round(summary.mean * 1000) / 1000 * metric_unit_scale(ranking->def->unit);
  stats_row(metrics, ranking->metric, ranking->def->unit, &row);
  bool known = stats_named(&row, ranking->stat, &value);
  assert(known);
  return value;
}

/* Runs the point with a scaling (NULL: as stated). */
static int run_scaled(const struct ranking *ranking, const struct cost_scaling *scaling, struct execution *execution, struct metric_set **out, struct err *e) {
  const struct roster *roster = ranking->study->scenario->roster;
  *out = metric_set_new(roster->metrics, roster->metric_count);
  cost_share_scale(scaling);
  int status = execute_point(ranking->study, 0, execution, *out, e);
  cost_share_scale(NULL);
  return status;
}

static int change_by(const struct ranking *ranking, const struct cost_scaling *scaling, double *change, struct err *e) {
  struct execution execution = {.count = ranking->study->replications};
  struct metric_set *metrics;
  int status = run_scaled(ranking, scaling, &execution, &metrics, e);
  if (!status) *change = stats_round(value_of(ranking, metrics) - ranking->base);
  metric_set_free(metrics);
  return status;
}

/* ---- Rows drawn from -------------------------------------------------------------------------------------------- */

struct role_search {
  const struct config *config;
  const char *platform;
  FILE *to;
  int count;
};

/* "platform.initiator" and "groups.rural.platform.initiator" are the roles initiator and initiator@rural. */
static void add_role(void *arg, const struct param *param, const char *text) {
  struct role_search *search = arg;
  static const char section[] = "platform.", groups[] = "groups.";
  const char *at = strstr(param->key, section);
  bool grouped = at && at > param->key && !strncmp(param->key, groups, strlen(groups)) && at[-1] == '.';
  if (!at || (at > param->key && !grouped) || strcmp(text, search->platform)) return;
  if (param->follows && !config_is_set(search->config, param->key)) return;
  fprintf(search->to, "%s%s", search->count++ ? ", " : "", at + strlen(section));
  if (grouped) fprintf(search->to, "@%.*s", (int)(at - 1 - param->key - strlen(groups)), param->key + strlen(groups));
}

/* Adds who uses a platform to a row's roles. */
static void add_roles(const struct ranking *ranking, struct effect *effect, const char *platform) {
  size_t size;
  char *roles = NULL;
  struct role_search search = {ranking->study->scenario->base, platform, open_memstream(&roles, &size), effect->roles != NULL};
  assert(search.to);
  if (effect->roles) fputs(effect->roles, search.to);
  config_each(search.config, add_role, &search);
  fclose(search.to);
  free(effect->roles);
  effect->roles = roles;
}

static bool is_same_row(const struct cost_operation *a, const struct cost_operation *b) {
  return !strcmp(a->from_file, b->from_file) && !strcmp(a->algorithm, b->algorithm) && !strcmp(a->operation, b->operation);
}

/* Two platforms with the same base share its rows: these are moved, and counted, once. */
static void collect_rows(void *arg, const struct cost_platform *platform) {
  struct ranking *ranking = arg;
  for (int i = 0; i < cost_operation_count(platform); i++) {
    struct cost_operation row;
    cost_operation(platform, i, &row);
    if (!row.drawn) continue;
    int k = 0;
    while (k < ranking->count && !is_same_row(&ranking->effects[k].row, &row)) k++;
    if (k == ranking->count) {
      ranking->effects = realloc(ranking->effects, ((size_t)k + 1) * sizeof *ranking->effects);
      assert(ranking->effects);
      ranking->effects[ranking->count++] = (struct effect){.row = row};
      ranking->kind_rows[row.kind]++;
    }
    add_roles(ranking, &ranking->effects[k], cost_platform_name(platform));
  }
}

static int by_change(const void *pa, const void *pb) {
  const struct effect *a = pa, *b = pb;
  double x = fabs(a->change), y = fabs(b->change);
  if (x != y) return x < y ? 1 : -1;
  int order = strcmp(a->row.from_file, b->row.from_file);
  if (!order) order = strcmp(a->row.algorithm, b->row.algorithm);
  return order ? order : strcmp(a->row.operation, b->row.operation);
}

static int move_rows(struct ranking *ranking, struct err *e) {
  struct progress progress;
  int done = 0, kinds = 0, status = 0;
  for (int k = 0; k < KINDS; k++) kinds += ranking->kind_rows[k] > 0;
  progress_begin(&progress, "runs with longer costs", ranking->count + kinds, 0);
  for (int i = 0; i < ranking->count && !status; i++) {
    struct effect *effect = &ranking->effects[i];
    const struct cost_scaling scaling = {
        .file = effect->row.from_file, .algorithm = effect->row.algorithm, .operation = effect->row.operation, .num = LONGER_NUM, .den = LONGER_DEN};
    status = change_by(ranking, &scaling, &effect->change, e);
    progress_show(&progress, ++done);
  }
  for (int k = 0; k < KINDS && !status; k++) {
    if (!ranking->kind_rows[k]) continue;
    const struct cost_scaling scaling = {.any_of_kind = true, .kind = (enum cost_kind)k, .num = LONGER_NUM, .den = LONGER_DEN};
    status = change_by(ranking, &scaling, &ranking->kind_change[k], e);
    progress_show(&progress, ++done);
  }
  progress_end(&progress);
  if (ranking->count) qsort(ranking->effects, (size_t)ranking->count, sizeof *ranking->effects, by_change);
  while (ranking->moving < ranking->count && ranking->effects[ranking->moving].change != 0) ranking->moving++;
  return status;
}

/* ---- What is printed -------------------------------------------------------------------------------------------- */

static double percent(const struct ranking *ranking, double change) { return ranking->base != 0 ? stats_round(100 * change / fabs(ranking->base)) : NAN; }

/* The unit of changes, "" for plain numbers. */
static const char *unit_of(const struct ranking *ranking) {
  static const char *const plain[] = {"n", "failed", "cv"};
  for (int i = 0; i < LENGTH(plain); i++)
    if (!strcmp(ranking->stat, plain[i])) return "";
  const char *unit = metric_unit_name(ranking->def->unit);
  return strcmp(unit, "1") ? unit : "";
}

/* "0.1 ms (1.94 %)" */
static const char *change_text(const struct ranking *ranking, double change, char buffer[192]) {
  char number[64], share[64];
  const char *unit = unit_of(ranking);
  int used = snprintf(buffer, 192, "%s%s%s", grid_short_number(change, 4, number), *unit ? " " : "", unit);
  if (ranking->base != 0) snprintf(buffer + used, 192 - (size_t)used, " (%s %%)", grid_short_number(percent(ranking, change), 3, share));
  return buffer;
}

/* What to measure first: the row that moves most among those nobody measured or published. */
static const struct effect *weakest(const struct ranking *ranking) {
  for (int i = 0; i < ranking->moving; i++)
    if (ranking->effects[i].row.kind >= COST_ESTIMATED) return &ranking->effects[i];
  return NULL;
}

static void print_rows(const struct ranking *ranking, bool json) {
  char change[64];
  const char *unit = unit_of(ranking);
  snprintf(change, sizeof change, *unit ? "change (%s)" : "change%s", unit);
  const struct listing_column columns[] = {{"rank", "rank", false}, {"roles", "platform of", true}, {"platform", "stated in", true},
      {"algorithm", "algorithm", true}, {"operation", "operation", true}, {"sizes", "sizes", false}, {"kind", "kind", true}, {"source", "source", true},
      {"median_us", "median (us)", false}, {"largest_size_us", "largest size (us)", false}, {"change", change, false}, {"change_pct", "change (%)", false}};
  struct listing listing;
  listing_begin(&listing, columns, LENGTH(columns), json);
  for (int i = 0; i < ranking->moving; i++) {
    const struct effect *effect = &ranking->effects[i];
    listing_number(&listing, i + 1);
    listing_text(&listing, effect->roles);
    listing_text(&listing, effect->row.from_platform);
    listing_text(&listing, effect->row.algorithm);
    listing_text(&listing, effect->row.operation);
    listing_number(&listing, effect->row.sizes);
    listing_text(&listing, cost_kind_name(effect->row.kind));
    listing_text(&listing, effect->row.source);
    listing_number(&listing, (double)effect->row.smallest_ns / 1000);
    listing_number(&listing, effect->row.sizes > 1 ? (double)effect->row.largest_ns / 1000 : NAN);
    listing_number(&listing, effect->change);
    listing_number(&listing, percent(ranking, effect->change));
  }
  listing_end(&listing);
}

static void print_json(const struct ranking *ranking) {
  const struct study *study = ranking->study;
  const struct effect *first = weakest(ranking);
  fputs("{\"scenario\": ", stdout);
  json_string(stdout, study->scenario->domain->name);
  fputs(", \"metric\": ", stdout);
  json_string(stdout, ranking->def->name);
  fprintf(stdout, ", \"stat\": \"%s\", \"unit\": ", ranking->stat);
  json_string(stdout, *unit_of(ranking) ? unit_of(ranking) : "1");
  fprintf(
      stdout, ", \"seed\": %llu, \"replications\": %d, \"longer_pct\": %d, \"value\": ", (unsigned long long)study->seed, study->replications, LONGER_PERCENT);
  json_number(stdout, stats_round(ranking->base));
  fputs(",\n \"rows\": ", stdout);
  print_rows(ranking, true);
  fprintf(stdout, ",\n \"rows_without_effect\": %d,\n \"kinds\": [", ranking->count - ranking->moving);
  const char *separator = "\n ";
  for (int k = 0; k < KINDS; k++) {
    if (!ranking->kind_rows[k]) continue;
    fprintf(stdout, "%s{\"kind\": \"%s\", \"rows\": %d, \"change\": ", separator, cost_kind_name((enum cost_kind)k), ranking->kind_rows[k]);
    json_number(stdout, ranking->kind_change[k]);
    fputs(", \"change_pct\": ", stdout);
    json_number(stdout, percent(ranking, ranking->kind_change[k]));
    putchar('}');
    separator = ",\n ";
  }
  fputs("\n],\n \"measure_first\": ", stdout);
  if (first) fprintf(stdout, "%d}\n", (int)(first - ranking->effects) + 1);
  if (!first) fputs("null}\n", stdout);
}

static void print_text(const struct ranking *ranking) {
  char buffer[192], number[64];
  const char *unit = unit_of(ranking), *name = ranking->def->name;
  int still = ranking->count - ranking->moving;
  printf("%s.%s is %s%s%s (n %lld). What it changes by when a cost row takes %d %% longer and nothing else differs:\n\n", name, ranking->stat,
      grid_short_number(ranking->base, 6, number), *unit ? " " : "", unit, (long long)ranking->base_row.n, LONGER_PERCENT);
  if (ranking->moving) print_rows(ranking, false);
  if (still) printf("%s%d row%s drawn from, without effect on it\n", ranking->moving ? "and " : "", still, still == 1 ? "" : "s");
  if (!ranking->count) puts("The run draws from no cost row.");
  putchar('\n');
  for (int k = KINDS - 1; k >= 0; k--)
    if (ranking->kind_rows[k])
      printf("%s rows together (%d, all at once) move it by %s\n", cost_kind_name((enum cost_kind)k), ranking->kind_rows[k],
          change_text(ranking, ranking->kind_change[k], buffer));
  const struct effect *first = weakest(ranking);
  if (first)
    printf("Measure first: %s %s of %s (%s; %s): 10 %% of it move %s.%s by %s.\n", first->row.algorithm, first->row.operation, first->row.from_platform,
        first->roles, cost_kind_name(first->row.kind), name, ranking->stat, change_text(ranking, first->change, buffer));
  else if (ranking->count)
    puts("No assumed or estimated row moves it: nothing of it waits for a measurement.");
}

/* ---- The command ------------------------------------------------------------------------------------------------ */

static int find_metric(struct ranking *ranking, const char *spec, struct err *e) {
  const struct roster *roster = ranking->study->scenario->roster;
  const struct store_study all = {.metrics = roster->metrics, .metric_count = roster->metric_count};
  struct err inner = {0};
  ranking->stat = NULL;
  if (!table_find_metric(&all, spec, &ranking->metric, &ranking->stat, &inner)) {
    ranking->def = &roster->metrics[ranking->metric];
    if (!ranking->stat) ranking->stat = "mean";
    return 0;
  }
  char *name = strndup(spec, strcspn(spec, "."));
  const char **names = calloc((size_t)roster->metric_count + 1, sizeof *names);
  assert(name && names);
  bool known = false;
  for (int m = 0; m < roster->metric_count; m++) {
    names[m] = roster->metrics[m].name;
    known |= !strcmp(names[m], name);
  }
  err_add(e, ERR_INPUT, "--sensitivity: %.*s%s", (int)strcspn(inner.text, "\n"), inner.text, known ? "" : cmd_suggestion(name, names, roster->metric_count));
  free(names);
  free(name);
  err_free(&inner);
  return ERR_INPUT;
}

static void tell_remark(void *arg, const char *text) {
  (void)arg;
  fprintf(stderr, "pqnetsim: warning: %s\n", text);
}

/* The point as it is, which also tells the rows it draws from. */
static int run_base(struct ranking *ranking, struct err *e) {
  struct execution execution = {.count = ranking->study->replications, .show_progress = true, .warn = tell_remark};
  struct metric_set *metrics;
  int status = run_scaled(ranking, NULL, &execution, &metrics, e);
  if (!status) {
    stats_row(metrics, ranking->metric, ranking->def->unit, &ranking->base_row);
    ranking->base = value_of(ranking, metrics);
  }
  metric_set_free(metrics);
  if (status || !isnan(ranking->base)) return status;
  const struct store_row *row = &ranking->base_row;
  const char *name = ranking->def->name;
  if (row->n == 0 && row->failed > 0)
    return err_add(e, ERR_INPUT, "--sensitivity: all %lld of %s failed in this run, so there is no %s to move", (long long)row->failed, name, ranking->stat);
  if (row->n == 0)
    return err_add(
        e, ERR_INPUT, "--sensitivity: this run has no %s: what it times does not happen with these parameters (pqnetsim params says what that is)", name);
  return err_add(e, ERR_INPUT, "--sensitivity: %s.%s has no value with %lld samples in %d replication%s; take more --reps, or another statistic", name,
      ranking->stat, (long long)row->n, ranking->study->replications, ranking->study->replications == 1 ? "" : "s");
}

int sensitivity_print(const struct study *study, const char *spec, bool json, struct err *e) {
  struct ranking ranking = {.study = study};
  if (strcmp(study->ops.name, net_native.name))
    return err_add(
        e, ERR_INPUT, "--sensitivity: found --backend %s, allowed native: the rows a run draws from are seen in this process alone", study->ops.name);
  int status = find_metric(&ranking, spec, e);
  if (!status) status = run_base(&ranking, e);
  if (!status) {
    cost_share_each(collect_rows, &ranking);
    status = move_rows(&ranking, e);
  }
  if (!status && json) print_json(&ranking);
  if (!status && !json) print_text(&ranking);
  for (int i = 0; i < ranking.count; i++) free(ranking.effects[i].roles);
  free(ranking.effects);
  return status;
}
