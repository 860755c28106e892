/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: models/domain/test/fleet_rig.o models/domain/e2.o models/domain/e2_metrics.o models/domain/e2ap.o models/domain/e2ap_config.o models/domain/fleet.o models/domain/gateway.o models/domain/kpm.o models/domain/node.o models/domain/population.o models/domain/probe.o models/domain/secure_path.o models/domain/tunnel.o models/security/ikev2.o models/security/ikev2_config.o models/security/handshake.o models/security/x509.o models/transport/port.o models/transport/esp.o models/transport/sctp.o models/transport/sctp_ack.o models/transport/sctp_path.o models/transport/sctp_profile.o models/transport/sctp_receive.o models/transport/sctp_send.o models/transport/sctp_setup.o models/crypto/alg.o models/crypto/alg_own.o models/crypto/cost.o models/crypto/cost_share.o models/crypto/cost_data.o models/crypto/cost_line.o models/crypto/device.o models/crypto/cost_name.o models/crypto/csv.o sim/net/net_path.o sim/net/net_rules.o sim/net/net_native.o sim/core/param.o sim/core/param_value.o sim/core/units.o sim/core/err.o sim/core/event.o sim/core/random.o sim/core/cpu.o sim/core/metric.o models/domain/platforms.o
/* Fleets behind one gateway: storms, migration, the life of tunnels. */
#include "models/domain/test/fleet_rig.h"

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

/* ---- Storms ---------------------------------------------------------------------------------------------------- */

/* FC-17: 2000 tunnels come back within 10 s to a gateway with cookies, 16 worker threads and at most 5 half-open sessions an
 * address, ten peers behind each. */
static void half_open_limits_hold_in_a_storm(void **state) {
  (void)state;
  const char *const pairs[] = {"e2.nodes", "2000", "e2.nodes_per_address", "10", "e2.start", "poisson", "e2.start_span", "10s", "gateway.threads", "16",
      "ipsec.half_open_per_address", "5", "ipsec.half_open_total", "40", "ipsec.auth", "rsa-2048", "path.rtt", "400ms", "e2.setup", "no", "duration", "165s",
      "probe.packets", "0", NULL};
  struct metric_set *set = rig_run(&rig, pairs, NULL, 2);
  assert_in_range(rig_summary(set, -1, "half_open_max").max, 31, 40); /* above the cookie threshold of 30 */
  assert_in_range(rig_summary(set, -1, "half_open_per_address_max").max, 1, 5);
  assert_true(rig_summary(set, -1, "cookies").min > 0);
  assert_true(rig_summary(set, -1, "success").n == 2 * 2000);
  metric_set_free(set);
}

/* FC-17: with k peers behind one address only 5 progress at a time. All 20 ask at once; the gateway takes 5, drops 15, which come
 * again after 4 s: 5 of them are taken, and so on at 11.2 and 24.16 s. */
static void peers_of_one_address_progress_five_at_a_time(void **state) {
  (void)state;
  const char *const pairs[] = {
      "e2.nodes", "20", "e2.nodes_per_address", "20", "ipsec.auth", "psk", "path.rtt", "100ms", "e2.setup", "no", "probe.packets", "0", NULL};
  struct metric_set *set = rig_run(&rig, pairs, NULL, 1);
  int64_t at[20];
  static const simtime rounds[4] = {0, 4 * S, 11200 * MS, 24160 * MS};
  assert_int_equal(rig_values(set, "tunnel_setup", at, 20), 20);
  for (int i = 0; i < 20; i++) assert_in_range(at[i], rounds[i / 5] + 200 * MS, rounds[i / 5] + 300 * MS);
  assert_int_equal(rig_summary(set, -1, "half_open_per_address_max").max, 5);
  assert_int_equal(rig_summary(set, -1, "refused_per_address").max, 15 + 10 + 5);
  metric_set_free(set);
}

/* FC-17: recovery grows with what a session costs the gateway. */
static void recovery_is_monotone_in_the_cost_of_a_session(void **state) {
  (void)state;
  static const char *const auths[] = {"psk", "ecdsa-p256", "rsa-2048", "rsa-4096"};
  int64_t last = 0;
  for (size_t i = 0; i < sizeof auths / sizeof *auths; i++) {
    const char *const pairs[] = {
        "e2.nodes", "2000", "e2.start", "ramp", "e2.start_span", "1s", "ipsec.auth", auths[i], "path.rtt", "20ms", "probe.packets", "0", NULL};
    struct metric_set *set = rig_run(&rig, pairs, NULL, 1);
    struct metric_summary all = rig_summary(set, -1, "recovered_100");
    assert_int_equal(all.n, 1);
    assert_true(all.max > last);
    assert_true(rig_summary(set, -1, "recovered_50").max <= rig_summary(set, -1, "recovered_95").max);
    assert_true(rig_summary(set, -1, "recovered_95").max <= all.max);
    last = all.max;
    metric_set_free(set);
  }
}

/* N nodes at once, c cores, and a session costs the gateway the core time s of one node's utilisation: no queue in which no core
 * idles ends before N s / c, nor later than that plus one node's set-up without waiting. */
static void recovery_is_the_work_over_the_cores(void **state) {
  (void)state;
  enum { NODES = 1000, CORES = 4 };
  static const char *const common[] = {"ipsec.auth", "rsa-3072", "platform.initiator", "xeon-6242r", "platform.responder", "xeon-6242r", "path.rtt", "2ms",
      "e2.setup", "no", "probe.packets", "0", "ipsec.half_open_per_address", "0", "ipsec.cookie_threshold", "0", "gateway.cores"};
  const char *pairs[24];
  memcpy(pairs, common, sizeof common);
  size_t used = sizeof common / sizeof *common;
  pairs[used] = "1";
  pairs[used + 1] = NULL;
  struct metric_set *one = rig_run(&rig, pairs, NULL, 1);
  double alone = (double)rig_summary(one, -1, "tunnel_setup").max, work = rig_summary(one, -1, "gateway_utilisation").mean / 1e9 * alone;
  metric_set_free(one);
  char nodes[16];
  snprintf(nodes, sizeof nodes, "%d", NODES);
  pairs[used] = "4";
  pairs[used + 1] = "e2.nodes";
  pairs[used + 2] = nodes;
  pairs[used + 3] = NULL;
  struct metric_set *storm = rig_run(&rig, pairs, NULL, 1);
  double recovered = (double)rig_summary(storm, -1, "recovered_100").max;
  assert_true(recovered > NODES * work / CORES * 0.999);
  assert_true(recovered < NODES * work / CORES * 1.001 + alone);
  metric_set_free(storm);
}

/* ---- Draws ----------------------------------------------------------------------------------------------------- */

static int compare_values(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* Loss, jitter, random costs, and cores enough for all: each of the first 50 nodes has the same fate whether a 51st is there or not. */
static void another_node_leaves_every_other_ones_draws(void **state) {
  (void)state;
  enum { NODES = 50 };
  int64_t less[NODES + 1], more[NODES + 1];
  const char *nodes[] = {"50", "51"};
  int counts[2];
  for (int i = 0; i < 2; i++) {
    const char *const pairs[] = {"e2.nodes", nodes[i], "gateway.cores", "64", "gateway.threads", "64", "path.loss", "10%", "path.rtt", "10ms", "path.jitter",
        "1ms", "e2.start", "poisson", "probe.packets", "0", "ipsec.cookie_threshold", "0", NULL};
    struct metric_set *set = rig_run(&rig, pairs, NULL, 1);
    counts[i] = rig_values(set, "e2_setup", i ? more : less, NODES + 1);
    metric_set_free(set);
  }
  assert_true(counts[1] == counts[0] || counts[1] == counts[0] + 1);
  qsort(more, (size_t)counts[1], sizeof *more, compare_values);
  for (int i = 0; i < counts[0]; i++) assert_non_null(bsearch(&less[i], more, (size_t)counts[1], sizeof *more, compare_values));
}

/* Groups that differ in nothing add metrics, and change no value of those that were there. */
static void more_metrics_leave_the_values(void **state) {
  (void)state;
  static const char *const none[] = {NULL};
  const struct rig_group groups[] = {{"a", "30%", none}, {"b", NULL, none}, {NULL, NULL, NULL}};
  const char *const pairs[] = {"e2.nodes", "30", "path.loss", "5%", "path.rtt", "10ms", "path.jitter", "1ms", "e2.start", "poisson", "kpm.period", "10ms",
      "gateway.background", "20%", NULL};
  static const char *const compared[] = {"tunnel_setup", "e2_setup", "control_loop", "data_latency", "retransmissions", "recovered_100"};
  struct metric_set *plain = rig_run(&rig, pairs, NULL, 3), *grouped = rig_run(&rig, pairs, groups, 3);
  for (size_t i = 0; i < sizeof compared / sizeof *compared; i++) {
    struct metric_summary a = rig_summary(plain, -1, compared[i]), b = rig_summary(grouped, -1, compared[i]);
    assert_true(a.n > 0 && a.n == b.n && a.failed == b.failed && a.mean == b.mean && a.sd == b.sd && a.p50 == b.p50 && a.p95 == b.p95);
    assert_int_equal(rig_summary(grouped, 0, compared[i]).n + rig_summary(grouped, 1, compared[i]).n, strcmp(compared[i], "recovered_100") ? a.n : 2 * a.n);
  }
  metric_set_free(plain);
  metric_set_free(grouped);
}

/* The first packet is lost and goes out again: what the authentication costs is as it was. */
static void a_retransmission_leaves_the_other_draws(void **state) {
  (void)state;
  static const char *const drops[] = {"[]", "[1]"};
  struct metric_summary auth[2];
  for (int i = 0; i < 2; i++) {
    const char *const pairs[] = {"path.up.drop", drops[i], "path.rtt", "10ms", "probe.packets", "0", NULL};
    struct metric_set *set = rig_run(&rig, pairs, NULL, 50);
    auth[i] = rig_summary(set, -1, "ike_auth");
    assert_int_equal(rig_summary(set, -1, "retransmissions").max, i);
    metric_set_free(set);
  }
  assert_true(auth[0].sd > 0);
  assert_true(auth[0].mean == auth[1].mean && auth[0].min == auth[1].min && auth[0].max == auth[1].max);
}

/* ---- Groups and migration -------------------------------------------------------------------------------------- */

static void groups_have_their_own_path_security_and_metrics(void **state) {
  (void)state;
  static const char *const far[] = {"path.rtt", "40ms", NULL}, *const old[] = {"ipsec.kex", "x25519", "ipsec.auth", "ecdsa-p256", NULL}, *const rest[] = {NULL};
  const struct rig_group groups[] = {{"near", NULL, rest}, {"far", "25%", far}, {"old", "15%", old}, {NULL, NULL, NULL}};
  const char *const pairs[] = {"e2.nodes", "100", "ipsec.kex", "mlkem768", "ipsec.auth", "mldsa65", "path.rtt", "10ms", "gateway.cores", "64", "e2.setup",
      "yes", "probe.packets", "0", "platform.initiator", "xeon-6242r", "platform.responder", "xeon-6242r", NULL};
  struct metric_set *set = rig_run(&rig, pairs, groups, 1);
  assert_int_equal(rig_summary(set, 0, "tunnel_setup").n, 60);
  assert_int_equal(rig_summary(set, 1, "tunnel_setup").n, 25);
  assert_int_equal(rig_summary(set, 2, "tunnel_setup").n, 15);
  assert_int_equal(rig_summary(set, -1, "tunnel_setup").n, 100);
  assert_in_range(rig_summary(set, 0, "sctp_setup").max, 20 * MS, 21 * MS);
  assert_in_range(rig_summary(set, 1, "sctp_setup").min, 80 * MS, 81 * MS);
  /* Of all sessions the 15 % with X25519 and ECDSA are exposed. */
  assert_int_equal((int64_t)llround(rig_summary(set, -1, "hndl_exposed").mean), 150000000);
  assert_int_equal((int64_t)llround(rig_summary(set, -1, "auth_exposed").mean), 150000000);
  assert_int_equal(rig_summary(set, 2, "hndl_exposed").min, SHARE_ONE);
  assert_int_equal(rig_summary(set, 1, "hndl_exposed").max, 0);
  metric_set_free(set);
}

/* RFC 7296 sections 1.3 and 2.7: a share the responder does not take costs a round trip; nothing in common costs the session. */
static void unwanted_share_costs_a_round_trip(void **state) {
  (void)state;
  static const struct {
    const char *offered, *accepted;
    int64_t init_ms, success;
  } cases[] = {
      {"[x25519, mlkem768]", "[mlkem768, x25519]", 20, SHARE_ONE},
      {"[mlkem768, x25519]", "[mlkem768, x25519]", 10, SHARE_ONE},
      {"[x25519, mlkem768]", "[x25519]", 10, SHARE_ONE},
      {"[x25519]", "[mlkem768]", 0, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *const pairs[] = {"ipsec.offered", cases[i].offered, "ipsec.accepted", cases[i].accepted, "ipsec.auth", "psk", "path.rtt", "10ms",
        "platform.initiator", "xeon-6242r", "platform.responder", "xeon-6242r", "probe.packets", "0", NULL};
    struct metric_set *set = rig_run(&rig, pairs, NULL, 1);
    assert_int_equal(rig_summary(set, -1, "success").max, cases[i].success);
    if (cases[i].success)
      assert_in_range(rig_summary(set, -1, "ike_init").max, cases[i].init_ms * MS, (cases[i].init_ms + 1) * MS);
    else
      assert_int_equal(rig_summary(set, -1, "ike_init").n, 0);
    metric_set_free(set);
  }
}

/* ---- The life of a tunnel -------------------------------------------------------------------------------------- */

/* Over 100 s, an IKE SA of 10 s is rekeyed at 10, 20, ... 90 s and a little, nine times; a CHILD_SA of 4 s at 4, ... 96 s: 24
 * times. Each takes a round trip. */
static void associations_are_rekeyed_when_their_time_has_come(void **state) {
  (void)state;
  const char *const pairs[] = {"duration", "100s", "ipsec.rekey_time", "10s", "ipsec.child_rekey_time", "4s", "ipsec.rekey_jitter", "0%", "path.rtt", "10ms",
      "platform.initiator", "xeon-6242r", "platform.responder", "xeon-6242r", "probe.packets", "0", NULL};
  struct metric_set *set = rig_run(&rig, pairs, NULL, 1);
  struct metric_summary rekey = rig_summary(set, -1, "rekey"), child = rig_summary(set, -1, "child_sa");
  assert_int_equal(rekey.n, 9);
  assert_int_equal(child.n, 24);
  assert_in_range(rekey.min, 10 * MS, 11 * MS);
  assert_in_range(child.max, 10 * MS, 11 * MS);
  metric_set_free(set);
}

/* One more round trip for each additional key exchange: IKE_FOLLOWUP_KE. */
static void additional_key_exchange_is_rekeyed_too(void **state) {
  (void)state;
  const char *const pairs[] = {"duration", "15s", "ipsec.kex", "x25519-ke1_mlkem768", "ipsec.rekey_time", "10s", "ipsec.rekey_jitter", "0%", "path.rtt", "10ms",
      "platform.initiator", "xeon-6242r", "platform.responder", "xeon-6242r", "probe.packets", "0", NULL};
  struct metric_set *set = rig_run(&rig, pairs, NULL, 1);
  assert_in_range(rig_summary(set, -1, "rekey").max, 20 * MS, 21 * MS);
  metric_set_free(set);
}

/* FC-18: one that gets no answer within its retransmission budget (1 s, no repetition) has failed; so has the tunnel, which is then set
 * up again: its first try at 11 s, and those at 12 and 13 s, get no answer either. */
static void rekeying_without_an_answer_fails_and_the_tunnel_is_set_up_again(void **state) {
  (void)state;
  const char *const pairs[] = {"duration", "19s", "ipsec.rekey_time", "10s", "ipsec.rekey_jitter", "0%", "ipsec.retransmit_timeout", "1s",
      "ipsec.retransmit_tries", "0", "ipsec.keying_tries", "0", "path.outage_start", "9s", "path.outage", "4500ms", "e2.setup", "no", "probe.packets", "0",
      NULL};
  struct metric_set *set = rig_run(&rig, pairs, NULL, 1);
  assert_int_equal(rig_summary(set, -1, "rekey").n, 0);
  assert_int_equal(rig_summary(set, -1, "rekey").failed, 1);
  assert_int_equal(rig_summary(set, -1, "ike_init").failed, 3);
  assert_int_equal(rig_summary(set, -1, "ike_establish").n, 2);
  metric_set_free(set);
}

/* The path is dead from 20 to 60 s. Silence since 20 s (or the last answer before) is noticed after the DPD delay of 10 s, asked
 * about on the ladder of 1, 1.8, 3.24, ... s, five repetitions: 41.3 s; then the tunnel is set up again. */
static void dead_peer_is_noticed_and_the_tunnel_set_up_again(void **state) {
  (void)state;
  const char *const pairs[] = {"duration", "120s", "ipsec.dpd_delay", "10s", "ipsec.retransmit_timeout", "1s", "path.outage_start", "20s", "path.outage", "60s",
      "e2.setup", "no", "probe.packets", "0", NULL};
  struct metric_set *set = rig_run(&rig, pairs, NULL, 1);
  assert_int_equal(rig_summary(set, -1, "ike_establish").n, 2);
  assert_int_equal(rig_summary(set, -1, "tunnel_setup").n, 1);
  metric_set_free(set);
}

/* strongSwan's keyingtries: the gateway is down for 200 s, longer than one try's 165 s. */
static void tries_go_on_until_the_gateway_is_back(void **state) {
  (void)state;
  static const char *const tries[] = {"1", "0"};
  for (int i = 0; i < 2; i++) {
    const char *const pairs[] = {"e2.nodes", "10", "e2.start", "outage", "e2.outage", "200s", "ipsec.keying_tries", tries[i], "duration", "600s",
        "probe.packets", "0", "ipsec.auth", "psk", NULL};
    struct metric_set *set = rig_run(&rig, pairs, NULL, 1);
    /* With one try those give up that noticed the loss more than 35 s before the gateway's return, which all do: within 10 s. */
    assert_int_equal((int64_t)rig_summary(set, -1, "success").mean, i ? SHARE_ONE : 0);
    assert_true(rig_summary(set, -1, "refused_down").max >= 60);
    metric_set_free(set);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(half_open_limits_hold_in_a_storm),
      cmocka_unit_test(peers_of_one_address_progress_five_at_a_time),
      cmocka_unit_test(recovery_is_monotone_in_the_cost_of_a_session),
      cmocka_unit_test(recovery_is_the_work_over_the_cores),
      cmocka_unit_test(another_node_leaves_every_other_ones_draws),
      cmocka_unit_test(more_metrics_leave_the_values),
      cmocka_unit_test(a_retransmission_leaves_the_other_draws),
      cmocka_unit_test(groups_have_their_own_path_security_and_metrics),
      cmocka_unit_test(unwanted_share_costs_a_round_trip),
      cmocka_unit_test(associations_are_rekeyed_when_their_time_has_come),
      cmocka_unit_test(additional_key_exchange_is_rekeyed_too),
      cmocka_unit_test(rekeying_without_an_answer_fails_and_the_tunnel_is_set_up_again),
      cmocka_unit_test(dead_peer_is_noticed_and_the_tunnel_set_up_again),
      cmocka_unit_test(tries_go_on_until_the_gateway_is_back),
  };
  return cmocka_run_group_tests(tests, rig_group_open, rig_group_close);
}
