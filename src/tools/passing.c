/* What servers ask, on its way up to whoever can be asked, and the answers on their way back. */
#include "base/mem.h"
#include "tools/inside.h"

void cs_tools_set_asker(struct cs_tools *t, const struct cs_asker *asker)
{
    t->asker = asker ? *asker : (struct cs_asker){0};
}

/* `server` NULL: by our id, else by the client's. NULL if it is not open. */
static struct cs_open_ask *take(struct cs_tools *t, const struct cs_server *server, uint64_t id)
{
    struct cs_open_ask **at = &t->asks;
    while (*at && !(server ? (*at)->server == server && (*at)->inner == id : (*at)->id == id))
        at = &(*at)->next;
    struct cs_open_ask *ask = *at;
    if (ask)
        *at = ask->next;
    return ask;
}

bool cs_server_asks(void *ctx, const struct cs_client_ask *question)
{
    struct cs_server *s = ctx;
    struct cs_tools *t = s->tools;
    if (!t->asker.ask || t->closing || s->retired)
        return false;
    CS_AUTO_ARENA struct cs_arena arena = {0};
    void **calls = NULL;
    size_t count = cs_calls_ctx(s, question->call_ctx, &arena, &calls);
    struct cs_open_ask *open = CS_NEW(struct cs_open_ask);
    *open = (struct cs_open_ask){t->asks, ++t->next_ask, question->id, s};
    t->asks = open;
    const struct cs_tool_ask ask = {
        .id = open->id,
        .server = cs_str(s->name),
        .kind = question->method[0] == 's' ? CS_ASK_SAMPLE
                : question->url            ? CS_ASK_URL
                                           : CS_ASK_FORM,
        .params = question->params,
        .calls = calls,
        .call_count = count,
    };
    if (t->asker.ask(t->asker.ctx, &ask))
        return true;
    /* It may be over already: then nothing is left to decline. */
    free(take(t, NULL, ask.id));
    return false;
}

void cs_server_withdraws(void *ctx, uint64_t inner)
{
    struct cs_server *s = ctx;
    struct cs_tools *t = s->tools;
    struct cs_open_ask *ask = take(t, s, inner);
    if (!ask)
        return;
    uint64_t id = ask->id;
    free(ask);
    if (t->asker.withdrawn)
        t->asker.withdrawn(t->asker.ctx, id);
}

void cs_tools_answer(struct cs_tools *t, uint64_t id, struct cs_str result)
{
    struct cs_open_ask *ask = take(t, NULL, id);
    if (!ask)
        return;
    struct cs_client *client = ask->server->client;
    uint64_t inner = ask->inner;
    free(ask);
    cs_client_answer(client, inner, result);
}
