/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cost: what an operation costs on a platform.
 *
 * Purpose:    reads platform files (calib/data/platforms/NAME.csv, or ./file.csv beside a scenario) and draws durations.
 * Units:      integer nanoseconds, integer nanojoules.
 * Names:      a platform, or several put together: cost_name.h.
 * File:       lines `# key: value` first (title, base, cpu, date, note, device, device-source, clock, voltage, current: base
 *             names a platform whose rows this one inherits, operation by operation), then CSV with the columns
 *               algorithm,operation,size_bytes,quantiles_ns,quantiles_cycles,energy_nj,peak_stack_bytes,kind,source,family,note
 *             (of quantiles_ns and quantiles_cycles a row has one; size_bytes, energy_nj, peak_stack_bytes, family and note
 *             may be left out). quantiles_ns: one number (a constant), or `p:ns` pairs with rising p from 0 to 1, space
 *             separated ("0:21011 0.05:21182 0.5:21392 1:22433"), interpolated linearly. size_bytes 0 or empty: the cost does
 *             not depend on size; two or more rows of one operation with different sizes: interpolated between sizes, the
 *             smallest below them, extended beyond the last by the slope of the last two medians (never downwards).
 *             quantiles_cycles: the same in cycles of the device's clock; where voltage and current are known and energy_nj
 *             is empty, energy is voltage * current * time (of the mean in listings, of the drawn time in cost_energy).
 *             device: a name of calib/data/devices.csv; clock, voltage and current go before it, one by one, and then need
 *             device-source. What a file does not say of its device its base does, so that a file of three lines moves a
 *             platform to another clock or regulator.
 *             kind: measured published fitted estimated assumed; an estimated or assumed row says in note how.
 *             source: an id of calib/data/sources.csv; one that does not resolve, or none, does not load. The ids of
 *             kind `user` are for a user's own figures and ask for a note too.
 *             calib/data/README.md explains the format to users.
 * Algorithms: titles of alg.h ("ML-KEM-768"), names and titles of alg_own.h, and beside them "software" (daemon, kernel and testbed), "qkd" (key
 *             delivery), "sdn-suite" (steps of a published suite). An operation of an algorithm is one of keygen
 *             import_pub encaps encaps_full decaps decaps_full derive derive_full sign verify encrypt decrypt seal open
 *             set_key hash extract expand extract_expand; beside algorithms any name of small letters, digits and _.
 *             `*_full` is what a protocol peer pays: parse the peer's key, new context, the operation.
 * Invariants: a draw is a pure function of row, size and uniform: integer arithmetic only, the same on every machine.
 *             It never falls when the uniform rises.
 * Ownership:  cost_load/cost_free.
 * Errors:     ERR_INPUT with file, line, column name, found, allowed.
 */
#ifndef PQNETSIM_COST_H
#define PQNETSIM_COST_H

#include "sim/core/err.h"
#include "sim/core/metric.h"
#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

enum cost_kind { COST_MEASURED, COST_PUBLISHED, COST_FITTED, COST_ESTIMATED, COST_ASSUMED };
const char *cost_kind_name(enum cost_kind kind);

struct cost_platform;
struct cost_row;

/* name: a shipped platform, or a path that begins with "./", taken relative to base_dir (NULL: current folder), or parts. */
int cost_load(const char *name, const char *base_dir, struct cost_platform **out, struct err *e) MUST_CHECK;
void cost_free(struct cost_platform *platform);

const char *cost_platform_name(const struct cost_platform *platform);
const char *cost_platform_title(const struct cost_platform *platform);
/* The implementation of TLS its rows were measured in, a name of tls.stack; NULL: not stated. */
const char *cost_platform_tls_stack(const struct cost_platform *platform);
/* Content key for the run key: 64-bit FNV-1a over every row that can be drawn (names, sizes, quantiles, energy, stack) and tls-stack, in the
 * order of cost_find, so that notes, sources and the order of lines do not change it. */
uint64_t cost_platform_hash(const struct cost_platform *platform);

/* The row of an operation, NULL if the platform does not state it. Look up once per point, draw many times. */
const struct cost_row *cost_find(const struct cost_platform *platform, const char *algorithm, const char *operation);

/* The part of a breakdown that an operation is. */
enum part cost_part(const char *algorithm, const char *operation);

/* Duration for a uniform 64-bit draw. size_bytes is ignored by rows that do not depend on size. */
int64_t cost_draw(const struct cost_row *row, int64_t size_bytes, uint64_t uniform);
/* Energy in nJ of an operation that took duration_ns: where cycles and a device gave the time, voltage * current * duration;
 * else what the rows state (between sizes on a straight line, beyond them the nearest). -1: not stated. */
int64_t cost_energy(const struct cost_row *row, int64_t size_bytes, int64_t duration_ns);
/* Median duration, for reports. */
int64_t cost_median(const struct cost_row *row, int64_t size_bytes);
/* True when two draws can differ. */
bool cost_is_random(const struct cost_row *row);

/* Why an operation takes another time each time whatever the machine ("prime search", "rejection sampling"); NULL when
 * its work is the same every time. */
const char *cost_chance(const char *algorithm, const char *operation);
/* Such operations that the platform states as a constant nevertheless: "RSA-2048 keygen, ML-DSA-65 sign". Returns their number. */
int cost_frozen(const struct cost_platform *platform, char *text, size_t size);

/* For listings: rows in file order (inherited ones after the platform's own). */
struct cost_row_info {
  const char *algorithm, *operation, *source, *family, *note, *from_platform;
  int64_t size_bytes, median_ns;
  int64_t energy_nj;        /* stated, or of the mean time; -1: not known */
  int64_t peak_stack_bytes; /* -1: not stated */
  enum cost_kind kind;
};
int cost_row_count(const struct cost_platform *platform);
void cost_row_info(const struct cost_platform *platform, int index, struct cost_row_info *out);
/* Of the same rows: the duration at a probability in parts per billion, and the points the file states (p 0 alone: a
 * constant). p_ppb, ns: room for COST_POINTS_MAX. Returns how many there are. */
int64_t cost_row_quantile(const struct cost_platform *platform, int index, int64_t p_ppb);
enum { COST_POINTS_MAX = 64 };
int cost_row_points(const struct cost_platform *platform, int index, int64_t *p_ppb, int64_t *ns);
/* No row is longer than a day: that is a slip of units. */
#define COST_NS_MAX (INT64_C(86400) * 1000000000)

/* An operation with all its sizes, as cost_find gives it, in its order. */
struct cost_operation {
  const char *algorithm, *operation;
  const char *from_platform, *from_file; /* where it is stated: a platform's own file, or that of a base */
  const char *source;                    /* of the first size with the kind below */
  int sizes;
  int64_t smallest_ns, largest_ns; /* medians at the smallest and the largest size */
  enum cost_kind kind;             /* the weakest of its sizes */
  bool drawn;                      /* cost_draw was asked since the platform was loaded */
};
int cost_operation_count(const struct cost_platform *platform);
void cost_operation(const struct cost_platform *platform, int index, struct cost_operation *out);

/* Which operations take num / den times as long: one, or all of a kind. */
struct cost_scaling {
  const char *file, *algorithm, *operation; /* as cost_operation says */
  bool any_of_kind;                         /* `kind` decides instead of the three above */
  enum cost_kind kind;
  int64_t num, den;
};
/* What is meant is scaled, rounded to whole ns; everything else is as stated. NULL: everything. */
void cost_scale(struct cost_platform *platform, const struct cost_scaling *scaling);

/* Names of shipped platforms, sorted; free with cost_list_free. */
int cost_list(char ***names, int *count, struct err *e) MUST_CHECK;
void cost_list_free(char **names, int count);

/* A bibliography entry (calib/data/sources.csv: id,kind,author,title,year,where,licence,note).
 * kind: measurement paper repository standard datasheet thread page seed user. */
struct cost_source {
  const char *id, *kind, *author, *title, *year, *where, *licence, *note;
};
struct cost_sources;
int cost_sources_load(struct cost_sources **out, struct err *e) MUST_CHECK;
void cost_sources_free(struct cost_sources *sources);
int cost_sources_count(const struct cost_sources *sources);
const struct cost_source *cost_source_at(const struct cost_sources *sources, int index);
const struct cost_source *cost_source_find(const struct cost_sources *sources, const char *id);

/* Folder of shipped data: the one set, else $PQNETSIM_DATA, else calib/data beside the program, else PQNETSIM_DATADIR of
 * the build, else calib/data. cost_set_data_dir copies its argument; NULL goes back to looking for the folder. */
void cost_set_data_dir(const char *dir);
const char *cost_data_dir(void);

#endif
