/*
 * Inside of run/: answers that are known already, of executions and (where the policy says so) of
 * tools.
 *
 *   shelf.c        what is kept in memory, up to so many bytes
 *   known.c        an answer as it is kept: from a result, to one, and as JSON for the store
 *   cache.c        executions: is the answer known? is it worth keeping?
 *   cache_calls.c  results of tools
 *
 * What an answer depends on and is known beforehand is in its key: another program, tenant, state
 * or policy has another key. What is known only afterwards (which tools it used, whether it looked
 * at what else there is) is kept with it, and compared when it is found.
 */
#ifndef CS_RUN_CACHE_H
#define CS_RUN_CACHE_H

#include "base/hash.h"
#include "run/inside.h"

/* --- shelf.c: what was not used for longest goes first --- */

struct cs_shelf_item {
    struct cs_shelf_item *newer, *older; /* by their last use */
    struct cs_shelf_item *same;          /* in the same bucket */
    unsigned char key[CS_SHA256];
    uint32_t refs;
    bool is_answer;           /* else the result of a tool */
    int64_t created, expires; /* ms since 1970 */
    struct cs_str tenant;
    size_t bytes;          /* of all that it holds */
    struct cs_arena arena; /* all that it holds */
};

struct cs_shelf {
    struct cs_shelf_item **buckets;
    size_t bucket_count, count;
    struct cs_shelf_item *newest, *oldest;
    size_t bytes, most;
    int64_t gone; /* the latest expiry of an answer that had to go for want of room; 0: none had */
};

/* `size` of a struct that begins with an item. It belongs to the caller, as one reference. */
void *cs_shelf_item_new(size_t size, const unsigned char key[CS_SHA256], struct cs_str tenant);
void cs_shelf_item_unref(struct cs_shelf_item *item);
/* A copy in the item, which is counted. */
struct cs_str cs_shelf_copy(struct cs_shelf_item *item, struct cs_str text);
void *cs_shelf_alloc(struct cs_shelf_item *item, size_t size);

/* One that is good at `now`; lent. */
struct cs_shelf_item *cs_shelf_find(struct cs_shelf *shelf, const unsigned char key[CS_SHA256],
                                    int64_t now);
/* Takes a reference; in the place of one with the same key. */
void cs_shelf_put(struct cs_shelf *shelf, struct cs_shelf_item *item);
/* Those of a tenant; empty: all. */
void cs_shelf_clear(struct cs_shelf *shelf, struct cs_str tenant);
void cs_shelf_bound(struct cs_shelf *shelf, size_t most);
void cs_shelf_done(struct cs_shelf *shelf);

/* --- known.c --- */

/* A tool that was used, as it was then. */
struct cs_used {
    struct cs_str server, tool;
    unsigned char hash[CS_SHA256];
};

#define CS_KNOWN_KIND "result" /* of the only artifacts that an answer may have */

struct cs_known {
    struct cs_shelf_item item;
    struct cs_str execution; /* that made it */
    struct cs_str value;
    struct cs_log *logs;
    struct cs_call *calls;
    struct cs_artifact *artifacts;
    struct cs_str *tool_ids;
    uint32_t log_count, call_count, artifact_count, tool_id_count, used_count;
    unsigned char outputs_hash[CS_SHA256];
    struct cs_verdict verdict;
    struct cs_limits limits;
    struct cs_used *used;
    /* It looked at what tools there are: it is good for this principal and this catalogue alone. */
    struct cs_str catalogue, principal;
};

/* `result` is copied; what is not in it (used, catalogue, principal) is the caller's to add. */
struct cs_known *cs_known_new(const unsigned char key[CS_SHA256], struct cs_str tenant,
                              const struct cs_result *result);
/* What the result has of it points into the answer. */
void cs_known_give(const struct cs_known *answer, struct cs_result *result);
/* Everything but the key, the tenant, the execution and the times, with a sum over all of them. */
void cs_known_write(const struct cs_known *answer, struct cs_buf *json);
/* NULL: this is nothing that we have written for that key and tenant. */
struct cs_known *cs_known_read(const struct cs_cached_answer *row);

/* --- cache.c --- */

struct cs_cache {
    struct cs_shelf shelf;
    int64_t ms;    /* how long an answer is good; 0: there is no cache */
    int64_t swept; /* when the store was last told to forget what has expired */
    /* The store may know answers that memory does not: those of processes before this one, until
     * then. */
    int64_t inherited;
    uint64_t mark; /* cs_store_cache_mark, when the shelf was last looked at */
};

/* What is noticed about an execution on its way, for its answer. */
struct cs_keep {
    struct cs_run *run; /* NULL: it is over, and only the store's answer is awaited */
    bool is_asking;     /* the store */
    bool of_session;    /* its key is of its session alone */
    unsigned char key[CS_SHA256];
    unsigned char globals[CS_SHA256];
    const char *never;             /* why its answer is not kept; NULL: it is */
    struct cs_known *found, *made; /* it is given that one; it is kept as this one */
    uint32_t artifacts_there;      /* of it */
    struct cs_used *used;
    uint32_t used_count, used_cap;
    struct cs_str catalogue; /* it has looked at this one; empty: at none */
    uint64_t start_ns;
    uint64_t mark; /* when it began */
};

bool cs_cache_is_on(const struct cs_runner *runner);
/* What the shelf has may be used; nothing is on it that another process has cleared away. */
struct cs_shelf *cs_cache_shelf(struct cs_runner *runner);
/* SHA-256 over what a call of this tool means. */
void cs_cache_tool_hash(const struct cs_tool *tool, unsigned char hash[CS_SHA256]);

#endif
