/* The files of the tree's root: README.md and caisson.d.ts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/declare.h"
#include "tools/types.h"

#define README_SERVERS 16u
#define ABOUT_SERVERS  5u
#define ABOUT_BYTES    60u

static size_t count_tools(const struct cs_declare_server *servers, size_t count)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        n += servers[i].tools;
    return n;
}

static void put_server(const struct cs_declare_server *s, bool about, struct cs_buf *out)
{
    cs_comment_line(s->name, CS_IDENT_MAX, out);
    cs_buf_printf(out, " (%zu)", s->tools);
    CS_AUTO_BUF struct cs_buf line = {0};
    if (about)
        cs_declare_summary(s->about, ABOUT_BYTES, &line);
    if (line.len)
        cs_buf_printf(out, ": %.*s", CS_STR_ARG(cs_buf_str(&line)));
}

void cs_declare_readme(const struct cs_declare_server *servers, size_t count, struct cs_buf *out)
{
    cs_buf_printf(out, "# %zu tools of %zu servers\n\n", count_tools(servers, count), count);
    cs_buf_puts(out, "One directory per server, one `.ts` per tool.\n\n"
                     "1. Find: `await searchTools(\"create issue\", { limit: 5 })` gives paths; "
                     "`detail`: `\"name\"`, `\"summary\"` or `\"full\"`.\n"
                     "2. Read: `await readToolDefinition(path)`: types and an example.\n"
                     "3. Call:\n\n"
                     "```ts\n"
                     "import { createIssue } from \"/mcp-servers/github/createIssue.ts\";\n"
                     "const issue = await createIssue({ title: \"Hi\" }); "
                     "// or tools.github.createIssue(...)\n"
                     "```\n\n"
                     "Call in parallel with `Promise.all`; failures throw `ToolError`; return "
                     "only what is needed.\n\n");
    bool about = count <= ABOUT_SERVERS;
    cs_buf_puts(out, about ? "Servers:\n" : "Servers: ");
    for (size_t i = 0; i < count && i < README_SERVERS; i++) {
        cs_buf_puts(out, about ? "- " : i ? ", " : "");
        put_server(&servers[i], about, out);
        cs_buf_puts(out, about ? "\n" : "");
    }
    if (count > README_SERVERS)
        cs_buf_printf(out, ", and %zu more: `searchTools(\"\")`", count - README_SERVERS);
    cs_buf_puts(out, about ? "" : "\n");
}

/* --- caisson.d.ts --- */

/* Globals of the web that begin with a small letter: a server of such a name is reached through
 * `tools`. */
static const char *const web[] = {
    "addEventListener",
    "alert",
    "atob",
    "blur",
    "btoa",
    "caches",
    "cancelAnimationFrame",
    "cancelIdleCallback",
    "captureEvents",
    "clearInterval",
    "clearTimeout",
    "clientInformation",
    "close",
    "closed",
    "confirm",
    "console",
    "cookieStore",
    "createImageBitmap",
    "crossOriginIsolated",
    "crypto",
    "customElements",
    "decodeURI",
    "decodeURIComponent",
    "devicePixelRatio",
    "dispatchEvent",
    "document",
    "encodeURI",
    "encodeURIComponent",
    "escape",
    "event",
    "external",
    "fetch",
    "focus",
    "frameElement",
    "frames",
    "getComputedStyle",
    "getSelection",
    "history",
    "indexedDB",
    "innerHeight",
    "innerWidth",
    "inputs",
    "isFinite",
    "isNaN",
    "isSecureContext",
    "length",
    "localStorage",
    "location",
    "locationbar",
    "matchMedia",
    "menubar",
    "moveBy",
    "moveTo",
    "name",
    "navigation",
    "navigator",
    "open",
    "opener",
    "orientation",
    "origin",
    "originAgentCluster",
    "outerHeight",
    "outerWidth",
    "pageXOffset",
    "pageYOffset",
    "parent",
    "parseFloat",
    "parseInt",
    "performance",
    "personalbar",
    "postMessage",
    "print",
    "prompt",
    "queueMicrotask",
    "readToolDefinition",
    "releaseEvents",
    "removeEventListener",
    "reportError",
    "requestAnimationFrame",
    "requestIdleCallback",
    "resizeBy",
    "resizeTo",
    "scheduler",
    "screen",
    "screenLeft",
    "screenTop",
    "screenX",
    "screenY",
    "scroll",
    "scrollBy",
    "scrollTo",
    "scrollX",
    "scrollY",
    "scrollbars",
    "searchTools",
    "self",
    "sessionStorage",
    "setInterval",
    "setTimeout",
    "speechSynthesis",
    "state",
    "status",
    "statusbar",
    "stop",
    "structuredClone",
    "toolbar",
    "tools",
    "top",
    "unescape",
    "visualViewport",
    "webkitURL",
    "window",
};

static int by_text(const void *a, const void *b)
{
    return strcmp(a, *(const char *const *)b);
}

/* Names with a capital are those of classes, hundreds of them. */
static bool is_free(const char *ident)
{
    return !(ident[0] >= 'A' && ident[0] <= 'Z') && strncmp(ident, "on", 2) != 0 &&
           !bsearch(ident, web, CS_COUNT(web), sizeof *web, by_text);
}

static const char fixed[] =
    "/// <reference lib=\"dom\" />\n"
    "// What a program finds inside Caisson, for editors and type checkers.\n"
    "declare const caisson: {\n"
    "  callTool(server: string, tool: string, args?: any): Promise<any>;\n"
    "  progress(done: number, total?: number, message?: string): void;\n"
    "  /** What is kept under a handle: results that were too large for an answer, files of\n"
    "   * /workspace/out, and what was put here. */\n"
    "  storage: {\n"
    "    get(id: string, part?: { offset?: number; length?: number; as?: 'bytes' }): "
    "Promise<any>;\n"
    "    put(name: string, value: any, options?: { mediaType?: string }):\n"
    "      Promise<{ id: string; name: string; size: number; media_type: string; hash: string }>;\n"
    "    list(): Promise<{ id: string; name: string; media_type: string; size: number }[]>;\n"
    "  };\n"
    "};\n"
    "declare const inputs: any;\n"
    "/** Kept from one execution of the session to the next. */\n"
    "declare const state: Record<string, any>;\n"
    "declare class ToolError extends Error {\n"
    "  server: string;\n"
    "  tool: string;\n"
    "  code: string;\n"
    "  retryable: boolean;\n"
    "}\n"
    "interface ToolSearch {\n"
    "  tools: { tool: string; path: string; summary?: string; definition?: string }[];\n"
    "  total: number;\n"
    "  servers?: { server: string; tools: number }[];\n"
    "  waiting?: string[];\n"
    "}\n"
    "declare function searchTools(query: string, options?: {\n"
    "  limit?: number;\n"
    "  detail?: \"name\" | \"summary\" | \"full\";\n"
    "  server?: string;\n"
    "  offset?: number;\n"
    "}): Promise<ToolSearch>;\n"
    "declare function readToolDefinition(path: string): Promise<string>;\n";

void cs_declare_globals(const struct cs_declare_server *servers, size_t count, struct cs_buf *out)
{
    CS_AUTO_BUF struct cs_buf names = {0};
    cs_buf_puts(out, fixed);
    cs_buf_puts(out, "declare const tools: {\n");
    for (size_t i = 0; i < count; i++) {
        char ident[CS_IDENT_MAX + 1];
        CS_AUTO_BUF struct cs_buf path = {0};
        cs_ident_given(servers[i].ident, servers[i].name, ident);
        cs_buf_printf(&path, "./%.*s/index", CS_STR_ARG(servers[i].name));
        cs_buf_printf(out, "  %s: typeof import(", ident);
        cs_type_quote(cs_buf_str(&path), out);
        cs_buf_puts(out, ");\n");
        if (is_free(ident))
            cs_buf_printf(&names, "declare const %s: typeof tools.%s;\n", ident, ident);
    }
    cs_buf_puts(out, "};\n");
    cs_buf_putstr(out, cs_buf_str(&names));
}
