/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/security/dialogue.h"

#include <assert.h>
#include <string.h>

struct walk {
  struct dialogue *dialogue;
  enum net_side side;
  const struct dialogue_script *script; /* NULL: none yet */
  int step;
  bool open, waiting, working;
  bool ended;                /* the other side has closed: nothing more will arrive */
  int64_t arrived, consumed; /* offsets of the other side's bytes */
  int64_t written, acknowledged;
  bool draining;
  simtime asleep_since;
  uint32_t wakes;
  struct trail trail;
};

struct dialogue {
  struct sim *sim;
  struct cpu *cpus[2];
  const struct cost_row *wake[2];
  struct dialogue_observer observer;
  struct draw_key key;
  struct stream *stream;
  bool told; /* that both scripts have ended */
  struct walk walks[2];
};

static int resolve_op(struct dialogue_op *op, const struct cost_platform *platform, const char *key, struct err *e) {
  op->row = cost_find(platform, op->algorithm, op->operation);
  op->part = cost_part(op->algorithm, op->operation);
  op->random = op->row && cost_is_random(op->row);
  if (op->row || op->optional) return 0;
  return err_add(
      e, ERR_INPUT, "%s: platform %s states no cost for %s %s, which this handshake needs", key, cost_platform_name(platform), op->algorithm, op->operation);
}

int dialogue_resolve(struct dialogue_script *script, const struct cost_platform *platform, const char *platform_key, struct err *e) {
  int rc = 0;
  for (int i = 0; i < script->count; i++)
    if (script->steps[i].kind == DIALOGUE_WORK) rc |= resolve_op(&script->steps[i].op, platform, platform_key, e);
  return rc ? ERR_INPUT : 0;
}

bool dialogue_is_random(const struct dialogue_script *script) {
  for (int i = 0; i < script->count; i++)
    if (script->steps[i].kind == DIALOGUE_WORK && script->steps[i].op.random) return true;
  return false;
}

static void go_on(struct walk *walk);

static void work_done(void *arg, const struct trail *trail) {
  struct walk *walk = arg;
  walk->trail = *trail;
  walk->working = false;
  go_on(walk);
}

static void pause_over(struct sim *sim, void *arg) {
  struct walk *walk = arg;
  trail_advance(&walk->trail, PART_APPLICATION, sim_now(sim));
  walk->working = false;
  go_on(walk);
}

static int64_t charge(const struct walk *walk, const struct dialogue_op *op) {
  if (!op->row) return 0;
  struct draw_key key = walk->dialogue->key;
  key.purpose = walk->side == NET_A ? DRAW_COST_INITIATOR : DRAW_COST_RESPONDER;
  key.message = walk->dialogue->key.message;
  key.fragment = (uint16_t)op->draw;
  return op->times * cost_draw(op->row, op->size_bytes, op->random ? random_draw(&key) : 0);
}

/* Operations that follow one another are one job: a thread does not give its processor up between them. */
static void work(struct walk *walk) {
  struct dialogue *dialogue = walk->dialogue;
  int64_t cost[PART_COUNT] = {0};
  for (; walk->step < walk->script->count && walk->script->steps[walk->step].kind == DIALOGUE_WORK; walk->step++) {
    const struct dialogue_op *op = &walk->script->steps[walk->step].op;
    int64_t duration = charge(walk, op);
    cost[op->part] += duration;
    if (dialogue->observer.worked) dialogue->observer.worked(dialogue->observer.arg, walk->side, op->use, duration);
  }
  walk->working = true;
  cpu_submit(dialogue->cpus[walk->side], &walk->trail, cost, work_done, walk);
}

static void pause(struct walk *walk, simtime wait) {
  struct sim *sim = walk->dialogue->sim;
  walk->step++;
  walk->working = true;
  event_at(sim, sim_now(sim) + wait, pause_over, walk);
}

static void mark(struct walk *walk) {
  const struct dialogue_observer *observer = &walk->dialogue->observer;
  int which = walk->script->steps[walk->step++].mark;
  observer->marked(observer->arg, walk->side, which, &walk->trail);
}

/* False when it has to wait. */
static bool read_on(struct walk *walk, int64_t bytes) {
  if (walk->arrived < walk->consumed + bytes) return false;
  walk->consumed += bytes;
  walk->step++;
  return true;
}

static void fail(struct walk *walk, enum stream_end why, const struct trail *trail) {
  struct dialogue *dialogue = walk->dialogue;
  for (int side = 0; side < 2; side++) { /* the other one would wait for ever */
    struct walk *each = &dialogue->walks[side];
    each->open = each->waiting = each->draining = false;
    if (each->script) each->step = each->script->count;
  }
  if (dialogue->observer.failed) dialogue->observer.failed(dialogue->observer.arg, walk->side, why, trail);
}

static void tell_when_over(struct dialogue *dialogue) {
  if (dialogue->told || !dialogue_is_over(dialogue)) return;
  dialogue->told = true;
  if (dialogue->observer.over) dialogue->observer.over(dialogue->observer.arg);
}

/* One step after another, until the side has to wait for something. Writing may call back into this side. */
static void go_on(struct walk *walk) {
  struct dialogue *dialogue = walk->dialogue;
  while (walk->open && !walk->working && !walk->waiting && !walk->draining && walk->step < walk->script->count) {
    const struct dialogue_step *step = &walk->script->steps[walk->step];
    switch (step->kind) {
    case DIALOGUE_READ:
      stream_read(dialogue->stream, walk->side);
      walk->waiting = !read_on(walk, step->bytes);
      walk->asleep_since = sim_now(dialogue->sim);
      if (walk->waiting && walk->ended) fail(walk, STREAM_FINISHED, &walk->trail);
      break;
    case DIALOGUE_WORK:
      work(walk);
      break;
    case DIALOGUE_WRITE:
      walk->step++;
      walk->written += step->bytes;
      stream_write(dialogue->stream, walk->side, step->bytes, &walk->trail);
      break;
    case DIALOGUE_DRAIN:
      walk->step++;
      walk->draining = walk->acknowledged < walk->written;
      break;
    case DIALOGUE_PAUSE:
      pause(walk, step->wait);
      break;
    case DIALOGUE_MARK:
      mark(walk);
      break;
    case DIALOGUE_CLOSE:
      walk->step++;
      stream_close(dialogue->stream, walk->side, &walk->trail);
      break;
    }
  }
  tell_when_over(dialogue);
}

/* ---- what the stream tells ------------------------------------------------------------------------------------- */

static void wake(struct walk *walk) {
  struct dialogue *dialogue = walk->dialogue;
  const struct cost_row *row = dialogue->wake[walk->side];
  struct draw_key key = dialogue->key;
  key.purpose = DRAW_WAKE;
  key.fragment = (uint16_t)(2 * (walk->wakes++ % (DRAW_FRAGMENTS / 2)) + walk->side);
  int64_t cost[PART_COUNT] = {[PART_SOFTWARE] = cost_draw(row, 0, cost_is_random(row) ? random_draw(&key) : 0)};
  if (dialogue->observer.worked) dialogue->observer.worked(dialogue->observer.arg, walk->side, 0, cost[PART_SOFTWARE]);
  walk->working = true;
  cpu_submit(dialogue->cpus[walk->side], &walk->trail, cost, work_done, walk);
}

/* What it waited for is here. */
static void awake(struct walk *walk) {
  if (walk->dialogue->wake[walk->side] && sim_now(walk->dialogue->sim) - walk->asleep_since >= DIALOGUE_ASLEEP)
    wake(walk);
  else
    go_on(walk);
}

static void opened(void *arg, const struct trail *trail) {
  struct walk *walk = arg;
  walk->open = true;
  walk->trail = *trail;
  if (!walk->script) return;
  while (walk->step < walk->script->count && walk->script->steps[walk->step].kind == DIALOGUE_MARK) mark(walk);
  awake(walk);
}

static void arrived(void *arg, int64_t end, const struct trail *trail) {
  struct walk *walk = arg;
  walk->arrived = end;
  if (!walk->waiting) return; /* it is busy, and will find the bytes there */
  stream_read(walk->dialogue->stream, walk->side);
  if (end < walk->consumed + walk->script->steps[walk->step].bytes) return;
  walk->waiting = false;
  walk->trail = *trail;
  awake(walk);
}

static void acknowledged(void *arg, int64_t end) {
  struct walk *walk = arg;
  walk->acknowledged = end;
  if (!walk->draining || end < walk->written) return;
  walk->draining = false;
  trail_advance(&walk->trail, PART_TRANSPORT_STALL, sim_now(walk->dialogue->sim));
  go_on(walk);
}

static void closed(void *arg, enum stream_end why, const struct trail *trail) {
  struct walk *walk = arg;
  walk->ended = true;
  if (walk->script && (walk->waiting || walk->draining || (why != STREAM_FINISHED && walk->step < walk->script->count))) fail(walk, why, trail);
  tell_when_over(walk->dialogue);
}

/* ---- life ------------------------------------------------------------------------------------------------------ */

struct dialogue *dialogue_new(
    struct sim *sim, struct cpu *const cpus[2], const struct cost_row *const wake[2], const struct dialogue_observer *observer, const struct draw_key *key) {
  struct dialogue *dialogue = sim_alloc(sim, sizeof *dialogue);
  dialogue->sim = sim;
  dialogue->observer = *observer;
  dialogue->key = *key;
  for (int side = 0; side < 2; side++) {
    dialogue->cpus[side] = cpus[side];
    dialogue->wake[side] = wake[side];
    dialogue->walks[side] = (struct walk){.dialogue = dialogue, .side = (enum net_side)side, .asleep_since = sim_now(sim)};
  }
  return dialogue;
}

void dialogue_listen(struct dialogue *dialogue, struct stream_observer observers[2]) {
  for (int side = 0; side < 2; side++) observers[side] = (struct stream_observer){opened, arrived, closed, acknowledged, &dialogue->walks[side]};
}

void dialogue_start(
    struct dialogue *dialogue, struct stream *stream, const struct dialogue_script *const scripts[2], uint32_t epoch, const struct trail trails[2]) {
  assert(dialogue_is_over(dialogue) && epoch < DIALOGUE_EPOCHS);
  dialogue->stream = stream;
  dialogue->key.message = epoch;
  dialogue->told = false;
  for (int side = 0; side < 2; side++) {
    struct walk *walk = &dialogue->walks[side];
    walk->script = scripts[side];
    walk->step = 0;
    if (trails) walk->trail = trails[side];
  }
  for (int side = 0; side < 2; side++) go_on(&dialogue->walks[side]);
}

bool dialogue_is_over(const struct dialogue *dialogue) {
  for (int side = 0; side < 2; side++) {
    const struct walk *walk = &dialogue->walks[side];
    if (walk->script && (walk->step < walk->script->count || walk->working || walk->waiting || walk->draining)) return false;
  }
  return true;
}
