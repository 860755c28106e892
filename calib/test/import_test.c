/* SPDX-License-Identifier: GPL-3.0-or-later */
// objects: calib/import.o models/crypto/cost.o models/crypto/cost_data.o models/crypto/cost_line.o models/crypto/csv.o models/crypto/alg.o sim/core/err.o models/crypto/device.o models/crypto/cost_name.o models/crypto/alg_own.o
#include "calib/import.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static char path[64];
static struct cost_sources *sources;

static int set_up(void **state) {
  (void)state;
  struct err e = {0};
  snprintf(path, sizeof path, "/tmp/import_test.%d.csv", (int)getpid());
  cost_set_data_dir("calib/data");
  return cost_sources_load(&sources, &e);
}

static int tear_down(void **state) {
  (void)state;
  cost_sources_free(sources);
  return unlink(path);
}

static int read_text(const char *text, enum import_unit unit, struct import **import, struct err *e) {
  const struct import_request request = {path, unit, 64e6, "published", "own"};
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  fclose(file);
  return import_read(&request, sources, import, e);
}

static struct import *good(const char *text, enum import_unit unit) {
  struct import *import;
  struct err e = {0};
  if (read_text(text, unit, &import, &e)) fail_msg("%s", e.text);
  return import;
}

static void assert_row(const struct import_row *row, const char *algorithm, const char *operation, int64_t ns) {
  assert_string_equal(row->algorithm, algorithm);
  assert_string_equal(row->operation, operation);
  assert_int_equal(row->count, 1);
  assert_int_equal(row->points[0].ns, ns);
}

/* openssl speed on a small server (source openssl-26006): 39924.9 keys/s take 25.047 us. */
static void test_a_column_for_each_operation(void **state) {
  (void)state;
  struct import *import = good("algorithm,keygen,encaps,decaps,sign,verify,note\nmlkem768,34,19,30,,,NUC\nP256,10,,,20,60.5,\nX25519,25,,,,,\n", IMPORT_US);
  assert_int_equal(import->row_count, 7);
  assert_row(&import->rows[0], "ML-KEM-768", "keygen", 34000);
  assert_row(&import->rows[2], "ML-KEM-768", "decaps", 30000);
  assert_string_equal(import->rows[2].note, "30 us; NUC");
  assert_row(&import->rows[3], "ECDSA-P256", "keygen", 10000); /* it signs */
  assert_row(&import->rows[5], "ECDSA-P256", "verify", 60500);
  assert_row(&import->rows[6], "X25519", "keygen", 25000);
  import_free(import);
}

/* 988722 cycles / 64 MHz = 15.44878125 ms; 1 / 39924.9 s = 25047.03 ns. */
static void test_units(void **state) {
  (void)state;
  static const struct {
    const char *text;
    enum import_unit unit;
    int64_t ns;
    const char *note;
  } rows[] = {
      {"98.5", IMPORT_NS, 99, "98.5 ns"}, /* halves up */
      {"0.034", IMPORT_MS, 34000, "0.034 ms"},
      {"1.5", IMPORT_S, 1500000000, "1.5 s"},
      {"988722", IMPORT_CYCLES, 15448781, "988722 cycles at 64 MHz"},
      {"39924.9", IMPORT_RATE, 25047, "39924.9 operations/s"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char text[128];
    snprintf(text, sizeof text, "algorithm,operation,value\nX25519,keygen,%s\n", rows[i].text);
    struct import *import = good(text, rows[i].unit);
    assert_row(&import->rows[0], "X25519", "keygen", rows[i].ns);
    assert_string_equal(import->rows[0].note, rows[i].note);
    import_free(import);
  }
}

/* (59.7 + 439) / 2 / 2 + (439 + 1673.8) / 2 / 2 = 652.875 ms. */
static void test_quantiles(void **state) {
  (void)state;
  struct import *import = good("algorithm,operation,min,median,max,mean,sd,n\nRSA-2048,keygen,59.7,439,1673.8,548.9,387,50\n", IMPORT_MS);
  const struct import_row *row = &import->rows[0];
  static const struct import_point expected[] = {{0, 59700000}, {0.5, 439000000}, {1, 1673800000}};
  assert_int_equal(row->count, 3);
  for (int i = 0; i < 3; i++) {
    assert_float_equal(row->points[i].p, expected[i].p, 0);
    assert_int_equal(row->points[i].ns, expected[i].ns);
  }
  assert_float_equal(import_mean(row), 652.875e6, 1);
  assert_float_equal(row->mean_ns, 548.9e6, 1);
  assert_string_equal(row->note, "mean 548.9 ms, sd 387 ms, n 50, min 59.7 ms, median 439 ms, max 1673.8 ms");
  import_free(import);
}

/* Ends that are not stated are those of the nearest quantile; a median alone, or a mean alone, is a constant. */
static void test_quantiles_without_ends(void **state) {
  (void)state;
  struct import *import = good("algorithm,operation,p5,p50,p95,mean\nX25519,keygen,10,20,40,\nX25519,derive,,20,,\nX25519,derive_full,,,,22\n", IMPORT_NS);
  const struct import_row *row = &import->rows[0];
  static const struct import_point expected[] = {{0, 10}, {0.05, 10}, {0.5, 20}, {0.95, 40}, {1, 40}};
  assert_int_equal(row->count, 5);
  for (int i = 0; i < 5; i++) {
    assert_float_equal(row->points[i].p, expected[i].p, 0);
    assert_int_equal(row->points[i].ns, expected[i].ns);
  }
  assert_row(&import->rows[1], "X25519", "derive", 20);
  assert_row(&import->rows[2], "X25519", "derive_full", 22);
  import_free(import);
}

static void test_names_and_sizes(void **state) {
  (void)state;
  struct import *import = good("algorithm,operation,size_bytes,value\n0x11ec,keygen,,5\np256,verify,,6\np256,derive,0,7\nML_DSA_65,sign,,8\n"
                               "AES256GCM,seal,64,1\nAES256GCM,seal,1350,9\nsoftware,ike_message,0,3\n",
      IMPORT_NS);
  assert_row(&import->rows[0], "X25519MLKEM768", "keygen", 5);
  assert_row(&import->rows[1], "ECDSA-P256", "verify", 6);
  assert_row(&import->rows[2], "P-256", "derive", 7);
  assert_row(&import->rows[3], "ML-DSA-65", "sign", 8);
  assert_int_equal(import->rows[5].size_bytes, 1350);
  assert_string_equal(import->rows[6].algorithm, "software");
  import_free(import);
}

static void test_what_is_refused(void **state) {
  (void)state;
  static const struct {
    const char *text;
    enum import_unit unit;
    const char *sentence;
  } bad[] = {
      {"algorithm,operation,value\nmlkem7689,keygen,5\n", IMPORT_NS,
          ":2: column algorithm: found 'mlkem7689', allowed: an algorithm's title (did you mean 'ML-KEM-768'?)"},
      {"algorithm,operation,value\nX25519,keygn,5\n", IMPORT_NS, ":2: column operation: found 'keygn', allowed: keygen, "},
      {"algorithm,operation,value\nX25519,keygen,5 us\n", IMPORT_NS, ":2: column value: found '5 us', allowed: a number above 0 without a unit"},
      {"algorithm,operation,value\nX25519,keygen,-5\n", IMPORT_NS, "column value: found '-5'"},
      {"algorithm,operation,value\nX25519,keygen,1e5\n", IMPORT_NS, "column value: found '1e5'"},
      {"algorithm,operation,value\nX25519,keygen,0.4\n", IMPORT_NS, "allowed: durations of 1 ns to 86400 s; these are ns: is that the table's --unit?"},
      {"algorithm,operation,value\nX25519,keygen,86401\n", IMPORT_S, "these are s: is that"},
      {"algorithm,operation,value\nX25519,keygen,\n", IMPORT_NS, ":2: column value: is empty, allowed: a number here, in mean, or in columns of quantiles"},
      {"algorithm,operation,value,p50\nX25519,keygen,5,6\n", IMPORT_NS, "found '5' beside quantiles"},
      {"algorithm,operation,p50,p95\nX25519,keygen,5,4\n", IMPORT_NS, "column p95: found '4', allowed: quantiles that do not fall"},
      {"algorithm,operation,p50,median\nX25519,keygen,5,5\n", IMPORT_NS, "column median: p50 is stated too"},
      {"algorithm,operation,max\nX25519,keygen,5\n", IMPORT_NS, ":2: only max is stated"},
      {"algorithm,operation,p50\nX25519,keygen,5\n", IMPORT_RATE, ":2: quantiles in ops_per_s"},
      {"algorithm,operation,value,n\nX25519,keygen,5,many\n", IMPORT_NS, "column n: found 'many'"},
      {"algorithm,operation,value,sd\nX25519,keygen,5,wide\n", IMPORT_NS, "column sd: found 'wide'"},
      {"algorithm,operation,value\nX25519,keygen,5\nx25519,keygen,6\n", IMPORT_NS, ":3: X25519 keygen is already stated in line 2"},
      {"algorithm,keygen\nX25519,5\ncurve25519,6\n", IMPORT_NS, ":3: X25519 keygen is already stated in line 2"},
      {"algorithm,operation,value,size_bytes\nSHA-256,hash,5,64\n", IMPORT_NS, ":2: column size_bytes: found 64 as the only size"},
      {"algorithm,operation,value,size_bytes\nSHA-256,hash,5,64\nSHA-256,hash,5,\n", IMPORT_NS, ":2: SHA-256 hash has a size here and none in line 3"},
      {"algorithm,operation,keygen\nX25519,keygen,5\n", IMPORT_NS,
          "column operation: found 'keygen', allowed: nothing, since this table has a column for each"},
      {"algorithm,keygen,value\nX25519,5,6\n", IMPORT_NS, "column value: found '6', allowed: nothing"},
      {"algorithm,keygen\nX25519,5\nX448,\n", IMPORT_NS, ":3: column algorithm: found 'X448', allowed: lines with a number"},
      {"algorithm,keygn\nX25519,5\n", IMPORT_NS, ":1: column 'keygn' is not known; columns are algorithm,"},
      {"algorithm,operation,value\n", IMPORT_NS, "holds no rows"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    struct import *import = NULL;
    struct err e = {0};
    assert_int_equal(read_text(bad[i].text, bad[i].unit, &import, &e), ERR_INPUT);
    assert_null(import);
    if (!strstr(e.text, bad[i].sentence)) fail_msg("%s\nwanted: %s\n%s", bad[i].text, bad[i].sentence, e.text);
    err_free(&e);
  }
}

static void test_all_bad_lines_are_listed(void **state) {
  (void)state;
  struct import *import = NULL;
  struct err e = {0};
  assert_int_equal(
      read_text("algorithm,operation,value\nnothing,keygen,5\nX25519,keygen,x\nX25519,derive,5\nX448,keygen,\n", IMPORT_NS, &import, &e), ERR_INPUT);
  assert_int_equal(e.count, 3);
  err_free(&e);
}

static void test_clocks(void **state) {
  (void)state;
  double hz;
  assert_true(import_clock("64MHz", &hz));
  assert_float_equal(hz, 64e6, 0);
  assert_true(import_clock("3.1 GHz", &hz));
  assert_float_equal(hz, 3.1e9, 1);
  static const char *const bad[] = {"", "64", "MHz", "0MHz", "-5MHz", "64mhz", "64MHz x", "1.2.3MHz", "1e3MHz"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    if (import_clock(bad[i], &hz)) fail_msg("'%s' is no clock", bad[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_column_for_each_operation),
      cmocka_unit_test(test_units),
      cmocka_unit_test(test_quantiles),
      cmocka_unit_test(test_quantiles_without_ends),
      cmocka_unit_test(test_names_and_sizes),
      cmocka_unit_test(test_what_is_refused),
      cmocka_unit_test(test_all_bad_lines_are_listed),
      cmocka_unit_test(test_clocks),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
