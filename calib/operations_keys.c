/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Key encapsulation, key agreement, signatures and RSA encryption. */
#include "calib/operations_work.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <string.h>

enum { OAEP_TEXT = 32 };

static EVP_PKEY_CTX *generator(const struct operation_algorithm *by) {
  EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, by->library_name, NULL);
  if (ctx && EVP_PKEY_keygen_init(ctx) > 0 && (!by->group || EVP_PKEY_CTX_set_group_name(ctx, by->group) > 0)) {
    size_t bits = (size_t)by->bits;
    OSSL_PARAM params[] = {OSSL_PARAM_construct_size_t(OSSL_PKEY_PARAM_RSA_BITS, &bits), OSSL_PARAM_construct_end()};
    if (!by->bits || EVP_PKEY_CTX_set_params(ctx, params) > 0) return ctx;
  }
  EVP_PKEY_CTX_free(ctx);
  return NULL;
}

static bool encode(EVP_PKEY *key, unsigned char **bytes, size_t *size) {
  *size = EVP_PKEY_get1_encoded_public_key(key, bytes);
  return *size > 0;
}

static EVP_PKEY *import(EVP_PKEY *like, const unsigned char *bytes, size_t size) {
  EVP_PKEY *key = EVP_PKEY_new();
  if (key && EVP_PKEY_copy_parameters(key, like) > 0 && EVP_PKEY_set1_encoded_public_key(key, bytes, size) > 0) return key;
  EVP_PKEY_free(key);
  return NULL;
}

/* The generator and a key of one's own; missing when the library knows no such algorithm. */
static enum operation_state open_key(struct operation_work *work) {
  work->generate = generator(work->by);
  if (!work->generate) return OPERATION_MISSING;
  return EVP_PKEY_generate(work->generate, &work->own) > 0 ? OPERATION_READY : OPERATION_WRONG;
}

static bool call_keygen(struct operation_work *work, int i) { return EVP_PKEY_generate(work->generate, &work->keys[i]) > 0; }

static bool call_import(struct operation_work *work, int i) {
  work->keys[i] = import(work->own, work->share, work->share_size);
  return work->keys[i] != NULL;
}

static const char *check_import(struct operation_work *work) {
  unsigned char *bytes = NULL;
  size_t size;
  bool encoded = encode(work->keys[0], &bytes, &size);
  if (encoded) operation_witness(work, bytes);
  bool equal = encoded && size == work->share_size && !memcmp(bytes, work->share, size);
  OPENSSL_free(bytes);
  return equal ? NULL : "the key imported is not the key that was given";
}

/* ---- key encapsulation */

static bool encapsulate(struct operation_work *work, EVP_PKEY_CTX *ctx) {
  work->input_size = BUFFER;
  work->expected_size = SECRET_MAX;
  return EVP_PKEY_encapsulate(ctx, work->input, &work->input_size, work->expected, &work->expected_size) > 0;
}

static bool decapsulate(struct operation_work *work, EVP_PKEY_CTX *ctx) {
  work->secret_size = SECRET_MAX;
  return EVP_PKEY_decapsulate(ctx, work->secret, &work->secret_size, work->input, work->input_size) > 0;
}

static EVP_PKEY_CTX *encapsulator(EVP_PKEY *key) {
  EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
  if (ctx && EVP_PKEY_encapsulate_init(ctx, NULL) > 0) return ctx;
  EVP_PKEY_CTX_free(ctx);
  return NULL;
}

static EVP_PKEY_CTX *decapsulator(EVP_PKEY *key) {
  EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
  if (ctx && EVP_PKEY_decapsulate_init(ctx, NULL) > 0) return ctx;
  EVP_PKEY_CTX_free(ctx);
  return NULL;
}

static enum operation_state open_kem(struct operation_work *work) {
  enum operation_state state = open_key(work);
  if (state != OPERATION_READY) return state;
  if (!encode(work->own, &work->share, &work->share_size) || !(work->peer = import(work->own, work->share, work->share_size)) ||
      !(work->peer_ctx = encapsulator(work->peer)) || !(work->own_ctx = decapsulator(work->own)) || !encapsulate(work, work->peer_ctx))
    return OPERATION_WRONG;
  return OPERATION_READY;
}

static void fresh_ciphertext(struct operation_work *work) { work->failed |= !encapsulate(work, work->peer_ctx); }

static bool call_encaps(struct operation_work *work, int i) { return i >= 0 && encapsulate(work, work->peer_ctx); }

static bool call_encaps_full(struct operation_work *work, int i) {
  return call_import(work, i) && (work->contexts[i] = encapsulator(work->keys[i])) && encapsulate(work, work->contexts[i]);
}

static bool call_decaps(struct operation_work *work, int i) { return i >= 0 && decapsulate(work, work->own_ctx); }

static bool call_decaps_full(struct operation_work *work, int i) {
  return (work->contexts[i] = decapsulator(work->own)) && decapsulate(work, work->contexts[i]);
}

static const char *check_encaps(struct operation_work *work) {
  if (!decapsulate(work, work->own_ctx)) return "what was encapsulated cannot be decapsulated";
  return operation_same_secret(work, work->expected, work->expected_size, work->secret, work->secret_size);
}

static const char *check_decaps(struct operation_work *work) {
  return operation_same_secret(work, work->expected, work->expected_size, work->secret, work->secret_size);
}

static const char *check_kem_keygen(struct operation_work *work) {
  unsigned char *bytes = NULL;
  size_t size;
  EVP_PKEY *public = encode(work->keys[0], &bytes, &size) ? import(work->own, bytes, size) : NULL;
  EVP_PKEY_CTX *to = public ? encapsulator(public) : NULL, *from = decapsulator(work->keys[0]);
  const char *wrong = "the new key does not encapsulate and decapsulate";
  if (to && from && encapsulate(work, to) && decapsulate(work, from)) wrong = check_decaps(work);
  EVP_PKEY_CTX_free(to);
  EVP_PKEY_CTX_free(from);
  EVP_PKEY_free(public);
  OPENSSL_free(bytes);
  return wrong;
}

/* ---- key agreement */

/* With the length of the prime for finite fields, as TLS 1.3 and IKE want it. */
static EVP_PKEY_CTX *deriver(const struct operation_work *work, EVP_PKEY *own, EVP_PKEY *peer) {
  unsigned pad = 1;
  OSSL_PARAM params[] = {OSSL_PARAM_construct_uint(OSSL_EXCHANGE_PARAM_PAD, &pad), OSSL_PARAM_construct_end()};
  bool finite = !strcmp(work->by->library_name, "DH");
  EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_pkey(NULL, own, NULL);
  if (ctx && EVP_PKEY_derive_init_ex(ctx, finite ? params : NULL) > 0 && EVP_PKEY_derive_set_peer(ctx, peer) > 0) return ctx;
  EVP_PKEY_CTX_free(ctx);
  return NULL;
}

static bool derive(struct operation_work *work, EVP_PKEY_CTX *ctx) {
  work->secret_size = SECRET_MAX;
  return EVP_PKEY_derive(ctx, work->secret, &work->secret_size) > 0;
}

/* The peer's side: the same secret by the peer's private key and one's own public one. */
static bool derive_as_peer(struct operation_work *work, EVP_PKEY *peer, EVP_PKEY *own, unsigned char *secret, size_t *size) {
  unsigned char *bytes = NULL;
  size_t length;
  EVP_PKEY *public = encode(own, &bytes, &length) ? import(peer, bytes, length) : NULL;
  EVP_PKEY_CTX *ctx = public ? deriver(work, peer, public) : NULL;
  *size = SECRET_MAX;
  bool ok = ctx && EVP_PKEY_derive(ctx, secret, size) > 0;
  EVP_PKEY_CTX_free(ctx);
  EVP_PKEY_free(public);
  OPENSSL_free(bytes);
  return ok;
}

static enum operation_state open_kex(struct operation_work *work) {
  EVP_PKEY *other = NULL;
  enum operation_state state = open_key(work);
  if (state != OPERATION_READY) return state;
  bool ok = EVP_PKEY_generate(work->generate, &other) > 0 && encode(other, &work->share, &work->share_size) &&
            (work->peer = import(work->own, work->share, work->share_size)) && (work->own_ctx = deriver(work, work->own, work->peer)) &&
            derive_as_peer(work, other, work->own, work->expected, &work->expected_size);
  EVP_PKEY_free(other);
  return ok ? OPERATION_READY : OPERATION_WRONG;
}

static bool call_derive(struct operation_work *work, int i) { return i >= 0 && derive(work, work->own_ctx); }

static bool call_derive_full(struct operation_work *work, int i) {
  return call_import(work, i) && (work->contexts[i] = deriver(work, work->own, work->keys[i])) && derive(work, work->contexts[i]);
}

static const char *check_derive(struct operation_work *work) {
  return operation_same_secret(work, work->expected, work->expected_size, work->secret, work->secret_size);
}

static const char *check_kex_keygen(struct operation_work *work) {
  unsigned char *bytes = NULL, secret[SECRET_MAX];
  size_t size, secret_size;
  EVP_PKEY *public = encode(work->keys[0], &bytes, &size) ? import(work->own, bytes, size) : NULL;
  EVP_PKEY_CTX *ctx = public ? deriver(work, work->own, public) : NULL;
  const char *wrong = "the new key does not agree on a secret";
  if (ctx && derive(work, ctx) && derive_as_peer(work, work->keys[0], work->own, secret, &secret_size))
    wrong = operation_same_secret(work, work->secret, work->secret_size, secret, secret_size);
  EVP_PKEY_CTX_free(ctx);
  EVP_PKEY_free(public);
  OPENSSL_free(bytes);
  return wrong;
}

/* ---- signatures */

static const OSSL_PARAM *signature_params(const struct operation_algorithm *by) {
  static OSSL_PARAM pss[3];
  pss[0] = OSSL_PARAM_construct_utf8_string(OSSL_SIGNATURE_PARAM_PAD_MODE, (char *)OSSL_PKEY_RSA_PAD_MODE_PSS, 0);
  pss[1] = OSSL_PARAM_construct_utf8_string(OSSL_SIGNATURE_PARAM_PSS_SALTLEN, (char *)OSSL_PKEY_RSA_PSS_SALT_LEN_DIGEST, 0);
  pss[2] = OSSL_PARAM_construct_end();
  return by->bits ? pss : NULL;
}

static bool sign(const struct operation_work *work, EVP_PKEY *key, EVP_MD_CTX *ctx, const unsigned char *message, unsigned char *out, size_t *size) {
  *size = BUFFER;
  return ctx && EVP_DigestSignInit_ex(ctx, NULL, work->by->digest, NULL, NULL, key, signature_params(work->by)) > 0 &&
         EVP_DigestSign(ctx, out, size, message, MESSAGE) > 0;
}

static bool verify(const struct operation_work *work, EVP_PKEY *key, EVP_MD_CTX *ctx, const unsigned char *message, const unsigned char *bytes, size_t size) {
  return ctx && EVP_DigestVerifyInit_ex(ctx, NULL, work->by->digest, NULL, NULL, key, signature_params(work->by)) > 0 &&
         EVP_DigestVerify(ctx, bytes, size, message, MESSAGE) > 0;
}

static void fresh_message(struct operation_work *work) { operation_random(work->input, MESSAGE); }

/* Messages are signed once and verified in turns: some signatures take ten thousand times as long to make. */
static void fresh_signature(struct operation_work *work) {
  if (work->signed_count < SIGNED_MESSAGES) {
    int at = work->signed_count++;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    operation_random(work->messages[at], MESSAGE);
    work->failed |= !sign(work, work->own, ctx, work->messages[at], work->output, &work->output_size);
    EVP_MD_CTX_free(ctx);
    work->signatures[at] = OPENSSL_memdup(work->output, work->output_size);
    work->signature_sizes[at] = work->output_size;
  }
  work->turn = (work->turn + 1) % work->signed_count;
}

static bool call_sign(struct operation_work *work, int i) {
  return sign(work, work->own, work->mds[i] = EVP_MD_CTX_new(), work->input, work->output, &work->output_size);
}

static bool call_verify(struct operation_work *work, int i) {
  int at = work->turn;
  return verify(work, work->own, work->mds[i] = EVP_MD_CTX_new(), work->messages[at], work->signatures[at], work->signature_sizes[at]);
}

/* The signature in output of the message in input verifies, and one with a bit changed does not. */
static const char *check_output(struct operation_work *work, EVP_PKEY *key) {
  EVP_MD_CTX *good = EVP_MD_CTX_new(), *bad = EVP_MD_CTX_new();
  const char *wrong = NULL;
  operation_witness(work, work->output);
  if (!verify(work, key, good, work->input, work->output, work->output_size)) wrong = "the signature does not verify";
  work->output[work->output_size / 2] ^= 1;
  if (!wrong && verify(work, key, bad, work->input, work->output, work->output_size)) wrong = "a forged signature verifies";
  EVP_MD_CTX_free(good);
  EVP_MD_CTX_free(bad);
  return wrong;
}

static const char *check_sign(struct operation_work *work) { return check_output(work, work->own); }

static const char *check_verify(struct operation_work *work) {
  memcpy(work->input, work->messages[work->turn], MESSAGE);
  work->output_size = work->signature_sizes[work->turn];
  memcpy(work->output, work->signatures[work->turn], work->output_size);
  return check_output(work, work->own);
}

static const char *check_signature_keygen(struct operation_work *work) {
  EVP_MD_CTX *ctx = EVP_MD_CTX_new();
  fresh_message(work);
  bool ok = sign(work, work->keys[0], ctx, work->input, work->output, &work->output_size);
  EVP_MD_CTX_free(ctx);
  return ok ? check_output(work, work->keys[0]) : "the new key does not sign";
}

/* ---- RSA encryption */

static EVP_PKEY_CTX *oaep(EVP_PKEY *key, int (*init)(EVP_PKEY_CTX *ctx, const OSSL_PARAM params[])) {
  OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_ASYM_CIPHER_PARAM_PAD_MODE, (char *)OSSL_PKEY_RSA_PAD_MODE_OAEP, 0),
      OSSL_PARAM_construct_utf8_string(OSSL_ASYM_CIPHER_PARAM_OAEP_DIGEST, (char *)"SHA256", 0), OSSL_PARAM_construct_end()};
  EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
  if (ctx && init(ctx, params) > 0) return ctx;
  EVP_PKEY_CTX_free(ctx);
  return NULL;
}

static bool call_encrypt(struct operation_work *work, int i) {
  work->input_size = BUFFER;
  return i >= 0 && EVP_PKEY_encrypt(work->peer_ctx, work->input, &work->input_size, work->expected, OAEP_TEXT) > 0;
}

static bool call_decrypt(struct operation_work *work, int i) {
  work->secret_size = SECRET_MAX;
  return i >= 0 && EVP_PKEY_decrypt(work->own_ctx, work->secret, &work->secret_size, work->input, work->input_size) > 0;
}

static void fresh_encrypted(struct operation_work *work) { work->failed |= !call_encrypt(work, 0); }

static enum operation_state open_rsa(struct operation_work *work) {
  enum operation_state state = open_key(work);
  if (state != OPERATION_READY) return state;
  work->peer_ctx = oaep(work->own, EVP_PKEY_encrypt_init_ex);
  work->own_ctx = oaep(work->own, EVP_PKEY_decrypt_init_ex);
  work->expected_size = OAEP_TEXT;
  operation_random(work->expected, OAEP_TEXT);
  return work->peer_ctx && work->own_ctx ? OPERATION_READY : OPERATION_WRONG;
}

static const char *check_encrypt(struct operation_work *work) {
  if (!call_decrypt(work, 0)) return "what was encrypted cannot be decrypted";
  return operation_same_secret(work, work->expected, work->expected_size, work->secret, work->secret_size);
}

static const struct operation_step kem_steps[] = {
    {"keygen", "context reused", NULL, call_keygen, check_kem_keygen, false, false, 0},
    {"import_pub", "encoded public key parsed", NULL, call_import, check_import, false, false, 0},
    {"encaps", "key imported; context reused", NULL, call_encaps, check_encaps, false, false, 0},
    {"decaps", "context reused; another ciphertext each time", fresh_ciphertext, call_decaps, check_decaps, false, false, 0},
    {"encaps_full", "import_pub, new context, encaps; what they made is freed outside", NULL, call_encaps_full, check_encaps, false, false, 0},
    {"decaps_full", "new context, decaps; freed outside", fresh_ciphertext, call_decaps_full, check_decaps, false, false, 0},
};
static const struct operation_step kex_steps[] = {
    {"keygen", "context reused", NULL, call_keygen, check_kex_keygen, false, false, 0},
    {"import_pub", "encoded public key parsed", NULL, call_import, check_import, false, false, 0},
    {"derive", "peer set once; context reused", NULL, call_derive, check_derive, false, false, 0},
    {"derive_full", "import_pub, new context, check of the peer's key, derive; what they made is freed outside", NULL, call_derive_full, check_derive, false,
        false, 0},
};
#define SIGNED "130 B signed; new context"
#define VERIFIED "130 B verified; new context"
static const struct operation_step signature_steps[] = {
    {"keygen", "context reused", NULL, call_keygen, check_signature_keygen, false, false, 0},
    {"sign", SIGNED, fresh_message, call_sign, check_sign, false, false, 0},
    {"verify", VERIFIED, fresh_signature, call_verify, check_verify, false, false, 0},
};
static const struct operation_step mldsa_steps[] = {
    {"keygen", "context reused", NULL, call_keygen, check_signature_keygen, false, false, 0},
    {"sign", SIGNED "; hedged", fresh_message, call_sign, check_sign, false, true, 2 * SAMPLES},
    {"verify", VERIFIED, fresh_signature, call_verify, check_verify, false, false, 0},
};
static const struct operation_step rsa_steps[] = {
    {"keygen", "context reused", NULL, call_keygen, check_signature_keygen, false, true, 200},
    {"sign", SIGNED "; PSS, salt as long as the digest", fresh_message, call_sign, check_sign, false, false, 0},
    {"verify", VERIFIED "; PSS", fresh_signature, call_verify, check_verify, false, false, 0},
    {"encrypt", "OAEP-SHA256, 32 B; context reused", NULL, call_encrypt, check_encrypt, false, false, 0},
    {"decrypt", "OAEP-SHA256, 32 B; context reused; another ciphertext each time", fresh_encrypted, call_decrypt, check_derive, false, false, 0},
};

const struct operation_family operation_kem = {open_kem, kem_steps, LENGTH(kem_steps)};
const struct operation_family operation_kex = {open_kex, kex_steps, LENGTH(kex_steps)};
const struct operation_family operation_signature = {open_key, signature_steps, LENGTH(signature_steps)};
const struct operation_family operation_mldsa = {open_key, mldsa_steps, LENGTH(mldsa_steps)};
const struct operation_family operation_rsa = {open_rsa, rsa_steps, LENGTH(rsa_steps)};
