/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conformance: the same small networks for every backend.
 *
 * Purpose:   a table of topologies, datagrams and losses with what must come of them, and the code that runs a row on a
 *            backend. conformance_native_test compares with the numbers of the table, conformance_ns3_test compares
 *            ns3 with them and with native.
 * Sources:   expected values by hand: time on the wire = (IP bytes + l2_overhead) * 8 / rate; IPv4 header 20 bytes, UDP
 *            header 8; fragments hold multiples of 8 bytes (RFC 791). The sums are in the comments.
 */
#ifndef PQNETSIM_CONFORMANCE_H
#define PQNETSIM_CONFORMANCE_H

#include "sim/net/net.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define US INT64_C(1000)
#define MS INT64_C(1000000)
#define SEC INT64_C(1000000000)
#define KBIT INT64_C(1000)
#define MBIT INT64_C(1000000)
#define GBIT INT64_C(1000000000)

enum { NODES_MAX = 4, LINKS_MAX = 3, SENDS_MAX = 8, EXPECTED_MAX = 8, DELIVERIES_MAX = 20000 };
enum { ENTITY_FIRST = 1000 }; /* no link's number, which no draw may depend on */

struct delivery {
  simtime at;
  int link;
  enum net_side from;
  uint32_t number;
  uint16_t part, attempt;
  int64_t link_queue, serialisation, propagation;
};

struct conformance_link {
  int a, b;
  struct net_link_config config;
};

struct conformance_send {
  simtime at;
  int link;
  enum net_side from;
  bool udp;
  int64_t size_bytes;
  uint32_t number;
  int repeat;      /* so many more, numbers counting up ... */
  simtime spacing; /* ... this far apart */
};

struct conformance_case {
  const char *name;
  int node_count, link_count, send_count;
  struct conformance_link links[LINKS_MAX];
  struct conformance_send sends[SENDS_MAX];
  /* What arrives at B is answered reply_after later (a model's timer), when reply_bytes is not 0. */
  int64_t reply_bytes;
  simtime reply_after;
  simtime first_until; /* when not 0: run in two steps, this is the first ... */
  bool last_between;   /* ... and the last of sends is sent between them, whatever its time */
  bool by_hand;        /* expected and counters below are complete */
  int expected_count;
  struct delivery expected[EXPECTED_MAX];
  struct net_counters counters[LINKS_MAX][2];
};

struct conformance_result {
  int count;
  struct delivery deliveries[DELIVERIES_MAX];
  struct net_counters counters[LINKS_MAX][2];
  simtime between; /* the clock after the first of two steps ... */
  simtime end;     /* ... and in the end */
};

#define DIRECTION(rate, wait, packets) {.rate_bps = (rate), .delay = (wait), .queue_unit = NET_QUEUE_PACKETS, .queue_limit = (packets)}
#define BOTH(rate, wait, packets) {DIRECTION(rate, wait, packets), DIRECTION(rate, wait, packets)}

static const struct conformance_case conformance_cases[] = {
    {
        /* IP packet 1392 + 28 = 1420 bytes; 11360 bits at 10 Mbit/s = 1.136 ms. */
        .name = "one packet", .node_count = 2, .link_count = 1, .send_count = 1,
        .links = {{0, 1, {BOTH(10 * MBIT, 1 * MS, 1000), 1500, 0}}},
        .sends = {{.at = 500 * US, .udp = true, .size_bytes = 1392, .number = 7}},
        .by_hand = true, .expected_count = 1,
        .expected = {{500 * US + 2136 * US, 0, NET_A, 7, 0, 0, 0, 1136 * US, 1 * MS}},
        .counters = {{{1, 1420, 0, 0, 1420}}},
    },
    {
        /* 1776 + 8 = 1784 = 1480 + 304: packets of 1500 and 324 bytes, 1824 in all, as a ML-KEM-1024 IKE_SA_INIT is
         * seen on the wire. 14592 bits at 10 Mbit/s = 1459.2 us. */
        .name = "two fragments", .node_count = 2, .link_count = 1, .send_count = 1,
        .links = {{0, 1, {BOTH(10 * MBIT, 1 * MS, 1000), 1500, 0}}},
        .sends = {{.udp = true, .size_bytes = 1776, .number = 1}},
        .by_hand = true, .expected_count = 1,
        .expected = {{2459200, 0, NET_A, 1, 0, 0, 0, 1459200, 1 * MS}},
        .counters = {{{2, 1824, 0, 0, 1500}}},
    },
    {
        /* Sent by B as raw IP: 4104 = 1480 + 1480 + 1144: 1500 + 1500 + 1164 = 4164 bytes, 33312 bits at 1 Mbit/s. */
        .name = "three fragments, raw IP", .node_count = 2, .link_count = 1, .send_count = 1,
        .links = {{0, 1, {BOTH(1 * MBIT, 20 * MS, 1000), 1500, 0}}},
        .sends = {{.from = NET_B, .size_bytes = 4104, .number = 1}},
        .by_hand = true, .expected_count = 1,
        .expected = {{53312 * US, 0, NET_B, 1, 0, 0, 0, 33312 * US, 20 * MS}},
        .counters = {{{0}, {3, 4164, 0, 0, 1500}}},
    },
    {
        /* MTU 1400 leaves 1380 bytes, 1376 in multiples of 8. 2750 + 8 = 2758 = 1376 + 1376 + 6: 2818 bytes.
         * 2746 + 8 = 2754 = 1376 + 1378: the last may fill the MTU: 2794 bytes. As raw IP the same 2754.
         * At 1 Mbit/s: 22544, 22352 and 22352 us, one behind the other. */
        .name = "MTU not a multiple of 8", .node_count = 2, .link_count = 1, .send_count = 3,
        .links = {{0, 1, {BOTH(1 * MBIT, 0, 1000), 1400, 0}}},
        .sends = {{.udp = true, .size_bytes = 2750, .number = 1}, {.udp = true, .size_bytes = 2746, .number = 2}, {.size_bytes = 2754, .number = 3}},
        .by_hand = true, .expected_count = 3,
        .expected = {{22544 * US, 0, NET_A, 1, 0, 0, 0, 22544 * US, 0},
                     {44896 * US, 0, NET_A, 2, 0, 0, 22544 * US, 22352 * US, 0},
                     {67248 * US, 0, NET_A, 3, 0, 0, 44896 * US, 22352 * US, 0}},
        .counters = {{{7, 8406, 0, 0, 1398}}},
    },
    {
        /* 972 + 28 = 1000 bytes and 38 bytes of Ethernet: 8304 bits at 1 Mbit/s. Counters are IP bytes. */
        .name = "link-layer overhead", .node_count = 2, .link_count = 1, .send_count = 2,
        .links = {{0, 1, {BOTH(1 * MBIT, 3 * MS, 1000), 1500, 38}}},
        .sends = {{.udp = true, .size_bytes = 972, .number = 1}, {.udp = true, .size_bytes = 972, .number = 2}},
        .by_hand = true, .expected_count = 2,
        .expected = {{11304 * US, 0, NET_A, 1, 0, 0, 0, 8304 * US, 3 * MS}, {19608 * US, 0, NET_A, 2, 0, 0, 8304 * US, 8304 * US, 3 * MS}},
        .counters = {{{2, 2000, 0, 0, 1000}}},
    },
    {
        /* 1000 bytes take 8 ms at 1 Mbit/s. The packet handed over at 0 enters the wire at 0 and gets through; the ones behind it enter at
         * 8 and 16 ms, within the outage of [8, 20) ms; the one handed over at 24 ms, when the wire is idle, gets through. */
        .name = "outage", .node_count = 2, .link_count = 1, .send_count = 2,
        .links = {{0, 1, {{{.rate_bps = 1 * MBIT, .delay = 1 * MS, .queue_limit = 10, .outage_from = 8 * MS, .outage_until = 20 * MS},
                           DIRECTION(1 * MBIT, 0, 10)}, 1500, 0}}},
        .sends = {{.udp = true, .size_bytes = 972, .number = 1, .repeat = 2}, {.at = 24 * MS, .udp = true, .size_bytes = 972, .number = 4}},
        .by_hand = true, .expected_count = 2,
        .expected = {{9 * MS, 0, NET_A, 1, 0, 0, 0, 8 * MS, 1 * MS}, {33 * MS, 0, NET_A, 4, 0, 0, 0, 8 * MS, 1 * MS}},
        .counters = {{{4, 4000, 2, 0, 1000}}},
    },
    {
        /* Room for two: of five at once one is sent, two wait, two are refused. At 16 ms the first (8 ms) and second
         * are out and the transmitter turns to the third, so three more find: one place, two places, none. */
        .name = "queue in packets", .node_count = 2, .link_count = 1, .send_count = 2,
        .links = {{0, 1, {BOTH(1 * MBIT, 1 * MS, 2), 1500, 0}}},
        .sends = {{.udp = true, .size_bytes = 972, .number = 1, .repeat = 4}, {.at = 16 * MS, .udp = true, .size_bytes = 972, .number = 6, .repeat = 2}},
        .by_hand = true, .expected_count = 5,
        .expected = {{9 * MS, 0, NET_A, 1, 0, 0, 0, 8 * MS, 1 * MS},
                     {17 * MS, 0, NET_A, 2, 0, 0, 8 * MS, 8 * MS, 1 * MS},
                     {25 * MS, 0, NET_A, 3, 0, 0, 16 * MS, 8 * MS, 1 * MS},
                     {33 * MS, 0, NET_A, 6, 0, 0, 8 * MS, 8 * MS, 1 * MS},
                     {41 * MS, 0, NET_A, 7, 0, 0, 16 * MS, 8 * MS, 1 * MS}},
        .counters = {{{5, 5000, 0, 3, 1000}}},
    },
    {
        /* Room for 1500 bytes. 2000 - the first packet is larger than the queue, but finds the transmitter idle. Then
         * 1000 waits, 600 is too much, 500 just fits, 1 (21 with its header) does not. */
        .name = "queue in bytes", .node_count = 2, .link_count = 1, .send_count = 5,
        .links = {{0, 1, {{{.rate_bps = 1 * MBIT, .queue_unit = NET_QUEUE_BYTES, .queue_limit = 1500}, DIRECTION(1 * MBIT, 0, 1)}, 9000, 0}}},
        .sends = {{.size_bytes = 1980, .number = 1}, {.size_bytes = 980, .number = 2}, {.size_bytes = 580, .number = 3}, {.size_bytes = 480, .number = 4}, {.size_bytes = 1, .number = 5}},
        .by_hand = true, .expected_count = 3,
        .expected = {{16 * MS, 0, NET_A, 1, 0, 0, 0, 16 * MS, 0}, {24 * MS, 0, NET_A, 2, 0, 0, 16 * MS, 8 * MS, 0}, {28 * MS, 0, NET_A, 4, 0, 0, 24 * MS, 4 * MS, 0}},
        .counters = {{{3, 3500, 0, 2, 2000}}},
    },
    {
        /* Fragments of 1500, 1500 and 1164 bytes queue one by one: one is sent, one waits, the third is refused, so the
         * datagram is lost though two of its packets travel. The next datagram comes through. */
        .name = "queue overflow inside a datagram", .node_count = 2, .link_count = 1, .send_count = 2,
        .links = {{0, 1, {BOTH(1 * MBIT, 0, 1), 1500, 0}}},
        .sends = {{.size_bytes = 4104, .number = 1}, {.at = 24 * MS, .size_bytes = 980, .number = 2}},
        .by_hand = true, .expected_count = 1,
        .expected = {{32 * MS, 0, NET_A, 2, 0, 0, 0, 8 * MS, 0}},
        .counters = {{{3, 4000, 0, 1, 1500}}},
    },
    {
        /* Lost packets take their time: the second of three is lost, the third arrives as if it had not been. The other
         * direction loses its first. */
        .name = "drop list", .node_count = 2, .link_count = 1, .send_count = 2,
        .links = {{0, 1, {{{.rate_bps = 1 * MBIT, .delay = 5 * MS, .queue_limit = 10, .drop_count = 2, .drop = {2, 9}},
                           {.rate_bps = 1 * MBIT, .delay = 5 * MS, .queue_limit = 10, .drop_count = 1, .drop = {1}}}, 1500, 0}}},
        .sends = {{.udp = true, .size_bytes = 97, .number = 1, .repeat = 2}, {.from = NET_B, .udp = true, .size_bytes = 97, .number = 1, .repeat = 1}},
        .by_hand = true, .expected_count = 3,
        .expected = {{6 * MS, 0, NET_A, 1, 0, 0, 0, 1 * MS, 5 * MS}, {7 * MS, 0, NET_B, 2, 0, 0, 1 * MS, 1 * MS, 5 * MS}, {8 * MS, 0, NET_A, 3, 0, 0, 2 * MS, 1 * MS, 5 * MS}},
        .counters = {{{3, 375, 1, 0, 125}, {2, 250, 1, 0, 125}}},
    },
    {
        /* The box eats what is fragmented and nothing else: 14.592 ms pass for nothing, then 1472 + 28 = 1500 bytes take
         * 12 ms. Down has no box. */
        .name = "middlebox", .node_count = 2, .link_count = 1, .send_count = 3,
        .links = {{0, 1, {{{.rate_bps = 1 * MBIT, .queue_limit = 10, .drop_fragments = true}, DIRECTION(1 * MBIT, 0, 10)}, 1500, 0}}},
        .sends = {{.udp = true, .size_bytes = 1776, .number = 1}, {.udp = true, .size_bytes = 1472, .number = 2}, {.from = NET_B, .udp = true, .size_bytes = 1776, .number = 3}},
        .by_hand = true, .expected_count = 2,
        .expected = {{14592 * US, 0, NET_B, 3, 0, 0, 0, 14592 * US, 0}, {26592 * US, 0, NET_A, 2, 0, 0, 14592 * US, 12 * MS, 0}},
        .counters = {{{3, 3324, 2, 0, 1500}, {2, 1824, 0, 0, 1500}}},
    },
    {
        /* Up 10 Mbit/s and 4 ms, down 1 Mbit/s and 6 ms. 125 bytes up: 100 us. Timer 2.5 ms. Reply 250 bytes: 2 ms.
         * The second request, 1 ms after the first, is answered 1 ms after it: its reply waits 1 ms. */
        .name = "request and reply", .node_count = 3, .link_count = 2, .send_count = 1,
        .links = {{0, 2, {BOTH(1 * GBIT, 1 * MS, 10), 1500, 0}},
                  {1, 2, {{DIRECTION(10 * MBIT, 4 * MS, 10), DIRECTION(1 * MBIT, 6 * MS, 10)}, 1500, 0}}},
        .sends = {{.link = 1, .udp = true, .size_bytes = 97, .number = 1, .repeat = 1, .spacing = 1 * MS}},
        .reply_bytes = 222, .reply_after = 2500 * US, .first_until = 5 * MS,
        .by_hand = true, .expected_count = 4,
        .expected = {{4100 * US, 1, NET_A, 1, 0, 0, 0, 100 * US, 4 * MS},
                     {5100 * US, 1, NET_A, 2, 0, 0, 0, 100 * US, 4 * MS},
                     {14600 * US, 1, NET_B, 1, 0, 0, 0, 2 * MS, 6 * MS},
                     {16600 * US, 1, NET_B, 2, 0, 0, 1 * MS, 2 * MS, 6 * MS}},
        .counters = {{{0}, {0}}, {{2, 250, 0, 0, 125}, {2, 500, 0, 0, 250}}},
    },
    {
        /* 125 bytes are 1 ms. The run pauses at 10 ms though nothing happens from 3 ms on; what is sent then leaves at
         * 10 ms. */
        .name = "a pause", .node_count = 2, .link_count = 1, .send_count = 3,
        .links = {{0, 1, {BOTH(1 * MBIT, 2 * MS, 10), 1500, 0}}},
        .sends = {{.udp = true, .size_bytes = 97, .number = 1}, {.at = 50 * MS, .udp = true, .size_bytes = 97, .number = 2}, {.udp = true, .size_bytes = 97, .number = 3}},
        .first_until = 10 * MS, .last_between = true,
        .by_hand = true, .expected_count = 3,
        .expected = {{3 * MS, 0, NET_A, 1, 0, 0, 0, 1 * MS, 2 * MS}, {13 * MS, 0, NET_A, 3, 0, 0, 0, 1 * MS, 2 * MS}, {53 * MS, 0, NET_A, 2, 0, 0, 0, 1 * MS, 2 * MS}},
        .counters = {{{3, 375, 0, 0, 125}, {0}}},
    },
    {
        /* At 1 kbit/s packets of 1500 bytes take 12 s. Four come in 36 s apart, more than the 30 s reassembly waits;
         * three come in 24 s apart. */
        .name = "reassembly timeout", .node_count = 2, .link_count = 1, .send_count = 2,
        .links = {{0, 1, {BOTH(1 * KBIT, 1 * SEC, 10), 1500, 0}}},
        .sends = {{.size_bytes = 5920, .number = 1}, {.at = 10 * SEC, .size_bytes = 4440, .number = 2}},
        .by_hand = true, .expected_count = 1,
        .expected = {{85 * SEC, 0, NET_A, 2, 0, 0, 38 * SEC, 36 * SEC, 1 * SEC}},
        .counters = {{{7, 10500, 0, 0, 1500}}},
    },
    {
        /* The second fragment of two is lost. A packet a minute later finds the reassembly given up, and nothing else. */
        .name = "reassembly of a lost fragment", .node_count = 2, .link_count = 1, .send_count = 2,
        .links = {{0, 1, {{{.rate_bps = 1 * MBIT, .queue_limit = 10, .drop_count = 1, .drop = {2}}, DIRECTION(1 * MBIT, 0, 10)}, 1500, 0}}},
        .sends = {{.udp = true, .size_bytes = 1776, .number = 1}, {.at = 60 * SEC, .udp = true, .size_bytes = 97, .number = 2}},
        .by_hand = true, .expected_count = 1,
        .expected = {{60 * SEC + 1 * MS, 0, NET_A, 2, 0, 0, 0, 1 * MS, 0}},
        .counters = {{{3, 1949, 1, 0, 1500}, {0}}},
    },
    {
        /* Rates and sizes that leave fractions of a nanosecond: 125 * 8e9 / 3e6 = 333333.3 ns. 999 bytes: 2664000. */
        .name = "rounding", .node_count = 2, .link_count = 1, .send_count = 2,
        .links = {{0, 1, {BOTH(3 * MBIT, 0, 10), 1500, 0}}},
        .sends = {{.udp = true, .size_bytes = 97, .number = 1, .repeat = 1}, {.udp = true, .size_bytes = 971, .number = 3}},
        .by_hand = true, .expected_count = 3,
        .expected = {{333333, 0, NET_A, 1, 0, 0, 0, 333333, 0}, {666666, 0, NET_A, 2, 0, 0, 333333, 333333, 0}, {3330666, 0, NET_A, 3, 0, 0, 666666, 2664000, 0}},
        .counters = {{{3, 1249, 0, 0, 999}}},
    },
    {
        .name = "Bernoulli loss", .node_count = 2, .link_count = 1, .send_count = 2,
        .links = {{0, 1, {{{.rate_bps = 100 * MBIT, .delay = 10 * MS, .queue_limit = 50, .loss = {.loss_ppb = 30000000}},
                           {.rate_bps = 20 * MBIT, .delay = 15 * MS, .queue_limit = 50, .loss = {.loss_ppb = 100000000}}}, 1500, 0}}},
        .sends = {{.udp = true, .size_bytes = 1776, .number = 1, .repeat = 1999, .spacing = 170 * US}, {.at = 3, .size_bytes = 2900, .number = 5000, .repeat = 1999, .spacing = 170 * US}},
        .reply_bytes = 3000, .reply_after = 77777,
    },
    {
        .name = "Gilbert-Elliott loss and jitter", .node_count = 3, .link_count = 2, .send_count = 2,
        .links = {{0, 1, {{{.rate_bps = 100 * MBIT, .delay = 10 * MS, .jitter = 3 * MS, .queue_limit = 50, .loss = {true, 0, 20000000, 300000000, 1000000000, 0}},
                           {.rate_bps = 100 * MBIT, .delay = 10 * MS, .jitter = 10 * MS, .queue_limit = 50, .loss = {true, 0, 50000000, 200000000, 700000000, 10000000}}}, 1400, 2}},
                  {2, 1, {BOTH(1 * GBIT, 100 * US, 1), 576, 14}}},
        .sends = {{.udp = true, .size_bytes = 2746, .number = 1, .repeat = 1999, .spacing = 310 * US}, {.link = 1, .at = 1, .udp = true, .size_bytes = 548, .number = 1, .repeat = 999, .spacing = 3 * US}},
        .reply_bytes = 1500, .reply_after = 1 * US,
    },
    {
        /* Middlebox, losses and drop list at once, and a queue that overflows. */
        .name = "everything at once", .node_count = 2, .link_count = 1, .send_count = 3,
        .links = {{0, 1, {{{.rate_bps = 10 * MBIT, .delay = 1 * MS, .jitter = 1 * MS, .queue_unit = NET_QUEUE_BYTES, .queue_limit = 20000, .loss = {.loss_ppb = 50000000}, .drop_count = 3, .drop = {1, 5, 50}},
                           {.rate_bps = 10 * MBIT, .delay = 1 * MS, .queue_limit = 7, .drop_fragments = true, .loss = {true, 0, 100000000, 500000000, 1000000000, 0}}}, 1280, 4}}},
        .sends = {{.udp = true, .size_bytes = 1600, .number = 1, .repeat = 799, .spacing = 1200 * US}, {.from = NET_B, .size_bytes = 1100, .number = 1, .repeat = 799, .spacing = 700 * US}, {.from = NET_B, .size_bytes = 1300, .number = 3000, .repeat = 99, .spacing = 3700 * US}},
        .reply_bytes = 65000, .reply_after = 100 * MS,
    },
};
enum { CONFORMANCE_CASES = sizeof conformance_cases / sizeof *conformance_cases };

/* ---- running a row ---- */

struct conformance_run {
  const struct conformance_case *row;
  struct sim *sim;
  struct net *net;
  struct conformance_result *result;
};

struct conformance_event {
  struct conformance_run *run;
  int link;
  struct net_message message;
  struct trail trail;
  bool reply;
};

static void conformance_fire(struct sim *sim, void *arg)
{
  struct conformance_event *event = arg;

  if (event->reply)
    trail_advance(&event->trail, PART_APPLICATION, sim_now(sim));
  else
    trail_begin(&event->trail, sim_now(sim));
  event->run->net->ops->send(event->run->net, event->link, &event->message, &event->trail);
}

static struct conformance_event *conformance_event(struct conformance_run *run, const struct conformance_event *what)
{
  struct conformance_event *event = sim_alloc(run->sim, sizeof *event);

  *event = *what;
  event->run = run;
  return event;
}

struct conformance_port {
  struct conformance_run *run;
  int link;
  enum net_side at;
};

static void conformance_receive(void *arg, const struct net_message *message, const struct trail *trail)
{
  const struct conformance_port *port = arg;
  struct conformance_run *run = port->run;
  struct conformance_result *result = run->result;

  if (message->from == port->at || trail->at != sim_now(run->sim) || result->count == DELIVERIES_MAX)
    abort();
  /* A reply's trail holds its request's too; message->tag has what to take off. */
  const struct trail *before = message->tag;
  struct trail zero = {0};

  if (!before)
    before = &zero;
  result->deliveries[result->count++] = (struct delivery){
      .at = trail->at, .link = port->link, .from = message->from, .number = message->number, .part = message->part, .attempt = message->attempt,
      .link_queue = trail->parts[PART_LINK_QUEUE] - before->parts[PART_LINK_QUEUE],
      .serialisation = trail->parts[PART_SERIALISATION] - before->parts[PART_SERIALISATION],
      .propagation = trail->parts[PART_PROPAGATION] - before->parts[PART_PROPAGATION],
  };
  if (port->at == NET_B && run->row->reply_bytes > 0) {
    struct conformance_event reply = {.link = port->link, .message = *message, .trail = *trail, .reply = true};
    struct trail *copy = sim_alloc(run->sim, sizeof *copy);

    *copy = *trail;
    reply.message.from = NET_B;
    reply.message.size_bytes = run->row->reply_bytes;
    reply.message.part = 1;
    reply.message.attempt = 2;
    reply.message.tag = copy;
    if (run->row->by_hand)
      reply.message.part = reply.message.attempt = 0;
    event_at(run->sim, trail->at + run->row->reply_after, conformance_fire, conformance_event(run, &reply));
  }
}

static int conformance_order(const void *left, const void *right)
{
  const struct delivery *l = left, *r = right;
  const int64_t differences[] = {l->at - r->at, l->link - r->link, (int64_t)l->from - (int64_t)r->from, (int64_t)l->number - (int64_t)r->number, l->part - r->part};

  for (size_t i = 0; i < sizeof differences / sizeof *differences; i++)
    if (differences[i])
      return differences[i] < 0 ? -1 : 1;
  return 0;
}

static void conformance_build(struct conformance_run *run, struct conformance_port ports[LINKS_MAX][2])
{
  const struct conformance_case *row = run->row;
  struct net *net = run->net;

  for (int i = 0; i < row->node_count; i++)
    assert_int_equal(net->ops->node_add(net), i);
  for (int i = 0; i < row->link_count; i++) {
    assert_int_equal(net->ops->link_add(net, row->links[i].a, row->links[i].b, &row->links[i].config, ENTITY_FIRST + (uint32_t)i), i);
    for (int side = NET_A; side <= NET_B; side++) {
      ports[i][side] = (struct conformance_port){run, i, (enum net_side)side};
      net->ops->on_receive(net, i, (enum net_side)side, conformance_receive, NULL, &ports[i][side]);
    }
  }
}

static struct conformance_event *conformance_sending(struct conformance_run *run, const struct conformance_send *send, int n)
{
  return conformance_event(run, &(struct conformance_event){.link = send->link, .message = {.from = send->from, .udp = send->udp, .size_bytes = send->size_bytes, .number = send->number + (uint32_t)n}});
}

/* Runs one row. net was opened on sim. Deliveries come out sorted by time; those of one moment by link and number. */
static void conformance_play(const struct conformance_case *row, struct sim *sim, struct net *net, uint64_t seed, uint32_t replication, struct conformance_result *result)
{
  struct conformance_run run = {row, sim, net, result};
  struct conformance_port ports[LINKS_MAX][2];
  int armed = row->send_count - row->last_between;
  bool stop = false;

  memset(result, 0, sizeof *result);
  sim_reset(sim);
  net->ops->reset(net, seed, replication);
  conformance_build(&run, ports);
  for (int i = 0; i < armed; i++)
    for (int n = 0; n <= row->sends[i].repeat; n++)
      event_at(sim, row->sends[i].at + n * row->sends[i].spacing, conformance_fire, conformance_sending(&run, &row->sends[i], n));
  if (row->first_until) {
    net->ops->run(net, row->first_until, &stop);
    result->between = sim_now(sim);
    if (row->last_between)
      conformance_fire(sim, conformance_sending(&run, &row->sends[armed], 0));
  }
  net->ops->run(net, SIMTIME_HORIZON, &stop);
  result->end = sim_now(sim);
  for (int i = 0; i < row->link_count; i++)
    for (int side = NET_A; side <= NET_B; side++)
      net->ops->counters(net, i, (enum net_side)side, &result->counters[i][side]);
  qsort(result->deliveries, (size_t)result->count, sizeof *result->deliveries, conformance_order);
}

static void conformance_set(void *arg, const struct net_message *message, const struct trail *trail)
{
  (void)message, (void)trail;
  *(bool *)arg = true;
}

/* Stopping: the run ends with the event that set the flag, though more is to come, and can be taken up again. */
static void conformance_stop(struct sim *sim, struct net *net)
{
  const struct net_link_config config = {BOTH(1 * MBIT, 2 * MS, 10), 1500, 0}; /* 125 bytes are 1 ms */
  struct net_message message = {.from = NET_A, .udp = true, .size_bytes = 97};
  struct net_counters counters;
  struct trail trail;
  bool stop = false;

  sim_reset(sim);
  net->ops->reset(net, 1, 0);
  net->ops->node_add(net);
  net->ops->node_add(net);
  net->ops->link_add(net, 0, 1, &config, 0);
  net->ops->on_receive(net, 0, NET_B, conformance_set, NULL, &stop);
  trail_begin(&trail, 0);
  for (message.number = 0; message.number < 5; message.number++)
    net->ops->send(net, 0, &message, &trail);
  for (int i = 0; i < 5; i++) {
    stop = false;
    net->ops->run(net, SIMTIME_HORIZON, &stop);
    assert_true(stop);
    assert_int_equal(sim_now(sim), (3 + i) * MS);
    net->ops->run(net, SIMTIME_HORIZON, &stop);
    assert_int_equal(sim_now(sim), (3 + i) * MS);
  }
  stop = false;
  net->ops->run(net, SIMTIME_HORIZON, &stop);
  assert_false(stop);
  assert_int_equal(sim_now(sim), 7 * MS);
  net->ops->counters(net, 0, NET_A, &counters);
  assert_int_equal(counters.sent_packets, 5);
}

static void conformance_tick(struct sim *sim, void *arg)
{
  ++*(int *)arg;
  event_at(sim, sim_now(sim) + 10 * MS, conformance_tick, arg);
}

/* A run of a given duration in a network whose models never rest: it ends at `until` though timers and packets are under way, fires what
 * is due at `until` itself and nothing later, and can be taken up again. Ticks at 10, 20, ... ms; packets of 1 ms, in 1.5 s later. */
static void conformance_duration(struct sim *sim, struct net *net)
{
  static const struct net_link_config config = {BOTH(1 * MBIT, 1500 * MS, 10), 1500, 0};
  struct net_message message = {.from = NET_A, .udp = true, .size_bytes = 97};
  struct trail trail;
  bool stop = false, arrived = false;
  int ticks = 0;

  sim_reset(sim);
  net->ops->reset(net, 1, 0);
  net->ops->node_add(net);
  net->ops->node_add(net);
  net->ops->link_add(net, 0, 1, &config, 0);
  net->ops->on_receive(net, 0, NET_B, conformance_set, NULL, &arrived);
  trail_begin(&trail, 0);
  net->ops->send(net, 0, &message, &trail);
  event_at(sim, 10 * MS, conformance_tick, &ticks);
  net->ops->run(net, 1 * SEC, &stop);
  assert_int_equal(sim_now(sim), 1 * SEC);
  assert_int_equal(ticks, 100);
  assert_false(arrived);
  net->ops->run(net, 1500 * MS, &stop);
  assert_int_equal(sim_now(sim), 1500 * MS);
  assert_false(arrived);
  net->ops->run(net, 1501 * MS, &stop);
  assert_int_equal(sim_now(sim), 1501 * MS);
  assert_true(arrived);
  assert_int_equal(ticks, 150);
}

/* ---- comparing ---- */

static void conformance_same(const char *name, const struct conformance_result *expected, const struct conformance_result *found, int link_count)
{
  if (expected->count != found->count)
    fail_msg("%s: %d deliveries, expected %d", name, found->count, expected->count);
  for (int i = 0; i < expected->count; i++) {
    const struct delivery *e = &expected->deliveries[i], *f = &found->deliveries[i];

    if (conformance_order(e, f) || e->attempt != f->attempt || e->link_queue != f->link_queue || e->serialisation != f->serialisation || e->propagation != f->propagation)
      fail_msg("%s, delivery %d: link %d from %d number %u at %lld (%lld + %lld + %lld), expected link %d from %d number %u at %lld (%lld + %lld + %lld)", name, i, f->link,
               (int)f->from, (unsigned)f->number, (long long)f->at, (long long)f->link_queue, (long long)f->serialisation, (long long)f->propagation, e->link, (int)e->from,
               (unsigned)e->number, (long long)e->at, (long long)e->link_queue, (long long)e->serialisation, (long long)e->propagation);
  }
  for (int i = 0; i < link_count; i++)
    for (int side = NET_A; side <= NET_B; side++) {
      const struct net_counters *e = &expected->counters[i][side], *f = &found->counters[i][side];

      if (e->sent_packets != f->sent_packets || e->sent_bytes != f->sent_bytes || e->lost_packets != f->lost_packets || e->queue_drops != f->queue_drops || e->max_packet_bytes != f->max_packet_bytes)
        fail_msg("%s, link %d from %d: sent %lld (%lld bytes), lost %lld, refused %lld, largest %lld; expected %lld (%lld), %lld, %lld, %lld", name, i, side, (long long)f->sent_packets,
                 (long long)f->sent_bytes, (long long)f->lost_packets, (long long)f->queue_drops, (long long)f->max_packet_bytes, (long long)e->sent_packets, (long long)e->sent_bytes,
                 (long long)e->lost_packets, (long long)e->queue_drops, (long long)e->max_packet_bytes);
    }
  assert_int_equal(expected->between, found->between);
  assert_int_equal(expected->end, found->end);
}

static void conformance_by_hand(const struct conformance_case *row, const struct conformance_result *found)
{
  struct conformance_result *expected = calloc(1, sizeof *expected);

  assert_non_null(expected);
  expected->count = row->expected_count;
  memcpy(expected->deliveries, row->expected, (size_t)row->expected_count * sizeof *row->expected);
  memcpy(expected->counters, row->counters, sizeof expected->counters);
  expected->between = row->first_until;
  expected->end = found->end; /* not in the table */
  conformance_same(row->name, expected, found, row->link_count);
  free(expected);
}

#endif
