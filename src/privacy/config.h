/*
 * Inside of privacy/: the section "privacy" of a policy file, as it was read.
 *
 *     config_read.c   JSON becomes this
 *     config.c        what it answers
 */
#ifndef CS_PRIVACY_CONFIG_H
#define CS_PRIVACY_CONFIG_H

#include "base/arena.h"
#include "base/json.h"
#include "privacy/privacy.h"

/* What a tool's answers are looked through for. */
struct cs_level_rule {
    struct cs_str tool; /* a pattern */
    enum cs_privacy_level level;
};

/* May a tool have values back? */
struct cs_may_rule {
    struct cs_str tool;   /* a pattern */
    bool all;             /* kinds; else: */
    uint32_t kinds;       /* 1u << enum cs_pii */
    struct cs_str *names; /* of customs */
    size_t name_count;
    enum cs_may then;
    struct cs_str place; /* "privacy.detokenize[1], mail/send", for messages */
};

struct cs_privacy {
    unsigned refs;
    struct cs_arena arena;
    bool off;
    enum cs_privacy_level level;
    enum cs_token_style style;
    struct cs_detector *detector;
    struct cs_level_rule *levels;
    size_t level_count;
    struct cs_may_rule *mays;
    size_t may_count;
    struct cs_custom *customs;
    size_t custom_count;
    struct cs_custom_example *examples;
    size_t example_count;
    struct cs_buf dictionaries; /* all words that came from files, for the hash */
    unsigned char hash[32];
};

/* Everything that is in the section. `dir`: where dictionaries are; NULL: there are none. */
int cs_privacy_read(struct cs_privacy *privacy, struct cs_json_val section, const char *dir,
                    struct cs_err *err);

/* Patterns and words of a request alone: an object with "patterns" and "words". Texts are put into
 * the arena. `where`: "privacy" in messages. */
int cs_customs_read(struct cs_arena *arena, struct cs_json_val from, const char *where,
                    struct cs_custom **customs, size_t *count, struct cs_err *err);

#endif
