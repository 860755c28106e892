/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: models/crypto/cost.o models/crypto/cost_line.o models/crypto/device.o models/crypto/cost_name.o models/crypto/cost_data.o models/crypto/csv.o models/crypto/alg.o models/crypto/alg_own.o sim/core/random.o sim/core/err.o
// libs: -lm
#include "models/crypto/cost.h"
#include "models/crypto/csv.h"
#include "sim/core/event.h"
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

static char dir[64];

static int set_up(void **state) {
  (void)state;
  cost_set_data_dir("calib/data");
  snprintf(dir, sizeof dir, "/tmp/cost_test.XXXXXX");
  return mkdtemp(dir) ? 0 : -1;
}

static const char *const written[] = {"a.csv", "b.csv", "c.csv", "d.csv"};

static int tear_down(void **state) {
  (void)state;
  char path[128];
  for (size_t i = 0; i < sizeof written / sizeof written[0]; i++) {
    snprintf(path, sizeof path, "%s/%s", dir, written[i]);
    unlink(path);
  }
  return rmdir(dir);
}

static void write_file(const char *name, const char *text) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", dir, name);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

#define HEAD "# title: T\nalgorithm,operation,size_bytes,quantiles_ns,kind,source\n"
#define ROW(algorithm, operation, size, quantiles) algorithm "," operation "," size "," quantiles ",measured,pqm4\n"

static struct cost_platform *load(const char *name) {
  struct cost_platform *platform;
  struct err e = {0};
  if (cost_load(name, dir, &platform, &e)) fail_msg("%s", e.text);
  return platform;
}

static struct cost_platform *load_text(const char *text) {
  write_file("a.csv", text);
  return load("./a.csv");
}

static void refused(const char *name, const char *says, int problems) {
  struct cost_platform *platform = NULL;
  struct err e = {0};
  assert_int_equal(cost_load(name, dir, &platform, &e), ERR_INPUT);
  assert_null(platform);
  if (!strstr(e.text, says) || e.count != problems) fail_msg("%d problems: %s", e.count, e.text);
  err_free(&e);
}

static void test_a_hand_written_file(void **state) {
  (void)state;
  struct cost_platform *platform = load_text("# title: My box\n# cpu: some\nalgorithm,operation,quantiles_ns,kind,source,note\n"
                                             "ML-KEM-768,keygen,30000,measured,own,openssl speed\n");
  assert_string_equal(cost_platform_name(platform), "./a.csv");
  assert_string_equal(cost_platform_title(platform), "My box");
  assert_int_equal(cost_row_count(platform), 1);
  const struct cost_row *row = cost_find(platform, "ML-KEM-768", "keygen");
  assert_int_equal(cost_draw(row, 0, 12345), 30000);
  assert_false(cost_is_random(row));
  assert_null(cost_find(platform, "ML-KEM-768", "encaps"));
  assert_null(cost_find(platform, "", ""));
  cost_free(platform);
}

#define CYCLES(device) "# title: x\n" device "algorithm,operation,quantiles_cycles,kind,source\n"

struct bad {
  const char *text, *says;
  int problems;
};
static const struct bad bads[] = {
    {"algorithm,operation,quantiles_ns,kind,source\n", "a.csv:1: the line '# title: ...' is missing", 1},
    {"# title:\nalgorithm,operation,quantiles_ns,kind,source\n", "a.csv:1: key title has no value", 2},
    {"# title: x\n# titel: y\nalgorithm,operation,quantiles_ns,kind,source\n",
        "a.csv:2: found '# titel: y', allowed: '# key: value' with key title, base, cpu, date, note, device, device-source, clock, voltage, current or tls-stack", 1},
    {"# title: x\n# title: y\nalgorithm,operation,quantiles_ns,kind,source\n", "a.csv:2: key title is there twice", 1},
    {"# title: x\nalgorithm,operation,quantiles_ns,source\n",
        "a.csv:2: column kind is missing; columns are "
        "algorithm,operation,size_bytes,quantiles_ns,energy_nj,kind,source,family,note,quantiles_cycles,peak_stack_bytes",
        1},
    {"# title: x\nalgorithm,operation,kind,source\nX25519,derive,measured,pqm4\n", "a.csv:3: column quantiles_ns: is empty, allowed: a whole number of ns", 1},
    {CYCLES("") "X25519,derive,64,measured,pqm4\n",
        "a.csv:3: column quantiles_cycles: cycles need a clock; name a device ('# device: NAME', of devices.csv) or state one ('# clock: 64MHz'), here or in a "
        "base\n",
        1},
    {CYCLES("# device: nonsuch\n") "X25519,derive,64,measured,pqm4\n",
        "a.csv:2: device 'nonsuch' is not in devices.csv; there are nrf52840-64mhz-dcdc, nrf52840-64mhz-dcdc-ram, nrf52840-64mhz-ldo; one of your own is "
        "stated "
        "by lines '# clock: 64MHz', '# voltage: 3V', '# current: 3.3mA' and '# device-source: own'\n",
        2},
    {CYCLES("# clock: 64MHz\n") "X25519,derive,64,measured,pqm4\n",
        "a.csv:1: the line '# device-source: ...' is missing: where clock, voltage and current come from, an id of sources.csv (own: your own)\n", 1},
    {CYCLES("# clock: 64MHz\n# device-source: hearsay\n") "X25519,derive,64,measured,pqm4\n",
        "a.csv:3: key device-source: found 'hearsay', allowed: an id of sources.csv in the data folder ('own' for your own)\n", 1},
    {CYCLES("# clock: 64\n# device-source: own\n") "", "a.csv:2: key clock: found '64', allowed: a frequency above 0 and up to 100GHz, such as 64MHz\n", 1},
    {CYCLES("# clock: 1Hz\n# device-source: own\n") "X25519,derive,86401,measured,pqm4\n",
        "a.csv:5: column quantiles_cycles: found '86401', allowed: a whole number of cycles, or p:cycles pairs from p 0 to p 1, each at most 86400 s by the "
        "device's clock\n",
        1},
    {"# title: x\n# device: nrf52840-64mhz-ldo\nalgorithm,operation,quantiles_ns,quantiles_cycles,kind,source\nX25519,derive,1,2,measured,pqm4\n",
        "a.csv:4: column quantiles_cycles: found '2', allowed: nothing where quantiles_ns states the time\n", 1},
    {HEAD ROW("X25519", "derive", "0", "1") ROW("X25519", "derive", "0", "2"), "a.csv:4: X25519 derive with size 0 is already stated in line 3", 1},
    {HEAD ROW("SHA-256", "hash", "64", "1") ROW("SHA-256", "hash", "", "2"),
        "a.csv:4: column size_bytes: found 0, which says that SHA-256 hash does not depend on size, but line 3 states a size", 1},
    {HEAD ROW("SHA-256", "hash", "64", "1"), "a.csv:3: column size_bytes: found 64 as the only size of SHA-256 hash; state a second size", 1},
    {HEAD ROW("X25519", "derive", "0", "x") ROW("X448", "drive", "0", "2") "a,b\n", "a.csv:5: found 2 cells, the header has 6 columns", 3},
    {"# title: x\n# base: nonsuch\nalgorithm,operation,quantiles_ns,kind,source\n", "a.csv: platform 'nonsuch' is not shipped; there are ", 1},
    {"# title: x\n# base: ../platforms/epyc-zen5\nalgorithm,operation,quantiles_ns,kind,source\n", "a.csv: platform '../platforms/epyc-zen5' is not shipped",
        1},
    {"# title: x\n# base: ./nonsuch.csv\nalgorithm,operation,quantiles_ns,kind,source\n", "nonsuch.csv: cannot be opened: No such file or directory", 1},
    {"# title: x\n# base: ./a.csv\nalgorithm,operation,quantiles_ns,kind,source\n",
        "a.csv: base './a.csv' leads back to a platform that inherits from this one", 1},
    {"# title: x\n# base: ././a.csv\nalgorithm,operation,quantiles_ns,kind,source\n", "the 9th level; a platform has at most 8", 1},
};

static void test_malformed_files(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
    write_file("a.csv", bads[i].text);
    refused("./a.csv", bads[i].says, bads[i].problems);
  }
}

static void test_unknown_platforms(void **state) {
  (void)state;
  refused("epyc-zen6", "platform 'epyc-zen6' is not shipped; there are ", 1);
  refused("epyc-zen6", "xeon-6242r", 1);
  refused("", "platform '' is not shipped", 1);
  refused("/etc/passwd", "a file of your own is written ./NAME.csv", 1);
  refused("./none.csv", "none.csv: cannot be opened", 1);
}

/* b states two operations and one in two sizes, a replaces one of them, c adds to a. */
static void test_inheritance(void **state) {
  (void)state;
  write_file("b.csv", HEAD ROW("X25519", "keygen", "0", "100") ROW("SHA-256", "hash", "64", "10") ROW("SHA-256", "hash", "128", "20"));
  write_file("a.csv", "# base: ./b.csv\n" HEAD ROW("SHA-256", "hash", "0", "7"));
  write_file("c.csv", "# base: ./a.csv\n" HEAD ROW("X25519", "derive", "0", "300"));
  struct cost_platform *platform = load("./c.csv");
  assert_int_equal(cost_row_count(platform), 3);
  assert_int_equal(cost_median(cost_find(platform, "X25519", "keygen"), 0), 100);
  assert_int_equal(cost_median(cost_find(platform, "X25519", "derive"), 0), 300);
  assert_int_equal(cost_median(cost_find(platform, "SHA-256", "hash"), 128), 7);
  static const char *const order[][2] = {{"derive", "./c.csv"}, {"hash", "./a.csv"}, {"keygen", "./b.csv"}};
  for (int i = 0; i < 3; i++) {
    struct cost_row_info info;
    cost_row_info(platform, i, &info);
    assert_string_equal(info.operation, order[i][0]);
    assert_string_equal(info.from_platform, order[i][1]);
  }
  cost_free(platform);
  write_file("b.csv", "# base: ./c.csv\n" HEAD);
  refused("./c.csv", "b.csv: base './c.csv' leads back to a platform that inherits from this one", 1);
}

static void test_a_file_may_build_on_a_shipped_platform(void **state) {
  (void)state;
  struct cost_platform *platform = load_text("# base: xeon-6242r\n" HEAD ROW("X25519", "derive", "0", "1"));
  struct cost_platform *base = load("xeon-6242r");
  assert_int_equal(cost_median(cost_find(platform, "X25519", "derive"), 0), 1);
  assert_int_equal(cost_row_count(platform), cost_row_count(base));
  assert_string_equal(cost_platform_title(platform), "T");
  cost_free(platform);
  cost_free(base);
}

/* By hand. Sizes 100 and 300; at p 0.5 100 ns and 500 ns, at p 0 80 and 400, near p 1 120 and 600.
 * 200 B lies half-way: 300, 240, 360. 50 B costs what 100 B does. Beyond 300 B every draw grows by the slope of the
 * medians, 2 ns/B: 400 B costs 700, 600, 800. */
static void test_sizes_by_hand(void **state) {
  (void)state;
  struct cost_platform *platform = load_text(HEAD ROW("SHA-256", "hash", "300", "0:400 0.5:500 1:600") ROW("SHA-256", "hash", "100", "0:80 0.5:100 1:120"));
  const struct cost_row *row = cost_find(platform, "SHA-256", "hash");
  static const int64_t expected[][4] = {
      {0, 80, 100, 120}, {50, 80, 100, 120}, {100, 80, 100, 120}, {200, 240, 300, 360}, {300, 400, 500, 600}, {400, 600, 700, 800}};
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
    assert_int_equal(cost_draw(row, expected[i][0], 0), expected[i][1]);
    assert_int_equal(cost_median(row, expected[i][0]), expected[i][2]);
    assert_int_equal(cost_draw(row, expected[i][0], UINT64_MAX), expected[i][3]);
  }
  assert_true(cost_is_random(row));
  /* 2^40 B at 2 ns/B is 36 minutes; 2^63 B is more than the simulator's horizon. */
  assert_int_equal(cost_median(row, INT64_C(1) << 40), 500 + 2 * ((INT64_C(1) << 40) - 300));
  assert_int_equal(cost_median(row, INT64_MAX), SIMTIME_HORIZON);
  cost_free(platform);
}

/* 10 % of 1005 ns are 100.5, rounded up; what is not meant and what is scaled no more are as stated. */
static void test_scaling_by_hand(void **state) {
  (void)state;
  struct cost_platform *platform = load_text(HEAD ROW("X25519", "keygen", "0", "1005") ROW("SHA-256", "hash", "100", "0:10 1:20")
          ROW("SHA-256", "hash", "300", "0:100 1:200") "X25519,derive,0,70,published,pqm4\n");
  const struct cost_row *keygen = cost_find(platform, "X25519", "keygen"), *hash = cost_find(platform, "SHA-256", "hash");
  const struct cost_row *derive = cost_find(platform, "X25519", "derive");
  struct cost_operation row;
  uint64_t content = cost_platform_hash(platform);
  assert_int_equal(cost_operation_count(platform), 3);
  cost_operation(platform, 0, &row); /* by name: SHA-256 hash first */
  assert_string_equal(row.operation, "hash");
  assert_int_equal(row.sizes, 2);
  assert_int_equal(row.smallest_ns, 15);
  assert_int_equal(row.largest_ns, 150);
  assert_false(row.drawn);
  struct cost_scaling scaling = {.file = row.from_file, .algorithm = "X25519", .operation = "keygen", .num = 11, .den = 10};
  cost_scale(platform, &scaling);
  assert_int_equal(cost_median(keygen, 0), 1106);
  assert_int_equal(cost_median(derive, 0), 70);
  assert_int_equal(cost_median(hash, 200), 83); /* between 15 and 150: 82.5 */
  assert_true(cost_platform_hash(platform) != content);
  scaling = (struct cost_scaling){.any_of_kind = true, .kind = COST_MEASURED, .num = 2, .den = 1};
  cost_scale(platform, &scaling);
  assert_int_equal(cost_median(keygen, 0), 2010); /* twice what is stated, not of what was scaled before */
  assert_int_equal(cost_median(derive, 0), 70);
  assert_int_equal(cost_draw(hash, 300, UINT64_MAX), 400);
  cost_scale(platform, NULL);
  assert_int_equal(cost_median(keygen, 0), 1005);
  assert_true(cost_platform_hash(platform) == content);
  cost_operation(platform, 0, &row);
  assert_true(row.drawn);
  cost_operation(platform, 2, &row);
  assert_string_equal(row.operation, "keygen");
  assert_false(row.drawn); /* a median is no draw */
  cost_free(platform);
}

static void test_cost_does_not_fall_beyond_the_last_size(void **state) {
  (void)state;
  struct cost_platform *platform = load_text(HEAD ROW("SHA-256", "hash", "100", "50") ROW("SHA-256", "hash", "200", "40"));
  const struct cost_row *row = cost_find(platform, "SHA-256", "hash");
  assert_int_equal(cost_median(row, 150), 45);
  assert_int_equal(cost_median(row, 100000), 40);
  assert_false(cost_is_random(row));
  cost_free(platform);
}

static uint64_t hash_of(const char *text) {
  struct cost_platform *platform = load_text(text);
  uint64_t hash = cost_platform_hash(platform);
  cost_free(platform);
  return hash;
}

static void test_hash_follows_what_can_be_drawn(void **state) {
  (void)state;
  uint64_t hash = hash_of(HEAD ROW("X25519", "keygen", "0", "0:1 1:3") ROW("X25519", "derive", "0", "5"));
  /* Order, title and provenance do not matter. */
  assert_true(hash == hash_of(HEAD ROW("X25519", "derive", "0", "5") ROW("X25519", "keygen", "0", "0:1 1:3")));
  assert_true(
      hash ==
      hash_of("# title: U\nalgorithm,operation,quantiles_ns,kind,source,note\nX25519,keygen,0:1 1:3,assumed,own,why\nx25519,derive,5,fitted,own,why\n"));
  write_file("b.csv", HEAD ROW("X25519", "derive", "0", "5"));
  assert_true(hash == hash_of("# base: ./b.csv\n" HEAD ROW("X25519", "keygen", "0", "0:1 1:3")));
  /* Each value does. */
  assert_true(hash != hash_of(HEAD ROW("X25519", "keygen", "0", "0:1 1:4") ROW("X25519", "derive", "0", "5")));
  assert_true(hash != hash_of(HEAD ROW("X25519", "keygen", "0", "0:1 0.5:1 1:3") ROW("X25519", "derive", "0", "5")));
  assert_true(hash != hash_of(HEAD ROW("X25519", "keygen", "0", "0:1 1:3") ROW("X25519", "derive", "0", "6")));
  assert_true(hash != hash_of(HEAD ROW("X448", "keygen", "0", "0:1 1:3") ROW("X25519", "derive", "0", "5")));
  assert_true(hash != hash_of(HEAD ROW("X25519", "keygen", "0", "0:1 1:3") ROW("X25519", "derive_full", "0", "5")));
  assert_true(hash != hash_of(HEAD ROW("X25519", "keygen", "0", "0:1 1:3")));
  uint64_t sized = hash_of(HEAD ROW("SHA-256", "hash", "1", "5") ROW("SHA-256", "hash", "2", "6"));
  assert_true(sized != hash_of(HEAD ROW("SHA-256", "hash", "1", "5") ROW("SHA-256", "hash", "3", "6")));
}

/* FNV-1a of nothing is the offset basis (Fowler, Noll, Vo; RFC 9923). */
static void test_hash_of_no_rows(void **state) {
  (void)state;
  assert_true(hash_of(HEAD) == UINT64_C(0xcbf29ce484222325));
}

/* Straight lines: half way from 100 to 300 at p 0.25, 10 % of the way from 300 to 800 at p 0.55. */
static void test_points_and_quantiles_of_a_row(void **state) {
  (void)state;
  struct cost_platform *platform = load_text("# title: t\nalgorithm,operation,quantiles_ns,kind,source,note\n"
                                             "ML-KEM-768,keygen,0:100 0.5:300 1:800,measured,own,x\n"
                                             "ML-KEM-768,decaps,7,measured,own,x\n");
  int64_t p_ppb[COST_POINTS_MAX], ns[COST_POINTS_MAX];
  assert_int_equal(cost_row_points(platform, 0, p_ppb, ns), 3);
  assert_int_equal(p_ppb[1], 500000000);
  assert_int_equal(ns[2], 800);
  assert_int_equal(cost_row_quantile(platform, 0, 0), 100);
  assert_int_equal(cost_row_quantile(platform, 0, 250000000), 200);
  assert_int_equal(cost_row_quantile(platform, 0, 550000000), 350);
  assert_int_equal(cost_row_quantile(platform, 0, 1000000000), 800);
  assert_int_equal(cost_row_points(platform, 1, p_ppb, ns), 1);
  assert_int_equal(p_ppb[0], 0);
  assert_int_equal(cost_row_quantile(platform, 1, 950000000), 7);
  cost_free(platform);
}

static void test_every_shipped_platform_loads(void **state) {
  (void)state;
  char **names;
  int count;
  struct err e = {0};
  assert_int_equal(cost_list(&names, &count, &e), 0);
  assert_true(count >= 10);
  for (int i = 0; i < count; i++) {
    struct cost_platform *platform = load(names[i]);
    for (int k = 0; k < cost_row_count(platform); k++) {
      struct cost_row_info info;
      cost_row_info(platform, k, &info);
      const struct cost_row *row = cost_find(platform, info.algorithm, info.operation);
      assert_non_null(row);
      assert_int_equal(cost_median(row, info.size_bytes), info.median_ns);
    }
    cost_free(platform);
  }
  cost_list_free(names, count);
}

static void test_every_shipped_draw_is_monotone(void **state) {
  (void)state;
  static const int64_t sizes[] = {0, 64, 100, 1350, 5000, 16384, 100000};
  struct cost_platform *platform = load("epyc-zen5");
  for (int k = 0; k < cost_row_count(platform); k++) {
    struct cost_row_info info;
    cost_row_info(platform, k, &info);
    const struct cost_row *row = cost_find(platform, info.algorithm, info.operation);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
      int64_t last = 0;
      for (uint64_t u = 0; u < 1000; u++) {
        int64_t ns = cost_draw(row, sizes[i], u * (UINT64_MAX / 999));
        assert_true(ns >= last);
        last = ns;
      }
    }
  }
  cost_free(platform);
}

static void draw_many(const struct cost_row *row, double *mean, double *sd) {
  enum { DRAWS = 10000 };
  double sum = 0, squares = 0;
  for (uint32_t i = 0; i < DRAWS; i++) {
    const struct draw_key key = {.seed = 1, .replication = i, .purpose = DRAW_COST_INITIATOR};
    double ns = (double)cost_draw(row, 0, random_draw(&key));
    sum += ns;
    squares += ns * ns;
  }
  *mean = sum / DRAWS;
  *sd = sqrt(squares / DRAWS - *mean * *mean);
}

/* The measured mean of each row stands in its note ("mean 727309 sd ..."); it was not used to make the quantiles.
 * Rows of constant work end at p95, so preemptions that lifted the measured mean are not drawn: calib/data/README.md
 * lists those beyond 5 %. */
static void test_means_agree_with_the_measured_ones(void **state) {
  (void)state;
  struct cost_platform *platform = load("epyc-zen5");
  int compared = 0, beyond = 0;
  for (int k = 0; k < cost_row_count(platform); k++) {
    struct cost_row_info info;
    double measured, mean, sd;
    cost_row_info(platform, k, &info);
    if (sscanf(info.note, "mean %lf sd", &measured) != 1 || info.size_bytes != 0) continue;
    draw_many(cost_find(platform, info.algorithm, info.operation), &mean, &sd);
    double off = mean / measured - 1;
    if (fabs(off) > 0.05) beyond++, print_message("%s %s: mean of draws %+.1f %%\n", info.algorithm, info.operation, 100 * off);
    compared++;
  }
  assert_true(compared > 90);
  assert_int_equal(beyond, 0);
  cost_free(platform);
}

/* Measured (10,000 signatures, 200 to 40 keys): means 727309, 31875249, 116806322, 334953631 ns. */
static void test_rejection_and_search_are_spread_as_measured(void **state) {
  (void)state;
  struct cost_platform *platform = load("epyc-zen5");
  static const struct {
    const char *algorithm, *operation;
    double mean, cv_low, cv_high;
  } rows[] = {
      {"ML-DSA-65", "sign", 727309, 0.6, 0.8}, /* 562237 / 727309 = 0.77, of which the tail beyond p99 is not drawn */
      {"RSA-2048", "keygen", 31875249, 0.6, 0.8},
      {"RSA-3072", "keygen", 116806322, 0.6, 0.8},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const struct cost_row *row = cost_find(platform, rows[i].algorithm, rows[i].operation);
    double mean, sd;
    draw_many(row, &mean, &sd);
    assert_true(cost_is_random(row));
    if (fabs(mean / rows[i].mean - 1) > 0.05 || sd / mean < rows[i].cv_low || sd / mean > rows[i].cv_high)
      fail_msg("%s %s: mean %.0f cv %.3f", rows[i].algorithm, rows[i].operation, mean, sd / mean);
  }
  cost_free(platform);
}

/* Published for the Xeon Gold 6242R: 3005371 us for 2990 ML-DSA-65 signatures, 1005.1 us each, and no constant. */
static void test_published_signing_keeps_its_spread(void **state) {
  (void)state;
  struct cost_platform *platform = load("xeon-6242r");
  const struct cost_row *row = cost_find(platform, "ML-DSA-65", "sign");
  double mean, sd;
  draw_many(row, &mean, &sd);
  assert_true(fabs(mean / 1005141 - 1) < 0.02);
  assert_true(sd / mean > 0.6);
  assert_int_equal(cost_median(cost_find(platform, "ML-KEM-768", "encaps"), 0), 21083); /* 3000167 us / 142300 */
  cost_free(platform);
}

/* pqm4: 1387984 cycles at 64 MHz take 21.687 ms; CC310 19 ms; mbedTLS 582 ms. */
static void test_microcontroller_variants(void **state) {
  (void)state;
  static const struct {
    const char *platform;
    int64_t decaps, derive;
  } variants[] = {
      {"cortex-m4-64mhz-clean", 21687250, 14156250}, {"cortex-m4-64mhz-clean-cc310", 21687250, 19000000},
      {"cortex-m4-64mhz-m4fspeed-mbedtls", 11059797, 582000000}, /* 707827 / 0.064 = 11059796.9 */
  };
  for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++) {
    struct cost_platform *platform = load(variants[i].platform);
    assert_int_equal(cost_median(cost_find(platform, "ML-KEM-768", "decaps"), 0), variants[i].decaps);
    assert_int_equal(cost_median(cost_find(platform, "P-256", "derive"), 0), variants[i].derive);
    cost_free(platform);
  }
}

static int64_t median(const struct cost_platform *platform, const char *algorithm, const char *operation) {
  return cost_median(cost_find(platform, algorithm, operation), 0);
}

/* What a part states replaces the base's operation as a whole, sizes and all; what it does not state is the base's. */
static void test_parts_replace_operations(void **state) {
  (void)state;
  write_file("a.csv", HEAD ROW("RSA-2048", "sign", "0", "1") ROW("Ed25519", "sign", "0", "2") ROW("Ed448", "sign", "0", "3") ROW("Ed25519", "verify", "0", "4")
                          ROW("SHA-256", "hash", "0", "5"));
  write_file("c.csv", "# title: C\n# base: ./b.csv\nalgorithm,operation,size_bytes,quantiles_ns,kind,source\n" ROW("Ed25519", "sign", "0", "200"));
  write_file("b.csv", HEAD ROW("RSA-2048", "sign", "0", "10") ROW("Ed25519", "sign", "0", "20") ROW("Ed25519", "verify", "0", "40")
                          ROW("SHA-256", "hash", "64", "50") ROW("SHA-256", "hash", "128", "60"));
  struct cost_platform *platform = load("./a.csv,sign=./b.csv");
  assert_string_equal(cost_platform_name(platform), "./a.csv,sign=./b.csv");
  assert_string_equal(cost_platform_title(platform), "T");
  assert_int_equal(median(platform, "RSA-2048", "sign"), 10);
  assert_int_equal(median(platform, "Ed25519", "sign"), 20);
  assert_int_equal(median(platform, "Ed448", "sign"), 3); /* the part states none */
  assert_int_equal(median(platform, "Ed25519", "verify"), 4);
  cost_free(platform);

  /* one algorithm alone; the part's own base counts; the special part goes before the general one, wherever it stands */
  platform = load("./a.csv,ed25519.sign=./c.csv,hash=./c.csv,sign=./b.csv");
  assert_int_equal(median(platform, "Ed25519", "sign"), 200);
  assert_int_equal(median(platform, "RSA-2048", "sign"), 10);
  assert_int_equal(cost_median(cost_find(platform, "SHA-256", "hash"), 128), 60);
  cost_free(platform);
  platform = load("./a.csv,rsa-2048.sign=./b.csv");
  assert_int_equal(median(platform, "Ed25519", "sign"), 2);
  cost_free(platform);
}

/* Parts that leave all costs as they are leave the content key too; others change it. */
static void test_hash_covers_parts(void **state) {
  (void)state;
  write_file("a.csv", HEAD ROW("RSA-2048", "sign", "0", "1") ROW("Ed25519", "sign", "0", "2"));
  write_file("b.csv", HEAD ROW("RSA-2048", "sign", "0", "1") ROW("Ed25519", "sign", "0", "3"));
  struct cost_platform *plain = load("./a.csv"), *same = load("./a.csv,rsa-2048.sign=./b.csv"), *other = load("./a.csv,sign=./b.csv"), *b = load("./b.csv");
  assert_true(cost_platform_hash(plain) == cost_platform_hash(same));
  assert_true(cost_platform_hash(plain) != cost_platform_hash(other));
  assert_true(cost_platform_hash(b) == cost_platform_hash(other));
  struct cost_platform *all[] = {plain, same, other, b};
  for (int i = 0; i < 4; i++) cost_free(all[i]);
}

static void test_wrong_parts(void **state) {
  (void)state;
  write_file("a.csv", HEAD ROW("RSA-2048", "sign", "0", "1"));
  write_file("b.csv", HEAD ROW("RSA-2048", "sign", "0", "1") ROW("RSA-2048", "decrypt", "0", "1"));
  write_file("c.csv", "# title: C\n# base: ./d.csv\nalgorithm,operation,size_bytes,quantiles_ns,kind,source\n");
  write_file("d.csv", "# title: D\n# base: ./c.csv\nalgorithm,operation,size_bytes,quantiles_ns,kind,source\n");
  refused("./a.csv,verify=./b.csv", "verify: platform ./b.csv does not state verify of any algorithm; the operations it states are sign, decrypt\n", 1);
  refused("./a.csv,mldsa65.sign=./b.csv", "mldsa65.sign: platform ./b.csv does not state sign of ML-DSA-65; the operations it states are sign, decrypt\n", 1);
  refused("./a.csv,sign=nonsuch", "platform 'nonsuch' is not shipped; there are ", 1);
  refused("./a.csv,sign=./nonsuch.csv", "nonsuch.csv: cannot be opened", 1);
  refused("./a.csv,sign=./c.csv", "leads back to a platform that inherits from this one", 1);
  refused("./a.csv,sgin=./b.csv", "did you mean sign?", 1);
  struct cost_platform *platform = load("./a.csv,sign=./a.csv"); /* no circle: nothing inherits */
  assert_int_equal(cost_row_count(platform), 1);
  cost_free(platform);
}

static struct cost_row_info info_of(const struct cost_platform *platform, const char *algorithm, const char *operation) {
  struct cost_row_info info;
  for (int i = 0; i < cost_row_count(platform); i++) {
    cost_row_info(platform, i, &info);
    if (!strcmp(info.algorithm, algorithm) && !strcmp(info.operation, operation)) return info;
  }
  fail_msg("no %s %s", algorithm, operation);
  return info;
}

/* By hand: 595793 / 64 MHz = 9309265.625 ns; 3 V * 3.3 mA = 9.9 mW, * 9.309265625 ms = 92161.73 nJ; LDO 3 V * 6.3 mA = 18.9 mW:
 * 175945.12 nJ. Stack as pqm4 counts it. */
static void test_cycles_become_time_and_energy(void **state) {
  (void)state;
  struct cost_platform *platform = load("cortex-m4-64mhz-clean");
  struct cost_row_info info = info_of(platform, "ML-KEM-512", "keygen");
  assert_int_equal(info.median_ns, 9309266);
  assert_int_equal(info.energy_nj, 92162);
  assert_int_equal(info.peak_stack_bytes, 6152);
  const struct cost_row *row = cost_find(platform, "ML-KEM-512", "keygen");
  assert_int_equal(cost_energy(row, 0, 10000000), 99000); /* 10 ms */
  uint64_t before = cost_platform_hash(platform);
  cost_free(platform);

  write_file("a.csv", "# title: LDO\n# base: cortex-m4-64mhz-clean\n# device: nrf52840-64mhz-ldo\nalgorithm,operation,quantiles_ns,kind,source\n");
  platform = load("./a.csv");
  info = info_of(platform, "ML-KEM-512", "keygen");
  assert_int_equal(info.median_ns, 9309266);
  assert_int_equal(info.energy_nj, 175945);
  assert_true(cost_platform_hash(platform) != before);
  cost_free(platform);

  /* half the clock: twice the time; voltage and current are still those of the base's device */
  write_file("a.csv", "# title: slow\n# base: cortex-m4-64mhz-clean\n# clock: 32 MHz\n# device-source: own\nalgorithm,operation,quantiles_ns,kind,source\n");
  platform = load("./a.csv");
  info = info_of(platform, "ML-KEM-512", "keygen");
  assert_int_equal(info.median_ns, 18618531);
  assert_int_equal(info.energy_nj, 184323); /* 184323.46 */
  cost_free(platform);

  /* the CryptoCell is no processor that runs cycles: its time is stated, its energy is not known */
  platform = load("cortex-m4-64mhz-clean-cc310");
  assert_int_equal(info_of(platform, "P-256", "keygen").energy_nj, -1);
  assert_int_equal(cost_energy(cost_find(platform, "P-256", "keygen"), 0, 1000), -1);
  assert_int_equal(info_of(platform, "ML-KEM-512", "keygen").energy_nj, 92162);
  cost_free(platform);
}

/* The energy of a random operation is that of its mean; a stated one is kept; a device without current gives time alone. */
static void test_energy_of_what_a_row_states(void **state) {
  (void)state;
  write_file("a.csv", "# title: x\n# clock: 1MHz\n# voltage: 2V\n# current: 5mA\n# device-source: own\n"
                      "algorithm,operation,size_bytes,quantiles_ns,quantiles_cycles,energy_nj,kind,source\n"
                      "ML-DSA-44,sign,,,0:1000 0.5:2000 1:5000,,measured,pqm4\n"
                      "ML-DSA-44,verify,,,1000,77,measured,pqm4\n"
                      "ML-DSA-44,keygen,,1000,,,measured,pqm4\n"
                      "SHA-256,hash,64,100,,10,measured,pqm4\nSHA-256,hash,128,200,,30,measured,pqm4\n");
  struct cost_platform *platform = load("./a.csv");
  assert_int_equal(info_of(platform, "ML-DSA-44", "sign").energy_nj, 25000); /* mean 2500 us at 10 mW */
  assert_int_equal(info_of(platform, "ML-DSA-44", "sign").median_ns, 2000000);
  assert_int_equal(cost_energy(cost_find(platform, "ML-DSA-44", "sign"), 0, 5000000), 50000);
  assert_int_equal(info_of(platform, "ML-DSA-44", "verify").energy_nj, 77);
  assert_int_equal(cost_energy(cost_find(platform, "ML-DSA-44", "verify"), 0, 5000000), 77);
  assert_int_equal(info_of(platform, "ML-DSA-44", "keygen").energy_nj, -1);
  const struct cost_row *hash = cost_find(platform, "SHA-256", "hash");
  assert_int_equal(cost_energy(hash, 64, 1), 10);
  assert_int_equal(cost_energy(hash, 96, 1), 20);
  assert_int_equal(cost_energy(hash, 1000, 1), 30);
  cost_free(platform);
  write_file("a.csv", "# title: x\n# clock: 1MHz\n# device-source: own\nalgorithm,operation,quantiles_cycles,kind,source\nX25519,derive,7,measured,pqm4\n");
  platform = load("./a.csv");
  assert_int_equal(info_of(platform, "X25519", "derive").median_ns, 7000);
  assert_int_equal(info_of(platform, "X25519", "derive").energy_nj, -1);
  cost_free(platform);
}

/* Half a cycle at 64 MHz is 7.8 ns: so much the points of a spread may move by being whole cycles; a constant does not. */
static void test_cycles_give_the_times_worked_out_by_hand(void **state) {
  (void)state;
  static const struct csv_column columns[] = {{"platform", true}, {"algorithm", true}, {"operation", true}, {"quantiles_ns", true}};
  struct csv *csv;
  struct err e = {0};
  assert_int_equal(csv_read("models/crypto/test/cortex_m4_ns.csv", columns, 4, &csv, &e), 0);
  assert_int_equal(csv->row_count, 56);
  struct cost_platform *platform = NULL;
  for (int i = 0; i < csv->row_count; i++) {
    const char **c = csv->rows[i].cells;
    if (!platform || strcmp(cost_platform_name(platform), c[0])) {
      cost_free(platform);
      platform = load(c[0]);
    }
    const struct cost_row *row = cost_find(platform, c[1], c[2]);
    assert_non_null(row);
    bool pairs = strchr(c[3], ':');
    assert_true(cost_is_random(row) == pairs);
    for (const char *pair = c[3]; *pair; pair += strcspn(pair, " "), pair += *pair == ' ') {
      double p = pairs ? strtod(pair, NULL) : 0.5;
      int64_t expected = strtoll(pairs ? strchr(pair, ':') + 1 : pair, NULL, 10);
      int64_t drawn = cost_draw(row, 0, p >= 1 ? UINT64_MAX : (uint64_t)(p * 0x1p64));
      if (llabs(drawn - expected) > (pairs ? 8 : 0)) fail_msg("%s %s %s: %lld, was %lld", c[0], c[1], c[2], (long long)drawn, (long long)expected);
    }
  }
  cost_free(platform);
  csv_free(csv);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_hand_written_file),
      cmocka_unit_test(test_malformed_files),
      cmocka_unit_test(test_unknown_platforms),
      cmocka_unit_test(test_inheritance),
      cmocka_unit_test(test_a_file_may_build_on_a_shipped_platform),
      cmocka_unit_test(test_sizes_by_hand),
      cmocka_unit_test(test_scaling_by_hand),
      cmocka_unit_test(test_cost_does_not_fall_beyond_the_last_size),
      cmocka_unit_test(test_hash_follows_what_can_be_drawn),
      cmocka_unit_test(test_hash_of_no_rows),
      cmocka_unit_test(test_points_and_quantiles_of_a_row),
      cmocka_unit_test(test_every_shipped_platform_loads),
      cmocka_unit_test(test_every_shipped_draw_is_monotone),
      cmocka_unit_test(test_means_agree_with_the_measured_ones),
      cmocka_unit_test(test_rejection_and_search_are_spread_as_measured),
      cmocka_unit_test(test_published_signing_keeps_its_spread),
      cmocka_unit_test(test_microcontroller_variants),
      cmocka_unit_test(test_cycles_become_time_and_energy),
      cmocka_unit_test(test_energy_of_what_a_row_states),
      cmocka_unit_test(test_cycles_give_the_times_worked_out_by_hand),
      cmocka_unit_test(test_parts_replace_operations),
      cmocka_unit_test(test_hash_covers_parts),
      cmocka_unit_test(test_wrong_parts),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
