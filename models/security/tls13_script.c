/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who does what in which order: the handshake and the data after it as scripts. */
#include "models/security/tls13.h"

#include <assert.h>
#include <string.h>

enum { RECORD_HEADER = 5, RECORD_OVERHEAD = RECORD_HEADER + 1 + 16, RECORD_MOST = 16384, CHANGE_CIPHER_SPEC = 6 };

/* What an operation is of, for its draw: the same in every configuration. */
enum subject {
  OF_HELLO,
  OF_RETRY,
  OF_SECOND_HELLO,
  OF_SERVER_HELLO,
  OF_EXTENSIONS,
  OF_REQUEST,
  OF_CERTIFICATE,
  OF_VERIFY,
  OF_FINISHED,
  OF_CLIENT_CERTIFICATE,
  OF_CLIENT_VERIFY,
  OF_CLIENT_FINISHED,
  OF_TICKET,
  OF_KEX,
  OF_SCHEDULE,
  OF_DATA,
};
enum { DRAWS_EACH = 16 };

int64_t tls13_records_bytes(int64_t message) { return message + (message + RECORD_MOST - 1) / RECORD_MOST * RECORD_OVERHEAD; }

/* One side's script while it is being written: what its implementation holds in its buffer, and what the other side has yet to read. */
struct writer {
  const struct tls13_config *config;
  const struct cost_platform *platform;
  struct dialogue_script *script;
  int64_t buffered;
};

static void step(struct writer *writer, const struct dialogue_step *next) {
  assert(writer->script->count < DIALOGUE_STEPS);
  writer->script->steps[writer->script->count++] = *next;
}

static void mark(struct writer *writer, enum tls13_mark which) { step(writer, &(struct dialogue_step){.kind = DIALOGUE_MARK, .mark = (int)which}); }

static void wait_for(struct writer *writer, int64_t bytes) {
  if (bytes > 0) step(writer, &(struct dialogue_step){.kind = DIALOGUE_READ, .bytes = bytes});
}

static void send(struct writer *writer, int64_t bytes) { step(writer, &(struct dialogue_step){.kind = DIALOGUE_WRITE, .bytes = bytes}); }

/* ---- hybrids --------------------------------------------------------------------------------------------------- */

/* Hybrids and their parts, first those of the standards; of the others the name tells. */
static const char *const parts_of_hybrids[][3] = {
    {"x25519mlkem768", "x25519", "mlkem768"},
    {"secp256r1mlkem768", "secp256r1", "mlkem768"},
    {"secp384r1mlkem1024", "secp384r1", "mlkem1024"},
    {"x25519kyber768", "x25519", "kyber768"},
};

static const char *const prefixes[][2] = {
    {"p256_", "secp256r1"},
    {"p384_", "secp384r1"},
    {"p521_", "secp521r1"},
};
static const char *const signature_prefixes[][2] = {
    {"p256_", "ecdsa-p256"},
    {"p384_", "ecdsa-p384"},
    {"rsa3072_", "rsa-3072"},
};

static bool split_name(const char *name, const char *const table[][2], size_t count, unsigned kinds, const struct alg *parts[2]) {
  for (size_t i = 0; i < count; i++) {
    size_t length = strlen(table[i][0]);
    if (strncmp(name, table[i][0], length) != 0) continue;
    parts[0] = alg_find(table[i][1], kinds);
    parts[1] = alg_find(name + length, kinds);
    return parts[0] && parts[1];
  }
  return false;
}

/* The parts of a hybrid that the platform does not know as a whole. */
static bool split(const struct cost_platform *platform, const struct alg *hybrid, const struct alg *parts[2]) {
  enum { KINDS = 1 << ALG_KEX | 1 << ALG_KEM };
  if (cost_find(platform, hybrid->title, "keygen") || cost_find(platform, hybrid->title, "sign")) return false;
  for (size_t i = 0; i < sizeof parts_of_hybrids / sizeof *parts_of_hybrids; i++)
    if (strcmp(hybrid->name, parts_of_hybrids[i][0]) == 0) {
      for (int part = 0; part < 2; part++) parts[part] = alg_find(parts_of_hybrids[i][1 + part], KINDS);
      return true;
    }
  if (hybrid->kind == ALG_HYBRID) return split_name(hybrid->name, prefixes, sizeof prefixes / sizeof *prefixes, KINDS, parts);
  return split_name(hybrid->name, signature_prefixes, sizeof signature_prefixes / sizeof *signature_prefixes, 1 << ALG_SIGNATURE, parts);
}

/* ---- work ------------------------------------------------------------------------------------------------------ */

static void work(struct writer *writer, enum tls13_use use, const char *algorithm, const char *operation, int64_t bytes, int times, int draw) {
  const struct dialogue_op op = {.algorithm = algorithm, .operation = operation, .size_bytes = bytes, .times = times, .draw = (uint32_t)draw, .use = use};
  step(writer, &(struct dialogue_step){.kind = DIALOGUE_WORK, .op = op});
}

/* What a platform may leave out: daemon, kernel, testbed, and the small change of symmetric cryptography. */
static void optional(struct writer *writer, enum tls13_use use, const char *algorithm, const char *operation, int64_t bytes, int times, int draw) {
  work(writer, use, algorithm, operation, bytes, times, draw);
  writer->script->steps[writer->script->count - 1].op.optional = true;
}

static void software(struct writer *writer, const char *operation, enum subject subject) {
  optional(writer, TLS13_SOFTWARE, "software", operation, 0, 1, subject * DRAWS_EACH);
}

/* A message is made or read: the state machine's share, and the transcript hash. */
static void handle(struct writer *writer, enum subject subject, int64_t message) {
  software(writer, "tls_message", subject);
  optional(writer, TLS13_SYMMETRIC, writer->config->cipher->hash, "hash", message, 1, subject * DRAWS_EACH + 1);
}

static void protect(struct writer *writer, const char *operation, enum subject subject, int64_t plain) {
  const char *aead = writer->config->cipher->aead;
  int whole = (int)(plain / RECORD_MOST);
  if (whole > 0) optional(writer, TLS13_SYMMETRIC, aead, operation, RECORD_MOST, whole, subject * DRAWS_EACH + 2);
  if (plain % RECORD_MOST > 0) optional(writer, TLS13_SYMMETRIC, aead, operation, plain % RECORD_MOST, 1, subject * DRAWS_EACH + 3);
}

/* RFC 8446 section 7.1: secrets, keys, IVs and finished keys of the handshake; then those of the application data. */
static void schedule(struct writer *writer, bool application) {
  enum { EXTRACTS = 2, EXPANDS = 9, APPLICATION_EXTRACTS = 1, APPLICATION_EXPANDS = 8 };
  const char *hkdf = writer->config->cipher->hkdf;
  int draw = OF_SCHEDULE * DRAWS_EACH + 2 * application;
  optional(writer, TLS13_SYMMETRIC, hkdf, "extract", 0, application ? APPLICATION_EXTRACTS : EXTRACTS, draw);
  optional(writer, TLS13_SYMMETRIC, hkdf, "expand", 0, application ? APPLICATION_EXPANDS : EXPANDS, draw + 1);
}

static void signature_part(struct writer *writer, const struct alg *alg, enum tls13_use use, const char *operation, int draw) {
  work(writer, use, alg->title, operation, 0, 1, draw);
  /* Schemes that hash first fetch a digest by name each time. */
  bool hashes = strncmp(alg->name, "rsa-", 4) == 0 || strncmp(alg->name, "ecdsa-", 6) == 0;
  if (hashes) optional(writer, TLS13_SOFTWARE, "software", "tls_digest", 0, 1, draw + 1);
}

static void signature(struct writer *writer, const struct alg *alg, enum tls13_use use, const char *operation, int draw) {
  const struct alg *parts[2];
  if (!split(writer->platform, alg, parts)) {
    signature_part(writer, alg, use, operation, draw);
    return;
  }
  for (int part = 0; part < 2; part++) signature_part(writer, parts[part], use, operation, draw + 16 * part);
}

static void verify_chain(struct writer *writer, enum subject subject) {
  const struct tls13_config *config = writer->config;
  for (int i = 0; i < config->chain_count; i++) {
    const struct alg *issuer = config->chain[i + 1 < config->chain_count ? i + 1 : i];
    signature(writer, issuer, TLS13_CERT_VERIFY, "verify", subject * DRAWS_EACH + 4 + 2 * i);
  }
}

static void sign(struct writer *writer, enum subject subject) { signature(writer, writer->config->chain[0], TLS13_SIGN, "sign", subject * DRAWS_EACH + 4); }

static void verify(struct writer *writer, enum subject subject) {
  signature(writer, writer->config->chain[0], TLS13_CERT_VERIFY, "verify", subject * DRAWS_EACH + 4);
}

/* ---- key exchange ---------------------------------------------------------------------------------------------- */

enum kex_step { KEX_KEYGEN, KEX_ANSWER, KEX_FINISH };

static void exchange_part(struct writer *writer, const struct alg *kex, enum kex_step which, int draw) {
  bool diffie_hellman = kex->kind == ALG_KEX;
  if (which == KEX_KEYGEN || (which == KEX_ANSWER && diffie_hellman)) work(writer, TLS13_KEX, kex->title, "keygen", 0, 1, draw);
  if (which == KEX_KEYGEN) return;
  /* A peer pays the whole operation: parsing the other's share included. */
  const char *operation = diffie_hellman ? "derive_full" : which == KEX_ANSWER ? "encaps_full" : "decaps_full";
  work(writer, TLS13_KEX, kex->title, operation, 0, 1, draw + 1);
}

static void exchange_keys(struct writer *writer, const struct alg *kex, enum kex_step which, int draw) {
  const struct alg *parts[2];
  draw += OF_KEX * DRAWS_EACH;
  if (kex->kind != ALG_HYBRID || !split(writer->platform, kex, parts)) {
    exchange_part(writer, kex, which, draw);
    return;
  }
  for (int part = 0; part < 2; part++) exchange_part(writer, parts[part], which, draw + 2 * part);
}

/* ---- records --------------------------------------------------------------------------------------------------- */

/* A record reaches the implementation's buffer. Returns nothing: what overflows has gone out. */
static void record(struct writer *writer, int64_t bytes) {
  const int64_t size = writer->config->stack->buffer_bytes;
  writer->buffered += bytes;
  if (size == 0 || writer->buffered <= size) return;
  if (writer->buffered > bytes) { /* what was there before fills it first */
    send(writer, size);
    writer->buffered -= size;
  }
  if (writer->buffered >= size) {
    send(writer, writer->buffered);
    writer->buffered = 0;
  }
}

static void flush(struct writer *writer) {
  if (writer->buffered > 0) send(writer, writer->buffered);
  writer->buffered = 0;
}

static void put(struct writer *writer, enum subject subject, int64_t message) {
  handle(writer, subject, message);
  protect(writer, "seal", subject, message);
  for (int64_t left = message; left > 0; left -= RECORD_MOST) record(writer, (left < RECORD_MOST ? left : RECORD_MOST) + RECORD_OVERHEAD);
}

static void get(struct writer *writer, enum subject subject, int64_t message) {
  wait_for(writer, tls13_records_bytes(message));
  protect(writer, "open", subject, message);
  handle(writer, subject, message);
}

static int64_t plain_records(const struct tls13_config *config, int64_t message) {
  int64_t each = config->hello_record_bytes > 0 ? config->hello_record_bytes : RECORD_MOST;
  return message + (message + each - 1) / each * RECORD_HEADER;
}

int tls13_first_record_bytes(const struct tls13_config *config) {
  struct tls13_messages messages;
  tls13_messages(config, &messages);
  int cut = config->hello_record_bytes;
  return RECORD_HEADER + (cut > 0 && cut < messages.client_hello ? cut : messages.client_hello);
}

int64_t tls13_hello_bytes(const struct tls13_config *config) {
  struct tls13_messages messages;
  tls13_messages(config, &messages);
  return plain_records(config, messages.client_hello);
}

int64_t tls13_client_flight_bytes(const struct tls13_config *config) {
  struct tls13_messages messages;
  tls13_messages(config, &messages);
  int64_t bytes = tls13_records_bytes(messages.finished) + (messages.retry == 0 ? CHANGE_CIPHER_SPEC : 0);
  if (messages.client_certificate > 0) bytes += tls13_records_bytes(messages.client_certificate) + tls13_records_bytes(messages.client_certificate_verify);
  return bytes;
}

/* ---- the handshake --------------------------------------------------------------------------------------------- */

struct parties {
  const struct tls13_config *config;
  struct tls13_messages messages;
  struct writer client, server;
};

static void hellos(struct parties *p) {
  const struct tls13_config *config = p->config;
  mark(&p->client, TLS13_OPEN);
  if (config->start > 0) step(&p->client, &(struct dialogue_step){.kind = DIALOGUE_PAUSE, .wait = config->start});
  software(&p->client, "tls_client", OF_HELLO);
  if (config->resume != TLS13_PSK_KE)
    for (int i = 0; i < config->share_count; i++) exchange_keys(&p->client, config->shares[i], KEX_KEYGEN, 4 * (i > 0 ? 1 : 0));
  handle(&p->client, OF_HELLO, p->messages.client_hello);
  send(&p->client, plain_records(config, p->messages.client_hello));
  mark(&p->client, TLS13_HELLO_SENT);

  mark(&p->server, TLS13_OPEN);
  wait_for(&p->server, plain_records(config, p->messages.client_hello));
  software(&p->server, "tls_server", OF_SERVER_HELLO);
  handle(&p->server, OF_HELLO, p->messages.client_hello);
  if (p->messages.retry == 0) return;

  handle(&p->server, OF_RETRY, p->messages.retry);
  send(&p->server, RECORD_HEADER + p->messages.retry + CHANGE_CIPHER_SPEC);
  wait_for(&p->client, RECORD_HEADER + p->messages.retry + CHANGE_CIPHER_SPEC);
  handle(&p->client, OF_RETRY, p->messages.retry);
  exchange_keys(&p->client, config->kex, KEX_KEYGEN, 8);
  handle(&p->client, OF_SECOND_HELLO, p->messages.second_hello);
  send(&p->client, CHANGE_CIPHER_SPEC + RECORD_HEADER + p->messages.second_hello);
  wait_for(&p->server, CHANGE_CIPHER_SPEC + RECORD_HEADER + p->messages.second_hello);
  handle(&p->server, OF_SECOND_HELLO, p->messages.second_hello);
}

static void server_flight(struct parties *p) {
  struct writer *server = &p->server;
  const struct tls13_messages *messages = &p->messages;
  const struct tls13_stack *stack = p->config->stack;
  mark(server, TLS13_HELLO_IN);
  if (p->config->resume != TLS13_PSK_KE) exchange_keys(server, p->config->kex, KEX_ANSWER, 12);
  handle(server, OF_SERVER_HELLO, messages->server_hello);
  record(server, RECORD_HEADER + messages->server_hello);
  if (messages->retry == 0) record(server, CHANGE_CIPHER_SPEC);
  schedule(server, false);
  if (stack->flushes) flush(server);
  mark(server, TLS13_SERVER_HELLO_OUT);
  put(server, OF_EXTENSIONS, messages->encrypted_extensions);
  if (messages->certificate_request > 0) put(server, OF_REQUEST, messages->certificate_request);
  if (messages->certificate > 0) {
    put(server, OF_CERTIFICATE, messages->certificate);
    if (stack->flushes) flush(server);
    sign(server, OF_VERIFY);
    put(server, OF_VERIFY, messages->certificate_verify);
  }
  put(server, OF_FINISHED, messages->finished);
  schedule(server, true);
  flush(server);
}

static void client_reads_flight(struct parties *p) {
  struct writer *client = &p->client;
  const struct tls13_messages *messages = &p->messages;
  wait_for(client, RECORD_HEADER + messages->server_hello);
  handle(client, OF_SERVER_HELLO, messages->server_hello);
  if (p->config->resume != TLS13_PSK_KE) exchange_keys(client, p->config->kex, KEX_FINISH, 12);
  schedule(client, false);
  mark(client, TLS13_SERVER_HELLO_IN);
  if (messages->retry == 0) wait_for(client, CHANGE_CIPHER_SPEC);
  get(client, OF_EXTENSIONS, messages->encrypted_extensions);
  if (messages->certificate_request > 0) get(client, OF_REQUEST, messages->certificate_request);
  if (messages->certificate > 0) {
    get(client, OF_CERTIFICATE, messages->certificate);
    verify_chain(client, OF_CERTIFICATE);
    wait_for(client, tls13_records_bytes(messages->certificate_verify));
    protect(client, "open", OF_VERIFY, messages->certificate_verify);
    handle(client, OF_VERIFY, messages->certificate_verify);
    verify(client, OF_VERIFY);
  }
  get(client, OF_FINISHED, messages->finished);
  schedule(client, true);
  mark(client, TLS13_SERVER_FLIGHT_IN);
}

static void client_flight(struct parties *p) {
  struct writer *client = &p->client;
  const struct tls13_messages *messages = &p->messages;
  if (messages->retry == 0) record(client, CHANGE_CIPHER_SPEC);
  if (messages->client_certificate > 0) {
    put(client, OF_CLIENT_CERTIFICATE, messages->client_certificate);
    sign(client, OF_CLIENT_VERIFY);
    put(client, OF_CLIENT_VERIFY, messages->client_certificate_verify);
  }
  put(client, OF_CLIENT_FINISHED, messages->finished);
  flush(client);
  mark(client, TLS13_CLIENT_DONE);
}

static void server_reads_flight(struct parties *p) {
  struct writer *server = &p->server;
  const struct tls13_messages *messages = &p->messages;
  if (messages->retry == 0) wait_for(server, CHANGE_CIPHER_SPEC);
  if (messages->client_certificate > 0) {
    get(server, OF_CLIENT_CERTIFICATE, messages->client_certificate);
    verify_chain(server, OF_CLIENT_CERTIFICATE);
    get(server, OF_CLIENT_VERIFY, messages->client_certificate_verify);
    verify(server, OF_CLIENT_VERIFY);
  }
  get(server, OF_CLIENT_FINISHED, messages->finished);
  mark(server, TLS13_SERVER_DONE);
  for (int i = 0; i < p->config->tickets; i++) {
    put(server, OF_TICKET, messages->ticket);
    flush(server);
  }
}

void tls13_handshake(const struct tls13_config *config, const struct cost_platform *const platforms[2], struct dialogue_script scripts[2]) {
  struct parties p = {
      .config = config,
      .client = {.config = config, .platform = platforms[NET_A], .script = &scripts[NET_A]},
      .server = {.config = config, .platform = platforms[NET_B], .script = &scripts[NET_B]},
  };
  scripts[NET_A].count = scripts[NET_B].count = 0;
  tls13_messages(config, &p.messages);
  hellos(&p);
  server_flight(&p);
  client_reads_flight(&p);
  client_flight(&p);
  server_reads_flight(&p);
  mark(&p.client, TLS13_READY);
  mark(&p.server, TLS13_READY);
}

/* ---- application data ------------------------------------------------------------------------------------------ */

/* Whole records, as many in a piece as leave no more than TLS13_PIECES_MOST. */
static int64_t piece_of(int64_t bytes) {
  int64_t records = (bytes + RECORD_MOST - 1) / RECORD_MOST;
  return (records + TLS13_PIECES_MOST - 1) / TLS13_PIECES_MOST * RECORD_MOST;
}

static void put_data(struct writer *writer, int64_t bytes) {
  for (int64_t piece = piece_of(bytes); bytes > 0; bytes -= piece) {
    if (piece > bytes) piece = bytes;
    protect(writer, "seal", OF_DATA, piece);
    send(writer, tls13_records_bytes(piece));
  }
}

static void get_data(struct writer *writer, int64_t bytes, bool marks) {
  bool first = true;
  for (int64_t piece = piece_of(bytes); bytes > 0; bytes -= piece, first = false) {
    if (piece > bytes) piece = bytes;
    wait_for(writer, tls13_records_bytes(piece));
    protect(writer, "open", OF_DATA, piece);
    if (marks && first) mark(writer, TLS13_FIRST_BYTE);
  }
}

void tls13_exchange(const struct tls13_config *config, const struct tls13_exchange *exchange, bool first, struct dialogue_script scripts[2]) {
  struct writer client = {.config = config, .script = &scripts[NET_A]}, server = {.config = config, .script = &scripts[NET_B]};
  struct tls13_messages messages;
  tls13_messages(config, &messages);
  if (first && exchange->waits) {
    step(&client, &(struct dialogue_step){.kind = DIALOGUE_DRAIN});
    mark(&client, TLS13_FLIGHT_ACKED);
  }
  mark(&client, TLS13_REQUEST_BEGUN);
  put_data(&client, exchange->request_bytes);
  get_data(&server, exchange->request_bytes, false);
  if (exchange->service > 0) step(&server, &(struct dialogue_step){.kind = DIALOGUE_PAUSE, .wait = exchange->service});
  put_data(&server, exchange->response_bytes);
  for (int i = 0; first && i < config->tickets; i++) get(&client, OF_TICKET, messages.ticket);
  get_data(&client, exchange->response_bytes, true);
  mark(&client, TLS13_LAST_BYTE);
}
