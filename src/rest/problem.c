/* Errors as application/problem+json (RFC 9457). */
#include "base/json.h"
#include "base/log.h"
#include "rest/inside.h"

struct kind {
    const char *name;  /* `code`: what programs look at */
    const char *title; /* the same for every problem of its kind */
    unsigned status;
};

static const struct kind kinds[] = {
    [CS_OK] = {"internal", "Internal error", 500},
    [CS_INVALID] = {"invalid", "The request is malformed", 400},
    [CS_MISSING] = {"missing", "There is no such thing", 404},
    [CS_DENIED] = {"denied", "Not allowed", 403},
    [CS_LIMIT] = {"limit", "A limit was reached", 413},
    [CS_CONFLICT] = {"conflict", "Not as things stand", 409},
    [CS_BUSY] = {"busy", "Too much at once", 503},
    [CS_SCRIPT] = {"internal", "Internal error", 500},
    [CS_UPSTREAM] = {"upstream", "A tool server failed", 502},
    [CS_SYSTEM] = {"internal", "Internal error", 500},
    [CS_BUG] = {"internal", "Internal error", 500},
};

/* A status that says more than the code does. */
static const struct kind special[] = {
    {"unauthorized", "A key is needed", 401},
    {"not_allowed", "The method is not allowed here", 405},
    {"timeout", "The request took too long", 408},
    {"precondition", "It is another one than the one that was seen", 412},
    {"media_type", "The media type is not supported", 415},
    {"range", "The range cannot be served", 416},
    {"misdirected", "The host is not served here", 421},
    {"key_reused", "The key was used for another request", 422},
    {"rate", "Too many requests", 429},
    {"head_too_large", "The request head is too large", 431},
    {"not_available", "Not available", 501},
};

static const struct kind *kind_of(unsigned status, enum cs_code code)
{
    for (size_t i = 0; i < CS_COUNT(special); i++)
        if (special[i].status == status)
            return &special[i];
    return &kinds[code];
}

const char *cs_rest_title(unsigned status)
{
    for (size_t i = 0; i < CS_COUNT(kinds); i++)
        if (kinds[i].status == status)
            return kinds[i].title;
    return kind_of(status, CS_BUG)->title;
}

void cs_rest_problem_titled(struct cs_exchange *x, unsigned status, const char *title,
                            const struct cs_err *err)
{
    const struct kind *kind = kind_of(status, err->code);
    if (kind->status == 500)
        cs_log_line(CS_LOG_ERROR, "rest", "%.*s %.*s: %s", CS_STR_ARG(cs_exchange_method(x)),
                    CS_STR_ARG(cs_exchange_path(x)), err->msg);
    CS_AUTO_BUF struct cs_buf body = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&body);
    cs_json_open(&w, '{');
    cs_json_key(&w, "type");
    cs_json_put_z(&w, "about:blank");
    cs_json_key(&w, "title");
    cs_json_put_z(&w, title ? title : kind->title);
    cs_json_key(&w, "status");
    cs_json_put_u64(&w, status ? status : kind->status);
    cs_json_key(&w, "detail");
    cs_json_put_z(&w, err->msg);
    cs_json_key(&w, "code");
    cs_json_put_z(&w, kind->name);
    cs_json_key(&w, "instance");
    cs_json_put_str(&w, cs_exchange_path(x));
    cs_json_close(&w, '}');
    cs_exchange_set(x, "Cache-Control", CS_STR("no-store"));
    cs_exchange_set(x, "X-Content-Type-Options", CS_STR("nosniff"));
    cs_exchange_reply(x, status ? status : kind->status, "application/problem+json",
                      cs_buf_str(&body));
}

void cs_rest_problem(struct cs_exchange *x, unsigned status, const struct cs_err *err)
{
    cs_rest_problem_titled(x, status, NULL, err);
}
