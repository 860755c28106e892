/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parameters, named profiles and sizes of SCTP.
 *
 * A parameter that is not set follows the profile; the fallbacks in rows[] are the values of the default profile. Sizes of
 * set-up chunks and heartbeats are usrsctp's in every profile: Linux's were not measured. */
#include "models/transport/sctp_internal.h"

#include <assert.h>
#include <string.h>

#define MS INT64_C(1000000)
#define S INT64_C(1000000000)

/* RFC 9260 section 3.3.2: fixed part of INIT and INIT-ACK, chunk header counted; section 3.2.1. */
enum { INIT_FIXED = 20, PARAMETER_HEADER = 4 };
/* HEARTBEAT of usrsctp, from struct sctp_heartbeat_info_param of its sctp_header.h: header 4, times 8, random 8, family and
 * length with padding 4, address 16. */
enum { HEARTBEAT_INFO = 40 };

/* As measured on usrsctp 0.9.5.0. INIT: forward TSN 4, ECN 4, supported extensions 12, random 36, HMACs 8, chunk list 8,
 * address types 8; INIT-ACK the same without address types. */
const struct sctp_sizes sctp_sizes_usrsctp = {.init_parameters = 80, .init_ack_parameters = 72, .cookie = 324};
const struct sctp_sizes sctp_sizes_usrsctp_plain = {.init_parameters = 8, .init_ack_parameters = 0, .cookie = 180};

/* RFC 9260 sections 7.2.1 and 7.2.3. */
static const struct sctp_congestion rfc9260_congestion = {
    .initial_window = 4404,
    .slow_start_units = 1,
    .ssthresh_units = 4,
    .max_burst = 4,
};
/* Linux, net/sctp/transport.c: sctp_transport_reset, _raise_cwnd, _lower_cwnd, _burst_limited; a chunk in flight counts its
 * user data (sctp_data_size). */
static const struct sctp_congestion linux_congestion = {
    .initial_window = 4380,
    .unit_is_mtu = true,
    .payload_only = true,
    .slow_start_units = 1,
    .ssthresh_units = 4,
    .max_burst = 4,
};

enum {
  LINUX_STREAMS = 10,    /* SCTP_DEFAULT_OUTSTREAMS */
  LINUX_WINDOW = 106496, /* half of net.core.rmem_default, 212992 */
  OPEN5GS_STREAMS = 30,  /* OGS_DEFAULT_SCTP_MAX_NUM_OF_OSTREAMS */
  ETHERNET_MTU = 1500,
};

static const struct sctp_config profiles[] = {
    /* RFC 9260 section 16: suggested values. It names no number of streams and no window: Linux's. */
    {
        .name = "rfc9260",
        .rto_initial = 1 * S,
        .rto_min = 1 * S,
        .rto_max = 60 * S,
        .init_timeout_max = 60 * S,
        .init_max_retrans = 8,
        .path_max_retrans = 5,
        .association_max_retrans = 10,
        .heartbeat = 30 * S,
        .sack_delay = 200 * MS,
        .sack_every = 2,
        .rtt_from_setup = true,
        .streams = LINUX_STREAMS,
        .receive_window = LINUX_WINDOW,
        .congestion = &rfc9260_congestion,
        .sizes = &sctp_sizes_usrsctp,
        .paths = 1,
        .mtu_bytes = ETHERNET_MTU,
    },
    /* Linux, net/sctp/protocol.c and associola.c: rto_initial 3 s, min 1 s, max 60 s, retransmissions 8, 5 and 10, heartbeat
     * 30 s, SACK 200 ms; T1-cookie starts at rto_initial, set-up gives no RTT sample. Not measured: no kernel with SCTP. */
    {
        .name = "linux",
        .rto_initial = 3 * S,
        .rto_min = 1 * S,
        .rto_max = 60 * S,
        .init_timeout_max = 60 * S,
        .init_max_retrans = 8,
        .path_max_retrans = 5,
        .association_max_retrans = 10,
        .heartbeat = 30 * S,
        .sack_delay = 200 * MS,
        .sack_every = 2,
        .streams = LINUX_STREAMS,
        .receive_window = LINUX_WINDOW,
        .congestion = &linux_congestion,
        .sizes = &sctp_sizes_usrsctp,
        .paths = 1,
        .mtu_bytes = ETHERNET_MTU,
    },
    /* Open5GS, ogs_sockopt_init of lib/core/ogs-sockopt.c: heartbeat 5 s, RTO 3, 1 and 5 s, 4 attempts of at most 8 s, nodelay,
     * 30 streams; the rest is the kernel's. */
    {
        .name = "open5gs",
        .rto_initial = 3 * S,
        .rto_min = 1 * S,
        .rto_max = 5 * S,
        .init_timeout_max = 8 * S,
        .init_max_retrans = 4,
        .path_max_retrans = 5,
        .association_max_retrans = 10,
        .heartbeat = 5 * S,
        .sack_delay = 200 * MS,
        .sack_every = 2,
        .nodelay = true,
        .streams = OPEN5GS_STREAMS,
        .receive_window = LINUX_WINDOW,
        .congestion = &linux_congestion,
        .sizes = &sctp_sizes_usrsctp,
        .paths = 1,
        .mtu_bytes = ETHERNET_MTU,
    },
    /* srsRAN Project 4bf15439: RTO 120, 120 and 500 ms, 3 attempts of at most 500 ms, heartbeat 30 s, nodelay false; the rest
     * is the kernel's. */
    {
        .name = "srsran",
        .rto_initial = 120 * MS,
        .rto_min = 120 * MS,
        .rto_max = 500 * MS,
        .init_timeout_max = 500 * MS,
        .init_max_retrans = 3,
        .path_max_retrans = 5,
        .association_max_retrans = 10,
        .heartbeat = 30 * S,
        .sack_delay = 200 * MS,
        .sack_every = 2,
        .streams = LINUX_STREAMS,
        .receive_window = LINUX_WINDOW,
        .congestion = &linux_congestion,
        .sizes = &sctp_sizes_usrsctp,
        .paths = 1,
        .mtu_bytes = ETHERNET_MTU,
    },
    /* FlexRIC 1f04cc55: nodelay; the rest is the kernel's. */
    {
        .name = "flexric",
        .rto_initial = 3 * S,
        .rto_min = 1 * S,
        .rto_max = 60 * S,
        .init_timeout_max = 60 * S,
        .init_max_retrans = 8,
        .path_max_retrans = 5,
        .association_max_retrans = 10,
        .heartbeat = 30 * S,
        .sack_delay = 200 * MS,
        .sack_every = 2,
        .nodelay = true,
        .streams = LINUX_STREAMS,
        .receive_window = LINUX_WINDOW,
        .congestion = &linux_congestion,
        .sizes = &sctp_sizes_usrsctp,
        .paths = 1,
        .mtu_bytes = ETHERNET_MTU,
    },
};

enum { PROFILES = sizeof profiles / sizeof *profiles };

static const char *const profile_names[] = {"rfc9260", "linux", "open5gs", "srsran", "flexric", NULL};
_Static_assert(PROFILES + 1 == sizeof profile_names / sizeof *profile_names, "a name per profile");

static const struct param rows[] = {
    {.key = "sctp.profile",
        .kind = PARAM_CHOICE,
        .fallback = "flexric",
        .choices = profile_names,
        .help = "timers and limits of an implementation; every other sctp parameter that is not set follows it"},
    {.key = "sctp.rto_initial",
        .kind = PARAM_TIME,
        .absent = true,
        .min = 1 * MS,
        .max = 3600 * S,
        .help = "retransmission timeout before there is an RTT sample; not set: the profile's"},
    {.key = "sctp.rto_min", .kind = PARAM_TIME, .absent = true, .min = 1 * MS, .max = 3600 * S, .help = "least retransmission timeout; not set: the profile's"},
    {.key = "sctp.rto_max",
        .kind = PARAM_TIME,
        .absent = true,
        .min = 1 * MS,
        .max = 3600 * S,
        .help = "largest retransmission timeout; not set: the profile's"},
    {.key = "sctp.sack_delay",
        .kind = PARAM_TIME,
        .absent = true,
        .min = 0,
        .max = 500 * MS,
        .help = "how long a receiver may wait with a SACK (RFC 9260: at most 500 ms); 0s: none; not set: the profile's"},
    {.key = "sctp.nodelay", .kind = PARAM_BOOL, .absent = true, .help = "small messages do not wait to be bundled (no Nagle); not set: the profile's"},
    {.key = "sctp.heartbeat",
        .kind = PARAM_TIME,
        .absent = true,
        .min = 0,
        .max = 3600 * S,
        .help = "heartbeat interval of an idle path, to which the RTO is added; 0s: none; not set: the profile's"},
    {.key = "sctp.path_max_retrans",
        .kind = PARAM_COUNT,
        .absent = true,
        .min = 0,
        .max = 255,
        .help = "a path with more errors in a row is down; not set: the profile's"},
    {.key = "sctp.association_max_retrans",
        .kind = PARAM_COUNT,
        .absent = true,
        .min = 0,
        .max = 255,
        .help = "an association with more errors in a row is lost; not set: the profile's"},
    {.key = "sctp.init_max_retrans",
        .kind = PARAM_COUNT,
        .absent = true,
        .min = 0,
        .max = 255,
        .help = "how often INIT and COOKIE-ECHO are sent again; not set: the profile's"},
    {.key = "sctp.streams",
        .kind = PARAM_COUNT,
        .absent = true,
        .min = 1,
        .max = SCTP_STREAMS_MAX,
        .help = "streams in each direction; not set: the profile's"},
    {.key = "sctp.paths",
        .kind = PARAM_COUNT,
        .fallback = "1",
        .min = 1,
        .max = SCTP_PATHS,
        .help = "addresses of each end: with 2 a second path, as the first without its outage, takes over when the first fails"},
};

const struct param_table sctp_params = {rows, sizeof rows / sizeof *rows};

static void take_time(const struct config *config, const char *key, simtime *value) {
  if (config_is_set(config, key)) *value = config_number(config, key);
}

static void take_count(const struct config *config, const char *key, int *value) {
  if (config_is_set(config, key)) *value = (int)config_number(config, key);
}

int sctp_configure(const struct config *config, int mtu_bytes, struct sctp_config *out, struct err *e) {
  *out = profiles[config_number(config, "sctp.profile")];
  out->mtu_bytes = mtu_bytes;
  take_time(config, "sctp.rto_initial", &out->rto_initial);
  take_time(config, "sctp.rto_min", &out->rto_min);
  take_time(config, "sctp.rto_max", &out->rto_max);
  take_time(config, "sctp.sack_delay", &out->sack_delay);
  take_time(config, "sctp.heartbeat", &out->heartbeat);
  take_count(config, "sctp.path_max_retrans", &out->path_max_retrans);
  take_count(config, "sctp.association_max_retrans", &out->association_max_retrans);
  take_count(config, "sctp.init_max_retrans", &out->init_max_retrans);
  take_count(config, "sctp.streams", &out->streams);
  take_count(config, "sctp.paths", &out->paths);
  if (config_is_set(config, "sctp.nodelay")) out->nodelay = config_number(config, "sctp.nodelay") != 0;
  char low[32], high[32];
  if (out->rto_min > out->rto_max)
    return err_add(e, ERR_INPUT, "sctp.rto_min: %s is more than sctp.rto_max, %s (profile %s)", units_format(UNIT_TIME, out->rto_min, low),
        units_format(UNIT_TIME, out->rto_max, high), out->name);
  if (mtu_bytes < SCTP_MTU_MIN) return err_add(e, ERR_INPUT, "SCTP: only %d bytes are left for its packets, it needs %d", mtu_bytes, SCTP_MTU_MIN);
  return 0;
}

const struct sctp_config *sctp_profile(const char *name) {
  for (int i = 0; i < PROFILES; i++)
    if (strcmp(profiles[i].name, name) == 0) return &profiles[i];
  return NULL;
}

/* ---- sizes ---- */

int64_t sctp_segment_bytes(const struct sctp_config *config) { return (config->mtu_bytes - IPV4_HEADER - COMMON_HEADER) / 4 * 4; }

int64_t sctp_fragment_bytes(const struct sctp_config *config) { return sctp_segment_bytes(config) - DATA_HEADER; }

int64_t sctp_unit(const struct sctp_config *config) { return config->congestion->unit_is_mtu ? config->mtu_bytes : sctp_segment_bytes(config); }

int64_t sctp_initial_window(const struct sctp_config *config) {
  int64_t unit = sctp_unit(config);
  return min_i64(4 * unit, max_i64(2 * unit, config->congestion->initial_window));
}

int sctp_chunk_bytes(const struct sctp_config *config, enum sctp_chunk chunk) {
  const struct sctp_sizes *sizes = config->sizes;
  const int bytes[SCTP_CHUNKS] = {
      [SCTP_INIT] = INIT_FIXED + sizes->init_parameters,
      [SCTP_INIT_ACK] = INIT_FIXED + sizes->init_ack_parameters + PARAMETER_HEADER + sizes->cookie,
      [SCTP_HEARTBEAT] = CHUNK_HEADER + HEARTBEAT_INFO,
      [SCTP_HEARTBEAT_ACK] = CHUNK_HEADER + HEARTBEAT_INFO,
      [SCTP_ABORT] = CHUNK_HEADER,
      [SCTP_SHUTDOWN] = CHUNK_HEADER + 4, /* cumulative TSN ack */
      [SCTP_SHUTDOWN_ACK] = CHUNK_HEADER,
      [SCTP_COOKIE_ECHO] = CHUNK_HEADER + sizes->cookie,
      [SCTP_COOKIE_ACK] = CHUNK_HEADER,
      [SCTP_SHUTDOWN_COMPLETE] = CHUNK_HEADER,
  };
  assert(bytes[chunk] > 0);
  return bytes[chunk];
}
