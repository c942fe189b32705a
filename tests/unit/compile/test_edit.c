/* Positions of the output lead back to positions of the source. */
#include "compile/cases.h"

/* Where `needle` stands for the first time, counted as the engine counts. */
static void find(struct cs_str text, const char *needle, uint32_t *line, uint32_t *column)
{
    const char *hit = memmem(text.at, text.len, needle, strlen(needle));
    assert_non_null(hit);
    *line = *column = 1;
    for (const char *c = text.at; c < hit; c++) {
        unsigned char byte = (unsigned char)*c;
        if (byte == '\n') {
            ++*line;
            *column = 1;
        } else if ((byte & 0xc0) != 0x80) {
            *column += byte >= 0xf0 ? 2 : 1;
        }
    }
}

static const struct map_case {
    enum cs_compile_kind kind;
    const char *source, *needle;
} cases[] = {
    {CS_COMPILE_PROGRAM, "boom()", "boom"},
    {CS_COMPILE_PROGRAM, "let a: number = 1; boom(a)", "boom"},
    {CS_COMPILE_PROGRAM, "let a = 1;\n  boom(a)", "boom"},
    {CS_COMPILE_PROGRAM, "let a = 1;\n  boom(a, z9)", "z9"},
    {CS_COMPILE_MODULE, "import { a } from 'x'; a(); a; boom(a, z9)", "boom"},
    {CS_COMPILE_MODULE, "import { a } from 'x'; a(); a; boom(a, z9)", "z9"},
    {CS_COMPILE_MODULE, "import { a } from 'x';\nx = { a, b: a }; boom", "boom"},
    {CS_COMPILE_MODULE, "import('y'); import.meta.url; boom", "boom"},
    {CS_COMPILE_MODULE, "enum E { A, B = boom(1), C } z9", "boom"},
    {CS_COMPILE_MODULE, "enum E { A, B = boom(1), C } z9", "z9"},
    {CS_COMPILE_MODULE, "namespace A.B { export const x = 1; boom(x, z9) } q8", "boom"},
    {CS_COMPILE_MODULE, "namespace A.B { export const x = 1; boom(x, z9) } q8", "z9"},
    {CS_COMPILE_MODULE, "namespace A.B { export const x = 1; boom(x, z9) } q8", "q8"},
    {CS_COMPILE_MODULE, "class A extends B { constructor(private x: any) { super(); boom(); } }",
     "boom"},
    {CS_COMPILE_MODULE, "export default function () { boom() }", "boom"},
    {CS_COMPILE_MODULE, "export default { a: boom }; z9", "boom"},
    {CS_COMPILE_MODULE, "export default { a: boom }; z9", "z9"},
    {CS_COMPILE_PROGRAM, "'\xf0\x9f\x98\x80'; boom() as any; z9", "boom"},
    {CS_COMPILE_PROGRAM, "let x: '\xf0\x9f\x98\x80\xc3\xa4\xe2\x82\xac' = 1; boom(); z9", "boom"},
    {CS_COMPILE_PROGRAM, "```ts\nlet x: any = 1\nboom(x)\n```", "boom"},
    {CS_COMPILE_PROGRAM, "words: \xf0\x9f\x98\x80\n\n```ts\n  boom(x)\n```", "boom"},
    {CS_COMPILE_STRIP, "f(x as any, <any>y, boom!)", "boom"},
};

static void positions_lead_back_to_the_source(void **state)
{
    (void)state;
    for (size_t i = 0; i < CS_COUNT(cases); i++) {
        struct cs_compiled c = {0};
        struct cs_diag d;
        struct cs_str source = cs_str(cases[i].source);
        uint32_t line, column, wanted_line, wanted_column;
        assert_int_equal(cs_compile(cases[i].kind, source, &c, &d), 0);
        find(source, cases[i].needle, &wanted_line, &wanted_column);
        find(cs_buf_str(&c.js), cases[i].needle, &line, &column);
        cs_compiled_map(&c, &line, &column);
        if (line != wanted_line || column != wanted_column)
            fail_msg("%s: %s is at %u:%u, mapped to %u:%u", cases[i].source, cases[i].needle,
                     wanted_line, wanted_column, line, column);
        cs_compiled_done(&c);
    }
}

/* Inside text that replaces a name, the name itself is the nearest place. */
static void inserted_text_leads_to_what_it_stands_for(void **state)
{
    (void)state;
    struct cs_compiled c = {0};
    struct cs_diag d;
    struct cs_str source = CS_STR("import { ab } from 'x'; ab()");
    assert_int_equal(cs_compile(CS_COMPILE_MODULE, source, &c, &d), 0);
    uint32_t line, first, column;
    find(cs_buf_str(&c.js), "(0,$ns", &line, &first);
    for (uint32_t i = 0; i < strlen("(0,$ns[0].ab)"); i++) {
        line = 1;
        column = first + i;
        cs_compiled_map(&c, &line, &column);
        assert_in_range(column, 25, 26);
    }
    line = column = 1;
    cs_compiled_map(&c, &line, &column);
    assert_int_equal(column, 1);
    cs_compiled_done(&c);
}

static void a_byte_order_mark_is_not_a_column(void **state)
{
    (void)state;
    struct cs_compiled c = {0};
    struct cs_diag d;
    assert_int_equal(cs_compile(CS_COMPILE_STRIP, CS_STR("\xef\xbb\xbflet x: 1"), &c, &d), 0);
    assert_true(cs_str_is(cs_buf_str(&c.js), "let x   "));
    cs_compiled_done(&c);
    assert_int_equal(cs_compile(CS_COMPILE_STRIP, CS_STR("\xef\xbb\xbfx y"), &c, &d), -1);
    assert_int_equal(d.column, 3);
}

static void an_insert_never_overlaps_the_next(void **state)
{
    (void)state;
    for (size_t i = 0; i < CS_COUNT(cases); i++) {
        struct cs_compiled c = {0};
        struct cs_diag d;
        assert_int_equal(cs_compile(cases[i].kind, cs_str(cases[i].source), &c, &d), 0);
        for (uint32_t k = 1; k < c.insert_count; k++) {
            const struct cs_insert *a = &c.inserts[k - 1], *b = &c.inserts[k];
            assert_true(a->line < b->line ||
                        (a->line == b->line && a->column + a->len <= b->column));
        }
        cs_compiled_done(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(positions_lead_back_to_the_source),
        cmocka_unit_test(inserted_text_leads_to_what_it_stands_for),
        cmocka_unit_test(a_byte_order_mark_is_not_a_column),
        cmocka_unit_test(an_insert_never_overlaps_the_next),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
