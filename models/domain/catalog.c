/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The scenario families. A new one is a line here. */
#include "models/domain.h"
#include "models/domain/e2.h"
#include "models/domain/tls.h"

#include <string.h>

static const struct domain *const catalog[] = {&domain_e2, &domain_tls};

const struct domain *const *domain_catalog(int *count) {
  *count = sizeof catalog / sizeof *catalog;
  return catalog;
}

const struct domain *domain_find(const char *name) {
  for (size_t i = 0; i < sizeof catalog / sizeof *catalog; i++)
    if (strcmp(catalog[i]->name, name) == 0) return catalog[i];
  return NULL;
}
