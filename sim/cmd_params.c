/* SPDX-License-Identifier: GPL-3.0-or-later */
/* params: every parameter and metric, from the tables of the modules that read them. */
#include "sim/cmd.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What a value of each kind is; unit and what numbers look like. */
static const struct kind {
  const char *name;
  const char *listed; /* allowed values when no range says it */
  enum unit unit;
  bool ranged; /* min and max are in `unit` */
} kinds[] = {
    [PARAM_COUNT] = {"count", "", UNIT_COUNT, true},
    [PARAM_TIME] = {"time", "", UNIT_TIME, true},
    [PARAM_RATE] = {"rate", "", UNIT_RATE, true},
    [PARAM_SIZE] = {"size", "", UNIT_SIZE, true},
    [PARAM_SHARE] = {"share", "", UNIT_SHARE, true},
    [PARAM_BOOL] = {"yes/no", "yes, no", UNIT_COUNT, false},
    [PARAM_CHOICE] = {"choice", "", UNIT_COUNT, false},
    [PARAM_NAME] = {"name", "", UNIT_COUNT, false},
    [PARAM_QUEUE] = {"queue", "packets or a size, as in 100 packets, 64KiB", UNIT_COUNT, false},
    [PARAM_LOSS] = {"loss", "a share, or {gemodel: {p: SHARE, r: SHARE, ...}}", UNIT_SHARE, false},
    [PARAM_LIST] = {"list", "a list of whole numbers, as in [3, 5]", UNIT_COUNT, false},
    [PARAM_NAMES] = {"names", "a list of names, as in [a, b]", UNIT_COUNT, false},
};

const char *params_kind(const struct param *row) { return kinds[row->kind].name; }

const char *params_default(const struct param *row, char *buffer) {
  if (row->sets)
    snprintf(buffer, PARAMS_TEXT, "twice %s", row->sets);
  else if (row->fallback)
    snprintf(buffer, PARAMS_TEXT, "%s", row->fallback);
  else if (row->absent)
    snprintf(buffer, PARAMS_TEXT, "none");
  else
    snprintf(buffer, PARAMS_TEXT, "as %s", row->follows);
  return buffer;
}

const char *params_allowed(const struct param *row, char *buffer) {
  const struct kind *kind = &kinds[row->kind];
  char low[32], high[32];
  size_t used = 0;
  buffer[0] = '\0';
  if (row->kind == PARAM_CHOICE) {
    for (int i = 0; row->choices[i] && used < PARAMS_TEXT; i++)
      used += (size_t)snprintf(buffer + used, PARAMS_TEXT - used, "%s%s", i ? ", " : "", row->choices[i]);
  } else if (row->part) {
    snprintf(buffer, PARAMS_TEXT, "a name, ./FILE.csv, or {base: NAME, OPERATION: NAME, ...}");
  } else if (!kind->ranged) {
    snprintf(buffer, PARAMS_TEXT, "%s", kind->listed);
  } else if (row->max == INT64_MAX) {
    snprintf(buffer, PARAMS_TEXT, "%s or more", units_format(kind->unit, row->min, low));
  } else {
    snprintf(buffer, PARAMS_TEXT, "%s to %s", units_format(kind->unit, row->min, low), units_format(kind->unit, row->max, high));
  }
  return buffer;
}

const struct domain *params_domain(const struct cmd_line *line, int argument, struct err *e) {
  const char *name = cmd_argument(line, argument);
  const struct domain *domain = domain_find(name);
  if (domain) return domain;
  int count;
  const struct domain *const *catalog = domain_catalog(&count);
  const char *names[64];
  char *known = NULL;
  size_t size;
  FILE *to = open_memstream(&known, &size);
  assert(to && count <= 64);
  for (int i = 0; i < count; i++) {
    names[i] = catalog[i]->name;
    fprintf(to, "%s%s", i ? ", " : "", names[i]);
  }
  fclose(to);
  err_add(e, ERR_INPUT, "unknown domain '%s'; known: %s%s", name, known, cmd_suggestion(name, names, count));
  free(known);
  return NULL;
}

static const struct listing_column parameter_columns[] = {
    {"domain", "domain", true},
    {"key", "parameter", true},
    {"kind", "kind", true},
    {"unit", "units", true},
    {"default", "default", true},
    {"allowed", "allowed", true},
    {"help", "help", true},
};
static const struct listing_column metric_columns[] = {
    {"domain", "domain", true},
    {"name", "metric", true},
    {"unit", "unit", true},
    {"from", "from", true},
    {"to", "to", true},
    {"help", "help", true},
};
#define LENGTH(table) ((int)(sizeof table / sizeof table[0]))

static void list_table(struct listing *listing, const char *domain, const struct param_table *table) {
  for (int r = 0; r < table->count; r++) {
    const struct param *row = &table->rows[r];
    char text[PARAMS_TEXT];
    listing_text(listing, domain);
    listing_text(listing, row->key);
    listing_text(listing, params_kind(row));
    listing_text(listing, kinds[row->kind].ranged || row->kind == PARAM_LOSS ? units_suffixes(kinds[row->kind].unit) : "");
    listing_text(listing, params_default(row, text));
    listing_text(listing, params_allowed(row, text));
    listing_text(listing, row->help);
  }
}

/* "path, platform": what the keys of the tables begin with; malloc'd. */
static char *beginnings(const struct param_table *const *tables, int count) {
  char *text = NULL;
  size_t size, known = 0;
  FILE *to = open_memstream(&text, &size);
  const char **names = NULL;
  assert(to);
  for (int t = 0; t < count; t++)
    for (int r = 0; r < tables[t]->count; r++) {
      const char *key = tables[t]->rows[r].key;
      size_t length = strcspn(key, "."), n = 0;
      while (n < known && (strncmp(names[n], key, length) || strcspn(names[n], ".") != length)) n++;
      if (n < known) continue;
      fprintf(to, "%s%.*s", known ? ", " : "", (int)length, key);
      names = realloc(names, (known + 1) * sizeof *names);
      assert(names);
      names[known++] = key;
    }
  fclose(to);
  free(names);
  return text;
}

/* What a group of the population may have of its own. */
static void list_groups(struct listing *listing, const struct domain *domain) {
  if (domain->group_table_count == 0) return;
  struct param share = roster_share;
  share.key = "groups.NAME.share";
  const struct param_table table = {&share, 1};
  list_table(listing, domain->name, &table);
  char *known = beginnings(domain->group_tables, domain->group_table_count), *help;
  if (asprintf(&help, "what the group NAME has of its own; KEY: any parameter of %s", known) < 0) abort();
  const char *const cells[] = {domain->name, "groups.NAME.KEY", "as KEY", "", "as KEY", "as KEY", help};
  for (int c = 0; c < LENGTH(parameter_columns); c++) listing_text(listing, cells[c]);
  free(help);
  free(known);
}

static void list_metrics(struct listing *listing, const struct domain *domain) {
  for (int m = 0; m < domain->metric_count; m++) {
    const struct metric_def *def = &domain->metrics[m];
    listing_text(listing, domain->name);
    listing_text(listing, def->name);
    listing_text(listing, metric_unit_name(def->unit));
    listing_text(listing, def->from);
    listing_text(listing, def->to);
    listing_text(listing, def->help);
  }
}

static int run(const struct cmd_line *line, struct err *e) {
  int count;
  const struct domain *const *catalog = domain_catalog(&count);
  bool json = cmd_given(line, "json");
  const struct domain *only = NULL;
  if (cmd_argument_count(line)) {
    only = params_domain(line, 0, e);
    if (!only) return 0;
    catalog = &only;
    count = 1;
  }
  struct listing listing;
  if (json) fputs("{\"parameters\": ", stdout);
  listing_begin(&listing, parameter_columns, LENGTH(parameter_columns), json);
  list_table(&listing, "every", &run_params);
  for (int i = 0; i < count; i++) {
    for (int t = 0; t < catalog[i]->table_count; t++) list_table(&listing, catalog[i]->name, catalog[i]->tables[t]);
    list_groups(&listing, catalog[i]);
  }
  listing_end(&listing);
  fputs(json ? ",\n\"metrics\": " : "\n", stdout);
  listing_begin(&listing, metric_columns, LENGTH(metric_columns), json);
  for (int i = 0; i < count; i++) list_metrics(&listing, catalog[i]);
  listing_end(&listing);
  if (json) fputs("}\n", stdout);
  return 0;
}

static const struct cmd_option *const options[] = {&cmd_option_json, NULL};

const struct cmd cmd_params = {"params", "[DOMAIN]", 0, 1, "Print parameters (unit, default, range) and metrics (clock).",
    "  pqnetsim params\n"
    "  pqnetsim params e2\n"
    "  pqnetsim params e2 --json",
    options, run};
