/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calibrate measure: a platform file from this machine. */
#include "calib/host.h"
#include "sim/cmd_measure.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <libgen.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LENGTH(table) ((int)(sizeof table / sizeof table[0]))

/* ---- which operations */

/* "X25519", "X25519/derive?", "AES-128-GCM/seal/64". */
static bool matches(const char *pattern, const struct operation *operation) {
  char name[64], sized[80];
  snprintf(name, sizeof name, "%s/%s", operation->algorithm, operation->operation);
  snprintf(sized, sizeof sized, "%s/%d", name, operation->size_bytes);
  return !fnmatch(pattern, operation->algorithm, FNM_CASEFOLD) || !fnmatch(pattern, name, FNM_CASEFOLD) || !fnmatch(pattern, sized, FNM_CASEFOLD);
}

static void refuse_pattern(const char *pattern, const struct operation *table, int count, struct err *e) {
  const char *names[64];
  int used = 0;
  char algorithm[64];
  for (int i = 0; i < count && used < LENGTH(names); i++)
    if (i == 0 || strcmp(table[i].algorithm, table[i - 1].algorithm)) names[used++] = table[i].algorithm;
  snprintf(algorithm, sizeof algorithm, "%.*s", (int)strcspn(pattern, "/"), pattern);
  err_add(e, ERR_INPUT,
      "--ops: found '%s', which is no operation of the table; allowed ALGORITHM, ALGORITHM/OPERATION or ALGORITHM/OPERATION/BYTES, with * for "
      "anything, as in 'X25519/derive*'%s",
      pattern, cmd_suggestion(algorithm, names, used));
}

/* Marks the operations chosen; NULL: all of them. */
static int choose(const char *patterns, const struct operation *table, int count, bool *chosen, struct err *e) {
  char *text = strdup(patterns ? patterns : "*"), *rest = text;
  int before = e->count;
  if (!text) abort();
  for (char *pattern = strsep(&rest, ","); pattern; pattern = strsep(&rest, ",")) {
    bool found = false;
    for (int i = 0; i < count; i++)
      if (matches(pattern, &table[i])) found = chosen[i] = true;
    if (!found) refuse_pattern(pattern, table, count, e);
  }
  free(text);
  return e->count > before ? (int)e->code : 0;
}

/* ---- files */

/* What a long measurement would be lost for is found before it. */
static int check_target(const char *path, struct err *e) {
  char *copy = strdup(path);
  if (!copy) abort();
  const char *folder = dirname(copy);
  int status = 0;
  if (!access(path, F_OK))
    status = err_add(e, ERR_INPUT, "%s: is there already, and calibrate replaces nothing: choose another name, or remove it", path);
  else if (access(folder, W_OK | X_OK))
    status = err_add(e, ERR_INPUT, "%s: cannot be written: %s: %s", path, folder, strerror(errno));
  free(copy);
  return status;
}

struct request {
  const char *to, *raw, *title, *base;
  bool keep;
};

static void write_head(const struct session *session, const struct request *request, FILE *to) {
  struct host host;
  char clock[64], core[32] = "not bound to a core";
  host_describe(&host);
  clock_describe(&session->clock, clock);
  if (session->core >= 0) snprintf(core, sizeof core, "on core %d", session->core);
  fprintf(to, "# title: %s\n", request->title ? request->title : host.cpu);
  if (request->base) fprintf(to, "# base: %s\n", request->base);
  fprintf(to, "# cpu: %s\n# date: %s\n", host.cpu, host.date);
  fprintf(to, "# note: %s, %s; pqnetsim " PQNETSIM_VERSION " calibrate measure, %s, %s, %.3g ns of overhead subtracted\n", operation_library(), host.kernel,
      clock, core, session->clock.overhead_ns);
  fputs("algorithm,operation,size_bytes,quantiles_ns,energy_nj,kind,source,family,note\n", to);
}

static void write_note(const struct session *session, int i, FILE *to) {
  const struct measure *measure = &session->measures[i];
  const char *provider = operation_provider(measure->work);
  char verdict[64];
  double mean, sd;
  fit_moments(session->sorted[i], measure->n, &mean, &sd);
  measure_verdict(session->faults[i], verdict);
  fputc('"', to);
  if (session->faults[i]) fprintf(to, "BAD MEASUREMENT (%s); ", verdict);
  fprintf(to, "mean %.0f sd %.0f n %d", mean, sd, measure->n);
  if (measure->batch > 1) fprintf(to, " (batches of %d)", measure->batch);
  fprintf(to, "; %s", measure->operation->what);
  if (strcmp(provider, "default")) fprintf(to, "; by the provider %s", provider);
  fputc('"', to);
}

static void write_row(const struct session *session, int i, FILE *to) {
  const struct operation *operation = session->measures[i].operation;
  const struct measure_row *row = &session->rows[i];
  fprintf(to, "%s,%s,%d,", operation->algorithm, operation->operation, operation->size_bytes);
  for (int k = 0; k < row->count; k++) fprintf(to, "%s%g:%" PRId64, k ? " " : "", row->p[k], row->ns[k]);
  fprintf(to, ",,measured,own,quantiles to %s,", operation->random ? "p99" : "p95");
  write_note(session, i, to);
  fputc('\n', to);
}

static bool is_written(const struct session *session, int i, const struct request *request) {
  return session_has(session, i) && (!session->faults[i] || request->keep);
}

/* What a file is written from. */
struct result {
  const struct session *session;
  const struct request *request;
};

static void write_platform(const void *arg, FILE *to) {
  const struct result *result = arg;
  const struct session *session = result->session;
  const struct request *request = result->request;
  write_head(session, request, to);
  for (int i = 0; i < session->count; i++)
    if (is_written(session, i, request)) write_row(session, i, to);
}

/* All samples, those of bad measurements too: the file is there to look into them. */
static void write_samples(const void *arg, FILE *to) {
  const struct session *session = ((const struct result *)arg)->session;
  fputs("algorithm,operation,size_bytes,ns\n", to);
  for (int i = 0; i < session->count; i++) {
    const struct measure *measure = &session->measures[i];
    for (int k = 0; session_has(session, i) && k < measure->n; k++)
      fprintf(to, "%s,%s,%d,%.1f\n", measure->operation->algorithm, measure->operation->operation, measure->operation->size_bytes, measure->ns[k]);
  }
}

/* Files are there as a whole or not at all: an interruption waits until they are. */
static int save_all(const struct session *session, const struct request *request, struct err *e) {
  sigset_t stops, before;
  sigemptyset(&stops);
  sigaddset(&stops, SIGINT);
  sigaddset(&stops, SIGTERM);
  sigaddset(&stops, SIGHUP);
  sigprocmask(SIG_BLOCK, &stops, &before);
  const struct result result = {session, request};
  int written = 0, status = 0;
  for (int i = 0; i < session->count; i++) written += is_written(session, i, request);
  if (request->raw) status = platform_file_write(request->raw, write_samples, &result, e);
  if (!status && written) status = platform_file_save(request->to, write_platform, &result, e);
  if (!status && !written) fprintf(stderr, "pqnetsim: warning: %s is not written: no measurement is good enough for it\n", request->to);
  sigprocmask(SIG_SETMASK, &before, NULL);
  return status;
}

/* ---- what is printed */

static const struct listing_column measure_columns[] = {
    {"algorithm", "algorithm", true},
    {"operation", "operation", true},
    {"size_bytes", "size (B)", false},
    {"n", "n", false},
    {"batch", "batch", false},
    {"mean_ns", "mean (ns)", false},
    {"sd_ns", "sd", false},
    {"min_ns", "min", false},
    {"p5_ns", "p5", false},
    {"p25_ns", "p25", false},
    {"median_ns", "median", false},
    {"p75_ns", "p75", false},
    {"p95_ns", "p95", false},
    {"p99_ns", "p99", false},
    {"max_ns", "max", false},
    {"verdict", "verdict", true},
};

static void print_measured(const struct session *session, int i, struct listing *listing) {
  const struct measure *measure = &session->measures[i];
  struct measure_summary s;
  char verdict[64];
  measure_summarise(session->sorted[i], measure->n, &s);
  measure_verdict(session->faults[i], verdict);
  const double values[] = {s.mean, s.sd, s.min, s.p5, s.p25, s.p50, s.p75, s.p95, s.p99, s.max};
  listing_number(listing, measure->n);
  listing_number(listing, measure->batch);
  for (int k = 0; k < LENGTH(values); k++) listing_number(listing, round(values[k]));
  listing_text(listing, verdict);
}

/* The table has what was measured, JSON also a line for what is missing. */
static void print_session(const struct session *session, bool json) {
  struct listing listing;
  listing_begin(&listing, measure_columns, LENGTH(measure_columns), json);
  for (int i = 0; i < session->count; i++) {
    const struct operation *operation = session->measures[i].operation;
    if (!session_has(session, i) && !json) continue;
    listing_text(&listing, operation->algorithm);
    listing_text(&listing, operation->operation);
    listing_number(&listing, operation->size_bytes);
    if (session_has(session, i)) {
      print_measured(session, i, &listing);
      continue;
    }
    for (int k = 0; k < 12; k++) listing_number(&listing, NAN);
    listing_text(&listing, "missing");
  }
  listing_end(&listing);
  if (json) putchar('\n');
}

/* ---- the command */

static int measured_count(const struct session *session) {
  int count = 0;
  for (int i = 0; i < session->count; i++) count += session_has(session, i);
  return count;
}

/* Returns the number of bad measurements. */
static int report(const struct session *session, const struct request *request, const struct cost_platform *base, bool json, struct err *e) {
  session_tell_missing(session, base);
  if (!measured_count(session)) {
    err_add(e, ERR_INPUT, "%s can do none of the operations asked for: nothing is measured, and nothing written", operation_library());
    return 0;
  }
  int bad = session_tell_faults(session, request->keep ? "; written all the same, and marked in its note" : "; left out, --keep would write it");
  if (bad && !request->keep)
    fprintf(stderr,
        "pqnetsim: what is left out of %s is answered by %s an operation's other sizes; where there is neither, a scenario that needs it does not run\n",
        request->to, request->base ? "the base or by" : "a base (--base) or by");
  if (!save_all(session, request, e)) print_session(session, json);
  return bad;
}

/* All that is wrong is told. base: loaded if there is one. */
static int check_request(const struct request *request, struct cost_platform **base, struct err *e) {
  int before = e->count;
  (void)!check_target(request->to, e);
  if (request->raw) (void)!check_target(request->raw, e);
  if (request->base) (void)!cost_load(request->base, NULL, base, e);
  if (request->title && (!*request->title || strpbrk(request->title, "\r\n")))
    err_add(e, ERR_INPUT, "--title: found '%s', allowed a text of one line", request->title);
  return e->count > before ? (int)e->code : 0;
}

static int measure(const struct cmd_line *line, const struct request *request, struct err *e) {
  int count, used = 0, bad = 0;
  const struct operation *table = operation_table(&count);
  bool *chosen = calloc((size_t)count, sizeof *chosen);
  const struct operation **operations = calloc((size_t)count, sizeof *operations);
  struct cost_platform *base = NULL;
  if (!chosen || !operations) abort();
  int status = choose(cmd_text(line, "ops", NULL), table, count, chosen, e);
  for (int i = 0; i < count; i++)
    if (chosen[i]) operations[used++] = &table[i];
  int failed = check_request(request, &base, e);
  status = status ? status : failed;
  if (!status) {
    struct session session;
    status = session_run(&session, operations, used, line, e);
    if (!status) bad = report(&session, request, base, cmd_given(line, "json"), e);
    session_free(&session);
  }
  cost_free(base);
  free(operations);
  free(chosen);
  return bad;
}

static int run(const struct cmd_line *line, struct err *e) {
  const struct request request = {
      cmd_text(line, "output", NULL), cmd_text(line, "raw", NULL), cmd_text(line, "title", NULL), cmd_text(line, "base", NULL), cmd_given(line, "keep")};
  if (cmd_given(line, "student")) {
    student_run(line, e);
    return 0;
  }
  if (!request.to) {
    err_add(e, ERR_INPUT, "calibrate measure: -o FILE.csv is missing: where the platform goes");
    return 0;
  }
  return measure(line, &request, e) ? 1 : 0;
}

static const struct cmd_option option_ops = {
    "ops", 0, CMD_TEXT, "PATTERN,...", "Only these operations: ALGORITHM, ALGORITHM/OPERATION or ALGORITHM/OPERATION/BYTES, * for anything", NULL, 0, 0};
static const struct cmd_option option_samples = {
    "samples", 0, CMD_WHOLE, "N", "Samples of each operation (default: 5000, fewer of slow ones)", NULL, 1, 10000000};
static const struct cmd_option option_seconds = {
    "seconds", 0, CMD_WHOLE, "S", "Time for each operation, after which 30 samples are enough (default: 5)", NULL, 1, 86400};
static const struct cmd_option option_core = {"core", 0, CMD_WHOLE, "N", "The core to stay on (default: the one it is started on)", NULL, 0, 4095};
static const struct cmd_option option_title = {"title", 0, CMD_TEXT, "TEXT", "What list platforms calls it (default: the processor)", NULL, 0, 0};
static const struct cmd_option option_base = {"base", 0, CMD_TEXT, "NAME", "The platform that states what is not measured", NULL, 0, 0};
static const struct cmd_option option_raw = {"raw", 0, CMD_TEXT, "SAMPLES.csv", "Write all samples, for calibrate fit", NULL, 0, 0};
static const struct cmd_option option_keep = {"keep", 0, CMD_FLAG, NULL, "Write bad measurements too, marked as such", NULL, 0, 0};
static const struct cmd_option option_student = {
    "student", 0, CMD_FLAG, NULL, "Compare RSA-2048 with ML-KEM-768 and AES-256-GCM, beside a published run; writes no file", NULL, 0, 0};
static const struct cmd_option *const options[] = {&cmd_option_output, &option_ops, &option_samples, &option_seconds, &option_core, &option_base, &option_title,
    &option_raw, &option_keep, &option_student, &cmd_option_json, NULL};

const struct cmd cmd_calibrate_measure = {"calibrate measure", "", 0, 0, "Make a platform file of this machine: times its OpenSSL.",
    "  pqnetsim calibrate measure -o mine.csv --base epyc-zen5\n"
    "  pqnetsim calibrate measure -o mine.csv --ops 'X25519,ECDSA-P256,AES-256-GCM/*/1350' --samples 2000 --raw samples.csv\n"
    "  pqnetsim calibrate measure --student\n\n"
    "A bad measurement (too few samples, a clock that jumps, a processor that throttles, too many interruptions) is told, left out, and makes the\n"
    "exit status 1.",
    options, run};
