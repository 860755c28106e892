/* SPDX-License-Identifier: GPL-3.0-or-later */
/* operations_work: what the files of operations share.
 *
 * Purpose:   the keys, contexts and buffers of an operation that is open, and the families of algorithms it is taken from.
 * Order:     a step's `fresh` before each round, its `call` with i = 0, 1, ... up to the batch, its `check` after call 0.
 * Ownership: operation_close frees everything in struct operation_work.
 * Errors:    a call or check that fails says so; nothing stands in for it.
 */
#ifndef PQNETSIM_OPERATIONS_WORK_H
#define PQNETSIM_OPERATIONS_WORK_H

#include "calib/operations.h"
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <stddef.h>

#define LENGTH(table) ((int)(sizeof table / sizeof table[0]))

enum { MESSAGE = 130, NONCE = 12, TAG = 16, SIGNED_MESSAGES = 8, BUFFER = 65536, SECRET_MAX = 1024, SAMPLES = 5000 };

/* An operation of a family. */
struct operation_step {
  const char *name, *what;
  void (*fresh)(struct operation_work *work); /* may be NULL */
  bool (*call)(struct operation_work *work, int i);
  const char *(*check)(struct operation_work *work); /* of what call 0 left: NULL, or what is wrong */
  bool sized, random;
  int samples; /* 0: SAMPLES */
};

struct operation_family {
  enum operation_state (*open)(struct operation_work *work);
  const struct operation_step *steps;
  int step_count;
};

extern const struct operation_family operation_kem, operation_kex, operation_signature, operation_mldsa, operation_rsa; /* operations_keys.c */
extern const struct operation_family operation_aead, operation_hash, operation_hkdf;                                    /* operations_data.c */

struct operation_algorithm {
  const char *title, *library_name, *group, *digest;
  int bits, bytes;   /* RSA: of the modulus; HKDF: to derive */
  const char *since; /* the OpenSSL that brought it; NULL: 3.0 has it */
  const struct operation_family *family;
};

struct operation_work {
  const struct operation *operation;
  const struct operation_algorithm *by;
  bool failed, spoilt;
  /* a key of one's own, and the public key imported from share */
  EVP_PKEY *own, *peer;
  EVP_PKEY_CTX *generate, *own_ctx, *peer_ctx;
  unsigned char *share;
  size_t share_size;
  EVP_CIPHER *cipher;
  EVP_CIPHER_CTX *cipher_ctx;
  EVP_MD *md;
  EVP_MD_CTX *md_ctx;
  EVP_KDF *kdf;
  EVP_KDF_CTX *kdf_ctx;
  /* what calls made */
  EVP_PKEY *keys[OPERATION_BATCH];
  EVP_PKEY_CTX *contexts[OPERATION_BATCH];
  EVP_MD_CTX *mds[OPERATION_BATCH];
  unsigned char input[BUFFER], output[BUFFER], secret[SECRET_MAX], expected[SECRET_MAX];
  size_t input_size, output_size, secret_size, expected_size;
  unsigned char key[64], nonce[NONCE], tag[TAG];
  uint64_t sealed; /* so many times; becomes the nonce */
  unsigned char messages[SIGNED_MESSAGES][MESSAGE], *signatures[SIGNED_MESSAGES];
  size_t signature_sizes[SIGNED_MESSAGES];
  int signed_count, turn;
};

/* operations.c */
void operation_random(unsigned char *bytes, size_t size);
/* Damages what a check is about to look at, when a test asked for it. */
void operation_witness(const struct operation_work *work, unsigned char *bytes);
/* NULL, or that the secrets differ. */
const char *operation_same_secret(const struct operation_work *work, const unsigned char *a, size_t a_size, unsigned char *b, size_t b_size);

#endif
