/* What was found in a view: which of it counts, and which of two that meet. */
#include "base/mem.h"
#include "privacy/page.h"

#define BIT(kind) (1u << CS_PII_##kind)

uint32_t cs_page_kinds(const struct cs_detector *detector, enum cs_privacy_level level)
{
    static const uint32_t low = BIT(LITERAL) | BIT(CUSTOM) | BIT(PRIVATE_KEY) | BIT(JWT) |
                                BIT(API_KEY) | BIT(CONNECTION_STRING) | BIT(PASSWORD) |
                                BIT(SECRET) | BIT(SSN) | BIT(CREDIT_CARD) | BIT(IBAN);
    uint32_t on = level == CS_PRIVACY_OFF   ? 0
                  : level == CS_PRIVACY_LOW ? low
                                            : (1u << CS_PII_COUNT) - 1;
    return on & ~cs_detector_off(detector);
}

static void put(struct cs_hits *hits, const struct cs_hit *hit)
{
    if (hits->count == hits->cap) {
        hits->cap = hits->cap ? hits->cap * 2 : 64;
        hits->at = cs_realloc(hits->at, hits->cap, sizeof *hits->at);
    }
    hits->at[hits->count++] = *hit;
}

/* What is left over of a hit: is it worth one of its own? */
static bool worth(size_t start, size_t end)
{
    return end > start && end - start >= 4;
}

/* Tokens are what values became: they are never values themselves. */
static bool is_token(const struct cs_view *view, size_t start, size_t end)
{
    if (start > 0 && end < view->len && view->at[start - 1] == '[' && view->at[end] == ']') {
        start--;
        end++;
    }
    return end - start < 64 &&
           cs_token_form(cs_strn(view->at + start, end - start)) == CS_TOKEN_WHOLE;
}

/* Names and addresses do not go on in the next string of a program or of JSON in a text. */
static size_t string_end(const struct cs_view *view, size_t start, size_t end)
{
    for (const char *q = view->at + start;
         (q = memchr(q, '"', (size_t)(view->at + end - q))) != NULL; q++) {
        size_t i = (size_t)(q - view->at);
        if (i + 1 < end && strchr(",:]}", view->at[i + 1]))
            return i;
    }
    return end;
}

/* No value is longer than its kind allows: what is, becomes several. */
static void put_pieces(struct cs_view *view, struct cs_hit h)
{
    size_t longest = cs_pii_longest((enum cs_pii)h.kind), end = h.end;
    while (end - h.start > longest) {
        struct cs_hit piece = h;
        piece.end = h.start + longest;
        while (piece.end > h.start + 1 && ((unsigned char)view->at[piece.end] & 0xC0) == 0x80)
            piece.end--;
        piece.core_start = piece.start;
        piece.core_end = piece.end;
        put(&view->page->hits, &piece);
        h.start = h.core_start = piece.end;
        h.core_end = end;
    }
    put(&view->page->hits, &h);
}

/* The end of the token that begins with the bracket at `i`; 0: there is none. */
static size_t token_end(const struct cs_view *view, size_t i, size_t end)
{
    size_t most = end - i < 48 ? end - i : 48;
    const char *close = memchr(view->at + i, ']', most);
    if (!close)
        return 0;
    size_t len = (size_t)(close - view->at) + 1 - i;
    return cs_token_form(cs_strn(view->at + i, len)) == CS_TOKEN_WHOLE ? i + len : 0;
}

/* What stands beside tokens is something of its own. */
static void hit(struct cs_view *view, struct cs_hit *h)
{
    if (h->end > view->len)
        h->end = view->len;
    if (h->start < h->end && (h->kind == CS_PII_PERSON || h->kind == CS_PII_ADDRESS))
        h->end = h->core_end = string_end(view, h->start, h->end);
    if (h->start >= h->end || !(view->page->kinds & (1u << h->kind)) ||
        is_token(view, h->start, h->end))
        return;
    for (size_t i = h->start; i < h->end; i++) {
        const char *open = memchr(view->at + i, '[', h->end - i);
        if (!open)
            break;
        i = (size_t)(open - view->at);
        size_t after = token_end(view, i, h->end);
        if (!after)
            continue;
        if (worth(h->start, i))
            put_pieces(view, (struct cs_hit){h->start, i, h->start, i, h->custom, h->kind});
        h->start = h->core_start = after;
        h->core_end = h->end;
        i = after - 1;
    }
    if (h->end > h->start)
        put_pieces(view, *h);
}

void cs_hit(struct cs_view *view, enum cs_pii kind, size_t start, size_t end)
{
    hit(view, &(struct cs_hit){start, end, start, end, 0, (uint8_t)kind});
}

void cs_hit_core(struct cs_view *view, size_t start, size_t end, size_t core_start, size_t core_end)
{
    hit(view,
        &(struct cs_hit){start, end, core_start, core_end, 0, (uint8_t)CS_PII_CONNECTION_STRING});
}

void cs_hit_custom(struct cs_view *view, unsigned custom, size_t start, size_t end)
{
    hit(view, &(struct cs_hit){start, end, start, end, (uint16_t)custom, (uint8_t)CS_PII_CUSTOM});
}

/* How many of the new ones are looked at: they come in order, so the last ones are the near ones.
 */
#define NEAR 16

bool cs_hit_at(const struct cs_view *view, size_t start, size_t end)
{
    const struct cs_page *page = view->page;
    size_t low = 0, high = page->settled;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (page->hits.at[mid].end <= start)
            low = mid + 1;
        else
            high = mid;
    }
    if (low < page->settled && page->hits.at[low].start < end)
        return true;
    size_t from = page->hits.count - page->settled > NEAR ? page->hits.count - NEAR : page->settled;
    for (size_t i = from; i < page->hits.count; i++)
        if (page->hits.at[i].start < end && start < page->hits.at[i].end)
            return true;
    return false;
}

static int by_start(const void *a, const void *b)
{
    const struct cs_hit *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    return (int)x->kind - (int)y->kind;
}

/* Does `a` win against `b`? A secret that holds something else is a secret all the same. */
static bool wins(const struct cs_hit *a, const struct cs_hit *b)
{
    bool sa = cs_pii_secret(a->kind), sb = cs_pii_secret(b->kind);
    if (sa != sb && a->kind != CS_PII_CUSTOM && b->kind != CS_PII_CUSTOM) {
        const struct cs_hit *secret = sa ? a : b, *other = sa ? b : a;
        if (secret->start <= other->start && other->end <= secret->end)
            return sa;
    }
    if (a->kind != b->kind)
        return a->kind < b->kind;
    return a->end - a->start >= b->end - b->start;
}

/* How far a rest is carried to its place among the hits that follow. */
#define CARRY 64

/* [start, end) of a hit goes back among those to come, of which the one at `i` is done with. False:
 * its place is too far away. */
static bool put_back(struct cs_hits *hits, size_t i, struct cs_hit hit, size_t start)
{
    hit.start = hit.core_start = start;
    hit.core_end = hit.end;
    size_t j = i + 1;
    while (j < hits->count && j - i <= CARRY && hits->at[j].start < start)
        j++;
    if (j < hits->count && hits->at[j].start < start)
        return false;
    memmove(hits->at + i, hits->at + i + 1, (j - 1 - i) * sizeof *hits->at);
    hits->at[j - 1] = hit;
    return true;
}

static void sort(struct cs_hits *hits)
{
    for (size_t i = 1; i < hits->count; i++)
        if (by_start(&hits->at[i - 1], &hits->at[i]) > 0) {
            qsort(hits->at, hits->count, sizeof *hits->at, by_start);
            return;
        }
}

void cs_page_settle(struct cs_page *page)
{
    struct cs_hits *in = &page->hits, *out = &page->spare;
    if (in->count == page->settled)
        return;
    sort(in);
    out->count = 0;
    for (size_t i = 0; i < in->count;) {
        struct cs_hit now = in->at[i], *last = out->count ? &out->at[out->count - 1] : NULL;
        if (!last || last->end <= now.start) {
            put(out, &now);
            i++;
        } else if (wins(last, &now)) {
            if (now.end <= last->end || !worth(last->end, now.end))
                i++;
            else if (!put_back(in, i, now, last->end)) {
                last->end = now.end; /* better too much than too little */
                i++;
            }
        } else {
            struct cs_hit lost = *last;
            if (worth(last->start, now.start)) {
                last->end = last->core_end = now.start;
                last->core_start = last->start;
                put(out, &now);
            } else {
                *last = now;
            }
            last = &out->at[out->count - 1];
            if (lost.end <= now.end || !worth(now.end, lost.end))
                i++;
            else if (!put_back(in, i, lost, now.end)) {
                last->end = lost.end;
                i++;
            }
        }
    }
    struct cs_hits swap = *in;
    *in = *out;
    *out = swap;
    page->settled = in->count;
}

void cs_page_flush(struct cs_page *page, size_t offset, bool is_number, bool is_key)
{
    struct cs_spans *s = page->spans;
    cs_page_settle(page);
    for (size_t i = 0; i < page->hits.count; i++) {
        const struct cs_hit *h = &page->hits.at[i];
        struct cs_span span = {.start = h->start + offset,
                               .end = h->end + offset,
                               .kind = h->kind,
                               .custom = h->custom,
                               .is_number = is_number,
                               .is_key = is_key,
                               .core_start = h->core_start + offset,
                               .core_end = h->core_end + offset};
        uint8_t escapes;
        cs_page_raw(page, &span.core_start, &span.core_end, &escapes);
        cs_page_raw(page, &span.start, &span.end, &escapes);
        span.escapes = page->json ? escapes : 0;
        if (s->count > 0 && span.start < s->at[s->count - 1].end)
            continue;
        if (s->count == s->cap) {
            s->cap = s->cap ? s->cap * 2 : 16;
            s->at = cs_realloc(s->at, s->cap, sizeof *s->at);
        }
        s->at[s->count++] = span;
    }
    page->hits.count = page->settled = 0;
}
