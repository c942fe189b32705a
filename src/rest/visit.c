/* One request under way: where it waits, and how it is answered. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/time.h"
#include "rest/inside.h"

static void unlink_visit(struct cs_visit *v)
{
    if (!v->rest)
        return;
    if (v->next)
        v->next->before = v->before;
    if (v->before)
        v->before->next = v->next;
    else
        v->rest->visits = v->next;
    v->rest = NULL;
}

static void on_timer_closed(uv_handle_t *h)
{
    free(h->data);
}

void cs_visit_free(struct cs_visit *v)
{
    unlink_visit(v);
    cs_json_done(&v->body);
    cs_arena_done(&v->arena);
    if (v->has_timer)
        uv_close((uv_handle_t *)&v->timer, on_timer_closed);
    else
        free(v);
}

static void on_nothing(void *ctx, struct cs_exchange *x)
{
    (void)ctx, (void)x;
}

/* Nobody waits for the answer any more. */
static void leave(struct cs_visit *v, bool closing)
{
    if (v->x && v->cut && closing)
        cs_exchange_on_gone(v->x, on_nothing, NULL);
    v->x = NULL;
    if (v->seat)
        cs_run_leave(v->seat);
    if (v->await)
        cs_await_cancel(v->await);
    if (v->seat || v->await || v->streams) {
        cs_visit_free(v);
        return;
    }
    if (v->run && !v->goes_on && !closing)
        cs_run_cancel(v->run);
    if (closing)
        unlink_visit(v);
}

static void on_gone(void *ctx, struct cs_exchange *x)
{
    (void)x;
    leave(ctx, false);
}

static void say_closing(struct cs_visit *v)
{
    struct cs_err err = {0};
    if (v->streams) {
        if (!v->cut)
            cs_exchange_end(v->x);
        return;
    }
    cs_fail(&err, CS_BUSY, "the server is shutting down");
    cs_exchange_set(v->x, "Retry-After", CS_STR("5"));
    cs_rest_problem(v->x, 0, &err);
}

void cs_rest_close(struct cs_rest *rest)
{
    while (rest->visits) {
        struct cs_visit *v = rest->visits;
        if (v->x)
            say_closing(v);
        leave(v, true);
    }
    cs_schema_free(rest->execution);
    cs_schema_free(rest->session);
    cs_schema_free(rest->replay);
    cs_schema_free(rest->answer);
    free(rest);
}

void cs_visit_send(struct cs_visit *v, unsigned status, const char *type, struct cs_str body)
{
    struct cs_exchange *x = CS_TAKE(v->x);
    if (!x)
        return;
    cs_exchange_set(x, "Cache-Control", CS_STR("no-store"));
    cs_exchange_set(x, "X-Content-Type-Options", CS_STR("nosniff"));
    cs_exchange_reply(x, status, type, body);
}

void cs_visit_reply(struct cs_visit *v, unsigned status, const char *type, struct cs_str body)
{
    cs_visit_send(v, status, type, body);
    cs_visit_free(v);
}

void cs_visit_json(struct cs_visit *v, unsigned status, const struct cs_buf *json)
{
    cs_visit_reply(v, status, "application/json", cs_buf_str(json));
}

void cs_visit_fail(struct cs_visit *v, unsigned status, const struct cs_err *err)
{
    struct cs_exchange *x = CS_TAKE(v->x);
    if (x)
        cs_rest_problem(x, status, err);
    cs_visit_free(v);
}

void cs_visit_failf(struct cs_visit *v, unsigned status, enum cs_code code, const char *fmt, ...)
{
    struct cs_err err = {0};
    va_list ap;
    va_start(ap, fmt);
    cs_vfail(&err, code, fmt, ap);
    va_end(ap);
    cs_visit_fail(v, status, &err);
}

void cs_visit_set(struct cs_visit *v, const char *name, struct cs_str value)
{
    if (v->x)
        cs_exchange_set(v->x, name, value);
}

static void on_timer(uv_timer_t *t)
{
    struct cs_visit *v = t->data;
    v->fired(v);
}

void cs_visit_timer(struct cs_visit *v, uint64_t ms, bool repeats, void (*fired)(struct cs_visit *))
{
    if (!v->has_timer)
        uv_timer_init(v->rest->loop, &v->timer);
    v->has_timer = true;
    v->timer.data = v;
    v->fired = fired;
    uv_timer_start(&v->timer, on_timer, ms, repeats ? ms : 0);
}

/* --- what was asked --- */

struct cs_str cs_visit_query(struct cs_visit *v, const char *name)
{
    return cs_arena_dup(&v->arena, cs_exchange_query(v->x, name));
}

struct cs_str cs_visit_header(struct cs_visit *v, const char *name)
{
    return cs_arena_dup(&v->arena, cs_exchange_header(v->x, name));
}

bool cs_visit_number(struct cs_visit *v, const char *name, uint64_t least, uint64_t most,
                     uint64_t otherwise, uint64_t *value)
{
    struct cs_str text = cs_exchange_query(v->x, name);
    *value = otherwise;
    if (!text.at)
        return true;
    uint64_t n = 0;
    bool ok = text.len > 0 && text.len <= 18;
    for (size_t i = 0; ok && i < text.len; i++) {
        ok = text.at[i] >= '0' && text.at[i] <= '9';
        n = n * 10 + (uint64_t)(text.at[i] - '0');
    }
    *value = n;
    if (ok && n >= least && n <= most)
        return true;
    cs_visit_failf(v, 0, CS_INVALID, "%s must be a number from %llu to %llu; given '%.*s'", name,
                   (unsigned long long)least, (unsigned long long)most,
                   (int)(text.len < 40 ? text.len : 40), text.at);
    return false;
}

struct cs_str cs_visit_tenant(const struct cs_visit *v)
{
    return cs_str(v->caller.tenant);
}

/* "; q=0.8" of one item of an Accept header, in thousandths. */
static unsigned quality(struct cs_str item)
{
    const char *q = memmem(item.at, item.len, "q=", 2);
    if (!q)
        return 1000;
    unsigned value = 0, digit = 1000;
    for (q += 2; q < item.at + item.len && digit; q++) {
        if (*q == '.')
            continue;
        if (*q < '0' || *q > '9')
            break;
        value += (unsigned)(*q - '0') * digit;
        digit /= 10;
    }
    return value;
}

/* The weight that an Accept header gives to a type that it names; 0: it does not. */
static unsigned weight(struct cs_str accept, const char *type)
{
    size_t n = strlen(type);
    while (accept.len) {
        const char *comma = memchr(accept.at, ',', accept.len);
        struct cs_str item = {accept.at, comma ? (size_t)(comma - accept.at) : accept.len};
        accept.at += item.len + (comma != NULL);
        accept.len -= item.len + (comma != NULL);
        while (item.len && (item.at[0] == ' ' || item.at[0] == '\t')) {
            item.at++;
            item.len--;
        }
        if (item.len >= n && strncasecmp(item.at, type, n) == 0 &&
            (item.len == n || strchr("; \t", item.at[n])))
            return quality(item);
    }
    return 0;
}

bool cs_visit_accepts(struct cs_visit *v, const char *type, const char *rather_than)
{
    struct cs_str accept = cs_exchange_header(v->x, "Accept");
    unsigned this = weight(accept, type);
    return this > 0 && this >= weight(accept, rather_than);
}

/* --- a request comes --- */

static bool is_json(struct cs_str type)
{
    const char *semicolon = type.len ? memchr(type.at, ';', type.len) : NULL;
    if (semicolon)
        type.len = (size_t)(semicolon - type.at);
    while (type.len && (type.at[type.len - 1] == ' ' || type.at[type.len - 1] == '\t'))
        type.len--;
    return (type.len == 16 && strncasecmp(type.at, "application/json", 16) == 0) ||
           (type.len > 17 && strncasecmp(type.at, "application/", 12) == 0 &&
            strncasecmp(type.at + type.len - 5, "+json", 5) == 0);
}

bool cs_visit_is_form(const struct cs_visit *v)
{
    static const char form[] = "application/x-www-form-urlencoded";
    struct cs_str type = cs_exchange_header(v->x, "Content-Type");
    size_t n = sizeof form - 1;
    return type.len >= n && strncasecmp(type.at, form, n) == 0 &&
           (type.len == n || type.at[n] == ';' || type.at[n] == ' ');
}

/* True if the body is of a kind that the route takes. */
static bool body_fits(struct cs_visit *v)
{
    struct cs_str body = cs_exchange_body(v->x), type = cs_exchange_header(v->x, "Content-Type");
    if (v->route->body == CS_BODY_NONE || v->route->body == CS_BODY_BYTES)
        return true;
    if (!body.len && v->route->body == CS_BODY_MAYBE)
        return true;
    if (v->route->body == CS_BODY_FORM && cs_visit_is_form(v))
        return true;
    if (!is_json(type)) {
        cs_visit_failf(v, 415, CS_INVALID,
                       "the body must be JSON: 'Content-Type: application/json'");
        return false;
    }
    if (!body.len) {
        cs_visit_failf(v, 0, CS_INVALID, "the body is empty; a JSON object is expected");
        return false;
    }
    return true;
}

static bool may(struct cs_visit *v)
{
    if (v->route->need == CS_NEED_NOTHING)
        return true;
    if (!v->is_known) {
        cs_visit_failf(v, 401, CS_DENIED, "a key is needed: 'Authorization: Bearer csk_...'");
        return false;
    }
    enum cs_key_role least = v->route->need == CS_NEED_ADMIN     ? CS_KEY_ADMIN
                             : v->route->need == CS_NEED_APPROVE ? CS_KEY_APPROVE
                                                                 : CS_KEY_EXECUTE;
    if (v->caller.role >= least)
        return true;
    if (v->rest->o.denied)
        v->rest->o.denied(v->rest->o.ctx, &v->caller);
    cs_visit_failf(v, 403, CS_DENIED, "this needs the role '%s'; the key has '%s'",
                   cs_key_role_name(least), cs_key_role_name(v->caller.role));
    return false;
}

static void no_route(struct cs_exchange *x, struct cs_str allow)
{
    struct cs_err err = {0};
    struct cs_str method = cs_exchange_method(x), path = cs_exchange_path(x);
    if (!allow.len) {
        cs_fail(&err, CS_MISSING,
                "there is nothing at '%.*s'; GET /openapi.json lists what there is",
                (int)(path.len < 200 ? path.len : 200), path.at);
        cs_rest_problem(x, 404, &err);
        return;
    }
    cs_exchange_set(x, "Allow", allow);
    if (cs_str_is(method, "OPTIONS")) {
        cs_exchange_reply(x, 204, NULL, (struct cs_str){0});
        return;
    }
    cs_fail(&err, CS_INVALID, "%.*s is not for '%.*s', which takes %.*s",
            (int)(method.len < 20 ? method.len : 20), method.at,
            (int)(path.len < 200 ? path.len : 200), path.at, CS_STR_ARG(allow));
    cs_rest_problem(x, 405, &err);
}

void cs_rest_head(const struct cs_rest *rest, struct cs_exchange *x)
{
    uint64_t most = cs_rest_body_bytes(rest, cs_exchange_method(x), cs_exchange_path(x)), given = 0;
    struct cs_str length = cs_exchange_header(x, "Content-Length");
    cs_exchange_expect(x, most);
    for (size_t i = 0; i < length.len && i < 19 && length.at[i] >= '0' && length.at[i] <= '9'; i++)
        given = given * 10 + (uint64_t)(length.at[i] - '0');
    if (given <= most)
        return;
    struct cs_err err = {0};
    cs_fail(&err, CS_LIMIT, "the body has %llu bytes; at most %llu are taken here",
            (unsigned long long)given, (unsigned long long)most);
    cs_rest_problem(x, 0, &err);
}

void cs_rest_handle(struct cs_rest *rest, struct cs_exchange *x, const struct cs_caller *caller)
{
    CS_AUTO_BUF struct cs_buf allow = {0};
    struct cs_str parts[CS_REST_PARTS];
    const struct cs_route *route =
        cs_route_find(cs_exchange_method(x), cs_exchange_path(x), parts, &allow);
    if (!route) {
        no_route(x, cs_buf_str(&allow));
        return;
    }
    struct cs_visit *v = CS_NEW(struct cs_visit);
    v->rest = rest;
    v->x = x;
    v->route = route;
    v->next = rest->visits;
    if (v->next)
        v->next->before = v;
    rest->visits = v;
    if (caller)
        v->caller = *caller;
    v->is_known = caller && caller->tenant[0];
    for (size_t i = 0; i < CS_REST_PARTS; i++)
        v->parts[i] = cs_arena_dup(&v->arena, parts[i]);
    cs_exchange_on_gone(x, on_gone, v);
    if (may(v) && body_fits(v))
        route->handle(v);
}

int cs_rest_new(uv_loop_t *loop, const struct cs_rest_options *options, struct cs_rest **rest,
                struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf openapi = {0};
    cs_rest_openapi(&openapi);
    struct cs_rest *r = CS_NEW(struct cs_rest);
    r->loop = loop;
    r->o = *options;
    if (!r->o.file_bytes)
        r->o.file_bytes = 10u << 20;
    r->started = cs_time_ms();
    if (cs_rest_schema(cs_buf_str(&openapi), "ExecutionRequest", &r->execution, err) < 0 ||
        cs_rest_schema(cs_buf_str(&openapi), "SessionRequest", &r->session, err) < 0 ||
        cs_rest_schema(cs_buf_str(&openapi), "ReplayRequest", &r->replay, err) < 0 ||
        cs_rest_schema(cs_buf_str(&openapi), "ApprovalAnswer", &r->answer, err) < 0) {
        cs_rest_close(r);
        return -1;
    }
    *rest = r;
    return 0;
}

void cs_rest_set(struct cs_rest *rest, uint64_t code_bytes, uint64_t inputs_bytes,
                 uint32_t timeout_ms)
{
    rest->o.code_bytes = code_bytes;
    rest->o.inputs_bytes = inputs_bytes;
    rest->o.timeout_ms = timeout_ms;
}
