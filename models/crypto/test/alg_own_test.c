/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: models/crypto/alg.o models/crypto/alg_own.o sim/core/err.o
#include "models/crypto/alg_own.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static const struct alg mykem = {.name = "mykem",
    .title = "My KEM",
    .kind = ALG_KEM,
    .public_bytes = 1184,
    .answer_bytes = 1088,
    .secret_bytes = 32,
    .classical_bits = 128,
    .quantum_bits = 64,
    .ike_id = 1024,
    .tls_id = 0xfe00};

static void define(const struct alg *alg) {
  struct err e = {0};
  if (alg_define(alg, &e)) fail_msg("%s", e.text);
}

static void refused(struct alg alg, const char *says) {
  struct err e = {0};
  int before = alg_own_count();
  assert_int_equal(alg_define(&alg, &e), ERR_INPUT);
  assert_string_equal(e.text, says);
  assert_int_equal(alg_own_count(), before);
  err_free(&e);
}

static void test_found_beside_the_table(void **state) {
  (void)state;
  int count, again;
  alg_table(&count);
  alg_forget_own();
  define(&mykem);
  const struct alg *found = alg_find("My-KEM", 1 << ALG_KEM);
  assert_non_null(found);
  assert_string_equal(found->name, "mykem");
  assert_int_equal(found->public_bytes, 1184);
  assert_true(alg_is_own(found) && alg_is_quantum_safe(found));
  assert_false(alg_is_own(alg_find("mlkem768", ~0u)));
  assert_ptr_equal(alg_find("dh1024", ~0u), found);
  assert_ptr_equal(alg_find("0xfe00", ~0u), found);
  assert_null(alg_find("mykem", 1 << ALG_SIGNATURE));
  assert_ptr_equal(alg_own_titled("MY KEM"), found);
  assert_ptr_equal(alg_own_titled("mykem"), found);
  assert_null(alg_own_titled("mlkem768"));
  assert_string_equal(alg_nearest("mykm", ~0u), "mykem");
  alg_table(&again);
  assert_int_equal(again, count);
  alg_forget_own();
  assert_null(alg_find("mykem", ~0u));
  assert_null(alg_own_titled("mykem"));
  assert_int_equal(found->public_bytes, 1184); /* who holds it keeps it */
}

static void test_the_same_again_is_the_same(void **state) {
  (void)state;
  alg_forget_own();
  define(&mykem);
  const struct alg *first = alg_own_at(0);
  alg_forget_own();
  struct alg other = mykem;
  other.public_bytes++;
  define(&other);
  assert_ptr_not_equal(alg_own_at(0), first);
  alg_forget_own();
  define(&mykem);
  assert_ptr_equal(alg_own_at(0), first);
}

static void test_names_that_are_taken(void **state) {
  (void)state;
  alg_forget_own();
  define(&mykem);
  struct alg alg = mykem;
  alg.ike_id = alg.tls_id = -1;
  refused(alg, "the name 'mykem' is already a spelling of mykem (My KEM), which this scenario defines too; choose another\n");
  alg.name = "my-kem";
  refused(alg, "the name 'my-kem' is already a spelling of mykem (My KEM), which this scenario defines too; choose another\n");
  alg.name = "ml-kem-768";
  refused(alg, "the name 'ml-kem-768' is already a spelling of mlkem768 (ML-KEM-768); choose another\n");
  alg.name = "p256";
  refused(alg, "the name 'p256' is already a spelling of secp256r1 (P-256); choose another\n");
  alg.name = "another";
  refused(alg, "the title 'My KEM' is already a spelling of mykem (My KEM), which this scenario defines too; choose another\n");
  alg.title = "Ed25519";
  refused(alg, "the title 'Ed25519' is already a spelling of ed25519 (Ed25519); choose another\n");
  alg.title = "Another";
  alg.ike_id = 36;
  refused(alg, "ike_id: found 36, which is that of mlkem768\n");
  alg.ike_id = 1024;
  refused(alg, "ike_id: found 1024, which is that of mykem\n");
  alg.ike_id = -1;
  alg.tls_id = 0x11ec;
  refused(alg, "tls_id: found 0x11ec, which is that of x25519mlkem768\n");
  alg.kind = ALG_SIGNATURE; /* another space of numbers */
  define(&alg);
}

static void test_names_that_are_none(void **state) {
  (void)state;
  static const char *const shape = "of an algorithm; allowed are up to 32 small letters, digits, - and _, a letter first\n";
  static const char *const bads[] = {"", "Mykem", "1kem", "my kem", "my.kem", "-kem", "abcdefghijklmnopqrstuvwxyz-1234567"};
  for (size_t i = 0; i < sizeof bads / sizeof *bads; i++) {
    struct err e = {0};
    assert_int_equal(alg_own_check_name(bads[i], &e), ERR_INPUT);
    assert_non_null(strstr(e.text, shape));
    err_free(&e);
  }
  static const struct {
    const char *name, *says;
  } others[] = {
      {"none", "the name 'none' means something else where algorithms are named; choose another\n"},
      {"psk", "the name 'psk' means something else where algorithms are named; choose another\n"},
      {"software", "the name 'software' means something else where algorithms are named; choose another\n"},
      {"dh7", "the name 'dh7' could be read as a transform number or as several key exchanges; choose another\n"},
      {"a-ke1_b", "the name 'a-ke1_b' could be read as a transform number or as several key exchanges; choose another\n"},
  };
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    struct err e = {0};
    assert_int_equal(alg_own_check_name(others[i].name, &e), ERR_INPUT);
    assert_string_equal(e.text, others[i].says);
    err_free(&e);
  }
  struct err e = {0};
  assert_int_equal(alg_own_check_name("abcdefghijklmnopqrstuvwxyz-12345", &e), 0);
}

static void test_one_line_and_back(void **state) {
  (void)state;
  char line[ALG_OWN_LINE_MAX], again[ALG_OWN_LINE_MAX];
  struct err e = {0};
  alg_own_write(&mykem, line);
  assert_string_equal(line, "mykem kem 1184 1088 32 0 128 64 1024 65024 My KEM");
  alg_forget_own();
  assert_int_equal(alg_own_read(line, &e), 0);
  alg_own_write(alg_own_at(0), again);
  assert_string_equal(again, line);
  static const char *const damaged[] = {"", "mykem", "mykem kem 1 2 3 4 5 6 7 8", "mykem kem 1 2 3 4 5 6 7 8 ", "mykem hash 1 2 3 4 5 6 7 8 x",
      "mykem kem 1 2 3 4 5 6 x 8 x", "mykem kem 1 2 3 4 5 6 7 8 abcdefghijklmnopqrstuvwxyz1234567"};
  for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
    assert_int_equal(alg_own_read(damaged[i], &e), ERR_SYSTEM);
    assert_non_null(strstr(e.text, "damaged definition of an algorithm"));
    err_free(&e);
  }
  assert_int_equal(alg_own_count(), 1);
}

static void test_at_most_64(void **state) {
  (void)state;
  alg_forget_own();
  for (int i = 0; i <= ALG_OWN_MAX; i++) {
    char name[16];
    struct err e = {0};
    struct alg alg = mykem;
    snprintf(name, sizeof name, "own%c%c", 'a' + i / 26, 'a' + i % 26);
    alg.name = alg.title = name;
    alg.ike_id = alg.tls_id = -1;
    assert_int_equal(alg_define(&alg, &e), i < ALG_OWN_MAX ? 0 : ERR_INPUT);
    err_free(&e);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_found_beside_the_table),
      cmocka_unit_test(test_the_same_again_is_the_same),
      cmocka_unit_test(test_names_that_are_taken),
      cmocka_unit_test(test_names_that_are_none),
      cmocka_unit_test(test_one_line_and_back),
      cmocka_unit_test(test_at_most_64),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
