/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What yaml.c and utf8.c take and what they refuse. Places are counted by hand in the literals. */
// objects: sim/run/yaml.o sim/run/utf8.o sim/run/names.o sim/run/problem.o sim/run/arena.o sim/core/err.o
// libs: -lyaml
#include "sim/run/yaml.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct reading {
  struct arena *arena;
  const struct yaml_node *root;
  struct err e;
};

static void read_bytes(struct reading *r, const char *text, size_t size) {
  *r = (struct reading){.arena = arena_new()};
  struct problem_list *problems = problem_list_new("f.yaml");
  r->root = yaml_read(r->arena, text, size, (struct place){0}, problems);
  int code = problem_report(problems, &r->e);
  assert_int_equal(code != 0, r->e.count > 0);
  problem_list_free(problems);
}

static void read_text(struct reading *r, const char *text) { read_bytes(r, text, strlen(text)); }

static void done(struct reading *r) {
  err_free(&r->e);
  arena_free(r->arena);
}

static void expect(const char *text, size_t size, const char *message) {
  struct reading r;
  read_bytes(&r, text, size);
  assert_string_equal(r.e.text ? r.e.text : "", message);
  done(&r);
}

#define EXPECT(text, message) expect(text, sizeof(text) - 1, message)

static void tree_keeps_text_place_and_quotes(void **state) {
  (void)state;
  struct reading r;
  read_text(&r, "a: {b: 1e6, 'c': \"x\"}\nlist:\n  - 010\n  - [~, '']\nempty:\n");
  assert_int_equal(r.e.count, 0);
  const struct yaml_node *a = yaml_find(r.root, "a"), *list = yaml_find(r.root, "list"), *empty = yaml_find(r.root, "empty");
  assert_int_equal(r.root->count, 3);
  const struct yaml_node *b = yaml_find(a, "b"), *c = yaml_find(a, "c");
  assert_string_equal(b->text, "1e6");
  assert_false(b->quoted);
  assert_true(b->key_at.line == 1 && b->key_at.column == 5 && b->at.column == 8);
  assert_true(c->quoted && !strcmp(c->text, "x"));
  assert_int_equal(list->shape, YAML_LIST);
  assert_string_equal(list->child->text, "010");
  assert_true(list->child->at.line == 3 && list->child->at.column == 5);
  const struct yaml_node *inner = list->child->next;
  assert_true(yaml_is_null(inner->child));
  assert_false(yaml_is_null(inner->child->next)); /* '' is a text */
  assert_true(yaml_is_null(empty));
  assert_true(empty->at.line == 5 && empty->at.column == 1);
  assert_null(yaml_find(r.root, "b"));
  done(&r);
}

static void byte_order_mark_is_passed_over(void **state) {
  (void)state;
  struct reading r;
  read_text(&r, "\xef\xbb\xbfscenario: e2\n");
  assert_int_equal(r.e.count, 0);
  assert_string_equal(yaml_find(r.root, "scenario")->text, "e2");
  assert_int_equal(r.root->child->key_at.column, 1);
  done(&r);
}

static void characters_are_counted_not_bytes(void **state) {
  (void)state;
  struct reading r;
  read_text(&r, "{\xc2\xb5\xc2\xb5: 1, b: 2}");
  assert_int_equal(yaml_find(r.root, "b")->key_at.column, 9); /* { mu mu : blank 1 , blank b */
  done(&r);
}

static void encodings_are_refused(void **state) {
  (void)state;
  EXPECT("a: 1\nb: 10 \xb5s\n", "f.yaml:2:7: byte 0xb5 at offset 11 is not UTF-8; save the text as UTF-8 (it may be Latin-1 or Windows-1252 now)\n");
  EXPECT("a: \xc0\xaf", "f.yaml:1:4: byte 0xc0 at offset 3 is not UTF-8; save the text as UTF-8 (it may be Latin-1 or Windows-1252 now)\n"); /* overlong / */
  EXPECT("a: \xed\xa0\x80", "f.yaml:1:4: byte 0xed at offset 3 is not UTF-8; save the text as UTF-8 (it may be Latin-1 or Windows-1252 now)\n"); /* U+D800 */
  EXPECT("\xff\xfe"
         "a\0:\0",
      "f.yaml:1:1: the text is UTF-16 (bytes 0xff 0xfe at offset 0); save it as UTF-8\n");
  EXPECT("a\0:\0 \0"
         "1\0",
      "f.yaml:1:1: the text is UTF-16 (bytes 0x61 0x00 at offset 0); save it as UTF-8\n");
  EXPECT("abc: 1\nd\0: 2\n", "f.yaml:2:2: a NUL byte (U+0000) at offset 8; remove it\n");
  EXPECT("a: \x1b[31m\n", "f.yaml:1:4: a control character (U+001B) at offset 3; remove it\n");
  EXPECT("a: \"\\0\"\n", "f.yaml:1:4: a control character in the text, written as an escape; remove it\n");
}

static void what_can_surprise_is_refused(void **state) {
  (void)state;
  EXPECT("a: &x 1\nb: *x\n", "f.yaml:1:4: anchor &x: anchors and aliases are not read; write the value out\n"
                             "f.yaml:2:4: alias *x: anchors and aliases are not read; write the value out\n");
  EXPECT("a: !!str 1\n", "f.yaml:1:4: tag !!str: tags are not read; write the plain value\n");
  EXPECT("a: 1\n---\nb: 1\n", "f.yaml:2:1: a second document begins here; a scenario is one document\n");
  EXPECT("loss: 0.01%\nmtu: 1\nloss: 0.1%\n", "f.yaml:3:1: loss: given twice, first at line 1; remove one of them\n");
  EXPECT("? [a, b]\n: 1\n", "f.yaml:1:3: a list or a map as a key; a key is plain text\n");
  EXPECT("a: 1\n'': 2\n", "f.yaml:2:1: a value without a key\n");
}

static void a_doubled_key_leaves_the_first(void **state) {
  (void)state;
  struct reading r;
  read_text(&r, "a: 1\nb: 2\na: 3\nc: 4\na: 5\n");
  assert_int_equal(r.e.count, 2);
  assert_int_equal(r.root->count, 3);
  assert_string_equal(yaml_find(r.root, "a")->text, "1");
  done(&r);
}

static void syntax_errors_name_the_place(void **state) {
  (void)state;
  struct reading r;
  read_text(&r, "a: 1\nb: [1, 2\nc: 3\n");
  assert_null(r.root);
  assert_non_null(strstr(r.e.text, "f.yaml:3:"));
  assert_non_null(strstr(r.e.text, "not YAML: "));
  assert_non_null(strstr(r.e.text, "begins at line 2"));
  done(&r);
  read_text(&r, "a:\n\tb: 1\n");
  assert_non_null(strstr(r.e.text, "f.yaml:2:1: a tab, but YAML is indented with blanks alone"));
  done(&r);
}

/* 32 levels are read, 33 are not, and ten thousand cost nothing. */
static void depth_is_bounded(void **state) {
  (void)state;
  char text[20001];
  struct reading r;
  for (int levels = 32; levels <= 33; levels++) {
    memset(text, '[', (size_t)levels);
    memset(text + levels, ']', (size_t)levels);
    read_bytes(&r, text, 2 * (size_t)levels);
    assert_int_equal(r.e.count, levels - 32);
    done(&r);
  }
  memset(text, '[', 10000);
  memset(text + 10000, ']', 10000);
  expect(text, 20000, "f.yaml:1:33: nested more than 32 levels deep\n");
}

/* Nine anchors of nine aliases each would be 9^9 values. */
static void an_alias_bomb_is_not_expanded(void **state) {
  (void)state;
  char text[1024] = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 9; i++) {
    size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, "a%d: &a%d [", i, i);
    for (int k = 0; k < 9; k++) {
      used = strlen(text);
      snprintf(text + used, sizeof text - used, "%s*a%d", k ? "," : "", i - 1);
    }
    strcat(text, "]\n");
  }
  struct reading r;
  read_text(&r, text);
  assert_int_equal(r.e.count, 9 + 8 * 9);
  done(&r);
}

static void values_are_bounded(void **state) {
  (void)state;
  size_t count = YAML_NODES_MAX;
  char *text = malloc(2 * count + 2);
  assert_non_null(text);
  text[0] = '[';
  for (size_t i = 0; i < count; i++) memcpy(text + 1 + 2 * i, "1,", 2);
  text[2 * count] = ']';
  struct reading r;
  read_bytes(&r, text, 2 * count + 1);
  assert_null(r.root);
  assert_non_null(strstr(r.e.text, "more than 100000 keys and values"));
  done(&r);
  free(text);
}

static void flow_text_reads_back(void **state) {
  (void)state;
  struct reading r, again;
  read_text(&r, "gemodel:\n  p: 1%\n  'r': 20%\n  list: [3, 5, []]\n  odd: 'a, \"b\\'\n");
  const char *flow = yaml_flow(r.arena, r.root);
  assert_string_equal(flow, "{gemodel: {p: 1%, r: 20%, list: [3, 5, []], odd: \"a, \\\"b\\\\\"}}");
  read_text(&again, flow);
  assert_string_equal(yaml_find(again.root->child, "odd")->text, "a, \"b\\");
  done(&again);
  done(&r);
}

static void nothing_is_a_null(void **state) {
  (void)state;
  struct reading r;
  read_text(&r, "");
  assert_true(yaml_is_null(r.root));
  assert_int_equal(r.e.count, 0);
  done(&r);
  read_text(&r, "# only a remark\n");
  assert_true(yaml_is_null(r.root));
  done(&r);
}

static void a_set_is_named_instead_of_a_line(void **state) {
  (void)state;
  struct arena *arena = arena_new();
  struct problem_list *problems = problem_list_new("f.yaml");
  struct err e = {0};
  problem_add(problems, (struct place){.line = 7, .column = 3}, "b", "second");
  assert_null(yaml_read(arena, "*x", 2, (struct place){.set = 1, .set_key = "path.mtu"}, problems));
  problem_add(problems, (struct place){.line = 2, .column = 1}, "a", "first");
  assert_int_equal(problem_report(problems, &e), ERR_INPUT);
  assert_string_equal(e.text, "f.yaml:2:1: a: first\nf.yaml:7:3: b: second\n"
                              "--set path.mtu: alias *x: anchors and aliases are not read; write the value out\n");
  err_free(&e);
  problem_list_free(problems);
  arena_free(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tree_keeps_text_place_and_quotes),
      cmocka_unit_test(byte_order_mark_is_passed_over),
      cmocka_unit_test(characters_are_counted_not_bytes),
      cmocka_unit_test(encodings_are_refused),
      cmocka_unit_test(what_can_surprise_is_refused),
      cmocka_unit_test(a_doubled_key_leaves_the_first),
      cmocka_unit_test(syntax_errors_name_the_place),
      cmocka_unit_test(depth_is_bounded),
      cmocka_unit_test(an_alias_bomb_is_not_expanded),
      cmocka_unit_test(values_are_bounded),
      cmocka_unit_test(flow_text_reads_back),
      cmocka_unit_test(nothing_is_a_null),
      cmocka_unit_test(a_set_is_named_instead_of_a_line),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
