/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/domain/platforms.h"

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
