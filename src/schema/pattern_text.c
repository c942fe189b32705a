/*
 * From ECMA-262 (with the flag u) to PCRE2. Whatever PCRE2 would read differently is written out;
 * what ECMA-262 does not have, and PCRE2 would take for an order (verbs, recursion, conditions), is
 * refused.
 */
#include <stdlib.h>

#include "base/utf8.h"
#include "schema/pattern.h"

struct reader {
    const char *at, *end;
    struct cs_buf *out;
    struct cs_err *err;
    bool strict;
    bool in_class, after_set; /* after_set: a '-' that follows is itself */
};

/* White space and its complement, to stand inside a class. */
#define SPACES                                                            \
    "\\x09-\\x0d\\x20\\xa0\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}" \
    "\\x{202f}\\x{205f}\\x{3000}\\x{feff}"
#define NO_SPACES                                                         \
    "\\x00-\\x08\\x0e-\\x1f\\x21-\\x9f\\xa1-\\x{167f}\\x{1681}-\\x{1fff}" \
    "\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-" \
    "\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}"

static const struct {
    const char *name, *category;
} categories[] = {
    {"Cased_Letter", "L&"},
    {"Close_Punctuation", "Pe"},
    {"Connector_Punctuation", "Pc"},
    {"Control", "Cc"},
    {"Currency_Symbol", "Sc"},
    {"Dash_Punctuation", "Pd"},
    {"Decimal_Number", "Nd"},
    {"Enclosing_Mark", "Me"},
    {"Final_Punctuation", "Pf"},
    {"Format", "Cf"},
    {"Initial_Punctuation", "Pi"},
    {"LC", "L&"},
    {"Letter", "L"},
    {"Letter_Number", "Nl"},
    {"Line_Separator", "Zl"},
    {"Lowercase_Letter", "Ll"},
    {"Mark", "M"},
    {"Math_Symbol", "Sm"},
    {"Modifier_Letter", "Lm"},
    {"Modifier_Symbol", "Sk"},
    {"Nonspacing_Mark", "Mn"},
    {"Number", "N"},
    {"Open_Punctuation", "Ps"},
    {"Other", "C"},
    {"Other_Letter", "Lo"},
    {"Other_Number", "No"},
    {"Other_Punctuation", "Po"},
    {"Other_Symbol", "So"},
    {"Paragraph_Separator", "Zp"},
    {"Private_Use", "Co"},
    {"Punctuation", "P"},
    {"Separator", "Z"},
    {"Space_Separator", "Zs"},
    {"Spacing_Mark", "Mc"},
    {"Surrogate", "Cs"},
    {"Symbol", "S"},
    {"Titlecase_Letter", "Lt"},
    {"Unassigned", "Cn"},
    {"Uppercase_Letter", "Lu"},
    {"cntrl", "Cc"},
    {"digit", "Nd"},
    {"punct", "P"},
};

static int bad(struct reader *r, const char *what)
{
    return cs_fail(r->err, CS_INVALID, "the pattern cannot be used: %s", what);
}

static bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

static bool is_letter(char c)
{
    return (unsigned char)((c | 0x20) - 'a') < 26;
}

static int hex(char c)
{
    if (is_digit(c))
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void put_code(struct reader *r, uint32_t c)
{
    /* A lone surrogate is no character; in a value it has become U+FFFD. */
    if (c >= 0xD800 && c <= 0xDFFF)
        c = 0xFFFD;
    cs_buf_printf(r->out, "\\x{%x}", c);
}

/* Exactly n hexadecimal digits at p, or -1. */
static int64_t digits(const struct reader *r, const char *p, int n)
{
    int64_t v = 0;
    if (r->end - p < n)
        return -1;
    for (int i = 0; i < n; i++) {
        int d = hex(p[i]);
        if (d < 0)
            return -1;
        v = v * 16 + d;
    }
    return v;
}

/* After "\u". */
static int unicode(struct reader *r)
{
    if (r->at < r->end && *r->at == '{') {
        int64_t v = 0;
        const char *p = r->at + 1;
        for (; p < r->end && hex(*p) >= 0 && v <= 0x10FFFF; p++)
            v = v * 16 + hex(*p);
        if (p == r->at + 1 || p == r->end || *p != '}' || v > 0x10FFFF)
            return bad(r, "\\u{ needs the number of a character and }");
        r->at = p + 1;
        put_code(r, (uint32_t)v);
        return 0;
    }
    int64_t v = digits(r, r->at, 4);
    if (v < 0)
        return bad(r, "\\u needs four hexadecimal digits");
    r->at += 4;
    if (v >= 0xD800 && v <= 0xDBFF && r->end - r->at >= 6 && r->at[0] == '\\' && r->at[1] == 'u') {
        int64_t low = digits(r, r->at + 2, 4);
        if (low >= 0xDC00 && low <= 0xDFFF) {
            r->at += 6;
            v = 0x10000 + ((v - 0xD800) << 10) + (low - 0xDC00);
        }
    }
    put_code(r, (uint32_t)v);
    return 0;
}

/* After "\p" or "\P". */
static int property(struct reader *r, char p)
{
    const char *close = r->at < r->end ? memchr(r->at, '}', (size_t)(r->end - r->at)) : NULL;
    if (!close || *r->at != '{')
        return bad(r, "\\p needs the name of a property in { }");
    struct cs_str name = cs_strn(r->at + 1, (size_t)(close - r->at) - 1);
    r->at = close + 1;
    for (size_t i = 0; i < name.len; i++)
        if (!is_letter(name.at[i]) && !is_digit(name.at[i]) && name.at[i] != '_' &&
            name.at[i] != '=')
            return bad(r, "\\p needs the name of a property in { }");
    static const char *const prefixes[] = {"General_Category=", "gc="};
    for (size_t i = 0; i < CS_COUNT(prefixes); i++)
        if (cs_str_starts(name, prefixes[i]))
            name = cs_strn(name.at + strlen(prefixes[i]), name.len - strlen(prefixes[i]));
    for (size_t i = 0; i < CS_COUNT(categories); i++)
        if (cs_str_is(name, categories[i].name))
            name = cs_str(categories[i].category);
    cs_buf_printf(r->out, "\\%c{%.*s}", p, CS_STR_ARG(name));
    r->after_set = true;
    return 0;
}

/* \d \D \w \W are the same; \s knows more white space than PCRE2's. */
static bool set(struct reader *r, char c)
{
    if (!is_letter(c) || !strchr("dDwWsS", c))
        return false;
    if (c == 's' || c == 'S') {
        cs_buf_puts(r->out, r->in_class ? "" : c == 's' ? "[" : "[^");
        cs_buf_puts(r->out, r->in_class && c == 'S' ? NO_SPACES : SPACES);
        cs_buf_puts(r->out, r->in_class ? "" : "]");
    } else {
        cs_buf_printf(r->out, "\\%c", c);
    }
    r->after_set = true;
    return true;
}

static int back_reference(struct reader *r)
{
    uint32_t n = 0;
    for (; r->at < r->end && is_digit(*r->at) && n < 100000; r->at++)
        n = n * 10 + (uint32_t)(*r->at - '0');
    if (n == 0 || r->in_class) {
        put_code(r, n & 0x7F);
        return 0;
    }
    cs_buf_printf(r->out, "\\g{%u}", n);
    return 0;
}

/* Letters that ECMA-262 gives no meaning. */
static int other_letter(struct reader *r, char c)
{
    if (r->strict) {
        char what[] = "\\? is no escape that ECMA-262 knows";
        what[1] = c;
        return bad(r, what);
    }
    /* As Python means them. */
    if (strchr("AzZ", c) && !r->in_class)
        cs_buf_puts(r->out, c == 'A' ? "\\A" : "\\z");
    else
        cs_buf_putc(r->out, c);
    return 0;
}

static int letter(struct reader *r, char c)
{
    static const char plain[] = "tnfrv", meant[] = "\t\n\f\r\v";
    const char *hit = strchr(plain, c);
    if (hit) {
        put_code(r, (uint32_t)meant[hit - plain]);
    } else if (c == 'b' || (c == 'B' && !r->in_class)) {
        cs_buf_printf(r->out, "\\%c", c);
    } else if (c == 'c' && r->at < r->end && is_letter(*r->at)) {
        put_code(r, (uint32_t)(*r->at++ & 0x1F));
    } else if (c == 'x' && digits(r, r->at, 2) >= 0) {
        put_code(r, (uint32_t)digits(r, r->at, 2));
        r->at += 2;
    } else if (c == 'k' && !r->in_class && r->at < r->end && *r->at == '<') {
        cs_buf_puts(r->out, "\\k");
    } else {
        return other_letter(r, c);
    }
    return 0;
}

static int escape(struct reader *r)
{
    if (r->at == r->end)
        return bad(r, "it ends in a backslash");
    char c = *r->at++;
    if (set(r, c))
        return 0;
    r->after_set = false;
    if (c == 'p' || c == 'P')
        return property(r, c);
    if (c == 'u')
        return unicode(r);
    if (is_digit(c)) {
        r->at--;
        return back_reference(r);
    }
    if (is_letter(c))
        return letter(r, c);
    if ((unsigned char)c >= 0x80) {
        int n = cs_utf8_len(r->at - 1, (size_t)(r->end - r->at + 1));
        cs_buf_put(r->out, r->at - 1, (size_t)(n < 0 ? -n : n));
        r->at += (n < 0 ? -n : n) - 1;
        return 0;
    }
    if ((unsigned char)c < 0x20)
        put_code(r, (unsigned char)c);
    else
        cs_buf_printf(r->out, "\\%c", c);
    return 0;
}

static int class(struct reader *r)
{
    cs_buf_putc(r->out, '[');
    if (r->at < r->end && *r->at == '^')
        cs_buf_putc(r->out, *r->at++);
    r->in_class = true;
    r->after_set = false;
    while (r->at < r->end && *r->at != ']') {
        char c = *r->at++;
        if (c == '\\') {
            if (escape(r) < 0)
                return -1;
            continue;
        }
        /* What PCRE2 would take for [:alpha:] and its kind. */
        if (c == '[' || c == ':' || c == '.' || c == '=' || (c == '-' && r->after_set))
            cs_buf_putc(r->out, '\\');
        cs_buf_putc(r->out, c);
        r->after_set = false;
    }
    if (r->at == r->end)
        return bad(r, "a [ is not closed");
    r->at++;
    r->in_class = false;
    cs_buf_putc(r->out, ']');
    return 0;
}

static int group(struct reader *r)
{
    struct cs_str rest = cs_strn(r->at, (size_t)(r->end - r->at));
    cs_buf_putc(r->out, '(');
    if (cs_str_starts(rest, "*"))
        return bad(r, "there is nothing that * could repeat");
    if (!cs_str_starts(rest, "?"))
        return 0;
    static const char *const known[] = {"?:", "?=", "?!", "?<=", "?<!"};
    for (size_t i = 0; i < CS_COUNT(known); i++)
        if (cs_str_starts(rest, known[i])) {
            cs_buf_puts(r->out, known[i]);
            r->at += strlen(known[i]);
            return 0;
        }
    size_t skip = cs_str_starts(rest, "?<") ? 2 : !r->strict && cs_str_starts(rest, "?P<") ? 3 : 0;
    if (skip && rest.len > skip && (is_letter(rest.at[skip]) || rest.at[skip] == '_')) {
        cs_buf_puts(r->out, "?<");
        r->at += skip;
        return 0;
    }
    static const char *const flags[] = {"?i)", "?i:"};
    for (size_t i = 0; i < CS_COUNT(flags) && !r->strict; i++)
        if (cs_str_starts(rest, flags[i])) {
            cs_buf_puts(r->out, flags[i]);
            r->at += strlen(flags[i]);
            return 0;
        }
    return bad(r, "there is no such group after (?");
}

/* Is this the { of a quantifier? */
static bool counts(const struct reader *r)
{
    const char *p = r->at;
    if (p == r->end || !is_digit(*p))
        return false;
    while (p < r->end && is_digit(*p))
        p++;
    if (p < r->end && *p == ',')
        for (p++; p < r->end && is_digit(*p);)
            p++;
    return p < r->end && *p == '}';
}

static int item(struct reader *r)
{
    char c = *r->at++;
    switch (c) {
    case '\\':
        return escape(r);
    case '[':
        return class(r);
    case '(':
        return group(r);
    case '.':
        cs_buf_puts(r->out, "[^\\n\\r\\x{2028}\\x{2029}]");
        return 0;
    case '{':
        cs_buf_puts(r->out, counts(r) ? "{" : "\\{");
        return 0;
    default:
        cs_buf_putc(r->out, c);
        return 0;
    }
}

int cs_pattern_translate(struct cs_str ecma, bool strict, struct cs_buf *out, struct cs_err *err)
{
    struct reader r = {
        .at = ecma.at, .end = ecma.at + ecma.len, .out = out, .err = err, .strict = strict};
    while (r.at < r.end)
        if (item(&r) < 0)
            return -1;
    return 0;
}
