#include "worker/resolve.h"

#include <stdio.h>

#include "base/own.h"

static const char *const roots[] = {"mcp-servers", "skills", "workspace", "tmp"};

/* The modules of the runtime. Also without `node:`, as much code is written. */
static const char *const builtins[] = {"node:fs/promises", "node:path", "node:util", "node:crypto",
                                       "node:buffer"};

/* What else is asked for, and what to say. Matched with and without `node:`. */
static const struct {
    const char *name, *instead;
} absent[] = {
    {"fs", "Use `import { readFile, writeFile } from 'node:fs/promises'`; files live under "
           "/workspace and /tmp."},
    {"process", "There is no process object; the program's arguments are in `inputs`."},
    {"child_process", "Other programs cannot be started from here."},
    {"os", "The machine is not visible from here."},
    {"http", "There is no network from here; call a tool through `tools.<server>.<tool>(...)`."},
    {"https", "There is no network from here; call a tool through `tools.<server>.<tool>(...)`."},
    {"net", "There is no network from here; call a tool through `tools.<server>.<tool>(...)`."},
    {"events", "`EventTarget` and `AbortController` are global."},
    {"timers/promises", "Use `await new Promise((done) => setTimeout(done, ms))`."},
    {"assert", "Throw an Error, or use console.assert."},
    {"url", "`URL` and `URLSearchParams` are global."},
    {"stream", "Read whole files with `node:fs/promises`."},
    {"worker_threads", "A program has one thread."},
    {"vm", "Code runs only in the program itself."},
    {"module", "Use `import`."},
    {"axios", "There is no network from here; call a tool through `tools.<server>.<tool>(...)`."},
    {"node-fetch",
     "There is no network from here; call a tool through `tools.<server>.<tool>(...)`."},
    {"lodash", "Packages are not available; write the few lines that are needed."},
};

static enum cs_resolved refuse(char *out, const char *why, struct cs_str what, const char *instead)
{
    int cut = what.len > 120 ? 120 : (int)what.len;
    snprintf(out, CS_RESOLVE_MAX, "%s: '%.*s'. %s", why, cut, what.at, instead);
    return CS_RESOLVED_REFUSED;
}

static bool is_root(struct cs_str segment)
{
    for (size_t i = 0; i < CS_COUNT(roots); i++) {
        if (cs_str_is(segment, roots[i]))
            return true;
    }
    return false;
}

static struct cs_str next_segment(struct cs_str *rest)
{
    const char *slash = rest->len ? memchr(rest->at, '/', rest->len) : NULL;
    size_t n = slash ? (size_t)(slash - rest->at) : rest->len;
    struct cs_str segment = cs_strn(rest->at, n);
    *rest = slash ? cs_strn(slash + 1, rest->len - n - 1) : cs_strn(rest->at + n, 0);
    return segment;
}

static struct cs_str without_node(struct cs_str s)
{
    return cs_str_starts(s, "node:") ? cs_strn(s.at + 5, s.len - 5) : s;
}

static enum cs_resolved bare(struct cs_str spec, char *out)
{
    struct cs_str name = without_node(spec);
    for (size_t i = 0; i < CS_COUNT(builtins); i++) {
        if (cs_str_is(name, builtins[i] + 5)) {
            snprintf(out, CS_RESOLVE_MAX, "%s", builtins[i]);
            return CS_RESOLVED_BUILTIN;
        }
    }
    for (size_t i = 0; i < CS_COUNT(absent); i++) {
        if (cs_str_is(name, absent[i].name))
            return refuse(out, "there is no module", spec, absent[i].instead);
    }
    if (memchr(spec.at, ':', spec.len) && !cs_str_starts(spec, "node:"))
        return refuse(out, "a URL cannot be imported", spec,
                      "Import a file beneath /mcp-servers, /skills, /workspace or /tmp.");
    return refuse(out, "there is no module", spec,
                  "Available are node:fs/promises, node:path, node:util, node:crypto, node:buffer, "
                  "and files beneath /mcp-servers, /skills, /workspace and /tmp.");
}

/* Appends the segments of `path`, treating "." and "..". False if it climbs above the root. */
static bool walk(char *out, size_t *len, struct cs_str path)
{
    while (path.len > 0) {
        struct cs_str s = next_segment(&path);
        if (s.len == 0 || cs_str_is(s, "."))
            continue;
        if (cs_str_is(s, "..")) {
            if (*len == 0)
                return false;
            while (out[--*len] != '/') {
            }
            continue;
        }
        if (*len + 1 + s.len >= CS_RESOLVE_MAX)
            return false;
        out[(*len)++] = '/';
        memcpy(out + *len, s.at, s.len);
        *len += s.len;
    }
    return true;
}

static struct cs_str directory(struct cs_str path)
{
    while (path.len > 0 && path.at[path.len - 1] != '/')
        path.len--;
    return path;
}

static bool has_odd_bytes(struct cs_str s, size_t *at)
{
    for (*at = 0; *at < s.len; (*at)++) {
        unsigned char c = (unsigned char)s.at[*at];
        if (c < 0x20 || c == 0x7f || c == '\\')
            return true;
    }
    return false;
}

static bool is_relative(struct cs_str s)
{
    return cs_str_starts(s, "./") || cs_str_starts(s, "../") || cs_str_is(s, ".") ||
           cs_str_is(s, "..");
}

/* Does it count from the top, whoever imports it? */
static bool from_top(struct cs_str from, struct cs_str spec)
{
    if (spec.at[0] == '/')
        return true;
    struct cs_str rest = spec, first = next_segment(&rest);
    if (!is_relative(spec))
        return is_root(first);
    /* "./mcp-servers/x" in the program means the root of that name, not a folder in /workspace. */
    while (cs_str_is(first, "."))
        first = next_segment(&rest);
    return is_root(first) && cs_str_is(directory(from), "/workspace/");
}

/* Beneath a root, and more than the root itself? */
static bool is_inside(struct cs_str path)
{
    if (path.len == 0)
        return false;
    struct cs_str rest = cs_strn(path.at + 1, path.len - 1);
    return is_root(next_segment(&rest)) && rest.len > 0;
}

enum cs_resolved cs_module_resolve(struct cs_str from, struct cs_str spec, char out[CS_RESOLVE_MAX])
{
    static const char only[] = "Only files beneath /mcp-servers, /skills, /workspace and /tmp can "
                               "be imported.";
    size_t odd;
    if (spec.len == 0)
        return refuse(out, "the import names nothing", spec, only);
    if (spec.len > 512)
        return refuse(out, "the name of the import is too long", spec, only);
    if (has_odd_bytes(spec, &odd))
        return refuse(out, "an import may not contain control characters or backslashes",
                      cs_strn(spec.at, odd), only);
    bool top = from_top(from, spec);
    if (!top && !is_relative(spec))
        return bare(spec, out);
    char path[CS_RESOLVE_MAX];
    size_t len = 0;
    bool walked = (top || walk(path, &len, directory(from))) && walk(path, &len, spec);
    if (!walked || !is_inside(cs_strn(path, len)))
        return refuse(out, "the import lies outside of what a program may see", spec, only);
    memcpy(out, path, len);
    out[len] = 0;
    return CS_RESOLVED_PATH;
}
