/* SPDX-License-Identifier: GPL-3.0-or-later */
/* table: results as text: aligned for a terminal, CSV (RFC 4180), JSON. Always the same bytes for the same rows.
 *
 * Units:     in every header; reals with 9 significant digits in CSV and JSON, fewer on a terminal.
 * Ownership: nothing is kept.
 * Errors:    ERR_INPUT for what the user named (metric, statistic, axis, value), the store's otherwise.
 */
#ifndef PQNETSIM_TABLE_H
#define PQNETSIM_TABLE_H

#include "output/store.h"
#include <stdio.h>

/* export: one row per point and metric, ordered by point then metric. */
int table_export_csv(struct store *store, FILE *to, struct err *e) MUST_CHECK;
int table_export_json(struct store *store, FILE *to, struct err *e) MUST_CHECK;

/* show: metrics are METRIC or METRIC.STAT; NULL: every metric. Those with a statistic share one table (axes, then a column
 * each); every other metric gets a table of its own (axes, n, mean, interval, quantiles). wheres filter. */
struct table_where {
  const char *key, *value;
};
int table_show(
    struct store *store, const char *const *metrics, int metric_count, const struct table_where *wheres, int where_count, FILE *to, struct err *e) MUST_CHECK;

/* True when a point's axis values satisfy every condition; ERR_INPUT for an unknown axis or a value that does not parse
 * ("path.delay=10ms", "ipsec.kex=mlkem768"). Shared with plot. */
int table_matches(
    struct store *store, const struct store_point *point, const struct table_where *wheres, int where_count, bool *matches, struct err *e) MUST_CHECK;

/* "tunnel_setup.p95" -> index of the metric and the statistic's name within spec; *stat is NULL when spec names none.
 * Shared with plot. */
int table_find_metric(const struct store_study *study, const char *spec, int *metric, const char **stat, struct err *e) MUST_CHECK;
/* Index of an axis; ERR_INPUT (all axes listed) when there is no such axis. Shared with plot. */
int table_find_axis(const struct store_study *study, const char *name, int *axis, struct err *e) MUST_CHECK;

/* The cell as a user writes it: "10ms", "mlkem768", "4". */
const char *table_cell(const struct store_axis *axis, const struct store_cell *cell, char *buffer, size_t size);
/* "path.delay [ms]"; without dimension just the name. */
const char *table_header(const char *name, const char *unit, char *buffer, size_t size);

/* `run --json` and the text form of `run`. parameters: "key\tvalue" lines. */
struct table_run {
  const char *scenario, *backend, *parameters;
  int64_t seed, replications;
  const struct metric_def *defs;
  const struct metric_set *metrics;
  const int *chosen;
  int chosen_count;
  const char *const *warnings;
  int warning_count;
};
void table_run_json(const struct table_run *run, FILE *to);
void table_run_text(const struct table_run *run, FILE *to);

#endif
