/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/grid.h"

#include "sim/core/units.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct column {
  char *header;
  enum grid_kind kind;
};
struct cell {
  char *text;
  double number;
};

struct grid {
  int column_count;
  struct column *columns;
  size_t cell_count, capacity;
  struct cell *cells;
};

struct grid *grid_new(void) {
  struct grid *grid = calloc(1, sizeof *grid);
  assert(grid);
  return grid;
}

void grid_free(struct grid *grid) {
  if (!grid) return;
  for (int i = 0; i < grid->column_count; i++) free(grid->columns[i].header);
  for (size_t i = 0; i < grid->cell_count; i++) free(grid->cells[i].text);
  free(grid->columns);
  free(grid->cells);
  free(grid);
}

static char *copy(const char *text) {
  char *result = strdup(text);
  assert(result);
  return result;
}

void grid_column(struct grid *grid, const char *header, enum grid_kind kind) {
  assert(grid->cell_count == 0);
  grid->columns = realloc(grid->columns, (size_t)(grid->column_count + 1) * sizeof *grid->columns);
  assert(grid->columns);
  grid->columns[grid->column_count++] = (struct column){copy(header), kind};
}

static void add(struct grid *grid, struct cell cell, enum grid_kind kind) {
  assert(grid->column_count > 0 && grid->columns[grid->cell_count % (size_t)grid->column_count].kind == kind);
  if (grid->cell_count == grid->capacity) {
    grid->capacity = grid->capacity ? 2 * grid->capacity : 64;
    grid->cells = realloc(grid->cells, grid->capacity * sizeof *grid->cells);
    assert(grid->cells);
  }
  grid->cells[grid->cell_count++] = cell;
}

void grid_text(struct grid *grid, const char *text) { add(grid, (struct cell){copy(text), NAN}, GRID_TEXT); }

void grid_right(struct grid *grid, const char *text) { add(grid, (struct cell){copy(text), NAN}, GRID_RIGHT); }

void grid_number(struct grid *grid, double value) { add(grid, (struct cell){NULL, value}, GRID_NUMBER); }

const char *grid_short_number(double value, int significant, char buffer[64]) {
  int decimals = 0;
  bool whole = value == rint(value) && fabs(value) < 1e15;
  for (double size = fabs(value); !whole && size < pow(10, significant - 1) && decimals < 9; size *= 10) decimals++;
  snprintf(buffer, 64, "%.*f", decimals, isnan(value) ? 0.0 : value);
  return isnan(value) ? "" : buffer;
}

enum { MAX_DECIMALS = 6, SIGNIFICANT = 4, NO_DECIMALS = -1 };

/* NO_DECIMALS: values too small for fixed decimals; each cell then writes itself. */
static int column_decimals(const struct grid *grid, int column) {
  double smallest = INFINITY;
  bool whole = true;
  for (size_t i = (size_t)column; i < grid->cell_count; i += (size_t)grid->column_count) {
    double size = fabs(grid->cells[i].number);
    if (isnan(size) || size == 0) continue;
    if (size != rint(size)) whole = false;
    if (size < smallest) smallest = size;
  }
  if (whole) return 0;
  if (smallest < 1e-6) return NO_DECIMALS;
  int decimals = 0;
  for (double size = smallest; decimals < MAX_DECIMALS && size < pow(10, SIGNIFICANT - 1); decimals++) size *= 10;
  return decimals;
}

/* Display width: characters, not bytes. */
static int width(const char *text) {
  int count = 0;
  for (; *text; text++) count += ((unsigned char)*text & 0xc0) != 0x80;
  return count;
}

static const char *cell_text(const struct cell *cell, int decimals, char buffer[400]) {
  if (cell->text) return cell->text;
  if (isnan(cell->number)) return "";
  if (decimals == NO_DECIMALS) return real_format(cell->number, buffer);
  snprintf(buffer, 400, "%.*f", decimals, cell->number);
  return buffer;
}

/* Blanks are held back until something follows them on the line. */
static void put(FILE *to, const char *text, int columns, bool left, int *blanks) {
  int space = columns - width(text);
  if (!left) *blanks += space;
  if (*text) {
    fprintf(to, "%*s%s", *blanks, "", text);
    *blanks = 0;
  }
  *blanks += 2 + (left ? space : 0);
}

void grid_print(const struct grid *grid, FILE *to) {
  int count = grid->column_count;
  int *widths = calloc((size_t)count + 1, sizeof *widths), *decimals = calloc((size_t)count + 1, sizeof *decimals);
  char buffer[400];
  assert(widths && decimals && count > 0 && grid->cell_count % (size_t)count == 0);
  for (int c = 0; c < count; c++) {
    widths[c] = width(grid->columns[c].header);
    decimals[c] = grid->columns[c].kind == GRID_NUMBER ? column_decimals(grid, c) : 0;
    for (size_t i = (size_t)c; i < grid->cell_count; i += (size_t)count) {
      int cell = width(cell_text(&grid->cells[i], decimals[c], buffer));
      if (cell > widths[c]) widths[c] = cell;
    }
  }
  int blanks = 0;
  for (int c = 0; c < count; c++) put(to, grid->columns[c].header, widths[c], grid->columns[c].kind == GRID_TEXT, &blanks);
  fputc('\n', to);
  for (int c = 0; c < count; c++) {
    fputs(c ? "  " : "", to);
    for (int i = 0; i < widths[c]; i++) fputc('-', to);
  }
  for (size_t i = 0; i < grid->cell_count; i++) {
    int c = (int)(i % (size_t)count);
    if (c == 0) {
      fputc('\n', to);
      blanks = 0;
    }
    put(to, cell_text(&grid->cells[i], decimals[c], buffer), widths[c], grid->columns[c].kind == GRID_TEXT, &blanks);
  }
  fputc('\n', to);
  free(widths);
  free(decimals);
}
