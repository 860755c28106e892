/* SPDX-License-Identifier: GPL-3.0-or-later */
/* validate: published and measured values, each with the conditions under which a scenario answers it.
 *
 * Purpose:   reads a set: a CSV file (csv.h says what is accepted) with a row for each value.
 * Format:    lines `# title: text` and `# note: text` first (a title, as many notes as needed), then the columns, in any order:
 *              id         unique within the set; the line's number when left out
 *              quantity   what it is, in words; the metric when left out
 *              scenario   a shipped scenario's name without .yaml, or ./file.yaml beside this file
 *              settings   KEY=VALUE;KEY=VALUE as for --set
 *              minus      settings of a second run whose value is subtracted; empty: none
 *              metric     of the scenario
 *              stat       p50 when left out
 *              published  the value; may be left out where nothing is scored
 *              unit       that of the metric ("ms", "B", "1"), or "%" for a share
 *              given      the part of the value that the conditions fix (delays of the path); 0 when left out
 *              tolerance  how far a right answer may lie from the value; 0 when left out
 *              role       fit: used to set a parameter; predict (when left out): not used
 *              source     an id of sources.csv; own when left out
 *              note       conditions, and why a value is missed where that is known
 * Units:     values are in the row's unit.
 * Invariants: simulated is NAN until the caller has run the row.
 * Ownership: validate_read/validate_free own every string.
 * Errors:    ERR_INPUT with file:line, column, found, allowed for every bad cell; *out is then NULL.
 */
#ifndef PQNETSIM_VALIDATE_H
#define PQNETSIM_VALIDATE_H

#include "models/crypto/cost.h"

struct csv;

enum validate_role { VALIDATE_FIT, VALIDATE_PREDICT };
const char *validate_role_name(enum validate_role role);

struct validate_setting {
  const char *key, *value;
};

/* In the order of their keys, so that equal conditions are equal lists. */
struct validate_settings {
  int count;
  struct validate_setting *items;
};

struct validate_row {
  int line;
  const char *id, *quantity, *scenario, *metric, *stat, *unit, *source, *note;
  const char *settings_text, *minus_text; /* as written */
  struct validate_settings settings, minus;
  bool has_minus;
  double published, given, tolerance;
  enum validate_role role;
  double simulated;
};

struct validate_set {
  const char *path, *name, *title; /* name: of the file, without folder and .csv */
  int note_count, count;
  const char **notes;
  struct validate_row *rows;
  struct csv *csv;
  char *texts; /* what rows point to beside the table */
};

/* scored: each row must have a published value; else one without it has NAN there. */
int validate_read(const char *path, bool scored, const struct cost_sources *sources, struct validate_set **out, struct err *e) MUST_CHECK;
void validate_free(struct validate_set *set);

#endif
