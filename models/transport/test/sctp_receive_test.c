/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: models/transport/test/sctp_rig.o models/transport/test/sctp_rows.o models/transport/sctp.o models/transport/sctp_ack.o models/transport/sctp_path.o models/transport/sctp_profile.o models/transport/sctp_receive.o models/transport/sctp_send.o models/transport/sctp_setup.o sim/net/net_path.o sim/net/net_rules.o sim/net/net_native.o sim/core/param.o sim/core/param_value.o sim/core/units.o sim/core/err.o sim/core/event.o sim/core/random.o sim/core/metric.o
#include "models/transport/test/sctp_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static struct rig rig;

/* Packets of the client numbered drop_numbers[] among those that first carry DATA are lost. */
static bool drop_data(struct rig *r, const struct sctp_packet *packet) {
  if (packet->from != SCTP_CLIENT || packet->attempt > 0 || !(packet->chunks & 1u << SCTP_DATA)) return false;
  r->drop_seen++;
  for (int i = 0; i < r->drop_count; i++)
    if (r->drop_numbers[i] == r->drop_seen) return true;
  return false;
}

/* Sizes of SACK packets of the server from `from` on, in order; returns how many. */
static int sack_sizes(simtime from, int64_t *bytes, int max) {
  int count = 0;
  for (int i = 0; i < rig.packet_count && count < max; i++)
    if (rig.packets[i].at >= from && rig.packets[i].info.from == SCTP_SERVER && rig.packets[i].info.chunks & 1u << SCTP_SACK)
      bytes[count++] = rig.packets[i].info.bytes;
  return count;
}

/* 2 ms apart, RTT 20: messages 3 and 5 of 8 are lost. IPv4 20 + common header 12 + SACK 16 = 48, 4 more for a gap block or a
 * duplicate. 1: at once. 2: delayed. 4: gap {4}, 52. 6: {4} {6}, 56. 7, 8: {4} {6-7}, {4} {6-8}, 56. Message 3 is reported
 * missing by the SACKs of 4, 6 and 7, goes again at 12 + 20 ms, fills the first gap: cumulative 4, {6-8}, 52. Message 5 is
 * reported missing by 6, 7 and 8 and goes again 2 ms later: nothing missing, 48. */
static void gap_blocks_have_their_size(void **state) {
  (void)state;
  int64_t bytes[16];
  static const int64_t expected[] = {48, 52, 56, 56, 56, 52, 48};
  rig_open(&rig, 20 * MS);
  rig.drops = drop_data;
  rig.drop_count = 2;
  rig.drop_numbers[0] = 3;
  rig.drop_numbers[1] = 5;
  rig_start(&rig);
  rig_stream(&rig, &(struct rig_traffic){.bytes = 100, .count = 8, .interval = 2 * MS, .ordered = true}, 1 * S);
  rig_run(&rig, 1500 * MS);
  assert_int_equal(sack_sizes(1 * S, bytes, 16), 7);
  for (int i = 0; i < 7; i++) assert_int_equal(bytes[i], expected[i]);
  rig_close(&rig);
}

/* RTO.min 50 ms, RTT 5, SACK delay 200 ms: a lone chunk goes again after 50 ms, is a duplicate, and is answered at once with
 * that duplicate named: 48 + 4. */
static void duplicate_is_named(void **state) {
  (void)state;
  int64_t bytes[4];
  rig_open(&rig, 5 * MS);
  rig_rto(&rig, 50 * MS, 50 * MS, 500 * MS);
  rig_start(&rig);
  rig_stream(&rig, &(struct rig_traffic){.bytes = 100, .count = 2, .interval = 1 * S, .ordered = true}, 1 * S);
  rig_run(&rig, 3 * S);
  assert_int_equal(sack_sizes(1 * S, bytes, 4), 2);
  assert_int_equal(bytes[0], 48);
  assert_int_equal(bytes[1], 52);
  assert_int_equal(rig.messages[1].delivered - rig.messages[1].sent, rig.messages[0].delivered - rig.messages[0].sent);
  rig_close(&rig);
}

/* Only the stream that has lost a message waits for it; unordered messages never do. RTT 10, 1 ms apart in turn on streams 0, 1
 * and 0 unordered; the first of stream 0 is lost. Reported missing by the next three, it goes again after 3 + 10 ms and is in at
 * 18 ms; so is the next of stream 0, sent at 3 ms. The others take 5 ms. */
static void only_its_stream_waits(void **state) {
  (void)state;
  rig_open(&rig, 10 * MS);
  rig.drops = drop_data;
  rig.drop_count = 1;
  rig.drop_numbers[0] = 1;
  rig_start(&rig);
  for (int kind = 0; kind < 3; kind++)
    rig_stream(&rig, &(struct rig_traffic){.bytes = 100, .stream = kind == 1, .count = 4, .interval = 3 * MS, .ordered = kind < 2}, 1 * S + kind * MS);
  rig_run(&rig, 2 * S);
  assert_int_equal(rig.message_count, 12);
  for (int i = 0; i < 12; i++) {
    const struct rig_message *message = &rig.messages[i];
    simtime expected = i == 0 ? 18 * MS : i == 3 ? 15 * MS : i == 6 ? 12 * MS : i == 9 ? 9 * MS : 5 * MS;
    assert_in_range(message->delivered - message->sent, expected, expected + 1000);
  }
  rig_close(&rig);
}

/* The critical path of a message that waited in its stream is the packet that let it go: the second copy of message 1 takes 9 ms
 * in place of 5, so 9 ms of the others' time are propagation. 2, 3 and 4 report it missing, it goes again at 3 + 10 ms and is in
 * at 22. The fifth, sent at 16 ms, after that copy, came over its own packet and then waited. */
static simtime second_copy_is_slow(struct rig *r, const struct sctp_packet *packet) {
  (void)r;
  return packet->from == SCTP_CLIENT && rig_tsn(packet) == 1 && packet->attempt == 1 ? 9 * MS : 0;
}

static void waiting_ends_with_the_packet_that_unblocks(void **state) {
  (void)state;
  rig_open(&rig, 10 * MS);
  rig.drops = drop_data;
  rig.drop_count = 1;
  rig.drop_numbers[0] = 1;
  rig.carries = second_copy_is_slow;
  rig_start(&rig);
  rig_stream(&rig, &(struct rig_traffic){.bytes = 100, .count = 4, .interval = 1 * MS, .ordered = true}, 1 * S);
  rig_stream(&rig, &(struct rig_traffic){.bytes = 100, .count = 1, .ordered = true}, 1 * S + 16 * MS);
  rig_run(&rig, 3 * S);
  for (int i = 0; i < 5; i++) {
    const struct rig_message *message = &rig.messages[i];
    simtime way = i < 4 ? 9 * MS : 5 * MS;
    assert_in_range(message->delivered, 1 * S + 22 * MS, 1 * S + 22 * MS + 1000);
    assert_int_equal(message->end.parts[PART_PROPAGATION], way);
    assert_in_range(message->end.parts[PART_TRANSPORT_STALL], message->delivered - message->sent - way - 1000, message->delivered - message->sent - way);
  }
  rig_close(&rig);
}

/* The parts of every message's time sum to it, at 10 % loss and 3 ms jitter each way, which reorders; of fragments, of bundles
 * that Nagle made, and over two paths, too. All
 * messages of a stream come in order, each once (the rig asserts that). */
static void parts_sum_and_order_holds(void **state) {
  (void)state;
  static const int64_t sizes[] = {60, 600, 5000};
  for (uint32_t replication = 0; replication < 20; replication++) {
    rig_open(&rig, 20 * MS);
    rig_rto(&rig, 120 * MS, 120 * MS, 500 * MS);
    rig.key.replication = replication;
    for (int side = 0; side < 2; side++) {
      rig.config[side].paths = 1 + replication / 2 % 2;
      rig.config[side].nodelay = replication % 2 == 0;
      rig.config[side].association_max_retrans = rig.config[side].path_max_retrans = rig.config[side].init_max_retrans = 100;
      for (int path = 0; path < SCTP_PATHS; path++) {
        rig.link[path].direction[side].loss.loss_ppb = 100000000;
        rig.link[path].direction[side].jitter = 3 * MS;
      }
    }
    rig_start(&rig);
    for (int i = 0; i < 3; i++)
      rig_stream(&rig, &(struct rig_traffic){.from = i == 1, .bytes = sizes[i], .stream = i, .count = 200, .interval = 7 * MS, .ordered = true}, 10 * S);
    rig_run(&rig, 200 * S);
    simtime last[3] = {0};
    assert_int_equal(rig.message_count, 600);
    for (int i = 0; i < rig.message_count; i++) {
      const struct rig_message *message = &rig.messages[i];
      int kind = message->bytes == 60 ? 0 : message->bytes == 600 ? 1 : 2;
      int64_t sum = 0;
      assert_true(message->delivered != SIMTIME_NEVER && message->delivered >= last[kind]);
      last[kind] = message->delivered;
      for (int part = 0; part < PART_COUNT; part++) {
        assert_true(message->end.parts[part] >= 0);
        sum += message->end.parts[part];
      }
      assert_int_equal(sum, message->delivered - message->sent);
      assert_in_range(message->end.parts[PART_PROPAGATION], 7 * MS, 13 * MS);
    }
    for (int side = 0; side < 2; side++)
      for (int path = 0; path < rig.config[side].paths; path++) {
        struct sctp_path_state path_state;
        sctp_path_state(rig.sctp, (enum sctp_side)side, path, &path_state);
        assert_int_equal(path_state.flight, 0);
      }
    rig_close(&rig);
  }
}

/* FC-23: the peer answers SACKs and heartbeats but reads nothing. The requests go on at the rate the application makes them
 * (0.5/s here), nothing is delivered, the association never fails: an hour is as good as for ever. A watchdog of 15 s on the
 * answer that does not come is what ends it. */
static void peer_that_stopped_reading(void **state) {
  (void)state;
  rig_open(&rig, 10 * MS);
  for (int side = 0; side < 2; side++) rig.config[side].receive_window = 8000;
  rig_start(&rig);
  rig_stream(&rig, &(struct rig_traffic){.bytes = 600, .count = 1800, .interval = 2 * S, .ordered = true}, 1 * S);
  rig_run(&rig, 10 * S + 1 * MS);
  sctp_pause(rig.sctp, SCTP_SERVER, true);
  rig_run(&rig, 3600 * S);
  int delivered = 0;
  for (int i = 0; i < rig.message_count; i++) delivered += rig.messages[i].delivered != SIMTIME_NEVER;
  assert_int_equal(rig.message_count, 1800);
  assert_int_equal(delivered, 5);
  for (int side = 0; side < 2; side++) {
    assert_int_equal(rig.ended[side], SIMTIME_NEVER);
    assert_int_equal(rig.path_down[side], SIMTIME_NEVER);
    assert_true(sctp_is_established(rig.sctp, (enum sctp_side)side));
  }
  struct sctp_counters counters;
  sctp_counters(rig.sctp, SCTP_CLIENT, &counters);
  /* Window probes: at least one per RTO.max, and fewer than one per RTO.min, as RTO doubles until a heartbeat measures it anew. */
  assert_in_range(counters.timeouts, 60, 3600 / 2);

  /* It reads again: all there is comes, in order, and what waited is a stall. */
  sctp_pause(rig.sctp, SCTP_SERVER, false);
  rig_run(&rig, 3700 * S);
  for (int i = 0; i < rig.message_count; i++) {
    const struct rig_message *message = &rig.messages[i];
    assert_true(message->delivered != SIMTIME_NEVER);
    assert_int_equal(message->end.parts[PART_PROPAGATION], 5 * MS);
    if (i >= 5 && i < 1700) assert_true(message->end.parts[PART_TRANSPORT_STALL] > 60 * S);
  }
  rig_close(&rig);

  /* With a watchdog at the application: outage 15 s. */
  rig_open(&rig, 10 * MS);
  rig_start(&rig);
  rig_stream(&rig, &(struct rig_traffic){.bytes = 600, .count = 10, .interval = 2 * S, .ordered = true}, 1 * S);
  rig_run(&rig, 10 * S);
  sctp_pause(rig.sctp, SCTP_SERVER, true);
  rig_run(&rig, 25 * S);
  sctp_abort(rig.sctp, SCTP_CLIENT);
  rig_run(&rig, 30 * S);
  assert_int_equal(rig.why[SCTP_SERVER], SCTP_END_ABORTED);
  assert_in_range(rig.ended[SCTP_SERVER], 25 * S, 25 * S + 6 * MS);
  rig_close(&rig);
}

/* A window of 20,000 bytes for messages of 1,000: while the first of a stream is missing and waits for T3, no more than the
 * window is under way or held, and all of it arrives. */
static void window_limits_what_is_under_way(void **state) {
  (void)state;
  rig_open(&rig, 100 * MS);
  rig_usrsctp(&rig);
  for (int side = 0; side < 2; side++) rig.config[side].receive_window = 20000;
  rig_start(&rig);
  rig_stream(&rig, &(struct rig_traffic){.bytes = 1000, .count = 500, .bunch = 500, .ordered = true}, 1 * S);
  rig_run(&rig, 1 * S);
  for (simtime at = 1 * S; at < 20 * S; at += 10 * MS) {
    struct sctp_path_state path;
    rig_run(&rig, at);
    sctp_path_state(rig.sctp, SCTP_CLIENT, 0, &path);
    assert_true(path.flight <= 20 * (1000 + 16));
  }
  for (int i = 0; i < 500; i++) assert_true(rig.messages[i].delivered != SIMTIME_NEVER);
  /* 20 packets in a round trip: 500 messages take at least 25 of them. */
  assert_true(rig.messages[499].delivered - rig.messages[499].sent >= 24 * 100 * MS);
  rig_close(&rig);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gap_blocks_have_their_size),
      cmocka_unit_test(duplicate_is_named),
      cmocka_unit_test(only_its_stream_waits),
      cmocka_unit_test(waiting_ends_with_the_packet_that_unblocks),
      cmocka_unit_test(parts_sum_and_order_holds),
      cmocka_unit_test(peer_that_stopped_reading),
      cmocka_unit_test(window_limits_what_is_under_way),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
