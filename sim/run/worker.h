/* SPDX-License-Identifier: GPL-2.0-or-later */
/* worker: one process that runs points for another, over a pair of pipes. The same for native (a fork of pqnetsim) and
 * ns3 (pqnetsim-ns3, found beside the program), so a crash inside a model or inside ns-3 fails one point.
 *
 * Format:    frames of a 4-byte little-endian length and that many bytes. Texts inside lines escape '\\', tab and
 *            newline as \\ \t \n.
 *            Hello, the worker's first frame: one line "pqnetsim-worker FORMAT VERSION BACKEND CAPS".
 *            Request: lines "key\tvalue" (point, domain, base_dir, seed, first, count), "algorithm\tLINE" for each that the
 *            scenario defines (alg_own_write), "group\tNAME" for each group, then "p\tKEY\tTEXT" for each parameter of domain and groups that is set.
 *            Answer: lines "point\tN" and "ok" or "error CODE"; then blocks of a 4-byte length and bytes: metric_bytes
 *            of every metric and the warnings, or the error's text alone.
 * Order:     answers in the order of the requests.
 * Ownership: what is encoded or decoded into a char ** is malloc'd and the caller's.
 * Errors:    a request that cannot be read or run is answered with an error; a damaged frame ends the worker.
 */
#ifndef PQNETSIM_WORKER_H
#define PQNETSIM_WORKER_H

#include "sim/run/run.h"

/* Frames above this are noise on the pipe, not an answer. */
#define WORKER_FRAME_MAX (UINT32_C(256) << 20)

struct worker_job {
  int64_t point;
  const struct roster *roster;
  const struct config *config;
  const char *base_dir;
  uint64_t seed;
  int first, count;
};

/* Child side: answers requests on in_fd/out_fd until end of file. Returns the exit status. */
int worker_serve(const struct net_ops *ops, int in_fd, int out_fd);

/* Encoding for both sides (malloc'd, frame length included). metrics is ignored when failure is given. */
unsigned char *worker_encode_job(const struct worker_job *job, size_t *size);
unsigned char *worker_encode_result(
    int64_t point, const struct metric_set *metrics, int metric_count, const char *warnings, const struct err *failure, size_t *size);
/* Decodes an answer (without the length). metrics is of the job's roster. failure gets the worker's error, warnings is
 * "" then. ERR_SYSTEM when the bytes are not an answer. */
int worker_decode_result(
    const unsigned char *bytes, size_t size, int64_t *point, struct metric_set *metrics, int metric_count, char **warnings, struct err *failure) MUST_CHECK;

/* Checks a hello (without the length) against this program's format and version; *caps gets the backend's. */
int worker_decode_hello(const unsigned char *bytes, size_t size, const char *backend, unsigned *caps, struct err *e) MUST_CHECK;

/* Frame length as the 4 bytes say. */
uint32_t worker_frame_length(const unsigned char bytes[4]);

#endif
