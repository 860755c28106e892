/* SPDX-License-Identifier: GPL-2.0-or-later */
/* random: one uniform per key, from a counter-based generator.
 *
 * Purpose:    draws that depend on what they are for, never on the order of calls, on the sweep point or on the worker:
 *             the same key gives the same number in every configuration (common random numbers).
 * Source:     Philox4x32-10, Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011; known-answer
 *             vectors of the Random123 distribution are the test.
 * Counter:    {message, entity, purpose<<24 | attempt<<12 | fragment, replication}, key = seed.
 */
#ifndef PQNETSIM_RANDOM_H
#define PQNETSIM_RANDOM_H

#include <stdint.h>

/* What a draw is for. New purposes go to the end: numbers are part of every stored result. */
enum draw_purpose {
  DRAW_LOSS = 1,       /* Bernoulli loss of one packet */
  DRAW_LOSS_STATE,     /* Gilbert-Elliott: state change */
  DRAW_JITTER,         /* extra delay of one packet */
  DRAW_COST_INITIATOR, /* duration of an operation on the node that starts the exchange */
  DRAW_COST_RESPONDER,
  DRAW_RETRANSMIT_JITTER,
  DRAW_SIGNATURE_SIZE, /* DER length of an ECDSA signature */
  DRAW_START,          /* start time of a node or flow */
  DRAW_PATH,           /* a testbed's own latency for one datagram */
  DRAW_COST_PACKET,    /* duration of handling one data packet */
  DRAW_HEARTBEAT,      /* jitter of an SCTP heartbeat's interval */
  DRAW_BACKGROUND,     /* gap before the next piece of other work on a core */
  DRAW_REKEY,          /* how long before its lifetime ends an SA is rekeyed */
  DRAW_TICK,           /* where a host's timer ticks lie */
  DRAW_WAKE,           /* what a processor takes that was asleep */
};

enum { DRAW_FRAGMENTS = 4096 };

struct draw_key {
  uint64_t seed;
  uint32_t replication;
  uint32_t entity;  /* node or link, unique in the run */
  uint32_t message; /* message number of that entity, as the protocol counts it */
  enum draw_purpose purpose;
  uint16_t fragment; /* 0..4095: fragment of the message, or operation within a step */
  uint16_t attempt;  /* 0..4095: retransmission count */
};

/* A 64-bit uniform. */
uint64_t random_draw(const struct draw_key *key);

/* True with probability share (parts per billion), exactly floor(draw * 1e9 / 2^64) < share. */
int random_below(const struct draw_key *key, int64_t share_ppb);

/* Uniform integer in [0, bound), bound > 0. */
int64_t random_under(const struct draw_key *key, int64_t bound);

/* The raw block function: four 32-bit words of counter, two of key, four out. Public for its known-answer test. */
void random_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

#endif
