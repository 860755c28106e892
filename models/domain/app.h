/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app: requests and responses over a TLS connection.
 *
 * Purpose:   the application of the tls domain: a client that asks and a server that answers, on one connection or on a new one
 *            for each request. As scripts of dialogue.h: one request with its response.
 * Units:     bytes of application data, ns.
 * Records:   data go out in records of 16 KiB, each sealed and written on its own as SSL_write does; a very long response in
 *            APP_WRITES_MOST writes of several records.
 * Errors:    ERR_INPUT sentences that begin with the key.
 * Sources:   RFC 8446 section 5 (record length and overhead).
 */
#ifndef PQNETSIM_APP_H
#define PQNETSIM_APP_H

#include "models/security/dialogue.h"
#include "sim/core/param.h"

extern const struct param_table app_params; /* app.* */

struct app_config {
  int64_t request_bytes, response_bytes;
  simtime every;
  simtime service; /* of the server, before it answers */
  int requests;    /* 0: no application */
  bool kept;       /* all requests on one connection */
};

int app_configure(const struct config *config, struct app_config *out, struct err *e) MUST_CHECK;

/* Marks of the client's script. */
enum app_mark { APP_ASKED = 64, APP_FIRST_BYTE, APP_LAST_BYTE };
enum { APP_WRITES_MOST = 40 };

/* Scripts of one request, client's and server's. cipher: title of the AEAD that protects records. */
void app_scripts(const struct app_config *app, const char *cipher, int use, struct dialogue_script scripts[2]);

#endif
