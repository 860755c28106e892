/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/security/handshake.h"
#include "models/crypto/alg_own.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
  NUMBERS = 256, /* message numbers of an epoch */
  CHALLENGE_PART = HANDSHAKE_PARTS - 1,
};

/* How far one message has got. */
struct progress {
  struct handshake *handshake;
  uint64_t parts_in; /* bit per datagram */
  int index;         /* of the message */
  uint16_t times_sent;
  bool sent_once, complete;
};

struct handshake {
  struct handshake_peers peers;
  struct handshake_observer observer;
  struct handshake_server server;
  const struct handshake_table *table;
  struct handshake_ladder ladder;
  struct draw_key key;
  uint32_t epoch;
  int capacity;
  int current; /* message being prepared, under way or being digested */
  struct event timer;
  struct trail asked; /* when the current wait's ladder began */
  int waits;          /* waits begun for the current request */
  int retransmissions;
  bool under_way;
  bool forgotten;          /* by the responder */
  bool at_work[2];         /* by role */
  bool cookie;             /* the initiator has one, */
  int cookie_index;        /* from this message */
  uint16_t cookie_attempt; /* and its attempt on */
  struct progress progress[];
};

static enum handshake_role sender_of(int message) { return message % 2 ? HANDSHAKE_RESPONDER : HANDSHAKE_INITIATOR; }

void handshake_table_free(struct handshake_table *table) {
  if (!table) return;
  free(table->messages);
  table->messages = NULL;
  table->count = 0;
}

static int resolve_op(struct handshake_op *op, const struct cost_platform *platform, const char *key, struct err *e) {
  op->part = cost_part(op->algorithm, op->operation);
  op->row = cost_find(platform, op->algorithm, op->operation);
  op->random = op->row && cost_is_random(op->row);
  if (op->row || op->optional) return 0;
  const struct alg *own = alg_own_titled(op->algorithm);
  if (!own)
    return err_add(
        e, ERR_INPUT, "%s: platform %s states no cost for %s %s, which this handshake needs", key, cost_platform_name(platform), op->algorithm, op->operation);
  return err_add(e, ERR_INPUT,
      "%s: platform %s states no cost for %s %s, which this handshake needs; write a row for it into a file of yours, and name it as ./FILE.csv (with a line "
      "'# base: NAME' in it) or as {base: NAME, %s.%s: ./FILE.csv}",
      key, cost_platform_name(platform), op->algorithm, op->operation, own->name, op->operation);
}

int handshake_resolve(struct handshake_table *table, const struct cost_platform *const platforms[HANDSHAKE_PLATFORMS],
    const char *const keys[HANDSHAKE_PLATFORMS], struct err *e) {
  enum { HSM = 2 };
  int rc = 0;
  for (int i = 0; i < table->count; i++) {
    struct handshake_message *message = &table->messages[i];
    enum handshake_role sender = sender_of(i), receiver = !sender;
    for (int k = 0; k < message->before_count; k++) {
      struct handshake_op *op = &message->before[k];
      op->hsm = op->hsm && sender == HANDSHAKE_RESPONDER && platforms[HSM];
      int place = op->hsm ? HSM : (int)sender;
      rc |= resolve_op(op, platforms[place], keys[place], e);
    }
    for (int k = 0; k < message->after_count; k++) rc |= resolve_op(&message->after[k], platforms[receiver], keys[receiver], e);
  }
  return rc ? ERR_INPUT : 0;
}

simtime handshake_wait(const struct handshake_ladder *ladder, int n) {
  /* Exact thousandths as far as they fit; beyond the horizon it no longer matters. */
  __int128 wait = ladder->timeout;
  for (int i = 0; i < n && wait < SIMTIME_HORIZON; i++) wait = wait * ladder->base_milli / 1000;
  if (wait > SIMTIME_HORIZON) wait = SIMTIME_HORIZON;
  if (ladder->limit > 0 && wait > ladder->limit) wait = ladder->limit;
  return (simtime)wait;
}

static uint32_t number_of(const struct handshake *hs, int message) { return hs->epoch * NUMBERS + hs->table->messages[message].number; }

/* What a peer has to do at once. */
struct work {
  int64_t cost[PART_COUNT];
  int64_t hsm;
};

/* Adds what a list of operations costs on the side of `role`. */
static void charge(
    const struct handshake *hs, int message, enum handshake_role role, const struct handshake_op *ops, int count, int first_draw, struct work *work) {
  struct draw_key key = hs->key;
  key.purpose = role == HANDSHAKE_INITIATOR ? DRAW_COST_INITIATOR : DRAW_COST_RESPONDER;
  key.message = number_of(hs, message);
  for (int i = 0; i < count; i++) {
    if (!ops[i].row) continue;
    key.fragment = (uint16_t)(first_draw + ops[i].draw);
    int64_t cost = ops[i].times * cost_draw(ops[i].row, ops[i].size_bytes, ops[i].random ? random_draw(&key) : 0);
    if (ops[i].hsm && role == HANDSHAKE_RESPONDER)
      work->hsm += cost;
    else
      work->cost[ops[i].part] += cost;
  }
}

static void charge_before(const struct handshake *hs, int message, struct work *work) {
  const struct handshake_message *m = &hs->table->messages[message];
  charge(hs, message, sender_of(message), m->before, m->before_count, 0, work);
}

static void charge_after(const struct handshake *hs, int message, struct work *work) {
  const struct handshake_message *m = &hs->table->messages[message];
  charge(hs, message, !sender_of(message), m->after, m->after_count, HANDSHAKE_OPS, work);
}

static void submit(struct handshake *hs, enum handshake_role role, const struct trail *trail, const struct work *work, cpu_done_fn *done) {
  hs->at_work[role] = true;
  if (role == HANDSHAKE_RESPONDER && hs->server.work) {
    hs->server.work(hs->server.arg, trail, work->cost, work->hsm, done, hs);
    return;
  }
  assert(work->hsm == 0);
  cpu_submit(hs->peers.cpus[role], trail, work->cost, done, hs);
}

static void message_ready(void *arg, const struct trail *trail);
static void last_digested(void *arg, const struct trail *trail);

/* A peer digests the message that has come in and prepares its own in one go, as a daemon's worker thread does. */
static void digest_and_prepare(struct handshake *hs, const struct trail *trail) {
  struct work work = {0};
  enum handshake_role role = !sender_of(hs->current);
  charge_after(hs, hs->current, &work);
  if (hs->current + 1 == hs->table->count) {
    submit(hs, role, trail, &work, last_digested);
    return;
  }
  hs->current++;
  charge_before(hs, hs->current, &work);
  submit(hs, role, trail, &work, message_ready);
}

static bool carries_cookie(const struct handshake *hs, int message, uint16_t attempt) {
  return hs->cookie && message <= hs->table->opens && (message > hs->cookie_index || attempt >= hs->cookie_attempt);
}

static void send_message(struct handshake *hs, int index, const struct trail *trail) {
  const struct handshake_message *message = &hs->table->messages[index];
  struct progress *progress = &hs->progress[index];
  int extra = carries_cookie(hs, index, progress->times_sent) ? hs->table->challenge_bytes : 0;
  for (int part = 0; part < message->part_count; part++) {
    struct net_message datagram = {
        .udp = true,
        .protocol = PORT_IKE,
        .size_bytes = message->part_bytes[part] + extra,
        .number = number_of(hs, index),
        .part = (uint16_t)part,
        .attempt = progress->times_sent,
        .tag = progress,
    };
    port_send(hs->peers.ports[sender_of(index)], &datagram, trail);
  }
  progress->times_sent++;
}

/* "Come again with this cookie": the responder keeps nothing. */
static void send_challenge(struct handshake *hs, int request, const struct net_message *asked, const struct trail *trail) {
  struct net_message datagram = {
      .udp = true,
      .protocol = PORT_IKE,
      .size_bytes = hs->table->challenge_reply_bytes,
      .number = number_of(hs, request + 1),
      .part = CHALLENGE_PART,
      .attempt = asked->attempt,
      .tag = &hs->progress[request + 1],
  };
  port_send(hs->peers.ports[HANDSHAKE_RESPONDER], &datagram, trail);
}

static void finish(struct handshake *hs, bool ok, const struct trail *trail) {
  hs->under_way = false;
  if (hs->observer.finished) hs->observer.finished(hs->observer.arg, ok, trail);
}

static void arm_timer(struct handshake *hs);

/* The request that is unanswered: the message before the current one if that is its response. */
static int open_request(const struct handshake *hs) { return hs->current - hs->current % 2; }

static void wait_over(struct sim *sim, void *arg) {
  struct handshake *hs = arg;
  struct trail trail = hs->asked;
  trail_advance(&trail, PART_TRANSPORT_STALL, sim_now(sim));
  if (hs->waits > hs->ladder.tries) {
    finish(hs, false, &trail);
    return;
  }
  hs->retransmissions++;
  send_message(hs, open_request(hs), &trail);
  arm_timer(hs);
}

static void arm_timer(struct handshake *hs) {
  simtime wait = handshake_wait(&hs->ladder, hs->waits);
  if (hs->ladder.jitter_ppb > 0) {
    enum { AFTER_CHALLENGE = 1 << 11 };
    struct draw_key key = hs->key;
    key.purpose = DRAW_RETRANSMIT_JITTER;
    key.message = number_of(hs, open_request(hs));
    key.attempt = (uint16_t)(hs->waits | (hs->cookie ? AFTER_CHALLENGE : 0));
    int64_t most = (int64_t)((__int128)wait * hs->ladder.jitter_ppb / SHARE_ONE);
    wait -= random_under(&key, most + 1);
  }
  hs->waits++;
  hs->timer = event_at(hs->peers.sim, sim_now(hs->peers.sim) + wait, wait_over, hs);
}

/* A request goes out for the first time, or anew with a cookie: its ladder begins. */
static void ask(struct handshake *hs, int request, const struct trail *trail) {
  hs->waits = 0;
  hs->asked = *trail;
  arm_timer(hs);
  send_message(hs, request, trail);
}

static void message_ready(void *arg, const struct trail *trail) {
  struct handshake *hs = arg;
  struct progress *progress = &hs->progress[hs->current];
  int sent = hs->current;
  hs->at_work[sender_of(sent)] = false;
  if (!hs->under_way || (hs->forgotten && sender_of(sent) == HANDSHAKE_RESPONDER)) return;
  progress->sent_once = true;
  if (hs->observer.sent) hs->observer.sent(hs->observer.arg, sent, trail);
  if (sender_of(sent) == HANDSHAKE_INITIATOR)
    ask(hs, sent, trail);
  else
    send_message(hs, sent, trail);
}

static void last_digested(void *arg, const struct trail *trail) {
  struct handshake *hs = arg;
  hs->at_work[HANDSHAKE_INITIATOR] = false;
  if (hs->under_way) finish(hs, true, trail);
}

/* A request whose response already exists has come in again: answer it once per repetition, at its first datagram
 * (RFC 7383 section 2.6.1: fragment number 1 triggers the stored response). */
static void repeat_response(struct handshake *hs, int request, const struct net_message *datagram, const struct trail *trail) {
  const struct progress *response = &hs->progress[request + 1];
  if (response->sent_once && !response->complete && datagram->part == 0) send_message(hs, request + 1, trail);
}

static void challenged(struct handshake *hs, int response, const struct trail *trail) {
  int request = response - 1;
  if (hs->cookie || hs->progress[response].complete || open_request(hs) != request) return;
  hs->cookie = true;
  hs->cookie_index = request;
  hs->cookie_attempt = hs->progress[request].times_sent;
  event_cancel(hs->peers.sim, hs->timer);
  ask(hs, request, trail);
}

/* False when the responder does not take the request (up). */
static bool admitted(struct handshake *hs, int request, const struct net_message *datagram, const struct trail *trail) {
  if (request > hs->table->opens || !hs->server.admit) return true;
  bool cookie = carries_cookie(hs, request, datagram->attempt);
  enum handshake_verdict verdict = hs->server.admit(hs->server.arg, request == hs->table->opens, cookie);
  if (verdict == HANDSHAKE_ADMIT) return true;
  hs->progress[request].parts_in = 0;
  if (verdict == HANDSHAKE_CHALLENGE) send_challenge(hs, request, datagram, trail);
  return false;
}

/* Whether the responder listens to a request: it may have forgotten the session, and then starts afresh with a repetition of
 * what opened it, unless the initiator is past that. */
static bool is_known(struct handshake *hs, int request) {
  if (!hs->forgotten) return true;
  if (request > hs->table->opens || hs->at_work[HANDSHAKE_RESPONDER] || open_request(hs) != request || hs->progress[request + 1].complete) return false;
  hs->forgotten = false;
  hs->current = request;
  hs->progress[request].complete = false;
  hs->progress[request].parts_in = 0;
  hs->progress[request + 1].sent_once = false;
  return true;
}

static void datagram_in(void *arg, const struct net_message *datagram, const struct trail *trail) {
  (void)arg;
  struct progress *progress = datagram->tag;
  struct handshake *hs = progress->handshake;
  int index = progress->index;
  bool request = sender_of(index) == HANDSHAKE_INITIATOR;
  if (!hs->under_way || index >= hs->table->count || datagram->number != number_of(hs, index)) return;
  if (!request && datagram->part == CHALLENGE_PART && hs->table->messages[index].part_count <= CHALLENGE_PART) {
    challenged(hs, index, trail);
    return;
  }
  if (request && !is_known(hs, index)) return;
  if (progress->complete) {
    if (request) repeat_response(hs, index, datagram, trail);
    return;
  }
  const struct handshake_message *message = &hs->table->messages[index];
  progress->parts_in |= UINT64_C(1) << datagram->part;
  if (progress->parts_in != UINT64_MAX >> (64 - message->part_count)) return;
  if (request && !admitted(hs, index, datagram, trail)) return;
  assert(index == hs->current);
  progress->complete = true;
  if (!request) event_cancel(hs->peers.sim, hs->timer);
  if (hs->observer.received) hs->observer.received(hs->observer.arg, index, trail);
  digest_and_prepare(hs, trail);
}

struct handshake *handshake_new(const struct handshake_peers *peers, const struct handshake_observer *observer, int capacity, const struct draw_key *key) {
  struct handshake *hs = sim_alloc(peers->sim, sizeof *hs + (size_t)capacity * sizeof *hs->progress);
  hs->peers = *peers;
  hs->observer = *observer;
  hs->key = *key;
  hs->capacity = capacity;
  for (int side = 0; side < 2; side++) port_on(peers->ports[side], PORT_IKE, datagram_in, NULL);
  return hs;
}

void handshake_start(struct handshake *hs, const struct handshake_table *table, const struct handshake_ladder *ladder, const struct handshake_server *server,
    uint32_t epoch, const struct trail *trail) {
  assert(handshake_is_idle(hs) && table->count <= hs->capacity && epoch < HANDSHAKE_EPOCHS);
  hs->table = table;
  hs->ladder = *ladder;
  hs->server = server ? *server : (struct handshake_server){0};
  hs->epoch = epoch;
  hs->current = 0;
  hs->retransmissions = 0;
  hs->under_way = true;
  hs->forgotten = hs->cookie = false;
  for (int i = 0; i < table->count; i++) hs->progress[i] = (struct progress){.handshake = hs, .index = i};
  struct work work = {0};
  charge_before(hs, 0, &work);
  submit(hs, HANDSHAKE_INITIATOR, trail, &work, message_ready);
}

void handshake_forget(struct handshake *hs) { hs->forgotten = true; }

int handshake_retransmissions(const struct handshake *handshake) { return handshake->retransmissions; }

bool handshake_is_idle(const struct handshake *hs) { return !hs->under_way && !hs->at_work[HANDSHAKE_INITIATOR] && !hs->at_work[HANDSHAKE_RESPONDER]; }
