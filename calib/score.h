/* SPDX-License-Identifier: GPL-3.0-or-later */
/* score: how well simulated values meet published ones.
 *
 * Purpose:   errors of single rows, and what they come to for many. Pure arithmetic on rows that have been run.
 * Units:     errors are relative (0.1 is 10 %); values are in their row's unit.
 * Order:     sums run in the order of the rows given, so that equal rows give equal bytes.
 * Terms:     a count is a whole number of bytes, packets or events without a subtracted run: it is right when it lies within
 *            the row's tolerance. Everything else is a real: it is near when it lies within 10 %, whatever the tolerance.
 *            Algorithms are compared in groups: rows that differ in nothing but the values of keys that end in .kex, .auth or
 *            .cert. A sweep is four or more rows that differ in the value of one other key alone, a number; its knee is
 *            the inner point where the slope changes most.
 */
#ifndef PQNETSIM_SCORE_H
#define PQNETSIM_SCORE_H

#include "calib/validate.h"

#define SCORE_NEAR 0.1

/* (simulated - published) / |published|; NAN when the value published is 0, or no value came out. */
double score_error(const struct validate_row *row);
/* The same with what the conditions give taken off both; NAN for a row that has nothing given. */
double score_error_beyond(const struct validate_row *row);
bool score_is_count(const struct validate_row *row);
/* A count that is not right, a real that is not near. */
bool score_is_miss(const struct validate_row *row);
/* The value lies within the row's tolerance of the published one. */
bool score_is_tolerated(const struct validate_row *row);

/* Of n ascending values, linear between them: position p (n - 1). NAN when n is 0. */
double score_quantile(const double *ascending, int n, double p);
/* Spearman's rank correlation; equal values share their mean rank. NAN when n < 2 or one side is all equal. */
double score_rank_correlation(const double *x, const double *y, int n);
/* Index of the inner point where the slope of y over ascending x changes most, the first of equals; -1 when n < 3. */
int score_knee(const double *x, const double *y, int n);

struct score {
  int rows;
  int reals, near_count;
  double median, p95; /* of the absolute errors of reals; NAN without any */
  int beyond;
  double median_beyond; /* of reals that have something given */
  int counts, right;
  int groups;
  double rank; /* mean over groups of three or more algorithms; NAN without any */
  int sweeps, knees_met;
};
void score_rows(const struct validate_row *const *rows, int count, struct score *out);

#endif
