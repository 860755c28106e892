/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: models/application/http2.o models/application/hpack.o models/security/channel.o models/security/dialogue.o models/security/tls13_script.o models/security/tls13_size.o models/security/tls13_config.o models/security/x509.o models/transport/port.o models/transport/stream.o models/transport/stream_net.o models/transport/stream_writes.o models/transport/tcp.o models/transport/tcp_ack.o models/transport/tcp_profile.o models/transport/tcp_receive.o models/transport/tcp_recover.o models/transport/tcp_send.o models/transport/tcp_timer.o models/transport/tcp_window.o models/crypto/alg.o models/crypto/alg_own.o models/crypto/cost.o models/crypto/cost_data.o models/crypto/cost_line.o models/crypto/device.o models/crypto/cost_name.o models/crypto/csv.o sim/net/net_path.o sim/net/net_rules.o sim/net/net_native.o sim/core/param.o sim/core/param_value.o sim/core/units.o sim/core/err.o sim/core/event.o sim/core/random.o sim/core/cpu.o sim/core/metric.o
/* HTTP/2 over TCP without TLS (h2c), by hand: no costs, RTT 10 ms, a link so fast that bits take next to nothing. */
#include "models/application/http2.h"
#include "models/transport/tcp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#define MS INT64_C(1000000)
#define RTT (10 * MS)

enum { REQUESTS = 400 };

static const struct http2_headers request_headers = {.count = 4,
    .fields = {{":method", "GET", HPACK_INDEX}, {":scheme", "http", HPACK_INDEX}, {":path", "/", HPACK_INDEX}, {":authority", "www.example.com", HPACK_INDEX}}};
static const struct http2_headers response_headers = {.count = 1, .fields = {{":status", "200", HPACK_INDEX}}};

struct rig {
  struct http2_config config;
  int64_t loss_ppb, request_bytes, response_bytes;
  simtime service;
  int concurrent, requests;
  /* results */
  struct sim *sim;
  struct http2 *http2;
  int asked, answered, failed, most_active, most_waiting;
  simtime begun[REQUESTS], done[REQUESTS];
  bool down, stop;
  enum stream_end why;
  struct stream_counters counters[2];
};

static void note_load(struct rig *rig) {
  if (http2_active(rig->http2) > rig->most_active) rig->most_active = http2_active(rig->http2);
  if (http2_waiting(rig->http2) > rig->most_waiting) rig->most_waiting = http2_waiting(rig->http2);
}

static void ask(struct rig *rig, const struct trail *trail) {
  rig->begun[rig->asked] = sim_now(rig->sim);
  http2_request(rig->http2, &request_headers, rig->request_bytes, &rig->done[rig->asked++], trail);
  note_load(rig);
}

static void up(void *arg, enum net_side side, const struct trail *trail) {
  struct rig *rig = arg;
  if (side == NET_A)
    while (rig->asked < rig->concurrent) ask(rig, trail);
}

struct answer {
  struct rig *rig;
  struct http2_stream *stream;
  struct trail trail;
};

static void answer(struct sim *sim, void *arg) {
  struct answer *answer = arg;
  trail_advance(&answer->trail, PART_APPLICATION, sim_now(sim));
  http2_respond(answer->stream, &response_headers, answer->rig->response_bytes, &answer->trail);
}

static void requested(void *arg, struct http2_stream *stream, const struct trail *trail) {
  struct rig *rig = arg;
  struct answer *later = sim_alloc(rig->sim, sizeof *later);
  *later = (struct answer){rig, stream, *trail};
  if (rig->service >= 0) event_at(rig->sim, sim_now(rig->sim) + rig->service, answer, later);
}

static void answered(void *arg, struct http2_stream *stream, const struct trail *trail) {
  struct rig *rig = arg;
  simtime *done = http2_content(stream), sum = 0;
  *done = sim_now(rig->sim);
  for (int part = 0; part < PART_COUNT; part++) {
    assert_true(trail->parts[part] >= 0);
    sum += trail->parts[part];
  }
  assert_true(sum == trail->at && trail->at == *done);
  rig->answered++;
  if (rig->asked < rig->requests)
    ask(rig, trail);
  else if (rig->answered == rig->requests)
    http2_close(rig->http2, trail);
}

static void failed(void *arg, struct http2_stream *stream, const struct trail *trail) {
  (void)stream;
  (void)trail;
  ((struct rig *)arg)->failed++;
}

static void down(void *arg, enum stream_end why, const struct trail *trail) {
  struct rig *rig = arg;
  (void)trail;
  rig->down = rig->stop = true;
  rig->why = why;
}

static void run(struct rig *rig, simtime until) {
  rig->sim = sim_new();
  struct net *net = net_native.open(rig->sim);
  net->ops->reset(net, 1, 0);
  struct net_link_config link = {.mtu_bytes = 1500};
  struct tcp_config tcp[2];
  for (int side = 0; side < 2; side++) {
    link.direction[side] = (struct net_direction){
        .rate_bps = INT64_C(1000000000000), .delay = RTT / 2, .loss.loss_ppb = rig->loss_ppb, .queue_unit = NET_QUEUE_PACKETS, .queue_limit = 100000};
    tcp[side] = *tcp_profile("linux");
    tcp[side].segment_bytes = 1448;
  }
  int nodes[2] = {net->ops->node_add(net), net->ops->node_add(net)};
  int number = net->ops->link_add(net, nodes[0], nodes[1], &link, 1);
  const struct draw_key key = {.seed = 1};
  struct port *ports[2];
  struct cpu *cpus[2];
  for (int side = 0; side < 2; side++) {
    ports[side] = port_new(rig->sim, net, number, (enum net_side)side, (struct port_latency){0}, &key);
    cpus[side] = cpu_new(rig->sim, 1);
  }
  const struct channel_kind kind = {.tcp = {&tcp[0], &tcp[1]}};
  const struct http2_observer observer = {requested, NULL, answered, failed, up, down, NULL, NULL, rig};
  struct trail trail;
  trail_begin(&trail, 0);
  if (rig->config.streams_max == 0) rig->config.streams_max = 100;
  for (int side = 0; side < 2; side++) {
    if (rig->config.stream_window[side] == 0) rig->config.stream_window[side] = 65535;
    if (rig->config.connection_window[side] == 0) rig->config.connection_window[side] = 65535;
  }
  if (rig->concurrent == 0) rig->concurrent = 1;
  if (rig->requests == 0) rig->requests = rig->concurrent;
  rig->http2 = http2_connect(rig->sim, ports, cpus, &kind, &rig->config, &observer, &key, &trail);
  net->ops->run(net, until, &rig->stop);
  for (int side = 0; side < 2; side++) stream_counters(http2_transport(rig->http2), (enum net_side)side, &rig->counters[side]);
  if (!rig->down) note_load(rig);
  net->ops->close(net);
  sim_free(rig->sim);
}

static void close_to(simtime found, simtime expected) { assert_in_range(found, expected, expected + MS / 20); }

/* SYN 0, SYN-ACK 10 ms: connect() returns, the request leaves at once, its answer is there at 20 ms. The client sends its preface 24 + 9 + 2 settings
 * of 6 = 45, the request 9 + 17 (RFC 7541 C.4.1), the acknowledgement of SETTINGS 9, GOAWAY 17: 97. The server: SETTINGS 9 + 6, acknowledgement 9,
 * the answer 9 + 1 and 9 + 1000: 1043. A second request is 9 + 4: all of its fields are in the tables. */
static void test_one_request(void **state) {
  (void)state;
  struct rig rig = {.config = {.settings = {2, 1}, .says_goodbye = true}, .response_bytes = 1000};
  run(&rig, 1000 * MS);
  close_to(rig.begun[0], RTT);
  close_to(rig.done[0], 2 * RTT);
  assert_int_equal(rig.counters[NET_A].payload_bytes, 97);
  assert_int_equal(rig.counters[NET_B].payload_bytes, 1043);
  assert_true(rig.down && rig.why == STREAM_FINISHED && rig.failed == 0);
  struct rig two = {.config = {.settings = {2, 1}, .says_goodbye = true}, .response_bytes = 1000, .requests = 2};
  run(&two, 1000 * MS);
  close_to(two.done[1] - two.begun[1], RTT);
  assert_int_equal(two.counters[NET_A].payload_bytes, 97 + 13);
  assert_int_equal(two.counters[NET_B].payload_bytes, 1043 + 1019);
}

/* Header block and body in a write each: one segment more, the bytes the same. */
static void test_two_writes(void **state) {
  (void)state;
  struct rig together = {.request_bytes = 500, .response_bytes = 500}, apart = {.config = {.two_writes = true}, .request_bytes = 500, .response_bytes = 500};
  run(&together, 1000 * MS);
  run(&apart, 1000 * MS);
  for (int side = 0; side < 2; side++) {
    assert_int_equal(apart.counters[side].payload_bytes, together.counters[side].payload_bytes);
    assert_int_equal(apart.counters[side].data_segments, together.counters[side].data_segments + 1);
  }
}

/* RFC 9113 section 5.2: a window of 1000 bytes lets 1000 go a round trip, so 10,000 take ten, whatever TCP would take. Both windows bind: two
 * answers of 40,000 at once need 80,000 of a connection window of 65,535, so one of them a round trip more. */
static void test_windows(void **state) {
  (void)state;
  struct rig narrow = {.config = {.stream_window = {1000, 1000}}, .response_bytes = 10000};
  run(&narrow, 1000 * MS);
  close_to(narrow.done[0] - narrow.begun[0], 10 * RTT);
  struct rig request = {.config = {.stream_window = {1000, 1000}}, .request_bytes = 10000};
  run(&request, 1000 * MS);
  close_to(request.done[0] - request.begun[0], 10 * RTT);
  struct rig shared = {.response_bytes = 40000, .concurrent = 2},
             wide = {.config = {.connection_window = {1 << 20, 1 << 20}}, .response_bytes = 40000, .concurrent = 2};
  run(&shared, 1000 * MS);
  run(&wide, 1000 * MS);
  assert_true(shared.done[1] > wide.done[1]);
  assert_int_equal(shared.answered, 2);
}

/* FC-27: at most so many requests under way as the server takes; the 101st waits, however idle everybody is. */
static void test_limit_of_streams(void **state) {
  (void)state;
  for (int n = 50; n <= 350; n += 50) {
    struct rig rig = {.service = -1, .concurrent = n};
    run(&rig, 1000 * MS);
    assert_int_equal(rig.most_active, n < 100 ? n : 100);
    assert_int_equal(rig.most_waiting, n < 100 ? 0 : n - 100);
    assert_int_equal(rig.answered, 0);
  }
  /* Short calls: of ten, four at a time, the last are in the third turn of a round trip and 50 ms. */
  struct rig rig = {.config = {.streams_max = 4}, .service = 50 * MS, .concurrent = 10};
  run(&rig, 10000 * MS);
  assert_int_equal(rig.answered, 10);
  close_to(rig.done[9] - rig.begun[0], 3 * (RTT + 50 * MS));
}

/* A connection that comes to nothing takes each request with it, once. */
static void test_failure(void **state) {
  (void)state;
  struct rig rig = {.loss_ppb = SHARE_ONE, .concurrent = 3};
  run(&rig, 1000000 * MS);
  assert_true(rig.down && rig.why == STREAM_TIMED_OUT);
  assert_int_equal(rig.asked, 0); /* it never came up */
  struct rig lossy = {.loss_ppb = SHARE_ONE / 5, .concurrent = 20, .requests = 100, .response_bytes = 3000, .request_bytes = 300};
  run(&lossy, INT64_C(1000000000) * MS);
  assert_int_equal(lossy.answered, 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_request),
      cmocka_unit_test(test_two_writes),
      cmocka_unit_test(test_windows),
      cmocka_unit_test(test_limit_of_streams),
      cmocka_unit_test(test_failure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
