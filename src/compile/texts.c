/*
 * Texts that are no literals by themselves: what regular expressions say, words of a command in a
 * list, what JSON holds, names that are sentences.
 */
#include "compile/facts.h"

#include "base/utf8.h"

#define REGEX_LEAST  12 /* bytes of what a regular expression says */
#define VECTOR_MOST  24 /* words of a command */
#define NAME_LEAST   20 /* letters of a name that may be a sentence */
#define JSON_TEXTS   64 /* of one JSON text that are told */
#define OBJECT_PARTS 32 /* properties of what may be a command */

static bool is_text(struct cs_folded v)
{
    return v.sort == FOLD_TEXT && !v.partial;
}

/* Without what only keeps characters from meaning something else. */
static void regex_fact(struct cs_parser *p, const struct cs_node *n)
{
    char text[CS_FACT_NAME_BYTES];
    size_t len = 0;
    const char *s = p->src + n->pos + 1, *end = p->src + n->end;
    while (end > s && *end != '/')
        end--;
    if (end - s < REGEX_LEAST)
        return;
    for (; s < end && len < sizeof text; s++) {
        if (*s == '\\' && s + 1 < end) {
            s++;
            text[len++] = (char)(*s == 's' ? ' ' : *s);
        } else if (strchr("()[]{}|*+?", *s)) {
            return; /* it looks for something, rather than saying it */
        } else {
            text[len++] = *s;
        }
    }
    cs_text_add(p, CS_FACT_STRING, cs_utf8_cut(cs_strn(text, len), sizeof text - 4), "",
                p->names.at[n->key].text, n->pos);
}

/* ---- commands as lists of words ---- */

/* Does a word look like the name of a program, or an option? */
static bool is_program(struct cs_folded v)
{
    if (!is_text(v) || v.len == 0 || v.len > 40)
        return false;
    for (uint32_t i = 0; i < v.len; i++) {
        char c = v.text[i], low = (char)(c | 0x20);
        if ((low < 'a' || low > 'z') && (c < '0' || c > '9') && !strchr("._/-+", c))
            return false;
    }
    return v.text[0] != '-';
}

static bool is_option(struct cs_folded v)
{
    return v.len > 0 &&
           (v.text[0] == '-' || v.text[0] == '/' || memchr(v.text, '=', v.len) != NULL);
}

/* The words behind the others in `text`; false: there is no room, or they are no words. */
static bool put_words(const struct cs_folded *list, uint32_t n, char *text, size_t *len,
                      bool *options)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!is_text(list[i]) || *len + list[i].len + 1 > CS_FACT_NAME_BYTES)
            return false;
        *options |= is_option(list[i]);
        if (*len)
            text[(*len)++] = ' ';
        if (list[i].len)
            memcpy(text + *len, list[i].text, list[i].len);
        *len += list[i].len;
    }
    return true;
}

static void command(struct cs_parser *p, struct cs_folded program, struct cs_folded words,
                    uint32_t pos)
{
    char text[CS_FACT_NAME_BYTES];
    size_t len = 0;
    bool options = false;
    bool own = program.sort == FOLD_NONE;
    if (words.sort != FOLD_LIST || words.len == 0 || words.len > VECTOR_MOST ||
        !is_program(own ? words.list[0] : program))
        return;
    if (!own && !put_words(&program, 1, text, &len, &options))
        return;
    if (put_words(words.list, words.len, text, &len, &options) && options)
        cs_text_add(p, CS_FACT_STRING, cs_strn(text, len), "", CS_STR(""), pos);
}

static bool one_of(struct cs_str name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (cs_str_is(name, names[i]))
            return true;
    }
    return false;
}

/* ---- names ---- */

void cs_name_fact(struct cs_parser *p, uint32_t atom, uint32_t pos)
{
    struct cs_str name = p->names.at[atom].text;
    char text[CS_FACT_NAME_BYTES];
    size_t len = 0, words = 1;
    if (name.len < NAME_LEAST || name.len > 200)
        return;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i];
        bool capital = c >= 'A' && c <= 'Z';
        bool starts = capital && i > 0 && !(name.at[i - 1] >= 'A' && name.at[i - 1] <= 'Z');
        if (c == '_' || c == '$' || starts) {
            text[len++] = ' ';
            words++;
        }
        if (c != '_' && c != '$')
            text[len++] = (char)(capital ? c | 0x20 : c);
    }
    if (words >= 4)
        cs_text_add(p, CS_FACT_COMMENT, cs_strn(text, len), "", CS_STR(""), pos);
}

/* { command: 'rm', args: ['-rf', '/'] } */
static void object_fact(struct cs_parser *p, const struct cs_node *n)
{
    static const char *const programs[] = {"command",    "cmd", "program",
                                           "executable", "bin", "file"};
    static const char *const lists[] = {"args", "argv", "arguments", "params"};
    struct cs_folded program = {0}, words = {0};
    uint32_t count = cs_list_len(p, n->b);
    for (uint32_t i = 0; i + 1 < count && i < 2 * OBJECT_PARTS; i += 2) {
        uint32_t key = cs_list_at(p, n->b, i), value = cs_list_at(p, n->b, i + 1);
        if (key == K_NONE || (key | value) & CS_SPREAD)
            continue;
        struct cs_str name = p->names.at[key].text;
        cs_name_fact(p, key, n->pos);
        if (name.len < 3 || name.len > 10 || !strchr("abcefp", name.at[0]))
            continue;
        if (one_of(name, programs, CS_COUNT(programs)))
            program = cs_fold_node(p, value);
        else if (one_of(name, lists, CS_COUNT(lists)))
            words = cs_fold_node(p, value);
    }
    if (is_text(program))
        command(p, program, words, n->pos);
}

/* ---- JSON ---- */

static void json_texts(struct cs_parser *p, struct cs_folded v, uint32_t pos, uint32_t *left)
{
    for (uint32_t i = 0; i<v.len && * left> 0; i++) {
        struct cs_folded one = v.list[i];
        bool key = v.sort == FOLD_DICT && i % 2 == 0;
        --*left;
        if (key && cs_str_is(cs_strn(one.text, one.len), "__proto__"))
            cs_fact_add(p, CS_FACT_PROTOTYPE, CS_STR("__proto__"), "", CS_STR(""), pos);
        if (one.sort == FOLD_LIST || one.sort == FOLD_DICT)
            json_texts(p, one, pos, left);
        else if (one.sort == FOLD_TEXT && one.len >= 3 && !key)
            cs_text_add(p, CS_FACT_STRING, cs_strn(one.text, one.len),
                        one.via == VIA_ESCAPE ? "escape" : "", CS_STR(""), pos);
    }
}

void cs_text_facts(struct cs_parser *p, uint32_t node)
{
    const struct cs_node n = p->nodes.at[node];
    struct cs_folded v;
    uint32_t left = JSON_TEXTS;
    switch (n.kind) {
    case NODE_REGEX:
        regex_fact(p, &n);
        return;
    case NODE_ARRAY:
        if (!(n.flags & NODE_WRITTEN) && cs_list_len(p, n.b) > 1)
            command(p, (struct cs_folded){0}, cs_fold_node(p, node), n.pos);
        return;
    case NODE_OBJECT:
        object_fact(p, &n);
        return;
    default: /* a call */
        v = cs_fold_node(p, node);
        if ((v.sort == FOLD_DICT || v.sort == FOLD_LIST) &&
            cs_chain_is(p, cs_callee(p, node), "JSON.parse"))
            json_texts(p, v, n.pos, &left);
    }
}
