/* Approvals, grants, and tools as they were seen. */
#include "store/store.h"

void cs_store_approval_add(struct cs_store *s, const struct cs_approval_row *row, uint64_t most,
                           const struct cs_entry *entry, cs_approval_found *done, void *ctx)
{
    (void)s;
    (void)row;
    (void)most;
    (void)entry;
    (void)done;
    (void)ctx;
}

void cs_store_approval_get(struct cs_store *s, struct cs_str tenant, struct cs_str id,
                           cs_approval_found *done, void *ctx)
{
    (void)s;
    (void)tenant;
    (void)id;
    (void)done;
    (void)ctx;
}

void cs_store_approvals(struct cs_store *s, struct cs_str tenant, struct cs_str state, size_t limit,
                        struct cs_str before, bool cards, cs_approval_found *done, void *ctx)
{
    (void)s;
    (void)tenant;
    (void)state;
    (void)limit;
    (void)before;
    (void)cards;
    (void)done;
    (void)ctx;
}

void cs_store_approval_decide(struct cs_store *s, const struct cs_approval_row *row,
                              const struct cs_grant_row *grant, const struct cs_entry *entry,
                              cs_approval_found *done, void *ctx)
{
    (void)s;
    (void)row;
    (void)grant;
    (void)entry;
    (void)done;
    (void)ctx;
}

void cs_store_approval_use(struct cs_store *s, struct cs_str tenant, struct cs_str id,
                           cs_stored *done, void *ctx)
{
    (void)s;
    (void)tenant;
    (void)id;
    (void)done;
    (void)ctx;
}

void cs_store_approvals_decided(struct cs_store *s, const struct cs_str *ids, size_t count,
                                cs_approval_found *done, void *ctx)
{
    (void)s;
    (void)ids;
    (void)count;
    (void)done;
    (void)ctx;
}

void cs_store_grants(struct cs_store *s, struct cs_str tenant, size_t limit, cs_grants_found *done,
                     void *ctx)
{
    (void)s;
    (void)tenant;
    (void)limit;
    (void)done;
    (void)ctx;
}

void cs_store_grants_for(struct cs_store *s, const struct cs_grant_row *like, cs_grants_found *done,
                         void *ctx)
{
    (void)s;
    (void)like;
    (void)done;
    (void)ctx;
}

void cs_store_grant_revoke(struct cs_store *s, struct cs_str tenant, struct cs_str id,
                           const struct cs_entry *entry, cs_stored *done, void *ctx)
{
    (void)s;
    (void)tenant;
    (void)id;
    (void)entry;
    (void)done;
    (void)ctx;
}

void cs_store_tools_seen(struct cs_store *s, const struct cs_seen_row *rows, size_t count,
                         int64_t now, cs_seen_found *done, void *ctx)
{
    (void)s;
    (void)rows;
    (void)count;
    (void)now;
    (void)done;
    (void)ctx;
}

void cs_store_tool_look(struct cs_store *s, struct cs_str server, struct cs_str tool,
                        const unsigned char definition[32], const struct cs_entry *entry,
                        cs_stored *done, void *ctx)
{
    (void)s;
    (void)server;
    (void)tool;
    (void)definition;
    (void)entry;
    (void)done;
    (void)ctx;
}
