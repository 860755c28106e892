/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The E2 parameters: what is sent, how often, and how long is waited for an answer. */
#include "models/domain/e2ap.h"
#include "models/domain/kpm.h"

#define SECOND INT64_C(1000000000)
#define HOUR (3600 * SECOND)

static const struct param rows[] = {
    {.key = "e2.setup", .kind = PARAM_BOOL, .fallback = "yes", .help = "SCTP association, E2 setup and xApps follow the tunnel"},
    {.key = "e2.setup_request",
        .kind = PARAM_SIZE,
        .fallback = "2331B",
        .min = 1,
        .max = 65535,
        .help = "E2 SETUP REQUEST; 2331B: FlexRIC with KPM and RC functions"},
    {.key = "e2.setup_response", .kind = PARAM_SIZE, .fallback = "60B", .min = 1, .max = 65535, .help = "E2 SETUP RESPONSE"},
    {.key = "e2.setup_timeout",
        .kind = PARAM_TIME,
        .fallback = "3s",
        .min = 1000000,
        .max = HOUR,
        .help = "after which the gNB sends the request again (FlexRIC: 3 s)"},
    {.key = "e2.setup_retries", .kind = PARAM_COUNT, .fallback = "3", .min = 0, .max = 1000, .help = "how often; then it gives up"},
    {.key = "e2.association_tries",
        .kind = PARAM_COUNT,
        .fallback = "1",
        .min = 0,
        .max = 1000000,
        .help = "associations tried until one is set up for the first time; 0: for ever"},
    {.key = "e2.reconnect",
        .kind = PARAM_TIME,
        .fallback = "1s",
        .min = 0,
        .max = HOUR,
        .help = "from the loss of an association to the next INIT, in a run with a duration"},
    {.key = "e2.watchdog",
        .kind = PARAM_TIME,
        .fallback = "0s",
        .min = 0,
        .max = HOUR,
        .help = "the RIC aborts an association on which control requests stay unanswered for so long; 0s: never"},
    {.key = "e2.stall_at",
        .kind = PARAM_TIME,
        .fallback = "0s",
        .min = 0,
        .max = 366 * 24 * HOUR,
        .help = "the gNB's E2 agent reads nothing more from then on, until the next association; 0s: it does not stall"},
    {.key = "e2.subscription_request",
        .kind = PARAM_SIZE,
        .fallback = "0B",
        .min = 0,
        .max = 65535,
        .help = "RIC SUBSCRIPTION REQUEST; 0B: by kpm.measurements"},
    {.key = "e2.subscription_response",
        .kind = PARAM_SIZE,
        .fallback = "38B",
        .min = 1,
        .max = 65535,
        .help = "RIC SUBSCRIPTION RESPONSE, one action admitted"},
    {.key = "e2.subscription_timeout", .kind = PARAM_TIME, .fallback = "3s", .min = 1000000, .max = HOUR, .help = "after which the RIC subscribes again"},
    {.key = "e2.subscription_retries", .kind = PARAM_COUNT, .fallback = "3", .min = 0, .max = 1000, .help = "how often; then the xApp gives up"},
    {.key = "e2.control", .kind = PARAM_BOOL, .fallback = "yes", .help = "xApps answer each indication with a control request: a control loop"},
    {.key = "e2.control_request", .kind = PARAM_SIZE, .fallback = "84B", .min = 1, .max = 65535, .help = "RIC CONTROL REQUEST; 84B: RC, QoS flow mapping"},
    {.key = "e2.control_ack", .kind = PARAM_SIZE, .fallback = "22B", .min = 1, .max = 65535, .help = "RIC CONTROL ACKNOWLEDGE"},
    {.key = "kpm.period",
        .kind = PARAM_TIME,
        .fallback = "1s",
        .min = 1000000,
        .max = HOUR,
        .help = "time between indications (FlexRIC's xapp_kpm_moni: 1 s, its xapp_kpm_rc: 100 ms)"},
    {.key = "kpm.ues", .kind = PARAM_COUNT, .fallback = "0", .min = 0, .max = 1000, .help = "UEs an indication reports on (format 3); 0: the cell (format 1)"},
    {.key = "kpm.measurements", .kind = PARAM_COUNT, .fallback = "7", .min = 1, .max = 100, .help = "measurements in it, of the cell or of each UE"},
    {.key = "kpm.names", .kind = PARAM_BOOL, .fallback = "yes", .help = "format 1 names its measurements; format 3 always does"},
    {.key = "kpm.indications",
        .kind = PARAM_COUNT,
        .fallback = "10",
        .min = 0,
        .max = 1000000,
        .help = "indications per subscription in a run without duration"},
    {.key = "xapp.start", .kind = PARAM_TIME, .fallback = "1s", .min = 0, .max = HOUR, .help = "from a node's E2 setup to the xApps' subscription"},
    {.key = "xapp.deadline", .kind = PARAM_TIME, .min = 1000, .max = HOUR, .follows = "kpm.period", .help = "time a control loop may take"},
};

const struct param_table e2ap_params = {rows, sizeof rows / sizeof *rows};

static const struct param ric_rows[] = {
    {.key = "xapp.count", .kind = PARAM_COUNT, .fallback = "1", .min = 0, .max = E2AP_XAPPS, .help = "xApps that subscribe to every node"},
    {.key = "xapp.service",
        .kind = PARAM_TIME,
        .fallback = "200us",
        .min = 0,
        .max = HOUR,
        .help = "an xApp's work on one indication (FlexRIC states under 200 us)"},
    {.key = "xapp.workers", .kind = PARAM_COUNT, .fallback = "1", .min = 1, .max = 4096, .help = "indications an xApp works on at once"},
};

const struct param_table ric_params = {ric_rows, sizeof ric_rows / sizeof *ric_rows};

/* A run without a duration lasts until nothing happens any more: that must come. And a watchdog must have something to watch. */
static int check_ends(const struct config *config, const struct e2ap_config *e2ap, struct err *e) {
  bool lasts = config_find(config, "duration") && config_number(config, "duration") > 0;
  if (e2ap->association_tries == 0 && !lasts) return err_add(e, ERR_INPUT, "e2.association_tries: found 0, for ever, allowed only in a run with a duration");
  if (e2ap->watchdog > 0 && !e2ap->control)
    return err_add(e, ERR_INPUT, "e2.watchdog: found %s, allowed 0s where e2.control is no: there are no control requests to be answered",
        config_text(config, "e2.watchdog"));
  if (e2ap->stall_at > 0 && e2ap->control && e2ap->watchdog == 0 && !lasts)
    return err_add(e, ERR_INPUT, "e2.stall_at: found %s, allowed 0s, or with e2.watchdog or a duration: else the run would wait for ever",
        config_text(config, "e2.stall_at"));
  return 0;
}

int e2ap_configure(const struct config *config, int mtu_bytes, struct e2ap_config *out, struct err *e) {
  int64_t measurements = config_number(config, "kpm.measurements");
  *out = (struct e2ap_config){
      .enabled = config_number(config, "e2.setup"),
      .setup_request_bytes = config_number(config, "e2.setup_request"),
      .setup_response_bytes = config_number(config, "e2.setup_response"),
      .setup_timeout = config_number(config, "e2.setup_timeout"),
      .setup_retries = (int)config_number(config, "e2.setup_retries"),
      .association_tries = (int)config_number(config, "e2.association_tries"),
      .reconnect = config_number(config, "e2.reconnect"),
      .watchdog = config_number(config, "e2.watchdog"),
      .stall_at = config_number(config, "e2.stall_at"),
      .xapps = (int)config_number(config, "xapp.count"),
      .subscription_request_bytes = config_number(config, "e2.subscription_request"),
      .subscription_response_bytes = config_number(config, "e2.subscription_response"),
      .subscription_timeout = config_number(config, "e2.subscription_timeout"),
      .subscription_retries = (int)config_number(config, "e2.subscription_retries"),
      .period = config_number(config, "kpm.period"),
      .indication_bytes = kpm_indication_bytes(config_number(config, "kpm.ues"), measurements, config_number(config, "kpm.names")),
      .indications = config_number(config, "kpm.indications"),
      .control = config_number(config, "e2.control"),
      .control_request_bytes = config_number(config, "e2.control_request"),
      .control_ack_bytes = config_number(config, "e2.control_ack"),
      .xapp_start = config_number(config, "xapp.start"),
      .service = config_number(config, "xapp.service"),
      .workers = (int)config_number(config, "xapp.workers"),
      .deadline = config_number(config, "xapp.deadline"),
      .sctp = {.paths = 1},
  };
  if (out->subscription_request_bytes == 0) out->subscription_request_bytes = kpm_subscription_bytes(measurements);
  if (!out->enabled) return 0;
  if (mtu_bytes < SCTP_MTU_MIN)
    return err_add(e, ERR_INPUT, "path.mtu: leaves %dB for a packet of SCTP, allowed %dB or more (or e2.setup: no)", mtu_bytes, SCTP_MTU_MIN);
  int rc = check_ends(config, out, e);
  return rc ? rc : sctp_configure(config, mtu_bytes, &out->sctp, e);
}
