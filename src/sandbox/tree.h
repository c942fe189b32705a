/*
 * A jailed process tree as seen from outside, through /proc: for machines without control groups.
 *
 * Runs in: daemon, loop thread. A walk costs some 30 us per process.
 */
#ifndef CS_SANDBOX_TREE_H
#define CS_SANDBOX_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A tree larger than this is cut: the process limit lies far below. */
#define CS_TREE_MAX 4096

struct cs_tree_use {
    uint64_t memory; /* anonymous and shared memory, resident */
    uint64_t cpu_us; /* of what lives, and of what was waited for */
    uint32_t tasks;
};

/* Adds up the process `root` and everything below it. False if it is not there any more. */
bool cs_tree_measure(pid_t root, struct cs_tree_use *use);

/* What the tree really occupies: memory that its processes share is counted once. Slow (some
 * milliseconds), so for when the quick sum alarms. 0 if the kernel does not say. */
uint64_t cs_tree_memory(pid_t root);

/* Sends `signal` to the whole tree, the root first. */
void cs_tree_signal(pid_t root, int signal);

/* CPU time of one process, exactly. False if it is gone. */
bool cs_tree_cpu(pid_t pid, uint64_t *cpu_us);

#endif
