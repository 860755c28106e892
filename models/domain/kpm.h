/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kpm: sizes of the E2AP PDUs that carry E2SM-KPM.
 *
 * Purpose:  bytes of an INDICATION and of a SUBSCRIPTION REQUEST by what they report.
 * Units:    bytes of E2AP, without SCTP.
 * Sources:  measured with FlexRIC's encoders (source flexric-e2ap-sizes, calib/data/measured/e2/e2ap_sizes_flexric.csv): the
 *           listed numbers of measurements and UEs exactly; between them linear, and on with the last slope beyond.
 */
#ifndef PQNETSIM_KPM_H
#define PQNETSIM_KPM_H

#include <stdbool.h>
#include <stdint.h>

/* ues 0: format 1, one report of the cell; else format 3, one per UE, which always names its measurements. */
int64_t kpm_indication_bytes(int64_t ues, int64_t measurements, bool names);

int64_t kpm_subscription_bytes(int64_t measurements);

#endif
