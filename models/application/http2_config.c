/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/application/http2_config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { WINDOW_LEAST = 65535 };
#define WINDOW_MOST ((INT64_C(1) << 31) - 1)

static const struct param rows[] = {
    {.key = "http2.stream_window",
        .kind = PARAM_SIZE,
        .fallback = "65535B",
        .min = 1,
        .max = WINDOW_MOST,
        .help = "what each end lets the other send on a stream before it gives credit (SETTINGS_INITIAL_WINDOW_SIZE)"},
    {.key = "http2.connection_window",
        .kind = PARAM_SIZE,
        .fallback = "65535B",
        .min = WINDOW_LEAST,
        .max = WINDOW_MOST,
        .help = "the same for all streams together"},
    {.key = "http2.streams",
        .kind = PARAM_COUNT,
        .fallback = "100",
        .min = 1,
        .max = 1000000,
        .help = "requests under way at once that the server takes on a connection (SETTINGS_MAX_CONCURRENT_STREAMS)"},
    {.key = "http2.writes",
        .kind = PARAM_COUNT,
        .fallback = "1",
        .min = 1,
        .max = 2,
        .help = "writes of a header block and the data behind it: 1: together; 2: apart"},
    {.key = "http2.settings",
        .kind = PARAM_COUNT,
        .fallback = "3",
        .min = 0,
        .max = 16,
        .help = "parameters in the SETTINGS frame of the client; the server's has one"},
    {.key = "http2.path", .kind = PARAM_SIZE, .fallback = "33B", .min = 1, .max = HTTP2_PATH_MAX, .help = "length of a request's path"},
    {.key = "http2.authority", .kind = PARAM_SIZE, .fallback = "13B", .min = 1, .max = HTTP2_AUTHORITY_MAX, .help = "length of the server's name and port"},
};

const struct param_table http2_params = {rows, sizeof rows / sizeof *rows};

/* Text of the kind that stands there, as long as is asked for. */
static void fill(char *out, const char *kind, int64_t length) {
  size_t period = strlen(kind);
  for (int64_t i = 0; i < length; i++) out[i] = kind[(size_t)i % period];
  out[length] = '\0';
}

static void add(struct http2_headers *headers, const char *name, const char *value, enum hpack_indexing indexing) {
  headers->fields[headers->count++] = (struct hpack_field){name, value, indexing};
}

void http2_configure(const struct config *config, int64_t request_bytes, int64_t response_bytes, bool tls, struct http2_site *out) {
  const int64_t stream_window = config_number(config, "http2.stream_window"), connection_window = config_number(config, "http2.connection_window");
  *out = (struct http2_site){
      .connection =
          {
              .stream_window = {stream_window, stream_window},
              .connection_window = {connection_window, connection_window},
              .settings = {(int)config_number(config, "http2.settings"), 1},
              .streams_max = (int)config_number(config, "http2.streams"),
              .two_writes = config_number(config, "http2.writes") == 2,
              .says_goodbye = true,
          },
  };
  fill(out->path, "/nausf-auth/v1/ue-authentications", config_number(config, "http2.path"));
  fill(out->authority, "10.9.0.2:8443", config_number(config, "http2.authority"));
  snprintf(out->request_length, sizeof out->request_length, "%" PRId64, request_bytes);
  snprintf(out->response_length, sizeof out->response_length, "%" PRId64, response_bytes);
  struct http2_headers *request = &out->request, *response = &out->response;
  add(request, ":method", request_bytes > 0 ? "POST" : "GET", HPACK_INDEX);
  add(request, ":scheme", tls ? "https" : "http", HPACK_INDEX);
  add(request, ":authority", out->authority, HPACK_INDEX);
  add(request, ":path", out->path, HPACK_PLAIN);
  add(request, "user-agent", "curl/8.14.1", HPACK_INDEX);
  add(request, "accept", "*/*", HPACK_INDEX);
  if (request_bytes > 0) {
    add(request, "content-type", "application/json", HPACK_INDEX);
    add(request, "content-length", out->request_length, HPACK_PLAIN);
  }
  add(response, ":status", "200", HPACK_INDEX);
  add(response, "server", "nghttpd nghttp2/1.64.0", HPACK_INDEX);
  add(response, "cache-control", "max-age=3600", HPACK_INDEX);
  add(response, "date", "Mon, 21 Oct 2013 20:13:21 GMT", HPACK_INDEX);
  add(response, "content-length", out->response_length, HPACK_PLAIN);
}
