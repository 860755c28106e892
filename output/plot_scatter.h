/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plot_scatter: one value against another on logarithmic axes, as two panels side by side.
 *
 * Purpose:   what was simulated against what was measured: a point on the diagonal is right.
 * Units:     of the labels; all values above 0. near: half width of the band around the diagonal (0.1: within 10 %).
 * Ownership: nothing is kept.
 * Errors:    ERR_INPUT for a name that is no figure's or would destroy something, ERR_SYSTEM from gnuplot (plot_run.h).
 */
#ifndef PQNETSIM_PLOT_SCATTER_H
#define PQNETSIM_PLOT_SCATTER_H

#include "sim/core/err.h"
#include <stdbool.h>

struct scatter_point {
  double x, y;
};

struct scatter_series {
  const char *name;
  int style; /* colour and marker: the same number for the same thing in both panels */
  bool hollow;
  int count;
  struct scatter_point *points;
};

struct scatter_panel {
  const char *x_label, *y_label;
  int series_count;
  struct scatter_series *series;
};

struct scatter {
  const char *title, *subtitle;
  double near;
  struct scatter_panel panels[2]; /* one without series is left out */
};

int scatter_check_path(const char *path, struct err *e) MUST_CHECK;
/* Writes FIG.gp and FIG.dat and has gnuplot draw FIG. */
int scatter_draw(const struct scatter *scatter, const char *path, struct err *e) MUST_CHECK;

#endif
