#include "base/lines.h"

/* Bytes of the line end at `at`; 0: there is none. */
static size_t end_at(const char *at, size_t left, bool script)
{
    const unsigned char *p = (const unsigned char *)at;
    if (p[0] == '\n')
        return 1;
    if (p[0] == '\r' && left > 1 && p[1] == '\n')
        return 2;
    if (!script)
        return 0;
    if (p[0] == '\r')
        return 1;
    return left > 2 && p[0] == 0xe2 && p[1] == 0x80 && (p[2] | 1) == 0xa9 ? 3 : 0;
}

bool cs_line_next(struct cs_str *rest, bool script, struct cs_str *line)
{
    size_t i = 0, end = 0;
    if (!rest->len)
        return false;
    while (i < rest->len && !(end = end_at(rest->at + i, rest->len - i, script)))
        i++;
    *line = cs_strn(rest->at, i);
    *rest = cs_strn(rest->at + i + end, rest->len - i - end);
    return true;
}

uint32_t cs_lines_count(struct cs_str text, bool script)
{
    uint32_t n = 0;
    struct cs_str line;
    while (cs_line_next(&text, script, &line))
        n++;
    return n;
}

size_t cs_line_offset(struct cs_str line, uint32_t column)
{
    size_t i = 0;
    for (uint32_t at = 1; i < line.len; i++) {
        unsigned char c = (unsigned char)line.at[i];
        if ((c & 0xc0) == 0x80)
            continue;
        if (at >= column)
            break;
        at += c >= 0xf0 ? 2 : 1;
    }
    return i;
}

size_t cs_text_aligned(struct cs_str text, size_t at)
{
    while (at > 0 && at < text.len && ((unsigned char)text.at[at] & 0xc0) == 0x80)
        at--;
    return at;
}
