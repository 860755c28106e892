/* SPDX-License-Identifier: GPL-3.0-or-later */
/* digest: SHA-256 as hex text.
 *
 * Purpose:   run keys and file hashes; the one file that needs OpenSSL.
 * Ownership: digest_begin gives what digest_end frees.
 * Errors:    none for the caller; a library without SHA-256 aborts.
 * Sources:   FIPS 180-4 (by OpenSSL's EVP interface).
 */
#ifndef PQNETSIM_DIGEST_H
#define PQNETSIM_DIGEST_H

#include <stddef.h>

enum { DIGEST_HEX = 65 }; /* 64 digits and the NUL */

struct digest;

struct digest *digest_begin(void);
void digest_add(struct digest *digest, const void *bytes, size_t size);
/* The text and its NUL, so that ("ab", "c") and ("a", "bc") differ. */
void digest_add_text(struct digest *digest, const char *text);
void digest_end(struct digest *digest, char hex[DIGEST_HEX]);

#endif
