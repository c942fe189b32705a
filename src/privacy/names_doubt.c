/*
 * Words of programs that read like names: `Promise<`, \param, NULL, Idempotency-Key.
 *
 * The model knows prose; what stands beside a word in code or markup tells more than the word. Only
 * single words are doubted, and what begins with a term: two in a row are no accident.
 */
#include "privacy/names.h"

#include <string.h>

#define ACRONYM 5

/* Not one of them is a person, whatever stands around it. */
static const char *const terms[] = {
    "any",      "api",      "array",      "async",     "auth",     "await",      "bearer",
    "bool",     "boolean",  "buffer",     "bug",       "build",    "byte",       "cache",
    "callback", "cert",     "char",       "class",     "client",   "codex",      "commit",
    "config",   "const",    "cont",       "cookie",    "copilot",  "cors",       "cron",
    "ctrl",     "cursor",   "daemon",     "debug",     "default",  "deprecated", "deps",
    "dev",      "diff",     "docker",     "double",    "enum",     "error",      "etag",
    "export",   "false",    "fetch",      "fixme",     "float",    "gemini",     "git",
    "grok",     "handler",  "hash",       "header",    "host",     "html",       "http",
    "https",    "import",   "int",        "integer",   "iter",     "iterator",   "json",
    "kafka",    "key",      "kotlin",     "lambda",    "linter",   "linux",      "list",
    "map",      "markdown", "math",       "mcp",       "meta",     "minor",      "mode",
    "module",   "mongo",    "mutex",      "mysql",     "nan",      "node",       "none",
    "npm",      "null",     "number",     "oauth",     "object",   "openai",     "optional",
    "param",    "params",   "parser",     "patch",     "path",     "playwright", "plugin",
    "pod",      "postgres", "prefix",     "promise",   "prop",     "props",      "proxy",
    "python",   "query",    "queue",      "react",     "readonly", "record",     "redis",
    "regex",    "release",  "request",    "response",  "result",   "return",     "router",
    "rust",     "schema",   "scope",      "semver",    "sentry",   "server",     "session",
    "set",      "shopify",  "signed",     "socket",    "spring",   "sql",        "stack",
    "stream",   "string",   "struct",     "svelte",    "symbol",   "sync",       "task",
    "template", "test",     "thread",     "todo",      "token",    "tokio",      "true",
    "tuple",    "type",     "typescript", "undefined", "union",    "unix",       "unknown",
    "url",      "utf",      "uuid",       "value",     "vercel",   "version",    "void",
    "webhook",  "webpack",  "widget",     "windows",   "worker",   "xml",        "yaml",
    "yarn",     "zod",
};

static bool is_term(struct cs_str word)
{
    char folded[16];
    if (word.len >= sizeof folded)
        return false;
    for (size_t i = 0; i < word.len; i++)
        folded[i] = (char)(word.at[i] | (cs_is_letter(word.at[i]) ? 0x20 : 0));
    folded[word.len] = '\0';
    size_t low = 0, high = CS_COUNT(terms);
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(folded, terms[middle]);
        if (order == 0)
            return true;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}

static bool is_acronym(struct cs_str word)
{
    if (word.len > ACRONYM)
        return false;
    for (size_t i = 0; i < word.len; i++)
        if (word.at[i] < 'A' || word.at[i] > 'Z')
            return false;
    return true;
}

/* "MAX" may be a man's name where everything is written so. */
static bool is_shouted(const struct cs_view *view, size_t start, size_t end)
{
    char before = cs_view_at(view, start >= 2 ? start - 2 : SIZE_MAX);
    char after = cs_view_at(view, end + 1);
    return (before >= 'A' && before <= 'Z') || (after >= 'A' && after <= 'Z');
}

static bool beside_code(const struct cs_view *view, size_t start, size_t end)
{
    char before = start ? view->at[start - 1] : ' ', after = cs_view_at(view, end);
    return (before && strchr("`_\\$<{.@-", before)) || (after && strchr("`_({<[=-", after));
}

/* TObject, UChar; but McKay and DeVito. */
static bool is_type(struct cs_str word)
{
    for (size_t i = 1; i < word.len && i < 3; i++)
        if (word.at[i] >= 'A' && word.at[i] <= 'Z' && i + 1 < word.len && word.at[i + 1] >= 'a' &&
            word.at[i + 1] <= 'z')
            return i == 1;
    return false;
}

static struct cs_str first_word(struct cs_str name)
{
    size_t n = 0;
    while (n < name.len && (cs_is_alnum(name.at[n]) || (unsigned char)name.at[n] >= 0x80))
        n++;
    return cs_strn(name.at, n);
}

static struct cs_str last_word(struct cs_str name)
{
    size_t n = name.len;
    while (n && (cs_is_alnum(name.at[n - 1]) || (unsigned char)name.at[n - 1] >= 0x80))
        n--;
    return cs_strn(name.at + n, name.len - n);
}

bool cs_name_doubtful(const struct cs_view *view, size_t start, size_t end)
{
    struct cs_str name = cs_strn(view->at + start, end - start), first = first_word(name);
    if (is_term(first))
        return true;
    if (first.len == name.len)
        return beside_code(view, start, end) || is_type(name) ||
               (is_acronym(name) && !is_shouted(view, start, end));
    return !memchr(name.at, ' ', name.len) && is_term(last_word(name));
}
