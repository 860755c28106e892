/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/crypto/cost.h"
#include "models/crypto/cost_line.h"
#include "models/crypto/cost_name.h"

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
  char *name;
  struct level *levels; /* for each part, then for the base: own file first, then its base, the base's base, ... */
  int level_count;
  const char *title, *tls_stack;
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
  struct device device;              /* of the chain: what the files in front state goes before what their bases do */
  int chain;                         /* first level of the file being read and its bases */
  const struct cost_name_part *part; /* whose rows alone are taken; NULL: all */
  bool stated;                       /* the chain states what the part asks for */
};

/* What the part being read asks for. */
static bool is_wanted(const struct loading *load, const struct cost_line *line) {
  const struct cost_name_part *part = load->part;
  return !part || (strcmp(part->operation, line->operation) == 0 && (!part->algorithm || strcmp(part->algorithm, line->algorithm) == 0));
}

/* Takes the rows of a level, except operations that the levels before it state themselves. */
static void add_level_rows(struct loading *load, const struct level *level) {
  struct cost_platform *platform = load->platform;
  const struct csv *csv = level->csv;
  int earlier = platform->line_count;
  platform->lines = reallocarray(platform->lines, (size_t)(earlier + csv->row_count + 1), sizeof *platform->lines);
  if (!platform->lines) abort();
  for (int i = 0; i < csv->row_count; i++) {
    struct cost_line *line = cost_line_read_on(&load->device, csv, &csv->rows[i], level->name, load->sources, load->e);
    bool own = is_wanted(load, line);
    load->stated |= own;
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
  if (!*first->algorithm) return; /* complained of already */
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

enum { TITLE, BASE, CPU, DATE, REMARK, DEVICE, DEVICE_SOURCE, CLOCK, VOLTAGE, CURRENT, TLS_STACK, KEYS };
static const char *const keys[KEYS] = {"title", "base", "cpu", "date", "note", "device", "device-source", "clock", "voltage", "current", "tls-stack"};

/* The device a file names or states; what is known already stays. */
static void read_device(struct loading *load, const struct csv *csv, const char *const values[KEYS], const int lines[KEYS]) {
  struct device own = {0};
  bool stated = false;
  for (int k = CLOCK; k <= CURRENT; k++) {
    const char *allowed;
    if (!values[k]) continue;
    stated = true;
    if (!device_read(device_quantity(keys[k]), values[k], &own, &allowed))
      err_add(load->e, ERR_INPUT, "%s:%d: key %s: found '%s', allowed: %s", csv->path, lines[k], keys[k], values[k], allowed);
  }
  if (stated && !values[DEVICE_SOURCE])
    err_add(load->e, ERR_INPUT,
        "%s:1: the line '# device-source: ...' is missing: where clock, voltage and current come from, an id of sources.csv (own: your own)", csv->path);
  if (values[DEVICE_SOURCE] && !cost_source_find(load->sources, values[DEVICE_SOURCE]))
    err_add(load->e, ERR_INPUT, "%s:%d: key device-source: found '%s', allowed: an id of sources.csv in the data folder ('own' for your own)", csv->path,
        lines[DEVICE_SOURCE], values[DEVICE_SOURCE]);
  if (values[DEVICE]) {
    char asked_by[4096];
    snprintf(asked_by, sizeof asked_by, "%s:%d: ", csv->path, lines[DEVICE]);
    (void)!device_load(values[DEVICE], load->sources, asked_by, &own, load->e); /* what is wrong is in e, and the load fails by it */
  }
  device_complete(&load->device, &own);
}

/* The lines `# key: value`; *base stays NULL when there is none. */
static void read_remarks(struct loading *load, const struct csv *csv, const char **title, const char **base) {
  const char *values[KEYS] = {NULL};
  int lines[KEYS] = {0};
  struct err *e = load->e;
  for (int i = 0; i < csv->remark_count; i++) {
    const struct csv_remark *remark = &csv->remarks[i];
    const char *value = NULL;
    int k = 0;
    while (k < KEYS && !(value = skip_key(remark->text, keys[k]))) k++;
    if (!value) {
      err_add(e, ERR_INPUT,
          "%s:%d: found '# %s', allowed: '# key: value' with key title, base, cpu, date, note, device, device-source, clock, voltage, current or tls-stack",
          csv->path, remark->line, remark->text);
    } else if (!*value) {
      err_add(e, ERR_INPUT, "%s:%d: key %s has no value", csv->path, remark->line, keys[k]);
    } else if (values[k] && k != CPU && k != DATE && k != REMARK) {
      err_add(e, ERR_INPUT, "%s:%d: key %s is there twice", csv->path, remark->line, keys[k]);
    } else {
      values[k] = value;
      lines[k] = remark->line;
    }
  }
  *title = values[TITLE];
  *base = values[BASE];
  if (!*title) err_add(e, ERR_INPUT, "%s:1: the line '# title: ...' is missing", csv->path);
  if (!load->platform->tls_stack) load->platform->tls_stack = values[TLS_STACK];
  read_device(load, csv, values, lines);
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

/* Opens one level; *base is the name of the next, NULL at the end. */
static int add_level(struct loading *load, const char *name, const char *base_dir, const char *asked_by, const char **base) {
  struct cost_platform *platform = load->platform;
  struct err *e = load->e;
  if (platform->level_count - load->chain == LEVELS_MAX)
    return err_add(e, ERR_INPUT, "%sbase '%s' is the %dth level; a platform has at most %d", asked_by, name, LEVELS_MAX + 1, LEVELS_MAX);
  char *path = platform_path(name, base_dir, asked_by, e);
  if (!path) return ERR_INPUT;
  for (int i = load->chain; i < platform->level_count; i++)
    if (strcmp(platform->levels[i].csv->path, path) == 0) {
      free(path);
      return err_add(e, ERR_INPUT, "%sbase '%s' leads back to a platform that inherits from this one", asked_by, name);
    }
  struct csv *csv;
  int code = csv_read(path, cost_line_columns, COST_LINE_COLUMNS, &csv, e);
  free(path);
  if (!csv) return code;
  platform->levels = reallocarray(platform->levels, (size_t)platform->level_count + 1, sizeof *platform->levels);
  if (!platform->levels) abort();
  struct level *level = &platform->levels[platform->level_count++];
  *level = (struct level){csv, strdup(name)};
  if (!level->name) abort();
  const char *title;
  read_remarks(load, csv, &title, base);
  if (!platform->title && !load->part) platform->title = title;
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
    if (line->peak_stack_bytes >= 0) hash_number(&hash, line->peak_stack_bytes);
    hash_number(&hash, line->count);
    for (int k = 0; k < line->count; k++) {
      hash_number(&hash, line->points[k].p_ppb);
      hash_number(&hash, line->points[k].ns);
    }
  }
  if (platform->tls_stack) hash_bytes(&hash, platform->tls_stack, strlen(platform->tls_stack) + 1);
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
static int add_bases(struct loading *load, const char *base) {
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

/* A file and its bases. */
static int add_chain(struct loading *load, const char *name, const char *base_dir) {
  const char *base = NULL;
  load->chain = load->platform->level_count;
  load->stated = false;
  load->device = (struct device){0};
  int code = add_level(load, name, base_dir, "", &base);
  if (!code) code = add_bases(load, base);
  if (code && !load->device.clock_hz) load->device.clock_hz = 1000000000; /* it may stand where reading stopped: no complaint about that */
  for (int l = load->chain; l < load->platform->level_count; l++) add_level_rows(load, &load->platform->levels[l]);
  return code;
}

/* "keygen, sign": what the chain states, for a message. */
static void stated_operations(const struct loading *load, char *out, size_t size) {
  size_t used = 0;
  out[0] = '\0';
  for (const char *const *operation = cost_operations; *operation; operation++) {
    bool stated = false;
    for (int l = load->chain; l < load->platform->level_count && !stated; l++) {
      const struct csv *csv = load->platform->levels[l].csv;
      for (int i = 0; i < csv->row_count && !stated; i++) stated = cost_line_has_operation(&csv->rows[i], *operation);
    }
    if (stated && used < size) used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "", *operation);
  }
}

static int add_part(struct loading *load, const struct cost_name_part *part, const char *base_dir) {
  load->part = part;
  int before = load->e->count, code = add_chain(load, part->platform, base_dir);
  load->part = NULL;
  if (code || load->stated || load->e->count > before) return code;
  char stated[512];
  stated_operations(load, stated, sizeof stated);
  const char *subject = part->algorithm ? part->algorithm : "any algorithm";
  return err_add(load->e, ERR_INPUT, "%s: platform %s does not state %s of %s; the operations it states are %s", part->key, part->platform, part->operation,
      subject, *stated ? stated : "none");
}

/* Parts before the base, and those of one algorithm before those of all: what comes first holds. */
static int add_all(struct loading *load, const struct cost_name *name, const char *base_dir) {
  int code = 0;
  for (int general = 0; general < 2; general++)
    for (int i = 0; i < name->part_count && !code; i++)
      if ((name->parts[i].algorithm == NULL) == (general == 1)) code = add_part(load, &name->parts[i], base_dir);
  return code ? code : add_chain(load, name->base, base_dir);
}

int cost_load(const char *name, const char *base_dir, struct cost_platform **out, struct err *e) {
  struct loading load = {.e = e};
  struct cost_name parts;
  int before = e->count;
  int code = cost_name_read(name, &parts, e);
  if (code) return code;
  code = cost_sources_load(&load.sources, e);
  if (code) {
    cost_name_free(&parts);
    return code;
  }
  load.platform = allocate(1, sizeof *load.platform);
  load.platform->name = strdup(name);
  if (!load.platform->name) abort();
  code = add_all(&load, &parts, base_dir);
  cost_sources_free(load.sources);
  cost_name_free(&parts);
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
  free(platform->levels);
  free(platform->name);
  free(platform->lines);
  free(platform->sorted);
  free(platform->rows);
  free(platform->drawn);
  free(platform);
}

const char *cost_platform_name(const struct cost_platform *platform) { return platform->name; }

const char *cost_platform_title(const struct cost_platform *platform) { return platform->title; }
const char *cost_platform_tls_stack(const struct cost_platform *platform) { return platform->tls_stack; }

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
#define FW_NS_PER_NJ UINT64_C(1000000000000000) /* 1e-15 W * 1e-9 s, of which 1e-9 J has so many */

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

int64_t cost_energy(const struct cost_row *row, int64_t size_bytes, int64_t duration_ns) {
  const struct cost_line *low = row->sizes[0], *high = row->sizes[row->count - 1];
  for (int i = 0; i < row->count; i++)
    if (row->sizes[i]->energy_nj < 0 || row->sizes[i]->power_fw != low->power_fw) return -1;
  if (low->power_fw) return (int64_t)(((unsigned __int128)(uint64_t)duration_ns * (uint64_t)low->power_fw + FW_NS_PER_NJ / 2) / FW_NS_PER_NJ);
  if (size_bytes <= low->size_bytes) return low->energy_nj;
  if (size_bytes >= high->size_bytes) return high->energy_nj;
  int i = 1;
  while (row->sizes[i]->size_bytes < size_bytes) i++;
  low = row->sizes[i - 1];
  high = row->sizes[i];
  return between(low->energy_nj, high->energy_nj, (uint64_t)(size_bytes - low->size_bytes), (uint64_t)(high->size_bytes - low->size_bytes));
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
      .peak_stack_bytes = line->peak_stack_bytes,
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
