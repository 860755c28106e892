/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/cmd_measure.h"

#include <stdlib.h>
#include <string.h>

enum { SECONDS = 5 };

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

bool session_has(const struct session *session, int index) { return session->measures[index].state == OPERATION_READY; }

static int pin(struct session *session, const struct cmd_line *line, struct err *e) {
  char text[CLOCK_TEXT];
  bool refused;
  session->core = clock_pin((int)cmd_whole(line, "core", -1), &refused, text);
  if (session->core >= 0) return 0;
  if (refused) return err_add(e, ERR_INPUT, "--core: %s", text);
  fprintf(stderr, "pqnetsim: warning: cannot stay on %s; measuring goes on, and moves between cores will widen the figures\n", text);
  return 0;
}

/* Wrong results are errors, all of which are told. */
static int wrong_results(const struct session *session, struct err *e) {
  int before = e->count;
  for (int i = 0; i < session->count; i++)
    if (session->measures[i].state == OPERATION_WRONG) err_add(e, ERR_SYSTEM, "%s: %s; nothing is written", operation_library(), session->measures[i].reason);
  return e->count > before ? (int)e->code : 0;
}

static struct measure_evidence evidence_of(const struct measure *measure) {
  double lost = measure->wall_ns > 0 ? 1 - measure->cpu_ns / measure->wall_ns : 0;
  return (struct measure_evidence){measure->ns, measure->n, measure->operation->random, measure->clock_deviated, measure->interruptions, lost};
}

static void judge(struct session *session) {
  char text[MEASURE_TEXT];
  for (int i = 0; i < session->count; i++) {
    const struct measure *measure = &session->measures[i];
    if (!session_has(session, i)) continue;
    const struct measure_evidence evidence = evidence_of(measure);
    session->faults[i] = measure_judge(&evidence, text);
    session->sorted[i] = calloc((size_t)measure->n, sizeof(double));
    if (!session->sorted[i]) abort();
    memcpy(session->sorted[i], measure->ns, (size_t)measure->n * sizeof(double));
    qsort(session->sorted[i], (size_t)measure->n, sizeof(double), by_value);
    measure_make_row(session->sorted[i], measure->n, measure->operation->random, &session->rows[i]);
  }
}

static void *list(int count, size_t size) {
  void *memory = calloc((size_t)count + 1, size);
  if (!memory) abort();
  return memory;
}

int session_run(struct session *session, const struct operation *const *operations, int count, const struct cmd_line *line, struct err *e) {
  struct progress progress;
  *session = (struct session){.count = count};
  session->measures = list(count, sizeof *session->measures);
  session->sorted = list(count, sizeof *session->sorted);
  session->faults = list(count, sizeof *session->faults);
  session->rows = list(count, sizeof *session->rows);
  int status = pin(session, line, e);
  if (status) return status;
  clock_open(&session->clock);
  progress_begin(&progress, "steps", (int64_t)count * (1 + MEASURE_PASSES), 0);
  for (int i = 0; i < count; i++) {
    measure_open(&session->measures[i], operations[i], (int)cmd_whole(line, "samples", 0), (double)cmd_whole(line, "seconds", SECONDS));
    progress_show(&progress, i + 1);
  }
  status = wrong_results(session, e);
  for (int pass = 0; pass < MEASURE_PASSES && !status; pass++)
    for (int i = 0; i < count; i++) {
      if (session_has(session, i)) measure_pass(&session->measures[i], &session->clock, pass);
      progress_show(&progress, (int64_t)count * (1 + pass) + i + 1);
    }
  progress_end(&progress);
  if (!status) status = wrong_results(session, e);
  if (!status) judge(session);
  return status;
}

void session_free(struct session *session) {
  for (int i = 0; i < session->count; i++) {
    measure_close(&session->measures[i]);
    free(session->sorted[i]);
  }
  free(session->measures);
  free(session->sorted);
  free(session->faults);
  free(session->rows);
}

/* One line for the missing operations of an algorithm, which stand together from `first` on. Returns how many there are. */
static int tell_algorithm(const struct session *session, int first, const struct cost_platform *base) {
  const struct operation *operation = session->measures[first].operation;
  int count = 0, stated = 0;
  fprintf(stderr, "pqnetsim: not measured: %s", operation->algorithm);
  for (int i = first; i < session->count && !strcmp(session->measures[i].operation->algorithm, operation->algorithm); i++) {
    const struct operation *other = session->measures[i].operation;
    if (i == first || strcmp(other->operation, session->measures[i - 1].operation->operation)) fprintf(stderr, " %s", other->operation);
    stated += base && cost_find(base, other->algorithm, other->operation);
    count++;
  }
  fprintf(stderr, ": %s", session->measures[first].reason);
  if (base) fprintf(stderr, "; the base %s states %s of them", cost_platform_name(base), stated == count ? "all" : stated ? "some" : "none");
  fputc('\n', stderr);
  return count;
}

void session_tell_missing(const struct session *session, const struct cost_platform *base) {
  bool told = false;
  for (int i = 0; i < session->count;) {
    if (session->measures[i].state != OPERATION_MISSING) {
      i++;
      continue;
    }
    i += tell_algorithm(session, i, base);
    told = true;
  }
  if (told && !base)
    fputs(
        "pqnetsim: what to use instead: --base NAME takes what is not measured from a shipped platform, with its source (pqnetsim list platforms); or measure "
        "with OpenSSL 3.5, as Debian 13 has it\n",
        stderr);
}

int session_tell_faults(const struct session *session, const char *end) {
  int count = 0;
  char text[MEASURE_TEXT];
  for (int i = 0; i < session->count; i++) {
    const struct measure *measure = &session->measures[i];
    if (!session_has(session, i) || !session->faults[i]) continue;
    const struct measure_evidence evidence = evidence_of(measure);
    measure_judge(&evidence, text);
    fprintf(stderr, "pqnetsim: warning: %s %s, %d B: %s%s\n", measure->operation->algorithm, measure->operation->operation, measure->operation->size_bytes,
        text, end);
    count++;
  }
  return count;
}
