/* SPDX-License-Identifier: GPL-2.0-or-later */
/* platforms: the machines a point names.
 *
 * Purpose:    lends the platforms that a domain's platform.* parameters name.
 * Ownership:  lent until platforms_release.
 * Errors:     platforms_load: those of cost_share_get, each line beginning with the parameter.
 */
#ifndef PQNETSIM_PLATFORMS_H
#define PQNETSIM_PLATFORMS_H

#include "models/crypto/cost_share.h"
#include "sim/core/param.h"

/* out: NULL where one did not load. */
int platforms_load(
    const struct config *config, const char *const keys[], int count, const char *base_dir, const struct cost_platform *out[], struct err *e) MUST_CHECK;
void platforms_release(const struct cost_platform *const platforms[], int count);
/* Their contents in this order: a swapped pair is another point. before: of those before them, or 0. */
uint64_t platforms_hash(const struct cost_platform *const platforms[], int count, uint64_t before);

/* Remarks for the user: what the software around cryptography costs (`operation` of "software") is not stated; a constant stands for what
 * takes another time each time. */
typedef void platforms_warn_fn(void *arg, const char *text);
void platforms_warn_software(const struct cost_platform *platform, const char *key, const char *operation, const char *whose, platforms_warn_fn *fn, void *arg);
void platforms_warn_frozen(const struct cost_platform *platform, const char *key, platforms_warn_fn *fn, void *arg);

#endif
