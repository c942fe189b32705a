/*
 * Statements that only TypeScript knows. Those about types go; enums and namespaces become the
 * functions that TypeScript makes of them, on the same lines:
 *
 *     enum A { X, Y = 4 }         var A;(A=>{A[A["X"]=0]="X";A[A["Y"]=4]="Y"})(A||(A={}));
 *     namespace N { export        var N;($n0=>{
 *       const a = 1 }             ;$n0.a = 1 })(N||(N={}));
 */
#include "compile/parser.h"

#define DOTTED_MAX 64

const char *cs_home_of(struct cs_parser *p)
{
    return p->homes.at[p->ns - 1].text;
}

static struct cs_str text_of(const struct cs_parser *p, uint32_t atom)
{
    return p->names.at[atom].text;
}

/* A block that may merge with others of its name: link.c chooses its opening text. */
static void open_block(struct cs_parser *p, uint32_t block, uint32_t start, bool exported,
                       uint32_t name, const char *opening)
{
    bool function_level = p->scopes.at[p->scope].function == p->scope;
    bool keep = exported && !p->ns && p->kind == CS_COMPILE_STRIP;
    struct cs_merge *m = &p->merges.at[block];
    m->edit = p->edits.len;
    m->again = cs_textf(p, ";%s", opening);
    m->first = cs_textf(p, "%s%s %.*s;%s", keep ? "export " : "", function_level ? "var" : "let",
                        CS_STR_ARG(text_of(p, name)), opening);
    cs_insert_text(p, start, m->again);
}

/* Declares it here and opens the scope of its body; `home` is how its names are reached. */
static uint32_t new_block(struct cs_parser *p, enum cs_decl_kind kind, const struct cs_token *name,
                          bool exported, const char *home, bool function)
{
    uint32_t index = p->merges.len;
    cs_declare(p, name->atom, kind, index, name->start);
    p->decls.at[p->decls.len - 1].exported = exported;
    *CS_PUSH(&p->homes) = (struct cs_home){.text = home};
    *CS_PUSH(&p->merges) = (struct cs_merge){.edit = UINT32_MAX, .home = p->homes.len - 1};
    p->merges.at[index].body = cs_scope_open(p, function);
    return index;
}

/* `)(A||(A={}));`, or with the property of the namespace around it. */
static const char *closing(struct cs_parser *p, uint32_t name, const char *home)
{
    struct cs_str n = text_of(p, name);
    if (home)
        return cs_textf(p, ")(%.*s=%s.%.*s||(%s.%.*s={}));", CS_STR_ARG(n), home, CS_STR_ARG(n),
                        home, CS_STR_ARG(n));
    return cs_textf(p, ")(%.*s||(%.*s={}));", CS_STR_ARG(n), CS_STR_ARG(n));
}

/* What the initialiser of an enum member is, as far as its tokens show. */
enum value { VALUE_NUMBER, VALUE_STRING, VALUE_UNKNOWN };

static enum value member_value(struct cs_parser *p)
{
    uint32_t refs = p->refs.len, ctx = p->ctx, cands = p->cands.len;
    bool string = p->tok.kind == T_STR || p->tok.kind == T_TEMPLATE;
    bool number = p->tok.kind == T_NUM || p->tok.kind == T_MINUS || p->tok.kind == T_TILDE;
    p->ctx &= ~(uint32_t)(CTX_NO_IN | CTX_COLON);
    enum cs_ex ex = cs_assign(p);
    p->ctx = ctx;
    p->cands.len = cands;
    if (ex == EX_STRING)
        return VALUE_STRING;
    return number && !string && refs == p->refs.len ? VALUE_NUMBER : VALUE_UNKNOWN;
}

/* One member. `before` is the literal of the previous one, or empty. */
static struct cs_str enum_member(struct cs_parser *p, struct cs_str e, struct cs_str before,
                                 uint32_t home)
{
    struct cs_token name = p->tok;
    if (name.kind != T_NAME && name.kind != T_STR)
        cs_unexpected(p, "the name of a member");
    uint32_t atom = name.kind == T_STR ? cs_lex_value(p, name.start, name.end) : name.atom;
    const char *quote = name.kind == T_STR ? "" : "\"";
    struct cs_str word = cs_strn(p->src + name.start, name.end - name.start);
    struct cs_str literal = cs_str(cs_textf(p, "%s%.*s%s", quote, CS_STR_ARG(word), quote));
    cs_next(p);
    cs_declare(p, atom, DECL_MEMBER, home, name.start);
    uint32_t opening = p->edits.len;
    cs_insert_text(p, name.start, "");
    enum value value = VALUE_NUMBER;
    if (p->tok.kind == T_ASSIGN) {
        cs_insert_text(p, name.end, cs_textf(p, "%s]", quote));
        cs_next(p);
        value = member_value(p);
    } else if (before.len) {
        cs_insert_text(p, name.end,
                       cs_textf(p, "%s]=%.*s[%.*s]+1", quote, CS_STR_ARG(e), CS_STR_ARG(before)));
    } else {
        cs_insert_text(p, name.end, cs_textf(p, "%s]=0", quote));
    }
    const char *open, *end;
    switch (value) {
    case VALUE_STRING:
        open = cs_textf(p, "%.*s[%s", CS_STR_ARG(e), quote);
        end = "";
        break;
    case VALUE_NUMBER:
        open = cs_textf(p, "%.*s[%.*s[%s", CS_STR_ARG(e), CS_STR_ARG(e), quote);
        end = cs_textf(p, "]=%.*s", CS_STR_ARG(literal));
        break;
    case VALUE_UNKNOWN:
    default:
        /* Whether there is a way back from the value shows when it is there. */
        open = cs_textf(p, "(v=>typeof v==\"string\"||(%.*s[v]=%.*s))(%.*s[%s", CS_STR_ARG(e),
                        CS_STR_ARG(literal), CS_STR_ARG(e), quote);
        end = ")";
    }
    p->edits.at[opening].text = open;
    p->edits.at[opening].text_len = (uint32_t)strlen(open);
    cs_insert_text(p, p->prev_end, end);
    return literal;
}

void cs_enum(struct cs_parser *p, uint32_t start, bool exported)
{
    cs_next(p);
    struct cs_token name = p->tok;
    if (!cs_tok_ident(&name))
        cs_unexpected(p, "the name of the enum");
    cs_next(p);
    struct cs_str e = text_of(p, name.atom);
    uint32_t opened = p->tok.start, block = p->merges.len;
    const char *home = cs_textf(p, "%.*s", CS_STR_ARG(e));
    if (exported && !p->ns)
        cs_note_export(p, name.atom, name.atom, name.start);
    cs_blank(p, start, opened);
    cs_expect(p, T_LBRACE, "'{'");
    p->needs_names = true;
    new_block(p, DECL_ENUM, &name, exported && p->ns, home, false);
    p->scope = p->scopes.at[p->scope].parent;
    open_block(p, block, start, exported, name.atom, cs_textf(p, "(%s=>", home));
    p->scope = p->merges.at[block].body;
    struct cs_str before = {0};
    while (p->tok.kind != T_RBRACE) {
        before = enum_member(p, e, before, p->merges.at[block].home);
        if (p->tok.kind != T_COMMA)
            break;
        cs_put(p, p->tok.start, ";");
        cs_next(p);
    }
    cs_scope_close(p);
    cs_close(p, T_RBRACE, opened);
    cs_insert_text(p, p->prev_end, closing(p, name.atom, exported && p->ns ? cs_home_of(p) : NULL));
}

/* How many underscores stand behind a "$n" of the text at most; -1 if there is no "$n". */
static int longest_like_ours(const struct cs_parser *p)
{
    int longest = -1;
    const char *end = p->src + p->len;
    for (const char *at = p->src; (at = memmem(at, (size_t)(end - at), "$n", 2)); at += 2) {
        int n = (int)strspn(at + 2, "_");
        if (n > longest)
            longest = n;
        at += n;
    }
    return longest;
}

#define UNDERSCORES "________"

/* A name the text does not have: "$n" and a number, with underscores between if need be. */
static const char *new_home(struct cs_parser *p)
{
    if (!p->generated_prefix) {
        int n = longest_like_ours(p) + 1;
        if (n >= (int)sizeof UNDERSCORES)
            cs_limit_error(p, p->tok.start, "names like $n%s are reserved", UNDERSCORES);
        p->generated_prefix = cs_textf(p, "$n%.*s", n, UNDERSCORES);
    }
    return cs_textf(p, "%s%u", p->generated_prefix, p->generated++);
}

/*
 * A.B.C behind `namespace`: opens one function and one scope for each, and leaves the text that
 * closes them all in `close`. The name of the first is returned.
 */
static uint32_t namespace_names(struct cs_parser *p, uint32_t start, bool exported,
                                const char **close)
{
    uint32_t first = p->tok.atom, block = p->merges.len, outside = p->scope, count = 0;
    const char *outer = exported && p->ns ? cs_home_of(p) : NULL, *home = NULL, *opening = "";
    *close = "";
    for (;;) {
        struct cs_token name = p->tok;
        if (!cs_tok_ident(&name))
            cs_unexpected(p, "the name of the namespace");
        if (++count > DOTTED_MAX)
            cs_limit_error(p, name.start, "too many dots in the name of a namespace");
        const char *mine = new_home(p);
        struct cs_str text = text_of(p, name.atom);
        if (home)
            opening = cs_textf(p, "%s{let %.*s;(%s=>", opening, CS_STR_ARG(text), mine);
        else
            opening = cs_textf(p, "(%s=>", mine);
        *close = cs_textf(p, "%s%s%s", closing(p, name.atom, home ? home : outer), home ? "}" : "",
                          *close);
        new_block(p, DECL_NS, &name, home || outer, mine, true);
        home = mine;
        cs_next(p);
        if (!cs_eat(p, T_DOT))
            break;
    }
    uint32_t inside = p->scope;
    p->scope = outside;
    open_block(p, block, start, exported, first, opening);
    p->scope = inside;
    return first;
}

enum cs_st cs_namespace(struct cs_parser *p, uint32_t start, bool exported)
{
    struct cs_mark mark;
    cs_mark(p, &mark);
    cs_deeper(p);
    cs_next(p);
    const char *close;
    uint32_t pos = p->tok.start, scope = p->scope;
    uint32_t name = namespace_names(p, start, exported, &close);
    uint32_t opened = p->tok.start;
    if (exported && !p->ns)
        cs_note_export(p, name, name, pos);
    cs_blank(p, start, opened);
    cs_expect(p, T_LBRACE, "'{'");
    uint32_t ns = p->ns, ns_scope = p->ns_scope, ctx = p->ctx;
    bool outer_value = p->value_seen;
    p->ctx = 0;
    p->ns = p->homes.len;
    p->ns_scope = p->scope;
    p->value_seen = false;
    cs_statements(p, T_RBRACE);
    bool value = p->value_seen;
    p->scope = scope;
    p->ctx = ctx;
    p->ns = ns;
    p->ns_scope = ns_scope;
    p->value_seen = outer_value;
    cs_close(p, T_RBRACE, opened);
    p->depth--;
    if (!value) {
        cs_forget(p, &mark);
        cs_declare(p, name, DECL_TYPE, 0, pos);
        cs_drop(p, start, p->prev_end);
        return ST_ERASED;
    }
    cs_insert_text(p, p->prev_end, close);
    p->needs_names = true;
    return ST_OTHER;
}

static void declare_type(struct cs_parser *p, const char *what)
{
    if (!cs_tok_ident(&p->tok) && p->tok.atom != K_void)
        cs_unexpected(p, what);
    cs_declare(p, p->tok.atom, DECL_TYPE, 0, p->tok.start);
    cs_next(p);
}

void cs_type_alias(struct cs_parser *p, uint32_t start)
{
    cs_next(p);
    declare_type(p, "the name of the type");
    if (p->tok.kind == T_LT)
        cs_type_parameters(p);
    cs_expect(p, T_ASSIGN, "'='");
    cs_type(p);
    cs_semicolon(p);
    cs_drop(p, start, p->prev_end);
}

static void type_head(struct cs_parser *p)
{
    if (p->tok.kind == T_LT)
        cs_type_parameters(p);
    while (cs_is(p, K_extends) || cs_is(p, K_implements)) {
        cs_next(p);
        cs_type_list(p);
    }
    if (p->tok.kind != T_LBRACE)
        cs_unexpected(p, "'{'");
    cs_skip_balanced(p);
}

void cs_interface(struct cs_parser *p, uint32_t start)
{
    cs_next(p);
    declare_type(p, "the name of the interface");
    type_head(p);
    cs_drop(p, start, p->prev_end);
}

static void ambient_function(struct cs_parser *p)
{
    cs_next(p);
    cs_eat(p, T_STAR);
    declare_type(p, "the name of the function");
    if (p->tok.kind == T_LT)
        cs_type_parameters(p);
    if (p->tok.kind != T_LPAREN)
        cs_unexpected(p, "'('");
    cs_skip_balanced(p);
    if (cs_eat(p, T_COLON))
        cs_type_or_predicate(p);
    cs_semicolon(p);
}

static void ambient_variables(struct cs_parser *p)
{
    cs_next(p);
    do {
        if (p->tok.kind == T_LBRACE || p->tok.kind == T_LBRACK)
            cs_skip_balanced(p);
        else
            declare_type(p, "a name");
        if (cs_eat(p, T_COLON))
            cs_type(p);
        if (cs_eat(p, T_ASSIGN)) {
            struct cs_mark mark;
            cs_mark(p, &mark);
            cs_assign(p);
            cs_forget(p, &mark);
        }
    } while (cs_eat(p, T_COMMA));
    cs_semicolon(p);
}

static void ambient_block(struct cs_parser *p)
{
    bool global = cs_is(p, K_global);
    cs_next(p);
    if (p->tok.kind == T_STR) {
        cs_next(p);
    } else if (!global) {
        declare_type(p, "the name of the namespace");
        while (cs_eat(p, T_DOT))
            cs_next(p);
    }
    if (p->tok.kind == T_LBRACE)
        cs_skip_balanced(p);
    else
        cs_semicolon(p);
}

void cs_ambient(struct cs_parser *p, uint32_t start)
{
    if (cs_is(p, K_const)) {
        struct cs_token ahead = cs_peek(p);
        if (cs_tok_is(&ahead, K_enum))
            cs_next(p);
    } else if (cs_is(p, K_abstract) || cs_is(p, K_async)) {
        cs_next(p);
    }
    switch (p->tok.kind == T_NAME ? p->tok.atom : (uint32_t)K_NONE) {
    case K_function:
        ambient_function(p);
        break;
    case K_const:
    case K_let:
    case K_var:
        ambient_variables(p);
        break;
    case K_class:
        cs_next(p);
        declare_type(p, "the name of the class");
        type_head(p);
        break;
    case K_enum:
        cs_next(p);
        declare_type(p, "the name of the enum");
        type_head(p);
        break;
    case K_namespace:
    case K_module:
    case K_global:
        ambient_block(p);
        break;
    case K_type:
        cs_type_alias(p, start);
        return;
    case K_interface:
        cs_interface(p, start);
        return;
    default:
        cs_unexpected(p, "a declaration");
    }
    cs_drop(p, start, p->prev_end);
}

static bool declaration_word(const struct cs_token *t)
{
    if (t->kind != T_NAME || t->nl || t->esc)
        return false;
    switch (t->atom) {
    case K_function:
    case K_class:
    case K_abstract:
    case K_const:
    case K_let:
    case K_var:
    case K_enum:
    case K_namespace:
    case K_module:
    case K_global:
    case K_type:
    case K_interface:
    case K_async:
        return true;
    default:
        return false;
    }
}

/* namespace, module and global before a block; `module` and the others are names elsewhere. */
static bool block_statement(struct cs_parser *p, uint32_t start, bool exported, enum cs_st *st)
{
    struct cs_token ahead = cs_peek(p);
    *st = ST_ERASED;
    if (ahead.nl)
        return false;
    if (cs_is(p, K_global) ? ahead.kind == T_LBRACE : cs_is(p, K_module) && ahead.kind == T_STR) {
        cs_ambient(p, start);
        return true;
    }
    if (cs_is(p, K_global) || !cs_tok_ident(&ahead))
        return false;
    *st = cs_namespace(p, start, exported);
    return true;
}

bool cs_typescript_statement(struct cs_parser *p, uint32_t start, bool exported, enum cs_st *st)
{
    if (p->tok.kind != T_NAME || p->tok.esc)
        return false;
    struct cs_token ahead;
    switch (p->tok.atom) {
    case K_type:
    case K_interface:
        ahead = cs_peek(p);
        if (!cs_tok_ident(&ahead) || ahead.nl)
            return false;
        *st = ST_ERASED;
        if (cs_is(p, K_type))
            cs_type_alias(p, start);
        else
            cs_interface(p, start);
        return true;
    case K_declare:
        ahead = cs_peek(p);
        if (!declaration_word(&ahead))
            return false;
        cs_next(p);
        cs_ambient(p, start);
        *st = ST_ERASED;
        return true;
    case K_const:
        ahead = cs_peek(p);
        if (!cs_tok_is(&ahead, K_enum))
            return false;
        cs_next(p);
        /* fall through */
    case K_enum:
        *st = ST_OTHER;
        cs_enum(p, start, exported);
        return true;
    case K_namespace:
    case K_module:
    case K_global:
        return block_statement(p, start, exported, st);
    default:
        return false;
    }
}
