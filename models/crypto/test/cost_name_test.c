/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: models/crypto/cost_name.o models/crypto/cost_line.o models/crypto/device.o models/crypto/cost_data.o models/crypto/csv.o models/crypto/alg.o models/crypto/alg_own.o sim/core/err.o
#include "models/crypto/cost_name.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void test_canonical_texts(void **state) {
  (void)state;
  static const char *const texts[][2] = {
      {"xeon-6242r", "xeon-6242r"},
      {"./mine.csv", "./mine.csv"},
      {"xeon-6242r,sign=./hsm.csv", "xeon-6242r,sign=./hsm.csv"},
      {"./a=b.csv,verify=./c=d.csv", "./a=b.csv,verify=./c=d.csv"},
      {"a,verify=b,sign=c", "a,sign=c,verify=b"},
      {"a,RSA2048.sign=b,mlkem768.encaps=c,decaps=d", "a,decaps=d,mlkem768.encaps=c,rsa-2048.sign=b"},
      {"a,p256.sign=b,p256.derive=c", "a,ecdsa-p256.sign=b,secp256r1.derive=c"}, /* a signature signs, a curve derives */
      {"a,software.ike_message=b", "a,software.ike_message=b"},
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    char canonical[128], again[128];
    struct err e = {0};
    assert_int_equal(cost_name_check(texts[i][0], canonical, sizeof canonical, &e), 0);
    assert_string_equal(canonical, texts[i][1]);
    assert_int_equal(cost_name_check(canonical, again, sizeof again, &e), 0);
    assert_string_equal(again, canonical);
  }
}

static void test_refused(void **state) {
  (void)state;
  static const char *const texts[][2] = {
      {"", "found '', allowed the name of a platform (pqnetsim list platforms) or ./FILE.csv\n"},
      {",sign=a", "allowed the name of a platform"},
      {"a,sign", "found 'sign' in 'a,sign', allowed OPERATION=PLATFORM or ALGORITHM.OPERATION=PLATFORM\n"},
      {"a,sign=", "allowed OPERATION=PLATFORM"},
      {"a,=b", "allowed OPERATION=PLATFORM"},
      {"a,", "allowed OPERATION=PLATFORM"},
      {"a,sgin=b",
          "found 'sgin', which is no operation; allowed base, an operation, or ALGORITHM.OPERATION such as rsa-2048.sign; operations are keygen, import_pub"},
      {"a,sing=b", "; did you mean sign?\n"},
      {"a,x=b", "expand, extract_expand\n"}, /* near nothing */
      {"a,rsa-2084.sign=b",
          "found 'rsa-2084', which is no algorithm (pqnetsim list algorithms), nor one of software, qkd, sdn-suite; did you mean rsa-2048?\n"},
      {"a,rsa-2048.sing=b", "found 'sing', which is no operation"},
      {"a,software.IKE=b", "found 'software.IKE', allowed software. and small letters, digits and _\n"},
      {"a,sign=b,sign=c", "found sign twice"},
      {"a,rsa2048.sign=b,rsa-2048.sign=c", "found rsa-2048.sign twice"},
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    char canonical[128];
    struct err e = {0};
    assert_int_equal(cost_name_check(texts[i][0], canonical, sizeof canonical, &e), ERR_INPUT);
    if (!strstr(e.text, texts[i][1])) fail_msg("%s: %s", texts[i][0], e.text);
    err_free(&e);
  }
}

static void test_limits(void **state) {
  (void)state;
  char small[16], text[2048] = "a";
  struct err e = {0};
  assert_int_equal(cost_name_check("platform,sign=b", small, sizeof small, &e), 0); /* 15 characters */
  assert_int_equal(cost_name_check("platform-,sign=b", small, sizeof small, &e), ERR_INPUT);
  assert_string_equal(e.text, "found 16 characters in all, allowed at most 15: state the operations in fewer files\n");
  err_free(&e);
  for (int i = 0; i <= COST_NAME_PARTS; i++) snprintf(text + strlen(text), sizeof text - strlen(text), ",software.x%d=b", i);
  struct cost_name name;
  assert_int_equal(cost_name_read(text, &name, &e), ERR_INPUT);
  assert_non_null(strstr(e.text, "found more than 32 parts"));
  err_free(&e);
}

static void test_parts_point_to_titles(void **state) {
  (void)state;
  struct cost_name name;
  struct err e = {0};
  assert_int_equal(cost_name_read("./a.csv,sign=b,mlkem768.encaps=./c.csv", &name, &e), 0);
  assert_string_equal(name.base, "./a.csv");
  assert_int_equal(name.part_count, 2);
  assert_null(name.parts[0].algorithm);
  assert_string_equal(name.parts[0].operation, "sign");
  assert_string_equal(name.parts[1].algorithm, "ML-KEM-768");
  assert_string_equal(name.parts[1].platform, "./c.csv");
  cost_name_free(&name);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_canonical_texts),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_parts_point_to_titles),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
