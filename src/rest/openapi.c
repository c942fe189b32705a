/* /openapi.json: the table of routes, and the schemas of openapi.json beside this file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "rest/inside.h"

CS_EMBED(parts_json, "src/rest/openapi.json")

/* Words of a list that is separated by spaces, one after the other; empty at its end. */
static struct cs_str word(const char **at)
{
    *at += strspn(*at, " ");
    struct cs_str w = {*at, strcspn(*at, " ")};
    *at += w.len;
    return w;
}

static void put_ref(struct cs_json_writer *w, const char *kind, struct cs_str name)
{
    CS_AUTO_BUF struct cs_buf ref = {0};
    cs_buf_printf(&ref, "#/components/%s/%.*s", kind, CS_STR_ARG(name));
    cs_json_open(w, '{');
    cs_put_text(w, "$ref", cs_buf_str(&ref));
    cs_json_close(w, '}');
}

/* --- one operation --- */

static void put_path_parameters(struct cs_json_writer *w, const char *path)
{
    for (const char *at = strchr(path, '{'); at; at = strchr(at + 1, '{')) {
        struct cs_str name = {at + 1, strcspn(at + 1, "*}")};
        cs_json_open(w, '{');
        cs_put_text(w, "name", name);
        cs_put_text(w, "in", CS_STR("path"));
        cs_json_key(w, "required");
        cs_json_put_bool(w, true);
        if (name.at[name.len] == '*')
            cs_put_text(w, "description", CS_STR("May have slashes in it."));
        cs_json_key(w, "schema");
        cs_json_put_raw(w, CS_STR("{\"type\":\"string\",\"minLength\":1}"));
        cs_json_close(w, '}');
    }
}

static void put_parameters(struct cs_json_writer *w, const struct cs_route *r)
{
    const char *at = r->query;
    if (!*r->query && !strchr(r->path, '{'))
        return;
    cs_json_key(w, "parameters");
    cs_json_open(w, '[');
    put_path_parameters(w, r->path);
    for (struct cs_str name = word(&at); name.len; name = word(&at))
        put_ref(w, "parameters", name);
    cs_json_close(w, ']');
}

static void put_body(struct cs_json_writer *w, const struct cs_route *r)
{
    if (r->body == CS_BODY_NONE)
        return;
    cs_json_key(w, "requestBody");
    cs_json_open(w, '{');
    cs_json_key(w, "required");
    cs_json_put_bool(w, r->body != CS_BODY_MAYBE);
    cs_json_key(w, "content");
    cs_json_open(w, '{');
    cs_json_key(w, r->body == CS_BODY_BYTES ? "application/octet-stream" : "application/json");
    cs_json_open(w, '{');
    if (r->schema) {
        cs_json_key(w, "schema");
        put_ref(w, "schemas", cs_str(r->schema));
    }
    cs_json_close(w, '}');
    cs_json_close(w, '}');
    cs_json_close(w, '}');
}

/* Bodies that are no JSON. */
static const struct {
    const char *name, *type, *schema;
} others[] = {
    {"bytes", "application/octet-stream", "{}"},
    {"text", "text/plain", "{\"schema\":{\"type\":\"string\"}}"},
    {"events", "text/event-stream", "{\"schema\":{\"type\":\"string\"}}"},
};

static void put_content(struct cs_json_writer *w, struct cs_str name)
{
    for (size_t i = 0; i < CS_COUNT(others); i++) {
        if (cs_str_is(name, others[i].name)) {
            cs_json_key(w, others[i].type);
            cs_json_put_raw(w, cs_str(others[i].schema));
            return;
        }
    }
    cs_json_key(w, "application/json");
    cs_json_open(w, '{');
    cs_json_key(w, "schema");
    put_ref(w, "schemas", name);
    cs_json_close(w, '}');
}

static void put_header(struct cs_json_writer *w, const char *name, const char *what)
{
    cs_json_key(w, name);
    cs_json_open(w, '{');
    cs_put_text(w, "description", cs_str(what));
    cs_json_key(w, "schema");
    cs_json_put_raw(w, CS_STR("{\"type\":\"string\"}"));
    cs_json_close(w, '}');
}

static void put_headers(struct cs_json_writer *w, unsigned status, bool keyed)
{
    const char *name = status == 201 || status == 202   ? "Location"
                       : status == 206                  ? "Content-Range"
                       : status == 429 || status == 503 ? "Retry-After"
                                                        : NULL;
    const char *what = status < 206    ? "Where it is"
                       : status == 206 ? "Which part it is"
                                       : "Seconds after which to try again";
    if (!name && !keyed)
        return;
    cs_json_key(w, "headers");
    cs_json_open(w, '{');
    if (name)
        put_header(w, name, what);
    if (keyed)
        put_header(w, "Idempotency-Replayed", "true: it is the answer of an earlier request");
    cs_json_close(w, '}');
}

static const char *meaning(unsigned status)
{
    switch (status) {
    case 201:
        return "It is there now";
    case 202:
        return "It was admitted and runs";
    case 204:
        return "It worked; there is nothing to say";
    case 206:
        return "The part that was asked for";
    case 503:
        return "It cannot be used right now";
    default:
        return "The answer";
    }
}

static void end_answer(struct cs_json_writer *w)
{
    cs_json_close(w, '}'); /* content */
    cs_json_close(w, '}');
}

/* `answers` has equal statuses next to each other. */
static void put_answers(struct cs_json_writer *w, const struct cs_route *r)
{
    const char *at = r->answers;
    bool keyed = strstr(r->query, "IdempotencyKey") != NULL;
    unsigned open = 0;
    for (struct cs_str a = word(&at); a.len; a = word(&at)) {
        unsigned status = (unsigned)strtoul(a.at, NULL, 10);
        struct cs_str name = {a.at + 4, a.len - 4};
        if (status != open) {
            if (open)
                end_answer(w);
            open = status;
            CS_AUTO_BUF struct cs_buf key = {0};
            cs_buf_printf(&key, "%u", status);
            cs_json_key_str(w, cs_buf_str(&key));
            cs_json_open(w, '{');
            cs_put_text(w, "description", cs_str(meaning(status)));
            put_headers(w, status, keyed);
            cs_json_key(w, "content");
            cs_json_open(w, '{');
        }
        if (!cs_str_is(name, "none"))
            put_content(w, name);
    }
    if (open)
        end_answer(w);
}

static void put_error(struct cs_json_writer *w, struct cs_str status)
{
    cs_json_key_str(w, status);
    put_ref(w, "responses", status);
}

static void put_operation(struct cs_json_writer *w, const struct cs_route *r)
{
    const char *at = r->errors;
    cs_put_text(w, "operationId", cs_str(r->id));
    cs_put_text(w, "summary", cs_str(r->summary));
    cs_json_key(w, "tags");
    cs_json_open(w, '[');
    cs_json_put_z(w, r->tag);
    cs_json_close(w, ']');
    put_parameters(w, r);
    put_body(w, r);
    cs_json_key(w, "responses");
    cs_json_open(w, '{');
    put_answers(w, r);
    if (r->need != CS_NEED_NOTHING) {
        put_error(w, CS_STR("400"));
        put_error(w, CS_STR("401"));
        put_error(w, CS_STR("403"));
        put_error(w, CS_STR("429"));
    }
    for (struct cs_str status = word(&at); status.len; status = word(&at))
        put_error(w, status);
    cs_json_close(w, '}');
    if (r->need == CS_NEED_NOTHING) {
        cs_json_key(w, "security");
        cs_json_put_raw(w, CS_STR("[]"));
    }
}

/* --- paths --- */

static bool seen_before(const struct cs_route *routes, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(routes[k].path, routes[i].path) == 0)
            return true;
    return false;
}

static void put_path(struct cs_json_writer *w, const struct cs_route *routes, size_t count,
                     size_t first)
{
    static const struct {
        const char *method, *key;
    } keys[] = {{"GET", "get"}, {"PUT", "put"}, {"POST", "post"}, {"DELETE", "delete"}};
    CS_AUTO_BUF struct cs_buf path = {0};
    for (const char *c = routes[first].path; *c; c++)
        if (*c != '*')
            cs_buf_putc(&path, *c);
    cs_json_key_str(w, cs_buf_str(&path));
    cs_json_open(w, '{');
    for (size_t i = first; i < count; i++) {
        if (strcmp(routes[i].path, routes[first].path) != 0)
            continue;
        for (size_t k = 0; k < CS_COUNT(keys); k++)
            if (strcmp(routes[i].method, keys[k].method) == 0)
                cs_json_key(w, keys[k].key);
        cs_json_open(w, '{');
        put_operation(w, &routes[i]);
        cs_json_close(w, '}');
    }
    cs_json_close(w, '}');
}

static void put_paths(struct cs_json_writer *w)
{
    size_t count;
    const struct cs_route *routes = cs_routes(&count);
    cs_json_key(w, "paths");
    cs_json_open(w, '{');
    for (size_t i = 0; i < count; i++)
        if (!seen_before(routes, i))
            put_path(w, routes, count, i);
    cs_json_close(w, '}');
}

/* --- components --- */

static void put_responses(struct cs_json_writer *w)
{
    static const unsigned statuses[] = {400, 401, 403, 404, 409, 412, 413,
                                        415, 416, 422, 429, 501, 503};
    cs_json_key(w, "responses");
    cs_json_open(w, '{');
    for (size_t i = 0; i < CS_COUNT(statuses); i++) {
        char key[8];
        snprintf(key, sizeof key, "%u", statuses[i]);
        cs_json_key(w, key);
        cs_json_open(w, '{');
        cs_put_text(w, "description", cs_str(cs_rest_title(statuses[i])));
        put_headers(w, statuses[i], false);
        cs_json_key(w, "content");
        cs_json_open(w, '{');
        cs_json_key(w, "application/problem+json");
        cs_json_open(w, '{');
        cs_json_key(w, "schema");
        put_ref(w, "schemas", CS_STR("Problem"));
        cs_json_close(w, '}');
        cs_json_close(w, '}');
        cs_json_close(w, '}');
    }
    cs_json_close(w, '}');
}

/* Both from the table of limits: what may be asked for, and what held. */
static void put_limits(struct cs_json_writer *w, const char *name, bool asked)
{
    cs_json_key(w, name);
    cs_json_open(w, '{');
    cs_put_text(w, "type", CS_STR("object"));
    cs_put_text(w, "description",
                asked ? CS_STR("Less than what the server allows; never more. A number in the unit "
                               "of the limit, or a text like \"64M\" or \"5s\".")
                      : CS_STR("The limits that held."));
    if (asked) {
        cs_json_key(w, "additionalProperties");
        cs_json_put_bool(w, false);
    }
    cs_json_key(w, "properties");
    cs_json_open(w, '{');
    for (int i = 0; i < CS_LIMIT_COUNT; i++) {
        enum cs_limit limit = (enum cs_limit)i;
        CS_AUTO_BUF struct cs_buf what = {0};
        cs_buf_printf(&what, "%s, in %s", cs_limit_what(limit), cs_limit_unit(limit));
        cs_json_key(w, cs_limit_name(limit));
        cs_json_open(w, '{');
        cs_json_key(w, "type");
        cs_json_put_raw(w, asked ? CS_STR("[\"integer\",\"string\"]") : CS_STR("\"integer\""));
        if (asked)
            cs_put_number(w, "minimum", 1);
        cs_put_text(w, "description", cs_buf_str(&what));
        cs_json_close(w, '}');
    }
    cs_json_close(w, '}');
    cs_json_close(w, '}');
}

static void put_members(struct cs_json_writer *w, struct cs_json_val object)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_json_iter it = {0};
    struct cs_json_val key, value;
    while (cs_json_next(object, &it, &key, &value)) {
        cs_json_key_str(w, cs_json_str(key, &arena));
        cs_json_put_raw(w, cs_json_raw(value));
    }
}

static void put_raw(struct cs_json_writer *w, struct cs_json_val parts, const char *name)
{
    cs_json_key(w, name);
    cs_json_put_raw(w, cs_json_raw(cs_json_get(parts, name)));
}

static void put_components(struct cs_json_writer *w, struct cs_json_val parts)
{
    cs_json_key(w, "components");
    cs_json_open(w, '{');
    put_raw(w, parts, "securitySchemes");
    put_raw(w, parts, "parameters");
    put_responses(w);
    cs_json_key(w, "schemas");
    cs_json_open(w, '{');
    put_members(w, cs_json_get(parts, "schemas"));
    put_limits(w, "LimitsAsked", true);
    put_limits(w, "Limits", false);
    cs_json_close(w, '}');
    cs_json_close(w, '}');
}

void cs_rest_openapi(struct cs_buf *json)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_err err = {0};
    struct cs_json_writer w = CS_JSON_WRITER(json);
    if (cs_json_parse(parts_json(), NULL, &doc, &err) < 0) {
        fprintf(stderr, "src/rest/openapi.json: %s\n", err.msg);
        abort(); /* it is a part of this program */
    }
    struct cs_json_val parts = cs_json_root(&doc);
    cs_json_open(&w, '{');
    cs_put_text(&w, "openapi", CS_STR("3.1.0"));
    cs_json_key(&w, "info");
    cs_json_open(&w, '{');
    put_members(&w, cs_json_get(parts, "info"));
    cs_put_text(&w, "version", CS_STR(CS_VERSION));
    cs_json_close(&w, '}');
    cs_json_key(&w, "servers");
    cs_json_put_raw(&w, CS_STR("[{\"url\":\"/\"}]"));
    put_raw(&w, parts, "tags");
    cs_json_key(&w, "security");
    cs_json_put_raw(&w, CS_STR("[{\"bearer\":[]},{\"apiKey\":[]}]"));
    put_paths(&w);
    put_components(&w, parts);
    cs_json_close(&w, '}');
}
