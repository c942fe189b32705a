/*
 * Bytes at which something may begin, and who is asked about it.
 *
 * The walk goes from one bit to the next: signs, first digits, and the first letters of words,
 * which are worth a look only if a vendor's prefix begins like that. Runs of opaque bytes are found
 * as a whole; very long ones (pictures, files) are stepped over.
 */
#include "privacy/page.h"
#include "privacy/vendors.h"

#define OPAQUE_MIN 20  /* as cs_find_opaque says */
#define LONG_MIN   256 /* nobody's key */
#define DIGITS_MAX 40
#define CODE_MAX   34 /* an IBAN */
#define CHAIN_MAX  32 /* short numbers in a row, each of which might begin something */

struct walk {
    struct cs_view *view;
    const struct cs_block *blocks;
    size_t offset; /* of the view in its layer */
    size_t part;   /* an opaque run, as far as nobody has claimed it, begins here */
    size_t part_end;
    size_t ip6;       /* colons before here are of no address */
    size_t url_end;   /* of a URL that is nothing but a path */
    size_t chain_end; /* the last short number in a row, and how many they are */
    unsigned chain;
};

static inline unsigned char class_at(const struct cs_view *view, size_t i)
{
    return i < view->len ? cs_block_class[(unsigned char)view->at[i]] : 0;
}

static inline size_t next_of(const struct walk *w, size_t i, bool opaque)
{
    size_t end = w->offset + w->view->len;
    i = opaque ? CS_BLOCK_NEXT(w->blocks, opaque, CS_CLEAR, w->offset + i, end)
               : CS_BLOCK_NEXT(w->blocks, word, CS_CLEAR, w->offset + i, end);
    return i - w->offset;
}

/* What joins the parts of base64, but no picture or file. */
static bool joins(char c)
{
    return c == '.' || c == '=';
}

/* An opaque run begins: is it so long that nobody needs to look? Returns where to go on. */
static size_t run(struct walk *w, size_t at)
{
    const struct cs_view *view = w->view;
    size_t end = next_of(w, at, true);
    w->part = at;
    w->part_end = end;
    if (end - at < LONG_MIN)
        return at;
    size_t i = at;
    while (i < end && !joins(view->at[i]))
        i++;
    if (i - at < LONG_MIN) {
        w->part_end = i; /* the rest is a run of its own */
        return at;
    }
    w->part = w->part_end = 0;
    return i;
}

static size_t number(struct walk *w, size_t at)
{
    struct cs_view *view = w->view;
    size_t end = next_of(w, at, false), digits = at;
    if (at > 0 && (class_at(view, at - 1) & CS_B_LETTER)) {
        size_t start = at;
        while (start > 0 && at - start <= CODE_MAX && (class_at(view, start - 1) & CS_B_WORD))
            start--;
        if (end - start > CODE_MAX)
            return end;
        size_t next = cs_find_code(view, start);
        return next > end ? next : end;
    }
    while (class_at(view, digits) & CS_B_DIGIT)
        digits++;
    if (digits - at > DIGITS_MAX || (digits < end && end - at > CODE_MAX))
        return end;
    w->chain = digits - at < 3 && at - w->chain_end == 1 ? w->chain + 1 : 0;
    w->chain_end = digits;
    if (w->chain > CHAIN_MAX)
        return end;
    size_t next = cs_find_number(view, at), address = cs_find_address(view, at);
    if (address > next)
        next = address;
    return next > end ? next : end;
}

static bool hex(char c)
{
    return cs_is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'f');
}

static bool starts(const struct cs_view *view, size_t i, const char *with, size_t len)
{
    return view->len - i >= len && memcmp(view->at + i, with, len) == 0;
}

/* Hosts whose addresses are secrets begin with one of these, or have it as their second part. */
static bool like_hook(const struct walk *w, size_t host)
{
    static const char heads[][5] = {"hook", "disc", "outl", "chat", "make"};
    const struct cs_view *view = w->view;
    for (size_t i = 0; i < CS_COUNT(heads); i++)
        if (starts(view, host, heads[i], 4))
            return true;
    return starts(view, host, "api.t", 5) || starts(view, next_of(w, host, false), ".webh", 5);
}

/* Nobody's password stands in "https://" and a path, with nothing else behind it. */
static bool plain_url(struct walk *w, size_t colon)
{
    const struct cs_view *view = w->view;
    if (!(colon >= 4 && memcmp(view->at + colon - 4, "http", 4) == 0) &&
        !(colon >= 5 && memcmp(view->at + colon - 5, "https", 5) == 0))
        return false;
    size_t end = next_of(w, colon + 3, true);
    w->url_end = end;
    return (end == view->len || !memchr("@?#;:%~&,$!*'()[]", view->at[end], 17)) &&
           !like_hook(w, colon + 3);
}

static size_t colon(struct walk *w, size_t i)
{
    struct cs_view *view = w->view;
    if (starts(view, i, "://", 3))
        return plain_url(w, i) ? i + 3 : cs_find_url(view, i);
    char after = cs_view_at(view, i + 1);
    if (i >= w->ip6 && (after == ':' || hex(after) || (i > 0 && hex(view->at[i - 1])))) {
        /* What is no address may be something else, but is not looked at twice. */
        size_t hits = view->page->hits.count, next = cs_find_ip6(view, i);
        if (view->page->hits.count > hits)
            return next;
        w->ip6 = next;
    }
    cs_find_keyed(view, i);
    return i + 1;
}

static size_t sign(struct walk *w, size_t i)
{
    struct cs_view *view = w->view;
    switch (view->at[i]) {
    case '@':
        return cs_find_mail(view, i);
    case '%':
        return starts(view, i, "%40", 3) ? cs_find_mail(view, i) : i + 1;
    case '+':
    case '(':
        return class_at(view, i + 1) & CS_B_DIGIT ? cs_find_number(view, i) : i + 1;
    case '-':
        if (starts(view, i, "-----BEGIN ", 11))
            return cs_find_pem(view, i);
        while (cs_view_at(view, i) == '-')
            i++;
        return i;
    case ':':
        return colon(w, i);
    default:
        cs_find_keyed(view, i);
        return i + 1;
    }
}

static void opaque(struct walk *w)
{
    if (w->part_end - w->part >= OPAQUE_MIN)
        cs_find_opaque(w->view, w->part, w->part_end);
    w->part = w->part_end = 0;
}

/* Somebody has claimed what lies before `next`. */
static void claimed(struct walk *w, size_t next)
{
    if (next >= w->part_end)
        w->part = w->part_end = 0;
    else if (w->part_end && next > w->part)
        w->part = next;
}

/* May a vendor's prefix begin here? Ordinary words are not worth a call. */
static inline bool like_vendor(const struct cs_view *view, size_t i)
{
    unsigned char first = (unsigned char)view->at[i];
    if (first > 127 || view->len - i < 3)
        return false;
    const struct cs_vendor_lead *lead = &cs_vendor_leads[first];
    unsigned second = (unsigned char)view->at[i + 1], third = (unsigned char)view->at[i + 2];
    return (lead->second >> (second & 31) & 1) && (lead->third >> (third & 31) & 1) &&
           (lead->both >> ((second * 5 + third) & 63) & 1);
}

/* A part of a path that is too short for a key. */
static bool in_path(const struct walk *w, size_t i)
{
    for (size_t end = i + CS_RUN; i < end; i++)
        if (i >= w->url_end || w->view->at[i] == '/')
            return true;
    return false;
}

/* Something may be at `i`; returns where to go on. */
static size_t visit(struct walk *w, size_t i, bool is_run)
{
    struct cs_view *view = w->view;
    unsigned char c = class_at(view, i);
    size_t next = i;
    if ((c & CS_B_WORD) && like_vendor(view, i) && !(i < w->url_end && in_path(w, i))) {
        next = cs_find_vendor(view, i);
        if (next > i + 1) {
            claimed(w, next);
            return next;
        }
    }
    if (is_run) {
        next = run(w, i);
        if (next > i)
            return next;
    }
    if (c & CS_B_DIGIT) {
        next = number(w, i);
    } else if (c & (CS_B_SIGN | CS_B_FRONT | CS_B_DASH)) {
        next = sign(w, i);
        if (next > i + 1)
            claimed(w, next);
    }
    return next > i ? next : i + 1;
}

void cs_find_anchors(struct cs_view *view, size_t offset)
{
    struct walk w = {view, view->page->layers[view->page->top].blocks, offset, 0, 0, 0, 0, 0, 0};
    size_t i = offset, end = offset + view->len;
    uint64_t before = 0; /* was the byte before this block of a word? */
    for (size_t b = i / 64; i < end; b = i / 64) {
        const struct cs_block *k = &w.blocks[b];
        if (i % 64 == 0)
            before = b > 0 && i > offset ? w.blocks[b - 1].word >> 63 : 0;
        uint64_t here = ~(uint64_t)0 << (i & 63);
        uint64_t begins = k->word & ~((k->word & here) << 1 | before);
        uint64_t todo = (k->event | k->runs | begins) & here;
        before = 0;
        size_t stop = (b + 1) * 64 < end ? (b + 1) * 64 : end;
        while (todo) {
            unsigned bit = (unsigned)__builtin_ctzll(todo);
            size_t at = b * 64 + bit;
            todo &= todo - 1;
            if (at >= end)
                break;
            if (w.part_end && at - offset >= w.part_end)
                opaque(&w);
            size_t next = visit(&w, at - offset, k->runs >> bit & 1) + offset;
            if (next >= stop) {
                stop = next;
                break;
            }
            todo &= ~(uint64_t)0 << (next & 63);
        }
        i = stop;
    }
    if (w.part_end)
        opaque(&w);
}
