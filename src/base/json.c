/*
 * The reader: one pass over the text, which fills the tape (base/json_tape.h).
 *
 * The text is foreign and need not end in NUL, so every look at a byte is preceded by a look at the
 * end. Nesting lives in the tape, not on the stack. The functions that read something take the
 * place where it starts and return the place after it, or NULL once the error is told; keeping the
 * place out of the struct is what lets it stay in a register.
 */
#include "base/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_scan.h"
#include "base/json_tape.h"
#include "base/mem.h"
#include "base/utf8.h"

#define DEFAULT_BYTES (64u << 20)
#define DEFAULT_DEPTH 128
/* Offsets and sizes are 31 bits; the tape of such a text still has 32-bit indices. */
#define MOST_BYTES 0x7fffffffu

/* Objects up to this width compare each key's hash with each; wider ones sort them. */
#define NARROW 32

#define NO_PARENT UINT32_MAX

struct parser {
    const char *start, *end;
    uint32_t *tape;
    size_t len, cap;
    uint32_t open; /* tape index of the innermost container, or NO_PARENT */
    bool object;   /* and whether that is an object */
    bool check_keys;
    uint32_t count, depth, max_depth;
    struct cs_json_key *keys; /* those of all open objects, innermost last */
    size_t nkeys, keys_cap, keys_from;
    struct cs_err *err;
};

/* Lines and columns count from 1; a column is a character. */
static const char *fail_at(struct parser *ps, const char *at, enum cs_code code, const char *what)
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
    cs_fail(ps->err, code, "JSON, line %zu, column %zu: %s", line, column, what);
    return NULL;
}

static const char *invalid(struct parser *ps, const char *at, const char *what)
{
    return fail_at(ps, at, CS_INVALID, what);
}

/* "expected ..., found ..." for what stands at `at`. */
static const char *unexpected(struct parser *ps, const char *at, const char *expected)
{
    char what[160], found[32] = "the end of the text";
    if (ps->end - at >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0) {
        snprintf(found, sizeof found, "a byte order mark");
    } else if (at < ps->end) {
        unsigned char c = (unsigned char)*at;
        if (c > 0x20 && c < 0x7F)
            snprintf(found, sizeof found, "'%c'", c);
        else
            snprintf(found, sizeof found, "the byte 0x%02X", c);
    }
    snprintf(what, sizeof what, "expected %s, found %s", expected, found);
    return invalid(ps, at, what);
}

static inline bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

/* Makes a value of the text between the two; its further words are the caller's to fill. */
static inline uint32_t *push(struct parser *ps, const char *from, const char *to, uint32_t flags)
{
    if (__builtin_expect(ps->cap - ps->len < TAPE_OPEN, 0)) {
        ps->cap += ps->cap / 2;
        ps->tape = cs_realloc(ps->tape, ps->cap, sizeof *ps->tape);
    }
    uint32_t *value = ps->tape + ps->len;
    value[TAPE_FROM] = (uint32_t)(from - ps->start);
    value[TAPE_SIZE] = (uint32_t)(to - from) | flags;
    return value;
}

static inline const char *push_scalar(struct parser *ps, const char *from, const char *to,
                                      uint32_t flags)
{
    push(ps, from, to, flags);
    ps->len += TAPE_SCALAR;
    return to;
}

static const char *escape(struct parser *ps, const char *slash)
{
    const char *p = slash + 1;
    if (p == ps->end)
        return unexpected(ps, p, "an escape after the backslash");
    if (*p != 'u') {
        /* Text that is JSON itself has one every few letters, so this is no call of strchr. */
        static const bool known[256] = {['"'] = 1, ['\\'] = 1, ['/'] = 1, ['b'] = 1,
                                        ['f'] = 1, ['n'] = 1,  ['r'] = 1, ['t'] = 1};
        if (known[(unsigned char)*p])
            return p + 1;
        return unexpected(ps, p, "one of \" \\ / b f n r t u after the backslash");
    }
    p++;
    for (int i = 0; i < 4; i++, p++) {
        char c = p < ps->end ? *p : 0;
        if (!is_digit(c) && !(c >= 'a' && c <= 'f') && !(c >= 'A' && c <= 'F'))
            return unexpected(ps, p, "four hexadecimal digits after \\u");
    }
    return p;
}

static inline const char *string(struct parser *ps, const char *from)
{
    const char *p = from + 1, *end = ps->end;
    uint32_t flags = 0;
    for (;;) {
        p = cs_json_skip_plain(p, end);
        if (p == end)
            return invalid(ps, from, "the string that starts here is not closed");
        unsigned char c = (unsigned char)*p;
        if (c == '"')
            return push_scalar(ps, from, p + 1, flags);
        if (c == '\\') {
            flags = TAPE_ESCAPED;
            p = escape(ps, p);
            if (!p)
                return NULL;
        } else if (c < 0x20) {
            return invalid(ps, p, "a control character in a string must be escaped");
        } else {
            do {
                int n = cs_utf8_len(p, (size_t)(end - p));
                if (n < 0)
                    return invalid(ps, p, "the text is not valid UTF-8");
                p += n;
            } while (p < end && (signed char)*p < 0);
        }
    }
}

static inline const char *digits(struct parser *ps, const char *p, const char *expected)
{
    if (p == ps->end || !is_digit(*p))
        return unexpected(ps, p, expected);
    do
        p++;
    while (p < ps->end && is_digit(*p));
    return p;
}

static inline const char *number(struct parser *ps, const char *from)
{
    const char *p = from, *end = ps->end;
    if (*p == '-')
        p++;
    if (p < end && *p == '0') {
        p++;
        if (p < end && is_digit(*p))
            return invalid(ps, p - 1, "expected no zero before other digits of a number");
    } else if (!(p = digits(ps, p, "a digit"))) {
        return NULL;
    }
    if (p < end && *p == '.' && !(p = digits(ps, p + 1, "a digit after the point")))
        return NULL;
    if (p < end && (*p | 0x20) == 'e') {
        p++;
        if (p < end && (*p == '+' || *p == '-'))
            p++;
        if (!(p = digits(ps, p, "a digit of the exponent")))
            return NULL;
    }
    return push_scalar(ps, from, p, 0);
}

static inline const char *word(struct parser *ps, const char *from, const char *name, size_t len)
{
    if ((size_t)(ps->end - from) < len || memcmp(from, name, len) != 0)
        return unexpected(ps, from, "a value");
    return push_scalar(ps, from, from + len, 0);
}

static inline uint64_t load8(const char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? v : __builtin_bswap64(v);
}

static inline uint32_t hash_key(const struct parser *ps, const char *inside, size_t len)
{
    if (len > 8)
        return cs_json_mix(load8(inside), load8(inside + len - 8), len);
    uint64_t first = 0;
    if (ps->end - inside >= 8)
        first = load8(inside);
    else
        for (size_t i = 0; i < len; i++)
            first |= (uint64_t)(unsigned char)inside[i] << (8 * i);
    if (len < 8)
        first &= ((uint64_t)1 << (8 * len)) - 1;
    return cs_json_mix(first, 0, len);
}

static int duplicate(struct parser *ps, uint32_t at)
{
    struct cs_json_chars c = cs_json_chars_at(ps->start, ps->tape + at);
    char what[100];
    size_t n = (size_t)(c.end - c.at);
    bool cut = n > 40;
    if (cut)
        for (n = 40; ((unsigned char)c.at[n] & 0xC0) == 0x80;)
            n--;
    snprintf(what, sizeof what, "the object has the key \"%.*s%s\" twice", (int)n, c.at,
             cut ? "..." : "");
    invalid(ps, c.at - 1, what);
    return -1;
}

/* Looks for duplicates among the keys of the object that ends. */
static inline int check_keys(struct parser *ps)
{
    size_t n = ps->nkeys - ps->keys_from;
    if (n < 2)
        return 0;
    struct cs_json_key *keys = ps->keys + ps->keys_from;
    bool suspicious = n > NARROW;
    for (size_t i = 1; i < n && !suspicious; i++)
        for (size_t j = 0; j < i; j++)
            suspicious |= keys[i].hash == keys[j].hash;
    if (!suspicious)
        return 0;
    uint32_t at = cs_json_twice(ps->start, ps->tape, keys, n);
    return at == CS_JSON_UNIQUE ? 0 : duplicate(ps, at);
}

static inline void remember_key(struct parser *ps, uint32_t at)
{
    if (__builtin_expect(ps->nkeys == ps->keys_cap, 0)) {
        ps->keys_cap = ps->keys_cap ? ps->keys_cap * 2 : 64;
        ps->keys = cs_realloc(ps->keys, ps->keys_cap, sizeof *ps->keys);
    }
    struct cs_json_chars c = cs_json_chars_at(ps->start, ps->tape + at);
    size_t len = (size_t)(c.end - c.at);
    bool escaped = ps->tape[at + TAPE_SIZE] & TAPE_ESCAPED;
    ps->keys[ps->nkeys++] = (struct cs_json_key){
        escaped ? cs_json_hash_escaped(c.at, len) : hash_key(ps, c.at, len), at};
}

static inline const char *open_container(struct parser *ps, const char *at)
{
    if (ps->depth == ps->max_depth) {
        char what[80];
        snprintf(what, sizeof what, "nested deeper than %u", ps->max_depth);
        return fail_at(ps, at, CS_LIMIT, what);
    }
    ps->depth++;
    uint32_t *value = push(ps, at, at, 0);
    value[TAPE_SIZE] = (uint32_t)ps->keys_from;
    value[TAPE_COUNT] = ps->count;
    value[TAPE_NEXT] = ps->open;
    ps->open = (uint32_t)ps->len;
    ps->object = *at == '{';
    ps->len += TAPE_OPEN;
    ps->count = 0;
    ps->keys_from = ps->nkeys;
    return at + 1;
}

static inline const char *close_container(struct parser *ps, const char *at)
{
    if (ps->object && ps->check_keys && check_keys(ps) < 0)
        return NULL;
    ps->depth--;
    uint32_t *value = ps->tape + ps->open;
    uint32_t keys_from = value[TAPE_SIZE], count = value[TAPE_COUNT], parent = value[TAPE_NEXT];
    value[TAPE_SIZE] = (uint32_t)(at + 1 - ps->start) - value[TAPE_FROM];
    value[TAPE_COUNT] = ps->count;
    value[TAPE_NEXT] = (uint32_t)ps->len;
    ps->nkeys = ps->keys_from;
    ps->keys_from = keys_from;
    ps->count = count;
    ps->open = parent;
    ps->object = parent != NO_PARENT && ps->start[ps->tape[parent + TAPE_FROM]] == '{';
    return at + 1;
}

static inline const char *scalar(struct parser *ps, const char *p)
{
    switch (p < ps->end ? *p : 0) {
    case '"':
        return string(ps, p);
    case 't':
        return word(ps, p, "true", 4);
    case 'f':
        return word(ps, p, "false", 5);
    case 'n':
        return word(ps, p, "null", 4);
    case '-':
    case '0' ... '9':
        return number(ps, p);
    default:
        return unexpected(ps, p, "a value");
    }
}

/* The key of a member, the colon after it, and the space before the value. */
static inline const char *member(struct parser *ps, const char *p, const char *expected)
{
    if (p == ps->end || *p != '"')
        return unexpected(ps, p, expected);
    uint32_t at = (uint32_t)ps->len;
    p = string(ps, p);
    if (!p)
        return NULL;
    if (ps->check_keys)
        remember_key(ps, at);
    p = cs_json_skip_space(p, ps->end);
    if (p == ps->end || *p != ':')
        return unexpected(ps, p, "':' after the key");
    return cs_json_skip_space(p + 1, ps->end);
}

/* Closes what ends after a value; stops before the next value, or after the outermost one. */
static inline const char *after_value(struct parser *ps, const char *p)
{
    while (ps->open != NO_PARENT) {
        ps->count++;
        p = cs_json_skip_space(p, ps->end);
        char c = p < ps->end ? *p : 0;
        if (c == ',') {
            p = cs_json_skip_space(p + 1, ps->end);
            return ps->object ? member(ps, p, "a key in double quotes after ','") : p;
        }
        if (c != (ps->object ? '}' : ']'))
            return unexpected(
                ps, p, ps->object ? "',' or '}' after the member" : "',' or ']' after the element");
        p = close_container(ps, p);
        if (!p)
            return NULL;
    }
    return p;
}

static int parse(struct parser *ps)
{
    const char *p = cs_json_skip_space(ps->start, ps->end);
    do {
        char c = p < ps->end ? *p : 0;
        if (c == '{' || c == '[') {
            p = open_container(ps, p);
            if (!p)
                return -1;
            p = cs_json_skip_space(p, ps->end);
            if (p < ps->end && *p == (c == '{' ? '}' : ']')) {
                p = close_container(ps, p);
                p = p ? after_value(ps, p) : NULL;
            } else if (c == '{') {
                p = member(ps, p, "a key in double quotes or '}'");
            }
        } else {
            p = scalar(ps, p);
            p = p ? after_value(ps, p) : NULL;
        }
        if (!p)
            return -1;
    } while (ps->open != NO_PARENT);
    p = cs_json_skip_space(p, ps->end);
    if (p != ps->end) {
        unexpected(ps, p, "nothing after the value");
        return -1;
    }
    return 0;
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
