/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: models/crypto/csv.o sim/core/err.o
#include "models/crypto/csv.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static char path[64];

static const struct csv_column columns[] = {{"name", true}, {"size", true}, {"note", false}};

static int set_up(void **state) {
  (void)state;
  snprintf(path, sizeof path, "/tmp/csv_test.%d.csv", (int)getpid());
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  return unlink(path);
}

static int read_bytes(const char *bytes, size_t size, struct csv **csv, struct err *e) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  fclose(file);
  return csv_read(path, columns, 3, csv, e);
}

static int read_text(const char *text, struct csv **csv, struct err *e) { return read_bytes(text, strlen(text), csv, e); }

static struct csv *good(const char *text) {
  struct csv *csv;
  struct err e = {0};
  if (read_text(text, &csv, &e)) fail_msg("%s", e.text);
  return csv;
}

static void test_columns_come_in_the_order_asked_for(void **state) {
  (void)state;
  struct csv *csv = good("size,name\n12,a\n 13 ,\tb \n");
  assert_int_equal(csv->row_count, 2);
  assert_string_equal(csv->rows[0].cells[0], "a");
  assert_string_equal(csv->rows[0].cells[1], "12");
  assert_string_equal(csv->rows[0].cells[2], "");
  assert_string_equal(csv->rows[1].cells[0], "b");
  assert_string_equal(csv->rows[1].cells[1], "13");
  csv_free(csv);
}

/* RFC 4180 section 2: quoted commas, doubled quotes, line breaks inside quotes. */
static void test_quotes(void **state) {
  (void)state;
  struct csv *csv = good("name,size,note\n\"a, \"\"b\"\"\",1,\"two\nlines\"\nc,\"\",\"\"\n");
  assert_int_equal(csv->row_count, 2);
  assert_string_equal(csv->rows[0].cells[0], "a, \"b\"");
  assert_string_equal(csv->rows[0].cells[2], "two\nlines");
  assert_int_equal(csv->rows[1].line, 4);
  assert_string_equal(csv->rows[1].cells[1], "");
  csv_free(csv);
}

static void test_marks_of_other_editors(void **state) {
  (void)state;
  struct csv *csv = good("\xef\xbb\xbf# title: x y \r\n\r\nname,size\r\n\r\na,1\r\n#b,\"2\"\r\nc,\xc3\xbc");
  assert_int_equal(csv->remark_count, 1);
  assert_string_equal(csv->remarks[0].text, "title: x y");
  assert_int_equal(csv->row_count, 3);
  assert_string_equal(csv->rows[1].cells[0], "#b");
  assert_string_equal(csv->rows[1].cells[1], "2");
  assert_int_equal(csv->rows[1].line, 6);
  assert_string_equal(csv->rows[2].cells[1], "\xc3\xbc");
  csv_free(csv);
}

struct bad {
  const char *text, *says;
  int problems;
};
static const struct bad bads[] = {
    {"", ": holds no table: the line that names the columns is missing", 1}, {"# title: x\n", ": holds no table", 1},
    {"name,size,colour\na,1,red\n", ":1: column 'colour' is not known; columns are name,size,note", 1},
    {"# x\nname,note\na,1\n", ":2: column size is missing; columns are name,size,note", 1}, {"name,size,name\na,1,b\n", ":1: column name is there twice", 1},
    {"name,size\na,1\nb\nc,1,2\n", ":3: found 1 cells, the header has 2 columns", 2},
    {"name,size\na,1\n\"b,2\nc,3\n", ":3: a quoted cell begins here and never ends", 2},
    {"name,size\n\"a\"b,1\n", ":2: found text after the closing quote of a cell", 1},
    {"name,size\na,1\nb,\xff\n", ":3: found byte 0xff, which is not UTF-8 text", 1}, {"name,size\na,\xc0\x80\n", ":2: found byte 0xc0", 1}, /* overlong */
    {"name,size\na,\xed\xa0\x80\n", ":2: found byte 0xed", 1},                                                                              /* surrogate */
    {"name,size\na,\xf4\x90\x80\x80\n", ":2: found byte 0xf4", 1}, /* beyond U+10FFFF */
    {"name,size\na,\xe2\x82", ":2: found byte 0xe2", 1},           /* cut off */
};

static void test_malformed_files(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
    struct csv *csv;
    struct err e = {0};
    assert_int_equal(read_text(bads[i].text, &csv, &e), ERR_INPUT);
    if (strncmp(e.text, path, strlen(path)) != 0 || !strstr(e.text, bads[i].says) || e.count != bads[i].problems)
      fail_msg("case %zu: %d problems: %s", i, e.count, e.text);
    csv_free(csv);
    err_free(&e);
  }
}

static void test_nul_byte(void **state) {
  (void)state;
  struct csv *csv;
  struct err e = {0};
  assert_int_equal(read_bytes("name,size\na\0b,1\n", 16, &csv, &e), ERR_INPUT);
  assert_non_null(strstr(e.text, ":2: found byte 0x00"));
  assert_null(csv);
  err_free(&e);
}

static void test_good_rows_beside_a_bad_one(void **state) {
  (void)state;
  struct csv *csv;
  struct err e = {0};
  assert_int_equal(read_text("name,size\na,1\nb\nc,2\n", &csv, &e), ERR_INPUT);
  assert_non_null(csv);
  assert_int_equal(csv->row_count, 2);
  assert_string_equal(csv->rows[1].cells[0], "c");
  csv_free(csv);
  err_free(&e);
}

static void test_unreadable(void **state) {
  (void)state;
  struct csv *csv;
  struct err e = {0};
  assert_int_equal(csv_read("/nonexistent/x.csv", columns, 3, &csv, &e), ERR_INPUT);
  assert_string_equal(e.text, "/nonexistent/x.csv: cannot be opened: No such file or directory\n");
  err_free(&e);
  assert_int_equal(csv_read("/tmp", columns, 3, &csv, &e), ERR_INPUT);
  assert_string_equal(e.text, "/tmp: cannot be read: Is a directory\n");
  err_free(&e);
}

/* More rows and longer text than the first allocations hold. */
static void test_large_file(void **state) {
  (void)state;
  enum { ROWS = 20000 };
  char *text = malloc(ROWS * 32), *p = text + sprintf(text, "name,size\n");
  for (int i = 0; i < ROWS; i++) p += sprintf(p, "row%d,%d\n", i, i);
  struct csv *csv = good(text);
  assert_int_equal(csv->row_count, ROWS);
  assert_string_equal(csv->rows[0].cells[0], "row0");
  assert_string_equal(csv->rows[ROWS - 1].cells[1], "19999");
  csv_free(csv);
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_columns_come_in_the_order_asked_for),
      cmocka_unit_test(test_quotes),
      cmocka_unit_test(test_marks_of_other_editors),
      cmocka_unit_test(test_malformed_files),
      cmocka_unit_test(test_nul_byte),
      cmocka_unit_test(test_good_rows_beside_a_bad_one),
      cmocka_unit_test(test_unreadable),
      cmocka_unit_test(test_large_file),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
