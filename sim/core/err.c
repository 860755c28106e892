/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/core/err.h"
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int err_add(struct err *e, enum err_code code, const char *format, ...) {
  assert(code != ERR_NONE);
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  va_end(args);
  assert(length >= 0);
  char *text = realloc(e->text, e->length + (size_t)length + 2);
  if (!text) abort(); /* a message that is lost would be worse */
  vsnprintf(text + e->length, (size_t)length + 1, format, again);
  va_end(again);
  e->text = text;
  e->length += (size_t)length;
  e->text[e->length++] = '\n';
  e->text[e->length] = '\0';
  if (e->count++ == 0) e->code = code;
  return code;
}

int err_exit_status(const struct err *e) {
  switch (e->code) {
  case ERR_NONE:
    return 0;
  case ERR_INPUT:
    return 2;
  case ERR_SYSTEM:
    return 1;
  }
  return 1;
}

void err_free(struct err *e) {
  free(e->text);
  *e = (struct err){0};
}
