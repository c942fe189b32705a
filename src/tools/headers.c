#include "tools/headers.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "tools/secret.h"

/* What an entry may not say in our place: the protocol stands on them. */
static const char *const ours[] = {
    "accept",     "content-type",         "content-length", "transfer-encoding",
    "connection", "mcp-protocol-version", "mcp-session-id", "mcp-method",
    "mcp-name",   "last-event-id",        "expect",         "accept-encoding",
};

static bool name_ok(const char *name)
{
    if (!name[0] || strlen(name) > 256)
        return false;
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("!#$%&'*+-.^_`|~", *c))
            return false;
    return true;
}

static bool value_ok(struct cs_str value)
{
    for (size_t i = 0; i < value.len; i++) {
        unsigned char c = (unsigned char)value.at[i];
        if ((c < ' ' && c != '\t') || c == 0x7f)
            return false;
    }
    return true;
}

void cs_headers_done(struct cs_headers *h)
{
    for (size_t i = 0; i < h->count; i++)
        cs_secret_free(h->line[i]);
    *h = (struct cs_headers){0};
}

void cs_headers_add(struct cs_headers *h, const char *name, struct cs_str value)
{
    if (h->count == CS_HEADERS_MAX || !name_ok(name) || !value_ok(value))
        return;
    CS_AUTO(cs_buf_wipe) struct cs_buf line = {0};
    cs_buf_puts(&line, name);
    /* To libcurl a header without a value would mean to leave it out. */
    cs_buf_puts(&line, value.len ? ": " : ";");
    cs_buf_putstr(&line, value);
    h->line[h->count++] = cs_strndup(line.at, line.len);
}

static bool plain(struct cs_str v)
{
    for (size_t i = 0; i < v.len; i++)
        if (v.at[i] < ' ' || v.at[i] > '~')
            return false;
    if (v.len && (v.at[0] == ' ' || v.at[v.len - 1] == ' '))
        return false;
    return !(v.len >= 11 && strncasecmp(v.at, "=?base64?", 9) == 0 && cs_str_ends(v, "?="));
}

void cs_headers_add_encoded(struct cs_headers *h, const char *name, struct cs_str value)
{
    if (plain(value)) {
        cs_headers_add(h, name, value);
        return;
    }
    CS_AUTO_BUF struct cs_buf coded = {0};
    cs_buf_puts(&coded, "=?base64?");
    cs_base64(value, &coded);
    cs_buf_puts(&coded, "?=");
    cs_headers_add(h, name, cs_buf_str(&coded));
}

static bool is_ours(const char *name)
{
    for (size_t i = 0; i < CS_COUNT(ours); i++)
        if (strcasecmp(name, ours[i]) == 0)
            return true;
    return strncasecmp(name, "mcp-param-", 10) == 0;
}

void cs_headers_add_entry(struct cs_headers *h, const struct cs_pair *pairs)
{
    for (; pairs && pairs->name; pairs++)
        if (!is_ours(pairs->name))
            cs_headers_add(h, pairs->name, cs_str(pairs->value));
}

bool cs_headers_in_entry(const struct cs_pair *pairs, const char *name)
{
    for (; pairs && pairs->name; pairs++)
        if (strcasecmp(pairs->name, name) == 0)
            return true;
    return false;
}

int cs_headers_check_entry(const struct cs_pair *pairs, struct cs_err *err)
{
    size_t n = 0;
    for (; pairs && pairs->name; pairs++, n++) {
        if (!name_ok(pairs->name))
            return cs_fail(err, CS_INVALID, "'%.60s' is no valid name of a header", pairs->name);
        if (!value_ok(cs_str(pairs->value)))
            return cs_fail(err, CS_INVALID,
                           "the header %s holds a line break or another control character",
                           pairs->name);
    }
    if (n > CS_HEADERS_MAX / 2)
        return cs_fail(err, CS_LIMIT, "%zu headers; at most %u are taken", n, CS_HEADERS_MAX / 2);
    return 0;
}

static size_t skip_space(struct cs_str s, size_t at)
{
    while (at < s.len && (s.at[at] == ' ' || (s.at[at] >= '\t' && s.at[at] <= '\r')))
        at++;
    return at;
}

/* Past the string whose opening quote is at `at`. */
static size_t skip_string(struct cs_str s, size_t at)
{
    for (at++; at < s.len && s.at[at] != '"'; at++)
        if (s.at[at] == '\\')
            at++;
    return at + 1;
}

/* Past a value; its commas and brackets are matched, and nothing else of it is looked at. */
static size_t skip_value(struct cs_str s, size_t at)
{
    size_t depth = 0;
    while (at < s.len) {
        char c = s.at[at];
        if (c == '"') {
            at = skip_string(s, at);
            continue;
        }
        if (c == '{' || c == '[')
            depth++;
        else if ((c == '}' || c == ']') && depth-- == 0)
            return at;
        else if (c == ',' && depth == 0)
            return at;
        at++;
    }
    return at;
}

bool cs_is_response(struct cs_str s)
{
    size_t at = skip_space(s, 0);
    if (at >= s.len || s.at[at] != '{')
        return false;
    for (at++;; at++) {
        at = skip_space(s, at);
        if (at >= s.len || s.at[at] != '"')
            return false;
        size_t end = skip_string(s, at);
        if (end > s.len)
            return false;
        struct cs_str key = {s.at + at + 1, end - at - 2};
        if (cs_str_is(key, "method"))
            return false;
        if (cs_str_is(key, "result") || cs_str_is(key, "error"))
            return true;
        at = skip_value(s, end);
        if (at >= s.len || s.at[at] != ',')
            return false;
    }
}

bool cs_is_rpc_error(struct cs_str json)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    const struct cs_json_limits limits = {.allow_duplicate = true};
    int64_t code;
    if (json.len == 0 || cs_json_parse(json, &limits, &doc, NULL) < 0)
        return false;
    struct cs_json_val root = cs_json_root(&doc);
    return cs_json_is(cs_json_get(root, "jsonrpc"), "2.0") &&
           cs_json_i64(cs_json_get(cs_json_get(root, "error"), "code"), &code);
}

static struct cs_str message_in(const struct cs_json *doc, struct cs_arena *arena)
{
    static const char *const names[] = {"error_description", "message", "detail", "error"};
    struct cs_json_val root = cs_json_root(doc);
    struct cs_json_val inner = cs_json_get(root, "error");
    if (cs_json_type(cs_json_get(inner, "message")) == CS_JSON_STRING)
        return cs_json_str(cs_json_get(inner, "message"), arena);
    for (size_t i = 0; i < CS_COUNT(names); i++)
        if (cs_json_type(cs_json_get(root, names[i])) == CS_JSON_STRING)
            return cs_json_str(cs_json_get(root, names[i]), arena);
    return (struct cs_str){0};
}

void cs_body_text(struct cs_str body, char *text, size_t size)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    const struct cs_json_limits limits = {.allow_duplicate = true};
    struct cs_str said = body;
    if (body.len && cs_json_parse(body, &limits, &doc, NULL) == 0) {
        struct cs_str found = message_in(&doc, &arena);
        if (found.len)
            said = found;
    }
    size_t n = 0;
    bool space = true;
    for (size_t i = 0; i < said.len && n + 1 < size && n < 200; i++) {
        unsigned char c = (unsigned char)said.at[i];
        if (c > ' ' && c < 0x7f) {
            text[n++] = (char)c;
            space = false;
        } else if (!space) {
            text[n++] = ' ';
            space = true;
        }
    }
    while (n && text[n - 1] == ' ')
        n--;
    text[n] = 0;
}
