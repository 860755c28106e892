/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scenario: a YAML file (and --set overrides) as a checked study.
 *
 * Purpose:   file -> domain, base config, axes, skip list, chosen metrics, requirements. Everything that can be wrong
 *            with the file is found here, all problems at once, before anything runs.
 * Format:    the README's "Scenario files"; nested maps and dotted keys are the same; YAML 1.2 JSON-compatible scalars;
 *            no anchors, aliases, tags or second documents; UTF-8 with or without a byte-order mark.
 * Order:     problems by place in the file, then those of --set; the first hundred are listed.
 * Ownership: scenario_load/scenario_free.
 * Errors:    ERR_INPUT, one line per problem: "FILE:LINE:COLUMN: key: found ..., allowed ...; did you mean ...?"
 */
#ifndef PQNETSIM_SCENARIO_H
#define PQNETSIM_SCENARIO_H

#include "sim/run/arena.h"
#include "sim/run/problem.h"
#include "sim/run/roster.h"

/* One value of an axis: the keys it sets. */
struct axis_value {
  const char *label; /* what is stored and plotted: canonical value, or the name given in a named axis */
  int count;
  const char **keys, **texts; /* canonical */
  const struct place *at;     /* of each text */
};

struct axis {
  const char *name;          /* the first key of the axis, or its given name ("stage") */
  struct place at;           /* of the name */
  const struct param *param; /* of the first key; NULL for a named axis, whose labels are plain text */
  bool logarithmic;          /* given as scale: log, or all values positive and spread by equal factors */
  int count;
  struct axis_value *values;
};

/* skip: a point is left out when every key of one entry has the entry's value there. */
struct skip_entry {
  int count;
  const char **keys, **texts;
};

/* require: 'METRIC[.STAT] OP VALUE' */
struct requirement {
  const char *text; /* as written */
  int metric;       /* index into roster->metrics */
  const char *stat; /* of STATS_NAMES in output/stats.h; default p50, of a share mean, as plot's */
  enum { REQUIRE_LE, REQUIRE_LT, REQUIRE_GE, REQUIRE_GT } op;
  double bound; /* in the metric's base unit; a plain number for n, failed and cv */
};

struct scenario {
  struct arena *arena;         /* holds every text and array here */
  const char *path, *base_dir; /* of the file */
  const char *text;            /* the file, byte for byte */
  const char *title;
  const struct domain *domain;
  struct roster *roster; /* the domain with the groups named in the file or by --set */
  struct config *base;   /* run_params and the roster's tables, file values and --set applied */
  int axis_count;
  struct axis *axes;
  int skip_count;
  struct skip_entry *skips;
  int metric_count; /* chosen by `metrics:`; all when absent */
  int *metrics;     /* indices into roster->metrics, in table order */
  int requirement_count;
  struct requirement *requirements;
  int setting_count; /* what base was given, for scenario_place */
  struct setting {
    const char *key; /* the one written; of a pseudo key what it sets. NULL: an empty slot */
    struct place at;
  } * settings;
};

/* seed and replications: keys of the run itself, a table shared by every domain. */
extern const struct param_table run_params;

/* sets: array of "KEY=VALUE" from the command line (VALUE is YAML), applied over the file; an axis over a key that
 * --set fixes is an error for a sweep but not for run: want_axes false checks the sweep part, but leaves axes and skips out. */
int scenario_load(const char *path, const char *const *sets, int set_count, bool want_axes, struct scenario **out, struct err *e) MUST_CHECK;
void scenario_free(struct scenario *scenario);

/* Where the value was written that a point has for a key: by an axis, by --set or in the file. A key of a group that was not
 * given has the plain key's value, one that follows another the other's. digits: value index per axis; NULL for the base point.
 * False for a default. */
bool scenario_place(const struct scenario *scenario, const int *digits, const char *key, struct place *at);

#endif
