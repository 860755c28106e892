/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/security/ikev2.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- Payloads -------------------------------------------------------------------------------------------------- */

enum {
  IKE_HEADER = 28,
  PAYLOAD_HEADER = 4,
  NOTIFY = 8, /* payload header, protocol, SPI size, type; no SPI */
  NONCE_BYTES = 32,
  SHA1_BYTES = 20,        /* NAT detection hashes and the key hashes of CERTREQ */
  AUTH_PSK_BYTES = 32,    /* prf output; 48 with SHA-384 */
  ADDITIONAL_KE_LINK = 4, /* strongSwan's link data in N(ADDITIONAL_KEY_EXCHANGE) */
  SIGNATURE_HASHES = 4,   /* SHA2-256, -384, -512, identity; 2 bytes each */
  TRAFFIC_SELECTOR_V4 = 16,
  ESP_SPI = 4,
  IKE_SPI = 8,
};

enum payload {
  SA_IKE,
  SA_IKE_REKEY,
  KE,
  NONCE,
  NAT_DETECTION,
  N_FRAGMENTATION,
  N_SIGNATURE_HASHES,
  N_REDIRECT,
  N_MULTIPLE_AUTH,
  N_INTERMEDIATE,
  N_CHILDLESS,
  CERTREQ,
  IDENTITY,
  CERT_LEAF,
  CERT_INTERMEDIATES,
  AUTH,
  SA_ESP,
  TRAFFIC_SELECTOR,
  N_INITIAL_CONTACT,
  N_EAP_ONLY,
  N_MESSAGE_ID_SYNC,
  N_ADDITIONAL_KE,
  N_TRANSPORT_MODE,
  DELETE
};

/* When a payload is there. All bits of `when` must hold. */
enum fact {
  ALWAYS = 0,
  FRAGMENTING = 1 << 0,
  CERTIFICATES = 1 << 1,
  ADDITIONAL_KES = 1 << 2,
  WITH_CHILD = 1 << 3,
  CHILDLESS = 1 << 4,
  MORE_ROUNDS = 1 << 5, /* another IKE_FOLLOWUP_KE comes after this exchange */
  TRANSPORT_MODE = 1 << 6,
};

/* CREATE_CHILD_SA comes as two: a first CHILD_SA after a childless IKE_AUTH, and a new IKE SA. */
enum exchange { IKE_SA_INIT, IKE_INTERMEDIATE, IKE_AUTH, NEW_CHILD, REKEY_IKE, IKE_FOLLOWUP_KE, INFORMATIONAL, EXCHANGE_COUNT };

struct payload_rule {
  enum payload payload;
  unsigned when;
};

enum { RULES_MAX = 16 };

struct exchange_rules {
  const char *name;
  uint32_t number; /* of its first request, for draws; rounds of one exchange follow by twos */
  bool encrypted;
  struct payload_rule request[RULES_MAX], response[RULES_MAX];
  int request_count, response_count;
};

/* What strongSwan 6.1 puts into each message, in its order. */
static const struct exchange_rules exchanges[EXCHANGE_COUNT] = {
    [IKE_SA_INIT] = {"IKE_SA_INIT", 0, false,
        {{SA_IKE, ALWAYS}, {KE, ALWAYS}, {NONCE, ALWAYS}, {NAT_DETECTION, ALWAYS}, {NAT_DETECTION, ALWAYS}, {N_FRAGMENTATION, FRAGMENTING},
            {N_SIGNATURE_HASHES, ALWAYS}, {N_REDIRECT, ALWAYS}, {N_INTERMEDIATE, ADDITIONAL_KES}},
        {{SA_IKE, ALWAYS}, {KE, ALWAYS}, {NONCE, ALWAYS}, {NAT_DETECTION, ALWAYS}, {NAT_DETECTION, ALWAYS}, {CERTREQ, CERTIFICATES},
            {N_FRAGMENTATION, FRAGMENTING}, {N_SIGNATURE_HASHES, ALWAYS}, {N_CHILDLESS, CHILDLESS}, {N_MULTIPLE_AUTH, ALWAYS},
            {N_INTERMEDIATE, ADDITIONAL_KES}},
        9, 11},
    [IKE_INTERMEDIATE] = {"IKE_INTERMEDIATE", 2, true, {{KE, ALWAYS}}, {{KE, ALWAYS}}, 1, 1},
    [IKE_AUTH] = {"IKE_AUTH", 32, true,
        {{IDENTITY, ALWAYS}, {CERT_LEAF, CERTIFICATES}, {N_INITIAL_CONTACT, ALWAYS}, {CERTREQ, CERTIFICATES}, {IDENTITY, ALWAYS}, {AUTH, ALWAYS},
            {SA_ESP, WITH_CHILD}, {TRAFFIC_SELECTOR, WITH_CHILD}, {TRAFFIC_SELECTOR, WITH_CHILD}, {N_MULTIPLE_AUTH, ALWAYS}, {N_EAP_ONLY, CERTIFICATES},
            {N_MESSAGE_ID_SYNC, ALWAYS}, {N_TRANSPORT_MODE, WITH_CHILD | TRANSPORT_MODE}},
        {{IDENTITY, ALWAYS}, {CERT_LEAF, CERTIFICATES}, {CERT_INTERMEDIATES, CERTIFICATES}, {AUTH, ALWAYS}, {SA_ESP, WITH_CHILD},
            {TRAFFIC_SELECTOR, WITH_CHILD}, {TRAFFIC_SELECTOR, WITH_CHILD}, {N_TRANSPORT_MODE, WITH_CHILD | TRANSPORT_MODE}},
        13, 8},
    [NEW_CHILD] = {"CREATE_CHILD_SA", 98, true,
        {{SA_ESP, ALWAYS}, {NONCE, ALWAYS}, {TRAFFIC_SELECTOR, ALWAYS}, {TRAFFIC_SELECTOR, ALWAYS}, {N_TRANSPORT_MODE, TRANSPORT_MODE}},
        {{SA_ESP, ALWAYS}, {NONCE, ALWAYS}, {TRAFFIC_SELECTOR, ALWAYS}, {TRAFFIC_SELECTOR, ALWAYS}, {N_TRANSPORT_MODE, TRANSPORT_MODE}}, 5, 5},
    [REKEY_IKE] = {"CREATE_CHILD_SA", 64, true, {{SA_IKE_REKEY, ALWAYS}, {NONCE, ALWAYS}, {KE, ALWAYS}},
        {{SA_IKE_REKEY, ALWAYS}, {NONCE, ALWAYS}, {KE, ALWAYS}, {N_ADDITIONAL_KE, ADDITIONAL_KES}}, 3, 4},
    [IKE_FOLLOWUP_KE] = {"IKE_FOLLOWUP_KE", 66, true, {{KE, ALWAYS}, {N_ADDITIONAL_KE, ALWAYS}}, {{KE, ALWAYS}, {N_ADDITIONAL_KE, MORE_ROUNDS}}, 2, 2},
    [INFORMATIONAL] = {"INFORMATIONAL", 96, true, {{DELETE, ALWAYS}}, {{DELETE, ALWAYS}}, 1, 0},
};

/* Where in the protocol a payload stands. */
struct place {
  const struct ikev2_config *config;
  bool response;
  int round; /* which key exchange */
};

static unsigned facts_of(const struct ikev2_config *config, int round) {
  return (config->fragment_bytes > 0 ? FRAGMENTING : 0u) | (config->signature ? CERTIFICATES : 0u) | (config->kex_count > 1 ? ADDITIONAL_KES : 0u) |
         (config->childless ? CHILDLESS : WITH_CHILD) | (round + 1 < config->kex_count ? MORE_ROUNDS : 0u) | (config->transport_mode ? TRANSPORT_MODE : 0u);
}

/* Proposal: header, SPI, then 8 bytes per transform and 4 more for a key length attribute (RFC 7296 section 3.3). */
static int sa_bytes(int spi, int transforms, int key_lengths) { return PAYLOAD_HEADER + 8 + spi + 8 * transforms + 4 * key_lengths; }

/* AES-CBC needs an integrity transform (ENCR, INTEG, PRF, KE), AES-GCM does not; one more per additional exchange. */
static int ike_sa_bytes(const struct ikev2_config *config, int spi) {
  int base = config->cipher == IKEV2_AES256_SHA256 ? 4 : 3;
  return sa_bytes(spi, base + config->kex_count - 1, 1);
}

/* IKE sends EC points without the leading format byte (RFC 5903 section 7). */
static int share_bytes(const struct alg *kex, bool response) {
  int bytes = response ? kex->answer_bytes : kex->public_bytes;
  bool sec1_point = kex->kind == ALG_KEX && strncmp(kex->name, "secp", 4) == 0;
  return bytes - (sec1_point ? 1 : 0);
}

/* RFC 7427: length byte, AlgorithmIdentifier, signature. */
static int auth_bytes(const struct ikev2_config *config) {
  if (config->signature) return 1 + x509_algorithm_identifier_bytes(config->signature) + x509_signature_bytes(config->signature);
  return config->cipher == IKEV2_AES256GCM16_PRFSHA384 ? 48 : AUTH_PSK_BYTES;
}

static int payload_bytes(enum payload payload, const struct place *place) {
  const struct ikev2_config *config = place->config;
  switch (payload) {
  case SA_IKE:
    return ike_sa_bytes(config, 0);
  case SA_IKE_REKEY:
    return ike_sa_bytes(config, IKE_SPI);
  case KE:
    return PAYLOAD_HEADER + 4 + share_bytes(config->kex[place->round], place->response);
  case NONCE:
    return PAYLOAD_HEADER + NONCE_BYTES;
  case NAT_DETECTION:
    return NOTIFY + SHA1_BYTES;
  case N_SIGNATURE_HASHES:
    return NOTIFY + 2 * SIGNATURE_HASHES;
  /* The responder names the root and its intermediates, the initiator knows the root alone. */
  case CERTREQ:
    return PAYLOAD_HEADER + 1 + SHA1_BYTES * (place->response ? 1 + config->chain : 1);
  case IDENTITY:
    return PAYLOAD_HEADER + 4 + config->identity_bytes;
  case CERT_LEAF:
    return PAYLOAD_HEADER + 1 + x509_certificate_bytes(config->signature, X509_LEAF);
  case CERT_INTERMEDIATES:
    return config->chain * (PAYLOAD_HEADER + 1 + x509_certificate_bytes(config->signature, X509_INTERMEDIATE));
  case AUTH:
    return PAYLOAD_HEADER + 4 + auth_bytes(config);
  case SA_ESP:
    /* ENCR and ESN; AES has a key length attribute, ChaCha20-Poly1305 must not have one (RFC 7634 section 4). */
    return sa_bytes(ESP_SPI, 2, strncmp(ikev2_esp_titles[config->esp], "AES", 3) == 0);
  case TRAFFIC_SELECTOR:
    return PAYLOAD_HEADER + 4 + TRAFFIC_SELECTOR_V4;
  case N_ADDITIONAL_KE:
    return NOTIFY + ADDITIONAL_KE_LINK;
  case DELETE:
    return PAYLOAD_HEADER + 4;
  case N_FRAGMENTATION:
  case N_REDIRECT:
  case N_MULTIPLE_AUTH:
  case N_INTERMEDIATE:
  case N_CHILDLESS:
  case N_INITIAL_CONTACT:
  case N_EAP_ONLY:
  case N_MESSAGE_ID_SYNC:
  case N_TRANSPORT_MODE:
    return NOTIFY;
  }
  assert(false);
  return 0;
}

static int payloads_bytes(enum exchange exchange, const struct place *place) {
  const struct exchange_rules *rules = &exchanges[exchange];
  const struct payload_rule *rule = place->response ? rules->response : rules->request;
  int count = place->response ? rules->response_count : rules->request_count;
  unsigned facts = facts_of(place->config, place->round);
  int bytes = 0;
  for (int i = 0; i < count; i++)
    if ((facts & rule[i].when) == rule[i].when) bytes += payload_bytes(rule[i].payload, place);
  return bytes;
}

/* ---- Encryption and fragmentation ------------------------------------------------------------------------------ */

struct cipher_bytes {
  int iv, icv, block;
};
/* AES-CBC with HMAC-SHA2-256-128; AES-GCM with a 16-byte tag and explicit IV (RFC 5282). */
static const struct cipher_bytes ciphers[] = {[IKEV2_AES256_SHA256] = {16, 16, 16}, [IKEV2_AES256GCM16_PRFSHA384] = {8, 16, 1}};

enum {
  IP_AND_UDP = 20 + 8,
  SK_HEADER = PAYLOAD_HEADER,
  SKF_HEADER = PAYLOAD_HEADER + 4, /* fragment number and total (RFC 7383 section 2.5) */
  NON_ESP_MARKER = 4,              /* RFC 3948 section 2.2 */
};

/* Plaintext and its pad length byte, filled up to the block. */
static int encrypted_bytes(int plain, int header, const struct cipher_bytes *cipher) {
  int padded = (plain + 1 + cipher->block - 1) / cipher->block * cipher->block;
  return IKE_HEADER + header + cipher->iv + padded + cipher->icv;
}

/* Splits a message into datagrams. part_count may come out above HANDSHAKE_PARTS: ikev2_check_sizes refuses that. */
static void set_parts(struct handshake_message *message, const struct ikev2_config *config, enum exchange exchange, int plain) {
  int marker = config->nat_traversal && exchange != IKE_SA_INIT ? NON_ESP_MARKER : 0;
  message->part_count = 1;
  if (!exchanges[exchange].encrypted) {
    message->part_bytes[0] = IKE_HEADER + plain;
    return;
  }
  const struct cipher_bytes *cipher = &ciphers[config->cipher];
  int whole = encrypted_bytes(plain, SK_HEADER, cipher) + marker;
  message->part_bytes[0] = whole;
  if (config->fragment_bytes == 0 || whole + IP_AND_UDP <= config->fragment_bytes) return;
  int room = config->fragment_bytes - IP_AND_UDP - marker - encrypted_bytes(-1, SKF_HEADER, cipher);
  int most = room / cipher->block * cipher->block - 1;
  int parts = (plain + most - 1) / most;
  assert(most > 0);
  message->part_count = parts;
  for (int i = 0; i < parts && i < HANDSHAKE_PARTS; i++)
    message->part_bytes[i] = encrypted_bytes(i < parts - 1 ? most : plain - most * (parts - 1), SKF_HEADER, cipher) + marker;
}

/* ---- Work ------------------------------------------------------------------------------------------------------ */

/* Which draw an operation uses: its own, so that common random numbers survive another key exchange or authentication. */
enum slot { SLOT_MESSAGE, SLOT_FRAGMENTS, SLOT_SA, SLOT_KEYGEN, SLOT_EXCHANGE, SLOT_AUTH_REQUEST, SLOT_CERTIFICATE, SLOT_SIGN, SLOT_VERIFY, SLOT_CHILD };

static struct handshake_op *add(struct handshake_op *ops, int *count, enum slot slot, const char *algorithm, const char *operation) {
  assert(*count < HANDSHAKE_OPS);
  struct handshake_op *op = &ops[(*count)++];
  *op = (struct handshake_op){.algorithm = algorithm, .operation = operation, .times = 1, .draw = (int)slot, .optional = strcmp(algorithm, "software") == 0};
  return op;
}

static struct handshake_op *before(struct handshake_message *message, enum slot slot, const char *algorithm, const char *operation) {
  return add(message->before, &message->before_count, slot, algorithm, operation);
}

static struct handshake_op *after(struct handshake_message *message, enum slot slot, const char *algorithm, const char *operation) {
  return add(message->after, &message->after_count, slot, algorithm, operation);
}

/* A peer pays the whole operation: parsing the other's share included ("_full" rows). */
static void key_exchange_work(struct handshake_message *request, struct handshake_message *response, const struct alg *kex) {
  before(request, SLOT_KEYGEN, kex->title, "keygen");
  if (kex->kind == ALG_KEM) {
    before(response, SLOT_EXCHANGE, kex->title, "encaps_full");
    after(response, SLOT_EXCHANGE, kex->title, "decaps_full");
    return;
  }
  before(response, SLOT_KEYGEN, kex->title, "keygen");
  before(response, SLOT_EXCHANGE, kex->title, "derive_full");
  after(response, SLOT_EXCHANGE, kex->title, "derive_full");
}

/* Signing, and checking what the peer signed: its AUTH payload and each certificate up to the root. */
static void certificate_work(struct handshake_message *request, struct handshake_message *response, const struct ikev2_config *config) {
  struct handshake_message *const messages[2] = {request, response};
  for (int i = 0; i < 2; i++) {
    before(messages[i], SLOT_CERTIFICATE, "software", "certificate_auth");
    before(messages[i], SLOT_SIGN, config->signature->title, "sign");
    after(messages[i], SLOT_VERIFY, config->signature->title, "verify")->times = 2 + config->chain;
  }
}

static void authentication_work(struct handshake_message *request, struct handshake_message *response, const struct ikev2_config *config) {
  before(request, SLOT_AUTH_REQUEST, "software", "ike_auth_request");
  if (config->signature) certificate_work(request, response, config);
}

static void child_work(struct handshake_message *response) {
  before(response, SLOT_CHILD, "software", "child_sa");
  after(response, SLOT_CHILD, "software", "child_sa");
}

static void exchange_work(
    enum exchange exchange, struct handshake_message *request, struct handshake_message *response, const struct ikev2_config *config, int round) {
  switch (exchange) {
  case IKE_SA_INIT:
  case REKEY_IKE:
    key_exchange_work(request, response, config->kex[round]);
    before(response, SLOT_SA, "software", "ike_sa");
    after(response, SLOT_SA, "software", "ike_sa");
    break;
  case IKE_INTERMEDIATE:
  case IKE_FOLLOWUP_KE:
    key_exchange_work(request, response, config->kex[round]);
    break;
  case IKE_AUTH:
    authentication_work(request, response, config);
    if (!config->childless) child_work(response);
    break;
  case NEW_CHILD:
    child_work(response);
    break;
  case INFORMATIONAL:
  case EXCHANGE_COUNT:
    break;
  }
}

/* Each message costs its receiver's daemon something, by its size. */
static void message_work(struct handshake_message *message) {
  int64_t bytes = 0;
  for (int i = 0; i < message->part_count && i < HANDSHAKE_PARTS; i++) bytes += message->part_bytes[i];
  after(message, SLOT_MESSAGE, "software", "ike_message")->size_bytes = bytes;
}

/* And each datagram beyond the first again. */
static void fragment_work(struct handshake_message *message) {
  if (message->part_count > 1) after(message, SLOT_FRAGMENTS, "software", "ike_fragment")->times = message->part_count - 1;
}

static bool is_round(enum exchange exchange) { return exchange == IKE_INTERMEDIATE || exchange == IKE_FOLLOWUP_KE; }

static void add_exchange(struct handshake_table *table, const struct ikev2_config *config, enum exchange exchange, int round) {
  struct handshake_message *pair = &table->messages[table->count];
  table->count += 2;
  for (int response = 0; response < 2; response++) {
    struct place place = {.config = config, .response = response, .round = round};
    pair[response].name = exchanges[exchange].name;
    pair[response].number = exchanges[exchange].number + 2 * (uint32_t)(is_round(exchange) ? round - 1 : 0) + (uint32_t)response;
    set_parts(&pair[response], config, exchange, payloads_bytes(exchange, &place));
    message_work(&pair[response]);
  }
  exchange_work(exchange, &pair[0], &pair[1], config, round);
  fragment_work(&pair[0]);
  fragment_work(&pair[1]);
}

static void table_new(struct handshake_table *table, int exchange_count) {
  table->count = 0;
  table->messages = calloc((size_t)exchange_count * 2, sizeof *table->messages);
  if (!table->messages) abort();
}

void ikev2_establishment(const struct ikev2_config *config, struct handshake_table *out) {
  assert(config->kex_count > 0);
  table_new(out, config->kex_count + 2);
  add_exchange(out, config, IKE_SA_INIT, 0);
  for (int round = 1; round < config->kex_count; round++) add_exchange(out, config, IKE_INTERMEDIATE, round);
  add_exchange(out, config, IKE_AUTH, config->kex_count - 1);
  if (config->childless) add_exchange(out, config, NEW_CHILD, 0);
}

int ikev2_auth_response(const struct handshake_table *establishment) {
  int i = establishment->count - 1;
  while (strcmp(establishment->messages[i].name, exchanges[IKE_AUTH].name) != 0) i--;
  return i;
}

void ikev2_rekey(const struct ikev2_config *config, struct handshake_table *out) {
  assert(config->kex_count > 0);
  table_new(out, config->kex_count + 1);
  add_exchange(out, config, REKEY_IKE, 0);
  for (int round = 1; round < config->kex_count; round++) add_exchange(out, config, IKE_FOLLOWUP_KE, round);
  add_exchange(out, config, INFORMATIONAL, config->kex_count - 1);
}

int ikev2_check_sizes(const struct handshake_table *table, struct err *e) {
  enum { UDP_PAYLOAD_MAX = 65535 - IP_AND_UDP };
  for (int i = 0; i < table->count; i++) {
    const struct handshake_message *message = &table->messages[i];
    if (message->part_count > HANDSHAKE_PARTS)
      return err_add(e, ERR_INPUT, "ipsec.fragment_size: cuts %s into %d fragments, at most %d are modelled: allowed a larger size or 0 (off)", message->name,
          message->part_count, HANDSHAKE_PARTS);
    if (message->part_bytes[0] > UDP_PAYLOAD_MAX)
      return err_add(e, ERR_INPUT, "ipsec.fragment_size: without IKE fragmentation %s has %d bytes, UDP carries at most %d", message->name,
          message->part_bytes[0], UDP_PAYLOAD_MAX);
  }
  return 0;
}
