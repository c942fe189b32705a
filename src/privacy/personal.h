/*
 * Inside of privacy/: what the finders of personal data share: words that hint at what stands next
 * to them, numbers cut into their groups, dates.
 */
#ifndef CS_PRIVACY_PERSONAL_H
#define CS_PRIVACY_PERSONAL_H

#include <string.h>

#include "privacy/find.h"

/* --- cues.c --- */

/* What a word says about a number near it. */
enum cs_cue {
    CS_CUE_PHONE = 1 << 0,    /* phone, tel, fax */
    CS_CUE_CALL = 1 << 1,     /* call, reach, contact: perhaps a phone */
    CS_CUE_LINE = 1 << 2,     /* office, home: a phone, if it follows one */
    CS_CUE_SSN = 1 << 3,      /* ssn, social (security) */
    CS_CUE_CARD = 1 << 4,     /* card, visa */
    CS_CUE_BIRTH = 1 << 5,    /* dob, born, geboren */
    CS_CUE_PASSPORT = 1 << 6, /* passport */
    CS_CUE_LICENCE = 1 << 7,  /* licence: also that of a program */
    CS_CUE_DRIVER = 1 << 8,   /* driver, dl */
    CS_CUE_PLACE = 1 << 9,    /* address, lives, ship */
    CS_CUE_OTHER = 1 << 10,   /* order, invoice, id: numbers of something else */
    CS_CUE_VERSION = 1 << 11, /* version, release, section: dots are no address */
    CS_CUE_NUMBER = 1 << 12,  /* number, no, nr: says nothing alone */
    CS_CUE_HOST = 1 << 13,    /* ip, host, server */
    CS_CUE_MINE = 1 << 14,    /* my, her, new: a number of somebody's */
};

/* Lower case, and without accents; 0 if it is longer than `room`. */
size_t cs_cue_fold(const char *at, size_t len, char *to, size_t room);
/* What a word says. */
unsigned cs_cue_of(const char *word, size_t len);
/*
 * The nearest word that says one of `want` or CS_CUE_OTHER, at most `back` bytes before `at`, on
 * the same line, with no other number between: what it says; and CS_CUE_NUMBER if that stood on the
 * way. Where nothing is in the way, the key of the view counts as standing before it.
 */
unsigned cs_cues_before(const struct cs_view *view, size_t at, size_t back, unsigned want);
/* The same for the first few words behind `at`. */
unsigned cs_cues_after(const struct cs_view *view, size_t at, unsigned want);

/* Whose paper a number before which `at` stands is: PASSPORT, LICENCE, or CS_PII_COUNT. */
enum cs_pii cs_paper_before(const struct cs_view *view, size_t at);

/* --- find_number.c --- */

#define CS_GROUPS 9
#define CS_DIGITS 24

/* Digits in groups: "+49 (0) 89 8279131". */
struct cs_digits {
    size_t start;
    bool plus;
    unsigned count; /* of groups */
    unsigned total; /* of digits */
    bool more;      /* it goes on, farther than this looks */
    struct {
        size_t at;
        unsigned len;
        unsigned first; /* in `digits` */
        char sep;       /* before it: 0, ' ', '-', '.', '/', '(' opens, ')' closes */
    } group[CS_GROUPS];
    char digits[CS_DIGITS];
};

/* False: no number, or a longer one than anything looked for here. */
bool cs_digits_read(const struct cs_view *view, size_t at, struct cs_digits *d);
/* The end of group `i`. */
static inline size_t cs_digits_end(const struct cs_digits *d, unsigned i)
{
    return d->group[i].at + d->group[i].len;
}
/* Is there a word, or more of a number, right before or behind? */
bool cs_open_before(const struct cs_view *view, size_t at);
bool cs_open_behind(const struct cs_view *view, size_t end);

/* --- each 0 (not one), or where it ends --- */

size_t cs_card_end(const struct cs_view *view, const struct cs_digits *d);    /* find_card.c */
size_t cs_ssn_end(const struct cs_view *view, const struct cs_digits *d);     /* find_card.c */
size_t cs_phone_end(const struct cs_view *view, const struct cs_digits *d);   /* find_phone.c */
size_t cs_phone_keyed(const struct cs_view *view, const struct cs_digits *d); /* under its key */
size_t cs_ip4_end(const struct cs_view *view, size_t at);                     /* find_ip.c */
size_t cs_ip_keyed(const struct cs_view *view, size_t start, size_t end);
/* A date that has a digit at `at`; `start` may be before it: "March 3, 1984". */
size_t cs_date_end(const struct cs_view *view, size_t at, size_t *start); /* find_date.c */
/* Does the text say that it is somebody's birth? */
bool cs_date_is_birth(const struct cs_view *view, size_t start, size_t end);
size_t cs_iban_end(const struct cs_view *view, size_t at); /* find_code.c */

bool cs_luhn(const char *digits, unsigned count);
/* Is it of an issuer, with a length of theirs? */
bool cs_card_issuer(const char *digits, unsigned count);

/* --- small things --- */

/* Part of a word: also every byte of what is not ASCII, but blanks and dashes there. */
static inline bool cs_is_wordy(const struct cs_view *view, size_t i)
{
    char c = cs_view_at(view, i);
    return cs_is_alnum(c) || c == '_' || (unsigned char)c >= 0x80;
}

static inline bool cs_one_of(char c, const char *these)
{
    return c != '\0' && strchr(these, c) != NULL;
}

static inline bool cs_is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static inline bool cs_is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

#endif
