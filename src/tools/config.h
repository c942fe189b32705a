/*
 * Which MCP servers there are: read from a file, changed in it, its other content kept as it was.
 *
 * Understood: an object "mcpServers" (Claude Desktop, Claude Code, Cursor, .mcp.json, our own
 * caisson.json) or "servers" (.vscode/mcp.json); comments and trailing commas as editors allow
 * them.
 *
 * Runs in: daemon and command line. Files are foreign: bounded (CS_CONFIG_BYTES,
 * CS_CONFIG_SERVERS). Owner:   a cs_config owns everything that hangs on it. Failure: a file that
 * cannot be read is an error with line and column; an entry that cannot be used is a server with a
 * `problem`, and costs only itself.
 */
#ifndef CS_TOOLS_CONFIG_H
#define CS_TOOLS_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/jsonc.h"
#include "base/str.h"

#define CS_CONFIG_BYTES   CS_JSONC_BYTES
#define CS_CONFIG_SERVERS 1000u

#define CS_CALL_TIMEOUT_MS 30000u
#define CS_CALL_RESULT_MAX (10u << 20)

enum cs_trust { CS_TRUST_LOW, CS_TRUST_NORMAL, CS_TRUST_HIGH }; /* "low", "normal", "high" */
enum cs_era { CS_ERA_AUTO, CS_ERA_MODERN, CS_ERA_LEGACY };

struct cs_pair {
    const char *name, *value;
};

struct cs_server_config {
    const char *name; /* a file name, also if it is a problem: then it may be a part of it */
    bool enabled;
    bool is_http;
    struct cs_err problem; /* code CS_OK: none. Else why it cannot be used, with its name */

    const char *command; /* stdio */
    const char **args;   /* NULL at the end, like the other lists; without the command */
    struct cs_pair *env; /* name NULL at the end; on top of a small environment of ours */
    const char *cwd;     /* or NULL */

    const char *url; /* HTTP */
    struct cs_pair *headers;

    uint32_t timeout_ms;       /* of a call; default CS_CALL_TIMEOUT_MS */
    uint64_t max_result_bytes; /* default CS_CALL_RESULT_MAX */
    enum cs_trust trust;
    enum cs_era era;
    const char **allow, **deny; /* patterns of tool names; an empty allow list allows all */
    const char **roots;         /* file: URIs told to the server when it asks */

    bool jail;               /* stdio: run it in the guest jail */
    const char **jail_read;  /* paths it sees read-only ... */
    const char **jail_write; /* ... and may change */
    const char **jail_hosts; /* "api.github.com", "*.example.com:443"; none: no network */

    const char *client_id, *client_secret; /* OAuth, when they were given beforehand */
    const char **scopes;

    uint64_t hash; /* of everything above, after expansion: did it change? */
};

struct cs_config {
    struct cs_arena arena;
    const char *path;
    struct cs_server_config *servers; /* in the order of the file */
    size_t count;
    const char *warnings; /* lines: keys that are not understood, with what was probably meant */
};

/* Names an entry may have: letters, digits, '.', '_', '-'; 64 at most; not "caisson", "tools"... */
bool cs_server_name_ok(struct cs_str name);

/*
 * Values are expanded (tools/expand.h), but not those of servers that are off. A missing one
 * becomes the server's `problem`. Commands run without a shell, for 10 s at most. Entries that
 * point back at Caisson itself are left out. Of a file that has servers per folder
 * (~/.claude.json), those of the folder we are in are there too. No list of a server is NULL. A
 * missing file is CS_MISSING.
 */
int cs_config_load(const char *path, struct cs_config *config, struct cs_err *err);
void cs_config_done(struct cs_config *config);
const struct cs_server_config *cs_config_find(const struct cs_config *config, struct cs_str name);

/* The same, without expanding anything or running a command: for listing and editing. */
int cs_config_peek(const char *path, struct cs_config *config, struct cs_err *err);

/*
 * Edits. The file is read, changed in that one place, and replaced atomically with its mode kept;
 * everything else of it stays byte for byte. A symbolic link stays one, and its target is changed.
 * If somebody else changes the file meanwhile, the edit is made anew. `entry` is the JSON of one
 * server. A file that does not exist is made (mode 0600). CS_INVALID if there is one of that name
 * already (or, for the others, CS_MISSING if there is none: the nearest name is named).
 */
int cs_config_add(const char *path, struct cs_str name, struct cs_str entry, bool replace,
                  struct cs_err *err);
int cs_config_remove(const char *path, struct cs_str name, struct cs_err *err);
/* *changed: it was not so already. */
int cs_config_enable(const char *path, struct cs_str name, bool enabled, bool *changed,
                     struct cs_err *err);

/* Adds all servers of `from` that `path` does not have; `said` gets a line of text for each. A name
 * that we cannot have is changed into one, and that is said. */
int cs_config_import(const char *path, const char *from, struct cs_buf *said, struct cs_err *err);

#endif
