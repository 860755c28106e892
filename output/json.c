/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/json.h"

#include "sim/core/units.h"

#include <math.h>

/* Bytes of the well-formed UTF-8 sequence at `text`, 0 when there is none (Unicode 15, table 3-7). */
static int sequence_length(const unsigned char *text) {
  static const struct {
    unsigned char first, last, low, high;
    int length;
  } table[] = {
      {0x01, 0x7f, 0x00, 0xff, 1},
      {0xc2, 0xdf, 0x80, 0xbf, 2},
      {0xe0, 0xe0, 0xa0, 0xbf, 3},
      {0xe1, 0xec, 0x80, 0xbf, 3},
      {0xed, 0xed, 0x80, 0x9f, 3},
      {0xee, 0xef, 0x80, 0xbf, 3},
      {0xf0, 0xf0, 0x90, 0xbf, 4},
      {0xf1, 0xf3, 0x80, 0xbf, 4},
      {0xf4, 0xf4, 0x80, 0x8f, 4},
  };
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    if (text[0] < table[i].first || text[0] > table[i].last) continue;
    if (table[i].length > 1 && (text[1] < table[i].low || text[1] > table[i].high)) return 0;
    for (int k = 2; k < table[i].length; k++)
      if ((text[k] & 0xc0) != 0x80) return 0;
    return table[i].length;
  }
  return 0;
}

static void put_ascii(FILE *to, unsigned char c) {
  static const char from[] = "\"\\\n\r\t\b\f", escapes[] = "\"\\nrtbf";
  for (int i = 0; from[i]; i++) {
    if (c != (unsigned char)from[i]) continue;
    fprintf(to, "\\%c", escapes[i]);
    return;
  }
  if (c < 0x20)
    fprintf(to, "\\u%04x", c);
  else
    fputc(c, to);
}

void json_string(FILE *to, const char *text) {
  fputc('"', to);
  for (const unsigned char *at = (const unsigned char *)text; *at;) {
    int length = sequence_length(at);
    if (length == 1)
      put_ascii(to, *at);
    else if (length > 1)
      fwrite(at, 1, (size_t)length, to);
    else
      fputs("\\ufffd", to);
    at += length ? length : 1;
  }
  fputc('"', to);
}

void json_number(FILE *to, double value) {
  char buffer[32];
  fputs(isfinite(value) ? real_format(value, buffer) : "null", to);
}
