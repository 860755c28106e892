/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/transport/stream_writes.h"

struct stream_write {
  int64_t end;
  struct trail trail;
};

static struct stream_write *at(const struct stream_writes *writes, int index) { return &writes->ring[(writes->first + index) & (writes->capacity - 1)]; }

static void grow(struct sim *sim, struct stream_writes *writes) {
  int capacity = writes->capacity ? 2 * writes->capacity : 8;
  struct stream_write *ring = sim_take(sim, (size_t)capacity * sizeof *ring);
  for (int i = 0; i < writes->count; i++) ring[i] = *at(writes, i);
  if (writes->capacity) sim_release(sim, writes->ring, (size_t)writes->capacity * sizeof *ring);
  *writes = (struct stream_writes){ring, 0, writes->count, capacity};
}

void stream_writes_add(struct sim *sim, struct stream_writes *writes, int64_t end, const struct trail *trail) {
  if (writes->count == writes->capacity) grow(sim, writes);
  *at(writes, writes->count++) = (struct stream_write){end, *trail};
}

const struct trail *stream_writes_find(const struct stream_writes *writes, int64_t offset) {
  if (writes->count == 0) return NULL;
  int index = 0;
  while (index < writes->count - 1 && at(writes, index)->end < offset) index++;
  return &at(writes, index)->trail;
}

void stream_writes_forget(struct stream_writes *writes, int64_t offset) {
  while (writes->count > 0 && at(writes, 0)->end <= offset) {
    writes->first = (writes->first + 1) & (writes->capacity - 1);
    writes->count--;
  }
}
