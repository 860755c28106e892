/* SPDX-License-Identifier: GPL-2.0-or-later */
/* x509: sizes of X.509 certificates and signatures.
 *
 * Purpose:  DER length of a certificate whose subject and issuer use one signature algorithm, from first principles.
 * Units:    bytes.
 * Sources:  X.690 (DER), RFC 5280 (certificate), RFC 5480 and 3279 (EC and RSA keys), RFC 8410 (Ed25519),
 *           RFC 9881 (ML-DSA: raw public key, parameters absent), RFC 9909 (SLH-DSA).
 *           Names and extensions, which no standard fixes, are those of the measured chains (source
 *           pqnetsim-ike-2026, pqnetsim-tls-2026): see x509.c.
 * Left out: certificates signed by another algorithm than their own key's; compression.
 */
#ifndef PQNETSIM_X509_H
#define PQNETSIM_X509_H

#include "models/crypto/alg.h"

enum x509_role { X509_LEAF, X509_INTERMEDIATE };

/* 0 for an algorithm that has no X.509 encoding here. */
int x509_certificate_bytes(const struct alg *signature, enum x509_role role);

/* AlgorithmIdentifier of a signature, its length byte not counted. */
int x509_algorithm_identifier_bytes(const struct alg *signature);

/* The signature as it is sent; the middle length of DER-coded ECDSA, which varies by one byte each way. */
int x509_signature_bytes(const struct alg *signature);

#endif
