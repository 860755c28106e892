/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/net/net_rules.h"

#include "sim/core/random.h"
#include <assert.h>

enum { FRAGMENTS_PER_PART = 64, BLOCK_SHIFT = 21, ENTITY_LIMIT = 1 << (BLOCK_SHIFT - 1), KEY_FIELD_MASK = 0xfff };

/* Parts of a message get 64 fragment numbers each. A datagram of more fragments (at most 1366, MTU 68) goes on in a block
 * of its own, counted in the entity's upper bits, which ENTITY_LIMIT leaves free. */
static struct draw_key packet_key(const struct net_rules *rules, const struct net_packet *packet, enum draw_purpose purpose) {
  const struct net_message *message = packet->message;

  return (struct draw_key){
      .seed = rules->seed,
      .replication = rules->replication,
      .entity = rules->entity | (uint32_t)(packet->index / FRAGMENTS_PER_PART) << BLOCK_SHIFT,
      .message = message->number,
      .purpose = purpose,
      .fragment = (uint16_t)((message->part * FRAGMENTS_PER_PART + packet->index % FRAGMENTS_PER_PART) & KEY_FIELD_MASK),
      .attempt = message->attempt & KEY_FIELD_MASK,
  };
}

static struct draw_key place_key(const struct net_rules *rules, enum draw_purpose purpose) {
  return (struct draw_key){
      .seed = rules->seed,
      .replication = rules->replication,
      .entity = rules->entity,
      .message = (uint32_t)rules->packets,
      .purpose = purpose,
      .attempt = (uint16_t)((uint64_t)rules->packets >> 32 & KEY_FIELD_MASK),
  };
}

static bool place_draw(const struct net_rules *rules, enum draw_purpose purpose, int64_t share_ppb) {
  struct draw_key key = place_key(rules, purpose);

  return random_below(&key, share_ppb);
}

void net_rules_init(struct net_rules *rules, const struct net_direction *direction, uint64_t seed, uint32_t replication, uint32_t entity, enum net_side from) {
  const struct param_loss *loss = &direction->loss;

  assert(entity < ENTITY_LIMIT);
  *rules = (struct net_rules){
      .direction = direction,
      .seed = seed,
      .replication = replication,
      .entity = entity * 2 + (uint32_t)from,
  };
  if (loss->gemodel && loss->p_ppb > 0) rules->bad = place_draw(rules, DRAW_LOSS_STATE, loss->p_ppb * SHARE_ONE / (loss->p_ppb + loss->r_ppb));
}

static bool lost_gemodel(struct net_rules *rules) {
  const struct param_loss *loss = &rules->direction->loss;
  bool lost = place_draw(rules, DRAW_LOSS, rules->bad ? loss->bad_ppb : loss->good_ppb);

  if (place_draw(rules, DRAW_LOSS_STATE, rules->bad ? loss->r_ppb : loss->p_ppb)) rules->bad = !rules->bad;
  return lost;
}

static bool on_drop_list(const struct net_direction *direction, int64_t number) {
  for (int i = 0; i < direction->drop_count; i++)
    if (direction->drop[i] == number) return true;
  return false;
}

bool net_rules_lost(struct net_rules *rules, const struct net_packet *packet, simtime at) {
  const struct net_direction *direction = rules->direction;
  struct draw_key key = packet_key(rules, packet, DRAW_LOSS);
  bool lost;

  rules->packets++;
  /* The chance comes first: the Gilbert-Elliott state moves with every packet, whatever else befalls it. */
  if (direction->loss.gemodel)
    lost = lost_gemodel(rules);
  else
    lost = direction->loss.loss_ppb > 0 && random_below(&key, direction->loss.loss_ppb);
  if (at >= direction->outage_from && at < direction->outage_until) return true;
  return lost || on_drop_list(direction, rules->packets) || (direction->drop_fragments && packet->fragment);
}

simtime net_rules_delay(const struct net_rules *rules, const struct net_packet *packet) {
  const struct net_direction *direction = rules->direction;

  if (direction->jitter == 0) return direction->delay;
  struct draw_key key = packet_key(rules, packet, DRAW_JITTER);

  return direction->delay - direction->jitter + random_under(&key, 2 * direction->jitter + 1);
}

simtime net_rules_wire_time(int64_t bytes, int64_t rate_bps) {
  assert(bytes >= 0 && bytes <= INT32_MAX && rate_bps > 0);
  /* At most 2^31 * 8e9 < 2^64. */
  uint64_t bit_ns = (uint64_t)bytes * 8 * 1000000000;

  return (simtime)((bit_ns + (uint64_t)rate_bps / 2) / (uint64_t)rate_bps);
}

int64_t net_rules_payload(const struct net_message *message) { return message->size_bytes + (message->udp ? NET_UDP_HEADER : 0); }

int net_rules_fragment_payload(int mtu_bytes) { return (mtu_bytes - NET_IP_HEADER) / 8 * 8; }
