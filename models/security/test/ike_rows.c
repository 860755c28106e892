/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/security/test/ike_rows.h"

#include <stdlib.h>
#include <string.h>

static const char path[] = "calib/data/measured/ike/ike_truth.csv";

/* Columns in the order of the file; the note behind them may hold commas and is not read. */
enum {
  SECTION,
  IKE,
  KEX,
  AUTH,
  CHAIN,
  CHILDLESS,
  FRAGMENT,
  RTT,
  LOSS,
  N,
  FAILS,
  EXCHANGE,
  ID,
  DIRECTION,
  MESSAGES,
  PAYLOAD,
  PACKETS,
  BYTES,
  LARGEST,
  RETRANSMITS,
  MIN,
  P25,
  P50,
  MEAN,
  P75,
  P95,
  MAX,
  FIELDS
};

FILE *ike_rows_open(void) {
  FILE *file = fopen(path, "r");
  char line[512] = "#";
  while (file && *line == '#')
    if (!fgets(line, sizeof line, file)) break;
  if (!file || strncmp(line, "section,ike,kex,", 16) != 0) {
    fprintf(stderr, "%s: cannot be read, or its first columns are not section, ike, kex\n", path);
    abort();
  }
  return file;
}

static double number(const char *field) { return *field ? atof(field) : -1; }

static void parse(char *const *field, struct ike_row *row) {
  const struct {
    char *to;
    size_t size;
    int from;
  } texts[] = {{row->section, sizeof row->section, SECTION}, {row->ike, sizeof row->ike, IKE}, {row->kex, sizeof row->kex, KEX},
      {row->auth, sizeof row->auth, AUTH}, {row->chain, sizeof row->chain, CHAIN}, {row->childless, sizeof row->childless, CHILDLESS},
      {row->fragment, sizeof row->fragment, FRAGMENT}, {row->exchange, sizeof row->exchange, EXCHANGE}, {row->direction, sizeof row->direction, DIRECTION}};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) snprintf(texts[i].to, texts[i].size, "%s", field[texts[i].from]);
  int *const wholes[] = {&row->messages, &row->payload, &row->packets, &row->bytes, &row->largest};
  for (int i = 0; i < 5; i++) *wholes[i] = (int)number(field[MESSAGES + i]);
  double *const times[] = {&row->min, &row->p25, &row->p50, &row->mean, &row->p75, &row->p95, &row->max};
  for (int i = 0; i < 7; i++) *times[i] = number(field[MIN + i]);
  row->rtt_ms = number(field[RTT]);
  row->loss = number(field[LOSS]);
  row->n = (int)number(field[N]);
  row->id = (int)number(field[ID]);
}

bool ike_rows_next(FILE *file, struct ike_row *row) {
  char line[1024], *field[FIELDS];
  if (!fgets(line, sizeof line, file)) return false;
  char *next = line;
  for (int i = 0; i < FIELDS; i++) {
    field[i] = next;
    next = strchr(next, ',');
    if (!next) {
      fprintf(stderr, "%s: a row has fewer than %d columns: %s\n", path, FIELDS + 1, line);
      abort();
    }
    *next++ = '\0';
  }
  parse(field, row);
  return true;
}
