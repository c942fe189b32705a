/* Inside of privacy/: the words of a postal address, and what each may be in it. */
#ifndef CS_PRIVACY_ADDRESS_H
#define CS_PRIVACY_ADDRESS_H

#include "privacy/find.h"

/* What a word may be in an address. */
enum cs_role {
    CS_ROLE_TYPE = 1 << 0,   /* street, road: after the name */
    CS_ROLE_SOFT = 1 << 1,   /* park, way: the same, but mostly something else */
    CS_ROLE_PRE = 1 << 2,    /* rue, calle, via: before the name */
    CS_ROLE_WEAK = 1 << 3,   /* of those: also a word of English or another language */
    CS_ROLE_UNIT = 1 << 4,   /* apt, suite */
    CS_ROLE_DIR = 1 << 5,    /* N, SW, north */
    CS_ROLE_PART = 1 << 6,   /* de, van der: between other words */
    CS_ROLE_BOX = 1 << 7,    /* box, Postfach */
    CS_ROLE_POST = 1 << 8,   /* PO */
    CS_ROLE_MIL = 1 << 9,    /* APO, FPO, DPO */
    CS_ROLE_STATE = 1 << 10, /* IL, QLD; if they are capitals */
    CS_ROLE_MONTH = 1 << 11,
    CS_ROLE_ASK = 1 << 14,
    CS_ROLE_LOW_STATE = 1 << 13, /* il, where nothing is written with capitals */
    CS_ROLE_TAIL = 1 << 12,      /* ends like a street: Lindenstrasse, Kungsgatan */
};

/* `word` is folded. */
unsigned cs_role_of(const char *word, size_t len);

/* --- address_text.c --- */

enum cs_word_is { CS_WORD, CS_WORD_NUMBER, CS_WORD_COMMA, CS_WORD_BREAK };

struct cs_word {
    size_t start, end;
    unsigned roles; /* CS_ROLE_ASK: not yet known; cs_word_has() asks */
    unsigned char is, digits;
    bool cap;    /* begins with a capital, or is beyond ASCII */
    bool ranged; /* "12-14" */
    bool mixed;  /* letters and digits: "4B", "M18", "4th" */
};

#define CS_WORDS 48

struct cs_words {
    const struct cs_view *view;
    unsigned count, at; /* at: the number that was asked about */
    struct cs_word word[CS_WORDS];
};

/* Those of [from, to) around the number at `at`: from the last thing before it that no address has
 * in it, up to the next such thing. */
void cs_words_read(struct cs_words *t, size_t from, size_t to, size_t at);
/* The word `i`; beyond the last: a line's end. */
const struct cs_word *cs_word_at(const struct cs_words *t, unsigned i);
bool cs_letter_at(const struct cs_view *view, size_t i);

static inline bool cs_word_is(const struct cs_words *t, unsigned i, enum cs_word_is is)
{
    return i < t->count && t->word[i].is == is;
}

/* Has it one of these roles? */
bool cs_word_has(struct cs_words *t, unsigned i, unsigned roles);

#endif
