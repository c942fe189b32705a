/* Inside of privacy/: words, and what they say, found by a hash that is built when first wanted. */
#ifndef CS_PRIVACY_LEXICON_H
#define CS_PRIVACY_LEXICON_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CS_LEXICON_SLOTS 2048 /* a power of two, more than twice as many as words */

struct cs_lexeme {
    const char *word; /* folded */
    unsigned says;
};

struct cs_lexicon {
    const struct cs_lexeme *at;
    size_t count;
    uint16_t slots[CS_LEXICON_SLOTS]; /* 0: free; else one more than which */
};

static inline unsigned cs_lexicon_hash(const char *word, size_t len)
{
    unsigned h = 2166136261u;
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)word[i]) * 16777619u;
    return (h ^ (h >> 15)) & (CS_LEXICON_SLOTS - 1);
}

static inline void cs_lexicon_fill(struct cs_lexicon *lexicon)
{
    for (size_t i = 0; i < lexicon->count; i++) {
        const char *word = lexicon->at[i].word;
        unsigned h = cs_lexicon_hash(word, strlen(word));
        while (lexicon->slots[h])
            h = (h + 1) & (CS_LEXICON_SLOTS - 1);
        lexicon->slots[h] = (uint16_t)(i + 1);
    }
}

/* What it says; 0: it is not there. */
static inline unsigned cs_lexicon_find(const struct cs_lexicon *lexicon, const char *word,
                                       size_t len)
{
    unsigned h = cs_lexicon_hash(word, len);
    for (; lexicon->slots[h]; h = (h + 1) & (CS_LEXICON_SLOTS - 1)) {
        const struct cs_lexeme *l = &lexicon->at[lexicon->slots[h] - 1];
        if (strncmp(l->word, word, len) == 0 && l->word[len] == '\0')
            return l->says;
    }
    return 0;
}

#endif
