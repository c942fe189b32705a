/*
 * Private to compile/: what expressions stand for, as far as constants and names show.
 *
 * While the text is read, every expression leaves a node behind if anything is known of it: p->node
 * is the node of the expression that was read last, 0 if there is none. Nodes say what stands there
 * and nothing else. When everything has been read and the names are resolved, cs_fold_node says
 * what a node stands for: a constant (folded), a chain of members from a free name or an import on
 * (through variables, patterns, require() and the like), a list, an object literal, or nothing.
 *
 * Everything is bounded: texts that folding makes by CS_FOLD_BYTES together, looking things up by
 * CS_FOLD_STEPS; beyond that nothing is known, and the facts say that there is more.
 */
#ifndef CS_COMPILE_NODES_H
#define CS_COMPILE_NODES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

#define CS_FOLD_BYTES     (1u << 20)   /* of all folded texts */
#define CS_FOLD_TEXT      (256u << 10) /* of one */
#define CS_FOLD_STEPS     (1u << 22)
#define CS_FOLD_DEPTH     64           /* of names that stand for names */
#define CS_CHAIN_PARTS    8            /* of a chain; what is behind them is left out */
#define CS_BINDS_FOLLOWED 8            /* values of one variable that are looked at */
#define CS_GATHER_TEXT    4096         /* bytes of a text that comes together in steps */
#define CS_GATHER_BYTES   (256u << 10) /* of all of them; beyond that nothing is known */
#define CS_APPLY_NODES    64           /* of a function that is applied to constants */
#define CS_APPLY_ALL      (1u << 15)   /* nodes looked at for that */
#define CS_APPLY_DEEP     4

/* Of tables of words, whose length is known when they are compared. */
#define CS_LIT(literal)              \
    {                                \
        literal, sizeof(literal) - 1 \
    }

enum cs_node_kind {
    NODE_NONE,
    NODE_REF,      /* a: index in refs */
    NODE_STR,      /* a: atom */
    NODE_NUM,      /* its text is at pos */
    NODE_MEMBER,   /* a: object (may be 0), b: atom */
    NODE_INDEX,    /* a: object (may be 0), b: the key (may be 0) */
    NODE_CALL,     /* a: what is called (may be 0), b: its arguments, a list */
    NODE_NEW,      /* the same; without parentheses b is 0 */
    NODE_ADD,      /* a + b */
    NODE_TEMPLATE, /* b: list, texts and what is between them in turns */
    NODE_ARRAY,    /* b: list of elements */
    NODE_OBJECT,   /* b: list, atom and value in turns; atom 0: computed, or the value is spread */
    NODE_EITHER,   /* a or b: ?:, ||, &&, ?? */
    NODE_IMPORT,   /* import(a) */
    NODE_META,     /* import.meta */
    NODE_THIS,     /* a: nobody has an own one, so it is globalThis */
    NODE_FUNC,     /* a function: a: what it returns, if that is one expression; b: list of its
                    * parameters, holes; at: the first node in it. Of a class nothing of that */
    NODE_ASSIGN,   /* a = b, in a literal that may be a pattern */
    NODE_EXTENDS,  /* class extends a */
    NODE_REGEX,    /* its text is at pos */
    NODE_HOLE,     /* what a variable or pattern is set from: a, once it has been read */
    NODE_ELEMENT,  /* element number b of a, in a pattern */
    NODE_REST,     /* ...x in a pattern over a */
};

enum cs_node_flag {
    NODE_INNER = 1,    /* part of a larger node, which speaks for it */
    NODE_WRITTEN = 2,  /* it is assigned to, or deleted */
    NODE_COMPARED = 4, /* typeof, instanceof, ===: it does not get away */
    NODE_ESCAPED = 8,  /* STR: letters are written as escapes */
    NODE_MAYBE = 16,   /* HOLE: only a default */
    NODE_BOUND = 32,   /* the value of a variable: its uses speak for it */
    NODE_GATHER = 64,  /* ADD: x += y, the same */
    NODE_FIRST = 128,  /* CALL: it is what a function does first, whatever happens */
};

struct cs_node {
    uint8_t kind, flags;
    uint32_t a, b;
    uint32_t pos, end; /* in the text */
    uint32_t at;       /* of a member its name, of a call its '(' */
    uint32_t key;      /* atom: the name that it is assigned to */
};

#define CS_SPREAD 0x80000000u /* in lists: ...x */

/* A variable gets a value: `node` is it, which says where the expression stands. */
struct cs_bound {
    uint32_t decl; /* index in decls */
    uint32_t node;
    uint32_t pos;    /* from here on */
    uint32_t branch; /* p->branch: where it happens */
    uint32_t next;   /* after resolving: another one of the same variable, index + 1 */
};

/* x = y, where x is one name. */
struct cs_write {
    uint32_t ref, node;
    uint32_t pos, branch; /* as above */
};

/* x.push(...), where x is one name. */
struct cs_push {
    uint32_t ref, list;
    uint32_t pos, branch; /* as above */
    uint32_t next;        /* after resolving: another one of the same variable, index + 1 */
};

/* A pattern that is assigned to: an array or object node, and what it takes apart. */
struct cs_take {
    uint32_t target, from;
    uint32_t pos, branch;
};

enum cs_fold_sort {
    FOLD_NONE,
    FOLD_TEXT,   /* text; `partial`: "${}" stands where it is not constant */
    FOLD_NUMBER, /* number */
    FOLD_CHAIN,  /* link */
    FOLD_LIST,   /* list, len */
    FOLD_OBJECT, /* node */
    FOLD_FUNC,   /* node */
    FOLD_ANY,    /* list, len: one of these; `partial`: or something else */
    FOLD_DICT,   /* list, len: keys and values in turns, of JSON or a Map */
    FOLD_BOX,    /* link: a property descriptor of it */
};

/* How a text came about, the strangest way last. */
#define CS_VIAS(X)          \
    X(PLAIN, "")            \
    X(TEMPLATE, "template") \
    X(CONCAT, "concat")     \
    X(ESCAPE, "escape")     \
    X(JOIN, "join")         \
    X(REPLACE, "replace")   \
    X(REVERSE, "reverse")   \
    X(CHARCODE, "charcode") \
    X(BASE64, "base64")
enum cs_via {
#define X(id, word) VIA_##id,
    CS_VIAS(X)
#undef X
};

struct cs_folded {
    uint8_t sort; /* enum cs_fold_sort */
    uint8_t via;  /* of a text */
    bool partial; /* of a list or object: it may have been changed */
    uint32_t len; /* bytes of a text; elements of a list */
    union {
        const char *text;
        double number;
        uint32_t link; /* index in p->links */
        const struct cs_folded *list;
        uint32_t node;
    };
};

/* One part of a chain. Equal chains need not have equal links. */
struct cs_link {
    uint32_t up;   /* index of the part before; 0: this is the root */
    uint32_t atom; /* a name; of an import its specifier; CS_PART_ANY: not constant */
    uint8_t root;  /* enum cs_root, of the whole chain */
    uint8_t parts; /* behind the root */
};

#define CS_PART_ANY UINT32_MAX

enum cs_root {
    ROOT_FREE,   /* a name that nothing declares: process */
    ROOT_IMPORT, /* static or dynamic import, require(): all its exports */
    ROOT_ANY,    /* some object: only for .constructor and .__proto__ */
};

struct cs_parser;
struct cs_compiled;

/* ---- while reading ---- */

uint32_t cs_node(struct cs_parser *p, enum cs_node_kind kind, uint32_t a, uint32_t b, uint32_t pos);
/* The nodes pushed to p->stack since `mark` become a list; 0 if there are none. */
uint32_t cs_node_list(struct cs_parser *p, uint32_t mark);

/* ---- when the names are resolved (cs_facts and what it calls) ---- */

void cs_fold_all(struct cs_parser *p);
struct cs_folded cs_fold_node(struct cs_parser *p, uint32_t node);
/* Of a list: how many, and which. */
uint32_t cs_list_len(const struct cs_parser *p, uint32_t list);
uint32_t cs_list_at(const struct cs_parser *p, uint32_t list, uint32_t i);
/* The atoms of a chain, root first: as many as fit; how many there are. */
uint32_t cs_chain_atoms(const struct cs_parser *p, uint32_t link, uint32_t *atoms, uint32_t max);
/* "process.env.HOME" in the scratch arena. */
struct cs_str cs_chain_text(struct cs_parser *p, uint32_t link);
/* The root of a chain. */
const struct cs_link *cs_chain_root(const struct cs_parser *p, uint32_t link);

/* Room for a text of `len` bytes that folding makes; NULL: that is too much. */
char *cs_fold_room(struct cs_parser *p, size_t len);
struct cs_folded cs_fold_text(const char *text, size_t len, enum cs_via via, bool partial);
/* What a function gives for these arguments, if it is one expression. */
struct cs_folded cs_fold_apply(struct cs_parser *p, uint32_t func, const struct cs_folded *args,
                               uint32_t count);
/* The member that a key names; the strangest, if it may be several. */
struct cs_folded cs_fold_keyed(struct cs_parser *p, struct cs_folded object, struct cs_folded key);
/* Value number i that the node may have, if it is a variable with several; else its only one. */
bool cs_fold_each(struct cs_parser *p, uint32_t node, uint32_t i, struct cs_folded *v);
/* A parameter, or what a loop sets. */
bool cs_fold_open(const struct cs_parser *p, uint32_t decl);
/* The number that a variable starts with. */
bool cs_fold_counter(struct cs_parser *p, uint32_t decl, double *number);
/* A use of a variable whose text came together in steps. */
bool cs_fold_gathered(const struct cs_parser *p, uint32_t node);
/* How the value of a member came about, with `atom` CS_PART_ANY if it is not constant. */
struct cs_folded cs_fold_member(struct cs_parser *p, struct cs_folded object, uint32_t atom);
/* The chain of a root. */
struct cs_folded cs_fold_root(struct cs_parser *p, enum cs_root root, uint32_t atom);
/* One element of a list or text. */
struct cs_folded cs_fold_element(struct cs_folded object, struct cs_folded key);
/* fold_call.c: a text as a list of its characters. */
struct cs_folded cs_fold_chars(struct cs_parser *p, struct cs_folded v);
/* require(), under any of its names. */
bool cs_requires(struct cs_parser *p, uint32_t link);
/* What a call gives, as far as it is one that folding knows. */
struct cs_folded cs_fold_call(struct cs_parser *p, uint32_t node);
/* The chain of what is called or constructed; 0 if it is none. */
uint32_t cs_callee(struct cs_parser *p, uint32_t node);
bool cs_chain_is(struct cs_parser *p, uint32_t link, const char *text);
/* Is it globalThis, under any of its names? */
bool cs_chain_global(const struct cs_parser *p, uint32_t link);

/* False: so much has been looked for already. */
bool cs_fold_steps(struct cs_parser *p, uint32_t n);
bool cs_fold_cut(const struct cs_parser *p);

/* One fact; the same one (kind, name, via, key) is taken once. Names are cut. */
void cs_fact_add(struct cs_parser *p, int kind, struct cs_str name, const char *via,
                 struct cs_str key, uint32_t pos);

#endif
