/* Tables of small programs and the facts of one kind that they must have. */
#ifndef TESTS_UNIT_COMPILE_REACH_CASES_H
#define TESTS_UNIT_COMPILE_REACH_CASES_H

#include "compile/cases.h"

/* "name@line:column" or "name (via)" of each fact of the kind, in order, into `text`. */
static inline void facts_of(const char *source, enum cs_fact_kind kind, bool places, char *text,
                            size_t size)
{
    struct cs_compiled c = {0};
    struct cs_diag d = {0};
    size_t at = 0;
    text[0] = '\0';
    if (cs_compile(CS_COMPILE_PROGRAM, cs_str(source), &c, &d) < 0)
        fail_msg("%s\n  refused at %u:%u: %s", source, d.line, d.column, d.message);
    for (uint32_t i = 0; i < c.fact_count; i++) {
        const struct cs_fact *f = &c.facts[i];
        if (f->kind != kind || at >= size)
            continue;
        at += (size_t)snprintf(text + at, size - at, "%s%.*s", at ? ", " : "", CS_STR_ARG(f->name));
        if (places && at < size)
            at += (size_t)snprintf(text + at, size - at, "@%u:%u", f->line, f->column);
        if (kind == CS_FACT_TOOL && !places && f->via.len && !cs_str_is(f->via, "chain") &&
            at < size)
            at += (size_t)snprintf(text + at, size - at, " (%.*s)", CS_STR_ARG(f->via));
    }
    cs_compiled_done(&c);
}

static inline void check_facts(enum cs_fact_kind kind, bool places, const struct output_case *cases,
                               size_t count)
{
    int wrong = 0;
    for (size_t i = 0; i < count; i++) {
        char text[1024];
        facts_of(cases[i].source, kind, places, text, sizeof text);
        if (strcmp(text, cases[i].output) == 0)
            continue;
        print_error("%s\n  expected: %s\n  facts:    %s\n", cases[i].source, cases[i].output, text);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

#endif
