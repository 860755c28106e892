/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/transport/port.h"

#include <assert.h>

struct owner {
  net_receive_fn *fn;
  void *arg;
};

struct port {
  struct sim *sim;
  struct net *net;
  int link;
  enum net_side side;
  struct port_latency latency;
  struct draw_key key;
  struct owner owners[PORT_PROTOCOLS];
};

static void from_wire(void *arg, const struct net_message *message, const struct trail *trail) {
  const struct port *port = arg;
  const struct owner *owner = &port->owners[message->protocol];
  if (owner->fn) owner->fn(owner->arg, message, trail);
}

static simtime latency_of(void *arg, const struct net_message *message) {
  const struct port *port = arg;
  struct draw_key key = port->key;
  key.purpose = DRAW_PATH;
  key.message = message->number;
  key.fragment = message->part;
  key.attempt = message->attempt;
  return port->latency.draw(port->latency.row, message->size_bytes, port->latency.random ? random_draw(&key) : 0);
}

struct port *port_new(struct sim *sim, struct net *net, int link, enum net_side side, struct port_latency latency, const struct draw_key *key) {
  struct port *port = sim_alloc(sim, sizeof *port);
  *port = (struct port){.sim = sim, .net = net, .link = link, .side = side, .latency = latency, .key = *key};
  net->ops->on_receive(net, link, side, from_wire, latency.draw ? latency_of : NULL, port);
  return port;
}

struct net *port_net(const struct port *port) {
  return port->net;
}

int port_link(const struct port *port) { return port->link; }

void port_on(struct port *port, enum port_protocol protocol, net_receive_fn *fn, void *arg) { port->owners[protocol] = (struct owner){fn, arg}; }

void port_send(struct port *port, const struct net_message *message, const struct trail *trail) {
  struct net_message out = *message;
  out.from = port->side;
  port->net->ops->send(port->net, port->link, &out, trail);
}
