/* Names of kinds and levels. */
#include <strings.h>

#include "privacy/privacy.h"

static const struct {
    const char *name;
    bool secret;
    size_t longest;
} kinds[CS_PII_COUNT] = {
#define X(id, name, secret, longest) [CS_PII_##id] = {name, secret, longest},
    CS_PII_KINDS(X)
#undef X
};

static const char *const levels[] = {"off", "low", "medium", "high"};

static bool same(struct cs_str a, const char *b)
{
    return strlen(b) == a.len && strncasecmp(a.at, b, a.len) == 0;
}

const char *cs_pii_name(enum cs_pii kind)
{
    return kinds[kind].name;
}

bool cs_pii_secret(enum cs_pii kind)
{
    return kinds[kind].secret;
}

size_t cs_pii_longest(enum cs_pii kind)
{
    return kinds[kind].longest;
}

bool cs_pii_parse(struct cs_str name, enum cs_pii *kind)
{
    static const struct {
        const char *name;
        enum cs_pii kind;
    } others[] = {
        {"DOB", CS_PII_DATE_OF_BIRTH}, {"IP", CS_PII_IP_ADDRESS},
        {"CARD", CS_PII_CREDIT_CARD},  {"DRIVING_LICENCE", CS_PII_LICENCE},
        {"LICENSE", CS_PII_LICENCE},
    };
    for (unsigned i = 0; i < CS_PII_COUNT; i++)
        if (same(name, kinds[i].name)) {
            *kind = (enum cs_pii)i;
            return true;
        }
    for (size_t i = 0; i < CS_COUNT(others); i++)
        if (same(name, others[i].name)) {
            *kind = others[i].kind;
            return true;
        }
    return false;
}

const char *cs_privacy_level_name(enum cs_privacy_level level)
{
    return levels[level];
}

bool cs_privacy_level_parse(struct cs_str name, enum cs_privacy_level *level)
{
    for (unsigned i = 0; i < CS_COUNT(levels); i++)
        if (same(name, levels[i])) {
            *level = (enum cs_privacy_level)i;
            return true;
        }
    return false;
}
