/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/metric_json.h"

#include "output/json.h"

static void put_text_or_null(FILE *to, const char *key, const char *text) {
  fprintf(to, "\"%s\": ", key);
  if (text)
    json_string(to, text);
  else
    fputs("null", to);
  fputs(", ", to);
}

/* Parts first to end - 1; before: what stands before the first. */
static void put_parts(FILE *to, const struct store_row *row, int first, int end, const char *before) {
  for (int i = first; i < end; i++) {
    fprintf(to, "%s\"%s\": ", i == first ? before : ", ", metric_part_name((enum part)i));
    json_number(to, row->parts[i]);
  }
}

void metric_json_write(FILE *to, const struct metric_def *def, const struct store_row *row) {
  const struct {
    const char *name;
    double value;
  } statistics[] = {
      {"mean", row->mean},
      {"sd", row->sd},
      {"cv", row->cv},
      {"iqr", row->iqr},
      {"ci95", row->ci95},
      {"min", row->min},
      {"p5", row->p5},
      {"p25", row->p25},
      {"p50", row->p50},
      {"p75", row->p75},
      {"p95", row->p95},
      {"p99", row->p99},
      {"max", row->max},
  };
  fputc('{', to);
  put_text_or_null(to, "unit", metric_unit_name(def->unit));
  put_text_or_null(to, "from", def->from);
  put_text_or_null(to, "to", def->to);
  fprintf(to, "\"n\": %lld", (long long)row->n);
  for (size_t i = 0; i < sizeof statistics / sizeof statistics[0]; i++) {
    fprintf(to, ", \"%s\": ", statistics[i].name);
    json_number(to, statistics[i].value);
  }
  fprintf(to, ", \"failed\": %lld, \"breakdown\": {", (long long)row->failed);
  bool known = row->has_parts && row->n > 0;
  if (known) {
    fputs("\"crypto\": ", to);
    json_number(to, row->crypto);
    put_parts(to, row, PART_CRYPTO_COUNT, PART_COUNT, ", ");
    fputs("}, \"crypto_parts\": {", to);
    put_parts(to, row, 0, PART_CRYPTO_COUNT, "");
  }
  fputs("}}", to);
}
