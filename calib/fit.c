/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calib/fit.h"

#include <assert.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_roots.h>
#include <gsl/gsl_sf_psi.h>
#include <math.h>
#include <stdlib.h>

const double fit_probabilities[FIT_QUANTILES] = {0, 0.01, 0.025, 0.05, 0.075, 0.1, 0.125, 0.15, 0.175, 0.2, 0.225, 0.25, 0.275, 0.3, 0.325, 0.35, 0.375, 0.4,
    0.425, 0.45, 0.475, 0.5, 0.525, 0.55, 0.575, 0.6, 0.625, 0.65, 0.675, 0.7, 0.725, 0.75, 0.775, 0.8, 0.825, 0.85, 0.875, 0.9, 0.925, 0.95, 0.975, 0.99,
    0.995, 0.999, 1};
#define NS_MAX 86400e9 /* a day: a platform file holds nothing longer */
#define P_FIRST 0.0005
#define P_LAST (1 - 0.001 * 0.1353352832366127) /* e^-2 */

/* The zero of f in [low, high] to a relative 1e-12, by Brent's method. */
static double find_zero(double (*f)(double, void *), void *arg, double low, double high) {
  gsl_function function = {f, arg};
  gsl_root_fsolver *solver = gsl_root_fsolver_alloc(gsl_root_fsolver_brent);
  if (!solver) abort();
  double root = NAN;
  if (gsl_root_fsolver_set(solver, &function, low, high) == GSL_SUCCESS) {
    int status = GSL_CONTINUE;
    for (int i = 0; i < 200 && status == GSL_CONTINUE; i++) {
      if (gsl_root_fsolver_iterate(solver)) break;
      status = gsl_root_test_interval(gsl_root_fsolver_x_lower(solver), gsl_root_fsolver_x_upper(solver), 0, 1e-12);
    }
    root = gsl_root_fsolver_root(solver);
  }
  gsl_root_fsolver_free(solver);
  return root;
}

void fit_moments(const double *ns, int n, double *mean, double *sd) {
  double sum = 0, squares = 0;
  for (int i = 0; i < n; i++) sum += ns[i] - ns[0];
  *mean = ns[0] + sum / n;
  for (int i = 0; i < n; i++) squares += (ns[i] - *mean) * (ns[i] - *mean);
  *sd = sqrt(squares / n);
}

/* ---- families: estimate fills parameters and likelihood; false when the family cannot be ------------------------- */

static bool estimate_constant(const double *ns, int n, struct fit *fit) {
  double sd;
  fit_moments(ns, n, &fit->parameter[0], &sd);
  fit->log_likelihood = ns[0] == ns[n - 1] ? 0 : -INFINITY;
  return true;
}

static double constant_cdf(const double *a, double x) { return x >= a[0]; }
static double constant_quantile(const double *a, double p) {
  (void)p;
  return a[0];
}

static double normal_likelihood(double sd, int n) { return -0.5 * n * (log(2 * M_PI * sd * sd) + 1); }

static bool estimate_normal(const double *ns, int n, struct fit *fit) {
  fit_moments(ns, n, &fit->parameter[0], &fit->parameter[1]);
  fit->log_likelihood = normal_likelihood(fit->parameter[1], n);
  return true;
}

static double normal_cdf(const double *a, double x) { return gsl_cdf_gaussian_P(x - a[0], a[1]); }
static double normal_quantile(const double *a, double p) { return a[0] + gsl_cdf_gaussian_Pinv(p, a[1]); }

static bool estimate_lognormal(const double *ns, int n, struct fit *fit) {
  double sum = 0, squares = 0;
  for (int i = 0; i < n; i++) sum += log(ns[i]);
  double mu = sum / n;
  for (int i = 0; i < n; i++) squares += (log(ns[i]) - mu) * (log(ns[i]) - mu);
  fit->parameter[0] = mu;
  fit->parameter[1] = sqrt(squares / n);
  fit->log_likelihood = normal_likelihood(fit->parameter[1], n) - sum;
  return fit->parameter[1] > 0;
}

static double lognormal_cdf(const double *a, double x) { return gsl_cdf_lognormal_P(x, a[0], a[1]); }
static double lognormal_quantile(const double *a, double p) { return gsl_cdf_lognormal_Pinv(p, a[0], a[1]); }

static double gamma_equation(double shape, void *s) { return log(shape) - gsl_sf_psi(shape) - *(double *)s; }

static bool estimate_gamma(const double *ns, int n, struct fit *fit) {
  double mean, sd, s = 0;
  fit_moments(ns, n, &mean, &sd);
  for (int i = 0; i < n; i++) s += log(mean / ns[i]);
  s /= n;
  /* Beyond a shape of 1e6 (a CV of 0.1 %) it is a normal distribution, and ln - psi is lost in rounding. */
  if (s < 0.5e-6) return false;
  double guess = (3 - s + sqrt((s - 3) * (s - 3) + 24 * s)) / (12 * s); /* off by 1.5 % at most */
  double shape = find_zero(gamma_equation, &s, 0.9 * guess, 1.1 * guess);
  fit->parameter[0] = shape;
  fit->parameter[1] = mean / shape;
  fit->log_likelihood = n * ((shape - 1) * (log(mean) - s) - shape - shape * log(mean / shape) - lgamma(shape));
  return isfinite(shape);
}

static double gamma_cdf(const double *a, double x) { return gsl_cdf_gamma_P(x, a[0], a[1]); }
static double gamma_quantile(const double *a, double p) { return gsl_cdf_gamma_Pinv(p, a[0], a[1]); }

static bool estimate_exponential(const double *ns, int n, struct fit *fit) {
  double mean, sd;
  fit_moments(ns, n, &mean, &sd);
  fit->parameter[0] = ns[0];
  fit->parameter[1] = mean - ns[0];
  fit->log_likelihood = -n * (log(mean - ns[0]) + 1);
  return mean > ns[0];
}

static double exponential_cdf(const double *a, double x) { return x < a[0] ? 0 : gsl_cdf_exponential_P(x - a[0], a[1]); }
static double exponential_quantile(const double *a, double p) { return a[0] + gsl_cdf_exponential_Pinv(p, a[1]); }

/* ---- geometric rounds: a mixture of normals at base + k step ------------------------------------------------------ */

enum { BASE, STEP, CHANCE, NOISE };
enum { STARTS = 48, START_CYCLES = 12, CYCLES = 200, START_SAMPLES = 2000 };
#define REACH 8               /* noises around a sample in which rounds are looked at */
#define LEAST_NOISE 0.2886751 /* sqrt(1/12): of rounding to whole ns */
#define MOST_NOISE (1.0 / 3)  /* of a step */

/* Sums over samples and rounds, weighted with the chance that this sample took k rounds. x from `origin`. */
struct rounds_sums {
  double origin, likelihood, k, kk, x, kx, xx;
};

static void rounds_add(const double *a, double ns, struct rounds_sums *sums) {
  double at = (ns - a[BASE]) / a[STEP], reach = REACH * a[NOISE] / a[STEP];
  double first = fmax(1, ceil(at - reach)), last = fmax(first, floor(at + reach));
  double weight = 0, k1 = 0, k2 = 0, top = -INFINITY;
  for (double k = first; k <= last; k++) {
    double z = (at - k) * a[STEP] / a[NOISE], log_weight = (k - 1) * log1p(-a[CHANCE]) - 0.5 * z * z;
    /* weights are kept relative to the greatest so far, which exp() could not hold */
    double old = exp(fmin(0, top - log_weight)), new = exp(fmin(0, log_weight - top));
    top = fmax(top, log_weight);
    weight = weight * old + new;
    k1 = k1 * old + new *k;
    k2 = k2 * old + new *k *k;
  }
  double x = ns - sums->origin;
  sums->likelihood += top + log(weight * a[CHANCE] / a[NOISE]) - 0.5 * log(2 * M_PI);
  sums->k += k1 / weight;
  sums->kk += k2 / weight;
  sums->x += x;
  sums->kx += x * k1 / weight;
  sums->xx += x * x;
}

/* One cycle of EM over every stride-th sample: the likelihood of a, and better parameters in it. */
static double rounds_cycle(const double *ns, int n, int stride, double *a) {
  struct rounds_sums sums = {.origin = ns[0]};
  double count = 0;
  for (int i = stride / 2; i < n; i += stride, count++) rounds_add(a, ns[i], &sums);
  double k = sums.k / count, x = sums.x / count;
  double kk = sums.kk / count - k * k, kx = sums.kx / count - k * x, xx = sums.xx / count - x * x;
  if (!(kk > 0 && kx > 0 && k > 1)) return -INFINITY; /* all in one round: nothing to tell a step by */
  a[STEP] = kx / kk;
  a[BASE] = sums.origin + x - a[STEP] * k;
  a[CHANCE] = 1 / k;
  a[NOISE] = fmin(fmax(sqrt(fmax(0, xx - kx * kx / kk)), LEAST_NOISE), a[STEP] * MOST_NOISE);
  return sums.likelihood;
}

/* The likeliest of several starts with the sample's mean and variance, after a few cycles. */
static double rounds_start(const double *ns, int n, double *best) {
  double mean, sd, top = -INFINITY;
  int stride = 1 + n / START_SAMPLES;
  fit_moments(ns, n, &mean, &sd);
  for (int s = 1; s < STARTS; s++) {
    double p = (double)s / STARTS, step = sd * p / sqrt(1 - p), likelihood = 0;
    double a[FIT_PARAMETERS] = {mean - step / p, step, p, step / 6};
    for (int c = 0; c < START_CYCLES && likelihood > -INFINITY; c++) likelihood = rounds_cycle(ns, n, stride, a);
    if (!(likelihood > top)) continue;
    top = likelihood;
    for (int i = 0; i < FIT_PARAMETERS; i++) best[i] = a[i];
  }
  return top;
}

static bool estimate_rounds(const double *ns, int n, struct fit *fit) {
  double *a = fit->parameter;
  if (rounds_start(ns, n, a) == -INFINITY) return false;
  double before = -INFINITY, likelihood = -INFINITY, held[FIT_PARAMETERS];
  for (int c = 0; c < CYCLES; c++) {
    for (int i = 0; i < FIT_PARAMETERS; i++) held[i] = a[i];
    likelihood = rounds_cycle(ns, n, 1, a);
    if (likelihood - before < 1e-6 * n / 1000) break;
    before = likelihood;
  }
  for (int i = 0; i < FIT_PARAMETERS; i++) a[i] = held[i]; /* those the likelihood is of */
  fit->log_likelihood = likelihood;
  return isfinite(likelihood) && a[NOISE] < a[STEP] * MOST_NOISE * 0.999;
}

static double rounds_cdf(const double *a, double x) {
  double at = (x - a[BASE]) / a[STEP], reach = REACH * a[NOISE] / a[STEP];
  /* rounds far below x are in it as a whole: 1 - (1-p)^below */
  double below = fmax(0, ceil(at - reach) - 1), share = -expm1(below * log1p(-a[CHANCE]));
  for (double k = below + 1; k <= at + reach; k++)
    share += a[CHANCE] * exp((k - 1) * log1p(-a[CHANCE])) * gsl_cdf_gaussian_P(x - a[BASE] - k * a[STEP], a[NOISE]);
  return share;
}

struct rounds_target {
  const double *a;
  double p;
};

static double rounds_excess(double x, void *arg) {
  const struct rounds_target *target = arg;
  return rounds_cdf(target->a, x) - target->p;
}

static double rounds_quantile(const double *a, double p) {
  struct rounds_target target = {a, p};
  double rounds = 2 + log1p(-p) / log1p(-a[CHANCE]), width = REACH * a[NOISE];
  return find_zero(rounds_excess, &target, a[BASE] + a[STEP] - width, a[BASE] + rounds * a[STEP] + width);
}

/* ---- all of them ------------------------------------------------------------------------------------------------ */

struct family {
  const char *name;
  const char *parameters[FIT_PARAMETERS + 1];
  bool below_zero; /* its support */
  bool (*estimate)(const double *ns, int n, struct fit *fit);
  double (*cdf)(const double *a, double x);
  double (*quantile)(const double *a, double p);
};

static const struct family families[FIT_FAMILIES] = {
    [FIT_CONSTANT] = {"constant", {"mean"}, false, estimate_constant, constant_cdf, constant_quantile},
    [FIT_NORMAL] = {"normal", {"mean", "sd"}, true, estimate_normal, normal_cdf, normal_quantile},
    [FIT_LOGNORMAL] = {"lognormal", {"mu", "sigma"}, false, estimate_lognormal, lognormal_cdf, lognormal_quantile},
    [FIT_GAMMA] = {"gamma", {"shape", "scale"}, false, estimate_gamma, gamma_cdf, gamma_quantile},
    [FIT_EXPONENTIAL] = {"shifted-exponential", {"base", "scale"}, false, estimate_exponential, exponential_cdf, exponential_quantile},
    [FIT_ROUNDS] = {"geometric-rounds", {"base", "step", "p", "noise"}, true, estimate_rounds, rounds_cdf, rounds_quantile},
    [FIT_EMPIRICAL] = {"empirical", {NULL}, false, NULL, NULL, NULL},
};

const char *fit_family_name(enum fit_family family) { return families[family].name; }

const char *fit_parameter_name(enum fit_family family, int i) { return families[family].parameters[i]; }

double fit_aic(int parameters, double log_likelihood) { return 2 * parameters - 2 * log_likelihood; }

double fit_distance_limit(int n) { return 1.63 / sqrt(n); }

double fit_cdf(const struct fit *fit, double x) { return families[fit->family].cdf(fit->parameter, x); }

double fit_distance(const struct fit *fit, const double *ns, int n) {
  double distance = 0;
  for (int i = 0; i < n; i++) {
    /* F_n jumps from i/n to (i+1)/n at the sample; a constant's F may jump there too */
    double left = fit_cdf(fit, nextafter(ns[i], 0)) - (double)i / n, right = (i + 1.0) / n - fit_cdf(fit, ns[i]);
    distance = fmax(distance, fmax(left, right));
  }
  return distance;
}

/* What cannot be written is no answer: a family far too wide for the sample has ends beyond a day, or none. */
static bool ends_are_sane(const struct fit *fit, const double *ns, int n) {
  return fit_quantile(fit, ns, n, P_FIRST) >= 0 && fit_quantile(fit, ns, n, P_LAST) <= NS_MAX;
}

void fit_families(const double *ns, int n, struct fit out[FIT_FAMILIES]) {
  assert(n > 0);
  gsl_set_error_handler_off();
  for (int f = 0; f < FIT_FAMILIES; f++) {
    struct fit *fit = &out[f];
    *fit = (struct fit){.family = (enum fit_family)f, .log_likelihood = NAN, .aic = NAN};
    /* equal samples have no spread to fit a density to */
    bool spread = ns[0] < ns[n - 1] || f == FIT_CONSTANT;
    fit->possible = !families[f].estimate || (spread && families[f].estimate(ns, n, fit) && ends_are_sane(fit, ns, n));
    if (!families[f].estimate || !fit->possible) continue;
    int parameters = 0;
    while (families[f].parameters[parameters]) parameters++;
    fit->aic = fit_aic(parameters, fit->log_likelihood);
    fit->distance = fit_distance(fit, ns, n);
  }
}

enum fit_family fit_choose(const struct fit fits[FIT_FAMILIES], int n) {
  enum fit_family best = FIT_EMPIRICAL;
  for (int f = 0; f < FIT_EMPIRICAL; f++)
    if (isfinite(fits[f].aic) && fits[f].distance < fit_distance_limit(n) && (best == FIT_EMPIRICAL || fits[f].aic < fits[best].aic)) best = (enum fit_family)f;
  return best;
}

/* Between the two samples p falls between, i/(n-1) being the place of sample i. */
static double sample_quantile(const double *ns, int n, double p) {
  double at = p * (n - 1);
  int i = (int)at;
  return i + 1 < n ? ns[i] + (at - i) * (ns[i + 1] - ns[i]) : ns[n - 1];
}

double fit_quantile(const struct fit *fit, const double *ns, int n, double p) {
  const struct family *family = &families[fit->family];
  if (!family->quantile) return sample_quantile(ns, n, p);
  double x = family->quantile(fit->parameter, p);
  return family->below_zero ? fmax(x, ns[0]) : x;
}

void fit_quantiles(const struct fit *fit, const double *ns, int n, int64_t out[FIT_QUANTILES]) {
  for (int i = 0; i < FIT_QUANTILES; i++) {
    double p = i == 0 ? P_FIRST : i == FIT_QUANTILES - 1 ? P_LAST : fit_probabilities[i];
    out[i] = llround(fit_quantile(fit, ns, n, p));
  }
}
