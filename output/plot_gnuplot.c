/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The script and the data of a figure. Every text goes into single quotes, where gnuplot expands nothing. */
#include "output/plot_internal.h"

#include "output/grid.h"
#include "output/plot_run.h"
#include "sim/core/units.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Colours that readers with any common colour blindness tell apart.
 * Source: M. Okabe, K. Ito, Color Universal Design (2008), figure 16; its yellow last, since it is faint on white.
 * The second eight are the first ones halfway to white. */
static const char *const palette[] = {"#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000", "#F0E442", "#80B9D9", "#F3CF80", "#80CFB9",
    "#E6BCD3", "#ABDAF4", "#EAAF80", "#808080", "#F8F2A1"};
enum { COLORS = sizeof palette / sizeof palette[0] };

/* By enum part: neighbours in a stack differ in hue and in lightness; two greys complete the eight. */
static const char *const part_palette[] = {
    "#D55E00", "#8C3B00", "#F2A36B", "#5B2C6F", "#F0E442", "#0072B2", "#56B4E9", "#009E73", "#CC79A7", "#000000", "#999999", "#E69F00", "#DDDDDD"};

/* Sizes are given in points of a 960 wide drawing; `scale` makes them the terminal's own unit. */
static const struct {
  const char *ending;
  double scale;
  const char *terminal;
} formats[] = {
    {"svg", 1, "svg noenhanced size %g,%g font 'Helvetica,Arial,sans-serif,15' linewidth 1.5 background '#ffffff'"},
    {"png", 1.5, "pngcairo noenhanced size %g,%g font 'Sans,12' fontscale 1.5 pointscale 1.6 linewidth 2.2 background '#ffffff'"},
    {"pdf", 0.025, "pdfcairo noenhanced size %gcm,%gcm font 'Sans,11' linewidth 1.5 background '#ffffff'"},
};
enum { FORMATS = sizeof formats / sizeof formats[0] };

const char *figure_color(int index) { return palette[index % COLORS]; }

static int format_of(const char *path) {
  const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
  for (int i = 0; i < FORMATS && dot && (!slash || dot > slash + 1); i++)
    if (strcasecmp(dot + 1, formats[i].ending) == 0) return i;
  return -1;
}

int figure_check_path(const char *path, struct err *e) {
  return format_of(path) >= 0 ? plot_run_check(path, e) : err_add(e, ERR_INPUT, "%s: the name of a figure ends in .svg, .png or .pdf", path);
}

void figure_free(struct figure *figure) {
  for (int i = 0; i < figure->series_count; i++) {
    free(figure->series[i].name);
    free(figure->series[i].values);
    free(figure->series[i].hollow);
  }
  for (int i = 0; i < figure->column_count; i++) free(figure->columns[i]);
  free(figure->series);
  free(figure->columns);
  free(figure->title);
  free(figure->subtitle);
  free(figure->x_label);
  free(figure->y_label);
  free(figure->key_title);
}

/* --- text --- */

void figure_quote(FILE *to, const char *text) {
  fputc('\'', to);
  for (; *text; text++) {
    if (*text == '\'') fputc('\'', to);
    fputc((unsigned char)*text < 0x20 ? ' ' : *text, to);
  }
  fputc('\'', to);
}

/* A name of a file in the script's folder: "./" keeps '|' and '<' at its start from meaning a pipe. */
void figure_quote_file(FILE *to, const char *name, const char *ending) {
  fputs("'./", to);
  for (; *name; name++) fprintf(to, *name == '\'' ? "''" : "%c", *name);
  fprintf(to, "%s'", ending);
}

static int characters(const char *text) {
  int count = 0;
  for (; *text; text++) count += ((unsigned char)*text & 0xc0) != 0x80;
  return count;
}

/* Lines of at most `width` characters, broken after ", " or at a blank; written as a gnuplot string expression. */
static int put_wrapped(FILE *to, const char *text, int width) {
  int lines = 1;
  for (;;) {
    int used = 0;
    const char *at = text, *cut = NULL;
    for (; *at && (used < width || !cut); at++) {
      used += ((unsigned char)*at & 0xc0) != 0x80;
      if (*at == ' ') cut = at;
    }
    char *line = strndup(text, *at ? (size_t)(cut - text) : strlen(text));
    assert(line);
    figure_quote(to, line);
    free(line);
    if (!*at) return lines;
    fputs(".\"\\n\".", to);
    lines++;
    text = cut + 1;
  }
}

static void put_number(FILE *to, double value) {
  char buffer[32];
  fputs(isnan(value) ? "NaN" : real_format(value, buffer), to);
}

void figure_put_plain(FILE *to, const char *text) {
  for (; *text; text++) fputc((unsigned char)*text < 0x20 || *text == '"' ? ' ' : *text, to);
}

/* --- the data file --- */

static void put_values(FILE *to, const struct figure *figure, const struct figure_series *series) {
  for (int i = 0; i < series->count; i++) {
    const struct figure_value *value = &series->values[i];
    const double numbers[] = {value->x, value->y, value->low, value->high};
    for (int k = 0; k < (figure->kind == FIGURE_CDF ? 2 : 4); k++) {
      put_number(to, numbers[k]);
      fputc('\t', to);
    }
    if (figure->kind == FIGURE_DOTS)
      fprintf(to, "%d", series->hollow[i]);
    else
      fprintf(to, "%lld\t%lld", (long long)value->n, (long long)value->failed);
    if (figure->columns) {
      fputc('\t', to);
      figure_put_plain(to, figure->columns[(int)value->x]);
    }
    fputc('\n', to);
  }
}

static void put_series_data(FILE *to, const struct figure *figure) {
  for (int s = 0; s < figure->series_count; s++) {
    fputs(s ? "\n\n# series: " : "# series: ", to);
    figure_put_plain(to, *figure->series[s].name ? figure->series[s].name : "all");
    fputs(figure->kind == FIGURE_CDF    ? "\n# value\tshare\tn\tfailed\n"
          : figure->kind == FIGURE_DOTS ? "\n# row\tns\tlow\thigh\thollow\tname\n"
          : figure->columns             ? "\n# position\tvalue\tlow\thigh\tn\tfailed\tname\n"
                                        : "\n# x\tvalue\tlow\thigh\tn\tfailed\n",
        to);
    put_values(to, figure, &figure->series[s]);
  }
}

static double middle_tone(const struct figure *figure);

/* Cells: column, row, value, and whether its number is written in white. */
static void put_heatmap_data(FILE *to, const struct figure *figure) {
  double dark = middle_tone(figure);
  fputs("# column\trow\tvalue\tshown\twhite\tcolumn's name\trow's name\n", to);
  for (int s = 0; s < figure->series_count; s++) {
    for (int i = 0; i < figure->series[s].count; i++) {
      const struct figure_value *value = &figure->series[s].values[i];
      if (isnan(value->y)) continue; /* a cell without data stays empty */
      fprintf(to, "%d\t%d\t", (int)value->x, s);
      put_number(to, value->y);
      char shown[64];
      fprintf(to, "\t%s\t%d\t", grid_short_number(value->y, 3, shown), value->y > dark);
      figure_put_plain(to, figure->columns[(int)value->x]);
      fputc('\t', to);
      figure_put_plain(to, figure->series[s].name);
      fputc('\n', to);
    }
  }
}

static double column_sum(const struct figure *figure, int index) {
  double sum = 0;
  for (int s = 0; s < figure->series_count; s++) sum += figure->series[s].values[index].y;
  return sum;
}

/* A row per bar: parts from the bottom up. */
static void put_breakdown_data(FILE *to, const struct figure *figure) {
  fputs("# position\ttotal\tshown", to);
  for (int s = 0; s < figure->series_count; s++) {
    fputc('\t', to);
    figure_put_plain(to, figure->series[s].name);
  }
  fputs("\tname\n", to);
  for (int i = 0; i < figure->series[0].count; i++) {
    int column = (int)figure->series[0].values[i].x;
    fprintf(to, "%d\t", column);
    put_number(to, column_sum(figure, i));
    char shown[64];
    fprintf(to, "\t%s", grid_short_number(column_sum(figure, i), 4, shown));
    for (int s = 0; s < figure->series_count; s++) {
      fputc('\t', to);
      put_number(to, figure->series[s].values[i].y);
    }
    fputc('\t', to);
    figure_put_plain(to, figure->columns[column]);
    fputc('\n', to);
  }
}

/* --- scales --- */

struct range {
  double low, high;
};

static void widen(struct range *range, double value) {
  if (!isfinite(value)) return;
  range->low = fmin(range->low, value);
  range->high = fmax(range->high, value);
}

static struct range x_range(const struct figure *figure) {
  struct range range = {INFINITY, -INFINITY};
  for (int s = 0; s < figure->series_count; s++)
    for (int i = 0; i < figure->series[s].count; i++) widen(&range, figure->series[s].values[i].x);
  return range;
}

static struct range y_range(const struct figure *figure) {
  struct range range = {INFINITY, -INFINITY};
  for (int s = 0; s < figure->series_count; s++) {
    for (int i = 0; i < figure->series[s].count; i++) {
      const struct figure_value *value = &figure->series[s].values[i];
      widen(&range, value->y);
      /* an interval of a mean may reach below zero, where a logarithmic axis has no place */
      if (!figure->y_log || value->low > 0) widen(&range, value->low);
      widen(&range, value->high);
    }
  }
  return range;
}

/* Above the middle of the scale the colours are dark. */
static double middle_tone(const struct figure *figure) {
  struct range range = y_range(figure);
  return figure->y_log ? range.low * pow(range.high / range.low, 0.5) : range.low + 0.5 * (range.high - range.low);
}

/* 1-2-5 steps while few, decades beyond; written out, since gnuplot labels decades alone, of which a short axis has none. */
static void put_log_tics(FILE *to, const char *axis, struct range range, bool time) {
  static const int steps[] = {1, 2, 5};
  double decades = log10(range.high / range.low);
  int count = 0, used = decades > 2.5 ? 1 : 3;
  fprintf(to, "set %stics (", axis);
  for (int power = (int)floor(log10(range.low)) - 1; power <= (int)ceil(log10(range.high)); power++) {
    for (int k = 0; k < used; k++) {
      double value = steps[k] * pow(10, power);
      if (value < range.low * 0.999 || value > range.high * 1.001) continue;
      char buffer[32], label[32];
      real_format(value, buffer);
      fprintf(to, "%s'%s' %s", count++ ? ", " : "", time && value >= 1 ? units_format(UNIT_TIME, (int64_t)(value + 0.5), label) : buffer, buffer);
    }
    for (int k = 2; k < 10 && decades <= 6; k++) {
      double value = k * pow(10, power);
      if ((used == 3 && (k == 2 || k == 5)) || value < range.low || value > range.high) continue;
      char buffer[32];
      fprintf(to, "%s'' %s 1", count++ ? ", " : "", real_format(value, buffer));
    }
  }
  fputs(")\n", to);
}

/* time: nanoseconds, and the labels tell a unit that suits. */
static void put_log_axis(FILE *to, const char *axis, struct range range, bool time) {
  char low[32], high[32];
  double margin = pow(range.high / range.low, 0.04);
  if (margin < 1.02) margin = 1.02;
  range = (struct range){range.low / margin, range.high * margin};
  fprintf(to, "set logscale %s\nset %srange [%s:%s]\n", axis, axis, real_format(range.low, low), real_format(range.high, high));
  put_log_tics(to, axis, range, time);
}

void figure_put_log_axis(FILE *to, const char *axis, double least, double most) { put_log_axis(to, axis, (struct range){least, most}, false); }

/* From zero where zero is near: a bar's length must be its value, and small differences must not look large. */
static void put_linear_axis(FILE *to, const char *axis, struct range range, bool from_zero) {
  char low[32], high[32];
  double span = range.high - range.low;
  if (span <= 0) span = range.high != 0 ? fabs(range.high) : 1;
  bool zero_low = range.low >= 0 && (from_zero || range.low < 0.5 * range.high), zero_high = range.high <= 0 && from_zero;
  range.low = zero_low ? 0 : range.low - 0.06 * span;
  range.high = zero_high ? 0 : range.high + 0.06 * (zero_low ? range.high : span);
  if (range.high <= range.low) range.high = range.low + 1;
  fprintf(to, "set %srange [%s:%s]\n", axis, real_format(range.low, low), real_format(range.high, high));
}

static void put_axis(FILE *to, const char *axis, struct range range, bool logarithmic, bool from_zero) {
  if (!(range.low <= range.high)) return;
  if (logarithmic)
    put_log_axis(to, axis, range, false);
  else
    put_linear_axis(to, axis, range, from_zero);
}

/* --- the script --- */

enum { WIDTH = 960, HEIGHT = 600, CHARACTERS = 100 };

/* gnuplot reads the label of a tic as a format for its number: percent signs are doubled. */
static void quote_format(FILE *to, const char *text) {
  char *doubled = malloc(2 * strlen(text) + 1), *end = doubled;
  assert(doubled);
  for (; *text; text++) {
    if (*text == '%') *end++ = '%';
    *end++ = *text;
  }
  *end = '\0';
  figure_quote(to, doubled);
  free(doubled);
}

static void put_labels(FILE *to, const char *tics, char *const *names, int count) {
  fprintf(to, "set %s (", tics);
  for (int i = 0; i < count; i++) {
    if (i) fputs(", ", to);
    quote_format(to, names[i]);
    fprintf(to, " %d", i);
  }
  fputs(")\n", to);
}

static int longest(char *const *names, int count) {
  int most = 0;
  for (int i = 0; i < count; i++)
    if (characters(names[i]) > most) most = characters(names[i]);
  return most;
}

/* Where the words go, in characters. */
struct layout {
  enum { KEY_NONE, KEY_BESIDE, KEY_BELOW } key;
  int widest; /* name of a series, or the word over them */
  int free;   /* left for the drawing's width, and for the title over it */
};

/* The key stands beside the drawing while names are short, below it otherwise. A heatmap has its names left and a scale right. */
static struct layout lay_out(const struct figure *figure) {
  struct layout layout = {KEY_NONE, characters(figure->key_title), CHARACTERS - 10};
  bool heatmap = figure->kind == FIGURE_HEATMAP, alone = figure->series_count == 1 && figure->kind != FIGURE_BREAKDOWN;
  for (int s = 0; s < figure->series_count; s++)
    if (characters(figure->series[s].name) > layout.widest) layout.widest = characters(figure->series[s].name);
  if (!alone && !heatmap) layout.key = layout.widest <= 24 ? KEY_BESIDE : KEY_BELOW;
  if (heatmap || layout.key == KEY_BESIDE) layout.free -= layout.widest + (heatmap ? 16 : 4);
  if (layout.free < CHARACTERS / 3) layout.free = CHARACTERS / 3;
  return layout;
}

static void put_columns(FILE *to, const struct figure *figure) {
  int count = figure->column_count;
  put_labels(to, "xtics", figure->columns, count);
  /* side by side while they fit, slanted then, upright when there are many */
  if (count * (longest(figure->columns, count) + 2) > lay_out(figure).free) fprintf(to, "set xtics rotate by %d right\n", count > 24 ? 90 : 35);
  fprintf(to, "set xrange [-0.6:%d.6]\n", count - 1);
}

/* Returns the lines it takes below the drawing. */
static int put_key(FILE *to, const struct figure *figure) {
  struct layout layout = lay_out(figure);
  if (layout.key == KEY_NONE) {
    fputs("unset key\n", to);
    return 0;
  }
  bool beside = layout.key == KEY_BESIDE;
  fprintf(to, "set key %s Left reverse samplen 2 spacing 1.15%s\n", beside ? "outside right top vertical" : "below center horizontal maxrows 12 height 0.5",
      figure->kind == FIGURE_BREAKDOWN ? " invert" : "");
  if (*figure->key_title) {
    fputs("set key title ", to);
    figure_quote(to, figure->key_title);
    fputs(beside ? " left\n" : "\n", to);
  }
  int across = (CHARACTERS - 10) / (layout.widest + 6);
  return beside ? 0 : 2 + (figure->series_count + (across ? across : 1) - 1) / (across ? across : 1);
}

static void put_style(FILE *to, const struct figure *figure) {
  fputs("set datafile separator \"\\t\"\nset border 3 lc rgb '#444444'\nset tics nomirror out\nset grid ytics lc rgb '#dddddd' lt 1 lw 0.5\n", to);
  for (int s = 0; s < figure->series_count && figure->kind != FIGURE_HEATMAP; s++) {
    /* filled first, hollow last */
    static const int points[] = {7, 5, 9, 11, 13, 15, 6, 4};
    enum { SHAPES = sizeof points / sizeof points[0] };
    int color = figure->series[s].color;
    const char *rgb = figure->kind == FIGURE_BREAKDOWN ? part_palette[color] : figure_color(color);
    /* past the palette's end the dashes tell */
    fprintf(to, "set linetype %d lc rgb '%s' lw 1.4 pt %d ps %s dt %d\n", s + 1, rgb, points[color % SHAPES], figure->kind == FIGURE_DOTS ? "1.2" : "0.7",
        figure->kind == FIGURE_BREAKDOWN ? 1 : 1 + color / SHAPES);
  }
}

static void put_plot_begin(FILE *to, int s, const char *name) {
  fputs(s ? ", \\\n     " : "plot ", to);
  figure_quote_file(to, name, ".dat");
}

static bool has_intervals(const struct figure_series *series) {
  for (int i = 0; i < series->count; i++)
    if (!isnan(series->values[i].low) && !isnan(series->values[i].high)) return true;
  return false;
}

/* Intervals as arrows with flat heads: gnuplot's own error bars blank out a disc around every point. */
static void put_line_plots(FILE *to, const struct figure *figure, const char *name) {
  for (int s = 0; s < figure->series_count; s++) {
    put_plot_begin(to, s, name);
    fprintf(to, " index %d using 1:2 with linespoints lt %d title ", s, s + 1);
    figure_quote(to, figure->series[s].name);
    if (!has_intervals(&figure->series[s])) continue;
    put_plot_begin(to, 1, name);
    fprintf(to, " index %d using 1:3:(0):($4-$3) with vectors heads size screen 0.004,90 lt %d lw 0.8 dt 1 notitle", s, s + 1);
  }
}

static void put_cdf_plots(FILE *to, const struct figure *figure, const char *name) {
  for (int s = 0; s < figure->series_count; s++) {
    put_plot_begin(to, s, name);
    fprintf(to, " index %d using 1:2 with steps lt %d title ", s, s + 1);
    figure_quote(to, figure->series[s].name);
  }
}

static void put_bar_plots(FILE *to, const struct figure *figure, const char *name) {
  double width = 0.8 / figure->series_count;
  for (int s = 0; s < figure->series_count; s++) {
    char shift[32], wide[32];
    real_format((s - (figure->series_count - 1) / 2.0) * width, shift);
    real_format(width * 0.94, wide);
    put_plot_begin(to, s, name);
    fprintf(to, " index %d using ($1+%s):2:(%s) with boxes lt %d fill solid noborder title ", s, shift, wide, s + 1);
    figure_quote(to, figure->series[s].name);
    if (!has_intervals(&figure->series[s])) continue;
    put_plot_begin(to, 1, name);
    fprintf(to, " index %d using ($1+%s):3:(0):($4-$3) with vectors heads size screen 0.004,90 lc rgb '#222222' lw 0.8 dt 1 notitle", s, shift);
  }
}

static void put_breakdown_plots(FILE *to, const struct figure *figure, const char *name) {
  fputs("set style fill solid noborder\n", to);
  for (int s = 0; s < figure->series_count; s++) {
    put_plot_begin(to, s, name);
    fputs(" using 1:(0):($1-0.35):($1+0.35):(0", to);
    for (int k = 0; k < s; k++) fprintf(to, "+$%d", 4 + k);
    fputs("):(0", to);
    for (int k = 0; k <= s; k++) fprintf(to, "+$%d", 4 + k);
    fprintf(to, ") with boxxyerror lt %d title ", s + 1);
    figure_quote(to, figure->series[s].name);
  }
  if (figure->column_count > 20) return;
  put_plot_begin(to, 1, name);
  fputs(" using 1:2:(strcol(3)) with labels offset 0,0.6 notitle", to);
}

/* Marks of a row stand one below the other; a white middle makes one hollow, in every shape and with every terminal. */
static void put_dot_plots(FILE *to, const struct figure *figure, const char *name) {
  double step = 0.7 / figure->series_count;
  for (int s = 0; s < figure->series_count; s++) {
    const struct figure_series *series = &figure->series[s];
    char shift[32];
    real_format((s - (figure->series_count - 1) / 2.0) * step, shift);
    fprintf(to, s ? ", \\\n     " : "plot ");
    fprintf(to, "keyentry with points lt %d title ", s + 1);
    figure_quote(to, series->name);
    if (has_intervals(series)) {
      put_plot_begin(to, 1, name);
      fprintf(to, " index %d using 3:($1+%s):($4-$3):(0) with vectors nohead lt %d lw 1.6 dt 1 notitle", s, shift, s + 1);
    }
    put_plot_begin(to, 1, name);
    fprintf(to, " index %d using 2:($1+%s) with points lt %d notitle", s, shift, s + 1);
    bool hollow = false;
    for (int i = 0; i < series->count; i++) hollow |= series->hollow[i] && !isnan(series->values[i].y);
    if (!hollow) continue;
    put_plot_begin(to, 1, name);
    fprintf(to, " index %d using ($5==1?$2:NaN):($1+%s) with points lt %d lc rgb '#ffffff' ps 0.65 notitle", s, shift, s + 1);
  }
}

static bool any_cell(const struct figure *figure, double dark, bool white) {
  for (int s = 0; s < figure->series_count; s++)
    for (int i = 0; i < figure->series[s].count; i++) {
      double value = figure->series[s].values[i].y;
      if (!isnan(value) && (value > dark) == white) return true;
    }
  return false;
}

static void put_heatmap_plots(FILE *to, const struct figure *figure, const char *name) {
  put_plot_begin(to, 0, name);
  fputs(" using 1:2:($1-0.5):($1+0.5):($2-0.5):($2+0.5):3 with boxxyerror fill solid noborder lc palette notitle", to);
  if (figure->column_count > 14 || figure->series_count > 20) return;
  double dark = middle_tone(figure);
  for (int white = 0; white < 2; white++) {
    /* gnuplot 5.4 crashes on labels none of which has a place */
    if (!any_cell(figure, dark, white)) continue;
    put_plot_begin(to, 1, name);
    fprintf(to, " using 1:($5==%d?$2:NaN):(strcol(4)) with labels tc rgb '%s' notitle", white, white ? "#ffffff" : "#222222");
  }
}

static void put_heatmap_axes(FILE *to, const struct figure *figure) {
  struct range range = y_range(figure);
  char **rows = calloc((size_t)figure->series_count + 1, sizeof *rows);
  assert(rows);
  for (int s = 0; s < figure->series_count; s++) rows[s] = figure->series[s].name;
  put_columns(to, figure);
  fprintf(to, "set xrange [-0.5:%d.5]\nset yrange [-0.5:%d.5]\nunset grid\nset rmargin at screen 0.83\n", figure->column_count - 1, figure->series_count - 1);
  put_labels(to, "ytics", rows, figure->series_count);
  /* one hue from light to dark: readable without colour, too */
  fputs("set palette defined (0 '#eaf3fb', 0.35 '#9ccbe8', 0.7 '#2b7fb8', 1 '#08306b')\nset cblabel ", to);
  figure_quote(to, figure->y_label);
  fputc('\n', to);
  if (figure->y_log)
    put_log_axis(to, "cb", range, false);
  else {
    char low[32], high[32];
    if (range.low == range.high) range.high += range.low != 0 ? fabs(range.low) : 1;
    fprintf(to, "set cbrange [%s:%s]\n", real_format(range.low, low), real_format(range.high, high));
  }
  free(rows);
}

static void put_dot_axes(FILE *to, const struct figure *figure) {
  put_log_axis(to, "x", y_range(figure), true);
  put_labels(to, "ytics", figure->columns, figure->column_count);
  fprintf(to, "set yrange [%d.5:-0.5]\nset grid xtics noytics\n", figure->column_count - 1);
  for (int i = 1; i < figure->column_count; i++)
    fprintf(to, "set arrow from graph 0, first %d.5 to graph 1, first %d.5 nohead lc rgb '#dddddd' lw 0.5\n", i - 1, i - 1);
}

static struct range stack_range(const struct figure *figure) {
  struct range range = {0, -INFINITY};
  for (int i = 0; i < figure->series[0].count; i++) widen(&range, column_sum(figure, i));
  return range;
}

static void put_axes(FILE *to, const struct figure *figure) {
  bool heatmap = figure->kind == FIGURE_HEATMAP;
  fputs("set xlabel ", to);
  figure_quote(to, figure->x_label);
  /* room for the word over a key below */
  fputs(lay_out(figure).key == KEY_BELOW ? ".\"\\n\"\nset ylabel " : "\nset ylabel ", to);
  figure_quote(to, heatmap ? figure->key_title : figure->y_label);
  fputc('\n', to);
  if (heatmap)
    put_heatmap_axes(to, figure);
  else if (figure->kind == FIGURE_DOTS)
    put_dot_axes(to, figure);
  else if (figure->columns)
    put_columns(to, figure);
  else
    put_axis(to, "x", x_range(figure), figure->x_log, false);
  if (figure->kind == FIGURE_CDF)
    fputs("set yrange [0:1.02]\n", to);
  else if (figure->kind == FIGURE_BREAKDOWN)
    put_axis(to, "y", stack_range(figure), false, true);
  else if (!heatmap && figure->kind != FIGURE_DOTS)
    put_axis(to, "y", y_range(figure), figure->y_log, figure->kind == FIGURE_BAR);
}

void figure_begin_script(FILE *to, const char *path, int width, int height) {
  const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
  int format = format_of(path);
  fputs(PLOT_RUN_SCRIPT_LINE "# Draws ", to);
  figure_put_plain(to, file);
  fputs(" from the .dat beside it: run gnuplot on this file in its folder. Change it as you like.\nreset\nset encoding utf8\nset terminal ", to);
  fprintf(to, formats[format].terminal, width * formats[format].scale, height * formats[format].scale);
  fputs("\nset output ", to);
  figure_quote_file(to, file, "");
  fputc('\n', to);
}

char *figure_stem(const char *path) {
  const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
  char *stem = strndup(base, (size_t)(strrchr(base, '.') - base));
  assert(stem);
  return stem;
}

int figure_run(const char *path, const char *data, size_t data_size, const char *script, size_t script_size, struct err *e) {
  char *script_path = plot_run_beside(path, ".gp"), *data_path = plot_run_beside(path, ".dat");
  int code = plot_run_write(data_path, data, data_size, e);
  if (!code) code = plot_run_write(script_path, script, script_size, e);
  if (!code) code = plot_run_gnuplot(script_path, path, e);
  free(script_path);
  free(data_path);
  return code;
}

static void put_script(FILE *to, const struct figure *figure, const char *name, const char *path) {
  static void (*const plots[])(FILE *, const struct figure *, const char *) = {
      [FIGURE_LINE] = put_line_plots,
      [FIGURE_CDF] = put_cdf_plots,
      [FIGURE_BAR] = put_bar_plots,
      [FIGURE_HEATMAP] = put_heatmap_plots,
      [FIGURE_BREAKDOWN] = put_breakdown_plots,
      [FIGURE_DOTS] = put_dot_plots,
  };
  char *body;
  size_t size;
  FILE *to_body = open_memstream(&body, &size);
  assert(to_body);
  fputs("set title ", to_body);
  int lines = put_wrapped(to_body, figure->title, lay_out(figure).free);
  fputs(".\"\\n\".", to_body);
  lines += put_wrapped(to_body, figure->subtitle, lay_out(figure).free);
  fputs("\n", to_body);
  put_style(to_body, figure);
  lines += put_key(to_body, figure);
  put_axes(to_body, figure);
  plots[figure->kind](to_body, figure, name);
  fputs("\n", to_body);
  fclose(to_body);
  /* more words above or below must not flatten the drawing */
  int height = HEIGHT + 22 * (lines > 3 ? lines - 3 : 0);
  if (figure->kind == FIGURE_HEATMAP && figure->series_count > 18) height += 20 * (figure->series_count - 18);
  int marks = figure->column_count * figure->series_count;
  if (figure->kind == FIGURE_DOTS && marks > 36) height += 5 * (marks - 36);
  figure_begin_script(to, path, WIDTH, height);
  fputs(body, to);
  fputs("set output\n", to);
  free(body);
}

int figure_draw(const struct figure *figure, const char *path, struct err *e) {
  char *name = figure_stem(path), *script = NULL, *data = NULL;
  size_t script_size, data_size;
  FILE *to = open_memstream(&data, &data_size);
  assert(to);
  fputs(PLOT_RUN_DATA_LINE, to);
  if (figure->kind == FIGURE_HEATMAP)
    put_heatmap_data(to, figure);
  else if (figure->kind == FIGURE_BREAKDOWN)
    put_breakdown_data(to, figure);
  else
    put_series_data(to, figure);
  fclose(to);
  to = open_memstream(&script, &script_size);
  assert(to);
  put_script(to, figure, name, path);
  fclose(to);
  int code = figure_run(path, data, data_size, script, script_size, e);
  free(script);
  free(data);
  free(name);
  return code;
}
