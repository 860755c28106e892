/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stats: from a metric's exact sums to what is printed and stored. The one file with GSL in output/.
 *
 * Units:      rows are in the metric's printed unit (ms, B, 1).
 * Invariants: every real of a row has at most 9 significant decimal digits, so that what is stored, printed and compared
 *             is the same number on every machine and with every release of GSL.
 * Sources:    order-statistic interval of a quantile: W. J. Conover, Practical Nonparametric Statistics, section 3.2.
 */
#ifndef PQNETSIM_STATS_H
#define PQNETSIM_STATS_H

#include "output/store.h"

/* Half width of the two-sided 95 % Student-t interval of the mean from n replication means with standard deviation sd:
 * t(0.975, n-1) * sd / sqrt(n). NAN when n < 2. */
double stats_ci95(double sd, int64_t n);

/* The two-sided 95 % interval of a quantile from n independent values, as the quantiles that bound it. False when n is
 * too small for such an interval to exist (under 6 values for the median, under 72 for the 95th percentile). */
bool stats_quantile_interval(int permille, int64_t n, int *low_permille, int *high_permille);

/* Nearest real with 9 significant decimal digits. */
double stats_round(double value);

/* The row of one metric, in the printed unit. */
void stats_row(const struct metric_set *set, int metric, enum metric_unit unit, struct store_row *out);

/* cv and iqr of a row, from its other statistics. */
void stats_derive(struct store_row *row);

/* A statistic of a row by its name (mean sd cv iqr ci95 min p5 p25 p50 p75 p95 p99 max n failed); false when unknown. */
bool stats_named(const struct store_row *row, const char *name, double *out);
#define STATS_NAMES "mean sd cv iqr ci95 min p5 p25 p50 p75 p95 p99 max n failed"

/* 500 for "p50"; -1 for a statistic that is no quantile. */
int stats_permille(const char *name);

#endif
