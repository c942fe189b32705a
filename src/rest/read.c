/* Bodies become requests. What they may hold is what /openapi.json says: the same schema is checked
 * here. */
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "rest/inside.h"

#define SELF       "https://caisson.invalid/openapi.json"
#define FAULTS_MAX 5
#define KEY_MAX    255

int cs_rest_schema(struct cs_str openapi, const char *name, struct cs_schema **schema,
                   struct cs_err *err)
{
    char ref[200];
    snprintf(ref, sizeof ref, "{\"$ref\": \"" SELF "#/components/schemas/%s\"}", name);
    const struct cs_schema_document self = {CS_STR(SELF), openapi};
    const struct cs_schema_options options = {.documents = &self, .document_count = 1};
    return cs_schema_new(cs_str(ref), &options, schema, err);
}

int cs_rest_read_object(struct cs_str body, const struct cs_schema *schema, struct cs_json *doc,
                        struct cs_arena *arena, struct cs_err *err)
{
    const struct cs_json_limits limits = {.bytes = body.len + 1, .depth = CS_REST_DEPTH};
    if (cs_json_parse(body, &limits, doc, err) < 0) {
        err->code = CS_INVALID; /* its size was bounded before; what is left is its depth */
        return cs_wrap(err, "the body");
    }
    struct cs_json_val root = cs_json_root(doc);
    if (cs_json_type(root) != CS_JSON_OBJECT)
        return cs_fail(err, CS_INVALID, "the body must be a JSON object");
    if (!schema)
        return 0;
    struct cs_schema_fault faults[FAULTS_MAX];
    int count = cs_schema_check(schema, root, arena, faults, FAULTS_MAX, err);
    if (count <= 0)
        return count;
    CS_AUTO_BUF struct cs_buf text = {0};
    cs_schema_explain(faults, count, &text);
    return cs_fail(err, CS_INVALID, "%s", cs_buf_cstr(&text));
}

static int read_limit(struct cs_json_val value, enum cs_limit limit, struct cs_arena *arena,
                      struct cs_limits *limits, struct cs_err *err)
{
    int64_t number = 0;
    uint64_t amount = 0;
    struct cs_str text = cs_json_str(value, arena);
    if (cs_json_i64(value, &number))
        amount = (uint64_t)number;
    else if (memchr(text.at ? text.at : "", 0, text.len))
        return cs_fail(err, CS_INVALID, "limits.%s: a NUL is in it", cs_limit_name(limit));
    else if (cs_limit_parse(limit, cs_arena_dup(arena, text).at, &amount, err) < 0)
        return cs_wrap(err, "limits.%s", cs_limit_name(limit));
    cs_limit_set(limits, limit, amount);
    return 0;
}

/* The schema has seen to it that there are only known ones. */
static int read_limits(struct cs_json_val asked, struct cs_arena *arena, struct cs_limits *limits,
                       struct cs_err *err)
{
    for (int i = 0; i < CS_LIMIT_COUNT; i++) {
        struct cs_json_val value = cs_json_get(asked, cs_limit_name((enum cs_limit)i));
        if (cs_json_type(value) != CS_JSON_NONE &&
            read_limit(value, (enum cs_limit)i, arena, limits, err) < 0)
            return -1;
    }
    return 0;
}

static int read_time(const struct cs_rest_read *how, struct cs_json_val root,
                     struct cs_limits *limits, struct cs_err *err)
{
    int64_t ms = 0;
    bool named =
        cs_json_type(cs_json_get(cs_json_get(root, "limits"), "wall_clock")) != CS_JSON_NONE;
    if (!cs_json_i64(cs_json_get(root, "timeout_ms"), &ms)) {
        if (!named)
            limits->wall_clock = how->timeout_ms;
        return 0;
    }
    if (named)
        return cs_fail(err, CS_INVALID,
                       "timeout_ms and limits.wall_clock are the same thing: name one of them");
    limits->wall_clock = (uint64_t)ms;
    return 0;
}

int cs_rest_read_execution(const struct cs_rest_read *how, struct cs_str body, struct cs_json *doc,
                           struct cs_arena *arena, struct cs_request *request, bool *async,
                           struct cs_err *err)
{
    if (cs_rest_read_object(body, how->schema, doc, arena, err) < 0)
        return -1;
    struct cs_json_val root = cs_json_root(doc), language = cs_json_get(root, "language");
    *request = (struct cs_request){
        .code = cs_json_str(cs_json_get(root, "code"), arena),
        .inputs = cs_json_raw(cs_json_get(root, "inputs")),
        .limits = cs_limits_default(),
        .session = cs_json_str(cs_json_get(root, "session_id"), arena),
        .session_must_be_free = cs_json_is(cs_json_get(root, "on_busy"), "fail"),
        .intent = cs_json_str(cs_json_get(root, "intent"), arena),
        .durable = cs_json_type(cs_json_get(root, "durable")) == CS_JSON_TRUE,
        .clock = cs_json_is(cs_json_get(root, "clock"), "live") ? CS_CLOCK_LIVE : CS_CLOCK_EVENTS,
    };
    /* It is one of the schema's. */
    cs_cache_mode_parse(cs_json_str(cs_json_get(root, "cache"), arena), &request->cache);
    *async = cs_json_type(cs_json_get(root, "async")) == CS_JSON_TRUE;
    if (cs_json_type(language) != CS_JSON_NONE &&
        cs_language_parse(cs_json_str(language, arena), &request->language, err) < 0)
        return cs_wrap(err, "language");
    if (request->code.len > how->code_bytes)
        return cs_fail(err, CS_LIMIT, "code: %zu bytes; at most %llu", request->code.len,
                       (unsigned long long)how->code_bytes);
    if (request->inputs.len > how->inputs_bytes)
        return cs_fail(err, CS_LIMIT, "inputs: %zu bytes; at most %llu", request->inputs.len,
                       (unsigned long long)how->inputs_bytes);
    if (read_limits(cs_json_get(root, "limits"), arena, &request->limits, err) < 0)
        return -1;
    return read_time(how, root, &request->limits, err);
}

/* --- privacy --- */

int cs_rest_read_privacy(const struct cs_privacy *privacy, const struct cs_caller *caller,
                         struct cs_json_val root, struct cs_arena *arena,
                         struct cs_request *request, struct cs_err *err)
{
    struct cs_privacy_wish wish;
    if (cs_privacy_wish(privacy, cs_json_get(root, "privacy"), arena, &wish, err) < 0)
        return -1;
    request->privacy = wish.level;
    request->customs = wish.customs;
    request->custom_count = wish.custom_count;
    request->reveal = cs_json_type(cs_json_get(root, "reveal")) == CS_JSON_TRUE;
    if (request->reveal && cs_json_type(cs_json_get(root, "async")) == CS_JSON_TRUE)
        return cs_fail(err, CS_INVALID,
                       "reveal: goes with an answer that is waited for; leave out async");
    if (request->reveal && !caller->reveal)
        return cs_fail(err, CS_DENIED,
                       "reveal: %s has no right to values instead of tokens; 'caisson keys create "
                       "NAME --reveal' makes a key that has it, 'caisson run --reveal' needs none",
                       caller->key_id[0] ? "this key" : "who shows no key");
    return 0;
}

/* --- Idempotency-Key --- */

/* Of method, path and what the body says: the order of members and white space do not count. */
static struct cs_str fingerprint(struct cs_visit *v)
{
    CS_AUTO_BUF struct cs_buf text = {0};
    cs_buf_puts(&text, v->route->method);
    cs_buf_putc(&text, '\n');
    cs_buf_putstr(&text, cs_exchange_path(v->x));
    cs_buf_putc(&text, '\n');
    cs_put_canonical(&text, cs_json_root(&v->body));
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned len = 0;
    if (!EVP_Digest(text.at, text.len, digest, &len, EVP_sha256(), NULL))
        abort(); /* nothing but memory can be missing */
    char *hex = cs_arena_alloc(&v->arena, 2 * (size_t)len + 1);
    for (unsigned i = 0; i < len; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    return cs_strn(hex, 2 * (size_t)len);
}

bool cs_visit_key(struct cs_visit *v, struct cs_request *request)
{
    struct cs_str key = cs_visit_header(v, "Idempotency-Key");
    unsigned times = cs_exchange_header_count(v->x, "Idempotency-Key");
    if (!times)
        return true;
    bool ok = times == 1 && key.len > 0 && key.len <= KEY_MAX;
    for (size_t i = 0; ok && i < key.len; i++)
        ok = key.at[i] >= ' ' && key.at[i] <= '~';
    if (!ok) {
        cs_visit_failf(v, 0, CS_INVALID,
                       "Idempotency-Key: 1 to %d printable ASCII characters, once", KEY_MAX);
        return false;
    }
    request->key = key;
    request->fingerprint = fingerprint(v);
    return true;
}
