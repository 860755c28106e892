/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The `algorithms:` part of a scenario: what is defined by it, and what every mistake in it is answered with. */
// objects: sim/run/roster.o sim/run/scenario.o sim/run/algorithms.o sim/run/load.o sim/run/value.o sim/run/axes.o sim/run/range.o sim/run/skip.o
// objects: sim/run/require.o sim/run/yaml.o sim/run/utf8.o sim/run/names.o sim/run/problem.o sim/run/arena.o sim/run/test/sample_domain.o
// objects: models/crypto/alg.o models/crypto/alg_own.o sim/core/param.o sim/core/param_value.o sim/core/units.o sim/core/err.o
// libs: -lyaml
#include "models/crypto/alg_own.h"
#include "sim/run/algorithms.h"
#include "sim/run/test/sample_domain.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static char path[] = "/tmp/algorithms_test.XXXXXX";

static int load(const char *text, const char *set, struct scenario **out, struct err *e) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "scenario: e2\n%s", text);
  assert_int_equal(fclose(file), 0);
  return scenario_load(path, &set, set ? 1 : 0, true, out, e);
}

static struct scenario *good(const char *text, const char *set) {
  struct scenario *scenario = NULL;
  struct err e = {0};
  if (load(text, set, &scenario, &e)) fail_msg("refused:\n%s", e.text);
  return scenario;
}

/* Lines without the file's name. */
static void refused(const char *text, const char *set, const char *expected) {
  struct scenario *scenario = NULL;
  struct err e = {0};
  char message[2048] = "";
  assert_int_equal(load(text, set, &scenario, &e), ERR_INPUT);
  for (char *line = strtok(e.text, "\n"); line; line = strtok(NULL, "\n")) {
    size_t used = strlen(message), prefix = strncmp(line, path, strlen(path)) ? 0 : strlen(path) + 1;
    snprintf(message + used, sizeof message - used, "%s\n", line + prefix);
  }
  assert_string_equal(message, expected);
  err_free(&e);
}

#define KEM "{type: kem, public_key: 1184B, ciphertext: 1088B}"

static void every_way_to_write_one(void **state) {
  (void)state;
  static const char *const forms[] = {
      "algorithms: {mykem: " KEM "}\n",
      "algorithms:\n  mykem:\n    type: kem\n    public_key: 1184B\n    ciphertext: 1088B\n",
      "algorithms.mykem: " KEM "\n",
      "algorithms.mykem.type: kem\nalgorithms: {mykem.public_key: 1184B}\nalgorithms.mykem: {ciphertext: 1088B}\n",
  };
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    struct scenario *s = good(forms[i], NULL);
    assert_int_equal(alg_own_count(), 1);
    const struct alg *alg = alg_find("mykem", 1 << ALG_KEM);
    assert_non_null(alg);
    assert_string_equal(algorithms_text(s->arena, alg),
        "{type: kem, title: mykem, public_key: 1184B, ciphertext: 1088B, shared_secret: 32B, nist_category: 0, classical_bits: 128, quantum_bits: 64}");
    scenario_free(s);
  }
  struct scenario *s = good("", NULL);
  assert_int_equal(alg_own_count(), 0); /* each scenario has its own */
  scenario_free(s);
}

/* A text that says everything is read back as the same definition. */
static void everything_can_be_said(void **state) {
  (void)state;
  static const char *const texts[] = {
      "{type: kem, title: My KEM, public_key: 1B, ciphertext: 2B, shared_secret: 3B, nist_category: 5, classical_bits: 256, quantum_bits: 128, ike_id: 1024, "
      "tls_id: 0xfe01}",
      "{type: signature, title: a, public_key: 897B, signature: 666B, nist_category: 0, classical_bits: 0, quantum_bits: 0, tls_id: 0xfe02}",
      "{type: kex, title: x, public_key: 56B, shared_secret: 56B, nist_category: 0, classical_bits: 224, quantum_bits: 0, ike_id: 65535}",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    char text[512];
    snprintf(text, sizeof text, "algorithms: {own: %s}\n", texts[i]);
    struct scenario *s = good(text, NULL);
    assert_string_equal(algorithms_text(s->arena, alg_own_at(0)), texts[i]);
    scenario_free(s);
  }
  struct scenario *s = good("algorithms: {own: {type: kex, public_key: 0.5KiB, secret_key: 99B, tls_id: 65024}}\n", NULL);
  assert_int_equal(alg_own_at(0)->answer_bytes, 512);
  assert_int_equal(alg_own_at(0)->tls_id, 0xfe00);
  scenario_free(s);
}

/* alg.h's bits of each category; without one a kem or signature is taken for category 1, a kex for what Shor breaks. */
static void strength_that_is_not_stated(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int classical, quantum;
  } rows[] = {
      {"{type: kem, public_key: 1B, ciphertext: 1B}", 128, 64},
      {"{type: signature, public_key: 1B, signature: 1B}", 128, 64},
      {"{type: kex, public_key: 1B}", 128, 0},
      {"{type: kex, public_key: 1B, nist_category: 1}", 128, 64},
      {"{type: kem, public_key: 1B, ciphertext: 1B, nist_category: 2}", 128, 85},
      {"{type: kem, public_key: 1B, ciphertext: 1B, nist_category: 3}", 192, 96},
      {"{type: kem, public_key: 1B, ciphertext: 1B, nist_category: 4}", 192, 128},
      {"{type: kem, public_key: 1B, ciphertext: 1B, nist_category: 5}", 256, 128},
      {"{type: kem, public_key: 1B, ciphertext: 1B, nist_category: 5, quantum_bits: 0}", 256, 0},
      {"{type: kem, public_key: 1B, ciphertext: 1B, quantum_bits: 100}", 128, 100},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[256];
    snprintf(text, sizeof text, "algorithms: {own: %s}\n", rows[i].text);
    struct scenario *s = good(text, NULL);
    assert_int_equal(alg_own_at(0)->classical_bits, rows[i].classical);
    assert_int_equal(alg_own_at(0)->quantum_bits, rows[i].quantum);
    assert_int_equal(alg_is_quantum_safe(alg_own_at(0)), rows[i].quantum > 0);
    scenario_free(s);
  }
}

static void set_goes_over_the_file(void **state) {
  (void)state;
  struct scenario *s = good("algorithms: {mykem: " KEM "}\n", "algorithms.mykem.public_key=2000B");
  assert_int_equal(alg_own_at(0)->public_bytes, 2000);
  assert_int_equal(alg_own_at(0)->answer_bytes, 1088);
  scenario_free(s);
  s = good("", "algorithms={mykem: " KEM "}");
  assert_int_equal(alg_own_at(0)->public_bytes, 1184);
  scenario_free(s);
}

static void wrong_definitions(void **state) {
  (void)state;
  refused("algorithms: mykem\n", NULL, "2:13: algorithms: found mykem, allowed a map such as {mykem: {type: kem, public_key: 1184B, ciphertext: 1088B}}\n");
  refused("algorithms: {}\n", NULL, "2:13: algorithms: found an empty map, allowed a map such as {mykem: {type: kem, public_key: 1184B, ciphertext: 1088B}}\n");
  refused("algorithms: {mykem: 5}\n", NULL, "2:21: algorithms.mykem: found 5, allowed a map such as {type: kem, public_key: 1184B, ciphertext: 1088B}\n");
  refused("algorithms: {mykem: {type: cem, public_key: 1184, ciphertext: 0B}}\n", NULL,
      "2:28: algorithms.mykem.type: found 'cem', allowed kex, kem, signature\n"
      "2:45: algorithms.mykem.public_key: found '1184' without a unit, allowed are B kB MB GB KiB MiB GiB\n"
      "2:63: algorithms.mykem.ciphertext: found 0B, allowed 1B to 65000B\n");
  refused("algorithms: {mykem: {type: kem, publickey: 1184B, ciphertext: 1088B}}\n", NULL,
      "2:14: algorithms.mykem: a kem needs public_key\n"
      "2:33: algorithms.mykem.publickey: unknown key; allowed type, title, public_key, ciphertext, signature, secret_key, shared_secret, nist_category, "
      "classical_bits, quantum_bits, ike_id, tls_id; did you mean public_key?\n");
  refused("algorithms: {mykem: {type: kem, public_key: 1B, ciphertext: 1B, signature: 1B}}\n", NULL,
      "2:76: algorithms.mykem.signature: a kem has none; remove it\n");
  refused("algorithms: {s: {type: signature, public_key: 60000B, signature: 5000B}}\n", NULL,
      "2:14: algorithms.s: public key and signature have 65000 bytes, allowed 64000: a certificate with both must fit a payload of IKEv2\n");
  refused("algorithms: {mlkem768: " KEM "}\n", NULL,
      "2:14: algorithms.mlkem768: the name 'mlkem768' is already a spelling of mlkem768 (ML-KEM-768); choose another\n");
  refused("algorithms: {mykem: " KEM ", my-kem: " KEM "}\n", NULL,
      "2:72: algorithms.my-kem: the name 'my-kem' is already a spelling of mykem (mykem), which this scenario defines too; choose another\n");
  refused("algorithms: {My: " KEM "}\n", NULL,
      "2:14: algorithms: the name 'My' of an algorithm; allowed are up to 32 small letters, digits, - and _, a letter first\n");
  refused("algorithms: {a: {type: kex, public_key: 1B, tls_id: 0x10000, ike_id: 0}}\n", NULL,
      "2:53: algorithms.a.tls_id: found '0x10000', allowed 0x0001 to 0xffff, or the same in decimal\n"
      "2:70: algorithms.a.ike_id: found 0, allowed 1 to 65535\n");
  refused("algorithms.a.type: kex\nalgorithms: {a: {type: kem, public_key: 1B}}\n", NULL,
      "3:18: algorithms.a.type: given twice, first at line 2; remove one of them\n");
  refused("algorithms: {a: {type: kex, public_key: [1B, 2B]}}\n", NULL,
      "2:41: algorithms.a.public_key: found a list, allowed 1B to 65000B; several values belong under sweep:\n");
  refused("algorithms: {a: {type: kex, public_key: 1B}}\nsweep: [{algorithms.a.public_key: [1B, 2B]}]\n", NULL,
      "3:10: algorithms.a.public_key: describes an algorithm and cannot be swept; define two, and sweep which is used\n");
  refused("", "algorithms.mykem.public_key=1184B", "--set algorithms.mykem: type is missing, allowed kex, kem, signature\n");
  refused("algorithm: {mykem: " KEM "}\n", NULL, "2:1: algorithm: unknown key; did you mean algorithms?\n");
}

static int make_file(void **state) {
  (void)state;
  int fd = mkstemp(path);
  return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state) {
  (void)state;
  return unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_way_to_write_one),
      cmocka_unit_test(everything_can_be_said),
      cmocka_unit_test(strength_that_is_not_stated),
      cmocka_unit_test(set_goes_over_the_file),
      cmocka_unit_test(wrong_definitions),
  };
  return cmocka_run_group_tests(tests, make_file, remove_file);
}
