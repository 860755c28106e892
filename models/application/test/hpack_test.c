/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: models/application/hpack.o
/* Sizes of header blocks against the examples of RFC 7541, appendix C. */
#include "models/application/hpack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COUNT(fields) ((int)(sizeof(fields) / sizeof *(fields)))

/* C.4, three requests on one connection: 8286 84 41 8c + 12 octets of Huffman code = 17; 8286 84 be 58 86 + 6 = 12; 8287 85 bf 40 88 + 8, 89 + 9 = 24. */
static void test_requests(void **state) {
  (void)state;
  static const struct hpack_field first[] = {
      {":method", "GET", HPACK_INDEX}, {":scheme", "http", HPACK_INDEX}, {":path", "/", HPACK_INDEX}, {":authority", "www.example.com", HPACK_INDEX}};
  static const struct hpack_field second[] = {{":method", "GET", HPACK_INDEX}, {":scheme", "http", HPACK_INDEX}, {":path", "/", HPACK_INDEX},
      {":authority", "www.example.com", HPACK_INDEX}, {"cache-control", "no-cache", HPACK_INDEX}};
  static const struct hpack_field third[] = {{":method", "GET", HPACK_INDEX}, {":scheme", "https", HPACK_INDEX}, {":path", "/index.html", HPACK_INDEX},
      {":authority", "www.example.com", HPACK_INDEX}, {"custom-key", "custom-value", HPACK_INDEX}};
  struct hpack context;
  hpack_init(&context, HPACK_TABLE);
  assert_int_equal(hpack_encode(&context, first, COUNT(first)), 17);
  assert_int_equal(context.bytes, 57);
  assert_int_equal(hpack_encode(&context, second, COUNT(second)), 12);
  assert_int_equal(context.bytes, 110);
  assert_int_equal(hpack_encode(&context, third, COUNT(third)), 24);
  assert_int_equal(context.bytes, 164);
}

/* C.6, responses with a table of 256 octets: the second evicts `:status 302`, the third most of the rest. */
static void test_responses_with_eviction(void **state) {
  (void)state;
  static const struct hpack_field first[] = {{":status", "302", HPACK_INDEX}, {"cache-control", "private", HPACK_INDEX},
      {"date", "Mon, 21 Oct 2013 20:13:21 GMT", HPACK_INDEX}, {"location", "https://www.example.com", HPACK_INDEX}};
  static const struct hpack_field second[] = {{":status", "307", HPACK_INDEX}, {"cache-control", "private", HPACK_INDEX},
      {"date", "Mon, 21 Oct 2013 20:13:21 GMT", HPACK_INDEX}, {"location", "https://www.example.com", HPACK_INDEX}};
  static const struct hpack_field third[] = {{":status", "200", HPACK_INDEX}, {"cache-control", "private", HPACK_INDEX},
      {"date", "Mon, 21 Oct 2013 20:13:22 GMT", HPACK_INDEX}, {"location", "https://www.example.com", HPACK_INDEX}, {"content-encoding", "gzip", HPACK_INDEX},
      {"set-cookie", "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1", HPACK_INDEX}};
  struct hpack context;
  hpack_init(&context, 256);
  assert_int_equal(hpack_encode(&context, first, COUNT(first)), 54);
  assert_int_equal(context.bytes, 222);
  assert_int_equal(hpack_encode(&context, second, COUNT(second)), 8);
  assert_int_equal(context.bytes, 222);
  assert_int_equal(hpack_encode(&context, third, COUNT(third)), 79);
  assert_int_equal(context.bytes, 215);
  assert_int_equal(context.count, 3);
}

/* C.2.2: 04 0c and 12 octets without the Huffman code; with it "/sample/path" takes 9. A field that is not indexed is as long the second time. */
static void test_without_indexing(void **state) {
  (void)state;
  static const struct hpack_field path[] = {{":path", "/sample/path", HPACK_PLAIN}};
  struct hpack context;
  hpack_init(&context, HPACK_TABLE);
  assert_int_equal(hpack_encode(&context, path, 1), 11);
  assert_int_equal(hpack_encode(&context, path, 1), 11);
  assert_int_equal(context.count, 0);
}

/* Section 4.4: a field larger than the table empties it and does not enter. */
static void test_field_larger_than_the_table(void **state) {
  (void)state;
  static const struct hpack_field small[] = {{"a", "b", HPACK_INDEX}}, large[] = {{"name", "0123456789012345678901234567890123456789", HPACK_INDEX}};
  struct hpack context;
  hpack_init(&context, 64);
  hpack_encode(&context, small, 1);
  assert_int_equal(context.bytes, 34);
  hpack_encode(&context, large, 1);
  assert_int_equal(context.bytes, 0);
  assert_int_equal(context.count, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_requests),
      cmocka_unit_test(test_responses_with_eviction),
      cmocka_unit_test(test_without_indexing),
      cmocka_unit_test(test_field_larger_than_the_table),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
