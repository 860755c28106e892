/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ikev2: the messages of an IKEv2 exchange, their sizes and the work they cause, as a handshake table.
 *
 * Purpose:   from a configuration to the table handshake.c walks: IKE_SA_INIT, one IKE_INTERMEDIATE per additional key
 *            exchange, IKE_AUTH with (or without) the first CHILD_SA; and the rekeying of an IKE SA.
 * Units:     bytes; UDP payload per datagram.
 * Invariant: message and byte counts equal those of strongSwan 6.1 (source pqnetsim-ike-2026) for every proposal,
 *            authentication and fragment size measured there.
 * Ownership: tables are freed with handshake_table_free.
 * Errors:    ikev2_configure: ERR_INPUT sentences that begin with the key.
 * Sources:   RFC 7296 (IKEv2), RFC 9242 (IKE_INTERMEDIATE), RFC 9370 (multiple key exchanges), RFC 7383 (fragmentation),
 *            RFC 7427 (signature authentication), RFC 8420 (Ed25519), RFC 6023 (childless), RFC 5282 (AEAD),
 *            draft-ietf-ipsecme-ikev2-mlkem (ML-KEM), draft-ietf-ipsecme-ikev2-pqc-auth (ML-DSA, SLH-DSA).
 * Left out:  MOBIKE, EAP, certificates by URL, compression, cookies.
 */
#ifndef PQNETSIM_IKEV2_H
#define PQNETSIM_IKEV2_H

#include "models/crypto/alg.h"
#include "models/security/handshake.h"
#include "models/security/x509.h"

enum { IKEV2_KEX_MAX = 8 }; /* one in IKE_SA_INIT and up to seven additional ones */

enum ikev2_cipher { IKEV2_AES256_SHA256, IKEV2_AES256GCM16_PRFSHA384 };

struct ikev2_config {
  const struct alg *kex[IKEV2_KEX_MAX];
  int kex_count;               /* 0: no IPsec at all (ipsec.kex none) */
  const struct alg *signature; /* NULL: pre-shared key */
  enum ikev2_cipher cipher;
  int chain; /* intermediates the responder sends */
  bool childless;
  bool nat_traversal;
  int esp;             /* place in ikev2_esp_titles */
  bool transport_mode; /* ESP transport mode instead of tunnel mode */
  int fragment_bytes; /* largest IP datagram of a fragment; 0: no IKE fragmentation */
  int identity_bytes;
  struct handshake_ladder ladder;
};

extern const struct param_table ikev2_params;     /* ipsec.* */
extern const char *const ikev2_esp_titles[]; /* algorithm titles of ipsec.esp's choices */

int ikev2_configure(const struct config *config, struct ikev2_config *out, struct err *e) MUST_CHECK;

/* "x25519-ke1_mlkem768" and other spellings to its canonical form; for PARAM_NAME. */
int ikev2_check_kex(const char *text, char *canonical, size_t size, struct err *e) MUST_CHECK;

/* Establishment: message 0 is the first IKE_SA_INIT. Without CHILD_SA in IKE_AUTH a CREATE_CHILD_SA (no key exchange of
 * its own) follows it. */
void ikev2_establishment(const struct ikev2_config *config, struct handshake_table *out);
/* Rekeying of the IKE SA by the initiator: CREATE_CHILD_SA, IKE_FOLLOWUP_KE per additional exchange, and the
 * INFORMATIONAL that deletes the old SA. */
void ikev2_rekey(const struct ikev2_config *config, struct handshake_table *out);

/* Index of the IKE_AUTH response. */
int ikev2_auth_response(const struct handshake_table *establishment);

/* ERR_INPUT when a message needs more fragments than the engine keeps, or does not fit one UDP datagram unfragmented. */
int ikev2_check_sizes(const struct handshake_table *table, struct err *e) MUST_CHECK;

#endif
