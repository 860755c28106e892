/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/application/hpack.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

/* RFC 7541 appendix B: bits of the codes of ' ' to '~'. Other octets, which no field here has, count as the longest. */
enum { FIRST_CODE = ' ', CODES = '~' - ' ' + 1, LONGEST_CODE = 30 };
static const unsigned char code_bits[CODES] = {
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, /* ' ' to '?' */
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,       /* '@' to '_' */
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13,          /* '`' to '~' */
};

/* Appendix A, in the order of its indices from 1. */
static const struct {
  const char *name, *value;
} fixed[] = {
    {":authority", ""},
    {":method", "GET"},
    {":method", "POST"},
    {":path", "/"},
    {":path", "/index.html"},
    {":scheme", "http"},
    {":scheme", "https"},
    {":status", "200"},
    {":status", "204"},
    {":status", "206"},
    {":status", "304"},
    {":status", "400"},
    {":status", "404"},
    {":status", "500"},
    {"accept-charset", ""},
    {"accept-encoding", "gzip, deflate"},
    {"accept-language", ""},
    {"accept-ranges", ""},
    {"accept", ""},
    {"access-control-allow-origin", ""},
    {"age", ""},
    {"allow", ""},
    {"authorization", ""},
    {"cache-control", ""},
    {"content-disposition", ""},
    {"content-encoding", ""},
    {"content-language", ""},
    {"content-length", ""},
    {"content-location", ""},
    {"content-range", ""},
    {"content-type", ""},
    {"cookie", ""},
    {"date", ""},
    {"etag", ""},
    {"expect", ""},
    {"expires", ""},
    {"from", ""},
    {"host", ""},
    {"if-match", ""},
    {"if-modified-since", ""},
    {"if-none-match", ""},
    {"if-range", ""},
    {"if-unmodified-since", ""},
    {"last-modified", ""},
    {"link", ""},
    {"location", ""},
    {"max-forwards", ""},
    {"proxy-authenticate", ""},
    {"proxy-authorization", ""},
    {"range", ""},
    {"referer", ""},
    {"refresh", ""},
    {"retry-after", ""},
    {"server", ""},
    {"set-cookie", ""},
    {"strict-transport-security", ""},
    {"transfer-encoding", ""},
    {"user-agent", ""},
    {"vary", ""},
    {"via", ""},
    {"www-authenticate", ""},
};
enum { FIXED = sizeof fixed / sizeof *fixed };
_Static_assert(FIXED == 61, "the static table has 61 entries");

/* Section 4.1. */
enum { ENTRY_OVERHEAD = 32 };

/* Section 5.1: an integer with a prefix of `bits`. */
static int integer_bytes(int value, int bits) {
  int most = (1 << bits) - 1, bytes = 1;
  if (value < most) return bytes;
  for (value -= most, bytes++; value >= 128; value /= 128) bytes++;
  return bytes;
}

int hpack_string_bytes(const char *text) {
  int length = (int)strlen(text), bits = 0;
  for (const char *c = text; *c; c++) bits += *c >= FIRST_CODE && *c < FIRST_CODE + CODES ? code_bits[*c - FIRST_CODE] : LONGEST_CODE;
  int coded = (bits + 7) / 8, bytes = coded < length ? coded : length;
  return integer_bytes(bytes, 7) + bytes;
}

static int entry_bytes(const struct hpack_field *field) { return (int)(strlen(field->name) + strlen(field->value)) + ENTRY_OVERHEAD; }

/* By age, 0 the newest. */
static const struct hpack_field *entry(const struct hpack *context, int age) {
  return &context->entries[(context->newest - age + HPACK_ENTRIES) % HPACK_ENTRIES];
}

/* The index of the field, or of its name; 0: no table has it. */
static int find(const struct hpack *context, const struct hpack_field *field, bool *whole) {
  int by_name = 0;
  *whole = true;
  for (int i = 0; i < FIXED; i++) {
    if (strcmp(fixed[i].name, field->name) != 0) continue;
    if (by_name == 0) by_name = i + 1;
    if (*fixed[i].value && strcmp(fixed[i].value, field->value) == 0) return i + 1;
  }
  for (int age = 0; age < context->count; age++) {
    const struct hpack_field *known = entry(context, age);
    if (strcmp(known->name, field->name) != 0) continue;
    if (by_name == 0) by_name = FIXED + 1 + age;
    if (strcmp(known->value, field->value) == 0) return FIXED + 1 + age;
  }
  *whole = false;
  return by_name;
}

static void evict_to(struct hpack *context, int bytes) {
  while (context->bytes > bytes) {
    context->bytes -= entry_bytes(entry(context, context->count - 1));
    context->count--;
  }
}

/* Section 4.4: what is larger than the table empties it. */
static void remember(struct hpack *context, const struct hpack_field *field) {
  int bytes = entry_bytes(field);
  evict_to(context, bytes > context->table_bytes ? 0 : context->table_bytes - bytes);
  if (bytes > context->table_bytes) return;
  context->newest = (context->newest + 1) % HPACK_ENTRIES;
  context->entries[context->newest] = *field;
  context->bytes += bytes;
  context->count++;
}

static int encode(struct hpack *context, const struct hpack_field *field) {
  enum { WHOLE_BITS = 7, INDEXED_BITS = 6, PLAIN_BITS = 4 };
  bool whole;
  int index = find(context, field, &whole);
  if (whole) return integer_bytes(index, WHOLE_BITS);
  bool enters = field->indexing == HPACK_INDEX;
  int bytes = integer_bytes(index, enters ? INDEXED_BITS : PLAIN_BITS) + (index == 0 ? hpack_string_bytes(field->name) : 0) + hpack_string_bytes(field->value);
  if (enters) remember(context, field);
  return bytes;
}

void hpack_init(struct hpack *context, int table_bytes) {
  assert(table_bytes >= 0 && table_bytes <= HPACK_TABLE);
  *context = (struct hpack){.table_bytes = table_bytes};
}

int hpack_encode(struct hpack *context, const struct hpack_field *fields, int count) {
  int bytes = 0;
  for (int i = 0; i < count; i++) bytes += encode(context, &fields[i]);
  return bytes;
}
