/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tcp: TCP on the datagrams of a link, as Linux does it or as ns-3 does.
 *
 * Purpose:    set-up, transfer, loss recovery and closing of one connection, for stream.h.
 * Profiles:   linux (6.18): initial window 10; SACK with RACK and tail loss probes, F-RTO; CUBIC with HyStart, reduced by PRR; RTO =
 *             SRTT + max(4 RTTVAR, 200 ms), SYN 1 s; acknowledgements at once for the first 16 segments and until the end begins to
 *             talk back (pingpong), then every second segment or after 40 ms; Nagle with Minshall's rule; timers on a wheel of 4 ms ticks.
 *             ns3 (3.37): initial window 10; SACK and three duplicate acknowledgements; CUBIC reduced by PRR; RTO at least 1 s, SYN 3 s;
 *             acknowledgements for every second segment or after 200 ms; no probes; its window grows whether it was filled or not.
 *             ns3-3.43: the same, but a window that was not filled does not grow.
 * Units:      bytes of payload; windows in segments.
 * Order:      a timer of the linux profile fires when its wheel turns: up to one grain late (1 tick below 63 ticks, 8 below 504, 64 below
 *             4032, 512 beyond). Where a host's ticks lie is drawn.
 * Draws:      a packet's loss is keyed by what it is: stream offset and how often it was sent; for an acknowledgement, its offset
 *             and how many went before it with the same.
 * Ownership:  the run's arena; configs must outlive the run.
 * Errors:     a connection that gives up is a result (stream.h).
 * Sources:    RFC 9293, 7323 (timestamps), 2018 and 2883 (SACK), 8985 (RACK-TLP), 6937 (PRR), 5682 (F-RTO), 9438 (CUBIC), 9406 (HyStart++; the
 *             kernel has the older HyStart), 6298; Documentation/networking/ip-sysctl.rst for defaults; ns-3 3.37 and 3.43, TcpSocketBase and TcpCubic.
 * Left out:   ECN, Fast Open, zero windows (an end reads what comes in), send buffer limits, keep-alive,
 *             SACK compression, TSO deferral, auto-corking, simultaneous open, urgent data.
 */
#ifndef PQNETSIM_TCP_H
#define PQNETSIM_TCP_H

#include "models/transport/stream.h"
#include "sim/core/param.h"

extern const struct param_table tcp_params; /* tcp.* */

/* When a window grows: used in this round or doubled at most from what was out (Linux; it also shrinks over pauses), always, or only where
 * the last transmission filled it. */
enum tcp_growth { TCP_GROWTH_USED, TCP_GROWTH_ALWAYS, TCP_GROWTH_FULL };

/* What an implementation does in its own way; a profile is one of these with the defaults of its parameters. */
struct tcp_behaviour {
  enum tcp_growth growth;
  bool rack;              /* loss by time, probes, F-RTO; else by three duplicate acknowledgements */
  bool quick_start;       /* the first segments are acknowledged at once, until the end talks back */
  bool hystart;           /* leaves slow start when the delay rises or acknowledgements spread */
  bool minshall;          /* Nagle holds a short segment back only while another short one is unacknowledged */
  bool largest_variance;  /* of a round trip counts at once, smaller ones only as each ends */
  bool floor_on_variance; /* rto_min bounds 4 RTTVAR, else the RTO */
  bool counts_bytes;      /* the window is filled and grows by bytes, not by segments */
  bool gathers;           /* writes of one moment leave together, 1 ns later */
  simtime tick;           /* of the timer wheel; 0: timers are exact */
  int syn_retries, syn_ack_retries, data_retries;
};

struct tcp_config {
  const char *name; /* of the profile */
  const struct tcp_behaviour *behaviour;
  int segment_bytes;  /* payload of a full segment */
  int initial_window; /* segments */
  bool nodelay;
  simtime syn_timeout, rto_min, rto_max;
  simtime ack_delay;
  int ack_every;                        /* a delayed acknowledgement waits for at most so many segments */
  bool bursts;                          /* the path loses segments of a burst together, as netem does behind segmentation offload */
  simtime offload;                      /* segments that follow one another within so much are acknowledged as one (generic receive offload); 0: each */
  int64_t first_window, receive_window; /* bytes: at first, and grown to at most */
  /* A middlebox in front of this end: what the other end's first segment must hold, 0: there is none. */
  int64_t first_segment_least;
  bool middlebox_resets; /* it ends the connection; else it loses the segment */
};

/* Both ends' configurations: [NET_A] the client. mtu: of the path. */
int tcp_configure(const struct config *config, int mtu_bytes, struct tcp_config out[2], struct err *e) MUST_CHECK;

/* Its values, segment_bytes left to the caller; NULL: there is none of that name. */
const struct tcp_config *tcp_profile(const char *name);

/* A connection on the datagrams of a link; ports[side] must be the ends of one. */
struct stream *tcp_new(struct sim *sim, struct port *const ports[2], const struct tcp_config *const configs[2], const struct stream_observer observers[2],
    const struct draw_key *key);

#endif
