/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: models/domain/kpm.o
#include "models/domain/kpm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void measured_sizes_are_exact(void **state) {
  (void)state;
  FILE *file = fopen("calib/data/measured/e2/e2ap_sizes_flexric.csv", "r");
  char line[256];
  int indications = 0, subscriptions = 0;
  assert_non_null(file);
  while (fgets(line, sizeof line, file)) {
    int ues = 0, measurements, names = 1, bytes;
    char *last = strrchr(line, ',');
    if (strstr(line, "hdr=min")) continue; /* a header without the node's name, which no node sends */
    if (sscanf(line, "kpm_indication_fmt1,meas=%d names=%d", &measurements, &names) == 2 ||
        sscanf(line, "kpm_indication_fmt3,UEs=%d meas=%d", &ues, &measurements) == 2) {
      assert_int_equal(sscanf(last, ",%d", &bytes), 1);
      assert_int_equal(kpm_indication_bytes(ues, measurements, names), bytes);
      indications++;
    } else if (sscanf(line, "subscription_request_fmt1,meas=%d", &measurements) == 1) {
      assert_int_equal(sscanf(last, ",%d", &bytes), 1);
      assert_int_equal(kpm_subscription_bytes(measurements), bytes);
      subscriptions++;
    }
  }
  fclose(file);
  assert_int_equal(indications, 22);
  assert_int_equal(subscriptions, 5);
}

/* Between 8 and 16 UEs with 7 measurements: 1744 + 1662 * 4 / 8 = 2575. Beyond 32 with the slope of the last step, (6729 - 3406) / 16 =
 * 207.7 a UE: 40 UEs 6729 + 3323 * 8 / 16 = 8390. Four measurements of a cell: between 172 and 230. */
static void what_was_not_measured_lies_on_lines(void **state) {
  (void)state;
  assert_int_equal(kpm_indication_bytes(12, 7, true), 2575);
  assert_int_equal(kpm_indication_bytes(40, 7, true), 8390);
  assert_int_equal(kpm_indication_bytes(0, 4, true), 201);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(measured_sizes_are_exact),
      cmocka_unit_test(what_was_not_measured_lies_on_lines),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
