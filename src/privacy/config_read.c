/* The section "privacy" of the policy file: how it is read. A mistake names its place, what is
 * allowed there, and what was probably meant. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/near.h"
#include "privacy/config.h"

#define RULES_MAX      1000u
#define PATTERN_MAX    300u /* of a tool's name */
#define NAME_MAX_      24u
#define CUSTOMS_MAX    200u
#define WORDS_MAX      100000u
#define WORD_MAX       256u
#define EXPRESSION_MAX 2000u
#define EXAMPLES_MAX   100u
#define DICTIONARY_MAX ((size_t)8 << 20)
#define PLACE_BYTES    120

static const char *const level_words[] = {"off", "low", "medium", "high"};
static const char *const may_words[] = {"allow", "deny", "ask"};

/* --- small things --- */

static void list_words(struct cs_buf *out, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cs_buf_printf(out, "%s%s", i ? ", " : "", words[i]);
}

/* "privacy.rules[2].level: 'meduim' is none of: off, low, medium, high; did you mean 'medium'?" */
static int none_of(const char *where, struct cs_str word, const char *const *words, size_t count,
                   struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf known = {0};
    char text[65] = "";
    if (word.len < sizeof text)
        memcpy(text, word.at, word.len);
    const char *near = cs_nearest(text, words, count);
    list_words(&known, words, count);
    return cs_fail(err, CS_INVALID, "%s: '%.*s' is none of: %s%s%s%s", where,
                   word.len < 64 ? (int)word.len : 64, word.len ? word.at : "", cs_buf_cstr(&known),
                   near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* Which of the words it is; -1: none, or no text. */
static int read_word(struct cs_json_val from, const char *where, const char *const *words,
                     size_t count, struct cs_err *err)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    CS_AUTO_BUF struct cs_buf known = {0};
    for (size_t i = 0; i < count; i++)
        if (cs_json_is(from, words[i]))
            return (int)i;
    if (cs_json_type(from) == CS_JSON_STRING)
        return none_of(where, cs_json_str(from, &arena), words, count, err);
    list_words(&known, words, count);
    return cs_fail(err, CS_INVALID, "%s: must be one of: %s", where, cs_buf_cstr(&known));
}

static int read_level(struct cs_json_val from, const char *where, bool may_be_off,
                      enum cs_privacy_level *level, struct cs_err *err)
{
    char place[PLACE_BYTES + 16];
    unsigned first = may_be_off ? 0 : 1;
    snprintf(place, sizeof place, "%s.level", where);
    int word = read_word(from, place, level_words + first, CS_COUNT(level_words) - first, err);
    if (word >= 0)
        *level = (enum cs_privacy_level)((unsigned)word + first);
    return word < 0 ? -1 : 0;
}

/* Every member must be one of `names`. */
static int known_members(struct cs_json_val from, const char *where, const char *const *names,
                         size_t count, struct cs_err *err)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    if (cs_json_type(from) != CS_JSON_OBJECT)
        return cs_fail(err, CS_INVALID, "%s: must be an object", where);
    while (cs_json_next(from, &it, &key, &item)) {
        size_t i = 0;
        while (i < count && !cs_json_is(key, names[i]))
            i++;
        if (i == count)
            return none_of(where, cs_json_str(key, &arena), names, count, err);
    }
    return 0;
}

/* A list of at most `max`; missing is as good as empty. */
static int check_list(struct cs_json_val from, const char *where, unsigned max, struct cs_err *err)
{
    if (cs_json_type(from) != CS_JSON_NONE && cs_json_type(from) != CS_JSON_ARRAY)
        return cs_fail(err, CS_INVALID, "%s: must be a list", where);
    if (cs_json_count(from) > max)
        return cs_fail(err, CS_LIMIT, "%s: more than %u", where, max);
    return 0;
}

static int read_text(struct cs_arena *arena, struct cs_json_val from, const char *where, size_t max,
                     struct cs_str *text, struct cs_err *err)
{
    *text = cs_json_str(from, arena);
    if (cs_json_type(from) != CS_JSON_STRING || !text->len)
        return cs_fail(err, CS_INVALID, "%s: must be a text", where);
    if (text->len > max)
        return cs_fail(err, CS_LIMIT, "%s: longer than %zu bytes", where, max);
    *text = cs_arena_dup(arena, *text);
    return 0;
}

/* A pattern of tools; missing is all of them, if that may be. */
static int read_tool(struct cs_arena *arena, struct cs_json_val from, const char *where,
                     bool may_miss, struct cs_str *tool, struct cs_err *err)
{
    if (cs_json_type(from) == CS_JSON_NONE && may_miss) {
        *tool = CS_STR("*");
        return 0;
    }
    *tool = cs_json_str(from, arena);
    if (!tool->len || tool->len > PATTERN_MAX)
        return cs_fail(err, CS_INVALID, "%s: wants a `tool`, a pattern like \"github/*\"", where);
    /* A server alone would match nothing, and nothing would be protected by it. */
    if (!memchr(tool->at, '*', tool->len) && !memchr(tool->at, '/', tool->len))
        return cs_fail(err, CS_INVALID,
                       "%s.tool: '%.*s' matches no tool: patterns are of \"server/tool\"; did you "
                       "mean '%.*s/*'?",
                       where, CS_STR_ARG(*tool), CS_STR_ARG(*tool));
    *tool = cs_arena_dup(arena, *tool);
    return 0;
}

/* --- levels of tools --- */

static int read_levels(struct cs_privacy *p, struct cs_json_val from, struct cs_err *err)
{
    static const char *const members[] = {"tool", "level"};
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    if (check_list(from, "privacy.rules", RULES_MAX, err) < 0)
        return -1;
    p->levels = cs_arena_alloc(&p->arena, sizeof *p->levels * (cs_json_count(from) + 1));
    while (cs_json_next(from, &it, NULL, &item)) {
        char where[PLACE_BYTES];
        struct cs_level_rule *r = &p->levels[p->level_count];
        snprintf(where, sizeof where, "privacy.rules[%zu]", p->level_count);
        if (known_members(item, where, members, CS_COUNT(members), err) < 0 ||
            read_tool(&p->arena, cs_json_get(item, "tool"), where, false, &r->tool, err) < 0 ||
            read_level(cs_json_get(item, "level"), where, true, &r->level, err) < 0)
            return -1;
        p->level_count++;
    }
    return 0;
}

/* --- patterns and words --- */

struct reader {
    struct cs_arena *arena;
    struct cs_custom *customs;
    size_t count;
    const char *dir;       /* of dictionaries, or NULL */
    struct cs_privacy *of; /* NULL: of a request, which has neither secrets nor examples */
    const char *where;     /* "privacy" */
};

static bool is_name(struct cs_str name)
{
    if (!name.len || name.len > NAME_MAX_ || name.at[0] < 'A' || name.at[0] > 'Z')
        return false;
    for (size_t i = 0; i < name.len; i++)
        if ((name.at[i] < 'A' || name.at[i] > 'Z') && name.at[i] != '_')
            return false;
    return true;
}

static int read_name(struct reader *r, struct cs_json_val from, const char *where,
                     struct cs_str *name, struct cs_err *err)
{
    enum cs_pii kind;
    *name = cs_json_str(from, r->arena);
    if (!is_name(*name))
        return cs_fail(err, CS_INVALID,
                       "%s: wants a `name` of capital letters and _, at most %u: it is what tokens "
                       "are called, [EMPLOYEE_1]",
                       where, NAME_MAX_);
    if (cs_pii_parse(*name, &kind))
        return cs_fail(err, CS_INVALID, "%s.name: '%.*s' is a kind that is found already", where,
                       CS_STR_ARG(*name));
    *name = cs_arena_dup(r->arena, *name);
    return 0;
}

static int read_examples(struct cs_privacy *p, const struct cs_custom *custom,
                         struct cs_json_val from, const char *where, const char *member, bool found,
                         struct cs_err *err)
{
    char place[PLACE_BYTES + 16];
    struct cs_json_iter it = {0};
    struct cs_json_val item, list = cs_json_get(from, member);
    snprintf(place, sizeof place, "%s.%s", where, member);
    if (check_list(list, place, EXAMPLES_MAX, err) < 0)
        return -1;
    size_t many = p->example_count + cs_json_count(list);
    struct cs_custom_example *more = cs_arena_alloc(&p->arena, sizeof *more * (many + 1));
    if (p->example_count)
        memcpy(more, p->examples, sizeof *more * p->example_count);
    p->examples = more;
    while (cs_json_next(list, &it, NULL, &item)) {
        struct cs_custom_example *e = &p->examples[p->example_count];
        *e = (struct cs_custom_example){
            .name = custom->name, .level = custom->level, .found = found};
        if (read_text(&p->arena, item, place, EXPRESSION_MAX, &e->text, err) < 0)
            return -1;
        p->example_count++;
    }
    return 0;
}

/* What patterns and words have in common. */
static int read_common(struct reader *r, struct cs_custom *c, struct cs_json_val from,
                       const char *where, struct cs_err *err)
{
    struct cs_json_val secret = cs_json_get(from, "secret"), level = cs_json_get(from, "level");
    c->level = CS_PRIVACY_LOW;
    if (read_name(r, cs_json_get(from, "name"), where, &c->name, err) < 0)
        return -1;
    if (cs_json_type(level) != CS_JSON_NONE && read_level(level, where, false, &c->level, err) < 0)
        return -1;
    if (cs_json_type(secret) != CS_JSON_NONE && !cs_json_bool(secret, &c->secret))
        return cs_fail(err, CS_INVALID, "%s.secret: must be true or false", where);
    if (!r->of)
        return 0;
    return read_examples(r->of, c, from, where, "examples", true, err) < 0 ||
                   read_examples(r->of, c, from, where, "not", false, err) < 0
               ? -1
               : 0;
}

static int read_pattern(struct reader *r, struct cs_json_val from, size_t number,
                        struct cs_err *err)
{
    static const char *const members[] = {"name", "pattern", "level", "secret", "examples", "not"};
    char where[PLACE_BYTES], place[PLACE_BYTES + 16];
    struct cs_custom *c = &r->customs[r->count];
    snprintf(where, sizeof where, "%s.patterns[%zu]", r->where, number);
    snprintf(place, sizeof place, "%s.pattern", where);
    if (known_members(from, where, members, r->of ? CS_COUNT(members) : 3, err) < 0 ||
        read_common(r, c, from, where, err) < 0 ||
        read_text(r->arena, cs_json_get(from, "pattern"), place, EXPRESSION_MAX, &c->pattern, err) <
            0)
        return -1;
    r->count++;
    return 0;
}

struct words {
    struct cs_str *at;
    size_t count, cap;
};

static int add_word(struct cs_arena *arena, struct words *words, struct cs_str word,
                    const char *where, struct cs_err *err)
{
    if (word.len > WORD_MAX)
        return cs_fail(err, CS_LIMIT, "%s: a word is longer than %u bytes", where, WORD_MAX);
    if (words->count == WORDS_MAX)
        return cs_fail(err, CS_LIMIT, "%s: more than %u words", where, WORDS_MAX);
    if (words->count == words->cap) {
        size_t cap = words->cap ? words->cap * 2 : 32;
        struct cs_str *more = cs_arena_alloc(arena, sizeof *more * cap);
        if (words->count)
            memcpy(more, words->at, sizeof *more * words->count);
        words->at = more;
        words->cap = cap;
    }
    words->at[words->count++] = cs_arena_dup(arena, word);
    return 0;
}

static struct cs_str trimmed(struct cs_str line)
{
    while (line.len && (line.at[line.len - 1] == '\r' || line.at[line.len - 1] == ' ' ||
                        line.at[line.len - 1] == '\t'))
        line.len--;
    while (line.len && (line.at[0] == ' ' || line.at[0] == '\t'))
        line = cs_strn(line.at + 1, line.len - 1);
    return line;
}

/* One word per line; empty lines and those with # do not count. */
static int read_dictionary(struct reader *r, struct cs_json_val from, const char *where,
                           struct words *words, struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf text = {0}, path = {0};
    struct cs_str name = cs_json_str(from, r->arena);
    if (cs_json_type(from) != CS_JSON_STRING || !name.len || memchr(name.at, '\0', name.len))
        return cs_fail(err, CS_INVALID, "%s.file: must be the name of a file", where);
    cs_buf_putstr(&path, name);
    CS_AUTO_FD int root =
        r->dir ? open(*r->dir ? r->dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    CS_AUTO_FD int fd =
        root < 0 ? -1 : cs_open_beneath(root, cs_buf_cstr(&path), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return cs_fail(err, CS_INVALID,
                       "%s.file: '%s' cannot be read; it must be beneath the directory of the "
                       "policy file",
                       where, cs_buf_cstr(&path));
    if (cs_file_read_fd(fd, DICTIONARY_MAX, &text, err) < 0)
        return cs_wrap(err, "%s.file: '%s'", where, cs_buf_cstr(&path));
    struct cs_str left = cs_buf_str(&text);
    while (left.len) {
        const char *feed = memchr(left.at, '\n', left.len);
        size_t len = feed ? (size_t)(feed - left.at) : left.len;
        struct cs_str line = trimmed(cs_strn(left.at, len));
        if (line.len && line.at[0] != '#' && add_word(r->arena, words, line, where, err) < 0)
            return -1;
        len += feed != NULL;
        left = cs_strn(left.at + len, left.len - len);
    }
    cs_buf_printf(&r->of->dictionaries, "%zu ", text.len);
    cs_buf_putstr(&r->of->dictionaries, cs_buf_str(&text));
    return 0;
}

static int read_values(struct reader *r, struct cs_json_val list, const char *where,
                       struct words *words, struct cs_err *err)
{
    char place[PLACE_BYTES + 16];
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    snprintf(place, sizeof place, "%s.values", where);
    if (check_list(list, place, WORDS_MAX, err) < 0)
        return -1;
    while (cs_json_next(list, &it, NULL, &item)) {
        struct cs_str word = trimmed(cs_json_str(item, r->arena));
        if (!word.len)
            return cs_fail(err, CS_INVALID, "%s: a word must be a text", place);
        if (add_word(r->arena, words, word, place, err) < 0)
            return -1;
    }
    return 0;
}

static int read_words(struct reader *r, struct cs_json_val from, size_t number, struct cs_err *err)
{
    static const char *const members[] = {"name", "values",   "level", "secret",
                                          "file", "examples", "not"};
    char where[PLACE_BYTES];
    struct words words = {0};
    struct cs_custom *c = &r->customs[r->count];
    struct cs_json_val file = cs_json_get(from, "file");
    snprintf(where, sizeof where, "%s.words[%zu]", r->where, number);
    if (known_members(from, where, members, r->of ? CS_COUNT(members) : 3, err) < 0 ||
        read_common(r, c, from, where, err) < 0 ||
        read_values(r, cs_json_get(from, "values"), where, &words, err) < 0)
        return -1;
    if (cs_json_type(file) != CS_JSON_NONE && read_dictionary(r, file, where, &words, err) < 0)
        return -1;
    if (!words.count)
        return cs_fail(err, CS_INVALID, "%s: wants `values`, a list of words%s", where,
                       r->of ? ", or a `file` with one per line" : "");
    c->words = words.at;
    c->word_count = words.count;
    r->count++;
    return 0;
}

/* "words": ["Bluebird", "Kestrel"] is short for one entry with the name WORD. */
static int read_bare_words(struct reader *r, struct cs_json_val list, struct cs_err *err)
{
    char where[PLACE_BYTES];
    struct words words = {0};
    snprintf(where, sizeof where, "%s.words", r->where);
    if (read_values(r, list, where, &words, err) < 0)
        return -1;
    r->customs[r->count++] = (struct cs_custom){.name = CS_STR("WORD"),
                                                .words = words.at,
                                                .word_count = words.count,
                                                .level = CS_PRIVACY_LOW};
    return 0;
}

static int read_customs(struct reader *r, struct cs_json_val from, struct cs_err *err)
{
    struct cs_json_val patterns = cs_json_get(from, "patterns"), words = cs_json_get(from, "words");
    struct cs_json_iter it = {0};
    struct cs_json_val item, first = {0};
    char where[2][PLACE_BYTES];
    snprintf(where[0], PLACE_BYTES, "%s.patterns", r->where);
    snprintf(where[1], PLACE_BYTES, "%s.words", r->where);
    bool bare = cs_json_next(words, &it, NULL, &first) && cs_json_type(first) == CS_JSON_STRING;
    if (check_list(patterns, where[0], CUSTOMS_MAX, err) < 0 ||
        check_list(words, where[1], bare ? WORDS_MAX : CUSTOMS_MAX, err) < 0)
        return -1;
    r->customs = cs_arena_alloc(r->arena, sizeof *r->customs *
                                              (cs_json_count(patterns) + cs_json_count(words) + 1));
    it = (struct cs_json_iter){0};
    for (size_t i = 0; cs_json_next(patterns, &it, NULL, &item); i++)
        if (read_pattern(r, item, i, err) < 0)
            return -1;
    if (bare)
        return read_bare_words(r, words, err);
    it = (struct cs_json_iter){0};
    for (size_t i = 0; cs_json_next(words, &it, NULL, &item); i++)
        if (read_words(r, item, i, err) < 0)
            return -1;
    return 0;
}

int cs_customs_read(struct cs_arena *arena, struct cs_json_val from, const char *where,
                    struct cs_custom **customs, size_t *count, struct cs_err *err)
{
    static const char *const members[] = {"level", "patterns", "words"};
    struct reader r = {.arena = arena, .where = where};
    if (known_members(from, where, members, CS_COUNT(members), err) < 0 ||
        read_customs(&r, from, err) < 0)
        return -1;
    *customs = r.customs;
    *count = r.count;
    return 0;
}

/* --- who may have values back --- */

static int unknown_kind(const struct cs_privacy *p, const char *where, struct cs_str word,
                        struct cs_err *err)
{
    const char *names[CS_PII_COUNT + 2 * CUSTOMS_MAX];
    size_t count = 0;
    for (unsigned k = 0; k < CS_PII_COUNT; k++)
        if (k != CS_PII_LITERAL && k != CS_PII_CUSTOM)
            names[count++] = cs_pii_name((enum cs_pii)k);
    for (size_t i = 0; i < p->custom_count && count < CS_COUNT(names); i++)
        names[count++] = p->customs[i].name.at; /* of an arena, so it ends in NUL */
    return none_of(where, word, names, count, err);
}

static int read_kinds(struct cs_privacy *p, struct cs_json_val list, const char *where,
                      struct cs_may_rule *r, struct cs_err *err)
{
    char place[PLACE_BYTES + 16];
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    snprintf(place, sizeof place, "%s.kinds", where);
    r->all = cs_json_type(list) == CS_JSON_NONE;
    if (check_list(list, place, RULES_MAX, err) < 0)
        return -1;
    if (!r->all && cs_json_count(list) == 0)
        return cs_fail(err, CS_INVALID, "%s: is empty; leave it out for all kinds", place);
    r->names = cs_arena_alloc(&p->arena, sizeof *r->names * (cs_json_count(list) + 1));
    while (cs_json_next(list, &it, NULL, &item)) {
        struct cs_str word = cs_json_str(item, &p->arena);
        enum cs_pii kind = CS_PII_COUNT;
        size_t i = 0;
        while (i < p->custom_count && !cs_str_eq(p->customs[i].name, word))
            i++;
        if (cs_str_is(word, "*"))
            r->all = true;
        else if (i < p->custom_count)
            r->names[r->name_count++] = p->customs[i].name;
        else if (cs_pii_parse(word, &kind) && kind != CS_PII_LITERAL)
            r->kinds |= 1u << kind;
        else
            return unknown_kind(p, place, word, err);
    }
    return 0;
}

static int read_may(struct cs_privacy *p, struct cs_json_val from, struct cs_err *err)
{
    static const char *const members[] = {"tool", "kinds", "then"};
    static const enum cs_may meanings[] = {CS_MAY, CS_MAY_NOT, CS_MAY_ASK};
    char where[PLACE_BYTES], place[PLACE_BYTES + 16];
    struct cs_may_rule *r = &p->mays[p->may_count];
    snprintf(where, sizeof where, "privacy.detokenize[%zu]", p->may_count);
    snprintf(place, sizeof place, "%s.then", where);
    if (known_members(from, where, members, CS_COUNT(members), err) < 0 ||
        read_tool(&p->arena, cs_json_get(from, "tool"), where, true, &r->tool, err) < 0 ||
        read_kinds(p, cs_json_get(from, "kinds"), where, r, err) < 0)
        return -1;
    int word = read_word(cs_json_get(from, "then"), place, may_words, CS_COUNT(may_words), err);
    if (word < 0)
        return -1;
    r->then = meanings[word];
    r->place = cs_str(cs_arena_printf(&p->arena, "%s, %.*s", where, CS_STR_ARG(r->tool)));
    p->may_count++;
    return 0;
}

static int read_mays(struct cs_privacy *p, struct cs_json_val from, struct cs_err *err)
{
    static const enum cs_may meanings[] = {CS_MAY, CS_MAY_NOT, CS_MAY_ASK};
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    bool is_word = cs_json_type(from) == CS_JSON_STRING;
    if (!is_word && check_list(from, "privacy.detokenize", RULES_MAX, err) < 0)
        return -1;
    p->mays = cs_arena_alloc(&p->arena, sizeof *p->mays * (cs_json_count(from) + 1));
    if (is_word) {
        int word = read_word(from, "privacy.detokenize", may_words, CS_COUNT(may_words), err);
        if (word < 0)
            return -1;
        p->mays[p->may_count++] = (struct cs_may_rule){.tool = CS_STR("*"),
                                                       .all = true,
                                                       .then = meanings[word],
                                                       .place = CS_STR("privacy.detokenize")};
        return 0;
    }
    while (cs_json_next(from, &it, NULL, &item))
        if (read_may(p, item, err) < 0)
            return -1;
    return 0;
}

int cs_privacy_read(struct cs_privacy *p, struct cs_json_val section, const char *dir,
                    struct cs_err *err)
{
    static const char *const members[] = {"level", "rules", "detokenize", "patterns", "words"};
    struct cs_json_val level = cs_json_get(section, "level");
    struct reader r = {.arena = &p->arena, .dir = dir, .of = p, .where = "privacy"};
    if (known_members(section, "privacy", members, CS_COUNT(members), err) < 0)
        return -1;
    if (cs_json_type(level) != CS_JSON_NONE &&
        read_level(level, "privacy", true, &p->level, err) < 0)
        return -1;
    if (read_levels(p, cs_json_get(section, "rules"), err) < 0 ||
        read_customs(&r, section, err) < 0)
        return -1;
    p->customs = r.customs;
    p->custom_count = r.count;
    return read_mays(p, cs_json_get(section, "detokenize"), err);
}
