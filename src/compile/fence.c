/* Code as models send it: in a fence, with or without words around it. */
#include "compile/parser.h"

/* A line of three or more backticks; the word behind them in *tag. */
static bool fence_line(struct cs_str text, size_t at, struct cs_str *tag)
{
    size_t i = at, ticks = 0;
    while (i < text.len && i - at < 4 && text.at[i] == ' ')
        i++;
    while (i < text.len && text.at[i] == '`') {
        i++;
        ticks++;
    }
    if (ticks < 3)
        return false;
    while (i < text.len && (text.at[i] == ' ' || text.at[i] == '\t'))
        i++;
    size_t word = i;
    while (i < text.len && text.at[i] != '\n' && text.at[i] != '\r' && text.at[i] != '`')
        i++;
    *tag = cs_strn(text.at + word, i - word);
    while (tag->len && (tag->at[tag->len - 1] == ' ' || tag->at[tag->len - 1] == '\t'))
        tag->len--;
    return i >= text.len || text.at[i] != '`';
}

static size_t next_line(struct cs_str text, size_t at)
{
    const char *nl = at < text.len ? memchr(text.at + at, '\n', text.len - at) : NULL;
    return nl ? (size_t)(nl - text.at) + 1 : text.len;
}

static bool is_script(struct cs_str tag)
{
    static const char *const tags[] = {"",    "ts",  "typescript", "js",  "javascript",
                                       "mjs", "mts", "tsx",        "jsx", "node"};
    size_t word = 0;
    while (word < tag.len && tag.at[word] != ' ' && tag.at[word] != '{')
        word++;
    for (size_t i = 0; i < CS_COUNT(tags); i++) {
        if (strlen(tags[i]) == word && strncasecmp(tags[i], tag.at, word) == 0)
            return true;
    }
    return false;
}

/* The line that closes the fence opened before `at`: the first one, or the last of all. */
static size_t closing_line(struct cs_str text, size_t at, bool last)
{
    size_t end = text.len;
    struct cs_str tag;
    for (; at < text.len; at = next_line(text, at)) {
        if (!fence_line(text, at, &tag) || tag.len)
            continue;
        end = at;
        if (!last)
            break;
    }
    return end;
}

bool cs_fence(struct cs_str text, bool last, bool *sure, struct cs_span *code)
{
    struct cs_str tag;
    size_t first = 0;
    bool found = false;
    for (size_t at = 0; at < text.len; at = next_line(text, at)) {
        if (!fence_line(text, at, &tag))
            continue;
        size_t body = next_line(text, at), end = closing_line(text, body, last);
        if (!found || is_script(tag)) {
            *code = (struct cs_span){(uint32_t)body, (uint32_t)end};
            first = found ? first : at;
            found = true;
        }
        if (is_script(tag) || end >= text.len)
            break;
        at = end;
    }
    if (found)
        *sure = first == 0 || !memchr(text.at, '`', first);
    return found;
}
