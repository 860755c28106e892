/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: sim/core/param.o sim/core/param_value.o sim/core/units.o sim/core/err.o
#include "sim/core/param.h"
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static int check_kex(const char *text, char *canonical, size_t size, struct err *e) {
  if (strcasecmp(text, "x25519") != 0 && strcasecmp(text, "X25519MLKEM768") != 0)
    return err_add(e, ERR_INPUT, "found '%s', allowed x25519, x25519mlkem768", text);
  snprintf(canonical, size, "%s", strlen(text) > 6 ? "x25519mlkem768" : "x25519");
  return 0;
}

static const char *const boxes[] = {"none", "drop_fragments", NULL};
#define S INT64_C(1000000000)
static const struct param path_rows[] = {
    {.key = "path.rate", .kind = PARAM_RATE, .fallback = "10Gbit/s", .min = 1000, .max = 1000 * S},
    {.key = "path.delay", .kind = PARAM_TIME, .fallback = "100us", .min = 0, .max = 10 * S},
    {.key = "path.rtt", .kind = PARAM_TIME, .min = 0, .max = 30 * S, .sets = "path.delay"},
    {.key = "path.up.delay", .kind = PARAM_TIME, .min = 0, .max = 10 * S, .follows = "path.delay"},
    {.key = "path.mtu", .kind = PARAM_SIZE, .fallback = "1500B", .min = 68, .max = 65535, .bare = "B"},
    {.key = "path.overhead", .kind = PARAM_SIZE, .fallback = "0B", .min = 0, .max = INT64_MAX},
    {.key = "path.loss", .kind = PARAM_LOSS, .fallback = "0%"},
    {.key = "path.up.loss", .kind = PARAM_LOSS, .follows = "path.loss"},
    {.key = "path.queue", .kind = PARAM_QUEUE, .fallback = "1000 packets", .min = 1, .max = 1000000000},
    {.key = "path.drop", .kind = PARAM_LIST, .fallback = "[]", .min = 1, .max = INT64_MAX},
    {.key = "path.middlebox", .kind = PARAM_CHOICE, .fallback = "none", .choices = boxes},
};
static const struct param other_rows[] = {
    {.key = "ipsec.kex", .kind = PARAM_NAME, .fallback = "x25519", .check = check_kex},
    {.key = "ipsec.childless", .kind = PARAM_BOOL, .fallback = "no"},
    {.key = "e2.nodes", .kind = PARAM_COUNT, .fallback = "1", .min = 1, .max = 2000},
    {.key = "e2.share", .kind = PARAM_SHARE, .fallback = "100%", .min = 0, .max = SHARE_ONE},
    {.key = "title", .kind = PARAM_NAME, .fallback = ""},
    {.key = "e2.queue", .kind = PARAM_QUEUE, .fallback = "none", .min = 0, .max = 100},
};
static const struct param_table path_table = {path_rows, sizeof path_rows / sizeof path_rows[0]};
static const struct param_table other_table = {other_rows, sizeof other_rows / sizeof other_rows[0]};
static const struct param_table *const tables[] = {&path_table, &other_table};

static int setup(void **state) {
  *state = config_new(tables, 2);
  return 0;
}
static int teardown(void **state) {
  config_free(*state);
  return 0;
}

static void set(struct config *config, const char *key, const char *text) {
  struct err e = {0};
  if (config_set(config, key, text, &e)) fail_msg("%s", e.text);
}

static void defaults(void **state) {
  const struct config *config = *state;
  assert_int_equal(config_number(config, "path.rate"), 10 * S);
  assert_int_equal(config_number(config, "path.delay"), 100000);
  assert_int_equal(config_number(config, "path.queue"), 1000);
  assert_int_equal(config_number(config, "e2.queue"), 0);
  assert_int_equal(config_number(config, "path.middlebox"), 0);
  assert_int_equal(config_number(config, "e2.share"), SHARE_ONE);
  assert_string_equal(config_text(config, "ipsec.kex"), "x25519");
  assert_string_equal(config_text(config, "ipsec.childless"), "no");
  assert_int_equal(config_list(config, "path.drop", NULL, 0), 0);
  assert_false(config_is_set(config, "path.rate"));
}

struct text {
  const char *key, *text, *canonical;
};
static const struct text texts[] = {
    {"path.rate", "1000 Mbit/s", "1Gbit/s"},
    {"path.delay", " 0.1ms ", "100us"},
    {"path.mtu", "1500", "1500B"}, /* everybody means bytes */
    {"path.mtu", "1280B", "1280B"},
    {"path.mtu", "0.5KiB", "512B"},
    {"path.queue", "100 packets", "100 packets"},
    {"path.queue", "1 packet", "1 packets"},
    {"path.queue", "100packets", "100 packets"},
    {"path.queue", "64KiB", "64KiB"},
    {"e2.queue", "none", "none"},
    {"path.loss", "1%", "1%"},
    {"path.loss", "0", "0%"},
    {"path.loss", "{gemodel: {p: 1%, r: 20%}}", "{gemodel: {p: 1%, r: 20%}}"},
    {"path.loss", "{ \"gemodel\" : {r: '20 %',p: 100ppm , 1-h: 50%, 1-k: 0.1%} }", "{gemodel: {p: 0.01%, r: 20%, loss_bad: 50%, loss_good: 0.1%}}"},
    {"path.loss", "{gemodel: {p: 1%, r: 20%, loss_bad: 100%, loss_good: 0}}", "{gemodel: {p: 1%, r: 20%}}"},
    {"path.drop", "[3, 5]", "[3, 5]"},
    {"path.drop", "[ 3,5 , 1e3 ]", "[3, 5, 1000]"},
    {"path.drop", "3", "[3]"},
    {"path.drop", "[]", "[]"},
    {"path.middlebox", "DROP_Fragments", "drop_fragments"},
    {"ipsec.kex", "X25519MLKEM768", "x25519mlkem768"},
    {"ipsec.childless", "True", "yes"},
    {"ipsec.childless", "on", "yes"},
    {"ipsec.childless", "OFF", "no"},
    {"ipsec.childless", "false", "no"},
    {"e2.nodes", "2e3", "2000"},
    {"e2.share", "150000 ppm", "15%"},
    {"title", "ML-KEM, on E2: {rtt}", "ML-KEM, on E2: {rtt}"},
};

static void canonical_texts_read_back(void **state) {
  struct config *config = *state;
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    set(config, texts[i].key, texts[i].text);
    assert_string_equal(config_text(config, texts[i].key), texts[i].canonical);
    set(config, texts[i].key, texts[i].canonical);
    assert_string_equal(config_text(config, texts[i].key), texts[i].canonical);
    assert_true(config_is_set(config, texts[i].key));
  }
}

static void numbers_by_kind(void **state) {
  struct config *config = *state;
  set(config, "path.queue", "64KiB");
  assert_int_equal(config_number(config, "path.queue"), -65536);
  set(config, "path.middlebox", "drop_fragments");
  assert_int_equal(config_number(config, "path.middlebox"), 1);
  set(config, "ipsec.childless", "yes");
  assert_int_equal(config_number(config, "ipsec.childless"), 1);
  set(config, "path.drop", "[3, 5, 8]");
  int64_t list[2];
  assert_int_equal(config_list(config, "path.drop", list, 2), 3);
  assert_int_equal(list[1], 5);
}

static void loss_models(void **state) {
  struct config *config = *state;
  struct param_loss loss;
  set(config, "path.loss", "0.5%");
  config_loss(config, "path.up.loss", &loss); /* follows */
  assert_false(loss.gemodel);
  assert_int_equal(loss.loss_ppb, 5000000);
  set(config, "path.up.loss", "{gemodel: {p: 1%, r: 20%}}");
  config_loss(config, "path.up.loss", &loss);
  assert_true(loss.gemodel);
  assert_int_equal(loss.p_ppb, 10000000);
  assert_int_equal(loss.r_ppb, 200000000);
  assert_int_equal(loss.bad_ppb, SHARE_ONE);
  assert_int_equal(loss.good_ppb, 0);
  config_loss(config, "path.loss", &loss);
  assert_int_equal(loss.loss_ppb, 5000000);
}

static void followers_and_halves(void **state) {
  struct config *config = *state;
  set(config, "path.rtt", "10ms");
  assert_int_equal(config_number(config, "path.delay"), 5000000);
  assert_int_equal(config_number(config, "path.up.delay"), 5000000);
  assert_string_equal(config_text(config, "path.up.delay"), "5ms");
  assert_true(config_is_set(config, "path.delay"));
  assert_false(config_is_set(config, "path.up.delay"));
  assert_false(config_is_set(config, "path.rtt"));
  set(config, "path.up.delay", "1ms");
  set(config, "path.delay", "2ms");
  assert_int_equal(config_number(config, "path.up.delay"), 1000000);
  assert_int_equal(config_number(config, "path.delay"), 2000000);
}

struct bad {
  const char *key, *text, *sentence; /* the whole of it, or its beginning when it ends in '*' */
};
static const struct bad bads[] = {
    {"path.mtu", "27B", "path.mtu: found 27B, allowed 68B to 65535B\n"},
    {"path.mtu", "70000", "path.mtu: found 70000, allowed 68B to 65535B\n"},
    {"path.mtu", "1500MB/s", "path.mtu: found '1500MB/s' with the unknown unit 'MB/s'*"},
    {"path.overhead", "2", "path.overhead: found '2' without a unit, allowed are B kB MB GB KiB MiB GiB\n"},
    {"path.overhead", "-1B", "path.overhead: found -1B, allowed 0B or more\n"},
    {"path.delay", "-2ms", "path.delay: found -2ms, allowed 0s to 10s\n"},
    {"path.rtt", "1ns", "path.rtt: found 1ns, which cannot be halved exactly*"},
    {"path.rtt", "25s", "path.rtt: found 25s, half of which goes to path.delay, allowed 0s to 10s\n"},
    {"path.rtt", "31s", "path.rtt: found 31s, allowed 0s to 30s\n"},
    {"path.rtt", "10", "path.rtt: found '10' without a unit*"},
    {"path.rat", "1Gbit/s", "path.rat: unknown key; did you mean path.rate?\n"},
    {"zzzzzzzzzzzz", "1", "zzzzzzzzzzzz: unknown key\n"},
    {"path.middlebox", "some", "path.middlebox: found 'some', allowed none, drop_fragments\n"},
    {"path.middlebox", "", "path.middlebox: found '', allowed none, drop_fragments\n"},
    {"ipsec.childless", "2", "ipsec.childless: found '2', allowed yes or no\n"},
    {"ipsec.kex", "rsa", "ipsec.kex: found 'rsa', allowed x25519, x25519mlkem768\n"},
    {"title", "a\tb", "title: found a control character (code 9)*"},
    {"path.queue", "100", "path.queue: found '100' without a unit, allowed are packets and sizes, such as 100 packets or 64KiB\n"},
    {"path.queue", "0 packets", "path.queue: found 0 packets, allowed 1 to 1000000000 packets\n"},
    {"path.queue", "0B", "path.queue: found 0B, allowed 1B to 1000000000B\n"},
    {"path.queue", "none", "path.queue: found 'none', which is not a number*"},
    {"path.queue", "3 parcels", "path.queue: found '3 parcels' with the unknown unit*"},
    {"path.queue", "", "path.queue: found ''*"},
    {"path.loss", "101%", "path.loss: found 101%, allowed 0% to 100%\n"},
    {"path.loss", "-1%", "path.loss: found -1%, allowed 0% to 100%\n"},
    {"path.loss", "0.01", "path.loss: found '0.01' without a unit*"},
    {"path.loss", "{gemodel: {p: 1%}}", "path.loss: gemodel: p and r are both needed\n"},
    {"path.loss", "{gemodel: {p: 1%, r: 20%, q: 1%}}", "path.loss: gemodel: found the key 'q'*"},
    {"path.loss", "{gemodel: {p: 1%, r: 20%, p: 1%}}", "path.loss: gemodel: 'p' is given twice\n"},
    {"path.loss", "{gemodel: {p: 1%, r: 20%, loss_bad: 1%, 1-h: 1%}}", "path.loss: gemodel: '1-h' is given twice\n"},
    {"path.loss", "{gemodel: {p: 1%, r: 200%}}", "path.loss: gemodel: r: found 200%, allowed 0% to 100%\n"},
    {"path.loss", "{gemodel: {p: 1%, r: 0.2}}", "path.loss: gemodel: r: found '0.2' without a unit*"},
    {"path.loss", "{gemodel: {p: 1%, r: 20%}", "path.loss: found '{gemodel*"},
    {"path.loss", "{gemodel: {p: 1%, r: 20%}} x", "path.loss: found '{gemodel*"},
    {"path.loss", "{gemodel: {p: 1%, r: 20%,}}", "path.loss: found '{gemodel*"},
    {"path.loss", "{gemodel: {}}", "path.loss: found '{gemodel*"},
    {"path.loss", "{gemodel: 1%}", "path.loss: found '{gemodel*"},
    {"path.loss", "{model: {p: 1%, r: 20%}}", "path.loss: found '{model*"},
    {"path.loss", "{\"gemodel: {p: 1%}}", "path.loss: found '{\"gemodel*"},
    {"path.drop", "[5, 3]", "path.drop: found 3 after 5, allowed are numbers in ascending order, each once\n"},
    {"path.drop", "[3, 3]", "path.drop: found 3 after 3*"},
    {"path.drop", "[0]", "path.drop: found 0, allowed 1 or more\n"},
    {"path.drop", "[1.5]", "path.drop: found '1.5', allowed is a whole number\n"},
    {"path.drop", "[3, 5", "path.drop: found '[3, 5' without its closing bracket*"},
    {"path.drop", "[3,, 5]", "path.drop: found '[3,, 5]', allowed is a list such as [3, 5]\n"},
    {"path.drop", "[3] 4", "path.drop: found '[3] 4', allowed is a list such as [3, 5]\n"},
    {"path.drop", "3, 5", "path.drop: found '3, 5', the decimal mark is a dot\n"},
    {"path.drop", "", "path.drop: found '', allowed is a list such as [3, 5]\n"},
    {"e2.nodes", "0", "e2.nodes: found 0, allowed 1 to 2000\n"},
    {"e2.nodes", "1.5", "e2.nodes: found '1.5', allowed is a whole number\n"},
    {"e2.nodes", "nan", "e2.nodes: found 'nan', which is not a number; wanted is a whole number\n"},
    {"e2.nodes", "99999999999999999999", "e2.nodes: found '99999999999999999999', at most 9223372036854775807 can be held\n"},
};

static void refusals_name_key_value_and_range(void **state) {
  struct config *config = *state;
  for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
    struct err e = {0};
    if (config_set(config, bads[i].key, bads[i].text, &e) != ERR_INPUT) fail_msg("%s: '%s' was accepted", bads[i].key, bads[i].text);
    size_t length = strlen(bads[i].sentence);
    bool whole = bads[i].sentence[length - 1] != '*';
    if (whole ? strcmp(e.text, bads[i].sentence) != 0 : strncmp(e.text, bads[i].sentence, length - 1) != 0)
      fail_msg("%s: '%s' gives: %s", bads[i].key, bads[i].text, e.text);
    assert_int_equal(e.count, 1);
    err_free(&e);
  }
  for (int i = 0; i < path_table.count; i++) assert_false(config_is_set(config, path_rows[i].key)); /* nothing was changed */
}

static void a_refused_value_leaves_the_old_one(void **state) {
  struct config *config = *state;
  struct err e = {0};
  set(config, "path.mtu", "1280B");
  assert_int_equal(config_set(config, "path.mtu", "1B", &e), ERR_INPUT);
  assert_string_equal(config_text(config, "path.mtu"), "1280B");
  err_free(&e);
}

static void the_nearest_key(void **state) {
  const struct config *config = *state;
  assert_string_equal(config_nearest(config, "path.rat"), "path.rate");
  assert_string_equal(config_nearest(config, "path.dealy"), "path.delay");
  assert_string_equal(config_nearest(config, "pth.up.delay"), "path.up.delay");
  assert_string_equal(config_nearest(config, "kex"), "ipsec.kex");
  assert_string_equal(config_nearest(config, "net.mtu"), "path.mtu");
  assert_string_equal(config_nearest(config, "e3.queue"), "e2.queue");
  assert_null(config_nearest(config, "x"));
  assert_null(config_nearest(config, ""));
  assert_null(config_nearest(config, "a.key.that.is.very.long.indeed.and.longer.than.any.known.key.could.be"));
  assert_null(config_find(config, "path"));
  assert_ptr_equal(config_find(config, "path.mtu"), &path_rows[4]);
}

static void copies_are_apart(void **state) {
  struct config *config = *state;
  set(config, "path.mtu", "1280B");
  struct config *copy = config_copy(config);
  set(copy, "path.mtu", "1400B");
  set(config, "path.drop", "[1]");
  assert_string_equal(config_text(config, "path.mtu"), "1280B");
  assert_string_equal(config_text(copy, "path.mtu"), "1400B");
  assert_false(config_is_set(copy, "path.drop"));
  struct config *of_copy = config_copy(copy);
  config_free(copy); /* what is shared lives on */
  assert_string_equal(config_text(of_copy, "path.mtu"), "1400B");
  config_free(of_copy);
  config_free(NULL);
}

struct listing {
  int count;
  char text[2000];
};
static void list_one(void *arg, const struct param *param, const char *text) {
  struct listing *listing = arg;
  size_t length = strlen(listing->text);
  snprintf(listing->text + length, sizeof listing->text - length, "%s=%s\n", param->key, text);
  listing->count++;
}

static void each_resolved_value_in_table_order(void **state) {
  struct config *config = *state;
  struct listing listing = {0};
  set(config, "path.rtt", "2ms");
  config_each(config, list_one, &listing);
  assert_int_equal(listing.count, path_table.count + other_table.count - 1); /* no path.rtt */
  assert_non_null(strstr(listing.text, "path.rate=10Gbit/s\npath.delay=1ms\npath.up.delay=1ms\npath.mtu=1500B\n"));
  assert_null(strstr(listing.text, "path.rtt"));
  assert_non_null(strstr(listing.text, "e2.share=100%\ntitle=\ne2.queue=none\n"));
}

/* ---- lists of names, and rows that may have no value ---- */

static const struct param more_rows[] = {
    {.key = "kex.one", .kind = PARAM_NAME, .absent = true, .check = check_kex},
    {.key = "kex.offered", .kind = PARAM_NAMES, .fallback = "[x25519, x25519mlkem768]", .check = check_kex},
    {.key = "kex.some", .kind = PARAM_NAMES, .min = 1, .max = 3, .absent = true},
    {.key = "kex.any", .kind = PARAM_NAMES, .fallback = "[]"},
    {.key = "kex.pair", .kind = PARAM_NAMES, .min = 2, .max = 2, .absent = true},
    {.key = "own.delay", .kind = PARAM_TIME, .min = 1000, .max = 10 * S, .absent = true},
    {.key = "own.rtt", .kind = PARAM_TIME, .min = 0, .max = 30 * S, .sets = "own.delay", .absent = true},
    {.key = "own.queue", .kind = PARAM_QUEUE, .min = 1, .max = 1000, .absent = true},
    {.key = "last", .kind = PARAM_COUNT, .fallback = "3", .min = 0, .max = 9},
};
static const struct param_table more_table = {more_rows, sizeof more_rows / sizeof more_rows[0]};
static const struct param_table *const more_tables[] = {&more_table};

static int setup_more(void **state) {
  *state = config_new(more_tables, 1);
  return 0;
}

struct name_list {
  int count;
  char text[2000];
};
static void add_to_list(void *arg, const char *name) {
  struct name_list *list = arg;
  size_t length = strlen(list->text);
  snprintf(list->text + length, sizeof list->text - length, "%s;", name);
  list->count++;
}

static const struct {
  const char *key, *text, *canonical, *names;
} name_lists[] = {
    {"kex.offered", "[x25519]", "[x25519]", "x25519;"}, {"kex.offered", "X25519MLKEM768", "[x25519mlkem768]", "x25519mlkem768;"}, /* one bare name */
    {"kex.offered", " [ X25519MLKEM768 ,x25519 ] ", "[x25519mlkem768, x25519]", "x25519mlkem768;x25519;"},                        /* the order is kept */
    {"kex.offered", "[\"x25519\", 'x25519mlkem768']", "[x25519, x25519mlkem768]", "x25519;x25519mlkem768;"}, {"kex.offered", "[]", "[]", ""},
    {"kex.offered", "[ ]", "[]", ""}, {"kex.some", "[c, a, b]", "[c, a, b]", "c;a;b;"}, {"kex.some", "c", "[c]", "c;"},
    {"kex.any", "[b, ab, a, aba]", "[b, ab, a, aba]", "b;ab;a;aba;"}, /* a part of a name is another name */
    {"kex.any", "[a, A]", "[a, A]", "a;A;"},                          /* without a check the spelling is the name */
};

static void lists_of_names(void **state) {
  struct config *config = *state;
  struct name_list fallback = {0};
  assert_string_equal(config_text(config, "kex.offered"), "[x25519, x25519mlkem768]");
  assert_int_equal(config_names(config, "kex.offered", add_to_list, &fallback), 2);
  assert_string_equal(fallback.text, "x25519;x25519mlkem768;");
  for (size_t i = 0; i < sizeof name_lists / sizeof name_lists[0]; i++)
    for (int again = 0; again < 2; again++) {
      struct name_list list = {0};
      set(config, name_lists[i].key, again ? name_lists[i].canonical : name_lists[i].text);
      assert_string_equal(config_text(config, name_lists[i].key), name_lists[i].canonical);
      int count = config_names(config, name_lists[i].key, add_to_list, &list);
      assert_int_equal(count, list.count);
      assert_string_equal(list.text, name_lists[i].names);
    }
}

static const struct bad bad_lists[] = {
    {"kex.offered", "[x25519, rsa]", "kex.offered: found 'rsa', allowed x25519, x25519mlkem768\n"},
    {"kex.offered", "rsa", "kex.offered: found 'rsa', allowed x25519, x25519mlkem768\n"},
    {"kex.offered", "x25519, x25519mlkem768", "kex.offered: found 'x25519, x25519mlkem768', allowed x25519, x25519mlkem768\n"},
    {"kex.offered", "[x25519, X25519]", "kex.offered: found x25519 twice, allowed once each\n"},
    {"kex.offered", "[x25519mlkem768, x25519, X25519MLKEM768]", "kex.offered: found x25519mlkem768 twice, allowed once each\n"},
    {"kex.offered", "[x25519", "kex.offered: found '[x25519' without its closing bracket*"},
    {"kex.offered", "[", "kex.offered: found '[', allowed is a list of names such as [a, b]\n"},
    {"kex.offered", "x25519]", "kex.offered: found 'x25519]', allowed x25519, x25519mlkem768\n"},
    {"kex.offered", "[x25519]]", "kex.offered: found '[x25519]]', allowed is a list of names such as [a, b]\n"},
    {"kex.offered", "[[x25519]]", "kex.offered: found '[x25519'*"},
    {"kex.offered", "[x25519,]", "kex.offered: found '[x25519,]', allowed is a list of names such as [a, b]\n"},
    {"kex.offered", "[, x25519]", "kex.offered: found '[, x25519]', allowed is a list of names such as [a, b]\n"},
    {"kex.offered", "[\"x25519]", "kex.offered: found '[\"x25519]', allowed is a list of names such as [a, b]\n"},
    {"kex.offered", "", "kex.offered: found '', allowed is a list of names such as [a, b]\n"},
    {"kex.some", "[]", "kex.some: found 0 names, allowed 1 to 3\n"},
    {"kex.some", "[a, b, c, d]", "kex.some: found 4 names, allowed 1 to 3\n"},
    {"kex.pair", "[a]", "kex.pair: found 1 names, allowed 2 to 2\n"},
    {"kex.pair", "[a, b, c]", "kex.pair: found 3 names, allowed 2 to 2\n"},
    {"kex.any", "['a, b', c]", "kex.any: found the name 'a, b', allowed are names without blanks, commas and brackets\n"},
    {"kex.any", "a b", "kex.any: found the name 'a b', allowed are names without blanks, commas and brackets\n"},
    {"kex.any", "[a\tb]", "kex.any: found a control character (code 9), allowed is a name in one line\n"},
    {"own.delay", "999ns", "own.delay: found 999ns, allowed 1us to 10s\n"},
    {"own.rtt", "25s", "own.rtt: found 25s, half of which goes to own.delay, allowed 1us to 10s\n"},
    {"own.rtt", "1us", "own.rtt: found 1us, half of which goes to own.delay, allowed 1us to 10s\n"},
    {"own.queue", "2000 packets", "own.queue: found 2000 packets, allowed 1 to 1000 packets\n"},
    {"own.dealy", "1ms", "own.dealy: unknown key; did you mean own.delay?\n"},
};

static void bad_lists_change_nothing(void **state) {
  struct config *config = *state;
  for (size_t i = 0; i < sizeof bad_lists / sizeof bad_lists[0]; i++) {
    struct err e = {0};
    const struct bad *bad = &bad_lists[i];
    if (config_set(config, bad->key, bad->text, &e) != ERR_INPUT) fail_msg("%s: '%s' was accepted", bad->key, bad->text);
    size_t length = strlen(bad->sentence);
    bool whole = bad->sentence[length - 1] != '*';
    if (whole ? strcmp(e.text, bad->sentence) != 0 : strncmp(e.text, bad->sentence, length - 1) != 0)
      fail_msg("%s: '%s' gives: %s", bad->key, bad->text, e.text);
    err_free(&e);
  }
  for (int i = 0; i < more_table.count; i++) assert_false(config_is_set(config, more_rows[i].key));
  assert_null(config_text(config, "own.delay"));
}

/* Up to its bound a list is kept whole, and is refused beyond: nothing is cut. */
static void long_lists_are_kept_or_refused(void **state) {
  struct config *config = *state;
  bool refused = false;
  for (int names = 1; names < 300; names++) {
    char text[2000] = "[";
    struct err e = {0};
    struct name_list list = {0};
    for (int i = 0; i < names; i++) snprintf(text + strlen(text), 16, "%sn%d", i ? ", " : "", 100 + i);
    strcat(text, "]");
    if (config_set(config, "kex.any", text, &e)) {
      assert_true(strlen(text) > 1000);
      assert_int_equal(strncmp(e.text, "kex.any: found a list of more than 10", 37), 0);
      refused = true;
    } else {
      assert_false(refused);
      assert_string_equal(config_text(config, "kex.any"), text);
      assert_int_equal(config_names(config, "kex.any", add_to_list, &list), names);
      assert_int_equal(list.count, names);
    }
    err_free(&e);
  }
  assert_true(refused);
  char word[200] = "";
  struct err e = {0};
  memset(word, 'a', sizeof word - 1);
  assert_int_equal(config_set(config, "kex.any", word, &e), ERR_INPUT);
  err_free(&e);
}

static void absent_until_set(void **state) {
  struct config *config = *state;
  struct listing listing = {0}, after = {0};
  static const char *const absent[] = {"kex.one", "kex.some", "own.delay", "own.queue"};
  for (size_t i = 0; i < sizeof absent / sizeof absent[0]; i++) {
    assert_null(config_text(config, absent[i]));
    assert_false(config_is_set(config, absent[i]));
  }
  config_each(config, list_one, &listing);
  assert_string_equal(listing.text, "kex.offered=[x25519, x25519mlkem768]\nkex.any=[]\nlast=3\n");
  set(config, "kex.one", "X25519");
  set(config, "kex.some", "[b, a]");
  set(config, "own.queue", "64B");
  for (size_t i = 0; i < sizeof absent / sizeof absent[0]; i++) assert_int_equal(config_is_set(config, absent[i]), strcmp(absent[i], "own.delay") != 0);
  assert_int_equal(config_number(config, "own.queue"), -64);
  config_each(config, list_one, &after);
  assert_string_equal(after.text, "kex.one=x25519\nkex.offered=[x25519, x25519mlkem768]\nkex.some=[b, a]\nkex.any=[]\nown.queue=64B\nlast=3\n");
}

static void a_pseudo_key_sets_an_absent_row(void **state) {
  struct config *config = *state;
  struct config *before = config_copy(config);
  set(config, "own.rtt", "10ms");
  assert_true(config_is_set(config, "own.delay"));
  assert_false(config_is_set(config, "own.rtt"));
  assert_string_equal(config_text(config, "own.delay"), "5ms");
  assert_int_equal(config_number(config, "own.delay"), 5000000);
  struct listing listing = {0};
  config_each(config, list_one, &listing);
  assert_non_null(strstr(listing.text, "own.delay=5ms\n"));
  assert_null(strstr(listing.text, "own.rtt"));
  struct config *copy = config_copy(config);
  set(config, "own.delay", "7ms");
  assert_string_equal(config_text(copy, "own.delay"), "5ms");
  assert_null(config_text(before, "own.delay"));
  config_free(copy);
  config_free(before);
}

static void unknown_key(const struct config *config) { (void)config_number(config, "path"); }
static void wrong_kind(const struct config *config) { (void)config_number(config, "path.loss"); }
static void not_a_list(const struct config *config) { (void)config_list(config, "path.mtu", NULL, 0); }
static void not_names(const struct config *config) { (void)config_names(config, "path.drop", add_to_list, NULL); }
static void number_without_a_value(const struct config *config) {
  (void)config;
  (void)config_number(config_new(more_tables, 1), "own.delay");
}
static void names_as_a_number(const struct config *config) {
  (void)config;
  (void)config_number(config_new(more_tables, 1), "kex.any");
}
static void table_without_a_default(const struct config *config) {
  static const struct param row = {.key = "a.b", .kind = PARAM_COUNT, .min = 6, .max = 7};
  static const struct param_table table = {&row, 1};
  const struct param_table *const one[] = {&table};
  (void)config;
  (void)config_new(one, 1);
}
static void no_value_of_its_own(const struct config *config) { (void)config_text(config, "path.rtt"); }
static void table_with_a_bad_default(const struct config *config) {
  static const struct param row = {.key = "a.b", .kind = PARAM_COUNT, .fallback = "5", .min = 6, .max = 7};
  static const struct param_table table = {&row, 1};
  const struct param_table *const one[] = {&table};
  (void)config;
  (void)config_new(one, 1);
}
static void table_with_a_double(const struct config *config) {
  const struct param_table *const twice[] = {&other_table, &other_table};
  (void)config;
  (void)config_new(twice, 2);
}

static void misuse_aborts(void **state) {
  void (*const wrongs[])(const struct config *) = {unknown_key, wrong_kind, not_a_list, not_names, number_without_a_value, names_as_a_number,
      table_without_a_default, no_value_of_its_own, table_with_a_bad_default, table_with_a_double};
  for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
      signal(SIGABRT, SIG_DFL);
      if (!freopen("/dev/null", "w", stderr)) _exit(1);
      wrongs[i](*state);
      _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(defaults, setup, teardown),
      cmocka_unit_test_setup_teardown(canonical_texts_read_back, setup, teardown),
      cmocka_unit_test_setup_teardown(numbers_by_kind, setup, teardown),
      cmocka_unit_test_setup_teardown(loss_models, setup, teardown),
      cmocka_unit_test_setup_teardown(followers_and_halves, setup, teardown),
      cmocka_unit_test_setup_teardown(refusals_name_key_value_and_range, setup, teardown),
      cmocka_unit_test_setup_teardown(a_refused_value_leaves_the_old_one, setup, teardown),
      cmocka_unit_test_setup_teardown(the_nearest_key, setup, teardown),
      cmocka_unit_test_setup_teardown(copies_are_apart, setup, teardown),
      cmocka_unit_test_setup_teardown(each_resolved_value_in_table_order, setup, teardown),
      cmocka_unit_test_setup_teardown(lists_of_names, setup_more, teardown),
      cmocka_unit_test_setup_teardown(bad_lists_change_nothing, setup_more, teardown),
      cmocka_unit_test_setup_teardown(long_lists_are_kept_or_refused, setup_more, teardown),
      cmocka_unit_test_setup_teardown(absent_until_set, setup_more, teardown),
      cmocka_unit_test_setup_teardown(a_pseudo_key_sets_an_absent_row, setup_more, teardown),
      cmocka_unit_test_setup_teardown(misuse_aborts, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
