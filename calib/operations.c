/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calib/operations_work.h"

#include <assert.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of data, as calib/data/platforms/epyc-zen5.csv has them. */
static const int sizes[] = {64, 256, 1024, 1350, 8192, 16384};

/* title, library's name, group, digest, bits, bytes, since, family */
static const struct operation_algorithm algorithms[] = {
    {"ML-KEM-512", "ML-KEM-512", NULL, NULL, 0, 0, "3.5", &operation_kem},
    {"ML-KEM-768", "ML-KEM-768", NULL, NULL, 0, 0, "3.5", &operation_kem},
    {"ML-KEM-1024", "ML-KEM-1024", NULL, NULL, 0, 0, "3.5", &operation_kem},
    {"X25519MLKEM768", "X25519MLKEM768", NULL, NULL, 0, 0, "3.5", &operation_kem},
    {"SecP256r1MLKEM768", "SecP256r1MLKEM768", NULL, NULL, 0, 0, "3.5", &operation_kem},
    {"SecP384r1MLKEM1024", "SecP384r1MLKEM1024", NULL, NULL, 0, 0, "3.5", &operation_kem},
    {"X25519", "X25519", NULL, NULL, 0, 0, NULL, &operation_kex},
    {"X448", "X448", NULL, NULL, 0, 0, NULL, &operation_kex},
    {"P-256", "EC", "P-256", NULL, 0, 0, NULL, &operation_kex},
    {"P-384", "EC", "P-384", NULL, 0, 0, NULL, &operation_kex},
    {"P-521", "EC", "P-521", NULL, 0, 0, NULL, &operation_kex},
    {"ffdhe2048", "DH", "ffdhe2048", NULL, 0, 0, NULL, &operation_kex},
    {"ffdhe3072", "DH", "ffdhe3072", NULL, 0, 0, NULL, &operation_kex},
    {"RSA-2048", "RSA", NULL, "SHA256", 2048, 0, NULL, &operation_rsa},
    {"RSA-3072", "RSA", NULL, "SHA256", 3072, 0, NULL, &operation_rsa},
    {"RSA-4096", "RSA", NULL, "SHA256", 4096, 0, NULL, &operation_rsa},
    {"ECDSA-P256", "EC", "P-256", "SHA256", 0, 0, NULL, &operation_signature},
    {"ECDSA-P384", "EC", "P-384", "SHA384", 0, 0, NULL, &operation_signature},
    {"Ed25519", "ED25519", NULL, NULL, 0, 0, NULL, &operation_signature},
    {"Ed448", "ED448", NULL, NULL, 0, 0, NULL, &operation_signature},
    {"ML-DSA-44", "ML-DSA-44", NULL, NULL, 0, 0, "3.5", &operation_mldsa},
    {"ML-DSA-65", "ML-DSA-65", NULL, NULL, 0, 0, "3.5", &operation_mldsa},
    {"ML-DSA-87", "ML-DSA-87", NULL, NULL, 0, 0, "3.5", &operation_mldsa},
    {"AES-128-GCM", "AES-128-GCM", NULL, NULL, 0, 0, NULL, &operation_aead},
    {"AES-256-GCM", "AES-256-GCM", NULL, NULL, 0, 0, NULL, &operation_aead},
    {"ChaCha20-Poly1305", "ChaCha20-Poly1305", NULL, NULL, 0, 0, NULL, &operation_aead},
    {"SHA-256", "SHA256", NULL, NULL, 0, 0, NULL, &operation_hash},
    {"SHA-384", "SHA384", NULL, NULL, 0, 0, NULL, &operation_hash},
    {"SHA3-256", "SHA3-256", NULL, NULL, 0, 0, NULL, &operation_hash},
    {"HKDF-SHA256", "HKDF", NULL, "SHA256", 0, 32, NULL, &operation_hkdf},
    {"HKDF-SHA384", "HKDF", NULL, "SHA384", 0, 48, NULL, &operation_hkdf},
    {"SLH-DSA-SHA2-128f", "SLH-DSA-SHA2-128f", NULL, NULL, 0, 0, "3.5", &operation_signature},
    {"SLH-DSA-SHAKE-128f", "SLH-DSA-SHAKE-128f", NULL, NULL, 0, 0, "3.5", &operation_signature},
    {"SLH-DSA-SHA2-128s", "SLH-DSA-SHA2-128s", NULL, NULL, 0, 0, "3.5", &operation_signature},
};

enum { OPERATIONS_MAX = 256 };

static int add_operations(struct operation *table, int used, const struct operation_algorithm *by, const struct operation_step *step) {
  for (int k = 0; k < (step->sized ? LENGTH(sizes) : 1); k++) {
    assert(used < OPERATIONS_MAX);
    table[used++] = (struct operation){.algorithm = by->title,
        .operation = step->name,
        .size_bytes = step->sized ? sizes[k] : 0,
        .random = step->random,
        .samples = step->samples ? step->samples : SAMPLES,
        .what = step->what,
        .by = by,
        .step = step};
  }
  return used;
}

const struct operation *operation_table(int *count) {
  static struct operation table[OPERATIONS_MAX];
  static int used;
  if (!used)
    for (int a = 0; a < LENGTH(algorithms); a++)
      for (int s = 0; s < algorithms[a].family->step_count; s++) used = add_operations(table, used, &algorithms[a], &algorithms[a].family->steps[s]);
  *count = used;
  return table;
}

const char *operation_library(void) {
  static char text[64];
  snprintf(text, sizeof text, "OpenSSL %s", OpenSSL_version(OPENSSL_VERSION_STRING));
  return text;
}

void operation_random(unsigned char *bytes, size_t size) {
  if (RAND_bytes(bytes, (int)size) <= 0) abort();
}

void operation_witness(const struct operation_work *work, unsigned char *bytes) {
  if (work->spoilt) bytes[0] ^= 1;
}

const char *operation_same_secret(const struct operation_work *work, const unsigned char *a, size_t a_size, unsigned char *b, size_t b_size) {
  operation_witness(work, b);
  return a_size > 0 && a_size == b_size && !memcmp(a, b, a_size) ? NULL : "the two sides do not have the same secret";
}

static bool library_is_older(const char *than) {
  unsigned major = 0, minor = 0;
  if (sscanf(than, "%u.%u", &major, &minor) != 2) return false;
  return OPENSSL_version_major() < major || (OPENSSL_version_major() == major && OPENSSL_version_minor() < minor);
}

static void explain_missing(const struct operation_algorithm *by, char reason[OPERATION_TEXT]) {
  if (by->since && library_is_older(by->since))
    snprintf(reason, OPERATION_TEXT, "%s has no %s (it came with %s)", operation_library(), by->title, by->since);
  else
    snprintf(reason, OPERATION_TEXT, "this %s does not offer %s: left out when it was built, or by its configuration", operation_library(), by->title);
}

static void explain_wrong(const struct operation *operation, const char *what, char reason[OPERATION_TEXT]) {
  char library[160] = "";
  unsigned long code = ERR_peek_last_error();
  if (code) ERR_error_string_n(code, library, sizeof library);
  snprintf(reason, OPERATION_TEXT, "%s %s, %d B: %s%s%s", operation->algorithm, operation->operation, operation->size_bytes, what, code ? ": " : "", library);
  ERR_clear_error();
}

enum operation_state operation_open(const struct operation *operation, struct operation_work **out, char reason[OPERATION_TEXT]) {
  struct operation_work *work = calloc(1, sizeof *work);
  if (!work) abort();
  work->operation = operation;
  work->by = operation->by;
  *out = NULL;
  ERR_clear_error();
  enum operation_state state = work->by->family->open(work);
  if (state == OPERATION_MISSING) {
    explain_missing(work->by, reason);
    ERR_clear_error();
  } else if (state == OPERATION_WRONG) {
    explain_wrong(operation, "cannot be set up", reason);
  } else if (!operation_check(work, reason)) {
    state = OPERATION_WRONG;
  }
  if (state == OPERATION_READY)
    *out = work;
  else
    operation_close(work);
  return state;
}

const char *operation_provider(const struct operation_work *work) {
  const OSSL_PROVIDER *provider = work->own      ? EVP_PKEY_get0_provider(work->own)
                                  : work->cipher ? EVP_CIPHER_get0_provider(work->cipher)
                                  : work->md     ? EVP_MD_get0_provider(work->md)
                                                 : EVP_KDF_get0_provider(work->kdf);
  return OSSL_PROVIDER_get0_name(provider);
}

void operation_prepare(struct operation_work *work) {
  if (work->operation->step->fresh) work->operation->step->fresh(work);
}

void operation_call(struct operation_work *work, int batch) {
  bool (*call)(struct operation_work *, int) = work->operation->step->call;
  for (int i = 0; i < batch; i++)
    if (!call(work, i)) work->failed = true;
}

static void free_made(struct operation_work *work) {
  for (int i = 0; i < OPERATION_BATCH && (work->keys[i] || work->contexts[i] || work->mds[i]); i++) {
    EVP_PKEY_CTX_free(work->contexts[i]);
    EVP_MD_CTX_free(work->mds[i]);
    EVP_PKEY_free(work->keys[i]);
    work->contexts[i] = NULL;
    work->mds[i] = NULL;
    work->keys[i] = NULL;
  }
}

bool operation_finish(struct operation_work *work) {
  free_made(work);
  return !work->failed;
}

bool operation_check(struct operation_work *work, char reason[OPERATION_TEXT]) {
  ERR_clear_error();
  operation_prepare(work);
  operation_call(work, 1);
  const char *wrong = work->failed ? "it fails" : work->operation->step->check(work);
  if (wrong) explain_wrong(work->operation, wrong, reason);
  ERR_clear_error(); /* a forgery that was refused has left one */
  free_made(work);
  return !wrong;
}

void operation_spoil(struct operation_work *work) { work->spoilt = true; }

void operation_close(struct operation_work *work) {
  if (!work) return;
  free_made(work);
  for (int i = 0; i < work->signed_count; i++) OPENSSL_free(work->signatures[i]);
  EVP_PKEY_CTX_free(work->generate);
  EVP_PKEY_CTX_free(work->own_ctx);
  EVP_PKEY_CTX_free(work->peer_ctx);
  EVP_PKEY_free(work->own);
  EVP_PKEY_free(work->peer);
  OPENSSL_free(work->share);
  EVP_CIPHER_CTX_free(work->cipher_ctx);
  EVP_CIPHER_free(work->cipher);
  EVP_MD_CTX_free(work->md_ctx);
  EVP_MD_free(work->md);
  EVP_KDF_CTX_free(work->kdf_ctx);
  EVP_KDF_free(work->kdf);
  free(work);
}
