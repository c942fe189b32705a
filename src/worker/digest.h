/*
 * Digests and the seeded random generator, for the program's `crypto`.
 *
 * Runs in: the worker. Written here because the worker links no crypto library: what the jailed
 * process does not load cannot be attacked or used. The digests are for the program's own use;
 * nothing of ours relies on them.
 */
#ifndef CS_WORKER_DIGEST_H
#define CS_WORKER_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

#define CS_DIGEST_MAX 64

/* "sha-1", "sha-256", "sha-384", "sha-512" or "md5"; the number of bytes, or 0 if unknown. */
size_t cs_hash(struct cs_str name, struct cs_str data, unsigned char out[CS_DIGEST_MAX]);

/* ChaCha20's key stream over a recorded seed: an execution's randomness can be replayed. */
struct cs_random {
    uint32_t key[8];
    uint64_t counter;
    unsigned char block[64];
    size_t used; /* bytes of block handed out */
};

void cs_random_seed(struct cs_random *r, const uint64_t seed[2]);
void cs_random_fill(struct cs_random *r, void *to, size_t n);

#endif
