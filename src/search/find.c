/*
 * A query against the index. Each signal is scaled to its best answer, and they are added:
 *
 *   words     BM25 of the words of the query, each by the best of its variants in the document:
 *             itself, what it was a typing error of, or a relative of its family
 *   letters   cosine of letter trigrams of names
 *   vectors   cosine of sentence vectors, with a model
 *
 * and, as they are between 0 and 1 already: how much of the query the document covers, how much of
 * the document's name the query covers, and whether its group was named.
 */
#include <math.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"
#include "search/index.h"

#define QUERY_WORDS   48
#define WORD_VARIANTS 48
#define FIRST_PLACES  5
#define PER_GROUP     3

#define LETTERS    0.3f
#define VECTORS    0.8f
#define COVER      0.5f
#define NAME_COVER 0.5f
#define GROUP      0.5f
#define REPAIRED   0.9f
#define RELATIVE   0.7f /* of a word that tools are called by */
#define ALIAS      0.9f /* of a word that is in no name: its relatives must do */

#define LETTERS_MATCH 0.25f /* from here on, likeness alone makes a document an answer */
#define VECTORS_MATCH 0.5f
#define GROUP_SURE    0.5f
#define GROUP_UNSURE  0.2f
#define EXACT         100.0f

struct variant {
    uint32_t term;
    float weight;
};

struct word {
    struct cs_word text, stem; /* as it was written, and without its ending */
    uint32_t term;             /* CS_NO_TERM if no document has it */
    bool repaired;
    float rarity;
    struct variant variants[WORD_VARIANTS];
    size_t variant_count;
};

struct query {
    struct cs_search *x;
    struct cs_str text;
    const struct cs_search_options *options;
    const struct group *only; /* the one group that is asked for */
    struct word *words;
    size_t count;
    bool *allowed; /* by document */
    float *sure;   /* by group: how sure it is that the query names it */
    float seen;    /* how much of the query the vectors are about */
    float *words_score, *best, *best_weight, *cover, *letters, *name_cover;
};

static uint32_t term_of(const struct cs_search *x, struct cs_str stem)
{
    uint32_t term = cs_terms_get(&x->terms, stem);
    return cs_search_df(x, term) ? term : CS_NO_TERM;
}

static void set_word(const struct cs_search *x, struct word *word, const struct cs_word *text)
{
    word->text = word->stem = *text;
    cs_word_stem(&word->stem);
    word->term = term_of(x, cs_word_str(&word->stem));
    word->rarity = word->term == CS_NO_TERM ? logf(1 + (float)x->doc_count) : x->idf[word->term];
    word->variant_count = 0;
}

/* The distinct words of a text. "GitHub" is one word if some document has it as one, else two. */
static size_t read_words(const struct cs_search *x, struct cs_str text, struct word *list,
                         size_t room)
{
    struct cs_words words = cs_words(text);
    struct cs_word word;
    size_t count = 0, before[2] = {0, 0}; /* what `count` was before the last two words */
    while (count < room && cs_words_next(&words, &word)) {
        struct word next;
        set_word(x, &next, &word);
        if (word.joined && next.term == CS_NO_TERM)
            continue;
        if (word.joined)
            count = before[0];
        before[0] = before[1];
        before[1] = count;
        bool skip = cs_word_is_stop(&word);
        for (size_t i = 0; i < count && !skip; i++)
            skip = cs_str_eq(cs_word_str(&list[i].stem), cs_word_str(&next.stem));
        if (!skip)
            list[count++] = next;
    }
    return count;
}

/* Whether one letter more, less, other, or two swapped make the one of the other. */
static bool is_near(struct cs_str a, struct cs_str b)
{
    if (a.len < b.len) {
        struct cs_str swap = a;
        a = b;
        b = swap;
    }
    size_t same = 0;
    while (same < b.len && a.at[same] == b.at[same])
        same++;
    const char *x = a.at + same, *y = b.at + same;
    size_t left = b.len - same;
    if (a.len > b.len)
        return memcmp(x + 1, y, left) == 0;
    if (left == 0 || memcmp(x + 1, y + 1, left - 1) == 0)
        return true;
    return left >= 2 && x[0] == y[1] && x[1] == y[0] && memcmp(x + 2, y + 2, left - 2) == 0;
}

static void add_variant(struct word *word, uint32_t term, float weight)
{
    for (size_t i = 0; i < word->variant_count; i++) {
        if (word->variants[i].term == term) {
            if (word->variants[i].weight < weight)
                word->variants[i].weight = weight;
            return;
        }
    }
    if (word->variant_count < WORD_VARIANTS)
        word->variants[word->variant_count++] = (struct variant){term, weight};
}

static void add_near_form(const struct cs_search *x, struct word *word, struct cs_str form)
{
    if (form.len < 3)
        return;
    size_t last = form.len + 1 < CS_WORD_MAX ? form.len + 1 : CS_WORD_MAX;
    uint32_t end = x->length_start[last + 1];
    for (uint32_t i = x->length_start[form.len - 1]; i < end; i++)
        if (is_near(x->terms.at[x->by_length[i]], form))
            add_variant(word, x->by_length[i], REPAIRED);
}

/* The index has stems only, and what the stem of a word with an error in it would be is a guess:
 * with a letter missing, "merge" is too short to lose its "e". */
static void add_near(const struct cs_search *x, struct word *word)
{
    struct cs_str whole = cs_word_str(&word->text), stem = cs_word_str(&word->stem);
    add_near_form(x, word, stem);
    if (whole.len != stem.len)
        add_near_form(x, word, whole);
    whole.len--;
    if (whole.len != stem.len && (whole.at[whole.len] == 'e' || whole.at[whole.len] == 's'))
        add_near_form(x, word, whole);
}

static void add_relatives(const struct cs_search *x, struct word *word)
{
    const struct cs_families *f = &x->families;
    uint32_t at = cs_terms_get(&f->words, cs_word_str(&word->stem));
    if (at == CS_NO_TERM)
        return;
    bool in_names = word->term != CS_NO_TERM && x->in_names[word->term] > 0;
    for (uint32_t i = f->start[at]; i < f->start[at + 1]; i++) {
        uint32_t term = term_of(x, f->words.at[f->list[i]]);
        if (term != CS_NO_TERM)
            add_variant(word, term, in_names ? RELATIVE : ALIAS);
    }
}

static void find_variants(const struct cs_search *x, struct word *word)
{
    if (word->term != CS_NO_TERM)
        add_variant(word, word->term, 1);
    else
        add_near(x, word);
    word->repaired = word->term == CS_NO_TERM && word->variant_count > 0;
}

static void score_words(struct query *q)
{
    const struct cs_search *x = q->x;
    float all = 0;
    for (size_t w = 0; w < q->count; w++)
        all += q->words[w].rarity;
    CS_AUTO_FREE uint32_t *touched = cs_calloc(x->doc_count, sizeof *touched);
    for (size_t w = 0; w < q->count; w++) {
        const struct word *word = &q->words[w];
        size_t count = 0;
        for (size_t v = 0; v < word->variant_count; v++) {
            struct variant variant = word->variants[v];
            float scale = variant.weight * x->idf[variant.term] / WEIGHT_ONE;
            uint32_t end = x->term_start[variant.term + 1];
            for (uint32_t i = x->term_start[variant.term]; i < end; i++) {
                uint32_t d = x->postings[i].doc;
                float score = scale * (float)x->postings[i].weight;
                if (q->best_weight[d] <= 0)
                    touched[count++] = d;
                q->best[d] = score > q->best[d] ? score : q->best[d];
                if (variant.weight > q->best_weight[d])
                    q->best_weight[d] = variant.weight;
            }
        }
        for (size_t i = 0; i < count; i++) {
            uint32_t d = touched[i];
            q->words_score[d] += q->best[d];
            q->cover[d] += q->best_weight[d] * word->rarity / all;
            q->best[d] = q->best_weight[d] = 0;
        }
    }
}

/* How much of each name the query has. A word of a name counts once, by its best variant. */
static void score_names(struct query *q)
{
    const struct cs_search *x = q->x;
    float *weights = x->term_scratch; /* all zero, before and after */
    for (size_t w = 0; w < q->count; w++) {
        for (size_t v = 0; v < q->words[w].variant_count; v++) {
            struct variant variant = q->words[w].variants[v];
            if (variant.weight > weights[variant.term])
                weights[variant.term] = variant.weight;
        }
    }
    for (size_t w = 0; w < q->count; w++) {
        for (size_t v = 0; v < q->words[w].variant_count; v++) {
            uint32_t term = q->words[w].variants[v].term;
            float score = weights[term] * x->idf[term];
            weights[term] = 0;
            if (score <= 0 || !x->in_names[term])
                continue;
            for (uint32_t i = x->term_start[term]; i < x->term_start[term + 1]; i++)
                if (x->postings[i].fields & 1u << FIELD_NAME)
                    q->name_cover[x->postings[i].doc] += score;
        }
    }
}

static void score_letters(struct query *q)
{
    const struct cs_search *x = q->x;
    struct cs_terms grams = {0};
    CS_AUTO_FREE float *counts = cs_calloc(QUERY_WORDS * (CS_WORD_MAX + 2), sizeof *counts);
    for (size_t w = 0; w < q->count; w++) {
        char bytes[CS_WORD_MAX + 2];
        struct cs_str at[CS_WORD_MAX + 2];
        size_t n = cs_word_grams(&q->words[w].text, bytes, at);
        for (size_t i = 0; i < n; i++)
            counts[cs_terms_add(&grams, at[i])] += 1;
    }
    float square = 0;
    for (uint32_t i = 0; i < grams.count; i++) {
        uint32_t gram = cs_terms_get(&x->grams, grams.at[i]);
        counts[i] *= gram == CS_NO_TERM ? 0 : x->gram_idf[gram];
        square += counts[i] * counts[i];
    }
    for (uint32_t i = 0; i < grams.count; i++) {
        uint32_t gram = cs_terms_get(&x->grams, grams.at[i]);
        if (gram == CS_NO_TERM || counts[i] <= 0)
            continue;
        float weight = counts[i] / sqrtf(square);
        for (uint32_t p = x->gram_start[gram]; p < x->gram_start[gram + 1]; p++)
            q->letters[x->gram_postings[p].gram] += weight * x->gram_postings[p].weight;
    }
    cs_terms_done(&grams);
}

/* Leaves the cosines in q->best. What was repaired is left out: its pieces mean something else. */
static void score_vectors(struct query *q)
{
    const struct cs_search *x = q->x;
    if (!x->model)
        return;
    size_t width = cs_model_width(x->model);
    CS_AUTO_FREE float *vector = cs_calloc(width, sizeof *vector);
    CS_AUTO_BUF struct cs_buf text = {0};
    float all = 0;
    for (size_t w = 0; w < q->count; w++) {
        all += q->words[w].rarity;
        if (q->words[w].repaired)
            continue;
        q->seen += q->words[w].rarity;
        cs_buf_putstr(&text, cs_word_str(&q->words[w].text));
        cs_buf_putc(&text, ' ');
    }
    q->seen /= all;
    cs_model_embed(x->model, cs_buf_str(&text), vector);
    for (size_t d = 0; d < x->doc_count; d++) {
        float cosine = cs_vector_dot(vector, x->vectors + d * width, width);
        q->best[d] = cosine > 0 ? cosine : 0;
    }
}

/* Whether a word of the query stands for this word of a group's name: the same, a typing error of
 * it, or its beginning ("mongo" for "mongodb") if it is not a word of tools itself. */
static bool names_word(const struct cs_search *x, const struct word *word, uint32_t term)
{
    if (word->term == term)
        return true;
    if (word->term == CS_NO_TERM)
        for (size_t v = 0; v < word->variant_count; v++)
            if (word->variants[v].term == term)
                return true;
    struct cs_str full = x->terms.at[term];
    bool rare = word->term == CS_NO_TERM || x->in_names[word->term] <= 2;
    return rare && word->stem.len >= 4 && full.len > word->stem.len &&
           memcmp(full.at, word->stem.at, word->stem.len) == 0;
}

/* A word that is used by this group only is a sure sign of it; "text" of "text-editor" is none. */
static float sureness(const struct query *q, const struct group *group, const struct word *hint,
                      size_t hint_count)
{
    const struct cs_search *x = q->x;
    size_t hits = 0;
    float sure = 0;
    for (size_t i = 0; i < group->word_count; i++) {
        bool hit = false;
        for (size_t w = 0; w < q->count && !hit; w++)
            hit = names_word(x, &q->words[w], group->words[i]);
        for (size_t w = 0; w < hint_count && !hit; w++)
            hit = names_word(x, &hint[w], group->words[i]);
        uint32_t df = cs_search_df(x, group->words[i]);
        if (hit && df) {
            hits++;
            float share = (float)group->count / (float)df;
            sure = share > sure ? share : sure;
        }
    }
    if (hits > 0 && hits == group->word_count && sure < GROUP_SURE)
        sure = GROUP_SURE;
    return sure > GROUP_UNSURE ? (sure < 1 ? sure : 1) : 0;
}

static void find_groups(struct query *q)
{
    CS_AUTO_FREE struct word *hint = cs_calloc(GROUP_WORDS, sizeof *hint);
    size_t count = 0;
    if (!q->only && q->options->group.len > 0)
        count =
            read_words(q->x, cs_text_cut(q->options->group, CS_SEARCH_QUERY), hint, GROUP_WORDS);
    for (size_t w = 0; w < count; w++)
        find_variants(q->x, &hint[w]);
    for (size_t g = 0; g < q->x->group_count; g++)
        q->sure[g] = q->only ? 1 : sureness(q, q->x->groups[g], hint, count);
}

static bool same_name(struct cs_str a, struct cs_str b)
{
    return a.len == b.len && strncasecmp(a.at, b.at, a.len) == 0;
}

static bool is_named(const struct query *q, const struct doc *doc)
{
    struct cs_str group = doc->group->name, text = q->text;
    if (text.len == 0 || doc->name.len == 0)
        return false;
    if (same_name(text, doc->name))
        return true;
    return text.len == group.len + 1 + doc->name.len && text.at[group.len] == '/' &&
           same_name(cs_strn(text.at, group.len), group) &&
           same_name(cs_strn(text.at + group.len + 1, doc->name.len), doc->name);
}

static float greatest(const struct query *q, const float *scores)
{
    float most = 0;
    for (size_t d = 0; d < q->x->doc_count; d++)
        if (q->allowed[d] && scores[d] > most)
            most = scores[d];
    return most > 0 ? most : 1;
}

struct ranked {
    uint32_t key; /* descending with the score */
    uint32_t doc;
};

static uint32_t key_of(float score)
{
    uint32_t bits;
    memcpy(&bits, &score, sizeof bits);
    return ~bits;
}

/* By the sum of all signals; scores are left in q->words_score. Returns how many match. */
static size_t add_up(struct query *q, struct ranked *list)
{
    const struct cs_search *x = q->x;
    float words = greatest(q, q->words_score), letters = greatest(q, q->letters);
    float vectors = greatest(q, q->best);
    size_t count = 0, d = 0;
    for (size_t g = 0; g < x->group_count; g++) {
        for (size_t i = 0; i < x->groups[g]->count; i++, d++) {
            bool exact = q->allowed[d] && is_named(q, x->docs[d]);
            bool match = q->count > 0 && (q->words_score[d] > 0 || q->letters[d] > LETTERS_MATCH ||
                                          q->best[d] > VECTORS_MATCH);
            if (!q->allowed[d] || !(match || exact))
                continue;
            float score = q->words_score[d] / words + LETTERS * q->letters[d] / letters +
                          VECTORS * q->seen * q->best[d] / vectors + COVER * q->cover[d] +
                          GROUP * q->sure[g];
            if (x->name_weight[d] > 0)
                score += NAME_COVER * q->name_cover[d] / x->name_weight[d];
            q->words_score[d] = exact ? score + EXACT : score;
            list[count++] = (struct ranked){key_of(q->words_score[d]), (uint32_t)d};
        }
    }
    return count;
}

/* Stable, so equal scores keep the order of the documents. */
static void sort(struct ranked *list, size_t count)
{
    CS_AUTO_FREE struct ranked *other = cs_calloc(count, sizeof *other);
    struct ranked *from = list, *to = other;
    for (unsigned shift = 0; shift < 32; shift += 8) {
        size_t starts[257] = {0};
        for (size_t i = 0; i < count; i++)
            starts[(from[i].key >> shift & 255) + 1]++;
        for (size_t i = 0; i < 256; i++)
            starts[i + 1] += starts[i];
        for (size_t i = 0; i < count; i++)
            to[starts[from[i].key >> shift & 255]++] = from[i];
        struct ranked *swap = from;
        from = to;
        to = swap;
    }
}

/* No group that was not named has more than PER_GROUP of the first places; what it loses comes
 * right after them. */
static void spread(const struct query *q, struct ranked *list, size_t count)
{
    const struct cs_search *x = q->x;
    CS_AUTO_FREE struct ranked *late = cs_calloc(count, sizeof *late);
    const struct group *first[FIRST_PLACES];
    size_t taken = 0, skipped = 0;
    for (size_t i = 0; i < count && taken < FIRST_PLACES; i++) {
        const struct group *group = x->docs[list[i].doc]->group;
        size_t same = 0;
        for (size_t k = 0; k < taken; k++)
            same += first[k] == group;
        size_t g = 0;
        while (same >= PER_GROUP && x->groups[g] != group)
            g++;
        if (same >= PER_GROUP && q->sure[g] < GROUP_SURE) {
            late[skipped++] = list[i];
        } else {
            first[taken] = group;
            list[taken++] = list[i];
        }
    }
    if (skipped)
        memcpy(list + taken, late, skipped * sizeof *late);
}

static void allow(struct query *q)
{
    const struct cs_search_options *options = q->options;
    for (size_t d = 0; d < q->x->doc_count; d++) {
        const struct doc *doc = q->x->docs[d];
        q->allowed[d] = (!q->only || doc->group == q->only) &&
                        (!options->accept || options->accept(options->ctx, doc->tag));
    }
}

static struct cs_str trimmed(struct cs_str s)
{
    while (s.len > 0 && (unsigned char)s.at[0] <= ' ') {
        s.at++;
        s.len--;
    }
    while (s.len > 0 && (unsigned char)s.at[s.len - 1] <= ' ')
        s.len--;
    return s;
}

static size_t rank(struct query *q, struct ranked *list)
{
    struct cs_search *x = q->x;
    float *scratch = x->scratch;
    memset(scratch, 0, x->doc_count * SCRATCH * sizeof *scratch);
    float **const slots[SCRATCH] = {&q->words_score, &q->best,    &q->best_weight,
                                    &q->cover,       &q->letters, &q->name_cover};
    for (size_t i = 0; i < SCRATCH; i++)
        *slots[i] = scratch + i * x->doc_count;
    allow(q);
    q->count = read_words(x, q->text, q->words, QUERY_WORDS);
    for (size_t w = 0; w < q->count; w++)
        find_variants(x, &q->words[w]);
    find_groups(q);
    for (size_t w = 0; w < q->count; w++)
        add_relatives(x, &q->words[w]);
    if (q->count > 0) {
        score_words(q);
        score_names(q);
        score_letters(q);
        score_vectors(q);
    }
    size_t count = add_up(q, list);
    sort(list, count);
    spread(q, list, count);
    return count;
}

size_t cs_search_find(struct cs_search *x, struct cs_str text,
                      const struct cs_search_options *options, struct cs_search_hit *hits,
                      size_t *total)
{
    static const struct cs_search_options usual = {0};
    if (x->changed)
        cs_search_derive(x);
    if (total)
        *total = 0;
    if (x->doc_count == 0)
        return 0;
    options = options ? options : &usual;
    struct query q = {.x = x, .options = options};
    q.text = trimmed(cs_text_cut(text, CS_SEARCH_QUERY));
    for (size_t g = 0; g < x->group_count && options->group.len > 0; g++)
        if (cs_str_eq(x->groups[g]->name, options->group))
            q.only = x->groups[g];
    CS_AUTO_FREE struct word *words = cs_calloc(QUERY_WORDS, sizeof *words);
    CS_AUTO_FREE bool *allowed = cs_calloc(x->doc_count, sizeof *allowed);
    CS_AUTO_FREE float *sure = cs_calloc(x->group_count, sizeof *sure);
    CS_AUTO_FREE struct ranked *list = cs_calloc(x->doc_count, sizeof *list);
    q.words = words;
    q.allowed = allowed;
    q.sure = sure;
    size_t count = rank(&q, list);
    size_t limit = options->limit ? options->limit : 5, filled = 0;
    for (size_t i = options->offset; i < count && filled < limit; i++, filled++)
        hits[filled] =
            (struct cs_search_hit){x->docs[list[i].doc]->tag, q.words_score[list[i].doc]};
    if (total)
        *total = count;
    return filled;
}
