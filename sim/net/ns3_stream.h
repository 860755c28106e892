/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ns3_stream: TCP connections of the ns-3 backend, on ns-3's own sockets. C++, for net_ns3.cc alone.
 *
 * Purpose:    one object per connection: socket attributes from net.h's configuration, bytes in and out as counts, and what ns-3 tells of
 *             segments and timeouts.
 * Order:      calls into the model are made inside StreamOwner::Enter and Leave, at ns-3's time.
 * Sources:    ns-3 3.37 and 3.43 as Debian packages them: TcpSocketBase, TcpCubic with its PRR, no RACK, no tail loss probe.
 */
#ifndef PQNETSIM_NS3_STREAM_H
#define PQNETSIM_NS3_STREAM_H

#include "ns3/ipv4-address.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/ptr.h"
#include "ns3/socket.h"
#include "ns3/tcp-header.h"

extern "C" {
#include "sim/net/net.h"
}

class StreamOwner {
public:
  virtual ~StreamOwner() = default;
  virtual void Enter() = 0; /* the model is about to be called */
  virtual void Leave() = 0;
  virtual const net_wire &Wire() const = 0; /* of the packet that is being handed over */
};

/* Where one end of a connection lives. */
struct StreamHost {
  ns3::Ptr<ns3::Node> node;
  ns3::Ipv4Address address;
};

/* Gives the node TCP if it has none yet. */
void StreamPrepare(ns3::Ptr<ns3::Node> node);

class Stream {
public:
  Stream(StreamOwner *owner, const StreamHost hosts[2], uint16_t port, const net_stream_end ends[2], const net_stream_events &events);
  ~Stream();
  void Connect();
  void Write(net_side side, int64_t bytes);
  void Close(net_side side);
  void Counters(net_side side, net_stream_counters *out) const { *out = m_ends[side].counters; }
  bool IsOver() const { return m_over; }

private:
  struct End {
    ns3::Ptr<ns3::Socket> socket;
    net_stream_counters counters;
    int64_t unsent; /* written, but not yet taken by the socket */
    int64_t arrived;
    uint32_t highest; /* sequence number behind what was sent */
    bool closing, told;
  };

  void Configure(ns3::Ptr<ns3::Socket> socket, const net_stream_end &end);
  void Attach(net_side side, ns3::Ptr<ns3::Socket> socket);
  void Push(net_side side);
  void Opened(net_side side);
  void Closed(net_side side, bool failed);
  net_side SideOf(const ns3::Ptr<ns3::Socket> &socket) const { return socket == m_ends[NET_A].socket ? NET_A : NET_B; }

  void OnConnected(ns3::Ptr<ns3::Socket> socket);
  void OnRefused(ns3::Ptr<ns3::Socket> socket);
  void OnAccepted(ns3::Ptr<ns3::Socket> socket, const ns3::Address &from);
  void OnReceive(ns3::Ptr<ns3::Socket> socket);
  void OnSpace(ns3::Ptr<ns3::Socket> socket, uint32_t bytes);
  void OnNormalClose(ns3::Ptr<ns3::Socket> socket);
  void OnErrorClose(ns3::Ptr<ns3::Socket> socket);
  void OnSent(net_side side, ns3::Ptr<const ns3::Packet> packet, const ns3::TcpHeader &header);

  StreamOwner *m_owner;
  StreamHost m_hosts[2];
  uint16_t m_port;
  net_stream_end m_config[2];
  net_stream_events m_events;
  ns3::Ptr<ns3::Socket> m_listener;
  End m_ends[2];
  bool m_over;
};

#endif
