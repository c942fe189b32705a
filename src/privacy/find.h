/*
 * Inside of privacy/: how a text is looked at.
 *
 *     scan.c        the message is cut into views; hits of views become spans of the message
 *     anchors.c     bytes at which something may begin, and who is asked about it
 *     structure.c   keys and their values in running text: lines, assignments, headers
 *     tables.c      keys above their values
 *     keys.c        what a key says about its value
 *     find_*.c      proofs: each looks around one place, so far and no farther
 *     names*.c      names of people, word by word
 *     custom.c      patterns and words of the user's own
 *
 * A find function is called where its anchor stands. It adds hits, and returns where to go on:
 * after what it has found or refused, at least `at` + 1, so that nothing is walked over twice. How
 * far it looks to each side is bounded by a constant of its own.
 */
#ifndef CS_PRIVACY_FIND_H
#define CS_PRIVACY_FIND_H

#include "privacy/privacy.h"

/* What a key says about the value under it. */
struct cs_sense {
    uint8_t kind; /* enum cs_pii; CS_PII_COUNT: nothing */
    bool weak;    /* only together with another sign: "name", "id", "key" */
};

#define CS_NO_SENSE ((struct cs_sense){CS_PII_COUNT, false})

struct cs_page; /* scan.c: the whole message */

/* A text as a person would read it: escapes are undone. */
struct cs_view {
    const char *at;
    size_t len;
    struct cs_str key;     /* or column, under which it stands, as written; empty: none */
    struct cs_sense sense; /* of that key */
    bool is_value;         /* one value (a JSON string, a cell), no running text */
    enum cs_privacy_level level;
    struct cs_page *page;
};

/* Something was found. Where hits meet, the kind that stands first in CS_PII_KINDS wins, and then
 * the longer one. */
void cs_hit(struct cs_view *view, enum cs_pii kind, size_t start, size_t end);
/* A CONNECTION_STRING, and the password in it. */
void cs_hit_core(struct cs_view *view, size_t start, size_t end, size_t core_start,
                 size_t core_end);
/* Has something been found here already? */
bool cs_hit_at(const struct cs_view *view, size_t start, size_t end);

/* Memory of names for the whole message, of names.c; made when first wanted. */
struct cs_name_memory;
struct cs_name_memory **cs_page_names(struct cs_page *page);
void cs_name_memory_free(struct cs_name_memory *memory);

/* --- keys.c --- */

/* Case, `_`, `-`, blanks and camelCase make no difference; the whole key counts, or its last
 * part. */
struct cs_sense cs_key_sense(struct cs_str key);

/* --- find_*.c: personal --- */

size_t cs_find_mail(struct cs_view *view, size_t at);   /* '@', or "%40" */
size_t cs_find_number(struct cs_view *view, size_t at); /* the first digit of a run, or a '+' or '('
                                                         * right before it: SSN, CREDIT_CARD, PHONE,
                                                         * IPv4, dates of birth, passports and
                                                         * licences of digits */
size_t cs_find_address(struct cs_view *view, size_t at); /* the same place: house number, postcode,
                                                          * PO box; looks to both sides */
size_t cs_find_ip6(struct cs_view *view, size_t at);     /* ':' with a hex digit or ':' beside it */
size_t cs_find_code(struct cs_view *view, size_t at); /* a word that begins with a letter and has a
                                                       * digit: IBAN, passports, licences */
/* The value of a key with a personal sense (but PERSON): any shape is believed, within reason. */
void cs_keyed_personal(struct cs_view *view, struct cs_sense sense, size_t start, size_t end);

/* --- find_*.c: secrets --- */

size_t cs_find_vendor(struct cs_view *view, size_t at); /* the start of a word: prefixes of vendors,
                                                         * and "eyJ" */
size_t cs_find_pem(struct cs_view *view, size_t at);    /* "-----BEGIN " */
size_t cs_find_url(struct cs_view *view, size_t at);    /* the ':' of "://" */
/* A run of letters, digits and [+/=_.-] of 20 bytes and more, which nobody else has claimed. */
size_t cs_find_opaque(struct cs_view *view, size_t start, size_t end);
/* The value of a key with a secret sense. `key` as written. */
void cs_keyed_secret(struct cs_view *view, struct cs_sense sense, struct cs_str key, size_t start,
                     size_t end);

/* --- names.c --- */

/* After everything else: hits are no names. */
void cs_find_names(struct cs_view *view);
void cs_keyed_name(struct cs_view *view, struct cs_sense sense, size_t start, size_t end);

/* --- custom.c --- */

void cs_find_custom(const struct cs_detector *detector, struct cs_view *view);
/* Did it come with a request? */
bool cs_detector_asked(const struct cs_detector *detector, enum cs_pii kind, unsigned custom);
/* As cs_hit, for one of these. */
void cs_hit_custom(struct cs_view *view, unsigned custom, size_t start, size_t end);

/* --- small things that many need --- */

static inline bool cs_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool cs_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline bool cs_is_alnum(char c)
{
    return cs_is_digit(c) || cs_is_letter(c);
}

/* The byte there; 0 outside of the view. */
static inline char cs_view_at(const struct cs_view *view, size_t i)
{
    return i < view->len ? view->at[i] : '\0';
}

#endif
