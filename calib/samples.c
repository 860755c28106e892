/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calib/samples.h"
#include "models/crypto/cost_line.h"

#include <stdlib.h>
#include <string.h>

#define NS_MAX 86400e9 /* a day, as in platform files */

enum { ALGORITHM, OPERATION, SIZE, NS, COLUMNS };

static const struct csv_column columns[COLUMNS] = {{"algorithm", true}, {"operation", true}, {"size_bytes", true}, {"ns", true}};

static void *grow(void *memory, size_t count, size_t size) {
  memory = reallocarray(memory, count, size);
  if (!memory) abort();
  return memory;
}

/* A decimal number above 0; strtod alone would take "inf", "0x10" and "1e3" too. */
static bool read_ns(const char *text, double *ns) {
  size_t digits = strspn(text, "0123456789"), decimals = 0;
  const char *rest = text + digits;
  if (*rest == '.') rest += 1 + (decimals = strspn(rest + 1, "0123456789"));
  if (!digits || *rest || (text[digits] == '.' && !decimals)) return false;
  *ns = strtod(text, NULL);
  return *ns > 0 && *ns <= NS_MAX;
}

static bool belongs(const struct samples_group *group, const char *const *cells) {
  return !strcasecmp(group->algorithm, cells[ALGORITHM]) && !strcmp(group->operation, cells[OPERATION]) && !strcmp(group->size_text, cells[SIZE]);
}

/* Names and size are good when a platform file with such a row would load; its sentences name this file and line. */
static void check_group(const struct samples *samples, struct samples_group *group, int at, const struct cost_sources *sources, struct err *e) {
  const char *cells[COST_LINE_COLUMNS] = {group->algorithm, group->operation, group->size_text, "1", "", "fitted", "own", "", "samples", "", ""};
  const struct csv_row row = {at, cells};
  int before = e->count;
  struct cost_line *line = cost_line_read(samples->csv, &row, "", sources, e);
  if (e->count == before) group->algorithm = line->algorithm;
  group->size_bytes = e->count == before ? line->size_bytes : -1;
  cost_line_free(line);
  for (const struct samples_group *other = samples->groups; other < group && e->count == before; other++)
    if (!strcmp(other->algorithm, group->algorithm) && !strcmp(other->operation, group->operation) && other->size_bytes == group->size_bytes)
      err_add(e, ERR_INPUT, "%s:%d: column size_bytes: found '%s', allowed: one spelling of a size in a file; further up it is '%s'", samples->csv->path, at,
          group->size_text, other->size_text);
}

/* The group of a row; lines of one operation mostly stand together, so the last one used is tried first. */
static struct samples_group *find_group(struct samples *samples, int *last, const struct csv_row *row, const struct cost_sources *sources, struct err *e) {
  if (samples->group_count && belongs(&samples->groups[*last], row->cells)) return &samples->groups[*last];
  for (*last = 0; *last < samples->group_count; ++*last)
    if (belongs(&samples->groups[*last], row->cells)) return &samples->groups[*last];
  samples->groups = grow(samples->groups, (size_t)samples->group_count + 1, sizeof *samples->groups);
  struct samples_group *group = &samples->groups[samples->group_count++];
  *group = (struct samples_group){.algorithm = row->cells[ALGORITHM], .operation = row->cells[OPERATION], .size_text = row->cells[SIZE]};
  check_group(samples, group, row->line, sources, e);
  return group;
}

static void add_sample(struct samples_group *group, double ns) {
  /* room doubles whenever the count reaches a power of two */
  if (!(group->count & (group->count - 1))) group->ns = grow(group->ns, group->count ? 2 * (size_t)group->count : 1, sizeof *group->ns);
  group->ns[group->count++] = ns;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int samples_read(const char *path, const struct cost_sources *sources, struct samples **out, struct err *e) {
  struct samples *samples = grow(NULL, 1, sizeof *samples);
  *samples = (struct samples){0};
  int before = e->count, last = 0;
  (void)!csv_read(path, columns, COLUMNS, &samples->csv, e); /* problems are counted in e; a table is read on for more */
  for (int i = 0; samples->csv && i < samples->csv->row_count; i++) {
    const struct csv_row *row = &samples->csv->rows[i];
    struct samples_group *group = find_group(samples, &last, row, sources, e);
    double ns;
    if (read_ns(row->cells[NS], &ns))
      add_sample(group, ns);
    else
      err_add(e, ERR_INPUT, "%s:%d: column ns: found '%s', allowed: a number above 0, at most 86400 s, such as 21392 or 98.5", path, row->line, row->cells[NS]);
  }
  if (e->count == before && !samples->group_count) err_add(e, ERR_INPUT, "%s: holds no samples: there is no line behind the one that names the columns", path);
  for (int g = 0; g < samples->group_count; g++)
    if (samples->groups[g].count) qsort(samples->groups[g].ns, (size_t)samples->groups[g].count, sizeof(double), ascending);
  if (e->count > before) {
    samples_free(samples);
    samples = NULL;
  }
  *out = samples;
  return e->count > before ? (int)e->code : 0;
}

void samples_free(struct samples *samples) {
  if (!samples) return;
  for (int g = 0; g < samples->group_count; g++) free(samples->groups[g].ns);
  free(samples->groups);
  csv_free(samples->csv);
  free(samples);
}
