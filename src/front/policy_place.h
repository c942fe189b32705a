/*
 * Inside of front/: where the policy is, and reading it.
 *
 *     --policy FILE, or $CAISSON_POLICY, or `policy` in the configuration: a path from there, or
 *     the policy itself as an object, or policy.json beside the configuration, if it is there
 *
 * Failure: a policy that is named and cannot be read is an error, and so are two: whoever has one
 * in the configuration and one beside it would take one of them for what counts.
 */
#ifndef CS_FRONT_POLICY_PLACE_H
#define CS_FRONT_POLICY_PLACE_H

#include <stdbool.h>

#include "base/buf.h"
#include "front/data.h"
#include "policy/policy.h"

struct cs_policy_place {
    char path[CS_DATA_PATH]; /* of the file; "": there is none */
    bool inside;             /* it is `policy` in that file, which is the configuration */
};

/* `given`: from the command line, or NULL. The configuration need not exist. */
int cs_policy_place_find(const char *given, const char *config, struct cs_policy_place *place,
                         struct cs_err *err);

/* Where policy.json would be found if there were one; "": elsewhere is looked, or nowhere. */
void cs_policy_place_usual(const char *given, const char *config, char path[CS_DATA_PATH]);

/* Its text; empty if there is none. */
int cs_policy_place_text(const struct cs_policy_place *place, struct cs_buf *text,
                         struct cs_err *err);

/* "policy /x/policy.json", "/x/caisson.json: policy" */
void cs_policy_place_name(const struct cs_policy_place *place, struct cs_buf *name);

/* The same read; if there is none the defaults. A secret that is elsewhere (${env:X},
 * ${command:...}) is fetched. */
int cs_policy_place_load(const struct cs_policy_place *place, struct cs_policy **policy,
                         struct cs_err *err);

#endif
