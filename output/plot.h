/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plot: figures through gnuplot, from a generated script that stays beside the figure with its data.
 *
 * Purpose: line       a statistic over a numeric axis, one line per series
 *          bar        the same over named values
 *          cdf        the distribution of every point
 *          heatmap    a statistic over two axes, as colour
 *          breakdown  the mean's parts, stacked, one bar per point
 *          dots       durations that differ by orders of magnitude, one row per thing, one mark per series
 * Units:   on every axis of the figure. Intervals are 95 %: of a mean by Student's t over replications, of a quantile by
 *          order statistics with as many independent values as there are replications; drawn where there are enough.
 * Output:  FIG.svg|png|pdf, FIG.gp and FIG.dat in the same folder; `gnuplot FIG.gp` in that folder draws it again.
 *          FIG.gp and FIG.dat replace only what plot wrote itself (their first line tells); no SQLite file is ever replaced.
 * Errors:  ERR_INPUT unknown metric, statistic, axis, kind, ending; an axis that varies and is neither x nor by;
 *          a file in the way;
 *          ERR_SYSTEM gnuplot missing or failing (its words quoted).
 */
#ifndef PQNETSIM_PLOT_H
#define PQNETSIM_PLOT_H

#include "output/table.h"

struct plot_request {
  const char *out;  /* path, ending decides the format */
  const char *y;    /* METRIC or METRIC.STAT (default p50; of shares, and for a breakdown: mean) */
  const char *x;    /* axis; NULL: the first numeric axis with several values, else the first axis with several, else the first */
  const char *by;   /* axis for series; NULL: every other axis with several values */
  const char *kind; /* line cdf bar heatmap breakdown; NULL: line for a numeric x, bar for a text x */
  const struct table_where *wheres;
  int where_count;
};
int plot_draw(struct store *store, const struct plot_request *request, struct err *e) MUST_CHECK;

/* Nanoseconds, on a logarithmic axis; low and high bound a line through the mark, 0 when there is none. */
struct plot_dot {
  int64_t ns, low_ns, high_ns; /* ns 0: no mark */
  bool hollow;
};
struct plot_dots {
  const char *out, *title, *subtitle, *label, *series_title;
  int row_count, series_count;
  const char *const *rows, *const *series; /* names */
  const struct plot_dot *const *dots;      /* per series, per row */
};
int plot_draw_dots(const struct plot_dots *dots, struct err *e) MUST_CHECK;

#endif
