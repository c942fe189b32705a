/*
 * Inside of privacy/: what a token looks like.
 *
 * The one place that knows: masking takes everything of a stranger's that is found here for a
 * literal, so whatever unmasking accepts must be found here.
 *
 *     [EMAIL_1]                         also [email_1], [ EMAIL_1 ], \[EMAIL_1\], %5BEMAIL_1%5D
 *     EMAIL_TOKEN_001
 *     EMAIL_3f9a0c71e2b4d855
 *     EMAIL_1                           if a string holds nothing else
 */
#ifndef CS_PRIVACY_TOKEN_H
#define CS_PRIVACY_TOKEN_H

#include "privacy/privacy.h"

#define CS_TOKEN_NAME   24 /* bytes of a name */
#define CS_TOKEN_MAX    48 /* bytes of a token, and a NUL */
#define CS_TOKEN_DIGITS 7
#define CS_TOKEN_NUMBER 9999999u

enum cs_token_shape {
    CS_SHAPE_BRACKET, /* also bent */
    CS_SHAPE_PERCENT, /* brackets as in an URL */
    CS_SHAPE_UNDERSCORE,
    CS_SHAPE_HASH,
    CS_SHAPE_BARE,
};

struct cs_token {
    size_t start, end; /* in the text */
    enum cs_token_shape shape;
    struct cs_str name; /* as written, in any case */
    uint64_t id;        /* number, or hash */
};

/* Names that there are; the name as written, in any case unless `exact`. */
typedef bool cs_token_named(const void *ctx, struct cs_str name);
bool cs_token_any_name(const void *ctx, struct cs_str name);
bool cs_token_built_in(const void *ctx, struct cs_str name);

/* The next token from `from` on. */
bool cs_token_next(struct cs_str text, size_t from, cs_token_named *named, const void *ctx,
                   struct cs_token *token);

/* How it is written. */
size_t cs_token_write(enum cs_token_style style, struct cs_str name, uint64_t id,
                      char text[CS_TOKEN_MAX]);

#endif
