/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calib/score.h"
#include "sim/core/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GROUP_MIN = 3, SWEEP_MIN = 4 };

static void *allocate(size_t count, size_t size) {
  void *memory = calloc(count ? count : 1, size);
  if (!memory) abort();
  return memory;
}

double score_error(const struct validate_row *row) { return row->published != 0 ? (row->simulated - row->published) / fabs(row->published) : NAN; }

double score_error_beyond(const struct validate_row *row) {
  double rest = row->published - row->given;
  return row->given > 0 && rest != 0 ? (row->simulated - row->published) / fabs(rest) : NAN;
}

bool score_is_count(const struct validate_row *row) {
  bool whole = row->published == floor(row->published);
  return whole && (!strcmp(row->unit, "B") || !strcmp(row->unit, "1"));
}

bool score_is_tolerated(const struct validate_row *row) { return fabs(row->simulated - row->published) <= row->tolerance; }

bool score_is_miss(const struct validate_row *row) { return score_is_count(row) ? !score_is_tolerated(row) : !(fabs(score_error(row)) <= SCORE_NEAR); }

double score_quantile(const double *ascending, int n, double p) {
  if (n < 1) return NAN;
  double position = p * (n - 1);
  int below = (int)position;
  if (below >= n - 1) return ascending[n - 1];
  return ascending[below] + (position - below) * (ascending[below + 1] - ascending[below]);
}

/* --- ranks and knees --- */

/* Twice the mean rank, so that it stays whole. */
static double rank_of(const double *values, int n, int i) {
  int below = 0, equal = 0;
  for (int k = 0; k < n; k++) {
    below += values[k] < values[i];
    equal += values[k] == values[i];
  }
  return 2 * below + equal + 1;
}

double score_rank_correlation(const double *x, const double *y, int n) {
  double xx = 0, yy = 0, xy = 0, mean = n + 1;
  for (int i = 0; i < n; i++) {
    double a = rank_of(x, n, i) - mean, b = rank_of(y, n, i) - mean;
    xx += a * a;
    yy += b * b;
    xy += a * b;
  }
  return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : NAN;
}

int score_knee(const double *x, const double *y, int n) {
  int knee = -1;
  double most = -1;
  for (int i = 1; i + 1 < n; i++) {
    double change = fabs((y[i + 1] - y[i]) / (x[i + 1] - x[i]) - (y[i] - y[i - 1]) / (x[i] - x[i - 1]));
    if (change > most) {
      most = change;
      knee = i;
    }
  }
  return knee;
}

/* --- rows that belong together --- */

static bool ends_in(const char *text, const char *end) {
  size_t length = strlen(text), tail = strlen(end);
  return length >= tail && !strcmp(text + length - tail, end);
}

static bool is_algorithm(const char *key) { return ends_in(key, ".kex") || ends_in(key, ".auth") || ends_in(key, ".cert"); }

/* Whether two lists of settings agree in every key but the free ones: those of algorithms, or `key` alone. */
static bool agree(const struct validate_settings *a, const struct validate_settings *b, const char *key) {
  if (a->count != b->count) return false;
  for (int i = 0; i < a->count; i++) {
    if (strcmp(a->items[i].key, b->items[i].key)) return false;
    bool is_free = key ? !strcmp(a->items[i].key, key) : is_algorithm(a->items[i].key);
    if (!is_free && strcmp(a->items[i].value, b->items[i].value)) return false;
  }
  return true;
}

static bool comparable(const struct validate_row *a, const struct validate_row *b, const char *key) {
  return !strcmp(a->scenario, b->scenario) && !strcmp(a->metric, b->metric) && !strcmp(a->stat, b->stat) && !strcmp(a->unit, b->unit) &&
         agree(&a->settings, &b->settings, key) && a->has_minus == b->has_minus && agree(&a->minus, &b->minus, key);
}

/* The number a key has, in its base unit. */
static bool number_of(const struct validate_row *row, const char *key, double *out) {
  static const enum unit units[] = {UNIT_COUNT, UNIT_TIME, UNIT_RATE, UNIT_SIZE, UNIT_SHARE};
  for (int i = 0; i < row->settings.count; i++) {
    if (strcmp(row->settings.items[i].key, key)) continue;
    for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
      struct err ignored = {0};
      int64_t value;
      int status = units_parse(units[u], row->settings.items[i].value, &value, &ignored);
      err_free(&ignored);
      if (status) continue;
      *out = (double)value;
      return true;
    }
  }
  return false;
}

struct point {
  double x, published, simulated;
};

static int by_x(const void *a, const void *b) {
  const struct point *p = a, *q = b;
  return (p->x > q->x) - (p->x < q->x);
}

/* The members of a group, from its first row on; they are marked as used. */
static int take_group(const struct validate_row *const *rows, int count, int first, const char *key, bool *used, struct point *points) {
  int n = 0;
  for (int i = first; i < count; i++) {
    double x = 0;
    if (used[i] || !comparable(rows[first], rows[i], key) || (key && !number_of(rows[i], key, &x))) continue;
    used[i] = true;
    points[n++] = (struct point){x, rows[i]->published, rows[i]->simulated};
  }
  return n;
}

static void columns_of(const struct point *points, int n, double *x, double *published, double *simulated) {
  for (int i = 0; i < n; i++) {
    x[i] = points[i].x;
    published[i] = points[i].published;
    simulated[i] = points[i].simulated;
  }
}

/* Scratch of one scoring. */
struct scratch {
  bool *used;
  struct point *points;
  double *x, *published, *simulated;
};

static void score_algorithms(const struct validate_row *const *rows, int count, struct scratch *s, struct score *out) {
  double sum = 0;
  memset(s->used, 0, (size_t)count * sizeof *s->used);
  for (int i = 0; i < count; i++) {
    if (s->used[i] || score_is_count(rows[i])) continue;
    int n = take_group(rows, count, i, NULL, s->used, s->points);
    columns_of(s->points, n, s->x, s->published, s->simulated);
    double rank = n < GROUP_MIN ? NAN : score_rank_correlation(s->published, s->simulated, n);
    if (isnan(rank)) continue;
    sum += rank;
    out->groups++;
  }
  out->rank = out->groups ? sum / out->groups : NAN;
}

static void score_sweeps_over(const char *key, const struct validate_row *const *rows, int count, struct scratch *s, struct score *out) {
  memset(s->used, 0, (size_t)count * sizeof *s->used);
  for (int i = 0; i < count; i++) {
    double x;
    if (s->used[i] || score_is_count(rows[i]) || !number_of(rows[i], key, &x)) continue;
    int n = take_group(rows, count, i, key, s->used, s->points);
    if (n < SWEEP_MIN) continue;
    qsort(s->points, (size_t)n, sizeof *s->points, by_x);
    columns_of(s->points, n, s->x, s->published, s->simulated);
    bool distinct = true;
    for (int k = 1; k < n; k++) distinct &= s->x[k] > s->x[k - 1];
    if (!distinct) continue;
    out->sweeps++;
    out->knees_met += score_knee(s->x, s->published, n) == score_knee(s->x, s->simulated, n);
  }
}

/* Every key of every row, once. */
static void score_sweeps(const struct validate_row *const *rows, int count, struct scratch *s, struct score *out) {
  int seen_count = 0, most = 0;
  for (int i = 0; i < count; i++) most += rows[i]->settings.count;
  const char **seen = allocate((size_t)most, sizeof *seen);
  for (int i = 0; i < count; i++) {
    for (int k = 0; k < rows[i]->settings.count; k++) {
      const char *key = rows[i]->settings.items[k].key;
      int at = 0;
      while (at < seen_count && strcmp(seen[at], key)) at++;
      if (at < seen_count || is_algorithm(key)) continue;
      seen[seen_count++] = key;
      score_sweeps_over(key, rows, count, s, out);
    }
  }
  free(seen);
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void score_errors(const struct validate_row *const *rows, int count, struct scratch *s, struct score *out) {
  for (int i = 0; i < count; i++) {
    double error = fabs(score_error(rows[i])), beyond = fabs(score_error_beyond(rows[i]));
    if (score_is_count(rows[i])) {
      out->counts++;
      out->right += !score_is_miss(rows[i]);
    } else if (!isnan(error)) {
      out->near_count += error <= SCORE_NEAR;
      s->x[out->reals++] = error;
      if (!isnan(beyond)) s->published[out->beyond++] = beyond;
    }
  }
  qsort(s->x, (size_t)out->reals, sizeof *s->x, ascending);
  qsort(s->published, (size_t)out->beyond, sizeof *s->published, ascending);
  out->median = score_quantile(s->x, out->reals, 0.5);
  out->p95 = score_quantile(s->x, out->reals, 0.95);
  out->median_beyond = score_quantile(s->published, out->beyond, 0.5);
}

void score_rows(const struct validate_row *const *rows, int count, struct score *out) {
  size_t n = (size_t)count;
  struct scratch s = {
      allocate(n, sizeof *s.used), allocate(n, sizeof *s.points), allocate(n, sizeof *s.x), allocate(n, sizeof *s.published), allocate(n, sizeof *s.simulated)};
  *out = (struct score){.rows = count};
  score_errors(rows, count, &s, out);
  score_algorithms(rows, count, &s, out);
  score_sweeps(rows, count, &s, out);
  free(s.used);
  free(s.points);
  free(s.x);
  free(s.published);
  free(s.simulated);
}
