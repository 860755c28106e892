/* SPDX-License-Identifier: GPL-2.0-or-later */
/* net_native: links worked out at the moment of sending.
 *
 * A FIFO queue before a transmitter of fixed rate lets nothing later change what happens to a packet, so its start,
 * its end, its loss and its arrival are known when it is sent. One event per datagram is then enough: its completion. A
 * datagram that can no longer be completed needs none, and nothing is kept for it. What is still in the queue is
 * remembered only to know how full the queue is and what has entered the wire.
 */
#include "sim/net/net_rules.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A packet whose transmission starts later. */
struct waiting {
  simtime start;
  int32_t bytes;
  bool lost;
};

enum { WAITING_START = 4 };

struct egress {
  struct net_rules rules;
  simtime free_at;         /* when the transmitter has sent all it has */
  struct waiting *waiting; /* ring, in order of start */
  uint32_t capacity, first, count;
  int64_t waiting_bytes;
  struct net_counters counters;
};

struct receiver {
  net_receive_fn *fn;
  net_latency_fn *latency;
  void *arg;
};

struct link {
  int mtu_bytes, l2_overhead_bytes;
  struct egress egress[2];
  struct receiver receiver[2];
};

struct datagram {
  const struct receiver *receiver;
  struct net_message message;
  struct trail trail; /* as it is handed over */
};

struct native {
  struct net net;
  struct sim *sim;
  uint64_t seed;
  uint32_t replication;
  int node_count;
  struct link **links; /* each in the arena, beside what its node has there */
  int link_count, link_capacity;
  simtime last; /* when the last packet so far comes in or, if lost, goes out: later than any event */
};

/* What the packets of one datagram come to. */
struct passage {
  bool complete;
  simtime first_start, last_end; /* on the wire */
  simtime first_in, last_in;     /* at the receiver */
};

static struct native *native_of(struct net *net) { return (struct native *)net; }

static struct net *native_open(struct sim *sim) {
  struct native *native = calloc(1, sizeof *native);

  if (!native) abort();
  native->net.ops = &net_native;
  native->sim = sim;
  return &native->net;
}

static void native_close(struct net *net) {
  if (!net) return;
  free(native_of(net)->links);
  free(net);
}

static void native_reset(struct net *net, uint64_t seed, uint32_t replication) {
  struct native *native = native_of(net);

  native->seed = seed;
  native->replication = replication;
  native->node_count = 0;
  native->link_count = 0;
  native->last = 0;
}

static int native_node_add(struct net *net) { return native_of(net)->node_count++; }

static struct link *link_get(const struct native *native, int link) {
  assert(link >= 0 && link < native->link_count);
  return native->links[link];
}

static int native_link_add(struct net *net, int node_a, int node_b, const struct net_link_config *config, uint32_t entity) {
  struct native *native = native_of(net);
  int number = native->link_count;

  assert(node_a != node_b && node_a >= 0 && node_a < native->node_count && node_b >= 0 && node_b < native->node_count);
  if (number == native->link_capacity) {
    native->link_capacity = number ? 2 * number : 4;
    native->links = realloc(native->links, (size_t)native->link_capacity * sizeof *native->links);
    if (!native->links) abort();
  }
  struct link *link = native->links[native->link_count++] = sim_take(native->sim, sizeof *link);

  *link = (struct link){.mtu_bytes = config->mtu_bytes, .l2_overhead_bytes = config->l2_overhead_bytes};
  for (int side = NET_A; side <= NET_B; side++)
    net_rules_init(&link->egress[side].rules, &config->direction[side], native->seed, native->replication, entity, (enum net_side)side);
  return number;
}

static void native_on_receive(struct net *net, int link, enum net_side at, net_receive_fn *fn, net_latency_fn *latency, void *arg) {
  link_get(native_of(net), link)->receiver[at] = (struct receiver){fn, latency, arg};
}

/* ---- the egress queue ---- */

static void count_sent(struct net_counters *counters, int64_t bytes, bool lost) {
  counters->sent_packets++;
  counters->sent_bytes += bytes;
  counters->lost_packets += lost;
  if (bytes > counters->max_packet_bytes) counters->max_packet_bytes = bytes;
}

/* Moves what has entered the wire by `now` out of the queue. */
static void egress_settle(struct egress *egress, simtime now) {
  while (egress->count > 0) {
    const struct waiting *head = &egress->waiting[egress->first];

    if (head->start > now) break;
    count_sent(&egress->counters, head->bytes, head->lost);
    egress->waiting_bytes -= head->bytes;
    egress->first = (egress->first + 1) % egress->capacity;
    egress->count--;
  }
}

static bool egress_full(const struct egress *egress, int64_t bytes) {
  const struct net_direction *direction = egress->rules.direction;

  if (direction->queue_unit == NET_QUEUE_BYTES) return egress->waiting_bytes + bytes > direction->queue_limit;
  return (int64_t)egress->count >= direction->queue_limit;
}

static void egress_grow(struct egress *egress, struct sim *sim) {
  uint32_t capacity = egress->capacity ? 2 * egress->capacity : WAITING_START;
  struct waiting *ring = sim_take(sim, capacity * sizeof *ring);

  for (uint32_t i = 0; i < egress->count; i++) ring[i] = egress->waiting[(egress->first + i) % egress->capacity];
  if (egress->waiting) sim_release(sim, egress->waiting, egress->capacity * sizeof *ring);
  egress->waiting = ring;
  egress->capacity = capacity;
  egress->first = 0;
}

static void egress_wait(struct egress *egress, struct sim *sim, const struct waiting *packet) {
  if (egress->count == egress->capacity) egress_grow(egress, sim);
  egress->waiting[(egress->first + egress->count++) % egress->capacity] = *packet;
  egress->waiting_bytes += packet->bytes;
}

/* ---- sending ---- */

static void lasts_until(struct native *native, simtime at) {
  if (at > native->last) native->last = at;
}

/* Sends one packet of a datagram now; passage collects what becomes of it. */
static void packet_send(
    struct native *native, const struct link *link, struct egress *egress, const struct net_packet *packet, int64_t bytes, struct passage *passage) {
  simtime now = sim_now(native->sim);
  bool idle = egress->free_at <= now;

  if (!idle && egress_full(egress, bytes)) {
    egress->counters.queue_drops++;
    passage->complete = false;
    return;
  }
  simtime start = idle ? now : egress->free_at;
  bool lost = net_rules_lost(&egress->rules, packet, start);

  egress->free_at = start + net_rules_wire_time(bytes + link->l2_overhead_bytes, egress->rules.direction->rate_bps);
  if (idle)
    count_sent(&egress->counters, bytes, lost);
  else
    egress_wait(egress, native->sim, &(struct waiting){.start = start, .bytes = (int32_t)bytes, .lost = lost});
  if (lost) {
    lasts_until(native, start);
    passage->complete = false;
    return;
  }
  simtime in = egress->free_at + net_rules_delay(&egress->rules, packet);

  lasts_until(native, in);
  if (packet->index == 0) *passage = (struct passage){.complete = passage->complete, .first_start = start, .first_in = in, .last_in = in};
  passage->last_end = egress->free_at;
  passage->first_in = in < passage->first_in ? in : passage->first_in;
  passage->last_in = in > passage->last_in ? in : passage->last_in;
}

static void datagram_arrive(struct sim *sim, void *arg) {
  struct datagram *datagram = arg;
  const struct receiver *receiver = datagram->receiver;

  if (receiver->fn) receiver->fn(receiver->arg, &datagram->message, &datagram->trail);
  sim_release(sim, datagram, sizeof *datagram);
}

static void native_send(struct net *net, int link_number, const struct net_message *message, const struct trail *trail) {
  struct native *native = native_of(net);
  struct link *link = link_get(native, link_number);
  struct egress *egress = &link->egress[message->from];
  int64_t payload = net_rules_payload(message);
  int count = net_fragment_count(payload, link->mtu_bytes);
  struct passage passage = {.complete = true};

  assert(trail->at == sim_now(native->sim));
  egress_settle(egress, sim_now(native->sim));
  for (int i = 0; i < count; i++) {
    struct net_packet packet = {.message = message, .index = i, .fragment = count > 1};

    packet_send(native, link, egress, &packet, net_fragment_bytes(payload, link->mtu_bytes, i), &passage);
  }
  if (!passage.complete || passage.last_in - passage.first_in >= NET_REASSEMBLY_TIMEOUT) return;
  struct datagram *datagram = sim_take(native->sim, sizeof *datagram);

  const struct receiver *receiver = &link->receiver[message->from == NET_A ? NET_B : NET_A];

  *datagram = (struct datagram){.receiver = receiver, .message = *message, .trail = *trail};
  trail_advance(&datagram->trail, PART_LINK_QUEUE, passage.first_start);
  trail_advance(&datagram->trail, PART_SERIALISATION, passage.last_end);
  trail_advance(&datagram->trail, PART_PROPAGATION, passage.last_in);
  if (receiver->latency) trail_advance(&datagram->trail, PART_SOFTWARE, passage.last_in + receiver->latency(receiver->arg, message));
  event_at(native->sim, datagram->trail.at, datagram_arrive, datagram);
}

static void native_run(struct net *net, simtime until, const bool *stop) {
  struct native *native = native_of(net);
  struct sim *sim = native->sim;

  while (!*stop && event_next_time(sim) <= until)
    if (!event_fire_next(sim)) break;
  if (*stop) return;
  simtime end = event_next_time(sim) < SIMTIME_NEVER || native->last > until ? until : native->last;

  if (end > sim_now(sim)) sim_advance(sim, end);
}

static void native_counters(const struct net *net, int link, enum net_side from, struct net_counters *out) {
  struct native *native = native_of((struct net *)net);
  struct egress *egress = &link_get(native, link)->egress[from];

  egress_settle(egress, sim_now(native->sim));
  *out = egress->counters;
}

const struct net_ops net_native = {
    .name = "native",
    .caps = NET_CAP_JITTER | NET_CAP_GEMODEL | NET_CAP_MIDDLEBOX | NET_CAP_BYTE_QUEUE,
    .open = native_open,
    .close = native_close,
    .reset = native_reset,
    .node_add = native_node_add,
    .link_add = native_link_add,
    .on_receive = native_on_receive,
    .send = native_send,
    .run = native_run,
    .counters = native_counters,
};
