/* A program is compiled and judged; then its worker is sent away. */
#include "run/assess.h"

#include "base/mem.h"
#include "run/guard.h"

#define LISTED_WAIT_MS 5000

struct assessing {
    struct cs_runner *runner;
    struct cs_assess_request request;
    void (*done)(void *ctx, const struct cs_err *err, const struct cs_verdict *verdict);
    void *ctx;
    struct cs_job *job;
    struct cs_catalogue *catalogue; /* NULL: there are no servers */
    uv_timer_t timer;               /* `done` of one that needs no worker runs from the loop */
    struct cs_arena arena;
    struct cs_verdict verdict;
    bool judged;
    struct cs_err err;
};

/* --- what the judge is told --- */

static bool given_tool(void *ctx, size_t i, struct cs_tool_view *view)
{
    const struct assessing *a = ctx;
    if (i >= a->request.tool_count)
        return false;
    *view = a->request.tools[i];
    return true;
}

static bool catalogue_tool(void *ctx, size_t i, struct cs_tool_view *view)
{
    const struct assessing *a = ctx;
    if (!a->catalogue || i >= cs_catalogue_count(a->catalogue))
        return false;
    *view = cs_guard_view(cs_catalogue_at(a->catalogue, i));
    return true;
}

static struct cs_circumstances circumstances(struct assessing *a)
{
    const struct cs_assess_request *r = &a->request;
    const struct cs_privacy *privacy = a->runner->privacy;
    return (struct cs_circumstances){
        .principal = r->principal,
        .tenant = r->tenant,
        .intent = r->intent,
        .environment = r->environment,
        .language = cs_language_name(r->language),
        .source = r->language == CS_TYPESCRIPT ? (struct cs_str){0} : r->code,
        .sensitive_inputs = r->sensitive_inputs,
        .lately = r->lately,
        .lately_bad = r->lately_bad,
        .detector = privacy ? cs_privacy_detector(privacy) : NULL,
        .tool = r->tools ? given_tool : catalogue_tool,
        .ctx = a,
    };
}

/* --- the end --- */

static void finish(struct assessing *a)
{
    a->done(a->ctx, &a->err, a->err.code ? NULL : &a->verdict);
    cs_catalogue_unref(a->catalogue);
    cs_arena_done(&a->arena);
    free(a);
}

static void on_timer_closed(uv_handle_t *h)
{
    finish(h->data);
}

static void on_timer(uv_timer_t *t)
{
    uv_close((uv_handle_t *)t, on_timer_closed);
}

static void finish_soon(struct assessing *a)
{
    uv_timer_init(a->runner->loop, &a->timer);
    a->timer.data = a;
    uv_timer_start(&a->timer, on_timer, 0, 0);
}

/* --- in the worker --- */

static void on_facts(void *ctx, struct cs_str facts)
{
    struct assessing *a = ctx;
    struct cs_circumstances c = circumstances(a);
    cs_judge(a->runner->policy, facts, &c, &a->request.limits, &a->arena, &a->verdict);
    a->judged = true;
    cs_job_verdict(a->job, false, NULL, CS_STR("it was only assessed"));
}

/* A module that cannot be had ends the reading; which one it is stands at that place. */
static void put_import(const struct assessing *a, const struct cs_unread *unread,
                       struct cs_buf *facts)
{
    struct cs_str rest = a->request.code;
    for (uint32_t n = 1; n < unread->line; n++) {
        const char *end = rest.len ? memchr(rest.at, '\n', rest.len) : NULL;
        if (!end)
            return;
        rest = cs_strn(end + 1, rest.len - (size_t)(end + 1 - rest.at));
    }
    if (!unread->column || rest.len <= unread->column)
        return;
    rest = cs_strn(rest.at + unread->column - 1, rest.len - unread->column + 1);
    const char *end = rest.at[0] == '"' || rest.at[0] == '\''
                          ? memchr(rest.at + 1, rest.at[0], rest.len - 1)
                          : NULL;
    if (!end || memchr(rest.at, '\n', (size_t)(end - rest.at)))
        return;
    struct cs_json_writer w = CS_JSON_WRITER(facts);
    cs_json_open(&w, '{');
    cs_json_key(&w, "facts");
    cs_json_open(&w, '[');
    cs_json_open(&w, '{');
    cs_json_key(&w, "kind");
    cs_json_put_z(&w, "import");
    cs_json_key(&w, "name");
    cs_json_put_str(&w, cs_strn(rest.at + 1, (size_t)(end - rest.at) - 1));
    cs_json_key(&w, "line");
    cs_json_put_u64(&w, unread->line);
    cs_json_key(&w, "column");
    cs_json_put_u64(&w, unread->column);
    cs_json_close(&w, '}');
    cs_json_close(&w, ']');
    cs_json_close(&w, '}');
}

/* What the worker says about why it could not read the program: unchecked. */
static void not_read(struct assessing *a, struct cs_str report)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_BUF struct cs_buf facts = {0};
    struct cs_unread unread = {.why = CS_STR("it cannot be read")};
    int64_t line = 0, column = 0;
    if (report.len && cs_json_parse(report, NULL, &doc, NULL) == 0) {
        struct cs_json_val root = cs_json_root(&doc);
        struct cs_str message = cs_json_str(cs_json_get(root, "message"), &a->arena);
        cs_json_i64(cs_json_get(root, "line"), &line);
        cs_json_i64(cs_json_get(root, "column"), &column);
        if (message.len)
            unread.why = message;
        unread.instead = cs_json_str(cs_json_get(root, "suggestion"), &a->arena);
        if (line > 0 && line < INT32_MAX && column >= 0 && column < INT32_MAX) {
            unread.line = (uint32_t)line;
            unread.column = (uint32_t)column;
        }
        if (cs_json_is(cs_json_get(root, "type"), "permission_error"))
            put_import(a, &unread, &facts);
    }
    struct cs_circumstances c = circumstances(a);
    cs_judge_unreadable(a->runner->policy, &unread, cs_buf_str(&facts), &c, &a->request.limits,
                        &a->arena, &a->verdict);
}

static void on_ended(void *ctx, const struct cs_job_end *end)
{
    struct assessing *a = ctx;
    a->job = NULL;
    if (!a->judged && (end->how == CS_ENDED_FAILED || end->how == CS_ENDED_CANCELLED))
        a->err =
            end->err.code ? end->err : (struct cs_err){.code = CS_BUSY, .msg = "it was cancelled"};
    else if (!a->judged)
        not_read(a, end->how == CS_ENDED_ERROR ? end->payload
                                               : CS_STR("{\"message\":\"its reader gave up\"}"));
    finish(a);
}

static void on_log(void *ctx, enum cs_level level, struct cs_str text)
{
    (void)ctx;
    (void)level;
    (void)text;
}

static void on_output(void *ctx, bool is_stderr, struct cs_str bytes)
{
    (void)ctx;
    (void)is_stderr;
    (void)bytes;
}

static void on_progress(void *ctx, struct cs_str json)
{
    (void)ctx;
    (void)json;
}

/* Never: it does not run. */
static void on_call(void *ctx, uint64_t id, struct cs_str server, struct cs_str tool,
                    struct cs_str arguments)
{
    struct assessing *a = ctx;
    (void)server;
    (void)tool;
    (void)arguments;
    cs_job_result(a->job, id, CS_ANSWER_DENIED, CS_STR("{\"message\":\"it was only assessed\"}"));
}

static const struct cs_job_events events = {
    .facts = on_facts,
    .call = on_call,
    .log = on_log,
    .output = on_output,
    .progress = on_progress,
    .ended = on_ended,
};

/* Servers of tools that were given are globals too. */
static struct cs_str globals_of(struct assessing *a)
{
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    const struct cs_tool_view *tools = a->request.tools;
    cs_json_open(&w, '[');
    for (size_t i = 0; i < a->request.tool_count; i++) {
        bool known = false;
        for (size_t n = 0; n < i && !known; n++)
            known = cs_str_eq(tools[n].target.server_ident, tools[i].target.server_ident);
        if (!known)
            cs_json_put_str(&w, tools[i].target.server_ident);
    }
    cs_json_close(&w, ']');
    return cs_arena_dup(&a->arena, cs_buf_str(&json));
}

static void compile(struct assessing *a)
{
    struct cs_job_spec spec = {
        .language = CS_TYPESCRIPT,
        .source = a->request.code,
        .limits = a->request.limits,
        .mcp_servers = -1,
    };
    if (a->runner->tools) {
        a->catalogue = cs_tools_current(a->runner->tools);
        spec.mcp_servers = cs_catalogue_dir(a->catalogue);
        spec.globals = cs_catalogue_globals(a->catalogue);
    }
    if (a->request.tools)
        spec.globals = globals_of(a);
    if (cs_job_start(a->runner->sandbox, &spec, &events, a, &a->job, &a->err) < 0)
        finish_soon(a);
}

static void on_listed(void *ctx)
{
    compile(ctx);
}

/* --- without one --- */

static void judge_guest(struct assessing *a)
{
    struct cs_circumstances c = circumstances(a);
    cs_judge(a->runner->policy, (struct cs_str){0}, &c, &a->request.limits, &a->arena, &a->verdict);
    finish_soon(a);
}

void cs_assess(struct cs_runner *runner, const struct cs_assess_request *request,
               void (*done)(void *ctx, const struct cs_err *err, const struct cs_verdict *verdict),
               void *ctx)
{
    struct assessing *a = CS_NEW(struct assessing);
    a->runner = runner;
    a->request = *request;
    a->done = done;
    a->ctx = ctx;
    if (!a->request.principal.len)
        a->request.principal = CS_STR("local");
    if (!a->request.tenant.len)
        a->request.tenant = CS_STR("default");
    if (cs_policy_admit(request->code, (struct cs_str){0}, &request->limits, &a->err) < 0) {
        struct cs_circumstances c = circumstances(a);
        const struct cs_unread unread = {.why = cs_str(a->err.msg)};
        cs_judge_unreadable(runner->policy, &unread, (struct cs_str){0}, &c, &a->request.limits,
                            &a->arena, &a->verdict);
        a->err = (struct cs_err){0};
        finish_soon(a);
    } else if (a->request.language != CS_TYPESCRIPT) {
        judge_guest(a);
    } else if (runner->tools && !a->request.tools && cs_tools_waiting(runner->tools)) {
        cs_tools_await(runner->tools, (struct cs_str){0}, false, LISTED_WAIT_MS, on_listed, a);
    } else {
        compile(a);
    }
}
