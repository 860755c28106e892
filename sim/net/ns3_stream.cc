/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/net/ns3_stream.h"

#include "ns3/boolean.h"
#include "ns3/inet-socket-address.h"
#include "ns3/nstime.h"
#include "ns3/object-factory.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/tcp-socket-base.h"
#include "ns3/tcp-socket-factory.h"
#include "ns3/uinteger.h"

#include <cassert>

void StreamPrepare(ns3::Ptr<ns3::Node> node) {
  if (!node->GetObject<ns3::TcpL4Protocol>()) node->AggregateObject(ns3::CreateObject<ns3::TcpL4Protocol>());
}

Stream::Stream(StreamOwner *owner, const StreamHost hosts[2], uint16_t port, const net_stream_end ends[2], const net_stream_events &events)
    : m_owner(owner), m_hosts{hosts[0], hosts[1]}, m_port(port), m_config{ends[0], ends[1]}, m_events(events), m_ends(), m_over(false) {
  m_listener = ns3::Socket::CreateSocket(m_hosts[NET_B].node, ns3::TcpSocketFactory::GetTypeId());
  Configure(m_listener, m_config[NET_B]);
  m_listener->Bind(ns3::InetSocketAddress(m_hosts[NET_B].address, m_port));
  m_listener->Listen();
  m_listener->SetAcceptCallback(ns3::MakeNullCallback<bool, ns3::Ptr<ns3::Socket>, const ns3::Address &>(), ns3::MakeCallback(&Stream::OnAccepted, this));
  m_ends[NET_A].socket = ns3::Socket::CreateSocket(m_hosts[NET_A].node, ns3::TcpSocketFactory::GetTypeId());
  Configure(m_ends[NET_A].socket, m_config[NET_A]);
  m_ends[NET_A].socket->Bind(ns3::InetSocketAddress(m_hosts[NET_A].address, m_port));
  Attach(NET_A, m_ends[NET_A].socket);
  m_ends[NET_A].socket->SetConnectCallback(ns3::MakeCallback(&Stream::OnConnected, this), ns3::MakeCallback(&Stream::OnRefused, this));
}

/* ns-3 holds the sockets until its simulator is destroyed; they must not call back any more. */
Stream::~Stream() {
  for (End &end : m_ends)
    if (end.socket) {
      end.socket->SetRecvCallback(ns3::MakeNullCallback<void, ns3::Ptr<ns3::Socket>>());
      end.socket->SetSendCallback(ns3::MakeNullCallback<void, ns3::Ptr<ns3::Socket>, uint32_t>());
      end.socket->SetCloseCallbacks(ns3::MakeNullCallback<void, ns3::Ptr<ns3::Socket>>(), ns3::MakeNullCallback<void, ns3::Ptr<ns3::Socket>>());
      end.socket->SetConnectCallback(ns3::MakeNullCallback<void, ns3::Ptr<ns3::Socket>>(), ns3::MakeNullCallback<void, ns3::Ptr<ns3::Socket>>());
    }
  m_listener->SetAcceptCallback(
      ns3::MakeNullCallback<bool, ns3::Ptr<ns3::Socket>, const ns3::Address &>(), ns3::MakeNullCallback<void, ns3::Ptr<ns3::Socket>, const ns3::Address &>());
}

void Stream::Configure(ns3::Ptr<ns3::Socket> socket, const net_stream_end &end) {
  socket->SetAttribute("SegmentSize", ns3::UintegerValue((uint64_t)end.segment_bytes));
  socket->SetAttribute("InitialCwnd", ns3::UintegerValue((uint64_t)end.initial_window));
  socket->SetAttribute("TcpNoDelay", ns3::BooleanValue(end.nodelay));
  socket->SetAttribute("ConnTimeout", ns3::TimeValue(ns3::NanoSeconds(end.syn_timeout)));
  socket->SetAttribute("MinRto", ns3::TimeValue(ns3::NanoSeconds(end.rto_min)));
  socket->SetAttribute("DelAckTimeout", ns3::TimeValue(ns3::NanoSeconds(end.ack_delay)));
  socket->SetAttribute("DelAckCount", ns3::UintegerValue((uint64_t)(end.ack_delay > 0 ? end.ack_every : 1)));
  socket->SetAttribute("RcvBufSize", ns3::UintegerValue((uint64_t)end.receive_window));
  socket->SetAttribute("SndBufSize", ns3::UintegerValue((uint64_t)end.receive_window));
}

void Stream::Attach(net_side side, ns3::Ptr<ns3::Socket> socket) {
  m_ends[side].socket = socket;
  socket->SetRecvCallback(ns3::MakeCallback(&Stream::OnReceive, this));
  socket->SetSendCallback(ns3::MakeCallback(&Stream::OnSpace, this));
  socket->SetCloseCallbacks(ns3::MakeCallback(&Stream::OnNormalClose, this), ns3::MakeCallback(&Stream::OnErrorClose, this));
  ns3::DynamicCast<ns3::TcpSocketBase>(socket)->TraceConnectWithoutContext(
      "Tx", ns3::Callback<void, ns3::Ptr<const ns3::Packet>, const ns3::TcpHeader &, ns3::Ptr<const ns3::TcpSocketBase>>(
                [this, side](
                    ns3::Ptr<const ns3::Packet> packet, const ns3::TcpHeader &header, ns3::Ptr<const ns3::TcpSocketBase>) { OnSent(side, packet, header); }));
}

void Stream::Connect() { m_ends[NET_A].socket->Connect(ns3::InetSocketAddress(m_hosts[NET_B].address, m_port)); }

/* ---- what the model does ---- */

/* As much as the socket takes; the rest when it has room. */
void Stream::Push(net_side side) {
  End &end = m_ends[side];
  if (!end.socket) return;
  while (end.unsent > 0) {
    int64_t room = end.socket->GetTxAvailable();
    uint32_t bytes = (uint32_t)(end.unsent < room ? end.unsent : room);
    if (bytes == 0 || end.socket->Send(ns3::Create<ns3::Packet>(bytes)) < 0) return;
    end.unsent -= bytes;
  }
  if (end.closing) {
    end.closing = false;
    end.socket->Close();
  }
}

void Stream::Write(net_side side, int64_t bytes) {
  if (m_over) return;
  m_ends[side].unsent += bytes;
  m_ends[side].counters.payload_bytes += bytes;
  Push(side);
}

void Stream::Close(net_side side) {
  m_ends[side].closing = true;
  Push(side);
}

/* ---- what ns-3 tells ---- */

void Stream::Opened(net_side side) {
  m_owner->Enter();
  m_events.opened(m_events.arg, side, &m_owner->Wire());
  m_owner->Leave();
}

void Stream::Closed(net_side side, bool failed) {
  if (m_ends[side].told) return;
  m_ends[side].told = true;
  m_over |= failed || (m_ends[NET_A].told && m_ends[NET_B].told);
  m_owner->Enter();
  m_events.closed(m_events.arg, side, failed, &m_owner->Wire());
  m_owner->Leave();
}

void Stream::OnConnected(ns3::Ptr<ns3::Socket>) { Opened(NET_A); }

void Stream::OnRefused(ns3::Ptr<ns3::Socket>) { Closed(NET_A, true); }

void Stream::OnAccepted(ns3::Ptr<ns3::Socket> socket, const ns3::Address &) {
  Attach(NET_B, socket);
  Opened(NET_B);
  Push(NET_B);
}

void Stream::OnReceive(ns3::Ptr<ns3::Socket> socket) {
  net_side side = SideOf(socket);
  int64_t before = m_ends[side].arrived;
  while (ns3::Ptr<ns3::Packet> packet = socket->Recv()) {
    if (packet->GetSize() == 0) break;
    m_ends[side].arrived += packet->GetSize();
  }
  if (m_ends[side].arrived == before) return;
  m_owner->Enter();
  m_events.arrived(m_events.arg, side, m_ends[side].arrived, &m_owner->Wire());
  m_owner->Leave();
}

void Stream::OnSpace(ns3::Ptr<ns3::Socket> socket, uint32_t) { Push(SideOf(socket)); }

void Stream::OnNormalClose(ns3::Ptr<ns3::Socket> socket) { Closed(SideOf(socket), false); }

void Stream::OnErrorClose(ns3::Ptr<ns3::Socket> socket) { Closed(SideOf(socket), true); }

void Stream::OnSent(net_side side, ns3::Ptr<const ns3::Packet> packet, const ns3::TcpHeader &header) {
  End &end = m_ends[side];
  uint32_t bytes = packet->GetSize(), last = header.GetSequenceNumber().GetValue() + bytes;
  bool syn = (header.GetFlags() & ns3::TcpHeader::SYN) != 0;
  end.counters.packets++;
  if (bytes > 0) end.counters.data_segments++;
  if ((bytes > 0 && (int32_t)(last - end.highest) <= 0) || (syn && end.counters.packets > 1)) end.counters.retransmissions++;
  if ((int32_t)(last - end.highest) > 0) end.highest = last;
}
