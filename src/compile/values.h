/*
 * Private to compile/: what values a program passes around, written down while it is read.
 *
 * A sparse tree: names, members, calls, literals that hold them, functions, assignments. Plain
 * literals and operators leave nothing. Nodes stand behind those they are made of, so that one walk
 * from the first to the last meets operands first. What is assigned to, a pattern, has the form of
 * the literal that it looks like, since `[a, b]` turns out to be one only behind it.
 */
#ifndef CS_COMPILE_VALUES_H
#define CS_COMPILE_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/facts.h"

struct cs_parser;

enum cs_val_kind {
    VAL_NONE,
    VAL_REF,    /* a: index in refs */
    VAL_DECL,   /* a: index in decls; where a pattern binds a name */
    VAL_STR,    /* a: its atom */
    VAL_TRUE,   /* a constant that holds */
    VAL_FALSE,  /* one that does not */
    VAL_NOT,    /* a: operand */
    VAL_JOIN,   /* a, b: any of them, or both in one */
    VAL_MEMBER, /* a: of what; b: the name, K_NONE: computed, c: index in nodes of from what */
    VAL_CALL,   /* a: callee; b: first argument; c: where it starts */
    VAL_NEW,    /* the same */
    VAL_ARRAY,  /* a: first item */
    VAL_OBJECT, /* a: first item */
    VAL_ITEM,   /* a: value; b: name, or place counted from 0; c: the next */
    VAL_FN,     /* a: first parameter; b: when solving, what it returns; c: where it starts */
    VAL_RETURN, /* a: value; b: the function, 0: the program */
    VAL_ASSIGN, /* a: target; b: value; c: it is only the key, a text */
    VAL_IMPORT, /* import(): a: index in nodes of its argument; c: where */
    VAL_THIS,
    VAL_THROWN,
    VAL_KEY, /* behind a computed member. a: the member; b: its key */
};

enum cs_val_flag {
    VAL_SPREAD = 1,  /* an item: ...x */
    VAL_NAMED = 2,   /* an item: b is a name */
    VAL_READ = 4,    /* a getter: its value is what it returns */
    VAL_CLASS = 8,   /* a constructor */
    VAL_TARGET = 16, /* it is assigned to */
};

/* Nodes that are always there. From VALUE_FIRST on they say where something comes from. */
enum { VALUE_NONE, VALUE_TRUE, VALUE_FALSE, VALUE_FIRST };

struct cs_val {
    uint8_t kind, flags;
    uint32_t a, b, c;
};

struct cs_items {
    uint32_t first, last, count;
};

/* A statement that break leaves, or the function around it, while it is being read. */
enum cs_loop_kind { LOOP_FUNCTION, LOOP_LABEL, LOOP_SWITCH, LOOP_LOOP, LOOP_TRY };
struct cs_loop {
    struct cs_loop *outer;
    uint32_t label; /* of LOOP_LABEL */
    enum cs_loop_kind kind;
    bool left;    /* something in it leaves it */
    bool leaving; /* and everything around it */
    bool waits;   /* something in it waits */
};

/* A loop without a way out, if its condition always holds. */
struct cs_endless {
    uint32_t pos;
    uint32_t from, to; /* the condition in the text; none: it has no condition */
    uint32_t cond;     /* its value */
    bool waits;
    bool always;   /* cond.c: the condition always holds, */
    bool variable; /* because of a variable that nobody sets */
    const char *name;
};

struct cs_fn_state {
    uint32_t outer, branch, fn_branch, returns, returned;
    struct cs_loop frame;
};

/* values.c */
void cs_values_init(struct cs_parser *p);
uint32_t cs_val(struct cs_parser *p, enum cs_val_kind kind, uint32_t a, uint32_t b, uint32_t c);
/* Behind the others in the list. Constants only count. */
void cs_item(struct cs_parser *p, struct cs_items *list, uint32_t value, uint32_t name,
             unsigned flags);
/* One value that may be either; 0 is nothing. */
uint32_t cs_join(struct cs_parser *p, uint32_t a, uint32_t b);
/* The key of a computed member. */
void cs_key(struct cs_parser *p, uint32_t member, uint32_t key);
/* The assignment, which has the value; nothing is noted if one of them is nothing. */
uint32_t cs_assigned(struct cs_parser *p, uint32_t target, uint32_t value);
/* this.name = value, as fields, methods and parameter properties do it. */
void cs_own_member(struct cs_parser *p, uint32_t name, uint32_t value);
/* A function: what is returned until its end is its. The end makes it p->val. */
uint32_t cs_fn_begin(struct cs_parser *p, struct cs_fn_state *s, uint32_t pos);
void cs_fn_end(struct cs_parser *p, const struct cs_fn_state *s);
void cs_returned(struct cs_parser *p, uint32_t value);

/* loops.c */
void cs_loop_begin(struct cs_parser *p, struct cs_loop *l, enum cs_loop_kind kind, uint32_t label);
void cs_loop_end(struct cs_parser *p, const struct cs_loop *l);
/* The whole loop has been read; `e` says where, its name and its condition. */
void cs_loop_seen(struct cs_parser *p, const struct cs_loop *l, struct cs_endless e);
/* break (leaves) or continue; label K_NONE: the innermost. */
void cs_loop_jump(struct cs_parser *p, bool leaves, uint32_t label);
/* return, yield: no loop of this function is without end. */
void cs_loop_leave(struct cs_parser *p);
/* throw: the same, up to where it is caught. */
void cs_loop_throw(struct cs_parser *p);
/* await */
void cs_loop_wait(struct cs_parser *p);
void cs_loops(struct cs_parser *p);
/* cond.c: sets `always` and `variable` of one of p->endless. */
void cs_look_at_condition(struct cs_parser *p, uint32_t index);

/* reach.c: TOOL, FLOW, LOOP and PERMISSION. Names have been resolved, constants folded. */
void cs_reach(struct cs_parser *p);

#endif
