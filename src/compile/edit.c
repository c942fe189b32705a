/* Edits: noted in any order while reading, applied in the order of the text. */
#include <stdarg.h>
#include <stdio.h>

#include "compile/lex.h"
#include "compile/parser.h"

static struct cs_edit *edit(struct cs_parser *p, enum cs_edit_kind kind, uint32_t start,
                            uint32_t end, const char *text)
{
    struct cs_edit *e = CS_PUSH(&p->edits);
    *e = (struct cs_edit){.start = start,
                          .end = end,
                          .kind = kind,
                          .text = text,
                          .text_len = text ? (uint32_t)strlen(text) : 0,
                          .seq = p->edits.len};
    return e;
}

void cs_blank(struct cs_parser *p, uint32_t start, uint32_t end)
{
    if (start < end)
        edit(p, EDIT_BLANK, start, end, NULL);
}

void cs_put(struct cs_parser *p, uint32_t pos, const char *one)
{
    edit(p, EDIT_PUT, pos, pos + 1, one);
}

void cs_insert_text(struct cs_parser *p, uint32_t pos, const char *text)
{
    edit(p, EDIT_INSERT, pos, pos, text);
}

void cs_replace(struct cs_parser *p, uint32_t start, uint32_t end, const char *text)
{
    edit(p, EDIT_REPLACE, start, end, text);
}

void cs_drop(struct cs_parser *p, uint32_t start, uint32_t end)
{
    cs_blank(p, start, end);
    cs_put(p, start, ";");
}

bool cs_has_newline(const struct cs_parser *p, uint32_t start, uint32_t end)
{
    for (uint32_t i = start; i < end; i++) {
        unsigned char c = (unsigned char)p->src[i];
        if (c == '\n' || c == '\r')
            return true;
        if (c == 0xe2 && (unsigned char)p->src[i + 1] == 0x80 &&
            ((unsigned char)p->src[i + 2] | 1) == 0xa9)
            return true;
    }
    return false;
}

char *cs_textf(struct cs_parser *p, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *text = cs_arena_alloc(&p->scratch, (size_t)(n < 0 ? 0 : n) + 1);
    vsnprintf(text, (size_t)(n < 0 ? 0 : n) + 1, fmt, again);
    va_end(again);
    return text;
}

/* Eight bytes of plain ASCII, without a line end. */
static bool eight_plain(const char *text)
{
    const uint64_t ones = 0x0101010101010101u, high = 0x8080808080808080u;
    uint64_t x;
    memcpy(&x, text, sizeof x);
    return ((x | ((x - ones * 14) & ~x)) & high) == 0;
}

void cs_place_move(struct cs_place *at, const char *text, uint32_t to)
{
    for (uint32_t i = at->offset; i < to; i++) {
        while (i + 8 <= to && eight_plain(text + i)) {
            at->column += 8;
            at->cr = false;
            i += 8;
        }
        if (i >= to)
            break;
        unsigned char c = (unsigned char)text[i];
        if (c == '\n' && at->cr) {
            at->cr = false;
            continue;
        }
        at->cr = c == '\r';
        if (c == '\n' || c == '\r') {
            at->line++;
            at->column = 1;
        } else if (c == 0xe2 && i + 2 < to && (unsigned char)text[i + 1] == 0x80 &&
                   ((unsigned char)text[i + 2] | 1) == 0xa9) {
            at->line++;
            at->column = 1;
            i += 2;
        } else if ((c & 0xc0) != 0x80) {
            at->column += c >= 0xf0 ? 2 : 1;
        }
    }
    at->offset = to;
}

static int by_position(const void *a, const void *b)
{
    const struct cs_edit *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    bool xi = x->kind == EDIT_INSERT, yi = y->kind == EDIT_INSERT;
    if (xi != yi)
        return xi ? -1 : 1;
    return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static void sort_edits(struct cs_parser *p)
{
    for (uint32_t i = 1; i < p->edits.len; i++) {
        if (by_position(&p->edits.at[i - 1], &p->edits.at[i]) > 0) {
            qsort(p->edits.at, p->edits.len, sizeof *p->edits.at, by_position);
            return;
        }
    }
}

static uint32_t units(const char *text, uint32_t len)
{
    struct cs_place at = {.column = 0};
    cs_place_move(&at, text, len);
    return at.column;
}

/* The output while it grows. */
struct writer {
    struct cs_parser *p;
    struct cs_compiled *out;
    struct cs_place place; /* in the output, as far as it has been counted */
    uint32_t cursor;       /* in the source */
    uint32_t blank_until;
    CS_VEC(struct cs_insert) inserts;
};

static void write_blank(struct writer *w, uint32_t to)
{
    const char *s = w->p->src;
    char *o = cs_buf_room(&w->out->js, to - w->cursor);
    size_t n = 0;
    for (uint32_t i = w->cursor; i < to; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c == '\n' || c == '\r') {
            o[n++] = (char)c;
        } else if (c < 0x80) {
            o[n++] = ' ';
        } else if (c == 0xe2 && (unsigned char)s[i + 1] == 0x80 &&
                   ((unsigned char)s[i + 2] | 1) == 0xa9 && i + 2 < to) {
            memcpy(o + n, s + i, 3);
            n += 3;
            i += 2;
        } else if (c >= 0xf0) {
            o[n++] = ' ';
            o[n++] = ' ';
        } else if (c >= 0xc0) {
            o[n++] = ' ';
        }
    }
    cs_buf_added(&w->out->js, n);
}

static void write_source(struct writer *w, uint32_t to)
{
    if (w->cursor < to && w->cursor < w->blank_until) {
        uint32_t end = w->blank_until < to ? w->blank_until : to;
        write_blank(w, end);
        w->cursor = end;
    }
    if (w->cursor < to) {
        cs_buf_put(&w->out->js, w->p->src + w->cursor, to - w->cursor);
        w->cursor = to;
    }
}

static void write_text(struct writer *w, const char *text, uint32_t len, uint32_t source_units)
{
    cs_place_move(&w->place, w->out->js.at, (uint32_t)w->out->js.len);
    uint32_t n = units(text, len);
    if (n != source_units)
        *CS_PUSH(&w->inserts) = (struct cs_insert){
            .line = w->place.line, .column = w->place.column, .len = n, .source_len = source_units};
    cs_buf_put(&w->out->js, text, len);
}

static void write_edit(struct writer *w, const struct cs_edit *e)
{
    if (e->kind == EDIT_BLANK) {
        if (e->end > w->blank_until)
            w->blank_until = e->end;
        return;
    }
    if (e->kind == EDIT_INSERT) {
        write_text(w, e->text, e->text_len, 0);
        return;
    }
    if (e->start < w->cursor)
        return;
    if (e->kind == EDIT_PUT) {
        uint32_t size;
        uint32_t c = cs_utf8_decode(w->p->src + e->start, &size);
        cs_buf_putc(&w->out->js, e->text[0]);
        if (c > 0xffff)
            cs_buf_putc(&w->out->js, ' ');
        w->cursor = e->start + size;
        return;
    }
    write_text(w, e->text, e->text_len, units(w->p->src + e->start, e->end - e->start));
    w->cursor = e->end;
}

void cs_edits_apply(struct cs_parser *p, const char *prefix, const char *suffix,
                    struct cs_compiled *out)
{
    struct writer w = {.p = p, .out = out, .place = {.line = 1, .column = 1}};
    sort_edits(p);
    (void)cs_buf_room(&out->js, p->len + strlen(prefix) + strlen(suffix) + p->edits.len * 4 + 1);
    if (prefix[0])
        write_text(&w, prefix, (uint32_t)strlen(prefix), 0);
    for (uint32_t i = 0; i < p->edits.len; i++) {
        const struct cs_edit *e = &p->edits.at[i];
        write_source(&w, e->start);
        write_edit(&w, e);
    }
    write_source(&w, p->len);
    cs_buf_puts(&out->js, suffix);
    out->inserts = cs_arena_alloc(&out->arena, (w.inserts.len + 1) * sizeof *out->inserts);
    if (w.inserts.len)
        memcpy(out->inserts, w.inserts.at, w.inserts.len * sizeof *out->inserts);
    out->insert_count = w.inserts.len;
    free(w.inserts.at);
}

void cs_compiled_map(const struct cs_compiled *c, uint32_t *line, uint32_t *column)
{
    uint32_t low = 0, high = c->insert_count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (c->inserts[mid].line < *line)
            low = mid + 1;
        else
            high = mid;
    }
    /* How far the output is ahead of the source before the insert that is looked at. */
    uint32_t at = *column, ahead = 0;
    for (; low < c->insert_count; low++) {
        const struct cs_insert *i = &c->inserts[low];
        if (i->line != *line || i->column > at)
            break;
        uint32_t inside = at - i->column;
        if (inside < i->len) {
            /* In inserted text: the nearest place of what it replaces. */
            uint32_t last = i->source_len ? i->source_len - 1 : 0;
            *column = i->column - ahead + (inside < last ? inside : last);
            return;
        }
        ahead += i->len - i->source_len;
    }
    *column = at - ahead;
}
