/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/security/x509.h"
#include "models/crypto/alg_own.h"

#include <stddef.h>
#include <string.h>

/* How a family encodes keys and signatures. */
struct encoding {
  const char *name;              /* canonical algorithm */
  const char *label;             /* how the measured chains' names spell it: it appears in subject and issuer */
  int algorithm_identifier;      /* of the signature, tag and length included */
  int key_identifier;            /* of the public key */
  enum { KEY_RAW, KEY_RSA } key; /* KEY_RAW: the bit string holds the public key itself */
  int signature;                 /* 0: alg.h's size */
};

/* AlgorithmIdentifier = 2 + OID (2 + its content) + parameters:
 * sha256WithRSAEncryption 9 + NULL 2; ecdsa-with-SHA256/384 8; Ed25519/Ed448 3; ML-DSA and SLH-DSA 9.
 * id-ecPublicKey 7 with a named curve: prime256v1 8, secp384r1 5.
 * ECDSA: two INTEGERs of 32 (48) bytes, each with a leading zero byte every other time: 70..72, 102..104. */
static const struct encoding encodings[] = {
    {"rsa-2048", "rsa2048", 15, 15, KEY_RSA, 0},
    {"rsa-3072", "rsa3072", 15, 15, KEY_RSA, 0},
    {"rsa-4096", "rsa4096", 15, 15, KEY_RSA, 0},
    {"ecdsa-p256", "p256", 12, 21, KEY_RAW, 71},
    {"ecdsa-p384", "p384", 12, 18, KEY_RAW, 103},
    {"ed25519", "ed25519", 7, 7, KEY_RAW, 0},
    {"ed448", "ed448", 7, 7, KEY_RAW, 0},
    {"mldsa44", "mldsa44", 13, 13, KEY_RAW, 0},
    {"mldsa65", "mldsa65", 13, 13, KEY_RAW, 0},
    {"mldsa87", "mldsa87", 13, 13, KEY_RAW, 0},
    {"slhdsa-sha2-128s", "slhdsa128s", 13, 13, KEY_RAW, 0},
    {"slhdsa-sha2-128f", "slhdsa128f", 13, 13, KEY_RAW, 0},
};

enum {
  VERSION_BYTES = 5,
  VALIDITY_BYTES = 32,
  /* Serial number, names and extensions of the measured chains without the algorithm's label, which stands in the
   * issuer of a leaf and in issuer and subject of an intermediate. From the Certificate messages of chains of 0 to 2
   * intermediates of RSA-2048, P-256, P-384, Ed25519, ML-DSA-44 and -65 (TLS rig), which this reproduces to the byte. */
  LEAF_NAMES_AND_EXTENSIONS = 303,
  INTERMEDIATE_NAMES_AND_EXTENSIONS = 249,
};

/* name NULL: there is no encoding. An algorithm of the user's own is encoded as those of FIPS 204 and 205 are: raw key and
 * signature, an object identifier of 9 bytes, no parameters; its name is the label. */
static struct encoding find(const struct alg *signature) {
  for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++)
    if (strcmp(encodings[i].name, signature->name) == 0) return encodings[i];
  if (!alg_is_own(signature)) return (struct encoding){.name = NULL};
  return (struct encoding){.name = signature->name, .label = signature->name, .algorithm_identifier = 13, .key_identifier = 13, .key = KEY_RAW};
}

/* A DER value of n content bytes with its tag and length. */
static int der(int n) { return n + (n < 128 ? 2 : n < 256 ? 3 : n < 65536 ? 4 : 5); }

static int bit_string(int n) { return der(1 + n); }

static int subject_public_key_info(const struct encoding *encoding, const struct alg *signature) {
  int key = signature->public_bytes;
  if (encoding->key == KEY_RSA) {
    int modulus = signature->answer_bytes; /* a signature is as long as the modulus */
    key = der(der(modulus + 1) + der(3));  /* the exponent is 65537 */
  }
  return der(encoding->key_identifier + bit_string(key));
}

int x509_signature_bytes(const struct alg *signature) {
  int fixed = find(signature).signature;
  return fixed ? fixed : signature->answer_bytes;
}

int x509_algorithm_identifier_bytes(const struct alg *signature) { return find(signature).algorithm_identifier; }

int x509_certificate_bytes(const struct alg *signature, enum x509_role role) {
  const struct encoding encoding = find(signature);
  if (!encoding.name) return 0;
  int label = (int)strlen(encoding.label);
  int names = role == X509_LEAF ? LEAF_NAMES_AND_EXTENSIONS + label : INTERMEDIATE_NAMES_AND_EXTENSIONS + 2 * label;
  int to_be_signed = der(VERSION_BYTES + VALIDITY_BYTES + names + encoding.algorithm_identifier + subject_public_key_info(&encoding, signature));
  return der(to_be_signed + encoding.algorithm_identifier + bit_string(x509_signature_bytes(signature)));
}
