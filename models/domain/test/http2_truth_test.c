/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: models/domain/test/tls_rig.o models/domain/tls.o models/domain/tls_metrics.o models/domain/app.o models/domain/platforms.o models/security/channel.o models/security/dialogue.o models/application/hpack.o models/application/http2.o models/application/http2_config.o models/security/tls13_config.o models/security/tls13_script.o models/security/tls13_size.o models/security/x509.o models/transport/port.o models/transport/stream.o models/transport/stream_net.o models/transport/stream_writes.o models/transport/tcp.o models/transport/tcp_ack.o models/transport/tcp_profile.o models/transport/tcp_receive.o models/transport/tcp_recover.o models/transport/tcp_send.o models/transport/tcp_timer.o models/transport/tcp_window.o models/crypto/alg.o models/crypto/alg_own.o models/crypto/cost.o models/crypto/cost_share.o models/crypto/cost_data.o models/crypto/cost_line.o models/crypto/device.o models/crypto/cost_name.o models/crypto/csv.o sim/net/net_path.o sim/net/net_rules.o sim/net/net_native.o sim/core/param.o sim/core/param_value.o sim/core/units.o sim/core/err.o sim/core/event.o sim/core/random.o sim/core/cpu.o sim/core/metric.o
/* curl against nghttpd over TLS 1.3 (h2_truth.csv, source pqnetsim-h2-2026): payload of whole connections and of a request on an open one within
 * 1 %, times at RTT 10 ms within 3 %. The path's length (78) and what curl does before its ClientHello (2.1 ms: reading authorities) are
 * read off the rows at RTT 0 with X25519 and P-256. The client padded its ClientHello and named its host; the server kept its sessions and
 * named no authorities. */
#include "models/domain/test/tls_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

enum { REPLICATIONS = 40, REQUESTS = 100 };

static struct tls_rig rig;
static int checked, missed;

static void expect(const struct tls_row *row, const char *what, double measured, double model, double share) {
  checked++;
  if (fabs(model - measured) <= share * measured) return;
  missed++;
  print_message("  line %d (%s %s %s, RTT %s): %s: measured %g, model %g\n", row->line, tls_row_text(row, "group"), tls_row_text(row, "cert"),
      tls_row_text(row, "conn"), tls_row_text(row, "rtt_ms"), what, measured, model);
}

static void set(const struct tls_row *row, struct tls_pairs *pairs) {
  static const char *const always[][2] = {{"app.protocol", "http2"}, {"app.request", "1024B"}, {"app.response", "1024B"}, {"http2.path", "78B"},
      {"tls.sni", "18B"}, {"tls.padding", "yes"}, {"tls.suites", "3"}, {"tls.cert_compression", "yes"}, {"tls.tickets", "2"}, {"tls.ticket_kind", "stateful"},
      {"tls.ca_names", "no"}, {"tls.start", "2100us"}, {"path.rate", "10Gbit/s"}};
  const char *group = tls_row_text(row, "group");
  pairs->count = 0;
  for (size_t i = 0; i < sizeof always / sizeof *always; i++) tls_pairs_add(pairs, always[i][0], "%s", always[i][1]);
  tls_pairs_add(pairs, "tls.kex", "%s", strcmp(group, "P-256") == 0 ? "secp256r1" : group);
  tls_pairs_add(pairs, "tls.cert", "%s", tls_row_cert(row));
  tls_pairs_add(pairs, "tls.chain", "%s", tls_row_text(row, "chain_intermediates"));
  tls_pairs_add(pairs, "tls.auth", "%s", tls_row_text(row, "auth"));
  tls_pairs_add(pairs, "path.rtt", "%sms", tls_row_text(row, "rtt_ms"));
}

static double mean(const struct metric_set *metrics, const char *name) { return (double)tls_rig_summary(metrics, name).mean; }

static void check(void *arg, const struct tls_row *row) {
  (void)arg;
  static struct tls_pairs pairs;
  if (strcmp(tls_row_text(row, "tool"), "curl+nghttpd") != 0) return;
  const bool fresh = strcmp(tls_row_text(row, "conn"), "new") == 0, far = tls_row_number(row, "rtt_ms") > 0;
  set(row, &pairs);
  struct metric_set *one = tls_rig_run(&rig, &pairs, fresh ? REPLICATIONS : 1);
  double up = mean(one, "bytes_c2s"), down = mean(one, "bytes_s2c");
  int64_t total = tls_rig_median(one, "time_to_last_byte");
  metric_set_free(one);
  if (!fresh) {
    tls_pairs_add(&pairs, "app.requests", "%d", REQUESTS + 1);
    struct metric_set *many = tls_rig_run(&rig, &pairs, 1);
    up = (mean(many, "bytes_c2s") - up) / REQUESTS;
    down = (mean(many, "bytes_s2c") - down) / REQUESTS;
    total = tls_rig_median(many, "request");
    metric_set_free(many);
  }
  expect(row, "payload of the client", tls_row_number(row, "c2s_payload_B"), up, 0.01);
  expect(row, "payload of the server", tls_row_number(row, "s2c_payload_B"), down, 0.01);
  if (far) expect(row, "microseconds", tls_row_number(row, "total_med_us"), (double)total / 1000, 0.03);
}

static void test_connections_and_requests(void **state) {
  (void)state;
  assert_true(tls_rows_each("http2/h2_truth.csv", check, NULL) > 30);
  assert_int_equal(checked, 34 * 2 + 10);
  assert_int_equal(missed, 0);
}

static int open_rig(void **state) {
  (void)state;
  tls_rig_open(&rig, &net_native);
  return 0;
}

static int close_rig(void **state) {
  (void)state;
  tls_rig_close(&rig);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_connections_and_requests),
  };
  return cmocka_run_group_tests(tests, open_rig, close_rig);
}
