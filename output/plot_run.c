/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/plot_run.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { KEPT = 2000 };

/* --- files --- */

char *plot_run_beside(const char *figure, const char *ending) {
  const char *slash = strrchr(figure, '/'), *base = slash ? slash + 1 : figure, *dot = strrchr(base, '.');
  char *path = NULL;
  int length = asprintf(&path, "%.*s%s", (int)(dot ? dot - figure : (long)strlen(figure)), figure, ending);
  assert(length > 0);
  return path;
}

static int check_name(const char *figure, struct err *e) {
  for (const char *c = figure; *c; c++)
    if ((unsigned char)*c < 0x20 || *c == 0x7f) return err_add(e, ERR_INPUT, "the name of a figure holds a line break or another control character; choose another -o name");
  char *copy = strdup(figure);
  assert(copy);
  const char *folder = dirname(copy);
  struct stat info;
  int code = 0;
  if (stat(folder, &info) != 0)
    code = errno == ENOENT ? err_add(e, ERR_INPUT, "%s: the folder %s does not exist; create it first (mkdir -p '%s')", figure, folder, folder)
                           : err_add(e, ERR_INPUT, "%s: the folder %s cannot be used: %s", figure, folder, strerror(errno));
  else if (!S_ISDIR(info.st_mode))
    code = err_add(e, ERR_INPUT, "%s: %s is not a folder", figure, folder);
  free(copy);
  return code;
}

/* line: what the file has to begin with, NULL for the figure, whose bytes are gnuplot's. What is missing or empty may be written. */
static int check_target(const char *path, const char *line, struct err *e) {
  static const char sqlite[] = "SQLite format 3";
  char begin[256] = "";
  struct stat info;
  if (stat(path, &info) != 0) return 0;
  if (!S_ISREG(info.st_mode)) return err_add(e, ERR_INPUT, "%s: is not an ordinary file; plot does not replace it: choose another -o name", path);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t got = fd < 0 ? -1 : read(fd, begin, sizeof begin - 1);
  int cause = errno;
  if (fd >= 0) close(fd);
  if (got < 0) return err_add(e, ERR_INPUT, "%s: cannot be read, so plot does not replace it (%s): choose another -o name, or remove it", path, strerror(cause));
  if (strcmp(begin, sqlite) == 0) return err_add(e, ERR_INPUT, "%s: is a study or another SQLite file; plot does not replace it: choose another -o name", path);
  if (got > 0 && line && strncmp(begin, line, strlen(line)) != 0)
    return err_add(e, ERR_INPUT, "%s: was not written by plot, which would replace it: choose another -o name, or remove the file", path);
  return 0;
}

int plot_run_check(const char *figure, struct err *e) {
  int code = check_name(figure, e);
  if (code) return code;
  char *script = plot_run_beside(figure, ".gp"), *data = plot_run_beside(figure, ".dat");
  const struct {
    const char *path, *line;
  } targets[] = {{figure, NULL}, {script, PLOT_RUN_SCRIPT_LINE}, {data, PLOT_RUN_DATA_LINE}};
  for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
    int found = check_target(targets[i].path, targets[i].line, e);
    if (found) code = found;
  }
  free(script);
  free(data);
  return code;
}

int plot_run_write(const char *path, const char *bytes, size_t size, struct err *e) {
  FILE *to = fopen(path, "we");
  bool written = to && fwrite(bytes, 1, size, to) == size;
  int cause = errno;
  if (to && fclose(to) != 0 && written) {
    written = false;
    cause = errno;
  }
  return written ? 0 : err_add(e, ERR_SYSTEM, "%s: cannot be written: %s", path, strerror(cause));
}

/* --- gnuplot --- */

/* Reads to the end, so that the child never blocks; keeps the beginning. */
static void read_words(int fd, char words[KEPT]) {
  char buffer[4096];
  size_t kept = 0;
  for (;;) {
    ssize_t got = read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    size_t take = (size_t)got < KEPT - 1 - kept ? (size_t)got : KEPT - 1 - kept;
    memcpy(words + kept, buffer, take);
    kept += take;
  }
  words[kept] = '\0';
}

/* Lines become one; gnuplot frames its messages with blank lines and carets. */
static void one_line(char *words) {
  char *to = words;
  for (const char *from = words; *from; from++) {
    char c = (unsigned char)*from < 0x20 ? ' ' : *from;
    if (c == ' ' && (to == words || to[-1] == ' ')) continue;
    *to++ = c;
  }
  while (to > words && to[-1] == ' ') to--;
  *to = '\0';
}

static int spawn(const char *folder, const char *name, int words_fd, pid_t *child) {
  char *const arguments[] = {"gnuplot", "-d", (char *)name, NULL}; /* -d: without the user's start-up file */
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, words_fd, 2);
  posix_spawn_file_actions_addchdir_np(&actions, folder);
  int failure = posix_spawnp(child, "gnuplot", &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  return failure;
}

static int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int plot_run_gnuplot(const char *script, const char *figure, struct err *e) {
  int fds[2];
  pid_t child;
  char words[KEPT];
  struct stat info;
  const char *slash = strrchr(script, '/');
  char *folder = slash ? strndup(script, (size_t)(slash - script) + 1) : strdup("."), *name = NULL;
  int length = asprintf(&name, "./%s", slash ? slash + 1 : script);
  assert(folder && length > 0);
  unlink(figure);
  int code = 0;
  if (pipe2(fds, O_CLOEXEC) != 0) {
    code = err_add(e, ERR_SYSTEM, "cannot start gnuplot: %s", strerror(errno));
    goto out;
  }
  int failure = spawn(folder, name, fds[1], &child);
  close(fds[1]);
  if (failure) {
    close(fds[0]);
    code = err_add(e, ERR_SYSTEM, "cannot start gnuplot: %s. Install it (apt-get install gnuplot-nox); %s and its data are written and can be drawn later.",
        strerror(failure), script);
    goto out;
  }
  read_words(fds[0], words);
  close(fds[0]);
  int status = wait_for(child);
  one_line(words);
  if (status != 0)
    code = err_add(e, ERR_SYSTEM, "%s: gnuplot failed (status %d): %s", script, status, words);
  else if (stat(figure, &info) != 0 || info.st_size == 0)
    code = err_add(e, ERR_SYSTEM, "%s: gnuplot wrote no figure: %s", figure, words);
out:
  free(folder);
  free(name);
  return code;
}
