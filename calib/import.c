/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calib/import.h"
#include "models/crypto/alg.h"
#include "models/crypto/cost_line.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NS_MAX 86400e9 /* a day, as in platform files */
#define ANY_KIND (~0u)

enum { KEX = 1 << ALG_KEX, KEM = 1 << ALG_KEM | 1 << ALG_HYBRID, SIGNATURE = 1 << ALG_SIGNATURE, AEAD = 1 << ALG_AEAD, HASH = 1 << ALG_HASH };

const char *const import_units[] = {"ns", "us", "ms", "s", "cycles", "ops_per_s", NULL};

enum { ALGORITHM, OPERATION, SIZE, NOTE, VALUE, MEAN, SD, COUNT, QUANTILES };

/* Columns of quantiles, then those of operations. median is p50. */
static const struct csv_column columns[] = {{"algorithm", true}, {"operation", false}, {"size_bytes", false}, {"note", false}, {"value", false},
    {"mean", false}, {"sd", false}, {"n", false}, {"min", false}, {"p5", false}, {"p25", false}, {"p50", false}, {"median", false}, {"p75", false},
    {"p95", false}, {"p99", false}, {"max", false}, {"keygen", false}, {"import_pub", false}, {"encaps", false}, {"encaps_full", false}, {"decaps", false},
    {"decaps_full", false}, {"derive", false}, {"derive_full", false}, {"sign", false}, {"verify", false}, {"encrypt", false}, {"decrypt", false},
    {"seal", false}, {"open", false}, {"set_key", false}, {"hash", false}, {"extract", false}, {"expand", false}, {"extract_expand", false}};
enum { COLUMNS = sizeof columns / sizeof *columns, QUANTILE_COUNT = 9, OPERATIONS = QUANTILES + QUANTILE_COUNT };

static const double probabilities[QUANTILE_COUNT] = {0, 0.05, 0.25, 0.5, 0.5, 0.75, 0.95, 0.99, 1};

/* Which algorithms an operation is one of; of those left out (keygen) any. */
static const struct {
  const char *operation;
  unsigned kinds;
} operation_kinds[] = {{"import_pub", KEX | KEM}, {"encaps", KEM}, {"encaps_full", KEM}, {"decaps", KEM}, {"decaps_full", KEM}, {"derive", KEX},
    {"derive_full", KEX}, {"sign", SIGNATURE}, {"verify", SIGNATURE}, {"encrypt", SIGNATURE}, {"decrypt", SIGNATURE}, {"seal", AEAD}, {"open", AEAD},
    {"set_key", AEAD}, {"hash", HASH}, {"extract", HASH}, {"expand", HASH}, {"extract_expand", HASH}};

/* What a reading works on. */
struct reading {
  const struct import_request *request;
  const struct cost_sources *sources;
  struct import *import;
  struct err *e;
};

static unsigned kinds_of(const char *operation) {
  for (size_t i = 0; i < sizeof operation_kinds / sizeof *operation_kinds; i++)
    if (!strcmp(operation_kinds[i].operation, operation)) return operation_kinds[i].kinds;
  return ANY_KIND;
}

bool import_clock(const char *text, double *hz) {
  static const struct {
    const char *suffix;
    double hz;
  } suffixes[] = {{"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}};
  size_t digits = strspn(text, "0123456789."), end = digits + strspn(text + digits, " ");
  char *behind;
  *hz = strtod(text, &behind);
  if (!digits || behind != text + digits) return false;
  for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
    if (!strcmp(text + end, suffixes[i].suffix)) {
      *hz *= suffixes[i].hz;
      return *hz > 0 && *hz <= 1e12;
    }
  return false;
}

double import_mean(const struct import_row *row) {
  if (row->count == 1) return (double)row->points[0].ns;
  double mean = 0;
  for (int i = 1; i < row->count; i++) mean += (row->points[i].p - row->points[i - 1].p) * (double)(row->points[i].ns + row->points[i - 1].ns) / 2;
  return mean;
}

static int refuse(const struct reading *reading, int line, int column, const char *found, const char *allowed) {
  if (*found)
    return err_add(reading->e, ERR_INPUT, "%s:%d: column %s: found '%s', allowed: %s", reading->request->path, line, columns[column].name, found, allowed);
  return err_add(reading->e, ERR_INPUT, "%s:%d: column %s: is empty, allowed: %s", reading->request->path, line, columns[column].name, allowed);
}

/* A decimal number above 0; strtod alone would take "inf", "0x10" and "1e3" too. */
static bool read_number(const char *text, double *value) {
  size_t digits = strspn(text, "0123456789"), decimals = 0;
  const char *rest = text + digits;
  if (*rest == '.') rest += 1 + (decimals = strspn(rest + 1, "0123456789"));
  if (!digits || *rest || (text[digits] == '.' && !decimals)) return false;
  *value = strtod(text, NULL);
  return *value > 0;
}

/* A cell as ns, 0 after a problem. */
static int64_t read_ns(const struct reading *reading, int line, int column, const char *text) {
  static const double scale[] = {[IMPORT_NS] = 1, [IMPORT_US] = 1e3, [IMPORT_MS] = 1e6, [IMPORT_S] = 1e9};
  const struct import_request *request = reading->request;
  double value;
  if (!read_number(text, &value)) {
    refuse(reading, line, column, text, "a number above 0 without a unit, such as 21392 or 98.5 (--unit says which unit)");
    return 0;
  }
  double ns = request->unit == IMPORT_RATE ? 1e9 / value : request->unit == IMPORT_CYCLES ? value * 1e9 / request->clock_hz : value * scale[request->unit];
  if (ns >= 0.5 && ns <= NS_MAX) return (int64_t)(ns + 0.5);
  char allowed[96];
  snprintf(allowed, sizeof allowed, "durations of 1 ns to 86400 s; these are %s: is that the table's --unit?", import_units[request->unit]);
  refuse(reading, line, column, text, allowed);
  return 0;
}

/* ---- Notes ------------------------------------------------------------------------------------------------------ */

__attribute__((format(printf, 2, 3))) static void add_note(struct import_row *row, const char *format, ...) {
  size_t used = strlen(row->note);
  va_list list;
  va_start(list, format);
  vsnprintf(row->note + used, sizeof row->note - used, format, list);
  va_end(list);
}

static const char *unit_text(const struct import_request *request) { return request->unit == IMPORT_RATE ? "operations/s" : import_units[request->unit]; }

/* The columns of a row's figures, as "min 59.7 ms, median 439 ms, mean 548.9 ms, n 50; the table's own words". */
static void write_note(const struct reading *reading, const char *const *cells, int first, int last, struct import_row *row) {
  const struct import_request *request = reading->request;
  const char *separator = "";
  for (int c = first; c <= last; c++) {
    if (!*cells[c]) continue;
    bool named = c != VALUE && c < OPERATIONS;
    add_note(
        row, "%s%s%s%s%s%s", separator, named ? columns[c].name : "", named ? " " : "", cells[c], c == COUNT ? "" : " ", c == COUNT ? "" : unit_text(request));
    if (c != COUNT && request->unit == IMPORT_CYCLES) add_note(row, " at %g MHz", request->clock_hz / 1e6);
    separator = ", ";
  }
  if (*cells[NOTE]) add_note(row, "; %s", cells[NOTE]);
}

/* ---- Names ------------------------------------------------------------------------------------------------------ */

static const char *exact_title(const char *text, unsigned kinds) {
  int count;
  const struct alg *table = alg_table(&count);
  for (int i = 0; i < count; i++)
    if (kinds & 1u << table[i].kind && !strcasecmp(table[i].title, text)) return table[i].title;
  return NULL;
}

/* The title of an algorithm among those of the kinds, else of any; the text itself when none has the name. */
static const char *title_of(const char *text, unsigned kinds) {
  const unsigned tried[] = {kinds, ANY_KIND};
  for (int i = 0; i < 2; i++) {
    const char *title = exact_title(text, tried[i]);
    const struct alg *alg = title ? NULL : alg_find(text, tried[i]);
    if (title || alg) return title ? title : alg->title;
  }
  return text;
}

/* Names and size are good when a platform file with such a row would load; its sentences name this file and line. */
static bool check_names(const struct reading *reading, const char *size_text, struct import_row *row) {
  const struct import_request *request = reading->request;
  const char *cells[COST_LINE_COLUMNS] = {row->algorithm, row->operation, size_text, "1", "", request->kind, request->source, "", "stated"};
  const struct csv_row at = {row->line, cells};
  int before = reading->e->count;
  struct cost_line *line = cost_line_read(reading->import->csv, &at, "", reading->sources, reading->e);
  bool good = reading->e->count == before;
  if (good) {
    row->algorithm = line->algorithm;
    row->size_bytes = line->size_bytes;
  }
  cost_line_free(line);
  return good;
}

/* ---- Rows ------------------------------------------------------------------------------------------------------- */

static struct import_row *new_row(struct import *import, int line, const char *algorithm, const char *operation) {
  import->rows = reallocarray(import->rows, (size_t)import->row_count + 1, sizeof *import->rows);
  if (!import->rows) abort();
  struct import_row *row = &import->rows[import->row_count++];
  *row = (struct import_row){.algorithm = algorithm, .operation = operation, .line = line};
  return row;
}

static void set_constant(struct import_row *row, int64_t ns) {
  row->points[0].p = 0;
  row->points[0].ns = ns;
  row->count = 1;
}

/* Quantiles as points from p 0 to 1. */
static void read_quantiles(const struct reading *reading, const char *const *cells, struct import_row *row) {
  int before = reading->e->count;
  for (int q = 0; q < QUANTILE_COUNT; q++) {
    const char *text = cells[QUANTILES + q];
    if (!*text) continue;
    int64_t ns = read_ns(reading, row->line, QUANTILES + q, text);
    struct import_point *last = row->count ? &row->points[row->count - 1] : NULL;
    if (reading->e->count > before) continue;
    if (last && last->p == probabilities[q])
      err_add(reading->e, ERR_INPUT, "%s:%d: column median: p50 is stated too; one of them is enough", reading->request->path, row->line);
    else if (last && last->ns > ns)
      refuse(reading, row->line, QUANTILES + q, text, "quantiles that do not fall from min to max");
    else
      row->points[row->count++] = (struct import_point){probabilities[q], ns};
  }
  if (reading->e->count > before || !row->count) return;
  if (row->count == 1 && (row->points[0].p == 0 || row->points[0].p == 1)) {
    err_add(reading->e, ERR_INPUT, "%s:%d: only %s is stated, which is no duration to expect; allowed: value, mean, a median, or more quantiles",
        reading->request->path, row->line, row->points[0].p == 0 ? "min" : "max");
    return;
  }
  if (row->count == 1) {
    set_constant(row, row->points[0].ns);
    return;
  }
  if (row->points[0].p > 0) {
    memmove(row->points + 1, row->points, (size_t)row->count++ * sizeof *row->points);
    row->points[0].p = 0;
  }
  struct import_point last = row->points[row->count - 1];
  if (last.p < 1) row->points[row->count++] = (struct import_point){1, last.ns};
}

static void check_moments(const struct reading *reading, const char *const *cells, struct import_row *row) {
  double ignored;
  if (*cells[MEAN] && row->count > 1) row->mean_ns = (double)read_ns(reading, row->line, MEAN, cells[MEAN]);
  if (*cells[SD] && strspn(cells[SD], "0.") != strlen(cells[SD]) && !read_number(cells[SD], &ignored))
    refuse(reading, row->line, SD, cells[SD], "a number, or nothing");
  if (*cells[COUNT] && cells[COUNT][strspn(cells[COUNT], "0123456789")])
    refuse(reading, row->line, COUNT, cells[COUNT], "how many were measured, a whole number, or nothing");
}

/* A line that is one operation. */
static void read_operation(const struct reading *reading, const struct csv_row *line) {
  const char *const *cells = line->cells;
  struct import_row *row = new_row(reading->import, line->line, title_of(cells[ALGORITHM], kinds_of(cells[OPERATION])), cells[OPERATION]);
  int quantiles = 0;
  for (int q = 0; q < QUANTILE_COUNT; q++) quantiles += *cells[QUANTILES + q] != '\0';
  if (!check_names(reading, cells[SIZE], row)) return;
  if (*cells[VALUE] && quantiles) {
    err_add(reading->e, ERR_INPUT, "%s:%d: column value: found '%s' beside quantiles; allowed: one or the other (a mean beside quantiles is column mean)",
        reading->request->path, row->line, cells[VALUE]);
    return;
  }
  if (quantiles && reading->request->unit == IMPORT_RATE) {
    err_add(reading->e, ERR_INPUT,
        "%s:%d: quantiles in ops_per_s: the mean of rates is no mean of durations, and their order is reversed; allowed with this unit: value or mean",
        reading->request->path, row->line);
    return;
  }
  if (quantiles) {
    read_quantiles(reading, cells, row);
  } else {
    int stated = *cells[VALUE] ? VALUE : MEAN;
    if (*cells[stated])
      set_constant(row, read_ns(reading, row->line, stated, cells[stated]));
    else
      refuse(reading, row->line, VALUE, "", "a number here, in mean, or in columns of quantiles (min p5 p25 p50 or median p75 p95 p99 max)");
  }
  check_moments(reading, cells, row);
  write_note(reading, cells, VALUE, OPERATIONS - 1, row);
}

/* A line that is one algorithm, with a column for each operation. */
static void read_algorithm(const struct reading *reading, const struct csv_row *line) {
  const char *const *cells = line->cells;
  unsigned kinds = ANY_KIND;
  int filled = 0;
  for (int c = OPERATIONS; c < COLUMNS; c++)
    if (*cells[c]) {
      filled++;
      kinds &= kinds_of(columns[c].name);
    }
  for (int c = VALUE; c < OPERATIONS; c++)
    if (*cells[c]) refuse(reading, line->line, c, cells[c], "nothing, since a column for each operation holds the numbers");
  if (!filled) refuse(reading, line->line, ALGORITHM, cells[ALGORITHM], "lines with a number in one of the columns of operations");
  for (int c = OPERATIONS; c < COLUMNS; c++) {
    if (!*cells[c]) continue;
    struct import_row *row = new_row(reading->import, line->line, title_of(cells[ALGORITHM], kinds ? kinds : ANY_KIND), columns[c].name);
    if (!check_names(reading, cells[SIZE], row)) return; /* told once a line */
    set_constant(row, read_ns(reading, line->line, c, cells[c]));
    write_note(reading, cells, c, c, row);
  }
}

/* Sizes of one operation must differ, and one alone must be 0: told here, where the user's lines are. */
static void check_sizes(const struct reading *reading) {
  const struct import *import = reading->import;
  for (int i = 0; i < import->row_count; i++) {
    const struct import_row *row = &import->rows[i];
    int others = 0;
    for (int k = 0; k < import->row_count; k++) {
      const struct import_row *other = &import->rows[k];
      if (k == i || strcmp(other->algorithm, row->algorithm) || strcmp(other->operation, row->operation)) continue;
      others++;
      if (k < i && other->size_bytes == row->size_bytes)
        err_add(reading->e, ERR_INPUT, "%s:%d: %s %s%s is already stated in line %d", reading->request->path, row->line, row->algorithm, row->operation,
            row->size_bytes ? " of that size" : "", other->line);
      else if (k < i && !other->size_bytes != !row->size_bytes)
        err_add(reading->e, ERR_INPUT, "%s:%d: %s %s has a size here and none in line %d; allowed: one size or none for every line", reading->request->path,
            row->size_bytes ? row->line : other->line, row->algorithm, row->operation, row->size_bytes ? other->line : row->line);
    }
    if (!others && row->size_bytes)
      err_add(reading->e, ERR_INPUT, "%s:%d: column size_bytes: found %lld as the only size of %s %s; state a second size, or 0 when size does not matter",
          reading->request->path, row->line, (long long)row->size_bytes, row->algorithm, row->operation);
  }
}

static bool has_operation_columns(const struct csv *csv) {
  for (int i = 0; i < csv->row_count; i++)
    for (int c = OPERATIONS; c < COLUMNS; c++)
      if (*csv->rows[i].cells[c]) return true;
  return false;
}

static void read_rows(const struct reading *reading) {
  const struct csv *csv = reading->import->csv;
  bool wide = has_operation_columns(csv);
  for (int i = 0; i < csv->row_count; i++) {
    const struct csv_row *line = &csv->rows[i];
    if (wide && *line->cells[OPERATION])
      refuse(reading, line->line, OPERATION, line->cells[OPERATION], "nothing, since this table has a column for each operation");
    else if (wide)
      read_algorithm(reading, line);
    else
      read_operation(reading, line);
  }
}

int import_read(const struct import_request *request, const struct cost_sources *sources, struct import **out, struct err *e) {
  struct import *import = calloc(1, sizeof *import);
  if (!import) abort();
  struct reading reading = {request, sources, import, e};
  int before = e->count;
  (void)!csv_read(request->path, columns, COLUMNS, &import->csv, e); /* problems are counted in e; a table is read on for more */
  if (import->csv) read_rows(&reading);
  if (e->count == before && !import->row_count)
    err_add(e, ERR_INPUT, "%s: holds no rows: there is no line behind the one that names the columns", request->path);
  if (e->count == before) check_sizes(&reading);
  if (e->count > before) {
    import_free(import);
    import = NULL;
  }
  *out = import;
  return e->count > before ? (int)e->code : 0;
}

void import_free(struct import *import) {
  if (!import) return;
  csv_free(import->csv);
  free(import->rows);
  free(import);
}
