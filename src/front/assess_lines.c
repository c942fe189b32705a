/*
 * Many programs through one process, for tests: a line of JSON in, a verdict out, in their order.
 *
 *     {"id": any, "code": "...", "language"?, "principal"?, "intent"?, "environment"?,
 *      "sensitive_inputs"?, "lately"?, "lately_bad"?,
 *      "tools"?: [{"server", "server_ident"?, "tool", "ident"?, "description"?, "input"?,
 *                  "annotations"?: {}, "trusted"?: true, "standing"?: "young"|"changed"}]}
 */
#include <stdio.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "front/assess_verb.h"
#include "front/verbs.h"

#define INPUT_MOST ((size_t)256 << 20)

struct lines {
    const struct cs_assess_args *args;
    struct cs_world *world;
    struct cs_buf text;
    struct cs_str rest;
    struct cs_json doc; /* of the line that is assessed */
    struct cs_arena arena;
    struct cs_str id;
    uv_timer_t soon;
};

static void next_line(struct lines *l);

static void on_soon(uv_timer_t *t)
{
    next_line(t->data);
}

static void put_line(struct lines *l, struct cs_str object)
{
    printf("{\"id\":%.*s,%.*s\n", CS_STR_ARG(l->id), (int)object.len - 1, object.at + 1);
    fflush(stdout);
    cs_json_done(&l->doc);
    cs_arena_done(&l->arena);
    l->arena = (struct cs_arena){0};
    uv_timer_start(&l->soon, on_soon, 0, 0);
}

static void refuse(struct lines *l, const struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf out = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&out);
    cs_json_open(&w, '{');
    cs_json_key(&w, "error");
    cs_json_put_z(&w, err->msg);
    cs_json_close(&w, '}');
    put_line(l, cs_buf_str(&out));
}

static void on_assessed(void *ctx, const struct cs_err *err, const struct cs_verdict *v)
{
    struct lines *l = ctx;
    CS_AUTO_BUF struct cs_buf out = {0};
    if (err->code) {
        refuse(l, err);
        return;
    }
    cs_verdict_json(v, &out);
    put_line(l, cs_buf_str(&out));
}

static struct cs_str text_of(struct lines *l, struct cs_json_val from, const char *key)
{
    return cs_json_str(cs_json_get(from, key), &l->arena);
}

static struct cs_str text_in(struct cs_json_val from, const char *key, struct cs_arena *arena)
{
    return cs_json_str(cs_json_get(from, key), arena);
}

void cs_assess_tool(struct cs_json_val from, struct cs_arena *arena, struct cs_tool_view *t)
{
    struct cs_json_val hints = cs_json_get(from, "annotations"),
                       standing = cs_json_get(from, "standing");
    struct cs_str server = text_in(from, "server", arena), tool = text_in(from, "tool", arena);
    struct cs_str server_ident = text_in(from, "server_ident", arena),
                  ident = text_in(from, "ident", arena);
    *t = (struct cs_tool_view){
        .target = {.server = server,
                   .server_ident = server_ident.len ? server_ident : server,
                   .tool = tool,
                   .ident = ident.len ? ident : tool},
        .description = text_in(from, "description", arena),
        .input = cs_json_raw(cs_json_get(from, "input")),
        .annotated = cs_json_count(hints) > 0,
        .destructive = true,
        .open_world = true,
        .trusted = true,
        .standing = cs_json_is(standing, "young")     ? CS_STANDING_YOUNG
                    : cs_json_is(standing, "changed") ? CS_STANDING_CHANGED
                                                      : CS_STANDING_KNOWN,
    };
    cs_json_bool(cs_json_get(hints, "readOnlyHint"), &t->read_only);
    cs_json_bool(cs_json_get(hints, "destructiveHint"), &t->destructive);
    cs_json_bool(cs_json_get(hints, "openWorldHint"), &t->open_world);
    if (t->read_only)
        t->destructive = false;
    cs_json_bool(cs_json_get(from, "trusted"), &t->trusted);
}

static uint32_t number_of(struct cs_json_val from, const char *key)
{
    int64_t n = 0;
    return cs_json_i64(cs_json_get(from, key), &n) && n > 0 && n < INT32_MAX ? (uint32_t)n : 0;
}

static int take_line(struct lines *l, struct cs_str line, struct cs_assess_request *r,
                     struct cs_err *err)
{
    struct cs_json_limits bounds = {.bytes = INPUT_MOST};
    l->id = CS_STR("null");
    if (cs_json_parse(line, &bounds, &l->doc, err) < 0)
        return -1;
    struct cs_json_val root = cs_json_root(&l->doc), tools = cs_json_get(root, "tools"), item;
    if (cs_json_type(cs_json_get(root, "id")) != CS_JSON_NONE)
        l->id = cs_json_raw(cs_json_get(root, "id"));
    *r = (struct cs_assess_request){
        .language = l->args->language,
        .code = text_of(l, root, "code"),
        .principal = text_of(l, root, "principal"),
        .intent = text_of(l, root, "intent"),
        .environment = text_of(l, root, "environment"),
        .sensitive_inputs = number_of(root, "sensitive_inputs"),
        .lately = number_of(root, "lately"),
        .lately_bad = number_of(root, "lately_bad"),
        .limits = cs_limits_default(),
    };
    struct cs_str language = text_of(l, root, "language");
    if (language.len && cs_language_parse(language, &r->language, err) < 0)
        return -1;
    if (cs_json_type(tools) != CS_JSON_ARRAY)
        return 0;
    struct cs_tool_view *views =
        cs_arena_alloc(&l->arena, (cs_json_count(tools) + 1) * sizeof *views);
    struct cs_json_iter it = {0};
    while (cs_json_next(tools, &it, NULL, &item))
        cs_assess_tool(item, &l->arena, &views[r->tool_count++]);
    r->tools = views;
    return 0;
}

static void next_line(struct lines *l)
{
    struct cs_str line = {0};
    while (l->rest.len && !line.len) {
        const char *end = memchr(l->rest.at, '\n', l->rest.len);
        size_t len = end ? (size_t)(end - l->rest.at) : l->rest.len;
        line = cs_strn(l->rest.at, len);
        l->rest = cs_strn(l->rest.at + len + (end != NULL), l->rest.len - len - (end != NULL));
    }
    if (!line.len) {
        uv_close((uv_handle_t *)&l->soon, NULL);
        cs_world_close(l->world, NULL, NULL);
        return;
    }
    struct cs_assess_request request;
    struct cs_err err = {0};
    if (take_line(l, line, &request, &err) < 0)
        refuse(l, &err);
    else
        cs_assess(l->world->runner, &request, on_assessed, l);
}

int cs_assess_lines(const struct cs_assess_args *args, struct cs_world *world, uv_loop_t *loop,
                    struct cs_err *err)
{
    struct lines l = {.args = args, .world = world};
    int status = cs_file_read_fd(STDIN_FILENO, INPUT_MOST, &l.text, err);
    uv_timer_init(loop, &l.soon);
    l.soon.data = &l;
    if (status == 0)
        l.rest = cs_buf_str(&l.text);
    uv_timer_start(&l.soon, on_soon, 0, 0);
    uv_run(loop, UV_RUN_DEFAULT);
    cs_buf_done(&l.text);
    return status < 0 ? -1 : CS_EXIT_OK;
}
