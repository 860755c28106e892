/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app: the application on a TLS connection.
 *
 * Purpose:   what a client asks and how often, what the server answers, and on which connections.
 * Units:     bytes of application data, ns.
 * Errors:    ERR_INPUT sentences that begin with the key.
 */
#ifndef PQNETSIM_APP_H
#define PQNETSIM_APP_H

#include "models/security/tls13.h"
#include "sim/core/param.h"

extern const struct param_table app_params; /* app.* */

struct app_config {
  struct tls13_exchange exchange;
  simtime every;
  int requests; /* 0: no application */
  bool http2;
  int concurrent; /* requests of a connection under way at once */
  bool kept;      /* all requests on one connection */
};

int app_configure(const struct config *config, struct app_config *out, struct err *e) MUST_CHECK;

#endif
