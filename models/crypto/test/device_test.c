/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: models/crypto/device.o models/crypto/cost_data.o models/crypto/csv.o sim/core/err.o
#include "models/crypto/device.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static char folder[64];

static void write_file(const char *name, const char *text) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static void test_quantities_as_they_are_written(void **state) {
  (void)state;
  static const struct {
    const char *quantity, *text;
    int64_t value; /* 0: refused */
  } rows[] = {
      {"clock", "64MHz", 64000000},
      {"clock", "64 MHz", 64000000},
      {"clock", "1.5GHz", 1500000000},
      {"clock", "32768Hz", 32768},
      {"clock", "100GHz", INT64_C(100000000000)},
      {"clock", "100.1GHz", 0},
      {"clock", "0.5Hz", 0},
      {"clock", "0.50Hz", 0},
      {"clock", "1.0Hz", 1},
      {"clock", "64", 0},
      {"clock", "64mhz", 0},
      {"clock", "0MHz", 0},
      {"clock", "-1MHz", 0},
      {"clock", "1e6Hz", 0},
      {"clock", ".MHz", 0},
      {"clock", "1.2.3MHz", 0},
      {"clock", "99999999999999999999GHz", 0},
      {"voltage", "3V", 3000000},
      {"voltage", "1.8V", 1800000},
      {"voltage", "1800mV", 1800000},
      {"voltage", "100V", 100000000},
      {"voltage", "101V", 0},
      {"voltage", "0.0000001V", 0},
      {"current", "3.3mA", 3300000},
      {"current", "3300uA", 3300000},
      {"current", "10A", INT64_C(10000000000)},
      {"current", "11A", 0},
      {"current", "3V", 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct device device = {0};
    const char *allowed = NULL;
    int quantity = device_quantity(rows[i].quantity);
    bool well = device_read(quantity, rows[i].text, &device, &allowed);
    int64_t value = quantity == 0 ? device.clock_hz : quantity == 1 ? device.voltage_uv : device.current_na;
    if (well != (rows[i].value > 0) || value != rows[i].value) fail_msg("%s: %lld", rows[i].text, (long long)value);
    assert_non_null(allowed);
  }
  assert_int_equal(device_quantity("power"), -1);
}

/* 595793 / 64e6 s = 9309265.625 ns; 9.9 mW * 9309265.625 ns = 92161.7297 nJ. */
static void test_time_and_energy(void **state) {
  (void)state;
  const struct device device = {64000000, 3000000, 3300000};
  assert_int_equal(device_ns(&device, 595793, INT64_MAX), 9309266);
  assert_int_equal(device_ns(&device, 0, 0), 0);
  assert_int_equal(device_ns(&device, 64, 1000), 1000);
  assert_int_equal(device_ns(&device, 65, 1000), -1); /* 1015.6 */
  assert_true(device_power_fw(&device) == INT64_C(9900000000000));
  assert_int_equal(device_energy_nj(&device, INT64_C(595793000)), 92162);
  assert_int_equal(device_energy_nj(&device, INT64_C(64000000000)), 9900000); /* a second */
  /* the largest of everything: 1e15 cycles at 1 GHz are 1e6 s; 100 V * 10 A = 1 kW: 1e9 J */
  const struct device largest = {INT64_C(1000000000), 100000000, INT64_C(10000000000)};
  assert_true(device_energy_nj(&largest, INT64_C(1000000000000000000)) == INT64_C(1000000000000000000));
  assert_int_equal(device_power_fw(&(struct device){1, 0, 1}), 0);
}

static void test_what_is_missing_is_taken_over(void **state) {
  (void)state;
  struct device device = {.clock_hz = 1};
  device_complete(&device, &(struct device){2, 3, 0});
  assert_true(device.clock_hz == 1 && device.voltage_uv == 3 && device.current_na == 0);
}

static void test_rows_of_devices(void **state) {
  (void)state;
  static const struct {
    const char *rows, *says;
  } bads[] = {
      {"x,clock,64,MHz,,gone,\n", "devices.csv:2: column source: found 'gone', allowed: an id of sources.csv in the data folder\n"},
      {"x,power,3,W,,lab,\n", "devices.csv:2: column quantity: found 'power', allowed: clock, voltage, current\n"},
      {"x,clock,64,,,lab,\n", "devices.csv:2: column value: found '64', allowed: a frequency above 0 and up to 100GHz, such as 64MHz\n"},
      {"x,clock,64,MHz,,lab,\nx,clock,32,MHz,,lab,\n", "devices.csv:3: clock of x is stated twice\n"},
      {"y,clock,64,MHz,,lab,\nz,clock,64,MHz,,lab,\nz,voltage,64,V,,lab,\n", "here: device 'x' is not in devices.csv; there are y, z; one of your own"},
  };
  snprintf(folder, sizeof folder, "/tmp/device_test.XXXXXX");
  assert_non_null(mkdtemp(folder));
  cost_set_data_dir(folder);
  write_file("sources.csv", "id,kind,author,title,year,where,licence,note\nlab,measurement,,t,,here,,\n");
  struct cost_sources *sources;
  struct err e = {0};
  assert_int_equal(cost_sources_load(&sources, &e), 0);
  char text[512];
  for (size_t i = 0; i < sizeof bads / sizeof *bads; i++) {
    struct device device = {0};
    snprintf(text, sizeof text, "device,quantity,value,unit,condition,source,note\n%s", bads[i].rows);
    write_file("devices.csv", text);
    assert_int_equal(device_load("x", sources, "here: ", &device, &e), ERR_INPUT);
    if (!strstr(e.text, bads[i].says) || e.count != 1) fail_msg("%s", e.text);
    err_free(&e);
  }
  write_file("devices.csv", "device,quantity,value,unit,condition,source,note\ny,clock,1,Hz,,lab,\nx,clock,16,MHz,,lab,\nx,voltage,1.8,V,,lab,\n");
  struct device device = {.voltage_uv = 5};
  assert_int_equal(device_load("x", sources, "", &device, &e), 0);
  assert_true(device.clock_hz == 16000000 && device.voltage_uv == 5 && device.current_na == 0);
  cost_sources_free(sources);
  cost_set_data_dir(NULL);
  snprintf(text, sizeof text, "%s/devices.csv", folder);
  unlink(text);
  snprintf(text, sizeof text, "%s/sources.csv", folder);
  unlink(text);
  assert_int_equal(rmdir(folder), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_quantities_as_they_are_written),
      cmocka_unit_test(test_time_and_energy),
      cmocka_unit_test(test_what_is_missing_is_taken_over),
      cmocka_unit_test(test_rows_of_devices),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
