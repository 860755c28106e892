/* SPDX-License-Identifier: GPL-3.0-or-later */
// objects: output/grid.o sim/core/err.o sim/core/units.o
// libs: -lm
#include "output/grid.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

static void printed(struct grid *grid, const char *expected) {
  char *bytes;
  size_t size;
  FILE *to = open_memstream(&bytes, &size);
  grid_print(grid, to);
  fclose(to);
  grid_free(grid);
  assert_string_equal(bytes, expected);
  free(bytes);
}

/* Width by characters, not bytes; no blanks at the end of a line; one count of decimals a column. */
static void aligned(void **state) {
  (void)state;
  struct grid *grid = grid_new();
  grid_column(grid, "delay [\xC2\xB5s]", GRID_RIGHT);
  grid_column(grid, "mean", GRID_NUMBER);
  grid_column(grid, "kex", GRID_TEXT);
  grid_right(grid, "0.1");
  grid_number(grid, 123.46);
  grid_text(grid, "x25519");
  grid_right(grid, "100");
  grid_number(grid, NAN);
  grid_text(grid, "");
  printed(grid, "delay [\xC2\xB5s]   mean  kex\n"
                "----------  -----  ------\n"
                "       0.1  123.5  x25519\n"
                "       100\n");
}

/* Decimals for four significant digits of the smallest, at most six; whole numbers stay whole. */
static void decimals(void **state) {
  (void)state;
  struct grid *grid = grid_new();
  grid_column(grid, "a", GRID_NUMBER);
  grid_column(grid, "b", GRID_NUMBER);
  grid_column(grid, "c", GRID_NUMBER);
  grid_column(grid, "d", GRID_NUMBER);
  static const double rows[2][4] = {{12.5, 0.0123, 1500, 1.5e-7}, {987654.321, 40, 2, 0}};
  for (int r = 0; r < 2; r++)
    for (int c = 0; c < 4; c++) grid_number(grid, rows[r][c]);
  printed(grid, "        a         b     c        d\n"
                "---------  --------  ----  -------\n"
                "    12.50   0.01230  1500  1.5e-07\n"
                "987654.32  40.00000     2        0\n");
}

static void short_numbers(void **state) {
  (void)state;
  static const struct {
    double value;
    int digits;
    const char *text;
  } table[] = {
      {12.3456, 4, "12.35"},
      {123456.7, 4, "123457"},
      {0.00123456, 3, "0.00123"},
      {200, 3, "200"},
      {12345, 3, "12345"},
      {-1.25, 3, "-1.25"},
      {0, 4, "0"},
      {NAN, 4, ""},
      {0.5, 3, "0.500"},
  };
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    char buffer[64];
    assert_string_equal(grid_short_number(table[i].value, table[i].digits, buffer), table[i].text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(aligned), cmocka_unit_test(decimals), cmocka_unit_test(short_numbers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
