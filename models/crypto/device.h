/* SPDX-License-Identifier: GPL-2.0-or-later */
/* device: what turns cycles into time and energy.
 *
 * Purpose:   clock, supply voltage and the current of the running processor, from calib/data/devices.csv
 *            (device,quantity,value,unit,condition,source,note) or from lines `# clock: 64MHz` of a platform file.
 * Units:     Hz, microvolts, nanoamperes; 0 where it is not stated.
 * Exactness: time = cycles / clock and energy = voltage * current * time, in whole numbers, rounded once to the nearest ns
 *            and nJ. 595793 cycles at 64 MHz are 9309265.625 ns; at 3 V and 3.3 mA (9.9 mW) that is 92161.73 nJ.
 * Errors:    ERR_INPUT with file, line, column, found, allowed.
 */
#ifndef PQNETSIM_DEVICE_H
#define PQNETSIM_DEVICE_H

#include "models/crypto/cost.h"

struct device {
  int64_t clock_hz, voltage_uv, current_na;
};

/* "clock", "voltage", "current"; -1 for anything else. */
int device_quantity(const char *name);
/* "64MHz", "3 V", "3.3mA" as the quantity of that number; false when it is none or out of range: *allowed then says what is. */
bool device_read(int quantity, const char *text, struct device *device, const char **allowed);

/* A device of devices.csv; fills what *out does not have. asked_by goes before the message when there is none of that name. */
int device_load(const char *name, const struct cost_sources *sources, const char *asked_by, struct device *out, struct err *e) MUST_CHECK;

/* Takes from `from` what `device` does not have. */
void device_complete(struct device *device, const struct device *from);

/* voltage * current in femtowatts, 0 when one is not known. */
int64_t device_power_fw(const struct device *device);
/* Nearest ns; -1 when beyond max_ns. The clock must be known. */
int64_t device_ns(const struct device *device, int64_t cycles, int64_t max_ns);
/* Nearest nJ of that many thousandths of a cycle. Clock and power must be known. */
int64_t device_energy_nj(const struct device *device, int64_t millicycles);

#endif
