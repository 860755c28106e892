/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/security/channel.h"

#include <assert.h>

/* Of TLS 1.3: content type and tag around an alert of two bytes, and the record's header. */
enum { RECORD_MOST = 16384, CLOSE_NOTIFY = 5 + 2 + 1 + 16 };

/* One message of one side. */
struct parcel {
  struct parcel *next;
  int64_t bytes, wire_bytes;
  int64_t end; /* offset in the stream behind it, once written */
  void *message;
  uint32_t number; /* of the side, keys its draws */
  bool here;       /* its last byte has arrived */
  struct trail trail;
};

struct parcel_queue {
  struct parcel *first, **last;
};

struct channel_side {
  struct channel *channel;
  enum net_side side;
  bool up;
  bool told, down; /* the other side has closed or it failed; it failed */
  bool sealing, opening;
  bool closing;                  /* once all is sent */
  uint32_t sent, wakes;          /* numbers of draws */
  int64_t written;               /* offset of what this side writes next */
  simtime active_at;             /* when the side last did something */
  struct parcel_queue to_send;   /* not sealed yet */
  struct parcel_queue in_flight; /* written by this side, not taken by the other */
};

struct channel {
  struct sim *sim;
  const struct channel_kind *kind;
  struct channel_observer observer;
  struct cpu *cpus[2];
  struct draw_key key;
  struct stream *stream;
  struct stream_observer handshake[2];
  struct dialogue *dialogue;
  struct trail called;
  struct channel_side sides[2];
};

/* ---- queues ---------------------------------------------------------------------------------------------------- */

static void push(struct parcel_queue *queue, struct parcel *parcel) {
  parcel->next = NULL;
  if (!queue->first) queue->last = &queue->first;
  *queue->last = parcel;
  queue->last = &parcel->next;
}

static struct parcel *pop(struct parcel_queue *queue) {
  struct parcel *parcel = queue->first;
  if (parcel) queue->first = parcel->next;
  return parcel;
}

/* ---- costs ----------------------------------------------------------------------------------------------------- */

void channel_find_rows(struct channel_kind *kind, const struct tls13_config *tls, const struct cost_platform *const platforms[2]) {
  for (int side = 0; side < 2; side++) {
    kind->rows[side].seal = tls ? cost_find(platforms[side], tls->cipher->aead, "seal") : NULL;
    kind->rows[side].open = tls ? cost_find(platforms[side], tls->cipher->aead, "open") : NULL;
    kind->rows[side].wake = cost_find(platforms[side], "software", "wake");
  }
}

bool channel_is_random(const struct channel_kind *kind) {
  bool random = false;
  for (int side = 0; side < 2; side++) {
    const struct channel_rows *rows = &kind->rows[side];
    const struct cost_row *const all[] = {rows->seal, rows->open, rows->message, rows->wake};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) random |= all[i] && cost_is_random(all[i]);
    if (kind->handshake) random |= dialogue_is_random(&kind->handshake[side]);
  }
  return random;
}

/* What a draw of a message is for; the numbers key it. */
enum { DRAW_OF_SEAL, DRAW_OF_OPEN, DRAW_OF_MESSAGE, DRAW_OF_MESSAGE_IN };

static int64_t charge(const struct channel_side *side, const struct cost_row *row, int64_t bytes, uint32_t number, int use) {
  if (!row) return 0;
  struct draw_key key = side->channel->key;
  key.purpose = side->side == NET_A ? DRAW_COST_INITIATOR : DRAW_COST_RESPONDER;
  /* Behind every epoch of a handshake; a connection keeps its messages apart from those of others by its own number. */
  key.message = DIALOGUE_EPOCHS + (side->channel->key.message << 16) + (number & 0xffff);
  key.fragment = (uint16_t)use;
  return cost_draw(row, bytes, cost_is_random(row) ? random_draw(&key) : 0);
}

/* A message longer than a record is several. */
static int64_t protect(const struct channel_side *side, const struct cost_row *row, int64_t bytes, uint32_t number, int use) {
  int64_t whole = bytes / RECORD_MOST, rest = bytes % RECORD_MOST, cost = 0;
  if (whole > 0) cost += whole * charge(side, row, RECORD_MOST, number, use);
  if (rest > 0) cost += charge(side, row, rest, number, use);
  return cost;
}

static const struct channel_rows *rows_of(const struct channel_side *side) { return &side->channel->kind->rows[side->side]; }

static int64_t wake_cost(struct channel_side *side) {
  struct channel *channel = side->channel;
  const struct cost_row *row = rows_of(side)->wake;
  if (!row || sim_now(channel->sim) - side->active_at < DIALOGUE_ASLEEP) return 0;
  struct draw_key key = channel->key;
  key.purpose = DRAW_WAKE;
  key.message = DIALOGUE_EPOCHS + channel->key.message;
  key.fragment = (uint16_t)(2 * (side->wakes++ % (DRAW_FRAGMENTS / 2)) + side->side);
  return cost_draw(row, 0, cost_is_random(row) ? random_draw(&key) : 0);
}

/* ---- sending --------------------------------------------------------------------------------------------------- */

static struct channel_side *other(struct channel_side *side) { return &side->channel->sides[!side->side]; }

static void send_next(struct channel_side *side);

static void close_now(struct channel_side *side, const struct trail *trail) {
  struct channel *channel = side->channel;
  if (channel->kind->handshake) stream_write(channel->stream, side->side, CLOSE_NOTIFY, trail);
  stream_close(channel->stream, side->side, trail);
}

static void sealed(void *arg, const struct trail *trail) {
  struct channel_side *side = arg;
  struct parcel *parcel = pop(&side->to_send);
  side->sealing = false;
  side->active_at = sim_now(side->channel->sim);
  parcel->trail = *trail;
  if (!side->down) {
    parcel->end = side->written += parcel->wire_bytes;
    push(&side->in_flight, parcel);
    stream_write(side->channel->stream, side->side, parcel->wire_bytes, trail);
    if (side->closing && !side->to_send.first) close_now(side, trail);
  }
  send_next(side);
}

static void send_next(struct channel_side *side) {
  struct parcel *parcel = side->to_send.first;
  if (!side->up || side->down || side->sealing || !parcel) return;
  int64_t cost[PART_COUNT] = {0};
  cost[PART_SYMMETRIC] = protect(side, rows_of(side)->seal, parcel->bytes, parcel->number, DRAW_OF_SEAL);
  cost[PART_SOFTWARE] = charge(side, rows_of(side)->message, parcel->bytes, parcel->number, DRAW_OF_MESSAGE);
  side->sealing = true;
  trail_advance(&parcel->trail, PART_CPU_QUEUE, sim_now(side->channel->sim));
  cpu_submit(side->channel->cpus[side->side], &parcel->trail, cost, sealed, side);
}

void channel_send(struct channel *channel, enum net_side which, int64_t bytes, void *message, const struct trail *trail) {
  struct channel_side *side = &channel->sides[which];
  assert(bytes > 0 && !side->closing);
  struct parcel *parcel = sim_take(channel->sim, sizeof *parcel);
  const bool tls = channel->kind->handshake != NULL;
  *parcel =
      (struct parcel){.bytes = bytes, .wire_bytes = tls ? tls13_records_bytes(bytes) : bytes, .message = message, .number = side->sent++, .trail = *trail};
  push(&side->to_send, parcel);
  send_next(side);
}

void channel_close(struct channel *channel, enum net_side which, const struct trail *trail) {
  struct channel_side *side = &channel->sides[which];
  if (side->closing || side->down) return;
  side->closing = true;
  if (!side->to_send.first) close_now(side, trail);
}

/* ---- receiving ------------------------------------------------------------------------------------------------- */

static void take_next(struct channel_side *side);

static void opened(void *arg, const struct trail *trail) {
  struct channel_side *side = arg;
  struct channel *channel = side->channel;
  struct parcel *parcel = pop(&other(side)->in_flight);
  void *message = parcel->message;
  sim_release(channel->sim, parcel, sizeof *parcel);
  side->opening = false;
  side->active_at = sim_now(channel->sim);
  if (message) channel->observer.received(channel->observer.arg, side->side, message, trail);
  take_next(side);
}

/* The stream tells the way of one write: that of the byte that was missing. It is the one whose trail this continues: the way adds to these
 * parts alone. */
static bool continues(const struct trail *arrival, const struct trail *written) {
  static const bool of_the_way[PART_COUNT] = {
      [PART_SERIALISATION] = true, [PART_LINK_QUEUE] = true, [PART_PROPAGATION] = true, [PART_TRANSPORT_STALL] = true, [PART_SOFTWARE] = true};
  if (arrival->at < written->at) return false;
  for (int part = 0; part < PART_COUNT; part++) {
    int64_t added = arrival->parts[part] - written->parts[part];
    if (added < 0 || (added > 0 && !of_the_way[part])) return false;
  }
  return true;
}

/* The bytes before `end` are here. Messages that came with the one whose way is known stood still for as long as they left before it; those
 * that left later were here already and waited for it. */
static void note_arrivals(struct channel_side *side, int64_t end, const struct trail *arrival) {
  struct parcel *first = other(side)->in_flight.first;
  while (first && first->here) first = first->next;
  const struct parcel *known = NULL;
  for (const struct parcel *parcel = first; parcel && (parcel == first || parcel->end - parcel->wire_bytes < end); parcel = parcel->next)
    if (continues(arrival, &parcel->trail)) known = parcel;
  const struct trail written = known ? known->trail : *arrival;
  for (struct parcel *parcel = first; parcel && parcel->end <= end; parcel = parcel->next) {
    if (written.at >= parcel->trail.at && known) {
      for (int part = 0; part < PART_COUNT; part++) parcel->trail.parts[part] += arrival->parts[part] - written.parts[part];
      parcel->trail.parts[PART_TRANSPORT_STALL] += written.at - parcel->trail.at;
      parcel->trail.at = arrival->at;
    } else {
      trail_advance(&parcel->trail, PART_TRANSPORT_STALL, arrival->at);
    }
    parcel->here = true;
  }
}

static void take_next(struct channel_side *side) {
  struct channel *channel = side->channel;
  if (!side->up || side->opening) return;
  stream_read(channel->stream, side->side);
  struct parcel *parcel = other(side)->in_flight.first;
  if (!parcel || !parcel->here) return;
  trail_advance(&parcel->trail, PART_CPU_QUEUE, sim_now(channel->sim));
  int64_t cost[PART_COUNT] = {0};
  cost[PART_SYMMETRIC] = protect(side, rows_of(side)->open, parcel->bytes, parcel->number, DRAW_OF_OPEN);
  cost[PART_SOFTWARE] = wake_cost(side);
  if (parcel->message) cost[PART_SOFTWARE] += charge(side, rows_of(side)->message, parcel->bytes, parcel->number, DRAW_OF_MESSAGE_IN);
  side->opening = true;
  cpu_submit(channel->cpus[side->side], &parcel->trail, cost, opened, side);
}

/* ---- the connection ------------------------------------------------------------------------------------------------ */

static int64_t bytes_of(const struct dialogue_script *script, enum dialogue_kind kind) {
  int64_t bytes = 0;
  for (int i = 0; i < script->count; i++)
    if (script->steps[i].kind == kind) bytes += script->steps[i].bytes;
  return bytes;
}

/* Tickets come behind the server's handshake; nobody hears of them. */
static void expect_tickets(struct channel *channel, const struct trail *trail) {
  struct channel_side *server = &channel->sides[NET_B];
  int64_t end = server->written - channel->kind->ticket_count * channel->kind->ticket_bytes;
  for (int i = 0; i < channel->kind->ticket_count; i++) {
    struct parcel *parcel = sim_take(channel->sim, sizeof *parcel);
    *parcel = (struct parcel){.bytes = channel->kind->ticket_bytes, .end = end += channel->kind->ticket_bytes, .number = server->sent++, .trail = *trail};
    push(&server->in_flight, parcel);
  }
}

static void now_up(struct channel_side *side, const struct trail *trail) {
  struct channel *channel = side->channel;
  side->up = true;
  side->active_at = sim_now(channel->sim);
  /* What had the connection set up waited for all that; what came later, for its end. */
  for (struct parcel *parcel = side->to_send.first; parcel; parcel = parcel->next) {
    if (side->side == NET_A && parcel->trail.at == channel->called.at)
      parcel->trail = *trail;
    else
      trail_advance(&parcel->trail, PART_TRANSPORT_STALL, sim_now(channel->sim));
  }
  if (channel->observer.up) channel->observer.up(channel->observer.arg, side->side, trail);
  send_next(side);
  take_next(side);
}

static void marked(void *arg, enum net_side which, int mark, const struct trail *trail) {
  struct channel *channel = arg;
  if (channel->observer.marked) channel->observer.marked(channel->observer.arg, which, mark, trail);
  if (mark != TLS13_READY) return;
  if (which == NET_B) expect_tickets(channel, trail);
  now_up(&channel->sides[which], trail);
}

static void worked(void *arg, enum net_side which, int use, int64_t duration) {
  struct channel *channel = arg;
  if (channel->observer.worked) channel->observer.worked(channel->observer.arg, which, use, duration);
}

static void go_down(struct channel_side *side, enum stream_end why, const struct trail *trail) {
  if (side->told) return;
  side->told = true;
  side->down = why != STREAM_FINISHED;
  if (side->channel->observer.down) side->channel->observer.down(side->channel->observer.arg, side->side, why, trail);
}

static void failed(void *arg, enum net_side which, enum stream_end why, const struct trail *trail) {
  struct channel *channel = arg;
  for (int side = 0; side < 2; side++) go_down(&channel->sides[which ^ side], why, trail);
}

static void stream_opened(void *arg, const struct trail *trail) {
  struct channel_side *side = arg;
  const struct stream_observer *handshake = &side->channel->handshake[side->side];
  if (handshake->opened)
    handshake->opened(handshake->arg, trail);
  else
    now_up(side, trail);
}

static void stream_arrived(void *arg, int64_t end, const struct trail *trail) {
  struct channel_side *side = arg;
  const struct stream_observer *handshake = &side->channel->handshake[side->side];
  note_arrivals(side, end, trail);
  if (!side->up && handshake->arrived)
    handshake->arrived(handshake->arg, end, trail);
  else
    take_next(side);
}

static void stream_acknowledged(void *arg, int64_t end) {
  struct channel_side *side = arg;
  const struct stream_observer *handshake = &side->channel->handshake[side->side];
  if (!side->up && handshake->acknowledged) handshake->acknowledged(handshake->arg, end);
}

static void stream_closed(void *arg, enum stream_end why, const struct trail *trail) {
  struct channel_side *side = arg;
  const struct stream_observer *handshake = &side->channel->handshake[side->side];
  if (!side->up && handshake->closed)
    handshake->closed(handshake->arg, why, trail);
  else
    go_down(side, why, trail);
}

struct channel *channel_new(struct sim *sim, struct port *const ports[2], struct cpu *const cpus[2], const struct channel_kind *kind,
    const struct channel_observer *observer, const struct draw_key *key) {
  struct channel *channel = sim_alloc(sim, sizeof *channel);
  channel->sim = sim;
  channel->kind = kind;
  channel->observer = *observer;
  channel->key = *key;
  struct stream_observer observers[2];
  for (int side = 0; side < 2; side++) {
    channel->cpus[side] = cpus[side];
    channel->sides[side] = (struct channel_side){.channel = channel, .side = (enum net_side)side, .active_at = sim_now(sim)};
    observers[side] = (struct stream_observer){stream_opened, stream_arrived, stream_closed, stream_acknowledged, &channel->sides[side]};
  }
  if (kind->handshake) {
    const struct dialogue_observer handshake = {marked, worked, failed, NULL, channel};
    const struct cost_row *wake[2] = {kind->rows[NET_A].wake, kind->rows[NET_B].wake};
    channel->dialogue = dialogue_new(sim, cpus, wake, &handshake, key);
    dialogue_listen(channel->dialogue, channel->handshake);
    for (int side = 0; side < 2; side++) channel->sides[side].written = bytes_of(&kind->handshake[side], DIALOGUE_WRITE);
  }
  channel->stream = stream_new(sim, ports, kind->tcp, observers, key);
  return channel;
}

void channel_connect(struct channel *channel, const struct trail *trail) {
  const struct dialogue_script *scripts[2];
  channel->called = *trail;
  if (channel->dialogue) {
    for (int side = 0; side < 2; side++) scripts[side] = &channel->kind->handshake[side];
    dialogue_start(channel->dialogue, channel->stream, scripts, channel->key.message, NULL);
  }
  stream_connect(channel->stream, trail);
}

const struct stream *channel_stream(const struct channel *channel) { return channel->stream; }
