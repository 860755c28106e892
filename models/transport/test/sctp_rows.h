/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sctp_rows: what was measured on usrsctp, row by row, for tests.
 *
 * Purpose:    reads calib/data/measured/sctp/sctp_truth.csv: one row per measured quantity of a configuration; an empty number is -1.
 * Units:      as in the file: ms, bytes, counts.
 * Invariants: every row of a section is given to a test's function; one that it does not compare it must say why.
 * Ownership:  rows are valid during the call.
 */
#ifndef PQNETSIM_SCTP_ROWS_H
#define PQNETSIM_SCTP_ROWS_H

struct sctp_row {
  int row; /* of the measured file */
  char section[32], quantity[48], text[200];
  double value, min, max;
  int rto_initial, rto_min, rto_max, init_max, init_timeout, association_max, path_max, heartbeat;
  int rtt, sack_delay, sack_every, gap, size, count, nodelay, unordered;
  double loss;
  char lib[8], kind[64], detail[160];
};

/* Calls fn for each row of the section, in order; returns how many there were. */
int sctp_rows(const char *section, void (*fn)(void *arg, const struct sctp_row *row), void *arg);

/* The number behind "key=" in detail; -1 when there is none. */
double sctp_row_detail(const struct sctp_row *row, const char *key);
/* Numbers separated by '+' behind "key=", or by blanks in text (key NULL); returns how many. */
int sctp_row_list(const struct sctp_row *row, const char *key, double *values, int max);

#endif
