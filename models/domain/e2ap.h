/* SPDX-License-Identifier: GPL-2.0-or-later */
/* e2ap: what a gNB does once its path is protected: an SCTP association to the near-RT RIC and the E2 setup procedure.
 *
 * Purpose:   from the first INIT to the E2 SETUP RESPONSE at the gNB.
 * Units:     ns, bytes of E2AP PDUs.
 * Ownership: everything lives in the run's arena. The association is forgotten when the procedure ends.
 * Sources:   O-RAN WG3 E2AP (E2 setup over SCTP, stream 0); sizes: source flexric-e2ap-sizes (request with KPM and RC
 *            functions), srsran-e2ap-tests (response).
 * Left out:  the RIC's processing time, repeated setups, subscriptions, indications.
 */
#ifndef PQNETSIM_E2AP_H
#define PQNETSIM_E2AP_H

#include "models/domain/secure_path.h"
#include "models/transport/sctp.h"

extern const struct param_table e2ap_params; /* e2.setup* */

struct e2ap_config {
  bool enabled;
  int64_t request_bytes, response_bytes;
  struct sctp_config sctp;
};

/* mtu_bytes: of plain packets. */
int e2ap_configure(const struct config *config, int mtu_bytes, struct e2ap_config *out, struct err *e) MUST_CHECK;

struct e2ap_observer {
  void (*established)(void *arg, const struct trail *trail); /* the association, at the gNB */
  void (*finished)(void *arg, bool ok, const struct trail *trail);
  void *arg;
};

/* Starts now (trail->at) on side 0 of the path. */
void e2ap_start(struct sim *sim, struct secure_path *path, bool protect, const struct e2ap_config *config, const struct draw_key *key,
    const struct e2ap_observer *observer, const struct trail *trail);

#endif
