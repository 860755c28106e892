/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/core/cpu.h"
#include <assert.h>

/* The causes that burn CPU. */
static const enum part burning[] = {PART_KEX, PART_SIGN, PART_CERT_VERIFY, PART_SYMMETRIC, PART_SOFTWARE, PART_APPLICATION};
enum { BURNING = sizeof burning / sizeof *burning };

struct job {
  struct cpu *cpu;
  struct job *next, *previous; /* in a queue (next alone), or among the running normal ones */
  struct trail trail;          /* of a running job: as it will be at its end */
  int64_t work[BURNING];
  cpu_done_fn *done;
  void *arg;
  struct event end;
  simtime interrupted;
  bool urgent;
};

/* What a server that falls free takes next, in this order. */
enum queue { URGENT, INTERRUPTED, WAITING, QUEUES };

struct cpu {
  struct sim *sim;
  int servers, running;
  int64_t busy; /* server-nanoseconds up to `since`, when running last changed */
  simtime since;
  struct job *normal;       /* running, the one started or taken up last first */
  struct job *last[QUEUES]; /* rings: the last one's next is the first */
  uint32_t waiting, waiting_max;
};

struct cpu *cpu_new(struct sim *sim, int servers) {
  assert(servers > 0);
  struct cpu *cpu = sim_alloc(sim, sizeof *cpu);
  cpu->sim = sim;
  cpu->servers = servers;
  cpu->since = sim_now(sim);
  return cpu;
}

static void append(struct cpu *cpu, enum queue queue, struct job *job) {
  struct job *last = cpu->last[queue];
  job->next = last ? last->next : job;
  if (last) last->next = job;
  cpu->last[queue] = job;
}

/* NULL when there is none. */
static struct job *take(struct cpu *cpu, enum queue queue) {
  struct job *last = cpu->last[queue];
  if (!last) return NULL;
  struct job *first = last->next;
  last->next = first->next;
  if (first == last) cpu->last[queue] = NULL;
  return first;
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

static void run(struct cpu *cpu, struct job *job) {
  if (!job->urgent) link_normal(cpu, job);
  job->end = event_at(cpu->sim, job->trail.at, finish, job);
}

/* On a server that the caller has counted. job->trail.at is now. */
static void start(struct cpu *cpu, struct job *job) {
  for (int i = 0; i < BURNING; i++) {
    job->trail.parts[burning[i]] += job->work[i];
    job->trail.at += job->work[i];
  }
  run(cpu, job);
}

static void start_waited(struct cpu *cpu, struct job *job) {
  trail_advance(&job->trail, PART_CPU_QUEUE, sim_now(cpu->sim));
  start(cpu, job);
}

/* The normal job that was started or taken up last makes room. */
static void interrupt(struct cpu *cpu) {
  struct job *job = cpu->normal;
  unlink_normal(cpu, job);
  event_cancel(cpu->sim, job->end);
  job->interrupted = sim_now(cpu->sim);
  append(cpu, INTERRUPTED, job);
}

static void resume(struct cpu *cpu, struct job *job) {
  simtime pause = sim_now(cpu->sim) - job->interrupted;
  job->trail.parts[PART_CPU_QUEUE] += pause;
  job->trail.at += pause;
  run(cpu, job);
}

/* Gives a server that has fallen free to whoever is next. */
static void pass_on(struct cpu *cpu) {
  struct job *job;
  if ((job = take(cpu, URGENT))) {
    start_waited(cpu, job);
  } else if ((job = take(cpu, INTERRUPTED))) {
    resume(cpu, job);
  } else if ((job = take(cpu, WAITING))) {
    cpu->waiting--;
    start_waited(cpu, job);
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

static struct job *new_job(struct cpu *cpu, bool urgent, const struct trail *trail, const int64_t work[PART_COUNT], cpu_done_fn *done, void *arg) {
  assert(trail->at == sim_now(cpu->sim));
  struct job *job = sim_take(cpu->sim, sizeof *job);
  job->urgent = urgent;
  job->cpu = cpu;
  job->trail = *trail;
  int64_t signs = 0, other = 0;
  for (int part = 0; part < PART_COUNT; part++) {
    signs |= work[part];
    other += work[part];
  }
  for (int i = 0; i < BURNING; i++) {
    job->work[i] = work[burning[i]];
    other -= work[burning[i]];
  }
  assert(signs >= 0 && other == 0);
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
  struct job *job = new_job(cpu, false, trail, work, done, arg);
  if (start_if_free(cpu, job)) return;
  append(cpu, WAITING, job);
  if (++cpu->waiting > cpu->waiting_max) cpu->waiting_max = cpu->waiting;
}

void cpu_submit_urgent(struct cpu *cpu, const struct trail *trail, const int64_t work[PART_COUNT], cpu_done_fn *done, void *arg) {
  struct job *job = new_job(cpu, true, trail, work, done, arg);
  if (start_if_free(cpu, job)) return;
  if (!cpu->normal) {
    append(cpu, URGENT, job);
    return;
  }
  interrupt(cpu);
  start(cpu, job);
}

int64_t cpu_busy(const struct cpu *cpu) { return cpu->busy + cpu->running * (sim_now(cpu->sim) - cpu->since); }
int cpu_servers(const struct cpu *cpu) { return cpu->servers; }
size_t cpu_waiting(const struct cpu *cpu) { return cpu->waiting; }
size_t cpu_waiting_max(const struct cpu *cpu) { return cpu->waiting_max; }
