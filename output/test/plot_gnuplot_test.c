/* SPDX-License-Identifier: GPL-3.0-or-later */
// objects: output/plot_gnuplot.o output/plot_run.o output/grid.o sim/core/err.o sim/core/units.o
// libs: -lm
#include "output/plot_internal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static char folder[64];

static int make(void **state) {
  (void)state;
  strcpy(folder, "/tmp/pqnetsim-test-XXXXXX");
  return mkdtemp(folder) ? 0 : -1;
}

static int clean(void **state) {
  (void)state;
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return system(command);
}

static char *read_file(const char *name) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *from = fopen(path, "r");
  if (!from) return NULL;
  char *bytes = calloc(1, 1 << 18);
  size_t size = fread(bytes, 1, (1 << 18) - 1, from);
  fclose(from);
  assert_true(size > 0);
  return bytes;
}

/* Draws `count` values per series and returns the script. */
static char *draw(struct figure figure, const char *file) {
  char path[256], script[256];
  struct err e = {0};
  snprintf(path, sizeof path, "%s/%s", folder, file);
  int code = figure_draw(&figure, path, &e);
  if (code) print_error("%s", e.text);
  assert_int_equal(code, 0);
  struct stat info;
  assert_int_equal(stat(path, &info), 0);
  assert_true(info.st_size > 1000);
  snprintf(script, sizeof script, "%s", file);
  strcpy(strrchr(script, '.'), ".gp");
  return read_file(script);
}

static struct figure_value steps[] = {{1, 1, 0.5, 2, 9, 0}, {2, NAN, NAN, NAN, 0, 9}, {3, 3, 2.5, 4, 9, 0}};
static struct figure_series one = {.name = "a", .count = 3, .values = steps};

static struct figure plain(void) {
  return (struct figure){.kind = FIGURE_LINE,
      .title = "title",
      .subtitle = "n = 9",
      .x_label = "x [ms]",
      .y_label = "y [ms]",
      .key_title = "kex",
      .series_count = 1,
      .series = &one};
}

static void has(const char *script, const char *words) {
  assert_non_null(script);
  if (!strstr(script, words)) fail_msg("expected %s in\n%s", words, script);
}

/* File names that mean a pipe, a format, an option or a quote to somebody are file names. No shell is involved: nothing runs. */
static void odd_names(void **state) {
  (void)state;
  static const char *const names[] = {"|touch hacked.svg", "<touch hacked.svg", "it's \"5 %\" $HOME `id`.svg", "-e.svg", "a b.c.svg", "\xC2\xB5.svg"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) free(draw(plain(), names[i]));
  assert_null(read_file("hacked"));
}

/* Texts are shown, never run or formatted. */
static void odd_texts(void **state) {
  (void)state;
  struct figure figure = plain();
  char *columns[] = {"100 %", "a\tb\n", "`touch hacked`"};
  struct figure_value bars[] = {{0, 1, NAN, NAN, 1, 0}, {1, 2, 1, 3, 1, 0}, {2, NAN, NAN, NAN, 0, 0}};
  struct figure_series series[] = {{.name = "@it's", .count = 3, .values = bars}, {.name = "%d {/Bold x}", .color = 1, .count = 3, .values = bars}};
  figure.kind = FIGURE_BAR;
  figure.title = "system(\"touch hacked\") '. `touch hacked` .' \\n @x %d";
  figure.series = series;
  figure.series_count = 2;
  figure.columns = columns;
  figure.column_count = 3;
  char *script = draw(figure, "texts.svg"), *data = read_file("texts.dat"), *svg = read_file("texts.svg");
  has(script, "set xtics ('100 %%' 0, 'a b ' 1, '`touch hacked`' 2)");
  has(script, "title '@it''s'");
  has(data, "1\t2\t1\t3\t1\t0\ta b \n");
  has(svg, "100 %");
  has(svg, "`touch hacked`");
  assert_null(read_file("hacked"));
  free(script);
  free(data);
  free(svg);
}

/* Nanoseconds with labels that carry a unit; the hollow series alone gets white middles; what is missing leaves a gap. */
static void dots(void **state) {
  (void)state;
  struct figure figure = plain();
  char *rows[] = {"keygen", "100 % sign"};
  struct figure_value filled[] = {{0, 2e4, NAN, NAN, 0, 0}, {1, 5e6, 1e6, 9e6, 0, 0}};
  struct figure_value hollow[] = {{0, 7e2, NAN, NAN, 0, 0}, {1, NAN, NAN, NAN, 0, 0}};
  bool none[] = {false, false}, first[] = {true, false};
  struct figure_series series[] = {
      {.name = "a", .count = 2, .values = filled, .hollow = none}, {.name = "b's", .color = 1, .count = 2, .values = hollow, .hollow = first}};
  figure.kind = FIGURE_DOTS;
  figure.y_log = true;
  figure.columns = rows;
  figure.column_count = 2;
  figure.series = series;
  figure.series_count = 2;
  char *script = draw(figure, "dots.svg"), *data = read_file("dots.dat");
  has(script, "'10us' 10000, ");
  has(script, "'1ms' 1000000, ");
  has(script, "set ytics ('keygen' 0, '100 %% sign' 1)");
  has(script, "index 0 using 3:($1+-0.175):($4-$3):(0) with vectors");
  has(script, "index 1 using ($5==1?$2:NaN)");
  assert_null(strstr(script, "index 0 using ($5==1?$2:NaN)"));
  assert_null(strstr(script, "index 1 using 3:"));
  has(data, "1\t5000000\t1000000\t9000000\t0\t100 % sign\n");
  has(data, "0\t700\tNaN\tNaN\t1\tkeygen\n");
  free(script);
  free(data);
}

static void log_axes(void **state) {
  (void)state;
  struct figure figure = plain();
  struct figure_value wide[] = {{0.1, 1e-3, NAN, NAN, 1, 0}, {1, 1, -1, 2, 1, 0}, {5, 1e3, 900, 1100, 1, 0}};
  struct figure_series series = {.name = "a", .count = 3, .values = wide};
  figure.series = &series;
  figure.x_log = figure.y_log = true;
  char *script = draw(figure, "log.png");
  has(script, "set logscale x");
  has(script, "'0.1' 0.1, '0.2' 0.2"); /* under two and a half decades: 1-2-5 */
  has(script, "'0.001' 0.001");
  assert_null(strstr(script, "'0.002'")); /* six decades: powers of ten */
  free(script);
}

/* Small differences far from zero are shown as such; values near zero start there; one value alone has room. */
static void linear_axes(void **state) {
  (void)state;
  static const struct {
    double low, high;
    const char *range;
  } table[] = {{0.5, 3, "set yrange [0:3.18]"}, {100, 101, "set yrange [99.94:101.06]"}, {5, 5, "set yrange [4.7:5.3]"}, {-1, 1, "set yrange [-1.12:1.12]"}};
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    struct figure figure = plain();
    struct figure_value values[] = {{1, table[i].low, NAN, NAN, 1, 0}, {2, table[i].high, NAN, NAN, 1, 0}};
    struct figure_series series = {.name = "a", .count = 2, .values = values};
    figure.series = &series;
    char *script = draw(figure, "linear.svg");
    has(script, table[i].range);
    free(script);
  }
}

/* Long names: the key goes below, columns slant, the title breaks into lines, and the drawing keeps its height. */
static void long_words(void **state) {
  (void)state;
  struct figure figure = plain();
  char *columns[] = {"x25519-ke1_mlkem768-ke2_mlkem1024", "x25519-ke1_mlkem768", "ecp256-ke1_mlkem512-ke2_frodo640aes"};
  struct figure_value bars[] = {{0, 1, NAN, NAN, 1, 0}, {1, 2, 1, 3, 1, 0}, {2, 3, NAN, NAN, 0, 0}};
  struct figure_series series[6];
  for (int s = 0; s < 6; s++) series[s] = (struct figure_series){.name = "x25519-ke1_mlkem768, 10ms, 1%", .color = s, .count = 3, .values = bars};
  figure.kind = FIGURE_BAR;
  figure.title =
      "A title that goes on and on, as titles of studies do when somebody wants to say everything about them at once, and then a little more than that";
  figure.series = series;
  figure.series_count = 6;
  figure.columns = columns;
  figure.column_count = 3;
  char *script = draw(figure, "long.svg");
  has(script, "set key below");
  has(script, "set xtics rotate by 35 right");
  has(script, ".\"\\n\".");
  has(script, "size 960,7"); /* higher than 600 */
  free(script);
}

/* All kinds with a single value, and with none of some series. */
static void few_values(void **state) {
  (void)state;
  char *columns[] = {"only"};
  struct figure_value value = {0, 2, NAN, NAN, 1, 0}, missing = {0, NAN, NAN, NAN, 0, 0};
  struct figure_series series[] = {{.name = "crypto", .count = 1, .values = &value}, {.name = "software", .color = 8, .count = 1, .values = &missing}};
  static const enum figure_kind kinds[] = {FIGURE_LINE, FIGURE_CDF, FIGURE_BAR, FIGURE_HEATMAP, FIGURE_BREAKDOWN};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    struct figure figure = plain();
    bool columned = kinds[i] != FIGURE_LINE && kinds[i] != FIGURE_CDF;
    figure.kind = kinds[i];
    figure.series = series;
    figure.series_count = kinds[i] == FIGURE_BREAKDOWN ? 1 : 2;
    figure.columns = columned ? columns : NULL;
    figure.column_count = columned;
    free(draw(figure, "few.png"));
  }
}

static void put(const char *name, const char *bytes, size_t size) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *to = fopen(path, "w");
  assert_non_null(to);
  assert_int_equal(fwrite(bytes, 1, size, to), size);
  fclose(to);
}

static void refused(const char *name, const char *words) {
  char path[512];
  struct err e = {0};
  snprintf(path, sizeof path, "%s/%s", folder, name);
  assert_int_equal(figure_check_path(path, &e), ERR_INPUT);
  if (!strstr(e.text, words)) fail_msg("expected %s in %s", words, e.text);
  err_free(&e);
}

/* What stands where plot would write is kept, unless plot wrote it. */
static void in_the_way(void **state) {
  (void)state;
  char study[100] = "SQLite format 3", path[512];
  struct err e = {0};
  put("way.dat", study, sizeof study);
  refused("way.svg", "way.dat: is a study or another SQLite file; plot does not replace it: choose another -o name");
  put("way.dat", "1 2 3\n", 6);
  refused("way.svg", "way.dat: was not written by plot, which would replace it: choose another -o name, or remove the file");
  put("way.dat", "", 0); /* nothing to lose */
  snprintf(path, sizeof path, "%s/way.svg", folder);
  assert_int_equal(figure_check_path(path, &e), 0);
  put("way.gp", study, sizeof study);
  refused("way.svg", "way.gp: is a study");
  put("way.gp", "# Draws my own\n", 15);
  refused("way.svg", "way.gp: was not written by plot");
  put("self.svg", study, sizeof study);
  refused("self.svg", "self.svg: is a study");
  snprintf(path, sizeof path, "%s/pipe.gp", folder);
  assert_int_equal(mkfifo(path, 0666), 0);
  refused("pipe.svg", "pipe.gp: is not an ordinary file");
  free(draw(plain(), "again.svg"));
  char *script = read_file("again.gp"), *data = read_file("again.dat");
  assert_int_equal(strncmp(script, "# pqnetsim plot: script", 23), 0);
  assert_int_equal(strncmp(data, "# pqnetsim plot: data", 21), 0);
  free(script);
  free(data);
  snprintf(path, sizeof path, "%s/again.svg", folder);
  assert_int_equal(figure_check_path(path, &e), 0);
}

static void bad_names(void **state) {
  (void)state;
  refused("a\nb.svg", "the name of a figure holds a line break or another control character");
  refused("none/a.svg", "/none does not exist; create it first");
  put("flat", "x", 1);
  refused("flat/a.svg", "/flat is not a folder");
  refused("a.txt", "ends in .svg, .png or .pdf");
}

static void cannot_write(void **state) {
  (void)state;
  struct figure figure = plain();
  struct err e = {0};
  assert_int_equal(figure_draw(&figure, "/nonexistent/a.svg", &e), ERR_SYSTEM);
  assert_non_null(strstr(e.text, "/nonexistent/a.dat: cannot be written"));
  err_free(&e);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(odd_names),
      cmocka_unit_test(odd_texts),
      cmocka_unit_test(dots),
      cmocka_unit_test(log_axes),
      cmocka_unit_test(linear_axes),
      cmocka_unit_test(long_words),
      cmocka_unit_test(few_values),
      cmocka_unit_test(in_the_way),
      cmocka_unit_test(bad_names),
      cmocka_unit_test(cannot_write),
  };
  return cmocka_run_group_tests(tests, make, clean);
}
