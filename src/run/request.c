/* One call, as the request of an execution that makes it. */
#include "base/json.h"
#include "run/run.h"

struct cs_request cs_request_call(struct cs_str server, struct cs_str tool, struct cs_str arguments,
                                  struct cs_buf *inputs)
{
    struct cs_json_writer w = CS_JSON_WRITER(inputs);
    cs_json_open(&w, '{');
    cs_json_key(&w, "server");
    cs_json_put_str(&w, server);
    cs_json_key(&w, "tool");
    cs_json_put_str(&w, tool);
    cs_json_key(&w, "arguments");
    cs_json_put_raw(&w, arguments.len ? arguments : CS_STR("{}"));
    cs_json_close(&w, '}');
    return (struct cs_request){
        .language = CS_TYPESCRIPT,
        .code = CS_STR("return caisson.callTool(inputs.server, inputs.tool, inputs.arguments)"),
        .inputs = cs_buf_str(inputs),
        .limits = cs_limits_default(),
        .cache = CS_CACHE_OFF, /* who asks for one call means that call */
        .by_hand = true,
    };
}
