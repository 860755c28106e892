/* SPDX-License-Identifier: GPL-3.0-or-later */
/* operations: what can be timed with the OpenSSL this program runs with.
 *
 * Purpose:   a table of operations, each fetched by name through EVP, so that one source serves OpenSSL 3.0 and later; what a library
 *            lacks is found when it is asked for, and no operation stands in for another.
 * Names:     algorithms and operations as in platform files (alg.h, cost.h).
 * What:      keygen            a new key pair; the generating context is reused
 *            import_pub        an empty key, its parameters, then the peer's encoded public key, as TLS does
 *            encaps decaps     key imported, context reused; decaps gets another ciphertext each time
 *            derive            peer set once, context reused
 *            encaps_full derive_full   import_pub, new context, (check of the peer's key,) the operation
 *            decaps_full       new context, the operation
 *            sign verify       EVP_DigestSign/Verify with a new context over 130 B (the length TLS 1.3 signs), another message each
 *                              time; RSA with PSS, ML-DSA hedged
 *            encrypt decrypt   RSA-OAEP with SHA-256, 32 B, context reused
 *            set_key           cipher, key and nonce into a context that was used before
 *            seal open         key scheduled; nonce, 5 B of associated data, 16 B of tag
 *            hash              init, update, final
 *            extract expand extract_expand   HKDF by EVP_KDF_derive with its parameters, 52 B of info
 *            What a call made is freed outside the timing.
 * Order:     operation_open, then rounds of operation_prepare, operation_call (timed), operation_finish.
 * Ownership: operation_open/operation_close; the table lives for ever.
 * Errors:    OPERATION_MISSING: this library does not have it; OPERATION_WRONG: it has, and the result is not right. Both with a reason.
 * Sources:   FIPS 203, 204, 205; RFC 7748, 8032, 8017, 5869, 8439; SP 800-38D, by OpenSSL's EVP interface.
 */
#ifndef PQNETSIM_OPERATIONS_H
#define PQNETSIM_OPERATIONS_H

#include <stdbool.h>
#include <stdint.h>

enum { OPERATION_BATCH = 64, OPERATION_TEXT = 256 };

struct operation_algorithm;
struct operation_step;

struct operation {
  const char *algorithm, *operation;
  int size_bytes;   /* 0: does not depend on size */
  bool random;      /* its work depends on chance: rejection sampling, the search for primes */
  int samples;      /* worth taking when time allows */
  const char *what; /* conditions, for the note of its row */
  const struct operation_algorithm *by;
  const struct operation_step *step;
};

const struct operation *operation_table(int *count);

/* "OpenSSL 3.5.9" of the library that is loaded. */
const char *operation_library(void);

enum operation_state { OPERATION_READY, OPERATION_MISSING, OPERATION_WRONG };

struct operation_work;

/* Makes keys and inputs, does the operation once and checks its result. *out is NULL unless ready. */
enum operation_state operation_open(const struct operation *operation, struct operation_work **out, char reason[OPERATION_TEXT]);
void operation_close(struct operation_work *work);

/* The provider that does it: "default". */
const char *operation_provider(const struct operation_work *work);

/* Fresh inputs for the calls to come. */
void operation_prepare(struct operation_work *work);
/* 1 <= batch <= OPERATION_BATCH calls, one after the other. */
void operation_call(struct operation_work *work, int batch);
/* Frees what the calls made. False: one of them failed. */
bool operation_finish(struct operation_work *work);

/* One round with its result checked: secrets agree, signatures verify and forged ones do not, what was sealed opens. */
bool operation_check(struct operation_work *work, char reason[OPERATION_TEXT]);
/* For tests: damages every result before it is checked. */
void operation_spoil(struct operation_work *work);

#endif
