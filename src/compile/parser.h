/*
 * Private to compile/: the state that one compilation shares between its parts.
 *
 * One pass, no tree. The parser drives the lexer, writes down edits (what to blank, what to put in)
 * and names (scopes, declarations, references). When the text has been read to its end, link.c
 * resolves the names, adds the edits that follow from them, and edit.c applies all of it.
 *
 * Fatal errors leave through `fatal`; an attempt (cs_attempt) catches them with `trial` and rolls
 * back what was written down since. The bytes given up by failed attempts are counted and
 * bounded, which makes the whole pass linear whatever the input.
 */
#ifndef CS_COMPILE_PARSER_H
#define CS_COMPILE_PARSER_H

#include <setjmp.h>

#include "base/mem.h"
#include "compile/compile.h"
#include "compile/nodes.h"
#include "compile/values.h"

/* The first group is reserved: never a plain identifier. */
/* clang-format off */
#define CS_RESERVED(X)                                                                             \
    X(break) X(case) X(catch) X(class) X(const) X(continue) X(debugger) X(default) X(delete) X(do) \
    X(else) X(enum) X(export) X(extends) X(false) X(finally) X(for) X(function) X(if) X(import)   \
    X(in) X(instanceof) X(new) X(null) X(return) X(super) X(switch) X(this) X(throw) X(true)      \
    X(try) X(typeof) X(var) X(void) X(while) X(with)
#define CS_CONTEXTUAL(X) \
    X(abstract) X(accessor) X(any) X(arguments) X(as) X(assert) X(asserts) X(async) X(await) \
    X(bigint) X(boolean) X(constructor) X(declare) X(defer) X(from) X(get) X(global) \
    X(implements) X(infer) X(interface) X(intrinsic) X(is) X(keyof) X(let) X(meta) X(module) \
    X(namespace) X(never) X(number) X(object) X(of) X(out) X(override) X(private) X(protected) \
    X(public) X(readonly) X(require) X(satisfies) X(set) X(source) X(static) X(string) X(symbol) \
    X(target) X(type) X(undefined) X(unique) X(unknown) X(using) X(yield) X(tools) X(globalThis) \
    X(eval) X(Function) X(AsyncFunction) X(GeneratorFunction) X(AsyncGeneratorFunction) \
    X(setTimeout) X(setInterval) X(process) X(exports) X(Deno) X(Bun) X(fetch) X(WebAssembly) \
    X(SharedArrayBuffer) X(XMLHttpRequest) X(Worker) X(ShadowRealm) X(window) X(document) \
    X(__dirname) X(__filename) X(__proto__) X($ns) X($export) X($go) X($import) X($meta) \
    X($default) X(def) X(elif) X(None) X(lambda) X(print) X(pass) X(push)
/* clang-format on */

enum cs_atom {
    K_NONE,
#define X(word) K_##word,
    CS_RESERVED(X) K_RESERVED_END,
    K_BEFORE_CONTEXTUAL = K_RESERVED_END,
    CS_CONTEXTUAL(X)
#undef X
        K_END
};

enum cs_tok {
    T_EOF,
    T_NAME,
    T_PRIVATE, /* #x */
    T_NUM,
    T_STR,
    T_TEMPLATE, /* only the opening backtick: the parser reads on */
    T_LBRACE,
    T_RBRACE,
    T_LPAREN,
    T_RPAREN,
    T_LBRACK,
    T_RBRACK,
    T_SEMI,
    T_COMMA,
    T_DOT,
    T_ELLIPSIS,
    T_QDOT,
    T_QUESTION,
    T_COLON,
    T_ARROW,
    T_ASSIGN,
    T_OPASSIGN,
    T_LT, /* always one character: the expression parser joins << <= and the like */
    T_GT,
    T_SLASH,
    T_SLASHEQ,
    T_PLUS,
    T_MINUS,
    T_STAR,
    T_PIPE,
    T_AMP,
    T_INCDEC,
    T_BANG,
    T_TILDE,
    T_BINOP, /* every other binary operator */
    T_AT,
};

struct cs_token {
    uint8_t kind;
    bool nl;  /* a line ends between the previous token and this one */
    bool esc; /* a name with \u escapes: never a keyword */
    uint32_t start, end;
    uint32_t atom; /* of T_NAME and T_PRIVATE */
};

struct cs_name {
    struct cs_str text;
    uint32_t hash;
};

struct cs_edit {
    uint32_t start, end;
    enum cs_edit_kind {
        EDIT_BLANK,   /* spaces for [start, end) */
        EDIT_PUT,     /* text[0] instead of the character at start */
        EDIT_INSERT,  /* text before start */
        EDIT_REPLACE, /* text instead of [start, end), which holds no line end */
    } kind;
    const char *text;
    uint32_t text_len;
    uint32_t seq;
};

enum cs_decl_kind {
    DECL_VALUE, /* any binding that shadows and needs no rewriting */
    DECL_FUNC,
    DECL_CLASS,
    DECL_ENUM,   /* aux: index in `merges` */
    DECL_NS,     /* aux: index in `merges` */
    DECL_IMPORT, /* aux: index in `specs` */
    DECL_ALIAS,  /* import A = B.C; aux: index in `aliases` */
    DECL_MEMBER, /* of an enum: aux = index in `homes` */
    DECL_NSVAR,  /* exported variable of a namespace: aux = index in `homes` */
    DECL_TYPE,   /* an erased name: shadows nothing */
};

struct cs_decl {
    uint32_t atom, scope, aux, pos;
    uint32_t uses;
    uint32_t prev; /* while resolving: what it shadows */
    uint32_t once; /* when all was read: the only value it gets, or 0 */
    enum cs_decl_kind kind;
    bool exported;  /* from its namespace */
    bool inherited; /* from an earlier block of the same name */
};

enum cs_ref_flag {
    REF_CALL = 1,
    REF_WRITE = 2,
    REF_SHORTHAND = 4,
    REF_ASI = 8,   /* starts a statement after one that a line end closed */
    REF_DEAD = 16, /* became a declaration */
    REF_ALIAS = 32,
    REF_EXPORT = 64,
};

struct cs_ref {
    uint32_t start, end, atom, scope, flags;
    uint32_t decl; /* after resolving: index + 1, or 0 for a free name; DEAD: what it became */
};

struct cs_scope {
    uint32_t parent;
    uint32_t function;     /* the scope that var belongs to */
    uint32_t first, count; /* of its declarations, after grouping */
};

/* An import request, one per specifier. */
struct cs_req {
    uint32_t atom, pos;
    bool dynamic, side_effect, used;
    uint32_t index;
};

struct cs_spec {
    uint32_t req, name; /* name K_NONE: the namespace */
    uint32_t pos;
};

struct cs_export {
    int kind;
    uint32_t name, local, req, pos;
    uint32_t ref; /* export { x } and export default x: index + 1 in refs, else 0 */
    struct cs_token token;
    uint32_t whole_start, whole_end, edit; /* export default x: goes if x is only a type */
};

enum { EXPORT_LOCAL, EXPORT_FROM, EXPORT_STAR, EXPORT_NAMESPACE };

/* import A = B.C: blanked when nobody uses A as a value. */
struct cs_alias {
    uint32_t start, end, ref, decl, edit;
    bool exported;
};

/* Whose property a name is: text to put before ".name". */
struct cs_home {
    const char *text;
};

/* An enum or namespace block; the first of its name in its scope declares the variable. */
struct cs_merge {
    uint32_t edit; /* its opening text */
    const char *first, *again;
    uint32_t home, body; /* index in `homes`; scope of its body */
    uint32_t previous;   /* while linking: the block before, index + 1 */
    uint32_t group;      /* while linking: the first of the blocks it merges with */
};

/* A comment, a string in a type, or a name that is written with escapes, as the lexer saw it. */
struct cs_seen {
    uint32_t start, end;
    uint32_t atom; /* of a name; 0: a comment */
};

/* A character that is not seen. */
struct cs_hidden {
    uint32_t pos, code;
    uint8_t inside; /* enum cs_inside */
};
enum cs_inside { INSIDE_CODE, INSIDE_STRING, INSIDE_COMMENT };

/* What stands in parentheses, until it is known to be parameters or not. */
struct cs_group {
    uint32_t opened, closed; /* offsets of ( and ) */
    uint32_t cands;          /* where its candidates start */
    uint32_t scope;
    bool async;
    bool arrow_only;     /* something only parameters have */
    bool group_only;     /* empty, or with a trailing comma: no expression */
    uint32_t generic;    /* offset + 1 of the '<' before it */
    int ex;              /* enum cs_ex of its only element */
    uint32_t items, val; /* the first of its elements in vals; the value of the last */
    uint32_t list, only; /* nodes of its elements: a list, or if there is one that */
};

#define CS_VEC(type)       \
    struct {               \
        type *at;          \
        uint32_t len, cap; \
    }

#define CS_PUSH(v)                                                                       \
    ((v)->len == (v)->cap                                                                \
         ? (void)((v)->at = cs_realloc((v)->at, (v)->cap = (v)->cap ? (v)->cap * 2 : 64, \
                                       sizeof *(v)->at))                                 \
         : (void)0,                                                                      \
     (v)->at + (v)->len++)

enum cs_ctx {
    CTX_ASYNC = 1,   /* await is an operator */
    CTX_GEN = 2,     /* yield is an operator */
    CTX_NO_IN = 4,   /* head of a for */
    CTX_COLON = 8,   /* a ':' after ')' may belong to ?: or case */
    CTX_RETURN = 16, /* return is allowed */
    CTX_CLOSED = 64, /* text that closes the expression will be put behind it */
};

/* What an expression turned out to be, as far as anybody asks. */
enum cs_ex {
    EX_OTHER,
    EX_REF,     /* one name, perhaps in parentheses; p->last_ref is its index */
    EX_PATTERN, /* an array or object literal */
    EX_ASSIGN,
    EX_FUNC,   /* function expression, perhaps in parentheses */
    EX_ARROW,  /* ends the assignment expression it stands in */
    EX_STRING, /* one string literal; p->last_str is its atom */
};

/* What a statement turned out to be, as far as the value of a program asks. */
enum cs_st {
    ST_ERASED,   /* nothing is left of it */
    ST_MODULE,   /* import, export of names */
    ST_FUNCTION, /* a function declaration */
    ST_EXPR,     /* an expression: p->expr_start, expr_end, expr_kind */
    ST_OTHER,
};

struct cs_mark {
    struct cs_token tok;
    uint32_t prev_end, edits, refs, decls, scopes, specs, reqs, exports, aliases, homes, merges,
        nodes, lists, stack, binds, writes, takes, pushes, cands, props, vals, endless;
    uint32_t seen, seen_end, node, from, own_this, fn, branch, fn_branch, returns, returned, dead;
    struct cs_loop *loops;
    uint32_t scope, ctx, depth, ns, ns_scope, super_end, ctor_scope;
};

struct cs_parser {
    enum cs_compile_kind kind;
    const char *src; /* a copy with zeros behind it */
    uint32_t len;    /* of the text to read: lexing stops here */
    uint32_t total;  /* of the whole text */

    struct cs_token tok;
    uint32_t prev_end;
    uint32_t ctx, depth, scope;
    uint32_t ns;         /* the namespace whose body we are in: index + 1 in homes */
    uint32_t ns_scope;   /* and the scope of that body */
    uint32_t super_end;  /* behind the first super(...) statement of a constructor body */
    uint32_t ctor_scope; /* the body that such a statement must stand in */
    uint32_t last_ref, last_str;
    uint32_t val;          /* of the last expression: index in vals, or 0 */
    uint32_t fn;           /* the function that is being read: index in vals, or 0 */
    struct cs_loop *loops; /* the innermost one */
    uint32_t generic;      /* offset + 1 of the '<' of type parameters that end before this '(' */
    uint32_t moved;        /* the last such whose '(' has moved up */
    uint64_t given_up;     /* bytes read again after failed attempts */
    uint32_t generated;    /* namespaces so far */
    const char *generated_prefix;

    jmp_buf *trial, *fatal;
    struct cs_diag *diag;
    uint32_t error_pos;

    struct cs_arena scratch;
    CS_VEC(struct cs_name) names;
    uint32_t *name_table, name_mask;

    CS_VEC(struct cs_edit) edits;
    CS_VEC(struct cs_ref) refs;
    CS_VEC(struct cs_decl) decls;
    CS_VEC(struct cs_scope) scopes;
    CS_VEC(struct cs_spec) specs;
    CS_VEC(struct cs_req) reqs;
    CS_VEC(struct cs_export) exports;
    CS_VEC(struct cs_alias) aliases;
    CS_VEC(struct cs_home) homes;
    CS_VEC(struct cs_merge) merges;
    CS_VEC(struct cs_node) nodes; /* nodes.h: expressions; 0 stands for nothing */
    CS_VEC(uint32_t) lists;       /* each its length, then its nodes */
    CS_VEC(uint32_t) stack;       /* nodes of the lists being read */
    CS_VEC(struct cs_bound) binds;
    CS_VEC(struct cs_write) writes;
    CS_VEC(struct cs_take) takes;
    CS_VEC(struct cs_push) pushes;
    CS_VEC(struct cs_link) links;
    CS_VEC(struct cs_seen) seen;
    CS_VEC(struct cs_hidden) hidden;
    uint32_t node;            /* node of the expression that was read last */
    uint32_t list;            /* nodes of the arguments that were read last */
    uint32_t own_this;        /* functions and classes around that have a `this` of their own */
    uint32_t from;            /* node that the pattern being read takes apart */
    uint32_t assigned;        /* node that was assigned to last */
    uint32_t branch;          /* number of the body that may run or not, and is being read */
    uint32_t branches;        /* so far */
    uint32_t fn_branch;       /* that of the function being read */
    uint32_t dead;            /* statements around that never run */
    uint32_t returns;         /* of the function being read, */
    uint32_t returned;        /* and the node of the last */
    uint32_t func_params;     /* list of the function read last, for its node */
    uint32_t func_body;       /* what it returns, if that is one expression */
    bool lenient;             /* escapes that mean nothing are no error */
    bool letters_escaped;     /* the literal read last writes letters as escapes */
    uint32_t seen_end;        /* up to here `seen` is complete */
    struct cs_folder *folder; /* values of nodes, once names are resolved */
    struct cs_listing *listing;
    struct cs_counters *counters; /* cond.c */
    bool nested;                  /* this is code in a constant of other code */
    uint32_t constants_read;      /* of code in it */
    CS_VEC(struct cs_group) groups;
    CS_VEC(struct cs_val) vals;
    CS_VEC(struct cs_endless) endless;
    CS_VEC(uint32_t) props; /* parameter properties of the constructors being read */
    CS_VEC(uint32_t) cands; /* references that are binding targets if a pattern is */

    struct cs_buf text, prefix;
    uint32_t inherited;    /* names that merged blocks see of each other */
    bool value_seen;       /* something with a value stands in the namespace being read */
    bool needs_names;      /* STRIP: some reference has to be rewritten */
    bool default_function; /* export default function(){}: named afterwards */

    uint32_t listed;     /* where the current statement of a list starts */
    uint32_t asi_pos;    /* where a statement starts whose predecessor a line end closed */
    bool closed_by_line; /* the last statement was closed so */
    uint32_t expr_start, expr_end;
    enum cs_ex expr_kind;
    uint32_t last_function;

    /* PROGRAM: where its value comes from. */
    bool has_value, value_is_function;
    uint32_t value_start, value_end;
    uint32_t lone_function;
};

/* compile.c: errors, attempts, depth. The position is a byte offset. */
void cs_syntax_error(struct cs_parser *p, uint32_t pos, const char *suggestion, const char *fmt,
                     ...) __attribute__((noreturn, format(printf, 4, 5)));
/* Like it, but also inside an attempt: the text is refused whatever it means. */
void cs_limit_error(struct cs_parser *p, uint32_t pos, const char *fmt, ...)
    __attribute__((noreturn, format(printf, 3, 4)));
/* "expected X but found Y" at the current token, with a suggestion for usual mistakes. */
void cs_unexpected(struct cs_parser *p, const char *expected) __attribute__((noreturn));
void cs_unclosed(struct cs_parser *p, const char *expected, uint32_t opened)
    __attribute__((noreturn));
/* Runs `fn`; if it returns false or meets an error, everything is as before. */
bool cs_attempt(struct cs_parser *p, bool (*fn)(struct cs_parser *, uint32_t), uint32_t arg);
void cs_mark(struct cs_parser *p, struct cs_mark *m);
/* Forgets what was written down since; the position in the text stays. */
void cs_forget(struct cs_parser *p, const struct cs_mark *m);
void cs_deeper(struct cs_parser *p);
/* Code in a constant of other code: for its facts. Constants in it are not read in turn. */
int cs_compile_nested(struct cs_str source, struct cs_compiled *out);

/* lex.c */
void cs_lex_start(struct cs_parser *p, uint32_t pos);
void cs_next(struct cs_parser *p);
/* The token after the current one, which stays. */
struct cs_token cs_peek(struct cs_parser *p);
/* The current token, a slash, is the start of a regular expression: makes it one T_NUM. */
void cs_lex_regex(struct cs_parser *p);
/* From `pos`, inside a template, to its end (true) or past "${" (false). */
bool cs_lex_template(struct cs_parser *p, uint32_t pos, uint32_t *end);
/* Joins the characters of an operator that starts with the current T_LT or T_GT. */
void cs_lex_join(struct cs_parser *p);
/* The value of a string literal (or a piece of a template) as an atom; its marks are one byte on
 * each side. */
uint32_t cs_lex_value(struct cs_parser *p, uint32_t start, uint32_t end);
uint32_t cs_intern(struct cs_parser *p, struct cs_str text);
void cs_names_init(struct cs_parser *p);

static inline bool cs_is(const struct cs_parser *p, uint32_t atom)
{
    return p->tok.kind == T_NAME && p->tok.atom == atom && !p->tok.esc;
}

static inline bool cs_tok_is(const struct cs_token *t, uint32_t atom)
{
    return t->kind == T_NAME && t->atom == atom && !t->esc;
}

/* A name that may be an identifier. */
static inline bool cs_tok_ident(const struct cs_token *t)
{
    return t->kind == T_NAME && t->atom > K_RESERVED_END;
}

static inline bool cs_eat(struct cs_parser *p, enum cs_tok kind)
{
    if (p->tok.kind != kind)
        return false;
    cs_next(p);
    return true;
}

void cs_expect(struct cs_parser *p, enum cs_tok kind, const char *what);
void cs_close(struct cs_parser *p, enum cs_tok kind, uint32_t opened);
/* The end of a statement: ';', '}', or a line end. True if only a line end closed it. */
bool cs_semicolon(struct cs_parser *p);

/* edit.c */
void cs_blank(struct cs_parser *p, uint32_t start, uint32_t end);
void cs_put(struct cs_parser *p, uint32_t pos, const char *one);
void cs_insert_text(struct cs_parser *p, uint32_t pos, const char *text);
void cs_replace(struct cs_parser *p, uint32_t start, uint32_t end, const char *text);
/* An erased statement: blank, with a ';' that keeps its neighbours apart. */
void cs_drop(struct cs_parser *p, uint32_t start, uint32_t end);
bool cs_has_newline(const struct cs_parser *p, uint32_t start, uint32_t end);
char *cs_textf(struct cs_parser *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void cs_edits_apply(struct cs_parser *p, const char *prefix, const char *suffix,
                    struct cs_compiled *out);

struct cs_place {
    uint32_t offset, line, column;
    bool cr;
};
void cs_place_move(struct cs_place *at, const char *text, uint32_t to);

/* scope.c */
uint32_t cs_scope_open(struct cs_parser *p, bool function);
void cs_scope_close(struct cs_parser *p);
void cs_declare(struct cs_parser *p, uint32_t atom, enum cs_decl_kind kind, uint32_t aux,
                uint32_t pos);
void cs_declare_var(struct cs_parser *p, uint32_t atom, uint32_t pos);
uint32_t cs_refer(struct cs_parser *p, const struct cs_token *name, uint32_t flags);
/* The candidates since `mark` become declarations, or targets of an assignment. */
void cs_cands_declare(struct cs_parser *p, uint32_t mark, uint32_t scope);
void cs_cands_write(struct cs_parser *p, uint32_t mark);
void cs_scope_resolve(struct cs_parser *p);

/* types.c: each skips, and edits nothing. */
void cs_type(struct cs_parser *p);
void cs_type_or_predicate(struct cs_parser *p);
void cs_type_arguments(struct cs_parser *p);
void cs_type_parameters(struct cs_parser *p);
void cs_type_list(struct cs_parser *p);
/* The current token opens a bracket: to behind the one that closes it. */
void cs_skip_balanced(struct cs_parser *p);
/* ": T" is blanked if it is there. */
bool cs_type_annotation(struct cs_parser *p);
void cs_blank_type_arguments(struct cs_parser *p);
void cs_blank_type_parameters(struct cs_parser *p);
/* Type arguments in an expression: true if there were, and they are blanked. */
bool cs_try_type_arguments(struct cs_parser *p);

/* expr.c, primary.c, arrow.c. p->val is the value of what was read. */
/* values.c: p->val, or the string that was read. */
uint32_t cs_value(struct cs_parser *p, enum cs_ex ex);
enum cs_ex cs_expr(struct cs_parser *p);
enum cs_ex cs_assign(struct cs_parser *p);
enum cs_ex cs_unary(struct cs_parser *p);
/* An operand of return, throw or yield, which no line end may part from its keyword. */
void cs_restricted(struct cs_parser *p, enum cs_ex (*operand)(struct cs_parser *));
/* The current '<' opens a type that goes over a line end. */
bool cs_prefix_breaks(struct cs_parser *p);
/* The operand of extends. */
void cs_lhs(struct cs_parser *p);
enum cs_ex cs_primary(struct cs_parser *p);
enum cs_ex cs_template(struct cs_parser *p);
/* Behind '(' to behind ')'; the first of them in vals. p->list is the list of their nodes. */
uint32_t cs_arguments(struct cs_parser *p);
enum cs_ex cs_paren_or_arrow(struct cs_parser *p, bool async, uint32_t generic);
enum cs_ex cs_arrow_one(struct cs_parser *p, const struct cs_token *param, bool async);
/* After `async`, with an attempt: type parameters and then '('. */
bool cs_async_parameters(struct cs_parser *p, uint32_t start);
enum cs_ex cs_function_expr(struct cs_parser *p, bool async);
enum cs_ex cs_array_literal(struct cs_parser *p);
enum cs_ex cs_object_literal(struct cs_parser *p);
/* A property name; K_NONE if it is computed. */
uint32_t cs_property_name(struct cs_parser *p);

/* decl.c */
enum cs_bind { BIND_LEXICAL, BIND_VAR, BIND_PARAM, BIND_NSVAR };
#define BIND_EXPORTED 0x100u
void cs_binding(struct cs_parser *p, uint32_t how);
enum cs_fn { FN_ASYNC = 1, FN_GEN = 2, FN_CTOR = 4, FN_SIGNATURE_OK = 8, FN_DERIVED = 16 };
/* From the type parameters to the end of the body; false if there was no body. `class_open`: for a
 * constructor, the offset behind the '{' of its class. */
bool cs_function_rest(struct cs_parser *p, uint32_t fn, uint32_t class_open);
void cs_function_body(struct cs_parser *p, uint32_t fn);
void cs_var_statement(struct cs_parser *p, uint32_t start, uint32_t exported);
void cs_var_list(struct cs_parser *p, uint32_t how);
enum { EXPORT_NO, EXPORT_YES, EXPORT_AS_DEFAULT };
enum cs_st cs_function_decl(struct cs_parser *p, uint32_t start, bool async, int exported);
void cs_note_export(struct cs_parser *p, uint32_t name, uint32_t local, uint32_t pos);

/* class.c */
uint32_t cs_class(struct cs_parser *p, bool need_name, bool declare_name);

/* erase.c */
void cs_enum(struct cs_parser *p, uint32_t start, bool exported);
enum cs_st cs_namespace(struct cs_parser *p, uint32_t start, bool exported);
void cs_ambient(struct cs_parser *p, uint32_t start);
void cs_type_alias(struct cs_parser *p, uint32_t start);
void cs_interface(struct cs_parser *p, uint32_t start);
/* A statement only TypeScript knows: true if it was one and has been dealt with. */
bool cs_typescript_statement(struct cs_parser *p, uint32_t start, bool exported, enum cs_st *st);
const char *cs_home_of(struct cs_parser *p);

/* module.c */
enum cs_st cs_import_decl(struct cs_parser *p);
void cs_import_alias(struct cs_parser *p, uint32_t start, bool exported);
enum cs_st cs_export_decl(struct cs_parser *p);
uint32_t cs_request(struct cs_parser *p, uint32_t atom, uint32_t pos, bool dynamic);

/* stmt.c */
enum cs_st cs_statement(struct cs_parser *p);
void cs_statements(struct cs_parser *p, enum cs_tok until);
void cs_block(struct cs_parser *p);
void cs_program(struct cs_parser *p);

/* link.c */
void cs_link(struct cs_parser *p, struct cs_compiled *out);

/* nodes.c */
void cs_nodes_init(struct cs_parser *p);
/* A literal whose value is `atom`; one piece of a template between its marks. */
uint32_t cs_node_str(struct cs_parser *p, uint32_t atom, uint32_t pos);
uint32_t cs_node_piece(struct cs_parser *p, uint32_t start, uint32_t end);
/* The node of a larger text that has this one as a part. */
void cs_node_inner(struct cs_parser *p, uint32_t node);
/* What was just read is the value of `key`. */
void cs_node_key(struct cs_parser *p, uint32_t key);
/* Property `atom` (K_NONE: the computed one just read) of what a pattern takes apart. */
uint32_t cs_node_property(struct cs_parser *p, uint32_t from, uint32_t atom,
                          const struct cs_token *name);
uint32_t cs_node_either(struct cs_parser *p, uint32_t a, uint32_t b);
/* What was just read has been assigned to `target`, with '=' or what the operator starts with. */
void cs_node_assigned(struct cs_parser *p, uint32_t target, char op);
/* What was just read is part of a literal or a parameter, which may be a pattern. */
void cs_node_element(struct cs_parser *p, enum cs_ex ex);
/* What a pattern, or one name, will be set from. */
uint32_t cs_node_hole(struct cs_parser *p, uint8_t flags);
/* The node of the function that was just read; `first`: of its nodes. */
uint32_t cs_node_func(struct cs_parser *p, uint32_t first, uint32_t pos);
/* A pattern takes something apart. */
void cs_node_take(struct cs_parser *p, uint32_t target, uint32_t from);
/* What is read from now on may run or not; the one before, to go back to. */
static inline uint32_t cs_branch(struct cs_parser *p)
{
    uint32_t outer = p->branch;
    p->branch = ++p->branches;
    return outer;
}
/* What the current operator, before its operand, says of it. */
uint32_t cs_node_operator(const struct cs_parser *p);
/* Operands and binary operators, as they come. */
struct cs_run {
    uint32_t node;  /* of the operands so far that + joins */
    uint32_t other; /* what stands before them, if || and the like join it */
    bool mixed;     /* there are operators whose value nobody knows */
};
void cs_run_operand(struct cs_parser *p, struct cs_run *run, const struct cs_token *op);
uint32_t cs_run_end(struct cs_parser *p, struct cs_run *run);

/* left.c: code is made. What nobody has read may reach any tool. */
void cs_reach_code(struct cs_parser *p, struct cs_str name, const char *via, uint32_t pos);
/* facts.c */
void cs_facts(struct cs_parser *p, struct cs_compiled *out);

/* notes.c: what only the lexer sees. */
void cs_note_hidden(struct cs_parser *p, uint32_t start);
/* [start, end) is a string or a comment, if something in it is hidden. */
void cs_note_inside(struct cs_parser *p, uint32_t start, uint32_t end, enum cs_inside inside);
void cs_note_seen(struct cs_parser *p, uint32_t start, uint32_t end, uint32_t atom);
/* The current string stands in a type. */
void cs_note_text(struct cs_parser *p);

/* fence.c */
struct cs_span {
    uint32_t start, end;
};
/* The code inside the first fence, or none. `last`: end it at the last closing line. */
bool cs_fence(struct cs_str text, bool last, bool *sure, struct cs_span *code);

#endif
