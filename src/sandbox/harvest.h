/*
 * What a program left in /workspace/out: found, checked, and moved or copied to a directory of
 * ours, where the files are called "0", "1", "2", ...
 *
 * Runs in: daemon, thread pool (it blocks), after the last process of the program is dead.
 * Owner:   the caller; cs_harvest_free removes the files, so it belongs into the pool too.
 * Limits:  below. What exceeds them is left out, and so are links, special files, and names that
 *          are not UTF-8 or have control characters; the first few are named in `notes`.
 */
#ifndef CS_SANDBOX_HARVEST_H
#define CS_SANDBOX_HARVEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

#define CS_HARVEST_FILES 100
#define CS_HARVEST_DEPTH 16
#define CS_HARVEST_NAME  255         /* bytes of a path below out */
#define CS_HARVEST_BYTES (64u << 20) /* of one file */
#define CS_HARVEST_NOTES 5

struct cs_harvested {
    struct cs_str name; /* path below out */
    uint64_t size;
};

struct cs_harvest {
    char *dir;
    struct cs_harvested files[CS_HARVEST_FILES]; /* in the order of their names */
    uint32_t count;
    uint32_t left_out;             /* files and other things that are not among them */
    char *notes[CS_HARVEST_NOTES]; /* "'big.bin' has more than 67108864 bytes" */
    uint32_t note_count;
};

/*
 * `workspace`: where "out" is, or is not. `before`: what /workspace was at first, NULL if it was
 * empty: files that are still the same are not taken. `move`: they need not stay where they are,
 * and `dir`, which is made, is on the same file system. `bytes_max`: of all files together. NULL:
 * there is nothing.
 */
struct cs_harvest *cs_harvest(int workspace, const char *before, const char *dir, bool move,
                              uint64_t bytes_max);
/* Opens file `i` for reading; -1 with errno. */
int cs_harvest_open(const struct cs_harvest *harvest, uint32_t i);
void cs_harvest_free(struct cs_harvest *harvest);

#endif
