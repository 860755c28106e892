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
#include <stdio.h>

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

/* Pieces of scripts, for figures of another kind than struct figure. The first colours of the palette differ most. */
const char *figure_color(int index);
void figure_quote(FILE *to, const char *text);
void figure_quote_file(FILE *to, const char *name, const char *ending);
void figure_put_plain(FILE *to, const char *text);
void figure_put_log_axis(FILE *to, const char *axis, double least, double most);
/* Up to and with `set output`; sizes in points of a drawing that is 960 wide. */
void figure_begin_script(FILE *to, const char *path, int width, int height);
/* "fig" of "folder/fig.svg"; malloc'd. */
char *figure_stem(const char *path);
/* Writes FIG.dat and FIG.gp and has gnuplot draw FIG. */
int figure_run(const char *path, const char *data, size_t data_size, const char *script, size_t script_size, struct err *e) MUST_CHECK;

#endif
