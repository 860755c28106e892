/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: models/domain/test/tls_rig.o models/domain/tls.o models/domain/tls_metrics.o models/domain/app.o models/domain/platforms.o models/security/channel.o models/security/dialogue.o models/application/hpack.o models/application/http2.o models/application/http2_config.o models/security/tls13_config.o models/security/tls13_script.o models/security/tls13_size.o models/security/x509.o models/transport/port.o models/transport/stream.o models/transport/stream_net.o models/transport/stream_writes.o models/transport/tcp.o models/transport/tcp_ack.o models/transport/tcp_profile.o models/transport/tcp_receive.o models/transport/tcp_recover.o models/transport/tcp_send.o models/transport/tcp_timer.o models/transport/tcp_window.o models/crypto/alg.o models/crypto/alg_own.o models/crypto/cost.o models/crypto/cost_share.o models/crypto/cost_data.o models/crypto/cost_line.o models/crypto/device.o models/crypto/cost_name.o models/crypto/csv.o sim/net/net_path.o sim/net/net_rules.o sim/net/net_native.o sim/core/param.o sim/core/param_value.o sim/core/units.o sim/core/err.o sim/core/event.o sim/core/random.o sim/core/cpu.o sim/core/metric.o sim/net/net_ns3.o sim/net/ns3_stream.o
/* The native TCP's profile of the ns-3 at hand against that ns-3's own TCP: each point of scenarios/tls-handshake.yaml within 50 us, each loss of a single packet
 * within 1 ms. */
#include "models/domain/test/tls_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#define US INT64_C(1000)

struct times {
  int64_t client, server, segments;
};

static struct times run_on(const struct net_ops *ops, const struct tls_pairs *pairs) {
  struct tls_rig rig;
  tls_rig_open(&rig, ops);
  struct metric_set *set = tls_rig_run(&rig, pairs, 1);
  struct times times = {tls_rig_median(set, "handshake"), tls_rig_median(set, "server_handshake"), tls_rig_median(set, "segments_s2c")};
  metric_set_free(set);
  tls_rig_close(&rig);
  return times;
}

/* The native profile of the ns-3 that is linked here. */
static const char *native_profile(void) { return strverscmp(NS3_VERSION, "3.43") < 0 ? "ns3" : "ns3-3.43"; }

static void set(struct tls_pairs *pairs, const char *kex, const char *cert, const char *rtt) {
  pairs->count = 0;
  tls_pairs_add(pairs, "tcp.profile", "%s", native_profile());
  tls_pairs_add(pairs, "path.rate", "1Gbit/s");
  tls_pairs_add(pairs, "tls.kex", "%s", kex);
  tls_pairs_add(pairs, "tls.cert", "%s", cert);
  tls_pairs_add(pairs, "path.rtt", "%s", rtt);
}

/* ns-3 sends more again after a loss than was lost. */
static void compare(const struct tls_pairs *pairs, int64_t tolerance, bool lossy) {
  struct times native = run_on(&net_native, pairs), ns3 = run_on(&net_ns3, pairs);
  if (llabs(native.client - ns3.client) <= tolerance && llabs(native.server - ns3.server) <= tolerance && (lossy || native.segments == ns3.segments)) return;
  for (int i = 0; i < pairs->count; i++) print_message("  %s=%s\n", pairs->key[i], pairs->value[i]);
  fail_msg("native %g ms, %g ms, %d segments; ns-3 %g ms, %g ms, %d segments", (double)native.client / 1e6, (double)native.server / 1e6, (int)native.segments,
      (double)ns3.client / 1e6, (double)ns3.server / 1e6, (int)ns3.segments);
}

static void test_points_without_losses(void **state) {
  (void)state;
  static const char *const kexes[] = {"x25519", "mlkem768", "x25519mlkem768", "mlkem1024"};
  static const char *const certs[] = {"rsa-2048", "ecdsa-p256", "mldsa44", "mldsa65", "mldsa87"};
  static const char *const rtts[] = {"1ms", "10ms", "100ms"};
  static struct tls_pairs pairs;
  for (size_t k = 0; k < sizeof kexes / sizeof *kexes; k++)
    for (size_t c = 0; c < sizeof certs / sizeof *certs; c++)
      for (size_t r = 0; r < sizeof rtts / sizeof *rtts; r++) {
        set(&pairs, kexes[k], certs[c], rtts[r]);
        compare(&pairs, 50 * US, false);
      }
}

static void test_each_packet_lost(void **state) {
  (void)state;
  enum { PACKETS = 28 };
  static const char *const handshakes[][2] = {{"x25519", "ecdsa-p256"}, {"x25519mlkem768", "mldsa65"}, {"mlkem1024", "mldsa87"}};
  static struct tls_pairs pairs;
  for (size_t h = 0; h < sizeof handshakes / sizeof *handshakes; h++)
    for (int side = 0; side < 2; side++)
      for (int n = 1; n <= PACKETS; n++) {
        set(&pairs, handshakes[h][0], handshakes[h][1], "20ms");
        tls_pairs_add(&pairs, side ? "path.down.drop" : "path.up.drop", "[%d]", n);
        compare(&pairs, 1000 * US, true);
      }
}

static void compare_last_byte(const struct tls_pairs *pairs) {
  int64_t last[2];
  for (int backend = 0; backend < 2; backend++) {
    struct tls_rig rig;
    tls_rig_open(&rig, backend ? &net_ns3 : &net_native);
    struct metric_set *metrics = tls_rig_run(&rig, pairs, 1);
    assert_int_equal((int64_t)tls_rig_summary(metrics, "success").mean, INT64_C(1000000000));
    last[backend] = tls_rig_median(metrics, "time_to_last_byte");
    metric_set_free(metrics);
    tls_rig_close(&rig);
  }
  if (llabs(last[0] - last[1]) > 50 * US) fail_msg("last byte: native %g ms, ns-3 %g ms", (double)last[0] / 1e6, (double)last[1] / 1e6);
}

/* Requests, responses of several windows after handshakes that filled the window or did not, closing windows with the buffers' size, mutual
 * authentication, a slow link with a short queue. */
static void test_data(void **state) {
  (void)state;
  static const char *const cases[][3][2] = {
      {{"app.request", "2KiB"}, {"app.response", "30KiB"}, {"tls.auth", "mutual"}},
      {{"app.request", "100B"}, {"app.response", "400kB"}, {"path.rate", "10Mbit/s"}},
      {{"app.request", "50kB"}, {"app.response", "50kB"}, {"app.requests", "3"}},
  };
  static const char *const certs[] = {"ecdsa-p256", "mldsa65", "mldsa87"};
  static struct tls_pairs pairs;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    set(&pairs, "x25519mlkem768", "mldsa65", "10ms");
    for (int k = 0; k < 3; k++) tls_pairs_add(&pairs, cases[i][k][0], "%s", cases[i][k][1]);
    compare_last_byte(&pairs);
  }
  for (size_t c = 0; c < sizeof certs / sizeof *certs; c++)
    for (int kilobytes = 8; kilobytes <= 140; kilobytes += 4) {
      set(&pairs, "x25519mlkem768", certs[c], "10ms");
      tls_pairs_add(&pairs, "app.request", "1kB");
      tls_pairs_add(&pairs, "app.response", "%dkB", kilobytes);
      compare_last_byte(&pairs);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_points_without_losses),
      cmocka_unit_test(test_each_packet_lost),
      cmocka_unit_test(test_data),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
