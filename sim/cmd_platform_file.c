/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Platform files that a command reads and writes. */
#include "models/crypto/cost.h"
#include "sim/cmd.h"

#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void platform_file_head(FILE *to, const char *title, const char *base, const char *note) {
  fprintf(to, "# title: %s\n", title);
  if (base) fprintf(to, "# base: %s\n", base);
  fprintf(to, "# note: %s\nalgorithm,operation,size_bytes,quantiles_ns,energy_nj,kind,source,family,note\n", note);
}

void platform_file_text(FILE *to, const char *text) {
  fputc('"', to);
  for (; *text; text++) {
    if (*text == '"') fputc('"', to);
    fputc(*text == '\n' || *text == '\r' ? ' ' : *text, to);
  }
  fputc('"', to);
}

/* A file by its path, wherever it is: cost_load takes names beside a folder. */
static int load_path(const char *path, struct cost_platform **out, struct err *e) {
  char *folder = strdup(path), *file = strdup(path), *name;
  if (!folder || !file || asprintf(&name, "./%s", basename(file)) < 0) abort();
  int status = cost_load(name, dirname(folder), out, e);
  free(name);
  free(folder);
  free(file);
  return status;
}

int platform_file_load(const char *name, struct cost_platform **out, struct err *e) {
  size_t length = strlen(name);
  bool path = !strchr(name, ',') && strncmp(name, "./", 2) && (strchr(name, '/') || (length > 4 && !strcmp(name + length - 4, ".csv")));
  return path ? load_path(name, out, e) : cost_load(name, NULL, out, e);
}

/* What was written must load: a base that is not there or a title that breaks the line shows here. */
static int check(const char *path, struct err *e) {
  struct cost_platform *platform = NULL;
  int status = load_path(path, &platform, e);
  cost_free(platform);
  if (status) err_add(e, ERR_INPUT, "%s: is not kept, since no scenario could use it; change the input or the options", path);
  return status;
}

int platform_file_write(const char *path, void (*write)(const void *arg, FILE *to), const void *arg, struct err *e) {
  FILE *to = fopen(path, "wxe");
  if (!to && errno == EEXIST) return err_add(e, ERR_INPUT, "%s: is there already, and calibrate replaces nothing: choose another name, or remove it", path);
  if (!to) return err_add(e, ERR_INPUT, "%s: cannot be written: %s", path, strerror(errno));
  write(arg, to);
  bool failed = ferror(to);
  failed |= fclose(to) != 0;
  if (!failed) return 0;
  int status = err_add(e, ERR_SYSTEM, "%s: cannot be written: %s", path, strerror(errno));
  unlink(path);
  return status;
}

int platform_file_save(const char *path, void (*write)(const void *arg, FILE *to), const void *arg, struct err *e) {
  int status = platform_file_write(path, write, arg, e);
  if (status) return status;
  status = check(path, e);
  if (status) unlink(path);
  return status;
}

int platform_file_source(const char *id, struct cost_sources **out, struct err *e) {
  int status = cost_sources_load(out, e);
  if (status || cost_source_find(*out, id)) return status;
  int count = cost_sources_count(*out);
  const char **ids = calloc((size_t)count + 1, sizeof *ids);
  if (!ids) abort();
  for (int i = 0; i < count; i++) ids[i] = cost_source_at(*out, i)->id;
  status = err_add(
      e, ERR_INPUT, "--source: found '%s', allowed the ids that pqnetsim list sources prints, own for your own figures%s", id, cmd_suggestion(id, ids, count));
  free(ids);
  cost_sources_free(*out);
  *out = NULL;
  return status;
}
