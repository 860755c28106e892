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
  COOKIE_BYTES = 4 + SHA1_BYTES, /* strongSwan's: the time and a hash; RFC 7296 section 2.6 allows 1 to 64 */
  KEX_METHOD = 2,                /* the wanted one, in N(INVALID_KE_PAYLOAD) */
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
  SA_ESP_KEX,
  TRAFFIC_SELECTOR,
  N_INITIAL_CONTACT,
  N_EAP_ONLY,
  N_MESSAGE_ID_SYNC,
  N_ADDITIONAL_KE,
  N_TRANSPORT_MODE,
  N_INVALID_KE,
  N_NO_PROPOSAL,
  N_REKEY_SA,
  DELETE_IKE,
  DELETE_ESP
};

/* When a payload is there. All bits of `when` must hold. */
enum fact {
  ALWAYS = 0,
  FRAGMENTING = 1 << 0,
  CERTIFICATES = 1 << 1,
  ADDITIONAL_KES = 1 << 2,  /* in the proposal chosen, */
  OFFERS_MORE_KES = 1 << 3, /* in any that the initiator offers */
  WITH_CHILD = 1 << 4,
  CHILDLESS = 1 << 5,
  FIRST_KE = 1 << 6,    /* there is a key exchange at all */
  MORE_ROUNDS = 1 << 7, /* another one comes after this exchange */
  TRANSPORT_MODE = 1 << 8,
  /* What the responder says to IKE_SA_INIT. */
  AGREED = 1 << 9,
  WRONG_SHARE = 1 << 10,
  REFUSED = 1 << 11,
};

/* CREATE_CHILD_SA comes as three: a first CHILD_SA after a childless IKE_AUTH, a new IKE SA, and a new CHILD_SA. */
enum exchange {
  IKE_SA_INIT,
  IKE_INTERMEDIATE,
  IKE_AUTH,
  NEW_CHILD,
  REKEY_IKE,
  IKE_FOLLOWUP,
  REKEY_CHILD,
  CHILD_FOLLOWUP,
  CLOSE_IKE,
  CLOSE_CHILD,
  ASK_PEER,
  EXCHANGE_COUNT
};

struct payload_rule {
  enum payload payload;
  unsigned when;
};

enum { RULES_MAX = 16 };

struct exchange_rules {
  const char *name;
  uint32_t number; /* of its request, for draws; further key exchanges go on by twos from the first */
  bool encrypted;
  struct payload_rule request[RULES_MAX], response[RULES_MAX];
  int request_count, response_count;
};

/* An IKE_SA_INIT that leads to nothing is numbered apart, so that the one that does draws as ever. */
enum { TURNED_AWAY_NUMBER = 160 };

/* What strongSwan 6.1 puts into each message, in its order. */
static const struct exchange_rules exchanges[EXCHANGE_COUNT] = {
    [IKE_SA_INIT] = {"IKE_SA_INIT", 0, false,
        {{SA_IKE, ALWAYS}, {KE, ALWAYS}, {NONCE, ALWAYS}, {NAT_DETECTION, ALWAYS}, {NAT_DETECTION, ALWAYS}, {N_FRAGMENTATION, FRAGMENTING},
            {N_SIGNATURE_HASHES, ALWAYS}, {N_REDIRECT, ALWAYS}, {N_INTERMEDIATE, OFFERS_MORE_KES}},
        {{SA_IKE, AGREED}, {KE, AGREED}, {NONCE, AGREED}, {NAT_DETECTION, AGREED}, {NAT_DETECTION, AGREED}, {CERTREQ, AGREED | CERTIFICATES},
            {N_FRAGMENTATION, AGREED | FRAGMENTING}, {N_SIGNATURE_HASHES, AGREED}, {N_CHILDLESS, AGREED | CHILDLESS}, {N_MULTIPLE_AUTH, AGREED},
            {N_INTERMEDIATE, AGREED | ADDITIONAL_KES}, {N_INVALID_KE, WRONG_SHARE}, {N_NO_PROPOSAL, REFUSED}},
        9, 13},
    [IKE_INTERMEDIATE] = {"IKE_INTERMEDIATE", 0, true, {{KE, ALWAYS}}, {{KE, ALWAYS}}, 1, 1},
    [IKE_AUTH] = {"IKE_AUTH", 32, true,
        {{IDENTITY, ALWAYS}, {CERT_LEAF, CERTIFICATES}, {N_INITIAL_CONTACT, ALWAYS}, {CERTREQ, CERTIFICATES}, {IDENTITY, ALWAYS}, {AUTH, ALWAYS},
            {SA_ESP, WITH_CHILD}, {TRAFFIC_SELECTOR, WITH_CHILD}, {TRAFFIC_SELECTOR, WITH_CHILD}, {N_MULTIPLE_AUTH, ALWAYS}, {N_EAP_ONLY, CERTIFICATES},
            {N_MESSAGE_ID_SYNC, ALWAYS}, {N_TRANSPORT_MODE, WITH_CHILD | TRANSPORT_MODE}},
        {{IDENTITY, ALWAYS}, {CERT_LEAF, CERTIFICATES}, {CERT_INTERMEDIATES, CERTIFICATES}, {AUTH, ALWAYS}, {SA_ESP, WITH_CHILD},
            {TRAFFIC_SELECTOR, WITH_CHILD}, {TRAFFIC_SELECTOR, WITH_CHILD}, {N_TRANSPORT_MODE, WITH_CHILD | TRANSPORT_MODE}},
        13, 8},
    [NEW_CHILD] = {"CREATE_CHILD_SA", 98, true,
        {{SA_ESP_KEX, ALWAYS}, {NONCE, ALWAYS}, {KE, FIRST_KE}, {TRAFFIC_SELECTOR, ALWAYS}, {TRAFFIC_SELECTOR, ALWAYS}, {N_TRANSPORT_MODE, TRANSPORT_MODE}},
        {{SA_ESP_KEX, ALWAYS}, {NONCE, ALWAYS}, {KE, FIRST_KE}, {TRAFFIC_SELECTOR, ALWAYS}, {TRAFFIC_SELECTOR, ALWAYS}, {N_TRANSPORT_MODE, TRANSPORT_MODE},
            {N_ADDITIONAL_KE, MORE_ROUNDS}},
        6, 7},
    [REKEY_IKE] = {"CREATE_CHILD_SA", 64, true, {{SA_IKE_REKEY, ALWAYS}, {NONCE, ALWAYS}, {KE, ALWAYS}},
        {{SA_IKE_REKEY, ALWAYS}, {NONCE, ALWAYS}, {KE, ALWAYS}, {N_ADDITIONAL_KE, MORE_ROUNDS}}, 3, 4},
    [IKE_FOLLOWUP] = {"IKE_FOLLOWUP_KE", 0, true, {{KE, ALWAYS}, {N_ADDITIONAL_KE, ALWAYS}}, {{KE, ALWAYS}, {N_ADDITIONAL_KE, MORE_ROUNDS}}, 2, 2},
    [REKEY_CHILD] = {"CREATE_CHILD_SA", 128, true,
        {{N_REKEY_SA, ALWAYS}, {SA_ESP_KEX, ALWAYS}, {NONCE, ALWAYS}, {KE, FIRST_KE}, {TRAFFIC_SELECTOR, ALWAYS}, {TRAFFIC_SELECTOR, ALWAYS},
            {N_TRANSPORT_MODE, TRANSPORT_MODE}},
        {{SA_ESP_KEX, ALWAYS}, {NONCE, ALWAYS}, {KE, FIRST_KE}, {TRAFFIC_SELECTOR, ALWAYS}, {TRAFFIC_SELECTOR, ALWAYS}, {N_TRANSPORT_MODE, TRANSPORT_MODE},
            {N_ADDITIONAL_KE, MORE_ROUNDS}},
        7, 7},
    [CHILD_FOLLOWUP] = {"IKE_FOLLOWUP_KE", 0, true, {{KE, ALWAYS}, {N_ADDITIONAL_KE, ALWAYS}}, {{KE, ALWAYS}, {N_ADDITIONAL_KE, MORE_ROUNDS}}, 2, 2},
    [CLOSE_IKE] = {"INFORMATIONAL", 96, true, {{DELETE_IKE, ALWAYS}}, {{DELETE_IKE, ALWAYS}}, 1, 0},
    [CLOSE_CHILD] = {"INFORMATIONAL", 162, true, {{DELETE_ESP, ALWAYS}}, {{DELETE_ESP, ALWAYS}}, 1, 1},
    [ASK_PEER] = {.name = "INFORMATIONAL", .number = 164, .encrypted = true},
};

/* One exchange of a table: which key exchange of which proposal it does, if it does one. */
struct step {
  enum exchange exchange;
  uint32_t number;
  const struct alg *const *kex;
  int kex_count, round;
  unsigned outcome; /* of IKE_SA_INIT */
};

/* Where in the protocol a payload stands. */
struct place {
  const struct ikev2_config *config;
  const struct step *step;
  bool response;
};

static bool more_rounds(const struct step *step) { return step->round + 1 < step->kex_count; }

static bool offers_additional(const struct ikev2_config *config) {
  for (int i = 0; i < config->offered_count; i++)
    if (config->offered[i].kex_count > 1) return true;
  return false;
}

static unsigned facts_of(const struct place *place) {
  const struct ikev2_config *config = place->config;
  const struct {
    bool holds;
    enum fact fact;
  } facts[] = {
      {config->fragment_bytes > 0, FRAGMENTING},
      {config->signature != NULL, CERTIFICATES},
      {config->kex_count > 1, ADDITIONAL_KES},
      {offers_additional(config), OFFERS_MORE_KES},
      {!config->childless, WITH_CHILD},
      {config->childless, CHILDLESS},
      {place->step->kex_count > 0, FIRST_KE},
      {more_rounds(place->step), MORE_ROUNDS},
      {config->transport_mode, TRANSPORT_MODE},
  };
  unsigned all = place->step->outcome;
  for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
    if (facts[i].holds) all |= facts[i].fact;
  return all;
}

/* Header, SPI, then 8 bytes per transform and 4 more for a key length attribute (RFC 7296 section 3.3). */
static int proposal_bytes(int spi, int transforms, int key_lengths) { return 8 + spi + 8 * transforms + 4 * key_lengths; }

/* AES-CBC needs an integrity transform (ENCR, INTEG, PRF, KE), AES-GCM does not; one more per additional exchange. */
static int ike_proposal_bytes(const struct ikev2_config *config, int spi, int kex_count) {
  int base = config->cipher == IKEV2_AES256_SHA256 ? 4 : 3;
  return proposal_bytes(spi, base + kex_count - 1, 1);
}

/* The initiator always sends all its proposals, the responder the one it has chosen. */
static int ike_sa_bytes(const struct place *place, int spi) {
  const struct ikev2_config *config = place->config;
  if (place->response) return PAYLOAD_HEADER + ike_proposal_bytes(config, spi, config->kex_count);
  int bytes = PAYLOAD_HEADER;
  for (int i = 0; i < config->offered_count; i++) bytes += ike_proposal_bytes(config, spi, config->offered[i].kex_count);
  return bytes;
}

/* ENCR, ESN and the key exchanges; AES has a key length attribute, ChaCha20-Poly1305 must not have one (RFC 7634 section 4). */
static int esp_sa_bytes(const struct ikev2_config *config, int kex_count) {
  return PAYLOAD_HEADER + proposal_bytes(ESP_SPI, 2 + kex_count, strncmp(ikev2_esp_titles[config->esp], "AES", 3) == 0);
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
    return ike_sa_bytes(place, 0);
  case SA_IKE_REKEY:
    return ike_sa_bytes(place, IKE_SPI);
  case KE:
    return PAYLOAD_HEADER + 4 + share_bytes(place->step->kex[place->step->round], place->response);
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
    return esp_sa_bytes(config, 0);
  case SA_ESP_KEX:
    return esp_sa_bytes(config, place->step->kex_count);
  case TRAFFIC_SELECTOR:
    return PAYLOAD_HEADER + 4 + TRAFFIC_SELECTOR_V4;
  case N_ADDITIONAL_KE:
    return NOTIFY + ADDITIONAL_KE_LINK;
  case N_INVALID_KE:
    return NOTIFY + KEX_METHOD;
  case N_REKEY_SA:
    return NOTIFY + ESP_SPI;
  /* Protocol, SPI size, number of SPIs; an IKE SA needs none (RFC 7296 section 3.11). */
  case DELETE_IKE:
    return PAYLOAD_HEADER + 4;
  case DELETE_ESP:
    return PAYLOAD_HEADER + 4 + ESP_SPI;
  case N_FRAGMENTATION:
  case N_REDIRECT:
  case N_MULTIPLE_AUTH:
  case N_INTERMEDIATE:
  case N_CHILDLESS:
  case N_INITIAL_CONTACT:
  case N_EAP_ONLY:
  case N_MESSAGE_ID_SYNC:
  case N_TRANSPORT_MODE:
  case N_NO_PROPOSAL:
    return NOTIFY;
  }
  assert(false);
  return 0;
}

static int payloads_bytes(const struct place *place) {
  const struct exchange_rules *rules = &exchanges[place->step->exchange];
  const struct payload_rule *rule = place->response ? rules->response : rules->request;
  int count = place->response ? rules->response_count : rules->request_count;
  unsigned facts = facts_of(place);
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
  bool encrypted = exchanges[exchange].encrypted;
  int marker = config->nat_traversal && encrypted ? NON_ESP_MARKER : 0;
  message->part_count = 1;
  if (!encrypted) {
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
    before(messages[i], SLOT_SIGN, config->signature->title, "sign")->hsm = true;
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

static void exchange_work(const struct step *step, struct handshake_message *request, struct handshake_message *response, const struct ikev2_config *config) {
  switch (step->exchange) {
  case IKE_SA_INIT:
  case REKEY_IKE:
    key_exchange_work(request, response, step->kex[step->round]);
    before(response, SLOT_SA, "software", "ike_sa");
    after(response, SLOT_SA, "software", "ike_sa");
    break;
  case IKE_INTERMEDIATE:
  case IKE_FOLLOWUP:
    key_exchange_work(request, response, step->kex[step->round]);
    break;
  case IKE_AUTH:
    authentication_work(request, response, config);
    if (!config->childless) child_work(response);
    break;
  case NEW_CHILD:
  case REKEY_CHILD:
  case CHILD_FOLLOWUP:
    if (step->kex_count > 0) key_exchange_work(request, response, step->kex[step->round]);
    if (!more_rounds(step)) child_work(response);
    break;
  case CLOSE_IKE:
  case CLOSE_CHILD:
  case ASK_PEER:
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

/* ---- Tables ---------------------------------------------------------------------------------------------------- */

static void add_step(struct handshake_table *table, const struct ikev2_config *config, const struct step *step) {
  struct handshake_message *pair = &table->messages[table->count];
  table->count += 2;
  for (int response = 0; response < 2; response++) {
    struct place place = {.config = config, .step = step, .response = response};
    pair[response].name = exchanges[step->exchange].name;
    pair[response].number = step->number + (uint32_t)response;
    set_parts(&pair[response], config, step->exchange, payloads_bytes(&place));
    message_work(&pair[response]);
  }
  if (step->outcome == WRONG_SHARE || step->outcome == REFUSED)
    before(&pair[0], SLOT_KEYGEN, step->kex[0]->title, "keygen");
  else
    exchange_work(step, &pair[0], &pair[1], config);
  fragment_work(&pair[0]);
  fragment_work(&pair[1]);
}

static void add_exchange(struct handshake_table *table, const struct ikev2_config *config, enum exchange exchange) {
  struct step step = {.exchange = exchange, .number = exchanges[exchange].number};
  add_step(table, config, &step);
}

/* An exchange with the first key exchange of a proposal, and one for each further. */
static void add_rounds(
    struct handshake_table *table, const struct ikev2_config *config, enum exchange first, enum exchange further, const struct alg *const *kex, int kex_count) {
  struct step step = {.exchange = first, .kex = kex, .kex_count = kex_count, .outcome = AGREED};
  do {
    step.number = exchanges[first].number + 2 * (uint32_t)step.round;
    add_step(table, config, &step);
    step.exchange = further;
  } while (++step.round < kex_count);
}

static void add_child(struct handshake_table *table, const struct ikev2_config *config, enum exchange exchange) {
  add_rounds(table, config, exchange, CHILD_FOLLOWUP, config->child.kex, config->child.kex_count);
}

/* IKE_SA_INIT whose share, the first of the first proposal, is of no use. */
static void add_turned_away(struct handshake_table *table, const struct ikev2_config *config, enum fact outcome) {
  struct step step = {.exchange = IKE_SA_INIT, .number = TURNED_AWAY_NUMBER, .kex = config->offered[0].kex, .kex_count = 1, .outcome = outcome};
  add_step(table, config, &step);
}

/* Longest: an establishment with a share of no use, all key exchanges, IKE_AUTH, and a CHILD_SA with all of its own. */
enum { EXCHANGES_MAX = 1 + IKEV2_KEX_MAX + 1 + IKEV2_KEX_MAX };

static void table_new(struct handshake_table *table) {
  *table = (struct handshake_table){.opens = -1};
  table->messages = calloc((size_t)EXCHANGES_MAX * 2, sizeof *table->messages);
  if (!table->messages) abort();
}

void ikev2_establishment(const struct ikev2_config *config, struct handshake_table *out) {
  assert(config->kex_count > 0);
  table_new(out);
  out->challenge_bytes = NOTIFY + COOKIE_BYTES;
  out->challenge_reply_bytes = IKE_HEADER + NOTIFY + COOKIE_BYTES;
  if (config->refused) {
    add_turned_away(out, config, REFUSED);
    out->opens = out->count;
    return;
  }
  if (config->offered[0].kex[0] != config->kex[0]) add_turned_away(out, config, WRONG_SHARE);
  out->opens = out->count;
  add_rounds(out, config, IKE_SA_INIT, IKE_INTERMEDIATE, config->kex, config->kex_count);
  add_exchange(out, config, IKE_AUTH);
  if (config->childless) add_child(out, config, NEW_CHILD);
}

int ikev2_auth_response(const struct handshake_table *establishment) {
  int i = establishment->count - 1;
  while (strcmp(establishment->messages[i].name, exchanges[IKE_AUTH].name) != 0) i--;
  return i;
}

void ikev2_rekey(const struct ikev2_config *config, struct handshake_table *out) {
  assert(config->kex_count > 0);
  table_new(out);
  add_rounds(out, config, REKEY_IKE, IKE_FOLLOWUP, config->kex, config->kex_count);
  add_exchange(out, config, CLOSE_IKE);
}

void ikev2_rekey_child(const struct ikev2_config *config, struct handshake_table *out) {
  table_new(out);
  add_child(out, config, REKEY_CHILD);
  add_exchange(out, config, CLOSE_CHILD);
}

void ikev2_dpd(const struct ikev2_config *config, struct handshake_table *out) {
  table_new(out);
  add_exchange(out, config, ASK_PEER);
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
