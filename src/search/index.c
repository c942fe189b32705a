#include "search/index.h"

#include "base/json.h"
#include "base/mem.h"

#define NAME_MAX_BYTES   200u
#define SENTENCE_BYTES   200u
#define GRAM_BYTES       120u
#define PARAM_BYTES      2000u
#define ENUM_BYTES       500u
#define SCHEMA_DEPTH     2
#define SCHEMA_MAX_BYTES (1u << 20)
#define SENTENCE_GRAM    0.2f

/* Collects what is kept of one document. */
struct build {
    struct cs_search *index;
    struct use *uses;
    struct gram *grams;
    uint32_t use_count, use_room, gram_count, gram_room;
    uint32_t *use_at, *gram_at; /* by number: place in the list above plus one, if it is there */
    uint32_t use_at_room, gram_at_room;
    uint16_t lengths[FIELDS];
    struct cs_terms written; /* words as they are written, of all documents so far */
    uint32_t *written_in;    /* by number: the last text that it was seen in */
    uint32_t written_room, text;
};

struct cs_search *cs_search_new(const struct cs_model *model)
{
    struct cs_search *index = CS_NEW(struct cs_search);
    index->model = model;
    index->changed = true;
    cs_families_init(&index->families);
    return index;
}

static void free_group(struct group *group)
{
    if (!group)
        return;
    struct cs_arena arena = group->arena;
    cs_arena_done(&arena);
}

void cs_search_free(struct cs_search *index)
{
    if (!index)
        return;
    for (size_t i = 0; i < index->group_count; i++)
        free_group(index->groups[i]);
    free(index->groups);
    cs_search_forget(index);
    cs_families_done(&index->families);
    cs_terms_done(&index->terms);
    cs_terms_done(&index->grams);
    free(index);
}

static void build_done(struct build *b)
{
    free(b->uses);
    free(b->grams);
    free(b->use_at);
    free(b->gram_at);
    free(b->written_in);
    cs_terms_done(&b->written);
}

/* The entry of `number`, made if there is none; room for it is there. */
static uint32_t *place_of(uint32_t **at, uint32_t *room, uint32_t number)
{
    if (number >= *room) {
        uint32_t more = number + number / 2 + 256;
        *at = cs_realloc(*at, more, sizeof **at);
        memset(*at + *room, 0, (more - *room) * sizeof **at);
        *room = more;
    }
    return *at + number;
}

/* The two parts of a description are one text: what is in the first is not counted in the rest. */
static bool counted(uint32_t fields, enum field field)
{
    return fields & 1u << field || (field == FIELD_REST && fields & 1u << FIELD_FIRST);
}

static void add_word(struct build *b, const struct cs_word *word, enum field field)
{
    struct cs_word stem = *word;
    cs_word_stem(&stem);
    uint32_t term = cs_terms_add(&b->index->terms, cs_word_str(&stem));
    uint32_t *place = place_of(&b->use_at, &b->use_at_room, term);
    if (*place == 0) {
        if (b->use_count == b->use_room) {
            b->use_room = b->use_room ? b->use_room * 2 : 256;
            b->uses = cs_realloc(b->uses, b->use_room, sizeof *b->uses);
        }
        b->uses[b->use_count] = (struct use){term, 0};
        *place = ++b->use_count;
    }
    uint32_t *fields = &b->uses[*place - 1].fields;
    if (!counted(*fields, field)) {
        *fields |= 1u << field;
        b->lengths[field]++;
    }
}

static void add_text(struct build *b, struct cs_str text, enum field field)
{
    struct cs_words words = cs_words(text);
    struct cs_word word;
    while (cs_words_next(&words, &word))
        if (!cs_word_is_stop(&word))
            add_word(b, &word, field);
}

static void add_gram(struct build *b, struct cs_str s, float weight)
{
    uint32_t gram = cs_terms_add(&b->index->grams, s);
    uint32_t *place = place_of(&b->gram_at, &b->gram_at_room, gram);
    if (*place == 0) {
        if (b->gram_count == b->gram_room) {
            b->gram_room = b->gram_room ? b->gram_room * 2 : 256;
            b->grams = cs_realloc(b->grams, b->gram_room, sizeof *b->grams);
        }
        b->grams[b->gram_count] = (struct gram){gram, 0};
        *place = ++b->gram_count;
    }
    b->grams[*place - 1].weight += weight;
}

/* Whether the word was not in this text yet; b->text is the number of the text. */
static bool is_fresh(struct build *b, const struct cs_word *word)
{
    uint32_t number = cs_terms_add(&b->written, cs_word_str(word));
    uint32_t *in = place_of(&b->written_in, &b->written_room, number);
    bool fresh = *in != b->text;
    *in = b->text;
    return fresh;
}

/* Letters of the distinct words of a text. */
static void add_grams(struct build *b, struct cs_str text, float weight)
{
    struct cs_words words = cs_words(text);
    struct cs_word word;
    while (cs_words_next(&words, &word)) {
        if (!is_fresh(b, &word))
            continue;
        struct cs_str at[CS_WORD_MAX + 2];
        char bytes[CS_WORD_MAX + 2];
        size_t n = cs_word_grams(&word, bytes, at);
        for (size_t i = 0; i < n; i++)
            add_gram(b, at[i], weight);
    }
}

/* What is left of a budget of bytes after this text, which is cut to it. */
static struct cs_str within(struct cs_str text, size_t *budget)
{
    text = cs_text_cut(text, *budget);
    *budget -= text.len;
    return text;
}

struct budgets {
    size_t names, texts, enums;
};

static void add_schema(struct build *b, struct cs_json_val schema, int depth, struct budgets *left,
                       struct cs_arena *arena)
{
    struct cs_json_val properties = cs_json_get(schema, "properties"), key, item;
    if (cs_json_type(properties) != CS_JSON_OBJECT)
        return;
    struct cs_json_iter it = {0};
    while (left->names > 0 && cs_json_next(properties, &it, &key, &item)) {
        add_text(b, within(cs_json_str(key, arena), &left->names), FIELD_PARAM);
        if (cs_json_type(item) != CS_JSON_OBJECT)
            continue;
        struct cs_str text = cs_json_str(cs_json_get(item, "description"), arena);
        add_text(b, within(text, &left->texts), FIELD_PARAM_TEXT);
        struct cs_json_val values = cs_json_get(item, "enum"), value;
        struct cs_json_iter each = {0};
        while (cs_json_type(values) == CS_JSON_ARRAY && left->enums > 0 &&
               cs_json_next(values, &each, NULL, &value))
            add_text(b, within(cs_json_str(value, arena), &left->enums), FIELD_ENUM);
        if (depth < SCHEMA_DEPTH) {
            add_schema(b, item, depth + 1, left, arena);
            add_schema(b, cs_json_get(item, "items"), depth + 1, left, arena);
        }
    }
}

/* A schema that cannot be read is none: the tool can be found by the rest. */
static void add_parameters(struct build *b, struct cs_str schema)
{
    const struct cs_json_limits limits = {.bytes = SCHEMA_MAX_BYTES, .allow_duplicate = true};
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_err err;
    if (schema.len == 0 || cs_json_parse(schema, &limits, &doc, &err) < 0)
        return;
    struct budgets left = {PARAM_BYTES, PARAM_BYTES, ENUM_BYTES};
    add_schema(b, cs_json_root(&doc), 0, &left, &arena);
}

/* The distinct words of a text, so that its vector does not lean towards what is repeated. */
static void put_words(struct build *b, struct cs_str text, struct cs_buf *out)
{
    struct cs_words words = cs_words(text);
    struct cs_word word;
    while (cs_words_next(&words, &word)) {
        if (word.joined || !is_fresh(b, &word))
            continue;
        cs_buf_putstr(out, cs_word_str(&word));
        cs_buf_putc(out, ' ');
    }
}

/* Half what it is called, half what it says of itself. */
static void add_vector(struct build *b, struct doc *doc, struct cs_str server, struct cs_str name,
                       struct cs_str sentence)
{
    const struct cs_model *model = b->index->model;
    size_t width = cs_model_width(model);
    doc->vector = cs_arena_alloc(&doc->group->arena, width * sizeof *doc->vector);
    CS_AUTO_FREE float *second = cs_calloc(width, sizeof *second);
    CS_AUTO_BUF struct cs_buf text = {0};
    b->text++;
    put_words(b, server, &text);
    put_words(b, name, &text);
    cs_model_embed(model, cs_buf_str(&text), doc->vector);
    cs_buf_clear(&text);
    b->text++;
    put_words(b, sentence, &text);
    cs_model_embed(model, cs_buf_str(&text), second);
    cs_vector_mean(doc->vector, second, width);
}

static void add_doc(struct build *b, struct group *group, const struct cs_search_doc *from,
                    struct doc *doc)
{
    struct cs_str name = cs_text_cut(from->name, NAME_MAX_BYTES);
    struct cs_str server = cs_text_cut(group->name, NAME_MAX_BYTES);
    struct cs_str text = cs_text_cut(from->description, CS_SEARCH_TEXT);
    struct cs_str first = cs_text_sentence(text, SENTENCE_BYTES);
    doc->group = group;
    doc->tag = from->tag;
    doc->name = cs_arena_dup(&group->arena, from->name);

    b->use_count = b->gram_count = 0;
    memset(b->lengths, 0, sizeof b->lengths);
    add_text(b, name, FIELD_NAME);
    add_text(b, server, FIELD_GROUP);
    add_text(b, cs_text_cut(from->title, NAME_MAX_BYTES), FIELD_TITLE);
    add_text(b, first, FIELD_FIRST);
    if (first.at)
        add_text(b,
                 cs_strn(first.at + first.len, (size_t)(text.at + text.len - first.at) - first.len),
                 FIELD_REST);
    add_parameters(b, from->schema);
    b->text++;
    add_grams(b, name, 1);
    add_grams(b, server, 1);
    b->text++;
    add_grams(b, cs_text_cut(first, GRAM_BYTES), SENTENCE_GRAM);

    doc->use_count = b->use_count;
    doc->uses = cs_arena_alloc(&group->arena, b->use_count * sizeof *doc->uses);
    doc->gram_count = b->gram_count;
    doc->grams = cs_arena_alloc(&group->arena, b->gram_count * sizeof *doc->grams);
    memcpy(doc->lengths, b->lengths, sizeof doc->lengths);
    if (b->use_count)
        memcpy(doc->uses, b->uses, b->use_count * sizeof *doc->uses);
    if (b->gram_count)
        memcpy(doc->grams, b->grams, b->gram_count * sizeof *doc->grams);
    for (uint32_t i = 0; i < b->use_count; i++)
        b->use_at[b->uses[i].term] = 0;
    for (uint32_t i = 0; i < b->gram_count; i++)
        b->gram_at[b->grams[i].gram] = 0;
    if (b->index->model)
        add_vector(b, doc, server, name, first);
}

/* The words by which people name the group: "github" of "github-mcp-server". */
static void name_group(struct cs_search *index, struct group *group)
{
    static const char *const empty[] = {"mcp",  "server",  "api",    "js",    "npx",
                                        "tool", "service", "client", "simple"};
    struct cs_words words = cs_words(cs_text_cut(group->name, NAME_MAX_BYTES));
    struct cs_word word;
    while (group->word_count < GROUP_WORDS && cs_words_next(&words, &word)) {
        cs_word_stem(&word);
        bool useful = !cs_word_is_stop(&word);
        for (size_t i = 0; useful && i < CS_COUNT(empty); i++) {
            struct cs_word other = {.len = (uint8_t)strlen(empty[i])};
            memcpy(other.at, empty[i], other.len);
            cs_word_stem(&other);
            useful = !cs_str_eq(cs_word_str(&word), cs_word_str(&other));
        }
        if (useful)
            group->words[group->word_count++] = cs_terms_add(&index->terms, cs_word_str(&word));
    }
}

static int by_name(const void *a, const void *b)
{
    const struct doc *x = a, *y = b;
    return cs_search_compare(x->name, y->name);
}

/* Where the group of that name is, or would be. */
static size_t group_place(const struct cs_search *index, struct cs_str name, bool *there)
{
    size_t low = 0, high = index->group_count;
    while (low < high) {
        size_t half = (low + high) / 2;
        if (cs_search_compare(index->groups[half]->name, name) < 0)
            low = half + 1;
        else
            high = half;
    }
    *there = low < index->group_count && cs_str_eq(index->groups[low]->name, name);
    return low;
}

static struct group *make_group(struct cs_search *index, struct cs_str name,
                                const struct cs_search_doc *docs, size_t count)
{
    struct cs_arena arena = {0};
    struct group *group = cs_arena_alloc(&arena, sizeof *group);
    group->arena = arena;
    group->name = cs_arena_dup(&group->arena, name);
    group->docs = cs_arena_alloc(&group->arena, count * sizeof *group->docs);
    group->count = count;
    name_group(index, group);
    struct build b = {.index = index};
    for (size_t i = 0; i < count; i++)
        add_doc(&b, group, &docs[i], &group->docs[i]);
    build_done(&b);
    qsort(group->docs, count, sizeof *group->docs, by_name);
    return group;
}

int cs_search_put(struct cs_search *index, struct cs_str name, const struct cs_search_doc *docs,
                  size_t count, struct cs_err *err)
{
    bool there;
    size_t at = group_place(index, name, &there);
    size_t before = there ? index->groups[at]->count : 0;
    if (count > CS_SEARCH_DOCS || index->doc_count - before + count > CS_SEARCH_DOCS)
        return cs_fail(
            err, CS_LIMIT, "search: '%.*s' has %zu entries, and %zu are there: more than %u in all",
            CS_STR_ARG(cs_text_cut(name, 100)), count, index->doc_count - before, CS_SEARCH_DOCS);
    struct group *group = make_group(index, name, docs, count);
    if (there) {
        free_group(index->groups[at]);
    } else {
        if (index->group_count == index->group_room) {
            index->group_room = index->group_room ? index->group_room * 2 : 16;
            index->groups = cs_realloc(index->groups, index->group_room, sizeof *index->groups);
        }
        memmove(index->groups + at + 1, index->groups + at,
                (index->group_count - at) * sizeof *index->groups);
        index->group_count++;
    }
    index->groups[at] = group;
    index->doc_count = index->doc_count - before + count;
    index->changed = true;
    return 0;
}

void cs_search_remove(struct cs_search *index, struct cs_str name)
{
    bool there;
    size_t at = group_place(index, name, &there);
    if (!there)
        return;
    index->doc_count -= index->groups[at]->count;
    free_group(index->groups[at]);
    index->group_count--;
    memmove(index->groups + at, index->groups + at + 1,
            (index->group_count - at) * sizeof *index->groups);
    index->changed = true;
}
