/* What becomes of `state` when a program ends: kept as it was left, or an error that says why not.
 */
#include "worker/cases.h"

static void in_session(struct talk *t)
{
    t->state = "{\"n\":1,\"list\":[1,{\"a\":null}]}";
    t->state_bytes = 1000;
}

static void empty_session(struct talk *t)
{
    t->state = "{}";
    t->state_bytes = 1000;
}

static void shallow_session(struct talk *t)
{
    empty_session(t);
    t->json_depth = 4;
}

static void nothing(struct talk *t)
{
    assert_string_equal(cs_buf_cstr(&t->kept), "");
}

static void two(struct talk *t)
{
    assert_string_equal(cs_buf_cstr(&t->kept), "{\"n\":2,\"list\":[1,{\"a\":null}]}");
}

static void fresh(struct talk *t)
{
    assert_string_equal(cs_buf_cstr(&t->kept), "{\"a\":\"b\"}");
}

#define KEPT(title, program, how)                                                               \
    {                                                                                           \
        .name = title, .source = program "\nreturn null", .result = "null", .tune = in_session, \
        .check = how                                                                            \
    }
#define REFUSED(title, program, text)                                                 \
    {                                                                                 \
        .name = title, .source = program "\nreturn null", .type = "validation_error", \
        .contains = text, .tune = empty_session, .check = nothing                     \
    }

static const struct worker_case cases[] = {
    {"a_program_sees_it", "return [state.n, state.list[1].a]", .result = "[1,null]",
     .tune = in_session, .check = nothing},
    KEPT("a_change_is_kept", "state.n += 1", two),
    KEPT("a_new_object_is_kept", "state = {a: 'b'}", fresh),
    KEPT("a_new_object_of_the_global_is_kept", "globalThis.state = {a: 'b'}", fresh),
    KEPT("a_change_and_back_is_no_change", "state.n = 9; await 0; state.n = 1", nothing),
    KEPT("a_variable_of_that_name_is_the_programs_own", "const state = 7; void state", nothing),
    KEPT("undefined_members_are_left_out", "state = {a: 'b', c: undefined}", fresh),
    KEPT("objects_without_prototype_are_plain",
         "state = Object.assign(Object.create(null), {a: 'b'})", fresh),
    KEPT("booby_traps_change_nothing",
         "Object.defineProperty(Object.prototype, 'toJSON', {value: undefined});\n"
         "Array.prototype[Symbol.iterator] = () => { throw new Error('trap') };\n"
         "globalThis.JSON = {stringify() { throw new Error('trap') }};\n"
         "state = {a: 'b'}",
         fresh),
    {"without_a_session_nothing_is_said", "state.n = 5; return state.n", .result = "5",
     .check = nothing},
    {"without_a_session_anything_goes", "state = 7n; return 5", .result = "5", .check = nothing},
    {"a_failure_keeps_nothing", "state.n = 2; throw new Error('x')", .type = "runtime_error",
     .tune = in_session, .check = nothing},
    {"a_result_that_cannot_be_keeps_nothing", "state.n = 2; return Symbol('x')",
     .type = "validation_error", .tune = in_session, .check = nothing},
    REFUSED("a_function_is_refused", "state.a = {f() {}}", "a function at $.a.f"),
    REFUSED("a_cycle_is_refused", "state.me = state", "refers to itself at $.me"),
    REFUSED("a_BigInt_is_refused", "state.n = 1n", "a BigInt at $.n"),
    REFUSED("a_symbol_is_refused", "state.s = Symbol('x')", "a symbol at $.s"),
    REFUSED("a_Date_is_refused", "state.when = new Date(0)", "a Date at $.when"),
    REFUSED("a_Map_is_refused", "state.m = new Map()", "a Map at $.m"),
    REFUSED("a_Set_is_refused", "state.s = [new Set()]", "a Set at $.s[0]"),
    REFUSED("bytes_are_refused", "state.b = new Uint8Array(3)", "bytes at $.b"),
    REFUSED("an_object_of_a_class_is_refused", "class P {}; state.p = new P()",
            "an object of a class at $.p"),
    REFUSED("toJSON_is_refused", "state.p = {toJSON() { return 1 }}", "at $.p"),
    REFUSED("NaN_is_refused", "state.n = [0, NaN]", "NaN at $.n[1]"),
    REFUSED("Infinity_is_refused", "state.n = -Infinity", "-Infinity at $.n"),
    REFUSED("a_hole_is_refused", "state.a = [1, , 2]", "undefined in an array at $.a[1]"),
    REFUSED(
        "a_getter_that_throws_is_refused",
        "Object.defineProperty(state, 'x', {get() { throw new Error('no') }, enumerable: true})",
        "cannot be read at $.x: no"),
    REFUSED("a_number_is_refused", "state = 5", "must stay an object"),
    REFUSED("an_array_is_refused", "state = [1]", "must stay an object"),
    REFUSED("null_is_refused", "state = null", "must stay an object"),
    REFUSED("nothing_at_all_is_refused", "delete globalThis.state", "must stay an object"),
    REFUSED("a_function_instead_is_refused", "state = () => 1", "a function at $"),
    {"too_large_is_refused", "state.text = 'x'.repeat(1001)", .type = "resource_error",
     .contains = "`state` is larger than 1000 bytes (at $.text)", .tune = empty_session,
     .check = nothing},
    {"too_large_in_bytes_is_refused", "state.text = 'é'.repeat(600)", .type = "resource_error",
     .contains = "`state` is too large", .tune = empty_session, .check = nothing},
    {"too_deep_is_refused", "state.a = [[[[[1]]]]]", .type = "resource_error",
     .contains = "nested more than 4 levels", .tune = shallow_session, .check = nothing},
};

int main(void)
{
    return run_cases("worker_state", cases, CS_COUNT(cases));
}
