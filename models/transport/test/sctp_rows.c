/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/transport/test/sctp_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char path[] = "calib/data/measured/sctp/sctp_truth.csv";

/* Columns in the order of the file; those behind them may hold commas and are not read. */
enum { FIELDS = 26, LINE = 2048 };

static int split(char *line, char *fields[FIELDS]) {
  int count = 0;
  line[strcspn(line, "\r\n")] = '\0';
  for (char *next = line; next && count < FIELDS;) {
    fields[count++] = next;
    next = strchr(next, ',');
    if (next) *next++ = '\0';
  }
  return count;
}

static void copy(char *to, size_t size, const char *from) { snprintf(to, size, "%s", from); }

static double number(const char *field) { return *field ? atof(field) : -1; }

static void parse(char *fields[FIELDS], struct sctp_row *row) {
  *row = (struct sctp_row){.row = atoi(fields[0]), .value = number(fields[3]), .min = number(fields[4]), .max = number(fields[5]), .loss = number(fields[22])};
  copy(row->section, sizeof row->section, fields[1]);
  copy(row->quantity, sizeof row->quantity, fields[2]);
  copy(row->text, sizeof row->text, fields[3]);
  int *const numbers[] = {&row->rto_initial, &row->rto_min, &row->rto_max, &row->init_max, &row->init_timeout, &row->association_max, &row->path_max,
      &row->heartbeat, &row->rtt, &row->sack_delay, &row->sack_every, &row->gap, &row->size, &row->count, &row->nodelay, &row->unordered};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) *numbers[i] = (int)number(fields[6 + i]);
  copy(row->lib, sizeof row->lib, fields[23]);
  copy(row->kind, sizeof row->kind, fields[24]);
  copy(row->detail, sizeof row->detail, fields[25]);
}

int sctp_rows(const char *section, void (*fn)(void *arg, const struct sctp_row *row), void *arg) {
  FILE *file = fopen(path, "r");
  char line[LINE];
  char *fields[FIELDS];
  int count = 0;
  if (!file) {
    perror(path);
    return 0;
  }
  while (fgets(line, sizeof line, file)) {
    struct sctp_row row;
    if (split(line, fields) != FIELDS || strcmp(fields[1], section) != 0) continue;
    parse(fields, &row);
    fn(arg, &row);
    count++;
  }
  fclose(file);
  return count;
}

static const char *find(const struct sctp_row *row, const char *key) {
  size_t length = strlen(key);
  for (const char *at = row->detail; (at = strstr(at, key)) != NULL; at += length)
    if ((at == row->detail || at[-1] == ' ') && at[length] == '=') return at + length + 1;
  return NULL;
}

double sctp_row_detail(const struct sctp_row *row, const char *key) {
  const char *at = find(row, key);
  return at ? atof(at) : -1;
}

int sctp_row_list(const struct sctp_row *row, const char *key, double *values, int max) {
  const char *at = key ? find(row, key) : row->text;
  int count = 0;
  while (at && count < max) {
    char *end;
    double value = strtod(at, &end);
    if (end == at) break;
    values[count++] = value;
    at = *end == (key ? '+' : ' ') ? end + 1 : NULL;
  }
  return count;
}
