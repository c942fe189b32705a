/*
 * ${...} in the values of a configuration: ${env:X}, ${X}, ${X:-default}, ${file:PATH},
 * ${command:CMD ARGS}, ${workspaceFolder}, ${workspaceFolderBasename}, ${userHome},
 * ${pathSeparator}. They may stand inside each other: ${file:${userHome}/token}.
 *
 * Runs in: daemon and command line. Blocks while a command runs: 10 s for one, CS_EXPAND_MS for
 *          all of one configuration.
 * Owner:   results live in the arena.
 * Limits:  CS_EXPAND_BYTES for one value, CS_EXPAND_TOTAL for all.
 * Failure: CS_MISSING names what is missing. Nothing ever becomes an empty text unless it is asked
 *          for as ${X:-}. No message has a value in it.
 */
#ifndef CS_TOOLS_EXPAND_H
#define CS_TOOLS_EXPAND_H

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#define CS_EXPAND_BYTES (64u << 10)
#define CS_EXPAND_TOTAL (32u << 20)
#define CS_EXPAND_MS    30000u

struct cs_expansion; /* a command that ran already, and what it said */

struct cs_expand {
    struct cs_arena *arena;
    const char *folder; /* ${workspaceFolder} */
    uint64_t spent_ms;  /* by commands */
    size_t total;
    struct cs_expansion *known;
};

/* `value` is a C string: what has a NUL in it is CS_INVALID. */
int cs_expand(struct cs_expand *expand, struct cs_str text, const char **value, struct cs_err *err);

/* "~/x" as "/home/me/x"; anything else as it is. */
const char *cs_expand_home(struct cs_arena *arena, const char *path);

#endif
