/* SPDX-License-Identifier: GPL-2.0-or-later */
/* metric: what a run measured, and where each nanosecond went.
 *
 * Purpose:    (1) trail: the time on the critical path of one causal chain, split by cause, exactly;
 *             (2) metric_set: accumulators for a table of metrics over entities and replications, mergeable.
 * Units:      every sample is an int64 in the metric's base unit: ns, byte, 1 (count) or parts per billion (share).
 * Invariants: parts of a sample sum to the sample (asserted). Merging is exact: the same samples give the same set
 *             in whatever order and grouping whole replications arrive.
 *             A replication's mean enters in 1/1000 of the base unit, rounded half away from zero.
 * Limits:     2^48 samples of a metric.
 * Ownership:  metric_set_new/free; the definitions are the caller's and must outlive the set.
 */
#ifndef PQNETSIM_METRIC_H
#define PQNETSIM_METRIC_H

#include "sim/core/err.h"
#include "sim/core/event.h"

/* Causes of elapsed time. Names: metric_part_name(). */
enum part {
  /* an algorithm's arithmetic, by what it is for: */
  PART_KEX, /* key generation, encapsulation, derivation, key transport */
  PART_SIGN,
  PART_CERT_VERIFY,     /* verifying any signature */
  PART_SYMMETRIC,       /* AEAD, hashes, key schedule */
  PART_CPU_QUEUE,       /* waiting for a processor */
  PART_SERIALISATION,   /* bits onto the link */
  PART_LINK_QUEUE,      /* waiting for the link */
  PART_PROPAGATION,     /* delay and jitter of the link */
  PART_TRANSPORT_STALL, /* retransmission timers, delayed ACK, Nagle, window */
  PART_RADIO_WAIT,      /* waiting for a connection event or the channel */
  PART_KEY_WAIT,        /* waiting for QKD key */
  PART_SOFTWARE,        /* daemon, kernel and testbed cost per message or packet */
  PART_APPLICATION,     /* service time and pauses of the application */
  PART_COUNT,
  PART_CRYPTO_COUNT = PART_SYMMETRIC + 1 /* the first ones: their sum is "crypto" in output */
};
const char *metric_part_name(enum part part);

/* A causal chain. Copy it freely. A message carries the trail of its sender; whoever continues from several
 * predecessors continues from the one that finished last. */
struct trail {
  simtime at;                /* the chain has got this far */
  int64_t parts[PART_COUNT]; /* since trail_begin; sums to at - begin */
};

void trail_begin(struct trail *trail, simtime at);

/* The chain reaches `until`; the time since it last moved belongs to `part`. until < trail->at asserts. */
void trail_advance(struct trail *trail, enum part part, simtime until);

enum metric_unit {
  METRIC_TIME,        /* samples ns, printed in ms */
  METRIC_BYTES,       /* "B" */
  METRIC_COUNT,       /* "1" */
  METRIC_SHARE,       /* samples parts per billion, printed 0..1, unit "1" */
  METRIC_SIGNED_TIME, /* as TIME; samples may be negative (paired differences) */
  METRIC_RATE,        /* samples bit/s, printed in Mbit/s */
};
const char *metric_unit_name(enum metric_unit unit);
/* Printed value = sample * metric_unit_scale(unit). */
double metric_unit_scale(enum metric_unit unit);

struct metric_def {
  const char *name;
  enum metric_unit unit;
  const char *from, *to; /* the clock: where it starts and stops; for counts, what is counted (to may be NULL) */
  const char *help;
};

struct metric_set;

struct metric_set *metric_set_new(const struct metric_def *defs, int count);
void metric_set_free(struct metric_set *set);

/* One completed entity. parts may be NULL (no breakdown); a metric has it always or never. */
void metric_sample(struct metric_set *set, int metric, int64_t value, const int64_t parts[PART_COUNT]);
/* Time between two points of one chain: value and parts are the differences. */
void metric_sample_between(struct metric_set *set, int metric, const struct trail *from, const struct trail *to);
/* An entity that did not complete: counts in `failed` alone. */
void metric_fail(struct metric_set *set, int metric);
/* Ends a replication: its mean per metric enters the interval's statistics. Call once per replication. */
void metric_end_replication(struct metric_set *set);

/* Adds everything in `from` (same table) to `into`. */
void metric_merge(struct metric_set *into, const struct metric_set *from);

/* Nearest-rank quantiles come from exact (value, count) pairs while a metric has at most METRIC_EXACT distinct
 * values, from a fixed-layout logarithmic histogram (relative width under 0.1 %) beyond: 1024 buckets per power of two,
 * one value each below 2048. The samples of a bucket are taken to lie evenly within it, held within [min, max]; the first
 * and the last rank answer with min and max themselves. */
enum { METRIC_EXACT = 512 };

struct metric_summary {
  int64_t n, failed, replications; /* replications: those that had at least one sample */
  double mean, sd;                 /* in the metric's base unit; mean NAN when n is 0 (min to max are then 0);
                                    * sd of the samples (n - 1), 0 when n < 2 */
  double rep_mean_sd;              /* standard deviation of the replication means; NAN when replications < 2 */
  int64_t min, p5, p25, p50, p75, p95, p99, max;
  bool has_parts;
  double parts[PART_COUNT]; /* means */
  double crypto;            /* of the first PART_CRYPTO_COUNT parts together */
};
void metric_summarise(const struct metric_set *set, int metric, struct metric_summary *out);
int64_t metric_quantile(const struct metric_set *set, int metric, int permille);
/* The distribution, as metric_quantile sees it: calls fn for each distinct value, ascending. */
void metric_each(const struct metric_set *set, int metric, void (*fn)(void *arg, int64_t value, int64_t count), void *arg);

/* One metric's whole state as portable text-free bytes (little endian), the same for the same samples; for the
 * pipe between processes and for the study's hist column. metric_bytes returns malloc'd memory. */
unsigned char *metric_bytes(const struct metric_set *set, int metric, size_t *size);
/* Merges such bytes into set; ERR_INPUT when they are damaged (set unchanged). */
int metric_merge_bytes(struct metric_set *set, int metric, const unsigned char *bytes, size_t size, struct err *e) MUST_CHECK;

/* The exact sums as decimal text, for the store: sum, sum of squares, breakdown sums (NULL name ends). */
struct metric_sums {
  char sum[48], sum_squares[80], rep_sum[48], rep_sum_squares[80]; /* rep_*: of the means in 1/1000 of the base unit */
  bool has_parts;
  int64_t parts[PART_COUNT];
};
void metric_exact_sums(const struct metric_set *set, int metric, struct metric_sums *out);

#endif
