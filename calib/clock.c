/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calib/clock.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { PAIRS = 10000, LOOKS = 16 };
#define RATE_WINDOW_NS 100e6

static uint64_t time_of(clockid_t id) {
  struct timespec now;
  clock_gettime(id, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

#ifdef __x86_64__
static uint64_t counter_before(void) {
  uint32_t low, high;
  __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high)::"memory");
  return (uint64_t)high << 32 | low;
}

static uint64_t counter_after(void) {
  uint32_t low, high, core;
  __asm__ volatile("rdtscp\n\tlfence" : "=a"(low), "=d"(high), "=c"(core)::"memory");
  return (uint64_t)high << 32 | low;
}

static uint32_t cpuid_edx(uint32_t leaf) {
  uint32_t a = leaf, b, c = 0, d;
  __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  return d;
}

/* One rate in all power states (CPUID 80000007H EDX bit 8), and rdtscp (80000001H EDX bit 27). */
static bool counter_is_steady(void) {
  uint32_t a = 0x80000000, b, c = 0, d;
  __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  return a >= 0x80000007 && cpuid_edx(0x80000001) >> 27 & 1 && cpuid_edx(0x80000007) >> 8 & 1;
}
#else
static uint64_t counter_before(void) { return time_of(CLOCK_MONOTONIC_RAW); }
static uint64_t counter_after(void) { return time_of(CLOCK_MONOTONIC_RAW); }
static bool counter_is_steady(void) { return false; }
#endif

uint64_t clock_before(const struct clock *clock) { return clock->counter ? counter_before() : time_of(CLOCK_MONOTONIC_RAW); }

uint64_t clock_after(const struct clock *clock) { return clock->counter ? counter_after() : time_of(CLOCK_MONOTONIC_RAW); }

double clock_elapsed_ns(const struct clock *clock, uint64_t before, uint64_t after) {
  if (after < before) return -(double)(before - after) * clock->ns_per_tick;
  double ns = (double)(after - before) * clock->ns_per_tick - clock->overhead_ns;
  return ns > 0 ? ns : 0;
}

struct clock_look clock_look(const struct clock *clock) {
  struct clock_look look = {0, 0};
  double narrowest = 1e18;
  /* The own clock read between two readings of the witness; the pair nearest together was not interrupted. */
  for (int i = 0; i < LOOKS; i++) {
    clockid_t witness = clock->counter ? CLOCK_MONOTONIC_RAW : CLOCK_MONOTONIC;
    double from = (double)time_of(witness);
    double own = (double)clock_before(clock) * clock->ns_per_tick;
    double gap = (double)time_of(witness) - from;
    if (gap < 0 || gap >= narrowest) continue;
    narrowest = gap;
    look = (struct clock_look){own, from + gap / 2};
  }
  return look;
}

bool clock_deviates(const struct clock_look *from, const struct clock_look *to) {
  double own = to->own_ns - from->own_ns, witness = to->witness_ns - from->witness_ns;
  double apart = own > witness ? own - witness : witness - own;
  return own < 0 || witness < 0 || apart > CLOCK_STEP_BOUND_NS + CLOCK_RATE_BOUND * witness;
}

static void find_rate(struct clock *clock) {
  clock->ns_per_tick = 1;
  struct clock_look from = clock_look(clock), to;
  do to = clock_look(clock);
  while (to.witness_ns - from.witness_ns < RATE_WINDOW_NS);
  clock->ns_per_tick = (to.witness_ns - from.witness_ns) / (to.own_ns - from.own_ns);
}

static void find_overhead(struct clock *clock) {
  clock->overhead_ns = 0;
  double least = 1e18;
  for (int i = 0; i < PAIRS; i++) {
    uint64_t before = clock_before(clock), after = clock_after(clock);
    double ns = clock_elapsed_ns(clock, before, after);
    if (ns >= 0 && ns < least) least = ns;
  }
  clock->overhead_ns = least;
}

void clock_open_plain(struct clock *clock) {
  *clock = (struct clock){.counter = false, .ns_per_tick = 1};
  find_overhead(clock);
}

void clock_open(struct clock *clock) {
  if (!counter_is_steady()) {
    clock_open_plain(clock);
    return;
  }
  *clock = (struct clock){.counter = true};
  find_rate(clock);
  find_overhead(clock);
}

void clock_describe(const struct clock *clock, char text[64]) {
  if (clock->counter)
    snprintf(text, 64, "TSC at %.3f GHz", 1 / clock->ns_per_tick);
  else
    snprintf(text, 64, "CLOCK_MONOTONIC_RAW");
}

/* "0-3, 6". */
static void list_cores(const cpu_set_t *set, char *text, size_t size) {
  size_t used = 0;
  text[0] = '\0';
  for (int core = 0; core < CPU_SETSIZE && used + 16 < size; core++) {
    int last = core;
    if (!CPU_ISSET(core, set)) continue;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, set)) last++;
    used += (size_t)snprintf(text + used, size - used, last > core ? "%s%d-%d" : "%s%d", used ? ", " : "", core, last);
    core = last;
  }
}

int clock_pin(int core, bool *refused, char text[CLOCK_TEXT]) {
  cpu_set_t allowed, one;
  char cores[128] = "unknown";
  *refused = false;
  if (!sched_getaffinity(0, sizeof allowed, &allowed)) {
    list_cores(&allowed, cores, sizeof cores);
    *refused = core >= 0 && (core >= CPU_SETSIZE || !CPU_ISSET(core, &allowed));
  }
  if (*refused) {
    snprintf(text, CLOCK_TEXT, "found %d, allowed the cores this process may use: %s", core, cores);
    return -1;
  }
  int wanted = core >= 0 ? core : sched_getcpu();
  if (wanted >= 0 && wanted < CPU_SETSIZE) {
    CPU_ZERO(&one);
    CPU_SET(wanted, &one);
    if (!sched_setaffinity(0, sizeof one, &one)) return wanted;
  }
  snprintf(text, CLOCK_TEXT, "core %d: %s", wanted, strerror(errno));
  return -1;
}
