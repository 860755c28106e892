/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/domain/e2_metrics.h"

#define ESTABLISHMENT "during establishment, retransmissions included; of set-ups that completed"
#define FIRST_OUT "first request packet out"
#define LAST_IN "last response packet in"
#define STORM "start of the storm"

const struct metric_def e2_metric_defs[E2_METRICS] = {
    [IKE_INIT] = {"ike_init", METRIC_TIME, "first IKE_SA_INIT request packet out", "last IKE_SA_INIT response packet in, at the initiator's interface",
        "round trip of IKE_SA_INIT with the responder's work, without the initiator's; with INVALID_KE_PAYLOAD or a cookie both round trips"},
    [IKE_INTERMEDIATE] = {"ike_intermediate", METRIC_TIME, FIRST_OUT, LAST_IN, "the same for each IKE_INTERMEDIATE exchange"},
    [IKE_AUTH] = {"ike_auth", METRIC_TIME, FIRST_OUT, LAST_IN, "the same for IKE_AUTH"},
    [CHILD_SA] = {"child_sa", METRIC_TIME, FIRST_OUT, LAST_IN,
        "the same for the CREATE_CHILD_SA that follows a childless IKE_AUTH or rekeys the CHILD_SA, its IKE_FOLLOWUP_KE included"},
    [IKE_ESTABLISH] = {"ike_establish", METRIC_TIME, "first IKE_SA_INIT request packet out", "last IKE_AUTH response packet in",
        "all exchanges and the initiator's work between them"},
    [TUNNEL_SETUP] = {"tunnel_setup", METRIC_TIME, "initiation", "CHILD_SA installed at the initiator",
        "ike_establish plus the initiator's first key generation and last verification, and tries before that failed"},
    [GAVE_UP] = {"gave_up", METRIC_TIME, "initiation", "the last try's last retransmission timer runs out", "how long a failed set-up took to fail"},
    [REKEY] = {"rekey", METRIC_TIME, FIRST_OUT, LAST_IN, "rekeying of the IKE SA: CREATE_CHILD_SA and its IKE_FOLLOWUP_KE, without the deletion of the old SA"},
    [SCTP_SETUP] = {"sctp_setup", METRIC_TIME, "INIT sent by the gNB, the path being up", "COOKIE-ACK in at the gNB",
        "four-way set-up of the association, through the tunnel if there is one"},
    [E2_SETUP] = {"e2_setup", METRIC_TIME, "initiation", "E2 SETUP RESPONSE in at the gNB", "tunnel, association and E2 setup procedure"},
    [XAPP_START] = {"xapp_start", METRIC_TIME, "SUBSCRIPTION REQUEST handed to SCTP at the RIC", "SUBSCRIPTION RESPONSE in at the RIC",
        "an xApp's subscription to a node, retries included"},
    [INDICATION_LATENCY] = {"indication_latency", METRIC_TIME, "INDICATION handed to SCTP at the gNB", "INDICATION in at the RIC",
        "one way; of those handed over after the warm-up"},
    [CONTROL_LOOP] = {"control_loop", METRIC_TIME, "INDICATION handed to SCTP at the gNB", "CONTROL REQUEST in at the gNB, applied there",
        "with the xApp's work; of loops begun after the warm-up"},
    [DEADLINE_MISS] = {"deadline_miss", METRIC_SHARE, "loops begun after the warm-up", "loops that took longer than xapp.deadline",
        "share of loops that missed their deadline, those that never ended included"},
    [OUTAGE] = {"outage", METRIC_TIME, "last message the gNB took in on an association that was lost",
        "E2 SETUP RESPONSE in at the gNB on the one that replaces it", "how long a node was without E2 after it had had it; failed: to the end of the run"},
    [AVAILABILITY] = {"availability", METRIC_SHARE, "time from a node's set-up, or the warm-up, to the end of `duration`",
        "time it had E2 (the tunnel with e2.setup no)", "a node without E2 begins no control loops, which deadline_miss then cannot count"},
    [DATA_LATENCY] = {"data_latency", METRIC_TIME, "packet handed to the sender's IP stack", "packet handed to the receiver's application",
        "one-way latency of probe packets, through the tunnel if there is one"},
    [IPSEC_OVERHEAD] = {"ipsec_overhead", METRIC_SIGNED_TIME, "data_latency of the same packet without IPsec", "data_latency",
        "paired difference of data_latency to ipsec.kex none; where other traffic goes on, the two packets of a pair meet different queues"},
    [DATA_THROUGHPUT] = {"data_throughput", METRIC_RATE, "first packet of probe.burst handed to the sender's IP stack", "last one delivered",
        "plain IP bits delivered over that time"},
    [SUCCESS] = {"success", METRIC_SHARE, "set-ups started", "set-ups completed", "share of set-ups that completed: E2, or the tunnel alone with e2.setup no"},
    [RETRYING] = {"retrying", METRIC_SHARE, "set-ups started", "set-ups neither completed nor given up",
        "share of set-ups still under way when `duration` ends"},
    [HNDL_EXPOSED] = {"hndl_exposed", METRIC_SHARE, "sessions set up", "sessions whose key exchange a quantum computer breaks",
        "share of sessions that can be harvested now and decrypted later; all without IPsec"},
    [AUTH_EXPOSED] = {"auth_exposed", METRIC_SHARE, "sessions set up", "sessions whose authentication a quantum computer breaks",
        "share of sessions that an attacker with a quantum computer can impersonate; all without IPsec"},
    [RETRANSMISSIONS] = {"retransmissions", METRIC_COUNT, "IKE requests sent again", NULL, "by the initiator during one set-up"},
    [IKE_BYTES_I2R] = {"ike_bytes_i2r", METRIC_BYTES, "IP bytes, initiator to responder", NULL, ESTABLISHMENT},
    [IKE_BYTES_R2I] = {"ike_bytes_r2i", METRIC_BYTES, "IP bytes, responder to initiator", NULL, ESTABLISHMENT},
    [IKE_PACKETS_I2R] = {"ike_packets_i2r", METRIC_COUNT, "IP packets, initiator to responder, IP fragments counted singly", NULL, ESTABLISHMENT},
    [IKE_PACKETS_R2I] = {"ike_packets_r2i", METRIC_COUNT, "IP packets, responder to initiator, IP fragments counted singly", NULL, ESTABLISHMENT},
    [BYTES_TOTAL] = {"bytes_total", METRIC_BYTES, "IP bytes of set-up, both directions", NULL, "everything IKE put on the link, failed set-ups included"},
    [PACKETS_TOTAL] = {"packets_total", METRIC_COUNT, "IP packets of set-up, both directions", NULL, "everything IKE put on the link, failed set-ups included"},
    [RECOVERED_50] = {"recovered_50", METRIC_TIME, STORM, "50 % of the nodes set up",
        "the end of the outage is the start with e2.start outage; set up as in success"},
    [RECOVERED_95] = {"recovered_95", METRIC_TIME, STORM, "95 % of the nodes set up", "as recovered_50"},
    [RECOVERED_100] = {"recovered_100", METRIC_TIME, STORM, "all nodes set up", "as recovered_50"},
    [GATEWAY_UTILISATION] = {"gateway_utilisation", METRIC_SHARE,
        "core time of the gateway from the start of the storm to the last tunnel, or after the warm-up", "core time busy",
        "share of the gateway's cores that worked"},
    [HSM_UTILISATION] = {"hsm_utilisation", METRIC_SHARE, "time of the gateway's HSM, as for gateway_utilisation", "time busy", "share of the HSM that worked"},
    [HALF_OPEN_MAX] = {"half_open_max", METRIC_COUNT, "half-open sessions at the gateway", NULL, "the most there were at once"},
    [HALF_OPEN_PER_ADDRESS_MAX] = {"half_open_per_address_max", METRIC_COUNT, "half-open sessions of one address", NULL, "the most there were at once"},
    [HALF_OPEN_EXPIRED] = {"half_open_expired", METRIC_COUNT, "half-open sessions deleted at ipsec.half_open_timeout", NULL, "by the gateway"},
    [COOKIES] = {"cookies", METRIC_COUNT, "IKE_SA_INIT requests answered with COOKIE", NULL, "by the gateway"},
    [REFUSED_PER_ADDRESS] = {"refused_per_address", METRIC_COUNT, "IKE_SA_INIT requests dropped for ipsec.half_open_per_address", NULL, "by the gateway"},
    [REFUSED_TOTAL] = {"refused_total", METRIC_COUNT, "IKE_SA_INIT requests dropped for ipsec.half_open_total", NULL, "by the gateway"},
    [REFUSED_ADMISSION_QUEUE] = {"refused_admission_queue", METRIC_COUNT, "IKE_SA_INIT requests dropped for gateway.admission_queue", NULL, "by the gateway"},
    [REFUSED_ADMISSION_WAIT] = {"refused_admission_wait", METRIC_COUNT, "IKE_SA_INIT requests dropped for gateway.admission_wait", NULL, "by the gateway"},
    [REFUSED_DOWN] = {"refused_down", METRIC_COUNT, "IKE_SA_INIT requests that came while the gateway was down", NULL, "with e2.start outage"},
};

static int in_group(const struct e2_record *record, enum e2_metric metric) { return (1 + record->group) * E2_METRICS + (int)metric; }

void e2_sample(const struct e2_record *record, enum e2_metric metric, int64_t value) {
  metric_sample(record->set, metric, value, NULL);
  if (record->group >= 0) metric_sample(record->set, in_group(record, metric), value, NULL);
}

void e2_sample_between(const struct e2_record *record, enum e2_metric metric, const struct trail *from, const struct trail *to) {
  metric_sample_between(record->set, metric, from, to);
  if (record->group >= 0) metric_sample_between(record->set, in_group(record, metric), from, to);
}

void e2_fail(const struct e2_record *record, enum e2_metric metric) {
  metric_fail(record->set, metric);
  if (record->group >= 0) metric_fail(record->set, in_group(record, metric));
}
