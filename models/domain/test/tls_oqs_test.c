/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: models/domain/test/tls_rig.o models/domain/tls.o models/domain/tls_metrics.o models/domain/app.o models/domain/platforms.o models/security/channel.o models/security/dialogue.o models/application/hpack.o models/application/http2.o models/application/http2_config.o models/security/tls13_config.o models/security/tls13_script.o models/security/tls13_size.o models/security/x509.o models/transport/port.o models/transport/stream.o models/transport/stream_net.o models/transport/stream_writes.o models/transport/tcp.o models/transport/tcp_ack.o models/transport/tcp_profile.o models/transport/tcp_receive.o models/transport/tcp_recover.o models/transport/tcp_send.o models/transport/tcp_timer.o models/transport/tcp_window.o models/crypto/alg.o models/crypto/alg_own.o models/crypto/cost.o models/crypto/cost_share.o models/crypto/cost_data.o models/crypto/cost_line.o models/crypto/device.o models/crypto/cost_name.o models/crypto/csv.o sim/net/net_path.o sim/net/net_rules.o sim/net/net_native.o sim/core/param.o sim/core/param_value.o sim/core/units.o sim/core/err.o sim/core/event.o sim/core/random.o sim/core/cpu.o sim/core/metric.o
/* What client and server sent in TLS handshakes of the Open Quantum Safe fork of OpenSSL 1.1.1 (source tum-pqs-tls-2023, sets tls-tum and
 * tls-tum-x of published_network.csv): IP bytes from the ClientHello to the client's Finished. The payload must be right to the byte: what
 * remains must be whole headers of 52 bytes. How many packets carried it is the receiver's offloading, which merges acknowledgements:
 * that is compared by the totals. Falcon's signatures vary in length. */
#include "models/domain/test/tls_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADERS = 52, ROWS = 400, SYN_AND_ACK = 60 + 60 + 52 };

static struct tls_rig rig;

static const char *name_of(const char *text) {
  static const char *const names[][2] = {{"p256", "secp256r1"}, {"p384", "secp384r1"}, {"p521", "secp521r1"}, {"X25519", "x25519"}, {"rsa:1024", "rsa-1024"},
      {"rsa:2048", "rsa-2048"}, {"rsa:3072", "rsa-3072"}, {"rsa:4096", "rsa-4096"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(names[i][0], text) == 0) return names[i][1];
  return text;
}

/* The text behind "key" in a line of JSON within CSV, where quotes are doubled. */
static bool field(const char *line, const char *key, char *out, size_t size) {
  char wanted[32];
  snprintf(wanted, sizeof wanted, "\"\"%s\"\":\"\"", key);
  const char *at = strstr(line, wanted);
  if (!at) return false;
  at += strlen(wanted);
  snprintf(out, size, "%.*s", (int)strcspn(at, "\""), at);
  return true;
}

struct sums {
  double client, server, total;
};

static struct sums simulate(const char *kex, const char *cert) {
  static struct tls_pairs pairs;
  pairs.count = 0;
  tls_pairs_add(&pairs, "tls.stack", "oqs");
  tls_pairs_add(&pairs, "tcp.offload", "20us");
  tls_pairs_add(&pairs, "tls.suites", "3");
  tls_pairs_add(&pairs, "tls.chain", "0");
  tls_pairs_add(&pairs, "tls.kex", "%s", name_of(kex));
  tls_pairs_add(&pairs, "tls.cert", "%s", name_of(cert));
  tls_pairs_add(&pairs, "platform.client", "xeon-d1518");
  tls_pairs_add(&pairs, "platform.server", "xeon-d1518");
  struct metric_set *set = tls_rig_run(&rig, &pairs, 1);
  struct sums sums = {
      (double)tls_rig_median(set, "bytes_c2s"), (double)tls_rig_median(set, "bytes_s2c"), (double)tls_rig_median(set, "bytes_total") - SYN_AND_ACK};
  metric_set_free(set);
  return sums;
}

static int ascending(const void *a, const void *b) { return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b); }

static bool is_whole(double bytes, bool varies) {
  double packets = bytes / HEADERS;
  return packets > 0 && (varies || fabs(packets - round(packets)) < 0.5 / HEADERS);
}

static void test_published_bytes(void **state) {
  (void)state;
  static double errors[ROWS];
  static char line[4096];
  FILE *file = fopen("calib/data/published/network/published_network.csv", "r");
  int rows = 0, totals = 0, odd = 0;
  assert_non_null(file);
  while (fgets(line, sizeof line, file)) {
    char kex[32], cert[32];
    bool client = strstr(line, "bytes sent by client"), server = strstr(line, "bytes sent by server"), both = strstr(line, "bytes both directions");
    if (strncmp(line, "tls-tum", 7) != 0 || !(client || server || both)) continue;
    assert_true(field(line, "ka", kex, sizeof kex) && field(line, "sa", cert, sizeof cert));
    const char *unit = strstr(line, ",B,");
    assert_non_null(unit);
    const char *value = unit;
    while (value[-1] != ',') value--;
    const double published = atof(value);
    const struct sums sums = simulate(kex, cert);
    const bool varies = strstr(cert, "falcon") != NULL || strstr(cert, "p256_") == cert || strstr(cert, "p384_") == cert || strstr(cert, "p521_") == cert;
    rows++;
    const double left = published - (client ? sums.client : server ? sums.server : sums.client + sums.server);
    if (!is_whole(left, varies && !client)) {
      odd++;
      print_message("  %s, %s: %g B, of which %g are no payload of the model's\n", kex, cert, published, left);
    }
    if (both) errors[totals++] = fabs(sums.total / published - 1);
  }
  fclose(file);
  qsort(errors, (size_t)totals, sizeof *errors, ascending);
  print_message("  %d rows; totals of %d: median error %.1f %%, largest %.1f %%\n", rows, totals, 100 * errors[totals / 2], 100 * errors[totals - 1]);
  assert_in_range(rows, 170, ROWS);
  assert_int_equal(odd, 0);
  assert_true(errors[totals / 2] < 0.02);
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
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_published_bytes)};
  return cmocka_run_group_tests(tests, open_rig, close_rig);
}
