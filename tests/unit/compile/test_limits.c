/* Text that was made to hurt: bounded time, bounded depth, an error and no crash. */
#include "compile/cases.h"

#include <sys/resource.h>

#define MEGABYTE (1u << 20)

/* prefix, then unit as often as it takes to fill `size` bytes (or `times`), then suffix. */
static const struct bomb {
    const char *prefix, *unit, *suffix;
    uint32_t times; /* 0: one megabyte of it */
} bombs[] = {
    {"return ", "(", "1", 200000},
    {"return ", "[", "", 500000},
    {"return `", "${`", "", 100000},
    {"type T = ", "Array<", "1", 200000},
    {"return 1", "+1", ";", 2000000},
    {"return /", "(?:", "/", 100000},
    {"let a", "\n", "= 1; return a;", 4000000},
    {"const f = ", "async (x: any) => ", "1", 50000},
    {"x=", "a<", "b", 0},
    {"x=", "a<b;", "", 0},
    {"x=", "a<(", "", 0},
    {"x=", "a?b:", "c", 0},
    {"x=", "a?(b):", "c", 0},
    {"x=", "a?(b):c=>", "d", 0},
    {"", "a?(b):c=>a?(b):c=>a?(b):c=>a?(b):c=>1;", "", 0},
    {"", "async(", "", 0},
    {"", "async(a);", "", 0},
    {"", "async<a>(", "", 0},
    {"x=", "(a=", "1", 0},
    {"x=", "({a:", "1", 0},
    {"", "{", "", 0},
    {"", "if(a)b;else ", "c", 0},
    {"", "if(a)", "c", 0},
    {"", "for(;;)", "c", 0},
    {"", "a:", "c", 0},
    {"x=", "new ", "a", 0},
    {"x=", "!", "a", 0},
    {"x=", "typeof ", "a", 0},
    {"x", ".a", "", 0},
    {"x", "?.a", "", 0},
    {"x", "()", "", 0},
    {"x", "!", "", 0},
    {"x", " as a", "", 0},
    {"x=", "<a>", "b", 0},
    {"x=", "class extends ", "b", 0},
    {"x=", "function(){return ", "b", 0},
    {"", "class A{x=class{", "b", 0},
    {"", "enum A{X}\n", "", 0},
    {"", "namespace N{export let a}\n", "", 0},
    {"", "namespace N{", "", 0},
    {"namespace A", ".A", "{x}", 0},
    {"class A{constructor(", "public a,", "){}}", 0},
    {"", "import {a} from 'x';", "", 0},
    {"", "import A=B.C;", "", 0},
    {"", "export {a};", "", 0},
    {"a", "/*", "", 0},
    {"", "//#\n", "", 0},
    {"type A=", "|a", "", 0},
    {"type A=", "a extends b?c:", "d", 0},
    {"type A=", "a extends ", "b", 0},
    {"type A=a extends ", "infer U extends ", "b?1:2", 0},
    {"type A=", "(a:", "b", 0},
    {"type A=", "()=>", "b", 0},
    {"type A=", "{a:", "b", 0},
    {"type A=", "a[", "b", 0},
    {"type A=", "`${", "b", 0},
    {"type A=", "keyof ", "b", 0},
    {"", "return <a>(b);\n", "", 0},
    {"x\n", "```\n", "", 0},
    {"`x`\n", "```ts\na b\n", "", 0},
    {"function*f(){", "yield ", "}", 0},
    {"let ", "[", "", 0},
    {"({", "a,", "}=b)", 0},
    {"", "[a=", "1", 0},
    {"", "import(`${", "1", 0},
    {"var a", "=a", "", 0},
    {"", "\\u{61}", "", 0},
    {"x='", "\\u0061", "'", 0},
    {"", "\xf0\x9f\x98\x80", "", 0},
    {"x=<", "\n", "a>b", 0},
    {"", "declare ", "x", 0},
    {"", "export ", "x", 0},
    {"", "@", "x", 0},
    {"", "x<!--y;", "", 0},
};

static double cpu_seconds(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)u.ru_utime.tv_sec + (double)u.ru_utime.tv_usec * 1e-6;
}

static void build(const struct bomb *b, struct cs_buf *text)
{
    size_t unit = strlen(b->unit), times = b->times ? b->times : MEGABYTE / unit;
    cs_buf_clear(text);
    cs_buf_puts(text, b->prefix);
    for (size_t i = 0; i < times; i++)
        cs_buf_put(text, b->unit, unit);
    cs_buf_puts(text, b->suffix);
}

static void bombs_end_in_bounded_time(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf text = {0};
    for (size_t i = 0; i < CS_COUNT(bombs); i++) {
        build(&bombs[i], &text);
        for (int kind = CS_COMPILE_PROGRAM; kind <= CS_COMPILE_STRIP; kind++) {
            struct cs_compiled c = {0};
            struct cs_diag d = {0};
            double start = cpu_seconds();
            if (cs_compile((enum cs_compile_kind)kind, cs_buf_str(&text), &c, &d) == 0)
                cs_compiled_done(&c);
            else
                assert_true(d.line > 0 && d.column > 0 && d.message[0]);
            double took = cpu_seconds() - start;
            if (took > 4) /* under sanitizers, on a busy machine; usually far below one */
                fail_msg("%s%s... took %.1f s", bombs[i].prefix, bombs[i].unit, took);
        }
    }
}

static void nesting_has_a_limit_and_says_so(void **state)
{
    static const struct bomb deep[] = {
        {"x = ", "(", "", 5000},   {"x = ", "[", "", 5000},       {"", "{", "", 5000},
        {"x = ", "`${", "", 5000}, {"type A = ", "B<", "", 5000}, {"type A = ", "{a:", "", 5000},
    };
    (void)state;
    CS_AUTO_BUF struct cs_buf text = {0};
    for (size_t i = 0; i < CS_COUNT(deep); i++) {
        struct cs_compiled c = {0};
        struct cs_diag d = {0};
        build(&deep[i], &text);
        assert_int_equal(cs_compile(CS_COMPILE_PROGRAM, cs_buf_str(&text), &c, &d), -1);
        assert_non_null(strstr(d.message, "nested too deeply"));
    }
}

static void long_chains_are_not_deep(void **state)
{
    static const struct bomb flat[] = {
        {"x = a", "+a", "", 100000},
        {"x = ", "a ? b : ", "c", 100000},
        {"", "if (a) b; else ", "c", 100000},
        {"x", ".a", "", 100000},
        {"x = ", "!", "a", 100000},
        {"type A = a", "|a", "", 100000},
        {"type A = ", "a extends b ? c : ", "d", 100000},
    };
    (void)state;
    CS_AUTO_BUF struct cs_buf text = {0};
    for (size_t i = 0; i < CS_COUNT(flat); i++) {
        struct cs_compiled c = {0};
        struct cs_diag d = {0};
        build(&flat[i], &text);
        if (cs_compile(CS_COMPILE_STRIP, cs_buf_str(&text), &c, &d) < 0)
            fail_msg("%s: %s", flat[i].unit, d.message);
        cs_compiled_done(&c);
    }
}

static void a_program_of_more_than_four_megabytes_is_refused(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf text = {0};
    build(&(struct bomb){"", "x;\n", "", CS_COMPILE_SOURCE_MAX / 3 + 1}, &text);
    struct cs_compiled c = {0};
    struct cs_diag d = {0};
    assert_int_equal(cs_compile(CS_COMPILE_PROGRAM, cs_buf_str(&text), &c, &d), -1);
    assert_non_null(strstr(d.message, "4 MB"));
}

static void nothing_leaves_the_function_around_it(void **state)
{
    static const char *const attempts[] = {
        "return 1;\n}); evil(); (async()=>{",
        "})();evil();(async()=>{",
        "}\n})\nevil()\n(async()=>{{",
        "`${`})`}`}); evil(); (()=>{",
        "/[/]}/}); evil(); (()=>{",
        "x = a\n/}); evil(); ({/\n",
        "<!-- \n}); evil(); (()=>{",
        "//\xe2\x80\xa8}); evil(); (()=>{",
        "/* */ --> \n}); evil(); (()=>{",
        "enum A { B = 1 }); evil(); (()=>{ }",
        "type A = { a: '}' }}); evil(); (()=>{",
        "function f() { await /}); evil(); (()=>{/ }",
        "class A { constructor(public x) {}}}); evil(); (()=>{",
    };
    (void)state;
    for (size_t i = 0; i < CS_COUNT(attempts); i++) {
        struct cs_compiled c = {0};
        struct cs_diag d = {0};
        if (cs_compile(CS_COMPILE_PROGRAM, cs_str(attempts[i]), &c, &d) == 0)
            fail_msg("accepted: %s\n%.*s", attempts[i], CS_STR_ARG(cs_buf_str(&c.js)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bombs_end_in_bounded_time),
        cmocka_unit_test(nesting_has_a_limit_and_says_so),
        cmocka_unit_test(long_chains_are_not_deep),
        cmocka_unit_test(a_program_of_more_than_four_megabytes_is_refused),
        cmocka_unit_test(nothing_leaves_the_function_around_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
