/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/core/param_value.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { CANONICAL_MAX = 256, LIST_MAX = 4096, WORD_MAX = 128 };

static void *must(void *memory) {
  if (!memory) abort();
  return memory;
}

static struct param_value *param_value_new(void) {
  struct param_value *value = must(calloc(1, sizeof *value));
  value->references = 1;
  return value;
}

void param_value_drop(struct param_value *value) {
  if (!value || --value->references > 0) return;
  free(value->list);
  free(value->text);
  free(value);
}

struct param_value *param_value_share(struct param_value *value) {
  if (value) value->references++;
  return value;
}

static void set_text(struct param_value *value, const char *text) { value->text = must(strdup(text)); }

/* ---- one reader per kind: fills number, loss or list, and text ---- */

enum unit param_unit(enum param_kind kind) {
  static const enum unit units[] = {
      [PARAM_COUNT] = UNIT_COUNT, [PARAM_TIME] = UNIT_TIME, [PARAM_RATE] = UNIT_RATE, [PARAM_SIZE] = UNIT_SIZE, [PARAM_SHARE] = UNIT_SHARE};
  return units[kind];
}

static int refuse_range(const struct param *row, enum unit unit, const char *text, const char *noun, struct err *e) {
  char low[32], high[32];
  units_format(unit, row->min, low);
  if (row->max == INT64_MAX) return err_add(e, ERR_INPUT, "found %s, allowed %s%s or more", text, low, noun);
  return err_add(e, ERR_INPUT, "found %s, allowed %s to %s%s", text, low, units_format(unit, row->max, high), noun);
}

static int read_number(const struct param *row, const char *text, struct param_value *value, struct err *e) {
  enum unit unit = param_unit(row->kind);
  char with_unit[CANONICAL_MAX];
  bool bare = row->bare && text[0] && strspn(text, "0123456789") == strlen(text);
  snprintf(with_unit, sizeof with_unit, "%s%s", text, bare ? row->bare : "");
  int code = units_parse(unit, bare ? with_unit : text, &value->number, e);
  if (code) return code;
  if (value->number < row->min || value->number > row->max) return refuse_range(row, unit, text, "", e);
  char buffer[32];
  set_text(value, units_format(unit, value->number, buffer));
  return 0;
}

static int read_bool(const struct param *row, const char *text, struct param_value *value, struct err *e) {
  static const char *const words[] = {"no", "yes", "false", "true", "off", "on"};
  (void)row;
  for (int i = 0; i < (int)(sizeof words / sizeof words[0]); i++) {
    if (strcasecmp(text, words[i]) != 0) continue;
    value->number = i % 2;
    set_text(value, words[i % 2]);
    return 0;
  }
  return err_add(e, ERR_INPUT, "found '%s', allowed yes or no", text);
}

static int read_choice(const struct param *row, const char *text, struct param_value *value, struct err *e) {
  char all[CANONICAL_MAX] = "";
  size_t length = 0;
  for (int i = 0; row->choices[i]; i++) {
    if (strcasecmp(text, row->choices[i]) == 0) {
      value->number = i;
      set_text(value, row->choices[i]);
      return 0;
    }
    if (length < sizeof all) length += (size_t)snprintf(all + length, sizeof all - length, "%s%s", i ? ", " : "", row->choices[i]);
  }
  return err_add(e, ERR_INPUT, "found '%s', allowed %s", text, all);
}

static int read_name(const struct param *row, const char *text, struct param_value *value, struct err *e) {
  for (const char *at = text; *at; at++)
    if ((unsigned char)*at < ' ') return err_add(e, ERR_INPUT, "found a control character (code %d), allowed is a name in one line", *at);
  char canonical[CANONICAL_MAX];
  if (row->check) {
    int code = row->check(text, canonical, sizeof canonical, e);
    if (code) return code;
  }
  set_text(value, row->check ? canonical : text);
  return 0;
}

static int read_queue(const struct param *row, const char *text, struct param_value *value, struct err *e) {
  static const char *const nouns[] = {"packets", "packet"};
  size_t length = strlen(text), digits = strspn(text, "0123456789"), blanks = strspn(text + digits, " ");
  bool in_packets = false;
  for (int i = 0; i < 2; i++) in_packets |= digits > 0 && strcmp(text + digits + blanks, nouns[i]) == 0;
  if (strcmp(text, "none") == 0 && row->min <= 0) {
    set_text(value, "none");
    return 0;
  }
  if (digits == length) return err_add(e, ERR_INPUT, "found '%s' without a unit, allowed are packets and sizes, such as 100 packets or 64KiB", text);
  enum unit unit = in_packets ? UNIT_COUNT : UNIT_SIZE;
  char number[CANONICAL_MAX], buffer[32];
  snprintf(number, sizeof number, "%.*s", in_packets ? (int)digits : (int)length, text);
  int64_t magnitude;
  int code = units_parse(unit, number, &magnitude, e);
  if (code) return code;
  if (magnitude < row->min || magnitude > row->max || magnitude < 1) return refuse_range(row, unit, text, in_packets ? " packets" : "", e);
  value->number = in_packets ? magnitude : -magnitude;
  units_format(unit, magnitude, buffer);
  snprintf(number, sizeof number, "%s%s", buffer, in_packets ? " packets" : "");
  set_text(value, number);
  return 0;
}

/* ---- YAML's flow form, as far as values use it: {a: {b: c}}, [1, 2] ---- */

static const char *skip_blanks(const char *at) { return at + strspn(at, " \t"); }

/* True, and past it, if the next thing is `mark`. */
static bool flow_mark(const char **at, char mark) {
  const char *next = skip_blanks(*at);
  if (*next != mark) return false;
  *at = next + 1;
  return true;
}

/* A plain or quoted word up to one of `ends`; false when there is none or it is too long. */
static bool flow_word(const char **at, const char *ends, char word[WORD_MAX]) {
  const char *from = skip_blanks(*at);
  char quote = *from == '"' || *from == '\'' ? *from : '\0';
  const char quotes[] = {quote, '\0'};
  from += quote ? 1 : 0;
  size_t length = strcspn(from, quote ? quotes : ends);
  const char *end = from + length;
  if (quote && *end != quote) return false;
  while (!quote && length > 0 && (from[length - 1] == ' ' || from[length - 1] == '\t')) length--;
  if (length == 0 || length >= WORD_MAX) return false;
  memcpy(word, from, length);
  word[length] = '\0';
  *at = end + (quote ? 1 : 0);
  return true;
}

enum { GEMODEL_P, GEMODEL_R, GEMODEL_BAD, GEMODEL_GOOD, GEMODEL_COUNT };
static const struct {
  const char *key;
  int meaning;
} gemodel_keys[] = {
    {"p", GEMODEL_P}, {"r", GEMODEL_R}, {"loss_bad", GEMODEL_BAD}, {"loss_good", GEMODEL_GOOD}, {"1-h", GEMODEL_BAD}, {"1-k", GEMODEL_GOOD}, /* netem's */
};

static int read_share(const char *name, const char *text, int64_t *share, struct err *e) {
  struct err inner = {0};
  int code = units_parse(UNIT_SHARE, text, share, &inner);
  if (code)
    err_add(e, code, "%s%.*s", name, (int)inner.length - 1, inner.text);
  else if (*share < 0 || *share > SHARE_ONE)
    code = err_add(e, ERR_INPUT, "%sfound %s, allowed 0%% to 100%%", name, text);
  err_free(&inner);
  return code;
}

static int refuse_loss(const char *text, struct err *e) {
  return err_add(e, ERR_INPUT, "found '%s', allowed is a share such as 1%% or {gemodel: {p: 1%%, r: 20%%, loss_bad: 100%%, loss_good: 0%%}}", text);
}

static int read_gemodel_pairs(const char **at, const char *text, int64_t shares[GEMODEL_COUNT], bool given[GEMODEL_COUNT], struct err *e) {
  do {
    char key[WORD_MAX], word[WORD_MAX], name[WORD_MAX + 16];
    if (!flow_word(at, ":,{}", key) || !flow_mark(at, ':') || !flow_word(at, ",{}", word)) return refuse_loss(text, e);
    int meaning = -1;
    for (size_t i = 0; i < sizeof gemodel_keys / sizeof gemodel_keys[0]; i++)
      if (strcmp(key, gemodel_keys[i].key) == 0) meaning = gemodel_keys[i].meaning;
    if (meaning < 0) return err_add(e, ERR_INPUT, "gemodel: found the key '%s', allowed p, r, loss_bad (or 1-h), loss_good (or 1-k)", key);
    if (given[meaning]) return err_add(e, ERR_INPUT, "gemodel: '%s' is given twice", key);
    given[meaning] = true;
    snprintf(name, sizeof name, "gemodel: %s: ", key);
    int code = read_share(name, word, &shares[meaning], e);
    if (code) return code;
  } while (flow_mark(at, ','));
  return 0;
}

static int read_gemodel(const char *text, struct param_value *value, struct err *e) {
  const char *at = text;
  char key[WORD_MAX];
  int64_t shares[GEMODEL_COUNT] = {[GEMODEL_BAD] = SHARE_ONE};
  bool given[GEMODEL_COUNT] = {false};
  if (!flow_mark(&at, '{') || !flow_word(&at, ":,{}", key) || strcmp(key, "gemodel") != 0 || !flow_mark(&at, ':') || !flow_mark(&at, '{'))
    return refuse_loss(text, e);
  int code = read_gemodel_pairs(&at, text, shares, given, e);
  if (code) return code;
  if (!flow_mark(&at, '}') || !flow_mark(&at, '}') || *skip_blanks(at)) return refuse_loss(text, e);
  if (!given[GEMODEL_P] || !given[GEMODEL_R]) return err_add(e, ERR_INPUT, "gemodel: p and r are both needed");
  value->loss = (struct param_loss){
      .gemodel = true, .p_ppb = shares[GEMODEL_P], .r_ppb = shares[GEMODEL_R], .bad_ppb = shares[GEMODEL_BAD], .good_ppb = shares[GEMODEL_GOOD]};
  static const int64_t unsaid[GEMODEL_COUNT] = {-1, -1, SHARE_ONE, 0};
  char canonical[CANONICAL_MAX] = "{gemodel: {", share[32];
  for (int i = 0; i < GEMODEL_COUNT; i++) {
    size_t length = strlen(canonical);
    if (shares[i] != unsaid[i])
      snprintf(canonical + length, sizeof canonical - length, "%s%s: %s", i ? ", " : "", gemodel_keys[i].key, units_format(UNIT_SHARE, shares[i], share));
  }
  strcat(canonical, "}}");
  set_text(value, canonical);
  return 0;
}

static int read_loss(const struct param *row, const char *text, struct param_value *value, struct err *e) {
  (void)row;
  if (*skip_blanks(text) == '{') return read_gemodel(text, value, e);
  int code = read_share("", text, &value->loss.loss_ppb, e);
  if (code) return code;
  char buffer[32];
  set_text(value, units_format(UNIT_SHARE, value->loss.loss_ppb, buffer));
  return 0;
}

static int read_element(const struct param *row, const char *word, struct param_value *value, struct err *e) {
  int64_t number;
  int code = units_parse(UNIT_COUNT, word, &number, e);
  if (code) return code;
  bool bounded = row->max > row->min;
  if (bounded && (number < row->min || number > row->max)) return refuse_range(row, UNIT_COUNT, word, "", e);
  if (value->list_count > 0 && number <= value->list[value->list_count - 1])
    return err_add(e, ERR_INPUT, "found %s after %" PRId64 ", allowed are numbers in ascending order, each once", word, value->list[value->list_count - 1]);
  if (value->list_count == LIST_MAX) return err_add(e, ERR_INPUT, "found more than %d numbers", LIST_MAX);
  value->list[value->list_count++] = number;
  return 0;
}

static int read_list(const struct param *row, const char *text, struct param_value *value, struct err *e) {
  size_t commas = 0;
  for (const char *c = text; *c; c++) commas += *c == ',';
  value->list = must(calloc(commas + 1 < LIST_MAX ? commas + 1 : LIST_MAX, sizeof *value->list));
  const char *at = text;
  bool bracket = flow_mark(&at, '['), more = !bracket || !flow_mark(&at, ']');
  while (more) {
    char word[WORD_MAX];
    if (!flow_word(&at, bracket ? ",]" : "", word)) return err_add(e, ERR_INPUT, "found '%s', allowed is a list such as [3, 5]", text);
    int code = read_element(row, word, value, e);
    if (code) return code;
    more = bracket && flow_mark(&at, ',');
    if (bracket && !more && !flow_mark(&at, ']'))
      return err_add(e, ERR_INPUT, "found '%s' without its closing bracket, allowed is a list such as [3, 5]", text);
  }
  if (*skip_blanks(at)) return err_add(e, ERR_INPUT, "found '%s', allowed is a list such as [3, 5]", text);
  char *canonical = must(malloc((size_t)value->list_count * 34 + 3)), *to = canonical, buffer[32];
  *to++ = '[';
  for (int i = 0; i < value->list_count; i++) to += sprintf(to, "%s%s", i ? ", " : "", units_format(UNIT_COUNT, value->list[i], buffer));
  memcpy(to, "]", 2);
  value->text = canonical;
  return 0;
}

/* One name of a list into the canonical text so far, which has room for it. */
static int add_name(const struct param *row, const char *word, char *canonical, size_t size, struct err *e) {
  struct param_value one = {0};
  int code = read_name(row, word, &one, e);
  if (code) return code;
  if (!*one.text || one.text[strcspn(one.text, " ,[]")]) { /* would not be the same list when read again */
    free(one.text);
    return err_add(e, ERR_INPUT, "found the name '%s', allowed are names without blanks, commas and brackets", word);
  }
  size_t length = strlen(canonical);
  char element[CANONICAL_MAX + 4];
  snprintf(element, sizeof element, " %s,", one.text);
  char so_far[PARAM_NAMES_TEXT + 2];
  snprintf(so_far, sizeof so_far, " %s,", canonical + 1);
  if (!row->repeats && strstr(so_far, element)) code = err_add(e, ERR_INPUT, "found %s twice, allowed once each", one.text);
  if (!code && length + strlen(one.text) + 4 > size) code = err_add(e, ERR_INPUT, "found a list of more than %zu characters", size - 4);
  if (!code) snprintf(canonical + length, size - length, "%s%s", length > 1 ? ", " : "", one.text);
  free(one.text);
  return code;
}

static int read_names(const struct param *row, const char *text, struct param_value *value, struct err *e) {
  char canonical[PARAM_NAMES_TEXT] = "[";
  const char *at = text;
  bool bracket = flow_mark(&at, '['), more = !bracket || !flow_mark(&at, ']');
  while (more) {
    char word[WORD_MAX];
    if (!flow_word(&at, bracket ? ",]" : "", word)) return err_add(e, ERR_INPUT, "found '%s', allowed is a list of names such as [a, b]", text);
    int code = add_name(row, word, canonical, sizeof canonical - 1, e);
    if (code) return code;
    value->list_count++;
    more = bracket && flow_mark(&at, ',');
    if (bracket && !more && !flow_mark(&at, ']'))
      return err_add(e, ERR_INPUT, "found '%s' without its closing bracket, allowed is a list of names such as [a, b]", text);
  }
  if (*skip_blanks(at)) return err_add(e, ERR_INPUT, "found '%s', allowed is a list of names such as [a, b]", text);
  bool bounded = row->min || row->max;
  if (bounded && (value->list_count < row->min || value->list_count > row->max))
    return err_add(e, ERR_INPUT, "found %d names, allowed %" PRId64 " to %" PRId64, value->list_count, row->min, row->max);
  strcat(canonical, "]");
  set_text(value, canonical);
  return 0;
}

typedef int read_fn(const struct param *row, const char *text, struct param_value *value, struct err *e);
static read_fn *const readers[] = {
    [PARAM_COUNT] = read_number,
    [PARAM_TIME] = read_number,
    [PARAM_RATE] = read_number,
    [PARAM_SIZE] = read_number,
    [PARAM_SHARE] = read_number,
    [PARAM_BOOL] = read_bool,
    [PARAM_CHOICE] = read_choice,
    [PARAM_NAME] = read_name,
    [PARAM_QUEUE] = read_queue,
    [PARAM_LOSS] = read_loss,
    [PARAM_LIST] = read_list,
    [PARAM_NAMES] = read_names,
};

struct param_value *param_value_read(const struct param *row, const char *text, struct err *e) {
  while (*text == ' ' || *text == '\t') text++;
  size_t length = strlen(text);
  while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t')) length--;
  char *trimmed = must(strndup(text, length));
  struct param_value *value = param_value_new();
  struct err inner = {0};
  int code = readers[row->kind](row, trimmed, value, &inner);
  if (code) {
    err_add(e, code, "%s: %.*s", row->key, (int)inner.length - 1, inner.text);
    param_value_drop(value);
    value = NULL;
  }
  err_free(&inner);
  free(trimmed);
  return value;
}

struct param_value *param_value_plain(int64_t number, const char *text) {
  struct param_value *value = param_value_new();
  value->number = number;
  set_text(value, text);
  return value;
}
