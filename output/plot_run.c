/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/plot_run.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { KEPT = 2000 };

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
