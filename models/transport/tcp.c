/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Life of a connection: set-up (RFC 9293 section 3.5), packets out and in, closing. */
#include "models/transport/tcp_internal.h"

#include <assert.h>

/* ---- packets --------------------------------------------------------------------------------------------------- */

struct tcp_packet *tcp_packet_new(struct tcp_end *end) {
  struct tcp *tcp = end->tcp;
  struct tcp_packet *packet = tcp->free;
  if (packet)
    tcp->free = packet->next_free;
  else
    packet = sim_take(tcp->sim, sizeof *packet);
  *packet = (struct tcp_packet){.owner = tcp, .from = end->side, .sent_at = tcp_now(end), .echo = -1};
  return packet;
}

static int options_bytes(const struct tcp_packet *packet) {
  if (packet->syn) return SYN_OPTIONS;
  int blocks = packet->block_count + packet->duplicate;
  if (blocks > SACK_BLOCKS) blocks = SACK_BLOCKS;
  return TIMESTAMPS + (blocks > 0 ? SACK_HEADER + SACK_BLOCK * blocks : 0);
}

void tcp_transmit(struct tcp_end *end, struct tcp_packet *packet, int part, uint32_t number, int attempt, const struct trail *trail) {
  enum { TCP_HEADER = 20, ATTEMPTS = 4095 };
  end->counters.packets++;
  const struct net_message message = {
      .protocol = PORT_TCP,
      .size_bytes = TCP_HEADER + options_bytes(packet) + packet->bytes,
      .number = number + end->tcp->first_number,
      .part = (uint16_t)part,
      .attempt = (uint16_t)tcp_min(attempt, ATTEMPTS),
      .tag = packet,
  };
  port_send(end->port, &message, trail);
}

/* ---- the end --------------------------------------------------------------------------------------------------- */

static void leave(struct tcp_end *end, enum stream_end why, const struct trail *trail) {
  if (end->state == TCP_DEAD) return;
  end->state = TCP_DEAD;
  tcp_timer_stop(end);
  tcp_delay_stop(end);
  if (end->in.ended) return;
  end->in.ended = true;
  if (end->observer.closed) end->observer.closed(end->observer.arg, why, trail);
}

void tcp_fail(struct tcp_end *end, enum stream_end why) {
  struct trail trail = end->chain;
  trail_advance(&trail, PART_TRANSPORT_STALL, tcp_now(end));
  leave(end, why, &trail);
}

/* ---- set-up ---------------------------------------------------------------------------------------------------- */

static void arm_syn(struct tcp_end *end) {
  enum { DOUBLINGS = 16 };
  int doublings = (int)tcp_min(end->syn_timeouts, DOUBLINGS);
  tcp_timer_set(end, TIMER_SYN, tcp_min(end->config->syn_timeout << doublings, end->config->rto_max));
}

void tcp_syn_timeout(struct tcp_end *end) {
  const struct tcp_behaviour *behaviour = end->config->behaviour;
  int retries = end->state == TCP_SYN_SENT ? behaviour->syn_retries : behaviour->syn_ack_retries;
  end->counters.timeouts++;
  end->syn_timeouts++;
  if (end->syn_sends > retries) {
    tcp_fail(end, STREAM_TIMED_OUT);
    return;
  }
  tcp_send_syn(end);
  arm_syn(end);
}

static void establish(struct tcp_end *end, const struct tcp_packet *packet, const struct trail *trail) {
  tcp_timer_stop(end);
  if (end->syn_sends == 1)
    tcp_rtt_sample(end, tcp_now(end) - end->syn_at);
  else if (end->state == TCP_SYN_SENT && packet->echo >= 0)
    tcp_rtt_sample(end, tcp_now(end) - packet->echo);
  bool client = end->state == TCP_SYN_SENT;
  end->state = TCP_ESTABLISHED;
  end->chain = *trail;
  tcp_window_init(end);
  /* Linux, tcp_init_transfer: a SYN that timed out and was sent more than once again stands for congestion. */
  if (end->syn_timeouts > 0 && end->syn_sends > 2 && end->config->behaviour->rack) end->window.cwnd = 1;
  if (client) tcp_send_ack(end, false);
  /* ns-3 acknowledges the first segment at once, unless something was sent meanwhile. */
  if (!end->config->behaviour->quick_start) end->in.unacked = end->config->ack_every - 1;
  if (end->observer.opened) end->observer.opened(end->observer.arg, trail);
  tcp_push(end);
}

static void listen_input(struct tcp_end *end, const struct tcp_packet *packet, const struct trail *trail) {
  if (!packet->syn) return;
  if (end->state == TCP_LISTEN) {
    end->state = TCP_SYN_RECEIVED;
    end->syn_at = tcp_now(end);
    end->chain = *trail;
  }
  tcp_send_syn(end);
  arm_syn(end);
}

/* The middlebox in front of this end does not let it through. */
static bool is_stopped(struct tcp_end *end, const struct tcp_packet *packet, const struct trail *trail) {
  if (packet->start > 0 || packet->bytes == 0 || packet->bytes >= end->config->first_segment_least) return false;
  if (!end->config->middlebox_resets) return true;
  struct tcp_packet *reset = tcp_packet_new(end);
  reset->reset = true;
  tcp_transmit(end, reset, 1, 0, 0, trail);
  leave(end, STREAM_RESET, trail);
  return true;
}

void tcp_input(void *arg, const struct net_message *message, const struct trail *trail) {
  (void)arg;
  struct tcp_packet *packet = message->tag;
  struct tcp *tcp = packet->owner;
  struct tcp_end *end = &tcp->ends[packet->from == NET_A ? NET_B : NET_A];
  if (packet->start <= end->in.acked) end->in.echo = packet->sent_at;
  if (is_stopped(end, packet, trail)) return;
  switch (end->state) {
  case TCP_CLOSED:
  case TCP_DEAD:
    break;
  case TCP_LISTEN:
    listen_input(end, packet, trail);
    break;
  case TCP_SYN_SENT:
    if (packet->syn && packet->ack) establish(end, packet, trail);
    break;
  case TCP_SYN_RECEIVED:
    if (packet->syn) {
      listen_input(end, packet, trail);
      break;
    }
    establish(end, packet, trail);
    /* fall through */
  case TCP_ESTABLISHED:
    if (packet->reset)
      leave(end, STREAM_RESET, trail);
    else if (packet->syn)
      tcp_ack_now(end, false);
    else {
      tcp_ack_input(end, packet);
      tcp_data_input(end, packet, trail);
    }
    break;
  }
  packet->next_free = tcp->free;
  tcp->free = packet;
}

/* ---- stream.h -------------------------------------------------------------------------------------------------- */

static struct tcp_end *end_of(struct stream *stream, enum net_side side) { return &((struct tcp *)stream)->ends[side]; }

static void connect(struct stream *stream, const struct trail *trail) {
  struct tcp_end *client = end_of(stream, NET_A);
  assert(client->state == TCP_CLOSED && trail->at == tcp_now(client));
  client->state = TCP_SYN_SENT;
  client->chain = *trail;
  client->syn_at = tcp_now(client);
  tcp_send_syn(client);
  arm_syn(client);
}

static void write(struct stream *stream, enum net_side side, int64_t bytes, const struct trail *trail) {
  struct tcp_end *end = end_of(stream, side);
  assert(bytes > 0 && !end->closing && trail->at == tcp_now(end));
  if (end->state != TCP_DEAD) tcp_write(end, bytes, trail);
}

static int64_t read(struct stream *stream, enum net_side side) {
  const struct receiver *in = &end_of(stream, side)->in;
  return in->next - (in->fin_at >= 0 && in->next > in->fin_at);
}

static void close(struct stream *stream, enum net_side side, const struct trail *trail) {
  struct tcp_end *end = end_of(stream, side);
  if (end->closing || end->state == TCP_DEAD) return;
  end->closing = true;
  if (end->writes.count == 0) end->chain = *trail;
  tcp_push(end);
}

static void counters(const struct stream *stream, enum net_side side, struct stream_counters *out) { *out = ((const struct tcp *)stream)->ends[side].counters; }

/* Connections of one link number their packets from far apart, so that each has losses of its own; the first from 0. */
#define FAR_APART UINT32_C(0x9e3779b1)

static const struct stream_ops ops = {connect, write, read, close, counters};

struct stream *tcp_new(struct sim *sim, struct port *const ports[2], const struct tcp_config *const configs[2], const struct stream_observer observers[2],
    const struct draw_key *key) {
  struct tcp *tcp = sim_alloc(sim, sizeof *tcp);
  tcp->stream.ops = &ops;
  tcp->sim = sim;
  tcp->first_number = key->message * FAR_APART;
  for (int side = 0; side < 2; side++) {
    struct tcp_end *end = &tcp->ends[side];
    end->tcp = tcp;
    end->peer = &tcp->ends[1 - side];
    end->side = (enum net_side)side;
    end->config = configs[side];
    end->port = ports[side];
    end->observer = observers[side];
    end->state = side == NET_A ? TCP_CLOSED : TCP_LISTEN;
    end->probe_end = end->in.fin_at = end->repeat_at = end->in.echo = -1;
    end->in.window = tcp_min(configs[side]->first_window, configs[side]->receive_window);
    end->peer_window = tcp_min(configs[1 - side]->first_window, configs[1 - side]->receive_window);
    tcp_timer_init(end, key);
    port_on(ports[side], PORT_TCP, tcp_input, NULL);
  }
  return &tcp->stream;
}
