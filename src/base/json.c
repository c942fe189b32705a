/*
 * The reader: one pass over the text, which fills the tape (base/json_tape.h).
 *
 * The text is foreign and need not end in NUL, so every look at a byte is preceded by a look at the
 * end. Nesting lives in the tape, not on the stack.
 */
#include "base/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_tape.h"
#include "base/mem.h"
#include "base/utf8.h"

#define DEFAULT_BYTES (64u << 20)
#define DEFAULT_DEPTH 128
/* Offsets and sizes are 31 bits; the tape of such a text still has 32-bit indices. */
#define MOST_BYTES 0x7fffffffu

/* Objects up to this width compare each key with each; wider ones sort them. */
#define NARROW 16

#define NO_PARENT UINT32_MAX

/* A key of an object that is still open: where it is on the tape, and a hash of its content. */
struct key {
    uint32_t hash, at;
};

struct parser {
    const char *start, *p, *end;
    uint32_t *tape;
    size_t len, cap;
    uint32_t open; /* tape index of the innermost container, or NO_PARENT */
    uint32_t count, depth, max_depth;
    bool check_keys;
    struct key *keys; /* those of all open objects, innermost last */
    size_t nkeys, keys_cap, keys_from;
    struct cs_err *err;
};

/* Lines and columns count from 1; a column is a character. */
static int fail_at(struct parser *ps, const char *at, enum cs_code code, const char *what)
{
    size_t line = 1, column = 1;
    for (const char *s = ps->start; s < at; s++) {
        if (*s == '\n') {
            line++;
            column = 1;
        } else if (((unsigned char)*s & 0xC0) != 0x80) {
            column++;
        }
    }
    return cs_fail(ps->err, code, "JSON, line %zu, column %zu: %s", line, column, what);
}

static int invalid(struct parser *ps, const char *at, const char *what)
{
    return fail_at(ps, at, CS_INVALID, what);
}

/* "expected ..., found ..." for what stands at ps->p. */
static int unexpected(struct parser *ps, const char *expected)
{
    char what[160], found[24] = "the end of the text";
    if (ps->p < ps->end) {
        unsigned char c = (unsigned char)*ps->p;
        snprintf(found, sizeof found, c > 0x20 && c < 0x7F ? "'%c'" : "the byte 0x%02X", c);
    }
    snprintf(what, sizeof what, "expected %s, found %s", expected, found);
    return invalid(ps, ps->p, what);
}

static void skip_space(struct parser *ps)
{
    while (ps->p < ps->end && (*ps->p == ' ' || *ps->p == '\n' || *ps->p == '\r' || *ps->p == '\t'))
        ps->p++;
}

static bool is_digit(const struct parser *ps)
{
    return ps->p < ps->end && *ps->p >= '0' && *ps->p <= '9';
}

static bool is_one(const struct parser *ps, char c)
{
    return ps->p < ps->end && *ps->p == c;
}

static uint32_t *push(struct parser *ps, const char *from, size_t size)
{
    if (ps->cap - ps->len < TAPE_OPEN) {
        ps->cap = ps->cap * 2;
        ps->tape = cs_realloc(ps->tape, ps->cap, sizeof *ps->tape);
    }
    uint32_t *to = ps->tape + ps->len;
    to[TAPE_FROM] = (uint32_t)(from - ps->start);
    to[TAPE_SIZE] = (uint32_t)size;
    return to;
}

static void push_scalar(struct parser *ps, const char *from, uint32_t flags)
{
    push(ps, from, (size_t)(ps->p - from))[TAPE_SIZE] |= flags;
    ps->len += TAPE_SCALAR;
}

static int escape(struct parser *ps)
{
    const char *slash = ps->p++;
    if (ps->p == ps->end)
        return invalid(ps, slash, "the string is not closed");
    char c = *ps->p++;
    if (c != 'u')
        return c && strchr("\"\\/bfnrt", c)
                   ? 0
                   : invalid(ps, slash,
                             "expected an escape of JSON (\\\" \\\\ \\/ \\b \\f \\n \\r "
                             "\\t \\uXXXX), found another");
    for (int i = 0; i < 4; i++, ps->p++) {
        char h = ps->p < ps->end ? (char)(*ps->p | 0x20) : 0;
        if (!is_digit(ps) && (h < 'a' || h > 'f'))
            return unexpected(ps, "four hexadecimal digits after \\u");
    }
    return 0;
}

static int string(struct parser *ps)
{
    const char *from = ps->p++;
    uint32_t flags = 0;
    for (;;) {
        if (ps->p == ps->end)
            return invalid(ps, from, "the string that starts here is not closed");
        unsigned char c = (unsigned char)*ps->p;
        if (c == '"')
            break;
        if (c == '\\') {
            flags = TAPE_ESCAPED;
            if (escape(ps) < 0)
                return -1;
        } else if (c < 0x20) {
            return invalid(ps, ps->p, "a control character in a string must be escaped");
        } else {
            int n = cs_utf8_len(ps->p, (size_t)(ps->end - ps->p));
            if (n < 0)
                return invalid(ps, ps->p, "the text is not valid UTF-8");
            ps->p += n;
        }
    }
    ps->p++;
    push_scalar(ps, from, flags);
    return 0;
}

static int digits(struct parser *ps, const char *where)
{
    if (!is_digit(ps))
        return unexpected(ps, where);
    while (is_digit(ps))
        ps->p++;
    return 0;
}

static int number(struct parser *ps)
{
    const char *from = ps->p;
    if (*ps->p == '-')
        ps->p++;
    if (is_one(ps, '0')) {
        ps->p++;
        if (is_digit(ps))
            return invalid(ps, from, "a number must not start with a zero that means nothing");
    } else if (digits(ps, "a digit") < 0) {
        return -1;
    }
    if (is_one(ps, '.')) {
        ps->p++;
        if (digits(ps, "a digit after the point") < 0)
            return -1;
    }
    if (is_one(ps, 'e') || is_one(ps, 'E')) {
        ps->p++;
        if (is_one(ps, '+') || is_one(ps, '-'))
            ps->p++;
        if (digits(ps, "a digit of the exponent") < 0)
            return -1;
    }
    push_scalar(ps, from, 0);
    return 0;
}

static int word(struct parser *ps, const char *name, size_t len)
{
    if ((size_t)(ps->end - ps->p) < len || memcmp(ps->p, name, len) != 0)
        return unexpected(ps, "a value");
    const char *from = ps->p;
    ps->p += len;
    push_scalar(ps, from, 0);
    return 0;
}

static struct cs_json_chars key_chars(const struct parser *ps, uint32_t at)
{
    const uint32_t *w = ps->tape + at;
    return cs_json_chars(ps->start + w[TAPE_FROM] + 1, (w[TAPE_SIZE] & ~TAPE_ESCAPED) - 2);
}

static uint32_t key_hash(const struct parser *ps, uint32_t at)
{
    struct cs_json_chars c = key_chars(ps, at);
    uint32_t h = 2166136261u;
    for (int byte; (byte = cs_json_chars_next(&c)) >= 0;)
        h = (h ^ (uint32_t)byte) * 16777619u;
    return h;
}

/* Orders keys: by hash first, since that is cheap, then by their content without escapes. */
static int compare_keys(const struct key *a, const struct key *b, const struct parser *ps)
{
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    struct cs_json_chars x = key_chars(ps, a->at), y = key_chars(ps, b->at);
    if (!((ps->tape[a->at + TAPE_SIZE] | ps->tape[b->at + TAPE_SIZE]) & TAPE_ESCAPED)) {
        size_t nx = (size_t)(x.end - x.at), ny = (size_t)(y.end - y.at);
        int order = memcmp(x.at, y.at, nx < ny ? nx : ny);
        return order ? order : (nx > ny) - (nx < ny);
    }
    for (;;) {
        int cx = cs_json_chars_next(&x), cy = cs_json_chars_next(&y);
        if (cx != cy)
            return cx < cy ? -1 : 1;
        if (cx < 0)
            return 0;
    }
}

static int sort_order(const void *a, const void *b, void *parser)
{
    return compare_keys(a, b, parser);
}

static int duplicate(struct parser *ps, uint32_t at)
{
    struct cs_json_chars c = key_chars(ps, at);
    char what[100];
    size_t n = (size_t)(c.end - c.at);
    bool cut = n > 40;
    for (n = cut ? 40 : n; cut && n > 0 && ((unsigned char)c.at[n] & 0xC0) == 0x80;)
        n--;
    snprintf(what, sizeof what, "the object has the key \"%.*s%s\" twice", (int)n, c.at,
             cut ? "..." : "");
    return invalid(ps, c.at - 1, what);
}

/*
 * Looks for duplicates among the keys of the object that ends. Sorting is n log n whatever the keys
 * are, which a table with a hash that the sender knows would not be.
 */
static int check_keys(struct parser *ps)
{
    struct key *keys = ps->keys + ps->keys_from;
    size_t n = ps->nkeys - ps->keys_from;
    if (n <= NARROW) {
        for (size_t i = 1; i < n; i++)
            for (size_t j = 0; j < i; j++)
                if (keys[i].hash == keys[j].hash && compare_keys(&keys[i], &keys[j], ps) == 0)
                    return duplicate(ps, keys[i].at);
        return 0;
    }
    qsort_r(keys, n, sizeof *keys, sort_order, ps);
    uint32_t first = UINT32_MAX; /* the one that comes first in the text is reported */
    for (size_t i = 1; i < n; i++)
        if (compare_keys(&keys[i], &keys[i - 1], ps) == 0) {
            uint32_t later = keys[i].at > keys[i - 1].at ? keys[i].at : keys[i - 1].at;
            first = later < first ? later : first;
        }
    return first == UINT32_MAX ? 0 : duplicate(ps, first);
}

static void remember_key(struct parser *ps, uint32_t at)
{
    if (!ps->check_keys)
        return;
    if (ps->nkeys == ps->keys_cap) {
        ps->keys_cap = ps->keys_cap ? ps->keys_cap * 2 : 64;
        ps->keys = cs_realloc(ps->keys, ps->keys_cap, sizeof *ps->keys);
    }
    ps->keys[ps->nkeys++] = (struct key){key_hash(ps, at), at};
}

static int open_container(struct parser *ps)
{
    if (ps->depth == ps->max_depth) {
        char what[80];
        snprintf(what, sizeof what, "nested deeper than %u", ps->max_depth);
        return fail_at(ps, ps->p, CS_LIMIT, what);
    }
    ps->depth++;
    uint32_t *to = push(ps, ps->p, ps->keys_from);
    to[TAPE_COUNT] = ps->count;
    to[TAPE_NEXT] = ps->open;
    ps->open = (uint32_t)ps->len;
    ps->len += TAPE_OPEN;
    ps->count = 0;
    ps->keys_from = ps->nkeys;
    ps->p++;
    return 0;
}

static int close_container(struct parser *ps)
{
    if (*ps->p == '}' && ps->check_keys && check_keys(ps) < 0)
        return -1;
    ps->p++;
    ps->depth--;
    uint32_t *w = ps->tape + ps->open;
    uint32_t keys_from = w[TAPE_SIZE], count = w[TAPE_COUNT], parent = w[TAPE_NEXT];
    w[TAPE_SIZE] = (uint32_t)(ps->p - ps->start) - w[TAPE_FROM];
    w[TAPE_COUNT] = ps->count;
    w[TAPE_NEXT] = (uint32_t)ps->len;
    ps->nkeys = ps->keys_from;
    ps->keys_from = keys_from;
    ps->count = count;
    ps->open = parent;
    return 0;
}

static int scalar(struct parser *ps)
{
    switch (ps->p < ps->end ? *ps->p : 0) {
    case '"':
        return string(ps);
    case 't':
        return word(ps, "true", 4);
    case 'f':
        return word(ps, "false", 5);
    case 'n':
        return word(ps, "null", 4);
    case '-':
    case '0' ... '9':
        return number(ps);
    default:
        return unexpected(ps, "a value");
    }
}

static bool in_object(const struct parser *ps)
{
    return ps->start[ps->tape[ps->open + TAPE_FROM]] == '{';
}

/* The key of a member and the colon after it. */
static int member(struct parser *ps, const char *expected)
{
    if (!is_one(ps, '"'))
        return unexpected(ps, expected);
    uint32_t at = (uint32_t)ps->len;
    if (string(ps) < 0)
        return -1;
    remember_key(ps, at);
    skip_space(ps);
    if (!is_one(ps, ':'))
        return unexpected(ps, "':' after the key");
    ps->p++;
    skip_space(ps);
    return 0;
}

/* Closes what ends here; stops before the next value, or at the end of the outermost container. */
static int after_value(struct parser *ps)
{
    while (ps->open != NO_PARENT) {
        ps->count++;
        skip_space(ps);
        bool object = in_object(ps);
        if (is_one(ps, ',')) {
            ps->p++;
            skip_space(ps);
            return object ? member(ps, "a key in double quotes after ','") : 0;
        }
        if (!is_one(ps, object ? '}' : ']'))
            return unexpected(ps, object ? "',' or '}' after the member"
                                         : "',' or ']' after the element");
        if (close_container(ps) < 0)
            return -1;
    }
    return 0;
}

static int parse(struct parser *ps)
{
    skip_space(ps);
    if (ps->end - ps->p >= 3 && memcmp(ps->p, "\xEF\xBB\xBF", 3) == 0)
        return invalid(ps, ps->p, "expected a value, found a byte order mark");
    do {
        if (is_one(ps, '{') || is_one(ps, '[')) {
            bool object = *ps->p == '{';
            if (open_container(ps) < 0)
                return -1;
            skip_space(ps);
            if (is_one(ps, object ? '}' : ']')) {
                if (close_container(ps) < 0 || after_value(ps) < 0)
                    return -1;
            } else if (object && member(ps, "a key in double quotes or '}'") < 0) {
                return -1;
            }
        } else if (scalar(ps) < 0 || after_value(ps) < 0) {
            return -1;
        }
    } while (ps->open != NO_PARENT);
    skip_space(ps);
    return ps->p == ps->end ? 0 : unexpected(ps, "nothing after the value");
}

int cs_json_parse(struct cs_str text, const struct cs_json_limits *limits, struct cs_json *doc,
                  struct cs_err *err)
{
    static const struct cs_json_limits defaults;
    limits = limits ? limits : &defaults;
    *doc = (struct cs_json){0};
    size_t most = limits->bytes ? limits->bytes : DEFAULT_BYTES;
    most = most < MOST_BYTES ? most : MOST_BYTES;
    if (text.len > most)
        return cs_fail(err, CS_LIMIT, "JSON of %zu bytes, at most %zu", text.len, most);

    struct parser ps = {
        .start = text.at ? text.at : "",
        .open = NO_PARENT,
        .max_depth = limits->depth ? limits->depth : DEFAULT_DEPTH,
        .check_keys = !limits->allow_duplicate,
        .cap = text.len / 4 + 16,
        .err = err,
    };
    ps.p = ps.start;
    ps.end = ps.start + text.len;
    ps.tape = cs_realloc(NULL, ps.cap, sizeof *ps.tape);
    int status = parse(&ps);
    free(ps.keys);
    if (status < 0) {
        free(ps.tape);
        return -1;
    }
    *doc = (struct cs_json){.text = cs_strn(ps.start, text.len),
                            .tape = ps.tape,
                            .len = ps.len,
                            .cap = ps.cap,
                            .duplicates = limits->allow_duplicate};
    return 0;
}

void cs_json_done(struct cs_json *doc)
{
    free(doc->tape);
    *doc = (struct cs_json){0};
}
