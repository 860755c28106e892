/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/transport/stream_net.h"

#include "models/transport/stream_internal.h"
#include "models/transport/stream_writes.h"

#include <assert.h>

struct side {
  struct stream_observer observer;
  struct stream_writes writes;
  int64_t written, arrived; /* by this side; at it */
};

struct connection {
  struct stream stream;
  struct sim *sim;
  const struct net_ops *ops;
  struct net_stream *socket;
  struct side sides[2];
  struct trail called;
};

/* The packet came in, and the node's own latency is over. */
static void carry(const struct connection *connection, struct trail *trail, enum part before, const struct net_wire *wire) {
  const simtime now = sim_now(connection->sim);
  const struct {
    enum part part;
    simtime until;
  } legs[] = {{before, wire->first_bit}, {PART_SERIALISATION, wire->last_bit}, {PART_PROPAGATION, wire->received}};
  for (size_t i = 0; i < sizeof legs / sizeof *legs; i++)
    if (legs[i].until > trail->at && legs[i].until <= now) trail_advance(trail, legs[i].part, legs[i].until);
  trail_advance(trail, PART_SOFTWARE, now);
}

static void opened(void *arg, enum net_side side, const struct net_wire *wire) {
  struct connection *connection = arg;
  struct trail trail = connection->called;
  carry(connection, &trail, PART_PROPAGATION, wire);
  if (connection->sides[side].observer.opened) connection->sides[side].observer.opened(connection->sides[side].observer.arg, &trail);
}

static void arrived(void *arg, enum net_side side, int64_t end, const struct net_wire *wire) {
  struct connection *connection = arg;
  struct side *to = &connection->sides[side], *from = &connection->sides[1 - side];
  const struct trail *written = stream_writes_find(&from->writes, end);
  assert(written);
  struct trail trail = *written;
  carry(connection, &trail, PART_TRANSPORT_STALL, wire);
  to->arrived = end;
  stream_writes_forget(&from->writes, end);
  if (to->observer.arrived) to->observer.arrived(to->observer.arg, end, &trail);
}

static void closed(void *arg, enum net_side side, bool failed, const struct net_wire *wire) {
  struct connection *connection = arg;
  struct trail trail = connection->called;
  carry(connection, &trail, PART_TRANSPORT_STALL, wire);
  const struct stream_observer *observer = &connection->sides[side].observer;
  if (observer->closed) observer->closed(observer->arg, failed ? STREAM_TIMED_OUT : STREAM_FINISHED, &trail);
}

static void connect(struct stream *stream, const struct trail *trail) {
  struct connection *connection = (struct connection *)stream;
  connection->called = *trail;
  connection->ops->stream_connect(connection->socket);
}

static void write(struct stream *stream, enum net_side side, int64_t bytes, const struct trail *trail) {
  struct connection *connection = (struct connection *)stream;
  struct side *from = &connection->sides[side];
  from->written += bytes;
  stream_writes_add(connection->sim, &from->writes, from->written, trail);
  connection->ops->stream_write(connection->socket, side, bytes);
}

static int64_t read(struct stream *stream, enum net_side side) { return ((struct connection *)stream)->sides[side].arrived; }

static void close(struct stream *stream, enum net_side side, const struct trail *trail) {
  struct connection *connection = (struct connection *)stream;
  (void)trail;
  connection->ops->stream_close(connection->socket, side);
}

static void counters(const struct stream *stream, enum net_side side, struct stream_counters *out) {
  const struct connection *connection = (const struct connection *)stream;
  struct net_stream_counters told;
  connection->ops->stream_counters(connection->socket, side, &told);
  *out = (struct stream_counters){
      .payload_bytes = told.payload_bytes,
      .data_segments = told.data_segments,
      .packets = told.packets,
      .retransmissions = told.retransmissions,
  };
}

static const struct stream_ops ops = {connect, write, read, close, counters};

struct stream *stream_net_new(
    struct sim *sim, struct port *const ports[2], const struct tcp_config *const configs[2], const struct stream_observer observers[2]) {
  struct connection *connection = sim_alloc(sim, sizeof *connection);
  struct net *net = port_net(ports[NET_A]);
  struct net_stream_end ends[2];
  for (int side = 0; side < 2; side++) {
    const struct tcp_config *config = configs[side];
    ends[side] = (struct net_stream_end){
        .segment_bytes = config->segment_bytes,
        .initial_window = config->initial_window,
        .nodelay = config->nodelay,
        .syn_timeout = config->syn_timeout,
        .rto_min = config->rto_min,
        .ack_delay = config->ack_delay,
        .ack_every = config->ack_every,
        .receive_window = config->receive_window,
    };
    connection->sides[side].observer = observers[side];
  }
  connection->stream.ops = &ops;
  connection->sim = sim;
  connection->ops = net->ops;
  connection->socket = net->ops->stream_new(net, port_link(ports[NET_A]), ends, &(struct net_stream_events){opened, arrived, closed, connection});
  return &connection->stream;
}
