/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ike_rows: what was measured on strongSwan, row by row, for tests.
 *
 * Purpose:    reads calib/data/measured/ike/ike_truth.csv; calib/data/README.md says what a row is.
 * Units:      as in the file: bytes, microseconds, milliseconds; a number that is not stated is -1.
 * Invariants: rows come in the order of the file, all of them.
 * Ownership:  ike_rows_open gives a file that the caller closes.
 */
#ifndef PQNETSIM_IKE_ROWS_H
#define PQNETSIM_IKE_ROWS_H

#include <stdbool.h>
#include <stdio.h>

struct ike_row {
  char section[8], ike[32], kex[64], auth[16], chain[8], childless[8], fragment[8], exchange[32], direction[16];
  double rtt_ms, loss;
  int n, id;
  int messages, payload, packets, bytes, largest;
  double min, p25, p50, mean, p75, p95, max; /* microseconds */
};

/* Fails when the file cannot be read: tests run in the root of the tree. */
FILE *ike_rows_open(void);
/* False behind the last row. */
bool ike_rows_next(FILE *file, struct ike_row *row);

#endif
