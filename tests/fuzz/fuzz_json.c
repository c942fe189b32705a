/*
 * Whatever the reader accepts can be walked to the last value; the raw text of every value is a
 * text that it accepts again; the same document written anew, or indented, is accepted and is the
 * same document. What it refuses, it refuses with an error.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define DEPTH 40

/* Unlike assert, there in every build. */
static void must(bool holds)
{
    if (!holds)
        abort();
}

static void raw_parses_again(struct cs_json_val v, const struct cs_json_limits *limits)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_str raw = cs_json_raw(v);
    must(cs_json_parse(raw, limits, &doc, NULL) == 0);
    must(cs_json_type(cs_json_root(&doc)) == cs_json_type(v));
    must(cs_json_raw(cs_json_root(&doc)).len == raw.len);
    must(cs_json_count(cs_json_root(&doc)) == cs_json_count(v));
}

static void write_scalar(struct cs_json_writer *w, struct cs_json_val v, struct cs_arena *arena)
{
    int64_t i;
    double d;
    bool b;
    enum cs_json_type type = cs_json_type(v);
    must(type != CS_JSON_NONE);
    if (type == CS_JSON_STRING) {
        struct cs_str s = cs_json_str(v, arena);
        must(s.len + 2 <= cs_json_raw(v).len);
        if (!memchr(s.at, 0, s.len)) {
            const char *z = cs_arena_dup(arena, s).at;
            must(cs_json_is(v, z));
        }
        cs_json_put_str(w, s);
    } else if (cs_json_i64(v, &i) && (i || cs_json_raw(v).at[0] != '-')) {
        cs_json_put_i64(w, i);
        must(cs_json_f64(v, &d) && (double)i == d);
    } else if (cs_json_f64(v, &d)) {
        cs_json_put_f64(w, d);
    } else if (cs_json_bool(v, &b)) {
        cs_json_put_bool(w, b);
    } else if (type == CS_JSON_NUMBER) {
        cs_json_put_raw(w, cs_json_raw(v));
    } else {
        must(type == CS_JSON_NULL);
        cs_json_put_null(w);
    }
}

/* Walks all of it and writes it anew. Raw slices are tried for the first few, as it is quadratic.
 */
static void walk(const struct cs_json *doc, const struct cs_json_limits *limits, struct cs_buf *out)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_json_writer w = CS_JSON_WRITER(out);
    struct {
        struct cs_json_val v;
        struct cs_json_iter it;
        uint32_t left;
    } stack[DEPTH + 1] = {{cs_json_root(doc), {0}, 0}};
    int depth = 0, tries = 200;
    struct cs_json_val v = cs_json_root(doc), key;
    for (;;) {
        enum cs_json_type type = cs_json_type(v);
        if (tries-- > 0)
            raw_parses_again(v, limits);
        if (type == CS_JSON_ARRAY || type == CS_JSON_OBJECT) {
            must(depth < DEPTH);
            cs_json_open(&w, type == CS_JSON_ARRAY ? '[' : '{');
            stack[depth].v = v;
            stack[depth].it = (struct cs_json_iter){0};
            stack[depth].left = cs_json_count(v);
            depth++;
        } else {
            must(cs_json_count(v) == 0);
            write_scalar(&w, v, &arena);
        }
        while (depth > 0 && !cs_json_next(stack[depth - 1].v, &stack[depth - 1].it, &key, &v)) {
            depth--;
            must(stack[depth].left == 0);
            cs_json_close(&w, cs_json_type(stack[depth].v) == CS_JSON_ARRAY ? ']' : '}');
        }
        if (depth == 0)
            break;
        must(stack[depth - 1].left-- > 0);
        if (cs_json_type(stack[depth - 1].v) == CS_JSON_OBJECT)
            cs_json_key_str(&w, cs_json_str(key, &arena));
    }
    must(w.depth == 0);
}

static void must_be_like(const struct cs_json *doc, struct cs_str text,
                         const struct cs_json_limits *limits)
{
    CS_AUTO_JSON struct cs_json again = {0};
    must(cs_json_parse(text, limits, &again, NULL) == 0);
    must(again.len == doc->len);
}

static void one(struct cs_str text, bool allow_duplicate)
{
    struct cs_json_limits limits = {
        .bytes = 1 << 24, .depth = DEPTH, .allow_duplicate = allow_duplicate};
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_err err = {0};
    if (cs_json_parse(text, &limits, &doc, &err) < 0) {
        must(err.code == CS_INVALID || err.code == CS_LIMIT);
        must(err.msg[0] && !doc.tape);
        return;
    }
    CS_AUTO_BUF struct cs_buf written = {0}, rewritten = {0}, pretty = {0};
    walk(&doc, &limits, &written);
    must_be_like(&doc, cs_buf_str(&written), &limits);
    cs_json_pretty(text, &pretty);
    must_be_like(&doc, cs_buf_str(&pretty), &limits);

    /* What is written reads and writes as itself, once large doubles are written as integers. */
    CS_AUTO_JSON struct cs_json second = {0}, third = {0};
    must(cs_json_parse(cs_buf_str(&written), &limits, &second, NULL) == 0);
    walk(&second, &limits, &rewritten);
    must(cs_json_parse(cs_buf_str(&rewritten), &limits, &third, NULL) == 0);
    cs_buf_clear(&pretty);
    walk(&third, &limits, &pretty);
    must(cs_str_eq(cs_buf_str(&rewritten), cs_buf_str(&pretty)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cs_str text = cs_strn((const char *)data, size);
    one(text, false);
    one(text, true);
    /* Trusted to be valid, and yet it must not crash on what is not. */
    CS_AUTO_BUF struct cs_buf pretty = {0};
    if (size < 4096)
        cs_json_pretty(text, &pretty);
    return 0;
}
