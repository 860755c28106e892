/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plot_run: the files of a figure, and gnuplot as a child process, without a shell.
 *
 * Invariants: FIG.gp and FIG.dat are written over what plot wrote, never over somebody's work; FIG never over an SQLite file.
 * Errors:     ERR_INPUT for a name that cannot be a figure's or would destroy something;
 *             ERR_SYSTEM when gnuplot is missing, fails (its first words quoted) or leaves no figure.
 */
#ifndef PQNETSIM_PLOT_RUN_H
#define PQNETSIM_PLOT_RUN_H

#include "sim/core/err.h"

/* First lines of FIG.gp and FIG.dat: by them plot knows its own files. */
#define PLOT_RUN_SCRIPT_LINE "# pqnetsim plot: script of a figure, written anew by plot; without this line plot leaves the file alone\n"
#define PLOT_RUN_DATA_LINE "# pqnetsim plot: data of a figure, written anew by plot; without this line plot leaves the file alone\n"

/* Looks at the name, its folder, and what stands under the names that drawing `figure` would write; writes nothing. */
int plot_run_check(const char *figure, struct err *e) MUST_CHECK;
/* Path of FIG.gp, FIG.dat: `figure` with another ending; malloc'd. */
char *plot_run_beside(const char *figure, const char *ending);
int plot_run_write(const char *path, const char *bytes, size_t size, struct err *e) MUST_CHECK;

/* Runs the script in its own folder; an older figure is removed first, so that a failure cannot pass for success. */
int plot_run_gnuplot(const char *script, const char *figure, struct err *e) MUST_CHECK;

#endif
