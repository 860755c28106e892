/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: models/security/dialogue.o models/crypto/cost.o models/crypto/cost_data.o models/crypto/cost_line.o models/crypto/csv.o models/crypto/alg.o sim/core/cpu.o sim/core/event.o sim/core/err.o sim/core/metric.o sim/core/random.o sim/core/units.o models/crypto/device.o models/crypto/cost_name.o models/crypto/alg_own.o
/* The stream is a wire of this test: what is written arrives DELAY later, whole. */
#include "models/security/dialogue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

enum { DELAY = 10000, CLIENT_DONE = 1, SERVER_DONE = 2, MOST = 16 };

struct packet {
  struct stream *stream;
  enum net_side to;
  int64_t end;
  struct trail trail;
};

struct stream {
  struct sim *sim;
  struct stream_observer observers[2];
  int64_t written[2];
  int reads[2];
};

static void deliver(struct sim *sim, void *arg) {
  struct packet *packet = arg;
  const struct stream_observer *to = &packet->stream->observers[packet->to];
  trail_advance(&packet->trail, PART_PROPAGATION, sim_now(sim));
  to->arrived(to->arg, packet->end, &packet->trail);
}

void stream_write(struct stream *stream, enum net_side side, int64_t bytes, const struct trail *trail) {
  struct packet *packet = sim_alloc(stream->sim, sizeof *packet);
  stream->written[side] += bytes;
  *packet = (struct packet){stream, side == NET_A ? NET_B : NET_A, stream->written[side], *trail};
  event_at(stream->sim, sim_now(stream->sim) + DELAY, deliver, packet);
}

int64_t stream_read(struct stream *stream, enum net_side side) { return ++stream->reads[side]; }

static void end(struct sim *sim, void *arg) {
  struct packet *packet = arg;
  const struct stream_observer *to = &packet->stream->observers[packet->to];
  trail_advance(&packet->trail, PART_PROPAGATION, sim_now(sim));
  to->closed(to->arg, STREAM_FINISHED, &packet->trail);
}

void stream_close(struct stream *stream, enum net_side side, const struct trail *trail) {
  struct packet *packet = sim_alloc(stream->sim, sizeof *packet);
  *packet = (struct packet){stream, side == NET_A ? NET_B : NET_A, 0, *trail};
  event_at(stream->sim, sim_now(stream->sim) + DELAY, end, packet);
}

struct seen {
  simtime at[MOST];
  struct trail trail[MOST];
  int64_t worked[2];
  int failed;
};

static void marked(void *arg, enum net_side side, int mark, const struct trail *trail) {
  struct seen *seen = arg;
  (void)side;
  assert_in_range(mark, 0, MOST - 1);
  seen->at[mark] = trail->at;
  seen->trail[mark] = *trail;
}

static void worked(void *arg, enum net_side side, int use, int64_t duration) {
  (void)use;
  ((struct seen *)arg)->worked[side] += duration;
}

static void failed(void *arg, enum net_side side, enum stream_end why, const struct trail *trail) {
  (void)side;
  (void)trail;
  assert_int_equal(why, STREAM_FINISHED);
  ((struct seen *)arg)->failed++;
}

/* ML-DSA-65 sign and ML-KEM-768 decaps of a platform of constants written for this test. */
static struct cost_platform *platform(void) {
  struct err e = {0};
  struct cost_platform *platform = NULL;
  cost_set_data_dir("calib/data");
  assert_int_equal(cost_load("./dialogue_platform.csv", "models/security/test", &platform, &e), 0);
  return platform;
}

#define READ(n)                                                                                                                                                \
  { .kind = DIALOGUE_READ, .bytes = (n) }
#define WRITE(n)                                                                                                                                               \
  { .kind = DIALOGUE_WRITE, .bytes = (n) }
#define MARK(n)                                                                                                                                                \
  { .kind = DIALOGUE_MARK, .mark = (n) }
#define WORK(a, o)                                                                                                                                             \
  {                                                                                                                                                            \
    .kind = DIALOGUE_WORK, .op = {.algorithm = (a), .operation = (o), .times = 1 }                                                                             \
  }

static void walk(struct dialogue_script *client, struct dialogue_script *server, struct seen *seen) {
  struct cost_platform *costs = platform();
  struct err e = {0};
  assert_int_equal(dialogue_resolve(client, costs, "platform.client", &e), 0);
  assert_int_equal(dialogue_resolve(server, costs, "platform.server", &e), 0);
  struct sim *sim = sim_new();
  struct cpu *const cpus[2] = {cpu_new(sim, 1), cpu_new(sim, 1)};
  const struct dialogue_observer observer = {marked, worked, failed, NULL, seen};
  struct draw_key key = {.seed = 1};
  const struct cost_row *const wake[2] = {NULL, NULL};
  struct dialogue *dialogue = dialogue_new(sim, cpus, wake, &observer, &key);
  struct stream stream = {.sim = sim};
  dialogue_listen(dialogue, stream.observers);
  const struct dialogue_script *const scripts[2] = {client, server};
  dialogue_start(dialogue, &stream, scripts, 0, NULL);
  struct trail trail;
  trail_begin(&trail, 0);
  for (int side = 0; side < 2; side++) stream.observers[side].opened(stream.observers[side].arg, &trail);
  while (event_fire_next(sim)) continue;
  assert_true(dialogue_is_over(dialogue));
  sim_free(sim);
  cost_free(costs);
}

/* The server sends its certificate, signs for 500 us and sends the rest; the client checks the certificate (300 us) while the server
 * signs. By hand, in us: hello at the server 10; certificate out 10, in 20; the client is busy until 320. Signed at 510, in at
 * 520; the client then verifies until 520 + 300 = 820. Of its 600 us of work, 300 lie behind the server's. */
static void work_of_both_sides_overlaps(void **state) {
  (void)state;
  struct dialogue_script client = {6, {WRITE(100), READ(1000), WORK("ML-DSA-65", "verify"), READ(50), WORK("ML-DSA-65", "verify"), MARK(CLIENT_DONE)}};
  struct dialogue_script server = {4, {READ(100), WRITE(1000), WORK("ML-DSA-65", "sign"), WRITE(50)}};
  struct seen seen = {0};
  walk(&client, &server, &seen);
  assert_int_equal(seen.at[CLIENT_DONE], 820000);
  assert_int_equal(seen.worked[NET_A], 600000);
  assert_int_equal(seen.worked[NET_B], 500000);
  const int64_t *parts = seen.trail[CLIENT_DONE].parts;
  assert_int_equal(parts[PART_SIGN], 500000);
  assert_int_equal(parts[PART_CERT_VERIFY], 300000);
  assert_int_equal(parts[PART_PROPAGATION], 20000);
}

/* The same with the certificate held back until it is signed: 10 + 500 + 10 + 600. */
static void one_write_overlaps_nothing(void **state) {
  (void)state;
  struct dialogue_script client = {5, {WRITE(100), READ(1050), WORK("ML-DSA-65", "verify"), WORK("ML-DSA-65", "verify"), MARK(CLIENT_DONE)}};
  struct dialogue_script server = {3, {READ(100), WORK("ML-DSA-65", "sign"), WRITE(1050)}};
  struct seen seen = {0};
  walk(&client, &server, &seen);
  assert_int_equal(seen.at[CLIENT_DONE], 10000 + 500000 + 10000 + 600000);
}

/* What is there already is not waited for, and the thread's own time goes on: certificate in at 20, checked until 320, and the
 * signature of a server that needs 500 us less waits in the buffer. A pause is the application's. */
static void bytes_that_are_there_are_taken(void **state) {
  (void)state;
  struct dialogue_script client = {
      6, {WRITE(100), READ(1000), WORK("ML-DSA-65", "verify"), READ(50), {.kind = DIALOGUE_PAUSE, .wait = 7000}, MARK(CLIENT_DONE)}};
  struct dialogue_script server = {4, {READ(100), WRITE(1000), WRITE(50), MARK(SERVER_DONE)}};
  struct seen seen = {0};
  walk(&client, &server, &seen);
  assert_int_equal(seen.at[SERVER_DONE], 10000);
  assert_int_equal(seen.at[CLIENT_DONE], 20000 + 300000 + 7000);
  assert_int_equal(seen.trail[CLIENT_DONE].parts[PART_APPLICATION], 7000);
  assert_int_equal(seen.trail[CLIENT_DONE].parts[PART_CERT_VERIFY], 300000);
}

/* A side that waits for bytes of one that has closed fails, whether it came to wait before or after. */
static void closing_early_fails_the_other_side(void **state) {
  (void)state;
  struct dialogue_script client = {2, {READ(10), MARK(CLIENT_DONE)}};
  struct dialogue_script server = {1, {{.kind = DIALOGUE_CLOSE}}};
  struct seen seen = {0};
  walk(&client, &server, &seen);
  assert_int_equal(seen.failed, 1);
  assert_int_equal(seen.at[CLIENT_DONE], 0);
  struct dialogue_script busy = {3, {WORK("ML-DSA-65", "verify"), READ(10), MARK(CLIENT_DONE)}};
  struct seen late = {0};
  walk(&busy, &server, &late);
  assert_int_equal(late.failed, 1);
}

static void a_missing_cost_is_named(void **state) {
  (void)state;
  struct cost_platform *costs = platform();
  struct dialogue_script script = {2, {WORK("ML-KEM-768", "decaps"), WORK("RSA-2048", "sign")}};
  struct err e = {0};
  assert_int_equal(dialogue_resolve(&script, costs, "platform.client", &e), ERR_INPUT);
  assert_non_null(strstr(e.text, "platform.client: platform ./dialogue_platform.csv states no cost for ML-KEM-768 decaps"));
  assert_non_null(strstr(e.text, "RSA-2048 sign"));
  script.steps[0].op.optional = script.steps[1].op.optional = true;
  assert_int_equal(dialogue_resolve(&script, costs, "platform.client", &e), 0);
  err_free(&e);
  cost_free(costs);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(work_of_both_sides_overlaps),
      cmocka_unit_test(one_write_overlaps_nothing),
      cmocka_unit_test(bytes_that_are_there_are_taken),
      cmocka_unit_test(closing_early_fails_the_other_side),
      cmocka_unit_test(a_missing_cost_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
