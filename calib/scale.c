/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which anchor serves which operation, and what follows from it. */
#include "calib/scale.h"

#include "sim/core/units.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Anchors by preference: the first entry of which there is one anchor or more is taken, by their geometric mean.
 * "ALGORITHM.OPERATION ..." with * for any; = stands for the algorithm itself; a leading ~ makes the estimate weak.
 * The first row that matches counts. An anchor of the operation itself goes before all, the parts of a hybrid after
 * them, and when there is none the geometric mean of all anchors, which is weak. */
enum { CHOICES = 6 };
struct rule {
  const char *algorithm, *operations, *anchors[CHOICES];
};

#define P256 "ECDSA-P256.sign ECDSA-P256.verify"

static const struct rule rules[] = {
    {"ML-KEM-*", "keygen decaps decaps_full", {"=.decaps", "=.decaps_full", "=.keygen", "~=.*", "~ML-KEM-*.*"}},
    {"ML-KEM-*", "*", {"=.encaps", "=.encaps_full", "=.import_pub", "~=.*", "~ML-KEM-*.*"}},
    {"ML-DSA-*", "*", {"=.verify", "=.keygen", "~=.sign", "~ML-DSA-*.*"}},
    {"SLH-DSA-SHA2-*", "*", {"=.sign", "=.keygen", "=.verify", "SLH-DSA-SHA2-*.*", "~SHA-256.hash"}},
    {"SLH-DSA-SHAKE-*", "*", {"=.sign", "=.keygen", "=.verify", "SLH-DSA-SHAKE-*.*", "~SHA3-256.hash"}},
    /* multiples of the generator, from tables */
    {"P-256", "keygen", {"ECDSA-P256.sign", "ECDSA-P256.keygen", "~P-256.* ECDSA-P256.*", "~P-384.* ECDSA-P384.*"}},
    {"ECDSA-P256", "keygen sign", {"ECDSA-P256.sign", "ECDSA-P256.keygen", "P-256.keygen", "~P-256.* ECDSA-P256.*", "~P-384.* ECDSA-P384.*"}},
    {"P-384", "keygen", {"ECDSA-P384.sign", "ECDSA-P384.keygen", "~P-384.* ECDSA-P384.*", "~P-256.* ECDSA-P256.*"}},
    {"ECDSA-P384", "keygen sign", {"ECDSA-P384.sign", "ECDSA-P384.keygen", "P-384.keygen", "~P-384.* ECDSA-P384.*", "~P-256.* ECDSA-P256.*"}},
    {"P-521", "keygen", {"ECDSA-P384.sign", "ECDSA-P384.keygen", "P-384.keygen", "~P-521.* P-384.* ECDSA-P384.*", "~P-256.* ECDSA-P256.*"}},
    /* multiples of any point */
    {"P-256", "*", {"=.derive_full", "=.derive", "ECDSA-P256.verify", "~P-256.* ECDSA-P256.*", "~P-384.* ECDSA-P384.*"}},
    {"ECDSA-P256", "*", {"P-256.derive_full", "P-256.derive", "~P-256.* ECDSA-P256.*", "~P-384.* ECDSA-P384.*"}},
    {"P-384", "*", {"=.derive_full", "=.derive", "ECDSA-P384.verify", "~P-384.* ECDSA-P384.*", "~P-256.* ECDSA-P256.*"}},
    {"ECDSA-P384", "*", {"P-384.derive_full", "P-384.derive", "~P-384.* ECDSA-P384.*", "~P-256.* ECDSA-P256.*"}},
    {"P-521", "*", {"=.derive_full", "=.derive", "ECDSA-P384.verify", "P-384.derive_full P-384.derive", "~P-384.* ECDSA-P384.*", "~P-256.* ECDSA-P256.*"}},
    {"X25519", "*", {"=.*", "Ed25519.*", P256, "~P-256.*", "~X448.* Ed448.*"}},
    {"Ed25519", "*", {"=.*", "X25519.*", P256, "~P-256.*", "~X448.* Ed448.*"}},
    {"X448", "*", {"=.*", "Ed448.*", P256, "~P-256.*", "~X25519.* Ed25519.*"}},
    {"Ed448", "*", {"=.*", "X448.*", P256, "~P-256.*", "~X25519.* Ed25519.*"}},
    /* plain Montgomery multiplication, as a verification; signing may use wider vectors */
    {"ffdhe2048", "*", {"=.*", "RSA-2048.verify", "RSA-2048.encrypt", "ffdhe*.*", "~RSA-*.verify RSA-*.encrypt"}},
    {"ffdhe3072", "*", {"=.*", "RSA-3072.verify", "RSA-3072.encrypt", "ffdhe*.*", "~RSA-*.verify RSA-*.encrypt"}},
    {"RSA-*", "keygen", {"~RSA-*.keygen", "~=.sign =.verify", "~=.decrypt =.encrypt", "~RSA-*.*"}},
    {"RSA-*", "sign decrypt", {"=.sign", "=.decrypt", "RSA-*.sign RSA-*.decrypt", "~=.*", "~RSA-*.*"}},
    {"RSA-*", "*", {"=.verify", "=.encrypt", "RSA-*.verify RSA-*.encrypt", "~=.*", "~RSA-*.*"}},
    {"*", "set_key", {"*.set_key", "~" P256}},
    {"AES-*", "*", {"=.seal =.open", "AES-*.seal AES-*.open", "~" P256}},
    {"ChaCha20-Poly1305", "*", {"=.seal =.open", "~" P256}},
    {"SHA*", "*", {"~SHA*.hash", "~" P256}},
    {"HKDF-*", "*", {"=.*", "HKDF-*.*", "~" P256}},
    {"*", "*", {"=.*"}},
};
enum { RULES = sizeof rules / sizeof rules[0] };

/* A hybrid's peer makes a key of the curve, derives, and does what the KEM does. */
static const struct {
  const char *algorithm, *curve, *kem;
} hybrids[] = {
    {"X25519MLKEM768", "X25519", "ML-KEM-768"},
    {"SecP256r1MLKEM768", "P-256", "ML-KEM-768"},
    {"SecP384r1MLKEM1024", "P-384", "ML-KEM-1024"},
};
static const struct {
  const char *operation, *of_curve[2], *of_kem;
} hybrid_parts[] = {
    {"keygen", {"keygen", NULL}, "keygen"},
    {"import_pub", {"import_pub", NULL}, "import_pub"},
    {"encaps", {"keygen", "derive"}, "encaps"},
    {"decaps", {"derive", NULL}, "decaps"},
    {"encaps_full", {"keygen", "derive_full"}, "encaps_full"},
    {"decaps_full", {"derive_full", NULL}, "decaps_full"},
};
enum { HYBRIDS = sizeof hybrids / sizeof hybrids[0], HYBRID_OPERATIONS = sizeof hybrid_parts / sizeof hybrid_parts[0], PARTS_MAX = 3 };

/* Random by nature: one number for it is a mean, and its spread is that of the base. */
static const char *const random_operations[] = {"ML-DSA-*.sign", "Dilithium*.sign", "RSA-*.keygen"};
enum { RANDOM_OPERATIONS = sizeof random_operations / sizeof random_operations[0] };

static const char *const left_out[] = {"software.path", "qkd.*", "sdn-suite.*"};
enum { LEFT_OUT = sizeof left_out / sizeof left_out[0] };

/* An operation of the anchors. */
struct kin {
  const struct scale_row *first; /* smallest size */
  int sizes;
  double ratio; /* at the smallest size; 0: serves nothing */
  bool weak;    /* the base only estimates it */
};

struct scaling {
  const struct cost_platform *base;
  struct scale_rows rows; /* of the base */
  const struct scale_rows *anchors;
  struct kin *kins;
  int kin_count;
  const struct kin *hidden;
  struct err *e;
};

/* What an operation is estimated by. */
struct basis {
  const struct kin **members;
  int count;
  bool weak;
  double parts_factor; /* of a hybrid by its parts; 0 otherwise */
  char from[320];
  const char *source;
};

static void *allocate(size_t count, size_t size) {
  void *memory = calloc(count ? count : 1, size);
  if (!memory) abort();
  return memory;
}

/* --- patterns --- */

/* `*` is any run of characters. */
static bool matches(const char *pattern, const char *text) {
  for (; *pattern != '*'; pattern++, text++) {
    if (*pattern != *text) return false;
    if (!*text) return true;
  }
  for (;; text++) {
    if (matches(pattern + 1, text)) return true;
    if (!*text) return false;
  }
}

static bool listed(const char *words, const char *word) {
  size_t length = strlen(word);
  for (const char *at = words; (at = strstr(at, word)); at += length)
    if ((at == words || at[-1] == ' ') && (at[length] == ' ' || !at[length])) return true;
  return !strcmp(words, "*");
}

static bool matches_any(const char *const *patterns, int count, const char *algorithm, const char *operation) {
  char name[128];
  snprintf(name, sizeof name, "%s.%s", algorithm, operation);
  for (int i = 0; i < count; i++)
    if (matches(patterns[i], name)) return true;
  return false;
}

bool scale_leaves_out(const char *algorithm, const char *operation) { return matches_any(left_out, LEFT_OUT, algorithm, operation); }

static bool is_random_by_nature(const char *algorithm, const char *operation) {
  return matches_any(random_operations, RANDOM_OPERATIONS, algorithm, operation);
}

/* Daemons, key delivery, published suites: nothing that tells of arithmetic. */
static bool is_arithmetic(const char *algorithm) { return strcmp(algorithm, "software") && strcmp(algorithm, "qkd") && strcmp(algorithm, "sdn-suite"); }

/* --- numbers --- */

/* Of positive numbers, by halving between the least and the largest: no logarithm, the same on every machine. */
static double geometric_mean(const double *values, int count) {
  double low = values[0], high = values[0];
  for (int i = 1; i < count; i++) {
    if (values[i] < low) low = values[i];
    if (values[i] > high) high = values[i];
  }
  for (int step = 0; step < 64 && low < high; step++) {
    double middle = low + (high - low) / 2, product = 1;
    int power = 0, more;
    for (int i = 0; i < count; i++) {
      product = frexp(product * (values[i] / middle), &more);
      power += more;
    }
    if (power > 0)
      low = middle;
    else
      high = middle;
  }
  return low + (high - low) / 2;
}

/* Mean of the distribution the points state. */
static double mean_of(const struct scale_row *row) {
  __int128 sum = 0;
  for (int i = 1; i < row->count; i++) sum += (__int128)(row->points[i].p_ppb - row->points[i - 1].p_ppb) * (row->points[i].ns + row->points[i - 1].ns);
  return row->count == 1 ? (double)row->points[0].ns : (double)sum / (2.0 * SHARE_ONE);
}

static double base_at(const struct scaling *scaling, const char *algorithm, const char *operation, int64_t size_bytes) {
  return (double)cost_median(cost_find(scaling->base, algorithm, operation), size_bytes);
}

/* The straight line through the smallest and the largest size the base states. */
static void base_line(const struct scaling *scaling, const char *algorithm, const char *operation, double *fixed, double *per_byte) {
  const struct scale_row *low = NULL, *high = NULL;
  for (int i = 0; i < scaling->rows.count; i++) {
    const struct scale_row *row = &scaling->rows.rows[i];
    if (strcmp(row->algorithm, algorithm) || strcmp(row->operation, operation)) continue;
    if (!low || row->size_bytes < low->size_bytes) low = row;
    if (!high || row->size_bytes > high->size_bytes) high = row;
  }
  assert(low);
  *per_byte = low == high ? 0 : (double)(high->median_ns - low->median_ns) / (double)(high->size_bytes - low->size_bytes);
  *fixed = (double)low->median_ns - *per_byte * (double)low->size_bytes;
  if (*fixed < 0) *fixed = 0;
}

/* What an anchor states at a size: linear between its sizes, its slope beyond. */
static double anchor_at(const struct scaling *scaling, const struct kin *kin, int64_t size_bytes) {
  const struct scale_row *before = NULL, *after = NULL;
  for (int i = 0; i < scaling->anchors->count; i++) {
    const struct scale_row *row = &scaling->anchors->rows[i];
    if (strcmp(row->algorithm, kin->first->algorithm) || strcmp(row->operation, kin->first->operation)) continue;
    if (row->size_bytes <= size_bytes && (!before || row->size_bytes > before->size_bytes)) before = row;
    if (row->size_bytes > size_bytes && (!after || row->size_bytes < after->size_bytes)) after = row;
  }
  if (!before) return (double)after->median_ns;
  if (!after && kin->sizes > 1)
    for (int i = 0; i < scaling->anchors->count; i++) {
      const struct scale_row *row = &scaling->anchors->rows[i];
      if (strcmp(row->algorithm, kin->first->algorithm) || strcmp(row->operation, kin->first->operation) || row == before) continue;
      if (!after || row->size_bytes > after->size_bytes) after = row;
    }
  if (!after) return (double)before->median_ns;
  double slope = (double)(after->median_ns - before->median_ns) / (double)(after->size_bytes - before->size_bytes);
  return (double)before->median_ns + slope * (double)(size_bytes - before->size_bytes);
}

/* --- the anchors' operations --- */

static const struct kin *find_kin(const struct scaling *scaling, const char *algorithm, const char *operation) {
  for (int i = 0; i < scaling->kin_count; i++) {
    const struct kin *kin = &scaling->kins[i];
    if (kin != scaling->hidden && !strcmp(kin->first->algorithm, algorithm) && !strcmp(kin->first->operation, operation)) return kin;
  }
  return NULL;
}

/* One anchor row against the base: 0 when it tells nothing. */
static double ratio_of(const struct scaling *scaling, const struct scale_row *row, const struct scale_row *base) {
  bool mean = row->count == 1 && base->count > 1 && is_random_by_nature(row->algorithm, row->operation);
  double below = mean ? mean_of(base) : base_at(scaling, row->algorithm, row->operation, row->size_bytes);
  return below > 0 ? (double)row->median_ns / below : 0;
}

static void add_kin(struct scaling *scaling, const struct scale_row *row) {
  struct err *e = scaling->e;
  const struct scale_row *base = scale_rows_find(&scaling->rows, row->algorithm, row->operation, -1);
  struct kin *kin = (struct kin *)find_kin(scaling, row->algorithm, row->operation);
  if (base && (base->size_bytes > 0) != (row->size_bytes > 0)) {
    err_add(e, ERR_INPUT, "anchor %s %s, %" PRId64 " B: %s", row->algorithm, row->operation, row->size_bytes,
        base->size_bytes ? "its cost depends on size in the base; say for which size this is"
                         : "its cost does not depend on size in the base; leave out the size");
    return;
  }
  double ratio = base && !scale_leaves_out(row->algorithm, row->operation) ? ratio_of(scaling, row, base) : 0;
  if (ratio > SCALE_FACTOR_MAX || (ratio > 0 && ratio < 1.0 / SCALE_FACTOR_MAX))
    err_add(e, ERR_INPUT, "anchor %s %s: %" PRId64 " ns is %.3g times what the base states, allowed 1/%d to %d times; is the unit right?", row->algorithm,
        row->operation, row->median_ns, ratio, SCALE_FACTOR_MAX, SCALE_FACTOR_MAX);
  if (!kin) {
    scaling->kins[scaling->kin_count++] = (struct kin){row, 1, ratio, base && base->kind >= COST_ESTIMATED};
    return;
  }
  kin->sizes++;
  if (row->size_bytes < kin->first->size_bytes) {
    kin->first = row;
    kin->ratio = ratio;
  }
}

static int begin(struct scaling *scaling) {
  int before = scaling->e->count;
  scale_rows_add(&scaling->rows, scaling->base, SCALE_ALL_ROWS);
  scaling->kins = allocate((size_t)scaling->anchors->count, sizeof *scaling->kins);
  for (int i = 0; i < scaling->anchors->count; i++) add_kin(scaling, &scaling->anchors->rows[i]);
  return scaling->e->count > before ? ERR_INPUT : 0;
}

static void end(struct scaling *scaling) {
  scale_rows_free(&scaling->rows);
  free(scaling->kins);
}

/* --- the choice --- */

static bool serves(const struct scaling *scaling, const struct kin *kin) { return kin != scaling->hidden && kin->ratio > 0; }

/* Members of one entry of a rule. */
static void collect(const struct scaling *scaling, const char *entry, const char *algorithm, struct basis *basis) {
  char words[160], *rest, name[128], pattern[128];
  snprintf(words, sizeof words, "%s", entry);
  for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
    snprintf(pattern, sizeof pattern, "%s%s", *word == '=' ? algorithm : "", word + (*word == '='));
    for (int i = 0; i < scaling->kin_count; i++) {
      const struct kin *kin = &scaling->kins[i];
      snprintf(name, sizeof name, "%s.%s", kin->first->algorithm, kin->first->operation);
      if (serves(scaling, kin) && is_arithmetic(kin->first->algorithm) == is_arithmetic(algorithm) && matches(pattern, name))
        basis->members[basis->count++] = kin;
    }
  }
}

static void choose_by_rule(const struct scaling *scaling, const char *algorithm, const char *operation, struct basis *basis) {
  int r = 0;
  while (r < RULES && !(matches(rules[r].algorithm, algorithm) && listed(rules[r].operations, operation))) r++;
  assert(r < RULES);
  for (int k = 0; k < CHOICES && rules[r].anchors[k] && !basis->count; k++) {
    bool weak = rules[r].anchors[k][0] == '~';
    collect(scaling, rules[r].anchors[k] + weak, algorithm, basis);
    if (basis->count) basis->weak = weak;
  }
}

static void name_members(struct basis *basis, const char *what) {
  enum { NAMED = 4 };
  size_t used = (size_t)snprintf(basis->from, sizeof basis->from, "%s", what);
  for (int i = 0; i < basis->count && i < NAMED && used < sizeof basis->from; i++)
    used += (size_t)snprintf(
        basis->from + used, sizeof basis->from - used, "%s%s %s", i ? ", " : "", basis->members[i]->first->algorithm, basis->members[i]->first->operation);
  if (basis->count > NAMED && used < sizeof basis->from) snprintf(basis->from + used, sizeof basis->from - used, " and %d more", basis->count - NAMED);
}

static bool choose_by_parts(const struct scaling *scaling, const char *algorithm, const char *operation, struct basis *basis);

static void choose_all(const struct scaling *scaling, struct basis *basis) {
  for (int i = 0; i < scaling->kin_count; i++)
    if (serves(scaling, &scaling->kins[i]) && is_arithmetic(scaling->kins[i].first->algorithm)) basis->members[basis->count++] = &scaling->kins[i];
  basis->weak = true;
  if (basis->count == 1)
    name_members(basis, "the only anchor, ");
  else
    snprintf(basis->from, sizeof basis->from, "geometric mean of all %d anchors", basis->count);
}

/* basis_free afterwards. count and parts_factor are both 0 when there is no anchor at all. */
static struct basis choose(const struct scaling *scaling, const char *algorithm, const char *operation) {
  struct basis basis = {.members = allocate((size_t)scaling->kin_count * 4, sizeof *basis.members), .source = ""};
  const struct kin *itself = find_kin(scaling, algorithm, operation);
  if (itself && serves(scaling, itself)) basis.members[basis.count++] = itself;
  if (!basis.count) choose_by_rule(scaling, algorithm, operation, &basis);
  if (basis.count)
    name_members(&basis, basis.count > 1 ? "geometric mean of " : "");
  else if (!choose_by_parts(scaling, algorithm, operation, &basis))
    choose_all(scaling, &basis);
  for (int i = 0; i < basis.count; i++) basis.weak |= basis.members[i]->weak;
  if (basis.count) basis.source = basis.members[0]->first->source;
  return basis;
}

static void basis_free(struct basis *basis) { free(basis->members); }

static bool is_message(const char *operation) { return !strcmp(operation, "seal") || !strcmp(operation, "open"); }

static double factor_at(const struct scaling *scaling, const struct basis *basis, const char *algorithm, const char *operation, int64_t size_bytes);

/* The fixed part of an AEAD goes as its set_key, the rest by the anchor's rate per byte. 0 when the anchor is shorter than the fixed part. */
static double per_byte_factor(const struct scaling *scaling, const struct kin *kin, const char *algorithm, const char *operation, int64_t size_bytes) {
  const struct scale_row *anchor = kin->first;
  struct basis of_kin = choose(scaling, anchor->algorithm, "set_key"), of_target = choose(scaling, algorithm, "set_key");
  double fixed, rate, target_fixed, target_rate, factor = 0;
  base_line(scaling, anchor->algorithm, anchor->operation, &fixed, &rate);
  base_line(scaling, algorithm, operation, &target_fixed, &target_rate);
  /* a lone anchor has nothing that tells of the fixed part */
  bool known = of_kin.count && of_target.count && (of_kin.members[0] != kin || of_kin.count > 1);
  if (known && rate > 0) {
    double stated = (double)anchor->median_ns - fixed * factor_at(scaling, &of_kin, anchor->algorithm, "set_key", 0);
    double times = stated / (double)anchor->size_bytes / rate;
    double estimate = target_fixed * factor_at(scaling, &of_target, algorithm, "set_key", 0) + times * target_rate * (double)size_bytes;
    if (times > 0) factor = estimate / base_at(scaling, algorithm, operation, size_bytes);
  }
  basis_free(&of_kin);
  basis_free(&of_target);
  return factor;
}

static double member_factor(const struct scaling *scaling, const struct kin *kin, const char *algorithm, const char *operation, int64_t size_bytes) {
  const struct scale_row *anchor = kin->first;
  if (!size_bytes || !anchor->size_bytes) return kin->ratio;
  double factor = 0;
  if (kin->sizes > 1)
    factor = anchor_at(scaling, kin, size_bytes) / base_at(scaling, anchor->algorithm, anchor->operation, size_bytes);
  else if (is_message(anchor->operation) && is_message(operation))
    factor = per_byte_factor(scaling, kin, algorithm, operation, size_bytes);
  return factor > 0 && isfinite(factor) ? factor : kin->ratio;
}

static double factor_at(const struct scaling *scaling, const struct basis *basis, const char *algorithm, const char *operation, int64_t size_bytes) {
  if (basis->parts_factor > 0) return basis->parts_factor;
  double *factors = allocate((size_t)basis->count, sizeof *factors);
  for (int i = 0; i < basis->count; i++) factors[i] = member_factor(scaling, basis->members[i], algorithm, operation, size_bytes);
  double factor = geometric_mean(factors, basis->count);
  free(factors);
  return factor;
}

/* --- hybrids --- */

/* A part's cost on the base and on the new platform. False when the base does not state it, or nothing tells. */
static bool add_part(const struct scaling *scaling, const char *algorithm, const char *operation, double *base_sum, double *sum, struct basis *basis) {
  const struct scale_row *base = scale_rows_find(&scaling->rows, algorithm, operation, -1);
  if (!base) return false;
  struct basis of_part = choose(scaling, algorithm, operation);
  bool known = of_part.count > 0;
  if (known) {
    *base_sum += (double)base->median_ns;
    *sum += (double)base->median_ns * factor_at(scaling, &of_part, algorithm, operation, 0);
    basis->weak |= of_part.weak;
    if (!*basis->source) basis->source = of_part.source;
    size_t used = strlen(basis->from);
    snprintf(basis->from + used, sizeof basis->from - used, "%s%s %s", basis->from[used - 1] == '(' ? "" : ", ", algorithm, operation);
  }
  basis_free(&of_part);
  return known;
}

static bool choose_by_parts(const struct scaling *scaling, const char *algorithm, const char *operation, struct basis *basis) {
  int h = 0, o = 0;
  while (h < HYBRIDS && strcmp(hybrids[h].algorithm, algorithm)) h++;
  while (o < HYBRID_OPERATIONS && strcmp(hybrid_parts[o].operation, operation)) o++;
  if (h == HYBRIDS || o == HYBRID_OPERATIONS) return false;
  double base_sum = 0, sum = 0;
  bool all = true;
  snprintf(basis->from, sizeof basis->from, "the sum of its parts (");
  for (int i = 0; i < 2 && hybrid_parts[o].of_curve[i]; i++)
    all = all && add_part(scaling, hybrids[h].curve, hybrid_parts[o].of_curve[i], &base_sum, &sum, basis);
  all = all && add_part(scaling, hybrids[h].kem, hybrid_parts[o].of_kem, &base_sum, &sum, basis);
  if (all && base_sum > 0) basis->parts_factor = sum / base_sum;
  size_t used = strlen(basis->from);
  snprintf(basis->from + used, sizeof basis->from - used, ")");
  return basis->parts_factor > 0;
}

/* --- rows --- */

/* False when the estimate is longer than a day. */
static bool scale_points(const struct scale_row *from, double factor, struct scale_row *row) {
  const int64_t one = INT64_C(1000000000000);
  int64_t times = (int64_t)(factor * (double)one + 0.5);
  for (int i = 0; i < row->count; i++) {
    __int128 ns = ((__int128)from->points[i].ns * times + one / 2) / one;
    if (ns > COST_NS_MAX) return false;
    row->points[i].ns = (int64_t)ns;
  }
  row->median_ns = (int64_t)(((__int128)from->median_ns * times + one / 2) / one);
  return true;
}

static bool in_bounds(double factor) { return factor * SCALE_FACTOR_MAX >= 1 && factor <= SCALE_FACTOR_MAX; }

static void add_estimate(const struct scaling *scaling, const struct scale_row *base, const struct basis *basis, struct scale_rows *out) {
  double factor = factor_at(scaling, basis, base->algorithm, base->operation, base->size_bytes);
  struct scale_row *row = scale_rows_add_copy(out, base);
  const char *name = cost_platform_name(scaling->base);
  char *note, *family;
  bool rests_on_estimate = base->kind >= COST_ESTIMATED;
  row->base_ns = base->median_ns;
  row->factor = factor;
  row->weak = basis->weak || rests_on_estimate;
  row->kind = COST_ESTIMATED;
  row->energy_nj = -1;
  if (!in_bounds(factor) || !scale_points(base, factor, row))
    err_add(scaling->e, ERR_INPUT,
        "%s %s, %" PRId64 " B: %" PRId64 " ns of the base times %.3g (%s) is no duration, allowed up to 86400 s; is the unit of that anchor right?",
        base->algorithm, base->operation, base->size_bytes, base->median_ns, factor, basis->from);
  if (asprintf(&family, "%s scaled", name) < 0 || asprintf(&note, "%s x %.4g: ratio of %s%s", name, factor, basis->from,
                                                      rests_on_estimate ? "; weak: the base itself is an estimate here"
                                                      : basis->weak     ? "; weak: no near kin is stated"
                                                                        : "") < 0)
    abort();
  scale_text(&row->family, family);
  scale_text(&row->note, note);
  scale_text(&row->source, basis->source);
  scale_text(&row->from, basis->from);
  free(family);
  free(note);
}

/* One number for an operation that is random by nature is a mean: it takes the base's shape. False when its tail is longer than a day. */
static bool spread_anchor(const struct scale_row *base, struct scale_row *row) {
  double factor = (double)row->median_ns / mean_of(base);
  char *note;
  if (asprintf(&note, "%s%sstated mean %" PRId64 " ns, spread of the base", row->note, *row->note ? "; " : "", row->median_ns) < 0) abort();
  scale_text(&row->note, note);
  free(note);
  free(row->points);
  row->count = base->count;
  row->points = allocate((size_t)base->count, sizeof *row->points);
  memcpy(row->points, base->points, (size_t)base->count * sizeof *row->points);
  scale_text(&row->family, "shape of the base");
  return scale_points(base, factor, row);
}

static void add_stated(const struct scaling *scaling, const struct scale_row *anchor, struct scale_rows *out) {
  const struct scale_row *base = scale_rows_find(&scaling->rows, anchor->algorithm, anchor->operation, -1);
  const struct kin *kin = find_kin(scaling, anchor->algorithm, anchor->operation);
  struct scale_row *row = scale_rows_add_copy(out, anchor);
  row->stated = true;
  if (kin->ratio > 0) {
    row->base_ns = cost_median(cost_find(scaling->base, anchor->algorithm, anchor->operation), anchor->size_bytes);
    row->factor = (double)row->median_ns / (double)row->base_ns;
    if (base->count > 1 && row->count == 1 && is_random_by_nature(row->algorithm, row->operation) && !spread_anchor(base, row))
      err_add(scaling->e, ERR_INPUT, "anchor %s %s: a mean of %" PRId64 " ns has a tail beyond 86400 s; is its unit right?", row->algorithm, row->operation,
          anchor->median_ns);
  }
}

/* An operation the anchors state: as they do; of a single size, the base's other sizes are estimated by it. */
static void add_stated_operation(const struct scaling *scaling, const char *algorithm, const char *operation, struct scale_rows *out) {
  const struct kin *kin = find_kin(scaling, algorithm, operation);
  const struct scale_row *first = kin->first;
  bool alone = kin->sizes == 1 && first->size_bytes > 0 && kin->ratio > 0, given = !alone;
  struct basis basis = choose(scaling, algorithm, operation);
  for (int i = 0; i < scaling->anchors->count && !alone; i++) {
    const struct scale_row *row = &scaling->anchors->rows[i];
    if (!strcmp(row->algorithm, algorithm) && !strcmp(row->operation, operation)) add_stated(scaling, row, out);
  }
  for (int i = 0; i < scaling->rows.count && alone; i++) {
    const struct scale_row *row = &scaling->rows.rows[i];
    if (strcmp(row->algorithm, algorithm) || strcmp(row->operation, operation)) continue;
    if (!given && row->size_bytes >= first->size_bytes) {
      add_stated(scaling, first, out);
      given = true;
    }
    if (row->size_bytes != first->size_bytes) add_estimate(scaling, row, &basis, out);
  }
  if (!given) add_stated(scaling, first, out);
  basis_free(&basis);
}

static int check_anchors(const struct scaling *scaling, int least) {
  int count = 0;
  for (int i = 0; i < scaling->kin_count; i++) count += scaling->kins[i].ratio > 0 && is_arithmetic(scaling->kins[i].first->algorithm);
  if (count >= least) return 0;
  return err_add(scaling->e, ERR_INPUT,
      least > 1
          ? "%d of the anchors can be compared with the base %s; leaving one out needs two operations or more"
          : "%d of the anchors can be compared with the base %s: an anchor is a measured, published or fitted value above 0 ns of an operation the base states",
      count, cost_platform_name(scaling->base));
}

int scale_platform(const struct cost_platform *base, const struct scale_rows *anchors, struct scale_rows *out, struct err *e) {
  struct scaling scaling = {.base = base, .anchors = anchors, .e = e};
  int before = e->count, status = begin(&scaling);
  if (!status) status = check_anchors(&scaling, 1);
  for (int i = 0; i < scaling.rows.count && !status; i++) {
    const struct scale_row *row = &scaling.rows.rows[i];
    if (find_kin(&scaling, row->algorithm, row->operation)) {
      if (!scale_rows_find(out, row->algorithm, row->operation, -1)) add_stated_operation(&scaling, row->algorithm, row->operation, out);
    } else if (!scale_leaves_out(row->algorithm, row->operation)) {
      struct basis basis = choose(&scaling, row->algorithm, row->operation);
      add_estimate(&scaling, row, &basis, out);
      basis_free(&basis);
    }
  }
  for (int i = 0; i < anchors->count && !status; i++) {
    const struct scale_row *row = &anchors->rows[i];
    if (!scale_rows_find(&scaling.rows, row->algorithm, row->operation, -1)) add_stated(&scaling, row, out);
  }
  end(&scaling);
  if (!status && e->count > before) status = ERR_INPUT;
  if (status) scale_rows_free(out);
  return status;
}

int scale_check(const struct cost_platform *base, const struct scale_rows *anchors, struct scale_rows *out, struct err *e) {
  struct scaling scaling = {.base = base, .anchors = anchors, .e = e};
  int status = begin(&scaling);
  if (!status) status = check_anchors(&scaling, 2);
  for (int i = 0; i < anchors->count && !status; i++) {
    const struct scale_row *anchor = &anchors->rows[i];
    scaling.hidden = NULL;
    const struct kin *kin = find_kin(&scaling, anchor->algorithm, anchor->operation);
    if (!(kin->ratio > 0) || !is_arithmetic(anchor->algorithm)) continue;
    scaling.hidden = kin;
    struct basis basis = choose(&scaling, anchor->algorithm, anchor->operation);
    double factor = factor_at(&scaling, &basis, anchor->algorithm, anchor->operation, anchor->size_bytes);
    const struct scale_row *below = scale_rows_find(&scaling.rows, anchor->algorithm, anchor->operation, -1);
    bool mean = anchor->count == 1 && below->count > 1 && is_random_by_nature(anchor->algorithm, anchor->operation);
    double of_base = mean ? mean_of(below) : base_at(&scaling, anchor->algorithm, anchor->operation, anchor->size_bytes);
    struct scale_row *row = scale_rows_add_copy(out, anchor);
    row->base_ns = anchor->median_ns;
    row->median_ns = (int64_t)(of_base * factor + 0.5);
    row->factor = factor;
    row->weak = basis.weak;
    scale_text(&row->from, basis.from);
    basis_free(&basis);
  }
  end(&scaling);
  return status;
}
