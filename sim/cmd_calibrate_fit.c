/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calibrate fit: a platform file from timings. */
#include "calib/fit.h"
#include "calib/samples.h"
#include "sim/cmd.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(table) ((int)(sizeof table / sizeof table[0]))

enum { FEW_SAMPLES = 30 };
#define DISPERSED 0.05 /* coefficient of variation above which a constant hides something */

/* What fit was asked for. */
struct request {
  const char *path, *source, *family, *title, *base;
  bool json;
};

/* An operation and what was fitted to it. */
struct fitted {
  const struct samples_group *group;
  struct fit fits[FIT_FAMILIES];
  enum fit_family chosen;
};

static const char *const family_choices[] = {"auto", "constant", "normal", "lognormal", "gamma", "shifted-exponential", "geometric-rounds", "empirical", NULL};

/* The family named, FIT_FAMILIES for "auto". */
static enum fit_family named_family(const char *name) {
  int f = 0;
  while (f < FIT_FAMILIES && strcmp(fit_family_name((enum fit_family)f), name)) f++;
  return (enum fit_family)f;
}

static void remark(const struct samples_group *group, const char *text) {
  fprintf(stderr, "pqnetsim: warning: %s %s, %" PRId64 " B: %s\n", group->algorithm, group->operation, group->size_bytes, text);
}

/* The family with the smallest distance: what to tell where none is near enough. */
static enum fit_family nearest(const struct fit *fits) {
  enum fit_family near = FIT_CONSTANT;
  for (int f = 1; f < FIT_EMPIRICAL; f++)
    if (fits[f].possible && fits[f].distance < fits[near].distance) near = (enum fit_family)f;
  return near;
}

static void warn_of(const struct fitted *fitted, bool asked) {
  const struct samples_group *group = fitted->group;
  const struct fit *fit = &fitted->fits[fitted->chosen];
  char text[256];
  double mean, sd, limit = fit_distance_limit(group->count);
  fit_moments(group->ns, group->count, &mean, &sd);
  if (group->count < FEW_SAMPLES) {
    snprintf(text, sizeof text, "%d samples are too few to tell one family from another; take %d or more", group->count, FEW_SAMPLES);
    remark(group, text);
  }
  if (fitted->chosen == FIT_CONSTANT && sd > DISPERSED * mean) {
    snprintf(text, sizeof text, "a constant for samples that vary by %.0f %% (sd / mean); results will lack that spread", 100 * sd / mean);
    remark(group, text);
  }
  if (fitted->chosen == FIT_EMPIRICAL && !asked) {
    const struct fit *near = &fitted->fits[nearest(fitted->fits)];
    snprintf(text, sizeof text, "no family fits (nearest: %s, KS distance %.3f, limit %.3f); the quantiles of the sample are taken (empirical)",
        fit_family_name(near->family), near->distance, limit);
    remark(group, text);
  } else if (asked && fit->family != FIT_CONSTANT && fit->distance >= limit) {
    snprintf(text, sizeof text, "%s does not fit: KS distance %.3f, limit %.3f", fit_family_name(fit->family), fit->distance, limit);
    remark(group, text);
  }
}

static int fit_group(const struct samples_group *group, const struct request *request, struct fitted *out, struct err *e) {
  enum fit_family asked = named_family(request->family);
  out->group = group;
  fit_families(group->ns, group->count, out->fits);
  out->chosen = asked == FIT_FAMILIES ? fit_choose(out->fits, group->count) : asked;
  if (!out->fits[out->chosen].possible)
    return err_add(e, ERR_INPUT, "%s: %s %s, %" PRId64 " B: %s cannot be fitted to these %d samples; leave out --family, or name another one", request->path,
        group->algorithm, group->operation, group->size_bytes, request->family, group->count);
  warn_of(out, asked != FIT_FAMILIES);
  return 0;
}

static void write_note(const struct fitted *fitted, FILE *to) {
  const struct samples_group *group = fitted->group;
  const struct fit *fit = &fitted->fits[fitted->chosen];
  double mean, sd;
  fit_moments(group->ns, group->count, &mean, &sd);
  fprintf(to, "\"n %d, mean %.0f sd %.0f", group->count, mean, sd);
  const char *separator = "; ";
  for (int i = 0; i < FIT_PARAMETERS && fit_parameter_name(fit->family, i); i++, separator = ", ")
    fprintf(to, "%s%s %.6g", separator, fit_parameter_name(fit->family, i), fit->parameter[i]);
  if (isfinite(fit->aic)) fprintf(to, "; AIC %.1f", fit->aic);
  if (fit->family == FIT_EMPIRICAL)
    fputs("; quantiles of the sample", to);
  else
    fprintf(to, "; KS distance %.4f, limit %.4f", fit->distance, fit_distance_limit(group->count));
  fputs("\"", to);
}

static void write_row(const struct fitted *fitted, const char *source, FILE *to) {
  const struct samples_group *group = fitted->group;
  const struct fit *fit = &fitted->fits[fitted->chosen];
  int64_t quantiles[FIT_QUANTILES];
  fit_quantiles(fit, group->ns, group->count, quantiles);
  fprintf(to, "%s,%s,%" PRId64 ",", group->algorithm, group->operation, group->size_bytes);
  if (quantiles[0] == quantiles[FIT_QUANTILES - 1])
    fprintf(to, "%" PRId64, quantiles[0]);
  else
    for (int i = 0; i < FIT_QUANTILES; i++) fprintf(to, "%s%g:%" PRId64, i ? " " : "", fit_probabilities[i], quantiles[i]);
  fprintf(to, ",,fitted,%s,%s,", source, fit_family_name(fit->family));
  write_note(fitted, to);
  fputc('\n', to);
}

/* What becomes a file. */
struct result {
  const struct fitted *fitted;
  int count;
  const struct request *request;
};

static void write_platform(FILE *to, void *arg) {
  const struct result *result = arg;
  const struct request *request = result->request;
  fprintf(to, "# title: %s\n", request->title);
  if (request->base) fprintf(to, "# base: %s\n", request->base);
  fputs("# note: written by pqnetsim calibrate fit; p 0 and p 1 stand for 0.0005 and 0.999865\n"
        "algorithm,operation,size_bytes,quantiles_ns,energy_nj,kind,source,family,note\n",
      to);
  for (int i = 0; i < result->count; i++) write_row(&result->fitted[i], request->source, to);
}

static const struct listing_column fit_columns[] = {
    {"algorithm", "algorithm", true},
    {"operation", "operation", true},
    {"size_bytes", "size (B)", false},
    {"n", "n", false},
    {"mean_ns", "mean (ns)", false},
    {"median_ns", "median (ns)", false},
    {"family", "family", true},
    {"aic", "AIC", false},
    {"ks_distance", "KS distance", false},
    {"ks_limit", "limit", false},
};

static void print_fits(const struct fitted *fitted, int count, bool json) {
  struct listing listing;
  listing_begin(&listing, fit_columns, LENGTH(fit_columns), json);
  for (int i = 0; i < count; i++) {
    const struct samples_group *group = fitted[i].group;
    const struct fit *fit = &fitted[i].fits[fitted[i].chosen];
    bool sampled = fit->family == FIT_EMPIRICAL;
    double mean, sd;
    fit_moments(group->ns, group->count, &mean, &sd);
    listing_text(&listing, group->algorithm);
    listing_text(&listing, group->operation);
    listing_number(&listing, (double)group->size_bytes);
    listing_number(&listing, group->count);
    listing_number(&listing, round(mean));
    listing_number(&listing, round(fit_quantile(fit, group->ns, group->count, 0.5)));
    listing_text(&listing, fit_family_name(fit->family));
    listing_number(&listing, isfinite(fit->aic) ? round(fit->aic) : NAN);
    listing_number(&listing, sampled ? NAN : round(fit->distance * 1e4) / 1e4);
    listing_number(&listing, round(fit_distance_limit(group->count) * 1e4) / 1e4);
  }
  listing_end(&listing);
  if (json) putchar('\n');
}

static int fit_samples(const struct samples *samples, const char *to, const struct request *request, struct err *e) {
  struct fitted *fitted = calloc((size_t)samples->group_count, sizeof *fitted);
  if (!fitted) abort();
  int status = 0;
  for (int g = 0; g < samples->group_count; g++) {
    int failed = fit_group(&samples->groups[g], request, &fitted[g], e);
    status = status ? status : failed;
  }
  struct result result = {fitted, samples->group_count, request};
  if (!status) status = platform_file_save(to, write_platform, &result, e);
  if (!status) print_fits(fitted, samples->group_count, request->json);
  free(fitted);
  return status;
}

static int fit(const struct cmd_line *line, struct err *e) {
  const char *to = cmd_text(line, "output", NULL);
  const struct request request = {cmd_argument(line, 0), cmd_text(line, "source", "own"), cmd_text(line, "family", "auto"),
      cmd_text(line, "title", "Fitted to samples"), cmd_text(line, "base", NULL), cmd_given(line, "json")};
  if (!to) return err_add(e, ERR_INPUT, "calibrate fit: -o FILE.csv is missing: where the platform goes");
  struct cost_sources *sources = NULL;
  int status = cost_sources_load(&sources, e);
  if (status) return status;
  struct samples *samples = NULL;
  if (!cost_source_find(sources, request.source))
    status = err_add(e, ERR_INPUT, "--source: found '%s', allowed the ids that pqnetsim list sources prints, own for your own figures", request.source);
  else
    status = samples_read(request.path, sources, &samples, e);
  if (!status) status = fit_samples(samples, to, &request, e);
  samples_free(samples);
  cost_sources_free(sources);
  return status;
}

static int run(const struct cmd_line *line, struct err *e) {
  (void)!fit(line, e); /* main prints what is in e */
  return 0;
}

static const struct cmd_option option_source = {"source", 0, CMD_TEXT, "ID", "Where the samples come from, an id of list sources (default: own)", NULL, 0, 0};
static const struct cmd_option option_family = {"family", 0, CMD_CHOICE, "auto|constant|normal|lognormal|gamma|shifted-exponential|geometric-rounds|empirical",
    "One family for all instead of the best for each", family_choices, 0, 0};
static const struct cmd_option option_title = {"title", 0, CMD_TEXT, "TEXT", "What list platforms calls it", NULL, 0, 0};
static const struct cmd_option option_base = {"base", 0, CMD_TEXT, "NAME", "The platform that states what the samples do not", NULL, 0, 0};
static const struct cmd_option *const options[] = {&cmd_option_output, &option_source, &option_family, &option_title, &option_base, &cmd_option_json, NULL};

const struct cmd cmd_calibrate_fit = {"calibrate fit", "SAMPLES.csv", 1, 1, "Make a platform file from your own timings.",
    "  pqnetsim calibrate fit samples.csv -o router.csv --base raspberry-pi4\n"
    "  pqnetsim calibrate fit samples.csv -o plain.csv --family constant\n\n"
    "samples.csv has the columns algorithm,operation,size_bytes,ns and a sample on each line.",
    options, run};
