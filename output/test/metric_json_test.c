/* SPDX-License-Identifier: GPL-3.0-or-later */
// objects: output/metric_json.o output/json.o output/stats.o sim/core/err.o sim/core/units.o sim/core/metric.o
// libs: -lgsl -lgslcblas -lm
#include "output/metric_json.h"

#include "output/stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

static void written(const struct metric_set *set, int metric, const struct metric_def *def, const char *expected) {
  char *bytes;
  size_t size;
  struct store_row row;
  FILE *to = open_memstream(&bytes, &size);
  stats_row(set, metric, def->unit, &row);
  metric_json_write(to, def, &row);
  fclose(to);
  assert_string_equal(bytes, expected);
  free(bytes);
}

static void objects(void **state) {
  (void)state;
  static const struct metric_def defs[] = {
      {"t", METRIC_TIME, "a \"b\"", "c", NULL}, {"b", METRIC_BYTES, "d", NULL, NULL}, {"none", METRIC_COUNT, NULL, NULL, NULL}};
  struct metric_set *set = metric_set_new(defs, 3);
  static const int64_t parts[PART_COUNT] = {[PART_KEX] = 500000, [PART_KEY_WAIT] = 1000000};
  metric_sample(set, 0, 1500000, parts);
  metric_sample(set, 1, 1200, NULL);
  metric_sample(set, 1, 1300, NULL);
  metric_fail(set, 2);
  metric_end_replication(set);
  /* one value: no interval; parts all there and summing to the mean */
  written(set, 0, &defs[0],
      "{\"unit\": \"ms\", \"from\": \"a \\\"b\\\"\", \"to\": \"c\", \"n\": 1, \"mean\": 1.5, \"sd\": 0, \"cv\": 0, \"iqr\": 0, \"ci95\": null, \"min\": 1.5, "
      "\"p5\": 1.5, "
      "\"p25\": 1.5, \"p50\": 1.5, \"p75\": 1.5, \"p95\": 1.5, \"p99\": 1.5, \"max\": 1.5, \"failed\": 0, \"breakdown\": {\"crypto\": 0.5, \"cpu_queue\": 0, "
      "\"serialisation\": 0, "
      "\"link_queue\": 0, \"propagation\": 0, \"transport_stall\": 0, \"radio_wait\": 0, \"key_wait\": 1, \"software\": 0, \"application\": 0}, "
      "\"crypto_parts\": {\"kex\": 0.5, \"sign\": 0, \"cert_verify\": 0, \"symmetric\": 0}}");
  /* 1200 and 1300: sd 70.7106781, cv over the mean of 1250 */
  written(set, 1, &defs[1],
      "{\"unit\": \"B\", \"from\": \"d\", \"to\": null, \"n\": 2, \"mean\": 1250, \"sd\": 70.7106781, \"cv\": 0.0565685425, \"iqr\": 100, \"ci95\": null, "
      "\"min\": 1200, \"p5\": 1200, "
      "\"p25\": 1200, \"p50\": 1200, \"p75\": 1300, \"p95\": 1300, \"p99\": 1300, \"max\": 1300, \"failed\": 0, \"breakdown\": {}}");
  written(set, 2, &defs[2],
      "{\"unit\": \"1\", \"from\": null, \"to\": null, \"n\": 0, \"mean\": null, \"sd\": null, \"cv\": null, \"iqr\": null, \"ci95\": null, \"min\": null, "
      "\"p5\": null, "
      "\"p25\": null, \"p50\": null, \"p75\": null, \"p95\": null, \"p99\": null, \"max\": null, \"failed\": 1, \"breakdown\": {}}");
  metric_set_free(set);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(objects)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
