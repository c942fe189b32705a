/*
 * What lists of names, words and places say about a word.
 *
 * The lists are those of packages (scripts/names/package.json); scripts/names/gazetteer makes the
 * table from them when the program is built.
 */
#include <assert.h>

#include "base/embed.h"
#include "privacy/names.h"

CS_EMBED_BUILT(gazetteer, "gazetteer.bin");

#define SLOT_BITS 19

uint8_t cs_gazetteer(uint64_t hash)
{
    const uint32_t *slots = (const uint32_t *)(const void *)gazetteer().at;
    uint32_t print = hash & 0xFFFFFF ? hash & 0xFFFFFF : 1;
    uint32_t mask = (1u << SLOT_BITS) - 1;
    assert(gazetteer().len == sizeof *slots << SLOT_BITS);
    /* The table has gaps, so this ends; the bound is for a table that has none. */
    for (uint32_t i = (uint32_t)(hash >> (64 - SLOT_BITS)), n = 0; slots[i] && n < 256; n++) {
        if (slots[i] >> 8 == print)
            return (uint8_t)slots[i];
        i = (i + 1) & mask;
    }
    return 0;
}
