/* SPDX-License-Identifier: GPL-2.0-or-later */
/* event: the clock and the event queue of one run.
 *
 * Purpose:    models arm callbacks at a time; nothing else knows how events are ordered.
 * Units:      simtime is int64 nanoseconds since the start of the run.
 * Order:      by (time, arming order). Events armed for the same time fire in the order they were armed.
 * Invariants: the clock never goes back (asserted, in release builds too); an event never lies in the past.
 * Ownership:  sim_new/sim_free; sim_alloc memory lives until sim_release, sim_reset or sim_free.
 * Cost:       16-byte keys (time, sequence and pool slot) in a 4-ary heap with a pool of callbacks; arm and fire
 *             O(log n), cancel O(1) (the key stays in the heap and is skipped when it surfaces).
 *             No malloc in the event path once pool and arena have grown.
 * Limits:     2^40 events in a run, 2^24 in the queue at once, cancelled ones not yet skipped included (asserted).
 */
#ifndef PQNETSIM_EVENT_H
#define PQNETSIM_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int64_t simtime;
#define SIMTIME_NEVER INT64_MAX
/* The longest run: about 31 years. Sums of a few such times cannot overflow. */
#define SIMTIME_HORIZON (INT64_C(1000000000) * 1000000000)

struct sim;

typedef void event_fn(struct sim *sim, void *arg);

/* A handle; stale handles (fired or cancelled events) are recognised. {0,0} is never a live event. */
struct event {
  uint32_t slot;
  uint32_t generation;
};

struct sim *sim_new(void);
void sim_free(struct sim *sim);

/* Back to time 0 with no events and an empty arena; keeps the memory. */
void sim_reset(struct sim *sim);

simtime sim_now(const struct sim *sim);

/* Moves the clock without firing anything; for a backend that has its own scheduler. at must lie between
 * now and the earliest event. */
void sim_advance(struct sim *sim, simtime at);

/* Zeroed memory from the run's arena, aligned for any type. Aborts when memory is out. */
void *sim_alloc(struct sim *sim, size_t size);

/* The same with whatever was in it: the caller fills it. */
void *sim_take(struct sim *sim, size_t size);

/* Gives back what sim_alloc or sim_take returned for `size`, for later calls of about that size. */
void sim_release(struct sim *sim, void *memory, size_t size);

/* Bytes of the arena that the run has touched so far, given back or not. */
size_t sim_memory(const struct sim *sim);

struct event event_at(struct sim *sim, simtime at, event_fn *fn, void *arg);

/* True if the event was still to fire and now will not. */
bool event_cancel(struct sim *sim, struct event event);

/* The time of the earliest live event, SIMTIME_NEVER if there is none. */
simtime event_next_time(struct sim *sim);

/* Fires the earliest event (advancing the clock). False if there was none. */
bool event_fire_next(struct sim *sim);

/* Live events in the queue. */
size_t event_pending(const struct sim *sim);

#endif
