/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/domain/tunnel.h"

#include <assert.h>

enum { NONE = -1 };

/* What a handshake of the tunnel is for; keys its draws. */
enum activity { ESTABLISH, REKEY_IKE, REKEY_CHILD, ASK_PEER, ACTIVITIES };

enum { EPOCHS_EACH = HANDSHAKE_EPOCHS / ACTIVITIES };

struct tunnel {
  struct sim *sim;
  const struct tunnel_config *config;
  struct gateway *gateway;
  struct gateway_session *session; /* of the try under way */
  struct handshake *handshake;
  struct handshake_peers peers;
  struct draw_key key;
  const struct tunnel_observer *observer;
  void *arg; /* its */
  const struct secure_path *path;
  int address;
  enum activity activity;
  bool busy;            /* an exchange is under way */
  bool due[ACTIVITIES]; /* what waits for it */
  struct event timer[ACTIVITIES];
  uint32_t count[ACTIVITIES]; /* begun so far */
  uint32_t tries;             /* of this establishment */
  int responses;              /* last response of the table that came in */
  simtime heard;              /* the peer's last IKE message */
  struct trail begun, request_out;
  int64_t retransmissions;
};

/* ---- Configuration --------------------------------------------------------------------------------------------- */

static void list_tables(struct tunnel_config *config, struct handshake_table *list[ACTIVITIES]) {
  list[ESTABLISH] = &config->establishment;
  list[REKEY_IKE] = &config->rekey;
  list[REKEY_CHILD] = &config->rekey_child;
  list[ASK_PEER] = &config->dpd;
}

int tunnel_configure(struct tunnel_config *config, const struct cost_platform *const platforms[HANDSHAKE_PLATFORMS],
    const char *const keys[HANDSHAKE_PLATFORMS], struct err *e) {
  struct handshake_table *tables[ACTIVITIES];
  list_tables(config, tables);
  ikev2_establishment(&config->ike, &config->establishment);
  config->auth_response = config->ike.refused ? NONE : ikev2_auth_response(&config->establishment);
  if (config->maintained && !config->ike.refused) {
    ikev2_rekey(&config->ike, &config->rekey);
    ikev2_rekey_child(&config->ike, &config->rekey_child);
    ikev2_dpd(&config->ike, &config->dpd);
  }
  for (int i = 0; i < ACTIVITIES; i++) {
    int rc = ikev2_check_sizes(tables[i], e);
    if (!rc) rc = handshake_resolve(tables[i], platforms, keys, e);
    if (rc) return rc;
  }
  return 0;
}

void tunnel_config_free(struct tunnel_config *config) {
  struct handshake_table *tables[ACTIVITIES];
  list_tables(config, tables);
  for (int i = 0; i < ACTIVITIES; i++) handshake_table_free(tables[i]);
}

static bool ops_are_random(const struct handshake_op *ops, int count) {
  for (int i = 0; i < count; i++)
    if (ops[i].row && cost_is_random(ops[i].row)) return true;
  return false;
}

bool tunnel_is_random(const struct tunnel_config *config) {
  const struct handshake_table *const tables[] = {&config->establishment, &config->rekey, &config->rekey_child, &config->dpd};
  for (int t = 0; t < ACTIVITIES; t++)
    for (int m = 0; m < tables[t]->count; m++) {
      const struct handshake_message *message = &tables[t]->messages[m];
      if (ops_are_random(message->before, message->before_count) || ops_are_random(message->after, message->after_count)) return true;
    }
  const struct ikev2_session *session = &config->ike.session;
  bool rekeyed = config->maintained && session->rekey_time + session->child_rekey_time > 0;
  return config->ike.ladder.jitter_ppb > 0 || (rekeyed && session->jitter_ppb > 0);
}

static const struct handshake_table *table_of(const struct tunnel *tunnel) {
  const struct tunnel_config *config = tunnel->config;
  const struct handshake_table *const tables[ACTIVITIES] = {&config->establishment, &config->rekey, &config->rekey_child, &config->dpd};
  return tables[tunnel->activity];
}

/* ---- Exchanges ------------------------------------------------------------------------------------------------- */

/* The exchange whose round trip ends with a response; NONE for one that is no end of an exchange of its own. */
static int exchange_of(const struct tunnel *tunnel, int response) {
  const struct tunnel_config *config = tunnel->config;
  int deletes = table_of(tunnel)->count - 1; /* the old SA, last thing in a rekeying */
  switch (tunnel->activity) {
  case ESTABLISH:
    if (config->ike.refused || response < config->establishment.opens) return NONE;
    if (response == config->establishment.opens + 1) return TUNNEL_INIT;
    if (response < config->auth_response) return TUNNEL_INTERMEDIATE;
    if (response == config->auth_response) return TUNNEL_AUTH;
    return response == config->establishment.count - 1 ? TUNNEL_CHILD : NONE;
  case REKEY_IKE:
    return response == deletes - 2 ? TUNNEL_REKEY : NONE;
  case REKEY_CHILD:
    return response == deletes - 2 ? TUNNEL_CHILD : NONE;
  case ASK_PEER:
  case ACTIVITIES:
    break;
  }
  return NONE;
}

/* Whether an exchange is one request and its response; the others begin with the first request of IKE_SA_INIT or CREATE_CHILD_SA. */
static bool is_single(int exchange) { return exchange == TUNNEL_INTERMEDIATE || exchange == TUNNEL_AUTH; }

static void message_sent(void *arg, int message, const struct trail *trail);
static void message_received(void *arg, int message, const struct trail *trail);
static void handshake_over(void *arg, bool ok, const struct trail *trail);

static void start(struct tunnel *tunnel, enum activity activity, const struct trail *trail) {
  uint32_t epoch = (uint32_t)activity * EPOCHS_EACH + tunnel->count[activity]++ % EPOCHS_EACH;
  struct handshake_server server = gateway_server(tunnel->gateway);
  tunnel->activity = activity;
  tunnel->busy = true;
  tunnel->due[activity] = false;
  tunnel->responses = NONE;
  /* The gateway may still be working for one that was given up. */
  if (!tunnel->handshake || !handshake_is_idle(tunnel->handshake)) {
    const struct tunnel_config *config = tunnel->config;
    int capacity = config->establishment.count;
    if (config->rekey.count > capacity) capacity = config->rekey.count;
    if (config->rekey_child.count > capacity) capacity = config->rekey_child.count;
    struct handshake_observer observer = {message_sent, message_received, handshake_over, tunnel};
    tunnel->handshake = handshake_new(&tunnel->peers, &observer, capacity, &tunnel->key);
  }
  if (activity == ESTABLISH) {
    tunnel->session = gateway_session_new(tunnel->gateway, tunnel->address, tunnel->handshake);
    server = gateway_session_server(tunnel->session);
  }
  handshake_start(tunnel->handshake, table_of(tunnel), &tunnel->config->ike.ladder, &server, epoch, trail);
}

static void begin_what_is_due(struct tunnel *tunnel) {
  for (int activity = REKEY_IKE; activity < ACTIVITIES && !tunnel->busy; activity++) {
    if (!tunnel->due[activity]) continue;
    struct trail trail;
    trail_begin(&trail, sim_now(tunnel->sim));
    start(tunnel, (enum activity)activity, &trail);
  }
}

/* ---- Lifetimes ------------------------------------------------------------------------------------------------- */

static void fall_due(struct tunnel *tunnel, enum activity activity) {
  tunnel->due[activity] = true;
  begin_what_is_due(tunnel);
}

static void rekey_ike_due(struct sim *sim, void *arg) {
  (void)sim;
  fall_due(arg, REKEY_IKE);
}

static void rekey_child_due(struct sim *sim, void *arg) {
  (void)sim;
  fall_due(arg, REKEY_CHILD);
}

static void arm_peer_check(struct tunnel *tunnel);

static simtime last_heard(const struct tunnel *tunnel) {
  simtime packet = tunnel->path ? secure_path_last_received(tunnel->path, 0) : 0;
  return packet > tunnel->heard ? packet : tunnel->heard;
}

static void peer_check_due(struct sim *sim, void *arg) {
  struct tunnel *tunnel = arg;
  if (last_heard(tunnel) + tunnel->config->ike.session.dpd_delay > sim_now(sim))
    arm_peer_check(tunnel);
  else
    fall_due(tunnel, ASK_PEER);
}

static void arm_peer_check(struct tunnel *tunnel) {
  simtime delay = tunnel->config->ike.session.dpd_delay;
  if (delay == 0) return;
  event_cancel(tunnel->sim, tunnel->timer[ASK_PEER]);
  tunnel->timer[ASK_PEER] = event_at(tunnel->sim, last_heard(tunnel) + delay, peer_check_due, tunnel);
}

static void arm_rekey(struct tunnel *tunnel, enum activity activity, simtime lifetime, event_fn *due) {
  if (lifetime == 0) return;
  struct draw_key key = tunnel->key;
  key.purpose = DRAW_REKEY;
  key.message = tunnel->count[activity];
  key.fragment = (uint16_t)activity;
  simtime most = (simtime)((__int128)lifetime * tunnel->config->ike.session.jitter_ppb / SHARE_ONE);
  event_cancel(tunnel->sim, tunnel->timer[activity]);
  tunnel->timer[activity] = event_at(tunnel->sim, sim_now(tunnel->sim) + lifetime - random_under(&key, most + 1), due, tunnel);
}

static void arm_ike(struct tunnel *tunnel) { arm_rekey(tunnel, REKEY_IKE, tunnel->config->ike.session.rekey_time, rekey_ike_due); }

static void arm_child(struct tunnel *tunnel) { arm_rekey(tunnel, REKEY_CHILD, tunnel->config->ike.session.child_rekey_time, rekey_child_due); }

static void maintain(struct tunnel *tunnel) {
  if (!tunnel->config->maintained) return;
  arm_ike(tunnel);
  arm_child(tunnel);
  arm_peer_check(tunnel);
}

static void maintain_no_more(struct tunnel *tunnel) {
  for (int activity = 0; activity < ACTIVITIES; activity++) {
    event_cancel(tunnel->sim, tunnel->timer[activity]);
    tunnel->due[activity] = false;
  }
}

/* ---- What the handshake says ----------------------------------------------------------------------------------- */

static void message_sent(void *arg, int message, const struct trail *trail) {
  struct tunnel *tunnel = arg;
  if (message == 0 || (tunnel->activity == ESTABLISH && message == tunnel->config->auth_response + 1)) tunnel->begun = *trail;
  if (message % 2 == 0) tunnel->request_out = *trail;
  if (tunnel->activity == ESTABLISH && message == tunnel->config->auth_response) gateway_session_authenticated(tunnel->session);
}

static void message_received(void *arg, int message, const struct trail *trail) {
  struct tunnel *tunnel = arg;
  if (message % 2 == 0) return;
  tunnel->responses = message;
  tunnel->heard = trail->at;
  int exchange = exchange_of(tunnel, message);
  if (exchange == NONE) return;
  const struct trail *from = is_single(exchange) ? &tunnel->request_out : &tunnel->begun;
  tunnel->observer->exchange(tunnel->arg, (enum tunnel_exchange)exchange, from, trail);
  if (exchange == TUNNEL_AUTH) tunnel->observer->established(tunnel->arg, &tunnel->begun, trail);
}

static void establishment_over(struct tunnel *tunnel, bool ok, const struct trail *trail) {
  int most = tunnel->config->ike.session.keying_tries;
  gateway_session_leave(tunnel->session);
  tunnel->session = NULL;
  if (tunnel->config->ike.refused) ok = false;
  tunnel->tries++;
  bool last = ok || tunnel->config->ike.refused || (most > 0 && tunnel->tries >= (uint32_t)most);
  if (ok) maintain(tunnel);
  tunnel->observer->tried(tunnel->arg, ok, last, trail);
  if (!last) start(tunnel, ESTABLISH, trail);
}

static void exchange_over(struct tunnel *tunnel, bool ok, const struct trail *trail) {
  if (!ok) {
    maintain_no_more(tunnel);
    tunnel->observer->died(tunnel->arg, trail);
    tunnel->tries = 0;
    start(tunnel, ESTABLISH, trail);
    return;
  }
  if (tunnel->activity == REKEY_IKE) arm_ike(tunnel);
  if (tunnel->activity == REKEY_CHILD) arm_child(tunnel);
  if (tunnel->activity == ASK_PEER) arm_peer_check(tunnel);
  begin_what_is_due(tunnel);
}

static void handshake_over(void *arg, bool ok, const struct trail *trail) {
  struct tunnel *tunnel = arg;
  tunnel->busy = false;
  tunnel->retransmissions += handshake_retransmissions(tunnel->handshake);
  for (int response = tunnel->responses + 2; !ok && response < table_of(tunnel)->count; response += 2) {
    int exchange = exchange_of(tunnel, response);
    if (exchange != NONE) tunnel->observer->unanswered(tunnel->arg, (enum tunnel_exchange)exchange);
  }
  if (tunnel->activity == ESTABLISH)
    establishment_over(tunnel, ok, trail);
  else
    exchange_over(tunnel, ok, trail);
}

/* ---- Life ------------------------------------------------------------------------------------------------------ */

struct tunnel *tunnel_new(struct sim *sim, const struct tunnel_config *config, struct gateway *gateway, int address, struct port *const ports[2],
    struct cpu *cpu, const struct draw_key *key, const struct tunnel_observer *observer, void *arg) {
  struct tunnel *tunnel = sim_alloc(sim, sizeof *tunnel);
  *tunnel = (struct tunnel){.sim = sim, .config = config, .gateway = gateway, .address = address, .key = *key, .observer = observer, .arg = arg};
  tunnel->peers = (struct handshake_peers){.sim = sim, .ports = {ports[0], ports[1]}, .cpus = {cpu, NULL}};
  return tunnel;
}

void tunnel_start(struct tunnel *tunnel, const struct trail *trail) { start(tunnel, ESTABLISH, trail); }

void tunnel_watch(struct tunnel *tunnel, const struct secure_path *path) { tunnel->path = path; }

int64_t tunnel_retransmissions(const struct tunnel *tunnel) {
  return tunnel->retransmissions + (tunnel->busy ? handshake_retransmissions(tunnel->handshake) : 0);
}
