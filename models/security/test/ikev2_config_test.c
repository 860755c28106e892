/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: models/security/ikev2.o models/security/ikev2_config.o models/security/handshake.o models/security/x509.o models/transport/port.o models/crypto/alg.o models/crypto/alg_own.o models/crypto/cost.o models/crypto/cost_data.o models/crypto/cost_line.o models/crypto/device.o models/crypto/cost_name.o models/crypto/csv.o sim/net/net_path.o sim/net/net_rules.o sim/core/param.o sim/core/param_value.o sim/core/units.o sim/core/err.o sim/core/event.o sim/core/random.o sim/core/cpu.o sim/core/metric.o
#include "models/security/ikev2.h"

#include <stdio.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const struct param_table *const tables[] = {&ikev2_params};

static struct config *configured(const char *const *pairs) {
  struct config *config = config_new(tables, 1);
  for (; *pairs; pairs += 2) {
    struct err e = {0};
    if (config_set(config, pairs[0], pairs[1], &e)) fail_msg("%s", e.text);
  }
  return config;
}

static void ike_config_of(const char *const *pairs, struct ikev2_config *out) {
  struct config *config = configured(pairs);
  struct err e = {0};
  if (ikev2_configure(config, out, &e)) fail_msg("%s", e.text);
  config_free(config);
}

/* ---- Names ----------------------------------------------------------------------------------------------------------- */

static void proposals_have_one_canonical_form(void **state) {
  (void)state;
  static const char *const spellings[][2] = {
      {"none", "none"},
      {"X25519", "x25519"},
      {"curve25519", "x25519"},
      {"ecp256", "secp256r1"},
      {"P-256", "secp256r1"},
      {"ML-KEM-768", "mlkem768"},
      {"x25519-ke1_mlkem768", "x25519-ke1_mlkem768"},
      {"ecp384-ke1_mlkem1024", "secp384r1-ke1_mlkem1024"},
      {"dh19;addke1=ml_kem_768", "secp256r1-ke1_mlkem768"},
      {"x25519-ke1_mlkem768-ke2_mlkem1024", "x25519-ke1_mlkem768-ke2_mlkem1024"},
      {"X25519-KE1_ML-KEM-768", "x25519-ke1_mlkem768"},
      {"P-256-ke1_ML-KEM-1024", "secp256r1-ke1_mlkem1024"},
  };
  for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
    char canonical[128];
    struct err e = {0};
    if (ikev2_check_kex(spellings[i][0], canonical, sizeof canonical, &e)) fail_msg("%s: %s", spellings[i][0], e.text);
    assert_string_equal(canonical, spellings[i][1]);
  }
}

static void wrong_proposals_are_refused(void **state) {
  (void)state;
  static const char *const wrong[] = {"", "mlkem", "x25519-mlkem768", "x25519-ke2_mlkem768", "ke1_mlkem768", "x25519-ke1_x25519", "x25519mlkem768", "hqc128",
      "x25519-ke1_", "x25519-ke1_mlkem768-ke1_mlkem1024"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char canonical[128];
    struct err e = {0};
    if (!ikev2_check_kex(wrong[i], canonical, sizeof canonical, &e)) fail_msg("'%s' was accepted as %s", wrong[i], canonical);
    assert_non_null(strstr(e.text, "allowed"));
    err_free(&e);
  }
}

/* ---- What two peers agree on ----------------------------------------------------------------------------------------- */

static void spell(const struct ikev2_config *config, char *out, size_t size) {
  size_t used = (size_t)snprintf(out, size, "%s", config->kex_count ? config->kex[0]->name : "none");
  for (int i = 1; i < config->kex_count; i++) used += (size_t)snprintf(out + used, size - used, "-ke%d_%s", i, config->kex[i]->name);
}

/* The responder takes the first of its own list that is offered, as strongSwan does unless prefer_configured_proposals is
 * off; the share sent first is of the first method of the first offer. */
static void the_responders_order_decides(void **state) {
  (void)state;
  enum outcome { AGREED, AGAIN, REFUSED };
  static const struct {
    const char *kex, *offered, *accepted, *chosen;
    enum outcome outcome;
  } cases[] = {
      {"x25519", "[]", "[]", "x25519", AGREED},
      {"none", "[]", "[]", "none", AGREED},
      {"x25519-ke1_mlkem768", "[]", "[]", "x25519-ke1_mlkem768", AGREED},
      /* One list: the other peer has ipsec.kex alone. */
      {"x25519", "[x25519-ke1_mlkem768, x25519]", "[]", "x25519", AGREED},
      {"x25519", "[mlkem768, x25519]", "[]", "x25519", AGAIN},
      {"x25519", "[]", "[x25519-ke1_mlkem768, x25519]", "x25519", AGREED},
      {"x25519", "[]", "[mlkem768]", NULL, REFUSED},
      /* Both lists: ipsec.kex does not matter. */
      {"mlkem512", "[x25519, mlkem768]", "[mlkem768, x25519]", "mlkem768", AGAIN},
      {"mlkem512", "[mlkem768, x25519]", "[mlkem768, x25519]", "mlkem768", AGREED},
      {"mlkem512", "[x25519, mlkem768]", "[mlkem1024, secp384r1, x25519, mlkem768]", "x25519", AGREED},
      {"mlkem512", "[x25519, x25519-ke1_mlkem768]", "[x25519-ke1_mlkem768, x25519]", "x25519-ke1_mlkem768", AGREED},
      {"mlkem512", "[ecp256]", "[P-256]", "secp256r1", AGREED},
      /* All of a proposal or nothing, each key exchange in its place. */
      {"mlkem512", "[x25519-ke1_mlkem768]", "[x25519, mlkem768]", NULL, REFUSED},
      {"mlkem512", "[x25519-ke1_mlkem768-ke2_mlkem512]", "[x25519-ke1_mlkem512-ke2_mlkem768]", NULL, REFUSED},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *const pairs[] = {"ipsec.kex", cases[i].kex, "ipsec.offered", cases[i].offered, "ipsec.accepted", cases[i].accepted, NULL};
    struct ikev2_config config;
    ike_config_of(pairs, &config);
    assert_int_equal(config.refused, cases[i].outcome == REFUSED);
    char chosen[128];
    spell(&config, chosen, sizeof chosen);
    if (cases[i].chosen) assert_string_equal(chosen, cases[i].chosen);
    if (config.kex_count == 0) continue;
    struct handshake_table table;
    ikev2_establishment(&config, &table);
    assert_int_equal(table.opens, cases[i].outcome == AGREED ? 0 : 2);
    assert_int_equal(table.count, cases[i].outcome == REFUSED ? 2 : 2 * (config.kex_count + 1) + table.opens);
    handshake_table_free(&table);
  }
}

static void what_a_quantum_computer_breaks(void **state) {
  (void)state;
  static const struct {
    const char *offered, *accepted, *auth;
    bool keys_safe, auth_safe;
  } cases[] = {
      {"[x25519]", "[x25519]", "psk", false, true},
      {"[mlkem768]", "[mlkem768]", "ecdsa-p256", true, false},
      {"[x25519-ke1_mlkem768]", "[x25519-ke1_mlkem768]", "rsa-3072", true, false},
      {"[secp384r1-ke1_x25519]", "[secp384r1-ke1_x25519]", "ed25519", false, false},
      {"[x25519-ke1_mlkem768, x25519]", "[x25519, x25519-ke1_mlkem768]", "mldsa65", false, true}, /* as agreed, not as possible */
      {"[x25519, mlkem768-ke1_x25519]", "[mlkem768-ke1_x25519]", "slhdsa-sha2-128s", true, true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *const pairs[] = {"ipsec.offered", cases[i].offered, "ipsec.accepted", cases[i].accepted, "ipsec.auth", cases[i].auth, NULL};
    struct ikev2_config config;
    ike_config_of(pairs, &config);
    assert_int_equal(ikev2_key_exchange_is_quantum_safe(&config), cases[i].keys_safe);
    assert_int_equal(ikev2_authentication_is_quantum_safe(&config), cases[i].auth_safe);
  }
}

/* ---- Sessions -------------------------------------------------------------------------------------------------------- */

/* swanctl.conf: rekey_time 4h and 1h, rand_time the 10 % between rekey_time and the hard lifetime, dpd_delay 0s, keyingtries 1. */
static void defaults_are_strongswans(void **state) {
  (void)state;
  const char *const pairs[] = {NULL};
  struct ikev2_config ike;
  ike_config_of(pairs, &ike);
  assert_int_equal(ike.session.rekey_time, INT64_C(4) * 3600 * 1000000000);
  assert_int_equal(ike.session.child_rekey_time, INT64_C(3600) * 1000000000);
  assert_int_equal(ike.session.jitter_ppb, SHARE_ONE / 10);
  assert_int_equal(ike.session.dpd_delay, 0);
  assert_int_equal(ike.session.keying_tries, 1);
  assert_int_equal(ike.child.kex_count, 0);
}

static void sessions_are_read(void **state) {
  (void)state;
  const char *const pairs[] = {"ipsec.rekey_time", "60s", "ipsec.child_rekey_time", "0s", "ipsec.rekey_jitter", "0%", "ipsec.dpd_delay", "10s",
      "ipsec.keying_tries", "0", "ipsec.child_kex", "ecp256-ke1_ML-KEM-768", NULL};
  struct ikev2_config ike;
  ike_config_of(pairs, &ike);
  assert_int_equal(ike.session.rekey_time, INT64_C(60) * 1000000000);
  assert_int_equal(ike.session.child_rekey_time, 0);
  assert_int_equal(ike.session.jitter_ppb, 0);
  assert_int_equal(ike.session.dpd_delay, INT64_C(10) * 1000000000);
  assert_int_equal(ike.session.keying_tries, 0);
  assert_int_equal(ike.child.kex_count, 2);
  assert_string_equal(ike.child.kex[1]->name, "mlkem768");
}

/* ---- What is refused ------------------------------------------------------------------------------------------------- */

static void wrong_values_are_refused_when_set(void **state) {
  (void)state;
  static const char *const wrong[][3] = {
      {"ipsec.offered", "[none]", "ipsec.offered: found none"},
      {"ipsec.accepted", "[x25519, none]", "ipsec.accepted: found none"},
      {"ipsec.offered", "[x25519, curve25519]", "x25519 twice"},
      {"ipsec.offered", "[x25519, mlkem7]", "nearest: mlkem768"},
      {"ipsec.child_kex", "x25519-ke2_mlkem768", "ipsec.child_kex: "},
      {"ipsec.offered",
          "[x25519, x448, secp256r1, secp384r1, secp521r1, ffdhe2048, ffdhe3072, mlkem512, mlkem768, mlkem1024, x25519-ke1_mlkem512, "
          "x25519-ke1_mlkem768, x25519-ke1_mlkem1024, x448-ke1_mlkem512, x448-ke1_mlkem768, x448-ke1_mlkem1024, secp256r1-ke1_mlkem768]",
          "16"},
      {"ipsec.rekey_jitter", "101%", "ipsec.rekey_jitter: "},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    const char *const none[] = {NULL};
    struct config *config = configured(none);
    struct err e = {0};
    if (!config_set(config, wrong[i][0], wrong[i][1], &e)) fail_msg("%s: %s was accepted", wrong[i][0], wrong[i][1]);
    if (!strstr(e.text, wrong[i][2])) fail_msg("%s", e.text);
    err_free(&e);
    config_free(config);
  }
}

static void wrong_combinations_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *pairs[5], *sentence;
  } wrong[] = {
      {{"ipsec.kex", "none", "ipsec.offered", "[x25519]", NULL}, "ipsec.offered: found [x25519] while ipsec.kex is none"},
      {{"ipsec.kex", "none", "ipsec.accepted", "[x25519, mlkem768]", NULL}, "ipsec.accepted: found [x25519, mlkem768] while ipsec.kex is none"},
      {{"ipsec.rekey_time", "1ms", NULL}, "ipsec.rekey_time: found 1ms, allowed 0s (off) or 10ms"},
      {{"ipsec.child_rekey_time", "9999us", NULL}, "ipsec.child_rekey_time: "},
      {{"ipsec.dpd_delay", "1us", NULL}, "ipsec.dpd_delay: "},
      /* 165 s a try: a million of them take 5 years, with a ladder of waits for each of 18 requests 94. */
      {{"ipsec.keying_tries", "1000000", NULL}, "fewer ipsec.keying_tries"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    struct config *config = configured(wrong[i].pairs);
    struct ikev2_config ike;
    struct err e = {0};
    assert_int_equal(ikev2_configure(config, &ike, &e), ERR_INPUT);
    if (!strstr(e.text, wrong[i].sentence)) fail_msg("%s", e.text);
    err_free(&e);
    config_free(config);
  }
}

/* 4 s with base 1.8: the waits of 32 tries add up to 4 / 0.8 * (1.8^33 - 1) = 1.3e9 s, 42 years. */
static void ladders_beyond_a_run_are_refused(void **state) {
  (void)state;
  const char *const pairs[] = {"ipsec.retransmit_tries", "32", NULL};
  struct config *config = configured(pairs);
  struct ikev2_config ike;
  struct err e = {0};
  assert_int_equal(ikev2_configure(config, &ike, &e), ERR_INPUT);
  assert_non_null(strstr(e.text, "ipsec.retransmit_limit"));
  err_free(&e);
  config_free(config);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(proposals_have_one_canonical_form),
      cmocka_unit_test(wrong_proposals_are_refused),
      cmocka_unit_test(the_responders_order_decides),
      cmocka_unit_test(what_a_quantum_computer_breaks),
      cmocka_unit_test(defaults_are_strongswans),
      cmocka_unit_test(sessions_are_read),
      cmocka_unit_test(wrong_values_are_refused_when_set),
      cmocka_unit_test(wrong_combinations_are_refused),
      cmocka_unit_test(ladders_beyond_a_run_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
