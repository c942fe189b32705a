/* Arguments, walked by the rows of a verb's table. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/own.h"
#include "front/settings.h"
#include "front/verbs.h"
#include "sandbox/limits.h"

#define WORD_MAX 40

static int unknown(const struct cs_verb *verb, const char *word, struct cs_err *err)
{
    const char *names[128];
    size_t count = 0;
    for (const struct cs_option *o = verb->options; o && o->name && count < CS_COUNT(names); o++)
        if (!o->hidden)
            names[count++] = o->name;
    const char *near = cs_nearest(word, names, count);
    if (near)
        return cs_fail(err, CS_INVALID, "there is no option '--%s'; did you mean '--%s'?", word,
                       near);
    return cs_fail(err, CS_INVALID, "there is no option '--%s'", word);
}

static bool among(const char *choices, const char *value)
{
    size_t n = strlen(value);
    for (const char *at = choices; n && (at = strstr(at, value)); at += n)
        if ((at == choices || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0'))
            return true;
    return false;
}

static int checked(const struct cs_option *o, const char *value, const char **out,
                   struct cs_err *err)
{
    if (o->choices && !among(o->choices, value))
        return cs_fail(err, CS_INVALID, "--%s: '%s' is none of: %s", o->name, value, o->choices);
    *out = value;
    return 1;
}

static int take_long(struct cs_args *a, const char *word, const struct cs_option **option,
                     const char **value, struct cs_err *err)
{
    size_t len = strcspn(word, "=");
    for (const struct cs_option *o = a->verb->options; o && o->name; o++) {
        if (strlen(o->name) != len || strncmp(o->name, word, len) != 0)
            continue;
        *option = o;
        if (!o->arg && word[len])
            return cs_fail(err, CS_INVALID, "--%s takes no value", o->name);
        if (!o->arg)
            return 1;
        if (word[len])
            return checked(o, word + len + 1, value, err);
        if (a->at >= a->argc)
            return cs_fail(err, CS_INVALID, "--%s wants a value: %s", o->name, o->arg);
        return checked(o, a->argv[a->at++], value, err);
    }
    char name[WORD_MAX];
    snprintf(name, sizeof name, "%.*s", (int)len, word);
    return unknown(a->verb, name, err);
}

static int take_letter(struct cs_args *a, const struct cs_option **option, const char **value,
                       struct cs_err *err)
{
    char letter = *a->cluster++;
    const char *rest = a->cluster;
    if (!*a->cluster)
        a->cluster = NULL;
    for (const struct cs_option *o = a->verb->options; o && o->name; o++) {
        if (o->letter != letter)
            continue;
        *option = o;
        if (!o->arg)
            return 1;
        a->cluster = NULL;
        if (*rest)
            return checked(o, rest, value, err);
        if (a->at >= a->argc)
            return cs_fail(err, CS_INVALID, "-%c wants a value: %s", letter, o->arg);
        return checked(o, a->argv[a->at++], value, err);
    }
    return cs_fail(err, CS_INVALID, "there is no option '-%c'", letter);
}

int cs_args_next(struct cs_args *a, const struct cs_option **option, const char **value,
                 struct cs_err *err)
{
    *option = NULL;
    *value = NULL;
    if (a->at == 0)
        a->at = 1;
    if (a->cluster)
        return take_letter(a, option, value, err);
    if (a->at >= a->argc)
        return 0;
    const char *word = a->argv[a->at++];
    if (a->only_operands || word[0] != '-' || !word[1]) {
        *value = word;
        return 1;
    }
    if (strcmp(word, "--") == 0) {
        a->only_operands = true;
        return cs_args_next(a, option, value, err);
    }
    if (word[1] == '-')
        return take_long(a, word + 2, option, value, err);
    a->cluster = word + 1;
    return take_letter(a, option, value, err);
}

void cs_words_done(struct cs_words *words)
{
    free(words->at);
    *words = (struct cs_words){0};
}

static void push(struct cs_words *words, const char *word)
{
    words->at = cs_realloc(words->at, words->count + 1, sizeof *words->at);
    words->at[words->count++] = word;
}

static int bind_number(const struct cs_option *o, const char *value, uint64_t *to,
                       struct cs_err *err)
{
    char *end;
    unsigned long long n = strtoull(value, &end, 10);
    if (*end || end == value || value[0] == '-')
        return cs_fail(err, CS_INVALID, "--%s: '%s' is not a whole number", o->name, value);
    *to = n;
    return 0;
}

/* A bare number is of seconds, as for every --timeout of the field. */
static int bind_time(const struct cs_option *o, const char *value, uint32_t *to, struct cs_err *err)
{
    char text[32];
    uint64_t ms;
    bool bare = value[strspn(value, "0123456789.")] == '\0';
    snprintf(text, sizeof text, "%s%s", value, bare ? "s" : "");
    if (cs_limit_parse(CS_LIMIT_WALL_CLOCK, text, &ms, err) < 0)
        return -1;
    if (ms < 1 || ms > 86400000)
        return cs_fail(err, CS_INVALID, "--%s: '%s' is not between 1ms and a day", o->name, value);
    *to = (uint32_t)ms;
    return 0;
}

static int bind_one(const struct cs_option *o, const char *value, const struct cs_bind *b,
                    struct cs_err *err)
{
    switch (b->kind) {
    case CS_BIND_TEXT:
        *(const char **)b->to = value;
        return 0;
    case CS_BIND_FLAG:
        *(bool *)b->to = true;
        return 0;
    case CS_BIND_JSON:
        *(bool *)b->to = strcmp(value, "json") == 0;
        return 0;
    case CS_BIND_WORDS:
        push(b->to, value);
        return 0;
    case CS_BIND_NUMBER:
        return bind_number(o, value, b->to, err);
    case CS_BIND_TIME:
        return bind_time(o, value, b->to, err);
    case CS_BIND_SETTINGS:
        if (cs_settings_flag(o->name, value, b->to))
            return 0;
        break;
    }
    return cs_fail(err, CS_BUG, "option --%s has no kind", o->name);
}

int cs_args_bind(const struct cs_verb *verb, int argc, char **argv, const struct cs_bind *binds,
                 struct cs_words *operands, struct cs_err *err)
{
    struct cs_args args = {.verb = verb, .argc = argc, .argv = argv};
    const struct cs_option *option;
    const char *value;
    bool dashes = false;
    int got;
    while ((got = cs_args_next(&args, &option, &value, err)) > 0) {
        if (!option) {
            if (args.only_operands && !dashes)
                operands->dashes = operands->count;
            dashes |= args.only_operands;
            push(operands, value);
            continue;
        }
        const struct cs_bind *b = binds;
        while (b->name && strcmp(b->name, option->name) != 0 && b->kind != CS_BIND_SETTINGS)
            b++;
        if (!b->name)
            return cs_fail(err, CS_BUG, "option --%s has no meaning", option->name);
        if (bind_one(option, value, b, err) < 0)
            return -1;
    }
    if (!dashes)
        operands->dashes = operands->count;
    return got;
}
