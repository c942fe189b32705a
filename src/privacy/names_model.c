/*
 * The model: weights of features, learned by scripts/train-names (an averaged perceptron), and a
 * decision per word: outside of a name, the beginning of one, or going on with one.
 *
 * names.model: 16 bytes ("CSNAMES1", then for each level what is added to whatever speaks for a
 * name, 2 bytes each, little endian), then two signed bytes per slot: for B and I, as against O.
 */
#include <assert.h>

#include "base/embed.h"
#include "privacy/names.h"

CS_EMBED(names_model, "src/privacy/names.model");

#define HEAD 16

static uint32_t slot(uint32_t template, uint64_t value)
{
    uint64_t h = (value + template * 0x9E3779B97F4A7C15u) * 0xD6E8FEB86659FD93u;
    return (uint32_t)(h >> (64 - CS_NAME_BITS));
}

/* The classes, seen from farther away. */
static unsigned coarse(unsigned c)
{
    unsigned first = CS_GAZ_FIRST(c) > 1 ? 2 : CS_GAZ_FIRST(c);
    unsigned last = CS_GAZ_LAST(c) > 1 ? 2 : CS_GAZ_LAST(c);
    unsigned word = CS_GAZ_WORD(c) > 1 ? 2 : CS_GAZ_WORD(c);
    return first + 3 * last + 9 * word + 27 * CS_GAZ_PLACE(c) + 54 * CS_GAZ_STOP(c);
}

static unsigned length_of(const struct cs_name_word *w)
{
    return w->letters < 4 ? w->letters : w->letters < 7 ? 4 : w->letters < 11 ? 5 : 6;
}

size_t cs_name_features(struct cs_around *a, uint32_t f[CS_NAME_FEATURES])
{
    struct cs_name_word *w = a->w[2], *l = a->w[1], *r = a->w[3], *ll = a->w[0], *rr = a->w[4];
    unsigned c = cs_name_word_classes(w), cl = cs_name_word_classes(l),
             cr = cs_name_word_classes(r);
    unsigned k = coarse(c), kl = coarse(cl), kr = coarse(cr), shape = w->shape;
    unsigned tags = l->tag * 3u + ll->tag;
    uint64_t gaps = w->gap * 32u + r->gap, look = shape * 128u + k;
    uint64_t lh = (uint32_t)l->hash, rh = (uint32_t)r->hash;
    size_t n = 0;
#define ADD(id, value) f[n++] = slot(id, value)
    ADD(1, 0);
    ADD(2, shape * 8 + length_of(w));
    if (!a->strange) {
        ADD(3, w->hash);
        ADD(4, w->ends);
        ADD(5, w->ends & 0xFFFF);
        ADD(6, w->begins);
        ADD(7, w->hash + l->tag);
    }
    ADD(8, c);
    ADD(9, c * 16 + shape);
    ADD(10, cl * 16 + l->shape);
    ADD(11, cr * 16 + r->shape);
    ADD(12, (look * 2048 + kl * 16 + l->shape) * 32 + w->gap);
    ADD(13, (look * 2048 + kr * 16 + r->shape) * 32 + r->gap);
    ADD(14, (look * 2048 + kl) * 2048 + kr);
    ADD(15, lh);
    ADD(16, rh);
    ADD(17, (uint32_t)ll->hash);
    ADD(18, (uint32_t)rr->hash);
    ADD(19, lh * 31 + (uint32_t)ll->hash);
    ADD(20, lh * 31 + rh);
    ADD(21, lh * 2048 + look);
    ADD(22, rh * 2048 + look);
    ADD(23, gaps * 16 + shape);
    ADD(24, w->gap * 4u + l->tag);
    ADD(25, tags);
    ADD(26, (look * 16 + tags) * 32 + w->gap);
    ADD(27, w->key);
    ADD(28, (uint64_t)w->key * 2048 + look);
    ADD(29, ((l->shape * 16u + shape) * 16u + r->shape) * 2 + w->line_start);
    ADD(30, (((l->shape * 16u + shape) * 16u + r->shape) * 32 + w->gap) * 32 + r->gap);
    ADD(31, (w->seen * 2u + w->mailed) * 16 + shape);
    ADD(32, (w->seen * 2u + w->mailed) * 2048 + look);
    ADD(33, (a->is_value * 8u + a->words) * 16 + shape);
    ADD(34, ((a->is_value * 8u + a->words) * 2048 + look) * 4 + l->tag);
    ADD(35, lh * 32 + w->gap);
    ADD(36, rh * 32 + r->gap);
    ADD(37, ((uint64_t)w->line_start * 2048 + look) * 512 + kr);
    ADD(38, (rh * 16 + tags) * 32 + r->gap);
    ADD(39, (uint64_t)rr->shape * 2048 + look);
    ADD(40, (uint64_t)w->key * 8 + a->words);
#undef ADD
    assert(n <= CS_NAME_FEATURES);
    return n;
}

bool cs_name_candidate(struct cs_around *a, bool high)
{
    struct cs_name_word *w = a->w[2];
    unsigned c, known;
    if (w->shape >= CS_SHAPE_NUMBER || (w->title && a->w[1]->tag == CS_TAG_O))
        return false;
    if (a->w[1]->tag != CS_TAG_O || w->seen || w->shape == CS_SHAPE_CAP ||
        w->shape == CS_SHAPE_INNER || w->shape == CS_SHAPE_INITIAL || w->shape == CS_SHAPE_SCRIPT)
        return true;
    if (w->letters < 2 || w->shape == CS_SHAPE_MIXED)
        return false;
    c = cs_name_word_classes(w);
    known = CS_GAZ_FIRST(c) | CS_GAZ_LAST(c);
    if (w->shape == CS_SHAPE_UPPER)
        return known > 0;
    /* In small letters: no keys, no parts of code. */
    return known >= 2 && w->letters > 2 && !CS_GAZ_STOP(c) && (high || CS_GAZ_WORD(c) == 0) &&
           (w->gap <= CS_GAP_SPACE || w->gap == CS_GAP_COMMA || w->gap >= CS_GAP_STOP);
}

bool cs_name_goes_on(const struct cs_name_word *before, const struct cs_name_word *w)
{
    return before->tag != CS_TAG_O &&
           (w->gap == CS_GAP_SPACE || w->gap == CS_GAP_HYPHEN || w->gap == CS_GAP_INITIAL ||
            w->gap == CS_GAP_COMMA || w->gap == CS_GAP_NONE || w->gap == CS_GAP_QUOTE);
}

enum cs_name_tag cs_name_decide(struct cs_around *a, int lean)
{
    uint32_t f[CS_NAME_FEATURES];
    size_t n = cs_name_features(a, f);
    const int8_t *weights = (const int8_t *)names_model().at + HEAD;
    int b = lean, i = lean;
    if (names_model().len < HEAD + 2 * (size_t)CS_NAME_SLOTS)
        return CS_TAG_O;
    for (size_t k = 0; k < n; k++) {
        b += weights[2 * f[k]];
        i += weights[2 * f[k] + 1];
    }
    if (!cs_name_goes_on(a->w[1], a->w[2]))
        return b > 0 ? CS_TAG_B : CS_TAG_O;
    return b > 0 || i > 0 ? (i >= b ? CS_TAG_I : CS_TAG_B) : CS_TAG_O;
}

int cs_name_lean(enum cs_privacy_level level)
{
    const unsigned char *at = (const unsigned char *)names_model().at + 8 + 2 * (size_t)level;
    return names_model().len < HEAD ? 0 : (int16_t)(at[0] | at[1] << 8);
}
