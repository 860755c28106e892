/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: models/security/handshake.o models/transport/port.o models/crypto/alg.o models/crypto/alg_own.o models/crypto/cost.o models/crypto/cost_data.o models/crypto/cost_line.o models/crypto/device.o models/crypto/cost_name.o models/crypto/csv.o sim/net/net_path.o sim/net/net_rules.o sim/net/net_native.o sim/core/param.o sim/core/param_value.o sim/core/units.o sim/core/err.o sim/core/event.o sim/core/random.o sim/core/cpu.o sim/core/metric.o
#include "models/security/handshake.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define MS INT64_C(1000000)
#define S INT64_C(1000000000)

enum { REQUEST, RESPONSE, MESSAGES };

struct fixture {
  struct sim *sim;
  struct net *net;
  struct net_link_config link;
  struct handshake_message messages[MESSAGES];
  struct handshake_table table;
  struct handshake_ladder ladder;
  struct handshake_server server;
  int admissions; /* asked for */
  bool cookie[8]; /* whether each request for one had a cookie */
  int refusals;   /* requests to turn away first */
  enum handshake_verdict refusal;
  simtime forget_at; /* the responder does then; 0: never */
  struct handshake *handshake;
  bool finished, ok;
  simtime end;
  struct trail begin, last;
  simtime received[MESSAGES];
};

static void received(void *arg, int message, const struct trail *trail) {
  struct fixture *f = arg;
  f->received[message] = trail->at;
}

static void finished(void *arg, bool ok, const struct trail *trail) {
  struct fixture *f = arg;
  f->finished = true;
  f->ok = ok;
  f->end = trail->at;
  f->last = *trail;
}

/* One request and one response of `parts` datagrams of 100 bytes over 5 ms each way at 1 Tbit/s: 128-byte packets last
 * 1.024 ns on the wire, so times are whole milliseconds but for a few nanoseconds. */
static void fixture_open(struct fixture *f, int parts) {
  *f = (struct fixture){.sim = sim_new()};
  f->net = net_native.open(f->sim);
  f->table = (struct handshake_table){.count = MESSAGES, .messages = f->messages};
  for (int m = 0; m < MESSAGES; m++) {
    f->messages[m].name = m == REQUEST ? "request" : "response";
    f->messages[m].number = (uint32_t)m;
    f->messages[m].part_count = parts;
    for (int part = 0; part < parts; part++) f->messages[m].part_bytes[part] = 100;
  }
  f->ladder = (struct handshake_ladder){.timeout = 4 * S, .base_milli = 1800, .tries = 5};
  f->link.mtu_bytes = 1500;
  for (int side = 0; side < 2; side++)
    f->link.direction[side] = (struct net_direction){.rate_bps = INT64_C(1000000000000), .delay = 5 * MS, .queue_limit = 1000};
}

static enum handshake_verdict admit(void *arg, bool opens, bool cookie) {
  struct fixture *f = arg;
  assert_true(opens);
  f->cookie[f->admissions] = cookie;
  return f->admissions++ < f->refusals ? f->refusal : HANDSHAKE_ADMIT;
}

static void forget(struct sim *sim, void *arg) {
  (void)sim;
  handshake_forget(((struct fixture *)arg)->handshake);
}

static void fixture_run(struct fixture *f, uint32_t replication) {
  struct draw_key key = {.seed = 1, .replication = replication, .entity = 1};
  sim_reset(f->sim);
  f->net->ops->reset(f->net, 1, replication);
  f->finished = false;
  int a = f->net->ops->node_add(f->net), b = f->net->ops->node_add(f->net);
  int link = f->net->ops->link_add(f->net, a, b, &f->link, 0);
  struct handshake_peers peers = {.sim = f->sim};
  for (int side = 0; side < 2; side++) {
    peers.ports[side] = port_new(f->sim, f->net, link, (enum net_side)side, (struct port_latency){0}, &key);
    peers.cpus[side] = cpu_new(f->sim, 1);
  }
  struct handshake_observer observer = {.received = received, .finished = finished, .arg = f};
  f->admissions = 0;
  trail_begin(&f->begin, 0);
  f->handshake = handshake_new(&peers, &observer, MESSAGES, &key);
  handshake_start(f->handshake, &f->table, &f->ladder, &f->server, 0, &f->begin);
  if (f->forget_at > 0) event_at(f->sim, f->forget_at, forget, f);
  bool stop = false;
  f->net->ops->run(f->net, SIMTIME_HORIZON, &stop);
  assert_true(f->finished);
}

static void fixture_close(struct fixture *f) {
  f->net->ops->close(f->net);
  sim_free(f->sim);
}

static void drop(struct fixture *f, enum net_side from, int count, const int64_t *numbers) {
  f->link.direction[from].drop_count = count;
  for (int i = 0; i < count; i++) f->link.direction[from].drop[i] = numbers[i];
}

static void lossless_exchange_takes_one_round_trip(void **state) {
  (void)state;
  struct fixture f;
  fixture_open(&f, 1);
  fixture_run(&f, 0);
  assert_true(f.ok);
  assert_in_range(f.end, 10 * MS, 10 * MS + 10);
  assert_int_equal(handshake_retransmissions(f.handshake), 0);
  fixture_close(&f);
}

/* FC-14 and RFC 7296 section 2.1 with timeout 4.0 s, base 1.8, 5 tries: waits 4, 7.2, 12.96, 23.328, 41.9904, 75.58272 s,
 * so the request goes out again at 4, 11.2, 24.16, 47.488, 89.4784 s and the initiator gives up at 165.06112 s. */
static void ladder_of_a_silent_peer(void **state) {
  (void)state;
  static const simtime again[] = {4 * S, 11200 * MS, 24160 * MS, 47488 * MS, INT64_C(89478400000)};
  struct fixture f;
  fixture_open(&f, 1);
  /* Losing exactly the first k requests shows when request k + 1 went out: its response is in one round trip later. */
  for (int k = 1; k <= 5; k++) {
    static const int64_t first[] = {1, 2, 3, 4, 5};
    drop(&f, NET_A, k, first);
    fixture_run(&f, 0);
    assert_true(f.ok);
    assert_in_range(f.end, again[k - 1] + 10 * MS, again[k - 1] + 10 * MS + 10);
    assert_int_equal(handshake_retransmissions(f.handshake), k);
    assert_int_equal(f.last.parts[PART_TRANSPORT_STALL], again[k - 1]);
  }
  static const int64_t all[] = {1, 2, 3, 4, 5, 6};
  drop(&f, NET_A, 6, all);
  fixture_run(&f, 0);
  assert_false(f.ok);
  assert_int_equal(f.end, INT64_C(165061120000));
  assert_int_equal(handshake_retransmissions(f.handshake), 5);
  fixture_close(&f);
}

static void jitter_shortens_and_limit_caps_every_wait(void **state) {
  (void)state;
  struct fixture f;
  fixture_open(&f, 1);
  static const int64_t all[] = {1, 2};
  f.ladder.tries = 1;
  f.ladder.jitter_ppb = 200000000;
  drop(&f, NET_A, 2, all);
  simtime shortest = INT64_MAX, longest = 0;
  for (uint32_t replication = 0; replication < 2000; replication++) {
    fixture_run(&f, replication);
    shortest = f.end < shortest ? f.end : shortest;
    longest = f.end > longest ? f.end : longest;
  }
  /* Two waits, 4 and 7.2 s, each in [0.8 d, d]: 8.96 to 11.2 s, and 2,000 draws come within 5 % of both ends. */
  assert_in_range(shortest, 8960 * MS, 9072 * MS);
  assert_in_range(longest, 11088 * MS, 11200 * MS);
  f.ladder = (struct handshake_ladder){.timeout = 4 * S, .base_milli = 1800, .tries = 5, .limit = 10 * S};
  static const int64_t six[] = {1, 2, 3, 4, 5, 6};
  drop(&f, NET_A, 6, six);
  fixture_run(&f, 0);
  assert_int_equal(f.end, (4 + 4 * 10) * S + 7200 * MS);
  fixture_close(&f);
}

/* As measured: the second fragment of a request is lost; both go out again after 4 s, and the first of them already had
 * come in. With the second one in, the request is complete. */
static void fragments_are_collected_over_retransmissions(void **state) {
  (void)state;
  struct fixture f;
  fixture_open(&f, 2);
  /* Packet 2 is fragment 2 of the first try, packet 3 fragment 1 of the second. */
  static const int64_t both[] = {2, 3};
  drop(&f, NET_A, 2, both);
  fixture_run(&f, 0);
  assert_true(f.ok);
  assert_in_range(f.received[REQUEST], 4 * S + 5 * MS, 4 * S + 5 * MS + 10);
  fixture_close(&f);
}

/* As measured: the first fragment of a response is lost; the responder sends the whole response again when the request
 * comes again, once. */
static void stored_response_is_sent_again(void **state) {
  (void)state;
  struct fixture f;
  fixture_open(&f, 2);
  static const int64_t first[] = {1};
  drop(&f, NET_B, 1, first);
  fixture_run(&f, 0);
  assert_true(f.ok);
  assert_in_range(f.end, 4 * S + 10 * MS, 4 * S + 10 * MS + 10);
  struct net_counters counters;
  f.net->ops->counters(f.net, 0, NET_B, &counters);
  assert_int_equal(counters.sent_packets, 4);
  fixture_close(&f);
}

static void parts_of_a_retried_exchange_sum_to_its_time(void **state) {
  (void)state;
  struct fixture f;
  fixture_open(&f, 3);
  for (int side = 0; side < 2; side++) f.link.direction[side].loss.loss_ppb = 200000000;
  for (uint32_t replication = 0; replication < 500; replication++) {
    fixture_run(&f, replication);
    int64_t sum = 0;
    for (int part = 0; part < PART_COUNT; part++) sum += f.last.parts[part];
    assert_int_equal(sum, f.end);
  }
  fixture_close(&f);
}

static void turn_away(struct fixture *f, int refusals, enum handshake_verdict refusal) {
  f->server = (struct handshake_server){.admit = admit, .arg = f};
  f->refusals = refusals;
  f->refusal = refusal;
}

/* A responder that drops the first two requests gets the third one at 11.2 s. */
static void refused_requests_come_again_on_the_ladder(void **state) {
  (void)state;
  struct fixture f;
  fixture_open(&f, 1);
  turn_away(&f, 2, HANDSHAKE_DROP);
  fixture_run(&f, 0);
  assert_true(f.ok);
  assert_int_equal(f.admissions, 3);
  assert_in_range(f.end, 11200 * MS + 10 * MS, 11200 * MS + 10 * MS + 10);
  fixture_close(&f);
}

/* RFC 7296 section 2.6: one more round trip; the demand has 60 bytes of UDP payload, the repeated request 32 more than the
 * first. IP packets with 28 bytes of headers: 128 + 160 to the responder, 88 + 128 back. */
static void cookie_costs_a_round_trip_and_its_bytes(void **state) {
  (void)state;
  struct fixture f;
  fixture_open(&f, 1);
  f.table.challenge_bytes = 32;
  f.table.challenge_reply_bytes = 60;
  turn_away(&f, 1, HANDSHAKE_CHALLENGE);
  fixture_run(&f, 0);
  assert_true(f.ok);
  assert_in_range(f.end, 20 * MS, 20 * MS + 10);
  assert_int_equal(f.admissions, 2);
  assert_false(f.cookie[0]);
  assert_true(f.cookie[1]);
  assert_int_equal(handshake_retransmissions(f.handshake), 0);
  struct net_counters counters;
  f.net->ops->counters(f.net, 0, NET_A, &counters);
  assert_int_equal(counters.sent_bytes, 128 + 160);
  f.net->ops->counters(f.net, 0, NET_B, &counters);
  assert_int_equal(counters.sent_bytes, 88 + 128);
  fixture_close(&f);
}

/* The demand is lost: the request that comes again has no cookie, and is asked for one again. */
static void lost_demand_for_a_cookie_is_repeated(void **state) {
  (void)state;
  struct fixture f;
  fixture_open(&f, 1);
  static const int64_t first[] = {1};
  drop(&f, NET_B, 1, first);
  turn_away(&f, 2, HANDSHAKE_CHALLENGE);
  fixture_run(&f, 0);
  assert_true(f.ok);
  assert_int_equal(f.admissions, 3);
  assert_false(f.cookie[1]);
  assert_true(f.cookie[2]);
  assert_in_range(f.end, 4 * S + 20 * MS, 4 * S + 20 * MS + 10);
  fixture_close(&f);
}

/* The response is lost, and the responder deletes the session before the request comes again at 4 s: to it the repetition is
 * a new request, which it admits anew. */
static void forgotten_session_is_opened_by_the_repeated_request(void **state) {
  (void)state;
  struct fixture f;
  fixture_open(&f, 1);
  static const int64_t first[] = {1};
  drop(&f, NET_B, 1, first);
  turn_away(&f, 0, HANDSHAKE_DROP);
  f.forget_at = 3 * S;
  fixture_run(&f, 0);
  assert_true(f.ok);
  assert_int_equal(f.admissions, 2);
  assert_in_range(f.end, 4 * S + 10 * MS, 4 * S + 10 * MS + 10);
  fixture_close(&f);
}

/* A request within a session (opens -1) that the responder has deleted stays unanswered: 165.06112 s. */
static void request_of_a_forgotten_session_gets_no_answer(void **state) {
  (void)state;
  struct fixture f;
  fixture_open(&f, 1);
  f.table.opens = -1;
  f.forget_at = MS;
  fixture_run(&f, 0);
  assert_false(f.ok);
  assert_int_equal(f.end, INT64_C(165061120000));
  fixture_close(&f);
}

/* Another epoch is other luck; the same one again is the same. */
static void epochs_have_draws_of_their_own(void **state) {
  (void)state;
  struct fixture f;
  simtime ends[3];
  fixture_open(&f, 1);
  f.ladder.jitter_ppb = 500000000;
  static const int64_t first[] = {1};
  drop(&f, NET_A, 1, first);
  fixture_run(&f, 0);
  static const uint32_t epochs[3] = {0, 7, 0};
  for (int i = 0; i < 3; i++) {
    struct draw_key key = {.seed = 1, .entity = 1};
    sim_reset(f.sim);
    f.net->ops->reset(f.net, 1, 0);
    int a = f.net->ops->node_add(f.net), b = f.net->ops->node_add(f.net), link = f.net->ops->link_add(f.net, a, b, &f.link, 0);
    struct handshake_peers peers = {.sim = f.sim};
    for (int side = 0; side < 2; side++) {
      peers.ports[side] = port_new(f.sim, f.net, link, (enum net_side)side, (struct port_latency){0}, &key);
      peers.cpus[side] = cpu_new(f.sim, 1);
    }
    struct handshake_observer observer = {.finished = finished, .arg = &f};
    struct handshake *handshake = handshake_new(&peers, &observer, MESSAGES, &key);
    handshake_start(handshake, &f.table, &f.ladder, NULL, epochs[i], &f.begin);
    assert_false(handshake_is_idle(handshake));
    bool stop = false;
    f.net->ops->run(f.net, SIMTIME_HORIZON, &stop);
    assert_true(handshake_is_idle(handshake));
    ends[i] = f.end;
  }
  assert_int_not_equal(ends[0], ends[1]);
  assert_int_equal(ends[0], ends[2]);
  fixture_close(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lossless_exchange_takes_one_round_trip),
      cmocka_unit_test(ladder_of_a_silent_peer),
      cmocka_unit_test(jitter_shortens_and_limit_caps_every_wait),
      cmocka_unit_test(fragments_are_collected_over_retransmissions),
      cmocka_unit_test(stored_response_is_sent_again),
      cmocka_unit_test(parts_of_a_retried_exchange_sum_to_its_time),
      cmocka_unit_test(refused_requests_come_again_on_the_ladder),
      cmocka_unit_test(cookie_costs_a_round_trip_and_its_bytes),
      cmocka_unit_test(lost_demand_for_a_cookie_is_repeated),
      cmocka_unit_test(forgotten_session_is_opened_by_the_repeated_request),
      cmocka_unit_test(request_of_a_forgotten_session_gets_no_answer),
      cmocka_unit_test(epochs_have_draws_of_their_own),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
