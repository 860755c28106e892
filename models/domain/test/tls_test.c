/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: models/domain/test/tls_rig.o models/domain/tls.o models/domain/tls_metrics.o models/domain/app.o models/domain/platforms.o models/security/channel.o models/security/dialogue.o models/application/hpack.o models/application/http2.o models/application/http2_config.o models/security/tls13_config.o models/security/tls13_script.o models/security/tls13_size.o models/security/x509.o models/transport/port.o models/transport/stream.o models/transport/stream_net.o models/transport/stream_writes.o models/transport/tcp.o models/transport/tcp_ack.o models/transport/tcp_profile.o models/transport/tcp_receive.o models/transport/tcp_recover.o models/transport/tcp_send.o models/transport/tcp_timer.o models/transport/tcp_window.o models/crypto/alg.o models/crypto/alg_own.o models/crypto/cost.o models/crypto/cost_share.o models/crypto/cost_data.o models/crypto/cost_line.o models/crypto/device.o models/crypto/cost_name.o models/crypto/csv.o sim/net/net_path.o sim/net/net_rules.o sim/net/net_native.o sim/core/param.o sim/core/param_value.o sim/core/units.o sim/core/err.o sim/core/event.o sim/core/random.o sim/core/cpu.o sim/core/metric.o
#include "models/domain/test/tls_rig.h"

#include "models/domain/tls.h"
#include "models/security/tls13.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#define MS INT64_C(1000000)

static struct tls_rig rig;

/* key, value, ..., NULL */
static struct metric_set *run(int replications, ...) {
  static struct tls_pairs pairs;
  va_list list;
  pairs.count = 0;
  va_start(list, replications);
  for (const char *key; (key = va_arg(list, const char *));) tls_pairs_add(&pairs, key, "%s", va_arg(list, const char *));
  va_end(list);
  return tls_rig_run(&rig, &pairs, replications);
}

static int64_t median(const struct metric_set *set, const char *metric) { return tls_rig_median(set, metric); }

/* ---- field cases ----------------------------------------------------------------------------------------------- */

/* FC-03: a firewall resets a connection whose first segment does not hold a whole TLS record. 594 bytes in a record pass; 1720 in one
 * do not; cut into records they do; and a classical first share with HelloRetryRequest to the hybrid passes although its second hello spans
 * segments, for one round trip more. Hellos of those sizes by the length of the host name: 208 + 5 + 9 + 372 = 594. */
static void test_whole_record_in_the_first_segment(void **state) {
  (void)state;
  static const struct {
    const char *kex, *offered, *sni, *record;
    bool passes;
  } cases[] = {
      {"x25519", "[]", "255B", "0B", true},
      {"x25519mlkem768", "[]", "255B", "0B", false},
      {"x25519mlkem768", "[]", "255B", "600B", true},
      {"x25519mlkem768", "[x25519]", "255B", "0B", true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct metric_set *set = run(1, "tls.kex", cases[i].kex, "tls.offered", cases[i].offered, "tls.sni", cases[i].sni, "tls.hello_record", cases[i].record,
        "tls.suites", "8", "path.rtt", "20ms", "path.middlebox", "reset_split_record", NULL);
    assert_int_equal((int64_t)tls_rig_summary(set, "success").mean, cases[i].passes ? SHARE_ONE : 0);
    metric_set_free(set);
  }
  struct metric_set *direct = run(1, "tls.kex", "x25519mlkem768", "tls.sni", "255", "path.rtt", "20ms", NULL);
  struct metric_set *retry = run(1, "tls.kex", "x25519mlkem768", "tls.offered", "[x25519]", "tls.sni", "255", "path.rtt", "20ms", NULL);
  assert_in_range(median(retry, "handshake") - median(direct, "handshake"), 20 * MS * 98 / 100, 20 * MS * 102 / 100);
  metric_set_free(direct);
  metric_set_free(retry);
}

/* The stricter box: a ClientHello of several segments, in however many records. */
static void test_hello_in_one_segment(void **state) {
  (void)state;
  static const struct {
    const char *sni, *rule;
    bool passes;
  } cases[] = {
      {"0", "drop_split_client_hello", true},
      {"80", "drop_split_client_hello", false},
      {"80", "reset_split_client_hello", false},
      {"80", "drop_split_record", true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct metric_set *set = run(1, "tls.kex", "x25519mlkem768", "tls.sni", cases[i].sni, "tls.hello_record", "700", "path.middlebox", cases[i].rule, NULL);
    assert_int_equal((int64_t)tls_rig_summary(set, "success").mean, cases[i].passes ? SHARE_ONE : 0);
    metric_set_free(set);
  }
}

/* FC-04: default ClientHello of a client that would take TLS 1.2 too, OpenSSL 3.0.16: 320 bytes, 3.5.0: 1551, the same host name. */
static void test_default_hellos(void **state) {
  (void)state;
  static const struct {
    const char *stack, *kex, *offered, *groups, *compression;
    int bytes;
  } cases[] = {
      {"openssl30", "x25519", "[]", "[x25519, secp256r1, x448, secp521r1, secp384r1, ffdhe2048, ffdhe3072, ffdhe4096, ffdhe6144, ffdhe8192]", "no", 320},
      {"openssl35", "x25519mlkem768", "[x25519mlkem768, x25519]", "[x25519mlkem768, x25519, secp256r1, x448, secp384r1, secp521r1, ffdhe2048, ffdhe3072]",
          "yes", 1551},
  };
  int bytes[2];
  for (int i = 0; i < 2; i++) {
    static struct tls_pairs pairs;
    struct tls13_config config;
    struct tls13_messages messages;
    pairs.count = 0;
    tls_pairs_add(&pairs, "tls.stack", "%s", cases[i].stack);
    tls_pairs_add(&pairs, "tls.kex", "%s", cases[i].kex);
    tls_pairs_add(&pairs, "tls.offered", "%s", cases[i].offered);
    tls_pairs_add(&pairs, "tls.groups", "%s", cases[i].groups);
    tls_pairs_add(&pairs, "tls.cert_compression", "%s", cases[i].compression);
    tls_pairs_add(&pairs, "tls.tls12", "yes");
    tls_pairs_add(&pairs, "tls.suites", "3");
    tls_pairs_add(&pairs, "tls.sni", "23");
    tls_rig_configure(&pairs, &config);
    tls13_messages(&config, &messages);
    bytes[i] = messages.client_hello;
    assert_in_range(bytes[i], cases[i].bytes * 98 / 100, cases[i].bytes * 102 / 100);
  }
  assert_in_range(bytes[1] - bytes[0], 1231 - 20, 1231 + 20);
}

/* FC-06: a server with Nagle on writes its session tickets, the answer to the first request behind them waits for the client's acknowledgement,
 * which the client delays by 40 ms as it has nothing to send. First answer after 52 to 57 ms, later ones without; gone with TCP_NODELAY. The
 * kernel's tick adds up to 4 ms. */
static void test_tickets_stall_the_first_answer(void **state) {
  (void)state;
  struct metric_set *sets[2];
  for (int nodelay = 0; nodelay < 2; nodelay++)
    sets[nodelay] = run(100, "tls.auth", "mutual", "tls.tickets", "2", "tcp.nodelay", nodelay ? "yes" : "no", "tcp.client_nodelay", "yes", "path.rtt", "2.5ms",
        "app.request", "200B", "app.response", "200B", "app.requests", "6", NULL);
  struct metric_summary first = tls_rig_summary(sets[0], "time_to_first_byte"), all = tls_rig_summary(sets[0], "request");
  assert_in_range(first.p50, 52 * MS, 57 * MS);
  assert_in_range(all.max - all.p50, 40 * MS, 44 * MS + 5 * MS / 2 + 2 * MS);
  /* The stall is the transport's, not cryptography's. */
  assert_in_range((int64_t)first.parts[PART_TRANSPORT_STALL], 40 * MS, 47 * MS);
  all = tls_rig_summary(sets[1], "request");
  assert_in_range(all.max - all.min, 0, 5 * MS / 2);
  metric_set_free(sets[0]);
  metric_set_free(sets[1]);
}

/* ---- requests -------------------------------------------------------------------------------------------------- */

/* 30 KiB in two records are 30764 bytes, 22 segments: 10 in the first round, 20 in the second, so that a request takes two round trips; of a
 * kept connection the next one finds the window grown, and takes one; after a pause of a second the window is back at 10. */
static void test_window_of_kept_connections(void **state) {
  (void)state;
  static const struct {
    const char *every, *connection;
    int least, most; /* round trips */
  } cases[] = {{"0s", "kept", 1, 2}, {"1s", "kept", 2, 2}, {"0s", "new", 2, 2}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct metric_set *set = run(1, "app.request", "1kB", "app.response", "30KiB", "app.requests", "4", "app.every", cases[i].every, "app.connection",
        cases[i].connection, "path.rtt", "100ms", NULL);
    struct metric_summary request = tls_rig_summary(set, "request");
    assert_int_equal(request.n, 4);
    assert_int_equal(request.min / (100 * MS), cases[i].least);
    assert_int_equal(request.max / (100 * MS), cases[i].most);
    assert_int_equal(tls_rig_summary(set, "handshake").n, strcmp(cases[i].connection, "new") == 0 ? 4 : 1);
    metric_set_free(set);
  }
}

/* 1 MB at 10 Mbit/s: 1e6 bytes in 62 records of 22 bytes more, in 692 segments of 52 bytes more, are 829.9 ms on the wire. */
static void test_last_byte_at_a_rate(void **state) {
  (void)state;
  struct metric_set *set = run(1, "app.request", "100B", "app.response", "1MB", "path.rate", "10Mbit/s", "path.rtt", "10ms", NULL);
  assert_in_range(median(set, "request"), 829 * MS + 10 * MS, 829 * MS + 30 * MS);
  assert_in_range(median(set, "time_to_first_byte"), median(set, "handshake") + 10 * MS, median(set, "handshake") + 40 * MS);
  metric_set_free(set);
}

/* A client that asks only when its last flight is acknowledged: one round trip after the handshake for the acknowledgement, one for the answer. */
static void test_waiting_for_the_acknowledgement(void **state) {
  (void)state;
  struct metric_set *set = run(1, "app.request", "100B", "app.response", "100B", "app.waits", "yes", "path.rtt", "40ms", NULL);
  int64_t done = median(set, "handshake");
  assert_in_range(median(set, "handshake_acked") - done, 40 * MS, 41 * MS + 44 * MS);
  assert_in_range(median(set, "time_to_last_byte") - median(set, "handshake_acked"), 40 * MS, 41 * MS);
  metric_set_free(set);
}

/* The server's time counts as the application's. */
static void test_service_time(void **state) {
  (void)state;
  struct metric_set *set = run(1, "app.request", "100B", "app.response", "100B", "app.service", "30ms", "path.rtt", "10ms", NULL);
  struct metric_summary request = tls_rig_summary(set, "request");
  assert_in_range(request.p50, 40 * MS, 41 * MS);
  assert_int_equal((int64_t)request.parts[PART_APPLICATION], 30 * MS);
  metric_set_free(set);
}

/* ---- the handshake's own --------------------------------------------------------------------------------------- */

/* ML-DSA-65: the flight overflows the buffer before the server signs, so the client decapsulates (58 us), verifies two certificates (263 us) and hashes 12 kB meanwhile; a
 * single write lets it begin only afterwards. Nothing of it is in the breakdown, all of it in hidden_crypto. */
static void test_overlap(void **state) {
  (void)state;
  struct metric_set *pieces = run(200, "tls.cert", "mldsa65", "path.rtt", "0ms", NULL);
  struct metric_set *single = run(200, "tls.cert", "mldsa65", "path.rtt", "0ms", "tls.stack", "single_write", NULL);
  struct metric_summary saved = tls_rig_summary(pieces, "hidden_crypto");
  assert_in_range((int64_t)saved.mean, 200000, 400000);
  assert_in_range((int64_t)(tls_rig_summary(single, "handshake").mean - tls_rig_summary(pieces, "handshake").mean), 200000, 400000);
  assert_int_equal(tls_rig_summary(single, "hidden_crypto").max, 0);
  metric_set_free(pieces);
  metric_set_free(single);
}

static void test_parts_sum_up(void **state) {
  (void)state;
  struct metric_set *set = run(50, "tls.cert", "mldsa44", "tls.auth", "mutual", "path.loss", "5%", "app.request", "1kB", "app.response", "50kB", NULL);
  static const char *const names[] = {"tcp_connect", "handshake", "server_handshake", "request", "time_to_last_byte"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    struct metric_summary summary = tls_rig_summary(set, names[i]);
    double sum = 0;
    for (int part = 0; part < PART_COUNT; part++) sum += summary.parts[part];
    assert_float_equal(sum, summary.mean, 1);
  }
  metric_set_free(set);
  /* The server's set-up ends with the acknowledgement that answers its second SYN-ACK: that chain goes on from the first SYN too. */
  set = run(1, "path.up.drop", "[2, 3]", "path.rtt", "20ms", NULL);
  struct metric_summary late = tls_rig_summary(set, "server_handshake");
  double sum = 0;
  for (int part = 0; part < PART_COUNT; part++) sum += late.parts[part];
  assert_float_equal(sum, late.mean, 1);
  metric_set_free(set);
}

static void test_exposure(void **state) {
  (void)state;
  static const struct {
    const char *kex, *chain;
    int64_t hndl, auth;
  } cases[] = {
      {"x25519", "[mldsa44, mldsa65]", SHARE_ONE, 0},
      {"x25519mlkem768", "[mldsa44, ecdsa-p256]", 0, SHARE_ONE},
      {"mlkem768", "[mldsa44, mldsa65, mldsa87]", 0, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct metric_set *set = run(1, "tls.kex", cases[i].kex, "tls.cert_chain", cases[i].chain, NULL);
    assert_int_equal((int64_t)tls_rig_summary(set, "hndl_exposed").mean, cases[i].hndl);
    assert_int_equal((int64_t)tls_rig_summary(set, "auth_exposed").mean, cases[i].auth);
    metric_set_free(set);
  }
}

/* Other certificates do not change which packets of a client are lost. */
static void test_common_random_numbers(void **state) {
  (void)state;
  struct metric_set *a = run(300, "path.up.loss", "20%", "tls.cert", "ecdsa-p256", NULL), *b = run(300, "path.up.loss", "20%", "tls.cert", "rsa-2048", NULL);
  assert_int_equal(tls_rig_summary(a, "tcp_connect").p95, tls_rig_summary(b, "tcp_connect").p95);
  assert_int_equal(tls_rig_summary(a, "tcp_connect").max, tls_rig_summary(b, "tcp_connect").max);
  assert_true(tls_rig_summary(a, "tcp_connect").max > 1000 * MS);
  metric_set_free(a);
  metric_set_free(b);
}

static void test_refusals(void **state) {
  (void)state;
  static const char *const cases[][3] = {
      {"tls.groups", "[x25519]", "tls.groups: found a list without x25519mlkem768"},
      {"tls.hello_record", "20B", "tls.hello_record: found 20B"},
      {"app.requests", "2", "app.requests: found 2, but app.request is 0B"},
      {"path.mtu", "100B", "path.mtu: 100 bytes leave 48"},
      {"platform.client", "sdn-paper", "platform.client: platform sdn-paper states no cost"},
      {"path.down.middlebox", "drop_split_record", "path.down.middlebox: found drop_split_record"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct config *config = config_new(domain_tls.tables, domain_tls.table_count);
    struct err e = {0};
    void *point_state = NULL;
    assert_int_equal(config_set(config, cases[i][0], cases[i][1], &e), 0);
    assert_int_equal(config_set(config, "app.response", "1kB", &e), 0);
    assert_int_equal(domain_tls.prepare(&(struct domain_point){.config = config, .ops = &net_native}, &point_state, &e), ERR_INPUT);
    assert_null(point_state);
    if (strncmp(e.text, cases[i][2], strlen(cases[i][2])) != 0) fail_msg("%s", e.text);
    err_free(&e);
    config_free(config);
  }
}

static int open_rig(void **state) {
  (void)state;
  tls_rig_open(&rig, &net_native);
  return 0;
}

/* Each connection of a run has chances of its own: two a run tell more than the first again. The first is as it is alone. */
static void test_connections_have_losses_of_their_own(void **state) {
  (void)state;
  enum { RUNS = 50 };
  struct metric_set *one = run(RUNS, "app.request", "1kB", "app.requests", "1", "path.rtt", "20ms", "path.loss", "20%", "app.connection", "new", NULL);
  struct metric_set *two = run(RUNS, "app.request", "1kB", "app.requests", "2", "path.rtt", "20ms", "path.loss", "20%", "app.connection", "new", NULL);
  struct metric_summary first = tls_rig_summary(one, "retransmissions"), both = tls_rig_summary(two, "retransmissions");
  assert_int_equal(both.n, 2 * first.n);
  /* With the same losses they would differ by less than a hundredth. */
  assert_true(both.mean < 0.98 * first.mean || both.mean > 1.02 * first.mean);
  metric_set_free(one);
  metric_set_free(two);
}

static int close_rig(void **state) {
  (void)state;
  tls_rig_close(&rig);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_whole_record_in_the_first_segment),
      cmocka_unit_test(test_hello_in_one_segment),
      cmocka_unit_test(test_default_hellos),
      cmocka_unit_test(test_tickets_stall_the_first_answer),
      cmocka_unit_test(test_window_of_kept_connections),
      cmocka_unit_test(test_last_byte_at_a_rate),
      cmocka_unit_test(test_waiting_for_the_acknowledgement),
      cmocka_unit_test(test_service_time),
      cmocka_unit_test(test_overlap),
      cmocka_unit_test(test_parts_sum_up),
      cmocka_unit_test(test_exposure),
      cmocka_unit_test(test_common_random_numbers),
      cmocka_unit_test(test_connections_have_losses_of_their_own),
      cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, open_rig, close_rig);
}
