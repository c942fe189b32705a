/*
 * Arithmetic on vectors, and the parts of a static model that its files share: the table of rows
 * (vectors.c) and the tokenizer (wordpiece.c).
 */
#ifndef CS_SEARCH_VECTORS_H
#define CS_SEARCH_VECTORS_H

#include "base/json.h"
#include "search/search.h"
#include "search/terms.h"

#define CS_MODEL_TOKENS 512u

/* Scales to length 1; a zero vector stays one. */
void cs_vector_unit(float *v, size_t width);
float cs_vector_dot(const float *a, const float *b, size_t width);
/* `a` becomes the unit vector between the two unit vectors. */
void cs_vector_mean(float *a, const float *b, size_t width);

/* WordPiece as BERT has it, without the tokens that frame a sentence. */
struct cs_wordpiece {
    struct cs_terms heads, tails; /* "play" and, of "##ing", "ing" */
    uint32_t *head_ids, *tail_ids;
    struct cs_terms special; /* "[CLS]" and the like, taken from the text as it is written */
    uint32_t *special_ids;
    uint32_t unknown; /* the id of the token for what is in no piece */
    uint32_t longest; /* bytes of a piece */
    uint32_t most;    /* characters of a word; longer ones are unknown */
    bool fold;        /* to lower case without accents */
};

/* `json` is the text of tokenizer.json; every id is below `rows`. */
int cs_wordpiece_read(struct cs_wordpiece *w, struct cs_str json, uint32_t rows,
                      struct cs_err *err);
void cs_wordpiece_done(struct cs_wordpiece *w);

/* At most CS_MODEL_TOKENS ids, without unknown words; returns how many. */
size_t cs_wordpiece_split(const struct cs_wordpiece *w, struct cs_str text, uint32_t *ids);

/* For tests: the ids that cs_model_embed adds up. */
size_t cs_model_tokens(const struct cs_model *model, struct cs_str text, uint32_t *ids);

/* The two files as bytes; they are borrowed. What cs_model_open does once it has mapped them. */
int cs_model_read(struct cs_str tensors, struct cs_str tokenizer, struct cs_model **model,
                  struct cs_err *err);

#endif
