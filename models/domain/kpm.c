/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/domain/kpm.h"

/* A measured size at some x. */
struct size {
  int64_t x, bytes;
};

enum { FORMAT1 = 5, FORMAT3 = 6 };

/* With the long header that carries the node's name, by number of measurements. */
static const struct size format1[FORMAT1] = {{1, 82}, {2, 84}, {3, 94}, {5, 117}, {7, 123}};
static const struct size format1_names[FORMAT1] = {{1, 109}, {2, 138}, {3, 172}, {5, 230}, {7, 271}};
/* By number of UEs, with two and with seven measurements each. */
static const struct size format3_2[FORMAT3] = {{1, 153}, {2, 233}, {4, 385}, {8, 693}, {16, 1302}, {32, 2532}};
static const struct size format3_7[FORMAT3] = {{1, 289}, {2, 496}, {4, 913}, {8, 1744}, {16, 3406}, {32, 6729}};
static const struct size subscription[FORMAT1] = {{1, 74}, {2, 99}, {3, 122}, {5, 158}, {7, 196}};

static int64_t on_line(int64_t x, const struct size *a, const struct size *b) { return a->bytes + (b->bytes - a->bytes) * (x - a->x) / (b->x - a->x); }

static int64_t at(int64_t x, const struct size *sizes, int count) {
  int i = 1;
  while (i < count - 1 && x > sizes[i].x) i++;
  return on_line(x, &sizes[i - 1], &sizes[i]);
}

int64_t kpm_indication_bytes(int64_t ues, int64_t measurements, bool names) {
  if (ues == 0) return at(measurements, names ? format1_names : format1, FORMAT1);
  const struct size few = {2, at(ues, format3_2, FORMAT3)}, many = {7, at(ues, format3_7, FORMAT3)};
  return on_line(measurements, &few, &many);
}

int64_t kpm_subscription_bytes(int64_t measurements) { return at(measurements, subscription, FORMAT1); }
