/* The door itself. */
#include "rest/rest.h"
#include "base/mem.h"

struct cs_rest {
    uv_loop_t *loop;
    struct cs_rest_options o;
};

int cs_rest_new(uv_loop_t *loop, const struct cs_rest_options *options, struct cs_rest **rest,
                struct cs_err *err)
{
    (void)err;
    *rest = CS_NEW(struct cs_rest);
    (*rest)->loop = loop;
    (*rest)->o = *options;
    return 0;
}

void cs_rest_close(struct cs_rest *rest)
{
    free(rest);
}

void cs_rest_set(struct cs_rest *rest, uint64_t code_bytes, uint64_t inputs_bytes,
                 uint32_t timeout_ms)
{
    rest->o.code_bytes = code_bytes;
    rest->o.inputs_bytes = inputs_bytes;
    rest->o.timeout_ms = timeout_ms;
}

bool cs_rest_is_open(struct cs_str method, struct cs_str path)
{
    bool reads = cs_str_is(method, "GET") || cs_str_is(method, "HEAD");
    return reads &&
           (cs_str_is(path, "/") || cs_str_is(path, "/health") || cs_str_is(path, "/openapi.json"));
}

uint64_t cs_rest_body_bytes(const struct cs_rest *rest, struct cs_str method, struct cs_str path)
{
    (void)method;
    (void)path;
    return 6 * rest->o.code_bytes + rest->o.inputs_bytes + 65536;
}

void cs_rest_handle(struct cs_rest *rest, struct cs_exchange *x, const struct cs_caller *caller)
{
    (void)rest;
    (void)caller;
    struct cs_err err = {0};
    cs_fail(&err, CS_MISSING, "there is nothing at this path");
    cs_rest_problem(x, 0, &err);
}

void cs_rest_openapi(struct cs_buf *json)
{
    cs_buf_puts(json, "{\"openapi\":\"3.1.0\"}");
}
