#include "run/preview.h"

#include "base/utf8.h"
#include "run/run.h"

#define ELLIPSIS "\xE2\x80\xA6"
/* A text of so many bytes per token is more than the estimate can count: see tokens.c. */
#define TOKEN_BYTES 17
#define KEY_CHARS   60

/* How much of everything is shown: the same number of items in every array, and so on. That is what
 * makes the shape come first: what is wide is cut everywhere before anything is left out. */
struct measure {
    size_t items, keys, chars;
    unsigned depth;
};

struct cut {
    struct cs_json_writer w;
    struct cs_arena arena;
    struct measure measure;
    size_t most; /* bytes; beyond them it is given up */
};

void cs_preview_number(uint64_t n, struct cs_buf *out)
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            cs_buf_putc(out, ',');
        cs_buf_putc(out, digits[i]);
    }
}

static size_t count_chars(struct cs_str text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++)
        n += ((unsigned char)text.at[i] & 0xC0) != 0x80;
    return n;
}

void cs_preview_text(struct cs_str text, size_t chars, struct cs_buf *out)
{
    size_t end = 0, shown = 0;
    while (end < text.len && (shown < chars || ((unsigned char)text.at[end] & 0xC0) == 0x80)) {
        shown += ((unsigned char)text.at[end] & 0xC0) != 0x80;
        end++;
    }
    size_t missing = count_chars(cs_strn(text.at + end, text.len - end));
    /* The remark is about as long as what it would replace. */
    if (missing <= 30) {
        cs_buf_putstr(out, text);
        return;
    }
    cs_buf_put(out, text.at, end);
    cs_buf_puts(out, ELLIPSIS " (");
    cs_preview_number(missing, out);
    cs_buf_puts(out, " more characters)");
}

static void put_cut_text(struct cut *c, struct cs_json_val v)
{
    struct cs_str raw = cs_json_raw(v);
    if (raw.len <= c->measure.chars) {
        cs_json_put_raw(&c->w, raw);
        return;
    }
    CS_AUTO_BUF struct cs_buf text = {0};
    bool is_number = cs_json_type(v) == CS_JSON_NUMBER; /* of very many digits */
    cs_preview_text(is_number ? raw : cs_json_str(v, &c->arena), c->measure.chars, &text);
    cs_json_put_str(&c->w, cs_buf_str(&text));
}

static void put_missing(struct cut *c, const char *before, uint64_t n, const char *after)
{
    CS_AUTO_BUF struct cs_buf text = {0};
    cs_buf_puts(&text, before);
    cs_preview_number(n, &text);
    cs_buf_printf(&text, " %s%s", after, n == 1 ? "" : "s");
    cs_json_put_str(&c->w, cs_buf_str(&text));
}

static bool put_value(struct cut *c, struct cs_json_val v, unsigned depth);

static bool put_array(struct cut *c, struct cs_json_val v, unsigned depth)
{
    uint32_t count = cs_json_count(v), shown = 0;
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    cs_json_open(&c->w, '[');
    while ((shown < c->measure.items || shown + 1 == count) && cs_json_next(v, &it, NULL, &item)) {
        if (!put_value(c, item, depth + 1))
            return false;
        shown++;
    }
    if (shown < count)
        put_missing(c, ELLIPSIS " ", count - shown, "more item");
    cs_json_close(&c->w, ']');
    return true;
}

/* A long key is cut, and numbered so that it stays one of a kind. */
static void put_key(struct cut *c, struct cs_str key, uint32_t n)
{
    if (key.len <= KEY_CHARS) {
        cs_json_key_str(&c->w, key);
        return;
    }
    CS_AUTO_BUF struct cs_buf text = {0};
    cs_buf_putstr(&text, cs_utf8_cut(key, KEY_CHARS));
    cs_buf_printf(&text, ELLIPSIS " (key %u)", n + 1);
    cs_json_key_str(&c->w, cs_buf_str(&text));
}

static bool is_ellipses(struct cs_str key)
{
    for (size_t i = 0; i < key.len; i += 3)
        if (!cs_str_starts(cs_strn(key.at + i, key.len - i), ELLIPSIS))
            return false;
    return key.len > 0;
}

static bool put_object(struct cut *c, struct cs_json_val v, unsigned depth)
{
    uint32_t count = cs_json_count(v), shown = 0;
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    struct cs_str mark = CS_STR("");
    cs_json_open(&c->w, '{');
    while ((shown < c->measure.keys || shown + 1 == count) && cs_json_next(v, &it, &key, &item)) {
        struct cs_str name = cs_json_str(key, &c->arena);
        if (is_ellipses(name) && name.len > mark.len && name.len <= KEY_CHARS)
            mark = name;
        put_key(c, name, shown);
        if (!put_value(c, item, depth + 1))
            return false;
        shown++;
    }
    if (shown < count) {
        CS_AUTO_BUF struct cs_buf text = {0};
        cs_buf_printf(&text, "%.*s" ELLIPSIS, CS_STR_ARG(mark));
        cs_json_key_str(&c->w, cs_buf_str(&text));
        put_missing(c, "", count - shown, "more key");
    }
    cs_json_close(&c->w, '}');
    return true;
}

/* False: it has become too long. */
static bool put_value(struct cut *c, struct cs_json_val v, unsigned depth)
{
    enum cs_json_type type = cs_json_type(v);
    bool is_array = type == CS_JSON_ARRAY, is_object = type == CS_JSON_OBJECT;
    if (c->w.out->len > c->most)
        return false;
    if ((is_array || is_object) && cs_json_count(v) && depth >= c->measure.depth) {
        put_missing(c, is_array ? "[" ELLIPSIS "] " : "{" ELLIPSIS "} ", cs_json_count(v),
                    is_array ? "item" : "key");
        return true;
    }
    if (is_array)
        return put_array(c, v, depth);
    if (is_object)
        return put_object(c, v, depth);
    if (type == CS_JSON_STRING || type == CS_JSON_NUMBER)
        put_cut_text(c, v);
    else
        cs_json_put_raw(&c->w, cs_json_raw(v));
    return true;
}

#define LEVELS 48

static struct measure measure_of(unsigned level)
{
    size_t items = 1 + level;
    for (unsigned i = 16; i < level; i++)
        items += items / 4; /* about 20,000 at the end */
    return (struct measure){
        .items = items, .keys = 4 + 3 * items, .chars = 30 * items, .depth = 2 + (level + 1) / 2};
}

static bool fits(struct cs_json_val v, unsigned level, uint64_t tokens, struct cs_buf *out)
{
    struct cut c = {.w = CS_JSON_WRITER(out),
                    .measure = measure_of(level),
                    .most = (size_t)tokens * TOKEN_BYTES};
    cs_buf_clear(out);
    bool whole = put_value(&c, v, 0);
    cs_arena_done(&c.arena);
    return whole && cs_token_estimate(cs_buf_str(out)) <= tokens;
}

void cs_preview(struct cs_json_val v, uint64_t tokens, struct cs_buf *out)
{
    CS_AUTO_BUF struct cs_buf best = {0}, tried = {0};
    unsigned low = 0, high = LEVELS; /* the most generous level that fits */
    if (tokens > (64u << 20))
        tokens = 64u << 20;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (fits(v, middle, tokens, &tried)) {
            struct cs_buf swap = best;
            best = tried;
            tried = swap;
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (best.len) {
        cs_buf_putstr(out, cs_buf_str(&best));
        return;
    }
    struct cut c = {.w = CS_JSON_WRITER(out), .measure = {1, 1, 20, 0}, .most = SIZE_MAX};
    put_value(&c, v, 0);
    cs_arena_done(&c.arena);
}
