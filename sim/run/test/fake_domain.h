/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fake_domain: a domain and a backend whose results can be worked out by hand, and which misbehave on request.
 *
 * Purpose: one metric, "elapsed", whose only sample in replication r is fake.value * 1000 + r + seed nanoseconds.
 *          fake.mode says what a run does: ok, or how it ends. fake.value 666 is refused by prepare.
 *          net_native is a backend of caps 5 that does nothing but count.
 * Units:   ns.
 */
#ifndef PQNETSIM_FAKE_DOMAIN_H
#define PQNETSIM_FAKE_DOMAIN_H

#include "sim/run/roster.h"

enum fake_mode { FAKE_OK, FAKE_KILLED, FAKE_EXIT, FAKE_BABBLE, FAKE_SLEEP };

extern const struct domain fake_domain;
extern const struct roster fake_roster; /* of it alone */

/* Calls in this process. */
struct fake_calls {
  int prepare, discard, reset, open, close;
  uint64_t seed;        /* of the last reset */
  uint32_t replication; /* of the last reset */
  char base_dir[64];    /* of the last prepare */
};
extern struct fake_calls fake_calls;

/* A configuration with these two set. */
struct config *fake_config(int value, enum fake_mode mode);

#endif
