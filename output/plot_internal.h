/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plot_internal: a figure between its two halves: plot.c fills it from a study, plot_gnuplot.c writes and draws it.
 *
 * Order:     plot_gnuplot.c knows nothing of studies, plot.c nothing of gnuplot.
 * Ownership: figure_free releases everything in a figure; texts are malloc'd.
 */
#ifndef PQNETSIM_PLOT_INTERNAL_H
#define PQNETSIM_PLOT_INTERNAL_H

#include "sim/core/err.h"
#include <stdbool.h>
#include <stdint.h>

enum figure_kind { FIGURE_LINE, FIGURE_CDF, FIGURE_BAR, FIGURE_HEATMAP, FIGURE_BREAKDOWN, FIGURE_DOTS };

/* x is a position among the columns where the figure has columns. What is missing is NAN and leaves a gap. */
struct figure_value {
  double x, y, low, high;
  int64_t n, failed;
};

struct figure_series {
  char *name;
  int color; /* of the palette */
  int count;
  struct figure_value *values;
  bool *hollow; /* dots: of each value */
};

struct figure {
  enum figure_kind kind;
  char *title, *subtitle;
  char *x_label, *y_label, *key_title; /* heatmap: y_label is the colour's, key_title the vertical axis' */
  bool x_log, y_log;
  int column_count; /* bar, heatmap, breakdown; dots: the rows, from the top, and y are nanoseconds along the horizontal axis */
  char **columns;
  int series_count; /* heatmap: its rows; breakdown: the parts, from the bottom */
  struct figure_series *series;
};

void figure_free(struct figure *figure);
/* The ending decides the format: ERR_INPUT unless svg, png or pdf, and when FIG, FIG.gp or FIG.dat must not be written. */
int figure_check_path(const char *path, struct err *e) MUST_CHECK;
/* Writes FIG.gp and FIG.dat and has gnuplot draw FIG. */
int figure_draw(const struct figure *figure, const char *path, struct err *e) MUST_CHECK;

#endif
