/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sctp_internal: what the files of the SCTP model share; nobody else includes it.
 *
 * Purpose:    state of an association and the calls between sctp.c (life, shutdown), sctp_setup.c (set-up), sctp_path.c (RTO,
 *             heartbeats, errors), sctp_send.c (packets), sctp_ack.c (SACKs at the sender) and sctp_receive.c.
 * Invariants: TSNs of each sender start at 1 and are never reused; a chunk stays in its sender's ring until the cumulative ack
 *             has passed it, so the receiver may read it there when it comes in for the first time. A path's flight is the sum
 *             over chunks on it that are neither acked nor marked for retransmission.
 * Ownership:  the run's arena; messages, packets and SACKs go back to free lists of their association.
 */
#ifndef PQNETSIM_SCTP_INTERNAL_H
#define PQNETSIM_SCTP_INTERNAL_H

#include "models/transport/sctp.h"

/* RFC 791; RFC 9260 section 3: common header, chunk header, DATA (3.3.1), SACK with its entries (3.3.4). */
enum {
  IPV4_HEADER = 20,
  COMMON_HEADER = 12,
  CHUNK_HEADER = 4,
  DATA_HEADER = 16,
  SACK_FIXED = 16,
  SACK_ENTRY = 4,
};

enum {
  SACK_BLOCKS = 16,   /* as in Linux: SCTP_MAX_GABS of net/sctp/tsnmap.h */
  ATTEMPT_MAX = 4095, /* of a draw key */
};

/* A DATA chunk that has been sent and that the cumulative ack has not passed. */
struct chunk {
  struct message *message; /* valid until the chunk has come in once */
  simtime sent_at;
  int64_t fast_from; /* the next TSN when it had its fast retransmit; 0: it has had none */
  int32_t bytes;     /* user data */
  uint16_t times_sent;
  uint8_t missing; /* reports */
  uint8_t path;
  bool acked;  /* by a gap block */
  bool marked; /* to be sent again; not in flight */
};

struct message {
  struct message *next;
  void *tag;
  int64_t bytes, unsent;
  struct trail begin, end; /* end: as delivered, once complete */
  int32_t chunks, chunks_in;
  uint32_t ssn;
  uint16_t stream;
  bool ordered;
};

struct sack {
  int64_t cumulative, window;
  int duplicates, block_count, capacity;
  struct sack_block {
    int64_t first, last;
  } blocks[];
};

/* Consecutive TSNs of a packet. */
struct run {
  struct run *next;
  int64_t first;
  int32_t count;
};

struct packet {
  struct sctp *sctp;
  uint64_t generation; /* the association's when it was sent */
  struct sctp_packet info;
  simtime sent_at;
  simtime echo;       /* heartbeats: when the HEARTBEAT was sent */
  uint32_t heartbeat; /* and its number */
  struct trail base;  /* of the set-up, for control chunks */
  struct run *runs, *last_run;
  struct sack *sack;
};

struct path {
  struct endpoint *end;
  simtime rto, srtt, rttvar;
  bool measured;
  bool timing; /* timed_tsn's ack will be an RTT sample */
  int64_t timed_tsn;
  int64_t cwnd, ssthresh, partial_acked, flight;
  bool t3_running, heartbeat_running, heartbeat_open; /* open: sent and not answered */
  struct event t3, heartbeat;
  simtime last_new;  /* when a chunk that can give an RTT sample was last sent */
  simtime last_data; /* when DATA was last sent */
  uint32_t heartbeats, heartbeat_draws;
  int errors;
  bool active;
};

enum state {
  CLOSED,
  LISTEN,
  COOKIE_WAIT,
  COOKIE_ECHOED,
  ESTABLISHED,
  SHUTDOWN_PENDING,
  SHUTDOWN_SENT,
  SHUTDOWN_RECEIVED,
  SHUTDOWN_ACK_SENT,
};

enum sack_due { SACK_NONE, SACK_DELAYED, SACK_AT_ONCE };

struct inbound_stream {
  uint32_t next;           /* SSN */
  struct message *waiting; /* complete, ahead of their turn, by SSN */
};

struct gap_run {
  int64_t first, last; /* TSNs that have come in above the cumulative one */
};

struct sender {
  struct message *queue, **queue_tail; /* not or partly sent */
  int64_t unsent_bytes;                /* as chunks with headers and padding */
  struct chunk *ring;                  /* TSNs acked + 1 .. next - 1; capacity a power of two */
  int64_t ring_capacity;
  int64_t acked, next;
  int marked;          /* chunks */
  int64_t peer_window; /* what the peer can still take */
  bool window_closed;  /* the last SACK said so, */
  simtime heard_at;    /* and came in then */
  bool recovery;       /* fast recovery, up to recovery_exit */
  int64_t recovery_exit;
  int streams;   /* that ssn, and the peer's array, have room for */
  uint32_t *ssn; /* of the next message, by stream */
  bool ended;    /* takes no more messages */
};

struct receiver {
  int64_t cumulative, highest;
  struct gap_run *gaps;
  int gap_count, gap_capacity;
  int64_t above, unread; /* bytes above the cumulative TSN; passed by it and not read */
  bool data_seen;
  int packets; /* with DATA since the last SACK */
  int duplicates;
  enum sack_due due;
  struct event delay;
  int path;           /* the last DATA came in on */
  int64_t sack_named; /* highest TSN at the last SACK, and how many SACKs there were at it */
  int sack_repeats;
  struct inbound_stream *streams;
  struct message *ready, **ready_tail;
  bool paused, delivering;
};

struct endpoint {
  struct sctp *sctp;
  struct endpoint *peer;
  enum sctp_side side;
  enum state state;
  const struct sctp_config *config;
  struct path *paths; /* as many as the configuration says */
  int errors;         /* of the association */
  struct sender out;
  struct receiver in;
  bool owe_cookie_ack;
  struct trail chain; /* of the set-up, as far as this side has got */
  struct event control;
  bool control_running;
  simtime control_wait, control_sent_at;
  int control_tries;
  uint16_t control_sent[SCTP_CHUNKS];
  struct sctp_counters counters;
};

struct sctp {
  struct sim *sim;
  struct sctp_below below;
  struct sctp_observer observer;
  struct draw_key key;
  uint64_t generation; /* associations that had this memory before */
  uint32_t epoch;
  int streams;
  bool forgotten, unused; /* unused: given back when no packet is under way */
  int packets;            /* under way, those that were lost below included */
  struct endpoint ends[2];
};

static inline simtime sctp_now(const struct endpoint *end) { return sim_now(end->sctp->sim); }
static inline int64_t padded(int64_t bytes) { return (bytes + 3) / 4 * 4; }
static inline struct chunk *chunk_of(const struct endpoint *end, int64_t tsn) { return &end->out.ring[tsn & (end->out.ring_capacity - 1)]; }
static inline bool all_acked(const struct endpoint *end) { return end->out.acked + 1 == end->out.next; }
static inline int64_t min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t max_i64(int64_t a, int64_t b) { return a > b ? a : b; }

/* sctp_profile.c */
int64_t sctp_segment_bytes(const struct sctp_config *config);  /* room for chunks in a packet: the RFC's PMDCS */
int64_t sctp_fragment_bytes(const struct sctp_config *config); /* most user data in a chunk */
int64_t sctp_unit(const struct sctp_config *config);           /* of congestion control */
int64_t sctp_initial_window(const struct sctp_config *config);
int sctp_chunk_bytes(const struct sctp_config *config, enum sctp_chunk chunk); /* padded; not DATA and SACK */

/* sctp.c */
void sctp_give_back(struct sctp *sctp);
void sctp_finish(struct endpoint *end, enum sctp_end why); /* timers stop, the user is told */
void sctp_established(struct endpoint *end);
void sctp_shutdown_progress(struct endpoint *end); /* something was acked */
bool sctp_takes_data(const struct endpoint *end);  /* in a state in which DATA may come in */

/* sctp_setup.c */
void sctp_setup_input(struct endpoint *end, const struct packet *packet, const struct trail *hop);
void sctp_control_arm(struct endpoint *end, simtime wait, event_fn *fn);
void sctp_control_stop(struct endpoint *end);

/* sctp_path.c */
void sctp_path_reset(struct endpoint *end, struct path *path);
void sctp_rtt_sample(struct endpoint *end, struct path *path, simtime rtt);
void sctp_rto_back_off(struct endpoint *end, struct path *path);
bool sctp_path_error(struct endpoint *end, int path); /* false: that was the association's last */
void sctp_path_heard(struct endpoint *end, int path); /* the peer has answered */
int sctp_path_for_data(const struct endpoint *end);
int sctp_path_alternate(const struct endpoint *end, int path);
void sctp_heartbeats_start(struct endpoint *end);
void sctp_heartbeat_input(struct endpoint *end, const struct packet *packet);
void sctp_path_stop(struct endpoint *end);

/* sctp_send.c */
int64_t sctp_flight_bytes(const struct endpoint *end, const struct chunk *chunk);
void sctp_mark(struct endpoint *end, struct chunk *chunk);
void sctp_output(struct endpoint *end);
void sctp_output_message(struct endpoint *end); /* after one has been queued */
/* One packet of marked chunks whatever cwnd says. */
void sctp_retransmit(struct endpoint *end, bool fast);
void sctp_t3_start(struct endpoint *end, int path);
void sctp_t3_stop(struct endpoint *end, int path);
void sctp_send_control(struct endpoint *end, int path, enum sctp_chunk chunk, const struct packet *answer_to);
void sctp_send_cookie_echo(struct endpoint *end);
void sctp_send_owed(struct endpoint *end); /* COOKIE-ACK and the SACK that is due at once */
void sctp_packet_free(struct sctp *sctp, struct packet *packet);

/* sctp_ack.c */
void sctp_ack_input(struct endpoint *end, const struct sack *sack);

/* sctp_receive.c */
void sctp_data_input(struct endpoint *end, const struct packet *packet, const struct trail *trail);
void sctp_read(struct endpoint *end); /* hands over what is ready */
int sctp_sack_blocks(const struct endpoint *end);
void sctp_sack_fill(struct endpoint *end, struct sack *sack); /* as many blocks as it has room for */
void sctp_sack_done(struct endpoint *end);                    /* one has been sent */
int64_t sctp_window(const struct endpoint *end);
void sctp_receive_stop(struct endpoint *end);
void sctp_discard_messages(struct endpoint *end); /* of this sender, wherever they are; both sides have stopped */

#endif
