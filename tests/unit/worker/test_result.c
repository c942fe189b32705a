/* What a value becomes on its way out: the table of docs/runtime.md. */
#include "worker/cases.h"

static void small_result(struct talk *t)
{
    t->result_bytes = 1000;
}

static void shallow(struct talk *t)
{
    t->json_depth = 8;
}

static const struct worker_case cases[] = {
    {"a_number_is_a_number", "return 42", .result = "42"},
    {"fractions_and_exponents_keep_their_form", "return [0.1, 1e21, -0, 1.5e-7]",
     .result = "[0.1,1e+21,0,1.5e-7]"},
    {"a_string_is_escaped", "return 'a\"b\\n\\u0001\\u2028é'",
     .result = "\"a\\\"b\\n\\u0001\xe2\x80\xa8é\""},
    {"lone_surrogates_are_escaped", "return '\\ud800x'", .result = "\"\\ud800x\""},
    {"true_false_null", "return [true, false, null]", .result = "[true,false,null]"},
    {"undefined_is_null", "return undefined", .result = "null"},
    {"no_return_is_null", "const a = 1;", .result = "null"},
    {"undefined_in_an_object_is_left_out", "return {a: undefined, b: 1}", .result = "{\"b\":1}"},
    {"undefined_in_an_array_is_null", "return [undefined, 1]", .result = "[null,1]"},
    {"holes_are_null", "return [, 1, ,]", .result = "[null,1,null]"},
    {"NaN_and_Infinity_are_null", "return [NaN, Infinity, -Infinity]",
     .result = "[null,null,null]"},
    {"BigInt_is_a_decimal_string", "return {n: 10n ** 30n}",
     .result = "{\"n\":\"1000000000000000000000000000000\"}"},
    {"Map_with_string_keys_is_an_object", "return new Map([['a', 1], ['b', [2]]])",
     .result = "{\"a\":1,\"b\":[2]}"},
    {"Map_with_other_keys_is_pairs", "return new Map([[1, 'x'], [{k: 1}, 'y']])",
     .result = "[[1,\"x\"],[{\"k\":1},\"y\"]]"},
    {"Set_is_an_array", "return new Set([1, 'a', [2]])", .result = "[1,\"a\",[2]]"},
    {"Date_is_ISO", "return new Date(0)", .result = "\"1970-01-01T00:00:00.000Z\""},
    {"invalid_Date_is_null", "return [new Date(NaN)]", .result = "[null]"},
    {"typed_arrays_are_numbers", "return [new Uint8Array([1, 2]), new Float64Array([0.5])]",
     .result = "[[1,2],[0.5]]"},
    {"big_typed_arrays_are_strings", "return new BigInt64Array([1n, -2n])",
     .result = "[\"1\",\"-2\"]"},
    {"ArrayBuffer_is_base64", "return new Uint8Array([104, 105]).buffer", .result = "\"aGk=\""},
    {"DataView_is_base64_of_its_part",
     "return new DataView(new Uint8Array([1, 104, 105]).buffer, 1)", .result = "\"aGk=\""},
    {"Error_has_name_and_message", "return {e: Object.assign(new TypeError('bad'), {code: 7})}",
     .result = "{\"e\":{\"name\":\"TypeError\",\"message\":\"bad\",\"code\":7}}"},
    {"Error_with_cause", "return new Error('a', {cause: 'b'})",
     .result = "{\"name\":\"Error\",\"message\":\"a\",\"cause\":\"b\"}"},
    {"RegExp_is_its_text", "return /a\\/b/gi", .result = "\"/a\\\\/b/gi\""},
    {"boxed_values_are_unboxed",
     "return [new Number(1), new String('s'), new Boolean(false), Object(2n)]",
     .result = "[1,\"s\",false,\"2\"]"},
    {"functions_in_objects_are_left_out", "return {f() {}, a: 1}", .result = "{\"a\":1}"},
    {"functions_in_arrays_are_null", "return [() => 1]", .result = "[null]"},
    {"symbols_are_left_out", "return {a: Symbol('x'), [Symbol('k')]: 1}", .result = "{}"},
    {"a_symbol_alone_is_an_error", "return Symbol('x')", .type = "validation_error",
     .contains = "symbol"},
    {"toJSON_is_respected", "return {a: {toJSON: () => ({b: 1})}}", .result = "{\"a\":{\"b\":1}}"},
    {"toJSON_gets_the_key", "return {k: {toJSON: (k) => k}}", .result = "{\"k\":\"k\"}"},
    {"toJSON_that_throws_names_the_place", "return {a: [{toJSON() { throw new Error('no') }}]}",
     .type = "validation_error", .contains = "$.a[0]: no"},
    {"URL_is_its_text", "return {u: new URL('http://x/y')}", .result = "{\"u\":\"http://x/y\"}"},
    {"getters_are_read_once", "let n = 0; return {get a() { return n++ }, b: n}",
     .result = "{\"a\":0,\"b\":0}"},
    {"a_getter_that_throws_names_the_place",
     "return {ok: 1, deep: {get bad() { throw new Error('getter!') }}}", .type = "validation_error",
     .contains = "$.deep.bad: getter!"},
    {"only_own_enumerable_members", "class A { x = 1; get y() { return 2 } } return new A()",
     .result = "{\"x\":1}"},
    {"null_prototype_objects", "return Object.assign(Object.create(null), {a: 1})",
     .result = "{\"a\":1}"},
    {"__proto__as_a_key_stays_data", "return JSON.parse('{\"__proto__\":{\"a\":1}}')",
     .result = "{\"__proto__\":{\"a\":1}}"},
    {"odd_keys", "return {'': 1, 'a b': 2, '\\u0000': 3}",
     .result = "{\"\":1,\"a b\":2,\"\\u0000\":3}"},
    {"a_cycle_is_an_error_with_its_path", "const a = {b: {}}; a.b.c = a; return a",
     .type = "validation_error", .contains = "refers to itself at $.b.c"},
    {"a_cycle_through_a_map", "const m = new Map(); m.set('x', [m]); return m",
     .type = "validation_error", .contains = "$.x[0]"},
    {"the_same_object_twice_is_no_cycle", "const a = {n: 1}; return [a, a]",
     .result = "[{\"n\":1},{\"n\":1}]"},
    {"deeper_than_allowed", "let v = 1; for (let i = 0; i < 9; i++) v = [v]; return v",
     .type = "resource_error", .contains = "8 levels", .tune = shallow},
    {"as_deep_as_allowed", "let v = 1; for (let i = 0; i < 8; i++) v = [v]; return v",
     .result = "[[[[[[[[1]]]]]]]]", .tune = shallow},
    {"too_large_is_a_limit_with_its_number", "return 'x'.repeat(5000)", .type = "resource_error",
     .contains = "\"limit\":{\"name\":\"result\",\"value\":1000,\"unit\":\"bytes\"}",
     .tune = small_result},
    {"too_large_in_bytes_not_letters", "return 'é'.repeat(600)", .type = "resource_error",
     .contains = "\"limit\":{\"name\":\"result\"", .tune = small_result},
    {"almost_too_large", "return 'x'.repeat(998)", .tune = small_result, .contains = "xxx"},
    {"promises_are_awaited", "return Promise.resolve(5)", .result = "5"},
    {"thenables_are_awaited", "return {then(f) { f({a: 1}) }}", .result = "{\"a\":1}"},
    {"a_rejected_promise_is_the_error", "return Promise.reject(new RangeError('r'))",
     .type = "runtime_error", .contains = "\"name\":\"RangeError\",\"message\":\"r\""},
    {"promises_inside_are_empty_objects", "return {p: Promise.resolve(1)}", .result = "{\"p\":{}}"},
    {"WeakMap_is_an_empty_object", "return {w: new WeakMap()}", .result = "{\"w\":{}}"},
    {"a_proxy_is_read_like_an_object", "return new Proxy({a: 1}, {})", .result = "{\"a\":1}"},
    {"an_array_proxy_is_an_array", "return new Proxy([1, 2], {})", .result = "[1,2]"},
    {"Buffer_goes_by_its_toJSON", "return Buffer.from('hi')",
     .result = "{\"type\":\"Buffer\",\"data\":[104,105]}"},
    {"class_instances_with_private_fields", "class A { #p = 1; q = 2 } return new A()",
     .result = "{\"q\":2}"},
    {"sparse_array_of_4_billion", "const a = []; a[4294967294] = 1; return {a}",
     .type = "resource_error", .contains = "\"limit\""},
    {"endless_proxy",
     "const e = () => new Proxy({}, {ownKeys: () => ['a', 'b', 'c'], getOwnPropertyDescriptor: () "
     "=> ({enumerable: true, configurable: true, value: 1}), get: (_t, k) => (k === 'toJSON' || k "
     "=== 'then' || typeof k === 'symbol' ? undefined : e())}); return e()",
     .type = "resource_error", .contains = "levels deep"},
    {"endless_width_of_nothing",
     "return new Proxy({}, {ownKeys: () => Array.from({length: 100000}, (_, i) => 'k' + i), "
     "getOwnPropertyDescriptor: () => ({enumerable: true, configurable: true, value: 1}), get: () "
     "=> undefined})",
     .result = "{}"},
    {"two_hundred_thousand_levels",
     "let v = 1; for (let i = 0; i < 200000; i++) v = i % 2 ? [v] : {a: v}; return v",
     .type = "resource_error", .contains = "64 levels"},
    {"wide_result",
     "return {s: 'x'.repeat(48 << 20), a: Array.from({length: 2000000}, (_, i) => i)}",
     .type = "resource_error"},
    {"a_result_that_looks_like_an_envelope",
     "return {ok: true, error: null, type: 'result', jsonrpc: '2.0'}",
     .result = "{\"ok\":true,\"error\":null,\"type\":\"result\",\"jsonrpc\":\"2.0\"}"},
    {"patched_intrinsics_change_nothing",
     "const bad = () => { throw new Error('tampered') };\n"
     "globalThis.JSON = {stringify: bad, parse: bad};\n"
     "for (const k of ['map', 'push', 'join', 'forEach', 'slice', 'concat']) "
     "Array.prototype[k] = bad;\n"
     "for (const k of ['charCodeAt', 'split', 'replace', 'indexOf']) String.prototype[k] = bad;\n"
     "Object.keys = bad; Object.assign = bad; Object.defineProperty = bad;\n"
     "Function.prototype.call = bad; Function.prototype.apply = bad;\n"
     "globalThis.Error = bad; globalThis.Promise = bad; globalThis.Symbol = bad; globalThis.Date = "
     "bad;\n"
     "return {left: 'behind'};",
     .result = "{\"left\":\"behind\"}"},
    {"booby_trapped_globals_change_nothing",
     "const g = globalThis;\n"
     "try { Object.defineProperty(g, 'tools', {get() { throw new Error('trap') }, configurable: "
     "false}) } catch {}\n"
     "try { Object.freeze(g) } catch {}\n"
     "try { g.console = null } catch {}\n"
     "try { delete g.console } catch {}\n"
     "try { Object.defineProperty(Object.prototype, 'id', {set() { throw new Error('trap id') }, "
     "get() { return 7 }}) } catch {}\n"
     "try { Object.defineProperty(Object.prototype, 'result', {get() { return 'forged' }, set() "
     "{}}) } catch {}\n"
     "return 5;",
     .result = "5"},
    {"setters_on_Array_prototype_change_nothing",
     "for (let i = 0; i < 5; i++) Object.defineProperty(Array.prototype, i, {set() { throw new "
     "Error('trap') }, get() { return 'x' }, configurable: true});\n"
     "return {a: 'b', n: new Map([['k', 1]])};",
     .result = "{\"a\":\"b\",\"n\":{\"k\":1}}"},
    {"patched_then_changes_nothing",
     "Promise.prototype.then = function () { throw new Error('x') }; return 7", .result = "7"},
    {"odd_values_all_at_once",
     "const o = {n: NaN, d: new Date(NaN), f: () => 1, s: Symbol('s'), m: new Map([[1, {a: 2}]])};"
     "o.self = o; return o",
     .type = "validation_error", .contains = "$.self"},
};

int main(void)
{
    return run_cases("worker_result", cases, CS_COUNT(cases));
}
