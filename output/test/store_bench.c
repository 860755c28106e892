/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long it takes to store and to export a study: POINTS points with two metrics (one with breakdown), REPLICATIONS each.
 * Usage: store_bench POINTS REPLICATIONS FILE. The file must not exist. */
#include "output/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

static const struct store_axis axes[] = {{"ipsec.kex", true, "", false}, {"path.delay", false, "ms", true}, {"e2.nodes", false, "1", false}};
static const struct metric_def metrics[] = {
    {"tunnel_setup", METRIC_TIME, "initiation", "CHILD_SA installed", "time to set up a tunnel"},
    {"bytes_total", METRIC_BYTES, "IP bytes of both directions", NULL, "bytes on the path"},
};

static void point(void *arg, int64_t id, struct store_point *out) {
  static struct store_cell cells[3];
  static char key[33];
  static const char *const kex[] = {"x25519", "mlkem768", "mlkem1024"};
  (void)arg;
  snprintf(key, sizeof key, "%016llx%016llx", (unsigned long long)id * 0x9e3779b97f4a7c15u, (unsigned long long)id);
  cells[0].text = kex[id % 3];
  cells[1].number = (double)(id % 1000) / 8;
  cells[2].number = (double)(id / 1000);
  *out = (struct store_point){id, key, cells};
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int report(struct err *e) {
  fputs(e->text, stderr);
  return err_exit_status(e);
}

static struct metric_set *results(int64_t id, int replications) {
  struct metric_set *set = metric_set_new(metrics, 2);
  for (int r = 0; r < replications; r++) {
    /* some tens of ms, spread as an exponential would be coarsely, all different */
    int64_t spread = (id * 7919 + r * 104729) % 1000003;
    int64_t parts[PART_COUNT] = {
        [PART_KEX] = 187654 + spread, [PART_SERIALISATION] = 9876, [PART_PROPAGATION] = 20000000 + id, [PART_SOFTWARE] = 1234567 + 3 * spread};
    int64_t value = 0;
    for (int i = 0; i < PART_COUNT; i++) value += parts[i];
    metric_sample(set, 0, value, parts);
    metric_sample(set, 1, 3000 + id % 97, NULL);
    metric_end_replication(set);
  }
  return set;
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  int64_t points = atoll(argv[1]);
  int replications = atoi(argv[2]);
  struct store_study study = {.scenario = "e2",
      .title = "bench",
      .file_text = "",
      .parameters = "",
      .seed = 1,
      .backend = "native",
      .code_version = "0",
      .compiler = "",
      .host = "",
      .cost_hash = "0",
      .replications = replications,
      .axis_count = 3,
      .axes = axes,
      .metric_count = 2,
      .metrics = metrics};
  static const int index[] = {0, 1};
  struct err e = {0};
  struct store *store = NULL;
  double start = now(), making = 0;
  if (store_open_write(argv[3], &study, points, point, NULL, &store, &e)) return report(&e);
  double opened = now();
  for (int64_t id = 0; id < points; id++) {
    double before = now();
    struct metric_set *set = results(id, replications);
    making += now() - before;
    int code = store_add(store, id, replications, set, index, &e);
    metric_set_free(set);
    if (code) return report(&e);
  }
  if (store_flush(store, &e)) return report(&e);
  double added = now();
  store_close(store);
  double closed = now();
  struct stat info;
  stat(argv[3], &info);
  printf("points %lld x 2 metrics x %d replications: create %.2f s, add %.2f s (making samples %.2f s), close %.2f s; %.1f MB, estimate %.1f MB\n",
      (long long)points, replications, opened - start, added - opened - making, making, closed - added, (double)info.st_size / 1e6,
      (double)store_estimate_bytes(&study, points) / 1e6);
  start = now();
  if (store_open_read(argv[3], &store, &e)) return report(&e);
  opened = now();
  FILE *null = fopen("/dev/null", "w");
  if (!null || table_export_csv(store, null, &e)) return report(&e);
  printf("open for reading with checks %.2f s, CSV export %.2f s\n", opened - start, now() - opened);
  fclose(null);
  store_close(store);
  return 0;
}
