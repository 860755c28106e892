/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: models/domain/test/fleet_rig.o models/domain/e2.o models/domain/e2_metrics.o models/domain/e2ap.o models/domain/e2ap_config.o models/domain/fleet.o models/domain/gateway.o models/domain/kpm.o models/domain/node.o models/domain/population.o models/domain/probe.o models/domain/secure_path.o models/domain/tunnel.o models/security/ikev2.o models/security/ikev2_config.o models/security/handshake.o models/security/x509.o models/transport/port.o models/transport/esp.o models/transport/sctp.o models/transport/sctp_ack.o models/transport/sctp_path.o models/transport/sctp_profile.o models/transport/sctp_receive.o models/transport/sctp_send.o models/transport/sctp_setup.o models/crypto/alg.o models/crypto/alg_own.o models/crypto/cost.o models/crypto/cost_share.o models/crypto/cost_data.o models/crypto/cost_line.o models/crypto/device.o models/crypto/cost_name.o models/crypto/csv.o sim/net/net_path.o sim/net/net_rules.o sim/net/net_native.o sim/core/param.o sim/core/param_value.o sim/core/units.o sim/core/err.o sim/core/event.o sim/core/random.o sim/core/cpu.o sim/core/metric.o sim/net/net_ns3.o sim/net/ns3_stream.o models/domain/platforms.o
/* The same fleet on both backends. */
#include "models/domain/test/fleet_rig.h"

#include <stdlib.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { NODES = 50 };
#define TOLERANCE INT64_C(50000) /* ns */

static const char *const metrics[] = {"tunnel_setup", "e2_setup", "xapp_start"};
enum { METRICS = sizeof metrics / sizeof *metrics };

/* Values of each metric in ascending order. */
static void run_on(const struct net_ops *ops, const char *const *pairs, int64_t values[METRICS][NODES], int counts[METRICS]) {
  struct rig own;
  rig_open(&own, ops);
  struct metric_set *set = rig_run(&own, pairs, NULL, 1);
  for (int m = 0; m < METRICS; m++) counts[m] = rig_values(set, metrics[m], values[m], NODES);
  metric_set_free(set);
  rig_close(&own);
}

static void compare(const char *const *pairs) {
  int64_t native[METRICS][NODES], ns3[METRICS][NODES];
  int native_counts[METRICS], ns3_counts[METRICS];
  run_on(&net_native, pairs, native, native_counts);
  run_on(&net_ns3, pairs, ns3, ns3_counts);
  for (int m = 0; m < METRICS; m++) {
    assert_int_equal(native_counts[m], ns3_counts[m]);
    for (int i = 0; i < native_counts[m]; i++)
      if (llabs(native[m][i] - ns3[m][i]) > TOLERANCE)
        fail_msg("%s: node %d: native %lld, ns-3 %lld ns", metrics[m], i, (long long)native[m][i], (long long)ns3[m][i]);
  }
  assert_int_equal(native_counts[0], NODES);
}

static void nodes_of_an_unconstrained_gateway_agree(void **state) {
  (void)state;
  const char *const pairs[] = {"e2.nodes", "50", "e2.start", "poisson", "gateway.cores", "64", "gateway.threads", "1000", "ipsec.half_open_per_address", "0",
      "ipsec.cookie_threshold", "0", "ipsec.kex", "x25519-ke1_mlkem768", "ipsec.auth", "mldsa65", "path.rtt", "10ms", "path.rate", "100Mbit/s",
      "path.l2_overhead", "2B", "kpm.indications", "2", "probe.packets", "2", NULL};
  compare(pairs);
}

static void nodes_of_one_core_with_cookies_and_losses_agree(void **state) {
  (void)state;
  const char *const pairs[] = {"e2.nodes", "50", "ipsec.auth", "rsa-3072", "path.rtt", "10ms", "path.rate", "100Mbit/s", "path.l2_overhead", "2B", "path.loss",
      "2%", "kpm.indications", "2", "probe.packets", "2", NULL};
  compare(pairs);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nodes_of_an_unconstrained_gateway_agree),
      cmocka_unit_test(nodes_of_one_core_with_cookies_and_losses_agree),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
