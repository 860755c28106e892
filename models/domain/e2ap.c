/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/domain/e2ap.h"

#include <string.h>

enum { EPOCHS = 16 };

/* What a message under way is; the tag SCTP carries. The gNB is SCTP_CLIENT, the RIC SCTP_SERVER. */
enum pdu_kind { SETUP_REQUEST, SETUP_RESPONSE, SUBSCRIPTION_REQUEST, SUBSCRIPTION_RESPONSE, INDICATION, CONTROL_REQUEST, CONTROL_ACK, PDU_KINDS };

/* E2AP uses stream 0 for procedures that concern no UE; indications and control go on another. */
static const int streams[PDU_KINDS] = {[INDICATION] = 1, [CONTROL_REQUEST] = 1, [CONTROL_ACK] = 1};

/* An indication and what follows from it. */
struct loop {
  struct e2ap *e2ap;
  struct loop *next, *previous; /* of the node's unfinished ones */
  struct trail begun;
  int xapp;
  bool dead; /* its association was lost */
};

struct pdu {
  struct e2ap *e2ap;
  enum pdu_kind kind;
  int xapp;
  struct loop *loop;
};

/* A control request that the gNB has not acknowledged yet. */
struct request {
  struct request *next;
  simtime at;
};

/* An xApp's subscription to a node. */
struct subscription {
  struct e2ap *e2ap;
  struct event timer;      /* of the RIC, for the response */
  struct event indication; /* of the gNB, the next one */
  struct trail begun;
  int tries;
  bool over; /* subscribed, or given up */
  bool active;
  int64_t sent;
};

struct ric {
  int xapps;
  struct cpu *cpus[];
};

struct e2ap {
  struct sim *sim;
  struct ric *ric;
  struct secure_path *paths[SCTP_PATHS];
  const struct e2ap_config *config;
  const struct e2ap_observer *observer;
  void *arg; /* its */
  struct draw_key key;
  simtime until;
  struct sctp *sctp;
  struct trail begun; /* of this association, before INIT; of the next one, while there is none */
  simtime outage;     /* began with the last sign of life of one that was lost */
  struct event timer; /* of the gNB: setup request, or the next association */
  struct event watchdog;
  simtime alive; /* last message the gNB took in, which it does all the time when there is control; else the last of both sides */
  struct loop *loops;
  struct request *unanswered, *last_unanswered; /* the oldest first, as one stream acknowledges them */
  int associations, setup_tries;
  bool protect, watching, set_up, ever_set_up, lost, settled;
  struct subscription subscriptions[];
};

struct ric *ric_new(struct sim *sim, const struct e2ap_config *config) {
  struct ric *ric = sim_alloc(sim, sizeof *ric + (size_t)config->xapps * sizeof *ric->cpus);
  ric->xapps = config->xapps;
  for (int i = 0; i < config->xapps; i++) ric->cpus[i] = cpu_new(sim, config->workers);
  return ric;
}

/* ---- Messages -------------------------------------------------------------------------------------------------- */

static void send_packet(void *arg, const struct sctp_packet *packet, const struct trail *trail) {
  struct e2ap *e2ap = arg;
  struct secure_packet out = {
      .from = (int)packet->from,
      .protect = e2ap->protect,
      .bytes = packet->bytes,
      .number = packet->number,
      .attempt = packet->attempt,
      .deliver = sctp_input,
      .arg = packet->tag,
  };
  secure_path_send(e2ap->paths[packet->path], &out, trail);
}

static int64_t bytes_of(const struct e2ap_config *config, enum pdu_kind kind) {
  const int64_t bytes[PDU_KINDS] = {
      [SETUP_REQUEST] = config->setup_request_bytes,
      [SETUP_RESPONSE] = config->setup_response_bytes,
      [SUBSCRIPTION_REQUEST] = config->subscription_request_bytes,
      [SUBSCRIPTION_RESPONSE] = config->subscription_response_bytes,
      [INDICATION] = config->indication_bytes,
      [CONTROL_REQUEST] = config->control_request_bytes,
      [CONTROL_ACK] = config->control_ack_bytes,
  };
  return bytes[kind];
}

/* False when the association takes no more messages. */
static bool send(struct e2ap *e2ap, enum sctp_side from, enum pdu_kind kind, int xapp, struct loop *loop, const struct trail *trail) {
  struct pdu *pdu = sim_take(e2ap->sim, sizeof *pdu);
  *pdu = (struct pdu){.e2ap = e2ap, .kind = kind, .xapp = xapp, .loop = loop};
  int stream = streams[kind] < e2ap->config->sctp.streams ? streams[kind] : 0;
  if (sctp_send(e2ap->sctp, from, stream, bytes_of(e2ap->config, kind), true, pdu, trail)) return true;
  sim_release(e2ap->sim, pdu, sizeof *pdu);
  return false;
}

/* ---- What ends -------------------------------------------------------------------------------------------------- */

static void settle(struct e2ap *e2ap, const struct trail *trail) {
  if (e2ap->settled) return;
  e2ap->settled = true;
  e2ap->observer->settled(e2ap->arg, trail);
}

static void unlink_loop(struct e2ap *e2ap, struct loop *loop) {
  if (loop->next) loop->next->previous = loop->previous;
  if (loop->previous)
    loop->previous->next = loop->next;
  else
    e2ap->loops = loop->next;
  sim_release(e2ap->sim, loop, sizeof *loop);
}

static bool is_running(const struct e2ap *e2ap) {
  for (int i = 0; i < e2ap->config->xapps; i++) {
    const struct subscription *s = &e2ap->subscriptions[i];
    if (!s->over || (s->active && s->sent < e2ap->config->indications)) return true;
  }
  return e2ap->unanswered || e2ap->loops;
}

static bool all_over(const struct e2ap *e2ap) {
  for (int i = 0; i < e2ap->config->xapps; i++)
    if (!e2ap->subscriptions[i].over) return false;
  return true;
}

/* Without a duration the association is forgotten once there is nothing more to carry, so that its heartbeats end. */
static void settle_if_done(struct e2ap *e2ap, const struct trail *trail) {
  if (!e2ap->set_up) return;
  if (e2ap->until > 0) {
    if (all_over(e2ap)) settle(e2ap, trail);
  } else if (!is_running(e2ap)) {
    sctp_free(e2ap->sctp);
    e2ap->sctp = NULL;
    event_cancel(e2ap->sim, e2ap->watchdog);
    settle(e2ap, trail);
  }
}

/* ---- Control loops ---------------------------------------------------------------------------------------------- */

static void watch(struct e2ap *e2ap);

static void watchdog_over(struct sim *sim, void *arg) {
  struct e2ap *e2ap = arg;
  e2ap->watching = false;
  if (!e2ap->unanswered) return;
  if (e2ap->unanswered->at + e2ap->config->watchdog > sim_now(sim))
    watch(e2ap);
  else
    sctp_abort(e2ap->sctp, SCTP_SERVER);
}

/* The timer runs for a request that may have been answered in the meantime: then it goes on for the oldest that has not. */
static void watch(struct e2ap *e2ap) {
  if (e2ap->config->watchdog == 0 || e2ap->watching) return;
  e2ap->watching = true;
  e2ap->watchdog = event_at(e2ap->sim, e2ap->unanswered->at + e2ap->config->watchdog, watchdog_over, e2ap);
}

static void request_sent(struct e2ap *e2ap) {
  struct request *request = sim_take(e2ap->sim, sizeof *request);
  *request = (struct request){.at = sim_now(e2ap->sim)};
  if (e2ap->unanswered)
    e2ap->last_unanswered->next = request;
  else
    e2ap->unanswered = request;
  e2ap->last_unanswered = request;
  watch(e2ap);
}

static void request_answered(struct e2ap *e2ap) {
  struct request *request = e2ap->unanswered;
  e2ap->unanswered = request->next;
  sim_release(e2ap->sim, request, sizeof *request);
}

static void indicate(struct sim *sim, void *arg) {
  struct subscription *subscription = arg;
  struct e2ap *e2ap = subscription->e2ap;
  const struct e2ap_config *config = e2ap->config;
  if (e2ap->until > 0 ? sim_now(sim) >= e2ap->until : subscription->sent >= config->indications) return;
  struct loop *loop = sim_take(sim, sizeof *loop);
  *loop = (struct loop){.e2ap = e2ap, .next = e2ap->loops, .xapp = (int)(subscription - e2ap->subscriptions)};
  if (e2ap->loops) e2ap->loops->previous = loop;
  e2ap->loops = loop;
  subscription->sent++;
  trail_begin(&loop->begun, sim_now(sim));
  subscription->indication = event_at(sim, sim_now(sim) + config->period, indicate, subscription);
  if (!send(e2ap, SCTP_CLIENT, INDICATION, loop->xapp, loop, &loop->begun)) unlink_loop(e2ap, loop);
}

static void xapp_done(void *arg, const struct trail *trail) {
  struct loop *loop = arg;
  struct e2ap *e2ap = loop->e2ap;
  if (loop->dead) return;
  if (e2ap->config->control) { /* what cannot be sent any more stays unfinished */
    if (send(e2ap, SCTP_SERVER, CONTROL_REQUEST, loop->xapp, loop, trail)) request_sent(e2ap);
    return;
  }
  unlink_loop(e2ap, loop);
  settle_if_done(e2ap, trail);
}

static void indication_in(struct e2ap *e2ap, const struct pdu *pdu, const struct trail *trail) {
  e2ap->observer->indicated(e2ap->arg, &pdu->loop->begun, trail);
  int64_t cost[PART_COUNT] = {[PART_APPLICATION] = e2ap->config->service};
  cpu_submit(e2ap->ric->cpus[pdu->xapp], trail, cost, xapp_done, pdu->loop);
}

static void control_in(struct e2ap *e2ap, const struct pdu *pdu, const struct trail *trail) {
  e2ap->observer->looped(e2ap->arg, &pdu->loop->begun, trail);
  unlink_loop(e2ap, pdu->loop);
  send(e2ap, SCTP_CLIENT, CONTROL_ACK, pdu->xapp, NULL, trail);
}

static void control_acknowledged(struct e2ap *e2ap, const struct pdu *pdu, const struct trail *trail) {
  (void)pdu;
  request_answered(e2ap);
  settle_if_done(e2ap, trail);
}

/* ---- Subscriptions ---------------------------------------------------------------------------------------------- */

static void subscribe(struct subscription *subscription);

static void no_response(struct sim *sim, void *arg) {
  struct subscription *subscription = arg;
  struct e2ap *e2ap = subscription->e2ap;
  if (subscription->tries <= e2ap->config->subscription_retries) {
    subscribe(subscription);
    return;
  }
  struct trail trail = subscription->begun;
  trail_advance(&trail, PART_TRANSPORT_STALL, sim_now(sim));
  subscription->over = true;
  e2ap->observer->unsubscribed(e2ap->arg);
  settle_if_done(e2ap, &trail);
}

static void subscribe(struct subscription *subscription) {
  struct e2ap *e2ap = subscription->e2ap;
  struct trail trail = subscription->begun;
  trail_advance(&trail, PART_TRANSPORT_STALL, sim_now(e2ap->sim));
  subscription->tries++;
  subscription->timer = event_at(e2ap->sim, sim_now(e2ap->sim) + e2ap->config->subscription_timeout, no_response, subscription);
  send(e2ap, SCTP_SERVER, SUBSCRIPTION_REQUEST, (int)(subscription - e2ap->subscriptions), NULL, &trail);
}

static void xapp_starts(struct sim *sim, void *arg) {
  struct subscription *subscription = arg;
  trail_begin(&subscription->begun, sim_now(sim));
  subscription->tries = 0;
  subscribe(subscription);
}

/* The node's phase is its own, so that a fleet does not report in one instant. */
static void subscription_in(struct e2ap *e2ap, const struct pdu *pdu, const struct trail *trail) {
  struct subscription *subscription = &e2ap->subscriptions[pdu->xapp];
  send(e2ap, SCTP_CLIENT, SUBSCRIPTION_RESPONSE, pdu->xapp, NULL, trail);
  if (subscription->active) return;
  subscription->active = true;
  struct draw_key key = e2ap->key;
  key.purpose = DRAW_START;
  key.message = 1 + (uint32_t)pdu->xapp;
  subscription->indication = event_at(e2ap->sim, trail->at + random_under(&key, e2ap->config->period), indicate, subscription);
}

static void subscribed(struct e2ap *e2ap, const struct pdu *pdu, const struct trail *trail) {
  struct subscription *subscription = &e2ap->subscriptions[pdu->xapp];
  if (subscription->over) return;
  subscription->over = true;
  event_cancel(e2ap->sim, subscription->timer);
  e2ap->observer->subscribed(e2ap->arg, &subscription->begun, trail);
  settle_if_done(e2ap, trail);
}

/* ---- Setup ------------------------------------------------------------------------------------------------------ */

static void setup_unanswered(struct sim *sim, void *arg);
static void give_up(struct e2ap *e2ap, const struct trail *trail);
static void lose(struct e2ap *e2ap);

static void request_setup(struct e2ap *e2ap, const struct trail *trail) {
  e2ap->setup_tries++;
  e2ap->timer = event_at(e2ap->sim, trail->at + e2ap->config->setup_timeout, setup_unanswered, e2ap);
  send(e2ap, SCTP_CLIENT, SETUP_REQUEST, 0, NULL, trail);
}

static void setup_unanswered(struct sim *sim, void *arg) {
  struct e2ap *e2ap = arg;
  struct trail trail = e2ap->begun;
  trail_advance(&trail, PART_TRANSPORT_STALL, sim_now(sim));
  if (e2ap->setup_tries <= e2ap->config->setup_retries)
    request_setup(e2ap, &trail);
  else
    lose(e2ap);
}

static void setup_in(struct e2ap *e2ap, const struct pdu *pdu, const struct trail *trail) {
  (void)pdu;
  send(e2ap, SCTP_SERVER, SETUP_RESPONSE, 0, NULL, trail);
}

static void setup_done(struct e2ap *e2ap, const struct pdu *pdu, const struct trail *trail) {
  (void)pdu;
  if (e2ap->set_up) return;
  e2ap->set_up = true;
  event_cancel(e2ap->sim, e2ap->timer);
  struct trail outage;
  trail_begin(&outage, e2ap->outage);
  if (e2ap->ever_set_up)
    e2ap->observer->recovered(e2ap->arg, &outage, trail);
  else
    e2ap->observer->set_up(e2ap->arg, trail);
  e2ap->ever_set_up = true;
  for (int i = 0; i < e2ap->config->xapps; i++)
    e2ap->subscriptions[i].timer = event_at(e2ap->sim, trail->at + e2ap->config->xapp_start, xapp_starts, &e2ap->subscriptions[i]);
  settle_if_done(e2ap, trail);
}

/* ---- Association ------------------------------------------------------------------------------------------------ */

static void associate(struct e2ap *e2ap, const struct trail *trail);

static void reconnect(struct sim *sim, void *arg) {
  struct e2ap *e2ap = arg;
  struct trail trail = e2ap->begun;
  trail_advance(&trail, PART_TRANSPORT_STALL, sim_now(sim));
  associate(e2ap, &trail);
}

static void give_up(struct e2ap *e2ap, const struct trail *trail) {
  if (!e2ap->ever_set_up) e2ap->observer->failed(e2ap->arg, trail);
  settle(e2ap, trail);
}

/* Nothing of the association counts any more. A node that had been set up tries for ever, in a run that has an end. */
static void lose(struct e2ap *e2ap) {
  const struct e2ap_config *config = e2ap->config;
  bool was_up = e2ap->set_up;
  sctp_forget(e2ap->sctp);
  event_cancel(e2ap->sim, e2ap->timer);
  event_cancel(e2ap->sim, e2ap->watchdog);
  for (struct loop *loop = e2ap->loops; loop; loop = loop->next) loop->dead = true;
  for (int i = 0; i < config->xapps; i++) {
    struct subscription *subscription = &e2ap->subscriptions[i];
    event_cancel(e2ap->sim, subscription->timer);
    event_cancel(e2ap->sim, subscription->indication);
    subscription->over = subscription->active = false;
  }
  while (e2ap->unanswered) request_answered(e2ap);
  e2ap->set_up = e2ap->watching = false;
  if (was_up) {
    e2ap->outage = e2ap->alive;
    trail_begin(&e2ap->begun, e2ap->outage);
  }
  struct trail trail = e2ap->begun;
  trail_advance(&trail, PART_TRANSPORT_STALL, sim_now(e2ap->sim));
  if (was_up) e2ap->observer->lost(e2ap->arg, e2ap->outage);
  bool again = e2ap->ever_set_up ? e2ap->until > 0 : config->association_tries == 0 || e2ap->associations < config->association_tries;
  if (again)
    e2ap->timer = event_at(e2ap->sim, sim_now(e2ap->sim) + config->reconnect, reconnect, e2ap);
  else
    give_up(e2ap, &trail);
}

static void established(void *arg, enum sctp_side side, const struct trail *trail) {
  struct e2ap *e2ap = arg;
  if (side != SCTP_CLIENT) return;
  e2ap->observer->associated(e2ap->arg, &e2ap->begun, trail);
  request_setup(e2ap, trail);
}

static void delivered(void *arg, enum sctp_side to, void *tag, const struct trail *trail) {
  static void (*const take[PDU_KINDS])(struct e2ap * e2ap, const struct pdu *pdu, const struct trail *trail) = {
      [SETUP_REQUEST] = setup_in,
      [SETUP_RESPONSE] = setup_done,
      [SUBSCRIPTION_REQUEST] = subscription_in,
      [SUBSCRIPTION_RESPONSE] = subscribed,
      [INDICATION] = indication_in,
      [CONTROL_REQUEST] = control_in,
      [CONTROL_ACK] = control_acknowledged,
  };
  struct e2ap *e2ap = arg;
  struct pdu pdu = *(struct pdu *)tag;
  sim_release(e2ap->sim, tag, sizeof pdu);
  if (to == SCTP_CLIENT || !e2ap->config->control) e2ap->alive = trail->at;
  take[pdu.kind](e2ap, &pdu, trail);
}

static void discarded(void *arg, void *tag) {
  const struct e2ap *e2ap = arg;
  sim_release(e2ap->sim, tag, sizeof(struct pdu));
}

/* The gNB sets up a new association; the RIC waits for it. */
static void ended(void *arg, enum sctp_side side, enum sctp_end why) {
  (void)why;
  if (side == SCTP_CLIENT) lose(arg);
}

static void associate(struct e2ap *e2ap, const struct trail *trail) {
  const struct sctp_config *configs[2] = {&e2ap->config->sctp, &e2ap->config->sctp};
  struct sctp_below below = {send_packet, e2ap};
  struct sctp_observer watching = {.established = established, .delivered = delivered, .ended = ended, .discarded = discarded, .arg = e2ap};
  e2ap->begun = *trail;
  e2ap->setup_tries = 0;
  int epoch = e2ap->associations++ % EPOCHS;
  if (e2ap->sctp)
    sctp_renew(e2ap->sctp, epoch);
  else
    e2ap->sctp = sctp_new(e2ap->sim, configs, &below, &watching, &e2ap->key, epoch);
  sctp_connect(e2ap->sctp, trail);
}

static void stall(struct sim *sim, void *arg) {
  (void)sim;
  struct e2ap *e2ap = arg;
  if (e2ap->set_up && e2ap->sctp) sctp_pause(e2ap->sctp, SCTP_CLIENT, true);
}

struct e2ap *e2ap_start(struct sim *sim, struct ric *ric, struct secure_path *const paths[SCTP_PATHS], bool protect, const struct e2ap_config *config,
    simtime until, const struct draw_key *key, const struct e2ap_observer *observer, void *arg, const struct trail *trail) {
  struct e2ap *e2ap = sim_alloc(sim, sizeof *e2ap + (size_t)config->xapps * sizeof *e2ap->subscriptions);
  *e2ap = (struct e2ap){.sim = sim, .ric = ric, .config = config, .observer = observer, .arg = arg, .key = *key, .until = until, .protect = protect};
  memcpy(e2ap->paths, paths, sizeof e2ap->paths);
  for (int i = 0; i < config->xapps; i++) e2ap->subscriptions[i].e2ap = e2ap;
  if (config->stall_at > sim_now(sim)) event_at(sim, config->stall_at, stall, e2ap);
  associate(e2ap, trail);
  return e2ap;
}

void e2ap_unfinished(const struct e2ap *e2ap, void (*fn)(void *arg, simtime begun), void *arg) {
  for (const struct loop *loop = e2ap->loops; loop && e2ap->config->control; loop = loop->next) fn(arg, loop->begun.at);
}
