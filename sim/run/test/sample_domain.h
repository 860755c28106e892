/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sample_domain: a small scenario family under the name of e2, and "bare" without parameters, in place of the real
 * catalog, so that the loader's tests depend on no model. The first has groups, with path and ipsec keys of their own.
 *
 * Purpose: has at least one parameter of every kind, a pseudo key, a follower, and metrics of every unit.
 */
#ifndef PQNETSIM_SAMPLE_DOMAIN_H
#define PQNETSIM_SAMPLE_DOMAIN_H

#include "models/domain.h"

enum { SAMPLE_SETUP, SAMPLE_BYTES, SAMPLE_RETRANSMISSIONS, SAMPLE_SUCCESS, SAMPLE_OVERHEAD, SAMPLE_METRICS };

extern const struct domain sample_domain;

#endif
