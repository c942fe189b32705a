/* Arguments, walked by the rows of a verb's table. */
#include <stdio.h>
#include <string.h>

#include "base/own.h"
#include "front/verbs.h"

#define WORD_MAX 40

static int unknown(const struct cs_verb *verb, const char *word, struct cs_err *err)
{
    const char *names[64];
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
