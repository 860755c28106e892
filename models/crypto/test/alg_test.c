/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: models/crypto/alg.o models/crypto/alg_own.o sim/core/err.o
#include "models/crypto/alg.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum { GROUPS = 1 << ALG_KEX | 1 << ALG_KEM | 1 << ALG_HYBRID, SIGNATURES = 1 << ALG_SIGNATURE, ALL = 0x3f };

static const struct alg *find(const char *name, unsigned kinds) {
  const struct alg *alg = alg_find(name, kinds);
  if (!alg) fail_msg("%s is not known", name);
  return alg;
}

struct size {
  const char *name;
  int public_bytes, answer_bytes, secret_bytes;
};

/* Typed from the standards: FIPS 203 table 3 (encapsulation key, ciphertext, shared secret), FIPS 204 table 2 (public
 * key, signature, private key), FIPS 205 table 2 (public key, signature; the private key is 4n = twice the public
 * one), RFC 7748 section 5, SEC 1 section 2.3.3 (1 + 2 * field bytes), RFC 7919 (the modulus), RFC 8032 sections 5.1
 * and 5.2, RFC 8017 (modulus) with the DER of RSAPublicKey and e = 65537 counted by hand for 2048 bits:
 * 4 (SEQUENCE) + 4 + 257 (n) + 5 (e) = 270; SP 800-38D and RFC 8439 (key, tag, nonce), FIPS 180-4 and FIPS 202
 * (digest, block). */
static const struct size standards[] = {
    {"mlkem512", 800, 768, 32},
    {"mlkem768", 1184, 1088, 32},
    {"mlkem1024", 1568, 1568, 32},
    {"mldsa44", 1312, 2420, 2560},
    {"mldsa65", 1952, 3309, 4032},
    {"mldsa87", 2592, 4627, 4896},
    {"slhdsa-sha2-128s", 32, 7856, 64},
    {"slhdsa-sha2-128f", 32, 17088, 64},
    {"slhdsa-shake-128f", 32, 17088, 64},
    {"x25519", 32, 32, 32},
    {"x448", 56, 56, 56},
    {"secp256r1", 1 + 2 * 32, 1 + 2 * 32, 32},
    {"secp384r1", 1 + 2 * 48, 1 + 2 * 48, 48},
    {"secp521r1", 1 + 2 * 66, 1 + 2 * 66, 66},
    {"ffdhe2048", 2048 / 8, 2048 / 8, 2048 / 8},
    {"ffdhe3072", 3072 / 8, 3072 / 8, 3072 / 8},
    {"rsa-2048", 270, 256, 256},
    {"rsa-3072", 398, 384, 384},
    {"rsa-4096", 526, 512, 512},
    {"ed25519", 32, 64, 32},
    {"ed448", 57, 114, 57},
    {"aes128gcm16", 16, 16, 12},
    {"aes256gcm16", 32, 16, 12},
    {"chacha20poly1305", 32, 16, 12},
    {"sha256", 0, 32, 64},
    {"sha384", 0, 48, 128},
    {"sha3-256", 0, 32, 136},
    {"falcon512", 897, 666, 1281},
    {"falcon1024", 1793, 1280, 2305}, /* Falcon 1.2 table 3.3 and section 3.11 */
    /* Shares seen on the wire of OpenSSL 3.5.9. */
    {"x25519mlkem768", 1216, 1120, 64},
    {"secp256r1mlkem768", 1249, 1153, 64},
    {"secp384r1mlkem1024", 1665, 1665, 80},
};

static void test_sizes_of_standards(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof standards / sizeof standards[0]; i++) {
    const struct alg *alg = find(standards[i].name, ALL);
    assert_string_equal(alg->name, standards[i].name);
    if (alg->public_bytes != standards[i].public_bytes || alg->answer_bytes != standards[i].answer_bytes || alg->secret_bytes != standards[i].secret_bytes)
      fail_msg("%s: %d %d %d", alg->name, alg->public_bytes, alg->answer_bytes, alg->secret_bytes);
  }
}

/* TCP payload and headers that Sosnowski et al. counted for a TLS 1.3 handshake with an RSA-2048 certificate, client and
 * server. Against X25519 (689, 1455) the difference is that of the shares, plus a header of 52 B for each
 * segment more: what is left must be a small multiple of 52. */
struct flight {
  const char *group;
  int client, server;
};
static const struct flight flights[] = {
    {"kyber512", 1457, 2191},
    {"kyber768", 1893, 2511},
    {"kyber1024", 2277, 3043},
    {"bikel1", 2250, 3048},
    {"bikel3", 3844, 4642},
    {"hqc128", 2958, 6060},
    {"hqc192", 5387, 10761},
    {"hqc256", 8214, 16412},
    {"p256_kyber512", 1522, 2256},
    {"p384_kyber768", 1990, 2608},
    {"p521_kyber1024", 2410, 3176},
    {"p256_bikel1", 2315, 3113},
    {"p384_bikel3", 3941, 4739},
    {"p256_hqc128", 3023, 6125},
    {"p384_hqc192", 5484, 10858},
    {"p521_hqc256", 8347, 16545},
    {"p256", 722, 1488},
    {"p384", 754, 1520},
    {"p521", 790, 1556},
};

static void assert_headers(const char *name, int rest) {
  if (rest < 0 || rest > 10 * 52 || rest % 52) fail_msg("%s leaves %d B", name, rest);
}

static void test_round3_shares_fit_measured_flights(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof flights / sizeof flights[0]; i++) {
    const struct alg *alg = find(flights[i].group, GROUPS);
    assert_headers(alg->name, flights[i].client - 689 - (alg->public_bytes - 32));
    assert_headers(alg->name, flights[i].server - 1455 - (alg->answer_bytes - 32));
  }
}

/* The same for certificates: one self-signed, so the flight holds a public key and two signatures. RSA-2048:
 * 270 + 2 * 256 = 782 of 1455. Falcon's signatures vary in length and are not in this list. */
static const struct flight certificates[] = {
    {"rsa:3072", 0, 1839}, {"rsa:4096", 0, 2223}, {"rsa:1024", 0, 1066}, {"dilithium2", 0, 6981}, {"dilithium3", 0, 9471}, {"dilithium5", 0, 12923}};

static void test_round3_signatures_fit_measured_flights(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof certificates / sizeof certificates[0]; i++) {
    const struct alg *alg = find(certificates[i].group, SIGNATURES);
    int rest = certificates[i].server - 1455 + 782 - (alg->public_bytes + 2 * alg->answer_bytes);
    /* Lengths below 128 and 256 take fewer DER octets: up to 5 B less for RSA-1024. */
    assert_headers(alg->name, strcmp(alg->name, "rsa-1024") == 0 ? (rest > -6 && rest <= 0 ? 0 : rest) : rest);
  }
}

static void test_dilithium_is_not_mldsa(void **state) {
  (void)state;
  const struct alg *old = find("dilithium3", SIGNATURES), *standard = find("ML-DSA-65", SIGNATURES);
  assert_ptr_not_equal(old, standard);
  assert_int_equal(old->answer_bytes, 3293);
  assert_int_equal(standard->answer_bytes, 3309);
  assert_ptr_not_equal(find("kyber768", GROUPS), find("mlkem768", GROUPS));
  assert_ptr_not_equal(find("x25519_kyber768", GROUPS), find("x25519_mlkem768", GROUPS));
}

struct alias {
  const char *text;
  unsigned kinds;
  const char *name;
};
static const struct alias aliases[] = {
    {"X25519MLKEM768", GROUPS, "x25519mlkem768"},
    {"x25519_mlkem768", GROUPS, "x25519mlkem768"},
    {"0x11ec", GROUPS, "x25519mlkem768"},
    {"0x11EC", GROUPS, "x25519mlkem768"},
    {"SecP256r1MLKEM768", GROUPS, "secp256r1mlkem768"},
    {"p384_mlkem1024", GROUPS, "secp384r1mlkem1024"},
    {"ML-KEM-768", GROUPS, "mlkem768"},
    {"ml_kem_768", GROUPS, "mlkem768"},
    {"0x0201", GROUPS, "mlkem768"},
    {"dh36", GROUPS, "mlkem768"},
    {"curve25519", GROUPS, "x25519"},
    {"dh31", GROUPS, "x25519"},
    {"ecp256", GROUPS, "secp256r1"},
    {"P-256", GROUPS, "secp256r1"},
    {"p256", GROUPS, "secp256r1"},
    {"prime256v1", GROUPS, "secp256r1"},
    {"dh19", GROUPS, "secp256r1"},
    {"DH14", GROUPS, "ffdhe2048"},
    {"modp3072", GROUPS, "ffdhe3072"},
    {"0x001d", GROUPS, "x25519"},
    {"0x6399", GROUPS, "x25519kyber768"},
    {"ML-DSA-65", SIGNATURES, "mldsa65"},
    {"mldsa65", SIGNATURES, "mldsa65"},
    {"0x0905", SIGNATURES, "mldsa65"},
    {"p256", SIGNATURES, "ecdsa-p256"},
    {"secp256r1", SIGNATURES, "ecdsa-p256"},
    {"ECDSA-P256", SIGNATURES, "ecdsa-p256"},
    {"ecdsa_secp256r1_sha256", SIGNATURES, "ecdsa-p256"},
    {"rsa:2048", SIGNATURES, "rsa-2048"},
    {"rsa2048", SIGNATURES, "rsa-2048"},
    {"rsa_pss_rsae_sha256", SIGNATURES, "rsa-2048"},
    {"0x0804", SIGNATURES, "rsa-2048"},
    {"FN-DSA-512", SIGNATURES, "falcon512"},
    {"sphincs128", SIGNATURES, "sphincs128f"},
    {"aes_gcm256", 1 << ALG_AEAD, "aes256gcm16"},
    {"SHA384", 1 << ALG_HASH, "sha384"},
};

static void test_aliases(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++) assert_string_equal(find(aliases[i].text, aliases[i].kinds)->name, aliases[i].name);
}

static void test_unknown_names(void **state) {
  (void)state;
  static const char *const names[] = {"", "-", "mlkem", "0x", "0x11ec0", "0xffff", "dh", "dh99", "19", "x25519x", "0x11eg", "-1"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (alg_find(names[i], ALL)) fail_msg("'%s' is taken for %s", names[i], alg_find(names[i], ALL)->name);
  assert_null(alg_find("mldsa65", GROUPS));
  assert_null(alg_find("0x11ec", SIGNATURES));
  assert_null(alg_find("mlkem768", 0));
}

static void test_nearest(void **state) {
  (void)state;
  assert_string_equal(alg_nearest("mlkem786", GROUPS), "mlkem768");
  assert_string_equal(alg_nearest("x22519", GROUPS), "x25519");
  assert_string_equal(alg_nearest("ecdsa-p265", SIGNATURES), "ecdsa-p256");
  assert_null(alg_nearest("a-word-that-is-far-from-any", ALL));
  assert_null(alg_nearest("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", ALL));
}

/* Every name, title and alias leads back to its own row when its kind is asked for, so none is there twice. */
static void test_spellings_are_unique(void **state) {
  (void)state;
  int count;
  const struct alg *table = alg_table(&count);
  for (int i = 0; i < count; i++) {
    const struct alg *alg = &table[i];
    char list[512];
    snprintf(list, sizeof list, "%s %s %s", alg->name, alg->title, alg->aliases);
    for (char *word = strtok(list, " "); word; word = strtok(NULL, " ")) {
      unsigned kinds = GROUPS >> alg->kind & 1 ? GROUPS : 1u << alg->kind;
      if (find(word, kinds) != alg) fail_msg("%s of %s is taken for %s", word, alg->name, find(word, kinds)->name);
    }
  }
}

static void test_codes_are_unique(void **state) {
  (void)state;
  int count;
  const struct alg *table = alg_table(&count);
  for (int i = 0; i < count; i++)
    for (int k = 0; k < i; k++) {
      const struct alg *a = &table[i], *b = &table[k];
      if ((a->kind == ALG_SIGNATURE) != (b->kind == ALG_SIGNATURE)) continue;
      /* One SignatureScheme serves every RSA key length (RFC 8446 section 4.2.3). */
      if (a->tls_id >= 0 && a->tls_id == b->tls_id) assert_int_equal(a->tls_id, 0x0804);
      assert_false(a->ike_id >= 0 && a->ike_id == b->ike_id);
    }
}

/* IANA registries: IKEv2 Transform Type 4, TLS Supported Groups, TLS SignatureScheme. */
static void test_registered_codes(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int ike_id, tls_id;
  } codes[] = {
      {"ffdhe2048", 14, 0x0100},
      {"secp256r1", 19, 23},
      {"secp384r1", 20, 24},
      {"secp521r1", 21, 25},
      {"x25519", 31, 29},
      {"x448", 32, 30},
      {"mlkem512", 35, 512},
      {"mlkem768", 36, 513},
      {"mlkem1024", 37, 514},
      {"x25519mlkem768", -1, 4588},
      {"secp256r1mlkem768", -1, 4587},
      {"secp384r1mlkem1024", -1, 4589},
      {"ecdsa-p384", -1, 0x0503},
      {"ed25519", -1, 0x0807},
      {"mldsa44", -1, 0x0904},
      {"mldsa87", -1, 0x0906},
  };
  for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
    assert_int_equal(find(codes[i].name, ALL)->ike_id, codes[i].ike_id);
    assert_int_equal(find(codes[i].name, ALL)->tls_id, codes[i].tls_id);
  }
}

/* Category -> bits as alg.h states them; what Shor breaks has none; a hybrid is as strong as its stronger part. */
static void test_strength(void **state) {
  (void)state;
  static const int classical[] = {0, 128, 128, 192, 192, 256}, quantum[] = {0, 64, 85, 96, 128, 128};
  static const struct {
    const char *name;
    int category;
  } categories[] = {
      {"mlkem512", 1},
      {"mlkem768", 3},
      {"mlkem1024", 5},
      {"mldsa44", 2},
      {"mldsa65", 3},
      {"mldsa87", 5},
      {"slhdsa-sha2-128s", 1},
      {"aes128gcm16", 1},
      {"aes256gcm16", 5},
      {"sha256", 2},
      {"sha384", 4},
      {"x25519mlkem768", 3},
  };
  for (size_t i = 0; i < sizeof categories / sizeof categories[0]; i++) assert_int_equal(find(categories[i].name, ALL)->nist_category, categories[i].category);
  int count;
  const struct alg *table = alg_table(&count);
  for (int i = 0; i < count; i++) {
    const struct alg *alg = &table[i];
    if (alg->nist_category) {
      assert_int_equal(alg->classical_bits, classical[alg->nist_category]);
      assert_int_equal(alg->quantum_bits, quantum[alg->nist_category]);
    } else if (alg->kind == ALG_KEX || alg->kind == ALG_SIGNATURE) {
      assert_int_equal(alg->quantum_bits, 0);
    }
    assert_true(alg->classical_bits >= 80 && alg->standard[0]);
  }
}

/* Shor's algorithm: discrete logarithms on curves and in fields, factoring (SP 800-57 part 1, FIPS 203 to 205 for the rest). */
static void test_quantum_safety(void **state) {
  (void)state;
  static const char *const broken[] = {"x25519", "x448", "secp256r1", "secp384r1", "secp521r1", "ffdhe2048", "ffdhe3072", "rsa-1024", "rsa-2048", "rsa-3072",
      "rsa-4096", "ecdsa-p256", "ecdsa-p384", "ed25519", "ed448"};
  static const char *const safe[] = {"mlkem512", "mlkem768", "mlkem1024", "x25519mlkem768", "secp384r1mlkem1024", "kyber768", "bikel1", "hqc128", "frodo976aes",
      "p256_frodo640aes", "mldsa44", "mldsa65", "mldsa87", "slhdsa-sha2-128s", "falcon512", "dilithium3", "sphincs256s", "aes128gcm16", "sha256"};
  for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
    if (alg_is_quantum_safe(find(broken[i], ALL))) fail_msg("%s", broken[i]);
  for (size_t i = 0; i < sizeof safe / sizeof *safe; i++)
    if (!alg_is_quantum_safe(find(safe[i], ALL))) fail_msg("%s", safe[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sizes_of_standards),
      cmocka_unit_test(test_round3_shares_fit_measured_flights),
      cmocka_unit_test(test_round3_signatures_fit_measured_flights),
      cmocka_unit_test(test_dilithium_is_not_mldsa),
      cmocka_unit_test(test_aliases),
      cmocka_unit_test(test_unknown_names),
      cmocka_unit_test(test_nearest),
      cmocka_unit_test(test_spellings_are_unique),
      cmocka_unit_test(test_codes_are_unique),
      cmocka_unit_test(test_registered_codes),
      cmocka_unit_test(test_strength),
      cmocka_unit_test(test_quantum_safety),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
