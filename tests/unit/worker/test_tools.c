/* Tool calls as the program sees them: names, promises, errors, mistakes, and the end. */
#include "worker/cases.h"

#define GLOBALS "[\"fixture\",\"console\",\"github\",\"toString\",\"spare\"]"

static void with_servers(struct talk *t)
{
    t->globals = GLOBALS;
}

static void one_at_a_time(struct talk *t)
{
    t->globals = GLOBALS;
    t->calls_at_once = 1;
}

static void small_arguments(struct talk *t)
{
    t->argument_bytes = 1000;
}

static void short_time(struct talk *t)
{
    t->wall_ms = 700;
}

static void many_servers(struct talk *t)
{
    static char names[64 * 1024];
    size_t n = 0;
    for (int i = 0; i < 2000; i++)
        n += (size_t)snprintf(names + n, sizeof names - n, "%c\"server%d\"", i ? ',' : '[', i);
    snprintf(names + n, sizeof names - n, "]");
    t->globals = names;
}

static void called_echo(struct talk *t)
{
    assert_string_equal(cs_buf_cstr(&t->calls), "fixture.echo({\"n\":1})\n");
}

static void called_four_times(struct talk *t)
{
    assert_string_equal(cs_buf_cstr(&t->calls),
                        "fixture.echo({\"n\":1})\nfixture.echo({\"n\":2})\n"
                        "fixture.echo({\"n\":3})\nfixture.echo({\"n\":4})\n");
}

static void asked_for_tools(struct talk *t)
{
    assert_string_equal(
        cs_buf_cstr(&t->calls),
        "caisson.searchTools({\"query\":\"commits\",\"limit\":2,\"server\":\"github\"})\n");
}

static void called_nothing(struct talk *t)
{
    assert_int_equal(t->calls.len, 0);
}

static const struct file tree[] = {
    {"/mcp-servers/fixture/echo.ts",
     "/** Echoes.\n * @example\n * await echo({ a: 1 })\n */\n"
     "export async function echo(input: EchoInput): Promise<EchoOutput> {\n"
     "  return caisson.callTool(\"fixture\", \"echo\", input);\n}\n"
     "export type EchoInput = { a?: number };\nexport type EchoOutput = unknown;\n"
     "export default echo;\n"},
    {"/mcp-servers/fixture/odd.ts",
     "export async function odd(input: { a: number }): Promise<unknown> {\n"
     "    const { a } = input;\n    return await caisson.callTool('fixture', 'echo', { a });\n}\n"},
    {"/mcp-servers/plain/index.ts", "export { echo, type EchoInput } from \"../fixture/echo\";\n"
                                    "export { odd } from \"../fixture/odd\";\n"},
    {"/mcp-servers/fixture/index.ts",
     "export { echo } from './echo.ts';\nexport type { EchoInput } from './echo.ts';\n"
     "import { echo } from './echo.ts';\nexport default { echo };\n"},
    {"/workspace/helper.ts", "export const help = () => fixture.echo({ n: 9 });"},
    {0}};

static const struct worker_case cases[] = {
    /* names */
    {"a_server_is_a_global", "return (await fixture.echo({n: 1})).n", .result = "1",
     .tune = with_servers, .check = called_echo},
    {"and_the_same_as_in_tools", "return fixture === tools.fixture", .result = "true",
     .tune = with_servers},
    {"a_server_that_is_not_named_stays_unmade",
     "return [Object.getOwnPropertyNames(globalThis).includes('spa' + 're'), 'spa' + 're' in "
     "tools]",
     .result = "[false,true]", .tune = with_servers},
    {"a_variable_of_the_program_wins", "const github = 5; return github", .result = "5",
     .tune = with_servers},
    {"so_does_an_assigned_global", "globalThis.github = 6; return github", .result = "6",
     .tune = with_servers},
    {"builtins_are_not_replaced",
     "console.log('still here'); return [typeof console.log, (await tools.console.x({}).catch((e) "
     "=> e.server))]",
     .result = "[\"function\",\"console\"]", .log = "still here", .tune = with_servers},
    {"unknown_names_are_unknown", "return typeof gitlab", .result = "\"undefined\"",
     .tune = with_servers},
    {"an_imported_module_has_them_too",
     "import { help } from './helper.ts'; return (await help()).n", .result = "9", .files = tree,
     .tune = with_servers},
    {"tools_lists_the_servers",
     "return [Object.keys(tools), 'github' in tools, 'gitlab' in tools, JSON.stringify(tools), "
     "tools.hasOwnProperty('github')]",
     .result =
         "[[\"fixture\",\"console\",\"github\",\"toString\",\"spare\"],true,false,"
         "\"[\\\"fixture\\\",\\\"console\\\",\\\"github\\\",\\\"toString\\\",\\\"spare\\\"]\","
         "true]",
     .tune = with_servers},
    {"printing_is_friendly", "console.log(tools, github); return 1", .result = "1",
     .log = "info: tools { fixture, console, github, toString, spare } (servers; "
            "searchTools(query) finds their tools) [Server: github]",
     .tune = with_servers, .check = called_nothing},
    {"printing_no_servers", "console.log(tools); return 1", .log = "tools {} (no servers)"},
    {"two_thousand_servers",
     "return [Object.keys(tools).length, typeof server1999, typeof server0]",
     .result = "[2000,\"function\",\"function\"]", .tune = many_servers},
    {"three_spellings_of_an_import",
     "import { echo } from './mcp-servers/fixture/echo.ts';\n"
     "import * as all from '/mcp-servers/fixture/index.ts';\n"
     "import again from 'mcp-servers/fixture/echo';\n"
     "import fixtures from 'mcp-servers/fixture';\n"
     "return [echo === again, all.echo === echo, fixtures.echo === echo, await echo({a: 1})]",
     .result = "[true,true,true,{\"a\":1}]", .files = tree},

    {"an_index_has_a_default",
     "import plain from 'mcp-servers/plain'; import * as all from 'mcp-servers/plain';\n"
     "return [Object.keys(plain), plain.echo.name, plain === all, await plain.odd({ a: 3 })]",
     .result = "[[\"echo\",\"odd\"],\"echo\",true,{\"a\":3}]", .files = tree},
    {"a_tool_s_file_is_a_module_like_others",
     "import * as m from './mcp-servers/fixture/echo.ts';\n"
     "return [Object.keys(m), m.default === m.echo, (await import('mcp-servers/fixture/echo.ts')) "
     "=== m]",
     .result = "[[\"default\",\"echo\"],true,true]", .files = tree},
    {"a_name_that_a_tool_s_file_lacks",
     "import { ehco } from './mcp-servers/fixture/echo.ts'; ehco()", .type = "syntax_error",
     .contains = "It exports: default, echo.", .files = tree},

    /* finding */
    {"searchTools_is_a_list",
     "const found = await searchTools('commits', {limit: 2, server: 'github'});\n"
     "const names = []; for (const t of found) names.push(t.tool);\n"
     "return [names, found.length, found.total, found[0].tool, found.map((t) => t.path), "
     "JSON.parse(JSON.stringify(found)), found]",
     .result = "[[\"github.listCommits\",\"github.getCommit\"],2,212,\"github.listCommits\","
               "[\"/a\",\"/b\"],{\"tools\":[{\"tool\":\"github.listCommits\",\"path\":\"/a\"},"
               "{\"tool\":\"github.getCommit\",\"path\":\"/b\"}],\"total\":212},"
               "{\"tools\":[{\"tool\":\"github.listCommits\",\"path\":\"/a\"},{\"tool\":"
               "\"github.getCommit\",\"path\":\"/b\"}],\"total\":212}]",
     .check = asked_for_tools},
    {"searchTools_takes_one_object",
     "return (await caisson.searchTools({query: 'commits', limit: 2, server: 'github'})).total",
     .result = "212", .check = asked_for_tools},
    {"readToolDefinition_is_text",
     "return [await readToolDefinition('github/listCommits'), caisson.readToolDefinition === "
     "readToolDefinition]",
     .result = "[\"export async function github/listCommits\",true]"},

    /* errors */
    {"a_ToolError_says_everything",
     "try { await fixture.json() } catch (e) { return [e.name, e.message, e.server, e.tool, "
     "e.code, "
     "e.retryable, e.suggestion, e instanceof ToolError] }",
     .result = "[\"ToolError\",\"rate limited\",\"fixture\",\"json\",\"FAILED\",true,\"Wait a "
               "minute.\",true]",
     .tune = with_servers},
    {"uncaught_it_is_the_envelope_s_error", "const a = 1;\n  await fixture.json({});",
     .type = "upstream_error",
     .contains = "\"message\":\"fixture.json: rate limited\",\"line\":2,\"column\":17,\"snippet\":"
                 "\"  await fixture.json({});\\n                ^\"",
     .tune = with_servers},
    {"with_its_suggestion", "await fixture.json({});", .type = "upstream_error",
     .contains = "\"suggestion\":\"Wait a minute.\"", .tune = with_servers},
    {"the_host_may_give_the_type", "await fixture.typed({});", .type = "timeout_error",
     .tune = with_servers},
    {"but_no_other_than_it_has", "await fixture.odd({});", .type = "upstream_error",
     .tune = with_servers},
    {"the_line_is_that_of_the_call",
     "const work = [\n  fixture.echo({}),\n  fixture.denied({}),\n];\nawait Promise.all(work);",
     .type = "permission_error", .contains = "\"line\":3", .tune = with_servers},
    {"a_limit_of_a_tool_is_not_one_of_memory", "await fixture.busy({})", .type = "resource_error",
     .lacks = "\"memory\"", .tune = with_servers},
    {"a_wrapped_call_has_its_line",
     "import { echo } from './mcp-servers/fixture/echo.ts';\n"
     "await echo('x');",
     .type = "validation_error", .contains = "fixture.echo: the arguments must be one object",
     .files = tree},

    /* mistakes */
    {"a_property_of_a_promise", "const c = fixture.list({});\nconst n = c.length;\nreturn n",
     .type = "type_error", .contains = "\"line\":2", .tune = with_servers},
    {"the_mend_is_shown", "  const c = fixture.list({});\nreturn c.map((x) => x.id)",
     .type = "type_error",
     .contains = "\"suggestion\":\"Line 1: write `const c = await fixture.list({});`.\"",
     .tune = with_servers},
    {"also_of_an_imported_tool",
     "import { echo } from './mcp-servers/fixture/echo.ts';\nconst r = echo({ a: 1 });\nreturn "
     "r.a;",
     .type = "type_error", .contains = "Line 2: write `const r = await echo({ a: 1 });`.",
     .files = tree},
    {"iterating_a_promise", "for (const x of fixture.list({})) console.log(x)",
     .type = "type_error",
     .contains = "Line 1: write `for (const x of await fixture.list({})) console.log(x)`.",
     .tune = with_servers},
    {"destructuring_a_promise", "const { id } = tools.fixture.list({}); return id",
     .type = "type_error", .contains = "it has no 'id'; an `await` is missing"},
    {"a_promise_in_a_text", "return `there are ${fixture.list({})}`", .type = "type_error",
     .contains = "has no text", .tune = with_servers},
    {"a_promise_in_JSON", "return JSON.stringify({a: fixture.list({})})", .type = "type_error",
     .contains = "no JSON form", .tune = with_servers},
    {"a_promise_in_the_result", "return {a: 1, list: fixture.list({})}", .type = "type_error",
     .contains = "await", .tune = with_servers},
    {"a_promise_in_the_arguments", "await fixture.echo({list: fixture.list({})})",
     .type = "type_error", .contains = "fixture.list(...) is a promise", .tune = with_servers},
    {"returning_a_promise_just_works", "return fixture.list({})",
     .result = "[{\"id\":1},{\"id\":2}]", .tune = with_servers},
    {"it_is_a_promise_in_every_other_way",
     "const p = fixture.echo({n: 1}); return [p instanceof Promise, typeof p.then, "
     "Object.prototype.toString.call(p), await p.then((v) => v.n), await p.finally(() => 0), "
     "(await Promise.all([p, p])).length, await Promise.race([p]), p.hasOwnProperty('x'), "
     "Promise.resolve(p) === p, (await Promise.allSettled([p]))[0].status, p.constructor === "
     "Promise]",
     .result = "[true,\"function\",\"[object Promise]\",1,{\"n\":1},2,{\"n\":1},false,true,"
               "\"fulfilled\",true]",
     .tune = with_servers},
    {"printing_a_promise", "const p = fixture.echo({}); console.log(p); await p; return 1",
     .log = "Promise", .tune = with_servers},
    {"calling_a_server", "await tools.github({owner: 'x'})", .type = "type_error",
     .contains = "github is a server, not a tool", .tune = with_servers},
    {"positional_arguments", "await github.listCommits('owner', 'repo')",
     .type = "validation_error",
     .contains = "the arguments must be one object with names, not several values",
     .tune = with_servers, .check = called_nothing},
    {"positional_arguments_say_how", "await github.listCommits('owner')",
     .type = "validation_error", .contains = "Write github.listCommits({ name: value, ... })",
     .tune = with_servers},
    {"a_list_as_arguments", "await fixture.echo([1])", .type = "validation_error",
     .contains = "not an array", .tune = with_servers},
    {"a_tool_as_a_callback", "return Promise.all([{n: 1}, {n: 2}].map(fixture.echo))",
     .result = "[{\"n\":1},{\"n\":2}]", .tune = with_servers},
    {"no_arguments_are_an_empty_object",
     "return [await fixture.echo(), await fixture.echo(undefined), await fixture.echo(null)]",
     .result = "[{},{},{}]", .tune = with_servers},
    {"require", "const fs = require('fs')", .type = "runtime_error", .contains = "import"},
    {"large_arguments", "await tools.fixture.echo({a: 'x'.repeat(2000)})", .type = "resource_error",
     .contains = "\"limit\":{\"name\":\"arguments\",\"value\":1000", .tune = small_arguments},

    /* many at once, and the end */
    {"calls_beyond_the_limit_wait",
     "const all = await Promise.all([1, 2, 3, 4].map((n) => fixture.echo({n}))); return "
     "all.map((x) => x.n)",
     .result = "[1,2,3,4]", .tune = one_at_a_time, .check = called_four_times},
    {"a_call_without_await_is_finished", "fixture.echo({n: 1}); return 'done'",
     .result = "\"done\"", .log = "warn: The program ended without waiting for fixture.echo",
     .tune = with_servers, .check = called_echo},
    {"so_are_those_that_wait_their_turn",
     "[1, 2, 3, 4].forEach(async (n) => { await fixture.echo({n}); console.log('never'); }); "
     "return 'done'",
     .result = "\"done\"", .lacks = "never", .tune = one_at_a_time, .check = called_four_times},
    {"its_failure_is_told", "fixture.denied({}).catch(() => 0); return 1", .result = "1",
     .log = "warn: fixture.denied failed after the program's end: policy says no",
     .tune = with_servers},
    {"a_call_that_never_ends_does_not_cost_the_result", "tools.fixture.never({}); return 1",
     .result = "1", .tune = short_time},
    {"after_an_error_nothing_is_waited_for", "fixture.never({}); throw new Error('stop')",
     .type = "runtime_error", .contains = "stop", .tune = with_servers},
};

int main(void)
{
    return run_cases("worker_tools", cases, CS_COUNT(cases));
}
