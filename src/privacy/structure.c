/*
 * Keys and their values in running text, beside each other: lines, assignments, headers, tags.
 *
 *     Name: value      KEY=value       "key": "value"      key => 'value'      <key>value</key>
 */
#include <strings.h>

#include "privacy/page.h"

#define KEY_BACK   48   /* bytes before the sign in which a key is looked for */
#define BLANKS_MAX 64   /* between the sign and its value */
#define VALUE_MAX  4096 /* of a value between quotes */
#define LINE_MAX_  512  /* of a value that goes to the end of its line */

void cs_keyed(struct cs_view *view, struct cs_sense sense, struct cs_str key, size_t start,
              size_t end)
{
    while (start < end && (view->at[start] == ' ' || view->at[start] == '\t'))
        start++;
    while (end > start && (view->at[end - 1] == ' ' || view->at[end - 1] == '\t' ||
                           view->at[end - 1] == '\r' || view->at[end - 1] == '\n'))
        end--;
    if (start == end || !(view->page->kinds & (1u << sense.kind)))
        return;
    if (sense.kind == CS_PII_PERSON)
        cs_keyed_name(view, sense, start, end);
    else if (cs_pii_secret(sense.kind))
        cs_keyed_secret(view, sense, key, start, end);
    else
        cs_keyed_personal(view, sense, start, end);
}

enum {
    BLANK = 1,
    QUOTE = 2,
    NAME = 4,   /* of a key */
    INNER = 8,  /* of a key, between two of those */
    CLOSE = 16, /* between a key and its sign */
    STOP = 32,  /* ends a value that is not quoted */
};

static const unsigned char class[256] = {
    [' '] = BLANK,
    ['\t'] = BLANK | STOP,
    ['"'] = QUOTE | CLOSE | STOP,
    ['\''] = QUOTE | CLOSE | INNER,
    ['`'] = QUOTE | CLOSE | STOP,
    ['*'] = CLOSE,
    [']'] = CLOSE | STOP,
    [')'] = CLOSE,
    ['0' ... '9'] = NAME,
    ['A' ... 'Z'] = NAME,
    ['a' ... 'z'] = NAME,
    [0x80 ... 0xFF] = NAME,
    ['_'] = NAME,
    ['-'] = INNER,
    ['.'] = INNER,
    ['\n'] = STOP,
    ['\r'] = STOP,
    ['|'] = STOP,
    [';'] = STOP,
    ['<'] = STOP,
    ['}'] = STOP,
};

static inline bool is(const struct cs_view *view, size_t i, unsigned char of)
{
    return i < view->len && (class[(unsigned char)view->at[i]] & of);
}

/* --- beside each other --- */

/* Goes back over what may stand between a key and its sign: quotes, "]", "(mobile)". */
static size_t key_end(const struct cs_view *view, size_t end, size_t low)
{
    while (end > low && is(view, end - 1, BLANK))
        end--;
    for (unsigned n = 0; n < 4 && end > low && is(view, end - 1, CLOSE); n++)
        end--;
    if (cs_view_at(view, end) != ')')
        return end;
    size_t open = end;
    while (open > low && view->at[open - 1] != '(' && view->at[open - 1] != '\n')
        open--;
    if (open > low && view->at[open - 1] == '(')
        end = open - 1;
    while (end > low && is(view, end - 1, BLANK))
        end--;
    return end;
}

/* The key that ends at `end`; `blanks`: it may be of several words. */
static struct cs_str key_before(const struct cs_view *view, size_t end, bool blanks)
{
    size_t low = end > KEY_BACK ? end - KEY_BACK : 0;
    end = key_end(view, end, low);
    size_t start = end;
    while (start > low) {
        bool inside = start < end && !is(view, start, BLANK);
        if (!is(view, start - 1, NAME) && !(inside && is(view, start - 1, INNER)) &&
            !(inside && blanks && view->at[start - 1] == ' '))
            break;
        start--;
    }
    while (start < end && !is(view, start, NAME))
        start++;
    return cs_strn(view->at + start, end - start);
}

/* Does another key begin after the comma at `i`? */
static bool key_after(const struct cs_view *view, size_t i)
{
    size_t stop = i + 32 < view->len ? i + 32 : view->len;
    for (i++; i < stop; i++) {
        char c = view->at[i];
        if (c == ':' || c == '=')
            return true;
        if (!cs_is_alnum(c) && c != ' ' && c != '_' && c != '-' && c != '"')
            return false;
    }
    return false;
}

/* Does a value end here, that has no quotes, by what it is and where it stands? */
static bool ends(const struct cs_view *view, size_t i, struct cs_sense sense, bool line)
{
    bool secret = cs_pii_secret(sense.kind), wide = is(view, i + 1, BLANK);
    switch (view->at[i]) {
    case ' ':
        return secret || !line || wide || cs_view_at(view, i + 1) == '#';
    case '&':
        return !wide;
    case ',':
        if (!line || key_after(view, i))
            return true;
        if (secret)
            return wide;
        return sense.kind != CS_PII_PERSON && sense.kind != CS_PII_ADDRESS &&
               sense.kind != CS_PII_DATE_OF_BIRTH;
    case ')':
    case '\'':
        return !line;
    default:
        return false;
    }
}

static size_t bare_end(const struct cs_view *view, size_t start, struct cs_sense sense, bool line)
{
    size_t stop = start + LINE_MAX_ < view->len ? start + LINE_MAX_ : view->len;
    for (size_t i = start; i < stop; i++)
        if (is(view, i, STOP) || ends(view, i, sense, line))
            return i;
    return stop;
}

static size_t quoted_end(const struct cs_view *view, size_t start, char q)
{
    size_t stop = start + VALUE_MAX < view->len ? start + VALUE_MAX : view->len;
    for (size_t i = start; i < stop; i++) {
        if (view->at[i] == '\\')
            i++;
        else if (view->at[i] == q || view->at[i] == '\n')
            return i;
    }
    return stop;
}

/* Is there nothing but blanks and bullets between the line's start and `at`? */
static bool line_start(const struct cs_view *view, const char *at)
{
    size_t i = (size_t)(at - view->at);
    for (unsigned n = 0; n < 24 && i > 0; n++, i--)
        if (view->at[i - 1] == '\n')
            return true;
        else if (!memchr(" \t-*#>\"'`/", view->at[i - 1], 10))
            return false;
    return i == 0;
}

/* "<b>Name:</b> Ada", "<td>Name:</td><td>Ada</td>" */
static size_t behind_tags(const struct cs_view *view, size_t i)
{
    for (unsigned n = 0; n < 4 && cs_view_at(view, i) == '<'; n++) {
        size_t stop = i + KEY_BACK < view->len ? i + KEY_BACK : view->len, end = i;
        while (end < stop && view->at[end] != '>' && view->at[end] != '\n')
            end++;
        if (end == stop || view->at[end] != '>' ||
            !(cs_view_at(view, i + 1) == '/' || cs_is_letter(cs_view_at(view, i + 1))))
            return i;
        i = end + 1;
        while (is(view, i, BLANK))
            i++;
    }
    return i;
}

static void value_at(struct cs_view *view, struct cs_str key, struct cs_sense sense, size_t i,
                     bool equals)
{
    size_t stop = i + BLANKS_MAX < view->len ? i + BLANKS_MAX : view->len;
    while (i < stop && (is(view, i, BLANK) || view->at[i] == '*'))
        i++;
    i = behind_tags(view, i);
    if (i >= view->len)
        return;
    if (is(view, i, QUOTE)) {
        size_t end = quoted_end(view, i + 1, view->at[i]);
        if (cs_pii_secret((enum cs_pii)sense.kind))
            view->page->secret_end = end;
        cs_keyed(view, sense, key, i + 1, end);
        return;
    }
    if (memchr("\r\n{[", view->at[i], 4))
        return;
    bool line = line_start(view, key.at) || (!equals && !cs_pii_secret(sense.kind));
    size_t end = bare_end(view, i, sense, line);
    if (cs_pii_secret((enum cs_pii)sense.kind))
        view->page->secret_end = end;
    cs_keyed(view, sense, key, i, end);
}

static void tag(struct cs_view *view, size_t at)
{
    size_t low = at > KEY_BACK ? at - KEY_BACK : 0, i = at;
    while (i > low && view->at[i - 1] != '<' && view->at[i - 1] != '>' && view->at[i - 1] != '\n')
        i--;
    if (i == low || view->at[i - 1] != '<' || view->at[i] == '/')
        return;
    size_t end = i;
    while (end < at && !is(view, end, BLANK))
        end++;
    struct cs_str key = cs_strn(view->at + i, end - i);
    struct cs_sense sense = cs_page_sense(view->page, key);
    if (sense.kind == CS_PII_COUNT)
        return;
    size_t stop = at + LINE_MAX_ < view->len ? at + LINE_MAX_ : view->len;
    for (end = at + 1; end < stop && view->at[end] != '<'; end++)
        ;
    cs_keyed(view, sense, key, at + 1, end);
}

void cs_find_keyed(struct cs_view *view, size_t at)
{
    char c = view->at[at], before = at > 0 ? view->at[at - 1] : '\n',
         after = cs_view_at(view, at + 1);
    if (c == '>') {
        if (before != '=' && before != '-')
            tag(view, at);
        return;
    }
    if (at < view->page->secret_end) /* a part of a secret is no key */
        return;
    /* "==", "::", "!=", ":=" at its second byte */
    if (after == c || before == c || (c == '=' && memchr("!<>:", before, 4)))
        return;
    struct cs_str key = key_before(view, at, c == ':');
    if (key.len == 0)
        return;
    struct cs_sense sense = cs_page_sense(view->page, key);
    if (sense.kind == CS_PII_COUNT)
        return;
    size_t value = at + 1;
    if ((c == ':' && after == '=') || (c == '=' && after == '>'))
        value++;
    value_at(view, key, sense, value, c == '=');
}
