/*
 * Inside of front/: a verb is a row in a table, an option a row in the verb's table. Parsing, help,
 * the man page, completion and "did you mean" all read these rows, so none of them can be out of
 * date.
 */
#ifndef CS_FRONT_VERBS_H
#define CS_FRONT_VERBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/near.h"
#include "base/own.h"

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
    const char *group;          /* heading in the overview; NULL: that of the row before */
    const struct cs_verb *subs; /* verbs of its own, named "tools search"; or NULL */
};

/* All verbs; ends with a row without a name, like `subs`. */
extern const struct cs_verb cs_verbs[];
extern const struct cs_option cs_assess_options[]; /* assess_verb.c */
extern const struct cs_verb cs_policy_verbs[];     /* policy_verb.c */
extern const struct cs_verb cs_approvals_verbs[];  /* approvals_verbs.c */
extern const struct cs_option cs_approvals_options[];

/* The verb that the first words name ("tools", "search"), and in *used how many they are; NULL if
 * there is none. A verb with verbs of its own is answered if the second word is none of them. */
const struct cs_verb *cs_verb_find(const char *const *words, int count, int *used);
const char *cs_verb_word(const struct cs_verb *verb); /* "search" of "tools search" */

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

/*
 * All arguments at once: each option goes where its row among `binds` says, the last row has no
 * name. Operands are gathered; `dashes` is how many came before "--" (if there is none, all).
 */
enum cs_bind_kind {
    CS_BIND_TEXT,     /* const char * */
    CS_BIND_FLAG,     /* bool */
    CS_BIND_NUMBER,   /* uint64_t */
    CS_BIND_TIME,     /* uint32_t, milliseconds; a bare number is of seconds */
    CS_BIND_WORDS,    /* struct cs_words: may be given several times */
    CS_BIND_JSON,     /* bool: is the value "json"? */
    CS_BIND_SETTINGS, /* struct cs_setting_flags: every option that is a setting; named "" */
};
struct cs_bind {
    const char *name;
    enum cs_bind_kind kind;
    void *to;
};
struct cs_words {
    const char **at;
    size_t count, dashes;
};
#define CS_AUTO_WORDS CS_AUTO(cs_words_done)
void cs_words_done(struct cs_words *words);
int cs_args_bind(const struct cs_verb *verb, int argc, char **argv, const struct cs_bind *binds,
                 struct cs_words *operands, struct cs_err *err);

/* Prints "caisson VERB: message" and where help is; returns CS_EXIT_USAGE. */
int cs_usage_error(const struct cs_verb *verb, const struct cs_err *err);

/* Prints "caisson VERB: message"; returns the exit status that the error stands for. */
int cs_verb_failed(const struct cs_verb *verb, const struct cs_err *err);

/* The verbs. */
int cs_verb_run(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_assess(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_serve(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_mcp(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_openapi(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_replay(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_stats(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_doctor(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_help(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_version(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_completion(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_add(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_remove(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_enable(const struct cs_verb *verb, int argc, char **argv); /* and disable */
int cs_verb_import(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_list(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_login(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_logout(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_tools(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_tools_list(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_tools_search(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_tools_show(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_tools_look(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_tools_call(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_tools_tree(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_config(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_config_show(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_config_check(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_config_explain(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_audit_list(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_audit_show(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_audit_tail(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_audit_export(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_audit_verify(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_audit_checkpoint(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_audit_key(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_backup(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_executions_list(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_executions_show(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_executions_provenance(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_artifacts_list(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_artifacts_get(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_artifacts_lineage(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_artifacts_remove(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_approvals(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_approvals_show(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_approvals_grants(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_approvals_revoke(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_approve(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_deny(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_keys_create(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_cache_clear(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_privacy_scan(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_privacy_test(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_policy_check(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_policy_explain(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_policy_test(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_policy_default(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_keys_list(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_keys_revoke(const struct cs_verb *verb, int argc, char **argv);
int cs_verb_keys_rotate(const struct cs_verb *verb, int argc, char **argv);

#endif
