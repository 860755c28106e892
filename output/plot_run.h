/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plot_run: gnuplot as a child process, without a shell.
 *
 * Errors: ERR_SYSTEM when it is missing, fails (its first words quoted) or leaves no figure.
 */
#ifndef PQNETSIM_PLOT_RUN_H
#define PQNETSIM_PLOT_RUN_H

#include "sim/core/err.h"

/* Runs the script in its own folder; an older figure is removed first, so that a failure cannot pass for success. */
int plot_run_gnuplot(const char *script, const char *figure, struct err *e) MUST_CHECK;

#endif
