/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: models/transport/test/sctp_rig.o models/transport/test/sctp_rows.o models/transport/sctp.o models/transport/sctp_ack.o models/transport/sctp_path.o models/transport/sctp_profile.o models/transport/sctp_receive.o models/transport/sctp_send.o models/transport/sctp_setup.o sim/net/net_path.o sim/net/net_rules.o sim/net/net_native.o sim/core/param.o sim/core/param_value.o sim/core/units.o sim/core/err.o sim/core/event.o sim/core/random.o sim/core/metric.o
#include "models/transport/test/sctp_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

static struct rig rig, other;

/* ---- shutdown, abort ---- */

static bool lose_shutdown_packet(struct rig *r, const struct sctp_packet *packet) {
  const unsigned kinds[] = {1u << SCTP_SHUTDOWN, 1u << SCTP_SHUTDOWN_ACK, 1u << SCTP_SHUTDOWN_COMPLETE};
  return packet->chunks == kinds[r->drop_numbers[0]] && r->drop_seen++ < r->drop_count;
}

/* RTT 10, 4 messages from 990 to 1020 ms, shut down at 1021: SHUTDOWN goes when all is acked. The SACK of the 4th, the odd one of
 * its pair, waits 200 ms: SHUTDOWN at 1020 + 5 + 200 + 5 = 1230 ms, SHUTDOWN-ACK in at 1240, SHUTDOWN-COMPLETE at 1245. One of
 * them lost: 1 s (RTO) more for whoever waits for the answer. The client is gone when SHUTDOWN-COMPLETE is lost, and answers the
 * repeated SHUTDOWN-ACK out of the blue (section 8.4). */
static void shutdown_waits_and_repeats(void **state) {
  (void)state;
  static const struct {
    int lost;
    simtime client, server;
  } cases[] = {{-1, 1240 * MS, 1245 * MS}, {0, 2240 * MS, 2245 * MS}, {1, 2240 * MS, 2245 * MS}, {2, 1240 * MS, 2245 * MS}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    rig_open(&rig, 10 * MS);
    if (cases[i].lost >= 0) {
      rig.drops = lose_shutdown_packet;
      rig.drop_numbers[0] = cases[i].lost;
      rig.drop_count = 1;
    }
    rig_start(&rig);
    rig_stream(&rig, &(struct rig_traffic){.bytes = 600, .count = 4, .interval = 10 * MS, .ordered = true}, 990 * MS);
    rig_run(&rig, 1021 * MS);
    sctp_shutdown(rig.sctp, SCTP_CLIENT);
    struct trail trail;
    trail_begin(&trail, 1021 * MS);
    assert_false(sctp_send(rig.sctp, SCTP_CLIENT, 0, 1, true, NULL, &trail));
    rig_run(&rig, 20 * S);
    for (int side = 0; side < 2; side++) assert_int_equal(rig.why[side], SCTP_END_SHUTDOWN);
    assert_in_range(rig.ended[SCTP_CLIENT], cases[i].client, cases[i].client + 1000);
    assert_in_range(rig.ended[SCTP_SERVER], cases[i].server, cases[i].server + 1000);
    for (int k = 0; k < 4; k++) assert_true(rig.messages[k].delivered != SIMTIME_NEVER);
    rig_close(&rig);
  }
}

static void peer_gone_at_shutdown(void **state) {
  (void)state;
  rig_open(&rig, 10 * MS);
  rig.silent_from[SCTP_SERVER] = 500 * MS;
  rig_start(&rig);
  rig_run(&rig, 500 * MS);
  sctp_shutdown(rig.sctp, SCTP_CLIENT);
  rig_run(&rig, 1000 * S);
  /* RFC 9260 section 9.2: Association.Max.Retrans 10 repetitions: 1 + 2 + 4 + 8 + 16 + 32 + 5 * 60 = 363 s. */
  assert_int_equal(rig.why[SCTP_CLIENT], SCTP_END_UNREACHABLE);
  assert_int_equal(rig.ended[SCTP_CLIENT], 500 * MS + 363 * S);
  rig_close(&rig);
}

static void both_shut_down_at_once(void **state) {
  (void)state;
  rig_open(&rig, 10 * MS);
  rig_start(&rig);
  rig_run(&rig, 1 * S);
  sctp_shutdown(rig.sctp, SCTP_CLIENT);
  sctp_shutdown(rig.sctp, SCTP_SERVER);
  rig_run(&rig, 2 * S);
  for (int side = 0; side < 2; side++) {
    assert_int_equal(rig.why[side], SCTP_END_SHUTDOWN);
    assert_in_range(rig.ended[side], 1 * S + 10 * MS, 1 * S + 15 * MS + 1000);
  }
  rig_close(&rig);
}

/* The server loses the association; the client, who knows nothing of it, is told by the ABORT that its next packet brings. */
static void out_of_the_blue(void **state) {
  (void)state;
  rig_open(&rig, 10 * MS);
  rig_start(&rig);
  rig_run(&rig, 1 * S);
  rig.silent_from[SCTP_SERVER] = 1 * S; /* so that its own ABORT is lost */
  sctp_abort(rig.sctp, SCTP_SERVER);
  rig.silent_from[SCTP_SERVER] = SIMTIME_NEVER;
  rig_send(&rig, SCTP_CLIENT, 0, 100, true);
  rig_run(&rig, 2 * S);
  assert_int_equal(rig.why[SCTP_CLIENT], SCTP_END_ABORTED);
  assert_in_range(rig.ended[SCTP_CLIENT], 1 * S + 10 * MS, 1 * S + 10 * MS + 1000);
  assert_int_equal(rig.messages[0].delivered, SIMTIME_NEVER);
  rig_close(&rig);
}

static void forgotten_is_silent(void **state) {
  (void)state;
  rig_open(&rig, 10 * MS);
  rig_start(&rig);
  rig_run(&rig, 1 * S);
  rig_send(&rig, SCTP_CLIENT, 0, 100, true);
  sctp_forget(rig.sctp);
  int packets = rig.packet_count;
  rig_run(&rig, 1000 * S);
  assert_int_equal(rig.packet_count, packets);
  assert_int_equal(rig.ended[SCTP_CLIENT], SIMTIME_NEVER);
  assert_int_equal(event_pending(rig.sim), 0);
  rig_close(&rig);
}

static simtime renewed_at;

static bool second_to_fifth_are_lost(struct rig *r, const struct sctp_packet *packet) {
  return packet->from == SCTP_CLIENT && packet->chunks == 1u << SCTP_DATA && r->drop_seen++ >= 1 && r->drop_seen <= 5;
}

/* Every other packet with DATA of the first association takes 100 ms, ten times as long as the rest. */
static simtime every_other_is_slow(struct rig *r, const struct sctp_packet *packet) {
  bool slow = sctp_is_established(r->sctp, SCTP_CLIENT) && packet->data_chunks > 0 && sim_now(r->sim) < renewed_at && packet->number % 2 == 0;
  return slow ? 100 * MS : 10 * MS;
}

static void count_messages(int first, int last, int *delivered, int *discarded) {
  *delivered = *discarded = 0;
  for (int i = first; i < last; i++) {
    *delivered += rig.messages[i].delivered != SIMTIME_NEVER;
    *discarded += rig.messages[i].discarded;
  }
}

/* An association is forgotten in the middle of traffic, with messages of three fragments in every state: in, missing, partly in,
 * waiting for their turn, read by nobody, not sent; and packets under way, some of which come in when the next one has been set up. It
 * takes no notice of them, sets up as the first did and delivers all of its own, none of the old; each old message is delivered or discarded, once. */
static void renewed_starts_afresh(void **state) {
  (void)state;
  for (int ordered = 0; ordered < 2; ordered++)
    for (int paused = 0; paused < 2; paused++)
      for (simtime at = 1001 * MS; at < 1100 * MS; at += 7 * MS) {
        rig_open(&rig, 20 * MS);
        rig.drops = second_to_fifth_are_lost;
        rig.carries = every_other_is_slow;
        renewed_at = at;
        rig_start(&rig);
        rig_run(&rig, 500 * MS);
        simtime setup = rig.established[SCTP_CLIENT];
        sctp_pause(rig.sctp, SCTP_SERVER, paused);
        rig_stream(&rig, &(struct rig_traffic){.bytes = 4000, .count = 20, .interval = 1 * MS, .ordered = ordered}, 990 * MS);
        rig_stream(&rig, &(struct rig_traffic){.from = SCTP_SERVER, .bytes = 100, .count = 20, .interval = 1 * MS, .ordered = true}, 990 * MS);
        rig_run(&rig, at);
        sctp_forget(rig.sctp);
        int before = rig.message_count, delivered, discarded, early;
        count_messages(0, before, &early, &discarded);
        assert_int_equal(discarded, 0);
        sctp_renew(rig.sctp, 1);
        struct trail trail;
        trail_begin(&trail, sim_now(rig.sim));
        sctp_connect(rig.sctp, &trail);
        for (int i = 0; i < 10; i++) rig_send(&rig, SCTP_CLIENT, 0, 4000, ordered);
        rig_run(&rig, at + 30 * S);
        assert_int_equal(rig.established[SCTP_CLIENT] - at, setup);
        count_messages(0, before, &delivered, &discarded);
        assert_int_equal(delivered, early);
        assert_int_equal(delivered + discarded, before);
        count_messages(before, rig.message_count, &delivered, &discarded);
        assert_int_equal(delivered, rig.message_count - before);
        assert_int_equal(discarded, 0);
        rig_close(&rig);
      }
}

/* ---- two paths ---- */

static bool first_path_is_down(struct rig *r, const struct sctp_packet *packet) {
  simtime now = sim_now(r->sim);
  return packet->path == 0 && now >= 10 * S && now < 300 * S;
}

static int data_on(int path, simtime from, simtime to) {
  int count = 0;
  for (int i = 0; i < rig.packet_count; i++)
    count += rig.packets[i].at >= from && rig.packets[i].at < to && rig.packets[i].info.path == path && rig.packets[i].info.from == SCTP_CLIENT &&
             rig.packets[i].info.chunks & 1u << SCTP_DATA;
  return count;
}

/* Path 0 fails at 10 s and is back at 300 s; a message each second, RTO 1 s, RTT 10. RFC 9260 section 6.4.1: what times out on
 * path 0 goes again on path 1 at once: the message of 10.5 s is in at 11.5 s + 5 ms. Its RTO doubles, so it has its six errors
 * (Path.Max.Retrans 5) when T3 has run out after 1, 2, 4, 8, 16 and 32 s, each begun with the next new message, at most 1 s
 * later: down 63 to 69 s after the first. From then on nothing is late. Heartbeats find path 0 back, and data return to it. */
static void failover_and_back(void **state) {
  (void)state;
  rig_open(&rig, 10 * MS);
  for (int side = 0; side < 2; side++) rig.config[side].paths = 2;
  rig.drops = first_path_is_down;
  rig_start(&rig);
  rig_stream(&rig, &(struct rig_traffic){.bytes = 84, .count = 600, .interval = 1 * S, .ordered = true}, 1500 * MS);
  rig_run(&rig, 700 * S);
  for (int i = 0; i < 600; i++) assert_true(rig.messages[i].delivered != SIMTIME_NEVER);
  assert_int_equal(data_on(1, 0, 10 * S), 0);
  assert_int_equal(rig.messages[9].sent, 10500 * MS);
  assert_in_range(rig.messages[9].delivered, 11505 * MS, 11505 * MS + 1000);
  simtime down = rig.path_down[SCTP_CLIENT];
  assert_in_range(down, 10500 * MS + 63 * S, 10500 * MS + 63 * S + 6 * S);
  assert_int_equal(data_on(0, down + 1, 300 * S), 0);
  for (int i = 0; i < 600; i++)
    if (rig.messages[i].sent > down) assert_in_range(rig.messages[i].delivered - rig.messages[i].sent, 5 * MS, 5 * MS + 1000);
  /* A heartbeat interval is at most 30 + 1.5 * 60 s. */
  simtime up = rig.path_up[SCTP_CLIENT];
  assert_in_range(up, 300 * S, 420 * S + 10 * MS);
  assert_int_equal(data_on(1, up + 1, 700 * S), 0);
  assert_true(data_on(0, up, 700 * S) > 100);
  assert_int_equal(rig.ended[SCTP_CLIENT], SIMTIME_NEVER);
  rig_close(&rig);
}

/* ---- draws ---- */

static int by_identity(const void *a, const void *b) {
  const struct rig_packet *x = a, *y = b;
  if (x->info.from != y->info.from) return x->info.from < y->info.from ? -1 : 1;
  if (x->info.number != y->info.number) return x->info.number < y->info.number ? -1 : 1;
  return (x->info.attempt > y->info.attempt) - (x->info.attempt < y->info.attempt);
}

static void run_lossy(struct rig *r, bool (*drops)(struct rig *r, const struct sctp_packet *packet)) {
  rig_open(r, 20 * MS);
  rig_rto(r, 200 * MS, 200 * MS, 1 * S);
  r->drops = drops;
  for (int side = 0; side < 2; side++) r->link[0].direction[side].loss.loss_ppb = 50000000;
  rig_start(r);
  rig_stream(r, &(struct rig_traffic){.bytes = 600, .count = 300, .interval = 10 * MS, .ordered = true}, 5 * S);
  rig_stream(r, &(struct rig_traffic){.from = SCTP_SERVER, .bytes = 60, .count = 100, .interval = 30 * MS, .ordered = true}, 5 * S);
  rig_run(r, 60 * S);
}

/* No two packets of a side are keyed alike, whatever they hold. */
static void numbers_are_unique(void **state) {
  (void)state;
  run_lossy(&rig, NULL);
  assert_true(rig.packet_count < RIG_PACKETS);
  qsort(rig.packets, (size_t)rig.packet_count, sizeof *rig.packets, by_identity);
  for (int i = 1; i < rig.packet_count; i++) {
    assert_true(by_identity(&rig.packets[i - 1], &rig.packets[i]) != 0);
    assert_true(rig.packets[i].info.number >= 1u << 28);
  }
  rig_close(&rig);
}

static bool hundredth_is_lost(struct rig *r, const struct sctp_packet *packet) {
  (void)r;
  return packet->from == SCTP_CLIENT && (packet->number & 0xffffff) == 100 && packet->chunks & 1u << SCTP_DATA && packet->attempt == 0;
}

/* Which TSNs of the client went a second time. */
enum { TSNS = 400 };
static bool repeated[2][TSNS];

static void read_repeated(const struct rig *r, bool *tsns) {
  for (int i = 0; i < r->packet_count; i++) {
    const struct sctp_packet *packet = &r->packets[i].info;
    uint32_t tsn = packet->number & 0xffffff;
    if (packet->from == SCTP_CLIENT && packet->chunks & 1u << SCTP_DATA && packet->attempt == 1 && tsn < TSNS) tsns[tsn] = true;
  }
}

/* Common random numbers: one more loss, with all that it sets off, leaves the fate of every other first transmission as it was. */
static void one_loss_moves_no_other(void **state) {
  (void)state;
  run_lossy(&rig, NULL);
  run_lossy(&other, hundredth_is_lost);
  read_repeated(&rig, repeated[0]);
  read_repeated(&other, repeated[1]);
  assert_false(repeated[0][100]);
  assert_true(repeated[1][100]);
  int lost = 0;
  for (int tsn = 1; tsn <= 300; tsn++) {
    lost += repeated[0][tsn];
    if (tsn != 100) assert_int_equal(repeated[0][tsn], repeated[1][tsn]);
  }
  assert_in_range(lost, 5, 30);
  rig_close(&rig);
  rig_close(&other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shutdown_waits_and_repeats),
      cmocka_unit_test(peer_gone_at_shutdown),
      cmocka_unit_test(both_shut_down_at_once),
      cmocka_unit_test(out_of_the_blue),
      cmocka_unit_test(forgotten_is_silent),
      cmocka_unit_test(renewed_starts_afresh),
      cmocka_unit_test(failover_and_back),
      cmocka_unit_test(numbers_are_unique),
      cmocka_unit_test(one_loss_moves_no_other),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
