/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tls_metrics: what a run of the tls domain measures.
 *
 * Purpose:   the table of metrics.
 * Units:     per metric, as metric.h has them.
 */
#ifndef PQNETSIM_TLS_METRICS_H
#define PQNETSIM_TLS_METRICS_H

#include "sim/core/metric.h"

enum tls_metric {
  TLS_CONNECT,
  TLS_HANDSHAKE_TCP, /* TCP's included */
  TLS_HANDSHAKE,
  TLS_SERVER_HANDSHAKE,
  TLS_FLIGHT_ACKED,
  TLS_REQUEST,
  TLS_FIRST_BYTE,
  TLS_LAST_BYTE,
  TLS_HIDDEN_CRYPTO,
  TLS_CLIENT_CPU,
  TLS_SERVER_CPU,
  TLS_BYTES_C2S,
  TLS_BYTES_S2C,
  TLS_SEGMENTS_C2S,
  TLS_SEGMENTS_S2C,
  TLS_BYTES_TOTAL,
  TLS_PACKETS_TOTAL,
  TLS_RETRANSMISSIONS,
  TLS_TIMEOUTS,
  TLS_SUCCESS,
  TLS_HNDL_EXPOSED,
  TLS_AUTH_EXPOSED,
  TLS_METRICS
};

extern const struct metric_def tls_metric_defs[TLS_METRICS];

#endif
