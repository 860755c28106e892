/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: sim/core/event.o
#include "sim/core/event.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

enum { LOG_MAX = 64 };
struct log {
  int count;
  int label[LOG_MAX];
  simtime at[LOG_MAX];
};
struct mark {
  struct log *log;
  int label;
};

static void note(struct sim *sim, void *arg) {
  struct mark *mark = arg;
  assert_true(mark->log->count < LOG_MAX);
  mark->log->label[mark->log->count] = mark->label;
  mark->log->at[mark->log->count++] = sim_now(sim);
}

static void drain(struct sim *sim) {
  while (event_fire_next(sim)) {}
}

static void fires_by_time_then_by_arming(void **state) {
  (void)state;
  struct sim *sim = sim_new();
  struct log log = {0};
  struct mark marks[6];
  const simtime at[6] = {30, 10, 20, 10, 0, 10};
  for (int i = 0; i < 6; i++) {
    marks[i] = (struct mark){&log, i};
    event_at(sim, at[i], note, &marks[i]);
  }
  assert_int_equal(event_pending(sim), 6);
  assert_int_equal(event_next_time(sim), 0);
  drain(sim);
  const int want[6] = {4, 1, 3, 5, 2, 0};
  assert_int_equal(log.count, 6);
  for (int i = 0; i < 6; i++) {
    assert_int_equal(log.label[i], want[i]);
    assert_int_equal(log.at[i], at[want[i]]);
  }
  assert_int_equal(event_pending(sim), 0);
  assert_int_equal(event_next_time(sim), SIMTIME_NEVER);
  assert_int_equal(sim_now(sim), 30);
  sim_free(sim);
}

/* More ties than the heap has inner nodes for, armed from within a callback too. */
static void many_ties_keep_their_order(void **state) {
  (void)state;
  struct sim *sim = sim_new();
  struct log log = {0};
  struct mark marks[LOG_MAX];
  for (int i = 0; i < LOG_MAX; i++) {
    marks[i] = (struct mark){&log, i};
    event_at(sim, 5, note, &marks[i]);
  }
  drain(sim);
  for (int i = 0; i < LOG_MAX; i++) assert_int_equal(log.label[i], i);
  sim_free(sim);
}

static void cancelled_events_do_not_fire(void **state) {
  (void)state;
  struct sim *sim = sim_new();
  struct log log = {0};
  struct mark marks[3] = {{&log, 0}, {&log, 1}, {&log, 2}};
  struct event first = event_at(sim, 1, note, &marks[0]);
  struct event second = event_at(sim, 2, note, &marks[1]);
  event_at(sim, 3, note, &marks[2]);
  assert_true(event_cancel(sim, first));
  assert_false(event_cancel(sim, first)); /* no longer to fire */
  assert_int_equal(event_pending(sim), 2);
  assert_int_equal(event_next_time(sim), 2); /* the dead key is skipped */
  assert_true(event_fire_next(sim));
  assert_false(event_cancel(sim, second)); /* fired */
  assert_int_equal(event_pending(sim), 1);
  drain(sim);
  assert_int_equal(log.count, 2);
  assert_int_equal(log.label[0], 1);
  assert_int_equal(log.label[1], 2);
  assert_false(event_cancel(sim, (struct event){0, 0}));
  assert_false(event_cancel(sim, (struct event){1000000, 1}));
  sim_free(sim);
}

static void a_stale_handle_spares_the_slots_next_user(void **state) {
  (void)state;
  struct sim *sim = sim_new();
  struct log log = {0};
  struct mark mark = {&log, 0};
  struct event old = event_at(sim, 1, note, &mark);
  drain(sim);
  struct event reused = event_at(sim, 2, note, &mark);
  assert_int_equal(reused.slot, old.slot); /* else this test shows nothing */
  assert_false(event_cancel(sim, old));
  assert_int_equal(event_pending(sim), 1);
  sim_reset(sim);
  assert_false(event_cancel(sim, reused)); /* a run's handles end with it */
  struct event again = event_at(sim, 2, note, &mark);
  assert_false(event_cancel(sim, reused));
  assert_true(event_cancel(sim, again));
  sim_free(sim);
}

struct chain {
  struct log *log;
  int step;
  struct event victim;
};

/* In one callback: arms two, cancels one, looks at the queue. What fires is not pending any more. */
static void busy(struct sim *sim, void *arg) {
  struct chain *chain = arg;
  struct mark *marks = sim_alloc(sim, 2 * sizeof *marks);
  marks[0] = (struct mark){chain->log, 10};
  marks[1] = (struct mark){chain->log, 11};
  assert_int_equal(event_pending(sim), 2);
  if (chain->step == 1) assert_int_equal(event_next_time(sim), 50);
  event_at(sim, sim_now(sim), note, &marks[0]);
  assert_int_equal(event_next_time(sim), sim_now(sim));
  event_at(sim, sim_now(sim), note, &marks[1]);
  assert_true(event_cancel(sim, chain->victim));
  assert_int_equal(event_pending(sim), 3);
}

static void callbacks_arm_cancel_and_look(void **state) {
  (void)state;
  for (int step = 0; step < 2; step++) {
    struct sim *sim = sim_new();
    struct log log = {0};
    struct mark late = {&log, 12};
    struct chain chain = {.log = &log, .step = step};
    event_at(sim, 7, busy, &chain);
    chain.victim = event_at(sim, 50, note, &late);
    event_at(sim, 60, note, &late);
    drain(sim);
    assert_int_equal(log.count, 3);
    assert_int_equal(log.label[0], 10);
    assert_int_equal(log.label[1], 11);
    assert_int_equal(log.label[2], 12);
    assert_int_equal(log.at[2], 60);
    sim_free(sim);
  }
}

/* ---- against a plain list ---- */

enum { MODEL_MAX = 3000, MODEL_STEPS = 60000 };
struct armed {
  simtime at;
  uint64_t order;
  struct event event;
};
struct model {
  struct armed armed[MODEL_MAX];
  int count;
  uint64_t order;
  uint64_t random;
  bool replace; /* the callback arms the next one itself */
  int fired;
};

static uint64_t roll(struct model *model, uint64_t bound) {
  model->random = model->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (model->random >> 33) % bound;
}

static void model_cancel(struct sim *sim, struct model *model) {
  if (!model->count) return;
  int victim = (int)roll(model, (uint64_t)model->count);
  assert_true(event_cancel(sim, model->armed[victim].event));
  model->armed[victim] = model->armed[--model->count];
}

static void model_fire(struct sim *sim, void *arg);

static void model_arm(struct sim *sim, struct model *model) {
  if (model->count == MODEL_MAX) return;
  struct armed *armed = &model->armed[model->count++];
  armed->at = sim_now(sim) + (simtime)roll(model, 500); /* few values: many ties */
  armed->order = ++model->order;
  armed->event = event_at(sim, armed->at, model_fire, model);
}

static int model_first(const struct model *model) {
  int first = 0;
  for (int i = 1; i < model->count; i++)
    if (model->armed[i].at < model->armed[first].at || (model->armed[i].at == model->armed[first].at && model->armed[i].order < model->armed[first].order))
      first = i;
  return first;
}

static void model_fire(struct sim *sim, void *arg) {
  struct model *model = arg;
  int first = model_first(model);
  assert_int_equal(sim_now(sim), model->armed[first].at);
  assert_false(event_cancel(sim, model->armed[first].event)); /* it is the one that fires */
  model->armed[first] = model->armed[--model->count];
  model->fired++;
  for (uint64_t n = model->replace && roll(model, 50) == 0 ? (uint64_t)model->count * 2 / 3 : 0; n > 0; n--) model_cancel(sim, model);
  for (uint64_t n = model->replace ? roll(model, 3) : 0; n > 0; n--) model_arm(sim, model);
}

static void behaves_like_a_sorted_list(void **state) {
  (void)state;
  static struct model model;
  struct sim *sim = sim_new();
  for (int round = 0; round < 4; round++) {
    model = (struct model){.random = (uint64_t)round, .replace = round % 2};
    for (int step = 0; step < MODEL_STEPS / 4; step++) {
      uint64_t what = roll(&model, 10);
      if (what < 4) {
        model_arm(sim, &model);
      } else if (what < 7) { /* cancelling this often makes the queue sweep */
        model_cancel(sim, &model);
      } else if (what < 9) {
        int before = model.fired;
        bool had = model.count > 0;
        assert_int_equal(event_fire_next(sim), had);
        assert_int_equal(model.fired, before + had);
      } else {
        assert_int_equal(event_next_time(sim), model.count ? model.armed[model_first(&model)].at : SIMTIME_NEVER);
      }
      if (step % 5000 == 0)
        for (int i = 0; i < 1500; i++) model_arm(sim, &model);
      assert_int_equal(event_pending(sim), model.count);
    }
    assert_true(model.fired > 1000);
    sim_reset(sim);
    assert_int_equal(event_pending(sim), 0);
    assert_int_equal(sim_now(sim), 0);
  }
  sim_free(sim);
}

static void no_slot_is_lost(void **state) {
  (void)state;
  struct sim *sim = sim_new();
  struct log log = {0};
  struct mark mark = {&log, 0};
  uint32_t highest = 0;
  for (int i = 0; i < 100000; i++) { /* a timer that is always moved, as TCP does */
    struct event event = event_at(sim, 1000, note, &mark);
    if (event.slot > highest) highest = event.slot;
    event_cancel(sim, event);
  }
  assert_true(highest < 256);
  assert_int_equal(event_pending(sim), 0);
  sim_free(sim);
}

static void advancing_the_clock(void **state) {
  (void)state;
  struct sim *sim = sim_new();
  struct log log = {0};
  struct mark mark = {&log, 0};
  sim_advance(sim, 40);
  event_at(sim, 50, note, &mark);
  sim_advance(sim, 50);
  assert_int_equal(sim_now(sim), 50);
  drain(sim);
  assert_int_equal(log.at[0], 50);
  sim_free(sim);
}

static void arm_in_the_past(struct sim *sim) {
  sim_advance(sim, 10);
  event_at(sim, 9, note, NULL);
}
static void advance_past_an_event(struct sim *sim) {
  event_at(sim, 9, note, NULL);
  sim_advance(sim, 10);
}
static void arm_never(struct sim *sim) { event_at(sim, SIMTIME_NEVER, note, NULL); }

static void broken_invariants_abort(void **state) {
  (void)state;
  void (*const wrongs[])(struct sim *) = {arm_in_the_past, advance_past_an_event, arm_never};
  for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
      signal(SIGABRT, SIG_DFL);
      if (!freopen("/dev/null", "w", stderr)) _exit(1);
      wrongs[i](sim_new());
      _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  }
}

static void arena_is_zeroed_aligned_and_reused(void **state) {
  (void)state;
  struct sim *sim = sim_new();
  unsigned char *first = NULL;
  for (int run = 0; run < 3; run++) {
    unsigned char *last = NULL;
    for (size_t size = 0; size < 3000; size += 7) {
      unsigned char *memory = sim_alloc(sim, size);
      assert_int_equal((uintptr_t)memory % _Alignof(max_align_t), 0);
      assert_ptr_not_equal(memory, last);
      for (size_t i = 0; i < size; i++) assert_int_equal(memory[i], 0);
      memset(memory, 0xA5, size);
      if (size == 0 && run == 0) first = memory;
      if (size == 0) assert_ptr_equal(memory, first); /* the same memory again after a reset */
      last = memory;
    }
    unsigned char *large = sim_alloc(sim, 1000000); /* larger than a chunk */
    assert_int_equal(large[999999], 0);
    memset(large, 0xA5, 1000000);
    sim_reset(sim);
  }
  sim_free(sim);
  sim_free(NULL);
}

/* ---- memory given back ---- */

/* A run that takes and gives back one size needs no more than it had at once. */
static void released_memory_serves_again(void **state) {
  (void)state;
  enum { PIECES = 3, SIZE = 200, ROUNDS = 1000 };
  struct sim *sim = sim_new();
  unsigned char *first[PIECES];
  for (int i = 0; i < PIECES; i++) first[i] = sim_alloc(sim, SIZE);
  size_t memory = sim_memory(sim);
  assert_true(memory >= (size_t)PIECES * SIZE);
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < PIECES; i++) {
      memset(first[i], 0x5A, SIZE);
      sim_release(sim, first[i], SIZE);
    }
    for (int i = 0; i < PIECES; i++) {
      unsigned char *again = round % 2 ? sim_alloc(sim, SIZE) : memset(sim_take(sim, SIZE), 0, SIZE);
      for (int byte = 0; byte < SIZE; byte++) assert_int_equal(again[byte], 0);
      for (int other = 0; other < i; other++) assert_ptr_not_equal(again, first[other]);
      first[i] = again;
    }
  }
  assert_int_equal(sim_memory(sim), memory);
  sim_free(sim);
}

/* What was given back for one size must not serve a larger one. */
static void sizes_are_kept_apart(void **state) {
  (void)state;
  static const size_t sizes[] = {0, 1, 16, 17, 32, 1000, 1008, 1009, 1024, 1025, 5000, 100000};
  enum { SIZES = sizeof sizes / sizeof *sizes };
  for (int given = 0; given < SIZES; given++)
    for (int wanted = 0; wanted < SIZES; wanted++) {
      struct sim *sim = sim_new();
      unsigned char *a = sim_alloc(sim, sizes[given]), *fence = sim_alloc(sim, 64);
      memset(fence, 0xEE, 64);
      sim_release(sim, a, sizes[given]);
      memset(sim_alloc(sim, sizes[wanted]), 0xAA, sizes[wanted]);
      memset(sim_alloc(sim, sizes[wanted]), 0xBB, sizes[wanted]);
      for (int i = 0; i < 64; i++) assert_int_equal(fence[i], 0xEE);
      sim_free(sim);
    }
}

/* Memory given back before a reset is part of the empty arena again: it must not be handed out twice. */
static void a_reset_forgets_what_was_given_back(void **state) {
  (void)state;
  enum { PIECES = 20, SIZE = 48 };
  struct sim *sim = sim_new();
  unsigned char *pieces[PIECES];
  for (int i = 0; i < PIECES; i++) pieces[i] = sim_alloc(sim, SIZE);
  for (int i = 0; i < PIECES; i += 2) sim_release(sim, pieces[i], SIZE);
  sim_reset(sim);
  assert_int_equal(sim_memory(sim), 0);
  for (int i = 0; i < PIECES; i++) {
    pieces[i] = sim_alloc(sim, SIZE);
    memset(pieces[i], i + 1, SIZE);
  }
  for (int i = 0; i < PIECES; i++)
    for (int byte = 0; byte < SIZE; byte++) assert_int_equal(pieces[i][byte], i + 1);
  assert_int_equal(sim_memory(sim), PIECES * SIZE); /* 48 is a multiple of the alignment */
  sim_free(sim);
}

enum { PIECES_MAX = 300, MEMORY_STEPS = 100000, PIECE_SMALL = 1200, PIECE_LARGE = 70000 };
struct piece {
  unsigned char *memory; /* NULL: none */
  size_t size;
  unsigned char mark;
};

static void check_piece(const struct piece *piece) {
  for (size_t i = 0; i < piece->size; i++)
    if (piece->memory[i] != piece->mark) fail_msg("byte %zu of %zu is %d, written was %d", i, piece->size, piece->memory[i], piece->mark);
}

static void take_piece(struct sim *sim, struct model *model, struct piece *piece, int step) {
  bool zeroed = roll(model, 2);
  piece->size = roll(model, 500) == 0 ? roll(model, PIECE_LARGE) : roll(model, PIECE_SMALL);
  piece->mark = (unsigned char)(1 + step % 251);
  piece->memory = zeroed ? sim_alloc(sim, piece->size) : sim_take(sim, piece->size);
  assert_int_equal((uintptr_t)piece->memory % _Alignof(max_align_t), 0);
  for (size_t i = 0; zeroed && i < piece->size; i++) assert_int_equal(piece->memory[i], 0);
  memset(piece->memory, piece->mark, piece->size);
}

/* Every piece keeps what was written into it until it is given back. */
static void live_memory_never_overlaps(void **state) {
  (void)state;
  static struct model model;
  struct piece pieces[PIECES_MAX] = {0};
  struct sim *sim = sim_new();
  model = (struct model){.random = 77};
  for (int step = 0; step < MEMORY_STEPS; step++) {
    struct piece *piece = &pieces[roll(&model, PIECES_MAX)];
    if (!piece->memory) {
      take_piece(sim, &model, piece, step);
      continue;
    }
    check_piece(piece);
    sim_release(sim, piece->memory, piece->size);
    piece->memory = NULL;
    if (roll(&model, MEMORY_STEPS / 10) > 0) continue;
    for (int i = 0; i < PIECES_MAX; i++)
      if (pieces[i].memory) check_piece(&pieces[i]);
    sim_reset(sim);
    memset(pieces, 0, sizeof pieces);
  }
  for (int i = 0; i < PIECES_MAX; i++)
    if (pieces[i].memory) check_piece(&pieces[i]);
  sim_free(sim);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fires_by_time_then_by_arming),
      cmocka_unit_test(many_ties_keep_their_order),
      cmocka_unit_test(cancelled_events_do_not_fire),
      cmocka_unit_test(a_stale_handle_spares_the_slots_next_user),
      cmocka_unit_test(callbacks_arm_cancel_and_look),
      cmocka_unit_test(behaves_like_a_sorted_list),
      cmocka_unit_test(no_slot_is_lost),
      cmocka_unit_test(advancing_the_clock),
      cmocka_unit_test(broken_invariants_abort),
      cmocka_unit_test(arena_is_zeroed_aligned_and_reused),
      cmocka_unit_test(released_memory_serves_again),
      cmocka_unit_test(sizes_are_kept_apart),
      cmocka_unit_test(a_reset_forgets_what_was_given_back),
      cmocka_unit_test(live_memory_never_overlaps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
