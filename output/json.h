/* SPDX-License-Identifier: GPL-3.0-or-later */
/* json: values as JSON text (RFC 8259). Reals through real_format; what is no number is null. */
#ifndef PQNETSIM_JSON_H
#define PQNETSIM_JSON_H

#include <stdio.h>

/* Quoted; control characters escaped; bytes that are not UTF-8 become U+FFFD. */
void json_string(FILE *to, const char *text);
void json_number(FILE *to, double value);

#endif
