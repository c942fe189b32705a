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

/* A text of any length: in pieces that overlap, so that nothing hides behind the cut. */
void cs_text_add(struct cs_parser *p, enum cs_fact_kind kind, struct cs_str text, const char *via,
                 struct cs_str key, uint32_t pos);
/* texts.c: of a regular expression, list, object or call. */
void cs_text_facts(struct cs_parser *p, uint32_t node);
/* A name that is a sentence. */
void cs_name_fact(struct cs_parser *p, uint32_t atom, uint32_t pos);

/* prototype.c: what changes what everybody has. */
void cs_prototype_member(struct cs_parser *p, uint32_t node);
void cs_prototype_call(struct cs_parser *p, uint32_t node, uint32_t link);

#endif
