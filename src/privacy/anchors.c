/* Bytes at which something may begin, and who is asked about it. */
#include "privacy/page.h"

enum {
    LETTER = 1,
    DIGIT = 2,
    OPAQUE = 4, /* of a long run of base64 or hex, and what joins such runs */
    ANCHOR = 8,
    LONG = 16 /* of a run that is skipped if it is very long */
};

#define WORD (LETTER | DIGIT)

static const unsigned char class[256] = {
    ['a' ... 'z'] = LETTER | OPAQUE | LONG,
    ['A' ... 'Z'] = LETTER | OPAQUE | LONG,
    ['0' ... '9'] = DIGIT | OPAQUE | LONG,
    [0x80 ... 0xFF] = LETTER,
    ['+'] = OPAQUE | ANCHOR | LONG,
    ['/'] = OPAQUE | LONG,
    ['='] = OPAQUE | ANCHOR,
    ['_'] = OPAQUE | LONG,
    ['.'] = OPAQUE,
    ['-'] = OPAQUE | ANCHOR | LONG,
    ['@'] = ANCHOR,
    ['%'] = ANCHOR,
    [':'] = ANCHOR,
    ['('] = ANCHOR,
    ['>'] = ANCHOR,
};

#define OPAQUE_MIN 20  /* as cs_find_opaque says */
#define LONG_MIN   256 /* nobody's key: a picture, a file */
#define DIGITS_MAX 40
#define WORD_MANY  24 /* from here on it is worth asking how long the run is */

struct walk {
    struct cs_view *view;
    size_t i;
    size_t run;    /* where the run of opaque bytes began */
    size_t looked; /* how long runs are is known up to here */
};

static inline unsigned char class_at(const struct cs_view *view, size_t i)
{
    return i < view->len ? class[(unsigned char)view->at[i]] : 0;
}

static void word(struct walk *w)
{
    struct cs_view *view = w->view;
    size_t from = w->i, i = from;
    unsigned char seen = 0, c;
    while ((c = class_at(view, i)) & WORD) {
        seen |= c;
        i++;
    }
    size_t next = cs_find_vendor(view, from);
    if (next > from + 1) {
        w->i = w->run = next;
        return;
    }
    if (i - from >= WORD_MANY && i > w->looked) {
        size_t end = i;
        while (class_at(view, end) & LONG)
            end++;
        w->looked = end;
        if (end - from >= LONG_MIN) {
            w->i = w->run = end;
            return;
        }
    }
    w->i = i;
    if ((seen & DIGIT) && i - from < 64) {
        next = cs_find_code(view, from);
        if (next > i)
            w->i = w->run = next;
    }
}

static void digits(struct walk *w)
{
    struct cs_view *view = w->view;
    size_t from = w->i, i = from;
    while (class_at(view, i) & DIGIT)
        i++;
    if (i - from > DIGITS_MAX) {
        w->i = i;
        return;
    }
    size_t next = cs_find_number(view, from), address = cs_find_address(view, from);
    if (address > next)
        next = address;
    /* Letters right after it belong to the same word. */
    while (class_at(view, i) & WORD)
        i++;
    w->i = i;
    if (next > i)
        w->i = w->run = next;
}

static bool hex(char c)
{
    return cs_is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'f');
}

static bool starts(const struct cs_view *view, size_t i, const char *with, size_t len)
{
    return view->len - i >= len && memcmp(view->at + i, with, len) == 0;
}

static size_t colon(struct cs_view *view, size_t i)
{
    if (starts(view, i, "://", 3))
        return cs_find_url(view, i);
    char after = cs_view_at(view, i + 1);
    if (after == ':' || hex(after) || (i > 0 && hex(view->at[i - 1]))) {
        size_t next = cs_find_ip6(view, i);
        if (next > i + 1)
            return next;
    }
    cs_find_keyed(view, i);
    return i + 1;
}

static void anchor(struct walk *w)
{
    struct cs_view *view = w->view;
    size_t i = w->i, next = i + 1;
    switch (view->at[i]) {
    case '@':
        next = cs_find_mail(view, i);
        break;
    case '%':
        if (starts(view, i, "%40", 3))
            next = cs_find_mail(view, i);
        break;
    case '+':
    case '(':
        if (class_at(view, i + 1) & DIGIT)
            next = cs_find_number(view, i);
        break;
    case '-':
        if (starts(view, i, "-----BEGIN ", 11))
            next = cs_find_pem(view, i);
        break;
    case ':':
        next = colon(view, i);
        break;
    case '=':
    case '>':
        cs_find_keyed(view, i);
        break;
    default:
        break;
    }
    w->i = next > i ? next : i + 1;
    if (next > i + 1)
        w->run = next;
}

void cs_find_anchors(struct cs_view *view)
{
    struct walk w = {.view = view};
    while (w.i < view->len) {
        unsigned char c = class[(unsigned char)view->at[w.i]];
        if (!(c & OPAQUE)) {
            if (w.i > w.run && w.i - w.run >= OPAQUE_MIN)
                cs_find_opaque(view, w.run, w.i);
            w.run = w.i + 1;
        }
        if (c & LETTER)
            word(&w);
        else if (c & DIGIT)
            digits(&w);
        else if (c & ANCHOR)
            anchor(&w);
        else
            w.i++;
    }
    if (view->len > w.run && view->len - w.run >= OPAQUE_MIN)
        cs_find_opaque(view, w.run, view->len);
}
