/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/crypto/cost_share.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct shared {
  char *name, *base_dir;
  struct cost_platform *platform;
  int lent;
  uint64_t last_used;
};

static struct shared shelf[COST_SHARE_MAX];
static uint64_t uses;
static const struct cost_scaling *scaling; /* of everything on the shelf */

static bool same(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static char *copy(const char *text) {
  char *made = text ? strdup(text) : NULL;
  if (text && !made) abort();
  return made;
}

/* An empty place, or that of the longest unused platform that nobody holds; NULL when all are lent. */
static struct shared *place(void) {
  struct shared *best = NULL;
  for (int i = 0; i < COST_SHARE_MAX; i++) {
    if (!shelf[i].platform) return &shelf[i];
    if (!shelf[i].lent && (!best || shelf[i].last_used < best->last_used)) best = &shelf[i];
  }
  if (best) {
    free(best->name);
    free(best->base_dir);
    cost_free(best->platform);
    *best = (struct shared){0};
  }
  return best;
}

int cost_share_get(const char *name, const char *base_dir, const struct cost_platform **out, struct err *e) {
  /* Only a file beside the scenario depends on where that is. */
  const char *base = strstr(name, "./") ? base_dir : NULL;
  for (int i = 0; i < COST_SHARE_MAX; i++)
    if (shelf[i].platform && strcmp(shelf[i].name, name) == 0 && same(shelf[i].base_dir, base)) {
      shelf[i].lent++;
      shelf[i].last_used = ++uses;
      *out = shelf[i].platform;
      return 0;
    }
  struct cost_platform *platform;
  int code = cost_load(name, base, &platform, e);
  if (code) return code;
  if (scaling) cost_scale(platform, scaling);
  struct shared *shared = place();
  assert(shared); /* a point holds two */
  *shared = (struct shared){.name = copy(name), .base_dir = copy(base), .platform = platform, .lent = 1, .last_used = ++uses};
  *out = platform;
  return 0;
}

void cost_share_release(const struct cost_platform *platform) {
  for (int i = 0; platform && i < COST_SHARE_MAX; i++)
    if (shelf[i].platform == platform) {
      assert(shelf[i].lent > 0);
      shelf[i].lent--;
      return;
    }
  assert(!platform);
}

void cost_share_scale(const struct cost_scaling *wanted) {
  scaling = wanted;
  for (int i = 0; i < COST_SHARE_MAX; i++) {
    if (!shelf[i].platform) continue;
    assert(!shelf[i].lent);
    cost_scale(shelf[i].platform, scaling);
  }
}

void cost_share_each(void (*fn)(void *arg, const struct cost_platform *platform), void *arg) {
  for (int i = 0; i < COST_SHARE_MAX; i++)
    if (shelf[i].platform) fn(arg, shelf[i].platform);
}
