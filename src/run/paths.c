/*
 * Error texts of tools tell where on their machine a program lies, and whose it is: "at query
 * (/home/ada/service/db.js:17:9)". What is left of such a path is its last part. Those that the
 * caller has named itself stay: it needs them to mend its call.
 */
#include "run/paths.h"

#include <string.h>

#define PATH_MAX_ 1024

static bool ends_path(char c)
{
    return (unsigned char)c <= ' ' || strchr("\"'`<>()[]{},;|*?", c) != NULL;
}

static bool is_word(char c)
{
    return (unsigned char)(c - '0') < 10 || (unsigned char)((c | 0x20) - 'a') < 26 || c == '_';
}

/* May a path begin here? Not in the middle of a word, an address or another path. */
static bool begins(struct cs_str text, size_t at)
{
    if (at == 0)
        return true;
    char before = text.at[at - 1];
    if (before == '/')
        return at >= 7 && memcmp(text.at + at - 7, "file://", 7) == 0;
    return !is_word(before) && before != '.' && before != '-' && before != '~' && before != '\\';
}

/* The length of a drive or a slash in front. */
static size_t root_of(struct cs_str text, size_t at)
{
    const char *s = text.at + at;
    size_t left = text.len - at;
    if (left > 1 && s[0] == '/' && s[1] != '/')
        return 1;
    if (left > 3 && (unsigned char)((s[0] | 0x20) - 'a') < 26 && s[1] == ':' &&
        (s[2] == '\\' || s[2] == '/'))
        return 3;
    return 0;
}

/* Somebody's own directory. */
static bool is_home(struct cs_str path, size_t root)
{
    static const char *const homes[] = {"home/", "home\\", "root/", "Users/", "Users\\"};
    struct cs_str rest = cs_strn(path.at + root, path.len - root);
    for (size_t i = 0; i < CS_COUNT(homes); i++)
        if (cs_str_starts(rest, homes[i]))
            return true;
    return false;
}

/* "...:17" or "...:17:9": a place in a program. */
static bool is_place(struct cs_str path, size_t root)
{
    size_t i = path.len;
    while (i > root && (unsigned char)(path.at[i - 1] - '0') < 10)
        i--;
    return i < path.len && i > root && path.at[i - 1] == ':';
}

/* The part of it that says whose machine it is: its first two names. */
static bool is_named_in(struct cs_str path, size_t root, struct cs_str known)
{
    size_t end = root, names = 0;
    while (end < path.len && names < 2) {
        end++;
        names += end == path.len || path.at[end] == '/' || path.at[end] == '\\';
    }
    return known.len >= end && memmem(known.at, known.len, path.at, end) != NULL;
}

static size_t last_name(struct cs_str path)
{
    size_t end = path.len;
    while (end > 1 && (path.at[end - 1] == '/' || path.at[end - 1] == '\\'))
        end--;
    while (end > 0 && path.at[end - 1] != '/' && path.at[end - 1] != '\\')
        end--;
    return end;
}

bool cs_hide_paths(struct cs_str text, struct cs_str known, struct cs_buf *out)
{
    size_t done = 0;
    for (size_t at = 0; at < text.len;) {
        size_t root = begins(text, at) ? root_of(text, at) : 0, end = at + root;
        if (!root) {
            at++;
            continue;
        }
        while (end < text.len && end - at < PATH_MAX_ && !ends_path(text.at[end]))
            end++;
        struct cs_str path = cs_strn(text.at + at, end - at);
        while (path.len > root && strchr(".:!", path.at[path.len - 1]))
            path.len--;
        if ((is_home(path, root) || is_place(path, root)) && !is_named_in(path, root, known)) {
            size_t name = last_name(path);
            cs_buf_put(out, text.at + done, at - done);
            cs_buf_puts(out, ".../");
            cs_buf_put(out, path.at + name, path.len - name);
            done = at + path.len;
        }
        at = end;
    }
    if (done == 0)
        return false;
    cs_buf_put(out, text.at + done, text.len - done);
    return true;
}
