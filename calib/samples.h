/* SPDX-License-Identifier: GPL-3.0-or-later */
/* samples: raw timings, one per line, sorted into operations.
 *
 * Purpose:   reads a CSV file with the columns algorithm,operation,size_bytes,ns (any order of columns and lines; csv.h
 *            says what else is accepted) and puts the timings of one algorithm, operation and size together.
 * Units:     ns, bytes.
 * Order:     groups by their first line; the timings of a group ascend.
 * Ownership: samples_read/samples_free own everything; the names live as long as the samples.
 * Errors:    ERR_INPUT with file:line, column, found, allowed for every bad cell; *out is then NULL. Names and sizes
 *            follow the rules of a platform file (cost_line.h), and are checked where a group begins.
 */
#ifndef PQNETSIM_SAMPLES_H
#define PQNETSIM_SAMPLES_H

#include "models/crypto/cost.h"

struct csv;

struct samples_group {
  const char *algorithm, *operation; /* the algorithm in the spelling of platform files */
  const char *size_text;             /* as written; "" is 0 */
  int64_t size_bytes;
  int count;
  double *ns;
};

struct samples {
  struct csv *csv;
  int group_count;
  struct samples_group *groups;
};

int samples_read(const char *path, const struct cost_sources *sources, struct samples **out, struct err *e) MUST_CHECK;
void samples_free(struct samples *samples);

#endif
