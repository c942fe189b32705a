/*
 * Finding the right tool (or skill) among thousands by a few words: fielded BM25, letter trigrams,
 * repair of typing errors, families of words, a bonus for a named server, and vectors of a static
 * model when one is loaded. One index; documents come and go by group (a group is a server).
 *
 * Runs in: daemon, loop thread. Texts come from foreign servers: they are data. Repeating a word
 *          does not raise a rank: how often it occurs is not looked at. Of a text, CS_SEARCH_TEXT
 *          bytes are indexed; bytes that are no UTF-8 separate words.
 * Owner:   the index owns copies of all texts; hits carry the caller's `tag`.
 * Limits:  CS_SEARCH_DOCS documents, then CS_LIMIT, and the group stays as it was. Of a query,
 *          CS_SEARCH_QUERY bytes count.
 * Time:    a change costs a few milliseconds at the next query (for 3,000 documents), as the
 *          statistics of all groups are derived again.
 * Deterministic: the same documents and query give the same order, whatever order they came in;
 *          ties are broken by "group/name".
 */
#ifndef CS_SEARCH_SEARCH_H
#define CS_SEARCH_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/str.h"

#define CS_SEARCH_TEXT  2000u
#define CS_SEARCH_QUERY 1000u
#define CS_SEARCH_DOCS  100000u

struct cs_search;
struct cs_model;

struct cs_search_doc {
    struct cs_str name;        /* as the server calls it: "create_pull_request" */
    struct cs_str title;       /* or empty */
    struct cs_str description; /* the first sentence counts more */
    struct cs_str schema;      /* JSON Schema of the input: names, descriptions, enums; or empty */
    const void *tag;           /* comes back in hits */
};

/* `model` may be NULL; it is borrowed and must outlive the index. */
struct cs_search *cs_search_new(const struct cs_model *model);
void cs_search_free(struct cs_search *index);

/* Replaces the whole group. Texts are copied. */
int cs_search_put(struct cs_search *index, struct cs_str group, const struct cs_search_doc *docs,
                  size_t count, struct cs_err *err);
void cs_search_remove(struct cs_search *index, struct cs_str group);

struct cs_search_hit {
    const void *tag;
    float score; /* scaled; comparable within one answer only */
};

struct cs_search_options {
    size_t limit;        /* how many hits are wanted; 0: 5 */
    size_t offset;       /* how many of the best to skip */
    struct cs_str group; /* only this group; empty: all. Free text that is no group is a hint, and
                            counts like the name of a server in the query */
    bool (*accept)(void *ctx, const void *tag); /* NULL: all; others do not exist for the caller */
    void *ctx;
};

/*
 * Fills `hits` (room for options->limit) and returns how many; *total is how many match at all. A
 * query that equals a name or "group/name" finds it first, always. At most 3 of one group are among
 * the first 5 unless the group was named. An empty or useless query finds nothing.
 */
size_t cs_search_find(struct cs_search *index, struct cs_str query,
                      const struct cs_search_options *options, struct cs_search_hit *hits,
                      size_t *total);

/*
 * vectors.c: a static sentence model in the Model2Vec layout (model.safetensors, tokenizer.json) of
 * a directory: the file is mapped, its offsets and shapes are checked. CS_MISSING if it is not
 * there, CS_INVALID if it is not what it should be.
 */
int cs_model_open(const char *dir, struct cs_model **model, struct cs_err *err);
void cs_model_free(struct cs_model *model);
size_t cs_model_width(const struct cs_model *model);

/* `vector` has room for cs_model_width floats; unit length, or all zero if no word is known. */
void cs_model_embed(const struct cs_model *model, struct cs_str text, float *vector);

/*
 * rank.c: puts a catalogue (JSON lines {"server", "name", "title"?, "description"?,
 * "inputSchema"?}) into an index, and answers queries ({"query_id", "query"}) with one line each:
 * {"query_id": ..., "ranking": ["server/name", ...]}. `model` may be NULL; limit 0 is 10. A line
 * that is not what it should be is CS_INVALID with its number; what was printed before stays
 * printed.
 */
int cs_search_rank(const char *catalogue_path, const char *queries_path,
                   const struct cs_model *model, size_t limit, FILE *out, struct cs_err *err);

#endif
