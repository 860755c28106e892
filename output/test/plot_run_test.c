/* SPDX-License-Identifier: GPL-3.0-or-later */
// objects: output/plot_run.o sim/core/err.o
#include "output/plot_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* Runs a script of this text in a fresh folder; the figure's old bytes must never pass for a new figure. */
static int run(const char *text, struct err *e) {
  char folder[] = "/tmp/pqnetsim-test-XXXXXX", script[64], figure[64], command[128];
  assert_non_null(mkdtemp(folder));
  snprintf(script, sizeof script, "%s/f.gp", folder);
  snprintf(figure, sizeof figure, "%s/f.svg", folder);
  FILE *to = fopen(script, "w");
  fputs(text, to);
  fclose(to);
  to = fopen(figure, "w");
  fputs("old", to);
  fclose(to);
  int code = plot_run_gnuplot(script, figure, e);
  assert_int_equal(access(figure, F_OK) == 0, code == 0);
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  assert_int_equal(system(command), 0);
  return code;
}

static void fails(const char *text, const char *words) {
  struct err e = {0};
  assert_int_equal(run(text, &e), ERR_SYSTEM);
  if (!strstr(e.text, words)) fail_msg("expected '%s' in: %s", words, e.text);
  assert_int_equal(e.text[strlen(e.text) - 1], '\n');
  assert_ptr_equal(strchr(e.text, '\n'), e.text + strlen(e.text) - 1); /* one line */
  err_free(&e);
}

static void outcomes(void **state) {
  (void)state;
  struct err e = {0};
  assert_int_equal(run("set terminal svg\nset output './f.svg'\nplot x\nset output\n", &e), 0);
  fails("plot 'no such file'\n", "no such file");
  fails("set nonsense\n", "unrecognized option");
  fails("x = 1\n", "gnuplot wrote no figure");
  /* more words than a pipe holds do not block */
  fails("do for [i=1:20000] { printerr 'many words' }\nexit status 3\n", "gnuplot failed (status 3): many words many words");
}

static void missing(void **state) {
  (void)state;
  char *path = strdup(getenv("PATH"));
  setenv("PATH", "/nonexistent", 1);
  struct err e = {0};
  int code = plot_run_gnuplot("f.gp", "f.svg", &e);
  setenv("PATH", path, 1);
  free(path);
  assert_int_equal(code, ERR_SYSTEM);
  assert_non_null(strstr(e.text, "cannot start gnuplot"));
  assert_non_null(strstr(e.text, "apt-get install gnuplot-nox"));
  err_free(&e);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(outcomes), cmocka_unit_test(missing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
