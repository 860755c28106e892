/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/security/handshake.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* How far one message has got. */
struct progress {
  struct handshake *handshake;
  int index; /* of the message */
  bool sent_once;
  uint16_t times_sent;
  uint64_t parts_in; /* bit per datagram */
  bool complete;
  struct trail first_sent;
};

struct handshake {
  struct handshake_peers peers;
  const struct handshake_table *table;
  struct handshake_ladder ladder;
  struct draw_key key;
  struct handshake_observer observer;
  struct progress *progress;
  int current; /* message being prepared, under way or being digested */
  struct event timer;
  int waits;           /* waits begun for the current request */
  int retransmissions; /* over all requests */
  bool over;
};

static enum handshake_role sender_of(int message) { return message % 2 ? HANDSHAKE_RESPONDER : HANDSHAKE_INITIATOR; }

void handshake_table_free(struct handshake_table *table) {
  if (!table) return;
  free(table->messages);
  table->messages = NULL;
  table->count = 0;
}

static int resolve_op(struct handshake_op *op, const struct cost_platform *platform, const char *key, struct err *e) {
  op->part = strcmp(op->algorithm, "software") == 0 ? PART_SOFTWARE : PART_CRYPTO;
  op->row = cost_find(platform, op->algorithm, op->operation);
  if (op->row || op->optional) return 0;
  return err_add(
      e, ERR_INPUT, "%s: platform %s states no cost for %s %s, which this handshake needs", key, cost_platform_name(platform), op->algorithm, op->operation);
}

int handshake_resolve(struct handshake_table *table, const struct cost_platform *const platforms[2], const char *const keys[2], struct err *e) {
  int rc = 0;
  for (int i = 0; i < table->count; i++) {
    struct handshake_message *message = &table->messages[i];
    enum handshake_role sender = sender_of(i), receiver = !sender;
    for (int k = 0; k < message->before_count; k++) rc |= resolve_op(&message->before[k], platforms[sender], keys[sender], e);
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

static void message_ready(void *arg, const struct trail *trail);
static void last_digested(void *arg, const struct trail *trail);

/* Adds what a list of operations costs on the side of `role`. */
static void charge(
    const struct handshake *hs, int message, enum handshake_role role, const struct handshake_op *ops, int count, int first_draw, int64_t cost[PART_COUNT]) {
  struct draw_key key = hs->key;
  key.purpose = role == HANDSHAKE_INITIATOR ? DRAW_COST_INITIATOR : DRAW_COST_RESPONDER;
  key.message = hs->table->messages[message].number;
  for (int i = 0; i < count; i++) {
    if (!ops[i].row) continue;
    key.fragment = (uint16_t)(first_draw + ops[i].draw);
    cost[ops[i].part] += ops[i].times * cost_draw(ops[i].row, ops[i].size_bytes, random_draw(&key));
  }
}

static void charge_before(const struct handshake *hs, int message, int64_t cost[PART_COUNT]) {
  const struct handshake_message *m = &hs->table->messages[message];
  charge(hs, message, sender_of(message), m->before, m->before_count, 0, cost);
}

static void charge_after(const struct handshake *hs, int message, int64_t cost[PART_COUNT]) {
  const struct handshake_message *m = &hs->table->messages[message];
  charge(hs, message, !sender_of(message), m->after, m->after_count, HANDSHAKE_OPS, cost);
}

/* A peer digests the message that has come in and prepares its own in one go, as a daemon's worker thread does. */
static void digest_and_prepare(struct handshake *hs, const struct trail *trail) {
  int64_t cost[PART_COUNT] = {0};
  enum handshake_role role = !sender_of(hs->current);
  charge_after(hs, hs->current, cost);
  if (hs->current + 1 == hs->table->count) {
    cpu_submit(hs->peers.cpus[role], trail, cost, last_digested, hs);
    return;
  }
  hs->current++;
  charge_before(hs, hs->current, cost);
  cpu_submit(hs->peers.cpus[role], trail, cost, message_ready, hs);
}

static void send_message(struct handshake *hs, int index, const struct trail *trail) {
  const struct handshake_message *message = &hs->table->messages[index];
  struct progress *progress = &hs->progress[index];
  for (int part = 0; part < message->part_count; part++) {
    struct net_message datagram = {
        .udp = true,
        .size_bytes = message->part_bytes[part],
        .number = message->number,
        .part = (uint16_t)part,
        .attempt = progress->times_sent,
        .tag = progress,
    };
    port_send(hs->peers.ports[sender_of(index)], &datagram, trail);
  }
  progress->times_sent++;
}

static void finish(struct handshake *hs, bool ok, const struct trail *trail) {
  hs->over = true;
  if (hs->observer.finished) hs->observer.finished(hs->observer.arg, ok, trail);
}

static void arm_timer(struct handshake *hs);

/* The request that is unanswered: the message before the current one if that is its response. */
static int open_request(const struct handshake *hs) { return hs->current - hs->current % 2; }

static void wait_over(struct sim *sim, void *arg) {
  struct handshake *hs = arg;
  struct trail trail = hs->progress[open_request(hs)].first_sent;
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
    struct draw_key key = hs->key;
    key.purpose = DRAW_RETRANSMIT_JITTER;
    key.message = hs->table->messages[open_request(hs)].number;
    key.attempt = (uint16_t)hs->waits;
    int64_t most = (int64_t)((__int128)wait * hs->ladder.jitter_ppb / SHARE_ONE);
    wait -= random_under(&key, most + 1);
  }
  hs->waits++;
  hs->timer = event_at(hs->peers.sim, sim_now(hs->peers.sim) + wait, wait_over, hs);
}

static void message_ready(void *arg, const struct trail *trail) {
  struct handshake *hs = arg;
  struct progress *progress = &hs->progress[hs->current];
  progress->first_sent = *trail;
  progress->sent_once = true;
  if (hs->observer.sent) hs->observer.sent(hs->observer.arg, hs->current, trail);
  int sent = hs->current;
  if (sender_of(sent) == HANDSHAKE_INITIATOR) {
    hs->waits = 0;
    arm_timer(hs);
  }
  send_message(hs, sent, trail);
}

static void last_digested(void *arg, const struct trail *trail) { finish(arg, true, trail); }

/* A request whose response already exists has come in again: answer it once per repetition, at its first datagram
 * (RFC 7383 section 2.6.1: fragment number 1 triggers the stored response). */
static void repeat_response(struct handshake *hs, int request, const struct net_message *datagram, const struct trail *trail) {
  int response = request + 1;
  if (sender_of(response) == HANDSHAKE_RESPONDER && hs->progress[response].sent_once && !hs->progress[response].complete && datagram->part == 0)
    send_message(hs, response, trail);
}

static void datagram_in(void *arg, const struct net_message *datagram, const struct trail *trail) {
  (void)arg;
  struct progress *progress = datagram->tag;
  struct handshake *hs = progress->handshake;
  int index = progress->index;
  if (hs->over) return;
  if (progress->complete) {
    repeat_response(hs, index, datagram, trail);
    return;
  }
  const struct handshake_message *message = &hs->table->messages[index];
  progress->parts_in |= UINT64_C(1) << datagram->part;
  if (progress->parts_in != UINT64_MAX >> (64 - message->part_count)) return;
  assert(index == hs->current);
  progress->complete = true;
  if (sender_of(index) == HANDSHAKE_RESPONDER) event_cancel(hs->peers.sim, hs->timer);
  if (hs->observer.received) hs->observer.received(hs->observer.arg, index, trail);
  digest_and_prepare(hs, trail);
}

struct handshake *handshake_start(const struct handshake_peers *peers, const struct handshake_table *table, const struct handshake_ladder *ladder,
    const struct draw_key *key, const struct handshake_observer *observer, const struct trail *trail) {
  struct handshake *hs = sim_alloc(peers->sim, sizeof *hs);
  *hs = (struct handshake){.peers = *peers, .table = table, .ladder = *ladder, .key = *key, .observer = *observer};
  hs->progress = sim_alloc(peers->sim, (size_t)table->count * sizeof *hs->progress);
  for (int i = 0; i < table->count; i++) hs->progress[i] = (struct progress){.handshake = hs, .index = i};
  for (int side = 0; side < 2; side++) port_on_udp(peers->ports[side], datagram_in, hs);
  int64_t cost[PART_COUNT] = {0};
  charge_before(hs, 0, cost);
  cpu_submit(peers->cpus[HANDSHAKE_INITIATOR], trail, cost, message_ready, hs);
  return hs;
}

int handshake_retransmissions(const struct handshake *handshake) { return handshake->retransmissions; }
