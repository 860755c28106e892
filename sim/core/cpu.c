/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/core/cpu.h"
#include <assert.h>
#include <string.h>

struct job {
  struct cpu *cpu;
  struct job *next; /* in the queue, or among the spare ones */
  struct trail trail;
  int64_t work[PART_COUNT];
  cpu_done_fn *done;
  void *arg;
};

struct cpu {
  struct sim *sim;
  int servers, running;
  int64_t busy; /* server-nanoseconds up to `since`, when running last changed */
  simtime since;
  struct job *first, *last; /* waiting */
  size_t waiting, waiting_max;
  struct job *spare; /* the arena takes nothing back */
};

static const bool burns_cpu[PART_COUNT] = {[PART_CRYPTO] = true, [PART_SOFTWARE] = true, [PART_APPLICATION] = true};

struct cpu *cpu_new(struct sim *sim, int servers) {
  assert(servers > 0);
  struct cpu *cpu = sim_alloc(sim, sizeof *cpu);
  cpu->sim = sim;
  cpu->servers = servers;
  cpu->since = sim_now(sim);
  return cpu;
}

static void change_running(struct cpu *cpu, int by) {
  cpu->busy = cpu_busy(cpu);
  cpu->since = sim_now(cpu->sim);
  cpu->running += by;
}

static void finish(struct sim *sim, void *arg);

static void start(struct cpu *cpu, struct job *job) {
  change_running(cpu, 1);
  trail_advance(&job->trail, PART_CPU_QUEUE, sim_now(cpu->sim));
  for (int part = 0; part < PART_COUNT; part++) {
    job->trail.parts[part] += job->work[part];
    job->trail.at += job->work[part];
  }
  event_at(cpu->sim, job->trail.at, finish, job);
}

/* The next job starts before `done` is called: what `done` submits comes after those that waited already. */
static void finish(struct sim *sim, void *arg) {
  (void)sim;
  struct job *job = arg;
  struct cpu *cpu = job->cpu;
  change_running(cpu, -1);
  struct job *next = cpu->first;
  if (next) {
    cpu->first = next->next;
    cpu->waiting--;
    start(cpu, next);
  }
  job->done(job->arg, &job->trail);
  job->next = cpu->spare;
  cpu->spare = job;
}

void cpu_submit(struct cpu *cpu, const struct trail *trail, const int64_t work[PART_COUNT], cpu_done_fn *done, void *arg) {
  assert(trail->at == sim_now(cpu->sim));
  for (int part = 0; part < PART_COUNT; part++) assert(work[part] == 0 || (burns_cpu[part] && work[part] > 0));
  struct job *job = cpu->spare;
  if (job)
    cpu->spare = job->next;
  else
    job = sim_alloc(cpu->sim, sizeof *job);
  job->cpu = cpu;
  job->next = NULL;
  job->trail = *trail;
  memcpy(job->work, work, sizeof job->work);
  job->done = done;
  job->arg = arg;
  if (cpu->running < cpu->servers) {
    start(cpu, job);
    return;
  }
  if (cpu->first)
    cpu->last->next = job;
  else
    cpu->first = job;
  cpu->last = job;
  if (++cpu->waiting > cpu->waiting_max) cpu->waiting_max = cpu->waiting;
}

int64_t cpu_busy(const struct cpu *cpu) { return cpu->busy + cpu->running * (sim_now(cpu->sim) - cpu->since); }
int cpu_servers(const struct cpu *cpu) { return cpu->servers; }
size_t cpu_waiting(const struct cpu *cpu) { return cpu->waiting; }
size_t cpu_waiting_max(const struct cpu *cpu) { return cpu->waiting_max; }
