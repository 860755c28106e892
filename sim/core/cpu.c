/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/core/cpu.h"
#include <assert.h>
#include <string.h>

struct job {
  struct cpu *cpu;
  struct job *next, *previous; /* in a queue (next alone), or among the running normal ones */
  struct trail trail;          /* of a running job: as it will be at its end */
  int64_t work[PART_COUNT];
  cpu_done_fn *done;
  void *arg;
  struct event end;
  simtime interrupted;
  bool urgent;
};

struct queue {
  struct job *first, *last;
};

struct cpu {
  struct sim *sim;
  int servers, running;
  int64_t busy; /* server-nanoseconds up to `since`, when running last changed */
  simtime since;
  struct job *normal;                   /* running, the one started last first */
  struct queue urgent, halted, waiting; /* a server that falls free takes from them in this order */
  size_t waiting_count, waiting_max;
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

static void append(struct queue *queue, struct job *job) {
  job->next = NULL;
  if (queue->first)
    queue->last->next = job;
  else
    queue->first = job;
  queue->last = job;
}

static struct job *take(struct queue *queue) {
  struct job *job = queue->first;
  if (job) queue->first = job->next;
  return job;
}

static void change_running(struct cpu *cpu, int by) {
  cpu->busy = cpu_busy(cpu);
  cpu->since = sim_now(cpu->sim);
  cpu->running += by;
}

static void link_normal(struct cpu *cpu, struct job *job) {
  job->previous = NULL;
  job->next = cpu->normal;
  if (cpu->normal) cpu->normal->previous = job;
  cpu->normal = job;
}

static void unlink_normal(struct cpu *cpu, struct job *job) {
  if (job->next) job->next->previous = job->previous;
  if (job->previous)
    job->previous->next = job->next;
  else
    cpu->normal = job->next;
}

static void finish(struct sim *sim, void *arg);

/* On a server that the caller has counted. */
static void start(struct cpu *cpu, struct job *job) {
  trail_advance(&job->trail, PART_CPU_QUEUE, sim_now(cpu->sim));
  for (int part = 0; part < PART_COUNT; part++) {
    job->trail.parts[part] += job->work[part];
    job->trail.at += job->work[part];
  }
  if (!job->urgent) link_normal(cpu, job);
  job->end = event_at(cpu->sim, job->trail.at, finish, job);
}

/* The job that started last makes room. */
static void interrupt(struct cpu *cpu) {
  struct job *job = cpu->normal;
  unlink_normal(cpu, job);
  event_cancel(cpu->sim, job->end);
  job->interrupted = sim_now(cpu->sim);
  append(&cpu->halted, job);
}

static void resume(struct cpu *cpu, struct job *job) {
  simtime pause = sim_now(cpu->sim) - job->interrupted;
  job->trail.parts[PART_CPU_QUEUE] += pause;
  job->trail.at += pause;
  link_normal(cpu, job);
  job->end = event_at(cpu->sim, job->trail.at, finish, job);
}

/* Gives a server that has fallen free to whoever is next. */
static void pass_on(struct cpu *cpu) {
  struct job *job;
  if ((job = take(&cpu->urgent))) {
    start(cpu, job);
  } else if ((job = take(&cpu->halted))) {
    resume(cpu, job);
  } else if ((job = take(&cpu->waiting))) {
    cpu->waiting_count--;
    start(cpu, job);
  } else {
    change_running(cpu, -1);
  }
}

/* The next job starts before `done` is called: what `done` submits comes after those that waited already. */
static void finish(struct sim *sim, void *arg) {
  struct job *job = arg;
  struct cpu *cpu = job->cpu;
  if (!job->urgent) unlink_normal(cpu, job);
  pass_on(cpu);
  job->done(job->arg, &job->trail);
  sim_release(sim, job, sizeof *job);
}

static struct job *new_job(struct cpu *cpu, const struct trail *trail, const int64_t work[PART_COUNT], cpu_done_fn *done, void *arg) {
  assert(trail->at == sim_now(cpu->sim));
  for (int part = 0; part < PART_COUNT; part++) assert(work[part] == 0 || (burns_cpu[part] && work[part] > 0));
  struct job *job = sim_alloc(cpu->sim, sizeof *job);
  job->cpu = cpu;
  job->trail = *trail;
  memcpy(job->work, work, sizeof job->work);
  job->done = done;
  job->arg = arg;
  return job;
}

/* True when a server was free and has taken the job. */
static bool start_if_free(struct cpu *cpu, struct job *job) {
  if (cpu->running == cpu->servers) return false;
  change_running(cpu, 1);
  start(cpu, job);
  return true;
}

void cpu_submit(struct cpu *cpu, const struct trail *trail, const int64_t work[PART_COUNT], cpu_done_fn *done, void *arg) {
  struct job *job = new_job(cpu, trail, work, done, arg);
  if (start_if_free(cpu, job)) return;
  append(&cpu->waiting, job);
  if (++cpu->waiting_count > cpu->waiting_max) cpu->waiting_max = cpu->waiting_count;
}

void cpu_submit_urgent(struct cpu *cpu, const struct trail *trail, const int64_t work[PART_COUNT], cpu_done_fn *done, void *arg) {
  struct job *job = new_job(cpu, trail, work, done, arg);
  job->urgent = true;
  if (start_if_free(cpu, job)) return;
  if (!cpu->normal) {
    append(&cpu->urgent, job);
    return;
  }
  interrupt(cpu);
  start(cpu, job);
}

int64_t cpu_busy(const struct cpu *cpu) { return cpu->busy + cpu->running * (sim_now(cpu->sim) - cpu->since); }
int cpu_servers(const struct cpu *cpu) { return cpu->servers; }
size_t cpu_waiting(const struct cpu *cpu) { return cpu->waiting_count; }
size_t cpu_waiting_max(const struct cpu *cpu) { return cpu->waiting_max; }
