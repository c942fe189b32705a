/* A door with the fixtures, and a client at the other end whose lines are kept. */
#ifndef CS_TEST_MCP_FAKE_H
#define CS_TEST_MCP_FAKE_H

#include "test.h"

#include "mcp/proto.h"

struct fake {
    uv_loop_t loop;
    struct cs_mcp *m;
    struct cs_peer *peer;
    struct cs_buf said; /* one line each */
    struct cs_mcp_offer offer;
};

#define META                                                                 \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"," \
    "\"io.modelcontextprotocol/clientCapabilities\":"

static inline void fake_send(struct cs_peer *peer, struct cs_str json, bool minor)
{
    struct fake *f = peer->line;
    (void)minor;
    cs_json_line(&f->said, json);
    cs_buf_putc(&f->said, '\n');
}

static inline int fake_open(void **state)
{
    struct fake *f = calloc(1, sizeof *f);
    struct cs_mcp_options options = {.fixtures = true};
    struct cs_caller caller = {.principal = "ada", .tenant = "default"};
    struct cs_err err = {0};
    uv_loop_init(&f->loop);
    assert_int_equal(cs_mcp_new(&f->loop, &options, &f->m, &err), 0);
    f->peer = cs_peer_new(f->m, CS_PEER_LINES, &caller);
    f->peer->line = f;
    f->peer->send = fake_send;
    *state = f;
    return 0;
}

static inline void fake_hang_up(struct fake *f)
{
    if (f->peer)
        cs_peer_close(f->peer);
    f->peer = NULL;
}

static inline int fake_close(void **state)
{
    struct fake *f = *state;
    fake_hang_up(f);
    cs_mcp_close(f->m);
    uv_run(&f->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&f->loop), 0);
    cs_buf_done(&f->said);
    free(f);
    return 0;
}

static inline void fake_tell(struct fake *f, const char *line)
{
    cs_rpc_line(f->peer, cs_str(line));
}

/* Some turns of the loop, without waiting. */
static inline void fake_turn(struct fake *f)
{
    for (int i = 0; i < 4; i++)
        uv_run(&f->loop, UV_RUN_NOWAIT);
}

/* All that was said since the last time. */
/* Not in an argument of a macro, which may take it twice. */
static inline const char *fake_said(struct fake *f)
{
    static char text[65536];
    size_t n = f->said.len < sizeof text - 1 ? f->said.len : sizeof text - 1;
    if (n > 0)
        memcpy(text, f->said.at, n);
    text[n] = '\0';
    cs_buf_clear(&f->said);
    return text;
}

/* The text after `before` up to the next quote. */
static inline struct cs_str fake_cut(const char *text, const char *before)
{
    const char *at = strstr(text, before);
    assert_non_null(at);
    at += strlen(before);
    return cs_strn(at, strcspn(at, "\""));
}

#endif
