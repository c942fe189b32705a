/*
 * The outside world: every tool of every MCP server that a person has configured. Call, describe,
 * find.
 *
 * Runs in: daemon, loop thread.
 * Order:   new -> current / find / call ... -> close.
 * Owner:   a catalogue is an immutable snapshot, counted: an execution keeps the one it started
 * with, and with it the directory of TypeScript files that belongs to it. Failure: a server that
 * cannot be used costs only its own tools. Nothing here waits: a server is started when it is first
 * needed, and what it offered last time is known from the data directory.
 *
 * What is hidden here: the MCP transport, the protocol's eras, files of the catalogue.
 *
 * Names: a server is named as in its configuration, or by its identifier (my-server, myServer); a
 * tool by its own name or its identifier (create-pr, createPr). All spellings are one call.
 */
#ifndef CS_TOOLS_TOOLS_H
#define CS_TOOLS_TOOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "base/trace.h"
#include "schema/schema.h"
#include "store/store.h"

struct cs_tools;
struct cs_catalogue;
struct cs_tool_call;
struct cs_await;

enum cs_tool_risk { CS_TOOL_LOW, CS_TOOL_MEDIUM, CS_TOOL_HIGH };

/* For how long a tool is known as it is. */
enum cs_tool_standing {
    CS_TOOL_KNOWN,
    CS_TOOL_YOUNG,   /* its server was known before it, and it came within the last five minutes */
    CS_TOOL_CHANGED, /* its definition is another one than somebody has looked at (or than the first
                      * one), or it is not known yet whether it is */
};

struct cs_seen;

struct cs_tool {
    struct cs_str server;       /* as configured */
    struct cs_str server_ident; /* myServer */
    struct cs_str name, ident;
    struct cs_str title, description;
    struct cs_str input, output; /* JSON Schemas as the server sent them; output may be empty */
    struct cs_str definition;    /* the whole item of tools/list */
    bool read_only, destructive, idempotent, open_world;
    bool annotated;         /* it says at least one of these itself */
    bool owns_up;           /* it says itself that it is destructive */
    bool trusted;           /* its server's `trust` is not "low": its word counts */
    bool repeatable;        /* idempotent (reading is), and its server's word counts */
    enum cs_tool_risk risk; /* from the annotations and the server's trust */
    uint64_t server_hash;   /* of its server's entry as written: another one, another server */
    uint32_t timeout_ms;    /* of the server's entry */
    uint64_t max_result_bytes;
    const struct cs_seen *seen;   /* for cs_tool_standing; NULL: there is no store */
    struct cs_str learned_output; /* JSON Schema that all results seen fit, if none was declared */
    uint64_t learned;             /* results that its output type was learned from */
};

struct cs_tools_options {
    const char *config_path; /* of the file with mcpServers, or NULL: no servers */
    const char *data_dir;    /* existing, ours: catalogue, tree, tokens */
    const char *model_dir;   /* static vectors for search, or NULL */
    bool watch;              /* follow changes of the file */
    bool peek;               /* only what was offered last time: no command is run, no server */
    bool eager;              /* connect to all servers at once, in the background */
    struct cs_store *store;  /* that knows how tools were seen; lent until closed; NULL: none */
};

int cs_tools_new(uv_loop_t *loop, const struct cs_tools_options *options, struct cs_tools **tools,
                 struct cs_err *err);
/* Calls under way are cancelled, servers closed; `closed` runs when nothing is left. */
void cs_tools_close(struct cs_tools *tools, void (*closed)(void *ctx), void *ctx);

/* What a command of the settings prints, as with ${command:...} in a configuration: words, no
 * shell; 10 s at most. Appended. */
int cs_tools_command(const char *command, struct cs_buf *printed, struct cs_err *err);

/* A value of another file, with ${env:X} and its like as in a configuration whose folder this is.
 * Appended. */
int cs_tools_expand(struct cs_str text, const char *folder, struct cs_buf *value,
                    struct cs_err *err);

/* --- what there is --- */

/* The newest snapshot, with a reference for the caller. */
struct cs_catalogue *cs_tools_current(struct cs_tools *tools);
struct cs_catalogue *cs_catalogue_ref(struct cs_catalogue *catalogue);
void cs_catalogue_unref(struct cs_catalogue *catalogue);

/* Its TypeScript tree: a directory, lent. */
int cs_catalogue_dir(const struct cs_catalogue *catalogue);
const char *cs_catalogue_path(const struct cs_catalogue *catalogue);

/* 1, 2, 3, ...: another catalogue of this process has another. */
uint64_t cs_catalogue_serial(const struct cs_catalogue *catalogue);
size_t cs_catalogue_count(const struct cs_catalogue *catalogue);
const struct cs_tool *cs_catalogue_at(const struct cs_catalogue *catalogue, size_t i);
const struct cs_tool *cs_catalogue_find(const struct cs_catalogue *catalogue, struct cs_str server,
                                        struct cs_str tool);
/* Is there such a server at all, listed or not? Its configured name, or empty. */
struct cs_str cs_catalogue_server(const struct cs_catalogue *catalogue, struct cs_str server);

/* Is it known what that server offers, or what each of them does? */
bool cs_catalogue_listed(const struct cs_catalogue *catalogue, struct cs_str server);
bool cs_catalogue_complete(const struct cs_catalogue *catalogue);

/* As it is now, whatever catalogue the tool is of. Without a store every tool is known. */
enum cs_tool_standing cs_tool_standing(const struct cs_tool *tool);
const char *cs_tool_standing_name(enum cs_tool_standing standing); /* "known", ... */
/* Of one that changed: the definition that somebody has looked at, canonical JSON, lent until the
 * loop goes on; empty: it is too long to be kept. */
struct cs_str cs_tool_before(const struct cs_tool *tool);
/* SHA-256 of its definition in canonical form, description and all: what an answer of a person is
 * about. */
void cs_tool_definition_hash(const struct cs_tool *tool, unsigned char hash[32]);

/* Compiled schema of a tool's input; NULL if it has none that can be used: then anything that is an
 * object may be sent. Compiled when first wanted, kept with the catalogue. */
const struct cs_schema *cs_tool_input(const struct cs_tool *tool);
const struct cs_schema *cs_tool_output(const struct cs_tool *tool); /* declared, else learned */

/* Identifiers of all servers, as a JSON array: what a program sees as global names. */
struct cs_str cs_catalogue_globals(const struct cs_catalogue *catalogue);

/* --- find --- */

enum cs_detail { CS_DETAIL_NAME, CS_DETAIL_SUMMARY, CS_DETAIL_FULL };

struct cs_find {
    struct cs_str query, server;
    size_t limit, offset; /* limit 0: 5; at most 50 */
    enum cs_detail detail;
    bool (*allowed)(void *ctx, const struct cs_tool *tool); /* NULL: all */
    void *ctx;
};

/*
 * JSON: {"tools": [{"tool": "github.listCommits", "path": "/mcp-servers/github/listCommits.ts",
 * "summary"?, "definition"?}], "total": 212, "servers"?: [{"server", "tools"}], "waiting"?: [...]}.
 * An empty query is answered with the servers. `waiting`: servers that have not answered yet.
 */
void cs_tools_find(struct cs_tools *tools, const struct cs_catalogue *catalogue,
                   const struct cs_find *find, struct cs_buf *json);

/* The TypeScript of a file of the tree, by "/mcp-servers/github/listCommits.ts",
 * "github/list_commits" or "github.listCommits". CS_MISSING names near ones. */
int cs_tools_read(struct cs_tools *tools, const struct cs_catalogue *catalogue, struct cs_str path,
                  bool (*allowed)(void *ctx, const struct cs_tool *tool), void *ctx,
                  struct cs_buf *text, struct cs_err *err);

/* Names near to a wrong one, best first, for a message: "github.listCommits, github.listIssues";
 * or servers, if there is no such server and nothing is near. Empty: there is nothing at all. */
void cs_tools_near(struct cs_tools *tools, const struct cs_catalogue *catalogue,
                   struct cs_str server, struct cs_str tool,
                   bool (*allowed)(void *ctx, const struct cs_tool *tool), void *ctx,
                   struct cs_buf *out);

/* Calls `then` once it is known what the named server (empty: every server) offers, or that it
 * failed, or after `ms`. What it offered last time will do, unless `fresh`. Starts what must be
 * started. Never before this has returned, and not at all if it is cancelled before. */
struct cs_await *cs_tools_await(struct cs_tools *tools, struct cs_str server, bool fresh,
                                uint32_t ms, void (*then)(void *ctx), void *ctx);
void cs_await_cancel(struct cs_await *await);
/* Perhaps somebody has just looked at tools that stand out: the store is asked once more, and
 * cs_tools_await waits for that, too. */
void cs_tools_look_again(struct cs_tools *tools);
/* Servers that were never listed and have not failed either. */
bool cs_tools_waiting(struct cs_tools *tools);
/* Calls `changed` whenever another catalogue has become the current one; it may be called from
 * within functions of this header. There is one who is told; NULL: nobody. */
void cs_tools_set_watcher(struct cs_tools *tools, void (*changed)(void *ctx), void *ctx);

/* --- call --- */

struct cs_tool_result {
    struct cs_json_val result; /* the MCP result; valid for the call */
    struct cs_err err;         /* code CS_OK: there is a result */
    bool retryable;
};

/* Only run/call.c calls this: every call passes the gate there. `trace` (may be NULL) is told to
 * the server. `done` runs once, never before this has returned. */
struct cs_tool_call *cs_tools_call(struct cs_tools *tools, const struct cs_tool *tool,
                                   struct cs_str arguments, uint32_t timeout_ms,
                                   uint64_t max_result_bytes, const struct cs_trace *trace,
                                   void (*done)(void *ctx, const struct cs_tool_result *result),
                                   void *ctx);
void cs_tool_call_cancel(struct cs_tool_call *call); /* `done` will not run */

/* --- what servers ask while they work --- */

enum cs_ask_kind {
    CS_ASK_FORM,   /* a person fills in a form: {message, requestedSchema} */
    CS_ASK_URL,    /* a person opens an address: {message, url} */
    CS_ASK_SAMPLE, /* a language model continues: {messages, maxTokens, ...} */
};

struct cs_tool_ask {
    uint64_t id;
    struct cs_str server; /* as configured */
    enum cs_ask_kind kind;
    struct cs_str params; /* JSON as the server sent it */
    /* `ctx` of the calls that it can have come from: one, if that is known. Several, if an older
     * server has several under way; none, if it asks out of the blue. */
    void *const *calls;
    size_t call_count;
};

struct cs_asker {
    unsigned kinds; /* 1u << CS_ASK_FORM | ...: what servers are told that they may ask */
    /* False: declined. Otherwise cs_tools_answer follows, or `withdrawn`. */
    bool (*ask)(void *ctx, const struct cs_tool_ask *ask);
    /* Its call or its server is over, or nobody answered within ten minutes. */
    void (*withdrawn)(void *ctx, uint64_t id);
    void *ctx;
};

/* Who is asked; without this everything is declined. To be set before the loop runs, as servers are
 * told when they are first connected to. NULL: from now on nobody. */
void cs_tools_set_asker(struct cs_tools *tools, const struct cs_asker *asker);

/* `result` is the JSON that the protocol wants ({action, content?}, or a sampling result); empty:
 * declined. Of a question that is not open any more it is ignored. The clock of a call stands still
 * while it is asked. */
void cs_tools_answer(struct cs_tools *tools, uint64_t id, struct cs_str result);

/* A value that a tool answered: its type is learned from it, or checked. `drift` gets a sentence if
 * it breaks the shape that was declared or learned; else it stays empty. `hidden` may be NULL. */
void cs_tools_seen(struct cs_tools *tools, const struct cs_tool *tool, struct cs_json_val value,
                   struct cs_schema_hidden *hidden, struct cs_buf *drift);

/* Should cs_tools_seen be given this tool's next result, even if it takes parsing a large one? */
bool cs_tools_curious(struct cs_tools *tools, const struct cs_tool *tool);

/* --- servers, for `caisson list` --- */

struct cs_server_state {
    struct cs_str name, kind; /* kind: "stdio", "http" */
    const char *state;        /* "ready", "idle", "connecting", "failed", "disabled", "login" ... */
    struct cs_str target;     /* the command, or the URL; secrets are not in it */
    struct cs_str version;    /* of the server */
    struct cs_str protocol;
    size_t tools;
    struct cs_str error;                 /* the last one; empty: none */
    struct cs_str stderr_tail, log_tail; /* what it wrote to stderr, and what it logged, last */
    uint32_t restarts;
    int64_t listed_at; /* seconds; 0: never */
};
void cs_tools_servers(struct cs_tools *tools,
                      void (*each)(void *ctx, const struct cs_server_state *), void *ctx);

#endif
