/*
 * Many requests through one daemon, for tests and benchmarks: a line of JSON in, an envelope out.
 *
 *     {"id": any, "code": "...", "language"?, "inputs"?, "timeout_ms"?, "memory_mb"?, "limits"?:
 * {}, "workspace"?,
 *      "clock"?: "live", "durable"?: true, "cache"?: "use"|"off"|"only"|"refresh",
 *      "privacy"?: "high" or {"level", "patterns", "words"}, "reveal"?: true}
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "front/run_verb.h"

#define LINE_MAX_BYTES (32u << 20)

struct batch {
    struct cs_run_args *args;
    struct cs_world world;
    uv_loop_t *loop;
    uv_poll_t stdin_poll;
    uv_idle_t stdin_idle;
    bool is_file, at_end, closing;
    struct cs_buf in;
    unsigned running;
};

struct item {
    struct batch *batch;
    struct cs_buf id; /* JSON */
};

static void pump(struct batch *b);

static void put_line(struct cs_str id, struct cs_str envelope)
{
    printf("{\"id\":%.*s,%.*s\n", CS_STR_ARG(id), (int)envelope.len - 1, envelope.at + 1);
    fflush(stdout);
}

static void on_done(void *ctx, const struct cs_result *r)
{
    struct item *item = ctx;
    CS_AUTO_BUF struct cs_buf line = {0};
    cs_envelope(r, &line);
    put_line(cs_buf_str(&item->id), cs_buf_str(&line));
    struct batch *b = item->batch;
    cs_buf_done(&item->id);
    free(item);
    b->running--;
    pump(b);
}

static void refuse(struct cs_str id, const struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf out = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&out);
    cs_json_open(&w, '{');
    cs_json_key(&w, "status");
    cs_json_put_z(&w, "failed");
    cs_json_key(&w, "error");
    cs_json_open(&w, '{');
    cs_json_key(&w, "type");
    cs_json_put_z(&w, "validation_error");
    cs_json_key(&w, "message");
    cs_json_put_z(&w, err->msg);
    cs_json_close(&w, '}');
    cs_json_close(&w, '}');
    put_line(id, cs_buf_str(&out));
}

static int take_limits(struct cs_json_val root, struct cs_limits *limits, struct cs_err *err)
{
    int64_t n;
    if (cs_json_i64(cs_json_get(root, "timeout_ms"), &n) && n > 0)
        limits->wall_clock = (uint64_t)n;
    if (cs_json_i64(cs_json_get(root, "memory_mb"), &n) && n > 0)
        limits->memory = (uint64_t)n << 20;
    struct cs_json_iter it = {0};
    struct cs_json_val key, value;
    CS_AUTO_ARENA struct cs_arena arena = {0};
    while (cs_json_next(cs_json_get(root, "limits"), &it, &key, &value)) {
        struct cs_str name = cs_json_str(key, &arena), raw = cs_json_raw(value);
        if (cs_limits_assign(
                limits, cs_arena_printf(&arena, "%.*s=%.*s", CS_STR_ARG(name), CS_STR_ARG(raw)),
                err) < 0)
            return -1;
    }
    return 0;
}

static int take_record(struct cs_json_val root, struct cs_request *request, struct cs_err *err)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_json_val clock = cs_json_get(root, "clock"), cache = cs_json_get(root, "cache");
    if (cs_json_is(clock, "live"))
        request->clock = CS_CLOCK_LIVE;
    else if (cs_json_type(clock) != CS_JSON_NONE && !cs_json_is(clock, "events"))
        return cs_fail(err, CS_INVALID, "\"clock\" must be \"live\" or \"events\"");
    if (cs_json_type(cache) != CS_JSON_NONE &&
        !cs_cache_mode_parse(cs_json_str(cache, &arena), &request->cache))
        return cs_fail(err, CS_INVALID, "\"cache\" must be use, off, only or refresh");
    cs_json_bool(cs_json_get(root, "durable"), &request->durable);
    return 0;
}

static int take_privacy(struct batch *b, struct cs_json_val root, struct cs_arena *arena,
                        struct cs_request *request, struct cs_err *err)
{
    struct cs_privacy_wish wish;
    if (cs_privacy_wish(b->world.privacy, cs_json_get(root, "privacy"), arena, &wish, err) < 0)
        return -1;
    request->privacy = wish.level;
    request->customs = wish.customs;
    request->custom_count = wish.custom_count;
    cs_json_bool(cs_json_get(root, "reveal"), &request->reveal);
    return 0;
}

static int start(struct batch *b, struct cs_json_val root, struct cs_str id, struct cs_err *err)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_json_val code = cs_json_get(root, "code"), lang = cs_json_get(root, "language");
    struct cs_request request = {.language = b->args->language,
                                 .limits = b->args->limits,
                                 .durable = b->args->durable,
                                 .clock = b->args->clock,
                                 .cache = b->args->cache,
                                 .reveal = b->args->reveal};
    if (cs_json_type(code) != CS_JSON_STRING)
        return cs_fail(err, CS_INVALID, "a request needs \"code\", a string");
    if (cs_json_type(lang) == CS_JSON_STRING &&
        cs_language_parse(cs_json_str(lang, &arena), &request.language, err) < 0)
        return -1;
    if (take_limits(root, &request.limits, err) < 0 || take_record(root, &request, err) < 0 ||
        take_privacy(b, root, &arena, &request, err) < 0)
        return -1;
    request.code = cs_json_str(code, &arena);
    request.inputs = cs_json_raw(cs_json_get(root, "inputs"));
    struct cs_str workspace =
        cs_arena_dup(&arena, cs_json_str(cs_json_get(root, "workspace"), &arena));
    request.workspace = workspace.len ? workspace.at : NULL;
    struct item *item = CS_NEW(struct item);
    item->batch = b;
    cs_buf_putstr(&item->id, id);
    b->running++;
    cs_run_start(b->world.runner, &request, NULL, on_done, item);
    return 0;
}

static void take_line(struct batch *b, struct cs_str line)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_json_limits bounds = {.bytes = LINE_MAX_BYTES, .depth = 1100};
    struct cs_err err = {0};
    struct cs_str id = CS_STR("null");
    int result = cs_json_parse(line, &bounds, &doc, &err);
    if (result == 0) {
        struct cs_json_val given = cs_json_get(cs_json_root(&doc), "id");
        if (cs_json_type(given) != CS_JSON_NONE)
            id = cs_json_raw(given);
        result = start(b, cs_json_root(&doc), id, &err);
    }
    if (result < 0)
        refuse(id, &err);
}

static void finish(struct batch *b)
{
    b->closing = true;
    if (b->is_file)
        uv_close((uv_handle_t *)&b->stdin_idle, NULL);
    else
        uv_close((uv_handle_t *)&b->stdin_poll, NULL);
    cs_world_close(&b->world, NULL, NULL);
}

static void pump(struct batch *b)
{
    while (b->running < b->args->jobs && b->in.len) {
        const char *newline = memchr(b->in.at, '\n', b->in.len);
        if (!newline && !b->at_end)
            break;
        size_t len = newline ? (size_t)(newline - b->in.at) : b->in.len;
        if (len)
            take_line(b, cs_strn(b->in.at, len));
        cs_buf_drop(&b->in, len + (newline != NULL));
    }
    if (b->at_end && !b->in.len && !b->running && !b->closing)
        finish(b);
}

static void read_some(struct batch *b)
{
    ssize_t n = read(STDIN_FILENO, cs_buf_room(&b->in, 65536), 65536);
    if (n > 0)
        cs_buf_added(&b->in, (size_t)n);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR) || b->in.len > LINE_MAX_BYTES) {
        b->at_end = true;
        if (b->is_file)
            uv_idle_stop(&b->stdin_idle);
        else
            uv_poll_stop(&b->stdin_poll);
    }
    pump(b);
}

static void on_readable(uv_poll_t *h, int status, int events)
{
    (void)status;
    (void)events;
    read_some(h->data);
}

/* A file is always readable, and epoll does not take it. */
static void on_idle(uv_idle_t *h)
{
    read_some(h->data);
}

int cs_run_batch(struct cs_run_args *args, struct cs_err *err)
{
    struct batch b = {.args = args, .loop = uv_default_loop()};
    args->sandbox.pool = args->jobs + 2;
    struct cs_world_options world = {.config = args->config,
                                     .policy = args->policy,
                                     .watch = true,
                                     .sandbox = &args->sandbox,
                                     .settings = &args->settings,
                                     .no_record = args->no_record,
                                     .no_privacy = args->no_privacy};
    if (cs_world_open(b.loop, &world, &b.world, err) < 0)
        return -1;
    b.is_file = uv_guess_handle(STDIN_FILENO) == UV_FILE;
    b.stdin_idle.data = b.stdin_poll.data = &b;
    if (b.is_file) {
        uv_idle_init(b.loop, &b.stdin_idle);
        b.stdin_idle.data = &b;
        uv_idle_start(&b.stdin_idle, on_idle);
    } else {
        uv_poll_init(b.loop, &b.stdin_poll, STDIN_FILENO);
        b.stdin_poll.data = &b;
        uv_poll_start(&b.stdin_poll, UV_READABLE, on_readable);
    }
    uv_run(b.loop, UV_RUN_DEFAULT);
    uv_loop_close(b.loop);
    cs_buf_done(&b.in);
    return CS_EXIT_OK;
}
