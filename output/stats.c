/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/stats.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <string.h>

double stats_ci95(double sd, int64_t n) {
  if (n < 2) return NAN;
  gsl_set_error_handler_off();
  return gsl_cdf_tdist_Pinv(0.975, (double)(n - 1)) * sd / sqrt((double)n);
}

/* P(at most `rank` of n independent values lie below the quantile). */
static double at_most(int64_t rank, double p, int64_t n) { return rank < 0 ? 0.0 : gsl_cdf_binomial_P((unsigned)rank, p, (unsigned)n); }

bool stats_quantile_interval(int permille, int64_t n, int *low_permille, int *high_permille) {
  if (n < 1 || n > INT32_MAX) return false;
  gsl_set_error_handler_off();
  double p = permille / 1000.0;
  /* largest `low` with P(B <= low - 1) <= 0.025, smallest `high` with P(B <= high - 1) >= 0.975; both by halving */
  int64_t low = 0, above = n + 1;
  while (above - low > 1) {
    int64_t middle = low + (above - low) / 2;
    if (at_most(middle - 1, p, n) <= 0.025)
      low = middle;
    else
      above = middle;
  }
  int64_t high = n + 1, below = 0;
  while (high - below > 1) {
    int64_t middle = below + (high - below) / 2;
    if (at_most(middle - 1, p, n) >= 0.975)
      high = middle;
    else
      below = middle;
  }
  if (low < 1 || high > n) return false;
  *low_permille = (int)(1000 * low / n);
  *high_permille = (int)(1000 * high / n);
  return true;
}

/* Exact powers of ten: 10^22 is the largest a double holds exactly. */
static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

double stats_round(double value) {
  double size = fabs(value);
  /* beyond these there is no exact power to divide by; nothing measured is there */
  if (!(size >= 1e-13 && size < 1e22)) return size < 1e-13 ? 0.0 : value;
  if (size >= 1e9) {
    int k = 1;
    while (size / powers[k] >= 1e9) k++;
    return rint(value / powers[k]) * powers[k];
  }
  int k = 0;
  while (k < 22 && size * powers[k] < 1e8) k++;
  /* an integer below 2^53 over an exact power: the division gives the double nearest to the decimal */
  return rint(value * powers[k]) / powers[k];
}

void stats_derive(struct store_row *row) {
  row->cv = row->n > 0 && row->mean != 0 ? stats_round(row->sd / row->mean) : NAN;
  row->iqr = row->n > 0 ? stats_round(row->p75 - row->p25) : NAN;
}

void stats_row(const struct metric_set *set, int metric, enum metric_unit unit, struct store_row *out) {
  struct metric_summary summary;
  metric_summarise(set, metric, &summary);
  double scale = metric_unit_scale(unit);
  *out = (struct store_row){.n = summary.n, .failed = summary.failed, .replications = summary.replications, .has_parts = summary.has_parts};
  const struct {
    double *to;
    double from;
  } fields[] = {
      {&out->mean, summary.mean},
      {&out->sd, summary.sd},
      {&out->min, (double)summary.min},
      {&out->p5, (double)summary.p5},
      {&out->p25, (double)summary.p25},
      {&out->p50, (double)summary.p50},
      {&out->p75, (double)summary.p75},
      {&out->p95, (double)summary.p95},
      {&out->p99, (double)summary.p99},
      {&out->max, (double)summary.max},
  };
  for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) *fields[i].to = summary.n > 0 ? stats_round(fields[i].from * scale) : NAN;
  out->ci95 = summary.replications < 2 ? NAN : stats_round(stats_ci95(summary.rep_mean_sd, summary.replications) * scale);
  out->crypto = summary.has_parts && summary.n > 0 ? stats_round(summary.crypto * scale) : 0.0;
  for (int i = 0; i < PART_COUNT; i++) out->parts[i] = summary.has_parts && summary.n > 0 ? stats_round(summary.parts[i] * scale) : 0.0;
  stats_derive(out);
}

bool stats_named(const struct store_row *row, const char *name, double *out) {
  const struct {
    const char *name;
    double value;
  } table[] = {
      {"mean", row->mean},
      {"sd", row->sd},
      {"cv", row->cv},
      {"iqr", row->iqr},
      {"ci95", row->ci95},
      {"min", row->min},
      {"p5", row->p5},
      {"p25", row->p25},
      {"p50", row->p50},
      {"p75", row->p75},
      {"p95", row->p95},
      {"p99", row->p99},
      {"max", row->max},
      {"n", (double)row->n},
      {"failed", (double)row->failed},
  };
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    if (strcmp(table[i].name, name) != 0) continue;
    *out = table[i].value;
    return true;
  }
  return false;
}

int stats_permille(const char *name) {
  static const struct {
    const char *name;
    int permille;
  } table[] = {{"p5", 50}, {"p25", 250}, {"p50", 500}, {"p75", 750}, {"p95", 950}, {"p99", 990}};
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
    if (strcmp(table[i].name, name) == 0) return table[i].permille;
  return -1;
}
