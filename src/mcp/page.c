/*
 * Pieces of what an execution left behind. A piece of a result is valid JSON: elements of an array,
 * members of an object, characters of a text. Logs and calls are lines.
 */
#include <string.h>

#include "base/utf8.h"
#include "mcp/house.h"

#define ROOM_TOKENS 120 /* of an answer, for what stands around the piece */
#define LEAST       50
/* An element that does not fit by itself is shown as the beginning of its text. */
#define BYTES_PER_TOKEN 3

struct piece {
    struct cs_buf text;
    uint64_t offset, limit, total, count, tokens;
    bool full;
};

/* True: it is in the piece, or before or behind it. False: no more fits. */
static bool take(struct piece *p, struct cs_str entry, const char *between)
{
    uint64_t at = p->total++;
    if (at < p->offset || p->full || p->count >= p->limit)
        return true;
    uint64_t tokens = cs_token_estimate(entry) + 1;
    if (tokens > p->tokens) {
        p->full = true;
        return p->count > 0;
    }
    p->tokens -= tokens;
    if (p->count++)
        cs_buf_puts(&p->text, between);
    cs_buf_putstr(&p->text, entry);
    return true;
}

static void put_next(const struct piece *p, struct cs_json_writer *w)
{
    if (p->offset + p->count >= p->total)
        return;
    cs_json_key(w, "next_offset");
    cs_json_put_u64(w, p->offset + p->count);
}

/* --- results --- */

static void put_cut(struct piece *p, struct cs_str raw)
{
    CS_AUTO_BUF struct cs_buf text = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&text);
    struct cs_str head = cs_utf8_cut(raw, (size_t)(p->tokens * BYTES_PER_TOKEN));
    cs_json_open(&w, '{');
    cs_json_key(&w, "cut");
    cs_json_put_str(&w, head);
    cs_json_key(&w, "missing_bytes");
    cs_json_put_u64(&w, raw.len - head.len);
    cs_json_close(&w, '}');
    cs_buf_putstr(&p->text, cs_buf_str(&text));
    p->count++;
}

static void take_items(struct piece *p, struct cs_json_val value)
{
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    bool object = cs_json_type(value) == CS_JSON_OBJECT;
    while (cs_json_next(value, &it, &key, &item)) {
        CS_AUTO_BUF struct cs_buf entry = {0};
        if (object)
            cs_buf_printf(&entry, "%.*s:", CS_STR_ARG(cs_json_raw(key)));
        size_t name = entry.len;
        cs_buf_putstr(&entry, cs_json_raw(item));
        if (take(p, cs_buf_str(&entry), ","))
            continue;
        cs_buf_put(&p->text, entry.at, name);
        put_cut(p, cs_json_raw(item));
    }
}

/* Characters of a text; an offset counts them as the program's own slices nearly do. */
static void take_text(struct piece *p, struct cs_str text)
{
    size_t most = (size_t)(p->tokens * BYTES_PER_TOKEN), i = 0;
    struct cs_buf part = {0};
    while (i < text.len) {
        int n = cs_utf8_len(text.at + i, text.len - i);
        size_t len = (size_t)(n < 0 ? -n : n);
        bool inside = p->total >= p->offset && p->count < p->limit && part.len + len <= most;
        if (inside && p->offset + p->count == p->total) {
            cs_buf_put(&part, text.at + i, len);
            p->count++;
        }
        p->total++;
        i += len;
    }
    struct cs_json_writer w = CS_JSON_WRITER(&p->text);
    cs_json_put_str(&w, cs_buf_str(&part));
    cs_buf_done(&part);
}

static void page_value(struct piece *p, struct cs_json_val value, struct cs_buf *out)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    enum cs_json_type type = cs_json_type(value);
    struct cs_json_writer w = CS_JSON_WRITER(out);
    char open = type == CS_JSON_ARRAY ? '[' : '{';
    cs_json_open(&w, '{');
    cs_json_key(&w, "result");
    if (type == CS_JSON_ARRAY || type == CS_JSON_OBJECT) {
        take_items(p, value);
        cs_json_open(&w, open);
        cs_buf_putstr(out, cs_buf_str(&p->text));
        cs_json_close(&w, open == '[' ? ']' : '}');
    } else if (type == CS_JSON_STRING) {
        take_text(p, cs_json_str(value, &arena));
        cs_json_put_raw(&w, cs_buf_str(&p->text));
    } else {
        cs_json_put_raw(&w, type == CS_JSON_NONE ? CS_STR("null") : cs_json_raw(value));
    }
    if (p->total) {
        cs_json_key(&w, "offset");
        cs_json_put_u64(&w, p->offset);
        cs_json_key(&w, "total");
        cs_json_put_u64(&w, p->total);
    }
    put_next(p, &w);
    cs_json_close(&w, '}');
}

/* --- lines --- */

static void each_line(struct cs_str text, const char *prefix,
                      void (*line)(void *ctx, struct cs_str line), void *ctx)
{
    while (text.len) {
        const char *end = memchr(text.at, '\n', text.len);
        size_t n = end ? (size_t)(end - text.at) : text.len;
        CS_AUTO_BUF struct cs_buf whole = {0};
        cs_buf_puts(&whole, prefix);
        cs_buf_put(&whole, text.at, n);
        line(ctx, cs_buf_str(&whole));
        n += end != NULL;
        text = cs_strn(text.at + n, text.len - n);
    }
}

static void each_log(struct cs_json_val envelope, void (*line)(void *ctx, struct cs_str line),
                     void *ctx)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    while (cs_json_next(cs_json_get(envelope, "logs"), &it, NULL, &item)) {
        CS_AUTO_BUF struct cs_buf text = {0};
        cs_buf_printf(&text, "%.*s: %.*s",
                      CS_STR_ARG(cs_json_str(cs_json_get(item, "level"), &arena)),
                      CS_STR_ARG(cs_json_str(cs_json_get(item, "text"), &arena)));
        line(ctx, cs_buf_str(&text));
    }
    each_line(cs_json_str(cs_json_get(envelope, "stdout"), &arena), "stdout: ", line, ctx);
    each_line(cs_json_str(cs_json_get(envelope, "stderr"), &arena), "stderr: ", line, ctx);
}

static void each_call(struct cs_json_val envelope, void (*line)(void *ctx, struct cs_str line),
                      void *ctx)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    while (cs_json_next(cs_json_get(envelope, "calls"), &it, NULL, &item)) {
        CS_AUTO_BUF struct cs_buf text = {0};
        struct cs_str error = cs_json_str(cs_json_get(item, "error"), &arena);
        double ms = 0;
        cs_json_f64(cs_json_get(item, "latency_ms"), &ms);
        cs_buf_printf(&text, "%.*s.%.*s %.*s, %.1f ms, %.*s bytes",
                      CS_STR_ARG(cs_json_str(cs_json_get(item, "server"), &arena)),
                      CS_STR_ARG(cs_json_str(cs_json_get(item, "tool"), &arena)),
                      CS_STR_ARG(cs_json_str(cs_json_get(item, "status"), &arena)), ms,
                      CS_STR_ARG(cs_json_raw(cs_json_get(item, "result_bytes"))));
        if (error.len)
            cs_buf_printf(&text, ": %.*s", CS_STR_ARG(error));
        line(ctx, cs_buf_str(&text));
    }
}

static void take_line(void *ctx, struct cs_str line)
{
    struct piece *p = ctx;
    if (take(p, line, "\n"))
        return;
    /* One that is too long by itself. */
    cs_buf_putstr(&p->text, cs_utf8_cut(line, (size_t)(p->tokens * BYTES_PER_TOKEN)));
    cs_buf_puts(&p->text, " ...");
    p->count++;
}

static void page_lines(struct piece *p, const char *what, struct cs_buf *out)
{
    if (!p->count) {
        cs_buf_printf(out, "no %s%s", what, p->total ? " from there on" : "");
        return;
    }
    cs_buf_printf(out, "%s %llu to %llu of %llu", what, (unsigned long long)p->offset,
                  (unsigned long long)(p->offset + p->count - 1), (unsigned long long)p->total);
    if (p->offset + p->count < p->total)
        cs_buf_printf(out, "; next offset %llu", (unsigned long long)(p->offset + p->count));
    cs_buf_putc(out, '\n');
    cs_buf_putstr(out, cs_buf_str(&p->text));
}

void cs_page(struct cs_str envelope, enum cs_view view, uint64_t offset, uint64_t limit,
             uint64_t tokens, struct cs_buf *out)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    struct piece p = {.offset = offset,
                      .limit = limit,
                      .tokens = tokens > ROOM_TOKENS + LEAST ? tokens - ROOM_TOKENS : LEAST};
    struct cs_err err = {0};
    if (cs_json_parse(envelope, NULL, &doc, &err) < 0) {
        cs_buf_puts(out, err.msg);
        return;
    }
    struct cs_json_val root = cs_json_root(&doc);
    switch (view) {
    case CS_VIEW_RESULT:
        page_value(&p, cs_json_get(root, "result"), out);
        break;
    case CS_VIEW_LOGS:
        each_log(root, take_line, &p);
        page_lines(&p, "logs", out);
        break;
    case CS_VIEW_CALLS:
        each_call(root, take_line, &p);
        page_lines(&p, "calls", out);
        break;
    }
    cs_buf_done(&p.text);
}

static void append(void *ctx, struct cs_str line)
{
    cs_buf_putstr(ctx, line);
    cs_buf_putc(ctx, '\n');
}

void cs_page_logs(struct cs_json_val envelope, struct cs_buf *out)
{
    each_log(envelope, append, out);
}
