/* From an MCP result to the value that a program gets. Results are foreign: parsed with bounds. */
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "run/inside.h"

#define MESSAGE_BYTES 8000

void cs_unwrapped_done(struct cs_unwrapped *u)
{
    cs_json_done(&u->text);
    cs_arena_done(&u->arena);
}

static struct cs_json_val text_of(struct cs_json_val block)
{
    if (!cs_json_is(cs_json_get(block, "type"), "text"))
        return (struct cs_json_val){0};
    return cs_json_get(block, "text");
}

/* --- errors --- */

static bool contains(struct cs_str text, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= text.len; i++)
        if (strncasecmp(text.at + i, word, n) == 0)
            return true;
    return false;
}

/* The protocol has no word for it, so the server's own flag counts, else what it says. */
static bool worth_retrying(struct cs_json_val result, struct cs_str message)
{
    static const char *const words[] = {"rate limit",  "too many requests", "timed out",
                                        "timeout",     "temporarily",       "try again",
                                        "unavailable", "ECONNRESET",        "overloaded"};
    bool said;
    if (cs_json_bool(cs_json_get(cs_json_get(result, "structuredContent"), "retryable"), &said) ||
        cs_json_bool(cs_json_get(cs_json_get(result, "_meta"), "retryable"), &said))
        return said;
    for (size_t i = 0; i < CS_COUNT(words); i++)
        if (contains(message, words[i]))
            return true;
    return false;
}

static void unwrap_error(struct cs_json_val result, struct cs_json_val content,
                         struct cs_unwrapped *u)
{
    CS_AUTO_BUF struct cs_buf message = {0};
    struct cs_json_iter it = {0};
    struct cs_json_val block;
    while (cs_json_next(content, &it, NULL, &block) && message.len < MESSAGE_BYTES) {
        struct cs_str text = cs_json_str(text_of(block), &u->arena);
        if (!text.len)
            continue;
        if (message.len)
            cs_buf_putc(&message, '\n');
        cs_buf_putstr(&message, text);
    }
    if (message.len > MESSAGE_BYTES) {
        message.len = cs_utf8_cut(cs_buf_str(&message), MESSAGE_BYTES).len;
        cs_buf_puts(&message, "…");
    }
    if (!message.len)
        cs_buf_puts(&message, "the tool failed and said nothing about why");
    u->is_error = true;
    u->value = cs_arena_dup(&u->arena, cs_buf_str(&message));
    u->retryable = worth_retrying(result, u->value);
}

/* --- values --- */

/* Cheap: most texts that are not JSON show it in their first letter. */
static bool may_be_json(struct cs_str text)
{
    while (text.len && strchr(" \t\r\n", text.at[0])) {
        text.at++;
        text.len--;
    }
    return text.len && strchr("{[\"-0123456789tfn", text.at[0]);
}

static void unwrap_text(struct cs_json_val text, size_t parse_max, struct cs_unwrapped *u)
{
    struct cs_str plain = cs_json_str(text, &u->arena);
    if (plain.len > parse_max && may_be_json(plain)) {
        u->is_text = true;
        u->value = plain;
        return;
    }
    struct cs_json_limits limits = {.bytes = plain.len ? plain.len : 1, .allow_duplicate = true};
    struct cs_err err = {0};
    if (may_be_json(plain) && cs_json_parse(plain, &limits, &u->text, &err) == 0) {
        u->root = cs_json_root(&u->text);
        u->value = plain;
        return;
    }
    /* The text itself; in the result it is a JSON string already. */
    u->root = text;
    u->value = cs_json_raw(text);
}

int cs_unwrap(struct cs_json_val root, size_t parse_max, struct cs_unwrapped *u, struct cs_err *err)
{
    *u = (struct cs_unwrapped){0};
    struct cs_json_val content = cs_json_get(root, "content");
    struct cs_json_val structured = cs_json_get(root, "structuredContent");
    bool is_error = false;
    if (cs_json_type(root) != CS_JSON_OBJECT)
        return cs_fail(err, CS_UPSTREAM, "the server's result is no object");
    cs_json_bool(cs_json_get(root, "isError"), &is_error);
    struct cs_json_iter it = {0};
    struct cs_json_val first = {0};
    if (is_error) {
        unwrap_error(root, content, u);
        return 0;
    }
    uint32_t blocks = cs_json_count(content);
    cs_json_next(content, &it, NULL, &first);
    if (cs_json_type(structured) != CS_JSON_NONE && cs_json_type(structured) != CS_JSON_NULL) {
        u->root = structured;
    } else if (cs_json_type(content) != CS_JSON_ARRAY || blocks == 0) {
        u->value = CS_STR("null");
        return 0;
    } else if (blocks == 1 && cs_json_type(text_of(first)) == CS_JSON_STRING) {
        unwrap_text(text_of(first), parse_max, u);
        return 0;
    } else {
        u->root = blocks == 1 ? first : content;
    }
    u->value = cs_json_raw(u->root);
    return 0;
}
