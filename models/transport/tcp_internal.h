/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tcp_internal: what the files of the TCP model share; nobody else includes it.
 *
 * Purpose:    state of a connection, and the calls between tcp.c (life, set-up, packets in and out), tcp_send.c (segments, windows),
 *             tcp_ack.c (acknowledgements at the sender), tcp_recover.c (loss detection and recovery), tcp_window.c (congestion
 *             window), tcp_timer.c and tcp_receive.c.
 * Invariants: sent and not acknowledged segments are in the ring, in the order of their offsets, without gaps from una to next. Of its
 *             counters: sacked, lost and out (retransmitted and not known to have arrived or to be lost again) each count segments.
 *             A FIN takes one offset behind the last byte.
 * Ownership:  the run's arena; packets go back to a free list.
 */
#ifndef PQNETSIM_TCP_INTERNAL_H
#define PQNETSIM_TCP_INTERNAL_H

#include "models/transport/stream_internal.h"
#include "models/transport/stream_writes.h"
#include "models/transport/tcp.h"

/* RFC 791, 9293, 7323 (timestamps with padding), 2018. */
enum {
  IP_AND_TCP_HEADER = 20 + 20,
  TIMESTAMPS = 12,
  SYN_OPTIONS = 20, /* MSS 4, SACK permitted 2, timestamps 10, padding 1, window scale 3 */
  SACK_HEADER = 4,  /* with padding */
  SACK_BLOCK = 8,
  SACK_BLOCKS = 3, /* that fit beside timestamps */
};

enum { DUPLICATES = 3, UNLIMITED = 1 << 30 };

struct block {
  int64_t start, end;
};

struct tcp_packet {
  struct tcp_packet *next_free;
  struct tcp *owner;
  enum net_side from;
  bool syn, ack, fin, reset;
  bool duplicate; /* the acknowledgement answers bytes that were there before (D-SACK) */
  int64_t start;
  int bytes;
  int64_t acked;  /* bytes before it have arrived */
  int64_t window; /* how many more the sender of this packet takes */
  simtime sent_at;
  simtime echo; /* sent_at of the packet that caused this one; -1: of none */
  int block_count;
  struct block blocks[SACK_BLOCKS];
};

struct segment {
  int64_t start;
  int bytes;
  bool fin, sacked, lost, out;
  uint16_t sends;
  simtime sent_at;
};

static inline int64_t segment_end(const struct segment *segment) { return segment->start + segment->bytes + segment->fin; }

enum tcp_timer_kind { TIMER_NONE, TIMER_SYN, TIMER_RETRANSMIT, TIMER_PROBE, TIMER_REORDER };
enum recovery { RECOVERY_OPEN, RECOVERY_DISORDER, RECOVERY_CWR, RECOVERY_FAST, RECOVERY_LOSS };

/* A timer that is often set later: its event stays, and looks at the deadline when it fires. */
struct tcp_timer {
  simtime deadline; /* SIMTIME_NEVER: not running */
  simtime armed;    /* when the event fires; SIMTIME_NEVER: there is none */
  struct event event;
};

struct rtt {
  bool measured;
  simtime srtt, deviation, deviation_max, variance; /* deviation and variance: four times the mean deviation */
  int64_t round_end;
  simtime min;
};

struct window {
  int cwnd, ssthresh, count;
  int64_t carried_bytes; /* acknowledged, less than a segment */
  /* usage */
  bool limited;
  int most_out;
  int64_t usage_end;
  /* CUBIC */
  int last_max, origin, reno, reno_count;
  simtime epoch; /* SIMTIME_NEVER: none */
  int64_t plateau_ms;
  /* HyStart */
  int64_t round_end;
  bool leave_found;
  simtime round_start, last_ack, round_min;
  int samples;
  /* PRR */
  int prior, delivered, sent;
};

struct receiver {
  int64_t next;
  int64_t window, measured_from; /* what it admits; where the round began that it is measured in */
  simtime measured_at;
  struct block *above; /* what came in above next, by offset */
  uint64_t *age;       /* of each: when it last grew */
  uint64_t ages;
  int above_count, above_capacity;
  int64_t fin_at; /* -1: not seen */
  bool data_seen, talks_back;
  bool gathering; /* the card holds segments that will be acknowledged as one */
  int quick;      /* acknowledgements that still go out at once */
  int unacked;    /* segments since the last acknowledgement */
  int64_t acked;  /* what the last acknowledgement said, and how many said so */
  int repeats;
  simtime last_data, ack_delay, echo;
  struct tcp_timer delay;
  bool ended;
};

enum tcp_state { TCP_CLOSED, TCP_LISTEN, TCP_SYN_SENT, TCP_SYN_RECEIVED, TCP_ESTABLISHED, TCP_DEAD };

struct tcp_end {
  struct tcp *tcp;
  struct tcp_end *peer;
  enum net_side side;
  const struct tcp_config *config;
  struct port *port;
  struct stream_observer observer;
  enum tcp_state state;
  struct trail chain; /* of the set-up */
  simtime syn_at;
  int syn_sends, syn_timeouts;
  struct stream_counters counters;

  int64_t written, una, next;
  int64_t peer_window;
  bool closing, fin_sent;
  bool gathering; /* writes of this moment */
  struct stream_writes writes;
  struct segment *ring;
  int first, count, capacity;
  int sacked, lost, out;
  int64_t burst_start; /* of the segments that share a draw of their loss */
  int burst_left;
  int64_t short_end; /* of the last short segment sent (Minshall) */
  simtime last_sent;

  struct rtt rtt;
  simtime rto;
  simtime tick_phase; /* since the host's last tick of the coarsest wheel, at time 0 */
  int timeouts_in_row;
  struct tcp_timer timer;
  enum tcp_timer_kind timer_kind;
  struct window window;

  enum recovery recovery;
  int64_t recovery_end; /* what had been sent when it began */
  bool frto;
  int64_t probe_end; /* -1: no probe is out */
  bool probe_repeats;
  /* RACK: the segment sent last among those that arrived. */
  simtime rack_sent, rack_rtt;
  int64_t rack_end;
  bool rack_moved;
  /* To take a reduction back: first retransmission since it, windows before it. */
  simtime repeat_at;
  int undo_cwnd, undo_ssthresh;
  int undo_repeats; /* since the reduction, those that arrived twice taken off; -1: none yet */
  int64_t highest;  /* end of the highest segment selected */
  bool reordered;   /* a segment that was sent once arrived after one that was sent later */
  int duplicates;

  struct receiver in;
};

struct tcp {
  struct stream stream;
  struct sim *sim;
  struct tcp_end ends[2];
  struct tcp_packet *free;
  uint32_t first_number; /* of its packets' draws */
};

static inline simtime tcp_now(const struct tcp_end *end) { return sim_now(end->tcp->sim); }
static inline int64_t tcp_min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t tcp_max(int64_t a, int64_t b) { return a > b ? a : b; }
static inline struct segment *tcp_segment(const struct tcp_end *end, int index) { return &end->ring[(end->first + index) & (end->capacity - 1)]; }
static inline int tcp_in_flight(const struct tcp_end *end) { return end->count - end->sacked - end->lost + end->out; }

/* What one acknowledgement did. */
struct ack {
  bool advanced, sacked_new, original; /* original: bytes that were sent once arrived */
  int delivered, lost;                 /* segments */
  bool repeat_lost;
  bool set_timer;
  bool duplicate;
  simtime echo;
  int64_t highest; /* end of the highest segment that was selected before */
};
enum tcp_repeat { REPEAT_NOTHING, REPEAT_LOST, REPEAT_TRY_NEW };

/* tcp.c */
void tcp_input(void *arg, const struct net_message *message, const struct trail *trail); /* a net_receive_fn; arg is not used */
void tcp_transmit(struct tcp_end *end, struct tcp_packet *packet, int part, uint32_t number, int attempt, const struct trail *trail);
struct tcp_packet *tcp_packet_new(struct tcp_end *end);
void tcp_fail(struct tcp_end *end, enum stream_end why);
void tcp_syn_timeout(struct tcp_end *end);

/* tcp_send.c */
void tcp_write(struct tcp_end *end, int64_t bytes, const struct trail *trail);
void tcp_send_ack(struct tcp_end *end, bool duplicate);
void tcp_send_syn(struct tcp_end *end);
void tcp_push(struct tcp_end *end);
bool tcp_send_probe(struct tcp_end *end); /* one segment of new data, whatever the congestion window */
/* Sends it again; counted: as a retransmission that is out, not as a probe. */
void tcp_repeat(struct tcp_end *end, struct segment *segment, bool counted);
void tcp_repeat_lost(struct tcp_end *end);
bool tcp_has_unsent(const struct tcp_end *end); /* that the receiver's window admits */

/* tcp_ack.c */
void tcp_ack_input(struct tcp_end *end, const struct tcp_packet *packet);

/* tcp_recover.c */
void tcp_rack_advance(struct tcp_end *end, const struct segment *segment);
enum tcp_repeat tcp_recover(struct tcp_end *end, struct ack *ack);
void tcp_probe_acked(struct tcp_end *end, const struct ack *ack);
void tcp_enter_loss(struct tcp_end *end);
void tcp_reorder_timeout(struct tcp_end *end);

/* tcp_window.c */
void tcp_window_init(struct tcp_end *end);
int tcp_window_reduced(struct tcp_end *end); /* the slow start threshold after a loss */
void tcp_window_grow(struct tcp_end *end, int acked);
void tcp_window_sample(struct tcp_end *end, simtime rtt);
void tcp_window_begin_reduction(struct tcp_end *end);
void tcp_window_reduce(struct tcp_end *end, const struct ack *ack);
void tcp_window_end_reduction(struct tcp_end *end);
void tcp_window_used(struct tcp_end *end, bool limited);
void tcp_window_idle(struct tcp_end *end);
void tcp_window_lost_all(struct tcp_end *end);

/* tcp_timer.c */
void tcp_rtt_sample(struct tcp_end *end, simtime rtt);
void tcp_timer_init(struct tcp_end *end, const struct draw_key *key);
void tcp_timer_set(struct tcp_end *end, enum tcp_timer_kind kind, simtime wait);
void tcp_timer_stop(struct tcp_end *end);
void tcp_timer_restart(struct tcp_end *end);             /* retransmission: from when the oldest segment was sent */
void tcp_timer_after_ack(struct tcp_end *end, bool ack); /* probe or retransmission */
void tcp_timer_after_send(struct tcp_end *end, bool was_idle);
/* exact: not by the wheel. */
void tcp_delay_set(struct tcp_end *end, simtime wait, bool exact);
void tcp_delay_stop(struct tcp_end *end);

/* tcp_receive.c */
void tcp_data_input(struct tcp_end *end, const struct tcp_packet *packet, const struct trail *trail);
void tcp_ack_now(struct tcp_end *end, bool duplicate);
void tcp_ack_expired(struct tcp_end *end);
void tcp_data_sent(struct tcp_end *end); /* carries an acknowledgement */
void tcp_fill_ack(struct tcp_end *end, struct tcp_packet *packet);

#endif
