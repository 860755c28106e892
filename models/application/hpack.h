/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hpack: how long a header block is, and why the second is shorter than the first.
 *
 * Purpose:    the compression context of one direction of an HTTP/2 connection: static table, dynamic table with eviction, Huffman code;
 *             sizes to the byte, no octets.
 * Encoder:    a field that a table holds whole is its index; else a literal, its name by index where a table has it, strings by the
 *             Huffman code where that is shorter. A field marked HPACK_INDEX enters the dynamic table.
 * Units:      bytes.
 * Ownership:  the context is the caller's; names and values must outlive it.
 * Sources:    RFC 7541; its section C.4 and C.6 examples are the test.
 * Left out:   a change of the table's size within a connection, never-indexed literals (as long as those without indexing).
 */
#ifndef PQNETSIM_HPACK_H
#define PQNETSIM_HPACK_H

enum hpack_indexing { HPACK_INDEX, HPACK_PLAIN };

struct hpack_field {
  const char *name, *value;
  enum hpack_indexing indexing;
};

enum { HPACK_TABLE = 4096, HPACK_ENTRIES = HPACK_TABLE / 32 };

struct hpack {
  int table_bytes; /* HPACK_TABLE by default (SETTINGS_HEADER_TABLE_SIZE) */
  int count, bytes, newest;
  struct hpack_field entries[HPACK_ENTRIES];
};

void hpack_init(struct hpack *context, int table_bytes);

/* Length of the block that encodes the fields next. */
int hpack_encode(struct hpack *context, const struct hpack_field *fields, int count);

/* A string literal with its length. */
int hpack_string_bytes(const char *text);

#endif
