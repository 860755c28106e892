/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calib/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define LENGTH(table) ((int)(sizeof table / sizeof table[0]))

#define WARM_NS 10e6      /* per pass */
#define WARM_FIRST_NS 1e8 /* in the first pass for the sake of a few calls */
#define SINGLE_NS 1000.0  /* calls from here on are timed one by one */
#define BATCH_NS 2000.0
enum { WARM_CALLS = 5, PROBES = 20 };

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double *sorted_copy(const double *ns, int n) {
  double *copy = malloc((size_t)(n ? n : 1) * sizeof *copy);
  if (!copy) abort();
  if (n) memcpy(copy, ns, (size_t)n * sizeof *copy);
  qsort(copy, (size_t)n, sizeof *copy, ascending);
  return copy;
}

/* ---- verdict */

double measure_rank(const double *ns, int n, double p) {
  int rank = (int)ceil(p * n - 1e-9);
  return ns[rank < 1 ? 0 : rank - 1];
}

static double median_of(const double *ns, int n) {
  double *copy = sorted_copy(ns, n), median = measure_rank(copy, n, 0.5);
  free(copy);
  return median;
}

/* Standard error of the difference of two medians of n samples each, as for normal samples: sd sqrt(pi / 2n) each. */
static double median_error(const double *ns, int n) {
  double mean, sd;
  fit_moments(ns, n, &mean, &sd);
  return sd * sqrt(M_PI / 2 / (n / 4)) * sqrt(2);
}

static bool is_throttled(const struct measure_evidence *evidence, double *first, double *last) {
  int quarter = evidence->n / 4;
  if (quarter < 1) return false;
  *first = median_of(evidence->ns, quarter);
  *last = median_of(evidence->ns + evidence->n - quarter, quarter);
  double apart = fabs(*last - *first);
  if (evidence->random && apart <= 3 * median_error(evidence->ns, evidence->n)) return false;
  return apart > MEASURE_DRIFT * *first;
}

static double outlier_share(const struct measure_evidence *evidence) {
  double limit = MEASURE_OUTLIER * median_of(evidence->ns, evidence->n);
  int above = 0;
  for (int i = 0; i < evidence->n; i++) above += evidence->ns[i] > limit;
  return (double)above / evidence->n;
}

static int negative_count(const struct measure_evidence *evidence) {
  int count = 0;
  for (int i = 0; i < evidence->n; i++) count += evidence->ns[i] < 0;
  return count;
}

static void say(char text[MEASURE_TEXT], const char *sentence) {
  size_t used = strlen(text);
  snprintf(text + used, MEASURE_TEXT - used, "%s%s", used ? "; " : "", sentence);
}

unsigned measure_judge(const struct measure_evidence *evidence, char text[MEASURE_TEXT]) {
  unsigned faults = 0;
  char sentence[160];
  double first = 0, last = 0;
  text[0] = '\0';
  if (evidence->n < MEASURE_LEAST) {
    faults |= MEASURE_FEW;
    snprintf(sentence, sizeof sentence, "%d samples are too few, %d are needed", evidence->n, MEASURE_LEAST);
    say(text, sentence);
  }
  int negative = negative_count(evidence);
  if (negative || evidence->clock_deviated) {
    faults |= MEASURE_CLOCK;
    if (negative) snprintf(sentence, sizeof sentence, "the clock ran backwards in %d samples", negative);
    say(text, negative ? sentence : "the clock jumped, or changed its rate, against a second one");
  }
  if (is_throttled(evidence, &first, &last)) {
    faults |= MEASURE_THROTTLED;
    snprintf(sentence, sizeof sentence,
        "the median of the last quarter, %.0f ns, is %+.0f %% off the first, %.0f ns: the processor changed its speed, or others used it", last,
        100 * (last / first - 1), first);
    say(text, sentence);
  }
  double interrupted = evidence->n ? (double)evidence->interruptions / evidence->n : 0;
  double outliers = evidence->n && !evidence->random ? outlier_share(evidence) : 0;
  bool seen = interrupted > MEASURE_INTERRUPTED && evidence->lost > MEASURE_INTERRUPTED;
  if (seen || outliers > MEASURE_INTERRUPTED) {
    faults |= MEASURE_PREEMPTED;
    if (seen)
      snprintf(sentence, sizeof sentence, "interrupted %.2g times a sample, by others who took %.0f %% of the time", interrupted, 100 * evidence->lost);
    else
      snprintf(sentence, sizeof sentence, "%.0f %% of the samples took more than %g medians: interrupted", 100 * outliers, MEASURE_OUTLIER);
    say(text, sentence);
  }
  return faults;
}

void measure_verdict(unsigned faults, char text[64]) {
  static const char *const names[] = {"too few", "clock", "throttled", "preempted"};
  snprintf(text, 64, "%s", faults ? "" : "ok");
  for (int i = 0; i < LENGTH(names); i++) {
    size_t used = strlen(text);
    if (faults >> i & 1) snprintf(text + used, 64 - used, "%s%s", used ? ", " : "", names[i]);
  }
}

/* ---- what is stated */

void measure_summarise(const double *ns, int n, struct measure_summary *out) {
  *out = (struct measure_summary){.min = ns[0],
      .p5 = measure_rank(ns, n, 0.05),
      .p25 = measure_rank(ns, n, 0.25),
      .p50 = measure_rank(ns, n, 0.5),
      .p75 = measure_rank(ns, n, 0.75),
      .p95 = measure_rank(ns, n, 0.95),
      .p99 = measure_rank(ns, n, 0.99),
      .max = ns[n - 1]};
  fit_moments(ns, n, &out->mean, &out->sd);
}

void measure_make_row(const double *ns, int n, bool random, struct measure_row *out) {
  static const double steady[] = {0, 0.05, 0.25, 0.5, 0.75, 0.95, 1};
  if (!random) {
    out->count = LENGTH(steady);
    for (int i = 0; i < LENGTH(steady); i++) {
      out->p[i] = steady[i];
      out->ns[i] = llround(measure_rank(ns, n, steady[i] < 0.95 ? steady[i] : 0.95));
    }
    return;
  }
  const struct fit sample = {.family = FIT_EMPIRICAL, .possible = true};
  int64_t last = llround(measure_rank(ns, n, 0.99));
  out->count = FIT_QUANTILES;
  fit_quantiles(&sample, ns, n, out->ns);
  for (int i = 0; i < FIT_QUANTILES; i++) {
    out->p[i] = fit_probabilities[i];
    if (out->ns[i] > last) out->ns[i] = last;
  }
}

double measure_row_mean(const struct measure_row *row) {
  double mean = 0;
  for (int i = 1; i < row->count; i++) mean += (row->p[i] - row->p[i - 1]) * 0.5 * (double)(row->ns[i] + row->ns[i - 1]);
  return mean;
}

/* ---- taking samples */

static double time_of(clockid_t id) {
  struct timespec now;
  clock_gettime(id, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int64_t interruptions_so_far(void) {
  struct rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

/* One sample; a call that failed closes the operation. */
static double take(struct measure *measure, const struct clock *clock, int batch) {
  operation_prepare(measure->work);
  uint64_t before = clock_before(clock);
  operation_call(measure->work, batch);
  uint64_t after = clock_after(clock);
  if (!operation_finish(measure->work)) {
    measure->state = OPERATION_WRONG;
    snprintf(measure->reason, OPERATION_TEXT, "%s %s, %d B: fails while it is timed", measure->operation->algorithm, measure->operation->operation,
        measure->operation->size_bytes);
  }
  return clock_elapsed_ns(clock, before, after) / batch;
}

static void warm_up(struct measure *measure, const struct clock *clock, int pass) {
  double begun = time_of(CLOCK_MONOTONIC), spent;
  int calls = 0;
  do {
    take(measure, clock, measure->batch);
    calls++;
    spent = time_of(CLOCK_MONOTONIC) - begun;
  } while (spent < WARM_NS || (pass == 0 && calls < WARM_CALLS && spent < WARM_FIRST_NS));
}

/* The least power of two that makes a sample long enough for the clock. */
static void choose_batch(struct measure *measure, const struct clock *clock) {
  double least = take(measure, clock, 1);
  for (int i = 1; i < PROBES && least < SINGLE_NS; i++) {
    double ns = take(measure, clock, 1);
    if (ns < least) least = ns;
  }
  measure->batch = 1;
  while (least < SINGLE_NS && measure->batch < OPERATION_BATCH && measure->batch * least < BATCH_NS) measure->batch *= 2;
}

void measure_open(struct measure *measure, const struct operation *operation, int samples, double seconds) {
  *measure = (struct measure){.operation = operation, .aim = samples ? samples : operation->samples, .batch = 1, .budget_ns = seconds * 1e9};
  measure->state = operation_open(operation, &measure->work, measure->reason);
  measure->ns = calloc((size_t)measure->aim, sizeof *measure->ns);
  if (!measure->ns) abort();
}

void measure_pass(struct measure *measure, const struct clock *clock, int pass) {
  int until = (int)((int64_t)measure->aim * (pass + 1) / MEASURE_PASSES);
  int least = measure->aim < MEASURE_LEAST ? measure->aim : MEASURE_LEAST;
  int at_least = (least * (pass + 1) + MEASURE_PASSES - 1) / MEASURE_PASSES;
  warm_up(measure, clock, pass);
  if (pass == 0) choose_batch(measure, clock);
  struct clock_look from = clock_look(clock);
  int64_t interruptions = interruptions_so_far();
  double wall = time_of(CLOCK_MONOTONIC), cpu = time_of(CLOCK_THREAD_CPUTIME_ID), spent = 0;
  while (measure->state == OPERATION_READY && measure->n < until && (measure->n < at_least || spent < measure->budget_ns / MEASURE_PASSES)) {
    measure->ns[measure->n++] = take(measure, clock, measure->batch);
    spent = time_of(CLOCK_MONOTONIC) - wall;
  }
  measure->wall_ns += spent;
  measure->cpu_ns += time_of(CLOCK_THREAD_CPUTIME_ID) - cpu;
  measure->interruptions += interruptions_so_far() - interruptions;
  struct clock_look to = clock_look(clock);
  measure->clock_deviated |= clock_deviates(&from, &to);
}

void measure_close(struct measure *measure) {
  operation_close(measure->work);
  free(measure->ns);
}
