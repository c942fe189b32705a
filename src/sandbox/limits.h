/*
 * The numbers that bound one execution. Plain data, shared by policy (which chooses them) and the
 * sandbox (which enforces them). Zero is never "unlimited".
 *
 * One table is the truth: the struct, the names in messages and on the command line, the defaults
 * and the help text all come from it.
 */
#ifndef CS_SANDBOX_LIMITS_H
#define CS_SANDBOX_LIMITS_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* id, field and name, unit, default, what it bounds */
#define CS_LIMITS(X)                                                                           \
    X(WALL_CLOCK, wall_clock, "ms", 30000, "time from start to end")                           \
    X(MEMORY, memory, "bytes", 512ull << 20, "memory of the whole process tree")               \
    X(CPU, cpu, "percent", 50, "share of one core, once the burst is used up")                 \
    X(CPU_BURST, cpu_burst, "ms", 2000, "processor time at full speed before the share holds") \
    X(PROCESSES, processes, "processes", 64, "processes and threads of a guest")               \
    X(OPEN_FILES, open_files, "files", 256, "open files of a guest, per process")              \
    X(STACK, stack, "bytes", 8ull << 20, "stack of a guest's process")                         \
    X(SCRATCH_BYTES, scratch_bytes, "bytes", 64ull << 20, "bytes in /workspace and /tmp")      \
    X(SCRATCH_FILES, scratch_files, "files", 10000, "files in /workspace and /tmp")            \
    X(OUTPUT, output, "bytes", 1ull << 20, "logs, stdout and stderr; the rest is cut")         \
    X(LOG_LINES, log_lines, "lines", 10000, "calls of console.log; the rest is cut")           \
    X(RESULT, result, "bytes", 1ull << 20, "the result as JSON")                               \
    X(JSON_DEPTH, json_depth, "levels", 100, "nesting of inputs, arguments and result")        \
    X(TOOL_CALLS, tool_calls, "calls", 1000, "calls of tools")                                 \
    X(CALLS_AT_ONCE, calls_at_once, "calls", 8, "calls of tools under way; others wait")       \
    X(ARGUMENTS, arguments, "bytes", 10ull << 20, "arguments of one call as JSON")             \
    X(CALL_RESULT, call_result, "bytes", 10ull << 20, "what one call answers, as JSON")

enum cs_limit {
#define X(id, name, unit, value, what) CS_LIMIT_##id,
    CS_LIMITS(X)
#undef X
        CS_LIMIT_COUNT
};

struct cs_limits {
#define X(id, name, unit, value, what) uint64_t name;
    CS_LIMITS(X)
#undef X
};

struct cs_limits cs_limits_default(void);

const char *cs_limit_name(enum cs_limit limit);
const char *cs_limit_unit(enum cs_limit limit);
const char *cs_limit_what(enum cs_limit limit);
uint64_t cs_limit_get(const struct cs_limits *limits, enum cs_limit limit);
void cs_limit_set(struct cs_limits *limits, enum cs_limit limit, uint64_t value);

/* "256M", "1.5g", "500ms", "30s", "2m", "64" in the unit of that limit. CS_INVALID otherwise. */
int cs_limit_parse(enum cs_limit limit, const char *text, uint64_t *value, struct cs_err *err);

/* "name=value" sets it in `limits`. */
int cs_limits_assign(struct cs_limits *limits, const char *assignment, struct cs_err *err);

#endif
