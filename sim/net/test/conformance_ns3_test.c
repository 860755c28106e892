/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: sim/net/net_ns3.o sim/net/ns3_stream.o sim/net/net_native.o sim/net/net_rules.o sim/net/net_path.o sim/core/event.o sim/core/metric.o sim/core/random.o sim/core/param.o sim/core/param_value.o sim/core/units.o sim/core/err.o
#include "sim/net/test/conformance.h"
#include <limits.h>
#include <unistd.h>

static struct conformance_result native_result, ns3_result;

struct backends {
  struct sim *native_sim, *ns3_sim;
  struct net *native, *ns3;
};

static int open_both(void **state) {
  static struct backends both;

  both.native_sim = sim_new();
  both.ns3_sim = sim_new();
  both.native = net_native.open(both.native_sim);
  both.ns3 = net_ns3.open(both.ns3_sim);
  *state = &both;
  return 0;
}

static int close_both(void **state) {
  struct backends *both = *state;

  net_native.close(both->native);
  net_ns3.close(both->ns3);
  sim_free(both->native_sim);
  sim_free(both->ns3_sim);
  return 0;
}

static void ns3_gives_what_the_table_says(void **state) {
  struct backends *both = *state;

  for (int i = 0; i < CONFORMANCE_CASES; i++)
    if (conformance_cases[i].by_hand) {
      conformance_play(&conformance_cases[i], both->ns3_sim, both->ns3, 1, 0, &ns3_result);
      conformance_by_hand(&conformance_cases[i], &ns3_result);
    }
}

static void ns3_stops(void **state) {
  struct backends *both = *state;

  conformance_stop(both->ns3_sim, both->ns3);
}

static void ns3_runs_for_a_duration(void **state) {
  struct backends *both = *state;

  conformance_duration(both->ns3_sim, both->ns3);
}

/* The same packets lost, the same times to the nanosecond, chance and jitter included. */
static void ns3_equals_native(void **state) {
  struct backends *both = *state;

  for (uint32_t replication = 0; replication < 3; replication++)
    for (int i = 0; i < CONFORMANCE_CASES; i++) {
      const struct conformance_case *row = &conformance_cases[i];

      conformance_play(row, both->native_sim, both->native, 42, replication, &native_result);
      conformance_play(row, both->ns3_sim, both->ns3, 42, replication, &ns3_result);
      assert_true(row->by_hand || native_result.count > 100);
      conformance_same(row->name, &native_result, &ns3_result, row->link_count);
    }
}

/* Sizes around every fragment boundary of several MTUs, among them those where ns-3 would make a packet more. */
static void every_size_near_a_boundary(void **state) {
  static const int mtus[] = {68, 576, 1280, 1400, 1403, 1500, 9000, 65535};
  struct backends *both = *state;

  for (size_t i = 0; i < sizeof mtus / sizeof *mtus; i++)
    for (int64_t fragments = 1; fragments <= 3; fragments++)
      for (int64_t size = fragments * (mtus[i] - 20) - 30; size <= fragments * (mtus[i] - 20) + 10; size++) {
        struct conformance_case row = {
            .name = "boundary",
            .node_count = 2,
            .link_count = 1,
            .send_count = 2,
            .links = {{0, 1, {BOTH(10 * MBIT, 1 * MS, 1000), mtus[i], 0}}},
            .sends = {{.udp = true, .size_bytes = size, .number = 1}, {.from = NET_B, .size_bytes = size, .number = 1}},
        };

        if (size < 1 || size > 65507) continue;
        conformance_play(&row, both->native_sim, both->native, 1, 0, &native_result);
        conformance_play(&row, both->ns3_sim, both->ns3, 1, 0, &ns3_result);
        assert_int_equal(native_result.count, 2);
        conformance_same(row.name, &native_result, &ns3_result, 1);
      }
}

/* AddressSanitizer keeps freed memory for a while, and looks for leaks itself. */
#ifdef __SANITIZE_ADDRESS__
static const long growth_max = LONG_MAX;
#else
static const long growth_max = 1024 * 1024;
#endif

static long resident_bytes(void) {
  long total, resident;
  FILE *file = fopen("/proc/self/statm", "r");

  assert_non_null(file);
  assert_int_equal(fscanf(file, "%ld %ld", &total, &resident), 2);
  fclose(file);
  return resident * sysconf(_SC_PAGESIZE);
}

/* A world per run is torn down completely: 2,000 runs, many with lost fragments, may not grow the process by 1 MB. */
static void many_runs_do_not_grow(void **state) {
  struct backends *both = *state;
  const struct conformance_case row = {
      .name = "many runs",
      .node_count = 2,
      .link_count = 1,
      .send_count = 1,
      .links = {{0, 1,
          {{{.rate_bps = 10 * MBIT, .delay = 1 * MS, .queue_limit = 100, .loss = {.loss_ppb = 200000000}}, DIRECTION(10 * MBIT, 1 * MS, 100)}, 1500, 0}}},
      .sends = {{.udp = true, .size_bytes = 4000, .number = 1, .repeat = 5, .spacing = 100 * US}},
      .reply_bytes = 500,
      .reply_after = 1 * MS,
  };
  long before = 0;

  for (uint32_t run = 0; run < 2200; run++) {
    if (run == 200) before = resident_bytes();
    conformance_play(&row, both->ns3_sim, both->ns3, 1, run, &ns3_result);
  }
  assert_true(resident_bytes() - before < growth_max);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ns3_gives_what_the_table_says),
      cmocka_unit_test(ns3_stops),
      cmocka_unit_test(ns3_runs_for_a_duration),
      cmocka_unit_test(ns3_equals_native),
      cmocka_unit_test(every_size_near_a_boundary),
      cmocka_unit_test(many_runs_do_not_grow),
  };

  return cmocka_run_group_tests(tests, open_both, close_both);
}
