/* SPDX-License-Identifier: GPL-3.0-or-later */
// objects: output/plot_scatter.o output/plot_gnuplot.o output/plot_run.o output/grid.o sim/core/err.o sim/core/units.o
// libs: -lm
#include "output/plot_scatter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
  char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *from = fopen(path, "r");
  if (!from) return NULL;
  char *bytes = calloc(1, 1 << 18);
  size_t size = fread(bytes, 1, (1 << 18) - 1, from);
  fclose(from);
  assert_true(size > 0);
  return bytes;
}

static struct scatter_point times[] = {{1, 1.05}, {20, 19}, {4000, 4000}}, fitted[] = {{2, 2}}, counts[] = {{1208, 1208}};
static struct scatter_series left[] = {{"it's a set", 0, false, 3, times}, {"fits", 1, true, 1, fitted}}, right[] = {{"it's a set", 0, false, 1, counts}};

static int draw(struct scatter_panel first, struct scatter_panel second, const char *name, struct err *e) {
  char path[256];
  struct scatter scatter = {.title = "Both", .subtitle = "line: equal", .near = 0.1, .panels = {first, second}};
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return scatter_draw(&scatter, path, e);
}

static void test_two_panels_with_their_data_and_one_key(void **state) {
  (void)state;
  struct err e = {0};
  int code = draw(
      (struct scatter_panel){"published (ms)", "simulated (ms)", 2, left}, (struct scatter_panel){"published (B)", "simulated (B)", 1, right}, "two.svg", &e);
  if (code) print_error("%s", e.text);
  assert_int_equal(code, 0);
  char *data = read_file("two.dat"), *script = read_file("two.gp"), *figure = read_file("two.svg");
  assert_non_null(strstr(
      data, "# series: it's a set, filled\n1\t1.05\n20\t19\n4000\t4000\n\n\n# series: fits, hollow\n2\t2\n\n\n# series: it's a set, filled\n1208\t1208\n"));
  assert_non_null(strstr(script, "set logscale x\n"));
  assert_non_null(strstr(script, "set logscale y\n"));
  assert_non_null(strstr(script, "'+' using 1:($1*0.9):($1*1.1) with filledcurves"));
  assert_non_null(strstr(script, "'./two.dat' index 0 using 1:2 with points pt 7 "));
  assert_non_null(strstr(script, "'./two.dat' index 1 using 1:2 with points pt 4 ")); /* hollow square */
  assert_non_null(strstr(script, "'./two.dat' index 2 using 1:2 with points pt 7 "));
  char *title = strstr(script, "title 'it''s a set'");
  assert_non_null(title);
  assert_null(strstr(title + 1, "title 'it''s a set'"));
  assert_non_null(strstr(figure, "<svg"));
  free(data);
  free(script);
  free(figure);
}

static void test_one_panel_takes_the_room_of_both(void **state) {
  (void)state;
  struct err e = {0};
  assert_int_equal(draw((struct scatter_panel){0}, (struct scatter_panel){"published (B)", "simulated (B)", 1, right}, "one.png", &e), 0);
  char *script = read_file("one.gp");
  assert_non_null(strstr(script, "set size 0.8,0.9\n"));
  assert_null(strstr(script, "set size 0.4,0.9\n"));
  free(script);
}

static void test_nothing_to_draw(void **state) {
  (void)state;
  struct err e = {0};
  assert_int_equal(draw((struct scatter_panel){0}, (struct scatter_panel){0}, "none.svg", &e), ERR_INPUT);
  assert_non_null(strstr(e.text, "nothing to draw"));
  err_free(&e);
  assert_null(read_file("none.svg"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_two_panels_with_their_data_and_one_key),
      cmocka_unit_test(test_one_panel_takes_the_room_of_both),
      cmocka_unit_test(test_nothing_to_draw),
  };
  return cmocka_run_group_tests(tests, make, clean);
}
