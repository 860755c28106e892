/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/crypto/cost.h"
#include "sim/cmd.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *program_dir, *scenario_dir;

static char *read_program_dir(void) {
  char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length < 0) return strdup(".");
  path[length] = '\0';
  char *slash = strrchr(path, '/');
  if (slash) *slash = '\0';
  return strdup(slash == path ? "/" : path);
}

/* base/name when it is there; malloc'd. */
static char *find_below(const char *base, const char *name) {
  char *path;
  if (asprintf(&path, "%s/%s", base, name) < 0) abort();
  if (!access(path, R_OK | X_OK)) return path;
  free(path);
  return NULL;
}

/* In a checkout the program stands in its root; installed, everything is in one folder, which may have been moved
 * together with bin/. */
static char *find_folder(const char *in_checkout, const char *installed) {
  char *path = find_below(program_dir, in_checkout);
  if (!path) path = find_below(PQNETSIM_DATADIR, installed);
  if (path) return path;
  char *moved = find_below(program_dir, "../share/pqnetsim");
  path = moved ? find_below(moved, installed) : NULL;
  free(moved);
  return path ? path : strdup(PQNETSIM_DATADIR);
}

void cmd_find_folders(void) {
  program_dir = read_program_dir();
  scenario_dir = find_folder("scenarios", "scenarios");
  const char *given = getenv("PQNETSIM_DATA");
  char *data = given && *given ? strdup(given) : find_folder("calib/data", ".");
  assert(program_dir && scenario_dir && data);
  cost_set_data_dir(data);
  /* pqnetsim-ns3 must read the same files */
  setenv("PQNETSIM_DATA", data, 1);
  free(data);
}

const char *cmd_program_dir(void) { return program_dir; }

const char *cmd_scenario_dir(void) { return scenario_dir; }
