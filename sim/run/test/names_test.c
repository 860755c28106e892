/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nearest names, by edit distances counted by hand. */
// objects: sim/run/names.o sim/run/arena.o
#include "sim/run/names.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static const char *const names[] = {"path.mtu", "path.rate", "path.delay", "seed", "sweep"};
enum { COUNT = sizeof names / sizeof *names };

static void the_nearest_wins(void **state) {
  (void)state;
  assert_string_equal(names_nearest("path.mut", names, COUNT), "path.mtu"); /* one swap */
  assert_string_equal(names_nearest("PATH.RATES", names, COUNT), "path.rate");
  assert_string_equal(names_nearest("path.dely", names, COUNT), "path.delay");
  assert_string_equal(names_nearest("sweeps", names, COUNT), "sweep");
  assert_string_equal(names_nearest("sed", names, COUNT), "seed");
}

static void nothing_near_is_nothing(void **state) {
  (void)state;
  char word[1000];
  assert_null(names_nearest("bandwidth", names, COUNT));
  assert_null(names_nearest("x", names, COUNT));
  assert_null(names_nearest("", names, COUNT));
  memset(word, 'p', sizeof word - 1);
  word[sizeof word - 1] = '\0';
  assert_null(names_nearest(word, names, COUNT));
  assert_null(names_nearest("seed", names, 0));
}

static void long_text_is_cut_between_characters(void **state) {
  (void)state;
  struct arena *arena = arena_new();
  char word[100];
  memset(word, 'a', 59);
  strcpy(word + 59, "\xc2\xb5 and more"); /* the micro sign lies across byte 60 */
  const char *shown = names_shown(arena, word);
  assert_memory_equal(shown, word, 59);
  assert_string_equal(shown + 59, "... (70 bytes)");
  assert_string_equal(names_shown(arena, "a\nb\x1b"), "a?b?");
  assert_string_equal(names_join(arena, names, 2), "path.mtu, path.rate");
  arena_free(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_nearest_wins),
      cmocka_unit_test(nothing_near_is_nothing),
      cmocka_unit_test(long_text_is_cut_between_characters),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
