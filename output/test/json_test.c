/* SPDX-License-Identifier: GPL-3.0-or-later */
// objects: output/json.o sim/core/err.o sim/core/units.o
// libs: -lm
#include "output/json.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

static void strings(void **state) {
  (void)state;
  /* RFC 8259, section 7: quotation mark, reverse solidus and U+0000 to U+001F are escaped; bytes that are no UTF-8 become U+FFFD */
  static const struct {
    const char *text, *json;
  } table[] = {
      {"", "\"\""},
      {"path.delay", "\"path.delay\""},
      {"a \"b\" \\ c/d", "\"a \\\"b\\\" \\\\ c/d\""},
      {"l1\nl2\t\r\b\f", "\"l1\\nl2\\t\\r\\b\\f\""},
      {"\x01\x1f", "\"\\u0001\\u001f\""},
      {"10 \xC2\xB5s \xE2\x86\x92 \xF0\x9F\x98\x80", "\"10 \xC2\xB5s \xE2\x86\x92 \xF0\x9F\x98\x80\""},
      {"10 \xB5s", "\"10 \\ufffds\""},
      {"\xC2", "\"\\ufffd\""},
      {"\xC0\x80", "\"\\ufffd\\ufffd\""},
      {"\xED\xA0\x80", "\"\\ufffd\\ufffd\\ufffd\""},
      {"\xE2\x86x", "\"\\ufffd\\ufffdx\""},
      {"\x7f", "\"\x7f\""},
  };
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    char *bytes;
    size_t size;
    FILE *to = open_memstream(&bytes, &size);
    json_string(to, table[i].text);
    fclose(to);
    assert_string_equal(bytes, table[i].json);
    free(bytes);
  }
}

static void numbers(void **state) {
  (void)state;
  char *bytes;
  size_t size;
  FILE *to = open_memstream(&bytes, &size);
  static const double values[] = {0, 0.1, -2.5, 1e-9, 3e12, NAN, INFINITY};
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    json_number(to, values[i]);
    fputc(' ', to);
  }
  fclose(to);
  assert_string_equal(bytes, "0 0.1 -2.5 1e-09 3e+12 null null ");
  free(bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(strings), cmocka_unit_test(numbers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
