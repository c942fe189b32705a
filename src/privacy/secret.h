/*
 * Inside of privacy/: what the finders of secrets share. How a value looks decides whether it can
 * be one: `hunter2` may be a password, `${DB_PASSWORD}` and `process.env.TOKEN` never are.
 */
#ifndef CS_PRIVACY_SECRET_H
#define CS_PRIVACY_SECRET_H

#include "privacy/find.h"

/* Classes of bytes, as bits. */
enum {
    CS_C_DIGIT = 1,
    CS_C_HEX_LOWER = 2, /* a-f */
    CS_C_LOWER = 4,     /* g-z */
    CS_C_HEX_UPPER = 8, /* A-F */
    CS_C_UPPER = 16,    /* G-Z */
    CS_C_UNDER = 32,
    CS_C_DASH = 64,
    CS_C_DOT = 128,
    CS_C_PLUS = 256, /* and '/' */
    CS_C_EQUALS = 512,
    CS_C_PERCENT = 1024,
    CS_C_COLON = 2048,
    CS_C_TILDE = 4096,
    CS_C_ALNUM = CS_C_DIGIT | CS_C_HEX_LOWER | CS_C_LOWER | CS_C_HEX_UPPER | CS_C_UPPER,
    CS_C_URL64 = CS_C_ALNUM | CS_C_UNDER | CS_C_DASH,
    CS_C_BASE64 = CS_C_ALNUM | CS_C_PLUS | CS_C_EQUALS,
};

extern const uint16_t cs_byte_class[256];

static inline bool cs_is_class(char c, unsigned classes)
{
    return (cs_byte_class[(unsigned char)c] & classes) != 0;
}

/* The first byte from `at` on, before `end`, that is of none of these classes. */
size_t cs_class_end(const struct cs_view *view, size_t at, size_t end, unsigned classes);

/* What a value is made of. */
struct cs_mix {
    size_t len;
    unsigned lower, upper, digit, other, distinct;
    unsigned cases; /* how often it goes from small to capital, or between letter and digit */
    float bits;     /* entropy per byte */
    bool hex;       /* hex digits of one case only */
};

struct cs_mix cs_mix_of(struct cs_str value);

/* A stand-in for a value: ***, <...>, ${...}, {{ }}, %s, changeme, "your-key-here", null, string.
 */
bool cs_is_sample(struct cs_str value);
/* The same of what has the prefix of a vendor: EXAMPLE, xxxxx, ... */
bool cs_is_stub(struct cs_str body);
/* Code that gets a value from elsewhere: a call, an index, process.env.X, $VAR, a path of names. */
bool cs_is_code(struct cs_str value, bool quoted);
/* Where something is: a URL, a path. */
bool cs_is_place(struct cs_str value);
/* Random enough to be a key: long, mixed, no word, path, URL, version, date. */
bool cs_is_random(struct cs_str value);
/* Holds what no word of a language has: digits among letters, signs, capitals within. */
bool cs_is_odd(struct cs_str value, const struct cs_mix *mix);
bool cs_is_uuid(struct cs_str value);

/* Equal but for case. `small` is in small letters. */
bool cs_str_same(struct cs_str a, const char *small);
/* Does it hold `small`, whatever the case? */
bool cs_str_has(struct cs_str a, const char *small);

/* --- secret_keys.c: what a key says --- */

enum cs_under {
    CS_UNDER_NOTHING,
    CS_UNDER_PASS,   /* any word */
    CS_UNDER_PIN,    /* digits, or any word */
    CS_UNDER_KEY,    /* something random */
    CS_UNDER_SECRET, /* something random, or a word that is no word */
    CS_UNDER_WEAK,   /* something very random */
    CS_UNDER_COOKIE, /* several of them */
    CS_UNDER_AUTH,   /* a scheme before it */
};

enum cs_under cs_under_of(struct cs_str key);
/* The same for keys.c, where it knows no row. */
struct cs_sense cs_key_secret(struct cs_str key);

/* --- keyed_secret.c --- */

/* How a value was found, and so how much it has to prove. */
enum cs_found {
    CS_FOUND_ASSIGNED, /* key = value */
    CS_FOUND_TOLD,     /* the key is value: any word of a sentence may stand there */
    CS_FOUND_LISTED,   /* f('key', 'value') */
};

/* The value of a key, whatever stands around it: quotes, commas, comments. */
void cs_secret_value(struct cs_view *view, struct cs_str key, size_t start, size_t end,
                     enum cs_found found);

/* --- find_cue.c: words and commands that a secret follows --- */

size_t cs_cue_password(struct cs_view *view, size_t at, size_t after);
size_t cs_cue_secret(struct cs_view *view, size_t at, size_t after);
size_t cs_cue_key(struct cs_view *view, size_t at, size_t after);
size_t cs_cue_bearer(struct cs_view *view, size_t at, size_t after);
size_t cs_cue_basic(struct cs_view *view, size_t at, size_t after);
size_t cs_cue_identified(struct cs_view *view, size_t at, size_t after);
size_t cs_cue_option(struct cs_view *view, size_t at, size_t after);
size_t cs_cue_user(struct cs_view *view, size_t at, size_t after);
size_t cs_cue_second(struct cs_view *view, size_t at, size_t after);
size_t cs_cue_first(struct cs_view *view, size_t at, size_t after);
size_t cs_cue_login(struct cs_view *view, size_t at, size_t after);
size_t cs_cue_default(struct cs_view *view, size_t at, size_t after);
size_t cs_cue_attribute(struct cs_view *view, size_t at, size_t after);

/* --- find_pem.c --- */

size_t cs_find_pem64(struct cs_view *view, size_t at, size_t after); /* base64 of a PEM */
size_t cs_find_putty(struct cs_view *view, size_t at, size_t after);
size_t cs_find_der(struct cs_view *view, size_t at, size_t after); /* base64 of a key's bytes */

/* --- find_vendor.c: what more than a shape has to be looked at for --- */

size_t cs_find_bot(struct cs_view *view, size_t at, size_t after);
size_t cs_find_device(struct cs_view *view, size_t at, size_t after);
size_t cs_find_aws(struct cs_view *view, size_t at, size_t after);

/* --- find_jwt.c --- */

size_t cs_find_jwt(struct cs_view *view, size_t at, size_t after);   /* "eyJ" */
size_t cs_find_jwt64(struct cs_view *view, size_t at, size_t after); /* base64 of that */

#endif
