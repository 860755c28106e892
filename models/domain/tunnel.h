/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tunnel: one node's IPsec tunnel to the gateway: its establishment, and its life until the run ends.
 *
 * Purpose:   tries (ipsec.keying_tries), rekeying of the IKE SA and of the CHILD_SA before their lifetimes end, dead peer
 *            detection, and establishment anew when the peer is found dead.
 * Units:     ns.
 * Order:     one exchange at a time (IKE window 1): what falls due during another waits for it.
 * Ownership: everything lives in the run's arena.
 * Sources:   RFC 7296 sections 2.3 (window), 2.4 (dead peers), 2.8 (rekeying); strongSwan's swanctl.conf: rekey_time, rand_time,
 *            dpd_delay, dpd_action restart, keyingtries.
 * Left out:  rekeying started by the gateway, and its collision with the node's; what is under way when an SA is replaced.
 */
#ifndef PQNETSIM_TUNNEL_H
#define PQNETSIM_TUNNEL_H

#include "models/domain/gateway.h"
#include "models/domain/secure_path.h"
#include "models/security/ikev2.h"

/* What all tunnels of a group share. */
struct tunnel_config {
  struct ikev2_config ike;
  struct handshake_table establishment, rekey, rekey_child, dpd;
  int auth_response; /* message of `establishment` that ends IKE_AUTH */
  bool maintained;   /* SAs are rekeyed and peers watched; false: the run ends with the establishment */
};

/* Builds the tables. ERR_INPUT when a message is too large or a platform does not state what it costs; keys as in
 * handshake_resolve. */
int tunnel_configure(struct tunnel_config *config, const struct cost_platform *const platforms[HANDSHAKE_PLATFORMS],
    const char *const keys[HANDSHAKE_PLATFORMS], struct err *e) MUST_CHECK;
void tunnel_config_free(struct tunnel_config *config);
/* True when two replications can differ by it. */
bool tunnel_is_random(const struct tunnel_config *config);

enum tunnel_exchange { TUNNEL_INIT, TUNNEL_INTERMEDIATE, TUNNEL_AUTH, TUNNEL_CHILD, TUNNEL_REKEY, TUNNEL_EXCHANGES };

/* None may be NULL. */
struct tunnel_observer {
  /* First request packet out, last response packet in. Rekeying: of all its key exchanges. */
  void (*exchange)(void *arg, enum tunnel_exchange exchange, const struct trail *from, const struct trail *to);
  /* An exchange that got no answer. */
  void (*unanswered)(void *arg, enum tunnel_exchange exchange);
  /* First IKE_SA_INIT request out, IKE_AUTH response in. */
  void (*established)(void *arg, const struct trail *from, const struct trail *to);
  /* A try ended. It is the last one when ok, or when no more follows. */
  void (*tried)(void *arg, bool ok, bool last, const struct trail *trail);
  /* The peer was found dead: the tunnel is down, and set up again from now on. */
  void (*died)(void *arg, const struct trail *trail);
};

struct tunnel;

/* key: seed, replication, entity. cpu: the node's. config and observer must outlive the run; arg is the observer's. */
struct tunnel *tunnel_new(struct sim *sim, const struct tunnel_config *config, struct gateway *gateway, int address, struct port *const ports[2],
    struct cpu *cpu, const struct draw_key *key, const struct tunnel_observer *observer, void *arg);

void tunnel_start(struct tunnel *tunnel, const struct trail *trail);

/* Dead peer detection takes what comes in on this path for a sign of life. */
void tunnel_watch(struct tunnel *tunnel, const struct secure_path *path);

/* IKE requests sent again, over all tries and exchanges. */
int64_t tunnel_retransmissions(const struct tunnel *tunnel);

#endif
