/* help, version, completion and the man page: all read the tables of cli.c. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "front/text.h"
#include "front/verbs.h"
#include "policy/policy.h"

static void left_column(const struct cs_option *o, char *to, size_t size)
{
    char letter[8] = "    ";
    if (o->letter)
        snprintf(letter, sizeof letter, "-%c, ", o->letter);
    snprintf(to, size, "%s--%s%s%s", letter, o->name, o->arg ? " " : "", o->arg ? o->arg : "");
}

static void print_options(const struct cs_verb *v)
{
    bool any = false;
    for (const struct cs_option *o = v->options; o->name; o++) {
        if (o->hidden)
            continue;
        if (!any)
            printf("\nOptions:\n");
        any = true;
        char left[64];
        left_column(o, left, sizeof left);
        printf("  %-32s  %s\n", left, o->help);
    }
}

static void print_rows(const struct cs_verb *verbs)
{
    for (const struct cs_verb *v = verbs; v->name; v++) {
        if (v->group)
            printf("%s%s:\n", v == verbs ? "" : "\n", v->group);
        printf("  %-14s %s\n", v->name, v->summary);
    }
}

static void print_verb(const struct cs_verb *v)
{
    printf("Usage: caisson %s%s%s%s\n\n", v->name, v->options->name ? " [OPTIONS]" : "",
           *v->operands ? " " : "", v->operands);
    cs_text_wrap(stdout, 0, v->summary);
    if (*v->text) {
        printf("\n");
        cs_text_wrap(stdout, 0, v->text);
    }
    if (v->subs) {
        printf("\nVerbs:\n");
        print_rows(v->subs);
        printf("\n'caisson help %s VERB' explains one of them.\n", v->name);
    }
    print_options(v);
}

static void print_overview(void)
{
    printf("Caisson %s: an AI agent does its work by writing code, and this runs it in a jail.\n\n"
           "Usage: caisson VERB [OPTIONS]\n\n",
           CS_VERSION);
    print_rows(cs_verbs);
    printf("\n'caisson help VERB' explains one of them. Try: caisson run -e 'return 6 * 7'\n");
}

static void print_amount(char *to, size_t size, enum cs_limit limit, uint64_t value)
{
    const char *unit = cs_limit_unit(limit);
    if (strcmp(unit, "bytes") == 0 && value >= 1u << 20)
        snprintf(to, size, "%" PRIu64 "M", value >> 20);
    else if (strcmp(unit, "ms") == 0)
        snprintf(to, size, "%" PRIu64 "s", value / 1000);
    else
        snprintf(to, size, "%" PRIu64, value);
}

static void print_limits(void)
{
    struct cs_limits usual = cs_limits_default(), most = cs_policy_ceiling(NULL, CS_RISK_LOW);
    printf("The limits of one run, for --limit NAME=VALUE:\n\n");
    printf("  %-14s %9s %9s  %s\n", "name", "default", "at most", "what it bounds");
    for (int i = 0; i < CS_LIMIT_COUNT; i++) {
        enum cs_limit limit = (enum cs_limit)i;
        char a[24], b[24];
        print_amount(a, sizeof a, limit, cs_limit_get(&usual, limit));
        print_amount(b, sizeof b, limit, cs_limit_get(&most, limit));
        printf("  %-14s %9s %9s  %s\n", cs_limit_name(limit), a, b, cs_limit_what(limit));
    }
    printf("\nA program of higher risk gets less (caisson assess says which it has):\n\n");
    for (int i = CS_RISK_LOW; i <= CS_RISK_CRITICAL; i++) {
        const struct cs_limits held = cs_policy_ceiling(NULL, (enum cs_risk)i);
        char memory[24], time[24];
        print_amount(memory, sizeof memory, CS_LIMIT_MEMORY, held.memory);
        print_amount(time, sizeof time, CS_LIMIT_WALL_CLOCK, held.wall_clock);
        printf("  %-8s at most %5s of memory, %2u%% of a core and %s\n",
               cs_risk_name((enum cs_risk)i), memory, (unsigned)held.cpu, time);
    }
}

/* --- the man page --- */

/* Text as roff: backslashes and leading dots are its own, dashes stay dashes. */
static void roff(const char *text)
{
    bool fresh = true;
    for (; *text; text++) {
        if (fresh && strncmp(text, "  ", 2) == 0)
            printf(".br\n");
        if (fresh && (*text == '.' || *text == '\''))
            printf("\\&");
        if (*text == '\\')
            printf("\\e");
        else if (*text == '-')
            printf("\\-");
        else if (*text == '\n' && text[1] == '\n')
            printf("\n.PP");
        else
            putchar(*text);
        fresh = *text == '\n';
    }
    if (!fresh)
        putchar('\n');
}

static void man_option(const struct cs_option *o)
{
    printf(".TP\n");
    if (o->letter)
        printf("\\fB\\-%c\\fR, ", o->letter);
    printf("\\fB\\-\\-");
    for (const char *c = o->name; *c; c++)
        printf(*c == '-' ? "\\-" : "%c", *c);
    printf("\\fR%s%s%s\n", o->arg ? " \\fI" : "", o->arg ? o->arg : "", o->arg ? "\\fR" : "");
    roff(o->help);
}

static void man_verbs(const struct cs_verb *verbs)
{
    for (const struct cs_verb *v = verbs; v->name; v++) {
        printf(".SS caisson %s %s\n", v->name, v->operands);
        roff(v->summary);
        if (*v->text)
            printf(".PP\n");
        roff(v->text);
        for (const struct cs_option *o = v->options; o->name; o++)
            if (!o->hidden)
                man_option(o);
        if (v->subs)
            man_verbs(v->subs);
    }
}

static void print_man(void)
{
    printf(".TH CAISSON 1 \"\" \"Caisson %s\" \"User Commands\"\n.SH NAME\ncaisson \\- run an AI "
           "agent's code in an operating\\-system jail\n.SH SYNOPSIS\n.B caisson\n.I VERB\n"
           "[\\fIOPTIONS\\fR]\n.SH VERBS\n",
           CS_VERSION);
    man_verbs(cs_verbs);
    printf(".SH LIMITS\n");
    for (int i = 0; i < CS_LIMIT_COUNT; i++) {
        struct cs_limits usual = cs_limits_default();
        enum cs_limit limit = (enum cs_limit)i;
        printf(".TP\n.B %s\n", cs_limit_name(limit));
        roff(cs_limit_what(limit));
        printf("(default %" PRIu64 " %s)\n", cs_limit_get(&usual, limit), cs_limit_unit(limit));
    }
    printf(".SH ENVIRONMENT\n.TP\n.B CAISSON_DATA\nthe data directory; otherwise\n"
           ".I $XDG_DATA_HOME/caisson\n.TP\n.B CAISSON_CONFIG\nthe file that names the MCP "
           "servers; otherwise\n.I ./caisson.json\nor\n.I $XDG_CONFIG_HOME/caisson/caisson.json\n"
           ".TP\n.B CAISSON_PRIVACY_KEY\n64 hex digits: the key under which values of sessions are "
           "kept; otherwise\n.I privacy.key\nin the data directory\n"
           ".TP\n.B CAISSON_SERVER_PORT\nand the like: settings; see\n.B caisson config explain\n"
           ".TP\n.B NO_COLOR\nno colours, also on a terminal\n");
}

int cs_verb_help(const struct cs_verb *verb, int argc, char **argv)
{
    if (argc < 2) {
        print_overview();
        return CS_EXIT_OK;
    }
    if (strcmp(argv[1], "limits") == 0) {
        print_limits();
        return CS_EXIT_OK;
    }
    if (strcmp(argv[1], "man-page") == 0) {
        print_man();
        return CS_EXIT_OK;
    }
    char first[40];
    snprintf(first, sizeof first, "%s", argv[1]);
    char *space = strchr(first, ' '), *second = argc > 2 ? argv[2] : NULL;
    if (space) {
        *space = '\0';
        second = space + 1;
    }
    const char *const words[] = {first, second};
    int count = second ? 2 : 1, used;
    const struct cs_verb *about = cs_verb_find(words, count, &used);
    if (used != count) {
        struct cs_err err = {0};
        cs_fail(&err, CS_INVALID, "there is no verb '%s%s%s'", first, second ? " " : "",
                second ? second : "");
        return cs_usage_error(verb, &err);
    }
    print_verb(about);
    return CS_EXIT_OK;
}

int cs_verb_version(const struct cs_verb *verb, int argc, char **argv)
{
    (void)argv;
    if (argc > 1) {
        struct cs_err err = {0};
        cs_fail(&err, CS_INVALID, "it takes no arguments");
        return cs_usage_error(verb, &err);
    }
    printf("caisson %s\n", CS_VERSION);
    return CS_EXIT_OK;
}
