/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: models/domain/test/fleet_rig.o models/security/test/ike_rows.o models/domain/e2.o models/domain/e2_metrics.o models/domain/e2ap.o models/domain/e2ap_config.o models/domain/fleet.o models/domain/gateway.o models/domain/kpm.o models/domain/node.o models/domain/population.o models/domain/probe.o models/domain/secure_path.o models/domain/tunnel.o models/security/ikev2.o models/security/ikev2_config.o models/security/handshake.o models/security/x509.o models/transport/port.o models/transport/esp.o models/transport/sctp.o models/transport/sctp_ack.o models/transport/sctp_path.o models/transport/sctp_profile.o models/transport/sctp_receive.o models/transport/sctp_send.o models/transport/sctp_setup.o models/crypto/alg.o models/crypto/cost.o models/crypto/cost_share.o models/crypto/cost_data.o models/crypto/cost_line.o models/crypto/csv.o sim/net/net_path.o sim/net/net_rules.o sim/net/net_native.o sim/core/param.o sim/core/param_value.o sim/core/units.o sim/core/err.o sim/core/event.o sim/core/random.o sim/core/cpu.o sim/core/metric.o models/crypto/alg_own.o models/crypto/device.o models/crypto/cost_name.o models/domain/platforms.o
#include "models/domain/test/fleet_rig.h"
#include "models/security/test/ike_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define US INT64_C(1000)
#define MS INT64_C(1000000)
#define S INT64_C(1000000000)

/* Runs one point; pairs end with NULL. The caller frees the set. */
static struct metric_set *simulate(const char *const *pairs, int replications) { return rig_run(&rig, pairs, NULL, replications); }

static struct metric_summary summary(const struct metric_set *set, const char *name) { return rig_summary(set, -1, name); }

/* ---- Measured establishments (source pqnetsim-ike-2026) ---------------------------------------------------------- */

/* The metric that a measured time is compared with: that of a whole establishment or of an exchange; NULL for other rows. */
static const char *metric_of(const struct ike_row *m) {
  static const char *const metrics[][3] = {{"TOTAL", "establish", "ike_establish"}, {"IKE_SA_INIT", "roundtrip", "ike_init"},
      {"IKE_INTERMEDIATE", "roundtrip", "ike_intermediate"}, {"IKE_AUTH", "roundtrip", "ike_auth"}};
  for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
    if (strcmp(m->exchange, metrics[i][0]) == 0 && strcmp(m->direction, metrics[i][1]) == 0) return metrics[i][2];
  return NULL;
}

static struct metric_set *simulate_row(const struct ike_row *m, int replications) {
  char rtt[32], loss[32];
  snprintf(rtt, sizeof rtt, "%gms", m->rtt_ms);
  snprintf(loss, sizeof loss, "%g%%", m->loss * 100);
  const char *const pairs[] = {"ipsec.ike", m->ike, "ipsec.kex", m->kex, "ipsec.auth", m->auth, "ipsec.chain", m->chain, "ipsec.childless", m->childless,
      "ipsec.fragment_size", m->fragment, "path.rtt", rtt, "path.loss", loss, "probe.packets", "0", NULL};
  return simulate(pairs, replications);
}

/* None of these rows was used to fit the platform's software costs: those come from the section `main` (RTT 0). */
static void loss_free_establishment_at_10_ms_within_3_percent(void **state) {
  (void)state;
  FILE *file = ike_rows_open();
  struct ike_row m;
  int rows = 0;
  while (ike_rows_next(file, &m)) {
    if (strcmp(m.section, "rtt") != 0 || strcmp(m.exchange, "TOTAL") != 0 || strcmp(m.direction, "establish") != 0) continue;
    struct metric_set *set = simulate_row(&m, 200);
    double error = (double)summary(set, "ike_establish").p50 / (m.p50 * 1e3) - 1;
    if (fabs(error) > 0.03) fail_msg("%s %s: %+.1f %%", m.kex, m.auth, error * 100);
    metric_set_free(set);
    rows++;
  }
  fclose(file);
  assert_int_equal(rows, 15);
}

/* How many waits of the ladder a time holds: 0, 4, 11.2, 24.16, ... s, or sums of them in several exchanges. */
static int waits_in(double us) { return (int)floor((us / 1e6 + 0.5) / 4.0); }

/* 200 establishments a row. The median's mode must be the simulated one; the mean must lie within three standard errors;
 * the 95th percentile's mode among those that 200 draws give with probability 95 % (ranks 184 to 196: 0.919 to 0.981). */
static void lossy_exchanges_are_in_the_right_mode(void **state) {
  (void)state;
  enum { REPLICATIONS = 4000 };
  FILE *file = ike_rows_open();
  struct ike_row m;
  int rows = 0, modes_missed = 0, means_missed = 0;
  while (ike_rows_next(file, &m)) {
    const char *name = metric_of(&m);
    if (strcmp(m.section, "loss") != 0 || !name) continue;
    struct metric_set *set = simulate_row(&m, REPLICATIONS);
    int metric = rig_metric(name);
    struct metric_summary s = summary(set, name);
    assert_int_equal(waits_in((double)s.p50 / 1e3), waits_in(m.p50));
    int low = waits_in((double)metric_quantile(set, metric, 919) / 1e3), high = waits_in((double)metric_quantile(set, metric, 981) / 1e3);
    modes_missed += waits_in(m.p95) < low || waits_in(m.p95) > high;
    means_missed += fabs(s.mean / 1e3 - m.mean) > 3 * s.sd / 1e3 / sqrt(m.n);
    metric_set_free(set);
    rows++;
  }
  fclose(file);
  assert_int_equal(rows, 34);
  assert_in_range(modes_missed, 0, 2); /* 34 independent 95 % intervals miss 1.7 times on average */
  assert_int_equal(means_missed, 0);
}

/* ---- FC-14 and FC-16 as a user sees them -------------------------------------------------------------------------- */

static void silent_peer_gives_up_at_165_seconds(void **state) {
  (void)state;
  const char *const pairs[] = {"path.up.loss", "100%", "platform.initiator", "xeon-6242r", NULL};
  struct metric_set *set = simulate(pairs, 1);
  struct metric_summary gave_up = summary(set, "gave_up");
  assert_int_equal(gave_up.n, 1);
  /* Own key generation comes before the first packet. */
  assert_in_range(gave_up.min, INT64_C(165061120000), INT64_C(165061120000) + MS);
  assert_int_equal(summary(set, "success").max, 0);
  assert_int_equal(summary(set, "retransmissions").max, 5);
  assert_int_equal(summary(set, "tunnel_setup").failed, 1);
  metric_set_free(set);
}

static void fragment_dropping_middlebox_kills_what_ip_fragments(void **state) {
  (void)state;
  /* ML-KEM-1024 in IKE_SA_INIT is two IP fragments at MTU 1500 and never gets through; in IKE_INTERMEDIATE it is cut by
   * IKE itself and does; without IKE fragmentation it does not. */
  static const struct {
    const char *kex, *fragment;
    int64_t success;
  } cases[] = {{"mlkem1024", "1280", 0}, {"x25519-ke1_mlkem1024", "1280", SHARE_ONE}, {"x25519-ke1_mlkem1024", "0", 0}, {"mlkem768", "1280", SHARE_ONE}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *const pairs[] = {
        "ipsec.kex", cases[i].kex, "ipsec.fragment_size", cases[i].fragment, "ipsec.auth", "psk", "path.middlebox", "drop_fragments", NULL};
    struct metric_set *set = simulate(pairs, 1);
    assert_int_equal(summary(set, "success").max, cases[i].success);
    metric_set_free(set);
  }
}

/* ---- The seed study ------------------------------------------------------------------------------------------------ */

/* FC-40 and the issue: on this Xeon the arithmetic of ML-KEM explains under 0.2 ms of the +3 and +4.7 ms. */
static void kem_arithmetic_explains_under_a_fifth_of_a_millisecond(void **state) {
  (void)state;
  static const char *const levels[] = {"mlkem512", "mlkem768", "mlkem1024"};
  for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
    const char *const pairs[] = {"ipsec.kex", levels[i], "ipsec.auth", "psk", "platform.initiator", "oran-gnb", "platform.responder", "oran-ric", NULL};
    struct metric_set *set = simulate(pairs, 50);
    struct metric_summary setup = summary(set, "tunnel_setup");
    assert_true(setup.has_parts);
    assert_true(setup.parts[PART_KEX] > 0 && setup.crypto >= setup.parts[PART_KEX] && setup.crypto < 200.0 * (double)US);
    metric_set_free(set);
  }
}

static void data_plane_overhead_does_not_depend_on_the_key_exchange(void **state) {
  (void)state;
  int64_t overhead[2];
  static const char *const kex[2] = {"x25519", "mlkem1024"};
  for (int i = 0; i < 2; i++) {
    const char *const pairs[] = {"ipsec.kex", kex[i], "platform.initiator", "oran-gnb", "platform.responder", "oran-ric", NULL};
    struct metric_set *set = simulate(pairs, 20);
    assert_int_equal(summary(set, "ipsec_overhead").n, 200);
    overhead[i] = summary(set, "ipsec_overhead").p50;
    metric_set_free(set);
  }
  assert_int_equal(overhead[0], overhead[1]);
}

/* At 1 Mbit/s the probe packets queue behind one another, 1 ms apart: 200 bytes take 1.6 ms, 256 in ESP 2.048 ms. Packet k
 * (0..9) waits k * 0.6 ms, or k * 1.048 ms in ESP, so the overhead is 0.448 + k * 0.448 ms: 2.464 ms on average, from 0.448
 * to 4.48 ms, plus under 1 us of AES. */
static void overhead_is_the_difference_to_a_run_without_ipsec(void **state) {
  (void)state;
  const char *const pairs[] = {"path.rate", "1Mbit/s", "path.delay", "0s", "ipsec.auth", "psk", NULL};
  struct metric_set *set = simulate(pairs, 3);
  struct metric_summary overhead = summary(set, "ipsec_overhead");
  assert_int_equal(overhead.n, 30);
  assert_in_range(overhead.min, 448 * US, 449 * US);
  assert_in_range(overhead.max, 4480 * US, 4481 * US);
  assert_in_range((int64_t)overhead.mean, 2464 * US, 2465 * US);
  metric_set_free(set);
}

/* IP bytes with a PSK and AES-GCM by hand. IKE_AUTH request: IDi and IDr 2 * 27, AUTH 4 + 4 + 48 = 56, SA 36, TS 48, three
 * notifies 24: 218; with header 28, SK 4, IV 8, pad length 1, ICV 16: 275. Response: 27 + 56 + 36 + 48 = 167: 224.
 * IKE_SA_INIT is 232 each way (one transform less than with CBC). IP and UDP headers add 28 a packet: 563 and 512.
 * N(USE_TRANSPORT_MODE) adds 8 each way; ChaCha20-Poly1305 has no key length attribute: 4 less. */
static void negotiated_esp_shows_in_the_bytes(void **state) {
  (void)state;
  static const struct {
    const char *key, *value;
    int64_t i2r, r2i;
  } cases[] = {{"ipsec.mode", "tunnel", 563, 512}, {"ipsec.mode", "transport", 571, 520}, {"ipsec.esp", "chacha20poly1305", 559, 508}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *const pairs[] = {"ipsec.auth", "psk", "ipsec.ike", "aes256gcm16-prfsha384", cases[i].key, cases[i].value, NULL};
    struct metric_set *set = simulate(pairs, 1);
    assert_int_equal(summary(set, "ike_bytes_i2r").max, cases[i].i2r);
    assert_int_equal(summary(set, "ike_bytes_r2i").max, cases[i].r2i);
    metric_set_free(set);
  }
}

/* Every set-up is counted once in each metric: as a sample or as failed. */
static void failed_set_ups_are_counted_everywhere(void **state) {
  (void)state;
  const char *const pairs[] = {"ipsec.kex", "x25519-ke1_mlkem1024", "path.loss", "35%", "probe.packets", "4", NULL};
  enum { REPLICATIONS = 400 };
  static const char *const each[] = {"ike_init", "ike_intermediate", "ike_auth", "ike_establish", "tunnel_setup", "ike_bytes_i2r", "ike_packets_r2i"};
  struct metric_set *set = simulate(pairs, REPLICATIONS);
  assert_in_range(summary(set, "gave_up").n, 1, REPLICATIONS - 1);
  for (size_t i = 0; i < sizeof each / sizeof *each; i++) assert_int_equal(summary(set, each[i]).n + summary(set, each[i]).failed, REPLICATIONS);
  assert_int_equal(summary(set, "bytes_total").n, REPLICATIONS);
  int64_t probes = 4 * summary(set, "tunnel_setup").n;
  assert_int_equal(summary(set, "data_latency").n + summary(set, "data_latency").failed, probes);
  assert_int_equal(summary(set, "ipsec_overhead").n + summary(set, "ipsec_overhead").failed, probes);
  metric_set_free(set);
}

/* A childless IKE_AUTH is followed by a CREATE_CHILD_SA; the tunnel is up when that is done. */
static void childless_tunnel_needs_one_more_exchange(void **state) {
  (void)state;
  const char *const pairs[] = {"ipsec.childless", "yes", "path.rtt", "10ms", NULL};
  struct metric_set *set = simulate(pairs, 20);
  struct metric_summary establish = summary(set, "ike_establish"), setup = summary(set, "tunnel_setup"), child = summary(set, "child_sa");
  assert_int_equal(child.n, 20);
  assert_true(child.min > 10 * MS);
  assert_true(setup.min > establish.min + 10 * MS);
  metric_set_free(set);
}

/* Without IPsec a packet of 200 bytes at 1 Mbit/s over 5 ms takes 200 * 8 us + 5 ms = 6.6 ms; the platform adds its path. */
static void plain_packets_take_wire_time_and_delay(void **state) {
  (void)state;
  const char *const pairs[] = {"ipsec.kex", "none", "path.rate", "1Mbit/s", "path.delay", "5ms", "platform.initiator", "xeon-6242r", "platform.responder",
      "xeon-6242r", "probe.interval", "10ms", NULL};
  struct metric_set *set = simulate(pairs, 1);
  struct metric_summary latency = summary(set, "data_latency");
  assert_int_equal(latency.n, 10);
  assert_int_equal(latency.min, 6600 * US);
  assert_int_equal(latency.max, 6600 * US);
  assert_int_equal(summary(set, "ike_init").n, 0);
  assert_int_equal(summary(set, "ipsec_overhead").n, 0);
  metric_set_free(set);
}

/* Without IPsec, RTT 10 ms at 1 Gbit/s. Set-up is INIT 132, INIT-ACK 452, COOKIE-ECHO 360, COOKIE-ACK 36 bytes: 980 * 8 ns
 * = 7.84 us of wire and two round trips. The request of 2331 bytes goes as 1452 and 879: packets of 20 + 12 + 16 + 1452 =
 * 1500 and 20 + 12 + 16 + 880 = 928 bytes, one behind the other, 19.424 us and 5 ms; the response of 60 bytes bundled with
 * the SACK of the request: 20 + 12 + 16 + 16 + 60 = 124 bytes, 0.992 us and 5 ms. Platforms without software costs. */
static void e2_setup_takes_three_round_trips_after_the_path_is_up(void **state) {
  (void)state;
  const char *const pairs[] = {"e2.setup", "yes", "ipsec.kex", "none", "path.rtt", "10ms", "path.rate", "1Gbit/s", "platform.initiator", "xeon-6242r",
      "platform.responder", "xeon-6242r", NULL};
  struct metric_set *set = simulate(pairs, 1);
  assert_int_equal(summary(set, "sctp_setup").max, 20 * MS + 7840);
  assert_int_equal(summary(set, "e2_setup").max, 30 * MS + 7840 + 19424 + 992);
  metric_set_free(set);
}

static void e2_setup_goes_through_the_tunnel_and_is_counted_under_loss(void **state) {
  (void)state;
  const char *const pairs[] = {"e2.setup", "yes", "path.rtt", "10ms", "path.loss", "40%", "probe.packets", "0", NULL};
  enum { REPLICATIONS = 300 };
  struct metric_set *set = simulate(pairs, REPLICATIONS);
  struct metric_summary tunnel = summary(set, "tunnel_setup"), setup = summary(set, "e2_setup"), association = summary(set, "sctp_setup");
  assert_int_equal(setup.n + setup.failed, REPLICATIONS);
  assert_int_equal(association.n + association.failed, REPLICATIONS);
  assert_true(setup.n > 0 && setup.n < tunnel.n);
  assert_true(setup.min > tunnel.min + 30 * MS);
  metric_set_free(set);
}

/* Common random numbers: another key exchange, even an additional one, leaves the draws of the other messages as they were. */
static void same_seed_same_losses_for_every_key_exchange(void **state) {
  (void)state;
  int64_t retransmissions[2];
  static const char *const kex[2] = {"x25519", "mlkem512"};
  for (int i = 0; i < 2; i++) {
    const char *const pairs[] = {"ipsec.kex", kex[i], "ipsec.auth", "psk", "path.loss", "20%", "path.rtt", "10ms", "probe.packets", "0", NULL};
    struct metric_set *set = simulate(pairs, 300);
    retransmissions[i] = (int64_t)llround(summary(set, "retransmissions").mean * 300);
    metric_set_free(set);
  }
  assert_true(retransmissions[0] > 0);
  assert_int_equal(retransmissions[0], retransmissions[1]);
}

static void additional_exchange_leaves_the_authentication_alone(void **state) {
  (void)state;
  struct metric_summary auth[2];
  static const char *const kex[2] = {"x25519", "x25519-ke1_mlkem768"};
  for (int i = 0; i < 2; i++) {
    const char *const pairs[] = {"ipsec.kex", kex[i], "probe.packets", "0", NULL};
    struct metric_set *set = simulate(pairs, 100);
    auth[i] = summary(set, "ike_auth");
    metric_set_free(set);
  }
  assert_true(auth[0].sd > 0);
  assert_true(auth[0].mean == auth[1].mean && auth[0].min == auth[1].min && auth[0].max == auth[1].max);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(loss_free_establishment_at_10_ms_within_3_percent),
      cmocka_unit_test(lossy_exchanges_are_in_the_right_mode),
      cmocka_unit_test(silent_peer_gives_up_at_165_seconds),
      cmocka_unit_test(fragment_dropping_middlebox_kills_what_ip_fragments),
      cmocka_unit_test(kem_arithmetic_explains_under_a_fifth_of_a_millisecond),
      cmocka_unit_test(data_plane_overhead_does_not_depend_on_the_key_exchange),
      cmocka_unit_test(overhead_is_the_difference_to_a_run_without_ipsec),
      cmocka_unit_test(negotiated_esp_shows_in_the_bytes),
      cmocka_unit_test(failed_set_ups_are_counted_everywhere),
      cmocka_unit_test(childless_tunnel_needs_one_more_exchange),
      cmocka_unit_test(plain_packets_take_wire_time_and_delay),
      cmocka_unit_test(e2_setup_takes_three_round_trips_after_the_path_is_up),
      cmocka_unit_test(e2_setup_goes_through_the_tunnel_and_is_counted_under_loss),
      cmocka_unit_test(same_seed_same_losses_for_every_key_exchange),
      cmocka_unit_test(additional_exchange_leaves_the_authentication_alone),
  };
  return cmocka_run_group_tests(tests, rig_group_open, rig_group_close);
}
