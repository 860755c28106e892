/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/domain/gateway.h"

#include <assert.h>
#include <string.h>

#define SECOND INT64_C(1000000000)

static const struct param rows[] = {
    {.key = "ipsec.half_open_per_address",
        .kind = PARAM_COUNT,
        .fallback = "5",
        .min = 0,
        .max = 1000000000,
        .help = "sessions of one address that may be half-open at the responder (strongSwan's block_threshold); 0: no limit"},
    {.key = "ipsec.half_open_total",
        .kind = PARAM_COUNT,
        .fallback = "0",
        .min = 0,
        .max = 1000000000,
        .help = "sessions that may be half-open at the responder (strongSwan's init_limit_half_open); 0: no limit"},
    {.key = "ipsec.half_open_timeout",
        .kind = PARAM_TIME,
        .fallback = "30s",
        .min = 10000000,
        .max = 366 * 86400 * SECOND,
        .help = "the responder deletes a session that is half-open for so long"},
    {.key = "ipsec.cookie_threshold",
        .kind = PARAM_COUNT,
        .fallback = "30",
        .min = 0,
        .max = 1000000000,
        .help = "half-open sessions from which on the responder asks for a cookie; 0: never"},
    {.key = "gateway.cores", .kind = PARAM_COUNT, .fallback = "1", .min = 1, .max = 4096, .help = "cores of the gateway"},
    {.key = "gateway.threads", .kind = PARAM_COUNT, .fallback = "16", .min = 1, .max = 100000, .help = "worker threads of its IKE daemon (strongSwan: 16)"},
    {.key = "gateway.admission_rate",
        .kind = PARAM_COUNT,
        .fallback = "0",
        .min = 0,
        .max = 1000000,
        .help = "new sessions admitted per second, evenly spaced; 0: no limit"},
    {.key = "gateway.admission_queue",
        .kind = PARAM_COUNT,
        .fallback = "0",
        .min = 0,
        .max = 10000000,
        .help = "sessions that may wait for admission; more are refused"},
    {.key = "gateway.admission_wait",
        .kind = PARAM_TIME,
        .fallback = "0s",
        .min = 0,
        .max = 3600 * SECOND,
        .help = "a session that would wait longer for admission is refused; 0s: no limit"},
    {.key = "gateway.hsm",
        .kind = PARAM_COUNT,
        .fallback = "0",
        .min = 0,
        .max = 4096,
        .help = "private-key operations its HSM does at once; 0: no HSM, the cores do them"},
    {.key = "gateway.background", .kind = PARAM_SHARE, .fallback = "0%", .min = 0, .max = 950000000, .help = "share of each core that other work takes"},
    {.key = "gateway.background_job",
        .kind = PARAM_TIME,
        .fallback = "1ms",
        .min = 10000,
        .max = SECOND,
        .help = "length of one piece of that work; pieces come at random, gaps uniform between 0 and twice their mean"},
};

const struct param_table gateway_params = {rows, sizeof rows / sizeof *rows};

int gateway_configure(const struct config *config, struct gateway_config *out, struct err *e) {
  int64_t rate = config_number(config, "gateway.admission_rate");
  *out = (struct gateway_config){
      .cores = (int)config_number(config, "gateway.cores"),
      .threads = (int)config_number(config, "gateway.threads"),
      .half_open_per_address = (int)config_number(config, "ipsec.half_open_per_address"),
      .half_open_total = (int)config_number(config, "ipsec.half_open_total"),
      .half_open_timeout = config_number(config, "ipsec.half_open_timeout"),
      .cookie_threshold = (int)config_number(config, "ipsec.cookie_threshold"),
      .admission_interval = rate > 0 ? SECOND / rate : 0,
      .admission_queue = (int)config_number(config, "gateway.admission_queue"),
      .admission_wait = config_number(config, "gateway.admission_wait"),
      .hsm = (int)config_number(config, "gateway.hsm"),
      .background_ppb = config_number(config, "gateway.background"),
      .background_job = config_number(config, "gateway.background_job"),
  };
  if (rate == 0 && (out->admission_queue > 0 || out->admission_wait > 0))
    return err_add(e, ERR_INPUT,
        "gateway.admission_rate: found 0, no limit, so that nothing ever waits for admission; allowed a rate, or neither "
        "gateway.admission_queue nor gateway.admission_wait");
  return 0;
}

/* ---- State ----------------------------------------------------------------------------------------------------- */

/* Work of the IKE daemon that holds a thread, or waits for one. */
struct job {
  struct gateway *gateway;
  struct job *next; /* waiting */
  struct trail trail;
  int64_t cost[PART_COUNT];
  int64_t hsm;
  cpu_done_fn *done;
  void *arg;
};

struct gateway_session {
  struct gateway *gateway;
  struct handshake *handshake;             /* NULL: the initiator has left */
  struct gateway_session *next, *previous; /* of the half-open ones, the one opened last being the last */
  simtime expires;
  simtime admitted; /* not before this is the opening request worked on */
  int address;
  bool half_open;
};

/* Other work of one core. */
struct background {
  struct gateway *gateway;
  struct draw_key key;
};

struct gateway {
  struct sim *sim;
  struct gateway_config config;
  struct cpu *cores, *hsm; /* hsm NULL: none */
  int threads_busy;
  struct job *first, *last;                /* waiting for a thread */
  simtime next_slot;                       /* of admission */
  struct gateway_session *oldest, *newest; /* half-open */
  struct event expiry;                     /* at the time of the oldest, or of one that is no longer half-open; {0}: there is none half-open */
  bool background_stopped;
  struct gateway_counters counters;
  int half_open_of[]; /* by address */
};

/* ---- Work ------------------------------------------------------------------------------------------------------ */

static void job_over(struct job *job, const struct trail *trail);

static void core_done(void *arg, const struct trail *trail) {
  struct job *job = arg;
  if (job->hsm == 0) {
    job_over(job, trail);
    return;
  }
  int64_t cost[PART_COUNT] = {[PART_SIGN] = job->hsm};
  job->hsm = 0;
  cpu_submit(job->gateway->hsm, trail, cost, core_done, job);
}

static void take_thread(struct job *job) {
  struct gateway *gateway = job->gateway;
  if (++gateway->threads_busy > gateway->counters.threads_busy_max) gateway->counters.threads_busy_max = gateway->threads_busy;
  trail_advance(&job->trail, PART_CPU_QUEUE, sim_now(gateway->sim));
  cpu_submit(gateway->cores, &job->trail, job->cost, core_done, job);
}

/* Whoever waits gets the thread before `done` can ask for one. */
static void job_over(struct job *job, const struct trail *trail) {
  struct gateway *gateway = job->gateway;
  struct trail reached = *trail;
  gateway->threads_busy--;
  if (gateway->first) {
    struct job *next = gateway->first;
    gateway->first = next->next;
    take_thread(next);
  }
  cpu_done_fn *done = job->done;
  void *arg = job->arg;
  sim_release(gateway->sim, job, sizeof *job);
  done(arg, &reached);
}

static void queue_job(struct job *job) {
  struct gateway *gateway = job->gateway;
  if (gateway->threads_busy < gateway->config.threads) {
    take_thread(job);
    return;
  }
  job->next = NULL;
  if (gateway->first)
    gateway->last->next = job;
  else
    gateway->first = job;
  gateway->last = job;
}

static void slot_reached(struct sim *sim, void *arg) {
  (void)sim;
  queue_job(arg);
}

static void work(
    struct gateway *gateway, simtime not_before, const struct trail *trail, const int64_t cost[PART_COUNT], int64_t hsm, cpu_done_fn *done, void *arg) {
  struct job *job = sim_take(gateway->sim, sizeof *job);
  *job = (struct job){.gateway = gateway, .trail = *trail, .hsm = hsm, .done = done, .arg = arg};
  memcpy(job->cost, cost, sizeof job->cost);
  if (not_before > sim_now(gateway->sim))
    event_at(gateway->sim, not_before, slot_reached, job);
  else
    queue_job(job);
}

static void gateway_work(void *arg, const struct trail *trail, const int64_t cost[PART_COUNT], int64_t hsm, cpu_done_fn *done, void *done_arg) {
  work(arg, 0, trail, cost, hsm, done, done_arg);
}

static void session_work(void *arg, const struct trail *trail, const int64_t cost[PART_COUNT], int64_t hsm, cpu_done_fn *done, void *done_arg) {
  struct gateway_session *session = arg;
  work(session->gateway, session->admitted, trail, cost, hsm, done, done_arg);
}

/* ---- Opening a session ----------------------------------------------------------------------------------------- */

static enum handshake_verdict refuse(struct gateway *gateway, enum gateway_refusal why) {
  gateway->counters.refused[why]++;
  return HANDSHAKE_DROP;
}

static void release_if_unused(struct gateway_session *session) {
  if (!session->handshake && !session->half_open) sim_release(session->gateway->sim, session, sizeof *session);
}

static void no_longer_half_open(struct gateway_session *session) {
  struct gateway *gateway = session->gateway;
  session->half_open = false;
  gateway->counters.half_open--;
  gateway->half_open_of[session->address]--;
  if (session->previous)
    session->previous->next = session->next;
  else
    gateway->oldest = session->next;
  if (session->next)
    session->next->previous = session->previous;
  else
    gateway->newest = session->previous;
  if (gateway->oldest || !gateway->expiry.generation) return;
  event_cancel(gateway->sim, gateway->expiry);
  gateway->expiry = (struct event){0};
}

static void expire(struct sim *sim, void *arg);

/* All have the same time to live, so one event for the oldest does for all. */
static void arm_expiry(struct gateway *gateway) {
  if (gateway->expiry.generation || !gateway->oldest) return;
  gateway->expiry = event_at(gateway->sim, gateway->oldest->expires, expire, gateway);
}

static void expire(struct sim *sim, void *arg) {
  struct gateway *gateway = arg;
  gateway->expiry = (struct event){0};
  while (gateway->oldest && gateway->oldest->expires <= sim_now(sim)) {
    struct gateway_session *session = gateway->oldest;
    gateway->counters.expired++;
    no_longer_half_open(session);
    if (session->handshake) handshake_forget(session->handshake);
    release_if_unused(session);
  }
  arm_expiry(gateway);
}

static void open_session(struct gateway_session *session) {
  struct gateway *gateway = session->gateway;
  struct gateway_counters *c = &gateway->counters;
  int *of_address = &gateway->half_open_of[session->address];
  assert(!session->half_open);
  session->half_open = true;
  c->half_open++;
  ++*of_address;
  assert(gateway->config.half_open_total == 0 || c->half_open <= gateway->config.half_open_total);
  assert(gateway->config.half_open_per_address == 0 || *of_address <= gateway->config.half_open_per_address);
  if (c->half_open > c->half_open_max) c->half_open_max = c->half_open;
  if (*of_address > c->half_open_per_address_max) c->half_open_per_address_max = *of_address;
  session->expires = sim_now(gateway->sim) + gateway->config.half_open_timeout;
  session->next = NULL;
  session->previous = gateway->newest;
  if (gateway->newest)
    gateway->newest->next = session;
  else
    gateway->oldest = session;
  gateway->newest = session;
  arm_expiry(gateway);
}

static enum handshake_verdict admit(void *arg, bool opens, bool cookie) {
  struct gateway_session *session = arg;
  struct gateway *gateway = session->gateway;
  const struct gateway_config *config = &gateway->config;
  int half_open = gateway->counters.half_open;
  simtime now = sim_now(gateway->sim);
  if (now < config->down_until) return refuse(gateway, GATEWAY_DOWN);
  if (config->cookie_threshold > 0 && half_open >= config->cookie_threshold && !cookie) {
    gateway->counters.cookies++;
    return HANDSHAKE_CHALLENGE;
  }
  if (config->half_open_per_address > 0 && gateway->half_open_of[session->address] >= config->half_open_per_address)
    return refuse(gateway, GATEWAY_PER_ADDRESS);
  if (config->half_open_total > 0 && half_open >= config->half_open_total) return refuse(gateway, GATEWAY_TOTAL);
  session->admitted = now;
  if (!opens) return HANDSHAKE_ADMIT;
  if (config->admission_interval > 0) {
    simtime slot = gateway->next_slot > now ? gateway->next_slot : now;
    int64_t waiting = (slot - now + config->admission_interval - 1) / config->admission_interval;
    if (waiting > config->admission_queue) return refuse(gateway, GATEWAY_ADMISSION_QUEUE);
    if (config->admission_wait > 0 && slot - now > config->admission_wait) return refuse(gateway, GATEWAY_ADMISSION_WAIT);
    gateway->next_slot = slot + config->admission_interval;
    session->admitted = slot;
  }
  open_session(session);
  return HANDSHAKE_ADMIT;
}

struct gateway_session *gateway_session_new(struct gateway *gateway, int address, struct handshake *handshake) {
  struct gateway_session *session = sim_alloc(gateway->sim, sizeof *session);
  *session = (struct gateway_session){.gateway = gateway, .handshake = handshake, .address = address};
  return session;
}

struct handshake_server gateway_session_server(struct gateway_session *session) {
  return (struct handshake_server){.admit = admit, .work = session_work, .arg = session};
}

struct handshake_server gateway_server(struct gateway *gateway) {
  return (struct handshake_server){.work = gateway_work, .arg = gateway};
}

void gateway_session_authenticated(struct gateway_session *session) {
  if (session->half_open) no_longer_half_open(session);
}

void gateway_session_leave(struct gateway_session *session) {
  session->handshake = NULL;
  release_if_unused(session);
}

/* ---- Life ------------------------------------------------------------------------------------------------------ */

static void background_done(void *arg, const struct trail *trail) {
  (void)arg;
  (void)trail;
}

static void background_due(struct sim *sim, void *arg);

static void background_next(struct background *background) {
  struct gateway *gateway = background->gateway;
  simtime mean = (simtime)((__int128)gateway->config.background_job * SHARE_ONE / gateway->config.background_ppb);
  simtime gap = random_under(&background->key, 2 * mean + 1);
  background->key.message++;
  event_at(gateway->sim, sim_now(gateway->sim) + gap, background_due, background);
}

static void background_due(struct sim *sim, void *arg) {
  struct background *background = arg;
  struct gateway *gateway = background->gateway;
  if (gateway->background_stopped) return;
  struct trail trail;
  trail_begin(&trail, sim_now(sim));
  int64_t cost[PART_COUNT] = {[PART_APPLICATION] = gateway->config.background_job};
  cpu_submit(gateway->cores, &trail, cost, background_done, NULL);
  background_next(background);
}

struct gateway *gateway_new(struct sim *sim, const struct gateway_config *config, int addresses, const struct draw_key *key) {
  struct gateway *gateway = sim_alloc(sim, sizeof *gateway + (size_t)addresses * sizeof *gateway->half_open_of);
  gateway->sim = sim;
  gateway->config = *config;
  gateway->cores = cpu_new(sim, config->cores);
  if (config->hsm > 0) gateway->hsm = cpu_new(sim, config->hsm);
  for (int core = 0; config->background_ppb > 0 && core < config->cores; core++) {
    struct background *background = sim_alloc(sim, sizeof *background);
    *background = (struct background){.gateway = gateway, .key = *key};
    background->key.purpose = DRAW_BACKGROUND;
    background->key.entity = (uint32_t)core;
    background_next(background);
  }
  return gateway;
}

void gateway_stop_background(struct gateway *gateway) { gateway->background_stopped = true; }

struct cpu *gateway_cores(const struct gateway *gateway) {
  return gateway->cores;
}

void gateway_counters(const struct gateway *gateway, struct gateway_counters *out) {
  *out = gateway->counters;
  out->hsm_busy = gateway->hsm ? cpu_busy(gateway->hsm) : 0;
}
