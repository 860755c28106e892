/* SPDX-License-Identifier: GPL-3.0-or-later */
/* grid: cells in aligned columns, for a terminal.
 *
 * Purpose:   text columns flush left, number columns flush right with one count of decimals per column: enough for four
 *            significant digits of the smallest value there, at most six; whole numbers stay whole.
 * Units:     a column is as wide as its widest cell in characters (UTF-8), two blanks between columns, none at the end.
 * Ownership: grid_new/grid_free; texts are copied.
 */
#ifndef PQNETSIM_GRID_H
#define PQNETSIM_GRID_H

#include <stdio.h>

struct grid;

struct grid *grid_new(void);
void grid_free(struct grid *grid);
enum grid_kind { GRID_TEXT, GRID_RIGHT /* text, flush right */, GRID_NUMBER };

/* Columns first, then rows; cells are filled from left to right, each with the function of its column's kind. */
void grid_column(struct grid *grid, const char *header, enum grid_kind kind);
void grid_text(struct grid *grid, const char *text);
void grid_right(struct grid *grid, const char *text);
void grid_number(struct grid *grid, double value); /* NAN: an empty cell */
/* The digits asked for, without exponent, whole numbers whole; "" for NAN. For numbers of different kinds in one column, which no
 * count of decimals would suit, and for labels in figures. */
const char *grid_short_number(double value, int significant, char buffer[64]);

void grid_print(const struct grid *grid, FILE *to);

#endif
