/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/domain/e2ap.h"

static const struct param rows[] = {
    {.key = "e2.setup", .kind = PARAM_BOOL, .fallback = "no", .help = "SCTP association and E2 setup follow the tunnel"},
    {.key = "e2.setup_request", .kind = PARAM_SIZE, .fallback = "2331B", .min = 1, .max = 65535,
        .help = "E2 SETUP REQUEST; 2331B: FlexRIC with KPM and RC functions"},
    {.key = "e2.setup_response", .kind = PARAM_SIZE, .fallback = "60B", .min = 1, .max = 65535, .help = "E2 SETUP RESPONSE"},
};

const struct param_table e2ap_params = {rows, sizeof rows / sizeof *rows};

int e2ap_configure(const struct config *config, int mtu_bytes, struct e2ap_config *out, struct err *e) {
  *out = (struct e2ap_config){
      .enabled = config_number(config, "e2.setup"),
      .request_bytes = config_number(config, "e2.setup_request"),
      .response_bytes = config_number(config, "e2.setup_response"),
  };
  if (!out->enabled) return 0;
  if (mtu_bytes < SCTP_MTU_MIN)
    return err_add(e, ERR_INPUT, "path.mtu: leaves %dB for a packet of SCTP, allowed %dB or more (or e2.setup: no)", mtu_bytes, SCTP_MTU_MIN);
  return sctp_configure(config, mtu_bytes, &out->sctp, e);
}

struct e2ap {
  struct sim *sim;
  struct secure_path *path;
  bool protect;
  struct e2ap_config config;
  struct e2ap_observer observer;
  struct sctp *sctp;
  bool over;
  struct trail last; /* of what has been reached */
};

static void finish(struct e2ap *e2ap, bool ok, const struct trail *trail) {
  if (e2ap->over) return;
  e2ap->over = true;
  sctp_forget(e2ap->sctp);
  e2ap->observer.finished(e2ap->observer.arg, ok, trail);
}

static void send_packet(void *arg, const struct sctp_packet *packet, const struct trail *trail) {
  struct e2ap *e2ap = arg;
  struct secure_packet out = {
      .from = (int)packet->from,
      .protect = e2ap->protect,
      .bytes = packet->bytes,
      .number = packet->number,
      .attempt = packet->attempt,
      .deliver = sctp_input,
      .arg = packet->tag,
  };
  secure_path_send(e2ap->path, &out, trail);
}

static void established(void *arg, enum sctp_side side, const struct trail *trail) {
  struct e2ap *e2ap = arg;
  if (side != SCTP_CLIENT) return;
  e2ap->last = *trail;
  e2ap->observer.established(e2ap->observer.arg, trail);
  sctp_send(e2ap->sctp, SCTP_CLIENT, 0, e2ap->config.request_bytes, true, NULL, trail);
}

static void delivered(void *arg, enum sctp_side to, void *tag, const struct trail *trail) {
  struct e2ap *e2ap = arg;
  (void)tag;
  e2ap->last = *trail;
  if (to == SCTP_SERVER)
    sctp_send(e2ap->sctp, SCTP_SERVER, 0, e2ap->config.response_bytes, true, NULL, trail);
  else
    finish(e2ap, true, trail);
}

static void ended(void *arg, enum sctp_side side, enum sctp_end why) {
  struct e2ap *e2ap = arg;
  (void)side;
  (void)why;
  struct trail trail = e2ap->last;
  trail_advance(&trail, PART_TRANSPORT_STALL, sim_now(e2ap->sim));
  finish(e2ap, false, &trail);
}

void e2ap_start(struct sim *sim, struct secure_path *path, bool protect, const struct e2ap_config *config, const struct draw_key *key,
    const struct e2ap_observer *observer, const struct trail *trail) {
  struct e2ap *e2ap = sim_alloc(sim, sizeof *e2ap);
  *e2ap = (struct e2ap){.sim = sim, .path = path, .protect = protect, .config = *config, .observer = *observer, .last = *trail};
  const struct sctp_config *configs[2] = {&e2ap->config.sctp, &e2ap->config.sctp};
  struct sctp_below below = {send_packet, e2ap};
  struct sctp_observer watch = {.established = established, .delivered = delivered, .ended = ended, .arg = e2ap};
  e2ap->sctp = sctp_new(sim, configs, &below, &watch, key, 0);
  sctp_connect(e2ap->sctp, trail);
}
