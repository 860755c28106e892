/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream_internal: how stream.h reaches an implementation; nobody else includes it.
 *
 * Purpose:    the table of calls that each implementation of a stream fills; its struct begins with struct stream.
 */
#ifndef PQNETSIM_STREAM_INTERNAL_H
#define PQNETSIM_STREAM_INTERNAL_H

#include "models/transport/stream.h"

struct stream_ops {
  void (*connect)(struct stream *stream, const struct trail *trail);
  void (*write)(struct stream *stream, enum net_side side, int64_t bytes, const struct trail *trail);
  int64_t (*read)(struct stream *stream, enum net_side side);
  void (*close)(struct stream *stream, enum net_side side, const struct trail *trail);
  void (*counters)(const struct stream *stream, enum net_side side, struct stream_counters *out);
};

struct stream {
  const struct stream_ops *ops;
};

#endif
