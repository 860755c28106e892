/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: models/transport/port.o sim/net/net_native.o sim/net/net_rules.o sim/net/net_path.o sim/core/event.o sim/core/metric.o sim/core/random.o sim/core/param.o sim/core/param_value.o sim/core/units.o sim/core/err.o
#include "models/transport/port.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#define US INT64_C(1000)

/* 97 + 8 + 20 = 125 bytes are 1000 bits: 1 us at 1 Gbit/s; as raw IP, without UDP's 8, 117 bytes are 936 ns. */
static const struct net_link_config link_config = {
    .direction = {{.rate_bps = 1000000000, .delay = 10 * US, .queue_limit = 1000}, {.rate_bps = 1000000000, .delay = 10 * US, .queue_limit = 1000}},
    .mtu_bytes = 1500};
enum { BYTES = 97 };

struct inbox {
  const char *expected_tag;
  int count;
  simtime at;
  int64_t software;
  uint32_t last, overtakings;
};

struct world {
  struct sim *sim;
  struct net *net;
  struct port *ports[2];
};

static void keep(void *arg, const struct net_message *message, const struct trail *trail) {
  struct inbox *inbox = arg;
  int64_t sum = 0;
  for (int i = 0; i < PART_COUNT; i++) sum += trail->parts[i];
  assert_int_equal(sum, trail->at - (simtime)message->number * US); /* when every message of this file is sent */
  if (inbox->expected_tag) assert_string_equal(message->tag, inbox->expected_tag);
  inbox->count++;
  inbox->at = trail->at;
  inbox->software = trail->parts[PART_SOFTWARE];
  inbox->overtakings += message->number < inbox->last;
  inbox->last = message->number;
}

static struct world open_world(struct port_latency latency) {
  struct world world = {.sim = sim_new()};
  struct draw_key key = {.seed = 5, .entity = 9};
  world.net = net_native.open(world.sim);
  net_native.reset(world.net, 5, 0);
  int a = net_native.node_add(world.net), b = net_native.node_add(world.net);
  int link = net_native.link_add(world.net, a, b, &link_config, 0);
  world.ports[NET_A] = port_new(world.sim, world.net, link, NET_A, (struct port_latency){0}, &key);
  world.ports[NET_B] = port_new(world.sim, world.net, link, NET_B, latency, &key);
  return world;
}

static void close_world(struct world *world) {
  net_native.close(world->net);
  sim_free(world->sim);
}

static void run(struct world *world) {
  bool stop = false;
  net_native.run(world->net, SIMTIME_HORIZON, &stop);
}

static void send(struct world *world, enum net_side from, struct net_message message) {
  struct trail trail;
  trail_begin(&trail, sim_now(world->sim));
  message.size_bytes = BYTES;
  port_send(world->ports[from], &message, &trail);
}

/* Whose a datagram is says its protocol alone, whether it is UDP or raw IP; from is what port_send makes it. */
static void protocols_have_their_owners(void **state) {
  (void)state;
  struct world world = open_world((struct port_latency){0});
  struct inbox ike = {.expected_tag = "ike"}, data = {.expected_tag = "data"}, back = {.expected_tag = "ike"};
  port_on(world.ports[NET_B], PORT_IKE, keep, &ike);
  port_on(world.ports[NET_B], PORT_DATA, keep, &data);
  port_on(world.ports[NET_A], PORT_IKE, keep, &back);
  send(&world, NET_A, (struct net_message){.udp = true, .protocol = PORT_IKE, .tag = "ike"});
  send(&world, NET_A, (struct net_message){.udp = true, .protocol = PORT_DATA, .tag = "data"});
  send(&world, NET_A, (struct net_message){.protocol = PORT_DATA, .tag = "data"});
  send(&world, NET_B, (struct net_message){.from = NET_A, .udp = true, .protocol = PORT_IKE, .tag = "ike"});
  send(&world, NET_B, (struct net_message){.udp = true, .protocol = PORT_DATA, .tag = "nobody's"});
  run(&world);
  assert_int_equal(ike.count, 1);
  assert_int_equal(ike.at, 11 * US);
  assert_int_equal(data.count, 2);
  assert_int_equal(data.at, 12936);
  assert_int_equal(data.software, 0);
  assert_int_equal(back.count, 1);
  assert_int_equal(back.at, 11 * US);
  close_world(&world);
}

static int64_t per_byte(const void *row, int64_t size_bytes, uint64_t uniform) {
  assert_int_equal(uniform, 0); /* not drawn */
  return *(const int64_t *)row * size_bytes;
}

/* 97 bytes at 20 ns: 1.94 us behind the 11 us of the link. They do not wait for one another: the second is in 1 us later. */
static void latency_counts_as_software(void **state) {
  (void)state;
  static const int64_t each = 20;
  struct world world = open_world((struct port_latency){per_byte, &each, false});
  struct inbox inbox = {.expected_tag = "ike"};
  port_on(world.ports[NET_B], PORT_IKE, keep, &inbox);
  send(&world, NET_A, (struct net_message){.udp = true, .tag = "ike"});
  send(&world, NET_A, (struct net_message){.udp = true, .tag = "ike"});
  run(&world);
  assert_int_equal(inbox.count, 2);
  assert_int_equal(inbox.at, 13940);
  assert_int_equal(inbox.software, 1940);
  close_world(&world);
}

static int64_t up_to_100_us(const void *row, int64_t size_bytes, uint64_t uniform) {
  (void)row, (void)size_bytes;
  return (int64_t)(uniform >> 32) * 100 * US >> 32;
}

struct flow {
  struct world *world;
  uint32_t number, count;
};

static void flow_step(struct sim *sim, void *arg) {
  struct flow *flow = arg;
  send(flow->world, NET_A, (struct net_message){.udp = true, .number = flow->number++});
  if (flow->number < flow->count) event_at(sim, (simtime)flow->number * US, flow_step, flow);
}

/* 1 us apart with up to 100 us of latency they overtake one another. Of a million datagrams, which would be more than 170 MB, nothing
 * stays: 4 MB are allowed. */
static void a_long_run_does_not_grow(void **state) {
  (void)state;
  struct world world = open_world((struct port_latency){up_to_100_us, NULL, true});
  struct inbox inbox = {0};
  struct flow flow = {&world, 0, 10000};
  struct rusage before, after;
  port_on(world.ports[NET_B], PORT_IKE, keep, &inbox);
  event_at(world.sim, 0, flow_step, &flow);
  bool stop = false;
  net_native.run(world.net, 9000 * US, &stop);
  assert_true(inbox.overtakings > 1000);
  flow.count = 1000000;
  getrusage(RUSAGE_SELF, &before);
  run(&world);
  getrusage(RUSAGE_SELF, &after);
  assert_int_equal(inbox.count, 1000000);
  assert_true(after.ru_maxrss - before.ru_maxrss < 4096);
  close_world(&world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(protocols_have_their_owners),
      cmocka_unit_test(latency_counts_as_software),
      cmocka_unit_test(a_long_run_does_not_grow),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
