/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/run/pool.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  TICK_MS = 100,
  GREETING_MS = 30000, /* dynamic linking of ns-3 on a cold, busy disk stays far below */
  EXIT_MS = 2000,      /* from end of file to exit; then the worker is killed */
  READ_BYTES = 65536,
};

const char *const pool_backends[] = {"native", "ns3", NULL};

/* In the order of pool_backends. */
static const struct backend {
  const struct net_ops *ops; /* runs in a fork of this program, or */
  const char *program;       /* in a program beside this one */
  const char *how_to_get;
} backends[] = {
    {&net_native, NULL, NULL},
    {NULL, "pqnetsim-ns3", "it is built by ./configure && make on a machine with ns-3 (Debian package libns3-dev)"},
};

enum process_state { ABSENT, STARTING, IDLE, BUSY };

struct process {
  enum process_state state;
  pid_t pid;
  int to, from; /* its stdin and stdout */
  bool has_job;
  struct worker_job job;
  unsigned char *out; /* request not yet written */
  size_t out_size, out_done;
  unsigned char *in; /* answer not yet complete */
  size_t in_size, in_capacity;
};

struct pool {
  const char *name;
  const struct backend *backend;
  char *program; /* path; NULL when forked */
  struct process *processes;
  struct pollfd *polls; /* two per process: to, from */
  int count;
  const struct pool_source *source;
  bool exhausted, stopped;
  bool drained; /* jobs were left because of a signal */
  struct timespec ticked;
  unsigned caps;
};

static volatile sig_atomic_t interrupted;

static struct timespec interrupted_at;

static int64_t elapsed_ms(const struct timespec *since) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (now.tv_sec - since->tv_sec) * INT64_C(1000) + (now.tv_nsec - since->tv_nsec) / 1000000;
}

/* One signal may come twice at once, to the process and to its group (timeout, a terminal): only one that comes a second
 * later means it. Everything called here is safe in a handler. */
static void on_signal(int number) {
  if (!interrupted) {
    clock_gettime(CLOCK_MONOTONIC, &interrupted_at);
    interrupted = 1;
  } else if (elapsed_ms(&interrupted_at) >= 1000) {
    signal(number, SIG_DFL);
    raise(number);
  }
}

/* The child's side of fork. SIGINT reaches the whole foreground group, SIGTERM a whole batch job: the parent alone
 * decides, and running points finish. The child never outlives the parent. */
static _Noreturn void child_main(const struct pool *pool, pid_t parent, int in, int out) {
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  signal(SIGPIPE, SIG_DFL);
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent || dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0) _exit(1);
  /* other workers' pipes must not stay open here: their readers wait for end of file */
  closefrom(STDERR_FILENO + 1);
  if (!pool->program) _exit(worker_serve(pool->backend->ops, STDIN_FILENO, STDOUT_FILENO));
  execl(pool->program, pool->program, (char *)NULL);
  _exit(127);
}

static int process_start(struct pool *pool, struct process *process, struct err *e) {
  int to[2], from[2];
  if (pipe2(to, O_CLOEXEC)) return err_add(e, ERR_SYSTEM, "cannot start a worker process: %s", strerror(errno));
  if (pipe2(from, O_CLOEXEC)) {
    int status = err_add(e, ERR_SYSTEM, "cannot start a worker process: %s", strerror(errno));
    close(to[0]);
    close(to[1]);
    return status;
  }
  /* what is buffered now would be written twice */
  fflush(NULL);
  pid_t parent = getpid(), pid = fork();
  if (pid == 0) child_main(pool, parent, to[0], from[1]);
  int why = errno;
  close(to[0]);
  close(from[1]);
  if (pid < 0) {
    close(to[1]);
    close(from[0]);
    return err_add(e, ERR_SYSTEM, "cannot start a worker process: %s", strerror(why));
  }
  fcntl(to[1], F_SETFL, O_NONBLOCK);
  fcntl(from[0], F_SETFL, O_NONBLOCK);
  process->state = STARTING;
  process->pid = pid;
  process->to = to[1];
  process->from = from[0];
  return 0;
}

static void job_free(struct process *process) {
  if (process->has_job) config_free((struct config *)process->job.config);
  process->has_job = false;
}

/* Ends a process that has no more to say (kill_now: or whatever it is doing); returns its wait status. */
static int process_end(struct process *process, bool kill_now) {
  struct timespec start;
  clock_gettime(CLOCK_MONOTONIC, &start);
  close(process->to);
  close(process->from);
  int status = 0;
  pid_t done = 0;
  if (kill_now) kill(process->pid, SIGKILL);
  while (!kill_now && (done = waitpid(process->pid, &status, WNOHANG)) == 0) {
    if (elapsed_ms(&start) >= EXIT_MS) {
      kill(process->pid, SIGKILL);
      break;
    }
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
  while (done == 0 && waitpid(process->pid, &status, 0) < 0 && errno == EINTR) continue;
  free(process->out);
  free(process->in);
  process->out = process->in = NULL;
  process->out_size = process->out_done = process->in_size = process->in_capacity = 0;
  process->state = ABSENT;
  return status;
}

static void describe_death(int status, char *text, size_t size) {
  if (WIFSIGNALED(status))
    snprintf(text, size, "the worker process was killed by signal %d (%s)%s", WTERMSIG(status), strsignal(WTERMSIG(status)),
        WTERMSIG(status) == SIGKILL ? "; perhaps memory ran out" : "");
  else
    snprintf(text, size, "the worker process ended with status %d", WEXITSTATUS(status));
}

static void hand_over(struct pool *pool, struct process *process, const struct pool_result *result) {
  if (pool->source->take(pool->source->arg, result)) pool->stopped = true;
  job_free(process);
}

static void fail_job(struct pool *pool, struct process *process, const char *reason) {
  struct pool_result result = {.point = process->job.point, .warnings = "", .failure = reason};
  hand_over(pool, process, &result);
}

/* The process is gone or not to be trusted; reason NULL: as its death says. */
static int process_lost(struct pool *pool, struct process *process, const char *reason, struct err *e) {
  char text[160];
  enum process_state was = process->state;
  describe_death(process_end(process, reason != NULL), text, sizeof text);
  if (was == STARTING) {
    job_free(process);
    return err_add(e, ERR_SYSTEM, "backend %s: no greeting from its first worker: %s", pool->name, reason ? reason : text);
  }
  if (was == BUSY) fail_job(pool, process, reason ? reason : text);
  return 0;
}

static void send_job(struct process *process) {
  process->out = worker_encode_job(&process->job, &process->out_size);
  process->out_done = 0;
  process->state = BUSY;
}

/* Gives the process work if there is any, starting it when needed. */
static int process_feed(struct pool *pool, struct process *process, struct err *e) {
  if (pool->exhausted || pool->stopped || process->has_job) return 0;
  process->has_job = pool->source->next(pool->source->arg, &process->job);
  if (!process->has_job) {
    pool->exhausted = true;
    return 0;
  }
  if (process->state == IDLE) {
    send_job(process);
    return 0;
  }
  int status = process_start(pool, process, e);
  if (status) job_free(process);
  return status;
}

/* One complete frame: the greeting, or the answer to the job. */
static int frame_take(struct pool *pool, struct process *process, const unsigned char *bytes, size_t size, struct err *e) {
  if (process->state == STARTING) {
    int status = worker_decode_hello(bytes, size, pool->name, &pool->caps, e);
    process->state = status ? STARTING : IDLE;
    if (!status && process->has_job) send_job(process);
    return status;
  }
  if (process->state == IDLE) return process_lost(pool, process, "it spoke without being asked", e);
  const struct roster *roster = process->job.roster;
  struct metric_set *metrics = metric_set_new(roster->metrics, roster->metric_count);
  struct err failure = {0};
  char *warnings = NULL;
  int64_t point = -1;
  int damaged = worker_decode_result(bytes, size, &point, metrics, roster->metric_count, &warnings, &failure), status = 0;
  if (failure.text) failure.text[failure.length - 1] = '\0'; /* the last newline */
  if (damaged) {
    status = process_lost(pool, process, failure.text, e);
  } else if (point != process->job.point) {
    status = process_lost(pool, process, "the worker process answered for another point", e);
  } else {
    struct pool_result result = {.point = point, .metrics = failure.count ? NULL : metrics, .warnings = warnings, .failure = failure.text};
    process->state = IDLE;
    hand_over(pool, process, &result);
  }
  free(warnings);
  err_free(&failure);
  metric_set_free(metrics);
  return status;
}

/* Reads what there is; every complete frame is taken. */
static int process_read(struct pool *pool, struct process *process, struct err *e) {
  if (process->in_capacity < process->in_size + READ_BYTES) {
    process->in_capacity = (process->in_size + READ_BYTES) * 2;
    process->in = realloc(process->in, process->in_capacity);
    assert(process->in);
  }
  ssize_t n = read(process->from, process->in + process->in_size, process->in_capacity - process->in_size);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  if (n <= 0) return process_lost(pool, process, NULL, e);
  process->in_size += (size_t)n;
  while (process->state != ABSENT && process->in_size >= 4 && !pool->stopped) {
    size_t length = worker_frame_length(process->in);
    if (length > WORKER_FRAME_MAX) return process_lost(pool, process, "the worker process sent something that is not an answer", e);
    if (process->in_size < 4 + length) return 0;
    int status = frame_take(pool, process, process->in + 4, length, e);
    if (status || process->state == ABSENT) return status;
    process->in_size -= 4 + length;
    memmove(process->in, process->in + 4 + length, process->in_size);
  }
  return 0;
}

/* A write error is a dead reader; its end of file tells the rest. */
static void process_write(struct process *process) {
  ssize_t n = write(process->to, process->out + process->out_done, process->out_size - process->out_done);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  process->out_done += n > 0 ? (size_t)n : process->out_size - process->out_done;
  if (process->out_done == process->out_size) {
    free(process->out);
    process->out = NULL;
    process->out_size = process->out_done = 0;
  }
}

/* Waits for something to do, a signal or the next tick; false when no process works any more. */
static bool pool_wait(struct pool *pool) {
  bool working = false;
  for (int i = 0; i < pool->count; i++) {
    const struct process *process = &pool->processes[i];
    struct pollfd *to = &pool->polls[2 * i], *from = to + 1;
    *to = (struct pollfd){.fd = process->out ? process->to : -1, .events = POLLOUT};
    *from = (struct pollfd){.fd = process->state != ABSENT ? process->from : -1, .events = POLLIN};
    working |= process->state == STARTING || process->state == BUSY;
  }
  if (!working) return false;
  /* a signal just before this wait is seen a tick later */
  if (poll(pool->polls, 2 * (nfds_t)pool->count, TICK_MS) < 0)
    for (int i = 0; i < 2 * pool->count; i++) pool->polls[i].revents = 0;
  if (pool->source->tick && elapsed_ms(&pool->ticked) >= TICK_MS) {
    clock_gettime(CLOCK_MONOTONIC, &pool->ticked);
    pool->source->tick(pool->source->arg);
  }
  return true;
}

/* Jobs not yet sent are dropped. Whether there were any more is asked, for a signal behind the last one interrupts
 * nothing. */
static void pool_drain(struct pool *pool) {
  struct worker_job job;
  pool->exhausted = true;
  if (pool->source->next(pool->source->arg, &job)) {
    config_free((struct config *)job.config);
    pool->drained = true;
  }
  for (int i = 0; i < pool->count; i++)
    if (pool->processes[i].state == STARTING) {
      process_end(&pool->processes[i], true);
      job_free(&pool->processes[i]);
      pool->drained = true;
    }
}

static int pool_loop(struct pool *pool, struct err *e) {
  int status = 0;
  bool working = true;
  while (working && !status && !pool->stopped) {
    if (interrupted && !pool->exhausted) pool_drain(pool);
    for (int i = 0; i < pool->count && !status && !pool->stopped; i++) status = process_feed(pool, &pool->processes[i], e);
    if (status || pool->stopped) break;
    working = pool_wait(pool);
    for (int i = 0; working && i < pool->count && !status && !pool->stopped; i++) {
      if (pool->polls[2 * i].revents) process_write(&pool->processes[i]);
      if (pool->polls[2 * i + 1].revents) status = process_read(pool, &pool->processes[i], e);
    }
  }
  return status;
}

static int pool_open(struct pool *pool, const char *backend, const char *program_dir, int workers, struct err *e) {
  _Static_assert(sizeof pool_backends / sizeof pool_backends[0] == sizeof backends / sizeof backends[0] + 1, "one row per backend");
  int index = 0;
  while (pool_backends[index] && strcmp(pool_backends[index], backend)) index++;
  assert(pool_backends[index] && workers > 0);
  pool->name = pool_backends[index];
  pool->backend = &backends[index];
  if (pool->backend->program) {
    if (asprintf(&pool->program, "%s/%s", program_dir, pool->backend->program) < 0) abort();
    if (access(pool->program, X_OK)) {
      int status = err_add(e, ERR_INPUT, "backend %s: %s: %s; %s", backend, pool->program, strerror(errno), pool->backend->how_to_get);
      free(pool->program);
      return status;
    }
  }
  pool->count = workers;
  pool->processes = calloc((size_t)workers, sizeof *pool->processes);
  pool->polls = calloc(2 * (size_t)workers, sizeof *pool->polls);
  assert(pool->processes && pool->polls);
  clock_gettime(CLOCK_MONOTONIC, &pool->ticked);
  return 0;
}

static void pool_close(struct pool *pool, bool kill_now) {
  for (int i = 0; i < pool->count; i++) {
    if (pool->processes[i].state != ABSENT) process_end(&pool->processes[i], kill_now || pool->processes[i].state != IDLE);
    job_free(&pool->processes[i]);
  }
  free(pool->processes);
  free(pool->polls);
  free(pool->program);
}

struct signals {
  struct sigaction interrupt, terminate, pipe;
};

static void signals_take(struct signals *old) {
  interrupted = 0;
  /* reads and writes of the store go on; poll does not, whatever SA_RESTART says */
  struct sigaction once = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, ignore = {.sa_handler = SIG_IGN};
  sigaction(SIGINT, &once, &old->interrupt);
  sigaction(SIGTERM, &once, &old->terminate);
  sigaction(SIGPIPE, &ignore, &old->pipe);
}

static void signals_give_back(const struct signals *old) {
  sigaction(SIGINT, &old->interrupt, NULL);
  sigaction(SIGTERM, &old->terminate, NULL);
  sigaction(SIGPIPE, &old->pipe, NULL);
}

int pool_run(const char *backend, const char *program_dir, int workers, const struct pool_source *source, enum pool_status *status, struct err *e) {
  struct pool pool = {.source = source};
  int result = pool_open(&pool, backend, program_dir, workers, e);
  if (result) return result;
  struct signals old;
  signals_take(&old);
  result = pool_loop(&pool, e);
  pool_close(&pool, result || pool.stopped);
  signals_give_back(&old);
  *status = pool.stopped ? POOL_STOPPED : pool.drained ? POOL_INTERRUPTED : POOL_DONE;
  return result;
}

int pool_probe(const char *backend, const char *program_dir, struct net_ops *ops, struct err *e) {
  struct pool pool = {0};
  int status = pool_open(&pool, backend, program_dir, 1, e);
  if (status) return status;
  pool.caps = pool.backend->ops ? pool.backend->ops->caps : 0;
  if (pool.program) {
    struct process *process = &pool.processes[0];
    status = process_start(&pool, process, e);
    struct pollfd from = {.fd = process->from, .events = POLLIN};
    while (!status && process->state == STARTING) {
      int n = poll(&from, 1, GREETING_MS);
      if (n < 0 && errno != EINTR)
        status = err_add(e, ERR_SYSTEM, "cannot wait for a worker process: %s", strerror(errno));
      else if (n == 0)
        status = process_lost(&pool, process, "it stays silent", e);
      else if (n > 0)
        status = process_read(&pool, process, e);
    }
  }
  *ops = (struct net_ops){.name = pool.name, .caps = pool.caps};
  pool_close(&pool, false);
  return status;
}
