/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parameters and profiles. A parameter that is not set follows the profile. */
#include "models/transport/tcp_internal.h"

#include <string.h>

#define MS INT64_C(1000000)
#define S INT64_C(1000000000)

/* Linux 6.18 as Debian builds it: CONFIG_HZ 250; Documentation/networking/ip-sysctl.rst for the retries. */
static const struct tcp_behaviour linux_behaviour = {
    .rack = true,
    .quick_start = true,
    .hystart = true,
    .minshall = true,
    .largest_variance = true,
    .floor_on_variance = true,
    .tick = 4 * MS,
    .syn_retries = 6,
    .syn_ack_retries = 5,
    .data_retries = 15,
};

/* ns-3's TcpSocketBase, of 3.37 and of 3.43. */
#define NS3_BEHAVIOUR(its_growth)                                                                                                                              \
  { .growth = its_growth, .counts_bytes = true, .gathers = true, .syn_retries = 6, .syn_ack_retries = 6, .data_retries = 6 }
static const struct tcp_behaviour ns3_behaviour = NS3_BEHAVIOUR(TCP_GROWTH_ALWAYS), ns3_43_behaviour = NS3_BEHAVIOUR(TCP_GROWTH_FULL);

#define NS3_PROFILE(its_name, its_behaviour)                                                                                                                   \
  {                                                                                                                                                            \
    .name = its_name, .behaviour = its_behaviour, .initial_window = 10, .nodelay = true, .syn_timeout = 3 * S, .rto_min = 1 * S, .rto_max = 60 * S,            \
    .ack_delay = 200 * MS, .ack_every = 2, .first_window = 128 << 10, .receive_window = 128 << 10,                                                             \
  }

/* Linux: of tcp_rmem, 128 KiB at first and 6 MiB at most, half is the window. ns-3: RcvBufSize. */
static const struct tcp_config profiles[] = {
    {
        .name = "linux",
        .behaviour = &linux_behaviour,
        .initial_window = 10,
        .nodelay = true,
        .syn_timeout = 1 * S,
        .rto_min = 200 * MS,
        .rto_max = 120 * S,
        .ack_delay = 40 * MS,
        .ack_every = 2,
        .first_window = 64 << 10,
        .receive_window = 3 << 20,
    },
    NS3_PROFILE("ns3", &ns3_behaviour),
    NS3_PROFILE("ns3-3.43", &ns3_43_behaviour),
};

static const char *const profile_names[] = {"linux", "ns3", "ns3-3.43", NULL};
_Static_assert(sizeof profiles / sizeof *profiles + 1 == sizeof profile_names / sizeof *profile_names, "a name per profile");

enum { INITIAL_WINDOW_MOST = 1000 };

static const struct param rows[] = {
    {.key = "tcp.profile",
        .kind = PARAM_CHOICE,
        .fallback = "linux",
        .choices = profile_names,
        .help = "whose TCP it is; every other tcp parameter that is not set follows it"},
    {.key = "tcp.initcwnd",
        .kind = PARAM_COUNT,
        .absent = true,
        .min = 1,
        .max = INITIAL_WINDOW_MOST,
        .help = "initial congestion window of the server, in segments; not set: the profile's (10, RFC 6928)"},
    {.key = "tcp.client_initcwnd",
        .kind = PARAM_COUNT,
        .absent = true,
        .min = 1,
        .max = INITIAL_WINDOW_MOST,
        .help = "that of the client; not set: the profile's"},
    {.key = "tcp.nodelay", .kind = PARAM_BOOL, .absent = true, .help = "short segments do not wait for acknowledgements (no Nagle), at both ends; not set: on"},
    {.key = "tcp.client_nodelay", .kind = PARAM_BOOL, .absent = true, .help = "tcp.nodelay of the client alone; not set: tcp.nodelay"},
    {.key = "tcp.syn_timeout",
        .kind = PARAM_TIME,
        .absent = true,
        .min = 1 * MS,
        .max = 60 * S,
        .help = "first wait for an answer to a SYN; not set: the profile's"},
    {.key = "tcp.rto_min",
        .kind = PARAM_TIME,
        .absent = true,
        .min = 1 * MS,
        .max = 60 * S,
        .help = "least retransmission timeout (linux: least of its part beside the SRTT); not set: the profile's"},
    {.key = "tcp.ack_delay",
        .kind = PARAM_TIME,
        .absent = true,
        .min = 0,
        .max = 500 * MS,
        .help = "longest delay of an acknowledgement; 0s: none; not set: the profile's"},
    {.key = "tcp.bursts",
        .kind = PARAM_BOOL,
        .fallback = "no",
        .help = "segments that leave together are lost together, as by netem on a host with segmentation offload; native alone"},
    {.key = "tcp.offload",
        .kind = PARAM_TIME,
        .fallback = "0s",
        .min = 0,
        .max = 10 * MS,
        .help = "how long a network card gathers segments, which are then acknowledged as one (generic receive offload); 0s: it does not; native alone"},
    {.key = "tcp.receive_window",
        .kind = PARAM_SIZE,
        .absent = true,
        .min = 1024,
        .max = INT64_C(1) << 30,
        .help = "what either end lets the other have on its way at most (linux begins with 64 KiB); not set: the profile's"},
};

const struct param_table tcp_params = {rows, sizeof rows / sizeof *rows};

static void take(const struct config *config, const char *key, int64_t *value) {
  if (config_is_set(config, key)) *value = config_number(config, key);
}

static void take_window(const struct config *config, const char *key, int *value) {
  if (config_is_set(config, key)) *value = (int)config_number(config, key);
}

int tcp_configure(const struct config *config, int mtu_bytes, struct tcp_config out[2], struct err *e) {
  enum { PAYLOAD_LEAST = 88 }; /* Linux: TCP_MIN_SND_MSS 48 and 40 of options */
  struct tcp_config end = profiles[config_number(config, "tcp.profile")];
  end.segment_bytes = mtu_bytes - IP_AND_TCP_HEADER - TIMESTAMPS;
  if (end.segment_bytes < PAYLOAD_LEAST)
    return err_add(e, ERR_INPUT, "path.mtu: %d bytes leave %d for TCP's payload, it needs %d", mtu_bytes, end.segment_bytes, PAYLOAD_LEAST);
  take(config, "tcp.syn_timeout", &end.syn_timeout);
  take(config, "tcp.rto_min", &end.rto_min);
  take(config, "tcp.ack_delay", &end.ack_delay);
  take(config, "tcp.receive_window", &end.receive_window);
  end.bursts = config_number(config, "tcp.bursts") != 0;
  end.offload = config_number(config, "tcp.offload");
  if (config_is_set(config, "tcp.nodelay")) end.nodelay = config_number(config, "tcp.nodelay") != 0;
  out[NET_A] = out[NET_B] = end;
  if (config_is_set(config, "tcp.client_nodelay")) out[NET_A].nodelay = config_number(config, "tcp.client_nodelay") != 0;
  take_window(config, "tcp.client_initcwnd", &out[NET_A].initial_window);
  take_window(config, "tcp.initcwnd", &out[NET_B].initial_window);
  return 0;
}

const struct tcp_config *tcp_profile(const char *name) {
  for (size_t i = 0; i < sizeof profiles / sizeof *profiles; i++)
    if (strcmp(profiles[i].name, name) == 0) return &profiles[i];
  return NULL;
}
