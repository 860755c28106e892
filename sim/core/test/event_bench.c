/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hold-model speed of the event queue. Usage: event_bench [N]; without N for 10, 1000 and 100000 pending events. */
#include "sim/core/event.h"
#include "sim/core/test/hold.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { REPEATS = 5, STEPS = 2000000 };

struct hold {
  uint64_t state;
};

static void step(struct sim *sim, void *arg) {
  struct hold *hold = arg;
  event_at(sim, sim_now(sim) + hold_delay(&hold->state), step, hold);
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Median of REPEATS, in million events a second. */
static double measure(long pending) {
  struct sim *sim = sim_new();
  struct hold hold = {HOLD_SEED};
  for (long i = 0; i < pending; i++) event_at(sim, hold_delay(&hold.state), step, &hold);
  for (long i = 0; i < 3 * pending; i++) /* until the queue has its steady shape */
    event_fire_next(sim);
  double rates[REPEATS];
  for (int repeat = 0; repeat < REPEATS; repeat++) {
    double start = seconds();
    for (long i = 0; i < STEPS; i++) event_fire_next(sim);
    rates[repeat] = STEPS / (seconds() - start) / 1e6;
  }
  sim_free(sim);
  qsort(rates, REPEATS, sizeof rates[0], ascending);
  return rates[REPEATS / 2];
}

int main(int argc, char **argv) {
  long sizes[] = {10, 1000, 100000};
  int count = 3;
  if (argc == 2) {
    sizes[0] = strtol(argv[1], NULL, 10);
    count = 1;
    if (sizes[0] < 1) {
      fprintf(stderr, "usage: event_bench [N]\n");
      return 2;
    }
  }
  for (int i = 0; i < count; i++) printf("native hold N=%ld %.1f\n", sizes[i], measure(sizes[i]));
  return 0;
}
