#include "base/canon.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

#define DIGITS 17 /* no double needs more */

struct member {
    struct cs_str name;
    struct cs_json_val item;
};

/* A container that is open: what is left of it. */
struct level {
    struct cs_json_val in;
    struct cs_json_iter it; /* of an array */
    struct member *members; /* of an object, in their order */
    size_t count, next;
    bool object, comma;
};

struct canon {
    struct cs_json_writer w;
    struct cs_arena arena;
    struct level *levels;
    size_t depth, cap;
    bool beyond; /* a number that no double holds */
};

/* --- names --- */

/* UTF-16 puts what it needs two units for (F0 and up in UTF-8) before U+E000 (EE). */
static int weight(unsigned char c)
{
    return c >= 0xF0 ? 0xEE0 + (c - 0xF0) : c >= 0xEE ? 0xEF0 + (c - 0xEE) : c * 16;
}

static int compare_names(struct cs_str a, struct cs_str b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    for (size_t i = 0; i < n; i++)
        if (a.at[i] != b.at[i])
            return weight((unsigned char)a.at[i]) - weight((unsigned char)b.at[i]);
    return (a.len > b.len) - (a.len < b.len);
}

static int compare_members(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    int order = compare_names(x->name, y->name);
    return order ? order : (x->item.at > y->item.at) - (x->item.at < y->item.at);
}

/* In their order, and of those with one name the last. */
static void sort(struct level *l)
{
    bool sorted = true;
    for (size_t i = 1; i < l->count && sorted; i++)
        sorted = compare_names(l->members[i - 1].name, l->members[i].name) < 0;
    if (sorted)
        return;
    qsort(l->members, l->count, sizeof *l->members, compare_members);
    size_t kept = 0;
    for (size_t i = 1; i < l->count; i++) {
        if (compare_names(l->members[kept].name, l->members[i].name) != 0)
            kept++;
        l->members[kept] = l->members[i];
    }
    l->count = kept + 1;
}

static void enter(struct canon *c, struct cs_json_val v)
{
    if (c->depth == c->cap) {
        c->cap = c->cap ? 2 * c->cap : 16;
        c->levels = cs_realloc(c->levels, c->cap, sizeof *c->levels);
    }
    struct level *l = &c->levels[c->depth++];
    *l = (struct level){.in = v, .object = cs_json_type(v) == CS_JSON_OBJECT};
    cs_buf_putc(c->w.out, l->object ? '{' : '[');
    if (!l->object || cs_json_count(v) == 0)
        return;
    l->members = cs_calloc(cs_json_count(v), sizeof *l->members);
    struct cs_json_iter it = {0};
    struct cs_json_val name, item;
    while (cs_json_next(v, &it, &name, &item))
        l->members[l->count++] = (struct member){cs_json_str(name, &c->arena), item};
    sort(l);
}

/* --- numbers --- */

/* The digits of a positive number, as few as read back, and the power of ten of the first one. */
static int shortest(double v, char digits[DIGITS + 1], int *exponent)
{
    char text[40];
    int n = v < 0x1p-1022 ? 1 : 15; /* up to 15 always survive being a double */
    for (;; n++) {
        snprintf(text, sizeof text, "%.*e", n - 1, v);
        if (n >= DIGITS || strtod(text, NULL) == v)
            break;
        /* Below a power of two the doubles are closer, so that the nearest decimal may be too far
         * away there, and the next one up near enough. */
        char *last = n > 1 ? text + n : text;
        if (*last == '9')
            continue;
        ++*last;
        if (strtod(text, NULL) == v)
            break;
    }
    char *e = strchr(text, 'e');
    *exponent = (int)strtol(e + 1, NULL, 10);
    digits[0] = text[0];
    if (n > 1)
        memcpy(digits + 1, text + 2, (size_t)n - 1);
    while (n > 1 && digits[n - 1] == '0')
        n--;
    return n;
}

/* Number.prototype.toString, ECMA-262. */
static void put_number(struct cs_buf *out, double v)
{
    if (v < 0)
        cs_buf_putc(out, '-');
    v = fabs(v);
    if (v == trunc(v) && v <= 0x1p53) {
        cs_buf_printf(out, "%.0f", v);
        return;
    }
    char digits[DIGITS + 1];
    int exponent, k = shortest(v, digits, &exponent), n = exponent + 1;
    static const char zeros[] = "000000000000000000000";
    if (k <= n && n <= 21) {
        cs_buf_put(out, digits, (size_t)k);
        cs_buf_put(out, zeros, (size_t)(n - k));
    } else if (n > 0 && n <= 21) {
        cs_buf_put(out, digits, (size_t)n);
        cs_buf_putc(out, '.');
        cs_buf_put(out, digits + n, (size_t)(k - n));
    } else if (n > -6 && n <= 0) {
        cs_buf_puts(out, "0.");
        cs_buf_put(out, zeros, (size_t)-n);
        cs_buf_put(out, digits, (size_t)k);
    } else {
        cs_buf_putc(out, digits[0]);
        if (k > 1) {
            cs_buf_putc(out, '.');
            cs_buf_put(out, digits + 1, (size_t)k - 1);
        }
        cs_buf_printf(out, "e%+d", exponent);
    }
}

/* --- values --- */

static void put_string(struct canon *c, struct cs_str s)
{
    c->w.comma = false;
    cs_json_put_str(&c->w, s);
}

static void put(struct canon *c, struct cs_json_val v)
{
    double number;
    switch (cs_json_type(v)) {
    case CS_JSON_ARRAY:
    case CS_JSON_OBJECT:
        enter(c, v);
        return;
    case CS_JSON_STRING:
        put_string(c, cs_json_str(v, &c->arena));
        return;
    case CS_JSON_NUMBER:
        if (cs_json_f64(v, &number)) {
            put_number(c->w.out, number);
        } else {
            c->beyond = true;
            cs_buf_putstr(c->w.out, cs_json_raw(v));
        }
        return;
    case CS_JSON_NONE:
    case CS_JSON_NULL:
        cs_buf_puts(c->w.out, "null");
        return;
    case CS_JSON_TRUE:
        cs_buf_puts(c->w.out, "true");
        return;
    case CS_JSON_FALSE:
        cs_buf_puts(c->w.out, "false");
        return;
    }
}

static bool next(struct canon *c, struct cs_json_val *item)
{
    struct level *l = &c->levels[c->depth - 1];
    bool more = l->object ? l->next < l->count : cs_json_next(l->in, &l->it, NULL, item);
    if (!more) {
        cs_buf_putc(c->w.out, l->object ? '}' : ']');
        free(l->members);
        c->depth--;
        return false;
    }
    if (l->comma)
        cs_buf_putc(c->w.out, ',');
    l->comma = true;
    if (l->object) {
        struct member *m = &l->members[l->next++];
        *item = m->item;
        put_string(c, m->name);
        cs_buf_putc(c->w.out, ':');
    }
    return true;
}

/* False: there is a number that no double holds; it stands as it was written. */
static bool write_canon(struct cs_json_val v, struct cs_buf *out)
{
    struct canon c = {.w = CS_JSON_WRITER(out)};
    struct cs_json_val item = v;
    put(&c, v);
    while (c.depth > 0)
        if (next(&c, &item))
            put(&c, item);
    free(c.levels);
    cs_arena_done(&c.arena);
    return !c.beyond;
}

void cs_json_canon(struct cs_json_val v, struct cs_buf *out)
{
    write_canon(v, out);
}

int cs_canon(struct cs_str json, struct cs_buf *out, struct cs_err *err)
{
    static const struct cs_json_limits limits = {.depth = CS_CANON_DEPTH, .allow_duplicate = true};
    CS_AUTO_JSON struct cs_json doc = {0};
    size_t before = out->len;
    if (cs_json_parse(json, &limits, &doc, err) < 0)
        return -1;
    if (write_canon(cs_json_root(&doc), out))
        return 0;
    out->len = before;
    return cs_fail(err, CS_INVALID, "JSON: a number is beyond the largest double");
}

void cs_canon_hash(struct cs_str json, unsigned char hash[32])
{
    CS_AUTO_BUF struct cs_buf canon = {0};
    cs_sha256(cs_canon(json, &canon, NULL) < 0 ? json : cs_buf_str(&canon), hash);
}
