/*
 * Texts of a card: what is personal or secret in them is not for everybody who is asked. They get
 * names of the card's own, which no program can use and no other card has, since the vault of the
 * execution must not learn what only a person was shown. Something that helps to decide stays: the
 * domain of an address. [EMAIL #1 @corp.example]
 */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/lines.h"
#include "base/mem.h"
#include "run/card_in.h"
#include "run/shield.h"

#define CONTEXT (4u << 10) /* that is looked at on both sides of a part */

void cs_card_names_done(struct cs_card_names *names)
{
    free(names->at);
}

/* Which one of its kind it is on this card, from 1 on. */
static uint32_t number_of(struct cs_card_names *n, struct cs_str kind, struct cs_str value)
{
    struct cs_card_name name = {0};
    uint32_t last = 0;
    cs_sha256(value, name.value);
    cs_sha256(kind, name.kind);
    for (size_t i = 0; i < n->count; i++) {
        if (memcmp(n->at[i].kind, name.kind, sizeof name.kind) != 0)
            continue;
        if (memcmp(n->at[i].value, name.value, sizeof name.value) == 0)
            return n->at[i].number;
        last = n->at[i].number;
    }
    if (n->count == CS_CARD_NAMES)
        return last + 1;
    if (n->count == n->cap) {
        n->cap = n->cap ? 2 * n->cap : 16;
        n->at = cs_realloc(n->at, n->cap, sizeof *n->at);
    }
    name.number = last + 1;
    n->at[n->count++] = name;
    return name.number;
}

static void put_span(const struct cs_shield *sh, struct cs_card_names *names,
                     const struct cs_span *span, struct cs_str value, struct cs_buf *out)
{
    struct cs_str kind = cs_detector_name(sh->detector, (enum cs_pii)span->kind, span->custom);
    cs_buf_printf(out, "[%.*s #%u", CS_STR_ARG(kind), number_of(names, kind, value));
    struct cs_str hint = cs_pii_hint((enum cs_pii)span->kind, value);
    if (hint.len)
        cs_buf_printf(out, " %.*s", CS_STR_ARG(hint));
    cs_buf_putc(out, ']');
}

/* Lines keep their numbers. */
static void put_ends(struct cs_str value, struct cs_buf *out)
{
    for (size_t i = 0; i < value.len; i++) {
        const unsigned char *p = (const unsigned char *)value.at + i;
        if (*p == '\n' || *p == '\r')
            cs_buf_putc(out, (char)*p);
        else if (value.len - i > 2 && p[0] == 0xe2 && p[1] == 0x80 && (p[2] | 1) == 0xa9)
            cs_buf_put(out, p, 3);
    }
}

void cs_card_mask(const struct cs_run *run, struct cs_card_names *names, enum cs_form form,
                  struct cs_str whole, size_t start, size_t end, struct cs_buf *out)
{
    const struct cs_shield *sh = run->shield;
    struct cs_spans spans = {0};
    if (!sh || sh->level == CS_PRIVACY_OFF || start >= end) {
        cs_buf_putstr(out, cs_strn(whole.at + start, end - start));
        return;
    }
    size_t from = cs_text_aligned(whole, start > CONTEXT ? start - CONTEXT : 0);
    size_t to = cs_text_aligned(whole, whole.len - end > CONTEXT ? end + CONTEXT : whole.len),
           at = start;
    cs_scan(sh->detector, sh->level, form, cs_strn(whole.at + from, to - from), &spans);
    for (size_t i = 0; i < spans.count; i++) {
        const struct cs_span *span = &spans.at[i];
        size_t first = from + span->start, last = from + span->end;
        if (last <= at || first >= end || span->is_key || span->is_number)
            continue;
        if (first > at)
            cs_buf_putstr(out, cs_strn(whole.at + at, first - at));
        size_t shown = first > start ? first : start, until = last < end ? last : end;
        if (first < start || last > end) /* a part of it: that of another name would tell more */
            cs_buf_printf(out, "[%s]", cs_pii_name((enum cs_pii)span->kind));
        else
            put_span(sh, names, span, cs_strn(whole.at + shown, until - shown), out);
        put_ends(cs_strn(whole.at + shown, until - shown), out);
        at = until;
    }
    if (at < end)
        cs_buf_putstr(out, cs_strn(whole.at + at, end - at));
    cs_spans_done(&spans);
}

void cs_card_mask_text(const struct cs_run *run, struct cs_card_names *names, struct cs_str text,
                       struct cs_buf *out)
{
    cs_card_mask(run, names, CS_FORM_TEXT, text, 0, text.len, out);
}
