/* `caisson VERB`: the verbs are rows. */
#include <stdio.h>
#include <string.h>

#include "base/own.h"
#include "front/front.h"
#include "front/verbs.h"

static const struct cs_option run_options[] = {
    {"eval", 'e', "CODE", "run this code instead of a file", NULL, false},
    {"input", 'i', "JSON|@FILE", "what the program sees as `inputs`; @- reads it from stdin", NULL,
     false},
    {"language", 'l', "NAME", "language of the program; otherwise taken from the file's name",
     "typescript python bash node ts py sh js", false},
    {"timeout", 't', "TIME", "wall clock: 30, 500ms, 2m (default 30s)", NULL, false},
    {"memory", 'm', "BYTES", "memory, like 64M, 512M (default 512M, guests 256M)", NULL, false},
    {"limit", 0, "NAME=VALUE", "any other limit; 'caisson help limits' lists them", NULL, false},
    {"workspace", 'w', "DIR", "copied to /workspace before, and copied back afterwards", NULL,
     false},
    {"config", 'c', "FILE", "the file that names the tool servers", NULL, false},
    {"policy", 0, "FILE", "the file that says which tools may be called", NULL, false},
    {"output", 'o', "FORMAT", "text (default), or json: the whole envelope", "text json", false},
    {"quiet", 'q', NULL, "no logs, no progress: the result or the error alone", NULL, false},
    {"verbose", 'v', NULL, "also the stack, the figures and the risk", NULL, false},
    {"isolation", 0, "LEVEL", "light (default), or full: every run gets all namespaces anew",
     "light full", false},
    {"strict", 0, NULL, "no just-in-time compiler: no executable memory in the worker", NULL,
     false},
    {"allow-weak-isolation", 0, "WALLS", "run although these walls are missing (see doctor)", NULL,
     false},
    {"no-cgroups", 0, NULL, "limits by polling, not by control groups", NULL, false},
    {"batch", 0, NULL, "requests from stdin, envelopes to stdout, one JSON per line", NULL, true},
    {"jobs", 0, "N", "with --batch: how many at once", NULL, true},
    {NULL, 0, NULL, NULL, NULL, false},
};

static const struct cs_option doctor_options[] = {
    {"output", 'o', "FORMAT", "text (default) or json", "text json", false},
    {NULL, 0, NULL, NULL, NULL, false},
};

static const struct cs_option no_options[] = {{NULL, 0, NULL, NULL, NULL, false}};

const struct cs_verb cs_verbs[] = {
    {"run", "FILE | -e CODE | -", "run a program in the jail and print its result",
     "Runs TypeScript (or Python, bash, node) in an operating-system jail without files, network "
     "or any other process in sight. What the program returns, exports by default, or ends with "
     "as its last expression is its result.\n"
     "\n"
     "The result goes to stdout and logs to stderr. The exit status is 0; 1 if the program "
     "failed; 2 for a wrong command line; 3 if it was denied; 4 if it reached a limit; 5 if "
     "Caisson itself failed.\n"
     "\n"
     "Examples:\n"
     "  caisson run -e 'return 6 * 7'\n"
     "  caisson run report.ts --input @data.json --timeout 5s\n"
     "  echo 'print(1 + 1)' | caisson run - --language python\n"
     "  caisson run tidy.ts --workspace ./notes -o json\n",
     run_options, cs_verb_run},
    {"doctor", "", "try every wall of the jail on this machine",
     "Tries each wall for real and says what holds, what does not, and what to do about it. The "
     "exit status is 0 if programs can run fully walled in, 3 if a required wall is missing.\n",
     doctor_options, cs_verb_doctor},
    {"completion", "bash | zsh | fish", "print a completion script for a shell",
     "Examples:\n"
     "  source <(caisson completion bash)\n"
     "  caisson completion fish > ~/.config/fish/completions/caisson.fish\n",
     no_options, cs_verb_completion},
    {"help", "[VERB | limits]", "explain a verb, or the limits", "", no_options, cs_verb_help},
    {"version", "", "print the version", "", no_options, cs_verb_version},
    {NULL, NULL, NULL, NULL, NULL, NULL},
};

const struct cs_verb *cs_verb_find(const char *name)
{
    for (const struct cs_verb *v = cs_verbs; v->name; v++)
        if (strcmp(v->name, name) == 0)
            return v;
    return NULL;
}

int cs_usage_error(const struct cs_verb *verb, const struct cs_err *err)
{
    fprintf(stderr, "caisson %s: %s\n", verb->name, err->msg);
    fprintf(stderr, "'caisson help %s' explains it.\n", verb->name);
    return CS_EXIT_USAGE;
}

static int no_such_verb(const char *word)
{
    const char *names[16];
    size_t count = 0;
    for (const struct cs_verb *v = cs_verbs; v->name && count < CS_COUNT(names); v++)
        names[count++] = v->name;
    const char *near = cs_nearest(word, names, count);
    fprintf(stderr, "caisson: there is no verb '%s'", word);
    if (near)
        fprintf(stderr, "; did you mean '%s'?\n", near);
    else
        fprintf(stderr, "; 'caisson help' lists them\n");
    return CS_EXIT_USAGE;
}

int cs_front_main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : NULL;
    if (!word) {
        cs_verb_help(cs_verb_find("help"), 1, argv);
        return CS_EXIT_USAGE;
    }
    if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0)
        word = "help";
    else if (strcmp(word, "-V") == 0 || strcmp(word, "--version") == 0)
        word = "version";
    const struct cs_verb *verb = cs_verb_find(word);
    if (!verb)
        return no_such_verb(word);
    for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            char *args[] = {"help", (char *)verb->name, NULL};
            return cs_verb_help(cs_verb_find("help"), 2, args);
        }
    }
    return verb->main(verb, argc - 1, argv + 1);
}
