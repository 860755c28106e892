/* SPDX-License-Identifier: GPL-3.0-or-later */
/* measure: timings of an operation, and whether they can be believed.
 *
 * Purpose:   warms up, takes samples, condenses them into what a platform file states, and judges them.
 * Units:     ns. A sample of a batch is the mean of its calls.
 * Plan:      all operations are measured in four passes over the whole list, so that the quarters of a sample lie as far apart
 *            as the run is long and a processor that grows slower shows in every one of them. Calls under 1 us are timed in
 *            batches of 2 us or more.
 * Order:     measure_open, measure_pass for pass 0 to 3, measure_close. The samples stand in the order they were taken.
 * Verdict:   a pure function of struct measure_evidence:
 *              too few     less than 30 samples
 *              clock       a time below 0, or the witness of clock.h deviates over a pass
 *              throttled   the medians of first and last quarter differ by more than 20 % (of operations that depend on chance: and
 *                          by more than three standard errors)
 *              preempted   more than 5 % of the samples were interrupted, since p95, the last quantile of a row, is then the
 *                          interruption's: counted as involuntary context switches when these took more than 5 % of the time, and,
 *                          where a hypervisor interrupts unseen, as samples above 1.5 medians (operations of constant work only)
 * Ownership: measure_open/measure_close.
 * Errors:    as operations.h; a call that fails while it is timed ends the operation with `wrong` and a reason.
 */
#ifndef PQNETSIM_MEASURE_H
#define PQNETSIM_MEASURE_H

#include "calib/clock.h"
#include "calib/fit.h"
#include "calib/operations.h"

enum { MEASURE_PASSES = 4, MEASURE_LEAST = 30, MEASURE_TEXT = 320 };
#define MEASURE_DRIFT 0.2
#define MEASURE_INTERRUPTED 0.05
#define MEASURE_OUTLIER 1.5

enum measure_fault { MEASURE_FEW = 1, MEASURE_CLOCK = 2, MEASURE_THROTTLED = 4, MEASURE_PREEMPTED = 8 };

struct measure_evidence {
  const double *ns; /* as they were taken */
  int n;
  bool random;           /* the work depends on chance */
  bool clock_deviated;   /* by its witness */
  int64_t interruptions; /* involuntary context switches */
  double lost;           /* share of the time the process did not have the processor */
};

/* Faults found, 0: none. text: all of them in a sentence. */
unsigned measure_judge(const struct measure_evidence *evidence, char text[MEASURE_TEXT]);
/* "ok", "throttled", "too few, preempted". */
void measure_verdict(unsigned faults, char text[64]);

struct measure_summary {
  double min, p5, p25, p50, p75, p95, p99, max; /* nearest rank */
  double mean, sd;
};
/* p of samples that ascend: the one of rank ceil(p n). */
double measure_rank(const double *ns, int n, double p);
void measure_summarise(const double *ns, int n, struct measure_summary *out);

/* What a platform file states. */
struct measure_row {
  int count;
  double p[FIT_QUANTILES];
  int64_t ns[FIT_QUANTILES];
};
/* From samples that ascend: the summary's points up to p95, which is there at p 1 again; of random operations the quantiles of
 * calib/fit.h up to p99. */
void measure_make_row(const double *ns, int n, bool random, struct measure_row *out);
/* The mean of what will be drawn from it. */
double measure_row_mean(const struct measure_row *row);

struct measure {
  const struct operation *operation;
  enum operation_state state;
  char reason[OPERATION_TEXT]; /* unless ready */
  struct operation_work *work;
  int aim, batch, n;
  double *ns;
  double budget_ns, wall_ns, cpu_ns;
  int64_t interruptions;
  bool clock_deviated;
};

/* samples: 0 for the operation's own number. A pass takes at most a quarter of `seconds`, unless samples would be too few. */
void measure_open(struct measure *measure, const struct operation *operation, int samples, double seconds);
void measure_pass(struct measure *measure, const struct clock *clock, int pass);
void measure_close(struct measure *measure);

#endif
