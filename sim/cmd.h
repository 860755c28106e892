/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd: the commands of pqnetsim, how a command line is read, and what several commands share.
 *
 * Purpose:   a command is a table (struct cmd) with a function; main.c lists them. Results go to stdout, everything else
 *            to stderr.
 * Ownership: cmd_parse/cmd_line_free, cmd_wheres/cmd_wheres_free, study_open/study_close.
 * Errors:    a command returns the exit status when it recorded no error (0, or 1 when a check did not hold); errors are
 *            printed by main and decide the status otherwise. Usage errors end the program with status 2 at once.
 */
#ifndef PQNETSIM_CMD_H
#define PQNETSIM_CMD_H

#include "output/stats.h"
#include "output/table.h"
#include "sim/run/pool.h"
#include "sim/run/sweep.h"
#include <stdio.h>

struct cmd_line;

enum cmd_option_kind { CMD_FLAG, CMD_TEXT, CMD_WHOLE, CMD_CHOICE, CMD_REPEATED };

struct cmd_option {
  const char *name; /* long option */
  char letter;      /* short option, 0: none */
  enum cmd_option_kind kind;
  const char *arg; /* what --help calls the value */
  const char *help;
  const char *const *choices; /* CMD_CHOICE, NULL-ended */
  int64_t min, max;           /* CMD_WHOLE */
};

struct cmd {
  const char *name;      /* "run"; of a family of commands "calibrate fit" */
  const char *arguments; /* "FILE.yaml" */
  int min_arguments, max_arguments;
  const char *summary;                     /* one line */
  const char *examples;                    /* behind the options in --help */
  const struct cmd_option *const *options; /* NULL-ended */
  int (*run)(const struct cmd_line *line, struct err *e);
};

extern const struct cmd cmd_run, cmd_sweep, cmd_plot, cmd_export, cmd_show, cmd_list, cmd_params, cmd_init, cmd_check, cmd_calibrate_fit, cmd_calibrate_import,
    cmd_calibrate_measure, cmd_calibrate_scale, cmd_calibrate_show, cmd_validate;

/* Options of several commands. */
extern const struct cmd_option cmd_option_set, cmd_option_seed, cmd_option_reps, cmd_option_backend, cmd_option_json, cmd_option_output, cmd_option_where;

/* cmd_options.c. argv[0] is the program, then the one or two words of the command. */
struct cmd_line *cmd_parse(const struct cmd *cmd, int argc, char **argv);
void cmd_line_free(struct cmd_line *line);
/* The name nearest to `word`: "; did you mean 'sweep'?", or "" when nothing is near. Valid until the next call. */
const char *cmd_suggestion(const char *word, const char *const *names, int count);

/* What was given. Asking for an option the command does not have asserts. */
int cmd_argument_count(const struct cmd_line *line);
const char *cmd_argument(const struct cmd_line *line, int index);
bool cmd_given(const struct cmd_line *line, const char *option);
const char *cmd_text(const struct cmd_line *line, const char *option, const char *fallback);
int64_t cmd_whole(const struct cmd_line *line, const char *option, int64_t fallback);
const char *const *cmd_repeated(const struct cmd_line *line, const char *option, int *count);
/* The --where KEY=VALUE pairs; ERR_INPUT without '='. */
int cmd_wheres(const struct cmd_line *line, struct table_where **wheres, int *count, struct err *e) MUST_CHECK;
void cmd_wheres_free(struct table_where *wheres, int count);
/* The same command again, quoted for a shell; malloc'd. */
char *cmd_again(const struct cmd_line *line);

/* cmd_folders.c: where things are, found once by main. */
void cmd_find_folders(void);
const char *cmd_program_dir(void);  /* of the running program, through /proc/self/exe */
const char *cmd_scenario_dir(void); /* of the shipped scenarios */

/* cmd_progress.c: on stderr, from two seconds on; one line that changes on a terminal, a line now and then elsewhere. */
struct progress {
  const char *what;       /* "points" */
  int64_t total, skipped; /* skipped: of total, done before */
  double started, shown;
  bool live;
};
double progress_clock(void); /* seconds, monotonic */
void progress_begin(struct progress *progress, const char *what, int64_t total, int64_t skipped);
void progress_show(struct progress *progress, int64_t done);
void progress_end(struct progress *progress);
/* "1.5 s", "3 min 20 s", "2 h 5 min". */
const char *progress_time(double seconds, char buffer[48]);

/* cmd_study.c: a scenario ready to run. */
struct study {
  struct scenario *scenario;
  struct sweep *sweep; /* NULL: the base point alone */
  struct net_ops ops;  /* name and caps of the backend */
  int64_t point_count;
  uint64_t seed;
  int replications;
  int metric_count; /* stored and shown: those chosen and those required */
  int *metric_index;
  struct metric_def *metrics;
  char *parameters; /* resolved base parameters without seed, replications and title: "key\tvalue" lines */
  /* by study_prepare */
  char (*keys)[33];      /* run key per point */
  unsigned char *random; /* per point: two replications can differ */
  uint64_t cost_hash;    /* of the base point; 0 when that point alone could not run */
  int warning_count;     /* distinct remarks of the domain, in order of points */
  char **warnings;
};

/* Reads FILE (the command's first argument) with --set, --seed, --reps and --backend where the command has them. */
int study_open(const struct cmd_line *line, bool want_axes, struct study **out, struct err *e) MUST_CHECK;
/* The same without a command line; sets: "KEY=VALUE". */
int study_open_file(
    const char *path, const char *const *sets, int set_count, const char *backend, bool want_axes, struct study **out, struct err *e) MUST_CHECK;
void study_close(struct study *study);
/* Everything that can be wrong with a point is found here, before anything runs: checks `count` points, evenly spread.
 * Lists the bad ones as ERR_INPUT. Keys are complete when count is point_count. */
int study_prepare(struct study *study, int64_t count, struct err *e) MUST_CHECK;
/* The configuration of a point that study_prepare has found good. */
struct config *study_config(const struct study *study, int64_t point);
/* A job for one point; job->config is new. */
void study_job(const struct study *study, int64_t point, int first, int count, struct worker_job *job);
/* "ipsec.kex=mlkem768, path.delay=10ms", malloc'd. */
char *study_point_text(const struct study *study, int64_t point);
/* True when the point draws random numbers, yet no metric varied over its replications (two or more). */
bool study_is_frozen(const struct study *study, int64_t point, const struct metric_set *metrics);
#define STUDY_FROZEN "every replication gave the same values although random draws are used: more --reps are needed to see rare events"

/* cmd_columns.c: the scenario's axes as columns of a study file. */
struct columns {
  int count;
  struct store_axis *axes;
  struct store_cell **cells; /* per axis, per value */
};
void columns_make(struct columns *columns, const struct scenario *scenario);
void columns_free(struct columns *columns);

/* cmd_columns.c too: what a study file says about itself. texts: room for host and cost hash; valid as long as both. */
struct study_texts {
  char host[160], cost_hash[17];
};
void study_describe(const struct study *study, const struct columns *columns, struct study_texts *texts, struct store_study *out);
/* For store_open_write: fills one point. */
struct study_points {
  const struct study *study;
  const struct columns *columns;
  struct store_cell *cells; /* one per axis, of the last point asked for */
  int *digits;
};
void study_points_make(struct study_points *points, const struct study *study, const struct columns *columns);
void study_points_free(struct study_points *points);
void study_point(void *arg, int64_t id, struct store_point *out);

/* cmd_estimate.c: --dry-run. Prints the points, and time and size as measured on the first one. */
int estimate_print(const struct study *study, const struct columns *columns, int jobs, struct err *e) MUST_CHECK;

/* cmd_execute.c: replications of one point, in this process or in a worker. */
struct execution {
  int first, count; /* replications to run */
  double budget_s;  /* starts no further part after that many seconds; 0: no limit */
  bool show_progress;
  void (*warn)(void *arg, const char *text); /* once per remark; may be NULL */
  void *arg;
  /* out */
  int done; /* replications run */
  double seconds;
};
int execute_point(const struct study *study, int64_t point, struct execution *execution, struct metric_set *metrics, struct err *e) MUST_CHECK;

/* cmd_sensitivity.c: `run --sensitivity METRIC[.STAT]`: which cost rows move a metric of the base point. */
int sensitivity_print(const struct study *study, const char *spec, bool json, struct err *e) MUST_CHECK;

/* cmd_require.c: the verdicts of `require`. */
struct require_tally {
  int64_t checked, failed;
};
/* Requirement r of the scenario against a row of its metric; prints a line when `always` or when it fails. */
void require_check(const struct scenario *scenario, int r, const struct store_row *row, const char *label, bool always, FILE *to, struct require_tally *tally);

/* cmd_listing.c: rows on stdout, as an aligned table or as a JSON array of objects (no newline behind its end). */
struct listing_column {
  const char *key, *header; /* in JSON, in the table */
  bool is_text;
};
struct listing {
  const struct listing_column *columns;
  struct grid *grid; /* NULL: JSON */
  int count, at;
  int64_t rows;
};
void listing_begin(struct listing *listing, const struct listing_column *columns, int count, bool json);
/* Cells of a row from left to right. text NULL: empty, null in JSON; value NAN likewise. */
void listing_text(struct listing *listing, const char *text);
void listing_number(struct listing *listing, double value);
void listing_end(struct listing *listing);

/* cmd_sources.c: the bibliography, or the one source with that id. Text holds conditions for one source, and the rows of shipped
 * platforms that name it. */
enum sources_form { SOURCES_TEXT, SOURCES_JSON, SOURCES_BIBTEX };
int sources_print(enum sources_form form, const char *id, struct err *e) MUST_CHECK;

/* cmd_platform_file.c: platforms as a command line names them: shipped, or a file by its path ("./mine.csv", "/tmp/mine.csv"). */
struct cost_platform;
struct cost_sources;
int platform_file_load(const char *name, struct cost_platform **out, struct err *e) MUST_CHECK;
/* Files that `calibrate` makes, whole or not at all. Nothing existing is replaced. */
int platform_file_write(const char *path, void (*write)(const void *arg, FILE *to), const void *arg, struct err *e) MUST_CHECK;
/* A platform; one that would not load is not kept. */
int platform_file_save(const char *path, void (*write)(const void *arg, FILE *to), const void *arg, struct err *e) MUST_CHECK;
/* The lines before the table (base may be NULL), then the names of all columns. */
void platform_file_head(FILE *to, const char *title, const char *base, const char *note);
/* A quoted cell. */
void platform_file_text(FILE *to, const char *text);
/* The bibliography, when it has the id that --source gave; to be freed. */
int platform_file_source(const char *id, struct cost_sources **out, struct err *e) MUST_CHECK;

/* cmd_params.c: how a parameter is told to a user. buffer: 512 bytes. */
const char *params_kind(const struct param *row);
const char *params_default(const struct param *row, char *buffer);
const char *params_allowed(const struct param *row, char *buffer);
enum { PARAMS_TEXT = 512 };
/* The domain named by the command's argument; NULL after an error that lists the known ones. */
const struct domain *params_domain(const struct cmd_line *line, int argument, struct err *e);

#endif
