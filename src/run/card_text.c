/*
 * A card as a text, for a form of the protocol or a chat. It is read by a person, so nothing in it
 * can hide or turn what stands there: every foreign text is made visible. What matters comes first;
 * what does not fit is left out, and that is said.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"
#include "base/visible.h"
#include "run/approvals.h"

#define LINE_BYTES 300
#define FINDINGS   8
#define FLOWS      8
#define CUT        "\n[... cut]\n"

struct page {
    struct cs_json_val card;
    struct cs_arena arena;
    struct cs_buf *out;
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
    cs_buf_puts(p->out, " [");
    put_list(p, cs_json_get(call, "labels"));
    cs_buf_puts(p->out, "]\n");
    struct cs_str standing = text_of(p, call, "standing");
    if (!cs_str_is(standing, "known"))
        line(p, "Standing", standing);
    line(p, "It says of itself", text_of(p, call, "description"));
    cs_buf_puts(p->out, "Arguments:\n");
    cs_visible(cs_json_type(arguments) == CS_JSON_STRING ? cs_json_str(arguments, &p->arena)
                                                         : cs_json_raw(arguments),
               true, p->out);
    cs_buf_putc(p->out, '\n');
    if (cs_json_type(cs_json_get(call, "arguments_cut_from_bytes")) != CS_JSON_NONE)
        cs_buf_puts(p->out, "(they are longer than that)\n");
}

static void put_code(struct page *p)
{
    struct cs_json_val program = cs_json_get(p->card, "program");
    line(p, "Inputs", text_of(p, program, "inputs_preview"));
    cs_buf_puts(p->out, "Program:\n");
    cs_visible(text_of(p, program, "code"), true, p->out);
    cs_buf_putc(p->out, '\n');
    if (cs_json_type(cs_json_get(program, "code_cut_from_bytes")) != CS_JSON_NONE)
        cs_buf_puts(p->out, "(it is longer than that)\n");
}

static void compose(struct page *p, const struct cs_approval_row *row)
{
    cs_buf_printf(p->out, "%.*s risk: %s\n", CS_STR_ARG(row->risk),
                  cs_str_is(row->kind, "call") ? "a program wants to call a tool"
                                               : "a program wants to run");
    line(p, "Why it is asked", text_of(p, p->card, "why"));
    line(p, "For", text_of(p, p->card, "principal"));
    line(p, "It is to", text_of(p, p->card, "intent"));
    put_flows(p);
    put_call(p);
    put_findings(p);
    put_code(p);
}

void cs_approval_text(const struct cs_approval_row *row, size_t bytes, struct cs_buf *out)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_BUF struct cs_buf all = {0};
    struct cs_json_limits limits = {.bytes = row->card.len + 1, .allow_duplicate = true};
    if (cs_json_parse(row->card, &limits, &doc, NULL) < 0) {
        cs_buf_puts(out, "The card of this question cannot be read; do not approve it.\n");
        return;
    }
    struct page p = {.card = cs_json_root(&doc), .out = &all};
    compose(&p, row);
    cs_arena_done(&p.arena);
    if (all.len <= bytes) {
        cs_buf_putstr(out, cs_buf_str(&all));
        return;
    }
    size_t room = bytes > sizeof CUT ? bytes - sizeof CUT + 1 : 0;
    cs_buf_putstr(out, cs_utf8_cut(cs_buf_str(&all), room));
    cs_buf_puts(out, CUT);
}
