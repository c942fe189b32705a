/*
 * A card as a text, for a form of the protocol or a chat. It is read by a person, so nothing in it
 * can hide or turn what stands there: every foreign text is made visible, and lines of a program
 * have their number and a bar before them, so that none looks like one of ours. What matters comes
 * first; what does not fit is left out, and that is said.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"
#include "base/visible.h"
#include "run/approvals.h"
#include "run/card_lines.h"

#define LINE_BYTES 300
#define FINDINGS   8
#define FLOWS      8
#define TOOLS      12
#define FILES      12
#define VALUES     12
#define LINE_WIDE  400 /* bytes of a line of code, but where something was found */
#define GAP_BYTES  60
#define CUT        "\n[... cut]\n"

struct page {
    struct cs_json_val card;
    struct cs_arena arena;
    struct cs_buf *out;
    size_t bytes;
    bool brief;
};

static struct cs_str text_of(struct page *p, struct cs_json_val at, const char *key)
{
    return cs_json_str(cs_json_get(at, key), &p->arena);
}

/* Foreign, in one line. */
static void put(struct page *p, struct cs_str text)
{
    struct cs_str shown = cs_utf8_cut(text, LINE_BYTES);
    cs_visible(shown, false, p->out);
    if (shown.len < text.len)
        cs_buf_puts(p->out, " ...");
}

static void line(struct page *p, const char *name, struct cs_str text)
{
    if (!text.len)
        return;
    cs_buf_printf(p->out, "%s: ", name);
    put(p, text);
    cs_buf_putc(p->out, '\n');
}

/* "private, untrusted" */
static void put_list(struct page *p, struct cs_json_val list)
{
    struct cs_json_val one;
    unsigned n = 0;
    for (struct cs_json_iter it = {0}; n < 20 && cs_json_next(list, &it, NULL, &one); n++) {
        cs_buf_puts(p->out, n ? ", " : "");
        put(p, cs_json_str(one, &p->arena));
    }
}

/* Tools that it can reach: what a chat shows instead of the program. */
static void put_reach(struct page *p)
{
    struct cs_json_val list = cs_json_get(cs_json_get(p->card, "risk"), "tools"), one;
    unsigned n = 0;
    for (struct cs_json_iter it = {0}; cs_json_next(list, &it, NULL, &one); n++) {
        if (n >= TOOLS)
            continue;
        cs_buf_puts(p->out, n ? ", " : "Tools it can reach: ");
        put(p, text_of(p, one, "server"));
        cs_buf_putc(p->out, '/');
        put(p, text_of(p, one, "tool"));
    }
    if (n > TOOLS)
        cs_buf_printf(p->out, " and %u more", n - TOOLS);
    cs_buf_puts(p->out, n ? "\n" : "");
}

static void put_findings(struct page *p)
{
    struct cs_json_val list = cs_json_get(cs_json_get(p->card, "risk"), "findings"), one;
    unsigned n = 0;
    for (struct cs_json_iter it = {0}; cs_json_next(list, &it, NULL, &one); n++) {
        int64_t at = 0;
        if (n == 0)
            cs_buf_puts(p->out, "Findings:\n");
        if (n >= FINDINGS)
            continue;
        cs_buf_puts(p->out, "  ");
        put(p, text_of(p, one, "level"));
        if (cs_json_i64(cs_json_get(one, "line"), &at) && at > 0)
            cs_buf_printf(p->out, ", line %lld", (long long)at);
        cs_buf_puts(p->out, ": ");
        put(p, text_of(p, one, "reason"));
        cs_buf_putc(p->out, '\n');
    }
    if (n > FINDINGS)
        cs_buf_printf(p->out, "  and %u more\n", n - FINDINGS);
}

static void put_flow(struct page *p, struct cs_json_val flow)
{
    int64_t call = 0;
    struct cs_json_val data = cs_json_get(flow, "data");
    cs_buf_puts(p->out, "  ");
    if (cs_json_count(data)) {
        put_list(p, data);
        cs_buf_puts(p->out, " from ");
    }
    put(p, text_of(p, flow, "from"));
    if (cs_json_i64(cs_json_get(flow, "call"), &call) && call > 0)
        cs_buf_printf(p->out, " (call %lld)", (long long)call);
    if (cs_json_count(cs_json_get(flow, "labels"))) {
        cs_buf_puts(p->out, " [");
        put_list(p, cs_json_get(flow, "labels"));
        cs_buf_putc(p->out, ']');
    }
    cs_buf_puts(p->out, " -> ");
    put(p, text_of(p, flow, "to"));
    if (cs_json_count(cs_json_get(flow, "labels_to"))) {
        cs_buf_puts(p->out, " [");
        put_list(p, cs_json_get(flow, "labels_to"));
        cs_buf_putc(p->out, ']');
    }
    cs_buf_putc(p->out, '\n');
}

static void put_flows(struct page *p)
{
    struct cs_json_val list = cs_json_get(p->card, "flows"), one;
    unsigned n = 0;
    for (struct cs_json_iter it = {0}; cs_json_next(list, &it, NULL, &one); n++) {
        if (n == 0)
            cs_buf_puts(p->out, "Data that would go elsewhere:\n");
        if (n < FLOWS)
            put_flow(p, one);
    }
    if (n > FLOWS)
        cs_buf_printf(p->out, "  and %u more\n", n - FLOWS);
}

static void put_arguments(struct page *p, struct cs_json_val arguments, bool cut)
{
    struct cs_str text = cs_json_type(arguments) == CS_JSON_STRING
                             ? cs_json_str(arguments, &p->arena)
                             : cs_json_raw(arguments);
    struct cs_str shown = cs_utf8_cut(text, p->bytes / 3);
    cs_buf_puts(p->out, "Arguments:\n  | ");
    cs_visible(shown, false, p->out);
    cs_buf_putc(p->out, '\n');
    if (shown.len < text.len)
        cs_buf_printf(p->out, "  ... %zu bytes of them left out ...\n", text.len - shown.len);
    if (cut)
        cs_buf_puts(p->out, "  ... they are longer than the card ...\n");
}

/* What tokens in the arguments stand for, as far as that is told. */
static void put_values(struct page *p, struct cs_json_val call)
{
    struct cs_json_val list = cs_json_get(call, "values"), one;
    unsigned n = 0;
    for (struct cs_json_iter it = {0}; cs_json_next(list, &it, NULL, &one); n++) {
        if (n >= VALUES)
            continue;
        cs_buf_puts(p->out, n ? "  " : "Values that it would be given:\n  ");
        put(p, text_of(p, one, "token"));
        cs_buf_puts(p->out, " in '");
        put(p, text_of(p, one, "argument"));
        cs_buf_puts(p->out, "': ");
        put(p, text_of(p, one, "what"));
        cs_buf_puts(p->out, " from ");
        put(p, text_of(p, one, "from"));
        struct cs_str hint = text_of(p, one, "hint");
        cs_buf_puts(p->out, hint.len ? ", ends in " : "");
        put(p, hint);
        cs_buf_putc(p->out, '\n');
    }
    if (n > VALUES || cs_json_type(cs_json_get(call, "values_cut")) != CS_JSON_NONE)
        cs_buf_puts(p->out, "  and more\n");
}

static void put_call(struct page *p)
{
    struct cs_json_val call = cs_json_get(p->card, "call");
    struct cs_json_val arguments = cs_json_get(call, "arguments");
    if (cs_json_type(call) != CS_JSON_OBJECT)
        return;
    cs_buf_puts(p->out, "Tool: ");
    put(p, text_of(p, call, "server"));
    cs_buf_putc(p->out, '/');
    put(p, text_of(p, call, "tool"));
    if (cs_json_count(cs_json_get(call, "labels"))) {
        cs_buf_puts(p->out, " [");
        put_list(p, cs_json_get(call, "labels"));
        cs_buf_putc(p->out, ']');
    }
    cs_buf_putc(p->out, '\n');
    line(p, "It was sent at", text_of(p, call, "sent_at"));
    struct cs_str standing = text_of(p, call, "standing");
    if (!cs_str_is(standing, "known"))
        line(p, "Standing", standing);
    line(p, "It says of itself", text_of(p, call, "description"));
    if (!p->brief)
        put_arguments(p, arguments,
                      cs_json_type(cs_json_get(call, "arguments_cut_from_bytes")) != CS_JSON_NONE);
    if (!p->brief)
        put_values(p, call);
}

/* --- the program --- */

struct listing {
    struct cs_card_lines lines;
    bool *shown;
    size_t room;
    uint32_t missing; /* lines that something was found in, and that do not fit */
};

static void put_line(const struct cs_card_line *line, struct cs_buf *out)
{
    cs_buf_printf(out, "%c %5u | ", line->mark ? '>' : ' ', line->number);
    if (line->before)
        cs_buf_printf(out, "... %llu bytes ... ", (unsigned long long)line->before);
    cs_visible(line->text, false, out);
    if (line->after)
        cs_buf_printf(out, " ... %llu bytes ...", (unsigned long long)line->after);
    cs_buf_putc(out, '\n');
}

static bool take(struct listing *l, size_t i)
{
    CS_AUTO_BUF struct cs_buf text = {0};
    if (l->shown[i])
        return true;
    put_line(&l->lines.at[i], &text);
    if (text.len + GAP_BYTES > l->room)
        return false;
    l->room -= text.len + GAP_BYTES;
    l->shown[i] = true;
    return true;
}

/* Those that matter, the worst first, what is around them, and then the beginning. */
static void choose(struct listing *l)
{
    const struct cs_card_lines *lines = &l->lines;
    for (uint32_t mark = 1; mark <= lines->marks; mark++)
        for (size_t i = 0; i < lines->count; i++)
            if (lines->at[i].mark == mark && !take(l, i))
                l->missing++;
    for (size_t i = 0; i < lines->count; i++)
        if (lines->at[i].near && !take(l, i))
            return;
    for (size_t i = 0; i < lines->count && take(l, i); i++)
        l->room += l->room ? GAP_BYTES : 0; /* they follow each other */
}

static void put_gap(struct cs_buf *out, uint32_t lines)
{
    if (lines)
        cs_buf_printf(out, "  ... %u line%s left out ...\n", lines, lines == 1 ? "" : "s");
}

static void put_lines(const struct listing *l, struct cs_buf *out)
{
    uint32_t last = 0;
    for (size_t i = 0; i < l->lines.count; i++) {
        const struct cs_card_line *line = &l->lines.at[i];
        if (!l->shown[i])
            continue;
        put_gap(out, line->number > last + 1 ? line->number - last - 1 : 0);
        put_line(line, out);
        last = line->number;
    }
    put_gap(out, l->lines.total - last);
    if (l->missing)
        cs_buf_printf(out,
                      "  ... %u of them have findings and do not fit here: look at all of it "
                      "before you say yes ...\n",
                      l->missing);
}

/* --- what it imports --- */

static uint64_t amount(struct cs_json_val object, const char *key)
{
    int64_t n = 0;
    return cs_json_i64(cs_json_get(object, key), &n) && n > 0 ? (uint64_t)n : 0;
}

static void put_file_lines(struct page *p, struct cs_json_val list)
{
    struct cs_json_val one;
    unsigned n = 0;
    for (struct cs_json_iter it = {0}; cs_json_next(list, &it, NULL, &one); n++) {
        if (n >= FINDINGS)
            continue;
        cs_buf_printf(p->out, "> %5u | ", (unsigned)amount(one, "line"));
        cs_visible(text_of(p, one, "text"), false, p->out);
        if (cs_json_type(cs_json_get(one, "text")) == CS_JSON_NONE)
            cs_buf_puts(p->out, "(there was no room for this line)");
        cs_buf_puts(p->out, "  <- ");
        put(p, text_of(p, one, "file"));
        cs_buf_putc(p->out, '\n');
    }
    if (n > FINDINGS)
        cs_buf_printf(p->out, "  and %u more lines with findings\n", n - FINDINGS);
}

static void put_files(struct page *p)
{
    struct cs_json_val program = cs_json_get(p->card, "program"), one;
    struct cs_json_val list = cs_json_get(program, "files");
    unsigned n = 0, more = (unsigned)amount(program, "files_more");
    for (struct cs_json_iter it = {0}; cs_json_next(list, &it, NULL, &one); n++) {
        if (n == 0)
            cs_buf_puts(p->out, "Files it imports:\n");
        if (n >= FILES)
            continue;
        cs_buf_puts(p->out, "  ");
        put(p, text_of(p, one, "name"));
        cs_buf_printf(p->out, ", %llu bytes, SHA-256 ", (unsigned long long)amount(one, "bytes"));
        put(p, cs_utf8_cut(text_of(p, one, "hash"), 16));
        cs_buf_puts(p->out, "...\n");
    }
    if (n + more > FILES)
        cs_buf_printf(p->out, "  and %u more\n", n + more - (n < FILES ? n : FILES));
    if (!p->brief)
        put_file_lines(p, cs_json_get(program, "file_lines"));
}

static void put_code(struct page *p, size_t room)
{
    struct cs_json_val program = cs_json_get(p->card, "program");
    CS_AUTO_BUF struct cs_buf all = {0};
    struct listing l = {0};
    cs_card_lines_read(p->card, 0, &p->arena, &l.lines);
    l.shown = cs_arena_alloc(&p->arena, l.lines.count + 1);
    line(p, "Inputs", text_of(p, program, "inputs_preview"));
    cs_buf_printf(p->out, "Program (%u line%s, SHA-256 ", l.lines.total,
                  l.lines.total == 1 ? "" : "s");
    put(p, cs_utf8_cut(text_of(p, program, "code_hash"), 16));
    cs_buf_puts(p->out, "...):\n");
    memset(l.shown, true, l.lines.count);
    put_lines(&l, &all);
    if (p->out->len + all.len <= room) {
        cs_buf_putstr(p->out, cs_buf_str(&all));
        return;
    }
    cs_card_lines_read(p->card, LINE_WIDE, &p->arena, &l.lines);
    l.shown = cs_arena_alloc(&p->arena, l.lines.count + 1);
    memset(l.shown, false, l.lines.count);
    l.room = room > p->out->len + 3 * GAP_BYTES ? room - p->out->len - 3 * GAP_BYTES : 0;
    choose(&l);
    put_lines(&l, p->out);
}

static void compose(struct page *p, const struct cs_approval_row *row)
{
    cs_buf_printf(p->out, "%.*s risk: %s\n", CS_STR_ARG(row->risk),
                  cs_card_title(p->card, row->kind));
    line(p, "Why it is asked", text_of(p, p->card, "why"));
    line(p, "For", text_of(p, p->card, "principal"));
    line(p, "It is to", text_of(p, p->card, "intent"));
    put_flows(p);
    put_call(p);
    put_findings(p);
    put_files(p);
    if (p->brief)
        put_reach(p);
}

static void put_cut(struct cs_str text, size_t bytes, struct cs_buf *out)
{
    if (text.len <= bytes) {
        cs_buf_putstr(out, text);
        return;
    }
    size_t room = bytes > sizeof CUT ? bytes - sizeof CUT + 1 : 0;
    cs_buf_putstr(out, cs_utf8_cut(text, room));
    cs_buf_puts(out, CUT);
}

void cs_approval_text(const struct cs_approval_row *row, bool brief, size_t bytes,
                      struct cs_buf *out)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_BUF struct cs_buf head = {0}, code = {0};
    struct cs_json_limits limits = {.bytes = row->card.len + 1, .allow_duplicate = true};
    if (cs_json_parse(row->card, &limits, &doc, NULL) < 0) {
        cs_buf_puts(out, "The card of this question cannot be read; do not approve it.\n");
        return;
    }
    struct page p = {.card = cs_json_root(&doc), .out = &head, .bytes = bytes, .brief = brief};
    compose(&p, row);
    p.out = &code;
    /* However much there is to say, the code has its part. */
    size_t least = bytes / 3;
    if (!brief)
        put_code(&p, bytes > head.len + least ? bytes - head.len : least);
    cs_arena_done(&p.arena);
    put_cut(cs_buf_str(&head), bytes > code.len ? bytes - code.len : 0, out);
    put_cut(cs_buf_str(&code), bytes, out);
}

void cs_approval_url(const struct cs_approval_rules *rules, struct cs_str id, struct cs_buf *out)
{
    struct cs_str base = rules->public_url;
    while (base.len && base.at[base.len - 1] == '/')
        base.len--;
    cs_buf_printf(out, "%.*s/approvals/%.*s", CS_STR_ARG(base), CS_STR_ARG(id));
}
