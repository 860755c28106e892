/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parameters of TLS 1.3 and what they come to. */
#include "models/security/tls13.h"

#include "models/crypto/alg_own.h"

#include <stdio.h>
#include <string.h>

enum { KEX_KINDS = 1 << ALG_KEX | 1 << ALG_KEM | 1 << ALG_HYBRID, SIGNATURE_KIND = 1 << ALG_SIGNATURE };

/* ---- names ----------------------------------------------------------------------------------------------------- */

static int unknown(const char *text, unsigned kinds, const char *allowed, struct err *e) {
  const char *near = alg_nearest(text, kinds);
  return err_add(e, ERR_INPUT, "found '%s', allowed %s, or one of your own (algorithms:)%s%s", text, allowed, near ? "; nearest: " : "", near ? near : "");
}

/* OpenSSL marks with a star the group of a list whose share is sent. */
static int check_kex(const char *text, char *canonical, size_t size, struct err *e) {
  const struct alg *kex = alg_find(*text == '*' ? text + 1 : text, KEX_KINDS);
  if (!kex) return unknown(text, KEX_KINDS, "a key exchange (x25519, secp256r1, mlkem768, x25519mlkem768, ...)", e);
  snprintf(canonical, size, "%s", kex->name);
  return 0;
}

static int check_cert(const char *text, char *canonical, size_t size, struct err *e) {
  const struct alg *signature = alg_find(text, SIGNATURE_KIND);
  if (!signature) return unknown(text, SIGNATURE_KIND, "a signature algorithm (rsa-2048, ecdsa-p256, ed25519, mldsa44, mldsa65, ...)", e);
  if (!x509_is_encoded(signature)) return err_add(e, ERR_INPUT, "found %s, which has no encoding in certificates here", signature->name);
  snprintf(canonical, size, "%s", signature->name);
  return 0;
}

/* ---- choices --------------------------------------------------------------------------------------------------- */

static const char *const auth_names[] = {"server", "mutual", NULL};
static const char *const resume_names[] = {"no", "psk_dhe", "psk_ke", NULL};
static const char *const ticket_names[] = {"stateless", "stateful", NULL};
static const char *const compression_names[] = {"no", "yes", "both", NULL};
static const char *const cipher_names[] = {"aes256gcm", "aes128gcm", "chacha20poly1305", NULL};
static const struct tls13_cipher ciphers[] = {
    {"AES-256-GCM", "SHA-384", "HKDF-SHA384", 48},
    {"AES-128-GCM", "SHA-256", "HKDF-SHA256", 32},
    {"ChaCha20-Poly1305", "SHA-256", "HKDF-SHA256", 32},
};

/* openssl35: signature_algorithms of a ClientHello of 208 bytes (tls_truth.csv) hold 20 schemes: ML-DSA 3, ECDSA 3, EdDSA 2, brainpool 3, PSS 6,
 * PKCS #1 3; with TLS 1.2 SHA-224 2 and DSA 4 join them, and 27 cipher suites with the signalling value. openssl30 knows neither ML-DSA
 * nor brainpool in TLS 1.3. single_write: openssl35 with a buffer that holds any flight. */
static const char *const stack_names[] = {"openssl35", "openssl30", "single_write", "oqs", NULL};
static const struct tls13_stack stacks[] = {
    {.schemes = 20, .schemes_with_tls12 = 26, .tls12_suites = 28, .buffer_bytes = 4096},
    {.schemes = 14, .schemes_with_tls12 = 20, .tls12_suites = 28, .buffer_bytes = 4096},
    {.schemes = 20, .schemes_with_tls12 = 26, .tls12_suites = 28, .buffer_bytes = 0},
    {.schemes = 82,
        .schemes_with_tls12 = 83,
        .tls12_suites = 28,
        .only_with_tls12 = true,
        .always_point_formats = true,
        .bare_certificates = true,
        .buffer_bytes = 4096,
        .flushes = true},
};

enum { NAME_MOST = 255, RECORD_LEAST = 64, RECORD_MOST = 16384, CHAIN_DEEPEST = TLS13_CHAIN_MAX - 1 };

static const struct param rows[] = {
    {.key = "tls.kex", .kind = PARAM_NAME, .fallback = "x25519mlkem768", .check = check_kex, .help = "key exchange that the server takes"},
    {.key = "tls.offered",
        .kind = PARAM_NAMES,
        .fallback = "[]",
        .check = check_kex,
        .min = 0,
        .max = TLS13_SHARES_MAX,
        .help = "key exchanges the client sends shares of; without tls.kex among them the server asks for it (HelloRetryRequest); []: tls.kex alone"},
    {.key = "tls.groups",
        .kind = PARAM_NAMES,
        .fallback = "[]",
        .check = check_kex,
        .min = 0,
        .max = TLS13_GROUPS_MAX,
        .help = "key exchanges the client says it supports; []: those it sends shares of, and tls.kex"},
    {.key = "tls.cert", .kind = PARAM_NAME, .fallback = "ecdsa-p256", .check = check_cert, .help = "signature algorithm of all certificates"},
    {.key = "tls.chain",
        .kind = PARAM_COUNT,
        .fallback = "1",
        .min = 0,
        .max = CHAIN_DEEPEST,
        .help = "intermediate certificates that are sent with the leaf; the root never is"},
    {.key = "tls.cert_chain",
        .kind = PARAM_NAMES,
        .fallback = "[]",
        .check = check_cert,
        .min = 0,
        .max = TLS13_CHAIN_MAX,
        .repeats = true,
        .help = "signature algorithms of the certificates that are sent, leaf first, in place of tls.cert and tls.chain; the root's is the last one's"},
    {.key = "tls.auth",
        .kind = PARAM_CHOICE,
        .fallback = "server",
        .choices = auth_names,
        .help = "mutual: the client shows a chain of its own, of the same algorithms"},
    {.key = "tls.resume",
        .kind = PARAM_CHOICE,
        .fallback = "no",
        .choices = resume_names,
        .help = "every connection resumes a session: psk_dhe with a key exchange, psk_ke without one (no forward secrecy)"},
    {.key = "tls.tickets", .kind = PARAM_COUNT, .fallback = "0", .min = 0, .max = 8, .help = "session tickets the server sends after the handshake"},
    {.key = "tls.ticket_kind",
        .kind = PARAM_CHOICE,
        .fallback = "stateless",
        .choices = ticket_names,
        .help = "stateless: a ticket holds the session, encrypted; stateful: the server keeps the session, a ticket names it in 32 bytes"},
    {.key = "tls.cert_compression",
        .kind = PARAM_CHOICE,
        .fallback = "no",
        .choices = compression_names,
        .help = "certificates that go compressed (RFC 8879): yes: the client's, as Debian's OpenSSL does; both: the server's too"},
    {.key = "tls.cipher", .kind = PARAM_CHOICE, .fallback = "aes256gcm", .choices = cipher_names, .help = "cipher suite, with SHA-384, SHA-256 and SHA-256"},
    {.key = "tls.suites", .kind = PARAM_COUNT, .fallback = "1", .min = 1, .max = 8, .help = "cipher suites of TLS 1.3 that the client offers"},
    {.key = "tls.tls12", .kind = PARAM_BOOL, .fallback = "no", .help = "the client would take TLS 1.2 too, and says so"},
    {.key = "tls.stack",
        .kind = PARAM_CHOICE,
        .absent = true,
        .choices = stack_names,
        .help = "whose implementation both ends run: what it offers and how it cuts flights into writes; single_write: one write per flight; "
                "not set: what the server's platform states, else openssl35"},
    {.key = "tls.ca_names",
        .kind = PARAM_BOOL,
        .fallback = "yes",
        .help = "a server that asks for a certificate names the root it trusts (certificate_authorities)"},
    {.key = "tls.start",
        .kind = PARAM_TIME,
        .fallback = "0s",
        .min = 0,
        .max = INT64_C(60000000000),
        .help = "what the client's program does between connect() and its ClientHello, such as reading authorities"},
    {.key = "tls.padding",
        .kind = PARAM_BOOL,
        .fallback = "no",
        .help = "a ClientHello of 256 to 511 bytes is filled up to 512 (RFC 7685), as curl has it done"},
    {.key = "tls.sni",
        .kind = PARAM_SIZE,
        .bare = "B",
        .fallback = "0B",
        .min = 0,
        .max = NAME_MOST,
        .help = "length of the host name in server_name; 0: not sent"},
    {.key = "tls.status_request", .kind = PARAM_BOOL, .fallback = "no", .help = "the client asks for an OCSP response, which the server does not send"},
    {.key = "tls.alpn",
        .kind = PARAM_SIZE,
        .bare = "B",
        .fallback = "0B",
        .min = 0,
        .max = NAME_MOST,
        .help = "length of the protocol name in ALPN (h2: 2); 0: not sent"},
    {.key = "tls.hello_record",
        .kind = PARAM_SIZE,
        .bare = "B",
        .fallback = "0B",
        .min = 0,
        .max = RECORD_MOST,
        .help = "the ClientHello is cut into records of so many bytes; 0: it is one record"},
    {.key = "tls.ca_name",
        .kind = PARAM_SIZE,
        .bare = "B",
        .fallback = "0B",
        .min = 0,
        .max = 1000,
        .help = "length of each certification authority's name; 0: as in the measured chains"},
    {.key = "tls.leaf_extra",
        .kind = PARAM_SIZE,
        .bare = "B",
        .fallback = "0B",
        .min = 0,
        .max = 16000,
        .help = "bytes a leaf certificate has beyond the measured ones: host names, transparency timestamps"},
};

const struct param_table tls13_params = {rows, sizeof rows / sizeof *rows};

/* ---- what they come to ----------------------------------------------------------------------------------------- */

struct list {
  const struct alg **algs;
  int count;
  unsigned kinds;
};

static void add(void *arg, const char *name) {
  struct list *list = arg;
  list->algs[list->count++] = alg_find(name, list->kinds);
}

static int read_list(const struct config *config, const char *key, unsigned kinds, const struct alg **algs) {
  struct list list = {algs, 0, kinds};
  config_names(config, key, add, &list);
  return list.count;
}

static bool holds(const struct alg *const *algs, int count, const struct alg *wanted) {
  for (int i = 0; i < count; i++)
    if (algs[i] == wanted) return true;
  return false;
}

static int read_groups(const struct config *config, struct tls13_config *out, struct err *e) {
  out->kex = alg_find(config_text(config, "tls.kex"), KEX_KINDS);
  out->share_count = read_list(config, "tls.offered", KEX_KINDS, out->shares);
  if (out->share_count == 0) out->shares[out->share_count++] = out->kex;
  out->group_count = read_list(config, "tls.groups", KEX_KINDS, out->groups);
  if (out->group_count == 0) {
    for (; out->group_count < out->share_count; out->group_count++) out->groups[out->group_count] = out->shares[out->group_count];
    if (!holds(out->groups, out->group_count, out->kex)) out->groups[out->group_count++] = out->kex;
  }
  if (!holds(out->groups, out->group_count, out->kex))
    return err_add(e, ERR_INPUT, "tls.groups: found a list without %s, which is tls.kex; allowed lists that hold it", out->kex->name);
  for (int i = 0; i < out->share_count; i++)
    if (!holds(out->groups, out->group_count, out->shares[i]))
      return err_add(e, ERR_INPUT, "tls.offered: found %s, which is not in tls.groups; allowed what is", out->shares[i]->name);
  return 0;
}

static void read_chain(const struct config *config, struct tls13_config *out) {
  out->chain_count = read_list(config, "tls.cert_chain", SIGNATURE_KIND, out->chain);
  if (out->chain_count > 0) return;
  out->chain_count = 1 + (int)config_number(config, "tls.chain");
  for (int i = 0; i < out->chain_count; i++) out->chain[i] = alg_find(config_text(config, "tls.cert"), SIGNATURE_KIND);
}

/* NULL after a complaint. */
static const struct tls13_stack *find_stack(const struct config *config, const struct cost_platform *server, struct err *e) {
  if (config_is_set(config, "tls.stack")) return &stacks[config_number(config, "tls.stack")];
  const char *stated = server ? cost_platform_tls_stack(server) : NULL;
  if (!stated) return &stacks[0];
  for (int i = 0; stack_names[i]; i++)
    if (strcmp(stack_names[i], stated) == 0) return &stacks[i];
  err_add(e, ERR_INPUT, "platform %s: key tls-stack: found '%s', allowed openssl35, openssl30, single_write, oqs", cost_platform_name(server), stated);
  return NULL;
}

int tls13_configure(const struct config *config, const struct cost_platform *server, struct tls13_config *out, struct err *e) {
  *out = (struct tls13_config){
      .cipher = &ciphers[config_number(config, "tls.cipher")],
      .stack = find_stack(config, server, e),
      .resume = (enum tls13_resume)config_number(config, "tls.resume"),
      .compression = (enum tls13_compression)config_number(config, "tls.cert_compression"),
      .mutual = config_number(config, "tls.auth") == 1,
      .with_tls12 = config_number(config, "tls.tls12") != 0,
      .status_request = config_number(config, "tls.status_request") != 0,
      .names_authorities = config_number(config, "tls.ca_names") != 0,
      .start = config_number(config, "tls.start"),
      .padding = config_number(config, "tls.padding") != 0,
      .stateful = config_number(config, "tls.ticket_kind") == 1,
      .suites = (int)config_number(config, "tls.suites"),
      .tickets = (int)config_number(config, "tls.tickets"),
      .sni_bytes = (int)config_number(config, "tls.sni"),
      .alpn_bytes = (int)config_number(config, "tls.alpn"),
      .hello_record_bytes = (int)config_number(config, "tls.hello_record"),
      .content = {.ca_name_bytes = (int)config_number(config, "tls.ca_name"), .leaf_extra = (int)config_number(config, "tls.leaf_extra")},
  };
  if (!out->stack) return ERR_INPUT;
  out->with_tls12 |= out->stack->only_with_tls12;
  out->content.bare = out->stack->bare_certificates;
  read_chain(config, out);
  int rc = read_groups(config, out, e);
  if (!rc && out->hello_record_bytes > 0 && out->hello_record_bytes < RECORD_LEAST)
    rc = err_add(e, ERR_INPUT, "tls.hello_record: found %dB, allowed 0, or %dB to %dB", out->hello_record_bytes, RECORD_LEAST, RECORD_MOST);
  if (!rc && out->resume == TLS13_PSK_KE && tls13_has_retry(out))
    rc = err_add(e, ERR_INPUT, "tls.offered: a session resumed with psk_ke exchanges no keys; allowed []");
  return rc;
}

bool tls13_kex_is_quantum_safe(const struct tls13_config *config) {
  /* The pre-shared key came from a key exchange of the session's first handshake. */
  return alg_is_quantum_safe(config->kex);
}

bool tls13_auth_is_quantum_safe(const struct tls13_config *config) {
  for (int i = 0; i < config->chain_count; i++)
    if (!alg_is_quantum_safe(config->chain[i])) return false;
  return true;
}
