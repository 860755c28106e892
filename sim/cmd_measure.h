/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_measure: what calibrate measure and its --student share.
 *
 * Purpose:   a list of operations measured on this machine, with the clock, the core, what is missing and what failed.
 * Ownership: session_run/session_free.
 * Errors:    ERR_INPUT for --core; ERR_SYSTEM for an operation whose result is wrong.
 */
#ifndef PQNETSIM_CMD_MEASURE_H
#define PQNETSIM_CMD_MEASURE_H

#include "calib/measure.h"
#include "models/crypto/cost.h"
#include "sim/cmd.h"

struct session {
  struct clock clock;
  int core; /* -1: not bound to one */
  int count;
  struct measure *measures;
  /* per operation, of those measured */
  double **sorted;
  unsigned *faults;
  struct measure_row *rows;
};

/* operations: `count` pointers. samples 0: each operation's own number. */
int session_run(struct session *session, const struct operation *const *operations, int count, const struct cmd_line *line, struct err *e) MUST_CHECK;
void session_free(struct session *session);
bool session_has(const struct session *session, int index);
/* Names on stderr each operation that could not be measured, and why; platform (may be NULL) is what would answer instead. */
void session_tell_missing(const struct session *session, const struct cost_platform *base);
/* Warns on stderr of bad measurements; the number of them. end: what becomes of each. */
int session_tell_faults(const struct session *session, const char *end);

/* cmd_calibrate_student.c */
void student_run(const struct cmd_line *line, struct err *e);

#endif
