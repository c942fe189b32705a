/* The way in: checks the text, finds the code in it, reads it, links it. */
#include "compile/compile.h"

#include <stdarg.h>
#include <stdio.h>

#include "compile/parser.h"

#define PADDING 16 /* zeros behind the text, so that looking ahead needs no bounds */

/* How many times the text may be read again after attempts that failed. */
#define GIVE_UP_FACTOR 8

void cs_deeper(struct cs_parser *p)
{
    if (++p->depth > CS_COMPILE_DEPTH_MAX)
        cs_limit_error(p, p->tok.start, "the code is nested too deeply (more than %d levels)",
                       CS_COMPILE_DEPTH_MAX);
}

void cs_mark(struct cs_parser *p, struct cs_mark *m)
{
    *m = (struct cs_mark){
        .tok = p->tok,
        .prev_end = p->prev_end,
        .edits = p->edits.len,
        .refs = p->refs.len,
        .decls = p->decls.len,
        .scopes = p->scopes.len,
        .specs = p->specs.len,
        .reqs = p->reqs.len,
        .exports = p->exports.len,
        .aliases = p->aliases.len,
        .homes = p->homes.len,
        .merges = p->merges.len,
        .nodes = p->nodes.len,
        .lists = p->lists.len,
        .stack = p->stack.len,
        .binds = p->binds.len,
        .writes = p->writes.len,
        .takes = p->takes.len,
        .pushes = p->pushes.len,
        .seen = p->seen.len,
        .seen_end = p->seen_end,
        .node = p->node,
        .from = p->from,
        .own_this = p->own_this,
        .cands = p->cands.len,
        .props = p->props.len,
        .vals = p->vals.len,
        .endless = p->endless.len,
        .fn = p->fn,
        .branch = p->branch,
        .fn_branch = p->fn_branch,
        .returns = p->returns,
        .returned = p->returned,
        .dead = p->dead,
        .loops = p->loops,
        .scope = p->scope,
        .ctx = p->ctx,
        .depth = p->depth,
        .ns = p->ns,
        .ns_scope = p->ns_scope,
        .super_end = p->super_end,
        .ctor_scope = p->ctor_scope,
    };
}

void cs_forget(struct cs_parser *p, const struct cs_mark *m)
{
    p->edits.len = m->edits;
    p->refs.len = m->refs;
    p->decls.len = m->decls;
    p->scopes.len = m->scopes;
    p->specs.len = m->specs;
    p->reqs.len = m->reqs;
    p->exports.len = m->exports;
    p->aliases.len = m->aliases;
    p->homes.len = m->homes;
    p->merges.len = m->merges;
    p->nodes.len = m->nodes;
    p->lists.len = m->lists;
    p->stack.len = m->stack;
    p->binds.len = m->binds;
    p->writes.len = m->writes;
    p->takes.len = m->takes;
    p->pushes.len = m->pushes;
    p->node = 0;
    p->cands.len = m->cands;
    p->props.len = m->props;
    p->vals.len = m->vals;
    p->endless.len = m->endless;
    p->val = 0;
}

static void give_up(struct cs_parser *p, const struct cs_mark *m)
{
    p->given_up += p->tok.end - m->tok.start;
    p->tok = m->tok;
    p->prev_end = m->prev_end;
    p->scope = m->scope;
    p->ctx = m->ctx;
    p->depth = m->depth;
    p->ns = m->ns;
    p->ns_scope = m->ns_scope;
    p->super_end = m->super_end;
    p->ctor_scope = m->ctor_scope;
    p->fn = m->fn;
    p->branch = m->branch;
    p->fn_branch = m->fn_branch;
    p->returns = m->returns;
    p->returned = m->returned;
    p->dead = m->dead;
    p->loops = m->loops;
    p->seen.len = m->seen;
    p->seen_end = m->seen_end;
    cs_forget(p, m);
    p->node = m->node;
    p->from = m->from;
    p->own_this = m->own_this;
    if (p->given_up > (uint64_t)p->len * GIVE_UP_FACTOR + 65536)
        cs_limit_error(p, p->tok.start, "the code is too ambiguous to be read");
}

/* setjmp in a function of its own: nothing here lives in a register across it. */
bool cs_attempt(struct cs_parser *p, bool (*fn)(struct cs_parser *, uint32_t), uint32_t arg)
{
    struct cs_mark mark;
    jmp_buf here, *outer = p->trial;
    cs_mark(p, &mark);
    p->trial = &here;
    bool ok = setjmp(here) == 0 && fn(p, arg);
    p->trial = outer;
    if (!ok)
        give_up(p, &mark);
    return ok;
}

static void fill(struct cs_parser *p, uint32_t pos, const char *suggestion, const char *fmt,
                 va_list ap)
{
    struct cs_place at = {.line = 1, .column = 1};
    cs_place_move(&at, p->src, pos < p->total ? pos : p->total);
    *p->diag = (struct cs_diag){.line = at.line, .column = at.column};
    vsnprintf(p->diag->message, sizeof p->diag->message, fmt, ap);
    snprintf(p->diag->suggestion, sizeof p->diag->suggestion, "%s", suggestion);
}

void cs_syntax_error(struct cs_parser *p, uint32_t pos, const char *suggestion, const char *fmt,
                     ...)
{
    if (p->trial)
        longjmp(*p->trial, 1);
    va_list ap;
    va_start(ap, fmt);
    fill(p, pos, suggestion, fmt, ap);
    va_end(ap);
    longjmp(*p->fatal, 1);
}

void cs_limit_error(struct cs_parser *p, uint32_t pos, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fill(p, pos, "split the code into smaller functions", fmt, ap);
    va_end(ap);
    longjmp(*p->fatal, 1);
}

static void parser_done(struct cs_parser *p)
{
    free(p->names.at);
    free(p->name_table);
    free(p->edits.at);
    free(p->refs.at);
    free(p->decls.at);
    free(p->scopes.at);
    free(p->specs.at);
    free(p->reqs.at);
    free(p->exports.at);
    free(p->aliases.at);
    free(p->homes.at);
    free(p->merges.at);
    free(p->nodes.at);
    free(p->lists.at);
    free(p->stack.at);
    free(p->binds.at);
    free(p->writes.at);
    free(p->takes.at);
    free(p->pushes.at);
    free(p->links.at);
    free(p->seen.at);
    free(p->hidden.at);
    free(p->groups.at);
    free(p->vals.at);
    free(p->endless.at);
    free(p->props.at);
    free(p->cands.at);
    cs_buf_done(&p->text);
    cs_buf_done(&p->prefix);
    cs_arena_done(&p->scratch);
}

static void read_all(struct cs_parser *p, struct cs_span code, struct cs_compiled *out)
{
    cs_names_init(p);
    cs_values_init(p);
    cs_scope_open(p, true);
    p->ctx = CTX_ASYNC | (p->kind == CS_COMPILE_PROGRAM ? (uint32_t)CTX_RETURN : 0);
    cs_blank(p, 0, code.start);
    uint32_t start = code.start;
    if (p->src[start] == '#' && p->src[start + 1] == '!') {
        uint32_t end = start;
        while (end < p->len && p->src[end] != '\n' && p->src[end] != '\r')
            end++;
        cs_blank(p, start, end);
        cs_note_seen(p, start, end, K_NONE);
        start = end;
    }
    cs_nodes_init(p);
    cs_note_hidden(p, start);
    cs_lex_start(p, start);
    cs_program(p);
    cs_link(p, out);
}

/* One reading of the code in [code.start, code.end). */
static int compile_span(enum cs_compile_kind kind, struct cs_str source, struct cs_span code,
                        bool nested, struct cs_compiled *out, struct cs_diag *diag)
{
    struct cs_parser *p = CS_NEW(struct cs_parser);
    struct cs_compiled *made = CS_NEW(struct cs_compiled);
    char *copy = cs_calloc(code.end + PADDING, 1);
    if (code.end)
        memcpy(copy, source.at, code.end);
    jmp_buf fatal;
    p->kind = kind;
    p->nested = nested;
    p->src = copy;
    p->len = p->total = code.end;
    p->fatal = &fatal;
    p->diag = diag;
    p->asi_pos = UINT32_MAX;
    int result = 0;
    if (setjmp(fatal) == 0) {
        read_all(p, code, made);
        *out = *made;
    } else {
        cs_compiled_done(made);
        result = -1;
    }
    parser_done(p);
    free(made);
    free(copy);
    free(p);
    return result;
}

int cs_compile_nested(struct cs_str source, struct cs_compiled *out)
{
    struct cs_diag diag;
    return compile_span(CS_COMPILE_PROGRAM, source, (struct cs_span){0, (uint32_t)source.len}, true,
                        out, &diag);
}

/* The length of the valid UTF-8 sequence at s, or 0. */
static size_t utf8_sequence(const unsigned char *s, size_t left)
{
    if (s[0] < 0x80)
        return 1;
    size_t n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4 || n > left)
        return 0;
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    }
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90))
        return 0;
    return n;
}

static bool is_utf8(struct cs_str text, size_t *bad)
{
    const unsigned char *s = (const unsigned char *)text.at;
    for (size_t i = 0; i < text.len;) {
        uint64_t eight;
        if (i + 8 <= text.len && (memcpy(&eight, s + i, 8), (eight & 0x8080808080808080u) == 0)) {
            i += 8;
            continue;
        }
        size_t n = utf8_sequence(s + i, text.len - i);
        if (n == 0) {
            *bad = i;
            return false;
        }
        i += n;
    }
    return true;
}

static int refuse(struct cs_diag *diag, struct cs_str text, size_t at, const char *message,
                  const char *suggestion)
{
    struct cs_place place = {.line = 1, .column = 1};
    cs_place_move(&place, text.at, (uint32_t)at);
    *diag = (struct cs_diag){.line = place.line, .column = place.column};
    snprintf(diag->message, sizeof diag->message, "%s", message);
    snprintf(diag->suggestion, sizeof diag->suggestion, "%s", suggestion);
    return -1;
}

/*
 * A program may come in a fence. If the text can only be one, that is taken; otherwise the whole is
 * read first. A fence inside the code closes it too early: then the last line of ticks is the end.
 */
static int compile_program(struct cs_str source, struct cs_compiled *out, struct cs_diag *diag)
{
    struct cs_span all = {0, (uint32_t)source.len}, code, longer;
    bool sure = false;
    if (!cs_fence(source, false, &sure, &code))
        return compile_span(CS_COMPILE_PROGRAM, source, all, false, out, diag);
    if (!sure && compile_span(CS_COMPILE_PROGRAM, source, all, false, out, diag) == 0)
        return 0;
    struct cs_diag first;
    if (compile_span(CS_COMPILE_PROGRAM, source, code, false, out, &first) == 0)
        return 0;
    if (cs_fence(source, true, &sure, &longer) && longer.end > code.end &&
        compile_span(CS_COMPILE_PROGRAM, source, longer, false, out, diag) == 0)
        return 0;
    *diag = first;
    return -1;
}

int cs_compile(enum cs_compile_kind kind, struct cs_str source, struct cs_compiled *out,
               struct cs_diag *diag)
{
    size_t bad = 0;
    if (source.len > CS_COMPILE_SOURCE_MAX)
        return refuse(diag, source, 0, "the code is longer than 4 MB",
                      "put data into files and read them");
    if (cs_str_starts(source, "\xef\xbb\xbf")) {
        source.at += 3;
        source.len -= 3;
    }
    if (!is_utf8(source, &bad))
        return refuse(diag, source, bad, "the code is not valid UTF-8", "send the text as UTF-8");
    if (kind == CS_COMPILE_PROGRAM)
        return compile_program(source, out, diag);
    return compile_span(kind, source, (struct cs_span){0, (uint32_t)source.len}, false, out, diag);
}

void cs_compiled_done(struct cs_compiled *c)
{
    cs_buf_done(&c->js);
    cs_arena_done(&c->arena);
    *c = (struct cs_compiled){0};
}
