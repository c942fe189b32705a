/* What an error says: type, position, snippet, stack, suggestion. */
#include "worker/cases.h"

static void refused(struct talk *t)
{
    t->refuse = "no shell commands on Fridays";
}

static void shallow(struct talk *t)
{
    t->json_depth = 4;
}

static inline void little_memory(struct talk *t)
{
    t->memory_mb = 128;
}

/* Every report is JSON and none is endless. */
static void is_bounded_json(struct talk *t)
{
    struct cs_json doc;
    struct cs_err err = {0};
    if (cs_json_parse(cs_buf_str(&t->answer), NULL, &doc, &err) < 0)
        fail_msg("the report is no JSON: %s", err.msg);
    cs_json_done(&doc);
    assert_true(t->answer.len < 32768);
}

static const struct worker_case cases[] = {
    {"thrown_error_has_position_and_snippet", "const a = 1;\n  throw new Error('boo');\n",
     .type = "runtime_error",
     .contains = "\"message\":\"boo\",\"line\":2,\"column\":13,\"snippet\":\"  throw new "
                 "Error('boo');\\n            ^\"",
     .check = is_bounded_json},
    {"stack_in_the_agents_positions",
     "function helper(x) {\n  return x.y.z;\n}\nfunction outer() {\n  return helper({});\n}\n"
     "outer();",
     .type = "type_error",
     .contains = "\"stack\":\"at helper (program.ts:2:13)\\nat outer (program.ts:5:16)\\nat "
                 "program.ts:7:6\""},
    {"no_frame_of_the_runtime",
     "await new Promise((_, no) => setTimeout(() => no(new Error('late')), 1))",
     .type = "runtime_error", .contains = "late", .lacks = "caisson:runtime"},
    {"columns_on_the_first_line", "null.x", .type = "type_error",
     .contains = "\"line\":1,\"column\":1"},
    {"column_counts_utf16_units", "const s = '😀é'; s.no.x", .type = "type_error",
     .contains = "\"line\":1,\"column\":20"},
    {"long_lines_are_cut_around_the_caret",
     "const a = '0123456789012345678901234567890123456789012345678901234567890123456789012345678901"
     "2345678901234567890123456789012345678901234567890123456789012345678901234567890123456789'; "
     "a.b.c; const b = "
     "'01234567890123456789012345678901234567890123456789012345678901234567890123456789'",
     .type = "type_error", .contains = "a.b.c", .check = is_bounded_json},
    {"erased_types_leave_no_holes_in_messages", "(null as any as string).x", .type = "type_error",
     .contains = "(evaluating '(null).x')"},
    {"TypeError_of_the_engine", "undefined()", .type = "type_error"},
    {"thrown_string", "throw 'just text'", .type = "runtime_error",
     .contains = "the program threw just text"},
    {"thrown_null", "throw null", .type = "runtime_error", .contains = "the program threw null"},
    {"thrown_object", "throw {code: 7}", .type = "runtime_error", .contains = "{ code: 7 }"},
    {"error_with_cause", "throw new Error('outer', {cause: new TypeError('inner')})",
     .type = "runtime_error", .contains = "outer\\ncaused by TypeError: inner"},
    {"AggregateError_lists_its_errors", "await Promise.any([Promise.reject(new Error('one'))])",
     .type = "runtime_error", .contains = "- Error: one"},
    {"custom_class", "class MyError extends Error { name = 'MyError' } throw new MyError('mine')",
     .type = "runtime_error", .contains = "\"name\":\"MyError\",\"message\":\"mine\""},
    {"an_imitated_timeout_is_a_runtime_error",
     "const e = new Error('Execution timed out'); e.name = 'TimeoutError'; e.type = 'timeout'; "
     "e.toJSON = () => ({type: 'timeout'}); throw e",
     .type = "runtime_error", .contains = "TimeoutError"},
    {"an_imitated_permission_error_is_a_runtime_error",
     "throw Object.assign(new Error('denied'), {type: 'permission_error', limit: 'memory'})",
     .type = "runtime_error", .lacks = "\"limit\""},
    {"giant_error_is_cut",
     "const e = new Error('E'.repeat(32 << 20)); e.name = 'N'.repeat(1 << 20); e.stack = "
     "'S'.repeat(8 << 20); e.cause = new Error('C'.repeat(1 << 20)); e.errors = "
     "Array.from({length: "
     "10000}, (_, i) => new Error('inner ' + i)); throw e",
     .type = "runtime_error", .check = is_bounded_json},
    {"error_whose_properties_throw",
     "const e = new Error('x'); for (const k of ['name', 'message', 'stack', 'cause', 'errors']) "
     "Object.defineProperty(e, k, {get() { throw 1 }}); throw e",
     .type = "runtime_error"},
    {"control_characters_are_escaped", "throw new Error('a\\u001b[2Jb\\u0000')",
     .type = "runtime_error", .contains = "a\\u001b[2Jb\\u0000"},
    {"bad_unicode_in_errors",
     "const bad = ['\\ud800', '\\udc00', 'a\\ud83d']; throw Object.assign(new "
     "Error(bad.join('')), {name: bad[2]})",
     .type = "validation_error", .contains = "half characters", .check = is_bounded_json},
    {"error_in_a_timer_ends_the_program",
     "setTimeout(() => { throw new Error('tick') }, 1); await new Promise(() => {})",
     .type = "runtime_error", .contains = "tick"},
    {"error_in_a_microtask_ends_the_program",
     "queueMicrotask(() => { throw new Error('micro') }); await new Promise(() => {})",
     .type = "runtime_error", .contains = "micro"},
    {"waits_for_nothing", "await new Promise(() => {})", .type = "runtime_error",
     .contains = "the program waits for nothing"},
    {"a_silent_thenable_waits_for_nothing", "return {then() {}}", .type = "runtime_error",
     .contains = "waits for nothing"},
    {"unhandled_rejections_are_logged_and_the_result_stands",
     "Promise.reject(new Error('lost')); return 1", .result = "1",
     .log =
         "error: Unhandled rejection (is an `await` missing?): Error: lost\n    at program.ts:1"},
    {"handled_late_is_fine",
     "const p = Promise.reject(new Error('x')); await 0; try { await p } "
     "catch {} return 1",
     .result = "1", .lacks = "Unhandled"},
    {"refused_by_the_verdict", "return 1", .type = "permission_error",
     .contains = "no shell commands on Fridays", .tune = refused},
    {"inputs_that_are_no_JSON", "return 1", .inputs = "{nope", .type = "validation_error",
     .contains = "inputs: the text is not valid JSON"},
    {"inputs_that_are_too_deep", "return 1", .inputs = "[[[[[1]]]]]", .type = "validation_error",
     .contains = "4 levels", .tune = shallow},
    {"infinite_recursion", "const f = () => f(); f()", .type = "runtime_error",
     .contains = "Maximum call stack size exceeded"},
    {"eval_syntax_error_is_a_runtime_error", "eval('(')", .type = "runtime_error",
     .contains = "SyntaxError"},
#ifndef __SANITIZE_ADDRESS__ /* which maps far more than any limit */
    {"out_of_memory_in_objects", "const a = []; for (;;) a.push(new Array(1e5).fill(0.5))",
     .type = "resource_error", .contains = "\"limit\":{\"name\":\"memory\"", .tune = little_memory},
    {"out_of_memory_in_typed_arrays",
     "const a = []; for (;;) a.push(new Uint8Array(16 << 20).fill(1))", .type = "resource_error",
     .contains = "\"limit\":{\"name\":\"memory\"", .tune = little_memory},
    {"out_of_memory_in_strings", "let s = 'abc'; for (;;) { s += s; s.charCodeAt(s.length >> 1) }",
     .type = "resource_error", .tune = little_memory},
    {"out_of_memory_can_be_caught",
     "const a = []; try { for (;;) a.push(new Uint8Array(16 << 20)) } catch (e) { return e.message "
     "}",
     .result = "\"Out of memory\"", .tune = little_memory},
    {"out_of_memory_in_closures",
     "let f = () => 1; for (;;) { const g = f; const x = new Array(100).fill(g); f = () => x[0]() "
     "}",
     .type = "resource_error", .contains = "memory", .tune = little_memory},
#endif
    {"stack_overflow_in_native_code",
     "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return "
     "String(a).length",
     .type = "runtime_error"},

    /* suggestions, by the engine's wording */
    {"suggest_require", "require('fs')", .type = "runtime_error",
     .contains = "there is no require"},
    {"suggest_module_exports", "module.exports = 1", .type = "runtime_error",
     .contains = "`export default`"},
    {"suggest_process", "return process.env.HOME", .type = "runtime_error",
     .contains = "arguments are in `inputs`"},
    {"suggest_dirname", "return __dirname", .type = "runtime_error", .contains = "/workspace"},
    {"suggest_fs", "await fs.readFile('x')", .type = "runtime_error",
     .contains = "import * as fs from 'node:fs/promises'"},
    {"suggest_document", "document.write('x')", .type = "runtime_error", .contains = "no browser"},
    {"suggest_window", "window.x = 1", .type = "runtime_error", .contains = "no browser"},
    {"suggest_axios", "await axios.get('x')", .type = "runtime_error",
     .contains = "tools.<server>.<tool>"},
    {"suggest_unknown_global", "return foo + 1", .type = "runtime_error",
     .contains = "`foo` is not defined here"},
    {"suggest_fetch", "await fetch('http://x')", .type = "permission_error",
     .contains = "tools.<server>.<tool>"},
    {"suggest_Deno", "Deno.readTextFileSync('x')", .type = "type_error",
     .contains = "node:fs/promises has the rest"},
    {"suggest_await_for_map", "const f = async () => [1]; const x = f(); return x.map((n) => n)",
     .type = "type_error", .contains = "`await` it"},
    {"suggest_await_for_iteration",
     "const f = async () => [1]; for (const x of f()) console.log(x)", .type = "type_error",
     .contains = "`await` a promise first"},
    {"suggest_spread_of_an_object", "return Math.max(...{a: 1})", .type = "type_error",
     .contains = "Object.entries"},
    {"suggest_undefined_property", "const user = {}; return user.address.city",
     .type = "type_error",
     .contains = "`user.address.city`: what stands before the last dot is undefined"},
    {"suggest_null_property", "const a = {b: null}; return a.b.c", .type = "type_error",
     .contains = "is null"},
    {"suggest_calling_undefined", "const o = {}; o.run()", .type = "type_error",
     .contains = "console.log it before the call"},
    {"suggest_json_on_a_result", "const r = {a: 1}; return r.json()", .type = "type_error",
     .contains = "there is no .json() to call"},
    {"suggest_JSON_parse_of_undefined", "JSON.parse(undefined)", .type = "runtime_error",
     .contains = "JSON.parse was given undefined"},
    {"suggest_JSON_parse_of_an_object", "JSON.parse({})", .type = "runtime_error",
     .contains = "an object already"},
    {"suggest_JSON_parse_of_nothing", "JSON.parse('')", .type = "runtime_error",
     .contains = "empty or cut off"},
    {"suggest_JSON_parse_of_text", "JSON.parse('hello')", .type = "runtime_error",
     .contains = "The text is no JSON"},
    {"suggest_before_initialization", "x; let x = 1", .type = "runtime_error",
     .contains = "move the declaration up"},
    {"suggest_const_assignment", "const a = 1; a = 2", .type = "type_error", .contains = "use let"},
    {"suggest_frozen_object", "const a = Object.freeze({x: 1}); a.x = 2", .type = "type_error",
     .contains = "use let"},
    {"suggest_invalid_date", "return new Date('yesterday').toISOString()", .type = "runtime_error",
     .contains = "no date"},
    {"suggest_BigInt_mix", "return 1n + 1", .type = "type_error",
     .contains = "Number(x) or BigInt(x)"},
    {"suggest_stack_overflow", "const f = (n) => f(n + 1); f(0)", .type = "runtime_error",
     .contains = "stop condition"},
    {"suggest_cyclic_JSON", "const a = {}; a.a = a; JSON.stringify(a)", .type = "type_error",
     .contains = "pick the fields"},
    {"suggest_BigInt_JSON", "JSON.stringify({a: 1n})", .type = "type_error",
     .contains = "String(x)"},
    {"suggest_class_without_new", "class A {} A()", .type = "type_error",
     .contains = "Write `new` before the class"},
    {"suggest_not_a_constructor", "const f = () => 1; new f()", .type = "type_error",
     .contains = "`new` needs a class"},
};

int main(void)
{
    return run_cases("worker_errors", cases, CS_COUNT(cases));
}
