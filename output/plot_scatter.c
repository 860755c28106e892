/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/plot_scatter.h"

#include "output/plot_internal.h"
#include "output/plot_run.h"
#include "sim/core/units.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum { WIDTH = 1200, HEIGHT = 640, STYLES_MAX = 64 };

/* gnuplot's marker: the shape tells colours apart that a printer does not. */
static int marker(const struct scatter_series *series) {
  static const int filled[] = {7, 5, 9, 11, 13, 15}, hollow[] = {6, 4, 8, 10, 12, 14};
  enum { MARKERS = sizeof filled / sizeof *filled };
  return (series->hollow ? hollow : filled)[series->style % MARKERS];
}

int scatter_check_path(const char *path, struct err *e) { return figure_check_path(path, e); }

static void put_data(FILE *to, const struct scatter *scatter) {
  char x[32], y[32];
  int index = 0;
  fputs(PLOT_RUN_DATA_LINE, to);
  for (int p = 0; p < 2; p++) {
    for (int s = 0; s < scatter->panels[p].series_count; s++) {
      const struct scatter_series *series = &scatter->panels[p].series[s];
      fputs(index++ ? "\n\n# series: " : "# series: ", to);
      figure_put_plain(to, series->name);
      fputs(series->hollow ? ", hollow\n" : ", filled\n", to);
      for (int i = 0; i < series->count; i++) fprintf(to, "%s\t%s\n", real_format(series->points[i].x, x), real_format(series->points[i].y, y));
    }
  }
}

/* Both axes have the same range, so that the diagonal is one. */
static void put_axes(FILE *to, const struct scatter_panel *panel) {
  double least = INFINITY, most = 0;
  for (int s = 0; s < panel->series_count; s++) {
    for (int i = 0; i < panel->series[s].count; i++) {
      const struct scatter_point *point = &panel->series[s].points[i];
      least = fmin(least, fmin(point->x, point->y));
      most = fmax(most, fmax(point->x, point->y));
    }
  }
  if (most < 1.5 * least) most = 1.5 * least;
  figure_put_log_axis(to, "x", least, most);
  figure_put_log_axis(to, "y", least, most);
  fputs("set xlabel ", to);
  figure_quote(to, panel->x_label);
  fputs("\nset ylabel ", to);
  figure_quote(to, panel->y_label);
  fputc('\n', to);
}

static void put_points(FILE *to, const struct scatter_panel *panel, const char *name, int index, double near) {
  char low[32], high[32];
  /* the band lies under everything */
  fprintf(to,
      "plot '+' using 1:($1*%s):($1*%s) with filledcurves fs solid noborder lc rgb '#e4e4e4' notitle, x with lines lt 1 lc rgb '#666666' lw 0.8 notitle",
      real_format(1 - near, low), real_format(1 + near, high));
  for (int s = 0; s < panel->series_count; s++) {
    const struct scatter_series *series = &panel->series[s];
    fputs(", \\\n     ", to);
    figure_quote_file(to, name, ".dat");
    fprintf(to, " index %d using 1:2 with points pt %d ps %s lc rgb '%s' notitle", index + s, marker(series), series->hollow ? "0.6" : "0.75",
        figure_color(series->style));
  }
  fputc('\n', to);
}

/* An empty panel that holds the key: each name once, filled where one of its series is. */
static void put_key(FILE *to, const struct scatter *scatter) {
  bool seen[STYLES_MAX] = {false};
  fputs("unset logscale\nunset tics\nunset border\nunset grid\nunset xlabel\nunset ylabel\nset xrange [0:1]\nset yrange [0:1]\n"
        "set key at screen 0.995,0.86 right top Left reverse samplen 1 spacing 1.15\nset size 0.2,0.88\nset origin 0.8,0\nplot NaN notitle",
      to);
  for (int hollow = 0; hollow < 2; hollow++)
    for (int p = 0; p < 2; p++)
      for (int s = 0; s < scatter->panels[p].series_count; s++) {
        const struct scatter_series *series = &scatter->panels[p].series[s];
        bool *drawn = &seen[series->style % STYLES_MAX];
        if (*drawn || series->hollow != hollow) continue;
        *drawn = true;
        fprintf(to, ", \\\n     NaN with points pt %d ps 0.8 lc rgb '%s' title ", marker(series), figure_color(series->style));
        figure_quote(to, series->name);
      }
  fputc('\n', to);
}

static void put_script(FILE *to, const struct scatter *scatter, const char *name, const char *path) {
  figure_begin_script(to, path, WIDTH, HEIGHT);
  fputs("set multiplot\nset datafile separator \"\\t\"\nset border 3 lc rgb '#444444'\nset tics nomirror out\nset grid lc rgb '#dddddd' lt 1 lw 0.5\n"
        "set samples 200\nset xtics rotate by 35 right\nunset key\nset label 1 ",
      to);
  figure_quote(to, scatter->title);
  fputs(" at screen 0.4,0.965 center\nset label 2 ", to);
  figure_quote(to, scatter->subtitle);
  fputs(" at screen 0.4,0.92 center\n", to);
  bool both = scatter->panels[0].series_count && scatter->panels[1].series_count;
  int index = 0;
  for (int p = 0; p < 2; p++) {
    const struct scatter_panel *panel = &scatter->panels[p];
    if (!panel->series_count) continue;
    fprintf(to, "set size %s,0.9\nset origin %s,0\n", both ? "0.4" : "0.8", both && p ? "0.4" : "0");
    put_axes(to, panel);
    put_points(to, panel, name, index, scatter->near);
    fputs("unset label\n", to);
    index += panel->series_count;
  }
  put_key(to, scatter);
  fputs("unset multiplot\nset output\n", to);
}

int scatter_draw(const struct scatter *scatter, const char *path, struct err *e) {
  if (!scatter->panels[0].series_count && !scatter->panels[1].series_count)
    return err_add(e, ERR_INPUT, "%s: there is nothing to draw: logarithmic axes have no place for these values", path);
  char *name = figure_stem(path), *script = NULL, *data = NULL;
  size_t script_size, data_size;
  FILE *to = open_memstream(&data, &data_size);
  assert(to);
  put_data(to, scatter);
  fclose(to);
  to = open_memstream(&script, &script_size);
  assert(to);
  put_script(to, scatter, name, path);
  fclose(to);
  int code = figure_run(path, data, data_size, script, script_size, e);
  free(script);
  free(data);
  free(name);
  return code;
}
