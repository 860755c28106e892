/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: models/security/ikev2.o models/security/ikev2_config.o models/security/handshake.o models/security/x509.o models/transport/port.o models/crypto/alg.o models/crypto/cost.o models/crypto/cost_data.o models/crypto/cost_line.o models/crypto/csv.o sim/net/net_path.o sim/net/net_rules.o sim/core/param.o sim/core/units.o sim/core/err.o sim/core/event.o sim/core/random.o sim/core/cpu.o sim/core/metric.o
#include "models/security/ikev2.h"

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

struct measured {
  char ike[32], kex[64], auth[16], chain[8], childless[8], fragment[8], exchange[32], direction[8];
  int id, messages, payload, packets, bytes, largest;
};

static const struct handshake_message *find_message(
    const struct handshake_table *establishment, const struct handshake_table *rekey, const struct measured *m) {
  int response = strcmp(m->direction, "resp") == 0;
  for (int i = 0; i < rekey->count; i += 2)
    if (strcmp(rekey->messages[i].name, m->exchange) == 0) return &rekey->messages[i + response];
  assert_in_range(m->id * 2, 0, establishment->count - 2);
  const struct handshake_message *message = &establishment->messages[m->id * 2 + response];
  assert_string_equal(message->name, m->exchange);
  return message;
}

static void compare(const struct handshake_message *message, const struct measured *m) {
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
  FILE *file = fopen("models/security/test/ike_messages.csv", "r");
  assert_non_null(file);
  char line[512];
  int rows = 0;
  assert_non_null(fgets(line, sizeof line, file));
  while (fgets(line, sizeof line, file)) {
    struct measured m;
    assert_int_equal(sscanf(line, "%31[^,],%63[^,],%15[^,],%7[^,],%7[^,],%7[^,],%31[^,],%d,%7[^,],%d,%d,%d,%d,%d", m.ike, m.kex, m.auth, m.chain, m.childless,
                         m.fragment, m.exchange, &m.id, m.direction, &m.messages, &m.payload, &m.packets, &m.bytes, &m.largest),
        14);
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
  assert_int_equal(rows, 402);
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
      cmocka_unit_test(messages_equal_the_measured_ones),
      cmocka_unit_test(mlkem_in_ike_intermediate_takes_one_two_or_three_pieces),
      cmocka_unit_test(mldsa_authentication_sizes),
      cmocka_unit_test(proposals_have_one_canonical_form),
      cmocka_unit_test(wrong_proposals_are_refused),
      cmocka_unit_test(too_many_fragments_are_refused),
      cmocka_unit_test(ladders_beyond_a_run_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
