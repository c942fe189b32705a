/*
 * Private to compile/: where values come from and go to, solved when everything has been read.
 *
 * A walk over the values, again until nothing changes. Each value has the tools whose answers may
 * be in it, the tools that it may be, the path of names by which it is known, and the place that it
 * is kept in. Places are variables, members of places, and what functions return. Order and
 * branches of the program do not matter, only what can get where: too much rather than too little.
 *
 * Bounded: REACH_PASSES walks, REACH_STEPS steps per value. A program that needs more is taken to
 * pass everything to everybody.
 */
#ifndef CS_COMPILE_REACH_H
#define CS_COMPILE_REACH_H

#include "compile/parser.h"

#define REACH_PASSES 24
#define REACH_STEPS  60   /* for each value */
#define REACH_PATHS  4096 /* then what is reached is unknown */
#define REACH_TOOLS  256
#define REACH_BITS   63 /* tools that are told apart in flows; the rest is one, "*" */
#define REACH_FLOWS  256
#define DEEP_MOST    8           /* patterns and literals in each other that are taken apart */
#define HAND_MOST    64          /* in each other that are handed out; then it may be any tool */
#define REACH_LOOSE  0x80000000u /* of a place: some member of it */

/* What a path leads to. */
enum cs_path_kind {
    PATH_PLAIN,  /* nothing that matters here */
    PATH_GLOBAL, /* globalThis: members are free names */
    PATH_TOOLS,  /* all servers */
    PATH_SERVER, /* one of them */
    PATH_MODULE, /* all that the module of one tool exports */
    PATH_TOOL,   /* a tool, or a member of one */
};

/* Functions of the language that calls.c knows. */
enum cs_path_special {
    SPECIAL_NONE,
    SPECIAL_WHOLE,   /* Promise.all(x): x, as far as this goes */
    SPECIAL_KEYS,    /* Object.keys(x): nothing of x but its names */
    SPECIAL_CONSOLE, /* console.log(x): stays here */
    SPECIAL_INTO,    /* Object.assign(x, y): y into x */
    SPECIAL_REQUIRE,
    SPECIAL_HOUSE, /* caisson */
    SPECIAL_FILES, /* files and what else outlives a program: one place */
    SPECIAL_NAMED, /* caisson.callTool("server", "tool", x), and what is made of it */
};

/* A free name or a module, or a member of one. */
struct cs_path {
    uint32_t up; /* 0: the root */
    uint32_t atom;
    bool module; /* the root is a module, and atom its specifier */
    bool guess;  /* the root is a name that may be a server's */
    enum cs_path_kind kind;
    enum cs_path_special special;
    uint32_t server, name; /* atoms; K_NONE: any */
    uint32_t tool;         /* index + 1, when it has been noted */
    uint32_t pos;          /* where it was seen first */
    bool called, given;    /* given: as a whole to somebody unknown */
    uint32_t rules;        /* permissions.c: those of its root, from this one on, or 0 */
};

struct cs_tool {
    uint32_t server, name, pos;
    const char *via;
    uint64_t gets; /* whose answers get into its arguments */
    uint32_t call; /* where */
};

struct cs_flow {
    uint64_t from;  /* tools whose answers are in it */
    uint64_t can;   /* tools that it may be */
    uint32_t path;  /* index in paths, or 0 */
    uint32_t place; /* index in places, or 0 */
};

/* Of a value. */
enum cs_mark_of {
    MARK_PATTERN = 1, /* it looks like a literal, and takes one apart */
    MARK_EATEN = 2,   /* a literal: somebody has looked at what is in it */
};

/* A variable, or a member. `own`: put into the whole of it; `all`: and into its members. */
struct cs_spot {
    uint64_t own, all, can, all_can;
    uint32_t path;
    uint32_t same;            /* the place that it is another name of, perhaps loosely */
    uint32_t up;              /* of a member: of what */
    uint32_t member, sibling; /* its members, as a list */
    uint32_t fns;             /* functions it may be, as a list in `fns` */
    uint32_t stamp;           /* of the last one who handed it out */
    uint8_t read;             /* in this pass, or something in it */
    bool holds;               /* it or a member is on the way to a tool */
    bool used;                /* its path has been read */
    bool returned;            /* what a function returns */
};

struct cs_fn_link {
    uint32_t fn, next;
};

struct cs_reach {
    struct cs_parser *p;
    struct cs_flow *at; /* for each value */
    uint8_t *marks;     /* for each value: enum cs_mark_of */
    CS_VEC(struct cs_path) paths;
    CS_VEC(struct cs_spot) places; /* 1 + declaration; then others */
    CS_VEC(struct cs_fn_link) fns;
    CS_VEC(struct cs_tool) tools;
    uint32_t *path_table, path_mask; /* heap */
    uint64_t *member_keys;
    uint32_t *members, member_mask, member_count;
    /* Places: free names, this, what is thrown, arguments, exports of namespaces, files. */
    uint32_t globals, self, thrown, args, spaces, files;
    uint32_t digits[10];          /* atoms "0" ... "9" */
    uint32_t prototype, value_of; /* other atoms */
    uint32_t pos;                 /* of the name that was looked at last */
    uint64_t steps, steps_max;
    uint32_t pass; /* counted from 1 */
    uint32_t stamp;
    bool arguments_used;
    bool quiet;        /* what is looked at is only assigned to */
    bool inside;       /* something is on the way to a tool, and kept in a member or returned */
    bool in_literals;  /* the same, in a literal */
    bool returns_hold; /* some function returns what is on the way to a tool */
    bool changed;      /* something that has been read in this pass before */
    bool moved;        /* the same of answers: which tools' are in it */
    bool matters;      /* there is a path to a tool, or to what needs permission */
    bool lost;         /* it was too much */
};

/* paths.c */
uint32_t cs_path_free(struct cs_reach *r, uint32_t atom);
uint32_t cs_path_module(struct cs_reach *r, uint32_t specifier);
uint32_t cs_path_member(struct cs_reach *r, uint32_t path, uint32_t atom);
/* The tool's bit. `pos`, `via`: where it is reached, if it has not been before. */
uint64_t cs_path_tool(struct cs_reach *r, uint32_t path, uint32_t pos, const char *via);
/* A name that is nobody's here: neither a server's, nor one that needs permission. */
bool cs_path_plain(struct cs_parser *p, uint32_t atom, bool module);
/* From here on there is a way to tools. */
bool cs_path_leads(const struct cs_reach *r, uint32_t path);
/* And it is not one tool alone. */
bool cs_path_whole(const struct cs_reach *r, uint32_t path);
/* Any tool at all. */
uint64_t cs_any_tool(struct cs_reach *r, uint32_t pos);
uint32_t cs_tool_bit(uint32_t tool);

/* spots.c */
void cs_spots_init(struct cs_reach *r);
uint32_t cs_spot_new(struct cs_reach *r);
/* The member of a place; `make`: it comes to be if there is none. */
uint32_t cs_spot_member(struct cs_reach *r, uint32_t place, uint32_t atom, bool make);
/* What the place is a name of, perhaps loosely, or itself. */
uint32_t cs_spot_itself(const struct cs_reach *r, uint32_t place);
struct cs_flow cs_spot_read(struct cs_reach *r, uint32_t place);
/* What a function returns is kept there. */
uint32_t cs_fn_returns(struct cs_reach *r, uint32_t fn);
struct cs_flow cs_flow_member(struct cs_reach *r, struct cs_flow w, uint32_t atom);
/* Into the whole of a place, loosely into some member, or a function. */
void cs_spot_put(struct cs_reach *r, uint32_t place, struct cs_flow w);
void cs_spot_put_some(struct cs_reach *r, uint32_t place, struct cs_flow w);
void cs_spot_put_fn(struct cs_reach *r, uint32_t place, uint32_t fn);

/* reach.c */
static inline const struct cs_val *cs_reach_val(const struct cs_reach *r, uint32_t node)
{
    return &r->p->vals.at[node];
}

/* One step of work; false if there have been too many. */
static inline bool cs_reach_step(struct cs_reach *r)
{
    r->lost |= ++r->steps > r->steps_max;
    return !r->lost;
}

/* The literal or function that a value is, seen through assignments and Promise.all, or 0. */
uint32_t cs_reach_literal(const struct cs_reach *r, uint32_t node);
/* Where the expression starts whose member this is, and how it is spelled. */
uint32_t cs_start_of(const struct cs_reach *r, uint32_t node, const char **via);
struct cs_flow cs_flow_join(struct cs_reach *r, struct cs_flow a, struct cs_flow b);
/* Somebody unknown gets the value: the tools that he can reach with it. A server alone stands for
 * all of its tools. */
uint64_t cs_hand_out(struct cs_reach *r, uint32_t node);
uint64_t cs_hand_out_spot(struct cs_reach *r, uint32_t place);
/* What is in the place only, not the path that it is itself. */
uint64_t cs_hand_out_inside(struct cs_reach *r, uint32_t place);
struct cs_flow cs_fn_returned(struct cs_reach *r, uint32_t fn);

/* bind.c: the value `w`, which stands at node `from` (0: nowhere), into a place or pattern. */
void cs_reach_put(struct cs_reach *r, uint32_t place, uint32_t from, struct cs_flow w,
                  unsigned deep);
void cs_reach_bind(struct cs_reach *r, uint32_t target, uint32_t from, struct cs_flow w,
                   unsigned deep);
/* The place that an expression stands for, or 0; members come to be. */
uint32_t cs_spot_of(struct cs_reach *r, uint32_t node, unsigned deep);

/* calls.c */
struct cs_flow cs_reach_call(struct cs_reach *r, uint32_t node);

/* left.c: what got somewhere that nobody looks is handed out. */
void cs_reach_left(struct cs_reach *r);
void cs_reach_nested(struct cs_parser *p);

/* flow.c */
void cs_flow_facts(struct cs_reach *r);

/* permissions.c */
/* The first rule for a root, + 1, or 0. */
uint32_t cs_permission_rules(struct cs_str root, bool module);
void cs_permissions(struct cs_reach *r);

#endif
