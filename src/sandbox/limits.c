#include "sandbox/limits.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/own.h"

static const struct row {
    const char *name, *unit, *what;
    size_t offset;
    uint64_t value;
} rows[CS_LIMIT_COUNT] = {
#define X(id, name, unit, value, what) \
    [CS_LIMIT_##id] = {#name, unit, what, offsetof(struct cs_limits, name), value},
    CS_LIMITS(X)
#undef X
};

struct cs_limits cs_limits_default(void)
{
    struct cs_limits limits;
    for (int i = 0; i < CS_LIMIT_COUNT; i++)
        cs_limit_set(&limits, (enum cs_limit)i, rows[i].value);
    return limits;
}

const char *cs_limit_name(enum cs_limit limit)
{
    return rows[limit].name;
}

const char *cs_limit_unit(enum cs_limit limit)
{
    return rows[limit].unit;
}

const char *cs_limit_what(enum cs_limit limit)
{
    return rows[limit].what;
}

uint64_t cs_limit_get(const struct cs_limits *limits, enum cs_limit limit)
{
    uint64_t value;
    memcpy(&value, (const char *)limits + rows[limit].offset, sizeof value);
    return value;
}

void cs_limit_set(struct cs_limits *limits, enum cs_limit limit, uint64_t value)
{
    memcpy((char *)limits + rows[limit].offset, &value, sizeof value);
}

/* What a suffix multiplies by, in the unit of the limit; 0 if the suffix makes no sense there. */
static double factor(const char *unit, const char *suffix)
{
    static const struct {
        const char *unit, *suffix;
        double factor;
    } known[] = {
        {"bytes", "", 1},        {"bytes", "k", 1024}, {"bytes", "m", 1024.0 * 1024},
        {"bytes", "g", 1 << 30}, {"ms", "", 1},        {"ms", "ms", 1},
        {"ms", "s", 1000},       {"ms", "m", 60000},   {"ms", "h", 3600000},
        {"percent", "%", 1},     {"percent", "", 1},
    };
    char plain[8];
    snprintf(plain, sizeof plain, "%s", suffix);
    if (strcmp(unit, "bytes") == 0) {
        /* 512M, 512MB and 512MiB mean the same. */
        size_t n = strlen(plain);
        if (n > 0 && strcasecmp(plain + n - 1, "b") == 0)
            plain[--n] = '\0';
        if (n > 1 && strcasecmp(plain + n - 1, "i") == 0)
            plain[--n] = '\0';
    }
    for (size_t i = 0; i < CS_COUNT(known); i++)
        if (strcmp(known[i].unit, unit) == 0 && strcasecmp(known[i].suffix, plain) == 0)
            return known[i].factor;
    return *suffix ? 0 : 1;
}

int cs_limit_parse(enum cs_limit limit, const char *text, uint64_t *value, struct cs_err *err)
{
    const char *unit = rows[limit].unit;
    char *end;
    double number = strtod(text, &end);
    double by = end == text ? 0 : factor(unit, end);
    double product = number * by;
    if (by == 0 || !(product >= 1) || product > 9e15) {
        const char *like = strcmp(unit, "bytes") == 0 ? "256M, 1G"
                           : strcmp(unit, "ms") == 0  ? "500ms, 30s, 2m"
                                                      : "a whole number";
        return cs_fail(err, CS_INVALID, "%s: '%s' is not a number of %s (like %s)",
                       rows[limit].name, text, unit, like);
    }
    *value = (uint64_t)product;
    return 0;
}

int cs_limits_assign(struct cs_limits *limits, const char *assignment, struct cs_err *err)
{
    const char *equals = strchr(assignment, '=');
    size_t len = equals ? (size_t)(equals - assignment) : strlen(assignment);
    for (int i = 0; i < CS_LIMIT_COUNT; i++) {
        if (strlen(rows[i].name) != len || strncmp(rows[i].name, assignment, len) != 0)
            continue;
        if (!equals)
            return cs_fail(err, CS_INVALID, "limit '%s' wants a value: %s=N", assignment,
                           assignment);
        uint64_t value;
        if (cs_limit_parse((enum cs_limit)i, equals + 1, &value, err) < 0)
            return -1;
        cs_limit_set(limits, (enum cs_limit)i, value);
        return 0;
    }
    return cs_fail(err, CS_INVALID, "there is no limit '%.*s'; 'caisson help limits' lists them",
                   (int)len, assignment);
}
