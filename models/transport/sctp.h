/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sctp: one SCTP association, both of its ends.
 *
 * Purpose:    carries messages of given lengths from one side to the other as SCTP does: set-up with the cookie, streams,
 *             bundling, fragmentation, delayed SACK, retransmission, congestion control, heartbeats, failure detection,
 *             failover between two paths, shutdown. It knows nothing of what lies below: the user sends its IPv4 packets and
 *             hands back those that have come in.
 * Units:      ns, bytes; packets count their IPv4 header.
 * Order:      deterministic; draws (heartbeat jitter) are keyed by side, path and heartbeat. Packets are numbered by what they
 *             hold (chunk type, TSN, repetition), so a retransmission shifts no other packet's loss.
 * Trails:     a delivered message's trail goes from sctp_send over the packet that completed it, or the one that unblocked it
 *             within its stream; all time in which no such packet was on its way is transport_stall.
 * Ownership:  everything lives in the run's arena; callbacks may call any function of the association that called them.
 * Errors:     sctp_configure: ERR_INPUT when values contradict each other. Inside a run a failure is a callback.
 * Sources:    RFC 9260; its sections are named in the .c files. Where usrsctp was measured to depart from it (T3 not restarted
 *             on progress, only old chunks marked at its expiry) the model follows the RFC; what its tests leave out of the
 *             measured rows for that is listed in them, with reasons. Nagle and the time of a SACK are as measured. What
 *             profiles choose, and from where: sctp_profile.c.
 * Memory:     about 3 kB for an association of ten streams; a packet that is lost below keeps its few hundred bytes until the run ends.
 * Left out:   ECN, AUTH, ASCONF, RE-CONFIG, PR-SCTP, message interleaving (they count in the bytes of INIT and INIT-ACK);
 *             cookie lifetime and simultaneous opening; retraction of gap blocks; at most 16 gap blocks in a SACK, as in Linux;
 *             probing of unconfirmed addresses; the T5 shutdown guard.
 */
#ifndef PQNETSIM_SCTP_H
#define PQNETSIM_SCTP_H

#include "sim/core/metric.h"
#include "sim/core/param.h"
#include "sim/core/random.h"

enum sctp_side { SCTP_CLIENT = 0, SCTP_SERVER = 1 };
enum { SCTP_PATHS = 2, SCTP_STREAMS_MAX = 65535, SCTP_MTU_MIN = 512 };

/* What an implementation puts into set-up chunks beyond the fields every one has, padded. */
struct sctp_sizes {
  int init_parameters, init_ack_parameters, cookie; /* the cookie parameter's header is counted apart */
};
extern const struct sctp_sizes sctp_sizes_usrsctp;       /* measured with its default extensions */
extern const struct sctp_sizes sctp_sizes_usrsctp_plain; /* measured with all extensions off */

struct sctp_congestion {
  int64_t initial_window;       /* cwnd starts at min(4 units, max(2 units, this)) */
  bool unit_is_mtu;             /* the unit is the MTU; else the largest DATA chunk of a packet (PMDCS of RFC 9260) */
  bool payload_only;            /* bytes in flight are user data; else DATA chunks with their headers */
  int slow_start_units;         /* L of RFC 9260 section 7.2.1 */
  int ssthresh_units;           /* least ssthresh after a loss */
  int max_burst;                /* packets; 0: no limit */
  bool repeats_fast_retransmit; /* of the same chunk; no profile: RFC 9260 and Linux have one, usrsctp may have several */
};

struct sctp_config {
  const char *name; /* of the profile it comes from */
  simtime rto_initial, rto_min, rto_max;
  simtime init_timeout_max; /* longest wait for INIT-ACK and COOKIE-ACK (sinit_max_init_timeo of RFC 6458) */
  int init_max_retrans, path_max_retrans, association_max_retrans;
  simtime heartbeat;  /* 0: none */
  simtime sack_delay; /* 0: none */
  int sack_every;     /* packets with DATA per SACK */
  bool nodelay;
  bool rtt_from_setup; /* INIT, INIT-ACK and COOKIE-ECHO give RTT samples */
  int streams;         /* each way */
  int64_t receive_window;
  const struct sctp_congestion *congestion;
  const struct sctp_sizes *sizes;
  int paths;     /* 1 or 2 */
  int mtu_bytes; /* largest IPv4 packet handed below; SCTP_MTU_MIN or more, so that all set-up chunks fit */
};

extern const struct param_table sctp_params;
/* mtu_bytes is the caller's to know. */
int sctp_configure(const struct config *config, int mtu_bytes, struct sctp_config *out, struct err *e) MUST_CHECK;
/* A profile by name ("linux"), NULL if there is none; mtu_bytes of it is 1500. */
const struct sctp_config *sctp_profile(const char *name);

enum sctp_chunk {
  SCTP_DATA,
  SCTP_INIT,
  SCTP_INIT_ACK,
  SCTP_SACK,
  SCTP_HEARTBEAT,
  SCTP_HEARTBEAT_ACK,
  SCTP_ABORT,
  SCTP_SHUTDOWN,
  SCTP_SHUTDOWN_ACK,
  SCTP_COOKIE_ECHO,
  SCTP_COOKIE_ACK,
  SCTP_SHUTDOWN_COMPLETE,
  SCTP_CHUNKS
};

struct sctp_packet {
  enum sctp_side from;
  int path;
  int64_t bytes;
  uint32_t number; /* for the draws of what lies below: 2^28 or more */
  uint16_t attempt;
  unsigned chunks; /* bit per enum sctp_chunk */
  int data_chunks;
  void *tag; /* for sctp_input */
};

/* What lies below. The trail begins now; sctp_input wants it back, moved on to the packet's arrival. A packet that is lost is
 * never handed back. */
struct sctp_below {
  void (*send)(void *arg, const struct sctp_packet *packet, const struct trail *trail);
  void *arg;
};

enum sctp_end {
  SCTP_END_SHUTDOWN,        /* in order */
  SCTP_END_NOT_ESTABLISHED, /* no answer to INIT or COOKIE-ECHO */
  SCTP_END_UNREACHABLE,     /* more errors than association_max_retrans */
  SCTP_END_ABORTED,         /* by the peer */
};

/* Any may be NULL. */
struct sctp_observer {
  void (*established)(void *arg, enum sctp_side side, const struct trail *trail); /* trail: on from sctp_connect's */
  void (*delivered)(void *arg, enum sctp_side to, void *tag, const struct trail *trail);
  void (*path_changed)(void *arg, enum sctp_side side, int path, bool up);
  void (*ended)(void *arg, enum sctp_side side, enum sctp_end why); /* messages not delivered yet never will be */
  void (*discarded)(void *arg, void *tag);                          /* by sctp_renew and sctp_free */
  void *arg;
};

struct sctp;

/* configs[side] must outlive the association; paths and mtu_bytes must agree, streams are the fewer of the two. key: seed, replication, entity. epoch
 * (0 to 15) numbers the associations that follow each other between the same two ends. */
struct sctp *sctp_new(struct sim *sim, const struct sctp_config *const configs[2], const struct sctp_below *below, const struct sctp_observer *observer,
    const struct draw_key *key, int epoch);

/* The client sends INIT now (trail->at). */
void sctp_connect(struct sctp *sctp, const struct trail *trail);

/* Takes a message of 1 byte or more at trail->at, which must be now; before set-up it waits. tag comes back with delivered.
 * False when the side no longer takes any (it was shut down, or has ended). */
bool sctp_send(struct sctp *sctp, enum sctp_side from, int stream, int64_t bytes, bool ordered, void *tag, const struct trail *trail);

/* A packet has come in at the other side. */
void sctp_input(void *tag, const struct trail *trail);

/* While paused, the side's application reads nothing: SACKs and heartbeats go on, the receive window fills up (FC-23). */
void sctp_pause(struct sctp *sctp, enum sctp_side side, bool paused);

void sctp_shutdown(struct sctp *sctp, enum sctp_side side); /* once all is acknowledged */
void sctp_abort(struct sctp *sctp, enum sctp_side side);    /* at once, and tells the peer */
/* Both sides end without a packet or a callback, and ignore what is still under way: a new association replaces this one. */
void sctp_forget(struct sctp *sctp);
/* A new association in the memory of one that was forgotten, between the same ends, to be connected. Not from its callbacks; calls
 * discarded for each message of the old one that has not been delivered. */
void sctp_renew(struct sctp *sctp, int epoch);
/* Forgotten for good: its memory goes back once no packet is under way, which it never does after one was lost below. May be called
 * from a callback of sctp_input. */
void sctp_free(struct sctp *sctp);

bool sctp_is_established(const struct sctp *sctp, enum sctp_side side);

struct sctp_counters { /* of what a side has sent */
  int64_t packets, bytes;
  int64_t data_chunks;      /* first transmissions */
  int64_t retransmissions;  /* DATA chunks sent again, */
  int64_t fast_retransmits; /* as many of them by fast retransmit */
  int64_t setup_repeats;    /* INIT and COOKIE-ECHO sent again */
  int64_t timeouts;         /* T3 expiries */
  int64_t sacks;
  int64_t heartbeats;
};
void sctp_counters(const struct sctp *sctp, enum sctp_side side, struct sctp_counters *out);

struct sctp_path_state {
  simtime rto, srtt, rttvar; /* srtt 0: none yet */
  int64_t cwnd, ssthresh, flight;
  int errors;
  bool active;
};
void sctp_path_state(const struct sctp *sctp, enum sctp_side side, int path, struct sctp_path_state *out);

#endif
