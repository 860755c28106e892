/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/domain/test/tls_rig.h"

#include "models/crypto/cost.h"
#include "models/domain/tls.h"
#include "models/security/tls13.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

void tls_rig_open(struct tls_rig *rig, const struct net_ops *ops) {
  cost_set_data_dir("calib/data");
  rig->sim = sim_new();
  rig->net = ops->open(rig->sim);
}

void tls_rig_close(struct tls_rig *rig) {
  rig->net->ops->close(rig->net);
  sim_free(rig->sim);
}

void tls_pairs_add(struct tls_pairs *pairs, const char *key, const char *format, ...) {
  va_list values;
  assert_true(pairs->count < TLS_PAIRS);
  snprintf(pairs->key[pairs->count], TLS_TEXT, "%s", key);
  va_start(values, format);
  vsnprintf(pairs->value[pairs->count++], TLS_TEXT, format, values);
  va_end(values);
}

static struct config *config_of(const struct tls_pairs *pairs) {
  struct config *config = config_new(domain_tls.tables, domain_tls.table_count);
  struct err e = {0};
  for (int i = 0; i < pairs->count; i++)
    if (config_set(config, pairs->key[i], pairs->value[i], &e)) fail_msg("%s", e.text);
  return config;
}

struct metric_set *tls_rig_run(struct tls_rig *rig, const struct tls_pairs *pairs, int replications) {
  struct config *config = config_of(pairs);
  const struct domain_point point = {.config = config, .ops = rig->net->ops};
  struct metric_set *set = metric_set_new(domain_tls.metrics, domain_tls.metric_count);
  struct err e = {0};
  void *state = NULL;
  if (domain_tls.prepare(&point, &state, &e)) fail_msg("%s", e.text);
  struct domain_run run = {.sim = rig->sim, .net = rig->net, .seed = 1, .metrics = set};
  for (int i = 0; i < replications; i++) {
    run.replication = (uint32_t)i;
    sim_reset(rig->sim);
    rig->net->ops->reset(rig->net, run.seed, run.replication);
    domain_tls.run(state, &run);
    metric_end_replication(set);
  }
  domain_tls.discard(state);
  config_free(config);
  return set;
}

static int metric(const char *name) {
  for (int i = 0; i < domain_tls.metric_count; i++)
    if (strcmp(domain_tls.metrics[i].name, name) == 0) return i;
  fail_msg("no metric %s", name);
  return -1;
}

struct metric_summary tls_rig_summary(const struct metric_set *set, const char *name) {
  struct metric_summary out;
  metric_summarise(set, metric(name), &out);
  return out;
}

int64_t tls_rig_median(const struct metric_set *set, const char *name) { return metric_quantile(set, metric(name), 500); }

void tls_rig_configure(const struct tls_pairs *pairs, struct tls13_config *out) {
  struct config *config = config_of(pairs);
  struct err e = {0};
  if (tls13_configure(config, NULL, out, &e)) fail_msg("%s", e.text);
  config_free(config);
}

/* ---- measured rows --------------------------------------------------------------------------------------------- */

static int split(char *line, const char *cells[TRUTH_COLUMNS]) {
  int count = 0;
  line[strcspn(line, "\r\n")] = '\0';
  for (char *next = line; next && count < TRUTH_COLUMNS;) {
    cells[count++] = next;
    next = strchr(next, ',');
    if (next) *next++ = '\0';
  }
  return count;
}

const char *tls_row_text(const struct tls_row *row, const char *column) {
  for (int i = 0; i < row->columns; i++)
    if (strcmp(row->names[i], column) == 0) return row->cells[i];
  fail_msg("no column %s", column);
  return NULL;
}

double tls_row_number(const struct tls_row *row, const char *column) {
  const char *text = tls_row_text(row, column);
  return *text ? atof(text) : -1;
}

int tls_rows_each(const char *name, void (*fn)(void *arg, const struct tls_row *row), void *arg) {
  static char header[4096], line[8192];
  char path[TLS_TEXT];
  snprintf(path, sizeof path, "calib/data/measured/%s", name);
  FILE *file = fopen(path, "r");
  struct tls_row row = {0};
  int rows = 0;
  assert_non_null(file);
  while (fgets(header, sizeof header, file) && *header == '#') row.line++;
  row.columns = split(header, row.names);
  row.line++;
  while (fgets(line, sizeof line, file)) {
    row.line++;
    rows++;
    assert_true(split(line, row.cells) >= row.columns - 1); /* the note may hold commas */
    fn(arg, &row);
  }
  fclose(file);
  return rows;
}

static const char *cert_name(const char *text) {
  static const char *const names[][2] = {{"p256", "ecdsa-p256"}, {"p384", "ecdsa-p384"}, {"rsa2048", "rsa-2048"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(names[i][0], text) == 0) return names[i][1];
  return text;
}

const char *tls_row_cert(const struct tls_row *row) { return cert_name(tls_row_text(row, "cert")); }

static const char *group_name(const char *text) {
  if (strcmp(text, "P-256") == 0) return "secp256r1";
  return text;
}

/* OpenSSL's list of groups: the share is that of the one with a star, or of the first. */
static void add_groups(struct tls_pairs *pairs, const char *server, const char *client) {
  char copy[TLS_TEXT], all[TLS_TEXT] = "", *save = NULL;
  const char *share = NULL;
  if (strcmp(client, "default") == 0) { /* of OpenSSL 3.5: two shares of eight groups */
    tls_pairs_add(pairs, "tls.kex", "x25519mlkem768");
    tls_pairs_add(pairs, "tls.offered", "[x25519mlkem768, x25519]");
    tls_pairs_add(pairs, "tls.groups", "[x25519mlkem768, x25519, secp256r1, x448, secp384r1, secp521r1, ffdhe2048, ffdhe3072]");
    return;
  }
  snprintf(copy, sizeof copy, "%s", client);
  for (char *name = strtok_r(copy, ":", &save); name; name = strtok_r(NULL, ":", &save)) {
    if (*name == '*' || !share) share = name;
    size_t used = strlen(all);
    snprintf(all + used, sizeof all - used, "%s%s", used ? ", " : "", group_name(*name == '*' ? name + 1 : name));
  }
  tls_pairs_add(pairs, "tls.kex", "%s", group_name(server));
  tls_pairs_add(pairs, "tls.offered", "[%s]", group_name(*share == '*' ? share + 1 : share));
  tls_pairs_add(pairs, "tls.groups", "[%s]", all);
}

void tls_row_pairs(const struct tls_row *row, struct tls_pairs *pairs) {
  const char *mode = tls_row_text(row, "mode");
  double rtt = tls_row_number(row, "rtt_ms"), tickets = tls_row_number(row, "NST_total");
  pairs->count = 0;
  add_groups(pairs, tls_row_text(row, "server_groups"), tls_row_text(row, "client_groups"));
  tls_pairs_add(pairs, "tls.cert", "%s", tls_row_cert(row));
  tls_pairs_add(pairs, "tls.chain", "%s", tls_row_text(row, "chain_intermediates"));
  tls_pairs_add(pairs, "tls.auth", "%s", tls_row_text(row, "auth"));
  tls_pairs_add(pairs, "tls.resume", "%s", strncmp(mode, "psk", 3) == 0 ? mode : "no");
  tls_pairs_add(pairs, "tls.cert_compression", "%s", strcmp(mode, "full_certcomp") == 0 ? "yes" : "no");
  tls_pairs_add(pairs, "tcp.nodelay", "%s", tls_row_number(row, "nodelay") > 0 ? "yes" : "no");
  if (tls_row_number(row, "initcwnd_srv") > 0) tls_pairs_add(pairs, "tcp.initcwnd", "%s", tls_row_text(row, "initcwnd_srv"));
  tls_pairs_add(pairs, "path.rtt", "%gms", rtt > 0 ? rtt : 0);
  if (tls_row_number(row, "rate_mbps") > 0)
    tls_pairs_add(pairs, "path.rate", "%sMbit/s", tls_row_text(row, "rate_mbps"));
  else
    tls_pairs_add(pairs, "path.rate", "10Gbit/s");
  if (tickets <= 0) return;
  /* Rows with tickets hold a request of 1 byte and a response of 1024 too. */
  tls_pairs_add(pairs, "tls.tickets", "%d", strncmp(mode, "psk", 3) == 0 ? 1 : 2);
  tls_pairs_add(pairs, "app.request", "1B");
  tls_pairs_add(pairs, "app.response", "1024B");
}
