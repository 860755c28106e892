/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calibrate import: a platform file from a published table. */
#include "calib/import.h"
#include "sim/cmd.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(table) ((int)(sizeof table / sizeof table[0]))
#define MEAN_OFF 0.05 /* beyond which the quantiles as straight lines are told to miss the stated mean */

/* What goes into the file. */
struct result {
  const struct import *import;
  const struct import_request *request;
  const char *title, *base;
};

static const char *const kind_choices[] = {"published", "measured", NULL};

static const char *shape_of(const struct import_row *row) { return row->count == 1 ? "constant" : "quantiles"; }

static void write_platform(const void *arg, FILE *to) {
  const struct result *result = arg;
  platform_file_head(to, result->title, result->base, "written by pqnetsim calibrate import; notes hold the figures as the table states them");
  for (int i = 0; i < result->import->row_count; i++) {
    const struct import_row *row = &result->import->rows[i];
    fprintf(to, "%s,%s,%" PRId64 ",", row->algorithm, row->operation, row->size_bytes);
    if (row->count == 1) fprintf(to, "%" PRId64, row->points[0].ns);
    for (int p = 0; p < row->count && row->count > 1; p++) fprintf(to, "%s%g:%" PRId64, p ? " " : "", row->points[p].p, row->points[p].ns);
    fprintf(to, ",,%s,%s,%s,", result->request->kind, result->request->source, shape_of(row));
    platform_file_text(to, row->note);
    fputc('\n', to);
  }
}

static void warn_of(const struct import_row *row) {
  const char *why = cost_chance(row->algorithm, row->operation);
  double mean = import_mean(row);
  if (why && row->points[0].ns == row->points[row->count - 1].ns)
    fprintf(stderr, "pqnetsim: warning: %s %s: a constant for what takes another time each time (%s); results will lack that spread: give quantiles\n",
        row->algorithm, row->operation, why);
  if (row->mean_ns > 0 && fabs(mean / row->mean_ns - 1) > MEAN_OFF)
    fprintf(stderr,
        "pqnetsim: warning: %s %s: straight lines between the quantiles have the mean %.6g us, the table states %.6g us (%+.0f %%); more quantiles bring them "
        "together\n",
        row->algorithm, row->operation, mean / 1e3, row->mean_ns / 1e3, 100 * (mean / row->mean_ns - 1));
}

static const struct listing_column import_columns[] = {
    {"algorithm", "algorithm", true},
    {"operation", "operation", true},
    {"size_bytes", "size (B)", false},
    {"mean_us", "mean (us)", false},
    {"shape", "shape", true},
    {"note", "as stated", true},
};

static void print_rows(const struct import *import, bool json) {
  struct listing listing;
  listing_begin(&listing, import_columns, LENGTH(import_columns), json);
  for (int i = 0; i < import->row_count; i++) {
    const struct import_row *row = &import->rows[i];
    listing_text(&listing, row->algorithm);
    listing_text(&listing, row->operation);
    listing_number(&listing, (double)row->size_bytes);
    listing_number(&listing, import_mean(row) / 1e3);
    listing_text(&listing, shape_of(row));
    listing_text(&listing, row->note);
  }
  listing_end(&listing);
  if (json) putchar('\n');
}

/* --unit and --clock, which go together. */
static int read_unit(const struct cmd_line *line, struct import_request *request, struct err *e) {
  const char *unit = cmd_text(line, "unit", import_units[IMPORT_NS]), *clock = cmd_text(line, "clock", NULL);
  int u = 0;
  while (import_units[u] && strcmp(import_units[u], unit)) u++;
  request->unit = (enum import_unit)u;
  if (clock && !import_clock(clock, &request->clock_hz))
    return err_add(e, ERR_INPUT, "--clock: found '%s', allowed a frequency such as 64MHz or 3.1GHz", clock);
  if (u == IMPORT_CYCLES && !clock) return err_add(e, ERR_INPUT, "--unit cycles: --clock is missing: how many there are in a second, such as 64MHz");
  if (u != IMPORT_CYCLES && clock) return err_add(e, ERR_INPUT, "--clock: found '%s', allowed only with --unit cycles", clock);
  return 0;
}

static int import_table(const struct cmd_line *line, struct err *e) {
  const char *to = cmd_text(line, "output", NULL);
  struct import_request request = {.path = cmd_argument(line, 0), .kind = cmd_text(line, "kind", "published"), .source = cmd_text(line, "source", NULL)};
  if (!to) return err_add(e, ERR_INPUT, "calibrate import: -o FILE.csv is missing: where the platform goes");
  if (!request.source)
    return err_add(e, ERR_INPUT, "calibrate import: --source ID is missing: who published the table, an id of pqnetsim list sources, or own");
  struct cost_sources *sources = NULL;
  struct import *import = NULL;
  int status = read_unit(line, &request, e);
  if (!status) status = platform_file_source(request.source, &sources, e);
  if (!status) status = import_read(&request, sources, &import, e);
  if (!status) {
    const struct result result = {import, &request, cmd_text(line, "title", "Imported from a published table"), cmd_text(line, "base", NULL)};
    status = platform_file_save(to, write_platform, &result, e);
  }
  for (int i = 0; !status && i < import->row_count; i++) warn_of(&import->rows[i]);
  if (!status) print_rows(import, cmd_given(line, "json"));
  import_free(import);
  cost_sources_free(sources);
  return status;
}

static int run(const struct cmd_line *line, struct err *e) {
  (void)!import_table(line, e); /* main prints what is in e */
  return 0;
}

static const struct cmd_option option_source = {"source", 0, CMD_TEXT, "ID", "Who published the table, an id of list sources", NULL, 0, 0};
static const struct cmd_option option_unit = {"unit", 0, CMD_CHOICE, "ns|us|ms|s|cycles|ops_per_s", "What the numbers are (default: ns)", import_units, 0, 0};
static const struct cmd_option option_clock = {"clock", 0, CMD_TEXT, "FREQUENCY", "Cycles in a second, such as 64MHz, for --unit cycles", NULL, 0, 0};
static const struct cmd_option option_kind = {"kind", 0, CMD_CHOICE, "published|measured", "What the rows are called (default: published)", kind_choices, 0, 0};
static const struct cmd_option option_title = {"title", 0, CMD_TEXT, "TEXT", "What list platforms calls it", NULL, 0, 0};
static const struct cmd_option option_base = {"base", 0, CMD_TEXT, "NAME", "The platform that states what the table does not", NULL, 0, 0};
static const struct cmd_option *const options[] = {
    &cmd_option_output, &option_source, &option_unit, &option_clock, &option_kind, &option_title, &option_base, &cmd_option_json, NULL};

const struct cmd cmd_calibrate_import = {"calibrate import", "TABLE.csv", 1, 1, "Make a platform file from a published table.",
    "  pqnetsim calibrate import table.csv --source pqm4 --unit cycles --clock 168MHz \\\n"
    "      -o board.csv --title 'My board'\n"
    "  pqnetsim calibrate import table.csv --source own --unit us -o server.csv --base xeon-6242r\n\n"
    "table.csv has a line per operation: algorithm,operation and value, or any of\n"
    "min,p5,p25,median,p75,p95,p99,max (mean, sd and n go into the note); or a line per\n"
    "algorithm: algorithm,keygen,encaps,decaps. size_bytes and note may be there too.",
    options, run};
