/* SPDX-License-Identifier: GPL-3.0-or-later */
/* host: what a measurement was made on.
 *
 * Purpose:   names the processor, the kernel and the day for the head of a platform file.
 * Ownership: plain text in the struct.
 * Errors:    what the machine does not tell is said to be unknown.
 */
#ifndef PQNETSIM_HOST_H
#define PQNETSIM_HOST_H

struct host {
  char cpu[160];   /* "AMD EPYC, virtual machine" */
  char kernel[96]; /* "Linux 6.1.0-18-amd64 x86_64" */
  char date[16];   /* "2026-03-01", UTC */
};

void host_describe(struct host *host);

#endif
