/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: sim/net/net_rules.o sim/core/random.o
#include "sim/net/net_rules.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>

#include <cmocka.h>

#define MS INT64_C(1000000)

static struct net_message message(uint32_t number, uint16_t part, uint16_t attempt) {
  return (struct net_message){.size_bytes = 100, .number = number, .part = part, .attempt = attempt};
}

static bool lost(struct net_rules *rules, uint32_t number, uint16_t part, uint16_t attempt, int index) {
  struct net_message m = message(number, part, attempt);
  return net_rules_lost(rules, &(struct net_packet){&m, index, index > 0}, 0);
}

static void wire_time_is_rounded(void **state) {
  (void)state;
  assert_int_equal(net_rules_wire_time(1420, 10000000), 1136000);
  /* 125 * 8e9 / 3e6 = 333333.33; 128 * 8e9 / 3e6 = 341333.33; 130 * 8e9 / 3e6 = 346666.67 */
  assert_int_equal(net_rules_wire_time(125, 3000000), 333333);
  assert_int_equal(net_rules_wire_time(130, 3000000), 346667);
  /* 1 byte at 16 Gbit/s is half a nanosecond */
  assert_int_equal(net_rules_wire_time(1, INT64_C(16000000000)), 1);
  assert_int_equal(net_rules_wire_time(65535, 1000), INT64_C(524280000000));
  assert_int_equal(net_rules_wire_time(65535, INT64_C(1000000000000)), 524);
  assert_int_equal(net_rules_wire_time(INT32_MAX, 1000), INT64_C(17179869176000000));
  assert_int_equal(net_rules_wire_time(0, 1000), 0);
}

static void payload_counts_the_udp_header(void **state) {
  struct net_message m = {.size_bytes = 100};
  (void)state;
  assert_int_equal(net_rules_payload(&m), 100);
  m.udp = true;
  assert_int_equal(net_rules_payload(&m), 108);
  /* 1480 = 185 * 8; 1380 = 172.5 * 8; 48 = 6 * 8 */
  assert_int_equal(net_rules_fragment_payload(1500), 1480);
  assert_int_equal(net_rules_fragment_payload(1400), 1376);
  assert_int_equal(net_rules_fragment_payload(68), 48);
}

/* 200,000 draws of 3 %: standard deviation sqrt(.03 * .97 / 2e5) = 0.00038; five of them are allowed. */
static void bernoulli_share(void **state) {
  enum { PACKETS = 200000 };
  struct net_direction direction = {.loss = {.loss_ppb = 30000000}};
  struct net_rules rules;
  int count = 0;
  (void)state;
  net_rules_init(&rules, &direction, 1, 0, 0, NET_A);
  for (uint32_t i = 0; i < PACKETS; i++) count += lost(&rules, i, 0, 0, 0);
  assert_true(fabs((double)count / PACKETS - 0.03) < 5 * 0.00038);
  direction.loss.loss_ppb = SHARE_ONE;
  net_rules_init(&rules, &direction, 1, 0, 0, NET_A);
  for (uint32_t i = 0; i < 100; i++) assert_true(lost(&rules, i, 0, 0, 0));
}

/* What came before changes nothing; number, part, fragment, attempt, link, direction, seed and replication do. */
static void bernoulli_depends_on_the_key_alone(void **state) {
  enum { KEYS = 512 };
  struct net_direction direction = {.loss = {.loss_ppb = SHARE_ONE / 2}};
  struct net_rules rules, again, others[4];
  int differs[8] = {0};
  (void)state;
  net_rules_init(&rules, &direction, 1, 0, 3, NET_A);
  net_rules_init(&again, &direction, 1, 0, 3, NET_A);
  net_rules_init(&others[0], &direction, 2, 0, 3, NET_A);
  net_rules_init(&others[1], &direction, 1, 1, 3, NET_A);
  net_rules_init(&others[2], &direction, 1, 0, 4, NET_A);
  net_rules_init(&others[3], &direction, 1, 0, 3, NET_B);
  bool first[KEYS];
  for (uint32_t i = 0; i < KEYS; i++) first[i] = lost(&rules, i, 1, 1, 1);
  for (uint32_t i = KEYS; i-- > 0;) {
    assert_int_equal(lost(&again, i, 1, 1, 1), first[i]);
    differs[0] += lost(&again, i + KEYS, 1, 1, 1) != first[i];
    differs[1] += lost(&again, i, 2, 1, 1) != first[i];
    differs[2] += lost(&again, i, 1, 2, 1) != first[i];
    differs[3] += lost(&again, i, 1, 1, 2) != first[i];
    for (int other = 0; other < 4; other++) differs[4 + other] += lost(&others[other], i, 1, 1, 1) != first[i];
  }
  /* Fair coins differ in half of 512 cases, give or take 11.3. */
  for (int i = 0; i < 8; i++) assert_in_range(differs[i], 256 - 57, 256 + 57);
}

/* A datagram of more than 64 fragments still draws anew for each. */
static void fragments_of_one_datagram_never_share_a_draw(void **state) {
  struct net_direction direction = {.loss = {.loss_ppb = SHARE_ONE / 2}};
  struct net_rules rules;
  int same = 0;
  (void)state;
  net_rules_init(&rules, &direction, 1, 0, 0, NET_A);
  for (int index = 0; index < 1000; index++) same += lost(&rules, 1, 0, 0, index) == lost(&rules, 1, 0, 0, index + 64);
  assert_in_range(same, 500 - 80, 500 + 80);
}

struct bursts {
  double share, mean;
};

static struct bursts play_gemodel(const struct param_loss *loss, int packets) {
  struct net_direction direction = {.loss = *loss};
  struct net_rules rules;
  int count = 0, bursts = 0;
  bool before = false;
  net_rules_init(&rules, &direction, 1, 0, 0, NET_A);
  for (int i = 0; i < packets; i++) {
    bool now = lost(&rules, 1, 0, 0, 0); /* the same message: only the place counts */
    count += now;
    bursts += now && !before;
    before = now;
  }
  return (struct bursts){(double)count / packets, (double)count / bursts};
}

/* Gilbert: in the bad state everything is lost. Share p / (p + r), mean burst 1 / r. With 1 - p - r = 0.79 the share of
 * 400,000 packets has a standard deviation of sqrt(.0476 * .952 * 1.79 / .21 / 4e5) = 0.00098; some 3,800 bursts of
 * standard deviation sqrt(.8) / .2 = 4.5 have a mean good to 0.072. Four deviations are allowed. */
static void gemodel_closed_forms(void **state) {
  struct param_loss gilbert = {.gemodel = true, .p_ppb = 10000000, .r_ppb = 200000000, .bad_ppb = SHARE_ONE};
  (void)state;
  struct bursts b = play_gemodel(&gilbert, 400000);
  assert_true(fabs(b.share - 0.01 / 0.21) < 4 * 0.00098);
  assert_true(fabs(b.mean - 5) < 4 * 0.072);
  /* Elliott: (r * good + p * bad) / (p + r) = (.2 * .005 + .05 * .6) / .25 = 0.124; deviation below 0.0015 */
  struct param_loss elliott = {.gemodel = true, .p_ppb = 50000000, .r_ppb = 200000000, .bad_ppb = 600000000, .good_ppb = 5000000};
  b = play_gemodel(&elliott, 400000);
  assert_true(fabs(b.share - 0.124) < 4 * 0.0015);
}

/* The first packet of a run meets the path as any other does: 20,000 runs, deviation sqrt(.0476 * .952 / 2e4) = .0015. */
static void gemodel_starts_stationary(void **state) {
  enum { RUNS = 20000 };
  struct net_direction direction = {.loss = {.gemodel = true, .p_ppb = 10000000, .r_ppb = 200000000, .bad_ppb = SHARE_ONE}};
  struct net_rules rules;
  int count = 0;
  (void)state;
  for (uint32_t run = 0; run < RUNS; run++) {
    net_rules_init(&rules, &direction, 1, run, 0, NET_A);
    count += lost(&rules, 1, 0, 0, 0);
  }
  assert_true(fabs((double)count / RUNS - 0.01 / 0.21) < 4 * 0.0015);
  /* p and r of 0: good for ever */
  direction.loss = (struct param_loss){.gemodel = true, .bad_ppb = SHARE_ONE};
  net_rules_init(&rules, &direction, 1, 0, 0, NET_A);
  for (int i = 0; i < 100; i++) assert_false(lost(&rules, 1, 0, 0, 0));
}

static void drop_list_and_middlebox(void **state) {
  struct net_direction direction = {.drop_count = 2, .drop = {1, 4}};
  const bool expected[] = {true, false, false, true, false};
  struct net_rules rules;
  (void)state;
  net_rules_init(&rules, &direction, 1, 0, 0, NET_A);
  for (int i = 0; i < 5; i++) assert_int_equal(lost(&rules, 9, 0, 0, 0), expected[i]);
  direction = (struct net_direction){.drop_fragments = true};
  net_rules_init(&rules, &direction, 1, 0, 0, NET_A);
  struct net_message m = message(1, 0, 0);
  assert_true(net_rules_lost(&rules, &(struct net_packet){&m, 0, true}, 0));
  assert_true(net_rules_lost(&rules, &(struct net_packet){&m, 1, true}, 0));
  assert_false(net_rules_lost(&rules, &(struct net_packet){&m, 0, false}, 0));
}

/* Uniform on [5 ms - 2 ms, 5 ms + 2 ms]: mean 5 ms, standard deviation 2 / sqrt(3) = 1.1547 ms. Of 100,000 the mean is
 * good to 0.00365 ms and the extremes lie within 0.0004 ms of the bounds (chance of a miss e^-10). */
static void jitter_is_uniform(void **state) {
  enum { PACKETS = 100000 };
  struct net_direction direction = {.delay = 5 * MS, .jitter = 2 * MS};
  struct net_rules rules;
  double sum = 0, squares = 0;
  simtime least = SIMTIME_NEVER, most = 0;
  (void)state;
  net_rules_init(&rules, &direction, 1, 0, 0, NET_A);
  for (uint32_t i = 0; i < PACKETS; i++) {
    struct net_message m = message(i, 0, 0);
    simtime delay = net_rules_delay(&rules, &(struct net_packet){&m, 0, false});
    double ms = (double)delay / 1e6;
    sum += ms, squares += ms * ms;
    least = delay < least ? delay : least;
    most = delay > most ? delay : most;
  }
  double mean = sum / PACKETS;
  assert_true(fabs(mean - 5) < 4 * 0.00365);
  assert_true(fabs(sqrt(squares / PACKETS - mean * mean) - 1.1547) < 0.01);
  assert_in_range(least, 3 * MS, 3 * MS + 400);
  assert_in_range(most, 7 * MS - 400, 7 * MS);
  direction.jitter = 0;
  net_rules_init(&rules, &direction, 1, 0, 0, NET_A);
  struct net_message m = message(1, 0, 0);
  assert_int_equal(net_rules_delay(&rules, &(struct net_packet){&m, 0, false}), 5 * MS);
}

static void outage_loses_what_enters_the_wire_in_it(void **state) {
  (void)state;
  struct net_direction direction = {.outage_from = 2 * MS, .outage_until = 5 * MS};
  struct net_message m = message(1, 0, 0);
  struct net_packet packet = {.message = &m};
  struct net_rules rules;
  net_rules_init(&rules, &direction, 1, 0, 0, NET_A);
  assert_false(net_rules_lost(&rules, &packet, 2 * MS - 1));
  assert_true(net_rules_lost(&rules, &packet, 2 * MS));
  assert_true(net_rules_lost(&rules, &packet, 5 * MS - 1));
  assert_false(net_rules_lost(&rules, &packet, 5 * MS));
}

/* What is lost after an outage is what would have been lost without it: chance and drop list go on counting in it. */
static void an_outage_shifts_nothing(void **state) {
  (void)state;
  static const struct param_loss losses[] = {
      {.loss_ppb = SHARE_ONE / 4}, {.gemodel = true, .p_ppb = SHARE_ONE / 10, .r_ppb = SHARE_ONE / 5, .bad_ppb = SHARE_ONE}};
  for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
    struct net_direction without = {.loss = losses[i], .drop_count = 1, .drop = {700}}, with = without;
    struct net_rules plain, cut;
    int differences = 0;
    with.outage_from = 100 * MS;
    with.outage_until = 500 * MS;
    net_rules_init(&plain, &without, 1, 0, 0, NET_A);
    net_rules_init(&cut, &with, 1, 0, 0, NET_A);
    for (uint32_t n = 0; n < 2000; n++) {
      struct net_message m = message(n, 0, 0);
      bool expected = net_rules_lost(&plain, &(struct net_packet){&m, 0, false}, n * MS);
      bool found = net_rules_lost(&cut, &(struct net_packet){&m, 0, false}, n * MS);
      if (n >= 100 && n < 500)
        assert_true(found);
      else
        assert_int_equal(found, expected);
      differences += found != expected;
    }
    assert_true(differences > 200); /* three quarters, or two thirds, of 400 */
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wire_time_is_rounded),
      cmocka_unit_test(payload_counts_the_udp_header),
      cmocka_unit_test(bernoulli_share),
      cmocka_unit_test(bernoulli_depends_on_the_key_alone),
      cmocka_unit_test(fragments_of_one_datagram_never_share_a_draw),
      cmocka_unit_test(gemodel_closed_forms),
      cmocka_unit_test(gemodel_starts_stationary),
      cmocka_unit_test(drop_list_and_middlebox),
      cmocka_unit_test(jitter_is_uniform),
      cmocka_unit_test(outage_loses_what_enters_the_wire_in_it),
      cmocka_unit_test(an_outage_shifts_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
