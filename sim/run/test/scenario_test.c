/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scenario files: what is read from good ones, and that every file of nasty/ gets the message nasty.txt asks for. */
// objects: sim/run/roster.o sim/run/scenario.o sim/run/algorithms.o models/crypto/alg.o models/crypto/alg_own.o sim/run/load.o sim/run/value.o sim/run/axes.o sim/run/range.o sim/run/skip.o sim/run/require.o sim/run/yaml.o
// objects: sim/run/utf8.o sim/run/names.o sim/run/problem.o sim/run/arena.o sim/run/test/sample_domain.o
// objects: sim/core/param.o sim/core/param_value.o sim/core/units.o sim/core/err.o
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

/* A name put together is one text, however it is written. */
static void names_put_together(void **state) {
  (void)state;
  static const char *const forms[] = {
      "platform: {initiator: {base: xeon, RSA.sign: ./r.csv, sign: ./h.csv}}",
      "platform.initiator: {sign: ./h.csv, rsa: {sign: ./r.csv}, base: xeon}",
      "platform.initiator.base: xeon\nplatform.initiator.sign: ./h.csv\nplatform.initiator.rsa.sign: ./r.csv",
      "platform: {initiator.base: xeon, initiator: {sign: ./h.csv}}\nplatform.initiator.rsa: {sign: ./r.csv}",
      "platform:\n  initiator:\n    base: xeon\n    sign: ./h.csv\n  initiator.rsa.sign: ./r.csv",
      "platform.initiator: 'xeon,rsa.sign=./r.csv,sign=./h.csv'",
  };
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    char text[256];
    snprintf(text, sizeof text, "scenario: e2\n%s\n", forms[i]);
    struct scenario *s = good((struct attempt){.text = text});
    assert_string_equal(config_text(s->base, "platform.initiator"), "xeon,rsa.sign=./r.csv,sign=./h.csv");
    scenario_free(s);
  }
  struct scenario *s =
      good((struct attempt){.text = "scenario: e2\nplatform.initiator: {base: a, sign: b}\ngroups: {far: {platform: {initiator: {base: c, sign: d}}}}\n"
                                    "groups.near.platform.initiator.base: e\ngroups.near.platform.initiator.verify: f\n"
                                    "sweep: [{platform.initiator: [g, {base: h, verify: i, sign: j}]}, {at: {x: {groups.far.platform.initiator: {base: k}},"
                                    " y: {groups.far.platform.initiator.base: l, groups.far.platform.initiator.sign: m}}}]\nskip: [{platform.initiator: {base: "
                                    "h, sign: j, verify: i}, at: x}]\n",
          .want_axes = true});
  assert_string_equal(config_text(s->base, "groups.far.platform.initiator"), "c,sign=d");
  assert_string_equal(config_text(s->base, "groups.near.platform.initiator"), "e,verify=f");
  assert_string_equal(s->axes[0].values[1].label, "h,sign=j,verify=i");
  assert_string_equal(s->axes[1].values[0].texts[0], "k");
  assert_string_equal(s->axes[1].values[1].texts[0], "l,sign=m");
  assert_int_equal(s->skip_count, 1);
  scenario_free(s);
  s = good((struct attempt){.text = "scenario: e2\n", .sets = {"platform.initiator={base: a, sign: ./b.csv}"}});
  assert_string_equal(config_text(s->base, "platform.initiator"), "a,sign=./b.csv");
  scenario_free(s);
}

static void names_put_together_wrong(void **state) {
  (void)state;
  refused((struct attempt){.text = "scenario: e2\nplatform.initiator: {sign: a}\n"},
      "s.yaml:2:21: platform.initiator: found a map without base, allowed {base: NAME, OPERATION: NAME, ...}: base names what states all other costs\n");
  refused((struct attempt){.text = "scenario: e2\nplatform:\n  initiator.sign: a\n"},
      "s.yaml:3:3: platform.initiator: found a map without base, allowed {base: NAME, OPERATION: NAME, ...}: base names what states all other costs\n");
  refused((struct attempt){.text = "scenario: e2\nplatform.initiator: {base: a, sgin: b, rsa: {drive: c}, verify: [d, e], sign: }\n"},
      "s.yaml:2:31: platform.initiator.sgin: found 'sgin', allowed sign, verify\n"
      "s.yaml:2:46: platform.initiator.rsa.drive: found 'drive', allowed sign, verify\n"
      "s.yaml:2:65: platform.initiator.verify: found a list, allowed one name, of a platform or ./FILE.csv, without commas; to sweep it, give each value "
      "whole: "
      "{base: NAME, ...}\n"
      "s.yaml:2:73: platform.initiator.sign: has no value, allowed a name or {base: NAME, OPERATION: NAME, ...}; remove the line to get the default\n");
  refused((struct attempt){.text = "scenario: e2\nplatform.initiator: {base: 'a,b', RSA.sign: c, rsa: {sign: d}}\n"},
      "s.yaml:2:28: platform.initiator.base: found \"a,b\", allowed one name, of a platform or ./FILE.csv, without commas\n"
      "s.yaml:2:54: platform.initiator.rsa.sign: rsa.sign is given twice; remove one of them\n");
  refused((struct attempt){.text = "scenario: e2\nplatform.initiator: {base: a}\nplatform.initiator.base: b\n"},
      "s.yaml:3:1: platform.initiator.base: base is given twice; remove one of them\n");
  refused((struct attempt){.text = "scenario: e2\nplatform.initiator: a\nplatform.initiator.sign: b\n"},
      "s.yaml:3:1: platform.initiator: given twice, first at line 2; remove one of them\n");
  refused((struct attempt){.text = "scenario: e2\nplatform.initiator: {base: nonsuch, sign: b}\n"},
      "s.yaml:2:21: platform.initiator: found 'nonsuch,sign=b', allowed another\n");
  refused((struct attempt){.text = "scenario: e2\nsweep: [{platform.initiator: {base: a, sign: b}}]\n", .want_axes = true},
      "s.yaml:2:30: platform.initiator: found a map, allowed a list of values, each a name or {base: NAME, OPERATION: NAME, ...}\n");
  refused((struct attempt){.text = "scenario: e2\nsweep: [{platform.initiator.sign: [a, b]}]\n", .want_axes = true},
      "s.yaml:2:10: platform.initiator: found a map, allowed a list of values, each a name or {base: NAME, OPERATION: NAME, ...}\n");
  refused((struct attempt){.text = "scenario: e2\n", .sets = {"platform.initiator={base: a, sgin: b}"}},
      "--set platform.initiator.sgin: found 'sgin', allowed sign, verify\n");
  refused((struct attempt){.text = "scenario: e2\npath.mtu: {base: a}\n"}, "s.yaml:2:11: path.mtu: found a map, allowed 68B to 65535B\n");
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
      "--set path.mtu: found '*x', which is not a number; wanted is a size, with one of B kB MB GB KiB MiB GiB\n");
  refused((struct attempt){.text = text, .sets = {"path.mtu=1500B", "path.mtu=1400B"}},
      "--set path.mtu: given twice, first at --set path.mtu; remove one of them\n");
  refused((struct attempt){.text = text, .sets = {"path.rtt=2ms", "path.delay=1ms"}},
      "--set path.delay: sets what path.rtt sets at --set path.rtt; keep one of them\n");
  refused((struct attempt){.text = text, .sets = {"sweep=[]", "scenario=bare"}},
      "--set sweep: belongs into the file; --set changes parameters, algorithms and the title\n"
      "--set scenario: belongs into the file; --set changes parameters, algorithms and the title\n");
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
  } rows[] = {{SAMPLE_SETUP, REQUIRE_LE, "p95", 60e9}, {SAMPLE_SUCCESS, REQUIRE_GE, "mean", 999000000}, {SAMPLE_SUCCESS, REQUIRE_GT, "mean", 300000000},
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

static const char *const fleet = "scenario: e2\nreplications: 2\n"
                                 "groups:\n"
                                 "  macro:  {path: {rtt: 8ms}}\n"
                                 "  rural:  {share: 15%, path: {rtt: 40ms, loss: 0.5%, mtu: 1400}}\n"
                                 "  legacy: {share: 40%, ipsec.offered: X25519, ipsec: {kex: none}}\n"
                                 "  plain:  {}\n"
                                 "groups.rural.path.up.delay: 1ms\n";

struct set_keys {
  char text[1024];
};
static void keep_set(void *arg, const struct param *param, const char *text) {
  struct set_keys *keys = arg;
  size_t length = strlen(keys->text);
  if (!strncmp(param->key, "groups.", 7)) snprintf(keys->text + length, sizeof keys->text - length, "%s=%s;", param->key + 7, text);
}

static void expect_group_keys(const struct scenario *s, const char *expected) {
  struct set_keys keys = {""};
  config_each(s->base, keep_set, &keys);
  assert_string_equal(keys.text, expected);
}

/* In the order in which groups are named, each one's keys in table order. */
static void groups_of_a_population(void **state) {
  (void)state;
  struct scenario *s = good((struct attempt){.text = fleet});
  static const char *const names[] = {"macro", "rural", "legacy", "plain"};
  assert_int_equal(s->roster->group_count, 4);
  for (int g = 0; g < 4; g++) assert_string_equal(s->roster->groups[g], names[g]);
  expect_group_keys(s, "macro.path.delay=4ms;rural.share=15%;rural.path.delay=20ms;rural.path.up.delay=1ms;rural.path.loss=0.5%;rural.path.mtu=1400B;"
                       "legacy.share=40%;legacy.ipsec.kex=none;legacy.ipsec.offered=[x25519];");
  assert_int_equal(config_number(s->base, "path.delay"), 100000);
  assert_int_equal(s->metric_count, 5 * SAMPLE_METRICS);
  assert_string_equal(s->roster->metrics[2 * SAMPLE_METRICS + SAMPLE_SUCCESS].name, "success@rural");
  scenario_free(s);

  /* --set goes over the file, and may name further groups, which come last */
  s = good((struct attempt){.text = fleet,
      .sets = {"groups.macro.path.delay=1ms", "groups.new.share=5%", "groups={rural: {share: 20%}, last: {}}", "groups.rural.path={mtu: 1300}"}});
  assert_int_equal(s->roster->group_count, 6);
  assert_string_equal(s->roster->groups[4], "new");
  assert_string_equal(s->roster->groups[5], "last");
  expect_group_keys(s, "macro.path.delay=1ms;rural.share=20%;rural.path.delay=20ms;rural.path.up.delay=1ms;rural.path.loss=0.5%;rural.path.mtu=1300B;"
                       "legacy.share=40%;legacy.ipsec.kex=none;legacy.ipsec.offered=[x25519];new.share=5%;");
  scenario_free(s);

  s = good((struct attempt){.text = "scenario: e2\n"});
  assert_int_equal(s->roster->group_count, 0);
  assert_int_equal(s->metric_count, SAMPLE_METRICS);
  scenario_free(s);
}

static void groups_on_axes(void **state) {
  (void)state;
  char text[2048];
  snprintf(text, sizeof text,
      "%ssweep:\n"
      "  - stage: {today: {groups.legacy.share: 100%%}, half: {groups: {legacy: {share: 40%%}}}, done: {groups.legacy.share: 0%%}}\n"
      "  - groups.rural.path.rtt: [20ms, 40ms]\n"
      "  - {groups.macro.path.loss: [0%%, 1%%], groups.plain.ipsec.offered: [[], [none, X25519]]}\n"
      "  - groups: {plain: {path: {delay: {from: 1ms, to: 100ms, steps: 3, scale: log}}}}\n"
      "skip: [{stage: done, groups.rural.path.rtt: 40ms}, {groups.plain.ipsec.offered: [], groups.legacy.share: 40%%}]\n",
      fleet);
  struct scenario *s = good((struct attempt){.text = text, .want_axes = true});
  assert_int_equal(s->axis_count, 4);
  assert_string_equal(s->axes[0].values[1].keys[0], "groups.legacy.share");
  assert_string_equal(s->axes[0].values[1].texts[0], "40%");
  assert_string_equal(s->axes[1].name, "groups.rural.path.rtt");
  assert_string_equal(s->axes[2].values[1].texts[1], "[none, x25519]");
  assert_string_equal(s->axes[3].values[1].label, "10ms");
  assert_int_equal(s->skip_count, 2);
  scenario_free(s);
  refused((struct attempt){.text = "scenario: e2\nsweep:\n  - groups.rural.share: [1%, 2%]\n", .want_axes = true},
      "s.yaml:3:5: groups.rural.share: unknown key; `groups:` names no group of which it could be\n");
  refused((struct attempt){.text = "scenario: e2\nsweep:\n  - groups: {rural: {share: [1%, 2%]}}\n", .want_axes = true},
      "s.yaml:3:5: groups: unknown key; `groups:` names no group of which it could be\n");
  refused(
      (struct attempt){.text = "scenario: e2\ngroups.rural.share: 5%\nsweep:\n  - groups: [1%, 2%]\n  - groups.rurla: {share: [1%, 2%]}\n", .want_axes = true},
      "s.yaml:4:13: groups: found a list, allowed a map of groups, such as {rural: {share: 15%}, macro: {}}\n"
      "s.yaml:5:5: groups.rurla: unknown key; did you mean groups.rural?\n");
}

static void metrics_of_groups(void **state) {
  (void)state;
  char text[1024];
  snprintf(text, sizeof text,
      "%smetrics: ['success@rural', tunnel_setup, tunnel_setup@plain]\nrequire: ['tunnel_setup@rural.p95 <= 1s', bytes_total@legacy < 1KiB]\n", fleet);
  struct scenario *s = good((struct attempt){.text = text});
  static const char *const kept[] = {"tunnel_setup", "tunnel_setup@macro", "tunnel_setup@rural", "success@rural", "tunnel_setup@legacy", "tunnel_setup@plain"};
  assert_int_equal(s->metric_count, 6);
  for (int m = 0; m < 6; m++) assert_string_equal(s->roster->metrics[s->metrics[m]].name, kept[m]);
  assert_int_equal(s->requirements[0].metric, 2 * SAMPLE_METRICS + SAMPLE_SETUP);
  assert_string_equal(s->requirements[0].stat, "p95");
  assert_true(s->requirements[0].bound == 1e9);
  assert_int_equal(s->requirements[1].metric, 3 * SAMPLE_METRICS + SAMPLE_BYTES);
  assert_true(s->requirements[1].bound == 1024);
  scenario_free(s);
}

static void groups_by_set_are_refused_by_name(void **state) {
  (void)state;
  refused((struct attempt){.text = fleet, .sets = {"groups.rural.sahre=5%", "groups.rural.share=120%", "groups.RURAL.share=1%", "groups=5"}},
      "--set groups.rural.sahre: unknown key; did you mean groups.rural.share?\n"
      "--set groups.rural.share: found 120%, allowed 0% to 100%\n"
      "--set groups: found rural and RURAL, which differ in case alone\n"
      "--set groups: found 5, allowed a map of groups, such as {rural: {share: 15%}, macro: {}}\n");
  refused((struct attempt){.text = fleet, .sets = {"groups.=5", "groups.a b.share=5%", "groups.rural=5%", "groups.rural.path.rtt=1ns"}},
      "--set groups: found the name '', allowed are letters, digits, - and _, at most 32 of them\n"
      "--set groups: found the name 'a b', allowed are letters, digits, - and _, at most 32 of them\n"
      "--set groups.rural: found 5%, but this is a group of keys such as groups.rural.share; write {} for a group without keys of its own\n"
      "--set groups.rural.path.rtt: found 1ns, which cannot be halved exactly; half of it goes to groups.rural.path.delay\n");
}

static void at_most_64_groups(void **state) {
  (void)state;
  for (int count = 64; count <= 70; count += 6) {
    char text[4096] = "scenario: e2\ngroups:\n";
    for (int g = 0; g < count; g++) sprintf(text + strlen(text), "  g%d: {share: 1%%}\n", g);
    if (count == 64)
      scenario_free(good((struct attempt){.text = text}));
    else
      refused((struct attempt){.text = text}, "s.yaml:67:3: groups: found g64 as one more than 64, the most there may be\n");
  }
}

static void names_in_lists(void **state) {
  (void)state;
  struct scenario *s = good((struct attempt){.want_axes = true,
      .text = "scenario: e2\nipsec:\n  offered:\n    - MLKEM768\n    - x25519\nsweep:\n  - ipsec.offered: [[x25519, mlkem768], x25519, []]\n"});
  assert_string_equal(config_text(s->base, "ipsec.offered"), "[mlkem768, x25519]");
  assert_string_equal(s->axes[0].values[0].label, "[x25519, mlkem768]");
  assert_string_equal(s->axes[0].values[1].label, "[x25519]");
  assert_string_equal(s->axes[0].values[2].label, "[]");
  scenario_free(s);
  s = good((struct attempt){.text = "scenario: e2\n", .sets = {"ipsec.offered=[None, X25519]"}});
  assert_string_equal(config_text(s->base, "ipsec.offered"), "[none, x25519]");
  scenario_free(s);
  refused((struct attempt){.text = "scenario: e2\nipsec.offered: ['x25519, mlkem768', [none], {a: b}, ]\n"},
      "s.yaml:2:17: ipsec.offered: found \"x25519, mlkem768\" in the list, allowed names\n"
      "s.yaml:2:37: ipsec.offered: found a list in the list, allowed names\n"
      "s.yaml:2:45: ipsec.offered: found a map in the list, allowed names\n");
  refused((struct attempt){.text = "scenario: e2\nipsec.offered: [x25519, none, mlkem768, mlkem1024]\n"},
      "s.yaml:2:16: ipsec.offered: found 4 names, allowed 0 to 3\n");
  refused((struct attempt){.text = "scenario: e2\nsweep:\n  - ipsec.offered: [[x25519, none], [X25519, none]]\n", .want_axes = true},
      "s.yaml:3:37: ipsec.offered: the axis has the value [x25519, none] twice\n");
}

/* The line and column of the value, which a contradiction found later is told with. */
static void places_of_values(void **state) {
  (void)state;
  const char *text = "scenario: e2\n"                                                   /* 1 */
                     "path: {rtt: 4ms}\n"                                               /* 2 */
                     "groups: {far: {share: 5%, path: {loss: 1%}}, near: {}}\n"         /* 3 */
                     "sweep:\n"                                                         /* 4 */
                     "  - path.mtu: [1400, 1500]\n"                                     /* 5 */
                     "  - stage: {a: {path.loss: 1%}, b: {groups.far.path.rtt: 2ms}}\n" /* 6 */
                     "  - {e2.nodes: {from: 1, to: 3, steps: 2}, path.up.delay: [1ms, 2ms]}\n" /* 7 */;
  struct scenario *s = good((struct attempt){.text = text, .sets = {"ipsec.kex=none"}, .want_axes = true});
  static const struct {
    int digits[3];
    const char *key;
    int set, line, column; /* line 0: a default */
  } rows[] = {
      {{0, 0, 0}, "path.mtu", 0, 5, 16},
      {{1, 0, 0}, "path.mtu", 0, 5, 22},
      {{0, 0, 0}, "path.delay", 0, 2, 13},
      {{0, 0, 1}, "path.up.delay", 0, 7, 65},
      {{0, 0, 1}, "e2.nodes", 0, 7, 16},
      {{0, 0, 0}, "path.loss", 0, 6, 28},
      {{0, 1, 0}, "path.loss", 0, 0, 0},
      {{0, 1, 0}, "groups.far.path.loss", 0, 3, 40},
      {{0, 1, 0}, "groups.near.path.loss", 0, 0, 0},
      {{0, 0, 0}, "groups.near.path.loss", 0, 6, 28},
      {{0, 1, 0}, "groups.far.path.delay", 0, 6, 58},
      {{0, 0, 0}, "groups.far.path.delay", 0, 2, 13},
      {{0, 0, 0}, "groups.far.path.up.delay", 0, 7, 60},
      {{0, 0, 0}, "groups.far.share", 0, 3, 23},
      {{0, 0, 0}, "groups", 0, 3, 1},
      {{0, 0, 0}, "ipsec.kex", 1, 1, 1},
      {{0, 0, 0}, "path.rate", 0, 0, 0},
      {{0, 0, 0}, "no such key", 0, 0, 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct place at = {0};
    bool found = scenario_place(s, rows[i].digits, rows[i].key, &at);
    if (found != (rows[i].line > 0) || (found && (at.set != rows[i].set || at.line != rows[i].line || at.column != rows[i].column)))
      fail_msg("row %zu: %s is said to be at %d:%d", i, rows[i].key, at.line, at.column);
  }
  scenario_free(s);
  struct place at;
  s = good((struct attempt){.text = text});
  assert_false(scenario_place(s, NULL, "path.mtu", &at));
  assert_true(scenario_place(s, NULL, "path.up.delay", &at)); /* follows path.delay */
  assert_int_equal(at.line, 2);
  scenario_free(s);
}

static void axis_names_differ_without_regard_to_case(void **state) {
  (void)state;
  refused((struct attempt){.want_axes = true,
              .text = "scenario: e2\nsweep:\n  - Stage: {a: {path.mtu: 1400}, b: {path.mtu: 1500}}\n  - stage: {a: {e2.nodes: 1}, b: {e2.nodes: 2}}\n"},
      "s.yaml:4:5: stage: names two axes; give each its own name\n");
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
  length = (size_t)sprintf(text, "scenario: e2\n"); /* with all the keys of 64 groups to be compared with */
  for (int i = 0; i < 30000; i++) length += (size_t)sprintf(text + length, "groups.g%d.path.mtv%d: 1\n", i % 64, i);
  expect_refused(write_file("hostile.yaml", text, length), &e);
  assert_int_equal(e.count, 101);
  err_free(&e);
  length = (size_t)sprintf(text, "scenario: e2\ngroups:\n");
  for (int i = 0; i < 45000; i++) length += (size_t)sprintf(text + length, "  g%d: {pith: {}}\n", i);
  expect_refused(write_file("hostile.yaml", text, length), &e);
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

/* The message has the line, or one that begins so when it ends in '*'; it may not be the only one. */
static void refused_with(struct attempt attempt, const char *line) {
  struct scenario *scenario = NULL;
  struct err e = {0};
  char whole[512];
  size_t length = strlen(line) - (line[strlen(line) - 1] == '*');
  snprintf(whole, sizeof whole, "%.*s%s", (int)length, line, line[length] ? "" : "\n");
  attempt.want_axes = true;
  if (load(&attempt, &scenario, &e) != ERR_INPUT) fail_msg("accepted, but expected: %s", line);
  if (!strstr(e.text, whole)) fail_msg("expected: %s\nfound: %s", line, e.text);
  err_free(&e);
}

static void groups_nested_and_dotted(void **state) {
  (void)state;
  static const char *const forms[] = {
      "groups: {rural: {share: 30%, path: {delay: 20ms}}, urban: {}}\n",
      "groups:\n  rural:\n    share: 300000ppm\n    path:\n      rtt: 40ms\n  urban: {}\n",
      "groups: {rural: {share: 30%, path.delay: 20ms}, urban: {}}\n",
      "groups: {rural.share: 30%, rural.path.delay: 20ms, urban: {}}\n",
      "groups: {rural.share: 30%, rural.path: {delay: 20ms}, urban: {}}\n",
      "groups.rural: {share: 30%, path: {delay: 20ms}}\ngroups.urban: {}\n",
      "groups.rural.share: 30%\ngroups.rural.path.delay: 20ms\ngroups.urban: {}\n",
      "groups.rural.path: {rtt: 40ms}\ngroups: {rural: {share: 30%}, urban: {}}\n",
  };
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    char text[256];
    snprintf(text, sizeof text, "scenario: e2\npath.delay: 1ms\n%s", forms[i]);
    struct scenario *s = good((struct attempt){.text = text, .want_axes = true});
    const struct roster *roster = s->roster;
    assert_ptr_equal(roster->domain, &sample_domain);
    assert_int_equal(roster->group_count, 2);
    assert_string_equal(roster->groups[0], "rural");
    assert_string_equal(roster->groups[1], "urban");
    assert_int_equal(config_number(s->base, "groups.rural.share"), 300000000);
    assert_string_equal(config_text(s->base, "groups.rural.path.delay"), "20ms");
    assert_false(config_is_set(s->base, "groups.urban.share"));
    assert_null(config_text(s->base, "groups.urban.path.delay"));
    assert_string_equal(config_text(s->base, "path.delay"), "1ms");
    scenario_free(s);
  }
}

static void values_of_every_kind_in_a_group(void **state) {
  (void)state;
  struct scenario *s = good((struct attempt){
      .text = "scenario: e2\ngroups:\n  a:\n    path: {rate: 1Mbit/s, mtu: 1400, queue: 64KiB, drop: [3, 5], loss: {gemodel: {p: 1%, r: 20%}}}\n"
              "    ipsec: {kex: MLKEM768, mode: Transport, childless: on}\n"});
  assert_int_equal(config_number(s->base, "groups.a.path.rate"), 1000000);
  assert_int_equal(config_number(s->base, "groups.a.path.mtu"), 1400);
  assert_int_equal(config_number(s->base, "groups.a.path.queue"), -65536);
  assert_string_equal(config_text(s->base, "groups.a.path.drop"), "[3, 5]");
  assert_string_equal(config_text(s->base, "groups.a.path.loss"), "{gemodel: {p: 1%, r: 20%}}");
  assert_string_equal(config_text(s->base, "groups.a.ipsec.kex"), "mlkem768");
  assert_string_equal(config_text(s->base, "groups.a.ipsec.mode"), "transport");
  assert_int_equal(config_number(s->base, "groups.a.ipsec.childless"), 1);
  scenario_free(s);
}

static void wrong_axes_over_groups(void **state) {
  (void)state;
  const char *text = "scenario: e2\ngroups: {rural: {share: 10%}}\nsweep:\n  - groups.rural.share: [10%, 20%]\n";
  refused((struct attempt){.text = text, .sets = {"groups.rural.share=5%"}, .want_axes = true},
      "s.yaml:4:5: groups.rural.share: swept here, but fixed by --set groups.rural.share; drop one of them\n");
  refused((struct attempt){.text = "scenario: e2\ngroups: {rural: {share: 10%}}\nsweep:\n  - groups.rurla.share: [10%, 20%]\n", .want_axes = true},
      "s.yaml:4:5: groups.rurla.share: unknown key; did you mean groups.rural.share?\n"); /* an axis makes no group */
  refused((struct attempt){.text = "scenario: e2\ngroups: {rural: {share: 10%}}\nsweep:\n  - groups.rural.share: [10%, 101%]\n", .want_axes = true},
      "s.yaml:4:31: groups.rural.share: found 101%, allowed 0% to 100%\n");
  refused((struct attempt){.text = "scenario: e2\ngroups: {rural: {}}\nsweep:\n  - {groups.rural.path.rtt: [2ms], groups.rural.path.delay: [1ms]}\n",
              .want_axes = true},
      "s.yaml:4:36: groups.rural.path.delay: sets what groups.rural.path.rtt sets, swept at line 4; keep one of them\n");
  refused((struct attempt){.text = "scenario: e2\ngroups: {rural: {}, urban: {share: 5%}}\nsweep:\n  - groups.rural.share: [10%, 20%]\n"
                                   "skip: [{groups.rural.share: 15%}, {groups.urban.share: 5%}]\n",
              .want_axes = true},
      "s.yaml:5:29: groups.rural.share: skip: no point has 15%; the axis has 10%, 20%\n"
      "s.yaml:5:36: groups.urban.share: skip: not swept, so it cannot tell points apart\n");
}

/* A total in `metrics:` brings those of the groups; a group's alone comes alone. */
static void a_total_brings_its_groups(void **state) {
  (void)state;
  static const struct {
    const char *chosen;
    int count, metrics[6];
  } rows[] = {
      {"[success]", 3, {SAMPLE_SUCCESS, SAMPLE_METRICS + SAMPLE_SUCCESS, 2 * SAMPLE_METRICS + SAMPLE_SUCCESS}},
      {"[success@b]", 1, {2 * SAMPLE_METRICS + SAMPLE_SUCCESS}},
      {"[success@b, tunnel_setup@a]", 2, {SAMPLE_METRICS + SAMPLE_SETUP, 2 * SAMPLE_METRICS + SAMPLE_SUCCESS}},
      {"[success@a, success]", 3, {SAMPLE_SUCCESS, SAMPLE_METRICS + SAMPLE_SUCCESS, 2 * SAMPLE_METRICS + SAMPLE_SUCCESS}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[256];
    snprintf(text, sizeof text, "scenario: e2\ngroups: {a: {}, b: {share: 20%%}}\nmetrics: %s\n", rows[i].chosen);
    struct scenario *s = good((struct attempt){.text = text});
    assert_int_equal(s->metric_count, rows[i].count);
    for (int m = 0; m < rows[i].count; m++) assert_int_equal(s->metrics[m], rows[i].metrics[m]);
    scenario_free(s);
  }
  struct scenario *s = good((struct attempt){
      .text = "scenario: e2\ngroups: {a: {}, b-2: {}}\nrequire: ['tunnel_setup@b-2.p95 <= 1s', success@a > 0.5, bytes_total@a.max < 10KiB]\n"});
  assert_int_equal(s->requirement_count, 3);
  assert_int_equal(s->requirements[0].metric, 2 * SAMPLE_METRICS + SAMPLE_SETUP);
  assert_string_equal(s->requirements[0].stat, "p95");
  assert_true(s->requirements[0].bound == 1e9);
  assert_int_equal(s->requirements[1].metric, SAMPLE_METRICS + SAMPLE_SUCCESS);
  assert_string_equal(s->requirements[1].stat, "mean"); /* of a share, in a group too */
  assert_int_equal(s->requirements[2].metric, SAMPLE_METRICS + SAMPLE_BYTES);
  assert_true(s->requirements[2].bound == 10240);
  scenario_free(s);
  refused((struct attempt){.text = "scenario: e2\ngroups: {rural: {}}\nmetrics: [success@rurl]\nrequire: ['success@rural@rural > 0', success@ > 0]\n"},
      "s.yaml:3:11: metrics: unknown metric success@rurl, did you mean success@rural; e2 has tunnel_setup, bytes_total, retransmissions, success, "
      "ipsec_overhead; each also with @rural\n"
      "s.yaml:4:11: require: unknown metric success@rural@rural, did you mean success@rural; e2 has tunnel_setup, bytes_total, retransmissions, success, "
      "ipsec_overhead; each also with @rural\n"
      "s.yaml:4:38: require: unknown metric success@, did you mean success; e2 has tunnel_setup, bytes_total, retransmissions, success, ipsec_overhead; each "
      "also with @rural\n");
}

static void wrong_groups(void **state) {
  (void)state;
  static const struct {
    const char *groups, *line;
  } rows[] = {
      {"groups: {rural: {share: 120%}}", ":2:25: groups.rural.share: found 120%, allowed 0% to 100%"},
      {"groups: {rural: {share: 0.2}}", ":2:25: groups.rural.share: found '0.2' without a unit, allowed are % ppm"},
      {"groups: {rural: {share: [10%, 20%]}}", ":2:25: groups.rural.share: found a list, allowed 0% to 100%; several values belong under sweep:"},
      {"groups: {rural: {path: {dealy: 1ms}}}", ":2:25: groups.rural.path.dealy: unknown key; did you mean groups.rural.path.delay?"},
      {"groups.rural.ipsec.kx: none", ":2:1: groups.rural.ipsec.kx: unknown key; did you mean groups.rural.ipsec.kex?"},
      {"groups: {rural: {shere: 10%}, urban: {}}", ":2:18: groups.rural.shere: unknown key; did you mean groups.rural.share?"},
      {"groups: {rural: {path.mtu: 27B}}", ":2:28: groups.rural.path.mtu: found 27B, allowed 68B to 65535B"},
      {"groups: {rural: {path: {delay: 1ms, rtt: 2ms}}}", ":2:37: groups.rural.path.rtt: sets what groups.rural.path.delay sets at line 2; keep one of them"},
      {"groups: {rural: {share: 10%}}\ngroups.rural.share: 20%", ":3:1: groups.rural.share: given twice, first at line 2; remove one of them"},
      {"groups: {rural: 5}",
          ":2:10: groups.rural: found 5, but this is a group of keys such as groups.rural.share; write {} for a group without keys of its own"},
      {"groups: {rural: }",
          ":2:10: groups.rural: found nothing, but this is a group of keys such as groups.rural.share; write {} for a group without keys of its own"},
      {"groups: {a b: {}}", ":2:10: groups: found the name 'a b', allowed are letters, digits, - and _, at most 32 of them"},
      {"groups: {ok: {}, a@b: {share: 10%}}", ":2:18: groups: found the name 'a@b', allowed are letters, digits, - and _, at most 32 of them"},
      {"groups: {\xc3\xa4: {}}", ":2:10: groups: found the name '\xc3\xa4', allowed are letters, digits, - and _, at most 32 of them"},
      {"groups: {abcdefghijklmnopqrstuvwxyzabcdefg: {}}",
          ":2:10: groups: found the name 'abcdefghijklmnopqrstuvwxyzabcdefg', allowed are letters, digits, - and _, at most 32 of them"},
      {"groups.: {}", ":2:1: groups: found the name '', allowed are letters, digits, - and _, at most 32 of them"},
      {"groups: {Rural: {share: 10%}, rural: {share: 20%}}", ":2:31: groups: found Rural and rural, which differ in case alone"},
      {"groups.rural.share: 10%\ngroups: {rurAl: {}}", ":3:10: groups: found rural and rurAl, which differ in case alone"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[256];
    snprintf(text, sizeof text, "scenario: e2\n%s\n", rows[i].groups);
    refused_with((struct attempt){.text = text}, rows[i].line);
  }
  refused_with((struct attempt){.text = "scenario: bare\ngroups: {a: {share: 10%}}\n"}, ":2:1: groups: bare has no groups; remove them");
  refused_with((struct attempt){.text = "scenario: bare\n", .sets = {"groups.a.share=10%"}}, "--set groups: bare has no groups; remove them");
  refused_with((struct attempt){.text = "scenario: e2\ngroups: {rural: {e2.nodes: 5}}\n"}, ":2:18: groups.rural.e2.nodes: unknown key*");
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
      cmocka_unit_test(names_put_together),
      cmocka_unit_test(names_put_together_wrong),
      cmocka_unit_test(sets_go_over_the_file),
      cmocka_unit_test(sets_are_refused_by_name),
      cmocka_unit_test(axes_of_every_kind),
      cmocka_unit_test(lists_by_equal_factors_are_logarithmic),
      cmocka_unit_test(a_fixed_key_is_not_swept),
      cmocka_unit_test(metrics_and_requirements),
      cmocka_unit_test(groups_of_a_population),
      cmocka_unit_test(groups_on_axes),
      cmocka_unit_test(metrics_of_groups),
      cmocka_unit_test(groups_by_set_are_refused_by_name),
      cmocka_unit_test(at_most_64_groups),
      cmocka_unit_test(groups_nested_and_dotted),
      cmocka_unit_test(values_of_every_kind_in_a_group),
      cmocka_unit_test(wrong_axes_over_groups),
      cmocka_unit_test(a_total_brings_its_groups),
      cmocka_unit_test(wrong_groups),
      cmocka_unit_test(names_in_lists),
      cmocka_unit_test(places_of_values),
      cmocka_unit_test(axis_names_differ_without_regard_to_case),
      cmocka_unit_test(all_problems_in_the_order_of_the_file),
      cmocka_unit_test(nasty_files_get_their_message),
      cmocka_unit_test(hostile_files_cost_little),
      cmocka_unit_test(files_that_cannot_be_read),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
