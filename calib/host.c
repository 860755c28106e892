/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calib/host.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

/* The value of a line "key<blanks>: value"; NULL when the line is of another key. */
static const char *value_of(const char *line, const char *key) {
  size_t length = strlen(key);
  const char *colon = strchr(line, ':');
  if (strncmp(line, key, length) || !colon || strspn(line + length, " \t") != (size_t)(colon - line) - length) return NULL;
  return colon + 1 + strspn(colon + 1, " \t");
}

/* x86 has "model name"; ARM has numbers there and a name in the device tree. */
static void read_cpu(char *cpu, size_t size) {
  char line[4096], part[32] = "";
  bool is_virtual = false;
  FILE *from = fopen("/proc/cpuinfo", "re");
  while (from && fgets(line, sizeof line, from)) {
    line[strcspn(line, "\n")] = '\0';
    const char *name = value_of(line, "model name"), *flags = value_of(line, "flags"), *number = value_of(line, "CPU part");
    if (name && !*cpu) snprintf(cpu, size, "%.120s", name);
    if (number) snprintf(part, sizeof part, "%.20s", number);
    if (flags && strstr(flags, " hypervisor")) is_virtual = true;
  }
  if (from) fclose(from);
  from = *cpu ? NULL : fopen("/proc/device-tree/model", "re");
  if (from && fgets(line, sizeof line, from)) snprintf(cpu, size, "%.100s%s%s", line, *part ? ", part " : "", part);
  if (from) fclose(from);
  if (!*cpu) snprintf(cpu, size, "unknown%s%s", *part ? ", part " : "", part);
  if (is_virtual) strncat(cpu, ", virtual machine", size - strlen(cpu) - 1);
}

void host_describe(struct host *host) {
  struct utsname name;
  *host = (struct host){.cpu = ""};
  read_cpu(host->cpu, sizeof host->cpu);
  uname(&name);
  snprintf(host->kernel, sizeof host->kernel, "%.30s %.40s %.20s", name.sysname, name.release, name.machine);
  time_t now = time(NULL);
  strftime(host->date, sizeof host->date, "%Y-%m-%d", gmtime(&now));
}
