/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: models/transport/test/tcp_rig.o models/transport/stream.o models/transport/stream_net.o models/transport/stream_writes.o models/transport/tcp.o models/transport/tcp_ack.o models/transport/tcp_profile.o models/transport/tcp_receive.o models/transport/tcp_recover.o models/transport/tcp_send.o models/transport/tcp_timer.o models/transport/tcp_window.o models/transport/port.o sim/net/net_native.o sim/net/net_rules.o sim/net/net_path.o sim/core/event.o sim/core/err.o sim/core/metric.o sim/core/param.o sim/core/param_value.o sim/core/random.o sim/core/units.o
#include "models/transport/test/tcp_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

enum { FULL = 1448 };

static struct tcp_rig rig;

static void set(simtime rtt, int64_t hello, const int64_t writes[RIG_WRITES]) {
  rig = (struct tcp_rig){.profile = "linux", .rtt = rtt, .hello = hello};
  memcpy(rig.writes, writes, sizeof rig.writes);
}

/* How many round trips after the one of connect(), times on the wire left out. */
static int64_t rounds(void) { return (rig.flight_in - rig.connected + MS) / rig.rtt; }

/* ---- segments and rounds --------------------------------------------------------------------------------------- */

/* tls_truth.csv, section icw (OpenSSL 3.5.9, Linux 6.18, RTT 10 ms): round trips of the TLS handshake, from the least of 200 times. The
 * writes are those of OpenSSL 3.5 (strace), their sums those of the rows. */
static void test_initial_windows(void **state) {
  (void)state;
  enum { WINDOWS = 6, FLIGHTS = 5 };
  static const int windows[WINDOWS] = {2, 4, 10, 15, 20, 40};
  static const struct {
    int64_t hello, writes[RIG_WRITES];
    int rounds[WINDOWS];
  } flights[FLIGHTS] = {
      {213, {1408}, {1, 1, 1, 1, 1, 1}},
      {1389, {4096, 5426, 2450, 74}, {3, 2, 1, 1, 1, 1}},
      {1389, {4096, 8484, 3339, 74}, {3, 2, 2, 1, 1, 1}},
      {1741, {4096, 12859, 4657, 74}, {4, 3, 2, 2, 1, 1}},
      {1741, {4096, 20455, 4657, 74}, {4, 3, 2, 2, 2, 1}},
  };
  for (int f = 0; f < FLIGHTS; f++)
    for (int w = 0; w < WINDOWS; w++) {
      set(10 * MS, flights[f].hello, flights[f].writes);
      rig.initial_window = windows[w];
      tcp_rig_run(&rig);
      assert_int_equal(rounds(), flights[f].rounds[w]);
    }
}

/* Each write ends in a short segment while the window is open; what the window holds back is cut anew: 4096 = 1448 + 1448 + 1200,
 * 8484 = 5 * 1448 + 1244, and of 3339 + 74 one segment of 1448 is the tenth; of the 1965 left go 1448 + 517. */
static void test_segments_of_writes(void **state) {
  (void)state;
  static const int bytes[12] = {FULL, FULL, 1200, FULL, FULL, FULL, FULL, FULL, 1244, FULL, FULL, 517};
  set(10 * MS, 1389, (const int64_t[RIG_WRITES]){4096, 8484, 3339, 74});
  tcp_rig_run(&rig);
  int at = 0;
  for (int i = 0; i < rig.logged[NET_B]; i++)
    if (rig.log[NET_B][i].bytes > 0) assert_int_equal(rig.log[NET_B][i].bytes, bytes[at++]);
  assert_int_equal(at, 12);
  assert_int_equal(rig.counters[NET_B].data_segments, 12);
  assert_int_equal(rig.counters[NET_B].payload_bytes, 15993);
}

/* FC-01: hellos of clients as they are on the wire, by what a segment holds (IPv4, IPv4 with timestamps, IPv6, IPv6 with timestamps): one of
 * the pairs fits into a segment, none needs a third; nor does a resumed hello of 1639 bytes. */
static void test_hellos_and_segments(void **state) {
  (void)state;
  static const int hellos[] = {1487, 1497, 1515, 1533, 1480, 1454, 1462, 1639}, segments[] = {1460, 1448, 1440, 1428};
  for (size_t h = 0; h < sizeof hellos / sizeof *hellos; h++)
    for (size_t s = 0; s < sizeof segments / sizeof *segments; s++) {
      set(10 * MS, hellos[h], (const int64_t[RIG_WRITES]){1408});
      rig.segment_bytes = segments[s];
      tcp_rig_run(&rig);
      assert_int_equal(rig.counters[NET_A].data_segments, hellos[h] == 1454 && segments[s] == 1460 ? 1 : 2);
    }
}

/* With Nagle a second short segment waits for the acknowledgement of the first: one round more although the window has room (tls_truth.csv,
 * section nagle: mldsa44 31.2 ms against 21.6 ms). The client's request waits for the acknowledgement of its Finished, which the server
 * delays by 40 ms as it has begun to answer: 10 + 10 + 10 + 10 + 40..44 + 10 ms (measured 91.9 ms, of which 1 ms is cryptography). */
static void test_nagle(void **state) {
  (void)state;
  set(10 * MS, 1389, (const int64_t[RIG_WRITES]){4096, 5426, 2450, 74});
  rig.nagle = true;
  rig.finished = 80;
  rig.request = 23;
  rig.response = 1046;
  tcp_rig_run(&rig);
  assert_int_equal(rounds(), 2);
  assert_in_range(rig.response_in, 90 * MS, 94 * MS + MS);
  rig.nagle = false;
}

/* ---- losses ---------------------------------------------------------------------------------------------------- */

/* RFC 6298 with Linux's floor: RTO = SRTT + 200 ms = 300 ms, 75 ticks of 4 ms, which is more than 63: the wheel may be 8 ticks late. The
 * lone segment's probe would be due after 2 * 100 + 200 ms; the RTO comes first. */
static void test_lone_segment_lost(void **state) {
  (void)state;
  for (uint32_t replication = 0; replication < 8; replication++) {
    set(100 * MS, 213, (const int64_t[RIG_WRITES]){1408});
    rig.replication = replication;
    rig.lost_from = NET_A;
    rig.lost[0] = 3; /* SYN, ACK, hello */
    rig.lost_count = 1;
    tcp_rig_run(&rig);
    assert_in_range(rig.flight_in, 200 * MS + 300 * MS, 200 * MS + 332 * MS + MS);
    assert_int_equal(rig.counters[NET_A].retransmissions, 1);
    assert_int_equal(rig.counters[NET_A].probes, 1);
    assert_int_equal(rig.counters[NET_A].timeouts, 0);
    /* The trail says what the time went to: four ways of 50 ms, and the wait for the timer. */
    const int64_t *parts = rig.flight_trail.parts;
    int64_t sum = 0;
    for (int part = 0; part < PART_COUNT; part++) sum += parts[part];
    assert_int_equal(sum, rig.flight_in);
    assert_int_equal(parts[PART_PROPAGATION], 200 * MS);
    assert_in_range(parts[PART_TRANSPORT_STALL], 300 * MS, 332 * MS);
  }
}

/* SYN at 0, 1, 3, 7, 15, 31 and 63 s, given up at 127 s (tcp_syn_retries 6), wheels of up to 512 ticks (2 s) late each time. */
static void test_nobody_answers(void **state) {
  (void)state;
  set(10 * MS, 213, (const int64_t[RIG_WRITES]){1408});
  rig.lost_from = NET_A;
  for (int i = 0; i < RIG_LOST; i++) rig.lost[i] = i + 1;
  rig.lost_count = RIG_LOST;
  tcp_rig_run(&rig);
  assert_true(rig.failed);
  assert_int_equal(rig.end, STREAM_TIMED_OUT);
  assert_int_equal(rig.counters[NET_A].packets, 7);
  assert_in_range(rig.failed_at, 127000 * MS, 127000 * MS + 7 * 2048 * MS);
}

/* Whatever is lost, all bytes arrive in order, and each is counted once. */
static void test_everything_arrives(void **state) {
  (void)state;
  static const char *const profiles[] = {"linux", "ns3"};
  for (int p = 0; p < 2; p++)
    for (uint32_t replication = 0; replication < 200; replication++) {
      set(20 * MS, 3000, (const int64_t[RIG_WRITES]){4096, 60000, 100000, 74});
      rig.profile = profiles[p];
      rig.replication = replication;
      rig.loss_ppb = 20000000 * (1 + replication % 10);
      rig.jitter = replication % 3 == 0 ? 5 * MS : 0;
      tcp_rig_run(&rig);
      if (rig.failed) continue; /* ns3 gives up after 6 timeouts in a row */
      assert_true(rig.flight_in > 0);
      assert_int_equal(rig.counters[NET_B].payload_bytes, 164170);
      assert_int_equal(rig.counters[NET_A].payload_bytes, 3000);
    }
}

/* ---- windows --------------------------------------------------------------------------------------------------- */

/* A long transfer fills a link of 10 Mbit/s: 4 MB in segments of 1448 of 1500 bytes need 3.31 s on it. */
static void test_fills_a_link(void **state) {
  (void)state;
  set(20 * MS, 213, (const int64_t[RIG_WRITES]){4000000});
  rig.rate_bps = 10000000;
  rig.queue_packets = 100;
  tcp_rig_run(&rig);
  simtime least = (simtime)(4000000.0 / FULL * 1500 * 8 / 10e6 * 1e9);
  assert_in_range(rig.flight_in - rig.connected, least, least + least / 20 + 100 * MS);
}

/* RFC 9438 section 4.2, C = 0.4: after a reduction from 1000 to 700, K = cbrt(300 / 0.4) = 9.086 s and W(t) = 1000 + 0.4 (t - K)^3: 863.6 after
 * 2.1 s, 968.5 after 4.8 s, 1000.3 after 10 s, 1082.8 after 15 s. Reno's 0.53 segments a round are far below. */
static void test_cubic_curve(void **state) {
  (void)state;
  static const struct {
    int64_t tenths;
    double segments;
  } curve[] = {{21, 863.6}, {48, 968.5}, {100, 1000.3}, {150, 1082.8}};
  struct tcp tcp = {.sim = sim_new()};
  struct tcp_end *end = &tcp.ends[0];
  const struct tcp_config config = *tcp_profile("linux");
  end->tcp = &tcp;
  end->config = &config;
  tcp_window_init(end);
  end->window.cwnd = 1000;
  end->window.limited = true;
  tcp_window_begin_reduction(end);
  assert_int_equal(end->window.ssthresh, 700);
  tcp_window_end_reduction(end);
  tcp_window_grow(end, 1);
  size_t next = 0;
  for (int64_t tenth = 1; next < sizeof curve / sizeof *curve; tenth++) { /* a window of acknowledgements each 100 ms */
    sim_advance(tcp.sim, tenth * 100 * MS);
    tcp_window_grow(end, end->window.cwnd);
    if (tenth == curve[next].tenths) assert_float_equal(end->window.cwnd, curve[next++].segments, 5);
  }
  sim_free(tcp.sim);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_initial_windows),
      cmocka_unit_test(test_segments_of_writes),
      cmocka_unit_test(test_hellos_and_segments),
      cmocka_unit_test(test_nagle),
      cmocka_unit_test(test_lone_segment_lost),
      cmocka_unit_test(test_nobody_answers),
      cmocka_unit_test(test_everything_arrives),
      cmocka_unit_test(test_fills_a_link),
      cmocka_unit_test(test_cubic_curve),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
