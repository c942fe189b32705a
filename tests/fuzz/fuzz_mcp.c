/*
 * Clients that say anything, over lines and over HTTP. Each line of the input is one step: its
 * first byte says who speaks or what happens, the rest is what is said. In it `$` stands for the
 * last requestState, `#` for the id of our last request, `@` for the last id of a task. Whatever
 * comes, everything we say is JSON on one line, and the door can be closed.
 *
 *     L...  a line of the first client      l...  of the second, who is somebody else
 *     H...  in a session over HTTP          t     time passes
 *     r...  resume a stream                 c     the first client goes and comes back
 *     d...  a header's value, a state
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/proto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct state {
    uv_loop_t loop;
    struct cs_mcp *m;
    struct cs_peer *clients[2], *session;
    char seal[CS_SEAL_TEXT], ask[24], task[64];
    uint64_t later;
};

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void copy_text(char *to, size_t size, struct cs_str from)
{
    if (from.len == 0 || from.len >= size)
        return;
    memcpy(to, from.at, from.len);
    to[from.len] = '\0';
}

/* What a client would remember of it. */
static void remember(struct state *s, struct cs_json_val message)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_json_val result = cs_json_get(message, "result");
    struct cs_json_val task = cs_json_get(result, "taskId");
    if (cs_json_type(task) == CS_JSON_NONE)
        task = cs_json_get(cs_json_get(result, "task"), "taskId");
    copy_text(s->seal, sizeof s->seal, cs_json_str(cs_json_get(result, "requestState"), &arena));
    copy_text(s->task, sizeof s->task, cs_json_str(task, &arena));
    if (cs_json_type(cs_json_get(message, "method")) == CS_JSON_STRING)
        copy_text(s->ask, sizeof s->ask, cs_json_raw(cs_json_get(message, "id")));
}

static void on_said(struct cs_peer *peer, struct cs_str json, bool minor)
{
    CS_AUTO_BUF struct cs_buf line = {0};
    CS_AUTO_JSON struct cs_json doc = {0};
    const struct cs_json_limits limits = {.depth = 1024, .allow_duplicate = true};
    (void)minor;
    cs_json_line(&line, json);
    must(!memchr(line.at, '\n', line.len));
    must(cs_json_parse(cs_buf_str(&line), &limits, &doc, NULL) == 0);
    remember(peer->line, cs_json_root(&doc));
}

static struct cs_peer *client(struct state *s, const char *who)
{
    struct cs_caller caller = {.tenant = "default"};
    copy_text(caller.principal, sizeof caller.principal, cs_str(who));
    struct cs_peer *peer = cs_peer_new(s->m, CS_PEER_LINES, &caller);
    peer->line = s;
    peer->send = on_said;
    return peer;
}

static void fill_in(struct state *s, struct cs_str line, struct cs_buf *out)
{
    for (size_t i = 0; i < line.len; i++) {
        char c = line.at[i];
        if (c == '$' || c == '#' || c == '@')
            cs_buf_puts(out, c == '$' ? s->seal : c == '#' ? s->ask : s->task);
        else
            cs_buf_putc(out, c);
    }
}

/* As endpoint.c does it, without an exchange: the client is never there to hear it. */
static void in_session(struct state *s, struct cs_str text)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    if (cs_json_parse(text, &cs_rpc_limits, &doc, NULL) < 0)
        return;
    struct cs_json_val root = cs_json_root(&doc);
    enum cs_rpc_kind kind = cs_rpc_kind(root);
    if (kind == CS_RPC_NOTIFICATION || kind == CS_RPC_RESPONSE)
        cs_rpc_other(s->session, root);
    if (kind != CS_RPC_REQUEST)
        return;
    struct cs_wanted wanted = {.peer = s->session,
                               .stream = cs_stream_new(s->m, s->session, NULL, text.len % 2),
                               .version = s->session->version};
    if (wanted.version == CS_VNONE)
        wanted.version = CS_NEWEST_LEGACY;
    cs_req_start(&wanted, root);
}

static void decode(struct state *s, struct cs_str value)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_str out = {0};
    struct cs_seal seal;
    const unsigned char digest[32] = {0};
    if (cs_header_decode(value, &arena, &out))
        must(out.len <= value.len);
    must(!cs_unseal(s->m->key, value, digest, &seal));
}

static void pass_time(struct state *s)
{
    s->later += 300000;
    uint64_t now = cs_mcp_now() + s->later;
    for (struct cs_link *l = s->m->reqs.next; l != &s->m->reqs; l = l->next)
        cs_progress_tick(CS_OF(l, struct cs_req, all), now);
    for (struct cs_link *l = s->m->all_streams.next; l != &s->m->all_streams; l = l->next)
        cs_stream_tick(CS_OF(l, struct cs_stream, all), now);
    cs_ask_tick(s->m, now);
    cs_tasks_tick(s->m, now);
    uv_run(&s->loop, UV_RUN_NOWAIT);
}

static void step(struct state *s, struct cs_str line)
{
    CS_AUTO_BUF struct cs_buf text = {0};
    fill_in(s, cs_strn(line.at + 1, line.len - 1), &text);
    struct cs_str said = cs_buf_str(&text);
    switch (line.at[0]) {
    case 'L':
        cs_rpc_line(s->clients[0], said);
        break;
    case 'l':
        cs_rpc_line(s->clients[1], said);
        break;
    case 'H':
        in_session(s, said);
        break;
    case 'r':
        cs_stream_resume(s->session, said, NULL);
        break;
    case 'd':
        decode(s, said);
        break;
    case 't':
        pass_time(s);
        break;
    case 'c':
        cs_peer_close(s->clients[0]);
        s->clients[0] = client(s, "ada");
        break;
    default:
        break;
    }
    uv_run(&s->loop, UV_RUN_NOWAIT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct state s = {0};
    struct cs_mcp_options options = {.fixtures = true};
    struct cs_caller ada = {.principal = "ada", .tenant = "default"};
    uv_loop_init(&s.loop);
    must(cs_mcp_new(&s.loop, &options, &s.m, NULL) == 0);
    s.clients[0] = client(&s, "ada");
    s.clients[1] = client(&s, "eve");
    s.session = cs_session_new(s.m, &ada);
    const char *at = (const char *)data, *end = at + size;
    for (unsigned steps = 0; at < end && steps < 200; steps++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline ? newline : end;
        if (stop > at)
            step(&s, cs_strn(at, (size_t)(stop - at)));
        at = newline ? newline + 1 : end;
    }
    /* These have no descriptors that would close with the door. */
    cs_peer_close(s.clients[0]);
    cs_peer_close(s.clients[1]);
    cs_mcp_close(s.m);
    uv_run(&s.loop, UV_RUN_DEFAULT);
    must(uv_loop_close(&s.loop) == 0);
    return 0;
}
