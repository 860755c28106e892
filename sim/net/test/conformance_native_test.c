/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: sim/net/net_native.o sim/net/net_rules.o sim/net/net_path.o sim/core/event.o sim/core/metric.o sim/core/random.o sim/core/param.o sim/core/param_value.o sim/core/units.o sim/core/err.o
#include "sim/net/test/conformance.h"

static struct conformance_result result;

/* Twice over: what the first round left behind must not show. */
static void native_gives_what_the_table_says(void **state) {
  struct sim *sim = sim_new();
  struct net *net = net_native.open(sim);

  (void)state;
  for (int round = 0; round < 2; round++)
    for (int i = 0; i < CONFORMANCE_CASES; i++)
      if (conformance_cases[i].by_hand) {
        conformance_play(&conformance_cases[i], sim, net, 1, (uint32_t)round, &result);
        conformance_by_hand(&conformance_cases[i], &result);
      }
  conformance_stop(sim, net);
  conformance_duration(sim, net);
  net_native.close(net);
  sim_free(sim);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(native_gives_what_the_table_says)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
