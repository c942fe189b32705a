/* Words that rules look for: all of them in one walk, so that patterns are seldom tried. */
#include <ctype.h>

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
