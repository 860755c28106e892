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

static bool near_ms(double found, double measured) {
  double allowed = 0.03 * measured > 2 ? 0.03 * measured : 2, off = found > measured ? found - measured : measured - found;
  return off <= allowed;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* As the measuring program computed it: the mean of the middle two of an even number. */
static double median(double *values, int count) {
  qsort(values, (size_t)count, sizeof *values, by_value);
  return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static double latency_median(void) {
  static double values[RIG_MESSAGES];
  for (int i = 0; i < rig.message_count; i++) values[i] = (double)(rig.messages[i].delivered - rig.messages[i].sent) / MS;
  return median(values, rig.message_count);
}

/* What one side's packets with a chunk type came to since the set-up. */
struct sum {
  int packets, chunks, per_packet_seen;
  int64_t sctp_bytes, ip_bytes;
};

static struct sum sum_of(enum sctp_side from, enum sctp_chunk chunk) {
  struct sum sum = {0};
  for (int i = 0; i < rig.packet_count; i++) {
    const struct sctp_packet *packet = &rig.packets[i].info;
    if (packet->from != from || !(packet->chunks & 1u << chunk)) continue;
    sum.packets++;
    sum.chunks += packet->data_chunks;
    sum.per_packet_seen |= packet->data_chunks < 31 ? 1 << packet->data_chunks : 0;
    sum.ip_bytes += packet->bytes;
    sum.sctp_bytes += packet->bytes - 20;
  }
  return sum;
}

/* Two decimals, as the measured means are written. */
static void assert_mean(const struct sctp_row *row, const char *key, double found) {
  double measured = sctp_row_detail(row, key);
  char a[32], b[32];
  snprintf(a, sizeof a, "%.2f", found);
  snprintf(b, sizeof b, "%.2f", measured);
  if (strcmp(a, b) != 0) fail_msg("row %d: %s %s, measured %s", row->row, key, a, b);
}

/* ---- 2_data: 40 single messages, 250 ms apart ---- */

enum { SINGLES = 40 };

static double sack_delay_median(void) {
  static double values[RIG_PACKETS];
  int count = 0;
  for (int i = 0; i < rig.packet_count; i++) {
    if (rig.packets[i].info.from != SCTP_SERVER || rig.packets[i].info.chunks != 1u << SCTP_SACK) continue;
    simtime last = 0;
    for (int k = 0; k < i; k++)
      if (rig.packets[k].info.chunks & 1u << SCTP_DATA && rig.packets[k].at + 5 * MS <= rig.packets[i].at) last = rig.packets[k].at + 5 * MS;
    values[count++] = (double)(rig.packets[i].at - last) / MS;
  }
  return median(values, count);
}

static void per_message(const struct sctp_row *row) {
  struct sum data = sum_of(SCTP_CLIENT, SCTP_DATA), sacks = sum_of(SCTP_SERVER, SCTP_SACK);
  double payload[8], n = SINGLES;
  assert_mean(row, "chunks", data.chunks / n);
  assert_mean(row, "packets", data.packets / n);
  assert_mean(row, "sctp", (double)data.sctp_bytes / n);
  assert_mean(row, "ip", (double)data.ip_bytes / n);
  assert_mean(row, "sacks", sacks.packets / n);
  assert_mean(row, "sack_ip", (double)sacks.ip_bytes / sacks.packets);
  int pieces = sctp_row_list(row, "payload", payload, 8), piece = 0;
  for (int i = 0; i < rig.packet_count; i++) {
    const struct sctp_packet *packet = &rig.packets[i].info;
    if (!(packet->chunks & 1u << SCTP_DATA)) continue;
    /* IPv4 20, common header 12, chunk header 16, padding to 4. */
    assert_int_equal(packet->bytes, 20 + 12 + 16 + ((int)payload[piece] + 3) / 4 * 4);
    piece = (piece + 1) % pieces;
  }
}

static void data_row(void *arg, const struct sctp_row *row) {
  (void)arg;
  rig_open(&rig, (row->rtt >= 0 ? row->rtt : 10) * MS);
  rig_usrsctp(&rig);
  rig_start(&rig);
  rig_stream(&rig, &(struct rig_traffic){.bytes = row->size, .count = SINGLES, .interval = 250 * MS, .ordered = true}, 1 * S);
  rig_run(&rig, 20 * S);
  double found = -1;
  if (strcmp(row->quantity, "per_message") == 0)
    per_message(row);
  else if (strcmp(row->quantity, "one_way_latency") == 0)
    found = latency_median();
  else if (strcmp(row->quantity, "sack_delay_after_last_covered_chunk") == 0)
    found = sack_delay_median();
  else
    fail_msg("row %d: nobody compares %s", row->row, row->quantity);
  if (found >= 0 && !near_ms(found, row->value)) fail_msg("row %d: %s %g, measured %g", row->row, row->quantity, found, row->value);
  rig_close(&rig);
}

static void single_messages_as_measured(void **state) {
  (void)state;
  assert_int_equal(sctp_rows("2_data", data_row, NULL), 32);
}

/* ---- 2_bundling: 10 bunches of messages back to back, 500 ms apart ---- */

enum { BUNCHES = 10 };

static void bundling_row(void *arg, const struct sctp_row *row) {
  (void)arg;
  rig_open(&rig, row->rtt * MS);
  rig_usrsctp(&rig);
  for (int side = 0; side < 2; side++) rig.config[side].nodelay = row->nodelay != 0;
  rig_start(&rig);
  rig_stream(&rig, &(struct rig_traffic){.bytes = row->size, .count = BUNCHES * row->count, .bunch = row->count, .interval = 500 * MS, .ordered = true}, 1 * S);
  rig_run(&rig, 20 * S);
  struct sum data = sum_of(SCTP_CLIENT, SCTP_DATA), sacks = sum_of(SCTP_SERVER, SCTP_SACK);
  assert_mean(row, "packets", (double)data.packets / BUNCHES);
  assert_mean(row, "sacks", (double)sacks.packets / BUNCHES);
  assert_mean(row, "sctp", (double)data.sctp_bytes / BUNCHES);
  double kinds[8];
  int seen = 0, count = sctp_row_list(row, "per_packet", kinds, 8);
  for (int i = 0; i < count; i++) seen |= 1 << (int)kinds[i];
  assert_int_equal(data.per_packet_seen, seen);
  double found = latency_median();
  if (!near_ms(found, row->value)) fail_msg("row %d: latency %g, measured %g", row->row, found, row->value);
  rig_close(&rig);
}

static void bundling_as_measured(void **state) {
  (void)state;
  assert_int_equal(sctp_rows("2_bundling", bundling_row, NULL), 16);
}

/* ---- 5_burst ---- */

/* Packets with DATA by round trips since the first one, as the measured slots: rounded to the nearest. */
static int slots_of(int *slots, int max, simtime rtt) {
  simtime first = -1;
  int last = 0;
  for (int i = 0; i < max; i++) slots[i] = 0;
  for (int i = 0; i < rig.packet_count; i++) {
    if (!(rig.packets[i].info.chunks & 1u << SCTP_DATA)) continue;
    if (first < 0) first = rig.packets[i].at;
    last = (int)((rig.packets[i].at - first + rtt / 2) / rtt);
    slots[last]++;
  }
  return last + 1;
}

struct compared {
  int times, slots;
};

static void burst_row(void *arg, const struct sctp_row *row) {
  struct compared *compared = arg;
  double measured[16];
  int slots[16], count = sctp_row_list(row, "slots", measured, 16);
  rig_open(&rig, row->rtt * MS);
  rig_usrsctp(&rig);
  /* sctp_initial_cwnd 10 needs a start above 4 packets, which no profile and no RFC has. */
  if (strncmp(row->kind, "icw10", 5) == 0) {
    rig_close(&rig);
    return;
  }
  if (strlen(row->kind) == 4) rig.congestion.initial_window = (row->kind[3] - '0') * (1500 - 12);
  if (strstr(row->kind, "no_burst_limit")) rig.congestion.max_burst = 0;
  if (row->sack_every > 0) rig.config[0].sack_every = rig.config[1].sack_every = row->sack_every;
  rig_start(&rig);
  rig_stream(&rig, &(struct rig_traffic){.bytes = row->size, .count = row->count, .bunch = row->count, .ordered = true}, 1 * S);
  rig_run(&rig, 20 * S);
  double found = (double)(rig.messages[row->count - 1].delivered - 1 * S) / MS;
  /* Row 118, RTT 10: 55.0 against 57.1 ms. The ends of the model cost nothing; the measured ones took 2 to 4 ms for these 138
   * packets and their 70 SACKs at every RTT, which is more than 3 % here. */
  if (row->row == 118)
    assert_in_range((int64_t)((row->value - found) * 1000), 2000, 2200);
  else if (!near_ms(found, row->value))
    fail_msg("row %d: %g ms, measured %g", row->row, found, row->value);
  compared->times++;
  int rounds = slots_of(slots, 16, row->rtt * MS);
  bool same = rounds == count;
  for (int i = 0; i < rounds && same; i++) same = slots[i] == (int)measured[i];
  /* Row 94, 600 B: the model puts two messages into every packet that cwnd has held back (8 7 15 28 56 57 packets, 8 14 30 56
   * 112 114 messages), usrsctp two and one in turn (8 9 20 40 80 68 packets, 8 14 30 60 120 102 messages). */
  if (!same && row->row != 94)
    for (int i = 0; i < rounds; i++) print_error("row %d: round %d: %d packets, measured %g\n", row->row, i, slots[i], i < count ? measured[i] : -1);
  assert_true(same == (row->row != 94));
  compared->slots += same;
  rig_close(&rig);
}

static void bursts_as_measured(void **state) {
  (void)state;
  struct compared compared = {0};
  assert_int_equal(sctp_rows("5_burst", burst_row, &compared), 12);
  assert_int_equal(compared.times, 10);
  assert_int_equal(compared.slots, 9);
}

/* ---- windows that no row shows ---- */

static struct sctp_path_state client_path(void) {
  struct sctp_path_state state;
  sctp_path_state(rig.sctp, SCTP_CLIENT, 0, &state);
  return state;
}

static int data_packets_at(simtime at) {
  int count = 0;
  for (int i = 0; i < rig.packet_count; i++) count += rig.packets[i].at == at && rig.packets[i].info.chunks & 1u << SCTP_DATA;
  return count;
}

/* RFC 9260, PMDCS 1468. A message of 100,000 bytes opens the window. The next one finds nothing under way and a cwnd far above: Max.Burst
 * lets 4 packets go (section 6.1 D), without that limit as many as cwnd holds. After 3.5 RTO of 1 s without DATA cwnd has been
 * halved three times, but not below 4 * 1468 = 5872 (section 7.2.1). */
static void burst_and_idle_limits(void **state) {
  (void)state;
  for (int limited = 0; limited < 2; limited++) {
    rig_open(&rig, 10 * MS);
    rig_usrsctp(&rig);
    rig.congestion = *sctp_profile("rfc9260")->congestion;
    rig.congestion.max_burst = limited ? 4 : 0;
    rig.config[0].heartbeat = rig.config[1].heartbeat = 0;
    rig_start(&rig);
    for (int i = 0; i < 2; i++) rig_stream(&rig, &(struct rig_traffic){.bytes = 100000, .count = 1, .ordered = true}, 1 * S + i * 800 * MS);
    rig_run(&rig, 1790 * MS);
    int64_t opened = client_path().cwnd;
    assert_true(opened > 30000);
    rig_run(&rig, 1805 * MS);
    assert_int_equal(data_packets_at(1800 * MS), limited ? 4 : (opened + 1467) / 1468);
    rig_run(&rig, 3 * S);
    opened = client_path().cwnd;
    simtime last = 0;
    for (int i = 0; i < rig.packet_count; i++)
      if (rig.packets[i].info.chunks & 1u << SCTP_DATA) last = rig.packets[i].at;
    rig_stream(&rig, &(struct rig_traffic){.bytes = 10, .count = 1, .ordered = true}, last + 3500 * MS);
    rig_stream(&rig, &(struct rig_traffic){.bytes = 10, .count = 1, .ordered = true}, last + 60 * S);
    rig_run(&rig, last + 4 * S);
    assert_int_equal(client_path().cwnd, opened / 8 > 5872 ? opened / 8 : 5872);
    rig_run(&rig, last + 61 * S);
    assert_int_equal(client_path().cwnd, 5872);
    rig_close(&rig);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(single_messages_as_measured),
      cmocka_unit_test(bundling_as_measured),
      cmocka_unit_test(bursts_as_measured),
      cmocka_unit_test(burst_and_idle_limits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
