/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Signatures as `openssl speed` makes them, by the clock and the sample plan of `calibrate measure`: bytes that are not hashed (36 with
 * PKCS#1 v1.5, 20 for ECDSA), context reused. calibrate measure itself signs and verifies as TLS does: RSA with PSS, SHA-256, a new context.
 * usage: speed_bench rsa2048|ecdsap256 CORE      Prints a line `operation mean_ns` for sign and for verify. */
#include "calib/measure.h"
#include "calib/operations_work.h"

#include <openssl/rsa.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int plain_bytes(const struct operation_work *work) { return work->by->bits ? 36 : 20; }

static EVP_PKEY_CTX *plain_context(const struct operation_work *work, int (*init)(EVP_PKEY_CTX *)) {
  EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_pkey(NULL, work->own, NULL);
  return ctx && init(ctx) > 0 && (!work->by->bits || EVP_PKEY_CTX_set_rsa_padding(ctx, RSA_PKCS1_PADDING) > 0) ? ctx : NULL;
}

static bool call_sign(struct operation_work *work, int i) {
  work->output_size = BUFFER;
  return i >= 0 && EVP_PKEY_sign(work->own_ctx, work->output, &work->output_size, work->input, (size_t)plain_bytes(work)) > 0;
}

static bool call_verify(struct operation_work *work, int i) {
  return i >= 0 && EVP_PKEY_verify(work->peer_ctx, work->output, work->output_size, work->input, (size_t)plain_bytes(work)) > 0;
}

static enum operation_state open_plain(struct operation_work *work) {
  work->generate = EVP_PKEY_CTX_new_from_name(NULL, work->by->library_name, NULL);
  if (!work->generate || EVP_PKEY_keygen_init(work->generate) <= 0 ||
      (work->by->bits ? EVP_PKEY_CTX_set_rsa_keygen_bits(work->generate, work->by->bits) : EVP_PKEY_CTX_set_group_name(work->generate, work->by->group)) <= 0 ||
      EVP_PKEY_generate(work->generate, &work->own) <= 0)
    return OPERATION_MISSING;
  work->own_ctx = plain_context(work, EVP_PKEY_sign_init);
  work->peer_ctx = plain_context(work, EVP_PKEY_verify_init);
  operation_random(work->input, (size_t)plain_bytes(work));
  return work->own_ctx && work->peer_ctx && call_sign(work, 0) ? OPERATION_READY : OPERATION_WRONG;
}

static const char *check(struct operation_work *work) { return call_verify(work, 0) ? NULL : "the signature does not verify"; }

static const struct operation_step steps[] = {
    {"sign", "", NULL, call_sign, check, false, false, 0},
    {"verify", "", NULL, call_verify, check, false, false, 0},
};
static const struct operation_family family = {open_plain, steps, LENGTH(steps)};
static const struct operation_algorithm algorithms[] = {
    {"rsa2048", "RSA", NULL, NULL, 2048, 0, NULL, &family},
    {"ecdsap256", "EC", "P-256", NULL, 0, 0, NULL, &family},
};

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  struct clock clock;
  char text[CLOCK_TEXT];
  bool refused;
  const struct operation_algorithm *by = NULL;
  for (int a = 0; argc == 3 && a < LENGTH(algorithms); a++)
    if (!strcmp(argv[1], algorithms[a].title)) by = &algorithms[a];
  if (!by) {
    fprintf(stderr, "usage: speed_bench rsa2048|ecdsap256 CORE\n");
    return 2;
  }
  if (clock_pin(atoi(argv[2]), &refused, text) < 0) fprintf(stderr, "speed_bench: not bound to a core: %s\n", text);
  clock_open(&clock);
  for (int s = 0; s < LENGTH(steps); s++) {
    const struct operation operation = {.algorithm = by->title, .operation = steps[s].name, .samples = SAMPLES, .by = by, .step = &steps[s]};
    struct measure measure;
    struct measure_row row;
    measure_open(&measure, &operation, 0, 2);
    for (int pass = 0; pass < MEASURE_PASSES && measure.state == OPERATION_READY; pass++) measure_pass(&measure, &clock, pass);
    if (measure.state != OPERATION_READY) {
      fprintf(stderr, "speed_bench: %s\n", measure.reason);
      return 1;
    }
    qsort(measure.ns, (size_t)measure.n, sizeof(double), ascending);
    measure_make_row(measure.ns, measure.n, false, &row);
    printf("%s %.0f\n", operation.operation, measure_row_mean(&row));
    measure_close(&measure);
  }
  return 0;
}
