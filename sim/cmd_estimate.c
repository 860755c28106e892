/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/grid.h"
#include "sim/cmd.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#define TIMING_S 0.5 /* the first point runs for about this long */

enum { POINTS_LISTED = 10000 };

static void print_points(const struct study *study, const struct columns *columns) {
  int *digits = calloc((size_t)columns->count + 1, sizeof *digits);
  struct grid *grid = grid_new();
  assert(digits);
  grid_column(grid, "point", GRID_NUMBER);
  for (int a = 0; a < columns->count; a++) {
    char header[160];
    const struct store_axis *axis = &columns->axes[a];
    snprintf(header, sizeof header, *axis->unit ? "%s [%s]" : "%s", axis->name, axis->unit);
    grid_column(grid, header, axis->is_text ? GRID_TEXT : GRID_NUMBER);
  }
  for (int64_t i = 0; i < study->point_count && i < POINTS_LISTED; i++) {
    sweep_digits(study->sweep, i, digits);
    grid_number(grid, (double)i);
    for (int a = 0; a < columns->count; a++) {
      const struct store_cell *cell = &columns->cells[a][digits[a]];
      if (columns->axes[a].is_text)
        grid_text(grid, cell->text);
      else
        grid_number(grid, cell->number);
    }
  }
  grid_print(grid, stdout);
  if (study->point_count > POINTS_LISTED) printf("... and %" PRId64 " more points\n", study->point_count - POINTS_LISTED);
  grid_free(grid);
  free(digits);
}

static const char *size_text(double bytes, char buffer[32]) {
  static const char *const names[] = {"B", "kB", "MB", "GB", "TB"};
  int i = 0;
  for (; bytes >= 1000 && i < 4; i++) bytes /= 1000;
  snprintf(buffer, 32, "%.3g %s", bytes, names[i]);
  return buffer;
}

int estimate_print(const struct study *study, const struct columns *columns, int jobs, struct err *e) {
  struct metric_set *metrics = metric_set_new(study->scenario->roster->metrics, study->scenario->roster->metric_count);
  struct execution execution = {.count = study->replications, .budget_s = TIMING_S};
  print_points(study, columns);
  fflush(stdout);
  int status = execute_point(study, 0, &execution, metrics, e);
  if (!status) {
    char time[48], size[32];
    struct study_texts texts;
    struct store_study description;
    study_describe(study, columns, &texts, &description);
    double runs = (double)study->point_count * study->replications;
    int workers = study->point_count < jobs ? (int)study->point_count : jobs;
    printf("%" PRId64 " point%s, n=%d: %.0f runs\n", study->point_count, study->point_count == 1 ? "" : "s", study->replications, runs);
    printf("about %s with --jobs %d (measured: point 0 with n=%d), a study file of about %s\n",
        progress_time(execution.seconds / execution.done * runs / workers, time), workers, execution.done,
        size_text((double)store_estimate_bytes(&description, study->point_count), size));
  }
  metric_set_free(metrics);
  return status;
}
