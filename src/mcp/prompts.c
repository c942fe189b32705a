/* Prompts that teach the pattern, with what is really there in them. */
#include "base/utf8.h"
#include "mcp/house.h"

#define WORDS_BYTES 2000
#define FOUND_MOST  8

static void answer(struct cs_mcp_call *call, const char *about, struct cs_str text)
{
    CS_AUTO_BUF struct cs_buf result = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&result);
    cs_json_open(&w, '{');
    cs_json_key(&w, "description");
    cs_json_put_z(&w, about);
    cs_json_key(&w, "messages");
    cs_json_open(&w, '[');
    cs_json_open(&w, '{');
    cs_json_key(&w, "role");
    cs_json_put_z(&w, "user");
    cs_json_key(&w, "content");
    cs_json_open(&w, '{');
    cs_json_key(&w, "type");
    cs_json_put_z(&w, "text");
    cs_json_key(&w, "text");
    cs_json_put_str(&w, text);
    cs_json_close(&w, '}');
    cs_json_close(&w, '}');
    cs_json_close(&w, ']');
    cs_json_close(&w, '}');
    cs_mcp_result(call, cs_buf_str(&result));
}

static struct cs_str argument(struct cs_mcp_call *call, const char *name)
{
    struct cs_json_val arguments = cs_json_get(call->params, "arguments");
    struct cs_str text = cs_json_str(cs_json_get(arguments, name), &call->arena);
    return cs_utf8_cut(text, WORDS_BYTES);
}

/* --- the prompts --- */

static void use_tools(struct cs_mcp_call *call)
{
    struct cs_str task = argument(call, "task");
    CS_AUTO_BUF struct cs_buf text = {0};
    cs_buf_printf(
        &text,
        "%.*s\n\n"
        "Do this with one program: execute_code runs TypeScript next to the tools. Fetch, "
        "filter and join inside it, in parallel with Promise.all where calls do not "
        "depend on each other, and return only what answers the task. If a type is not "
        "clear, look it up first: search_tools with detail \"full\". If the program "
        "fails, mend the line that the error names and send it again.\n\n"
        "Tools that may fit:\n",
        CS_STR_ARG(task));
    cs_house_find(call, task, (struct cs_str){0}, CS_DETAIL_SUMMARY, FOUND_MOST, &text);
    cs_buf_puts(&text,
                "\nA program looks like this:\n"
                "const items = await tools.server.listItems({ state: 'open' });\n"
                "const late = items.filter((i) => i.age_days > 30);\n"
                "console.log(`${items.length} looked at`);\n"
                "return { late: late.length, worst: late.slice(0, 5).map((i) => i.title) };");
    answer(call, "Do a task with one program", cs_buf_str(&text));
}

static void explore(struct cs_mcp_call *call)
{
    struct cs_str topic = argument(call, "topic");
    struct cs_tools *tools = cs_house_options(call)->tools;
    CS_AUTO_BUF struct cs_buf text = {0};
    struct cs_str server = {0};
    if (tools && topic.len) {
        struct cs_catalogue *catalogue = cs_tools_current(tools);
        server = cs_arena_dup(&call->arena, cs_catalogue_server(catalogue, topic));
        cs_catalogue_unref(catalogue);
    }
    cs_buf_puts(&text, "Tell me in a few sentences what can be done with these tools");
    if (topic.len)
        cs_buf_printf(&text, " about: %.*s", CS_STR_ARG(topic));
    cs_buf_puts(&text, ". Group them by what they are for, say which ones change something, and "
                       "suggest two or three programs (execute_code) that would be useful. Look "
                       "further with search_tools where it is not clear.\n\n");
    /* A server by its name is shown whole; other words are searched for. */
    cs_house_find(call, server.len ? (struct cs_str){0} : topic, server, CS_DETAIL_SUMMARY,
                  server.len ? 0 : FOUND_MOST, &text);
    answer(call, "What the connected servers can do", cs_buf_str(&text));
}

static void on_found(struct cs_mcp_call *call, const struct cs_found *found)
{
    struct cs_str id = cs_utf8_cut(argument(call, "execution_id"), 64);
    CS_AUTO_BUF struct cs_buf text = {0};
    if (found->err.code != CS_OK) {
        cs_buf_printf(&text, "execution_id: there is no execution '%.*s' of yours", CS_STR_ARG(id));
        cs_mcp_error(call, CS_RPC_PARAMS, cs_buf_cstr(&text), (struct cs_str){0});
        return;
    }
    cs_buf_printf(&text,
                  "Find out why the execution %.*s did not do what it should, and mend the "
                  "program.\n\n",
                  CS_STR_ARG(id));
    if (found->running)
        cs_buf_puts(&text, "It is still running: get_execution with wait_ms waits for its end.");
    else
        cs_house_told(call, found->envelope, (struct cs_str){0}, &text);
    cs_buf_puts(&text, "\n\nget_execution with view \"logs\" or \"calls\" shows more. Look at the "
                       "line that the error names, at calls that failed, and at the real types of "
                       "those tools (search_tools with detail \"full\"). Then send the mended "
                       "program with execute_code, and say in a sentence what was wrong.");
    answer(call, "Why an execution failed", cs_buf_str(&text));
}

static void debug(struct cs_mcp_call *call)
{
    cs_house_look(call, argument(call, "execution_id"), 0, on_found);
}

/* --- the methods --- */

static const struct prompt {
    const char *name, *title, *about;
    const char *argument, *means;
    bool required, shows_tools;
    void (*get)(struct cs_mcp_call *call);
} prompts[] = {
    {"use-tools-with-code", "Do a task with one program",
     "A task, the tools that fit, and how to write one program for it", "task",
     "What is to be done, in words", true, true, use_tools},
    {"explore-tools", "Explore tools", "What the connected servers can do", "topic",
     "A server's name, or words; all servers without it", false, true, explore},
    {"debug-execution", "Debug an execution", "Why an execution failed, with all that is known",
     "execution_id", "ex_..., from an answer", true, false, debug},
};

void cs_house_prompts(struct cs_mcp_call *call)
{
    CS_AUTO_BUF struct cs_buf result = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&result);
    cs_json_open(&w, '{');
    cs_json_key(&w, "prompts");
    cs_json_open(&w, '[');
    for (size_t i = 0; i < CS_COUNT(prompts); i++) {
        const struct prompt *p = &prompts[i];
        cs_json_open(&w, '{');
        cs_json_key(&w, "name");
        cs_json_put_z(&w, p->name);
        cs_json_key(&w, "title");
        cs_json_put_z(&w, p->title);
        cs_json_key(&w, "description");
        cs_json_put_z(&w, p->about);
        cs_json_key(&w, "arguments");
        cs_json_open(&w, '[');
        cs_json_open(&w, '{');
        cs_json_key(&w, "name");
        cs_json_put_z(&w, p->argument);
        cs_json_key(&w, "description");
        cs_json_put_z(&w, p->means);
        cs_json_key(&w, "required");
        cs_json_put_bool(&w, p->required);
        cs_json_close(&w, '}');
        cs_json_close(&w, ']');
        cs_json_close(&w, '}');
    }
    cs_json_close(&w, ']');
    cs_json_close(&w, '}');
    cs_mcp_result(call, cs_buf_str(&result));
}

void cs_house_prompt(struct cs_mcp_call *call)
{
    struct cs_json_val name = cs_json_get(call->params, "name");
    CS_AUTO_BUF struct cs_buf text = {0};
    for (size_t i = 0; i < CS_COUNT(prompts); i++) {
        const struct prompt *p = &prompts[i];
        if (!cs_json_is(name, p->name))
            continue;
        bool complete = !p->required || argument(call, p->argument).len;
        if (complete && p->shows_tools)
            cs_house_when_listed(call, p->get);
        else if (complete)
            p->get(call);
        if (complete)
            return;
        cs_buf_printf(&text, "%s: is missing; %s", p->argument, p->means);
        cs_mcp_error(call, CS_RPC_PARAMS, cs_buf_cstr(&text), (struct cs_str){0});
        return;
    }
    cs_buf_puts(&text, "there is no such prompt; there are ");
    for (size_t i = 0; i < CS_COUNT(prompts); i++)
        cs_buf_printf(&text, "%s%s", i ? ", " : "", prompts[i].name);
    cs_mcp_error(call, CS_RPC_PARAMS, cs_buf_cstr(&text), (struct cs_str){0});
}
