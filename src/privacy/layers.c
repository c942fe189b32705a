/* Escapes undone, and where the bytes came from. */
#include "base/mem.h"
#include "base/utf8.h"
#include "privacy/page.h"

static void step(struct cs_layer *l, size_t here, size_t below, unsigned bytes, unsigned took)
{
    if (l->count == l->cap) {
        l->cap = l->cap ? l->cap * 2 : 64;
        l->steps = cs_realloc(l->steps, l->cap, sizeof *l->steps);
    }
    l->steps[l->count++] = (struct cs_step){here, below, (uint8_t)bytes, (uint8_t)took};
}

void cs_layer_bits(struct cs_layer *layer)
{
    size_t n = cs_block_count(layer->len);
    if (n > layer->block_cap) {
        layer->block_cap = n + n / 2;
        layer->blocks = cs_realloc(layer->blocks, layer->block_cap, sizeof *layer->blocks);
    }
    cs_blocks_read(layer->at, layer->len, layer->blocks);
}

static int hex(const char *at, size_t left)
{
    int n = 0;
    if (left < 4)
        return -1;
    for (unsigned i = 0; i < 4; i++) {
        char c = at[i];
        int d = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
        if (d < 0)
            return -1;
        n = n * 16 + d;
    }
    return n;
}

/* What looks like an ASCII character, or like nothing, to a person. 0: it is itself. */
static unsigned fold(uint32_t c, char *to)
{
    if (c >= 0xFF01 && c <= 0xFF5E) { /* full width */
        *to = (char)(c - 0xFF01 + '!');
        return 1;
    }
    switch (c) {
    case 0xA0:
    case 0x2007:
    case 0x2009:
    case 0x200A:
    case 0x202F:
    case 0x3000:
        *to = ' ';
        return 1;
    case 0x2010:
    case 0x2011:
    case 0x2012:
    case 0x2013:
        *to = '-';
        return 1;
    case 0x2018:
    case 0x2019:
        *to = '\'';
        return 1;
    default:
        return 0;
    }
}

static bool invisible(uint32_t c)
{
    return c == 0xAD || (c >= 0x200B && c <= 0x200F) || c == 0x2060 || c == 0xFEFF ||
           (c >= 0x202A && c <= 0x202E);
}

/* The character of two or three bytes there; 0: none that could be folded. */
static uint32_t character(const char *at, size_t left, unsigned *bytes)
{
    const unsigned char *p = (const unsigned char *)at;
    if (left >= 2 && p[0] == 0xC2) {
        *bytes = 2;
        return 0x80 | (p[1] & 0x3F);
    }
    if (left >= 3 && (p[0] == 0xE2 || p[0] == 0xE3 || p[0] == 0xEF)) {
        *bytes = 3;
        return (uint32_t)(p[0] & 15) << 12 | (uint32_t)(p[1] & 63) << 6 | (p[2] & 63);
    }
    return 0;
}

/* Reads the escape at `at`; returns its length, 0 if it is none. */
static unsigned escape(const char *at, size_t left, char out[4], unsigned *n)
{
    static const char simple[256] = {['n'] = '\n', ['r'] = '\r', ['t'] = '\t', ['b'] = ' ',
                                     ['f'] = ' ',  ['"'] = '"',  ['/'] = '/',  ['\\'] = '\\'};
    if (left < 2)
        return 0;
    if (simple[(unsigned char)at[1]]) {
        out[0] = simple[(unsigned char)at[1]];
        *n = 1;
        return 2;
    }
    int c = at[1] == 'u' ? hex(at + 2, left - 2) : -1;
    if (c < 0)
        return 0;
    unsigned took = 6;
    uint32_t u = (uint32_t)c;
    if (u >= 0xD800 && u < 0xE000) {
        int low = left >= 12 && at[6] == '\\' && at[7] == 'u' ? hex(at + 8, left - 8) : -1;
        if (u >= 0xDC00 || low < 0xDC00 || low > 0xDFFF) {
            out[0] = '?';
            *n = 1;
            return 6;
        }
        u = 0x10000 + ((u - 0xD800) << 10) + ((uint32_t)low - 0xDC00);
        took = 12;
    }
    if (invisible(u))
        *n = 0;
    else if (!(*n = fold(u, out)))
        *n = cs_utf8_put(out, u);
    return took;
}

/* Undoes one thing at `i`; returns its length in the layer below, 0 if there is nothing. */
static unsigned undo(const char *at, size_t left, char out[4], unsigned *n)
{
    if (at[0] == '\\')
        return escape(at, left, out, n);
    unsigned took;
    uint32_t c = character(at, left, &took);
    if (!c)
        return 0;
    if (invisible(c)) {
        *n = 0;
        return took;
    }
    *n = fold(c, out);
    return *n ? took : 0;
}

bool cs_page_folds(const struct cs_page *page, size_t from, size_t to)
{
    const struct cs_layer *l = &page->layers[page->top];
    char out[4];
    unsigned n;
    for (size_t i = from;; i++) {
        i = CS_BLOCK_NEXT(l->blocks, odd, CS_SET, i, to);
        if (i == to)
            return false;
        if (undo(l->at + i, to - i, out, &n))
            return true;
    }
}

bool cs_page_push(struct cs_page *page, size_t from, size_t to, bool json)
{
    if (page->top + 1 >= CS_LAYERS)
        return false;
    const struct cs_layer *below = &page->layers[page->top];
    struct cs_layer *l = &page->layers[page->top + 1];
    cs_buf_clear(&l->bytes);
    l->count = 0;
    l->from = from;
    l->json = json;
    l->made++;
    size_t done = from, len = 0;
    char *out = cs_buf_room(&l->bytes, to - from + 1);
    for (size_t i = from;;) {
        i = CS_BLOCK_NEXT(below->blocks, odd, CS_SET, i, to);
        if (i == to)
            break;
        char is[4];
        unsigned n = 0, took = undo(below->at + i, to - i, is, &n);
        if (!took) {
            i++;
            continue;
        }
        memcpy(out + len, below->at + done, i - done);
        len += i - done;
        step(l, len, i, n, took);
        memcpy(out + len, is, n);
        len += n;
        i += took;
        done = i;
    }
    memcpy(out + len, below->at + done, to - done);
    len += to - done;
    cs_buf_added(&l->bytes, len);
    l->at = l->bytes.at;
    l->len = len;
    cs_layer_bits(l);
    page->top++;
    return true;
}

void cs_page_pop(struct cs_page *page)
{
    page->top--;
}

/* The last thing undone that begins at or before `here`; NULL: none. */
static const struct cs_step *step_of(const struct cs_layer *l, size_t here)
{
    size_t low = 0, high = l->count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (l->steps[mid].here <= here)
            low = mid + 1;
        else
            high = mid;
    }
    return low ? &l->steps[low - 1] : NULL;
}

/* Where the byte `here` begins in the layer below, or ends. */
static size_t below(const struct cs_layer *l, size_t here, bool end)
{
    const struct cs_step *s = step_of(l, here);
    if (!s)
        return l->from + here + end;
    if (here < s->here + s->bytes)
        return end ? s->below + s->took : s->below;
    return s->below + s->took + (here - s->here - s->bytes) + end;
}

void cs_page_raw(const struct cs_page *page, size_t *start, size_t *end, uint8_t *escapes)
{
    *escapes = 0;
    for (unsigned k = page->top; k > 0; k--) {
        const struct cs_layer *l = &page->layers[k];
        bool some = *end > *start;
        *start = below(l, *start, false);
        *end = some ? below(l, *end - 1, true) : *start;
        if (*escapes == 0 && l->json && some &&
            memchr(page->layers[k - 1].at + *start, '\\', *end - *start))
            *escapes = (uint8_t)k;
    }
}
