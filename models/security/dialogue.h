/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dialogue: walks two scripts, one a side, over a stream.
 *
 * Purpose:    a protocol over TCP says, as a table for each side, in which order that side waits for bytes, works, and writes.
 *             Each side is one thread of control: it does one step after another, and both go on at the same time, so what
 *             overlaps on the wire overlaps here. This engine alone touches clock, processor and stream.
 * Steps:      DIALOGUE_READ   wait until `bytes` more have arrived, then go on
 *             DIALOGUE_WORK   do the operations on the side's processor
 *             DIALOGUE_WRITE  one write() of `bytes`
 *             DIALOGUE_DRAIN  wait until the other side has acknowledged all that was written
 *             DIALOGUE_PAUSE  wait `wait` ns (think time)
 *             DIALOGUE_MARK   tell the observer `mark` (with the side's trail: the critical path so far)
 *             DIALOGUE_CLOSE  close this side
 * Waking:     a side that has waited, for bytes or for the connection, longer than DIALOGUE_ASLEEP finds its processor halted and its caches cold; a platform
 *             says what that costs (software/wake).
 * Units:      bytes of TCP payload, ns.
 * Trail:      a side's trail follows its thread; where it waited for bytes, the trail of the bytes that came in last takes over,
 *             if they came in after the thread began to wait; else its own goes on. `worked` tells all work, so that an
 *             observer can say what of it was hidden behind something longer.
 * Ownership:  scripts are the caller's and must outlive the walk; runs live in the sim's arena.
 * Errors:     dialogue_resolve: ERR_INPUT when a platform does not state an operation.
 */
#ifndef PQNETSIM_DIALOGUE_H
#define PQNETSIM_DIALOGUE_H

#include "models/crypto/cost.h"
#include "models/transport/stream.h"
#include "sim/core/cpu.h"

enum dialogue_kind { DIALOGUE_READ, DIALOGUE_WORK, DIALOGUE_WRITE, DIALOGUE_DRAIN, DIALOGUE_PAUSE, DIALOGUE_MARK, DIALOGUE_CLOSE };

enum { DIALOGUE_STEPS = 224 };

struct dialogue_op {
  const char *algorithm, *operation; /* of the cost file; "software" is no cryptography */
  int64_t size_bytes;
  int times;                  /* one duration is drawn for all */
  uint32_t draw;              /* below 256: keys its draw within the side's script */
  int use;                    /* what it is for, told to the observer: the protocol's own numbering (kex, sign, cert_verify, symmetric) */
  bool optional;              /* a platform may leave it out: it then costs nothing */
  const struct cost_row *row; /* by dialogue_resolve, as are */
  enum part part;
  bool random;
};

struct dialogue_step {
  enum dialogue_kind kind;
  int64_t bytes;         /* READ, WRITE */
  simtime wait;          /* PAUSE */
  int mark;              /* MARK */
  struct dialogue_op op; /* WORK */
};

struct dialogue_script {
  int count;
  struct dialogue_step steps[DIALOGUE_STEPS];
};

/* platform_key: the parameter that names the platform, for messages. */
int dialogue_resolve(struct dialogue_script *script, const struct cost_platform *platform, const char *platform_key, struct err *e) MUST_CHECK;

/* A draw matters in it. */
bool dialogue_is_random(const struct dialogue_script *script);

struct dialogue_observer {
  void (*marked)(void *arg, enum net_side side, int mark, const struct trail *trail);
  void (*worked)(void *arg, enum net_side side, int use, int64_t duration); /* may be NULL */
  void (*failed)(void *arg, enum net_side side, enum stream_end why, const struct trail *trail);
  void (*over)(void *arg); /* both scripts have ended; may be NULL */
  void *arg;
};

struct dialogue;

enum { DIALOGUE_ASLEEP = 1000000 };

/* One connection's. wake: of each side, NULL: costs nothing. key: seed, replication, entity of the draws. */
struct dialogue *dialogue_new(
    struct sim *sim, struct cpu *const cpus[2], const struct cost_row *const wake[2], const struct dialogue_observer *observer, const struct draw_key *key);
/* What stream_new needs so that the dialogue hears of both ends. */
void dialogue_listen(struct dialogue *dialogue, struct stream_observer observers[2]);

/* Both sides begin their scripts when the connection is open at their end, at once if it is: trails[side] is then where each
 * goes on (at now); NULL before the connection is open. The scripts before must be over at both sides. epoch: below
 * DIALOGUE_EPOCHS, another for each start, keys the draws. */
enum { DIALOGUE_EPOCHS = 1 << 24 };
void dialogue_start(
    struct dialogue *dialogue, struct stream *stream, const struct dialogue_script *const scripts[2], uint32_t epoch, const struct trail trails[2]);
/* Both scripts are over. */
bool dialogue_is_over(const struct dialogue *dialogue);

#endif
