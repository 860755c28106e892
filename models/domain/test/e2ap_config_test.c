/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: models/domain/e2ap_config.o models/domain/kpm.o models/transport/sctp_profile.o sim/core/param.o sim/core/param_value.o sim/core/units.o sim/core/err.o
#include "models/domain/e2ap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { ETHERNET_MTU = 1500 };

static const struct param run_rows[] = {
    {.key = "duration", .kind = PARAM_TIME, .fallback = "0s", .min = 0, .max = INT64_C(3600000000000), .help = "as the domain has it"}};
static const struct param_table run_params = {run_rows, 1};
static const struct param_table *const tables[] = {&e2ap_params, &ric_params, &sctp_params, &run_params};

/* pairs: key, value, ..., NULL. The sentence of a refusal, "" when there is none. */
static const char *configure(const char *const *pairs, int mtu_bytes, struct e2ap_config *out) {
  static char text[512];
  struct config *config = config_new(tables, 4);
  struct err e = {0};
  for (; *pairs; pairs += 2)
    if (config_set(config, pairs[0], pairs[1], &e)) fail_msg("%s", e.text);
  int rc = e2ap_configure(config, mtu_bytes, out, &e);
  assert_true((rc == 0) == (e.text == NULL || !*e.text));
  snprintf(text, sizeof text, "%.*s", rc ? (int)strcspn(e.text, "\n") : 0, rc ? e.text : "");
  err_free(&e);
  config_free(config);
  return text;
}

static int measured(const char *row) {
  FILE *file = fopen("calib/data/measured/e2/e2ap_sizes_flexric.csv", "r");
  char line[256];
  int bytes = -1;
  assert_non_null(file);
  while (fgets(line, sizeof line, file))
    if (strncmp(line, row, strlen(row)) == 0) bytes = atoi(strrchr(line, ',') + 1);
  fclose(file);
  assert_true(bytes > 0);
  return bytes;
}

/* The response alone is of another implementation: 60 bytes in srsRAN's unit tests. */
static void defaults_are_measured_sizes(void **state) {
  (void)state;
  struct e2ap_config config;
  const char *const none[] = {NULL};
  assert_string_equal(configure(none, ETHERNET_MTU, &config), "");
  assert_int_equal(config.setup_request_bytes, measured("e2_setup_request,KPM+RC"));
  assert_int_equal(config.setup_response_bytes, 60);
  assert_int_equal(config.subscription_request_bytes, measured("subscription_request_fmt1,meas=7"));
  assert_int_equal(config.subscription_response_bytes, measured("subscription_response"));
  assert_int_equal(config.indication_bytes, measured("kpm_indication_fmt1,meas=7 names=1 hdr=oai"));
  assert_int_equal(config.control_request_bytes, measured("control_request,RC QoS-flow-mapping"));
  assert_int_equal(config.control_ack_bytes, measured("control_ack"));
  assert_int_equal(config.deadline, config.period);
}

static void sizes_follow_what_is_reported(void **state) {
  (void)state;
  struct e2ap_config config;
  const char *const pairs[] = {"kpm.ues", "16", "kpm.measurements", "2", NULL};
  assert_string_equal(configure(pairs, ETHERNET_MTU, &config), "");
  assert_int_equal(config.indication_bytes, measured("kpm_indication_fmt3,UEs=16 meas=2"));
  assert_int_equal(config.subscription_request_bytes, measured("subscription_request_fmt1,meas=2"));
  const char *const own[] = {"e2.subscription_request", "47B", NULL};
  assert_string_equal(configure(own, ETHERNET_MTU, &config), "");
  assert_int_equal(config.subscription_request_bytes, 47);
}

/* Runs that would never end, and what would be waited for in vain. */
static void contradictions_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *pairs[7];
    const char *sentence;
  } cases[] = {
      {{"e2.association_tries", "0"}, "e2.association_tries: found 0, for ever, allowed only in a run with a duration"},
      {{"e2.association_tries", "0", "duration", "10s"}, ""},
      {{"e2.stall_at", "5s"}, "e2.stall_at: found 5s, allowed 0s, or with e2.watchdog or a duration: else the run would wait for ever"},
      {{"e2.stall_at", "5s", "duration", "10s"}, ""},
      {{"e2.stall_at", "5s", "e2.watchdog", "15s"}, ""},
      {{"e2.stall_at", "5s", "e2.control", "no"}, ""},
      {{"e2.watchdog", "15s", "e2.control", "no"}, "e2.watchdog: found 15s, allowed 0s where e2.control is no: there are no control requests to be answered"},
      {{"e2.watchdog", "15s", "e2.control", "no", "e2.setup", "no"}, ""},
  };
  struct e2ap_config config;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) assert_string_equal(configure(cases[i].pairs, ETHERNET_MTU, &config), cases[i].sentence);
}

static void a_small_mtu_is_refused(void **state) {
  (void)state;
  struct e2ap_config config;
  const char *const none[] = {NULL}, *const without[] = {"e2.setup", "no", NULL};
  assert_string_equal(configure(none, SCTP_MTU_MIN, &config), "");
  assert_string_equal(configure(none, SCTP_MTU_MIN - 1, &config), "path.mtu: leaves 511B for a packet of SCTP, allowed 512B or more (or e2.setup: no)");
  assert_string_equal(configure(without, SCTP_MTU_MIN - 1, &config), "");
  assert_int_equal(config.sctp.paths, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(defaults_are_measured_sizes),
      cmocka_unit_test(sizes_follow_what_is_reported),
      cmocka_unit_test(contradictions_are_refused),
      cmocka_unit_test(a_small_mtu_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
