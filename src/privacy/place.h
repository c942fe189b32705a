/*
 * Inside of privacy/: where in JSON a byte stands, found out as one goes on, without a tree.
 *
 * A string that begins with { or [ is taken for JSON within JSON; within that, only quotes of the
 * next level count.
 */
#ifndef CS_PRIVACY_PLACE_H
#define CS_PRIVACY_PLACE_H

#include <string.h>

#include "base/json_scan.h"
#include "base/str.h"

/* Does it begin like JSON, and not like a token or a line of a log? */
static inline bool cs_like_json(struct cs_str text)
{
    const char *end = text.at + text.len;
    const char *p = text.len ? cs_json_skip_space(text.at, end) : end;
    if (p == end || (*p != '{' && *p != '[' && *p != '"'))
        return false;
    const char *next = cs_json_skip_space(p + 1, end);
    return *p != '[' || (next < end && *next && strchr("]\"{[-0123456789tfn", *next));
}

struct cs_place {
    struct cs_str text;
    size_t at; /* everything before it was looked at */
    bool in_string;
    bool is_nested; /* that string is JSON itself */
    bool in_inner;  /* within a string of it */
};

static inline void cs_place_walk(struct cs_place *w, size_t to)
{
    const char *at = w->text.at, *end = at + w->text.len;
    while (w->at < to) {
        if (w->in_string) {
            w->at = (size_t)(cs_json_skip_plain(at + w->at, at + to) - at);
            if (w->at == to)
                break;
        }
        char c = at[w->at];
        if (w->in_string && c == '\\') {
            /* An escape within the inner string is two of ours: \\\" is no end of it. */
            bool two = w->in_inner && w->at + 3 < w->text.len && at[w->at + 1] == '\\' &&
                       at[w->at + 2] == '\\';
            if (!two && w->at + 1 < w->text.len && at[w->at + 1] == '"')
                w->in_inner = !w->in_inner;
            w->at += two ? 4 : 2;
            continue;
        }
        w->at++;
        if (c != '"')
            continue;
        w->in_string = !w->in_string;
        w->in_inner = false;
        const char *first = cs_json_skip_space(at + w->at, end);
        w->is_nested = w->in_string && first < end && (*first == '{' || *first == '[');
    }
}

#endif
