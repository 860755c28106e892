/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/cmd.h"

#include <argp.h>
#include <errno.h>
#include <string.h>

static const struct cmd *const commands[] = {&cmd_run, &cmd_sweep, &cmd_plot, &cmd_export, &cmd_show, &cmd_list, &cmd_params, &cmd_init, &cmd_check,
    &cmd_calibrate_fit, &cmd_calibrate_import, &cmd_calibrate_measure, &cmd_calibrate_scale, &cmd_calibrate_show, &cmd_validate};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

const char *argp_program_version = "pqnetsim " PQNETSIM_VERSION;

static void print_usage(FILE *to) {
  fputs("Usage: pqnetsim COMMAND [OPTION...]\n"
        "Predicts what post-quantum key establishment does to a network.\n\n",
      to);
  for (int i = 0; i < COMMAND_COUNT; i++) fprintf(to, "  %-17s %s\n", commands[i]->name, commands[i]->summary);
  fputs("\npqnetsim COMMAND --help tells a command's options and shows examples; pqnetsim --version tells the version.\n\n"
        "Examples:\n"
        "  pqnetsim init e2 > mine.yaml\n"
        "  pqnetsim run mine.yaml\n"
        "  pqnetsim sweep scenarios/e2-rtt.yaml -o rtt.db && pqnetsim show rtt.db\n",
      to);
}

/* The family `word` of commands ("calibrate"): how many there are, with their second words. */
static int find_family(const char *word, const char *seconds[COMMAND_COUNT]) {
  size_t length = strlen(word);
  int count = 0;
  for (int i = 0; i < COMMAND_COUNT; i++)
    if (!strncmp(commands[i]->name, word, length) && commands[i]->name[length] == ' ') seconds[count++] = commands[i]->name + length + 1;
  return count;
}

/* One of a family, by its second word. NULL when there is none; *status then says how to end. */
static const struct cmd *find_member(const char *family, const char *word, const char *const *seconds, int count, int *status) {
  bool asks = word && (!strcmp(word, "--help") || !strcmp(word, "help"));
  for (int i = 0; word && i < COMMAND_COUNT; i++) {
    const char *space = strchr(commands[i]->name, ' ');
    if (space && !strcmp(space + 1, word) && !strncmp(commands[i]->name, family, strlen(family))) return commands[i];
  }
  *status = asks ? 0 : 2;
  FILE *to = asks ? stdout : stderr;
  if (!asks)
    fprintf(to, "pqnetsim: %s: %s%s%s%s\n", family, word ? "unknown '" : "what to do is missing", word ? word : "", word ? "'" : "",
        word ? cmd_suggestion(word, seconds, count) : "");
  for (int i = 0; i < COMMAND_COUNT; i++)
    if (!strncmp(commands[i]->name, family, strlen(family))) fprintf(to, "  pqnetsim %-20s %s\n", commands[i]->name, commands[i]->summary);
  return NULL;
}

static const struct cmd *find_command(const char *name, const char *second, int *status) {
  const char *names[COMMAND_COUNT], *seconds[COMMAND_COUNT];
  int family = find_family(name, seconds);
  if (family) return find_member(name, second, seconds, family, status);
  for (int i = 0; i < COMMAND_COUNT; i++) {
    names[i] = commands[i]->name;
    if (!strcmp(name, names[i])) return commands[i];
  }
  *status = 2;
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
  int status = 0;
  const struct cmd *command = find_command(argv[1], argv[2], &status);
  if (!command) return status;
  struct err e = {0};
  cmd_find_folders();
  struct cmd_line *line = cmd_parse(command, argc, argv);
  status = command->run(line, &e);
  cmd_line_free(line);
  close_output(&e);
  if (e.count) {
    fputs(e.text, stderr);
    status = err_exit_status(&e);
  }
  err_free(&e);
  return status;
}
