/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gateway: the security gateway in front of the near-RT RIC, which answers the IKE requests of all nodes.
 *
 * Purpose:    what limits it: cores, the IKE daemon's worker threads, a hardware security module, other load; and what it does
 *             to protect itself: cookies, limits on half-open sessions, admission of new ones at a rate.
 * Units:      ns, parts per billion.
 * Order:      a request that opens a session is checked as strongSwan's receiver does: cookie, half-open sessions of the address,
 *             half-open sessions in all; then admission. Admitted work waits for its admission slot, a worker thread, a core, and
 *             with the thread in hand for the HSM. All queues are first in, first out.
 * Invariants: half-open sessions never exceed a limit that is set (asserted).
 * Ownership:  everything lives in the run's arena; sessions that are over are used again.
 * Sources:    RFC 7296 section 2.6 (cookies); strongswan.conf: cookie_threshold, block_threshold, init_limit_half_open,
 *             half_open_timeout, threads.
 * Left out:   what a refused or repeated request costs the gateway; priorities among IKE jobs; a limit per address from which
 *             cookies are asked.
 */
#ifndef PQNETSIM_GATEWAY_H
#define PQNETSIM_GATEWAY_H

#include "models/security/handshake.h"
#include "sim/core/param.h"

extern const struct param_table gateway_params; /* gateway.*, and those of ipsec.* that are the gateway's: half-open sessions, cookies */

struct gateway_config {
  int cores, threads;
  int half_open_per_address, half_open_total; /* 0: no limit */
  simtime half_open_timeout;                  /* a session not authenticated by then is deleted */
  int cookie_threshold;                       /* half-open sessions from which a cookie is asked for; 0: never */
  simtime admission_interval;                 /* between admitted sessions; 0: no limit */
  int admission_queue;                        /* sessions that may wait for admission */
  simtime admission_wait;                     /* no session waits longer; 0: no limit */
  int hsm;                                    /* operations the HSM does at once; 0: no HSM */
  int64_t background_ppb;                     /* share of each core that other work takes */
  simtime background_job;
  simtime down_until; /* no request is answered before */
};

int gateway_configure(const struct config *config, struct gateway_config *out, struct err *e) MUST_CHECK;

struct gateway;

/* addresses: how many different ones nodes come from. key: seed and replication. */
struct gateway *gateway_new(struct sim *sim, const struct gateway_config *config, int addresses, const struct draw_key *key);

/* The background load ends; without this a run has no end of its own. */
void gateway_stop_background(struct gateway *gateway);

struct cpu *gateway_cores(const struct gateway *gateway);

/* One initiator's attempt at a session. Its server is for the handshake_start of the same handshake. */
struct gateway_session;
struct gateway_session *gateway_session_new(struct gateway *gateway, int address, struct handshake *handshake);
struct handshake_server gateway_session_server(struct gateway_session *session);
/* The responder has authenticated the initiator: no longer half-open. */
void gateway_session_authenticated(struct gateway_session *session);
/* The initiator's handshake is over. What the gateway holds half-open stays so until its timeout. The session is not to be used
 * any more. */
void gateway_session_leave(struct gateway_session *session);

/* The server for exchanges within a session that exists: rekeying, dead peer detection. */
struct handshake_server gateway_server(struct gateway *gateway);

enum gateway_refusal { GATEWAY_PER_ADDRESS, GATEWAY_TOTAL, GATEWAY_ADMISSION_QUEUE, GATEWAY_ADMISSION_WAIT, GATEWAY_DOWN, GATEWAY_REFUSALS };

struct gateway_counters {
  int64_t refused[GATEWAY_REFUSALS]; /* requests */
  int64_t cookies;                   /* requests answered by asking for one */
  int64_t expired;                   /* half-open sessions deleted at their timeout */
  int half_open, half_open_max, half_open_per_address_max;
  int threads_busy_max;
  int64_t hsm_busy; /* ns */
};
void gateway_counters(const struct gateway *gateway, struct gateway_counters *out);

#endif
