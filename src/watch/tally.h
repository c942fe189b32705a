/*
 * What many executions add up to: of one tenant and one hour in the store, or of a whole window in
 * an answer. Pure.
 *
 * Limits: so many tools are told apart, CS_TALLY_TOOLS of them survive in a text; the calls of the
 *         others are one number.
 */
#ifndef CS_WATCH_TALLY_H
#define CS_WATCH_TALLY_H

#include "base/json.h"
#include "base/sketch.h"
#include "run/run.h"
#include "store/store.h"

#define CS_TALLY_TOOLS 100

struct cs_tally_tool {
    char *name; /* "server/tool"; NULL: a free place */
    uint64_t calls;
};

struct cs_tally {
    uint64_t by_status[CS_STATUS_COUNT];
    uint64_t by_error[CS_ERROR_COUNT];
    struct cs_sketch wall_us;
    uint64_t cpu_us, memory_sum, memory_most;
    uint64_t calls, failed, denied;
    uint64_t cached, tokens_saved;
    struct cs_tally_tool *tools; /* a hash table */
    uint32_t tool_count, tool_cap;
    uint64_t other_tools; /* calls of those that are not in it */
    uint64_t masked[CS_PII_COUNT];
};

void cs_tally_done(struct cs_tally *t);
void cs_tally_add(struct cs_tally *t, const struct cs_measure *m);
void cs_tally_merge(struct cs_tally *to, const struct cs_tally *from);
/* One line of JSON, for the store; reading rejects what is malformed, and leaves `t` alone then. */
void cs_tally_put(const struct cs_tally *t, struct cs_buf *out);
bool cs_tally_read(struct cs_str text, struct cs_tally *t);

/* The members of an answer about it: executions to masked. `running`, `waiting`: now; NULL:
 * not known here. */
void cs_tally_report(const struct cs_tally *t, const uint32_t *running, const uint32_t *waiting,
                     struct cs_json_writer *w);

#endif
