/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/run/range.h"

enum { LEAST_DIGITS = 3, MOST_DIGITS = 12 };

static double power(double base, int exponent) {
  double result = 1;
  for (; exponent; exponent >>= 1, base *= base)
    if (exponent & 1) result *= base;
  return result;
}

/* The factor whose steps-1st power is to/from, by halving an interval that holds it until no double lies between. */
static double step_factor(double ratio, int exponent) {
  double low = 1, high = ratio;
  for (;;) {
    double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return low;
    if (power(middle, exponent) <= ratio)
      low = middle;
    else
      high = middle;
  }
}

/* To `digits` significant digits, half up; exact halves count as halves although the factor is only nearly right. */
static int64_t round_digits(double value, int digits, int64_t quantum) {
  double unit = 1;
  for (double rest = value; rest >= 10; rest /= 10) unit *= 10;
  for (int i = 1; i < digits && unit > 1; i++) unit /= 10;
  int64_t count = (int64_t)(value / unit * (1 + 1e-11) + 0.5), rounded = count * (int64_t)unit;
  return (rounded + quantum / 2) / quantum * quantum;
}

static bool grows(const int64_t *values, int steps) {
  for (int i = 1; i < steps; i++)
    if (values[i] <= values[i - 1]) return false;
  return true;
}

static void fill_linear(int64_t from, int64_t to, int steps, int64_t quantum, int64_t *values) {
  for (int i = 1; i < steps - 1; i++) {
    __int128 span = ((__int128)to - from) * i, divisor = (__int128)(steps - 1) * quantum;
    __int128 numerator = (__int128)from * (steps - 1) + span; /* value * (steps - 1) */
    __int128 doubled = 2 * numerator + divisor, quotient = doubled / (2 * divisor);
    if (doubled % (2 * divisor) < 0) /* division truncates, rounding half up needs the floor */
      quotient--;
    values[i] = (int64_t)(quotient * quantum);
  }
}

bool range_fill(enum range_scale scale, int64_t from, int64_t to, int steps, int64_t quantum, int64_t *values) {
  values[0] = from;
  values[steps - 1] = to;
  if (scale == RANGE_LINEAR) {
    fill_linear(from, to, steps, quantum, values);
    return grows(values, steps);
  }
  double factor = step_factor((double)to / (double)from, steps - 1);
  for (int digits = LEAST_DIGITS; digits <= MOST_DIGITS; digits++) {
    double value = (double)from;
    for (int i = 1; i < steps - 1; i++) {
      value *= factor;
      values[i] = round_digits(value, digits, quantum);
    }
    if (grows(values, steps)) return true;
  }
  return false;
}
