/*
 * Words of the program itself in what its errors say: "Can't find variable: Max" names no Max if
 * the program has an identifier of that name. Only single words that were taken for a person, and
 * only what stands in the program outside of its strings and comments: a value comes from
 * elsewhere.
 */
#include <string.h>

#include "run/shield.h"

#define SPANS_MOST 64 /* that are doubted: the program is read for each */

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_' || c == '$' ||
           (unsigned char)c >= 0x80;
}

/* Behind the string that begins at `i`; those of one line end with it. */
static size_t string_end(struct cs_str code, size_t i)
{
    char quote = code.at[i++];
    while (i < code.len && code.at[i] != quote && (quote == '`' || code.at[i] != '\n'))
        i += code.at[i] == '\\' ? 2 : 1;
    return i < code.len ? i + 1 : code.len;
}

static size_t comment_end(struct cs_str code, size_t i)
{
    bool line = code.at[i + 1] == '/';
    const char *end = memmem(code.at + i + 2, code.len - i - 2, line ? "\n" : "*/", line ? 1 : 2);
    return end ? (size_t)(end - code.at) + (line ? 1 : 2) : code.len;
}

/* Does the program have an identifier of this name? */
static bool is_identifier(struct cs_str code, struct cs_str name)
{
    for (size_t i = 0; i < code.len;) {
        char c = code.at[i];
        if (c == '\'' || c == '"' || c == '`') {
            i = string_end(code, i);
        } else if (c == '/' && i + 1 < code.len && strchr("/*", code.at[i + 1])) {
            i = comment_end(code, i);
        } else if (is_word(c)) {
            size_t start = i;
            while (i < code.len && is_word(code.at[i]))
                i++;
            if (cs_str_eq(cs_strn(code.at + start, i - start), name))
                return true;
        } else {
            i++;
        }
    }
    return false;
}

static bool is_single(struct cs_str word)
{
    for (size_t i = 0; i < word.len; i++)
        if (!is_word(word.at[i]))
            return false;
    return word.len > 0;
}

bool cs_shield_doubt(const struct cs_run *run, struct cs_str text, struct cs_spans *spans)
{
    const struct cs_shield *sh = run->shield;
    size_t kept = 0;
    if (run->result.is_guest || !text.len)
        return false;
    cs_scan(sh->detector, sh->level, CS_FORM_TEXT, text, spans);
    for (size_t i = 0; i < spans->count; i++) {
        const struct cs_span s = spans->at[i];
        struct cs_str word = cs_strn(text.at + s.start, s.end - s.start);
        if (s.kind != CS_PII_PERSON || i >= SPANS_MOST || !is_single(word) ||
            !is_identifier(run->code_shown, word))
            spans->at[kept++] = s;
    }
    bool doubted = kept < spans->count;
    spans->count = kept;
    return doubted;
}
