/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plot, export, show: what to do with a study file. */
#include "output/plot.h"
#include "output/table.h"
#include "sim/cmd.h"

#include <stdlib.h>

static int run_plot(const struct cmd_line *line, struct err *e) {
  struct store *store = NULL;
  struct table_where *wheres = NULL;
  int where_count = 0;
  const char *out = cmd_text(line, "output", NULL), *y = cmd_text(line, "y", NULL);
  if (!out) err_add(e, ERR_INPUT, "plot: -o FIGURE.svg|png|pdf is missing: where the figure goes");
  if (!y) err_add(e, ERR_INPUT, "plot: --y METRIC[.STAT] is missing: what to plot");
  if (e->count || cmd_wheres(line, &wheres, &where_count, e)) return 0;
  if (!store_open_read(cmd_argument(line, 0), &store, e)) {
    struct plot_request request = {.out = out,
        .y = y,
        .x = cmd_text(line, "x", NULL),
        .by = cmd_text(line, "by", NULL),
        .kind = cmd_text(line, "kind", NULL),
        .wheres = wheres,
        .where_count = where_count};
    (void)!plot_draw(store, &request, e); /* main prints what is in e */
  }
  store_close(store);
  cmd_wheres_free(wheres, where_count);
  return 0;
}

static int run_export(const struct cmd_line *line, struct err *e) {
  struct store *store = NULL;
  bool json = cmd_text(line, "format", "csv")[0] == 'j';
  if (!store_open_read(cmd_argument(line, 0), &store, e)) (void)!(json ? table_export_json : table_export_csv)(store, stdout, e);
  store_close(store);
  return 0;
}

static int run_show(const struct cmd_line *line, struct err *e) {
  struct store *store = NULL;
  struct table_where *wheres = NULL;
  int where_count = 0, metric_count = cmd_argument_count(line) - 1;
  const char **metrics = calloc((size_t)metric_count + 1, sizeof *metrics);
  if (!metrics) abort();
  for (int i = 0; i < metric_count; i++) metrics[i] = cmd_argument(line, i + 1);
  if (!cmd_wheres(line, &wheres, &where_count, e) && !store_open_read(cmd_argument(line, 0), &store, e))
    (void)!table_show(store, metric_count ? metrics : NULL, metric_count, wheres, where_count, stdout, e);
  store_close(store);
  cmd_wheres_free(wheres, where_count);
  free(metrics);
  return 0;
}

static const char *const kinds[] = {"line", "cdf", "bar", "heatmap", "breakdown", NULL};
static const char *const formats[] = {"csv", "json", NULL};

static const struct cmd_option option_y = {"y", 0, CMD_TEXT, "METRIC[.STAT]", "What to plot (STAT: p50 unless given, mean of shares)", NULL, 0, 0};
static const struct cmd_option option_x = {"x", 0, CMD_TEXT, "KEY", "Axis of the study along x (default: its first numeric one)", NULL, 0, 0};
static const struct cmd_option option_by = {"by", 0, CMD_TEXT, "KEY", "Axis of the study that makes the series", NULL, 0, 0};
static const struct cmd_option option_kind = {
    "kind", 0, CMD_CHOICE, "line|cdf|bar|heatmap|breakdown", "Kind of figure (default: line, bar for an axis of texts)", kinds, 0, 0};
static const struct cmd_option option_format = {"format", 0, CMD_CHOICE, "csv|json", "csv (default) or json", formats, 0, 0};

static const struct cmd_option *const plot_options[] = {&cmd_option_output, &option_y, &option_x, &option_by, &option_kind, &cmd_option_where, NULL};
static const struct cmd_option *const export_options[] = {&option_format, NULL};
static const struct cmd_option *const show_options[] = {&cmd_option_where, NULL};

const struct cmd cmd_plot = {"plot", "STUDY.db", 1, 1, "Draw a figure; gnuplot's script and data stay beside it.",
    "  pqnetsim plot rtt.db -o rtt.svg --y tunnel_setup \\\n"
    "      --x path.delay --by ipsec.kex --where path.loss=0%\n"
    "  pqnetsim plot rtt.db -o why.png --y tunnel_setup --kind breakdown \\\n"
    "      --x ipsec.kex --where path.loss=0% --where path.delay=100ms\n"
    "  pqnetsim plot rtt.db -o cdf.pdf --y tunnel_setup --kind cdf \\\n"
    "      --by ipsec.kex --where path.loss=1% --where path.delay=100ms",
    plot_options, run_plot};

const struct cmd cmd_export = {"export", "STUDY.db", 1, 1, "Print every point and metric of a study as CSV or JSON.",
    "  pqnetsim export rtt.db > rtt.csv\n"
    "  pqnetsim export rtt.db --format json",
    export_options, run_export};

const struct cmd cmd_show = {"show", "STUDY.db [METRIC[.STAT]...]", 1, 64, "Print a study as a table.",
    "  pqnetsim show rtt.db\n"
    "  pqnetsim show rtt.db tunnel_setup.p50 tunnel_setup.p95\n"
    "  pqnetsim show rtt.db bytes_total --where ipsec.kex=mlkem768",
    show_options, run_show};
