/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/domain/secure_path.h"

#include <string.h>

static const char *const planes[] = {"kernel", "userspace", NULL};

static const struct param rows[] = {
    {.key = "ipsec.data_plane",
        .kind = PARAM_CHOICE,
        .fallback = "kernel",
        .choices = planes,
        .help = "where ESP is done: in the kernel, whose packets interrupt the IKE daemon's work, or in user space, where they wait their turn among it"},
};

const struct param_table secure_path_params = {rows, sizeof rows / sizeof *rows};

bool secure_path_in_user_space(const struct config *config) { return config_number(config, "ipsec.data_plane") == 1; }

struct secure_path {
  struct sim *sim;
  struct port *ports[2];
  struct cpu *cpus[2];
  struct secure_path_config config;
  struct draw_key key;
  int64_t in_work;
  simtime last_sent[2], last_received[2];
  bool down;
};

/* A packet on its way. */
struct transit {
  struct secure_path *path;
  struct secure_packet packet;
};

int secure_path_mtu(const struct secure_path_config *config, int mtu_bytes) {
  int plain = mtu_bytes;
  while (plain > 0 && esp_packet_bytes(plain, config->mode, config->udp_encapsulated) > mtu_bytes) plain--;
  return plain;
}

static int64_t draw(const struct secure_path *path, const struct secure_packet *packet, const struct cost_row *row, int slot) {
  if (!row) return 0;
  struct draw_key key = path->key;
  key.purpose = DRAW_COST_PACKET;
  key.message = packet->number;
  key.fragment = (uint16_t)slot;
  key.attempt = packet->attempt;
  return cost_draw(row, packet->bytes, random_draw(&key));
}

/* One side's work on a packet. */
static void work(struct transit *transit, int side, const struct cost_row *aead, const struct trail *trail, cpu_done_fn *done) {
  struct secure_path *path = transit->path;
  int64_t cost[PART_COUNT] = {0};
  if (transit->packet.protect) {
    bool sender = side == transit->packet.from;
    cost[PART_SYMMETRIC] = draw(path, &transit->packet, aead, sender ? 0 : 2);
    cost[PART_SOFTWARE] = draw(path, &transit->packet, path->config.packet[side], sender ? 1 : 3);
  }
  path->in_work++;
  if (path->config.user_space)
    cpu_submit(path->cpus[side], trail, cost, done, transit);
  else
    cpu_submit_urgent(path->cpus[side], trail, cost, done, transit);
}

static void sealed(void *arg, const struct trail *trail) {
  struct transit *transit = arg;
  struct secure_path *path = transit->path;
  const struct secure_packet *packet = &transit->packet;
  path->in_work--;
  path->last_sent[packet->from] = trail->at;
  struct net_message message = {
      .udp = packet->protect && path->config.udp_encapsulated,
      .protocol = PORT_DATA,
      .size_bytes = packet->protect ? esp_payload_bytes(packet->bytes, path->config.mode) : packet->bytes - ESP_IPV4_HEADER_BYTES,
      .number = packet->number,
      .attempt = packet->attempt,
      .tag = transit,
  };
  port_send(path->ports[packet->from], &message, trail);
}

static void opened(void *arg, const struct trail *trail) {
  struct transit *transit = arg;
  struct secure_path *path = transit->path;
  secure_path_deliver_fn *deliver = transit->packet.deliver;
  void *to = transit->packet.arg;
  path->in_work--;
  path->last_received[!transit->packet.from] = trail->at;
  sim_release(path->sim, transit, sizeof *transit);
  deliver(to, trail);
}

static void arrived(void *arg, const struct net_message *message, const struct trail *trail) {
  (void)arg;
  struct transit *transit = message->tag;
  int side = !transit->packet.from;
  work(transit, side, transit->path->config.open[side], trail, opened);
}

struct secure_path *secure_path_new(
    struct sim *sim, struct port *const ports[2], struct cpu *const cpus[2], const struct secure_path_config *config, const struct draw_key *key) {
  struct secure_path *path = sim_alloc(sim, sizeof *path);
  *path = (struct secure_path){.sim = sim, .config = *config, .key = *key};
  for (int side = 0; side < 2; side++) {
    path->ports[side] = ports[side];
    path->cpus[side] = cpus[side];
    port_on(ports[side], PORT_DATA, arrived, path);
  }
  return path;
}

void secure_path_send(struct secure_path *path, const struct secure_packet *packet, const struct trail *trail) {
  if (path->down) return;
  struct transit *transit = sim_take(path->sim, sizeof *transit);
  *transit = (struct transit){.path = path, .packet = *packet};
  work(transit, packet->from, path->config.seal[packet->from], trail, sealed);
}

void secure_path_set(struct secure_path *path, bool up) { path->down = !up; }
simtime secure_path_last_received(const struct secure_path *path, int side) { return path->last_received[side]; }
int64_t secure_path_in_work(const struct secure_path *path) { return path->in_work; }
simtime secure_path_last_sent(const struct secure_path *path, int side) { return path->last_sent[side]; }
