/* Inside of privacy/: words of postal addresses. */
#ifndef CS_PRIVACY_ADDRESS_H
#define CS_PRIVACY_ADDRESS_H

#include <stddef.h>

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
    CS_ROLE_TAIL = 1 << 12, /* ends like a street: Lindenstrasse, Kungsgatan */
};

/* `word` is folded. */
unsigned cs_role_of(const char *word, size_t len);

#endif
