/* Keys of vendors, by their prefixes, and words that a secret follows: see vendors.h. */
#include "privacy/vendors.h"

#define KEY_MAX 4096

static unsigned class_of(char c)
{
    const unsigned lower = CS_C_LOWER | CS_C_HEX_LOWER;
    const unsigned upper = CS_C_UPPER | CS_C_HEX_UPPER;
    switch (c) {
    case 'd':
        return CS_C_DIGIT;
    case 'h':
        return CS_C_DIGIT | CS_C_HEX_LOWER;
    case 'H':
        return CS_C_DIGIT | CS_C_HEX_LOWER | CS_C_HEX_UPPER;
    case 'l':
        return CS_C_DIGIT | lower;
    case 'u':
        return CS_C_DIGIT | upper;
    case 'a':
        return lower | upper;
    case 'x':
        return CS_C_ALNUM;
    case 'w':
        return CS_C_ALNUM | CS_C_UNDER;
    case 'b':
        return CS_C_URL64;
    case 'B':
        return CS_C_BASE64;
    case 't':
        return CS_C_URL64 | CS_C_DOT;
    case 'T':
        return CS_C_URL64 | CS_C_BASE64 | CS_C_DOT;
    case 'p':
        return CS_C_URL64 | CS_C_BASE64 | CS_C_DOT | CS_C_PERCENT | CS_C_COLON | CS_C_TILDE;
    default:
        return 0;
    }
}

static size_t number(const char **shape)
{
    size_t n = 0;
    while (cs_is_digit(**shape))
        n = n * 10 + (size_t)(*(*shape)++ - '0');
    return n;
}

/* Goes over one element of the shape. 0: the text does not have it. */
static size_t element(const struct cs_view *view, size_t at, const char **shape, unsigned *last)
{
    char c = *(*shape)++;
    if (c == 'U') {
        *last = CS_C_URL64;
        return at + 36 <= view->len && cs_is_uuid(cs_strn(view->at + at, 36)) ? at + 36 : 0;
    }
    *last = class_of(c);
    if (*last == 0)
        return cs_view_at(view, at) == c ? at + 1 : 0;
    size_t least = number(shape), most = least;
    if (**shape == '-' && cs_is_digit((*shape)[1])) {
        ++*shape;
        most = number(shape);
    }
    size_t end = cs_class_end(view, at, at + most, *last);
    return end - at >= least ? end : 0;
}

size_t cs_vendor_match(const struct cs_view *view, size_t at, const char *shape)
{
    unsigned last = 0;
    while (*shape && *shape != '(') {
        at = element(view, at, &shape, &last);
        if (at == 0)
            return 0;
    }
    if (*shape == '(') {
        size_t more = at;
        unsigned class = last;
        shape++;
        while (more && *shape != ')')
            more = element(view, more, &shape, &class);
        if (more) {
            at = more;
            last = class;
        }
    }
    /* It is longer than any key is. */
    if (at < view->len && cs_is_class(view->at[at], (last | CS_C_ALNUM | CS_C_UNDER) & ~CS_C_DOT &
                                                        ~CS_C_EQUALS & ~CS_C_COLON & ~CS_C_PLUS))
        return 0;
    return at;
}

static bool proven(struct cs_str body, unsigned flags)
{
    if (!(flags & CS_V_ANY) && cs_is_stub(body))
        return false;
    if (!(flags & (CS_V_DIGIT | CS_V_MIXED)))
        return true;
    struct cs_mix mix = cs_mix_of(body);
    if (mix.digit == 0 || mix.lower + mix.upper == 0 || mix.bits < 2.4F)
        return false;
    return !(flags & CS_V_MIXED) || (mix.lower && mix.upper);
}

static size_t look(struct cs_view *view, size_t at, const struct cs_vendor_lead *lead)
{
    const char *text = view->at + at;
    size_t left = view->len - at;
    bool glued = at && cs_is_alnum(view->at[at - 1]);
    for (size_t i = 0; i < lead->count; i++) {
        const struct cs_vendor *row = &lead->rows[i];
        size_t n = 1; /* the first byte is that of the lead */
        while (row->prefix[n] && n < left && text[n] == row->prefix[n])
            n++;
        if (row->prefix[n] || (glued && !(row->flags & CS_V_GLUED)))
            continue;
        if (row->find) {
            size_t next = row->find(view, at, at + n);
            if (next)
                return next;
            continue;
        }
        size_t end = cs_vendor_match(view, at + n, row->shape);
        if (end == 0 || end - at > KEY_MAX)
            continue;
        while (end > at + n && (view->at[end - 1] == '.' || view->at[end - 1] == ':'))
            end--;
        if (!proven(cs_strn(text + n, end - at - n), row->flags))
            continue;
        cs_hit(view, CS_PII_API_KEY, at, end);
        return end;
    }
    return at + 1;
}

/* Telegram: the number of the bot, a colon, and 35 letters that begin with AA. */
size_t cs_find_bot(struct cs_view *view, size_t at, size_t after)
{
    if (at < 9 || view->at[at - 1] != ':')
        return 0;
    size_t start = at - 1;
    while (start > 0 && at - start < 12 && cs_is_digit(view->at[start - 1]))
        start--;
    size_t end = cs_vendor_match(view, after, "b30-35");
    if (at - start < 9 || at - start > 11 || end == 0 ||
        !proven(cs_strn(view->at + at, end - at), CS_V_MIXED))
        return 0;
    cs_hit(view, CS_PII_API_KEY, start, end);
    return end;
}

/* An id of AWS, and the secret that belongs to it: 40 bytes of base64 close behind. */
size_t cs_find_aws(struct cs_view *view, size_t at, size_t after)
{
    size_t end = cs_vendor_match(view, after, view->at[at + 1] == '3' ? "u17" : "u16");
    if (end == 0 || cs_is_stub(cs_strn(view->at + at, end - at)) ||
        cs_mix_of(cs_strn(view->at + at, end - at)).bits < 2.4F)
        return 0;
    cs_hit(view, CS_PII_API_KEY, at, end);
    size_t most = end + 80 < view->len ? end + 80 : view->len;
    for (size_t i = end; i < most;) {
        size_t stop = cs_class_end(view, i, i + 44, CS_C_ALNUM | CS_C_PLUS);
        struct cs_str s = {view->at + i, stop - i};
        struct cs_mix mix = {0};
        if (s.len == 40)
            mix = cs_mix_of(s);
        if (mix.lower && mix.upper && mix.digit && !mix.hex && !cs_is_stub(s)) {
            cs_hit(view, CS_PII_API_KEY, i, stop);
            break;
        }
        i = stop + 1;
    }
    return end;
}

/* ThingsBoard: /api/v1/TOKEN/telemetry */
size_t cs_find_device(struct cs_view *view, size_t at, size_t after)
{
    if (at < 5 || memcmp(view->at + at - 5, "/api/", 5) != 0)
        return 0;
    size_t end = cs_class_end(view, after, after + 24, CS_C_ALNUM);
    struct cs_str rest = {view->at + end, view->len - end};
    if (end - after != 20 || !(cs_str_starts(rest, "/telemetry") ||
                               cs_str_starts(rest, "/attributes") || cs_str_starts(rest, "/rpc")))
        return 0;
    cs_hit(view, CS_PII_API_KEY, after, end);
    return end;
}

size_t cs_find_vendor(struct cs_view *view, size_t at)
{
    unsigned char first = (unsigned char)view->at[at];
    if (first > 127 || view->len - at < 3)
        return at + 1;
    const struct cs_vendor_lead *lead = &cs_vendor_leads[first];
    unsigned second = (unsigned char)view->at[at + 1], third = (unsigned char)view->at[at + 2];
    if (!(lead->second >> (second & 31) & 1) || !(lead->third >> (third & 31) & 1) ||
        !(lead->both >> ((second * 5 + third) & 63) & 1))
        return at + 1;
    return look(view, at, lead);
}
