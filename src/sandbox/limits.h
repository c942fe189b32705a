/*
 * The numbers that bound one execution. Plain data, shared by policy (which chooses them) and the
 * sandbox (which enforces them). Zero is never "unlimited".
 */
#ifndef CS_SANDBOX_LIMITS_H
#define CS_SANDBOX_LIMITS_H

#include <stdint.h>

struct cs_limits {
    uint64_t wall_ms;
    uint64_t memory_bytes;
    uint32_t cpu_percent; /* of one core, after the burst */
    uint64_t cpu_burst_ms;
    uint32_t processes;
    uint32_t open_files;
    uint64_t stack_bytes;
    uint64_t scratch_bytes; /* /workspace and /tmp together */
    uint32_t scratch_files;
    uint64_t output_bytes; /* logs, stdout and stderr together */
    uint32_t log_lines;
    uint64_t result_bytes;
    uint32_t json_depth;
    uint32_t tool_calls;
};

#endif
