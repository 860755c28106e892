/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: models/transport/sctp_profile.o sim/core/param.o sim/core/param_value.o sim/core/units.o sim/core/err.o
#include "models/transport/sctp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#define MS INT64_C(1000000)

static const struct param_table *const tables[] = {&sctp_params};

static void set(struct config *config, const char *key, const char *text) {
  struct err e = {0};
  assert_int_equal(config_set(config, key, text, &e), 0);
  err_free(&e);
}

/* From the sources named in sctp_profile.c, in ms: RTO initial, min, max, longest T1; retransmissions of INIT, path,
 * association; heartbeat; SACK delay; nodelay; streams. */
static const struct {
  const char *name;
  int rto[4], retrans[3], heartbeat, sack_delay, nodelay, streams;
} profiles[] = {
    {"rfc9260", {1000, 1000, 60000, 60000}, {8, 5, 10}, 30000, 200, 0, 10},
    {"linux", {3000, 1000, 60000, 60000}, {8, 5, 10}, 30000, 200, 0, 10},
    {"open5gs", {3000, 1000, 5000, 8000}, {4, 5, 10}, 5000, 200, 1, 30},
    {"srsran", {120, 120, 500, 500}, {3, 5, 10}, 30000, 200, 0, 10},
    {"flexric", {3000, 1000, 60000, 60000}, {8, 5, 10}, 30000, 200, 1, 10},
};

static void assert_profile(const struct sctp_config *config, size_t i) {
  assert_string_equal(config->name, profiles[i].name);
  assert_int_equal(config->rto_initial, profiles[i].rto[0] * MS);
  assert_int_equal(config->rto_min, profiles[i].rto[1] * MS);
  assert_int_equal(config->rto_max, profiles[i].rto[2] * MS);
  assert_int_equal(config->init_timeout_max, profiles[i].rto[3] * MS);
  assert_int_equal(config->init_max_retrans, profiles[i].retrans[0]);
  assert_int_equal(config->path_max_retrans, profiles[i].retrans[1]);
  assert_int_equal(config->association_max_retrans, profiles[i].retrans[2]);
  assert_int_equal(config->heartbeat, profiles[i].heartbeat * MS);
  assert_int_equal(config->sack_delay, profiles[i].sack_delay * MS);
  assert_int_equal(config->nodelay, profiles[i].nodelay);
  assert_int_equal(config->streams, profiles[i].streams);
}

static void unset_follows_the_profile(void **state) {
  (void)state;
  struct err e = {0};
  for (size_t i = 0; i < sizeof profiles / sizeof *profiles; i++) {
    struct sctp_config out;
    struct config *config = config_new(tables, 1);
    set(config, "sctp.profile", profiles[i].name);
    assert_int_equal(sctp_configure(config, 1400, &out, &e), 0);
    assert_profile(&out, i);
    assert_profile(sctp_profile(profiles[i].name), i);
    assert_int_equal(out.mtu_bytes, 1400);
    config_free(config);
  }
  assert_null(sctp_profile("usrsctp"));
}

/* What `params` shows as defaults is the default profile. */
/* What a listing would say of a parameter that is not set must not be another profile's value: it says nothing. */
static void unset_parameters_have_no_value_of_their_own(void **state) {
  (void)state;
  struct err e = {0};
  struct sctp_config out;
  struct config *config = config_new(tables, 1);
  assert_int_equal(sctp_configure(config, 1500, &out, &e), 0);
  assert_profile(&out, 4); /* flexric's: the RIC of the E2 studies */
  assert_null(config_text(config, "sctp.rto_min"));
  set(config, "sctp.rto_min", "300ms");
  assert_string_equal(config_text(config, "sctp.rto_min"), "300ms");
  config_free(config);
}

static void set_values_win(void **state) {
  (void)state;
  struct err e = {0};
  struct sctp_config out;
  struct config *config = config_new(tables, 1);
  set(config, "sctp.profile", "srsran");
  set(config, "sctp.rto_min", "100ms");
  set(config, "sctp.heartbeat", "0s");
  set(config, "sctp.sack_delay", "0s");
  set(config, "sctp.nodelay", "yes");
  set(config, "sctp.streams", "2");
  set(config, "sctp.path_max_retrans", "1");
  assert_int_equal(sctp_configure(config, 1500, &out, &e), 0);
  assert_int_equal(out.rto_min, 100 * MS);
  assert_int_equal(out.rto_max, 500 * MS);
  assert_int_equal(out.heartbeat, 0);
  assert_int_equal(out.sack_delay, 0);
  assert_true(out.nodelay);
  assert_int_equal(out.streams, 2);
  assert_int_equal(out.path_max_retrans, 1);
  assert_int_equal(out.association_max_retrans, 10);
  config_free(config);
}

static void contradictions_are_refused(void **state) {
  (void)state;
  struct sctp_config out;
  struct config *config = config_new(tables, 1);
  struct err e = {0}, small = {0};
  set(config, "sctp.profile", "srsran");
  set(config, "sctp.rto_min", "1s");
  assert_int_equal(sctp_configure(config, 1500, &out, &e), ERR_INPUT);
  assert_string_equal(e.text, "sctp.rto_min: 1s is more than sctp.rto_max, 500ms (profile srsran)\n");
  set(config, "sctp.rto_max", "2s");
  assert_int_equal(sctp_configure(config, 500, &out, &small), ERR_INPUT);
  err_free(&e);
  err_free(&small);
  config_free(config);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unset_follows_the_profile),
      cmocka_unit_test(unset_parameters_have_no_value_of_their_own),
      cmocka_unit_test(set_values_win),
      cmocka_unit_test(contradictions_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
