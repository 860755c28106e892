/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: sim/run/worker.o models/crypto/alg.o models/crypto/alg_own.o sim/run/run.o sim/run/roster.o sim/run/test/fake_domain.o sim/core/err.o sim/core/event.o sim/core/metric.o sim/core/param.o sim/core/param_value.o sim/core/units.o
#include "models/crypto/alg_own.h"
#include "sim/run/test/fake_domain.h"
#include "sim/run/worker.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A worker process and our ends of its pipes. */
struct served {
  pid_t pid;
  int to, from;
};

static struct served serve(void) {
  int to[2], from[2];
  assert_int_equal(pipe(to), 0);
  assert_int_equal(pipe(from), 0);
  pid_t pid = fork();
  if (pid == 0) {
    close(to[1]);
    close(from[0]);
    _exit(worker_serve(&net_native, to[0], from[1]));
  }
  close(to[0]);
  close(from[1]);
  return (struct served){pid, to[1], from[0]};
}

static int serve_end(struct served *served) {
  int status;
  close(served->to);
  close(served->from);
  assert_int_equal(waitpid(served->pid, &status, 0), served->pid);
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

static void read_exactly(int fd, void *data, size_t size) {
  for (unsigned char *at = data; size;) {
    ssize_t n = read(fd, at, size);
    assert_true(n > 0);
    at += n;
    size -= (size_t)n;
  }
}

/* The next frame without its length. */
static unsigned char *read_frame(int fd, size_t *size) {
  unsigned char length[4];
  read_exactly(fd, length, 4);
  *size = worker_frame_length(length);
  unsigned char *bytes = malloc(*size + 1);
  assert_non_null(bytes);
  read_exactly(fd, bytes, *size);
  return bytes;
}

static void skip_hello(struct served *served) {
  size_t size;
  unsigned caps;
  struct err e = {0};
  unsigned char *hello = read_frame(served->from, &size);
  assert_int_equal(worker_decode_hello(hello, size, "native", &caps, &e), 0);
  assert_int_equal(caps, 5);
  free(hello);
}

static void send_job(struct served *served, const struct worker_job *job) {
  size_t size;
  unsigned char *frame = worker_encode_job(job, &size);
  assert_int_equal(write(served->to, frame, size), size);
  free(frame);
}

static struct metric_set *new_metrics(void) { return metric_set_new(fake_domain.metrics, fake_domain.metric_count); }

/* Sends the job, expects an answer that can be read. */
static void ask(struct served *served, const struct worker_job *job, struct metric_set *metrics, char **warnings, struct err *failure) {
  size_t size;
  int64_t point = -1;
  send_job(served, job);
  unsigned char *answer = read_frame(served->from, &size);
  assert_int_equal(worker_decode_result(answer, size, &point, metrics, 1, warnings, failure), 0);
  assert_int_equal(point, job->point);
  free(answer);
}

/* fake.value 3, seed 2^40, replications 7 and 8: 3000 + 7 + 2^40 and one more. */
static void a_job_is_answered(void **state) {
  (void)state;
  struct served served = serve();
  struct config *config = fake_config(3, FAKE_OK);
  struct worker_job job = {12345678901, &fake_roster, config, "here", UINT64_C(1) << 40, 7, 2};
  struct metric_set *metrics = new_metrics();
  struct err failure = {0};
  char *warnings;
  skip_hello(&served);
  ask(&served, &job, metrics, &warnings, &failure);
  assert_int_equal(failure.count, 0);
  assert_string_equal(warnings, "");
  struct metric_summary summary;
  metric_summarise(metrics, 0, &summary);
  assert_int_equal(summary.n, 2);
  assert_int_equal(summary.min, 3007 + (INT64_C(1) << 40));
  assert_int_equal(summary.max, 3008 + (INT64_C(1) << 40));
  assert_int_equal(serve_end(&served), 0);
  free(warnings);
  metric_set_free(metrics);
  config_free(config);
}

/* The worker builds the same groups: `b` has a value of its own, `a` a share (which the fake gives instead), `c` the point's value. */
static void groups_travel_along(void **state) {
  (void)state;
  static const char *const names[] = {"b", "a", "c"};
  static const int64_t expected[] = {3000, 7, 250000000, 3};
  struct served served = serve();
  struct roster *roster = roster_new(&fake_domain, names, 3);
  struct config *config = config_new(roster->tables, roster->table_count);
  struct err failure = {0};
  assert_int_equal(config_set(config, "fake.value", "3", &failure), 0);
  assert_int_equal(config_set(config, "groups.b.fake.value", "7", &failure), 0);
  assert_int_equal(config_set(config, "groups.a.share", "25%", &failure), 0);
  struct worker_job job = {5, roster, config, ".", 0, 0, 1};
  struct metric_set *metrics = metric_set_new(roster->metrics, roster->metric_count);
  skip_hello(&served);
  send_job(&served, &job);
  size_t size;
  int64_t point;
  char *warnings;
  unsigned char *answer = read_frame(served.from, &size);
  assert_int_equal(worker_decode_result(answer, size, &point, metrics, roster->metric_count, &warnings, &failure), 0);
  assert_int_equal(failure.count, 0);
  for (int m = 0; m < 4; m++) {
    struct metric_summary summary;
    metric_summarise(metrics, m, &summary);
    assert_int_equal(summary.n, 1);
    assert_int_equal(summary.max, expected[m]);
  }
  assert_int_equal(serve_end(&served), 0);
  free(answer);
  free(warnings);
  metric_set_free(metrics);
  config_free(config);
  roster_free(roster);
}

static void texts_with_odd_characters_survive(void **state) {
  (void)state;
  static const char odd[] = "a\\t\\\\tb \xc3\xa9 \\n c";
  struct served served = serve();
  struct config *config = fake_config(3, FAKE_OK);
  struct err failure = {0};
  assert_int_equal(config_set(config, "fake.label", odd, &failure), 0);
  struct worker_job job = {1, &fake_roster, config, "a\tfolder\nwith\\odd name", 1, 0, 1};
  struct metric_set *metrics = new_metrics();
  char *warnings;
  skip_hello(&served);
  ask(&served, &job, metrics, &warnings, &failure);
  assert_int_equal(failure.count, 0);
  assert_int_equal(strlen(warnings), strlen(odd) + 1);
  assert_memory_equal(warnings, odd, strlen(odd));
  assert_int_equal(serve_end(&served), 0);
  free(warnings);
  metric_set_free(metrics);
  config_free(config);
}

static void a_refused_point_is_an_answer_and_the_next_one_runs(void **state) {
  (void)state;
  struct served served = serve();
  struct config *bad = fake_config(666, FAKE_OK), *good = fake_config(1, FAKE_OK);
  struct worker_job first = {1, &fake_roster, bad, ".", 1, 0, 1}, second = {2, &fake_roster, good, ".", 1, 0, 1};
  struct metric_set *metrics = new_metrics();
  struct err failure = {0}, none = {0};
  char *warnings;
  skip_hello(&served);
  ask(&served, &first, metrics, &warnings, &failure);
  free(warnings);
  assert_int_equal(failure.code, ERR_INPUT);
  assert_string_equal(failure.text, "fake.value: found 666, allowed anything else\n");
  ask(&served, &second, metrics, &warnings, &none);
  free(warnings);
  assert_int_equal(none.count, 0);
  assert_int_equal(serve_end(&served), 0);
  err_free(&failure);
  metric_set_free(metrics);
  config_free(bad);
  config_free(good);
}

static void unreadable_requests_are_answered_with_an_error(void **state) {
  (void)state;
  static const char *const requests[] = {
      "",
      "point\t1\nseed\t1\nfirst\t0\ncount\t1\nbase_dir\t.\ndomain\tnowhere\n",
      "point\t1\nseed\t1\nfirst\t0\ncount\t1\ndomain\tfake\n",
      "point\tx\n",
      "count\t-1\n",
      "no tab\n",
      "what\tever\n",
      "point\t1\nbase_dir\t.\ndomain\tfake\np\tfake.none\t1\n",
      "p\tfake.value\t1\n",
      "group\ta\n",
      "domain\tfake\ngroup\ta b\n",
      "domain\tfake\ngroup\ta\ngroup\tA\n",
      "domain\tfake\np\tfake.value\t1\ngroup\ta\n",
      "domain\tfake\ngroup\ta\np\tgroups.b.share\t1%\n",
  };
  struct served served = serve();
  struct metric_set *metrics = new_metrics();
  skip_hello(&served);
  for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
    size_t length = strlen(requests[i]), size;
    unsigned char frame[256] = {(unsigned char)length};
    memcpy(frame + 4, requests[i], length);
    assert_int_equal(write(served.to, frame, length + 4), length + 4);
    unsigned char *answer = read_frame(served.from, &size);
    struct err failure = {0};
    int64_t point;
    char *warnings;
    assert_int_equal(worker_decode_result(answer, size, &point, metrics, 1, &warnings, &failure), 0);
    assert_true(failure.count > 0);
    err_free(&failure);
    free(warnings);
    free(answer);
  }
  assert_int_equal(serve_end(&served), 0);
  metric_set_free(metrics);
}

/* Sends lines as a request and expects an error that says `says`. */
static void ask_damaged(struct served *served, const char *text, const char *says) {
  size_t length = strlen(text), size;
  unsigned char bytes[4] = {(unsigned char)length, (unsigned char)(length >> 8)};
  struct err failure = {0};
  int64_t point;
  char *warnings;
  assert_int_equal(write(served->to, bytes, 4), 4);
  assert_int_equal(write(served->to, text, length), length);
  unsigned char *answer = read_frame(served->from, &size);
  assert_int_equal(worker_decode_result(answer, size, &point, NULL, 0, &warnings, &failure), 0);
  if (!failure.count || !strstr(failure.text, says)) fail_msg("'%s' is answered with '%s'", text, failure.count ? failure.text : "ok");
  err_free(&failure);
  free(warnings);
  free(answer);
}

static void damaged_groups_are_answered_with_an_error(void **state) {
  (void)state;
#define HEAD "point\t1\nseed\t1\nfirst\t0\ncount\t1\nbase_dir\t.\n"
  static const char *const requests[][2] = {
      {HEAD "group\trural\ndomain\tfake\n", "group 'rural'"}, /* before the domain */
      {HEAD "domain\tfake\ngroup\t\n", "group ''"},
      {HEAD "domain\tfake\ngroup\ta b\n", "group 'a b'"},
      {HEAD "domain\tfake\ngroup\ta.b\n", "group 'a.b'"},
      {HEAD "domain\tfake\ngroup\ta\tb\n", "group 'a\tb'"},
      {HEAD "domain\tfake\ngroup\tabcdefghijklmnopqrstuvwxyz0123456\n", "group 'abcdefghijklmnopqrstuvwxyz0123456'"},
      {HEAD "domain\tfake\ngroup\ta\np\tfake.value\t1\ngroup\tb\n", "group 'b'"}, /* behind a parameter */
      {HEAD "domain\tfake\ngroup\n", "line 'group'"},
      {HEAD "domain\tfake\ngroup\ta\ngroup\tb\ngroup\ta\n", "group 'a'"},                  /* twice */
      {HEAD "domain\tfake\ngroup\ta\np\tgroups.b.fake.value\t1\n", "groups.b.fake.value"}, /* of no group */
      {HEAD "domain\tfake\ngroup\ta\np\tgroups.a.share\t120%\n", "groups.a.share: found 120%"},
      {HEAD "domain\tfake\np\tgroups.a.share\t10%\n", "groups.a.share"},
  };
  struct served served = serve();
  skip_hello(&served);
  for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) ask_damaged(&served, requests[i][0], requests[i][1]);
  char many[2048] = HEAD "domain\tfake\n";
  for (int g = 0; g <= ROSTER_GROUPS; g++) snprintf(many + strlen(many), 32, "group\tg%d\n", g);
  ask_damaged(&served, many, "group 'g64'");
#undef HEAD
  assert_int_equal(serve_end(&served), 0); /* it was there all the time */
}

/* Definitions are lines of a request, and hold for that request alone: the second time the name is free again. */
static void definitions_travel_along(void **state) {
  (void)state;
#define HEAD "point\t1\nseed\t1\nfirst\t0\ncount\t1\nbase_dir\t.\ndomain\tfake\n"
  static const char line[] = "\nalgorithm\tmykem kem 1184 1088 32 0 128 64 -1 -1 My KEM\n";
  struct err e = {0};
  alg_forget_own();
  assert_int_equal(alg_own_read("mykem kem 1184 1088 32 0 128 64 -1 -1 My KEM", &e), 0);
  struct config *config = fake_config(3, FAKE_OK);
  struct worker_job job = {1, &fake_roster, config, ".", 1, 0, 1};
  size_t size;
  unsigned char *frame = worker_encode_job(&job, &size);
  assert_non_null(memmem(frame, size, line, strlen(line)));
  free(frame);
  config_free(config);
  alg_forget_own();
  struct served served = serve();
  skip_hello(&served);
  for (int i = 0; i < 2; i++) /* "damaged" by the key behind it alone */
    ask_damaged(&served, HEAD "algorithm\tmykem kem 1 1 1 0 0 0 -1 -1 x\nnonsuch\t1\n", "key 'nonsuch'");
  ask_damaged(&served, HEAD "algorithm\tmykem kem 1 1 1 0 0 0 -1 -1 x\nalgorithm\tmykem kem 1 1 1 0 0 0 -1 -1 x\n", "already a spelling");
  ask_damaged(&served, HEAD "algorithm\tmlkem768 kem 1 1 1 0 0 0 -1 -1 x\n", "already a spelling");
  ask_damaged(&served, HEAD "algorithm\tmykem kem 1 1\n", "damaged definition");
  ask_damaged(&served, HEAD "p\tfake.value\t1\nalgorithm\tmykem kem 1 1 1 0 0 0 -1 -1 x\n", "behind a parameter");
#undef HEAD
  assert_int_equal(serve_end(&served), 0);
}

static void half_a_frame_ends_the_worker(void **state) {
  (void)state;
  struct served served = serve();
  skip_hello(&served);
  assert_int_equal(write(served.to, "\x10\0\0\0poi", 7), 7);
  assert_int_equal(serve_end(&served), 1);
}

/* Every shortening of a good answer, and every lengthening, is refused and says so. */
static void damaged_answers_are_refused(void **state) {
  (void)state;
  struct metric_set *metrics = new_metrics();
  size_t size;
  metric_sample(metrics, 0, 1234, NULL);
  metric_end_replication(metrics);
  struct err problem = {0};
  err_add(&problem, ERR_SYSTEM, "one");
  unsigned char *frames[] = {worker_encode_result(3, metrics, 1, "mind\n", NULL, &size), NULL};
  size_t sizes[] = {size, 0};
  frames[1] = worker_encode_result(3, NULL, 0, "", &problem, &sizes[1]);
  for (int f = 0; f < 2; f++) {
    for (size_t cut = 0; cut < sizes[f] - 4; cut++) {
      struct metric_set *into = new_metrics();
      struct err failure = {0};
      int64_t point;
      char *warnings = NULL;
      unsigned char *copy = malloc(cut ? cut : 1); /* its exact size, for the address checker */
      assert_non_null(copy);
      memcpy(copy, frames[f] + 4, cut);
      assert_int_equal(worker_decode_result(copy, cut, &point, into, 1, &warnings, &failure), ERR_SYSTEM);
      assert_true(failure.count > 0);
      assert_null(warnings);
      free(copy);
      err_free(&failure);
      metric_set_free(into);
    }
    unsigned char *more = malloc(sizes[f] + 1);
    assert_non_null(more);
    memcpy(more, frames[f], sizes[f]);
    more[sizes[f]] = 'x';
    struct err failure = {0};
    int64_t point;
    char *warnings = NULL;
    struct metric_set *into = new_metrics();
    assert_int_equal(worker_decode_result(more + 4, sizes[f] - 3, &point, into, 1, &warnings, &failure), ERR_SYSTEM);
    metric_set_free(into);
    err_free(&failure);
    free(more);
    free(frames[f]);
  }
  err_free(&problem);
  metric_set_free(metrics);
}

static void an_error_of_several_lines_keeps_them(void **state) {
  (void)state;
  struct err problem = {0}, failure = {0};
  size_t size;
  int64_t point;
  char *warnings;
  err_add(&problem, ERR_INPUT, "first");
  err_add(&problem, ERR_SYSTEM, "second");
  unsigned char *frame = worker_encode_result(9, NULL, 0, "", &problem, &size);
  assert_int_equal(worker_decode_result(frame + 4, size - 4, &point, NULL, 1, &warnings, &failure), 0);
  assert_int_equal(point, 9);
  assert_int_equal(failure.code, ERR_INPUT);
  assert_int_equal(failure.count, 2);
  assert_string_equal(failure.text, "first\nsecond\n");
  free(frame);
  free(warnings);
  err_free(&problem);
  err_free(&failure);
}

static void hello_of(const char *text, const char *backend, int expected, const char *says) {
  struct err e = {0};
  unsigned caps;
  assert_int_equal(worker_decode_hello((const unsigned char *)text, strlen(text), backend, &caps, &e), expected);
  if (says) assert_non_null(strstr(e.text, says));
  err_free(&e);
}

static void other_versions_and_backends_are_refused(void **state) {
  (void)state;
  hello_of("pqnetsim-worker 3 " PQNETSIM_VERSION " ns3 3\n", "ns3", 0, NULL);
  hello_of("pqnetsim-worker 3 " PQNETSIM_VERSION " native 3\n", "ns3", ERR_INPUT, "backend native");
  hello_of("pqnetsim-worker 3 0.0.0-old ns3 3\n", "ns3", ERR_INPUT, "version 0.0.0-old");
  hello_of("pqnetsim-worker 2 " PQNETSIM_VERSION " ns3 3\n", "ns3", ERR_INPUT, "run make");
  hello_of("Welcome\n", "ns3", ERR_SYSTEM, "greeting");
  hello_of("", "ns3", ERR_SYSTEM, "greeting");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_job_is_answered),
      cmocka_unit_test(groups_travel_along),
      cmocka_unit_test(texts_with_odd_characters_survive),
      cmocka_unit_test(a_refused_point_is_an_answer_and_the_next_one_runs),
      cmocka_unit_test(unreadable_requests_are_answered_with_an_error),
      cmocka_unit_test(damaged_groups_are_answered_with_an_error),
      cmocka_unit_test(definitions_travel_along),
      cmocka_unit_test(half_a_frame_ends_the_worker),
      cmocka_unit_test(damaged_answers_are_refused),
      cmocka_unit_test(an_error_of_several_lines_keeps_them),
      cmocka_unit_test(other_versions_and_backends_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
