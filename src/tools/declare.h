/*
 * A server's tools as TypeScript: what the agent reads, and what its `import` runs.
 *
 * Runs in: daemon; pure. Names, descriptions and schemas are foreign: no text of a server can end a
 *          comment or a string, or become code. Output is bounded by CS_DECLARE_BYTES per tool.
 * Failure: a schema that cannot be turned into types is CS_INVALID and costs that one tool.
 *
 * One file per tool, `<identifier>.ts`:
 *
 *     // JSDoc: description, @category, @riskLevel, @param for each parameter, @example that runs
 *     export async function listCommits(input: ListCommitsInput): Promise<ListCommitsOutput> {
 *       return caisson.callTool("github", "list_commits", input);
 *     }
 *     export type ListCommitsInput = {...}
 *     export type ListCommits$Filter = {...}     // a schema that several $refs, or itself, name
 *     export type ListCommitsOutput = ...        // `any` if nothing is known of it
 *     export default listCommits;
 *
 * An output schema that cannot be used costs only the output type.
 */
#ifndef CS_TOOLS_DECLARE_H
#define CS_TOOLS_DECLARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#define CS_DECLARE_BYTES (1u << 20)
#define CS_IDENT_MAX     64u

struct cs_declaration {
    struct cs_str server;      /* as configured; also the name of its directory */
    struct cs_str name, ident; /* "list_commits", "listCommits" */
    struct cs_str title, description;
    struct cs_str input, output; /* JSON Schemas; output may be empty: unknown */
    uint64_t learned;            /* > 0: `output` was learned from so many results */
    const char *category;        /* "read", "write", "destructive" ... */
    const char *risk;            /* "low", "medium", "high" */
};

/* The whole file. */
int cs_declare_tool(const struct cs_declaration *tool, struct cs_buf *out, struct cs_err *err);

/* `index.ts` of a server: re-exports every tool's function and types. The identifiers of one
 * server's tools are unique, and so are the exported type names. */
void cs_declare_index(struct cs_str server, struct cs_str instructions,
                      const struct cs_declaration *tools, size_t count, struct cs_buf *out);

/* `README.md` of the root: how to find and call tools, and the servers with their counts. */
struct cs_declare_server {
    struct cs_str name, ident, about; /* about: one line, may be empty */
    size_t tools;
};
void cs_declare_readme(const struct cs_declare_server *servers, size_t count, struct cs_buf *out);

/* The declarations that a type checker needs beside the tree: `caisson`, `tools`, `searchTools`,
 * `inputs`, `state`, ToolError. The root's `caisson.d.ts`. */
void cs_declare_globals(const struct cs_declare_server *servers, size_t count, struct cs_buf *out);

/* First sentence of a description, one line, at most `max` bytes (on a character), "…" if cut. */
void cs_declare_summary(struct cs_str description, size_t max, struct cs_buf *out);

/*
 * names.c: an identifier out of any name: "create-pr" -> createPr, "list_commits" -> listCommits,
 * "nasa/apod" -> nasaApod, "delete" -> delete_, "2fa" -> _2fa. A name of one word stays as it is.
 * At most CS_IDENT_MAX bytes; never empty, never a word that the language or the file needs.
 */
void cs_ident(struct cs_str name, char ident[CS_IDENT_MAX + 1]);

/* The same for a whole server: unique (also where case does not count, and beside the names of
 * types), none is "index", and stable: the n-th tool's identifier depends on the names alone, not
 * on their order. `idents` has room for `count`. */
void cs_idents(const struct cs_str *names, size_t count, char (*idents)[CS_IDENT_MAX + 1]);

/* "listCommits" -> "ListCommits", for type names. */
void cs_ident_type(const char *ident, char type[CS_IDENT_MAX + 1]);

#endif
