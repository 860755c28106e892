/* SPDX-License-Identifier: GPL-2.0-or-later */
/* net: what a model may ask of a network, whichever backend provides it.
 *
 * Purpose:    nodes joined by point-to-point links; UDP and raw IP datagrams with IP fragmentation; counters.
 *             Lengths travel, not payload bytes.
 * Units:      bit/s, ns, bytes, parts per billion. Sizes of datagrams are IP payload handed to IP: for UDP the payload
 *             without the 8-byte header, for raw IP (ESP) everything behind the 20-byte IPv4 header.
 * Order:      events of both backends fire through the run's event queue (event.h); a backend with a scheduler of its
 *             own keeps the two in step.
 * Invariants: the same topology, keys and loss rules drop the same packets on every backend, as draws are keyed by
 *             message, fragment and attempt. Loss-free, the backends agree to the nanosecond class.
 * Ownership:  net_open/net_close; net_reset empties the topology. A link's configuration is the caller's, is not copied
 *             and must outlive the run; any number of links may share one. Messages are copied; what their tag points
 *             to is the sender's, and must live until the run ends (use sim_alloc).
 * Errors:     configurations are checked against net_caps before a run; inside a run nothing fails.
 * Sources:    IPv4 and its fragmentation RFC 791 (20-byte header, offsets in units of 8 bytes); UDP RFC 768.
 * Left out:   IPv6, routing over several hops, ARP, ICMP. TCP of the native backend is models/transport/tcp.h.
 */
#ifndef PQNETSIM_NET_H
#define PQNETSIM_NET_H

#include "sim/core/err.h"
#include "sim/core/event.h"
#include "sim/core/metric.h"
#include "sim/core/param.h"

enum net_side { NET_A = 0, NET_B = 1 }; /* the two ends of a link; direction d is the one that side d sends into */

enum net_queue_unit { NET_QUEUE_PACKETS, NET_QUEUE_BYTES };
enum { NET_DROP_MAX = 64 };

/* One direction of a link: an egress queue, the transmitter, the wire, and what is lost on it. */
struct net_direction {
  int64_t rate_bps; /* of IP bytes plus l2_overhead */
  simtime delay;    /* one way */
  simtime jitter;   /* uniform in [-jitter, +jitter] around delay, per packet; may reorder, as netem does */
  enum net_queue_unit queue_unit;
  int64_t queue_limit; /* waiting packets or bytes, the one being sent not counted; > 0 */
  struct param_loss loss;
  int drop_count; /* deterministic: packets lost by number, the first packet of the direction is 1 */
  int64_t drop[NET_DROP_MAX];
  bool drop_fragments;               /* middlebox: every packet that is an IP fragment is lost */
  simtime outage_from, outage_until; /* every packet that enters the wire in [from, until) is lost */
};

struct net_link_config {
  struct net_direction direction[2];
  int mtu_bytes;         /* largest IP packet; 68 or more */
  int l2_overhead_bytes; /* added to each packet's time on the wire, not counted in counters */
};

/* What one direction carried. Sent counts what entered the wire (queue drops never did), lost packets included. */
struct net_counters {
  int64_t sent_packets, sent_bytes; /* IP level */
  int64_t lost_packets;             /* loss rule, drop list or middlebox */
  int64_t queue_drops;
  int64_t max_packet_bytes;
};

struct net;
struct net_message;

/* Called at the receiving node when the last missing IP fragment of a datagram is in, and the node's own latency is over. The trail
 * is the sender's, advanced by link_queue (until the datagram's first bit is sent), serialisation (until its last bit is),
 * propagation, of the fragment that came in last, and by the latency as software. */
typedef void net_receive_fn(void *arg, const struct net_message *message, const struct trail *trail);

/* How long the receiving node itself delays a datagram between wire and stack (a VM switch, a TUN forwarder). A pure function of
 * its arguments: it may be called as soon as the datagram is sent. Datagrams are handed over in the order their latency ends. */
typedef simtime net_latency_fn(void *arg, const struct net_message *message);

struct net_message {
  /* filled by the sender */
  enum net_side from;
  bool udp;           /* adds an 8-byte UDP header to the first fragment; else raw IP */
  uint8_t protocol;   /* whose it is at the receiver: enum port_protocol */
  int64_t size_bytes; /* see Units above; 1..65507 */
  uint32_t number;    /* the protocol's message number; keys the draws with fragment and attempt */
  uint16_t part;      /* which datagram of the message (IKE fragment), 0..63 */
  uint16_t attempt;   /* retransmission count */
  void *tag;          /* the protocol's own */
};

enum net_cap {
  NET_CAP_JITTER = 1 << 0,
  NET_CAP_GEMODEL = 1 << 1,
  NET_CAP_MIDDLEBOX = 1 << 2,
  NET_CAP_BYTE_QUEUE = 1 << 3,
  NET_CAP_STREAM = 1 << 4, /* TCP of its own: the stream calls of net_ops are there */
};

/* ---- TCP connections of a backend that has sockets of its own ---- */

/* One end's settings, as models/transport/tcp.h means them. */
struct net_stream_end {
  int segment_bytes, initial_window;
  bool nodelay;
  simtime syn_timeout, rto_min, ack_delay;
  int ack_every;
  int64_t receive_window; /* send buffer too */
};

/* The packet that brought something: when its first and last bit were sent, and when the last one was received; the node's own latency
 * came behind that. */
struct net_wire {
  simtime first_bit, last_bit, received;
};

/* What happened at one side, now. */
struct net_stream_events {
  void (*opened)(void *arg, enum net_side side, const struct net_wire *wire);
  void (*arrived)(void *arg, enum net_side side, int64_t end, const struct net_wire *wire); /* all bytes before end are there */
  void (*closed)(void *arg, enum net_side side, bool failed, const struct net_wire *wire);
  void *arg;
};

struct net_stream_counters {
  int64_t payload_bytes, data_segments, packets, retransmissions; /* as in stream.h */
};

struct net_stream;

struct net_ops {
  const char *name; /* "native", "ns3" */
  unsigned caps;    /* enum net_cap */
  struct net *(*open)(struct sim *sim);
  void (*close)(struct net *net);
  /* Empty topology, new keys. The caller has reset the sim before. */
  void (*reset)(struct net *net, uint64_t seed, uint32_t replication);
  /* Links and nodes are numbered 0, 1, ... in the order they are added. */
  int (*node_add)(struct net *net);
  /* entity: below 2^20, keys the link's draws. config must outlive the run. */
  int (*link_add)(struct net *net, int node_a, int node_b, const struct net_link_config *config, uint32_t entity);
  /* Who gets what arrives at one end of a link. latency NULL: nothing is added. */
  void (*on_receive)(struct net *net, int link, enum net_side at, net_receive_fn *fn, net_latency_fn *latency, void *arg);
  /* Sends from message->from over link, now. trail->at must be now. The message is copied. */
  void (*send)(struct net *net, int link, const struct net_message *message, const struct trail *trail);
  /* Fires events until there is none before or at `until`, or `*stop` is set. Not stopped, it leaves the clock at
   * `until` when something is left to happen later, else where the last packet came in or was lost. */
  void (*run)(struct net *net, simtime until, const bool *stop);
  void (*counters)(const struct net *net, int link, enum net_side from, struct net_counters *out);
  /* With NET_CAP_STREAM, else NULL. NET_A connects. Connections live until the net is reset; what the ends' own latency is, on_receive says. */
  struct net_stream *(*stream_new)(struct net *net, int link, const struct net_stream_end ends[2], const struct net_stream_events *events);
  void (*stream_connect)(struct net_stream *stream);
  void (*stream_write)(struct net_stream *stream, enum net_side side, int64_t bytes);
  void (*stream_close)(struct net_stream *stream, enum net_side side);
  void (*stream_counters)(const struct net_stream *stream, enum net_side side, struct net_stream_counters *out);
};

struct net {
  const struct net_ops *ops; /* first member of every backend's state */
};

extern const struct net_ops net_native;
extern const struct net_ops net_ns3; /* in pqnetsim-ns3 only */

/* Path parameters (path.rate, path.up.delay, ...): table and reader shared by all domains. `up` is direction NET_A. */
extern const struct param_table net_path_params;
void net_path_config(const struct config *config, struct net_link_config *out);
/* path.middlebox of a direction. Those behind NET_DROP_FRAGMENTS look into TLS; the link knows nothing of them. */
enum net_middlebox { NET_NO_MIDDLEBOX, NET_DROP_FRAGMENTS, NET_DROP_SPLIT_HELLO, NET_RESET_SPLIT_HELLO, NET_DROP_SPLIT_RECORD, NET_RESET_SPLIT_RECORD };
enum net_middlebox net_path_middlebox(const struct config *config, enum net_side from);
/* ERR_INPUT when the configured path needs what the backend cannot do, or values contradict each other
 * (jitter above delay, MTU below what a datagram needs). */
int net_path_check(const struct config *config, const struct net_ops *ops, struct err *e) MUST_CHECK;

/* IPv4 fragmentation, pure arithmetic, used by both backends' accounting and by tests: number of packets a
 * datagram of `payload` IP payload bytes becomes, and the IP size of packet `index` (0-based). */
int net_fragment_count(int64_t payload_bytes, int mtu_bytes);
int64_t net_fragment_bytes(int64_t payload_bytes, int mtu_bytes, int index);

#endif
