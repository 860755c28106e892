/* SPDX-License-Identifier: GPL-2.0-or-later */
/* e2ap: what a gNB and the near-RT RIC do once the path between them is up: SCTP association, E2 setup, subscription by
 * xApps, KPM indications, RC control; and all of it again when the association is lost.
 *
 * Purpose:    from the first INIT to control loops that run until the end of the run.
 * Units:      ns, bytes of E2AP PDUs.
 * Invariants: every indication handed to SCTP ends as one loop done or stays among the unfinished.
 * Ownership:  everything lives in the run's arena.
 * Errors:     e2ap_configure: ERR_INPUT sentences that begin with the key.
 * Sources:    O-RAN WG3 E2AP (procedures over SCTP); E2SM-KPM, E2SM-RC; sizes: kpm.h and the parameter table in
 *             e2ap_config.c (source flexric-e2ap-sizes; setup response: srsran-e2ap-tests).
 * Left out:   errors of the procedures, subscription deletion, RIC service updates; two RICs.
 */
#ifndef PQNETSIM_E2AP_H
#define PQNETSIM_E2AP_H

#include "models/domain/secure_path.h"
#include "models/transport/sctp.h"

enum { E2AP_XAPPS = 32 };

extern const struct param_table e2ap_params; /* e2.setup and all that follows it, kpm.*, xapp.* */
extern const struct param_table ric_params;  /* xapp.count, xapp.service, xapp.workers: the same for all nodes */

struct e2ap_config {
  bool enabled;
  int64_t setup_request_bytes, setup_response_bytes;
  simtime setup_timeout; /* without an answer the gNB sends the request again */
  int setup_retries;
  int association_tries; /* until the first E2 setup; 0: for ever */
  int xapps;             /* that subscribe to every node; 0: none */
  int64_t subscription_request_bytes, subscription_response_bytes;
  simtime subscription_timeout; /* the RIC's */
  int subscription_retries;
  simtime period; /* of indications */
  int64_t indication_bytes;
  int64_t indications; /* per subscription when the run has no duration */
  bool control;        /* each indication is answered with a control request */
  int64_t control_request_bytes, control_ack_bytes;
  simtime xapp_start; /* from E2 setup to subscription */
  simtime service;    /* an xApp's work on one indication */
  int workers;        /* of one xApp: indications it works on at once */
  simtime deadline;
  simtime reconnect; /* from the loss of an association to the next INIT */
  simtime watchdog;  /* the RIC gives an association up that leaves a control request unanswered so long; 0: never */
  simtime stall_at;  /* the gNB's E2 agent stops reading then, until it is set up again; 0: never */
  struct sctp_config sctp;
};

/* mtu_bytes: of plain packets. A disabled one has sctp.paths 1. */
int e2ap_configure(const struct config *config, int mtu_bytes, struct e2ap_config *out, struct err *e) MUST_CHECK;

/* The near-RT RIC, shared by all nodes: a processor per xApp. Nodes may differ in all but xapps, service and workers, which are
 * the RIC's. */
struct ric;
struct ric *ric_new(struct sim *sim, const struct e2ap_config *config);

/* All are called at trail->at = now; none may be NULL. */
struct e2ap_observer {
  void (*associated)(void *arg, const struct trail *from, const struct trail *to); /* INIT sent, COOKIE-ACK in at the gNB */
  void (*set_up)(void *arg, const struct trail *trail); /* on from e2ap_start's trail the first time; E2 SETUP RESPONSE in at the gNB */
  void (*subscribed)(
      void *arg, const struct trail *from, const struct trail *to); /* SUBSCRIPTION REQUEST handed to SCTP, response in at the RIC: once per xApp */
  void (*unsubscribed)(void *arg);                                  /* an xApp gave up */
  void (*indicated)(void *arg, const struct trail *from, const struct trail *to); /* INDICATION handed to SCTP at the gNB, in at the RIC */
  void (*looped)(void *arg, const struct trail *from, const struct trail *to);    /* INDICATION handed to SCTP, CONTROL REQUEST in at the gNB */
  void (*lost)(void *arg, simtime since); /* the association, with what ran on it; it is set up again unless `failed` follows */
  void (*recovered)(void *arg, const struct trail *from, const struct trail *to); /* last message the gNB took in before, E2 set up again */
  void (*failed)(void *arg, const struct trail *trail);                           /* gives up: not associated or not set up after all its tries */
  void (*settled)(void *arg, const struct trail *trail); /* the first time everything that is finite is done: set up, subscribed or given up */
};

struct e2ap;

/* Starts now. paths: as many as config->sctp.paths; side 0 is the gNB. protect: packets go through the tunnel. until: indications
 * stop then; 0: after config->indications per subscription the association is forgotten, and a lost one is not set up again.
 * config and observer must outlive the run; arg is the observer's. */
struct e2ap *e2ap_start(struct sim *sim, struct ric *ric, struct secure_path *const paths[SCTP_PATHS], bool protect, const struct e2ap_config *config,
    simtime until, const struct draw_key *key, const struct e2ap_observer *observer, void *arg, const struct trail *trail);

/* When the run is over: calls fn for each indication whose control request has not come back. */
void e2ap_unfinished(const struct e2ap *e2ap, void (*fn)(void *arg, simtime begun), void *arg);

#endif
