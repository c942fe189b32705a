/* DELETE /cache: answers that are kept are forgotten. */
#include "rest/inside.h"

static void on_cleared(void *ctx, const struct cs_err *err)
{
    struct cs_visit *v = ctx;
    if (err->code != CS_OK)
        cs_visit_fail(v, 0, err);
    else
        cs_visit_reply(v, 204, NULL, (struct cs_str){0});
}

void cs_rest_delete_cache(struct cs_visit *v)
{
    cs_runner_clear_cache(v->rest->o.runner, cs_visit_tenant(v), on_cleared, v);
}
