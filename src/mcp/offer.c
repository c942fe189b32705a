/* What we offer: four small tools instead of hundreds of large ones. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/embed.h"
#include "base/mem.h"
#include "mcp/house.h"

CS_EMBED(tools_json, "src/mcp/tools.json")

struct cs_house *cs_house_of(const struct cs_mcp_call *call)
{
    return cs_mcp_own(call->mcp);
}

uint64_t cs_house_tokens(const struct cs_mcp_call *call)
{
    uint64_t tokens = cs_mcp_options(call->mcp)->answer_tokens;
    return tokens ? tokens : CS_MCP_ANSWER_TOKENS;
}

/* --- answers --- */

void cs_house_answer(struct cs_mcp_call *call, struct cs_str text, bool is_error)
{
    CS_AUTO_BUF struct cs_buf result = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&result);
    cs_json_open(&w, '{');
    cs_json_key(&w, "content");
    cs_json_open(&w, '[');
    cs_json_open(&w, '{');
    cs_json_key(&w, "type");
    cs_json_put_z(&w, "text");
    cs_json_key(&w, "text");
    cs_json_put_str(&w, text);
    cs_json_close(&w, '}');
    cs_json_close(&w, ']');
    if (is_error) {
        cs_json_key(&w, "isError");
        cs_json_put_bool(&w, true);
    }
    cs_json_close(&w, '}');
    cs_mcp_result(call, cs_buf_str(&result));
}

void cs_house_complain(struct cs_mcp_call *call, const char *fmt, ...)
{
    char text[2000];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    cs_house_answer(call, cs_str(text), true);
}

/* --- tools --- */

static const struct {
    const char *name;
    void (*call)(struct cs_mcp_call *call, struct cs_json_val arguments);
} tools[] = {
    {"search_tools", cs_house_search},
    {"execute_code", cs_house_execute},
    {"call_tool", cs_house_call},
    {"get_execution", cs_house_review},
};

static void list_tools(struct cs_mcp_call *call)
{
    cs_mcp_result(call, cs_buf_str(&cs_house_of(call)->list));
}

static void call_tool(struct cs_mcp_call *call)
{
    for (size_t i = 0; i < CS_COUNT(tools); i++)
        if (cs_json_is(cs_json_get(call->params, "name"), tools[i].name)) {
            tools[i].call(call, cs_json_get(call->params, "arguments"));
            return;
        }
    cs_mcp_error(call, CS_RPC_PARAMS, "there is no such tool", (struct cs_str){0});
}

/* --- the offer --- */

/* What stands between the tokens of a JSON text costs the model's context, too. */
static void compact(struct cs_str json, struct cs_buf *out)
{
    bool inside = false;
    for (size_t i = 0; i < json.len; i++) {
        char c = json.at[i];
        if (!inside && strchr(" \n", c))
            continue;
        cs_buf_putc(out, c);
        if (c == '"' && (i == 0 || json.at[i - 1] != '\\'))
            inside = !inside;
    }
}

static int open_house(struct cs_mcp *mcp, void **own, struct cs_err *err)
{
    (void)err;
    struct cs_house *h = CS_NEW(struct cs_house);
    h->mcp = mcp;
    compact(tools_json(), &h->list);
    *own = h;
    return 0;
}

static void close_house(void *own)
{
    struct cs_house *h = own;
    cs_buf_done(&h->list);
    free(h);
}

static const struct cs_mcp_method methods[] = {
    {"tools/list", list_tools},
    {"tools/call", call_tool},
    {"resources/list", cs_house_resources},
    {"resources/templates/list", cs_house_templates},
    {"resources/read", cs_house_read},
    {"prompts/list", cs_house_prompts},
    {"prompts/get", cs_house_prompt},
    {"completion/complete", cs_house_complete},
    {0},
};

const struct cs_mcp_offer cs_mcp_house = {
    .title = "Caisson",
    .instructions = "Search tools, write one program that uses them, return little.",
    .capabilities = CS_STR("{\"tools\":{\"listChanged\":true},"
                           "\"resources\":{\"subscribe\":true,\"listChanged\":true},"
                           "\"prompts\":{},\"completions\":{}}"),
    .methods = methods,
    .open = open_house,
    .close = close_house,
};
