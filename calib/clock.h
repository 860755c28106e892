/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clock: timestamps around a few instructions, and whether the clock can be believed.
 *
 * Purpose:   the processor's counter (x86-64: lfence rdtsc before, rdtscp lfence after, so that nothing of what is timed slips out)
 *            where it runs at one rate, clock_gettime elsewhere; a second clock as its witness; pinning to a core.
 * Units:     ticks as the counter gives them, converted to ns; CLOCK_MONOTONIC_RAW has ticks of 1 ns.
 * Order:     clock_open, then clock_before and clock_after in turns. clock_look and clock_deviates compare a stretch of time.
 * Invariants: the time an empty pair takes (the least of many) is subtracted, and what is left is not below 0. A counter that
 *            ran backwards gives a negative time.
 * Witness:   for the counter CLOCK_MONOTONIC_RAW, for that one CLOCK_MONOTONIC. Over a stretch they may differ by 0.1 % (NTP slews
 *            CLOCK_MONOTONIC by up to 0.05 %) and 20 us (what an interruption between two readings can leave).
 * Errors:    none; clock_pin says in words what it could not do.
 */
#ifndef PQNETSIM_CLOCK_H
#define PQNETSIM_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define CLOCK_RATE_BOUND 0.001
#define CLOCK_STEP_BOUND_NS 20000.0

struct clock {
  bool counter; /* the processor's */
  double ns_per_tick;
  double overhead_ns; /* of an empty pair */
};

/* Takes 0.1 s: the counter's rate and the overhead are measured. */
void clock_open(struct clock *clock);
/* The same with clock_gettime, whatever the processor has. */
void clock_open_plain(struct clock *clock);
/* "TSC at 2.596 GHz", "CLOCK_MONOTONIC_RAW". */
void clock_describe(const struct clock *clock, char text[64]);

uint64_t clock_before(const struct clock *clock);
uint64_t clock_after(const struct clock *clock);
double clock_elapsed_ns(const struct clock *clock, uint64_t before, uint64_t after);

/* Both clocks at one moment. */
struct clock_look {
  double own_ns, witness_ns;
};
struct clock_look clock_look(const struct clock *clock);
/* A jump, or another rate, between two looks. */
bool clock_deviates(const struct clock_look *from, const struct clock_look *to);

enum { CLOCK_TEXT = 256 };
/* Binds the process to a core; -1: the one it runs on. Returns that core, or -1 with the reason in text; *refused then says
 * that the core was named and the process may not use it. */
int clock_pin(int core, bool *refused, char text[CLOCK_TEXT]);

#endif
