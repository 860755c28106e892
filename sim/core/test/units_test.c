/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: sim/core/units.o sim/core/err.o
#include "sim/core/units.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct good {
  enum unit unit;
  const char *text;
  int64_t value;
};

/* Factors: SI prefixes are powers of ten, KiB MiB GiB powers of 1024 (IEC 80000-13), % is 1/100, ppm 1/1e6. */
static const struct good goods[] = {
    {UNIT_TIME, "10ms", 10000000},
    {UNIT_TIME, "150us", 150000},
    {UNIT_TIME, "10 \xC2\xB5s", 10000},
    {UNIT_TIME, "10\xCE\xBCs", 10000},
    {UNIT_TIME, "1e-3s", 1000000},
    {UNIT_TIME, "1.0e10ns", 10000000000},
    {UNIT_TIME, "1.0E+10ns", 10000000000},
    {UNIT_TIME, ".5s", 500000000},
    {UNIT_TIME, "5.s", 5000000000},
    {UNIT_TIME, "-2ms", -2000000},
    {UNIT_TIME, "+2ms", 2000000},
    {UNIT_TIME, "0s", 0},
    {UNIT_TIME, "0e99s", 0},
    {UNIT_TIME, "0.000000001s", 1},
    {UNIT_TIME, "1.000000000000000000000000000000000000000000000000s", 1000000000},
    {UNIT_TIME, "0000000000000000000000000000000000000000000000000001s", 1000000000},
    {UNIT_TIME, "1000000000000000000000e-21s", 1000000000},
    {UNIT_TIME, "1.5min", 90000000000},
    {UNIT_TIME, "2h", 7200000000000},
    {UNIT_TIME, "1d", 86400000000000},
    {UNIT_TIME, "9223372036854775807ns", INT64_MAX},
    {UNIT_TIME, "9.223372036854775807e9s", INT64_MAX},
    {UNIT_TIME, " 10 ms ", 10000000},
    {UNIT_RATE, "100 Mbit/s", 100000000},
    {UNIT_RATE, "1Mbps", 1000000},
    {UNIT_RATE, "1kbps", 1000},
    {UNIT_RATE, "10Gbit/s", 10000000000},
    {UNIT_RATE, "2.5Tbit/s", 2500000000000},
    {UNIT_RATE, "9600bit/s", 9600},
    {UNIT_SIZE, "50KiB", 51200},
    {UNIT_SIZE, "1kB", 1000},
    {UNIT_SIZE, "1.5KiB", 1536},
    {UNIT_SIZE, "0.0009765625KiB", 1}, /* 1/1024 */
    {UNIT_SIZE, "1GiB", 1073741824},
    {UNIT_SHARE, "1%", 10000000},
    {UNIT_SHARE, "0.05%", 500000},
    {UNIT_SHARE, "200ppm", 200000},
    {UNIT_SHARE, "100%", 1000000000},
    {UNIT_SHARE, "0.0000001%", 1},
    {UNIT_SHARE, "0", 0},
    {UNIT_COUNT, "1e3", 1000},
    {UNIT_COUNT, "2000", 2000},
    {UNIT_COUNT, "1.5e1", 15},
    {UNIT_COUNT, "0", 0},
    {UNIT_COUNT, "-7", -7},
};

static void reads_what_users_write(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof goods / sizeof goods[0]; i++) {
    struct err e = {0};
    int64_t value = 77;
    if (units_parse(goods[i].unit, goods[i].text, &value, &e)) fail_msg("'%s': %s", goods[i].text, e.text);
    if (value != goods[i].value) fail_msg("'%s' read as %lld", goods[i].text, (long long)value);
  }
}

struct bad {
  enum unit unit;
  const char *text;
  const char *says; /* a part of the sentence */
};

static const struct bad bads[] = {
    {UNIT_TIME, "10", "ns us \xC2\xB5s ms s min h d"},
    {UNIT_TIME, "0", "without a unit"},
    {UNIT_TIME, "1,5ms", "decimal mark is a dot"},
    {UNIT_TIME, "", "found nothing"},
    {UNIT_TIME, "   ", "found nothing"},
    {UNIT_TIME, "nan", "not a number"},
    {UNIT_TIME, ".inf", "not a number"},
    {UNIT_TIME, "inf s", "not a number"},
    {UNIT_TIME, "0x10ms", "decimal"},
    {UNIT_TIME, "ms", "not a number"},
    {UNIT_TIME, "-", "not a number"},
    {UNIT_TIME, ".", "not a number"},
    {UNIT_TIME, "0.1ns", "finer than 1ns"},
    {UNIT_TIME, "1e-10s", "finer than 1ns"},
    {UNIT_TIME, "1e-9999999999999999999s", "finer than 1ns"},
    {UNIT_TIME, "9223372036854775808ns", "at most 9223372036.854775807s"},
    {UNIT_TIME, "1e30s", "at most"},
    {UNIT_TIME, "1e999999999999999999999s", "at most"},
    {UNIT_TIME, "1e9999999999999999999d", "at most"},
    {UNIT_TIME, "340282366920938463463374607431768211457s", "more than 38 digits"},
    {UNIT_TIME, "10 m", "unknown unit 'm'"},
    {UNIT_TIME, "10MS", "small and capital letters differ"},
    {UNIT_TIME, "10ms5", "unknown unit 'ms5'"},
    {UNIT_TIME, "10 ms 5", "unknown unit 'ms 5'"},
    {UNIT_TIME, "1e3", "without a unit"},
    {UNIT_TIME, "1ems", "unknown unit 'ems'"},
    {UNIT_TIME, "10\xB5s", "unknown unit"}, /* cp1252 */
    {UNIT_TIME, "10KiB", "which is a size; wanted is a time"},
    {UNIT_RATE, "10mb", "bit/s kbit/s Mbit/s"},
    {UNIT_RATE, "10MB/s", "unknown unit 'MB/s'"},
    {UNIT_RATE, "10mbit/s", "unknown unit 'mbit/s'"},
    {UNIT_RATE, "10MB", "which is a size"},
    {UNIT_SIZE, "10Mbit/s", "which is a rate"},
    {UNIT_SIZE, "10KB", "B kB MB GB KiB MiB GiB"},
    {UNIT_SIZE, "0.5B", "finer than 1B"},
    {UNIT_SHARE, "0.01", "% ppm"},
    {UNIT_SHARE, "1", "without a unit"},
    {UNIT_SHARE, "0.00000001%", "finer than 0.0000001%"},
    {UNIT_COUNT, "1.5", "whole number"},
    {UNIT_COUNT, "10ms", "which is a time; wanted is a whole number without a unit"},
    {UNIT_COUNT, "ten", "not a number"},
    {UNIT_COUNT, "1_000", "whole number"},
    {UNIT_COUNT, "1 000", "whole number"},
};

static void refuses_with_a_sentence(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
    struct err e = {0};
    int64_t value = 77;
    if (units_parse(bads[i].unit, bads[i].text, &value, &e) != ERR_INPUT) fail_msg("'%s' was accepted as %lld", bads[i].text, (long long)value);
    if (value != 77) fail_msg("'%s' changed the value", bads[i].text);
    if (strncmp(e.text, "found ", 6) != 0 || !strstr(e.text, bads[i].says)) fail_msg("'%s' gives: %s", bads[i].text, e.text);
    assert_int_equal(e.count, 1);
    err_free(&e);
  }
}

static const struct good formats[] = {
    {UNIT_TIME, "10ms", 10000000},
    {UNIT_TIME, "100us", 100000},
    {UNIT_TIME, "1.5ms", 1500000},
    {UNIT_TIME, "1ns", 1},
    {UNIT_TIME, "999ns", 999},
    {UNIT_TIME, "1.000000001s", 1000000001},
    {UNIT_TIME, "90s", 90000000000}, /* minutes, hours and days only when whole: 1.5min is not how waits are given */
    {UNIT_TIME, "2min", 120000000000},
    {UNIT_TIME, "1h", 3600000000000},
    {UNIT_TIME, "1d", 86400000000000},
    {UNIT_TIME, "0s", 0},
    {UNIT_TIME, "-2ms", -2000000},
    {UNIT_TIME, "9223372036.854775807s", INT64_MAX},
    {UNIT_RATE, "1.5Gbit/s", 1500000000},
    {UNIT_RATE, "1Mbit/s", 1000000},
    {UNIT_RATE, "0bit/s", 0},
    {UNIT_SIZE, "1280B", 1280},
    {UNIT_SIZE, "1500B", 1500},
    {UNIT_SIZE, "8192B", 8192},
    {UNIT_SIZE, "10KiB", 10240},
    {UNIT_SIZE, "64KiB", 65536},
    {UNIT_SIZE, "65535B", 65535},
    {UNIT_SIZE, "3MiB", 3145728},
    {UNIT_SHARE, "0.1%", 1000000},
    {UNIT_SHARE, "0.02%", 200000},
    {UNIT_SHARE, "100%", 1000000000},
    {UNIT_SHARE, "0.0000001%", 1},
    {UNIT_SHARE, "0%", 0},
    {UNIT_COUNT, "1000", 1000},
    {UNIT_COUNT, "0", 0},
    {UNIT_COUNT, "-5", -5},
};

static void writes_the_shortest_exact_form(void **state) {
  (void)state;
  char buffer[32];
  for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) assert_string_equal(units_format(formats[i].unit, formats[i].value, buffer), formats[i].text);
}

static void what_is_written_reads_back(void **state) {
  (void)state;
  uint64_t x = 1;
  for (int i = 0; i < 20000; i++) {
    x = x * UINT64_C(6364136223846793005) + 1;
    int64_t value = (int64_t)(x >> (1 + i % 62));
    for (int unit = UNIT_COUNT; unit <= UNIT_SHARE; unit++) {
      char buffer[32];
      struct err e = {0};
      int64_t back, sign = i % 2 ? 1 : -1;
      units_format((enum unit)unit, sign * value, buffer);
      assert_true(strlen(buffer) < 32);
      if (units_parse((enum unit)unit, buffer, &back, &e)) fail_msg("%s: %s", buffer, e.text);
      assert_int_equal(back, sign * value);
    }
  }
}

/* Nine significant digits by hand: 1/3 = 0.333333333|3, 2/3 rounds up, 1.23456789e-7 is below printf's 1e-4 bound. */
static void reals_have_nine_digits(void **state) {
  (void)state;
  char buffer[32];
  assert_string_equal(real_format(0.1, buffer), "0.1");
  assert_string_equal(real_format(12, buffer), "12");
  assert_string_equal(real_format(1.0 / 3, buffer), "0.333333333");
  assert_string_equal(real_format(2.0 / 3, buffer), "0.666666667");
  assert_string_equal(real_format(1.23456789e-07, buffer), "1.23456789e-07");
  assert_string_equal(real_format(-0.0, buffer), "0");
  assert_string_equal(real_format(123456789.4, buffer), "123456789");
}

static void suffixes_are_listed(void **state) {
  (void)state;
  assert_string_equal(units_suffixes(UNIT_SHARE), "% ppm");
  assert_string_equal(units_suffixes(UNIT_COUNT), "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_what_users_write),
      cmocka_unit_test(refuses_with_a_sentence),
      cmocka_unit_test(writes_the_shortest_exact_form),
      cmocka_unit_test(what_is_written_reads_back),
      cmocka_unit_test(reals_have_nine_digits),
      cmocka_unit_test(suffixes_are_listed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
