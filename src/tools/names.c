/* Identifiers out of names that servers chose. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/own.h"
#include "base/utf8.h"
#include "tools/declare.h"
#include "tools/types.h"

/*
 * What a tool's function cannot be called: words of the language; names that the file itself, its
 * index or the linker needs; and names that every object has, or that make it a promise. Compared
 * without regard to case where the name becomes a file ("index").
 */
static const char *const reserved[] = {
    "Infinity",
    "NaN",
    "Promise",
    "Record",
    "__proto__",
    "arguments",
    "async",
    "await",
    "break",
    "caisson",
    "case",
    "catch",
    "class",
    "const",
    "constructor",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "eval",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "globalThis",
    "hasOwnProperty",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "isPrototypeOf",
    "let",
    "new",
    "null",
    "package",
    "private",
    "propertyIsEnumerable",
    "protected",
    "prototype",
    "public",
    "return",
    "static",
    "super",
    "switch",
    "then",
    "this",
    "throw",
    "toJSON",
    "toLocaleString",
    "toString",
    "true",
    "try",
    "type",
    "typeof",
    "undefined",
    "valueOf",
    "var",
    "void",
    "while",
    "with",
    "yield",
};

static int by_text(const void *a, const void *b)
{
    return strcmp(a, *(const char *const *)b);
}

static bool is_reserved(const char *ident)
{
    return strcasecmp(ident, "index") == 0 ||
           bsearch(ident, reserved, CS_COUNT(reserved), sizeof *reserved, by_text);
}

/* Letters in every version of Unicode that an engine may know. Others separate words. */
static bool is_foreign_letter(uint32_t c)
{
    static const struct {
        uint32_t first, last;
    } letters[] = {
        {0xC0, 0xD6},     {0xD8, 0xF6},     {0xF8, 0x24F},    {0x391, 0x3A1},   {0x3A3, 0x3CE},
        {0x400, 0x481},   {0x531, 0x556},   {0x561, 0x586},   {0x5D0, 0x5EA},   {0x621, 0x63A},
        {0x641, 0x64A},   {0x905, 0x939},   {0xE01, 0xE30},   {0x3041, 0x3096}, {0x30A1, 0x30FA},
        {0x3400, 0x4DB5}, {0x4E00, 0x9FA5}, {0xAC00, 0xD7A3},
    };
    for (size_t i = 0; i < CS_COUNT(letters); i++) {
        if (c >= letters[i].first && c <= letters[i].last)
            return true;
    }
    return false;
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The bytes of the letter or digit at `s`, or 0: then `*skip` bytes separate words. */
static size_t letter(struct cs_str s, size_t *skip)
{
    char c = s.at[0];
    *skip = 1;
    if (is_lower(c) || is_upper(c) || is_digit(c))
        return 1;
    int n = cs_utf8_len(s.at, s.len);
    *skip = (size_t)abs(n);
    if (n < 2 || n > 3)
        return 0;
    return is_foreign_letter(cs_utf8_get(s.at, n)) ? (size_t)n : 0;
}

/* SHOUTED_NAMES are written like any other. */
static bool is_shouted(struct cs_str name)
{
    bool parts = false;
    for (size_t i = 0; i < name.len; i++) {
        if (is_lower(name.at[i]))
            return false;
        parts = parts || name.at[i] == '_' || name.at[i] == '-';
    }
    return parts;
}

static uint32_t hash(struct cs_str s)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < s.len; i++)
        h = (h ^ (unsigned char)s.at[i]) * 16777619u;
    return h;
}

/* One word boundary in `ident` of `len` bytes, before the letter `c`; the letter to write. */
static char begin_word(char *ident, size_t *len, char c)
{
    if (*len == 0)
        return c;
    if (is_digit(c) && is_digit(ident[*len - 1]) && *len < CS_IDENT_MAX)
        ident[(*len)++] = '_'; /* 1.2 and 12 stay two names */
    return is_lower(c) ? (char)(c - 'a' + 'A') : c;
}

void cs_ident(struct cs_str name, char ident[CS_IDENT_MAX + 1])
{
    /* The last byte is kept for the underscore of a reserved word. */
    const size_t room = CS_IDENT_MAX - 1;
    size_t len = 0;
    bool boundary = false, shouted = is_shouted(name);
    if (name.len && name.at[0] == '_')
        ident[len++] = '_';
    size_t prefix = len;
    for (size_t i = 0, skip; i < name.len && len < room; i += skip) {
        size_t n = letter(cs_strn(name.at + i, name.len - i), &skip);
        if (n == 0) {
            boundary = true;
            continue;
        }
        char c = name.at[i];
        if (shouted && is_upper(c))
            c = (char)(c - 'A' + 'a');
        if (boundary && len > prefix)
            c = begin_word(ident, &len, c);
        if (len == 0 && is_digit(c))
            ident[len++] = '_';
        if (len + n > room)
            break;
        ident[len] = c;
        memcpy(ident + len + 1, name.at + i + 1, n - 1);
        len += n;
        boundary = false;
    }
    ident[len] = 0;
    if (len == prefix)
        len = (size_t)snprintf(ident, CS_IDENT_MAX, "tool%08x", hash(name));
    if (is_reserved(ident)) {
        ident[len++] = '_';
        ident[len] = 0;
    }
}

void cs_ident_given(struct cs_str ident, struct cs_str name, char out[CS_IDENT_MAX + 1])
{
    bool good = ident.len > 0 && ident.len <= CS_IDENT_MAX && !is_digit(ident.at[0]);
    for (size_t i = 0, skip; good && i < ident.len; i += skip)
        good = letter(cs_strn(ident.at + i, ident.len - i), &skip) > 0 || ident.at[i] == '_';
    if (!good) {
        cs_ident(ident.len ? ident : name, out);
        return;
    }
    memcpy(out, ident.at, ident.len);
    out[ident.len] = 0;
    if (is_reserved(out))
        cs_ident(ident, out);
}

void cs_ident_type(const char *ident, char type[CS_IDENT_MAX + 1])
{
    size_t len = strnlen(ident, CS_IDENT_MAX);
    memcpy(type, ident, len);
    type[len] = 0;
    if (is_lower(type[0]))
        type[0] = (char)(type[0] - 'a' + 'A');
}

/* --- unique within a server --- */

struct claim {
    struct cs_str name;
    const char *ident;
    size_t at; /* index of the caller */
    bool exact, first;
};

/* A name that is its own identifier has the first claim on it. Then those that want the same come
 * together, so that numbering many of them is not quadratic; then the order of the bytes. */
static int by_claim(const void *a, const void *b)
{
    const struct claim *x = a, *y = b;
    if (x->exact != y->exact)
        return x->exact ? -1 : 1;
    int same = strcasecmp(x->ident, y->ident);
    if (same)
        return same;
    size_t n = x->name.len < y->name.len ? x->name.len : y->name.len;
    int order = n ? memcmp(x->name.at, y->name.at, n) : 0;
    if (order)
        return order;
    if (x->name.len != y->name.len)
        return x->name.len < y->name.len ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Open addressing over the identifiers taken so far, without regard to case: a file system may not
 * have any, and a type's name starts with a capital anyway. */
struct taken {
    const char **slots;
    size_t mask;
};

static size_t fold_hash(const char *ident)
{
    size_t h = 5381;
    for (; *ident; ident++)
        h = h * 33 + (unsigned char)(is_upper(*ident) ? *ident - 'A' + 'a' : *ident);
    return h * 0x9E3779B97F4A7C15u >> 20;
}

static const char **slot(struct taken *t, const char *ident)
{
    size_t i = fold_hash(ident) & t->mask;
    while (t->slots[i] && strcasecmp(t->slots[i], ident) != 0)
        i = (i + 1) & t->mask;
    return &t->slots[i];
}

/* Would the function be called like the type of another tool? Then the index would export both. */
static bool is_type_of_other(struct taken *t, const char *ident)
{
    static const char *const suffixes[] = {"Input", "Output"};
    size_t len = strlen(ident);
    for (size_t i = 0; i < CS_COUNT(suffixes); i++) {
        size_t n = strlen(suffixes[i]);
        if (len <= n || strcmp(ident + len - n, suffixes[i]) != 0)
            continue;
        char other[CS_IDENT_MAX + 1];
        memcpy(other, ident, len - n);
        other[len - n] = 0;
        if (*slot(t, other))
            return true;
    }
    return false;
}

/* The other way round: is there a function that is called like one of this one's types? */
static bool has_type_of_other(struct taken *t, const char *ident)
{
    static const char *const suffixes[] = {"Input", "Output"};
    char type[CS_IDENT_MAX + 8];
    for (size_t i = 0; i < CS_COUNT(suffixes); i++) {
        snprintf(type, sizeof type, "%s%s", ident, suffixes[i]);
        if (*slot(t, type))
            return true;
    }
    return false;
}

static void with_number(const char *base, unsigned n, char ident[CS_IDENT_MAX + 1])
{
    char number[16];
    size_t len = strlen(base);
    bool digit = len && is_digit(base[len - 1]);
    size_t digits = (size_t)snprintf(number, sizeof number, digit ? "_%u" : "%u", n);
    if (len + digits > CS_IDENT_MAX)
        len = CS_IDENT_MAX - digits;
    while (len > 0 && ((unsigned char)base[len] & 0xC0) == 0x80)
        len--;
    memcpy(ident, base, len);
    memcpy(ident + len, number, digits + 1);
}

static void claim(struct taken *t, char ident[CS_IDENT_MAX + 1], unsigned *next)
{
    char base[CS_IDENT_MAX + 1];
    memcpy(base, ident, sizeof base);
    while (*slot(t, ident) || is_type_of_other(t, ident) || has_type_of_other(t, ident))
        with_number(base, (*next)++, ident);
    *slot(t, ident) = ident;
}

void cs_idents(const struct cs_str *names, size_t count, char (*idents)[CS_IDENT_MAX + 1])
{
    if (count == 0)
        return;
    CS_AUTO_FREE struct claim *claims = cs_calloc(count, sizeof *claims);
    size_t size = 16;
    while (size < count * 2)
        size *= 2;
    CS_AUTO_FREE const char **slots = cs_calloc(size, sizeof *slots);
    struct taken taken = {slots, size - 1};
    for (size_t i = 0; i < count; i++) {
        cs_ident(names[i], idents[i]);
        claims[i] = (struct claim){names[i], idents[i], i, cs_str_is(names[i], idents[i]), false};
    }
    qsort(claims, count, sizeof *claims, by_claim);
    /* Those who keep their name come first, so that no number takes it away from them. */
    for (size_t i = 0; i < count; i++) {
        claims[i].first =
            claims[i].exact && (i == 0 || strcasecmp(claims[i - 1].ident, claims[i].ident) != 0);
        unsigned next = 2;
        if (claims[i].first)
            claim(&taken, idents[claims[i].at], &next);
    }
    char base[CS_IDENT_MAX + 1] = "";
    unsigned next = 2;
    for (size_t i = 0; i < count; i++) {
        char *ident = idents[claims[i].at];
        if (claims[i].first)
            continue;
        if (strcasecmp(base, ident) != 0) {
            memcpy(base, ident, sizeof base);
            next = 2;
        }
        claim(&taken, ident, &next);
    }
}
