/* Chains of members from a root on: nodes.h. */
#include "base/utf8.h"
#include "compile/parser.h"

static bool global_name(const struct cs_parser *p, uint32_t atom)
{
    static const struct cs_str names[] = {CS_LIT("window"), CS_LIT("self"), CS_LIT("global"),
                                          CS_LIT("frames")};
    if (atom == K_globalThis)
        return true;
    for (size_t i = 0; i < CS_COUNT(names); i++) {
        if (cs_str_eq(p->names.at[atom].text, names[i]))
            return true;
    }
    return false;
}

bool cs_chain_global(const struct cs_parser *p, uint32_t link)
{
    const struct cs_link *l = &p->links.at[link];
    return link && l->up == 0 && l->root == ROOT_FREE && l->atom != CS_PART_ANY &&
           global_name(p, l->atom);
}

const struct cs_link *cs_chain_root(const struct cs_parser *p, uint32_t link)
{
    while (p->links.at[link].up)
        link = p->links.at[link].up;
    return &p->links.at[link];
}

uint32_t cs_chain_atoms(const struct cs_parser *p, uint32_t link, uint32_t *atoms, uint32_t max)
{
    uint32_t n = p->links.at[link].parts + 1u;
    for (uint32_t i = n; i-- > 0; link = p->links.at[link].up) {
        if (i < max)
            atoms[i] = p->links.at[link].atom;
    }
    return n;
}

static struct cs_str part_text(const struct cs_parser *p, uint32_t atom)
{
    return atom == CS_PART_ANY ? CS_STR("*")
                               : cs_utf8_cut(p->names.at[atom].text, CS_FACT_NAME_BYTES);
}

struct cs_str cs_chain_text(struct cs_parser *p, uint32_t link)
{
    uint32_t atoms[CS_CHAIN_PARTS + 1], n = cs_chain_atoms(p, link, atoms, CS_COUNT(atoms));
    size_t len = 0;
    if (n == 1 && atoms[0] != CS_PART_ANY)
        return p->names.at[atoms[0]].text;
    for (uint32_t i = 0; i < n; i++)
        len += 1 + part_text(p, atoms[i]).len;
    char *text = cs_arena_alloc(&p->scratch, len + 1);
    size_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct cs_str s = part_text(p, atoms[i]);
        if (i)
            text[at++] = '.';
        memcpy(text + at, s.at, s.len);
        at += s.len;
    }
    return cs_strn(text, at);
}

bool cs_chain_is(struct cs_parser *p, uint32_t link, const char *text)
{
    return link && cs_str_is(cs_chain_text(p, link), text);
}
