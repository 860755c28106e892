/* SPDX-License-Identifier: GPL-3.0-or-later */
// objects: output/table_export.o output/table_where.o output/metric_json.o output/json.o output/store.o output/store_file.o output/store_study.o output/store_extend.o output/store_read.o output/schema.o output/stats.o sim/core/err.o sim/core/units.o sim/core/metric.o
// libs: -lsqlite3 -lgsl -lgslcblas -lm
#include "output/test/sample.h"

static char *export(const char *path, int (*write)(struct store *store, FILE *to, struct err *e)) {
  struct store *store = sample_read(path);
  struct err e = {0};
  char *bytes;
  size_t size;
  FILE *to = open_memstream(&bytes, &size);
  sample_good(write(store, to, &e), &e);
  fclose(to);
  store_close(store);
  return bytes;
}

/* Point 3 and the rest: one header, CRLF (RFC 4180), a row per point and metric that has results, empty cells for what there is not. */
static void csv(void **state) {
  (void)state;
  struct sample sample = sample_new();
  const char *path = sample_path("study.db");
  sample.study.replications = 1;
  sample.kex[0] = "none, \"really\"";
  struct store *store = sample_open(&sample, path);
  sample_run(&sample, store, 3);
  store_close(store);
  store = sample_open(&sample, path);
  struct metric_set *set = metric_set_new(sample_metrics, SAMPLE_METRICS);
  struct err e = {0};
  metric_fail(set, 0);
  metric_end_replication(set);
  sample_good(store_add(store, 0, 1, set, sample_index, &e), &e);
  metric_set_free(set);
  store_close(store);
  char *text = export(path, table_export_csv);
  assert_string_equal(text,
      "point,ipsec.kex,path.delay [ms],metric,unit,n,failed,mean,sd,cv,iqr,ci95,min,p5,p25,p50,p75,p95,p99,max,"
      "crypto,kex,sign,cert_verify,symmetric,cpu_queue,serialisation,link_queue,propagation,transport_stall,radio_wait,key_wait,software,application\r\n"
      "0,\"none, \"\"really\"\"\",1,tunnel_setup,ms,0,1,,,,,,,,,,,,,,,,,,,,,,,,,,,\r\n"
      "3,mlkem768,10,tunnel_setup,ms,1,0,20.2,0,0,0,,20.2,20.2,20.2,20.2,20.2,20.2,20.2,20.2,0.2,0.2,0,0,0,0,0,0,20,0,0,0,0,0\r\n"
      "3,mlkem768,10,bytes_total,B,1,0,1100,0,0,0,,1100,1100,1100,1100,1100,1100,1100,1100,,,,,,,,,,,,,,\r\n");
  free(text);
  sample_remove(path);
}

static void json(void **state) {
  (void)state;
  struct sample sample = sample_new();
  const char *path = sample_path("study.db");
  sample.study.replications = 1;
  sample.kex_count = 1;
  struct store *store = sample_open(&sample, path);
  struct err e = {0};
  struct metric_set *set = metric_set_new(sample_metrics, SAMPLE_METRICS);
  metric_sample(set, 1, 7, NULL);
  metric_end_replication(set);
  sample_good(store_add(store, 0, 1, set, sample_index, &e), &e);
  sample_good(store_add_note(store, 0, "bottleneck", "AMF", &e), &e);
  sample_good(store_add_note(store, 0, "a", "b", &e), &e);
  sample_good(store_add_failure(store, 1, 0, "killed by signal 9", &e), &e);
  metric_set_free(set);
  store_close(store);
  char *text = export(path, table_export_json);
  assert_string_equal(text, "[\n {\"point\": 0,\n  \"axes\": {\"ipsec.kex\": \"x25519\", \"path.delay [ms]\": 1},\n  \"metrics\": {\n"
                            "   \"bytes_total\": {\"unit\": \"B\", \"from\": \"IP bytes, both directions\", \"to\": null, \"n\": 1, \"mean\": 7, \"sd\": 0, "
                            "\"cv\": 0, \"iqr\": 0, \"ci95\": null, \"min\": 7, \"p5\": 7, "
                            "\"p25\": 7, \"p50\": 7, \"p75\": 7, \"p95\": 7, \"p99\": 7, \"max\": 7, \"failed\": 0, \"breakdown\": {}}},\n"
                            "  \"notes\": {\"a\": \"b\", \"bottleneck\": \"AMF\"},\n  \"failures\": []},\n"
                            " {\"point\": 1,\n  \"axes\": {\"ipsec.kex\": \"x25519\", \"path.delay [ms]\": 10},\n  \"metrics\": {},\n  \"notes\": {},\n"
                            "  \"failures\": [{\"replication\": 0, \"reason\": \"killed by signal 9\"}]}\n]\n");
  free(text);
  sample_remove(path);
}

/* A full pipe or disk is not a short export. */
static void cannot_write(void **state) {
  (void)state;
  struct sample sample = sample_new();
  const char *path = sample_path("study.db");
  sample_make(&sample, path, 1);
  struct store *store = sample_read(path);
  struct err e = {0};
  FILE *full = fopen("/dev/full", "w");
  assert_non_null(full);
  sample_bad(table_export_csv(store, full, &e), ERR_SYSTEM, &e, "cannot write the export");
  /* once is enough: main, which closes standard output, has nothing more to tell */
  assert_int_equal(ferror(full), 0);
  assert_int_equal(fclose(full), 0);
  store_close(store);
  sample_remove(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(csv), cmocka_unit_test(json), cmocka_unit_test(cannot_write)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
