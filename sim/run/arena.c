/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/run/arena.h"
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One malloc per piece: the loader is not a hot path, and the sanitizers see every overrun. */
struct piece {
  struct piece *next;
  _Alignas(max_align_t) unsigned char bytes[];
};

struct arena {
  struct piece *pieces;
};

struct arena *arena_new(void) {
  struct arena *arena = calloc(1, sizeof *arena);
  if (!arena) abort();
  return arena;
}

void arena_free(struct arena *arena) {
  if (!arena) return;
  for (struct piece *piece = arena->pieces, *next; piece; piece = next) {
    next = piece->next;
    free(piece);
  }
  free(arena);
}

void *arena_alloc(struct arena *arena, size_t size) {
  struct piece *piece = size > SIZE_MAX - sizeof *piece ? NULL : calloc(1, sizeof *piece + size);
  if (!piece) abort();
  piece->next = arena->pieces;
  arena->pieces = piece;
  return piece->bytes;
}

void *arena_array(struct arena *arena, size_t count, size_t size) {
  size_t total;
  if (__builtin_mul_overflow(count, size, &total)) abort();
  return arena_alloc(arena, total);
}

char *arena_text(struct arena *arena, const char *bytes, size_t length) {
  char *text = arena_alloc(arena, length + 1);
  memcpy(text, bytes, length);
  return text;
}

char *arena_format(struct arena *arena, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  va_end(args);
  if (length < 0) abort();
  char *text = arena_alloc(arena, (size_t)length + 1);
  vsnprintf(text, (size_t)length + 1, format, again);
  va_end(again);
  return text;
}
