/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: sim/net/net_native.o sim/net/net_rules.o sim/net/net_path.o sim/core/event.o sim/core/metric.o sim/core/random.o sim/core/param.o sim/core/param_value.o sim/core/units.o sim/core/err.o
#include "sim/net/net.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define MS INT64_C(1000000)
#define SEC INT64_C(1000000000)

/* 97 + 8 + 20 = 125 bytes are 1 ms at 1 Mbit/s. */
enum { MILLISECOND_UDP = 97 };

struct world {
  struct sim *sim;
  struct net *net;
  int link, received;
  simtime last_at;
  uint32_t last_number;
  int overtakings;
};

static void receive(void *arg, const struct net_message *message, const struct trail *trail) {
  struct world *world = arg;
  int64_t sum = 0;
  for (int i = 0; i < PART_COUNT; i++) sum += trail->parts[i];
  /* Every message of this file is sent at its number in microseconds with a fresh trail. */
  assert_int_equal(sum, trail->at - (simtime)message->number * 1000);
  assert_int_equal(trail->at, sim_now(world->sim));
  world->overtakings += message->number < world->last_number;
  world->received++;
  world->last_at = trail->at;
  world->last_number = message->number;
}

static struct world open_world(const struct net_direction *up) {
  struct world world = {.sim = sim_new()};
  static struct net_link_config config; /* outlives the world; one is open at a time */
  config = (struct net_link_config){.direction = {*up, *up}, .mtu_bytes = 1500};
  world.net = net_native.open(world.sim);
  net_native.reset(world.net, 1, 0);
  int a = net_native.node_add(world.net), b = net_native.node_add(world.net);
  world.link = net_native.link_add(world.net, a, b, &config, 0);
  return world;
}

static void close_world(struct world *world) {
  net_native.close(world->net);
  sim_free(world->sim);
}

static void send(struct world *world, int64_t size, uint32_t number) {
  struct net_message message = {.udp = true, .size_bytes = size, .number = number};
  struct trail trail;
  trail_begin(&trail, sim_now(world->sim));
  net_native.send(world->net, world->link, &message, &trail);
}

static struct net_counters counters(const struct world *world) {
  struct net_counters out;
  net_native.counters(world->net, world->link, NET_A, &out);
  return out;
}

/* Five at once at 1 ms each: after 2.5 ms the third is on the wire, the others wait and are not counted yet. */
static void counters_count_what_entered_the_wire(void **state) {
  struct world world = open_world(&(struct net_direction){.rate_bps = 1000000, .queue_limit = 10, .drop_count = 1, .drop = {4}});
  bool stop = false;
  (void)state;
  for (uint32_t i = 0; i < 5; i++) send(&world, MILLISECOND_UDP, 0);
  assert_int_equal(counters(&world).sent_packets, 1);
  net_native.run(world.net, 5 * MS / 2, &stop);
  assert_int_equal(sim_now(world.sim), 5 * MS / 2);
  assert_int_equal(counters(&world).sent_packets, 3);
  assert_int_equal(counters(&world).sent_bytes, 375);
  assert_int_equal(counters(&world).lost_packets, 0);
  net_native.run(world.net, SIMTIME_HORIZON, &stop);
  assert_int_equal(counters(&world).sent_packets, 5);
  assert_int_equal(counters(&world).lost_packets, 1);
  assert_int_equal(counters(&world).queue_drops, 0);
  close_world(&world);
}

/* A queue of 1,000 fills as the thousand and first of a burst waits; its ring has grown on the way. */
static void a_long_queue_overflows_exactly(void **state) {
  struct world world = open_world(&(struct net_direction){.rate_bps = 1000000, .queue_limit = 1000});
  bool stop = false;
  (void)state;
  net_native.on_receive(world.net, world.link, NET_B, receive, NULL, &world);
  for (uint32_t i = 0; i < 1234; i++) send(&world, MILLISECOND_UDP, 0);
  assert_int_equal(counters(&world).queue_drops, 233);
  net_native.run(world.net, SIMTIME_HORIZON, &stop);
  assert_int_equal(world.received, 1001);
  assert_int_equal(world.last_at, 1001 * MS);
  close_world(&world);
}

static void nobody_listens(void **state) {
  struct world world = open_world(&(struct net_direction){.rate_bps = 1000000, .queue_limit = 10});
  bool stop = false;
  (void)state;
  send(&world, MILLISECOND_UDP, 0);
  net_native.run(world.net, SIMTIME_HORIZON, &stop);
  assert_int_equal(counters(&world).sent_packets, 1);
  assert_int_equal(event_pending(world.sim), 0);
  close_world(&world);
}

struct flow {
  struct world *world;
  uint32_t number, count;
  int64_t size;
};

static void flow_step(struct sim *sim, void *arg) {
  struct flow *flow = arg;
  send(flow->world, flow->size, flow->number++);
  if (flow->number < flow->count) event_at(sim, (simtime)flow->number * 1000, flow_step, flow);
}

/* Packets 1 us apart with 2 ms of jitter overtake one another; none is lost and the sums hold (receive checks). */
static void jitter_reorders(void **state) {
  struct world world = open_world(&(struct net_direction){.rate_bps = INT64_C(40000000000), .delay = 5 * MS, .jitter = 2 * MS, .queue_limit = 1000});
  struct flow flow = {&world, 0, 1000, 4000};
  bool stop = false;
  (void)state;
  net_native.on_receive(world.net, world.link, NET_B, receive, NULL, &world);
  event_at(world.sim, 0, flow_step, &flow);
  net_native.run(world.net, SIMTIME_HORIZON, &stop);
  assert_int_equal(world.received, 1000);
  assert_true(world.overtakings > 100);
  close_world(&world);
}

/* A million datagrams, a tenth of them incomplete: were one kept, it would be some 170 MB. What is done is used again. */
static void a_long_run_does_not_grow(void **state) {
  struct world world =
      open_world(&(struct net_direction){.rate_bps = INT64_C(40000000000), .delay = 1 * MS, .queue_limit = 1000, .loss = {.loss_ppb = 50000000}});
  struct flow flow = {&world, 0, 10000, 1776};
  bool stop = false;
  (void)state;
  net_native.on_receive(world.net, world.link, NET_B, receive, NULL, &world);
  event_at(world.sim, 0, flow_step, &flow);
  net_native.run(world.net, 9 * MS, &stop);
  size_t memory = sim_memory(world.sim);
  flow.count = 1000000;
  net_native.run(world.net, SIMTIME_HORIZON, &stop);
  assert_int_equal(flow.number, 1000000);
  assert_in_range(world.received, 890000, 915000); /* .95 squared = .9025 of a million */
  assert_true(sim_memory(world.sim) < memory + 65536);
  close_world(&world);
}

/* Reset empties the topology: links are numbered from 0 again, with new keys. */
static void reset_starts_anew(void **state) {
  struct world world = open_world(&(struct net_direction){.rate_bps = 1000000, .queue_limit = 10000, .loss = {.loss_ppb = SHARE_ONE / 2}});
  struct net_link_config config = {
      .direction = {{.rate_bps = 1000000, .queue_limit = 10000, .loss = {.loss_ppb = SHARE_ONE / 2}}, {.rate_bps = 1000, .queue_limit = 1}}, .mtu_bytes = 1500};
  int64_t lost[3];
  bool stop = false;
  (void)state;
  for (uint32_t i = 0; i < 3; i++) {
    sim_reset(world.sim);
    net_native.reset(world.net, 7, i / 2);
    assert_int_equal(net_native.node_add(world.net), 0);
    assert_int_equal(net_native.node_add(world.net), 1);
    assert_int_equal(net_native.link_add(world.net, 0, 1, &config, 0), 0);
    for (uint32_t n = 0; n < 4000; n++) send(&world, MILLISECOND_UDP, n);
    net_native.run(world.net, SIMTIME_HORIZON, &stop);
    assert_int_equal(counters(&world).sent_packets, 4000);
    lost[i] = counters(&world).lost_packets;
  }
  assert_int_equal(lost[0], lost[1]); /* the same replication */
  assert_int_not_equal(lost[0], lost[2]);
  close_world(&world);
}

/* What becomes of a link's packets hangs on its entity, not on how many links were added before it. */
static void draws_follow_the_entity(void **state) {
  struct world world = open_world(&(struct net_direction){.rate_bps = 1000000, .queue_limit = 10000});
  static const struct net_link_config config = {
      .direction = {{.rate_bps = 1000000, .queue_limit = 10000, .loss = {.loss_ppb = SHARE_ONE / 2}}, {.rate_bps = 1000, .queue_limit = 1}}, .mtu_bytes = 1500};
  static const uint32_t entities[] = {3, 7, 3};
  int64_t lost[3];
  bool stop = false;
  (void)state;
  for (int i = 0; i < 3; i++) {
    world.link = net_native.link_add(world.net, 0, 1, &config, entities[i]);
    assert_int_equal(world.link, i + 1);
    for (uint32_t n = 0; n < 4000; n++) send(&world, MILLISECOND_UDP, n);
    net_native.run(world.net, SIMTIME_HORIZON, &stop);
    lost[i] = counters(&world).lost_packets;
  }
  assert_int_equal(lost[0], lost[2]);
  assert_int_not_equal(lost[0], lost[1]);
  close_world(&world);
}

/* 100,000 nodes around one, a link each, over a configuration they share, one datagram each, in two rounds. The links are
 * to take less than 300 bytes each. What has been used is used again. */
static void many_links(void **state) {
  enum { LINKS = 100000 };
  static const struct net_link_config config = {
      .direction = {{.rate_bps = 1000000, .queue_limit = 10}, {.rate_bps = 1000000, .queue_limit = 10}}, .mtu_bytes = 1500};
  struct world world = {.sim = sim_new()};
  bool stop = false;
  (void)state;
  world.net = net_native.open(world.sim);
  for (uint32_t round = 0; round < 2; round++) {
    sim_reset(world.sim);
    net_native.reset(world.net, 1, round);
    world.received = 0;
    int hub = net_native.node_add(world.net);
    for (uint32_t i = 0; i < LINKS; i++) {
      world.link = net_native.link_add(world.net, net_native.node_add(world.net), hub, &config, i);
      net_native.on_receive(world.net, world.link, NET_B, receive, NULL, &world);
    }
    assert_true(sim_memory(world.sim) < 310 * LINKS);
    for (world.link = 0; world.link < LINKS; world.link++) send(&world, MILLISECOND_UDP, 0);
    net_native.run(world.net, SIMTIME_HORIZON, &stop);
    assert_int_equal(world.received, LINKS);
    assert_int_equal(world.last_at, 1 * MS);
  }
  close_world(&world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(many_links), /* first: it looks at the largest size so far */
      cmocka_unit_test(counters_count_what_entered_the_wire),
      cmocka_unit_test(a_long_queue_overflows_exactly),
      cmocka_unit_test(nobody_listens),
      cmocka_unit_test(jitter_reorders),
      cmocka_unit_test(a_long_run_does_not_grow),
      cmocka_unit_test(reset_starts_anew),
      cmocka_unit_test(draws_follow_the_entity),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
