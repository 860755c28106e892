/* SPDX-License-Identifier: GPL-2.0-or-later */
/* param: parameters declared once, in the table of the module that reads them.
 *
 * Purpose:   one table row gives key, unit, default, range and help; the scenario loader, `pqnetsim params`, sweep axes,
 *            the store and the documentation all read it. A config holds one value per row of a domain's tables.
 * Units:     see enum param_kind; numbers are int64 in the base units of units.h.
 * Ownership: tables are static; config_new/config_free own the values. Text returned lives as long as the config.
 * Errors:    config_set refuses what the row does not allow, with found value and allowed range. A fault in a table aborts
 *            in config_new.
 */
#ifndef PQNETSIM_PARAM_H
#define PQNETSIM_PARAM_H

#include "sim/core/err.h"
#include "sim/core/units.h"
#include <stdbool.h>

enum param_kind {
  PARAM_COUNT, /* whole number */
  PARAM_TIME,
  PARAM_RATE,
  PARAM_SIZE,
  PARAM_SHARE,
  PARAM_BOOL,   /* yes/no (true/false, on/off read too); 1 or 0 */
  PARAM_CHOICE, /* one of choices; number = index */
  PARAM_NAME,   /* text whose meaning `check` knows (algorithm, platform, proposal); canonical spelling kept */
  PARAM_QUEUE,  /* packets ("100 packets") or bytes ("64KiB"): number > 0 packets, < 0 bytes, 0 none */
  PARAM_LOSS,   /* share, or {gemodel: {p:, r:, loss_good:, loss_bad:}}; text canonical, see param_loss */
  PARAM_LIST,   /* whole numbers "[3, 5]"; text canonical */
  PARAM_NAMES,  /* list of names "[x25519, mlkem768]", each as PARAM_NAME; text canonical */
};

struct param {
  const char *key; /* "path.rate" */
  enum param_kind kind;
  const char *fallback;       /* default as a user writes it (names: canonical); NULL: takes the value of `follows`, or is absent */
  int64_t min, max;           /* allowed range in base units; of packets or bytes for a queue; of each number of a list, of the count
                               * of names, unless both are 0; ignored for other texts */
  const char *const *choices; /* NULL-ended, PARAM_CHOICE */
  /* PARAM_NAME: writes the canonical spelling; ERR_INPUT with what is allowed */
  int (*check)(const char *text, char *canonical, size_t size, struct err *e);
  /* PARAM_NAME that may be put together as {base: NAME, PART: NAME, ...}, which `check` reads as "NAME,PART=NAME,...": writes the
   * canonical spelling of PART; ERR_INPUT with what is allowed. NULL: it is one name */
  int (*part)(const char *text, char *canonical, size_t size, struct err *e);
  const char *follows; /* key whose value this one takes while unset (path.up.delay follows path.delay) */
  const char *sets;    /* pseudo key: writing it writes `sets` with half the value (path.rtt -> path.delay); keeps no value itself */
  bool absent;         /* has no value at all until it is set: config_text then says NULL, config_each passes it over */
  bool repeats;        /* PARAM_NAMES: a name may come several times */
  const char *bare;    /* unit of a bare number where everybody means one ("B" for an MTU of 1500); NULL: it is refused */
  const char *help;
};

struct param_table {
  const struct param *rows;
  int count;
};

struct config;

/* tables: array of count pointers to static tables (an array of pointers, so that a domain can list other modules' tables). */
struct config *config_new(const struct param_table *const *tables, int count);
struct config *config_copy(const struct config *from);
void config_free(struct config *config);

/* Row of a key, NULL if there is none. */
const struct param *config_find(const struct config *config, const char *key);
/* The known key nearest to a misspelt one (edit distance), NULL when nothing is near. */
const char *config_nearest(const struct config *config, const char *key);

/* Sets a key from text as a user writes it (for gemodel and lists: YAML flow text, canonical or not).
 * The error sentence begins with the key; the caller adds file and line. */
int config_set(struct config *config, const char *key, const char *text, struct err *e) MUST_CHECK;

/* True if the key itself was set (not a default, not followed); a pseudo key never is, what it sets is. */
bool config_is_set(const struct config *config, const char *key);

/* Resolved values. Asking for an unknown key or the wrong kind is a bug and asserts. */
int64_t config_number(const struct config *config, const char *key);   /* COUNT TIME RATE SIZE SHARE BOOL CHOICE QUEUE */
const char *config_text(const struct config *config, const char *key); /* any kind, canonical text with unit */

/* All resolved parameters in table order: calls fn(key, canonical text). Pseudo keys are left out. */
void config_each(const struct config *config, void (*fn)(void *arg, const struct param *param, const char *text), void *arg);

/* PARAM_LOSS: independent (good = bad state never left) or Gilbert-Elliott, netem's gemodel:
 * p good->bad, r bad->good, loss in bad state (1-h in netem) default 100 %, loss in good state (1-k) default 0. */
struct param_loss {
  bool gemodel;
  int64_t loss_ppb;                        /* Bernoulli */
  int64_t p_ppb, r_ppb, bad_ppb, good_ppb; /* gemodel */
};
void config_loss(const struct config *config, const char *key, struct param_loss *out);

/* PARAM_LIST: number of elements; copies at most max of them. */
int config_list(const struct config *config, const char *key, int64_t *values, int max);
/* PARAM_NAMES: calls fn for each, canonical, in order; returns their number. */
int config_names(const struct config *config, const char *key, void (*fn)(void *arg, const char *name), void *arg);

#endif
