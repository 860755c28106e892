/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/transport/stream_internal.h"
#include "models/transport/stream_net.h"
#include "models/transport/tcp.h"

struct stream *stream_new(struct sim *sim, struct port *const ports[2], const struct tcp_config *const configs[2], const struct stream_observer observers[2],
    const struct draw_key *key) {
  if (port_net(ports[NET_A])->ops->caps & NET_CAP_STREAM) return stream_net_new(sim, ports, configs, observers);
  return tcp_new(sim, ports, configs, observers, key);
}

void stream_connect(struct stream *stream, const struct trail *trail) { stream->ops->connect(stream, trail); }

void stream_write(struct stream *stream, enum net_side side, int64_t bytes, const struct trail *trail) { stream->ops->write(stream, side, bytes, trail); }

int64_t stream_read(struct stream *stream, enum net_side side) { return stream->ops->read(stream, side); }

void stream_close(struct stream *stream, enum net_side side, const struct trail *trail) { stream->ops->close(stream, side, trail); }

void stream_counters(const struct stream *stream, enum net_side side, struct stream_counters *out) { stream->ops->counters(stream, side, out); }
