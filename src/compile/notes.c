/* What only the lexer sees: comments, names with escapes, characters that nobody sees. */
#include "base/visible.h"
#include "compile/lex.h"
#include "compile/parser.h"

#define HIDDEN_MAX      1000
#define TYPE_TEXT_LEAST 18 /* of a literal in a type that is told */

/* Eight bytes of ASCII. */
static bool eight_ascii(const char *s)
{
    uint64_t x;
    memcpy(&x, s, sizeof x);
    return (x & 0x8080808080808080u) == 0;
}

void cs_note_hidden(struct cs_parser *p, uint32_t start)
{
    if (p->kind == CS_COMPILE_STRIP)
        return;
    for (uint32_t i = start; i < p->len && p->hidden.len < HIDDEN_MAX;) {
        if (i + 8 <= p->len && eight_ascii(p->src + i)) {
            i += 8;
            continue;
        }
        uint32_t size, c = cs_utf8_decode(p->src + i, &size);
        if (c >= 0x80 && cs_invisible(c) && cs_hidden(cs_strn(p->src, p->len), i))
            *CS_PUSH(&p->hidden) = (struct cs_hidden){.pos = i, .code = c};
        i += size;
    }
}

void cs_note_inside(struct cs_parser *p, uint32_t start, uint32_t end, enum cs_inside inside)
{
    uint32_t low = 0, high = p->hidden.len;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (p->hidden.at[middle].pos < start)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < p->hidden.len && p->hidden.at[low].pos < end; low++)
        p->hidden.at[low].inside = (uint8_t)inside;
}

void cs_note_text(struct cs_parser *p)
{
    if (p->tok.end - p->tok.start >= TYPE_TEXT_LEAST)
        cs_note_seen(p, p->tok.start, p->tok.end, K_NONE);
}

void cs_note_seen(struct cs_parser *p, uint32_t start, uint32_t end, uint32_t atom)
{
    if (start < p->seen_end || p->kind == CS_COMPILE_STRIP)
        return;
    p->seen_end = end;
    *CS_PUSH(&p->seen) = (struct cs_seen){.start = start, .end = end, .atom = atom};
    if (atom == K_NONE && p->hidden.len)
        cs_note_inside(p, start, end, INSIDE_COMMENT);
}
