/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calibrate show: what operations cost on several platforms, side by side. */
#include "models/crypto/alg.h"
#include "models/crypto/cost.h"
#include "output/grid.h"
#include "output/json.h"
#include "output/plot.h"
#include "sim/cmd.h"
#include "sim/core/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { PLATFORMS_MAX = 16, FIGURE_PLATFORMS = 6, FIGURE_OPERATIONS = 12 };

/* What one platform states of an operation. */
struct cell {
  bool stated, random;
  int row; /* of the platform; nearest below where size_bytes lies between rows */
  bool between;
  int64_t p5_ns, median_ns, p95_ns;
  struct cost_row_info info;
};

struct operation {
  const char *algorithm, *operation;
  int64_t size_bytes;
  int rank; /* algorithms in the order in which they are first stated */
  struct cell cells[PLATFORMS_MAX];
};

struct view {
  int platform_count;
  const char *names[PLATFORMS_MAX];
  struct cost_platform *platforms[PLATFORMS_MAX];
  int count;
  struct operation *operations;
  const char *const *algorithms, *const *wanted; /* --algorithm, --operation */
  int algorithm_count, wanted_count;
  int64_t size_bytes; /* -1: the sizes stated */
  int source_count;
  const char **sources; /* in the order of their first mention */
};

/* --- what to show --- */

/* An algorithm goes by its title or any of its names; a name may mean a curve and a signature. */
static bool is_called(const char *title, const char *name) {
  if (!strcasecmp(title, name)) return true;
  for (int kind = ALG_KEX; kind <= ALG_HASH; kind++) {
    const struct alg *alg = alg_find(name, 1u << kind);
    if (alg && !strcmp(alg->title, title)) return true;
  }
  return false;
}

static bool is_wanted(const struct view *view, const struct cost_row_info *info) {
  bool algorithm = !view->algorithm_count, operation = !view->wanted_count;
  for (int i = 0; i < view->algorithm_count && !algorithm; i++) algorithm = is_called(info->algorithm, view->algorithms[i]);
  for (int i = 0; i < view->wanted_count && !operation; i++) operation = !strcmp(info->operation, view->wanted[i]);
  return algorithm && operation;
}

static struct operation *find_operation(struct view *view, const struct cost_row_info *info, int64_t size_bytes) {
  int rank = view->count;
  for (int i = 0; i < view->count; i++) {
    struct operation *known = &view->operations[i];
    if (strcmp(known->algorithm, info->algorithm)) continue;
    if (rank > known->rank) rank = known->rank;
    if (!strcmp(known->operation, info->operation) && known->size_bytes == size_bytes) return known;
  }
  view->operations = reallocarray(view->operations, (size_t)view->count + 1, sizeof *view->operations);
  if (!view->operations) abort();
  view->operations[view->count] = (struct operation){.algorithm = info->algorithm, .operation = info->operation, .size_bytes = size_bytes, .rank = rank};
  return &view->operations[view->count++];
}

static void add_source(struct view *view, const char *id) {
  for (int i = 0; i < view->source_count; i++)
    if (!strcmp(view->sources[i], id)) return;
  view->sources = reallocarray(view->sources, (size_t)view->source_count + 1, sizeof *view->sources);
  if (!view->sources) abort();
  view->sources[view->source_count++] = id;
}

static uint64_t uniform_of(double p) { return (uint64_t)(p * 0x1p64); }

static void fill_cell(const struct view *view, int p, int row, const struct cost_row_info *info, struct cell *cell) {
  const struct cost_platform *platform = view->platforms[p];
  bool sized = info->size_bytes && view->size_bytes >= 0;
  if (cell->stated && !sized) return;
  /* of the sizes, the largest one not above */
  if (cell->stated && (info->size_bytes > view->size_bytes || (cell->info.size_bytes <= view->size_bytes && cell->info.size_bytes > info->size_bytes))) return;
  cell->stated = true;
  cell->row = row;
  cell->info = *info;
  cell->between = sized && info->size_bytes != view->size_bytes;
  cell->p5_ns = cost_row_quantile(platform, row, SHARE_ONE / 20);
  cell->median_ns = info->median_ns;
  cell->p95_ns = cost_row_quantile(platform, row, SHARE_ONE / 20 * 19);
  if (cell->between) {
    const struct cost_row *costs = cost_find(platform, info->algorithm, info->operation);
    cell->p5_ns = cost_draw(costs, view->size_bytes, uniform_of(0.05));
    cell->median_ns = cost_median(costs, view->size_bytes);
    cell->p95_ns = cost_draw(costs, view->size_bytes, uniform_of(0.95));
  }
  cell->random = cell->p5_ns != cell->p95_ns;
}

static int by_place(const void *pa, const void *pb) {
  const struct operation *a = pa, *b = pb;
  return a->rank - b->rank;
}

/* Operations of an algorithm stand together, in the order in which the platforms state them. */
static void collect(struct view *view) {
  for (int p = 0; p < view->platform_count; p++)
    for (int i = 0; i < cost_row_count(view->platforms[p]); i++) {
      struct cost_row_info info;
      cost_row_info(view->platforms[p], i, &info);
      if (!is_wanted(view, &info)) continue;
      struct operation *operation = find_operation(view, &info, info.size_bytes && view->size_bytes >= 0 ? view->size_bytes : info.size_bytes);
      fill_cell(view, p, i, &info, &operation->cells[p]);
    }
  /* insertion: equal ranks keep their order */
  for (int i = 1; i < view->count; i++)
    for (int k = i; k > 0 && by_place(&view->operations[k - 1], &view->operations[k]) > 0; k--) {
      struct operation later = view->operations[k];
      view->operations[k] = view->operations[k - 1];
      view->operations[k - 1] = later;
    }
  for (int i = 0; i < view->count; i++)
    for (int p = 0; p < view->platform_count; p++)
      if (view->operations[i].cells[p].stated) add_source(view, view->operations[i].cells[p].info.source);
}

/* Every name of --algorithm must be one. */
static int check_algorithms(const struct view *view, struct err *e) {
  int before = e->count;
  for (int i = 0; i < view->algorithm_count; i++) {
    const char *name = view->algorithms[i], *near = alg_nearest(name, ~0u);
    bool known = alg_find(name, ~0u) != NULL;
    for (int p = 0; p < view->platform_count && !known; p++)
      for (int k = 0; k < cost_row_count(view->platforms[p]) && !known; k++) {
        struct cost_row_info info;
        cost_row_info(view->platforms[p], k, &info);
        known = !strcasecmp(info.algorithm, name);
      }
    if (!known)
      err_add(e, ERR_INPUT, "--algorithm: found '%s', allowed the names pqnetsim list algorithms prints%s%s%s", name, near ? "; did you mean '" : "",
          near ? near : "", near ? "'?" : "");
  }
  return e->count > before ? ERR_INPUT : 0;
}

/* Nothing to show: what the platforms do state, operations of the algorithms asked for or else algorithms. */
static int nothing_wanted(struct view *view, struct err *e) {
  char list[900] = "";
  size_t used = 0;
  int wanted = view->wanted_count;
  view->wanted_count = 0;
  collect(view);
  bool of_algorithm = view->count > 0 && wanted > 0;
  view->algorithm_count = of_algorithm ? view->algorithm_count : 0;
  if (!of_algorithm) collect(view);
  for (int i = 0; i < view->count && used < sizeof list; i++) {
    const char *name = of_algorithm ? view->operations[i].operation : view->operations[i].algorithm;
    bool seen = false;
    for (int k = 0; k < i && !seen; k++) seen = !strcmp(name, of_algorithm ? view->operations[k].operation : view->operations[k].algorithm);
    if (!seen) used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", name);
  }
  return err_add(e, ERR_INPUT, "calibrate show: none of these platforms states what is asked for; %s there are: %s", of_algorithm ? "operations" : "algorithms",
      *list ? list : "none");
}

/* --- the table --- */

/* Three significant digits and the unit that suits. */
static void time_text(int64_t ns, char text[48]) {
  static const struct {
    double size;
    const char *unit;
  } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
  int u = 0;
  while (u < 3 && (double)ns < 0.9995 * units[u].size) u++;
  double value = (double)ns / units[u].size;
  snprintf(text, 48, "%.*f %s", u == 3 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2, value, units[u].unit);
}

static int source_number(const struct view *view, const char *id) {
  int i = 0;
  while (strcmp(view->sources[i], id)) i++;
  return i + 1;
}

/* Which further columns a platform has. */
static void has_columns(const struct view *view, int p, bool *spread, bool *energy) {
  *spread = *energy = false;
  for (int i = 0; i < view->count; i++) {
    const struct cell *cell = &view->operations[i].cells[p];
    *spread |= cell->stated && cell->random && cell->median_ns > 0;
    *energy |= cell->stated && !cell->between && cell->info.energy_nj >= 0;
  }
}

static void put_cells(const struct view *view, const struct operation *operation, int p, struct grid *grid) {
  const struct cell *cell = &operation->cells[p];
  char text[96] = "", time[48];
  bool spread, energy;
  has_columns(view, p, &spread, &energy);
  if (cell->stated) {
    time_text(cell->median_ns, time);
    snprintf(text, sizeof text, "%s %c%d", time, cost_kind_name(cell->info.kind)[0], source_number(view, cell->info.source));
  }
  grid_right(grid, text);
  if (spread) {
    *text = '\0';
    if (cell->stated && cell->random && cell->median_ns > 0)
      snprintf(text, sizeof text, "x%.2f-%.2f", (double)cell->p5_ns / (double)cell->median_ns, (double)cell->p95_ns / (double)cell->median_ns);
    grid_text(grid, text);
  }
  if (energy) {
    *text = '\0';
    if (cell->stated && !cell->between && cell->info.energy_nj >= 0) snprintf(text, sizeof text, "%.3g uJ", (double)cell->info.energy_nj / 1000);
    grid_right(grid, text);
  }
}

static void print_legend(const struct view *view, const struct cost_sources *sources) {
  fputs("\nmedians; m measured, p published, f fitted, e estimated, a assumed, with the number of the source; x: p5 and p95 over the median\n", stdout);
  for (int p = 0; p < view->platform_count; p++) printf("%s: %s\n", view->names[p], cost_platform_title(view->platforms[p]));
  for (int i = 0; i < view->source_count; i++) {
    const struct cost_source *source = cost_source_find(sources, view->sources[i]);
    printf("%3d  %s: %s%s%s%s%s\n", i + 1, source->id, source->author, *source->author ? ", " : "", source->title, *source->year ? ", " : "", source->year);
  }
}

static void print_table(const struct view *view, const struct cost_sources *sources) {
  struct grid *grid = grid_new();
  bool sized = false;
  for (int i = 0; i < view->count; i++) sized |= view->operations[i].size_bytes > 0;
  grid_column(grid, "algorithm", GRID_TEXT);
  grid_column(grid, "operation", GRID_TEXT);
  if (sized) grid_column(grid, "size (B)", GRID_NUMBER);
  for (int p = 0; p < view->platform_count; p++) {
    bool spread, energy;
    has_columns(view, p, &spread, &energy);
    grid_column(grid, view->names[p], GRID_RIGHT);
    if (spread) grid_column(grid, "p5-p95", GRID_TEXT);
    if (energy) grid_column(grid, "energy", GRID_RIGHT);
  }
  for (int i = 0; i < view->count; i++) {
    const struct operation *operation = &view->operations[i];
    grid_text(grid, operation->algorithm);
    grid_text(grid, operation->operation);
    if (sized) grid_number(grid, operation->size_bytes ? (double)operation->size_bytes : NAN);
    for (int p = 0; p < view->platform_count; p++) put_cells(view, operation, p, grid);
  }
  grid_print(grid, stdout);
  grid_free(grid);
  print_legend(view, sources);
}

/* --- JSON --- */

static void put_text(const char *key, const char *text) {
  printf(", \"%s\": ", key);
  if (*text)
    json_string(stdout, text);
  else
    fputs("null", stdout);
}

static void put_cell(const struct view *view, const struct operation *operation, int p) {
  const struct cell *cell = &operation->cells[p];
  fputs("{\"platform\": ", stdout);
  json_string(stdout, view->names[p]);
  put_text("algorithm", operation->algorithm);
  put_text("operation", operation->operation);
  printf(", \"size_bytes\": %" PRId64 ", \"median_ns\": %" PRId64 ", \"p5_ns\": %" PRId64 ", \"p95_ns\": %" PRId64, operation->size_bytes, cell->median_ns,
      cell->p5_ns, cell->p95_ns);
  fputs(", \"quantiles_ns\": ", stdout);
  if (cell->between) {
    fputs("null, \"energy_nj\": null", stdout); /* the file states neither at this size */
  } else {
    int64_t p_ppb[COST_POINTS_MAX], ns[COST_POINTS_MAX];
    int count = cost_row_points(view->platforms[p], cell->row, p_ppb, ns);
    for (int i = 0; i < count; i++) {
      fputs(i ? ", [" : "[[", stdout);
      json_number(stdout, (double)p_ppb[i] / SHARE_ONE);
      printf(", %" PRId64 "]", ns[i]);
    }
    fputs("], \"energy_nj\": ", stdout);
    json_number(stdout, cell->info.energy_nj >= 0 ? (double)cell->info.energy_nj : NAN);
  }
  put_text("kind", cost_kind_name(cell->info.kind));
  put_text("source", cell->info.source);
  put_text("family", cell->info.family);
  put_text("note", cell->info.note);
  put_text("from_platform", cell->info.from_platform);
  putchar('}');
}

static void print_json(const struct view *view) {
  bool any = false;
  for (int i = 0; i < view->count; i++)
    for (int p = 0; p < view->platform_count; p++)
      if (view->operations[i].cells[p].stated) {
        fputs(any ? ",\n " : "[\n ", stdout);
        put_cell(view, &view->operations[i], p);
        any = true;
      }
  puts("\n]");
}

/* --- the figure --- */

static void fill_series(const struct view *view, int p, struct plot_dot *dots) {
  for (int i = 0; i < view->count; i++) {
    const struct cell *cell = &view->operations[i].cells[p];
    dots[i] = (struct plot_dot){cell->stated ? cell->median_ns : 0, cell->random ? cell->p5_ns : 0, cell->random ? cell->p95_ns : 0,
        cell->info.kind == COST_ESTIMATED || cell->info.kind == COST_ASSUMED};
  }
}

static int draw(const struct view *view, const char *path, struct err *e) {
  if (view->count > FIGURE_OPERATIONS || view->platform_count > FIGURE_PLATFORMS)
    return err_add(e, ERR_INPUT,
        "calibrate show: a figure of %d operations and %d platforms cannot be read, allowed up to %d and %d; choose with --algorithm, --operation and --size",
        view->count, view->platform_count, FIGURE_OPERATIONS, FIGURE_PLATFORMS);
  char *names[FIGURE_OPERATIONS] = {NULL};
  struct plot_dot dots[FIGURE_PLATFORMS][FIGURE_OPERATIONS];
  const struct plot_dot *series[FIGURE_PLATFORMS];
  for (int i = 0; i < view->count; i++) {
    const struct operation *operation = &view->operations[i];
    char size[32] = "";
    if (operation->size_bytes) snprintf(size, sizeof size, ", %" PRId64 " B", operation->size_bytes);
    if (asprintf(&names[i], "%s %s%s", operation->algorithm, operation->operation, size) < 0) abort();
  }
  for (int p = 0; p < view->platform_count; p++) {
    fill_series(view, p, dots[p]);
    series[p] = dots[p];
  }
  char title[160] = "What an operation takes";
  if (view->platform_count == 1) snprintf(title, sizeof title, "What an operation takes on %s", view->names[0]);
  const struct plot_dots request = {.out = path,
      .title = title,
      .subtitle = "median; lines from the 5th to the 95th percentile; filled: measured, published or fitted, hollow: estimated or assumed",
      .label = "duration",
      .series_title = "platform",
      .row_count = view->count,
      .rows = (const char *const *)names,
      .series_count = view->platform_count,
      .series = view->names,
      .dots = series};
  int status = plot_draw_dots(&request, e);
  for (int i = 0; i < view->count; i++) free(names[i]);
  return status;
}

/* --- the command --- */

static int load(const struct cmd_line *line, struct view *view, struct err *e) {
  int status = 0;
  view->platform_count = cmd_argument_count(line);
  for (int p = 0; p < view->platform_count; p++) {
    view->names[p] = cmd_argument(line, p);
    int failed = platform_file_load(view->names[p], &view->platforms[p], e);
    status = status ? status : failed;
  }
  return status;
}

static int show(const struct cmd_line *line, struct view *view, struct err *e) {
  const char *figure = cmd_text(line, "output", NULL);
  struct cost_sources *sources = NULL;
  view->algorithms = cmd_repeated(line, "algorithm", &view->algorithm_count);
  view->wanted = cmd_repeated(line, "operation", &view->wanted_count);
  view->size_bytes = cmd_whole(line, "size", -1);
  int status = load(line, view, e);
  if (!status) status = check_algorithms(view, e);
  if (!status) collect(view);
  if (!status && !view->count) status = nothing_wanted(view, e);
  if (!status) status = cost_sources_load(&sources, e);
  if (!status && figure) status = draw(view, figure, e);
  if (!status && cmd_given(line, "json"))
    print_json(view);
  else if (!status)
    print_table(view, sources);
  cost_sources_free(sources);
  return status;
}

static int run(const struct cmd_line *line, struct err *e) {
  struct view view = {0};
  (void)!show(line, &view, e); /* main prints what is in e */
  for (int p = 0; p < view.platform_count; p++) cost_free(view.platforms[p]);
  free(view.operations);
  free(view.sources);
  return 0;
}

static const struct cmd_option option_algorithm = {"algorithm", 0, CMD_REPEATED, "NAME", "Only this algorithm; may be given several times", NULL, 0, 0};
static const struct cmd_option option_operation = {"operation", 0, CMD_REPEATED, "NAME", "Only this operation; may be given several times", NULL, 0, 0};
static const struct cmd_option option_size = {
    "size", 0, CMD_WHOLE, "BYTES", "Where cost depends on size: at this one, as models are charged", NULL, 1, INT64_C(1) << 40};
static const struct cmd_option option_figure = {
    "output", 'o', CMD_TEXT, "FIG.svg|png|pdf", "A figure, too; gnuplot's script and data stay beside it", NULL, 0, 0};
static const struct cmd_option *const options[] = {&option_algorithm, &option_operation, &option_size, &cmd_option_json, &option_figure, NULL};

const struct cmd cmd_calibrate_show = {"calibrate show", "PLATFORM...", 1, PLATFORMS_MAX, "Print what operations cost on platforms, side by side.",
    "  pqnetsim calibrate show epyc-zen5 raspberry-pi4 --algorithm ML-KEM-768\n"
    "  pqnetsim calibrate show xeon-6242r ./router.csv -o kem.svg \\\n"
    "      --algorithm mlkem768 --algorithm x25519 --operation keygen\n"
    "  pqnetsim calibrate show xeon-6242r raspberry-pi3 --operation seal --size 1350\n\n"
    "PLATFORM is a shipped one (pqnetsim list platforms) or a file of your own.",
    options, run};
