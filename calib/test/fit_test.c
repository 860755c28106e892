/* SPDX-License-Identifier: GPL-3.0-or-later */
// objects: calib/fit.o sim/core/random.o
// libs: $(GSL_LIBS)
#include "calib/fit.h"
#include "sim/core/random.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

enum { N = 2000, SETS = 5 };

/* Draws are made from uniforms by other ways than the inverses under test. */
static struct draw_key key;

static double uniform(void) {
  key.message++;
  return ((double)(random_draw(&key) >> 11) + 0.5) * 0x1p-53;
}

static double gauss(void) { return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform()); } /* Box and Muller */
static double exponential(void) { return -log(uniform()); }

static double draw_constant(void) { return 159820; }
static double draw_normal(void) { return 65000 + 5000 * gauss(); }
static double draw_lognormal(void) { return exp(11 + 0.4 * gauss()); }
static double draw_gamma(void) { return 3000 * (exponential() + exponential() + exponential() + exponential()); } /* Erlang, 4 */
static double draw_exponential(void) { return 40000 + 12000 * exponential(); }
static double draw_rounds(void) {
  int rounds = 1;
  while (uniform() >= 0.25) rounds++;
  return 20000 + 30000.0 * rounds + 1500 * gauss();
}
static double draw_bimodal(void) { return (uniform() < 0.5 ? 20000 : 60000) + 1000 * gauss(); }

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void fill(double *ns, int n, double (*draw)(void), uint64_t seed) {
  key = (struct draw_key){.seed = seed, .purpose = DRAW_COST_INITIATOR};
  for (int i = 0; i < n; i++) ns[i] = draw();
  qsort(ns, (size_t)n, sizeof *ns, ascending);
}

/* Bounds are four standard errors at n = 2000, sqrt(n) = 44.7: mean sd/44.7; sd sd/63.2; gamma shape 4 from the Fisher
 * information sqrt(4 / (2000 (4 psi'(4) - 1))), psi'(4) = 0.28382: 0.122, scale sqrt(psi'(4) 9e6 / (2000 x 0.1353)): 97;
 * base of the exponential 12000/2000 per e-fold; p 0.25 sqrt(0.75)/44.7; step 1500/(3.46 x 44.7), as K varies by
 * sqrt(0.75)/0.25 = 3.46, base from it sqrt(1/n + 16/(12 n)) 1500 = 51; noise 1500/63.2. */
static const struct known {
  double (*draw)(void);
  enum fit_family family;
  double parameter[FIT_PARAMETERS], bound[FIT_PARAMETERS];
} knowns[] = {
    {draw_constant, FIT_CONSTANT, {159820}, {0}},
    {draw_normal, FIT_NORMAL, {65000, 5000}, {448, 317}},
    {draw_lognormal, FIT_LOGNORMAL, {11, 0.4}, {0.0358, 0.0253}},
    {draw_gamma, FIT_GAMMA, {4, 3000}, {0.487, 389}},
    {draw_exponential, FIT_EXPONENTIAL, {40000, 12000}, {48, 1074}},
    {draw_rounds, FIT_ROUNDS, {20000, 30000, 0.25, 1500}, {205, 39, 0.0194, 95}},
};
enum { KNOWNS = sizeof knowns / sizeof knowns[0] };

static void test_the_family_and_its_parameters_come_back(void **state) {
  (void)state;
  static double ns[N];
  struct fit fits[FIT_FAMILIES];
  for (int k = 0; k < KNOWNS; k++)
    for (int seed = 1; seed <= SETS; seed++) {
      const struct known *known = &knowns[k];
      fill(ns, N, known->draw, (uint64_t)seed);
      fit_families(ns, N, fits);
      enum fit_family chosen = fit_choose(fits, N);
      if (chosen != known->family) fail_msg("seed %d: chose %s for %s", seed, fit_family_name(chosen), fit_family_name(known->family));
      for (int i = 0; fit_parameter_name(known->family, i); i++)
        if (!(fabs(fits[chosen].parameter[i] - known->parameter[i]) <= known->bound[i]))
          fail_msg("seed %d, %s: %s is %g, drawn with %g", seed, fit_family_name(chosen), fit_parameter_name(chosen, i), fits[chosen].parameter[i],
              known->parameter[i]);
    }
}

/* Straight lines between the quantiles written must keep the mean. */
static void test_quantiles_have_the_mean_of_the_family(void **state) {
  (void)state;
  static double ns[N];
  struct fit fits[FIT_FAMILIES];
  int64_t q[FIT_QUANTILES];
  for (int k = 0; k < KNOWNS; k++) {
    double mean, sd, written = 0;
    fill(ns, N, knowns[k].draw, 1);
    fit_families(ns, N, fits);
    fit_moments(ns, N, &mean, &sd);
    const enum fit_family both[] = {knowns[k].family, FIT_EMPIRICAL};
    for (int f = 0; f < 2; f++, written = 0) {
      fit_quantiles(&fits[both[f]], ns, N, q);
      for (int i = 1; i < FIT_QUANTILES; i++) {
        assert_true(q[i] >= q[i - 1]);
        written += 0.5 * (double)(q[i] + q[i - 1]) * (fit_probabilities[i] - fit_probabilities[i - 1]);
      }
      if (fabs(written - mean) > 0.01 * mean) fail_msg("%s: mean %g of the sample, %g written", fit_family_name(both[f]), mean, written);
    }
  }
}

static void test_quantile_inverts_cdf(void **state) {
  (void)state;
  static double ns[N];
  struct fit fits[FIT_FAMILIES];
  for (int k = 1; k < KNOWNS; k++) {
    fill(ns, N, knowns[k].draw, 1);
    fit_families(ns, N, fits);
    const struct fit *fit = &fits[knowns[k].family];
    for (double p = 0.01; p < 0.995; p += 0.07) assert_float_equal(fit_cdf(fit, fit_quantile(fit, ns, N, p)), p, 1e-9);
  }
}

static void test_two_modes_fall_back_to_the_sample(void **state) {
  (void)state;
  static double ns[N];
  struct fit fits[FIT_FAMILIES];
  fill(ns, N, draw_bimodal, 1);
  fit_families(ns, N, fits);
  assert_int_equal(fit_choose(fits, N), FIT_EMPIRICAL);
}

/* Numbered samples, mean 2.5: the quantile at p lies at place 3p. 1/2 -> 1.5 -> 2.5; 0.1 -> 0.3 -> 1.3. */
static void test_empirical_quantiles(void **state) {
  (void)state;
  const double ns[] = {1, 2, 3, 4};
  const struct fit fit = {.family = FIT_EMPIRICAL, .possible = true};
  assert_float_equal(fit_quantile(&fit, ns, 4, 0.5), 2.5, 1e-12);
  assert_float_equal(fit_quantile(&fit, ns, 4, 0.1), 1.3, 1e-12);
}

/* Exponential from 0 with scale 1 against 0.1, 0.7, 0.7, 2: F is 0.09516, 0.50341, 0.50341, 0.86466 and F_n steps to 0.25,
 * 0.75, 0.75, 1. Differences: 0.09516-0, 0.25-0.09516 = 0.15484, 0.50341-0.25 = 0.25341 (left of 0.7), 0.75-0.50341 =
 * 0.24659, 0.86466-0.75 = 0.11466, 1-0.86466 = 0.13534. The greatest is 0.25341. */
static void test_distance_by_hand(void **state) {
  (void)state;
  const double ns[] = {0.1, 0.7, 0.7, 2};
  const struct fit fit = {.family = FIT_EXPONENTIAL, .possible = true, .parameter = {0, 1}};
  assert_float_equal(fit_distance(&fit, ns, 4), 0.2534147, 1e-7);
  /* a constant 0.7 leaves one sample of four below it and one above */
  const struct fit constant = {.family = FIT_CONSTANT, .possible = true, .parameter = {0.7}};
  assert_float_equal(fit_distance(&constant, ns, 4), 0.25, 1e-12);
  /* 1.63 / sqrt(100) */
  assert_float_equal(fit_distance_limit(100), 0.163, 1e-12);
}

/* Normal fitted to 9, 11: mean 10, sd 1, ln L = 2 x (-ln sqrt(2 pi) - 1/2) = -2.837877; AIC = 2 x 2 + 5.675754. */
static void test_aic_by_hand(void **state) {
  (void)state;
  const double ns[] = {9, 11};
  struct fit fits[FIT_FAMILIES];
  fit_families(ns, 2, fits);
  assert_float_equal(fits[FIT_NORMAL].log_likelihood, -2.837877, 1e-6);
  assert_float_equal(fits[FIT_NORMAL].aic, 9.675754, 1e-6);
  /* exponential from 9 with scale 1: densities 1 and e^-2, ln L = -2, AIC = 4 + 4 */
  assert_float_equal(fits[FIT_EXPONENTIAL].aic, 8, 1e-9);
  assert_float_equal(fit_aic(3, -10), 26, 1e-12);
}

static double density(const struct fit *fit, double x) {
  double h = 1e-4 * x;
  return (fit_cdf(fit, x + h) - fit_cdf(fit, x - h)) / (2 * h);
}

/* A likelihood is the product of densities; those come from differences of the cdf here. The exponential's is not
 * differentiable at its base, where a sample always lies. */
static void test_likelihood_is_that_of_the_density(void **state) {
  (void)state;
  static double ns[N];
  struct fit fits[FIT_FAMILIES];
  for (int k = 1; k < KNOWNS; k++) {
    if (knowns[k].family == FIT_EXPONENTIAL) continue;
    fill(ns, N, knowns[k].draw, 1);
    fit_families(ns, N, fits);
    const struct fit *fit = &fits[knowns[k].family];
    double sum = 0;
    for (int i = 0; i < N; i++) sum += log(density(fit, ns[i]));
    assert_float_equal(sum, fit->log_likelihood, 0.05);
  }
}

static void test_families_below_zero_stop_at_the_least_sample(void **state) {
  (void)state;
  const double ns[] = {100, 110, 900, 1000};
  struct fit fits[FIT_FAMILIES];
  int64_t q[FIT_QUANTILES];
  fit_families(ns, 4, fits);
  fit_quantiles(&fits[FIT_NORMAL], ns, 4, q);
  assert_int_equal(q[0], 100);
}

static void test_samples_without_spread(void **state) {
  (void)state;
  const double ns[] = {70, 70, 70};
  struct fit fits[FIT_FAMILIES];
  fit_families(ns, 1, fits);
  assert_int_equal(fit_choose(fits, 1), FIT_CONSTANT);
  fit_families(ns, 3, fits);
  assert_int_equal(fit_choose(fits, 3), FIT_CONSTANT);
  for (int f = FIT_NORMAL; f < FIT_EMPIRICAL; f++) assert_false(fits[f].possible);
}

/* Widths over nine decades, ties, and a sample far away: every family answers or says that it cannot. */
static void test_odd_samples(void **state) {
  (void)state;
  struct fit fits[FIT_FAMILIES];
  int64_t q[FIT_QUANTILES];
  const double odd[][4] = {{1, 1, 1, 2}, {1, 1, 1, 86400e9}, {1e9, 1e9, 1e9 + 1, 1e9 + 2}, {0.5, 5e3, 5e6, 5e9}, {86399e9, 86399e9, 86399e9, 86400e9}};
  for (size_t s = 0; s < sizeof odd / sizeof odd[0]; s++) {
    fit_families(odd[s], 4, fits);
    for (int f = 0; f < FIT_FAMILIES; f++) {
      if (!fits[f].possible) continue;
      fit_quantiles(&fits[f], odd[s], 4, q);
      for (int i = 0; i < FIT_QUANTILES; i++)
        if (q[i] < (i ? q[i - 1] : 0)) fail_msg("sample %zu, %s: %lld at place %d", s, fit_family_name(fits[f].family), (long long)q[i], i);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_family_and_its_parameters_come_back),
      cmocka_unit_test(test_quantiles_have_the_mean_of_the_family),
      cmocka_unit_test(test_quantile_inverts_cdf),
      cmocka_unit_test(test_two_modes_fall_back_to_the_sample),
      cmocka_unit_test(test_empirical_quantiles),
      cmocka_unit_test(test_distance_by_hand),
      cmocka_unit_test(test_aic_by_hand),
      cmocka_unit_test(test_likelihood_is_that_of_the_density),
      cmocka_unit_test(test_families_below_zero_stop_at_the_least_sample),
      cmocka_unit_test(test_samples_without_spread),
      cmocka_unit_test(test_odd_samples),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
