/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sample: a small study for the tests of output/, with results that are a function of the run key alone, as those of a real sweep are.
 *
 * Points: kex x delay, delay fastest. Each replication r of a point with kex k and delay d ms takes
 *         crypto (k + 1) * 100,000 ns + r * 1,000 ns, propagation 2 d, nothing else; and sends 1000 + 100 k bytes.
 */
#ifndef PQNETSIM_OUTPUT_TEST_SAMPLE_H
#define PQNETSIM_OUTPUT_TEST_SAMPLE_H

#include "output/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#define SAMPLE_METRICS 2

static const struct metric_def sample_metrics[SAMPLE_METRICS] = {
    {"tunnel_setup", METRIC_TIME, "initiation", "CHILD_SA installed", "time to set up a tunnel"},
    {"bytes_total", METRIC_BYTES, "IP bytes, both directions", NULL, "bytes on the path"},
};
static const struct store_axis sample_axes[2] = {{"ipsec.kex", true, "", false}, {"path.delay", false, "ms", true}};
static const int sample_index[SAMPLE_METRICS] = {0, 1};

/* What is swept; tests change it. */
struct sample {
  const char *kex[4];
  int kex_count;
  double delays[8];
  int delay_count;
  struct store_study study;
  struct store_cell cells[2];
  char key[33];
};

static inline struct sample sample_new(void) {
  return (struct sample){
      .kex = {"x25519", "mlkem768", "mlkem1024", "none"},
      .kex_count = 2,
      .delays = {1, 10, 100},
      .delay_count = 2,
      .study = {.scenario = "e2",
          .title = "a sample",
          .file_text = "scenario: e2\n",
          .parameters = "ipsec.auth\tpsk\nseed\t1\n",
          .seed = 1,
          .backend = "native",
          .code_version = "1.0",
          .compiler = "cc",
          .host = "here",
          .cost_hash = "c0",
          .replications = 4,
          .axis_count = 2,
          .axes = sample_axes,
          .metric_count = SAMPLE_METRICS,
          .metrics = sample_metrics},
  };
}

static inline int64_t sample_count(const struct sample *sample) { return (int64_t)sample->kex_count * sample->delay_count; }

static inline void sample_point(void *arg, int64_t id, struct store_point *out) {
  struct sample *sample = arg;
  sample->cells[0] = (struct store_cell){.text = sample->kex[id / sample->delay_count]};
  sample->cells[1] = (struct store_cell){.number = sample->delays[id % sample->delay_count]};
  snprintf(sample->key, sizeof sample->key, "%-22.22s%010.3f", sample->cells[0].text, sample->cells[1].number);
  *out = (struct store_point){id, sample->key, sample->cells};
}

/* Replications first .. first + count - 1 of a point. */
static inline struct metric_set *sample_results(struct sample *sample, int64_t id, int first, int count) {
  struct metric_set *set = metric_set_new(sample_metrics, SAMPLE_METRICS);
  static const char *const order[] = {"x25519", "mlkem768", "mlkem1024", "none"};
  struct store_point point;
  int kex = 0;
  sample_point(sample, id, &point);
  while (strcmp(order[kex], point.cells[0].text) != 0) kex++;
  for (int r = first; r < first + count; r++) {
    int64_t parts[PART_COUNT] = {[PART_KEX] = (kex + 1) * 100000 + r * 1000, [PART_PROPAGATION] = (int64_t)(2e6 * point.cells[1].number)};
    metric_sample(set, 0, parts[PART_KEX] + parts[PART_PROPAGATION], parts);
    metric_sample(set, 1, 1000 + 100 * kex, NULL);
    metric_end_replication(set);
  }
  return set;
}

/* Asserts success and shows the sentence otherwise. */
static inline void sample_good(int code, struct err *e) {
  if (code) print_error("%s", e->text);
  assert_int_equal(code, 0);
}

/* Asserts that e holds a sentence with these words, and empties it. */
static inline void sample_bad(int code, enum err_code expected, struct err *e, const char *words) {
  assert_int_equal(code, expected);
  if (!strstr(e->text, words)) fail_msg("expected '%s' in: %s", words, e->text);
  err_free(e);
  *e = (struct err){0};
}

static inline struct store *sample_open(struct sample *sample, const char *path) {
  struct store *store = NULL;
  struct err e = {0};
  sample_good(store_open_write(path, &sample->study, sample_count(sample), sample_point, sample, &store, &e), &e);
  return store;
}

/* Brings one point to the study's replications. */
static inline void sample_run(struct sample *sample, struct store *store, int64_t id) {
  struct err e = {0};
  int done = (int)store_replications_done(store, id), asked = (int)sample->study.replications;
  if (done >= asked) return;
  struct metric_set *set = sample_results(sample, id, done, asked - done);
  sample_good(store_add(store, id, asked - done, set, sample_index, &e), &e);
  metric_set_free(set);
}

/* A whole study, points in the order given by step (coprime to their number). */
static inline void sample_make(struct sample *sample, const char *path, int64_t step) {
  struct store *store = sample_open(sample, path);
  int64_t count = sample_count(sample);
  for (int64_t i = 0; i < count; i++) sample_run(sample, store, i * step % count);
  store_close(store);
}

static inline struct store *sample_read(const char *path) {
  struct store *store = NULL;
  struct err e = {0};
  sample_good(store_open_read(path, &store, &e), &e);
  return store;
}

/* CSV and JSON export in one text, to be freed. */
static inline char *sample_export(const char *path) {
  struct store *store = sample_read(path);
  struct err e = {0};
  char *bytes;
  size_t size;
  FILE *to = open_memstream(&bytes, &size);
  sample_good(table_export_csv(store, to, &e), &e);
  sample_good(table_export_json(store, to, &e), &e);
  fclose(to);
  store_close(store);
  return bytes;
}

/* A path in a fresh folder; the same buffer each time. */
static inline const char *sample_path(const char *name) {
  static char folder[64], path[256];
  strcpy(folder, "/tmp/pqnetsim-test-XXXXXX");
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static inline void sample_write_file(const char *path, const void *bytes, size_t size) {
  FILE *to = fopen(path, "w");
  assert_non_null(to);
  assert_int_equal(fwrite(bytes, 1, size, to), size);
  fclose(to);
}

static inline bool sample_exists(const char *path, const char *suffix) {
  char name[512];
  snprintf(name, sizeof name, "%s%s", path, suffix);
  return access(name, F_OK) == 0;
}

/* Removes the folder that sample_path made for this path. */
static inline void sample_remove(const char *path) {
  char command[600], folder[512];
  snprintf(folder, sizeof folder, "%s", path);
  *strrchr(folder, '/') = '\0';
  assert_non_null(strstr(folder, "pqnetsim-test-"));
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  assert_int_equal(system(command), 0);
}

#endif
