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
  bool trial;                    /* in the Open Quantum Safe fork only */
};

/* AlgorithmIdentifier = 2 + OID (2 + its content) + parameters:
 * sha256WithRSAEncryption 9 + NULL 2; ecdsa-with-SHA256/384 8; Ed25519/Ed448 3; ML-DSA and SLH-DSA 9.
 * id-ecPublicKey 7 with a named curve: prime256v1 8, secp384r1 5.
 * ECDSA: two INTEGERs of 32 (48) bytes, each with a leading zero byte every other time: 70..72, 102..104. */
static const struct encoding encodings[] = {
    {"rsa-2048", "rsa2048", 15, 15, KEY_RSA, 0, false},
    {"rsa-3072", "rsa3072", 15, 15, KEY_RSA, 0, false},
    {"rsa-4096", "rsa4096", 15, 15, KEY_RSA, 0, false},
    {"ecdsa-p256", "p256", 12, 21, KEY_RAW, 71, false},
    {"ecdsa-p384", "p384", 12, 18, KEY_RAW, 103, false},
    {"ed25519", "ed25519", 7, 7, KEY_RAW, 0, false},
    {"ed448", "ed448", 7, 7, KEY_RAW, 0, false},
    {"mldsa44", "mldsa44", 13, 13, KEY_RAW, 0, false},
    {"mldsa65", "mldsa65", 13, 13, KEY_RAW, 0, false},
    {"mldsa87", "mldsa87", 13, 13, KEY_RAW, 0, false},
    {"slhdsa-sha2-128s", "slhdsa128s", 13, 13, KEY_RAW, 0, false},
    {"slhdsa-sha2-128f", "slhdsa128f", 13, 13, KEY_RAW, 0, false},
    /* Object identifiers of the fork: 1.3.6.1.4.1.2.267.7.4.4 and kin 11 bytes, 1.3.9999.2.7.1 and 1.3.9999.6.1.1 six, 1.3.9999.3.1
     * five. They and the sizes below reproduce each published server flight (models/security/test/tls13_oqs_test.c). */
    {"rsa-1024", "rsa1024", 15, 15, KEY_RSA, 0, true},
    {"dilithium2", "dilithium2", 15, 15, KEY_RAW, 0, true},
    {"dilithium3", "dilithium3", 15, 15, KEY_RAW, 0, true},
    {"dilithium5", "dilithium5", 15, 15, KEY_RAW, 0, true},
    {"falcon512", "falcon512", 9, 9, KEY_RAW, 0, true},
    {"falcon1024", "falcon1024", 9, 9, KEY_RAW, 0, true},
    {"sphincs128f", "sphincs128f", 10, 10, KEY_RAW, 0, true},
    {"sphincs128s", "sphincs128s", 10, 10, KEY_RAW, 0, true},
    {"sphincs192f", "sphincs192f", 10, 10, KEY_RAW, 0, true},
    {"sphincs192s", "sphincs192s", 10, 10, KEY_RAW, 0, true},
    {"sphincs256f", "sphincs256f", 10, 10, KEY_RAW, 0, true},
    {"sphincs256s", "sphincs256s", 10, 10, KEY_RAW, 0, true},
    {"picnicl1fs", "picnicl1fs", 9, 9, KEY_RAW, 0, true},
    {"qteslapi", "qteslapi", 9, 9, KEY_RAW, 0, true},
    {"p256_falcon512", "p256_falcon512", 9, 9, KEY_RAW, 0, true},
    {"p521_falcon1024", "p521_falcon1024", 9, 9, KEY_RAW, 0, true},
    {"p256_dilithium2", "p256_dilithium2", 10, 10, KEY_RAW, 0, true},
    {"rsa3072_dilithium2", "rsa3072_dilithium2", 10, 10, KEY_RAW, 0, true},
    {"p384_dilithium3", "p384_dilithium3", 10, 10, KEY_RAW, 0, true},
    {"p521_dilithium5", "p521_dilithium5", 10, 10, KEY_RAW, 0, true},
    {"p256_sphincs128", "p256_sphincs128", 10, 10, KEY_RAW, 0, true},
    {"p384_sphincs192", "p384_sphincs192", 10, 10, KEY_RAW, 0, true},
    {"p521_sphincs256", "p521_sphincs256", 10, 10, KEY_RAW, 0, true},
};

enum {
  VERSION_BYTES = 5,
  VALIDITY_BYTES = 32,
  /* The name of a certification authority of the measured chains without the algorithm's label: what CertificateRequest holds. */
  CA_NAME_WITHOUT_LABEL = 53,
  /* Serial number and extensions; of a leaf its subject too. From the Certificate messages of chains of 0 to 2 intermediates of
   * RSA-2048, P-256, P-384, Ed25519, ML-DSA-44 and -65 (TLS rig), which this reproduces to the byte. */
  LEAF_REST = 250,
  INTERMEDIATE_REST = 143,
  /* A bare certificate: serial number of 20 bytes, and 22 for each name. */
  BARE_REST = 22 + 22,
  BARE_CA_NAME = 22,
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

bool x509_is_encoded(const struct alg *signature) { return find(signature).name; }

int x509_ca_name_bytes(const struct alg *ca, const struct x509_content *content) {
  if (content->ca_name_bytes > 0) return content->ca_name_bytes;
  return content->bare ? BARE_CA_NAME : CA_NAME_WITHOUT_LABEL + (int)strlen(find(ca).label);
}

/* Version, serial number, names and extensions. */
static int text_bytes(const struct alg *key, const struct alg *issuer, enum x509_role role, const struct x509_content *content) {
  int bytes = x509_ca_name_bytes(issuer, content) + (role == X509_LEAF ? content->leaf_extra : 0);
  if (content->bare) return bytes + BARE_REST;
  if (role == X509_LEAF) return bytes + VERSION_BYTES + LEAF_REST;
  return bytes + VERSION_BYTES + INTERMEDIATE_REST + x509_ca_name_bytes(key, content);
}

int x509_issued_bytes(const struct alg *key, const struct alg *issuer, enum x509_role role, const struct x509_content *content) {
  const struct encoding encoding = find(key);
  int identifier = find(issuer).algorithm_identifier;
  int to_be_signed = der(text_bytes(key, issuer, role, content) + VALIDITY_BYTES + identifier + subject_public_key_info(&encoding, key));
  return der(to_be_signed + identifier + bit_string(x509_signature_bytes(issuer)));
}

int x509_certificate_bytes(const struct alg *signature, enum x509_role role) {
  static const struct x509_content measured;
  const struct encoding encoding = find(signature);
  return encoding.name && !encoding.trial ? x509_issued_bytes(signature, signature, role, &measured) : 0;
}
