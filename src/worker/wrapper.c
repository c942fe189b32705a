/*
 * The file of a tool, as tools/declare.c writes it: types, and one function that makes one call.
 * There may be hundreds behind an index, so one that has exactly this form is not compiled and run:
 * its function is made at once, and is the same as tools.<server>.<tool>. Any other form is an
 * ordinary module.
 *
 *     export async function listCommits(input: ListCommitsInput): Promise<ListCommitsOutput> {
 *       return caisson.callTool("github", "list_commits", input);
 *     }
 *     ... types ...
 *     export default listCommits;
 */
#include <ctype.h>
#include <string.h>

#include "worker/modules.h"

static bool skip(struct cs_str *s, const char *z)
{
    if (!cs_str_starts(*s, z))
        return false;
    size_t n = strlen(z);
    *s = cs_strn(s->at + n, s->len - n);
    return true;
}

/* Up to `end`, which is skipped too. Nothing that would need to be understood is let through. */
static bool take_until(struct cs_str *s, char end, struct cs_str *out)
{
    const char *at = s->len ? memchr(s->at, end, s->len) : NULL;
    if (!at || at == s->at)
        return false;
    *out = cs_strn(s->at, (size_t)(at - s->at));
    *s = cs_strn(at + 1, s->len - out->len - 1);
    return !memchr(out->at, '\\', out->len);
}

static bool is_name(struct cs_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.at[i];
        if (!isalnum((unsigned char)c) && c != '_' && c != '$')
            return false;
    }
    return s.len > 0;
}

/* The end of the text is "\nexport default NAME;\n". */
static bool exports_default(struct cs_str text, struct cs_str name)
{
    static const char head[] = "\nexport default ";
    size_t n = sizeof head - 1 + name.len + 2;
    if (text.len < n)
        return false;
    struct cs_str tail = cs_strn(text.at + text.len - n, n);
    return skip(&tail, head) && memcmp(tail.at, name.at, name.len) == 0 &&
           memcmp(tail.at + name.len, ";\n", 2) == 0;
}

bool cs_wrapper_read(struct cs_str path, struct cs_str text, struct cs_wrapper *w)
{
    static const char head[] = "\nexport async function ";
    if (!cs_str_starts(path, "/mcp-servers/") || text.len == 0 ||
        memmem(text.at, text.len, "\nimport ", 8))
        return false;
    const char *at = memmem(text.at, text.len, head, sizeof head - 1);
    if (!at)
        return false;
    struct cs_str s = cs_strn(at, text.len - (size_t)(at - text.at)), signature;
    struct cs_wrapper found;
    bool is = skip(&s, head) && take_until(&s, '(', &found.name) && is_name(found.name) &&
              skip(&s, "input: ") && take_until(&s, '\n', &signature) &&
              cs_str_ends(signature, "> {") && skip(&s, "  return caisson.callTool(\"") &&
              take_until(&s, '"', &found.server) && skip(&s, ", \"") &&
              take_until(&s, '"', &found.tool) && skip(&s, ", input);\n}\n") &&
              exports_default(text, found.name);
    if (is)
        *w = found;
    return is;
}
