/*
 * Text with values to text with tokens.
 *
 * Besides what the scanner has found, two things are looked for here: what looks like a token, and
 * (in texts of the world) values that are known. Both are looked for with escapes undone, level by
 * level, because the program may read the text that way: JSON within JSON is common.
 */
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "privacy/find.h"
#include "privacy/place.h"
#include "privacy/unescape.h"
#include "privacy/vault.h"

#define LEVELS 3 /* of escapes that are undone */
#define TURNS  8

enum source { FOUND, TOKEN, KNOWN };

/* A piece of the text that is to become a token; or (TOKEN, if they are nobody's literals) is one
 * and stays. */
struct piece {
    size_t start, end;
    enum source source;
    uint8_t escapes;
    const struct cs_span *span; /* FOUND */
    uint32_t entry;             /* KNOWN */
    bool revealed;              /* to the tool whose answer it is */
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

/* How often a value that was revealed has come back. */
struct turn {
    uint32_t entry;
    unsigned count;
};

struct job {
    const struct cs_mask *how;
    struct cs_str text;
    bool is_json;
    struct pieces pieces;
    struct cs_unescaped levels[LEVELS];
    struct cs_place place;
    /* How quotes are written where the last number stood, and how far was looked for that. */
    size_t quoted_to;
    unsigned backslashes;
    struct turn turns[TURNS];
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

static bool one_of(char c, const char *set)
{
    return c && strchr(set, c);
}

/* Is it a number without quotes, in JSON or in JSON within JSON? */
static bool is_bare(struct job *j, size_t start, size_t end)
{
    const char *at = j->text.at;
    if (!j->is_json)
        return false;
    for (size_t i = start; i < end; i++)
        if (!cs_is_digit(at[i]) && !one_of(at[i], "-+.eE"))
            return false;
    if (start < j->place.at)
        j->place = (struct cs_place){.text = j->text};
    cs_place_walk(&j->place, start);
    const struct cs_place *p = &j->place;
    if (p->in_string && (!p->is_nested || p->in_inner))
        return false;
    size_t before = start;
    while (before > 0 && cs_json_is_space(at[before - 1]))
        before--;
    const char *after = cs_json_skip_space(at + end, at + j->text.len);
    return (before == 0 || one_of(at[before - 1], ":,[")) &&
           (after == at + j->text.len || one_of(*after, ",]}\\\""));
}

/* Of JSON: is it all in one string? */
static bool is_together(const struct job *j, const struct piece *p)
{
    for (size_t i = p->start; j->is_json && i < p->end; i++) {
        if (j->text.at[i] == '\\')
            i++;
        else if (j->text.at[i] == '"')
            return false;
    }
    return true;
}

static int look_for(struct job *j, unsigned level, struct cs_str text, const struct cs_known *known,
                    bool revealed, struct cs_err *err)
{
    struct cs_known_search search;
    struct cs_known_hit hit;
    int got;
    cs_known_begin(&search, known, text);
    search.anywhere = revealed; /* tools put what they are given together with other things */
    while ((got = cs_known_next(&search, &hit)) > 0) {
        const struct cs_entry *e = &j->how->vault->entries[hit.tag];
        /* What it has written itself is left to the rules: else its guess would be confirmed. */
        if (!revealed && j->how->own && cs_own_has(j->how->own, (enum cs_pii)e->kind, e->raw))
            continue;
        note(j, level, hit.start, hit.end,
             (struct piece){.source = KNOWN, .entry = hit.tag, .revealed = revealed});
        if (!is_together(j, &j->pieces.at[j->pieces.count - 1]))
            j->pieces.count--;
    }
    /* What is known besides is only looked for within reason: whoever makes that much work of it
     * knows the values. */
    return got < 0 && revealed
               ? cs_fail(err, CS_LIMIT,
                         "the answer repeats so much of what the tool was given that it cannot be "
                         "checked for it; ask for less at once")
               : 0;
}

static int look_at_level(struct job *j, unsigned level, struct cs_str text, struct cs_err *err)
{
    const struct cs_mask *how = j->how;
    struct cs_token t;
    for (size_t from = 0; cs_token_next(text, from, cs_vault_named, how->vault, &t); from = t.end)
        note(j, level, t.start, t.end, (struct piece){.source = TOKEN});
    if (how->origin != CS_FROM_WORLD)
        return 0;
    if (how->revealed && look_for(j, level, text, &how->revealed->known, true, err) < 0)
        return -1;
    return how->level == CS_PRIVACY_OFF ? 0
                                        : look_for(j, level, text, &how->vault->known, false, err);
}

static int look(struct job *j, struct cs_err *err)
{
    struct cs_str text = j->text;
    bool escapes = cs_unescape(text, &j->levels[0]);
    /* A string of JSON is only ever read with its escapes undone. */
    if ((!escapes || !j->is_json) && look_at_level(j, 0, text, err) < 0)
        return -1;
    for (unsigned level = 1; escapes; level++) {
        text = cs_buf_str(&j->levels[level - 1].text);
        if (look_at_level(j, level, text, err) < 0)
            return -1;
        escapes = level < LEVELS && cs_unescape(text, &j->levels[level]);
    }
    return 0;
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

static bool is_asked(const struct job *j, const struct piece *p)
{
    return p->source == FOUND &&
           cs_detector_asked(j->how->detector, (enum cs_pii)p->span->kind, p->span->custom);
}

/* A pattern of the request's does not touch what is known: else it would tell what that is like. */
static void drop_asked(struct job *j)
{
    struct pieces *p = &j->pieces;
    size_t kept = 0, end = 0, start = SIZE_MAX, to;
    for (size_t i = 0; i < p->count; i++) {
        if (is_asked(j, &p->at[i]) && p->at[i].start < end)
            continue;
        if (p->at[i].source == KNOWN && p->at[i].end > end)
            end = p->at[i].end;
        p->at[kept++] = p->at[i];
    }
    to = kept;
    for (size_t i = kept; i-- > 0;) {
        if (is_asked(j, &p->at[i]) && p->at[i].end > start)
            continue;
        if (p->at[i].source == KNOWN)
            start = p->at[i].start;
        p->at[--to] = p->at[i];
    }
    p->count = kept - to;
    memmove(p->at, p->at + to, p->count * sizeof *p->at);
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

/* How quotes are escaped where a number stands: as the nearest one before it, or once more, if that
 * one opens a string with JSON in it. */
static unsigned quotes_at(struct job *j, size_t at)
{
    const char *text = j->text.at;
    const char *q = memrchr(text + j->quoted_to, '"', at - j->quoted_to);
    j->quoted_to = at;
    if (!q)
        return j->backslashes;
    unsigned n = 0;
    while (n < 7 && q - n > text && q[-1 - (int)n] == '\\')
        n++;
    const char *next = cs_json_skip_space(q + 1, text + at);
    j->backslashes = next < text + at && one_of(*next, ":,]}") ? n : 2 * n + 1;
    return j->backslashes;
}

static void put_quoted(struct cs_buf *out, struct cs_str token, unsigned backslashes)
{
    for (int i = 0; i < 2; i++) {
        if (i)
            cs_buf_putstr(out, token);
        for (unsigned k = 0; k < backslashes; k++)
            cs_buf_putc(out, '\\');
        cs_buf_putc(out, '"');
    }
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

/* What the text around it says of a value that was not found by the scanner. */
static bool is_key(const struct job *j, const struct piece *p)
{
    const char *end = j->text.at + j->text.len, *at = j->text.at + p->end;
    while (at < end && *at != '"')
        at += *at == '\\' ? 2 : 1;
    at = at < end ? cs_json_skip_space(at + 1, end) : end;
    return j->is_json && at < end && *at == ':';
}

/* The program has written it itself, besides, and this may be what it has written. */
static bool is_written(struct job *j, const struct piece *p, const struct cs_entry *e)
{
    const struct cs_mask *how = j->how;
    struct turn *turn = j->turns;
    char text[CS_TOKEN_MAX];
    if (!p->revealed || !how->own || !cs_own_has(how->own, (enum cs_pii)e->kind, e->raw))
        return false;
    while (turn < j->turns + TURNS && turn->count && turn->entry != p->entry)
        turn++;
    if (turn == j->turns + TURNS)
        return false;
    turn->entry = p->entry;
    return cs_own_turn(how->own, e->raw, cs_strn(text, cs_vault_text(how->vault, e, text)),
                       turn->count++);
}

static struct cs_entry *entry_of_known(struct job *j, const struct piece *p, struct cs_value *value,
                                       bool *fresh, struct cs_err *err)
{
    struct cs_vault *vault = j->how->vault;
    struct cs_entry *e = &vault->entries[p->entry];
    struct cs_str raw = value->raw;
    *fresh = false;
    *value = (struct cs_value){.kind = (enum cs_pii)e->kind,
                               .raw = e->raw,
                               .server = vault->servers[e->server],
                               .program = e->program,
                               .exact = e->exact,
                               .is_number = is_bare(j, p->start, p->end)};
    char name[CS_TOKEN_NAME + 1];
    memcpy(name, vault->names[e->name].text, sizeof name);
    value->name = cs_str(name);
    /* Something else has the beginning of it, or it is a key, which have to stay apart. */
    bool cut = raw.len != e->raw.len;
    bool variant = !cut && !cs_str_eq(raw, e->raw) && is_key(j, p);
    bool written = is_written(j, p, e);
    if (value->is_number == e->is_number && !variant && !cut && !written)
        return e;
    value->program |= written;
    if (variant || cut) {
        value->raw = raw;
        value->exact |= variant;
        value->is_number &= !cut;
    }
    e = cs_vault_put(vault, value, fresh, err);
    value->name = (struct cs_str){0};
    return e;
}

/* The password of a connection string is known by itself from then on. */
static struct cs_entry *know_core(struct job *j, const struct cs_span *span, struct cs_entry *e,
                                  struct cs_err *err)
{
    struct cs_vault *vault = j->how->vault;
    size_t index = (size_t)(e - vault->entries), size = span->core_end - span->core_start;
    struct cs_str core = cs_strn(j->text.at + span->core_start, size);
    bool fresh;
    if (size == 0 || size == span->end - span->start || memchr(core.at, '\\', size))
        return e;
    struct cs_value value = {.kind = CS_PII_PASSWORD,
                             .name = cs_str(cs_pii_name(CS_PII_PASSWORD)),
                             .raw = core,
                             .server = j->how->server};
    return cs_vault_put(vault, &value, &fresh, err) ? &vault->entries[index] : NULL;
}

static struct cs_entry *entry_of_found(struct job *j, const struct piece *p, struct cs_value *value,
                                       bool *fresh, struct cs_err *err)
{
    const struct cs_mask *how = j->how;
    const struct cs_span *span = p->span;
    value->name = cs_str(cs_pii_name(CS_PII_LITERAL));
    if (span) {
        value->kind = (enum cs_pii)span->kind;
        value->name = cs_detector_name(how->detector, value->kind, span->custom);
        value->is_number = span->is_number;
        value->program |= how->own && cs_own_has(how->own, value->kind, value->raw);
    }
    struct cs_entry *e = cs_vault_put(how->vault, value, fresh, err);
    if (e && value->kind == CS_PII_CONNECTION_STRING && !value->program)
        e = know_core(j, span, e, err);
    /* Keys that were different stay so. */
    if (e && span && span->is_key && !cs_str_eq(e->raw, value->raw)) {
        value->exact = true;
        e = cs_vault_put(how->vault, value, fresh, err);
    }
    return e;
}

static int put_piece(struct job *j, const struct piece *p, struct cs_buf scratch[2],
                     struct cs_buf *out, struct cs_masked *masked, struct cs_err *err)
{
    const struct cs_mask *how = j->how;
    struct cs_value value = {
        .kind = CS_PII_LITERAL,
        .raw = plain(cs_strn(j->text.at + p->start, p->end - p->start), p->escapes, scratch),
        .server = how->server,
        .program = how->origin == CS_FROM_PROGRAM,
    };
    bool fresh;
    struct cs_entry *e = p->source == KNOWN ? entry_of_known(j, p, &value, &fresh, err)
                                            : entry_of_found(j, p, &value, &fresh, err);
    if (!e)
        return -1;
    if (how->origin == CS_FROM_PROGRAM)
        cs_vault_note(how->vault, e);
    char text[CS_TOKEN_MAX];
    struct cs_str token = cs_strn(text, cs_vault_text(how->vault, e, text));
    if (value.is_number)
        put_quoted(out, token, quotes_at(j, p->start));
    else
        cs_buf_putstr(out, token);
    masked->found[e->kind]++;
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

/* Before the first of them has a token, nobody else's text may look like one. */
static void name_customs(const struct cs_mask *how)
{
    for (unsigned i = 0; how->detector; i++) {
        struct cs_str name = cs_detector_name(how->detector, CS_PII_CUSTOM, i);
        if (name.at == cs_pii_name(CS_PII_CUSTOM))
            break;
        cs_vault_name(how->vault, CS_PII_CUSTOM, name);
    }
}

int cs_mask_spans(const struct cs_mask *how, struct cs_str text, const struct cs_spans *spans,
                  struct cs_buf *out, struct cs_masked *masked, struct cs_err *err)
{
    struct cs_masked none = {0};
    CS_AUTO(job_done)
    struct job j = {.how = how,
                    .text = text,
                    .place = {.text = text},
                    .is_json = how->form == CS_FORM_JSON ||
                               (how->form == CS_FORM_GUESS && cs_like_json(text))};
    uint64_t began = now_us();
    name_customs(how);
    masked = masked ? masked : &none;
    masked->bytes += text.len;
    if (look(&j, err) < 0)
        return -1;
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
        drop_asked(&j);
        part(&j.pieces);
        if (j.pieces.count)
            result = write_all(&j, out, masked, err);
    }
    masked->us += now_us() - began;
    return result;
}

/* What a token says must not be a hint at what stands beside it: [DATE_OF_BIRTH_1] names no birth.
 */
static struct cs_str starred(const struct cs_mask *how, struct cs_str text, struct cs_buf *copy)
{
    struct cs_token t;
    if (how->literals)
        return text;
    for (size_t from = 0; cs_token_next(text, from, cs_vault_named, how->vault, &t); from = t.end) {
        if (copy->len == 0)
            cs_buf_putstr(copy, text);
        memset(copy->at + (t.name.at - text.at), '*', t.name.len);
    }
    return copy->len ? cs_buf_str(copy) : text;
}

int cs_mask(const struct cs_mask *how, struct cs_str text, struct cs_buf *out,
            struct cs_masked *masked, struct cs_err *err)
{
    CS_AUTO(cs_spans_done) struct cs_spans spans = {0};
    CS_AUTO(cs_buf_wipe) struct cs_buf copy = {0};
    uint64_t began = now_us();
    if (how->level != CS_PRIVACY_OFF)
        cs_scan(how->detector, how->level, how->form, starred(how, text, &copy), &spans);
    uint64_t scanned = now_us() - began;
    int result = cs_mask_spans(how, text, &spans, out, masked, err);
    if (masked)
        masked->us += scanned;
    return result;
}
