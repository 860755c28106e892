/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fit: which distribution a sample of timings came from.
 *
 * Purpose:   fits each family by maximum likelihood, compares them, and gives the quantiles a platform file states.
 * Units:     ns; log-likelihoods are of densities per ns (a constant, being exact to 1 ns, has likelihood 1 or 0).
 * Order:     every sample passed in ascends; probabilities and quantiles ascend.
 * Families:  constant              mean: likelihood 1 when all samples are equal, 0 otherwise
 *            normal                mean, sd: closed form
 *            lognormal             mu, sigma of ln(ns): closed form
 *            gamma                 shape, scale: root of ln(shape) - psi(shape) = ln(mean) - mean of logarithms
 *            shifted-exponential   base (the least sample), scale (mean - base)
 *            geometric-rounds      base + K x step, K = 1, 2, ... with chance p (1-p)^(K-1), and normal noise: signing by
 *                                  rejection sampling. Starts match mean and variance for a range of p; EM climbs from
 *                                  the likeliest. Only for steps that show: noise up to a third of a step.
 *            empirical             the quantiles of the sample itself
 * Invariants: a pure function of the sample. Quantiles of families that reach below 0 are not below the least sample.
 * Ownership: nothing is kept; fit_families allocates and frees on its own.
 * Errors:    none; a family that cannot be fitted, or reaches beyond a day, has possible = false. An empty sample asserts.
 * Sources:   AIC: Akaike, "A new look at the statistical model identification", 1974. The limit of the distance, 1.63 /
 *            sqrt(n): Kolmogorov's distribution at 1 %; as the parameters come from the same sample, it refuses fewer fits than 1 %.
 *            EM: Dempster, Laird, Rubin 1977. First guess of gamma's shape: Minka, "Estimating a Gamma distribution", 2002.
 */
#ifndef PQNETSIM_FIT_H
#define PQNETSIM_FIT_H

#include <stdbool.h>
#include <stdint.h>

enum fit_family { FIT_CONSTANT, FIT_NORMAL, FIT_LOGNORMAL, FIT_GAMMA, FIT_EXPONENTIAL, FIT_ROUNDS, FIT_EMPIRICAL, FIT_FAMILIES };
enum { FIT_PARAMETERS = 4, FIT_QUANTILES = 45 };

struct fit {
  enum fit_family family;
  bool possible;
  double parameter[FIT_PARAMETERS]; /* in the order above; rounds: base, step, p, noise */
  double log_likelihood, aic;       /* NAN for empirical */
  double distance;                  /* Kolmogorov-Smirnov */
};

const char *fit_family_name(enum fit_family family);
/* The name of parameter i, NULL behind the last one. */
const char *fit_parameter_name(enum fit_family family, int i);

/* Fits all families, out[f].family being f. */
void fit_families(const double *ns, int n, struct fit out[FIT_FAMILIES]);
/* The lowest AIC among those whose distance is below the limit; FIT_EMPIRICAL when there is none. */
enum fit_family fit_choose(const struct fit fits[FIT_FAMILIES], int n);

double fit_aic(int parameters, double log_likelihood);
double fit_distance_limit(int n);
/* Mean and standard deviation (divisor n). */
void fit_moments(const double *ns, int n, double *mean, double *sd);

/* Share of the distribution up to x. Not for FIT_EMPIRICAL. */
double fit_cdf(const struct fit *fit, double x);
/* sup |F - F_n|. */
double fit_distance(const struct fit *fit, const double *ns, int n);
/* 0 < p < 1. ns, n: the sample it was fitted to. */
double fit_quantile(const struct fit *fit, const double *ns, int n, double p);

/* What a platform file states: probabilities, and whole ns. p 0 and 1 stand for 0.0005 and 1 - 0.001/e^2: with the
 * latter the straight line from 0.999 to 1 has the mean of an exponential tail. */
extern const double fit_probabilities[FIT_QUANTILES];
void fit_quantiles(const struct fit *fit, const double *ns, int n, int64_t out[FIT_QUANTILES]);

#endif
