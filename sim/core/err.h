/* SPDX-License-Identifier: GPL-2.0-or-later */
/* err: what went wrong, as a sentence for the user.
 *
 * Purpose:   carries one or several problems from where they are found to main, which prints them once.
 * Order:     problems are kept in the order they were added; all of them are listed.
 * Ownership: the caller owns the struct; err_free() releases the text and accepts an unused struct.
 * Errors:    functions that return int return 0 or the code of the error they recorded.
 */
#ifndef PQNETSIM_ERR_H
#define PQNETSIM_ERR_H

#include <stddef.h>

enum err_code {
  ERR_NONE = 0,
  ERR_INPUT = 1,  /* what the user wrote or pointed at is wrong: exit 2 */
  ERR_SYSTEM = 2, /* the machine said no (disk, memory, permission, child): exit 1 */
};

struct err {
  enum err_code code; /* of the first problem */
  int count;          /* problems recorded */
  char *text;         /* one line per problem, each ending in '\n'; NULL when there is none */
  size_t length;
};

#define MUST_CHECK __attribute__((warn_unused_result))

/* Records one more problem; the first one decides the code. Returns code, so that `return err_add(...)` reads well. */
int err_add(struct err *e, enum err_code code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Exit status of the program for an error: 2 for input, 1 for the rest, 0 for none. */
int err_exit_status(const struct err *e);

void err_free(struct err *e);

#endif
