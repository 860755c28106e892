/* SPDX-License-Identifier: GPL-3.0-or-later */
// objects: calib/fit.o models/crypto/cost.o models/crypto/cost_data.o models/crypto/cost_line.o models/crypto/csv.o models/crypto/alg.o sim/core/random.o sim/core/err.o models/crypto/device.o models/crypto/cost_name.o models/crypto/alg_own.o
// libs: $(GSL_LIBS)
/* What the shipped platforms must reproduce of published spreads and ratios. */
#include "calib/fit.h"
#include "models/crypto/cost.h"
#include "sim/core/random.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static int set_up(void **state) {
  (void)state;
  cost_set_data_dir("calib/data");
  return 0;
}

static struct cost_platform *load(const char *name, const char *folder) {
  struct cost_platform *platform;
  struct err e = {0};
  if (cost_load(name, folder, &platform, &e)) fail_msg("%s", e.text);
  return platform;
}

struct spread {
  double mean, cv;
};

static struct spread draw_many(const struct cost_row *row) {
  enum { DRAWS = 10000 };
  double sum = 0, squares = 0;
  for (uint32_t i = 0; i < DRAWS; i++) {
    const struct draw_key key = {.seed = 1, .replication = i, .purpose = DRAW_COST_INITIATOR};
    double ns = (double)cost_draw(row, 0, random_draw(&key));
    sum += ns;
    squares += ns * ns;
  }
  double mean = sum / DRAWS;
  return (struct spread){mean, sqrt(squares / DRAWS - mean * mean) / mean};
}

/* Mbed TLS on a Raspberry Pi 4, 50 keys of RSA-2048 per version, in ms (source mbedtls-10830). */
static const struct published {
  const char *platform;
  double min, median, mean, max, sd;
} keygens[] = {
    {"raspberry-pi4-mbedtls", 59.7, 439.0, 548.9, 1673.8, 387.0},
    {"raspberry-pi4-mbedtls-3.6.7", 92.6, 1117.0, 1353.2, 3267.6, 836.8},
};
enum { KEYGENS = sizeof keygens / sizeof keygens[0], KEYS = 50 };

static void test_rsa_key_generation_has_the_published_spread(void **state) {
  (void)state;
  for (int i = 0; i < KEYGENS; i++) {
    const struct published *p = &keygens[i];
    struct cost_platform *platform = load(p->platform, NULL);
    struct spread spread = draw_many(cost_find(platform, "RSA-2048", "keygen"));
    if (fabs(spread.mean / (p->mean * 1e6) - 1) > 0.03) fail_msg("%s: mean %.1f ms", p->platform, spread.mean / 1e6);
    if (fabs(spread.cv / (p->sd / p->mean) - 1) > 0.05) fail_msg("%s: cv %.3f", p->platform, spread.cv);
    if (i == 0 && (spread.cv < 0.60 || spread.cv > 0.80)) fail_msg("%s: cv %.3f", p->platform, spread.cv);
    cost_free(platform);
  }
}

static struct fit gamma_of(const struct published *p) {
  return (struct fit){.family = FIT_GAMMA, .parameter = {p->mean * p->mean / (p->sd * p->sd), 1e6 * p->sd * p->sd / p->mean}};
}

/* The files hold what calib/data/README.md says: the gamma distribution with the published mean and deviation. */
static void test_rsa_rows_are_made_as_told(void **state) {
  (void)state;
  for (int i = 0; i < KEYGENS; i++) {
    struct cost_platform *platform = load(keygens[i].platform, NULL);
    const struct cost_row *row = cost_find(platform, "RSA-2048", "keygen");
    struct fit gamma = gamma_of(&keygens[i]);
    int64_t quantiles[FIT_QUANTILES];
    double none = 0;
    fit_quantiles(&gamma, &none, 1, quantiles);
    for (int q = 0; q < FIT_QUANTILES; q++) {
      uint64_t uniform = q == FIT_QUANTILES - 1 ? UINT64_MAX : (uint64_t)(fit_probabilities[q] * 0x1p64);
      double stated = (double)cost_draw(row, 0, uniform);
      if (fabs(stated / (double)quantiles[q] - 1) > 1e-4)
        fail_msg("%s: p %g: %.0f, not %.0f", keygens[i].platform, fit_probabilities[q], stated, (double)quantiles[q]);
    }
    cost_free(platform);
  }
}

/* What was not used for the parameters: least, median and largest of 50 keys fall where 19 of 20 such samples have them. The
 * median of n values is below F^-1(0.5 +- 0.98 / sqrt(n)), the least below x with chance 1 - (1 - F(x))^n. */
static void test_rsa_extremes_are_likely(void **state) {
  (void)state;
  for (int i = 0; i < KEYGENS; i++) {
    struct fit gamma = gamma_of(&keygens[i]);
    double least = 1 - pow(1 - fit_cdf(&gamma, keygens[i].min * 1e6), KEYS), largest = pow(fit_cdf(&gamma, keygens[i].max * 1e6), KEYS);
    double median = fit_cdf(&gamma, keygens[i].median * 1e6);
    print_message("%s: chance of a smaller least %.3f, of a smaller largest %.3f, share below the median %.3f\n", keygens[i].platform, least, largest, median);
    assert_true(least > 0.025 && least < 0.975);
    assert_true(largest > 0.025 && largest < 0.975);
    assert_true(fabs(median - 0.5) < 0.98 / sqrt(KEYS));
  }
}

/* A mean alone is a constant, and no key generation is one. */
static void test_a_constant_for_chance_is_found(void **state) {
  (void)state;
  char folder[] = "/tmp/distribution_test.XXXXXX", path[64], text[64];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/mean.csv", folder);
  FILE *to = fopen(path, "w");
  assert_non_null(to);
  fputs("# title: T\nalgorithm,operation,quantiles_ns,kind,source\nRSA-2048,keygen,548900000,published,mbedtls-10830\n"
        "ML-DSA-65,sign,1000,published,pqm4\nML-DSA-44,sign,0:1000 "
        "1:2000,published,pqm4\nML-DSA-65,verify,1000,published,pqm4\nRSA-2048,sign,1000,published,pqm4\n",
      to);
  fclose(to);
  struct cost_platform *platform = load("./mean.csv", folder);
  assert_int_equal(cost_frozen(platform, text, sizeof text), 2);
  assert_string_equal(text, "ML-DSA-65 sign, RSA-2048 keygen");
  cost_free(platform);
  unlink(path);
  rmdir(folder);
}

/* Of the shipped ones only the student's single run has them, and says so in its notes. */
static void test_shipped_platforms_freeze_nothing(void **state) {
  (void)state;
  char **names, text[256];
  int count;
  struct err e = {0};
  assert_int_equal(cost_list(&names, &count, &e), 0);
  for (int i = 0; i < count; i++) {
    struct cost_platform *platform = load(names[i], NULL);
    int frozen = cost_frozen(platform, text, sizeof text);
    bool excused = !strcmp(names[i], "student-rustcrypto");
    if (frozen != excused) fail_msg("%s: %d constants: %s", names[i], frozen, text);
    cost_free(platform);
  }
  cost_list_free(names, count);
}

/* Mean over median - 1 of the distribution itself: 100,000 equal steps through it. */
static double mean_above_median(const struct cost_row *row) {
  enum { STEPS = 100000 };
  double sum = 0;
  for (int i = 0; i < STEPS; i++) sum += (double)cost_draw(row, 0, (uint64_t)((i + 0.5) / STEPS * 0x1p64));
  return sum / STEPS / (double)cost_median(row, 0) - 1;
}

/* ML-DSA signs until a signature is not rejected, 4.25, 5.1 and 3.85 times on average (FIPS 204 table 1). Measured with OpenSSL
 * on x86, means lie 35.7, 27.6 and 24.5 % above the medians (441026 / 324950 ns and so on; source pqnetsim-ops-2026), and
 * platforms with that shape must stay within 24 to 36 %. On the Cortex-M4 a larger part of a signature is done once, as the
 * published least (one round) says, so less of it is skewed: with base b and rounds of r, least = b + r, mean = b + m r, median =
 * b + k r, k being the median of a geometric distribution of mean m. Times are not that discrete: 6 points are allowed, by which
 * the same sum misses the measured 27.6 % on x86 (0.235, 0.727 ms: 22 %). */
static void test_mldsa_signing_is_skewed(void **state) {
  (void)state;
  static const struct {
    const char *algorithm;
    double rounds, median_rounds;
  } sets[] = {{"ML-DSA-44", 4.25, 3}, {"ML-DSA-65", 5.1, 4}, {"ML-DSA-87", 3.85, 3}};
  char **names;
  int count, measured = 0, stretched = 0;
  struct err e = {0};
  assert_int_equal(cost_list(&names, &count, &e), 0);
  for (int i = 0; i < count; i++) {
    struct cost_platform *platform = load(names[i], NULL);
    for (int a = 0; a < 3; a++) {
      const struct cost_row *sign = cost_find(platform, sets[a].algorithm, "sign"), *verify = cost_find(platform, sets[a].algorithm, "verify");
      if (!sign || !cost_is_random(sign)) continue;
      double above = mean_above_median(sign), off = mean_above_median(verify), low = 0.24, high = 0.36;
      if (!strncmp(names[i], "cortex-m4", strlen("cortex-m4"))) {
        double least = (double)cost_draw(sign, 0, 0), mean = (1 + above) * (double)cost_median(sign, 0);
        double round = (mean - least) / (sets[a].rounds - 1), median = least + (sets[a].median_rounds - 1) * round;
        low = mean / median - 1 - 0.06;
        high = mean / median - 1 + 0.06;
        stretched++;
      } else {
        measured++;
      }
      if (above < low || above > high) fail_msg("%s %s sign: mean %.2f %% above the median", names[i], sets[a].algorithm, 100 * above);
      if (fabs(off) > 0.02) fail_msg("%s %s verify: mean %.2f %% off the median", names[i], sets[a].algorithm, 100 * off);
    }
    cost_free(platform);
  }
  cost_list_free(names, count);
  assert_true(measured >= 15);
  assert_true(stretched >= 6);
}

static double us(const struct cost_platform *platform, const char *algorithm, const char *operation) {
  const struct cost_row *row = cost_find(platform, algorithm, operation);
  if (!row) fail_msg("no %s %s", algorithm, operation);
  return (double)cost_median(row, 0) / 1000;
}

static void assert_near(double found, double wanted, double tolerance) {
  if (fabs(found / wanted - 1) > tolerance) fail_msg("found %g, wanted %g within %g %%", found, wanted, 100 * tolerance);
}

/* The peak stack stands in the note. */
static int stack_of(const struct cost_platform *platform, const char *algorithm, const char *operation) {
  for (int i = 0; i < cost_row_count(platform); i++) {
    struct cost_row_info info;
    int bytes;
    cost_row_info(platform, i, &info);
    const char *at = strstr(info.note, "peak stack ");
    if (!strcmp(info.algorithm, algorithm) && !strcmp(info.operation, operation) && at && sscanf(at, "peak stack %d B", &bytes) == 1) return bytes;
  }
  fail_msg("no peak stack of %s %s", algorithm, operation);
  return 0;
}

/* Trezor: 4.9, 7.9, 11 ms for a key pair; mlkem-native's stack; masking of a decapsulation at order 2 and 3. */
static void test_small_devices(void **state) {
  (void)state;
  struct cost_platform *plain = load("trezor-class", NULL);
  double smallest = us(plain, "ML-KEM-512", "keygen");
  assert_near(smallest, 4900, 0.03);
  assert_near(us(plain, "ML-KEM-768", "keygen") / smallest, 1.61, 0.03);
  assert_near(us(plain, "ML-KEM-1024", "keygen") / smallest, 2.24, 0.03);
  assert_int_equal(stack_of(plain, "ML-KEM-768", "keygen"), 17888);
  assert_int_equal(stack_of(plain, "ML-KEM-768", "encaps"), 19744);
  assert_int_equal(stack_of(plain, "ML-KEM-768", "decaps"), 21992);
  static const struct {
    const char *name;
    double factor;
  } masked[] = {{"trezor-class-masked2", 2.86}, {"trezor-class-masked3", 5.63}};
  static const char *const levels[] = {"ML-KEM-512", "ML-KEM-768", "ML-KEM-1024"};
  for (int m = 0; m < 2; m++) {
    struct cost_platform *platform = load(masked[m].name, NULL);
    for (int l = 0; l < 3; l++) {
      assert_near(us(platform, levels[l], "decaps") / us(plain, levels[l], "decaps"), masked[m].factor, 1e-6);
      assert_near(us(platform, levels[l], "decaps_full") / us(plain, levels[l], "decaps_full"), masked[m].factor, 1e-6);
      assert_near(us(platform, levels[l], "encaps_full"), us(plain, levels[l], "encaps_full"), 0);
    }
    cost_free(platform);
  }
  cost_free(plain);
}

/* X25519 25, 56, 29 us; ML-KEM-768 34, 19, 30; ML-KEM-1024 51, 26, 40 (key generation, encapsulation, decapsulation). */
static void test_a_kem_is_cheaper_than_x25519_for_a_responder(void **state) {
  (void)state;
  struct cost_platform *server = load("small-x86-server", NULL);
  assert_near(us(server, "X25519", "keygen") + us(server, "X25519", "derive_full"), 54, 0.10); /* initiator, */
  assert_near(us(server, "X25519", "keygen") + us(server, "X25519", "derive_full"), 56, 0.10); /* and responder */
  assert_near(us(server, "ML-KEM-768", "keygen") + us(server, "ML-KEM-768", "decaps_full"), 64, 0.10);
  assert_near(us(server, "ML-KEM-768", "encaps"), 19, 0.10);
  assert_near(us(server, "ML-KEM-1024", "keygen"), 51, 0.10);
  assert_near(us(server, "ML-KEM-1024", "encaps"), 26, 0.10);
  assert_near(us(server, "ML-KEM-1024", "decaps"), 40, 0.10);
  /* with the parsing of the peer's key, which the published figure leaves out, the order stays */
  assert_true(us(server, "ML-KEM-768", "encaps_full") < 0.6 * 56);
  cost_free(server);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rsa_key_generation_has_the_published_spread),
      cmocka_unit_test(test_rsa_rows_are_made_as_told),
      cmocka_unit_test(test_rsa_extremes_are_likely),
      cmocka_unit_test(test_a_constant_for_chance_is_found),
      cmocka_unit_test(test_shipped_platforms_freeze_nothing),
      cmocka_unit_test(test_mldsa_signing_is_skewed),
      cmocka_unit_test(test_small_devices),
      cmocka_unit_test(test_a_kem_is_cheaper_than_x25519_for_a_responder),
  };
  return cmocka_run_group_tests(tests, set_up, NULL);
}
