/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scale: a platform estimated from a few operations known of it (anchors) and another platform known in whole (base).
 *
 * Purpose:    each operation of the base times anchor / base, of the anchors that are its nearest kin. Who is kin to whom is
 *             one table at the top of scale.c. Anchors keep what they state, their kind and their source; what is estimated
 *             from them has kind `estimated`, the source of its first anchor, and a note with factor and anchors.
 * Units:      ns, bytes; probabilities in parts per billion; factors 1.
 * Invariants: a distribution keeps its shape: every quantile of the base times one factor, in integers. Sums, products and
 *             quotients of doubles alone go into factors: the same on every machine.
 * Leaves out: energy, which does not scale with time; what is no processor's time (software path, qkd, sdn-suite).
 * Ownership:  scale_rows_free releases all a list holds; texts are copied.
 * Errors:     ERR_INPUT for no anchor that serves, an anchor that does not fit the base's operation (sizes), a factor beyond
 *             SCALE_FACTOR_MAX, an estimate beyond a day.
 * Sources:    calib/data/README.md, How rows were estimated.
 */
#ifndef PQNETSIM_SCALE_H
#define PQNETSIM_SCALE_H

#include "models/crypto/cost.h"

/* A platform a million times as fast or slow is a slip of units. */
#define SCALE_FACTOR_MAX 1000000

struct scale_point {
  int64_t p_ppb, ns;
};

struct scale_row {
  char *algorithm, *operation, *source, *family, *note;
  int64_t size_bytes, median_ns, energy_nj; /* energy -1: not stated */
  enum cost_kind kind;
  int count;
  struct scale_point *points; /* one with p 0: a constant */
  /* of a result */
  int64_t base_ns; /* the base's median, -1 where it states none */
  double factor;   /* estimated: times base_ns */
  bool stated;     /* an anchor */
  bool weak;       /* no near kin, or the base's own value is an estimate */
  char *from;      /* estimated: its anchors in words */
};

struct scale_rows {
  int count;
  struct scale_row *rows;
};

/* scale_rows.c. Adds the rows a platform states itself, not those of its base; only_known: neither estimated nor assumed. */
enum scale_rows_part { SCALE_ALL_ROWS, SCALE_OWN_KNOWN_ROWS };
void scale_rows_add(struct scale_rows *rows, const struct cost_platform *platform, enum scale_rows_part part);
/* Adds a constant. */
struct scale_row *scale_rows_add_constant(struct scale_rows *rows, const char *algorithm, const char *operation, int64_t size_bytes, int64_t ns);
/* Adds a copy. */
struct scale_row *scale_rows_add_copy(struct scale_rows *rows, const struct scale_row *row);
void scale_text(char **text, const char *value); /* replaces a text of a row */
/* The row, NULL when there is none. size_bytes -1: the first of any size. */
const struct scale_row *scale_rows_find(const struct scale_rows *rows, const char *algorithm, const char *operation, int64_t size_bytes);
void scale_rows_free(struct scale_rows *rows);

/* The base scaled by the anchors, in the base's order; anchors the base does not know come last and scale nothing.
 * base: any name in notes. out is empty on error. */
int scale_platform(const struct cost_platform *base, const struct scale_rows *anchors, struct scale_rows *out, struct err *e) MUST_CHECK;

/* Leave one out: hides each operation of the anchors in turn and estimates it from the others. Rows of out: median_ns is
 * the estimate, base_ns what the anchor states. Wants anchors of two operations. */
int scale_check(const struct cost_platform *base, const struct scale_rows *anchors, struct scale_rows *out, struct err *e) MUST_CHECK;

/* No processor's time: not scaled, left out of the result. */
bool scale_leaves_out(const char *algorithm, const char *operation);

#endif
