/* Programs are run, and asked about. */
#include <stdio.h>
#include <string.h>

#include "rest/inside.h"

/* --- one is started --- */

static unsigned refusal_status(const struct cs_result *r)
{
    if (r->refused == CS_CONFLICT && r->key_reused)
        return 422;
    return 0;
}

static void refuse(struct cs_visit *v, const struct cs_result *r)
{
    struct cs_err err = {0};
    cs_fail(&err, r->refused, "%.*s", CS_STR_ARG(r->error.message));
    if (r->error.suggestion.len)
        cs_fail(&err, r->refused, "%.*s; %.*s", CS_STR_ARG(r->error.message),
                CS_STR_ARG(r->error.suggestion));
    if (r->refused == CS_BUSY) {
        char seconds[16];
        snprintf(seconds, sizeof seconds, "%u", r->retry_after_s ? r->retry_after_s : 1);
        cs_visit_set(v, "Retry-After", cs_str(seconds));
    }
    cs_visit_fail(v, refusal_status(r), &err);
}

/* 202 for those who do not wait. */
static void send_started(struct cs_visit *v, const char *id)
{
    CS_AUTO_BUF struct cs_buf json = {0}, location = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    cs_json_open(&w, '{');
    cs_put_text(&w, "execution_id", cs_str(id));
    cs_put_text(&w, "status", CS_STR("running"));
    cs_json_close(&w, '}');
    cs_buf_printf(&location, "/executions/%s", id);
    cs_visit_set(v, "Location", cs_buf_str(&location));
    cs_visit_send(v, 202, "application/json", cs_buf_str(&json));
}

static void on_begun(void *ctx)
{
    struct cs_visit *v = ctx;
    if (v->async && v->x)
        send_started(v, cs_run_id(v->run));
}

static void on_done(void *ctx, const struct cs_result *r)
{
    struct cs_visit *v = ctx;
    v->run = NULL;
    if (!v->x) {
        cs_visit_free(v);
        return;
    }
    if (r->refused != CS_OK) {
        refuse(v, r);
        return;
    }
    if (r->earlier.len)
        cs_visit_set(v, "Idempotency-Replayed", CS_STR("true"));
    if (v->async) {
        send_started(v, r->execution_id);
        cs_visit_free(v);
        return;
    }
    CS_AUTO_BUF struct cs_buf envelope = {0};
    cs_envelope(r, &envelope);
    cs_visit_json(v, 200, &envelope);
}

void cs_visit_run(struct cs_visit *v, struct cs_request *request)
{
    static const struct cs_run_watch watch = {.begun = on_begun};
    if (!cs_visit_key(v, request))
        return;
    request->principal = cs_str(v->caller.principal);
    request->actor_type = v->caller.key_id[0] ? CS_STR("key") : CS_STR("local");
    request->tenant = cs_visit_tenant(v);
    if (cs_exchange_header_count(v->x, "traceparent") == 1)
        cs_trace_parse(cs_exchange_header(v->x, "traceparent"), &request->trace);
    v->run = cs_run_start(v->rest->o.runner, request, &watch, on_done, v);
    /* Whoever gave it a key comes back for the answer; and one that outlives its process is not
     * ended by a connection. */
    v->goes_on = v->async || request->key.len > 0 || request->durable;
    struct cs_run *other =
        cs_run_find(v->rest->o.runner, request->tenant, cs_str(cs_run_id(v->run)));
    if (!v->async || !other || other == v->run)
        return;
    cs_visit_set(v, "Idempotency-Replayed", CS_STR("true"));
    send_started(v, cs_run_id(other));
}

/* Who asks for what is not theirs is on record for it. */
static void deny_or_fail(struct cs_visit *v, const struct cs_err *err)
{
    const struct cs_rest_options *o = &v->rest->o;
    if (err->code == CS_DENIED && o->denied)
        o->denied(o->ctx, &v->caller);
    cs_visit_fail(v, 0, err);
}

void cs_rest_post_execution(struct cs_visit *v)
{
    const struct cs_rest_options *o = &v->rest->o;
    const struct cs_rest_read how = {v->rest->execution, o->code_bytes, o->inputs_bytes,
                                     o->timeout_ms};
    struct cs_request request;
    struct cs_err err = {0};
    if (cs_rest_read_execution(&how, cs_exchange_body(v->x), &v->body, &v->arena, &request,
                               &v->async, &err) < 0)
        cs_visit_fail(v, 0, &err);
    else if (cs_rest_read_privacy(cs_runner_privacy(o->runner), &v->caller, cs_json_root(&v->body),
                                  &v->arena, &request, &err) < 0)
        deny_or_fail(v, &err);
    else
        cs_visit_run(v, &request);
}

/* --- they are listed --- */

static const char *const statuses[] = {"running", "awaiting_approval", "completed", "failed",
                                       "denied",  "cancelled"};

static void on_listed(void *ctx, const struct cs_err *err, const struct cs_execution_row *rows,
                      size_t count)
{
    struct cs_visit *v = ctx;
    if (err->code != CS_OK) {
        cs_visit_fail(v, 0, err);
        return;
    }
    bool more = count > v->limit;
    if (more)
        count = v->limit;
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    cs_json_open(&w, '{');
    cs_json_key(&w, "executions");
    cs_json_open(&w, '[');
    for (size_t i = 0; i < count; i++)
        cs_put_execution(&w, &rows[i]);
    cs_json_close(&w, ']');
    if (more) {
        CS_AUTO_BUF struct cs_buf next = {0};
        cs_buf_printf(&next, "/executions?limit=%zu&before=%.*s%s", v->limit,
                      CS_STR_ARG(rows[count - 1].id), v->next_query);
        cs_put_text(&w, "next", cs_buf_str(&next));
    }
    cs_json_close(&w, '}');
    cs_visit_json(v, 200, &json);
}

static bool known_status(struct cs_str status)
{
    for (size_t i = 0; i < CS_COUNT(statuses); i++)
        if (cs_str_is(status, statuses[i]))
            return true;
    return !status.len;
}

void cs_rest_get_executions(struct cs_visit *v)
{
    uint64_t limit = 0;
    if (!cs_visit_number(v, "limit", 1, CS_REST_PAGE_MOST, CS_REST_PAGE, &limit))
        return;
    const struct cs_execution_filter filter = {.session = cs_visit_query(v, "session_id"),
                                               .status = cs_visit_query(v, "status"),
                                               .before = cs_visit_query(v, "before"),
                                               .limit = limit + 1};
    if (!known_status(filter.status)) {
        cs_visit_failf(v, 0, CS_INVALID,
                       "status must be running, awaiting_approval, completed, failed, denied or "
                       "cancelled");
        return;
    }
    CS_AUTO_BUF struct cs_buf query = {0};
    if (filter.session.len) {
        cs_buf_puts(&query, "&session_id=");
        cs_put_percent(&query, filter.session);
    }
    if (filter.status.len)
        cs_buf_printf(&query, "&status=%.*s", CS_STR_ARG(filter.status));
    v->next_query = cs_arena_dup(&v->arena, cs_buf_str(&query)).at;
    v->limit = limit;
    cs_store_executions(v->rest->o.store, cs_visit_tenant(v), &filter, on_listed, v);
}

/* --- one is looked at --- */

static void answer_running(struct cs_visit *v, const struct cs_run *run)
{
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    cs_json_open(&w, '{');
    cs_put_text(&w, "execution_id", cs_str(cs_run_id(run)));
    const char *phase = cs_run_phase(run);
    cs_put_text(&w, "status", cs_str(strcmp(phase, "waiting") == 0 ? "running" : phase));
    cs_put_text(&w, "phase", cs_str(phase));
    cs_put_approvals(&w, run);
    cs_put_logs(&w, run);
    cs_json_close(&w, '}');
    cs_visit_json(v, 200, &json);
}

/* Of a process that is gone, or of another one that still runs it. */
static void answer_row(struct cs_visit *v, const struct cs_execution_row *row)
{
    if (row->envelope.len) {
        cs_visit_reply(v, 200, "application/json", row->envelope);
        return;
    }
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    cs_put_execution(&w, row);
    cs_visit_json(v, 200, &json);
}

static void no_execution(struct cs_visit *v)
{
    cs_visit_failf(v, 0, CS_MISSING, "there is no execution '%.*s'",
                   (int)(v->parts[0].len < 64 ? v->parts[0].len : 64), v->parts[0].at);
}

static void on_found(void *ctx, const struct cs_err *err, const struct cs_execution_row *rows,
                     size_t count)
{
    struct cs_visit *v = ctx;
    if (err->code == CS_MISSING || (err->code == CS_OK && !count))
        no_execution(v);
    else if (err->code != CS_OK)
        cs_visit_fail(v, 0, err);
    else
        v->found(v, rows);
}

void cs_visit_find(struct cs_visit *v,
                   void (*found)(struct cs_visit *, const struct cs_execution_row *))
{
    v->found = found;
    if (v->parts[0].len > 64)
        no_execution(v);
    else
        cs_store_execution_get(v->rest->o.store, cs_visit_tenant(v), v->parts[0], on_found, v);
}

struct cs_run *cs_visit_running(struct cs_visit *v)
{
    return cs_run_find(v->rest->o.runner, cs_visit_tenant(v), v->parts[0]);
}

/* Whoever waited for it gets how it ended. */
static void on_ended(void *ctx, const struct cs_result *r)
{
    struct cs_visit *v = ctx;
    v->seat = NULL;
    if (r->refused != CS_OK) {
        refuse(v, r);
        return;
    }
    CS_AUTO_BUF struct cs_buf envelope = {0};
    cs_envelope(r, &envelope);
    cs_visit_json(v, 200, &envelope);
}

static void on_waited(struct cs_visit *v)
{
    struct cs_run *run = cs_visit_running(v);
    if (!run)
        return; /* it is being put on record: on_ended follows */
    cs_run_leave(CS_TAKE(v->seat));
    answer_running(v, run);
}

void cs_rest_get_execution(struct cs_visit *v)
{
    static const struct cs_run_watch nothing;
    uint64_t wait = 0;
    if (!cs_visit_number(v, "wait_ms", 0, CS_REST_WAIT_MOST, 0, &wait))
        return;
    struct cs_run *run = cs_visit_running(v);
    if (!run) {
        cs_visit_find(v, answer_row);
        return;
    }
    if (!wait) {
        answer_running(v, run);
        return;
    }
    v->seat = cs_run_join(run, &nothing, on_ended, v);
    cs_visit_timer(v, wait, false, on_waited);
}

/* --- one is cancelled --- */

static void answer_ended(struct cs_visit *v, const struct cs_execution_row *row)
{
    if (!row->envelope.len)
        cs_visit_failf(v, 0, CS_CONFLICT,
                       "the execution runs in another process of this machine, and can only be "
                       "cancelled there");
    else
        answer_row(v, row);
}

void cs_rest_delete_execution(struct cs_visit *v)
{
    static const struct cs_run_watch nothing;
    struct cs_run *run = cs_visit_running(v);
    if (!run) {
        cs_visit_find(v, answer_ended);
        return;
    }
    v->seat = cs_run_join(run, &nothing, on_ended, v);
    cs_run_cancel(run);
}

/* --- replay --- */

static void on_replayed(void *ctx, const struct cs_replayed *replayed)
{
    struct cs_visit *v = ctx;
    struct cs_err err = replayed->err;
    if (err.code == CS_INVALID)
        err.code = CS_CONFLICT; /* the request is fine; the execution is not one of those */
    if (err.code != CS_OK)
        cs_visit_fail(v, 0, &err);
    else
        cs_visit_reply(v, 200, "application/json", replayed->report);
}

void cs_rest_post_replay(struct cs_visit *v)
{
    struct cs_err err = {0};
    struct cs_str body = cs_exchange_body(v->x);
    struct cs_replay_request request = {.tenant = cs_visit_tenant(v),
                                        .principal = cs_str(v->caller.principal),
                                        .execution = v->parts[0]};
    if (body.len && cs_rest_read_object(body, v->rest->replay, &v->body, &v->arena, &err) < 0) {
        cs_visit_fail(v, 0, &err);
        return;
    }
    if (body.len)
        request.code = cs_json_str(cs_json_get(cs_json_root(&v->body), "code"), &v->arena);
    if (v->parts[0].len > 64)
        no_execution(v);
    else if (cs_visit_running(v))
        cs_visit_failf(v, 0, CS_CONFLICT, "the execution runs: it can be replayed when it is over");
    else
        cs_replay(v->rest->o.runner, &request, on_replayed, v);
}
