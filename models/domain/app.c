/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/domain/app.h"

#include "models/security/tls13.h"

#include <assert.h>

#define DAY INT64_C(86400000000000)
#define GIB (INT64_C(1) << 30)

static const char *const connections[] = {"kept", "new", NULL};

static const struct param rows[] = {
    {.key = "app.request",
        .kind = PARAM_SIZE,
        .fallback = "0B",
        .min = 0,
        .max = GIB,
        .help = "application data of a request; 0B: the server sends its response unasked"},
    {.key = "app.response",
        .kind = PARAM_SIZE,
        .fallback = "0B",
        .min = 0,
        .max = GIB,
        .help = "application data of a response; with app.request 0B too: the handshake alone"},
    {.key = "app.requests", .kind = PARAM_COUNT, .fallback = "1", .min = 1, .max = 100000, .help = "requests of the client, one after the other"},
    {.key = "app.service", .kind = PARAM_TIME, .fallback = "0s", .min = 0, .max = DAY, .help = "how long the server takes before it answers"},
    {.key = "app.every", .kind = PARAM_TIME, .fallback = "0s", .min = 0, .max = DAY, .help = "pause of the client between a response and its next request"},
    {.key = "app.connection",
        .kind = PARAM_CHOICE,
        .choices = connections,
        .fallback = "kept",
        .help = "kept: all requests on one connection; new: each on its own, with a handshake of its own"},
};

const struct param_table app_params = {rows, sizeof rows / sizeof *rows};

int app_configure(const struct config *config, struct app_config *out, struct err *e) {
  *out = (struct app_config){
      .request_bytes = config_number(config, "app.request"),
      .response_bytes = config_number(config, "app.response"),
      .every = config_number(config, "app.every"),
      .service = config_number(config, "app.service"),
      .requests = (int)config_number(config, "app.requests"),
      .kept = config_number(config, "app.connection") == 0,
  };
  if (out->request_bytes == 0 && out->response_bytes == 0) out->requests = 0;
  if (out->requests > 1 && out->request_bytes == 0)
    return err_add(
        e, ERR_INPUT, "app.requests: found %d, but app.request is 0B: several responses need requests; allowed 1, or a request of 1B or more", out->requests);
  return 0;
}

static int64_t sealed(int64_t plain) { return plain + (plain + TLS13_RECORD_MAX - 1) / TLS13_RECORD_MAX * TLS13_RECORD_OVERHEAD; }

static void add(struct dialogue_script *script, const struct dialogue_step *step) {
  assert(script->count < DIALOGUE_STEPS);
  script->steps[script->count++] = *step;
}

static void mark(struct dialogue_script *script, enum app_mark which) { add(script, &(struct dialogue_step){.kind = DIALOGUE_MARK, .mark = (int)which}); }

struct cipher {
  const char *title;
  int use;
  uint32_t draw; /* of the next operation */
};

/* Sealing or opening `plain` bytes, in whole records and what is left. */
static void protect(struct dialogue_script *script, struct cipher *cipher, const char *operation, int64_t plain) {
  struct dialogue_op op = {.algorithm = cipher->title, .operation = operation, .size_bytes = TLS13_RECORD_MAX, .use = cipher->use};
  op.times = (int)(plain / TLS13_RECORD_MAX);
  op.draw = cipher->draw++;
  if (op.times > 0) add(script, &(struct dialogue_step){.kind = DIALOGUE_WORK, .op = op});
  op.times = 1;
  op.size_bytes = plain % TLS13_RECORD_MAX;
  op.draw = cipher->draw++;
  if (op.size_bytes > 0) add(script, &(struct dialogue_step){.kind = DIALOGUE_WORK, .op = op});
}

/* Data in pieces of whole records, as many as a script has room for. */
static int64_t piece_of(int64_t bytes) {
  int64_t records = (bytes + TLS13_RECORD_MAX - 1) / TLS13_RECORD_MAX;
  return (records + APP_WRITES_MOST - 1) / APP_WRITES_MOST * TLS13_RECORD_MAX;
}

static void put(struct dialogue_script *script, struct cipher *cipher, int64_t bytes) {
  for (int64_t piece = piece_of(bytes); bytes > 0; bytes -= piece) {
    if (piece > bytes) piece = bytes;
    protect(script, cipher, "seal", piece);
    add(script, &(struct dialogue_step){.kind = DIALOGUE_WRITE, .bytes = sealed(piece)});
  }
}

static void get(struct dialogue_script *script, struct cipher *cipher, int64_t bytes) {
  bool first = true;
  for (int64_t piece = piece_of(bytes); bytes > 0; bytes -= piece, first = false) {
    if (piece > bytes) piece = bytes;
    add(script, &(struct dialogue_step){.kind = DIALOGUE_READ, .bytes = sealed(piece)});
    protect(script, cipher, "open", piece);
    if (first) mark(script, APP_FIRST_BYTE);
  }
  mark(script, APP_LAST_BYTE);
}

void app_scripts(const struct app_config *app, const char *cipher, int use, struct dialogue_script scripts[2]) {
  struct cipher client = {cipher, use, 0}, server = {cipher, use, 0};
  scripts[NET_A].count = scripts[NET_B].count = 0;
  mark(&scripts[NET_A], APP_ASKED);
  put(&scripts[NET_A], &client, app->request_bytes);
  get(&scripts[NET_B], &server, app->request_bytes);
  if (app->service > 0) add(&scripts[NET_B], &(struct dialogue_step){.kind = DIALOGUE_PAUSE, .wait = app->service});
  put(&scripts[NET_B], &server, app->response_bytes);
  get(&scripts[NET_A], &client, app->response_bytes);
}
