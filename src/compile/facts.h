/* Private to compile/: the parts of facts.c that have files of their own. */
#ifndef CS_COMPILE_FACTS_H
#define CS_COMPILE_FACTS_H

#include "compile/parser.h"

static inline bool cs_part_is(const struct cs_parser *p, uint32_t atom, const char *word)
{
    return atom != CS_PART_ANY && cs_str_is(p->names.at[atom].text, word);
}

/* code.c: code out of text. The word for what this chain makes code with, or NULL. */
const char *cs_code_maker(struct cs_parser *p, uint32_t link);
/* True if the call makes code, and has been noted. */
bool cs_code_call(struct cs_parser *p, uint32_t node, uint32_t link);
void cs_import_call(struct cs_parser *p, uint32_t node);
/* Each module that the node may name; false: any. */
bool cs_import_facts(struct cs_parser *p, uint32_t node, const char *via, uint32_t pos);
/* The module as rules know it, however it is written. */
struct cs_str cs_specifier(struct cs_parser *p, struct cs_str name);

/* prototype.c: what changes what everybody has. */
void cs_prototype_member(struct cs_parser *p, uint32_t node);
void cs_prototype_call(struct cs_parser *p, uint32_t node, uint32_t link);

#endif
