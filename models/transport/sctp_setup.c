/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Set-up: INIT, INIT-ACK, COOKIE-ECHO, COOKIE-ACK and T1 (RFC 9260 sections 5.1, 5.2). The server keeps no state before a
 * COOKIE-ECHO: it answers every INIT. */
#include "models/transport/sctp_internal.h"

#include <assert.h>

void sctp_control_arm(struct endpoint *end, simtime wait, event_fn *fn) {
  end->control_wait = wait;
  end->control = event_at(end->sctp->sim, sctp_now(end) + wait, fn, end);
  end->control_running = true;
}

void sctp_control_stop(struct endpoint *end) {
  if (end->control_running) event_cancel(end->sctp->sim, end->control);
  end->control_running = false;
}

static void send_request(struct endpoint *end) {
  end->paths[0].last_new = sctp_now(end);
  if (end->state == COOKIE_WAIT)
    sctp_send_control(end, 0, SCTP_INIT, NULL);
  else
    sctp_send_cookie_echo(end);
}

static void t1_expired(struct sim *sim, void *arg) {
  struct endpoint *end = arg;
  end->control_running = false;
  if (end->control_tries == end->config->init_max_retrans) {
    sctp_finish(end, SCTP_END_NOT_ESTABLISHED);
    return;
  }
  end->control_tries++;
  end->counters.setup_repeats++;
  trail_advance(&end->chain, PART_TRANSPORT_STALL, sim_now(sim));
  send_request(end);
  sctp_control_arm(end, min_i64(2 * end->control_wait, end->config->init_timeout_max), t1_expired);
}

static void request(struct endpoint *end, enum state state) {
  end->state = state;
  end->control_tries = 0;
  end->control_sent_at = sctp_now(end);
  send_request(end);
  sctp_control_arm(end, min_i64(end->paths[0].rto, end->config->init_timeout_max), t1_expired);
}

void sctp_connect(struct sctp *sctp, const struct trail *trail) {
  struct endpoint *client = &sctp->ends[SCTP_CLIENT];
  assert(client->state == CLOSED && trail->at == sctp_now(client));
  client->chain = *trail;
  request(client, COOKIE_WAIT);
}

/* Karn: only the answer to what was sent once is a sample. */
static void sample(struct endpoint *end, bool unambiguous) {
  if (unambiguous && end->config->rtt_from_setup) sctp_rtt_sample(end, &end->paths[0], sctp_now(end) - end->control_sent_at);
}

static void init_input(struct endpoint *end) {
  if (end->state != LISTEN) return;
  end->control_sent_at = sctp_now(end);
  sctp_send_control(end, 0, SCTP_INIT_ACK, NULL);
}

static void init_ack_input(struct endpoint *end) {
  sctp_control_stop(end);
  sample(end, end->control_tries == 0);
  request(end, COOKIE_ECHOED);
}

static void cookie_echo_input(struct endpoint *end, const struct packet *packet) {
  end->owe_cookie_ack = true;
  if (end->state != LISTEN) return;
  sample(end, packet->info.attempt == 0 && end->control_sent[SCTP_INIT_ACK] == 1);
  sctp_established(end);
}

static void cookie_ack_input(struct endpoint *end) {
  sctp_control_stop(end);
  sample(end, end->control_tries == 0);
  if (end->paths[0].flight > 0) sctp_t3_start(end, 0);
  sctp_established(end);
}

void sctp_setup_input(struct endpoint *end, const struct packet *packet, const struct trail *hop) {
  unsigned chunks = packet->info.chunks;
  bool of_client = end->side == SCTP_CLIENT;
  bool expected = of_client ? (chunks & 1u << SCTP_INIT_ACK && end->state == COOKIE_WAIT) || (chunks & 1u << SCTP_COOKIE_ACK && end->state == COOKIE_ECHOED)
                            : (chunks & (1u << SCTP_INIT | 1u << SCTP_COOKIE_ECHO)) != 0;
  if (!expected) return;
  end->chain = packet->base;
  for (int part = 0; part < PART_COUNT; part++) end->chain.parts[part] += hop->parts[part];
  end->chain.at = hop->at;
  if (chunks & 1u << SCTP_INIT) init_input(end);
  if (chunks & 1u << SCTP_INIT_ACK) init_ack_input(end);
  if (chunks & 1u << SCTP_COOKIE_ECHO) cookie_echo_input(end, packet);
  if (chunks & 1u << SCTP_COOKIE_ACK) cookie_ack_input(end);
}
