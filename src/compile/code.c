/* Code out of text. If the text is a constant it is read like the program itself, once. */
#include "compile/facts.h"

#define READ_BYTES (128u << 10) /* of one constant that is read */
#define READ_MOST  32           /* of them */

/* Arguments as they arrive at the function: fn(...), fn.call(x, ...), fn.apply(x, [...]). */
struct arguments {
    uint32_t list, first; /* nodes of a call, from this one on */
    struct cs_folded all; /* or what an array holds */
};

static struct cs_folded argument(struct cs_parser *p, const struct arguments *a, uint32_t i,
                                 bool *there)
{
    if (a->all.sort == FOLD_LIST) {
        *there = i < a->all.len;
        return *there ? a->all.list[i] : (struct cs_folded){0};
    }
    uint32_t node = cs_list_at(p, a->list, a->first + i);
    *there = a->list && a->first + i < cs_list_len(p, a->list);
    return node & CS_SPREAD ? (struct cs_folded){0} : cs_fold_node(p, node);
}

const char *cs_code_maker(struct cs_parser *p, uint32_t link)
{
    const struct cs_link *l = &p->links.at[link];
    if (l->atom == K_constructor && l->up)
        return "constructor";
    if (l->up || l->root != ROOT_FREE)
        return NULL;
    switch (l->atom) {
    case K_eval:
        return "eval";
    case K_Function:
        return "Function";
    case K_AsyncFunction:
        return "AsyncFunction";
    case K_GeneratorFunction:
        return "GeneratorFunction";
    case K_AsyncGeneratorFunction:
        return "AsyncGeneratorFunction";
    default:
        return NULL;
    }
}

static const char *timer(const struct cs_parser *p, uint32_t link)
{
    const struct cs_link *l = &p->links.at[link];
    if (l->up || l->root != ROOT_FREE)
        return NULL;
    return l->atom == K_setTimeout                  ? "setTimeout(string)"
           : l->atom == K_setInterval               ? "setInterval(string)"
           : cs_part_is(p, l->atom, "setImmediate") ? "setImmediate(string)"
           : cs_part_is(p, l->atom, "execScript")   ? "execScript"
                                                    : NULL;
}

/* The facts of the code in a constant, at the place where it is used. */
static bool read_constant(struct cs_parser *p, struct cs_str text, uint32_t pos)
{
    struct cs_compiled c = {0};
    if (p->nested || text.len > READ_BYTES || p->constants_read == READ_MOST)
        return false;
    p->constants_read++;
    if (cs_compile_nested(text, &c) < 0)
        return false;
    for (uint32_t i = 0; i < c.fact_count; i++) {
        const struct cs_fact *f = &c.facts[i];
        char via[48];
        size_t n = f->via.len < sizeof via - 1 ? f->via.len : sizeof via - 1;
        memcpy(via, f->via.at, n);
        via[n] = 0;
        cs_fact_add(p, (int)f->kind, f->name, via, f->key, pos);
    }
    bool whole = !c.facts_cut;
    cs_compiled_done(&c);
    return whole;
}

/* new Function("a", "b", "return a + b"): the text of the function; empty: not constant. */
static struct cs_str function_text(struct cs_parser *p, const struct arguments *a)
{
    struct cs_buf *b = &p->text;
    bool there = true;
    cs_buf_clear(b);
    cs_buf_puts(b, "(async function*(");
    struct cs_str body = {0};
    for (uint32_t i = 0; there && b->len < READ_BYTES; i++) {
        struct cs_folded v = argument(p, a, i, &there);
        if (!there)
            break;
        if (v.sort != FOLD_TEXT || v.partial)
            return (struct cs_str){0};
        if (i > 0) {
            cs_buf_puts(b, i > 1 ? "," : "");
            cs_buf_putstr(b, body);
        }
        body = cs_strn(v.text, v.len);
    }
    cs_buf_puts(b, "\n){\n");
    cs_buf_putstr(b, body);
    cs_buf_puts(b, "\n})");
    return cs_arena_dup(&p->scratch, cs_buf_str(b));
}

static void note(struct cs_parser *p, const char *word, const struct arguments *a, bool function,
                 uint32_t pos)
{
    bool there, known = false;
    struct cs_folded v = argument(p, a, 0, &there);
    if (function) {
        struct cs_str text = function_text(p, a);
        known = text.len && read_constant(p, text, pos);
    } else if (v.sort == FOLD_TEXT && !v.partial) {
        known = read_constant(p, cs_strn(v.text, v.len), pos);
    }
    cs_fact_add(p, CS_FACT_CODE, cs_str(word), known ? "constant" : "", CS_STR(""), pos);
}

/* Through call, apply and the functions of Reflect to what is called in the end. */
static uint32_t called(struct cs_parser *p, uint32_t link, struct arguments *a)
{
    struct cs_link l = p->links.at[link];
    uint32_t last = cs_list_len(p, a->list);
    if (l.up && (cs_part_is(p, l.atom, "call") || cs_part_is(p, l.atom, "bind"))) {
        a->first = 1;
        return l.up;
    }
    if (l.up && cs_part_is(p, l.atom, "apply") &&
        !cs_part_is(p, p->links.at[l.up].atom, "Reflect")) {
        a->all = cs_fold_node(p, cs_list_at(p, a->list, 1) & ~CS_SPREAD);
        a->first = last;
        return l.up;
    }
    if (l.parts == 1 && l.root == ROOT_FREE && cs_part_is(p, p->links.at[l.up].atom, "Reflect") &&
        (cs_part_is(p, l.atom, "apply") || cs_part_is(p, l.atom, "construct"))) {
        struct cs_folded f = cs_fold_node(p, cs_list_at(p, a->list, 0) & ~CS_SPREAD);
        uint32_t at = cs_part_is(p, l.atom, "apply") ? 2 : 1;
        a->all = cs_fold_node(p, cs_list_at(p, a->list, at) & ~CS_SPREAD);
        a->first = last;
        return f.sort == FOLD_CHAIN ? f.link : link;
    }
    return link;
}

/* new this.constructor(...) is how a class makes another one of its own. */
static bool own_kind(struct cs_parser *p, uint32_t node, const struct arguments *a)
{
    const struct cs_node *n = &p->nodes.at[node], *callee = &p->nodes.at[n->a];
    bool there;
    if (n->kind != NODE_NEW || callee->kind != NODE_MEMBER ||
        p->nodes.at[callee->a].kind != NODE_THIS)
        return false;
    return argument(p, a, 0, &there).sort != FOLD_TEXT;
}

bool cs_code_call(struct cs_parser *p, uint32_t node, uint32_t link)
{
    struct arguments a = {.list = p->nodes.at[node].b};
    bool there;
    link = called(p, link, &a);
    const char *word = cs_code_maker(p, link);
    uint32_t pos = p->nodes.at[node].pos;
    if (word && word[0] == 'c' && own_kind(p, node, &a))
        return true;
    if (word) {
        note(p, word, &a, word[0] != 'e', pos);
        return true;
    }
    word = timer(p, link);
    if (!word || argument(p, &a, 0, &there).sort != FOLD_TEXT)
        return false;
    note(p, word, &a, false, pos);
    return true;
}

/* Can a program write a file of this name, or is it code by itself? */
static bool writable(struct cs_str s)
{
    if (cs_str_starts(s, "data:") || cs_str_starts(s, "blob:"))
        return true;
    bool relative = false;
    while (cs_str_starts(s, "./") || cs_str_starts(s, "../") || cs_str_starts(s, "/")) {
        size_t n = s.at[0] == '/' ? 1 : s.at[1] == '/' ? 2 : 3;
        relative |= n > 1;
        s = cs_strn(s.at + n, s.len - n);
    }
    if (cs_str_starts(s, "workspace/") || cs_str_starts(s, "tmp/"))
        return true;
    return relative && !cs_str_starts(s, "mcp-servers/") && !cs_str_starts(s, "skills/");
}

/* The length of "scheme:" in front, or 0. */
static size_t scheme(struct cs_str s)
{
    size_t n = 0;
    while (n < s.len && (((s.at[n] | 0x20) >= 'a' && (s.at[n] | 0x20) <= 'z') ||
                         (n > 0 && strchr("0123456789+.-", s.at[n]))))
        n++;
    return n > 0 && n < s.len && s.at[n] == ':' ? n + 1 : 0;
}

static char small(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
}

/* Nothing that nobody sees, and no capitals. */
static bool usual(struct cs_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if ((unsigned char)s.at[i] <= 0x20 || s.at[i] == 127 || s.at[i] != small(s.at[i]))
            return false;
    }
    return s.len > 0 && s.at[s.len - 1] != '/' && !cs_str_starts(s, "node:node:");
}

struct cs_str cs_specifier(struct cs_parser *p, struct cs_str name)
{
    bool path = name.len > 0 && (name.at[0] == '.' || name.at[0] == '/');
    if (path || name.len > CS_FACT_NAME_BYTES || usual(name))
        return name;
    char *to = cs_arena_alloc(&p->scratch, name.len + 1);
    size_t len = 0;
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.at[i];
        if (c > ' ' && c != 127)
            to[len++] = (char)c;
    }
    struct cs_str s = cs_strn(to, len);
    size_t lower = scheme(s);
    if (lower == 0 || (lower == 5 && small(to[0]) == 'n'))
        lower = len; /* no package and no module of Node has capitals */
    for (size_t i = 0; i < lower; i++)
        to[i] = small(to[i]);
    while (cs_str_starts(s, "node:node:"))
        s = cs_strn(s.at + 5, s.len - 5);
    if (cs_str_starts(s, "node:") && s.at[s.len - 1] == '/')
        s.len--;
    return s;
}

bool cs_import_facts(struct cs_parser *p, uint32_t node, const char *via, uint32_t pos)
{
    struct cs_folded v;
    bool known = true;
    for (uint32_t i = 0; i < CS_BINDS_FOLLOWED && cs_fold_each(p, node, i, &v); i++) {
        bool text = v.sort == FOLD_TEXT && !v.partial;
        struct cs_str name = text ? cs_specifier(p, cs_strn(v.text, v.len)) : CS_STR("*");
        /* What it was set to before, or may not be, is only looked at. */
        known &= text || i > 0;
        if (!text && i > 0)
            continue;
        cs_fact_add(p, CS_FACT_IMPORT, name, via, CS_STR(""), pos);
        if (text && via[0] == 'd' && writable(name))
            cs_fact_add(p, CS_FACT_CODE, CS_STR("import"), "", CS_STR(""), pos);
    }
    v = cs_fold_node(p, node);
    if (v.sort == FOLD_ANY && v.partial) {
        cs_fact_add(p, CS_FACT_IMPORT, CS_STR("*"), via, CS_STR(""), pos);
        known = false;
    }
    return known;
}

void cs_import_call(struct cs_parser *p, uint32_t node)
{
    uint32_t pos = p->nodes.at[node].pos;
    if (!cs_import_facts(p, p->nodes.at[node].a, "dynamic", pos))
        cs_fact_add(p, CS_FACT_CODE, CS_STR("import(*)"), "", CS_STR(""), pos);
}
