/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/crypto/cost.h"
#include "models/crypto/cost_line.h"

#include "sim/core/event.h"
#include "sim/core/units.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends a circle of bases that differ in spelling. */
enum { LEVELS_MAX = 8 };

/* An operation: its lines by rising size. */
struct cost_row {
  struct cost_line *const *sizes;
  int count;
  bool *drawn; /* outside, so that drawing leaves the row as it is */
};

struct level {
  struct csv *csv;
  char *name;
};

struct cost_platform {
  struct level levels[LEVELS_MAX]; /* own file first, then its base, the base's base, ... */
  int level_count;
  const char *title;
  struct cost_line **lines;  /* file order */
  struct cost_line **sorted; /* by algorithm, operation, size */
  int line_count;
  struct cost_row *rows;
  bool *drawn; /* of each row */
  int row_count;
  uint64_t hash;
};

static void *allocate(size_t count, size_t size) {
  void *memory = calloc(count ? count : 1, size);
  if (!memory) abort();
  return memory;
}

static int compare_operation(const struct cost_line *a, const struct cost_line *b) {
  int order = strcmp(a->algorithm, b->algorithm);
  return order ? order : strcmp(a->operation, b->operation);
}

static int by_operation_and_size(const void *pa, const void *pb) {
  const struct cost_line *a = *(struct cost_line *const *)pa, *b = *(struct cost_line *const *)pb;
  int order = compare_operation(a, b);
  if (order) return order;
  if (a->size_bytes != b->size_bytes) return a->size_bytes < b->size_bytes ? -1 : 1;
  return a->line - b->line;
}

/* What a load works on. */
struct loading {
  struct cost_platform *platform;
  struct cost_sources *sources;
  struct err *e;
};

/* Takes the rows of a level, except operations that the levels before it state themselves. */
static void add_level_rows(const struct loading *load, const struct level *level) {
  struct cost_platform *platform = load->platform;
  const struct csv *csv = level->csv;
  int earlier = platform->line_count;
  platform->lines = reallocarray(platform->lines, (size_t)(earlier + csv->row_count + 1), sizeof *platform->lines);
  if (!platform->lines) abort();
  for (int i = 0; i < csv->row_count; i++) {
    struct cost_line *line = cost_line_read(csv, &csv->rows[i], level->name, load->sources, load->e);
    bool own = true;
    for (int k = 0; k < earlier && own; k++) own = compare_operation(platform->lines[k], line) != 0;
    if (own)
      platform->lines[platform->line_count++] = line;
    else
      cost_line_free(line);
  }
}

/* Sizes of one operation must differ, and one alone must be 0. */
static void check_sizes(const struct cost_row *row, struct err *e) {
  const struct cost_line *first = row->sizes[0];
  if (row->count == 1 && first->size_bytes)
    err_add(e, ERR_INPUT,
        "%s:%d: column size_bytes: found %lld as the only size of %s %s; state a second size so that the cost per byte is known, or 0 when size does not "
        "matter",
        first->csv->path, first->line, (long long)first->size_bytes, first->algorithm, first->operation);
  for (int i = 1; i < row->count; i++) {
    const struct cost_line *a = row->sizes[i - 1], *b = row->sizes[i];
    if (a->size_bytes == b->size_bytes)
      err_add(e, ERR_INPUT, "%s:%d: %s %s with size %lld is already stated in line %d", b->csv->path, b->line, b->algorithm, b->operation,
          (long long)b->size_bytes, a->line);
    else if (a->size_bytes == 0)
      err_add(e, ERR_INPUT, "%s:%d: column size_bytes: found 0, which says that %s %s does not depend on size, but line %d states a size", a->csv->path,
          a->line, a->algorithm, a->operation, b->line);
  }
}

static void group_rows(struct cost_platform *platform, struct err *e) {
  size_t count = (size_t)platform->line_count;
  platform->sorted = allocate(count, sizeof *platform->sorted);
  platform->rows = allocate(count, sizeof *platform->rows);
  platform->drawn = allocate(count, sizeof *platform->drawn);
  if (count) {
    memcpy(platform->sorted, platform->lines, count * sizeof *platform->lines);
    qsort(platform->sorted, count, sizeof *platform->sorted, by_operation_and_size);
  }
  for (int i = 0; i < platform->line_count;) {
    struct cost_row *row = &platform->rows[platform->row_count];
    row->drawn = &platform->drawn[platform->row_count++];
    row->sizes = &platform->sorted[i];
    while (i < platform->line_count && compare_operation(row->sizes[0], platform->sorted[i]) == 0) {
      row->count++;
      i++;
    }
    check_sizes(row, e);
  }
}

static const char *skip_key(const char *text, const char *key) {
  size_t length = strlen(key);
  if (strncmp(text, key, length) != 0 || text[length] != ':') return NULL;
  return text + length + 1 + strspn(text + length + 1, " \t");
}

/* The lines `# key: value`; *base stays NULL when there is none. */
static void read_remarks(const struct csv *csv, const char **title, const char **base, struct err *e) {
  static const char *const keys[] = {"title", "base", "cpu", "date", "note"};
  for (int i = 0; i < csv->remark_count; i++) {
    const struct csv_remark *remark = &csv->remarks[i];
    const char *value = NULL;
    size_t k = 0;
    while (k < sizeof keys / sizeof keys[0] && !(value = skip_key(remark->text, keys[k]))) k++;
    const char **target = k == 0 ? title : k == 1 ? base : NULL;
    if (!value)
      err_add(e, ERR_INPUT, "%s:%d: found '# %s', allowed: '# key: value' with key title, base, cpu, date or note", csv->path, remark->line, remark->text);
    else if (!*value)
      err_add(e, ERR_INPUT, "%s:%d: key %s has no value", csv->path, remark->line, keys[k]);
    else if (target && *target)
      err_add(e, ERR_INPUT, "%s:%d: key %s is there twice", csv->path, remark->line, keys[k]);
    else if (target)
      *target = value;
  }
  if (!*title) err_add(e, ERR_INPUT, "%s:1: the line '# title: ...' is missing", csv->path);
}

/* An unknown name is answered with the names there are. */
static int unknown_platform(const char *name, const char *asked_by, struct err *e) {
  char text[1024] = "";
  char **names = NULL;
  int count = 0;
  int code = cost_list(&names, &count, e);
  if (code) return code;
  size_t used = 0;
  for (int i = 0; i < count && used < sizeof text; i++) used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? ", " : "", names[i]);
  cost_list_free(names, count);
  return err_add(e, ERR_INPUT, "%splatform '%s' is not shipped; there are %s; a file of your own is written ./NAME.csv", asked_by, name, text);
}

/* The file of a name, malloc'd; NULL after a complaint. */
static char *platform_path(const char *name, const char *base_dir, const char *asked_by, struct err *e) {
  char *path = NULL;
  int length;
  bool file = strncmp(name, "./", 2) == 0;
  if (file && base_dir)
    length = asprintf(&path, "%s/%s", base_dir, name + 2);
  else if (file)
    length = asprintf(&path, "%s", name + 2);
  else
    length = asprintf(&path, "%s/platforms/%s.csv", cost_data_dir(), name);
  if (length < 0) abort();
  FILE *found = file ? NULL : fopen(path, "rb");
  if (found) fclose(found);
  bool plain = *name && !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")];
  if (file || (plain && found)) return path;
  free(path);
  unknown_platform(name, asked_by, e);
  return NULL;
}

/* Reads one level; *base is the name of the next, NULL at the end. */
static int add_level(const struct loading *load, const char *name, const char *base_dir, const char *asked_by, const char **base) {
  struct cost_platform *platform = load->platform;
  struct err *e = load->e;
  if (platform->level_count == LEVELS_MAX)
    return err_add(e, ERR_INPUT, "%sbase '%s' is the %dth level; a platform has at most %d", asked_by, name, LEVELS_MAX + 1, LEVELS_MAX);
  char *path = platform_path(name, base_dir, asked_by, e);
  if (!path) return ERR_INPUT;
  for (int i = 0; i < platform->level_count; i++)
    if (strcmp(platform->levels[i].csv->path, path) == 0) {
      free(path);
      return err_add(e, ERR_INPUT, "%sbase '%s' leads back to a platform that inherits from this one", asked_by, name);
    }
  struct csv *csv;
  int code = csv_read(path, cost_line_columns, COST_LINE_COLUMNS, &csv, e);
  free(path);
  if (!csv) return code;
  struct level *level = &platform->levels[platform->level_count++];
  *level = (struct level){csv, strdup(name)};
  if (!level->name) abort();
  const char *title = NULL;
  *base = NULL;
  read_remarks(csv, &title, base, e);
  if (!platform->title) platform->title = title;
  add_level_rows(load, level);
  return 0;
}

static void hash_bytes(uint64_t *hash, const void *bytes, size_t size) {
  for (const unsigned char *p = bytes; size--; p++) *hash = (*hash ^ *p) * UINT64_C(0x100000001b3);
}

/* Low byte first, so that the hash is the same on every machine. */
static void hash_number(uint64_t *hash, int64_t value) {
  for (int i = 0; i < 8; i++) {
    unsigned char byte = (unsigned char)((uint64_t)value >> (8 * i));
    hash_bytes(hash, &byte, 1);
  }
}

static uint64_t hash_rows(const struct cost_platform *platform) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (int i = 0; i < platform->line_count; i++) {
    const struct cost_line *line = platform->sorted[i];
    hash_bytes(&hash, line->algorithm, strlen(line->algorithm) + 1);
    hash_bytes(&hash, line->operation, strlen(line->operation) + 1);
    hash_number(&hash, line->size_bytes);
    hash_number(&hash, line->energy_nj);
    hash_number(&hash, line->count);
    for (int k = 0; k < line->count; k++) {
      hash_number(&hash, line->points[k].p_ppb);
      hash_number(&hash, line->points[k].ns);
    }
  }
  return hash;
}

/* Folder part of a path, malloc'd. */
static char *folder_of(const char *path) {
  const char *slash = strrchr(path, '/');
  char *folder = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
  if (!folder) abort();
  return folder;
}

/* The base of the last level, and its base, and so on. */
static int add_bases(const struct loading *load, const char *base) {
  int code = 0;
  while (!code && base) {
    const char *path = load->platform->levels[load->platform->level_count - 1].csv->path;
    char *folder = folder_of(path), *asked_by;
    if (asprintf(&asked_by, "%s: ", path) < 0) abort();
    code = add_level(load, base, folder, asked_by, &base);
    free(folder);
    free(asked_by);
  }
  return code;
}

int cost_load(const char *name, const char *base_dir, struct cost_platform **out, struct err *e) {
  struct loading load = {.e = e};
  int before = e->count;
  int code = cost_sources_load(&load.sources, e);
  if (code) return code;
  load.platform = allocate(1, sizeof *load.platform);
  const char *base = NULL;
  code = add_level(&load, name, base_dir, "", &base);
  if (!code) code = add_bases(&load, base);
  cost_sources_free(load.sources);
  if (!code) group_rows(load.platform, e);
  if (code || e->count > before) {
    cost_free(load.platform);
    return code ? code : ERR_INPUT;
  }
  load.platform->hash = hash_rows(load.platform);
  *out = load.platform;
  return 0;
}

void cost_free(struct cost_platform *platform) {
  if (!platform) return;
  for (int i = 0; i < platform->line_count; i++) cost_line_free(platform->lines[i]);
  for (int i = 0; i < platform->level_count; i++) {
    csv_free(platform->levels[i].csv);
    free(platform->levels[i].name);
  }
  free(platform->lines);
  free(platform->sorted);
  free(platform->rows);
  free(platform->drawn);
  free(platform);
}

const char *cost_platform_name(const struct cost_platform *platform) { return platform->levels[0].name; }

const char *cost_platform_title(const struct cost_platform *platform) { return platform->title; }

uint64_t cost_platform_hash(const struct cost_platform *platform) { return platform->hash; }

int cost_row_count(const struct cost_platform *platform) { return platform->line_count; }

const struct cost_row *cost_find(const struct cost_platform *platform, const char *algorithm, const char *operation) {
  const struct cost_line wanted = {.algorithm = algorithm, .operation = operation};
  int low = 0, high = platform->row_count;
  while (low < high) {
    int middle = low + (high - low) / 2;
    int order = compare_operation(&wanted, platform->rows[middle].sizes[0]);
    if (order == 0) return &platform->rows[middle];
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return NULL;
}

/* Nearest whole number to from + (to - from) * part / whole, 0 <= part <= whole. Never falls when from or to rises. */
static int64_t between(int64_t from, int64_t to, uint64_t part, uint64_t whole) {
  unsigned __int128 sum = (unsigned __int128)(uint64_t)from * (whole - part) + (unsigned __int128)(uint64_t)to * part;
  return (int64_t)((sum + whole / 2) / whole);
}

#define MEDIAN (UINT64_C(1) << 63)

enum part cost_part(const char *algorithm, const char *operation) {
  static const struct {
    const char *operation;
    enum part part;
  } table[] = {{"sign", PART_SIGN}, {"verify", PART_CERT_VERIFY}, {"seal", PART_SYMMETRIC}, {"open", PART_SYMMETRIC}, {"set_key", PART_SYMMETRIC},
      {"hash", PART_SYMMETRIC}, {"extract", PART_SYMMETRIC}, {"expand", PART_SYMMETRIC}, {"extract_expand", PART_SYMMETRIC}};
  if (strcmp(algorithm, "software") == 0) return PART_SOFTWARE;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (strcmp(operation, table[i].operation) == 0) return table[i].part;
  return PART_KEX;
}

static inline int64_t duration_of(const struct cost_row *row, int64_t size_bytes, uint64_t uniform) {
  assert(row && size_bytes >= 0);
  const struct cost_line *last = row->sizes[row->count - 1];
  if (row->count == 1 || size_bytes <= row->sizes[0]->size_bytes) return cost_line_quantile(row->sizes[0], uniform);
  if (size_bytes >= last->size_bytes) {
    const struct cost_line *previous = row->sizes[row->count - 2];
    int64_t rise = cost_line_quantile(last, MEDIAN) - cost_line_quantile(previous, MEDIAN);
    __int128 more = (__int128)(rise > 0 ? rise : 0) * (size_bytes - last->size_bytes) / (last->size_bytes - previous->size_bytes);
    __int128 duration = cost_line_quantile(last, uniform) + more;
    return duration < SIMTIME_HORIZON ? (int64_t)duration : SIMTIME_HORIZON;
  }
  int i = 1;
  while (row->sizes[i]->size_bytes < size_bytes) i++;
  const struct cost_line *low = row->sizes[i - 1], *high = row->sizes[i];
  return between(cost_line_quantile(low, uniform), cost_line_quantile(high, uniform), (uint64_t)(size_bytes - low->size_bytes),
      (uint64_t)(high->size_bytes - low->size_bytes));
}

int64_t cost_draw(const struct cost_row *row, int64_t size_bytes, uint64_t uniform) {
  *row->drawn = true;
  return duration_of(row, size_bytes, uniform);
}

int64_t cost_median(const struct cost_row *row, int64_t size_bytes) { return duration_of(row, size_bytes, MEDIAN); }

bool cost_is_random(const struct cost_row *row) {
  for (int i = 0; i < row->count; i++)
    if (row->sizes[i]->points[0].ns != row->sizes[i]->points[row->sizes[i]->count - 1].ns) return true;
  return false;
}

const char *cost_chance(const char *algorithm, const char *operation) {
  static const struct {
    const char *family, *operation, *why;
  } table[] = {
      {"RSA-", "keygen", "prime search"},             /* FIPS 186-5 appendix A.1 */
      {"ML-DSA-", "sign", "rejection sampling"},      /* FIPS 204 algorithm 7 */
      {"Dilithium", "sign", "rejection sampling"},    /* round 3, figure 4 */
      {"Falcon-", "keygen", "search for a good key"}, /* Falcon 1.2, algorithm 5 */
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (!strncmp(algorithm, table[i].family, strlen(table[i].family)) && !strcmp(operation, table[i].operation)) return table[i].why;
  return NULL;
}

int cost_frozen(const struct cost_platform *platform, char *text, size_t size) {
  int count = 0;
  size_t used = 0;
  if (size) *text = '\0';
  for (int r = 0; r < platform->row_count; r++) {
    const struct cost_line *line = platform->rows[r].sizes[0];
    if (!cost_chance(line->algorithm, line->operation) || cost_is_random(&platform->rows[r])) continue;
    const char *comma = count++ ? ", " : "";
    if (used < size) used += (size_t)snprintf(text + used, size - used, "%s%s %s", comma, line->algorithm, line->operation);
  }
  return count;
}

void cost_row_info(const struct cost_platform *platform, int index, struct cost_row_info *out) {
  assert(index >= 0 && index < platform->line_count);
  const struct cost_line *line = platform->lines[index];
  *out = (struct cost_row_info){
      .algorithm = line->algorithm,
      .operation = line->operation,
      .source = line->source,
      .family = line->family,
      .note = line->note,
      .from_platform = line->platform,
      .size_bytes = line->size_bytes,
      .median_ns = cost_line_quantile(line, MEDIAN),
      .energy_nj = line->energy_nj,
      .kind = line->kind,
  };
}

int cost_operation_count(const struct cost_platform *platform) { return platform->row_count; }

void cost_operation(const struct cost_platform *platform, int index, struct cost_operation *out) {
  assert(index >= 0 && index < platform->row_count);
  const struct cost_row *row = &platform->rows[index];
  const struct cost_line *first = row->sizes[0], *weakest = first;
  for (int i = 1; i < row->count; i++)
    if (row->sizes[i]->kind > weakest->kind) weakest = row->sizes[i];
  *out = (struct cost_operation){
      .algorithm = first->algorithm,
      .operation = first->operation,
      .source = weakest->source,
      .from_platform = first->platform,
      .from_file = first->csv->path,
      .sizes = row->count,
      .smallest_ns = cost_line_quantile(first, MEDIAN),
      .largest_ns = cost_line_quantile(row->sizes[row->count - 1], MEDIAN),
      .kind = weakest->kind,
      .drawn = *row->drawn,
  };
}

static bool is_meant(const struct cost_scaling *scaling, const struct cost_operation *operation) {
  if (scaling->any_of_kind) return operation->kind == scaling->kind;
  return !strcmp(scaling->file, operation->from_file) && !strcmp(scaling->algorithm, operation->algorithm) && !strcmp(scaling->operation, operation->operation);
}

void cost_scale(struct cost_platform *platform, const struct cost_scaling *scaling) {
  for (int r = 0; r < platform->row_count; r++) {
    struct cost_operation operation;
    cost_operation(platform, r, &operation);
    bool meant = scaling && is_meant(scaling, &operation);
    const struct cost_row *row = &platform->rows[r];
    for (int i = 0; i < row->count; i++) cost_line_scale(row->sizes[i], meant ? scaling->num : 1, meant ? scaling->den : 1);
  }
  platform->hash = hash_rows(platform);
}

int64_t cost_row_quantile(const struct cost_platform *platform, int index, int64_t p_ppb) {
  assert(index >= 0 && index < platform->line_count && p_ppb >= 0 && p_ppb <= SHARE_ONE);
  unsigned __int128 uniform = (((unsigned __int128)p_ppb << 64) + SHARE_ONE / 2) / SHARE_ONE;
  return cost_line_quantile(platform->lines[index], uniform > UINT64_MAX ? UINT64_MAX : (uint64_t)uniform);
}

int cost_row_points(const struct cost_platform *platform, int index, int64_t *p_ppb, int64_t *ns) {
  assert(index >= 0 && index < platform->line_count);
  const struct cost_line *line = platform->lines[index];
  for (int i = 0; i < line->count; i++) {
    p_ppb[i] = line->points[i].p_ppb;
    ns[i] = line->points[i].ns;
  }
  return line->count;
}
