/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run: the base point of a scenario, once. */
#include "sim/cmd.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct remarks {
  char **texts;
  int count;
};

static void keep_remark(void *arg, const char *text) {
  struct remarks *remarks = arg;
  remarks->texts = realloc(remarks->texts, ((size_t)remarks->count + 1) * sizeof *remarks->texts);
  assert(remarks->texts);
  remarks->texts[remarks->count] = strdup(text);
  assert(remarks->texts[remarks->count++]);
}

static bool check_requirements(const struct study *study, const struct metric_set *metrics, FILE *to) {
  struct require_tally tally = {0};
  const struct scenario *scenario = study->scenario;
  for (int r = 0; r < scenario->requirement_count; r++) {
    struct store_row row;
    int metric = scenario->requirements[r].metric;
    stats_row(metrics, metric, scenario->roster->metrics[metric].unit, &row);
    require_check(scenario, r, &row, "", true, to, &tally);
  }
  return tally.failed == 0;
}

static void print(const struct study *study, const struct metric_set *metrics, const struct remarks *remarks, bool json) {
  struct table_run table = {.scenario = study->scenario->domain->name,
      .backend = study->ops.name,
      .parameters = study->parameters,
      .seed = (int64_t)study->seed,
      .replications = study->replications,
      .defs = study->scenario->roster->metrics,
      .metrics = metrics,
      .chosen = study->metric_index,
      .chosen_count = study->metric_count,
      .warnings = (const char *const *)remarks->texts,
      .warning_count = remarks->count};
  if (json)
    table_run_json(&table, stdout);
  else
    table_run_text(&table, stdout);
}

/* Loading without axes leaves no trace of the sweep part, so the text is asked: no other key of a scenario has this name. */
static bool has_sweep_part(const char *text) {
  for (const char *at = strstr(text, "sweep"); at; at = strstr(at + 1, "sweep")) {
    const char *before = at, *behind = at + strlen("sweep");
    before -= before > text && strchr("'\"", before[-1]) ? 1 : 0;
    while (before > text && strchr(" {,", before[-1])) before--;
    behind += strspn(behind, "'\" ");
    if (*behind == ':' && (before == text || before[-1] == '\n')) return true;
  }
  return false;
}

static int run(const struct cmd_line *line, struct err *e) {
  struct study *study = NULL;
  if (study_open(line, false, &study, e)) return 0;
  struct metric_set *metrics = metric_set_new(study->scenario->roster->metrics, study->scenario->roster->metric_count);
  struct remarks remarks = {0};
  struct execution execution = {.count = study->replications, .show_progress = true, .warn = keep_remark, .arg = &remarks};
  bool json = cmd_given(line, "json"), hold = true;
  if (study_prepare(study, 1, e)) goto out;
  if (cmd_given(line, "sensitivity")) {
    (void)!sensitivity_print(study, cmd_text(line, "sensitivity", ""), json, e); /* main prints what is in e */
    goto out;
  }
  if (execute_point(study, 0, &execution, metrics, e)) goto out;
  if (study_is_frozen(study, 0, metrics)) keep_remark(&remarks, STUDY_FROZEN);
  if (has_sweep_part(study->scenario->text))
    fprintf(stderr, "pqnetsim: %s: run takes the base point; the sweep part is ignored (pqnetsim sweep runs it)\n", study->scenario->path);
  if (study->replications == 1) fputs("pqnetsim: n=1: one replication gives no interval\n", stderr);
  print(study, metrics, &remarks, json);
  hold = check_requirements(study, metrics, json ? stderr : stdout);
out:
  for (int i = 0; i < remarks.count; i++) free(remarks.texts[i]);
  free(remarks.texts);
  metric_set_free(metrics);
  study_close(study);
  return hold ? 0 : 1;
}

static const struct cmd_option option_sensitivity = {
    "sensitivity", 0, CMD_TEXT, "METRIC[.STAT]", "Rank the cost rows by what METRIC (default: its mean) changes by when one takes 10 % longer", NULL, 0, 0};
static const struct cmd_option *const options[] = {
    &cmd_option_set, &cmd_option_seed, &cmd_option_reps, &cmd_option_backend, &option_sensitivity, &cmd_option_json, NULL};

const struct cmd cmd_run = {"run", "FILE.yaml", 1, 1, "Run the base point of a scenario and print its metrics.",
    "  pqnetsim run scenarios/e2-ipsec.yaml\n"
    "  pqnetsim run scenarios/e2-ipsec.yaml \\\n"
    "      --set ipsec.kex=mlkem768 --set path.rtt=20ms\n"
    "  pqnetsim run scenarios/e2-ipsec.yaml --reps 1000 --seed 7 --json\n"
    "  pqnetsim run scenarios/e2-ipsec.yaml --backend ns3\n"
    "  pqnetsim run scenarios/e2-ipsec.yaml --sensitivity ike_establish\n"
    "\n"
    "Exit status: 0 all well, 1 a require does not hold or the run failed,\n"
    "2 usage or input.",
    options, run};
