/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream_net: stream.h on the sockets of a backend that has TCP of its own (net.h, NET_CAP_STREAM).
 *
 * Trail:      what the backend tells of the packet that brought something: what was before its first bit left is transport_stall, for a
 *             connection that has opened propagation.
 * Left out:   timeouts and probes in the counters: the backend does not tell them.
 */
#ifndef PQNETSIM_STREAM_NET_H
#define PQNETSIM_STREAM_NET_H

#include "models/transport/tcp.h"

struct stream *stream_net_new(
    struct sim *sim, struct port *const ports[2], const struct tcp_config *const configs[2], const struct stream_observer observers[2]);

#endif
