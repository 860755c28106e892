/* SPDX-License-Identifier: GPL-2.0-or-later */
/* param_value: a parameter's value, read from text as a user writes it.
 *
 * Purpose:   one reader for each kind of parameter (param.h), which checks the range and makes the canonical text.
 * Ownership: values are counted: param_value_read and param_value_plain make one, param_value_share takes another share,
 *            param_value_drop gives one back. A value never changes once it is made.
 * Errors:    ERR_INPUT; the sentence begins with the key.
 */
#ifndef PQNETSIM_PARAM_VALUE_H
#define PQNETSIM_PARAM_VALUE_H

#include "sim/core/param.h"
#include "sim/core/units.h"

struct param_value {
  int references;
  int64_t number;
  struct param_loss loss;
  int list_count;
  int64_t *list;
  char *text; /* canonical */
};

enum { PARAM_NAMES_TEXT = 1024 }; /* longest canonical text of PARAM_NAMES, its end counted */

/* NULL and an error when the text is refused. */
struct param_value *param_value_read(const struct param *row, const char *text, struct err *e);
/* A number that needs no reading, or (number 0) a text. */
struct param_value *param_value_plain(int64_t number, const char *text);
/* NULL is accepted by both. */
struct param_value *param_value_share(struct param_value *value);
void param_value_drop(struct param_value *value);

/* Of the kinds that have one. */
enum unit param_unit(enum param_kind kind);

#endif
