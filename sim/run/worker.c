/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/run/worker.h"
#include "models/crypto/alg_own.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* Raised whenever a frame's meaning changes. */
#define WORKER_FORMAT 3
#define HELLO_NAME "pqnetsim-worker"

/* A growing byte string; starts with room for the frame's length. */
struct buffer {
  unsigned char *data;
  size_t length, capacity;
};

static void buffer_add(struct buffer *b, const void *bytes, size_t size) {
  if (b->length + size > b->capacity) {
    b->capacity = (b->length + size) * 2;
    b->data = realloc(b->data, b->capacity);
    assert(b->data);
  }
  if (size) memcpy(b->data + b->length, bytes, size);
  b->length += size;
}

static void buffer_text(struct buffer *b, const char *text) { buffer_add(b, text, strlen(text)); }

__attribute__((format(printf, 2, 3))) static void buffer_format(struct buffer *b, const char *format, ...) {
  char line[128];
  va_list list;
  va_start(list, format);
  int n = vsnprintf(line, sizeof line, format, list);
  va_end(list);
  assert(n >= 0 && (size_t)n < sizeof line);
  buffer_add(b, line, (size_t)n);
}

static void buffer_escaped(struct buffer *b, const char *text) {
  static const char plain[] = "\\\t\n", coded[] = "\\tn";
  for (; *text; text++) {
    const char *hit = strchr(plain, *text);
    if (hit) {
      const char pair[2] = {'\\', coded[hit - plain]};
      buffer_add(b, pair, 2);
    } else {
      buffer_add(b, text, 1);
    }
  }
}

/* In place; an unknown escape stands for its second character. */
static void unescape(char *text) {
  char *to = text;
  for (; *text; text++) {
    if (text[0] == '\\' && text[1]) {
      text++;
      *to++ = *text == 't' ? '\t' : *text == 'n' ? '\n' : *text;
    } else {
      *to++ = *text;
    }
  }
  *to = '\0';
}

static void put_length(unsigned char bytes[4], size_t length) {
  assert(length <= UINT32_MAX);
  for (int i = 0; i < 4; i++) bytes[i] = (unsigned char)(length >> (8 * i));
}

uint32_t worker_frame_length(const unsigned char bytes[4]) {
  return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static void buffer_block(struct buffer *b, const void *bytes, size_t size) {
  unsigned char length[4];
  put_length(length, size);
  buffer_add(b, length, 4);
  buffer_add(b, bytes, size);
}

static struct buffer frame_begin(void) {
  struct buffer b = {0};
  buffer_add(&b, "\0\0\0\0", 4);
  return b;
}

static unsigned char *frame_end(struct buffer *b, size_t *size) {
  put_length(b->data, b->length - 4);
  *size = b->length;
  return b->data;
}

unsigned char *worker_encode_job(const struct worker_job *job, size_t *size) {
  struct buffer b = frame_begin();
  buffer_format(&b, "point\t%" PRId64 "\n", job->point);
  buffer_format(&b, "seed\t%" PRIu64 "\n", job->seed);
  buffer_format(&b, "first\t%d\ncount\t%d\n", job->first, job->count);
  buffer_text(&b, "base_dir\t");
  buffer_escaped(&b, job->base_dir);
  buffer_text(&b, "\ndomain\t");
  buffer_escaped(&b, job->roster->domain->name);
  buffer_text(&b, "\n");
  for (int a = 0; a < alg_own_count(); a++) {
    char line[ALG_OWN_LINE_MAX];
    alg_own_write(alg_own_at(a), line);
    buffer_text(&b, "algorithm\t");
    buffer_escaped(&b, line);
    buffer_text(&b, "\n");
  }
  for (int g = 0; g < job->roster->group_count; g++) buffer_format(&b, "group\t%s\n", job->roster->groups[g]);
  /* the run's own keys (seed, replications, title) travel above; the worker's config has the roster's tables only */
  for (int t = 0; t < job->roster->table_count; t++)
    for (int r = 0; r < job->roster->tables[t]->count; r++) {
      const struct param *row = &job->roster->tables[t]->rows[r];
      if (row->sets || !config_is_set(job->config, row->key)) continue;
      buffer_text(&b, "p\t");
      buffer_text(&b, row->key);
      buffer_text(&b, "\t");
      buffer_escaped(&b, config_text(job->config, row->key));
      buffer_text(&b, "\n");
    }
  return frame_end(&b, size);
}

unsigned char *worker_encode_result(
    int64_t point, const struct metric_set *metrics, int metric_count, const char *warnings, const struct err *failure, size_t *size) {
  struct buffer b = frame_begin();
  buffer_format(&b, "point\t%" PRId64 "\n", point);
  if (failure && failure->count) {
    buffer_format(&b, "error\t%d\n", (int)failure->code);
    buffer_block(&b, failure->text, failure->length);
    return frame_end(&b, size);
  }
  buffer_text(&b, "ok\n");
  for (int m = 0; m < metric_count; m++) {
    size_t length;
    unsigned char *bytes = metric_bytes(metrics, m, &length);
    buffer_block(&b, bytes, length);
    free(bytes);
  }
  buffer_block(&b, warnings, strlen(warnings));
  return frame_end(&b, size);
}

/* Reads an answer from front to back. */
struct cursor {
  const unsigned char *at, *end;
};

/* The next line as a string in `line`; false when there is none or it is too long. */
static bool cursor_line(struct cursor *c, char *line, size_t size) {
  const unsigned char *newline = memchr(c->at, '\n', (size_t)(c->end - c->at));
  if (!newline || (size_t)(newline - c->at) >= size) return false;
  memcpy(line, c->at, (size_t)(newline - c->at));
  line[newline - c->at] = '\0';
  c->at = newline + 1;
  return true;
}

static bool cursor_block(struct cursor *c, const unsigned char **bytes, size_t *size) {
  if (c->end - c->at < 4) return false;
  *size = worker_frame_length(c->at);
  if ((size_t)(c->end - c->at - 4) < *size) return false;
  *bytes = c->at + 4;
  c->at += 4 + *size;
  return true;
}

/* The whole of text as a number. */
static bool whole_number(const char *text, intmax_t *value) {
  char *end;
  errno = 0;
  *value = strtoimax(text, &end, 10);
  return *text && !*end && !errno;
}

static int not_an_answer(struct err *failure) { return err_add(failure, ERR_SYSTEM, "a worker process sent something that is not an answer"); }

static int decode_error(struct cursor *c, const char *code, struct err *failure) {
  const unsigned char *bytes;
  size_t length;
  intmax_t number;
  if (!whole_number(code, &number) || (number != ERR_INPUT && number != ERR_SYSTEM) || !cursor_block(c, &bytes, &length) || c->at != c->end)
    return not_an_answer(failure);
  while (length) {
    const unsigned char *newline = memchr(bytes, '\n', length);
    size_t line = newline ? (size_t)(newline - bytes) : length;
    /* the caller asks failure->count, so this is not an error of decoding */
    (void)err_add(failure, (enum err_code)number, "%.*s", (int)line, (const char *)bytes);
    length -= newline ? line + 1 : line;
    bytes += newline ? line + 1 : line;
  }
  return failure->count ? 0 : not_an_answer(failure);
}

int worker_decode_result(
    const unsigned char *bytes, size_t size, int64_t *point, struct metric_set *metrics, int metric_count, char **warnings, struct err *failure) {
  struct cursor c = {bytes, bytes + size};
  char line[64];
  intmax_t number;
  const unsigned char *block;
  size_t length;
  if (!cursor_line(&c, line, sizeof line) || strncmp(line, "point\t", 6) || !whole_number(line + 6, &number)) return not_an_answer(failure);
  int64_t found = (int64_t)number;
  if (!cursor_line(&c, line, sizeof line)) return not_an_answer(failure);
  if (!strncmp(line, "error\t", 6)) {
    if (decode_error(&c, line + 6, failure)) return ERR_SYSTEM;
    *point = found;
    *warnings = strdup("");
    assert(*warnings);
    return 0;
  }
  if (strcmp(line, "ok")) return not_an_answer(failure);
  for (int m = 0; m < metric_count; m++) {
    struct err damage = {0};
    int status = cursor_block(&c, &block, &length) ? metric_merge_bytes(metrics, m, block, length, &damage) : ERR_SYSTEM;
    err_free(&damage);
    if (status) return not_an_answer(failure);
  }
  if (!cursor_block(&c, &block, &length) || c.at != c.end || memchr(block, '\0', length)) return not_an_answer(failure);
  *warnings = strndup((const char *)block, length);
  assert(*warnings);
  *point = found;
  return 0;
}

static unsigned char *encode_hello(const struct net_ops *ops, size_t *size) {
  struct buffer b = frame_begin();
  buffer_format(&b, HELLO_NAME " %d %s %s %u\n", WORKER_FORMAT, PQNETSIM_VERSION, ops->name, ops->caps);
  return frame_end(&b, size);
}

int worker_decode_hello(const unsigned char *bytes, size_t size, const char *backend, unsigned *caps, struct err *e) {
  struct cursor c = {bytes, bytes + size};
  char line[128], name[32], version[32], found[32];
  int format;
  unsigned bits;
  if (!cursor_line(&c, line, sizeof line) || c.at != c.end || sscanf(line, "%31s %d %31s %31s %u", name, &format, version, found, &bits) != 5 ||
      strcmp(name, HELLO_NAME))
    return err_add(e, ERR_SYSTEM, "the worker process for backend %s answered with something else than a greeting", backend);
  if (format != WORKER_FORMAT || strcmp(version, PQNETSIM_VERSION) || strcmp(found, backend))
    return err_add(e, ERR_INPUT,
        "the worker process is version %s, format %d, backend %s; this program needs version %s, format %d, backend %s: run make "
        "again, so that both programs are built from the same sources",
        version, format, found, PQNETSIM_VERSION, WORKER_FORMAT, backend);
  *caps = bits;
  return 0;
}

/* What the child side keeps while it works on one request. */
struct request {
  const struct domain *domain;
  const char *groups[ROSTER_GROUPS]; /* in the request's own text */
  int group_count;
  struct roster *roster; /* made with config when the first parameter comes, or at the end */
  struct config *config;
  char *base_dir;
  int64_t point;
  uint64_t seed;
  int first, count;
  struct buffer warnings;
};

static void request_free(struct request *r) {
  config_free(r->config);
  roster_free(r->roster);
  free(r->base_dir);
  free(r->warnings.data);
}

static int read_domain(struct request *r, char *value, struct err *e) {
  unescape(value);
  r->domain = domain_find(value);
  if (!r->domain) return err_add(e, ERR_SYSTEM, "this worker process does not know the scenario '%s'", value);
  return 0;
}

static int read_group(struct request *r, char *value, struct err *e) {
  bool good = r->domain && !r->config && r->domain->group_table_count > 0 && r->group_count < ROSTER_GROUPS && roster_is_name(value, strlen(value));
  for (int g = 0; g < r->group_count; g++) good = good && strcasecmp(r->groups[g], value);
  if (!good) return err_add(e, ERR_SYSTEM, "damaged request: group '%s'", value);
  r->groups[r->group_count++] = value;
  return 0;
}

static int read_definition(struct request *r, char *value, struct err *e) {
  unescape(value);
  if (r->config) return err_add(e, ERR_SYSTEM, "damaged request: algorithm '%s' behind a parameter", value);
  return alg_own_read(value, e);
}

static void open_config(struct request *r) {
  if (r->config || !r->domain) return;
  r->roster = roster_new(r->domain, r->groups, r->group_count);
  r->config = config_new(r->roster->tables, r->roster->table_count);
}

static int read_parameter(struct request *r, char *value, struct err *e) {
  char *text = strchr(value, '\t');
  open_config(r);
  if (!r->config || !text) return err_add(e, ERR_SYSTEM, "damaged request: parameter '%s'", value);
  *text++ = '\0';
  unescape(text);
  return config_set(r->config, value, text, e);
}

static int read_base_dir(struct request *r, char *value, struct err *e) {
  (void)e;
  unescape(value);
  free(r->base_dir);
  r->base_dir = strdup(value);
  assert(r->base_dir);
  return 0;
}

static int read_seed(struct request *r, char *value, struct err *e) {
  char *end;
  errno = 0;
  r->seed = strtoull(value, &end, 10);
  return !errno && *value && !*end ? 0 : err_add(e, ERR_SYSTEM, "damaged request: seed '%s'", value);
}

static int read_number(const char *name, const char *value, intmax_t max, intmax_t *out, struct err *e) {
  if (whole_number(value, out) && *out >= 0 && *out <= max) return 0;
  return err_add(e, ERR_SYSTEM, "damaged request: %s '%s'", name, value);
}

static int read_point(struct request *r, char *value, struct err *e) {
  intmax_t number;
  int status = read_number("point", value, INT64_MAX, &number, e);
  r->point = status ? -1 : (int64_t)number;
  return status;
}

static int read_first(struct request *r, char *value, struct err *e) {
  intmax_t number;
  int status = read_number("first", value, INT32_MAX, &number, e);
  r->first = status ? 0 : (int)number;
  return status;
}

static int read_count(struct request *r, char *value, struct err *e) {
  intmax_t number;
  int status = read_number("count", value, INT32_MAX, &number, e);
  r->count = status ? 0 : (int)number;
  return status;
}

static const struct {
  const char *key;
  int (*read)(struct request *r, char *value, struct err *e);
} request_lines[] = {
    {"point", read_point},
    {"seed", read_seed},
    {"first", read_first},
    {"count", read_count},
    {"base_dir", read_base_dir},
    {"domain", read_domain},
    {"algorithm", read_definition},
    {"group", read_group},
    {"p", read_parameter},
};

static int read_line(struct request *r, char *line, struct err *e) {
  char *value = strchr(line, '\t');
  if (!value) return err_add(e, ERR_SYSTEM, "damaged request: line '%s'", line);
  *value++ = '\0';
  for (size_t i = 0; i < sizeof request_lines / sizeof request_lines[0]; i++)
    if (!strcmp(line, request_lines[i].key)) return request_lines[i].read(r, value, e);
  return err_add(e, ERR_SYSTEM, "damaged request: key '%s'", line);
}

static int read_request(struct request *r, char *text, struct err *e) {
  char *rest = text, *line;
  alg_forget_own();
  while ((line = strsep(&rest, "\n")) && rest) {
    int status = read_line(r, line, e);
    if (status) return status;
  }
  open_config(r);
  if (!r->domain || !r->base_dir || r->point < 0) return err_add(e, ERR_SYSTEM, "damaged request: domain, base_dir or point is missing");
  return 0;
}

static void keep_warning(void *arg, const char *text) {
  struct request *r = arg;
  buffer_text(&r->warnings, text);
  buffer_text(&r->warnings, "\n");
}

static unsigned char *answer_request(struct runner *runner, char *text, size_t *size) {
  struct request r = {.point = -1};
  struct err e = {0};
  struct metric_set *metrics = NULL;
  if (!read_request(&r, text, &e)) {
    metrics = metric_set_new(r.roster->metrics, r.roster->metric_count);
    /* an error is in e and goes into the answer */
    (void)!runner_point(runner, r.roster, r.config, r.base_dir, r.seed, r.first, r.count, metrics, keep_warning, &r, &e);
  }
  buffer_add(&r.warnings, "", 1);
  unsigned char *frame = worker_encode_result(r.point, metrics, metrics ? r.roster->metric_count : 0, (const char *)r.warnings.data, &e, size);
  metric_set_free(metrics);
  request_free(&r);
  err_free(&e);
  return frame;
}

/* False at end of file or on an error. */
static bool read_all(int fd, void *data, size_t size) {
  unsigned char *at = data;
  while (size) {
    ssize_t n = read(fd, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= (size_t)n;
  }
  return true;
}

static bool write_all(int fd, const unsigned char *at, size_t size) {
  while (size) {
    ssize_t n = write(fd, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    at += n;
    size -= (size_t)n;
  }
  return true;
}

static bool send_frame(int fd, unsigned char *frame, size_t size) {
  bool sent = write_all(fd, frame, size);
  free(frame);
  return sent;
}

int worker_serve(const struct net_ops *ops, int in_fd, int out_fd) {
  size_t size;
  unsigned char *hello = encode_hello(ops, &size);
  if (!send_frame(out_fd, hello, size)) return 1;
  struct runner *runner = runner_new(ops);
  int status = 0;
  unsigned char length[4];
  while (!status && read_all(in_fd, length, sizeof length)) {
    size = worker_frame_length(length);
    char *text = size <= WORKER_FRAME_MAX ? malloc(size + 1) : NULL;
    if (!text || !read_all(in_fd, text, size)) {
      status = 1;
    } else {
      text[size] = '\0';
      unsigned char *answer = answer_request(runner, text, &size);
      status = send_frame(out_fd, answer, size) ? 0 : 1;
    }
    free(text);
  }
  runner_free(runner);
  return status;
}
