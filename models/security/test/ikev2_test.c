/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: models/security/test/ike_rows.o models/security/ikev2.o models/security/ikev2_config.o models/security/handshake.o models/security/x509.o models/transport/port.o models/crypto/alg.o models/crypto/cost.o models/crypto/cost_data.o models/crypto/cost_line.o models/crypto/csv.o sim/net/net_path.o sim/net/net_rules.o sim/core/param.o sim/core/param_value.o sim/core/units.o sim/core/err.o sim/core/event.o sim/core/random.o sim/core/cpu.o sim/core/metric.o models/crypto/alg_own.o models/crypto/device.o models/crypto/cost_name.o
#include "models/security/ikev2.h"
#include "models/security/test/ike_rows.h"

#include <stdio.h>
#include <stdlib.h>
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

/* ---- Every message measured with strongSwan 6.1 and 6.0.1 (source pqnetsim-ike-2026), to the byte ---------------- */

static const struct handshake_message *find_message(const struct handshake_table *establishment, const struct handshake_table *rekey, const struct ike_row *m) {
  int response = strcmp(m->direction, "resp") == 0;
  for (int i = 0; i < rekey->count; i += 2)
    if (strcmp(rekey->messages[i].name, m->exchange) == 0) return &rekey->messages[i + response];
  assert_in_range(m->id * 2, 0, establishment->count - 2);
  const struct handshake_message *message = &establishment->messages[m->id * 2 + response];
  assert_string_equal(message->name, m->exchange);
  return message;
}

static void compare(const struct handshake_message *message, const struct ike_row *m) {
  enum { MTU = 1500, UDP = 8 };
  int payload = 0, packets = 0, bytes = 0, largest = 0;
  for (int part = 0; part < message->part_count; part++) {
    int64_t ip_payload = message->part_bytes[part] + UDP;
    payload += message->part_bytes[part];
    for (int k = 0; k < net_fragment_count(ip_payload, MTU); k++) {
      int size = (int)net_fragment_bytes(ip_payload, MTU, k);
      packets++;
      bytes += size;
      largest = size > largest ? size : largest;
    }
  }
  /* Three DER-coded ECDSA signatures (AUTH, leaf, intermediate) each vary by a byte; CBC padding hides it, GCM does not. */
  int slack = strncmp(m->auth, "ecdsa", 5) == 0 && strncmp(m->ike, "aes256gcm", 9) == 0 ? 3 : 0;
  if (message->part_count != m->messages || abs(payload - m->payload) > slack || packets != m->packets || abs(bytes - m->bytes) > slack ||
      largest != m->largest)
    fail_msg("%s-%s %s chain %s childless %s fragment %s: %s#%d %s: %d messages %d payload %d packets %d bytes largest %d, measured %d %d %d %d %d", m->ike,
        m->kex, m->auth, m->chain, m->childless, m->fragment, m->exchange, m->id, m->direction, message->part_count, payload, packets, bytes, largest,
        m->messages, m->payload, m->packets, m->bytes, m->largest);
}

static void messages_equal_the_measured_ones(void **state) {
  (void)state;
  FILE *file = ike_rows_open();
  struct ike_row m;
  int rows = 0;
  while (ike_rows_next(file, &m)) {
    /* sections loss and retx count packets that were sent again, not messages */
    if (strcmp(m.section, "loss") == 0 || strcmp(m.section, "retx") == 0) continue;
    if (strcmp(m.direction, "req") != 0 && strcmp(m.direction, "resp") != 0) continue;
    const char *const pairs[] = {"ipsec.ike", m.ike, "ipsec.kex", m.kex, "ipsec.auth", m.auth, "ipsec.chain", m.chain, "ipsec.childless", m.childless,
        "ipsec.fragment_size", m.fragment, NULL};
    struct ikev2_config config;
    ike_config_of(pairs, &config);
    struct handshake_table establishment, rekey;
    ikev2_establishment(&config, &establishment);
    ikev2_rekey(&config, &rekey);
    compare(find_message(&establishment, &rekey, &m), &m);
    handshake_table_free(&establishment);
    handshake_table_free(&rekey);
    rows++;
  }
  fclose(file);
  assert_int_equal(rows, 524);
}

/* ---- FC-16: how many pieces an ML-KEM public key and ciphertext become ------------------------------------------- */

static int parts_of(const char *kex, const char *fragment_size, int message) {
  const char *const pairs[] = {"ipsec.kex", kex, "ipsec.auth", "psk", "ipsec.fragment_size", fragment_size, NULL};
  struct ikev2_config config;
  ike_config_of(pairs, &config);
  struct handshake_table table;
  ikev2_establishment(&config, &table);
  int parts = table.messages[message].part_count;
  handshake_table_free(&table);
  return parts;
}

static void mlkem_in_ike_intermediate_takes_one_two_or_three_pieces(void **state) {
  (void)state;
  /* 576-byte datagrams: 576 - 28 (IP, UDP) - 28 (IKE) - 8 (SKF) - 16 (IV) - 16 (ICV) = 480 bytes of ciphertext, 479 of
   * plaintext. Ciphertext of ML-KEM-768 in its KE payload: 1088 + 8 = 1096: 3 pieces; public key 1184 + 8 = 1192: 3. */
  assert_int_equal(parts_of("secp256r1-ke1_mlkem768", "576", 3), 3);
  assert_int_equal(parts_of("secp256r1-ke1_mlkem768", "576", 2), 3);
  /* 1280: 1184 of ciphertext, 1183 of plaintext: the answer in one piece, the key in two. */
  assert_int_equal(parts_of("secp256r1-ke1_mlkem768", "1280", 3), 1);
  assert_int_equal(parts_of("secp256r1-ke1_mlkem768", "1280", 2), 2);
  /* IKE_SA_INIT is never IKE-fragmented: ML-KEM-1024 there is one datagram of two IP fragments at MTU 1500. */
  assert_int_equal(parts_of("mlkem1024", "576", 0), 1);
  const char *const pairs[] = {"ipsec.kex", "mlkem1024", "ipsec.auth", "psk", NULL};
  struct ikev2_config config;
  ike_config_of(pairs, &config);
  struct handshake_table table;
  ikev2_establishment(&config, &table);
  assert_int_equal(net_fragment_count(table.messages[0].part_bytes[0] + 8, 1500), 2);
  handshake_table_free(&table);
}

/* ---- ML-DSA authentication: by hand from the drafts' encoding ------------------------------------------------------ */

static void mldsa_authentication_sizes(void **state) {
  (void)state;
  /* IKE_AUTH response, ML-DSA-65, one intermediate, no fragmentation, AES-GCM:
   * IDr 4+4+19 = 27; leaf 4+1+5669 = 5674; intermediate 4+1+5622 = 5627 (Certificate messages 5682 = 13 + 5669 and
   * 11309 = 5682 + 5 + 5622); AUTH 4+4+1+13+3309 = 3331; SA 4+8+4+12+8 = 36; TS 2*24 = 48: 14743.
   * IKE header 28, SK header 4, IV 8, pad length 1, ICV 16: 14800. */
  const char *const pairs[] = {"ipsec.ike", "aes256gcm16-prfsha384", "ipsec.auth", "mldsa65", "ipsec.fragment_size", "0", NULL};
  struct ikev2_config config;
  ike_config_of(pairs, &config);
  struct handshake_table table;
  ikev2_establishment(&config, &table);
  assert_int_equal(table.messages[3].part_bytes[0], 14800);
  handshake_table_free(&table);
}

/* ---- Tables that were not measured, by hand ------------------------------------------------------------------------
 * An encrypted message of n bytes of payloads: IKE header 28, SK header 4, then
 * CBC: IV 16, n and the pad length byte filled up to 16, ICV 16; GCM: IV 8, n + 1, ICV 16, so n + 57 in all. */

typedef void table_fn(const struct ikev2_config *config, struct handshake_table *out);

struct expected {
  const char *name;
  uint32_t number;
  int bytes[2]; /* of each datagram */
};

static void check_table(table_fn *build, const char *const *pairs, int opens, int count, const struct expected *expected) {
  struct ikev2_config config;
  ike_config_of(pairs, &config);
  struct handshake_table table;
  build(&config, &table);
  assert_int_equal(table.count, count);
  assert_int_equal(table.opens, opens);
  for (int i = 0; i < count; i++) {
    const struct handshake_message *message = &table.messages[i];
    assert_string_equal(message->name, expected[i].name);
    assert_int_equal(message->number, expected[i].number);
    assert_int_equal(message->part_count, expected[i].bytes[1] ? 2 : 1);
    for (int part = 0; part < message->part_count; part++) assert_int_equal(message->part_bytes[part], expected[i].bytes[part]);
  }
  handshake_table_free(&table);
}

static void each_offer_is_a_proposal_of_its_own(void **state) {
  (void)state;
  /* Proposal: 8, transforms of 8 (ENCR, INTEG, PRF, KE, ADDKE1), key length 4: 44 with one key exchange, 52 with two.
   * Request: 28, SA 4 + 52 + 44 + 44, KE 4 + 4 + 32, nonce 4 + 32, NAT 2 * 28, FRAGMENTATION 8, HASHES 16, REDIRECT 8,
   * INTERMEDIATE 8, since one proposal has an additional exchange: 344. The response has the chosen one and does without
   * INTERMEDIATE: 28 + 48 + 40 + 36 + 56 + 8 + 16 + MULTIPLE_AUTH 8 = 240, as measured with x25519 alone.
   * IKE_AUTH with PSK is that of x25519 alone, measured: 272 and 224. */
  const char *const pairs[] = {"ipsec.auth", "psk", "ipsec.offered", "[x25519-ke1_mlkem768, x25519, mlkem768]", NULL};
  static const struct expected expected[] = {{"IKE_SA_INIT", 0, {344}}, {"IKE_SA_INIT", 1, {240}}, {"IKE_AUTH", 32, {272}}, {"IKE_AUTH", 33, {224}}};
  check_table(ikev2_establishment, pairs, 0, 4, expected);
}

static void a_wrong_share_costs_a_round_trip(void **state) {
  (void)state;
  /* x25519's share: 28 + SA 4 + 2 * 44 + 40 + 36 + 56 + 8 + 16 + 8 = 284. INVALID_KE_PAYLOAD: 28 + notify 8 + group 2 = 38.
   * Then KE 8 + 1184: 284 - 40 + 1192 = 1436; answer 28 + 48 + 8 + 1088 + 36 + 56 + 8 + 16 + 8 = 1296. */
  const char *const pairs[] = {"ipsec.auth", "psk", "ipsec.offered", "[x25519, mlkem768]", "ipsec.accepted", "[mlkem768]", NULL};
  static const struct expected expected[] = {{"IKE_SA_INIT", 160, {284}}, {"IKE_SA_INIT", 161, {38}}, {"IKE_SA_INIT", 0, {1436}}, {"IKE_SA_INIT", 1, {1296}},
      {"IKE_AUTH", 32, {272}}, {"IKE_AUTH", 33, {224}}};
  check_table(ikev2_establishment, pairs, 2, 6, expected);
  struct ikev2_config config;
  ike_config_of(pairs, &config);
  struct handshake_table table;
  ikev2_establishment(&config, &table);
  assert_int_equal(table.messages[0].before_count, 1);
  assert_string_equal(table.messages[0].before[0].algorithm, "X25519");
  assert_string_equal(table.messages[0].before[0].operation, "keygen");
  assert_int_equal(table.messages[1].before_count, 0);
  assert_int_equal(table.messages[1].after_count, 1); /* reading it */
  assert_string_equal(table.messages[2].before[0].algorithm, "ML-KEM-768");
  assert_int_equal(ikev2_auth_response(&table), 5);
  handshake_table_free(&table);
}

static void no_common_proposal_ends_in_one_exchange(void **state) {
  (void)state;
  /* NO_PROPOSAL_CHOSEN has no data: 28 + 8. */
  const char *const pairs[] = {"ipsec.auth", "psk", "ipsec.offered", "[x25519]", "ipsec.accepted", "[mlkem768]", NULL};
  static const struct expected expected[] = {{"IKE_SA_INIT", 160, {240}}, {"IKE_SA_INIT", 161, {36}}};
  check_table(ikev2_establishment, pairs, 2, 2, expected);
}

static void cookies_have_24_bytes(void **state) {
  (void)state;
  /* Notify 8, time 4, SHA-1 20; alone in the response after the IKE header. */
  const char *const pairs[] = {NULL};
  struct ikev2_config config;
  ike_config_of(pairs, &config);
  struct handshake_table table;
  ikev2_establishment(&config, &table);
  assert_int_equal(table.challenge_bytes, 32);
  assert_int_equal(table.challenge_reply_bytes, 60);
  handshake_table_free(&table);
}

static void rekeying_offers_everything_with_the_agreed_share(void **state) {
  (void)state;
  /* Proposals have an SPI of 8 now. Request: SA 4 + 2 * 52, nonce 36, KE 1192: 1336 = 1183 + 153 in two fragments (see
   * FC-16): 28 + 8 + 16 + 1184 + 16 = 1252 and 28 + 8 + 16 + 160 + 16 = 228. Response: 4 + 52 + 36 + 1096 = 1188 = 1183 + 5:
   * 1252 and 84. DELETE of the IKE SA: 8 -> 80; its response is empty: 80. */
  const char *const pairs[] = {"ipsec.auth", "psk", "ipsec.offered", "[x25519, mlkem768]", "ipsec.accepted", "[mlkem768]", NULL};
  static const struct expected expected[] = {
      {"CREATE_CHILD_SA", 64, {1252, 228}}, {"CREATE_CHILD_SA", 65, {1252, 84}}, {"INFORMATIONAL", 96, {80}}, {"INFORMATIONAL", 97, {80}}};
  check_table(ikev2_rekey, pairs, -1, 4, expected);
}

static void child_rekeying_without_key_exchange(void **state) {
  (void)state;
  /* REKEY_SA 8 + SPI 4, SA 4 + 8 + SPI 4 + ENCR 8 + 4 + ESN 8 = 36, nonce 36, TS 2 * 24: 132; the response without REKEY_SA:
   * 120. DELETE 4 + 4 + SPI 4 = 12, both ways. GCM: + 57. */
  const char *const gcm[] = {"ipsec.ike", "aes256gcm16-prfsha384", NULL};
  static const struct expected in_gcm[] = {
      {"CREATE_CHILD_SA", 128, {189}}, {"CREATE_CHILD_SA", 129, {177}}, {"INFORMATIONAL", 162, {69}}, {"INFORMATIONAL", 163, {69}}};
  check_table(ikev2_rekey_child, gcm, -1, 4, in_gcm);
  /* CBC: 133 -> 144, 121 -> 128, 13 -> 16, each + 64. */
  const char *const cbc[] = {NULL};
  static const struct expected in_cbc[] = {
      {"CREATE_CHILD_SA", 128, {208}}, {"CREATE_CHILD_SA", 129, {192}}, {"INFORMATIONAL", 162, {80}}, {"INFORMATIONAL", 163, {80}}};
  check_table(ikev2_rekey_child, cbc, -1, 4, in_cbc);
  /* USE_TRANSPORT_MODE 8 on both sides, the non-ESP marker 4 everywhere: 189 + 12, 177 + 12, 69 + 4. */
  const char *const transport[] = {"ipsec.ike", "aes256gcm16-prfsha384", "ipsec.mode", "transport", "ipsec.nat_traversal", "yes", NULL};
  static const struct expected in_transport[] = {
      {"CREATE_CHILD_SA", 128, {201}}, {"CREATE_CHILD_SA", 129, {189}}, {"INFORMATIONAL", 162, {73}}, {"INFORMATIONAL", 163, {73}}};
  check_table(ikev2_rekey_child, transport, -1, 4, in_transport);
}

static bool does(const struct handshake_op *ops, int count, const char *algorithm, const char *operation) {
  for (int i = 0; i < count; i++)
    if (strcmp(ops[i].algorithm, algorithm) == 0 && strcmp(ops[i].operation, operation) == 0) return true;
  return false;
}

static void child_rekeying_with_key_exchanges(void **state) {
  (void)state;
  /* Two more transforms: SA 52; KE 40: 12 + 52 + 36 + 40 + 48 = 188; the response has ADDITIONAL_KEY_EXCHANGE 8 + 4 instead of
   * REKEY_SA: 188, too. 189 -> 192, + 64 = 256. IKE_FOLLOWUP_KE is that of an IKE SA's rekeying, measured with strongSwan as
   * 1352 bytes in 2 fragments and 1168 in 1: KE 1192 + 12 = 1204 = 1183 + 21, 1252 and 28 + 8 + 16 + 32 + 16 = 100. */
  const char *const pairs[] = {"ipsec.child_kex", "x25519-ke1_mlkem768", NULL};
  static const struct expected expected[] = {{"CREATE_CHILD_SA", 128, {256}}, {"CREATE_CHILD_SA", 129, {256}}, {"IKE_FOLLOWUP_KE", 130, {1252, 100}},
      {"IKE_FOLLOWUP_KE", 131, {1168}}, {"INFORMATIONAL", 162, {80}}, {"INFORMATIONAL", 163, {80}}};
  check_table(ikev2_rekey_child, pairs, -1, 6, expected);
  struct ikev2_config config;
  ike_config_of(pairs, &config);
  struct handshake_table table;
  ikev2_rekey_child(&config, &table);
  const struct handshake_message *m = table.messages;
  assert_true(does(m[0].before, m[0].before_count, "X25519", "keygen"));
  assert_true(does(m[2].before, m[2].before_count, "ML-KEM-768", "keygen"));
  assert_true(does(m[3].before, m[3].before_count, "ML-KEM-768", "encaps_full"));
  /* The new SA is there when the last exchange is done. */
  assert_false(does(m[1].before, m[1].before_count, "software", "child_sa"));
  assert_true(does(m[3].before, m[3].before_count, "software", "child_sa"));
  assert_true(does(m[3].after, m[3].after_count, "software", "child_sa"));
  handshake_table_free(&table);
}

static void a_childless_tunnels_first_child_has_its_key_exchange(void **state) {
  (void)state;
  /* SA 44, nonce 36, KE 40, TS 48: 168 -> 176, + 64 = 240, the same in both directions. The other messages are the measured
   * ones of a childless tunnel. */
  const char *const pairs[] = {"ipsec.auth", "psk", "ipsec.childless", "yes", "ipsec.child_kex", "x25519", NULL};
  static const struct expected expected[] = {{"IKE_SA_INIT", 0, {240}}, {"IKE_SA_INIT", 1, {248}}, {"IKE_AUTH", 32, {192}}, {"IKE_AUTH", 33, {144}},
      {"CREATE_CHILD_SA", 98, {240}}, {"CREATE_CHILD_SA", 99, {240}}};
  check_table(ikev2_establishment, pairs, 0, 6, expected);
}

static void peers_are_asked_with_an_empty_message(void **state) {
  (void)state;
  const char *const cbc[] = {NULL};
  static const struct expected in_cbc[] = {{"INFORMATIONAL", 164, {80}}, {"INFORMATIONAL", 165, {80}}};
  check_table(ikev2_dpd, cbc, -1, 2, in_cbc);
  const char *const gcm[] = {"ipsec.ike", "aes256gcm16-prfsha384", NULL};
  static const struct expected in_gcm[] = {{"INFORMATIONAL", 164, {57}}, {"INFORMATIONAL", 165, {57}}};
  check_table(ikev2_dpd, gcm, -1, 2, in_gcm);
}

/* No two messages of a table may share a number: the longest one. */
static void numbers_are_unique_and_below_256(void **state) {
  (void)state;
  const char *const pairs[] = {"ipsec.offered",
      "[secp256r1, x25519-ke1_mlkem512-ke2_mlkem768-ke3_mlkem1024-ke4_secp256r1-ke5_secp384r1-ke6_x448-ke7_ffdhe3072]", "ipsec.accepted",
      "[x25519-ke1_mlkem512-ke2_mlkem768-ke3_mlkem1024-ke4_secp256r1-ke5_secp384r1-ke6_x448-ke7_ffdhe3072]", "ipsec.childless", "yes", "ipsec.child_kex",
      "x25519-ke1_mlkem512-ke2_mlkem768-ke3_mlkem1024-ke4_secp256r1-ke5_secp384r1-ke6_x448-ke7_ffdhe3072", NULL};
  struct ikev2_config config;
  ike_config_of(pairs, &config);
  static table_fn *const builders[] = {ikev2_establishment, ikev2_rekey, ikev2_rekey_child};
  static const int counts[] = {2 * (1 + 8 + 1 + 8), 2 * (8 + 1), 2 * (8 + 1)};
  for (int b = 0; b < 3; b++) {
    struct handshake_table table;
    bool seen[256] = {false};
    builders[b](&config, &table);
    assert_int_equal(table.count, counts[b]);
    for (int i = 0; i < table.count; i++) {
      assert_in_range(table.messages[i].number, 0, 255);
      assert_false(seen[table.messages[i].number]);
      seen[table.messages[i].number] = true;
    }
    handshake_table_free(&table);
  }
}

static void long_term_keys_are_used_for_signing_alone(void **state) {
  (void)state;
  const char *const pairs[] = {"ipsec.kex", "x25519-ke1_mlkem768", "ipsec.auth", "mldsa65", NULL};
  struct ikev2_config config;
  ike_config_of(pairs, &config);
  struct handshake_table table;
  ikev2_establishment(&config, &table);
  int found = 0;
  for (int i = 0; i < table.count; i++) {
    const struct handshake_message *m = &table.messages[i];
    for (int k = 0; k < m->after_count; k++) assert_false(m->after[k].hsm);
    for (int k = 0; k < m->before_count; k++) {
      assert_int_equal(m->before[k].hsm, strcmp(m->before[k].operation, "sign") == 0);
      found += m->before[k].hsm;
    }
  }
  assert_int_equal(found, 2); /* one by each peer */
  handshake_table_free(&table);
}

static void too_many_fragments_are_refused(void **state) {
  (void)state;
  const char *const pairs[] = {"ipsec.auth", "mldsa87", "ipsec.chain", "8", "ipsec.fragment_size", "576", NULL};
  struct ikev2_config config;
  ike_config_of(pairs, &config);
  struct handshake_table table;
  ikev2_establishment(&config, &table);
  struct err e = {0};
  assert_int_equal(ikev2_check_sizes(&table, &e), ERR_INPUT);
  assert_non_null(strstr(e.text, "IKE_AUTH"));
  err_free(&e);
  handshake_table_free(&table);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(messages_equal_the_measured_ones),
      cmocka_unit_test(mlkem_in_ike_intermediate_takes_one_two_or_three_pieces),
      cmocka_unit_test(mldsa_authentication_sizes),
      cmocka_unit_test(each_offer_is_a_proposal_of_its_own),
      cmocka_unit_test(a_wrong_share_costs_a_round_trip),
      cmocka_unit_test(no_common_proposal_ends_in_one_exchange),
      cmocka_unit_test(cookies_have_24_bytes),
      cmocka_unit_test(rekeying_offers_everything_with_the_agreed_share),
      cmocka_unit_test(child_rekeying_without_key_exchange),
      cmocka_unit_test(child_rekeying_with_key_exchanges),
      cmocka_unit_test(a_childless_tunnels_first_child_has_its_key_exchange),
      cmocka_unit_test(peers_are_asked_with_an_empty_message),
      cmocka_unit_test(numbers_are_unique_and_below_256),
      cmocka_unit_test(long_term_keys_are_used_for_signing_alone),
      cmocka_unit_test(too_many_fragments_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
