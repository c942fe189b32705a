/* What a token looks like: found by its underscore, and walked from there to both sides. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "privacy/find.h"
#include "privacy/token.h"

#define BLANKS      2 /* within the brackets, on each side */
#define BACKSLASHES 4 /* before a bracket */

static bool is_name_byte(char c)
{
    return cs_is_letter(c) || c == '_';
}

static bool is_word_byte(char c)
{
    return cs_is_alnum(c) || c == '_';
}

static bool is_upper(struct cs_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.at[i] >= 'a' && s.at[i] <= 'z')
            return false;
    return true;
}

bool cs_token_any_name(const void *ctx, struct cs_str name)
{
    (void)ctx;
    return name.len > 0 && name.len <= CS_TOKEN_NAME && cs_is_letter(name.at[0]) &&
           name.at[name.len - 1] != '_';
}

bool cs_token_built_in(const void *ctx, struct cs_str name)
{
    (void)ctx;
    for (unsigned i = 0; i < CS_PII_COUNT; i++) {
        const char *known = cs_pii_name((enum cs_pii)i);
        if (strlen(known) == name.len && strncasecmp(known, name.at, name.len) == 0)
            return true;
    }
    return false;
}

size_t cs_token_write(enum cs_token_style style, struct cs_str name, uint64_t id,
                      char text[CS_TOKEN_MAX])
{
    unsigned long long n = id;
    switch (style) {
    case CS_TOKEN_UNDERSCORE:
        return (size_t)snprintf(text, CS_TOKEN_MAX, "%.*s_TOKEN_%03llu", CS_STR_ARG(name), n);
    case CS_TOKEN_HASH:
        return (size_t)snprintf(text, CS_TOKEN_MAX, "%.*s_%016llx", CS_STR_ARG(name), n);
    case CS_TOKEN_BRACKET:
        break;
    }
    return (size_t)snprintf(text, CS_TOKEN_MAX, "[%.*s_%llu]", CS_STR_ARG(name), n);
}

/* --- where an underscore stands --- */

struct look {
    struct cs_str text;
    size_t from;        /* nothing before it */
    size_t run;         /* where letters and underscores begin that end at: */
    size_t bar;         /* the underscore */
    size_t digits, end; /* what follows it */
    cs_token_named *named;
    const void *ctx;
};

static char at(const struct look *l, size_t i)
{
    return i < l->text.len ? l->text.at[i] : '\0';
}

/* Brackets around it, after blanks; and backslashes, if both have the same number of them. */
static bool bracketed(const struct look *l, size_t *start, size_t *end)
{
    size_t p = *start, q = *end;
    for (unsigned n = 0; n < BLANKS && p > l->from && at(l, p - 1) == ' '; n++)
        p--;
    for (unsigned n = 0; n < BLANKS && at(l, q) == ' '; n++)
        q++;
    if (p == l->from || at(l, p - 1) != '[')
        return false;
    p--;
    unsigned before = 0, behind = 0;
    while (before < BACKSLASHES && p - before > l->from && at(l, p - before - 1) == '\\')
        before++;
    while (behind < BACKSLASHES && at(l, q + behind) == '\\')
        behind++;
    if (at(l, q + behind) != ']' || (behind && behind != before))
        return false;
    *start = p - behind;
    *end = q + behind + 1;
    return true;
}

static bool percent(const struct look *l, size_t i, char letter)
{
    return at(l, i) == '%' && at(l, i + 1) == '5' && (at(l, i + 2) | 0x20) == letter;
}

/* [EMAIL_1] in all its forms, and EMAIL_1. */
static bool numbered(const struct look *l, struct cs_token *t)
{
    size_t n = l->end - l->digits;
    if (n < 1 || n > CS_TOKEN_DIGITS || at(l, l->digits) == '0')
        return false;
    t->name = cs_strn(l->text.at + l->run, l->bar - l->run);
    t->start = l->run;
    t->end = l->end;
    if (bracketed(l, &t->start, &t->end)) {
        t->shape = CS_SHAPE_BRACKET;
        return l->named(l->ctx, t->name);
    }
    if (l->run >= l->from + 2 && percent(l, l->run - 2, 'b') && percent(l, l->end, 'd')) {
        t->name = cs_strn(t->name.at + 1, t->name.len - 1);
        t->start = l->run - 2;
        t->end = l->end + 3;
        t->shape = CS_SHAPE_PERCENT;
        return l->named(l->ctx, t->name);
    }
    t->shape = CS_SHAPE_BARE;
    return !(l->run > 0 && is_word_byte(at(l, l->run - 1))) && !is_word_byte(at(l, l->end)) &&
           is_upper(t->name) && l->named(l->ctx, t->name);
}

/* The longest name that ends at `end`: what stands before it may be anything. */
static bool name_before(const struct look *l, size_t end, struct cs_token *t)
{
    size_t from = end - l->run > CS_TOKEN_NAME ? end - CS_TOKEN_NAME : l->run;
    for (size_t i = from; i < end; i++) {
        struct cs_str name = cs_strn(l->text.at + i, end - i);
        if (is_upper(name) && l->named(l->ctx, name)) {
            t->name = name;
            t->start = i;
            return true;
        }
    }
    return false;
}

/* EMAIL_TOKEN_001 */
static bool underscored(const struct look *l, struct cs_token *t)
{
    size_t n = l->end - l->digits;
    if (n < 3 || n > CS_TOKEN_DIGITS || (n > 3 && at(l, l->digits) == '0') ||
        l->bar - l->run < sizeof "_TOKEN" || memcmp(l->text.at + l->bar - 6, "_TOKEN", 6) != 0)
        return false;
    t->shape = CS_SHAPE_UNDERSCORE;
    t->end = l->end;
    return name_before(l, l->bar - 6, t);
}

static int hex(char c)
{
    return cs_is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* EMAIL_3f9a0c71e2b4d855 */
static bool hashed(const struct look *l, struct cs_token *t)
{
    uint64_t id = 0;
    for (size_t i = 0; i < 16; i++) {
        int digit = hex(at(l, l->bar + 1 + i));
        if (digit < 0)
            return false;
        id = id << 4 | (unsigned)digit;
    }
    t->id = id;
    t->shape = CS_SHAPE_HASH;
    t->end = l->bar + 17;
    return name_before(l, l->bar, t);
}

static bool at_underscore(struct look *l, struct cs_token *t)
{
    char next = at(l, l->bar + 1);
    if (l->bar == l->from || !cs_is_letter(at(l, l->bar - 1)) || hex(next) < 0)
        return false;
    /* A name, "_TOKEN", and what the bracket of an URL ends in. */
    size_t longest = CS_TOKEN_NAME + 7;
    l->run = l->bar;
    while (l->run > l->from && l->bar - l->run <= longest && is_name_byte(at(l, l->run - 1)))
        l->run--;
    if (hashed(l, t))
        return true;
    if (!cs_is_digit(next))
        return false;
    uint64_t number = 0;
    l->digits = l->end = l->bar + 1;
    for (; l->end - l->digits <= CS_TOKEN_DIGITS && cs_is_digit(at(l, l->end)); l->end++)
        number = number * 10 + (unsigned)(at(l, l->end) - '0');
    t->id = number;
    return underscored(l, t) || numbered(l, t);
}

bool cs_token_next(struct cs_str text, size_t from, cs_token_named *named, const void *ctx,
                   struct cs_token *token)
{
    struct look l = {.text = text, .from = from, .named = named, .ctx = ctx};
    for (size_t i = from; i < text.len; i++) {
        const char *bar = memchr(text.at + i, '_', text.len - i);
        if (!bar)
            return false;
        l.bar = i = (size_t)(bar - text.at);
        if (at_underscore(&l, token))
            return true;
    }
    return false;
}

bool cs_token_like(struct cs_str text)
{
    struct cs_token t;
    if (cs_token_next(text, 0, cs_token_any_name, NULL, &t))
        return true;
    /* A letter, a digit, a bracket or the underscore, written as an escape. */
    return text.len && memmem(text.at, text.len, "\\u00", 4) != NULL;
}

enum cs_token_form cs_token_form(struct cs_str text)
{
    struct cs_token t;
    bool inside = false;
    for (size_t from = 0; cs_token_next(text, from, cs_token_any_name, NULL, &t); from = t.end) {
        /* ITEM_1 is anything; EMAIL_1 is meant as a token, if it is alone. */
        bool bare = t.shape == CS_SHAPE_BARE;
        if (t.start == 0 && t.end == text.len && (!bare || cs_token_built_in(NULL, t.name)))
            return CS_TOKEN_WHOLE;
        inside |= !bare;
    }
    return inside ? CS_TOKEN_INSIDE : CS_TOKEN_NONE;
}
