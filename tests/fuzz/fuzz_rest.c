/*
 * The body of POST /executions. What is read as one is within its bounds, and written down in its
 * canonical form and read again it is the same request.
 */
#include <stdint.h>
#include <stdlib.h>

#include "rest/inside.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Unlike assert, there in every build. */
static void must(bool holds)
{
    if (!holds)
        abort();
}

static struct cs_schema *schema(void)
{
    static struct cs_schema *made;
    CS_AUTO_BUF struct cs_buf openapi = {0};
    if (made)
        return made;
    cs_rest_openapi(&openapi);
    must(cs_rest_schema(cs_buf_str(&openapi), "ExecutionRequest", &made, NULL) == 0);
    return made;
}

static void same(const struct cs_request *a, const struct cs_request *b)
{
    must(a->language == b->language && a->session_must_be_free == b->session_must_be_free);
    must(cs_str_eq(a->code, b->code) && cs_str_eq(a->intent, b->intent));
    must(cs_str_eq(a->session, b->session));
    must(memcmp(&a->limits, &b->limits, sizeof a->limits) == 0);
    must((a->inputs.len > 0) == (b->inputs.len > 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct cs_rest_read how = {schema(), 2000, 3000, 30000};
    CS_AUTO_JSON struct cs_json doc = {0}, again = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    CS_AUTO_BUF struct cs_buf canonical = {0};
    struct cs_request request = {0}, second = {0};
    struct cs_err err = {0};
    bool async = false, also = false;
    if (cs_rest_read_execution(&how, cs_strn((const char *)data, size), &doc, &arena, &request,
                               &async, &err) < 0) {
        must(err.code == CS_INVALID || err.code == CS_LIMIT);
        must(err.msg[0] != '\0');
        return 0;
    }
    must(request.code.len > 0 && request.code.len <= how.code_bytes);
    must(request.inputs.len <= how.inputs_bytes);
    must(!request.principal.len && !request.tenant.len && !request.key.len && !request.workspace);
    cs_put_canonical(&canonical, cs_json_root(&doc));
    /* It may be longer than it was written: a lone surrogate becomes a character of three bytes. */
    const struct cs_rest_read wide = {schema(), 2000, 10000, 30000};
    must(cs_rest_read_execution(&wide, cs_buf_str(&canonical), &again, &arena, &second, &also,
                                &err) == 0);
    same(&request, &second);
    must(async == also);
    return 0;
}
