/* SPDX-License-Identifier: GPL-3.0-or-later */
// objects: sim/run/pool.o sim/run/worker.o models/crypto/alg.o models/crypto/alg_own.o sim/run/run.o sim/run/roster.o sim/run/test/fake_domain.o sim/core/err.o sim/core/event.o
// objects: sim/core/metric.o sim/core/param.o sim/core/param_value.o sim/core/units.o
#include "sim/run/pool.h"
#include "sim/run/test/fake_domain.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct net_ops fake_ns3;

enum { POINTS_MAX = 64 };

/* Points 0..count-1 with fake.value = point; one of them misbehaves. */
struct study {
  int count, next;
  int odd_point, odd_value; /* -1: none; value -1: its own */
  enum fake_mode odd_mode, mode;
  int stop_after, signal_after; /* results; 0: never */
  int taken[POINTS_MAX], results, ticks;
  int64_t value[POINTS_MAX];
  char failure[POINTS_MAX][200];
  char warnings[200];
};

static bool next(void *arg, struct worker_job *job) {
  struct study *s = arg;
  if (s->next == s->count) return false;
  int i = s->next++;
  bool odd = i == s->odd_point;
  *job = (struct worker_job){.point = i, .roster = &fake_roster, .base_dir = ".", .seed = 0, .first = 0, .count = 1};
  job->config = fake_config(odd && s->odd_value >= 0 ? s->odd_value : i, odd ? s->odd_mode : s->mode);
  return true;
}

static int take(void *arg, const struct pool_result *result) {
  struct study *s = arg;
  assert_in_range(result->point, 0, s->count - 1);
  s->taken[result->point]++;
  s->results++;
  if (result->failure) {
    assert_null(result->metrics);
    snprintf(s->failure[result->point], sizeof s->failure[0], "%s", result->failure);
  } else {
    struct metric_summary summary;
    metric_summarise(result->metrics, 0, &summary);
    assert_int_equal(summary.n, 1);
    s->value[result->point] = summary.p50;
  }
  if (s->results == s->signal_after) raise(SIGINT);
  return s->stop_after && s->results >= s->stop_after;
}

static void tick(void *arg) { ((struct study *)arg)->ticks++; }

static enum pool_status run_pool(struct study *s, int workers) {
  struct pool_source source = {next, take, tick, s};
  enum pool_status status = POOL_STOPPED;
  struct err e = {0};
  assert_int_equal(pool_run("native", ".", workers, &source, &status, &e), 0);
  assert_int_equal(e.count, 0);
  /* no child is left behind */
  assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
  assert_int_equal(errno, ECHILD);
  return status;
}

static void every_point_comes_once(void **state) {
  (void)state;
  static const int workers[] = {1, 2, 5, 100};
  for (size_t w = 0; w < sizeof workers / sizeof *workers; w++) {
    struct study s = {.count = 50, .odd_point = -1};
    assert_int_equal(run_pool(&s, workers[w]), POOL_DONE);
    for (int i = 0; i < s.count; i++) {
      assert_int_equal(s.taken[i], 1);
      assert_int_equal(s.value[i], i * 1000);
      assert_string_equal(s.failure[i], "");
    }
  }
}

/* One of 20 points goes wrong: it alone fails, with the reason, and the 19 others are right. */
static void one_fails(int workers, enum fake_mode mode, int value, const char *says) {
  struct study s = {.count = 20, .odd_point = 7, .odd_mode = mode, .odd_value = value};
  assert_int_equal(run_pool(&s, workers), POOL_DONE);
  for (int i = 0; i < s.count; i++) {
    assert_int_equal(s.taken[i], 1);
    if (i == s.odd_point) {
      assert_non_null(strstr(s.failure[i], says));
    } else {
      assert_string_equal(s.failure[i], "");
      assert_int_equal(s.value[i], i * 1000);
    }
  }
}

static void a_killed_worker_fails_its_point_alone(void **state) {
  (void)state;
  one_fails(1, FAKE_KILLED, -1, "killed by signal 9 (Killed)");
  one_fails(3, FAKE_KILLED, -1, "killed by signal 9 (Killed)");
}

static void a_worker_that_exits_fails_its_point_alone(void **state) {
  (void)state;
  one_fails(2, FAKE_EXIT, -1, "ended with status 3");
}

static void a_babbling_worker_fails_its_point_alone(void **state) {
  (void)state;
  one_fails(2, FAKE_BABBLE, -1, "not an answer");
}

static void a_refused_point_fails_alone(void **state) {
  (void)state;
  one_fails(2, FAKE_OK, 666, "fake.value: found 666, allowed anything else");
}

static void every_point_may_fail(void **state) {
  (void)state;
  struct study s = {.count = 10, .odd_point = -1, .mode = FAKE_KILLED};
  assert_int_equal(run_pool(&s, 2), POOL_DONE);
  for (int i = 0; i < s.count; i++) {
    assert_int_equal(s.taken[i], 1);
    assert_non_null(strstr(s.failure[i], "signal 9"));
  }
}

/* After the signal in take() number 3 no point starts, but the other worker's one still ends well. */
static void a_signal_lets_running_points_finish(void **state) {
  (void)state;
  struct study s = {.count = 30, .odd_point = -1, .mode = FAKE_SLEEP, .signal_after = 3};
  assert_int_equal(run_pool(&s, 2), POOL_INTERRUPTED);
  assert_in_range(s.results, 3, 4);
  assert_true(s.next < s.count);
  for (int i = 0; i < s.count; i++) {
    assert_int_equal(s.taken[i], i < s.results);
    assert_string_equal(s.failure[i], "");
  }
  /* the old handling is back */
  struct sigaction now;
  sigaction(SIGINT, NULL, &now);
  assert_ptr_equal(now.sa_handler, SIG_DFL);
}

static void a_signal_behind_the_last_point_changes_nothing(void **state) {
  (void)state;
  struct study s = {.count = 3, .odd_point = -1, .signal_after = 3};
  assert_int_equal(run_pool(&s, 1), POOL_DONE);
  assert_int_equal(s.results, 3);
}

static void the_taker_can_stop(void **state) {
  (void)state;
  struct study s = {.count = 30, .odd_point = -1, .stop_after = 4};
  assert_int_equal(run_pool(&s, 2), POOL_STOPPED);
  assert_int_equal(s.results, 4);
}

/* Two points of 0.2 s, one worker: 0.4 s, so at least two ticks of 0.1 s and surely not more than the ten a second. */
static void it_ticks_while_it_waits(void **state) {
  (void)state;
  struct study s = {.count = 2, .odd_point = -1, .mode = FAKE_SLEEP};
  assert_int_equal(run_pool(&s, 1), POOL_DONE);
  assert_true(s.ticks >= 2);
}

/* A parent killed in the middle takes its workers along: the pipe they would hold open ends. */
static void workers_die_with_their_parent(void **state) {
  (void)state;
  int alive[2];
  char byte;
  assert_int_equal(pipe(alive), 0);
  pid_t parent = fork();
  if (parent == 0) {
    close(alive[0]);
    /* stderr is what workers inherit: they hold the write end as long as they live */
    dup2(alive[1], STDERR_FILENO);
    struct study s = {.count = POINTS_MAX, .odd_point = -1, .mode = FAKE_SLEEP};
    struct pool_source source = {next, take, NULL, &s};
    enum pool_status status;
    struct err e = {0};
    _exit(pool_run("native", ".", 2, &source, &status, &e));
  }
  close(alive[1]);
  usleep(100000);
  kill(parent, SIGKILL);
  waitpid(parent, NULL, 0);
  alarm(10);
  assert_int_equal(read(alive[0], &byte, 1), 0);
  alarm(0);
  close(alive[0]);
}

/* A folder with a program of that name; text NULL: this test itself, as a worker. */
static char *folder_with_ns3(const char *text) {
  static char folder[64];
  char path[128];
  strcpy(folder, "/tmp/pool_test.XXXXXX");
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/pqnetsim-ns3", folder);
  if (text) {
    FILE *to = fopen(path, "w");
    assert_non_null(to);
    fputs(text, to);
    fclose(to);
    chmod(path, 0755);
  } else {
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(length > 0);
    self[length] = '\0';
    assert_int_equal(symlink(self, path), 0);
  }
  return folder;
}

static void remove_folder(const char *folder) {
  char path[128];
  snprintf(path, sizeof path, "%s/pqnetsim-ns3", folder);
  unlink(path);
  rmdir(folder);
}

static int run_ns3(const char *folder, struct study *s, struct err *e) {
  struct pool_source source = {next, take, tick, s};
  enum pool_status status;
  return pool_run("ns3", folder, 2, &source, &status, e);
}

static void ns3_runs_in_its_own_program(void **state) {
  (void)state;
  char *folder = folder_with_ns3(NULL);
  struct study s = {.count = 20, .odd_point = 4, .odd_mode = FAKE_KILLED, .odd_value = -1};
  struct err e = {0};
  struct net_ops ops;
  assert_int_equal(pool_probe("ns3", folder, &ops, &e), 0);
  assert_string_equal(ops.name, "ns3");
  assert_int_equal(ops.caps, 9);
  assert_int_equal(run_ns3(folder, &s, &e), 0);
  for (int i = 0; i < s.count; i++) {
    assert_int_equal(s.taken[i], 1);
    assert_int_equal(s.value[i], i == 4 ? 0 : i * 1000);
  }
  assert_non_null(strstr(s.failure[4], "signal 9"));
  remove_folder(folder);
}

static void a_missing_ns3_is_explained(void **state) {
  (void)state;
  struct study s = {.count = 3, .odd_point = -1};
  struct err e = {0};
  struct net_ops ops;
  assert_int_equal(run_ns3("/nonexistent", &s, &e), ERR_INPUT);
  assert_non_null(strstr(e.text, "/nonexistent/pqnetsim-ns3"));
  assert_non_null(strstr(e.text, "libns3-dev"));
  assert_int_equal(s.next, 0);
  assert_int_equal(pool_probe("ns3", "/nonexistent", &ops, &e), ERR_INPUT);
  err_free(&e);
}

static void an_ns3_that_does_not_start_is_an_error(void **state) {
  (void)state;
  static const struct {
    const char *program, *says;
    int code;
  } cases[] = {
      {"#!/bin/sh\nexit 5\n", "ended with status 5", ERR_SYSTEM},
      {"#!/bin/sh\nkill -9 $$\n", "killed by signal 9", ERR_SYSTEM},
      {"#!/bin/sh\nprintf 'Welcome\\n'; sleep 60\n", "not an answer", ERR_SYSTEM},
      {"#!/bin/sh\nprintf '\\035\\000\\000\\000pqnetsim-worker 1 0.0 ns3 12\\n'; cat\n", "run make", ERR_INPUT},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *folder = folder_with_ns3(cases[i].program);
    struct study s = {.count = 3, .odd_point = -1};
    struct err e = {0};
    struct net_ops ops;
    assert_int_equal(run_ns3(folder, &s, &e), cases[i].code);
    assert_non_null(strstr(e.text, cases[i].says));
    assert_int_equal(s.results, 0);
    err_free(&e);
    assert_int_equal(pool_probe("ns3", folder, &ops, &e), cases[i].code);
    err_free(&e);
    remove_folder(folder);
  }
}

static void the_native_backend_needs_no_program(void **state) {
  (void)state;
  struct net_ops ops;
  struct err e = {0};
  assert_int_equal(pool_probe("native", "/nonexistent", &ops, &e), 0);
  assert_string_equal(ops.name, "native");
  assert_int_equal(ops.caps, 5);
}

int main(int argc, char **argv) {
  (void)argc;
  const char *slash = strrchr(argv[0], '/');
  fake_ns3 = net_native;
  fake_ns3.name = "ns3";
  fake_ns3.caps = 9;
  if (slash && !strcmp(slash, "/pqnetsim-ns3")) return worker_serve(&fake_ns3, STDIN_FILENO, STDOUT_FILENO);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_point_comes_once),
      cmocka_unit_test(a_killed_worker_fails_its_point_alone),
      cmocka_unit_test(a_worker_that_exits_fails_its_point_alone),
      cmocka_unit_test(a_babbling_worker_fails_its_point_alone),
      cmocka_unit_test(a_refused_point_fails_alone),
      cmocka_unit_test(every_point_may_fail),
      cmocka_unit_test(a_signal_lets_running_points_finish),
      cmocka_unit_test(a_signal_behind_the_last_point_changes_nothing),
      cmocka_unit_test(the_taker_can_stop),
      cmocka_unit_test(it_ticks_while_it_waits),
      cmocka_unit_test(workers_die_with_their_parent),
      cmocka_unit_test(ns3_runs_in_its_own_program),
      cmocka_unit_test(a_missing_ns3_is_explained),
      cmocka_unit_test(an_ns3_that_does_not_start_is_an_error),
      cmocka_unit_test(the_native_backend_needs_no_program),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
