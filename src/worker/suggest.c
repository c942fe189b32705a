/*
 * What to try next, by the engine's wording of the most usual mistakes.
 *
 * A row matches when `in` occurs in the message and `also` (if given) in the message or the source
 * line. The first row wins, so the particular ones stand before the general ones. "%s" in the text
 * is what stands between quotes, or after the matched text.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "worker/host.h"

static const struct row {
    const char *in, *also, *text;
} rows[] = {
    /* names that other runtimes have */
    {"Can't find variable: require", NULL, "Use `import { ... } from '...'`; there is no require."},
    {"Can't find variable: module", NULL,
     "Use `export default` or simply `return` the value; this is an ES module."},
    {"Can't find variable: exports", NULL,
     "Use `export default` or simply `return` the value; this is an ES module."},
    {"Can't find variable: process", NULL,
     "There is no process: arguments are in `inputs`, and the environment is empty."},
    {"Can't find variable: __dirname", NULL,
     "Files live under /workspace and /tmp; use absolute paths."},
    {"Can't find variable: __filename", NULL,
     "Files live under /workspace and /tmp; use absolute paths."},
    {"Can't find variable: fs", NULL,
     "Add `import * as fs from 'node:fs/promises'` and await its functions."},
    {"Can't find variable: path", NULL, "Add `import path from 'node:path'`."},
    {"Can't find variable: util", NULL, "Add `import util from 'node:util'`."},
    {"Can't find variable: document", NULL,
     "This is no browser: there is no document. Return the data instead of showing it."},
    {"Can't find variable: window", NULL, "This is no browser; use globalThis."},
    {"Can't find variable: localStorage", NULL,
     "Use `state`, which is kept between the executions of a session."},
    {"Can't find variable: alert", NULL, "Use console.log, or return the value."},
    {"Can't find variable: axios", NULL,
     "There is no network from here: call a tool, `await tools.<server>.<tool>({...})`."},
    {"Can't find variable: XMLHttpRequest", NULL,
     "There is no network from here: call a tool, `await tools.<server>.<tool>({...})`."},
    {"Can't find variable: Bun", NULL, "Use node:fs/promises for files."},
    {"Can't find variable: _", NULL, "Packages such as lodash are not available."},
    {"Can't find variable: args", NULL, "The program's arguments are in `inputs`."},
    {"Can't find variable: input", NULL, "The program's arguments are in `inputs`."},
    {"Can't find variable: params", NULL, "The program's arguments are in `inputs`."},
    {"Can't find variable: WebAssembly", NULL, "WebAssembly is not available."},
    {"Can't find variable: SharedArrayBuffer", NULL, "SharedArrayBuffer is not available."},
    {"Can't find variable: Worker", NULL, "A program has one thread; use async functions."},
    {"Can't find variable: ", NULL,
     "`%s` is not defined here: declare it, import it, or check its spelling."},

    /* files of Deno that are not there */
    {"is not a function", "Deno.",
     "Of Deno there are readTextFile and writeTextFile; node:fs/promises has the rest."},
    {"is not an object", "Deno.",
     "Of Deno there are readTextFile and writeTextFile; node:fs/promises has the rest."},

    /* a promise where its value is needed */
    {".map is not a function", NULL,
     "`map` exists on arrays. If the value comes from an async call, `await` it; if it is an "
     "object, use Object.values(...) or look for the array inside it."},
    {".filter is not a function", NULL,
     "`filter` exists on arrays. If the value comes from an async call, `await` it; if it is an "
     "object, use Object.values(...) or look for the array inside it."},
    {".forEach is not a function", NULL,
     "`forEach` exists on arrays. If the value comes from an async call, `await` it; if it is an "
     "object, use Object.values(...) or look for the array inside it."},
    {".reduce is not a function", NULL,
     "`reduce` exists on arrays. If the value comes from an async call, `await` it."},
    {".find is not a function", NULL,
     "`find` exists on arrays. If the value comes from an async call, `await` it."},
    {".slice is not a function", NULL,
     "`slice` exists on arrays and strings. If the value comes from an async call, `await` it."},
    {".split is not a function", NULL,
     "`split` exists on strings. If the value comes from an async call, `await` it; otherwise "
     "convert it with String(...)."},
    {".json is not a function", NULL,
     "A tool's result is the value itself: there is no .json() to call. If it is a promise, "
     "`await` it."},
    {"is not iterable", NULL,
     "Only arrays, strings, Map, Set and generators can be iterated. `await` a promise first; for "
     "an object use Object.entries(...)."},
    {" of ", "is not a function",
     "Only arrays, strings, Map, Set and generators can be iterated. `await` a promise first; for "
     "an object use Object.entries(...)."},
    {"to be a function", "iterator",
     "Only arrays, strings, Map, Set and generators can be spread or iterated. `await` a promise "
     "first; for an object use Object.entries(...)."},

    /* undefined and null */
    {"undefined is not an object", NULL,
     "`%s`: what stands before the last dot is undefined. Check that it was set, `await` it if it "
     "comes from an async call, or use `?.`."},
    {"null is not an object", NULL,
     "`%s`: what stands before the last dot is null. Check for it first, or use `?.`."},
    {"is not a constructor", NULL,
     "`new` needs a class. Check the import, and whether it is a plain function."},
    {"Cannot call a class constructor", NULL, "Write `new` before the class."},
    {"is not a function", NULL,
     "Check the spelling and what the value really is: console.log it before the call."},

    /* the language */
    {"uninitialized variable", NULL,
     "A let, const or class is used above its declaration: move the declaration up."},
    {"before initialization", NULL,
     "A let, const or class is used above its declaration: move the declaration up."},
    {"Attempted to assign to readonly property", "const", "A const cannot be assigned; use let."},
    {"Attempted to assign to readonly property", NULL,
     "The variable is a const, or the object is frozen: use let, or change a copy ({...x})."},
    {"Maximum call stack size exceeded", NULL,
     "A function calls itself without an end: check its stop condition, or use a loop."},
    {"Invalid mix of BigInt", NULL,
     "A BigInt and a number cannot be mixed: convert one, Number(x) or BigInt(x)."},
    {"cannot serialize BigInt", NULL, "Convert it first: String(x) or Number(x)."},
    {"cannot serialize cyclic", NULL,
     "The value refers to itself: pick the fields that are needed before JSON.stringify."},
    {"Invalid Date", NULL,
     "The text is no date: use ISO form, new Date('2024-05-31T00:00:00Z'), and check it with "
     "Number.isNaN(d.getTime())."},
    {"date value is not finite", NULL,
     "The text is no date: use ISO form, new Date('2024-05-31T00:00:00Z'), and check it with "
     "Number.isNaN(d.getTime())."},
    {"Invalid array length", NULL, "An array's length must be a whole number from 0 to 2^32-1."},
    {"Invalid regular expression", NULL, "Escape the special characters of the expression."},
    {"Out of memory", NULL,
     "Keep less in memory at once: process the data in parts, or ask for a higher memory limit."},

    /* JSON.parse */
    {"JSON Parse error: Unexpected identifier \"undefined\"", NULL,
     "JSON.parse was given undefined: the value is missing, or is a promise without `await`."},
    {"JSON Parse error: Unexpected identifier \"object\"", NULL,
     "The value is an object already: leave out JSON.parse."},
    {"JSON Parse error: Unexpected EOF", NULL,
     "The text is empty or cut off: check its length before JSON.parse."},
    {"JSON Parse error", NULL,
     "The text is no JSON: console.log the start of it. If it is an object already, leave out "
     "JSON.parse."},

    /* syntax */
    {"Return statements are only valid inside functions", NULL,
     "A `return` at the top level ends the program; check the braces above it."},
    {"await is only valid", NULL, "Make the function around it async."},
    {"Unexpected identifier", "await", "Make the function around it async."},
    {"Unexpected end of script", NULL, "A bracket, brace or quote is not closed."},
    {"Unexpected token '}'", NULL, "There is a brace too many, or one is missing above."},
    {"Cannot declare a", NULL, "The name is declared twice: rename one of them."},
};

static struct cs_str quoted(struct cs_str message, const char *after)
{
    const char *from = memchr(message.at, '\'', message.len);
    if (from && from >= after) {
        size_t left = message.len - (size_t)(from + 1 - message.at);
        const char *to = memchr(from + 1, '\'', left);
        if (to)
            return cs_strn(from + 1, (size_t)(to - from) - 1);
    }
    return cs_strn(after, message.len - (size_t)(after - message.at));
}

static bool contains(struct cs_str s, const char *z)
{
    return s.len && memmem(s.at, s.len, z, strlen(z));
}

void cs_suggest(struct cs_str name, struct cs_str message, struct cs_str line, char *out)
{
    (void)name;
    out[0] = 0;
    for (size_t i = 0; i < CS_COUNT(rows); i++) {
        const struct row *r = &rows[i];
        const char *at = message.len ? memmem(message.at, message.len, r->in, strlen(r->in)) : NULL;
        if (!at || (r->also && !contains(line, r->also) && !contains(message, r->also)))
            continue;
        struct cs_str what = quoted(message, at + strlen(r->in));
        if (what.len > 80)
            what.len = 80;
        const char *hole = strstr(r->text, "%s");
        if (hole)
            snprintf(out, CS_SUGGEST_MAX, "%.*s%.*s%s", (int)(hole - r->text), r->text,
                     CS_STR_ARG(what), hole + 2);
        else
            snprintf(out, CS_SUGGEST_MAX, "%s", r->text);
        return;
    }
}

/* ---- a missing await ---- */

static bool in_name(char c)
{
    return c == '_' || c == '$' || isalnum((unsigned char)c);
}

/* "list_commits", "list-commits" and "listCommits" are one name. */
static bool same_name(struct cs_str a, struct cs_str b)
{
    size_t i = 0, k = 0;
    for (;;) {
        while (i < a.len && !isalnum((unsigned char)a.at[i]))
            i++;
        while (k < b.len && !isalnum((unsigned char)b.at[k]))
            k++;
        if (i == a.len || k == b.len)
            return i == a.len && k == b.len;
        if (tolower((unsigned char)a.at[i++]) != tolower((unsigned char)b.at[k++]))
            return false;
    }
}

static bool follows(const char *from, const char *at, const char *word)
{
    size_t n = strlen(word);
    while (at > from && at[-1] == ' ')
        at--;
    return (size_t)(at - from) >= n && memcmp(at - n, word, n) == 0 &&
           ((size_t)(at - from) == n || !in_name(at[-(ptrdiff_t)n - 1]));
}

/* Where `tools.github.listCommits(` begins, if the name at `at` is called there and not awaited. */
static const char *bare_call(struct cs_str source, const char *at, const char *name_end)
{
    const char *p = name_end, *end = source.at + source.len;
    while (p < end && *p == ' ')
        p++;
    if (p == end || *p != '(')
        return NULL;
    while (at > source.at && (in_name(at[-1]) || at[-1] == '.'))
        at--;
    bool other = follows(source.at, at, "await") || follows(source.at, at, "function") ||
                 follows(source.at, at, "return");
    return other ? NULL : at;
}

bool cs_suggest_await(struct cs_str source, struct cs_str tool, struct cs_buf *out)
{
    uint32_t line = 1;
    const char *p = source.at, *end = source.at + source.len, *start = source.at;
    while (tool.len && p < end) {
        if (*p == '\n') {
            line++;
            start = p + 1;
        }
        if (!in_name(*p)) {
            p++;
            continue;
        }
        const char *name = p;
        while (p < end && in_name(*p))
            p++;
        if (!same_name(cs_strn(name, (size_t)(p - name)), tool))
            continue;
        const char *call = bare_call(source, name, p);
        if (!call || call < start)
            continue;
        const char *stop = memchr(start, '\n', (size_t)(end - start));
        stop = stop ? stop : end;
        while (start < call && (*start == ' ' || *start == '\t'))
            start++;
        if (stop - start > 200)
            stop = start + 200 > p ? start + 200 : p;
        cs_buf_printf(out, "Line %u: write `%.*sawait %.*s`.", line, (int)(call - start), start,
                      (int)(stop - call), call);
        return true;
    }
    return false;
}
