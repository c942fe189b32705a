/* The door as a whole. */
#include "base/mem.h"
#include "mcp/inside.h"

struct cs_mcp {
    uv_loop_t *loop;
    struct cs_mcp_options options;
    const struct cs_mcp_offer *offer;
    void *own;
};

int cs_mcp_new(uv_loop_t *loop, const struct cs_mcp_options *options, struct cs_mcp **mcp,
               struct cs_err *err)
{
    struct cs_mcp *m = CS_NEW(struct cs_mcp);
    m->loop = loop;
    m->options = *options;
    m->offer = options->fixtures ? &cs_mcp_fixtures : &cs_mcp_house;
    if (m->offer->open && m->offer->open(m, &m->own, err) < 0) {
        free(m);
        return -1;
    }
    *mcp = m;
    return 0;
}

void cs_mcp_close(struct cs_mcp *mcp)
{
    if (!mcp)
        return;
    if (mcp->offer->close)
        mcp->offer->close(mcp->own);
    free(mcp);
}

void cs_mcp_set(struct cs_mcp *mcp, uint64_t answer_tokens, uint32_t timeout_ms)
{
    mcp->options.answer_tokens = answer_tokens;
    mcp->options.timeout_ms = timeout_ms;
}

const struct cs_mcp_options *cs_mcp_options(const struct cs_mcp *mcp)
{
    return &mcp->options;
}

uv_loop_t *cs_mcp_loop(const struct cs_mcp *mcp)
{
    return mcp->loop;
}

void *cs_mcp_own(const struct cs_mcp *mcp)
{
    return mcp->own;
}

void cs_mcp_tools_changed(struct cs_mcp *mcp)
{
    cs_mcp_list_changed(mcp, CS_MCP_TOOLS);
}

int cs_mcp_stdio(struct cs_mcp *mcp, int in, int out, const struct cs_caller *caller,
                 void (*ended)(void *ctx), void *ctx, struct cs_err *err)
{
    (void)mcp, (void)in, (void)out, (void)caller, (void)ended, (void)ctx;
    return cs_fail(err, CS_SYSTEM, "MCP over stdio is not there");
}

void cs_mcp_http(struct cs_mcp *mcp, struct cs_exchange *x, const struct cs_caller *caller)
{
    (void)mcp, (void)caller;
    cs_exchange_reply(x, 501, NULL, (struct cs_str){0});
}

void cs_mcp_figures(const struct cs_mcp *mcp, struct cs_mcp_figures *figures)
{
    (void)mcp;
    *figures = (struct cs_mcp_figures){0};
}

void cs_mcp_result(struct cs_mcp_call *call, struct cs_str result)
{
    (void)call, (void)result;
}

void cs_mcp_error(struct cs_mcp_call *call, int code, const char *message, struct cs_str data)
{
    (void)call, (void)code, (void)message, (void)data;
}

void cs_mcp_progress(struct cs_mcp_call *call, double progress, double total, struct cs_str message)
{
    (void)call, (void)progress, (void)total, (void)message;
}

void cs_mcp_log(struct cs_mcp_call *call, const char *level, const char *logger, struct cs_str data)
{
    (void)call, (void)level, (void)logger, (void)data;
}

bool cs_mcp_can_ask(const struct cs_mcp_call *call, enum cs_ask_kind kind)
{
    (void)call, (void)kind;
    return false;
}

void cs_mcp_ask(struct cs_mcp_call *call, uint64_t ask, const char *key, enum cs_ask_kind kind,
                struct cs_str params)
{
    (void)call, (void)ask, (void)key, (void)kind, (void)params;
}

void cs_mcp_ask_roots(struct cs_mcp_call *call, uint64_t ask, const char *key)
{
    (void)call, (void)ask, (void)key;
}

void cs_mcp_withdraw(struct cs_mcp_call *call, uint64_t ask)
{
    (void)call, (void)ask;
}

void cs_mcp_may_be_task(struct cs_mcp_call *call, struct cs_str id)
{
    (void)call, (void)id;
}

void cs_mcp_resource_updated(struct cs_mcp *mcp, struct cs_str tenant, struct cs_str uri)
{
    (void)mcp, (void)tenant, (void)uri;
}

void cs_mcp_list_changed(struct cs_mcp *mcp, enum cs_mcp_list list)
{
    (void)mcp, (void)list;
}
