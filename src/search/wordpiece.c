#include "base/mem.h"
#include "search/fold.h"
#include "search/vectors.h"

#define SPECIAL_MAX 64u
#define PIECE_MAX   256u /* bytes; vocabularies have none that is near to it */
#define WORD_CHARS  200u

void cs_wordpiece_done(struct cs_wordpiece *w)
{
    cs_terms_done(&w->heads);
    cs_terms_done(&w->tails);
    cs_terms_done(&w->special);
    free(w->head_ids);
    free(w->tail_ids);
    free(w->special_ids);
    *w = (struct cs_wordpiece){0};
}

static int read_id(struct cs_json_val v, uint32_t rows, struct cs_str what, uint32_t *id,
                   struct cs_err *err)
{
    int64_t number;
    if (!cs_json_i64(v, &number) || number < 0 || number >= rows)
        return cs_fail(err, CS_INVALID,
                       "the token '%.*s' has no id below %u, the rows of the table",
                       CS_STR_ARG(what), rows);
    *id = (uint32_t)number;
    return 0;
}

static int read_vocabulary(struct cs_wordpiece *w, struct cs_json_val model, uint32_t rows,
                           struct cs_err *err)
{
    struct cs_json_val vocab = cs_json_get(model, "vocab"), key, value;
    if (cs_json_type(vocab) != CS_JSON_OBJECT)
        return cs_fail(err, CS_INVALID, "model.vocab is no object");
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_str prefix = cs_json_str(cs_json_get(model, "continuing_subword_prefix"), &arena);
    if (prefix.len == 0)
        prefix = CS_STR("##");
    struct cs_str unknown = cs_json_str(cs_json_get(model, "unk_token"), &arena);
    uint32_t count = cs_json_count(vocab);
    w->head_ids = cs_calloc(count, sizeof *w->head_ids);
    w->tail_ids = cs_calloc(count, sizeof *w->tail_ids);
    w->unknown = CS_NO_TERM;
    struct cs_json_iter it = {0};
    while (cs_json_next(vocab, &it, &key, &value)) {
        struct cs_str piece = cs_json_str(key, &arena);
        struct cs_str shown = cs_strn(piece.at, piece.len < 60 ? piece.len : 60);
        uint32_t id = 0;
        if (read_id(value, rows, shown, &id, err) < 0)
            return -1;
        if (cs_str_eq(piece, unknown))
            w->unknown = id;
        bool tail = piece.len > prefix.len && memcmp(piece.at, prefix.at, prefix.len) == 0;
        if (tail)
            piece = cs_strn(piece.at + prefix.len, piece.len - prefix.len);
        if (piece.len == 0 || piece.len > PIECE_MAX)
            continue;
        w->longest = piece.len > w->longest ? (uint32_t)piece.len : w->longest;
        if (tail)
            w->tail_ids[cs_terms_add(&w->tails, piece)] = id;
        else
            w->head_ids[cs_terms_add(&w->heads, piece)] = id;
    }
    if (w->unknown == CS_NO_TERM)
        return cs_fail(err, CS_INVALID, "model.unk_token is no token of the vocabulary");
    return 0;
}

static int read_special(struct cs_wordpiece *w, struct cs_json_val tokens, uint32_t rows,
                        struct cs_err *err)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_json_val token;
    struct cs_json_iter it = {0};
    if (cs_json_type(tokens) != CS_JSON_ARRAY)
        return 0;
    if (cs_json_count(tokens) > SPECIAL_MAX)
        return cs_fail(err, CS_LIMIT, "more than %u added_tokens", SPECIAL_MAX);
    w->special_ids = cs_calloc(SPECIAL_MAX, sizeof *w->special_ids);
    while (cs_json_next(tokens, &it, NULL, &token)) {
        struct cs_str content = cs_json_str(cs_json_get(token, "content"), &arena);
        uint32_t id = 0;
        if (content.len == 0 || content.len > PIECE_MAX)
            return cs_fail(err, CS_INVALID, "an added token without content, or with too much");
        struct cs_str shown = cs_strn(content.at, content.len < 60 ? content.len : 60);
        if (read_id(cs_json_get(token, "id"), rows, shown, &id, err) < 0)
            return -1;
        w->special_ids[cs_terms_add(&w->special, content)] = id;
    }
    return 0;
}

static int read_normalizer(struct cs_wordpiece *w, struct cs_json_val root, struct cs_err *err)
{
    struct cs_json_val normalizer = cs_json_get(root, "normalizer");
    bool lower = true, strip, clean = true, ideographs = true;
    cs_json_bool(cs_json_get(normalizer, "lowercase"), &lower);
    cs_json_bool(cs_json_get(normalizer, "clean_text"), &clean);
    cs_json_bool(cs_json_get(normalizer, "handle_chinese_chars"), &ideographs);
    strip = lower; /* what null means */
    cs_json_bool(cs_json_get(normalizer, "strip_accents"), &strip);
    if (!cs_json_is(cs_json_get(normalizer, "type"), "BertNormalizer") ||
        !cs_json_is(cs_json_get(cs_json_get(root, "pre_tokenizer"), "type"), "BertPreTokenizer"))
        return cs_fail(err, CS_INVALID, "only BertNormalizer and BertPreTokenizer are known");
    if (lower != strip || !clean || !ideographs)
        return cs_fail(err, CS_INVALID,
                       "a BertNormalizer that lowers without stripping accents, strips without "
                       "lowering, or does not clean, is not known");
    w->fold = lower;
    return 0;
}

int cs_wordpiece_read(struct cs_wordpiece *w, struct cs_str json, uint32_t rows, struct cs_err *err)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    if (cs_json_parse(json, NULL, &doc, err) < 0)
        return -1;
    struct cs_json_val root = cs_json_root(&doc), model = cs_json_get(root, "model");
    int64_t most = 100;
    if (!cs_json_is(cs_json_get(model, "type"), "WordPiece"))
        return cs_fail(err, CS_INVALID, "model.type is not \"WordPiece\"");
    struct cs_json_val limit = cs_json_get(model, "max_input_chars_per_word");
    if (cs_json_type(limit) != CS_JSON_NONE &&
        (!cs_json_i64(limit, &most) || most < 1 || most > WORD_CHARS))
        return cs_fail(err, CS_INVALID, "model.max_input_chars_per_word is not from 1 to %u",
                       WORD_CHARS);
    *w = (struct cs_wordpiece){.most = (uint32_t)most};
    if (read_normalizer(w, root, err) < 0 || read_vocabulary(w, model, rows, err) < 0 ||
        read_special(w, cs_json_get(root, "added_tokens"), rows, err) < 0) {
        cs_wordpiece_done(w);
        return -1;
    }
    return 0;
}

struct split {
    const struct cs_wordpiece *w;
    uint32_t *ids;
    size_t count;
    char word[WORD_CHARS * 4];
    size_t len;
    uint32_t chars; /* of the word, also those that no longer fit */
};

/* The longest piece first, then the longest of what is left. A word with a part that is no piece
 * is unknown as a whole. */
static void end_word(struct split *s)
{
    const struct cs_wordpiece *w = s->w;
    size_t start = s->count, at = 0, len = s->chars > w->most ? 0 : s->len;
    s->len = s->chars = 0;
    while (at < len && s->count < CS_MODEL_TOKENS) {
        const struct cs_terms *pieces = at ? &w->tails : &w->heads;
        size_t end = len - at > w->longest ? at + w->longest : len;
        uint32_t piece = CS_NO_TERM;
        for (; end > at; end--) {
            if (end < len && ((unsigned char)s->word[end] & 0xC0) == 0x80)
                continue;
            piece = cs_terms_get(pieces, cs_strn(s->word + at, end - at));
            if (piece != CS_NO_TERM)
                break;
        }
        uint32_t id = piece == CS_NO_TERM ? w->unknown : (at ? w->tail_ids : w->head_ids)[piece];
        if (id == w->unknown) {
            s->count = start;
            return;
        }
        s->ids[s->count++] = id;
        at = end;
    }
}

static void add_char(struct split *s, uint32_t c)
{
    if (cs_fold_is_space(c)) {
        end_word(s);
        return;
    }
    bool alone = cs_fold_is_punctuation(c) || cs_fold_is_ideograph(c);
    if (alone)
        end_word(s);
    if (s->chars++ < s->w->most)
        s->len += cs_utf8_put(s->word + s->len, c);
    if (alone)
        end_word(s);
}

/* The special token that `text` starts with, or CS_NO_TERM. */
static uint32_t special_at(const struct cs_wordpiece *w, struct cs_str text)
{
    for (uint32_t i = 0; i < w->special.count; i++) {
        struct cs_str token = w->special.at[i];
        if (text.at[0] == token.at[0] && text.len >= token.len &&
            memcmp(text.at, token.at, token.len) == 0)
            return i;
    }
    return CS_NO_TERM;
}

size_t cs_wordpiece_split(const struct cs_wordpiece *w, struct cs_str text, uint32_t *ids)
{
    struct split s = {.w = w, .ids = ids};
    while (text.len > 0 && s.count < CS_MODEL_TOKENS) {
        uint32_t special = special_at(w, text);
        if (special != CS_NO_TERM) {
            end_word(&s);
            text.at += w->special.at[special].len;
            text.len -= w->special.at[special].len;
            if (s.count < CS_MODEL_TOKENS && w->special_ids[special] != w->unknown)
                ids[s.count++] = w->special_ids[special];
            continue;
        }
        uint32_t c = cs_fold_take(&text), folded[CS_FOLD_MAX] = {c};
        if (cs_fold_is_control(c))
            continue;
        if (cs_fold_is_ideograph(c))
            end_word(&s);
        unsigned n = w->fold ? cs_fold_char(c, folded) : 1;
        for (unsigned i = 0; i < n; i++)
            add_char(&s, folded[i]);
    }
    end_word(&s);
    return s.count;
}
