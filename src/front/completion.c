/* `caisson completion`: scripts for shells, made from the tables of verbs.c. */
#include <stdio.h>
#include <string.h>

#include "front/verbs.h"

static void words(const struct cs_verb *verbs)
{
    for (const struct cs_verb *v = verbs; v->name; v++)
        printf("%s ", cs_verb_word(v));
}

/* Calls `print` for every verb that does something itself. */
static void each(const struct cs_verb *verbs, void (*print)(const struct cs_verb *v))
{
    for (const struct cs_verb *v = verbs; v->name; v++) {
        if (v->subs)
            each(v->subs, print);
        else
            print(v);
    }
}

/* --- bash --- */

static void bash_choices(const struct cs_verb *v)
{
    for (const struct cs_option *o = v->options; o->name; o++) {
        if (!o->choices)
            continue;
        printf("  '%s --%s'", v->name, o->name);
        if (o->letter)
            printf("|'%s -%c'", v->name, o->letter);
        printf(") COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return ;;\n", o->choices);
    }
}

static void bash_options(const struct cs_verb *v)
{
    printf("  '%s') [[ $cur == -* ]] && COMPREPLY=($(compgen -W '", v->name);
    for (const struct cs_option *o = v->options; o->name; o++)
        if (!o->hidden)
            printf("--%s ", o->name);
    printf("' -- \"$cur\")) || COMPREPLY=($(compgen -f -- \"$cur\")) ;;\n");
}

static void bash_completion(void)
{
    printf("# bash completion for caisson\n_caisson() {\n"
           "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
           "  local verb=${COMP_WORDS[1]}\n"
           "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    COMPREPLY=($(compgen -W '");
    words(cs_verbs);
    printf("' -- \"$cur\")); return\n  fi\n  case \"$verb\" in\n");
    for (const struct cs_verb *v = cs_verbs; v->name; v++) {
        if (!v->subs)
            continue;
        printf("  %s)\n    if [ \"$COMP_CWORD\" -eq 2 ]; then COMPREPLY=($(compgen -W '", v->name);
        words(v->subs);
        printf("' -- \"$cur\")); return; fi\n    verb=\"$verb ${COMP_WORDS[2]}\" ;;\n");
    }
    printf("  esac\n  case \"$verb $prev\" in\n");
    each(cs_verbs, bash_choices);
    printf("  esac\n  case \"$verb\" in\n");
    each(cs_verbs, bash_options);
    printf("  esac\n}\ncomplete -o filenames -F _caisson caisson\n");
}

/* --- zsh --- */

/* Text inside single quotes of a shell, without the characters that mean something there. */
static void quoted(const char *text)
{
    for (; *text; text++)
        if (*text != '\'' && *text != '[' && *text != ']' && *text != ':')
            putchar(*text);
}

static void zsh_verbs(const char *name, const struct cs_verb *verbs)
{
    printf("  local -a %s\n  %s=(\n", name, name);
    for (const struct cs_verb *v = verbs; v->name; v++) {
        printf("    '%s:", cs_verb_word(v));
        quoted(v->summary);
        printf("'\n");
    }
    printf("  )\n");
}

static void zsh_options(const struct cs_verb *v)
{
    printf("  '%s') _arguments ", v->name);
    for (const struct cs_option *o = v->options; o->name; o++) {
        if (o->hidden)
            continue;
        printf("'--%s[", o->name);
        quoted(o->help);
        printf("]%s%s%s%s' ", o->arg ? ":value:" : "", o->choices ? "(" : "",
               o->choices ? o->choices : "", o->choices ? ")" : "");
    }
    printf("'*:file:_files' ;;\n");
}

static void zsh_completion(void)
{
    printf("#compdef caisson\n_caisson() {\n");
    zsh_verbs("verbs", cs_verbs);
    printf("  if (( CURRENT == 2 )); then _describe verb verbs; return; fi\n"
           "  local verb=$words[2]\n");
    for (const struct cs_verb *v = cs_verbs; v->name; v++) {
        if (!v->subs)
            continue;
        zsh_verbs(v->name, v->subs);
        printf("  if [[ $verb == %s ]]; then\n"
               "    if (( CURRENT == 3 )); then _describe verb %s; return; fi\n"
               "    verb=\"$verb $words[3]\"\n  fi\n",
               v->name, v->name);
    }
    printf("  case $verb in\n");
    each(cs_verbs, zsh_options);
    printf("  esac\n}\n_caisson \"$@\"\n");
}

/* --- fish --- */

static void fish_options(const struct cs_verb *v)
{
    for (const struct cs_option *o = v->options; o->name; o++) {
        if (o->hidden)
            continue;
        const char *space = strchr(v->name, ' ');
        int len = space ? (int)(space - v->name) : (int)strlen(v->name);
        printf("complete -c caisson -n '__fish_seen_subcommand_from %.*s", len, v->name);
        if (space)
            printf("; and __fish_seen_subcommand_from %s", space + 1);
        printf("' -l %s", o->name);
        if (o->letter)
            printf(" -s %c", o->letter);
        if (o->choices)
            printf(" -x -a '%s'", o->choices);
        else if (o->arg)
            printf(" -r");
        printf(" -d '");
        quoted(o->help);
        printf("'\n");
    }
}

static void fish_completion(void)
{
    printf("complete -c caisson -f -n __fish_use_subcommand -a '");
    words(cs_verbs);
    printf("'\n");
    for (const struct cs_verb *v = cs_verbs; v->name; v++) {
        if (!v->subs)
            continue;
        printf("complete -c caisson -f -n '__fish_seen_subcommand_from %s; and not "
               "__fish_seen_subcommand_from ",
               v->name);
        words(v->subs);
        printf("' -a '");
        words(v->subs);
        printf("'\n");
    }
    each(cs_verbs, fish_options);
}

int cs_verb_completion(const struct cs_verb *verb, int argc, char **argv)
{
    static const struct {
        const char *shell;
        void (*print)(void);
    } shells[] = {{"bash", bash_completion}, {"zsh", zsh_completion}, {"fish", fish_completion}};
    for (size_t i = 0; argc == 2 && i < CS_COUNT(shells); i++) {
        if (strcmp(argv[1], shells[i].shell) == 0) {
            shells[i].print();
            return CS_EXIT_OK;
        }
    }
    struct cs_err err = {0};
    cs_fail(&err, CS_INVALID, "name a shell: bash, zsh or fish");
    return cs_usage_error(verb, &err);
}
