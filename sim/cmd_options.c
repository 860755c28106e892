/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/cmd.h"
#include "sim/run/names.h"

#include <argp.h>
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { OPTIONS_MAX = 16, KEY_FIRST = 256 }; /* argp keys beyond every letter */

const struct cmd_option cmd_option_set = {"set", 0, CMD_REPEATED, "KEY=VALUE", "Override a parameter of the file; may be given several times", NULL, 0, 0};
const struct cmd_option cmd_option_seed = {"seed", 0, CMD_TEXT, "N", "Seed of all random draws (default: the file's)", NULL, 0, 0};
const struct cmd_option cmd_option_reps = {"reps", 0, CMD_TEXT, "N", "Replications of each point (default: the file's)", NULL, 0, 0};
const struct cmd_option cmd_option_backend = {"backend", 0, CMD_CHOICE, "native|ns3", "Network model: native (default) or ns3", pool_backends, 0, 0};
const struct cmd_option cmd_option_json = {"json", 0, CMD_FLAG, NULL, "Print JSON", NULL, 0, 0};
const struct cmd_option cmd_option_output = {"output", 'o', CMD_TEXT, "FILE", "The file to write", NULL, 0, 0};
const struct cmd_option cmd_option_where = {
    "where", 0, CMD_REPEATED, "KEY=VALUE", "Only points whose axis KEY has this VALUE; may be given several times", NULL, 0, 0};

struct cmd_line {
  const struct cmd *cmd;
  int argc;
  char **argv;
  char *name; /* "pqnetsim run": what argp calls the program */
  bool given[OPTIONS_MAX];
  const char *texts[OPTIONS_MAX]; /* the last one given */
  int64_t wholes[OPTIONS_MAX];
  int repeated_count[OPTIONS_MAX];
  const char **repeated[OPTIONS_MAX]; /* room for argc each */
  int argument_count;
  const char **arguments;
};

static int choice_count(const char *const *choices) {
  int count = 0;
  while (choices[count]) count++;
  return count;
}

const char *cmd_suggestion(const char *word, const char *const *names, int count) {
  static char text[128];
  const char *near = names_nearest(word, names, count);
  text[0] = '\0';
  if (near) snprintf(text, sizeof text, "; did you mean '%s'?", near);
  return text;
}

static void read_whole(const struct cmd_option *option, const char *text, int64_t *value, struct argp_state *state) {
  char *end;
  errno = 0;
  intmax_t number = strtoimax(text, &end, 10);
  if (!*text || isspace((unsigned char)*text) || *end || errno || number < option->min || number > option->max)
    argp_error(state, "--%s: found '%s', allowed whole numbers from %" PRId64 " to %" PRId64, option->name, text, option->min, option->max);
  *value = (int64_t)number;
}

static void read_choice(const struct cmd_option *option, const char *text, struct argp_state *state) {
  for (int i = 0; option->choices[i]; i++)
    if (!strcmp(option->choices[i], text)) return;
  argp_error(state, "--%s: found '%s', allowed %s%s", option->name, text, option->arg, cmd_suggestion(text, option->choices, choice_count(option->choices)));
}

static void read_option(struct cmd_line *line, int index, char *text, struct argp_state *state) {
  const struct cmd_option *option = line->cmd->options[index];
  line->given[index] = true;
  line->texts[index] = text;
  if (option->kind == CMD_WHOLE)
    read_whole(option, text, &line->wholes[index], state);
  else if (option->kind == CMD_CHOICE)
    read_choice(option, text, state);
  else if (option->kind == CMD_REPEATED)
    line->repeated[index][line->repeated_count[index]++] = text;
}

static error_t on_key(int key, char *text, struct argp_state *state) {
  struct cmd_line *line = state->input;
  if (key == ARGP_KEY_ARG) {
    if (line->argument_count == line->cmd->max_arguments) argp_error(state, "unexpected argument '%s'", text);
    line->arguments[line->argument_count++] = text;
    return 0;
  }
  if (key == ARGP_KEY_END) {
    if (line->argument_count < line->cmd->min_arguments) argp_error(state, "%s is missing", line->cmd->arguments);
    return 0;
  }
  for (int i = 0; line->cmd->options[i]; i++)
    if (key == KEY_FIRST + i || (line->cmd->options[i]->letter && key == line->cmd->options[i]->letter)) {
      read_option(line, i, text, state);
      return 0;
    }
  return ARGP_ERR_UNKNOWN;
}

static void *allocate(size_t count, size_t size) {
  void *memory = calloc(count, size);
  assert(memory);
  return memory;
}

struct cmd_line *cmd_parse(const struct cmd *cmd, int argc, char **argv) {
  struct argp_option options[OPTIONS_MAX + 1] = {{0}};
  struct cmd_line *line = allocate(1, sizeof *line);
  line->cmd = cmd;
  line->argc = argc;
  line->argv = allocate((size_t)argc + 1, sizeof *line->argv);
  memcpy(line->argv, argv, (size_t)argc * sizeof *argv); /* argp sorts its own */
  line->arguments = allocate((size_t)argc, sizeof *line->arguments);
  for (int i = 0; cmd->options[i]; i++) {
    assert(i < OPTIONS_MAX);
    const struct cmd_option *option = cmd->options[i];
    options[i].name = option->name;
    options[i].key = option->letter ? option->letter : KEY_FIRST + i;
    options[i].arg = option->arg;
    options[i].doc = option->help;
    if (option->kind == CMD_REPEATED) line->repeated[i] = allocate((size_t)argc, sizeof *line->repeated[i]);
  }
  char *doc;
  if (asprintf(&doc, "%s\vExamples:\n%s", cmd->summary, cmd->examples) < 0 || asprintf(&line->name, "pqnetsim %s", cmd->name) < 0) abort();
  struct argp argp = {.options = options, .parser = on_key, .args_doc = cmd->arguments, .doc = doc};
  int words = strchr(cmd->name, ' ') ? 2 : 1;
  argv[words] = line->name;
  argp_parse(&argp, argc - words, argv + words, 0, NULL, line); /* ends the program on a usage error */
  free(doc);
  return line;
}

void cmd_line_free(struct cmd_line *line) {
  for (int i = 0; i < OPTIONS_MAX; i++) free(line->repeated[i]);
  free(line->arguments);
  free(line->argv);
  free(line->name);
  free(line);
}

static int option_index(const struct cmd_line *line, const char *option) {
  int i = 0;
  while (line->cmd->options[i] && strcmp(line->cmd->options[i]->name, option)) i++;
  assert(line->cmd->options[i]);
  return i;
}

int cmd_argument_count(const struct cmd_line *line) { return line->argument_count; }

const char *cmd_argument(const struct cmd_line *line, int index) {
  assert(index < line->argument_count);
  return line->arguments[index];
}

bool cmd_given(const struct cmd_line *line, const char *option) { return line->given[option_index(line, option)]; }

const char *cmd_text(const struct cmd_line *line, const char *option, const char *fallback) {
  int i = option_index(line, option);
  return line->given[i] ? line->texts[i] : fallback;
}

int64_t cmd_whole(const struct cmd_line *line, const char *option, int64_t fallback) {
  int i = option_index(line, option);
  return line->given[i] ? line->wholes[i] : fallback;
}

const char *const *cmd_repeated(const struct cmd_line *line, const char *option, int *count) {
  int i = option_index(line, option);
  *count = line->repeated_count[i];
  return line->repeated[i];
}

int cmd_wheres(const struct cmd_line *line, struct table_where **wheres, int *count, struct err *e) {
  const char *const *texts = cmd_repeated(line, "where", count);
  struct table_where *list = allocate((size_t)*count + 1, sizeof *list);
  for (int i = 0; i < *count; i++) {
    const char *equals = strchr(texts[i], '=');
    if (!equals || equals == texts[i]) {
      cmd_wheres_free(list, i);
      return err_add(e, ERR_INPUT, "--where: found '%s', allowed KEY=VALUE, as in path.delay=10ms", texts[i]);
    }
    list[i] = (struct table_where){strndup(texts[i], (size_t)(equals - texts[i])), equals + 1};
    assert(list[i].key);
  }
  *wheres = list;
  return 0;
}

void cmd_wheres_free(struct table_where *wheres, int count) {
  for (int i = 0; wheres && i < count; i++) free((char *)wheres[i].key);
  free(wheres);
}

/* Shell words need no quotes when they hold nothing but these. */
static bool is_plain(const char *word) {
  return *word && strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=./:,@%") == strlen(word);
}

char *cmd_again(const struct cmd_line *line) {
  char *text = NULL;
  size_t size;
  FILE *to = open_memstream(&text, &size);
  assert(to);
  for (int i = 0; i < line->argc; i++) {
    const char *word = line->argv[i];
    if (i) fputc(' ', to);
    if (is_plain(word)) {
      fputs(word, to);
      continue;
    }
    fputc('\'', to);
    for (; *word; word++)
      if (*word == '\'')
        fputs("'\\''", to);
      else
        fputc(*word, to);
    fputc('\'', to);
  }
  fclose(to);
  return text;
}
