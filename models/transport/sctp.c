/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Life of an association: creation, messages in, packets in, shutdown (RFC 9260 section 9). */
#include "models/transport/sctp_internal.h"

#include <assert.h>
#include <string.h>

enum { RING_START = 4, EPOCHS = 16 };

static const unsigned setup_chunks = 1u << SCTP_INIT | 1u << SCTP_INIT_ACK | 1u << SCTP_COOKIE_ECHO | 1u << SCTP_COOKIE_ACK;
static const unsigned shutdown_chunks = 1u << SCTP_SHUTDOWN | 1u << SCTP_SHUTDOWN_ACK | 1u << SCTP_SHUTDOWN_COMPLETE;
static const unsigned heartbeat_chunks = 1u << SCTP_HEARTBEAT | 1u << SCTP_HEARTBEAT_ACK;

/* What an end is before set-up; its arrays stay, those by stream are zero. */
static void endpoint_reset(struct sctp *sctp, enum sctp_side side, const struct sctp_config *config, int64_t peer_window) {
  struct endpoint *end = &sctp->ends[side];
  const struct sender out = {
      .streams = end->out.streams, .ssn = end->out.ssn, .ring = end->out.ring, .ring_capacity = end->out.ring_capacity, .next = 1, .peer_window = peer_window};
  const struct receiver in = {.streams = end->in.streams, .gaps = end->in.gaps, .gap_capacity = end->in.gap_capacity};
  *end = (struct endpoint){.sctp = sctp,
      .peer = &sctp->ends[!side],
      .side = side,
      .state = side == SCTP_SERVER ? LISTEN : CLOSED,
      .config = config,
      .paths = end->paths,
      .out = out,
      .in = in};
  for (int i = 0; i < config->paths; i++) sctp_path_reset(end, &end->paths[i]);
  end->out.queue_tail = &end->out.queue;
  end->in.ready_tail = &end->in.ready;
}

static void endpoint_init(struct sctp *sctp, enum sctp_side side, const struct sctp_config *config, int64_t peer_window) {
  struct endpoint *end = &sctp->ends[side];
  end->paths = sim_alloc(sctp->sim, (size_t)config->paths * sizeof *end->paths);
  end->out.ring_capacity = RING_START;
  end->out.ring = sim_alloc(sctp->sim, RING_START * sizeof *end->out.ring);
  endpoint_reset(sctp, side, config, peer_window);
}

struct sctp *sctp_new(struct sim *sim, const struct sctp_config *const configs[2], const struct sctp_below *below, const struct sctp_observer *observer,
    const struct draw_key *key, int epoch) {
  assert(configs[0]->paths == configs[1]->paths && configs[0]->mtu_bytes == configs[1]->mtu_bytes);
  assert(configs[0]->paths >= 1 && configs[0]->paths <= SCTP_PATHS && configs[0]->mtu_bytes >= SCTP_MTU_MIN && epoch >= 0 && epoch < EPOCHS);
  struct sctp *sctp = sim_alloc(sim, sizeof *sctp);
  *sctp = (struct sctp){.sim = sim, .below = *below, .observer = *observer, .key = *key, .epoch = (uint32_t)epoch};
  sctp->streams = configs[0]->streams < configs[1]->streams ? configs[0]->streams : configs[1]->streams;
  for (int side = 0; side < 2; side++) endpoint_init(sctp, (enum sctp_side)side, configs[side], configs[!side]->receive_window);
  return sctp;
}

static void forget_streams(struct endpoint *end) {
  size_t streams = (size_t)end->out.streams;
  if (streams == 0) return;
  memset(end->out.ssn, 0, streams * sizeof *end->out.ssn);
  memset(end->peer->in.streams, 0, streams * sizeof *end->peer->in.streams);
}

void sctp_renew(struct sctp *sctp, int epoch) {
  assert(sctp->forgotten && epoch >= 0 && epoch < EPOCHS);
  assert(!sctp->ends[0].in.delivering && !sctp->ends[1].in.delivering);
  for (int side = 0; side < 2; side++) {
    sctp_discard_messages(&sctp->ends[side]);
    forget_streams(&sctp->ends[side]);
  }
  sctp->forgotten = false;
  sctp->generation++;
  sctp->epoch = (uint32_t)epoch;
  for (int side = 0; side < 2; side++) endpoint_reset(sctp, (enum sctp_side)side, sctp->ends[side].config, sctp->ends[!side].config->receive_window);
}

void sctp_give_back(struct sctp *sctp) {
  struct sim *sim = sctp->sim;
  for (int side = 0; side < 2; side++) sctp_discard_messages(&sctp->ends[side]);
  for (int side = 0; side < 2; side++) {
    struct endpoint *end = &sctp->ends[side];
    size_t streams = (size_t)end->out.streams;
    sim_release(sim, end->paths, (size_t)end->config->paths * sizeof *end->paths);
    sim_release(sim, end->out.ring, (size_t)end->out.ring_capacity * sizeof *end->out.ring);
    if (end->in.gap_capacity > 0) sim_release(sim, end->in.gaps, (size_t)end->in.gap_capacity * sizeof *end->in.gaps);
    if (streams == 0) continue;
    sim_release(sim, end->out.ssn, streams * sizeof *end->out.ssn);
    sim_release(sim, end->peer->in.streams, streams * sizeof *end->peer->in.streams);
  }
  sim_release(sim, sctp, sizeof *sctp);
}

void sctp_free(struct sctp *sctp) {
  assert(sctp->packets > 0 || (!sctp->ends[0].in.delivering && !sctp->ends[1].in.delivering));
  sctp_forget(sctp);
  sctp->unused = true;
  if (sctp->packets == 0) sctp_give_back(sctp);
}

/* ---- messages in ---- */

static void *grown(struct sim *sim, void *old, size_t old_size, size_t size) {
  void *memory = sim_alloc(sim, size);
  if (old_size) memcpy(memory, old, old_size);
  if (old_size) sim_release(sim, old, old_size);
  return memory;
}

/* Few of many streams are ever used: both ends have room for one when the first message goes on it. */
static void open_stream(struct endpoint *end, int stream) {
  struct sender *out = &end->out;
  struct receiver *in = &end->peer->in;
  if (stream < out->streams) return;
  size_t had = (size_t)out->streams, count = (size_t)stream + 1 > 2 * had ? (size_t)stream + 1 : 2 * had;
  out->ssn = grown(end->sctp->sim, out->ssn, had * sizeof *out->ssn, count * sizeof *out->ssn);
  in->streams = grown(end->sctp->sim, in->streams, had * sizeof *in->streams, count * sizeof *in->streams);
  out->streams = (int)count;
}

static int64_t bytes_as_chunks(const struct sctp_config *config, int64_t bytes) {
  int64_t fragment = sctp_fragment_bytes(config), whole = bytes / fragment, rest = bytes % fragment;
  return whole * (DATA_HEADER + fragment) + (rest ? padded(DATA_HEADER + rest) : 0);
}

bool sctp_send(struct sctp *sctp, enum sctp_side from, int stream, int64_t bytes, bool ordered, void *tag, const struct trail *trail) {
  struct endpoint *end = &sctp->ends[from];
  assert(bytes > 0 && stream >= 0 && stream < sctp->streams && trail->at == sctp_now(end));
  if (end->state == CLOSED ? end->out.ended : end->state > ESTABLISHED) return false;
  open_stream(end, stream);
  struct message *message = sim_take(sctp->sim, sizeof *message);
  int64_t fragment = sctp_fragment_bytes(end->config);
  *message = (struct message){
      .tag = tag,
      .bytes = bytes,
      .unsent = bytes,
      .begin = *trail,
      .chunks = (int32_t)((bytes + fragment - 1) / fragment),
      .stream = (uint16_t)stream,
      .ordered = ordered,
      .ssn = ordered ? end->out.ssn[stream]++ : 0,
  };
  *end->out.queue_tail = message;
  end->out.queue_tail = &message->next;
  end->out.unsent_bytes += bytes_as_chunks(end->config, bytes);
  sctp_output_message(end);
  return true;
}

/* ---- states ---- */

bool sctp_takes_data(const struct endpoint *end) { return end->state == ESTABLISHED || end->state == SHUTDOWN_PENDING || end->state == SHUTDOWN_SENT; }

void sctp_established(struct endpoint *end) {
  const struct sctp_observer *observer = &end->sctp->observer;
  end->state = ESTABLISHED;
  for (int i = 0; i < end->config->paths; i++) end->paths[i].last_new = sctp_now(end);
  sctp_heartbeats_start(end);
  if (observer->established) observer->established(observer->arg, end->side, &end->chain);
  sctp_output(end);
}

static void stop(struct endpoint *end) {
  end->state = CLOSED;
  end->out.ended = true;
  end->owe_cookie_ack = false;
  sctp_control_stop(end);
  sctp_path_stop(end);
  sctp_receive_stop(end);
}

void sctp_finish(struct endpoint *end, enum sctp_end why) {
  const struct sctp_observer *observer = &end->sctp->observer;
  stop(end);
  if (observer->ended) observer->ended(observer->arg, end->side, why);
}

/* ---- shutdown ---- */

static void t2_expired(struct sim *sim, void *arg) {
  (void)sim;
  struct endpoint *end = arg;
  end->control_running = false;
  if (++end->control_tries > end->config->association_max_retrans) {
    sctp_finish(end, SCTP_END_UNREACHABLE);
    return;
  }
  sctp_send_control(end, sctp_path_for_data(end), end->state == SHUTDOWN_SENT ? SCTP_SHUTDOWN : SCTP_SHUTDOWN_ACK, NULL);
  sctp_control_arm(end, min_i64(2 * end->control_wait, end->config->rto_max), t2_expired);
}

static void shutdown_send(struct endpoint *end, enum state state) {
  int path = sctp_path_for_data(end);
  sctp_control_stop(end);
  end->state = state;
  end->control_tries = 0;
  sctp_send_control(end, path, state == SHUTDOWN_SENT ? SCTP_SHUTDOWN : SCTP_SHUTDOWN_ACK, NULL);
  sctp_control_arm(end, end->paths[path].rto, t2_expired);
}

void sctp_shutdown_progress(struct endpoint *end) {
  if (!all_acked(end) || end->out.queue) return;
  if (end->state == SHUTDOWN_PENDING) shutdown_send(end, SHUTDOWN_SENT);
  if (end->state == SHUTDOWN_RECEIVED) shutdown_send(end, SHUTDOWN_ACK_SENT);
}

static void shutdown_input(struct endpoint *end, const struct packet *packet) {
  if (end->state == SHUTDOWN_SENT) /* both at once: section 9.2 */
    shutdown_send(end, SHUTDOWN_ACK_SENT);
  else if (end->state == ESTABLISHED || end->state == SHUTDOWN_PENDING || end->state == SHUTDOWN_RECEIVED) {
    end->state = SHUTDOWN_RECEIVED;
    sctp_ack_input(end, packet->sack);
  }
}

static void shutdown_chunks_input(struct endpoint *end, const struct packet *packet) {
  unsigned chunks = packet->info.chunks;
  if (chunks & 1u << SCTP_SHUTDOWN) shutdown_input(end, packet);
  if (chunks & 1u << SCTP_SHUTDOWN_ACK && (end->state == SHUTDOWN_SENT || end->state == SHUTDOWN_ACK_SENT)) {
    sctp_send_control(end, packet->info.path, SCTP_SHUTDOWN_COMPLETE, NULL);
    sctp_finish(end, SCTP_END_SHUTDOWN);
  }
  if (chunks & 1u << SCTP_SHUTDOWN_COMPLETE && end->state == SHUTDOWN_ACK_SENT) sctp_finish(end, SCTP_END_SHUTDOWN);
}

void sctp_shutdown(struct sctp *sctp, enum sctp_side side) {
  struct endpoint *end = &sctp->ends[side];
  if (end->state == ESTABLISHED) {
    end->state = SHUTDOWN_PENDING;
    sctp_shutdown_progress(end);
  } else if (end->state < ESTABLISHED)
    sctp_abort(sctp, side);
}

void sctp_abort(struct sctp *sctp, enum sctp_side side) {
  struct endpoint *end = &sctp->ends[side];
  if (end->state > COOKIE_WAIT) sctp_send_control(end, sctp_path_for_data(end), SCTP_ABORT, NULL);
  stop(end);
}

void sctp_forget(struct sctp *sctp) {
  sctp->forgotten = true;
  for (int side = 0; side < 2; side++) stop(&sctp->ends[side]);
}

/* ---- packets in ---- */

/* Section 8.4: out of the blue. */
static void closed_input(struct endpoint *end, const struct packet *packet) {
  unsigned chunks = packet->info.chunks;
  if (chunks & 1u << SCTP_SHUTDOWN_ACK)
    sctp_send_control(end, packet->info.path, SCTP_SHUTDOWN_COMPLETE, NULL);
  else if (!(chunks & (1u << SCTP_ABORT | 1u << SCTP_SHUTDOWN_COMPLETE)))
    sctp_send_control(end, packet->info.path, SCTP_ABORT, NULL);
}

static void open_input(struct endpoint *end, const struct packet *packet, const struct trail *trail) {
  unsigned chunks = packet->info.chunks;
  if (chunks & 1u << SCTP_ABORT) {
    if (end->state != LISTEN) sctp_finish(end, SCTP_END_ABORTED);
    return;
  }
  if (chunks & setup_chunks) sctp_setup_input(end, packet, trail);
  if (end->state >= ESTABLISHED && chunks & 1u << SCTP_SACK) sctp_ack_input(end, packet->sack);
  if (end->state >= ESTABLISHED && chunks & heartbeat_chunks) sctp_heartbeat_input(end, packet);
  if (end->state >= ESTABLISHED && chunks & shutdown_chunks) shutdown_chunks_input(end, packet);
  if (sctp_takes_data(end) && packet->runs) sctp_data_input(end, packet, trail);
}

void sctp_input(void *tag, const struct trail *trail) {
  struct packet *packet = tag;
  struct sctp *sctp = packet->sctp;
  struct endpoint *end = &sctp->ends[!packet->info.from];
  assert(trail->at == sctp_now(end));
  if (!sctp->forgotten && packet->generation == sctp->generation) {
    if (end->state == CLOSED)
      closed_input(end, packet);
    else
      open_input(end, packet, trail);
    if (end->owe_cookie_ack || end->in.due == SACK_AT_ONCE) sctp_send_owed(end);
  }
  sctp_packet_free(sctp, packet);
}

/* ---- asked from outside ---- */

bool sctp_is_established(const struct sctp *sctp, enum sctp_side side) { return sctp->ends[side].state == ESTABLISHED; }

void sctp_counters(const struct sctp *sctp, enum sctp_side side, struct sctp_counters *out) { *out = sctp->ends[side].counters; }

void sctp_path_state(const struct sctp *sctp, enum sctp_side side, int index, struct sctp_path_state *out) {
  const struct path *path = &sctp->ends[side].paths[index];
  *out = (struct sctp_path_state){
      .rto = path->rto,
      .srtt = path->measured ? path->srtt : 0,
      .rttvar = path->rttvar,
      .cwnd = path->cwnd,
      .ssthresh = path->ssthresh,
      .flight = path->flight,
      .errors = path->errors,
      .active = path->active,
  };
}
