/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cost_share: platforms read once per process.
 *
 * Purpose:    a sweep prepares each of its points; most name the same few platforms, and reading one takes longer than a run.
 * Invariants: within a process a name means the content it had when it was first read, whatever happens to the file.
 * Ownership:  cost_share_get lends a platform until cost_share_release; it stays in memory for the next point, at most
 *             COST_SHARE_MAX of them, the longest unused going first.
 * Errors:     as cost_load; a platform that does not load is not kept.
 */
#ifndef PQNETSIM_COST_SHARE_H
#define PQNETSIM_COST_SHARE_H

#include "models/crypto/cost.h"

enum { COST_SHARE_MAX = 64 };

int cost_share_get(const char *name, const char *base_dir, const struct cost_platform **out, struct err *e) MUST_CHECK;
/* NULL is accepted. */
void cost_share_release(const struct cost_platform *platform);

/* From now on platforms are lent with this scaling, which must outlive it; NULL: as stated. Nothing may be lent out. */
void cost_share_scale(const struct cost_scaling *scaling);
/* Every platform in memory, in the order they came. */
void cost_share_each(void (*fn)(void *arg, const struct cost_platform *platform), void *arg);

#endif
