/*
 * Whole directories: copied, measured, removed, without ever following a link.
 *
 * Runs in: daemon, thread pool (they block). The content is a hostile program's: odd names,
 * unreadable directories, deep nesting, pipes and sparse giants are expected. Limits:  struct
 * cs_folder_size for bytes and files; CS_FOLDER_DEPTH levels; deeper ones are left out by copying,
 * and still removed.
 */
#ifndef CS_SANDBOX_FOLDER_H
#define CS_SANDBOX_FOLDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/err.h"

#define CS_FOLDER_DEPTH 64

struct cs_folder_size {
    uint64_t bytes, bytes_max; /* max 0: no limit */
    uint32_t files, files_max;
};

/* Regular files and directories of `from` to the same names in `to` (both directory fds, borrowed).
 * Stops with CS_LIMIT at the maximum. Existing regular files are replaced. */
int cs_folder_copy(int from, int to, struct cs_folder_size *size, struct cs_err *err);

/* Up to `max` bytes from one file to the other; -1 with errno. */
int cs_folder_copy_bytes(int in, int out, uint64_t max);

/* Is there a file of this name in `at`, of the same size and time of its last change? */
bool cs_folder_same_file(int at, const char *name, const struct stat *st);

/* Would copying change nothing, and leave nothing of `b` behind? By names, sizes and the times of
 * the last change. */
bool cs_folder_same(int a, int b);

/* Adds up a tree, the top included. What cannot be read counts as nothing. */
void cs_folder_measure(int at, const char *name, struct cs_folder_size *size);

/* Removes a tree, the top included; makes directories accessible where it must. -1 with errno. */
int cs_folder_remove(int at, const char *name);

#endif
