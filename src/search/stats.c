#include <math.h>

#include "base/mem.h"
#include "search/index.h"

/* BM25, with the weight of the field where a word stands in place of its frequency. */
#define BM25_K1 1.2f
#define BM25_B  0.6f

static const float field_weights[FIELDS] = {
    [FIELD_NAME] = 3.5f, [FIELD_GROUP] = 0.6f, [FIELD_TITLE] = 1.4f,      [FIELD_FIRST] = 1.4f,
    [FIELD_REST] = 1.2f, [FIELD_PARAM] = 0.1f, [FIELD_PARAM_TEXT] = 0.1f, [FIELD_ENUM] = 0.1f,
};

#define DESCRIPTION  (1u << FIELD_FIRST | 1u << FIELD_REST)
#define REPAIRABLE   (1u << FIELD_NAME | 1u << FIELD_GROUP | 1u << FIELD_TITLE | DESCRIPTION)
#define DEAD_ALLOWED 20000u

void cs_search_forget(struct cs_search *x)
{
    void *const all[] = {x->docs,          x->term_start, x->gram_start, x->postings,
                         x->gram_postings, x->idf,        x->gram_idf,   x->in_names,
                         x->name_weight,   x->vectors,    x->by_length,  x->scratch,
                         x->term_scratch};
    for (size_t i = 0; i < CS_COUNT(all); i++)
        free(all[i]);
    x->docs = NULL;
    x->term_start = x->gram_start = x->in_names = x->by_length = NULL;
    x->postings = NULL;
    x->gram_postings = NULL;
    x->idf = x->gram_idf = x->name_weight = x->vectors = x->scratch = x->term_scratch = NULL;
}

/* Words of groups that went away stay in the dictionaries until they are the greater part. */
static void renumber(struct cs_terms *terms, uint32_t **numbers, const bool *alive)
{
    struct cs_terms fresh = {0};
    *numbers = cs_calloc(terms->count, sizeof **numbers);
    for (uint32_t i = 0; i < terms->count; i++)
        if (alive[i])
            (*numbers)[i] = cs_terms_add(&fresh, terms->at[i]);
    cs_terms_done(terms);
    *terms = fresh;
}

static void sweep(struct cs_search *x)
{
    CS_AUTO_FREE bool *term = cs_calloc(x->terms.count, sizeof *term);
    CS_AUTO_FREE bool *gram = cs_calloc(x->grams.count, sizeof *gram);
    size_t alive = 0;
    for (size_t g = 0; g < x->group_count; g++) {
        const struct group *group = x->groups[g];
        for (size_t i = 0; i < group->word_count; i++) {
            alive += !term[group->words[i]];
            term[group->words[i]] = true;
        }
        for (size_t d = 0; d < group->count; d++) {
            for (uint32_t i = 0; i < group->docs[d].use_count; i++) {
                alive += !term[group->docs[d].uses[i].term];
                term[group->docs[d].uses[i].term] = true;
            }
            for (uint32_t i = 0; i < group->docs[d].gram_count; i++)
                gram[group->docs[d].grams[i].gram] = true;
        }
    }
    if (x->terms.count < 2 * alive + DEAD_ALLOWED)
        return;
    CS_AUTO_FREE uint32_t *terms = NULL;
    CS_AUTO_FREE uint32_t *grams = NULL;
    renumber(&x->terms, &terms, term);
    renumber(&x->grams, &grams, gram);
    for (size_t g = 0; g < x->group_count; g++) {
        struct group *group = x->groups[g];
        for (size_t i = 0; i < group->word_count; i++)
            group->words[i] = terms[group->words[i]];
        for (size_t d = 0; d < group->count; d++) {
            for (uint32_t i = 0; i < group->docs[d].use_count; i++)
                group->docs[d].uses[i].term = terms[group->docs[d].uses[i].term];
            for (uint32_t i = 0; i < group->docs[d].gram_count; i++)
                group->docs[d].grams[i].gram = grams[group->docs[d].grams[i].gram];
        }
    }
}

/* What a word of this document weighs in each field, before saturation. */
static void weigh_fields(const struct doc *doc, const float *average, float *weights)
{
    for (int f = 0; f < FIELDS; f++) {
        float length = doc->lengths[f], usual = average[f];
        if (DESCRIPTION & 1u << f) {
            length = (float)doc->lengths[FIELD_FIRST] + (float)doc->lengths[FIELD_REST];
            usual = average[FIELD_FIRST] + average[FIELD_REST];
        }
        float norm = usual > 0 ? 1 - BM25_B + BM25_B * length / usual : 1;
        weights[f] = field_weights[f] / norm;
    }
}

/* A word counts once, by the best place that it stands in. */
static uint16_t saturated(uint32_t fields, const float *weights)
{
    float tf = 0;
    for (int f = 0; f < FIELDS; f++)
        if (fields & 1u << f && weights[f] > tf)
            tf = weights[f];
    return (uint16_t)(1 + WEIGHT_ONE * tf * (BM25_K1 + 1) / (tf + BM25_K1));
}

/* Turns counts at [i + 1] into where list i starts. */
static void counts_to_starts(uint32_t *starts, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        starts[i + 1] += starts[i];
}

static void derive_terms(struct cs_search *x)
{
    uint32_t terms = x->terms.count;
    size_t docs = x->doc_count;
    x->term_start = cs_calloc(terms + 2u, sizeof *x->term_start);
    x->in_names = cs_calloc(terms, sizeof *x->in_names);
    x->idf = cs_calloc(terms, sizeof *x->idf);
    x->name_weight = cs_calloc(docs, sizeof *x->name_weight);
    uint64_t sums[FIELDS] = {0};
    size_t total = 0;
    for (size_t d = 0; d < docs; d++) {
        for (int f = 0; f < FIELDS; f++)
            sums[f] += x->docs[d]->lengths[f];
        total += x->docs[d]->use_count;
        for (uint32_t i = 0; i < x->docs[d]->use_count; i++) {
            x->term_start[x->docs[d]->uses[i].term + 1]++;
            x->in_names[x->docs[d]->uses[i].term] += x->docs[d]->uses[i].fields & 1u << FIELD_NAME;
        }
    }
    float average[FIELDS];
    for (int f = 0; f < FIELDS; f++)
        average[f] = docs ? (float)((double)sums[f] / (double)docs) : 0;
    for (uint32_t t = 0; t < terms; t++) {
        double df = x->term_start[t + 1];
        x->idf[t] = (float)log(1 + ((double)docs - df + 0.5) / (df + 0.5));
    }
    counts_to_starts(x->term_start, terms);
    x->postings = cs_calloc(total, sizeof *x->postings);
    CS_AUTO_FREE uint32_t *next = cs_calloc(terms + 1u, sizeof *next);
    memcpy(next, x->term_start, (terms + 1u) * sizeof *next);
    for (size_t d = 0; d < docs; d++) {
        const struct doc *doc = x->docs[d];
        float weights[FIELDS];
        weigh_fields(doc, average, weights);
        for (uint32_t i = 0; i < doc->use_count; i++) {
            struct use use = doc->uses[i];
            x->postings[next[use.term]++] =
                (struct posting){(uint32_t)d, (uint16_t)use.fields, saturated(use.fields, weights)};
            if (use.fields & 1u << FIELD_NAME)
                x->name_weight[d] += x->idf[use.term];
        }
    }
}

static void derive_grams(struct cs_search *x)
{
    uint32_t grams = x->grams.count;
    x->gram_start = cs_calloc(grams + 2u, sizeof *x->gram_start);
    x->gram_idf = cs_calloc(grams, sizeof *x->gram_idf);
    size_t total = 0;
    for (size_t d = 0; d < x->doc_count; d++) {
        total += x->docs[d]->gram_count;
        for (uint32_t i = 0; i < x->docs[d]->gram_count; i++)
            x->gram_start[x->docs[d]->grams[i].gram + 1]++;
    }
    for (uint32_t g = 0; g < grams; g++) {
        uint32_t df = x->gram_start[g + 1];
        x->gram_idf[g] = df ? (float)log(1 + (double)x->doc_count / df) : 0;
    }
    counts_to_starts(x->gram_start, grams);
    x->gram_postings = cs_calloc(total, sizeof *x->gram_postings);
    CS_AUTO_FREE uint32_t *next = cs_calloc(grams + 1u, sizeof *next);
    memcpy(next, x->gram_start, (grams + 1u) * sizeof *next);
    for (size_t d = 0; d < x->doc_count; d++) {
        const struct doc *doc = x->docs[d];
        float square = 0;
        for (uint32_t i = 0; i < doc->gram_count; i++) {
            float w = doc->grams[i].weight * x->gram_idf[doc->grams[i].gram];
            square += w * w;
        }
        float scale = square > 0 ? 1 / sqrtf(square) : 0;
        for (uint32_t i = 0; i < doc->gram_count; i++) {
            uint32_t gram = doc->grams[i].gram;
            float w = doc->grams[i].weight * x->gram_idf[gram] * scale;
            x->gram_postings[next[gram]++] = (struct gram){(uint32_t)d, w};
        }
    }
}

static int by_text(const void *a, const void *b, void *terms)
{
    const struct cs_str *at = ((const struct cs_terms *)terms)->at;
    return cs_search_compare(at[*(const uint32_t *)a], at[*(const uint32_t *)b]);
}

/* Terms that stand in names or descriptions, sorted by length, then by text: a query that has too
 * many near words takes the same ones whatever order they came in. */
static void derive_lengths(struct cs_search *x)
{
    uint32_t terms = x->terms.count;
    x->by_length = cs_calloc(terms, sizeof *x->by_length);
    memset(x->length_start, 0, sizeof x->length_start);
    CS_AUTO_FREE bool *wanted = cs_calloc(terms, sizeof *wanted);
    for (uint32_t t = 0; t < terms; t++) {
        for (uint32_t i = x->term_start[t]; i < x->term_start[t + 1] && !wanted[t]; i++)
            wanted[t] = x->postings[i].fields & REPAIRABLE;
        if (wanted[t])
            x->length_start[x->terms.at[t].len + 1]++;
    }
    counts_to_starts(x->length_start, CS_WORD_MAX + 1);
    uint32_t next[CS_WORD_MAX + 2];
    memcpy(next, x->length_start, sizeof next);
    for (uint32_t t = 0; t < terms; t++)
        if (wanted[t])
            x->by_length[next[x->terms.at[t].len]++] = t;
    for (size_t len = 0; len <= CS_WORD_MAX; len++)
        qsort_r(x->by_length + x->length_start[len],
                x->length_start[len + 1] - x->length_start[len], sizeof *x->by_length, by_text,
                &x->terms);
}

void cs_search_derive(struct cs_search *x)
{
    cs_search_forget(x);
    sweep(x);
    size_t width = x->model ? cs_model_width(x->model) : 0;
    x->docs = cs_calloc(x->doc_count, sizeof *x->docs);
    x->vectors = cs_calloc(x->doc_count * width, sizeof *x->vectors);
    size_t d = 0;
    for (size_t g = 0; g < x->group_count; g++) {
        for (size_t i = 0; i < x->groups[g]->count; i++, d++) {
            x->docs[d] = &x->groups[g]->docs[i];
            if (width)
                memcpy(x->vectors + d * width, x->docs[d]->vector, width * sizeof *x->vectors);
        }
    }
    derive_terms(x);
    derive_grams(x);
    derive_lengths(x);
    x->scratch = cs_calloc(x->doc_count * SCRATCH, sizeof *x->scratch);
    x->term_scratch = cs_calloc(x->terms.count, sizeof *x->term_scratch);
    x->changed = false;
}
