/* SPDX-License-Identifier: GPL-2.0-or-later */
/* e2: one gNB's IPsec tunnel to the near-RT RIC's gateway (O-RAN E2 interface).
 *
 * Purpose:  sets up the tunnel over the configured path, then sends a probe flow through it and beside it, and reports
 *           the times, bytes and failures of both.
 * Units:    as metric.h.
 * Clocks:   stated with each metric in e2.c.
 * Sources:  3GPP TS 33.501 and O-RAN WG11 security requirements: IPsec (IKEv2, ESP) protects E2.
 * Left out: E2AP beyond the setup procedure, several nodes.
 */
#ifndef PQNETSIM_E2_H
#define PQNETSIM_E2_H

#include "models/domain.h"

extern const struct domain domain_e2;

#endif
