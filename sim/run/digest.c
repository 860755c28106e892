/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/run/digest.h"
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct digest {
  EVP_MD_CTX *context;
};

struct digest *digest_begin(void) {
  struct digest *digest = malloc(sizeof *digest);
  if (!digest) abort();
  digest->context = EVP_MD_CTX_new();
  if (!digest->context || EVP_DigestInit_ex(digest->context, EVP_sha256(), NULL) != 1) abort();
  return digest;
}

void digest_add(struct digest *digest, const void *bytes, size_t size) {
  if (EVP_DigestUpdate(digest->context, bytes, size) != 1) abort();
}

void digest_add_text(struct digest *digest, const char *text) { digest_add(digest, text, strlen(text) + 1); }

void digest_end(struct digest *digest, char hex[DIGEST_HEX]) {
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  if (EVP_DigestFinal_ex(digest->context, bytes, &size) != 1 || 2 * size + 1 != DIGEST_HEX) abort();
  for (unsigned i = 0; i < size; i++) snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
  EVP_MD_CTX_free(digest->context);
  free(digest);
}
