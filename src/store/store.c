#include "store/store.h"

int cs_store_open(uv_loop_t *loop, const char *dir, struct cs_store **store, struct cs_err *err)
{
    (void)loop;
    (void)dir;
    (void)store;
    return cs_fail(err, CS_SYSTEM, "the store cannot be opened yet");
}

void cs_store_close(struct cs_store *store, void (*closed)(void *ctx), void *ctx)
{
    (void)store;
    (void)closed;
    (void)ctx;
}

void cs_store_health(const struct cs_store *store, struct cs_err *err)
{
    (void)store;
    (void)err;
}

void cs_store_key_add(struct cs_store *s, const struct cs_key_row *row, cs_stored *done, void *ctx)
{
    (void)s;
    (void)row;
    (void)done;
    (void)ctx;
}

void cs_store_key_get(struct cs_store *s, struct cs_str id, cs_key_found *done, void *ctx)
{
    (void)s;
    (void)id;
    (void)done;
    (void)ctx;
}

void cs_store_keys(struct cs_store *s, cs_key_found *done, void *ctx)
{
    (void)s;
    (void)done;
    (void)ctx;
}

void cs_store_key_revoke(struct cs_store *s, struct cs_str name, int64_t when, cs_stored *done,
                         void *ctx)
{
    (void)s;
    (void)name;
    (void)when;
    (void)done;
    (void)ctx;
}

void cs_store_key_rotate(struct cs_store *s, struct cs_str name, struct cs_str new_id,
                         const unsigned char hash[32], int64_t expires, cs_stored *done, void *ctx)
{
    (void)s;
    (void)name;
    (void)new_id;
    (void)hash;
    (void)expires;
    (void)done;
    (void)ctx;
}

void cs_store_key_used(struct cs_store *s, struct cs_str id, int64_t when)
{
    (void)s;
    (void)id;
    (void)when;
}

void cs_store_session_add(struct cs_store *s, const struct cs_session_row *row, uint64_t most,
                          cs_stored *done, void *ctx)
{
    (void)s;
    (void)row;
    (void)most;
    (void)done;
    (void)ctx;
}

void cs_store_session_get(struct cs_store *s, struct cs_str tenant, struct cs_str id,
                          cs_session_found *done, void *ctx)
{
    (void)s;
    (void)tenant;
    (void)id;
    (void)done;
    (void)ctx;
}

void cs_store_sessions(struct cs_store *s, struct cs_str tenant, size_t limit, size_t offset,
                       cs_session_found *done, void *ctx)
{
    (void)s;
    (void)tenant;
    (void)limit;
    (void)offset;
    (void)done;
    (void)ctx;
}

void cs_store_session_put(struct cs_store *s, struct cs_str tenant, struct cs_str id,
                          uint64_t version, struct cs_str state, int64_t now, cs_stored *done,
                          void *ctx)
{
    (void)s;
    (void)tenant;
    (void)id;
    (void)version;
    (void)state;
    (void)now;
    (void)done;
    (void)ctx;
}

void cs_store_session_end(struct cs_store *s, struct cs_str tenant, struct cs_str id,
                          cs_stored *done, void *ctx)
{
    (void)s;
    (void)tenant;
    (void)id;
    (void)done;
    (void)ctx;
}

void cs_store_sessions_expire(struct cs_store *s, int64_t now, cs_session_found *done, void *ctx)
{
    (void)s;
    (void)now;
    (void)done;
    (void)ctx;
}

void cs_store_execution_begin(struct cs_store *s, const struct cs_execution_row *row,
                              cs_execution_found *done, void *ctx)
{
    (void)s;
    (void)row;
    (void)done;
    (void)ctx;
}

void cs_store_execution_end(struct cs_store *s, const struct cs_execution_row *row, cs_stored *done,
                            void *ctx)
{
    (void)s;
    (void)row;
    (void)done;
    (void)ctx;
}

void cs_store_execution_get(struct cs_store *s, struct cs_str tenant, struct cs_str id,
                            cs_execution_found *done, void *ctx)
{
    (void)s;
    (void)tenant;
    (void)id;
    (void)done;
    (void)ctx;
}

void cs_store_executions(struct cs_store *s, struct cs_str tenant,
                         const struct cs_execution_filter *filter, cs_execution_found *done,
                         void *ctx)
{
    (void)s;
    (void)tenant;
    (void)filter;
    (void)done;
    (void)ctx;
}

void cs_store_executions_forget(struct cs_store *s, int64_t when, cs_stored *done, void *ctx)
{
    (void)s;
    (void)when;
    (void)done;
    (void)ctx;
}

void cs_store_artifact_add(struct cs_store *s, const struct cs_artifact_row *row,
                           struct cs_str content, cs_stored *done, void *ctx)
{
    (void)s;
    (void)row;
    (void)content;
    (void)done;
    (void)ctx;
}

void cs_store_artifact_get(struct cs_store *s, struct cs_str tenant, struct cs_str id,
                           uint64_t offset, size_t max, cs_artifact_found *done, void *ctx)
{
    (void)s;
    (void)tenant;
    (void)id;
    (void)offset;
    (void)max;
    (void)done;
    (void)ctx;
}

void cs_store_artifacts(struct cs_store *s, struct cs_str tenant, struct cs_str session,
                        struct cs_str execution, size_t limit, cs_artifact_found *done, void *ctx)
{
    (void)s;
    (void)tenant;
    (void)session;
    (void)execution;
    (void)limit;
    (void)done;
    (void)ctx;
}
