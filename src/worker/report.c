/*
 * What went wrong, as the JSON of a DONE frame: type, message, the agent's own position, the source
 * line with a caret, a stack without our frames, and what to try next.
 *
 * What was thrown is described by the prelude (describe), which calls nothing of the program's but
 * getters of the thrown object. Everything it says is cut, and believed no further than that.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"
#include "worker/clock.h"
#include "worker/host.h"
#include "worker/text.h"

#define MESSAGE_MAX 4096
#define NAME_MAX_   128
#define FRAMES_MAX  20
#define SNIPPET_MAX 160

struct place {
    struct cs_source source; /* text NULL: nowhere */
    uint32_t line, column;
};

static void put_message(struct cs_json_writer *w, struct cs_str message)
{
    struct cs_str part = cs_utf8_cut(message, MESSAGE_MAX - 32);
    if (part.len == message.len) {
        cs_json_put_str(w, part);
        return;
    }
    CS_AUTO_BUF struct cs_buf b = {0};
    cs_buf_putstr(&b, part);
    cs_buf_printf(&b, "… (%zu bytes in all)", message.len);
    cs_json_put_str(w, cs_buf_str(&b));
}

static bool line_of(struct cs_str text, uint32_t line, struct cs_str *out)
{
    for (uint32_t n = 1; n < line; n++) {
        const char *nl = text.len ? memchr(text.at, '\n', text.len) : NULL;
        if (!nl)
            return false;
        size_t skip = (size_t)(nl - text.at) + 1;
        text = cs_strn(text.at + skip, text.len - skip);
    }
    const char *nl = text.len ? memchr(text.at, '\n', text.len) : NULL;
    *out = cs_strn(text.at, nl ? (size_t)(nl - text.at) : text.len);
    if (out->len && out->at[out->len - 1] == '\r')
        out->len--;
    return line > 0;
}

/* The byte where UTF-16 column `column` (from 1) stands. */
static size_t byte_of(struct cs_str line, uint32_t column)
{
    size_t i = 0;
    uint32_t at = 1;
    while (i < line.len && at < column) {
        at += (unsigned char)line.at[i] >= 0xf0 ? 2 : 1;
        i++;
        while (i < line.len && ((unsigned char)line.at[i] & 0xc0) == 0x80)
            i++;
    }
    return i;
}

static bool in_word(char c)
{
    return c == '_' || c == '$' || isalnum((unsigned char)c);
}

/* The engine points behind a name that it does not know, or at the bracket of a call. People look
 * for the name. */
static void point_at_name(struct place *p)
{
    struct cs_str line;
    if (!p->line || !p->source.text.at || !line_of(p->source.text, p->line, &line))
        return;
    size_t at = byte_of(line, p->column), start = at;
    if (at < line.len && in_word(line.at[at]))
        return;
    while (start > 0 && in_word(line.at[start - 1]))
        start--;
    p->column -= (uint32_t)(at - start);
}

static void put_snippet(struct cs_json_writer *w, const struct place *p)
{
    struct cs_str line;
    if (!p->source.text.at || !line_of(p->source.text, p->line, &line))
        return;
    size_t caret = byte_of(line, p->column), from = 0;
    if (line.len > SNIPPET_MAX && caret > SNIPPET_MAX / 2)
        from = caret - SNIPPET_MAX / 2;
    while (from < line.len && ((unsigned char)line.at[from] & 0xc0) == 0x80)
        from++;
    struct cs_str shown = cs_utf8_cut(cs_strn(line.at + from, line.len - from), SNIPPET_MAX);
    CS_AUTO_BUF struct cs_buf b = {0};
    cs_buf_putstr(&b, shown);
    cs_buf_putc(&b, '\n');
    for (size_t i = from; i < caret && i < from + shown.len; i++) {
        if (((unsigned char)line.at[i] & 0xc0) != 0x80)
            cs_buf_putc(&b, line.at[i] == '\t' ? '\t' : ' ');
    }
    cs_buf_putc(&b, '^');
    cs_json_key(w, "snippet");
    cs_json_put_str(w, cs_buf_str(&b));
}

static void put_place(struct cs_json_writer *w, const struct place *p)
{
    if (!p->line)
        return;
    if (p->source.name.len && !cs_str_is(p->source.name, CS_PROGRAM_NAME)) {
        cs_json_key(w, "file");
        cs_json_put_str(w, p->source.name);
    }
    cs_json_key(w, "line");
    cs_json_put_u64(w, p->line);
    cs_json_key(w, "column");
    cs_json_put_u64(w, p->column);
    put_snippet(w, p);
}

static void put_suggestion(struct cs_json_writer *w, struct cs_str given, struct cs_str name,
                           struct cs_str message, const struct place *p)
{
    char out[CS_SUGGEST_MAX] = "";
    struct cs_str line = {0};
    if (p && p->source.text.at)
        line_of(p->source.text, p->line, &line);
    if (!given.len) {
        cs_suggest(name, cs_utf8_cut(message, MESSAGE_MAX), line, out);
        given = cs_str(out);
    }
    if (!given.len)
        return;
    cs_json_key(w, "suggestion");
    cs_json_put_str(w, cs_utf8_cut(given, 1000));
}

/* ---- stacks ---- */

static bool number(struct cs_str s, uint32_t *out)
{
    uint64_t v = 0;
    for (size_t i = 0; i < s.len; i++) {
        if (s.at[i] < '0' || s.at[i] > '9' || v > 100000000)
            return false;
        v = v * 10 + (uint64_t)(s.at[i] - '0');
    }
    *out = (uint32_t)v;
    return s.len > 0;
}

static bool split_last(struct cs_str *s, char c, struct cs_str *tail)
{
    const char *at = s->len ? memrchr(s->at, c, s->len) : NULL;
    if (!at)
        return false;
    *tail = cs_strn(at + 1, s->len - (size_t)(at - s->at) - 1);
    s->len = (size_t)(at - s->at);
    return true;
}

/* The function around a module is the compiler's: its frame is nobody's. */
static bool inserted(const struct place *p)
{
    const struct cs_compiled *c = p->source.compiled;
    for (uint32_t i = 0; c && i < c->insert_count; i++) {
        const struct cs_insert *in = &c->inserts[i];
        if (in->line == p->line && p->column >= in->column && p->column < in->column + in->len)
            return true;
    }
    return false;
}

/* "helper@program.ts:3:9" to where that is in the agent's text; false for frames that are not his.
 */
static bool read_frame(struct cs_str frame, struct cs_str *function, struct place *place)
{
    struct cs_str line, column;
    if (!split_last(&frame, ':', &column) || !split_last(&frame, ':', &line) ||
        !number(column, &place->column) || !number(line, &place->line))
        return false;
    const char *at = memchr(frame.at, '@', frame.len);
    size_t n = at ? (size_t)(at - frame.at) : 0;
    *function = cs_strn(frame.at, n);
    struct cs_str file = at ? cs_strn(at + 1, frame.len - n - 1) : frame;
    if (!cs_modules_source(file, &place->source) || inserted(place))
        return false;
    if (place->source.compiled)
        cs_compiled_map(place->source.compiled, &place->line, &place->column);
    return true;
}

static void read_stack(struct cs_str stack, const char *at, struct cs_buf *out, struct place *first)
{
    uint32_t frames = 0;
    while (stack.len > 0 && frames < FRAMES_MAX) {
        const char *nl = memchr(stack.at, '\n', stack.len);
        size_t n = nl ? (size_t)(nl - stack.at) : stack.len;
        struct cs_str frame = cs_strn(stack.at, n), function;
        stack = cs_strn(stack.at + n + (nl != NULL), stack.len - n - (nl != NULL));
        struct place p = {0};
        if (frame.len > 1000 || !read_frame(frame, &function, &p))
            continue;
        if (frames++ == 0)
            *first = p;
        bool named = function.len > 0 && !cs_str_is(function, "global code");
        cs_buf_puts(out, at);
        if (named)
            cs_buf_printf(out, "%.*s (", CS_STR_ARG(cs_utf8_cut(function, 80)));
        cs_buf_printf(out, "%.*s:%u:%u", CS_STR_ARG(p.source.name), p.line, p.column);
        if (named)
            cs_buf_putc(out, ')');
    }
}

void cs_report_frames(struct cs_str stack, const char *at, struct cs_buf *out)
{
    struct place first;
    read_stack(stack, at, out, &first);
}

/* How the compiler writes what stands differently in the source: `$ns[3].load` is an imported
 * `load`. */
static size_t rewritten(struct cs_str at, const char **as)
{
    static const struct {
        const char *from, *to;
    } words[] = {{"$import(", "import("}, {"$meta", "import.meta"}};
    for (size_t i = 0; i < CS_COUNT(words); i++) {
        *as = words[i].to;
        if (cs_str_starts(at, words[i].from))
            return strlen(words[i].from);
    }
    *as = "";
    if (!cs_str_starts(at, "$ns["))
        return 0;
    const char *close = memmem(at.at, at.len < 16 ? at.len : 16, "].", 2);
    return close ? (size_t)(close - at.at) + 2 : 0;
}

/* Where the engine quotes the program, erased types are runs of spaces. */
static bool quotes_source(struct cs_str s)
{
    static const char *const forms[] = {"(evaluating '", "(In '", "(near '"};
    for (size_t i = 0; i < CS_COUNT(forms); i++) {
        if (s.len && memmem(s.at, s.len, forms[i], strlen(forms[i])))
            return true;
    }
    return false;
}

static void squeeze_spaces(struct cs_buf *b)
{
    size_t n = 0;
    for (size_t i = 0; i < b->len; i++) {
        bool blank = b->at[i] == ' ' && i > 0 && b->at[i - 1] == ' ';
        bool before_close = b->at[i] == ')' && n > 1 && b->at[n - 1] == ' ' && b->at[i - 1] == ' ';
        if (before_close)
            n--;
        if (!blank)
            b->at[n++] = b->at[i];
    }
    b->len = n;
}

static void clean_message(struct cs_str in, struct cs_buf *out)
{
    bool quotes = quotes_source(in);
    while (in.len > 0) {
        const char *at = memchr(in.at, '$', in.len), *as;
        size_t n = at ? (size_t)(at - in.at) : in.len;
        cs_buf_put(out, in.at, n);
        in = cs_strn(in.at + n, in.len - n);
        if (!at)
            break;
        size_t skip = rewritten(in, &as);
        if (skip)
            cs_buf_puts(out, as);
        else
            cs_buf_putc(out, in.at[skip++]);
        in = cs_strn(in.at + skip, in.len - skip);
    }
    if (quotes)
        squeeze_spaces(out);
}

/* ---- what the prelude says ---- */

static JSValueRef get(JSObjectRef from, const char *key)
{
    JSStringRef k = JSStringCreateWithUTF8CString(key);
    JSValueRef v = JSObjectGetProperty(cs_worker.ctx, from, k, NULL);
    JSStringRelease(k);
    return v;
}

static struct cs_str get_text(JSObjectRef from, const char *key)
{
    CS_AUTO_BUF struct cs_buf b = {0};
    cs_text_put_value(cs_worker.ctx, &b, get(from, key));
    return cs_arena_dup(&cs_worker.arena, cs_buf_str(&b));
}

static uint32_t get_number(JSObjectRef from, const char *key)
{
    JSValueRef v = get(from, key);
    double d = v && JSValueIsNumber(cs_worker.ctx, v) ? JSValueToNumber(cs_worker.ctx, v, NULL) : 0;
    return d > 0 && d < 1e8 ? (uint32_t)d : 0;
}

static void put_limit(struct cs_json_writer *w, const char *name, double value, const char *unit)
{
    cs_json_key(w, "limit");
    cs_json_open(w, '{');
    cs_json_key(w, "name");
    cs_json_put_z(w, name);
    if (value >= 0) {
        cs_json_key(w, "value");
        cs_json_put_f64(w, value);
        cs_json_key(w, "unit");
        cs_json_put_z(w, unit);
    }
    cs_json_close(w, '}');
}

static struct cs_str type_of(JSObjectRef described, struct cs_str name, struct cs_str message)
{
    struct cs_str type = get_text(described, "type");
    if (type.len)
        return type;
    bool memory = cs_memory_refused() > 0 && cs_str_starts(message, "Out of memory") &&
                  cs_str_is(name, "RangeError");
    return memory ? CS_STR("resource_error") : CS_STR("runtime_error");
}

static void put_given_limit(struct cs_json_writer *w, JSObjectRef described, struct cs_str type)
{
    /* The engine's own RangeError has no other reason; what the runtime raised names its limit. */
    bool of_engine = get_text(described, "type").len == 0;
    struct cs_str limit = get_text(described, "limit");
    if (limit.len)
        put_limit(w, limit.at, get_number(described, "limitValue"),
                  get_text(described, "limitUnit").at);
    else if (of_engine && cs_str_is(type, "resource_error"))
        put_limit(w, "memory", -1, NULL);
}

static void find_place(JSObjectRef described, struct cs_str stack, struct cs_buf *frames,
                       struct place *place)
{
    read_stack(stack, "\nat ", frames, place);
    if (place->line)
        return;
    /* A syntax error of the engine has a line and no stack. */
    struct cs_str file = get_text(described, "file");
    if (!cs_modules_source(file, &place->source))
        return;
    place->line = get_number(described, "line");
    place->column = 1;
}

void cs_report_exception(JSValueRef exception, struct cs_buf *json)
{
    JSValueRef fault = NULL;
    JSValueRef d = cs_host_call(CS_ENTRY_describe, 1, &exception, &fault);
    if (!d || fault || !JSValueIsObject(cs_worker.ctx, d)) {
        struct cs_report plain = {.type = "runtime_error",
                                  .name = CS_STR("Error"),
                                  .message =
                                      CS_STR("the program threw a value that cannot be shown"),
                                  .limit_value = -1};
        cs_report_plain(&plain, json);
        return;
    }
    JSObjectRef described = (JSObjectRef)d;
    struct cs_str name = cs_utf8_cut(get_text(described, "name"), NAME_MAX_);
    CS_AUTO_BUF struct cs_buf message = {0};
    struct cs_str raw = get_text(described, "message");
    clean_message(raw, &message);
    struct cs_str type = type_of(described, name, cs_buf_str(&message));
    CS_AUTO_BUF struct cs_buf frames = {0};
    struct place place = {0};
    find_place(described, get_text(described, "stack"), &frames, &place);
    point_at_name(&place);

    struct cs_json_writer writer = CS_JSON_WRITER(json), *w = &writer;
    cs_json_open(w, '{');
    cs_json_key(w, "type");
    cs_json_put_str(w, type);
    cs_json_key(w, "name");
    cs_json_put_str(w, name);
    cs_json_key(w, "message");
    put_message(w, cs_buf_str(&message));
    put_place(w, &place);
    if (frames.len) {
        cs_json_key(w, "stack");
        cs_json_put_str(w, cs_strn(frames.at + 1, frames.len - 1));
    }
    struct cs_str suggestion = get_text(described, "suggestion");
    CS_AUTO_BUF struct cs_buf mended = {0};
    if (cs_suggest_await(place.source.text, get_text(described, "awaits"), &mended))
        suggestion = cs_buf_str(&mended);
    put_suggestion(w, suggestion, name, cs_buf_str(&message), &place);
    put_given_limit(w, described, type);
    cs_json_close(w, '}');
}

void cs_report_diag(const char *type, const struct cs_diag *diag, const struct cs_source *source,
                    struct cs_buf *json)
{
    struct place place = {*source, diag->line, diag->column};
    struct cs_json_writer writer = CS_JSON_WRITER(json), *w = &writer;
    cs_json_open(w, '{');
    cs_json_key(w, "type");
    cs_json_put_z(w, type);
    cs_json_key(w, "name");
    cs_json_put_z(w, strcmp(type, "syntax_error") == 0 ? "SyntaxError" : "Error");
    cs_json_key(w, "message");
    put_message(w, cs_str(diag->message));
    put_place(w, &place);
    put_suggestion(w, cs_str(diag->suggestion), CS_STR("SyntaxError"), cs_str(diag->message),
                   &place);
    cs_json_close(w, '}');
}

void cs_report_plain(const struct cs_report *r, struct cs_buf *json)
{
    struct cs_json_writer writer = CS_JSON_WRITER(json), *w = &writer;
    cs_json_open(w, '{');
    cs_json_key(w, "type");
    cs_json_put_z(w, r->type);
    cs_json_key(w, "name");
    cs_json_put_str(w, r->name);
    cs_json_key(w, "message");
    put_message(w, r->message);
    put_suggestion(w, r->suggestion, r->name, r->message, NULL);
    if (r->limit)
        put_limit(w, r->limit, r->limit_value, r->limit_unit);
    cs_json_close(w, '}');
}
