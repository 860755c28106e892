/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/run/scenario.h"
#include "sim/run/algorithms.h"
#include "sim/run/load.h"
#include "sim/run/names.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MAX = 1 << 20, TITLE_MAX = 200 };

/* One stream of draws per (seed, replication): random.h. The bound on replications is the store's and the user's: a
 * billion runs of the fastest scenario take days. */
static const struct param run_rows[] = {
    {.key = "seed",
        .kind = PARAM_COUNT,
        .fallback = "1",
        .min = 0,
        .max = INT64_MAX,
        .help = "first key of every random draw; the same seed gives the same bytes"},
    {.key = "replications", .kind = PARAM_COUNT, .fallback = "1", .min = 1, .max = 1000000000, .help = "runs per point, each with draws of its own"},
};
const struct param_table run_params = {run_rows, sizeof run_rows / sizeof *run_rows};

/* Keys of the file that are no parameters. */
enum section { SECTION_SCENARIO, SECTION_TITLE, SECTION_SWEEP, SECTION_SKIP, SECTION_METRICS, SECTION_REQUIRE, SECTION_ALGORITHMS, SECTION_COUNT };
static const char *const sections[SECTION_COUNT] = {"scenario", "title", "sweep", "skip", "metrics", "require", ALGORITHMS_KEY};

static int section_of(const char *key) {
  int s = 0;
  while (s < SECTION_COUNT && strcmp(sections[s], key)) s++;
  return s;
}

/* The whole file on the arena. */
static int read_file(struct arena *arena, const char *path, const char **text, size_t *size, struct err *e) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (fd < 0) return err_add(e, ERR_INPUT, "%s: cannot be opened: %s", path, strerror(errno));
  char *buffer = arena_alloc(arena, FILE_MAX + 2); /* one byte more shows that the file is too long */
  size_t length = 0;
  int code = 0;
  if (!fstat(fd, &status) && S_ISDIR(status.st_mode)) code = err_add(e, ERR_INPUT, "%s: is a folder; name a scenario file in it", path);
  while (!code && length <= FILE_MAX) {
    ssize_t got = read(fd, buffer + length, FILE_MAX + 1 - length);
    if (got < 0 && errno != EINTR) code = err_add(e, ERR_SYSTEM, "%s: cannot be read: %s", path, strerror(errno));
    if (!got) break;
    length += got > 0 ? (size_t)got : 0;
  }
  close(fd);
  if (!code && length > FILE_MAX) code = err_add(e, ERR_INPUT, "%s: longer than %d bytes, which no scenario needs", path, FILE_MAX);
  *text = buffer;
  *size = length;
  return code;
}

static const char *folder_of(struct arena *arena, const char *path) {
  const char *slash = strrchr(path, '/');
  if (!slash) return ".";
  return arena_text(arena, path, slash == path ? 1 : (size_t)(slash - path));
}

/* On a command line a star is no YAML alias but text (OpenSSL marks groups with it): it is quoted. */
static const char *plain(struct arena *arena, const char *value) {
  if (*value != '*') return value;
  char *quoted = arena_alloc(arena, 2 * strlen(value) + 3), *to = quoted;
  for (*to++ = '\''; *value; value++) {
    if (*value == '\'') *to++ = '\'';
    *to++ = *value;
  }
  *to++ = '\'';
  *to = '\0';
  return quoted;
}

/* KEY=VALUE as a map of one key, NULL after a problem. */
static const struct yaml_node *read_set(struct load *load, const char *set, int number) {
  const char *equals = strchr(set, '=');
  struct place at = {.set = number, .line = 1, .column = 1};
  at.set_key = names_shown(load->arena, equals ? arena_text(load->arena, set, (size_t)(equals - set)) : set);
  if (!equals || equals == set) {
    problem_add(load->problems, at, NULL, "found no KEY=VALUE, such as --set path.delay=10ms");
    return NULL;
  }
  const char *value = plain(load->arena, equals + 1);
  int before = problem_count(load->problems);
  const struct yaml_node *node = yaml_read(load->arena, value, strlen(value), at, load->problems);
  if (!node || problem_count(load->problems) > before) return NULL;
  struct yaml_node *child = arena_alloc(load->arena, sizeof *child), *map = arena_alloc(load->arena, sizeof *map);
  *child = *node;
  child->key = arena_text(load->arena, set, (size_t)(equals - set));
  child->key_at = at;
  *map = (struct yaml_node){.shape = YAML_MAP, .at = at, .child = child, .count = 1};
  return map;
}

static const struct domain *find_domain(struct load *load, const struct yaml_node *root) {
  const struct yaml_node *node = yaml_find(root, sections[SECTION_SCENARIO]);
  int count = 0;
  const struct domain *const *catalog = domain_catalog(&count);
  const char **names = arena_array(load->arena, (size_t)count, sizeof *names);
  for (int i = 0; i < count; i++) names[i] = catalog[i]->name;
  const char *all = names_join(load->arena, names, count);
  if (!node) {
    problem_add(load->problems, (struct place){0}, "scenario", "missing; the file must say which family it is of: scenario: %s", all);
    return NULL;
  }
  const struct domain *domain = node->shape == YAML_TEXT ? domain_find(node->text) : NULL;
  if (domain) return domain;
  const char *nearest = node->shape == YAML_TEXT ? names_nearest(node->text, names, count) : NULL;
  problem_add(load->problems, node->at, "scenario", "found %s, allowed %s%s%s%s", load_shown(load, node), all, nearest ? "; did you mean " : "",
      nearest ? nearest : "", nearest ? "?" : "");
  return NULL;
}

/* Groups are named by the keys of `groups:`, in the file or in --set; their parameters must be known before any is read.
 * What is wrong with a name is told here, so a key of a group that is not among these needs no second word. */
struct group_names {
  const struct domain *domain;
  const char *names[ROSTER_GROUPS];
  int count;
  bool refused; /* too many, or of a domain without groups: said once */
  struct place at;
};

static void add_group(struct load *load, struct group_names *groups, struct place at, const char *key) {
  size_t length = strcspn(key, ".");
  const char *name = arena_text(load->arena, key, length);
  if (!roster_is_name(name, length)) {
    problem_add(load->problems, at, "groups", "found the name '%s', allowed are letters, digits, - and _, at most %d of them", names_shown(load->arena, name),
        ROSTER_NAME);
    return;
  }
  for (int g = 0; g < groups->count; g++) {
    if (!strcmp(groups->names[g], name)) return;
    if (strcasecmp(groups->names[g], name)) continue;
    problem_add(load->problems, at, "groups", "found %s and %s, which differ in case alone", groups->names[g], name);
    return;
  }
  if (groups->count < ROSTER_GROUPS) {
    groups->names[groups->count++] = name;
    return;
  }
  if (!groups->refused) problem_add(load->problems, at, "groups", "found %s as one more than %d, the most there may be", name, ROSTER_GROUPS);
  groups->refused = true;
}

static void find_groups(struct load *load, const struct yaml_node *map, struct group_names *groups) {
  for (const struct yaml_node *child = map->child; child; child = child->next) {
    if (!load_is_of_groups(child->key)) continue;
    bool whole = !child->key[strlen(LOAD_GROUPS)];
    if (!groups->at.line) groups->at = child->key_at;
    if (!groups->domain->group_table_count) {
      if (!groups->refused) problem_add(load->problems, child->key_at, LOAD_GROUPS, "%s has no groups; remove them", groups->domain->name);
      groups->refused = true;
    } else if (!whole) {
      add_group(load, groups, child->key_at, child->key + strlen(LOAD_GROUPS) + 1);
    } else if (child->shape != YAML_MAP || !child->count) {
      load_no_groups(load, child);
    } else {
      for (const struct yaml_node *group = child->child; group; group = group->next) add_group(load, groups, group->key_at, group->key);
    }
  }
}

/* A key that find_groups has refused. */
static bool is_refused_group(const struct load *load, const char *key) {
  const char *name = key + strlen(LOAD_GROUPS);
  return load_is_of_groups(key) && (!*name || roster_find(load->scenario->roster, name + 1, strcspn(name + 1, ".")) < 0);
}

/* Makes room for the domain's parameters. */
static void open_domain(struct load *load, const struct domain *domain, const struct group_names *groups) {
  struct roster *roster = roster_new(domain, groups->names, groups->count);
  const struct param_table **tables = arena_array(load->arena, (size_t)roster->table_count + 1, sizeof *tables);
  tables[0] = &run_params;
  for (int t = 0; t < roster->table_count; t++) tables[t + 1] = roster->tables[t];
  load->tables = tables;
  load->table_count = roster->table_count + 1;
  load->scenario->roster = roster;
  for (int t = 0; t < load->table_count; t++) load->slot_count += tables[t]->count;
  load->scenario->domain = domain;
  load->scenario->base = config_new(tables, load->table_count);
  load->scratch = config_new(tables, load->table_count);
  load->fixed = arena_array(load->arena, (size_t)load->slot_count, sizeof *load->fixed);
  load->scenario->setting_count = load->slot_count + 1;
  load->scenario->settings = arena_array(load->arena, (size_t)load->slot_count + 1, sizeof *load->scenario->settings);
  load->scenario->settings[load->slot_count] = (struct setting){LOAD_GROUPS, groups->at};
}

/* A value for the base, and where it was. */
static void take_entry(struct load *load, struct entry *claims, const struct entry *entry) {
  if (!load_claim(load, claims, entry)) return;
  load->scenario->settings[load_slot(load, entry->row)] = (struct setting){entry->row->sets ? entry->row->sets : entry->row->key, entry->node->at};
  value_set(load, load->scenario->base, entry);
}

static void read_title(struct load *load, const struct yaml_node *node) {
  if (node->shape != YAML_TEXT || yaml_is_null(node) || strlen(node->text) > TITLE_MAX || node->text[strcspn(node->text, "\n\t")])
    problem_add(load->problems, node->at, "title", "found %s, allowed one line of up to %d bytes", load_shown(load, node), TITLE_MAX);
  else
    load->scenario->title = node->text;
}

/* The file's keys: parameters into the base, the rest by section. */
static void apply_file(struct load *load, const struct yaml_node *root, const struct yaml_node *found[SECTION_COUNT]) {
  struct entry_list entries;
  struct entry *claims = arena_array(load->arena, (size_t)load->slot_count, sizeof *claims);
  load_entries(load, root, &entries);
  for (int i = 0; i < entries.count; i++) {
    const struct entry *entry = &entries.items[i];
    int section = section_of(entry->key);
    if (algorithms_is_key(entry->key)) continue; /* read first of all */
    if (section < SECTION_COUNT)
      found[section] = entry->node;
    else if (entry->row)
      take_entry(load, claims, entry);
    else if (!is_refused_group(load, entry->key))
      load_unknown_key(load, entry, sections, SECTION_COUNT);
  }
}

static void apply_set(struct load *load, const struct yaml_node *map, const struct yaml_node **title) {
  static const char *const title_only[] = {"title"};
  struct entry_list entries;
  load_entries(load, map, &entries);
  for (int i = 0; i < entries.count; i++) {
    const struct entry *entry = &entries.items[i];
    int section = section_of(entry->key);
    if (algorithms_is_key(entry->key)) continue;
    if (entry->row) {
      take_entry(load, load->fixed, entry);
    } else if (section == SECTION_TITLE && *title) {
      problem_add(load->problems, entry->at, "title", "given twice; remove one of them");
    } else if (section == SECTION_TITLE) {
      *title = entry->node;
    } else if (section < SECTION_COUNT) {
      problem_add(load->problems, entry->at, NULL, "belongs into the file; --set changes parameters, algorithms and the title");
    } else if (!is_refused_group(load, entry->key)) {
      load_unknown_key(load, entry, title_only, 1);
    }
  }
}

static void choose_all_metrics(struct load *load) {
  struct scenario *scenario = load->scenario;
  scenario->metric_count = scenario->roster->metric_count;
  scenario->metrics = arena_array(load->arena, (size_t)scenario->metric_count, sizeof *scenario->metrics);
  for (int m = 0; m < scenario->metric_count; m++) scenario->metrics[m] = m;
}

static void read_parts(struct load *load, const struct yaml_node *const found[SECTION_COUNT], bool want_axes) {
  struct scenario *scenario = load->scenario;
  if (!want_axes) /* what --set fixes is no contradiction when nothing is swept */
    memset(load->fixed, 0, (size_t)load->slot_count * sizeof *load->fixed);
  bool axes_well = !found[SECTION_SWEEP] || axes_read(load, found[SECTION_SWEEP]);
  if (found[SECTION_SKIP]) skip_read(load, found[SECTION_SKIP], axes_well);
  if (found[SECTION_METRICS])
    metrics_read(load, found[SECTION_METRICS]);
  else
    choose_all_metrics(load);
  if (found[SECTION_REQUIRE]) require_read(load, found[SECTION_REQUIRE]);
  if (!want_axes) scenario->axis_count = scenario->skip_count = 0;
}

/* Everything behind the bytes; problems go to the list. */
static void read_scenario(struct load *load, size_t size, const char *const *sets, int set_count, bool want_axes) {
  const struct yaml_node *root = yaml_read(load->arena, load->scenario->text, size, (struct place){0}, load->problems);
  const struct yaml_node *found[SECTION_COUNT] = {0}, *set_title = NULL;
  if (!root) return;
  if (root->shape != YAML_MAP) {
    problem_add(load->problems, root->at, NULL, "found %s, allowed a map that begins with a line such as `scenario: e2`",
        yaml_is_null(root) ? "an empty file" : load_shown(load, root));
    return;
  }
  const struct domain *domain = find_domain(load, root);
  if (!domain) return;
  const struct yaml_node **texts = arena_array(load->arena, (size_t)set_count + 1, sizeof *texts), **maps = texts + 1;
  texts[0] = root;
  struct group_names groups = {.domain = domain};
  find_groups(load, root, &groups);
  for (int i = 0; i < set_count; i++) {
    maps[i] = read_set(load, sets[i], i + 1);
    if (maps[i]) find_groups(load, maps[i], &groups);
  }
  algorithms_read(load, texts, set_count + 1);
  open_domain(load, domain, &groups);
  apply_file(load, root, found);
  for (int i = 0; i < set_count; i++)
    if (maps[i]) apply_set(load, maps[i], &set_title);
  const struct yaml_node *title = found[SECTION_TITLE];
  if (title) read_title(load, title);
  if (set_title) read_title(load, set_title);
  read_parts(load, found, want_axes);
}

int scenario_load(const char *path, const char *const *sets, int set_count, bool want_axes, struct scenario **out, struct err *e) {
  struct arena *arena = arena_new();
  struct scenario *scenario = arena_alloc(arena, sizeof *scenario);
  struct load load = {.arena = arena, .problems = problem_list_new(path), .scenario = scenario};
  size_t size = 0;
  scenario->arena = arena;
  scenario->path = arena_text(arena, path, strlen(path));
  scenario->base_dir = folder_of(arena, path);
  scenario->title = "";
  int code = read_file(arena, path, &scenario->text, &size, e);
  if (!code) {
    read_scenario(&load, size, sets, set_count, want_axes);
    code = problem_report(load.problems, e);
  }
  problem_list_free(load.problems);
  config_free(load.scratch);
  if (code)
    scenario_free(scenario);
  else
    *out = scenario;
  return code;
}

void scenario_free(struct scenario *scenario) {
  if (!scenario) return;
  config_free(scenario->base);
  roster_free(scenario->roster);
  arena_free(scenario->arena);
}

/* Where an axis, or else the base, gives a key its value. */
static bool is_given(const struct scenario *scenario, const int *digits, const char *key, struct place *at) {
  for (int a = 0; digits && a < scenario->axis_count; a++) {
    const struct axis_value *value = &scenario->axes[a].values[digits[a]];
    for (int k = 0; k < value->count; k++) {
      const struct param *row = config_find(scenario->base, value->keys[k]);
      if (strcmp(row->sets ? row->sets : row->key, key)) continue;
      *at = value->at[k];
      return true;
    }
  }
  for (int s = 0; s < scenario->setting_count; s++)
    if (scenario->settings[s].key && !strcmp(scenario->settings[s].key, key)) {
      *at = scenario->settings[s].at;
      return at->line > 0;
    }
  return false;
}

bool scenario_place(const struct scenario *scenario, const int *digits, const char *key, struct place *at) {
  const char *dot = load_is_of_groups(key) && key[strlen(LOAD_GROUPS)] ? strchr(key + strlen(LOAD_GROUPS) + 1, '.') : NULL;
  int group = dot ? (int)(dot + 1 - key) : 0; /* length of "groups.NAME." */
  for (const char *plain = key + group; plain;) {
    char own[256];
    snprintf(own, sizeof own, "%.*s%s", group, key, plain);
    if (is_given(scenario, digits, own, at) || is_given(scenario, digits, plain, at)) return true;
    const struct param *row = config_find(scenario->base, plain);
    plain = row ? row->follows : NULL;
  }
  return false;
}
