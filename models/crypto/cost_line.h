/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cost_line: one line of a platform file.
 *
 * Purpose:    checks the cells of a line and holds the distribution they state; cost.h puts lines together to operations.
 * Units:      ns, bytes, nJ; probabilities in parts per billion.
 * Invariants: points rise in p from 0 to SHARE_ONE and do not fall in ns; a constant is one point.
 * Ownership:  the strings belong to the csv, or are static; cost_line_read/cost_line_free own the rest.
 * Errors:     every wrong cell is listed with file:line, column, found, allowed; the line returned is then not for use.
 */
#ifndef PQNETSIM_COST_LINE_H
#define PQNETSIM_COST_LINE_H

#include "models/crypto/cost.h"
#include "models/crypto/csv.h"
#include "models/crypto/device.h"

struct cost_point {
  int64_t p_ppb, ns;
  uint64_t per_width; /* 2^64 / distance to the next p, so that a draw divides nothing */
};

struct cost_line {
  const char *algorithm, *operation, *source, *family, *note;
  const struct csv *csv; /* the file it stands in */
  const char *platform;
  int line, count;
  int64_t size_bytes, energy_nj, peak_stack_bytes; /* the last two -1: not stated */
  int64_t power_fw;                                /* where energy is this times the time; 0: it is what is stated */
  enum cost_kind kind;
  struct cost_point *points;
  int64_t *stated_ns; /* of each point, while they are scaled; NULL before they ever were */
};

enum { COST_LINE_COLUMNS = 11 };
extern const struct csv_column cost_line_columns[COST_LINE_COLUMNS];

/* Operations of algorithms, and the subjects beside algorithms; NULL-ended. */
extern const char *const cost_operations[], *const cost_subjects[];
#define COST_SUBJECTS "software, qkd, sdn-suite"

/* Cells behind the note may be NULL: left out. */
struct cost_line *cost_line_read(const struct csv *csv, const struct csv_row *row, const char *platform, const struct cost_sources *sources, struct err *e);
/* device: what turns cycles into time and energy. */
struct cost_line *cost_line_read_on(
    const struct device *device, const struct csv *csv, const struct csv_row *row, const char *platform, const struct cost_sources *sources, struct err *e);
bool cost_line_has_operation(const struct csv_row *row, const char *operation);
void cost_line_free(struct cost_line *line);

/* The stated durations times num / den, num and den from 1 to 1000. */
void cost_line_scale(struct cost_line *line, int64_t num, int64_t den);

/* The duration at probability uniform / 2^64, resolved to 2^-32 of the rise between two points. */
int64_t cost_line_quantile(const struct cost_line *line, uint64_t uniform);

#endif
