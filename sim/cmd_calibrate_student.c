/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calibrate measure --student: the comparison of a student's study, on this machine. */
#include "sim/cmd_measure.h"

#include <math.h>
#include <string.h>

#define LENGTH(table) ((int)(sizeof table / sizeof table[0]))
#define PUBLISHED "student-rustcrypto"

enum { TEXT_BYTES = 32 }; /* as long as what RSA-OAEP encrypts here */

static const struct step {
  const char *scheme, *algorithm, *operation;
  int size_bytes; /* in the table of operations */
} steps[] = {
    {"RSA-2048", "RSA-2048", "keygen", 0},
    {"RSA-2048", "RSA-2048", "encrypt", 0},
    {"RSA-2048", "RSA-2048", "decrypt", 0},
    {"ML-KEM-768 + AES-256-GCM", "ML-KEM-768", "keygen", 0},
    {"ML-KEM-768 + AES-256-GCM", "ML-KEM-768", "encaps", 0},
    {"ML-KEM-768 + AES-256-GCM", "ML-KEM-768", "decaps", 0},
    {"ML-KEM-768 + AES-256-GCM", "AES-256-GCM", "set_key", 0},
    {"ML-KEM-768 + AES-256-GCM", "AES-256-GCM", "seal", 64},
    {"ML-KEM-768 + AES-256-GCM", "AES-256-GCM", "open", 64},
};
enum { STEPS = LENGTH(steps) };

static const struct listing_column columns[] = {
    {"scheme", "scheme", true},
    {"step", "step", true},
    {"here_ns", "here, mean (ns)", false},
    {"here_p5_ns", "p5", false},
    {"here_p95_ns", "p95", false},
    {"published_debug_build_ns", "published run, debug build (ns)", false},
    {"published_over_here", "times as long", false},
    {"verdict", "verdict", true},
};

/* The table's operations, with the text's length for AES-256-GCM. */
static void find_operations(struct operation *found, const struct operation **list) {
  int count;
  const struct operation *table = operation_table(&count);
  for (int s = 0; s < STEPS; s++)
    for (int i = 0; i < count; i++)
      if (!strcmp(table[i].algorithm, steps[s].algorithm) && !strcmp(table[i].operation, steps[s].operation) && table[i].size_bytes == steps[s].size_bytes) {
        found[s] = table[i];
        if (found[s].size_bytes) found[s].size_bytes = TEXT_BYTES;
        list[s] = &found[s];
      }
}

static double published_ns(const struct cost_platform *published, const struct step *step) {
  const struct cost_row *row = cost_find(published, step->algorithm, step->operation);
  return row ? (double)cost_median(row, TEXT_BYTES) : NAN;
}

static void print_line(
    struct listing *listing, const char *scheme, const char *step, double here, double p5, double p95, double published, const char *verdict) {
  listing_text(listing, scheme);
  listing_text(listing, step);
  listing_number(listing, round(here));
  listing_number(listing, round(p5));
  listing_number(listing, round(p95));
  listing_number(listing, round(published));
  listing_number(listing, isfinite(here) ? round(published / here * 100) / 100 : NAN);
  listing_text(listing, verdict);
}

/* Means, since these add up; NAN where a step is missing. */
static void print_table(const struct session *session, const struct cost_platform *published, bool json) {
  struct listing listing;
  double here = 0, there = 0;
  listing_begin(&listing, columns, LENGTH(columns), json);
  for (int s = 0; s < STEPS; s++) {
    bool has = session_has(session, s);
    char verdict[64] = "missing", step[64];
    struct measure_summary summary = {.p5 = NAN, .p95 = NAN};
    double mean = has ? measure_row_mean(&session->rows[s]) : NAN, stated = published_ns(published, &steps[s]);
    if (has) measure_summarise(session->sorted[s], session->measures[s].n, &summary);
    if (has) measure_verdict(session->faults[s], verdict);
    snprintf(step, sizeof step, "%s %s", steps[s].algorithm, steps[s].operation);
    print_line(&listing, steps[s].scheme, step, mean, summary.p5, summary.p95, stated, verdict);
    here += mean;
    there += stated;
    if (s + 1 == STEPS || strcmp(steps[s].scheme, steps[s + 1].scheme)) {
      print_line(&listing, steps[s].scheme, "total", here, NAN, NAN, there, isfinite(here) ? "" : "incomplete");
      here = there = 0;
    }
  }
  listing_end(&listing);
  if (json) putchar('\n');
}

static double total(const struct session *session, const char *scheme, bool with_keygen) {
  double sum = 0;
  for (int s = 0; s < STEPS; s++)
    if (!strcmp(steps[s].scheme, scheme) && (with_keygen || strcmp(steps[s].operation, "keygen")))
      sum += session_has(session, s) ? measure_row_mean(&session->rows[s]) : NAN;
  return sum;
}

static double published_total(const struct cost_platform *published, const char *scheme, bool with_keygen) {
  double sum = 0;
  for (int s = 0; s < STEPS; s++)
    if (!strcmp(steps[s].scheme, scheme) && (with_keygen || strcmp(steps[s].operation, "keygen"))) sum += published_ns(published, &steps[s]);
  return sum;
}

static void print_ratio(const char *what, double here, double published) {
  if (isfinite(here))
    printf("  %s: %.3g here, %.3g in the published run\n", what, here, published);
  else
    printf("  %s: not known here, %.3g in the published run\n", what, published);
}

static void print_remarks(const struct session *session, const struct cost_platform *published) {
  const char *rsa = steps[0].scheme, *kem = steps[STEPS - 1].scheme;
  printf("\nRSA-2048 takes so many times as long as ML-KEM-768 + AES-256-GCM:\n");
  print_ratio("with key generation", total(session, rsa, true) / total(session, kem, true),
      published_total(published, rsa, true) / published_total(published, kem, true));
  print_ratio(
      "without", total(session, rsa, false) / total(session, kem, false), published_total(published, rsa, false) / published_total(published, kem, false));
  printf(
      "\nHow to read it:\n"
      "  The published run (platform " PUBLISHED ", pqnetsim list sources) is most likely a build without optimisation and a single run: one key\n"
      "  generation of RSA is one draw of a widely spread time (p5 and p95), and its ratios are not those of optimised code.\n"
      "  Encrypting a text with RSA is not like for like with a KEM and an AEAD: RSA takes %d B here (OAEP, at most 190), the KEM makes a key for a text of\n"
      "  any length. Here both encrypt %d B; the published run does not say how long its text was.\n"
      "  encaps and decaps have their key imported; a protocol's peer pays encaps_full (calibrate measure -o).\n",
      TEXT_BYTES, TEXT_BYTES);
}

void student_run(const struct cmd_line *line, struct err *e) {
  struct operation found[STEPS];
  const struct operation *list[STEPS];
  struct cost_platform *published = NULL;
  static const char *const alone[] = {"output", "ops", "base", "raw", "title", "keep"};
  for (int i = 0; i < LENGTH(alone); i++)
    if (cmd_given(line, alone[i])) err_add(e, ERR_INPUT, "--%s: has no use with --student, which measures its own operations and writes no file", alone[i]);
  if (e->count || cost_load(PUBLISHED, NULL, &published, e)) return;
  find_operations(found, list);
  struct session session;
  if (!session_run(&session, list, STEPS, line, e)) {
    session_tell_missing(&session, NULL);
    session_tell_faults(&session, "");
    print_table(&session, published, cmd_given(line, "json"));
    if (!cmd_given(line, "json")) print_remarks(&session, published);
  }
  session_free(&session);
  cost_free(published);
}
