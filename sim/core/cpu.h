/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpu: a processor with k servers and one FIFO queue; also a thread pool or an HSM.
 *
 * Purpose:    charges jobs their time, queues them when all servers are busy, knows its utilisation.
 * Units:      ns.
 * Order:      jobs start in the order they were submitted, urgent ones before all others. An urgent job that finds no server free
 *             interrupts the normal job that was started or taken up again last; interrupted jobs go on, in the order they were
 *             interrupted, before waiting ones start.
 * Ownership:  everything lives in the run's arena.
 */
#ifndef PQNETSIM_CPU_H
#define PQNETSIM_CPU_H

#include "sim/core/event.h"
#include "sim/core/metric.h"

struct cpu;

typedef void cpu_done_fn(void *arg, const struct trail *trail);

struct cpu *cpu_new(struct sim *sim, int servers);

/* Does `work` (ns per cause; only causes that burn CPU: crypto, software, application) on the next free server.
 * When it is done, calls done with the job's trail: `trail` advanced by the wait as cpu_queue, then by each part of
 * the work in the order of enum part. trail->at must be now. */
void cpu_submit(struct cpu *cpu, const struct trail *trail, const int64_t work[PART_COUNT], cpu_done_fn *done, void *arg);

/* The same for work that comes before all other, as a kernel's packet handling does before a daemon's: it waits for other urgent
 * work alone, and on a busy server interrupts the job there, which goes on afterwards and counts the interruption as cpu_queue. */
void cpu_submit_urgent(struct cpu *cpu, const struct trail *trail, const int64_t work[PART_COUNT], cpu_done_fn *done, void *arg);

/* Busy server-nanoseconds so far, running jobs counted up to now. Utilisation = busy / (servers * elapsed). */
int64_t cpu_busy(const struct cpu *cpu);
int cpu_servers(const struct cpu *cpu);
/* Normal jobs waiting that have not started yet, and the most there ever were. */
size_t cpu_waiting(const struct cpu *cpu);
size_t cpu_waiting_max(const struct cpu *cpu);

#endif
