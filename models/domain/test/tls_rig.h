/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tls_rig: runs points of the TLS domain for tests, on any backend, and reads the measured rows.
 *
 * Ownership: tls_rig_open/tls_rig_close; tls_rig_run returns a set that the caller frees.
 * Errors:    whatever is refused fails the test.
 */
#ifndef PQNETSIM_TLS_RIG_H
#define PQNETSIM_TLS_RIG_H

#include "models/domain.h"

struct tls_rig {
  struct sim *sim;
  struct net *net;
};

enum { TLS_PAIRS = 32, TLS_TEXT = 160 };

/* Keys and values, as --set takes them. */
struct tls_pairs {
  int count;
  char key[TLS_PAIRS][TLS_TEXT], value[TLS_PAIRS][TLS_TEXT];
};

void tls_rig_open(struct tls_rig *rig, const struct net_ops *ops);
void tls_rig_close(struct tls_rig *rig);

/* printf for the value. */
void tls_pairs_add(struct tls_pairs *pairs, const char *key, const char *format, ...) __attribute__((format(printf, 3, 4)));
struct metric_set *tls_rig_run(struct tls_rig *rig, const struct tls_pairs *pairs, int replications);
struct metric_summary tls_rig_summary(const struct metric_set *set, const char *metric);
/* p50 of the metric. */
int64_t tls_rig_median(const struct metric_set *set, const char *metric);
/* What tls.* makes of the pairs. */
struct tls13_config;
void tls_rig_configure(const struct tls_pairs *pairs, struct tls13_config *out);

/* A row of a measured table. */
enum { TRUTH_COLUMNS = 60 };
struct tls_row {
  int line, columns;
  const char *names[TRUTH_COLUMNS], *cells[TRUTH_COLUMNS];
};
const char *tls_row_text(const struct tls_row *row, const char *column);
/* -1: empty. */
double tls_row_number(const struct tls_row *row, const char *column);
/* Calls fn for each row of a file of calib/data/measured; returns how many there are. */
int tls_rows_each(const char *file, void (*fn)(void *arg, const struct tls_row *row), void *arg);
const char *tls_row_cert(const struct tls_row *row);
/* The configuration it was measured in, of tls_truth.csv. */
void tls_row_pairs(const struct tls_row *row, struct tls_pairs *pairs);

#endif
