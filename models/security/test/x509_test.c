/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: models/security/x509.o models/crypto/alg.o models/crypto/alg_own.o sim/core/err.o
#include "models/security/x509.h"
#include "models/crypto/alg_own.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* TLS 1.3 Certificate messages measured with OpenSSL 3.5 (source pqnetsim-tls-2026): 4 bytes of handshake header, 1 of
 * context length, 3 of list length, then 3 + certificate + 2 each. `slack`: an ECDSA signature inside may be up to two
 * bytes shorter than its middle length, one certificate each. */
static const struct {
  const char *algorithm;
  int intermediates, message, slack;
} chains[] = {
    {"rsa-2048", 0, 953, 0},
    {"rsa-2048", 1, 1851, 0},
    {"rsa-2048", 2, 2749, 0},
    {"ecdsa-p256", 0, 554, 2},
    {"ecdsa-p256", 1, 1050, 4},
    {"ecdsa-p256", 2, 1543, 6},
    {"ecdsa-p384", 0, 615, 2},
    {"ecdsa-p384", 1, 1173, 4},
    {"ecdsa-p384", 2, 1729, 6},
    {"ed25519", 0, 493, 0},
    {"ed25519", 1, 931, 0},
    {"ed25519", 2, 1369, 0},
    {"mldsa44", 0, 4153, 0},
    {"mldsa44", 1, 8251, 0},
    {"mldsa44", 2, 12349, 0},
    {"mldsa65", 0, 5682, 0},
    {"mldsa65", 1, 11309, 0},
    {"mldsa65", 2, 16936, 0},
};

static void certificate_chains_match_measured_messages(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
    const struct alg *alg = alg_find(chains[i].algorithm, 1 << ALG_SIGNATURE);
    assert_non_null(alg);
    int message = 4 + 1 + 3 + 5 + x509_certificate_bytes(alg, X509_LEAF) + chains[i].intermediates * (5 + x509_certificate_bytes(alg, X509_INTERMEDIATE));
    assert_in_range(message, chains[i].message - chains[i].slack, chains[i].message + chains[i].slack);
  }
}

static void unknown_encodings_have_no_certificate(void **state) {
  (void)state;
  const struct alg *falcon = alg_find("falcon512", 1 << ALG_SIGNATURE);
  assert_non_null(falcon);
  assert_int_equal(x509_certificate_bytes(falcon, X509_LEAF), 0);
}

/* AlgorithmIdentifiers written out: 30 0a 06 08 2a8648ce3d040302 is 12 bytes, 30 0d 06 09 2a864886f70d01010b 05 00 is 15,
 * 30 05 06 03 2b6570 is 7, 30 0b 06 09 608648016503040311 is 13. */
static void algorithm_identifiers(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int bytes;
  } expected[] = {{"ecdsa-p256", 12}, {"rsa-3072", 15}, {"ed25519", 7}, {"mldsa44", 13}};
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
    assert_int_equal(x509_algorithm_identifier_bytes(alg_find(expected[i].name, 1 << ALG_SIGNATURE)), expected[i].bytes);
}

/* One of the user's own with the sizes of ML-DSA-65 and a name of as many letters is encoded in as many bytes. */
static void own_algorithms_are_encoded_as_ml_dsa(void **state) {
  (void)state;
  const struct alg mine = {.name = "mysig65", .title = "mine", .kind = ALG_SIGNATURE, .public_bytes = 1952, .answer_bytes = 3309, .ike_id = -1, .tls_id = -1};
  struct err e = {0};
  assert_int_equal(alg_define(&mine, &e), 0);
  const struct alg *own = alg_find("mysig65", 1 << ALG_SIGNATURE), *standard = alg_find("mldsa65", 1 << ALG_SIGNATURE);
  assert_int_equal(x509_certificate_bytes(own, X509_LEAF), x509_certificate_bytes(standard, X509_LEAF));
  assert_int_equal(x509_certificate_bytes(own, X509_INTERMEDIATE), x509_certificate_bytes(standard, X509_INTERMEDIATE));
  assert_int_equal(x509_algorithm_identifier_bytes(own), 13);
  assert_int_equal(x509_signature_bytes(own), 3309);
  alg_forget_own();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(certificate_chains_match_measured_messages),
      cmocka_unit_test(unknown_encodings_have_no_certificate),
      cmocka_unit_test(algorithm_identifiers),
      cmocka_unit_test(own_algorithms_are_encoded_as_ml_dsa),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
