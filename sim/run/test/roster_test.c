/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: sim/run/roster.o sim/core/param.o sim/core/param_value.o sim/core/units.o sim/core/err.o
#include "sim/run/roster.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

/* ---- A domain that writes down what prepare gets ---- */

static const struct param path_rows[] = {
    {.key = "path.delay", .kind = PARAM_TIME, .fallback = "1ms", .min = 0, .max = 1000000000},
    {.key = "path.rtt", .kind = PARAM_TIME, .min = 0, .max = 2000000000, .sets = "path.delay"},
    {.key = "path.up.delay", .kind = PARAM_TIME, .min = 0, .max = 1000000000, .follows = "path.delay"},
    {.key = "path.loss", .kind = PARAM_LOSS, .fallback = "0%"},
};
static const struct param mode_rows[] = {{.key = "mode.offered", .kind = PARAM_NAMES, .fallback = "[a]"}};
static const struct param node_rows[] = {{.key = "nodes", .kind = PARAM_COUNT, .fallback = "1", .min = 1, .max = 100}};
static const struct param_table path_table = {path_rows, 4}, mode_table = {mode_rows, 1}, node_table = {node_rows, 1};
static const struct param_table *const tables[] = {&node_table, &path_table, &mode_table};
static const struct metric_def metrics[] = {{"setup", METRIC_TIME, "start", "end", "a time"}, {"bytes", METRIC_BYTES, "sent", NULL, "a size"}};

static char seen[4096];

static int prepare(const struct domain_point *point, void **state, struct err *e) {
  (void)state;
  seen[0] = '\0';
  if (config_number(point->config, "nodes") == 66) return err_add(e, ERR_INPUT, "nodes: found 66");
  for (int g = -1; g < point->group_count; g++) {
    const struct config *config = g < 0 ? point->config : point->groups[g].config;
    char share[32] = "-";
    if (g >= 0 && point->groups[g].share_ppb >= 0) snprintf(share, sizeof share, "%lld", (long long)point->groups[g].share_ppb);
    snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "%s %s %s %s %s %s %s;", g < 0 ? point->base_dir : point->groups[g].name, share,
        config_text(config, "path.delay"), config_text(config, "path.up.delay"), config_text(config, "path.loss"), config_text(config, "mode.offered"),
        config_text(config, "nodes"));
  }
  return 0;
}

static const struct domain domain = {.name = "d",
    .tables = tables,
    .table_count = 3,
    .group_tables = tables + 1,
    .group_table_count = 2,
    .metrics = metrics,
    .metric_count = 2,
    .prepare = prepare};

static void set(struct config *config, const char *key, const char *text) {
  struct err e = {0};
  if (config_set(config, key, text, &e)) fail_msg("%s", e.text);
}

static void expect(const struct roster *roster, const struct config *config, const char *expected) {
  struct err e = {0};
  void *state = NULL;
  assert_int_equal(roster_prepare(roster, config, "dir", NULL, &state, &e), 0);
  assert_string_equal(seen, expected);
}

static void without_groups_it_is_the_domain(void **state) {
  (void)state;
  struct roster *roster = roster_new(&domain, NULL, 0);
  assert_int_equal(roster->table_count, 3);
  for (int t = 0; t < 3; t++) assert_ptr_equal(roster->tables[t], tables[t]);
  assert_int_equal(roster->metric_count, 2);
  assert_string_equal(roster->metrics[1].name, "bytes");
  struct config *config = config_new(roster->tables, roster->table_count);
  set(config, "path.delay", "3ms");
  expect(roster, config, "dir - 3ms 3ms 0% [a] 1;");
  config_free(config);
  roster_free(roster);
  roster_free(NULL);
}

/* What a group does not say is the point's; what it says behaves as the plain key does. */
static void groups_have_the_points_keys_and_their_own(void **state) {
  (void)state;
  static const char *const names[] = {"far", "near", "odd-1_X"};
  struct roster *roster = roster_new(&domain, names, 3);
  struct config *config = config_new(roster->tables, roster->table_count);
  set(config, "nodes", "9");
  expect(roster, config, "dir - 1ms 1ms 0% [a] 9;far - 1ms 1ms 0% [a] 9;near - 1ms 1ms 0% [a] 9;odd-1_X - 1ms 1ms 0% [a] 9;");
  set(config, "path.loss", "2%");
  set(config, "groups.far.path.rtt", "40ms");
  set(config, "groups.far.share", "15%");
  set(config, "groups.near.path.up.delay", "5ms");
  set(config, "groups.near.path.loss", "{gemodel: {p: 1%, r: 20%}}");
  set(config, "groups.near.share", "0%");
  set(config, "groups.odd-1_X.mode.offered", "[b, c]");
  expect(
      roster, config, "dir - 1ms 1ms 2% [a] 9;far 150000000 20ms 20ms 2% [a] 9;near 0 1ms 5ms {gemodel: {p: 1%, r: 20%}} [a] 9;odd-1_X - 1ms 1ms 2% [b, c] 9;");
  set(config, "path.up.delay", "7ms"); /* said of the point, it is no longer the group's delay */
  expect(
      roster, config, "dir - 1ms 7ms 2% [a] 9;far 150000000 20ms 7ms 2% [a] 9;near 0 1ms 5ms {gemodel: {p: 1%, r: 20%}} [a] 9;odd-1_X - 1ms 7ms 2% [b, c] 9;");
  config_free(config);
  roster_free(roster);
}

static void keys_and_metrics_in_order(void **state) {
  (void)state;
  static const char *const names[] = {"b", "a"};
  static const char *const keys[] = {"groups.b.share", "groups.b.path.delay", "groups.b.path.rtt", "groups.b.path.up.delay", "groups.b.path.loss",
      "groups.b.mode.offered", "groups.a.share", "groups.a.path.delay", "groups.a.path.rtt", "groups.a.path.up.delay", "groups.a.path.loss",
      "groups.a.mode.offered"};
  static const char *const metric_names[] = {"setup", "bytes", "setup@b", "bytes@b", "setup@a", "bytes@a"};
  struct roster *roster = roster_new(&domain, names, 2);
  assert_int_equal(roster->table_count, 4);
  assert_int_equal(roster->tables[3]->count, 12);
  for (int k = 0; k < 12; k++) assert_string_equal(roster->tables[3]->rows[k].key, keys[k]);
  assert_int_equal(roster->metric_count, 6);
  for (int m = 0; m < 6; m++) {
    assert_string_equal(roster->metrics[m].name, metric_names[m]);
    assert_int_equal(roster->metrics[m].unit, metrics[m % 2].unit);
    assert_ptr_equal(roster->metrics[m].from, metrics[m % 2].from);
  }
  assert_int_equal(roster_find(roster, "a.path", 1), 1);
  assert_int_equal(roster_find(roster, "b", 1), 0);
  assert_int_equal(roster_find(roster, "B", 1), -1);
  assert_int_equal(roster_find(roster, "", 0), -1);
  roster_free(roster);
}

static void refusals_come_through(void **state) {
  (void)state;
  static const char *const names[] = {"far"};
  struct roster *roster = roster_new(&domain, names, 1);
  struct config *config = config_new(roster->tables, roster->table_count);
  struct err e = {0};
  void *point = NULL;
  set(config, "nodes", "66");
  assert_int_equal(roster_prepare(roster, config, ".", NULL, &point, &e), ERR_INPUT);
  assert_string_equal(e.text, "nodes: found 66\n");
  err_free(&e);
  assert_int_equal(config_set(config, "groups.far.share", "120%", &e), ERR_INPUT);
  assert_string_equal(e.text, "groups.far.share: found 120%, allowed 0% to 100%\n");
  err_free(&e);
  assert_int_equal(config_set(config, "groups.far.path.delay", "2s", &e), ERR_INPUT);
  assert_string_equal(e.text, "groups.far.path.delay: found 2s, allowed 0s to 1s\n");
  err_free(&e);
  assert_int_equal(config_set(config, "groups.far.nodes", "2", &e), ERR_INPUT); /* is the whole population's */
  err_free(&e);
  config_free(config);
  roster_free(roster);
}

static void names(void **state) {
  (void)state;
  static const struct {
    const char *name;
    bool good;
  } rows[] = {{"rural", true}, {"5G", true}, {"a-b_C", true}, {"", false}, {"a b", false}, {"a.b", false}, {"a@b", false}, {"caf\xc3\xa9", false},
      {"12345678901234567890123456789012", true}, {"123456789012345678901234567890123", false}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) assert_int_equal(roster_is_name(rows[i].name, strlen(rows[i].name)), rows[i].good);
  assert_true(roster_is_name("rural area", 5));
}

struct listing {
  int count;
  char text[1024];
};
static void list_one(void *arg, const struct param *param, const char *text) {
  struct listing *listing = arg;
  size_t length = strlen(listing->text);
  snprintf(listing->text + length, sizeof listing->text - length, "%s=%s;", param->key, text);
  listing->count++;
}

/* A group says nothing of a key until it is set; then canonical, in table order. Preparing leaves the point's config alone. */
static void group_keys_are_silent_until_set(void **state) {
  (void)state;
  char far[] = "far", near[] = "near";
  const char *groups[] = {far, near};
  struct roster *roster = roster_new(&domain, groups, 2);
  far[0] = near[0] = 'x'; /* the names are the roster's own */
  struct config *config = config_new(roster->tables, roster->table_count);
  struct listing none = {0}, some = {0}, after = {0};
  config_each(config, list_one, &none);
  assert_string_equal(none.text, "nodes=1;path.delay=1ms;path.up.delay=1ms;path.loss=0%;mode.offered=[a];");
  assert_null(config_text(config, "groups.far.share"));
  assert_null(config_text(config, "groups.near.path.up.delay")); /* follows nothing: the point's does that */
  set(config, "groups.near.share", "250000ppm");
  set(config, "groups.near.path.rtt", "40000us");
  set(config, "groups.far.mode.offered", "c");
  config_each(config, list_one, &some);
  assert_string_equal(some.text + strlen(none.text), "groups.far.mode.offered=[c];groups.near.share=25%;groups.near.path.delay=20ms;");
  expect(roster, config, "dir - 1ms 1ms 0% [a] 1;far - 1ms 1ms 0% [c] 1;near 250000000 20ms 20ms 0% [a] 1;");
  config_each(config, list_one, &after);
  assert_string_equal(after.text, some.text);
  config_free(config);
  roster_free(roster);
}

static void as_many_groups_as_there_may_be(void **state) {
  (void)state;
  char text[ROSTER_GROUPS][16];
  const char *groups[ROSTER_GROUPS];
  for (int g = 0; g < ROSTER_GROUPS; g++) {
    snprintf(text[g], sizeof text[g], "g%d", g);
    groups[g] = text[g];
  }
  struct roster *roster = roster_new(&domain, groups, ROSTER_GROUPS);
  assert_int_equal(roster->metric_count, 2 * (1 + ROSTER_GROUPS));
  assert_string_equal(roster->metrics[2 * ROSTER_GROUPS + 1].name, "bytes@g63");
  assert_int_equal(roster->tables[3]->count, 6 * ROSTER_GROUPS);
  struct config *config = config_new(roster->tables, roster->table_count);
  set(config, "groups.g0.share", "1%");
  set(config, "groups.g63.mode.offered", "[z]"); /* the last row of the last group */
  struct err e = {0};
  void *point = NULL;
  assert_int_equal(roster_prepare(roster, config, "dir", NULL, &point, &e), 0);
  assert_non_null(strstr(seen, ";g0 10000000 1ms 1ms 0% [a] 1;g1 - 1ms"));
  assert_non_null(strstr(seen, ";g62 - 1ms 1ms 0% [a] 1;g63 - 1ms 1ms 0% [z] 1;"));
  config_free(config);
  roster_free(roster);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_groups_it_is_the_domain),
      cmocka_unit_test(groups_have_the_points_keys_and_their_own),
      cmocka_unit_test(keys_and_metrics_in_order),
      cmocka_unit_test(refusals_come_through),
      cmocka_unit_test(names),
      cmocka_unit_test(group_keys_are_silent_until_set),
      cmocka_unit_test(as_many_groups_as_there_may_be),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
