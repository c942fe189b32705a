/* `caisson VERB`: finds the row, and does what it says. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/own.h"
#include "front/front.h"
#include "front/text.h"
#include "front/verbs.h"

const char *cs_verb_word(const struct cs_verb *verb)
{
    const char *space = strrchr(verb->name, ' ');
    return space ? space + 1 : verb->name;
}

static const struct cs_verb *among(const struct cs_verb *verbs, const char *word)
{
    for (const struct cs_verb *v = verbs; v && v->name; v++)
        if (strcmp(cs_verb_word(v), word) == 0)
            return v;
    return NULL;
}

const struct cs_verb *cs_verb_find(const char *const *words, int count, int *used)
{
    const struct cs_verb *verb = count > 0 ? among(cs_verbs, words[0]) : NULL;
    const struct cs_verb *sub = verb && count > 1 ? among(verb->subs, words[1]) : NULL;
    *used = sub ? 2 : verb ? 1 : 0;
    return sub ? sub : verb;
}

int cs_usage_error(const struct cs_verb *verb, const struct cs_err *err)
{
    fprintf(stderr, "caisson %s: %s\n", verb->name, err->msg);
    fprintf(stderr, "'caisson help %s' explains it.\n", verb->name);
    return CS_EXIT_USAGE;
}

int cs_verb_failed(const struct cs_verb *verb, const struct cs_err *err)
{
    static const enum cs_exit exits[] = {
        [CS_OK] = CS_EXIT_OURS,          [CS_INVALID] = CS_EXIT_USAGE,
        [CS_MISSING] = CS_EXIT_USAGE,    [CS_DENIED] = CS_EXIT_DENIED,
        [CS_LIMIT] = CS_EXIT_LIMIT,      [CS_CONFLICT] = CS_EXIT_USAGE,
        [CS_BUSY] = CS_EXIT_LIMIT,       [CS_SCRIPT] = CS_EXIT_PROGRAM,
        [CS_UPSTREAM] = CS_EXIT_PROGRAM, [CS_SYSTEM] = CS_EXIT_OURS,
        [CS_BUG] = CS_EXIT_OURS,
    };
    fprintf(stderr, "caisson %s: ", verb->name);
    cs_text_safe(stderr, cs_str(err->msg));
    fputc('\n', stderr);
    return (int)exits[err->code];
}

/* `of`: the verb whose own verbs are meant, or NULL. */
static int no_such_verb(const struct cs_verb *of, const char *word)
{
    const char *names[64] = {NULL};
    size_t count = 0;
    for (const struct cs_verb *v = of ? of->subs : cs_verbs; v->name && count < CS_COUNT(names);
         v++)
        names[count++] = cs_verb_word(v);
    const char *near = cs_nearest(word, names, count), *path = of ? of->name : "",
               *space = of ? " " : "";
    fprintf(stderr, "caisson%s%s: there is no verb '%s'", space, path, word);
    if (near)
        fprintf(stderr, "; did you mean 'caisson %s%s%s'?\n", path, space, near);
    else
        fprintf(stderr, "; 'caisson help%s%s' lists them\n", space, path);
    return CS_EXIT_USAGE;
}

static int help(const char *name)
{
    static const char *const word[] = {"help"};
    int used;
    char *args[] = {"help", (char *)name, NULL};
    const struct cs_verb *verb = cs_verb_find(word, 1, &used);
    return verb->main(verb, name ? 2 : 1, args);
}

/* A verb that has verbs of its own does nothing by itself. */
int cs_verb_tools(const struct cs_verb *verb, int argc, char **argv)
{
    if (argc > 1 && argv[1][0] != '-')
        return no_such_verb(verb, argv[1]);
    help(verb->name);
    return CS_EXIT_USAGE;
}

int cs_front_main(int argc, char **argv)
{
    cs_mem_keep();
    const char *word = argc > 1 ? argv[1] : NULL;
    if (!word) {
        help(NULL);
        return CS_EXIT_USAGE;
    }
    if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0)
        word = "help";
    else if (strcmp(word, "-V") == 0 || strcmp(word, "--version") == 0)
        word = "version";
    const char *const words[] = {word, argc > 2 ? argv[2] : ""};
    int used;
    const struct cs_verb *verb = cs_verb_find(words, 2, &used);
    if (!verb)
        return no_such_verb(NULL, word);
    for (int i = 1 + used; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return help(verb->name);
    return verb->main(verb, argc - used, argv + used);
}
