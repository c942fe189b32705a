/* Names as small numbers: keywords first, in the order of enum cs_atom, then as they appear. */
#include "compile/lex.h"
#include "compile/parser.h"

static uint32_t hash_of(struct cs_str s)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < s.len; i++)
        h = (h ^ (unsigned char)s.at[i]) * 16777619u;
    return h;
}

static void grow(struct cs_parser *p)
{
    uint32_t size = (p->name_mask + 1) * 2;
    p->name_mask = size - 1;
    free(p->name_table);
    p->name_table = cs_calloc(size, sizeof *p->name_table);
    for (uint32_t i = 1; i < p->names.len; i++) {
        uint32_t at = p->names.at[i].hash & p->name_mask;
        while (p->name_table[at])
            at = (at + 1) & p->name_mask;
        p->name_table[at] = i;
    }
}

uint32_t cs_intern_hashed(struct cs_parser *p, struct cs_str text, uint32_t hash)
{
    uint32_t at = hash & p->name_mask;
    for (uint32_t i; (i = p->name_table[at]); at = (at + 1) & p->name_mask) {
        const struct cs_name *n = &p->names.at[i];
        if (n->hash == hash && cs_str_eq(n->text, text))
            return i;
    }
    uint32_t index = p->names.len;
    *CS_PUSH(&p->names) = (struct cs_name){text, hash};
    p->name_table[at] = index;
    if (p->names.len > (p->name_mask + 1) / 2)
        grow(p);
    return index;
}

uint32_t cs_intern(struct cs_parser *p, struct cs_str text)
{
    return cs_intern_hashed(p, text, hash_of(text));
}

void cs_names_init(struct cs_parser *p)
{
    static const struct cs_str words[] = {
#define X(word) {#word, sizeof #word - 1},
        CS_RESERVED(X){" ", 1}, CS_CONTEXTUAL(X)
#undef X
    };
    p->name_mask = 1023;
    p->name_table = cs_calloc(p->name_mask + 1, sizeof *p->name_table);
    *CS_PUSH(&p->names) = (struct cs_name){0};
    for (size_t i = 0; i < CS_COUNT(words); i++)
        cs_intern(p, words[i]);
}
