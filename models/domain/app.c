/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/domain/app.h"

#define DAY INT64_C(86400000000000)
#define GIB (INT64_C(1) << 30)

static const char *const protocols[] = {"plain", "http2", NULL};
static const char *const connections[] = {"kept", "new", NULL};

static const struct param rows[] = {
    {.key = "app.request",
        .kind = PARAM_SIZE,
        .fallback = "0B",
        .min = 0,
        .max = GIB,
        .help = "application data of a request; 0B: the server sends its response unasked, with http2 a GET"},
    {.key = "app.response",
        .kind = PARAM_SIZE,
        .fallback = "0B",
        .min = 0,
        .max = GIB,
        .help = "application data of a response; with app.request 0B too: the handshake alone"},
    {.key = "app.protocol",
        .kind = PARAM_CHOICE,
        .choices = protocols,
        .fallback = "plain",
        .help = "plain: requests and responses alone; http2: as streams of HTTP/2, with its frames, headers and windows"},
    {.key = "app.concurrent",
        .kind = PARAM_COUNT,
        .fallback = "1",
        .min = 1,
        .max = 100000,
        .help = "requests under way at once on a kept connection; more than 1 needs app.protocol http2"},
    {.key = "app.requests",
        .kind = PARAM_COUNT,
        .fallback = "1",
        .min = 1,
        .max = 100000,
        .help = "requests of the client; each follows on the response of another"},
    {.key = "app.service", .kind = PARAM_TIME, .fallback = "0s", .min = 0, .max = DAY, .help = "how long the server takes before it answers"},
    {.key = "app.waits",
        .kind = PARAM_BOOL,
        .fallback = "no",
        .help = "the first request of a connection waits until the client's last handshake flight is acknowledged"},
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
      .exchange =
          {
              .request_bytes = config_number(config, "app.request"),
              .response_bytes = config_number(config, "app.response"),
              .service = config_number(config, "app.service"),
              .waits = config_number(config, "app.waits") != 0,
          },
      .every = config_number(config, "app.every"),
      .requests = (int)config_number(config, "app.requests"),
      .kept = config_number(config, "app.connection") == 0,
      .http2 = config_number(config, "app.protocol") == 1,
      .concurrent = (int)config_number(config, "app.concurrent"),
  };
  const struct tls13_exchange *exchange = &out->exchange;
  if (!out->http2 && exchange->request_bytes == 0 && exchange->response_bytes == 0) out->requests = 0;
  if (!out->http2 && out->requests > 1 && exchange->request_bytes == 0)
    return err_add(
        e, ERR_INPUT, "app.requests: found %d, but app.request is 0B: several responses need requests; allowed 1, or a request of 1B or more", out->requests);
  if (out->concurrent > 1 && (!out->http2 || !out->kept))
    return err_add(e, ERR_INPUT, "app.concurrent: found %d, allowed 1, or app.protocol http2 with app.connection kept", out->concurrent);
  if (out->http2 && exchange->waits) return err_add(e, ERR_INPUT, "app.waits: found yes, allowed no with app.protocol http2");
  return 0;
}
