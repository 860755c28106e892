/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_validate: what the files of the validate command share.
 *
 * Order:     cmd_validate.c reads the command line and prints; cmd_validate_run.c runs what the rows ask for; cmd_validate_page.c writes
 *            the page that the repository keeps, cmd_validate_answers.c its last section.
 * Ownership: each ..._new/..._read has its ..._free.
 * Errors:    ERR_INPUT with the row's file and line.
 */
#ifndef PQNETSIM_CMD_VALIDATE_H
#define PQNETSIM_CMD_VALIDATE_H

#include "calib/score.h"
#include "sim/cmd.h"

/* cmd_validate_run.c: runs on the native backend, each condition once however many rows ask for it. */
struct validate_runs;
struct validate_runs *validate_runs_new(void);
void validate_runs_free(struct validate_runs *runs);
/* Everything that can be wrong with a row's conditions, metric, statistic and unit is found here. path: the row's file. */
int validate_runs_add(struct validate_runs *runs, const char *path, const struct validate_row *row, struct err *e) MUST_CHECK;
/* Runs what was added. */
int validate_runs_execute(struct validate_runs *runs, struct err *e) MUST_CHECK;
/* The row's value, in its unit, from runs that are done; ERR_INPUT when nothing was sampled. */
int validate_runs_value(struct validate_runs *runs, const char *path, const struct validate_row *row, double *value, struct err *e) MUST_CHECK;

/* Rows of one role in one set, or of all sets. */
struct validate_part {
  const char *set, *role;
  struct score score;
};
struct validation {
  const struct cost_sources *sources;
  int set_count;
  struct validate_set **sets; /* in the order of their names */
};
/* Parts of all sets that have rows, fit and predict apart; with more than one set a part over all for each role. malloc'd. */
struct validate_part *validation_parts(const struct validation *validation, int *count);
/* "0.934" -> 93.4 %: digits for a reader; "" for NAN. */
const char *validation_percent(double share, bool with_sign, char buffer[32]);
/* "7 of 9"; "" of 0. */
const char *validation_of(int part, int whole, char buffer[32]);
/* "e2-ipsec: ipsec.kex=mlkem768;path.rtt=10ms, less ipsec.kex=x25519", malloc'd. */
char *validation_condition(const struct validate_row *row);

/* Why it is missed: how uncertain the published value itself is, its note, or that the reason is unknown; the note alone of a row that
 * is not missed. malloc'd. */
char *validation_reason(const struct validate_row *row);

/* cmd_validate_page.c. Families that no model answers yet (validation/page/unmodelled.csv), as a table on a terminal. */
int validation_print_unmodelled(FILE *to, struct err *e) MUST_CHECK;
/* ERR_INPUT when --set NAME names one of them. */
int validation_check_unmodelled(const char *name, struct err *e) MUST_CHECK;
/* Writes the page to FILE; a file that is no such page is left alone. */
int validation_write_page(const struct validation *validation, struct validate_runs *runs, const char *path, struct err *e) MUST_CHECK;

/* cmd_validate_answers.c: the section on contradictions among published values, whose numbers are simulated while it is written. */
int validation_put_answers(const struct validation *validation, struct validate_runs *runs, FILE *to, struct err *e) MUST_CHECK;

#endif
