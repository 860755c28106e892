/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/core/units.h"
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef unsigned __int128 u128;

/* When a suffix is written; all of them are read. */
enum writing {
  WRITE_NEVER,
  WRITE_DECIMAL, /* when the number before it is 1 or more */
  WRITE_WHOLE,   /* when the number before it is whole, too */
  WRITE_ALWAYS,
};

struct suffix {
  const char *text;
  int64_t factor; /* base units in one */
  enum writing writing;
};

/* Largest last. */
static const struct suffix time_suffixes[] = {
    {"ns", 1, WRITE_ALWAYS},
    {"us", 1000, WRITE_DECIMAL},
    {"\xC2\xB5s", 1000, WRITE_NEVER}, /* U+00B5 micro sign */
    {"\xCE\xBCs", 1000, WRITE_NEVER}, /* U+03BC Greek mu */
    {"ms", 1000000, WRITE_DECIMAL},
    {"s", 1000000000, WRITE_DECIMAL},
    {"min", 60 * INT64_C(1000000000), WRITE_WHOLE},
    {"h", 3600 * INT64_C(1000000000), WRITE_WHOLE},
    {"d", 86400 * INT64_C(1000000000), WRITE_WHOLE},
};
static const struct suffix rate_suffixes[] = {
    {"bit/s", 1, WRITE_ALWAYS},
    {"bps", 1, WRITE_NEVER},
    {"kbit/s", 1000, WRITE_DECIMAL},
    {"kbps", 1000, WRITE_NEVER},
    {"Mbit/s", 1000000, WRITE_DECIMAL},
    {"Mbps", 1000000, WRITE_NEVER},
    {"Gbit/s", 1000000000, WRITE_DECIMAL},
    {"Gbps", 1000000000, WRITE_NEVER},
    {"Tbit/s", INT64_C(1000000000000), WRITE_DECIMAL},
};
static const struct suffix size_suffixes[] = {
    {"B", 1, WRITE_ALWAYS},
    {"kB", 1000, WRITE_NEVER},
    {"KiB", 1024, WRITE_WHOLE},
    {"MB", 1000000, WRITE_NEVER},
    {"MiB", 1024 * 1024, WRITE_WHOLE},
    {"GB", 1000000000, WRITE_NEVER},
    {"GiB", 1024 * 1024 * 1024, WRITE_WHOLE},
};
static const struct suffix share_suffixes[] = {
    {"ppm", 1000, WRITE_NEVER},
    {"%", 10000000, WRITE_ALWAYS},
};
static const struct suffix count_suffixes[] = {{"", 1, WRITE_ALWAYS}};

struct family {
  const char *noun;
  const char *listed; /* for messages */
  const char *zero;
  const struct suffix *suffixes;
  int count;
  int64_t whole_from; /* WRITE_WHOLE suffixes only for values this large: 1280B reads better than 1.25KiB */
};

#define TABLE(t) t, (int)(sizeof t / sizeof t[0])
static const struct family families[] = {
    [UNIT_COUNT] = {"a whole number", "", "0", TABLE(count_suffixes), 0},
    [UNIT_TIME] = {"a time", "ns us \xC2\xB5s ms s min h d", "0s", TABLE(time_suffixes), 0},
    [UNIT_RATE] = {"a rate", "bit/s kbit/s Mbit/s Gbit/s Tbit/s bps kbps Mbps Gbps", "0bit/s", TABLE(rate_suffixes), 0},
    [UNIT_SIZE] = {"a size", "B kB MB GB KiB MiB GiB", "0B", TABLE(size_suffixes), 10240},
    [UNIT_SHARE] = {"a share", "% ppm", "0%", TABLE(share_suffixes), 0},
};
enum { FAMILY_COUNT = sizeof families / sizeof families[0] };

/* (-1)^negative * digits * 10^exponent, as written; digits has no trailing decimal zero unless it is 0. */
struct decimal {
  bool negative;
  u128 digits;
  int exponent;
};

enum { DIGITS_MAX = 38 /* all that surely fit into 128 bits */, EXPONENT_MAX = 9999 };

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_blank(char c) { return c == ' ' || c == '\t'; }

/* Reads digits before or after the dot. False when there are more significant ones than fit. */
static bool read_digits(const char **at, struct decimal *d, int *significant, int *zeros, bool fraction) {
  for (; is_digit(**at); (*at)++) {
    if (fraction) d->exponent--;
    if (**at == '0') {
      (*zeros)++; /* counted in only when a digit follows */
      continue;
    }
    int places = *significant ? *zeros + 1 : 1;
    if (*significant + places > DIGITS_MAX) return false;
    *significant += places;
    for (; places > 0; places--) d->digits *= 10;
    d->digits += (unsigned)(**at - '0');
    *zeros = 0;
  }
  return true;
}

static int read_exponent(const char **at) {
  const char *p = *at;
  if (*p != 'e' && *p != 'E') return 0;
  p++;
  bool negative = *p == '-';
  if (*p == '-' || *p == '+') p++;
  if (!is_digit(*p)) return 0;
  int exponent = 0;
  for (; is_digit(*p); p++) exponent = exponent < EXPONENT_MAX ? exponent * 10 + (*p - '0') : exponent;
  *at = p;
  return negative ? -exponent : exponent;
}

enum reading { READ_OK, READ_NONE, READ_LONG };

/* JSON's and YAML's decimal forms: 1, -1.5, .5, 5., 1e-3, 1.0e10. */
static enum reading read_decimal(const char **at, struct decimal *d) {
  *d = (struct decimal){0};
  const char *p = *at;
  d->negative = *p == '-';
  if (*p == '-' || *p == '+') p++;
  if (!is_digit(*p) && !(*p == '.' && is_digit(p[1]))) return READ_NONE;
  int significant = 0, zeros = 0;
  if (!read_digits(&p, d, &significant, &zeros, false)) return READ_LONG;
  if (*p == '.') {
    p++;
    if (!read_digits(&p, d, &significant, &zeros, true)) return READ_LONG;
  }
  d->exponent += zeros; /* the trailing zeros that digits left out */
  d->exponent += read_exponent(&p);
  *at = p;
  return READ_OK;
}

enum fit { FIT_OK, FIT_FINE, FIT_LARGE };

/* Takes `factor` out of a*b as often as `times`; returns how often it was not in there. */
static int divide_out(u128 *a, u128 *b, unsigned factor, int times) {
  while (times > 0 && *a % factor == 0) {
    *a /= factor;
    times--;
  }
  while (times > 0 && *b % factor == 0) {
    *b /= factor;
    times--;
  }
  return times;
}

static enum fit to_base(const struct decimal *d, int64_t factor, int64_t *value) {
  if (d->digits == 0) {
    *value = 0;
    return FIT_OK;
  }
  u128 digits = d->digits, scale = (u128)factor;
  if (d->exponent < 0) {
    int twos = divide_out(&digits, &scale, 2, -d->exponent);
    int fives = divide_out(&digits, &scale, 5, -d->exponent);
    if (twos || fives) return FIT_FINE;
  }
  if (digits > INT64_MAX || digits * scale > INT64_MAX) return FIT_LARGE;
  u128 result = digits * scale;
  for (int i = 0; i < d->exponent; i++) {
    result *= 10;
    if (result > INT64_MAX) return FIT_LARGE;
  }
  *value = d->negative ? -(int64_t)result : (int64_t)result;
  return FIT_OK;
}

static const struct suffix *find_suffix(const struct family *family, const char *text, size_t length) {
  for (int i = 0; i < family->count; i++)
    if (strlen(family->suffixes[i].text) == length && memcmp(family->suffixes[i].text, text, length) == 0) return &family->suffixes[i];
  return NULL;
}

/* text is what was found, rest what stands where a suffix should. */
static int refuse_suffix(enum unit unit, const char *text, const char *rest, size_t length, struct err *e) {
  const struct family *family = &families[unit];
  if (*rest == ',') return err_add(e, ERR_INPUT, "found '%s', the decimal mark is a dot", text);
  if (*rest == 'x' || *rest == 'X') return err_add(e, ERR_INPUT, "found '%s', numbers are decimal", text);
  for (int other = 0; other < FAMILY_COUNT && length > 0; other++)
    if (other != (int)unit && find_suffix(&families[other], rest, length))
      return err_add(e, ERR_INPUT, "found '%s', which is %s; wanted is %s%s%s", text, families[other].noun, family->noun,
          unit == UNIT_COUNT ? " without a unit" : ", with one of ", family->listed);
  if (unit == UNIT_COUNT) return err_add(e, ERR_INPUT, "found '%s', allowed is a whole number without a unit", text);
  if (length == 0) return err_add(e, ERR_INPUT, "found '%s' without a unit, allowed are %s", text, family->listed);
  return err_add(e, ERR_INPUT, "found '%s' with the unknown unit '%.*s', allowed are %s (as written: small and capital letters differ)", text, (int)length,
      rest, family->listed);
}

static int refuse_value(enum unit unit, const char *text, enum fit fit, struct err *e) {
  char buffer[32];
  if (fit == FIT_LARGE) return err_add(e, ERR_INPUT, "found '%s', at most %s can be held", text, units_format(unit, INT64_MAX, buffer));
  if (unit == UNIT_COUNT) return err_add(e, ERR_INPUT, "found '%s', allowed is a whole number", text);
  if (unit == UNIT_SHARE) return err_add(e, ERR_INPUT, "found '%s', finer than 0.0000001%%", text);
  return err_add(e, ERR_INPUT, "found '%s', finer than 1%s", text, families[unit].suffixes[0].text);
}

int units_parse(enum unit unit, const char *text, int64_t *value, struct err *e) {
  const char *at = text;
  while (is_blank(*at)) at++;
  struct decimal decimal;
  enum reading reading = read_decimal(&at, &decimal);
  if (reading == READ_LONG) return err_add(e, ERR_INPUT, "found '%s', more than %d digits", text, DIGITS_MAX);
  if (reading == READ_NONE && *at == '\0') return err_add(e, ERR_INPUT, "found nothing, wanted is %s", families[unit].noun);
  if (reading == READ_NONE)
    return err_add(e, ERR_INPUT, "found '%s', which is not a number; wanted is %s%s%s", text, families[unit].noun, unit == UNIT_COUNT ? "" : ", with one of ",
        families[unit].listed);
  while (is_blank(*at)) at++;
  size_t length = strlen(at);
  while (length > 0 && is_blank(at[length - 1])) length--;
  if (unit == UNIT_SHARE && length == 0 && decimal.digits == 0) { /* none is none in any unit */
    *value = 0;
    return 0;
  }
  const struct suffix *suffix = find_suffix(&families[unit], at, length);
  if (!suffix) return refuse_suffix(unit, text, at, length, e);
  enum fit fit = to_base(&decimal, suffix->factor, value);
  return fit == FIT_OK ? 0 : refuse_value(unit, text, fit, e);
}

static bool may_write(const struct family *family, const struct suffix *suffix, uint64_t magnitude) {
  uint64_t factor = (uint64_t)suffix->factor;
  switch (suffix->writing) {
  case WRITE_NEVER:
    return false;
  case WRITE_DECIMAL:
    return magnitude >= factor;
  case WRITE_WHOLE:
    return magnitude % factor == 0 && magnitude >= (uint64_t)family->whole_from;
  case WRITE_ALWAYS:
    return true;
  }
  return false;
}

const char *units_format(enum unit unit, int64_t value, char buffer[32]) {
  const struct family *family = &families[unit];
  if (value == 0) {
    snprintf(buffer, 32, "%s", family->zero);
    return buffer;
  }
  uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  const struct suffix *suffix = &family->suffixes[family->count - 1];
  while (!may_write(family, suffix, magnitude)) suffix--; /* ends: each table has a suffix that may always be written */
  uint64_t factor = (uint64_t)suffix->factor;
  int length = snprintf(buffer, 32, "%s%" PRIu64, value < 0 ? "-" : "", magnitude / factor);
  uint64_t rest = magnitude % factor;
  if (rest) buffer[length++] = '.';
  while (rest) { /* ends: a factor that leaves a rest is a power of ten */
    factor /= 10;
    buffer[length++] = (char)('0' + rest / factor);
    rest %= factor;
  }
  snprintf(buffer + length, (size_t)(32 - length), "%s", suffix->text);
  return buffer;
}

const char *units_suffixes(enum unit unit) { return families[unit].listed; }

const char *real_format(double value, char buffer[32]) {
  if (isnan(value))
    snprintf(buffer, 32, "nan");
  else
    snprintf(buffer, 32, "%.9g", value == 0 ? 0.0 : value); /* no "-0" */
  return buffer;
}
