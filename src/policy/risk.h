/*
 * Inside of policy/: the rules of the section `risk`, as rules.c and when.c read them and match.c
 * and judge.c use them.
 */
#ifndef CS_POLICY_RISK_H
#define CS_POLICY_RISK_H

#include "base/facts.h"
#include "base/regex.h"
#include "policy/inside.h"

#define CS_RISK_COUNT 4

/* A pattern. Ours are compiled when the first text comes that one of their words is in: most
 * programs never need one. */
struct cs_like {
    struct cs_str text;
    struct cs_regex *compiled;
    bool broken;    /* one of ours, which a test would have found: counts as found */
    uint32_t tried; /* texts */
};

/* yes, no, or it does not matter */
enum cs_wanted { CS_WANTED_EITHER, CS_WANTED_YES, CS_WANTED_NO };

/* Of a tool that is reached. */
struct cs_tool_when {
    bool is_set;
    unsigned standings, grants; /* bits; 0: any */
    unsigned labels;            /* all of them */
    enum cs_wanted read_only, destructive, open_world, trusted, annotated;
};

struct cs_when {
    uint32_t kinds; /* bits of enum cs_fact_kind; 0: it speaks of no fact */
    struct cs_patterns names, vias, keys;
    struct cs_patterns outside; /* roots that an import does not lie beneath */
    struct cs_like *like;       /* NULL: none */
    uint32_t *words;            /* indexes of those of which one must be in the text */
    uint32_t word_count;
    uint32_t secrets; /* bits of enum cs_pii, of which one is found in the text */
    uint32_t looks;   /* CS_LOOKS_*, of which one holds */
    bool shell;       /* `like` is tried on the text as a shell reads it too */
    uint32_t at_least;
    struct cs_tool_when tool;
    unsigned from, to, besides; /* labels, of a flow */

    struct cs_patterns environments, languages, principals;
    struct cs_like *unless_intent;
    uint64_t source_bytes, longest_line, modules; /* at least; 0: any */
    uint32_t sensitive_inputs, bad, bad_percent;
    enum cs_wanted unreadable;

    struct cs_when *all; /* further ones, which hold too */
    uint32_t all_count;
};

struct cs_risk_rule {
    struct cs_str id, reason, mitigation;
    enum cs_risk level;
    bool off;
    struct cs_when when;
    struct {
        struct cs_str environment; /* a glob */
        enum cs_risk level;
    } * raises;
    uint32_t raise_count;
    bool has_prose;
    enum cs_risk
        prose; /* its level in texts for people, where nothing that runs commands is reached */
};

/* What a level leads to. */
struct cs_risk_then {
    struct cs_str who; /* a glob */
    bool is_set[CS_RISK_COUNT];
    enum cs_grant then[CS_RISK_COUNT];
};

#define CS_WORDS_MOST 1024
#define CS_WORD_BYTES 3 /* by which they are looked for */
#define CS_WORD_SLOTS 4096
#define CS_WORDS_ROOM (CS_WORDS_MOST / 64)

/* words.c: all the words of all rules, looked for in one walk over a text. */
struct cs_words_table {
    struct cs_str at[CS_WORDS_MOST]; /* lower case */
    uint16_t next[CS_WORDS_MOST];    /* in its slot; 0: none, else index + 1 */
    uint16_t first[CS_WORD_SLOTS];
    uint32_t count;
};

struct cs_risk_rules {
    struct cs_risk_rule *rules;
    uint32_t rule_count;
    struct cs_risk_then built_in, general, *principals;
    uint32_t principal_count;
    struct cs_str environment;
    struct cs_limits ceilings[CS_RISK_COUNT];
    struct cs_words_table words;
    struct cs_matcher *matcher;
    struct cs_like **likes; /* to be freed */
    uint32_t like_count;
    bool wants_secrets; /* some rule looks for them */
};

/* --- words.c --- */

/* The index of a word, which is new or there already. -1: CS_LIMIT, CS_INVALID. */
int cs_words_add(struct cs_words_table *table, struct cs_str word, struct cs_arena *arena,
                 struct cs_err *err);
/* Sets the bit of every word that is in `text`, which is in lower case. False: there is none. */
bool cs_words_find(const struct cs_words_table *table, struct cs_str text,
                   uint64_t found[CS_WORDS_ROOM]);

/* --- plain.c --- */

/* The text as the eye reads it: letters of other alphabets that look like Latin ones are these,
 * what is not seen is left out. Empty: it is as it was. */
struct cs_str cs_words_plain(struct cs_str text, struct cs_arena *arena);
/* As a shell reads it: blanks are one, quotes and backslashes within words are not there, $IFS is a
 * blank. Empty: it is as it was. */
struct cs_str cs_words_shell(struct cs_str text, struct cs_arena *arena);
/* How a text looks; in the order of their words in when.c. */
enum {
    CS_LOOKS_PROSE = 1,   /* for people: sentences, lists of commands */
    CS_LOOKS_MIXED = 2,   /* letters of another alphabet in a Latin word */
    CS_LOOKS_CONTROL = 4, /* backspaces, escapes that do more than colour */
    CS_LOOKS_UNSEEN = 8, /* several characters in a row that are not seen, or that turn it around */
};
unsigned cs_words_looks(struct cs_str text);
/* Does "server.tool" sound like something that runs commands? */
bool cs_words_runs(struct cs_str name);

/* --- when.c --- */

/* What is read, and where: for messages. */
struct cs_risk_reader {
    struct cs_policy *policy;
    struct cs_risk_rules *rules;
    bool ours; /* default.json: patterns are compiled when they are needed */
};
#define CS_PLACE_BYTES 200
/* "risk.rules[3].when.fact", cut if it is longer. */
void cs_risk_place(char where[CS_PLACE_BYTES], const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
int cs_when_read(struct cs_risk_reader *reader, struct cs_json_val from, const char *where,
                 struct cs_when *when, struct cs_err *err);
int cs_risk_level(struct cs_json_val from, const char *where, enum cs_risk *level,
                  struct cs_err *err);
/* One text, or a list of them. */
int cs_risk_globs(struct cs_arena *arena, struct cs_json_val from, const char *where,
                  struct cs_patterns *into, struct cs_err *err);

/* --- match.c --- */

#define CS_VIA_JOINED "joined" /* of comments on lines that follow each other */

struct cs_fact_seen {
    enum cs_fact_kind kind;
    bool cut;  /* the name is longer than what is here */
    bool late; /* of a module that is imported while the program runs */
    struct cs_str name, via, key, module;
    struct cs_str plain;   /* name as the eye reads it; empty: the same */
    struct cs_str shell;   /* as a shell reads that */
    unsigned looks;        /* CS_LOOKS_* */
    uint32_t line, column; /* 0: not known */
    uint64_t *words;       /* bits; NULL: none is in it */
    uint32_t secrets;      /* bits of enum cs_pii */
    uint32_t *tools;       /* indexes of the tools that it means */
    uint32_t tool_count;
    unsigned from, to, besides; /* labels of the ends of a flow, and of what else is reached */
};

/* A case before the judge. */
struct cs_case {
    const struct cs_policy *policy;
    struct cs_risk_rules *rules;
    const struct cs_circumstances *c;
    struct cs_arena *arena;
    struct cs_str environment;
    struct cs_fact_seen *facts; /* grouped by kind */
    uint32_t fact_count;
    uint32_t start[CS_FACT_COUNT + 1]; /* where each kind begins */
    struct cs_reached *tools;          /* that facts mean */
    uint32_t tool_count;
    uint64_t source_bytes, longest_line, modules;
    bool unreadable; /* all of it, or some */
    bool runs;       /* it reaches something that runs commands */
    int64_t pattern_us;
    bool too_slow; /* patterns were given up */
};

/* Facts that fit, at most `most` of them, into `hits`; returns how many different ones there are.
 * One that speaks of no fact: 1 if it holds. */
uint32_t cs_when_holds(struct cs_case *k, const struct cs_when *when,
                       const struct cs_fact_seen **hits, uint32_t most);
bool cs_tool_fits(const struct cs_tool_when *when, const struct cs_reached *tool);
/* `patterns` are globs; those that begin with "!" exclude. */
bool cs_globs_fit(const struct cs_patterns *patterns, struct cs_str text);

/* --- rules.c, judge.c --- */

/* What follows from a level for a principal. */
enum cs_grant cs_risk_grant(const struct cs_risk_rules *rules, struct cs_str principal,
                            enum cs_risk level);
enum cs_risk cs_risk_level_of(const struct cs_case *k, const struct cs_risk_rule *rule);
struct cs_str cs_risk_reason(const struct cs_case *k, const struct cs_risk_rule *rule,
                             const struct cs_fact_seen *fact);

/* --- gather.c: the worker's message becomes a case --- */

/* 0; 1: there are more than are here; -1: it cannot be read, and `err` says why. */
int cs_case_facts(struct cs_case *k, struct cs_str facts, struct cs_verdict *verdict,
                  struct cs_err *err);
/* Of a guest: what its text shows. */
void cs_case_guest(struct cs_case *k);
/* Tools, words, secrets. */
void cs_case_prepare(struct cs_case *k, struct cs_verdict *verdict);

#endif
