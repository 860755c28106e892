/* SPDX-License-Identifier: GPL-2.0-or-later */
/* http2_config: HTTP/2 as a scenario describes it.
 *
 * Purpose:   the parameters http2.*, and from them connections (http2.h) and the header fields of a request and its response.
 * Fields:    request: method, scheme, authority, path, user-agent, accept and, with a body, content-type and content-length. Response: status,
 *            server, cache-control, date and content-length. Path and content-length stay out of the dynamic table, as encoders do it; the date
 *            is one for the whole run.
 * Units:     bytes.
 * Errors:    none beyond the table's ranges.
 */
#ifndef PQNETSIM_HTTP2_CONFIG_H
#define PQNETSIM_HTTP2_CONFIG_H

#include "models/application/http2.h"
#include "sim/core/param.h"

extern const struct param_table http2_params; /* http2.* */

enum { HTTP2_PATH_MAX = 2000, HTTP2_AUTHORITY_MAX = 255, HTTP2_LENGTH_MAX = 24 };

struct http2_site {
  struct http2_config connection;
  struct http2_headers request, response;
  char path[HTTP2_PATH_MAX + 1], authority[HTTP2_AUTHORITY_MAX + 1];
  char request_length[HTTP2_LENGTH_MAX], response_length[HTTP2_LENGTH_MAX];
};

/* out is not to be moved afterwards: its fields point into it. */
void http2_configure(const struct config *config, int64_t request_bytes, int64_t response_bytes, bool tls, struct http2_site *out);

#endif
