/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SACKs at the sender of DATA (RFC 9260 section 6.2.1): windows (7.2.1, 7.2.2), fast retransmit (7.2.4), T3 (6.3.2). */
#include "models/transport/sctp_internal.h"

enum { REPORTS_TO_RETRANSMIT = 3 };

/* What one SACK has brought. */
struct news {
  int64_t bytes[SCTP_PATHS];  /* acknowledged for the first time */
  int64_t before[SCTP_PATHS]; /* flight before it */
  bool passed[SCTP_PATHS];    /* the cumulative ack has passed a chunk of the path */
  bool heard[SCTP_PATHS];
  bool advanced;
  int64_t highest; /* highest TSN newly acknowledged */
};

static void take_ack(struct endpoint *end, int64_t tsn, struct news *news) {
  struct chunk *chunk = chunk_of(end, tsn);
  struct path *path = &end->paths[chunk->path];
  if (chunk->acked) return;
  chunk->acked = true;
  if (chunk->marked) {
    chunk->marked = false;
    end->out.marked--;
  } else
    path->flight -= sctp_flight_bytes(end, chunk);
  if (path->timing && path->timed_tsn == tsn) {
    path->timing = false;
    sctp_rtt_sample(end, path, sctp_now(end) - chunk->sent_at);
  }
  news->bytes[chunk->path] += sctp_flight_bytes(end, chunk);
  news->heard[chunk->path] = true;
  news->highest = tsn;
}

static void take_acks(struct endpoint *end, const struct sack *sack, struct news *news) {
  struct sender *out = &end->out;
  while (out->acked < sack->cumulative) {
    take_ack(end, out->acked + 1, news);
    out->acked++;
    news->passed[chunk_of(end, out->acked)->path] = true;
    news->advanced = true;
  }
  for (int i = 0; i < sack->block_count; i++)
    for (int64_t tsn = max_i64(sack->blocks[i].first, out->acked + 1); tsn <= sack->blocks[i].last; tsn++) take_ack(end, tsn, news);
}

static void grow_window(struct endpoint *end, struct path *path, int64_t bytes, int64_t before) {
  int64_t unit = sctp_unit(end->config);
  bool used = before >= path->cwnd;
  if (path->cwnd <= path->ssthresh) {
    if (used) path->cwnd += min_i64(bytes, end->config->congestion->slow_start_units * unit);
    return;
  }
  path->partial_acked += bytes;
  if (!used)
    path->partial_acked = min_i64(path->partial_acked, path->cwnd);
  else if (path->partial_acked >= path->cwnd) {
    path->partial_acked -= path->cwnd;
    path->cwnd += unit;
  }
}

/* A chunk has one fast retransmit (section 7.2.4 (5)); usrsctp gives it another when what was sent after it has come in. */
static bool may_be_fast(const struct endpoint *end, const struct chunk *chunk, const struct news *news) {
  return chunk->fast_from == 0 || (end->config->congestion->repeats_fast_retransmit && news->highest >= chunk->fast_from);
}

/* Miss indications by the highest TSN newly acknowledged; within fast recovery, when the cumulative ack advances, for all that
 * is reported missing. Returns whether chunks have been marked. */
static bool count_missing(struct endpoint *end, const struct sack *sack, const struct news *news) {
  struct sender *out = &end->out;
  bool marked = false;
  if (sack->block_count == 0) return false;
  int64_t below = out->recovery && news->advanced ? sack->blocks[sack->block_count - 1].last : news->highest;
  for (int64_t tsn = out->acked + 1; tsn < below; tsn++) {
    struct chunk *chunk = chunk_of(end, tsn);
    if (chunk->acked || chunk->marked || !may_be_fast(end, chunk, news) || ++chunk->missing < REPORTS_TO_RETRANSMIT) continue;
    chunk->fast_from = out->next;
    sctp_mark(end, chunk);
    marked = true;
  }
  return marked;
}

static void enter_recovery(struct endpoint *end, int index) {
  struct path *path = &end->paths[index];
  if (end->out.recovery) return;
  end->out.recovery = true;
  end->out.recovery_exit = end->out.next - 1;
  path->ssthresh = max_i64(path->cwnd / 2, end->config->congestion->ssthresh_units * sctp_unit(end->config));
  path->cwnd = path->ssthresh;
  path->partial_acked = 0;
}

static int lost_on(const struct endpoint *end) {
  int64_t tsn = end->out.acked + 1;
  while (!chunk_of(end, tsn)->marked) tsn++;
  return chunk_of(end, tsn)->path;
}

/* Section 6.2.1 D ii: what the peer can take beyond what is under way. */
static void take_window(struct endpoint *end, const struct sack *sack) {
  struct sender *out = &end->out;
  int64_t under_way = 0;
  for (int64_t tsn = out->acked + 1; tsn < out->next; tsn++)
    if (!chunk_of(end, tsn)->acked) under_way += chunk_of(end, tsn)->bytes;
  out->peer_window = max_i64(0, sack->window - under_way);
  out->window_closed = sack->window == 0;
  out->heard_at = sctp_now(end);
}

static void adjust_t3(struct endpoint *end, int index, const struct news *news) {
  if (end->paths[index].flight == 0)
    sctp_t3_stop(end, index); /* rule R2 */
  else if (news->passed[index]) {
    sctp_t3_stop(end, index); /* rule R3: usrsctp leaves it running */
    sctp_t3_start(end, index);
  }
}

void sctp_ack_input(struct endpoint *end, const struct sack *sack) {
  struct sender *out = &end->out;
  struct news news = {0};
  if (sack->cumulative < out->acked) return; /* overtaken by a later one */
  for (int i = 0; i < end->config->paths; i++) news.before[i] = end->paths[i].flight;
  take_acks(end, sack, &news);
  take_window(end, sack);
  if (out->acked >= out->recovery_exit) out->recovery = false;
  for (int i = 0; i < end->config->paths; i++) {
    if (news.advanced && news.bytes[i] > 0 && !out->recovery) grow_window(end, &end->paths[i], news.bytes[i], news.before[i]);
    if (all_acked(end)) end->paths[i].partial_acked = 0;
  }
  bool lost = count_missing(end, sack, &news);
  for (int i = 0; i < end->config->paths; i++) adjust_t3(end, i, &news);
  if (lost) {
    enter_recovery(end, lost_on(end));
    sctp_retransmit(end, true);
  }
  for (int i = 0; i < end->config->paths; i++)
    if (news.heard[i]) sctp_path_heard(end, i);
  sctp_output(end);
  sctp_shutdown_progress(end);
}
