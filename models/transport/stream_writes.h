/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream_writes: what an application has written and the other side has not acknowledged, with the trail of each write.
 *
 * Units:      offsets in bytes, as in stream.h.
 * Ownership:  the run's arena.
 */
#ifndef PQNETSIM_STREAM_WRITES_H
#define PQNETSIM_STREAM_WRITES_H

#include "sim/core/event.h"
#include "sim/core/metric.h"

struct stream_write;

/* All 0: nothing written. */
struct stream_writes {
  struct stream_write *ring;
  int first, count, capacity;
};

/* A write that ends at offset `end`. */
void stream_writes_add(struct sim *sim, struct stream_writes *writes, int64_t end, const struct trail *trail);
/* The trail of the write that the byte before `offset` is of, or of the last one; NULL when there is none. */
const struct trail *stream_writes_find(const struct stream_writes *writes, int64_t offset);
/* Those that end at or before `offset` are not needed any more. */
void stream_writes_forget(struct stream_writes *writes, int64_t offset);

#endif
