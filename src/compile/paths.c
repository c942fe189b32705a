/* Paths: free names, modules and their members, and which of them are tools. */
#include <stdlib.h>

#include "compile/reach.h"

/* Free names that are no server's: the language, and what the runtime gives every program. */
static const char *const known[] = {
    "AbortController",
    "AbortSignal",
    "AggregateError",
    "Array",
    "ArrayBuffer",
    "AsyncFunction",
    "AsyncGeneratorFunction",
    "Atomics",
    "BigInt",
    "BigInt64Array",
    "BigUint64Array",
    "Blob",
    "Boolean",
    "BroadcastChannel",
    "Buffer",
    "Bun",
    "CustomEvent",
    "DOMException",
    "DataView",
    "Date",
    "Deno",
    "DisposableStack",
    "Error",
    "EvalError",
    "Event",
    "EventSource",
    "EventTarget",
    "File",
    "FinalizationRegistry",
    "Float16Array",
    "Float32Array",
    "Float64Array",
    "FormData",
    "Function",
    "GeneratorFunction",
    "Headers",
    "Image",
    "Infinity",
    "Int16Array",
    "Int32Array",
    "Int8Array",
    "Intl",
    "Iterator",
    "JSON",
    "Map",
    "Math",
    "MessageChannel",
    "NaN",
    "Number",
    "Object",
    "Promise",
    "Proxy",
    "RangeError",
    "ReadableStream",
    "ReferenceError",
    "Reflect",
    "RegExp",
    "Request",
    "Response",
    "Set",
    "ShadowRealm",
    "SharedArrayBuffer",
    "String",
    "SuppressedError",
    "Symbol",
    "SyntaxError",
    "Temporal",
    "TextDecoder",
    "TextEncoder",
    "ToolError",
    "TransformStream",
    "TypeError",
    "URIError",
    "URL",
    "URLSearchParams",
    "Uint16Array",
    "Uint32Array",
    "Uint8Array",
    "Uint8ClampedArray",
    "WeakMap",
    "WeakRef",
    "WeakSet",
    "WebAssembly",
    "WebSocket",
    "Worker",
    "WritableStream",
    "XMLHttpRequest",
    "__dirname",
    "__filename",
    "alert",
    "arguments",
    "atob",
    "btoa",
    "caisson",
    "clearImmediate",
    "clearInterval",
    "clearTimeout",
    "console",
    "crypto",
    "decodeURI",
    "decodeURIComponent",
    "document",
    "encodeURI",
    "encodeURIComponent",
    "escape",
    "eval",
    "exports",
    "fetch",
    "global",
    "globalThis",
    "inputs",
    "isFinite",
    "isNaN",
    "localStorage",
    "location",
    "module",
    "navigator",
    "parseFloat",
    "parseInt",
    "performance",
    "process",
    "queueMicrotask",
    "readToolDefinition",
    "reportError",
    "require",
    "saveSkill",
    "searchSkills",
    "searchTools",
    "self",
    "sessionStorage",
    "setImmediate",
    "setInterval",
    "setTimeout",
    "state",
    "structuredClone",
    "tools",
    "undefined",
    "unescape",
    "window",
};

static int by_name(const void *key, const void *entry)
{
    const struct cs_str *s = key;
    const char *word = *(const char *const *)entry;
    int order = strncmp(s->at, word, s->len);
    return order ? order : word[s->len] ? -1 : 0;
}

static bool is_known(struct cs_str name)
{
    return bsearch(&name, known, CS_COUNT(known), sizeof *known, by_name) != NULL;
}

/* The parts of a path without "." and "..", as many as fit; how many there are. */
static uint32_t parts_of(struct cs_str s, struct cs_str *parts, uint32_t max)
{
    uint32_t count = 0;
    while (s.len) {
        const char *slash = memchr(s.at, '/', s.len);
        struct cs_str part = cs_strn(s.at, slash ? (size_t)(slash - s.at) : s.len);
        s = cs_strn(s.at + part.len + (slash != NULL), s.len - part.len - (slash != NULL));
        if (part.len == 0 || cs_str_is(part, "."))
            continue;
        if (cs_str_is(part, ".."))
            count -= count > 0;
        else if (count < max)
            parts[count++] = part;
        else
            return max;
    }
    return count;
}

/* "/mcp-servers/S/T.ts", "./mcp-servers/S/index.ts", "mcp-servers/S": S and T, either may be 0. */
static bool server_module(struct cs_parser *p, uint32_t specifier, struct cs_path *path)
{
    struct cs_str parts[16] = {0}, s = p->names.at[specifier].text;
    uint32_t count = parts_of(s, parts, CS_COUNT(parts));
    if (!count || !cs_str_is(parts[0], "mcp-servers"))
        return false;
    struct cs_str *last = &parts[count > 2 ? 2 : 1];
    if (cs_str_ends(*last, ".ts") || cs_str_ends(*last, ".js"))
        last->len -= 3;
    if (cs_str_is(*last, "index"))
        last->len = 0;
    struct cs_str server = count > 1 ? parts[1] : CS_STR(""),
                  name = count > 2 ? parts[2] : CS_STR("");
    path->kind = name.len ? PATH_MODULE : server.len ? PATH_SERVER : PATH_TOOLS;
    path->server = server.len ? cs_intern(p, server) : (uint32_t)K_NONE;
    path->name = name.len ? cs_intern(p, name) : (uint32_t)K_NONE;
    return true;
}

static enum cs_path_special special_of(struct cs_str root, struct cs_str name)
{
    static const struct {
        const char *root, *name;
        enum cs_path_special special;
    } list[] = {
        {"Promise", "all", SPECIAL_WHOLE},   {"Promise", "allSettled", SPECIAL_WHOLE},
        {"Object", "freeze", SPECIAL_WHOLE}, {"Object", "keys", SPECIAL_KEYS},
        {"Object", "assign", SPECIAL_INTO},  {"Object", "defineProperty", SPECIAL_INTO},
        {"Reflect", "set", SPECIAL_INTO},
    };
    for (size_t i = 0; i < CS_COUNT(list); i++) {
        if (cs_str_is(root, list[i].root) && cs_str_is(name, list[i].name))
            return list[i].special;
    }
    return cs_str_is(root, "console") ? SPECIAL_CONSOLE : SPECIAL_NONE;
}

/* What is put there can be got again: files, storage. */
static bool is_kept(struct cs_str root, bool module)
{
    if (!module)
        return cs_str_is(root, "Deno") || cs_str_is(root, "Bun") || cs_str_ends(root, "Storage");
    return cs_str_is(root, "fs") || cs_str_is(root, "fs/promises") ||
           cs_str_starts(root, "node:fs");
}

static void root_kind(struct cs_reach *r, struct cs_path *path)
{
    struct cs_parser *p = r->p;
    if (path->module) {
        server_module(p, path->atom, path);
    } else if (path->atom == K_tools) {
        path->kind = PATH_TOOLS;
    } else if (path->atom == K_globalThis) {
        path->kind = PATH_GLOBAL;
    } else if (!is_known(p->names.at[path->atom].text)) {
        path->kind = PATH_SERVER;
        path->server = path->atom;
        path->guess = true;
    } else if (path->atom == K_require) {
        path->special = SPECIAL_REQUIRE;
    } else if (cs_str_is(p->names.at[path->atom].text, "caisson")) {
        path->kind = PATH_TOOLS;
        path->special = SPECIAL_HOUSE;
    }
    path->rules = cs_permission_rules(p->names.at[path->atom].text, path->module);
    if (path->special == SPECIAL_NONE && is_kept(p->names.at[path->atom].text, path->module))
        path->special = SPECIAL_FILES;
}

static void member_kind(struct cs_reach *r, struct cs_path *path, const struct cs_path *up)
{
    const struct cs_name *names = r->p->names.at;
    if (!up->up && !up->module && up->kind == PATH_PLAIN)
        path->special = special_of(names[up->atom].text, names[path->atom].text);
    if (up->special == SPECIAL_FILES)
        path->special = SPECIAL_FILES;
    path->rules = up->rules;
    path->module = up->module;
    path->guess = up->guess;
    path->kind = up->kind;
    path->server = up->server;
    path->name = up->name;
    if (up->special == SPECIAL_HOUSE || up->special == SPECIAL_NAMED) {
        bool named = up->special == SPECIAL_NAMED || path->atom == K_NONE ||
                     cs_str_is(names[path->atom].text, "callTool");
        path->kind = named ? PATH_TOOLS : PATH_PLAIN;
        path->special = named ? SPECIAL_NAMED : SPECIAL_FILES;
        return;
    }
    if (up->kind == PATH_TOOLS && path->atom != K_default) {
        path->kind = PATH_SERVER;
        path->server = path->atom;
    } else if (up->kind == PATH_SERVER && (path->atom != K_default || !up->module)) {
        path->kind = PATH_TOOL;
        path->name = path->atom;
    } else if (up->kind == PATH_MODULE) {
        path->kind = PATH_TOOL;
    } else if (up->kind == PATH_GLOBAL) {
        path->kind = PATH_PLAIN;
    }
}

bool cs_path_plain(struct cs_parser *p, uint32_t atom, bool module)
{
    struct cs_path path = {.atom = atom, .module = module};
    struct cs_reach r = {.p = p};
    root_kind(&r, &path);
    return path.kind == PATH_PLAIN && path.special != SPECIAL_REQUIRE && !path.rules;
}

bool cs_path_leads(const struct cs_reach *r, uint32_t path)
{
    return r->paths.at[path].kind != PATH_PLAIN;
}

bool cs_path_whole(const struct cs_reach *r, uint32_t path)
{
    return cs_path_leads(r, path) && r->paths.at[path].kind != PATH_TOOL;
}

static uint32_t slot_of(uint32_t up, uint32_t atom, bool module, uint32_t mask)
{
    uint64_t key = (uint64_t)up << 32 | (uint64_t)module << 31 | atom;
    return (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 33) & mask;
}

static void grow_paths(struct cs_reach *r)
{
    uint32_t size = r->path_mask ? (r->path_mask + 1) * 2 : 128;
    free(r->path_table);
    r->path_table = cs_calloc(size, sizeof *r->path_table);
    r->path_mask = size - 1;
    for (uint32_t k = 1; k < r->paths.len; k++) {
        const struct cs_path *path = &r->paths.at[k];
        uint32_t i = slot_of(path->up, path->atom, !path->up && path->module, r->path_mask);
        while (r->path_table[i])
            i = (i + 1) & r->path_mask;
        r->path_table[i] = k;
    }
}

static uint32_t path_of(struct cs_reach *r, uint32_t up, uint32_t atom, bool module)
{
    if (r->paths.len * 2 > r->path_mask)
        grow_paths(r);
    uint32_t i = slot_of(up, atom, module, r->path_mask);
    for (uint32_t k; (k = r->path_table[i]); i = (i + 1) & r->path_mask) {
        const struct cs_path *path = &r->paths.at[k];
        if (path->up == up && path->atom == atom && (up || path->module == module))
            return k;
    }
    if (r->paths.len >= REACH_PATHS) {
        r->lost = true;
        return 0;
    }
    struct cs_path made = {.up = up, .atom = atom, .module = module, .pos = r->pos};
    if (up)
        member_kind(r, &made, &r->paths.at[up]);
    else
        root_kind(r, &made);
    r->matters |= made.kind >= PATH_TOOLS || made.rules;
    *CS_PUSH(&r->paths) = made;
    return r->path_table[i] = r->paths.len - 1;
}

uint32_t cs_path_free(struct cs_reach *r, uint32_t atom)
{
    return path_of(r, 0, atom, false);
}

uint32_t cs_path_module(struct cs_reach *r, uint32_t specifier)
{
    return path_of(r, 0, specifier, true);
}

uint32_t cs_path_member(struct cs_reach *r, uint32_t path, uint32_t atom)
{
    if (path == 0)
        return 0;
    if (r->paths.at[path].kind == PATH_GLOBAL && atom != K_NONE)
        return cs_path_free(r, atom);
    return path_of(r, path, atom, false);
}

uint32_t cs_tool_bit(uint32_t tool)
{
    return tool < REACH_BITS ? tool : REACH_BITS;
}

static uint32_t tool_of(struct cs_reach *r, uint32_t server, uint32_t name, uint32_t pos,
                        const char *via)
{
    if (server == K_NONE)
        name = K_NONE;
    for (uint32_t i = 0; i < r->tools.len; i++) {
        if (r->tools.at[i].server == server && r->tools.at[i].name == name)
            return i;
    }
    if (r->tools.len >= REACH_TOOLS) {
        r->lost = true;
        return REACH_TOOLS - 1;
    }
    *CS_PUSH(&r->tools) = (struct cs_tool){.server = server, .name = name, .pos = pos, .via = via};
    return r->tools.len - 1;
}

uint64_t cs_path_tool(struct cs_reach *r, uint32_t path, uint32_t pos, const char *via)
{
    struct cs_path *to = &r->paths.at[path];
    to->given |= to->kind != PATH_TOOL;
    if (to->kind == PATH_GLOBAL)
        return cs_any_tool(r, pos);
    if (to->kind < PATH_TOOLS)
        return 0;
    uint32_t name = to->kind == PATH_TOOL || to->kind == PATH_MODULE ? to->name : (uint32_t)K_NONE;
    if (!to->tool)
        to->tool = tool_of(r, to->kind == PATH_TOOLS ? (uint32_t)K_NONE : to->server, name, pos,
                           to->module ? "import" : via) +
                   1;
    struct cs_tool *tool = &r->tools.at[to->tool - 1];
    if (pos < tool->pos) {
        tool->pos = pos;
        tool->via = to->module ? "import" : via;
    }
    return (uint64_t)1 << cs_tool_bit(to->tool - 1);
}

uint64_t cs_any_tool(struct cs_reach *r, uint32_t pos)
{
    r->matters = true;
    return (uint64_t)1 << cs_tool_bit(tool_of(r, K_NONE, K_NONE, pos, "chain"));
}
