/* SPDX-License-Identifier: GPL-3.0-or-later */
/* import: a published table of durations or rates as rows of a platform file.
 *
 * Purpose:   reads a CSV table in one of two shapes: a line per operation (algorithm,operation and either `value` or any of min,
 *            p5, p25, p50 or median, p75, p95, p99, max; mean, sd and n go into the note, and a mean alone is a value), or a
 *            line per algorithm with a column for each operation (algorithm,keygen,encaps,decaps), as papers print them.
 *            size_bytes and note may be there in both.
 * Units:     cells are in one unit for the whole table; what comes out is whole ns.
 * Names:     algorithms by title or any alias of alg.h; of a name that is both a curve and a signature the operation decides,
 *            and in a line per algorithm whether one of sign, verify, encrypt, decrypt is filled.
 * Order:     points of a row rise in p, from 0 to 1; a row without min or max has its first or last quantile there. One point: a
 *            constant. Rows as in the table, from left to right.
 * Ownership: import_read/import_free own everything.
 * Errors:    ERR_INPUT with file:line, column, found, allowed for every bad cell; *out is then NULL. Names and sizes follow the
 *            rules of a platform file.
 */
#ifndef PQNETSIM_IMPORT_H
#define PQNETSIM_IMPORT_H

#include "models/crypto/cost.h"

struct csv;

enum import_unit { IMPORT_NS, IMPORT_US, IMPORT_MS, IMPORT_S, IMPORT_CYCLES, IMPORT_RATE };

/* NULL-ended: ns us ms s cycles ops_per_s. */
extern const char *const import_units[];

struct import_request {
  const char *path;
  enum import_unit unit;
  double clock_hz; /* of IMPORT_CYCLES */
  const char *kind, *source;
};

enum { IMPORT_POINTS = 10, IMPORT_NOTE = 512 };

struct import_row {
  const char *algorithm, *operation; /* as platform files spell them */
  int64_t size_bytes;
  int line, count;
  struct import_point {
    double p;
    int64_t ns;
  } points[IMPORT_POINTS];
  double mean_ns;         /* as stated beside quantiles, 0: not */
  char note[IMPORT_NOTE]; /* what the table says, in its own unit */
};

struct import {
  struct csv *csv;
  int row_count;
  struct import_row *rows;
};

int import_read(const struct import_request *request, const struct cost_sources *sources, struct import **out, struct err *e) MUST_CHECK;
void import_free(struct import *import);

/* "64MHz", "3.1GHz", above 0; false when it is no such text. */
bool import_clock(const char *text, double *hz);

/* The mean of what a row states: straight lines between its points. */
double import_mean(const struct import_row *row);

#endif
