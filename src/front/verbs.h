/*
 * Inside of front/: a verb is a row in a table, an option a row in the verb's table. Parsing, help,
 * the man page, completion and "did you mean" all read these rows, so none of them can be out of
 * date.
 */
#ifndef CS_FRONT_VERBS_H
#define CS_FRONT_VERBS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/near.h"

enum cs_exit {
    CS_EXIT_OK = 0,
    CS_EXIT_PROGRAM = 1,
    CS_EXIT_USAGE = 2,
    CS_EXIT_DENIED = 3,
    CS_EXIT_LIMIT = 4,
    CS_EXIT_OURS = 5,
};

struct cs_option {
    const char *name; /* long name without dashes; NULL ends the table */
    char letter;      /* or 0 */
    const char *arg;  /* "JSON|@FILE"; NULL: a flag */
    const char *help;
    const char *choices; /* "text json", for completion and checking; or NULL */
    bool hidden;
};

struct cs_verb {
    const char *name;
    const char *operands; /* "FILE | -e CODE | -" */
    const char *summary;  /* one line */
    const char *text;     /* the rest of the help, paragraphs */
    const struct cs_option *options;
    int (*main)(const struct cs_verb *verb, int argc, char **argv); /* argv[0]: the verb */
};

/* All verbs; ends with a row without a name. */
extern const struct cs_verb cs_verbs[];
const struct cs_verb *cs_verb_find(const char *name);

/*
 * Walks the arguments: each call yields the next option (its row and value) or operand (row NULL).
 * 1: got one; 0: at the end; -1: CS_INVALID, which says what is wrong and what was probably meant.
 */
struct cs_args {
    const struct cs_verb *verb;
    int argc, at;
    char **argv;
    const char *cluster; /* rest of "-qv" */
    bool only_operands;  /* after "--" */
};
int cs_args_next(struct cs_args *args, const struct cs_option **option, const char **value,
                 struct cs_err *err);

/* Prints "caisson VERB: message" and where help is; returns CS_EXIT_USAGE. */
int cs_usage_error(const struct cs_verb *verb, const struct cs_err *err);

/* The verbs. */
int cs_verb_run(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_doctor(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_help(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_version(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_completion(const struct cs_verb *verb, int argc, char **argv);

#endif
