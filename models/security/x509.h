/* SPDX-License-Identifier: GPL-2.0-or-later */
/* x509: sizes of X.509 certificates and signatures.
 *
 * Purpose:  DER length of a certificate whose subject and issuer use one signature algorithm, from first principles.
 * Units:    bytes.
 * Sources:  X.690 (DER), RFC 5280 (certificate), RFC 5480 and 3279 (EC and RSA keys), RFC 8410 (Ed25519),
 *           RFC 9881 (ML-DSA: raw public key, parameters absent), RFC 9909 (SLH-DSA).
 *           Names and extensions, which no standard fixes, are those of the measured chains (source
 *           pqnetsim-ike-2026, pqnetsim-tls-2026), or those of the bare test certificates of the Open Quantum Safe
 *           fork of OpenSSL (source tum-pqs-tls-2023): see x509.c.
 * Trial:    round-3 algorithms, their pairs with a classical one, and RSA-1024 have an encoding in that fork only.
 *           x509_certificate_bytes, which IKE uses, does not know them; x509_issued_bytes does.
 */
#ifndef PQNETSIM_X509_H
#define PQNETSIM_X509_H

#include "models/crypto/alg.h"

enum x509_role { X509_LEAF, X509_INTERMEDIATE };

/* What a certificate holds beside key and signature. All 0: as in the measured chains. */
struct x509_content {
  bool bare;         /* version 1 with short names and no extensions, as a test makes it */
  int ca_name_bytes; /* DER length of the name of each certification authority; 0: as in the measured chains */
  int leaf_extra;    /* bytes a leaf has beyond that: longer subject, more host names, SCTs */
};

/* 0 for an algorithm that has no X.509 encoding here. */
int x509_certificate_bytes(const struct alg *signature, enum x509_role role);

/* A certificate for a key of one algorithm, signed with one of another. Both must have an encoding. */
int x509_issued_bytes(const struct alg *key, const struct alg *issuer, enum x509_role role, const struct x509_content *content);
bool x509_is_encoded(const struct alg *signature);

/* DER length of the name of a certification authority with such a key. */
int x509_ca_name_bytes(const struct alg *ca, const struct x509_content *content);

/* AlgorithmIdentifier of a signature, its length byte not counted. */
int x509_algorithm_identifier_bytes(const struct alg *signature);

/* The signature as it is sent; the middle length of DER-coded ECDSA, which varies by one byte each way. */
int x509_signature_bytes(const struct alg *signature);

#endif
