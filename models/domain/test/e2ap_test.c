/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: models/domain/test/fleet_rig.o models/domain/e2.o models/domain/e2_metrics.o models/domain/e2ap.o models/domain/e2ap_config.o models/domain/fleet.o models/domain/gateway.o models/domain/kpm.o models/domain/node.o models/domain/population.o models/domain/probe.o models/domain/secure_path.o models/domain/tunnel.o models/security/ikev2.o models/security/ikev2_config.o models/security/handshake.o models/security/x509.o models/transport/port.o models/transport/esp.o models/transport/sctp.o models/transport/sctp_ack.o models/transport/sctp_path.o models/transport/sctp_profile.o models/transport/sctp_receive.o models/transport/sctp_send.o models/transport/sctp_setup.o models/crypto/alg.o models/crypto/alg_own.o models/crypto/cost.o models/crypto/cost_share.o models/crypto/cost_data.o models/crypto/cost_line.o models/crypto/device.o models/crypto/cost_name.o models/crypto/csv.o sim/net/net_path.o sim/net/net_rules.o sim/net/net_native.o sim/core/param.o sim/core/param_value.o sim/core/units.o sim/core/err.o sim/core/event.o sim/core/random.o sim/core/cpu.o sim/core/metric.o models/domain/platforms.o
/* What runs over the association: subscriptions, control loops, and what happens when it is lost. */
#include "models/domain/test/fleet_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define US INT64_C(1000)
#define MS INT64_C(1000000)
#define S INT64_C(1000000000)

/* Platforms without software costs, no IPsec, RTT 10 ms at 1 Gbit/s (8 ns a byte), FlexRIC's SCTP (no Nagle). */
#define PLAIN                                                                                                                                                  \
  "ipsec.kex", "none", "platform.initiator", "xeon-6242r", "platform.responder", "xeon-6242r", "path.rtt", "10ms", "path.rate", "1Gbit/s", "probe.packets",    \
      "0", "kpm.period", "100ms"

/* IPv4 20, SCTP 12, DATA 16 and the PDU padded to 4. Subscription request 196: 244 bytes, 1952 ns; response 38, bundled with the SACK
 * (16) of the request: 104 bytes, 832 ns. Indication of 271 (272): 320 bytes, 2560 ns. It is the second packet
 * after a subscription response or a control acknowledge, so its SACK goes at once; the control request of 84 follows after 200 us of
 * the xApp: 132 bytes, 1056 ns. */
static void loop_takes_its_bytes_its_round_trip_and_the_xapp(void **state) {
  (void)state;
  const char *const pairs[] = {PLAIN, NULL};
  struct metric_set *set = rig_run(&rig, pairs, NULL, 1);
  assert_int_equal(rig_summary(set, -1, "xapp_start").max, 10 * MS + 1952 + 832);
  assert_int_equal(rig_summary(set, -1, "indication_latency").n, 10);
  assert_int_equal(rig_summary(set, -1, "indication_latency").max, 5 * MS + 2560);
  struct metric_summary loop = rig_summary(set, -1, "control_loop");
  assert_int_equal(loop.n, 10);
  assert_int_equal(loop.min, 10 * MS + 2560 + 1056 + 200 * US);
  assert_int_equal(loop.max, loop.min);
  assert_int_equal((int64_t)loop.parts[PART_APPLICATION], 200 * US);
  assert_int_equal(rig_summary(set, -1, "deadline_miss").max, 0);
  metric_set_free(set);
}

/* Loops of 100 ms for 10 s, the first within 100 ms of the subscription: 1 s after E2 setup. Those begun from 5 s on count: 50. */
static void steady_metrics_leave_the_warm_up_out(void **state) {
  (void)state;
  const char *const pairs[] = {PLAIN, "duration", "10s", "warmup", "5s", NULL};
  struct metric_set *set = rig_run(&rig, pairs, NULL, 1);
  assert_in_range(rig_summary(set, -1, "control_loop").n, 49, 50);
  assert_int_equal(rig_summary(set, -1, "xapp_start").n, 1);
  metric_set_free(set);
}

/* Without Nagle's algorithm off, an indication waits for the SACK of the one before it, and the peer delays that. */
static void nagle_and_delayed_sack_stall_a_loop(void **state) {
  (void)state;
  static const char *const nodelay[] = {"yes", "no"};
  struct metric_summary loop[2];
  for (int i = 0; i < 2; i++) {
    const char *const pairs[] = {PLAIN, "sctp.nodelay", nodelay[i], "kpm.period", "50ms", "duration", "10s", NULL};
    struct metric_set *set = rig_run(&rig, pairs, NULL, 1);
    loop[i] = rig_summary(set, -1, "control_loop");
    metric_set_free(set);
  }
  assert_true(loop[0].parts[PART_TRANSPORT_STALL] == 0);
  assert_true(loop[1].parts[PART_TRANSPORT_STALL] > 10.0 * (double)MS);
  assert_true(loop[1].crypto == 0);
}

/* 20 nodes report every 100 ms: 200 a second. One worker of 10 ms does 100 a second and falls behind; four do 400. */
static void xapp_that_falls_behind_misses_deadlines(void **state) {
  (void)state;
  static const char *const workers[] = {"1", "4"};
  for (int i = 0; i < 2; i++) {
    const char *const pairs[] = {PLAIN, "e2.nodes", "20", "xapp.service", "10ms", "xapp.workers", workers[i], "duration", "10s", "warmup", "2s", NULL};
    struct metric_set *set = rig_run(&rig, pairs, NULL, 1);
    double missed = rig_summary(set, -1, "deadline_miss").mean / (double)SHARE_ONE;
    if (i == 0)
      assert_true(missed > 0.9);
    else
      assert_true(missed == 0);
    metric_set_free(set);
  }
}

/* The path is dead from 1 s, just before the xApp subscribes, to 6 s. An xApp that waits 1 s and does not repeat gives up. */
static void subscription_is_retried(void **state) {
  (void)state;
  static const char *const retries[] = {"0", "10"};
  for (int i = 0; i < 2; i++) {
    const char *const pairs[] = {
        PLAIN, "e2.subscription_timeout", "1s", "e2.subscription_retries", retries[i], "path.outage_start", "1s", "path.outage", "5s", "duration", "30s", NULL};
    struct metric_set *set = rig_run(&rig, pairs, NULL, 1);
    struct metric_summary start = rig_summary(set, -1, "xapp_start");
    assert_int_equal(start.n, i);
    assert_int_equal(start.failed, 1 - i);
    if (i == 1) assert_in_range(start.max, 4900 * MS, 15 * S);
    metric_set_free(set);
  }
}

/* FC-23: the gNB's E2 agent stops reading at 20 s, while its SCTP answers SACKs and heartbeats. With a watchdog of 15 s the RIC aborts
 * and E2 is set up again: an outage of 15 s (within 2). Without one it lasts to the end of the run: of the loops begun in 60 s, those of
 * the last 40 s are never done. */
static void peer_that_reads_nothing_is_found_by_a_watchdog_alone(void **state) {
  (void)state;
  static const char *const watchdogs[] = {"15s", "0s"};
  for (int i = 0; i < 2; i++) {
    const char *const pairs[] = {PLAIN, "e2.stall_at", "20s", "e2.watchdog", watchdogs[i], "e2.reconnect", "0s", "duration", "60s", "warmup", "2s", NULL};
    struct metric_set *set = rig_run(&rig, pairs, NULL, 1);
    struct metric_summary outage = rig_summary(set, -1, "outage");
    double missed = rig_summary(set, -1, "deadline_miss").mean / (double)SHARE_ONE;
    assert_int_equal(outage.n, 1 - i);
    if (i == 0) {
      assert_in_range(outage.max, 13 * S, 17 * S);
      assert_true(missed > 14.0 / 58 && missed < 18.0 / 58);
    } else {
      assert_true(missed > 39.0 / 58 && missed < 41.0 / 58);
    }
    metric_set_free(set);
  }
}

/* A control request of 132 bytes takes 105.6 ms at 10 kbit/s, and one is sent every 10 ms: the one sent after a time s comes in after
 * 10.56 s, so that it is the one of 0.21 s that has waited 2 s, though an acknowledgement has come in every 106 ms or so. */
static void watchdog_goes_by_the_oldest_request(void **state) {
  (void)state;
  static const char *const watchdogs[] = {"2s", "0s"};
  for (int i = 0; i < 2; i++) {
    const char *const pairs[] = {PLAIN, "path.down.rate", "10kbit/s", "kpm.period", "10ms", "e2.watchdog", watchdogs[i], "duration", "20s", NULL};
    struct metric_set *set = rig_run(&rig, pairs, NULL, 1);
    if (i == 0)
      assert_true(rig_summary(set, -1, "outage").n > 0);
    else
      assert_int_equal(rig_summary(set, -1, "outage").n, 0);
    metric_set_free(set);
  }
}

/* RTT 2 s, a report every 100 ms, 1 s of work on each. When the RIC aborts, 10 are being worked on, 10 on their way, and the gNB sends 10
 * more before it knows. None of the 30 is answered and all count: 20 more than came in. */
static void what_an_abort_cuts_off_counts_as_missed(void **state) {
  (void)state;
  const char *const pairs[] = {PLAIN, "path.rtt", "2s", "xapp.service", "1s", "xapp.workers", "16", "e2.stall_at", "20s", "e2.watchdog", "5s", "e2.reconnect",
      "1h", "duration", "60s", NULL};
  struct metric_set *set = rig_run(&rig, pairs, NULL, 1);
  int64_t cut_off = rig_summary(set, -1, "deadline_miss").n - rig_summary(set, -1, "indication_latency").n;
  assert_in_range(cut_off, 19, 21);
  metric_set_free(set);
}

/* The answer takes a round trip of 400 ms and is asked for every 100 ms: with one repetition the gNB gives up after 200 ms, with four
 * after 500, when it has the answer to the first request. SCTP takes two round trips before. */
static void setup_is_asked_for_again(void **state) {
  (void)state;
  static const char *const retries[] = {"1", "4"};
  for (int i = 0; i < 2; i++) {
    const char *const pairs[] = {PLAIN, "path.rtt", "400ms", "e2.setup_timeout", "100ms", "e2.setup_retries", retries[i], NULL};
    struct metric_set *set = rig_run(&rig, pairs, NULL, 1);
    struct metric_summary setup = rig_summary(set, -1, "e2_setup");
    assert_int_equal(setup.n, i);
    assert_int_equal(setup.failed, 1 - i);
    if (i == 1) assert_in_range(setup.max, 1200 * MS, 1201 * MS);
    metric_set_free(set);
  }
}

/* The first path is dead from 10 to 70 s. With a second one the association lives on (Open5GS: RTO at most 5 s): a late loop, no
 * outage. Alone it is lost, and set up again when the path is back: 60 s and the time of an INIT. */
static void second_path_takes_over(void **state) {
  (void)state;
  static const char *const paths[] = {"1", "2"};
  for (int i = 0; i < 2; i++) {
    const char *const pairs[] = {
        PLAIN, "sctp.profile", "open5gs", "sctp.paths", paths[i], "path.outage_start", "10s", "path.outage", "60s", "duration", "120s", NULL};
    struct metric_set *set = rig_run(&rig, pairs, NULL, 1);
    struct metric_summary outage = rig_summary(set, -1, "outage");
    double missed = rig_summary(set, -1, "deadline_miss").mean / (double)SHARE_ONE;
    assert_int_equal(outage.n, 1 - i);
    if (i == 0)
      assert_in_range(outage.max, 59 * S, 80 * S);
    else
      assert_true(missed < 0.25);
    metric_set_free(set);
  }
}

/* The path is dead from 60 s on. E2 was up from a few ms to 60 s of 600 s, a tenth; nothing tells how long the outage would have been,
 * and the loops that were under way never end. */
static void node_that_stays_lost_is_counted(void **state) {
  (void)state;
  const char *const pairs[] = {PLAIN, "duration", "600s", "path.outage_start", "60s", "path.outage", "1h", NULL};
  struct metric_set *set = rig_run(&rig, pairs, NULL, 1);
  assert_int_equal(rig_summary(set, -1, "outage").failed, 1);
  assert_int_equal(rig_summary(set, -1, "outage").n, 0);
  assert_true(rig_summary(set, -1, "availability").mean > 0.099e9 && rig_summary(set, -1, "availability").mean < 0.101e9);
  assert_true(rig_summary(set, -1, "control_loop").failed > 0);
  metric_set_free(set);
}

/* srsRAN gives INIT up after 1343 ms. The path is dead for the first 10 s. */
static void first_association_is_tried_as_often_as_told(void **state) {
  (void)state;
  static const char *const tries[] = {"1", "0"};
  for (int i = 0; i < 2; i++) {
    const char *const pairs[] = {PLAIN, "sctp.profile", "srsran", "e2.association_tries", tries[i], "path.outage", "10s", "duration", "20s", NULL};
    struct metric_set *set = rig_run(&rig, pairs, NULL, 1);
    assert_int_equal(rig_summary(set, -1, "success").max, i ? SHARE_ONE : 0);
    assert_int_equal(rig_summary(set, -1, "e2_setup").failed, 1 - i);
    if (i) assert_in_range(rig_summary(set, -1, "e2_setup").max, 10 * S, 13 * S);
    metric_set_free(set);
  }
}

static size_t memory_of(const char *const *pairs) {
  struct rig own;
  rig_open(&own, &net_native);
  metric_set_free(rig_run(&own, pairs, NULL, 1));
  size_t used = sim_memory(own.sim);
  rig_close(&own);
  return used;
}

/* 100 s of 10 ms loops leave no more memory in use than 10 s do: what is done is used again. */
static void long_runs_do_not_grow(void **state) {
  (void)state;
  const char *const brief[] = {PLAIN, "kpm.period", "10ms", "e2.watchdog", "1s", "duration", "10s", NULL};
  const char *const extended[] = {PLAIN, "kpm.period", "10ms", "e2.watchdog", "1s", "duration", "100s", NULL};
  assert_int_equal(memory_of(brief), memory_of(extended));
}

/* No answer comes in time (RTT 400 ms, awaited for 100 ms): each association is given up after 900 ms, and the next begins 1 s later. */
static void associations_follow_in_the_same_memory(void **state) {
  (void)state;
  const char *const few[] = {
      PLAIN, "path.rtt", "400ms", "e2.setup_timeout", "100ms", "e2.setup_retries", "0", "e2.association_tries", "0", "duration", "100s", NULL};
  const char *const many[] = {
      PLAIN, "path.rtt", "400ms", "e2.setup_timeout", "100ms", "e2.setup_retries", "0", "e2.association_tries", "0", "duration", "1000s", NULL};
  assert_int_equal(memory_of(few), memory_of(many));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(loop_takes_its_bytes_its_round_trip_and_the_xapp),
      cmocka_unit_test(steady_metrics_leave_the_warm_up_out),
      cmocka_unit_test(nagle_and_delayed_sack_stall_a_loop),
      cmocka_unit_test(xapp_that_falls_behind_misses_deadlines),
      cmocka_unit_test(subscription_is_retried),
      cmocka_unit_test(peer_that_reads_nothing_is_found_by_a_watchdog_alone),
      cmocka_unit_test(watchdog_goes_by_the_oldest_request),
      cmocka_unit_test(what_an_abort_cuts_off_counts_as_missed),
      cmocka_unit_test(setup_is_asked_for_again),
      cmocka_unit_test(second_path_takes_over),
      cmocka_unit_test(node_that_stays_lost_is_counted),
      cmocka_unit_test(first_association_is_tried_as_often_as_told),
      cmocka_unit_test(long_runs_do_not_grow),
      cmocka_unit_test(associations_follow_in_the_same_memory),
  };
  return cmocka_run_group_tests(tests, rig_group_open, rig_group_close);
}
