/* Tables of programs and of the facts that are noted about them. */
#ifndef TESTS_UNIT_COMPILE_FACT_CASES_H
#define TESTS_UNIT_COMPILE_FACT_CASES_H

#include "compile/cases.h"

/* `expected`: "name (via) [key] | ..." of the facts of that kind, in the order of the text. */
struct fact_case {
    const char *source, *expected;
};

static inline void list_facts(const struct cs_compiled *c, enum cs_fact_kind kind,
                              struct cs_buf *out)
{
    for (uint32_t i = 0; i < c->fact_count; i++) {
        const struct cs_fact *f = &c->facts[i];
        if (f->kind != kind)
            continue;
        cs_buf_printf(out, "%s%.*s", out->len ? " | " : "", CS_STR_ARG(f->name));
        if (f->via.len)
            cs_buf_printf(out, " (%.*s)", CS_STR_ARG(f->via));
        if (f->key.len)
            cs_buf_printf(out, " [%.*s]", CS_STR_ARG(f->key));
    }
}

static inline void check_facts(enum cs_fact_kind kind, const struct fact_case *cases, size_t count)
{
    int wrong = 0;
    for (size_t i = 0; i < count; i++) {
        struct cs_compiled c = {0};
        struct cs_diag d;
        CS_AUTO_BUF struct cs_buf text = {0};
        if (cs_compile(CS_COMPILE_PROGRAM, cs_str(cases[i].source), &c, &d) < 0)
            fail_msg("%s\n  %u:%u: %s", cases[i].source, d.line, d.column, d.message);
        list_facts(&c, kind, &text);
        if (strcmp(cs_buf_cstr(&text), cases[i].expected) != 0)
            wrong++, print_error("%s\n  expected: %s\n  facts:    %s\n", cases[i].source,
                                 cases[i].expected, cs_buf_cstr(&text));
        assert_false(c.facts_cut);
        cs_compiled_done(&c);
    }
    assert_int_equal(wrong, 0);
}

#define CHECK(kind, ...)                                       \
    do {                                                       \
        static const struct fact_case cases[] = {__VA_ARGS__}; \
        check_facts(CS_FACT_##kind, cases, CS_COUNT(cases));   \
    } while (0)

#endif
