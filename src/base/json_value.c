#include "base/json_tape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

static const struct cs_json_val none;

static const uint32_t *words(struct cs_json_val v)
{
    return v.doc->tape + v.at;
}

static const char *text_of(struct cs_json_val v)
{
    return v.doc->text.at + words(v)[TAPE_FROM];
}

struct cs_json_val cs_json_root(const struct cs_json *doc)
{
    return doc->len ? (struct cs_json_val){doc, 0} : none;
}

enum cs_json_type cs_json_type(struct cs_json_val v)
{
    if (!v.doc)
        return CS_JSON_NONE;
    switch (*text_of(v)) {
    case 'n':
        return CS_JSON_NULL;
    case 'f':
        return CS_JSON_FALSE;
    case 't':
        return CS_JSON_TRUE;
    case '"':
        return CS_JSON_STRING;
    case '[':
        return CS_JSON_ARRAY;
    case '{':
        return CS_JSON_OBJECT;
    default:
        return CS_JSON_NUMBER;
    }
}

static bool is_container(enum cs_json_type type)
{
    return type == CS_JSON_ARRAY || type == CS_JSON_OBJECT;
}

static uint32_t after(struct cs_json_val v)
{
    return is_container(cs_json_type(v)) ? words(v)[TAPE_NEXT] : v.at + TAPE_SCALAR;
}

uint32_t cs_json_count(struct cs_json_val v)
{
    return is_container(cs_json_type(v)) ? words(v)[TAPE_COUNT] : 0;
}

bool cs_json_next(struct cs_json_val v, struct cs_json_iter *it, struct cs_json_val *key,
                  struct cs_json_val *item)
{
    enum cs_json_type type = cs_json_type(v);
    if (!is_container(type))
        return false;
    struct cs_json_val at = {v.doc, it->at ? it->at : v.at + TAPE_OPEN};
    if (at.at >= words(v)[TAPE_NEXT])
        return false;
    if (type == CS_JSON_OBJECT) {
        if (key)
            *key = at;
        at.at += TAPE_SCALAR;
    } else if (key) {
        *key = none;
    }
    *item = at;
    it->at = after(at);
    return true;
}

struct cs_json_val cs_json_get(struct cs_json_val object, const char *key)
{
    struct cs_json_val name, item, found = none;
    if (cs_json_type(object) != CS_JSON_OBJECT)
        return none;
    struct cs_json_iter it = {0};
    while (cs_json_next(object, &it, &name, &item)) {
        if (!cs_json_is(name, key))
            continue;
        found = item;
        if (!object.doc->duplicates)
            break;
    }
    return found;
}

struct cs_str cs_json_raw(struct cs_json_val v)
{
    if (!v.doc)
        return (struct cs_str){0};
    return cs_strn(text_of(v), words(v)[TAPE_SIZE] & ~TAPE_ESCAPED);
}

/* What stands between the quotes. */
static struct cs_str inside(struct cs_json_val v)
{
    struct cs_str raw = cs_json_raw(v);
    return cs_strn(raw.at + 1, raw.len - 2);
}

static bool escaped(struct cs_json_val v)
{
    return words(v)[TAPE_SIZE] & TAPE_ESCAPED;
}

static uint32_t hex4(const char *s)
{
    uint32_t v = 0;
    for (int i = 0; i < 4; i++) {
        unsigned char c = (unsigned char)s[i];
        v = v << 4 | (c <= '9' ? c - (uint32_t)'0' : (c | 0x20u) - 'a' + 10u);
    }
    return v;
}

/* The character of a \u escape, of which `at` is the u; moves on by what it used. */
static uint32_t unescape_u(const char **at, const char *end)
{
    uint32_t c = hex4(*at + 1);
    *at += 5;
    if (c < 0xD800 || c > 0xDFFF)
        return c;
    if (c <= 0xDBFF && end - *at >= 6 && (*at)[0] == '\\' && (*at)[1] == 'u') {
        uint32_t low = hex4(*at + 2);
        if (low >= 0xDC00 && low <= 0xDFFF) {
            *at += 6;
            return 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
        }
    }
    return 0xFFFD;
}

/* The escape after whose backslash `at` stands, as UTF-8 in `to` (4 bytes of room). */
static unsigned unescape(const char **at, const char *end, char *to)
{
    static const char meant[256] = {
        ['b'] = '\b', ['f'] = '\f', ['n'] = '\n', ['r'] = '\r', ['t'] = '\t'};
    if (**at == 'u')
        return cs_utf8_put(to, unescape_u(at, end));
    char special = meant[(unsigned char)**at];
    *to = special ? special : **at;
    *at += 1;
    return 1;
}

int cs_json_chars_next(struct cs_json_chars *c)
{
    if (c->i < c->n)
        return (unsigned char)c->ahead[c->i++];
    if (c->at == c->end)
        return -1;
    if (*c->at != '\\')
        return (unsigned char)*c->at++;
    c->at++;
    c->n = (unsigned char)unescape(&c->at, c->end, c->ahead);
    c->i = 1;
    return (unsigned char)c->ahead[0];
}

struct cs_str cs_json_str(struct cs_json_val v, struct cs_arena *arena)
{
    if (cs_json_type(v) != CS_JSON_STRING)
        return CS_STR("");
    struct cs_str s = inside(v);
    if (!escaped(v))
        return s;
    /* No escape is shorter than what it stands for. */
    char *copy = cs_arena_alloc(arena, s.len + 1), *to = copy;
    const char *at = s.at, *end = s.at + s.len;
    while (at < end) {
        const char *slash = memchr(at, '\\', (size_t)(end - at));
        size_t run = (size_t)((slash ? slash : end) - at);
        memcpy(to, at, run);
        to += run;
        if (!slash)
            break;
        at = slash + 1;
        to += unescape(&at, end, to);
    }
    *to = '\0';
    return cs_strn(copy, (size_t)(to - copy));
}

bool cs_json_is(struct cs_json_val v, const char *z)
{
    if (cs_json_type(v) != CS_JSON_STRING)
        return false;
    struct cs_str s = inside(v);
    if (!escaped(v))
        return cs_str_is(s, z);
    struct cs_json_chars c = cs_json_chars(s.at, s.len);
    for (;; z++) {
        int byte = cs_json_chars_next(&c);
        if (byte < 0)
            return *z == '\0';
        /* A NUL in the string must not pass for the end of `z`. */
        if (*z == '\0' || byte != (unsigned char)*z)
            return false;
    }
}

/* A number taken apart: digits * 10^exp, with `digits` exact unless there are too many. */
struct decimal {
    uint64_t digits;
    int64_t exp;
    bool negative, exact;
};

/* Exponents beyond this are all the same: the text is too short to make up for them. */
#define EXP_MAX 100000000000

static struct decimal split(struct cs_str s)
{
    struct decimal d = {.exact = true};
    const char *p = s.at, *end = s.at + s.len;
    int64_t zeros = 0; /* seen, and not in `digits` unless another digit follows */
    bool fraction = false;
    if (*p == '-') {
        d.negative = true;
        p++;
    }
    for (; p < end && (*p | 0x20) != 'e'; p++) {
        if (*p == '.') {
            fraction = true;
            continue;
        }
        d.exp -= fraction;
        if (*p == '0') {
            zeros += d.digits != 0;
            continue;
        }
        for (zeros++; zeros > 0; zeros--)
            d.exact = d.exact && !__builtin_mul_overflow(d.digits, 10u, &d.digits);
        d.exact = d.exact && !__builtin_add_overflow(d.digits, (uint64_t)(*p - '0'), &d.digits);
    }
    int64_t exp = 0;
    bool minus = false;
    for (p++; p < end; p++) {
        if (*p == '-')
            minus = true;
        else if (*p != '+' && exp < EXP_MAX)
            exp = exp * 10 + (*p - '0');
    }
    d.exp += zeros + (minus ? -exp : exp);
    return d;
}

bool cs_json_i64(struct cs_json_val v, int64_t *out)
{
    if (cs_json_type(v) != CS_JSON_NUMBER)
        return false;
    struct decimal d = split(cs_json_raw(v));
    if (d.digits == 0 && d.exact) {
        *out = 0;
        return true;
    }
    if (!d.exact || d.exp < 0 || d.exp > 18)
        return false;
    for (; d.exp > 0; d.exp--)
        if (__builtin_mul_overflow(d.digits, 10u, &d.digits))
            return false;
    if (d.digits > (uint64_t)INT64_MAX + d.negative)
        return false;
    *out = d.negative ? (int64_t)(0 - d.digits) : (int64_t)d.digits;
    return true;
}

bool cs_json_f64(struct cs_json_val v, double *out)
{
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (cs_json_type(v) != CS_JSON_NUMBER)
        return false;
    struct cs_str s = cs_json_raw(v);
    struct decimal d = split(s);
    double value;
    if (d.exact && d.digits <= 1ull << 53 && d.exp >= -22 && d.exp <= 22) {
        /* Both factors are exact, so the one rounding is the right one. */
        value = (double)d.digits;
        value = d.exp < 0 ? value / tens[-d.exp] : value * tens[d.exp];
        value = d.negative ? -value : value;
    } else {
        char small[64];
        CS_AUTO_FREE char *big = s.len < sizeof small ? NULL : cs_strndup(s.at, s.len);
        if (!big) {
            memcpy(small, s.at, s.len);
            small[s.len] = '\0';
        }
        value = strtod(big ? big : small, NULL);
    }
    if (!isfinite(value))
        return false;
    *out = value;
    return true;
}

bool cs_json_bool(struct cs_json_val v, bool *out)
{
    enum cs_json_type type = cs_json_type(v);
    if (type != CS_JSON_TRUE && type != CS_JSON_FALSE)
        return false;
    *out = type == CS_JSON_TRUE;
    return true;
}
