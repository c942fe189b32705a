/*
 * Control groups as files: where each controller is, groups made below our own, values read and
 * written. Knows version 1, version 2 and machines that mix them.
 *
 * Runs in: daemon, loop thread; the probe. cgroupfs answers from memory and does not block.
 */
#ifndef CS_SANDBOX_CGROUP_H
#define CS_SANDBOX_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"

enum cs_controller { CS_MEMORY, CS_PIDS, CS_CPU, CS_CPUACCT, CS_CONTROLLERS };

struct cs_cgroup_place {
    int version;     /* 1, 2, or 0: not there */
    char path[4096]; /* the directory of the group that this process is in */
};

/* Finds one controller. `cgroup` and `mountinfo` are the texts of those files in /proc/self. For
 * version 2 it only says where the tree is, not whether the controller is in it. */
void cs_cgroup_find(struct cs_str cgroup, struct cs_str mountinfo, enum cs_controller controller,
                    struct cs_cgroup_place *place);

/*
 * Our own group `name` below the current one, for the controllers in `wanted` (a mask); others'
 * groups whose owners are dead are removed on the way. `*dir` is its directory, locked as long as
 * it is open; `*got` the controllers that can be used below it. -1 (errno is set) if there is none:
 * no permission, or the tree is not ours to divide.
 */
int cs_cgroup_own(const struct cs_cgroup_place *place, const char *name, unsigned wanted, int *dir,
                  unsigned *got);

/* A group below another one. -1 with errno. */
int cs_cgroup_make(int parent, const char *name);

/* One value. -1 with errno. */
int cs_cgroup_write(int dir, const char *file, const char *value);
int cs_cgroup_write_u64(int dir, const char *file, uint64_t value);

/* The whole of a small file as a C string; false if it is not there. */
bool cs_cgroup_read(int dir, const char *file, char *text, size_t size);

/* The number behind `key` in a file of "key number" lines, or the first number if key is NULL. */
bool cs_cgroup_read_u64(int dir, const char *file, const char *key, uint64_t *value);

#endif
