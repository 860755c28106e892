/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: sim/core/err.o
#include "sim/core/err.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void keeps_all_problems_in_order(void **state) {
  (void)state;
  struct err e = {0};
  assert_int_equal(err_add(&e, ERR_INPUT, "%s: found %d", "path.mtu", 27), ERR_INPUT);
  assert_int_equal(err_add(&e, ERR_SYSTEM, "disk full"), ERR_SYSTEM);
  assert_string_equal(e.text, "path.mtu: found 27\ndisk full\n");
  assert_int_equal(e.length, strlen(e.text));
  assert_int_equal(e.count, 2);
  assert_int_equal(e.code, ERR_INPUT); /* of the first */
  err_free(&e);
  assert_null(e.text);
  assert_int_equal(e.count, 0);
  err_free(&e); /* twice, and unused, does nothing */
}

static void holds_long_text(void **state) {
  (void)state;
  struct err e = {0};
  char word[5000];
  memset(word, 'x', sizeof word - 1);
  word[sizeof word - 1] = '\0';
  err_add(&e, ERR_INPUT, "<%s>", word);
  assert_int_equal(e.length, 5002);
  assert_memory_equal(e.text + 4998, "xx>\n", 5);
  err_free(&e);
}

/* 2 for usage and input, 1 when something failed, 0 all well. */
static void exit_status_by_code(void **state) {
  (void)state;
  assert_int_equal(err_exit_status(&(struct err){.code = ERR_NONE}), 0);
  assert_int_equal(err_exit_status(&(struct err){.code = ERR_INPUT}), 2);
  assert_int_equal(err_exit_status(&(struct err){.code = ERR_SYSTEM}), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(keeps_all_problems_in_order),
      cmocka_unit_test(holds_long_text),
      cmocka_unit_test(exit_status_by_code),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
