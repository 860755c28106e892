/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tls: the scenario family of TLS 1.3 over TCP: one client, one server, one path.
 *
 * Purpose:   how long handshake, request and response take, and what they put on the wire, for any key exchange, certificate chain,
 *            RTT, loss, rate and window.
 * Metrics:   see tls_metrics.h. A connection counts from connect().
 * Left out:  several clients of one server (a core's load: sbi, sdn), name resolution.
 */
#ifndef PQNETSIM_TLS_H
#define PQNETSIM_TLS_H

#include "models/domain.h"

extern const struct domain domain_tls;

#endif
