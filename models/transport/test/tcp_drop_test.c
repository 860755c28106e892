/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: models/transport/test/tcp_rig.o models/transport/stream.o models/transport/stream_net.o models/transport/stream_writes.o models/transport/tcp.o models/transport/tcp_ack.o models/transport/tcp_profile.o models/transport/tcp_receive.o models/transport/tcp_recover.o models/transport/tcp_send.o models/transport/tcp_timer.o models/transport/tcp_window.o models/transport/port.o sim/net/net_native.o sim/net/net_rules.o sim/net/net_path.o sim/core/event.o sim/core/err.o sim/core/metric.o sim/core/param.o sim/core/param_value.o sim/core/random.o sim/core/units.o
/* Exactly one packet lost in a TLS handshake on Linux 6.18 (tls_drop.csv, source pqnetsim-tls-2026): which packet, and how much later the
 * handshake is done. Three repetitions lost the packet of a number; the text tells what the first of them lost. Packets of the connection
 * before it and a varying count of acknowledgements move numbers by a few and offsets by its last response, 1046 bytes.
 *
 * Of the measured times those of a handshake without losses are subtracted, of the model's its own: what remains is TCP's. */
#include "models/transport/test/tcp_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char path[] = "calib/data/measured/tls/tls_drop.csv";

enum { LINE = 256, FIELDS = 9, STRAY = 1046, SHIFT_DOWN = 3, SHIFT_UP = 1, PHASES = 16 };

/* Writes of OpenSSL 3.5: a buffer of 4096 bytes, the rest of Certificate, CertificateVerify, Finished (strace); sums as in tls_truth.csv. */
static const struct handshake {
  const char *cert, *group;
  int64_t hello, writes[RIG_WRITES];
} handshakes[] = {
    {"p256", "X25519", 213, {1408}},
    {"p256", "X25519MLKEM768", 1389, {2496}},
    {"mldsa65", "X25519MLKEM768", 1389, {4096, 8484, 3339, 74}},
    {"mldsa87", "MLKEM1024", 1741, {4096, 20455, 4657, 74}},
};

struct row {
  const struct handshake *handshake;
  double rtt, reps[3];
  int side, number; /* number 0: nothing lost */
  char kind;        /* of the packet: Syn, Ack, Data */
  int64_t bytes, start;
  char text[64];
};

static bool parse(char *line, struct row *row) {
  char *fields[FIELDS];
  int count = 0;
  for (char *next = line; next && count < FIELDS;) {
    fields[count++] = next;
    next = strchr(next, ',');
    if (next) *next++ = '\0';
  }
  if (count < FIELDS || line[0] == '#' || strcmp(fields[0], "cert") == 0) return false;
  *row = (struct row){.rtt = atof(fields[3])};
  for (size_t i = 0; i < sizeof handshakes / sizeof *handshakes; i++)
    if (strcmp(handshakes[i].cert, fields[0]) == 0 && strcmp(handshakes[i].group, fields[2]) == 0) row->handshake = &handshakes[i];
  assert_non_null(row->handshake);
  if (strcmp(fields[4], "none") != 0) {
    row->side = fields[4][0] - 'A';
    row->number = atoi(fields[4] + 2);
    row->kind = fields[5][0] == 'd' ? 'D' : fields[5][0];
    const char *digits = strpbrk(fields[5], "0123456789"), *at = strchr(fields[5], '@');
    row->bytes = atol(digits);
    row->start = atol(at + 1);
    snprintf(row->text, sizeof row->text, "%s %s", fields[4], fields[5]);
  }
  for (int i = 0; i < 3; i++) row->reps[i] = atof(fields[6 + i]);
  return true;
}

static void run(struct tcp_rig *rig, const struct row *row, int64_t lost, uint32_t replication) {
  *rig = (struct tcp_rig){.profile = "linux",
      .replication = replication,
      .rtt = (simtime)(row->rtt * 1e6),
      .hello = row->handshake->hello,
      .finished = 80,
      .request = 23,
      .response = 1046};
  memcpy(rig->writes, row->handshake->writes, sizeof rig->writes);
  for (int i = 1; i < RIG_WRITES; i++) rig->after[i] = i == 2 ? MS / 2 : 0; /* signing */
  if (lost > 0) {
    rig->lost_from = (enum net_side)row->side;
    rig->lost[0] = lost;
    rig->lost_count = 1;
  }
  tcp_rig_run(rig);
}

static bool agrees(double measured, double model) { return fabs(measured - model) <= fmax(5, 0.05 * measured); }

/* Of several positions of the timer ticks, the model's time that is nearest to the measured one. */
static double nearest_of(const struct row *row, int64_t lost, double offset, double measured) {
  static struct tcp_rig rig;
  double nearest = NAN;
  for (uint32_t replication = 0; replication < PHASES; replication++) {
    run(&rig, row, lost, replication);
    double model = offset + (double)rig.flight_in / 1e6;
    if (isnan(nearest) || fabs(model - measured) < fabs(nearest - measured)) nearest = model;
  }
  return nearest;
}

/* What repetition 1 lost, found among the model's own packets. */
static bool first_agrees(const struct row *row, const struct tcp_rig *base, double none, double *nearest) {
  const double offset = none - (double)base->flight_in / 1e6, measured = row->reps[0];
  *nearest = NAN;
  for (int i = 0; i < base->logged[row->side]; i++) {
    const struct tcp_rig_packet *packet = &base->log[row->side][i];
    const bool is_ack = !packet->syn && packet->bytes == 0;
    const int64_t off = row->start - packet->start;
    if (row->kind == 'S' ? !packet->syn : row->kind == 'A' ? !is_ack : packet->bytes != row->bytes || (off != 0 && off != STRAY && off != 2 * STRAY)) continue;
    double model = nearest_of(row, i + 1, offset, measured);
    if (isnan(*nearest) || fabs(model - measured) < fabs(*nearest - measured)) *nearest = model;
  }
  /* A packet of the connection before: nothing of this one was lost. */
  if (isnan(*nearest)) *nearest = none;
  return agrees(measured, *nearest);
}

static bool other_agrees(const struct row *row, const struct tcp_rig *base, double none, int rep) {
  const double offset = none - (double)base->flight_in / 1e6;
  if (agrees(row->reps[rep], none)) return true;
  for (int n = row->number - SHIFT_DOWN; n <= row->number + SHIFT_UP; n++)
    if (n > 0 && agrees(row->reps[rep], nearest_of(row, n, offset, row->reps[rep]))) return true;
  return false;
}

static void test_each_packet(void **state) {
  (void)state;
  static struct tcp_rig base;
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  char line[LINE];
  double none = 0;
  int rows = 0, firsts = 0, others = 0;
  while (fgets(line, sizeof line, file)) {
    struct row row;
    line[strcspn(line, "\r\n")] = '\0';
    if (!parse(line, &row)) continue;
    if (row.number == 0) {
      none = fmax(fmin(row.reps[0], row.reps[1]), fmin(fmax(row.reps[0], row.reps[1]), row.reps[2]));
      run(&base, &row, 0, 0);
      continue;
    }
    rows++;
    double nearest;
    bool ok = first_agrees(&row, &base, none, &nearest);
    firsts += ok;
    if (!ok)
      print_message("  %s+%s, RTT %g ms, %s: measured %g, model %.1f ms\n", row.handshake->cert, row.handshake->group, row.rtt, row.text, row.reps[0], nearest);
    for (int rep = 1; rep < 3; rep++) {
      bool other = other_agrees(&row, &base, none, rep);
      others += other;
      if (!other)
        print_message(
            "  %s+%s, RTT %g ms, %s, repetition %d: measured %g ms\n", row.handshake->cert, row.handshake->group, row.rtt, row.text, rep + 1, row.reps[rep]);
    }
  }
  fclose(file);
  print_message("  %d rows; repetition 1 agrees in %d, the others in %d of %d\n", rows, firsts, others, 2 * rows);
  assert_int_equal(rows, 128);
  assert_int_equal(firsts, rows);
  assert_int_equal(others, 2 * rows);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_packet)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
