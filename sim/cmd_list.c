/* SPDX-License-Identifier: GPL-3.0-or-later */
/* list: what the program knows: algorithms, platforms, scenarios, backends, sources. */
#include "models/crypto/alg.h"
#include "models/crypto/cost.h"
#include "sim/cmd.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(table) ((int)(sizeof table / sizeof table[0]))

static const struct listing_column algorithm_columns[] = {
    {"name", "name", true},
    {"kind", "kind", true},
    {"title", "title", true},
    {"public_bytes", "public (B)", false},
    {"answer_bytes", "answer (B)", false},
    {"secret_bytes", "secret (B)", false},
    {"nist_category", "category", false},
    {"classical_bits", "classical (bits)", false},
    {"quantum_bits", "quantum (bits)", false},
    {"ike_id", "IKE", false},
    {"tls_id", "TLS", true},
    {"standard", "standard", true},
    {"aliases", "also", true},
};

static int list_algorithms(bool json, struct err *e) {
  (void)e;
  int count;
  const struct alg *table = alg_table(&count);
  struct listing listing;
  listing_begin(&listing, algorithm_columns, LENGTH(algorithm_columns), json);
  for (int i = 0; i < count; i++) {
    const struct alg *alg = &table[i];
    listing_text(&listing, alg->name);
    listing_text(&listing, alg_kind_name(alg->kind));
    listing_text(&listing, alg->title);
    listing_number(&listing, alg->public_bytes);
    listing_number(&listing, alg->answer_bytes);
    listing_number(&listing, alg->secret_bytes);
    listing_number(&listing, alg->nist_category ? alg->nist_category : NAN);
    listing_number(&listing, alg->classical_bits);
    listing_number(&listing, alg->quantum_bits);
    listing_number(&listing, alg->ike_id >= 0 ? alg->ike_id : NAN);
    char tls[16] = "";
    if (alg->tls_id >= 0) snprintf(tls, sizeof tls, "0x%04x", (unsigned)alg->tls_id);
    listing_text(&listing, tls);
    listing_text(&listing, alg->standard);
    listing_text(&listing, alg->aliases);
  }
  listing_end(&listing);
  if (!json)
    fputs("\npublic, answer, secret: initiator's and responder's share and shared secret; of signatures public key,\n"
          "signature, private key; of ciphers key, tag, nonce; of hashes -, digest, block.\n"
          "IKE: transform number of the key exchange; TLS: code point of the group or signature scheme.\n"
          "quantum 0: broken by Shor's algorithm. category: of NIST, where one is stated.\n",
        stdout);
  return 0;
}

enum { KINDS = COST_ASSUMED + 1 };

static const struct listing_column platform_columns[] = {
    {"name", "name", true},
    {"title", "title", true},
    {"measured", "measured", false},
    {"published", "published", false},
    {"fitted", "fitted", false},
    {"estimated", "estimated", false},
    {"assumed", "assumed", false},
};

static int list_platform(struct listing *listing, const char *name, struct err *e) {
  struct cost_platform *platform = NULL;
  int status = cost_load(name, NULL, &platform, e);
  if (status) return status;
  int kinds[KINDS] = {0};
  for (int i = 0; i < cost_row_count(platform); i++) {
    struct cost_row_info info;
    cost_row_info(platform, i, &info);
    kinds[info.kind]++;
  }
  listing_text(listing, name);
  listing_text(listing, cost_platform_title(platform));
  for (int k = 0; k < KINDS; k++) listing_number(listing, kinds[k]);
  cost_free(platform);
  return 0;
}

static int list_platforms(bool json, struct err *e) {
  char **names = NULL;
  int count = 0, status = cost_list(&names, &count, e);
  if (status) return status;
  struct listing listing;
  listing_begin(&listing, platform_columns, LENGTH(platform_columns), json);
  for (int i = 0; i < count; i++) {
    /* a file that does not load is reported behind those that do */
    int failed = list_platform(&listing, names[i], e);
    status = status ? status : failed;
  }
  listing_end(&listing);
  if (!json) printf("\nrows by kind, inherited ones included; from %s\n", cost_data_dir());
  cost_list_free(names, count);
  return status;
}

static int is_scenario(const struct dirent *entry) {
  const char *dot = strrchr(entry->d_name, '.');
  return entry->d_name[0] != '.' && dot && !strcmp(dot, ".yaml");
}

static int by_bytes(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

static const struct listing_column scenario_columns[] = {{"file", "file", true}, {"scenario", "scenario", true}, {"title", "title", true}};

static int list_scenario(struct listing *listing, const char *file, struct err *e) {
  char *path;
  if (asprintf(&path, "%s/%s", cmd_scenario_dir(), file) < 0) abort();
  struct scenario *scenario = NULL;
  int status = scenario_load(path, NULL, 0, true, &scenario, e);
  if (!status) {
    listing_text(listing, path);
    listing_text(listing, scenario->domain->name);
    listing_text(listing, scenario->title);
  }
  scenario_free(scenario);
  free(path);
  return status;
}

static int list_scenarios(bool json, struct err *e) {
  struct dirent **entries = NULL;
  int count = scandir(cmd_scenario_dir(), &entries, is_scenario, by_bytes), status = 0;
  if (count < 0) return err_add(e, ERR_SYSTEM, "%s: the shipped scenarios cannot be listed: %s", cmd_scenario_dir(), strerror(errno));
  struct listing listing;
  listing_begin(&listing, scenario_columns, LENGTH(scenario_columns), json);
  for (int i = 0; i < count; i++) {
    int failed = list_scenario(&listing, entries[i]->d_name, e);
    status = status ? status : failed;
    free(entries[i]);
  }
  listing_end(&listing);
  free(entries);
  return status;
}

static const struct listing_column backend_columns[] = {
    {"name", "name", true}, {"available", "available", true}, {"version", "version", true}, {"note", "note", true}};

static int list_backends(bool json, struct err *e) {
  (void)e;
  struct listing listing;
  listing_begin(&listing, backend_columns, LENGTH(backend_columns), json);
  for (int i = 0; pool_backends[i]; i++) {
    struct net_ops ops;
    struct err why = {0}; /* an absent backend is an answer, not an error */
    bool there = !pool_probe(pool_backends[i], cmd_program_dir(), &ops, &why);
    if (why.text) why.text[strcspn(why.text, "\n")] = '\0';
    listing_text(&listing, pool_backends[i]);
    listing_text(&listing, there ? "yes" : "no");
    listing_text(&listing, there ? PQNETSIM_VERSION : NULL);
    listing_text(&listing, there ? NULL : why.text);
    err_free(&why);
  }
  listing_end(&listing);
  return 0;
}

static const char *const topics[] = {"algorithms", "platforms", "scenarios", "backends", "sources"};
enum { SOURCES = LENGTH(topics) - 1 };
static int (*const lists[SOURCES])(bool json, struct err *e) = {list_algorithms, list_platforms, list_scenarios, list_backends};

static int list_sources(const struct cmd_line *line, struct err *e) {
  bool json = cmd_given(line, "json"), bibtex = cmd_given(line, "bibtex");
  if (json && bibtex) return err_add(e, ERR_INPUT, "list sources: --json and --bibtex are two forms; ask for one");
  const char *id = cmd_argument_count(line) > 1 ? cmd_argument(line, 1) : NULL;
  return sources_print(json ? SOURCES_JSON : bibtex ? SOURCES_BIBTEX : SOURCES_TEXT, id, e);
}

static int run(const struct cmd_line *line, struct err *e) {
  const char *topic = cmd_argument(line, 0);
  int i = 0;
  while (i < LENGTH(topics) && strcmp(topic, topics[i])) i++;
  /* what goes wrong is in e, and main prints it */
  if (i == LENGTH(topics)) {
    err_add(
        e, ERR_INPUT, "list: found '%s', allowed algorithms, platforms, scenarios, backends, sources%s", topic, cmd_suggestion(topic, topics, LENGTH(topics)));
  } else if (i == SOURCES) {
    (void)!list_sources(line, e);
  } else if (cmd_given(line, "bibtex")) {
    err_add(e, ERR_INPUT, "list %s: --bibtex is for list sources", topic);
  } else if (cmd_argument_count(line) > 1) {
    err_add(e, ERR_INPUT, "list %s: found '%s' behind it; only list sources takes an id", topic, cmd_argument(line, 1));
  } else {
    (void)!lists[i](cmd_given(line, "json"), e);
    if (cmd_given(line, "json")) putchar('\n');
  }
  return 0;
}

static const struct cmd_option option_bibtex = {"bibtex", 0, CMD_FLAG, NULL, "Print the sources as BibTeX", NULL, 0, 0};
static const struct cmd_option *const options[] = {&cmd_option_json, &option_bibtex, NULL};

const struct cmd cmd_list = {"list", "algorithms|platforms|scenarios|backends|sources [ID]", 1, 2, "Print what the program knows.",
    "  pqnetsim list algorithms\n"
    "  pqnetsim list platforms --json\n"
    "  pqnetsim list sources --bibtex >sources.bib\n"
    "  pqnetsim list sources tum-pqs-tls-2023",
    options, run};
