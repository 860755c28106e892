/* SPDX-License-Identifier: GPL-3.0-or-later */
// objects: output/table_run.o output/metric_json.o output/json.o output/grid.o output/stats.o sim/core/err.o sim/core/units.o sim/core/metric.o
// libs: -lgsl -lgslcblas -lm
#include "output/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const struct metric_def defs[] = {
    {"tunnel_setup", METRIC_TIME, "initiation", "CHILD_SA installed", NULL},
    {"rekey", METRIC_TIME, "a", "b", NULL},
    {"bytes_total", METRIC_BYTES, "IP bytes", NULL, NULL},
};
static const int chosen[] = {0, 2};

/* Replications of 10 + r ms, a quarter of it crypto. */
static struct metric_set *results(int replications) {
  struct metric_set *set = metric_set_new(defs, 3);
  for (int r = 0; r < replications; r++) {
    int64_t parts[PART_COUNT] = {[PART_KEX] = 2500000 + r * 250000, [PART_PROPAGATION] = 7500000 + r * 750000};
    metric_sample(set, 0, 10000000 + r * 1000000, parts);
    metric_sample(set, 2, 1234, NULL);
    metric_end_replication(set);
  }
  return set;
}

static char *written(const struct table_run *run, void (*write)(const struct table_run *run, FILE *to)) {
  char *bytes;
  size_t size;
  FILE *to = open_memstream(&bytes, &size);
  write(run, to);
  fclose(to);
  return bytes;
}

static void json(void **state) {
  (void)state;
  static const char *const warnings[] = {"only \"one\"", "replication"};
  struct metric_set *set = results(1);
  const struct table_run run = {.scenario = "e2",
      .backend = "native",
      .parameters = "ipsec.kex\tmlkem768\npath.delay\t100us\ntitle\t\n",
      .seed = 7,
      .replications = 1,
      .defs = defs,
      .metrics = set,
      .chosen = chosen,
      .chosen_count = 2,
      .warnings = warnings,
      .warning_count = 2};
  char *text = written(&run, table_run_json);
  assert_string_equal(text, "{\"scenario\": \"e2\", \"backend\": \"native\", \"seed\": 7, \"replications\": 1,\n"
                            " \"point\": {\n  \"ipsec.kex\": \"mlkem768\",\n  \"path.delay\": \"100us\",\n  \"title\": \"\"},\n"
                            " \"metrics\": {\n"
                            "  \"tunnel_setup\": {\"unit\": \"ms\", \"from\": \"initiation\", \"to\": \"CHILD_SA installed\", \"n\": 1, \"mean\": 10, \"sd\": "
                            "0, \"cv\": 0, \"iqr\": 0, \"ci95\": null, \"min\": 10, \"p5\": 10, "
                            "\"p25\": 10, \"p50\": 10, \"p75\": 10, \"p95\": 10, \"p99\": 10, \"max\": 10, \"failed\": 0, \"breakdown\": {\"crypto\": 2.5, "
                            "\"cpu_queue\": 0, \"serialisation\": 0, \"link_queue\": 0, "
                            "\"propagation\": 7.5, \"transport_stall\": 0, \"radio_wait\": 0, \"key_wait\": 0, \"software\": 0, \"application\": 0}, "
                            "\"crypto_parts\": {\"kex\": 2.5, \"sign\": 0, \"cert_verify\": 0, \"symmetric\": 0}},\n"
                            "  \"bytes_total\": {\"unit\": \"B\", \"from\": \"IP bytes\", \"to\": null, \"n\": 1, \"mean\": 1234, \"sd\": 0, \"cv\": 0, "
                            "\"iqr\": 0, \"ci95\": null, \"min\": 1234, \"p5\": 1234, "
                            "\"p25\": 1234, \"p50\": 1234, \"p75\": 1234, \"p95\": 1234, \"p99\": 1234, \"max\": 1234, \"failed\": 0, \"breakdown\": {}}},\n"
                            " \"warnings\": [\"only \\\"one\\\"\", \"replication\"]}\n");
  free(text);
  metric_set_free(set);
}

/* 10, 11, 12 ms: mean 11, interval 4.30265 * 1 / sqrt(3) = 2.48414. */
static void text(void **state) {
  (void)state;
  struct metric_set *set = results(3);
  struct table_run run = {
      .scenario = "e2", .backend = "native", .parameters = "", .seed = 7, .replications = 3, .defs = defs, .metrics = set, .chosen = chosen, .chosen_count = 2};
  char *table = written(&run, table_run_text);
  assert_string_equal(table, "e2 on native, seed 7, 3 replications\n\n"
                             "metric        unit  n  mean  \xC2\xB1 95 %   p50   p95   p99   max\n"
                             "------------  ----  -  ----  ------  ----  ----  ----  ----\n"
                             "tunnel_setup  ms    3    11   2.484    11    12    12    12\n"
                             "bytes_total   B     3  1234       0  1234  1234  1234  1234\n"
                             "\ntunnel_setup: initiation -> CHILD_SA installed\n"
                             "  part         mean [ms]  share [%]\n"
                             "-------------  ---------  ---------\n"
                             "  crypto           2.750       25.0\n"
                             "    kex            2.750       25.0\n"
                             "  propagation      8.250       75.0\n");
  free(table);
  metric_set_free(set);
  set = results(1);
  static const char *const warning = "sd is 0";
  run.metrics = set;
  run.replications = 1;
  run.warnings = &warning;
  run.warning_count = 1;
  metric_fail(set, 0);
  metric_end_replication(set);
  table = written(&run, table_run_text);
  assert_non_null(strstr(table, "seed 7, 1 replication (no interval)\n"));
  assert_non_null(strstr(table, "metric        unit  n  mean  failed\n"));
  assert_non_null(strstr(table, "tunnel_setup  ms    1    10       1\n"));
  assert_non_null(strstr(table, "\nwarning: sd is 0\n"));
  free(table);
  metric_set_free(set);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(json), cmocka_unit_test(text)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
