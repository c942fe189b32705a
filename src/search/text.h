/*
 * Text as words: what both the index and a query are made of.
 *
 * A word is a run of letters and digits, in lower case and without accents. "getUserName" and
 * "get_user-name" are three words; "GitHub" is two and, joined, a third. Characters of scripts
 * that write without spaces are words of their own. Bytes that are no UTF-8 separate words.
 */
#ifndef CS_SEARCH_TEXT_H
#define CS_SEARCH_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

#define CS_WORD_MAX 32 /* bytes; what is longer is cut */

struct cs_word {
    char at[CS_WORD_MAX];
    uint8_t len;
    bool joined; /* it is the two words before it, written as one */
};

struct cs_words {
    struct cs_str rest;
    struct cs_word parts[2]; /* the last two words, and how many of the current run they are */
    unsigned count;
    bool in_run;
};

static inline struct cs_words cs_words(struct cs_str text)
{
    return (struct cs_words){.rest = text};
}

/* False at the end. */
bool cs_words_next(struct cs_words *words, struct cs_word *word);

static inline struct cs_str cs_word_str(const struct cs_word *word)
{
    return cs_strn(word->at, word->len);
}

/* Words that say nothing about a tool: articles, pronouns, prepositions. */
bool cs_word_is_stop(const struct cs_word *word);

/* Takes the endings of English plurals and verb forms off. */
void cs_word_stem(struct cs_word *word);

/*
 * The letter trigrams of a word with its two ends marked: "^ab", "abc", "bc$" of "abc". `at` and
 * `bytes` have room for CS_WORD_MAX + 2; the slices point into `bytes`. Returns how many.
 */
size_t cs_word_grams(const struct cs_word *word, char *bytes, struct cs_str *at);

/* The text up to the end of its first sentence, at most `most` bytes, without space around it. */
struct cs_str cs_text_sentence(struct cs_str text, size_t most);

/* At most `most` bytes, cut between words, or between characters if a word is very long. */
struct cs_str cs_text_cut(struct cs_str text, size_t most);

#endif
