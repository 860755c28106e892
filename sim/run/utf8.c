/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/run/utf8.h"
#include <stdint.h>
#include <string.h>

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

/* Length of the well-formed sequence at bytes and its code point; 0 when there is none. RFC 3629 section 4. */
static int sequence(const unsigned char *bytes, size_t left, uint32_t *code) {
  static const struct {
    unsigned char mask, lead;
    int length;
    uint32_t least; /* smaller ones are overlong */
  } forms[] = {{0x80, 0x00, 1, 0}, {0xe0, 0xc0, 2, 0x80}, {0xf0, 0xe0, 3, 0x800}, {0xf8, 0xf0, 4, 0x10000}};
  for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
    if ((bytes[0] & forms[f].mask) != forms[f].lead) continue;
    if ((size_t)forms[f].length > left) return 0;
    *code = bytes[0] & (unsigned char)~forms[f].mask;
    for (int i = 1; i < forms[f].length; i++) {
      if ((bytes[i] & 0xc0) != 0x80) return 0;
      *code = *code << 6 | (bytes[i] & 0x3f);
    }
    return *code >= forms[f].least && *code <= 0x10ffff && (*code < 0xd800 || *code > 0xdfff) ? forms[f].length : 0;
  }
  return 0;
}

/* What is wrong with a well-formed character, NULL when nothing is. */
static const char *refused(uint32_t code) {
  static const struct {
    uint32_t first, last;
    const char *what;
  } ranges[] = {
      {0x00, 0x00, "a NUL byte"},
      {0x01, 0x08, "a control character"},
      {0x0b, 0x0c, "a control character"},
      {0x0e, 0x1f, "a control character"},
      {0x7f, 0x9f, "a control character"},
      {0x2028, 0x2029, "a Unicode line separator"}, /* YAML 1.1 breaks lines there, YAML 1.2 does not */
      {0xfeff, 0xfeff, "a second byte-order mark"},
      {0xfffe, 0xffff, "a code that is no character"},
  };
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
    if (code >= ranges[i].first && code <= ranges[i].last) return ranges[i].what;
  return NULL;
}

static int looks_utf16(const unsigned char *bytes, size_t size) {
  if (size < 2) return 0;
  if ((bytes[0] == 0xff && bytes[1] == 0xfe) || (bytes[0] == 0xfe && bytes[1] == 0xff)) return 1;
  return size >= 4 && ((!bytes[0] && bytes[1] && !bytes[2]) || (bytes[0] && !bytes[1] && bytes[2] && !bytes[3]));
}

int utf8_check(const char *text, size_t size, struct place origin, struct problem_list *problems) {
  const unsigned char *bytes = (const unsigned char *)text;
  int mark = size >= 3 && !memcmp(text, BYTE_ORDER_MARK, 3) ? 3 : 0;
  struct place at = origin;
  at.line = at.column = 1;
  if (looks_utf16(bytes, size)) {
    problem_add(problems, at, NULL, "the text is UTF-16 (bytes 0x%02x 0x%02x at offset 0); save it as UTF-8", bytes[0], bytes[1]);
    return -1;
  }
  for (size_t i = (size_t)mark; i < size;) {
    uint32_t code;
    int length = sequence(bytes + i, size - i, &code);
    if (!length) {
      problem_add(problems, at, NULL, "byte 0x%02x at offset %zu is not UTF-8; save the text as UTF-8 (it may be Latin-1 or Windows-1252 now)", bytes[i], i);
      return -1;
    }
    const char *what = refused(code);
    if (what) {
      problem_add(problems, at, NULL, "%s (U+%04X) at offset %zu; remove it", what, code, i);
      return -1;
    }
    at.column++;
    if (code == '\n') {
      at.line++;
      at.column = 1;
    }
    i += (size_t)length;
  }
  return mark;
}
