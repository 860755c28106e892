/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: sim/core/cpu.o sim/core/event.o sim/core/metric.o sim/core/err.o sim/core/random.o
#include "sim/core/cpu.h"
#include "sim/core/random.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

struct job {
  struct cpu *cpu;
  struct sim *sim;
  simtime arrives, done;
  int64_t work[PART_COUNT];
  struct trail trail;
  bool urgent;
  int64_t busy; /* of the processor, when the job was done */
  int *order, place;
};

static void finished(void *arg, const struct trail *trail) {
  struct job *job = arg;
  assert_int_equal(trail->at, sim_now(job->sim));
  job->done = trail->at;
  job->trail = *trail;
  if (job->cpu) job->busy = cpu_busy(job->cpu);
  if (job->order) job->place = (*job->order)++;
}

static void arrive(struct sim *sim, void *arg) {
  struct job *job = arg;
  struct trail trail;
  trail_begin(&trail, sim_now(sim));
  (job->urgent ? cpu_submit_urgent : cpu_submit)(job->cpu, &trail, job->work, finished, job);
}

static void drain(struct sim *sim) {
  while (event_fire_next(sim)) {}
}

/* Two servers; jobs of 10, 4, 5, 1 ns at 0, 0, 1, 2. By hand: A 0-10 and B 0-4 start; C waits 1 to 4, ends 9;
 * D waits 2 to 9, ends 10, after A, which was armed before it. Busy 10 + 4 + 5 + 1 = 20 of 2 * 10. */
static void two_servers_by_hand(void **state) {
  (void)state;
  struct sim *sim = sim_new();
  struct cpu *cpu = cpu_new(sim, 2);
  int order = 0;
  const simtime arrives[4] = {0, 0, 1, 2};
  const int64_t work[4] = {10, 4, 5, 1};
  struct job jobs[4];
  for (int i = 0; i < 4; i++) {
    jobs[i] = (struct job){.cpu = cpu, .sim = sim, .arrives = arrives[i], .order = &order, .work = {[PART_KEX] = work[i]}};
    event_at(sim, arrives[i], arrive, &jobs[i]);
  }
  while (event_next_time(sim) <= 3) event_fire_next(sim);
  sim_advance(sim, 3);
  assert_int_equal(cpu_waiting(cpu), 2);
  assert_int_equal(cpu_busy(cpu), 6); /* running jobs count up to now */
  drain(sim);
  const simtime done[4] = {10, 4, 9, 10};
  const int64_t waits[4] = {0, 0, 3, 7};
  const int place[4] = {2, 0, 1, 3};
  for (int i = 0; i < 4; i++) {
    assert_int_equal(jobs[i].done, done[i]);
    assert_int_equal(jobs[i].trail.parts[PART_CPU_QUEUE], waits[i]);
    assert_int_equal(jobs[i].trail.parts[PART_KEX], work[i]);
    assert_int_equal(jobs[i].place, place[i]);
  }
  assert_int_equal(cpu_busy(cpu), 20);
  assert_int_equal(cpu_servers(cpu), 2);
  assert_int_equal(cpu_waiting(cpu), 0);
  assert_int_equal(cpu_waiting_max(cpu), 2);
  sim_advance(sim, 1000);
  assert_int_equal(cpu_busy(cpu), 20); /* idle time is not busy */
  sim_free(sim);
}

static void several_causes_and_an_earlier_trail(void **state) {
  (void)state;
  struct sim *sim = sim_new();
  struct cpu *cpu = cpu_new(sim, 1);
  struct job job = {.sim = sim, .work = {[PART_KEX] = 5, [PART_SOFTWARE] = 2, [PART_APPLICATION] = 3}};
  struct trail trail;
  trail_begin(&trail, 0);
  trail_advance(&trail, PART_PROPAGATION, 100);
  sim_advance(sim, 100);
  cpu_submit(cpu, &trail, job.work, finished, &job);
  drain(sim);
  assert_int_equal(job.done, 110);
  assert_int_equal(job.trail.parts[PART_PROPAGATION], 100);
  assert_int_equal(job.trail.parts[PART_KEX], 5);
  assert_int_equal(job.trail.parts[PART_SOFTWARE], 2);
  assert_int_equal(job.trail.parts[PART_APPLICATION], 3);
  assert_int_equal(job.trail.parts[PART_CPU_QUEUE], 0);
  sim_free(sim);
}

struct again {
  struct job job;
  struct job *follow_up;
};
static void submit_more(void *arg, const struct trail *trail) {
  struct again *again = arg;
  finished(&again->job, trail);
  cpu_submit(again->job.cpu, trail, again->follow_up->work, finished, again->follow_up);
}

/* A job that a finished one submits comes behind those that waited before: first 0-5, second 5-10, follow-up 10-11. */
static void follow_ups_queue_behind(void **state) {
  (void)state;
  struct sim *sim = sim_new();
  struct cpu *cpu = cpu_new(sim, 1);
  struct job second = {.cpu = cpu, .sim = sim, .work = {[PART_SOFTWARE] = 5}}, follow_up = {.cpu = cpu, .sim = sim, .work = {[PART_SOFTWARE] = 1}};
  struct again first = {{.cpu = cpu, .sim = sim, .work = {[PART_SOFTWARE] = 5}}, &follow_up};
  struct trail trail;
  trail_begin(&trail, 0);
  cpu_submit(cpu, &trail, first.job.work, submit_more, &first);
  cpu_submit(cpu, &trail, second.work, finished, &second);
  drain(sim);
  assert_int_equal(first.job.done, 5);
  assert_int_equal(second.done, 10);
  assert_int_equal(follow_up.done, 11);
  assert_int_equal(follow_up.trail.parts[PART_CPU_QUEUE], 5);
  assert_int_equal(follow_up.trail.parts[PART_SOFTWARE], 6);
  sim_free(sim);
}

/* Work of no duration still waits its turn, and ends in an event of its own. */
static void empty_work(void **state) {
  (void)state;
  struct sim *sim = sim_new();
  struct cpu *cpu = cpu_new(sim, 1);
  struct job job = {.sim = sim, .done = -1};
  struct trail trail;
  trail_begin(&trail, 0);
  cpu_submit(cpu, &trail, job.work, finished, &job);
  assert_int_equal(job.done, -1);
  drain(sim);
  assert_int_equal(job.done, 0);
  sim_free(sim);
}

/* ---- urgent work ---- */

struct line {
  const char *name;
  simtime arrives;
  int64_t work;
  bool urgent;
  simtime done;
  int64_t waits;
  int place;
};

/* Runs to `pause`, checks what is waiting and busy there, and plays to the end. */
static void play(int servers, const struct line *lines, int count, simtime pause, size_t waiting, int64_t busy_then, int64_t busy) {
  enum { MOST = 8 };
  struct sim *sim = sim_new();
  struct cpu *cpu = cpu_new(sim, servers);
  struct job jobs[MOST];
  int order = 0;
  assert_true(count <= MOST);
  for (int i = 0; i < count; i++) {
    const struct line *line = &lines[i];
    jobs[i] = (struct job){.cpu = cpu, .sim = sim, .urgent = line->urgent, .order = &order, .work = {[PART_SOFTWARE] = line->work}};
    event_at(sim, line->arrives, arrive, &jobs[i]);
  }
  while (event_next_time(sim) <= pause) event_fire_next(sim);
  sim_advance(sim, pause);
  assert_int_equal(cpu_waiting(cpu), waiting);
  assert_int_equal(cpu_busy(cpu), busy_then);
  drain(sim);
  for (int i = 0; i < count; i++) {
    const struct line *line = &lines[i];
    if (jobs[i].done != line->done || jobs[i].trail.parts[PART_CPU_QUEUE] != line->waits || jobs[i].place != line->place)
      fail_msg("%s: done at %lld in place %d, waited %lld", line->name, (long long)jobs[i].done, jobs[i].place, (long long)jobs[i].trail.parts[PART_CPU_QUEUE]);
    assert_int_equal(jobs[i].trail.parts[PART_SOFTWARE], line->work);
  }
  assert_int_equal(cpu_busy(cpu), busy);
  assert_int_equal(cpu_waiting_max(cpu), waiting);
  sim_free(sim);
}

/* N runs 0-4, then gives way: U1 4-7, U2, which came at 5, 7-9. N runs 9-10, gives way once more: U3 10-11. N ends its last 5 ns
 * at 16: interrupted for 5 + 1. W, there since 2, comes only then, 16-17. At 8 W alone waits to be started, and 8 ns are worked. */
static void urgent_on_one_server(void **state) {
  (void)state;
  static const struct line lines[] = {
      {"N", 0, 10, false, 16, 6, 3},
      {"W", 2, 1, false, 17, 14, 4},
      {"U1", 4, 3, true, 7, 0, 0},
      {"U2", 5, 2, true, 9, 2, 1},
      {"U3", 10, 1, true, 11, 0, 2},
  };
  play(1, lines, 5, 8, 1, 8, 17);
}

/* A 0-4 and B 1-3 run when U1 takes the place of B, which started last, and U2 that of A. U3 finds urgent work alone and waits for
 * the first end: 6-7. At 7 both servers fall free, first U1's: B, interrupted first, has 8 ns left and ends at 15; A has 6 and ends at
 * 13. Then C, 13-15, behind B, whose end was armed at 7. Busy: one server all of 0-15, the other from 1: 29. At 5: 5 + 4. */
static void urgent_on_two_servers(void **state) {
  (void)state;
  static const struct line lines[] = {
      {"A", 0, 10, false, 13, 3, 3},
      {"B", 1, 10, false, 15, 4, 4},
      {"U1", 3, 4, true, 7, 0, 1},
      {"U2", 4, 2, true, 6, 0, 0},
      {"C", 5, 2, false, 15, 8, 5},
      {"U3", 5, 1, true, 7, 1, 2},
  };
  play(2, lines, 6, 5, 1, 9, 29);
}

/* While a server is free nobody is interrupted. */
static void urgent_takes_a_free_server(void **state) {
  (void)state;
  static const struct line lines[] = {{"A", 0, 10, false, 10, 0, 1}, {"U", 4, 3, true, 7, 0, 0}};
  play(2, lines, 2, 5, 0, 6, 13);
}

static void submit_more_urgent(void *arg, const struct trail *trail) {
  struct again *again = arg;
  finished(&again->job, trail);
  cpu_submit_urgent(again->job.cpu, trail, again->follow_up->work, finished, again->follow_up);
}

/* Urgent work that urgent work hands in when it is done: the normal job, taken up at that moment, goes on where it was. N 0-2,
 * U 2-5, the follow-up 5-6, N 6-9. */
static void urgent_follow_up(void **state) {
  (void)state;
  struct sim *sim = sim_new();
  struct cpu *cpu = cpu_new(sim, 1);
  struct job normal = {.cpu = cpu, .sim = sim, .work = {[PART_KEX] = 5}}, follow_up = {.cpu = cpu, .sim = sim, .work = {[PART_SOFTWARE] = 1}};
  struct again urgent = {{.cpu = cpu, .sim = sim, .work = {[PART_SOFTWARE] = 3}}, &follow_up};
  struct trail trail;
  event_at(sim, 0, arrive, &normal);
  event_fire_next(sim);
  sim_advance(sim, 2);
  trail_begin(&trail, 2);
  cpu_submit_urgent(cpu, &trail, urgent.job.work, submit_more_urgent, &urgent);
  drain(sim);
  assert_int_equal(urgent.job.done, 5);
  assert_int_equal(follow_up.done, 6);
  assert_int_equal(follow_up.trail.parts[PART_CPU_QUEUE], 0);
  assert_int_equal(normal.done, 9);
  assert_int_equal(normal.trail.parts[PART_CPU_QUEUE], 4);
  assert_int_equal(cpu_busy(cpu), 9);
  sim_free(sim);
}

/* The causes and what was there before the job stay as they are when it is interrupted, twice here; the parts sum to the time since
 * the trail began. N arrives at 100 with 100 ns of propagation behind it and 10 ns to do: 100-103, U1 103-107, N 107-109,
 * U2 109-110, N 110-115. The work is told at the end, so it does not matter in which of its parts it was interrupted. */
static void an_interruption_is_queueing_alone(void **state) {
  (void)state;
  struct sim *sim = sim_new();
  struct cpu *cpu = cpu_new(sim, 1);
  struct job normal = {.cpu = cpu, .sim = sim, .work = {[PART_KEX] = 5, [PART_SOFTWARE] = 2, [PART_APPLICATION] = 3}};
  struct job urgent[] = {{.cpu = cpu, .sim = sim, .urgent = true, .work = {[PART_SOFTWARE] = 3, [PART_KEX] = 1}},
      {.cpu = cpu, .sim = sim, .urgent = true, .work = {[PART_SOFTWARE] = 1}}};
  struct trail trail;
  trail_begin(&trail, 0);
  trail_advance(&trail, PART_PROPAGATION, 100);
  sim_advance(sim, 100);
  cpu_submit(cpu, &trail, normal.work, finished, &normal);
  event_at(sim, 103, arrive, &urgent[0]);
  event_at(sim, 109, arrive, &urgent[1]);
  drain(sim);
  static const int64_t parts[PART_COUNT] = {[PART_PROPAGATION] = 100, [PART_KEX] = 5, [PART_SOFTWARE] = 2, [PART_APPLICATION] = 3, [PART_CPU_QUEUE] = 5};
  int64_t sum = 0;
  for (int part = 0; part < PART_COUNT; part++) {
    assert_int_equal(normal.trail.parts[part], parts[part]);
    sum += normal.trail.parts[part];
  }
  assert_int_equal(normal.done, 115);
  assert_int_equal(sum, 115);
  assert_int_equal(urgent[0].done, 107);
  assert_int_equal(urgent[0].trail.parts[PART_CPU_QUEUE], 0);
  assert_int_equal(urgent[1].done, 110);
  assert_int_equal(cpu_busy(cpu), 15);
  sim_free(sim);
}

/* One interrupted at the very moment of its end, before that fires, has nothing left: it is done when the urgent one is. At a time
 * the order of arming decides, and the urgent arrival was armed first. */
static void interrupted_at_its_end(void **state) {
  (void)state;
  static const struct line lines[] = {{"U", 4, 3, true, 7, 0, 0}, {"N", 0, 4, false, 7, 3, 1}};
  play(1, lines, 2, 3, 0, 3, 7);
}

/* The same by brute force, one nanosecond after the other. */
enum { RANDOM_JOBS = 60, RANDOM_ROUNDS = 2000, TASK_TIME_MAX = 20 };

struct task {
  simtime arrives, done;
  int64_t left, busy;
  bool urgent;
  int started, place; /* how manieth */
  bool running, interrupted, over;
  int interruption;
};

struct naive {
  struct task *tasks;
  int servers, starts, ends, interruptions;
  int64_t busy;
};

static int running(const struct naive *n) {
  int count = 0;
  for (int i = 0; i < RANDOM_JOBS; i++) count += n->tasks[i].running;
  return count;
}

static void naive_run(struct naive *n, struct task *task) {
  task->running = true;
  task->interrupted = false;
  task->started = n->starts++;
}

/* The waiting one that comes next, NULL when there is none: by class, then by arrival, which is their order in the array, or, of
 * interrupted ones, by interruption. */
static struct task *naive_next(const struct naive *n, simtime now) {
  struct task *best = NULL;
  int best_class = 3;
  for (int i = 0; i < RANDOM_JOBS; i++) {
    struct task *task = &n->tasks[i];
    if (task->running || task->over || task->arrives > now || task->started == -2) continue;
    int class = task->urgent ? 0 : task->interrupted ? 1 : 2;
    if (class < best_class || (class == best_class && class == 1 && task->interruption < best->interruption)) {
      best = task;
      best_class = class;
    }
  }
  return best;
}

static void naive_arrive(struct naive *n, struct task *task) {
  struct task *victim = NULL;
  task->started = -1;
  if (running(n) < n->servers) {
    naive_run(n, task);
    return;
  }
  if (!task->urgent) return;
  for (int i = 0; i < RANDOM_JOBS; i++) {
    struct task *other = &n->tasks[i];
    if (other->running && !other->urgent && (!victim || other->started > victim->started)) victim = other;
  }
  if (!victim) return;
  victim->running = false;
  victim->interrupted = true;
  victim->interruption = n->interruptions++;
  naive_run(n, task);
}

/* Ends, one after the other in the order their owners started, what has nothing left to do. */
static void naive_ends(struct naive *n, simtime now) {
  for (;;) {
    struct task *first = NULL;
    for (int i = 0; i < RANDOM_JOBS; i++) {
      struct task *task = &n->tasks[i];
      if (task->running && task->left == 0 && (!first || task->started < first->started)) first = task;
    }
    if (!first) return;
    first->running = false;
    first->over = true;
    first->done = now;
    first->place = n->ends++;
    first->busy = n->busy;
    struct task *next = naive_next(n, now);
    if (next) naive_run(n, next);
  }
}

/* tasks come sorted by arrival. */
static void naive_play(struct naive *n) {
  for (int i = 0; i < RANDOM_JOBS; i++) n->tasks[i].started = -2; /* not here yet */
  for (simtime now = 0; n->ends < RANDOM_JOBS; now++) {
    for (int i = 0; i < RANDOM_JOBS; i++)
      if (n->tasks[i].arrives == now) naive_arrive(n, &n->tasks[i]);
    naive_ends(n, now);
    n->busy += running(n);
    for (int i = 0; i < RANDOM_JOBS; i++) n->tasks[i].left -= n->tasks[i].running;
  }
}

static int64_t chance(uint32_t round, int task, enum draw_purpose purpose, int64_t below) {
  struct draw_key key = {.seed = 11, .entity = round, .message = (uint32_t)task, .purpose = purpose};
  return random_under(&key, below);
}

static void urgent_as_by_brute_force(void **state) {
  (void)state;
  struct sim *sim = sim_new();
  int interruptions = 0;
  for (uint32_t round = 0; round < RANDOM_ROUNDS; round++) {
    struct task tasks[RANDOM_JOBS];
    struct job jobs[RANDOM_JOBS];
    struct naive naive = {.tasks = tasks, .servers = 1 + (int)(round % 4)};
    int order = 0;
    sim_reset(sim);
    struct cpu *cpu = cpu_new(sim, naive.servers);
    simtime at = 0;
    for (int i = 0; i < RANDOM_JOBS; i++) {
      at += chance(round, i, DRAW_START, 1 + TASK_TIME_MAX / naive.servers);
      tasks[i] = (struct task){.arrives = at, .left = chance(round, i, DRAW_COST_RESPONDER, TASK_TIME_MAX), .urgent = chance(round, i, DRAW_LOSS, 3) == 0};
      jobs[i] = (struct job){.cpu = cpu, .sim = sim, .urgent = tasks[i].urgent, .order = &order, .work = {[PART_KEX] = tasks[i].left}};
      event_at(sim, at, arrive, &jobs[i]);
    }
    drain(sim);
    naive_play(&naive);
    interruptions += naive.interruptions;
    for (int i = 0; i < RANDOM_JOBS; i++) {
      int64_t worked = jobs[i].work[PART_KEX];
      assert_int_equal(jobs[i].done, tasks[i].done);
      assert_int_equal(jobs[i].place, tasks[i].place);
      assert_int_equal(jobs[i].busy, tasks[i].busy);
      assert_int_equal(jobs[i].trail.parts[PART_KEX], worked);
      assert_int_equal(jobs[i].trail.parts[PART_CPU_QUEUE], tasks[i].done - tasks[i].arrives - worked);
    }
    assert_int_equal(cpu_busy(cpu), naive.busy);
  }
  assert_true(interruptions > 5 * RANDOM_ROUNDS); /* or the comparison says little */
  sim_free(sim);
}

/* ---- against queueing theory ---- */

enum { CUSTOMERS = 400000, SERVICE = 1000000 };

struct load {
  struct sim *sim;
  struct cpu *cpu;
  double rate; /* arrivals per mean service time */
  bool exponential_service;
  uint32_t arrived;
  int64_t waited, completed;
};

/* Exponential with mean 1, by inversion of a keyed uniform. */
static double exponential(uint32_t number, enum draw_purpose purpose) {
  struct draw_key key = {.seed = 3, .entity = 1, .message = number, .purpose = purpose};
  return -log(((double)(random_draw(&key) >> 11) + 0.5) / 9007199254740992.0);
}

static void served(void *arg, const struct trail *trail) {
  struct load *load = arg;
  load->waited += trail->parts[PART_CPU_QUEUE];
  load->completed++;
}

static void customer(struct sim *sim, void *arg) {
  struct load *load = arg;
  double service = load->exponential_service ? exponential(load->arrived, DRAW_COST_RESPONDER) : 1;
  int64_t work[PART_COUNT] = {[PART_APPLICATION] = (int64_t)(SERVICE * service + 0.5)};
  struct trail trail;
  trail_begin(&trail, sim_now(sim));
  cpu_submit(load->cpu, &trail, work, served, load);
  if (++load->arrived < CUSTOMERS) event_at(sim, sim_now(sim) + (simtime)(SERVICE * exponential(load->arrived, DRAW_START) / load->rate), customer, load);
}

/* Mean wait in service times; checks the utilisation rate/servers on the way. The keys are fixed: no flicker. */
static double mean_wait(int servers, double rate, bool exponential_service) {
  struct sim *sim = sim_new();
  struct load load = {.sim = sim, .cpu = cpu_new(sim, servers), .rate = rate, .exponential_service = exponential_service};
  event_at(sim, 0, customer, &load);
  drain(sim);
  assert_int_equal(load.completed, CUSTOMERS);
  double utilisation = (double)cpu_busy(load.cpu) / ((double)servers * (double)sim_now(sim));
  /* relative standard error of a mean of 400000 exponentials 0.16 %, of two 0.22 %; three of those */
  assert_true(fabs(utilisation / (rate / servers) - 1) < 0.0067);
  sim_free(sim);
  return (double)load.waited / CUSTOMERS / SERVICE;
}

/* Pollaczek-Khinchine: wait = rho / (2 (1 - rho)) service times: 0.5 at 0.5, 2 at 0.8. */
static void waits_as_m_d_1(void **state) {
  (void)state;
  assert_true(fabs(mean_wait(1, 0.5, false) / 0.5 - 1) < 0.02);
  assert_true(fabs(mean_wait(1, 0.8, false) / 2.0 - 1) < 0.03);
}

/* Erlang C for 3 servers and 2.4 erlang: 2.4^3/3! / (1 - 0.8) = 11.52; 1 + 2.4 + 2.88 = 6.28; C = 11.52 / 17.8 = 0.6471910;
 * wait = C / (3 - 2.4) = 1.0786517 service times. One server at 0.5: wait = rho / (1 - rho) = 1. */
static void waits_as_m_m_k(void **state) {
  (void)state;
  assert_true(fabs(mean_wait(3, 2.4, true) / 1.0786517 - 1) < 0.03);
  assert_true(fabs(mean_wait(1, 0.5, true) / 1.0 - 1) < 0.02);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_servers_by_hand),
      cmocka_unit_test(several_causes_and_an_earlier_trail),
      cmocka_unit_test(follow_ups_queue_behind),
      cmocka_unit_test(empty_work),
      cmocka_unit_test(urgent_on_one_server),
      cmocka_unit_test(urgent_on_two_servers),
      cmocka_unit_test(urgent_takes_a_free_server),
      cmocka_unit_test(urgent_follow_up),
      cmocka_unit_test(an_interruption_is_queueing_alone),
      cmocka_unit_test(interrupted_at_its_end),
      cmocka_unit_test(urgent_as_by_brute_force),
      cmocka_unit_test(waits_as_m_d_1),
      cmocka_unit_test(waits_as_m_m_k),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
