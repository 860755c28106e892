/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/cmd.h"

#include <argp.h>
#include <errno.h>
#include <string.h>

static const struct cmd *const commands[] = {
    &cmd_run, &cmd_sweep, &cmd_plot, &cmd_export, &cmd_show, &cmd_list, &cmd_params, &cmd_init, &cmd_check, &cmd_calibrate};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

const char *argp_program_version = "pqnetsim " PQNETSIM_VERSION;

static void print_usage(FILE *to) {
  fputs("Usage: pqnetsim COMMAND [OPTION...]\n"
        "Predicts what post-quantum key establishment does to a network.\n\n",
      to);
  for (int i = 0; i < COMMAND_COUNT; i++) fprintf(to, "  %-9s %s\n", commands[i]->name, commands[i]->summary);
  fputs("\npqnetsim COMMAND --help tells a command's options and shows examples; pqnetsim --version tells the version.\n\n"
        "Examples:\n"
        "  pqnetsim init e2 > mine.yaml\n"
        "  pqnetsim run mine.yaml\n"
        "  pqnetsim sweep scenarios/e2-rtt.yaml -o rtt.db && pqnetsim show rtt.db\n",
      to);
}

static const struct cmd *find_command(const char *name) {
  const char *names[COMMAND_COUNT];
  for (int i = 0; i < COMMAND_COUNT; i++) {
    names[i] = commands[i]->name;
    if (!strcmp(name, names[i])) return commands[i];
  }
  fprintf(stderr, "pqnetsim: unknown command '%s'%s\n", name, cmd_suggestion(name, names, COMMAND_COUNT));
  fputs("pqnetsim --help lists the commands.\n", stderr);
  return NULL;
}

/* Results that did not reach their reader are an error like any other. */
static void close_output(struct err *e) {
  if (fflush(stdout) || ferror(stdout)) err_add(e, ERR_SYSTEM, "cannot write to standard output: %s", strerror(errno));
}

int main(int argc, char **argv) {
  argp_err_exit_status = 2;
  if (argc < 2) {
    print_usage(stderr);
    return 2;
  }
  if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "help")) {
    print_usage(stdout);
    return 0;
  }
  if (!strcmp(argv[1], "--version")) {
    puts(argp_program_version);
    return 0;
  }
  const struct cmd *command = find_command(argv[1]);
  if (!command) return 2;
  struct err e = {0};
  cmd_find_folders();
  struct cmd_line *line = cmd_parse(command, argc, argv);
  int status = command->run(line, &e);
  cmd_line_free(line);
  close_output(&e);
  if (e.count) {
    fputs(e.text, stderr);
    status = err_exit_status(&e);
  }
  err_free(&e);
  return status;
}
