/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scenario files: what is read from good ones, and that every file of nasty/ gets the message nasty.txt asks for. */
// objects: sim/run/roster.o sim/run/scenario.o sim/run/load.o sim/run/value.o sim/run/axes.o sim/run/range.o sim/run/skip.o sim/run/require.o sim/run/yaml.o
// objects: sim/run/utf8.o sim/run/names.o sim/run/problem.o sim/run/arena.o sim/run/test/sample_domain.o
// objects: sim/core/param.o sim/core/units.o sim/core/err.o
// libs: -lyaml
#include "sim/run/scenario.h"
#include "sim/run/test/sample_domain.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#define NASTY "sim/run/test/nasty/"

static char folder[] = "/tmp/scenario_test.XXXXXX";

static const char *write_file(const char *name, const char *bytes, size_t size) {
  static char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
  return path;
}

/* Loads text as a file; up to four --set, NULL ends. */
struct attempt {
  const char *text;
  const char *sets[4];
  bool want_axes;
};

static int load(const struct attempt *attempt, struct scenario **out, struct err *e) {
  int count = 0;
  while (count < 4 && attempt->sets[count]) count++;
  return scenario_load(write_file("s.yaml", attempt->text, strlen(attempt->text)), attempt->sets, count, attempt->want_axes, out, e);
}

static struct scenario *good(struct attempt attempt) {
  struct scenario *scenario = NULL;
  struct err e = {0};
  if (load(&attempt, &scenario, &e)) fail_msg("refused:\n%s", e.text);
  return scenario;
}

/* Every expected line, in order, behind the file's name. */
static void refused(struct attempt attempt, const char *expected) {
  struct scenario *scenario = NULL;
  struct err e = {0};
  char message[2048] = "";
  assert_int_equal(load(&attempt, &scenario, &e), ERR_INPUT);
  assert_null(scenario);
  for (char *line = strtok(e.text, "\n"); line; line = strtok(NULL, "\n")) {
    size_t prefix = strncmp(line, folder, strlen(folder)) ? 0 : strlen(folder) + 1, used = strlen(message);
    snprintf(message + used, sizeof message - used, "%s\n", line + prefix);
  }
  assert_string_equal(message, expected);
  err_free(&e);
}

static void base_values_and_defaults(void **state) {
  (void)state;
  struct scenario *s = good((struct attempt){.text = "scenario: e2\ntitle: A title\nseed: 7\nreplications: 1e3\n"
                                                     "path: {rate: 1Mbit/s, up: {delay: 3ms}}\npath.loss: {gemodel: {p: 1%, r: 20%}}\n"
                                                     "path.drop: [3, 5]\nipsec:\n  kex: MLKEM768\n  childless: yes\n  mode: transport\n"});
  assert_ptr_equal(s->domain, &sample_domain);
  assert_string_equal(s->title, "A title");
  assert_string_equal(s->base_dir, folder);
  assert_int_equal(config_number(s->base, "seed"), 7);
  assert_int_equal(config_number(s->base, "replications"), 1000);
  assert_int_equal(config_number(s->base, "path.rate"), 1000000);
  assert_int_equal(config_number(s->base, "path.up.delay"), 3000000);
  assert_int_equal(config_number(s->base, "path.delay"), 100000);
  assert_string_equal(config_text(s->base, "ipsec.kex"), "mlkem768");
  assert_int_equal(config_number(s->base, "ipsec.childless"), 1);
  assert_int_equal(config_number(s->base, "ipsec.mode"), 1);
  struct param_loss loss;
  config_loss(s->base, "path.loss", &loss);
  assert_true(loss.gemodel && loss.p_ppb == 10000000 && loss.r_ppb == 200000000);
  int64_t drop[4];
  assert_int_equal(config_list(s->base, "path.drop", drop, 4), 2);
  assert_int_equal(drop[1], 5);
  assert_int_equal(s->axis_count, 0);
  assert_int_equal(s->metric_count, SAMPLE_METRICS);
  scenario_free(s);

  s = good((struct attempt){.text = "\xef\xbb\xbfscenario: bare\n"});
  assert_int_equal(config_number(s->base, "seed"), 1);
  assert_int_equal(config_number(s->base, "replications"), 1);
  assert_string_equal(s->title, "");
  assert_string_equal(s->text, "\xef\xbb\xbfscenario: bare\n");
  scenario_free(s);
}

/* JSON and YAML 1.2 write ten million in many ways; the seed takes them all and nothing above 2^63-1. */
static void counts_in_every_form(void **state) {
  (void)state;
  static const char *const forms[] = {"10000000", "1e7", "1.0e7", "1.0e+7", "+10000000", "100000000e-1", "10000000.0", "1E7"};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    char text[64];
    snprintf(text, sizeof text, "scenario: bare\nseed: %s\n", forms[i]);
    struct scenario *s = good((struct attempt){.text = text});
    assert_int_equal(config_number(s->base, "seed"), 10000000);
    scenario_free(s);
  }
  struct scenario *s = good((struct attempt){.text = "scenario: bare\nseed: 9223372036854775807\nreplications: 1000000000\n"});
  assert_true(config_number(s->base, "seed") == INT64_MAX);
  scenario_free(s);
}

static void sets_go_over_the_file(void **state) {
  (void)state;
  const char *text = "scenario: e2\ntitle: file\npath: {delay: 1ms, mtu: 1400}\n";
  struct scenario *s = good((struct attempt){.text = text, .sets = {"path.rtt=20ms", "title=mine", "path.loss={gemodel: {p: 1%, r: 2%}}", "path.drop=[3]"}});
  assert_int_equal(config_number(s->base, "path.delay"), 10000000);
  assert_int_equal(config_number(s->base, "path.mtu"), 1400);
  assert_string_equal(s->title, "mine");
  assert_int_equal(config_list(s->base, "path.drop", NULL, 0), 1);
  scenario_free(s);
  s = good((struct attempt){.text = text, .sets = {"path={rate: 1Mbit/s, mtu: 1500B}", "path.delay=2ms"}});
  assert_int_equal(config_number(s->base, "path.rate"), 1000000);
  assert_int_equal(config_number(s->base, "path.mtu"), 1500);
  assert_int_equal(config_number(s->base, "path.delay"), 2000000);
  scenario_free(s);
}

static void sets_are_refused_by_name(void **state) {
  (void)state;
  const char *text = "scenario: e2\n";
  refused((struct attempt){.text = text, .sets = {"path.mut=1500B", "nothing", "=5", "path.mtu=*x"}},
      "--set path.mut: unknown key; did you mean path.mtu?\n"
      "--set nothing: found no KEY=VALUE, such as --set path.delay=10ms\n"
      "--set : found no KEY=VALUE, such as --set path.delay=10ms\n"
      "--set path.mtu: alias *x: anchors and aliases are not read; write the value out\n");
  refused((struct attempt){.text = text, .sets = {"path.mtu=1500B", "path.mtu=1400B"}},
      "--set path.mtu: given twice, first at --set path.mtu; remove one of them\n");
  refused((struct attempt){.text = text, .sets = {"path.rtt=2ms", "path.delay=1ms"}},
      "--set path.delay: sets what path.rtt sets at --set path.rtt; keep one of them\n");
  refused((struct attempt){.text = text, .sets = {"sweep=[]", "scenario=bare"}},
      "--set sweep: belongs into the file; --set changes parameters and the title\n"
      "--set scenario: belongs into the file; --set changes parameters and the title\n");
  refused((struct attempt){.text = text, .sets = {"e2.nodes="}}, "--set e2.nodes: has no value, allowed 1 to 2000000; remove the line to get the default\n");
}

static void axes_of_every_kind(void **state) {
  (void)state;
  struct scenario *s = good((struct attempt){.want_axes = true,
      .text = "scenario: e2\nsweep:\n"
              "  - ipsec.kex: [none, X25519, mlkem768]\n"
              "  - path.delay: {from: 100us, to: 10ms, steps: 3, scale: log}\n"
              "  - {path.loss: [0%, 1%], ipsec.retransmit_timeout: [4s, 1s]}\n"
              "  - stage: {today: {e2.share: 100%, e2.nodes: 5}, done: {e2: {share: 0%}}}\n"
              "  - path: {mtu: {from: 1000B, to: 2000B, steps: 3}}\n"
              "  - path.drop: [[], [3], [3, 5]]\n"
              "skip: [{ipsec.kex: NONE, path.loss: 1%}, {stage: done, path.drop: [3]}, {e2.nodes: 5}]\n"});
  assert_int_equal(s->axis_count, 6);
  const struct axis *axes = s->axes;
  assert_string_equal(axes[0].name, "ipsec.kex");
  assert_string_equal(axes[0].values[1].label, "x25519");
  assert_false(axes[0].logarithmic);
  assert_true(axes[1].logarithmic);
  assert_string_equal(axes[1].values[1].label, "1ms"); /* the middle of 100us and 10ms */
  assert_int_equal(axes[2].count, 2);
  assert_int_equal(axes[2].values[1].count, 2);
  assert_string_equal(axes[2].values[1].keys[1], "ipsec.retransmit_timeout");
  assert_string_equal(axes[2].values[1].texts[1], "1s");
  assert_string_equal(axes[3].name, "stage");
  assert_null(axes[3].param);
  assert_string_equal(axes[3].values[0].label, "today");
  assert_int_equal(axes[3].values[0].count, 2);
  assert_string_equal(axes[3].values[1].keys[0], "e2.share");
  assert_string_equal(axes[4].values[1].label, "1500B");
  assert_false(axes[4].logarithmic);
  assert_string_equal(axes[5].values[2].label, "[3, 5]");
  assert_int_equal(s->skip_count, 3);
  assert_string_equal(s->skips[0].texts[0], "none");
  assert_string_equal(s->skips[1].keys[0], "stage");
  scenario_free(s);
}

static void lists_by_equal_factors_are_logarithmic(void **state) {
  (void)state;
  static const struct {
    const char *values;
    bool logarithmic;
  } rows[] = {{"[1ms, 10ms, 100ms]", true}, {"[1ms, 3.16ms, 10ms]", true}, {"[1ms, 2ms, 3ms]", false}, {"[1ms, 10ms]", false}, {"[100ms, 10ms, 1ms]", false},
      {"[0s, 1ms, 10ms]", false}, {"[10ms, 11ms, 12.1ms]", false}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[128];
    snprintf(text, sizeof text, "scenario: e2\nsweep:\n  - path.delay: %s\n", rows[i].values);
    struct scenario *s = good((struct attempt){.text = text, .want_axes = true});
    assert_int_equal(s->axes[0].logarithmic, rows[i].logarithmic);
    scenario_free(s);
  }
}

static void a_fixed_key_is_not_swept(void **state) {
  (void)state;
  const char *text = "scenario: e2\nsweep:\n  - path.delay: [1ms, 2ms]\nskip: [{path.delay: 2ms}]\n";
  refused((struct attempt){.text = text, .sets = {"path.rtt=2ms"}, .want_axes = true},
      "s.yaml:3:5: path.delay: swept here, but fixed by --set path.rtt; drop one of them\n");
  struct scenario *s = good((struct attempt){.text = text, .sets = {"path.rtt=6ms"}});
  assert_int_equal(s->axis_count, 0);
  assert_int_equal(s->skip_count, 0);
  assert_int_equal(config_number(s->base, "path.delay"), 3000000);
  scenario_free(s);
  /* an axis over path.rtt may replace the file's path.delay */
  s = good((struct attempt){.text = "scenario: e2\npath.delay: 1ms\nsweep:\n  - path.rtt: [2ms, 3ms]\n", .want_axes = true});
  assert_string_equal(s->axes[0].values[1].label, "3ms");
  scenario_free(s);
}

static void metrics_and_requirements(void **state) {
  (void)state;
  struct scenario *s = good((struct attempt){.text = "scenario: e2\nmetrics: [bytes_total, tunnel_setup]\nrequire:\n"
                                                     "  - tunnel_setup.p95 <= 60s\n  - success.mean>=99.9%\n  - success > 0.3\n  - bytes_total.max < 10KiB\n"
                                                     "  - retransmissions.mean <= 0.5\n  - ipsec_overhead >= -2ms\n  - tunnel_setup.failed <= 3\n"});
  assert_int_equal(s->metric_count, 2);
  assert_int_equal(s->metrics[0], SAMPLE_SETUP);
  assert_int_equal(s->metrics[1], SAMPLE_BYTES);
  static const struct {
    int metric, op;
    const char *stat;
    double bound;
  } rows[] = {{SAMPLE_SETUP, REQUIRE_LE, "p95", 60e9}, {SAMPLE_SUCCESS, REQUIRE_GE, "mean", 999000000}, {SAMPLE_SUCCESS, REQUIRE_GT, "p50", 300000000},
      {SAMPLE_BYTES, REQUIRE_LT, "max", 10240}, {SAMPLE_RETRANSMISSIONS, REQUIRE_LE, "mean", 0.5}, {SAMPLE_OVERHEAD, REQUIRE_GE, "p50", -2e6},
      {SAMPLE_SETUP, REQUIRE_LE, "failed", 3}};
  assert_int_equal(s->requirement_count, 7);
  for (int i = 0; i < 7; i++) {
    assert_int_equal(s->requirements[i].metric, rows[i].metric);
    assert_int_equal(s->requirements[i].op, rows[i].op);
    assert_string_equal(s->requirements[i].stat, rows[i].stat);
    assert_true(s->requirements[i].bound == rows[i].bound);
  }
  assert_string_equal(s->requirements[0].text, "tunnel_setup.p95 <= 60s");
  scenario_free(s);
}

static void all_problems_in_the_order_of_the_file(void **state) {
  (void)state;
  refused((struct attempt){.text = "sweep:\n  - e2.nodes: []\nscenario: e2\npath: {mtu: 27B}\nwhat: 1\npath: {}\n", .sets = {"seed=-1"}, .want_axes = true},
      "s.yaml:2:15: e2.nodes: the axis is empty; give at least one value\n"
      "s.yaml:4:13: path.mtu: found 27B, allowed 68B to 65535B\n"
      "s.yaml:5:1: what: unknown key; `pqnetsim params e2` lists what there is\n"
      "s.yaml:6:1: path: given twice, first at line 4; remove one of them\n"
      "--set seed: found -1, allowed 0 or more\n");
}

/* Loads a file and returns the message; 1 s and 100 MB are the bounds for anything hostile. */
static void expect_refused(const char *path, struct err *e) {
  struct scenario *scenario = NULL;
  struct timespec from, to;
  clock_gettime(CLOCK_MONOTONIC, &from);
  int code = scenario_load(path, NULL, 0, true, &scenario, e);
  clock_gettime(CLOCK_MONOTONIC, &to);
  if (code != ERR_INPUT) fail_msg("%s: code %d", path, code);
  assert_null(scenario);
  assert_true((double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec) < 1);
}

static void nasty_files_get_their_message(void **state) {
  (void)state;
  FILE *table = fopen(NASTY "nasty.txt", "r");
  assert_non_null(table);
  char line[2048];
  int files = 0, missing = 0;
  while (fgets(line, sizeof line, table)) {
    line[strcspn(line, "\n")] = '\0';
    if (line[0] == '#') continue;
    char path[sizeof NASTY + sizeof line], *rest = strstr(line, " | ");
    struct err e = {0};
    assert_non_null(rest);
    *rest = '\0';
    snprintf(path, sizeof path, NASTY "%s", line);
    expect_refused(path, &e);
    for (char *fragment = rest + 3, *next; fragment; fragment = next) {
      next = strstr(fragment, " | ");
      if (next) {
        *next = '\0';
        next += 3;
      }
      if (strstr(e.text, fragment)) continue;
      print_error("%s lacks \"%s\"\n", line, fragment);
      missing++;
    }
    if (getenv("SHOW_MESSAGES")) fputs(e.text, stderr);
    err_free(&e);
    files++;
  }
  fclose(table);
  assert_int_equal(missing, 0);
  assert_true(files > 30);
}

static void hostile_files_cost_little(void **state) {
  (void)state;
  enum { SIZE = 1 << 20 };
  static const char *const units[] = {"[", "{a: ", "- ", "*a,", "a,", "'',", "? ", "&a "};
  char *text = malloc(SIZE + 64);
  assert_non_null(text);
  for (size_t u = 0; u < sizeof units / sizeof *units; u++)
    for (int nested = 0; nested < 2; nested++) {
      struct err e = {0};
      size_t length = (size_t)sprintf(text, nested ? "scenario: e2\nsweep:\n - e2.nodes: [" : "scenario: e2\nx: "), unit = strlen(units[u]);
      while (length + unit < SIZE - 1) {
        memcpy(text + length, units[u], unit);
        length += unit;
      }
      expect_refused(write_file("hostile.yaml", text, length), &e);
      err_free(&e);
    }
  size_t length = (size_t)sprintf(text, "scenario: e2\n");
  for (int i = 0; i < 45000; i++) length += (size_t)sprintf(text + length, "path.mtv%d: 1\n", i);
  struct err e = {0};
  expect_refused(write_file("hostile.yaml", text, length), &e);
  assert_int_equal(e.count, 101);
  err_free(&e);
  free(text);
}

static void files_that_cannot_be_read(void **state) {
  (void)state;
  struct scenario *scenario = NULL;
  struct err e = {0};
  char expected[256];
  assert_int_equal(scenario_load("/nowhere/x.yaml", NULL, 0, true, &scenario, &e), ERR_INPUT);
  assert_string_equal(e.text, "/nowhere/x.yaml: cannot be opened: No such file or directory\n");
  err_free(&e);
  assert_int_equal(scenario_load(folder, NULL, 0, true, &scenario, &e), ERR_INPUT);
  snprintf(expected, sizeof expected, "%s: is a folder; name a scenario file in it\n", folder);
  assert_string_equal(e.text, expected);
  err_free(&e);
  assert_int_equal(scenario_load("/dev/zero", NULL, 0, true, &scenario, &e), ERR_INPUT);
  assert_string_equal(e.text, "/dev/zero: longer than 1048576 bytes, which no scenario needs\n");
  err_free(&e);
}

static int make_folder(void **state) {
  (void)state;
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
  (void)state;
  static const char *const names[] = {"s.yaml", "hostile.yaml"};
  char path[256];
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    unlink(path);
  }
  return rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(base_values_and_defaults),
      cmocka_unit_test(counts_in_every_form),
      cmocka_unit_test(sets_go_over_the_file),
      cmocka_unit_test(sets_are_refused_by_name),
      cmocka_unit_test(axes_of_every_kind),
      cmocka_unit_test(lists_by_equal_factors_are_logarithmic),
      cmocka_unit_test(a_fixed_key_is_not_swept),
      cmocka_unit_test(metrics_and_requirements),
      cmocka_unit_test(all_problems_in_the_order_of_the_file),
      cmocka_unit_test(nasty_files_get_their_message),
      cmocka_unit_test(hostile_files_cost_little),
      cmocka_unit_test(files_that_cannot_be_read),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
