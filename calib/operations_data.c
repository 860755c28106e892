/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Authenticated encryption, hashes and HKDF. */
#include "calib/operations_work.h"

#include <openssl/core_names.h>
#include <stdlib.h>
#include <string.h>

enum { AAD = 5, INFO = 52, SET_KEY_TEXT = 64 };

/* ---- authenticated encryption */

static enum operation_state fetch_cipher(struct operation_work *work) {
  work->cipher = EVP_CIPHER_fetch(NULL, work->by->library_name, NULL);
  if (!work->cipher) return OPERATION_MISSING;
  work->cipher_ctx = EVP_CIPHER_CTX_new();
  work->input_size = (size_t)(work->operation->size_bytes ? work->operation->size_bytes : SET_KEY_TEXT);
  operation_random(work->key, sizeof work->key);
  operation_random(work->nonce, NONCE);
  operation_random(work->input, work->input_size);
  return work->cipher_ctx ? OPERATION_READY : OPERATION_WRONG;
}

static const unsigned char associated_data[AAD];

static bool seal(EVP_CIPHER_CTX *ctx, const struct operation_work *work, unsigned char *out, unsigned char *tag) {
  int length;
  return EVP_EncryptInit_ex2(ctx, NULL, NULL, work->nonce, NULL) > 0 && EVP_EncryptUpdate(ctx, NULL, &length, associated_data, AAD) > 0 &&
         EVP_EncryptUpdate(ctx, out, &length, work->input, (int)work->input_size) > 0 && EVP_EncryptFinal_ex(ctx, out + length, &length) > 0 &&
         EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, TAG, tag) > 0;
}

static bool open_sealed(EVP_CIPHER_CTX *ctx, struct operation_work *work, const unsigned char *sealed, unsigned char *out) {
  int length;
  return EVP_DecryptInit_ex2(ctx, NULL, NULL, work->nonce, NULL) > 0 && EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, TAG, work->tag) > 0 &&
         EVP_DecryptUpdate(ctx, NULL, &length, associated_data, AAD) > 0 && EVP_DecryptUpdate(ctx, out, &length, sealed, (int)work->input_size) > 0 &&
         EVP_DecryptFinal_ex(ctx, out + length, &length) > 0;
}

static enum operation_state open_aead(struct operation_work *work) {
  enum operation_state state = fetch_cipher(work);
  if (state == OPERATION_READY && EVP_EncryptInit_ex2(work->cipher_ctx, work->cipher, work->key, work->nonce, NULL) <= 0) state = OPERATION_WRONG;
  return state;
}

/* Sealed once, in output; opened into input again and again. */
static void fresh_sealed(struct operation_work *work) {
  if (work->sealed) return;
  work->sealed = 1;
  work->failed |=
      !seal(work->cipher_ctx, work, work->output, work->tag) || EVP_DecryptInit_ex2(work->cipher_ctx, work->cipher, work->key, work->nonce, NULL) <= 0;
}

static bool call_set_key(struct operation_work *work, int i) {
  work->key[0] = (unsigned char)i;
  return EVP_EncryptInit_ex2(work->cipher_ctx, work->cipher, work->key, work->nonce, NULL) > 0;
}

static bool call_seal(struct operation_work *work, int i) {
  work->sealed++;
  memcpy(work->nonce, &work->sealed, sizeof work->sealed);
  return i >= 0 && seal(work->cipher_ctx, work, work->output, work->tag);
}

static bool call_open(struct operation_work *work, int i) { return i >= 0 && open_sealed(work->cipher_ctx, work, work->output, work->input); }

/* What work's context seals opens elsewhere. */
static const char *check_seal(struct operation_work *work) {
  EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
  unsigned char *text = calloc(1, BUFFER);
  if (!text) abort();
  operation_witness(work, work->output);
  bool ok = ctx && EVP_DecryptInit_ex2(ctx, work->cipher, work->key, work->nonce, NULL) > 0 && open_sealed(ctx, work, work->output, text) &&
            !memcmp(text, work->input, work->input_size);
  free(text);
  EVP_CIPHER_CTX_free(ctx);
  return ok ? NULL : "what was sealed does not open";
}

static const char *check_set_key(struct operation_work *work) {
  return seal(work->cipher_ctx, work, work->output, work->tag) ? check_seal(work) : "the key does not seal";
}

static const char *check_open(struct operation_work *work) {
  EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
  unsigned char *sealed = calloc(1, BUFFER), tag[TAG];
  if (!sealed) abort();
  operation_witness(work, work->input);
  bool ok = ctx && EVP_EncryptInit_ex2(ctx, work->cipher, work->key, work->nonce, NULL) > 0 && seal(ctx, work, sealed, tag) &&
            !memcmp(sealed, work->output, work->input_size) && !memcmp(tag, work->tag, TAG);
  free(sealed);
  EVP_CIPHER_CTX_free(ctx);
  return ok ? NULL : "what was opened is not what was sealed";
}

/* ---- hashes */

static enum operation_state open_hash(struct operation_work *work) {
  work->md = EVP_MD_fetch(NULL, work->by->library_name, NULL);
  if (!work->md) return OPERATION_MISSING;
  work->md_ctx = EVP_MD_CTX_new();
  work->input_size = (size_t)work->operation->size_bytes;
  operation_random(work->input, work->input_size);
  return work->md_ctx ? OPERATION_READY : OPERATION_WRONG;
}

static bool call_hash(struct operation_work *work, int i) {
  unsigned size;
  return i >= 0 && EVP_DigestInit_ex2(work->md_ctx, work->md, NULL) > 0 && EVP_DigestUpdate(work->md_ctx, work->input, work->input_size) > 0 &&
         EVP_DigestFinal_ex(work->md_ctx, work->output, &size) > 0;
}

static const char *check_hash(struct operation_work *work) {
  unsigned char again[EVP_MAX_MD_SIZE];
  size_t size;
  operation_witness(work, work->output);
  bool ok = EVP_Q_digest(NULL, work->by->library_name, NULL, work->input, work->input_size, again, &size) > 0 && !memcmp(again, work->output, size);
  return ok ? NULL : "the digest is not that of the one-call interface";
}

/* key: secret and salt are its halves, input the info. */
static bool hkdf(struct operation_work *work, int mode, unsigned char *key, size_t key_size, unsigned char *out) {
  OSSL_PARAM params[] = {OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode),
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *)work->by->digest, 0),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, key, key_size), OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, work->key + 32, 32),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, work->input, INFO), OSSL_PARAM_construct_end()};
  return EVP_KDF_derive(work->kdf_ctx, out, (size_t)work->by->bytes, params) > 0;
}

static enum operation_state open_hkdf(struct operation_work *work) {
  work->kdf = EVP_KDF_fetch(NULL, work->by->library_name, NULL);
  if (!work->kdf) return OPERATION_MISSING;
  work->kdf_ctx = EVP_KDF_CTX_new(work->kdf);
  operation_random(work->key, sizeof work->key);
  operation_random(work->input, INFO);
  bool ok = work->kdf_ctx && hkdf(work, EVP_KDF_HKDF_MODE_EXTRACT_ONLY, work->key, 32, work->expected);
  return ok ? OPERATION_READY : OPERATION_WRONG;
}

static bool call_extract(struct operation_work *work, int i) { return i >= 0 && hkdf(work, EVP_KDF_HKDF_MODE_EXTRACT_ONLY, work->key, 32, work->secret); }

/* From the key that open_hkdf extracted. */
static bool call_expand(struct operation_work *work, int i) {
  return i >= 0 && hkdf(work, EVP_KDF_HKDF_MODE_EXPAND_ONLY, work->expected, (size_t)work->by->bytes, work->secret);
}

static bool call_extract_expand(struct operation_work *work, int i) {
  return i >= 0 && hkdf(work, EVP_KDF_HKDF_MODE_EXTRACT_AND_EXPAND, work->key, 32, work->secret);
}

static const char *check_expand(struct operation_work *work) {
  unsigned char in_one[SECRET_MAX], in_two[SECRET_MAX];
  size_t size = (size_t)work->by->bytes;
  bool done = hkdf(work, EVP_KDF_HKDF_MODE_EXTRACT_AND_EXPAND, work->key, 32, in_one) &&
              hkdf(work, EVP_KDF_HKDF_MODE_EXPAND_ONLY, work->expected, size, in_two) && !memcmp(in_one, in_two, size);
  operation_witness(work, work->secret);
  return done && !memcmp(work->secret, in_one, size) ? NULL : "HKDF in one step is not HKDF in two";
}

static const char *check_extract(struct operation_work *work) {
  operation_witness(work, work->secret);
  memcpy(work->expected, work->secret, (size_t)work->by->bytes);
  return call_expand(work, 0) ? check_expand(work) : "what was extracted does not expand";
}

static const struct operation_step aead_steps[] = {
    {"set_key", "cipher, key and nonce into a context that was used before", NULL, call_set_key, check_set_key, false, false, 0},
    {"seal", "key scheduled; new nonce, 5 B of associated data, tag 16", NULL, call_seal, check_seal, true, false, 0},
    {"open", "key scheduled; nonce, 5 B of associated data, tag 16", fresh_sealed, call_open, check_open, true, false, 0},
};
static const struct operation_step hash_steps[] = {{"hash", "init, update, final", NULL, call_hash, check_hash, true, false, 0}};
#define DERIVED "EVP_KDF_derive with its parameters; 52 B of info"
static const struct operation_step hkdf_steps[] = {
    {"extract", DERIVED, NULL, call_extract, check_extract, false, false, 0},
    {"expand", DERIVED, NULL, call_expand, check_expand, false, false, 0},
    {"extract_expand", DERIVED, NULL, call_extract_expand, check_expand, false, false, 0},
};

const struct operation_family operation_aead = {open_aead, aead_steps, LENGTH(aead_steps)};
const struct operation_family operation_hash = {open_hash, hash_steps, LENGTH(hash_steps)};
const struct operation_family operation_hkdf = {open_hkdf, hkdf_steps, LENGTH(hkdf_steps)};
