/* SPDX-License-Identifier: GPL-2.0-or-later */
/* net_ns3: the backend interface over ns-3.
 *
 * Purpose:    ns-3's own nodes, IPv4 with fragmentation and reassembly, UDP, point-to-point devices, queues and scheduler,
 *             reached through net.h. Nothing C++ leaves this file and ns3_stream.cc, which has TCP.
 * Order:      models' events stay in the run's C queue. One ns-3 event, the pump, stands for the earliest of them; when it
 *             fires, all that is due fires. It is moved whenever C code may have armed or cancelled something.
 * Invariants: the C clock never runs ahead of ns-3's; both agree whenever a model is called.
 * Ownership:  one open net per process, since ns-3's simulator is process-wide. Reset destroys its world.
 * Left out:   ICMP: ns-3 would answer reassembly timeouts, as Linux does; native does not. When more than 65,536 fragmented
 *             datagrams follow in one direction within 30 s, their 16-bit identification wraps, and a piece left over
 *             from a lost one can spoil a later one (RFC 4963); native has no such accidents.
 * Sources:    ns-3 3.37 and 3.43 as Debian packages them.
 *
 * Where ns-3 is bent, so that net.h's words hold on it:
 * - its PPP header's 2 bytes are replaced by l2_overhead: the interframe gap, which may be negative, makes up the
 *   difference in the device's cycle, and the channel computes arrivals itself;
 * - loss, delay and jitter are the channel's, by net_rules, in the order packets enter the wire;
 * - it gives a last fragment no more than a multiple of 8 bytes, where RFC 791 and Linux let it fill the MTU. Where
 *   that makes one packet more, the datagram is cut here;
 * - what it would search link by link is passed by, so that a node may have many: the handlers of a node's devices, and
 *   its routing table, since every send brings its route and what comes in is for this node;
 * - a packet that finds the transmitter idle is never refused, however small a queue in bytes is.
 */
#include "ns3/drop-tail-queue.h"
#include "ns3/global-value.h"
#include "ns3/icmpv4-l4-protocol.h"
#include "ns3/ipv4-end-point.h"
#include "ns3/ipv4-interface.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv4-route.h"
#include "ns3/ipv4-static-routing.h"
#include "ns3/map-scheduler.h"
#include "ns3/node.h"
#include "ns3/point-to-point-channel.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/tag.h"
#include "ns3/traffic-control-layer.h"
#include "ns3/udp-header.h"
#include "ns3/udp-l4-protocol.h"

#include "sim/net/ns3_stream.h"

extern "C" {
#include "sim/net/net_rules.h"
}
#include <cassert>
#include <deque>
#include <memory>
#include <vector>

namespace {

const uint16_t UDP_PORT = 500;
const uint8_t PROTOCOL_UDP = 17; /* IANA protocol numbers */
const uint8_t PROTOCOL_ESP = 50;
const uint8_t TTL = 64;
const uint32_t PPP_HEADER = 2;
const uint32_t NETWORKS = 0x0a000000; /* link i has 10.0.0.0/30 + 4 i */
const uint32_t NETWORK_MASK = 0xfffffffc;
const int LINKS_MAX = 1 << 22;
const uint32_t NO_SLOT = UINT32_MAX;

struct Backend;
struct NetLink;

/* Names the datagram a packet belongs to. */
class DatagramTag : public ns3::Tag {
public:
  static ns3::TypeId GetTypeId() {
    static ns3::TypeId id = ns3::TypeId("pqnetsim::DatagramTag").SetParent<ns3::Tag>().AddConstructor<DatagramTag>();
    return id;
  }
  ns3::TypeId GetInstanceTypeId() const override { return GetTypeId(); }
  uint32_t GetSerializedSize() const override { return 8; }
  void Serialize(ns3::TagBuffer buffer) const override {
    buffer.WriteU32(slot);
    buffer.WriteU32(generation);
  }
  void Deserialize(ns3::TagBuffer buffer) override {
    slot = buffer.ReadU32();
    generation = buffer.ReadU32();
  }
  void Print(std::ostream &out) const override { out << slot << ':' << generation; }

  uint32_t slot = NO_SLOT;
  uint32_t generation = 0;
};

/* ns-3's default scheduler, which can also be asked for the time of its next event. */
class OpenMapScheduler : public ns3::MapScheduler {
public:
  static ns3::TypeId GetTypeId() {
    static ns3::TypeId id = ns3::TypeId("pqnetsim::OpenMapScheduler").SetParent<ns3::MapScheduler>().AddConstructor<OpenMapScheduler>();
    return id;
  }
  OpenMapScheduler() { current = this; }
  ~OpenMapScheduler() override {
    if (current == this) current = nullptr;
  }
  static simtime NextTime() { return current && !current->IsEmpty() ? (simtime)current->PeekNext().key.m_ts : SIMTIME_NEVER; }

private:
  static OpenMapScheduler *current;
};
OpenMapScheduler *OpenMapScheduler::current;

/* The device's queue. The device dequeues a packet at the very moment it begins to send it. */
class EgressQueue : public ns3::DropTailQueue<ns3::Packet> {
public:
  bool Enqueue(ns3::Ptr<ns3::Packet> packet) override;
  ns3::Ptr<ns3::Packet> Dequeue() override;

  NetLink *link = nullptr;
  net_side side = NET_A;

private:
  bool Full(uint32_t bytes) const;
  simtime free_at = 0; /* when the transmitter has sent what it began */
};

class WireChannel : public ns3::PointToPointChannel {
public:
  bool TransmitStart(ns3::Ptr<const ns3::Packet> packet, ns3::Ptr<ns3::PointToPointNetDevice> from, ns3::Time device_time) override;

  NetLink *link = nullptr;

private:
  void Arrive(net_side at, ns3::Ptr<ns3::Packet> packet);
  void SendSegment(net_side from, ns3::Ptr<const ns3::Packet> packet);
  void ArriveSegment(net_side at, ns3::Ptr<ns3::Packet> packet, net_wire wire);
};

/* Takes what IP has reassembled for protocol 50. */
class EspReceiver : public ns3::IpL4Protocol {
public:
  int GetProtocolNumber() const override { return PROTOCOL_ESP; }
  RxStatus Receive(ns3::Ptr<ns3::Packet> packet, const ns3::Ipv4Header &, ns3::Ptr<ns3::Ipv4Interface>) override;
  RxStatus Receive(ns3::Ptr<ns3::Packet>, const ns3::Ipv6Header &, ns3::Ptr<ns3::Ipv6Interface>) override { return RX_ENDPOINT_UNREACH; }
  void SetDownTarget(DownTargetCallback) override {}
  void SetDownTarget6(DownTargetCallback6) override {}
  DownTargetCallback GetDownTarget() const override { return DownTargetCallback(); }
  DownTargetCallback6 GetDownTarget6() const override { return DownTargetCallback6(); }

  Backend *backend = nullptr;
};

/* Its table stays empty: a datagram brings its route, and a segment's follows from its address. */
class NoRouting : public ns3::Ipv4StaticRouting {
public:
  ns3::Ptr<ns3::Ipv4Route> RouteOutput(
      ns3::Ptr<ns3::Packet>, const ns3::Ipv4Header &header, ns3::Ptr<ns3::NetDevice>, ns3::Socket::SocketErrno &error) override;
  Backend *backend = nullptr;

  void NotifyInterfaceUp(uint32_t) override {}
  void NotifyInterfaceDown(uint32_t) override {}
  void NotifyAddAddress(uint32_t, ns3::Ipv4InterfaceAddress) override {}
  void NotifyRemoveAddress(uint32_t, ns3::Ipv4InterfaceAddress) override {}
};

struct NodeStack {
  ns3::Ptr<ns3::Node> node;
  ns3::Ptr<ns3::Ipv4L3Protocol> ip;
  ns3::Ptr<ns3::UdpL4Protocol> udp;
};

/* One end of a link. */
struct Port {
  int node;
  ns3::Ptr<ns3::PointToPointNetDevice> device;
  ns3::Ipv4Address address;
  ns3::Ptr<ns3::Ipv4Route> route; /* to the other end */
  uint16_t cut_identification;    /* of datagrams cut here; counts down, ns-3's counts up */
  net_rules rules;                /* of what this end sends */
  net_counters counters;
  net_receive_fn *receive;
  net_latency_fn *latency;
  void *receive_arg;
};

/* A datagram that the receiving node itself delays. */
struct Late {
  const Port *port;
  net_message message;
  struct trail trail;
};

struct NetLink {
  Backend *backend;
  int number, mtu, l2_overhead;
  ns3::Ptr<WireChannel> channel;
  Port port[2];

  simtime WireTime(net_side from, uint32_t ip_bytes) const {
    return net_rules_wire_time((int64_t)ip_bytes + l2_overhead, port[from].rules.direction->rate_bps);
  }
};

/* A datagram under way. */
struct Datagram {
  net_message message;
  struct trail trail;
  int link;
  uint32_t generation; /* odd while in use */
  uint32_t next_free;
  int count, in, open; /* packets in all, arrived, and still queued or on the wire */
  simtime first_start, last_end;
};

simtime Now() { return ns3::Simulator::Now().GetNanoSeconds(); }

net_side Other(net_side side) { return side == NET_A ? NET_B : NET_A; }

struct Backend : net, StreamOwner {
  struct sim *sim;
  uint64_t seed;
  uint32_t replication;
  std::vector<NodeStack> nodes;
  std::vector<std::unique_ptr<NetLink>> links;
  std::deque<Datagram> datagrams;
  uint32_t free_slot;
  int64_t open_packets; /* sum over datagrams */
  std::vector<std::unique_ptr<Stream>> streams;
  net_wire wire; /* of the segment that is being handed over */

  ns3::EventId pump;
  simtime pump_at; /* SIMTIME_NEVER: not armed */
  ns3::EventId bound;
  simtime until;
  const bool *stop; /* NULL outside run */
  bool in_model;    /* C code is running; it may do more, so nothing is settled yet */
  bool pumping;     /* from the pump */

  void Clear();
  NetLink &At(int link);
  void AddPort(NetLink &link, net_side side, int node, const net_direction &direction, uint32_t entity);

  uint32_t Take(int link, const net_message &message, const struct trail &trail, int count);
  Datagram *Find(const ns3::Ptr<const ns3::Packet> &packet, uint32_t *slot);
  void Release(uint32_t slot);
  void Close(uint32_t slot);
  void SendCut(NetLink &link, const net_message &message, ns3::Ptr<ns3::Packet> packet);
  void Deliver(ns3::Ptr<const ns3::Packet> packet);
  void DeliverUdp(ns3::Ptr<ns3::Packet> packet, ns3::Ipv4Header, uint16_t, ns3::Ptr<ns3::Ipv4Interface>) { Deliver(packet); }

  void Pump();
  void Bound();
  void Settle();
  bool HasStreams() const;

  void Enter() override {
    sim_advance(sim, Now());
    in_model = true;
  }
  void Leave() override {
    in_model = pumping;
    Settle();
  }
  const net_wire &Wire() const override { return wire; }
};

NetLink &Backend::At(int link) {
  assert(link >= 0 && (size_t)link < links.size());
  return *links[(size_t)link];
}

/* ---- datagrams under way ---- */

uint32_t Backend::Take(int link, const net_message &message, const struct trail &trail, int count) {
  uint32_t slot = free_slot;

  if (slot == NO_SLOT) {
    slot = (uint32_t)datagrams.size();
    datagrams.emplace_back();
  } else {
    free_slot = datagrams[slot].next_free;
  }
  Datagram &d = datagrams[slot];
  uint32_t generation = d.generation + 1;

  d = Datagram();
  d.message = message;
  d.trail = trail;
  d.link = link;
  d.generation = generation;
  d.count = d.open = count;
  d.first_start = SIMTIME_NEVER;
  open_packets += count;
  return slot;
}

/* NULL when the datagram is gone, as that of a left-over piece may be. */
Datagram *Backend::Find(const ns3::Ptr<const ns3::Packet> &packet, uint32_t *slot) {
  DatagramTag tag;

  if (!packet->PeekPacketTag(tag) || tag.slot >= datagrams.size() || datagrams[tag.slot].generation != tag.generation) return nullptr;
  *slot = tag.slot;
  return &datagrams[tag.slot];
}

void Backend::Release(uint32_t slot) {
  Datagram &d = datagrams[slot];

  open_packets -= d.open;
  d.generation++;
  d.next_free = free_slot;
  free_slot = slot;
}

/* One packet less is queued or on the wire. */
void Backend::Close(uint32_t slot) {
  Datagram &d = datagrams[slot];

  d.open--;
  open_packets--;
  if (d.open == 0) Release(slot);
}

static void HandOver(struct sim *sim, void *arg) {
  Late *late = static_cast<Late *>(arg);

  if (late->port->receive) late->port->receive(late->port->receive_arg, &late->message, &late->trail);
  sim_release(sim, late, sizeof *late);
}

void Backend::Deliver(ns3::Ptr<const ns3::Packet> packet) {
  uint32_t slot;
  Datagram *found = Find(packet, &slot);

  if (!found || found->in != found->count) return;
  Datagram d = *found; /* the callback may send, and so reuse the slot */
  Port &port = At(d.link).port[Other(d.message.from)];

  sim_advance(sim, Now());
  trail_advance(&d.trail, PART_LINK_QUEUE, d.first_start);
  trail_advance(&d.trail, PART_SERIALISATION, d.last_end);
  trail_advance(&d.trail, PART_PROPAGATION, Now());
  if (port.latency) {
    Late *late = static_cast<Late *>(sim_take(sim, sizeof *late));

    *late = Late{&port, d.message, d.trail};
    trail_advance(&late->trail, PART_SOFTWARE, Now() + port.latency(port.receive_arg, &d.message));
    event_at(sim, late->trail.at, HandOver, late);
    return;
  }
  in_model = true;
  if (port.receive) port.receive(port.receive_arg, &d.message, &d.trail);
  in_model = false;
}

ns3::IpL4Protocol::RxStatus EspReceiver::Receive(ns3::Ptr<ns3::Packet> packet, const ns3::Ipv4Header &, ns3::Ptr<ns3::Ipv4Interface>) {
  backend->Deliver(packet);
  return RX_OK;
}

/* ---- segments ---- */

ns3::Ptr<ns3::Ipv4Route> NoRouting::RouteOutput(
    ns3::Ptr<ns3::Packet>, const ns3::Ipv4Header &header, ns3::Ptr<ns3::NetDevice>, ns3::Socket::SocketErrno &error) {
  uint32_t to = header.GetDestination().Get();
  NetLink &link = backend->At((int)((to - NETWORKS) / 4));

  error = ns3::Socket::ERROR_NOTERROR;
  return link.port[link.port[NET_A].address.Get() == to ? NET_B : NET_A].route;
}

/* TCP's packets are no datagrams of the model's; what is drawn for them is keyed by their number in the direction. */
net_message SegmentMessage(const Port &port, net_side from, uint32_t bytes) {
  net_message message = {};

  message.from = from;
  message.size_bytes = (int64_t)bytes - NET_IP_HEADER;
  message.number = (uint32_t)port.counters.sent_packets;
  return message;
}

void WireChannel::SendSegment(net_side side, ns3::Ptr<const ns3::Packet> packet) {
  Port &port = link->port[side];
  uint32_t bytes = packet->GetSize() - PPP_HEADER;
  simtime end = Now() + link->WireTime(side, bytes);
  net_message message = SegmentMessage(port, side, bytes);
  net_packet which = {&message, 0, false};
  bool lost = net_rules_lost(&port.rules, &which, Now());

  port.counters.sent_packets++;
  port.counters.sent_bytes += bytes;
  port.counters.lost_packets += lost;
  if (bytes > port.counters.max_packet_bytes) port.counters.max_packet_bytes = bytes;
  if (lost) return;
  const Port &to = link->port[Other(side)];
  net_wire wire = {Now(), end, end + net_rules_delay(&port.rules, &which)};
  simtime in = wire.received - Now() + (to.latency ? to.latency(to.receive_arg, &message) : 0);

  ns3::Simulator::ScheduleWithContext(
      to.device->GetNode()->GetId(), ns3::NanoSeconds(in), &WireChannel::ArriveSegment, this, Other(side), packet->Copy(), wire);
}

void WireChannel::ArriveSegment(net_side at, ns3::Ptr<ns3::Packet> packet, net_wire wire) {
  link->backend->wire = wire;
  link->port[at].device->Receive(packet);
  link->backend->Settle();
}

/* ---- queue and wire ---- */

/* As native counts: a packet whose turn is now does not wait, even if ns-3 has not come round to it yet. */
bool EgressQueue::Full(uint32_t bytes) const {
  const net_direction &direction = *link->port[side].rules.direction;
  int64_t packets = GetNPackets();
  int64_t total = GetNBytes() - (int64_t)PPP_HEADER * packets;

  if (Now() >= free_at) {
    if (packets == 0) return false;
    total -= Peek()->GetSize() - PPP_HEADER;
    packets--;
  }
  return direction.queue_unit == NET_QUEUE_BYTES ? total + bytes > direction.queue_limit : packets >= direction.queue_limit;
}

bool EgressQueue::Enqueue(ns3::Ptr<ns3::Packet> packet) {
  uint32_t slot;

  if (!Full(packet->GetSize() - PPP_HEADER)) return DropTailQueue::Enqueue(packet);
  link->port[side].counters.queue_drops++;
  if (link->backend->Find(packet, &slot)) link->backend->Close(slot);
  DropBeforeEnqueue(packet);
  return false;
}

ns3::Ptr<ns3::Packet> EgressQueue::Dequeue() {
  ns3::Ptr<ns3::Packet> packet = DropTailQueue::Dequeue();

  if (packet) {
    Port &port = link->port[side];
    simtime wire_time = link->WireTime(side, packet->GetSize() - PPP_HEADER);
    ns3::Time device_time = ns3::DataRate((uint64_t)port.rules.direction->rate_bps).CalculateBytesTxTime(packet->GetSize());

    port.device->SetInterframeGap(ns3::NanoSeconds(wire_time) - device_time);
    free_at = Now() + wire_time;
  }
  return packet;
}

/* Flags and fragment offset of the IPv4 header behind the PPP header, RFC 791. */
uint16_t FragmentField(const ns3::Ptr<const ns3::Packet> &packet) {
  uint8_t bytes[PPP_HEADER + 8];

  packet->CopyData(bytes, sizeof bytes);
  return (uint16_t)(bytes[PPP_HEADER + 6] << 8 | bytes[PPP_HEADER + 7]);
}

bool WireChannel::TransmitStart(ns3::Ptr<const ns3::Packet> packet, ns3::Ptr<ns3::PointToPointNetDevice> from, ns3::Time) {
  const uint16_t more_fragments = 0x2000, offset_mask = 0x1fff; /* offset in units of 8 bytes */
  net_side side = from == link->port[NET_A].device ? NET_A : NET_B;
  Port &port = link->port[side];
  uint32_t bytes = packet->GetSize() - PPP_HEADER, slot;
  Datagram *d = link->backend->Find(packet, &slot);
  uint16_t field = FragmentField(packet);

  if (!d) {
    SendSegment(side, packet);
    return true;
  }
  simtime end = Now() + link->WireTime(side, bytes);
  net_packet which = {&d->message, (field & offset_mask) * 8 / net_rules_fragment_payload(link->mtu), (field & (more_fragments | offset_mask)) != 0};
  bool lost = net_rules_lost(&port.rules, &which, Now());

  port.counters.sent_packets++;
  port.counters.sent_bytes += bytes;
  port.counters.lost_packets += lost;
  if (bytes > port.counters.max_packet_bytes) port.counters.max_packet_bytes = bytes;
  d->first_start = Now() < d->first_start ? Now() : d->first_start;
  d->last_end = end;
  if (lost) {
    link->backend->Close(slot);
    link->backend->Settle();
    return true;
  }
  ns3::Time in = ns3::NanoSeconds(end - Now() + net_rules_delay(&port.rules, &which));

  ns3::Simulator::ScheduleWithContext(link->port[Other(side)].device->GetNode()->GetId(), in, &WireChannel::Arrive, this, Other(side), packet->Copy());
  return true;
}

void WireChannel::Arrive(net_side at, ns3::Ptr<ns3::Packet> packet) {
  uint32_t slot;
  Datagram *d = link->backend->Find(packet, &slot);

  assert(d);
  d->in++;
  link->port[at].device->Receive(packet);
  link->backend->Close(slot);
  link->backend->Settle();
}

/* ---- the two schedulers ---- */

/* Puts the pump where the earliest C event is, and ends the run when nothing is left to happen in it. */
void Backend::Settle() {
  if (!stop || in_model) return;
  simtime next = event_next_time(sim);

  if (next != pump_at) {
    if (pump_at != SIMTIME_NEVER) ns3::Simulator::Remove(pump);
    pump_at = next;
    if (next != SIMTIME_NEVER) pump = ns3::Simulator::Schedule(ns3::NanoSeconds(next - Now()), &Backend::Pump, this);
  }
  if (*stop || (next == SIMTIME_NEVER && open_packets == 0 && !HasStreams())) ns3::Simulator::Stop();
}

/* ns-3's own timers may still have something in store for them. */
bool Backend::HasStreams() const {
  for (const std::unique_ptr<Stream> &stream : streams)
    if (!stream->IsOver()) return true;
  return false;
}

void Backend::Pump() {
  pump_at = SIMTIME_NEVER;
  in_model = pumping = true;
  while (!*stop && event_next_time(sim) <= Now()) event_fire_next(sim);
  in_model = pumping = false;
  Settle();
}

/* The run ends here, behind everything else of this moment. */
void Backend::Bound() {
  if (OpenMapScheduler::NextTime() <= until)
    bound = ns3::Simulator::ScheduleNow(&Backend::Bound, this);
  else
    ns3::Simulator::Stop();
}

/* ---- topology ---- */

void Backend::Clear() {
  streams.clear();
  ns3::Simulator::Destroy();
  nodes.clear();
  links.clear();
  datagrams.clear();
  free_slot = NO_SLOT;
  open_packets = 0;
  pump = bound = ns3::EventId();
  pump_at = SIMTIME_NEVER;
  stop = nullptr;
  in_model = pumping = false;
}

void Sink(ns3::Ptr<ns3::Packet>, ns3::Ipv4Address, ns3::Ipv4Address, uint8_t, ns3::Ptr<ns3::Ipv4Route>) {}

NodeStack MakeNode(Backend *backend) {
  NodeStack stack = {ns3::CreateObject<ns3::Node>(), ns3::CreateObject<ns3::Ipv4L3Protocol>(), ns3::CreateObject<ns3::UdpL4Protocol>()};
  ns3::Ptr<ns3::Icmpv4L4Protocol> icmp = ns3::CreateObject<ns3::Icmpv4L4Protocol>();
  ns3::Ptr<EspReceiver> esp = ns3::CreateObject<EspReceiver>();

  stack.node->AggregateObject(ns3::CreateObject<ns3::TrafficControlLayer>()); /* IPv4 asks for it; no queue discs */
  stack.node->AggregateObject(stack.ip);
  ns3::Ptr<NoRouting> routing = ns3::CreateObject<NoRouting>();
  routing->backend = backend;
  stack.ip->SetRoutingProtocol(routing);
  stack.node->AggregateObject(stack.udp);
  stack.node->AggregateObject(icmp);
  icmp->SetDownTarget(ns3::MakeCallback(&Sink));
  esp->backend = backend;
  stack.ip->Insert(esp);
  stack.udp->Allocate(ns3::Ptr<ns3::NetDevice>(), UDP_PORT)->SetRxCallback(ns3::MakeCallback(&Backend::DeliverUdp, backend));
  return stack;
}

/* From a device straight to IP. */
bool ReceiveIp(
    ns3::Ptr<ns3::Ipv4L3Protocol> ip, ns3::Ptr<ns3::NetDevice> device, ns3::Ptr<const ns3::Packet> packet, uint16_t protocol, const ns3::Address &from) {
  ip->Receive(device, packet, protocol, from, device->GetAddress(), ns3::NetDevice::PACKET_HOST);
  return true;
}

void Backend::AddPort(NetLink &link, net_side side, int node, const net_direction &direction, uint32_t entity) {
  Port &port = link.port[side];
  NodeStack &stack = nodes[(size_t)node];
  ns3::Ptr<EgressQueue> queue = ns3::CreateObject<EgressQueue>();
  uint32_t network = NETWORKS + (uint32_t)link.number * 4;

  net_rules_init(&port.rules, &direction, seed, replication, entity, side);
  port.node = node;
  port.cut_identification = UINT16_MAX;
  queue->link = &link;
  queue->side = side;
  queue->SetMaxSize(ns3::QueueSize(ns3::PACKETS, UINT32_MAX));
  port.device = ns3::CreateObject<ns3::PointToPointNetDevice>();
  port.device->SetQueue(queue);
  port.device->SetDataRate(ns3::DataRate((uint64_t)direction.rate_bps));
  port.device->SetMtu((uint16_t)link.mtu);
  port.device->Attach(link.channel);
  stack.node->AddDevice(port.device);

  uint32_t interface = stack.ip->AddInterface(port.device);

  port.device->SetReceiveCallback(ns3::MakeBoundCallback(&ReceiveIp, stack.ip));
  port.address = ns3::Ipv4Address(network + 1 + side);
  stack.ip->AddAddress(interface, ns3::Ipv4InterfaceAddress(port.address, ns3::Ipv4Mask(NETWORK_MASK)));
  stack.ip->SetUp(interface);
  port.route = ns3::Create<ns3::Ipv4Route>();
  port.route->SetSource(port.address);
  port.route->SetDestination(ns3::Ipv4Address(network + 1 + Other(side)));
  port.route->SetGateway(ns3::Ipv4Address::GetZero());
  port.route->SetOutputDevice(port.device);
}

/* RFC 791 fragmentation, for the sizes where ns-3's own makes one packet more. */
void Backend::SendCut(NetLink &link, const net_message &message, ns3::Ptr<ns3::Packet> packet) {
  Port &port = link.port[message.from];
  ns3::Ipv4Header header;

  if (message.udp) {
    ns3::UdpHeader udp;

    udp.SetSourcePort(UDP_PORT);
    udp.SetDestinationPort(UDP_PORT);
    packet->AddHeader(udp);
  }
  header.SetSource(port.address);
  header.SetDestination(port.route->GetDestination());
  header.SetProtocol(message.udp ? PROTOCOL_UDP : PROTOCOL_ESP);
  header.SetTtl(TTL);
  header.SetIdentification(port.cut_identification--);

  int64_t size = packet->GetSize();
  int count = net_fragment_count(size, link.mtu);
  uint32_t offset = 0;

  for (int i = 0; i < count; i++) {
    uint32_t length = (uint32_t)net_fragment_bytes(size, link.mtu, i) - NET_IP_HEADER;

    header.SetPayloadSize((uint16_t)length);
    header.SetFragmentOffset((uint16_t)offset);
    if (i < count - 1)
      header.SetMoreFragments();
    else
      header.SetLastFragment();
    nodes[(size_t)port.node].ip->SendWithHeader(packet->CreateFragment(offset, length), header, port.route);
    offset += length;
  }
}

/* ---- net_ops ---- */

bool is_open;

struct net *ns3_open(struct sim *sim) {
  assert(!is_open);
  is_open = true;
  ns3::GlobalValue::Bind("SchedulerType", ns3::TypeIdValue(OpenMapScheduler::GetTypeId()));
  ns3::RngSeedManager::SetSeed(1); /* nothing in these topologies draws from ns-3's streams */
  ns3::RngSeedManager::SetRun(1);

  Backend *backend = new Backend();

  backend->ops = &net_ns3;
  backend->sim = sim;
  backend->Clear();
  return backend;
}

void ns3_close(struct net *net) {
  if (!net) return;
  Backend *backend = static_cast<Backend *>(net);

  backend->Clear();
  delete backend;
  is_open = false;
}

void ns3_reset(struct net *net, uint64_t seed, uint32_t replication) {
  Backend *backend = static_cast<Backend *>(net);

  backend->Clear();
  backend->seed = seed;
  backend->replication = replication;
}

int ns3_node_add(struct net *net) {
  Backend *backend = static_cast<Backend *>(net);

  backend->nodes.push_back(MakeNode(backend));
  return (int)backend->nodes.size() - 1;
}

int ns3_link_add(struct net *net, int node_a, int node_b, const struct net_link_config *config, uint32_t entity) {
  Backend *backend = static_cast<Backend *>(net);
  std::unique_ptr<NetLink> link(new NetLink());

  assert(node_a != node_b && node_a >= 0 && (size_t)node_a < backend->nodes.size() && node_b >= 0 && (size_t)node_b < backend->nodes.size());
  assert(backend->links.size() < (size_t)LINKS_MAX);
  link->backend = backend;
  link->number = (int)backend->links.size();
  link->mtu = config->mtu_bytes;
  link->l2_overhead = config->l2_overhead_bytes;
  link->channel = ns3::CreateObject<WireChannel>();
  link->channel->link = link.get();
  backend->AddPort(*link, NET_A, node_a, config->direction[NET_A], entity);
  backend->AddPort(*link, NET_B, node_b, config->direction[NET_B], entity);
  backend->links.push_back(std::move(link));
  return (int)backend->links.size() - 1;
}

void ns3_on_receive(struct net *net, int link, enum net_side at, net_receive_fn *fn, net_latency_fn *latency, void *arg) {
  Port &port = static_cast<Backend *>(net)->At(link).port[at];

  port.receive = fn;
  port.latency = latency;
  port.receive_arg = arg;
}

void ns3_send(struct net *net, int number, const struct net_message *message, const struct trail *trail) {
  Backend *backend = static_cast<Backend *>(net);
  NetLink &link = backend->At(number);
  Port &port = link.port[message->from];
  NodeStack &stack = backend->nodes[(size_t)port.node];
  int64_t payload = net_rules_payload(message);
  int count = net_fragment_count(payload, link.mtu);
  int each = net_rules_fragment_payload(link.mtu);
  ns3::Ptr<ns3::Packet> packet = ns3::Create<ns3::Packet>((uint32_t)message->size_bytes);
  DatagramTag tag;

  assert(trail->at == Now() && trail->at == sim_now(backend->sim));
  tag.slot = backend->Take(number, *message, *trail, count);
  tag.generation = backend->datagrams[tag.slot].generation;
  packet->AddPacketTag(tag);
  if (count > 1 && (payload + each - 1) / each != count)
    backend->SendCut(link, *message, packet);
  else if (message->udp)
    stack.udp->Send(packet, port.address, port.route->GetDestination(), UDP_PORT, UDP_PORT, port.route);
  else
    stack.ip->Send(packet, port.address, port.route->GetDestination(), PROTOCOL_ESP, port.route);
}

void ns3_run(struct net *net, simtime until, const bool *stop) {
  Backend *backend = static_cast<Backend *>(net);
  struct sim *sim = backend->sim;

  backend->until = until < SIMTIME_HORIZON ? until : SIMTIME_HORIZON;
  if (*stop || backend->until < Now() || (backend->open_packets == 0 && !backend->HasStreams() && event_next_time(sim) == SIMTIME_NEVER)) return;
  backend->stop = stop;
  backend->bound = ns3::Simulator::Schedule(ns3::NanoSeconds(backend->until - Now()), &Backend::Bound, backend);
  backend->Settle();
  ns3::Simulator::Run();
  ns3::Simulator::Remove(backend->bound);
  backend->stop = nullptr;
  sim_advance(sim, Now()); /* ns-3 may have gone on to the bound, or to lose the last packet */
}

void ns3_counters(const struct net *net, int link, enum net_side from, struct net_counters *out) {
  *out = static_cast<Backend *>(const_cast<struct net *>(net))->At(link).port[from].counters;
}

/* net_stream is what net.h shows of a Stream. */
Stream *Of(struct net_stream *stream) { return reinterpret_cast<Stream *>(stream); }

struct net_stream *ns3_stream_new(struct net *net, int number, const struct net_stream_end ends[2], const struct net_stream_events *events) {
  const uint16_t first_port = 1024;
  Backend *backend = static_cast<Backend *>(net);
  NetLink &link = backend->At(number);
  StreamHost hosts[2];

  for (int side = 0; side < 2; side++) {
    hosts[side] = {backend->nodes[(size_t)link.port[side].node].node, link.port[side].address};
    StreamPrepare(hosts[side].node);
  }
  uint16_t port = (uint16_t)(first_port + backend->streams.size() % (UINT16_MAX - first_port));
  backend->streams.emplace_back(new Stream(backend, hosts, port, ends, *events));
  return reinterpret_cast<struct net_stream *>(backend->streams.back().get());
}

void ns3_stream_connect(struct net_stream *stream) { Of(stream)->Connect(); }

void ns3_stream_write(struct net_stream *stream, enum net_side side, int64_t bytes) { Of(stream)->Write(side, bytes); }

void ns3_stream_close(struct net_stream *stream, enum net_side side) { Of(stream)->Close(side); }

void ns3_stream_counters(const struct net_stream *stream, enum net_side side, struct net_stream_counters *out) {
  Of(const_cast<struct net_stream *>(stream))->Counters(side, out);
}

} // namespace

extern "C" const struct net_ops net_ns3 = {
    "ns3",
    NET_CAP_JITTER | NET_CAP_GEMODEL | NET_CAP_MIDDLEBOX | NET_CAP_BYTE_QUEUE | NET_CAP_STREAM,
    ns3_open,
    ns3_close,
    ns3_reset,
    ns3_node_add,
    ns3_link_add,
    ns3_on_receive,
    ns3_send,
    ns3_run,
    ns3_counters,
    ns3_stream_new,
    ns3_stream_connect,
    ns3_stream_write,
    ns3_stream_close,
    ns3_stream_counters,
};
