/* What an execution is called, and the request of one that makes a single call. */
#include <string.h>
#include <sys/random.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/time.h"
#include "run/inside.h"

void cs_make_id(const char *prefix, char *id)
{
    unsigned char bytes[16] = {0};
    size_t n = strlen(prefix);
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        abort(); /* the kernel's generator cannot fail once it is seeded */
    uint64_t now = (uint64_t)cs_time_ms();
    for (size_t i = 0; i < 6; i++)
        bytes[i] = (unsigned char)(now >> (8 * (5 - i)));
    memcpy(id, prefix, n);
    cs_hex(bytes, sizeof bytes, id + n);
}

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
    };
}
