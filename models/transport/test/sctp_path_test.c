/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: models/transport/test/sctp_rig.o models/transport/test/sctp_rows.o models/transport/sctp.o models/transport/sctp_ack.o models/transport/sctp_path.o models/transport/sctp_profile.o models/transport/sctp_receive.o models/transport/sctp_send.o models/transport/sctp_setup.o sim/net/net_path.o sim/net/net_rules.o sim/net/net_native.o sim/core/param.o sim/core/param_value.o sim/core/units.o sim/core/err.o sim/core/event.o sim/core/random.o sim/core/metric.o
#include "models/transport/test/sctp_rig.h"
#include "models/transport/test/sctp_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct rig rig;

static bool near_ms(double found, double measured) {
  double allowed = 0.03 * measured > 2 ? 0.03 * measured : 2, off = found > measured ? found - measured : measured - found;
  return off <= allowed;
}

static void assert_near(const struct sctp_row *row, const char *what, double found, double measured) {
  if (!near_ms(found, measured)) fail_msg("row %d: %s %g, measured %g", row->row, what, found, measured);
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values, int count) {
  qsort(values, (size_t)count, sizeof *values, by_value);
  return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static struct sctp_path_state client_path(void) {
  struct sctp_path_state state;
  sctp_path_state(rig.sctp, SCTP_CLIENT, 0, &state);
  return state;
}

static struct sctp_counters client_counters(void) {
  struct sctp_counters counters;
  sctp_counters(rig.sctp, SCTP_CLIENT, &counters);
  return counters;
}

/* ---- RTO ---- */

/* RFC 9260 section 6.3.1, RTT 50 ms, RTO 1 ms to 60 s so that nothing is clamped:
 * INIT: SRTT 50, RTTVAR 25, RTO 50 + 4 * 25 = 150. COOKIE-ECHO: RTTVAR 3/4 * 25 + 1/4 * 0 = 18.75, SRTT 50, RTO 125.
 * First DATA, acked at once: RTTVAR 14.0625, RTO 106.25. Second, 1 s later, acked after SACK delay 100 ms, R' = 150:
 * RTTVAR 3/4 * 14.0625 + 1/4 * 100 = 35.546875, SRTT 7/8 * 50 + 1/8 * 150 = 62.5, RTO 204.6875. But T3 (106.25 ms) came first:
 * no sample (Karn), RTO doubled to 212.5. Third, acked after 150 ms: sample 150, RTO 204.6875. */
static void rto_by_hand(void **state) {
  (void)state;
  rig_open(&rig, 50 * MS);
  rig_rto(&rig, 1 * S, 1 * MS, 60 * S);
  rig.config[SCTP_SERVER].sack_delay = 100 * MS;
  rig_start(&rig);
  rig_run(&rig, 51 * MS);
  assert_in_range(client_path().rto, 150 * MS, 150 * MS + 1000);
  rig_run(&rig, 101 * MS);
  assert_in_range(client_path().rto, 125 * MS, 125 * MS + 1000);
  rig_stream(&rig, &(struct rig_traffic){.bytes = 84, .count = 3, .interval = 1 * S, .ordered = true}, 1 * S);
  rig_run(&rig, 1500 * MS);
  assert_in_range(client_path().rto, 106250000, 106250000 + 1000);
  rig_run(&rig, 2500 * MS);
  assert_in_range(client_path().rto, 212500000, 212500000 + 1000);
  assert_int_equal(client_counters().timeouts, 1);
  rig_run(&rig, 4 * S);
  assert_in_range(client_path().rto, 204687500, 204687500 + 1000);
  assert_in_range(client_path().srtt, 62500000, 62500000 + 1000);
  assert_in_range(client_path().rttvar, 35546875, 35546875 + 1000);
  assert_int_equal(client_counters().timeouts, 1);
  rig_close(&rig);
}

/* Equal samples of 50 ms: RTTVAR falls to the clock's granularity of 1 ms (G, section 6.3.1), RTO to 50 + 4 * 1. */
static void rttvar_has_a_floor(void **state) {
  (void)state;
  rig_open(&rig, 50 * MS);
  rig_rto(&rig, 1 * S, 1 * MS, 60 * S);
  rig.config[SCTP_SERVER].sack_delay = 0;
  rig_start(&rig);
  rig_stream(&rig, &(struct rig_traffic){.bytes = 84, .count = 60, .interval = 1 * S, .ordered = true}, 1 * S);
  rig_run(&rig, 100 * S);
  assert_in_range(client_path().rto, 54 * MS, 54 * MS + 1000);
  assert_int_equal(client_counters().timeouts, 0);
  rig_close(&rig);
}

/* TSN 11, overtaken by three others, goes again although it is only late, at 36 + 10 ms. Its first copy is in at 47 ms, the SACK at
 * 52: 6 ms after the second copy went, 52 after the first. Neither is a sample (Karn): all others are 10 ms. */
static simtime eleven_is_late(struct rig *r, const struct sctp_packet *packet) {
  (void)r;
  return packet->from == SCTP_CLIENT && rig_tsn(packet) == 11 && packet->attempt == 0 ? 47 * MS : 0;
}

static void no_sample_from_a_repeated_chunk(void **state) {
  (void)state;
  rig_open(&rig, 10 * MS);
  rig.carries = eleven_is_late;
  rig.config[SCTP_SERVER].sack_delay = 0;
  rig_start(&rig);
  rig_stream(&rig, &(struct rig_traffic){.bytes = 84, .count = 20, .interval = 12 * MS, .ordered = true}, 1 * S);
  rig_run(&rig, 3 * S);
  assert_int_equal(client_counters().fast_retransmits, 1);
  assert_in_range(rig.messages[10].delivered - rig.messages[10].sent, 47 * MS, 47 * MS);
  assert_in_range(client_path().srtt, 10 * MS, 10 * MS + 1000);
  rig_close(&rig);
}

/* Linux takes no sample from set-up: RTO.initial 3 s until the first DATA is acked, then 3 * RTT, not below 1 s. */
static void no_sample_from_setup(void **state) {
  (void)state;
  rig_open(&rig, 50 * MS);
  rig.config[SCTP_CLIENT] = *sctp_profile("linux");
  rig_start(&rig);
  rig_run(&rig, 1 * S);
  assert_int_equal(client_path().rto, 3 * S);
  rig_send(&rig, SCTP_CLIENT, 0, 84, true);
  rig_run(&rig, 2 * S);
  assert_int_equal(client_path().rto, 1 * S);
  assert_in_range(client_path().srtt, 50 * MS, 50 * MS + 1000);
  rig_close(&rig);
}

/* ---- 2_lone_chunk ---- */

/* First transmissions of lone chunks, and what became of them. */
static int retransmitted[64], retransmitted_count;
static double after_first[64], to_ack[64];

static void look_at_chunks(int chunks, simtime gap) {
  retransmitted_count = 0;
  for (int chunk = 0; chunk < chunks; chunk++) {
    simtime first = 1 * S + chunk * gap, acked = -1;
    for (int i = 0; i < rig.packet_count; i++) {
      const struct rig_packet *packet = &rig.packets[i];
      simtime next = chunk + 1 < chunks ? first + gap : SIMTIME_NEVER;
      if (packet->at <= first || packet->info.from != SCTP_CLIENT || !(packet->info.chunks & 1u << SCTP_DATA) || packet->at >= next) continue;
      after_first[retransmitted_count] = (double)(packet->at - first) / MS;
      retransmitted[retransmitted_count++] = chunk;
    }
    for (int i = 0; i < rig.packet_count && acked < 0; i++)
      if (rig.packets[i].info.from == SCTP_SERVER && rig.packets[i].info.chunks & 1u << SCTP_SACK &&
          rig.packets[i].at >= first + rig.link[0].direction[0].delay)
        acked = rig.packets[i].at + rig.link[0].direction[1].delay;
    to_ack[chunk] = (double)(acked - first) / MS;
  }
}

/* T3 of usrsctp marks only chunks older than SRTT + 4 RTTVAR (measured_sctp.md, 3): at RTT 50 with RTO.min 100 ms RTO is not
 * clamped and nothing is marked. The RFC's T3 (106 ms) sends chunk 1 again, and chunk 2 as well while its SACK takes 250 ms. */
static bool not_marked_by_usrsctp(const struct sctp_row *row) { return row->rto_min == 100 && row->rtt == 50 && row->sack_every != 1; }

struct lone {
  int compared, own;
};

static void spurious(const struct sctp_row *row, struct lone *lone) {
  double chunks[8];
  int count = sctp_row_list(row, "rtx", chunks, 8);
  if (not_marked_by_usrsctp(row)) {
    assert_int_equal(row->value, 0);
    assert_int_equal(retransmitted_count, row->sack_delay == 200 ? 2 : 1);
    lone->own++;
    return;
  }
  if (retransmitted_count != (int)row->value) fail_msg("row %d: %d retransmitted, measured %g", row->row, retransmitted_count, row->value);
  for (int i = 0; i < count; i++) assert_int_equal(retransmitted[i], (int)chunks[i]);
  if (sctp_row_detail(row, "srtt") >= 0) {
    assert_near(row, "srtt", (double)client_path().srtt / MS, sctp_row_detail(row, "srtt"));
    assert_near(row, "rto", (double)client_path().rto / MS, sctp_row_detail(row, "rto"));
  }
  lone->compared++;
}

static void lone_row(void *arg, const struct sctp_row *row) {
  struct lone *lone = arg;
  int chunks = row->count > 0 ? row->count : 20;
  rig_open(&rig, row->rtt * MS);
  rig_usrsctp(&rig);
  rig_rto(&rig, row->rto_initial * MS, row->rto_min * MS, row->rto_max * MS);
  rig.config[SCTP_SERVER].sack_delay = row->sack_delay * MS;
  rig.config[SCTP_SERVER].sack_every = row->sack_every;
  rig.config[SCTP_CLIENT].heartbeat = rig.config[SCTP_SERVER].heartbeat = 0;
  rig_start(&rig);
  rig_stream(&rig, &(struct rig_traffic){.bytes = row->size, .count = chunks, .interval = row->gap * MS, .ordered = true}, 1 * S);
  rig_run(&rig, 100 * S);
  look_at_chunks(chunks, row->gap * MS);
  if (strncmp(row->quantity, "spurious_retransmissions", 24) == 0)
    spurious(row, lone);
  else if (strcmp(row->quantity, "rtx_after_first_tx") == 0) {
    assert_near(row, row->quantity, median(after_first, retransmitted_count), row->value);
    lone->compared++;
  } else if (strcmp(row->quantity, "tx_to_ack") == 0) {
    assert_near(row, row->quantity, median(to_ack, chunks), row->value);
    lone->compared++;
  } else
    fail_msg("row %d: nobody compares %s", row->row, row->quantity);
  rig_close(&rig);
}

static void lone_chunks_as_measured(void **state) {
  (void)state;
  struct lone lone = {0};
  assert_int_equal(sctp_rows("2_lone_chunk", lone_row, &lone), 73);
  assert_int_equal(lone.own, 3); /* rows 130, 136, 306 */
  assert_int_equal(lone.compared, 70);
}

/* FC-21: lone chunks without traffic back, RTT 4 ms, SACK delay 200 ms. RTO.min 100 (120): the first chunk that is not acked at
 * once is sent again after 100 (120) ms +-1 although nothing was lost, RTO doubles, Karn takes no sample: a series of them ends
 * when RTO is above 204 ms, after 2 chunks (1). From RTO.min 300 ms on, or with an answer within 100 ms: none. */
static void rto_min_meets_sack_delay(void **state) {
  (void)state;
  static const struct { int rto_min, reply, again; } cases[] = {{100, 0, 2}, {120, 0, 1}, {300, 0, 0}, {1000, 0, 0}, {100, 22, 0}, {120, 22, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    rig_open(&rig, 4 * MS);
    rig_rto(&rig, cases[i].rto_min * MS, cases[i].rto_min * MS, 5 * S);
    rig.reply_bytes = cases[i].reply;
    rig_start(&rig);
    rig_stream(&rig, &(struct rig_traffic){.bytes = 84, .count = 30, .interval = 1 * S, .ordered = true}, 1 * S);
    rig_run(&rig, 60 * S);
    assert_int_equal(client_counters().retransmissions, cases[i].again);
    if (cases[i].reply == 0) {
      look_at_chunks(30, 1 * S);
      assert_int_equal(retransmitted_count, cases[i].again);
      if (cases[i].again > 0) {
        assert_int_equal(retransmitted[0], 1); /* chunk 0 is the association's first: acked at once */
        assert_in_range((int64_t)(after_first[0] * 1000), cases[i].rto_min * 1000 - 1000, cases[i].rto_min * 1000 + 1000);
      }
    }
    rig_close(&rig);
  }
}

/* ---- failure of the path ---- */

/* When the peer stops, as seen from the set-up. Later than 1.5 s, so that the first heartbeat timer (30 s + 0.5 to 1.5 RTO) runs
 * out within 30 s of the data, as it did in the measured run: no heartbeat before 30 s + 8 to 24 s more. */
#define STOP (3 * S)

static void failing(const struct sctp_row *row, uint32_t replication) {
  rig_open(&rig, row->rtt * MS);
  rig_usrsctp(&rig);
  rig_rto(&rig, row->rto_initial * MS, row->rto_min * MS, row->rto_max * MS);
  rig.key.replication = replication;
  for (int side = 0; side < 2; side++) {
    rig.config[side].heartbeat = row->heartbeat * MS;
    if (row->association_max >= 0) rig.config[side].association_max_retrans = row->association_max;
    if (row->path_max >= 0) rig.config[side].path_max_retrans = row->path_max;
  }
  rig.silent_from[SCTP_SERVER] = STOP;
  rig_start(&rig);
  if (strcmp(row->kind, "data") == 0) rig_stream(&rig, &(struct rig_traffic){.bytes = 84, .count = 1, .ordered = true}, STOP);
  rig_run(&rig, 2000 * S);
}

static int sent_since(simtime from, enum sctp_chunk chunk, double *ms, int max) {
  int count = 0;
  for (int i = 0; i < rig.packet_count && count < max; i++)
    if (rig.packets[i].info.from == SCTP_CLIENT && rig.packets[i].at >= from && rig.packets[i].info.chunks & 1u << chunk)
      ms[count++] = (double)(rig.packets[i].at - from) / MS;
  return count;
}

/* What a row's quantity is in the run that has just been made; a list for times of transmission. */
static int failure_quantity(const struct sctp_row *row, double *found, int max) {
  const simtime from = STOP;
  if (strcmp(row->quantity, "data_tx_times") == 0) return sent_since(from, SCTP_DATA, found, max);
  if (strcmp(row->quantity, "heartbeat_tx_times") == 0) return sent_since(from, SCTP_HEARTBEAT, found, max);
  if (strcmp(row->quantity, "abort_tx") == 0) return sent_since(from, SCTP_ABORT, found, max);
  if (strcmp(row->quantity, "data_tx_count") == 0) {
    double times[32];
    found[0] = sent_since(from, SCTP_DATA, times, 32);
    return 1;
  }
  if (strncmp(row->quantity, "PEER_ADDR_CHANGE", 16) == 0)
    found[0] = (double)(rig.path_down[SCTP_CLIENT] - from) / MS;
  else if (strncmp(row->quantity, "ASSOC_CHANGE", 12) == 0 || strcmp(row->quantity, "type=14") == 0)
    found[0] = (double)(rig.ended[SCTP_CLIENT] - from) / MS;
  else
    return 0;
  return 1;
}

enum { REPLICATIONS = 200, TIMES = 16 };

/* Heartbeats are jittered and each row is one run of usrsctp: what was measured must lie within the model's 200 runs. Of an idle
 * association times count from the first heartbeat after the peer has stopped: how long before that it stopped is chance. */
static void within_replications(const struct sctp_row *row, const double *measured, int count, double measured_first) {
  double least[TIMES], most[TIMES], found[TIMES], first[1] = {0};
  int fewest = TIMES, longest = 0;
  bool idle = strcmp(row->kind, "idle") == 0;
  for (uint32_t replication = 0; replication < REPLICATIONS; replication++) {
    failing(row, replication);
    assert_int_equal(rig.why[SCTP_CLIENT], SCTP_END_UNREACHABLE);
    int n = failure_quantity(row, found, TIMES);
    if (idle) assert_int_equal(sent_since(STOP, SCTP_HEARTBEAT, first, 1), 1);
    for (int i = 0; i < n; i++) {
      double time = found[i] - first[0];
      least[i] = i >= longest || time < least[i] ? time : least[i];
      most[i] = i >= longest || time > most[i] ? time : most[i];
    }
    fewest = n < fewest ? n : fewest;
    longest = n > longest ? n : longest;
    rig_close(&rig);
  }
  assert_in_range(count, fewest, longest);
  for (int i = 0; i < count; i++) {
    double time = measured[i] - (idle ? measured_first : 0);
    if (time < least[i] - 2 || time > most[i] + 2) fail_msg("row %d: %s %d: %g to %g ms, measured %g", row->row, row->quantity, i, least[i], most[i], time);
  }
}

static void failure_row(void *arg, const struct sctp_row *row) {
  double *measured_first = arg; /* heartbeat; its row comes first of those of an idle configuration */
  double found[TIMES], measured[TIMES];
  int count = sctp_row_list(row, NULL, measured, TIMES);
  bool idle = strcmp(row->kind, "idle") == 0;
  if (idle && strcmp(row->quantity, "heartbeat_tx_times") == 0) *measured_first = measured[0];
  /* With data, heartbeats come in before the end only where RTO.max is 60 s. */
  if (idle || (row->heartbeat > 0 && row->rto_max == 60000)) {
    within_replications(row, measured, count, *measured_first);
    return;
  }
  failing(row, 0);
  assert_int_equal(failure_quantity(row, found, TIMES), count);
  for (int i = 0; i < count; i++) assert_near(row, row->quantity, found[i], measured[i]);
  rig_close(&rig);
}

static void failures_as_measured(void **state) {
  (void)state;
  double measured_first = 0;
  assert_int_equal(sctp_rows("6_path_failure", failure_row, &measured_first), 40);
}

/* Interval of a healthy idle path: HB.interval + RTO * U(0.5, 1.5). */
static void healthy_row(void *arg, const struct sctp_row *row) {
  (void)arg;
  rig_open(&rig, row->rtt * MS);
  rig_rto(&rig, row->rto_initial * MS, row->rto_min * MS, row->rto_max * MS);
  rig.config[0].heartbeat = rig.config[1].heartbeat = row->heartbeat * MS;
  rig_start(&rig);
  rig_run(&rig, 30000 * S);
  double times[1024], least = 1e9, most = 0, sum = 0;
  int count = sent_since(0, SCTP_HEARTBEAT, times, 1024);
  assert_in_range(count, 900, 1000);
  for (int i = 1; i < count; i++) {
    double interval = times[i] - times[i - 1];
    least = interval < least ? interval : least;
    most = interval > most ? interval : most;
    sum += interval / (count - 1);
  }
  assert_true(least >= row->heartbeat + 0.5 * row->rto_min && least < row->heartbeat + 0.51 * row->rto_min);
  assert_true(most <= row->heartbeat + 1.5 * row->rto_min && most > row->heartbeat + 1.49 * row->rto_min);
  assert_near(row, "mean", sum, row->value);
  assert_int_equal(rig.ended[SCTP_CLIENT], SIMTIME_NEVER);
  rig_close(&rig);
}

static void heartbeats_as_measured(void **state) {
  (void)state;
  assert_int_equal(sctp_rows("6_heartbeat_idle", healthy_row, NULL), 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rto_by_hand),
      cmocka_unit_test(rttvar_has_a_floor),
      cmocka_unit_test(no_sample_from_a_repeated_chunk),
      cmocka_unit_test(no_sample_from_setup),
      cmocka_unit_test(lone_chunks_as_measured),
      cmocka_unit_test(rto_min_meets_sack_delay),
      cmocka_unit_test(failures_as_measured),
      cmocka_unit_test(heartbeats_as_measured),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
