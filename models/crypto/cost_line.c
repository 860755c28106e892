/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/crypto/cost_line.h"
#include "models/crypto/alg.h"
#include "models/crypto/alg_own.h"

#include "sim/core/units.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCALE_MAX = 1000 };
#define SIZE_LIMIT (INT64_C(1) << 40)
#define NJ_MAX (INT64_C(1) << 53)
#define CYCLES_MAX INT64_C(1000000000000000)

enum { ALGORITHM, OPERATION, SIZE, QUANTILES, ENERGY, KIND, SOURCE, FAMILY, NOTE, CYCLES, STACK };

const struct csv_column cost_line_columns[COST_LINE_COLUMNS] = {
    {"algorithm", true},
    {"operation", true},
    {"size_bytes", false},
    {"quantiles_ns", false},
    {"energy_nj", false},
    {"kind", true},
    {"source", true},
    {"family", false},
    {"note", false},
    {"quantiles_cycles", false},
    {"peak_stack_bytes", false},
};

static const char *const kind_names[] = {"measured", "published", "fitted", "estimated", "assumed"};
#define KINDS "measured, published, fitted, estimated, assumed"
enum { KIND_COUNT = sizeof kind_names / sizeof kind_names[0] };

const char *const cost_subjects[] = {"software", "qkd", "sdn-suite", NULL};

const char *const cost_operations[] = {
    "keygen",
    "import_pub",
    "encaps",
    "encaps_full",
    "decaps",
    "decaps_full",
    "derive",
    "derive_full",
    "sign",
    "verify",
    "encrypt",
    "decrypt",
    "seal",
    "open",
    "set_key",
    "hash",
    "extract",
    "expand",
    "extract_expand",
    NULL,
};
#define OPERATIONS                                                                                                                                             \
  "keygen, import_pub, encaps, encaps_full, decaps, decaps_full, derive, derive_full, sign, verify, encrypt, decrypt, seal, open, set_key, hash, extract, "    \
  "expand, extract_expand"

const char *cost_kind_name(enum cost_kind kind) { return kind_names[kind]; }

static void *allocate(size_t count, size_t size) {
  void *memory = calloc(count ? count : 1, size);
  if (!memory) abort();
  return memory;
}

static bool listed(const char *text, const char *const *list) {
  while (*list && strcmp(*list, text) != 0) list++;
  return *list;
}

/* Where a line's problem is, and where it goes. */
struct place {
  const struct csv *csv;
  int line;
  struct err *e;
};

static void refuse(const struct place *at, int column, const char *found, const char *allowed) {
  if (*found)
    err_add(at->e, ERR_INPUT, "%s:%d: column %s: found '%s', allowed: %s", at->csv->path, at->line, cost_line_columns[column].name, found, allowed);
  else
    err_add(at->e, ERR_INPUT, "%s:%d: column %s: is empty, allowed: %s", at->csv->path, at->line, cost_line_columns[column].name, allowed);
}

/* Digits up to max; moves *text behind them. False when there are none or too many. */
static bool read_whole(const char **text, int64_t max, int64_t *value) {
  const char *p = *text;
  int64_t n = 0;
  for (; *p >= '0' && *p <= '9'; p++) {
    if (n > (max - (*p - '0')) / 10) return false;
    n = 10 * n + (*p - '0');
  }
  bool any = p > *text;
  *text = p;
  *value = n;
  return any;
}

/* A probability with up to nine decimals, in parts per billion. */
static bool read_probability(const char **text, int64_t *ppb) {
  int64_t whole, scale = SHARE_ONE;
  if (!read_whole(text, 1, &whole)) return false;
  *ppb = whole * SHARE_ONE;
  if (**text != '.') return true;
  const char *p = *text + 1;
  for (; *p >= '0' && *p <= '9'; p++) {
    scale /= 10;
    if (!scale) return false;
    *ppb += (*p - '0') * scale;
  }
  bool any = p > *text + 1;
  *text = p;
  return any && *ppb <= SHARE_ONE;
}

/* The two columns a duration may be stated in. */
static const struct form {
  int column;
  int64_t max;
  const char *allowed, *rising, *limit;
} forms[] = {
    {QUANTILES, COST_NS_MAX, "a whole number of ns, or p:ns pairs from p 0 to p 1 such as '0:21011 0.5:21392 1:22433'",
        "pairs whose p rise and whose ns do not fall",
        "a whole number of ns, or p:ns pairs from p 0 to p 1 such as '0:21011 0.5:21392 1:22433', each at most 86400 s"},
    {CYCLES, CYCLES_MAX, "a whole number of cycles, or p:cycles pairs from p 0 to p 1 such as '0:595576 0.5:595793 1:595971'",
        "pairs whose p rise and whose cycles do not fall",
        "a whole number of cycles, or p:cycles pairs from p 0 to p 1, each at most 86400 s by the device's clock"},
};

/* Reads the pairs into points; returns their number, 0 after a complaint. */
static int read_pairs(const char *text, const struct form *form, struct cost_point *points, const struct place *at) {
  const char *p = text;
  int n = 0;
  while (*(p += strspn(p, " "))) {
    if (n == COST_POINTS_MAX) {
      err_add(at->e, ERR_INPUT, "%s:%d: column %s: holds more than %d pairs", at->csv->path, at->line, cost_line_columns[form->column].name, COST_POINTS_MAX);
      return 0;
    }
    struct cost_point *point = &points[n++];
    bool ok = read_probability(&p, &point->p_ppb) && *p == ':';
    p += ok;
    if (!ok || !read_whole(&p, form->max, &point->ns) || !strchr(" ", *p)) {
      refuse(at, form->column, text, form->limit);
      return 0;
    }
    if (n > 1 && (point->p_ppb <= point[-1].p_ppb || point->ns < point[-1].ns)) {
      refuse(at, form->column, text, form->rising);
      return 0;
    }
  }
  if (n < 2 || points[0].p_ppb != 0 || points[n - 1].p_ppb != SHARE_ONE) {
    refuse(at, form->column, text, form->allowed);
    return 0;
  }
  return n;
}

/* The mean of what straight lines between the points draw, in thousandths. */
static int64_t mean_milli(const struct cost_point *points, int count) {
  if (count == 1) return points[0].ns * 1000;
  unsigned __int128 twice = 0;
  for (int i = 1; i < count; i++) twice += (unsigned __int128)(uint64_t)(points[i].p_ppb - points[i - 1].p_ppb) * (uint64_t)(points[i].ns + points[i - 1].ns);
  return (int64_t)((twice * 1000 + SHARE_ONE) / (2 * SHARE_ONE));
}

/* Cycles become ns in place, and energy where it is not stated. */
static void apply_clock(struct cost_line *line, const struct device *device, struct cost_point *points, int count, const char *text, const struct place *at) {
  if (!device->clock_hz) {
    err_add(at->e, ERR_INPUT,
        "%s:%d: column quantiles_cycles: cycles need a clock; name a device ('# device: NAME', of devices.csv) or state one ('# clock: 64MHz'), here or in a "
        "base",
        at->csv->path, at->line);
    return;
  }
  if (line->energy_nj < 0 && count > 0 && device_power_fw(device)) {
    line->energy_nj = device_energy_nj(device, mean_milli(points, count));
    line->power_fw = device_power_fw(device);
  }
  for (int i = 0; i < count; i++) {
    points[i].ns = device_ns(device, points[i].ns, COST_NS_MAX);
    if (points[i].ns >= 0) continue;
    refuse(at, CYCLES, text, forms[1].limit);
    return;
  }
}

static void read_quantiles(const char *const texts[2], const struct device *device, struct cost_line *line, const struct place *at) {
  struct cost_point points[COST_POINTS_MAX];
  bool cycles = *texts[1];
  const struct form *form = &forms[cycles];
  const char *text = texts[cycles], *p = text;
  int n = 1;
  if (*texts[0] && cycles) {
    refuse(at, CYCLES, text, "nothing where quantiles_ns states the time");
    n = 0;
  } else if (read_whole(&p, form->max, &points[0].ns) && !*p) {
    points[0].p_ppb = 0;
  } else {
    n = read_pairs(text, form, points, at);
  }
  if (cycles) apply_clock(line, device, points, n, text, at);
  line->points = allocate((size_t)n, sizeof *line->points);
  if (n) memcpy(line->points, points, (size_t)n * sizeof *points);
  for (int i = 0; i + 1 < n; i++) line->points[i].per_width = UINT64_MAX / (uint64_t)(points[i + 1].p_ppb - points[i].p_ppb);
  line->count = n;
}

/* A cell that may be empty. */
static int64_t read_optional(const char *text, int column, int64_t max, int64_t fallback, const struct place *at) {
  const char *p = text;
  int64_t value;
  if (!*text) return fallback;
  if (read_whole(&p, max, &value) && !*p) return value;
  char allowed[96];
  snprintf(allowed, sizeof allowed, "a whole number from 0 to %lld, or nothing", (long long)max);
  refuse(at, column, text, allowed);
  return fallback;
}

/* The title of the algorithm a cell names, in the table's spelling; "" after a complaint. */
static const char *read_algorithm(const char *text, const struct place *at) {
  int count;
  const struct alg *table = alg_table(&count);
  for (int i = 0; i < count; i++)
    if (strcasecmp(table[i].title, text) == 0) return table[i].title;
  for (int i = 0; cost_subjects[i]; i++)
    if (strcasecmp(cost_subjects[i], text) == 0) return cost_subjects[i];
  const struct alg *own = alg_own_titled(text);
  if (own) return own->title;
  const char *near = alg_nearest(text, ~0u);
  const struct alg *meant = near ? alg_find(near, ~0u) : NULL;
  char allowed[256];
  snprintf(allowed, sizeof allowed, "an algorithm's title%s%s%s, or one of %s; one of your own is defined in the scenario (algorithms:)",
      meant ? " (did you mean '" : "", meant ? meant->title : "", meant ? "'?)" : "", COST_SUBJECTS);
  refuse(at, ALGORITHM, text, allowed);
  return "";
}

static void check_operation(const struct cost_line *line, const struct place *at) {
  const char *text = line->operation;
  if (listed(line->algorithm, cost_subjects)) {
    if (!*text || text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_")]) refuse(at, OPERATION, text, "small letters, digits and _");
  } else if (*line->algorithm && !listed(text, cost_operations)) {
    refuse(at, OPERATION, text, OPERATIONS);
  }
}

static void read_provenance(struct cost_line *line, const char *kind, const struct cost_sources *sources, const struct place *at) {
  int k = 0;
  while (k < KIND_COUNT && strcmp(kind_names[k], kind) != 0) k++;
  if (k == KIND_COUNT) refuse(at, KIND, kind, KINDS);
  line->kind = (enum cost_kind)k;
  const struct cost_source *source = cost_source_find(sources, line->source);
  if (!source) refuse(at, SOURCE, line->source, "an id of sources.csv in the data folder ('own' for figures of your own)");
  if (*line->note) return;
  if (k == COST_ESTIMATED || k == COST_ASSUMED)
    refuse(at, NOTE, "", "how the number came about; an estimated or assumed row must say it");
  else if (source && strcmp(source->kind, "user") == 0)
    refuse(at, NOTE, "", "where the number comes from; a row of your own must say it");
}

struct cost_line *cost_line_read(const struct csv *csv, const struct csv_row *row, const char *platform, const struct cost_sources *sources, struct err *e) {
  return cost_line_read_on(&(const struct device){0}, csv, row, platform, sources, e);
}

struct cost_line *cost_line_read_on(
    const struct device *device, const struct csv *csv, const struct csv_row *row, const char *platform, const struct cost_sources *sources, struct err *e) {
  struct cost_line *line = allocate(1, sizeof *line);
  const struct place at = {csv, row->line, e};
  const char **c = row->cells;
  const char *cycles = c[CYCLES] ? c[CYCLES] : "", *stack = c[STACK] ? c[STACK] : "";
  *line = (struct cost_line){
      .operation = c[OPERATION], .source = c[SOURCE], .family = c[FAMILY], .note = c[NOTE], .csv = csv, .platform = platform, .line = row->line};
  line->algorithm = read_algorithm(c[ALGORITHM], &at);
  check_operation(line, &at);
  line->size_bytes = read_optional(c[SIZE], SIZE, SIZE_LIMIT, 0, &at);
  line->energy_nj = read_optional(c[ENERGY], ENERGY, NJ_MAX, -1, &at);
  line->peak_stack_bytes = read_optional(stack, STACK, SIZE_LIMIT, -1, &at);
  read_quantiles((const char *const[]){c[QUANTILES], cycles}, device, line, &at);
  read_provenance(line, c[KIND], sources, &at);
  return line;
}

bool cost_line_has_operation(const struct csv_row *row, const char *operation) { return strcmp(row->cells[OPERATION], operation) == 0; }

void cost_line_free(struct cost_line *line) {
  free(line->stated_ns);
  free(line->points);
  free(line);
}

void cost_line_scale(struct cost_line *line, int64_t num, int64_t den) {
  assert(num > 0 && num <= SCALE_MAX && den > 0 && den <= SCALE_MAX);
  if (!line->stated_ns) {
    if (num == den) return;
    line->stated_ns = allocate((size_t)line->count, sizeof *line->stated_ns);
    for (int i = 0; i < line->count; i++) line->stated_ns[i] = line->points[i].ns;
  }
  for (int i = 0; i < line->count; i++) line->points[i].ns = (line->stated_ns[i] * num + den / 2) / den;
}

/* The quantile at uniform / 2^64. */
int64_t cost_line_quantile(const struct cost_line *line, uint64_t uniform) {
  const struct cost_point *point = line->points;
  if (line->count == 1) return point->ns;
  /* Probability in 2^-32 of a part per billion: 30 + 32 bits. */
  uint64_t position = (uint64_t)((unsigned __int128)uniform * SHARE_ONE >> 32);
  /* Counted, not searched: a draw is as good as never predicted. */
  int below = 0;
  for (int i = 1; i < line->count - 1; i++) below += position >= (uint64_t)line->points[i].p_ppb << 32;
  point += below;
  uint64_t rise = (uint64_t)(point[1].ns - point[0].ns);
  /* How far into the pair, in 2^-32. */
  uint64_t into = position - ((uint64_t)point[0].p_ppb << 32);
  /* Rounded, not cut: per_width is cut, by less than a quarter of the last place in the product. */
  uint64_t part = (uint64_t)(((unsigned __int128)into * point[0].per_width + (UINT64_C(1) << 63)) >> 64);
  unsigned __int128 half = (unsigned __int128)1 << 31;
  return point[0].ns + (int64_t)(((unsigned __int128)rise * part + half) >> 32);
}
