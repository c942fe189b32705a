/*
 * What goes into a call: what the program itself wrote, and what was put in for its tokens.
 *
 * A program that may guess could send its guess through a tool that echoes, and see whether it
 * comes back as the token that it knows. So whatever stands in its own arguments is its own value,
 * and gets a token of its own. "Stands in" is taken widely: case and blanks make no difference, for
 * numbers only the digits count, and a part of a longer text is enough.
 */
#include <string.h>

#include "base/mem.h"
#include "privacy/find.h"
#include "privacy/unescape.h"
#include "privacy/vault.h"

#define GRAM      4 /* bytes */
#define GRAM_BITS 16
#define WORK      ((size_t)256 << 20) /* bytes that may be searched for all values of one answer */
#define TURNS     64

struct cs_own {
    struct cs_buf text;   /* lower case, no blanks; each level of escapes */
    struct cs_buf digits; /* a bar where a number ends */
    uint64_t grams[(1 << GRAM_BITS) / 64];
    size_t *work;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static uint32_t gram(const char *p)
{
    uint32_t x;
    memcpy(&x, p, sizeof x);
    return x * 0x9E3779B1u >> (32 - GRAM_BITS);
}

static void fold(struct cs_str s, struct cs_buf *out)
{
    char *to = cs_buf_room(out, s.len);
    size_t n = 0;
    for (size_t i = 0; i < s.len; i++)
        if (!is_blank(s.at[i]))
            to[n++] = (char)(s.at[i] >= 'A' && s.at[i] <= 'Z' ? s.at[i] | 0x20 : s.at[i]);
    cs_buf_added(out, n);
}

static void fold_digits(struct cs_str s, struct cs_buf *out)
{
    char *to = cs_buf_room(out, s.len);
    size_t n = 0;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.at[i];
        if (cs_is_digit(c))
            to[n++] = c;
        else if (!is_blank(c) && !(c && strchr("-./()+", c)) && n > 0 && to[n - 1] != '|')
            to[n++] = '|';
    }
    cs_buf_added(out, n);
}

struct cs_own *cs_own_of(const struct cs_detector *detector, struct cs_str arguments)
{
    (void)detector; /* what is the program's own need not look like anything */
    struct cs_own *own = CS_NEW(struct cs_own);
    struct cs_unescaped levels[2] = {{.count = 0}};
    own->work = CS_NEW(size_t);
    *own->work = WORK;
    fold(arguments, &own->text);
    fold_digits(arguments, &own->digits);
    for (unsigned i = 0; i < 2 && cs_unescape(arguments, &levels[i]); i++) {
        arguments = cs_buf_str(&levels[i].text);
        cs_buf_putc(&own->text, '\0');
        fold(arguments, &own->text);
        cs_buf_putc(&own->digits, '|');
        fold_digits(arguments, &own->digits);
    }
    cs_unescaped_done(&levels[0]);
    cs_unescaped_done(&levels[1]);
    for (size_t i = 0; i + GRAM <= own->text.len; i++) {
        uint32_t bit = gram(own->text.at + i);
        own->grams[bit / 64] |= (uint64_t)1 << bit % 64;
    }
    return own;
}

void cs_own_free(struct cs_own *own)
{
    if (!own)
        return;
    cs_buf_wipe(&own->text);
    cs_buf_wipe(&own->digits);
    free(own->work);
    free(own);
}

static bool has(const struct cs_own *own, struct cs_str in, struct cs_str what)
{
    if (what.len == 0 || what.len > in.len)
        return false;
    /* Too much to search for: then it is its own, which costs it a token and nobody else. */
    if (in.len > *own->work)
        return true;
    *own->work -= in.len;
    return memmem(in.at, in.len, what.at, what.len) != NULL;
}

bool cs_own_has(const struct cs_own *own, enum cs_pii kind, struct cs_str raw)
{
    CS_AUTO(cs_buf_wipe) struct cs_buf folded = {0};
    fold(raw, &folded);
    bool all = true;
    for (size_t i = 0; all && i + GRAM <= folded.len; i++) {
        uint32_t bit = gram(folded.at + i);
        all = own->grams[bit / 64] >> bit % 64 & 1;
    }
    if (all && has(own, cs_buf_str(&own->text), cs_buf_str(&folded)))
        return true;
    if (kind != CS_PII_PHONE && kind != CS_PII_CREDIT_CARD && kind != CS_PII_SSN)
        return false;
    cs_buf_clear(&folded);
    for (size_t i = 0; i < raw.len; i++)
        if (cs_is_digit(raw.at[i]))
            cs_buf_putc(&folded, raw.at[i]);
    return folded.len >= GRAM && has(own, cs_buf_str(&own->digits), cs_buf_str(&folded));
}

/* Where `what` is next, or the end. */
static size_t next_at(struct cs_str in, size_t from, struct cs_str what)
{
    const char *at = from < in.len ? memmem(in.at + from, in.len - from, what.at, what.len) : NULL;
    return at ? (size_t)(at - in.at) : in.len;
}

bool cs_own_turn(const struct cs_own *own, struct cs_str raw, struct cs_str token, unsigned n)
{
    CS_AUTO(cs_buf_wipe) struct cs_buf value = {0}, name = {0};
    uint64_t order = 0; /* a bit for each: it was written */
    unsigned count = 0;
    fold(raw, &value);
    fold(token, &name);
    const char *end = memchr(own->text.at, '\0', own->text.len);
    struct cs_str text = cs_strn(own->text.at, end ? (size_t)(end - own->text.at) : own->text.len);
    for (size_t at = 0; count < TURNS && value.len && name.len && text.len <= *own->work;) {
        *own->work -= text.len;
        size_t written = next_at(text, at, cs_buf_str(&value));
        size_t put = next_at(text, at, cs_buf_str(&name));
        if (written == text.len && put == text.len)
            break;
        order |= (uint64_t)(written < put) << count++;
        at = written < put ? written + value.len : put + name.len;
    }
    return count > 0 && order >> n % count & 1;
}

/* --- what was put in --- */

struct cs_revealed *cs_revealed_new(void)
{
    return CS_NEW(struct cs_revealed);
}

void cs_revealed_free(struct cs_revealed *r)
{
    if (!r)
        return;
    cs_known_done(&r->known);
    cs_locked_done(&r->locked);
    free(r->seen);
    free(r);
}

void cs_revealed_add(struct cs_revealed *r, const struct cs_vault *vault,
                     const struct cs_entry *entry)
{
    if (entry->raw.len < CS_KNOWN_SHORT || entry->raw.len > CS_KNOWN_MOST)
        return;
    size_t index = (size_t)(entry - vault->entries);
    if (index >= r->seen_bits) {
        size_t words = (vault->count + 63) / 64, had = r->seen_bits / 64;
        r->seen = cs_realloc(r->seen, words, sizeof *r->seen);
        memset(r->seen + had, 0, (words - had) * sizeof *r->seen);
        r->seen_bits = words * 64;
    }
    if (r->seen[index / 64] >> index % 64 & 1)
        return;
    r->seen[index / 64] |= (uint64_t)1 << index % 64;
    char *copy = cs_locked_alloc(&r->locked, entry->raw.len);
    memcpy(copy, entry->raw.at, entry->raw.len);
    cs_known_add(&r->known, cs_strn(copy, entry->raw.len), (uint32_t)index);
}
