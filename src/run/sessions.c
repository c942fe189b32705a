#include "run/sessions.h"

#include "base/mem.h"

struct cs_sessions {
    uv_loop_t *loop;
};

struct cs_hold {
    uv_timer_t timer;
    void (*done)(void *ctx, const struct cs_err *err, const struct cs_held *held);
    cs_stored *stored;
    cs_session_found *session;
    cs_files_found *files;
    cs_file_found *file;
    void *ctx;
};

static void on_closed(uv_handle_t *h)
{
    free(h->data);
}

static void on_time(uv_timer_t *t)
{
    struct cs_hold *h = t->data;
    struct cs_err err = {0};
    cs_fail(&err, CS_SYSTEM, "sessions are not there");
    if (h->done)
        h->done(h->ctx, &err, NULL);
    if (h->stored)
        h->stored(h->ctx, &err);
    if (h->session)
        h->session(h->ctx, &err, NULL, 0);
    if (h->files)
        h->files(h->ctx, &err, NULL, 0);
    if (h->file)
        h->file(h->ctx, &err, CS_STR(""));
    uv_close((uv_handle_t *)t, on_closed);
}

static struct cs_hold *later(struct cs_sessions *s, void *ctx)
{
    struct cs_hold *h = CS_NEW(struct cs_hold);
    h->ctx = ctx;
    uv_timer_init(s->loop, &h->timer);
    h->timer.data = h;
    uv_timer_start(&h->timer, on_time, 0, 0);
    return h;
}

int cs_sessions_new(uv_loop_t *loop, struct cs_store *store, const char *data_dir,
                    const struct cs_session_limits *limits, struct cs_sessions **sessions,
                    struct cs_err *err)
{
    (void)store, (void)data_dir, (void)limits, (void)err;
    *sessions = CS_NEW(struct cs_sessions);
    (*sessions)->loop = loop;
    return 0;
}

void cs_sessions_close(struct cs_sessions *s, void (*closed)(void *ctx), void *ctx)
{
    free(s);
    closed(ctx);
}

void cs_session_start(struct cs_sessions *s, const struct cs_caller *caller, struct cs_str name,
                      int64_t idle_ms, cs_session_found *done, void *ctx)
{
    (void)caller, (void)name, (void)idle_ms;
    later(s, ctx)->session = done;
}

void cs_session_look(struct cs_sessions *s, const struct cs_caller *caller, struct cs_str id,
                     cs_session_found *done, void *ctx)
{
    (void)caller, (void)id;
    later(s, ctx)->session = done;
}

void cs_session_stop(struct cs_sessions *s, const struct cs_caller *caller, struct cs_str id,
                     cs_stored *done, void *ctx)
{
    (void)caller, (void)id;
    later(s, ctx)->stored = done;
}

void cs_session_files(struct cs_sessions *s, const struct cs_caller *caller, struct cs_str id,
                      cs_files_found *done, void *ctx)
{
    (void)caller, (void)id;
    later(s, ctx)->files = done;
}

void cs_session_file_get(struct cs_sessions *s, const struct cs_caller *caller, struct cs_str id,
                         struct cs_str path, cs_file_found *done, void *ctx)
{
    (void)caller, (void)id, (void)path;
    later(s, ctx)->file = done;
}

void cs_session_file_put(struct cs_sessions *s, const struct cs_caller *caller, struct cs_str id,
                         struct cs_str path, struct cs_str content, cs_stored *done, void *ctx)
{
    (void)caller, (void)id, (void)path, (void)content;
    later(s, ctx)->stored = done;
}

void cs_session_file_remove(struct cs_sessions *s, const struct cs_caller *caller, struct cs_str id,
                            struct cs_str path, cs_stored *done, void *ctx)
{
    (void)caller, (void)id, (void)path;
    later(s, ctx)->stored = done;
}

struct cs_hold *
cs_session_hold(struct cs_sessions *s, struct cs_str tenant, struct cs_str id, uint32_t wait_ms,
                void (*done)(void *ctx, const struct cs_err *err, const struct cs_held *held),
                void *ctx)
{
    (void)tenant, (void)id, (void)wait_ms;
    struct cs_hold *h = later(s, ctx);
    h->done = done;
    return h;
}

void cs_session_release(struct cs_hold *h, struct cs_str state, cs_stored *done, void *ctx)
{
    (void)state;
    h->done = NULL;
    h->stored = done;
    h->ctx = ctx;
}
