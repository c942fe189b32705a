/* Words that rules look for: all of them in one walk, so that patterns are seldom tried. */
#include <ctype.h>

#include "base/utf8.h"
#include "base/visible.h"
#include "policy/risk.h"

static uint32_t slot_of(const char *at)
{
    uint32_t h = (unsigned char)at[0] | (uint32_t)(unsigned char)at[1] << 8 |
                 (uint32_t)(unsigned char)at[2] << 16;
    return (h * 0x9E3779B1u) >> 20;
}

int cs_words_add(struct cs_words_table *t, struct cs_str word, struct cs_arena *arena,
                 struct cs_err *err)
{
    char *lower = cs_arena_alloc(arena, word.len + 1);
    if (word.len < CS_WORD_BYTES)
        return cs_fail(err, CS_INVALID, "a word has %d bytes at least", CS_WORD_BYTES);
    for (size_t i = 0; i < word.len; i++)
        lower[i] = (char)tolower((unsigned char)word.at[i]);
    uint16_t *link = &t->first[slot_of(lower)];
    for (; *link; link = &t->next[*link - 1])
        if (cs_str_eq(t->at[*link - 1], cs_strn(lower, word.len)))
            return *link - 1;
    if (t->count == CS_WORDS_MOST)
        return cs_fail(err, CS_LIMIT, "there are more than %d words", CS_WORDS_MOST);
    t->at[t->count] = cs_strn(lower, word.len);
    *link = (uint16_t)++t->count;
    return (int)t->count - 1;
}

bool cs_words_find(const struct cs_words_table *t, struct cs_str text,
                   uint64_t found[CS_WORDS_ROOM])
{
    bool any = false;
    for (size_t i = 0; i + CS_WORD_BYTES <= text.len; i++) {
        for (uint16_t w = t->first[slot_of(text.at + i)]; w; w = t->next[w - 1]) {
            struct cs_str word = t->at[w - 1];
            if (word.len > text.len - i || memcmp(word.at, text.at + i, word.len) != 0)
                continue;
            found[(w - 1) / 64] |= 1ull << ((w - 1) % 64);
            any = true;
        }
    }
    return any;
}

/* --- as the eye reads it --- */

/* Letters that look like others. Cyrillic and Greek; full width forms are a range. */
static const struct {
    uint16_t from;
    char to;
} alike[] = {
    {0x0391, 'A'}, {0x0392, 'B'}, {0x0395, 'E'}, {0x0396, 'Z'}, {0x0397, 'H'}, {0x0399, 'I'},
    {0x039A, 'K'}, {0x039C, 'M'}, {0x039D, 'N'}, {0x039F, 'O'}, {0x03A1, 'P'}, {0x03A4, 'T'},
    {0x03A5, 'Y'}, {0x03A7, 'X'}, {0x03B1, 'a'}, {0x03B9, 'i'}, {0x03BD, 'v'}, {0x03BF, 'o'},
    {0x03C1, 'p'}, {0x03C5, 'u'}, {0x0405, 'S'}, {0x0406, 'I'}, {0x0408, 'J'}, {0x0410, 'A'},
    {0x0412, 'B'}, {0x0415, 'E'}, {0x041A, 'K'}, {0x041C, 'M'}, {0x041D, 'H'}, {0x041E, 'O'},
    {0x0420, 'P'}, {0x0421, 'C'}, {0x0422, 'T'}, {0x0423, 'Y'}, {0x0425, 'X'}, {0x0430, 'a'},
    {0x0435, 'e'}, {0x043E, 'o'}, {0x0440, 'p'}, {0x0441, 'c'}, {0x0443, 'y'}, {0x0445, 'x'},
    {0x0455, 's'}, {0x0456, 'i'}, {0x0458, 'j'}, {0x04BB, 'h'}, {0x0501, 'd'}, {0x051B, 'q'},
    {0x051D, 'w'},
};

static uint32_t decode(const char *at, int len)
{
    const unsigned char *p = (const unsigned char *)at;
    if (len == 2)
        return (p[0] & 0x1Fu) << 6 | (p[1] & 0x3Fu);
    if (len == 3)
        return (p[0] & 0x0Fu) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
    return (p[0] & 7u) << 18 | (p[1] & 0x3Fu) << 12 | (p[2] & 0x3Fu) << 6 | (p[3] & 0x3Fu);
}

/* What it looks like; 0: nothing else. */
static char latin(uint32_t c)
{
    if (c >= 0xFF01 && c <= 0xFF5E)
        return (char)(c - 0xFF01 + 0x21);
    if (c == 0x00A0 || (c >= 0x2000 && c <= 0x200A) || c == 0x202F || c == 0x3000)
        return ' ';
    size_t low = 0, high = CS_COUNT(alike);
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (alike[middle].from == c)
            return alike[middle].to;
        if (alike[middle].from < c)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

struct cs_str cs_words_plain(struct cs_str text, struct cs_arena *arena)
{
    size_t i = 0, n = 0;
    while (i < text.len && (unsigned char)text.at[i] < 0x80)
        i++;
    if (i == text.len)
        return (struct cs_str){0};
    char *out = cs_arena_alloc(arena, text.len + 1);
    bool changed = false;
    for (i = 0; i < text.len;) {
        int len = cs_utf8_len(text.at + i, text.len - i);
        uint32_t c = len > 1 ? decode(text.at + i, len) : 0;
        char plain = len > 1 ? latin(c) : 0;
        size_t bytes = (size_t)(len < 0 ? -len : len);
        if (plain)
            out[n++] = plain;
        else if (len <= 1 || !cs_invisible(c)) {
            memcpy(out + n, text.at + i, bytes);
            n += bytes;
        }
        changed = changed || plain || (len > 1 && cs_invisible(c));
        i += bytes;
    }
    return changed ? cs_strn(out, n) : (struct cs_str){0};
}
