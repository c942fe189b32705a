/* What the conformance suite wants to see: lists, and everything that is answered at once. */
#include "mcp/fixtures.h"

#include "base/embed.h"
#include "base/mem.h"

CS_EMBED(fixtures_json, "src/mcp/fixtures.json")

#define PNG                                                                                        \
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJg" \
    "gg=="
#define WAV   "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA=="
#define TEXT  "{\"type\":\"text\",\"text\":\"A text for the test.\"}"
#define IMAGE "{\"type\":\"image\",\"data\":\"" PNG "\",\"mimeType\":\"image/png\"}"
#define RESOURCE                                                                 \
    "{\"type\":\"resource\",\"resource\":{\"uri\":\"test://embedded-resource\"," \
    "\"mimeType\":\"text/plain\",\"text\":\"An embedded resource.\"}}"

#define CAPABILITIES                                                        \
    "{\"tools\":{\"listChanged\":true},\"prompts\":{\"listChanged\":true}," \
    "\"resources\":{\"subscribe\":true,\"listChanged\":true},\"completions\":{}}"

struct own {
    struct cs_json lists;
    unsigned running; /* calls of several steps */
};

/* --- calls of several steps --- */

static void on_closed(uv_handle_t *h)
{
    struct cs_fixture *f = h->data;
    cs_buf_done(&f->text);
    free(f);
}

static void end(struct cs_fixture *f)
{
    if (!f->ended)
        ((struct own *)cs_mcp_own(f->mcp))->running--;
    f->ended = true;
    f->call = NULL;
    if (!uv_is_closing((uv_handle_t *)&f->timer))
        uv_close((uv_handle_t *)&f->timer, on_closed);
}

static void on_cancelled(struct cs_mcp_call *call)
{
    end(call->own);
}

static void on_strike(uv_timer_t *timer)
{
    struct cs_fixture *f = timer->data;
    if (f->call)
        f->strike(f);
}

struct cs_fixture *cs_fixture_new(struct cs_mcp_call *call)
{
    struct cs_fixture *f = CS_NEW(struct cs_fixture);
    f->call = call;
    f->mcp = call->mcp;
    ((struct own *)cs_mcp_own(f->mcp))->running++;
    uv_timer_init(cs_mcp_loop(call->mcp), &f->timer);
    f->timer.data = f;
    call->own = f;
    call->cancelled = on_cancelled;
    return f;
}

void cs_fixture_wait(struct cs_fixture *f, uint64_t ms, void (*strike)(struct cs_fixture *f))
{
    f->strike = strike;
    uv_timer_start(&f->timer, on_strike, ms, 0);
}

void cs_fixture_say(struct cs_fixture *f, struct cs_str text, bool error)
{
    struct cs_mcp_call *call = f->call;
    f->call = NULL;
    cs_mcp_text(call, text, error);
    end(f);
}

void cs_fixture_fail(struct cs_fixture *f, int code, const char *message)
{
    struct cs_mcp_call *call = f->call;
    end(f);
    cs_mcp_error(call, code, message, (struct cs_str){0});
}

/* --- tools that answer at once --- */

static const struct {
    const char *tool, *result;
} plain[] = {
    {"test_simple_text", "{\"content\":[" TEXT "]}"},
    {"test_image_content", "{\"content\":[" IMAGE "]}"},
    {"test_audio_content",
     "{\"content\":[{\"type\":\"audio\",\"data\":\"" WAV "\",\"mimeType\":\"audio/wav\"}]}"},
    {"test_embedded_resource", "{\"content\":[" RESOURCE "]}"},
    {"test_multiple_content_types", "{\"content\":[" TEXT "," IMAGE "," RESOURCE "]}"},
    {"test_error_handling",
     "{\"content\":[{\"type\":\"text\",\"text\":\"This tool always fails.\"}],\"isError\":true}"},
    {"json_schema_2020_12_tool", "{\"content\":[" TEXT "]}"},
    {"test_streaming_elicitation", "{\"content\":[" TEXT "]}"},
    {"test_x_mcp_header", "{\"content\":[" TEXT "]}"},
};

static struct cs_json_val argument(struct cs_mcp_call *call, const char *name)
{
    return cs_json_get(cs_json_get(call->params, "arguments"), name);
}

static void echo(struct cs_mcp_call *call)
{
    struct cs_json_val arguments = cs_json_get(call->params, "arguments");
    cs_mcp_text(call, cs_json_raw(arguments), false);
}

static void greet(struct cs_mcp_call *call)
{
    struct cs_str name = cs_json_str(argument(call, "name"), &call->arena);
    cs_mcp_text(call, cs_str(cs_arena_printf(&call->arena, "Hello, %.*s!", CS_STR_ARG(name))),
                false);
}

static void needs_sampling(struct cs_mcp_call *call)
{
    if (cs_mcp_can_ask(call, CS_ASK_SAMPLE))
        cs_mcp_text(call, CS_STR("Sampling is there."), false);
    else
        cs_req_needs((struct cs_req *)call, CS_STR("{\"sampling\":{}}"));
}

static void logs(struct cs_mcp_call *call)
{
    cs_mcp_log(call, "info", "fixture", CS_STR("\"A word.\""));
    cs_mcp_log(call, "warning", "fixture", CS_STR("\"A louder word.\""));
    cs_mcp_text(call, CS_STR("It has logged."), false);
}

static void tell_running(struct cs_mcp_call *call)
{
    const struct own *own = cs_mcp_own(call->mcp);
    cs_mcp_text(call, cs_str(cs_arena_printf(&call->arena, "%u", own->running)), false);
}

static void change_tools(struct cs_mcp_call *call)
{
    cs_mcp_list_changed(call->mcp, CS_MCP_TOOLS);
    cs_mcp_text(call, CS_STR("The tools have changed."), false);
}

static void change_prompts(struct cs_mcp_call *call)
{
    cs_mcp_list_changed(call->mcp, CS_MCP_PROMPTS);
    cs_mcp_text(call, CS_STR("The prompts have changed."), false);
}

static void update_resource(struct cs_mcp_call *call)
{
    cs_mcp_resource_updated(call->mcp, (struct cs_str){0}, CS_STR("test://watched-resource"));
    cs_mcp_text(call, CS_STR("The resource has changed."), false);
}

static const struct cs_fixture_tool at_once[] = {
    {"greet", greet},
    {"test_echo", echo},
    {"test_running", tell_running},
    {"test_missing_capability", needs_sampling},
    {"test_logging_tool", logs},
    {"test_trigger_tool_change", change_tools},
    {"test_trigger_prompt_change", change_prompts},
    {"test_trigger_resource_update", update_resource},
    {0},
};

static bool try(const struct cs_fixture_tool *tools, struct cs_mcp_call *call,
                struct cs_json_val name)
{
    for (; tools->name; tools++)
        if (cs_json_is(name, tools->name)) {
            tools->call(call);
            return true;
        }
    return false;
}

static void call_tool(struct cs_mcp_call *call)
{
    struct cs_json_val name = cs_json_get(call->params, "name");
    for (size_t i = 0; i < CS_COUNT(plain); i++)
        if (cs_json_is(name, plain[i].tool)) {
            cs_mcp_result(call, cs_str(plain[i].result));
            return;
        }
    if (!try(at_once, call, name) && !try(cs_fixtures_asking, call, name) &&
        !try(cs_fixtures_slow, call, name))
        cs_mcp_error(call, CS_RPC_PARAMS, "there is no such tool", (struct cs_str){0});
}

/* --- lists --- */

struct cs_json_val cs_fixture_list(const struct cs_mcp *mcp, const char *what)
{
    const struct own *own = cs_mcp_own(mcp);
    return cs_json_get(cs_json_root(&own->lists), what);
}

static void list(struct cs_mcp_call *call, const char *what)
{
    CS_AUTO_BUF struct cs_buf out = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&out);
    if (cs_json_type(cs_json_get(call->params, "cursor")) != CS_JSON_NONE) {
        cs_mcp_error(call, CS_RPC_PARAMS, "params.cursor is none of ours", (struct cs_str){0});
        return;
    }
    cs_json_open(&w, '{');
    cs_json_key(&w, what);
    cs_json_put_raw(&w, cs_json_raw(cs_fixture_list(call->mcp, what)));
    cs_json_close(&w, '}');
    cs_mcp_result(call, cs_buf_str(&out));
}

static void list_tools(struct cs_mcp_call *call)
{
    list(call, "tools");
}

static void list_prompts(struct cs_mcp_call *call)
{
    list(call, "prompts");
}

static void list_resources(struct cs_mcp_call *call)
{
    list(call, "resources");
}

static void list_templates(struct cs_mcp_call *call)
{
    list(call, "resourceTemplates");
}

/* --- resources, prompts, completion --- */

static void put_contents(struct cs_mcp_call *call, struct cs_str uri, const char *type,
                         const char *member, const char *text)
{
    CS_AUTO_BUF struct cs_buf out = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&out);
    cs_json_open(&w, '{');
    cs_json_key(&w, "contents");
    cs_json_open(&w, '[');
    cs_json_open(&w, '{');
    cs_json_key(&w, "uri");
    cs_json_put_str(&w, uri);
    cs_json_key(&w, "mimeType");
    cs_json_put_z(&w, type);
    cs_json_key(&w, member);
    cs_json_put_z(&w, text);
    cs_json_close(&w, '}');
    cs_json_close(&w, ']');
    cs_json_close(&w, '}');
    cs_mcp_result(call, cs_buf_str(&out));
}

static void read_resource(struct cs_mcp_call *call)
{
    struct cs_str uri = cs_json_str(cs_json_get(call->params, "uri"), &call->arena);
    const char *prefix = "test://template/";
    size_t n = strlen(prefix);
    if (cs_str_is(uri, "test://static-binary")) {
        put_contents(call, uri, "image/png", "blob", PNG);
    } else if (cs_str_is(uri, "test://static-text") || cs_str_is(uri, "test://watched-resource")) {
        put_contents(call, uri, "text/plain", "text", "A text that does not change.");
    } else if (cs_str_starts(uri, prefix) && cs_str_ends(uri, "/data") && uri.len > n + 5) {
        CS_AUTO_BUF struct cs_buf text = {0};
        struct cs_json_writer w = CS_JSON_WRITER(&text);
        cs_json_open(&w, '{');
        cs_json_key(&w, "id");
        cs_json_put_str(&w, cs_strn(uri.at + n, uri.len - n - 5));
        cs_json_close(&w, '}');
        put_contents(call, uri, "application/json", "text", cs_buf_cstr(&text));
    } else {
        CS_AUTO_BUF struct cs_buf data = {0};
        struct cs_json_writer w = CS_JSON_WRITER(&data);
        cs_json_open(&w, '{');
        cs_json_key(&w, "uri");
        cs_json_put_str(&w, uri);
        cs_json_close(&w, '}');
        cs_mcp_error(call, CS_RPC_PARAMS, "there is no such resource", cs_buf_str(&data));
    }
}

static void put_prompt(struct cs_mcp_call *call, struct cs_str content)
{
    CS_AUTO_BUF struct cs_buf out = {0};
    cs_buf_puts(&out, "{\"messages\":[{\"role\":\"user\",\"content\":");
    cs_buf_putstr(&out, content);
    cs_buf_puts(&out, "}]}");
    cs_mcp_result(call, cs_buf_str(&out));
}

static void put_text_prompt(struct cs_mcp_call *call, struct cs_str text)
{
    CS_AUTO_BUF struct cs_buf out = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&out);
    cs_json_open(&w, '{');
    cs_json_key(&w, "type");
    cs_json_put_z(&w, "text");
    cs_json_key(&w, "text");
    cs_json_put_str(&w, text);
    cs_json_close(&w, '}');
    put_prompt(call, cs_buf_str(&out));
}

void cs_fixture_say_prompt(struct cs_fixture *f, struct cs_str text)
{
    struct cs_mcp_call *call = f->call;
    f->call = NULL;
    put_text_prompt(call, text);
    end(f);
}

static void prompt_with_arguments(struct cs_mcp_call *call)
{
    CS_AUTO_BUF struct cs_buf text = {0};
    struct cs_json_val a = argument(call, "arg1"), b = argument(call, "arg2");
    if (cs_json_type(a) != CS_JSON_STRING || cs_json_type(b) != CS_JSON_STRING) {
        cs_mcp_error(call, CS_RPC_PARAMS, "arg1 and arg2 are required", (struct cs_str){0});
        return;
    }
    cs_buf_printf(&text, "Prompt with arguments: arg1='%.*s', arg2='%.*s'",
                  CS_STR_ARG(cs_json_str(a, &call->arena)),
                  CS_STR_ARG(cs_json_str(b, &call->arena)));
    put_text_prompt(call, cs_buf_str(&text));
}

static void prompt_with_resource(struct cs_mcp_call *call)
{
    CS_AUTO_BUF struct cs_buf out = {0};
    struct cs_json_val uri = argument(call, "resourceUri");
    struct cs_json_writer w = CS_JSON_WRITER(&out);
    cs_json_open(&w, '{');
    cs_json_key(&w, "type");
    cs_json_put_z(&w, "resource");
    cs_json_key(&w, "resource");
    cs_json_open(&w, '{');
    cs_json_key(&w, "uri");
    if (cs_json_type(uri) == CS_JSON_STRING)
        cs_json_put_raw(&w, cs_json_raw(uri));
    else
        cs_json_put_z(&w, "test://static-text");
    cs_json_key(&w, "mimeType");
    cs_json_put_z(&w, "text/plain");
    cs_json_key(&w, "text");
    cs_json_put_z(&w, "An embedded resource.");
    cs_json_close(&w, '}');
    cs_json_close(&w, '}');
    put_prompt(call, cs_buf_str(&out));
}

static void get_prompt(struct cs_mcp_call *call)
{
    struct cs_json_val name = cs_json_get(call->params, "name");
    if (cs_json_is(name, "test_simple_prompt"))
        put_prompt(call, CS_STR(TEXT));
    else if (cs_json_is(name, "test_prompt_with_image"))
        put_prompt(call, CS_STR(IMAGE));
    else if (cs_json_is(name, "test_prompt_with_arguments"))
        prompt_with_arguments(call);
    else if (cs_json_is(name, "test_prompt_with_embedded_resource"))
        prompt_with_resource(call);
    else if (cs_json_is(name, "test_input_required_result_prompt"))
        cs_fixture_asking_prompt(call);
    else
        cs_mcp_error(call, CS_RPC_PARAMS, "there is no such prompt", (struct cs_str){0});
}

static void complete(struct cs_mcp_call *call)
{
    cs_mcp_result(call, CS_STR("{\"completion\":{\"values\":[\"paris\",\"park\",\"party\"],"
                               "\"total\":3,\"hasMore\":false}}"));
}

/* --- the offer --- */

static int open_fixtures(struct cs_mcp *mcp, void **own, struct cs_err *err)
{
    struct own *o = CS_NEW(struct own);
    (void)mcp;
    if (cs_json_parse(fixtures_json(), NULL, &o->lists, err) < 0) {
        free(o);
        return cs_wrap(err, "fixtures.json");
    }
    *own = o;
    return 0;
}

static void close_fixtures(void *own)
{
    struct own *o = own;
    cs_json_done(&o->lists);
    free(o);
}

static const struct cs_mcp_method methods[] = {
    {"tools/list", list_tools},
    {"tools/call", call_tool},
    {"prompts/list", list_prompts},
    {"prompts/get", get_prompt},
    {"resources/list", list_resources},
    {"resources/templates/list", list_templates},
    {"resources/read", read_resource},
    {"completion/complete", complete},
    {0},
};

static const struct cs_mcp_header headers[] = {{"test_x_mcp_header", "region", "Region"}, {0}};

const struct cs_mcp_offer cs_mcp_fixtures = {
    .title = "Conformance fixtures",
    .instructions = "What the conformance suite wants to see.",
    .capabilities = {CAPABILITIES, sizeof CAPABILITIES - 1},
    .methods = methods,
    .open = open_fixtures,
    .close = close_fixtures,
    .headers = headers,
};
