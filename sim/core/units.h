/* SPDX-License-Identifier: GPL-2.0-or-later */
/* units: dimensioned values as users write them, and reals as we print them.
 *
 * Purpose:  "10ms", "1Mbit/s", "50KiB", "0.1%" <-> int64 in a base unit, exactly (decimal arithmetic, no floating point).
 * Units:    time ns; rate bit/s; size byte; share parts per billion (1% = 10,000,000); count and plain integers 1.
 * Errors:   a bare number where a unit is needed, an unknown or ambiguous suffix, more digits than the base unit holds,
 *           overflow, anything that is not a number: ERR_INPUT with a sentence that lists the suffixes allowed.
 * Locale:   none; the decimal mark is a dot, always.
 */
#ifndef PQNETSIM_UNITS_H
#define PQNETSIM_UNITS_H

#include "sim/core/err.h"
#include <stdint.h>

enum unit {
  UNIT_COUNT, /* no dimension, whole: bare number required */
  UNIT_TIME,  /* ns: ns us µs ms s min h d */
  UNIT_RATE,  /* bit/s: bit/s kbit/s Mbit/s Gbit/s Tbit/s, and bps kbps Mbps Gbps */
  UNIT_SIZE,  /* byte: B kB MB GB KiB MiB GiB */
  UNIT_SHARE, /* parts per billion: "%" and "ppm"; a bare number is refused, but for 0 */
};

#define SHARE_ONE INT64_C(1000000000)

/* Parses all of text. A value finer than the base unit (0.1ns) is refused, never rounded.
 * On error *value is unchanged and e gets "found '...', ..." without file or key: the caller prefixes those. */
int units_parse(enum unit unit, const char *text, int64_t *value, struct err *e) MUST_CHECK;

/* Writes an exact form with one suffix, the largest that leaves a number of 1 or more ("10ms", "1.5Gbit/s", "0.1%"); min, h
 * and d, and from 10 KiB on KiB, MiB and GiB, only where the number is whole ("90s", "1280B", "64KiB"). units_parse reads it back. */
const char *units_format(enum unit unit, int64_t value, char buffer[32]);

/* The unit's allowed suffixes in one line, for messages. */
const char *units_suffixes(enum unit unit);

/* A real with 9 significant digits, dot decimal mark, no trailing zeros ("0.1", "1.23456789e-07", "12"). */
const char *real_format(double value, char buffer[32]);

#endif
