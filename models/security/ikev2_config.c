/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/security/ikev2.h"
#include "models/crypto/alg_own.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  LADDERS_MAX = 2 + 2 * IKEV2_KEX_MAX, /* requests of one set-up, each with a ladder of its own */
  KEX_KINDS = 1 << ALG_KEX | 1 << ALG_KEM,
  FRAGMENT_MIN = 256, /* room for headers and one cipher block, and no more than HANDSHAKE_PARTS fragments */
  NAME_MAX_BYTES = 256,
};

#define SECOND INT64_C(1000000000)
#define HOUR (3600 * SECOND)
#define YEAR (365 * 24 * HOUR)
#define PERIOD_MIN (SECOND / 100) /* shorter than any network's round trip: a mistake in the unit */

static int check_suite(const char *text, char *canonical, size_t size, struct err *e);
static int check_auth(const char *text, char *canonical, size_t size, struct err *e);
static int check_base(const char *text, char *canonical, size_t size, struct err *e);

static const char *const esp_names[] = {"aes128gcm16", "aes256gcm16", "chacha20poly1305", NULL};
const char *const ikev2_esp_titles[] = {"AES-128-GCM", "AES-256-GCM", "ChaCha20-Poly1305"};
static const char *const mode_names[] = {"tunnel", "transport", NULL};
static const char *const cipher_names[] = {"aes256-sha256", "aes256gcm16-prfsha384", NULL};

static const struct param rows[] = {
    {.key = "ipsec.kex",
        .kind = PARAM_NAME,
        .fallback = "x25519",
        .check = ikev2_check_kex,
        .help = "key exchange: none, one method, or a-ke1_b[-ke2_c] with additional exchanges (RFC 9370)"},
    {.key = "ipsec.offered",
        .kind = PARAM_NAMES,
        .fallback = "[]",
        .check = check_suite,
        .min = 0,
        .max = IKEV2_OFFERS_MAX,
        .help = "key exchanges the initiator offers, best first; the first method of the first is what it sends a share of; []: ipsec.kex alone"},
    {.key = "ipsec.accepted",
        .kind = PARAM_NAMES,
        .fallback = "[]",
        .check = check_suite,
        .min = 0,
        .max = IKEV2_OFFERS_MAX,
        .help = "key exchanges the responder accepts, best first: it takes the first that is offered; []: ipsec.kex alone"},
    {.key = "ipsec.child_kex",
        .kind = PARAM_NAME,
        .fallback = "none",
        .check = ikev2_check_kex,
        .help = "key exchange of a CHILD_SA that is rekeyed, or set up after a childless IKE_AUTH; none: its keys come from the IKE SA's"},
    {.key = "ipsec.auth",
        .kind = PARAM_NAME,
        .fallback = "ecdsa-p256",
        .check = check_auth,
        .help = "authentication of both peers: psk, or the signature algorithm of their certificates"},
    {.key = "ipsec.ike", .kind = PARAM_CHOICE, .fallback = "aes256-sha256", .choices = cipher_names, .help = "protection of IKE messages"},
    {.key = "ipsec.esp", .kind = PARAM_CHOICE, .fallback = "aes256gcm16", .choices = esp_names, .help = "protection of user packets"},
    {.key = "ipsec.mode", .kind = PARAM_CHOICE, .fallback = "tunnel", .choices = mode_names, .help = "ESP mode"},
    {.key = "ipsec.chain",
        .kind = PARAM_COUNT,
        .fallback = "1",
        .min = 0,
        .max = 8,
        .help = "intermediate certificates the responder sends; the initiator sends its leaf"},
    {.key = "ipsec.childless", .kind = PARAM_BOOL, .fallback = "no", .help = "IKE_AUTH without the first CHILD_SA (RFC 6023)"},
    {.key = "ipsec.fragment_size",
        .kind = PARAM_SIZE,
        .bare = "B",
        .fallback = "1280B",
        .min = 0,
        .max = 65535,
        .help = "largest IP datagram of an IKE fragment, headers counted (RFC 7383); 0: no IKE fragmentation"},
    {.key = "ipsec.nat_traversal", .kind = PARAM_BOOL, .fallback = "no", .help = "UDP port 4500 after IKE_SA_INIT and ESP in UDP (RFC 3948)"},
    {.key = "ipsec.identity_length", .kind = PARAM_SIZE, .bare = "B", .fallback = "19B", .min = 1, .max = 255, .help = "length of each peer's identity"},
    {.key = "ipsec.retransmit_timeout",
        .kind = PARAM_TIME,
        .fallback = "4s",
        .min = 1000000,
        .max = HOUR,
        .help = "wait before a request is sent again the first time"},
    {.key = "ipsec.retransmit_base", .kind = PARAM_NAME, .fallback = "1.8", .check = check_base, .help = "each further wait is this much longer, 1 to 10"},
    {.key = "ipsec.retransmit_tries", .kind = PARAM_COUNT, .fallback = "5", .min = 0, .max = 100, .help = "how often a request is sent again before giving up"},
    {.key = "ipsec.retransmit_jitter",
        .kind = PARAM_SHARE,
        .fallback = "0%",
        .min = 0,
        .max = SHARE_ONE,
        .help = "each wait is shortened by a random share of up to this"},
    {.key = "ipsec.retransmit_limit", .kind = PARAM_TIME, .fallback = "0s", .min = 0, .max = HOUR, .help = "no wait is longer than this; 0s: no limit"},
    {.key = "ipsec.rekey_time", .kind = PARAM_TIME, .fallback = "4h", .min = 0, .max = YEAR, .help = "an IKE SA is rekeyed when it is so old; 0s: never"},
    {.key = "ipsec.child_rekey_time",
        .kind = PARAM_TIME,
        .fallback = "1h",
        .min = 0,
        .max = YEAR,
        .help = "a CHILD_SA is rekeyed when it is so old; 0s: never"},
    {.key = "ipsec.rekey_jitter",
        .kind = PARAM_SHARE,
        .fallback = "10%",
        .min = 0,
        .max = SHARE_ONE,
        .help = "each rekeying comes earlier by a random share of up to this (strongSwan's rand_time)"},
    {.key = "ipsec.dpd_delay",
        .kind = PARAM_TIME,
        .fallback = "0s",
        .min = 0,
        .max = YEAR,
        .help = "the initiator asks whether its peer is alive when nothing came from it for so long; 0s: never"},
    {.key = "ipsec.keying_tries",
        .kind = PARAM_COUNT,
        .fallback = "1",
        .min = 0,
        .max = 1000000,
        .help = "how often a set-up is begun when no answer comes; 0: until it succeeds"},
};

const struct param_table ikev2_params = {rows, sizeof rows / sizeof *rows};

/* A key exchange that IKEv2 knows by a transform number, or one of the user's own, for which there are numbers of private use. */
static const struct alg *find_kex(const char *name) {
  const struct alg *kex = alg_find(name, KEX_KINDS);
  return kex && (kex->ike_id >= 0 || alg_is_own(kex)) ? kex : NULL;
}

static int unknown_kex(const char *name, struct err *e) {
  const char *near = alg_nearest(name, KEX_KINDS);
  if (near && !find_kex(near)) near = NULL; /* known, but without an IKEv2 transform */
  return err_add(e, ERR_INPUT,
      "found '%s', which is no IKEv2 key exchange; allowed none, an IKEv2 key exchange (x25519, secp256r1, secp384r1, mlkem512, mlkem768, mlkem1024, ...), one "
      "of your own (algorithms:), or several as a-ke1_b-ke2_c%s%s",
      name, near ? "; nearest: " : "", near ? near : "");
}

/* The next "-keN_" (strongSwan) or ";addkeN=" (libreswan) in text, without regard to case; NULL when there is none. Names
 * may hold dashes themselves ("ml-kem-768"). *length is that of the separator, *round its N. */
static char *find_round(char *text, size_t *length, int *round) {
  static const struct {
    const char *begin;
    char end;
  } forms[] = {{"-ke", '_'}, {";addke", '='}};
  for (; *text; text++)
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
      size_t begin = strlen(forms[i].begin);
      if (strncasecmp(text, forms[i].begin, begin) == 0 && isdigit((unsigned char)text[begin]) && text[begin + 1] == forms[i].end) {
        *length = begin + 2;
        *round = text[begin] - '0';
        return text;
      }
    }
  return NULL;
}

static int add_kex(const char *name, const char *text, const struct alg *kex[IKEV2_KEX_MAX], int *count, struct err *e) {
  const struct alg *found = find_kex(name);
  if (!found) return unknown_kex(name, e);
  for (int i = 0; i < *count; i++)
    if (kex[i] == found) return err_add(e, ERR_INPUT, "found %s twice in '%s', allowed once each", found->name, text);
  kex[(*count)++] = found;
  return 0;
}

/* Transforms of the IKE SA itself in front (aes256gcm16-prfsha384-) belong to ipsec.ike and are refused as a name. */
static int parse_kex(const char *text, const struct alg *kex[IKEV2_KEX_MAX], int *count, struct err *e) {
  char copy[NAME_MAX_BYTES];
  *count = 0;
  if (strlen(text) >= sizeof copy) return err_add(e, ERR_INPUT, "found %zu characters, allowed at most %zu", strlen(text), sizeof copy - 1);
  if (strcasecmp(text, "none") == 0) return 0;
  strcpy(copy, text);
  for (char *name = copy; name;) {
    size_t length = 0;
    int round = 0;
    char *next = find_round(name, &length, &round);
    if (next) *next = '\0';
    int rc = add_kex(name, text, kex, count, e);
    if (rc) return rc;
    if (next && (round != *count || *count == IKEV2_KEX_MAX))
      return err_add(e, ERR_INPUT, "found exchange number %d in '%s', allowed ke1_, ke2_, ... up to ke%d_ in order", round, text, IKEV2_KEX_MAX - 1);
    name = next ? next + length : NULL;
  }
  return 0;
}

int ikev2_check_kex(const char *text, char *canonical, size_t size, struct err *e) {
  const struct alg *kex[IKEV2_KEX_MAX];
  int count;
  int rc = parse_kex(text, kex, &count, e);
  if (rc) return rc;
  size_t used = (size_t)snprintf(canonical, size, "%s", count ? kex[0]->name : "none");
  for (int i = 1; i < count && used < size; i++) used += (size_t)snprintf(canonical + used, size - used, "-ke%d_%s", i, kex[i]->name);
  return 0;
}

static int check_suite(const char *text, char *canonical, size_t size, struct err *e) {
  if (strcasecmp(text, "none") == 0) return err_add(e, ERR_INPUT, "found none, allowed IKEv2 key exchanges: without IPsec nothing is offered or accepted");
  return ikev2_check_kex(text, canonical, size, e);
}

/* ---- Agreement ------------------------------------------------------------------------------------------------- */

struct list {
  struct ikev2_suite suites[IKEV2_OFFERS_MAX];
  int count;
};

static void add_suite(void *arg, const char *name) {
  struct list *list = arg;
  assert(list->count < IKEV2_OFFERS_MAX);
  struct ikev2_suite *suite = &list->suites[list->count++];
  struct err e = {0};
  int rc = parse_kex(name, suite->kex, &suite->kex_count, &e);
  assert(rc == 0); /* config_set has checked it */
}

static bool is_equal(const struct ikev2_suite *a, const struct ikev2_suite *b) {
  return a->kex_count == b->kex_count && memcmp(a->kex, b->kex, (size_t)a->kex_count * sizeof *a->kex) == 0;
}

static const struct ikev2_suite *find_suite(const struct ikev2_suite *suites, int count, const struct ikev2_suite *wanted) {
  for (int i = 0; i < count; i++)
    if (is_equal(&suites[i], wanted)) return &suites[i];
  return NULL;
}

/* An empty list means ipsec.kex alone. */
static int read_list(const struct config *config, const char *key, const struct ikev2_suite *alone, struct list *list, struct err *e) {
  *list = (struct list){.count = 0};
  config_names(config, key, add_suite, list);
  if (list->count > 0 && alone->kex_count == 0)
    return err_add(e, ERR_INPUT, "%s: found %s while ipsec.kex is none, which is no IPsec at all; allowed [], or a key exchange as ipsec.kex", key,
        config_text(config, key));
  if (list->count == 0) list->suites[list->count++] = *alone;
  return 0;
}

static int agree(const struct config *config, struct ikev2_config *out, struct err *e) {
  struct ikev2_suite alone = {.kex_count = 0};
  struct list offered, accepted;
  int rc = parse_kex(config_text(config, "ipsec.kex"), alone.kex, &alone.kex_count, e);
  if (!rc) rc = read_list(config, "ipsec.offered", &alone, &offered, e);
  if (!rc) rc = read_list(config, "ipsec.accepted", &alone, &accepted, e);
  if (rc) return rc;
  const struct ikev2_suite *chosen = NULL;
  for (int i = 0; i < accepted.count && !chosen; i++) chosen = find_suite(offered.suites, offered.count, &accepted.suites[i]);
  out->refused = !chosen;
  if (!chosen) chosen = &offered.suites[0];
  memcpy(out->kex, chosen->kex, sizeof out->kex);
  out->kex_count = chosen->kex_count;
  memcpy(out->offered, offered.suites, sizeof out->offered);
  out->offered_count = offered.count;
  return 0;
}

bool ikev2_key_exchange_is_quantum_safe(const struct ikev2_config *config) {
  for (int i = 0; i < config->kex_count; i++)
    if (alg_is_quantum_safe(config->kex[i])) return true;
  return false;
}

bool ikev2_authentication_is_quantum_safe(const struct ikev2_config *config) { return !config->signature || alg_is_quantum_safe(config->signature); }

/* ---- Other checks ---------------------------------------------------------------------------------------------- */

static const struct alg *find_signature(const char *text) {
  const struct alg *signature = alg_find(text, 1 << ALG_SIGNATURE);
  return signature && x509_certificate_bytes(signature, X509_LEAF) > 0 ? signature : NULL;
}

static int check_auth(const char *text, char *canonical, size_t size, struct err *e) {
  if (strcasecmp(text, "psk") == 0) {
    snprintf(canonical, size, "psk");
    return 0;
  }
  const struct alg *signature = find_signature(text);
  if (!signature)
    return err_add(e, ERR_INPUT,
        "found '%s', allowed psk, ecdsa-p256, ecdsa-p384, rsa-2048, rsa-3072, rsa-4096, ed25519, ed448, mldsa44, mldsa65, mldsa87, slhdsa-sha2-128s, "
        "slhdsa-sha2-128f, or a signature of your own (algorithms:)",
        text);
  snprintf(canonical, size, "%s", signature->name);
  return 0;
}

/* A decimal with at most three places, in thousandths; -1 when it is none. */
static int64_t parse_milli(const char *text) {
  int64_t value = 0;
  int places = -1;
  if (!isdigit((unsigned char)*text)) return -1;
  for (; *text; text++) {
    if (*text == '.' && places < 0)
      places = 0;
    else if (isdigit((unsigned char)*text) && places < 3 && value < 1000000) {
      value = value * 10 + (*text - '0');
      places += places >= 0;
    } else
      return -1;
  }
  for (places = places < 0 ? 0 : places; places < 3; places++) value *= 10;
  return value;
}

static int check_base(const char *text, char *canonical, size_t size, struct err *e) {
  int64_t milli = parse_milli(text);
  if (milli < 1000 || milli > 10000) return err_add(e, ERR_INPUT, "found '%s', allowed 1 to 10 with at most three decimal places", text);
  snprintf(canonical, size, "%g", (double)milli / 1000);
  return 0;
}

/* All waits must end within a run. */
static int check_ladder(const struct handshake_ladder *ladder, int keying_tries, struct err *e) {
  simtime most = SIMTIME_HORIZON / LADDERS_MAX / (keying_tries > 0 ? keying_tries : 1), total = 0;
  for (int n = 0; n <= ladder->tries; n++) {
    total += handshake_wait(ladder, n);
    if (total > most)
      return err_add(e, ERR_INPUT,
          "ipsec.retransmit_tries: found %d, but with so many a set-up can outlast a run's 31 years (the waits of one request add up to %.1f years); allowed "
          "fewer tries, a smaller ipsec.retransmit_base, an ipsec.retransmit_limit or fewer ipsec.keying_tries",
          ladder->tries, (double)total / YEAR);
  }
  return 0;
}

static int check_period(const struct config *config, const char *key, struct err *e) {
  simtime period = config_number(config, key);
  if (period == 0 || period >= PERIOD_MIN) return 0;
  return err_add(e, ERR_INPUT, "%s: found %s, allowed 0s (off) or 10ms and more", key, config_text(config, key));
}

static int check_session(const struct config *config, struct err *e) {
  static const char *const periods[] = {"ipsec.rekey_time", "ipsec.child_rekey_time", "ipsec.dpd_delay"};
  int rc = 0;
  for (size_t i = 0; i < sizeof periods / sizeof *periods && !rc; i++) rc = check_period(config, periods[i], e);
  return rc;
}

static struct handshake_ladder read_ladder(const struct config *config) {
  return (struct handshake_ladder){
      .timeout = config_number(config, "ipsec.retransmit_timeout"),
      .base_milli = parse_milli(config_text(config, "ipsec.retransmit_base")),
      .tries = (int)config_number(config, "ipsec.retransmit_tries"),
      .jitter_ppb = config_number(config, "ipsec.retransmit_jitter"),
      .limit = config_number(config, "ipsec.retransmit_limit"),
  };
}

static struct ikev2_session read_session(const struct config *config) {
  return (struct ikev2_session){
      .rekey_time = config_number(config, "ipsec.rekey_time"),
      .child_rekey_time = config_number(config, "ipsec.child_rekey_time"),
      .jitter_ppb = config_number(config, "ipsec.rekey_jitter"),
      .dpd_delay = config_number(config, "ipsec.dpd_delay"),
      .keying_tries = (int)config_number(config, "ipsec.keying_tries"),
  };
}

int ikev2_configure(const struct config *config, struct ikev2_config *out, struct err *e) {
  *out = (struct ikev2_config){
      .cipher = (enum ikev2_cipher)config_number(config, "ipsec.ike"),
      .chain = (int)config_number(config, "ipsec.chain"),
      .childless = config_number(config, "ipsec.childless"),
      .nat_traversal = config_number(config, "ipsec.nat_traversal"),
      .esp = (int)config_number(config, "ipsec.esp"),
      .transport_mode = config_number(config, "ipsec.mode") == 1,
      .fragment_bytes = (int)config_number(config, "ipsec.fragment_size"),
      .identity_bytes = (int)config_number(config, "ipsec.identity_length"),
      .ladder = read_ladder(config),
      .session = read_session(config),
  };
  if (out->fragment_bytes != 0 && out->fragment_bytes < FRAGMENT_MIN)
    return err_add(e, ERR_INPUT, "ipsec.fragment_size: found %dB, allowed 0 (off) or %dB to 65535B", out->fragment_bytes, FRAGMENT_MIN);
  if (strcmp(config_text(config, "ipsec.auth"), "psk") != 0) out->signature = find_signature(config_text(config, "ipsec.auth"));
  int rc = check_ladder(&out->ladder, out->session.keying_tries, e);
  if (!rc) rc = check_session(config, e);
  if (!rc) rc = parse_kex(config_text(config, "ipsec.child_kex"), out->child.kex, &out->child.kex_count, e);
  return rc ? rc : agree(config, out, e);
}
