/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/crypto/alg.h"
#include "models/crypto/alg_own.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define KEX ALG_KEX
#define KEM ALG_KEM
#define HYB ALG_HYBRID
#define SIG ALG_SIGNATURE
#define AEAD ALG_AEAD
#define HASH ALG_HASH

#define KYBER "Kyber round 3 (2021)"
#define BIKE "BIKE round 3 (2021)"
#define HQC "HQC round 3 (2021)"
#define FRODO "FrodoKEM round 3 (2021)"
#define DILITHIUM "Dilithium round 3 (2021)"
#define SPHINCS "SPHINCS+ round 3 (2020), simple"
#define OQS "OQS hybrid: concatenation"
/* Both keys, both signatures, the length of the classical one in 4 bytes before it; ECDSA signatures of their most frequent length. */
#define OQS_SIG "OQS hybrid: length and concatenation"

/* name, kind, title, aliases, public, answer, secret, category, classical, quantum, IKE id, TLS id, standard */
static const struct alg algorithms[] = {
    {"x25519", KEX, "X25519", "curve25519", 32, 32, 32, 0, 128, 0, 31, 0x001d, "RFC 7748"},
    {"x448", KEX, "X448", "curve448", 56, 56, 56, 0, 224, 0, 32, 0x001e, "RFC 7748"},
    {"secp256r1", KEX, "P-256", "p256 ecp256 prime256v1 nistp256", 65, 65, 32, 0, 128, 0, 19, 0x0017, "SP 800-186, SEC 1"},
    {"secp384r1", KEX, "P-384", "p384 ecp384 nistp384", 97, 97, 48, 0, 192, 0, 20, 0x0018, "SP 800-186, SEC 1"},
    {"secp521r1", KEX, "P-521", "p521 ecp521 nistp521", 133, 133, 66, 0, 256, 0, 21, 0x0019, "SP 800-186, SEC 1"},
    {"ffdhe2048", KEX, "ffdhe2048", "modp2048", 256, 256, 256, 0, 112, 0, 14, 0x0100, "RFC 7919, IKE: 3526"},
    {"ffdhe3072", KEX, "ffdhe3072", "modp3072", 384, 384, 384, 0, 128, 0, 15, 0x0101, "RFC 7919, IKE: 3526"},
    {"ffdhe4096", KEX, "ffdhe4096", "modp4096", 512, 512, 512, 0, 152, 0, 16, 0x0102, "RFC 7919, IKE: 3526"},
    {"ffdhe6144", KEX, "ffdhe6144", "modp6144", 768, 768, 768, 0, 176, 0, 17, 0x0103, "RFC 7919, IKE: 3526"},
    {"ffdhe8192", KEX, "ffdhe8192", "modp8192", 1024, 1024, 1024, 0, 200, 0, 18, 0x0104, "RFC 7919, IKE: 3526"},

    {"mlkem512", KEM, "ML-KEM-512", "ml_kem_512", 800, 768, 32, 1, 128, 64, 35, 0x0200, "FIPS 203"},
    {"mlkem768", KEM, "ML-KEM-768", "ml_kem_768", 1184, 1088, 32, 3, 192, 96, 36, 0x0201, "FIPS 203"},
    {"mlkem1024", KEM, "ML-KEM-1024", "ml_kem_1024", 1568, 1568, 32, 5, 256, 128, 37, 0x0202, "FIPS 203"},

    {"x25519mlkem768", HYB, "X25519MLKEM768", "x25519_mlkem768", 1216, 1120, 64, 3, 192, 96, -1, 0x11ec, "draft-ietf-tls-ecdhe-mlkem"},
    {"secp256r1mlkem768", HYB, "SecP256r1MLKEM768", "p256_mlkem768 secp256r1_mlkem768", 1249, 1153, 64, 3, 192, 96, -1, 0x11eb, "draft-ietf-tls-ecdhe-mlkem"},
    {"secp384r1mlkem1024", HYB, "SecP384r1MLKEM1024", "p384_mlkem1024 secp384r1_mlkem1024", 1665, 1665, 80, 5, 256, 128, -1, 0x11ed,
        "draft-ietf-tls-ecdhe-mlkem"},

    {"rsa-2048", SIG, "RSA-2048", "rsa2048 rsa:2048 rsa_pss_rsae_sha256", 270, 256, 256, 0, 112, 0, -1, 0x0804, "RFC 8017"},
    {"rsa-3072", SIG, "RSA-3072", "rsa3072 rsa:3072", 398, 384, 384, 0, 128, 0, -1, 0x0804, "RFC 8017"},
    {"rsa-4096", SIG, "RSA-4096", "rsa4096 rsa:4096", 526, 512, 512, 0, 152, 0, -1, 0x0804, "RFC 8017"},
    {"rsa-1024", SIG, "RSA-1024", "rsa1024 rsa:1024", 140, 128, 128, 0, 80, 0, -1, 0x0804, "RFC 8017"},
    {"ecdsa-p256", SIG, "ECDSA-P256", "ecdsap256 ecdsa_secp256r1_sha256 ecdsa256 p256 secp256r1 prime256v1", 65, 71, 32, 0, 128, 0, -1, 0x0403, "FIPS 186-5"},
    {"ecdsa-p384", SIG, "ECDSA-P384", "ecdsap384 ecdsa_secp384r1_sha384 ecdsa384 p384 secp384r1", 97, 103, 48, 0, 192, 0, -1, 0x0503, "FIPS 186-5"},
    {"ed25519", SIG, "Ed25519", "eddsa25519", 32, 64, 32, 0, 128, 0, -1, 0x0807, "RFC 8032"},
    {"ed448", SIG, "Ed448", "eddsa448", 57, 114, 57, 0, 224, 0, -1, 0x0808, "RFC 8032"},
    {"mldsa44", SIG, "ML-DSA-44", "ml_dsa_44", 1312, 2420, 2560, 2, 128, 85, -1, 0x0904, "FIPS 204"},
    {"mldsa65", SIG, "ML-DSA-65", "ml_dsa_65", 1952, 3309, 4032, 3, 192, 96, -1, 0x0905, "FIPS 204"},
    {"mldsa87", SIG, "ML-DSA-87", "ml_dsa_87", 2592, 4627, 4896, 5, 256, 128, -1, 0x0906, "FIPS 204"},
    {"slhdsa-sha2-128s", SIG, "SLH-DSA-SHA2-128s", "slh_dsa_sha2_128s slhdsa128s", 32, 7856, 64, 1, 128, 64, -1, -1, "FIPS 205"},
    {"slhdsa-sha2-128f", SIG, "SLH-DSA-SHA2-128f", "slh_dsa_sha2_128f slhdsa128f", 32, 17088, 64, 1, 128, 64, -1, -1, "FIPS 205"},
    {"slhdsa-shake-128f", SIG, "SLH-DSA-SHAKE-128f", "slh_dsa_shake_128f", 32, 17088, 64, 1, 128, 64, -1, -1, "FIPS 205"},
    {"falcon512", SIG, "Falcon-512", "fndsa512 fn-dsa-512", 897, 666, 1281, 1, 128, 64, -1, -1, "Falcon 1.2, padded form"},
    {"falcon1024", SIG, "Falcon-1024", "fndsa1024 fn-dsa-1024", 1793, 1280, 2305, 5, 256, 128, -1, -1, "Falcon 1.2, padded form"},

    {"aes128gcm16", AEAD, "AES-128-GCM", "aes128gcm aes_gcm128 aes_gcm_16_128", 16, 16, 12, 1, 128, 64, -1, -1, "SP 800-38D"},
    {"aes256gcm16", AEAD, "AES-256-GCM", "aes256gcm aes_gcm256 aes_gcm_16_256", 32, 16, 12, 5, 256, 128, -1, -1, "SP 800-38D"},
    {"chacha20poly1305", AEAD, "ChaCha20-Poly1305", "chacha20_poly1305", 32, 16, 12, 0, 256, 128, -1, -1, "RFC 8439"},

    {"sha256", HASH, "SHA-256", "sha2_256", 0, 32, 64, 2, 128, 85, -1, -1, "FIPS 180-4"},
    {"sha384", HASH, "SHA-384", "sha2_384", 0, 48, 128, 4, 192, 128, -1, -1, "FIPS 180-4"},
    {"sha3-256", HASH, "SHA3-256", "", 0, 32, 136, 2, 128, 85, -1, -1, "FIPS 202"},
    {"hkdf-sha256", HASH, "HKDF-SHA256", "", 0, 32, 64, 0, 256, 128, -1, -1, "RFC 5869"},
    {"hkdf-sha384", HASH, "HKDF-SHA384", "", 0, 48, 128, 0, 384, 192, -1, -1, "RFC 5869"},

    /* Names of published measurements that came before the standards: other algorithms, some of other length. */
    {"kyber512", KEM, "Kyber512", "kyber90s512", 800, 768, 32, 1, 128, 64, -1, -1, KYBER},
    {"kyber768", KEM, "Kyber768", "kyber90s768", 1184, 1088, 32, 3, 192, 96, -1, -1, KYBER},
    {"kyber1024", KEM, "Kyber1024", "kyber90s1024", 1568, 1568, 32, 5, 256, 128, -1, -1, KYBER},
    {"bikel1", KEM, "BIKE-L1", "bike1l1 bike128", 1541, 1573, 32, 1, 128, 64, -1, -1, BIKE},
    {"bikel3", KEM, "BIKE-L3", "bike1l3 bike192", 3083, 3115, 32, 3, 192, 96, -1, -1, BIKE},
    {"hqc128", KEM, "HQC-128", "", 2249, 4481, 64, 1, 128, 64, -1, -1, HQC},
    {"hqc192", KEM, "HQC-192", "", 4522, 9026, 64, 3, 192, 96, -1, -1, HQC},
    {"hqc256", KEM, "HQC-256", "", 7245, 14469, 64, 5, 256, 128, -1, -1, HQC},
    {"frodo640aes", KEM, "FrodoKEM-640-AES", "frodokem640aes", 9616, 9720, 16, 1, 128, 64, -1, -1, FRODO},
    {"frodo640shake", KEM, "FrodoKEM-640-SHAKE", "frodokem640shake", 9616, 9720, 16, 1, 128, 64, -1, -1, FRODO},
    {"frodo976aes", KEM, "FrodoKEM-976-AES", "frodokem976aes", 15632, 15744, 24, 3, 192, 96, -1, -1, FRODO},
    {"frodo976shake", KEM, "FrodoKEM-976-SHAKE", "frodokem976shake", 15632, 15744, 24, 3, 192, 96, -1, -1, FRODO},
    {"frodo1344aes", KEM, "FrodoKEM-1344-AES", "frodokem1344aes", 21520, 21632, 32, 5, 256, 128, -1, -1, FRODO},
    {"frodo1344shake", KEM, "FrodoKEM-1344-SHAKE", "frodokem1344shake", 21520, 21632, 32, 5, 256, 128, -1, -1, FRODO},

    {"sikep434", KEM, "SIKEp434", "", 330, 346, 16, 0, 128, 0, -1, -1, "SIKE round 2 (2019), broken in 2022"},
    {"x25519kyber768", HYB, "X25519Kyber768", "x25519_kyber768 x25519kyber768draft00", 1216, 1120, 64, 3, 192, 96, -1, 0x6399,
        "draft-tls-westerbaan-xyber768d00"},
    {"p256_kyber512", HYB, "P-256+Kyber512", "p256_kyber512_90s", 865, 833, 64, 1, 128, 64, -1, -1, OQS},
    {"p384_kyber768", HYB, "P-384+Kyber768", "", 1281, 1185, 80, 3, 192, 96, -1, -1, OQS},
    {"p521_kyber1024", HYB, "P-521+Kyber1024", "", 1701, 1701, 98, 5, 256, 128, -1, -1, OQS},
    {"p256_bikel1", HYB, "P-256+BIKE-L1", "", 1606, 1638, 64, 1, 128, 64, -1, -1, OQS},
    {"p384_bikel3", HYB, "P-384+BIKE-L3", "", 3180, 3212, 80, 3, 192, 96, -1, -1, OQS},
    {"p256_hqc128", HYB, "P-256+HQC-128", "", 2314, 4546, 96, 1, 128, 64, -1, -1, OQS},
    {"p384_hqc192", HYB, "P-384+HQC-192", "", 4619, 9123, 112, 3, 192, 96, -1, -1, OQS},
    {"p521_hqc256", HYB, "P-521+HQC-256", "", 7378, 14602, 130, 5, 256, 128, -1, -1, OQS},
    {"p256_sikep434", HYB, "P-256+SIKEp434", "", 395, 411, 48, 0, 128, 0, -1, -1, "SIKE round 2 (2019), broken in 2022"},
    {"p256_frodo640aes", HYB, "P-256+FrodoKEM-640-AES", "", 9681, 9785, 48, 1, 128, 64, -1, -1, OQS},

    {"dilithium2", SIG, "Dilithium2", "dilithium2_aes", 1312, 2420, 2528, 2, 128, 85, -1, -1, DILITHIUM},
    {"dilithium3", SIG, "Dilithium3", "dilithium3_aes", 1952, 3293, 4000, 3, 192, 96, -1, -1, DILITHIUM},
    {"dilithium5", SIG, "Dilithium5", "dilithium5_aes", 2592, 4595, 4864, 5, 256, 128, -1, -1, DILITHIUM},
    {"sphincs128f", SIG, "SPHINCS+-128f", "sphincs128 sphincssha2128fsimple sphincsshake128fsimple sphincsharaka128fsimple", 32, 17088, 64, 1, 128, 64, -1, -1,
        SPHINCS},
    {"sphincs128s", SIG, "SPHINCS+-128s", "sphincssha2128ssimple sphincsshake128ssimple", 32, 7856, 64, 1, 128, 64, -1, -1, SPHINCS},
    {"sphincs192f", SIG, "SPHINCS+-192f", "sphincs192 sphincssha2192fsimple sphincsharaka192fsimple", 48, 35664, 96, 3, 192, 96, -1, -1, SPHINCS},
    {"sphincs192s", SIG, "SPHINCS+-192s", "sphincssha2192ssimple", 48, 16224, 96, 3, 192, 96, -1, -1, SPHINCS},
    {"sphincs256f", SIG, "SPHINCS+-256f", "sphincs256 sphincssha2256fsimple sphincsharaka256fsimple", 64, 49856, 128, 5, 256, 128, -1, -1, SPHINCS},
    {"sphincs256s", SIG, "SPHINCS+-256s", "sphincssha2256ssimple", 64, 29792, 128, 5, 256, 128, -1, -1, SPHINCS},

    {"p256_falcon512", SIG, "P-256+Falcon-512", "", 966, 741, 1313, 1, 128, 64, -1, -1, OQS_SIG},
    {"p521_falcon1024", SIG, "P-521+Falcon-1024", "", 1930, 1422, 2371, 5, 256, 128, -1, -1, OQS_SIG},
    {"p256_dilithium2", SIG, "P-256+Dilithium2", "", 1381, 2495, 2560, 2, 128, 85, -1, -1, OQS_SIG},
    {"rsa3072_dilithium2", SIG, "RSA-3072+Dilithium2", "", 1714, 2808, 2912, 2, 128, 85, -1, -1, OQS_SIG},
    {"p384_dilithium3", SIG, "P-384+Dilithium3", "", 2053, 3400, 4048, 3, 192, 96, -1, -1, OQS_SIG},
    {"p521_dilithium5", SIG, "P-521+Dilithium5", "", 2729, 4737, 4930, 5, 256, 128, -1, -1, OQS_SIG},
    {"p256_sphincs128", SIG, "P-256+SPHINCS+-128f", "", 101, 17163, 96, 1, 128, 64, -1, -1, OQS_SIG},
    {"p384_sphincs192", SIG, "P-384+SPHINCS+-192f", "", 149, 35771, 144, 3, 192, 96, -1, -1, OQS_SIG},
    {"p521_sphincs256", SIG, "P-521+SPHINCS+-256f", "", 201, 49998, 194, 5, 256, 128, -1, -1, OQS_SIG},
    {"picnicl1fs", SIG, "Picnic-L1-FS", "", 33, 34036, 49, 1, 128, 64, -1, -1, "Picnic round 2 (2019)"},
    {"qteslapi", SIG, "qTESLA-p-I", "", 14880, 2592, 5224, 1, 128, 64, -1, -1, "qTESLA round 2 (2019)"},
};

enum { ALGORITHMS = sizeof algorithms / sizeof algorithms[0], SPELLING_MAX = 64 };

/* The table's rows, then those of the scenario's own; NULL at the end. */
static const struct alg *row_at(int i) { return i < ALGORITHMS ? &algorithms[i] : i - ALGORITHMS < alg_own_count() ? alg_own_at(i - ALGORITHMS) : NULL; }

const struct alg *alg_table(int *count) {
  *count = ALGORITHMS;
  return algorithms;
}

bool alg_is_quantum_safe(const struct alg *alg) { return alg->quantum_bits > 0; }

const char *alg_kind_name(enum alg_kind kind) {
  static const char *const names[] = {"kex", "kem", "hybrid", "signature", "aead", "hash"};
  return names[kind];
}

/* What two spellings of one name have in common: lower case, no marks. False when text is too long for a name. */
static bool squash(const char *text, size_t length, char out[SPELLING_MAX]) {
  size_t used = 0;
  for (size_t i = 0; i < length; i++) {
    if (strchr("-_: ", text[i])) continue;
    if (used + 1 == SPELLING_MAX) return false;
    out[used++] = (char)tolower((unsigned char)text[i]);
  }
  out[used] = '\0';
  return true;
}

/* The k-th spelling of a row: name, title, aliases. False when there is no such one. */
static bool spelling(const struct alg *alg, int k, char out[SPELLING_MAX]) {
  if (k == 0) return squash(alg->name, strlen(alg->name), out);
  if (k == 1) return squash(alg->title, strlen(alg->title), out);
  const char *word = alg->aliases;
  for (int i = 2; *word; i++) {
    size_t length = strcspn(word, " ");
    if (i == k) return squash(word, length, out);
    word += length + (word[length] == ' ');
  }
  return false;
}

static bool wanted(const struct alg *alg, unsigned kind_mask) { return kind_mask >> alg->kind & 1; }

/* A code point written as prefix + digits of that base, all of text; -1 when it is not one. */
static long code_point(const char *text, const char *prefix, int base) {
  size_t length = strlen(prefix);
  if (strncmp(text, prefix, length) != 0 || !isxdigit((unsigned char)text[length]) || strlen(text) > length + 5) return -1;
  char *end;
  long code = strtol(text + length, &end, base);
  return *end ? -1 : code;
}

const struct alg *alg_find(const char *name, unsigned kind_mask) {
  char text[SPELLING_MAX], known[SPELLING_MAX];
  if (!squash(name, strlen(name), text) || !*text) return NULL;
  long tls = code_point(text, "0x", 16), ike = code_point(text, "dh", 10);
  const struct alg *alg;
  for (int i = 0; (alg = row_at(i)); i++) {
    if (!wanted(alg, kind_mask)) continue;
    if ((tls >= 0 && alg->tls_id == tls) || (ike >= 0 && alg->ike_id == ike)) return alg;
    for (int k = 0; spelling(alg, k, known); k++)
      if (strcmp(text, known) == 0) return alg;
  }
  return NULL;
}

/* Edits (insert, delete, replace) that turn a into b. */
static int distance(const char *a, const char *b) {
  int row[SPELLING_MAX];
  int width = (int)strlen(b);
  for (int j = 0; j <= width; j++) row[j] = j;
  for (int i = 1; a[i - 1]; i++) {
    int diagonal = row[0];
    row[0] = i;
    for (int j = 1; j <= width; j++) {
      int best = diagonal + (a[i - 1] != b[j - 1]);
      if (row[j] + 1 < best) best = row[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      diagonal = row[j];
      row[j] = best;
    }
  }
  return row[width];
}

const char *alg_nearest(const char *name, unsigned kind_mask) {
  char text[SPELLING_MAX], known[SPELLING_MAX];
  if (!squash(name, strlen(name), text)) return NULL;
  /* More than a quarter of the letters wrong is another word, not a misspelling. */
  int best = (int)strlen(text) / 4 + 2;
  const char *nearest = NULL;
  const struct alg *alg;
  for (int i = 0; (alg = row_at(i)); i++) {
    if (!wanted(alg, kind_mask)) continue;
    for (int k = 0; spelling(alg, k, known); k++) {
      int edits = distance(text, known);
      if (edits < best) {
        best = edits;
        nearest = alg->name;
      }
    }
  }
  return nearest;
}
