/* The door as a whole. */
#include "mcp/mcp.h"

#include "base/mem.h"
#include "mcp/proto.h"

#define TICK_MS 1000u

static void on_tick(uv_timer_t *timer)
{
    struct cs_mcp *m = CS_OF(timer, struct cs_mcp, tick);
    uint64_t now = cs_mcp_now();
    for (struct cs_link *l = m->reqs.next; l != &m->reqs; l = l->next)
        cs_progress_tick(CS_OF(l, struct cs_req, all), now);
    for (struct cs_link *l = m->all_streams.next; l != &m->all_streams; l = l->next)
        cs_stream_tick(CS_OF(l, struct cs_stream, all), now);
    cs_ask_tick(m, now);
    cs_tasks_tick(m, now);
    cs_peers_tick(m, now);
}

static void on_soon(uv_timer_t *timer)
{
    cs_ask_soon(CS_OF(timer, struct cs_mcp, soon));
}

static void on_pace(uv_timer_t *timer)
{
    cs_progress_pace(CS_OF(timer, struct cs_mcp, pace));
}

void cs_mcp_soon(struct cs_mcp *m)
{
    if (!m->closing && !uv_is_active((uv_handle_t *)&m->soon))
        uv_timer_start(&m->soon, on_soon, 0, 0);
}

void cs_mcp_later(struct cs_mcp *m)
{
    if (!m->closing && !uv_is_active((uv_handle_t *)&m->pace))
        uv_timer_start(&m->pace, on_pace, CS_PROGRESS_PACE, 0);
}

static void free_mcp(struct cs_mcp *m)
{
    cs_json_done(&m->capabilities);
    explicit_bzero(m->key, sizeof m->key);
    free(m);
}

static void closed(struct cs_mcp *m)
{
    if (--m->handles == 0)
        free_mcp(m);
}

static void on_tick_closed(uv_handle_t *h)
{
    closed(CS_OF(h, struct cs_mcp, tick));
}

static void on_soon_closed(uv_handle_t *h)
{
    closed(CS_OF(h, struct cs_mcp, soon));
}

static void on_pace_closed(uv_handle_t *h)
{
    closed(CS_OF(h, struct cs_mcp, pace));
}

int cs_mcp_new(uv_loop_t *loop, const struct cs_mcp_options *options, struct cs_mcp **mcp,
               struct cs_err *err)
{
    struct cs_mcp *m = CS_NEW(struct cs_mcp);
    m->loop = loop;
    m->options = *options;
    m->offer = options->fixtures ? &cs_mcp_fixtures : &cs_mcp_house;
    cs_link_init(&m->peers);
    cs_link_init(&m->crowds);
    cs_link_init(&m->tasks);
    cs_link_init(&m->asks);
    cs_link_init(&m->reqs);
    cs_link_init(&m->all_streams);
    cs_random_bytes(m->key, sizeof m->key);
    struct cs_str caps = m->offer->capabilities;
    if (cs_json_parse(caps.len > 0 ? caps : CS_STR("{}"), NULL, &m->capabilities, err) < 0 ||
        (m->offer->open && m->offer->open(m, &m->own, err) < 0)) {
        free_mcp(m);
        return -1;
    }
    uv_timer_init(loop, &m->tick);
    uv_timer_init(loop, &m->soon);
    uv_timer_init(loop, &m->pace);
    m->handles = 3;
    uv_timer_start(&m->tick, on_tick, TICK_MS, TICK_MS);
    /* What keeps the loop alive is what clients want, not this. */
    uv_unref((uv_handle_t *)&m->tick);
    *mcp = m;
    return 0;
}

/* Those who listen are told that it is over; the others are cancelled. */
static void end_listeners(struct cs_mcp *m)
{
    for (struct cs_link *l = m->reqs.next, *next; l != &m->reqs; l = next) {
        struct cs_req *r = CS_OF(l, struct cs_req, all);
        next = l->next;
        if (r->listen)
            cs_listen_end(r);
    }
}

void cs_mcp_close(struct cs_mcp *m)
{
    if (!m)
        return;
    end_listeners(m);
    m->closing = true;
    while (!cs_link_alone(&m->peers)) {
        struct cs_peer *peer = CS_OF(m->peers.next, struct cs_peer, link);
        if (peer->kind == CS_PEER_LINES)
            cs_stdio_close(peer);
        else
            cs_peer_close(peer);
    }
    while (!cs_link_alone(&m->crowds))
        cs_peer_close(CS_OF(m->crowds.next, struct cs_peer, link));
    if (m->offer->close)
        m->offer->close(m->own);
    while (!cs_link_alone(&m->reqs))
        cs_req_free(CS_OF(m->reqs.next, struct cs_req, all));
    while (!cs_link_alone(&m->all_streams))
        cs_stream_cut(CS_OF(m->all_streams.next, struct cs_stream, all));
    cs_tasks_close(m);
    uv_close((uv_handle_t *)&m->tick, on_tick_closed);
    uv_close((uv_handle_t *)&m->soon, on_soon_closed);
    uv_close((uv_handle_t *)&m->pace, on_pace_closed);
}

void cs_mcp_set(struct cs_mcp *m, uint64_t answer_tokens, uint32_t timeout_ms)
{
    m->options.answer_tokens = answer_tokens;
    m->options.timeout_ms = timeout_ms;
}

const struct cs_mcp_options *cs_mcp_options(const struct cs_mcp *m)
{
    return &m->options;
}

uv_loop_t *cs_mcp_loop(const struct cs_mcp *m)
{
    return m->loop;
}

void *cs_mcp_own(const struct cs_mcp *m)
{
    return m->own;
}

void cs_mcp_tools_changed(struct cs_mcp *m)
{
    cs_mcp_list_changed(m, CS_MCP_TOOLS);
}

void cs_mcp_figures(const struct cs_mcp *m, struct cs_mcp_figures *figures)
{
    *figures = (struct cs_mcp_figures){
        .requests = m->requests, .errors = m->errors, .sessions = m->sessions};
    for (struct cs_link *l = m->all_streams.next; l != &m->all_streams; l = l->next) {
        const struct cs_stream *s = CS_OF(l, struct cs_stream, all);
        figures->streams += s->x && s->sse;
    }
}
