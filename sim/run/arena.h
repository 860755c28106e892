/* SPDX-License-Identifier: GPL-3.0-or-later */
/* arena: memory that is given back all at once.
 *
 * Purpose:   a scenario is hundreds of small texts and arrays with one lifetime; they hang on one arena.
 * Ownership: arena_free releases everything allocated from the arena; nothing is released singly.
 * Errors:    out of memory aborts.
 */
#ifndef PQNETSIM_ARENA_H
#define PQNETSIM_ARENA_H

#include <stddef.h>

struct arena;

struct arena *arena_new(void);
void arena_free(struct arena *arena);

/* Zeroed, aligned for any type. */
void *arena_alloc(struct arena *arena, size_t size);
/* Zeroed array; a product that overflows aborts like any size that cannot be had. */
void *arena_array(struct arena *arena, size_t count, size_t size);
/* A copy of `length` bytes with a NUL behind them. */
char *arena_text(struct arena *arena, const char *bytes, size_t length);
char *arena_format(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
