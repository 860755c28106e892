/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/crypto/cost_name.h"
#include "models/crypto/alg.h"
#include "models/crypto/cost_line.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_MAX = 96 };

/* ---- A part's key ---------------------------------------------------------------------------------------------- */

/* Edits (insert, delete, replace) that turn a into b; both shorter than KEY_MAX. */
static int distance(const char *a, const char *b) {
  int row[KEY_MAX], width = (int)strlen(b);
  for (int j = 0; j <= width; j++) row[j] = j;
  for (int i = 1; a[i - 1]; i++) {
    int diagonal = row[0];
    row[0] = i;
    for (int j = 1; j <= width; j++) {
      int best = diagonal + (a[i - 1] != b[j - 1]);
      if (row[j] + 1 < best) best = row[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      diagonal = row[j];
      row[j] = best;
    }
  }
  return row[width];
}

/* The known operation that may have been meant; NULL when none is near. */
static const char *nearest_operation(const char *text) {
  int best = (int)strlen(text) / 3 + 1;
  const char *nearest = NULL;
  for (const char *const *known = cost_operations; *known && strlen(text) < KEY_MAX; known++) {
    int edits = distance(text, *known);
    if (edits > best || (nearest && edits == best)) continue;
    best = edits;
    nearest = *known;
  }
  return nearest;
}

static bool is_listed(const char *text, const char *const *list) {
  while (*list && strcmp(*list, text) != 0) list++;
  return *list;
}

static int unknown_operation(const char *found, struct err *e) {
  char all[512] = "";
  size_t used = 0;
  for (const char *const *known = cost_operations; *known && used < sizeof all; known++)
    used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", used ? ", " : "", *known);
  const char *near = nearest_operation(found);
  return err_add(e, ERR_INPUT,
      "found '%s', which is no operation; allowed base, an operation, or ALGORITHM.OPERATION such as rsa-2048.sign; operations are %s%s%s%s", found, all,
      near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

static int unknown_algorithm(const char *found, struct err *e) {
  const char *near = alg_nearest(found, ~0u);
  return err_add(e, ERR_INPUT, "found '%s', which is no algorithm (pqnetsim list algorithms), nor one of %s%s%s%s", found, COST_SUBJECTS,
      near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

/* What a key means: *algorithm a title or NULL, *name its canonical name. */
static int read_key(const char *key, const char **algorithm, const char **name, const char **operation, struct err *e) {
  const char *dot = strrchr(key, '.');
  char subject[KEY_MAX];
  *algorithm = *name = NULL;
  *operation = dot ? dot + 1 : key;
  if (!dot) return is_listed(key, cost_operations) ? 0 : unknown_operation(key, e);
  if ((size_t)(dot - key) >= sizeof subject) return unknown_algorithm(key, e);
  snprintf(subject, sizeof subject, "%.*s", (int)(dot - key), key);
  for (const char *const *other = cost_subjects; *other; other++)
    if (strcmp(*other, subject) == 0) {
      *algorithm = *name = *other;
      if (**operation && !(*operation)[strspn(*operation, "abcdefghijklmnopqrstuvwxyz0123456789_")]) return 0;
      return err_add(e, ERR_INPUT, "found '%s', allowed %s. and small letters, digits and _", key, subject);
    }
  /* "p256" is a curve and a signature; what can be signed with it is the signature. */
  bool signing = strcmp(*operation, "sign") == 0 || strcmp(*operation, "verify") == 0;
  const struct alg *alg = signing ? alg_find(subject, 1u << ALG_SIGNATURE) : NULL;
  if (!alg) alg = alg_find(subject, ~0u);
  if (!alg) return unknown_algorithm(subject, e);
  *algorithm = alg->title;
  *name = alg->name;
  return is_listed(*operation, cost_operations) ? 0 : unknown_operation(*operation, e);
}

int cost_name_check_part(const char *text, char *canonical, size_t size, struct err *e) {
  const char *algorithm, *name, *operation;
  int code = read_key(text, &algorithm, &name, &operation, e);
  if (!code) snprintf(canonical, size, "%s%s%s", name ? name : "", name ? "." : "", operation);
  return code;
}

/* ---- A whole name ---------------------------------------------------------------------------------------------- */

void cost_name_free(struct cost_name *name) { free(name->text); }

static int read_part(char *text, const char *whole, struct cost_name *out, struct err *e) {
  char *equals = strchr(text, '=');
  if (!equals || equals == text || !equals[1])
    return err_add(e, ERR_INPUT, "found '%s' in '%s', allowed OPERATION=PLATFORM or ALGORITHM.OPERATION=PLATFORM", text, whole);
  if (out->part_count == COST_NAME_PARTS) return err_add(e, ERR_INPUT, "found more than %d parts in '%s'", COST_NAME_PARTS, whole);
  *equals = '\0';
  struct cost_name_part *part = &out->parts[out->part_count];
  *part = (struct cost_name_part){.key = text, .platform = equals + 1};
  const char *name;
  int code = read_key(text, &part->algorithm, &name, &part->operation, e);
  if (code) return code;
  for (int i = 0; i < out->part_count; i++) {
    const struct cost_name_part *other = &out->parts[i];
    bool same = part->algorithm && other->algorithm ? strcmp(part->algorithm, other->algorithm) == 0 : part->algorithm == other->algorithm;
    if (same && strcmp(part->operation, other->operation) == 0) return err_add(e, ERR_INPUT, "found %s twice in '%s', allowed once", text, whole);
  }
  out->part_count++;
  return 0;
}

int cost_name_read(const char *text, struct cost_name *out, struct err *e) {
  *out = (struct cost_name){.text = strdup(text)};
  if (!out->text) abort();
  char *rest = out->text;
  out->base = strsep(&rest, ",");
  int code = 0;
  while (!code && rest) code = read_part(strsep(&rest, ","), text, out, e);
  if (code) cost_name_free(out);
  return code;
}

/* A part in canonical spelling. */
struct spelling {
  char key[KEY_MAX];
  const char *platform;
};

static int by_key(const void *a, const void *b) { return strcmp(((const struct spelling *)a)->key, ((const struct spelling *)b)->key); }

int cost_name_check(const char *text, char *canonical, size_t size, struct err *e) {
  struct cost_name name;
  struct spelling parts[COST_NAME_PARTS];
  if (!*text || *text == ',') return err_add(e, ERR_INPUT, "found '%s', allowed the name of a platform (pqnetsim list platforms) or ./FILE.csv", text);
  int code = cost_name_read(text, &name, e);
  if (code) return code;
  for (int i = 0; i < name.part_count && !code; i++) {
    code = cost_name_check_part(name.parts[i].key, parts[i].key, sizeof parts[i].key, e);
    parts[i].platform = name.parts[i].platform;
  }
  qsort(parts, (size_t)name.part_count, sizeof *parts, by_key);
  size_t used = (size_t)snprintf(canonical, size, "%s", name.base);
  for (int i = 0; i < name.part_count && used < size; i++) used += (size_t)snprintf(canonical + used, size - used, ",%s=%s", parts[i].key, parts[i].platform);
  if (!code && used >= size)
    code = err_add(e, ERR_INPUT, "found %zu characters in all, allowed at most %zu: state the operations in fewer files", used, size - 1);
  cost_name_free(&name);
  return code;
}
