/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pqnetsim-ns3: answers the points pqnetsim sends on standard input, on ns-3. */
#include "sim/run/worker.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
  if (argc == 2 && !strcmp(argv[1], "--version")) {
    puts("pqnetsim-ns3 " PQNETSIM_VERSION);
    return 0;
  }
  if (argc > 1 || isatty(STDIN_FILENO)) {
    fputs("pqnetsim-ns3: pqnetsim starts this program for --backend ns3; by itself it only knows --version\n", stderr);
    return 2;
  }
  /* A parent that went away shows as a failed write. */
  signal(SIGPIPE, SIG_IGN);
  return worker_serve(&net_ns3, STDIN_FILENO, STDOUT_FILENO);
}
