/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/plot.h"
#include "output/plot_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *copy(const char *text) {
  char *made = strdup(text);
  if (!made) abort();
  return made;
}

static void *allocate(int count, size_t size) {
  void *memory = calloc((size_t)count + 1, size);
  if (!memory) abort();
  return memory;
}

static double above_zero(int64_t ns) { return ns > 0 ? (double)ns : NAN; }

/* Returns how many marks there are. */
static int fill(const struct plot_dots *dots, struct figure *figure) {
  int marks = 0;
  for (int s = 0; s < dots->series_count; s++) {
    struct figure_series *series = &figure->series[figure->series_count++];
    *series = (struct figure_series){.name = copy(dots->series[s]),
        .color = s,
        .values = allocate(dots->row_count, sizeof *series->values),
        .hollow = allocate(dots->row_count, sizeof *series->hollow)};
    for (int i = 0; i < dots->row_count; i++) {
      const struct plot_dot *dot = &dots->dots[s][i];
      bool line = dot->ns > 0 && dot->low_ns > 0;
      series->hollow[i] = dot->hollow;
      series->values[series->count++] =
          (struct figure_value){.x = i, .y = above_zero(dot->ns), .low = line ? (double)dot->low_ns : NAN, .high = line ? (double)dot->high_ns : NAN};
      marks += dot->ns > 0;
    }
  }
  return marks;
}

int plot_draw_dots(const struct plot_dots *dots, struct err *e) {
  int code = figure_check_path(dots->out, e);
  if (code) return code;
  struct figure figure = {.kind = FIGURE_DOTS,
      .title = copy(dots->title),
      .subtitle = copy(dots->subtitle),
      .x_label = copy(dots->label),
      .y_label = copy(""),
      .key_title = copy(dots->series_title),
      .y_log = true,
      .columns = allocate(dots->row_count, sizeof *figure.columns),
      .series = allocate(dots->series_count, sizeof *figure.series)};
  for (int i = 0; i < dots->row_count; i++) figure.columns[figure.column_count++] = copy(dots->rows[i]);
  if (fill(dots, &figure))
    code = figure_draw(&figure, dots->out, e);
  else
    code = err_add(e, ERR_INPUT, "%s: every duration is 0, which has no place on a logarithmic axis", dots->out);
  figure_free(&figure);
  return code;
}
