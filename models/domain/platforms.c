/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/domain/platforms.h"

#include <stdio.h>
#include <string.h>

int platforms_load(const struct config *config, const char *const keys[], int count, const char *base_dir, const struct cost_platform *out[], struct err *e) {
  int rc = 0;
  for (int p = 0; p < count; p++) {
    struct err inner = {0};
    if (cost_share_get(config_text(config, keys[p]), base_dir, &out[p], &inner)) {
      char *save = NULL;
      for (char *line = strtok_r(inner.text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) rc = err_add(e, inner.code, "%s: %s", keys[p], line);
    }
    err_free(&inner);
  }
  return rc;
}

void platforms_release(const struct cost_platform *const platforms[], int count) {
  for (int p = 0; p < count; p++) cost_share_release(platforms[p]);
}

uint64_t platforms_hash(const struct cost_platform *const platforms[], int count, uint64_t before) {
  uint64_t hash = before;
  for (int p = 0; p < count; p++)
    if (platforms[p]) hash = hash * UINT64_C(0x9e3779b97f4a7c15) ^ cost_platform_hash(platforms[p]);
  return hash;
}

void platforms_warn_software(
    const struct cost_platform *platform, const char *key, const char *operation, const char *whose, platforms_warn_fn *fn, void *arg) {
  char text[256];
  if (cost_find(platform, "software", operation)) return;
  snprintf(text, sizeof text, "%s: %s states no cost of %s (software %s): messages take cryptography and network time alone", key, cost_platform_name(platform),
      whose, operation);
  fn(arg, text);
}

void platforms_warn_frozen(const struct cost_platform *platform, const char *key, platforms_warn_fn *fn, void *arg) {
  char operations[160], text[512];
  if (!cost_frozen(platform, operations, sizeof operations)) return;
  snprintf(text, sizeof text, "%s: %s states a constant for %s, which takes another time each time: results that rest on it lack that spread; state quantiles",
      key, cost_platform_name(platform), operations);
  fn(arg, text);
}
