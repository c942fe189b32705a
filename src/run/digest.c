/*
 * The short form for a model. It is made from the long one as text, so that an execution that was
 * stored yesterday gives the same.
 *
 * Everything has its share: the error first, then the result (whole, or as a preview), then what
 * the program said, its last words first. Estimates do not quite add up, so the outcome is
 * measured, and made again with less if it is too long.
 */
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"
#include "run/preview.h"
#include "run/run.h"

#define LEAST_TOKENS 200
#define NAME_BYTES   80
#define NAME_TOKENS  48 /* 32 hex digits are up to 43 */
#define WAITS_TOKENS 100
#define LINE_CHARS   500
#define STACK_TOKENS 120
#define NOTE_TOKENS  70
#define LISTED       5 /* artifacts, failed calls */
#define DEPTH_MAX    4000

struct digest {
    struct cs_json_writer w;
    struct cs_json_val root;
    struct cs_arena arena;
    uint64_t tokens;
};

static uint64_t spent(const struct digest *d)
{
    return cs_token_estimate(cs_buf_str(d->w.out)) + 2;
}

static uint64_t left(const struct digest *d)
{
    uint64_t so_far = spent(d);
    return so_far < d->tokens ? d->tokens - so_far : 0;
}

static struct cs_str text_of(struct digest *d, struct cs_json_val object, const char *key)
{
    return cs_json_str(cs_json_get(object, key), &d->arena);
}

/* --- texts, cut to tokens --- */

static uint64_t cost_of(struct cs_str text)
{
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    cs_json_put_str(&w, text);
    return cs_token_estimate(cs_buf_str(&json));
}

/* The beginning of a text, in at most `tokens`. */
static void put_head(struct digest *d, const char *key, struct cs_str text, uint64_t tokens)
{
    if (!text.len)
        return;
    CS_AUTO_BUF struct cs_buf cut = {0};
    size_t chars = (size_t)tokens * 8;
    cs_preview_text(text, chars, &cut);
    while (chars > 8 && cost_of(cs_buf_str(&cut)) > tokens) {
        chars -= chars / 4;
        cs_buf_clear(&cut);
        cs_preview_text(text, chars, &cut);
    }
    cs_json_key(&d->w, key);
    cs_json_put_str(&d->w, cs_buf_str(&cut));
}

/* The end of a text of at most `bytes`, without half a character. */
static struct cs_str tail_of(struct cs_str text, size_t bytes)
{
    if (text.len <= bytes)
        return text;
    size_t from = text.len - bytes;
    while (from < text.len && ((unsigned char)text.at[from] & 0xC0) == 0x80)
        from++;
    return cs_strn(text.at + from, text.len - from);
}

/* The end of a text, in at most `tokens`. */
static void put_tail(struct digest *d, const char *key, struct cs_str text, uint64_t tokens)
{
    while (text.len && strchr("\n\r\t ", text.at[text.len - 1]))
        text.len--;
    if (!text.len || tokens < 20)
        return;
    size_t bytes = (size_t)tokens * 8;
    struct cs_str tail = tail_of(text, bytes);
    while (bytes > 8 && cost_of(tail) + 12 > tokens) {
        bytes -= bytes / 4;
        tail = tail_of(text, bytes);
    }
    CS_AUTO_BUF struct cs_buf cut = {0};
    if (tail.len < text.len) {
        cs_buf_puts(&cut, "(");
        cs_preview_number(text.len - tail.len, &cut);
        cs_buf_puts(&cut, " bytes before) \xE2\x80\xA6");
    }
    cs_buf_putstr(&cut, tail);
    cs_json_key(&d->w, key);
    cs_json_put_str(&d->w, cs_buf_str(&cut));
}

/* --- what it is --- */

static void put_name(struct digest *d, const char *key)
{
    put_head(d, key, text_of(d, d->root, key), NAME_TOKENS);
}

/* Its answer is an earlier one's: how old it is, and what to do about it. */
static void put_cached(struct digest *d)
{
    int64_t age;
    if (cs_json_type(cs_json_get(d->root, "cached")) != CS_JSON_TRUE ||
        !cs_json_i64(cs_json_get(d->root, "cached_age_ms"), &age))
        return;
    CS_AUTO_BUF struct cs_buf text = {0};
    cs_buf_printf(&text, "%lld s ago; `cache`: \"refresh\" runs it again", (long long)age / 1000);
    cs_json_key(&d->w, "cached");
    cs_json_put_bool(&d->w, true);
    cs_json_key(&d->w, "answered");
    cs_json_put_str(&d->w, cs_buf_str(&text));
}

/* --- error --- */

static void put_number(struct digest *d, struct cs_json_val object, const char *key)
{
    int64_t n;
    if (!cs_json_i64(cs_json_get(object, key), &n))
        return;
    cs_json_key(&d->w, key);
    cs_json_put_i64(&d->w, n);
}

static void put_limit(struct digest *d, struct cs_json_val limit)
{
    if (cs_json_type(limit) != CS_JSON_OBJECT)
        return;
    cs_json_key(&d->w, "limit");
    cs_json_open(&d->w, '{');
    put_head(d, "name", text_of(d, limit, "name"), 20);
    put_number(d, limit, "value");
    put_head(d, "unit", text_of(d, limit, "unit"), 20);
    cs_json_close(&d->w, '}');
}

static void put_error(struct digest *d)
{
    struct cs_json_val error = cs_json_get(d->root, "error");
    uint64_t share = left(d) / 2;
    if (cs_json_type(error) != CS_JSON_OBJECT)
        return;
    struct cs_str stack = text_of(d, error, "stack");
    cs_json_key(&d->w, "error");
    cs_json_open(&d->w, '{');
    put_head(d, "type", text_of(d, error, "type"), 20);
    put_head(d, "message", text_of(d, error, "message"), share / 2);
    put_head(d, "file", text_of(d, error, "file"), share / 8);
    put_number(d, error, "line");
    put_number(d, error, "column");
    put_head(d, "snippet", text_of(d, error, "snippet"), share / 4);
    put_head(d, "suggestion", text_of(d, error, "suggestion"), share / 4);
    if (stack.len < STACK_TOKENS * 8 && cost_of(stack) <= STACK_TOKENS)
        put_head(d, "stack", stack, share / 8);
    put_limit(d, cs_json_get(error, "limit"));
    cs_json_close(&d->w, '}');
}

/* --- result --- */

/* Of the artifact that is the result; empty: there is none. */
static struct cs_str result_handle(struct digest *d)
{
    struct cs_json_iter it = {0};
    struct cs_json_val one;
    while (cs_json_next(cs_json_get(d->root, "artifacts"), &it, NULL, &one))
        if (cs_json_is(cs_json_get(one, "name"), "result") &&
            !cs_json_is(cs_json_get(one, "kind"), "file") &&
            !cs_json_is(cs_json_get(one, "kind"), "stored"))
            return cs_utf8_cut(text_of(d, one, "id"), NAME_BYTES);
    return (struct cs_str){0};
}

static void put_note(struct digest *d, struct cs_str handle)
{
    CS_AUTO_BUF struct cs_buf note = {0};
    if (handle.len) {
        cs_json_key(&d->w, "artifact");
        cs_json_put_str(&d->w, handle);
        cs_buf_printf(&note,
                      "The result is shown in part. A program opens all of it with `await "
                      "caisson.storage.get('%.*s')`; return only what you need of it.",
                      CS_STR_ARG(handle));
    } else {
        cs_buf_puts(&note, "The result is shown in part and not kept. Filter, pick or add up in "
                           "the program, and return only what you need.");
    }
    cs_json_key(&d->w, "note");
    cs_json_put_str(&d->w, cs_buf_str(&note));
}

/* `others`: what should be left for what follows, if it is needed. */
static void put_result(struct digest *d, uint64_t others)
{
    struct cs_json_val result = cs_json_get(d->root, "result");
    struct cs_str raw = cs_json_raw(result);
    uint64_t room = left(d);
    others = others < room / 4 ? others : room / 4;
    if (cs_json_type(result) == CS_JSON_NONE || cs_json_type(result) == CS_JSON_NULL)
        return;
    if (raw.len / 20 < room && cs_token_estimate(raw) + 4 <= room - others) {
        cs_json_key(&d->w, "result");
        cs_json_put_raw(&d->w, raw);
        return;
    }
    CS_AUTO_BUF struct cs_buf preview = {0};
    uint64_t most = room - others;
    cs_preview(result, most > 2 * NOTE_TOKENS ? most - NOTE_TOKENS : NOTE_TOKENS / 2, &preview);
    cs_json_key(&d->w, "result_preview");
    cs_json_put_raw(&d->w, cs_buf_str(&preview));
    cs_json_key(&d->w, "result_size_bytes");
    cs_json_put_u64(&d->w, raw.len);
    put_note(d, result_handle(d));
}

/* --- what it said --- */

/* One line of its log: "[warn] slow". */
static void log_line(struct digest *d, struct cs_json_val log, struct cs_buf *line)
{
    struct cs_str level = text_of(d, log, "level");
    if (cs_str_is(level, "warn") || cs_str_is(level, "error"))
        cs_buf_printf(line, "[%.*s] ", CS_STR_ARG(level));
    cs_preview_text(text_of(d, log, "text"), LINE_CHARS, line);
}

/* How many of the last lines fit into `tokens`. */
static uint32_t lines_that_fit(struct digest *d, const struct cs_json_val *logs, uint32_t count,
                               uint64_t tokens)
{
    uint64_t sum = 12;
    uint32_t n = 0;
    while (n < count) {
        CS_AUTO_BUF struct cs_buf line = {0};
        log_line(d, logs[count - n - 1], &line);
        sum += cost_of(cs_buf_str(&line)) + 1;
        if (sum > tokens)
            break;
        n++;
    }
    return n;
}

static void put_logs(struct digest *d, uint64_t tokens)
{
    struct cs_json_val all = cs_json_get(d->root, "logs"), item;
    uint32_t count = cs_json_type(all) == CS_JSON_ARRAY ? cs_json_count(all) : 0, n = 0;
    if (!count)
        return;
    struct cs_json_val *logs = cs_arena_alloc(&d->arena, count * sizeof *logs);
    for (struct cs_json_iter it = {0}; cs_json_next(all, &it, NULL, &item);)
        logs[n++] = item;
    uint32_t shown = lines_that_fit(d, logs, count, tokens);
    if (shown) {
        cs_json_key(&d->w, "logs");
        cs_json_open(&d->w, '[');
        for (uint32_t i = count - shown; i < count; i++) {
            CS_AUTO_BUF struct cs_buf line = {0};
            log_line(d, logs[i], &line);
            cs_json_put_str(&d->w, cs_buf_str(&line));
        }
        cs_json_close(&d->w, ']');
    }
    if (shown == count)
        return;
    cs_json_key(&d->w, "log_lines_left_out");
    cs_json_put_u64(&d->w, count - shown);
}

/* The result of a guest is what it printed, or the last line of it: no need to say it twice. */
static struct cs_str printed(struct digest *d)
{
    struct cs_str out = text_of(d, d->root, "stdout");
    struct cs_json_val result = cs_json_get(d->root, "result");
    if (cs_json_type(result) == CS_JSON_NONE || cs_json_type(result) == CS_JSON_NULL)
        return out;
    if (cs_json_is(cs_json_get(d->root, "language"), "bash"))
        return (struct cs_str){0};
    struct cs_str last = cs_json_raw(result);
    while (out.len && out.at[out.len - 1] == '\n')
        out.len--;
    if (out.len >= last.len && memcmp(out.at + out.len - last.len, last.at, last.len) == 0 &&
        (out.len == last.len || out.at[out.len - last.len - 1] == '\n'))
        out.len -= last.len;
    return out;
}

static void put_words(struct digest *d)
{
    struct cs_str out = printed(d), err = text_of(d, d->root, "stderr");
    uint64_t room = left(d);
    put_tail(d, "stderr", err, out.len ? room / 2 : room);
    put_tail(d, "stdout", out, left(d) * 2 / 3);
    room = left(d);
    put_logs(d, room > 20 ? room - 10 : 0);
}

/* About how much put_words wants; more than a quarter of everything it does not get anyway. */
static uint64_t words_cost(struct digest *d)
{
    size_t bytes = printed(d).len + text_of(d, d->root, "stderr").len;
    bytes += cs_json_raw(cs_json_get(d->root, "logs")).len;
    return bytes > 2 ? bytes / 3 + 10 : 0;
}

/* --- what else there is --- */

static void put_failed_calls(struct digest *d)
{
    struct cs_json_val calls = cs_json_get(d->root, "calls"), call;
    uint32_t failed = 0;
    for (struct cs_json_iter it = {0}; cs_json_next(calls, &it, NULL, &call);)
        failed += cs_json_type(cs_json_get(call, "status")) == CS_JSON_STRING &&
                  !cs_json_is(cs_json_get(call, "status"), "ok");
    if (!failed)
        return;
    cs_json_key(&d->w, "calls");
    cs_json_put_u64(&d->w, cs_json_count(calls));
    cs_json_key(&d->w, "calls_failed");
    cs_json_put_u64(&d->w, failed);
    cs_json_key(&d->w, "failed_calls");
    cs_json_open(&d->w, '[');
    uint32_t shown = 0;
    for (struct cs_json_iter it = {0}; shown < 3 && cs_json_next(calls, &it, NULL, &call);) {
        struct cs_str status = text_of(d, call, "status"), error = text_of(d, call, "error");
        if (!status.len || cs_str_is(status, "ok"))
            continue;
        struct cs_str server = cs_utf8_cut(text_of(d, call, "server"), 60);
        struct cs_str tool = cs_utf8_cut(text_of(d, call, "tool"), 60);
        CS_AUTO_BUF struct cs_buf text = {0};
        cs_buf_printf(&text, "%.*s/%.*s: ", CS_STR_ARG(server), CS_STR_ARG(tool));
        cs_preview_text(error.len ? error : status, 100, &text);
        cs_json_put_str(&d->w, cs_buf_str(&text));
        shown++;
    }
    cs_json_close(&d->w, ']');
}

/* Why somebody was asked, or why it was refused; what is not that grave is not worth its tokens. */
static void put_risk(struct digest *d)
{
    struct cs_json_val risk = cs_json_get(d->root, "risk"), one;
    struct cs_json_val level = cs_json_get(risk, "level");
    if (!cs_json_is(level, "HIGH") && !cs_json_is(level, "CRITICAL") &&
        !cs_json_is(cs_json_get(d->root, "status"), "denied"))
        return;
    cs_json_key(&d->w, "risk");
    cs_json_open(&d->w, '{');
    put_head(d, "level", text_of(d, risk, "level"), 10);
    put_head(d, "approved_by", text_of(d, risk, "approved_by"), 30);
    cs_json_key(&d->w, "reasons");
    cs_json_open(&d->w, '[');
    uint32_t n = 0;
    for (struct cs_json_iter it = {0};
         n < 3 && cs_json_next(cs_json_get(risk, "reasons"), &it, NULL, &one); n++) {
        CS_AUTO_BUF struct cs_buf text = {0};
        cs_preview_text(cs_json_str(one, &d->arena), 160, &text);
        cs_json_put_str(&d->w, cs_buf_str(&text));
    }
    cs_json_close(&d->w, ']');
    cs_json_close(&d->w, '}');
}

static void put_artifacts(struct digest *d)
{
    struct cs_json_val all = cs_json_get(d->root, "artifacts"), one;
    uint32_t n = 0;
    for (struct cs_json_iter it = {0}; n < LISTED && cs_json_next(all, &it, NULL, &one);) {
        struct cs_str id = cs_utf8_cut(text_of(d, one, "id"), NAME_BYTES);
        if (!id.len || cs_json_is(cs_json_get(one, "name"), "result"))
            continue;
        if (n++ == 0) {
            cs_json_key(&d->w, "artifacts");
            cs_json_open(&d->w, '[');
        }
        cs_json_open(&d->w, '{');
        cs_json_key(&d->w, "id");
        cs_json_put_str(&d->w, id);
        cs_json_key(&d->w, "name");
        cs_json_put_str(&d->w, cs_utf8_cut(text_of(d, one, "name"), NAME_BYTES));
        put_number(d, one, "size");
        cs_json_close(&d->w, '}');
    }
    if (n)
        cs_json_close(&d->w, ']');
}

/* --- all of it --- */

static void compose(struct digest *d)
{
    cs_json_open(&d->w, '{');
    put_name(d, "status");
    put_name(d, "execution_id");
    put_name(d, "session_id");
    put_head(d, "waits_for", text_of(d, d->root, "waits_for"), WAITS_TOKENS);
    if (d->tokens >= LEAST_TOKENS) {
        put_cached(d);
        put_error(d);
        put_risk(d);
        put_failed_calls(d);
        put_artifacts(d);
        put_result(d, words_cost(d));
        put_words(d);
    }
    cs_json_close(&d->w, '}');
}

/* What is no envelope is not ours; the answer is one all the same. */
static void put_broken(struct cs_buf *out)
{
    cs_buf_puts(out, "{\"status\":\"failed\",\"error\":{\"type\":\"internal_error\",\"message\":"
                     "\"the record of this execution cannot be read\"}}");
}

void cs_digest(struct cs_str envelope, uint64_t tokens, struct cs_buf *out)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_json_limits limits = {
        .bytes = envelope.len + 1, .depth = DEPTH_MAX, .allow_duplicate = true};
    if (cs_json_parse(envelope, &limits, &doc, NULL) < 0 ||
        cs_json_type(cs_json_root(&doc)) != CS_JSON_OBJECT) {
        put_broken(out);
        return;
    }
    if (tokens < LEAST_TOKENS)
        tokens = LEAST_TOKENS;
    CS_AUTO_BUF struct cs_buf text = {0};
    for (uint64_t share = tokens;; share -= share / 8) {
        struct digest d = {.w = CS_JSON_WRITER(&text), .root = cs_json_root(&doc), .tokens = share};
        cs_buf_clear(&text);
        compose(&d);
        cs_arena_done(&d.arena);
        if (cs_token_estimate(cs_buf_str(&text)) <= tokens || share < LEAST_TOKENS)
            break;
    }
    cs_buf_putstr(out, cs_buf_str(&text));
}
