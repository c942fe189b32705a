/*
 * Inside of privacy/: words that a secret begins with, or follows.
 *
 * A row says how a key of a vendor goes on after its prefix:
 *
 *     {"github", "ghp_", "x36-255"}      36 to 255 letters and digits
 *     {"databricks", "dapi", "H32(-d1)"} 32 hex digits, and maybe a dash and a digit
 *
 *     d digits   h hex, small   H hex   l small letters and digits   u capitals and digits
 *     a letters   x letters and digits   w x and _   b x and _ -   B x and + / =   t b and .
 *     T b and . + / =   p T and % : ~   U a UUID   anything else stands for itself
 *
 * A class takes what it can get, and the key ends where its last class ends.
 */
#ifndef CS_PRIVACY_VENDORS_H
#define CS_PRIVACY_VENDORS_H

#include "privacy/secret.h"

enum {
    CS_V_DIGIT = 1, /* holds a digit and a letter */
    CS_V_MIXED = 2, /* holds small letters, capitals and digits */
    CS_V_GLUED = 4, /* may follow right after a letter or digit */
    CS_V_ANY = 8,   /* even if it looks like a sample */
};

struct cs_vendor {
    const char *rule, *prefix, *shape;
    uint8_t len; /* of the prefix */
    uint8_t flags;
    size_t (*find)(struct cs_view *view, size_t at, size_t after); /* instead of a shape */
};

/* Of one first byte. The masks say which second and third bytes there are, by their low five bits,
 * so that ordinary words cost next to nothing. */
struct cs_vendor_lead {
    const struct cs_vendor *rows;
    size_t count;
    uint32_t second, third;
    uint64_t both;
};

extern const struct cs_vendor_lead cs_vendor_leads[128];

/* Where a key of this shape ends that goes on at `at`; 0: it is none. */
size_t cs_vendor_match(const struct cs_view *view, size_t at, const char *shape);

#endif
