/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ikev2: the messages of an IKEv2 exchange, their sizes and the work they cause, as a handshake table.
 *
 * Purpose:   from a configuration to the tables handshake.c walks: IKE_SA_INIT, one IKE_INTERMEDIATE per additional key
 *            exchange, IKE_AUTH with (or without) the first CHILD_SA; the rekeying of an IKE SA and of a CHILD_SA; the question
 *            whether the peer is alive. And what the two peers agree on.
 * Agreement: of the proposals it accepts, the responder takes the first that the initiator offers, all of it or nothing. The
 *            initiator sends a share of the first method of its first proposal; when the proposal taken begins with another,
 *            the responder asks for that (INVALID_KE_PAYLOAD) and IKE_SA_INIT is done again.
 * Units:     bytes; UDP payload per datagram; ns.
 * Invariant: message and byte counts equal those of strongSwan 6.1 (source pqnetsim-ike-2026) for every proposal,
 *            authentication and fragment size measured there. Those of several proposals, of refusals, cookies, CHILD_SA rekeying
 *            and dead peer detection follow from the RFCs' encoding.
 * Ownership: tables are freed with handshake_table_free.
 * Errors:    ikev2_configure: ERR_INPUT sentences that begin with the key.
 * Sources:   RFC 7296 (IKEv2), RFC 9242 (IKE_INTERMEDIATE), RFC 9370 (multiple key exchanges), RFC 7383 (fragmentation),
 *            RFC 7427 (signature authentication), RFC 8420 (Ed25519), RFC 6023 (childless), RFC 5282 (AEAD),
 *            draft-ietf-ipsecme-ikev2-mlkem (ML-KEM), draft-ietf-ipsecme-ikev2-pqc-auth (ML-DSA, SLH-DSA). Defaults:
 *            strongSwan's strongswan.conf and swanctl.conf; choice of the proposal: its prefer_configured_proposals; the share
 *            when an IKE SA is rekeyed: its prefer_previous_dh_group.
 * Left out:  MOBIKE, EAP, certificates by URL, compression; several methods of one kind within one proposal.
 */
#ifndef PQNETSIM_IKEV2_H
#define PQNETSIM_IKEV2_H

#include "models/crypto/alg.h"
#include "models/security/handshake.h"
#include "models/security/x509.h"

enum {
  IKEV2_KEX_MAX = 8, /* one in IKE_SA_INIT and up to seven additional ones */
  IKEV2_OFFERS_MAX = 16,
};

enum ikev2_cipher { IKEV2_AES256_SHA256, IKEV2_AES256GCM16_PRFSHA384 };

/* The key exchanges of one proposal. */
struct ikev2_suite {
  const struct alg *kex[IKEV2_KEX_MAX];
  int kex_count;
};

/* How long what was set up lives; by the initiator. */
struct ikev2_session {
  simtime rekey_time, child_rekey_time; /* of the IKE SA and of a CHILD_SA; 0: never rekeyed */
  int64_t jitter_ppb;                   /* each is rekeyed earlier by a uniform share up to this */
  simtime dpd_delay;                    /* the peer is asked when nothing came from it for so long; 0: never */
  int keying_tries;                     /* 0: until it succeeds or is refused */
};

struct ikev2_config {
  const struct alg *kex[IKEV2_KEX_MAX]; /* as agreed; when refused, the first offer */
  int kex_count;                        /* 0: no IPsec at all (ipsec.kex none) */
  bool refused;                         /* the peers have no proposal in common: NO_PROPOSAL_CHOSEN */
  struct ikev2_suite offered[IKEV2_OFFERS_MAX];
  int offered_count;
  struct ikev2_suite child;    /* key exchanges of a CHILD_SA of its own exchange; none: its keys come from the IKE SA's */
  const struct alg *signature; /* NULL: pre-shared key */
  enum ikev2_cipher cipher;
  int chain; /* intermediates the responder sends */
  bool childless;
  bool nat_traversal;
  int esp;             /* place in ikev2_esp_titles */
  bool transport_mode; /* ESP transport mode instead of tunnel mode */
  int fragment_bytes;  /* largest IP datagram of a fragment; 0: no IKE fragmentation */
  int identity_bytes;
  struct handshake_ladder ladder;
  struct ikev2_session session;
};

extern const struct param_table ikev2_params; /* ipsec.* */
extern const char *const ikev2_esp_titles[];  /* algorithm titles of ipsec.esp's choices */

int ikev2_configure(const struct config *config, struct ikev2_config *out, struct err *e) MUST_CHECK;

/* "x25519-ke1_mlkem768" and other spellings to its canonical form; for PARAM_NAME. */
int ikev2_check_kex(const char *text, char *canonical, size_t size, struct err *e) MUST_CHECK;

/* Some key exchange of what was agreed withstands a quantum computer: the keys come from all of them (RFC 9370). */
bool ikev2_key_exchange_is_quantum_safe(const struct ikev2_config *config);
/* A pre-shared key does: nothing but symmetric cryptography stands between it and AUTH (RFC 8784 section 1). */
bool ikev2_authentication_is_quantum_safe(const struct ikev2_config *config);

/* Establishment: message 0 is the first IKE_SA_INIT. Without CHILD_SA in IKE_AUTH a CREATE_CHILD_SA follows it, and an
 * IKE_FOLLOWUP_KE for each additional key exchange of its own. Refused: one exchange, after which nothing is set up and the
 * responder keeps no state (opens is then the number of messages). */
void ikev2_establishment(const struct ikev2_config *config, struct handshake_table *out);
/* Rekeying of the IKE SA by the initiator: CREATE_CHILD_SA, IKE_FOLLOWUP_KE per additional exchange, and the
 * INFORMATIONAL that deletes the old SA. */
void ikev2_rekey(const struct ikev2_config *config, struct handshake_table *out);
/* Rekeying of a CHILD_SA by the initiator, in the same way. */
void ikev2_rekey_child(const struct ikev2_config *config, struct handshake_table *out);
/* Dead peer detection: an empty INFORMATIONAL exchange. */
void ikev2_dpd(const struct ikev2_config *config, struct handshake_table *out);

/* Index of the IKE_AUTH response; there is none when refused. */
int ikev2_auth_response(const struct handshake_table *establishment);

/* ERR_INPUT when a message needs more fragments than the engine keeps, or does not fit one UDP datagram unfragmented. */
int ikev2_check_sizes(const struct handshake_table *table, struct err *e) MUST_CHECK;

#endif
