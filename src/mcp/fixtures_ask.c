/* Fixtures that ask the client something: rounds of questions, as fixtures.json has them. */
#include "mcp/fixtures.h"

static struct cs_json_val rounds_of(struct cs_mcp_call *call)
{
    struct cs_json_val name = cs_json_get(call->params, "name");
    struct cs_str text = cs_arena_dup(&call->arena, cs_json_str(name, &call->arena));
    return cs_json_get(cs_fixture_list(call->mcp, "questions"), text.at);
}

static struct cs_json_val round_of(const struct cs_fixture *f)
{
    struct cs_json_iter it = {0};
    struct cs_json_val round = {0};
    for (unsigned i = 0; i <= f->step; i++)
        if (!cs_json_next(rounds_of(f->call), &it, NULL, &round))
            return (struct cs_json_val){0};
    return round;
}

/* What the call itself says about the question. */
static void fill_in(struct cs_mcp_call *call, struct cs_json_val params, struct cs_buf *out)
{
    struct cs_json_val arguments = cs_json_get(call->params, "arguments");
    struct cs_json_val message = cs_json_get(arguments, "message");
    struct cs_json_val prompt = cs_json_get(arguments, "prompt");
    if (cs_json_type(message) == CS_JSON_STRING) {
        cs_buf_puts(out, "{\"message\":");
        cs_buf_putstr(out, cs_json_raw(message));
        cs_buf_puts(out, ",\"requestedSchema\":");
        cs_buf_putstr(out, cs_json_raw(cs_json_get(params, "requestedSchema")));
        cs_buf_putc(out, '}');
    } else if (cs_json_type(prompt) == CS_JSON_STRING) {
        cs_buf_puts(out, "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\","
                         "\"text\":");
        cs_buf_putstr(out, cs_json_raw(prompt));
        cs_buf_puts(out, "}}],\"maxTokens\":100}");
    } else {
        cs_buf_putstr(out, cs_json_raw(params));
    }
}

/* A client that knows the questions may bring the answers with its first request. */
static bool known(struct cs_fixture *f, const char *key)
{
    struct cs_json_val answer = cs_json_get(cs_json_get(f->call->params, "inputResponses"), key);
    if (cs_json_type(answer) != CS_JSON_OBJECT)
        return false;
    cs_buf_putc(&f->text, ' ');
    cs_buf_putstr(&f->text, cs_json_raw(answer));
    return true;
}

static void ask_round(struct cs_fixture *f)
{
    struct cs_mcp_call *call = f->call;
    struct cs_json_iter it = {0};
    struct cs_json_val q, round = round_of(f);
    bool only_possible =
        cs_json_is(cs_json_get(call->params, "name"), "test_input_required_result_capabilities");
    uint64_t number = 100 * f->step;
    while (cs_json_next(round, &it, NULL, &q)) {
        CS_AUTO_BUF struct cs_buf params = {0};
        int64_t kind = 0;
        struct cs_str key = cs_json_str(cs_json_get(q, "key"), &call->arena);
        const char *name = cs_arena_dup(&call->arena, key).at;
        cs_json_i64(cs_json_get(q, "kind"), &kind);
        if (only_possible && !cs_mcp_can_ask(call, (enum cs_ask_kind)kind))
            continue;
        if (known(f, name))
            continue;
        f->open++;
        fill_in(call, cs_json_get(q, "params"), &params);
        if (kind == CS_ASK_ROOTS)
            cs_mcp_ask_roots(call, number++, name);
        else
            cs_mcp_ask(call, number++, name, (enum cs_ask_kind)kind, cs_buf_str(&params));
    }
}

/* Everything is answered. */
static void finish(struct cs_fixture *f)
{
    struct cs_mcp_call *call = f->call;
    bool is_prompt = ((struct cs_req *)call)->offered->name[0] == 'p';
    if (cs_json_is(cs_json_get(call->params, "name"), "test_tool_with_task"))
        cs_fixture_become_task(call);
    if (is_prompt)
        cs_fixture_say_prompt(f, cs_buf_str(&f->text));
    else
        cs_fixture_say(f, cs_buf_str(&f->text), false);
}

static void on_answered(struct cs_mcp_call *call, uint64_t ask, struct cs_str result)
{
    struct cs_fixture *f = call->own;
    (void)ask;
    cs_buf_putc(&f->text, ' ');
    cs_buf_putstr(&f->text, result.len > 0 ? result : CS_STR("declined"));
    if (--f->open > 0)
        return;
    f->step++;
    ask_round(f);
    if (f->open == 0)
        finish(f);
}

static void start(struct cs_mcp_call *call)
{
    struct cs_fixture *f = cs_fixture_new(call);
    call->answered = on_answered;
    cs_buf_puts(&f->text, "state-ok:");
    ask_round(f);
    if (f->open == 0)
        finish(f);
}

static void start_task(struct cs_mcp_call *call)
{
    cs_fixture_become_task(call);
    start(call);
}

void cs_fixture_asking_prompt(struct cs_mcp_call *call)
{
    start(call);
}

const struct cs_fixture_tool cs_fixtures_asking[] = {
    {"test_input_required_result_elicitation", start},
    {"test_input_required_result_sampling", start},
    {"test_input_required_result_list_roots", start},
    {"test_input_required_result_request_state", start},
    {"test_input_required_result_tampered_state", start},
    {"test_input_required_result_multiple_inputs", start},
    {"test_input_required_result_multi_round", start},
    {"test_input_required_result_capabilities", start},
    {"test_elicitation", start},
    {"test_elicitation_sep1034_defaults", start},
    {"test_elicitation_sep1330_enums", start},
    {"test_sampling", start},
    {"test_tool_with_task", start},
    {"confirm_delete", start_task},
    {"multi_input", start_task},
    {0},
};
