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
  int *order, place;
};

static void finished(void *arg, const struct trail *trail) {
  struct job *job = arg;
  assert_int_equal(trail->at, sim_now(job->sim));
  job->done = trail->at;
  job->trail = *trail;
  if (job->order) job->place = (*job->order)++;
}

static void arrive(struct sim *sim, void *arg) {
  struct job *job = arg;
  struct trail trail;
  trail_begin(&trail, sim_now(sim));
  cpu_submit(job->cpu, &trail, job->work, finished, job);
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
    jobs[i] = (struct job){.cpu = cpu, .sim = sim, .arrives = arrives[i], .order = &order, .work = {[PART_CRYPTO] = work[i]}};
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
    assert_int_equal(jobs[i].trail.parts[PART_CRYPTO], work[i]);
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
  struct job job = {.sim = sim, .work = {[PART_CRYPTO] = 5, [PART_SOFTWARE] = 2, [PART_APPLICATION] = 3}};
  struct trail trail;
  trail_begin(&trail, 0);
  trail_advance(&trail, PART_PROPAGATION, 100);
  sim_advance(sim, 100);
  cpu_submit(cpu, &trail, job.work, finished, &job);
  drain(sim);
  assert_int_equal(job.done, 110);
  assert_int_equal(job.trail.parts[PART_PROPAGATION], 100);
  assert_int_equal(job.trail.parts[PART_CRYPTO], 5);
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
      cmocka_unit_test(waits_as_m_d_1),
      cmocka_unit_test(waits_as_m_m_k),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
