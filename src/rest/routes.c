/* The table of routes, and which row a request belongs to. */
#include <string.h>

#include "rest/inside.h"

/* The columns are those of struct cs_route. */
static const struct cs_route routes[] = {
    {"GET", "/", CS_NEED_NOTHING, CS_BODY_NONE, NULL, "getRoot", "state",
     "What this is, and where things are", "", "200:Root", "", cs_rest_get_root},
    {"GET", "/health", CS_NEED_NOTHING, CS_BODY_NONE, NULL, "getHealth", "state",
     "Can it be used, and how is each part?", "", "200:Health 503:Health", "", cs_rest_get_health},
    {"GET", "/openapi.json", CS_NEED_NOTHING, CS_BODY_NONE, NULL, "getOpenapi", "state",
     "This description", "", "200:Any", "", cs_rest_get_openapi},

    {"POST", "/executions", CS_NEED_EXECUTE, CS_BODY_JSON, "ExecutionRequest", "createExecution",
     "executions", "Run a program", "IdempotencyKey", "200:Execution 202:ExecutionStarted",
     "404 409 413 415 422 503", cs_rest_post_execution},
    {"GET", "/executions", CS_NEED_EXECUTE, CS_BODY_NONE, NULL, "listExecutions", "executions",
     "Executions, newest first", "SessionId ExecutionStatus Limit Before", "200:ExecutionList", "",
     cs_rest_get_executions},
    {"GET", "/executions/{execution_id}", CS_NEED_EXECUTE, CS_BODY_NONE, NULL, "getExecution",
     "executions", "One execution: how it ended, or how far it is", "WaitMs",
     "200:ExecutionOrRunning", "404", cs_rest_get_execution},
    {"DELETE", "/executions/{execution_id}", CS_NEED_EXECUTE, CS_BODY_NONE, NULL, "cancelExecution",
     "executions", "Cancel it, and learn how it ended", "", "200:Execution", "404 409",
     cs_rest_delete_execution},
    {"GET", "/executions/{execution_id}/trace", CS_NEED_EXECUTE, CS_BODY_NONE, NULL, "getTrace",
     "executions", "What it did: phases and calls of tools, with times", "", "200:Trace", "404 409",
     cs_rest_get_trace},
    {"GET", "/executions/{execution_id}/logs", CS_NEED_EXECUTE, CS_BODY_NONE, NULL, "getLogs",
     "executions", "What it logged; as a stream while it runs", "LastEventId",
     "200:Logs 200:events", "404", cs_rest_get_logs},
    {"GET", "/executions/{execution_id}/provenance", CS_NEED_EXECUTE, CS_BODY_NONE, NULL,
     "getProvenance", "executions", "Where its result comes from; signed, if asked for", "Attest",
     "200:ProvenanceOrAttestation", "404 409", cs_rest_get_provenance},
    {"POST", "/executions/{execution_id}/replay", CS_NEED_EXECUTE, CS_BODY_MAYBE, "ReplayRequest",
     "replayExecution", "executions", "Run it, or another program, again from its record", "",
     "200:Replay", "404 409 413 415 503", cs_rest_post_replay},

    {"GET", "/approvals", CS_NEED_EXECUTE, CS_BODY_NONE, NULL, "listApprovals", "approvals",
     "What persons were asked, newest first", "ApprovalState ExecutionId Limit Before",
     "200:ApprovalList", "", cs_rest_get_approvals},
    {"GET", "/approvals/{approval_id}", CS_NEED_EXECUTE, CS_BODY_NONE, NULL, "getApproval",
     "approvals", "One question, with the card that a person decides by", "", "200:Approval", "404",
     cs_rest_get_approval},
    {"POST", "/approvals/{approval_id}", CS_NEED_APPROVE, CS_BODY_FORM, "ApprovalAnswer",
     "answerApproval", "approvals", "Answer it; the first answer counts", "", "200:Approval",
     "404 409 412 413 415", cs_rest_post_approval},
    {"GET", "/grants", CS_NEED_APPROVE, CS_BODY_NONE, NULL, "listGrants", "approvals",
     "What persons allowed beyond once", "GrantLimit", "200:GrantList", "", cs_rest_get_grants},
    {"DELETE", "/grants/{grant_id}", CS_NEED_APPROVE, CS_BODY_NONE, NULL, "revokeGrant",
     "approvals", "Take it back", "", "204:none", "404", cs_rest_delete_grant},

    {"GET", "/servers", CS_NEED_EXECUTE, CS_BODY_NONE, NULL, "listServers", "tools",
     "Tool servers and their state", "", "200:ServerList", "", cs_rest_get_servers},
    {"GET", "/tools", CS_NEED_EXECUTE, CS_BODY_NONE, NULL, "listTools", "tools",
     "Tools of all servers, or of one", "Server Limit Offset", "200:ToolList", "404",
     cs_rest_get_tools},
    {"GET", "/tools/search", CS_NEED_EXECUTE, CS_BODY_NONE, NULL, "searchTools", "tools",
     "Tools that fit some words", "Query Server SearchLimit Offset Detail", "200:ToolsFound", "404",
     cs_rest_search_tools},
    {"GET", "/tools/{server}/{tool*}", CS_NEED_EXECUTE, CS_BODY_NONE, NULL, "getTool", "tools",
     "The definition of a tool", "", "200:Tool", "404", cs_rest_get_tool},
    {"POST", "/tools/{server}/{tool*}", CS_NEED_EXECUTE, CS_BODY_JSON, "ToolArguments", "callTool",
     "tools", "Call a tool; the body is its arguments", "IdempotencyKey TimeoutMs", "200:Execution",
     "404 409 413 415 422 503", cs_rest_post_tool},

    {"POST", "/sessions", CS_NEED_EXECUTE, CS_BODY_MAYBE, "SessionRequest", "createSession",
     "sessions", "Start a session", "", "201:Session", "413 415", cs_rest_post_session},
    {"GET", "/sessions", CS_NEED_EXECUTE, CS_BODY_NONE, NULL, "listSessions", "sessions",
     "Sessions, last used first", "Limit Offset", "200:SessionList", "", cs_rest_get_sessions},
    {"GET", "/sessions/{session_id}", CS_NEED_EXECUTE, CS_BODY_NONE, NULL, "getSession", "sessions",
     "One session with its state and latest executions", "", "200:SessionWithState", "404",
     cs_rest_get_session},
    {"DELETE", "/sessions/{session_id}", CS_NEED_EXECUTE, CS_BODY_NONE, NULL, "deleteSession",
     "sessions", "End it; its state and files are removed", "", "204:none", "404 409",
     cs_rest_delete_session},
    {"GET", "/sessions/{session_id}/files", CS_NEED_EXECUTE, CS_BODY_NONE, NULL, "listFiles",
     "sessions", "Files of its workspace", "", "200:FileList", "404", cs_rest_get_files},
    {"GET", "/sessions/{session_id}/files/{path*}", CS_NEED_EXECUTE, CS_BODY_NONE, NULL, "getFile",
     "sessions", "Content of a file", "", "200:bytes", "404", cs_rest_get_file},
    {"PUT", "/sessions/{session_id}/files/{path*}", CS_NEED_EXECUTE, CS_BODY_BYTES, NULL, "putFile",
     "sessions", "Write a file; directories are made as needed", "", "204:none", "404 409 413",
     cs_rest_put_file},
    {"DELETE", "/sessions/{session_id}/files/{path*}", CS_NEED_EXECUTE, CS_BODY_NONE, NULL,
     "deleteFile", "sessions", "Remove a file", "", "204:none", "404 409", cs_rest_delete_file},

    {"GET", "/artifacts", CS_NEED_EXECUTE, CS_BODY_NONE, NULL, "listArtifacts", "artifacts",
     "What executions left behind, newest first", "SessionId ExecutionId Limit", "200:ArtifactList",
     "", cs_rest_get_artifacts},
    {"GET", "/artifacts/{artifact_id}", CS_NEED_EXECUTE, CS_BODY_NONE, NULL, "getArtifact",
     "artifacts", "Content of an artifact, or a part of it", "Range", "200:bytes 206:bytes",
     "404 413 416", cs_rest_get_artifact},
    {"DELETE", "/artifacts/{artifact_id}", CS_NEED_EXECUTE, CS_BODY_NONE, NULL, "deleteArtifact",
     "artifacts", "Remove its content", "", "204:none", "404", cs_rest_delete_artifact},
    {"GET", "/artifacts/{artifact_id}/lineage", CS_NEED_EXECUTE, CS_BODY_NONE, NULL, "getLineage",
     "artifacts", "Where it comes from, and what was made from it", "Direction Depth LineageFormat",
     "200:Lineage 200:text", "404", cs_rest_get_lineage},

    {"DELETE", "/cache", CS_NEED_ADMIN, CS_BODY_NONE, NULL, "clearCache", "state",
     "Forget the answers that are kept for this tenant", "", "204:none", "503",
     cs_rest_delete_cache},
    {"GET", "/statistics", CS_NEED_EXECUTE, CS_BODY_NONE, NULL, "getStatistics", "state",
     "Figures of a window of time", "Window FiguresTenant", "200:Statistics", "",
     cs_rest_get_statistics},
    {"GET", "/metrics", CS_NEED_EXECUTE, CS_BODY_NONE, NULL, "getMetrics", "state",
     "Figures for Prometheus", "", "200:text", "", cs_rest_get_metrics},
};

const struct cs_route *cs_routes(size_t *count)
{
    *count = CS_COUNT(routes);
    return routes;
}

/* The segment at the front of `rest`, which loses it and the slash before it. */
static struct cs_str segment(struct cs_str *rest)
{
    rest->at++;
    rest->len--;
    const char *slash = rest->len ? memchr(rest->at, '/', rest->len) : NULL;
    struct cs_str s = {rest->at, slash ? (size_t)(slash - rest->at) : rest->len};
    rest->at += s.len;
    rest->len -= s.len;
    return s;
}

static bool fits(struct cs_str pattern, struct cs_str path, struct cs_str parts[CS_REST_PARTS])
{
    size_t count = 0;
    while (pattern.len && path.len && path.at[0] == '/') {
        struct cs_str whole = path;
        struct cs_str want = segment(&pattern), given = segment(&path);
        if (!cs_str_starts(want, "{")) {
            if (!cs_str_eq(want, given))
                return false;
            continue;
        }
        if (cs_str_ends(want, "*}")) {
            given = cs_strn(whole.at + 1, whole.len - 1);
            path.len = 0;
        }
        if (!given.len)
            return false;
        parts[count++] = given;
    }
    return !pattern.len && !path.len;
}

static bool serves(const struct cs_route *r, struct cs_str method)
{
    return cs_str_is(method, r->method) ||
           (cs_str_is(method, "HEAD") && strcmp(r->method, "GET") == 0);
}

static void add_method(struct cs_buf *allow, const char *method)
{
    cs_buf_puts(allow, allow->len ? ", " : "");
    cs_buf_puts(allow, method);
    if (strcmp(method, "GET") == 0)
        cs_buf_puts(allow, ", HEAD");
}

const struct cs_route *cs_route_find(struct cs_str method, struct cs_str path,
                                     struct cs_str parts[CS_REST_PARTS], struct cs_buf *allow)
{
    const struct cs_route *found = NULL;
    for (size_t i = 0; i < CS_COUNT(routes); i++) {
        struct cs_str here[CS_REST_PARTS] = {{0}};
        if (!fits(cs_str(routes[i].path), path, here))
            continue;
        if (allow)
            add_method(allow, routes[i].method);
        if (found || !serves(&routes[i], method))
            continue;
        found = &routes[i];
        memcpy(parts, here, sizeof here);
    }
    if (allow && allow->len)
        cs_buf_puts(allow, ", OPTIONS");
    return found;
}

bool cs_rest_is_open(struct cs_str method, struct cs_str path)
{
    struct cs_str parts[CS_REST_PARTS];
    const struct cs_route *r = cs_route_find(method, path, parts, NULL);
    return r && r->need == CS_NEED_NOTHING;
}

uint64_t cs_rest_body_bytes(const struct cs_rest *rest, struct cs_str method, struct cs_str path)
{
    struct cs_str parts[CS_REST_PARTS];
    const struct cs_route *r = cs_route_find(method, path, parts, NULL);
    if (!r || r->body == CS_BODY_NONE)
        return CS_REST_SMALL_BODY;
    if (r->body == CS_BODY_BYTES)
        return rest->o.file_bytes;
    if (r->handle == cs_rest_post_tool)
        return rest->o.inputs_bytes;
    /* In JSON a byte of a program takes up to six: \u0000. Inputs are counted as they stand. */
    if (r->handle == cs_rest_post_execution)
        return 6 * rest->o.code_bytes + rest->o.inputs_bytes + CS_REST_SMALL_BODY;
    if (r->handle == cs_rest_post_replay)
        return 6 * rest->o.code_bytes + CS_REST_SMALL_BODY;
    return CS_REST_SMALL_BODY;
}
