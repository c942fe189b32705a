/*
 * TypeScript in, JavaScript out: types are overwritten with spaces, so that every line and column
 * stays the agent's own; modules are rewritten to functions that the worker links.
 *
 * Runs in: the worker, on hostile text. Pure: no file, no engine, no global state.
 * Limits:  CS_COMPILE_SOURCE_MAX bytes, CS_COMPILE_DEPTH_MAX nested constructs, then an error.
 * Failure: a struct cs_diag with a position; never a crash, whatever the bytes.
 */
#ifndef CS_COMPILE_COMPILE_H
#define CS_COMPILE_COMPILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/facts.h"
#include "base/str.h"

#define CS_COMPILE_SOURCE_MAX (4u * 1024 * 1024)
#define CS_COMPILE_DEPTH_MAX  1000

enum cs_compile_kind {
    CS_COMPILE_PROGRAM, /* what an agent sends: fences, top-level return, trailing value are fine */
    CS_COMPILE_MODULE,  /* an imported file: a plain ES module */
    CS_COMPILE_STRIP,   /* types off and nothing else: import and export stay as they are */
};

/* What is wrong, where, and what to do. Lines and columns count from 1, columns in UTF-16 units. */
struct cs_diag {
    uint32_t line, column;
    char message[240];
    char suggestion[240]; /* may be empty */
};

struct cs_import {
    struct cs_str specifier; /* unescaped; in the arena */
    uint32_t line, column;
    bool dynamic; /* import("literal"): not in the $ns table */
};

/* A name that is used and that a static import must bring: `import { name }`. */
struct cs_wanted {
    uint32_t import;
    struct cs_str name;
    uint32_t line, column;
};

/* How the value of a program comes about. */
enum cs_value_kind {
    CS_VALUE_RETURNED, /* the function returns it (return, trailing expression, or undefined) */
    CS_VALUE_CALLABLE, /* it returns the default export or the bare function, to be called with
                          inputs */
};

/* What the program can reach, does and hides, noted by the parser: base/facts.h. */
struct cs_fact {
    enum cs_fact_kind kind;
    struct cs_str name, via, key;
    uint32_t line, column;
};

/* Text of the output that stands for source text of another length, for mapping positions back. */
struct cs_insert {
    uint32_t line;       /* of the output (equal to the source's line) */
    uint32_t column;     /* where it stands in the output line, UTF-16 units, from 1 */
    uint32_t len;        /* UTF-16 units */
    uint32_t source_len; /* UTF-16 units of the source that it replaces; 0: only inserted */
};

struct cs_compiled {
    struct cs_arena arena; /* owns everything below */
    struct cs_buf js;
    struct cs_import *imports; /* static ones first: import i is $ns[i] */
    uint32_t import_count, static_count;
    struct cs_wanted *wanted;
    uint32_t wanted_count;
    struct cs_fact *facts;
    uint32_t fact_count;
    bool facts_cut;            /* there are more */
    struct cs_insert *inserts; /* ordered by line, column */
    uint32_t insert_count;
    enum cs_value_kind value;
};

/*
 * The output for PROGRAM and MODULE is one expression, a function for the worker to call:
 *
 *     (async($ns,$export,$go,$import,$meta)=>{"use strict";$export({x:()=>x},[1]);await $go();BODY
 *     })
 *
 * $ns[i] is the namespace object of static import i; $export gets getters, and the indices of
 * `export *`; $go waits for this module's turn. A module is called (instantiated) before any body
 * runs, so cycles and hoisted functions behave. References to imported names become live reads of
 * $ns[i].name. A program without imports and exports has neither $export nor $go in its text.
 *
 * An import of which no name is used as a value is dropped, as TypeScript does it; equal specifiers
 * share one index. The names $ns, $export, $go, $import, $meta and $default are reserved: a program
 * that uses one of them is refused. STRIP keeps every import that is not marked as a type.
 *
 * 0, or -1 with `diag` filled and `out` untouched. The caller ends `out` with cs_compiled_done.
 */
int cs_compile(enum cs_compile_kind kind, struct cs_str source, struct cs_compiled *out,
               struct cs_diag *diag);
void cs_compiled_done(struct cs_compiled *c);

/* From a position in the output to the position in the source. */
void cs_compiled_map(const struct cs_compiled *c, uint32_t *line, uint32_t *column);

#endif
