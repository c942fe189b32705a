/* `caisson openapi`: what GET /openapi.json answers, without a server. */
#include <stdio.h>

#include "front/verbs.h"
#include "rest/rest.h"

int cs_verb_openapi(const struct cs_verb *verb, int argc, char **argv)
{
    CS_AUTO_BUF struct cs_buf json = {0}, pretty = {0};
    (void)argv;
    if (argc > 1) {
        struct cs_err err = {0};
        cs_fail(&err, CS_INVALID, "it takes no arguments");
        return cs_usage_error(verb, &err);
    }
    cs_rest_openapi(&json);
    cs_json_pretty(cs_buf_str(&json), &pretty);
    fwrite(pretty.at, 1, pretty.len, stdout);
    putchar('\n');
    return CS_EXIT_OK;
}
