/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/cmd.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SILENT_S 2.0       /* shorter work shows nothing */
#define LIVE_EVERY_S 0.2   /* on a terminal */
#define PLAIN_EVERY_S 30.0 /* elsewhere, as in a log file */

double progress_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

const char *progress_time(double seconds, char buffer[48]) {
  if (seconds < 10)
    snprintf(buffer, 48, "%.1f s", seconds);
  else if (seconds < 60)
    snprintf(buffer, 48, "%.0f s", seconds);
  else if (seconds < 3600)
    snprintf(buffer, 48, "%d min %d s", (int)(seconds / 60), (int)seconds % 60);
  else
    snprintf(buffer, 48, "%.0f h %d min", (double)(int64_t)(seconds / 3600), (int)((int64_t)(seconds / 60) % 60));
  return buffer;
}

static bool stderr_is_live(void) {
  const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
  return isatty(STDERR_FILENO) && !(no_color && *no_color) && term && strcmp(term, "dumb");
}

void progress_begin(struct progress *progress, const char *what, int64_t total, int64_t skipped) {
  *progress = (struct progress){.what = what, .total = total, .skipped = skipped, .started = progress_clock(), .live = stderr_is_live()};
}

void progress_show(struct progress *progress, int64_t done) {
  double now = progress_clock(), elapsed = now - progress->started;
  double every = progress->live ? LIVE_EVERY_S : PLAIN_EVERY_S;
  if (elapsed < SILENT_S || (progress->shown > 0 && now - progress->shown < every)) return;
  char left[48];
  double rate = (double)(done - progress->skipped) / elapsed;
  fprintf(stderr, "%s%" PRId64 "/%" PRId64 " %s, %.3g per second", progress->live ? "\r" : "", done, progress->total, progress->what, rate);
  if (rate > 0) fprintf(stderr, ", %s left", progress_time((double)(progress->total - done) / rate, left));
  fputs(progress->live ? "\033[K" : "\n", stderr);
  progress->shown = now;
}

void progress_end(struct progress *progress) {
  if (progress->live && progress->shown > 0) fputs("\r\033[K", stderr);
}
