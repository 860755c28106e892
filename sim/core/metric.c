/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/core/metric.h"
#include "sim/core/wide.h"
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef __int128 i128;
typedef unsigned __int128 u128;

#define COUNT_MAX (INT64_C(1) << 48)
enum { MEAN_SCALE = 1000 /* replication means are kept in 1/1000 of the base unit */ };

/* ---- names and units ---- */

static const char *const part_names[PART_COUNT] = {
    [PART_KEX] = "kex",
    [PART_SIGN] = "sign",
    [PART_CERT_VERIFY] = "cert_verify",
    [PART_SYMMETRIC] = "symmetric",
    [PART_CPU_QUEUE] = "cpu_queue",
    [PART_SERIALISATION] = "serialisation",
    [PART_LINK_QUEUE] = "link_queue",
    [PART_PROPAGATION] = "propagation",
    [PART_TRANSPORT_STALL] = "transport_stall",
    [PART_RADIO_WAIT] = "radio_wait",
    [PART_KEY_WAIT] = "key_wait",
    [PART_SOFTWARE] = "software",
    [PART_APPLICATION] = "application",
};
const char *metric_part_name(enum part part) { return part_names[part]; }

static const struct {
  const char *name;
  double scale;
} units[] = {
    [METRIC_TIME] = {"ms", 1e-6},
    [METRIC_BYTES] = {"B", 1},
    [METRIC_COUNT] = {"1", 1},
    [METRIC_SHARE] = {"1", 1e-9},
    [METRIC_SIGNED_TIME] = {"ms", 1e-6},
    [METRIC_RATE] = {"Mbit/s", 1e-6},
};
const char *metric_unit_name(enum metric_unit unit) { return units[unit].name; }
double metric_unit_scale(enum metric_unit unit) { return units[unit].scale; }

/* ---- trail ---- */

void trail_begin(struct trail *trail, simtime at) { *trail = (struct trail){.at = at}; }

void trail_advance(struct trail *trail, enum part part, simtime until) {
  assert(until >= trail->at);
  trail->parts[part] += until - trail->at;
  trail->at = until;
}

/* ---- exact moments ---- */

struct moments {
  i128 sum;
  struct wide squares;
};

static void moments_add(struct moments *m, i128 x) {
  /* Nearly every sample: the square fits 126 bits, and the sum's upper half takes a carry at most. */
  if (x > -(i128)INT64_MAX && x < INT64_MAX) {
    u128 low = (u128)m->squares.limb[1] << 64 | m->squares.limb[0], square = (u128)(x * x);
    u128 sum = low + square;
    m->sum += x;
    m->squares.limb[0] = (uint64_t)sum;
    m->squares.limb[1] = (uint64_t)(sum >> 64);
    if (sum >= low) return;
    struct wide carry = {{0, 0, 1, 0}};
    wide_add(&m->squares, &carry);
    return;
  }
  struct wide square = wide_square(wide_magnitude(x));
  m->sum += x;
  wide_add(&m->squares, &square);
}

static void moments_merge(struct moments *into, const struct moments *from) {
  into->sum += from->sum;
  wide_add(&into->squares, &from->squares);
}

static double mean_of(i128 sum, int64_t n) { return (double)(sum / n) + (double)(sum % n) / (double)n; }

/* By Newton's method, so that neither libm nor the compiler's choice of instruction matters. */
static double square_root(double x) {
  if (x <= 0) return 0;
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  bits = (bits >> 1) + (UINT64_C(1023) << 51); /* halves the exponent: within 7 % */
  double root;
  memcpy(&root, &bits, sizeof root);
  for (int i = 0; i < 5; i++) root = 0.5 * (root + x / root);
  return root;
}

/* sqrt((n sum(x^2) - sum(x)^2) / (n (n - 1))); the difference, which cancels, is taken in integers. */
static double moments_sd(const struct moments *m, int64_t n) {
  struct wide all = wide_times(&m->squares, (uint64_t)n), square = wide_square(wide_magnitude(m->sum));
  struct wide spread = wide_subtract(&all, &square);
  return square_root(wide_double(&spread) / ((double)n * (double)(n - 1)));
}

/* ---- the distribution ---- */

struct cell {
  int64_t key; /* the value while exact, then the bucket */
  int64_t count;
};

enum { SUB_BITS = 10, SUB = 1 << SUB_BITS, BUCKET_MAX = SUB + (62 - SUB_BITS) * SUB + SUB - 1 };

/* Monotone in value; negative values mirror the positive ones. */
static int64_t bucket_of(int64_t value) {
  if (value < 0) return -bucket_of(-value);
  if (value < SUB) return value;
  int exponent = 63 - __builtin_clzll((uint64_t)value);
  return SUB + (exponent - SUB_BITS) * SUB + ((value >> (exponent - SUB_BITS)) & (SUB - 1));
}

/* The smallest and the largest value of a bucket. */
static void bucket_edges(int64_t bucket, int64_t *low, int64_t *high) {
  int64_t size = bucket < 0 ? -bucket : bucket;
  int shift = size < SUB ? 0 : (int)((size - SUB) / SUB);
  int64_t from = size < SUB ? size : (SUB + (size - SUB) % SUB) << shift, to = from + (INT64_C(1) << shift) - 1;
  *low = bucket < 0 ? -to : from;
  *high = bucket < 0 ? -from : to;
}

struct series {
  int64_t n, failed, replications, min, max;
  struct moments samples, means; /* means: of replications, in 1/MEAN_SCALE */
  bool has_parts;
  i128 parts[PART_COUNT];
  int64_t open_n; /* the replication that has not ended */
  i128 open_sum;
  bool bucketed;
  size_t cell_count, cell_capacity;
  struct cell *cells; /* ascending by key */
  uint32_t *hints;    /* once bucketed: where a key's cell was last seen, by the key's low bits; cells move, so it is checked */
};

struct metric_set {
  const struct metric_def *defs;
  int count;
  struct series series[];
};

static void *must(void *memory) {
  if (!memory) abort();
  return memory;
}

static void cells_reserve(struct series *s, size_t capacity) {
  if (capacity <= s->cell_capacity) return;
  s->cell_capacity = capacity < 8 ? 8 : capacity;
  s->cells = must(realloc(s->cells, s->cell_capacity * sizeof *s->cells));
}

static void cells_bucket(struct series *s) {
  if (s->bucketed) return;
  s->bucketed = true;
  size_t count = 0;
  for (size_t i = 0; i < s->cell_count; i++) {
    int64_t key = bucket_of(s->cells[i].key);
    if (count && s->cells[count - 1].key == key)
      s->cells[count - 1].count += s->cells[i].count;
    else
      s->cells[count++] = (struct cell){key, s->cells[i].count};
  }
  s->cell_count = count;
}

/* True when the key's cell is where it was last seen. */
static bool hint_holds(const struct series *s, uint32_t hint, int64_t key) { return hint < s->cell_count && s->cells[hint].key == key; }

static void cells_add(struct series *s, int64_t value) {
  int64_t key = s->bucketed ? bucket_of(value) : value;
  uint32_t *hint = NULL;
  if (s->bucketed) {
    if (!s->hints) s->hints = must(calloc(SUB, sizeof *s->hints));
    hint = &s->hints[key & (SUB - 1)];
    if (hint_holds(s, *hint, key)) {
      s->cells[*hint].count++;
      return;
    }
  }
  size_t low = 0, high = s->cell_count;
  /* Keys are different whole numbers in ascending order, mostly without a gap: the distance in keys from a known cell bounds
   * the distance in places, above from the first cell and below from the last one that is possible. */
  if (high && key >= s->cells[0].key) {
    uint64_t most = (uint64_t)key - (uint64_t)s->cells[0].key;
    if (most < high - 1) high = (size_t)most + 1;
    uint64_t past = (uint64_t)s->cells[high - 1].key - (uint64_t)key;
    if (s->cells[high - 1].key >= key && past < high) low = high - 1 - (size_t)past;
  }
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (s->cells[middle].key < key)
      low = middle + 1;
    else
      high = middle;
  }
  if (low < s->cell_count && s->cells[low].key == key) {
    s->cells[low].count++;
    if (hint) *hint = (uint32_t)low;
    return;
  }
  if (s->cell_count == s->cell_capacity) cells_reserve(s, 2 * s->cell_capacity + 1);
  memmove(&s->cells[low + 1], &s->cells[low], (s->cell_count - low) * sizeof *s->cells);
  s->cells[low] = (struct cell){key, 1};
  s->cell_count++;
  if (s->cell_count > METRIC_EXACT) cells_bucket(s);
}

/* from is left in the same kind of cells as into. */
static void cells_merge(struct series *into, struct series *from) {
  if (into->bucketed || from->bucketed) {
    cells_bucket(into);
    cells_bucket(from);
  }
  struct series merged = {0};
  cells_reserve(&merged, into->cell_count + from->cell_count);
  size_t i = 0, j = 0;
  while (i < into->cell_count || j < from->cell_count) {
    bool left = j == from->cell_count || (i < into->cell_count && into->cells[i].key <= from->cells[j].key);
    struct cell cell = left ? into->cells[i++] : from->cells[j++];
    if (merged.cell_count && merged.cells[merged.cell_count - 1].key == cell.key)
      merged.cells[merged.cell_count - 1].count += cell.count;
    else
      merged.cells[merged.cell_count++] = cell;
  }
  free(into->cells);
  into->cells = merged.cells;
  into->cell_count = merged.cell_count;
  into->cell_capacity = merged.cell_capacity;
  if (into->cell_count > METRIC_EXACT) cells_bucket(into);
}

/* The value of the place-th (1-based) of a cell's samples: in a bucket they are taken to lie evenly between its edges, as far
 * as there were values. */
static int64_t cell_value(const struct series *s, size_t i, int64_t place) {
  if (!s->bucketed) return s->cells[i].key;
  int64_t low, high;
  bucket_edges(s->cells[i].key, &low, &high);
  if (low < s->min) low = s->min;
  if (high > s->max) high = s->max;
  return low + (int64_t)((i128)(high - low) * (2 * place - 1) / (2 * (i128)s->cells[i].count));
}

/* ---- the set ---- */

struct metric_set *metric_set_new(const struct metric_def *defs, int count) {
  struct metric_set *set = must(calloc(1, sizeof *set + (size_t)count * sizeof set->series[0]));
  set->defs = defs;
  set->count = count;
  return set;
}

void metric_set_free(struct metric_set *set) {
  if (!set) return;
  for (int i = 0; i < set->count; i++) {
    free(set->series[i].cells);
    free(set->series[i].hints);
  }
  free(set);
}

static const struct series *series_of(const struct metric_set *set, int metric) {
  assert(metric >= 0 && metric < set->count);
  return &set->series[metric];
}

void metric_sample(struct metric_set *set, int metric, int64_t value, const int64_t parts[PART_COUNT]) {
  assert(metric >= 0 && metric < set->count);
  struct series *s = &set->series[metric];
  assert(set->defs[metric].unit == METRIC_SIGNED_TIME ? value > INT64_MIN : value >= 0);
  assert(s->n < COUNT_MAX);
  assert(s->n == 0 || s->has_parts == (parts != NULL));
  s->has_parts = parts != NULL;
  if (parts) {
    uint64_t total = 0; /* wraps back: parts of a paired difference may be negative */
    for (int part = 0; part < PART_COUNT; part++) {
      if (parts[part] == 0) continue; /* most are, always the same ones of a metric */
      total += (uint64_t)parts[part];
      s->parts[part] += parts[part];
    }
    assert((int64_t)total == value);
  }
  s->min = s->n == 0 || value < s->min ? value : s->min;
  s->max = s->n == 0 || value > s->max ? value : s->max;
  s->n++;
  s->open_n++;
  s->open_sum += value;
  moments_add(&s->samples, value);
  cells_add(s, value);
}

void metric_sample_between(struct metric_set *set, int metric, const struct trail *from, const struct trail *to) {
  int64_t parts[PART_COUNT];
  for (int part = 0; part < PART_COUNT; part++) parts[part] = to->parts[part] - from->parts[part];
  metric_sample(set, metric, to->at - from->at, parts);
}

void metric_fail(struct metric_set *set, int metric) {
  assert(metric >= 0 && metric < set->count && set->series[metric].failed < COUNT_MAX);
  set->series[metric].failed++;
}

static i128 round_half_away(i128 numerator, int64_t denominator) {
  i128 half = numerator < 0 ? -(i128)denominator : denominator;
  return (2 * numerator + half) / (2 * (i128)denominator);
}

void metric_end_replication(struct metric_set *set) {
  for (int i = 0; i < set->count; i++) {
    struct series *s = &set->series[i];
    if (s->open_n == 0) continue;
    /* One sample a replication is the common case and needs no division. */
    moments_add(&s->means, s->open_n == 1 ? s->open_sum * MEAN_SCALE : round_half_away(s->open_sum * MEAN_SCALE, s->open_n));
    s->replications++;
    s->open_n = 0;
    s->open_sum = 0;
  }
}

/* Both without an open replication; from loses its own kind of cells. */
static void series_merge(struct series *into, struct series *from) {
  assert(into->failed + from->failed <= COUNT_MAX && into->n + from->n <= COUNT_MAX);
  into->failed += from->failed;
  if (from->n == 0) return;
  assert(into->n == 0 || into->has_parts == from->has_parts);
  into->has_parts = from->has_parts;
  into->min = into->n == 0 || from->min < into->min ? from->min : into->min;
  into->max = into->n == 0 || from->max > into->max ? from->max : into->max;
  into->n += from->n;
  into->replications += from->replications;
  moments_merge(&into->samples, &from->samples);
  moments_merge(&into->means, &from->means);
  for (int part = 0; part < PART_COUNT; part++) into->parts[part] += from->parts[part];
  cells_merge(into, from);
}

void metric_merge(struct metric_set *into, const struct metric_set *from) {
  assert(into->defs == from->defs && into->count == from->count);
  for (int i = 0; i < into->count; i++) {
    assert(into->series[i].open_n == 0 && from->series[i].open_n == 0);
    struct series copy = from->series[i];
    copy.cells = NULL;
    copy.hints = NULL;
    copy.cell_capacity = 0;
    cells_reserve(&copy, copy.cell_count);
    if (copy.cell_count) memcpy(copy.cells, from->series[i].cells, copy.cell_count * sizeof *copy.cells);
    series_merge(&into->series[i], &copy);
    free(copy.cells);
  }
}

/* ---- results ---- */

int64_t metric_quantile(const struct metric_set *set, int metric, int permille) {
  const struct series *s = series_of(set, metric);
  assert(permille >= 0 && permille <= 1000);
  int64_t rank = (s->n * permille + 999) / 1000;
  if (rank <= 1) return s->min;
  if (rank == s->n) return s->max;
  size_t i = 0;
  int64_t before = 0;
  for (; before + s->cells[i].count < rank; i++) before += s->cells[i].count;
  return cell_value(s, i, rank - before);
}

void metric_each(const struct metric_set *set, int metric, void (*fn)(void *arg, int64_t value, int64_t count), void *arg) {
  const struct series *s = series_of(set, metric);
  for (size_t i = 0; i < s->cell_count; i++) fn(arg, cell_value(s, i, (s->cells[i].count + 1) / 2), s->cells[i].count);
}

void metric_summarise(const struct metric_set *set, int metric, struct metric_summary *out) {
  const struct series *s = series_of(set, metric);
  *out = (struct metric_summary){
      .n = s->n,
      .failed = s->failed,
      .replications = s->replications,
      .mean = s->n ? mean_of(s->samples.sum, s->n) : NAN,
      .sd = s->n > 1 ? moments_sd(&s->samples, s->n) : 0,
      .rep_mean_sd = s->replications > 1 ? moments_sd(&s->means, s->replications) / MEAN_SCALE : NAN,
      .min = s->min,
      .p5 = metric_quantile(set, metric, 50),
      .p25 = metric_quantile(set, metric, 250),
      .p50 = metric_quantile(set, metric, 500),
      .p75 = metric_quantile(set, metric, 750),
      .p95 = metric_quantile(set, metric, 950),
      .p99 = metric_quantile(set, metric, 990),
      .max = s->max,
      .has_parts = s->has_parts,
  };
  i128 crypto = 0;
  for (int part = 0; part < PART_COUNT && s->has_parts; part++) {
    out->parts[part] = mean_of(s->parts[part], s->n);
    if (part < PART_CRYPTO_COUNT) crypto += s->parts[part];
  }
  out->crypto = s->has_parts ? mean_of(crypto, s->n) : 0;
}

static void signed_decimal(i128 x, char *text, size_t size) { wide_decimal(wide_from(wide_magnitude(x)), x < 0, text, size); }

void metric_exact_sums(const struct metric_set *set, int metric, struct metric_sums *out) {
  const struct series *s = series_of(set, metric);
  *out = (struct metric_sums){.has_parts = s->has_parts};
  signed_decimal(s->samples.sum, out->sum, sizeof out->sum);
  wide_decimal(s->samples.squares, false, out->sum_squares, sizeof out->sum_squares);
  signed_decimal(s->means.sum, out->rep_sum, sizeof out->rep_sum);
  wide_decimal(s->means.squares, false, out->rep_sum_squares, sizeof out->rep_sum_squares);
  for (int part = 0; part < PART_COUNT; part++) {
    i128 sum = s->parts[part];
    out->parts[part] = sum < INT64_MIN ? INT64_MIN : sum > INT64_MAX ? INT64_MAX : (int64_t)sum;
  }
}

/* ---- bytes ----
 * "PQM", version, then LEB128 numbers (signed ones zigzag): flags, n, failed; if n > 0: replications, min, max, moments of
 * samples, moments of means, parts if flagged, cell count, cells as (key - key before, count). Last four bytes: FNV-1a of
 * all before, little endian, so that a changed byte never passes for a measurement. */

static const unsigned char signature[4] = {'P', 'Q', 'M', 1};
enum { HAS_PARTS = 1, BUCKETED = 2, CHECKSUM_SIZE = 4, CELLS_MAX = 2 * BUCKET_MAX + 1 };

static uint32_t checksum(const unsigned char *bytes, size_t size) {
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * 16777619u;
  return hash;
}

struct writer {
  unsigned char *bytes;
  size_t size, capacity;
};

static void put_byte(struct writer *w, unsigned char byte) {
  if (w->size == w->capacity) {
    w->capacity = 2 * w->capacity + 64;
    w->bytes = must(realloc(w->bytes, w->capacity));
  }
  w->bytes[w->size++] = byte;
}

static void put(struct writer *w, u128 x) {
  for (; x >= 0x80; x >>= 7) put_byte(w, (unsigned char)(x | 0x80));
  put_byte(w, (unsigned char)x);
}

static void put_signed(struct writer *w, i128 x) { put(w, (u128)x << 1 ^ (x < 0 ? ~(u128)0 : 0)); }

static void put_moments(struct writer *w, const struct moments *m) {
  put_signed(w, m->sum);
  for (int i = 0; i < WIDE_LIMBS; i++) put(w, m->squares.limb[i]);
}

unsigned char *metric_bytes(const struct metric_set *set, int metric, size_t *size) {
  const struct series *s = series_of(set, metric);
  assert(s->open_n == 0);
  struct writer w = {0};
  for (size_t i = 0; i < sizeof signature; i++) put_byte(&w, signature[i]);
  put(&w, (s->has_parts ? HAS_PARTS : 0) | (s->bucketed ? BUCKETED : 0));
  put(&w, (u128)s->n);
  put(&w, (u128)s->failed);
  if (s->n > 0) {
    put(&w, (u128)s->replications);
    put_signed(&w, s->min);
    put_signed(&w, s->max);
    put_moments(&w, &s->samples);
    put_moments(&w, &s->means);
    for (int part = 0; part < PART_COUNT && s->has_parts; part++) put_signed(&w, s->parts[part]);
    put(&w, s->cell_count);
    i128 before = 0;
    for (size_t i = 0; i < s->cell_count; i++) {
      put_signed(&w, s->cells[i].key - before);
      put(&w, (u128)s->cells[i].count);
      before = s->cells[i].key;
    }
  }
  uint32_t sum = checksum(w.bytes, w.size);
  for (int i = 0; i < CHECKSUM_SIZE; i++) put_byte(&w, (unsigned char)(sum >> 8 * i));
  *size = w.size;
  return w.bytes;
}

struct reader {
  const unsigned char *at, *end;
  bool damaged; /* sticky; what is read after that is 0 */
};

static u128 get(struct reader *r) {
  u128 x = 0;
  for (int shift = 0; r->at < r->end && shift < 128; shift += 7) {
    unsigned char byte = *r->at++;
    x |= (u128)(byte & 0x7F) << shift;
    if (!(byte & 0x80)) return x;
  }
  r->damaged = true;
  r->at = r->end;
  return 0;
}

static i128 get_signed(struct reader *r) {
  u128 x = get(r);
  return (i128)(x >> 1 ^ (x & 1 ? ~(u128)0 : 0));
}

static int64_t within(struct reader *r, i128 x, i128 low, i128 high) {
  bool inside = x >= low && x <= high;
  r->damaged |= !inside;
  return inside ? (int64_t)x : (int64_t)low;
}

static int64_t get_within(struct reader *r, int64_t low, int64_t high) { return within(r, (i128)get(r), low, high); }

/* Moments of n numbers within [low, high]. */
static void get_moments(struct reader *r, struct moments *m, int64_t n, i128 low, i128 high) {
  m->sum = get_signed(r);
  for (int i = 0; i < WIDE_LIMBS; i++) {
    u128 limb = get(r);
    r->damaged |= limb > UINT64_MAX;
    m->squares.limb[i] = (uint64_t)limb;
  }
  u128 farthest = wide_magnitude(low) > wide_magnitude(high) ? wide_magnitude(low) : wide_magnitude(high);
  struct wide most = wide_square(farthest);
  most = wide_times(&most, (uint64_t)n);
  r->damaged |= m->sum < n * low || m->sum > n * high || wide_compare(&m->squares, &most) > 0;
  if (r->damaged) return;
  struct wide all = wide_times(&m->squares, (uint64_t)n), square = wide_square(wide_magnitude(m->sum));
  r->damaged |= wide_compare(&all, &square) < 0;
}

static void get_parts(struct reader *r, struct series *s) {
  i128 total = 0, most = (i128)s->n << 63;
  for (int part = 0; part < PART_COUNT; part++) {
    i128 sum = get_signed(r);
    r->damaged |= sum < -most || sum > most;
    s->parts[part] = r->damaged ? 0 : sum;
    total += s->parts[part];
  }
  r->damaged |= total != s->samples.sum;
}

static void get_cells(struct reader *r, struct series *s) {
  int64_t low = s->bucketed ? bucket_of(s->min) : s->min, high = s->bucketed ? bucket_of(s->max) : s->max;
  size_t count = (size_t)get_within(r, 1, s->bucketed ? CELLS_MAX : METRIC_EXACT);
  struct moments exact = {0};
  int64_t left = s->n;
  i128 key = 0;
  cells_reserve(s, count);
  for (size_t i = 0; i < count && !r->damaged; i++) {
    i128 before = key;
    i128 step = get_signed(r); /* -2^64 to 2^64 for keys that are allowed */
    r->damaged |= step > (i128)1 << 64 || step < -((i128)1 << 64);
    key = r->damaged ? low : before + step;
    r->damaged |= key < low || key > high || (i > 0 && key <= before) || (i == 0 && key != low);
    struct cell cell = {r->damaged ? low : (int64_t)key, get_within(r, 1, left)};
    left -= cell.count;
    struct wide square = wide_square(wide_magnitude(cell.key));
    square = wide_times(&square, (uint64_t)cell.count);
    exact.sum += (i128)cell.key * cell.count;
    wide_add(&exact.squares, &square);
    s->cells[s->cell_count++] = cell;
  }
  r->damaged |= left != 0 || key != high;
  if (!s->bucketed) r->damaged |= exact.sum != s->samples.sum || wide_compare(&exact.squares, &s->samples.squares) != 0;
}

static void get_series(struct reader *r, struct series *s, bool is_signed) {
  int64_t flags = get_within(r, 0, HAS_PARTS | BUCKETED);
  s->has_parts = flags & HAS_PARTS;
  s->bucketed = flags & BUCKETED;
  s->n = get_within(r, 0, COUNT_MAX);
  s->failed = get_within(r, 0, COUNT_MAX);
  r->damaged |= s->n == 0 && flags;
  if (s->n == 0 || r->damaged) return;
  s->replications = get_within(r, 1, s->n);
  s->min = within(r, get_signed(r), is_signed ? -INT64_MAX : 0, INT64_MAX);
  s->max = within(r, get_signed(r), s->min, INT64_MAX);
  get_moments(r, &s->samples, s->n, s->min, s->max);
  get_moments(r, &s->means, s->replications, (i128)s->min * MEAN_SCALE, (i128)s->max * MEAN_SCALE);
  if (s->has_parts) get_parts(r, s);
  if (!r->damaged) get_cells(r, s);
}

int metric_merge_bytes(struct metric_set *set, int metric, const unsigned char *bytes, size_t size, struct err *e) {
  assert(metric >= 0 && metric < set->count && set->series[metric].open_n == 0);
  struct series *into = &set->series[metric], from = {0};
  const char *name = set->defs[metric].name;
  if (size < sizeof signature + CHECKSUM_SIZE || memcmp(bytes, signature, 3) != 0) return err_add(e, ERR_INPUT, "%s: these bytes are not a metric's", name);
  if (bytes[3] != signature[3]) return err_add(e, ERR_INPUT, "%s: metric bytes of version %d, this program reads version %d", name, bytes[3], signature[3]);
  size_t covered = size - CHECKSUM_SIZE;
  uint32_t sum = checksum(bytes, covered);
  bool damaged = false;
  for (int i = 0; i < CHECKSUM_SIZE; i++) damaged |= bytes[covered + (size_t)i] != (unsigned char)(sum >> 8 * i);
  struct reader r = {bytes + sizeof signature, bytes + covered, damaged};
  if (!r.damaged) get_series(&r, &from, set->defs[metric].unit == METRIC_SIGNED_TIME);
  int code = 0;
  if (r.damaged || r.at != r.end)
    code = err_add(e, ERR_INPUT, "%s: metric bytes are damaged", name);
  else if (into->n && from.n && into->has_parts != from.has_parts)
    code = err_add(e, ERR_INPUT, "%s: only one of the two results has a breakdown", name);
  else if (into->n + from.n > COUNT_MAX || into->failed + from.failed > COUNT_MAX)
    code = err_add(e, ERR_INPUT, "%s: more than 2^48 samples", name);
  else
    series_merge(into, &from);
  free(from.cells);
  return code;
}
