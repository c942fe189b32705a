/*
 * Text with values to text with tokens.
 *
 * Besides what the scanner has found, two things are looked for here: what looks like a token, and
 * (in texts of the world) values that are known. Both are looked for with escapes undone, level by
 * level, because the program may read the text that way: JSON within JSON is common.
 */
#include <string.h>
#include <time.h>

#include "base/json_scan.h"
#include "base/mem.h"
#include "privacy/find.h"
#include "privacy/unescape.h"
#include "privacy/vault.h"

#define LEVELS 3 /* of escapes that are undone */

enum source { FOUND, TOKEN, KNOWN };

/* A piece of the text that is to become a token; or (TOKEN, if they are nobody's literals) is one
 * and stays. */
struct piece {
    size_t start, end;
    enum source source;
    uint8_t escapes;
    const struct cs_span *span; /* FOUND */
    uint32_t entry;             /* KNOWN */
};

struct pieces {
    struct piece *at;
    size_t count, cap;
};

static void pieces_done(struct pieces *p)
{
    free(p->at);
}

static void add(struct pieces *p, struct piece piece)
{
    if (p->count == p->cap) {
        p->cap = p->cap ? p->cap * 2 : 32;
        p->at = cs_realloc(p->at, p->cap, sizeof *p->at);
    }
    p->at[p->count++] = piece;
}

void cs_masked_add(struct cs_masked *sum, const struct cs_masked *more)
{
    for (unsigned i = 0; i < CS_PII_COUNT; i++)
        sum->found[i] += more->found[i];
    sum->total += more->total;
    sum->fresh += more->fresh;
    sum->bytes += more->bytes;
    sum->us += more->us;
}

/* --- what else is in the text --- */

struct job {
    const struct cs_mask *how;
    struct cs_str text;
    bool is_json;
    struct pieces pieces;
    struct cs_unescaped levels[LEVELS];
    unsigned level_count;
};

static void job_done(struct job *j)
{
    pieces_done(&j->pieces);
    for (unsigned i = 0; i < LEVELS; i++)
        cs_unescaped_done(&j->levels[i]);
}

static size_t raw_of(const struct job *j, unsigned level, size_t at)
{
    while (level > 0)
        at = cs_unescaped_raw(&j->levels[--level], at);
    return at;
}

static void note(struct job *j, unsigned level, size_t start, size_t end, struct piece piece)
{
    piece.start = raw_of(j, level, start);
    piece.end = raw_of(j, level, end);
    piece.escapes = (uint8_t)level;
    add(&j->pieces, piece);
}

static void look_at_level(struct job *j, unsigned level, struct cs_str text)
{
    struct cs_token t;
    for (size_t from = 0; cs_token_next(text, from, cs_vault_named, j->how->vault, &t);
         from = t.end)
        note(j, level, t.start, t.end, (struct piece){.source = TOKEN});
}

static bool begins_like_json(struct cs_str text)
{
    const char *end = text.at + text.len;
    const char *p = text.len ? cs_json_skip_space(text.at, end) : end;
    return p < end && (*p == '{' || *p == '[' || *p == '"');
}

static void look(struct job *j)
{
    struct cs_str text = j->text;
    bool escapes = cs_unescape(text, &j->levels[0]);
    /* A string of JSON is only ever read with its escapes undone. */
    if (!escapes || !j->is_json)
        look_at_level(j, 0, text);
    for (unsigned level = 1; escapes; level++) {
        text = cs_buf_str(&j->levels[level - 1].text);
        look_at_level(j, level, text);
        escapes = level < LEVELS && cs_unescape(text, &j->levels[level]);
    }
}

/* --- where they meet --- */

static int by_place(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    return (int)y->source - (int)x->source; /* KNOWN, TOKEN, FOUND */
}

/* Tokens of the program's stay, and what was found around them was found because of them. */
static void keep_tokens(struct job *j)
{
    struct pieces *p = &j->pieces;
    size_t kept = 0, token_end = 0;
    for (size_t i = 0; i < p->count; i++) { /* to the right of a token, and the tokens */
        if (p->at[i].source == TOKEN)
            token_end = p->at[i].end > token_end ? p->at[i].end : token_end;
        else if (p->at[i].start < token_end)
            continue;
        p->at[kept++] = p->at[i];
    }
    p->count = kept;
    size_t token_start = SIZE_MAX, to = kept;
    for (size_t i = kept; i-- > 0;) { /* to the left of one */
        if (p->at[i].source == TOKEN)
            token_start = p->at[i].start;
        else if (p->at[i].end > token_start)
            continue;
        p->at[--to] = p->at[i];
    }
    kept -= to;
    memmove(p->at, p->at + to, kept * sizeof *p->at);
    /* And then they are no longer of interest. */
    p->count = 0;
    for (size_t i = 0; i < kept; i++)
        if (p->at[i].source != TOKEN)
            p->at[p->count++] = p->at[i];
}

/* Disjoint: what lies within another is part of it; of what overlaps, the second begins where the
 * first ends, so that every byte of both is masked. */
static void part(struct pieces *p)
{
    size_t kept = 0, end = 0;
    for (size_t i = 0; i < p->count; i++) {
        struct piece piece = p->at[i];
        if (piece.end <= end && kept)
            continue;
        if (piece.start < end)
            piece.start = end;
        if (piece.start == piece.end)
            continue;
        end = piece.end;
        p->at[kept++] = piece;
    }
    p->count = kept;
}

/* --- writing --- */

static int put_quoted(struct cs_buf *out, struct cs_str token, unsigned escapes)
{
    static const char *const quotes[] = {"\"", "\\\"", "\\\\\\\""};
    const char *quote = quotes[escapes < 3 ? escapes : 2];
    cs_buf_puts(out, quote);
    cs_buf_putstr(out, token);
    cs_buf_puts(out, quote);
    return 0;
}

/* The text of a piece, its escapes undone. */
static struct cs_str plain(struct cs_str raw, unsigned escapes, struct cs_buf scratch[2])
{
    unsigned which = 0;
    for (; escapes > 0 && raw.len && memchr(raw.at, '\\', raw.len); escapes--, which ^= 1) {
        cs_buf_clear(&scratch[which]);
        cs_unescape_put(raw, &scratch[which]);
        raw = cs_buf_str(&scratch[which]);
    }
    return raw;
}

static int put_piece(struct job *j, const struct piece *p, struct cs_buf scratch[2],
                     struct cs_buf *out, struct cs_masked *masked, struct cs_err *err)
{
    const struct cs_mask *how = j->how;
    struct cs_vault *vault = how->vault;
    const struct cs_span *span = p->span;
    struct cs_value value = {
        .kind = span ? (enum cs_pii)span->kind : CS_PII_LITERAL,
        .raw = plain(cs_strn(j->text.at + p->start, p->end - p->start), p->escapes, scratch),
        .server = how->server,
        .program = how->origin == CS_FROM_PROGRAM,
        .is_number = span && span->is_number,
    };
    value.name =
        span ? cs_detector_name(how->detector, value.kind, span->custom) : cs_str("LITERAL");
    bool fresh;
    struct cs_entry *e = cs_vault_put(vault, &value, &fresh, err);
    /* Keys that were different stay so. */
    if (e && span && span->is_key && !cs_str_eq(e->raw, value.raw)) {
        value.exact = true;
        e = cs_vault_put(vault, &value, &fresh, err);
    }
    if (!e)
        return -1;
    if (how->origin == CS_FROM_PROGRAM)
        cs_vault_note(vault, e);
    char text[CS_TOKEN_MAX];
    struct cs_str token = cs_strn(text, cs_vault_text(vault, e, text));
    if (value.is_number)
        put_quoted(out, token, p->escapes);
    else
        cs_buf_putstr(out, token);
    masked->found[value.kind]++;
    masked->total++;
    masked->fresh += fresh;
    return 0;
}

static int write_all(struct job *j, struct cs_buf *out, struct cs_masked *masked,
                     struct cs_err *err)
{
    struct cs_buf scratch[2] = {{0}};
    size_t from = 0, began = out->len;
    int result = 0;
    cs_buf_room(out, j->text.len + 64);
    for (size_t i = 0; i < j->pieces.count && result == 0; i++) {
        const struct piece *p = &j->pieces.at[i];
        cs_buf_put(out, j->text.at + from, p->start - from);
        result = put_piece(j, p, scratch, out, masked, err);
        from = p->end;
    }
    cs_buf_wipe(&scratch[0]);
    cs_buf_wipe(&scratch[1]);
    if (result < 0) {
        out->len = began;
        return -1;
    }
    cs_buf_put(out, j->text.at + from, j->text.len - from);
    return 1;
}

static uint64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

int cs_mask_spans(const struct cs_mask *how, struct cs_str text, const struct cs_spans *spans,
                  struct cs_buf *out, struct cs_masked *masked, struct cs_err *err)
{
    struct cs_masked none = {0};
    CS_AUTO(job_done)
    struct job j = {.how = how,
                    .text = text,
                    .is_json = how->form == CS_FORM_JSON ||
                               (how->form == CS_FORM_GUESS && begins_like_json(text))};
    uint64_t began = now_us();
    masked = masked ? masked : &none;
    masked->bytes += text.len;
    look(&j);
    for (size_t i = 0; i < spans->count; i++) {
        const struct cs_span *s = &spans->at[i];
        add(&j.pieces, (struct piece){.start = s->start,
                                      .end = s->end,
                                      .source = FOUND,
                                      .escapes = s->escapes,
                                      .span = s});
    }
    int result = 0;
    if (j.pieces.count) {
        qsort(j.pieces.at, j.pieces.count, sizeof *j.pieces.at, by_place);
        if (!how->literals)
            keep_tokens(&j);
        part(&j.pieces);
        if (j.pieces.count)
            result = write_all(&j, out, masked, err);
    }
    masked->us += now_us() - began;
    return result;
}

int cs_mask(const struct cs_mask *how, struct cs_str text, struct cs_buf *out,
            struct cs_masked *masked, struct cs_err *err)
{
    CS_AUTO(cs_spans_done) struct cs_spans spans = {0};
    uint64_t began = now_us();
    if (how->level != CS_PRIVACY_OFF)
        cs_scan(how->detector, how->level, how->form, text, &spans);
    uint64_t scanned = now_us() - began;
    int result = cs_mask_spans(how, text, &spans, out, masked, err);
    if (masked)
        masked->us += scanned;
    return result;
}
