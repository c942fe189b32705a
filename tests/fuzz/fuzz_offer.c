/*
 * What we offer over MCP meets foreign bytes in three pure places: the URI of a resource, the
 * schemas of a tool (its signature), and an envelope of the store that is shown piece by piece. The
 * first byte says which. A piece of a result is JSON, and all pieces together are all of it.
 */
#include <stdint.h>
#include <stdlib.h>

#include "mcp/house.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void uri(struct cs_str text)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_house_uri parts = {0};
    if (cs_house_uri(text, &arena, &parts) &&
        parts.kind.len + parts.first.len + parts.second.len > text.len)
        abort();
}

static void signature(struct cs_str schema)
{
    CS_AUTO_BUF struct cs_buf out = {0};
    const struct cs_tool tool = {.server_ident = CS_STR("s"),
                                 .ident = CS_STR("t"),
                                 .input = schema,
                                 .learned_output = schema};
    cs_house_signature(&tool, &out);
    if (out.len > 1000)
        abort();
}

/* Where the next piece begins; -1: this was the last. */
static int64_t piece(struct cs_str envelope, int64_t offset)
{
    CS_AUTO_BUF struct cs_buf out = {0};
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_err err = {0};
    const struct cs_json_limits deep = {.depth = 200};
    int64_t next = -1;
    cs_page(envelope, CS_VIEW_RESULT, (uint64_t)offset, 7, 300, &out);
    if (cs_json_parse(cs_buf_str(&out), &deep, &doc, &err) < 0)
        abort();
    if (cs_json_i64(cs_json_get(cs_json_root(&doc), "next_offset"), &next) && next <= offset)
        abort();
    return next;
}

static void pages(struct cs_str envelope)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_BUF struct cs_buf out = {0};
    if (cs_json_parse(envelope, NULL, &doc, NULL) < 0)
        return;
    int64_t offset = 0;
    for (int i = 0; i < 50 && offset >= 0; i++)
        offset = piece(envelope, offset);
    cs_page(envelope, CS_VIEW_LOGS, 0, UINT64_MAX, 300, &out);
    cs_page(envelope, CS_VIEW_CALLS, 0, UINT64_MAX, 300, &out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const parts[])(struct cs_str text) = {uri, signature, pages};
    if (size > 0)
        parts[data[0] % CS_COUNT(parts)](cs_strn((const char *)data + 1, size - 1));
    return 0;
}
