/*
 * Families of words: what people say for what tools are called ("bill" for "invoice"). A table of
 * plain English and office words; nothing in it names a product or comes from a server.
 */
#ifndef CS_SEARCH_FAMILIES_H
#define CS_SEARCH_FAMILIES_H

#include "search/terms.h"

struct cs_families {
    struct cs_terms words; /* stems */
    uint32_t *start;       /* relatives of word w: list[start[w]] up to list[start[w + 1]] */
    uint32_t *list;
};

void cs_families_init(struct cs_families *families);
void cs_families_done(struct cs_families *families);

#endif
