/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/json.h"
#include "output/metric_json.h"
#include "output/table.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int finish(FILE *to, struct err *e) {
  if (fflush(to) == 0 && !ferror(to)) return 0;
  int code = err_add(e, ERR_SYSTEM, "cannot write the export: %s", strerror(errno));
  /* told once: what is left in the buffer must not fail again when the stream is closed */
  return freopen("/dev/null", "w", to) ? code : ERR_SYSTEM;
}

/* --- CSV (RFC 4180: CRLF, quotes doubled) --- */

static void put_field(FILE *to, const char *text) {
  if (!text[strcspn(text, ",\"\r\n")]) {
    fputs(text, to);
    return;
  }
  fputc('"', to);
  for (; *text; text++) {
    if (*text == '"') fputc('"', to);
    fputc(*text, to);
  }
  fputc('"', to);
}

static void put_number(FILE *to, double value) {
  char buffer[32];
  if (!isnan(value)) fputs(real_format(value, buffer), to);
}

static void put_csv_header(FILE *to, const struct store_study *study) {
  fputs("point", to);
  for (int i = 0; i < study->axis_count; i++) {
    char header[256];
    fputc(',', to);
    put_field(to, table_header(study->axes[i].name, study->axes[i].unit, header, sizeof header));
  }
  fputs(",metric,unit,n,failed,mean,sd,cv,iqr,ci95,min,p5,p25,p50,p75,p95,p99,max", to);
  fputs(",crypto", to);
  for (int i = 0; i < PART_COUNT; i++) fprintf(to, ",%s", metric_part_name((enum part)i));
  fputs("\r\n", to);
}

static void put_csv_row(FILE *to, const struct metric_def *def, const struct store_row *row) {
  const double statistics[] = {row->mean, row->sd, row->cv, row->iqr, row->ci95, row->min, row->p5, row->p25, row->p50, row->p75, row->p95, row->p99, row->max};
  fputc(',', to);
  put_field(to, def->name);
  fprintf(to, ",%s,%lld,%lld", metric_unit_name(def->unit), (long long)row->n, (long long)row->failed);
  for (size_t i = 0; i < sizeof statistics / sizeof statistics[0]; i++) {
    fputc(',', to);
    put_number(to, statistics[i]);
  }
  bool known = row->has_parts && row->n > 0;
  fputc(',', to);
  if (known) put_number(to, row->crypto);
  for (int i = 0; i < PART_COUNT; i++) {
    fputc(',', to);
    if (known) put_number(to, row->parts[i]);
  }
  fputs("\r\n", to);
}

/* The cells of a point, once for all its rows; malloc'd. */
static char *csv_point(const struct store_study *study, const struct store_point *point) {
  char *bytes;
  size_t size;
  FILE *to = open_memstream(&bytes, &size);
  assert(to);
  fprintf(to, "%lld", (long long)point->id);
  for (int i = 0; i < study->axis_count; i++) {
    fputc(',', to);
    if (study->axes[i].is_text)
      put_field(to, point->cells[i].text);
    else
      put_number(to, point->cells[i].number);
  }
  fclose(to);
  return bytes;
}

int table_export_csv(struct store *store, FILE *to, struct err *e) {
  const struct store_study *study = store_study(store);
  put_csv_header(to, study);
  for (int64_t id = 0; id < store_point_count(store); id++) {
    struct store_point point;
    int code = store_read_point(store, id, &point, e);
    if (code) return code;
    char *cells = csv_point(study, &point);
    for (int m = 0; m < study->metric_count && !code; m++) {
      struct store_row row;
      bool found;
      code = store_read_metric(store, id, m, &row, &found, e);
      if (code || !found) continue;
      fputs(cells, to);
      put_csv_row(to, &study->metrics[m], &row);
    }
    free(cells);
    if (code) return code;
  }
  return finish(to, e);
}

/* --- JSON --- */

/* Failures and notes come ordered by point: both are walked along with the points. */
struct remark {
  int64_t point, replication;
  char *name, *text;
};

struct remarks {
  struct remark *list;
  size_t count, capacity, next;
};

static void add_remark(struct remarks *remarks, struct remark remark) {
  if (remarks->count == remarks->capacity) {
    remarks->capacity = remarks->capacity ? 2 * remarks->capacity : 64;
    remarks->list = realloc(remarks->list, remarks->capacity * sizeof *remarks->list);
    assert(remarks->list);
  }
  remarks->list[remarks->count++] = remark;
}

static void take_failure(void *arg, int64_t point, int64_t replication, const char *reason) {
  add_remark(arg, (struct remark){point, replication, NULL, strdup(reason)});
}

static void take_note(void *arg, int64_t point, const char *name, const char *text) { add_remark(arg, (struct remark){point, 0, strdup(name), strdup(text)}); }

static void free_remarks(struct remarks *remarks) {
  for (size_t i = 0; i < remarks->count; i++) {
    free(remarks->list[i].name);
    free(remarks->list[i].text);
  }
  free(remarks->list);
}

static void put_notes(FILE *to, struct remarks *notes, int64_t point) {
  fputs("  \"notes\": {", to);
  for (int i = 0; notes->next < notes->count && notes->list[notes->next].point == point; notes->next++, i++) {
    fputs(i ? ", " : "", to);
    json_string(to, notes->list[notes->next].name);
    fputs(": ", to);
    json_string(to, notes->list[notes->next].text);
  }
  fputs("},\n", to);
}

static void put_failures(FILE *to, struct remarks *failures, int64_t point) {
  fputs("  \"failures\": [", to);
  for (int i = 0; failures->next < failures->count && failures->list[failures->next].point == point; failures->next++, i++) {
    fprintf(to, "%s{\"replication\": %lld, \"reason\": ", i ? ", " : "", (long long)failures->list[failures->next].replication);
    json_string(to, failures->list[failures->next].text);
    fputc('}', to);
  }
  fputs("]}", to);
}

static int put_json_point(struct store *store, int64_t id, FILE *to, struct err *e) {
  const struct store_study *study = store_study(store);
  struct store_point point;
  int code = store_read_point(store, id, &point, e);
  if (code) return code;
  fprintf(to, " {\"point\": %lld,\n  \"axes\": {", (long long)id);
  for (int i = 0; i < study->axis_count; i++) {
    char header[256];
    fputs(i ? ", " : "", to);
    json_string(to, table_header(study->axes[i].name, study->axes[i].unit, header, sizeof header));
    fputs(": ", to);
    if (study->axes[i].is_text)
      json_string(to, point.cells[i].text);
    else
      json_number(to, point.cells[i].number);
  }
  fputs("},\n  \"metrics\": {", to);
  int written = 0;
  for (int m = 0; m < study->metric_count; m++) {
    struct store_row row;
    bool found;
    code = store_read_metric(store, id, m, &row, &found, e);
    if (code) return code;
    if (!found) continue;
    fputs(written++ ? ",\n   " : "\n   ", to);
    json_string(to, study->metrics[m].name);
    fputs(": ", to);
    metric_json_write(to, &study->metrics[m], &row);
  }
  fputs("},\n", to);
  return 0;
}

int table_export_json(struct store *store, FILE *to, struct err *e) {
  struct remarks failures = {0}, notes = {0};
  int code = store_each_failure(store, take_failure, &failures, e);
  if (!code) code = store_each_note(store, take_note, &notes, e);
  fputs("[", to);
  for (int64_t id = 0; id < store_point_count(store) && !code; id++) {
    fputs(id ? ",\n" : "\n", to);
    code = put_json_point(store, id, to, e);
    if (code) break;
    put_notes(to, &notes, id);
    put_failures(to, &failures, id);
  }
  fputs("\n]\n", to);
  free_remarks(&failures);
  free_remarks(&notes);
  return code ? code : finish(to, e);
}
