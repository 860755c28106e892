/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/crypto/alg_own.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct alg *defined[ALG_OWN_MAX];
static int defined_count;

/* Every definition this process has seen. */
static struct alg **ever;
static int ever_count;

int alg_own_count(void) { return defined_count; }

const struct alg *alg_own_at(int index) { return defined[index]; }

void alg_forget_own(void) { defined_count = 0; }

bool alg_is_own(const struct alg *alg) {
  for (int i = 0; i < ever_count; i++)
    if (ever[i] == alg) return true;
  return false;
}

const struct alg *alg_own_titled(const char *text) {
  for (int i = 0; i < defined_count; i++)
    if (strcasecmp(defined[i]->name, text) == 0 || strcasecmp(defined[i]->title, text) == 0) return defined[i];
  return NULL;
}

/* "-ke1_" joins key exchanges, "dh36" is a transform number: either would be taken for something else. */
static bool is_ambiguous(const char *name) {
  if (strncmp(name, "dh", 2) == 0 && isdigit((unsigned char)name[2])) return true;
  for (const char *at = strstr(name, "-ke"); at; at = strstr(at + 1, "-ke"))
    if (isdigit((unsigned char)at[3]) && at[4] == '_') return true;
  return false;
}

int alg_own_check_name(const char *name, struct err *e) {
  static const char *const taken[] = {"none", "psk", "base", "software", "qkd", "sdn-suite"};
  if (!islower((unsigned char)*name) || name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_")] || strlen(name) > ALG_OWN_NAME_MAX)
    return err_add(
        e, ERR_INPUT, "the name '%.64s' of an algorithm; allowed are up to %d small letters, digits, - and _, a letter first", name, ALG_OWN_NAME_MAX);
  for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
    if (strcmp(name, taken[i]) == 0) return err_add(e, ERR_INPUT, "the name '%s' means something else where algorithms are named; choose another", name);
  if (is_ambiguous(name)) return err_add(e, ERR_INPUT, "the name '%s' could be read as a transform number or as several key exchanges; choose another", name);
  return 0;
}

static int check_spelling(const char *what, const char *text, struct err *e) {
  const struct alg *other = alg_find(text, ~0u);
  if (!other) return 0;
  return err_add(e, ERR_INPUT, "the %s '%s' is already a spelling of %s (%s)%s; choose another", what, text, other->name, other->title,
      alg_is_own(other) ? ", which this scenario defines too" : "");
}

/* TLS has one space of numbers for key exchanges and one for signatures. */
static int check_codes(const struct alg *alg, struct err *e) {
  unsigned signatures = 1u << ALG_SIGNATURE;
  char code[16];
  snprintf(code, sizeof code, "0x%04x", (unsigned)alg->tls_id);
  const struct alg *other = alg->tls_id < 0 ? NULL : alg_find(code, alg->kind == ALG_SIGNATURE ? signatures : ~signatures);
  if (other) return err_add(e, ERR_INPUT, "tls_id: found %s, which is that of %s", code, other->name);
  snprintf(code, sizeof code, "dh%d", alg->ike_id);
  other = alg->ike_id < 0 ? NULL : alg_find(code, ~0u);
  if (other) return err_add(e, ERR_INPUT, "ike_id: found %d, which is that of %s", alg->ike_id, other->name);
  return 0;
}

static bool is_same(const struct alg *a, const struct alg *b) {
  char lines[2][ALG_OWN_LINE_MAX];
  alg_own_write(a, lines[0]);
  alg_own_write(b, lines[1]);
  return strcmp(lines[0], lines[1]) == 0;
}

/* The definition as this process keeps it. */
static const struct alg *keep(const struct alg *alg) {
  for (int i = 0; i < ever_count; i++)
    if (is_same(ever[i], alg)) return ever[i];
  struct alg *copy = malloc(sizeof *copy);
  ever = reallocarray(ever, (size_t)ever_count + 1, sizeof *ever);
  if (!copy || !ever) abort();
  *copy = *alg;
  copy->name = strdup(alg->name);
  copy->title = strdup(alg->title);
  if (!copy->name || !copy->title) abort();
  copy->aliases = "";
  copy->standard = "the scenario's own";
  return ever[ever_count++] = copy;
}

int alg_define(const struct alg *alg, struct err *e) {
  int code = alg_own_check_name(alg->name, e);
  if (!code) code = check_spelling("name", alg->name, e);
  if (!code && strcasecmp(alg->name, alg->title)) code = check_spelling("title", alg->title, e);
  if (!code) code = check_codes(alg, e);
  if (!code && defined_count == ALG_OWN_MAX) code = err_add(e, ERR_INPUT, "found more than %d algorithms, allowed at most so many", ALG_OWN_MAX);
  if (!code) defined[defined_count++] = keep(alg);
  return code;
}

void alg_own_write(const struct alg *alg, char line[ALG_OWN_LINE_MAX]) {
  snprintf(line, ALG_OWN_LINE_MAX, "%s %s %d %d %d %d %d %d %d %d %s", alg->name, alg_kind_name(alg->kind), alg->public_bytes, alg->answer_bytes,
      alg->secret_bytes, alg->nist_category, alg->classical_bits, alg->quantum_bits, alg->ike_id, alg->tls_id, alg->title);
}

int alg_own_read(const char *line, struct err *e) {
  char name[ALG_OWN_NAME_MAX + 1], kind[16];
  struct alg alg = {.name = name};
  int end = 0;
  int found = sscanf(line, "%32s %15s %d %d %d %d %d %d %d %d %n", name, kind, &alg.public_bytes, &alg.answer_bytes, &alg.secret_bytes, &alg.nist_category,
      &alg.classical_bits, &alg.quantum_bits, &alg.ike_id, &alg.tls_id, &end);
  static const enum alg_kind kinds[] = {ALG_KEX, ALG_KEM, ALG_SIGNATURE};
  size_t k = 0;
  while (found == 10 && k < sizeof kinds / sizeof *kinds && strcmp(alg_kind_name(kinds[k]), kind) != 0) k++;
  if (found != 10 || k == sizeof kinds / sizeof *kinds || !end || !line[end] || strlen(line + end) > ALG_OWN_NAME_MAX)
    return err_add(e, ERR_SYSTEM, "damaged definition of an algorithm: '%.200s'", line);
  alg.kind = kinds[k];
  alg.title = line + end;
  return alg_define(&alg, e);
}
