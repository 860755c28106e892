/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: models/crypto/cost_line.o models/crypto/device.o models/crypto/cost_name.o models/crypto/cost_data.o models/crypto/csv.o models/crypto/alg.o models/crypto/alg_own.o sim/core/err.o
#include "models/crypto/cost_line.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static struct cost_sources *sources;

static int set_up(void **state) {
  (void)state;
  struct err e = {0};
  cost_set_data_dir("calib/data");
  return cost_sources_load(&sources, &e);
}

static int tear_down(void **state) {
  (void)state;
  cost_sources_free(sources);
  return 0;
}

/* Cells in the order of the columns. */
static struct cost_line *read_cells(const char *const cells[9], struct err *e) {
  const char *copy[COST_LINE_COLUMNS] = {NULL};
  memcpy(copy, cells, 9 * sizeof *copy);
  char path[] = "x.csv";
  struct csv csv = {.path = path};
  const struct csv_row row = {7, copy};
  return cost_line_read(&csv, &row, "x", sources, e);
}

static struct cost_line *quantiles(const char *text) {
  struct err e = {0};
  struct cost_line *line = read_cells((const char *const[9]){"ML-KEM-768", "keygen", "", text, "", "measured", "pqnetsim-ops-2026", "", ""}, &e);
  if (e.count) fail_msg("%s", e.text);
  return line;
}

static void test_a_whole_line(void **state) {
  (void)state;
  struct err e = {0};
  struct cost_line *line = read_cells((const char *const[9]){"aes-256-gcm", "seal", "1350", "170", "42", "estimated", "pqm4", "constant", "a guess"}, &e);
  assert_int_equal(e.count, 0);
  assert_string_equal(line->algorithm, "AES-256-GCM"); /* the table's spelling */
  assert_string_equal(line->operation, "seal");
  assert_int_equal(line->size_bytes, 1350);
  assert_int_equal(line->energy_nj, 42);
  assert_int_equal(line->kind, COST_ESTIMATED);
  assert_string_equal(line->source, "pqm4");
  assert_string_equal(line->family, "constant");
  assert_string_equal(line->note, "a guess");
  assert_int_equal(cost_line_quantile(line, 0), 170);
  assert_int_equal(cost_line_quantile(line, UINT64_MAX), 170);
  cost_line_free(line);
}

static void test_empty_cells_have_defaults(void **state) {
  (void)state;
  struct cost_line *line = quantiles("5");
  assert_int_equal(line->size_bytes, 0);
  assert_int_equal(line->energy_nj, -1);
  cost_line_free(line);
}

static void test_software_operations_are_free(void **state) {
  (void)state;
  struct err e = {0};
  struct cost_line *line = read_cells((const char *const[9]){"Software", "ike_message", "240", "5", "", "measured", "pqnetsim-ops-2026", "", ""}, &e);
  assert_int_equal(e.count, 0);
  assert_string_equal(line->algorithm, "software");
  cost_line_free(line);
}

/* u = k/4 of 2^64 and so on; by hand: 0..1000 over p 0..0.5, 1000..4000 over p 0.5..1.
 * p 0.25 -> 500; p 0.125 -> 250; p 0.75 -> 2500; p 0.5 -> 1000; p just below 1 -> 4000. */
static void test_interpolation_by_hand(void **state) {
  (void)state;
  struct cost_line *line = quantiles("0:0 0.5:1000  1:4000");
  const uint64_t quarter = UINT64_C(1) << 62;
  assert_int_equal(line->count, 3);
  assert_int_equal(cost_line_quantile(line, 0), 0);
  assert_int_equal(cost_line_quantile(line, quarter / 2), 250);
  assert_int_equal(cost_line_quantile(line, quarter), 500);
  assert_int_equal(cost_line_quantile(line, 2 * quarter), 1000);
  assert_int_equal(cost_line_quantile(line, 3 * quarter), 2500);
  assert_int_equal(cost_line_quantile(line, UINT64_MAX), 4000);
  cost_line_free(line);
}

/* p 0.3 is not a binary fraction: u = 2^63 lies (0.5 - 0.3) / 0.7 = 2/7 into the last pair: 10 + 70 * 2/7 = 30.
 * A step between p 0.3 and 0.300000001 is still found on its right sides. */
static void test_decimal_probabilities(void **state) {
  (void)state;
  struct cost_line *line = quantiles("0:3 0.3:10 1:80");
  assert_int_equal(cost_line_quantile(line, UINT64_C(1) << 63), 30);
  cost_line_free(line);
  line = quantiles("0:0 0.3:0 0.300000001:500 1:500");
  const uint64_t third = UINT64_C(5534023222112865484); /* floor(0.3 * 2^64) */
  assert_int_equal(cost_line_quantile(line, third), 0);
  assert_int_equal(cost_line_quantile(line, third + UINT64_C(18446744074)), 500); /* 1e-9 * 2^64 further */
  cost_line_free(line);
}

/* Halves go up: 0..1 over p 0..1 gives 0 below p 0.5 (by the resolution, 2^-32) and 1 from there. */
static void test_rounding(void **state) {
  (void)state;
  struct cost_line *line = quantiles("0:0 1:1");
  assert_int_equal(cost_line_quantile(line, (UINT64_C(1) << 63) - (UINT64_C(1) << 32)), 0);
  assert_int_equal(cost_line_quantile(line, UINT64_C(1) << 63), 1);
  cost_line_free(line);
}

static void test_the_largest_values(void **state) {
  (void)state;
  struct cost_line *line = quantiles("0:0 1:86400000000000");
  assert_int_equal(cost_line_quantile(line, UINT64_C(1) << 63), 43200000000000);
  /* The last place is 2^-32 of the rise: 20,117 ns of a day. */
  assert_in_range(cost_line_quantile(line, UINT64_MAX), 86400000000000 - 20117, 86400000000000);
  cost_line_free(line);
}

static void test_never_falls(void **state) {
  (void)state;
  struct cost_line *line = quantiles("0:235291 0.05:241240 0.25:351405 0.5:569906 0.75:911248 0.95:1807626 1:1807626");
  int64_t last = 0;
  for (uint64_t i = 0; i < 100000; i++) {
    int64_t ns = cost_line_quantile(line, i * (UINT64_MAX / 100000));
    assert_true(ns >= last);
    last = ns;
  }
  cost_line_free(line);
}

struct bad {
  const char *cells[9];
  const char *says;
};
#define Q(text)                                                                                                                                                \
  { "ML-KEM-768", "keygen", "0", text, "", "measured", "pqm4", "", "" }
static const struct bad bads[] = {
    {{"ML-KEM-786", "keygen", "0", "1", "", "measured", "pqm4", "", ""},
        "column algorithm: found 'ML-KEM-786', allowed: an algorithm's title (did you mean 'ML-KEM-768'?), or one of software, qkd, sdn-suite"},
    {{"", "keygen", "0", "1", "", "measured", "pqm4", "", ""}, "column algorithm: is empty"},
    {{"ML-KEM-768", "encap", "0", "1", "", "measured", "pqm4", "", ""}, "column operation: found 'encap', allowed: keygen, import_pub, encaps, encaps_full"},
    {{"software", "IKE message", "0", "1", "", "measured", "pqm4", "", ""}, "column operation: found 'IKE message', allowed: small letters, digits and _"},
    {{"software", "", "0", "1", "", "measured", "pqm4", "", ""}, "column operation: is empty"},
    {{"ML-KEM-768", "keygen", "-1", "1", "", "measured", "pqm4", "", ""},
        "column size_bytes: found '-1', allowed: a whole number from 0 to 1099511627776, or nothing"},
    {{"ML-KEM-768", "keygen", "1 kB", "1", "", "measured", "pqm4", "", ""}, "column size_bytes: found '1 kB'"},
    {{"ML-KEM-768", "keygen", "0", "1", "2.5", "measured", "pqm4", "", ""}, "column energy_nj: found '2.5'"},
    {{"ML-KEM-768", "keygen", "0", "1", "", "guess", "pqm4", "", ""}, "column kind: found 'guess', allowed: measured, published, fitted, estimated, assumed"},
    {{"ML-KEM-768", "keygen", "0", "1", "", "", "pqm4", "", ""}, "column kind: is empty, allowed: measured"},
    {{"ML-KEM-768", "keygen", "0", "1", "", "measured", "", "", ""}, "column source: is empty, allowed: an id of sources.csv"},
    {{"ML-KEM-768", "keygen", "0", "1", "", "measured", "nobody-1999", "", ""}, "column source: found 'nobody-1999'"},
    {{"ML-KEM-768", "keygen", "0", "1", "", "estimated", "pqm4", "", ""}, "column note: is empty, allowed: how the number came about"},
    {{"ML-KEM-768", "keygen", "0", "1", "", "assumed", "pqm4", "", ""}, "column note: is empty, allowed: how the number came about"},
    {{"ML-KEM-768", "keygen", "0", "1", "", "measured", "own", "", ""}, "column note: is empty, allowed: where the number comes from"},
    {Q(""), "column quantiles_ns: is empty, allowed: a whole number of ns, or p:ns pairs from p 0 to p 1"},
    {Q("21.5"), "column quantiles_ns: found '21.5'"},
    {Q("-5"), "column quantiles_ns: found '-5'"},
    {Q("12us"), "column quantiles_ns: found '12us'"},
    {Q("86400000000001"), "each at most 86400 s"},
    {Q("99999999999999999999999"), "each at most 86400 s"},
    {Q("0:1"), "column quantiles_ns: found '0:1', allowed: a whole number"},
    {Q("0.1:1 1:2"), "column quantiles_ns: found '0.1:1 1:2', allowed"},
    {Q("0:1 0.5:2"), "column quantiles_ns: found '0:1 0.5:2', allowed"},
    {Q("0:1 0.5:3 1:2"), "allowed: pairs whose p rise and whose ns do not fall"},
    {Q("0:1 0.5:2 0.5:3 1:4"), "allowed: pairs whose p rise and whose ns do not fall"},
    {Q("0:1 1.5:2"), "column quantiles_ns: found '0:1 1.5:2'"},
    {Q("0:1 2:2"), "column quantiles_ns: found '0:1 2:2'"},
    {Q("0:1 0.0000000001:2 1:3"), "column quantiles_ns: found"},
    {Q("0:1,1:2"), "column quantiles_ns: found '0:1,1:2'"},
    {Q("0:1 .5:2 1:3"), "column quantiles_ns: found"},
    {Q("0: 1 1:2"), "column quantiles_ns: found"},
    {Q("0:nan 1:2"), "column quantiles_ns: found"},
};

static void test_every_malformed_cell(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
    struct err e = {0};
    struct cost_line *line = read_cells(bads[i].cells, &e);
    if (e.count != 1 || e.code != ERR_INPUT || strncmp(e.text, "x.csv:7: ", 9) != 0 || !strstr(e.text, bads[i].says))
      fail_msg("case %zu: %d problems: %s", i, e.count, e.text ? e.text : "none");
    cost_line_free(line);
    err_free(&e);
  }
}

static void test_too_many_pairs(void **state) {
  (void)state;
  char text[65 * 16] = "0:1", *p = text + 3;
  for (int i = 1; i < 65; i++) p += sprintf(p, " 0.%03d:%d", i, i);
  struct err e = {0};
  struct cost_line *line = read_cells((const char *const[9])Q(text), &e);
  assert_non_null(strstr(e.text, "holds more than 64 pairs"));
  cost_line_free(line);
  err_free(&e);
}

static void test_all_problems_of_a_line(void **state) {
  (void)state;
  struct err e = {0};
  struct cost_line *line = read_cells((const char *const[9]){"nothing-near-it", "x y", "b", "c", "d", "e", "f", "", ""}, &e);
  assert_int_equal(e.count, 6); /* the operation of an unknown algorithm is not judged */
  cost_line_free(line);
  err_free(&e);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_whole_line),
      cmocka_unit_test(test_empty_cells_have_defaults),
      cmocka_unit_test(test_software_operations_are_free),
      cmocka_unit_test(test_interpolation_by_hand),
      cmocka_unit_test(test_decimal_probabilities),
      cmocka_unit_test(test_rounding),
      cmocka_unit_test(test_the_largest_values),
      cmocka_unit_test(test_never_falls),
      cmocka_unit_test(test_every_malformed_cell),
      cmocka_unit_test(test_too_many_pairs),
      cmocka_unit_test(test_all_problems_of_a_line),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
