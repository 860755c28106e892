/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calibrate scale: a platform estimated from a few operations known of it. */
#include "calib/scale.h"
#include "models/crypto/alg.h"
#include "sim/cmd.h"
#include "sim/core/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(table) ((int)(sizeof table / sizeof table[0]))

struct request {
  const char *base, *to, *title;
  const struct cost_source *source; /* of --anchor */
  bool json, check;
};

/* --- anchors of the command line --- */

/* Which kinds of algorithm have an operation, where several go by one name: p256 is a curve and a signature. */
static const struct {
  const char *operations;
  unsigned kinds;
} operation_kinds[] = {
    {" sign verify ", 1u << ALG_SIGNATURE},
    {" derive derive_full ", 1u << ALG_KEX},
    {" encaps encaps_full decaps decaps_full ", 1u << ALG_KEM | 1u << ALG_HYBRID},
    {" seal open set_key ", 1u << ALG_AEAD},
    {" hash extract expand extract_expand ", 1u << ALG_HASH},
};

static const char *algorithm_title(const char *name, const char *operation) {
  char word[64];
  unsigned kinds = ~0u;
  snprintf(word, sizeof word, " %s ", operation);
  for (int i = 0; i < LENGTH(operation_kinds); i++)
    if (strstr(operation_kinds[i].operations, word)) kinds = operation_kinds[i].kinds;
  const struct alg *alg = alg_find(name, kinds);
  if (!alg) alg = alg_find(name, ~0u);
  return alg ? alg->title : NULL;
}

#define ANCHOR_ALLOWED "allowed ALGORITHM.OPERATION[@SIZE]=TIME, as in mlkem768.decaps=44us or aes256gcm.seal@1350B=1.2us"

/* The operations the base states of an algorithm, or the algorithms, for a message. */
static int unknown_anchor(const char *text, const char *title, const struct scale_rows *base, const char *base_name, struct err *e) {
  char list[900] = "";
  size_t used = 0;
  for (int i = 0; i < base->count && used < sizeof list; i++) {
    const struct scale_row *row = &base->rows[i];
    bool known = title && strcmp(row->algorithm, title);
    for (int k = 0; k < i && !known; k++) {
      const struct scale_row *earlier = &base->rows[k];
      known = !strcmp(earlier->algorithm, row->algorithm) && (!title || !strcmp(earlier->operation, row->operation));
    }
    if (!known) used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", title ? row->operation : row->algorithm);
  }
  if (!*list && title) return unknown_anchor(text, NULL, base, base_name, e);
  return title ? err_add(e, ERR_INPUT, "--anchor: found '%s': %s states of %s: %s", text, base_name, title, list)
               : err_add(e, ERR_INPUT, "--anchor: found '%s', whose algorithm %s does not state; it states %s", text, base_name, *list ? list : "nothing");
}

/* Cuts a copy of the text into its parts. */
static int cut_anchor(char *copy, const char *text, char **operation, int64_t *size_bytes, int64_t *ns, struct err *e) {
  struct err inner = {0};
  char *equals = strchr(copy, '='), *at, *dot;
  if (equals) *equals = '\0';
  at = strchr(copy, '@');
  if (at) *at++ = '\0';
  dot = equals ? strrchr(copy, '.') : NULL;
  if (!dot || dot == copy || !dot[1]) return err_add(e, ERR_INPUT, "--anchor: found '%s', " ANCHOR_ALLOWED, text);
  *dot = '\0';
  *operation = dot + 1;
  *size_bytes = 0;
  int status = at ? units_parse(UNIT_SIZE, at, size_bytes, &inner) : 0;
  if (!status) status = units_parse(UNIT_TIME, equals + 1, ns, &inner);
  if (status)
    err_add(e, ERR_INPUT, "--anchor: found '%s': %.*s", text, (int)strcspn(inner.text, "\n"), inner.text);
  else if (*ns < 1 || *ns > COST_NS_MAX)
    status = err_add(e, ERR_INPUT, "--anchor: found '%s': allowed are times from 1ns to 86400s", text);
  else if (at && *size_bytes < 1)
    status = err_add(e, ERR_INPUT, "--anchor: found '%s': a size is at least 1 B; leave it out where size does not matter", text);
  err_free(&inner);
  return status;
}

static int add_anchor(const char *text, const struct request *request, const struct scale_rows *base, struct scale_rows *anchors, struct err *e) {
  char *copy = strdup(text), *operation = NULL;
  int64_t size_bytes = 0, ns = 0;
  if (!copy) abort();
  int status = cut_anchor(copy, text, &operation, &size_bytes, &ns, e);
  const char *title = status ? NULL : algorithm_title(copy, operation);
  if (!status && !title) {
    const char *near = alg_nearest(copy, ~0u);
    status = err_add(e, ERR_INPUT, "--anchor: found '%s': no algorithm is called '%s'%s%s%s; see pqnetsim list algorithms", text, copy,
        near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  } else if (!status && !scale_rows_find(base, title, operation, -1)) {
    status = unknown_anchor(text, title, base, request->base, e);
  } else if (!status && scale_rows_find(anchors, title, operation, size_bytes)) {
    status = err_add(e, ERR_INPUT, "--anchor: found '%s': %s %s is stated twice", text, title, operation);
  } else if (!status) {
    struct scale_row *row = scale_rows_add_constant(anchors, title, operation, size_bytes, ns);
    bool own = !strcmp(request->source->kind, "user");
    row->kind = own || !strcmp(request->source->kind, "measurement") ? COST_MEASURED : COST_PUBLISHED;
    scale_text(&row->source, request->source->id);
    scale_text(&row->note, "stated by --anchor");
  }
  free(copy);
  return status;
}

static int read_anchors(const struct cmd_line *line, const struct request *request, const struct scale_rows *base, struct scale_rows *anchors, struct err *e) {
  const char *file = cmd_text(line, "anchors", NULL);
  int count, status = 0;
  const char *const *texts = cmd_repeated(line, "anchor", &count);
  if (!file && !count)
    return err_add(e, ERR_INPUT, "calibrate scale: --anchor ALGORITHM.OPERATION=TIME or --anchors FILE.csv is missing: what is known of the new platform");
  if (file) {
    struct cost_platform *platform = NULL;
    status = platform_file_load(file, &platform, e);
    if (status) return status;
    scale_rows_add(anchors, platform, SCALE_OWN_KNOWN_ROWS);
    cost_free(platform);
    if (!anchors->count && !count)
      return err_add(
          e, ERR_INPUT, "--anchors: %s states no measured, published or fitted row of its own (rows of its base do not count): nothing to scale by", file);
  }
  for (int i = 0; i < count; i++) {
    int failed = add_anchor(texts[i], request, base, anchors, e);
    status = status ? status : failed;
  }
  return status;
}

/* --- the file --- */

struct result {
  const struct request *request;
  const struct scale_rows *rows;
  int anchor_count;
};

static void write_cell(FILE *to, const char *text) {
  bool quoted = text[strcspn(text, ",\"\r\n")] || *text == ' ' || *text == '#';
  if (quoted) fputc('"', to);
  for (; *text; text++) fprintf(to, *text == '"' ? "\"\"" : "%c", *text);
  if (quoted) fputc('"', to);
}

static void write_row(FILE *to, const struct scale_row *row) {
  fprintf(to, "%s,%s,%" PRId64 ",", row->algorithm, row->operation, row->size_bytes);
  char p[32];
  if (row->count == 1)
    fprintf(to, "%" PRId64, row->points[0].ns);
  else
    for (int i = 0; i < row->count; i++)
      fprintf(to, "%s%s:%" PRId64, i ? " " : "", real_format((double)row->points[i].p_ppb / SHARE_ONE, p), row->points[i].ns);
  fputc(',', to);
  if (row->energy_nj >= 0) fprintf(to, "%" PRId64, row->energy_nj);
  fprintf(to, ",%s,%s,", cost_kind_name(row->kind), row->source);
  write_cell(to, row->family);
  fputc(',', to);
  write_cell(to, row->note);
  fputc('\n', to);
}

static void write_platform(const void *arg, FILE *to) {
  const struct result *result = arg;
  const char *base = result->request->base;
  if (result->request->title)
    fprintf(to, "# title: %s\n", result->request->title);
  else
    fprintf(to, "# title: %s scaled to %d known values\n", base, result->anchor_count);
  fprintf(to,
      "# note: written by pqnetsim calibrate scale; estimated rows are %s times the factor in their note\n"
      "algorithm,operation,size_bytes,quantiles_ns,energy_nj,kind,source,family,note\n",
      base);
  for (int i = 0; i < result->rows->count; i++) write_row(to, &result->rows->rows[i]);
}

/* --- what is told --- */

/* The rows asked about: algorithms, each once, or algorithms with operations; a dozen is enough. */
static void warn_about(const struct scale_rows *rows, bool (*wanted)(const struct scale_row *), bool whole, const char *before, const char *behind) {
  enum { NAMED = 12 };
  int count = 0;
  for (int i = 0; i < rows->count; i++) {
    const struct scale_row *row = &rows->rows[i];
    bool known = !wanted(row);
    for (int k = 0; k < i && !known; k++) {
      const struct scale_row *earlier = &rows->rows[k];
      known = wanted(earlier) && !strcmp(earlier->algorithm, row->algorithm) && (!whole || !strcmp(earlier->operation, row->operation));
    }
    if (known || ++count > NAMED) continue;
    fprintf(stderr, "%s%s%s%s", count > 1 ? ", " : before, row->algorithm, whole ? " " : "", whole ? row->operation : "");
  }
  if (count > NAMED) fprintf(stderr, " and %d more", count - NAMED);
  if (count) fputs(behind, stderr);
}

static bool is_weak(const struct scale_row *row) { return row->weak; }
static bool is_weak_cipher(const struct scale_row *row) { return row->weak && !strncmp(row->algorithm, "AES", 3) && row->size_bytes; }
static bool serves_nothing(const struct scale_row *row) { return row->stated && row->base_ns < 0; }
static bool is_left_out(const struct scale_row *row) { return scale_leaves_out(row->algorithm, row->operation); }

static void warn(const struct request *request, const struct scale_rows *base, const struct scale_rows *rows) {
  int weak = 0;
  char before[256];
  for (int i = 0; i < rows->count; i++) weak += rows->rows[i].weak;
  snprintf(before, sizeof before, "pqnetsim: warning: %d of %d rows are weak (no anchor is near kin, or the base itself estimates them): ", weak, rows->count);
  warn_about(rows, is_weak, false, before, "\n");
  warn_about(rows, is_weak_cipher, false, "pqnetsim: warning: ",
      ": processors with and without AES instructions differ by up to a hundred times (epyc-zen5, raspberry-pi4); state an anchor such as "
      "--anchor aes256gcm.seal@16384B=TIME\n");
  warn_about(rows, serves_nothing, true, "pqnetsim: warning: anchors kept that scale nothing, as the base states no time above 0 for them: ", "\n");
  snprintf(before, sizeof before, "pqnetsim: warning: rows of %s left out, since they are no processor's time: ", request->base);
  warn_about(base, is_left_out, true, before, "; state them yourself where a model asks for them\n");
}

static double rounded(double value) { return round(value * 1e4) / 1e4; }

static const struct listing_column scale_columns[] = {
    {"algorithm", "algorithm", true},
    {"operation", "operation", true},
    {"size_bytes", "size (B)", false},
    {"base_ns", "base (ns)", false},
    {"factor", "factor", false},
    {"median_ns", "median (ns)", false},
    {"kind", "kind", true},
    {"weak", "weak", true},
    {"from", "from", true},
};

static void print_rows(const struct scale_rows *rows, bool json) {
  struct listing listing;
  listing_begin(&listing, scale_columns, LENGTH(scale_columns), json);
  for (int i = 0; i < rows->count; i++) {
    const struct scale_row *row = &rows->rows[i];
    listing_text(&listing, row->algorithm);
    listing_text(&listing, row->operation);
    listing_number(&listing, (double)row->size_bytes);
    listing_number(&listing, row->base_ns < 0 ? NAN : (double)row->base_ns);
    listing_number(&listing, row->base_ns < 0 ? NAN : rounded(row->factor));
    listing_number(&listing, (double)row->median_ns);
    listing_text(&listing, cost_kind_name(row->kind));
    listing_text(&listing, row->weak ? "weak" : NULL);
    listing_text(&listing, row->stated ? NULL : row->from);
  }
  listing_end(&listing);
  if (json) putchar('\n');
}

static const struct listing_column check_columns[] = {
    {"algorithm", "algorithm", true},
    {"operation", "operation", true},
    {"size_bytes", "size (B)", false},
    {"stated_ns", "stated (ns)", false},
    {"estimated_ns", "estimated (ns)", false},
    {"error_percent", "error (%)", false},
    {"weak", "weak", true},
    {"from", "from", true},
};

static double error_percent(const struct scale_row *row) { return 100 * ((double)row->median_ns / (double)row->base_ns - 1); }

static int by_size_of_error(const void *a, const void *b) {
  double x = fabs(error_percent(*(const struct scale_row *const *)a)), y = fabs(error_percent(*(const struct scale_row *const *)b));
  return (x > y) - (x < y);
}

/* Nearest-rank quantiles of the errors' sizes. */
static void print_errors(const struct scale_rows *trials, bool json) {
  int count = trials->count;
  const struct scale_row **sorted = calloc((size_t)count, sizeof *sorted);
  if (!sorted) abort();
  for (int i = 0; i < count; i++) sorted[i] = &trials->rows[i];
  qsort(sorted, (size_t)count, sizeof *sorted, by_size_of_error);
  const struct scale_row *worst = sorted[count - 1];
  double median = fabs(error_percent(sorted[(count - 1) / 2])), most = fabs(error_percent(sorted[(9 * count + 9) / 10 - 1]));
  if (json)
    printf(",\n \"median_error_percent\": %.1f, \"p90_error_percent\": %.1f, \"worst_error_percent\": %.1f}\n", median, most, fabs(error_percent(worst)));
  else
    printf("\nEach of %d known values estimated from the others: median error %.1f %%, nine of ten within %.1f %%, worst %.1f %% (%s %s).\n", count, median,
        most, fabs(error_percent(worst)), worst->algorithm, worst->operation);
  free(sorted);
}

static int check(const struct request *request, const struct cost_platform *base, const struct scale_rows *anchors, struct err *e) {
  struct scale_rows trials = {0};
  int status = scale_check(base, anchors, &trials, e);
  if (status) return status;
  if (request->json) fputs("{\"left_out\": ", stdout);
  struct listing listing;
  listing_begin(&listing, check_columns, LENGTH(check_columns), request->json);
  for (int i = 0; i < trials.count; i++) {
    const struct scale_row *row = &trials.rows[i];
    listing_text(&listing, row->algorithm);
    listing_text(&listing, row->operation);
    listing_number(&listing, (double)row->size_bytes);
    listing_number(&listing, (double)row->base_ns);
    listing_number(&listing, (double)row->median_ns);
    listing_number(&listing, round(10 * error_percent(row)) / 10);
    listing_text(&listing, row->weak ? "weak" : NULL);
    listing_text(&listing, row->from);
  }
  listing_end(&listing);
  print_errors(&trials, request->json);
  scale_rows_free(&trials);
  return 0;
}

/* --- the command --- */

static int scale(
    const struct request *request, const struct cost_platform *base, const struct scale_rows *base_rows, const struct scale_rows *anchors, struct err *e) {
  struct scale_rows rows = {0};
  int status = scale_platform(base, anchors, &rows, e);
  struct result result = {request, &rows, anchors->count};
  if (!status && request->check) status = check(request, base, anchors, e);
  if (!status && request->to) status = platform_file_save(request->to, write_platform, &result, e);
  if (!status && request->to) warn(request, base_rows, &rows);
  if (!status && !request->check) print_rows(&rows, request->json);
  scale_rows_free(&rows);
  return status;
}

static int scale_line(const struct cmd_line *line, struct err *e) {
  struct request request = {
      cmd_argument(line, 0), cmd_text(line, "output", NULL), cmd_text(line, "title", NULL), NULL, cmd_given(line, "json"), cmd_given(line, "check")};
  const char *source = cmd_text(line, "source", "own");
  if (!request.to && !request.check)
    return err_add(e, ERR_INPUT, "calibrate scale: -o FILE.csv is missing: where the platform goes (or --check, to see how good scaling is)");
  if (request.title && (!*request.title || strpbrk(request.title, "\r\n"))) return err_add(e, ERR_INPUT, "--title: allowed is one line that is not empty");
  struct cost_sources *sources = NULL;
  struct cost_platform *base = NULL;
  struct scale_rows base_rows = {0}, anchors = {0};
  int status = cost_sources_load(&sources, e);
  if (!status) request.source = cost_source_find(sources, source);
  if (!status && !request.source)
    status = err_add(e, ERR_INPUT, "--source: found '%s', allowed the ids that pqnetsim list sources prints, own for your own figures", source);
  if (!status) status = platform_file_load(request.base, &base, e);
  if (!status) {
    scale_rows_add(&base_rows, base, SCALE_ALL_ROWS);
    status = read_anchors(line, &request, &base_rows, &anchors, e);
  }
  if (!status) status = scale(&request, base, &base_rows, &anchors, e);
  scale_rows_free(&base_rows);
  scale_rows_free(&anchors);
  cost_free(base);
  cost_sources_free(sources);
  return status;
}

static int run(const struct cmd_line *line, struct err *e) {
  (void)!scale_line(line, e); /* main prints what is in e */
  return 0;
}

static const struct cmd_option option_anchor = {
    "anchor", 0, CMD_REPEATED, "ALG.OP[@SIZE]=TIME", "A known operation of the new platform; may be given several times", NULL, 0, 0};
static const struct cmd_option option_anchors = {
    "anchors", 0, CMD_TEXT, "NAME", "A platform whose own measured, published and fitted rows are known operations", NULL, 0, 0};
static const struct cmd_option option_source = {
    "source", 0, CMD_TEXT, "ID", "Where --anchor values come from, an id of list sources (default: own)", NULL, 0, 0};
static const struct cmd_option option_title = {"title", 0, CMD_TEXT, "TEXT", "What list platforms calls it", NULL, 0, 0};
static const struct cmd_option option_check = {"check", 0, CMD_FLAG, NULL, "Estimate each known operation from the others and print the errors", NULL, 0, 0};
static const struct cmd_option *const options[] = {
    &cmd_option_output, &option_anchor, &option_anchors, &option_source, &option_title, &option_check, &cmd_option_json, NULL};

const struct cmd cmd_calibrate_scale = {"calibrate scale", "BASE", 1, 1, "Estimate a platform from a few operations known of it.",
    "  pqnetsim calibrate scale epyc-zen5 -o router.csv \\\n"
    "      --anchor mlkem768.decaps=44us --anchor ecdsa-p256.sign=61us \\\n"
    "      --anchor ecdsa-p256.verify=180us --anchor aes256gcm.seal@1350B=2.1us\n"
    "  pqnetsim calibrate scale raspberry-pi4 --anchors ./bench.csv -o box.csv\n"
    "  pqnetsim calibrate scale epyc-zen5 --anchors raspberry-pi4 --check\n\n"
    "BASE is a platform that states every operation; the new one is BASE times the\n"
    "ratio of the known operation that is nearest kin.",
    options, run};
