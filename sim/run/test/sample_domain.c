/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/run/test/sample_domain.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Known exchanges, any case: the canonical spelling is lower case. */
static int check_kex(const char *text, char *canonical, size_t size, struct err *e) {
  static const char *const names[] = {"none", "x25519", "mlkem768", "mlkem1024"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcasecmp(text, names[i])) {
      snprintf(canonical, size, "%s", names[i]);
      return 0;
    }
  return err_add(e, ERR_INPUT, "found '%s', allowed none, x25519, mlkem768, mlkem1024", text);
}

/* "BASE,PART=NAME,..." as the loader writes it. */
static int check_platform(const char *text, char *canonical, size_t size, struct err *e) {
  if (strstr(text, "nonsuch")) return err_add(e, ERR_INPUT, "found '%s', allowed another", text);
  snprintf(canonical, size, "%s", text);
  return 0;
}

/* Parts are sign and verify, or those of an algorithm, whose name may be in capitals. */
static int check_part(const char *text, char *canonical, size_t size, struct err *e) {
  const char *dot = strchr(text, '.'), *operation = dot ? dot + 1 : text;
  if (strcmp(operation, "sign") && strcmp(operation, "verify")) return err_add(e, ERR_INPUT, "found '%s', allowed sign, verify", operation);
  snprintf(canonical, size, "%s", text);
  for (char *c = canonical; *c; c++) *c = (char)tolower((unsigned char)*c);
  return 0;
}

static const char *const modes[] = {"tunnel", "transport", NULL};

static const struct param path_rows[] = {
    {.key = "path.rate", .kind = PARAM_RATE, .fallback = "10Gbit/s", .min = 1000, .max = INT64_C(1000000000000)},
    {.key = "path.delay", .kind = PARAM_TIME, .fallback = "100us", .min = 0, .max = INT64_C(3600000000000)},
    {.key = "path.rtt", .kind = PARAM_TIME, .min = 0, .max = INT64_C(7200000000000), .sets = "path.delay"},
    {.key = "path.up.delay", .kind = PARAM_TIME, .min = 0, .max = INT64_C(3600000000000), .follows = "path.delay"},
    {.key = "path.loss", .kind = PARAM_LOSS, .fallback = "0%", .min = 0, .max = SHARE_ONE},
    {.key = "path.mtu", .kind = PARAM_SIZE, .bare = "B", .fallback = "1500B", .min = 68, .max = 65535},
    {.key = "path.queue", .kind = PARAM_QUEUE, .fallback = "1000 packets", .min = 1, .max = 1000000000},
    {.key = "path.drop", .kind = PARAM_LIST, .fallback = "[]", .min = 1, .max = 1000000000},
    {.key = "platform.initiator", .kind = PARAM_NAME, .fallback = "epyc", .check = check_platform, .part = check_part},
};
static const struct param ipsec_rows[] = {
    {.key = "ipsec.kex", .kind = PARAM_NAME, .fallback = "x25519", .check = check_kex},
    {.key = "ipsec.offered", .kind = PARAM_NAMES, .fallback = "[]", .min = 0, .max = 3, .check = check_kex},
    {.key = "ipsec.mode", .kind = PARAM_CHOICE, .fallback = "tunnel", .choices = modes},
    {.key = "ipsec.childless", .kind = PARAM_BOOL, .fallback = "no"},
    {.key = "ipsec.retransmit_timeout", .kind = PARAM_TIME, .fallback = "4s", .min = 1, .max = INT64_C(3600000000000)},
};
static const struct param e2_rows[] = {
    {.key = "e2.nodes", .kind = PARAM_COUNT, .fallback = "1", .min = 1, .max = 2000000},
    {.key = "e2.share", .kind = PARAM_SHARE, .fallback = "100%", .min = 0, .max = SHARE_ONE},
};
static const struct param_table path_params = {path_rows, sizeof path_rows / sizeof *path_rows};
static const struct param_table ipsec_params = {ipsec_rows, sizeof ipsec_rows / sizeof *ipsec_rows};
static const struct param_table e2_params = {e2_rows, sizeof e2_rows / sizeof *e2_rows};
static const struct param_table *const tables[] = {&path_params, &ipsec_params, &e2_params};

static const struct metric_def metrics[SAMPLE_METRICS] = {
    [SAMPLE_SETUP] = {"tunnel_setup", METRIC_TIME, "initiation", "installed", "set-up"},
    [SAMPLE_BYTES] = {"bytes_total", METRIC_BYTES, "all bytes", NULL, "bytes"},
    [SAMPLE_RETRANSMISSIONS] = {"retransmissions", METRIC_COUNT, "all resent", NULL, "resent"},
    [SAMPLE_SUCCESS] = {"success", METRIC_SHARE, "tunnels up", NULL, "share"},
    [SAMPLE_OVERHEAD] = {"ipsec_overhead", METRIC_SIGNED_TIME, "sent", "received", "paired difference"},
};

const struct domain sample_domain = {.name = "e2",
    .title = "a wire",
    .tables = tables,
    .table_count = 3,
    .group_tables = tables,
    .group_table_count = 2,
    .metrics = metrics,
    .metric_count = SAMPLE_METRICS};
static const struct domain bare_domain = {.name = "bare", .title = "no parameters", .metrics = metrics, .metric_count = SAMPLE_METRICS};
static const struct domain *const catalog[] = {&sample_domain, &bare_domain};

const struct domain *const *domain_catalog(int *count) {
  *count = sizeof catalog / sizeof *catalog;
  return catalog;
}

const struct domain *domain_find(const char *name) {
  for (size_t i = 0; i < sizeof catalog / sizeof *catalog; i++)
    if (!strcmp(catalog[i]->name, name)) return catalog[i];
  return NULL;
}
