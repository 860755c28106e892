/* SPDX-License-Identifier: GPL-3.0-or-later */
/* algorithms: the `algorithms:` part of a scenario, algorithms of the user's own.
 *
 * Purpose:   {mykem: {type: kem, public_key: 1184B, ciphertext: 1088B}} into the set of alg_own.h. What --set gives goes over
 *            what the file gives, field by field.
 * Order:     before anything is read that may name them.
 * Defaults:  title: the name. shared_secret: 32B. nist_category: none stated. classical_bits, quantum_bits: those of the
 *            category (alg.h); without one, category 1's for kem and signature, 128 and 0 for kex.
 * Errors:    into the problem list.
 */
#ifndef PQNETSIM_ALGORITHMS_H
#define PQNETSIM_ALGORITHMS_H

#include "models/crypto/alg.h"
#include "sim/run/load.h"

#define ALGORITHMS_KEY "algorithms"

/* The section and every key below it. */
bool algorithms_is_key(const char *key);

/* maps[0]: the file, then one for each --set; any may be NULL. */
void algorithms_read(struct load *load, const struct yaml_node *const *maps, int count);

/* A definition with everything resolved, in the form of the file. */
const char *algorithms_text(struct arena *arena, const struct alg *alg);

#endif
