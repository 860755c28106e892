/* SPDX-License-Identifier: GPL-3.0-or-later */
// objects: calib/operations.o calib/operations_data.o calib/operations_keys.o models/crypto/alg.o models/crypto/cost.o models/crypto/cost_data.o models/crypto/cost_line.o models/crypto/csv.o sim/core/err.o models/crypto/device.o models/crypto/cost_name.o models/crypto/alg_own.o
// libs: $(CRYPTO_LIBS)
#include "calib/operations.h"
#include "models/crypto/alg.h"
#include "models/crypto/cost.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static bool is_listed(const char *algorithm, const char *operation, int64_t size) {
  int count;
  const struct operation *table = operation_table(&count);
  for (int i = 0; i < count; i++)
    if (!strcmp(table[i].algorithm, algorithm) && !strcmp(table[i].operation, operation) && table[i].size_bytes == size) return true;
  return false;
}

static void titles_are_those_of_platform_files(void **state) {
  (void)state;
  int count;
  const struct operation *table = operation_table(&count);
  for (int i = 0; i < count; i++) {
    const struct alg *alg =
        alg_find(table[i].algorithm, 1u << ALG_KEX | 1u << ALG_KEM | 1u << ALG_HYBRID | 1u << ALG_SIGNATURE | 1u << ALG_AEAD | 1u << ALG_HASH);
    assert_non_null(alg);
    if (strcmp(alg->title, table[i].algorithm)) fail_msg("%s: a platform file says %s", table[i].algorithm, alg->title);
    for (int k = 0; k < i; k++)
      assert_false(
          !strcmp(table[i].algorithm, table[k].algorithm) && !strcmp(table[i].operation, table[k].operation) && table[i].size_bytes == table[k].size_bytes);
  }
}

/* What was measured with OpenSSL 3.5.9 for the shipped platform is measured by this table too. */
static void the_shipped_measurement_is_covered(void **state) {
  (void)state;
  struct cost_platform *shipped = NULL;
  struct err e = {0};
  int rows = 0;
  assert_int_equal(cost_load("epyc-zen5", NULL, &shipped, &e), 0);
  for (int i = 0; i < cost_row_count(shipped); i++) {
    struct cost_row_info info;
    cost_row_info(shipped, i, &info);
    if (strcmp(info.source, "pqnetsim-ops-2026") || info.kind == COST_ESTIMATED) continue;
    rows++;
    if (!is_listed(info.algorithm, info.operation, info.size_bytes))
      fail_msg("%s %s %d is not in the table", info.algorithm, info.operation, (int)info.size_bytes);
  }
  assert_int_equal(rows, 172);
  cost_free(shipped);
}

/* Each operation runs, is checked, and a damaged result of it is noticed; or the library lacks it and the reason says so. */
static void each_operation_is_right_or_missing(void **state) {
  (void)state;
  int count, ready = 0;
  const struct operation *table = operation_table(&count);
  for (int i = 0; i < count; i++) {
    struct operation_work *work = NULL;
    char reason[OPERATION_TEXT] = "";
    enum operation_state result = operation_open(&table[i], &work, reason);
    if (result == OPERATION_MISSING) {
      assert_null(work);
      assert_non_null(strstr(reason, operation_library()));
      assert_non_null(strstr(reason, table[i].algorithm));
      continue;
    }
    if (result == OPERATION_WRONG) fail_msg("%s", reason);
    ready++;
    assert_true(strlen(operation_provider(work)) > 0);
    if (strcmp(table[i].operation, "keygen")) { /* minutes of RSA otherwise */
      operation_prepare(work);
      operation_call(work, 3);
      assert_true(operation_finish(work));
    }
    operation_spoil(work);
    if (operation_check(work, reason)) fail_msg("%s %s, %d B: a damaged result passes", table[i].algorithm, table[i].operation, table[i].size_bytes);
    assert_non_null(strstr(reason, table[i].algorithm));
    operation_close(work);
  }
  assert_true(ready > 0);
}

/* Every OpenSSL from 3.0 on has the classical ones; 3.5 brought the others. */
static void what_is_missing_came_later(void **state) {
  (void)state;
  static const struct {
    const char *algorithm, *since;
  } known[] = {{"X25519", NULL}, {"P-256", NULL}, {"RSA-2048", NULL}, {"Ed25519", NULL}, {"AES-256-GCM", NULL}, {"SHA3-256", NULL}, {"HKDF-SHA256", NULL},
      {"ML-KEM-768", "it came with 3.5"}, {"ML-DSA-65", "it came with 3.5"}, {"SLH-DSA-SHA2-128f", "it came with 3.5"}, {"X25519MLKEM768", "it came with 3.5"}};
  int count, major = 0, minor = 0;
  const struct operation *table = operation_table(&count);
  assert_int_equal(sscanf(operation_library(), "OpenSSL %d.%d", &major, &minor), 2);
  for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
    for (int i = 0; i < count; i++) {
      struct operation_work *work;
      char reason[OPERATION_TEXT] = "";
      if (strcmp(table[i].algorithm, known[k].algorithm)) continue;
      bool old = known[k].since && (major < 3 || (major == 3 && minor < 5));
      assert_int_equal(operation_open(&table[i], &work, reason), old ? OPERATION_MISSING : OPERATION_READY);
      if (old) assert_non_null(strstr(reason, known[k].since));
      operation_close(work);
      break;
    }
}

int main(void) {
  cost_set_data_dir("calib/data");
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(titles_are_those_of_platform_files),
      cmocka_unit_test(the_shipped_measurement_is_covered),
      cmocka_unit_test(each_operation_is_right_or_missing),
      cmocka_unit_test(what_is_missing_came_later),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
