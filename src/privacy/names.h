/*
 * Inside of names*.c, and what the trainer (scripts/names/train.c) shares with them: a text as
 * words, what is known about each, and the features that the model weighs.
 */
#ifndef CS_PRIVACY_NAMES_H
#define CS_PRIVACY_NAMES_H

#include "privacy/find.h"

enum cs_shape {
    CS_SHAPE_LOWER,   /* word */
    CS_SHAPE_CAP,     /* Word */
    CS_SHAPE_UPPER,   /* WORD */
    CS_SHAPE_INITIAL, /* W */
    CS_SHAPE_MIXED,   /* wordWord */
    CS_SHAPE_INNER,   /* McWord, DeWord */
    CS_SHAPE_SCRIPT,  /* letters without case */
    CS_SHAPE_NUMBER,
    CS_SHAPE_CODE, /* words glued by digits, dots, underscores: identifiers, paths, hosts */
    CS_SHAPE_URL,
    CS_SHAPE_MAIL,
    CS_SHAPE_HANDLE, /* @word, #word */
    CS_SHAPE_NONE,   /* outside of the text */
};

/* What stands between a word and the one before it: of several things the last of this list. */
enum cs_gap {
    CS_GAP_NONE,
    CS_GAP_SPACE,
    CS_GAP_HYPHEN,  /* glued: Jean-Luc */
    CS_GAP_INITIAL, /* a dot after a single letter or a short title */
    CS_GAP_POSSESSIVE,
    CS_GAP_COMMA,
    CS_GAP_COMMA_GLUED,
    CS_GAP_SLASH,
    CS_GAP_AMP,
    CS_GAP_DASH,
    CS_GAP_QUOTE,
    CS_GAP_OPEN,
    CS_GAP_CLOSE,
    CS_GAP_ANGLE,
    CS_GAP_STAR,
    CS_GAP_OTHER,
    CS_GAP_CELL, /* | or a tab */
    CS_GAP_EQUALS,
    CS_GAP_COLON,
    CS_GAP_SEMICOLON,
    CS_GAP_STOP, /* . ! ? */
    CS_GAP_LINE,
    CS_GAP_START,
};

enum cs_name_tag { CS_TAG_O, CS_TAG_B, CS_TAG_I };

struct cs_name_word {
    uint64_t hash; /* of its letters, folded */
    uint32_t start, end;
    uint32_t key;      /* of the last "key:" on its line, or the view's; 0: none */
    uint32_t ends;     /* the last three letters, folded */
    uint32_t begins;   /* the first three */
    uint8_t shape;     /* enum cs_shape */
    uint8_t gap;       /* enum cs_gap, before it */
    uint8_t letters;   /* how many, at most 15 */
    uint8_t classes;   /* of the gazetteer; see below */
    uint8_t tag;       /* enum cs_name_tag */
    bool looked;       /* `classes` is known */
    bool title;        /* Mr, Dr: stands before a name, and is none */
    bool line_start;   /* first of its line, markers aside */
    bool seen, mailed; /* in a name before; a part of a mail address before */
};

/* --- names_words.c --- */

struct cs_name_words {
    const char *at;
    size_t len;
    size_t next;
    uint32_t key, view_key;
    bool initial; /* the last word was one letter, or a title: its dot ends nothing */
    bool line_start;
};

void cs_name_words_begin(struct cs_name_words *words, struct cs_str text, struct cs_str key);
/* False: there are no more. */
bool cs_name_words_next(struct cs_name_words *words, struct cs_name_word *word);
uint64_t cs_name_word_hash(struct cs_str word);

/* --- gazetteer.c --- */

#define CS_GAZ_FIRST(c) ((c)&3u)
#define CS_GAZ_LAST(c)  ((c) >> 2 & 3u)
#define CS_GAZ_WORD(c)  ((c) >> 4 & 3u)
#define CS_GAZ_PLACE(c) ((c) >> 6 & 1u)
#define CS_GAZ_STOP(c)  ((c) >> 7 & 1u)

uint8_t cs_gazetteer(uint64_t hash);

static inline uint8_t cs_name_word_classes(struct cs_name_word *word)
{
    if (!word->looked) {
        word->classes = word->shape < CS_SHAPE_NUMBER ? cs_gazetteer(word->hash) : 0;
        word->looked = true;
    }
    return word->classes;
}

/* --- names.c --- */

/* Who decides. The trainer has one of its own. */
struct cs_around;
struct cs_name_eye {
    void (*read)(void *ctx, struct cs_name_word *word); /* a word came by; may be NULL */
    enum cs_name_tag (*judge)(void *ctx, struct cs_around *around);
    void (*found)(void *ctx, size_t start, size_t end);
    void *ctx;
};

struct cs_name_memory *cs_name_memory_new(void);
/* Reads a text from left to right. `high`: words in small letters may be names, too. */
void cs_names_read(struct cs_str text, struct cs_str key, bool is_value, bool high,
                   struct cs_name_memory *memory, const struct cs_name_eye *eye);

/* Words of a name that is known from elsewhere. */
void cs_name_keep(struct cs_view *view, const struct cs_name_word *words, size_t count);

/* --- names_doubt.c --- */

/* The model takes it for a name, but it stands like a word of a program. */
bool cs_name_doubtful(const struct cs_view *view, size_t start, size_t end);

/* --- names_model.c --- */

#define CS_NAME_FEATURES 48
#define CS_NAME_BITS     17
#define CS_NAME_SLOTS    (1u << CS_NAME_BITS)

/* Words around the one in question; those outside of the text have the shape NONE. */
struct cs_around {
    struct cs_name_word *w[5]; /* two before it, itself, two after it */
    bool is_value;             /* the text is one value */
    uint8_t words;             /* of a value: how many, at most 7 */
    bool strange;              /* leave out what is known about the very word */
};

/* Slots of the weights. Returns how many. */
size_t cs_name_features(struct cs_around *around, uint32_t features[CS_NAME_FEATURES]);
/* Is it worth the model's while? */
bool cs_name_candidate(struct cs_around *around, bool high);
/* `lean`: is added to what speaks for a name. */
enum cs_name_tag cs_name_decide(struct cs_around *around, int lean);
int cs_name_lean(enum cs_privacy_level level);
/* May a name go on over this gap? */
bool cs_name_goes_on(const struct cs_name_word *before, const struct cs_name_word *word);

#endif
