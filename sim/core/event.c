/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/core/event.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* A key is time << 64 | sequence << SLOT_BITS | slot: one comparison orders by time, then by arming order.
 * 40 bits of sequence are 1.1e12 events a run, 24 bits of slot are 16.7 million events pending at once. */
typedef unsigned __int128 event_key;
enum { SLOT_BITS = 24 };
#define SLOT_LIMIT (UINT32_C(1) << SLOT_BITS)
#define SEQUENCE_LIMIT (UINT64_C(1) << (64 - SLOT_BITS))
#define KEY_NONE (~(event_key)0)
#define NO_SLOT UINT32_MAX

enum {
  ARITY = 4,
  CACHE_LINE = 64,
  ROOT_OFFSET = ARITY - 1, /* puts the four children of any node into one cache line */
  HEAP_START = 256,
  SLOT_START = 256,
  MANY_PENDING = 512,
  LINES_AHEAD = 3,
  COMPACT_MINIMUM = 64, /* dead keys below which sweeping them out is not worth it */
};

struct slot {
  event_fn *fn; /* NULL: cancelled, its key still in the heap */
  void *arg;
  uint32_t generation;
  uint32_t next_free;
};

struct chunk {
  struct chunk *next;
  size_t size, used;
  _Alignas(max_align_t) unsigned char bytes[];
};
enum { CHUNK_SIZE = 64 * 1024, HUGE_PAGE = 2 * 1024 * 1024, CHUNK_MOST = 16 * HUGE_PAGE };

struct released {
  struct released *next;
};
enum { ALIGNMENT = _Alignof(max_align_t), RELEASED_CLASSES = 2048 / ALIGNMENT }; /* larger memory is not used again */

struct sim {
  simtime now;
  event_key *block; /* aligned; keys = block + ROOT_OFFSET */
  event_key *keys;
  size_t count, capacity; /* keys past count are KEY_NONE up to a whole group of four */
  size_t dead;            /* cancelled keys in the heap */
  bool root_spent;        /* keys[0] has fired and its slot is free; the next event armed takes its place */
  uint64_t sequence;
  struct slot *slots;
  uint32_t slots_used, slot_capacity, free_slot;
  struct chunk *first, *current;
  size_t arena_size;
  struct released *released[RELEASED_CLASSES]; /* by size in units of the alignment */
  size_t released_upto;                        /* classes that may hold something */
};

static void *must(void *memory) {
  if (!memory) abort();
  return memory;
}

/* Memory of at least *size bytes, which is rounded up. Much of it asks for huge pages: a run of many nodes touches them in the
 * order of their events, all over it. */
static void *block_new(size_t *size) {
  size_t unit = *size < HUGE_PAGE ? CACHE_LINE : HUGE_PAGE;
  *size = (*size + unit - 1) / unit * unit;
  void *block = must(aligned_alloc(unit, *size));
  if (unit == HUGE_PAGE) (void)madvise(block, *size, MADV_HUGEPAGE); /* advice: a kernel without them is as right */
  return block;
}

/* ---- heap of keys ---- */

static void heap_reserve(struct sim *sim, size_t capacity) {
  size_t bytes = (capacity + ROOT_OFFSET + ARITY) * sizeof(event_key);
  event_key *block = block_new(&bytes);
  event_key *keys = block + ROOT_OFFSET;
  if (sim->count) memcpy(keys, sim->keys, sim->count * sizeof *keys);
  for (size_t i = sim->count; i < capacity + ARITY; i++) keys[i] = KEY_NONE;
  free(sim->block);
  sim->block = block;
  sim->keys = keys;
  sim->capacity = capacity;
}

static void sift_up(event_key *keys, size_t at, event_key key) {
  while (at > 0) {
    size_t parent = (at - 1) / ARITY;
    if (keys[parent] < key) break;
    keys[at] = keys[parent];
    at = parent;
  }
  keys[at] = key;
}

static inline uint64_t time_bits(event_key key) { return (uint64_t)(key >> 64); } /* times are not negative */

/* Out of line: inlined, it takes registers from the loop below. */
static __attribute__((noinline, cold)) size_t least_by_key(const event_key *group) {
  size_t least = 0;
  for (size_t i = 1; i < ARITY; i++)
    if (group[i] < group[least]) least = i;
  return least;
}

/* The depth of the heap times the latency of one turn of this loop is the speed of the queue. So the least child is found
 * from times alone, in conditional moves; equal times are rare enough to predict and go through the whole keys. */
static void sift_down(event_key *keys, size_t count, size_t at, event_key key) {
  uint64_t time = time_bits(key);
  for (size_t child = ARITY * at + 1; child < count; child = ARITY * at + 1) {
    const event_key *group = &keys[child];
    size_t grandchild = ARITY * child + 1;
    if (grandchild < count) { /* one of these four lines is needed next */
      __builtin_prefetch(&keys[grandchild]);
      __builtin_prefetch(&keys[grandchild + ARITY]);
      __builtin_prefetch(&keys[grandchild + 2 * ARITY]);
      __builtin_prefetch(&keys[grandchild + 3 * ARITY]);
    }
    uint64_t t0 = time_bits(group[0]), t1 = time_bits(group[1]), t2 = time_bits(group[2]), t3 = time_bits(group[3]);
    uint64_t left = t1 < t0 ? t1 : t0, right = t3 < t2 ? t3 : t2, earliest = right < left ? right : left;
    size_t i = t1 < t0, j = 2 + (size_t)(t3 < t2);
    i ^= (i ^ j) & ((size_t)0 - (size_t)(right < left));
    if (__builtin_expect(t0 == t1 || t2 == t3 || left == right || earliest == time, 0)) {
      i = least_by_key(group);
      if (key < group[i]) break;
    } else if (time < earliest) {
      break;
    }
    keys[at] = group[i];
    at = child + i;
  }
  keys[at] = key;
}

static void remove_root(struct sim *sim) {
  event_key last = sim->keys[--sim->count];
  sim->keys[sim->count] = KEY_NONE;
  if (sim->count) sift_down(sim->keys, sim->count, 0, last);
}

/* ---- pool of callbacks ---- */

static uint32_t key_slot(event_key key) { return (uint32_t)key & (SLOT_LIMIT - 1); }
static simtime key_time(event_key key) { return (simtime)(key >> 64); }

static uint32_t slot_take(struct sim *sim) {
  uint32_t slot = sim->free_slot;
  if (slot != NO_SLOT) {
    sim->free_slot = sim->slots[slot].next_free;
    return slot;
  }
  if (sim->slots_used == sim->slot_capacity) {
    uint32_t capacity = sim->slot_capacity ? 2 * sim->slot_capacity : SLOT_START;
    size_t bytes = capacity * sizeof *sim->slots;
    struct slot *slots = block_new(&bytes);
    if (sim->slots_used) memcpy(slots, sim->slots, sim->slots_used * sizeof *slots);
    free(sim->slots);
    sim->slots = slots;
    for (uint32_t i = sim->slot_capacity; i < capacity; i++) sim->slots[i] = (struct slot){.generation = 1};
    sim->slot_capacity = capacity;
  }
  assert(sim->slots_used < SLOT_LIMIT);
  return sim->slots_used++;
}

/* Makes every handle of the slot stale. 0 is skipped so that {0,0} is never live. */
static void slot_retire(struct slot *slot) {
  slot->fn = NULL;
  if (++slot->generation == 0) slot->generation = 1;
}

static void slot_free(struct sim *sim, uint32_t slot) {
  sim->slots[slot].next_free = sim->free_slot;
  sim->free_slot = slot;
}

/* ---- the queue ---- */

static void settle_root(struct sim *sim) {
  if (!sim->root_spent) return;
  sim->root_spent = false;
  remove_root(sim);
}

/* Brings the earliest live event to the root; false when there is none. */
static bool surface(struct sim *sim) {
  settle_root(sim);
  while (sim->count) {
    uint32_t slot = key_slot(sim->keys[0]);
    if (sim->slots[slot].fn) return true;
    slot_free(sim, slot);
    sim->dead--;
    remove_root(sim);
  }
  return false;
}

/* Sweeps dead keys out. Keys are unique, so the order of what is left cannot change. */
static void compact(struct sim *sim) {
  settle_root(sim);
  size_t live = 0;
  for (size_t i = 0; i < sim->count; i++) {
    uint32_t slot = key_slot(sim->keys[i]);
    if (sim->slots[slot].fn)
      sim->keys[live++] = sim->keys[i];
    else
      slot_free(sim, slot);
  }
  for (size_t i = live; i < sim->count; i++) sim->keys[i] = KEY_NONE;
  sim->count = live;
  sim->dead = 0;
  for (size_t i = live / ARITY + 1; i-- > 0;)
    if (i < live) sift_down(sim->keys, live, i, sim->keys[i]);
}

struct event event_at(struct sim *sim, simtime at, event_fn *fn, void *arg) {
  assert(at >= sim->now && at < SIMTIME_NEVER && fn);
  assert(sim->sequence < SEQUENCE_LIMIT);
  uint32_t index = slot_take(sim);
  struct slot *slot = &sim->slots[index];
  slot->fn = fn;
  slot->arg = arg;
  event_key key = (event_key)(uint64_t)at << 64 | sim->sequence++ << SLOT_BITS | index;
  if (sim->root_spent) {
    sim->root_spent = false;
    sift_down(sim->keys, sim->count, 0, key);
  } else {
    if (sim->count == sim->capacity) heap_reserve(sim, 2 * sim->capacity);
    sift_up(sim->keys, sim->count++, key);
  }
  return (struct event){index, slot->generation};
}

bool event_cancel(struct sim *sim, struct event event) {
  if (event.slot >= sim->slots_used) return false;
  struct slot *slot = &sim->slots[event.slot];
  if (!slot->fn || slot->generation != event.generation) return false;
  slot_retire(slot);
  sim->dead++;
  if (sim->dead >= COMPACT_MINIMUM && sim->dead > sim->count / 2) compact(sim);
  return true;
}

simtime event_next_time(struct sim *sim) { return surface(sim) ? key_time(sim->keys[0]) : SIMTIME_NEVER; }

/* The next event to fire is most likely one of the root's children. What its callback works on is fetched meanwhile: with many
 * events pending it is in no cache any more. */
static void look_ahead(const struct sim *sim) {
  for (int child = 1; child <= ARITY; child++) {
    const char *arg = sim->slots[key_slot(sim->keys[child])].arg;
    for (int line = 0; line < LINES_AHEAD; line++) __builtin_prefetch(arg + line * CACHE_LINE);
  }
}

bool event_fire_next(struct sim *sim) {
  if (!surface(sim)) return false;
  event_key key = sim->keys[0];
  simtime at = key_time(key);
  assert(at >= sim->now);
  uint32_t index = key_slot(key);
  struct slot *slot = &sim->slots[index];
  event_fn *fn = slot->fn;
  void *arg = slot->arg;
  slot_retire(slot);
  slot_free(sim, index);
  sim->root_spent = true;
  sim->now = at;
  if (sim->count > MANY_PENDING) look_ahead(sim);
  fn(sim, arg);
  return true;
}

size_t event_pending(const struct sim *sim) { return sim->count - sim->dead - sim->root_spent; }

/* ---- the run ---- */

struct sim *sim_new(void) {
  struct sim *sim = must(calloc(1, sizeof *sim));
  heap_reserve(sim, HEAP_START);
  sim->free_slot = NO_SLOT;
  return sim;
}

void sim_free(struct sim *sim) {
  if (!sim) return;
  while (sim->first) {
    struct chunk *next = sim->first->next;
    free(sim->first);
    sim->first = next;
  }
  free(sim->block);
  free(sim->slots);
  free(sim);
}

void sim_reset(struct sim *sim) {
  for (size_t i = 0; i < sim->count; i++) {
    struct slot *slot = &sim->slots[key_slot(sim->keys[i])];
    if (slot->fn) slot_retire(slot);
    sim->keys[i] = KEY_NONE;
  }
  sim->count = sim->dead = 0;
  sim->root_spent = false;
  sim->sequence = 0;
  sim->now = 0;
  sim->slots_used = 0;
  sim->free_slot = NO_SLOT;
  for (struct chunk *chunk = sim->first; chunk; chunk = chunk->next) chunk->used = 0;
  memset(sim->released, 0, sim->released_upto * sizeof sim->released[0]);
  sim->released_upto = 0;
  sim->current = sim->first;
}

simtime sim_now(const struct sim *sim) { return sim->now; }

void sim_advance(struct sim *sim, simtime at) {
  assert(at >= sim->now && at <= event_next_time(sim));
  sim->now = at;
}

/* Each chunk is as large as all before it, so that a run of many nodes has few. */
static struct chunk *chunk_add(struct sim *sim, size_t least) {
  size_t size = sizeof(struct chunk) + least;
  if (size < sim->arena_size) size = sim->arena_size < CHUNK_MOST ? sim->arena_size : CHUNK_MOST;
  if (size < CHUNK_SIZE) size = CHUNK_SIZE;
  struct chunk *chunk = block_new(&size);
  sim->arena_size += size;
  *chunk = (struct chunk){.size = size - sizeof *chunk};
  struct chunk **end = sim->current ? &sim->current->next : &sim->first;
  chunk->next = *end;
  *end = chunk;
  return chunk;
}

static size_t rounded(size_t size) { return size ? (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : ALIGNMENT; }

/* NULL when it is too large to be kept. */
static struct released **released_of(struct sim *sim, size_t size) {
  size_t place = size / ALIGNMENT;
  return place < RELEASED_CLASSES ? &sim->released[place] : NULL;
}

void sim_release(struct sim *sim, void *memory, size_t size) {
  struct released **list = released_of(sim, rounded(size)), *released = memory;
  if (!list) return;
  size_t place = (size_t)(list - sim->released);
  if (place >= sim->released_upto) sim->released_upto = place + 1;
  released->next = *list;
  *list = released;
}

void *sim_take(struct sim *sim, size_t size) {
  assert(size <= SIZE_MAX / 4);
  size = rounded(size);
  struct released **list = released_of(sim, size);
  if (list && *list) {
    struct released *released = *list;
    *list = released->next;
    return released;
  }
  struct chunk *chunk = sim->current;
  while (chunk && chunk->size - chunk->used < size && chunk->next) {
    chunk = chunk->next;
    sim->current = chunk;
  }
  if (!chunk || chunk->size - chunk->used < size) sim->current = chunk = chunk_add(sim, size);
  void *memory = chunk->bytes + chunk->used;
  chunk->used += size;
  return memory;
}

void *sim_alloc(struct sim *sim, size_t size) { return memset(sim_take(sim, size), 0, size); }

size_t sim_memory(const struct sim *sim) {
  size_t used = 0;
  for (const struct chunk *chunk = sim->first; chunk; chunk = chunk->next) used += chunk->used;
  return used;
}
