/* SPDX-License-Identifier: GPL-2.0-or-later */
/* alg: the algorithms, their sizes and strength.
 *
 * Purpose:  one row per algorithm: what every protocol needs to know about bytes, names and security.
 * Units:    bytes; security in bits.
 * Names:    `name` is canonical; alg_find accepts aliases without regard to case and to the marks - _ : and blank
 *           (TLS group and scheme names, IKE transform names of strongSwan and libreswan, the standard's own
 *           spelling, liboqs names), 0xNNNN as the TLS code point and dhN as the IKEv2 method number.
 * Shares:   elliptic-curve shares have the length of the SEC 1 uncompressed point, as TLS sends it (65, 97, 133).
 *           IKEv2 leaves out the leading 0x04 and so sends one byte less (RFC 5903).
 *           MODP-2048/3072 of IKE (RFC 3526) and ffdhe2048/3072 (RFC 7919) differ in the prime alone; one row serves both.
 *           X25519MLKEM768 puts the ML-KEM part first, the SecP hybrids the curve part; lengths are plain sums.
 * Signature keys: public_bytes is what fills the BIT STRING of a certificate's SubjectPublicKeyInfo; for RSA that is
 *           the DER RSAPublicKey with e = 65537. secret_bytes of RSA is the private exponent.
 * Strength: classical_bits and quantum_bits are what the standard claims, not an attack paper's estimate. A NIST
 *           category says "as hard to break as AES-128, SHA-256, AES-192, SHA-384, AES-256" (1 to 5):
 *           classically 128, 128, 192, 192, 256 bits; under Grover's search (AES) and Brassard-Hoyer-Tapp collision
 *           search (SHA) 64, 85, 96, 128, 128. Curves, RSA and finite fields: SP 800-57 part 1 table 2,
 *           SP 800-56A/B; 0 quantum bits, since Shor's algorithm breaks them. A hybrid has the strength of its
 *           stronger part.
 * Sources:  each row names its standard. Byte counts of the round-3 names were checked against the flights of
 *           Sosnowski et al. (source tum-pqs-tls-2023), those of the standards against OpenSSL 3.5.9.
 */
#ifndef PQNETSIM_ALG_H
#define PQNETSIM_ALG_H

#include "sim/core/err.h"
#include <stdbool.h>

enum alg_kind { ALG_KEX, ALG_KEM, ALG_HYBRID, ALG_SIGNATURE, ALG_AEAD, ALG_HASH };

struct alg {
  const char *name; /* "mlkem768", "x25519", "ecdsa-p256", "mldsa65", "aes256gcm16" */
  enum alg_kind kind;
  const char *title;   /* "ML-KEM-768": the spelling of the cost files and of people */
  const char *aliases; /* space separated, lower case */
  /* KEX/KEM/HYBRID: initiator share, responder share, shared secret. SIGNATURE: public key, signature (largest; of
   * DER-coded ECDSA the most frequent length), private key. AEAD: key, tag, nonce. HASH: 0, digest, block. */
  int public_bytes, answer_bytes, secret_bytes;
  int nist_category; /* 0: none stated */
  int classical_bits;
  int quantum_bits;     /* 0: broken by Shor's algorithm */
  int ike_id;           /* IKEv2 key exchange method, -1 none */
  int tls_id;           /* TLS group or SignatureScheme, -1 none. All RSA sizes share one SignatureScheme. */
  const char *standard; /* "FIPS 203" */
};

/* All rows in listing order. What a scenario defines itself (alg_own.h) is not among them, but alg_find and alg_nearest know it. */
const struct alg *alg_table(int *count);

/* No quantum algorithm is known that breaks it outright, as Shor's breaks curves, RSA and finite fields. */
bool alg_is_quantum_safe(const struct alg *alg);

/* NULL when unknown. kind_mask: 1 << enum alg_kind of what is wanted. The first row in table order wins where kinds
 * share a spelling ("p256" is a curve and a signature) or a code (0x0804). */
const struct alg *alg_find(const char *name, unsigned kind_mask);
/* Nearest canonical name of the wanted kinds, for messages; NULL when nothing is near. */
const char *alg_nearest(const char *name, unsigned kind_mask);

const char *alg_kind_name(enum alg_kind kind);

#endif
