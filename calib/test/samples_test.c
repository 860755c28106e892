/* SPDX-License-Identifier: GPL-3.0-or-later */
// objects: calib/samples.o models/crypto/cost.o models/crypto/cost_data.o models/crypto/cost_line.o models/crypto/device.o models/crypto/cost_name.o models/crypto/csv.o models/crypto/alg.o models/crypto/alg_own.o sim/core/err.o sim/core/units.o
#include "calib/samples.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define HEADER "algorithm,operation,size_bytes,ns\n"

static char path[64];
static struct cost_sources *sources;

static int set_up(void **state) {
  (void)state;
  struct err e = {0};
  snprintf(path, sizeof path, "/tmp/samples_test.%d.csv", (int)getpid());
  cost_set_data_dir("calib/data");
  return cost_sources_load(&sources, &e);
}

static int tear_down(void **state) {
  (void)state;
  cost_sources_free(sources);
  return unlink(path);
}

static int read_text(const char *text, struct samples **samples, struct err *e) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  fclose(file);
  return samples_read(path, sources, samples, e);
}

static void test_lines_in_any_order_become_ascending_groups(void **state) {
  (void)state;
  struct samples *samples;
  struct err e = {0};
  const char *text =
      "ns,size_bytes,operation,algorithm\r\n"
      "30,0,keygen,x25519\r\n98.5,64,seal,AES-256-GCM\r\n10,0,keygen,X25519\r\n200,1350,seal,AES-256-GCM\r\n20,0,keygen,X25519\r\n7,,ike_sa,software\r\n";
  if (read_text(text, &samples, &e)) fail_msg("%s", e.text);
  assert_int_equal(samples->group_count, 4);
  const struct samples_group *group = samples->groups;
  assert_string_equal(group[0].algorithm, "X25519");
  assert_string_equal(group[0].operation, "keygen");
  assert_int_equal(group[0].count, 3);
  for (int i = 0; i < 3; i++) assert_float_equal(group[0].ns[i], 10 * (i + 1), 0);
  assert_int_equal(group[1].size_bytes, 64);
  assert_float_equal(group[1].ns[0], 98.5, 0);
  assert_int_equal(group[2].size_bytes, 1350);
  assert_int_equal(group[3].size_bytes, 0);
  samples_free(samples);
}

static const struct refusal {
  const char *lines, *says;
} refusals[] = {
    {"", "holds no samples"},
    {"X25519,keygen,0,\n", ":2: column ns: found ''"},
    {"X25519,keygen,0,5\nX25519,keygen,0,0\n", ":3: column ns: found '0'"},
    {"X25519,keygen,0,-5\n", "column ns: found '-5'"},
    {"X25519,keygen,0,nan\n", "column ns: found 'nan'"},
    {"X25519,keygen,0,0x10\n", "column ns: found '0x10'"},
    {"X25519,keygen,0,5.\n", "column ns: found '5.'"},
    {"X25519,keygen,0,86400000000001\n", "column ns: found '86400000000001'"},
    {"X25519,keygen,0\n", ":2: found 3 cells"},
    {"X2551,keygen,0,5\n", ":2: column algorithm: found 'X2551'"},
    {"X25519,keygn,0,5\n", ":2: column operation: found 'keygn'"},
    {"X25519,keygen,-1,5\n", ":2: column size_bytes: found '-1'"},
    {"X25519,keygen,0,5\nX25519,keygen,,5\n", ":3: column size_bytes: found '', allowed: one spelling"},
};

static void test_bad_lines_are_named(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
    struct samples *samples;
    struct err e = {0};
    char text[256];
    snprintf(text, sizeof text, HEADER "%s", refusals[i].lines);
    assert_int_equal(read_text(text, &samples, &e), ERR_INPUT);
    assert_null(samples);
    if (e.count != 1 || !strstr(e.text, refusals[i].says)) fail_msg("'%s' was answered with: %s", refusals[i].lines, e.text);
    err_free(&e);
  }
}

static void test_all_problems_are_listed(void **state) {
  (void)state;
  struct samples *samples;
  struct err e = {0};
  assert_int_equal(read_text(HEADER "X2551,keygen,0,5\nX25519,keygen,0,x\nX25519,sign_,0,y\n", &samples, &e), ERR_INPUT);
  assert_int_equal(e.count, 4);
  err_free(&e);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lines_in_any_order_become_ascending_groups),
      cmocka_unit_test(test_bad_lines_are_named),
      cmocka_unit_test(test_all_problems_are_listed),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
