/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/crypto/csv.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MAX = 64, FILE_MAX = 64 << 20 };

/* A place in the text and what has been read of it. */
struct reader {
  struct csv *csv;
  struct err *e;
  char *at, *end;
  int line;
  const struct csv_column *columns;
  int count;
  int width;                /* columns of the file; 0 before the header */
  int place[COLUMNS_MAX];   /* file column -> column asked for */
  char *cells[COLUMNS_MAX]; /* the record being read */
  int rows_max, remarks_max;
  size_t cells_used, cells_max; /* rows hold offsets until all cells are there */
};

static void *grow(void *memory, size_t count, size_t size) {
  memory = reallocarray(memory, count, size);
  if (!memory) abort();
  return memory;
}

static char *trim(char *text) {
  text += strspn(text, " \t");
  size_t length = strlen(text);
  while (length && strchr(" \t", text[length - 1])) text[--length] = '\0';
  return text;
}

/* Bytes of the UTF-8 sequence at p, 0 when it is none (overlong forms, surrogates and NUL included). */
static int utf8_length(const unsigned char *p, const unsigned char *end) {
  if (*p < 0x80) return *p ? 1 : 0;
  int length = *p >= 0xf0 && *p <= 0xf4 ? 4 : *p >= 0xe0 ? 3 : *p >= 0xc2 ? 2 : 0;
  if (!length || *p > 0xf4 || end - p < length) return 0;
  uint32_t code = *p & (0x7f >> length);
  for (int i = 1; i < length; i++) {
    if ((p[i] & 0xc0) != 0x80) return 0;
    code = code << 6 | (p[i] & 0x3f);
  }
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  return code < least[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : length;
}

static int check_utf8(struct reader *r) {
  int line = 1;
  for (const unsigned char *p = (unsigned char *)r->at, *end = (unsigned char *)r->end; p < end;) {
    int length = utf8_length(p, end);
    if (!length) return err_add(r->e, ERR_INPUT, "%s:%d: found byte 0x%02x, which is not UTF-8 text", r->csv->path, line, *p);
    line += *p == '\n';
    p += length;
  }
  return 0;
}

static int load_text(struct reader *r) {
  struct csv *csv = r->csv;
  FILE *file = fopen(csv->path, "rb");
  if (!file) return err_add(r->e, ERR_INPUT, "%s: cannot be opened: %s", csv->path, strerror(errno));
  size_t used = 0, max = 1 << 16;
  csv->text = grow(NULL, max, 1);
  for (;;) {
    size_t got = fread(csv->text + used, 1, max - used - 1, file);
    used += got;
    if (!got || used > FILE_MAX) break;
    if (used + 1 == max) csv->text = grow(csv->text, max *= 2, 1);
  }
  int failed = ferror(file) ? errno : 0;
  fclose(file);
  if (failed) return err_add(r->e, ERR_INPUT, "%s: cannot be read: %s", csv->path, strerror(failed));
  if (used > FILE_MAX) return err_add(r->e, ERR_INPUT, "%s: is larger than %d MiB, too large for a table", csv->path, FILE_MAX >> 20);
  csv->text[used] = '\0';
  r->at = csv->text;
  r->end = csv->text + used;
  if (strncmp(r->at, "\xef\xbb\xbf", 3) == 0) r->at += 3;
  r->line = 1;
  return check_utf8(r);
}

/* Ends the cell at *p; true when another one follows in this record. */
static bool end_cell(struct reader *r, char *p) {
  bool more = *p == ',';
  if (*p == '\r' && p[1] == '\n') *p++ = '\0';
  if (*p == '\n') r->line++;
  r->at = p < r->end ? p + 1 : r->end;
  *p = '\0';
  return more;
}

/* A cell in quotes: shrinks it in place. */
static bool quoted_cell(struct reader *r, char **cell) {
  char *from = r->at + 1, *to = r->at;
  int opened = r->line;
  *cell = to;
  while (from < r->end && (*from != '"' || from[1] == '"')) {
    from += *from == '"';
    r->line += *from == '\n';
    *to++ = *from++;
  }
  if (from == r->end) {
    err_add(r->e, ERR_INPUT, "%s:%d: a quoted cell begins here and never ends", r->csv->path, opened);
    r->at = r->end;
    *to = '\0';
    return false;
  }
  char *after = from + 1 + strspn(from + 1, " \t");
  if (!strchr(",\r\n", *after)) {
    err_add(r->e, ERR_INPUT, "%s:%d: found text after the closing quote of a cell; a quote inside a quoted cell is written twice", r->csv->path, r->line);
    after += strcspn(after, ",\r\n");
  }
  bool more = end_cell(r, after);
  *to = '\0';
  return more;
}

/* Reads one record into r->cells; returns its number of cells (counted on even where there is no room). */
static int read_record(struct reader *r) {
  int cells = 0;
  bool more;
  do {
    char *cell;
    r->at += strspn(r->at, " \t");
    if (*r->at == '"') {
      more = quoted_cell(r, &cell);
    } else {
      cell = r->at;
      more = end_cell(r, cell + strcspn(cell, ",\r\n"));
      cell = trim(cell);
    }
    if (cells < COLUMNS_MAX) r->cells[cells] = cell;
    cells++;
  } while (more);
  return cells;
}

static void add_remark(struct reader *r) {
  struct csv *csv = r->csv;
  if (csv->remark_count == r->remarks_max) {
    r->remarks_max = r->remarks_max ? 2 * r->remarks_max : 8;
    csv->remarks = grow(csv->remarks, (size_t)r->remarks_max, sizeof *csv->remarks);
  }
  int line = r->line;
  char *text = r->at + 1;
  end_cell(r, text + strcspn(text, "\r\n"));
  csv->remarks[csv->remark_count++] = (struct csv_remark){line, trim(text)};
}

static void column_names(const struct reader *r, char *out, size_t size) {
  size_t used = 0;
  out[0] = '\0';
  for (int i = 0; i < r->count && used < size; i++) used += (size_t)snprintf(out + used, size - used, "%s%s", i ? "," : "", r->columns[i].name);
}

/* Maps the file's columns to those asked for. A header that is not usable ends the reading. */
static int read_header(struct reader *r) {
  char known[512];
  int line = r->line, before = r->e->count;
  int width = read_record(r);
  column_names(r, known, sizeof known);
  bool seen[COLUMNS_MAX] = {false};
  for (int i = 0; i < width && i < COLUMNS_MAX; i++) {
    int k = 0;
    while (k < r->count && strcmp(r->columns[k].name, r->cells[i]) != 0) k++;
    if (k == r->count)
      err_add(r->e, ERR_INPUT, "%s:%d: column '%.60s%s' is not known; columns are %s", r->csv->path, line, r->cells[i], strlen(r->cells[i]) > 60 ? "..." : "",
          known);
    else if (seen[k])
      err_add(r->e, ERR_INPUT, "%s:%d: column %s is there twice", r->csv->path, line, r->cells[i]);
    else
      seen[k] = true;
    r->place[i] = k;
  }
  for (int k = 0; k < r->count; k++)
    if (r->columns[k].required && !seen[k])
      err_add(r->e, ERR_INPUT, "%s:%d: column %s is missing; columns are %s", r->csv->path, line, r->columns[k].name, known);
  r->width = width;
  return r->e->count > before || width > COLUMNS_MAX ? ERR_INPUT : 0;
}

static void add_row(struct reader *r) {
  struct csv *csv = r->csv;
  int line = r->line, width = read_record(r);
  if (width != r->width) {
    err_add(r->e, ERR_INPUT, "%s:%d: found %d cells, the header has %d columns", csv->path, line, width, r->width);
    return;
  }
  if (csv->row_count == r->rows_max) {
    r->rows_max = r->rows_max ? 2 * r->rows_max : 64;
    csv->rows = grow(csv->rows, (size_t)r->rows_max, sizeof *csv->rows);
  }
  size_t count = (size_t)r->count;
  if (r->cells_used + count > r->cells_max) {
    r->cells_max = 2 * r->cells_max + count;
    csv->cells = grow(csv->cells, r->cells_max, sizeof *csv->cells);
  }
  const char **cells = csv->cells + r->cells_used;
  for (size_t k = 0; k < count; k++) cells[k] = "";
  for (int i = 0; i < width; i++) cells[r->place[i]] = r->cells[i];
  r->cells_used += count;
  csv->rows[csv->row_count++].line = line;
}

static int read_all(struct reader *r) {
  int code = load_text(r);
  if (code) return code;
  while (r->at < r->end) {
    size_t blank = strspn(r->at, " \t");
    if (strchr("\r\n", r->at[blank])) {
      end_cell(r, r->at + blank);
    } else if (!r->width && r->at[blank] == '#') {
      r->at += blank;
      add_remark(r);
    } else if (r->width) {
      add_row(r);
    } else if ((code = read_header(r))) {
      return code;
    }
  }
  if (!r->width) return err_add(r->e, ERR_INPUT, "%s: holds no table: the line that names the columns is missing", r->csv->path);
  for (int i = 0; i < r->csv->row_count; i++) r->csv->rows[i].cells = r->csv->cells + (size_t)i * (size_t)r->count;
  return 0;
}

int csv_read(const char *path, const struct csv_column *columns, int count, struct csv **out, struct err *e) {
  struct csv *csv = grow(NULL, 1, sizeof *csv);
  *csv = (struct csv){.path = strdup(path)};
  struct reader r = {.csv = csv, .e = e, .columns = columns, .count = count};
  int before = e->count;
  int code = csv->path ? read_all(&r) : err_add(e, ERR_SYSTEM, "%s: out of memory", path);
  if (code) {
    csv_free(csv);
    csv = NULL;
  }
  *out = csv;
  return code ? code : e->count > before ? ERR_INPUT : 0;
}

void csv_free(struct csv *csv) {
  if (!csv) return;
  free(csv->path);
  free(csv->remarks);
  free(csv->rows);
  free(csv->text);
  free(csv->cells);
  free(csv);
}
