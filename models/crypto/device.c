/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/crypto/device.h"
#include "models/crypto/csv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLOCK, VOLTAGE, CURRENT, QUANTITIES };

static const struct unit {
  const char *name;
  int64_t scale;
} units[QUANTITIES][4] = {
    [CLOCK] = {{"GHz", 1000000000}, {"MHz", 1000000}, {"kHz", 1000}, {"Hz", 1}},
    [VOLTAGE] = {{"V", 1000000}, {"mV", 1000}, {"uV", 1}},
    [CURRENT] = {{"A", 1000000000}, {"mA", 1000000}, {"uA", 1000}, {"nA", 1}},
};

/* The bounds keep every product of device.h within 126 bits. */
static const struct {
  const char *name, *allowed;
  int64_t max;
} quantities[QUANTITIES] = {
    [CLOCK] = {"clock", "a frequency above 0 and up to 100GHz, such as 64MHz", INT64_C(100000000000)},
    [VOLTAGE] = {"voltage", "a voltage above 0 and up to 100V, such as 3V", 100000000},
    [CURRENT] = {"current", "a current above 0 and up to 10A, such as 3.3mA", INT64_C(10000000000)},
};

int device_quantity(const char *name) {
  for (int q = 0; q < QUANTITIES; q++)
    if (strcmp(quantities[q].name, name) == 0) return q;
  return -1;
}

static int64_t *member(struct device *device, int quantity) {
  return quantity == CLOCK ? &device->clock_hz : quantity == VOLTAGE ? &device->voltage_uv : &device->current_na;
}

/* Digits with at most one dot in units of `scale`; -1 when there are none, too many, or places below the unit's last. */
static int64_t read_decimal(const char *text, size_t length, int64_t scale, int64_t max) {
  int64_t value = 0, place = 0; /* place: 0 before the dot, then what the next digit counts */
  bool any = false;
  for (size_t i = 0; i < length; i++) {
    if (text[i] == '.' && !place) {
      place = scale;
      continue;
    }
    if (text[i] < '0' || text[i] > '9') return -1;
    int64_t digit = text[i] - '0';
    any = true;
    if (place) {
      if (place % 10 && digit) return -1;
      place = place >= 10 ? place / 10 : place;
      value += digit * place;
    } else {
      if (value > max) return -1;
      value = 10 * value + digit * scale;
    }
  }
  return any && value <= max ? value : -1;
}

bool device_read(int quantity, const char *text, struct device *device, const char **allowed) {
  size_t digits = strspn(text, "0123456789.");
  const char *unit = text + digits + strspn(text + digits, " ");
  *allowed = quantities[quantity].allowed;
  for (int u = 0; u < 4 && units[quantity][u].name; u++) {
    if (strcmp(units[quantity][u].name, unit) != 0) continue;
    int64_t value = read_decimal(text, digits, units[quantity][u].scale, quantities[quantity].max);
    if (value <= 0) return false;
    *member(device, quantity) = value;
    return true;
  }
  return false;
}

void device_complete(struct device *device, const struct device *from) {
  struct device other = *from;
  for (int q = 0; q < QUANTITIES; q++)
    if (!*member(device, q)) *member(device, q) = *member(&other, q);
}

/* ---- devices.csv ----------------------------------------------------------------------------------------------- */

enum { DEVICE, QUANTITY, VALUE, UNIT, CONDITION, SOURCE, NOTE, COLUMNS };
static const struct csv_column columns[COLUMNS] = {
    {"device", true}, {"quantity", true}, {"value", true}, {"unit", true}, {"condition", true}, {"source", true}, {"note", true}};

static void read_row(const struct csv *csv, const struct csv_row *row, const struct cost_sources *sources, struct device *found, struct err *e) {
  const char **c = row->cells, *allowed;
  char text[64];
  int quantity = device_quantity(c[QUANTITY]);
  if (!cost_source_find(sources, c[SOURCE]))
    err_add(e, ERR_INPUT, "%s:%d: column source: found '%s', allowed: an id of sources.csv in the data folder", csv->path, row->line, c[SOURCE]);
  if (quantity < 0) {
    err_add(e, ERR_INPUT, "%s:%d: column quantity: found '%s', allowed: clock, voltage, current", csv->path, row->line, c[QUANTITY]);
    return;
  }
  snprintf(text, sizeof text, "%s%s", c[VALUE], c[UNIT]);
  if (*member(found, quantity))
    err_add(e, ERR_INPUT, "%s:%d: %s of %s is stated twice", csv->path, row->line, c[QUANTITY], c[DEVICE]);
  else if (!device_read(quantity, text, found, &allowed))
    err_add(e, ERR_INPUT, "%s:%d: column value: found '%s', allowed: %s", csv->path, row->line, text, allowed);
}

static bool is_first(const struct csv *csv, int row) {
  for (int i = 0; i < row; i++)
    if (strcmp(csv->rows[i].cells[DEVICE], csv->rows[row].cells[DEVICE]) == 0) return false;
  return true;
}

static int unknown_device(const struct csv *csv, const char *name, const char *asked_by, struct err *e) {
  char all[512] = "";
  size_t used = 0;
  for (int i = 0; i < csv->row_count && used < sizeof all; i++)
    if (is_first(csv, i)) used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", used ? ", " : "", csv->rows[i].cells[DEVICE]);
  return err_add(e, ERR_INPUT,
      "%sdevice '%s' is not in devices.csv; there are %s; one of your own is stated by lines '# clock: 64MHz', '# voltage: 3V', '# current: 3.3mA' and "
      "'# device-source: own'",
      asked_by, name, all);
}

int device_load(const char *name, const struct cost_sources *sources, const char *asked_by, struct device *out, struct err *e) {
  char path[4096];
  int before = e->count;
  snprintf(path, sizeof path, "%s/devices.csv", cost_data_dir());
  struct csv *csv;
  int code = csv_read(path, columns, COLUMNS, &csv, e);
  if (!csv) return code;
  struct device found = {0};
  bool any = false;
  for (int i = 0; i < csv->row_count; i++) {
    if (strcmp(csv->rows[i].cells[DEVICE], name) != 0) continue;
    read_row(csv, &csv->rows[i], sources, &found, e);
    any = true;
  }
  if (!any) unknown_device(csv, name, asked_by, e);
  device_complete(out, &found);
  csv_free(csv);
  return e->count > before ? ERR_INPUT : 0;
}

/* ---- Time and energy ------------------------------------------------------------------------------------------- */

int64_t device_power_fw(const struct device *device) { return device->voltage_uv * device->current_na; }

static unsigned __int128 rounded(unsigned __int128 sum, unsigned __int128 by) { return (sum + by / 2) / by; }

int64_t device_ns(const struct device *device, int64_t cycles, int64_t max_ns) {
  unsigned __int128 ns = rounded((unsigned __int128)(uint64_t)cycles * 1000000000, (uint64_t)device->clock_hz);
  return ns <= (uint64_t)max_ns ? (int64_t)ns : -1;
}

/* fW * s = 1e-15 J; a nJ has 1e6 of them. */
int64_t device_energy_nj(const struct device *device, int64_t millicycles) {
  unsigned __int128 product = (unsigned __int128)(uint64_t)millicycles * (uint64_t)device_power_fw(device);
  return (int64_t)rounded(product, (unsigned __int128)(uint64_t)device->clock_hz * 1000 * 1000000);
}
