/* SPDX-License-Identifier: GPL-3.0-or-later */
/* metric_json: one metric as the JSON object that `run --json` and `export --format json` share. */
#ifndef PQNETSIM_METRIC_JSON_H
#define PQNETSIM_METRIC_JSON_H

#include "output/store.h"
#include <stdio.h>

/* {"unit", "from", "to", "n", ..., "breakdown"} on one line. All parts are written, zeros too, so that their sum is the
 * mean and no key is missing; a metric without parts or samples has an empty breakdown. */
void metric_json_write(FILE *to, const struct metric_def *def, const struct store_row *row);

#endif
