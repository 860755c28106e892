/* SPDX-License-Identifier: GPL-2.0-or-later */
/* e2_metrics: what a run of the E2 domain measures.
 *
 * Purpose:   the table of metrics, and recording for a node in all metrics of the population and of its group.
 * Units:     per metric, as metric.h has them.
 * Ownership: the set is the run's.
 */
#ifndef PQNETSIM_E2_METRICS_H
#define PQNETSIM_E2_METRICS_H

#include "sim/core/metric.h"

enum e2_metric {
  IKE_INIT,
  IKE_INTERMEDIATE,
  IKE_AUTH,
  CHILD_SA,
  IKE_ESTABLISH,
  TUNNEL_SETUP,
  GAVE_UP,
  REKEY,
  SCTP_SETUP,
  E2_SETUP,
  XAPP_START,
  INDICATION_LATENCY,
  CONTROL_LOOP,
  DEADLINE_MISS,
  OUTAGE,
  AVAILABILITY,
  DATA_LATENCY,
  IPSEC_OVERHEAD,
  DATA_THROUGHPUT,
  SUCCESS,
  RETRYING,
  HNDL_EXPOSED,
  AUTH_EXPOSED,
  RETRANSMISSIONS,
  IKE_BYTES_I2R,
  IKE_BYTES_R2I,
  IKE_PACKETS_I2R,
  IKE_PACKETS_R2I,
  BYTES_TOTAL,
  PACKETS_TOTAL,
  RECOVERED_50,
  RECOVERED_95,
  RECOVERED_100,
  GATEWAY_UTILISATION,
  HSM_UTILISATION,
  HALF_OPEN_MAX,
  HALF_OPEN_PER_ADDRESS_MAX,
  HALF_OPEN_EXPIRED,
  COOKIES,
  REFUSED_PER_ADDRESS,
  REFUSED_TOTAL,
  REFUSED_ADMISSION_QUEUE,
  REFUSED_ADMISSION_WAIT,
  REFUSED_DOWN,
  E2_METRICS
};

extern const struct metric_def e2_metric_defs[E2_METRICS];

/* group: of the node, -1 without groups and for what concerns the gateway. */
struct e2_record {
  struct metric_set *set;
  int group;
};

void e2_sample(const struct e2_record *record, enum e2_metric metric, int64_t value);
void e2_sample_between(const struct e2_record *record, enum e2_metric metric, const struct trail *from, const struct trail *to);
void e2_fail(const struct e2_record *record, enum e2_metric metric);

#endif
