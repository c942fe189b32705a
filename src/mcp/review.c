/*
 * get_execution: one that runs here, runs in another process, or is on record. All of them are
 * found by cs_house_look, which waits for the end of those that have none yet.
 */
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "mcp/house.h"

#define WAIT_MS        10000 /* if nothing is said */
#define RECALL_MS      30000
#define POLL_MS        200
#define ARTIFACT_BYTES (16u << 20)
#define MASKED_WHOLE   (256u << 10) /* of larger ones, the page that is shown */

struct look {
    struct cs_mcp_call *call; /* NULL: nobody wants to know any more */
    void (*found)(struct cs_mcp_call *call, const struct cs_found *found);
    struct cs_run_seat *seat; /* it runs in this process */
    bool asked;               /* the store has not answered yet */
    uv_timer_t timer;
    uint64_t deadline;
    char id[65];
};

static void on_gone(uv_handle_t *h)
{
    free(h->data);
}

static void drop(struct look *l)
{
    uv_close((uv_handle_t *)&l->timer, on_gone);
}

static void tell(struct look *l, const struct cs_found *found)
{
    struct cs_mcp_call *call = l->call;
    call->own = NULL;
    call->cancelled = NULL;
    l->call = NULL;
    l->found(call, found);
    drop(l);
}

static void on_cancelled(struct cs_mcp_call *call)
{
    struct look *l = call->own;
    l->call = NULL;
    if (l->seat)
        cs_run_leave(l->seat);
    if (!l->asked)
        drop(l);
}

/* --- in this process --- */

static void on_run_done(void *ctx, const struct cs_result *result)
{
    struct look *l = ctx;
    CS_AUTO_BUF struct cs_buf envelope = {0};
    l->seat = NULL;
    cs_envelope(result, &envelope);
    tell(l, &(struct cs_found){.envelope = cs_buf_str(&envelope)});
}

static void on_late(uv_timer_t *t)
{
    struct look *l = t->data;
    struct cs_run *run = cs_run_find(cs_house_options(l->call)->runner,
                                     cs_str(l->call->caller.tenant), cs_str(l->id));
    cs_run_leave(l->seat);
    l->seat = NULL;
    tell(l, &(struct cs_found){.running = true, .run = run});
}

/* --- on record --- */

static void on_row(void *ctx, const struct cs_err *err, const struct cs_execution_row *rows,
                   size_t count);

static void on_poll(uv_timer_t *t)
{
    struct look *l = t->data;
    l->asked = true;
    cs_store_execution_get(cs_house_options(l->call)->store, cs_str(l->call->caller.tenant),
                           cs_str(l->id), on_row, l);
}

/* One whose process ended before it did has no envelope. */
static void put_lost(const struct cs_execution_row *row, struct cs_buf *out)
{
    struct cs_json_writer w = CS_JSON_WRITER(out);
    cs_json_open(&w, '{');
    cs_json_key(&w, "status");
    cs_json_put_str(&w, row->status);
    cs_json_key(&w, "execution_id");
    cs_json_put_str(&w, row->id);
    cs_json_key(&w, "error");
    cs_json_put_raw(&w,
                    CS_STR("{\"type\":\"internal_error\",\"message\":\"it was lost: the process "
                           "that ran it ended before it did\"}"));
    cs_json_close(&w, '}');
}

static void on_row(void *ctx, const struct cs_err *err, const struct cs_execution_row *rows,
                   size_t count)
{
    struct look *l = ctx;
    l->asked = false;
    if (!l->call) {
        drop(l);
        return;
    }
    struct cs_found found = {.err = *err};
    if (err->code == CS_OK && count == 0)
        cs_fail(&found.err, CS_MISSING, "no such execution");
    CS_AUTO_BUF struct cs_buf lost = {0};
    if (found.err.code == CS_OK && rows[0].envelope.len) {
        found.envelope = rows[0].envelope;
    } else if (found.err.code == CS_OK && !cs_str_is(rows[0].status, "running") &&
               !cs_str_is(rows[0].status, "awaiting_approval")) {
        put_lost(&rows[0], &lost);
        found.envelope = cs_buf_str(&lost);
    } else if (found.err.code == CS_OK) {
        found.running = true;
        if (uv_now(l->timer.loop) < l->deadline) {
            uv_timer_start(&l->timer, on_poll, POLL_MS, 0);
            return;
        }
    }
    tell(l, &found);
}

static void on_nowhere(uv_timer_t *t)
{
    struct cs_found found = {0};
    cs_fail(&found.err, CS_MISSING, "no such execution");
    tell(t->data, &found);
}

void cs_house_look(struct cs_mcp_call *call, struct cs_str id, uint32_t wait_ms,
                   void (*found)(struct cs_mcp_call *call, const struct cs_found *found))
{
    static const struct cs_run_watch deaf;
    const struct cs_mcp_options *options = cs_house_options(call);
    struct look *l = CS_NEW(struct look);
    l->call = call;
    l->found = found;
    if (id.len && id.len < sizeof l->id && !memchr(id.at, 0, id.len))
        memcpy(l->id, id.at, id.len);
    uv_timer_init(cs_mcp_loop(call->mcp), &l->timer);
    l->timer.data = l;
    l->deadline = uv_now(l->timer.loop) + wait_ms;
    call->own = l;
    call->cancelled = on_cancelled;
    struct cs_run *run = cs_run_find(options->runner, cs_str(call->caller.tenant), cs_str(l->id));
    if (run) {
        l->seat = cs_run_join(run, &deaf, on_run_done, l);
        uv_timer_start(&l->timer, on_late, wait_ms, 0);
    } else if (options->store && l->id[0]) {
        on_poll(&l->timer);
    } else {
        uv_timer_start(&l->timer, on_nowhere, 0, 0);
    }
}

/* --- get_execution --- */

static struct cs_json_val argument(struct cs_mcp_call *call, const char *name)
{
    return cs_json_get(cs_json_get(call->params, "arguments"), name);
}

void cs_house_running(struct cs_str id, const struct cs_found *found, struct cs_buf *out)
{
    static const char *const levels[] = {"debug", "info", "warn", "error"};
    const struct cs_log *logs = NULL;
    size_t count = found->run ? cs_run_logs(found->run, &logs) : 0;
    struct cs_json_writer w = CS_JSON_WRITER(out);
    cs_json_open(&w, '{');
    cs_json_key(&w, "status");
    cs_json_put_z(&w, found->run ? cs_run_phase(found->run) : "running");
    cs_json_key(&w, "execution_id");
    cs_json_put_str(&w, id);
    struct cs_run_approval asked;
    if (found->run && cs_run_approvals(found->run, &asked, 1)) {
        CS_AUTO_BUF struct cs_buf waits = {0};
        cs_buf_printf(&waits, "a person's answer to %s: %.*s", asked.id, CS_STR_ARG(asked.why));
        cs_json_key(&w, "waits_for");
        cs_json_put_str(&w, cs_buf_str(&waits));
    }
    cs_json_key(&w, "logs");
    cs_json_open(&w, '[');
    for (size_t i = 0; i < count; i++) {
        cs_json_open(&w, '{');
        cs_json_key(&w, "level");
        cs_json_put_z(&w, levels[logs[i].level]);
        cs_json_key(&w, "text");
        cs_json_put_str(&w, logs[i].text);
        cs_json_close(&w, '}');
    }
    cs_json_close(&w, ']');
    cs_json_close(&w, '}');
}

static void answer_view(struct cs_mcp_call *call, struct cs_str envelope)
{
    struct cs_json_val view = argument(call, "view");
    CS_AUTO_BUF struct cs_buf text = {0};
    uint64_t offset = cs_house_number(argument(call, "offset"), 0);
    uint64_t limit = cs_house_number(argument(call, "limit"), UINT64_MAX);
    bool paged = offset || limit != UINT64_MAX;
    if (cs_json_type(view) == CS_JSON_NONE && !paged)
        cs_house_told(call, envelope, (struct cs_str){0}, &text);
    else
        cs_page(envelope,
                cs_json_is(view, "logs")    ? CS_VIEW_LOGS
                : cs_json_is(view, "calls") ? CS_VIEW_CALLS
                                            : CS_VIEW_RESULT,
                offset, limit, cs_house_tokens(call), &text);
    cs_mcp_text(call, cs_buf_str(&text), false);
}

static void complain_missing(struct cs_mcp_call *call, struct cs_str id, const struct cs_err *err)
{
    if (err->code == CS_MISSING)
        cs_house_complain(call,
                          "there is no execution '%.*s' of yours; its id is in the answer of "
                          "execute_code, and begins with ex_",
                          CS_STR_ARG(cs_utf8_cut(id, 64)));
    else
        cs_house_complain(call, "the execution cannot be read: %s", err->msg);
}

static void on_found(struct cs_mcp_call *call, const struct cs_found *found)
{
    struct cs_str id = cs_json_str(argument(call, "execution_id"), &call->arena);
    CS_AUTO_BUF struct cs_buf running = {0};
    if (found->err.code != CS_OK) {
        complain_missing(call, id, &found->err);
        return;
    }
    if (found->running)
        cs_house_running(id, found, &running);
    answer_view(call, found->running ? cs_buf_str(&running) : found->envelope);
}

/* --- an artifact's handle will do as well --- */

/* The client may be gone when the store answers. */
struct fetch {
    struct cs_mcp_call *call;
};

static void on_fetch_cancelled(struct cs_mcp_call *call)
{
    struct fetch *f = call->own;
    f->call = NULL;
}

/* Whatever a program has put there, or a person: a model sees tokens. */
static void answer_content(struct cs_mcp_call *call, struct cs_str envelope)
{
    struct cs_runner *runner = cs_house_options(call)->runner;
    CS_AUTO_BUF struct cs_buf whole = {0}, text = {0}, masked = {0};
    struct cs_err failed = {0};
    int n = envelope.len <= MASKED_WHOLE ? cs_runner_mask(runner, envelope, &whole, &failed) : 0;
    if (n > 0)
        envelope = cs_buf_str(&whole);
    cs_page(envelope, CS_VIEW_RESULT, cs_house_number(argument(call, "offset"), 0),
            cs_house_number(argument(call, "limit"), UINT64_MAX), cs_house_tokens(call), &text);
    n = n < 0 ? n : cs_runner_mask(runner, cs_buf_str(&text), &masked, &failed);
    if (n < 0)
        cs_house_complain(call, "it cannot be shown: %s", failed.msg);
    else
        cs_mcp_text(call, cs_buf_str(n ? &masked : &text), false);
}

static void on_artifact(void *ctx, const struct cs_err *err, const struct cs_artifact_row *rows,
                        size_t count, struct cs_str content)
{
    struct fetch *f = ctx;
    struct cs_mcp_call *call = f->call;
    free(f);
    if (!call)
        return;
    if (err->code != CS_OK || count == 0) {
        cs_house_complain(call, "there is no such artifact of yours");
        return;
    }
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_BUF struct cs_buf envelope = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&envelope);
    bool whole = rows[0].size <= content.len;
    cs_json_open(&w, '{');
    cs_json_key(&w, "result");
    if (whole && cs_json_parse(content, NULL, &doc, NULL) == 0)
        cs_json_put_raw(&w, content);
    else
        cs_json_put_str(&w, content);
    cs_json_close(&w, '}');
    answer_content(call, cs_buf_str(&envelope));
}

void cs_house_review(struct cs_mcp_call *call, struct cs_json_val arguments)
{
    struct cs_str id = cs_json_str(cs_json_get(arguments, "execution_id"), &call->arena);
    struct cs_store *store = cs_house_options(call)->store;
    if (cs_str_starts(id, "art_") && id.len <= 64 && store) {
        struct fetch *f = CS_NEW(struct fetch);
        f->call = call;
        call->own = f;
        call->cancelled = on_fetch_cancelled;
        cs_store_artifact_get(store, cs_str(call->caller.tenant), id, 0, ARTIFACT_BYTES,
                              on_artifact, f);
        return;
    }
    uint64_t wait = cs_house_number(cs_json_get(arguments, "wait_ms"), WAIT_MS);
    cs_house_look(call, id, (uint32_t)wait, on_found);
}

/* --- a task that the protocol has forgotten --- */

static void on_recalled(struct cs_mcp_call *call, const struct cs_found *found)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_BUF struct cs_buf text = {0};
    if (found->err.code != CS_OK || found->running) {
        cs_mcp_error(call, CS_RPC_PARAMS,
                     found->running ? "the task runs in another process" : "there is no such task",
                     (struct cs_str){0});
        return;
    }
    bool completed = cs_json_parse(found->envelope, NULL, &doc, NULL) == 0 &&
                     cs_json_is(cs_json_get(cs_json_root(&doc), "status"), "completed");
    cs_house_told(call, found->envelope, (struct cs_str){0}, &text);
    cs_mcp_text(call, cs_buf_str(&text), !completed);
}

void cs_house_recall(struct cs_mcp_call *call, struct cs_str task)
{
    cs_house_look(call, task, RECALL_MS, on_recalled);
}
