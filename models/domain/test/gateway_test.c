/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: models/domain/gateway.o models/security/handshake.o models/transport/port.o models/crypto/alg.o models/crypto/alg_own.o models/crypto/cost.o models/crypto/cost_data.o models/crypto/cost_line.o models/crypto/device.o models/crypto/cost_name.o models/crypto/csv.o sim/core/param.o sim/core/param_value.o sim/core/units.o sim/core/err.o sim/core/event.o sim/core/random.o sim/core/cpu.o sim/core/metric.o
#include "models/domain/gateway.h"

#include <math.h>
#include <stdlib.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define MS INT64_C(1000000)
#define S INT64_C(1000000000)

static const struct gateway_config unlimited = {.cores = 1, .threads = 1000000, .half_open_timeout = 30 * S, .background_job = MS};

struct fixture {
  struct sim *sim;
  struct gateway *gateway;
  struct handshake_server server; /* of the gateway, without a session */
  int done;
  simtime last;
  double waited; /* sum, ns */
};

static void open_gateway(struct fixture *f, const struct gateway_config *config, int addresses) {
  static const struct draw_key key = {.seed = 1};
  *f = (struct fixture){.sim = sim_new()};
  f->gateway = gateway_new(f->sim, config, addresses, &key);
  f->server = gateway_server(f->gateway);
}

static void run(struct fixture *f, simtime until) {
  while (event_next_time(f->sim) <= until)
    if (!event_fire_next(f->sim)) return;
  if (until < SIMTIME_HORIZON) sim_advance(f->sim, until);
}

static void job_done(void *arg, const struct trail *trail) {
  struct fixture *f = arg;
  assert_int_equal(trail->at, sim_now(f->sim));
  f->done++;
  f->last = trail->at;
  f->waited += (double)trail->parts[PART_CPU_QUEUE];
}

static void submit(struct fixture *f, simtime core, simtime hsm) {
  struct trail trail;
  int64_t cost[PART_COUNT] = {[PART_SOFTWARE] = core};
  trail_begin(&trail, sim_now(f->sim));
  f->server.work(f->server.arg, &trail, cost, hsm, job_done, f);
}

/* FC-18: N rekeyings of s each, c at a time, are over after ceil(N / c) * s: ceil(100 / 3) * 120 ms = 4.08 s. */
static void worker_threads_limit_what_goes_on_at_once(void **state) {
  (void)state;
  struct fixture f;
  struct gateway_config config = unlimited;
  config.cores = 64;
  config.threads = 3;
  open_gateway(&f, &config, 1);
  for (int i = 0; i < 100; i++) submit(&f, 120 * MS, 0);
  run(&f, SIMTIME_HORIZON);
  assert_int_equal(f.done, 100);
  assert_int_equal(f.last, 4080 * MS);
  struct gateway_counters counters;
  gateway_counters(f.gateway, &counters);
  assert_int_equal(counters.threads_busy_max, 3);
  sim_free(f.sim);
}

/* Two operations at once of 10 ms each in the HSM, 1 ms on the core before: jobs are in the HSM from 1, 2, 11 and 12 ms on.
 * With two threads the third job gets to the core only when the first has left the HSM, at 11 ms: 11 + 1 + 10 = 22 ms, and the
 * fourth at 12 ms: 23 ms. */
static void hsm_is_a_server_of_its_own_and_holds_the_thread(void **state) {
  (void)state;
  struct fixture f;
  struct gateway_config config = unlimited;
  config.hsm = 2;
  open_gateway(&f, &config, 1);
  for (int i = 0; i < 4; i++) submit(&f, MS, 10 * MS);
  run(&f, SIMTIME_HORIZON);
  assert_int_equal(f.last, 22 * MS);
  assert_int_equal(cpu_busy(gateway_cores(f.gateway)), 4 * MS);
  struct gateway_counters counters;
  gateway_counters(f.gateway, &counters);
  assert_int_equal(counters.hsm_busy, 40 * MS);
  sim_free(f.sim);
  config.threads = 2;
  open_gateway(&f, &config, 1);
  for (int i = 0; i < 4; i++) submit(&f, MS, 10 * MS);
  run(&f, SIMTIME_HORIZON);
  assert_int_equal(f.last, 23 * MS);
  sim_free(f.sim);
}

/* Crommelin 1932, mean wait in M/D/c in units of the service time, for load a = c * rho:
 * sum over i >= 1 of e^(-ia) * (sum over j >= ic of (ia)^j / j!  -  (c / a) * sum over j >= ic + 1 of (ia)^j / j!). */
static double mean_wait_md(int c, double rho) {
  double a = c * rho, wait = 0;
  for (int i = 1; i < 2000; i++) {
    double below = 0; /* Poisson(ia) up to ic - 1, and its term at ic */
    double term = exp(-i * a);
    for (int j = 0; j < i * c; j++) {
      below += term;
      term *= i * a / (j + 1);
    }
    double tail = 1 - below, gain = tail - (c / a) * (tail - term);
    wait += gain;
    if (gain < 1e-12) break;
  }
  return wait;
}

static void arrive(struct sim *sim, void *arg) {
  (void)sim;
  submit(arg, MS, 0);
}

static void queue_waits_as_md_c_says(void **state) {
  (void)state;
  /* M/D/1 has rho / (2 (1 - rho)): the series must agree. */
  assert_true(fabs(mean_wait_md(1, 0.7) - 0.7 / 0.6) < 1e-6);
  static const struct {
    int cores;
    double rho;
  } cases[] = {{1, 0.5}, {1, 0.7}, {4, 0.7}, {8, 0.8}};
  enum { JOBS = 400000 };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct fixture f;
    struct gateway_config config = unlimited;
    config.cores = cases[i].cores;
    open_gateway(&f, &config, 1);
    simtime span = (simtime)(JOBS * (double)MS / (cases[i].cores * cases[i].rho));
    for (int n = 0; n < JOBS; n++) {
      struct draw_key key = {.seed = 5, .entity = (uint32_t)n, .purpose = DRAW_START};
      event_at(f.sim, random_under(&key, span + 1), arrive, &f);
    }
    run(&f, SIMTIME_HORIZON);
    double wait = f.waited / JOBS / (double)MS, expected = mean_wait_md(cases[i].cores, cases[i].rho);
    if (fabs(wait / expected - 1) > 0.03) fail_msg("%d cores, load %g: waited %g, M/D/c has %g", cases[i].cores, cases[i].rho, wait, expected);
    sim_free(f.sim);
  }
}

/* ---- Half-open sessions ---------------------------------------------------------------------------------------- */

static struct gateway_session *ask(struct fixture *f, int address, bool cookie, enum handshake_verdict expected) {
  struct gateway_session *session = gateway_session_new(f->gateway, address, NULL);
  struct handshake_server server = gateway_session_server(session);
  assert_int_equal(server.admit(server.arg, true, cookie), expected);
  return session;
}

static void half_open_sessions_are_limited_per_address_and_in_all(void **state) {
  (void)state;
  struct fixture f;
  struct gateway_config config = unlimited;
  config.half_open_per_address = 2;
  config.half_open_total = 3;
  open_gateway(&f, &config, 2);
  struct gateway_session *first = ask(&f, 0, false, HANDSHAKE_ADMIT);
  ask(&f, 0, false, HANDSHAKE_ADMIT);
  ask(&f, 0, false, HANDSHAKE_DROP);
  ask(&f, 1, false, HANDSHAKE_ADMIT);
  ask(&f, 1, false, HANDSHAKE_DROP); /* the fourth in all */
  gateway_session_authenticated(first);
  ask(&f, 1, false, HANDSHAKE_ADMIT);
  struct gateway_counters counters;
  gateway_counters(f.gateway, &counters);
  assert_int_equal(counters.refused[GATEWAY_PER_ADDRESS], 1);
  assert_int_equal(counters.refused[GATEWAY_TOTAL], 1);
  assert_int_equal(counters.half_open_max, 3);
  assert_int_equal(counters.half_open_per_address_max, 2);
  /* What is not authenticated after 30 s is deleted. */
  run(&f, 30 * S);
  gateway_counters(f.gateway, &counters);
  assert_int_equal(counters.half_open, 0);
  assert_int_equal(counters.expired, 3);
  ask(&f, 0, false, HANDSHAKE_ADMIT);
  sim_free(f.sim);
}

static void cookies_are_asked_for_from_the_threshold_on(void **state) {
  (void)state;
  struct fixture f;
  struct gateway_config config = unlimited;
  config.cookie_threshold = 2;
  config.half_open_total = 3;
  open_gateway(&f, &config, 1);
  ask(&f, 0, false, HANDSHAKE_ADMIT);
  ask(&f, 0, false, HANDSHAKE_ADMIT);
  ask(&f, 0, false, HANDSHAKE_CHALLENGE);
  ask(&f, 0, true, HANDSHAKE_ADMIT);
  ask(&f, 0, false, HANDSHAKE_CHALLENGE); /* the cookie is asked for before limits are looked at */
  ask(&f, 0, true, HANDSHAKE_DROP);
  struct gateway_counters counters;
  gateway_counters(f.gateway, &counters);
  assert_int_equal(counters.cookies, 2);
  sim_free(f.sim);
}

/* 10 sessions a second, two may wait: of five at once the first is worked on at 0, the next two at 100 and 200 ms. */
static void admission_spaces_sessions_and_bounds_the_wait(void **state) {
  (void)state;
  struct fixture f;
  struct gateway_config config = unlimited;
  config.admission_interval = 100 * MS;
  config.admission_queue = 2;
  open_gateway(&f, &config, 1);
  for (int i = 0; i < 5; i++) {
    struct gateway_session *session = ask(&f, 0, false, i < 3 ? HANDSHAKE_ADMIT : HANDSHAKE_DROP);
    struct handshake_server server = gateway_session_server(session);
    struct trail trail;
    int64_t cost[PART_COUNT] = {[PART_KEX] = MS};
    trail_begin(&trail, 0);
    if (i < 3) server.work(server.arg, &trail, cost, 0, job_done, &f);
  }
  run(&f, SIMTIME_HORIZON);
  assert_int_equal(f.done, 3);
  assert_int_equal(f.last, 201 * MS);
  sim_free(f.sim);
  config.admission_queue = 100;
  config.admission_wait = 150 * MS;
  open_gateway(&f, &config, 1);
  ask(&f, 0, false, HANDSHAKE_ADMIT);
  ask(&f, 0, false, HANDSHAKE_ADMIT);
  ask(&f, 0, false, HANDSHAKE_DROP);
  struct gateway_counters counters;
  gateway_counters(f.gateway, &counters);
  assert_int_equal(counters.refused[GATEWAY_ADMISSION_WAIT], 1);
  sim_free(f.sim);
}

static void nothing_is_answered_while_the_gateway_is_down(void **state) {
  (void)state;
  struct fixture f;
  struct gateway_config config = unlimited;
  config.down_until = S;
  open_gateway(&f, &config, 1);
  ask(&f, 0, false, HANDSHAKE_DROP);
  run(&f, S);
  ask(&f, 0, false, HANDSHAKE_ADMIT);
  sim_free(f.sim);
}

/* 30 % of two cores over 100 s of 1 ms jobs: 60,000 of them; gaps uniform over [0, 2m] have a variation of 1/sqrt(3), so the
 * count's standard deviation is sqrt(60,000 / 3) = 141, 0.24 %. */
static void background_takes_its_share(void **state) {
  (void)state;
  struct fixture f;
  struct gateway_config config = unlimited;
  config.cores = 2;
  config.background_ppb = 300000000;
  open_gateway(&f, &config, 1);
  run(&f, 100 * S);
  double share = (double)cpu_busy(gateway_cores(f.gateway)) / (2 * 100 * (double)S);
  assert_true(fabs(share - 0.3) < 0.3 * 4 * 0.0024);
  gateway_stop_background(f.gateway);
  run(&f, SIMTIME_HORIZON);
  assert_int_equal(event_pending(f.sim), 0);
  sim_free(f.sim);
}

/* strongswan.conf: block_threshold 5, init_limit_half_open 0, half_open_timeout 30, cookie_threshold 30, threads 16. */
static void defaults_are_strongswans(void **state) {
  (void)state;
  static const struct param_table *const tables[] = {&gateway_params};
  struct config *config = config_new(tables, 1);
  struct gateway_config out;
  struct err e = {0};
  assert_int_equal(gateway_configure(config, &out, &e), 0);
  assert_int_equal(out.half_open_per_address, 5);
  assert_int_equal(out.half_open_total, 0);
  assert_int_equal(out.half_open_timeout, 30 * S);
  assert_int_equal(out.cookie_threshold, 30);
  assert_int_equal(out.threads, 16);
  assert_int_equal(config_set(config, "gateway.admission_wait", "1s", &e), 0);
  assert_int_equal(gateway_configure(config, &out, &e), ERR_INPUT); /* nothing waits without a rate */
  err_free(&e);
  config_free(config);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(defaults_are_strongswans),
      cmocka_unit_test(worker_threads_limit_what_goes_on_at_once),
      cmocka_unit_test(hsm_is_a_server_of_its_own_and_holds_the_thread),
      cmocka_unit_test(queue_waits_as_md_c_says),
      cmocka_unit_test(half_open_sessions_are_limited_per_address_and_in_all),
      cmocka_unit_test(cookies_are_asked_for_from_the_threshold_on),
      cmocka_unit_test(admission_spaces_sessions_and_bounds_the_wait),
      cmocka_unit_test(nothing_is_answered_while_the_gateway_is_down),
      cmocka_unit_test(background_takes_its_share),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
