/*
 * A server that says anything, to a client in any state. The first byte chooses era, transport and
 * who is there to be asked; then come instructions: a byte that says what happens next, and for
 * what the server says the text up to the next newline. In that text `$` stands for the id of our
 * last request and `#` for that of the one before, so that answers find their question. Whatever
 * comes, every call ends once, no list is anything but a JSON array, and the client can be closed.
 */
#include <stdint.h>

#define FAKE_KEPT 64
#include "../unit/tools/fake.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CALLS 64

struct state {
    struct fake *f;
    struct one {
        struct state *s;
        struct cs_client_call *call; /* NULL: it ended, or was cancelled */
        unsigned ended;
    } calls[CALLS];
    unsigned count;
    uint64_t asks[CALLS];
    unsigned ask_count;
};

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void on_done(void *ctx, const struct cs_client_result *result)
{
    struct one *one = ctx;
    must(one->ended++ == 0);
    one->call = NULL;
    must(result->err.code != CS_OK || (result->result.len >= 2 && result->result.at[0] == '{' &&
                                       result->result.at[result->result.len - 1] == '}'));
    must(strlen(result->err.msg) < sizeof result->err.msg);
}

static void on_progress(void *ctx, struct cs_str params)
{
    (void)ctx;
    must(params.len >= 2);
}

static void on_listed(void *ctx, struct cs_str tools)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_json_limits limits = {.depth = CS_JSON_DEEPEST, .allow_duplicate = true};
    (void)ctx;
    must(cs_json_parse(tools, &limits, &doc, NULL) == 0);
    must(cs_json_type(cs_json_root(&doc)) == CS_JSON_ARRAY);
}

static bool on_ask(void *ctx, const struct cs_client_ask *ask)
{
    struct state *s = ctx;
    must(ask->params.len >= 1);
    if (s->ask_count < CALLS)
        s->asks[s->ask_count++] = ask->id;
    if (ask->id % 5 == 0)
        cs_client_answer(s->f->client, ask->id, CS_STR("{\"action\":\"accept\"}"));
    return ask->id % 3 != 0;
}

/* Every message that we send is JSON of one line. */
static void check_sent(struct fake *f)
{
    for (unsigned i = 0; i < f->count; i++) {
        CS_AUTO_JSON struct cs_json doc = {0};
        struct cs_json_limits limits = {.depth = CS_JSON_DEEPEST + 8, .allow_duplicate = true};
        must(cs_json_parse(cs_str(f->sent[i].json), &limits, &doc, NULL) == 0);
        free(f->sent[i].json);
        free(f->sent[i].params);
    }
    f->count = 0;
}

static void say(struct state *s, const uint8_t *line, size_t len)
{
    struct cs_buf b = {0};
    for (size_t i = 0; i < len; i++) {
        uint64_t id = s->f->client->next_id - (line[i] == '#');
        if (line[i] == '$' || line[i] == '#')
            cs_buf_printf(&b, "%llu", (unsigned long long)id);
        else
            cs_buf_putc(&b, (char)line[i]);
    }
    /* A block of exactly that size, so that the sanitizer sees one byte too many. */
    size_t n = b.len;
    char *exact = cs_realloc(NULL, n + (n == 0), 1);
    if (n > 0)
        memcpy(exact, b.at, n);
    cs_buf_done(&b);
    uint64_t stream = s->f->server.is_http ? s->f->client->next_id : 0;
    if (s->f->open && !s->f->ending)
        s->f->base.events->message(s->f->base.ctx, cs_strn(exact, n), stream);
    free(exact);
}

static void call(struct state *s)
{
    if (s->count == CALLS)
        return;
    struct one *one = &s->calls[s->count++];
    one->s = s;
    struct cs_client_request request = {
        .tool = CS_STR("one"),
        .arguments = CS_STR("{\"a\":1}"),
        .schema = CS_STR("{\"properties\":{\"a\":{\"type\":\"integer\",\"x-mcp-header\":\"A\"}}}"),
        .timeout_ms = 60000,
        .max_result_bytes = 4096};
    one->call = cs_client_call(s->f->client, &request, on_progress, on_done, one);
}

static void cancel(struct state *s, unsigned which)
{
    struct one *one = s->count ? &s->calls[which % s->count] : NULL;
    if (!one || !one->call)
        return;
    cs_client_cancel(one->call);
    one->call = NULL;
    must(one->ended++ == 0);
}

/* Time goes by: everything that has a deadline has reached it. */
static void expire(struct state *s)
{
    struct cs_client *c = s->f->client;
    for (struct cs_link *l = c->requests.next; l != &c->requests; l = l->next)
        if (cs_link_request(l)->due != CS_NEVER)
            cs_link_request(l)->due = 0;
    if (c->connect_at != CS_NEVER)
        c->connect_at = 0;
    if (c->relist_at != CS_NEVER)
        c->relist_at = 0;
    if (c->listen_at != CS_NEVER)
        c->listen_at = 0;
    cs_client_wake(c, 0);
}

static void step(struct state *s, uint8_t what, uint8_t more)
{
    struct fake *f = s->f;
    struct cs_err err = {.code = CS_UPSTREAM, .msg = "trouble"};
    switch (what % 8) {
    case 0:
        call(s);
        break;
    case 1:
        cancel(s, more);
        break;
    case 2:
        expire(s);
        break;
    case 3:
        if (f->open && !f->ending)
            fake_end(f, "gone");
        break;
    case 4:
        if (f->open && !f->ending)
            f->base.events->failed(f->base.ctx, f->client->next_id - more % 2,
                                   (enum cs_trouble)(more / 2 % 5), more % 3 ? 404 : 503, &err);
        break;
    case 5:
        if (s->ask_count)
            cs_client_answer(f->client, s->asks[more % s->ask_count],
                             more & 1 ? CS_STR("{\"action\":\"accept\"}") : CS_STR(""));
        break;
    case 6:
        cs_client_refresh(f->client);
        break;
    case 7:
        f->refuses = more % 4 == 0;
        cs_client_connect(f->client);
        break;
    }
}

static void turn(struct fake *f)
{
    uv_run(f->loop, UV_RUN_NOWAIT);
    if (f->open && f->ending)
        fake_end(f, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *roots[] = {"file:///srv/x", NULL};
    static const struct cs_client_events events = {NULL, on_listed, NULL, on_ask, NULL};
    if (size < 1)
        return 0;
    static uv_loop_t loop;
    static bool once;
    if (!once)
        uv_loop_init(&loop);
    once = true;
    struct state s = {.f = fake_new_on(&loop)};
    struct fake *f = s.f;
    f->server.era = (enum cs_era)(data[0] % 3);
    f->server.is_http = data[0] & 4;
    f->options.can_elicit = f->options.can_sample = data[0] & 8;
    f->options.can_elicit_url = f->options.can_elicit;
    f->server.roots = data[0] & 16 ? roots : NULL;
    f->parts.probe = f->parts.connect = f->parts.person = f->parts.pace = 60000;
    f->parts.debounce = f->parts.backoff = f->parts.backoff_max = 60000;
    f->client = cs_client_new_with(f->loop, &f->server, &f->options, &events, &s, &f->parts);
    cs_client_connect(f->client);
    turn(f);
    for (size_t at = 1; at < size;) {
        uint8_t what = data[at++];
        if (what < 16) {
            step(&s, what, at < size ? data[at] : 0);
            at++;
        } else {
            /* Most of what happens is that it says something. */
            at -= what == '{' || what == '[';
            const uint8_t *end = memchr(data + at, '\n', size - at);
            size_t len = end ? (size_t)(end - (data + at)) : size - at;
            say(&s, data + at, len);
            at += len + 1;
        }
        check_sent(f);
        turn(f);
    }
    cs_client_close(f->client, fake_client_closed, f);
    while (!f->client_closed)
        fake_turn(f);
    f->client = NULL;
    check_sent(f);
    for (unsigned i = 0; i < s.count; i++)
        must(s.calls[i].ended == 1);
    fake_free(f);
    return 0;
}
