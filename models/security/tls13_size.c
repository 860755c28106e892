/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lengths of the handshake messages, extension by extension (RFC 8446 section 4 unless said otherwise). */
#include "models/security/tls13.h"

#include <string.h>

enum {
  HEADER = 4, /* type and length of a handshake message; of an extension too */
  VERSION = 2,
  RANDOM = 32,
  SESSION_ID = 1 + 32, /* middlebox compatibility fills it: appendix D.4 */
  SUITE = 2,
  SCHEME = 2,
  GROUP = 2,
  LENGTH8 = 1,
  LENGTH16 = 2,
  LENGTH24 = 3,
  COMPRESSION_ALGORITHMS = 2, /* zlib and zstd */
  POINT_FORMATS = 3,
  TICKET_LIFETIME = 4,
  TICKET_AGE = 4,
  TICKET_NONCE = 8,
  AES_BLOCK = 16,
  TICKET_KEY_NAME = 16,
  TICKET_MAC = 32,
};

/* A ClientHello: the first, or the one that answers a HelloRetryRequest. */
struct hello {
  const struct tls13_config *config;
  const struct alg *const *shares;
  int share_count;
};

enum { ABSENT = -1 };

/* ---- Extensions of ClientHello: length of the content, or ABSENT ------------------------------------------------ */

static int server_name(const struct hello *hello) {
  int name = hello->config->sni_bytes;
  return name > 0 ? LENGTH16 + 1 + LENGTH16 + name : ABSENT;
}

/* RFC 6066 section 8: OCSP, without responders and extensions. */
static int status_request(const struct hello *hello) { return hello->config->status_request ? 1 + LENGTH16 + LENGTH16 : ABSENT; }

static int alpn(const struct hello *hello) {
  int name = hello->config->alpn_bytes;
  return name > 0 ? LENGTH16 + LENGTH8 + name : ABSENT;
}

/* OpenSSL sends it when one of its groups is a curve that TLS 1.2 knows. */
static int point_formats(const struct hello *hello) {
  const struct tls13_config *config = hello->config;
  bool curve = config->stack->always_point_formats;
  for (int i = 0; i < config->group_count; i++) curve |= config->groups[i]->kind == ALG_KEX && strncmp(config->groups[i]->name, "ffdhe", 5) != 0;
  return curve ? LENGTH8 + POINT_FORMATS : ABSENT;
}

static int supported_groups(const struct hello *hello) { return LENGTH16 + GROUP * hello->config->group_count; }

static int empty(const struct hello *hello) {
  (void)hello;
  return 0;
}

static int signature_algorithms(const struct hello *hello) {
  const struct tls13_config *config = hello->config;
  return LENGTH16 + SCHEME * (config->with_tls12 ? config->stack->schemes_with_tls12 : config->stack->schemes);
}

static int supported_versions(const struct hello *hello) { return LENGTH8 + VERSION * (hello->config->with_tls12 ? 2 : 1); }

/* A client that would resume without a key exchange offers both ways. */
static int psk_key_exchange_modes(const struct hello *hello) { return LENGTH8 + (hello->config->resume == TLS13_PSK_KE ? 2 : 1); }

static int key_share(const struct hello *hello) {
  int bytes = LENGTH16;
  for (int i = 0; i < hello->share_count; i++) bytes += GROUP + LENGTH16 + hello->shares[i]->public_bytes;
  return bytes;
}

static int compress_certificate(const struct hello *hello) {
  return hello->config->compression == TLS13_COMPRESS_NOTHING ? ABSENT : LENGTH8 + 2 * COMPRESSION_ALGORITHMS;
}

/* The session in ASN.1 (OpenSSL's SSL_SESSION): 95 bytes and the secret. A client's certificate adds itself, 4 bytes of its tag and one
 * byte of the outer length; names add themselves and two tags. Encrypted with AES-256-CBC and authenticated (RFC 5077 section 4). */
static int ticket_bytes(const struct tls13_config *config) {
  enum { SESSION = 95, TAGS = 4, NAME = 32 };
  if (config->stateful) return NAME;
  int session = SESSION + config->cipher->hash_bytes;
  if (config->sni_bytes > 0) session += TAGS + config->sni_bytes;
  if (config->alpn_bytes > 0) session += TAGS + config->alpn_bytes;
  if (config->mutual) session += TAGS + 1 + x509_issued_bytes(config->chain[0], config->chain[config->chain_count > 1], X509_LEAF, &config->content);
  int encrypted = (session / AES_BLOCK + 1) * AES_BLOCK;
  return TICKET_KEY_NAME + AES_BLOCK + encrypted + TICKET_MAC;
}

/* One identity with its age, one binder. */
static int pre_shared_key(const struct hello *hello) {
  const struct tls13_config *config = hello->config;
  if (config->resume == TLS13_FULL) return ABSENT;
  return LENGTH16 + LENGTH16 + ticket_bytes(config) + TICKET_AGE + LENGTH16 + LENGTH8 + config->cipher->hash_bytes;
}

static const struct {
  int number;
  int (*content)(const struct hello *hello);
} client_extensions[] = {
    {0, server_name},
    {5, status_request},
    {11, point_formats},
    {10, supported_groups},
    {35, empty}, /* session_ticket (RFC 5077) */
    {16, alpn},
    {22, empty}, /* encrypt_then_mac (RFC 7366) */
    {23, empty}, /* extended_master_secret (RFC 7627) */
    {13, signature_algorithms},
    {43, supported_versions},
    {45, psk_key_exchange_modes},
    {51, key_share},
    {27, compress_certificate},
    {41, pre_shared_key},
};

/* RFC 7685: some middleboxes hung on ClientHellos of 256 to 511 bytes; OpenSSL fills them up to 512 where it is asked to, as curl does. */
static int padding(int bytes) {
  enum { FROM = 256, TO = 512 };
  if (bytes < FROM || bytes >= TO) return 0;
  return bytes + HEADER < TO ? TO - bytes : HEADER;
}

static int client_hello_bytes(const struct hello *hello) {
  const struct tls13_config *config = hello->config;
  int suites = config->suites + (config->with_tls12 ? config->stack->tls12_suites : 0);
  int bytes = HEADER + VERSION + RANDOM + SESSION_ID + LENGTH16 + SUITE * suites + LENGTH8 + 1 + LENGTH16;
  for (size_t i = 0; i < sizeof client_extensions / sizeof *client_extensions; i++) {
    int content = client_extensions[i].content(hello);
    if (content != ABSENT) bytes += HEADER + content;
  }
  return bytes + (config->padding ? padding(bytes) : 0);
}

/* ---- The other messages --------------------------------------------------------------------------------------- */

enum { SERVER_HELLO_EMPTY = HEADER + VERSION + RANDOM + SESSION_ID + SUITE + 1 + LENGTH16, CHOSEN_VERSION = HEADER + VERSION, CHOSEN_IDENTITY = HEADER + 2 };

/* HelloRetryRequest names the group it wants (section 4.2.8). */
static int retry_bytes(void) { return SERVER_HELLO_EMPTY + CHOSEN_VERSION + HEADER + GROUP; }

static int server_hello_bytes(const struct tls13_config *config) {
  int bytes = SERVER_HELLO_EMPTY + CHOSEN_VERSION;
  if (config->resume != TLS13_PSK_KE) bytes += HEADER + GROUP + LENGTH16 + config->kex->answer_bytes;
  if (config->resume != TLS13_FULL) bytes += CHOSEN_IDENTITY;
  return bytes;
}

/* OpenSSL answers server_name only when its application looks at the name: not here. */
static int encrypted_extensions_bytes(const struct tls13_config *config) {
  return HEADER + LENGTH16 + (config->alpn_bytes > 0 ? HEADER + LENGTH16 + LENGTH8 + config->alpn_bytes : 0);
}

/* signature_algorithms, the name of the root in certificate_authorities, compress_certificate. */
static int certificate_request_bytes(const struct tls13_config *config) {
  int bytes = HEADER + LENGTH8 + LENGTH16;
  bytes += HEADER + LENGTH16 + SCHEME * config->stack->schemes;
  if (config->names_authorities) bytes += HEADER + LENGTH16 + LENGTH16 + x509_ca_name_bytes(config->chain[config->chain_count - 1], &config->content);
  if (config->compression != TLS13_COMPRESS_NOTHING) bytes += HEADER + LENGTH8 + 2 * COMPRESSION_ALGORITHMS;
  return bytes;
}

/* Each certificate with its length and no extensions. */
static int certificate_body(const struct tls13_config *config) {
  int bytes = LENGTH8 + LENGTH24;
  for (int i = 0; i < config->chain_count; i++) {
    const struct alg *issuer = config->chain[i + 1 < config->chain_count ? i + 1 : i];
    bytes += LENGTH24 + x509_issued_bytes(config->chain[i], issuer, i == 0 ? X509_LEAF : X509_INTERMEDIATE, &config->content) + LENGTH16;
  }
  return bytes;
}

/* Keys and signatures do not shrink; what is around them does, to a share that three measured chains of one intermediate give: RSA-2048
 * 1847 B of which 1024 are such, to 1548; ML-DSA-65 11305 and 10522, to 11021; P-256 1045 and 272, to 741. */
static int compressed_bytes(const struct tls13_config *config, int body) {
  enum { SHARE_EC = 607, SHARE_ELSE = 637, ONE = 1000 };
  int fixed = 0;
  bool curve = false;
  for (int i = 0; i < config->chain_count; i++) {
    const struct alg *key = config->chain[i], *issuer = config->chain[i + 1 < config->chain_count ? i + 1 : i];
    bool rsa = strncmp(key->name, "rsa-", 4) == 0;
    fixed += (rsa ? key->answer_bytes : key->public_bytes) + x509_signature_bytes(issuer);
    curve |= strncmp(key->name, "ecdsa-", 6) == 0;
  }
  int share = curve ? SHARE_EC : SHARE_ELSE;
  return fixed + ((body - fixed) * share + ONE / 2) / ONE;
}

/* CompressedCertificate (RFC 8879 section 4): algorithm and length before. */
static int certificate_bytes(const struct tls13_config *config, bool compressed) {
  int body = certificate_body(config);
  return HEADER + (compressed ? 2 + LENGTH24 + LENGTH24 + compressed_bytes(config, body) : body);
}

void tls13_messages(const struct tls13_config *config, struct tls13_messages *out) {
  const bool full = config->resume == TLS13_FULL, asks = full && config->mutual;
  const struct hello first = {config, config->shares, config->share_count}, second = {config, &config->kex, 1};
  const int verify = HEADER + SCHEME + LENGTH16 + x509_signature_bytes(config->chain[0]);
  *out = (struct tls13_messages){
      .client_hello = client_hello_bytes(&first),
      .server_hello = server_hello_bytes(config),
      .encrypted_extensions = encrypted_extensions_bytes(config),
      .certificate_request = asks ? certificate_request_bytes(config) : 0,
      .certificate = full ? certificate_bytes(config, config->compression == TLS13_COMPRESS_BOTH) : 0,
      .certificate_verify = full ? verify : 0,
      .finished = HEADER + config->cipher->hash_bytes,
      .client_certificate = asks ? certificate_bytes(config, config->compression != TLS13_COMPRESS_NOTHING) : 0,
      .client_certificate_verify = asks ? verify : 0,
      .ticket = HEADER + TICKET_LIFETIME + TICKET_AGE + LENGTH8 + TICKET_NONCE + LENGTH16 + ticket_bytes(config) + LENGTH16,
  };
  if (tls13_has_retry(config)) {
    out->retry = retry_bytes();
    out->second_hello = client_hello_bytes(&second);
  }
}

bool tls13_has_retry(const struct tls13_config *config) {
  if (config->resume == TLS13_PSK_KE) return false;
  for (int i = 0; i < config->share_count; i++)
    if (config->shares[i] == config->kex) return false;
  return true;
}
