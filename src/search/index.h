/*
 * The inside of an index, for index.c (what is kept), stats.c (what is derived) and find.c.
 *
 * A group keeps, per document, which words occur in which fields, and its letter trigrams. How
 * often a word occurs in a field is not kept, so that repeating it is no use. From all groups
 * together the postings and weights are derived when a query comes after a change: linear in the
 * number of words kept, a few milliseconds for 3,000 documents.
 */
#ifndef CS_SEARCH_INDEX_H
#define CS_SEARCH_INDEX_H

#include "search/families.h"
#include "search/search.h"
#include "search/terms.h"
#include "search/text.h"
#include "search/vectors.h"

enum field {
    FIELD_NAME,
    FIELD_GROUP,
    FIELD_TITLE,
    FIELD_FIRST,      /* first sentence of the description */
    FIELD_REST,       /* of the description */
    FIELD_PARAM,      /* names of parameters */
    FIELD_PARAM_TEXT, /* descriptions of parameters */
    FIELD_ENUM,
    FIELDS,
};

/* A word of a document: one bit per field that it is in. */
struct use {
    uint32_t term;
    uint32_t fields;
};

struct gram {
    uint32_t gram;
    float weight;
};

struct doc {
    struct group *group;
    struct cs_str name;
    const void *tag;
    struct use *uses;
    struct gram *grams;
    float *vector; /* NULL without a model */
    uint32_t use_count, gram_count;
    uint16_t lengths[FIELDS]; /* distinct words */
};

#define GROUP_WORDS 8

struct group {
    struct cs_str name;
    struct cs_arena arena; /* holds all of it */
    struct doc *docs;      /* sorted by name */
    size_t count;
    uint32_t words[GROUP_WORDS]; /* of its name, without those that say nothing */
    size_t word_count;
};

struct posting {
    uint32_t doc;
    uint16_t fields;
    uint16_t weight; /* saturated, 1/WEIGHT_ONE; at most a little above 2 */
};

#define WEIGHT_ONE 16384.0f

struct cs_search {
    const struct cs_model *model;
    struct cs_families families;
    struct cs_terms terms, grams;
    struct group **groups; /* sorted by name */
    size_t group_count, group_room;
    size_t doc_count;
    bool changed; /* what is below must be derived again */

    const struct doc **docs; /* in the order that breaks ties */
    uint32_t *term_start, *gram_start;
    struct posting *postings;
    struct gram *gram_postings; /* .gram is the document */
    float *idf, *gram_idf;
    uint32_t *in_names;  /* by term: how many names have it */
    float *name_weight;  /* by document: sum of the idf of the words of its name */
    float *vectors;      /* by document */
    uint32_t *by_length; /* terms that a typing error may have meant, by length */
    uint32_t length_start[CS_WORD_MAX + 2];
    float *scratch;      /* find.c: SCRATCH floats per document */
    float *term_scratch; /* find.c: by term */
};

#define SCRATCH 6

/* stats.c. Numbers of terms may change. */
void cs_search_derive(struct cs_search *index);
void cs_search_forget(struct cs_search *index);

static inline int cs_search_compare(struct cs_str a, struct cs_str b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int order = n ? memcmp(a.at, b.at, n) : 0;
    return order ? order : a.len < b.len ? -1 : a.len > b.len;
}

static inline uint32_t cs_search_df(const struct cs_search *index, uint32_t term)
{
    return term == CS_NO_TERM ? 0 : index->term_start[term + 1] - index->term_start[term];
}

#endif
