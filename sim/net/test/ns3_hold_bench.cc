/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ns3_hold_bench: the hold model on ns-3's default scheduler, with the delays sim/core/test/event_bench.c uses.
 *
 * usage: ns3_hold_bench [N]...   without N: 10, 1000 and 100000 pending events. Prints "ns3 hold N=<n> <million holds a
 *        second>", the median of five measurements after a warm-up, as event_bench does.
 */
#include "ns3/simulator.h"

#include "sim/core/test/hold.h"
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

const int64_t HOLDS = 2000000;
const int MEASUREMENTS = 5;

uint64_t state = HOLD_SEED;
int64_t left;

void Hold() {
  ns3::Simulator::Schedule(ns3::NanoSeconds(hold_delay(&state)), &Hold);
  if (--left == 0) ns3::Simulator::Stop();
}

double MillionPerSecond(int64_t holds) {
  auto start = std::chrono::steady_clock::now();

  left = holds;
  ns3::Simulator::Run();
  std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;

  return (double)holds / elapsed.count() / 1e6;
}

double Measure(int64_t pending) {
  std::vector<double> rates;

  state = HOLD_SEED;
  for (int64_t i = 0; i < pending; i++) ns3::Simulator::Schedule(ns3::NanoSeconds(hold_delay(&state)), &Hold);
  MillionPerSecond(3 * pending);
  for (int i = 0; i < MEASUREMENTS; i++) rates.push_back(MillionPerSecond(HOLDS));
  ns3::Simulator::Destroy();
  std::sort(rates.begin(), rates.end());
  return rates[MEASUREMENTS / 2];
}

} // namespace

int main(int argc, char **argv) {
  std::vector<int64_t> sizes = {10, 1000, 100000};

  if (argc > 1) sizes.clear();
  for (int i = 1; i < argc; i++) {
    sizes.push_back(std::atoll(argv[i]));
    if (sizes.back() < 1) {
      std::fprintf(stderr, "usage: ns3_hold_bench [N]...\n");
      return 2;
    }
  }
  for (int64_t size : sizes) std::printf("ns3 hold N=%lld %.1f\n", (long long)size, Measure(size));
  return 0;
}
