/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/net/net_rules.h"
#include <assert.h>

#define DELAY_MAX (INT64_C(1000) * 1000000000)
#define OUTAGE_MAX (INT64_C(366) * 86400 * 1000000000)
#define RATE_MIN_BPS INT64_C(1000)
#define RATE_MAX_BPS INT64_C(1000000000000)

enum {
  MTU_MIN = 68, /* RFC 791: every link carries 68 bytes in one piece */
  MTU_MAX = 65535,
  L2_OVERHEAD_MAX = 1500,
};

/* In the order of enum net_middlebox. */
static const char *const middleboxes[] = {
    "none", "drop_fragments", "drop_split_client_hello", "reset_split_client_hello", "drop_split_record", "reset_split_record", NULL};

/* clang-format off */
static const struct param rows[] = {
    {.key = "path.rate", .kind = PARAM_RATE, .fallback = "10Gbit/s", .min = RATE_MIN_BPS, .max = RATE_MAX_BPS,
        .help = "Rate of each direction; counts IP bytes and path.l2_overhead."},
    {.key = "path.delay", .kind = PARAM_TIME, .fallback = "100us", .min = 0, .max = DELAY_MAX,
        .help = "One-way propagation delay."},
    {.key = "path.rtt", .kind = PARAM_TIME, .min = 0, .max = 2 * DELAY_MAX, .sets = "path.delay",
        .help = "Round-trip propagation delay; sets path.delay to half of it."},
    {.key = "path.jitter", .kind = PARAM_TIME, .fallback = "0ns", .min = 0, .max = DELAY_MAX,
        .help = "The delay of each packet is uniform within this distance of path.delay; packets may overtake."},
    {.key = "path.loss", .kind = PARAM_LOSS, .fallback = "0%",
        .help = "Loss of each IP packet: a share, or {gemodel: {p: 1%, r: 20%}} for bursts."},
    {.key = "path.mtu", .kind = PARAM_SIZE, .bare = "B", .fallback = "1500B", .min = MTU_MIN, .max = MTU_MAX,
        .help = "Largest IP packet; larger datagrams are fragmented by IP."},
    {.key = "path.queue", .kind = PARAM_QUEUE, .fallback = "1000 packets", .min = 1, .max = INT64_MAX,
        .help = "Room in the egress queue, packets or bytes; the packet being sent is not counted."},
    {.key = "path.l2_overhead", .kind = PARAM_SIZE, .fallback = "0B", .min = 0, .max = L2_OVERHEAD_MAX,
        .help = "Link-layer bytes around each IP packet; they take time and are not counted."},
    {.key = "path.drop", .kind = PARAM_LIST, .fallback = "[]", .min = 1, .max = INT64_MAX,
        .help = "Packets that are lost, by their number in each direction; the first is 1."},
    {.key = "path.middlebox", .kind = PARAM_CHOICE, .fallback = "none", .choices = middleboxes,
        .help = "A box on the path that interferes: drop_fragments loses every IP fragment. Of TLS, in front of the server: *_split_client_hello acts on a "
                "ClientHello that does not fit into the first segment, *_split_record on a first segment that does not hold its first record whole; drop_* "
                "loses that segment, reset_* ends the connection at both sides."},
    {.key = "path.outage_start", .kind = PARAM_TIME, .fallback = "0s", .min = 0, .max = OUTAGE_MAX,
        .help = "When path.outage begins, from the start of the run."},
    {.key = "path.outage", .kind = PARAM_TIME, .fallback = "0s", .min = 0, .max = OUTAGE_MAX,
        .help = "How long the path loses everything; 0s: never. Of two SCTP paths the first one has it."},

    {.key = "path.up.rate", .kind = PARAM_RATE, .min = RATE_MIN_BPS, .max = RATE_MAX_BPS, .follows = "path.rate",
        .help = "path.rate in the direction of who starts (gNB to gateway)."},
    {.key = "path.up.delay", .kind = PARAM_TIME, .min = 0, .max = DELAY_MAX, .follows = "path.delay",
        .help = "path.delay in the direction of who starts (gNB to gateway)."},
    {.key = "path.up.jitter", .kind = PARAM_TIME, .min = 0, .max = DELAY_MAX, .follows = "path.jitter",
        .help = "path.jitter in the direction of who starts (gNB to gateway)."},
    {.key = "path.up.loss", .kind = PARAM_LOSS, .follows = "path.loss",
        .help = "path.loss in the direction of who starts (gNB to gateway)."},
    {.key = "path.up.queue", .kind = PARAM_QUEUE, .min = 1, .max = INT64_MAX, .follows = "path.queue",
        .help = "path.queue in the direction of who starts (gNB to gateway)."},
    {.key = "path.up.drop", .kind = PARAM_LIST, .min = 1, .max = INT64_MAX, .follows = "path.drop",
        .help = "path.drop in the direction of who starts (gNB to gateway)."},
    {.key = "path.up.middlebox", .kind = PARAM_CHOICE, .choices = middleboxes, .follows = "path.middlebox",
        .help = "path.middlebox in the direction of who starts (gNB to gateway)."},
    {.key = "path.up.outage_start", .kind = PARAM_TIME, .min = 0, .max = OUTAGE_MAX, .follows = "path.outage_start",
        .help = "path.outage_start in the direction of who starts (gNB to gateway)."},
    {.key = "path.up.outage", .kind = PARAM_TIME, .min = 0, .max = OUTAGE_MAX, .follows = "path.outage",
        .help = "path.outage in the direction of who starts (gNB to gateway)."},

    {.key = "path.down.rate", .kind = PARAM_RATE, .min = RATE_MIN_BPS, .max = RATE_MAX_BPS, .follows = "path.rate",
        .help = "path.rate in the direction of the answers (gateway to gNB)."},
    {.key = "path.down.delay", .kind = PARAM_TIME, .min = 0, .max = DELAY_MAX, .follows = "path.delay",
        .help = "path.delay in the direction of the answers (gateway to gNB)."},
    {.key = "path.down.jitter", .kind = PARAM_TIME, .min = 0, .max = DELAY_MAX, .follows = "path.jitter",
        .help = "path.jitter in the direction of the answers (gateway to gNB)."},
    {.key = "path.down.loss", .kind = PARAM_LOSS, .follows = "path.loss",
        .help = "path.loss in the direction of the answers (gateway to gNB)."},
    {.key = "path.down.queue", .kind = PARAM_QUEUE, .min = 1, .max = INT64_MAX, .follows = "path.queue",
        .help = "path.queue in the direction of the answers (gateway to gNB)."},
    {.key = "path.down.drop", .kind = PARAM_LIST, .min = 1, .max = INT64_MAX, .follows = "path.drop",
        .help = "path.drop in the direction of the answers (gateway to gNB)."},
    {.key = "path.down.middlebox", .kind = PARAM_CHOICE, .choices = middleboxes, .follows = "path.middlebox",
        .help = "path.middlebox in the direction of the answers (gateway to gNB)."},
    {.key = "path.down.outage_start", .kind = PARAM_TIME, .min = 0, .max = OUTAGE_MAX, .follows = "path.outage_start",
        .help = "path.outage_start in the direction of the answers (gateway to gNB)."},
    {.key = "path.down.outage", .kind = PARAM_TIME, .min = 0, .max = OUTAGE_MAX, .follows = "path.outage",
        .help = "path.outage in the direction of the answers (gateway to gNB)."},
};
/* clang-format on */

const struct param_table net_path_params = {rows, sizeof rows / sizeof *rows};

/* Keys of one direction, or of both. */
struct path_keys {
  const char *rate, *delay, *jitter, *loss, *queue, *drop, *middlebox, *outage_start, *outage;
};

static const struct path_keys both_keys = {
    "path.rate", "path.delay", "path.jitter", "path.loss", "path.queue", "path.drop", "path.middlebox", "path.outage_start", "path.outage"};
static const struct path_keys direction_keys[2] = {
    [NET_A] = {"path.up.rate", "path.up.delay", "path.up.jitter", "path.up.loss", "path.up.queue", "path.up.drop", "path.up.middlebox", "path.up.outage_start",
        "path.up.outage"},
    [NET_B] = {"path.down.rate", "path.down.delay", "path.down.jitter", "path.down.loss", "path.down.queue", "path.down.drop", "path.down.middlebox",
        "path.down.outage_start", "path.down.outage"},
};

static void read_queue(const struct config *config, const char *key, struct net_direction *out) {
  int64_t limit = config_number(config, key);

  out->queue_unit = limit < 0 ? NET_QUEUE_BYTES : NET_QUEUE_PACKETS;
  out->queue_limit = limit < 0 ? -limit : limit;
}

static void read_direction(const struct config *config, const struct path_keys *keys, struct net_direction *out) {
  *out = (struct net_direction){
      .rate_bps = config_number(config, keys->rate),
      .delay = config_number(config, keys->delay),
      .jitter = config_number(config, keys->jitter),
      .drop_fragments = config_number(config, keys->middlebox) == NET_DROP_FRAGMENTS,
  };
  out->outage_from = config_number(config, keys->outage_start);
  out->outage_until = out->outage_from + config_number(config, keys->outage);
  read_queue(config, keys->queue, out);
  config_loss(config, keys->loss, &out->loss);
  out->drop_count = config_list(config, keys->drop, out->drop, NET_DROP_MAX);
}

void net_path_config(const struct config *config, struct net_link_config *out) {
  *out = (struct net_link_config){
      .mtu_bytes = (int)config_number(config, "path.mtu"),
      .l2_overhead_bytes = (int)config_number(config, "path.l2_overhead"),
  };
  for (int side = NET_A; side <= NET_B; side++) {
    read_direction(config, &direction_keys[side], &out->direction[side]);
    assert(out->direction[side].drop_count <= NET_DROP_MAX);
  }
}

static const char *written(const struct config *config, const char *own, const char *shared) { return config_is_set(config, own) ? own : shared; }

/* The keys the user wrote, or could have written, for what a direction has: its own or the path's. */
static struct path_keys written_keys(const struct config *config, const struct path_keys *own) {
  return (struct path_keys){
      .delay = written(config, own->delay, both_keys.delay),
      .jitter = written(config, own->jitter, both_keys.jitter),
      .loss = written(config, own->loss, both_keys.loss),
      .queue = written(config, own->queue, both_keys.queue),
      .drop = written(config, own->drop, both_keys.drop),
      .middlebox = written(config, own->middlebox, both_keys.middlebox),
  };
}

/* A direction under check. `said` are the keys of the one checked before, NULL for the first: what is wrong in a key
 * that both follow is said once. */
struct check {
  const struct config *config;
  const struct net_direction *direction;
  const struct path_keys *keys, *said;
};

static void check_values(const struct check *c, struct err *e) {
  const struct net_direction *d = c->direction;
  const struct path_keys *keys = c->keys, *said = c->said;
  if (d->jitter > d->delay && !(said && said->jitter == keys->jitter && said->delay == keys->delay))
    err_add(e, ERR_INPUT, "%s: found %s, above %s of %s; jitter above delay would make a packet arrive before it was sent", keys->jitter,
        config_text(c->config, keys->jitter), keys->delay, config_text(c->config, keys->delay));
  if (d->drop_count > NET_DROP_MAX && !(said && said->drop == keys->drop))
    err_add(e, ERR_INPUT, "%s: found %d packet numbers, allowed are %d", keys->drop, d->drop_count, NET_DROP_MAX);
}

static void check_caps(const struct check *c, const struct net_ops *ops, struct err *e) {
  static const struct path_keys none = {0};
  const struct net_direction *d = c->direction;
  const struct path_keys *keys = c->keys, *said = c->said ? c->said : &none;
  const struct {
    bool needed;
    unsigned cap;
    const char *key, *said, *what;
  } needs[] = {
      {d->jitter > 0, NET_CAP_JITTER, keys->jitter, said->jitter, "jitter"},
      {d->loss.gemodel, NET_CAP_GEMODEL, keys->loss, said->loss, "gemodel loss"},
      {d->drop_fragments, NET_CAP_MIDDLEBOX, keys->middlebox, said->middlebox, "middleboxes"},
      {d->queue_unit == NET_QUEUE_BYTES, NET_CAP_BYTE_QUEUE, keys->queue, said->queue, "queues limited in bytes"},
  };
  for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
    if (needs[i].needed && !(ops->caps & needs[i].cap) && needs[i].key != needs[i].said)
      err_add(e, ERR_INPUT, "%s: found %s, but backend %s has no %s", needs[i].key, config_text(c->config, needs[i].key), ops->name, needs[i].what);
}

enum net_middlebox net_path_middlebox(const struct config *config, enum net_side from) {
  return (enum net_middlebox)config_number(config, direction_keys[from].middlebox);
}

int net_path_check(const struct config *config, const struct net_ops *ops, struct err *e) {
  int before = e->count;
  struct path_keys keys[2];
  for (int side = NET_A; side <= NET_B; side++) {
    struct net_direction d;
    read_direction(config, &direction_keys[side], &d);
    keys[side] = written_keys(config, &direction_keys[side]);
    struct check check = {config, &d, &keys[side], side == NET_B ? &keys[NET_A] : NULL};
    check_values(&check, e);
    check_caps(&check, ops, e);
  }
  return e->count > before ? ERR_INPUT : ERR_NONE;
}

int net_fragment_count(int64_t payload_bytes, int mtu_bytes) {
  int64_t each = net_rules_fragment_payload(mtu_bytes);

  assert(payload_bytes > 0 && mtu_bytes >= MTU_MIN);
  if (NET_IP_HEADER + payload_bytes <= mtu_bytes) return 1;
  /* The last fragment needs no multiple of 8, so it may hold up to 7 bytes more than the others. */
  int64_t last = mtu_bytes - NET_IP_HEADER;

  return (int)((payload_bytes - last + each - 1) / each) + 1;
}

int64_t net_fragment_bytes(int64_t payload_bytes, int mtu_bytes, int index) {
  int count = net_fragment_count(payload_bytes, mtu_bytes);
  int64_t each = net_rules_fragment_payload(mtu_bytes);

  assert(index >= 0 && index < count);
  return NET_IP_HEADER + (index < count - 1 ? each : payload_bytes - each * (count - 1));
}
