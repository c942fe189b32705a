/*
 * Arguments with tokens to arguments with values.
 *
 * Twice over the text. First everything is decided, by what the tokens say and nothing else; then
 * it is written. So what fails, and when, tells nothing about a value: not how long it is, not
 * whether it is equal to another.
 *
 * A value is escaped for the string in which it lands. If that string is JSON text itself (it
 * begins with { or [), a value between its inner quotes is escaped for those
 * too. Deeper than that nobody looks.
 */
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "privacy/find.h"
#include "privacy/place.h"
#include "privacy/vault.h"

#define BUDGET ((size_t)16 << 20) /* bytes, if each value were as long as its kind can be */

/* A token, and what becomes of it. */
struct put {
    size_t start, end;
    const struct cs_entry *entry;
    enum cs_token_shape shape;
    uint8_t escapes; /* how often */
};

struct puts {
    struct put *at;
    size_t count, cap;
};

static void puts_done(struct puts *p)
{
    free(p->at);
}

/* --- where a token stands --- */

static bool is_whole(struct cs_str text, const struct cs_token *t)
{
    return t->start > 0 && text.at[t->start - 1] == '"' && t->end < text.len &&
           text.at[t->end] == '"' && (t->start < 2 || text.at[t->start - 2] != '\\');
}

static bool is_key(struct cs_str text, size_t behind)
{
    const char *end = text.at + text.len, *p = cs_json_skip_space(text.at + behind, end);
    return p < end && *p == ':';
}

/* Alone in a string of JSON within JSON: \"[PHONE_1]\" */
static bool is_whole_inner(struct cs_str text, const struct cs_token *t)
{
    return t->start > 2 && memcmp(text.at + t->start - 2, "\\\"", 2) == 0 &&
           text.at[t->start - 3] != '\\' && t->end + 2 <= text.len &&
           memcmp(text.at + t->end, "\\\"", 2) == 0;
}

/* --- deciding --- */

struct job {
    const struct cs_unmask *how;
    struct cs_str text;
    bool is_json;
    struct cs_place place;
    struct puts puts;
    size_t budget;
    struct cs_unmasked *unmasked;
};

static void job_done(struct job *j)
{
    puts_done(&j->puts);
}

static int unknown(const struct job *j, const struct cs_token *t, struct cs_err *err)
{
    return cs_fail(err, CS_INVALID,
                   "%.*s is no token of this session: it was never issued here, and tokens live as "
                   "long as their session. Use a token as it stands in an answer of this session; "
                   "do not make one up or carry one over",
                   (int)(t->end - t->start > CS_TOKEN_MAX ? CS_TOKEN_MAX : t->end - t->start),
                   j->text.at + t->start);
}

/* How it is to be written where it stands. */
static void plan(struct job *j, const struct cs_token *t, const struct cs_entry *e, bool whole)
{
    struct put put = {.start = t->start, .end = t->end, .entry = e, .shape = t->shape};
    if (j->is_json) {
        cs_place_walk(&j->place, t->start);
        bool inner = j->place.is_nested && j->place.in_inner;
        size_t quote = whole ? 1 : inner && is_whole_inner(j->text, t) ? 2 : 0;
        put.escapes = inner ? 2 : 1;
        if (e->is_number && quote && !is_key(j->text, t->end + quote)) {
            put.start -= quote;
            put.end += quote;
            put.escapes = 0;
        }
    }
    struct puts *p = &j->puts;
    if (p->count == p->cap) {
        p->cap = p->cap ? p->cap * 2 : 16;
        p->at = cs_realloc(p->at, p->cap, sizeof *p->at);
    }
    p->at[p->count++] = put;
    j->unmasked->put[e->kind]++;
    j->unmasked->total++;
}

static int refuse(struct job *j, const struct cs_token *t, const struct cs_entry *e,
                  enum cs_may may, struct cs_err *err)
{
    struct cs_unmasked *u = j->unmasked;
    if (may == CS_MAY_NOT || u->refused.len == 0) {
        u->refused = cs_strn(j->text.at + t->start, t->end - t->start);
        u->kind = (enum cs_pii)e->kind;
        u->ask = may == CS_MAY_ASK;
    }
    /* Where a person is asked about one, another may still be refused. */
    return may == CS_MAY_ASK ? 0
                             : cs_fail(err, CS_DENIED, "%.*s may not be given to this tool",
                                       CS_STR_ARG(u->refused));
}

static int decide(struct job *j, const struct cs_token *t, struct cs_err *err)
{
    const struct cs_unmask *how = j->how;
    bool whole = j->is_json ? is_whole(j->text, t) : t->start == 0 && t->end == j->text.len;
    if (t->shape == CS_SHAPE_BARE && !whole)
        return 0;
    const struct cs_entry *e = cs_vault_of(how->vault, t);
    if (!e)
        return t->shape == CS_SHAPE_BARE || how->literals_only_known ? 0 : unknown(j, t, err);
    enum cs_pii kind = (enum cs_pii)e->kind;
    enum cs_may may = CS_MAY;
    if (how->may)
        may = how->may(how->ctx, kind, cs_str(how->vault->names[e->name].text),
                       how->vault->servers[e->server]);
    if (may != CS_MAY && how->literals_only_known)
        return 0;
    if (may != CS_MAY && refuse(j, t, e, may, err) < 0)
        return -1;
    if (cs_pii_longest(kind) > j->budget)
        return cs_fail(err, CS_LIMIT,
                       "there are too many tokens in it: their values may have more than %zu MiB",
                       BUDGET >> 20);
    j->budget -= cs_pii_longest(kind);
    plan(j, t, e, whole);
    return 0;
}

/* --- writing --- */

static void escape(struct cs_str s, struct cs_buf *out)
{
    static const char hex[] = "0123456789abcdef";
    for (size_t i = 0; i < s.len;) {
        size_t from = i;
        i = (size_t)(cs_json_skip_plain(s.at + i, s.at + s.len) - s.at);
        cs_buf_put(out, s.at + from, i - from);
        if (i == s.len)
            break;
        if ((unsigned char)s.at[i] >= 0x80) {
            int n = cs_utf8_len(s.at + i, s.len - i);
            cs_buf_put(out, n > 0 ? s.at + i : CS_UTF8_BAD, n > 0 ? (size_t)n : 3);
            i += (size_t)(n > 0 ? n : -n);
            continue;
        }
        char c = s.at[i++];
        cs_buf_putc(out, '\\');
        if (c == '"' || c == '\\') {
            cs_buf_putc(out, c);
        } else if (c == '\n' || c == '\r' || c == '\t') {
            cs_buf_putc(out, c == '\n' ? 'n' : c == '\r' ? 'r' : 't');
        } else {
            cs_buf_puts(out, "u00");
            cs_buf_putc(out, hex[(unsigned char)c >> 4]);
            cs_buf_putc(out, hex[(unsigned char)c & 15]);
        }
    }
}

static void percent(struct cs_str s, struct cs_buf *out)
{
    static const char hex[] = "0123456789ABCDEF";
    for (size_t i = 0; i < s.len; i++) {
        char c = s.at[i];
        if (cs_is_alnum(c) || (c && strchr("-_.~", c))) {
            cs_buf_putc(out, c);
        } else {
            cs_buf_putc(out, '%');
            cs_buf_putc(out, hex[(unsigned char)c >> 4]);
            cs_buf_putc(out, hex[(unsigned char)c & 15]);
        }
    }
}

static void put_value(const struct put *p, struct cs_buf *out)
{
    if (p->shape == CS_SHAPE_PERCENT) {
        percent(p->entry->raw, out);
        return;
    }
    if (p->escapes == 0) {
        cs_buf_putstr(out, p->entry->raw);
        return;
    }
    if (p->escapes == 1) {
        escape(p->entry->raw, out);
        return;
    }
    CS_AUTO(cs_buf_wipe) struct cs_buf once = {0};
    escape(p->entry->raw, &once);
    escape(cs_buf_str(&once), out);
}

int cs_unmask(const struct cs_unmask *how, struct cs_str json, struct cs_buf *out,
              struct cs_unmasked *unmasked, struct cs_err *err)
{
    struct cs_unmasked none = {0};
    CS_AUTO(job_done)
    struct job j = {.how = how,
                    .text = json,
                    .is_json = cs_like_json(json),
                    .place = {.text = json},
                    .budget = BUDGET,
                    .unmasked = unmasked ? unmasked : &none};
    struct cs_token t;
    for (size_t from = 0; cs_token_next(json, from, cs_vault_named, how->vault, &t); from = t.end)
        if (decide(&j, &t, err) < 0)
            return -1;
    if (j.unmasked->ask)
        return cs_fail(err, CS_DENIED, "%.*s may only be given to this tool if a person allows it",
                       CS_STR_ARG(j.unmasked->refused));
    if (j.puts.count == 0)
        return 0;
    size_t from = 0;
    for (size_t i = 0; i < j.puts.count; i++) {
        const struct put *p = &j.puts.at[i];
        cs_buf_put(out, json.at + from, p->start - from);
        put_value(p, out);
        if (how->revealed)
            cs_revealed_add(how->revealed, how->vault, p->entry);
        from = p->end;
    }
    cs_buf_put(out, json.at + from, json.len - from);
    return 1;
}
