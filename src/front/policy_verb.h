/* Inside of front/: `caisson policy`, and what its verbs share. */
#ifndef CS_FRONT_POLICY_VERB_H
#define CS_FRONT_POLICY_VERB_H

#include "front/assess_verb.h"
#include "front/policy_case.h"
#include "front/verbs.h"
#include "front/world.h"

/* What the words of `explain` and `test` say about the house. */
struct cs_policy_house {
    const char *config, *policy; /* from the command line, or NULL */
    struct cs_settings settings;
    struct cs_world world;
    struct cs_sandbox_options sandbox;
    struct cs_catalogue *catalogue; /* what was offered last time; NULL: there are no servers */
    uv_loop_t *loop;
    char scratch[CS_DATA_PATH];
};

/* `programs`: some are to be judged, so that a worker is needed. */
int cs_policy_house_open(struct cs_policy_house *house, bool programs, struct cs_err *err);
/* Runs the loop until nothing is left. */
void cs_policy_house_close(struct cs_policy_house *house);

/* Lines about what a policy that can be read probably does not mean: patterns that match nothing,
 * rules that are never reached. `config` (its path) and the catalogue may be NULL. */
void cs_policy_warn(const struct cs_policy *policy, const char *config,
                    const struct cs_catalogue *catalogue, struct cs_buf *lines);

#endif
